"""Estimators for scikit-learn: its own checks, pipelines, clones, budgets, and no look at the data before the debit."""

import sys

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import dpgraph
from dpgraph.exceptions import BudgetExceededError, DPGraphError, InvalidParameterError
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.sklearn import PrivateCommunities, PrivatePCA, PrivateSpectralEmbedding

BLOCKS = nx.planted_partition_graph(3, 80, 0.4, 0.03, seed=1)
TRUTH = np.repeat([0, 1, 2], 80)
EACH = pytest.mark.parametrize("kind", [PrivateSpectralEmbedding, PrivateCommunities, PrivatePCA])

_SQUARE = "its table is no adjacency matrix, which is square and symmetric"
_VERTICES = "points belong to the vertices that were fitted, and are looked up by their labels, not by rows"
_DOOR = "private data enter by one door, which does not look into objects of unknown kinds before the debit"
_GRAPHS = {
    "check_complex_data": _SQUARE,
    "check_estimators_empty_data_messages": _SQUARE,
    "check_estimators_nan_inf": _SQUARE,
    "check_clustering": _SQUARE,
    "check_fit_idempotent": _SQUARE,
    "check_dtype_object": _DOOR,
    "check_transformer_data_not_an_array": _DOOR,
    "check_positive_only_tag_during_fit": "a negative weight is refused in other words",
    "check_n_features_in_after_fitting": _VERTICES,
    "check_methods_sample_order_invariance": _VERTICES,
    "check_methods_subset_invariance": _VERTICES,
    "check_fit2d_predict1d": _VERTICES,
}
#: Checks of scikit-learn that cannot hold, and why; docs/scikit-learn.md has them too.
CANNOT_HOLD = {
    PrivateSpectralEmbedding: _GRAPHS,
    PrivateCommunities: _GRAPHS,
    PrivatePCA: {
        "check_dtype_object": "an object that is no number is refused after the debit, in words that do not show it",
        "check_transformer_data_not_an_array": _DOOR,
    },
}


@EACH
def test_the_checks_of_scikit_learn_hold_except_those_that_cannot(kind):
    checks = check_estimator(kind(epsilon=1.0, random_state=0), on_fail=None, on_skip=None)
    failed = {check["check_name"] for check in checks if check["status"] == "failed"}
    assert failed <= CANNOT_HOLD[kind].keys()
    assert sum(check["status"] == "passed" for check in checks) >= 35


@EACH
def test_an_estimator_without_epsilon_cannot_be_made(kind):
    with pytest.raises(TypeError, match="epsilon"):
        kind()


@EACH
def test_a_clone_spends_the_same_budget_and_has_the_same_parameters(kind):
    accountant = PrivacyAccountant(epsilon=2.0)
    estimator = kind(epsilon=1.5, accountant=accountant)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.accountant is accountant
    data = np.zeros((10, 3)) if kind is PrivatePCA else BLOCKS
    copy.fit(data)
    with pytest.raises(BudgetExceededError):
        estimator.fit(data)
    assert accountant.spent.epsilon == pytest.approx(1.5)


@EACH
def test_an_enclosing_accountant_is_charged(kind):
    with PrivacyAccountant(epsilon=2.0) as accountant:
        fitted = kind(epsilon=0.5).fit(np.zeros((10, 3)) if kind is PrivatePCA else BLOCKS)
    assert accountant.spent.epsilon == pytest.approx(0.5)
    assert fitted.privacy_.epsilon == 0.5
    assert not fitted.privacy_.seeded


@pytest.mark.parametrize("state", [0, np.random.RandomState(0), np.random.default_rng(0)])
def test_a_random_state_of_any_kind_is_for_experiments_and_the_report_says_so(state):
    assert PrivatePCA(epsilon=1.0, random_state=state).fit(np.zeros((10, 3))).privacy_.seeded


def test_without_scikit_learn_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "dpgraph.sklearn")
    monkeypatch.delitem(vars(dpgraph), "sklearn", raising=False)
    with pytest.raises(DPGraphError, match=r"scikit-learn; install it with: pip install 'dpgraph\[sklearn\]'"):
        _ = dpgraph.sklearn


@pytest.mark.parametrize("form", [lambda G: G, nx.to_numpy_array, nx.to_scipy_sparse_array])
def test_a_pipeline_clusters_a_graph_of_any_form(form):
    embedding = PrivateSpectralEmbedding(3, epsilon=4.0, random_state=0)
    pipeline = make_pipeline(embedding, KMeans(3, n_init=10, random_state=0))
    graph = form(BLOCKS)
    labels = pipeline.fit_predict(graph)
    assert adjusted_rand_score(TRUTH, labels) > 0.9
    assert np.array_equal(pipeline.predict(graph), labels)
    assert embedding.embedding_.shape == (240, 3)


def test_the_dimension_of_the_points_may_be_chosen_by_the_release():
    embedding = PrivateSpectralEmbedding("auto", epsilon=4.0, random_state=0).fit(BLOCKS)
    assert embedding.embedding_.shape == (240, embedding.adjacency_.rank)


def test_points_of_other_orders_and_of_fewer_vertices_are_looked_up_and_cost_nothing():
    accountant = PrivacyAccountant(epsilon=1.0)
    fitted = PrivateSpectralEmbedding(epsilon=1.0, accountant=accountant, random_state=0).fit(BLOCKS)
    some = nx.Graph()
    some.add_nodes_from([7, 3])
    assert np.array_equal(fitted.transform(some), fitted.embedding_[[7, 3]])
    with pytest.raises(InvalidParameterError, match="1 others"):
        fitted.transform(nx.empty_graph(241))
    assert accountant.spent.epsilon == pytest.approx(1.0)


def records(n=20_000):
    return np.random.default_rng(0).normal(size=(n, 4)) * [0.05, 0.3, 0.1, 0.2] + [0.1, 0.0, 0.2, 0.0]


def test_components_variances_and_mean_come_close_to_those_without_privacy():
    X = records()
    private, exact = PrivatePCA(epsilon=20.0, max_norm=3.0, random_state=0).fit(X), PCA().fit(X)
    assert np.abs(np.abs(private.components_) - np.abs(exact.components_)).max() < 0.05
    assert np.allclose(private.explained_variance_, exact.explained_variance_, atol=2e-3)
    assert np.allclose(private.mean_, exact.mean_, atol=5e-3)
    assert private.explained_variance_ratio_.sum() == pytest.approx(1.0)


def test_scores_and_back():
    X = records(300)
    pca = PrivatePCA(epsilon=1.0, random_state=0).fit(X)
    assert np.allclose(pca.inverse_transform(pca.transform(X)), X)
    two = PrivatePCA(2, epsilon=1.0, random_state=0).fit(X)
    assert np.array_equal(two.components_, pca.components_[:2])
    assert two.transform(X).shape == (300, 2)
    with pytest.raises(InvalidParameterError, match="for 2 components; got 4 columns"):
        two.inverse_transform(X)


@pytest.mark.parametrize("components", [0, 5, 1.5, True])
def test_a_number_of_components_that_cannot_be_costs_nothing(components):
    accountant = PrivacyAccountant(epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="n_components"):
        PrivatePCA(components, epsilon=1.0, accountant=accountant).fit(records(10))
    assert accountant.spent.epsilon == 0.0


def test_entries_are_looked_at_after_the_debit_and_a_private_number_of_records_may_be_none():
    accountant = PrivacyAccountant(epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="NaN"):
        PrivatePCA(epsilon=1.0, accountant=accountant).fit(np.full((3, 2), np.nan))
    assert accountant.spent.epsilon == pytest.approx(1.0)
    none = PrivatePCA(epsilon=1.0, adjacency="add-remove", n_records=10).fit(np.zeros((0, 2)))
    assert none.components_.shape == (2, 2)


def test_a_frame_of_points_carries_the_vertices():
    G = nx.relabel_nodes(nx.planted_partition_graph(2, 30, 0.5, 0.05, seed=1), lambda v: f"n{59 - v}")
    points = PrivateSpectralEmbedding(2, epsilon=4.0).set_output(transform="pandas").fit_transform(G)
    assert list(points.index) == list(G)
    assert points.shape == (60, 2)
