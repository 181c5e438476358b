"""Linear queries: error of each noise shape beside its lower bound, few records, ellipsoids at scale.

Writes ``benchmarks/results/linear_queries.{csv,md}``; a few minutes on one core.

    python benchmarks/linear_queries.py [--quick]
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy import gdp_mu
from dpgraph.problems.records.factorization import trace_factorization
from dpgraph.problems.records.linear_queries import (
    expected_error,
    hereditary_discrepancy_bounds,
    minimum_volume_ellipsoid,
    private_linear_queries,
)

RESULTS = Path(__file__).parent / "results"
EPSILON, DELTA = 1.0, 1e-6
MU = gdp_mu(EPSILON, DELTA)
BUDGET = {"epsilon": EPSILON, "delta": DELTA}


def prefix_sums(n: int) -> np.ndarray:
    return np.tril(np.ones((n, n)))


def ranges(n: int) -> np.ndarray:
    return np.array([[float(i <= t <= j) for t in range(n)] for i in range(n) for j in range(i, n)])


def counting(d: int, N: int) -> np.ndarray:
    return (np.random.default_rng(0).random((d, N)) < 0.5).astype(float)


def sparse_counting(d: int, N: int) -> np.ndarray:
    return (np.random.default_rng(0).random((d, N)) < 0.02).astype(float)


def rmse(answers: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((answers - truth) ** 2)))


def dense_rows(quick: bool) -> list[dict[str, object]]:
    """Expected error of every shape, the bound that no Gaussian noise beats, and the measured error."""
    workloads = {
        "prefix sums, d = 256": prefix_sums(256),
        "all ranges of 48": ranges(48),
        "random 0/1, 200 x 200": counting(200, 200),
        "random 0/1, 200 x 2000": counting(200, 2000),
        "random 0/1, 1000 x 100": counting(1000, 100),
        "sparse 0/1, 200 x 1000": sparse_counting(200, 1000),
    }
    if not quick:
        workloads["prefix sums, d = 1024"] = prefix_sums(1024)
    rows = []
    for name, A in workloads.items():
        start = time.process_time()
        optimal = trace_factorization(QueryMatrix(A).row_space.columns, tol=1e-3)
        seconds = time.process_time() - start
        plain = expected_error(A, mechanism="gaussian", **BUDGET)
        x = np.random.default_rng(1).poisson(50, A.shape[1])
        runs = 3 if A.shape[0] > 1000 else 10
        results = [private_linear_queries(A, x, sparse=False, rng=seed, **BUDGET) for seed in range(runs)]
        result = results[0]
        bounds = hereditary_discrepancy_bounds(A)
        rows.append(
            {
                "workload": name,
                "gaussian": plain,
                "ellipsoid": expected_error(A, mechanism="ellipsoid", **BUDGET),
                "auto": result.expected_rmse,
                "auto is": result.mechanism,
                "auto, measured": float(np.sqrt(np.mean([rmse(r.answers, A @ x) ** 2 for r in results]))),
                "runs": runs,
                "lower bound": float(np.sqrt(optimal.lower_bound / A.shape[0])) / MU,
                "gaussian / auto": plain / result.expected_rmse,
                "seconds (factorization)": seconds,
                "herdisc at least": bounds.lower,
                "herdisc at most": bounds.upper,
            }
        )
        print(rows[-1], flush=True)
    return rows


def sparse_rows() -> list[dict[str, object]]:
    """Few records: d = 1000 random counting queries on N = 1000 types, with and without the least-squares step."""
    d = 1000
    A = counting(d, d)
    rows = []
    for n in (10, 50, 200, 1000, 5000, 20000):
        x = np.random.default_rng(n).multinomial(n, np.full(d, 1 / d))
        row: dict[str, object] = {"records": n, "n / d": n / d}
        for name, options in (
            ("gaussian", {"mechanism": "gaussian", "sparse": False}),
            ("gaussian, projected", {"mechanism": "gaussian", "sparse": True, "records": n}),
            ("factorization", {"mechanism": "factorization", "sparse": False}),
            ("auto, n public", {"records": n}),
            ("auto, n from the answers", {}),
        ):
            runs = [private_linear_queries(A, x, rng=seed, **options, **BUDGET) for seed in range(2)]
            row[name] = float(np.mean([rmse(run.answers, A @ x) for run in runs]))
        row["bound for few records"] = expected_error(A, mechanism="gaussian", records=n, **BUDGET)
        row["gaussian / auto"] = row["gaussian"] / row["auto, n from the answers"]
        rows.append(row)
        print(row, flush=True)
    return rows


def ellipsoid_rows() -> list[dict[str, object]]:
    rows = []
    for d, N in ((20, 500), (50, 2000), (200, 5000)):
        for tol in (1e-3, 1e-6):
            points = np.random.default_rng(0).normal(size=(N, d))
            start = time.process_time()
            ellipsoid = minimum_volume_ellipsoid(points, tol=tol)
            rows.append(
                {
                    "d": d,
                    "N": N,
                    "tol": tol,
                    "steps": ellipsoid.iterations,
                    "gap": ellipsoid.gap,
                    "cpu seconds": time.process_time() - start,
                }
            )
            print(rows[-1], flush=True)
    return rows


def cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(rows: list[dict[str, object]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0])]
    lines += ["| " + " | ".join(cell(v) for v in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the prefix sums of 1024 counts")
    quick = parser.parse_args().quick
    RESULTS.mkdir(exist_ok=True)
    dense, sparse, ellipsoids = dense_rows(quick), sparse_rows(), ellipsoid_rows()
    with (RESULTS / "linear_queries.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(dense[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(dense)
    text = [
        f"# Linear queries at epsilon = {EPSILON:g}, delta = {DELTA:g}",
        "Root-mean-square error of an answer. The lower bound holds for every Gaussian noise (dual of the optimal "
        "factorization). One record added or removed.",
        table(dense),
        "## Few records: 1000 random counting queries on 1000 types",
        table(sparse),
        "## Minimum-volume ellipsoid of N normal points",
        table(ellipsoids),
    ]
    (RESULTS / "linear_queries.md").write_text("\n\n".join(text) + "\n")


if __name__ == "__main__":
    main()
