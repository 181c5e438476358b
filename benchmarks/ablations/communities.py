"""Communities and synthetic graphs: what is simplified, and the calls that may feel it."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import igraph
import numpy as np
from scipy import sparse

import dpgraph
from benchmarks.ablations.harness import Ablation, Run, numbers
from benchmarks.ablations.inputs import Make, of, partition, real
from dpgraph import tuning
from dpgraph.linalg.subgraphs import Subgraphs


def as_igraph(A: sparse.csr_array) -> igraph.Graph:
    """The same graph."""
    upper = sparse.triu(A).tocoo()
    return igraph.Graph(A.shape[0], np.column_stack([upper.row, upper.col]).tolist())


class Exact:
    """What results are compared with: computed without privacy."""

    def __init__(self, A: sparse.csr_array) -> None:
        self.graph, self.degrees = as_igraph(A), np.diff(A.indptr)
        self.louvain = self.graph.community_multilevel()
        subgraphs = Subgraphs(A.indptr, A.indices)
        self.transitivity = 3 * subgraphs.count("triangle") / max(subgraphs.count("wedge"), 1)


@cache
def exact(make: Make, seed: int) -> Exact:
    """Of a graph of a call."""
    return Exact(make(seed))


def modularity(make: Make, epsilon: float, mechanism: Any = "bounded-iterates") -> Run:
    """Share of the modularity that Louvain finds without privacy."""

    def run(seed: int) -> float:
        found = dpgraph.private_communities(make(seed), epsilon=epsilon, mechanism=mechanism, rng=seed).labels
        of_graph = exact(make, seed)
        return float(of_graph.graph.modularity(found.tolist()) / of_graph.louvain.modularity)

    return run


def synthetic(make: Make, epsilon: float) -> Run:
    """Mean agreement of a drawn graph: Louvain's communities, modularity, transitivity, degrees of vertices."""

    def run(seed: int) -> float:
        A, true = make(seed), exact(make, seed)
        drawn = dpgraph.private_synthetic_graph(A, epsilon=epsilon, rng=seed).adjacency(seed)
        drawn.sort_indices()
        other = Exact(drawn)
        errors = (
            other.louvain.modularity / true.louvain.modularity - 1,
            other.transitivity / true.transitivity - 1,
            np.abs(other.degrees - true.degrees).sum() / true.degrees.sum(),
        )
        same = igraph.compare_communities(true.louvain.membership, other.louvain.membership, method="nmi")
        return float(np.mean([same, *(1 - min(abs(error), 1.0) for error in errors)]))

    return run


EVEN, UNEVEN = of(partition, 800, 5, 30, 6, 0), of(partition, 1000, 8, 40, 6, 2.3)
LARGE, VOTES = of(partition, 2000, 12, 60, 8, 2.5), of(real, "wiki-Vote")
SWEPT = (
    modularity(EVEN, 0.8), modularity(EVEN, 2.0), modularity(UNEVEN, 0.7), modularity(UNEVEN, 2.5),
    modularity(LARGE, 0.7), modularity(LARGE, 2.0), modularity(VOTES, 2.0),
)  # fmt: skip
#: Between the two numbers of labels that the rule of randomised response counts for communities.
BETWEEN, MANY = of(partition, 700, 6, 45, 8, 0), of(partition, 500, 10, 40, 8, 0)
CHOSEN = modularity(BETWEEN, 1.8, "auto"), modularity(MANY, 2.2, "auto"), modularity(UNEVEN, 2.0, "auto")
DRAWN = (
    synthetic(EVEN, 1.0), synthetic(EVEN, 4.0), synthetic(UNEVEN, 1.0), synthetic(UNEVEN, 4.0), synthetic(LARGE, 1.0),
    synthetic(of(real, "ca-GrQc"), 2.0),
)  # fmt: skip

T = tuning
ABLATIONS: list[Ablation] = [
    numbers(T.COMMUNITIES, "0: none reads first", SWEPT, head=0.0),
    numbers(T.COMMUNITIES, "6", SWEPT, signal_per_label=6.0),
    numbers(T.COMMUNITIES, "25", SWEPT, signal_per_label=25.0),
    numbers(T.COMMUNITIES, "2, as a cut", (*SWEPT, *CHOSEN), least_labels=2),
    numbers(T.COMMUNITIES, "100", SWEPT, most_labels=100),
    numbers(T.COMMUNITIES, "0.2, as a synthetic graph", SWEPT, degree_share=0.2),
    numbers(T.COMMUNITIES, "1, as in the end", SWEPT, apart=1.0),
    numbers(T.COMMUNITIES, "0: all are swept", SWEPT, last=0.0),
    numbers(T.COMMUNITIES, "infinity: two sweeps", SWEPT, third_sweep=math.inf),
    numbers(T.COMMUNITIES, "infinity: no pair is answered", SWEPT, core_ratio=math.inf, head_ratio=math.inf),
    numbers(T.COMMUNITIES, "infinity: no pair beyond the head is answered", SWEPT, head_ratio=math.inf),
    numbers(T.COMMUNITIES, "0.005, as a total", SWEPT, block_share=0.005),
    numbers(T.SYNTHESIS, "0.12, as communities", DRAWN, degree_share=T.COMMUNITIES.degree_share),
    numbers(T.SYNTHESIS, "0.05 both, as elsewhere", DRAWN, number=0.05, tails=0.05),
    numbers(T.ANSWER_RULE, "as where they are not", CHOSEN, even_communities=T.COMMUNITIES.least_labels),
    numbers(T.ANSWER_RULE, "3, about", CHOSEN, edges_per_noise=3.0),
]  # fmt: skip
