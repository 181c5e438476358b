"""Max-2-SAT: truth values that satisfy as many clauses of two literals as possible.

    python examples/max_2_sat.py [EPSILON]

A survey: every clause is one person's wish, "this or not that". Variables (the questions) are public, the clauses are
private, and one clause more or less is what the private version hides: `adjacency="constraint"`, for a table of entries
at most 1. Wishes lean towards a hidden assignment, which satisfies more of them than a random one does.
"""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np

import dpgraph

DELTA = 1e-6


def leaning_formula(variables: int, clauses: int, agreement: float, seed: int) -> nx.Graph:
    """Clauses on distinct pairs of variables; each literal agrees with the hidden assignment with a probability."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(variables) < 0.5
    formula = nx.Graph()
    formula.add_nodes_from(range(variables))
    for u, v in nx.gnm_random_graph(variables, clauses, seed=seed).edges:
        wishes = hidden[[u, v]] ^ (rng.random(2) > agreement)
        formula.add_edge(u, v, clause={u: bool(wishes[0]), v: bool(wishes[1])})
    return formula


def main(epsilon: float = 2.0) -> dict[str, float]:
    instance = dpgraph.TwoCSP.from_networkx(leaning_formula(300, 15_000, 0.75, seed=1), "max-2-sat")
    exact = dpgraph.max_2csp(instance, rng=0)
    private = dpgraph.private_max_2csp(instance, epsilon=epsilon, delta=DELTA, adjacency="constraint")
    total = instance.total_weight
    earned = dpgraph.evaluate.csp_value(instance, private) / total
    agree = sum(exact.assignment[v] == private.assignment[v] for v in instance.variables)
    print(f"{total:.0f} clauses on {instance.n_variables} variables; random truth values satisfy 0.750:")
    print(f"  exact     share {exact.value / total:.4f}; ", end="")
    print(f"no assignment exceeds {exact.upper_bound / total:.4f} ({exact.certificate})")
    print(f"  private   share {private.estimated_fraction:.4f} (estimate); exact {earned:.4f} (not private)")
    print(f"  guarantee {private.privacy}")
    print(f"  both give {agree} of {instance.n_variables} variables the same value")
    return {"exact": exact.value / total, "bound": exact.upper_bound / total, "private": earned}


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
