"""Max-bisection: two halves of a graph with as many edges as possible between them.

    python examples/max_bisection.py [EPSILON]

With a folder of real graphs (DPGRAPH_DATA, or ../shared/graphs): G43 of the Gset, a standard benchmark of max-cut, and
the friendships of Reed College (Facebook100). Otherwise the random graph that comes with the package. Friendships are
what privacy is for; the Gset graph shows what privacy costs on a sparse random graph.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import networkx as nx

import dpgraph
from dpgraph import datasets

DELTA = 1e-6
REAL = ("G43", "fb100-Reed98")


def graphs() -> dict[str, nx.Graph]:
    """Name -> graph; the network is not used."""
    folder = Path(os.environ.get("DPGRAPH_DATA") or Path(__file__).resolve().parents[2] / "shared" / "graphs")
    if (folder / "MANIFEST.tsv").is_file():
        return {name: datasets.load(name, data_dir=folder, download=False) for name in REAL}
    return {"planted-cut": datasets.load("planted-cut")}


def compare(name: str, G: nx.Graph, epsilon: float) -> dict[str, float]:
    """Exact and private bisection of one graph."""
    m = G.number_of_edges()
    exact = dpgraph.max_bisection(G, rng=0, sweeps=60)
    private = dpgraph.private_max_bisection(G, epsilon=epsilon, delta=DELTA)
    first, second = sorted(map(len, private.partition))
    crossing = dpgraph.evaluate.cut_fraction(G, private)
    print(f"{name}: {len(G)} vertices, {m} edges (not private); a random bisection cuts about half of them")
    print(f"  exact     {exact.value:.0f} edges, share {exact.value / m:.4f}; ", end="")
    print(f"no bisection exceeds {exact.upper_bound / m:.4f} ({exact.certificate})")
    half = private.privacy.half_width("cut weight")
    print(f"  private   {private.estimated_value:.0f} ± {half:.0f} edges (estimate, 95 % interval), ", end="")
    print(f"share {crossing:.4f} (not private), sides {first} + {second}")
    print(f"  guarantee {private.privacy}")
    sides = {abs(len(a) - len(b)) for a, b in (exact.partition, private.partition)}
    return {
        "exact": exact.value / m,
        "bound": exact.upper_bound / m,
        "private": crossing,
        "difference": float(max(sides)),
    }


def main(epsilon: float = 2.0) -> dict[str, dict[str, float]]:
    return {name: compare(name, G, epsilon) for name, G in graphs().items()}


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
