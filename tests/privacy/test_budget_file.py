"""A budget in a file: whatever processes do, and whenever they die, no more than the budget is spent."""

import os
import pickle
import sqlite3
import stat
from contextlib import closing

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import FileAccountant, PrivacyAccountant
from dpgraph.__main__ import main
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.privacy import budget_schema
from dpgraph.privacy.call import open_call
from dpgraph.privacy.open_blocks import _MARKER as OPEN_BLOCK_MARKER
from dpgraph.privacy.relation import Edge, Record
from tests import programs

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
    assert repr(file) == repr(memory).replace("Privacy", "File")
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


def edit(path, *statements):
    """What a hand with an SQLite shell does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def line(number, **changes):
    """SQL that adds a line: by default a right one, after a call of epsilon 0.25."""
    values = {
        "id": number, "time": "'now'", "process": 1, "epsilon": 0.25, "delta": 0.0,
        "mu_squared": 0.0, "slack": 0.0, "pure": 0.25, "all_mu_squared": 0.0, "all_slack": 0.0, "all_pure": 0.5,
        "relation": "'edge'", "words": "'an edge'",
    } | changes  # fmt: skip
    return f"INTO calls ({', '.join(values)}) VALUES ({', '.join(map(str, values.values()))})"


BY_ACCIDENT = [
    "UPDATE calls SET pure = 0",
    "DELETE FROM calls",
    "UPDATE total SET epsilon = 99",
    "DELETE FROM total",
    "INSERT INTO total VALUES ('other', 99.0, 0.0)",
    "INSERT OR REPLACE INTO total (rowid, name, epsilon, delta) VALUES (1, 'other', 99.0, 0.0)",
    f"INSERT {line(2, pure=0.0, all_pure=0.0)}",
    f"INSERT {line(2, pure=0.0, all_pure=0.125)}",
    f"INSERT {line(2, pure=-0.25, all_pure=0.0)}",
    f"INSERT {line(2, pure=0.25, all_pure=0.25)}",
    f"INSERT {line(2, pure=9e999, all_pure=9e999)}".replace("inf", "9e999"),
    f"INSERT {line(2, pure=chr(39) + 'x' + chr(39))}",
    f"INSERT {line(2, relation=chr(39) + 'record' + chr(39))}",
    f"INSERT {line(1, all_pure=0.25, epsilon=0.1, pure=0.1)}",
    f"INSERT {line(0, all_pure=0.25)}",
    f"INSERT {line(9, all_pure=0.25)}",
    f"INSERT {line('NULL')}",
    f"INSERT OR REPLACE {line(1, pure=0.0, all_pure=0.0)}",
    f"INSERT OR IGNORE {line(9, pure=0.0, all_pure=0.0)}",
]


@pytest.mark.parametrize("change", BY_ACCIDENT)
def test_nothing_is_taken_back_or_enlarged_by_accident(path, change):
    accountant = FileAccountant(path, epsilon=1.0)
    spend(accountant, 0.25)
    with pytest.raises(sqlite3.IntegrityError):
        edit(path, change)
    assert FileAccountant(path).total == accountant.total
    assert FileAccountant(path).spent.epsilon == 0.25


def test_a_line_that_adds_up_may_be_added_by_hand(path):
    spend(FileAccountant(path, epsilon=1.0), 0.25)
    edit(path, f"INSERT {line(2)}")
    assert FileAccountant(path).remaining.epsilon == 0.5


TRIGGERS = [statement.split()[2] for statement in budget_schema._SCHEMA if "TRIGGER" in statement]


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_file_that_has_lost_a_trigger_is_refused(path, trigger):
    accountant = FileAccountant(path, epsilon=1.0)
    edit(path, f"DROP TRIGGER {trigger}")
    for use in (lambda: FileAccountant(path), lambda: accountant.spent, lambda: spend(accountant, 0.25)):
        with pytest.raises(InvalidParameterError, match="tables and triggers"):
            use()


BY_INTENT = [
    "UPDATE calls SET all_pure = 0.25 WHERE id = 2",
    "UPDATE calls SET pure = 0.0, all_pure = 0.0 WHERE id = 1",
    "UPDATE calls SET pure = 0.125",
    "UPDATE calls SET pure = -0.25, all_pure = 0.0 WHERE id = 2",
    "DELETE FROM calls WHERE id = 1",
    "UPDATE calls SET id = 3 WHERE id = 2",
]


@pytest.mark.parametrize("change", BY_INTENT)
def test_readers_find_what_was_changed_while_the_triggers_were_away(path, change):
    accountant = FileAccountant(path, epsilon=1.0)
    for _ in range(2):
        spend(accountant, 0.25)
    with closing(sqlite3.connect(path)) as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    away = ["PRAGMA ignore_check_constraints = ON", *(f"DROP TRIGGER {name}" for name, _ in triggers)]
    edit(path, *away, change, *(sql for _, sql in triggers))
    for use in (lambda: FileAccountant(path), lambda: accountant.spent, lambda: spend(accountant, 0.25)):
        with pytest.raises(InvalidParameterError, match="cannot be used"):
            use()


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_an_empty_file_is_no_fresh_budget(path, mode):
    """Neither where there never was one, nor in the place of one that was charged."""
    path.touch(mode)
    with pytest.raises(InvalidParameterError, match="it is empty"):
        FileAccountant(path, epsilon=1.0)
    assert path.stat().st_size == 0
    path.unlink()
    accountant = FileAccountant(path, epsilon=1.0)
    spend(accountant, 0.75)
    path.unlink()
    path.touch(mode)
    for use in (lambda: FileAccountant(path, epsilon=1.0), lambda: accountant.spent, lambda: spend(accountant, 0.75)):
        with pytest.raises(InvalidParameterError, match="it is empty"):
            use()
    assert path.stat().st_size == 0


def test_a_file_that_has_vanished_is_not_made_again_by_a_live_accountant(path):
    accountant = FileAccountant(path, epsilon=1.0)
    pickled = pickle.dumps(accountant)
    path.unlink()
    for use in (lambda: accountant.remaining, lambda: spend(accountant, 0.5), lambda: pickle.loads(pickled)):
        with pytest.raises(InvalidParameterError, match="budget file"):
            use()
    assert not path.exists()


def test_another_budget_in_the_place_of_the_first_is_refused(path):
    accountant = FileAccountant(path, epsilon=1.0)
    pickled = pickle.dumps(accountant)
    path.unlink()
    FileAccountant(path, epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="another budget"):
        spend(accountant, 0.5)
    with pytest.raises(InvalidParameterError, match="another one"):
        pickle.loads(pickled)
    assert FileAccountant(path).spent.epsilon == 0


def test_a_live_accountant_notices_an_old_copy(path):
    accountant = FileAccountant(path, epsilon=1.0)
    spend(accountant, 0.25)
    old = path.read_bytes()
    spend(accountant, 0.5)  # and not read again since
    path.write_bytes(old)
    with pytest.raises(InvalidParameterError, match="lines that were there are gone"):
        spend(accountant, 0.25)
    spend(FileAccountant(path), 0.125)  # a new one cannot know
    with pytest.raises(InvalidParameterError, match="its lines have been changed"):
        spend(accountant, 0.25)


def test_the_file_appears_whole(path, monkeypatch):
    """Another process that looks just before the file has its name sees none, and just after a finished one."""
    link, seen = os.link, []

    def watched(source, target):
        assert not path.exists()
        assert stat.S_IMODE(os.stat(source).st_mode) == 0o600
        link(source, target)
        seen.append(FileAccountant(path).total.epsilon)

    monkeypatch.setattr(os, "link", watched)
    before = os.umask(0)
    try:
        FileAccountant(path, epsilon=1.0)
    finally:
        os.umask(before)
    assert seen == [1.0]
    assert list(path.parent.iterdir()) == [path]


def test_the_faster_of_two_makers_wins(path, monkeypatch):
    link = os.link

    def late(source, target):
        monkeypatch.setattr(os, "link", link)
        spend(FileAccountant(path, epsilon=1.0), 0.25)
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert FileAccountant(path, epsilon=1.0).spent.epsilon == 0.25
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_is_not_there_is_only_made_with_an_epsilon(path):
    with pytest.raises(InvalidParameterError, match="no budget file"):
        FileAccountant(path)
    assert not path.exists()
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
        marker = {name: os.environ[name] for name in (OPEN_BLOCK_MARKER,) if name in os.environ}
        return programs.python("-c", code, check=True, env=marker).stdout

    accountant = FileAccountant(path, epsilon=1.0)
    with PrivacyAccountant(epsilon=1.0):
        assert "inside a `with` block" in child()
        assert child(path) == ""
    assert accountant.spent.epsilon == 0.5
    assert child() == ""


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
