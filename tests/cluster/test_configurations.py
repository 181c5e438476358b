"""The files of examples/cluster start a cluster: what they say is run here, as processes of this machine."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import dpgraph
from tests import programs

yaml = pytest.importorskip("yaml")
pytest.importorskip("distributed")

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
CLIENT = "release.py"
INSTALL = "pip install 'dpgraph[distributed]' && "
CUT = re.compile(r"^0\.\d+ of about \d+ edges are cut\nPrivacyReport\(epsilon=1", re.MULTILINE)
N = 600

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of two files of edges."""
    A = dpgraph.datasets.planted_cut_sparse(N, 30, -0.5, rng=0)[0].tocoo()
    folder = tmp_path_factory.mktemp("edges")
    for k in range(2):
        lines = [f"{i},{j}" for i, j in zip(A.row, A.col, strict=True) if i < j and i % 2 == k]
        (folder / f"{k}.csv").write_text("\n".join(["source,target", *lines]))
    return folder


def environment(**more):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return programs.environment() | {"DASK_CONFIG": str(EXAMPLES / "dask.yaml"), "PATH": path} | more


def compose():
    """Commands of docker-compose.yml, of each replica; the client is run by hand, as its first lines say."""
    services = yaml.safe_load((EXAMPLES / "docker-compose.yml").read_text())["services"]
    commands = [s["command"] for s in services.values() for _ in range(s.get("deploy", {}).get("replicas", 1))]
    shells = [re.fullmatch(r'sh -c "(.*)"\s*', command)[1] for command in commands]
    return [*shells, f"{INSTALL}python /cluster/{CLIENT} tcp://scheduler:8786 /edges {N}"]


def kubernetes():
    """Commands of kubernetes.yaml, of each replica."""
    found = [
        d["spec"] for d in yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text()) if "template" in d["spec"]
    ]
    pods = [spec["template"]["spec"]["containers"] for spec in found for _ in range(spec.get("replicas", 1))]
    commands = [container["command"] for pod in pods for container in pod]
    assert all(command[:2] == ["sh", "-c"] for command in commands)
    return [command[2].replace("$(VERTICES)", str(N)) for command in commands]


@pytest.mark.parametrize("commands", [compose, kubernetes], ids=["docker-compose", "kubernetes"])
def test_the_commands_of_the_containers_release_a_cut(commands, folder, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    places = {
        INSTALL: "exec ",
        "dask scheduler": f"dask scheduler --host 127.0.0.1 --port {port} --no-dashboard",
        "scheduler:8786": f"127.0.0.1:{port}",
        "/cluster/": f"{EXAMPLES}/",
        "/edges": str(folder),
        "/scratch": str(tmp_path),
    }
    here = []
    for command in commands():
        assert command.startswith(INSTALL)
        for written, meant in places.items():
            command = command.replace(written, meant)
        here.append(command)
    *servers, client = here
    assert len(servers) == 3
    running = [subprocess.Popen(["sh", "-c", server], env=environment()) for server in servers]
    try:
        done = subprocess.run(["sh", "-c", client], env=environment(), capture_output=True, text=True, timeout=300)
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(timeout=60)
    assert done.returncode == 0, done.stderr
    assert CUT.search(done.stdout)


#: Two tasks at once, ended together, as srun does.
SRUN = """#!/bin/sh
"$@" & first=$!
"$@" & second=$!
trap 'kill $first $second; wait; exit 143' TERM
wait
"""


def run_slurm(folder, tmp_path, **more):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "srun").write_text(SRUN)
    (tmp_path / "bin" / "srun").chmod(0o700)
    for file in EXAMPLES.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    slurm = {"SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1", "WORKER_MEMORY": "1GB"}
    env = environment(**slurm, TMPDIR=str(tmp_path))
    env["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{env['PATH']}"
    command = ["sh", tmp_path / "slurm.sh", folder, str(N)]
    return subprocess.run(command, env=env | more, capture_output=True, text=True, timeout=300)


def test_the_job_for_slurm_releases_a_cut_and_cleans_up(folder, tmp_path):
    done = run_slurm(folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert CUT.search(done.stdout)
    assert not (tmp_path / "scheduler-7.json").exists()


def test_the_job_for_slurm_fails_where_dask_is_missing(folder, tmp_path):
    done = run_slurm(folder, tmp_path, PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert done.returncode != 0
    assert not CUT.search(done.stdout)
