"""Marginals: error against Gaussian noise without projection, and against private-pgm where it is installed.

For every shape (attributes, k), records N and epsilon: root-mean-square error of a cell of the k-way tables (as a
number of records) for

- *cells*: independent Gaussian noise on every cell of every k-way table (known in advance);
- *parities alike*, *tensor*: the same noise on every parity, the order-k tensor of CDEMZ24 (known in advance);
- *best noise*: the optimally weighted parities that dpgraph releases, before projection (known in advance);
- *dpgraph*: after projection, measured.

"few records" marks N < n^{3k/4}/mu, where the projection is expected to win. Writes
``benchmarks/results/marginals.{csv,md,png}``; about ten minutes on one core.

``--pgm-python`` names an interpreter with private-pgm (package mbi), which fits its graphical model by mirror descent
to noisy tables of the same budget; then only ``benchmarks/results/marginals_pgm.{csv,md}`` are written.

    python benchmarks/marginals.py [--quick] [--pgm-python PATH]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import subprocess
import sys
import tempfile
import time
from math import comb
from pathlib import Path

import numpy as np

from dpgraph.privacy import gdp_mu
from dpgraph.queries.marginal_model import MarginalModel
from dpgraph.queries.marginals import PrivateMarginals, private_marginals
from dpgraph.queries.records import Schema

RESULTS = Path(__file__).parent / "results"
DELTA = 1e-6
PGM_SCRIPT = Path(__file__).parent / "marginals_pgm.py"


def clustered(n: int, N: int) -> np.ndarray:
    """Records of five kinds, attributes independent within a kind."""
    rng = np.random.default_rng(1)
    rates, share = rng.beta(0.5, 0.5, (5, n)), rng.dirichlet(np.ones(5))
    return (rng.random((N, n)) < rates[rng.choice(5, N, p=share)]).astype(int)


def baskets(n: int, N: int, t: int) -> np.ndarray:
    """Baskets of at most t items, some items much more popular than others."""
    rng = np.random.default_rng(1)
    popularity = rng.dirichlet(np.full(n, 0.5)) + 1e-9
    keys = rng.exponential(size=(N, n)) / popularity  # the smallest keys are a draw without replacement
    order = np.argsort(keys, axis=1)[:, :t]
    data = np.zeros((N, n), dtype=int)
    sizes = rng.integers(0, t + 1, N)
    for j in range(t):
        rows = np.flatnonzero(sizes > j)
        data[rows, order[rows, j]] = 1
    return data


def measured(result: PrivateMarginals, data: np.ndarray, k: int) -> float:
    """Error over all k-way tables, or over 400 of them drawn at random."""
    sets = list(itertools.combinations(range(data.shape[1]), k))
    if len(sets) > 400:
        sets = [sets[i] for i in np.random.default_rng(0).choice(len(sets), 400, replace=False)]
    squares = []
    for columns in sets:
        codes = data[:, columns] @ (2 ** np.arange(k)[::-1])
        squares.append((result.table(columns).ravel() - np.bincount(codes, minlength=2**k)) ** 2)
    return float(np.sqrt(np.mean(squares)))


def unprojected(n: int, k: int, geometry: str, mu: float, sparsity: int | None) -> float:
    """Error of a cell before projection, as a number of records."""
    schema = Schema(tuple(range(n)), ((0, 1),) * n, 1)
    model = MarginalModel(schema, k, sparsity=sparsity, degree=0, geometry=geometry, adjacency="replace")
    return model.cell_rmse(np.append(0.0, (model.noise.sensitivity / mu) ** 2 / model.weights[1:]))


def compare(n: int, k: int, N: int, epsilon: float, sparsity: int | None) -> dict[str, object]:
    data = clustered(n, N) if sparsity is None else baskets(n, N, sparsity)
    mu = gdp_mu(epsilon, DELTA)
    runs = 5 if comb(n, k) < 2000 else 1
    results = [
        private_marginals(data, k, epsilon=epsilon, delta=DELTA, sparsity=sparsity, rng=N + seed)
        for seed in range(runs)
    ]
    error = float(np.sqrt(np.mean([measured(result, data, k) ** 2 for result in results])))
    best = unprojected(n, k, "tables", mu, sparsity)
    cells = np.sqrt(2 * comb(n, k)) / mu
    row = {
        "attributes": n,
        "k": k,
        "sparsity": sparsity or "",
        "records": N,
        "epsilon": epsilon,
        "few records": n ** (3 * k / 4) / mu > N,
        "degree": results[0].degree,
        "cells": cells,
        "parities alike": unprojected(n, k, "parities", mu, sparsity),
        "tensor": unprojected(n, k, "tensor", mu, sparsity),
        "best noise": best,
        "dpgraph": error,
        "MSE cells / dpgraph": (cells / error) ** 2,
        "MSE best noise / dpgraph": (best / error) ** 2,
    }
    print(row, flush=True)
    return row


def noisy_tables(data: np.ndarray, k: int, mu: float, kind: str) -> np.ndarray:
    """All k-way tables with Gaussian noise: independent on every cell, or that of the released parities."""
    n, N = data.shape[1], len(data)
    schema = Schema(tuple(range(n)), ((0, 1),) * n, N)
    model = MarginalModel(schema, k, sparsity=None, degree=0, geometry="tables", adjacency="replace")
    (group,) = model.released.table_groups(k)
    theta, rng = model.released.sums(data) / N, np.random.default_rng(0)
    if kind == "cells":
        tables = N * group.tables(theta)
        return tables + np.sqrt(2 * comb(n, k)) / mu * rng.normal(size=tables.shape)
    theta[1:] += model.noise.sensitivity / N / mu / np.sqrt(model.weights[1:]) * rng.normal(size=theta.size - 1)
    return N * group.tables(theta)


def against_pgm(python: str, n: int, k: int, N: int, epsilon: float) -> dict[str, object]:
    """The same data and budget; private-pgm gets noise on the cells (its ordinary use) or dpgraph's noisy parities."""
    data, mu = clustered(n, N), gdp_mu(epsilon, DELTA)
    row: dict[str, object] = {"attributes": n, "k": k, "records": N, "epsilon": epsilon}
    for kind in ("cells", "parities"):
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "data.npy", data)
            np.save(Path(folder) / "noisy.npy", noisy_tables(data, k, mu, kind))
            command = [python, str(PGM_SCRIPT), folder, str(k)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"private-pgm failed:\n{done.stderr[-2000:]}")
        answer = json.loads(done.stdout.splitlines()[-1])
        row[f"private-pgm, {kind}"] = answer["rmse"]
    row["seconds (pgm)"] = answer["seconds"]
    start = time.process_time()
    results = [private_marginals(data, k, epsilon=epsilon, delta=DELTA, rng=seed) for seed in range(3)]
    row["seconds (dpgraph)"] = (time.process_time() - start) / 3
    row["dpgraph"] = float(np.sqrt(np.mean([measured(result, data, k) ** 2 for result in results])))
    row["MSE private-pgm, cells / dpgraph"] = (row["private-pgm, cells"] / row["dpgraph"]) ** 2
    print(row, flush=True)
    return row


def cell(value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: list[dict[str, object]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0])]
    lines += ["| " + " | ".join(cell(v) for v in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def plot(rows: list[dict[str, object]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shapes = sorted({(r["attributes"], r["k"], str(r["sparsity"])) for r in rows})
    fig, axes = plt.subplots(2, -(-len(shapes) // 2), figsize=(13, 6.5), sharey=True, layout="constrained")
    for axis, (n, k, sparsity) in zip(axes.ravel(), shapes, strict=False):
        for colour, epsilon in zip(("C0", "C1", "C2"), (0.5, 1.0, 2.0), strict=True):
            chosen = [
                r
                for r in rows
                if (r["attributes"], r["k"], str(r["sparsity"]), r["epsilon"]) == (n, k, sparsity, epsilon)
            ]
            records = [r["records"] for r in chosen]
            gain = [r["MSE best noise / dpgraph"] for r in chosen]
            axis.loglog(records, gain, "o-", ms=3, color=colour, label=f"epsilon = {epsilon:g}")
            if sparsity in ("", "None"):
                axis.axvline(n ** (3 * k / 4) / gdp_mu(epsilon, DELTA), color=colour, ls=":", lw=1)
        axis.axhline(1, color="grey", lw=0.8)
        axis.set(title=f"{n} attributes, k = {k}" + (f", sparsity {sparsity}" if sparsity else ""), xlabel="records")
        axis.legend(fontsize=8)
    for axis in axes.ravel()[len(shapes) :]:
        axis.axis("off")
    for axis in axes[:, 0]:
        axis.set_ylabel("mean squared error divided by projecting")
    fig.suptitle("Gain of the projection over the best Gaussian noise; dotted: N = n^(3k/4)/mu")
    fig.savefig(RESULTS / "marginals.png", dpi=130)


def write_table(name: str, text: list[str], rows: list[dict[str, object]]) -> None:
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (RESULTS / f"{name}.md").write_text("\n\n".join([*text, table(rows)]) + "\n")


def measure_shapes(quick: bool) -> None:
    shapes: list[tuple[int, int, int | None]] = [(16, 2, None), (16, 3, None), (16, 4, None)]
    if not quick:
        shapes += [(40, 2, None), (40, 3, None), (40, 2, 3), (40, 3, 3)]
    rows = [
        compare(n, k, N, epsilon, sparsity)
        for n, k, sparsity in shapes
        for N in (1000, 3000, 10_000, 30_000, 100_000)
        for epsilon in (0.5, 1.0, 2.0)
    ]
    text = [
        f"# Marginals at delta = {DELTA:g}",
        "Root-mean-square error of a cell of the k-way tables, as a number of records; one record replaced. Columns "
        "*cells* to *best noise* are Gaussian noise without projection, known in advance. *few records*: N < "
        "n^{3k/4}/mu. *dpgraph* is one run (40 attributes, k = 3) or the mean of five.",
    ]
    write_table("marginals", text, rows)
    plot(rows)


def measure_pgm(python: str) -> None:
    sizes = [(2, 300), (2, 1000), (2, 10_000), (3, 300), (3, 1000)]
    rows = [against_pgm(python, 12, k, N, epsilon) for k, N in sizes for epsilon in (0.5, 2.0)]
    text = [
        "# Marginals against private-pgm (mbi 2.0.0, mirror descent, 1000 steps), 12 binary attributes",
        "Root-mean-square error of a cell of the k-way tables, as a number of records. *cells*: private-pgm as it is "
        "used, on all k-way tables with independent Gaussian noise; *parities*: on the noisy tables that dpgraph's "
        "release implies. Its model over all k-sets is a full joint distribution, here of 4096 cells: the exact set of "
        "marginals of distributions, out of reach for 40 attributes.",
    ]
    write_table("marginals_pgm", text, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="16 attributes only")
    parser.add_argument("--pgm-python", help="only compare with private-pgm, run by this interpreter (pip install mbi)")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if arguments.pgm_python:
        measure_pgm(arguments.pgm_python)
    else:
        measure_shapes(arguments.quick)


if __name__ == "__main__":
    sys.exit(main())
