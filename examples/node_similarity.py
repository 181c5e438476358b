"""Which vertices of a graph have similar neighbourhoods: cosine similarities with edge-level privacy.

    python examples/node_similarity.py [EPSILON]

Row i of the adjacency matrix is the neighbourhood of vertex i, and the cosine of two rows counts their common
neighbours. ``private_node_similarities`` computes all of them from one private matrix of low rank.
"""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np

import dpgraph
from dpgraph import datasets
from dpgraph.problems.records.cosine import normalized_gram


def same_side(similarities: np.ndarray, side: np.ndarray, k: int) -> float:
    """Share of the k most similar other vertices that lie on a vertex's own side."""
    others = similarities - 2 * np.eye(len(side))
    nearest = np.argpartition(-others, k, axis=1)[:, :k]
    return float(np.mean(side[nearest] == side[:, None]))


def main(epsilon: float = 2.0) -> dict[str, float]:
    G = datasets.load("planted-cut")
    A = nx.to_scipy_sparse_array(G, weight=None)
    private = dpgraph.private_node_similarities(G, epsilon=epsilon)
    exact = normalized_gram(A)
    sides = dpgraph.max_cut(G, rng=0).partition[0]
    side = np.array([node in sides for node in G.nodes])

    numbers = {
        "error": float(np.sum((private.matrix - exact) ** 2)),
        "identity": float(np.sum((np.eye(len(exact)) - exact) ** 2)),
        "exact": same_side(exact, side, 10),
        "private": same_side(private.matrix, side, 10),
    }
    print(f"{len(G)} vertices; the most similar to vertex 0: {private.nearest(next(iter(G)), 3)}")
    print(f"squared error {numbers['error']:.0f}, of the identity {numbers['identity']:.0f} (not private)")
    print("of the ten most similar vertices, on the same side of the best cut:")
    print(f"  exact   {numbers['exact']:.3f} (not private)\n  private {numbers['private']:.3f}, at random 0.5")
    print(f"guarantee {private.privacy}")
    return numbers


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
