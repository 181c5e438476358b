"""One leading eigenvector, released purely, better than Gaussian products; whether degrees are close to it."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.inputs.graphs import open_graph
from dpgraph.releases.eigenspaces.power_method import release_low_rank_adjacency
from dpgraph.releases.eigenspaces.vector import DegreeResidual, release_degree_residual, release_leading_vector
from dpgraph.tuning import RESIDUAL
from tests.calls import edge_call

FLAT = 1e9  # so much regularization that every vertex is normalised alike


def pure(graph, epsilon, rng):
    close = DegreeResidual(quotient=1.0, is_large=False)
    return release_leading_vector(graph, close, edge_call(epsilon, rng), regularization=FLAT)


def gaussian(graph, epsilon, rng):
    call = edge_call(epsilon, rng, delta=1e-6)
    return release_low_rank_adjacency(graph, 1, call, regularization=FLAT, denoise=True)


def sine(A, released):
    exact = eigsh(A.astype(float), k=1, v0=np.ones(A.shape[0]))[1][:, 0]
    return np.sqrt(max(1 - float(exact @ released.basis[:, 0]) ** 2, 0.0))


@pytest.mark.parametrize("name", [pytest.param("fb100-Rice31", marks=pytest.mark.slow), "fb100-Caltech36", "wiki-Vote"])
@pytest.mark.parametrize("epsilon", [1.0, pytest.param(4.0, marks=pytest.mark.slow)])
def test_it_is_closer_to_the_truth_than_gaussian_products(name, epsilon, graphs_dir):
    A, _ = dpgraph.datasets.read_sparse(graphs_dir / f"{name}.txt.gz")
    graph = open_graph(A).read()
    errors = [np.mean([sine(A, release(graph, epsilon, seed)) for seed in range(4)]) for release in (pure, gaussian)]
    assert errors[0] < 0.8 * errors[1]


@pytest.mark.parametrize(("epsilon", "products"), [(0.25, 2), (2.0, 5)])
def test_the_call_is_pure_and_one_line_pays_for_all_products(epsilon, products):
    private = dpgraph.private_normalized_adjacency(
        nx.gnp_random_graph(800, 0.3, seed=1), epsilon=epsilon, delta=1e-6, rank=1, mechanism="noisy-power", rng=0
    )
    total, length, quotient, *residual, degrees, line, core = private.privacy.entries
    assert [e.name for e in (total, degrees, core)] == ["total weight", "degrees", "core"]
    assert [e.name for e in (length, quotient)] == ["squared length of degrees", "quotient of degrees"]
    assert [e.name for e in residual] == ["squared residual of degrees"] * (epsilon > 1)  # noise would hide it
    assert (line.name, line.mechanism) == (f"{products} products", "K-norm")
    assert 2.0 <= line.sensitivity < 2.0002  # rounding to the grid of the noise is paid for
    assert sum(entry.epsilon for entry in private.privacy.entries) == pytest.approx(epsilon)
    assert (private.privacy.delta, private.privacy.mu, private.mechanism) == (0.0, None, "noisy-power")


def test_an_accountant_pays_no_delta_even_where_the_residual_of_the_degrees_decides():
    accountant = dpgraph.PrivacyAccountant(epsilon=4.0)
    graph = nx.random_regular_graph(20, 600, seed=0)
    options = {"rank": 1, "mechanism": "auto", "rng": 0, "accountant": accountant}
    private = dpgraph.private_normalized_adjacency(graph, epsilon=4.0, delta=1e-6, **options)
    assert private.privacy.entries[1].name == "squared length of degrees"
    assert sum(entry.epsilon for entry in private.privacy.entries) == pytest.approx(4.0, rel=0.011)
    assert (accountant.spent.epsilon, accountant.spent.delta) == (pytest.approx(4.0), 0.0)


def test_with_hardly_any_noise_it_finds_the_eigenvector_and_its_eigenvalue():
    A, _ = planted_cut_sparse(300, 60, -0.2, rng=0)
    released = pure(open_graph(A).read(), 1e6, 0)
    assert sine(A, released) < 1e-3
    assert released.core[0, 0] * FLAT == pytest.approx(eigsh(A.astype(float), k=1)[0][0], rel=1e-2)


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
