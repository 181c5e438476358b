"""Fresh inputs of the ablations: planted cuts and partitions, heavy tails, and graphs that no table is judged on.

Nothing was fitted to them: seeds begin at 7000, and sizes and degrees are others than those of the fitting scripts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse

import dpgraph
from benchmarks.common import real_graph
from dpgraph.datasets import planted_csp, planted_cut_sparse

Graph = sparse.csr_array
#: make(seed)
Make = Callable[[int], Any]

FIRST_SEED = 7000


@cache
def planted(n: int, degree: float, correlation: float, seed: int) -> Graph:
    """A planted cut, even degrees."""
    return planted_cut_sparse(n, degree, correlation, rng=FIRST_SEED + seed)[0]


@cache
def partition(n: int, parts: int, degree: float, inside: float, tail: float, seed: int) -> Graph:
    """Blocks of equal size; an edge inside has `inside` times the odds of one between; degrees Pareto if `tail` > 0."""
    rng = np.random.default_rng(FIRST_SEED + seed)
    block = rng.integers(parts, size=n)
    weight = (1 - rng.random(n)) ** (-1 / tail) if tail else np.ones(n)
    odds = np.where(block[:, None] == block, inside, 1.0) * np.outer(weight, weight)
    upper = np.triu(rng.random((n, n)) < np.minimum(odds * degree * n / odds.sum(), 1.0), 1).astype(np.float64)
    return sparse.csr_array(upper + upper.T)


@cache
def regular(n: int, degree: int, seed: int) -> Graph:
    """All degrees are equal."""
    import networkx as nx

    return sparse.csr_array(
        nx.to_scipy_sparse_array(nx.random_regular_graph(degree, n, seed=FIRST_SEED + seed), dtype=float)
    )


def real(name: str, _seed: int) -> Graph:
    """A graph of the shared folder."""
    return real_graph(name)


@cache
def game(n: int, degree: float, labels: int, seed: int) -> dpgraph.TwoCSP:
    """A planted unique game of which 80 per cent can be satisfied."""
    return planted_csp(n, degree, labels, 0.8, rng=FIRST_SEED + seed)


@cache
def colouring(n: int, degree: float, labels: int, tail: float, seed: int) -> dpgraph.TwoCSP:
    """Labels must differ along the edges of a partition whose parts have few edges inside."""
    import networkx as nx

    graph = nx.from_scipy_sparse_array(partition(n, labels, degree, 0.3, tail, seed))
    return dpgraph.TwoCSP.from_networkx(graph, "max-k-cut", labels)


@cache
def with_dense_part(n: int, degree: float, size: int, inside: float, tail: float, seed: int) -> Graph:
    """A dense group of vertices in a graph of Pareto degrees."""
    A = partition(n, 1, degree, 1.0, tail, seed).toarray()
    rng = np.random.default_rng(FIRST_SEED + seed)
    group = rng.choice(n, size=size, replace=False)
    block = np.triu(rng.random((size, size)) < inside, 1)
    A[np.ix_(group, group)] = np.maximum(A[np.ix_(group, group)], block + block.T)
    return sparse.csr_array(A)


def of(make: Any, *arguments: Any) -> Make:
    """Graphs of one law, by their seed."""
    return partial(make, *arguments)
