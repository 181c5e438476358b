"""One leading eigenvector, released purely: what it costs, and that it is better than Gaussian products."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.denoise.products import Products, average, capped_posterior, posterior
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.eigenspaces.power_method import release_low_rank_adjacency
from dpgraph.releases.eigenspaces.vector import DegreeResidual, release_degree_residual, release_leading_vector

FLAT = 1e9  # so much regularization that every vertex is normalised alike


BUDGET = {"accountant": None, "relation": Edge()}


def pure(graph, epsilon, rng):
    call = open_call(epsilon=epsilon, noise=noise_source(rng), **BUDGET)
    close = DegreeResidual(quotient=1.0, is_large=False)
    return release_leading_vector(graph, close, call, regularization=FLAT, denoise=True)


def gaussian(graph, epsilon, rng):
    call = open_call(epsilon=epsilon, delta=1e-6, noise=noise_source(rng), **BUDGET)
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


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_the_matrix_comes_closer_to_the_adjacency_matrix_as_noise_falls(epsilon):
    private = dpgraph.private_normalized_adjacency(
        nx.gnp_random_graph(300, 0.3, seed=1), epsilon=epsilon, rank=1, mechanism="noisy-power", rng=0
    )
    assert private.regularization == pytest.approx({0.25: 16, 1.0: 32, 4.0: 64}[epsilon] * 0.3 * 299, rel=0.1)


@pytest.mark.parametrize(("epsilon", "products"), [(0.25, 2), (1.0, 4), (2.0, 6), (100.0, 24)])
def test_the_call_is_pure_and_one_line_pays_for_all_products(epsilon, products):
    private = dpgraph.private_normalized_adjacency(
        nx.gnp_random_graph(800, 0.3, seed=1), epsilon=epsilon, delta=1e-6, rank=1, mechanism="noisy-power", rng=0
    )
    total, length, quotient, *maybe, degrees, line, core = private.privacy.entries
    assert [e.name for e in (total, degrees, core)] == ["total weight", "degrees", "core"]
    assert [e.name for e in (length, quotient)] == ["squared length of degrees", "quotient of degrees"]
    assert [e.name for e in maybe] == ["squared residual of degrees"] * (epsilon >= 2)
    assert (line.name, line.mechanism) == (f"{products} products", "K-norm")
    assert 1.0 <= line.sensitivity < 1.0001  # rounding to the grid of the noise is paid for
    asked = sum(entry.epsilon for entry in (total, length, quotient, *maybe))
    assert asked < min((0.029 if maybe else 0.017) * epsilon * (1 + 1e-9), 0.3)  # what is useful ends somewhere
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


@pytest.mark.parametrize(("group", "degree", "epsilon", "is_large"), [(0, 6, 2.5, False), (120, 5, 3.5, True)])
def test_in_a_sparse_graph_the_vector_is_hidden_unless_degrees_are_even(group, degree, epsilon, is_large):
    G = nx.fast_gnp_random_graph(6000, degree / 6000, seed=0)
    G.add_edges_from(nx.gnp_random_graph(group, 0.5, seed=0).edges)
    graph = open_graph(G).read()
    mean = float(graph.degrees().mean())
    for seed in range(10):
        call = open_call(epsilon=epsilon, noise=noise_source(seed), **BUDGET)
        assert release_degree_residual(graph, mean, call).is_large == is_large


def test_with_hardly_any_noise_it_finds_the_eigenvector_and_its_eigenvalue():
    A, _ = planted_cut_sparse(300, 60, -0.2, rng=0)
    released = pure(open_graph(A).read(), 1e6, 0)
    assert sine(A, released) < 1e-3
    assert released.core[0, 0] * FLAT == pytest.approx(eigsh(A.astype(float), k=1)[0][0], rel=1e-2)


def products_of(matrix, iterations, noise, seed=0):
    """Products of a diagonal matrix with iterates from all ones."""
    rng = np.random.default_rng(seed)
    Q = np.ones((len(matrix), 1)) / np.sqrt(len(matrix))
    seen = Products(Q, iterations)
    for _ in range(iterations):
        seen.add(matrix[:, None] * Q + noise * rng.normal(size=Q.shape), noise**2)
        seen.improve(0.1)
        Q = seen.basis()
    return seen


@pytest.mark.parametrize(("second", "noise", "averages"), [(0.0, 0.02, True), (0.9, 1e-4, False)])
def test_products_are_averaged_where_noise_is_more_than_what_was_not_yet_found(second, noise, averages):
    matrix = np.r_[1.0, second, np.zeros(398)]
    seen = products_of(matrix, 8, noise)
    last = seen.coefficients
    before = np.linalg.norm(seen.basis()[1:])
    average(seen, np.ones(400))
    assert np.array_equal(last, seen.coefficients) != averages
    assert np.linalg.norm(seen.basis()[1:]) <= before


def one_product(truth, noise):
    """The public product of a matrix of rank one with its eigenvector, and what is known of the noise of the next."""
    rng = np.random.default_rng(1)
    truth = truth[:, None] / np.linalg.norm(truth)
    seen = Products(truth, 2)
    seen.add(truth + noise * rng.normal(size=truth.shape), noise**2)
    seen.improve(0.1)
    return seen, truth


def cosine(truth, x):
    return abs(float(np.sum(truth * x))) / np.linalg.norm(x)


def test_posterior_means_find_a_vector_on_a_small_group():
    seen, truth = one_product(np.r_[np.random.default_rng(0).uniform(0.5, 1.0, size=20), np.zeros(1980)], 0.015)
    assert cosine(truth, seen.basis()) == pytest.approx(1 / np.sqrt(1 + 2000 * 0.015**2), rel=0.02)
    assert cosine(truth, posterior(seen, np.ones(2000), 0.0)) > 0.99


@pytest.mark.parametrize(("variance", "largest"), [(1e-9, (0.9, 1.1)), (1e-3, (0.3, 0.7))])
def test_long_rows_are_cut_off_as_far_as_the_noise_of_the_next_product_is_worth_it(variance, largest):
    degrees = np.random.default_rng(0).pareto(2.5, size=2000) + 0.5
    seen, truth = one_product(degrees, 0.002)
    x = capped_posterior(seen, np.ones(2000), variance)
    low, high = largest
    assert low < np.abs(x).max() / truth.max() < high
    assert np.linalg.norm(x) == pytest.approx(1.0)
    assert cosine(truth, x) > 0.95
