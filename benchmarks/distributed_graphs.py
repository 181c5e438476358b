"""Releases of graphs on Dask: time and memory of a cluster of two workers, beside one machine and what others hold.

The graph has m/10 vertices in two halves, and an edge joins the halves with probability 0.9. It lies in a folder of
Parquet files. Every line is measured in a process of its own with workers of its own, whose memory is limited; memory
is the peak of the client, and of the largest worker that is there in the end. "cut, worker killed" ends a worker with
SIGKILL in the middle of the sweeps. Processor seconds are those of client, scheduler and workers (not of one that was
killed). Lines are kept as they come; ``--fresh`` measures those again that ``--methods`` (parts of names) and
``--largest`` ask for.

    python benchmarks/distributed_graphs.py --largest 10000000

distributed_estimate.py computes 10^10 edges from this table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from common import RESULTS, ResumableTable, markdown_table, slope

#: What stands below the table.
_OLDER = (
    "Cuts of more than 10 million edges, and of 10 million with a killed worker, were measured when sweeps had 1,000 "
    "blocks and then 200; they have 500 at most, and then 25."
)
FOLDER = Path(gettempdir()) / "dpgraph-distributed"
SIZES = (1_000_000, 10_000_000, 30_000_000, 100_000_000)
#: Edges in a file, vertices for each edge, and the part of edges that join the halves.
PIECE, VERTICES, CROSSING = 2_500_000, 0.1, 0.9
#: Rows of a row group, which a worker reads at a time.
ROWS = 250_000
#: Memory of each of the two workers: less than the edge list at 10**8 edges, at 16 bytes an edge. With 450 MB cuts of
#: 3 * 10**7 edges failed; degrees of the committed table had that.
LIMIT = "1500MB"
#: Seconds after which a line is given up.
PATIENCE = 3000
COLUMNS = ("method", "edges", "seconds", "processor_seconds", "client_MB", "worker_MB", "outcome")
OPTIONS: dict[str, Any] = {"epsilon": 2.0, "rng": 1}


# --- graphs ----------------------------------------------------------------------------------------------------------


def planted(m: int) -> Path:
    """Folder of a planted cut of m edges, which is written if it is not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / str(m)
    if not folder.exists():
        rng, n = np.random.default_rng(m), int(m * VERTICES)
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for k, start in enumerate(range(0, m, PIECE)):
            size = min(PIECE, m - start)
            source = rng.integers(0, n, size)
            side = (source + (rng.random(size) < CROSSING)) % 2
            target = 2 * rng.integers(0, n // 2, size) + side
            pq.write_table(
                pa.table({"source": source, "target": target}), unfinished / f"{k:04}.parquet", row_group_size=ROWS
            )
        unfinished.rename(folder)
    return folder


# --- what is measured ------------------------------------------------------------------------------------------------


def on_cluster(function: str, m: int, *, kill: bool = False) -> Callable[[], tuple[str, float, float]]:
    """A release on two workers, and the peak memory of the larger one."""

    def run() -> tuple[str, float, float]:
        import distributed

        import dpgraph
        from dpgraph.distributed import sweeps

        logging.getLogger("distributed").setLevel(logging.ERROR)
        options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0"}
        direct = {"direct_to_workers": True}  # rows do not pass through the scheduler
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, **direct) as client:
            table = dpgraph.edge_frame(planted(m), nodes=int(m * VERTICES))
            if kill:
                kill_one(client, sweeps.Sweep)
            budget = dpgraph.PrivacyAccountant(epsilon=2.0)
            found = getattr(dpgraph, function)(table, accountant=budget, **OPTIONS)
            assert budget.remaining.epsilon < 1e-9  # of 2.0: it is spent, and once
            return digest(found), max(client.run(peak).values()), sum(client.run(time.process_time).values())

    return run


def on_one_machine(function: str, m: int) -> Callable[[], tuple[str, float, float]]:
    """The same release of a table of pandas."""

    def run() -> tuple[str, float, float]:
        import dpgraph

        table = dpgraph.edge_frame(frame(m), nodes=int(m * VERTICES))
        return digest(getattr(dpgraph, function)(table, **OPTIONS)), 0.0, 0.0

    return run


def of_others(package: str, m: int) -> Callable[[], tuple[str, float, float]]:
    """Read the edges into the graph of another package, and add up its (exact) degrees."""

    def run() -> tuple[str, float, float]:
        edges, n = frame(m), int(m * VERTICES)
        if package == "networkx":
            import networkx as nx

            G = nx.Graph()
            G.add_nodes_from(range(n))
            G.add_edges_from(zip(edges["source"].tolist(), edges["target"].tolist(), strict=True))
            return str(sum(degree for _, degree in G.degree())), 0.0, 0.0
        if package == "igraph":
            import igraph

            G = igraph.Graph(n=n, edges=edges.to_numpy()).simplify()
            return str(sum(G.degree())), 0.0, 0.0
        from scipy import sparse

        A = sparse.coo_array((np.ones(len(edges)), (edges["source"], edges["target"])), shape=(n, n)).tocsr()
        A = A + A.T
        return str(int(np.minimum(A.data, 1).sum())), 0.0, 0.0

    return run


def frame(m: int) -> Any:
    import pandas as pd

    return pd.read_parquet(planted(m))


def digest(found: Any) -> str:
    """What two equal releases have in common."""
    values = np.asarray(found.labels if hasattr(found, "labels") else found.values)
    if hasattr(found, "triangles"):
        values = np.concatenate([values, found.degrees, [found.triangles]])
    return hashlib.sha256(values.tobytes()).hexdigest()[:12]


def kill_one(client: Any, sweep: Any) -> None:
    """End a worker when the fifth question is asked in a sweep."""
    asked, ask = [], sweep._ask

    def counted(*args: Any, **kwargs: Any) -> Any:
        asked.append(1)
        if len(asked) == 5:
            workers = client.run(os.getpid)  # those of now: one that took too much memory has been replaced
            os.kill(workers[min(workers)], signal.SIGKILL)
        return ask(*args, **kwargs)

    sweep._ask = counted


def peak() -> float:
    """Megabytes of this process when it had most."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


METHODS: dict[str, Callable[[int], Callable[[], tuple[str, float, float]]]] = {
    "degrees, two workers": lambda m: on_cluster("private_degrees", m),
    "degrees, one machine": lambda m: on_one_machine("private_degrees", m),
    "cut, two workers": lambda m: on_cluster("private_max_cut", m),
    "cut, worker killed": lambda m: on_cluster("private_max_cut", m, kill=True),
    "cut, one machine": lambda m: on_one_machine("private_max_cut", m),
    "communities, two workers": lambda m: on_cluster("private_communities", m),
    "communities, one machine": lambda m: on_one_machine("private_communities", m),
    "synthetic graph, two workers": lambda m: on_cluster("private_synthetic_graph", m),
    "synthetic graph, one machine": lambda m: on_one_machine("private_synthetic_graph", m),
    "scipy, exact degrees": lambda m: of_others("scipy", m),
    "igraph, exact degrees": lambda m: of_others("igraph", m),
    "networkx, exact degrees": lambda m: of_others("networkx", m),
}


def measure(method: str, m: int) -> None:
    """Print one line as JSON."""
    run = METHODS[method](m)
    start = time.perf_counter()
    outcome, worker, of_workers = run()
    seconds = time.perf_counter() - start
    line = {"seconds": f"{seconds:.1f}", "processor_seconds": f"{time.process_time() + of_workers:.1f}"}
    print(json.dumps(line | {"client_MB": f"{peak():.0f}", "worker_MB": f"{worker:.0f}", "outcome": outcome}))


def measured(method: str, m: int) -> dict[str, str]:
    """One line, from a process of its own."""
    command = [sys.executable, __file__, "--measure", method, str(m)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(str(error.stderr)[-2000:], file=sys.stderr)
        return {
            "seconds": "",
            "processor_seconds": "",
            "client_MB": "",
            "worker_MB": "",
            "outcome": type(error).__name__,
        }
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write_table(table: ResumableTable) -> None:
    """The lines, with exponents over the sizes of each method."""
    rows = []
    for method in METHODS:
        lines = sorted(
            (row for row in table.rows.values() if row["method"] == method), key=lambda row: int(row["edges"])
        )
        known = [row for row in lines if row["seconds"]]
        fitted = ""
        if len(known) > 1:
            exponents = [
                slope(np.array([float(row["edges"]) for row in known]), np.array([float(row[name]) for row in known]))
                for name in ("processor_seconds", "client_MB")
            ]
            fitted = ", ".join(f"{exponent:.2f}" for exponent in exponents)
        for row in lines:
            rows.append([*(row[name] for name in COLUMNS), fitted if row is lines[-1] else ""])
    text = markdown_table([*COLUMNS, "exponents of processor_seconds, client_MB"], rows)
    (RESULTS / "distributed_graphs.md").write_text(f"{text}\n{_OLDER}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs=2)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--methods", nargs="*", default=[])
    parser.add_argument("--fresh", action="store_true")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], int(arguments.measure[1]))
        return
    asked = [method for method in METHODS if any(part in method for part in arguments.methods or [""])]
    table = ResumableTable(RESULTS / "distributed_graphs.csv", ("method", "edges"), COLUMNS)
    if arguments.fresh:
        table.drop(lambda row: row["method"] in asked and int(row["edges"]) <= arguments.largest)
    for m in SIZES:
        for method in asked if m <= arguments.largest else ():
            if (method, str(m)) not in table.rows:
                planted(m)
                row = {"method": method, "edges": str(m), **measured(method, m)}
                print(row, flush=True)
                table.add(row)
    write_table(table)


if __name__ == "__main__":
    main()
