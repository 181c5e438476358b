"""What is written goes where it was asked to go and harms nothing else; a full disk loses no more than it must."""

import importlib
import itertools
import json
import os
import re
import stat
import sys
import threading
import warnings
from dataclasses import fields
from pathlib import Path

import pytest

import dpgraph
from dpgraph.atomic_write import write_atomically
from dpgraph.interfaces.cli import main, outputs
from dpgraph.interfaces.cli.app import _COMMANDS
from dpgraph.privacy.ledger import Ledger
from tests import programs
from tests.about import each

BUDGET = ["--epsilon", "1", "--delta", "1e-6", "--seed", "0"]
#: The end of a message; pure commands spend no delta.
SPENT = r"[Tt]he budget of this call is spent: epsilon = 1, delta = (0|1e-06)$"
PURE = "The budget of this call is spent: epsilon = 1, delta = 0"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    old = os.umask(0o022)
    yield
    os.umask(old)


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("".join(f"{i} {i + k}\n" for i in range(30) for k in (1, 2, 3)))
    return path


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, "content")
    reader.join(timeout=10)
    assert read == [b"content"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_refused_and_kept(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(folder, "content")
    assert list(tmp_path.rglob("*")) == [folder]


@each("there", [True, False], parts=2)
def test_a_link_is_followed_and_stays_a_link(tmp_path, there):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    if there:
        target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(tmp_path.rglob("*")) == sorted([tmp_path / "elsewhere", target, link])


@each("mode", [0o600, 0o640, 0o666, 0o755], parts=2)
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, umask, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write_atomically(path, "new\udcff")  # half of a surrogate pair, which has no form in UTF-8
    assert (path.read_text(), mode_of(path)) == (r"new\udcff", mode)


@each("mask", [0o022, 0o077, 0o002], parts=2)
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path, umask, mask):
    os.umask(mask)
    write_atomically(tmp_path / "file", "new")
    assert mode_of(tmp_path / "file") == 0o666 & ~mask


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_atomically(path, "new")
    assert path.read_text() == "old"


@each("way, option", list(itertools.product(["itself", "a link to it"], ["--output", "--report"])), parts=2)
def test_a_command_does_not_write_over_what_it_reads(tmp_path, capsys, graph, option, way):
    target = graph
    if way == "a link to it":
        target = tmp_path / "link.txt"
        target.symlink_to(graph)
    budget = tmp_path / "budget.db"
    accountant = dpgraph.FileAccountant(budget, epsilon=9.0)
    before = graph.read_text()
    for read in (target, budget):
        arguments = ["--budget", budget, "degrees", graph, "--epsilon", "1", option, read]
        assert main([*map(str, arguments)]) == 2
        assert "this command reads" in capsys.readouterr().err
    assert graph.read_text() == before
    assert accountant.spent.epsilon == 0
    assert main(["convert", str(graph), str(target)]) == 2
    assert graph.read_text() == before


LIMITED = """
import resource, signal, sys
from dpgraph.interfaces.cli import main
from dpgraph.results.files import save_result
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a write beyond the limit is an error
resource.setrlimit(resource.RLIMIT_FSIZE, (760, resource.RLIM_INFINITY))
sys.exit(main(sys.argv[1:]))
"""


def test_a_write_that_the_system_refuses_half_way_leaves_the_old_file(tmp_path, graph):
    """No simulation: the kernel takes 760 bytes of a file and no more. The table is smaller, the report is not."""
    table, report = tmp_path / "degrees.csv", tmp_path / "report.json"
    report.write_text(old := json.dumps("old"))
    arguments = ["degrees", str(graph), *BUDGET, "--output", str(table), "--report", str(report)]
    done = programs.python("-B", "-c", LIMITED, *arguments)  # or it would cut compiled modules short, for all after it
    assert done.returncode == 1, done.stderr
    assert f"not written: {report} (File too large); written: standard output, {table}. {PURE}" in done.stderr
    assert (len(table.read_text().splitlines()), report.read_text()) == (34, old)
    assert sorted(tmp_path.iterdir()) == [table, graph, report]


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


@needs_full
def test_output_that_nobody_takes_is_a_failure_with_the_files_written(tmp_path, graph):
    output = tmp_path / "degrees.csv"
    with open("/dev/full", "w") as nowhere:
        done = programs.dpgraph("degrees", graph, *BUDGET, "--output", output, stdout=nowhere)
    assert done.returncode == 1
    missing = "not written: standard output (No space left on device); written: "
    assert done.stderr == f"dpgraph: error: {missing}{output}. {PURE}\n"
    assert len(output.read_text().splitlines()) == 34
    with open("/dev/full", "w") as nowhere:
        done = programs.dpgraph("degrees", graph, *BUDGET, "--output", "-", stdout=nowhere)
    assert f"{missing}standard error. {PURE}\n" in done.stderr


def test_a_pipe_that_is_closed_is_a_failure_with_the_files_written_also_where_nothing_is_buffered(tmp_path, graph):
    output, env = tmp_path / "degrees.csv", {"PYTHONUNBUFFERED": "1"}
    read, write = os.pipe()
    os.close(read)
    try:
        done = programs.dpgraph("degrees", graph, *BUDGET, "--output", output, env=env, stdout=write)
    finally:
        os.close(write)
    assert done.returncode == 1
    assert done.stderr == f"dpgraph: error: not written: standard output (Broken pipe); written: {output}. {PURE}\n"


def test_characters_that_an_encoding_lacks_are_no_reason_to_lose_a_result(tmp_path, graph):
    named = graph.with_name("gr\u00fc\u00dfe.txt")
    graph.rename(named)
    arguments = ["degrees", named, *BUDGET, "--output", tmp_path / "degrees.csv"]
    done = programs.dpgraph(*arguments, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr\\xfc\\xdfe.txt" in done.stdout
    undecodable = os.fsencode(tmp_path) + b"/\xff.txt"
    os.rename(named, undecodable)
    done = programs.dpgraph(
        "degrees",
        os.fsdecode(undecodable),
        *BUDGET,
        "--report",
        tmp_path / "report.json",
        env={"PYTHONIOENCODING": "utf-8"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\udcff.txt: 33 noisy degrees" in done.stdout


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 20)
    return path


#: What a command needs beside its source and its budget.
NEEDS = {
    "max-cut": ["--evaluate"], "max-bisection": ["--evaluate"], "statistic": ["components"], "spectrum": ["--k", "3"],
    "embed": ["--rank", "1"], "marginals": ["--pair", "a", "b"],
}  # fmt: skip
#: Each command that spends.
COMMANDS = sorted({*_COMMANDS} - {"budget", "benchmark", "check", "compile", "convert", "datasets"})


def options_of(name):
    """Every output of a command: its option, and a file name for it."""
    module, attribute = _COMMANDS[name]
    kind = getattr(importlib.import_module(f"dpgraph.interfaces.cli.{module}"), attribute)
    written = [one for one in fields(kind) if "endings" in one.metadata]
    endings = {
        one.name: ".png" if one.metadata["picture"] else (*one.metadata["endings"], ".csv")[0] for one in written
    }
    return {option: f"{option}{ending}" for option, ending in endings.items()}


def command_line(name, graph, table, folder):
    source = table if name in ("covariance", "marginals") else graph
    outputs = options_of(name)
    options = [word for option, file in outputs.items() for word in (f"--{option.replace('_', '-')}", folder / file)]
    arguments = [name, source, *NEEDS.get(name, []), *BUDGET, *options]
    return [*map(str, arguments)], {option: str(folder / file) for option, file in outputs.items()}


def fail_at(monkeypatch, place, error):
    """Plant an error where the outputs are made, one after the other: the first is what is printed."""
    count = itertools.count()

    def planted(make):
        def act(*arguments, **options):
            if next(count) == place:
                raise error
            return make(*arguments, **options)

        return act

    monkeypatch.setattr(outputs, "_print", planted(outputs._print))
    named = outputs._named
    monkeypatch.setattr(outputs, "_named", lambda asked: ((path, planted(write)) for path, write in named(asked)))


@each("name", COMMANDS, parts=2)
def test_an_output_that_fails_with_any_error_loses_no_other(name, tmp_path, monkeypatch, capsys, graph, table):
    (folder := tmp_path / "out").mkdir()
    arguments, written = command_line(name, graph, table, folder)
    places = 2 + len(written) + ("--evaluate" in arguments)
    errors = [RuntimeError("secret"), ValueError("secret"), MemoryError(), SystemExit(7), KeyboardInterrupt()]
    last = places - 1
    for place in (0, 1, 2, last) if name == "max-cut" else ((1, last)[COMMANDS.index(name) % 2],):
        for path in written.values():
            Path(path).unlink(missing_ok=True)
        error = errors[place % len(errors)]
        with monkeypatch.context() as patch:
            fail_at(patch, place, error)
            status = main(arguments)
        out, err = capsys.readouterr()
        stopped = isinstance(error, KeyboardInterrupt)
        assert status == (130 if stopped else 1)
        line = next(line for line in err.splitlines() if line.startswith("dpgraph: error: "))
        missing = line.partition("; written: ")[0]
        assert re.search(SPENT, line)
        assert ("interrupted" if stopped else type(error).__name__) in missing
        assert "secret" not in err
        there = {path for path in written.values() if Path(path).exists()}
        assert all((path in there) != (f"{path} (" in missing) for path in written.values())
        assert stopped or len(there) >= len(written) - 1
        assert ("total: epsilon = 1" in out) == (place != 1)


@each(
    "error, name",
    list(itertools.product([KeyboardInterrupt, RuntimeError("secret"), OSError(28, "No space left")], COMMANDS)),
    parts=2,
)
def test_what_ends_a_command_after_the_debit_says_so(name, error, monkeypatch, capsys, graph, table):
    arguments, _ = command_line(name, graph, table, graph.parent)
    charge = Ledger.__init__

    def debit(self, *args, **options):
        charge(self, *args, **options)
        monkeypatch.setattr(Ledger, "_record", broken)

    def broken(*args):
        raise error

    monkeypatch.setattr(Ledger, "__init__", debit)
    status = main([word for word in arguments if word != "--dry-run"])
    out, err = capsys.readouterr()
    assert status == (130 if error is KeyboardInterrupt else 1)
    assert re.search(SPENT, err.splitlines()[-1])
    assert "secret" not in out + err


def test_a_name_that_is_no_formula_is_drawn_and_everything_is_published(tmp_path, capsys, graph):
    """The case that was reported: matplotlib parsed the title, and a paid result was lost."""
    odd = graph.with_name("x_$^$.txt")
    graph.rename(odd)
    assert main(["degree-distribution", str(odd), *BUDGET, "--plot", str(tmp_path / "p.png")]) == 0
    assert "total: epsilon = 1" in capsys.readouterr().out
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_warning_that_is_made_an_error_loses_no_result(tmp_path, capsys, graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = graph.with_name("\U0001f600\u0e01.txt")  # characters that the font of pictures lacks
        graph.rename(named)
        status = main(["degree-distribution", str(named), *BUDGET, "--plot", str(tmp_path / "p.png")])
    out, err = capsys.readouterr()
    assert status in (0, 1)
    assert "total: epsilon = 1" in out
    assert status == 0 or re.search(SPENT, err.rstrip())


@needs_full
def test_what_waits_in_a_buffer_when_a_command_ends_is_not_forgotten(monkeypatch, capsys):
    with open("/dev/full", "w") as nowhere, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", nowhere)
        patch.setattr("dpgraph.interfaces.cli.app._run", lambda argv: print("never flushed") or 0)
        assert main([]) == 1
        nowhere.flush()  # there is nothing left that could fail later
    assert "not written: standard output (No space left on device)" in capsys.readouterr().err
