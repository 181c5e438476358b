"""Differentially private max-cut of one graph, from loading it to a picture: what `make demo` runs.

    python examples/demo.py [NAME or FILE] [EPSILON]

Without arguments: the real graph wiki-Vote (who voted on whom to become a Wikipedia administrator; SNAP) if a folder of
real graphs is at hand (DPGRAPH_DATA, or ../shared/graphs), else a random graph that comes with the package. The network
is not used. Writes demo/cut.csv, demo/report.json and demo/cut.png.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

import networkx as nx

import dpgraph
from dpgraph import datasets
from dpgraph.plot import plot_cut

REPOSITORY = Path(__file__).resolve().parent.parent
OUTPUT = REPOSITORY / "demo"
DELTA = 1e-6


def choose_graph(wanted: str | None) -> tuple[str, nx.Graph]:
    if wanted is not None:
        return wanted, datasets.read_edgelist(wanted) if Path(wanted).is_file() else datasets.load(wanted)
    folder = Path(os.environ.get("DPGRAPH_DATA") or REPOSITORY.parent / "shared" / "graphs")
    if (folder / "MANIFEST.tsv").is_file():
        print(f"graph: wiki-Vote, a real network (SNAP), from {folder}")
        return "wiki-Vote", datasets.load("wiki-Vote", data_dir=folder, download=False)
    print("graph: planted-cut, a random graph bundled with dpgraph (no folder of real graphs found)")
    return "planted-cut", datasets.load("planted-cut")


def save(name: str, result: dpgraph.PrivateCutResult) -> None:
    OUTPUT.mkdir(exist_ok=True)
    with (OUTPUT / "cut.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["node", "side"])
        rows.writerows(zip(result.nodes, result.labels.tolist(), strict=True))
    report = {
        "graph": name,
        "mechanism": result.mechanism,
        "estimated_value": result.estimated_value,
        "estimated_value_std": result.estimated_value_std,
        "privacy": result.privacy.to_dict(),
    }
    (OUTPUT / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    plot_cut(result, title=name).savefig(OUTPUT / "cut.png", dpi=200)


def main(arguments: list[str]) -> None:
    name, G = choose_graph(arguments[0] if arguments else None)
    epsilon = float(arguments[1]) if len(arguments) > 1 else 1.0
    # The vertices are public, the edges are the secret: one edge more or less hardly changes what is published.
    result = dpgraph.private_max_cut(G, epsilon=epsilon, delta=DELTA)

    first, second = result.partition
    print(f"\npublished, ({epsilon:g}, {result.privacy.delta:g})-differentially private; mechanism {result.mechanism}:")
    print(f"  sides       {len(first)} + {len(second)} vertices")
    half = result.privacy.half_width("cut weight")
    print(f"  cut         {result.estimated_value:.0f} ± {half:.0f} edges (estimate, 95 % interval)")
    print(f"  share       {result.estimated_fraction:.3f} of all edges; a random cut has 0.5 (estimate)")
    print(f"\nthe guarantee, release by release:\n{result.privacy.table()}")

    exact = dpgraph.evaluate.cut_value(G, result.partition)
    print(f"\nthis graph is public, so we may look: the cut has {exact:.0f} of {G.number_of_edges()} edges,")
    print("which nobody must publish if the edges are secret. NOT PRIVATE.")
    save(name, result)
    print(f"\nwrote cut.csv, report.json and cut.png to {OUTPUT}")


if __name__ == "__main__":
    main(sys.argv[1:])
