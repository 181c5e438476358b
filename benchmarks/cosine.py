"""Error of private cosine similarities against n (CDEMZ24, Theorem 2.1), beside the plain Gaussian mechanism.

Writes ``cosine.csv``, ``cosine.md`` and ``cosine.png`` to ``benchmarks/results``. Budget delta = 1e-6 and epsilon = 4,
neighbours with ||VV' - V'V''||_F <= 1. All errors are *squared* Frobenius errors: the theorem bounds them by order
n^{3/2}, plain noise has order n^2, and their ratio is therefore of order sqrt(n).

The bound is a worst case over data. At a fixed noise level the worst data have a rank that grows like sqrt(n), so that
their eigenvalues (about n/rank) stay comparable with the norm sigma sqrt(2n) of the noise; such are the first three
kinds below. Data of fixed rank, or of full rank, err by less and grow more slowly.

    python benchmarks/cosine.py --largest 1000
"""

from __future__ import annotations

import argparse
import csv
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import charts
import numpy as np

from dpgraph.privacy import gdp_mu
from dpgraph.problems.matrices.perturb_and_project import perturb_and_project
from dpgraph.problems.records.cosine import normalized_gram, private_cosine_similarities
from dpgraph.projections import Box

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("DPGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "graphs"))
EPSILON, DELTA = 4.0, 1e-6
BUDGET = {"sensitivity": 1.0, "epsilon": EPSILON, "delta": DELTA}
SIGMA = 1.0 / gdp_mu(EPSILON, DELTA)
METHODS = ("shrinkage", "elliptope", "practical")
SMALLEST_FITTED = 125
_NAMES = {"shrinkage": "shrinkage (default)", "identity": "identity (ignores data)"}


def directions(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, round(math.sqrt(n))))


def growing_clusters(n: int, rng: np.random.Generator) -> np.ndarray:
    k = round(math.sqrt(n))
    return np.eye(k)[rng.integers(k, size=n)] + 0.1 / math.sqrt(k) * rng.normal(size=(n, k))


def histograms(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.full(round(math.sqrt(n)), 0.1), size=n)


def signs(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size=(n, n))


def five_clusters(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.eye(5)[rng.integers(5, size=n)] + 0.2 * rng.normal(size=(n, 5))


def neighbourhoods(n: int, rng: np.random.Generator) -> object:
    """Adjacency rows of a random set of n vertices of SNAP wiki-Vote: similarity of voters."""
    from dpgraph.datasets import load_sparse

    A = load_sparse("wiki-Vote", data_dir=DATA, download=False)[0]
    return A[np.sort(rng.choice(A.shape[0], size=n, replace=False))]


KINDS: dict[str, Callable[[int, np.random.Generator], object]] = {
    "sqrt(n) dimensions": directions,
    "sqrt(n) clusters": growing_clusters,
    "sqrt(n)-bin histograms": histograms,
    "random signs, n x n": signs,
    "five clusters": five_clusters,
    "wiki-Vote neighbourhoods": neighbourhoods,
}


def squared_errors(truth: np.ndarray, releases: Callable[[int], np.ndarray], runs: int) -> float:
    return float(np.mean([np.sum((releases(seed) - truth) ** 2) for seed in range(runs)]))


def measured(V: object, runs: int) -> dict[str, float]:
    truth = normalized_gram(V)
    everything = Box()
    row = {
        "identity": float(np.sum((truth - np.eye(len(truth))) ** 2)),
        "plain": squared_errors(
            truth, lambda s: perturb_and_project(truth, everything, **BUDGET, symmetric=True, rng=s).matrix, runs
        ),
    }
    for method in METHODS:
        row[method] = squared_errors(
            truth, lambda s, m=method: private_cosine_similarities(V, **BUDGET, method=m, rng=s).matrix, runs
        )
    return row


def measure(sizes: list[int], runs: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for kind, generate in KINDS.items():
        if kind.startswith("wiki") and not (DATA / "wiki-Vote.txt.gz").exists():
            continue
        for n in sizes:
            rows.append({"data": kind, "n": n} | measured(generate(n, np.random.default_rng(n)), runs))
            print({k: v if isinstance(v, str) else round(float(v), 1) for k, v in rows[-1].items()}, flush=True)
    return rows


def summary(rows: list[dict[str, object]]) -> str:
    """Slope in n of the squared error, and how it compares with plain noise at the largest n."""
    n = max(int(str(row["n"])) for row in rows)
    lines = [
        f"| data | method | slope, n = {SMALLEST_FITTED} to {n} | squared error, n = {n} | plain / it | "
        "the same / sqrt(n) | identity matrix / it |",
        "|" + " --- |" * 7,
    ]
    for kind in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == kind]
        fitted = [row for row in own if float(row["n"]) >= SMALLEST_FITTED]
        for method in ("plain", *METHODS):
            logs = np.log([[float(row["n"]), float(row[method])] for row in fitted])
            error = float(own[-1][method])
            gain, trivial = float(own[-1]["plain"]) / error, float(own[-1]["identity"]) / error
            lines.append(
                f"| {kind} | {method} | {np.polyfit(*logs.T, 1)[0]:.2f} | {error:.0f} | {gain:.1f} | "
                f"{gain / math.sqrt(n):.2f} | {trivial:.2f} |"
            )
    return "\n".join(lines)


def plot(rows: list[dict[str, object]]) -> Figure:
    """Squared error by the number of rows, for each kind of data."""
    kinds = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = charts.panels(len(kinds))
    for place, (axis, kind) in enumerate(zip(axes, kinds, strict=True)):
        own = [row for row in rows if row["data"] == kind]
        n = np.array([float(row["n"]) for row in own])
        axis.set(xscale="log", yscale="log")
        for number, name in enumerate(("shrinkage", "plain", "elliptope", "practical", "identity")):
            label = _NAMES.get(name, name) if place == min(2, len(kinds) - 1) else "_"
            charts.curve(axis, n, [float(row[name]) for row in own], None, number, label=label)
        bound = "bound, slope 3/2" if place == min(2, len(kinds) - 1) else "_"
        axis.plot(n, 2 * np.sqrt(2) * SIGMA * n**1.5, color=charts.GREY, linestyle=":", linewidth=1, label=bound)
        axis.set_title(str(kind), fontsize=8.5)
        charts.name_lines(axis, 7.5)
    last = [[row for row in rows if row["data"] == kind][-1] for kind in kinds]
    gains = [float(row["plain"]) / float(row["shrinkage"]) for row in last]
    title = f"Shrinkage, the default, errs {min(gains):.0f} to {max(gains):.0f} times less than plain noise"
    remark = f"at the largest n; epsilon = {EPSILON:g}, delta = {DELTA:g}, sensitivity 1; the identity looks at no data"
    return charts.finish(figure, title, remark, "rows n", "squared Frobenius error")


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
    title = (
        f"# Squared error of cosine similarities, epsilon = {EPSILON:g}, delta = {DELTA:g}, sensitivity 1, "
        f"mean of {args.runs} runs"
    )
    (RESULTS / "cosine.md").write_text(f"{title}\n\n{summary(rows)}\n")
    (RESULTS / "cosine.png").write_bytes(charts.png(plot(rows)))


if __name__ == "__main__":
    main()
