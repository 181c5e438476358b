"""Options that several commands share, with the help that explains them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accounting import check_epsilon, check_optional_delta

__all__ = [
    "INPUT",
    "Budget",
    "DataDir",
    "Download",
    "FileFormat",
    "GraphArgument",
    "Labels",
    "MaxWeight",
    "Nodes",
    "Progress",
    "Regularization",
    "Run",
    "Symmetrize",
    "WeightName",
    "number_or_auto",
]


#: Groups of options in the help.
PRIVACY, INPUT = "What is protected", "What is read"


def _complete_graph(incomplete: str) -> list[str]:
    """Datasets and files for the shell's completion."""
    from dpgraph import datasets

    names = [name for name in datasets.available() if name.startswith(incomplete)]
    return names + [str(path) for path in Path().glob(f"{incomplete}*")]


GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A graph file (edge list, CSV, Gset, GML; .gz too) or a dataset name (see `dpgraph datasets list`).",
        show_default=False,
        autocompletion=_complete_graph,
    ),
]
FileFormat = Annotated[str, typer.Option("--format", help="auto, edgelist, gset or gml.", rich_help_panel=INPUT)]
Nodes = Annotated[
    str,
    typer.Option(
        help="The public vertex set of an edge list: `file` (you state that the vertices named in the file are no "
        "secret), a number N (vertices 0..N-1), or @FILE with one label a line.",
        rich_help_panel=INPUT,
    ),
]
Labels = Annotated[str, typer.Option(help="Vertex labels of an edge list: int or str.", rich_help_panel=INPUT)]
WeightName = Annotated[
    str | None,
    typer.Option(
        "--weight",
        help="Use weights: the column of this name in a header line (else the third column), or the attribute of a "
        "GML edge. Default: every edge counts 1.",
        rich_help_panel=INPUT,
    ),
]
Symmetrize = Annotated[
    bool,
    typer.Option(
        "--symmetrize",
        help="Accept a file that declares itself directed; a pair gets the heavier of its two arcs. (Edge lists do "
        "not say; they are read as unordered pairs.)",
        rich_help_panel=INPUT,
    ),
]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder of local graphs. Default: $DPGRAPH_DATA.", rich_help_panel=INPUT)
]
Download = Annotated[
    bool, typer.Option("--download/--no-download", help="Fetch a dataset that is not here.", rich_help_panel=INPUT)
]

Epsilon = Annotated[
    float,
    typer.Option(
        help="Privacy parameter, > 0. Smaller is more private: 1 is usual.",
        show_default=False,
        rich_help_panel=PRIVACY,
        callback=check_epsilon,  # before a file is read or fetched
    ),
]
Delta = Annotated[
    float,
    typer.Option(
        help="Chance that the guarantee fails, below 1. Far below 1 / number of edges: 1e-6. Or 0: pure.",
        rich_help_panel=PRIVACY,
        callback=check_optional_delta,
    ),
]
MaxWeight = Annotated[
    float | None,
    typer.Option(
        help="Public upper bound on a weight; needed with --weight. Larger weights are capped.", rich_help_panel=INPUT
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Reproducible noise, FOR EXPERIMENTS ONLY: whoever knows the seed can remove it. "
        "Default: cryptographic noise from the operating system.",
        rich_help_panel=PRIVACY,
    ),
]
Report = Annotated[Path | None, typer.Option(help="Write the guarantee, the ledger and the parameters as JSON.")]
Progress = Annotated[bool, typer.Option("--progress", help="Show a progress bar on stderr.")]


@dataclass(frozen=True)
class Budget:
    """What may be spent."""

    epsilon: Epsilon
    delta: Delta = 0.0


@dataclass(frozen=True)
class Run:
    """How a command runs, and what it says."""

    seed: Seed = None
    report: Report = None
    progress: Progress = False


Regularization = Annotated[
    str,
    typer.Option(
        help="auto (a multiple of the average degree, released privately) or a public number, added to every degree. "
        "0 is the plain normalized adjacency and halts unless every degree is large."
    ),
]


def number_or_auto(text: str, option: str, kind: type[int] | type[float]) -> Any:
    """The value of an option that takes a number or the word auto."""
    if text == "auto":
        return text
    try:
        return kind(text)
    except ValueError:
        raise InvalidParameterError(f"{option} must be auto or a number; got {text!r}") from None
