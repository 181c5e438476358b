"""``dpgraph benchmark``: what is measured, and that a table of runs survives what happens to it."""

import csv
import io
import math

import networkx as nx
import numpy as np
import pytest
from scipy import sparse, stats

from dpgraph.interfaces.benchmark import (
    BLIND,
    EXACT,
    TASKS,
    Outcome,
    PublicGraph,
    Run,
    as_csv,
    as_markdown,
    carried_out,
    cells_of,
)
from dpgraph.interfaces.cli import benchmark as command
from dpgraph.privacy import streams

#: A table of means; no such file is in the repository.
MARKDOWN = "table" + ".md"
QUICK = ("--problem", "degrees,degree-distribution", "--epsilon", "1,4", "--runs", 2)


pytestmark = pytest.mark.usefixtures("no_local_data")


@pytest.fixture
def done(monkeypatch):
    """The runs that are really carried out."""
    seen = []

    def spied(graph, run):
        seen.append(run)
        return carried_out(graph, run)

    monkeypatch.setattr(command, "carried_out", spied)
    return seen


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def blocks():
    graph = nx.planted_partition_graph(3, 24, 0.7, 0.05, seed=0)
    return PublicGraph("x", nx.to_scipy_sparse_array(graph, weight=None, dtype=float, format="csr"))


def one_run(problem, mechanism, epsilon, delta, seed):
    budget = ("", "") if epsilon is None else (str(epsilon), str(delta))
    return Run("x", "72", "1", problem, mechanism, *budget, str(seed), "0")


@pytest.mark.parametrize("problem", TASKS)
def test_the_exact_answer_is_judged_the_best_and_a_large_budget_comes_close(problem, blocks):
    task = TASKS[problem]
    exact, blind = (task.judge(blocks, answer(blocks, np.random.default_rng(0))) for answer in (task.exact, task.blind))
    answer = task.judge(blocks, task.release(blocks, "auto", epsilon=30.0, delta=1e-6, rng=0))
    for measure, best, least, found in zip(task.measures, exact, blind, answer, strict=True):
        sign = 1 if measure.higher_is_better else -1
        assert sign * best > sign * least, measure
        # Of twenty seeds the worst came 0.93 of the way.
        assert sign * (found - least) > 0.8 * sign * (best - least), measure


@pytest.mark.parametrize("problem", TASKS)
def test_every_mechanism_of_every_problem_answers_or_refuses_on_a_small_graph(problem, blocks):
    task, seen = TASKS[problem], {}
    for name in task.mechanisms(72, [*task.usual, *task.others]):
        outcome = carried_out(blocks, one_run(problem, name, 2.0, 1e-6, 0))
        assert len(outcome.values) == len(task.measures)
        seen[name] = outcome.note
        assert outcome.note in ("", "halted"), (name, outcome.note)
        assert not any(map(math.isnan, outcome.values))
    assert set(seen) == {*task.usual, *task.others}


def test_a_halt_counts_as_an_answer_that_does_not_look_and_a_refusal_as_none():
    graph = PublicGraph("x", sparse.csr_array(nx.to_scipy_sparse_array(nx.cycle_graph(40), dtype=float)))
    halted = carried_out(graph, one_run("cut", "coherence", 1.0, 1e-6, 3))
    blind = carried_out(graph, one_run("cut", BLIND, None, 1e-6, 3))
    assert (halted.note, halted.values) == ("halted", blind.values)
    refused = carried_out(graph, one_run("cut", "noisy-power", 1.0, 0.0, 3))
    assert refused.note.startswith("refused: ")
    assert "delta" in refused.note
    assert all(map(math.isnan, refused.values))


def outcomes(problem, mechanism, epsilon, values, notes=()):
    for seed, value in enumerate(values):
        note = notes[seed] if seed < len(notes) else ""
        yield one_run(problem, mechanism, epsilon, 1e-6, seed)._replace(graph="g|h"), Outcome((value,), note)


@pytest.fixture
def cells():
    return cells_of(
        [
            *outcomes("cut", EXACT, None, [0.9]),
            *outcomes("cut", "auto", 1.0, [0.6, 0.7, 0.8], ["halted"]),
            *outcomes("cut", "auto", 2.0, [0.8]),
            *outcomes("cut", "gaussian", 1.0, [math.nan], ["refused: too large"]),
        ]
    )


def test_the_tables_hold_the_mean_and_the_interval_of_students_t(cells):
    half = stats.t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    text = as_markdown(cells)
    assert "Share of the edges across the cut." in text
    assert f"| g\\|h | auto | 0.7 ± {half:.2g} (1 halted) | 0.8 |" in text
    assert "| g\\|h | gaussian | refused |  |" in text
    assert "- g|h, cut, gaussian: refused: too large" in text


def test_means_and_intervals_as_csv(cells):
    found = rows(as_csv(cells))
    auto = found[1]
    assert (auto["graph"], auto["mechanism"], auto["epsilon"], auto["halts"]) == ("g|h", "auto", "1.0", "1")
    assert float(auto["mean"]) == pytest.approx(0.7)
    assert float(auto["half_width"]) == pytest.approx(stats.t.ppf(0.975, 2) * 0.1 / math.sqrt(3))
    assert (found[0]["epsilon"], found[0]["half_width"], found[3]["refusal"]) == ("", "nan", "refused: too large")


def test_a_comparison_of_two_graphs_says_what_it_measures_and_that_it_is_not_private(run, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_warned", False)  # of noise that comes twice
    (tmp_path / "mine.csv").write_text("a,b\nb,c\nc,d\nd,a\n")
    files = ["--output", "runs.csv", "--table", MARKDOWN, "--plot", "curves.png"]
    status, out, err = run("benchmark", "five-cycle", "mine.csv", *QUICK, *files)
    assert status == 0
    assert err == "NOT PRIVATE: exact numbers, for public graphs only\n"
    for words in (
        "| mine.csv | auto |",
        "### degree-distribution: KS (lower is better)",
        "mean absolute error of a degree",
        "**Not private**",
    ):
        assert words.lower() in out.lower()
    assert (tmp_path / MARKDOWN).read_text() == out
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    table = rows((tmp_path / "runs.csv").read_text())
    # Two graphs, two problems, three mechanisms, two budgets, two runs; and the references.
    assert len(table) == 2 * 2 * (3 * 2 * 2 + 1 + 2)
    assert {row["graph"] for row in table} == {"five-cycle", "mine.csv"}


def test_runs_that_the_table_holds_are_not_done_again_and_a_stopped_one_is_alone_lost(run, done, tmp_path, monkeypatch):
    def stopped(graph, run):
        if len(done) == 7:
            raise KeyboardInterrupt
        done.append(run)
        return carried_out(graph, run)

    with monkeypatch.context() as patch:
        patch.setattr(command, "carried_out", stopped)
        assert run("benchmark", "five-cycle", *QUICK, "--output", "runs.csv")[0] == 130
    path = tmp_path / "runs.csv"
    assert len(rows(path.read_text())) == 7
    with path.open("a") as stream:  # a line that was being written
        stream.write("five-cycle,5,5,degr")
    first = list(done)
    done.clear()
    assert run("benchmark", "five-cycle", *QUICK, "--output", "runs.csv")[0] == 0
    assert len(done) == 2 * (3 * 2 * 2 + 1 + 2) - 7
    assert not {*first} & {*done}
    done.clear()
    again = run("benchmark", "five-cycle", *QUICK, "--output", "runs.csv")
    assert (again[0], done) == (0, [])
    alone = run("benchmark", "five-cycle", *QUICK)
    assert again[1] == alone[1]  # the table is that of a command that was never stopped
    # Another graph of this name, more runs and another budget are other runs.
    done.clear()
    (tmp_path / "five-cycle").write_text("1 2\n2 3\n")
    asked = ("--problem", "degrees", "--epsilon", "1", "--runs", 1)
    assert run("benchmark", "five-cycle", *asked, "--output", "runs.csv")[0] == 0
    assert len(done) == 2 + 3
