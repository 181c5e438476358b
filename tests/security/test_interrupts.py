"""Ctrl-C at any moment: what was read is paid for, and no file that looks finished is not."""

import csv
import json
import os
import sys
import textwrap
from functools import cached_property, partial

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.atomic_write import write_atomically
from dpgraph.privacy import PrivacyAccountant, guard
from tests import programs

#: Calls that are interrupted at any line.
CALLS = {
    "degrees": lambda G, **more: dpgraph.private_degrees(G, **more),
    "cut": lambda G, **more: dpgraph.private_max_cut(G, **more),
    "adjacency": lambda G, **more: dpgraph.private_normalized_adjacency(G, rank=1, mechanism="gaussian", **more),
}


HOLD_A_LOCK = [
    cached_property.__get__.__code__,
    *(method.__code__ for method in (guard._Silence.begin, guard._Silence.to_the_front, guard._Silence.end)),
]


class WatchedGraph(nx.Graph):
    """Says whether an edge was read."""

    @property
    def edges(self):
        self.graph["read"] = True
        return super().edges


def watched():
    G = WatchedGraph(nx.complete_bipartite_graph(8, 9))
    G.graph["read"] = False
    return G


def interrupted_at(function, line):
    """Whether `function` was interrupted, at the start of that line of Python code of all that it runs, or soon after.

    Between two lines of cached properties, Python 3.11 holds a lock of all objects of the class, and would keep it. So
    would a `with` that holds a lock, if a tracer interrupts it at its end. A signal does not arrive there, nor at any
    return.
    """
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        seen += 1
        if seen >= line and event != "return" and frame.f_code not in HOLD_A_LOCK:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def lines_of(function):
    """How many lines of Python code `function` runs."""
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        seen += 1
        return trace

    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(None)
    return seen


@pytest.mark.parametrize("moments", [300, pytest.param(8000, marks=pytest.mark.slow)])
def test_after_random_interrupts_of_random_functions_everything_still_works(moments):
    """Whatever has been read is paid for, and no call is half charged."""
    rng = np.random.default_rng(3)
    budget = {"epsilon": 1.0, "delta": 1e-6, "rng": 0}
    purse = partial(PrivacyAccountant, epsilon=1.0, delta=1e-6)
    expected, lines = {}, {}
    for name, call in CALLS.items():
        expected[name] = call(watched(), **budget)  # imports and compiles
        # Some calls do what is done once, too.
        lines[name] = min(lines_of(partial(call, watched(), **budget, accountant=purse())) for _ in range(4))
    stopped, outcomes = 0, set()
    for moment in range(moments):
        name = rng.choice(list(CALLS))
        G, accountant = watched(), purse()

        def attempt(name=name, G=G, accountant=accountant):
            CALLS[name](G, **budget, accountant=accountant)

        last = lines[name] // (1 + 9 * (moment % 2))  # every other one near the beginning, where the debit is
        stopped += interrupted_at(attempt, int(rng.integers(1, last)))
        spent = accountant.spent.epsilon
        assert spent in (0.0, pytest.approx(1.0)), "part of a debit"
        assert not G.graph["read"] or spent > 0, "the graph was read and the budget was not debited"
        outcomes.add((G.graph["read"], spent > 0))
    assert {(False, False), (True, True)} <= outcomes, "the moments lie on one side of the debit: they test nothing"
    assert stopped > 0.9 * moments, "hardly any call was interrupted"
    for name, call in CALLS.items():
        assert call(watched(), **budget).privacy == expected[name].privacy, "an interrupt has poisoned the process"


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_an_interrupt_while_a_file_is_written_leaves_the_old_file_or_none(tmp_path, monkeypatch, step):
    def interrupted(*_):
        raise KeyboardInterrupt

    for old in (None, "what was there"):
        path = tmp_path / "cut.csv"
        if old is not None:
            path.write_text(old)
        with monkeypatch.context() as patch:
            patch.setattr(os, step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                write_atomically(path, "node,side\n" * 1000)
        assert [p.name for p in tmp_path.iterdir()] == ([] if old is None else ["cut.csv"])
        assert old is None or path.read_text() == old


DRIVER = """
import json, os, random, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where a shell has put the tests into the background
said = sys.unraisablehook  # Python says where a signal arrived in a finalizer, and goes on
sys.unraisablehook = lambda error: None if error.exc_type is KeyboardInterrupt else said(error)
from pathlib import Path
from dpgraph.interfaces.cli import main
folder = Path(sys.argv[1])
(folder.parent / "graph.txt").write_text("".join(f"{i} {i + k}\\n" for i in range(90) for k in range(1, 11)))
arguments = ["max-cut", str(folder.parent / "graph.txt"), "--epsilon", "1", "--delta", "1e-6", "--seed", "0"]
arguments += ["--output", str(folder / "cut.csv"), "--report", str(folder / "report.json")]

def run(stop):
    seen = 0
    def profile(frame, event, argument):
        nonlocal seen
        if event == "call":
            seen += 1
            if seen == stop:
                sys.setprofile(None)
                os.kill(os.getpid(), signal.SIGINT)
    sys.setprofile(profile)
    try:
        return main(arguments), seen
    except KeyboardInterrupt:
        return 130, seen  # before the program began or after it ended
    finally:
        sys.setprofile(None)

run(None)  # imports and compiles
status, total = run(None)
moments = random.Random(1).sample(range(1, total), 12) + [total - k for k in range(20, 220, 10)]
outcomes = [[status, True, True]]
for stop in moments:
    for file in folder.iterdir():
        file.unlink()
    status, _ = run(stop)
    rows = (folder / "cut.csv").read_text() if (folder / "cut.csv").exists() else None
    report = (folder / "report.json").read_text() if (folder / "report.json").exists() else None
    others = sorted(p.name for p in folder.iterdir() if p.name not in ("cut.csv", "report.json"))
    outcomes.append([status, rows, report, others])
print(json.dumps(outcomes[1:]))
"""


def test_a_signal_at_random_moments_of_the_program_leaves_whole_files_or_none(tmp_path):
    program = programs.python("-c", textwrap.dedent(DRIVER), tmp_path, check=True)
    outcomes = json.loads(program.stdout.splitlines()[-1])
    assert {status for status, *_ in outcomes} <= {0, 130}
    assert [130 in (status,) for status, *_ in outcomes].count(True) > 10, "hardly any signal arrived in time"
    assert "Traceback" not in program.stderr, program.stderr
    for status, rows, report, others in outcomes:
        assert others == [], "a temporary file was left"
        if rows is not None:
            assert len(list(csv.reader(rows.splitlines()))) == 101
        if report is not None:
            assert json.loads(report)["privacy"]["epsilon"] == 1.0
        assert status == 130 or (rows is not None and report is not None)
