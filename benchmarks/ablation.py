"""What each part of the max-cut solver contributes: the same graph with parts left out. Writes results/ablation.md.

OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/ablation.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from dpgraph import max_cut
from dpgraph.datasets import read_sparse
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.rounding import hyperplane_rounding, improve, one_opt

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("DPGRAPH_DATA", "."))
GRAPHS = ("G1", "G11", "G14", "G22", "G32", "G43")


def timed(solve):
    """Value and processor seconds."""
    began = time.process_time()
    value = solve()
    return value, time.process_time() - began


def parts(A) -> dict[str, tuple[float, float]]:
    """Cut and seconds with parts of the solver."""
    objective = SparseObjective(A)

    def relaxed(finish):
        rng = np.random.default_rng(0)
        cuts = hyperplane_rounding(objective, solve_low_rank(objective, rng).vectors, 100, rng, keep=8)
        return float(objective.values(finish(cuts)).max())

    def searched():
        rng = np.random.default_rng(0)
        return objective.cut_value(improve(objective, np.where(rng.random((A.shape[0], 8)) < 0.5, 1.0, -1.0), rng))

    return {
        "hyperplanes": timed(lambda: relaxed(lambda cuts: cuts)),
        "8 seeds, no local search": timed(lambda: max_cut(A, rng=0, seeds=8, local_search=False).value),
        "relaxation, 1-opt": timed(lambda: relaxed(lambda cuts: one_opt(objective, cuts))),
        "local search alone": timed(searched),
        "default": timed(lambda: max_cut(A, rng=0).value),
    }


def main() -> None:
    """Measure and write."""
    lines = [
        "# What each part of the solver contributes",
        "",
        "Value and processor seconds of one thread; rng=0. *hyperplanes*: the best of 100.",
        "",
    ]
    for row, name in enumerate(GRAPHS):
        A = read_sparse(DATA / f"{name}.txt.gz")[0]
        parts(A) if row == 0 else None  # compiled
        found = parts(A)
        if row == 0:
            lines += ["| graph | " + " | ".join(found) + " |", "| --- " * (len(found) + 1) + "|"]
        cells = (f"{value:.0f} ({seconds:.2f} s)" for value, seconds in found.values())
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    (RESULTS / "ablation.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
