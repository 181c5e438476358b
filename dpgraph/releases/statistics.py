"""Numbers that one edge changes by at most one: connected components, matchings, degeneracy, edge connectivity."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph
from dpgraph.linalg.connectivity import edge_connectivity, matching_number
from dpgraph.linalg.edges import to_igraph
from dpgraph.privacy.call import Call, Measurement, Released


class Statistic(NamedTuple):
    """How to compute a number, and the least and the largest that it can be for n vertices."""

    of: Callable[[sparse.csr_array], int]
    limits: Callable[[int], tuple[int, int]]


STATISTICS = {
    "components": Statistic(
        lambda A: int(csgraph.connected_components(A, directed=False, return_labels=False)), lambda n: (1, n)
    ),
    "matching": Statistic(matching_number, lambda n: (0, n // 2)),
    # The largest k such that a subgraph has no degree below k
    "degeneracy": Statistic(lambda A: int(max(to_igraph(A, range(A.shape[0])).coreness())), lambda n: (0, n - 1)),
    "edge-connectivity": Statistic(edge_connectivity, lambda n: (0, n - 1)),
}


def release_statistic(graph: Graph, name: str, call: Call) -> Released:
    """Release one of :data:`STATISTICS` for a part of a pure budget; edges count once, whatever they weigh."""
    exact = np.array([float(STATISTICS[name].of(graph.adjacency))])
    return call.release(Measurement(name, exact, l1=sensitivity.one_edge_statistic(), unit=1.0, few=True))
