"""Random runs of the command line with odd arguments end with a documented status, and an error in one line."""

import os

import numpy as np
import pytest

from dpgraph.interfaces.cli import main
from dpgraph.interfaces.cli.app import _COMMANDS
from dpgraph.privacy.budget_file import FileAccountant

#: What may stand where a word is expected.
WORDS = (
    "", "-", "--", "0", "-1", "1", "2", "1e-6", "1e400", "nan", "inf", "-inf", "1_000", "٣", "0x10", "1e-320", "true",
    "auto", "ü\u202e", "a b", "a,b", "'", "../..", "/dev/null", "@nothing", "@graph.txt", "99999999999999999999", "=",
    "k=2", "rank=9",
)  # fmt: skip
FILES = {
    "graph.txt": b"0 1\n1 2\n2 3\n3 4\n4 0\n0 2\n",
    "weighted.csv": b"u,v,calls\na,b,3\nb,c,-1\nc,d,1e308\n",
    "table.csv": b"x,y\n1,0\n0,1\n1,1\n",
    "words.csv": b"x,y\nsecret,1\n2,secret\n",
    "csp.json": b'{"variables": [1], "alphabet": [], "constraints": [{"u": 1, "v": 9}]}',
    "empty.txt": b"",
    "binary.txt": bytes(range(256)),
    "packed.txt.gz": b"\x1f\x8b\x08\x00",
    "graph.gml": b"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 2 ] ]",
}
OPTIONS = (
    "--epsilon", "--delta", "--seed", "--mechanism", "--option", "--rank", "--k", "--nodes", "--labels", "--format",
    "--weight", "--max-weight", "--communities", "--resolution", "--regularization", "--average-degree", "--colours",
    "--adjacency", "--shape", "--pair", "--categories", "--records", "--max-norm", "--runs", "--draw", "--on-halt",
    "--output", "--report", "--plot", "--owner-plot", "--save", "--data-dir", "--budget", "--correlation", "--blocks",
)  # fmt: skip
FLAGS = ("--dry-run", "--evaluate", "--progress", "--symmetrize", "--centered", "--no-download", "--help", "--version")
ENDINGS = ("out.csv", "out.json", "out.png", "out.npz", "out.svg", "no/folder.csv", ".", "graph.txt")


def odd_arguments(rng):
    """A command that could run, and a few words that are cut, inserted or repeated."""
    words = [rng.choice([*_COMMANDS, "no-command"]), rng.choice([*FILES, "five-cycle", "missing.txt", *WORDS])]
    if rng.random() < 0.8:
        words += ["--epsilon", rng.choice(["1", "0.5", "1e-3", *WORDS])]
    for _ in range(rng.integers(0, 5)):
        option = rng.choice(OPTIONS)
        file = option in ("--output", "--report", "--plot", "--owner-plot", "--save")
        words += [option, rng.choice(ENDINGS if file else [*WORDS, *FILES])]
    words += rng.choice(FLAGS, rng.integers(0, 3)).tolist()
    if rng.random() < 0.3:
        words[rng.integers(len(words))] = rng.choice(WORDS)
    if rng.random() < 0.2:
        del words[rng.integers(len(words))]
    return [str(word) for word in words]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("DPGRAPH_DATA", "DPGRAPH_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DPGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name, content in FILES.items():
        (work / name).write_bytes(content)
    FileAccountant(tmp_path / "budget.db", epsilon=1e9)
    return work


@pytest.mark.parametrize("runs", [60, pytest.param(4000, marks=pytest.mark.slow)])
def test_odd_arguments_end_with_a_status_and_one_line(folder, capsys, runs):
    rng, statuses = np.random.default_rng(5), set()
    budget = folder.parent / "budget.db"
    accountant = FileAccountant(budget)
    for _ in range(runs):
        arguments = odd_arguments(rng)
        before = accountant.spent.epsilon
        status = main(["--budget", str(budget), *arguments])
        err = [line for line in capsys.readouterr().err.splitlines() if "|" not in line]  # without progress bars
        statuses.add(status)
        assert status in (0, 1, 2, 3), arguments
        assert not any("Traceback" in line or "internal error" in line for line in err), (arguments, err)
        errors = [line for line in err if line.startswith("dpgraph: error: ")]
        assert len(errors) == (status != 0), (arguments, err)
        assert len(err) - len(errors) <= 1, (arguments, err)
        assert not any("secret" in line for line in err), (arguments, err)
        if status == 2:
            assert accountant.spent.epsilon == before or "expected" in err[-1], (arguments, err)
        for name, content in FILES.items():
            assert (folder / name).read_bytes() == content, (arguments, name)
    assert {0, 2} <= statuses
    assert not [name for name in os.listdir(folder) if name.startswith(".")], "a temporary file was left"
