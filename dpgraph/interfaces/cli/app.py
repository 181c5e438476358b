"""The program: commands put together, and every error turned into one line and an exit status."""

import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from dpgraph.exceptions import DPGraphError, MechanismHalted, NotConvergedError
from dpgraph.interfaces.cli.outputs import (
    BAD_INPUT,
    FAILED,
    HALTED,
    INTERRUPTED,
    Ended,
    NotTakenError,
    note,
    watched_streams,
)

#: Command -> module of this package, and its class (or group of commands) there.
_COMMANDS = {
    "max-cut": ("graphs", "MaxCut"),
    "max-bisection": ("graphs", "MaxBisection"),
    "communities": ("everyday", "Communities"),
    "csp": ("graphs", "CSP"),
    "degrees": ("graphs", "Degrees"),
    "degree-distribution": ("everyday", "DegreeDistribution"),
    "count": ("everyday", "Count"),
    "statistic": ("everyday", "Statistic"),
    "densest": ("everyday", "Densest"),
    "synthesize": ("everyday", "Synthesize"),
    "report": ("everyday", "Page"),
    "spectrum": ("graphs", "Spectrum"),
    "embed": ("graphs", "Embed"),
    "covariance": ("tables", "Covariance"),
    "marginals": ("tables", "Marginals"),
    "budget": ("public", "BudgetFile"),
    "benchmark": ("benchmark", "Benchmark"),
    "check": ("public", "Check"),
    "convert": ("public", "Convert"),
    "datasets": ("public", "datasets_app"),
    "compile": ("compile", "Compile"),
}


class _Program(TyperGroup):
    """A group of commands; the module of one is imported when it is looked up, so that others cost no time."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = dict.fromkeys(_COMMANDS)  # type: ignore[assignment]  # names only, for lists and hints

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, if there is one."""
        from dpgraph.interfaces.cli.options import as_command

        if cmd_name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[cmd_name]
        found = getattr(import_module(f"{__package__}.{module}"), attribute)
        group = typer.Typer(rich_markup_mode="markdown")
        if isinstance(found, typer.Typer):
            group.add_typer(found, name=cmd_name)
        else:
            group.command(cmd_name)(as_command(found))
        return typer.main.get_group(group).commands[cmd_name]


app = typer.Typer(
    name="dpgraph",
    cls=_Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Differentially private graph algorithms with a proven edge-level guarantee.

    A first session, on a graph that comes with the program:

    - `dpgraph max-cut planted-cut --epsilon 1 --delta 1e-6 --dry-run` tells the noise and reads nothing;
    - `dpgraph max-cut planted-cut --epsilon 1 --delta 1e-6 --output cut.csv --report report.json` publishes a cut;
    - every further run on the same graph spends its own budget: epsilons add up. `dpgraph budget graph.db --epsilon 2`
      makes a budget for the graph, and `dpgraph max-cut ... --budget graph.db` is refused when that is spent.

    Exit status: 0 done; 1 failed (an iteration did not converge, an output could not be written, or a bug in dpgraph);
    2 bad input, nothing was released; 3 the mechanism halted: a *private* outcome, its budget is spent; 130 stopped.
    """,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dpgraph {metadata.version('dpgraph')}")
        raise typer.Exit


_VERSION = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version.")
_BUDGET = typer.Option(None, metavar="FILE", help="Debit what is released in this file; 'dpgraph budget' makes it.")


@app.callback()
def _program(version: bool = _VERSION, budget: Path | None = _BUDGET) -> None:
    from dpgraph.interfaces.cli.options import BUDGET

    del version
    BUDGET.set(budget)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process; return 0 only if all its output was taken."""
    with watched_streams() as (out, err), warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: note(f"dpgraph: warning: {message}")
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        try:
            out.flush()
        except NotTakenError as error:
            status = _complain(f"not written: standard output ({error})", status or FAILED)
        err.flush()
        return status or (FAILED if err.lost else 0)


def _run(argv: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        status = command.main(args=argv, prog_name="dpgraph", standalone_mode=False)
        # Some versions of typer turn an interrupt into a status, others raise Abort.
        return _complain("interrupted", INTERRUPTED) if status == INTERRUPTED else int(status or 0)
    except Ended as end:
        return _complain(str(end), end.status)
    except NotTakenError as error:
        return _complain(f"not written: standard output ({error})", FAILED)
    except MechanismHalted as error:
        return _complain(
            f"halted at the {error.stage} test: {in_options(str(error))} (privacy spent: {error.privacy!r})", HALTED
        )
    except NotConvergedError as error:
        return _complain(str(error), FAILED)
    except DPGraphError as error:  # an internal error is a bug, after which the budget may be spent
        status = FAILED if str(error).startswith("internal error") else BAD_INPUT
        return _complain(in_options(str(error)), status)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", INTERRUPTED)
    except OSError as error:
        return _complain(f"{error.filename or 'input or output'}: {error.strerror or type(error).__name__}", BAD_INPUT)
    except Exception as error:
        # The usage errors of typer have two homes (click, or its own copy of click), but one method in common.
        if (explain := getattr(error, "format_message", None)) is not None:
            # A bare "dpgraph" has shown its help already and explains nothing more.
            said, context = explain().rstrip("."), getattr(error, "ctx", None)
            path = context.command_path if context else "dpgraph"
            return (
                _complain(f"{said}{'' if said.endswith('?') else '.'} Try '{path} --help'.", BAD_INPUT)
                if said
                else BAD_INPUT
            )
        if os.environ.get("DPGRAPH_DEBUG"):
            raise
        # The text of an unforeseen error may hold private values, so only its type is shown.
        return _complain(f"internal error ({type(error).__name__}); set DPGRAPH_DEBUG=1 for the traceback", FAILED)


def _complain(message: str, status: int) -> int:
    note("dpgraph: error: " + " ".join(message.split()))
    return status


#: Arguments that a message may advise, and that commands have as options.
_ADVISED = (
    "categories|coherence|columns|data_dir|delta|encoding|format|labels|max_weight|mechanism|nodes|normalize|on_halt|rank|"
    "regularization|unknown|weight"
)
_ADVICE = re.compile(rf"(?<!\w\()(?<!\d, )\b({_ADVISED})=(?!None)(?:'([^']*)'|\"([^\"]*)\"|([\w.+-]*))")
_FLAGS = {
    "symmetrize=True": "--symmetrize",
    "download=False": "--no-download",
    "header=True": "--header yes",
    "header=False": "--header no",
}


def in_options(message: str) -> str:
    """An error of the library in the words of the command line: ``labels=str`` is ``--labels str``."""
    for argument, flag in _FLAGS.items():
        message = message.replace(argument, flag)

    def option(advice: re.Match[str]) -> str:
        value = advice[2] or advice[3] or advice[4] or ""
        return f"--{advice[1].replace('_', '-')} {value}".rstrip()

    return _ADVICE.sub(option, message)
