"""Private degree histogram and cumulative degree distribution of a graph, edges protected.

    python examples/degree_histogram.py [EPSILON]

Let z_j be the number of vertices of degree above j. Adding an edge between vertices of degrees a and b adds 1 to z_a
and 1 to z_b: z is a histogram at l1 distance 2 for neighbouring graphs. A Gaussian mechanism that is mu-GDP at distance
1 is 2 mu-GDP at distance 2, so the call below gets half of mu. (It is not "one record replaced": the sum of z is twice
the number of edges, which is private.) The degree histogram, z_{j-1} - z_j, is answered by the same release. Because z
never increases with j, the closest such sequence is taken afterwards: post-processing that removes most of the noise.

What is not offered, and why. The degree correlations of neighbours, and the degree histogram within a set of vertices
that depends on the edges (a core, a component), have no such small sensitivity: one edge changes the terms of up to
2 (n - 2) others, and can move every vertex in or out of a core. Vertex privacy is not offered either: one vertex moves
up to n - 1 degrees. For all of these, honest noise would be as large as the answer. Triangles have a large worst case
too, and still can be counted, since few graphs are near it: `dpgraph.private_subgraph_counts`.
"""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

from dpgraph.privacy import gdp_epsilon, gdp_mu
from dpgraph.problems.records.linear_queries import private_linear_queries

DELTA = 1e-6


def above(degrees: np.ndarray, most: int) -> np.ndarray:
    """z_j = number of vertices of degree above j, for j = 0, ..., most - 1."""
    return (degrees[None, :] > np.arange(most)[:, None]).sum(axis=1)


def private_cumulative_degrees(G: nx.Graph, most: int, *, epsilon: float, delta: float) -> np.ndarray:
    """Private, nonincreasing z; `most` is a public bound up to which degrees are told apart."""
    degrees = np.array([degree for _, degree in G.degree()])
    half = gdp_epsilon(gdp_mu(epsilon, delta) / 2, delta)
    # Degrees above `most` do not enter z, which only shrinks the distance between neighbours.
    result = private_linear_queries(np.eye(most), above(degrees, most), epsilon=half, delta=delta, sparse=False)
    decreasing = isotonic_regression(result.answers, increasing=False).x
    return np.clip(decreasing, 0, G.number_of_nodes())


def main(epsilon: float = 1.0) -> dict[str, float]:
    G = nx.barabasi_albert_graph(5000, 4, seed=1)
    n, most = G.number_of_nodes(), 300
    z = private_cumulative_degrees(G, most, epsilon=epsilon, delta=DELTA)
    histogram = -np.diff(np.concatenate([[n], z]))  # vertices of degree 0, 1, ..., most - 1
    exact = above(np.array([d for _, d in G.degree()]), most)
    noise = 2 / gdp_mu(epsilon, DELTA)
    error = float(np.sqrt(np.mean((z - exact) ** 2)))
    print(f"{n} vertices, epsilon = {epsilon:g}: noise of standard deviation {noise:.1f} on every count")
    print(f"after the monotone fit the counts err by {error:.1f} (not private: for the demonstration)")
    print("degree      private   exact (not private)")
    for degree in (4, 5, 6, 8, 10, 20, 50):
        true = -np.diff(np.concatenate([[n], exact]))[degree]
        print(f"{degree:>6} {histogram[degree]:>12.0f} {true:>10.0f}")
    print("not offered: triangles, cores, vertex privacy; there one edge (or vertex) moves too much")
    print(f"share of vertices of degree above 20: {z[20] / n:.4f}")
    return {"noise": float(noise), "error": error, "total": float(histogram.sum() + z[-1])}


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
