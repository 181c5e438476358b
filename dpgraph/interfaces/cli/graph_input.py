"""The GRAPH argument, a file or the name of a dataset, and the commands that publish something of a graph."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dpgraph import datasets
from dpgraph.arguments import check_choice
from dpgraph.exceptions import DatasetError, InvalidParameterError, MechanismHalted
from dpgraph.inputs.public_nodes import numbered, vertex_lines
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.options import argument, option
from dpgraph.interfaces.cli.outputs import say
from dpgraph.interfaces.cli.release import Release, Source, require_outputs
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.budget_file import FileAccountant

if TYPE_CHECKING:
    from scipy import sparse

#: Endings of names of files, which no dataset has.
_ENDING = re.compile(r"\.(txt|csv|tsv|gml|graphml|gexf|net|mtx|json|parquet|metis|graph)(\.gz)?$")

_reads = partial(option, panel="What is read")
#: Vertices of the public graph of a dry run, at most.
_REHEARSED = 10_000


def complete_graph(incomplete: str) -> list[str]:
    """Datasets and files for the shell's completion."""
    names = [name for name in datasets.available() if name.startswith(incomplete)]
    return names + [str(path) for path in Path().glob(f"{incomplete}*")]


@dataclass(frozen=True, kw_only=True)
class GraphReading:
    """How the command line says that graphs are to be read."""

    nodes: str = _reads(
        "file",
        "The public vertex set of an edge list: `file` (you state that the vertices named in the file are no "
        "secret), a number N (vertices 0..N-1), or the name of a FILE with one label a line (@FILE, too).",
    )
    labels: str = _reads("auto", "Vertex labels of an edge list.", metavar="auto|int|str")
    header: str = _reads(
        "auto",
        "Whether the first line of an edge list names the columns. Where auto cannot know, you are asked.",
        metavar="auto|yes|no",
    )
    unknown: str = _reads(
        "raise",
        "Lines that name a vertex outside --nodes, or none: refuse the file, or drop them.",
        metavar="raise|drop",
    )
    normalize: str | None = _reads(
        None,
        "Compare names as they are (exact), without blanks around them (strip), also without capitals.",
        metavar="exact|strip|casefold",
    )
    encoding: str = _reads("utf-8", "How the text is written: cp1252, say, for files of older Windows programs.")
    columns: str | None = _reads(
        None, "The two columns of a table that hold the ends of an edge. Default: the first two.", metavar="NAME,NAME"
    )
    format: str = _reads("auto", f"auto, or one of {', '.join(get_args(datasets.readers.Format)[1:])}.", metavar="NAME")
    symmetrize: bool = _reads(
        False,
        "Accept a file that declares itself directed; a pair gets the heavier of its two arcs. (Edge lists do "
        "not say; they are read as unordered pairs.)",
    )
    data_dir: Path | None = options.data_dir()
    download: bool = _reads(True, "Fetch a dataset that is not here.", "--download/--no-download")

    def read_graph(self, graph: str, weight: str | None = None) -> Source:
        """Read the file if there is one of this name, else the dataset."""
        reading, path = self.reading(weight), self.file(graph)
        adjacency, nodes = self._read_dataset(graph, weight) if path is None else reading.sparse(path)
        if weight is None:
            # Gset files always carry weights; without --weight every edge counts 1.
            adjacency.data = np.ones_like(adjacency.data)
        return Source(adjacency, nodes, graph, {"graph": {"source": graph, "n_vertices": len(nodes)}})

    def reading(self, weight: str | None = None) -> datasets.readers.Reading:
        """How a file is read, from the options that all commands share."""
        kinds, answers = {"auto": "auto", "int": int, "str": str}, {"auto": "auto", "yes": True, "no": False}
        check_choice("--labels", self.labels, tuple(kinds))
        check_choice("--header", self.header, tuple(answers))
        return datasets.readers.Reading(
            format=self.format,
            nodes=self._vertex_set(),
            labels=kinds[self.labels],  # type: ignore[arg-type]
            header=answers[self.header],  # type: ignore[arg-type]
            weight=weight,
            symmetrize=self.symmetrize,
            unknown=self.unknown,  # type: ignore[arg-type]
            normalize=self.normalize,  # type: ignore[arg-type]
            encoding=self.encoding,
            columns=self._ends(),
        )

    def _ends(self) -> tuple[str, str] | None:
        if self.columns is None:
            return None
        first, comma, second = (part.strip() for part in self.columns.partition(","))
        if not first or not second or not comma:
            raise InvalidParameterError(f"--columns takes two names with a comma between; got {self.columns!r}")
        return first, second

    def file(self, graph: str) -> Path | None:
        """The file of this name, or None if it may be a dataset."""
        path = Path("/dev/stdin" if graph == "-" else graph)
        if path.is_dir():
            raise DatasetError(f"{graph} is a folder; expected a graph file or a dataset name")
        if path.exists():
            return path
        if graph == "-" or _looks_like_path(graph):
            raise DatasetError("standard input is closed" if graph == "-" else f"no such file: {graph}")
        return None

    def _read_dataset(self, graph: str, weight: str | None) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
        known = datasets.available(self.data_dir)
        if (self.nodes, self.reading()) != ("file", datasets.readers.Reading()):
            close = [] if graph in known else difflib.get_close_matches(graph, known, n=1)
            meant = f" (did you mean the dataset {close[0]}?)" if close else ""
            raise InvalidParameterError(
                "--nodes, --format, --labels, --header, --unknown, --normalize, --encoding, --columns and --symmetrize "
                f"describe a file; there is no file {graph!r}{meant}, and a dataset needs none of them"
            )
        if weight is not None and graph in known and known[graph].collection != "gset":
            raise InvalidParameterError(f"--weight: the edges of dataset {graph} have no weights")
        try:
            return datasets.load_sparse(graph, data_dir=self.data_dir, download=self.download)
        except DatasetError as error:
            raise error if graph in known else DatasetError(f"no such file, and {error}") from None

    def _vertex_set(self) -> Literal["file"] | int | list[Hashable]:
        """The public vertices that --nodes states, or how many; "file" if the file names them."""
        if self.nodes == "file":
            return "file"
        path = self.nodes.removeprefix("@")
        if path == self.nodes and not Path(path).is_file():
            try:
                return int(self.nodes)
            except ValueError:
                if _looks_like_path(path):
                    raise DatasetError(f"--nodes: no such file: {path}") from None
                raise InvalidParameterError(
                    "--nodes must be the word file, a number, or the name of a file of one vertex a line; got "
                    f"{self.nodes!r}"
                ) from None
        names = vertex_lines(Path(path), self.encoding)
        vertices = names if self.labels == "str" else numbered(names)
        if self.labels == "int" and vertices is names:
            raise DatasetError(f"{path}: expected one integer label a line (for names, pass --labels str)")
        return list(vertices)


@dataclass(frozen=True, kw_only=True)
class GraphFile(GraphReading):
    """What the command line says about its graph."""

    graph: str = argument(
        "GRAPH",
        "A graph file (edge list, CSV, Parquet, Gset, GML, GraphML, GEXF, Pajek, node-link JSON, Matrix Market, METIS; "
        ".gz too; - reads standard input) or a dataset name (see `dpgraph datasets list`).",
        autocompletion=complete_graph,
    )
    weight: str | None = _reads(
        None,
        "Use weights: the column of this name in a header line (else the third column), or the edge attribute of a "
        "graph format. Default: every edge counts 1.",
    )

    def read(self) -> Source:
        """Read the file if there is one of this name, else the dataset."""
        return self.read_graph(self.graph, self.weight)


@dataclass(frozen=True, kw_only=True)
class Rehearsal(GraphFile):
    """A run on a public random graph in place of the private one."""

    dry_run: bool = option(
        False,
        "Run on a public random graph instead, print its noise scales, and stop: no edge is read, no budget is spent. "
        "Needs the number of vertices (--nodes N) and --average-degree, unless GRAPH is a dataset of known size.",
        panel="Before you spend anything",
    )
    average_degree: float | None = option(
        None, "With --dry-run: a public guess of the average degree.", panel="Before you spend anything"
    )

    def public_size(self) -> tuple[int, float]:
        """Number of vertices and average degree, from the options or from what the publisher of a dataset states."""
        known = datasets.available(self.data_dir).get(self.graph)
        stated, degree = self._vertex_set(), self.average_degree
        n = None if known is None else known.nodes
        if degree is None and known is not None and known.edges is not None and known.nodes:
            degree = 2 * known.edges / known.nodes
        if stated != "file":
            n = stated if isinstance(stated, int) else len(stated)
        if n is None or degree is None:
            raise InvalidParameterError(
                "--dry-run reads no edge, so it needs --nodes N (or --nodes @FILE) and --average-degree for this graph"
            )
        return n, degree

    def _made_up(self, A: sparse.csr_array) -> Any:
        """What the command would read of a public graph."""
        return A

    def _as_budgeted(self) -> AbstractContextManager[Any]:
        """A budget that protects what that of --budget does, which sets the noise; nothing is debited in the file."""
        if (file := options.BUDGET.get()) is None:
            return nullcontext()
        persons = FileAccountant(file).edges_per_person
        return PrivacyAccountant(epsilon=self.epsilon, delta=self.delta, edges_per_person=persons)  # type: ignore[attr-defined]

    def run(self) -> None:
        """Run, on a public graph if that is asked for."""
        if not self.dry_run:
            super().run()  # type: ignore[misc]  # of a Release
            return
        require_outputs(self)
        given, (n, degree) = self._arguments(), self.public_size()  # type: ignore[attr-defined]
        n = min(n, _REHEARSED)
        degree = min(degree, n)
        A, _ = datasets.planted_cut_sparse(n, degree, 0.0, rng=0)
        name = f"a public random graph of {n} vertices, average degree {degree:g}"
        try:
            with self._as_budgeted():
                result = self._release(self._made_up(A), given, 0)  # type: ignore[attr-defined]
            lines = self._lines(Source(A, range(n), name, {}), result)  # type: ignore[attr-defined]
        except MechanismHalted as halted:
            result, lines = halted, [f"{name}: halts at the {halted.stage} test"]
        told = ["DRY RUN: nothing was read, nothing was spent", *lines, replace(result.privacy, seeded=False).table()]
        say("\n".join(told))


@dataclass(frozen=True, kw_only=True)
class GraphRelease(Rehearsal, Release):
    """A command that publishes something of a graph, whose weights count up to a public bound."""

    max_weight: float | None = _reads(
        None, "Public upper bound on a weight; needed with --weight. Larger weights are capped."
    )

    def _arguments(self) -> dict[str, Any]:
        if self.weight is not None and self.max_weight is None:
            raise InvalidParameterError(
                "--weight needs --max-weight, a public upper bound on a weight (it sets the noise)"
            )
        if self.weight is None and self.max_weight is not None:
            raise InvalidParameterError("--max-weight needs --weight; without it every edge counts 1")
        # The matrix of a file is symmetric, and has one attribute.
        weight, given = None if self.weight is None else "weight", super()._arguments()
        last = {name: given[name] for name in ("mechanism", "on_halt", "progress") if name in given}
        reading = ("weight", "max_weight", "symmetrize", *last)
        kept = {name: value for name, value in given.items() if name not in reading}
        return kept | {"weight": weight, "max_weight": self.max_weight} | last


def _looks_like_path(graph: str) -> bool:
    return "/" in graph or "\\" in graph or bool(_ENDING.search(graph))
