"""A million vertices: time and memory of the private mechanisms, and what share of it the eigensolver takes.

Every line is measured in a process of its own. Run with ``make bench-million``; a few minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import get_num_threads
from scipy import sparse

RESULTS = Path(__file__).parent / "results"
DEGREES = {"cut": 20, "blocks": 60}


def planted_blocks(n: int, blocks: int, degree: int, cohesion: float, rng: np.random.Generator) -> sparse.csr_array:
    """Graph of `blocks` communities; an edge stays inside with probability (1 + (blocks - 1) cohesion)/blocks."""
    m = n * degree // 2
    u = rng.integers(0, n, m)
    outside = rng.random(m) >= (1 + (blocks - 1) * cohesion) / blocks
    block = (u // (n // blocks) + np.where(outside, rng.integers(1, blocks, m), 0)) % blocks
    v = block * (n // blocks) + rng.integers(0, n // blocks, m)
    keep = u != v
    A = sparse.coo_array((np.ones(int(keep.sum())), (u[keep], v[keep])), shape=(n, n)).tocsr()
    A.data[:] = 1.0
    return sparse.csr_array(A.maximum(A.T))


def graph(kind: str, n: int) -> sparse.csr_array:
    if kind == "cut":
        from dpgraph.datasets import planted_cut_sparse

        return planted_cut_sparse(n, DEGREES[kind], -0.75, rng=0)[0]
    return planted_blocks(n, 8, DEGREES[kind], 0.85, np.random.default_rng(0))


def adjacency(A: sparse.csr_array, epsilon: float, mechanism: Any = "coherence") -> str:
    import dpgraph

    try:
        private = dpgraph.private_normalized_adjacency(A, epsilon=epsilon, delta=1e-6, rank=8, mechanism=mechanism)
    except dpgraph.MechanismHalted as halt:
        return f"halted ({halt.stage})"
    return f"rank {private.rank} released"


def max_cut(A: sparse.csr_array, epsilon: float) -> str:
    import dpgraph

    cut = dpgraph.private_max_cut(A, epsilon=epsilon, delta=1e-6, mechanism="bounded-iterates")
    return f"cuts {cut.estimated_fraction:.3f} of the edges"


#: Name -> callable of a graph and epsilon.
TASKS: dict[str, Callable[[sparse.csr_array, float], str]] = {
    "adjacency": adjacency,
    "adjacency, noisy power": partial(adjacency, mechanism="noisy-power"),
    "max-cut": max_cut,
}


def measure(task: str, n: int) -> dict[str, object]:
    """Run one task and report seconds, peak memory and, for the spectral mechanism, the eigensolver's share."""
    from dpgraph.releases.eigenspaces import spectrum

    name, kind, epsilon = task.split(":")
    run = TASKS[name]
    run(graph(kind, 5000), float(epsilon))  # compile outside the clock
    A = graph(kind, n)
    solver_seconds = 0.0

    def timed(solve: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*args: object, **kwargs: object) -> object:
            nonlocal solver_seconds
            start = time.perf_counter()
            found = solve(*args, **kwargs)
            solver_seconds += time.perf_counter() - start
            return found

        return wrapped

    spectrum.leading_values = timed(spectrum.leading_values)
    spectrum.leading_eigenpairs = timed(spectrum.leading_eigenpairs)
    start, used = time.perf_counter(), time.process_time()
    outcome = run(A, float(epsilon))
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return {
        "task": name,
        "graph": {"cut": "planted cut", "blocks": "8 planted blocks"}[kind],
        "n": n,
        "degree": DEGREES[kind],
        "epsilon": float(epsilon),
        "seconds": round(seconds, 1),
        "processor_seconds": round(used, 1),
        "eigensolver_seconds": round(solver_seconds, 1),
        "ratio": round(seconds / solver_seconds, 2) if solver_seconds else "",
        "peak_GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "outcome": outcome,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--task", help="measure one task in this process and print JSON")
    arguments = parser.parse_args()
    if arguments.task:
        print(json.dumps(measure(arguments.task, arguments.n)))
        return
    rows, before = [], os.getloadavg()[0]
    for task in (
        "adjacency:blocks:8",
        "adjacency:cut:8",
        "adjacency, noisy power:blocks:8",
        "max-cut:cut:1",
        "max-cut:cut:2",
        "max-cut:cut:4",
    ):
        command = [sys.executable, __file__, "--n", str(arguments.n), "--task", task]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append(json.loads(output.splitlines()[-1]))
        print(rows[-1], flush=True)
    columns = list(rows[0])
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(str(row[c]) for c in columns)} |" for row in rows]
    lines += ["", f"Each line in a process of its own, {get_num_threads()} threads of {os.cpu_count()} cores; "]
    lines[-1] += f"load average {before:.1f} before and {os.getloadavg()[0]:.1f} after the run."
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"million_vertices_{arguments.n}.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
