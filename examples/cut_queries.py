"""Private weights of many cuts of one graph at once: linear queries on the edges.

    python examples/cut_queries.py [EPSILON]

The weight of the edges between a vertex set S and the rest is linear in the edges: one query for each S, one column for
each vertex pair, 1 where S separates the pair. Two graphs that differ in one unweighted edge are histograms over the
vertex pairs at l1 distance 1, so `private_linear_queries` protects edges.

What is not offered, and why. Counts of triangles, of longer cycles or of other subgraphs with more than one edge, and
what is made from them (clustering coefficients, transitivity), are not linear in the edges: one edge can lie in n - 2
triangles, so honest noise for edge privacy would be of the order of n, which drowns the count in all but the densest
graphs. Smaller noise needs either the largest number of triangles on an edge of *this* graph, which is private, or a
bound on the degrees that the graph must obey, which the caller would have to promise. Cuts and numbers of edges between
two vertex sets move by at most 1, volumes by at most 2, whatever the graph.
"""

from __future__ import annotations

import itertools
import sys

import networkx as nx
import numpy as np

from dpgraph.problems.records.linear_queries import expected_error, private_linear_queries

DELTA = 1e-6


def cut_matrix(sets: list[set[int]], pairs: list[tuple[int, int]]) -> np.ndarray:
    """Row S, column {u, v}: whether S separates u from v."""
    return np.array([[float((u in S) != (v in S)) for u, v in pairs] for S in sets])


def main(epsilon: float = 1.0) -> dict[str, float]:
    G = nx.planted_partition_graph(3, 16, 0.9, 0.1, seed=1)
    n = G.number_of_nodes()
    pairs = list(itertools.combinations(range(n), 2))
    edges = np.array([float(G.has_edge(u, v)) for u, v in pairs])
    # A public family of sets: every interval of vertices, as for cuts along an ordering.
    sets = [set(range(i, j)) for i in range(n) for j in range(i + 1, n + 1) if j - i < n]
    A = cut_matrix(sets, pairs)
    budget = {"epsilon": epsilon, "delta": DELTA}

    # Least squares over all graphs afterwards: no cut is negative, and the error only falls.
    result = private_linear_queries(A, edges, sparse=True, records=len(pairs), **budget)
    plain = expected_error(A, mechanism="gaussian", **budget)
    error = float(np.sqrt(np.mean((result.answers - A @ edges) ** 2)))
    print(f"{len(sets)} cuts of a graph with {n} vertices, epsilon = {epsilon:g}")
    print(f"independent noise would err by     {plain:8.1f} edges (root mean square, known in advance)")
    print(f"{result.mechanism} noise errs by      {result.expected_rmse:8.1f} edges (known in advance)")
    print(f"this run erred by                  {error:8.1f} edges (not private: for the demonstration)")
    smallest = min((i for i, S in enumerate(sets) if 8 <= len(S) <= n // 2), key=lambda i: result.answers[i])
    S = sets[smallest]
    print(f"smallest private cut: vertices {min(S)} to {max(S)}, about {result.answers[smallest]:.0f} edges leave it")
    print("not offered: triangle counts and clustering coefficients; one edge can be in n - 2 triangles")
    return {"plain": plain, "expected": result.expected_rmse, "error": error}


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
