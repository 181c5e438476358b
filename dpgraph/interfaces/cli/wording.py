"""Errors of the library in the words of the command line."""

import re

__all__ = ["in_options"]

#: Arguments that a message may advise, and that commands have as options.
_ARGUMENTS = (
    "coherence",
    "data_dir",
    "delta",
    "labels",
    "max_weight",
    "mechanism",
    "nodes",
    "on_halt",
    "rank",
    "regularization",
    "weight",
)
_FLAGS = {"symmetrize=True": "--symmetrize", "download=False": "--no-download"}
_ADVICE = re.compile(rf"\b({'|'.join(_ARGUMENTS)})=(?!None)(?:'([^']*)'|\"([^\"]*)\"|([\w.+-]*))")


def in_options(message: str) -> str:
    """Turn arguments of Python (``labels=str``) into options (``--labels str``).

    Examples
    --------
    >>> in_options("Pass symmetrize=True, or mechanism='laplace'")
    'Pass --symmetrize, or --mechanism laplace'
    """
    for argument, flag in _FLAGS.items():
        message = message.replace(argument, flag)
    return _ADVICE.sub(_option, message)


def _option(advice: re.Match[str]) -> str:
    value = advice[2] or advice[3] or advice[4] or ""
    return f"--{advice[1].replace('_', '-')} {value}".rstrip()
