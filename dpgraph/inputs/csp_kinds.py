"""Ready-made 2-CSPs on graphs: max-k-cut, colouring, unique games, max-2-SAT, and arbitrary relations on edges."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.graphs import as_graph
from dpgraph.typing import FloatArray

__all__ = ["csp_from_graph"]

#: Makes an empty instance from variables and alphabet: :class:`dpgraph.instance.TwoCSP`, which imports this module.
Make = Callable[[Any, Any], Any]


def csp_from_graph(make: Make, G: Any, kind: str, alphabet: Any, weight: str | None) -> Any:
    """2-CSP whose variables are the vertices of a graph and whose constraints are its edges.

    Parameters
    ----------
    make : callable
        :class:`~dpgraph.instance.TwoCSP`.
    G : networkx graph; for "max-k-cut" and "coloring" also igraph.Graph, scipy sparse or numpy matrix
        The graph. Its vertices in their order are the variables, which private functions take to be public: see
        :func:`dpgraph.with_public_nodes`. Parallel edges are separate constraints (for "max-k-cut" and "coloring" they
        are merged).
    kind : {"max-k-cut", "coloring", "unique-games", "max-2-sat", "relations"}
        - "max-k-cut": the ends of an edge must differ. "coloring" is the same without weights: a proper colouring
          with the given colours exists exactly if the optimum is the number of edges.
        - "unique-games": an edge u -> v with attribute ``permutation``, a sequence of q positions, is satisfied when
          the position of v's label is ``permutation[a]``, a the position of u's. Needs a directed graph, unless all
          permutations are their own inverses.
        - "max-2-sat": an edge with attribute ``clause``, a mapping of its ends to bool, is satisfied when one of its
          ends has the stated truth value; labels are False and True. A loop is a unit clause.
        - "relations": attribute ``relation``, a q x q array, rows for u and columns for v of an edge u -> v. Needs a
          directed graph, unless all relations are symmetric.
    alphabet : int or iterable of hashable
        The labels; for "max-2-sat" always (False, True).
    weight : str, optional
        Edge attribute that holds the weight (nonnegative); None counts every edge as 1.

    Returns
    -------
    TwoCSP

    Raises
    ------
    InvalidGraphError
        An edge without a needed attribute, a negative weight, or a direction that is missing.
    InvalidParameterError
        An unknown kind or an attribute that does not fit the alphabet.

    Examples
    --------
    >>> import networkx as nx
    >>> from dpgraph import TwoCSP
    >>> instance = TwoCSP.from_networkx(nx.cycle_graph(5), "coloring", ["r", "g", "b"])
    >>> instance.value({0: "r", 1: "g", 2: "r", 3: "g", 4: "b"})
    5.0
    >>> game = nx.DiGraph()
    >>> game.add_edge("u", "v", permutation=[1, 2, 0])
    >>> TwoCSP.from_networkx(game, "unique-games", 3).value({"u": 2, "v": 0})
    1.0
    >>> formula = nx.MultiGraph()
    >>> _ = formula.add_edge("p", "q", clause={"p": True, "q": False})
    >>> TwoCSP.from_networkx(formula, "max-2-sat").value({"p": False, "q": True})
    0.0
    """
    check_choice("kind", kind, KINDS)
    if kind == "coloring" and weight is not None:
        raise InvalidParameterError("kind='coloring' has no weights; use kind='max-k-cut'")
    return KINDS[kind](make, G, alphabet, weight)


def _max_k_cut(make: Make, G: Any, alphabet: Any, weight: str | None) -> Any:
    graph = as_graph(G, weight=weight, signed=False)
    instance = make(graph.nodes, alphabet)
    upper = sparse.triu(graph.adjacency, 1).tocoo()
    differ = 1.0 - np.eye(instance.alphabet_size)
    instance.add_constraints(np.stack(upper.coords, axis=1), upper.data[:, None, None] * differ)
    return instance


def _on_edges(
    make: Make, G: Any, alphabet: Any, weight: str | None, *, attribute: str, table: Callable[[Any, int], FloatArray]
) -> Any:
    """2-CSP of edges whose `attribute` says, by `table` of it and q, what labels of u and v earn on an edge u -> v."""
    instance = make(G.nodes, alphabet)
    for u, v, stated, w in _edges(G, attribute, weight):
        relation = table(stated, instance.alphabet_size)
        if not G.is_directed() and not np.array_equal(relation, relation.T):
            raise InvalidGraphError(
                "a constraint that treats its two ends differently needs a directed graph "
                "(nx.DiGraph or nx.MultiDiGraph)"
            )
        instance.add_constraint(u, v, relation, w)
    return instance


def _permutation_table(permutation: Any, q: int) -> FloatArray:
    image = np.asarray(permutation)
    if image.shape != (q,) or sorted(image.tolist()) != list(range(q)):
        raise InvalidParameterError(f"a permutation must hold each of 0..{q - 1} once")
    table: FloatArray = np.eye(q)[image]
    return table


def _max_2_sat(make: Make, G: Any, alphabet: Any, weight: str | None) -> Any:
    if alphabet != 2 and tuple(alphabet) != (False, True):
        raise InvalidParameterError("kind='max-2-sat' has the alphabet (False, True)")
    instance = make(G.nodes, (False, True))
    for u, v, clause, w in _edges(G, "clause", weight):
        if not isinstance(clause, Mapping) or set(clause) != {u, v}:
            raise InvalidParameterError("a clause must map each end of its edge to True or False")
        true_at_u, true_at_v = ((np.arange(2) == bool(clause[end])).astype(float) for end in (u, v))
        if u == v:
            instance.add_unary(u, true_at_u, w)
        else:
            instance.add_constraint(u, v, np.maximum.outer(true_at_u, true_at_v), w)
    return instance


def _edges(G: Any, attribute: str, weight: str | None) -> Iterator[tuple[Hashable, Hashable, Any, float]]:
    """Edges of a networkx graph with a required attribute and their weights."""
    for u, v, data in G.edges(data=True):
        for name in (attribute, weight):
            if name is not None and name not in data:
                raise InvalidGraphError(f"every edge needs the attribute {name!r}; at least one has none")
        yield u, v, data[attribute], 1.0 if weight is None else data[weight]


#: Constructor of each kind of instance.
KINDS: dict[str, Callable[[Make, Any, Any, str | None], Any]] = {
    "max-k-cut": _max_k_cut,
    "coloring": _max_k_cut,
    "unique-games": partial(_on_edges, attribute="permutation", table=_permutation_table),
    "max-2-sat": _max_2_sat,
    "relations": partial(_on_edges, attribute="relation", table=lambda table, _: np.asarray(table, dtype=np.float64)),
}
