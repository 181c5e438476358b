#!/usr/bin/env python
"""How true is what results of subspaces say about themselves? Sine of the largest angle against `estimated_sine`.

Matrices above a bulk, spikes, and adjacency matrices of real graphs, of sizes, ranks and seeds that chose nothing.

`converged` asks for a cautious sine of at most 0.3; behind it stand the numbers for limits of 0.2 and of 0.5.

    python -m benchmarks.estimates             # five minutes, into results/estimates.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.sparse.linalg import eigsh

import dpgraph
from benchmarks.common import RESULTS, markdown_table, real_graph
from benchmarks.subspaces import Case, rectangular_bulk, sine, symmetric_bulk, wishart
from dpgraph.tuning import KRYLOV

#: An edge of an adjacency matrix.
SENSITIVITY = math.sqrt(2.0)
EPSILONS, DELTA = (0.5, 1.0, 4.0), 1e-6
#: A sine from which on nothing was found, and one up to which something was.
LOST, FOUND = 0.7, 0.35
#: Cautious sines up to which a result could say that it converged; the first is what it does.
LIMITS = (KRYLOV.found, 0.2, 0.5)
GRAPHS = (
    ("facebook_combined", (1, 2, 4)), ("ca-HepPh", (1, 2)), ("ca-CondMat", (1,)), ("wiki-Vote", (1, 2)),
    ("fb100-Caltech36", (1, 2, 3)), ("ca-AstroPh", (1,)), ("G22", (1,)),
)  # fmt: skip
BULKS = {
    "symmetric, above a bulk": partial(symmetric_bulk, 410),
    "rectangular, above a bulk": partial(rectangular_bulk, 210, 610),
}


def cases() -> Iterator[tuple[str, Case, float]]:
    """Group, matrix, and sensitivity."""
    for number, (ratio, gap, rank) in enumerate(
        (ratio, gap, rank) for ratio in (1, 5, 12, 25) for gap in (65.0, 210.0) for rank in (1, 2, 4)
    ):
        for name, make in BULKS.items():
            yield name, make(rank, gap, number % 2 == 0, ratio, np.random.default_rng([71, number])), 1.0
    for number, strength in enumerate((4, 6, 10, 20, 40)):
        yield "spikes", wishart(125, 2200, strength, np.random.default_rng([72, number])), 1.0
        yield "spikes", wishart(70, 6500, 2 * strength, np.random.default_rng([73, number])), 1.0
    for name, ranks in GRAPHS:
        A = real_graph(name)
        for rank in ranks:
            values, vectors = eigsh(A.astype(float), k=rank + 1, which="LM", v0=np.ones(A.shape[0]))
            order = np.argsort(-np.abs(values))
            space = vectors[:, order[:rank]]
            yield "graphs", Case(A, space, space, float(abs(values[order[-1]]))), SENSITIVITY


def one(case: Case, sensitivity: float, epsilon: float, seed: int, mechanism: str) -> tuple[float, float, float]:
    """True, estimated and cautious sine."""
    asked = {"sensitivity": sensitivity, "epsilon": epsilon, "delta": DELTA, "mechanism": mechanism, "rng": seed}
    if case.symmetric:
        found = dpgraph.private_projector(case.matrix, case.rank, **asked)
        true = sine(case.left, found.basis)
    else:
        found = dpgraph.private_singular_subspace(case.matrix, case.rank, **asked)
        true = max(sine(case.left, found.left), sine(case.right, found.right))
    return max(true, 1e-9), found.estimated_sine, found.cautious_sine


def line(name: str, runs: list[tuple[float, float, float]]) -> tuple[object, ...]:
    """Quantiles of the ratio, and how often `converged` is wrong, with each of the limits."""
    true, estimated, cautious = (np.array(column) for column in zip(*runs, strict=True))
    low, middle, high = np.quantile(estimated / true, (0.05, 0.5, 0.95))
    within = np.mean(np.abs(np.log2(estimated / true)) <= 1)
    silent = "; ".join(str(np.sum((true > LOST) & (cautious <= limit))) for limit in LIMITS)
    alarms = "; ".join(str(np.sum((true < FOUND) & (cautious > limit))) for limit in LIMITS)
    cells = (f"{low:.2f}", f"{middle:.2f}", f"{high:.2f}", f"{within:.2f}")
    return name, len(runs), *cells, np.sum(true > LOST), silent, np.sum(true < FOUND), alarms


def main() -> None:
    groups: dict[str, list[tuple[float, float, float]]] = {}
    for number, (name, case, sensitivity) in enumerate(cases()):
        for mechanism in ("auto", *(("gaussian",) if name != "graphs" else ())):
            for epsilon in EPSILONS:
                found = one(case, sensitivity, epsilon, 9_700 + number, mechanism)
                groups.setdefault(f"{name}, {mechanism}", []).append(found)
    header = (
        "inputs", "runs", "estimate/truth, 5 %", "median", "95 %", "within a factor of 2",
        f"sines above {LOST}", "of these converged", f"sines below {FOUND}", "of these not",
    )  # fmt: skip
    table = markdown_table(header, (line(name, runs) for name, runs in sorted(groups.items())))
    (RESULTS / "estimates.md").write_text(f"# What subspaces say about themselves\n\n{__doc__.strip()}\n\n{table}")
    print(table)


if __name__ == "__main__":
    main()
