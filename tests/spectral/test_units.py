"""Neither the unit of the weights nor the size of tau changes what the stability test certifies."""

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.bounds.stability import Tolerances
from dpgraph.exceptions import InvalidParameterError
from dpgraph.releases import normalized
from tests.spelling import spelled

n = 300
A = nx.to_numpy_array(dpgraph.datasets.planted_cut(n, 100, -0.8, rng=0))


def lines_of(weights, **options):
    function, options = dpgraph.private_normalized_adjacency, {"mechanism": "coherence", "rank": 2} | options
    private = function(weights, epsilon=8.0, delta=1e-6, rng=0, **spelled(function, options))
    return {line.name: line.sensitivity for line in private.privacy.entries}


def projector(tau):
    """Of rank two; a common factor of c changes nothing."""
    c = A.sum(axis=1) / max(tau, 1.0) + tau / max(tau, 1.0)
    values, vectors = np.linalg.eigh(A / np.sqrt(np.outer(c, c)))
    U = vectors[:, np.argsort(-np.abs(values))[:2]]
    return U @ U.T


def change_by_one_edge(tau):
    before = projector(tau)
    i, j = np.argsort(-np.diag(before))[:2]
    A[i, j] = A[j, i] = 1 - A[i, j]
    after = projector(tau)
    A[i, j] = A[j, i] = 1 - A[i, j]
    return float(np.linalg.norm(after - before))


@pytest.mark.parametrize("tau", [1e3, 1e6, 1e11, 1e19, 1e54, 1e60])
def test_a_huge_tau_does_not_shrink_the_noise_of_the_projector(tau, monkeypatch):
    # Refused by a public function; but what it refuses is not what keeps the guarantee.
    monkeypatch.setattr(normalized, "_LARGEST", 1e100)
    line = lines_of(A, regularization=tau)["projector"]
    assert change_by_one_edge(tau) < line < 1.2 * lines_of(A, regularization=1e4)["projector"]


def cut_with(A, regularization, **options):
    mechanism = dpgraph.strategies.Coherence(regularization=regularization)
    return dpgraph.private_max_cut(A, mechanism=mechanism, **options)


@pytest.mark.parametrize("call", [dpgraph.private_normalized_adjacency, cut_with])
@pytest.mark.parametrize("max_weight", [1e-3, 1.0, 1e90])
def test_a_tau_without_use_is_refused_before_the_debit(call, max_weight):
    budget = dpgraph.PrivacyAccountant(epsilon=10.0, delta=1e-3)
    options = {"epsilon": 8.0, "delta": 1e-6, "max_weight": max_weight, "accountant": budget}
    with pytest.raises(InvalidParameterError, match=r"regularization must be 'auto' or a number from 0 to .*1e\+09 n"):
        call(A * max_weight, regularization=1.01e9 * n * max_weight, **options)
    assert budget.spent.epsilon == 0


@pytest.mark.parametrize("exponent", [-320, 1, 320])
@pytest.mark.parametrize("options", [{}, {"coherence": "rank"}, {"certificate": "gap-and-coherence"}, {"tau": 300.0}])
def test_the_ledger_is_that_of_the_same_graph_in_another_unit(exponent, options):
    unit = 2.0**exponent
    options = dict(options)
    tau = options.pop("tau", None)
    ours, theirs = (
        lines_of(A * w, max_weight=w, **options, **({} if tau is None else {"regularization": tau * w}))
        for w in (1.0, unit)
    )
    assert list(ours) == list(theirs)
    for name in {"total weight", "degrees", "minimum degree"} & set(ours):
        assert theirs[name] == pytest.approx(ours[name] * unit, rel=1e-12)
    for name in set(ours) - {"total weight", "degrees", "minimum degree", "core"}:  # the core depends on a sign
        assert theirs[name] == pytest.approx(ours[name], rel=1e-3)


@pytest.mark.parametrize("tau", [1.0, 1e3, 1e9, 1e300])
@pytest.mark.parametrize("w", [1e-100, 1.0, 1e-3])
def test_speeds_of_a_state_depend_on_neither_unit(w, tau):
    """Where tau is much larger than all degrees, A_tau is the adjacency matrix over tau: speeds are those of that."""
    if tau * w > 1e300:
        return
    degrees = np.array([60.0, 90.0, 120.0]) * w
    relation = EdgeNeighbours(w, tau * w, tau * w, degrees)
    tolerances = Tolerances(0.02, 1e-6, 5e-3, 1e-6)
    state = relation.state(0.1 / np.sqrt(tau * w), 80.0, 20.0, relation.largest_degree).array()
    assert state == pytest.approx([80.0, 20.0, 0.1, 120.0])
    speeds = relation.rates(tolerances).speeds(state)
    assert np.all(np.isfinite(speeds))
    assert np.all(speeds > 0)
    if tau >= 1e9:
        reference = EdgeNeighbours(1.0, 1e12, 1e12, degrees / w).rates(tolerances)
        assert speeds == pytest.approx(reference.speeds(state), rel=1e-6)
        assert relation.rates(tolerances).projector(state) == pytest.approx(reference.projector(state), rel=1e-6)
