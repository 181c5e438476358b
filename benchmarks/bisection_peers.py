"""Minimum bisections of unweighted graphs: ``max_bisection`` of the negated graph against restarts of METIS.

METIS (pymetis, which has to be installed) is run again with another seed until it has had the processor time that
``max_bisection(-A, rng=0, time_limit=...)`` took. Writes ``bisection_peers.md`` to ``benchmarks/results``.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/bisection_peers.py
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
import pymetis
from common import RESULTS, markdown_table, real_graph, with_processor_time
from scipy import sparse

import dpgraph

GRAPHS = (
    "fb100-Caltech36", "fb100-Reed98", "fb100-Haverford76", "email-Eu-core", "ca-GrQc", "ca-HepTh", "ego-Facebook",
    "lastfm-asia", "fb100-Swarthmore42", "wiki-Vote", "musae-facebook",
)  # fmt: skip


def metis(A: sparse.csr_array, seconds: float) -> tuple[float, int]:
    """Fewest edges across of balanced bisections found in the processor time, and the number of runs, at least one."""
    graph = pymetis.CSRAdjacency(adj_starts=A.indptr, adjacent=A.indices)
    best, runs, began = math.inf, 0, time.process_time()
    while not runs or time.process_time() - began < seconds:
        options = pymetis.Options(seed=runs, ufactor=1)
        across, part = pymetis.part_graph(2, adjacency=graph, options=options, recursive=True)
        balanced = abs(2 * int(np.sum(part)) - A.shape[0]) <= 1
        best, runs = min(best, across) if balanced else best, runs + 1
    return best, runs


def measure(name: str, seconds: float) -> list[object]:
    """One line."""
    A = real_graph(name)
    began = time.process_time()
    ours = dpgraph.max_bisection(-A, rng=0, time_limit=seconds)
    took = time.process_time() - began
    single = metis(A, 0.0)[0]
    peer, runs = metis(A, took)
    verdict = "ahead" if -ours.value < peer else "level" if -ours.value == peer else "**behind**"
    return [
        name,
        A.shape[0],
        f"{-ours.value:.0f}",
        single if math.isfinite(single) else "not balanced",
        f"{peer} ({runs} runs)",
        f"{took:.1f}",
        verdict,
    ]


def main() -> None:
    """Measure, and write after every line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS))
    asked = parser.parse_args()
    dpgraph.max_bisection(-real_graph("fb100-Caltech36"), rng=0, time_limit=2.0)  # compiles
    rows = []
    for name in asked.graphs:
        rows.append(measure(name, asked.seconds))
        print(rows[-1], flush=True)
        page = (
            "# Bisections beside METIS\n\n"
            f"Edges across a minimum bisection: `max_bisection(-A, rng=0, time_limit={asked.seconds:g})`, one run of "
            "METIS (ufactor 1), and the best balanced one of as many as fit into the processor seconds that the first "
            "took. The limit too is in processor seconds of one thread, because the machine is shared. Lines where the "
            "restarts of METIS find less are marked.\n\n"
        )
        table = markdown_table(
            ["graph", "vertices", "dpgraph", "METIS once", "METIS restarted", "seconds", "dpgraph is"], rows
        )
        (RESULTS / "bisection_peers.md").write_text(page + table)


if __name__ == "__main__":
    with_processor_time(main)
