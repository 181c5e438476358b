"""``dpgraph benchmark``, ``convert`` and ``datasets``: what is **not private**."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from tqdm import tqdm

from dpgraph import datasets
from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.writers import WRITERS
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.graph_input import GraphFile, GraphRequest
from dpgraph.interfaces.cli.options import argument, option, written
from dpgraph.interfaces.cli.outputs import deliver, note, say
from dpgraph.interfaces.cli.release import picture, require_outputs, require_writable, write_table

datasets_app = typer.Typer(no_args_is_help=True, help="List and fetch public graphs.")


@dataclass(frozen=True, kw_only=True)
class Benchmark(GraphRequest):
    """Compare private cuts with the best known cut. **NOT PRIVATE: for graphs that are public anyway.**

    Shares of the edges across the cut are exact; a halt counts as a random cut (0.5).

    Example: `dpgraph benchmark wiki-Vote --epsilon 0.5,1,2,4 --runs 5 --plot curve.png`
    """

    epsilon: str = option("0.5,1,2,4,8", "One or more values of epsilon, separated by commas.")
    delta: float = options.delta(1e-6)
    mechanism: str = option("bounded-iterates", "One or more mechanisms, separated by commas.")
    runs: int = option(5, "Runs of each mechanism at each epsilon.")
    output: Path | None = written("Write the table as CSV (mechanism, epsilon, runs, halts, mean, std).")
    plot: Path | None = written("Write the privacy-utility curves as a picture (PNG, PDF, SVG).", picture=True)
    seed: int | None = options.seed(0)
    progress: bool = options.progress()

    def run(self) -> None:
        """Measure every mechanism at every epsilon."""
        from dpgraph import max_cut
        from dpgraph.evaluate import cut_fraction

        require_outputs(self)
        names, epsilons = [name.strip() for name in self.mechanism.split(",")], _numbers(self.epsilon)
        if self.runs < 1:
            raise InvalidParameterError(f"--runs must be at least 1; got {self.runs}")
        budget = {"delta": self.delta} | self.weights()
        source = self.read()
        note("NOT PRIVATE: exact shares, for public graphs only")
        best = cut_fraction(source.data, max_cut(source.data, seeds=0, rng=0))
        cases = [(name, epsilon) for name in names for epsilon in epsilons]
        rows = [
            (name, epsilon, self.runs, *self._measure(source.data, mechanism=name, epsilon=epsilon, **budget))
            for name, epsilon in tqdm(cases, desc="cases", disable=not self.progress)
        ]
        header = ["mechanism", "epsilon", "runs", "halts", "mean", "std"]
        curves = {name: [(row[1], row[4], row[5]) for row in rows if row[0] == name] for name in names}
        lines = [
            f"{source.name}: {len(source.labels)} vertices, best cut found without privacy {best:.4f}",
            f"{'mechanism':<22}{'epsilon':>9}{'halts':>7}{'mean':>9}{'std':>9}",
        ]
        for name, epsilon, _, halts, mean, std in rows:
            lines.append(f"{name:<22}{epsilon:>9g}{halts:>7}{mean:>9.4f}{std:>9.4f}")
        deliver(
            [lambda: "\n".join(lines)],
            [
                (self.output, lambda path: write_table(path, header, list(zip(*rows, strict=True)))),
                picture(self.plot, "plot_privacy_utility", curves, best=best, title=source.name),
            ],
        )

    def _measure(self, adjacency: Any, **budget: Any) -> tuple[int, float, float]:
        """Halts, and mean and standard deviation of the exact cut fraction."""
        from dpgraph import private_max_cut
        from dpgraph.evaluate import cut_fraction

        fractions, halts = [], 0
        for k in range(self.runs):
            rng = None if self.seed is None else self.seed + k
            try:
                fractions.append(cut_fraction(adjacency, private_max_cut(adjacency, **budget, rng=rng)))
            except MechanismHalted:
                halts += 1
                fractions.append(0.5)
        return halts, float(np.mean(fractions)), float(np.std(fractions))


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameterError(f"--epsilon takes numbers separated by commas; got {text!r}") from None


@dataclass(frozen=True, kw_only=True)
class Convert(GraphFile):
    """Convert a graph from one file format to another. **NOT PRIVATE: the output holds the same edges.**

    A vertex without edges is written to an edge list as a self-loop, which dpgraph and most other readers drop while
    they keep the vertex. A .gset file numbers the vertices 1..n in the order of their labels.
    """

    output: Path = argument(
        "OUTPUT",
        "Its ending says the format: .txt (tab-separated edge list), .csv, .gml or .gset, each also with .gz.",
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
class ListDatasets:
    """List the graphs that can be used by name.

    Vertices and edges are those that the publisher states (edges may count self-loops and both directions).
    """

    data_dir: Path | None = options.data_dir()

    def run(self) -> None:
        """Print a line for each."""
        say(f"{'name':<20} {'collection':<12} {'vertices':>10} {'edges':>12}  {'listed as':<10} from")
        for info in datasets.available(self.data_dir).values():
            n, m = ("?" if size is None else str(size) for size in (info.nodes, info.edges))
            kind = "arcs" if info.directed else "edges"
            origin = info.url or ("this package" if info.collection == "bundled" else "a local folder")
            say(f"{info.name:<20} {info.collection:<12} {n:>10} {m:>12}  {kind:<10} {origin}")


@dataclass(frozen=True, kw_only=True)
class FetchDataset:
    """Fetch a public graph once, check it and keep it.

    Files go to the download cache ($DPGRAPH_CACHE, by default the user's cache folder), unless the folder of local
    graphs has them. Their checksum is recorded the first time and verified ever after; an interrupted download is
    continued. Without a network: put the file into a folder by hand and name the folder in $DPGRAPH_DATA.

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
