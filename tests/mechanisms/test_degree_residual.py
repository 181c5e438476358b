"""Whether degrees are close to the leading eigenvector is told for a few hundredths of epsilon, or not at all."""

import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.eigenspaces.vector import release_degree_residual
from dpgraph.tuning import RESIDUAL


def residual(matrix, epsilon, rng=0, **public):
    graph, noise = open_graph(matrix, **public).read(), noise_source(rng)
    call = open_call(epsilon=epsilon, accountant=None, relation=Edge(), noise=noise)
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
        assert sum(entry.epsilon for entry in entries) <= 2.0 * sum(RESIDUAL.shares) * (1 + 1e-9)


def price(A, epsilon):
    return sum(entry.epsilon for entry in residual(A, epsilon)[1])


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 16.0])
def test_a_small_graph_pays_its_shares_and_a_large_one_only_for_what_is_useful(epsilon):
    small, large = (dpgraph.datasets.planted_cut_sparse(n, 20, -0.5, rng=0)[0] for n in (100, 20_000))
    assert price(small, epsilon) <= epsilon * sum(RESIDUAL.shares) * (1 + 1e-9)
    assert price(large, epsilon) < 0.1
    assert epsilon < 16 or price(large, 4 * epsilon) == pytest.approx(price(large, epsilon), rel=0.05)


def test_a_question_that_was_not_asked_costs_nothing():
    A = dpgraph.datasets.planted_cut_sparse(100, 20, -0.5, rng=0)[0]
    private = dpgraph.private_normalized_adjacency(A, epsilon=0.5, rank=1, mechanism="noisy-power", rng=0)
    names = [entry.name for entry in private.privacy.entries]
    assert "squared residual of degrees" not in names
    assert sum(entry.epsilon for entry in private.privacy.entries) == pytest.approx(0.5)


def clique_and_star(n):
    """A clique of n vertices, and a star of 3 n that raises the degree of none of them."""
    A = sparse.lil_array((4 * n, 4 * n))
    A[:n, :n] = 1.0
    A[n, n + 1 :] = 1.0
    A.setdiag(0.0)
    return sparse.csr_array(A).maximum(sparse.csr_array(A).T)


def test_where_the_noise_would_hide_the_answer_it_is_not_asked_for():
    found, entries = residual(clique_and_star(30), 0.5)
    assert [entry.name for entry in entries] == ["squared length of degrees", "quotient of degrees"]
    assert not found.is_large
