"""Exact values of the caller's own graph: the only module that returns them. Nothing here is private.

Publishing one of these numbers for a private graph spends privacy that no ledger sees.
"""

from collections.abc import Sequence
from typing import Any

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph, vertex_sides
from dpgraph.inputs.graphs import as_graph
from dpgraph.instance import TwoCSP
from dpgraph.linalg.subgraphs import ORDERS, Subgraphs
from dpgraph.progress import tqdm
from dpgraph.typing import BoolArray, GraphLike

__all__ = ["csp_value", "cut_fraction", "cut_value", "subgraph_counts"]


def cut_value(G: GraphLike | Graph, partition: Any, *, weight: str | None = None) -> float:
    """Total weight of the edges whose ends lie on different sides. Not private.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix, or Graph
        The graph; weights may be negative.
    partition : (set, set), dict, numpy array or result object
        Two disjoint collections of labels that cover the vertices; or a mapping label -> 0/1; or an array of n
        labels 0/1 in vertex order; or anything with a ``partition`` attribute of these kinds.
    weight : str, optional
        Edge attribute that holds the weight; None counts every edge as 1. Entries of a matrix are weights.

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        The partition does not put every vertex on exactly one of two sides.

    Examples
    --------
    >>> import networkx as nx
    >>> cut_value(nx.path_graph(3), ({0, 2}, {1}))
    2.0
    """
    graph = as_graph(G, weight=weight)
    return _cut(graph, vertex_sides(graph.nodes, partition))


def cut_fraction(G: GraphLike | Graph, partition: Any, *, weight: str | None = None) -> float:
    """Share of the total weight that the cut crosses: 0.5 for a random cut, 0 for a graph without edges.

    Not private. Parameters and errors as :func:`cut_value`; for negative weights the share of the sum of all weights.

    Examples
    --------
    >>> import networkx as nx
    >>> cut_fraction(nx.complete_graph(4), ({0, 1}, {2, 3}))
    0.6666666666666666
    """
    graph = as_graph(G, weight=weight)
    total = float(graph.adjacency.sum()) / 2.0
    return _cut(graph, vertex_sides(graph.nodes, partition)) / total if total != 0.0 else 0.0


def subgraph_counts(
    G: GraphLike, patterns: str | Sequence[str] = ("triangle",), *, progress: bool = False
) -> dict[str, int]:
    """Copies of patterns in the graph, as :func:`dpgraph.private_subgraph_counts` counts them. Not private.

    With `progress` a bar on stderr counts the patterns.

    Raises
    ------
    InvalidParameterError
        A pattern is unknown.

    Examples
    --------
    >>> import networkx as nx
    >>> subgraph_counts(nx.complete_graph(5), ("triangle", "4-cycle", "4-clique"))
    {'triangle': 10, '4-cycle': 15, '4-clique': 5}
    """
    names = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    if not set(names) <= set(ORDERS):
        raise InvalidParameterError(f"patterns must be some of {', '.join(map(repr, ORDERS))}; got {patterns!r}")
    A = as_graph(G).adjacency
    subgraphs = Subgraphs(A.indptr, A.indices)
    return {name: subgraphs.count(name) for name in tqdm(names, desc="patterns", disable=not progress)}


def csp_value(instance: TwoCSP, assignment: Any) -> float:
    """Total that an assignment earns on a 2-CSP. Not private.

    Parameters
    ----------
    instance : TwoCSP
        The instance.
    assignment : mapping, numpy array of int or result object
        Variable -> label for every variable; or the positions of the labels in variable order; or anything with an
        ``assignment`` attribute of these kinds.

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        The assignment does not give every variable one label of the alphabet.

    Examples
    --------
    >>> instance = TwoCSP(["x", "y"], 3)
    >>> instance.add_constraint("x", "y", [[0, 1, 1], [1, 0, 1], [1, 1, 0]], weight=2.0)
    >>> csp_value(instance, {"x": 0, "y": 2})
    2.0
    """
    return instance.value(getattr(assignment, "assignment", assignment))


def _cut(graph: Graph, sides: BoolArray) -> float:
    A = graph.adjacency.tocoo()
    row, col = A.coords
    return float(A.data[sides[row] != sides[col]].sum()) / 2.0
