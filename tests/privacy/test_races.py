"""Two calls that reach the accountant at the same moment, on purpose: only one of them is debited.

Between reading what has been spent and writing the sum, each call waits for the other to have read it too. With the
lock the second one comes in after the first: the wait ends in vain, and the second is refused. The tests also run
without the lock, and then both are debited (or a file notices): the race is real.
"""

import contextlib
import multiprocessing
import sqlite3
import threading

import pytest

from dpgraph import FileAccountant, PrivacyAccountant
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.privacy import budget_schema
from dpgraph.privacy.call import open_call
from dpgraph.privacy.relation import Edge

PATIENCE = 0.3


def outcome(accountant, epsilon=0.75, noise=None):
    try:
        open_call(epsilon=epsilon, delta=0.0, accountant=accountant, relation=Edge(), noise=noise)
    except BudgetExceededError:
        return "refused"
    except InvalidParameterError as error:
        return "same seed" if "seed" in str(error) else "unusable"
    return "spent"


@pytest.fixture
def meet(monkeypatch):
    """Let two calls meet after they have found out what they may spend; the barrier is for threads or processes."""

    def install(barrier):
        honest = PrivacyAccountant._cost

        def cost(*arguments):
            try:
                return honest(*arguments)
            finally:
                with contextlib.suppress(threading.BrokenBarrierError):
                    barrier.wait(PATIENCE)

        monkeypatch.setattr(PrivacyAccountant, "_cost", cost)

    return install


def in_threads(work):
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(work())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


def _send(work, pipe):
    pipe.send(work())


def in_processes(work):
    context, ends = multiprocessing.get_context("fork"), []
    for _ in range(2):
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_send, args=(work, there))
        child.start()
        ends.append((child, here))
    outcomes = [here.recv() for _, here in ends]
    for child, _ in ends:
        child.join()
    return sorted(outcomes)


RUNS = {"threads": (in_threads, threading.Barrier), "processes": (in_processes, multiprocessing.Barrier)}
BOTH = pytest.mark.parametrize("where", RUNS)


def test_two_threads_that_meet_inside_the_accountant_spend_once(meet):
    accountant = PrivacyAccountant(epsilon=1.0)
    meet(threading.Barrier(2))
    assert in_threads(lambda: outcome(accountant)) == ["refused", "spent"]
    assert accountant.spent.epsilon == 0.75


def test_two_threads_with_one_seed_that_meet_inside_the_accountant_release_once(meet):
    accountant = PrivacyAccountant(epsilon=2.0)
    meet(threading.Barrier(2))
    assert in_threads(lambda: outcome(accountant, noise=5)) == ["same seed", "spent"]


def test_the_race_is_real_without_its_lock_the_budget_is_spent_twice(meet):
    accountant = PrivacyAccountant(epsilon=1.0)
    accountant._lock = contextlib.nullcontext()
    meet(threading.Barrier(2))
    assert in_threads(lambda: outcome(accountant)) == ["spent", "spent"]


@BOTH
def test_two_callers_that_meet_inside_a_budget_file_spend_once(where, meet, tmp_path):
    run, barrier = RUNS[where]
    accountant = FileAccountant(tmp_path / "budget.db", epsilon=1.0)
    meet(barrier(2))
    assert run(lambda: outcome(accountant)) == ["refused", "spent"]
    assert accountant.spent.epsilon == 0.75


@BOTH
def test_two_callers_with_one_seed_that_meet_inside_a_budget_file_release_once(where, meet, tmp_path):
    run, barrier = RUNS[where]
    accountant = FileAccountant(tmp_path / "budget.db", epsilon=2.0)
    meet(barrier(2))
    assert run(lambda: outcome(accountant, noise=5)) == ["same seed", "spent"]


class _WithoutLock(sqlite3.Connection):
    """A connection that never begins a transaction, so that each statement stands by itself."""

    def execute(self, sql, *parameters):
        return super().execute("SELECT 1" if sql in ("BEGIN IMMEDIATE", "COMMIT") else sql, *parameters)


@BOTH
@pytest.mark.parametrize("triggers", [True, False])
def test_the_race_is_real_without_the_lock_of_the_file(where, triggers, meet, monkeypatch, tmp_path):
    """The triggers alone would notice; without them the budget is spent twice."""
    run, barrier = RUNS[where]
    if not triggers:
        bare = tuple(line.replace("id INTEGER PRIMARY KEY", "id INTEGER") for line in budget_schema._SCHEMA)
        monkeypatch.setattr(budget_schema, "_SCHEMA", tuple(line for line in bare if "TRIGGER" not in line))
    accountant = FileAccountant(tmp_path / "budget.db", epsilon=1.0)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: connect(*args, factory=_WithoutLock, **kwargs))
    meet(barrier(2))
    assert run(lambda: outcome(accountant)) == (["spent", "unusable"] if triggers else ["spent", "spent"])
