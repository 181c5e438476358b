"""An error that leaves a private function carries no private data in the frames of its traceback."""

import sys

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import DPGraphError, MechanismHalted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.ledger import Ledger
from tests.privacy.registry import ENTRIES

#: What the frame at the boundary knows: the function that it wraps, and what its caller was handling.
BOUNDARY = {"function", "handled"}


def errors_of(error, known=()):
    """An error and all from which it came."""
    if error is None or error in known:
        return [*known]
    known = errors_of(error.__cause__, [*known, error])
    return errors_of(error.__context__, known)


def frames_of(error):
    """Frames of dpgraph in the tracebacks of an error and of those from which it came."""
    for one in errors_of(error):
        step = one.__traceback__
        while step is not None:
            if step.tb_frame.f_globals.get("__name__", "").startswith("dpgraph."):
                yield step.tb_frame
            step = step.tb_next


def kept_in(error):
    return {f"{frame.f_code.co_name}: {name}" for frame in frames_of(error) for name in {*frame.f_locals} - BOUNDARY}


def failing_at(monkeypatch, line, kind):
    """Let the release that enters this line of the ledger fail, with another error behind it."""
    record, seen = Ledger._record, []

    def fail(self, entry):
        seen.append(entry)
        if len(seen) < line:
            return record(self, entry)
        secret = np.ones(3)
        try:
            raise ZeroDivisionError(len(secret))
        except ZeroDivisionError as first:
            raise kind("in the middle of a release") from first

    monkeypatch.setattr(Ledger, "_record", fail)


def error_of(entry, **more):
    """The error that a call ends in, if it does."""
    try:
        entry.call(entry.pairs[0][1], rng=0, **{"epsilon": entry.epsilon} | more)
    except (Exception, KeyboardInterrupt) as error:
        return error
    return None


def check_stopped(monkeypatch, entries, kind):
    for entry in entries:
        for line in (2, 1):  # some have one line only
            with monkeypatch.context() as patch:
                failing_at(patch, line, kind)
                accountant = PrivacyAccountant(epsilon=100.0, delta=1e-6)
                error = error_of(entry, accountant=accountant)
            if error is not None:
                break
        assert accountant.spent.epsilon == pytest.approx(entry.epsilon), f"{entry.label} was not charged"
        # What stops a program stays what it is; of a bug only the kind and the place are told.
        assert type(error) is (kind if kind is KeyboardInterrupt else DPGraphError), entry.label
        assert isinstance(error, KeyboardInterrupt) or "RuntimeError" in str(error)
        assert "in the middle" not in str(error) or kind is KeyboardInterrupt
        assert len([*frames_of(error)]) >= 3, "where it happened is not told"
        # A compiled library may have left an error of its own behind as the one that is being handled.
        assert [one for one in errors_of(error) if one not in errors_of(sys.exception())] == [error]
        assert kept_in(error) == set(), entry.label


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_whatever_stops_a_release_leaves_the_budget_debited_and_takes_no_private_data_along(monkeypatch, kind):
    check_stopped(monkeypatch, {entry.code: entry for entry in ENTRIES}.values(), kind)


@pytest.mark.slow
def test_so_it_is_for_every_mechanism(monkeypatch):
    check_stopped(monkeypatch, ENTRIES, RuntimeError)


def halted_of(entries):
    """Which of them halt; none takes private data along."""
    halted = set()
    for entry in entries:
        error = error_of(entry, epsilon=0.05)
        assert error is None or isinstance(error, MechanismHalted), entry.label
        if error is not None:
            halted.add(entry.function)
            assert [*frames_of(error)]
            assert kept_in(error) == set(), entry.label
    return halted


#: Functions that halt on the inputs of the registry at epsilon 0.05.
HALT = {
    "private_coherence", "private_max_2csp", "private_max_cut",
    "private_normalized_adjacency", "private_projector", "private_singular_subspace", "spectral_bisection",
}  # fmt: skip


def test_a_halt_takes_no_private_data_along():
    may = [e for e in ENTRIES if e.function in HALT and e.options.get("mechanism", "coherence") == "coherence"]
    assert halted_of(may) == HALT


@pytest.mark.slow
def test_no_halt_of_any_mechanism_does():
    assert halted_of(ENTRIES) >= HALT


def test_what_the_caller_was_handling_stays_as_it_was(monkeypatch):
    def own():
        mine = "my own"
        raise LookupError(mine)

    failing_at(monkeypatch, 1, RuntimeError)
    try:
        own()
    except LookupError:
        with pytest.raises(DPGraphError, match="internal error") as caught:
            dpgraph.private_degrees(nx.path_graph(4), epsilon=1.0)
    (handled,) = [error for error in errors_of(caught.value) if isinstance(error, LookupError)]
    assert handled.__traceback__.tb_next.tb_frame.f_locals == {"mine": "my own"}


def test_a_debugger_sees_everything_on_request(monkeypatch):
    monkeypatch.setenv("DPGRAPH_DEBUG", "1")
    failing_at(monkeypatch, 1, RuntimeError)
    with pytest.raises(RuntimeError) as caught:
        dpgraph.private_degrees(nx.path_graph(4), epsilon=1.0)
    assert "private_degrees: graph" in kept_in(caught.value) or "private_degrees: source" in kept_in(caught.value)
