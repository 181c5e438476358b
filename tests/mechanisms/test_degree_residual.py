"""Whether degrees are close to the leading eigenvector is told for a few hundredths of epsilon, or not at all."""

import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.inputs.graphs import open_graph
from dpgraph.releases.eigenspaces.vector import release_degree_residual
from dpgraph.tuning import RESIDUAL
from tests.calls import edge_call


def residual(matrix, epsilon, rng=0, **public):
    graph, call = open_graph(matrix, **public).read(), edge_call(epsilon, rng)
    return release_degree_residual(graph, float(graph.degrees().mean()), call), call.ledger.entries


def exact(A):
    """The squared tangent between clipped degrees and their product, as far as it is not clipped, and the quotient."""
    d = np.asarray(A.sum(axis=1)).ravel()
    h = np.minimum(d / (RESIDUAL.cap * d.mean()), 1.0)
    product = A @ h
    quotient = h @ product / (h @ h)
    clipped = np.minimum(np.abs(product / quotient - h), RESIDUAL.limit)
    return np.sum(clipped**2) / (h @ h), quotient


@pytest.mark.parametrize(
    ("name", "is_large"),
    [
        ("facebook_combined", True),
        ("ca-AstroPh", True),
        ("fb100-Harvard1", False),
        ("fb100-Rice31", False),
        ("wiki-Vote", False),
    ],
)
def test_it_tells_where_the_leading_eigenvector_hides_on_a_group(name, is_large, graphs_dir):
    A, _ = dpgraph.datasets.read_sparse(graphs_dir / f"{name}.txt.gz")
    tangent, quotient = exact(A.astype(float))
    assert tangent > 0.065 if is_large else tangent < 0.035
    for seed in range(10):
        found, entries = residual(A, 2.0, seed)
        assert found.is_large == is_large
        assert found.quotient == pytest.approx(quotient, rel=0.15)
        assert sum(entry.epsilon for entry in entries) <= 2.0 * 3 * RESIDUAL.share * (1 + 1e-9)


def clique_and_star(n):
    """A clique of n vertices, and a star of 3 n that raises the degree of none of them."""
    A = sparse.lil_array((4 * n, 4 * n))
    A[:n, :n] = 1.0
    A[n, n + 1 :] = 1.0
    A.setdiag(0.0)
    return sparse.csr_array(A).maximum(sparse.csr_array(A).T)


def test_where_the_noise_hides_the_answer_it_is_not_said_to_be_large():
    assert not any(residual(clique_and_star(30), 0.5, seed)[0].is_large for seed in range(5))
