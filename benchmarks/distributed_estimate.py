"""What 10^10 edges would take on a named cluster, by arithmetic from the table of ``distributed_graphs.py``.

    python benchmarks/distributed_estimate.py

prints the table of docs/distributed.md and writes it there, and measures again what
the client needs for a sweep.
"""

from __future__ import annotations

import csv
import os
import time
from dataclasses import dataclass

from common import DOCS, RESULTS, markdown_table, quote

EDGES, VERTICES, WORKERS, THREADS, BLOCKS = 10**10, 10**8, 50, 4, 1000
#: Bytes a second of a network card; bytes that a call of the client may fill; seconds of Dask a task.
NETWORK, CLIENT, TASK = 1.25e9, 96e9, 1e-3
SWEEPS = 4
#: Processor seconds of the client an entry and sweep, to receive rows, order and multiply them: `client_seconds`.
CLIENT_ENTRY = 0.08e-6


@dataclass(frozen=True)
class Constants:
    """Processor seconds, from the committed table."""

    read: float  # an edge, to read, sort and store it
    swept: float  # an entry and sweep, by client and workers


def constants() -> Constants:
    """Differences of lines, so that what starts a cluster is not counted; the dearest size of an edge."""
    with (RESULTS / "distributed_graphs.csv").open() as file:
        lines = {(row["method"], int(row["edges"])): row["processor_seconds"] for row in csv.DictReader(file)}
    degrees = {m: float(seconds) for (method, m), seconds in lines.items() if method == "degrees, two workers"}
    least, swept = min(degrees), 30_000_000
    read = max((degrees[m] - degrees[least]) / (m - least) for m in degrees if m > least)
    cut = float(lines["cut, two workers", swept])
    return Constants(read, (cut - degrees[swept]) / (2 * swept * SWEEPS))


def client_seconds(m: int = 10_000_000) -> float:
    """Processor seconds of the client alone, an entry and sweep: those of a cut less those of degrees, two workers."""
    import distributed
    from distributed_graphs import LIMIT, OPTIONS, VERTICES, planted

    import dpgraph

    os.environ["DASK_DISTRIBUTED__P2P__COMM__BUFFER"] = "64 MiB"
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, direct_to_workers=True):
        spent = {}
        for size, function in ((m // 10, "private_max_cut"), (m, "private_degrees"), (m, "private_max_cut")):
            start = time.process_time()
            getattr(dpgraph, function)(dpgraph.edge_frame(planted(size), nodes=int(size * VERTICES)), **OPTIONS)
            spent[size, function] = time.process_time() - start
    return (spent[m, "private_max_cut"] - spent[m, "private_degrees"]) / (2 * m * SWEEPS)


def estimate(known: Constants) -> list[tuple[str, str, float, str]]:
    """Names, arithmetic, numbers and their units."""
    threads, entries, at_a_time = WORKERS * THREADS, 2 * EDGES, CLIENT / 1024
    tasks = entries / at_a_time * BLOCKS
    return [
        ("reading, processor", f"10¹⁰ · {known.read * 1e6:.1f} µs / {threads}", EDGES * known.read / threads, "s"),
        ("sorting, network", f"2·10¹⁰ · 24 B / {WORKERS} workers", entries * 24 / WORKERS / NETWORK, "s"),
        ("blocks on disk, a worker", f"2·10¹⁰ · 4 B / {WORKERS}", entries * 4 / WORKERS / 1e9, "GB"),
        ("memory of a worker", "4 · 10⁷ rows · 150 B + 0.3 GB", THREADS * EDGES / BLOCKS * 150 / 1e9 + 0.3, "GB"),
        ("degrees, bytes to the client", "10⁸ · 8 B", VERTICES * 8 / 1e9, "GB"),
        ("a sweep, bytes to the client", "2·10¹⁰ · 4 B", entries * 4 / 1e9, "GB"),
        ("a sweep, network of the client", "80 GB / 1.25 GB/s", entries * 4 / NETWORK, "s"),
        ("a sweep, tasks", "2·10¹⁰ / (96 GB / 1024) · 1000", tasks, "tasks"),
        ("a sweep, scheduler", "1 ms a task", tasks * TASK, "s"),
        ("a sweep, client", f"2·10¹⁰ · {CLIENT_ENTRY * 1e6:.2f} µs", entries * CLIENT_ENTRY, "s"),
        (
            "a sweep, workers",
            f"2·10¹⁰ · {(known.swept - CLIENT_ENTRY) * 1e6:.2f} µs / {threads}",
            entries * (known.swept - CLIENT_ENTRY) / threads,
            "s",
        ),
        ("memory of the client", "10⁸ · 30 · 8 B + 96 GB / 1024 · 50", (VERTICES * 240 + at_a_time * 50) / 1e9, "GB"),
    ]


def text() -> str:
    return markdown_table(
        ["", "arithmetic", "about"],
        [[a, b, f"{float(f'{x:.2g}'):g} {unit}"] for a, b, x, unit in estimate(constants())],
    )


if __name__ == "__main__":
    print(text())
    quote(DOCS / "distributed.md", "estimate", text())
    print(f"client, measured now: {client_seconds() * 1e6:.3f} µs an entry; the table takes {CLIENT_ENTRY * 1e6:.2f}")
