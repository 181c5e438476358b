"""Random runs of the command line with odd arguments end with a documented status, and an error in one line."""

import os
import re

import numpy as np
import pytest

from dpgraph.interfaces.cli import main
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
    "broken.gml": b"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 2 ] ]",
    "graph.gml": b'graph [\n  node [ id 0 label "0" ]\n  node [ id 1 label "1" ]\n  edge [ source 0 target 1 ]\n]\n',
    "calls.csv": b"u,v,calls\na,b,3\nb,c,1\nc,d,2\n",
}
OPTIONS = (
    "--epsilon", "--delta", "--seed", "--mechanism", "--option", "--rank", "--k", "--nodes", "--labels", "--format",
    "--weight", "--max-weight", "--communities", "--resolution", "--regularization", "--average-degree", "--colours",
    "--adjacency", "--pair", "--categories", "--records", "--max-norm", "--runs", "--draw", "--on-halt",
    "--output", "--report", "--plot", "--save", "--data-dir", "--budget",
)  # fmt: skip
OUTPUTS = ("--output", "--report", "--plot", "--save")
FLAGS = ("--dry-run", "--evaluate", "--progress", "--symmetrize", "--centered", "--no-download", "--help", "--version")
ENDINGS = ("out.csv", "out.json", "out.png", "out.npz", "out.svg", "no/folder.csv", ".", "graph.txt")


#: Runs that end well, without their budget.
GOOD = (
    "max-cut graph.txt --output out.csv", "max-cut graph.txt --plot out.png",
    "max-bisection graph.txt --report out.json", "communities graph.txt --communities 2 --output out.csv",
    "csp graph.txt --colours 3 --adjacency edge", "degrees graph.txt --output out.csv --report out.json",
    "degree-distribution graph.txt", "count graph.txt triangle edge", "synthesize graph.txt --save out.npz",
    "spectrum graph.txt --k 2 --delta 1e-6", "embed graph.txt --rank 1 --output out.csv --save out.npz",
    "covariance table.csv --max-norm 2 --output out.csv", "marginals table.csv --k 2",
    "max-cut graph.txt --dry-run --nodes 9 --average-degree 3",
    "degrees calls.csv --labels str --weight calls --max-weight 2", "degrees five-cycle", "degrees graph.gml",
    "convert graph.txt out.csv", "convert graph.gml out.gml", "datasets list", "benchmark five-cycle --runs 1",
)  # fmt: skip


def odd_arguments(rng):
    """A good run, of which some words are replaced, inserted and cut."""
    words = str(rng.choice(GOOD)).split()
    if words[0] not in ("convert", "datasets"):
        words += ["--epsilon", rng.choice(["1", "0.5", "8"])]
    for _ in range(rng.integers(0, 4)):
        where, what = rng.integers(len(words)), rng.integers(5)
        option = rng.choice(OPTIONS)
        file = option in OUTPUTS
        if what == 0:
            words[where] = rng.choice([*WORDS, *FILES, *ENDINGS])
        elif what == 1:
            words += [option, rng.choice(ENDINGS if file else [*WORDS, *FILES])]
        elif what == 2:
            words.insert(where, rng.choice([*FLAGS, *WORDS]))
        elif what == 3:
            words += [rng.choice(FLAGS)]
        elif len(words) > 1:
            del words[where]
    return [str(word) for word in words]


def only_written(name, arguments):
    """Whether a file is named once, as an output: the run may write over what it does not read."""
    return arguments.count(name) == 1 and arguments[arguments.index(name) - 1] in OUTPUTS


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
    return work


@pytest.mark.parametrize("runs", [60, pytest.param(4000, marks=pytest.mark.slow)])
def test_odd_arguments_end_with_a_status_and_one_line(folder, capsys, runs):
    rng, statuses = np.random.default_rng(5), []
    paths = {of: folder.parent / f"{of}.db" for of in ("graphs", "tables")}
    accountants = {of: FileAccountant(path, epsilon=1e9, delta=0.9) for of, path in paths.items()}
    for _ in range(runs):
        arguments = odd_arguments(rng)
        of = "tables" if {"covariance", "marginals"} & {*arguments} else "graphs"
        accountant, before = accountants[of], accountants[of].spent.epsilon
        status = main(["--budget", str(paths[of]), *arguments])
        out, err = capsys.readouterr()
        err = [line for line in err.splitlines() if line and not re.search("[|]|lines/s", line)]  # no progress bars
        statuses.append(status)
        assert status in (0, 1, 2, 3), arguments
        assert not any("Traceback" in line or "internal error" in line for line in err), (arguments, err)
        errors = [line for line in err if line.startswith("dpgraph: error: ")]
        assert len(errors) == (status != 0 and not out.lstrip().startswith("Usage:")), (arguments, err)
        assert len(err) - len(errors) <= 1, (arguments, err)
        assert not any("secret" in line for line in err), (arguments, err)
        if status == 2:
            assert accountant.spent.epsilon == before or "expected" in err[-1], (arguments, err)
        for name, content in FILES.items():
            if "convert" not in arguments and not only_written(name, arguments):
                assert (folder / name).read_bytes() == content, (arguments, name)
            (folder / name).write_bytes(content)
    assert {0, 2} <= {*statuses}
    assert statuses.count(0) > runs / 6, "hardly any run went through: they test little"
    assert not [name for name in os.listdir(folder) if name.startswith(".")], "a temporary file was left"
