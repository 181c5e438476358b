"""Options as fields of dataclasses: a class declares them with their help, and becomes a command by its ``run()``."""

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import MISSING, field, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from dpgraph.arguments import check_epsilon, check_optional_delta
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli.outputs import INTERRUPTED, Ended

#: The file of ``dpgraph --budget FILE``, before or after the command.
BUDGET: ContextVar[Path | None] = ContextVar("dpgraph_budget", default=None)

#: Groups of options in the help.
_PRIVACY, _INPUT = "What is protected", "What is read"


def option(default: Any, help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """A field that is an option: ``--its-name``, unless `names` say otherwise."""
    more |= {"help": help, "rich_help_panel": panel}
    return field(default=default, metadata={"kind": typer.Option, "names": names, "more": more})


def argument(metavar: str, help: str, *, default: Any = MISSING, **more: Any) -> Any:
    """A field that is an argument without a name, required unless it has a default."""
    more |= {"metavar": metavar, "help": help, "show_default": False}
    return field(default=default, metadata={"kind": typer.Argument, "names": (), "more": more})


def written(help: str, *endings: str, picture: bool = False) -> Any:
    """A field that names a file which the command writes: with one of these endings ("" is none), or a picture."""
    endings = endings or (() if picture else (".csv", ".txt", ""))
    declared = {"kind": typer.Option, "names": (), "more": {"help": help}, "endings": endings, "picture": picture}
    return field(default=None, metadata=declared)


#: What several commands have. A budget is checked before a file is read or fetched.
_EPSILON = "Privacy parameter, > 0. Smaller is more private: 1 is usual."
_DELTA = "Chance that the guarantee fails, below 1. Far below 1 / number of edges: 1e-6. Or 0: pure."
_SEED = (
    "Reproducible noise, FOR EXPERIMENTS ONLY: whoever knows the seed can remove it. "
    "Default: cryptographic noise from the operating system."
)
epsilon = partial(option, MISSING, _EPSILON, panel=_PRIVACY, show_default=False, callback=check_epsilon)
delta = partial(option, help=_DELTA, panel=_PRIVACY, callback=check_optional_delta)
seed = partial(option, help=_SEED, panel=_PRIVACY)
progress = partial(option, False, "Show a progress bar on stderr.")
data_dir = partial(option, None, "Folder of local graphs. Default: $DPGRAPH_DATA.", panel=_INPUT)


def _same_budget(file: Path | None) -> Path | None:
    """Take note of a budget that is named after the command; another one than before it is refused."""
    before = BUDGET.get()
    if file is not None and before not in (None, file):
        raise InvalidParameterError(f"--budget names two files: {before} and {file}; name one")
    if file is not None:
        BUDGET.set(file)
    return file


#: Of every command that spends a budget.
budget = partial(
    option,
    None,
    "Debit what is released in this file; 'dpgraph budget' makes it.",
    metavar="FILE",
    panel=_PRIVACY,
    callback=_same_budget,
)


def auto_or(kind: type[int] | type[float], help: str, name: str) -> Any:
    """A field that is an option which takes a number or, by default, the word auto."""

    def read(text: str) -> Any:
        try:
            return text if text == "auto" else kind(text)
        except ValueError:
            raise InvalidParameterError(f"{name} must be auto or a number; got {text!r}") from None

    return option("auto", help, name, callback=read)


def as_command(kind: Any) -> Callable[..., None]:
    """What typer makes a command of: a function of the fields of a dataclass, with its docstring for help."""

    def run(**given: Any) -> None:
        try:
            kind(**given).run()
        except KeyboardInterrupt as interrupt:  # typer would forget what it notes
            raise Ended("; ".join(["interrupted", *getattr(interrupt, "__notes__", ())]), INTERRUPTED) from None

    hints = get_type_hints(kind)
    parameters = []
    for one in fields(kind):
        names = one.metadata["names"] or ((f"--{one.name.replace('_', '-')}",) if hints[one.name] is bool else ())
        hint: Any = hints[one.name]
        hint = Annotated[hint, one.metadata["kind"](*names, **one.metadata["more"])]
        default = inspect.Parameter.empty if one.default is MISSING else one.default
        parameters.append(inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    run.__doc__ = kind.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run
