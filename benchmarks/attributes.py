"""Private attributes of vertices joined with a private embedding: do they tell more about communities than it alone?

Four planted blocks; every vertex has a record of attributes with a mean of its block. The graph is protected edge by
edge, the attributes vertex by vertex (a record is replaced), each at the full epsilon. A record of a vertex is released
with Gaussian noise in all coordinates, or in the leading directions of a covariance matrix that `private_covariance`
released for half of the budget. Labels: k-means on both, side by side, with the weight of the attributes that is best
in hindsight. Writes ``benchmarks/results/attributes.md``; a minute.

    python benchmarks/attributes.py
"""

from __future__ import annotations

import math

import numpy as np
from common import RESULTS, interval, markdown_table
from load import planted_blocks
from scipy.cluster.vq import kmeans2
from scipy.optimize import linear_sum_assignment

import dpgraph
from dpgraph.privacy import gdp_mu

BLOCKS, DIMENSIONS, RUNS, DELTA = 4, 30, 5, 1e-6
WEIGHTS = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0)
SETTINGS = ((1000, 20, 1.0), (1000, 60, 1.0), (1000, 20, 4.0), (1000, 60, 4.0), (1000, 20, 16.0))


def records(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows of norm at most 1: the mean of a block, and noise of the same length."""
    means = np.linalg.qr(rng.normal(size=(DIMENSIONS, BLOCKS)))[0].T
    X = means[labels] + rng.normal(size=(len(labels), DIMENSIONS)) / math.sqrt(DIMENSIONS)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)


def noisy_records(X: np.ndarray, mu: float, rng: np.random.Generator) -> np.ndarray:
    """Every row with Gaussian noise for another row of norm at most 1 in its place."""
    return X + rng.normal(scale=2 / mu, size=X.shape)


def leading_records(X: np.ndarray, epsilon: float, seed: int, rng: np.random.Generator) -> np.ndarray:
    """The same in the leading directions of a private covariance matrix; each release has half of the budget."""
    mu = gdp_mu(epsilon, DELTA) / math.sqrt(2)
    half = dpgraph.privacy.gdp_epsilon(mu, DELTA)
    C = dpgraph.private_covariance(X, epsilon=half, delta=DELTA, mechanism="gaussian", rng=seed).matrix
    directions = np.linalg.eigh(C)[1][:, -BLOCKS:]
    return noisy_records(X @ directions, mu, rng)


def accuracy(points: np.ndarray, labels: np.ndarray) -> float:
    """Share of vertices in the right block, after the best matching of blocks; the best of three starts by inertia."""
    best = (math.inf, 0.0)
    for seed in range(3):
        centres, found = kmeans2(points, BLOCKS, minit="++", rng=seed)
        table = np.zeros((BLOCKS, BLOCKS))
        np.add.at(table, (found, labels), 1)
        rows, columns = linear_sum_assignment(-table)
        inertia = float(np.sum((points - centres[found]) ** 2))
        best = min(best, (inertia, float(table[rows, columns].sum()) / len(labels)))
    return best[1]


def line(n: int, degree: int, epsilon: float) -> list[object]:
    found: dict[str, list[list[float]]] = {}
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        A = planted_blocks(n, BLOCKS, degree, 0.85, rng)
        labels = np.arange(n) * BLOCKS // n
        X = records(labels, rng)
        private = dpgraph.private_normalized_adjacency(A, epsilon=epsilon, delta=DELTA, rank=BLOCKS, rng=seed)
        graph = private.embedding()
        graph = graph / graph.std()
        for name, rows in (
            ("all coordinates", noisy_records(X, gdp_mu(epsilon, DELTA), rng)),
            ("leading directions", leading_records(X, epsilon, seed, rng)),
        ):
            joined = [accuracy(np.hstack([graph, w * rows / rows.std()]), labels) for w in WEIGHTS]
            found.setdefault(name, []).append(joined)
            found.setdefault(f"{name}, alone", []).append([accuracy(rows, labels)])
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    cells = ["{:.3f} ± {:.3f}".format(*interval(run[0] for run in found["all coordinates"]))]
    for name in ("all coordinates", "leading directions"):
        best = int(np.argmax(means[name]))
        cells += [f"{means[f'{name}, alone'][0]:.3f}", f"{means[name][best]:.3f} (weight {WEIGHTS[best]:g})"]
    print(n, degree, epsilon, cells, flush=True)
    return [f"n = {n:,}, degree {degree}, ε = {epsilon:g}", *cells]


def main() -> None:
    header = ["input", "embedding alone", "noisy records alone", "joined", "leading directions alone", "joined"]
    table = markdown_table(header, [line(*setting) for setting in SETTINGS])
    text = [
        "# Attributes of vertices beside an embedding: share of vertices in the right one of four blocks",
        f"Delta = {DELTA:g}, {RUNS} runs, {DIMENSIONS} attributes; the weight of the attributes is best in hindsight.",
        table,
    ]
    (RESULTS / "attributes.md").write_text("\n\n".join(text))


if __name__ == "__main__":
    main()
