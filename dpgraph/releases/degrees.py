"""The degrees of a graph, and how many vertices have which, released."""

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph, GraphOperator
from dpgraph.privacy.call import Call, Measurement, Released

__all__ = ["release_degree_tails", "release_degrees"]


def release_degrees(graph: GraphOperator, call: Call) -> Released:
    """Release all weighted degrees for this part of the budget: one edge moves two of them by at most w each."""
    w = graph.max_weight
    return call.release(
        Measurement(
            "degrees",
            graph.degrees(),
            l1=sensitivity.degrees_l1(w),
            l2=sensitivity.degrees_l2(w),
            unit=graph.weight_unit,
        )
    )


def release_degree_tails(graph: Graph, call: Call) -> Released:
    """Release the numbers of vertices with at least k edges, k = 1, ..., n - 1, for this part of a pure budget."""
    n = graph.n_vertices
    counts = np.bincount(np.diff(graph.adjacency.indptr), minlength=n)
    tails = np.cumsum(counts[::-1], dtype=np.float64)[::-1][1:]
    return call.release(Measurement("vertices of at least k edges", tails, l1=sensitivity.degree_tails(), unit=1.0))
