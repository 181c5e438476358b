"""With the same noise, two neighbours look the same from outside: nothing but the noisy releases tells them apart.

The replay of ``test_replay.py`` compares results and ledgers. This file compares all that surrounds them: text forms,
pickles, log lines, warnings, what is printed, progress bars, errors with their attributes, and what a call leaves
behind in the process and in the working folder.
"""

import contextlib
import inspect
import io
import os
import pickle
import sys
import traceback
import warnings

import numpy as np
import pytest
import tqdm
from scipy import sparse

import dpgraph
from dpgraph import progress
from dpgraph.compiled import Kernel, _plain, no_python
from dpgraph.exceptions import DPGraphError
from dpgraph.interfaces.networkx.info import ANSWERED
from tests.about import each
from tests.listening import listening
from tests.privacy.registry import ENTRIES, of_each_strategy
from tests.privacy.replay import RecordingSource, doors, observe  # noqa: F401

pytestmark = pytest.mark.usefixtures("doors")

PACKAGE = os.path.dirname(dpgraph.__file__)
EACH = each("entry", of_each_strategy(ENTRIES), parts=16)
LABELS = [entry.label for entry in ENTRIES]
BARS = tqdm.tqdm, progress.tqdm


class RecordedBar(progress.tqdm):
    """A progress bar that remembers everything that it shows but the time."""

    shown: list = []  # noqa: RUF012

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if not self.disable:
            self.shown.append(("bar", self.desc, self.total, self.unit))

    def __iter__(self):
        self.iterating = True
        for item in super().__iter__():
            if not self.disable:
                self.shown.append(("step", 1))
            yield item

    def update(self, n=1):
        # An iterating bar is updated when it is time to, by as many steps as there were.
        if not (self.disable or getattr(self, "iterating", False)):
            self.shown.append(("step", n))
        return super().update(n)

    def set_postfix(self, *args, **options):
        if not self.disable:
            self.shown.append(("postfix", args, tuple(options.items())))
        return super().set_postfix(*args, **options)

    def set_postfix_str(self, s="", refresh=True):
        if not self.disable:
            self.shown.append(("postfix", s))
        return super().set_postfix_str(s, refresh)


def look(call, source, monkeypatch):
    """All that an observer of one call can see."""
    out, err = io.StringIO(), io.StringIO()
    RecordedBar.shown = []
    for name, module in list(sys.modules.items()):  # no other package shows bars
        if name.startswith("dpgraph.") and getattr(module, "tqdm", None) in BARS:
            monkeypatch.setattr(module, "tqdm", RecordedBar)
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        listening("numba.", "matplotlib") as log,  # what is compiled or imported first tells of code, not of data
    ):
        warnings.simplefilter("always")
        outcome = observe(lambda rng: attempt(call, rng), source)
    return {
        "outcome": outcome,
        "pickle": pickle.dumps(outcome),
        "printed": (out.getvalue(), "progress" if err.getvalue() and RecordedBar.shown else err.getvalue()),
        "bars": list(RecordedBar.shown),
        "log": log.lines,
        # Of a large epsilon, a public number, is warned before the debit.
        "warnings": [(w.category.__name__, str(w.message)) for w in warned if "protect nothing" not in str(w.message)],
        "releases": [(r.kind, r.exact.shape, r.output.shape, r.scale) for r in source.releases],
        "global generator": np.random.get_state()[1].tolist(),  # noqa: NPY002
        "folder": sorted(os.listdir()),
    }


def attempt(call, rng):
    """The text form of a result and of its report, or all there is to an error."""
    try:
        result = call(rng)
    except DPGraphError as error:
        report = getattr(error, "privacy", None)
        frames = traceback.extract_tb(error.__traceback__)
        places = [(frame.name, frame.lineno) for frame in frames if frame.filename.startswith(PACKAGE)]
        return type(error).__name__, str(error), repr(error), repr(report), places, sorted(vars(error))
    # The outputs themselves are compared bit by bit by the replay; their pickles hold them.
    return repr(result), str(result), result.privacy.table(), result.privacy.to_dict(), pickle.dumps(result)


def pairs_of(entry):
    """The first pair, on which tests halt, and the last one, on which they do not."""
    return entry.pairs[0], entry.pairs[-1]


@EACH
def test_neighbours_with_the_same_releases_show_the_same(entry, monkeypatch, tmp_path):
    """At a budget at which tests halt, on the first pair, or at one at which they do not, on the last: in turn."""
    epsilon, pair = ((1.0, 0), (1e4, 1))[LABELS.index(entry.label) % 2]
    monkeypatch.chdir(tmp_path)
    more = {"progress": True} if "progress" in inspect.signature(entry.code).parameters else {}
    label, data, neighbour = pairs_of(entry)[pair]
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    original = RecordingSource(0)
    seen = look(lambda rng: entry.call(data, rng=rng, epsilon=epsilon, **more), original, monkeypatch)
    copy = RecordingSource(0, replayed=original)
    again = look(lambda rng: entry.call(neighbour, rng=rng, epsilon=epsilon, **more), copy, monkeypatch)
    for what, value in seen.items():
        assert value == again[what], f"{label}: {what} differs"
    assert (seen["global generator"], seen["folder"], seen["warnings"]) == (before, [], [])
    # networkx logs, at its level DEBUG, which backend it calls with which (public) arguments.
    assert [line for line in seen["log"] if not line[0].startswith("networkx")] == []


def test_functions_with_a_progress_bar_are_watched_and_the_recorder_sees_it(monkeypatch):
    watched = {e.function for e in ENTRIES if "progress" in inspect.signature(e.code).parameters}
    private = {name for name in dpgraph.__all__ if name.startswith("private_")}
    assert watched == private | {"perturb_and_project", "report"} | set(ANSWERED)
    entry = next(e for e in ENTRIES if e.label == "private_max_cut, mechanism=bounded-iterates")
    _, data, _ = pairs_of(entry)[1]
    seen = look(lambda rng: entry.call(data, rng=rng, epsilon=1e4, progress=True), RecordingSource(0), monkeypatch)
    assert [item for item in seen["bars"] if item[0] == "bar"]
    assert [item for item in seen["bars"] if item[0] == "step"]


def test_a_bar_ends_with_the_call_that_asked_for_it_even_if_that_fails(capsys):
    A = np.ones((4, 4)) - np.eye(4)
    with pytest.raises(DPGraphError):
        dpgraph.private_degrees(A, epsilon=-1.0, progress=True)
    assert "released" in capsys.readouterr().err
    dpgraph.private_max_cut(A, epsilon=1.0, mechanism="bounded-iterates")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("weight", [0.5, 0.0])
def test_which_loops_are_compiled_does_not_depend_on_edges(weight, monkeypatch):
    """A terminal shows that loops are compiled, and a folder keeps them. The first edge is a bridge."""
    called = set()
    monkeypatch.setattr(Kernel, "__call__", lambda kernel, *given: called.add(kernel) or _plain(kernel)(*given))
    A = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))[::-1, ::-1]
    seen = []
    for of_pair in (1.0, weight):
        A[0, 4] = A[4, 0] = of_pair
        with no_python():
            dpgraph.private_statistic(sparse.csr_array(A), "edge-connectivity", epsilon=1.0)
        seen.append(frozenset(called))
        called.clear()
    assert seen[0] == seen[1] != frozenset()


def test_steps_that_loops_have_taken_do_not_depend_on_edges(monkeypatch):
    """They add up until a loop is compiled. A matrix by columns, or with an entry twice, is looked at twice."""
    monkeypatch.setattr(Kernel, "compiled", False)
    edge = np.ones(2), (np.array([0, 1]), np.array([1, 0]))
    half, twice = sparse.csc_array((edge[0] / 2, edge[1])), sparse.csr_array((np.ones(4), [1, 1, 0, 0], [0, 2, 4]))
    seen = []
    for matrix in (sparse.csc_array(edge), half, sparse.csr_array(edge), twice):
        monkeypatch.setattr("dpgraph.compiled._taken", {})
        dpgraph.private_degrees(matrix, epsilon=1.0)
        seen.append(dict(dpgraph.compiled._taken))
    assert seen[0] == seen[1] == seen[2] == seen[3] != {}
