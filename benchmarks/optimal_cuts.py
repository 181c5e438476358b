"""Cuts proven to be the largest: cutting planes by default, branch and bound with ``search="optimal"``.

Random graphs G(n, p), spin glasses on a torus, 3-regular graphs and Gset graphs from a local folder, ``DPGRAPH_DATA``.
Writes ``optimal_cuts.csv`` and ``optimal_cuts.md`` to ``benchmarks/results`` after every graph.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/optimal_cuts.py
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from common import markdown_table, real_graph, write_csv
from scipy import sparse

import dpgraph
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.solver import solve_max_cut

RESULTS = Path(__file__).parent / "results"
LIMIT = 600.0  # wall-clock seconds
COLUMNS = ("graph", "n", "edges", "cut", "relaxation", "default", "default_seconds", "optimal", "status", "seconds")


def torus(side: int, seed: int) -> sparse.csr_array:
    """Grid on a torus with weights 1 and -1."""
    A = sparse.triu(nx.adjacency_matrix(nx.grid_2d_graph(side, side, periodic=True)), 1).tocsr().astype(float)
    A.data = np.random.default_rng(seed).choice([-1.0, 1.0], A.data.size)
    return (A + A.T).tocsr()


def random_graph(n: int, p: float, seed: int, *, signed: bool = False) -> sparse.csr_array:
    """G(n, p), on request with random signs."""
    A = sparse.triu(nx.adjacency_matrix(nx.gnp_random_graph(n, p, seed=seed)), 1).tocsr().astype(float)
    if signed:
        A.data = np.random.default_rng(seed).choice([-1.0, 1.0], A.data.size)
    return (A + A.T).tocsr()


def graphs() -> dict[str, Any]:
    """What is measured."""
    return {
        **{f"3-regular {n}": nx.to_scipy_sparse_array(nx.random_regular_graph(3, n, seed=0)) for n in (60, 100)},
        **{f"torus {side} x {side}, signed": torus(side, seed=1) for side in (10, 15, 20)},
        "G11": real_graph("G11"),
        "G32": real_graph("G32"),
        "G(50, 1/5)": random_graph(50, 0.2, 1),
        **{f"G(60, 1/2), seed {seed}": random_graph(60, 0.5, seed) for seed in (1, 2, 3)},
        "G(60, 1/2), signed": random_graph(60, 0.5, 1, signed=True),
        **{f"G(80, 1/2), seed {seed}": random_graph(80, 0.5, seed) for seed in (1, 2)},
        "G(80, 1/2), signed": random_graph(80, 0.5, 1, signed=True),
        "G(100, 1/2)": random_graph(100, 0.5, 1),
    }


def measure(name: str, A: sparse.csr_array) -> dict[str, object]:
    """One line: bounds of the relaxation, with cutting planes, with branching; processor seconds of the last two."""
    relaxed = solve_max_cut(SparseObjective(sparse.csr_array(A)), rng=0)
    began = time.process_time()
    default = dpgraph.max_cut(A, rng=0)
    middle = time.process_time()
    proven = dpgraph.max_cut(A, rng=0, search="optimal", time_limit=LIMIT) if default.gap else default
    seconds = time.process_time() - middle if default.gap else middle - began
    numbers = (int(A.shape[0]), A.nnz // 2, proven.value, relaxed.upper_bound, default.upper_bound)
    return dict(
        zip(
            COLUMNS,
            (name, *numbers, round(middle - began, 2), proven.upper_bound, proven.status, round(seconds, 2)),
            strict=True,
        )
    )


def main() -> None:
    rows: list[dict[str, object]] = []
    measure("compiles", torus(5, 0))
    measure("compiles", random_graph(20, 0.5, 0))
    for name, A in graphs().items():
        rows.append(measure(name, A))
        print(rows[-1], flush=True)
        write_csv(RESULTS / "optimal_cuts.csv", rows, COLUMNS)
        page = (
            "# Cuts proven to be the largest\n\n"
            "Upper bounds of the relaxation, of `max_cut(G, rng=0)` with cutting planes, and of `search=\"optimal\"` "
            f"within {LIMIT:.0f} s, in that order; processor seconds of one thread of the last two. A line that says "
            "*bounded* is not proven.\n\n"
        )  # fmt: skip
        header = [column.replace("_", " ") for column in COLUMNS]
        table = markdown_table(header, [[row[column] for column in COLUMNS] for row in rows])
        (RESULTS / "optimal_cuts.md").write_text(page + table + "\n")


if __name__ == "__main__":
    main()
