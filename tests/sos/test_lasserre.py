"""Exact moment relaxations and pseudo-distributions: known values, conditioning, correlations, rounding."""

import itertools
import signal
import threading

import networkx as nx
import numpy as np
import pytest

from dpgraph import sos
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.problems.csp.exact import max_2csp
from dpgraph.problems.cut.exact import max_bisection, max_cut
from dpgraph.sos.moments import relaxation
from dpgraph.sos.moments.pseudo_distribution import (
    PseudoDistribution,
    global_correlation,
    independent_rounding,
    local_correlation,
    monomials,
)
from dpgraph.sos.moments.relaxation import lasserre
from tests.about import each


def random_instance(seed, n=5, q=3):
    rng = np.random.default_rng(seed)
    instance = TwoCSP([f"v{i}" for i in range(n)], q)
    for u, v in itertools.combinations(range(n), 2):
        instance.add_constraints([[u, v]], rng.random((1, q, q)))
    return instance


def actual_distribution(instance, assignments, probabilities, degree):
    """Moments of a distribution over a few assignments."""
    q = instance.alphabet_size
    moments = {
        S: float(sum(p for x, p in zip(assignments, probabilities, strict=True) if all(x[i] == a for i, a in S)))
        for S in monomials(instance.n_variables, q, degree)
    }
    return PseudoDistribution(instance, degree, moments)


def random_distribution(seed, n=4, q=3, degree=2):
    rng = np.random.default_rng(seed)
    return actual_distribution(
        random_instance(seed, n, q), rng.integers(q, size=(6, n)), rng.dirichlet(np.ones(6)), degree
    )


@each(
    "graph, degree, value",
    [
        (nx.cycle_graph(5), 2, 25 / 8 + 5 * np.sqrt(5) / 8),
        (nx.cycle_graph(5), 4, 4.0),
        (nx.petersen_graph(), 2, 12.5),
        (nx.complete_graph(3), 2, 2.25),
        (nx.complete_graph(3), 4, 2.0),
        (nx.complete_graph(5), 2, 6.25),
        (nx.complete_graph(5), 4, 6.25),  # Laurent 2003: K_n needs degree n + 1
        (nx.complete_graph(5), 6, 6.0),
        (nx.complete_bipartite_graph(3, 4), 2, 12.0),
        (nx.cycle_graph(7), 4, 6.0),
    ],
    parts=2,
)
def test_max_cut_relaxations_have_their_known_values(graph, degree, value):
    relaxed = sos.lasserre(graph, degree)
    assert relaxed.value == pytest.approx(value, abs=1e-4)
    assert value - 1e-9 <= relaxed.upper_bound <= value + 1e-3


def test_full_degree_gives_the_optimum():
    for seed in range(4):
        instance = random_instance(seed, n=3, q=3)
        best = max(instance.value(np.array(x)) for x in itertools.product(range(3), repeat=3))
        relaxed = lasserre(instance, 6)
        assert relaxed.value == pytest.approx(best, abs=1e-5)
        assert best - 1e-9 <= relaxed.upper_bound <= best + 1e-4


def test_pair_probabilities_are_nonnegative_when_asked_for_and_tighten_the_value():
    instance = TwoCSP.from_networkx(nx.petersen_graph(), "max-k-cut", 3)
    plain, tight = lasserre(instance, 2), lasserre(instance, 2, nonnegative=True)
    assert plain.value == pytest.approx(50 / 3, abs=1e-4)
    assert tight.value == pytest.approx(15.0, abs=1e-4)
    pairs = [
        tight.expectation([(u, a), (v, b)]) for u, v in nx.petersen_graph().edges for a in range(3) for b in range(3)
    ]
    assert min(pairs) >= -1e-6
    assert min(plain.second_moments().ravel()) < -0.01


def test_moments_satisfy_the_label_constraints():
    pd = lasserre(random_instance(0, n=4), 4)
    for i in range(4):
        name = f"v{i}"
        assert pd.marginal(name).sum() == pytest.approx(1.0)
        assert pd.expectation([(name, 0), (name, 1)]) == 0.0
        assert pd.expectation([(name, 2), (name, 2)]) == pytest.approx(pd.marginal(name)[2])
    rest = [("v0", 1), ("v1", 2), ("v3", 0)]
    total = sum(pd.expectation([*rest, ("v2", a)]) for a in range(3))
    assert total == pytest.approx(pd.expectation(rest), abs=1e-9)
    assert np.linalg.eigvalsh(pd.second_moments())[0] >= -1e-6
    assert np.linalg.eigvalsh(pd.covariance())[0] >= -1e-6


def test_expectations_of_an_actual_distribution_are_its_probabilities():
    rng = np.random.default_rng(0)
    assignments, probabilities = rng.integers(3, size=(5, 4)), rng.dirichlet(np.ones(5))
    pd = actual_distribution(random_instance(1, n=4), assignments, probabilities, 4)
    for labels in itertools.product(range(3), repeat=4):
        expected = sum(p for x, p in zip(assignments, probabilities, strict=True) if tuple(x) == labels)
        assert pd.expectation([(f"v{i}", a) for i, a in enumerate(labels)]) == pytest.approx(expected, abs=1e-12)
    value = sum(p * pd.instance.value(x) for x, p in zip(assignments, probabilities, strict=True))
    assert pd.value == pytest.approx(value)


def test_conditioning_an_actual_distribution_is_conditional_probability():
    rng = np.random.default_rng(2)
    assignments, probabilities = rng.integers(3, size=(9, 4)), rng.dirichlet(np.ones(9))
    pd = actual_distribution(random_instance(1, n=4), assignments, probabilities, 3)
    for label in range(3):
        keep = assignments[:, 1] == label
        if not keep.any():
            continue
        conditioned = pd.condition("v1", label)
        share = probabilities[keep] / probabilities[keep].sum()
        expected = actual_distribution(pd.instance, assignments[keep], share, 2)
        assert conditioned.degree == 2
        np.testing.assert_allclose(conditioned.second_moments(), expected.second_moments(), atol=1e-12)


def test_operator_splitting_and_interior_points_agree_and_are_both_proven():
    G = nx.circulant_graph(9, [1, 2])
    values = [lasserre(G, 2, solver=solver) for solver in ("clarabel", "scs")]
    assert values[0].value == pytest.approx(values[1].value, rel=1e-4)
    assert all(v.value - 1e-3 <= v.upper_bound <= v.value + 1e-2 for v in values)


def test_what_a_pseudo_distribution_does_not_know_is_refused():
    pd = random_distribution(0)
    with pytest.raises(InvalidParameterError, match="degree 2"):
        pd.expectation([("v0", 0), ("v1", 0), ("v2", 0)])
    with pytest.raises(InvalidParameterError):
        pd.expectation([("v9", 0)])
    with pytest.raises(InvalidParameterError, match="no second moments"):
        pd.condition("v0", int(pd.marginal("v0").argmax())).covariance()
    with pytest.raises(InvalidParameterError, match="probability"):
        actual_distribution(TwoCSP(["v0", "v1"], 2), [(0, 0)], [1.0], 2).condition("v0", 1)
    with pytest.raises(InvalidParameterError, match="shape"):
        local_correlation(pd, np.eye(3))
    with pytest.raises(InvalidParameterError, match="weights"):
        global_correlation(pd, [1.0])
    with pytest.raises(InvalidParameterError, match="lower the degree"):
        lasserre(nx.path_graph(60), 4)


@each("options", [{"relaxation": "lasserre"}, {"relaxation": "admm"}, {"degree": 4, "seeds": 2}], parts=2)
def test_max_cut_by_moments_is_sandwiched_for_weights_of_either_sign(options):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 7))
        M = np.triu(rng.standard_normal((n, n)), 1)
        M += M.T
        x = np.array(list(itertools.product([-1.0, 1.0], repeat=n))).T
        best = 0.25 * (M.sum() - np.sum(x * (M @ x), axis=0)).max()
        result = max_cut(M, rng=seed, rounds=20, sweeps=10, **options)
        assert result.value == pytest.approx(best)
        assert result.upper_bound >= best - 1e-9
        assert result.relaxation_value <= result.trace[0].upper_bound + 1e-2
        if options.get("degree") == 4:
            assert result.upper_bound <= best + 0.05 * abs(M).sum()


def test_a_relaxation_says_whether_the_solver_stopped_before_it_was_accurate(monkeypatch):
    instance = random_instance(0, n=4)
    assert lasserre(instance, 4).status == "optimal"
    monkeypatch.setattr(relaxation, "_SPLITTING_STEPS", 5)
    stopped = lasserre(instance, 4, solver="scs")
    assert stopped.status != "optimal"
    assert stopped.upper_bound >= max_2csp(instance, rng=0).value


def test_conditioning_drops_the_variance_by_the_announced_amount():
    from dpgraph.sos.moments.rounding import expected_drops

    pd = random_distribution(11, n=4, q=3, degree=3)
    variance = np.sum(pd.marginals() * (1.0 - pd.marginals())) / 4
    for i in range(4):
        after = 0.0
        for a, p in enumerate(pd.marginals()[i]):
            if p > 1e-9:
                m = pd.condition(f"v{i}", a).marginals()
                after += p * np.sum(m * (1.0 - m)) / 4
        assert variance - after == pytest.approx(expected_drops(pd, np.full(4, 0.25))[i], abs=1e-12)


def test_global_correlation_of_independent_and_of_equal_variables():
    instance = TwoCSP(2, 2)
    uniform = actual_distribution(instance, list(itertools.product(range(2), repeat=2)), np.full(4, 0.25), 2)
    equal = actual_distribution(instance, [(0, 0), (1, 1)], np.full(2, 0.5), 2)
    # each of the four covariances of a pair is 1/4 in absolute value, where there is one
    assert global_correlation(uniform) == pytest.approx(2 * 0.25 * 4 / 16)
    assert global_correlation(equal) == pytest.approx(4 * 0.25 * 4 / 16)
    assert global_correlation(equal, [1, 0]) == pytest.approx(4 / 16)
    fixed = actual_distribution(instance, [(0, 1)], [1.0], 2)
    assert global_correlation(fixed) == 0.0


def test_independent_rounding_expects_the_value_minus_the_local_correlation():
    pd = random_distribution(3, n=5)
    rng = np.random.default_rng(0)
    values = np.array([pd.instance.value(independent_rounding(pd, rng)) for _ in range(4000)])
    expected = pd.value - local_correlation(pd, pd.instance)
    assert abs(values.mean() - expected) <= 4.0 * values.std() / np.sqrt(values.size)
    assert abs(values.mean() - pd.value) > 4.0 * values.std() / np.sqrt(values.size)  # the correction is seen
    M = pd.instance.label_extended_graph()
    assert local_correlation(pd, M) == pytest.approx(2.0 * local_correlation(pd, pd.instance))
    x_independent = np.outer(pd.marginals().ravel(), pd.marginals().ravel())
    assert M.multiply(x_independent).sum() == pytest.approx(2.0 * expected)


@each("seed", range(40), parts=2)
def test_local_correlation_is_bounded_by_global_correlation_and_the_spectrum(seed):
    """LC of C^(1/2) Y C^(1/2) <= (|Y_r|_F sqrt(GC) + (1 - 1/q) (sigma_{r+1}(Y) + max |Y_ii|)) sum(c)."""
    rng = np.random.default_rng(seed)
    n, q = 4 + seed % 3, 2 + seed % 2
    pd = random_distribution(seed, n, q)
    size = n * q
    Y = rng.standard_normal((size, size)) * rng.random() ** 3
    Y = Y + Y.T
    c = rng.random(n) + 0.1
    root = np.repeat(np.sqrt(c), q)
    correlation = local_correlation(pd, root[:, None] * Y * root)
    own = max(np.linalg.norm(Y[i * q : (i + 1) * q, i * q : (i + 1) * q], 2) for i in range(n))
    gc = global_correlation(pd, c)
    sigma = np.linalg.svd(Y, compute_uv=False)
    for r in range(size):
        rest = sigma[r] if r < size else 0.0
        bound = np.sqrt(np.sum(sigma[:r] ** 2)) * np.sqrt(gc) + (1.0 - 1.0 / q) * (rest + own)
        assert abs(correlation) <= bound * c.sum() + 1e-9


@pytest.mark.parametrize("solve", [max_cut, max_bisection])
def test_a_time_limit_that_is_over_leaves_the_trivial_bound(solve):
    G = nx.complete_graph(6)
    result = solve(G, degree=4, time_limit=1e-6, rng=0)  # it once looked for a proof for ever
    assert result.value <= result.upper_bound <= 15.0
    assert result.status == "bounded"


def test_a_relaxation_that_the_time_limit_cut_short_is_one_of_the_first_monomials(monkeypatch):
    G = nx.gnp_random_graph(6, 0.7, seed=1)
    best, build = max_cut(G).value, relaxation._MomentProblem.of
    whole = build(TwoCSP.from_networkx(G), 4, False).entries
    for looks in (1, 5, 9):
        seen = iter([False] * looks)
        with monkeypatch.context() as patch:
            patch.setattr(relaxation, "time_is_up", lambda seen=seen: next(seen, True))
            short = build(TwoCSP.from_networkx(G), 4, False)
        assert np.array_equal(short.entries, whole[: looks + 1, : looks + 1])
        monkeypatch.setattr(relaxation._MomentProblem, "of", lambda *_, short=short: short)
        assert best <= lasserre(G, 4).upper_bound <= G.number_of_edges() + 1e-9  # also if there is time to solve it


def test_no_step_is_begun_that_the_time_limit_would_wait_for(monkeypatch):
    solvers, G = [], nx.gnp_random_graph(12, 0.5, seed=0)  # 79 rows: a step of interior points takes almost a second
    for name in ("_by_splitting", "_by_interior_points"):
        solve = getattr(relaxation, name)
        monkeypatch.setattr(
            relaxation, name, lambda *args, name=name, solve=solve: solvers.append(name) or solve(*args)
        )
    for limit in (0.3, 30.0):
        result = max_cut(G, degree=4, time_limit=limit, gap_tol=1.0)
        assert result.upper_bound >= result.value
    assert solvers == ["_by_splitting", "_by_interior_points"]


def test_an_interrupt_of_operator_splitting_is_one():
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()  # SCS, which would take long, catches the signal
    with pytest.raises(KeyboardInterrupt):
        lasserre(nx.gnm_random_graph(30, 100, seed=3), 4, solver="scs")
    timer.join()
