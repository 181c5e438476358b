"""A million vertices, average degree 20: time and memory of the private mechanisms beside the eigensolver they call.

Every line is measured in a process of its own. Run with ``make bench-million``; about 15 minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

RESULTS = Path(__file__).parent / "results"
DEGREE = 20


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

        return planted_cut_sparse(n, DEGREE, -0.75, rng=0)[0]
    return planted_blocks(n, 8, DEGREE, 0.85, np.random.default_rng(0))


def measure(task: str, n: int) -> dict[str, object]:
    """Run one task and report seconds, peak memory and, for the spectral mechanism, the eigensolver's share."""
    import dpgraph
    from dpgraph.mechanisms import spectrum, subspace

    name, kind, epsilon = task.split(":")
    A = graph(kind, n)
    dpgraph.private_max_cut(A[:100][:, :100], epsilon=1.0, delta=1e-6, rng=0)  # compile outside the clock
    solver_seconds = 0.0
    solve = spectrum.leading_eigenpairs

    def timed(*args: object, **kwargs: object) -> object:
        nonlocal solver_seconds
        start = time.perf_counter()
        pairs = solve(*args, **kwargs)
        solver_seconds += time.perf_counter() - start
        return pairs

    spectrum.leading_eigenpairs = subspace.leading_eigenpairs = timed
    start, outcome = time.perf_counter(), ""
    if name == "adjacency":
        try:
            private = dpgraph.private_normalized_adjacency(A, epsilon=float(epsilon), delta=1e-6, rank=8)
            outcome = f"rank {private.rank} released"
        except dpgraph.MechanismHalted as halt:
            outcome = f"halted ({halt.stage})"
    else:
        cut = dpgraph.private_max_cut(A, epsilon=float(epsilon), delta=1e-6, mechanism="bounded-iterates")
        outcome = f"cuts {cut.estimated_fraction:.3f} of the edges"
    seconds = time.perf_counter() - start
    return {
        "task": name,
        "graph": {"cut": "planted cut", "blocks": "8 planted blocks"}[kind],
        "n": n,
        "epsilon": float(epsilon),
        "seconds": round(seconds, 1),
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
    rows = []
    for task in ("adjacency:blocks:24", "adjacency:cut:24", "max-cut:cut:1", "max-cut:cut:4"):
        command = [sys.executable, __file__, "--n", str(arguments.n), "--task", task]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append(json.loads(output.splitlines()[-1]))
        print(rows[-1], flush=True)
    columns = list(rows[0])
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    lines += [f"| {' | '.join(str(row[c]) for c in columns)} |" for row in rows]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"million_vertices_{arguments.n}.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
