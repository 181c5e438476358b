"""What is simplified, and the calls that may feel it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import dpgraph
from benchmarks.ablations.harness import Run, numbers
from benchmarks.ablations.inputs import Make, colouring, game, of, partition, planted, real, regular, with_dense_part
from dpgraph import tuning
from dpgraph.inputs.graphs import open_graph
from dpgraph.releases.subgraphs import subgraphs_of

DELTA = 1e-6


# --- utilities, shares in [0, 1] -------------------------------------------------------------------------------------


def cut(make: Make, epsilon: float, mechanism: Any = "bounded-iterates") -> Run:
    """Share of the edges that a cut cuts."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_max_cut(A, epsilon=epsilon, mechanism=mechanism, rng=seed)
        return float(dpgraph.evaluate.cut_fraction(A, found.labels))

    return run


def parts(make: Make, k: int, epsilon: float, mechanism: Any = "bounded-iterates") -> Run:
    """Share of the edges between k parts."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_max_k_cut(A, k, epsilon=epsilon, mechanism=mechanism, rng=seed)
        tails, heads = A.nonzero()
        return float(np.mean(found.labels[tails] != found.labels[heads]))

    return run


def labels(make: Make, epsilon: float, adjacency: Any) -> Run:
    """Share of the weight that labels earn."""

    def run(seed: int) -> float:
        instance = make(seed)
        found = dpgraph.private_max_2csp(
            instance, epsilon=epsilon, adjacency=adjacency, mechanism="bounded-iterates", rng=seed
        )
        return float(dpgraph.evaluate.csp_value(instance, found)) / instance.total_weight

    return run


def count(make: Make, pattern: str, epsilon: float, mechanism: Any = "auto", delta: float = 0.0) -> Run:
    """One minus the relative error of a count, at least 0."""

    def run(seed: int) -> float:
        A = make(seed)
        asked = {"epsilon": epsilon, "delta": delta, "mechanism": mechanism, "rng": seed}
        found = dpgraph.private_subgraph_counts(A, [pattern], **asked)
        exact = subgraphs_of(open_graph(A).read()).count(pattern)
        return 1 - min(abs(found.counts[pattern] - exact) / exact, 1.0)

    return run


def distribution(make: Make, epsilon: float) -> Run:
    """One minus the Kolmogorov-Smirnov distance of a degree distribution."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_degree_distribution(A, epsilon=epsilon, rng=seed).degree_sequence
        of_found, of_true = (np.bincount(degrees, minlength=A.shape[0]) for degrees in (found, np.diff(A.indptr)))
        return 1 - float(np.abs(np.cumsum(of_found - of_true)).max()) / A.shape[0]

    return run


def densest(make: Make, epsilon: float) -> Run:
    """Density of the part that is found, over that of the best prefix of the order of peeling."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_densest_subgraph(A, epsilon=epsilon, rng=seed)
        inside = np.asarray(found.labels, dtype=float)
        return float(inside @ (A @ inside)) / 2 / max(inside.sum(), 1) / peeled(make, seed)

    return run


@cache
def peeled(make: Make, seed: int) -> float:
    """Density of the best prefix of the order in which the least degree is peeled, without privacy."""
    import networkx as nx

    A = make(seed)
    number = nx.core_number(nx.from_scipy_sparse_array(A))
    order = np.array(sorted(number, key=lambda v: -number[v]))
    B = A[order][:, order].tocoo()
    last = np.maximum(B.row, B.col)
    inside = np.cumsum(np.bincount(last, B.data, A.shape[0])) / 2
    return float((inside / np.arange(1, A.shape[0] + 1)).max())


# --- calls -----------------------------------------------------------------------------------------------------------

HEAVY = of(partition, 600, 2, 30, 0.4, 2.2)
EVEN, DENSE, THIN = of(planted, 500, 36, -0.45), of(planted, 500, 110, -0.25), of(planted, 700, 18, -0.6)
GSET = of(real, "G43")
SIGNS = (
    cut(EVEN, 1.0), cut(EVEN, 4.0), cut(DENSE, 1.0), cut(THIN, 2.0), cut(HEAVY, 1.0), cut(HEAVY, 4.0), cut(GSET, 4.0),
)  # fmt: skip
SPARSE = cut(THIN, 0.8), cut(HEAVY, 0.5), parts(of(partition, 600, 3, 25, 0.2, 2.3), 3, 0.7)
ENTRY = (
    labels(of(game, 250, 36, 3), 0.8, "label-edge"), labels(of(game, 250, 36, 3), 2.0, "label-edge"),
    labels(of(colouring, 300, 34, 3, 0), 1.5, "label-edge"), labels(of(colouring, 300, 34, 3, 2.3), 3.0, "label-edge"),
    labels(of(game, 250, 36, 5), 1.2, "label-edge"),
)  # fmt: skip
WHOLE = (
    labels(of(game, 250, 36, 3), 1.5, "constraint"), labels(of(game, 250, 36, 3), 4.0, "constraint"),
    labels(of(colouring, 300, 34, 3, 0), 3.0, "constraint"), labels(of(colouring, 300, 24, 3, 2.3), 4.0, "constraint"),
    labels(of(game, 250, 36, 5), 3.0, "constraint"),
)  # fmt: skip
COUNTED = (
    count(HEAVY, "triangle", 1.0), count(EVEN, "triangle", 0.5), count(HEAVY, "4-clique", 2.0),
    count(THIN, "wedge", 0.3),
)  # fmt: skip
TAILS = tuple(
    distribution(make, epsilon)
    for make in (HEAVY, EVEN, THIN, DENSE, of(regular, 600, 20), of(real, "ca-HepPh"), of(real, "G43"))
    for epsilon in (0.1, 0.5)
)
DENSEST = tuple(
    densest(make, epsilon)
    for make in (HEAVY, of(with_dense_part, 1500, 8, 60, 0.6, 2.5))
    for epsilon in (0.5, 1.0, 3.0)
)


# --- simplifications -------------------------------------------------------------------------------------------------

T = tuning

ABLATIONS = [
    numbers(T.COMMON, "0.1", (*SIGNS, *SPARSE), share=0.1),
    numbers(T.COUNTS, "1", COUNTED, floor=1.0),
    numbers(T.TAILS, "1/2", TAILS, window=0.5),
    numbers(T.COMMON, "infinity", TAILS, clear=1e9),
    numbers(T.DENSEST, "3 rounds", DENSEST, rounds_per_epsilon=9.0, most_rounds=3),
    numbers(T.DENSEST, "4 rounds", DENSEST, rounds_per_epsilon=9.0, most_rounds=4),
    numbers(T.DENSEST, "0.05, as the density", DENSEST, degree_share=0.05),
    numbers(T.DENSEST, "1/2", DENSEST, degree_share=0.5),
    numbers(T.COMMON, "infinity: no candidates", (*ENTRY, *WHOLE), clear=1e9),
]  # fmt: skip
