"""Max-cuts of Gset graphs without privacy at default, in five seconds and in a minute, against the best known cuts.

Limits are processor seconds of one thread: the clock that the solver looks at is replaced. Graphs and best known values
are read from a local folder, ``DPGRAPH_DATA``; those that are not there are left out. Writes ``gset_time.md`` to
``benchmarks/results`` after every line.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/gset_time.py
"""

from __future__ import annotations

import argparse
import csv
import time

from common import DATA, RESULTS, markdown_table, with_processor_time
from scipy import sparse

import dpgraph
from dpgraph.datasets import read_sparse

GRAPHS = ("G1", "G11", "G14", "G22", "G32", "G35", "G43", "G51")
WANTED = (("default", None, 0.999), ("5 s", 5.0, 0.999), ("60 s", 60.0, 0.9998))
PAGE = """# Gset: what a time limit is worth

Value of `max_cut(G, rng=seed)` by default, with `time_limit=5` and with `time_limit=60`, and its share of the best
known value, which is that of `gset_best_known.tsv`. *Wanted* are 99.9 % by default and in five seconds, 99.98 % in a
minute: lines with less are marked. Times, the limits among them, are processor seconds of one thread: the machine is
shared. A line is one seed. G35 and G51 are
those of github.com/romank-rudolfovo/MaxCut_benchmarkdata.

How long the search is was chosen before on G14, G22, G32, G35 and G51, whose lines are no test of it; that 32 starts
are annealed side by side, on unions of two random planar triangulations of 2,000 vertices. By default the worst of
seeds 0 to 3 is 3062 (99.935 %) on G14, 7683 (99.948 %) on G35, 3847 (99.974 %) on G51, 13358 (99.993 %) on G22, and
the best known value on G1, G11, G32 and G43 (23 November 2026).

In a minute G35 has 7686 with each of seeds 0 to 9.

"""


def best_known() -> dict[str, float]:
    """The largest published values."""
    lines = [line for line in (DATA / "gset_best_known.tsv").read_text().splitlines() if not line.startswith("#")]
    return {row["instance"]: float(row["best"]) for row in csv.DictReader(lines, delimiter="\t")}


def measure(A: sparse.csr_array, seed: int, limit: float | None, best: float, wanted: float) -> tuple[str, str]:
    """Value with its share of the best known one, and the processor seconds."""
    began = time.process_time()
    value = dpgraph.max_cut(A, rng=seed, time_limit=limit).value
    seconds = time.process_time() - began
    mark = "" if value >= wanted * best else " **less**"
    return f"{value:.0f} ({100 * value / best:.3f} %){mark}", f"{seconds:.1f}"


def main() -> None:
    """Measure, and write after every line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS))
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    best, rows = best_known(), []
    header = ["graph", "seed", "best known", "default", "s", "five seconds", "a minute"]
    files = {name: DATA / f"{name}.txt.gz" for name in asked.graphs}
    for number, (name, file) in enumerate(files.items()):
        if not file.exists():
            print(f"{file} is not there", flush=True)
            continue
        A = read_sparse(file, format="gset")[0]
        if not number:
            dpgraph.max_cut(A, rng=0, time_limit=1.0)  # compiles
            dpgraph.max_cut(A, rng=0)
        for seed in range(asked.seeds):
            cells = [measure(A, seed, limit, best[name], wanted) for _, limit, wanted in WANTED]
            rows.append([name, seed, f"{best[name]:.0f}", *cells[0], cells[1][0], cells[2][0]])
            print(rows[-1], flush=True)
            (RESULTS / "gset_time.md").write_text(PAGE + markdown_table(header, rows) + "\n")


if __name__ == "__main__":
    with_processor_time(main)
