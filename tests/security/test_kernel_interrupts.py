"""Ctrl-C inside compiled kernels: it arrives as KeyboardInterrupt, soon, and ends the threads that computed."""

import random
import signal
import threading
import time
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse

from dpgraph.datasets import planted_cut_sparse
from dpgraph.denoise import louvain
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.sos.csp.forests import move_forests
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels
from dpgraph.sos.cut.multilevel_search import anneal_balanced
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective, penalise_imbalance
from dpgraph.sos.cut.rounding import anneal
from dpgraph.sos.definiteness import sparse_semidefinite
from dpgraph.threads import on_threads
from tests import programs

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers")

#: Seconds; on an idle machine it is one sweep. A kernel below would run for minutes.
SOON = 5.0
FOREVER = 10**6


def graph(n=3000, degree=20):
    return planted_cut_sparse(n, degree, 0.1, rng=0)[0].astype(float)


def grid(side):
    path = sparse.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    return sparse.csr_array(sparse.kron(path, sparse.eye_array(side)) + sparse.kron(sparse.eye_array(side), path))


def rows(objective, k=8):
    V = np.random.default_rng(0).standard_normal((objective.n_vertices, k))
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def listed():
    return SparseObjective(graph())


def dense():
    return DenseObjective(graph(800).toarray())


def factored():
    return FactoredObjective(np.random.default_rng(0).standard_normal((3000, 8)), np.eye(8))


def coloring():
    pairs = np.argwhere(np.triu(graph(600).toarray()) > 0)
    tables = np.repeat((1.0 - np.eye(3))[None], len(pairs), axis=0)
    objective = CSPObjective(pairs, tables, np.zeros((600, 3)), 0.0, True)
    return objective, np.zeros((2, 600), dtype=np.int64)


def ascend(objective):
    objective.ascend(rows(objective), FOREVER, -1.0)


def cool(objective):
    anneal(objective, np.ones((objective.n_vertices, 2)), np.random.default_rng(0), sweeps=FOREVER)


@cache
def complete(n):
    indices = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n))[~np.eye(n, dtype=bool)]
    found = Subgraphs(np.arange(0, n * (n - 1) + 1, n - 1, dtype=np.int32), indices)
    assert found._oriented  # takes a second, once
    return found


@pytest.fixture(scope="module", autouse=True)
def prepared():
    """An interrupt of the compiler, or while a graph is made, tests nothing."""
    for pattern in ("4-cycle", "4-clique"):
        complete(5).count(pattern)
    louvain.louvain(graph(100), 1.0, np.random.default_rng(0))
    sparse_semidefinite(grid(50), np.full(2500, 99.0))
    complete(4000)


def move_for_ever():
    with patch.object(louvain, "_LEAST_RISE", -1e9):  # every move gains
        louvain.louvain(graph(), 1.0, np.random.default_rng(0))


KERNELS = {
    "ascent, sparse": lambda: ascend(listed()),
    "ascent, balanced": lambda: ascend(penalise_imbalance(listed(), 0.1)),
    "ascent, dense": lambda: ascend(dense()),
    "ascent, factored": lambda: ascend(factored()),
    "annealing, sparse": lambda: cool(listed()),
    "annealing, dense": lambda: cool(dense()),
    "annealing, factored": lambda: cool(factored()),
    "annealing, balanced": lambda: anneal_balanced(
        listed(), np.ones((3000, 2)), 0, np.random.default_rng(0), sweeps=FOREVER
    ),
    "annealing, labels": lambda: improve_labels(*coloring(), np.random.default_rng(0), sweeps=FOREVER),
    "forests, labels": lambda: move_forests(
        coloring()[0], np.random.default_rng(0).integers(3, size=600), np.random.default_rng(0), moves=FOREVER
    ),
    "communities": move_for_ever,
    "cycles": lambda: complete(4000).count("4-cycle"),
    "cliques": lambda: complete(4000).count("4-clique"),
    "elimination": lambda: sparse_semidefinite(grid(400), np.full(160_000, 99.0)),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_an_interrupt_ends_a_kernel_soon_and_as_what_it_is(kernel):
    before, sent = threading.active_count(), []

    def interrupt(*_):
        sent.append(time.monotonic())
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            kernel()
        caught = time.monotonic()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert caught - sent[0] < SOON
    while threading.active_count() > before:
        assert time.monotonic() - caught < SOON, "a thread goes on computing"
        time.sleep(0.01)


def test_an_error_on_one_thread_stops_the_others():
    def wait_or_fail(number, stop):
        if number == 0:
            raise ZeroDivisionError
        while not stop[0]:
            time.sleep(0.001)

    with pytest.raises(ZeroDivisionError):
        on_threads(wait_or_fail, range(4))


PROGRAM = """
import time
import dpgraph
A = dpgraph.datasets.planted_cut_sparse(20_000, 20, 0.1, rng=0)[0]
print("started", flush=True)
try:
    while True:
        dpgraph.max_cut(A, rng=0)
        dpgraph.max_bisection(A, rng=0)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def interrupted(seconds):
    """What a process says that is interrupted some seconds after it started to compute, and how soon it says so."""
    process = programs.started("-c", PROGRAM)
    with process:
        assert process.stdout.readline() == "started\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        said = process.stdout.readline()
        soon = time.monotonic() - sent
        _, errors = process.communicate(timeout=120)
    return said, soon, errors


def test_a_process_obeys_ctrl_c():
    said, soon, errors = interrupted(1.0)
    assert (said, errors) == ("interrupted\n", "")
    assert soon < SOON


@pytest.mark.slow
def test_a_process_obeys_ctrl_c_at_any_moment():
    moments = random.Random(0)
    for _ in range(30):
        said, soon, errors = interrupted(moments.uniform(0.0, 20.0))
        assert (said, errors) == ("interrupted\n", "")
        assert soon < SOON
