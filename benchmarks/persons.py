"""What it costs to protect persons in place of edges: counts, degrees and communities at 1, 10 and 50 edges a person.

    python benchmarks/persons.py

writes results/persons.md: medians of relative errors of the numbers of edges and triangles, of
Kolmogorov-Smirnov distances of the degree distribution, and means of the share of Louvain's modularity; and beside them
what protects a person with any number of edges.
"""

import igraph
import networkx as nx
import numpy as np
from common import DATA, RESULTS, markdown_table
from degree_distribution import distance

import dpgraph

GRAPHS = ("fb100-Rice31", "wiki-Vote", "lastfm-asia", "ca-AstroPh")
PERSONS = (1, 10, 50)
EPSILONS = (1.0, 4.0)
RUNS = 3


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


def main() -> None:
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
