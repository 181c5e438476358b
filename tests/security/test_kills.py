"""kill -9 at random moments: a file is the old one or the new one, and what was released was debited."""

import os
import signal
import time

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.privacy.budget_file import FileAccountant
from dpgraph.privacy.call import open_call
from dpgraph.privacy.relation import Edge
from dpgraph.results.files import load_result, save_result

MOMENTS = [20, pytest.param(200, marks=pytest.mark.slow)]


def killed(work, rng):
    """How often a child process has finished `work` when it is killed at a random moment after the first time."""
    read, write = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            while True:
                work()
                os.write(write, b".")  # what a release would be
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as done:
        first = done.read(1)
        time.sleep(rng.uniform(0, max(0.01, 3 * (time.monotonic() - began))))  # slow machines have longer moments
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, "the child had failed before"
        return len(first + done.read())


@pytest.mark.parametrize("moments", MOMENTS)
def test_a_budget_loses_nothing_when_a_process_is_killed(tmp_path, moments):
    accountant = FileAccountant(tmp_path / "budget.db", epsilon=1000.0)
    rng, released = np.random.default_rng(0), 0
    for moment in range(1, moments + 1):
        released += killed(
            lambda: open_call(epsilon=0.01, delta=0.0, accountant=accountant, relation=Edge(), noise=None), rng
        )
        charged = len(accountant.charges())
        assert released <= charged <= released + moment, "one debit may be without its release for every process"
        assert accountant.spent.epsilon == pytest.approx(0.01 * charged)


@pytest.mark.parametrize("moments", MOMENTS)
def test_a_call_that_is_killed_has_debited_or_read_nothing(tmp_path, moments):
    """The whole of a private function; what it reads is counted in a file."""
    accountant, seen = FileAccountant(tmp_path / "budget.db", epsilon=1e4), tmp_path / "seen"

    class Watched(nx.Graph):
        @property
        def edges(self):
            with seen.open("ab", buffering=0) as file:
                file.write(b".")
            return super().edges

    G = Watched(nx.path_graph(6))
    dpgraph.private_degrees(nx.path_graph(6), epsilon=0.01)  # so that the children need not import
    seen.touch()
    rng = np.random.default_rng(1)
    for _ in range(moments):
        killed(lambda: dpgraph.private_degrees(G, epsilon=0.01, accountant=accountant), rng)
        # Edges are looked at twice in a call.
        assert seen.stat().st_size <= 2 * len(accountant.charges())


@pytest.mark.parametrize("moments", MOMENTS)
def test_a_saved_result_is_the_old_or_the_new_one_when_its_writer_is_killed(tmp_path, moments):
    path = tmp_path / "degrees.npz"
    old, new = (dpgraph.private_degrees(nx.path_graph(n), epsilon=1.0) for n in (4000, 4001))
    save_result(old, path)
    turns = iter(range(10**9))
    rng, found = np.random.default_rng(2), set()
    for _ in range(moments):
        killed(lambda: save_result((old, new)[next(turns) % 2], path), rng)
        loaded = load_result(path)
        expected = {4000: old, 4001: new}[len(loaded.nodes)]
        assert np.array_equal(loaded.values, expected.values)
        found.add(len(loaded.nodes))
    assert found == {4000, 4001}, "the moments lie on one side: they test nothing"


@pytest.mark.parametrize("moments", MOMENTS)
def test_a_budget_file_whose_maker_is_killed_is_whole_or_not_there(tmp_path, moments):
    rng, folders = np.random.default_rng(3), iter(range(10**9))

    def make():
        FileAccountant(tmp_path / f"{os.getpid()}-{next(folders)}.db", epsilon=1.0)

    make()  # so that the children need not import
    for _ in range(moments):
        killed(make, rng)
    found = list(tmp_path.glob("*.db"))
    assert len(found) > moments
    assert all(FileAccountant(path).total.epsilon == 1.0 for path in found)
