"""Commands that release nothing: ``budget``, and what is **not private**: ``check``, ``convert`` and ``datasets``."""

import gzip
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from dpgraph import datasets
from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.writers import WRITERS
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.inputs.graphs import as_graph
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.graph_input import GraphFile
from dpgraph.interfaces.cli.options import argument, option
from dpgraph.interfaces.cli.outputs import deliver, note, say
from dpgraph.interfaces.cli.release import require_writable
from dpgraph.privacy.budget_file import FileAccountant
from dpgraph.privacy.relation import protects

datasets_app = typer.Typer(no_args_is_help=True, help="List and fetch public graphs.")


@dataclass(frozen=True, kw_only=True)
class BudgetFile:
    """Make a budget for one data set, or show what is left of it.

    Give the file to every command that reads this data: `dpgraph max-cut ... --budget FILE`. A command that does not
    fit into what is left is refused and releases nothing. Several commands at a time may share the file. Never copy
    it: a copy is a second budget.

    Example: `dpgraph budget graph.db --epsilon 2 --delta 1e-6`, later `dpgraph budget graph.db`
    """

    file: Path = argument("FILE", "The budget file.")
    epsilon: float | None = option(None, "Total epsilon of a new file.")
    delta: float | None = option(None, "Total delta of a new file. Default: 0, for pure releases only.")

    edges_per_person: int | None = option(
        None, "Protect persons with up to this many edges (new file). Default: 1, every edge by itself."
    )

    def run(self) -> None:
        """Make or open the file, and print its budget and its charges."""
        asked = {"epsilon": self.epsilon, "delta": self.delta}
        accountant = FileAccountant(self.file, **asked, edges_per_person=self.edges_per_person)
        budgets = {"total": accountant.total, "spent": accountant.spent, "left": accountant.remaining}
        for name, budget in budgets.items():
            say(f"{name:<6} epsilon={budget.epsilon:<10.4g} delta={budget.delta:g}")
        if accountant.edges_per_person > 1:
            say(protects(accountant.edges_per_person))
        for charge in accountant.charges():
            say(f"{charge.time}  epsilon={charge.epsilon:<10.4g} delta={charge.delta:g}")


@dataclass(frozen=True, kw_only=True)
class Convert(GraphFile):
    """Convert a graph from one file format to another. **NOT PRIVATE: the output holds the same edges.**

    A vertex without edges is written to an edge list as a self-loop, which dpgraph and most other readers drop while
    they keep the vertex. A .gset file numbers the vertices 1..n in the order of their labels.
    """

    output: Path = argument(
        "OUTPUT", "Its ending says the format: .txt (tab-separated edge list), .csv, .gml or .gset, each also with .gz."
    )

    def run(self) -> None:
        """Read, then write."""
        name = self.output.name
        ending = name.removesuffix(".gz").rpartition(".")[2]
        if ending not in WRITERS:
            known = ", ".join(f".{known}" for known in WRITERS)
            raise InvalidParameterError(f"OUTPUT must end in {known}, or one of these with .gz; got {name!r}")
        require_writable(self, self.output)
        source = self.read()
        text = WRITERS[ending](source.data, source.labels, self.weight).encode()
        # No time stamp in the gzip header: equal input gives equal bytes.
        content = gzip.compress(text, mtime=0) if name.endswith(".gz") else text
        deliver([], [(self.output, lambda path: write_atomically(path, content))])
        note(f"wrote {self.output}: the private graph itself, in another format")


@dataclass(frozen=True, kw_only=True)
class Check(GraphFile):
    """Say what a file of edges holds, before any budget is spent. **NOT PRIVATE: exact, for the owner of the file.**

    Rows, dropped ones, self-loops, duplicates, unknown names, whether the first line is a header, and some edges.

    Example: `dpgraph check mails.csv --nodes @staff.txt --normalize casefold --unknown drop`
    """

    def run(self) -> None:
        """Read the file, and print its summary."""
        path = self.file(self.graph)
        if path is None:
            raise DatasetError(f"no such file: {self.graph}")
        reading = self.reading(self.weight)
        try:
            (graph, summary), refused = reading.read(path), None
        except DatasetError as error:
            if self.graph == "-":  # which can be read once
                raise
            (graph, summary), refused = replace(reading, unknown="drop").read(path), error
        read, weight = (graph[0], None) if isinstance(graph, tuple) else (graph, self.weight)
        if summary is not None:
            say(str(summary()))
        else:
            opened = as_graph(read)
            n, m = len(opened.nodes), opened.adjacency.nnz // 2
            say(f"EXACT, for the owner of the file only\nvertices          {n}\nedges             {m}")
        if refused is not None:
            raise refused
        if self.weight is not None:
            as_graph(read, weight=weight, signed=False)  # refuses what a private function would


@dataclass(frozen=True, kw_only=True)
class ListDatasets:
    """List the graphs that can be used by name.

    Vertices and edges are those that the publisher states (edges may count self-loops and both directions).
    """

    data_dir: Path | None = options.data_dir()

    def run(self) -> None:
        """Print a line for each."""
        known = datasets.available(self.data_dir)
        say(f"{'name':<20} {'collection':<12} {'vertices':>10} {'edges':>12}  {'listed as':<10} from")
        for info in known.values():
            n, m = ("?" if size is None else str(size) for size in (info.nodes, info.edges))
            kind = "arcs" if info.directed else "edges"
            origin = info.url or ("this package" if info.collection == "bundled" else "a local folder")
            say(f"{info.name:<20} {info.collection:<12} {n:>10} {m:>12}  {kind:<10} {origin}")


@dataclass(frozen=True, kw_only=True)
class FetchDataset:
    """Fetch a public graph once, check it and keep it.

    Files go to the download cache ($DPGRAPH_CACHE, by default the user's cache folder), unless the folder of local
    graphs has them. Their checksum is recorded the first time and verified ever after. Without a network: put the file
    into a folder by hand and name the folder in $DPGRAPH_DATA.

    Example: `dpgraph datasets fetch wiki-Vote --progress`
    """

    name: str = argument("NAME", "A name of `dpgraph datasets list`.")
    data_dir: Path | None = options.data_dir()
    progress: bool = options.progress()

    def run(self) -> None:
        """Fetch, and say what it is."""
        A, nodes = datasets.load_sparse(self.name, data_dir=self.data_dir, progress=self.progress)
        say(f"{self.name}: {len(nodes)} vertices, {A.nnz // 2} undirected edges without self-loops")


datasets_app.command("list")(options.as_command(ListDatasets))
datasets_app.command("fetch")(options.as_command(FetchDataset))
