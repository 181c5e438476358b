"""Ready-made 2-CSPs on graphs: max-k-cut, colouring, unique games, max-2-SAT, and arbitrary relations on edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import as_graph

if TYPE_CHECKING:
    from dpgraph.instance import TwoCSP

__all__ = ["KINDS", "fill_from_graph"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def fill_from_graph(new: type[TwoCSP], G: Any, kind: str, alphabet: Any, weight: str | None) -> TwoCSP:
    """Instance whose constraints are the edges of a graph; see :meth:`dpgraph.TwoCSP.from_networkx`.

    The class is an argument, so that this module does not import the one that calls it.
    """
    check_choice("kind", kind, KINDS)
    return KINDS[kind](new, G, alphabet, weight)


def _max_k_cut(new: type[TwoCSP], G: Any, alphabet: Any, weight: str | None) -> TwoCSP:
    graph = as_graph(G, weight=weight, signed=False)
    instance = new(graph.nodes, alphabet)
    upper = sparse.triu(graph.adjacency, 1).tocoo()
    differ = 1.0 - np.eye(instance.alphabet_size)
    instance.add_constraints(np.stack(upper.coords, axis=1), upper.data[:, None, None] * differ)
    return instance


def _coloring(new: type[TwoCSP], G: Any, alphabet: Any, weight: str | None) -> TwoCSP:
    if weight is not None:
        raise InvalidParameterError("kind='coloring' has no weights; use kind='max-k-cut'")
    return _max_k_cut(new, G, alphabet, None)


def _unique_games(new: type[TwoCSP], G: Any, alphabet: Any, weight: str | None) -> TwoCSP:
    instance = new(G.nodes, alphabet)
    q = instance.alphabet_size
    for u, v, permutation, w in _edges(G, "permutation", weight):
        image = np.asarray(permutation)
        if image.shape != (q,) or sorted(image.tolist()) != list(range(q)):
            raise InvalidParameterError(f"a permutation must hold each of 0..{q - 1} once")
        _add_directed(instance, G, u, v, np.eye(q)[image], w)
    return instance


def _relations(new: type[TwoCSP], G: Any, alphabet: Any, weight: str | None) -> TwoCSP:
    instance = new(G.nodes, alphabet)
    for u, v, relation, w in _edges(G, "relation", weight):
        _add_directed(instance, G, u, v, np.asarray(relation, dtype=np.float64), w)
    return instance


def _max_2_sat(new: type[TwoCSP], G: Any, alphabet: Any, weight: str | None) -> TwoCSP:
    if alphabet != 2 and tuple(alphabet) != (False, True):
        raise InvalidParameterError("kind='max-2-sat' has the alphabet (False, True)")
    instance = new(G.nodes, (False, True))
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


def _add_directed(instance: TwoCSP, G: Any, u: Hashable, v: Hashable, table: FloatArray, weight: float) -> None:
    if not G.is_directed() and not np.array_equal(table, table.T):
        raise InvalidGraphError(
            "a constraint that treats its two ends differently needs a directed graph (nx.DiGraph or nx.MultiDiGraph)"
        )
    instance.add_constraint(u, v, table, weight)


#: Constructor of each kind of instance.
KINDS: dict[str, Callable[[type[TwoCSP], Any, Any, str | None], TwoCSP]] = {
    "max-k-cut": _max_k_cut,
    "coloring": _coloring,
    "unique-games": _unique_games,
    "max-2-sat": _max_2_sat,
    "relations": _relations,
}
