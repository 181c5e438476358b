"""The same noise is not used twice under one budget: the difference of two releases would be private, exactly."""

import copy
import json
import pickle
import random
import subprocess
import sys
import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from randomgen import ChaCha
from sklearn.model_selection import GridSearchCV

import dpgraph
from dpgraph import FileAccountant, PrivacyAccountant
from dpgraph.__main__ import main
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.interfaces.networkx.private_graph import PrivateGraph
from dpgraph.privacy import streams
from dpgraph.privacy.noise import noise_source
from dpgraph.sklearn import PrivatePCA
from tests.programs import forked

G = nx.path_graph(5)
X = np.zeros((20, 3))
AGAIN = r"this seed.*earlier call under this accountant.*rng=None.*Nothing was released and nothing was spent"


@pytest.fixture(params=["memory", "file"])
def accountant(request, tmp_path):
    if request.param == "memory":
        return PrivacyAccountant(epsilon=9.0)
    return FileAccountant(tmp_path / "budget.db", epsilon=9.0)


def degrees(accountant, rng, graph=G):
    return dpgraph.private_degrees(graph, epsilon=1.0, accountant=accountant, rng=rng).values


def test_the_attack_the_difference_of_two_releases_with_one_seed_is_the_edge():
    more = G.copy()
    more.add_edge(0, 4)
    assert np.array_equal(degrees(None, 0, more) - degrees(None, 0), [1, 0, 0, 0, 1])


def default(seed):
    return np.random.default_rng(seed)


def advanced(seed):
    generator = np.random.default_rng(seed)
    generator.normal(size=3)
    return generator


def mersenne():
    return np.random.Generator(np.random.MT19937(5))


def chacha():
    return np.random.Generator(ChaCha(5))


TWICE = {
    "numbers": (lambda: 5, lambda: 5),
    "a number of numpy": (lambda: 5, lambda: np.int64(5)),
    "a number, then a generator": (lambda: 5, lambda: default(5)),
    "a generator, then a number": (lambda: default(5), lambda: 5),
    "two generators": (lambda: default(5), lambda: default(5)),
    # The second draws the same numbers, only later ones: they overlap.
    "a number, then a generator that has been used": (lambda: 5, lambda: advanced(5)),
    "other bit generators": (mersenne, mersenne),
    "bit generators of another package": (chacha, chacha),
}


@pytest.mark.parametrize("pair", TWICE)
def test_a_second_call_with_the_noise_of_the_first_is_refused_before_the_debit(pair, accountant):
    first, second = TWICE[pair]
    degrees(accountant, first())
    with pytest.raises(InvalidParameterError, match=AGAIN):
        dpgraph.private_communities(G, epsilon=2.0, accountant=accountant, rng=second())
    assert accountant.spent.epsilon == 1.0
    degrees(accountant, 6)
    degrees(accountant, None)
    degrees(accountant, None)
    assert accountant.spent.epsilon == 4.0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_generator_is_refused_also_when_it_has_been_used(duplicate, accountant):
    generator = default(5)
    earlier = duplicate(generator)
    degrees(accountant, generator)
    later = duplicate(generator)
    for copied in (earlier, later):
        with pytest.raises(InvalidParameterError, match=AGAIN):
            degrees(accountant, copied)
    degrees(accountant, generator)


def test_one_generator_may_be_used_for_all_calls_and_so_may_its_children(accountant):
    generator = default(5)
    for one in (generator, generator, *generator.spawn(2), np.random.Generator(np.random.MT19937(5))):
        degrees(accountant, one)
    assert accountant.spent.epsilon == 5.0


def test_a_generator_that_is_wound_back_is_refused(accountant):
    generator = default(5)
    state = generator.bit_generator.state
    degrees(accountant, generator)
    generator.bit_generator.state = state
    with pytest.raises(InvalidParameterError, match=AGAIN):
        degrees(accountant, generator)


def test_a_call_that_did_not_fit_has_not_used_its_seed(accountant):
    with pytest.raises(BudgetExceededError):
        dpgraph.private_degrees(G, epsilon=10.0, accountant=accountant, rng=5)
    degrees(accountant, 5)


def test_another_accountant_has_seen_no_seed_and_an_inner_block_is_one():
    with PrivacyAccountant(epsilon=1.0):
        degrees(None, 5)
        with PrivacyAccountant(epsilon=1.0), PrivacyAccountant(epsilon=2.0) as inner:
            degrees(None, 5)
            with pytest.raises(InvalidParameterError, match=AGAIN):
                degrees(None, 5)
    assert inner.spent.epsilon == 1.0


def test_a_file_remembers_seeds_for_other_processes_and_later_days(tmp_path):
    path = tmp_path / "budget.db"
    degrees(FileAccountant(path, epsilon=9.0), 5)
    code = f"""
import dpgraph, networkx as nx, numpy as np
shared = dpgraph.FileAccountant({str(path)!r})
for rng in (5, np.random.default_rng(5), 6):
    try:
        dpgraph.private_degrees(nx.path_graph(5), epsilon=1.0, accountant=shared, rng=rng)
        print("spent")
    except dpgraph.InvalidParameterError as error:
        print("earlier call" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "spent"]
    with pytest.raises(InvalidParameterError, match=AGAIN):
        degrees(FileAccountant(path), 6)


def test_a_forked_child_has_a_copy_of_the_generator(tmp_path):
    accountant, generator = FileAccountant(tmp_path / "budget.db", epsilon=9.0), default(5)
    degrees(accountant, generator)

    def later():
        generator.normal(size=3)
        return degrees(accountant, generator)

    assert "copy of this generator" in str(forked(later))


@pytest.mark.parametrize("make", [lambda: np.random.RandomState(5), lambda: default(5)])
def test_an_estimator_with_a_state_of_its_own_is_fitted_again(make, accountant):
    estimator = PrivatePCA(epsilon=1.0, accountant=accountant, random_state=make())
    estimator.fit(X).fit(X)
    assert accountant.spent.epsilon == 2.0


def test_a_grid_search_with_a_seed_is_refused_and_one_without_is_charged(accountant):
    def search(state):
        estimator = PrivatePCA(epsilon=0.5, accountant=accountant, random_state=state)
        grid = {"n_components": [1, 2]}
        return GridSearchCV(estimator, grid, cv=2, scoring=lambda *_: 1.0, error_score="raise", refit=False).fit(X)

    with pytest.raises(InvalidParameterError, match="cross-validation"):
        search(0)
    search(None)
    assert accountant.spent.epsilon == 0.5 + 4 * 0.5


@pytest.mark.parametrize("make", [lambda: 5, lambda: np.random.RandomState(5), lambda: random.Random(5)])
def test_the_networkx_backend_refuses_the_second_use_of_a_seed(make, accountant):
    def cut(seed):
        nx.approximation.randomized_partitioning(PrivateGraph(G), seed=seed, epsilon=1.0, accountant=accountant)

    cut(make())
    with pytest.raises(InvalidParameterError, match=AGAIN):
        cut(make())
    cut(None)
    cut(None)
    assert accountant.spent.epsilon == 3.0


def test_the_command_line_refuses_the_second_use_of_a_seed(tmp_path, capsys):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n2 3\n")
    path = tmp_path / "budget.db"
    FileAccountant(path, epsilon=9.0)
    run = ["--budget", str(path), "degrees", str(tmp_path / "g.txt"), "--epsilon", "1", "--seed"]
    assert [main([*run, seed]) for seed in ("5", "5", "6")] == [0, 2, 0]
    assert "earlier call under this accountant" in capsys.readouterr().err
    assert FileAccountant(path).spent.epsilon == 2.0


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(streams, "_warned", False)
    monkeypatch.setattr(streams, "_PROCESS", streams.UsedStreams())


def test_a_seed_that_is_used_twice_in_a_process_is_warned_of_once(unwarned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        degrees(None, 5)
        degrees(None, 6)
        degrees(None, None)
        degrees(PrivacyAccountant(epsilon=1.0), 7)
        assert not caught
        for _ in range(3):
            degrees(PrivacyAccountant(epsilon=1.0), 5)
            degrees(None, default(6))
    assert [one.category for one in caught] == [UserWarning]
    assert "shows private values exactly" in str(caught[0].message)


def test_where_warnings_are_errors_the_warning_comes_before_the_debit(unwarned):
    accountant = PrivacyAccountant(epsilon=9.0)
    degrees(None, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="noise of two private calls"):
            degrees(accountant, 5)
        assert accountant.spent.epsilon == 0.0
        degrees(accountant, 5)  # it has been said
    assert accountant.spent.epsilon == 1.0


def test_a_generator_that_tells_no_seed_is_known_by_its_state():
    def of(carry):
        source = SimpleNamespace(state={"words": np.arange(3), "inner": {"carry": carry}})
        return streams.stream_of(SimpleNamespace(bit_generator=source), lasting=True)

    used = streams.UsedStreams()
    used.add(of(1))
    assert used.have(of(1))
    assert not used.have(of(2))


def test_looking_at_a_generator_does_not_move_it():
    one, other = default(5), default(5)
    noise_source(one)
    assert one.bit_generator.state == other.bit_generator.state
    assert one.spawn(1)[0].bit_generator.state == other.spawn(1)[0].bit_generator.state


def test_a_file_holds_no_seed_as_it_is(tmp_path):
    path = tmp_path / "budget.db"
    degrees(FileAccountant(path, epsilon=9.0), 123456789123456789)
    assert b"123456789123456789" not in path.read_bytes()
    assert json.dumps(123456789123456789).encode("utf-16-le") not in path.read_bytes()
