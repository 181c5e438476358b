"""All errors that dpgraph raises on purpose: one root, specific leaves.

Messages say what was needed, what arrived and what to do. They never contain a private value (an exact degree,
weight, count or eigenvalue), because an error text is an output like any other.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpgraph.privacy.report import PrivacyReport

__all__ = [
    "BudgetExceededError",
    "DPGraphError",
    "DatasetError",
    "InvalidGraphError",
    "InvalidParameterError",
    "MechanismHalted",
    "NotConvergedError",
]


class DPGraphError(Exception):
    """Root of every error raised on purpose by dpgraph. Errors pickle and copy with all their fields.

    A pool of processes sends an error back pickled. One that cannot be unpickled breaks the pool, or hangs it.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with the message alone, which fails where it has further fields.
        return _restored, (type(self), self.args, self.__dict__.copy())


class InvalidGraphError(DPGraphError, ValueError):
    """The input is not a graph this package can protect.

    Raised for directed graphs, graphs without vertices, negative, NaN or infinite weights, matrices that are not
    square or not symmetric, and edges without the requested weight attribute.
    """


class InvalidParameterError(DPGraphError, ValueError):
    """An argument is outside its range (epsilon <= 0, delta outside (0, 1), rank larger than n, ...)."""


class BudgetExceededError(DPGraphError):
    """The accountant refused: the requested release does not fit into the remaining privacy budget.

    Nothing was released and nothing was spent by the refused call.
    """


class NotConvergedError(DPGraphError):
    """An iterative method did not reach the tolerance that its caller relies on."""


class DatasetError(DPGraphError, ValueError):
    """A dataset name is unknown, or a graph file is missing, truncated or malformed."""


class MechanismHalted(DPGraphError):
    """A private test refused to continue: the papers' output "bottom".

    Halting is a normal, *private* outcome: whether a mechanism halts is decided by noisy quantities only, and the
    budget for them is spent.

    Parameters
    ----------
    message : str
        What the mechanism needed and which public knob to turn.
    stage : str
        The test that failed, for instance ``"gap"`` or ``"minimum degree"``.
    privacy : PrivacyReport
        What was spent until then.
    """

    def __init__(self, message: str, *, stage: str, privacy: PrivacyReport) -> None:
        super().__init__(message)
        self.stage = stage
        self.privacy = privacy


def _restored(kind: type[DPGraphError], args: tuple[Any, ...], fields: dict[str, Any]) -> DPGraphError:
    """An error with its message and fields, made without its constructor."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """Make the error for a name that a module does not have, with those that are spelt much like it."""
    return AttributeError(f"module {module!r} has no attribute {name!r}{did_you_mean(name, names)}", name=name)


def did_you_mean(given: object, names: Iterable[str]) -> str:
    """The end of a message that says which names are spelt much like what was given, empty if none is."""
    close = difflib.get_close_matches(given, names, n=3, cutoff=0.7) if isinstance(given, str) else []
    return f". Did you mean {' or '.join(map(repr, close))}?" if close else ""
