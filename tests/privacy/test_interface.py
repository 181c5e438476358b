"""What every private function does around its mechanism: debit, refuse, keep silent, say how it was made."""

import dataclasses
import inspect
import io
import logging
import pickle
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import BudgetExceededError, InvalidGraphError, InvalidParameterError, MechanismHalted
from dpgraph.interfaces.networkx.info import ANSWERED
from dpgraph.privacy import PrivacyAccountant
from tests.about import each
from tests.privacy.registry import ENTRIES, NetworkxEntry, of_each_strategy, public_private_functions
from tests.privacy.replay import assert_same

FUNCTIONS = public_private_functions()
STRATEGIES = of_each_strategy(ENTRIES)
EACH = each("entry", STRATEGIES)
EACH_WITH_DELTA = each("entry", [entry for entry in STRATEGIES if "delta" in inspect.signature(entry.code).parameters])
#: Large enough that no mechanism halts on the last input of its entry.
EPSILON = 1e4


@cache
def some_input(entry_label):
    """The first input of an entry, or the last (largest) one where the first halts."""
    entry = next(entry for entry in ENTRIES if entry.label == entry_label)
    with suppress(MechanismHalted):
        run(entry, entry.pairs[0][1])
        return entry.pairs[0]
    return entry.pairs[-1]


def run(entry, data, rng=0, epsilon=EPSILON, **more):
    return entry.call(data, rng=rng, epsilon=epsilon, **more)


def test_no_two_entries_share_a_row_of_the_audit():
    labels = [entry.label for entry in ENTRIES]
    assert len(set(labels)) == len(labels)


def test_every_public_private_function_is_entered_in_the_registry():
    assert {entry.function for entry in ENTRIES} == set(FUNCTIONS)


def test_every_function_of_the_networkx_backend_spends_a_budget_and_is_entered():
    assert set(ANSWERED) <= set(FUNCTIONS)
    here = set(ANSWERED) & set(nx.utils.backends._registered_algorithms)  # some are as new as networkx 3.6
    assert here == {e.function for e in ENTRIES if isinstance(e, NetworkxEntry)}


def test_every_exported_name_that_promises_privacy_is_a_function_that_spends_a_budget():
    assert {name for name in dpgraph.__all__ if name.startswith("private_")} <= set(FUNCTIONS)


@each("name", sorted(FUNCTIONS), parts=1)
def test_privacy_arguments_are_keyword_only_and_nothing_has_a_data_driven_default(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert parameters["epsilon"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["epsilon"].default is inspect.Parameter.empty
    # Functions of networkx have its positional `seed` instead, or no seed.
    for optional in ("accountant",) if name in ANSWERED else ("accountant", "rng"):
        assert parameters[optional].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[optional].default is None
    if "delta" in parameters:
        assert parameters["delta"].kind is inspect.Parameter.KEYWORD_ONLY


@each("name", sorted(set(FUNCTIONS) - set(ANSWERED)), parts=1)
def test_the_documentation_states_the_guarantee(name):
    text = inspect.getdoc(FUNCTIONS[name])
    for part in ("Parameters", "Returns", "Raises", "*Guarantee.*", "References", ">>>"):
        assert part in text, f"the docstring of {name} lacks {part}"


@EACH
def test_a_call_that_does_not_fit_is_refused_before_the_data_is_read(entry):
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    with pytest.raises(BudgetExceededError):
        run(entry, entry.poisoned, accountant=accountant, epsilon=2.0)
    assert accountant.spent == (0.0, 0.0)


@EACH
def test_a_call_that_fails_on_the_data_was_charged_and_is_not_refunded(entry):
    accountant = PrivacyAccountant(epsilon=3.0, delta=1e-6)
    with pytest.raises((InvalidGraphError, InvalidParameterError)):
        run(entry, entry.poisoned, accountant=accountant, epsilon=2.0)
    assert accountant.spent.epsilon == pytest.approx(2.0, rel=1e-6)


def assert_charged(accountant, report, epsilon):
    assert accountant.spent.epsilon == pytest.approx(epsilon, rel=1e-6)
    assert report.epsilon == epsilon
    assert report.delta <= 1e-6
    assert report.entries == accountant.report().entries


@EACH
def test_a_bad_argument_is_refused_by_name_and_costs_nothing(entry):
    accountant = PrivacyAccountant(epsilon=3.0, delta=1e-3)
    bad = [{"epsilon": 0.0}, {"epsilon": float("nan")}, {"accountant": 5}]
    # networkx reads the seed itself, and refuses a bad one in its own words.
    bad += [] if isinstance(entry, NetworkxEntry) else [{"rng": "seed"}]
    bad += [] if entry.pure else [{"delta": 1.0}]
    bad += [{key: value} for key in ("rank", "k") if key in entry.options for value in (0, -1, 10**6, 1.5, "many")]
    bad += [{"rank": value} for value in ("auto", 4) if entry.function == "private_coherence"]  # n = 4 has no gap
    if isinstance(entry.poisoned.public.get("sensitivity"), float):
        bad += [{"sensitivity": value} for value in (0.0, -1.0, float("nan"), float("inf"))]
    for change in bad:
        arguments = {"epsilon": 1.0, "rng": 0, "accountant": accountant} | change
        with pytest.raises(InvalidParameterError) as caught:
            entry.call(entry.poisoned, **arguments)
        assert next(iter(change)) in str(caught.value), f"{change}: {caught.value}"
        assert accountant.spent == (0.0, 0.0), f"{change} was refused after the debit"


@EACH_WITH_DELTA
def test_without_a_delta_a_call_is_pure_or_refused_by_name(entry):
    accountant = PrivacyAccountant(epsilon=2 * EPSILON, delta=1e-3)
    data = some_input(entry.label)[1]
    if refuses_zero(entry, data, accountant):
        assert accountant.spent == (0.0, 0.0), "refused after the debit"
    else:
        assert run(entry, data, delta=0.0).privacy.delta == accountant.spent.delta == 0.0


def refuses_zero(entry, data, accountant):
    try:
        run(entry, data, delta=0.0, accountant=accountant)
    except InvalidParameterError as error:
        return "delta" in str(error)
    return False


@EACH
def test_without_a_seed_the_noise_is_fresh_and_the_result_is_not_marked(entry):
    data = some_input(entry.label)[1]
    # Counts are integers: at the largest epsilon their noise rounds to 0. At the smaller ones some draws halt.
    assert any(draws_differ(entry, data, epsilon) for epsilon in (0.1, EPSILON, 1e-3))


def draws_differ(entry, data, epsilon):
    """Whether two of at most 10 unseeded results differ, leaving out those that halted."""
    released = []
    for _ in range(10):
        with suppress(MechanismHalted):
            released.append(run(entry, data, rng=None, epsilon=epsilon))
            assert not released[-1].privacy.seeded
            if not is_same(released[0], released[-1]):
                return True
    return False


def is_same(first, second):
    try:
        assert_same(first, second)
    except AssertionError:
        return False
    return True


@EACH
def test_a_silent_call_is_charged_and_its_frozen_result_is_pickled_and_that_of_explicit_defaults(
    entry, caplog, monkeypatch
):
    data = some_input(entry.label)[1]
    accountant, other = (PrivacyAccountant(epsilon=2 * EPSILON, delta=1e-6) for _ in range(2))
    result = silent(entry, data, caplog, monkeypatch, rng=5, accountant=accountant)
    assert_charged(accountant, result.privacy, EPSILON)
    again = run(entry, data, rng=np.random.default_rng(5), accountant=other, **defaults_of(entry, data))
    if entry.seedable:
        assert_same(result, again)
        assert result.privacy.seeded
        assert "seeded" in repr(result.privacy)
    else:  # without a seed the first releases must agree, not their noise, nor what comes of it
        assert_same(*(dataclasses.replace(one.privacy, entries=one.privacy.entries[:1]) for one in (result, again)))
    assert dataclasses.is_dataclass(result)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.privacy = None
    assert_same(pickle.loads(pickle.dumps(result)), result)
    assert len(repr(result)) < 400
    names = {line.name for line in result.privacy.entries}
    assert len(names) == len(result.privacy.entries), "every line of the ledger has its own name"


def defaults_of(entry, data):
    """Every argument that a call leaves out, with its default; the bound on weights of unweighted graphs is 1."""
    given = {entry.private, *data.public, *entry.options, "rng", "seed", "epsilon", "delta", "accountant"}
    parameters = inspect.signature(entry.code).parameters.values()
    defaults = {one.name: one.default for one in parameters if one.name not in given and one.default is not one.empty}
    of_graph = "sensitivity" not in entry.options and "sensitivity" not in data.public
    if "max_weight" in defaults and of_graph and defaults.get("weight") is None and "weight" not in entry.options:
        defaults["max_weight"] = 1.0
    return defaults


def silent(entry, data, caplog, monkeypatch, **more):
    """The result of a call that says nothing and leaves its input alone."""
    monkeypatch.setenv("DPGRAPH_DEBUG", "1")  # nothing warns, even where warnings are not kept quiet
    before = content(data.value)
    out, err = io.StringIO(), io.StringIO()
    with (
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
        caplog.at_level(logging.DEBUG, "dpgraph"),
    ):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="epsilon = .* protect nothing")  # of public numbers
        result = run(entry, data, **more)
    monkeypatch.delenv("DPGRAPH_DEBUG")
    assert (out.getvalue(), err.getvalue()) == ("", "")
    assert [record for record in caplog.records if record.name.startswith("dpgraph")] == []
    assert np.array_equal(content(data.value), before)
    return result


def content(value):
    return nx.to_numpy_array(value) if isinstance(value, nx.Graph) else np.array(value)


@EACH
def test_a_call_costs_what_it_says_and_a_halt_says_which_knob_to_turn(entry):
    halts = []
    for _, data, _ in entry.pairs[::8]:
        accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
        with accountant:
            try:
                report = run(entry, data, epsilon=0.1).privacy
            except MechanismHalted as halt:
                report = halt.privacy
                halts.append(halt)
        assert_charged(accountant, report, 0.1)
    for halt in halts:
        assert halt.stage
        assert "spent" in str(halt)
        assert any(knob in str(halt) for knob in ("epsilon", "rank", "regularization", "mechanism"))
    assert len({str(halt) for halt in halts}) <= 2, "the message of a halt depends on the data"
