"""Max-k-cut: label the vertices with k colours so that as many edges as possible have two different ones.

    python examples/max_k_cut.py [EPSILON]

The graph is Zachary's karate club (34 vertices, 78 edges), with k = 3 for the exact part. A graph this small hides no
edge, so that the private version colours a random graph with three planted colour classes, 600 vertices of average
degree about 110.
"""

from __future__ import annotations

import sys

import networkx as nx

import dpgraph

COLOURS = ("red", "green", "blue")
DELTA = 1e-6


def planted_colours(size: int) -> nx.Graph:
    """Three classes of `size` vertices; few edges inside a class."""
    inside, between = 0.03, 0.36
    rows = [[inside if a == b else between for b in range(3)] for a in range(3)]
    return nx.stochastic_block_model([size] * 3, rows, seed=1)


def main(epsilon: float = 2.0) -> dict[str, float]:
    karate = dpgraph.TwoCSP.from_networkx(nx.karate_club_graph(), "max-k-cut", COLOURS)
    small = dpgraph.max_2csp(karate, rng=0)
    print(f"karate club, 3 colours: {small.value:.0f} of {karate.total_weight:.0f} edges between colours; ", end="")
    print(f"no colouring exceeds {small.upper_bound:.2f} ({small.certificate}): {small.status}")

    instance = dpgraph.TwoCSP.from_networkx(planted_colours(200), "max-k-cut", COLOURS)
    exact = dpgraph.max_2csp(instance, seeds=0, rng=0)
    private = dpgraph.private_max_2csp(instance, epsilon=epsilon, delta=DELTA, adjacency="edge")
    earned = dpgraph.evaluate.csp_value(instance, private) / instance.total_weight
    print(f"\nplanted colours, {instance.n_variables} vertices; a random colouring has share 0.667:")
    print(f"  exact     share {exact.value / instance.total_weight:.3f}, ", end="")
    print(f"no colouring exceeds {exact.upper_bound / instance.total_weight:.3f} ({exact.certificate})")
    print(f"  private   share {private.estimated_fraction:.3f} (estimate); exact {earned:.3f} (not private)")
    print(f"  guarantee {private.privacy}")
    return {
        "karate": small.value,
        "karate_bound": small.upper_bound,
        "exact": exact.value / instance.total_weight,
        "bound": exact.upper_bound / instance.total_weight,
        "private": earned,
    }


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
