"""Edges of a symmetric matrix, and the graphs of networkx and igraph that it stands for."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scipy import sparse

from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import igraph
    import networkx as nx


def upper_edges(A: sparse.csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows i < j of the ends of each edge, by rows, and its weight."""
    upper = sparse.triu(A, k=1, format="coo")
    return *upper.coords, upper.data


def to_networkx(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None = None) -> nx.Graph:
    """A ``networkx.Graph`` of these vertices, with the entries as edge attribute `weight` unless that is None."""
    import networkx as nx

    tails, heads, weights = upper_edges(A)
    G = nx.Graph()
    G.add_nodes_from(nodes)
    neighbours: dict[Hashable, dict[Hashable, dict[str, float]]] = G._adj  # noqa: SLF001 # add_edges_from takes longer
    with _uncollected():
        for i, j, w in zip(tails.tolist(), heads.tolist(), weights.tolist(), strict=True):
            u, v = nodes[i], nodes[j]
            neighbours[u][v] = neighbours[v][u] = {} if weight is None else {weight: w}
    return G


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage collection meanwhile, which would look at all of many new dicts again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def to_igraph(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None = None) -> igraph.Graph:
    """:func:`to_networkx` for igraph, with the vertices as vertex attribute ``name``."""
    import igraph

    tails, heads, weights = upper_edges(A)
    G = igraph.Graph(n=len(nodes), edges=list(zip(tails.tolist(), heads.tolist(), strict=True)))
    G.vs["name"] = list(nodes)
    if weight is not None:
        G.es[weight] = weights.tolist()
    return G
