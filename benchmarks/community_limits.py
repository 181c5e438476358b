"""What noise leaves of communities that are known: two oracles beside `private_communities`, on colleges.

``python benchmarks/community_limits.py`` writes benchmarks/results/community_limits.md: adjusted Rand indices with
Louvain's communities, over that of Louvain's method with itself (another order of the vertices).

*Oracle labels.* A vertex knows the true communities of all others, and chooses by its numbers of edges to these, less
what degrees explain. An edge is read at both ends, at noise of scale 2/epsilon, or at the later end in a random order,
at 1/epsilon: the better one of both. So no mechanism does better in which a vertex chooses by noisy numbers of
edges to communities, Laplace noise for each number, all vertices at once or one after another, once.

*Oracle start.* The core answers pair by pair for nine tenths of epsilon, and its search begins at the true communities.
What it ends with is the best that is seen in the answers: if that is far from the truth, search is not what is missing.
"""

from __future__ import annotations

import argparse
import random

import igraph
import numpy as np
from common import RESULTS, markdown_table
from scipy import sparse
from synthetic_graphs import adjacency

import dpgraph
from dpgraph.denoise.answer_communities import Excesses, _moved

GRAPHS = ("fb100-Caltech36", "fb100-Reed98", "fb100-Haverford76", "fb100-Swarthmore42")
EPSILONS = (1.0, 2.0)
RUNS = 3
#: The part of the vertices in the core.
CORE = 0.3


def index(first: object, second: object) -> float:
    return igraph.compare_communities(list(first), list(second), method="adjusted_rand")  # type: ignore[call-overload]


def louvain(A: sparse.csr_array, seed: int) -> np.ndarray:
    """The best of five runs."""
    random.seed(seed)
    upper = sparse.triu(A).tocoo()
    graph = igraph.Graph(n=A.shape[0], edges=np.column_stack([upper.row, upper.col]))
    return np.array(max((graph.community_multilevel() for _ in range(5)), key=lambda c: c.modularity).membership)


def by_oracle_labels(A: sparse.csr_array, labels: np.ndarray, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Agreement of what vertices choose, by edges at both ends and at the later one."""
    n, member = labels.size, np.eye(int(labels.max()) + 1)[labels]
    degrees, place = A.sum(axis=1), rng.permutation(n)
    explained = np.outer(degrees, member.T @ degrees) / degrees.sum()
    rows = A.tocoo()
    earlier = place[rows.col] < place[rows.row]
    half = sparse.coo_array((rows.data[earlier], (rows.row[earlier], rows.col[earlier])), shape=A.shape).tocsr()
    found = []
    for read, scale, share in ((A, 2 / epsilon, 1.0), (half, 1 / epsilon, place[:, None] / n)):
        counts = read @ member + rng.laplace(0, scale, member.shape)
        found.append(index((counts - share * explained).argmax(axis=1), labels))
    return found


def by_oracle_start(A: sparse.csr_array, labels: np.ndarray, epsilon: float, rng: np.random.Generator) -> float:
    """Agreement of the core's labels, found from its answers and the true labels as their start."""
    degrees = A.sum(axis=1)
    noisy = degrees + rng.laplace(0, 2 / (0.12 * epsilon**0.5), degrees.size)
    rows = np.argsort(-noisy)[: int(CORE * degrees.size)]
    B, flip = A[rows][:, rows].toarray(), 1 / (1 + np.exp(0.97 * epsilon - 0.12 * epsilon**0.5))
    lower = np.tril(rng.random(B.shape) < flip, -1)
    answers = np.where(lower | lower.T, 1 - B, B)
    np.fill_diagonal(answers, 0)
    gain = 1 / (1 - 2 * flip)
    std = gain * np.sqrt(flip * (1 - flip))
    expected = np.maximum(noisy[rows], 5)
    excesses = Excesses(sparse.csr_array(gain * answers), gain * flip, std, 1.0, expected, degrees.sum(), 1.0)
    found, _ = _moved(excesses, labels[rows].copy(), rng)
    return index(found, labels[rows])


def row(name: str, epsilon: float) -> tuple[object, ...]:
    A = adjacency(name)
    labels, rng = louvain(A, 0), np.random.default_rng(0)
    own = np.mean([index(labels, louvain(A, seed)) for seed in range(1, 4)])
    ours = [index(dpgraph.private_communities(A, epsilon=epsilon, rng=seed).labels, labels) for seed in range(RUNS)]
    oracle = max(np.mean([by_oracle_labels(A, labels, epsilon, rng) for _ in range(RUNS)], axis=0))
    start = np.mean([by_oracle_start(A, labels, epsilon, rng) for _ in range(RUNS)])
    shares = (np.mean(ours) / own, oracle / own, start / own)
    return (name, f"{epsilon:g}", f"{A.nnz / A.shape[0]:.0f}", f"{own:.2f}", *(f"{share:.2f}" for share in shares))


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    columns = ("graph", "epsilon", "degree", "Louvain with itself", "ours", "oracle labels", "oracle start (core)")
    rows = [row(name, epsilon) for name in GRAPHS for epsilon in EPSILONS]
    text = (
        "# What noise leaves of communities that are known\n\nAdjusted Rand index with Louvain's communities, over "
        f"that of Louvain's method with itself; means of {RUNS} runs.\n\n"
    )
    (RESULTS / "community_limits.md").write_text(text + markdown_table(columns, rows))


if __name__ == "__main__":
    main()
