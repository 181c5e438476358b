"""Error of private cosine similarities against n (CDEMZ24, Theorem 2.1), beside the plain Gaussian mechanism.

Writes ``cosine.csv``, ``cosine.md`` and ``cosine.png`` to ``benchmarks/results``. Budget delta = 1e-6 and epsilon = 4,
neighbours with ||VV' - V'V''||_F <= 1. The theorem predicts a squared Frobenius error of order n^{3/2}; plain noise has
n^2.

    python benchmarks/cosine.py --largest 1000
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpgraph.privacy import gdp_mu
from dpgraph.queries.cosine import normalized_gram, private_cosine_similarities

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("DPGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "graphs"))
EPSILON, DELTA = 4.0, 1e-6
METHODS = ("elliptope", "practical")


def signs(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size=(n, n))


def clusters(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.eye(5)[rng.integers(5, size=n)] + 0.2 * rng.normal(size=(n, 5))


def histograms(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.full(50, 0.1), size=n)


def neighbourhoods(n: int, rng: np.random.Generator) -> object:
    """Adjacency rows of a random set of n vertices of SNAP wiki-Vote: similarity of voters."""
    from dpgraph.datasets import load_sparse

    A = load_sparse("wiki-Vote", data_dir=DATA, download=False)[0]
    return A[np.sort(rng.choice(A.shape[0], size=n, replace=False))]


KINDS: dict[str, Callable[[int, np.random.Generator], object]] = {
    "random signs": signs,
    "five clusters": clusters,
    "histograms": histograms,
    "wiki-Vote neighbourhoods": neighbourhoods,
}


def mean_squared_error(V: object, method: str, runs: int) -> float:
    truth = normalized_gram(V)
    budget = {"sensitivity": 1.0, "epsilon": EPSILON, "delta": DELTA}
    return float(
        np.mean(
            [
                np.sum((private_cosine_similarities(V, **budget, method=method, rng=seed).matrix - truth) ** 2)
                for seed in range(runs)
            ]
        )
    )


def measure(sizes: list[int], runs: int) -> list[dict[str, object]]:
    sigma = 1.0 / gdp_mu(EPSILON, DELTA)
    rows: list[dict[str, object]] = []
    for kind, generate in KINDS.items():
        if kind.startswith("wiki") and not (DATA / "wiki-Vote.txt.gz").exists():
            continue
        for n in sizes:
            V = generate(n, np.random.default_rng(n))
            # (W + W')/2 without a projection: n (n + 1)/2 independent entries.
            row: dict[str, object] = {"data": kind, "n": n, "plain": sigma**2 * n * (n + 1) / 2}
            row |= {method: mean_squared_error(V, method, runs) for method in METHODS}
            rows.append(row)
            print({k: v if isinstance(v, str) else round(float(v), 1) for k, v in row.items()}, flush=True)
    return rows


def summary(rows: list[dict[str, object]]) -> str:
    """Slope over the upper half of the sizes, and the gain over plain noise at the largest n."""
    lines = ["| data | method | slope | squared error, plain / projected, largest n |", "| --- | --- | --- | --- |"]
    for kind in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == kind]
        upper = own[-max(3, len(own) // 2) :]
        for method in METHODS:
            slope = np.polyfit(np.log([float(r["n"]) for r in upper]), np.log([float(r[method]) for r in upper]), 1)[0]
            gain = float(own[-1]["plain"]) / float(own[-1][method])
            lines.append(f"| {kind} | {method} | {slope:.2f} | {gain:.1f} |")
    return "\n".join(lines)


def plot(rows: list[dict[str, object]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(row["data"] for row in rows))
    fig, axes = plt.subplots(1, len(kinds), figsize=(3.4 * len(kinds), 3.4), sharey=True, layout="constrained")
    for ax, kind in zip(np.atleast_1d(axes), kinds, strict=True):
        own = [row for row in rows if row["data"] == kind]
        n = np.array([float(row["n"]) for row in own])
        for series, style in (("plain", "k--"), *((m, "o-") for m in METHODS)):
            ax.loglog(n, [float(row[series]) for row in own], style, ms=4, label=series)
        sigma = 1.0 / gdp_mu(EPSILON, DELTA)
        ax.loglog(n, 2 * np.sqrt(2) * sigma * n**1.5, "k:", label="bound, slope 3/2")
        ax.set(xlabel="n", title=kind)
    np.atleast_1d(axes)[0].set_ylabel("squared Frobenius error")
    np.atleast_1d(axes)[0].legend(fontsize=8)
    fig.savefig(RESULTS / "cosine.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    sizes = [n for n in (62, 125, 250, 500, 1000, 2000) if n <= args.largest]
    rows = measure(sizes, args.runs)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "cosine.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    title = f"# Cosine similarities, epsilon = {EPSILON:g}, delta = {DELTA:g}, sensitivity 1, n up to {sizes[-1]}"
    (RESULTS / "cosine.md").write_text(f"{title}\n\n{summary(rows)}\n")
    plot(rows)


if __name__ == "__main__":
    main()
