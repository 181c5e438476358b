"""Synthetic graphs, judged as the literature does (PrivGraph, USENIX Security 2023, section 5).

``python benchmarks/synthetic_graphs.py`` writes benchmarks/results/synthetic_graphs.md: normalised mutual information
of Louvain communities of the drawn and of the true graph; relative errors of the modularity, of the transitivity and
of the number of edges; Kullback-Leibler divergence of the degree distributions; overlap of the one per cent of
vertices of largest eigenvector centrality; error of 1,000 random cut queries over sqrt(m n)/epsilon.
"""

from __future__ import annotations

import argparse
from functools import cached_property

import igraph
import networkx as nx
import numpy as np
from common import RESULTS
from scipy import sparse
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph.linalg.subgraphs import Subgraphs

GRAPHS = ("fb100-Caltech36", "ego-Facebook", "fb100-Rice31", "ca-HepTh")
EPSILONS = (0.5, 1.0, 2.0, 4.0)
RUNS = 5
MEASURES = ("NMI", "modularity", "transitivity", "edges", "degrees", "top 1 %", "cuts")


class Facts:
    """What a graph is judged by."""

    def __init__(self, A: sparse.csr_array) -> None:
        self.A, n = A, A.shape[0]
        upper = sparse.triu(A).tocoo()
        graph = igraph.Graph(n=n, edges=np.column_stack([upper.row, upper.col]))
        self.louvain = graph.community_multilevel()
        self.modularity = self.louvain.modularity
        subgraphs = Subgraphs(A.indptr, A.indices)
        self.transitivity = 3 * subgraphs.count("triangle") / max(subgraphs.count("wedge"), 1)
        self.degrees = np.diff(A.indptr)
        (self.eigenvalue,), vectors = eigsh(A, 1, v0=np.ones(n))
        self.top = set(np.argsort(-np.abs(vectors[:, 0]))[: max(n // 100, 1)].tolist())

    @cached_property
    def cuts(self) -> np.ndarray:
        """Edges across 1,000 random sets, the same for every graph of this size."""
        sides = np.random.default_rng(0).integers(0, 2, (self.A.shape[0], 1000)).astype(np.float32)
        return np.einsum("ik,ik->k", sides, self.A.astype(np.float32) @ (1 - sides))  # exact: integers below 2**24

    def judged(self, other: Facts, epsilon: float) -> tuple[float, ...]:
        """All measures of another graph beside this one."""
        n, m = self.A.shape[0], self.A.nnz / 2
        return (
            igraph.compare_communities(self.louvain.membership, other.louvain.membership, method="nmi"),
            abs(other.modularity / self.modularity - 1),
            abs(other.transitivity / self.transitivity - 1),
            abs(other.A.nnz / self.A.nnz - 1),
            divergence(self.degrees, other.degrees),
            len(self.top & other.top) / len(self.top),
            float(np.abs(self.cuts - other.cuts).mean() / (np.sqrt(m * n) / epsilon)),
        )


def divergence(degrees: np.ndarray, others: np.ndarray) -> float:
    """Kullback-Leibler divergence of the degree distributions; a degree that nobody has counts 0.01 vertices."""
    size, n = max(degrees.max(), others.max()) + 1, degrees.size
    p, q = (np.bincount(values, minlength=size) / n for values in (degrees, others))
    seen = p > 0
    return float(np.sum(p[seen] * np.log(p[seen] / np.maximum(q[seen], 0.01 / n))))


def adjacency(name: str) -> sparse.csr_array:
    graph = dpgraph.datasets.load(name)
    return sparse.csr_array(nx.to_scipy_sparse_array(graph, weight=None, dtype=float))


def measured(A: sparse.csr_array, true: Facts, epsilon: float, count: int = RUNS) -> np.ndarray:
    """Means of all measures over so many runs."""
    runs = []
    for seed in range(count):
        drawn = dpgraph.private_synthetic_graph(A, epsilon=epsilon, rng=seed).adjacency(seed)
        drawn.sort_indices()
        runs.append(true.judged(Facts(drawn), epsilon))
    return np.mean(runs, axis=0)


def table() -> list[str]:
    lines = [
        f"# Synthetic graphs\n\nMeans of {RUNS} runs, pure. Errors, but for NMI and the top 1 % (larger is better).",
        "",
        "| graph | epsilon | " + " | ".join(MEASURES) + " |",
        "| --- | --- | " + " | ".join("---" for _ in MEASURES) + " |",
    ]
    for name in GRAPHS:
        A = adjacency(name)
        true = Facts(A)
        for epsilon in EPSILONS:
            lines.append(
                f"| {name} | {epsilon:g} | " + " | ".join(f"{x:.3f}" for x in measured(A, true, epsilon)) + " |"
            )
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    (RESULTS / "synthetic_graphs.md").write_text("\n".join(table()) + "\n")


if __name__ == "__main__":
    main()
