"""The one door by which a graph enters: every supported input becomes one frozen :class:`~dpgraph.graph.Graph`.

Entering happens in two steps, because a privacy budget must be debited between them. :func:`open_graph` looks at
public facts only (the kind of the input, its vertex set, whether it is directed); :attr:`GraphSource.read` reads the
edges. What a networkx or igraph graph looks like is known to :mod:`dpgraph.inputs.edges` alone.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.arguments import check_scale
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import Graph, WeightGrid
from dpgraph.inputs.edges import is_matrix, is_private_graph, public_side

__all__ = ["GraphSource", "as_graph", "is_weighted", "open_graph"]


@dataclass(frozen=True, eq=False, repr=False)
class GraphSource:
    """Public facts about an input graph, and the door to its private edges."""

    nodes: tuple[Hashable, ...]
    max_weight: float
    weighted: bool  # as declared: see is_weighted
    read: Callable[[], Graph]  # to be called only after the budget has been debited

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        return len(self.nodes)


def is_weighted(weight: str | None, max_weight: float = 1.0, *, counted: bool = False) -> bool:
    """Whether pairs may weigh something between 0 and `max_weight`, by public declarations alone.

    Automatic choices avoid one-bit answers for weighted graphs. Whether a private matrix *has* other entries is
    private, so that nothing may depend on it; every mechanism protects weights that were not declared, and is only
    chosen as if there were none. Naming the default, ``max_weight=1.0``, declares nothing.

    - With `weight`, weights are declared.
    - Without it, edges of a list (`counted`: networkx, igraph, tables) count 1 each, parallel ones add up, and sums are
      capped: pairs weigh 0 or max_weight if max_weight <= 1, and may weigh less than max_weight if it is larger.
    - Without it, entries of a matrix (or of constraint tables) are taken to be 0 or 1 if max_weight = 1; any other
      bound speaks of weights.

    Examples
    --------
    >>> is_weighted(None), is_weighted(None, 1.0), is_weighted("weight", 1.0), is_weighted(None, 5.0)
    (False, False, True, True)
    """
    return weight is not None or (max_weight > 1.0 if counted else max_weight != 1.0)


def open_graph(
    G: Any,
    *,
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    products: bool = True,
) -> GraphSource:
    """Check the public side of a graph and return the door to its private side.

    **Its vertices and their order are public**, and taken as they are: see :func:`dpgraph.with_public_nodes`. Parallel
    edges are summed, self-loops are dropped, weights are capped at `max_weight`; with `symmetrize` a pair gets the
    heavier of its two arcs. Each of these maps neighbouring graphs to neighbouring graphs. ``weight=None`` counts every
    edge as 1; entries of a matrix are weights in any case, and ``weight="weight"`` declares them: see
    :func:`is_weighted`. With `products`, what multiplying by the matrix needs is imported here, hence before the debit.
    """
    if weight is not None and max_weight is None:
        raise InvalidParameterError(
            f"weight={weight!r} needs max_weight=, a public upper bound on a weight (it sets the noise); "
            "got max_weight=None"
        )
    if products:
        import dpgraph.linalg.kernels  # noqa: F401

    cap = 1.0 if max_weight is None else check_scale("max_weight", max_weight)
    nodes, edges = public_side(G, weight, symmetrize)
    counted = not is_matrix(G)
    unweighted = weight is None and counted
    grid = WeightGrid(1.0, 1.0) if unweighted and cap == 1.0 else WeightGrid.of(cap)

    def read() -> Graph:
        A = edges(False)
        A.data = grid.round(A.data)
        A.eliminate_zeros()
        return Graph(A, nodes, cap, grid.unit)

    return GraphSource(nodes, cap, is_weighted(weight, cap, counted=counted), read)


def as_graph(G: Any, *, weight: str | None = None, symmetrize: bool = False, signed: bool = True) -> Graph:
    """Read a graph for an exact (not private) computation: weights are neither capped nor rounded.

    As :func:`open_graph`, but for negative weights, which are accepted if `signed` and not `symmetrize`, and parallel
    unweighted edges, which count once. A ``PrivateGraph`` is refused.
    """
    if isinstance(G, Graph):
        return G
    if is_private_graph(G):
        raise InvalidGraphError(
            "expected a graph whose edges you may see; got a PrivateGraph, which only private functions read. Call the "
            "private function (dpgraph.private_max_cut and the like), or keep the original graph and pass that if you "
            "may see its edges"
        )
    nodes, edges = public_side(G, weight, symmetrize)
    A = edges(signed)
    if weight is None and not is_matrix(G):
        np.minimum(A.data, 1.0, out=A.data)
        return Graph(A, nodes, float("inf"), 1.0)
    A.eliminate_zeros()
    return Graph(A, nodes, float("inf"), 0.0)
