"""A budget in a file: whatever processes do, and whenever they die, no more than the budget is spent."""

import multiprocessing
import os
import pickle
import sqlite3
import stat
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import FileAccountant, PrivacyAccountant
from dpgraph.__main__ import main
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.privacy.call import open_call
from dpgraph.privacy.relation import Edge, Record

G = nx.path_graph(4)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


def spend(accountant, epsilon, delta=0.0, **more):
    more = {"relation": Edge(), "noise": None} | more
    return open_call(epsilon=epsilon, delta=delta, accountant=accountant, **more)


def test_a_file_keeps_the_same_books_as_an_accountant_in_memory(path):
    file, memory = FileAccountant(path, epsilon=2.0, delta=1e-6), PrivacyAccountant(epsilon=2.0, delta=1e-6)
    for epsilon, delta, slack in [(0.1, 0.0, 0.0), (0.3, 1e-7, 0.0), (0.2, 1e-7, 1e-8), (0.05, 0.0, 0.0)]:
        for accountant in (file, memory):
            spend(accountant, epsilon, delta, slack=slack)
        assert file.spent == FileAccountant(path).spent == memory.spent
        assert file.remaining == FileAccountant(path).remaining == memory.remaining
    assert file.report() == memory.report()
    assert [(line.epsilon, line.delta, line.process) for line in file.charges()][1] == (0.3, 1e-7, os.getpid())


def test_calls_of_two_accountants_of_one_file_add_up(path):
    first, second = FileAccountant(path, epsilon=1.0), FileAccountant(path)
    dpgraph.private_degrees(G, epsilon=0.75, accountant=first)
    with second, pytest.raises(BudgetExceededError, match=r"left at most epsilon=0\.25"):
        dpgraph.private_degrees(G, epsilon=0.5)
    dpgraph.private_degrees(G, epsilon=0.25, accountant=second)
    assert first.remaining.epsilon == 0


def test_a_report_says_that_another_process_had_a_seed(path):
    spend(FileAccountant(path, epsilon=1.0), 0.1, noise=None)
    assert not FileAccountant(path).report().seeded
    spend(FileAccountant(path), 0.1, noise=0)
    spend(FileAccountant(path), 0.1, noise=None)
    assert FileAccountant(path).report().seeded


def test_a_file_protects_one_neighbouring_relation(path):
    spend(FileAccountant(path, epsilon=1.0), 0.1)
    with pytest.raises(InvalidParameterError, match="neighbouring relation"):
        spend(FileAccountant(path), 0.1, relation=Record("replace"))
    assert len(FileAccountant(path).charges()) == 1


def test_the_file_is_for_its_owner(path):
    FileAccountant(path, epsilon=1.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["UPDATE calls SET pure = 0", "DELETE FROM calls"])
def test_a_charge_cannot_be_taken_back_by_accident(path, change):
    spend(FileAccountant(path, epsilon=1.0), 0.1)
    with pytest.raises(sqlite3.IntegrityError, match="final"), sqlite3.connect(path) as database:
        database.execute(change)


# --- files that are no budget ------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_only_made_with_an_epsilon(path):
    with pytest.raises(InvalidParameterError, match="no budget file"):
        FileAccountant(path)
    assert not path.exists()
    path.touch()  # as a process leaves it that died before it wrote
    assert FileAccountant(path, epsilon=1.0).remaining.epsilon == 1.0


@pytest.mark.parametrize("asked", [{"epsilon": 2.0}, {"delta": 1e-6}, {"epsilon": 1.0, "delta": 0.5}])
def test_the_budget_of_a_file_is_fixed(path, asked):
    FileAccountant(path, epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="a budget is fixed"):
        FileAccountant(path, **asked)


@pytest.mark.parametrize("content", [b"0 1\n", bytes(5000)])
def test_a_foreign_file_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(InvalidParameterError, match="budget file"):
        FileAccountant(path, epsilon=1.0)
    assert path.read_bytes() == content


def test_a_foreign_database_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE total (epsilon, delta)")
    with pytest.raises(InvalidParameterError, match="not a budget file"):
        FileAccountant(path, epsilon=1.0)


def test_a_damaged_file_refuses_every_call(path):
    accountant = FileAccountant(path, epsilon=1.0)
    content = np.frombuffer(path.read_bytes(), np.uint8).copy()
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = content.copy()
        damaged[rng.integers(len(content), size=20)] = rng.integers(256, size=20)
        path.write_bytes(damaged[: rng.integers(1, len(content))].tobytes())
        try:
            spent = accountant.spent.epsilon
            spend(accountant, 0.5)
        except (InvalidParameterError, BudgetExceededError):
            continue
        assert accountant.spent.epsilon >= spent + 0.5


def test_a_file_that_stays_locked_is_an_error_not_a_release(path, monkeypatch):
    monkeypatch.setattr("dpgraph.privacy.budget_file._PATIENCE", 0.05)
    accountant = FileAccountant(path, epsilon=1.0)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InvalidParameterError, match="locked"):
            spend(accountant, 0.5)
        other.execute("ROLLBACK")
    assert accountant.spent.epsilon == 0


# --- other processes ---------------------------------------------------------------------------------------------


def many_small_calls(accountant):
    done = 0
    for _ in range(40):
        try:
            spend(accountant, 0.01)
            done += 1
        except BudgetExceededError:
            break
    return done


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_that_race_spend_the_budget_once(path, start):
    accountant = FileAccountant(path, epsilon=0.5)
    with multiprocessing.get_context(start).Pool(2) as pool:
        done = pool.map(many_small_calls, [accountant, accountant], chunksize=1)
    assert sum(done) == 50
    assert len(accountant.charges()) == 50


def test_processes_that_make_the_file_at_once_make_one(path):
    code = f"import dpgraph; print(dpgraph.FileAccountant({str(path)!r}, epsilon=1.0).total.epsilon)"
    makers = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [maker.communicate()[0].strip() for maker in makers] == ["1.0"] * 3


def test_an_accountant_is_pickled_as_its_path(path):
    accountant = FileAccountant(path, epsilon=1.0)
    spend(pickle.loads(pickle.dumps(accountant)), 0.25)
    assert accountant.remaining.epsilon == 0.75


INSIDE = """
import dpgraph, networkx as nx
budget = None if {path!r} is None else dpgraph.FileAccountant({path!r})
try:
    dpgraph.private_degrees(nx.path_graph(4), epsilon=0.5, accountant=budget)
except dpgraph.InvalidParameterError as error:
    print(error)
"""


def test_a_process_that_is_started_inside_a_block_spends_nothing_silently(path):
    def child(of=None):
        code = INSIDE.format(path=None if of is None else str(of))
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    accountant = FileAccountant(path, epsilon=1.0)
    with PrivacyAccountant(epsilon=1.0):
        assert "inside a `with` block" in child()
        assert child(path) == ""
    assert accountant.spent.epsilon == 0.5
    assert child() == ""


# --- the command line --------------------------------------------------------------------------------------------


def test_runs_of_the_command_line_share_a_budget(path, tmp_path, capsys):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n2 3\n")
    run = ["--budget", str(path), "degrees", str(tmp_path / "g.txt"), "--output", str(tmp_path / "degrees.csv")]
    assert main(["--budget", str(path), *run[2:], "--epsilon", "0.1"]) == 2
    assert main(["budget", str(path), "--epsilon", "1"]) == 0
    assert main([*run, "--epsilon", "0.75"]) == 0
    (tmp_path / "degrees.csv").unlink()
    assert main([*run, "--epsilon", "0.75"]) == 2
    assert not (tmp_path / "degrees.csv").exists()
    assert "left at most epsilon=0.25" in capsys.readouterr().err
    assert main(["budget", str(path)]) == 0
    assert "left   epsilon=0.25" in capsys.readouterr().out


def test_a_dry_run_charges_nothing(path):
    FileAccountant(path, epsilon=1.0)
    dry = ["max-cut", "planted-cut", "--epsilon", "0.5", "--delta", "1e-6", "--dry-run"]
    assert main(["--budget", str(path), *dry]) == 0
    assert FileAccountant(path).spent.epsilon == 0
