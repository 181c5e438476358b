"""A unique game: every constraint says how the label of one variable follows from that of another.

    python examples/unique_game.py [EPSILON]

Clocks: variables are stations with clocks that are off by an unknown multiple of 20 minutes, and a constraint is a
measured difference "v is ahead of u by s", of which one in ten is wrong. Three labels, differences modulo an hour.
Correct offsets are only determined up to a common shift. Stations are public; a measurement is what privacy hides.
"""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np

import dpgraph

MINUTES = (0, 20, 40)
DELTA = 1e-6


def measured_differences(stations: int, measurements: int, wrong: float, seed: int) -> tuple[nx.DiGraph, np.ndarray]:
    """Network of differences, and the offsets that they were measured from."""
    rng = np.random.default_rng(seed)
    q = len(MINUTES)
    offsets = rng.integers(0, q, stations)
    game = nx.DiGraph()
    game.add_nodes_from(range(stations))
    for u, v in nx.gnm_random_graph(stations, measurements, seed=seed).edges:
        error = rng.integers(1, q) if rng.random() < wrong else 0
        shift = offsets[v] - offsets[u] + error
        game.add_edge(u, v, permutation=[int(a + shift) % q for a in range(q)])
    return game, offsets


def recovered(assignment: dict[int, int], offsets: np.ndarray) -> float:
    """Share of stations whose offset is right, after the best common shift."""
    q = len(MINUTES)
    labels = np.array([MINUTES.index(assignment[v]) for v in range(offsets.size)])
    return max(float(np.mean((labels + shift) % q == offsets)) for shift in range(q))


def main(epsilon: float = 2.0) -> dict[str, float]:
    game, offsets = measured_differences(300, 15_000, wrong=0.1, seed=1)
    instance = dpgraph.TwoCSP.from_networkx(game, "unique-games", MINUTES)
    exact = dpgraph.max_2csp(instance, seeds=1, rng=0)
    private = dpgraph.private_max_2csp(instance, epsilon=epsilon, delta=DELTA, adjacency="constraint")
    total = instance.total_weight
    earned = dpgraph.evaluate.csp_value(instance, private) / total
    right = recovered(exact.assignment, offsets), recovered(private.assignment, offsets)
    print(f"{total:.0f} differences of {instance.n_variables} clocks, one in ten wrong; random offsets satisfy 0.333:")
    print(f"  exact     share {exact.value / total:.4f}; ", end="")
    print(
        f"no assignment exceeds {exact.upper_bound / total:.4f} ({exact.certificate}); {right[0]:.1%} of clocks right"
    )
    print(f"  private   share {private.estimated_fraction:.4f} (estimate); exact {earned:.4f} (not private); ", end="")
    print(f"{right[1]:.1%} of clocks right (not private)")
    print(f"  guarantee {private.privacy}")
    return {
        "exact": exact.value / total,
        "bound": exact.upper_bound / total,
        "private": earned,
        "recovered": right[0],
    }


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
