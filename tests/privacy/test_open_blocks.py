"""Inside a ``with PrivacyAccountant`` block nothing runs for free in another process, whenever that was started."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import joblib
import networkx as nx
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dpgraph
from dpgraph import FileAccountant, PrivacyAccountant
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import open_blocks
from dpgraph.privacy.open_blocks import ambient_accountant
from dpgraph.sklearn import PrivateCommunities, PrivatePCA, PrivateSpectralEmbedding

X = np.zeros((20, 3))
ESTIMATORS = [PrivatePCA(2, epsilon=1.0), PrivateSpectralEmbedding(2, epsilon=1.0), PrivateCommunities(epsilon=1.0)]


def degrees(_, accountant=None):
    """A plain function, in which nothing but the private call itself can know of the block."""
    return dpgraph.private_degrees(nx.path_graph(4), epsilon=1.0, accountant=accountant).privacy.epsilon


def score(estimator, X, y=None):
    return estimator.privacy_.epsilon


@pytest.fixture(
    params=["fork", *(pytest.param(name, marks=pytest.mark.slow) for name in ("spawn", "forkserver", "loky"))]
)
def live(request):
    """A map over workers that run already."""
    if request.param == "loky":
        with joblib.Parallel(n_jobs=2) as parallel:

            def of_joblib(function, values):
                return parallel(joblib.delayed(function)(value) for value in values)

            yield of_joblib
        return
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(request.param)) as pool:
        yield lambda function, values: list(pool.map(function, values))


def test_a_plain_function_in_a_live_worker_refuses_while_a_block_is_open_and_only_then(live, tmp_path):
    assert live(degrees, [0, 1]) == [1.0, 1.0]
    shared = FileAccountant(tmp_path / "budget.db", epsilon=9.0)
    with PrivacyAccountant(epsilon=9.0) as accountant:
        with pytest.raises(InvalidParameterError, match=r"to which this one belongs, is inside.*FileAccountant"):
            live(degrees, [0, 1])
        assert live(partial(degrees, accountant=shared), [0, 1]) == [1.0, 1.0]
    assert (accountant.spent.epsilon, shared.spent.epsilon) == (0.0, 2.0)
    # joblib replaces workers that raised; the new ones were started inside the block, and know that for good.
    if live.__name__ != "of_joblib":
        assert live(degrees, [0, 1]) == [1.0, 1.0]


def test_a_worker_of_a_worker_refuses_too(tmp_path):
    """The one between them has no block; it was started before, and imports nothing of this package."""
    code = f"""
import subprocess, sys
input()
print(subprocess.run([sys.executable, "-c", {SPEND!r}], capture_output=True, text=True).stderr)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    with PrivacyAccountant(epsilon=1.0):
        assert "is inside a `with` block" in child.communicate("\n", timeout=120)[0]


SPEND = "import dpgraph, networkx as nx; dpgraph.private_degrees(nx.path_graph(4), epsilon=0.5)"


def test_a_block_of_a_process_that_was_killed_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        PrivacyAccountant(epsilon=1.0).__enter__()
        os.write(write, b".")
        signal.pause()
    os.read(read, 1)
    assert open_blocks._is_told(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 1  # the file is left, but nobody holds its lock
    assert not open_blocks._is_told(child)


def test_a_closed_block_leaves_nothing_and_an_unwritable_folder_forbids_no_block(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with PrivacyAccountant(epsilon=1.0), PrivacyAccountant(epsilon=2.0):
        (file,) = tmp_path.iterdir()
        assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with PrivacyAccountant(epsilon=1.0) as accountant:
        degrees(0)
    assert accountant.spent.epsilon == 1.0


def test_a_forked_child_that_leaves_the_block_of_its_parent_still_cannot_spend():
    accountant = PrivacyAccountant(epsilon=1.0)
    read, write = os.pipe()
    with accountant:
        child = os.fork()
        if child == 0:
            try:
                accountant.__exit__()
                degrees(0)
                os.write(write, b"spent")
            except Exception as error:
                os.write(write, str(error).encode()[:200])
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert b"forked copy may not spend" in os.read(read, 200)
        assert open_blocks._held is not None  # that of the parent is as it was


def test_a_block_that_opens_while_the_last_one_closes_keeps_its_mark(monkeypatch):
    closing, opened, closed, marks = threading.Event(), threading.Event(), threading.Event(), []
    honest = open_blocks._untell

    def slow():
        closing.set()
        opened.wait(0.3)  # in vain: the other block waits for this one
        honest()

    def other():
        closing.wait(60)
        with PrivacyAccountant(epsilon=1.0):
            opened.set()
            closed.wait(60)
            marks.append((os.environ.get(open_blocks._MARKER), open_blocks._held is not None))

    thread = threading.Thread(target=other)
    thread.start()
    with monkeypatch.context() as patch, PrivacyAccountant(epsilon=1.0):
        patch.setattr(open_blocks, "_untell", slow)
    closed.set()
    thread.join()
    assert marks == [(str(os.getpid()), True)]
    assert ambient_accountant() is None


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(
    "holder", [lambda one: one, lambda one: make_pipeline(StandardScaler(), one), lambda one: one.fit]
)
def test_an_estimator_without_an_accountant_is_not_pickled_inside_a_block(estimator, holder):
    pickle.loads(pickle.dumps(holder(estimator)))
    with PrivacyAccountant(epsilon=1.0), pytest.raises(TypeError, match=r"FileAccountant.*n_jobs=1"):
        pickle.dumps(holder(estimator))
    pickle.loads(pickle.dumps(holder(estimator)))


def test_an_estimator_with_a_budget_in_a_file_may_be_pickled_inside_a_block(tmp_path):
    shared = FileAccountant(tmp_path / "budget.db", epsilon=2.0)
    with PrivacyAccountant(epsilon=1.0) as accountant:
        pickle.loads(pickle.dumps(PrivatePCA(2, epsilon=0.5, accountant=shared))).fit(X)
    assert (accountant.spent.epsilon, shared.spent.epsilon) == (0.0, 0.5)


def test_an_estimator_with_a_budget_in_memory_is_never_pickled():
    with pytest.raises(TypeError, match="FileAccountant can be sent"):
        pickle.dumps(PrivatePCA(2, epsilon=1.0, accountant=PrivacyAccountant(epsilon=1.0)))


@pytest.mark.slow
def test_a_cross_validation_in_several_processes_is_charged_or_refused(tmp_path):
    """Five fits of epsilon 1 were once charged to nobody: the workers are alive before the block."""
    joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(value) for value in range(4))
    with PrivacyAccountant(epsilon=9.0) as accountant:
        with pytest.raises(pickle.PicklingError) as caught:
            cross_val_score(PrivatePCA(2, epsilon=1.0), X, n_jobs=2, scoring=score)
        assert "FileAccountant" in str(caught.value.__cause__)
        assert accountant.spent.epsilon == 0.0
        cross_val_score(PrivatePCA(2, epsilon=1.0), X, n_jobs=1, scoring=score)
        assert accountant.spent.epsilon == 5.0
    shared = FileAccountant(tmp_path / "budget.db", epsilon=9.0)
    cross_val_score(PrivatePCA(2, epsilon=1.0, accountant=shared), X, n_jobs=2, scoring=score)
    assert shared.spent.epsilon == 5.0
