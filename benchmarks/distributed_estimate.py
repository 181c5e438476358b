"""What 10^10 edges would take on a named cluster, by arithmetic from the table of ``distributed_graphs.py``.

    python benchmarks/distributed_estimate.py

writes ``results/distributed_estimate.md``, and measures again what the client needs for a sweep.
"""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass

from common import RESULTS, markdown_table

TABLE = RESULTS / "distributed_estimate.md"
ABOUT = """10⁸ vertices; 50 workers of 4 threads and 16 GB, 10 Gbit/s each; a client of 128 GB; row groups
of 10⁷ rows. `benchmarks/distributed_estimate.py` computes it from [measurements](distributed_graphs.md); nothing of
that size was run."""
EDGES, VERTICES, WORKERS, THREADS, BLOCKS = 10**10, 10**8, 50, 4, 1000
#: Bytes a second of a network card.
NETWORK = 1.25e9
#: Sweeps of a private cut, and rounds in all of them: of 504 blocks in the first, of 64 in the others.
SWEEPS, ROUNDS = 8, 504 + 7 * 64
#: Processor seconds of the client for each worker that it asks in a round, and for each vertex and sweep, to draw noise
#: and to set rows: `client_seconds`.
ASKED, CLIENT_VERTEX = 0.8e-3, 0.6e-6


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
    least, swept = min(degrees), 10_000_000
    read = max((degrees[m] - degrees[least]) / (m - least) for m in degrees if m > least)
    cut = float(lines["cut, two workers", swept])
    return Constants(read, (cut - degrees[swept]) / (2 * swept * SWEEPS))


def client_seconds(m: int = 10_000_000) -> tuple[float, float]:
    """Processor seconds of the client for a question to a worker, and for a vertex and sweep: of cuts of two sizes."""
    import distributed
    from distributed_graphs import LIMIT, OPTIONS, planted
    from distributed_graphs import VERTICES as A_VERTEX

    import dpgraph

    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0"}
    sizes, spent = (3 * m // 10, m), []
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, direct_to_workers=True):
        for size in sizes:
            seconds = []
            for function in ("private_degrees", "private_max_cut"):
                start = time.process_time()
                getattr(dpgraph, function)(dpgraph.edge_frame(planted(size), nodes=int(size * A_VERTEX)), **OPTIONS)
                seconds.append(time.process_time() - start)
            spent.append(seconds[1] - seconds[0])
    a_vertex = (spent[1] - spent[0]) / ((sizes[1] - sizes[0]) * A_VERTEX * SWEEPS)
    return (spent[1] - a_vertex * sizes[1] * A_VERTEX * SWEEPS) / (2 * ROUNDS), a_vertex


def estimate(known: Constants) -> list[tuple[str, str, float, str]]:
    """Names, arithmetic, numbers and their units."""
    threads, entries = WORKERS * THREADS, 2 * EDGES
    return [
        ("reading, processor", f"10¹⁰ · {known.read * 1e6:.1f} µs / {threads}", EDGES * known.read / threads, "s"),
        ("sorting, network", f"2·10¹⁰ · 24 B / {WORKERS} workers", entries * 24 / WORKERS / NETWORK, "s"),
        ("blocks on disk, a worker", f"2·10¹⁰ · 4 B / {WORKERS}", entries * 4 / WORKERS / 1e9, "GB"),
        ("memory of a worker", "4 · 10⁷ rows · 150 B + 0.3 GB", THREADS * EDGES / BLOCKS * 150 / 1e9 + 0.3, "GB"),
        ("degrees, bytes to the client", "10⁸ · 8 B", VERTICES * 8 / 1e9, "GB"),
        ("a sweep, bytes to the client", "10⁸ · 8 B", VERTICES * 8 / 1e9, "GB"),
        ("a sweep, bytes to each worker", "10⁸ · (4 + 2 + 2) B", VERTICES * 8 / 1e9, "GB"),
        (
            "a sweep, network of the client",
            f"10⁸ · (2 · {WORKERS} + 14) B / 1.25 GB/s",
            VERTICES * (2 * WORKERS + 14) / NETWORK,
            "s",
        ),
        (
            f"{SWEEPS} sweeps, questions",
            f"{ROUNDS} · {WORKERS} · {ASKED * 1e3:.1f} ms",
            ROUNDS * WORKERS * ASKED,
            "s",
        ),
        ("a sweep, noise and rows, client", f"10⁸ · {CLIENT_VERTEX * 1e6:.1f} µs", VERTICES * CLIENT_VERTEX, "s"),
        (
            "a sweep, workers, a thread each",
            f"2·10¹⁰ · {known.swept * 1e6:.2f} µs / {WORKERS}",
            entries * known.swept / WORKERS,
            "s",
        ),
        ("memory of the client", "10⁸ · 30 · 8 B", VERTICES * 240 / 1e9, "GB"),
    ]


def text() -> str:
    table = markdown_table(
        ["", "arithmetic", "about"],
        [[a, b, f"{float(f'{x:.2g}'):g} {unit}"] for a, b, x, unit in estimate(constants())],
    )
    return f"# 10¹⁰ edges, an estimate\n\n{ABOUT}\n\n{table.strip()}\n"


if __name__ == "__main__":
    TABLE.write_text(text())
    print(text())
    asked, vertex = client_seconds()
    print(f"client, measured now: {asked * 1e3:.2f} ms a question, {vertex * 1e6:.2f} µs a vertex and sweep")
