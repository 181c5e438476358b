"""Graphs on a Dask cluster of two workers: the releases of one machine, whatever happens to the workers."""

import errno
import logging
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpgraph

pytest.importorskip("dask.dataframe", reason="needs the extra dpgraph[distributed]")

import dask
import dask.dataframe as dd
import distributed
from distributed import Client, LocalCluster

from dpgraph.distributed import graph as distributed_graph
from dpgraph.distributed import sweeps, triangles, waiting
from dpgraph.distributed import tables as tables_of_edges
from dpgraph.distributed.blocks import Edges
from dpgraph.inputs.edge_tables import PLAIN, NameRules
from dpgraph.inputs.graphs import open_graph
from dpgraph.linalg.eigen import leading_eigenpairs
from dpgraph.privacy import noise
from dpgraph.releases.normalized import normalized_operator
from dpgraph.releases.subgraphs import subgraphs_of
from tests import programs
from tests.security.neighbouring_worlds import OBJECTS

N, FEW = 400, 24
TWO = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Two workers in this process: others would import for seconds what a test has imported."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    folder = str(tmp_path_factory.mktemp("workers"))
    with LocalCluster(**TWO, processes=False, local_directory=folder) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def edges():
    """Two groups, with parallel edges, edges in both directions, loops, and weights up to 2."""
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    source, target = rng.integers(0, N, (2, 16_000))
    kept = (side[source] == side[target]) | (rng.random(16_000) < 0.2)
    frame = pd.DataFrame({"source": source[kept], "target": target[kept]})
    return frame.assign(weight=rng.random(len(frame)) * 2)


@pytest.fixture(scope="module")
def tables(client, edges):
    """The graph on one machine, and on the cluster."""
    return dpgraph.edge_frame(edges, nodes=N), dpgraph.edge_frame(dd.from_pandas(edges, npartitions=3), nodes=N)


def tasks(client):
    """How many tasks the cluster knows, once it has forgotten those that nobody wants."""
    counts = []
    while len(counts) < 10 or len(set(counts[-10:])) > 1:
        counts.append(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
        time.sleep(0.05)
    return counts[-1]


RELEASES = {
    "answers in a core": ("private_max_cut", {"epsilon": 20.0, "mechanism": "randomized-response"}, "labels"),
    "coherence": ("private_normalized_adjacency", {"epsilon": 60.0, "delta": 1e-6, "mechanism": "coherence"}, "basis"),
    "communities of weights": ("private_communities", {"epsilon": 2.0, "weight": "weight", "max_weight": 2}, "degrees"),
    "cut, one look": ("private_max_cut", {"epsilon": 0.2, "mechanism": "bounded-iterates"}, "labels"),
    "cut, sweeps": ("private_max_cut", {"epsilon": 2.0, "mechanism": "bounded-iterates"}, "labels"),
    "degree distribution": ("private_degree_distribution", {"epsilon": 1.0}, "counts"),
    "degrees of capped weights of joined arcs": (
        "private_degrees",
        {"epsilon": 1.0, "weight": "weight", "max_weight": 0.7, "symmetrize": True},
        "values",
    ),
    "degree distribution, all edges of a vertex": (
        "private_degree_distribution",
        {"epsilon": 1.0, "adjacency": "node"},
        "counts",
    ),
    "noisy power": (
        "private_normalized_adjacency",
        {"epsilon": 4.0, "delta": 1e-6, "mechanism": "noisy-power", "rank": 2},
        "basis",
    ),
    "synthetic graph": (  # of edges that count 1, whatever they weigh
        "private_synthetic_graph",
        {"epsilon": 4.0, "weight": "weight", "max_weight": 2.0},
        "degrees",
    ),
    "vector": ("private_normalized_adjacency", {"epsilon": 2.0, "mechanism": "noisy-power", "rank": 1}, "basis"),
}


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_releases_are_those_of_one_machine_to_the_bit(tables, name):
    function, options, field = RELEASES[name]
    one, many = (vars(getattr(dpgraph, function)(table, rng=1, **options)) for table in tables)
    assert np.size(one[field]) > 1
    for key, value in one.items():
        if isinstance(value, (bool, float, int, np.ndarray)):
            assert np.array_equal(value, many[key], equal_nan=True), key
    assert one["privacy"] == many["privacy"]


def test_the_certified_eigensolver_asks_the_workers_for_products(tables, monkeypatch):
    """This graph is small, so that its matrix would be decomposed; the looser tolerance saves time."""
    monkeypatch.setattr("dpgraph.linalg.eigen.DENSE_LIMIT", 100)
    asked, multiply = [], distributed_graph.DistributedGraph.multiply
    monkeypatch.setattr(
        distributed_graph.DistributedGraph, "multiply", lambda graph, X: (asked.append(X.shape), multiply(graph, X))[1]
    )
    pairs = []
    for table in tables:
        graph = open_graph(table).read()
        operator = normalized_operator(graph, graph.degrees() + 1.0)
        generator = np.random.default_rng(0)
        pairs.append(leading_eigenpairs(operator, 2, tolerance=1e-2, generator=generator))
    one, many = pairs
    assert len(asked) > 20
    assert max(np.prod(shape) for shape in asked) <= 3 * N  # and never with the identity
    assert np.array_equal(one.values, many.values)
    assert np.array_equal(one.vectors, many.vectors)
    assert one.residual == many.residual <= 1e-2


@pytest.mark.parametrize("sent", [1000, 2**22])
def test_triangles_are_counted_on_the_workers(tables, monkeypatch, sent):
    monkeypatch.setattr(triangles, "_SENT", sent)
    monkeypatch.setattr(distributed_graph.DistributedGraph, "adjacency", property(lambda _: pytest.fail("all rows")))
    one, many = (subgraphs_of(open_graph(table).read()) for table in tables)
    assert one.count("triangle") == many.count("triangle") > 1000
    assert one.widths("triangle") == many.widths("triangle") > (10, 1)
    assert one.count("edge") == many.count("edge")


@pytest.fixture
def few(client, edges, monkeypatch):
    """The same of the first vertices; their rows stay on the workers, few as they are."""
    monkeypatch.setattr(sweeps, "_FEW", 0)
    monkeypatch.setattr(sweeps, "_AHEAD", 100)
    inside = edges[(edges["source"] < FEW) & (edges["target"] < FEW)]
    return dpgraph.edge_frame(inside, nodes=FEW), dpgraph.edge_frame(dd.from_pandas(inside, npartitions=3), nodes=FEW)


def test_workers_are_asked_about_the_rows_that_they_keep_and_answer_as_one_machine(few, monkeypatch):
    """A round moves what the last block was set to, in two bytes a number, and the fields of the next one."""
    monkeypatch.setattr(distributed_graph.Blocks, "rows", lambda *_, **__: pytest.fail("rows came to the client"))
    moved, ask, pack = [], sweeps.Sweep._ask, sweeps.packed
    monkeypatch.setattr(sweeps.Sweep, "_ask", lambda *a: moved.append((found := ask(*a)).nbytes) or found)
    monkeypatch.setattr(sweeps, "packed", lambda X: moved.append((found := pack(X)).nbytes) or found)
    weighted = {"weight": "weight", "max_weight": 2.0}
    for name, options, columns in (
        ("private_max_cut", {"epsilon": 2.0, "mechanism": "bounded-iterates"}, 1),
        ("private_max_k_cut", {"k": 3, "epsilon": 20.0, "mechanism": "bounded-iterates", **weighted}, 3),
        ("private_communities", {"epsilon": 4.0, **weighted}, 6),
    ):
        moved.clear()
        one, many = (getattr(dpgraph, name)(table, rng=1, **options) for table in few)
        assert np.array_equal(one.labels, many.labels)
        assert one.privacy == many.privacy
        assert len(moved) > 20
        sweeps_of_all = len(one.privacy.entries) * 8
        assert sum(moved) < sweeps_of_all * (8 + 2 + 2) * FEW * columns


def check_losing_a_worker(few, lose, monkeypatch):
    one, many = few
    options = {"epsilon": 2.0, "mechanism": "bounded-iterates", "rng": 3}
    asked, ask = [], sweeps.Sweep._ask

    def lose_one(*args):
        asked.append(1)
        if len(asked) == 5:  # in the middle of the sweeps
            lose()
        return ask(*args)

    monkeypatch.setattr(sweeps.Sweep, "_ask", lose_one)
    budget = dpgraph.PrivacyAccountant(epsilon=10.0)
    found = dpgraph.private_max_cut(many, accountant=budget, **options)
    assert len(asked) > 20
    assert np.array_equal(found.labels, dpgraph.private_max_cut(one, **options).labels)
    assert budget.spent == (2.0, 0.0)


def test_a_lost_worker_changes_no_output_and_spends_nothing_twice(few, client, monkeypatch):
    lost = next(iter(client.cluster.workers.values()))
    check_losing_a_worker(few, lambda: client.sync(lost.close, executor_wait=False), monkeypatch)
    assert lost.address not in client.scheduler_info(n_workers=-1)["workers"]
    client.cluster.scale(3)  # for the tests that follow
    client.wait_for_workers(2)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 1])
def test_nor_does_one_that_is_killed(few, monkeypatch, workers):
    with LocalCluster(**TWO | {"n_workers": workers}) as cluster, Client(cluster) as client:
        killed = min(client.run(os.getpid).values())
        check_losing_a_worker(few, lambda: os.kill(killed, signal.SIGKILL), monkeypatch)


def test_numbers_that_take_long_to_come_are_waited_for(tables, client, monkeypatch):
    monkeypatch.setattr(waiting, "_SECONDS", 0.01)
    gather = client.gather
    monkeypatch.setattr(client, "gather", lambda tasks: (distributed.wait(tasks), time.sleep(0.3), gather(tasks))[2])
    one, many = (dpgraph.private_degrees(table, epsilon=1.0, rng=0) for table in tables)
    assert np.array_equal(one.values, many.values)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["private_degrees", "private_communities"])
def test_a_call_ends_in_a_sentence_where_all_workers_are_killed(edges, name, monkeypatch):
    """Dask never gives tasks that had a place to the workers that come after all others."""
    monkeypatch.setattr(waiting, "_SECONDS", 0.5)

    class Killer(dpgraph.PrivacyAccountant):
        def charge(self, ledger):
            super().charge(ledger)
            for worker in client.run(os.getpid).values():
                os.kill(worker, signal.SIGKILL)

    with LocalCluster(**TWO) as cluster, Client(cluster) as client:
        table = dpgraph.edge_frame(dd.from_pandas(edges, npartitions=3), nodes=N)
        with pytest.raises(dpgraph.DPGraphError, match=r"no worker of the cluster .* spent: epsilon = 1"):
            getattr(dpgraph, name)(table, epsilon=1.0, accountant=Killer(epsilon=1.0))


@pytest.mark.parametrize("when", ["before the call", "after the debit", "tasks run"])
def test_a_lost_scheduler_ends_a_call_in_a_sentence_that_says_what_was_spent(edges, when, monkeypatch):
    short = dask.config.set({"distributed.comm.timeouts.connect": "1s"})  # workers look for it as long
    with short, LocalCluster(**TWO, processes=False) as cluster, Client(cluster) as client:
        table = dpgraph.edge_frame(dd.from_pandas(edges, npartitions=3), nodes=N)

        def lose():
            cluster.sync(cluster.scheduler.close)
            while client.status == "running":
                time.sleep(0.01)

        class Loser(dpgraph.PrivacyAccountant):
            def charge(self, ledger):
                super().charge(ledger)
                if when == "after the debit":
                    lose()

        if when == "before the call":
            lose()
        gather, budget = client.gather, Loser(epsilon=1.0)
        monkeypatch.setattr(client, "gather", lambda tasks: (when == "tasks run" and lose(), gather(tasks))[1])
        with pytest.raises(dpgraph.DPGraphError, match=r"cluster") as told:
            dpgraph.private_degrees(table, epsilon=1.0, accountant=budget)
    assert "internal" not in str(told.value)
    assert ("spent: epsilon = 1" in str(told.value)) == bool(budget.spent.epsilon) == (when != "before the call")


KILLED = distributed.KilledWorker("task", None, 4)


FULL = OSError("80 requested and 8 written"), OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(("error", "word"), [(KILLED, "more memory"), *((error, "disk .* is full") for error in FULL)])
def test_a_call_whose_workers_lack_memory_or_room_on_a_disk_asks_for_more(tables, client, monkeypatch, error, word):
    def fail(_):
        raise error

    monkeypatch.setattr(client, "gather", fail)
    with pytest.raises(dpgraph.DPGraphError, match=rf"{word}.* spent: epsilon = 1") as told:
        dpgraph.private_degrees(tables[1], epsilon=1.0)
    assert "requested" not in str(told.value)
    assert "internal" not in str(told.value)


def test_an_asynchronous_client_is_refused_before_the_debit(tables, client, monkeypatch):
    monkeypatch.setattr(type(client), "asynchronous", True)
    budget = dpgraph.PrivacyAccountant(epsilon=1.0)
    with pytest.raises(dpgraph.DPGraphError, match="not asynchronous"):
        dpgraph.private_degrees(tables[1], epsilon=1.0, accountant=budget)
    assert budget.spent == (0.0, 0.0)


def test_nothing_is_spent_without_a_worker_nor_on_a_frame_of_dask_as_records(tables):
    budget, (_, many) = dpgraph.PrivacyAccountant(epsilon=1.0), tables
    with LocalCluster(**TWO | {"n_workers": 0}, processes=False) as cluster, Client(cluster):
        with pytest.raises(dpgraph.DPGraphError, match="with a worker"):
            dpgraph.private_degrees(many, epsilon=1.0, accountant=budget)
        with pytest.raises(dpgraph.InvalidParameterError, match="an array, a frame or a list"):
            dpgraph.private_covariance(many.frame, epsilon=1.0, accountant=budget)
    assert budget.spent == (0.0, 0.0)


def test_a_refused_budget_starts_no_task(tables, client, monkeypatch):
    monkeypatch.setattr(client, "compute", lambda *_: pytest.fail("a task was started"))
    monkeypatch.setattr(client, "submit", lambda *_, **__: pytest.fail("a task was started"))
    with pytest.raises(dpgraph.BudgetExceededError):
        dpgraph.private_degrees(tables[1], epsilon=2.0, accountant=dpgraph.PrivacyAccountant(epsilon=1.0))


@pytest.mark.parametrize("bar", [False, True])
@pytest.mark.parametrize("when", ["a sweep runs", "a worker is asked", "blocks are built"])
def test_an_interrupted_call_has_spent_its_budget_and_leaves_no_task(tables, client, monkeypatch, when, bar):
    if when == "a worker is asked":
        monkeypatch.setattr(sweeps, "_FEW", 0)
    place, name, left = {
        "a sweep runs": (client, "gather", 4),
        "a worker is asked": (sweeps.Sweep, "_ask", 3),
        "blocks are built": (distributed, "as_completed", 1),
    }[when]
    wait, calls = getattr(place, name), []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) < left:
            return wait(*arguments)
        if when != "blocks are built":
            raise KeyboardInterrupt
        return stopped(wait(*arguments))

    def stopped(done):
        yield next(done)
        raise KeyboardInterrupt

    if when == "blocks are built":
        tables[1]._kept.clear()
    else:
        dpgraph.private_degrees(tables[1], epsilon=1.0)  # the table keeps its blocks
    before = tasks(client)
    assert bool(before) == (when != "blocks are built")
    monkeypatch.setattr(place, name, interrupted)
    budget = dpgraph.PrivacyAccountant(epsilon=10.0)
    if when == "blocks are built":  # where the graph is in no frame yet: a debugger keeps no task
        monkeypatch.setenv("DPGRAPH_DEBUG", "1")
    with pytest.raises(KeyboardInterrupt) as kept:
        dpgraph.private_max_cut(tables[1], epsilon=2.0, accountant=budget, progress=bar)
    assert kept.tb
    assert budget.spent == (2.0, 0.0)
    assert len(calls) == left
    assert tasks(client) == before


def test_a_bar_while_edges_are_read_does_not_tell_how_many_blocks_there_are(client, edges, monkeypatch, capsys):
    shown = []

    class Bar(tables_of_edges.tqdm):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            shown.extend([] if self.disable else [(self.desc, self.total)])

        def update(self, n=1):
            shown.extend([(self.desc, n)] if n and not self.disable else [])
            return super().update(n)

    monkeypatch.setattr(tables_of_edges, "tqdm", Bar)
    seen = []
    for parts in (3, 7):
        shown.clear()
        table = dpgraph.edge_frame(dd.from_pandas(edges, npartitions=parts), nodes=N)
        table._kept.clear()
        found = dpgraph.private_degrees(table, epsilon=2.0, rng=1, progress=True)
        seen.append(list(shown))
    assert seen[0] == seen[1]
    assert seen[0].count(("edges are sorted", 1)) == 4  # two for each thread
    assert "edges are sorted: 100%" in capsys.readouterr().err
    assert np.array_equal(found.values, dpgraph.private_degrees(table, epsilon=2.0, rng=1).values)
    assert capsys.readouterr().err == ""


def test_no_key_is_in_a_task_its_name_or_a_log(tables, client, monkeypatch, caplog):
    generators, make = [], noise._cryptographic_generator
    monkeypatch.setattr(noise, "_cryptographic_generator", lambda: generators.append(make()) or generators[-1])
    seen = []

    class Recorder(distributed.SchedulerPlugin):
        def update_graph(self, scheduler, *, keys, **_):
            seen.extend((str(key), pickle.dumps(scheduler.tasks[key].run_spec)) for key in keys)

    client.cluster.scheduler.add_plugin(Recorder(), name="recorder")
    caplog.set_level(logging.DEBUG)
    dpgraph.private_max_cut(tables[1], epsilon=2.0)
    assert len(generators) == 1
    key = generators[0].bit_generator.state["state"]["keysetup"].view(np.uint64)
    words = [word.tobytes() for word in key]
    shown = [str(word) for word in key] + [f"{int(word):x}" for word in key]
    logs = [caplog.text, str(client.get_worker_logs()), str(client.get_scheduler_logs())]
    assert len(seen) > 20
    for name, task in seen:
        assert not any(text in name for text in shown)
        assert not any(word in task for word in words)
    assert not any(text in log for text in shown for log in logs)

    future = client.submit(len, key, key=f"leak-{key[0]}")  # this test sees a key where there is one
    assert future.result() == len(key)
    assert any(words[0] in task and shown[0] in name for name, task in seen)
    client.cluster.scheduler.remove_plugin("recorder")


def test_folders_of_workers_are_closed_to_others(tables, client):
    dpgraph.private_degrees(tables[1], epsilon=1.0)
    modes = client.run(lambda dask_worker: os.stat(dask_worker.local_directory).st_mode & 0o777)
    assert set(modes.values()) == {0o700}


@pytest.mark.slow
def test_two_workers_as_processes_of_their_own_release_a_cut(edges, tmp_path):
    (tmp_path / "edges").mkdir()
    (tmp_path / "scratch").mkdir()
    edges.to_csv(tmp_path / "edges" / "0.csv", index=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {"PATH": path, "PORT": str(port), "SCRATCH": str(tmp_path / "scratch")}
    script = Path(__file__).parents[2] / "examples" / "cluster" / "two_workers.sh"
    done = subprocess.run(
        ["sh", script, tmp_path / "edges", str(N)],
        env=programs.environment(**places),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert re.search(r"^0\.\d+ of about \d+ edges are cut\nPrivacyReport\(epsilon=1", done.stdout, re.MULTILINE)
    assert not [file for file in (tmp_path / "scratch").rglob("*") if file.is_file() and file.stat().st_size > 0]


@pytest.mark.parametrize(("kind", "first"), [("csv", "v"), ("csv", 2**60), ("parquet", "v"), ("parquet", 2**60)])
def test_a_folder_of_files_is_a_graph_of_named_vertices(client, edges, tmp_path, kind, first):
    """Names are texts, or numbers that doubles do not tell apart."""
    names = [first + type(first)(i) if i or first != "v" else "NA" for i in range(N)]
    (tmp_path / "vertices.txt").write_text("\n".join(map(str, names)))
    named = (first + edges[["source", "target"]].astype(type(first))).replace("v0", "NA")
    (tmp_path / "edges").mkdir()
    for k in range(2):
        part, file = named[k::2], tmp_path / "edges" / f"{k}.{kind}"
        part.to_csv(file, index=False) if kind == "csv" else part.to_parquet(file, index=False)
    many = dpgraph.edge_frame(tmp_path / "edges", nodes=tmp_path / "vertices.txt")
    found = dpgraph.private_degrees(many, epsilon=1.0, rng=0)
    one = dpgraph.private_degrees(dpgraph.edge_frame(named, nodes=names), epsilon=1.0, rng=0)
    assert found.nodes == one.nodes
    assert np.array_equal(found.values, one.values)


FAULTS = {"a missing end": "7,", "a negative weight": "7,8,-1", "a word": "7,eight,1", "a padded number": "007,2,1"}
FAULTS |= {"no vertex": f"7,{N},1", "a byte of no UTF-8": "7,\udcff,1"}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_bad_rows_are_refused_in_one_sentence_and_their_owner_finds_them(client, tmp_path, fault):
    rows = ["1,2,1"] * 50
    (tmp_path / "a.csv").write_text("\n".join(["source,target,weight", *rows]))
    rows[20] = rows[40] = FAULTS[fault]
    (tmp_path / "b.csv").write_text("\n".join(["source,target,weight", *rows]), errors="surrogateescape")
    with pytest.raises(dpgraph.InvalidGraphError, match=r"; 2 rows, the first of them row 21 of b.csv, .* No budget"):
        dpgraph.edge_frame(str(tmp_path), nodes=N, weight="weight")
    budget = dpgraph.PrivacyAccountant(epsilon=3.0)
    if fault != "a negative weight":
        kept = dpgraph.edge_frame(str(tmp_path), nodes=N, weight="weight", unknown="drop")
        assert (kept.summary().rows, kept.summary().dropped) == (100, 2)
        dpgraph.private_degrees(kept, epsilon=1.0, weight="weight", max_weight=1.0)
        return
    table = dpgraph.edge_frame(str(tmp_path), nodes=N)
    with pytest.raises(dpgraph.InvalidGraphError, match=r"at least one row .* find_fault .* spent") as caught:
        dpgraph.private_degrees(table, epsilon=1.0, weight="weight", max_weight=1.0, accountant=budget)
    assert not {"21", "b.csv"} & set(str(caught.value).split())  # which row it is is private
    assert budget.spent == (1.0, 0.0)  # it was debited before the rows were read
    assert table.find_fault("weight") == "2 rows, the first of them row 21 of b.csv"
    assert dpgraph.edge_frame(str(tmp_path / "a.csv"), nodes=N).find_fault("weight") is None
    (tmp_path / "c.csv").write_text("")
    with pytest.raises(dpgraph.InvalidGraphError, match=r"c\.csv: expected .* CSV with a header line"):
        dpgraph.edge_frame(str(tmp_path), nodes=N)


@pytest.mark.parametrize("column", ["source", "weight"])
@pytest.mark.parametrize("rules", [PLAIN, NameRules("drop", "strip"), NameRules("drop", str.lower)])
def test_a_worker_raises_nothing_whatever_a_column_of_objects_holds(column, rules):
    """Dask logs what a task that fails was given. A piece that cannot be read is malformed: none is left out."""
    edges, labels = Edges(2, "source", "target", "weight", directed=False), pd.Index(["a", "b"], dtype=object)
    for name, odd in OBJECTS.items():
        table = pd.DataFrame({"source": ["a", "a"], "target": ["b", "b"], "weight": [0.5, 0.5]}, dtype=object)
        table[column] = pd.Series([table[column][0], odd], dtype=object)
        cleaned = tables_of_edges._cleaned(table, edges, labels, rules, rules.unknown == "drop")
        left_out, number = len(cleaned) < 2, column == "weight" and name not in ("list", "huge integer")
        assert edges.arcs(cleaned, labels)[0].faulty or left_out or number, name


def test_files_are_parsed_once_for_a_check_and_several_calls(client, edges, tmp_path, monkeypatch):
    edges.to_csv(tmp_path / "edges.csv", index=False)
    graphs, compute = [], client.compute
    monkeypatch.setattr(client, "compute", lambda *args: graphs.append(1) or compute(*args))
    table = dpgraph.edge_frame(str(tmp_path), nodes=N)
    for function in (dpgraph.private_degrees, dpgraph.private_degree_distribution):
        function(table, epsilon=1.0)
    assert len(graphs) == 1
    assert not pickle.loads(pickle.dumps(table))._kept
    dpgraph.private_degrees(table, epsilon=1.0, symmetrize=True)  # other arcs
    assert len(graphs) == 2


def test_what_is_public_is_checked_before_the_debit(client, edges, tmp_path):
    with pytest.raises(dpgraph.InvalidParameterError, match="nodes="):
        dpgraph.edge_frame(dd.from_pandas(edges, npartitions=1), nodes="frame")
    with pytest.raises(dpgraph.InvalidParameterError, match="no file"):
        dpgraph.edge_frame(tmp_path, nodes=3)
    with pytest.raises(dpgraph.InvalidGraphError, match=f"none of {len(edges)} rows .* no row is left"):
        dpgraph.edge_frame(dd.from_pandas(edges, npartitions=1), nodes=["ann", "bob"], unknown="drop")
    with pytest.raises(dpgraph.InvalidParameterError, match="'from'"):
        dpgraph.edge_frame(dd.from_pandas(edges, npartitions=1), nodes=N, source="from")
    budget = dpgraph.PrivacyAccountant(epsilon=3.0)
    table = dpgraph.edge_frame(dd.from_pandas(edges, npartitions=1), nodes=N)
    with pytest.raises(dpgraph.InvalidParameterError, match="'cost'"):
        dpgraph.private_degrees(table, epsilon=1.0, weight="cost", max_weight=1.0, accountant=budget)
    assert budget.spent == (0.0, 0.0)
