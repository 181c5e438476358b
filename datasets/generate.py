"""Write the bundled graphs of dpgraph/data. Run from anywhere: python datasets/generate.py."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx

from dpgraph.datasets import planted_bisection, planted_cut

DATA = Path(__file__).resolve().parent.parent / "dpgraph" / "data"


def write(name: str, how: str, G: nx.Graph) -> None:
    """Write one compressed edge list whose first line says how the graph was made."""
    lines = [
        f"# {name}: {how}",
        f"# Nodes: {G.number_of_nodes()} Edges: {G.number_of_edges()}",
        *(f"{u}\t{v}" for u, v in sorted(map(sorted, G.edges))),
    ]
    # No time stamp in the gzip header: equal input gives equal bytes.
    (DATA / f"{name}.txt.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), mtime=0))


def main() -> None:
    """Generate every bundled graph, the same bytes on every run."""
    write("five-cycle", "networkx.cycle_graph(5)", nx.cycle_graph(5))
    write("planted-cut", "planted_cut(600, 100, -0.75, rng=600)", planted_cut(600, 100, -0.75, rng=600))
    write(
        "planted-bisection",
        "planted_bisection(400, 30, 0.6, rng=400)",
        planted_bisection(400, 30, 0.6, rng=400),
    )


if __name__ == "__main__":
    main()
