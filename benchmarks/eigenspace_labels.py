"""Eigenspaces of rank 2 and more: do communities, or pure noise for all products together, help the power method?

On graphs whose eigenspaces of this rank are in no table, sine of the largest angle (0 is perfect, 1 worthless):

- *default*, which spends delta = 1e-6, and *pure default*, which does not (answers of all pairs; left out where these
  are too many);
- *labels*: the span of the leading eigenvectors of the block model of private communities, for half of epsilon;
- *labels, then t products*: a quarter or half of epsilon for communities and the weights between them, the rest for
  t pure products (l2 unless it says l1) that start from their eigenvectors, up to two more than the rank;
- *products*: the same from random signs, the first column from the degrees, in as many columns as the rank;
- *labels, then Gaussian*: the noisy power method with its own number of products, but from these eigenvectors.

The noise of the pure products is that of one vector for each row in all its products: density exp(-N/s), N the largest
norm of the t rows, in l1 or l2 (:func:`~dpgraph.bounds.sensitivity.repeated_queries` proves it for any norm of rows).
Rows of an iterate are cut off at 1.3 times their root mean square length, which an edge is paid by. It is drawn
by numpy in real numbers: for a comparison, not for use.

    python benchmarks/eigenspace_labels.py [--minutes 20]

Writes ``benchmarks/results/eigenspace_labels.md``; single runs are kept in
``eigenspace_labels_full.csv``, which is not in git.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from unittest.mock import patch

import numpy as np
from common import RESULTS, ResumableTable, interval, markdown_table, real_graph
from frontier_problems.eigenspace import Case, case, judged
from scipy import sparse

import dpgraph
from dpgraph.denoise.empirical_bayes import posterior_basis, posterior_means
from dpgraph.denoise.products import Products
from dpgraph.releases.eigenspaces import power_method

DELTA, RUNS, CUT, DECAY = 1e-6, 10, 1.3, 0.5
#: Degrees, and what would be left for the core.
DEGREES, CORE = 0.06, 0.02
#: Graph and rank; the spectrum has its widest gap after the second or third eigenvalue there.
GRAPHS = (
    ("fb100-Reed98", 2), ("fb100-Haverford76", 2), ("wiki-Vote", 2), ("ca-HepTh", 2), ("lastfm-asia", 2),
    ("fb100-Stanford3", 3), ("musae-facebook", 3),
)  # fmt: skip
EPSILONS = (1.0, 2.0, 4.0)
#: Graphs of the tables, which nothing was chosen by: the last ones, at epsilon = 1.
CHECKED = (("fb100-Swarthmore42", 2), ("ego-Facebook", 2), ("fb100-Harvard1", 2))
#: All pairs of more vertices are not asked.
ANSWERED = 1500
KEY, COLUMNS = ("graph", "epsilon", "method", "seed"), ("graph", "epsilon", "method", "seed", "sine")

Method = Callable[[Case, float, int], np.ndarray]


def default(data: Case, epsilon: float, seed: int, *, delta: float = DELTA) -> np.ndarray:
    private = dpgraph.private_normalized_adjacency(data.matrix, epsilon=epsilon, delta=delta, rank=data.rank, rng=seed)
    return private.adjacency_factor()


def block_vectors(data: Case, epsilon: float, seed: int, columns: int) -> np.ndarray:
    """Leading eigenvectors of the degree-corrected block model that private communities say, at most `columns`."""
    found = dpgraph.private_communities(data.matrix, epsilon=epsilon, rng=seed)
    labels, weights = np.asarray(found.labels), np.asarray(found.block_weights)
    parts = np.zeros((labels.size, len(weights)))
    parts[np.arange(labels.size), labels] = np.maximum(found.degrees, 1e-9)
    scale = np.linalg.norm(parts, axis=0) / parts.sum(axis=0)  # an orthonormal column over its volume
    between = weights + np.diag(np.diag(weights))  # an edge inside a community has both its ends there
    values, vectors = np.linalg.eigh(scale[:, None] * between * scale)
    kept = np.argsort(-np.abs(values))[:columns]
    return (parts / np.linalg.norm(parts, axis=0)) @ vectors[:, kept]


def row_noise(n: int, steps: int, columns: int, norm: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Noise of scale 1 of all rows of all products, shape (steps, n, columns), and its variance."""
    dimension = steps * columns
    radius = rng.gamma(dimension + 1, size=(1, n, 1))
    if norm == 1:
        shares = rng.exponential(size=(steps, n, columns + 1))
        inside = shares[..., :columns] / shares.sum(axis=-1, keepdims=True)
        inside *= rng.choice([-1.0, 1.0], size=inside.shape)
        moment = 2 / ((columns + 1) * (columns + 2))
    else:
        inside = rng.normal(size=(steps, n, columns))
        inside *= rng.random((steps, n, 1)) ** (1 / columns) / np.linalg.norm(inside, axis=-1, keepdims=True)
        moment = 1 / (columns + 2)
    return radius * inside, (dimension + 1) * (dimension + 2) * moment


def cut_rows(Q: np.ndarray, norm: int) -> np.ndarray:
    """Orthonormal columns whose rows have at most about `CUT` times their root mean square length."""
    for _ in range(3):
        lengths = np.linalg.norm(Q, norm, axis=1)
        most = CUT * np.sqrt(np.mean(lengths**2))
        Q = np.linalg.qr(Q * np.minimum(1.0, most / np.maximum(lengths, most))[:, None])[0]
    return Q


def products(
    data: Case, epsilon: float, seed: int, *, steps: int, norm: int, labels: float = 0.0, extra: int = 0
) -> np.ndarray:
    """Pure products, after communities for a share `labels` of epsilon."""
    rng, A, n = np.random.default_rng(seed), data.matrix, data.matrix.shape[0]
    if labels:
        start = block_vectors(data, labels * epsilon, seed, data.rank + extra)
        epsilon *= 1 - labels
    else:
        start = rng.choice([-1.0, 1.0], size=(n, data.rank + extra))
        scale = 2 / (DEGREES * epsilon)
        noisy = np.asarray(A.sum(axis=1)).ravel() + rng.laplace(scale=scale, size=n)
        start[:, 0] = posterior_means(np.maximum(noisy, 1.0)[:, None], np.array([[2 * scale**2]]))[:, 0]
        epsilon *= 1 - DEGREES
    noise, variance = row_noise(n, steps, start.shape[1], norm, rng)
    ones, Q = np.ones(n), cut_rows(np.linalg.qr(start)[0], norm)
    seen = Products(Q, steps)
    for t in range(steps):
        if t:
            Q = cut_rows(posterior_basis(seen.basis(), seen.covariance(), ones), norm)
            seen.replace_basis(Q)
        scale = 2 * float(np.linalg.norm(Q, norm, axis=1).max()) / (epsilon * (1 - CORE))  # both rows of an edge move
        product = A @ Q + scale * noise[t]
        if steps == 1:
            vectors, values = np.linalg.svd(product, full_matrices=False)[:2]
            kept, of_rows = vectors[:, : data.rank], np.diag(variance * scale**2 / values[: data.rank] ** 2)
            return posterior_basis(kept, of_rows, ones)
        seen.add(product, variance * scale**2)
        seen.improve(DECAY)
    for _ in range(3):
        seen.improve(1.0)
    seen.keep_leading(data.rank)
    return posterior_basis(seen.basis(), seen.covariance(), ones)


def gaussian_from_labels(data: Case, epsilon: float, seed: int, *, labels: float) -> np.ndarray:
    """The package's noisy power method, but its first basis is that of communities for a share of epsilon."""
    first = power_method._first_basis

    def from_labels(n: int, rank: int, call: object, start: object = None) -> np.ndarray:
        Q = first(n, rank, call, start)
        found = block_vectors(data, labels * epsilon, seed, Q.shape[1])
        Q[:, : found.shape[1]] = found
        return np.linalg.qr(Q)[0]

    with patch.object(power_method, "_first_basis", from_labels):
        return dpgraph.private_normalized_adjacency(
            data.matrix, epsilon=(1 - labels) * epsilon, delta=DELTA, rank=data.rank, mechanism="noisy-power", rng=seed
        ).adjacency_factor()


def labels_alone(data: Case, epsilon: float, seed: int) -> np.ndarray:
    return block_vectors(data, epsilon / 2, seed, data.rank)


METHODS: dict[str, Method] = {
    "default, delta 1e-6": default,
    "pure default": partial(default, delta=0.0),
    "labels": labels_alone,
    "labels 1/4, 2 products": partial(products, steps=2, norm=2, labels=0.25, extra=2),
    "labels 1/2, 1 product": partial(products, steps=1, norm=2, labels=0.5, extra=2),
    "labels 1/2, 2 products": partial(products, steps=2, norm=2, labels=0.5, extra=2),
    "labels 1/2, 1 product, rank columns": partial(products, steps=1, norm=2, labels=0.5),
    "labels 1/2, 1 product, l1": partial(products, steps=1, norm=1, labels=0.5, extra=2),
    "labels 1/2, 1 product, l1, rank columns": partial(products, steps=1, norm=1, labels=0.5),
    "9 products, l1": partial(products, steps=9, norm=1),
    "9 products, l2": partial(products, steps=9, norm=2),
    "labels 1/4, Gaussian": partial(gaussian_from_labels, labels=0.25),
}


def measure(table: ResumableTable, until: float) -> None:
    for epsilon, graphs in (*((epsilon, GRAPHS) for epsilon in EPSILONS), (EPSILONS[0], CHECKED)):
        for name, rank in graphs:
            data = case(sparse.csr_array(real_graph(name), dtype=float), rank)
            for seed in range(RUNS):
                for method, release in METHODS.items():
                    row = {"graph": f"{name}, r={rank}", "epsilon": f"{epsilon:g}", "method": method, "seed": str(seed)}
                    if method == "pure default" and data.matrix.shape[0] > ANSWERED:
                        continue
                    if table.key_of(row) in table.rows:
                        continue
                    if time.time() > until:
                        return
                    table.add(row | {"sine": f"{judged(data, release(data, epsilon, seed)).value:.5g}"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    table = ResumableTable(RESULTS / "eigenspace_labels_full.csv", KEY, COLUMNS)
    with table.writing():
        measure(table, time.time() + 60 * parser.parse_args().minutes)
    sines: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in table.rows.values():
        sines[row["graph"], row["method"], row["epsilon"]].append(float(row["sine"]))

    def cell(graph: str, method: str, epsilon: str) -> str:
        found = sines.get((graph, method, epsilon), [])
        return "{:.2f} ± {:.2f}".format(*interval(found)) if len(found) == RUNS else ""

    def shown(methods: Iterable[str], epsilon: str) -> str:
        graphs = [f"{name}, r={rank}" for name, rank in (*GRAPHS, *CHECKED)]
        lines = [[graph, *(cell(graph, method, epsilon) for method in methods)] for graph in graphs]
        return markdown_table(["input", *methods], [line for line in lines if any(line[1:])]).strip()

    parts = []
    for epsilon in (f"{e:g}" for e in EPSILONS):
        parts += [f"epsilon = {epsilon}", shown(METHODS, epsilon)]
    title = (
        f"# Eigenspaces of rank 2 and 3 from communities and pure products: sine, mean of {RUNS} runs, 95 % interval"
    )
    (RESULTS / "eigenspace_labels.md").write_text("\n\n".join([title, *parts]) + "\n")


if __name__ == "__main__":
    main()
