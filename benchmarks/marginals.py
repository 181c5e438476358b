"""Marginals: error against Gaussian noise without projection, and against private-pgm and smartnoise-synth.

For every shape (attributes, k), records N and epsilon: root-mean-square error of a cell of the k-way tables (as a
number of records) for

- *cells*: the plain Gaussian mechanism, independent noise on every cell of every k-way table (known in advance);
- *parities alike*, *tensor*: the same noise on every parity, on the order-k tensor of CDEMZ24 (known in advance);
- *best noise*: the optimally weighted parities that dpgraph releases, before projection (known in advance);
- *dpgraph*: after projection alone (``forest=False``), measured.

"few records" marks N < n^{3k/4}, the regime of CDEMZ24. Writes ``benchmarks/results/marginals.{csv,md,png}``; about
half an hour on one core. Rows that ``marginals.csv`` holds are kept: delete it to start again.

``--pgm-python`` names an interpreter with private-pgm (``pip install mbi==2.0.0``), which fits its graphical model by
mirror descent to noisy tables of the same budget, ``--smartnoise-python`` one with ``pip install smartnoise-synth``;
then only ``benchmarks/results/marginals_{pgm,smartnoise}.{csv,md}`` are written.

    python benchmarks/marginals.py [--quick] [--pgm-python PATH] [--smartnoise-python PATH]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import charts
import numpy as np

from dpgraph.bounds.parities import conjunction_changes, parity_changes, shape_noise
from dpgraph.inputs.records import Schema
from dpgraph.linalg.parities import ParityBasis
from dpgraph.privacy import gdp_mu
from dpgraph.problems.records.marginal_model import MarginalModel, Request
from dpgraph.problems.records.marginals import PrivateMarginals, private_marginals
from dpgraph.projections.moment_projection import NonnegativeTables, parity_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"
DELTA = 1e-6
EPSILONS = (0.5, 1.0, 2.0)
SMARTNOISE_TEXT = [
    "# Marginals against smartnoise-synth 1.0.8 (with mbi 1.1.0, which pip chooses): MST and AIM, 12 binary attributes",
    "Root-mean-square error of a cell of the k-way tables, as a number of records. *mst* and *aim* give synthetic "
    "records, here as many as there are, whose tables are counted; AIM is asked for all k-way tables (its option "
    "`degree`). One run of each, twenty of dpgraph; a blank was not run. `pip install smartnoise-synth` works on "
    "Python 3.11, and both run; but at epsilon = 100, where there is hardly any noise, the records of MST are still "
    "worse than the product of the exact one-way marginals (*independent attributes*). The one-way shares of its "
    "records are right, so correlations seem to get lost in this combination of versions, and these figures do not "
    "say how good MST and AIM are when they work as published.",
]
PGM_SCRIPT = Path(__file__).parent / "marginals_pgm.py"
SMARTNOISE_SCRIPT = Path(__file__).parent / "marginals_smartnoise.py"


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
    """Error of a cell before projection, as a number of records, for Gaussian noise.

    The weights of the orders are those that dpgraph uses ("tables"), all equal ("parities"), or the numbers of times
    that a coordinate occurs in the order-k tensor of CDEMZ24 ("tensor").
    """
    basis = ParityBasis([2] * n, k)
    tables = sum(NonnegativeTables(group, basis.size).gram for group in basis.table_groups(k))
    losses, maps = {False: tables}, parity_matrix(basis, k)
    if sparsity is not None:
        losses[True] = maps.power(2).T @ tables
    by_order = {kind: np.bincount(basis.orders, weights=loss)[1:] for kind, loss in losses.items()}
    cells = comb(n, k) * 2**k
    if geometry == "tables":
        loss = shape_noise(basis.sizes, by_order, sparsity=sparsity, add_remove=False).loss
        return float(np.sqrt(loss / cells)) / mu
    found = []
    for conjunctions, loss in by_order.items():
        t = n if sparsity is None else sparsity
        moves = conjunction_changes(n, t, k) if conjunctions else parity_changes(basis.sizes, k, most=2 * t)
        weights = np.ones(k) if geometry == "parities" else tensor_weights(n, k, signs=not conjunctions)
        found.append(float(np.sum(loss / weights) * (moves @ weights).max()))
    return float(np.sqrt(min(found) / cells)) / mu


def tensor_weights(n: int, k: int, *, signs: bool) -> np.ndarray:
    """Multiplicities m_1, ..., m_k of a coordinate of order j in the order-k tensor of a record, shape (k,).

    For signs the record is (1, z_1, ..., z_n) and an index sequence counts for the set of attributes that occur an odd
    number of times; for 0/1 records it is (x_1, ..., x_n) and counts for the set of attributes that occur.
    """
    if signs:
        # Sequences over n + 1 symbols by the number of attributes that have occurred an odd number of times.
        reached = np.zeros(n + 2)
        reached[0] = 1.0
        for _ in range(k):
            odd = np.arange(n + 2)
            following = reached.copy()  # the constant symbol
            following[1:] += reached[:-1] * np.maximum(n - odd[:-1], 0)
            following[:-1] += reached[1:] * odd[1:]
            reached = following
        return np.array([reached[j] / comb(n, j) for j in range(1, k + 1)])
    surjections = [sum((-1) ** i * comb(j, i) * (j - i) ** k for i in range(j + 1)) for j in range(1, k + 1)]
    return np.array(surjections, dtype=np.float64)


def compare(n: int, k: int, sparsity: int | None, N: int, epsilon: float) -> dict[str, object]:
    data = clustered(n, N) if sparsity is None else baskets(n, N, sparsity)
    mu = gdp_mu(epsilon, DELTA)
    runs = 20 if n == 16 else 10 if k == 2 else 1
    results = [
        private_marginals(
            data,
            k,
            epsilon=epsilon,
            delta=DELTA,
            sparsity=sparsity,
            forest=False,
            rng=np.random.default_rng([N, int(10 * epsilon), seed]),
        )
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
        "few records": sparsity is None and n ** (3 * k / 4) > N,
        "degree": results[0].degree,
        "cells": cells,
        "parities alike": unprojected(n, k, "parities", mu, sparsity),
        "tensor": unprojected(n, k, "tensor", mu, sparsity),
        "best noise": best,
        "dpgraph": error,
        "runs": runs,
        "converged": sum(result.converged for result in results),
        "MSE cells / dpgraph": (cells / error) ** 2,
        "MSE best noise / dpgraph": (best / error) ** 2,
    }
    print(row, flush=True)
    return row


def noisy_cells(data: np.ndarray, k: int, mu: float) -> np.ndarray:
    """All k-way tables with independent Gaussian noise on every cell."""
    basis = ParityBasis([2] * data.shape[1], k)
    (group,) = basis.table_groups(k)
    tables = group.tables(sum(basis.sums([data])))
    return tables + np.sqrt(2 * len(tables)) / mu * np.random.default_rng(0).normal(size=tables.shape)


def noisy_parities(data: np.ndarray, k: int, mu: float) -> tuple[np.ndarray, float]:
    """The k-way tables of noisy parities, as dpgraph releases them, and the error after its projection of the same."""
    n, N = data.shape[1], len(data)
    schema = Schema(tuple(range(n)), ((0, 1),) * n, N)
    model = MarginalModel(schema, Request(k, 1.0, DELTA))
    assert model.noise.law == "gaussian"
    (group,) = model.released.table_groups(k)
    truth = sum(model.released.sums([data])) / N
    scale = np.append(0.0, model.noise.sensitivity / N / mu / model.statistics.factors[1:])
    noisy = truth + scale * np.append(0.0, np.random.default_rng(0).normal(size=truth.size - 1))
    found = model.project(noisy, scale**2, tol=2e-3, max_iter=300)
    error = N * np.sqrt(np.mean((group.tables(found.theta) - group.tables(truth)) ** 2))
    return N * group.tables(noisy), float(error)


def other_tool(python: str, script: Path, arrays: dict[str, np.ndarray], *arguments: object) -> dict[str, float]:
    """Run a script in the interpreter of another tool, on arrays in a folder; its last line of output is JSON."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in arrays.items():
            np.save(Path(folder) / f"{name}.npy", array)
        command = [python, str(script), folder, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script.name} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def ours(data: np.ndarray, k: int, epsilon: float, row: dict[str, object]) -> float:
    """Error of dpgraph on the same data and budget, mean of twenty runs."""
    start = time.process_time()
    results = [private_marginals(data, k, epsilon=epsilon, delta=DELTA, forest=False, rng=seed) for seed in range(20)]
    row["seconds (dpgraph)"] = (time.process_time() - start) / 20
    row["dpgraph"] = error = float(np.sqrt(np.mean([measured(result, data, k) ** 2 for result in results])))
    return error


def against_pgm(python: str, n: int, k: int, N: int, epsilon: float) -> dict[str, object]:
    """The same data and budget; private-pgm gets noise on the cells (its ordinary use) or dpgraph's noisy parities."""
    data, mu = clustered(n, N), gdp_mu(epsilon, DELTA)
    row: dict[str, object] = {"attributes": n, "k": k, "records": N, "epsilon": epsilon}
    tables, same = noisy_parities(data, k, mu)
    for kind, noisy in (("cells", noisy_cells(data, k, mu)), ("parities", tables)):
        answer = other_tool(python, PGM_SCRIPT, {"data": data, "noisy": noisy}, k)
        row[f"private-pgm, {kind}"] = answer["rmse"]
    row["seconds (pgm)"] = answer["seconds"]
    row["dpgraph, same parities"] = same
    error = ours(data, k, epsilon, row)
    row["MSE private-pgm, cells / dpgraph"] = (row["private-pgm, cells"] / error) ** 2
    row["MSE private-pgm, parities / dpgraph, same parities"] = (row["private-pgm, parities"] / same) ** 2
    print(row, flush=True)
    return row


def against_smartnoise(python: str, n: int, k: int, N: int, epsilon: float) -> dict[str, object]:
    """The same data and budget; synthetic records of smartnoise-synth's MST and AIM, counted."""
    data = clustered(n, N)
    row: dict[str, object] = {"attributes": n, "k": k, "records": N, "epsilon": epsilon}
    for method in ("mst", "aim"):
        answer = other_tool(python, SMARTNOISE_SCRIPT, {"data": data}, k, method, epsilon, DELTA)
        row[method], row[f"seconds ({method})"] = answer["rmse"], answer["seconds"]
    error = ours(data, k, epsilon, row)
    row["MSE mst / dpgraph"], row["MSE aim / dpgraph"] = (row["mst"] / error) ** 2, (row["aim"] / error) ** 2
    row["independent attributes"] = independent(data, k)
    print(row, flush=True)
    return row


def independent(data: np.ndarray, k: int) -> float:
    """Error of the product of the exact one-way marginals: what a model of no correlation at all would reach."""
    share = np.stack([1 - data.mean(axis=0), data.mean(axis=0)])
    squares = []
    for columns in itertools.combinations(range(data.shape[1]), k):
        product = np.ones(1)
        for column in columns:
            product = np.outer(product, share[:, column]).ravel()
        exact = np.bincount(data[:, columns] @ (2 ** np.arange(k)[::-1]), minlength=2**k)
        squares.append((len(data) * product - exact) ** 2)
    return float(np.sqrt(np.mean(squares)))


def cell(value: object) -> str:
    """As text; values may have been read from a file."""
    if str(value) in ("True", "False"):
        return "yes" if str(value) == "True" else ""
    if isinstance(value, str) and re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", value):
        value = float(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: list[dict[str, object]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0])]
    lines += ["| " + " | ".join(cell(v) for v in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def plot(rows: list[dict[str, object]]) -> Figure:
    """What private_marginals gains over noise on the cells, by the number of records."""
    shapes = sorted({(int(r["attributes"]), int(r["k"]), str(r["sparsity"])) for r in rows}, key=lambda s: (s[2], s))
    figure, axes = charts.panels(len(shapes))
    for place, (axis, (n, k, sparsity)) in enumerate(zip(axes, shapes, strict=True)):
        own = [r for r in rows if (int(r["attributes"]), int(r["k"]), str(r["sparsity"])) == (n, k, sparsity)]
        axis.set(xscale="log", yscale="log", xlim=(700, 140_000))
        number = 0
        for column, base in (("best noise", "the best noise"), ("cells", "noise on the cells")):
            for epsilon in EPSILONS:
                chosen = sorted((r for r in own if float(r["epsilon"]) == epsilon), key=lambda r: int(r["records"]))
                gain = [float(r[f"MSE {column} / dpgraph"]) for r in chosen]
                label = f"over {base}, ε = {epsilon:g}" if place == 2 else "_"
                charts.curve(axis, [int(r["records"]) for r in chosen], gain, None, number, label=label, linewidth=1.3)
                number += 1
        axis.axhline(1, color=charts.GREY, linewidth=0.8)
        few = n ** (3 * k / 4)
        if not sparsity and few > 700:  # the regime of the theorem, with its constant and 1/mu left out
            axis.axvspan(700, few, color=charts.LINES[1], alpha=0.12, linewidth=0)
        axis.set_title(f"{n} attributes, k = {k}" + (f", sparsity {sparsity}" if sparsity else ""), fontsize=8.5)
        charts.name_lines(axis, 7.5)
    gains = [float(r["MSE best noise / dpgraph"]) for r in rows]
    title = f"The projection takes up to {max(gains):.0f} times off the squared error, most where records are few"
    remark = f"shaded: fewer than n^(3k/4) records, the regime of the theorem; grey: no gain (least: {min(gains):.2f})"
    return charts.finish(figure, title, remark, "records", "squared error without projection, over ours")


def read_rows(name: str) -> list[dict[str, object]]:
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [dict(row) for row in csv.DictReader(file)]


def write_table(name: str, text: list[str], rows: list[dict[str, object]]) -> None:
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (RESULTS / f"{name}.md").write_text("\n\n".join([*text, table(rows)]) + "\n")


def resume(name: str, text: list[str], keys: tuple[str, ...], cases: list[tuple], compute) -> list[dict[str, object]]:
    """Compute the cases that the file lacks, writing it after each; a case is the values of the key columns."""
    rows = read_rows(name)
    present = {tuple(str(row[key]) for key in keys) for row in rows}
    for case in cases:
        if tuple("" if value is None else str(value) for value in case) not in present:
            rows.append(compute(*case))
            write_table(name, text, rows)
    write_table(name, text, rows)
    return rows


def measure_shapes(quick: bool) -> None:
    shapes: list[tuple[int, int, int | None]] = [(16, 2, None), (16, 3, None), (16, 4, None)]
    if not quick:
        shapes += [(40, 2, None), (40, 2, 3), (40, 3, 3), (40, 3, None)]  # the slowest last
    cases = [
        (n, k, sparsity, N, epsilon)
        for n, k, sparsity in shapes
        for N in (1000, 3000, 10_000, 30_000, 100_000)
        for epsilon in EPSILONS
    ]
    text = [
        f"# Marginals at delta = {DELTA:g}",
        "Root-mean-square error of a cell of the k-way tables, as a number of records; one record replaced. Columns "
        "*cells* (the plain Gaussian mechanism) to *best noise* are Gaussian noise without projection, known in "
        "advance. *few records*: N < n^{3k/4}, for dense data. *dpgraph* is the root of the mean over *runs* of the "
        "squared error; *converged*: how many of them reached the tolerance of the projection.",
    ]
    keys = ("attributes", "k", "sparsity", "records", "epsilon")
    resume("marginals", text, keys, cases, compare)


def measure_pgm(python: str) -> None:
    text = [
        "# Marginals against private-pgm (mbi 2.0.0, mirror descent, 1000 steps), 12 binary attributes",
        "Root-mean-square error of a cell of the k-way tables, as a number of records. *cells*: private-pgm as it is "
        "used, on all k-way tables with independent Gaussian noise; *parities*: on the noisy tables that dpgraph's "
        "release implies. Its model over all k-sets is a full joint distribution, here of 4096 cells: the exact set of "
        "marginals of distributions, out of reach for 40 attributes. One draw of the noise each for private-pgm; "
        "*dpgraph, same parities* projects the very draw that *private-pgm, parities* got, *dpgraph* is the mean of "
        "twenty runs. A ratio below 1 is a loss for dpgraph.",
    ]
    cases = [(12, k, N, epsilon) for k in (2, 3) for N in (300, 1000, 10_000) for epsilon in (0.5, 2.0)]
    keys = ("attributes", "k", "records", "epsilon")
    resume("marginals_pgm", text, keys, cases, lambda *case: against_pgm(python, *case))


def measure_smartnoise(python: str) -> None:
    cases = [(12, 2, 1000, 1.0), (12, 2, 1000, 100.0)]
    keys = ("attributes", "k", "records", "epsilon")
    resume("marginals_smartnoise", SMARTNOISE_TEXT, keys, cases, lambda *case: against_smartnoise(python, *case))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="16 attributes only")
    parser.add_argument("--pgm-python", help="only compare with private-pgm, run by this interpreter (mbi 2.0.0)")
    parser.add_argument("--smartnoise-python", help="only compare with smartnoise-synth, run by this interpreter")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if arguments.pgm_python:
        measure_pgm(arguments.pgm_python)
    if arguments.smartnoise_python:
        measure_smartnoise(arguments.smartnoise_python)
    if not (arguments.pgm_python or arguments.smartnoise_python):
        measure_shapes(arguments.quick)


if __name__ == "__main__":
    sys.exit(main())
