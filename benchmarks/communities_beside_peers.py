"""Communities of `private_communities` beside private ones of others (community_peers.py), epsilon 0.25 to 8.

    python benchmarks/communities_beside_peers.py [--only GRAPH] [--again METHOD] [--shown]

writes results/communities_peers.csv, row by row (rows that are present are not computed again; `--again` forgets those
of one method and measures that method only, `--shown` measures the epsilons of the page only), and
results/communities_peers.md. A share is the modularity over that of Louvain without privacy (best of 5 runs). Beside it
stand the adjusted Rand index (ARI) and the normalised mutual information (NMI) with these runs of Louvain, and the ARI
between runs. A cell that takes more than 60 s of processor time is not finished.
"""

import argparse
import contextlib
import itertools
import multiprocessing
import random
import resource
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from multiprocessing.connection import Connection

import community_peers as peers
import igraph
import numpy as np
from common import RESULTS, ResumableTable, Row, interval, markdown_table, real_graph
from communities import agreement, louvain_runs
from scipy import sparse

#: Blocks and vertices of a block; degree 40, seven edges of ten inside.
PLANTED = {"planted 8 x 250": (8, 250), "planted 20 x 500": (20, 500)}
GRAPHS = (
    "fb100-Caltech36", "email-Eu-core", "planted 8 x 250", "ego-Facebook", "fb100-Rice31", "ca-GrQc", "wiki-Vote",
    "lastfm-asia", "ca-HepTh", "planted 20 x 500", "fb100-Stanford3", "fb100-Harvard1", "ca-AstroPh",
    "fb100-Berkeley13", "email-Enron",
)  # fmt: skip
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: Those that the page shows, and that come first.
_SHOWN = (0.5, 1.0, 2.0)
Method = Callable[[sparse.csr_array, float, np.random.Generator], np.ndarray]
METHODS: dict[str, Method] = {
    "ours": peers.ours,
    "PrivGraph": peers.priv_graph,
    "LouvainDP 8": partial(peers.louvain_dp, size=8),
    "LouvainDP 32": partial(peers.louvain_dp, size=32),
    "randomised response": peers.randomized_response,
    "TmF": peers.top_m_filter,
    "k-means": peers.embedding_kmeans,
    "ModDivisive 4 x 4": partial(peers.mod_divisive, score_range=peers.PUBLISHED_RANGE, k=4, depth=2),
    "ModDivisive 8": partial(peers.mod_divisive, score_range=peers.PUBLISHED_RANGE, k=8, depth=1),
    "ModDivisive* 4 x 4": partial(peers.mod_divisive, score_range=peers.EXACT_RANGE, k=4, depth=2),
    "ModDivisive* 8": partial(peers.mod_divisive, score_range=peers.EXACT_RANGE, k=8, depth=1),
}
AGREEMENT = ("ari", "nmi", "between")
COLUMNS = ("graph", "epsilon", "method", "runs", "share", "half_width", *AGREEMENT, "seconds", "note")
#: Runs of a cell, and of a fast one (first run below 0.2 s, and ours); its limit in seconds of processor time.
_RUNS, _FAST_RUNS, _LIMIT = 3, 5, 60
#: Shares that differ by less are level.
_LEVEL = 0.01


@cache
def graph(name: str) -> sparse.csr_array:
    """A graph of `GRAPHS`."""
    if name not in PLANTED:
        return real_graph(name)
    blocks, size = PLANTED[name]
    random.seed(1)
    inside, across = 28 / (size - 1), 12 / (size * (blocks - 1))
    preferences = np.full((blocks, blocks), across) + (inside - across) * np.eye(blocks)
    g = igraph.Graph.SBM(preferences.tolist(), [size] * blocks)
    return sparse.csr_array(g.get_adjacency_sparse().astype(float))


@cache
def igraph_of(name: str) -> igraph.Graph:
    return igraph.Graph(graph(name).shape[0], peers.upper_pairs(graph(name)))


@cache
def louvain(name: str) -> tuple[float, list[list[int]]]:
    """The largest modularity of five runs without privacy, and their communities."""
    runs = louvain_runs(igraph_of(name))
    return max(found.modularity for found in runs), [found.membership for found in runs]


def cost(name: str, epsilon: float, method: str) -> float:
    """How long a cell takes, roughly: cheap ones come first."""
    n, edges = graph(name).shape[0], graph(name).nnz / 2
    factor = {"TmF": 6, "k-means": 20}.get(method, 4 if is_chain(method) else 1)
    embedding = 100 * n if method == "k-means" else 0
    flipped = n * n / 2 / (1 + np.exp(epsilon)) if method == "randomised response" else 0
    return (factor * edges + embedding + 4 * flipped * (flipped < peers.MAX_EDGES)) * (1 if epsilon in _SHOWN else 5)


def runs_of(name: str, epsilon: float, method: str, results: Connection) -> None:
    """Communities and times of the runs of a cell, sent as they come, in a process that may be ended."""
    resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT, _LIMIT))
    warnings.filterwarnings("ignore")  # k-means, on rows that are equal
    runs = _RUNS
    for seed in range(_FAST_RUNS):
        if seed == runs:
            break
        random.seed(seed)
        start = time.process_time()
        try:
            labels = METHODS[method](graph(name), epsilon, np.random.default_rng(seed))
        except peers.InfeasibleError:
            results.send("infeasible")
            return
        seconds = time.process_time() - start
        results.send((np.asarray(labels).tolist(), seconds))
        if seed == 0 and (seconds < 0.2 or method == "ours"):
            runs = _FAST_RUNS
        if seconds * runs > _LIMIT:
            return
    results.send("done")


def measure(name: str, epsilon: float, method: str) -> dict[str, object]:
    """One row of the table."""
    most, theirs = louvain(name)  # once, not in every process
    fork = multiprocessing.get_context("fork")
    receiving, sending = fork.Pipe(duplex=False)
    process = fork.Process(target=runs_of, args=(name, epsilon, method, sending))
    process.start()
    sending.close()
    runs, note = [], f"> {_LIMIT} s"
    while True:
        try:
            message = receiving.recv()
        except EOFError:
            break
        if isinstance(message, str):
            note = "" if message == "done" else message
        else:
            runs.append(message)
    process.join()
    if process.exitcode is not None and process.exitcode > 0:
        raise RuntimeError(f"{method} failed on {name}")
    row = dict.fromkeys(COLUMNS, "") | {"graph": name, "epsilon": epsilon, "method": method, "runs": 0, "note": note}
    if note:
        return row
    found = [labels for labels, _ in runs]
    mean, half = interval(igraph_of(name).modularity(labels) / most for labels in found)
    figures = {
        "share": mean,
        "half_width": half,
        "ari": agreement(found, theirs),
        "nmi": agreement(found, theirs, "nmi"),
        "between": agreement(found),
    }
    seconds = f"{np.median([seconds for _, seconds in runs]):.2f}"
    return row | {column: f"{value:.4f}" for column, value in figures.items()} | {"runs": len(runs), "seconds": seconds}


def best(rows: list[Row]) -> Row | None:
    """The row of the largest share; None where nothing was feasible."""
    return max((row for row in rows if not row["note"]), key=lambda row: float(row["share"]), default=None)


def shown(row: Row, name: bool = False) -> str:
    text = f"{float(row['share']):.2f} ± {float(row['half_width']):.2f}"
    return f"{text} {row['method']}" if name else text


def is_chain(method: str) -> bool:
    """Is privacy that of the limit of a Markov chain only?"""
    return method.startswith("ModDivisive")


class Comparison:
    """All finished cells against the best of some peers."""

    def __init__(self, table: ResumableTable, chains: bool) -> None:
        self._table, self._methods = table, [m for m in METHODS if m != "ours" and is_chain(m) == chains]

    def cell(self, name: str, epsilon: float) -> tuple[Row, Row] | None:
        """Our row and that of the best peer that has been run; None where there is none."""
        mine = self._table.rows.get((name, str(epsilon), "ours"))
        others = [self._table.rows.get((name, str(epsilon), method)) for method in self._methods]
        found = best([row for row in others if row])
        return (mine, found) if mine and found else None

    def cells(self) -> dict[tuple[str, float], tuple[Row, Row]]:
        """All that have a peer."""
        pairs = {(name, e): self.cell(name, e) for name in GRAPHS for e in EPSILONS}
        return {key: pair for key, pair in pairs.items() if pair}

    def complete(self) -> int:
        """The number of cells for which all peers have been run."""
        return sum(
            all((name, str(e), method) in self._table.rows for method in self._methods) for name, e in self.cells()
        )

    def table(self) -> str:
        """Graphs with their cells at the epsilons of the page."""
        cells, lines = self.cells(), []
        for name in GRAPHS:
            pairs = [cells.get((name, epsilon)) for epsilon in _SHOWN]
            if any(pairs):
                texts = [(shown(pair[0]), shown(pair[1], name=True)) if pair else ("", "") for pair in pairs]
                lines.append((name, *sum(texts, ())))
        header = [text for e in _SHOWN for text in (f"ours, epsilon {e:g}", "best peer")]
        return markdown_table(("graph", *header), lines)

    def verdict(self) -> str:
        """Counts of cells at all epsilons, and the lost ones."""
        cells = self.cells()
        gains = {key: float(mine["share"]) - float(peer["share"]) for key, (mine, peer) in cells.items()}
        won = sum(gain > _LEVEL for gain in gains.values())
        lost = [key for key, gain in gains.items() if gain < -_LEVEL]
        level = len(cells) - won - len(lost)
        text = f"Of {len(cells)} cells ({self.complete()} with every peer), ours is best in {won}, "
        text += f"level (within {_LEVEL:g}) in {level}, behind in {len(lost)}"
        lines = []
        for name in GRAPHS:
            pairs = {epsilon: cells[name, epsilon] for graph_name, epsilon in lost if graph_name == name}
            behind = [
                f"{float(mine['share']):.2f} at {epsilon:g} ({float(peer['share']):.2f} {peer['method']})"
                for epsilon, (mine, peer) in pairs.items()
            ]
            if behind:
                lines.append(f"- {name}: {', '.join(behind)}\n")
        return f"{text}{':' if lost else '.'}\n\n{''.join(lines)}"


def agreements(table: ResumableTable, epsilon: float) -> str:
    """ARI and NMI with Louvain, and the ARI between runs, for every graph and method."""
    lines = []
    for name in GRAPHS:
        rows = [table.rows.get((name, str(epsilon), method)) for method in METHODS]
        if any(row and row["ari"] for row in rows):
            theirs = louvain(name)[1]
            own = f"{agreement(theirs):.2f} / {agreement(theirs, method='nmi'):.2f}"
            lines.append((name, own, *(agreeing(row) if row else "" for row in rows)))
    return markdown_table(("graph", "Louvain itself", *METHODS), lines)


def agreeing(row: Row) -> str:
    return " / ".join(f"{float(row[column]):.2f}" for column in AGREEMENT) if row["ari"] else row["note"]


def times(table: ResumableTable) -> str:
    """Seconds of a run, by method, and what was not finished."""
    lines = []
    for method in METHODS:
        rows = [row for row in table.rows.values() if row["method"] == method]
        seconds = [float(row["seconds"]) for row in rows if not row["note"]]
        over, infeasible = (sum(row["note"] == note for row in rows) for note in (f"> {_LIMIT} s", "infeasible"))
        if seconds:
            lines.append((method, len(rows), f"{np.median(seconds):.2f}", f"{max(seconds):.1f}", over, infeasible))
    header = ("method", "cells", "median seconds", "most", f"cells over {_LIMIT} s", "infeasible cells")
    return markdown_table(header, lines)


def write_page(table: ResumableTable) -> None:
    """The summary, and its place in the documentation."""
    proved, chains = Comparison(table, chains=False), Comparison(table, chains=True)
    text = (
        "# Communities beside those of others\n\n"
        "Share of the modularity of Louvain without privacy (best of 5): mean of 3 to 5 runs, with its 95 % interval. "
        "The peers are PrivGraph (its partition, all of epsilon), LouvainDP with groups of 8 and of 32, Louvain on "
        "randomised response and on TmF, and k-means on `private_normalized_adjacency` (with delta = 1e-6 and the best "
        "number of clusters in hindsight; all others are pure). The counts of cells include epsilon 0.25, 4 and 8, as "
        "far as they are in `benchmarks/results/communities_peers.csv`.\n\n"
        f"{proved.table()}\n{proved.verdict()}\n"
        "ModDivisive draws labels by a Markov chain towards the exponential mechanism. It is private in the limit of "
        "the chain. For the 50 n steps that it makes nothing is proved. So it stands apart: its shares are not what "
        "can be promised. `*` has the exact range of its score (5/2) in place of that of the paper (6); `4 x 4` are "
        "two levels of four parts, `8` is one level.\n\n"
        f"{chains.table()}\n{chains.verdict()}\n"
        "## Agreement\n\nModularity does not say whether communities are the same: many partitions have nearly the "
        "same. A cell has the adjusted Rand index with Louvain's communities / the normalised mutual information with "
        "them / the adjusted Rand index between runs. Louvain's agreement with itself (index / information) is the "
        "most that can be asked for. A random partition has an index of 0. Graphs that are missing have not been "
        "measured.\n\n"
        + "".join(f"### Epsilon {epsilon:g}\n\n{agreements(table, epsilon)}\n" for epsilon in _SHOWN)
        + "## Time\n\n"
        f"Processor seconds of one run, on a shared machine:\n\n{times(table)}"
    )
    (RESULTS / "communities_peers.md").write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=GRAPHS)
    parser.add_argument("--again", choices=METHODS)
    parser.add_argument("--shown", action="store_true")
    options = parser.parse_args()
    table = ResumableTable(RESULTS / "communities_peers.csv", ("graph", "epsilon", "method"), COLUMNS)
    with table.writing():
        table.drop(lambda row: row["method"] == options.again and options.only in (None, row["graph"]))
        methods = [options.again] if options.again else METHODS
        epsilons = _SHOWN if options.shown else EPSILONS
        cells = itertools.product([options.only] if options.only else GRAPHS, epsilons, methods)
        for method in METHODS.values():  # compiled or loaded once, not in every process
            with contextlib.suppress(peers.InfeasibleError):
                method(graph(GRAPHS[0]), 8.0, np.random.default_rng(0))
        for name, epsilon, method in sorted(cells, key=lambda cell: cost(*cell)):
            if (name, str(epsilon), method) not in table.rows:
                table.add(measure(name, epsilon, method))
                print(*table.rows[name, str(epsilon), method].values(), flush=True)
                write_page(table)
    write_page(table)


if __name__ == "__main__":
    main()
