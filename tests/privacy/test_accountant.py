"""No sequence of calls, threads, forks, copies or exceptions spends more than the budget."""

import asyncio
import contextvars
import copy
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpgraph.exceptions import BudgetExceededError, DPGraphError, InvalidParameterError
from dpgraph.privacy import PrivacyAccountant, gdp_delta, gdp_epsilon, gdp_mu
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.open_blocks import ambient_accountant
from dpgraph.privacy.relation import Edge
from dpgraph.privacy.report import Pairs
from tests.about import each
from tests.programs import forked

EDGE = Edge()


def call(epsilon, delta=1e-6, *, accountant=None, relation=EDGE, slack=0.0, seed=None, staged=False):
    """Open the ledger of one private call, as every mechanism does before it reads data."""
    noise = noise_source(seed)
    opened = open_call(
        epsilon=epsilon, delta=delta, accountant=accountant, relation=relation, noise=noise, slack=slack, staged=staged
    )
    return opened.ledger


def state(accountant):
    return accountant.spent, accountant.remaining, accountant.report()


def test_gaussian_calls_compose_along_the_exact_curve():
    accountant = PrivacyAccountant(epsilon=2.0, delta=1e-6)
    mus = [call(epsilon, 1e-6, accountant=accountant).mu for epsilon in (0.5, 0.7, 1.0)]
    assert accountant.spent.epsilon == pytest.approx(gdp_epsilon(math.hypot(*mus), 1e-6), rel=1e-9)
    assert accountant.spent.epsilon < 0.5 + 0.7 + 1.0  # adding epsilons would have refused the third call
    assert accountant.spent.delta == 1e-6


@settings(max_examples=100, deadline=None)
@given(st.floats(0.01, 100), st.floats(1e-12, 1e-2), st.lists(st.floats(0.05, 0.9), min_size=1, max_size=5))
def test_what_remains_can_always_be_spent_and_never_more(epsilon, delta, shares):
    accountant = PrivacyAccountant(epsilon=epsilon, delta=delta)
    for share in shares:
        left = accountant.remaining
        assume(left.epsilon > 0)  # when delta alone pays for what is left, no epsilon can be named
        call(left.epsilon * share, left.delta, accountant=accountant)
    left = accountant.remaining
    assume(left.epsilon > 0)
    with pytest.raises(BudgetExceededError):
        call(left.epsilon * 1.01, left.delta, accountant=accountant)
    call(left.epsilon, left.delta, accountant=accountant)
    mu = accountant.report().mu
    assert gdp_delta(mu, epsilon) <= delta * (1 + 1e-5)
    assert gdp_delta(mu, epsilon) >= delta * (1 - 1e-5)


def test_pure_calls_add_up_and_ignore_delta():
    accountant = PrivacyAccountant(epsilon=1.0)
    for _ in range(10):
        call(0.1, 0.0, accountant=accountant)
    assert accountant.spent == pytest.approx((1.0, 0.0))
    assert accountant.report().mu is None
    with pytest.raises(BudgetExceededError):
        call(0.001, 0.0, accountant=accountant)


def test_a_pure_budget_has_no_room_for_a_gaussian_call():
    accountant = PrivacyAccountant(epsilon=1.0)
    with pytest.raises(BudgetExceededError):
        call(1e-3, 1e-12, accountant=accountant)
    assert accountant.spent == (0.0, 0.0)


@each("pure_first", [True, False], parts=2)
def test_a_mix_of_pure_and_gaussian_calls_is_at_least_as_strict_as_the_truth(pure_first):
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    kinds = [(0.3, 0.0), (0.6, 1e-6)]
    for epsilon, delta in kinds if pure_first else kinds[::-1]:
        call(epsilon, delta, accountant=accountant)
    spent = accountant.spent
    truth = pld.from_randomized_response(2 / (1 + math.exp(0.3)), 2).compose(
        pld.from_gaussian_mechanism(1 / gdp_mu(0.6, 1e-6))
    )
    assert truth.get_delta_for_epsilon(spent.epsilon) <= spent.delta
    assert spent.epsilon == pytest.approx(0.9, rel=1e-6)
    with pytest.raises(BudgetExceededError):
        call(0.11, 0.0, accountant=accountant)
    call(0.1, 0.0, accountant=accountant)
    assert accountant.remaining == (0.0, 0.0)


def test_the_slack_of_good_events_is_added_to_delta_and_not_composed_away():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    call(0.5, 5e-7, slack=2e-7, accountant=accountant)
    call(0.2, 5e-7, slack=3e-7, accountant=accountant)
    report = accountant.report()
    assert report.delta_slack == pytest.approx(5e-7)
    assert gdp_delta(report.mu, accountant.spent.epsilon) + report.delta_slack <= 1e-6 * (1 + 1e-9)
    with pytest.raises(BudgetExceededError):
        call(1e-3, 6e-7, slack=5.5e-7, accountant=accountant)


def test_a_slack_that_eats_all_of_delta_still_leaves_a_readable_report():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    call(1e-3, 1e-6 * (1 + 5e-7), slack=1e-6, accountant=accountant)
    assert accountant.spent == (1.0, 1e-6)
    assert accountant.remaining == (0.0, 0.0)


@each("seed", range(12), parts=2)
def test_a_random_sequence_of_calls_never_loses_more_than_the_accountant_says(seed):
    """Against dp-accounting's privacy loss distribution, whose discretisation is pessimistic by at most 1 %."""
    rng = np.random.default_rng(seed)
    kinds = ("gaussian",) if seed < 6 else ("gaussian", "pure", "slack")
    accountant, truth, slack = PrivacyAccountant(epsilon=8.0, delta=1e-5), pld.identity(), 0.0
    for kind in rng.choice(kinds, rng.integers(2, 8)):
        epsilon = float(rng.uniform(0.1, 0.6))
        if kind == "pure":
            call(epsilon, 0.0, accountant=accountant)
            truth = truth.compose(pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2))
            continue
        share = 2e-7 if kind == "slack" else 0.0
        mu = call(epsilon, 1e-6, slack=share, accountant=accountant).mu
        truth, slack = truth.compose(pld.from_gaussian_mechanism(1 / mu)), slack + share
    spent = accountant.spent
    lost = truth.get_epsilon_for_delta(spent.delta - slack) if spent.delta > slack else truth.get_epsilon_for_delta(0)
    assert spent.epsilon >= lost * 0.99
    if seed < 6:  # the exact curve is known
        assert spent.epsilon == pytest.approx(lost, rel=0.01)


def test_a_refused_call_changes_nothing_and_says_what_is_left():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    call(0.9, accountant=accountant)
    before = state(accountant)
    with pytest.raises(BudgetExceededError, match=r"at most epsilon=0\.3959.*Nothing was released and nothing"):
        call(0.9, accountant=accountant)
    with pytest.raises(BudgetExceededError, match=r"at most epsilon=0\.1, "):  # a pure one
        call(0.3, 0.0, accountant=accountant)
    assert state(accountant) == before


def test_a_mechanism_cannot_record_more_than_was_debited():
    ledger = call(1.0)
    ledger.gaussian("first", sensitivity=1.0, mu=0.8 * ledger.mu)
    ledger.gaussian("second", sensitivity=1.0, mu=0.6 * ledger.mu)
    with pytest.raises(DPGraphError, match="exceeds the budget"):
        ledger.gaussian("third", sensitivity=1.0, mu=0.01 * ledger.mu)
    assert [entry.name for entry in ledger.report().entries] == ["first", "second"]
    assert sum(entry.share for entry in ledger.report().entries) == pytest.approx(1.0)


def test_a_gaussian_call_cannot_release_laplace_noise_or_undeclared_slack():
    ledger = call(1.0)
    with pytest.raises(DPGraphError):
        ledger.pure("degrees", mechanism="Laplace", sensitivity=2.0, epsilon=0.1)
    with pytest.raises(DPGraphError):
        ledger.good_event("minimum degree", 1e-9)


def test_lines_about_different_pairs_spend_the_same_budget_once():
    ledger = call(1.0, 0.0)
    ledger.pure("for all pairs", mechanism="Laplace", sensitivity=1.0, epsilon=0.25)
    ledger.pure("inside", mechanism="Laplace", sensitivity=1.0, epsilon=0.75, pairs=Pairs.INSIDE_CORE)
    scale = ledger.pure("outside", mechanism="Laplace", sensitivity=1.0, epsilon=0.75, pairs=Pairs.OUTSIDE_CORE)
    assert scale == pytest.approx(1 / 0.75)
    for pairs in (Pairs.ANY, Pairs.INSIDE_CORE, Pairs.OUTSIDE_CORE):
        with pytest.raises(DPGraphError, match="exceeds the budget"):
            ledger.pure("more", mechanism="Laplace", sensitivity=1.0, epsilon=0.01, pairs=pairs)
    report = ledger.report()
    assert [entry.share for entry in report.entries] == [0.25, 0.75, 0.0]
    assert "disjoint" in report.table()


def test_a_call_with_both_kinds_of_noise_is_charged_as_epsilon_and_delta():
    accountant = PrivacyAccountant(epsilon=2.0, delta=1e-6)
    call(1.0, 4e-7, slack=2e-8, staged=True, accountant=accountant)
    assert accountant.spent == (1.0, 4e-7)
    call(0.5, 4e-7, slack=2e-8, staged=True, accountant=accountant)
    with pytest.raises(BudgetExceededError):
        call(0.4, 4e-7, slack=2e-8, staged=True, accountant=accountant)
    call(0.4, 1e-7, accountant=accountant)
    assert accountant.spent.epsilon <= 2.0


def test_after_a_free_choice_a_gaussian_mechanism_gets_all_and_a_pure_one_what_is_left():
    ledgers = []
    for pure in (False, True):
        ledger = call(1.0, 1e-6, staged=True)
        ledger.stage(0.01).pure("choice", mechanism="Laplace", sensitivity=1.0, epsilon=0.01)
        ledgers.append((ledger, ledger.decide(pure)))
    (gaussian, rest), (whole, left) = ledgers
    assert rest.mu == gaussian.mu == pytest.approx(gdp_mu(1.0, 1e-6))
    assert (left.epsilon, left.delta) == (pytest.approx(0.99), 0.0)
    rest.gaussian("all", sensitivity=1.0, mu=rest.mu)
    left.pure("all", mechanism="Laplace", sensitivity=1.0, epsilon=left.epsilon)
    assert [entry.share for entry in gaussian.report().entries] == [0.0, pytest.approx(1.0)]
    assert [entry.share for entry in whole.report().entries] == [pytest.approx(0.01), pytest.approx(0.99)]
    for ledger in (gaussian, whole):
        with pytest.raises(DPGraphError):
            ledger.stage(0.001)


@each("stages", [(), (0.1,), (0.001, 0.001)], parts=2)
def test_a_choice_that_is_not_free_or_was_not_made_decides_nothing(stages):
    ledger = call(1.0, 1e-6, staged=True)
    for epsilon in stages:
        ledger.stage(epsilon).pure("choice", mechanism="Laplace", sensitivity=1.0, epsilon=epsilon)
    with pytest.raises(DPGraphError, match="internal error"):
        ledger.decide(True)


def test_a_pure_call_cannot_release_gaussian_noise():
    ledger = call(1.0, 0.0)
    with pytest.raises((DPGraphError, ZeroDivisionError)):
        ledger.gaussian("degrees", sensitivity=1.0, mu=0.1)
    assert ledger.report().entries == ()


@each("mu", [0.0, -0.1, math.nan], parts=2)
def test_a_release_without_a_positive_budget_is_an_error_not_a_free_release(mu):
    ledger = call(1.0)
    with pytest.raises((DPGraphError, ZeroDivisionError)):
        ledger.gaussian("free", sensitivity=1.0, mu=mu)
    assert ledger.report().entries == ()


def test_every_scale_that_is_handed_out_is_sensitivity_over_mu():
    ledger = call(1.0, slack=1e-7)
    assert ledger.gaussian("a", sensitivity=3.0, mu=0.05) == pytest.approx(3.0 / 0.05)
    grid = ledger.gaussian_on_grid("b", sensitivity=3.0, mu=0.05, count=4)
    assert grid.unit <= grid.scale / 1e4
    # Rounding 4 reals to the grid adds 2 units to the sensitivity.
    assert grid.scale == pytest.approx((3.0 + 2 * grid.unit) / 0.05 * (1 + 1e-6), rel=1e-12)
    assert all(e.scale >= e.sensitivity / e.mu for e in ledger.report().entries)


def test_the_report_of_a_call_is_its_guarantee():
    ledger = call(1.0, 1e-6, slack=2e-7, seed=0)
    report = ledger.report()
    assert (report.epsilon, report.delta, report.seeded) == (1.0, 1e-6, True)
    assert gdp_delta(report.mu, report.epsilon) + report.delta_slack <= report.delta
    assert gdp_delta(report.mu, report.epsilon) + report.delta_slack == pytest.approx(report.delta, rel=1e-6)
    assert "SEEDED" in report.table()
    assert pickle.loads(pickle.dumps(report)) == report


def test_inside_a_with_block_calls_are_charged_to_the_innermost_accountant():
    outer, inner, named = (PrivacyAccountant(epsilon=1.0, delta=1e-6) for _ in range(3))
    with outer:
        call(0.1)
        with inner:
            call(0.2)
            call(0.3, accountant=named)
        call(0.4)
    call(0.5)  # nobody's
    assert len(outer.report().entries) == 0  # nothing was released by these ledgers
    assert outer.spent.epsilon == pytest.approx(gdp_epsilon(math.hypot(gdp_mu(0.1, 1e-6), gdp_mu(0.4, 1e-6)), 1e-6))
    assert inner.spent.epsilon == pytest.approx(0.2)
    assert named.spent.epsilon == pytest.approx(0.3)
    assert ambient_accountant() is None


def test_the_same_accountant_can_be_entered_twice_and_stays_until_the_outer_end():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    with accountant:
        with accountant:
            call(0.1)
        assert ambient_accountant() is accountant
    assert ambient_accountant() is None


def test_blocks_that_do_not_nest_leave_each_its_own():
    first, second = (PrivacyAccountant(epsilon=1.0) for _ in range(2))

    def block(accountant):
        with accountant:
            yield

    one, other = block(first), block(second)
    next(one), next(other)
    one.close()
    assert ambient_accountant() is second
    other.close()
    assert ambient_accountant() is None


def test_a_thread_started_inside_a_with_block_is_charged_to_it():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    with accountant, ThreadPoolExecutor(2) as pool:
        list(pool.map(call, [0.1, 0.1, 0.1]))
    assert accountant.spent.epsilon == pytest.approx(gdp_epsilon(math.sqrt(3) * gdp_mu(0.1, 1e-6), 1e-6))


def test_a_thread_that_could_be_charged_to_two_open_blocks_is_told_to_choose():
    with PrivacyAccountant(epsilon=1.0, delta=1e-6) as outer, PrivacyAccountant(epsilon=1.0, delta=1e-6) as inner:
        with ThreadPoolExecutor(1) as pool:
            with pytest.raises(InvalidParameterError, match="pass accountant="):
                pool.submit(call, 0.1).result()
            pool.submit(contextvars.copy_context().run, call, 0.1).result()
        assert outer.spent.epsilon == 0
        assert inner.spent.epsilon == pytest.approx(0.1)


def test_one_accountant_entered_by_two_threads_closes_both_blocks():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    inside = threading.Barrier(2)

    def work(_):
        with accountant:
            inside.wait()
            call(0.1)
            inside.wait()
        return ambient_accountant()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    assert ambient_accountant() is None
    assert accountant.spent.epsilon == pytest.approx(gdp_epsilon(math.sqrt(2) * gdp_mu(0.1, 1e-6), 1e-6))


def test_tasks_of_one_event_loop_keep_their_own_blocks():
    accountants = [PrivacyAccountant(epsilon=1.0, delta=1e-6) for _ in range(3)]

    async def work(accountant, epsilon):
        with accountant:
            await asyncio.sleep(0)
            call(epsilon)
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(*(work(a, e) for a, e in zip(accountants, (0.1, 0.2, 0.3), strict=True)))

    asyncio.run(main())
    assert [a.spent.epsilon for a in accountants] == pytest.approx([0.1, 0.2, 0.3])


@each("duplicate", [copy.copy, copy.deepcopy, pickle.dumps], parts=2)
def test_a_budget_cannot_be_duplicated(duplicate):
    with pytest.raises(TypeError, match="copied or pickled"):
        duplicate(PrivacyAccountant(epsilon=1.0, delta=1e-6))


def test_a_forked_child_may_not_spend_the_parents_budget():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    assert "forked" in str(forked(lambda: call(0.1, accountant=accountant)))
    with accountant:
        assert "forked" in str(forked(lambda: call(0.1)))
    assert accountant.spent == (0.0, 0.0)


def test_a_child_forked_while_the_budget_is_being_charged_is_refused_and_does_not_hang():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    with accountant._lock:
        assert "forked" in str(forked(lambda: call(0.1, accountant=accountant)))


def test_the_text_form_shows_the_budget_and_nothing_of_the_data():
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    call(0.5, accountant=accountant)
    assert repr(accountant) == "PrivacyAccountant(epsilon=1, delta=1e-06, spent epsilon=0.5)"
    assert accountant.total == (1.0, 1e-6)
