"""Spin glasses on a torus, weights 1 and -1, sides 3 to 20: are all proven by ``max_cut(G, search="optimal")``?

Writes ``optimal_tori.md`` to ``benchmarks/results``.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/optimal_tori.py
"""

from __future__ import annotations

import time

from common import RESULTS, markdown_table
from optimal_cuts import torus

import dpgraph

SEEDS = range(5)
LIMIT = 60.0  # seconds


def measure(side: int) -> list[object]:
    """One line: instances, how many are proven by default, and by the search, longest processor time."""
    longest, default, proven = 0.0, 0, 0
    for seed in SEEDS:
        A = torus(side, seed)
        default += dpgraph.max_cut(A, rng=0).status == "optimal"
        began = time.process_time()
        proven += dpgraph.max_cut(A, rng=0, search="optimal", time_limit=LIMIT).status == "optimal"
        longest = max(longest, time.process_time() - began)
    return [f"{side} x {side}", len(SEEDS), default, proven, f"{longest:.2f}"]


def main() -> None:
    dpgraph.max_cut(torus(5, 0), rng=0, search="optimal")  # compiles
    rows = []
    for side in range(3, 21):
        rows.append(measure(side))
        print(rows[-1], flush=True)
        page = (
            "# Spin glasses on a torus\n\n"
            f"Weights 1 and -1, {len(SEEDS)} instances of a side: how many are proven optimal by `max_cut(G, rng=0)`, "
            f'and by `search="optimal"` within {LIMIT:.0f} s, and the longest processor seconds of the latter.\n\n'
        )
        table = markdown_table(["torus", "instances", "proven by default", "proven by the search", "longest, s"], rows)
        (RESULTS / "optimal_tori.md").write_text(page + table)


if __name__ == "__main__":
    main()
