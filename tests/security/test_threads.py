"""Many calls at once on one accountant spend what they spend one after another."""

import threading
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import pytest

import dpgraph
from dpgraph.exceptions import BudgetExceededError

CALLS = 400


def at_once(call):
    """Outcomes of many calls in 16 threads that start together."""
    barrier = threading.Barrier(16)

    def work(number):
        if number < 16:
            barrier.wait()
        try:
            return call(number)
        except BudgetExceededError:
            return None

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(work, range(CALLS)))


@pytest.mark.parametrize("in_file", [False, True])
def test_400_calls_at_once_spend_a_budget_for_100_once(tmp_path, in_file):
    kind = dpgraph.FileAccountant if in_file else dpgraph.PrivacyAccountant
    accountant = kind(*[tmp_path / "budget.db"] * in_file, epsilon=1.0)
    G = nx.path_graph(6)
    done = at_once(lambda _: dpgraph.private_degrees(G, epsilon=0.01, accountant=accountant))
    assert sum(result is not None for result in done) == 100
    assert accountant.spent.epsilon == pytest.approx(1.0)
    assert len(accountant.report().entries) == 100


def test_400_calls_at_once_inside_one_block_are_all_charged_to_it():
    G = nx.path_graph(6)
    with dpgraph.PrivacyAccountant(epsilon=10.0) as accountant:
        at_once(lambda _: dpgraph.private_degrees(G, epsilon=0.01))
    assert accountant.spent.epsilon == pytest.approx(4.0)


def test_threads_with_blocks_of_their_own_charge_their_own():
    G = nx.path_graph(6)

    def call(number):
        if number >= 100:
            return 0.75
        with dpgraph.PrivacyAccountant(epsilon=1.0) as mine:
            dpgraph.private_degrees(G, epsilon=0.25)
            dpgraph.private_degrees(G, epsilon=0.5)
        return mine.spent.epsilon

    assert set(at_once(call)) == {0.75}
    assert dpgraph.private_degrees(G, epsilon=0.25).privacy.epsilon == 0.25


def test_noise_of_calls_at_once_is_never_the_same():
    G = nx.empty_graph(6)
    values = at_once(lambda _: tuple(dpgraph.private_degrees(G, epsilon=0.01).values.tolist()))
    assert len(set(values)) == CALLS
