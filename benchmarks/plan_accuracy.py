#!/usr/bin/env python
"""How far off :func:`dpgraph.plan` is on real graphs: two tables for docs/planning.md.

Predicted is the cut of "bounded-iterates" on stand-ins without a planted cut, from the average degree and from the
degrees; measured is the mean of five runs on the graph itself. The degrees are exact here, which a user would release.
For communities it is the share of the modularity of the planted blocks, for the blocks that are planted by default, and
measured is the share of the modularity that Louvain finds without privacy.

    python benchmarks/plan_accuracy.py > benchmarks/results/plan_accuracy.md
"""

from __future__ import annotations

import numpy as np
from common import real_graph
from communities import igraph_of, louvain_modularity

import dpgraph

GRAPHS = (
    "G22", "email-Eu-core", "fb100-Caltech36", "fb100-Haverford76", "ego-Facebook", "wiki-Vote", "ca-GrQc",
    "fb100-Rice31",
)  # fmt: skip
COMMUNITY_GRAPHS = ("fb100-Caltech36", "fb100-Rice31", "ego-Facebook", "ca-HepTh")
BUDGET = {"delta": 1e-6}
RUNS = 5
HEADER = "from the average degree | from the degrees | measured |"


def known_degrees(A: object) -> list[dict[str, object]]:
    """What a plan is told of a graph: the average degree, or the degrees."""
    degrees = np.asarray(A.sum(axis=0), dtype=float)
    return [{"n": A.shape[0], **known} for known in ({"average_degree": degrees.mean()}, {"degrees": degrees.tolist()})]


def cuts() -> None:
    print("# Share of the weight that a private cut crosses\n")
    print(f"| graph | epsilon | {HEADER}\n| --- | --- | --- | --- | --- |")
    for name in GRAPHS:
        A = real_graph(name)
        for epsilon in (1.0, 4.0):
            options = {"epsilon": epsilon} | BUDGET
            predicted = [
                dpgraph.plan(mechanisms=["bounded-iterates"], **known, **options)["bounded-iterates"].cut_fraction
                for known in known_degrees(A)
            ]
            runs = [
                dpgraph.private_max_cut(A, mechanism="bounded-iterates", **options, rng=seed) for seed in range(RUNS)
            ]
            row(name, epsilon, *predicted, np.mean([dpgraph.evaluate.cut_fraction(A, run) for run in runs]))


def communities() -> None:
    print("# Share of the modularity that private communities have\n")
    print(f"| graph | epsilon | {HEADER}\n| --- | --- | --- | --- | --- |")
    for name in COMMUNITY_GRAPHS:
        A, g = real_graph(name), igraph_of(name)
        most = louvain_modularity(g)
        for epsilon in (1.0, 2.0):
            plans = [dpgraph.plan(problem="communities", epsilon=epsilon, **known) for known in known_degrees(A)]
            runs = [dpgraph.private_communities(A, epsilon=epsilon, rng=seed) for seed in range(RUNS)]
            measured = np.mean([g.modularity(run.labels.tolist()) for run in runs]) / most
            row(name, epsilon, *(one[one.recommended].modularity_share for one in plans), measured)


def row(name: str, epsilon: float, *shares: float) -> None:
    print(f"| {name} | {epsilon:g} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    cuts()
    print()
    communities()
