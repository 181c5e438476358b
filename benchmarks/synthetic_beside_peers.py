"""Graphs of `private_synthetic_graph` beside those of others (synthetic_peers.py), epsilon 0.5 to 4.

    python benchmarks/synthetic_beside_peers.py [--only GRAPH] [--again METHOD] [--workers 2] [--page]

writes results/synthetic_peers.csv, row by row (rows that are present are not computed again; `--again` forgets those of
one method and measures that method only: `--again ours` after a change of the package), results/synthetic_peers.md and
its part of docs/synthetic-graphs.md. Measures are those of synthetic_graphs.py, and three more: adjusted Rand index of
the Louvain communities (NMI is large also where nearly every vertex is a community of its own), errors of the diameter
(as found by breadth-first searches from ends of long paths) and of the largest eigenvalue.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import time
from collections.abc import Callable
from functools import cache, partial

import igraph
import numpy as np
import synthetic_peers as peers
from common import RESULTS, ResumableTable, interval, real_graph
from community_peers import MAX_EDGES, InfeasibleError
from scipy import sparse
from synthetic_graphs import Facts as CommonFacts
from synthetic_hrg import hrg
from synthetic_tables import CHAINS, EPSILONS, GRAPHS, MEASURES, write_page

Method = Callable[[sparse.csr_array, float, np.random.Generator], np.ndarray]
METHODS: dict[str, Method] = {
    "ours": peers.ours,
    "PrivGraph": peers.priv_graph_pairs,
    "PrivGraph as coded": partial(peers.priv_graph_pairs, as_coded=True),
    "TmF": peers.top_m_pairs,
    "DGG": peers.degree_groups,
    "PrivSKG": peers.priv_skg,
    "DP-1K": peers.dp_1k,
    "DP-1K sorted": peers.dp_1k_sorted,
    "DP-2K": peers.dp_2k,
    "randomised response": peers.flipped_pairs,
    "HRG": hrg,
}
COLUMNS = (
    "graph",
    "epsilon",
    "method",
    "runs",
    *(c for name in MEASURES for c in (name, f"{name} ±")),
    "seconds",
    "note",
)
_RUNS = {("ours", "ego-Facebook"): 5}
_OTHER_RUNS = 3
#: More edges than this come last.
_MANY = 300_000


class Facts(CommonFacts):
    """What a graph is judged by."""

    def __init__(self, A: sparse.csr_array) -> None:
        super().__init__(A)
        self.diameter = diameter(self.louvain.graph)

    def judged(self, other: Facts, epsilon: float) -> tuple[float, ...]:
        """All measures of another graph beside this one, in the order of `MEASURES`."""
        return (
            *super().judged(other, epsilon),
            self.agreement(other, "adjusted_rand"),
            abs(other.diameter / self.diameter - 1),
            abs(other.eigenvalue / self.eigenvalue - 1),
        )


def diameter(graph: igraph.Graph, sweeps: int = 6) -> int:
    """A lower bound of the diameter that is nearly always exact: sweeps from a vertex farthest from the one before."""
    start, longest = int(np.argmax(graph.degree())), 0
    for _ in range(sweeps):
        distances = np.array(graph.distances(start)[0])
        distances[np.isinf(distances)] = -1
        start, longest = int(np.argmax(distances)), max(longest, int(distances.max()))
    return longest


def adjacency(n: int, pairs: np.ndarray) -> sparse.csr_array:
    half = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
    A = sparse.csr_array(half + half.T)
    A.sort_indices()
    return A


@cache
def facts(name: str) -> Facts:
    return Facts(real_graph(name))


def measure(name: str, epsilon: float, method: str) -> dict[str, object]:
    """One row of the table."""
    A, runs, seconds = real_graph(name), [], []
    row: dict[str, object] = dict.fromkeys(COLUMNS, "") | {"graph": name, "epsilon": epsilon, "method": method}
    for seed in range(_RUNS.get((method, name), _OTHER_RUNS)):
        random.seed(seed)
        start = time.process_time()
        try:
            pairs = METHODS[method](A, epsilon, np.random.default_rng(seed))
        except InfeasibleError:
            return row | {"runs": 0, "note": "infeasible"}
        seconds.append(time.process_time() - start)
        runs.append(facts(name).judged(Facts(adjacency(A.shape[0], pairs)), epsilon))
    for column, values in zip(MEASURES, zip(*runs, strict=True), strict=True):
        mean, half = interval(values)
        row |= {column: f"{mean:.4f}", f"{column} ±": f"{half:.4f}"}
    return row | {"runs": len(runs), "seconds": f"{np.median(seconds):.2f}"}


def order(name: str, epsilon: float, method: str) -> tuple[float, ...]:
    """Cells that draw many edges come last, before them Markov chains and the last two graphs."""
    A = real_graph(name)
    edges = A.nnz / 2
    if method == "randomised response":
        edges += A.shape[0] ** 2 / 2 / (1 + np.exp(epsilon))
    place = GRAPHS.index(name)
    return (_MANY < edges <= MAX_EDGES, method in CHAINS or place > 5, epsilon not in (1.0, 2.0), place, epsilon)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=GRAPHS)
    parser.add_argument("--again", choices=METHODS)
    parser.add_argument("--workers", type=int, default=1, help="processes that measure cells")
    parser.add_argument(
        "--page", action="store_true", help="measure nothing, write the pages of the rows that are there"
    )
    options = parser.parse_args()
    table = ResumableTable(RESULTS / "synthetic_peers.csv", ("graph", "epsilon", "method"), COLUMNS)
    if not options.page:
        graphs, methods = [options.only] if options.only else GRAPHS, [options.again] if options.again else METHODS
        for name in graphs:  # once, not in every process
            _ = facts(name).cuts
        peers.ours(real_graph(GRAPHS[0]), 8.0, np.random.default_rng(0))
        with table.writing(), multiprocessing.get_context("fork").Pool(options.workers) as pool:
            table.drop(lambda row: row["method"] == options.again and row["graph"] in graphs)
            cells = sorted(itertools.product(graphs, EPSILONS, methods), key=lambda cell: order(*cell))
            missing = [(name, e, method) for name, e, method in cells if (name, str(e), method) not in table.rows]
            for row in pool.imap_unordered(measure_cell, missing):
                table.add(row)
                print(*row.values(), flush=True)
    write_page(table.rows)


def measure_cell(cell: tuple[str, float, str]) -> dict[str, object]:
    return measure(*cell)


if __name__ == "__main__":
    main()
