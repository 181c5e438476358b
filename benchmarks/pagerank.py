"""PageRank from private releases: is anything nearer to the exact one than released degrees are?

``python -m benchmarks.pagerank`` writes ``results/pagerank.md``: a minute on one core. For each graph and epsilon,
means of three runs of the distance of total variation to the exact PageRank (restart 0.15), and of the share of its
largest one per cent that is found. All of epsilon is for the degrees, or for the synthetic graph, or for the normalized
adjacency of rank 8 (delta 1e-6).
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from benchmarks.common import RESULTS, real_graph
from dpgraph.results.adjacency import DENSE_LIMIT

GRAPHS = ("email-Eu-core", "fb100-Caltech36", "fb100-Reed98", "ego-Facebook", "ca-GrQc", "wiki-Vote")
ALPHA, RUNS = 0.85, 3


def pagerank(A: sparse.csr_array) -> np.ndarray:
    """Of an undirected graph."""
    ranks = nx.pagerank(nx.from_scipy_sparse_array(A), alpha=ALPHA)
    return np.array([ranks[v] for v in range(A.shape[0])])


def by_degrees(A: sparse.csr_array, epsilon: float, seed: int) -> np.ndarray:
    """A walk on an undirected graph is at a vertex in proportion to its degree; restarts are uniform."""
    degrees = np.maximum(dpgraph.private_degrees(A, epsilon=epsilon, rng=seed).values, 0.0)
    return (1 - ALPHA) / degrees.size + ALPHA * degrees / degrees.sum()


def by_twin(A: sparse.csr_array, epsilon: float, seed: int) -> np.ndarray:
    """PageRank of a synthetic graph."""
    return pagerank(dpgraph.private_synthetic_graph(A, epsilon=epsilon, rng=seed).adjacency(seed))


def by_low_rank(A: sparse.csr_array, epsilon: float, seed: int) -> np.ndarray:
    """PageRank of the entries above 0 of the private adjacency, for at most 5000 vertices."""
    found = dpgraph.private_normalized_adjacency(A, epsilon=epsilon, delta=1e-6, rank=8, rng=seed)
    factor = found.adjacency_factor()
    weights = np.clip(factor @ found.core @ factor.T, 0.0, 1.0)
    np.fill_diagonal(weights, 0.0)
    degrees = weights.sum(axis=0)
    ranks = np.full(degrees.size, 1 / degrees.size)
    for _ in range(30):
        ranks = ALPHA * weights @ (ranks / np.maximum(degrees, 1e-12))
        ranks += (1 - ranks.sum()) / ranks.size
    return ranks


WAYS = {"degrees": by_degrees, "synthetic graph": by_twin, "low rank": by_low_rank}


def main() -> None:
    header = ["graph", "ε", *(f"{name}: distance, top 1 %" for name in WAYS)]
    lines = [f"| {' | '.join(header)} |", "| --- " * len(header) + "|"]
    for name in GRAPHS:
        A = real_graph(name)
        exact = pagerank(A)
        top = set(np.argsort(-exact)[: max(len(exact) // 100, 1)].tolist())
        for epsilon in (1.0, 4.0):
            cells = []
            for way in WAYS.values():
                if way is by_low_rank and len(exact) > DENSE_LIMIT:
                    cells.append("too large")
                    continue
                found = [way(A, epsilon, seed) for seed in range(RUNS)]
                distance = np.mean([np.abs(ranks - exact).sum() / 2 for ranks in found])
                share = np.mean([len(top & set(np.argsort(-ranks)[: len(top)].tolist())) / len(top) for ranks in found])
                cells.append(f"{distance:.3f}, {share:.2f}")
            lines.append(f"| {name} | {epsilon:g} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    (RESULTS / "pagerank.md").write_text("# PageRank from private releases\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
