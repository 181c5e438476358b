"""A user's program that type checkers accept: one call of every kind, and what its result offers. It is never run."""

from pathlib import Path

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from dpgraph import FileAccountant, PrivacyAccountant, PrivateCutResult, datasets, evaluate, private_max_cut, strategies
from dpgraph.interfaces.networkx.private_graph import PrivateGraph
from dpgraph.typing import FloatArray, GraphLike


def cut_of(G: GraphLike, accountant: PrivacyAccountant) -> PrivateCutResult:
    """Cut any graph."""
    return private_max_cut(G, epsilon=1.0, mechanism="bounded-iterates", accountant=accountant)


def graphs() -> None:
    """Pass every kind of graph, under one budget."""
    with PrivacyAccountant(epsilon=4.0, delta=1e-6) as accountant:
        found = cut_of(nx.path_graph(4), accountant)
        cut_of(np.eye(4), accountant)
        cut_of(sparse.csr_array(np.eye(4)), accountant)
        cut_of(PrivateGraph(nx.path_graph(4)), accountant)
        cut_of(dpgraph.edge_frame(Path("edges.parquet"), nodes=4), accountant)
        cut_of(dpgraph.with_public_nodes(nx.path_graph(4), range(4)), accountant)
        cut_of(datasets.planted_cut(600, 100, -0.8, rng=0), accountant)
    left, right = found.partition
    value: float = found.estimated_value + len(left) + len(right) + accountant.spent.epsilon
    print(value, found.privacy.epsilon, evaluate.cut_value(np.eye(4), found))


def options() -> None:
    """Set options of strategies, which are classes of their own."""
    spectral: strategies.Coherence = strategies.Coherence(rank=4, regularization="auto")
    G = datasets.planted_cut(600, 100, -0.8, rng=0)
    private_max_cut(G, epsilon=1.0, delta=1e-6, mechanism=spectral)
    dpgraph.private_max_k_cut(G, 3, epsilon=1.0, mechanism=strategies.BoundedIterates())
    dpgraph.private_max_2csp(dpgraph.TwoCSP(3, 2), epsilon=1.0, adjacency="edge", mechanism="randomized-response")
    dpgraph.private_communities(G, epsilon=1.0, communities=3)
    counts: dict[str, int] = dpgraph.private_subgraph_counts(G, epsilon=1.0, mechanism="ladder").counts
    embedding = dpgraph.private_normalized_adjacency(G, epsilon=1.0, delta=1e-6, rank=2, mechanism="auto")
    basis: FloatArray = embedding.basis
    print(counts, basis)


def records(X: FloatArray) -> None:
    """Release statistics of records."""
    covariance = dpgraph.private_covariance(X, epsilon=1.0, max_norm=1.0, mechanism=strategies.WishartDifference())
    dpgraph.private_marginals([[0, 1], [1, 0]], 2, epsilon=1.0)
    dpgraph.private_linear_queries(np.eye(3), [1.0, 2.0, 3.0], epsilon=1.0, mechanism="laplace")
    dpgraph.private_eigenspace(X, 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, mechanism="noisy-power")
    dpgraph.save_result(covariance, "covariance.npz")


def budgets() -> None:
    """Keep a budget in a file, and catch what may be raised."""
    try:
        dpgraph.private_degrees(nx.path_graph(4), epsilon=1.0, accountant=FileAccountant("budget.db"))
    except dpgraph.BudgetExceededError as error:
        print(error)
    except dpgraph.exceptions.MechanismHalted as halt:
        print(halt.privacy)
    print(dpgraph.__version__, dpgraph.cosine_sensitivity, dpgraph.sos.lasserre)
