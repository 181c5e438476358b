"""What it costs to protect persons in place of edges: counts, degrees and communities at 1, 10 and 50 edges a person.

    python benchmarks/persons.py
    python benchmarks/persons.py --distributions    # three minutes

The first writes results/persons.md: medians of relative errors of the numbers of edges and triangles, of
Kolmogorov-Smirnov distances of the degree distribution, and means of the share of Louvain's modularity; and beside them
what protects a person with any number of edges. The second writes results/node_distributions.md: the distance of
distributions that protect whole vertices, beside the least of all limits D, had an oracle chosen it for free.
"""

import sys
from unittest import mock

import igraph
import networkx as nx
import numpy as np
from common import DATA, RESULTS, markdown_table
from degree_distribution import distance

import dpgraph
from dpgraph.releases import nodes

GRAPHS = ("fb100-Rice31", "wiki-Vote", "lastfm-asia", "ca-AstroPh")
PERSONS = (1, 10, 50)
EPSILONS = (1.0, 4.0)
RUNS = 3
LARGE = (
    "ca-HepPh", "fb100-Stanford3", "fb100-Harvard1", "ca-AstroPh", "ca-CondMat", "ca-HepTh", "lastfm-asia", "wiki-Vote",
    "email-Enron",
)  # fmt: skip


def measured(graph: nx.Graph, epsilon: float) -> list[list[float]]:
    """Rows of edges, triangles, degrees, communities; columns of persons, and of whole vertices in the end."""
    g = igraph.Graph.from_networkx(graph)
    best = max(g.community_multilevel().modularity for _ in range(3))
    degrees = np.array([d for _, d in graph.degree])
    n, exact = len(graph), {"edge": graph.number_of_edges(), "triangle": sum(nx.triangles(graph).values()) / 3}
    rows: list[list[float]] = [[], [], [], []]
    for k in (*PERSONS, None):
        runs: list[list[float]] = [[], [], [], []]
        for _ in range(RUNS):
            node = {} if k else {"adjacency": "node"}
            with dpgraph.PrivacyAccountant(epsilon=1e6, edges_per_person=k or 1):
                found = dpgraph.private_subgraph_counts(graph, "edge", epsilon=epsilon, **node).counts["edge"]
                runs[0].append(abs(found / exact["edge"] - 1))
            with dpgraph.PrivacyAccountant(epsilon=1e6, edges_per_person=k or 1):
                found = dpgraph.private_degree_distribution(graph, epsilon=epsilon, **node).degree_sequence
                runs[2].append(distance(found, degrees, n))
            if k is None:
                continue
            with dpgraph.PrivacyAccountant(epsilon=1e6, edges_per_person=k):
                found = dpgraph.private_subgraph_counts(graph, "triangle", epsilon=epsilon).counts["triangle"]
                runs[1].append(abs(found / exact["triangle"] - 1))
                labels = dpgraph.private_communities(graph, epsilon=epsilon).labels
                runs[3].append(g.modularity(labels.tolist()) / best)
        for row, values, law in zip(rows, runs, (np.median, np.median, np.median, np.mean), strict=True):
            row.append(float(law(values)) if values else float("nan"))
    return rows


def distributions() -> None:
    """Distances of distributions that protect whole vertices, with the limit that is chosen and with the best one."""
    graphs = {name: dpgraph.datasets.load(name, data_dir=DATA) for name in LARGE}
    graphs["Barabasi-Albert, 5"] = nx.barabasi_albert_graph(12_000, 5, seed=4)
    graphs["Barabasi-Albert, 20"] = nx.barabasi_albert_graph(12_000, 20, seed=4)
    graphs["small world"] = nx.watts_strogatz_graph(12_000, 10, 0.2, seed=4)
    rows = []
    for name, graph in graphs.items():
        A, degrees = nx.to_scipy_sparse_array(graph, weight=None), np.array([d for _, d in graph.degree])

        def found(A=A, degrees=degrees) -> tuple[float, int]:
            result = dpgraph.private_degree_distribution(A, epsilon=1.0, adjacency="node")
            return distance(result.degree_sequence, degrees, degrees.size), int(result.ends[-1])

        ours = [found() for _ in range(5)]
        limits = [limit for limit in nodes._limits(degrees.size) if 8 <= limit <= 2 * degrees.max()]
        best = []
        for limit in limits:
            place = nodes._limits(degrees.size).index(limit)
            with mock.patch.multiple(nodes, _chosen=lambda *_, at=place: at, twice_the_flow=lambda *_: 0):
                best.append((float(np.median([found()[0] for _ in range(5)])), limit))
        least, limit = min(best)
        chosen = int(np.median([limit for _, limit in ours]))
        distances = [d for d, _ in ours]
        cells = (f"{np.median(distances):.3f}", f"{max(distances):.3f}", str(chosen), f"{least:.3f}", str(limit))
        rows.append([name, f"{degrees.size:,}", f"{degrees.mean():.1f}", *cells])
        print(*rows[-1], flush=True)
    header = ["graph", "vertices", "degree", "distance", "largest of 5", "limit", "with the best limit", "which is"]
    text = (
        "# Degree distributions that protect whole vertices",
        "Largest error of the shares of vertices of at least some degree at epsilon 1: median and largest of five "
        "runs. In the last\ntwo columns 95 % of epsilon with the limit that an oracle knows to be best. "
        "Made by `benchmarks/persons.py`.",
        markdown_table(header, rows),
    )
    (RESULTS / "node_distributions.md").write_text("\n\n".join(text) + "\n")


def main() -> None:
    if "--distributions" in sys.argv:
        distributions()
        return
    names = ("edges", "triangles", "degrees", "communities")
    rows = []
    for name in GRAPHS:
        graph = dpgraph.datasets.load(name, data_dir=DATA)
        for epsilon in EPSILONS:
            for what, row in zip(names, measured(graph, epsilon), strict=True):
                cells = (f"{x:.2f}" if what == "communities" else f"{100 * x:.2g} %" for x in row if x == x)
                rows.append([name, f"{epsilon:g}", what, *cells, *["-"] * sum(x != x for x in row)])
    text = [
        "# What it costs to protect persons in place of edges",
        "Medians of three runs: relative errors of the numbers of edges and triangles, largest error of the degree "
        "distribution;\nfor communities the mean share of Louvain's modularity. Made by `benchmarks/persons.py`.",
        markdown_table(["graph", "epsilon", "of", *(f"k = {k}" for k in PERSONS), "vertices"], rows),
    ]
    (RESULTS / "persons.md").write_text("\n\n".join(text) + "\n")


if __name__ == "__main__":
    main()
