"""No public choice leads to answers that are fair coins: below epsilon 1e-6 they are refused, or not chosen."""

import itertools

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.exact_sampling import LEAST_FLIP_EPSILON, flip_exponent
from dpgraph.problems.answer_rule import response_wins
from dpgraph.problems.driver import Facts
from dpgraph.problems.embedding.normalized_adjacency import choose_mechanism
from dpgraph.problems.embedding.strategies import EMBEDDINGS
from dpgraph.problems.labels import CUTS, choose_cut
from dpgraph.releases.answers import release_flipped_graph
from tests.about import each
from tests.calls import edge_call

#: The range of budgets ends at 1e-100: 1e-300 is refused whatever the mechanism.
EPSILONS = [1e-3, 1e-5, 1.01e-6, 1e-6, 1e-7, 1e-9, 1e-13, 1e-100, 1e-300]
ANSWERS = ("randomized-response",)
COMPLETE = nx.complete_graph(30)


def run(function, mechanism, epsilon, *arguments, **options):
    """Mechanism that ran, or "refused"; then nobody has been charged."""
    accountant = dpgraph.PrivacyAccountant(epsilon=1.0, delta=0.5)
    options = {"epsilon": epsilon, "delta": 1e-6, "mechanism": mechanism, "accountant": accountant, **options}
    try:
        result = function(*arguments, **options)
    except InvalidParameterError:
        assert accountant.spent.epsilon == 0.0
        return "refused"
    except dpgraph.MechanismHalted:
        return mechanism
    for value in vars(result).values():
        if isinstance(value, (float, np.ndarray)):
            assert np.isfinite(value).all()
    return result.mechanism


def check(ran, mechanism, epsilon):
    if epsilon < 1e-100:
        assert ran == "refused"
    elif epsilon < 1e-6:
        assert ran not in ANSWERS
        assert (ran == "refused") == (mechanism in ANSWERS)
    elif epsilon > 2e-6:
        assert ran != "refused"


@each("mechanism, epsilon", [(m, e) for m in CUTS.names if m != "permute-and-flip" for e in EPSILONS], parts=4)
def test_cuts(mechanism, epsilon):
    for seed in range(3 if mechanism == "auto" else 1):
        options = {"rng": seed, "on_halt": "fallback"}
        ran = run(dpgraph.private_max_cut, mechanism, epsilon, COMPLETE, **options)
        check(ran if ran != "data-independent" else mechanism, mechanism, epsilon)


@each("mechanism, epsilon, delta", list(itertools.product(EMBEDDINGS.names, EPSILONS, [1e-6, 1e-12])), parts=4)
def test_embeddings(mechanism, epsilon, delta):
    function = dpgraph.private_normalized_adjacency
    check(run(function, mechanism, epsilon, COMPLETE, rank=2, delta=delta, rng=0), mechanism, epsilon)


@each("mechanism, patterns", itertools.product(["ladder", "smooth"], ["edge", "triangle", ("edge", "3-star")]), parts=2)
def test_counts(mechanism, patterns):
    ran = [run(dpgraph.private_subgraph_counts, mechanism, e, COMPLETE, patterns) for e in np.geomspace(1e-7, 1e-3, 40)]
    assert set(ran) == {mechanism, "refused"}


@each("epsilon", [9.9e-7, 1e-9, 1e-13, 1e-100], parts=1)
def test_no_rule_chooses_answers_that_would_be_refused(epsilon):
    for n in (2, 21, 30, 1000):
        assert choose_cut(Facts(n, 1.0, epsilon)) in ("permute-and-flip", "bounded-iterates")
        for degree in (1.0, n - 1.0, 1e100):
            assert not any(response_wins(n, epsilon, degree, labels) for labels in (2, 3, 8))
        for rank, delta in ((1, 1e-6), (2, 1e-15), (4, 0.9)):
            assert choose_mechanism(n, rank, epsilon, delta, weighted=False) == "noisy-power"


def test_no_rule_leaves_answers_less_than_they_need():
    """Shares of the budget are taken off before the answers: a little above 1e-6 they would be refused."""
    for epsilon in np.geomspace(1e-6, 1.2e-6, 60):
        chosen = choose_cut(Facts(30, 1.0, epsilon))
        assert chosen == "bounded-iterates" or epsilon * 0.975 >= 1e-6
        assert choose_mechanism(4, 2, epsilon, 1e-15, weighted=False) == "noisy-power" or epsilon * 0.997 >= 1e-6


def test_the_one_function_that_answers_refuses_before_it_reads():
    graph = open_graph(COMPLETE).read()
    for epsilon in (1e-7, 1e-13):
        call = edge_call(epsilon)
        with pytest.raises(InvalidParameterError, match="fair coins"):
            release_flipped_graph(graph, call)
        assert not call.ledger.entries
    with pytest.raises(InvalidParameterError, match="fair coins"):
        flip_exponent(0.99 * LEAST_FLIP_EPSILON)
    with pytest.raises(InvalidParameterError):
        flip_exponent(float("nan"))
