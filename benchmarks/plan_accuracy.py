#!/usr/bin/env python
"""How far off :func:`dpgraph.plan` is on real graphs: a table for docs/planning.md.

Predicted is the cut of "bounded-iterates" on stand-ins without a planted cut, from the average degree and from the
degrees; measured is the mean of five runs on the graph itself. The degrees are exact here, which a user would release.

    python benchmarks/plan_accuracy.py > benchmarks/results/plan_accuracy.md
"""

from __future__ import annotations

import numpy as np
from common import real_graph

import dpgraph

GRAPHS = (
    "G22", "email-Eu-core", "fb100-Caltech36", "fb100-Haverford76", "ego-Facebook", "wiki-Vote", "ca-GrQc",
    "fb100-Rice31",
)  # fmt: skip
BUDGET = {"delta": 1e-6}


def main() -> None:
    print("| graph | epsilon | from the average degree | from the degrees | measured |")
    print("| --- | --- | --- | --- | --- |")
    for name in GRAPHS:
        A = real_graph(name)
        n, degrees = A.shape[0], np.asarray(A.sum(axis=0), dtype=float)
        for epsilon in (1.0, 4.0):
            predicted = [
                dpgraph.plan(n=n, epsilon=epsilon, mechanisms=["bounded-iterates"], **known, **BUDGET)
                for known in ({"average_degree": float(degrees.mean())}, {"degrees": degrees.tolist()})
            ]
            options = {"epsilon": epsilon, "mechanism": "bounded-iterates"} | BUDGET
            runs = [dpgraph.private_max_cut(A, **options, rng=seed) for seed in range(5)]
            measured = np.mean([dpgraph.evaluate.cut_fraction(A, run) for run in runs])
            cuts = [one["bounded-iterates"].cut_fraction for one in predicted]
            print(f"| {name} | {epsilon:g} | {cuts[0]:.3f} | {cuts[1]:.3f} | {measured:.3f} |", flush=True)


if __name__ == "__main__":
    main()
