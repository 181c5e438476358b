"""What is written goes where it was asked to go and harms nothing else; a full disk loses no more than it must."""

import json
import os
import stat
import subprocess
import sys
import threading

import networkx as nx
import pytest

import dpgraph
from dpgraph.atomic_write import write_atomically
from dpgraph.interfaces.cli import main
from dpgraph.results.files import save_result

BUDGET = ["--epsilon", "1", "--delta", "1e-6", "--seed", "0"]


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


# --- what is there already ---------------------------------------------------------------------------------------


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may replace or make a device")
def test_a_device_is_written_to_and_stays_a_device_even_for_root(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("no devices here")
    result = dpgraph.private_degrees(nx.path_graph(4), epsilon=1.0)
    write_atomically(device, "content")
    save_result(result, device)
    assert stat.S_ISCHR(device.stat().st_mode)
    assert list(tmp_path.iterdir()) == [device]


def test_a_folder_is_refused_and_kept(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(folder, "content")
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.parametrize("there", [True, False], ids=["there", "dangling"])
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


def test_a_link_to_itself_is_an_error(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(OSError, match="link"):
        write_atomically(link, "new")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, umask, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write_atomically(path, "new")
    assert (path.read_text(), mode_of(path)) == ("new", mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path, umask, mask):
    os.umask(mask)
    write_atomically(tmp_path / "file", "new")
    assert mode_of(tmp_path / "file") == 0o666 & ~mask


def test_nothing_asks_for_the_umask_of_the_process(tmp_path, monkeypatch):
    """To ask for it is to change it: what another thread makes meanwhile could be read by everybody."""
    monkeypatch.delattr(os, "umask")
    write_atomically(tmp_path / "file", "new")


@pytest.mark.parametrize("old", [None, 0o600, 0o644])
def test_what_is_for_its_owner_is_never_readable_by_others(tmp_path, umask, monkeypatch, old):
    path, seen, replace = tmp_path / "file", [], os.replace
    if old is not None:
        path.write_text("old")
        path.chmod(old)
    monkeypatch.setattr(os, "fsync", lambda descriptor: seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    monkeypatch.setattr(os, "replace", lambda a, b: (seen.append(mode_of(a)), replace(a, b)))
    write_atomically(path, "secret", owner_only=True)
    assert [*seen, mode_of(path)] == [0o600] * 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_atomically(path, "new")
    assert path.read_text() == "old"


def test_the_longest_name_is_written(tmp_path):
    write_atomically(tmp_path / ("x" * 255), "new")


# --- the command line --------------------------------------------------------------------------------------------


def test_pictures_for_the_owner_are_for_the_owner(tmp_path, umask, graph):
    published, owned = tmp_path / "cut.png", tmp_path / "owner.png"
    assert main(["max-cut", str(graph), *BUDGET, "--plot", str(published), "--owner-plot", str(owned)]) == 0
    assert (mode_of(published), mode_of(owned)) == (0o644, 0o600)


@pytest.mark.parametrize("option", ["--output", "--report"])
@pytest.mark.parametrize("way", ["itself", "a link to it"])
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


def full(descriptor):
    raise OSError(28, "No space left on device")


def run_on_a_full_disk(monkeypatch, arguments, *, fails):
    """Exit status where those files that are made in turn for which `fails` is true do not go to the disk."""
    sync, count = os.fsync, iter(range(99))
    monkeypatch.setattr(os, "fsync", lambda descriptor: full(descriptor) if fails(next(count)) else sync(descriptor))
    return main(arguments)


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_a_disk_that_is_full_for_one_file_takes_the_others_and_the_error_says_which(
    tmp_path, monkeypatch, capsys, graph, fails
):
    paths = [tmp_path / name for name in ("cut.csv", "report.json", "cut.png")]
    for path in paths:
        path.write_text("old")
    options = [word for pair in zip(("--output", "--report", "--plot"), map(str, paths), strict=True) for word in pair]
    status = run_on_a_full_disk(monkeypatch, ["max-cut", str(graph), *BUDGET, *options], fails=lambda at: at == fails)
    out, err = capsys.readouterr()
    assert status == 1, "2 would say that nothing was released"
    assert err.startswith("dpgraph: error: ")
    assert len(err.splitlines()) == 1
    missing, _, written = err.partition("; written: ")
    assert f"{paths[fails]} (No space left on device)" in missing
    for path in paths:
        assert (str(path) in missing) == (path == paths[fails])
        assert (str(path) in written) == (path != paths[fails]) == (path.read_bytes() != b"old")
    assert "epsilon = 1" in out, "the result and its guarantee are shown, as they are paid for"
    assert len(list(tmp_path.iterdir())) == 4, "a temporary file was left"


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
    command = [sys.executable, "-c", LIMITED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert f"not written: {report} (File too large); written: {table}, standard output" in done.stderr
    assert (len(table.read_text().splitlines()), report.read_text()) == (34, old)
    assert sorted(tmp_path.iterdir()) == [table, graph, report]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_output_that_nobody_takes_is_a_failure_with_the_files_written(tmp_path, graph):
    output = ["--output", str(tmp_path / "degrees.csv")]
    command = [sys.executable, "-m", "dpgraph", "degrees", str(graph), *BUDGET, *output]
    with open("/dev/full", "w") as nowhere:
        done = subprocess.run(command, stdout=nowhere, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "not written: standard output (No space left on device); written:" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "degrees.csv").exists()
