"""Max-cut and max-bisection of Gset graphs without privacy, against the best known cuts and the SDP optima.

For each graph: the degree-2 relaxation with its certificate (processor seconds, beside a plain coordinate ascent that
stops as soon as it is as good), ``max_cut``, and ``max_bisection``. The graphs and the table of best known values are
read from a local folder, ``DPGRAPH_DATA`` (files ``G1.txt.gz``, ..., ``gset_best_known.tsv``). Writes ``gset.csv`` and
``gset.md`` to ``benchmarks/results`` after every graph.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/gset.py
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit
from scipy import sparse

import dpgraph
from dpgraph.datasets import read_sparse
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("DPGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "graphs"))
#: Optimum of the relaxation as the literature lists it, rounded to one decimal.
LISTED = {
    "G1": 12083.2, "G11": 629.2, "G14": 3191.6, "G22": 14135.9, "G32": 1567.6, "G43": 7032.2, "G48": 6000.0,
    "G60": 15222.3, "G70": 9861.5, "G77": 11045.6, "G81": 15656.0,
}  # fmt: skip
COLUMNS = {
    "graph": "s", "n": "d", "edges": "d", "relaxation_seconds": ".2f", "plain_seconds": ".2f", "bound": ".3f",
    "certificate": "s", "listed_sdp": ".1f", "excess": "+.5%", "upper_bound": ".0f", "cut": ".0f",
    "best_known": ".0f", "ratio": ".4f", "cut_seconds": ".1f", "bisection": ".0f", "to_cut": ".4f", "difference": "d",
    "bisection_bound": ".2f", "bisection_seconds": ".1f",
}  # fmt: skip

Line = dict[str, float | str]


def best_known() -> dict[str, float]:
    """Largest known cut of each graph."""
    rows = (line.split("\t") for line in (DATA / "gset_best_known.tsv").read_text().splitlines())
    return {row[0]: float(row[3]) for row in rows if row[0] in LISTED}


@njit
def _plain_sweeps(indptr, indices, data, V, sweeps):
    """Exact maximisation over one row at a time, rows unit vectors."""
    n, k = V.shape
    for _ in range(sweeps):
        for i in range(n):
            g = np.zeros(k)
            for p in range(indptr[i], indptr[i + 1]):
                for c in range(k):
                    g[c] -= data[p] * V[indices[p], c]
            length = 0.0
            for c in range(k):
                length += g[c] * g[c]
            if length > 0.0:
                for c in range(k):
                    V[i, c] = g[c] / math.sqrt(length)


def plain_ascent(A: sparse.csr_array, value: float, limit: float) -> float:
    """Processor seconds of plain coordinate ascent at rank sqrt(2n) to the relaxation `value`; inf beyond the limit."""
    objective = SparseObjective(A)
    n = A.shape[0]
    V = np.random.default_rng(0).standard_normal((n, math.isqrt(2 * n) + 1))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    _plain_sweeps(A.indptr, A.indices, A.data, V[:1].copy(), 0)  # compiled outside the clock
    begin = time.process_time()
    while objective.constant - 0.25 * float(np.sum(V * objective.multiply(V))) < value:
        if time.process_time() - begin > limit:
            return math.inf
        _plain_sweeps(A.indptr, A.indices, A.data, V, 10)
    return time.process_time() - begin


def clocked(run: Callable[[], object]) -> tuple[object, float]:
    """Result and processor seconds."""
    begin = time.process_time()
    return run(), time.process_time() - begin


def measure(name: str, known: float) -> Line:
    """One line of the table."""
    A, _ = read_sparse(DATA / f"{name}.txt.gz", format="gset")
    relaxed, seconds = clocked(lambda: solve_low_rank(SparseObjective(A), np.random.default_rng(0)))
    plain = plain_ascent(A, relaxed.value, limit=300.0)
    cut, cut_seconds = clocked(lambda: dpgraph.max_cut(A, rng=0))
    half, half_seconds = clocked(lambda: dpgraph.max_bisection(A, rng=0))
    left, right = map(len, half.partition)
    return {
        "graph": name,
        "n": A.shape[0],
        "edges": A.nnz // 2,
        "relaxation_seconds": seconds,
        "plain_seconds": plain,
        "bound": relaxed.certificate.bound,
        "certificate": relaxed.certificate.kind,
        "listed_sdp": LISTED[name],
        "excess": relaxed.certificate.bound / LISTED[name] - 1.0,
        "upper_bound": cut.upper_bound,
        "cut": dpgraph.evaluate.cut_value(A, cut.partition),
        "best_known": known,
        "ratio": cut.value / known,
        "cut_seconds": cut_seconds,
        "bisection": dpgraph.evaluate.cut_value(A, half.partition),
        "to_cut": half.value / cut.value,
        "difference": abs(left - right),
        "bisection_bound": half.upper_bound,
        "bisection_seconds": half_seconds,
    }


def write(rows: list[Line], directory: Path) -> None:
    with (directory / "gset.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    lines = [
        "# Gset: cuts and bisections without privacy\n",
        "*bound* is that of the relaxation and holds for every cut; *certificate* says how that is known. "
        "*listed sdp* is the optimum of the "
        "relaxation in the literature, rounded to one decimal; *excess* is the bound over it minus 1: where it is "
        "negative the listed value was rounded up, because a proven bound cannot be below the optimum. *ratio* is the "
        "cut over the best known one. *to cut* is the bisection over the cut, *difference* that of the sizes of its "
        "sides. Seconds are processor seconds: of the relaxation with its certificate, of a plain coordinate ascent to "
        "the same value (without a certificate), and of the whole calls. rng=0, default options. *upper bound* is that "
        "of `max_cut`, which eliminates vertices of low degree, adds cutting planes, and floors to a whole number.\n",
        f"| {' | '.join(name.replace('_', ' ') for name in COLUMNS)} |",
        f"|{' --- |' * len(COLUMNS)}",
        *(f"| {' | '.join(format(row[name], kind) for name, kind in COLUMNS.items())} |" for row in rows),
    ]
    (directory / "gset.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=LISTED, default=list(LISTED), help="these graphs")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the tables")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    known = best_known()
    warm = dpgraph.datasets.planted_cut_sparse(60, 6, 0.0, rng=0)[0]
    dpgraph.max_cut(warm, rng=0)
    dpgraph.max_bisection(warm, rng=0)
    rows: list[Line] = []
    for name in arguments.only:
        rows.append(measure(name, known[name]))
        print(rows[-1], flush=True)
        write(rows, arguments.output)


if __name__ == "__main__":
    main()
