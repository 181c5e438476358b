"""How running times depend on private data.

``python -m benchmarks.timing`` writes benchmarks/results/timing.md. It runs functions with the same public arguments
on inputs that differ as much as private data may, and on one pair of neighbours. Times are medians in milliseconds;
only their ratios mean anything.
"""

import contextlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx

import dpgraph
from dpgraph.exceptions import MechanismHalted

TABLE = Path(__file__).resolve().parent / "results" / "timing.md"
N, REPETITIONS = 300, 3
BUDGET = {"epsilon": 4.0, "delta": 1e-6}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "private_degrees": dpgraph.private_degrees,
    "private_spectrum, k = 4": lambda G, **more: dpgraph.private_spectrum(G, 4, **more),
    "private_normalized_adjacency, coherence": lambda G, **more: dpgraph.private_normalized_adjacency(
        G, mechanism="coherence", **more
    ),
    "private_normalized_adjacency, gaussian": lambda G, **more: dpgraph.private_normalized_adjacency(
        G, mechanism="gaussian", **more
    ),
    **{
        f"private_max_cut, {mechanism}": lambda G, mechanism=mechanism, **more: dpgraph.private_max_cut(
            G, mechanism=mechanism, **more
        )
        for mechanism in ("bounded-iterates", "noisy-power", "randomized-response")
    },
}


def inputs() -> dict[str, nx.Graph]:
    """Graphs on the same public vertices, and a neighbour of the second."""
    planted = dpgraph.datasets.planted_cut(N, 30, -0.8, rng=0)
    neighbour = planted.copy()
    neighbour.remove_edge(*next(iter(neighbour.edges)))
    return {
        "no edges": nx.empty_graph(N),
        "planted, degree 30": planted,
        "one edge less": neighbour,
        "planted, degree 120": dpgraph.datasets.planted_cut(N, 120, -0.8, rng=0),
        "complete": nx.complete_graph(N),
    }


def milliseconds(call: Callable[[], Any]) -> float:
    """Median processor time of a few calls."""
    times = []
    for _ in range(REPETITIONS + 1):
        start = time.process_time()
        with contextlib.suppress(MechanismHalted):
            call()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times[1:])


def main() -> None:
    """Write the table."""
    graphs = inputs()
    lines = ["| function | " + " | ".join(graphs) + " |", "| --- |" + " --- |" * len(graphs)]
    for name, function in FUNCTIONS.items():
        row = [milliseconds(lambda G=G, f=function: f(G, **BUDGET)) for G in graphs.values()]
        lines.append(f"| {name} | " + " | ".join(f"{value:.3g}" for value in row) + " |")
    before = TABLE.read_text().partition("| function |")[0]
    TABLE.write_text("\n".join([before + lines[0], *lines[1:]]) + "\n")


if __name__ == "__main__":
    main()
