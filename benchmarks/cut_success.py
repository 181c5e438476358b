"""How often a private cut of a large planted graph is found: every single run, at 10^5 and at 10^6 vertices.

    python benchmarks/cut_success.py                            # about ten minutes on one core, 2 GB
    python benchmarks/cut_success.py --only 1000000 --runs 25   # one size

Graphs are those of the speed benchmark: average degree 20, correlation -0.75 (0.875 of the edges across the planted
cut). A run counts as found above 0.85. Rows are kept as they come: a run may be killed and continued.
"""

from __future__ import annotations

import argparse
import time

from common import RESULTS, ResumableTable, markdown_table

import dpgraph
from dpgraph import evaluate
from dpgraph.datasets import planted_cut_sparse

#: Vertices -> runs.
SIZES = {100_000: 12, 1_000_000: 6}
EPSILONS = (1.0, 4.0)
FOUND = 0.85
DELTA = 1e-6
COLUMNS = ("n", "epsilon", "seed", "share", "processor_seconds")


def measure(n: int, epsilons: tuple[float, ...], runs: int, table: ResumableTable) -> None:
    """The missing runs of a size."""
    A = planted_cut_sparse(n, 20, -0.75, rng=n)[0]
    for epsilon in epsilons:
        for seed in range(runs):
            if (str(n), f"{epsilon:g}", str(seed)) in table.rows:
                continue
            start = time.process_time()
            cut = dpgraph.private_max_cut(A, epsilon=epsilon, delta=DELTA, rng=seed)
            seconds = time.process_time() - start
            share = evaluate.cut_fraction(A, cut)
            row = {"n": n, "epsilon": f"{epsilon:g}", "seed": seed, "share": round(float(share), 4)}
            table.add(row | {"processor_seconds": round(seconds, 2)})


def summary(table: ResumableTable) -> str:
    """Runs that found the cut, by size and budget."""
    cells: dict[tuple[int, float], list[float]] = {}
    for row in table.rows.values():
        cells.setdefault((int(row["n"]), float(row["epsilon"])), []).append(float(row["share"]))
    lines = [
        (f"{n:,}", f"{epsilon:g}", f"{sum(s > FOUND for s in shares)} of {len(shares)}", min(shares), max(shares))
        for (n, epsilon), shares in sorted(cells.items())
    ]
    return markdown_table(("vertices", "epsilon", "runs that found the cut", "smallest share", "largest share"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, choices=SIZES)
    parser.add_argument("--epsilon", type=float, choices=EPSILONS)
    parser.add_argument("--runs", type=int)
    arguments = parser.parse_args()
    table = ResumableTable(RESULTS / "cut_success.csv", ("n", "epsilon", "seed"), COLUMNS)
    with table.writing():
        for n, runs in SIZES.items():
            if arguments.only in (None, n):
                epsilons = EPSILONS if arguments.epsilon is None else (arguments.epsilon,)
                measure(n, epsilons, arguments.runs or runs, table)
    title = "# Single runs of private_max_cut on large planted graphs"
    text = f"Average degree 20, correlation -0.75, delta = {DELTA:g}; found: above {FOUND}. Made by `cut_success.py`."
    (RESULTS / "cut_success.md").write_text(f"{title}\n\n{text}\n\n{summary(table)}")


if __name__ == "__main__":
    main()
