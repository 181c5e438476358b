"""DN25a's remedy for small degrees, measured: a public random graph is added, and Algorithm 7.13 runs to the letter.

    python benchmarks/random_degree.py            # three minutes on one core

For each graph, average degree d' of the random graph over that of the graph, and epsilon: how far the algorithm got,
with the rank that got furthest of 1, 2, 4 and 8, and if there was a cut, the share of the edges that it separates (the
mean of three runs). The planted graph has a cut of 0.9 of the edges; in the second one a twentieth of the vertices lost
all edges but three.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from common import RESULTS, ResumableTable, markdown_table, real_graph
from scipy import sparse

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.exceptions import MechanismHalted
from dpgraph.strategies import Coherence

GRAPHS = (
    "planted", "planted, 5 % of degree 3", "fb100-Caltech36", "G1", "fb100-Reed98", "email-Eu-core",
    "fb100-Haverford76",
)  # fmt: skip
SHARES = (0.0, 0.25, 1.0, 2.0)
EPSILONS = (1.0, 4.0, 32.0, 512.0)
RANKS, RUNS, DELTA = (1, 2, 4, 8), 3, 1e-6
#: In the order in which they come.
STAGES = ("minimum degree", "degrees", "gap", "core", "advantage")
COLUMNS = ("graph", "share", "epsilon", "rank", "seed", "stage", "cut")


def graph(name: str) -> sparse.csr_array:
    if not name.startswith("planted"):
        return real_graph(name)
    A, _ = planted_cut_sparse(1000, 200, -0.8, rng=1)
    return thinned(A) if "," in name else A


def thinned(A: sparse.csr_array) -> sparse.csr_array:
    """The first twentieth of the vertices keep three edges, to vertices that keep all of theirs."""
    n = A.shape[0]
    few = np.arange(n) < n // 20
    upper = sparse.triu(A, k=1).tocoo()
    u, v = upper.coords
    rank = np.zeros(n, dtype=int)
    keep = ~(few[u] | few[v])
    for edge in np.flatnonzero(few[u] & ~few[v]):
        keep[edge] = rank[u[edge]] < 3
        rank[u[edge]] += 1
    half = sparse.coo_array((np.ones(int(keep.sum())), (u[keep], v[keep])), shape=A.shape)
    return sparse.csr_array(half + half.T)


def measure(table: ResumableTable) -> None:
    for name in GRAPHS:
        A = graph(name)
        degree = A.sum() / A.shape[0]
        for share, epsilon, rank, seed in cells():
            if (name, f"{share:g}", f"{epsilon:g}", str(rank), str(seed)) in table.rows:
                continue
            letter = Coherence.paper(rank, random_degree=share * degree)
            row = {"graph": name, "share": f"{share:g}", "epsilon": f"{epsilon:g}", "rank": rank, "seed": seed}
            try:
                cut = dpgraph.private_max_cut(A, epsilon=epsilon, delta=DELTA, mechanism=letter, rng=seed)
                row |= {"stage": "", "cut": round(dpgraph.evaluate.cut_fraction(A, cut), 4)}
            except MechanismHalted as halt:
                row |= {"stage": halt.stage, "cut": ""}
            table.add(row)


def cells() -> Iterator[tuple[float, float, int, int]]:
    for share in SHARES:
        for epsilon in EPSILONS:
            for rank in RANKS:
                for seed in range(RUNS):
                    yield share, epsilon, rank, seed


def summary(table: ResumableTable) -> str:
    lines = []
    for name in GRAPHS:
        for share in SHARES:
            outcomes = [outcome(table, name, f"{share:g}", f"{epsilon:g}") for epsilon in EPSILONS]
            lines.append((name, f"{share:g}", *outcomes))
    return markdown_table(("graph", "d'/d", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)), lines)


def outcome(table: ResumableTable, name: str, share: str, epsilon: str) -> str:
    """The rank that got furthest: the mean share cut of the runs that did not halt, or where most runs halted."""
    best = (-1.0, "")
    for rank in RANKS:
        rows = [table.rows[(name, share, epsilon, str(rank), str(seed))] for seed in range(RUNS)]
        cuts = [float(row["cut"]) for row in rows if row["cut"]]
        reached = max(STAGES.index(row["stage"]) for row in rows if row["stage"]) if len(cuts) < RUNS else 0
        found = (float(reached), STAGES[reached])
        if cuts:
            of = f" ({len(cuts)} of {RUNS} runs)" if len(cuts) < RUNS else ""
            found = (10.0 + len(cuts) + float(np.mean(cuts)), f"{np.mean(cuts):.3f}, rank {rank}{of}")
        best = max(best, found)
    return best[1]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    table = ResumableTable(RESULTS / "random_degree.csv", COLUMNS[:5], COLUMNS)
    measure(table)
    text = f"# A random graph against small degrees\n\n{__doc__}\n{summary(table)}\n"
    (RESULTS / "random_degree.md").write_text(text)
    print(summary(table))


if __name__ == "__main__":
    main()
