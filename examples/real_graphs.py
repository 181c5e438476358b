"""Which graph the notebooks run on: a real one where a folder of graphs is at hand, otherwise a substitute."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import networkx as nx

from dpgraph import datasets
from dpgraph.exceptions import DatasetError


def real_graph(name: str, substitute: Callable[[], nx.Graph]) -> nx.Graph:
    """Load a graph from the folder DPGRAPH_DATA (or ../shared/graphs beside the repository), or make a substitute.

    The network is not used: ``datasets.load(name)`` would fetch SNAP and Gset graphs by itself.
    """
    folder = Path(os.environ.get("DPGRAPH_DATA", "../../shared/graphs"))  # from the folder of the notebooks
    try:
        G = datasets.load(name, data_dir=folder, download=False)
    except DatasetError:
        G = substitute()
        name = f"a substitute for {name}"
    print(f"{name}: {G.number_of_nodes()} vertices, {G.number_of_edges()} edges (public in this example)")
    return G
