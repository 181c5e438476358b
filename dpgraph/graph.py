"""The one door by which a graph enters: every supported input becomes one frozen :class:`Graph`.

Entering happens in two steps, because a privacy budget must be debited between them. :func:`open_graph` looks at
public facts only (the kind of the input, its vertex set, whether it is directed); :meth:`GraphSource.read` reads
the edges. Nothing else in the package knows what a networkx or igraph graph looks like.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_scale
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.weight_grid import WeightGrid
from dpgraph.typing import FloatArray, IntArray

__all__ = ["Graph", "GraphOperator", "GraphSource", "as_graph", "is_weighted", "open_graph"]


class GraphOperator(Protocol):
    """All that a mechanism may ask of a private graph. Another engine can stand in by offering these."""

    @property
    def max_weight(self) -> float:
        """Public upper bound on a weight."""
        ...

    @property
    def weight_unit(self) -> float:
        """Every weight is an integer multiple of this public power of two."""
        ...

    @property
    def nodes(self) -> tuple[Hashable, ...]:
        """Vertex labels in the caller's order (public)."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        ...

    def degrees(self) -> FloatArray:
        """Weighted degrees, shape ``(n,)``."""
        ...

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product of the adjacency matrix with an array of shape ``(n,)`` or ``(n, k)``."""
        ...

    def multiply_rows(self, rows: IntArray, block: FloatArray) -> FloatArray:
        """Rows ``rows`` of the product of the adjacency matrix with an ``(n, k)`` array, shape ``(len(rows), k)``."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Symmetric weighted graph without self-loops, in compressed sparse rows.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array, shape (n, n)
        Symmetric, float64, zero diagonal, no explicit zeros.
    nodes : tuple of hashable
        Vertex labels in the caller's own order.
    max_weight : float
        Public upper bound on a weight; ``inf`` for exact data that never meets a private mechanism.
    weight_unit : float
        Every weight is an integer multiple of this power of two (0 when weights are arbitrary reals).
    """

    adjacency: sparse.csr_array
    nodes: tuple[Hashable, ...]
    max_weight: float = 1.0
    weight_unit: float = 1.0

    def __repr__(self) -> str:
        # The number of edges is private, so it is not shown.
        return f"Graph(n_vertices={self.n_vertices}, max_weight={self.max_weight:g})"

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        return len(self.nodes)

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Position of each label in :attr:`nodes`."""
        return {node: i for i, node in enumerate(self.nodes)}

    def degrees(self) -> FloatArray:
        """Weighted degrees, shape ``(n,)``."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64).ravel()

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product of the adjacency matrix with an array of shape ``(n,)`` or ``(n, k)``."""
        from dpgraph.linalg.kernels import csr_times_block

        columns = np.asarray(block, dtype=np.float64).reshape(self.n_vertices, -1)
        return csr_times_block(self.adjacency, columns).reshape(block.shape)

    def multiply_rows(self, rows: IntArray, block: FloatArray) -> FloatArray:
        """Rows ``rows`` of the product of the adjacency matrix with an ``(n, k)`` array."""
        from dpgraph.linalg.kernels import csr_rows_times_block

        return csr_rows_times_block(self.adjacency, rows, block)


@dataclass(frozen=True, eq=False, repr=False)
class GraphSource:
    """Public facts about an input graph, and the door to its private edges.

    Parameters
    ----------
    nodes : tuple of hashable
        The public vertex set.
    max_weight : float
        Public upper bound on a weight.
    weighted : bool
        Whether pairs may weigh something between 0 and `max_weight`, by what is declared: see :func:`is_weighted`.
    read : callable
        Reads the private edges. Call it only after the budget has been debited.
    """

    nodes: tuple[Hashable, ...]
    max_weight: float
    weighted: bool
    read: Callable[[], Graph]

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        return len(self.nodes)


def is_weighted(weight: str | None, max_weight: float = 1.0, *, counted: bool = False) -> bool:
    """Whether pairs may weigh something between 0 and `max_weight`, by public declarations alone.

    This is the one definition of *weighted*, by which automatic choices avoid one-bit answers, which tell little about
    such a weight. Whether a private matrix *has* other entries is private, so that nothing may depend on it; every
    mechanism protects weights that were not declared, and is only chosen as if there were none. Naming the default,
    ``max_weight=1.0``, declares nothing.

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
    G: Any, *, weight: str | None = None, max_weight: float | None = None, symmetrize: bool = False
) -> GraphSource:
    """Check the public side of a graph and return the door to its private side.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse array or matrix, or numpy.ndarray
        The graph. **Its vertices and their order are public**, and taken as they are. A networkx graph that was built
        from a list of edges holds the vertices that occur in an edge, in their order of appearance, which depends on
        private edges: pass it through :func:`dpgraph.with_public_nodes` first. Parallel edges are merged by summing,
        self-loops are dropped, and weights above `max_weight` are capped: each of these maps neighbouring graphs to
        neighbouring graphs.
    weight : str, optional
        Edge attribute that holds the weight. ``None`` means unweighted (every edge counts 1); then the entries of
        a matrix are its weights, capped at `max_weight`. ``"weight"`` declares that the entries of a matrix may lie
        between 0 and `max_weight`, so that automatic choices expect it: see :func:`is_weighted`.
    max_weight : float, optional
        Public upper bound on a weight, required with `weight`; 1 otherwise.
    symmetrize : bool, default False
        Accept directed input; the weight of a pair is the larger of its two arcs.

    Returns
    -------
    GraphSource

    Raises
    ------
    InvalidGraphError
        `G` is of an unknown kind, directed, not square, or has no vertices.
    InvalidParameterError
        `weight` without `max_weight`, or a `max_weight` that is not positive and finite.
    """
    if weight is not None and max_weight is None:
        raise InvalidParameterError(
            f"weight={weight!r} needs max_weight=, a public upper bound on a weight (it sets the noise); "
            "got max_weight=None"
        )
    import dpgraph.linalg.kernels  # noqa: F401 - what the private side needs is imported before the debit

    cap = 1.0 if max_weight is None else check_scale("max_weight", max_weight)
    nodes, edges = _public_side(G, weight, symmetrize)
    unweighted = weight is None and not _is_matrix(G)
    grid = WeightGrid(1.0, 1.0) if unweighted and cap == 1.0 else WeightGrid.of(cap)

    def read() -> Graph:
        A = edges(False)
        A.data = grid.round(A.data)
        A.eliminate_zeros()
        return Graph(A, nodes, cap, grid.unit)

    return GraphSource(nodes, cap, is_weighted(weight, cap, counted=not _is_matrix(G)), read)


def as_graph(G: Any, *, weight: str | None = None, symmetrize: bool = False, signed: bool = True) -> Graph:
    """Read a graph for an exact (not private) computation: weights are neither capped nor rounded.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse array or matrix, numpy.ndarray or Graph
        The graph; parallel edges are merged by summing (unweighted ones count once), self-loops are dropped.
    weight : str, optional
        Edge attribute that holds the weight; ``None`` means unweighted. Matrix entries always are weights.
    symmetrize : bool, default False
        Accept directed input; the weight of a pair is the larger of its two arcs, which must not be negative.
    signed : bool, default True
        Accept negative weights.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        As :func:`open_graph`, and for NaN or infinite weights, a missing weight attribute or a ``PrivateGraph``.
    """
    if isinstance(G, Graph):
        return G
    if _is_networkx_backend(G):
        raise InvalidGraphError(
            "expected a graph whose edges you may see; got a PrivateGraph, which only private functions read. Call the "
            "private function (dpgraph.private_max_cut and the like), or keep the original graph and pass that if you "
            "may see its edges"
        )
    nodes, edges = _public_side(G, weight, symmetrize)
    A = edges(signed)
    if weight is None and not _is_matrix(G):
        np.minimum(A.data, 1.0, out=A.data)
        return Graph(A, nodes, float("inf"), 1.0)
    A.eliminate_zeros()
    return Graph(A, nodes, float("inf"), 0.0)


# --- the sides of each supported input -------------------------------------------------------------------------

#: Reads the edges into a symmetric CSR array without diagonal that shares no memory with the input; the argument says
#: whether negative weights are accepted.
EdgeReader = Callable[[bool], sparse.csr_array]


def _public_side(G: Any, weight: str | None, symmetrize: bool) -> tuple[tuple[Hashable, ...], EdgeReader]:
    """Vertex labels and a reader of the edges."""
    for matches, side in (
        (_is_networkx, _networkx_side),
        (_is_networkx_backend, _networkx_backend_side),
        (_is_igraph, _igraph_side),
        (_is_edge_frame, _edge_frame_side),
        (_is_matrix, _matrix_side),
    ):
        if matches(G):
            nodes, edges = side(G, weight, symmetrize)
            break
    else:
        raise InvalidGraphError(
            "expected a networkx.Graph, an igraph.Graph, a pandas table of edges (dpgraph.edge_frame), or a symmetric "
            "scipy.sparse or numpy matrix; "
            f"got {type(G).__module__}.{type(G).__qualname__}"
        )
    if not nodes:
        raise InvalidGraphError("expected a graph with at least one vertex; got a graph without vertices")
    return nodes, edges


def _instance_of(G: Any, module: str, name: str) -> bool:
    """Check isinstance without importing: an instance can only exist if its module was imported."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(G, getattr(loaded, name))


def _is_networkx(G: Any) -> bool:
    return _instance_of(G, "networkx", "Graph")


def _is_networkx_backend(G: Any) -> bool:
    return _instance_of(G, "dpgraph.interfaces.networkx.private_graph", "PrivateGraph")


def _is_igraph(G: Any) -> bool:
    return _instance_of(G, "igraph", "Graph")


def _is_edge_frame(G: Any) -> bool:
    return _instance_of(G, "pandas", "DataFrame")


def _is_matrix(G: Any) -> bool:
    return sparse.issparse(G) or isinstance(G, np.ndarray)


def _refuse_directed(directed: bool, symmetrize: bool) -> None:
    if directed and not symmetrize:
        raise InvalidGraphError(
            "expected an undirected graph; got a directed one. Pass symmetrize=True to join each pair of vertices "
            "by the heavier of its two arcs"
        )


def _networkx_backend_side(G: Any, weight: str | None, symmetrize: bool) -> tuple[tuple[Hashable, ...], EdgeReader]:
    # Functions of networkx count an edge without the attribute as 1, and so does its backend.
    return _networkx_side(G._graph, weight, symmetrize, missing=1.0)


def _networkx_side(
    G: Any, weight: str | None, symmetrize: bool, missing: float | None = None
) -> tuple[tuple[Hashable, ...], EdgeReader]:
    _refuse_directed(G.is_directed(), symmetrize)
    nodes = tuple(G.nodes)

    def edges(signed: bool) -> sparse.csr_array:
        index = {node: i for i, node in enumerate(nodes)}
        ends = ((index[u], index[v]) for u, v in G.edges())
        values = _weights((w for _, _, w in G.edges(data=weight, default=missing)), weight)
        return _edge_array(ends, values, len(nodes), directed=G.is_directed(), signed=signed)

    return nodes, edges


def _igraph_side(G: Any, weight: str | None, symmetrize: bool) -> tuple[tuple[Hashable, ...], EdgeReader]:
    _refuse_directed(G.is_directed(), symmetrize)
    names = G.vs["name"] if "name" in G.vs.attributes() else range(G.vcount())
    nodes = tuple(names)
    try:
        distinct = len(set(nodes)) == len(nodes)
    except TypeError:
        raise InvalidGraphError(
            "expected hashable vertex names; got an igraph.Graph in which a name is not hashable"
        ) from None
    if not distinct:
        raise InvalidGraphError(
            "expected distinct vertex names; got an igraph.Graph in which a name repeats. "
            "Make them distinct, or delete the 'name' attribute to use vertex numbers"
        )

    if weight is not None and weight not in G.es.attributes():  # which attributes there are is public
        raise _missing_weight(weight)

    def edges(signed: bool) -> sparse.csr_array:
        values = _weights(iter(G.es[weight]) if weight is not None else iter(()), weight)
        return _edge_array(iter(G.get_edgelist()), values, len(nodes), directed=G.is_directed(), signed=signed)

    return nodes, edges


def _edge_frame_side(G: Any, weight: str | None, symmetrize: bool) -> tuple[tuple[Hashable, ...], EdgeReader]:
    from dpgraph.inputs.frames import edges_of, vertices_of

    nodes = vertices_of(G)
    if weight is not None and weight not in G.columns:
        raise InvalidGraphError(f"the table has no column {weight!r} of weights")

    def edges(signed: bool) -> sparse.csr_array:
        pairs, values = edges_of(G, weight)
        ends = ((int(i), int(j)) for i, j in pairs)
        return _edge_array(ends, _weights(values or (), weight), len(nodes), directed=symmetrize, signed=signed)

    return nodes, edges


def _matrix_side(G: Any, weight: str | None, symmetrize: bool) -> tuple[tuple[Hashable, ...], EdgeReader]:
    if weight is not None and weight != "weight":
        raise InvalidParameterError(
            f"a matrix has no edge attribute {weight!r}: its entries are the weights; leave weight=None"
        )
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise InvalidGraphError(f"expected a square adjacency matrix; got shape {tuple(G.shape)}")
    if np.dtype(G.dtype).kind not in "biuf":
        raise InvalidGraphError(f"expected a real adjacency matrix; got entries of type {G.dtype}")

    def edges(signed: bool) -> sparse.csr_array:
        A = sparse.csr_array(G, dtype=np.float64)
        if not A.has_canonical_format:
            A = A.copy()  # summing works in place, on arrays that belong to the caller
            A.sum_duplicates()
        _check_values(A.data, signed and not symmetrize)
        if symmetrize:
            A = A.maximum(A.T)
        transposed = A.T.tocsr()
        if _identical(A, transposed) and not A.diagonal().any():
            return _compact_copy(A)
        if A.nnz and abs(A - transposed).max() > 1e-12 * max(1.0, float(abs(A).max())):
            raise InvalidGraphError(
                "expected a symmetric adjacency matrix; this one differs from its transpose. "
                "Pass symmetrize=True to keep the larger of the two entries of each pair"
            )
        return _mirrored(sparse.triu(A, k=1, format="coo"))

    return tuple(range(G.shape[0])), edges


# --- assembling ------------------------------------------------------------------------------------------------


def _weights(values: Iterable[Any], weight: str | None) -> FloatArray | None:
    if weight is None:
        return None
    collected = list(values)
    if any(value is None for value in collected):
        raise _missing_weight(weight)
    try:
        return np.array(collected, dtype=np.float64).reshape(len(collected))
    except (TypeError, ValueError, OverflowError):
        raise InvalidGraphError(
            f"expected a number in edge attribute {weight!r} of every edge; at least one edge holds something else"
        ) from None


def _missing_weight(weight: str) -> InvalidGraphError:
    return InvalidGraphError(
        f"expected edge attribute {weight!r} on every edge; at least one edge lacks it. "
        "Set it everywhere, or pass weight=None to count every edge as 1"
    )


def _edge_array(
    ends: Iterable[tuple[int, int]], values: FloatArray | None, n: int, *, directed: bool, signed: bool
) -> sparse.csr_array:
    """Both entries of each edge; for directed input, the larger of the two (summed) arcs."""
    pairs = np.fromiter((i for pair in ends for i in pair), dtype=np.int64).reshape(-1, 2)
    data = np.ones(len(pairs)) if values is None else values
    _check_values(data, signed and not directed)
    if directed:
        arcs = sparse.coo_array((data, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
        return _mirrored(sparse.triu(arcs.maximum(arcs.T), k=1, format="coo"))
    low, high = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=0)
    return _mirrored(sparse.coo_array((data, (low, high)), shape=(n, n)))


def _mirrored(upper: sparse.coo_array) -> sparse.csr_array:
    """Symmetric CSR without diagonal from entries (i <= j), of which parallel ones are summed."""
    row, col = upper.coords
    keep = row != col
    half = sparse.coo_array((upper.data[keep], (row[keep], col[keep])), shape=upper.shape).tocsr()
    return _compact_copy(half + half.T.tocsr())


def _identical(A: sparse.csr_array, B: sparse.csr_array) -> bool:
    return all(np.array_equal(getattr(A, part), getattr(B, part)) for part in ("indptr", "indices", "data"))


def _compact_copy(A: sparse.csr_array) -> sparse.csr_array:
    """Copy with indices of 32 bits where these suffice: products with a vector are bound by memory."""
    index = np.int32 if max(A.shape[0], A.nnz) < np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((A.data.copy(), A.indices.astype(index), A.indptr.astype(index)), shape=A.shape)


def _check_values(data: FloatArray, signed: bool) -> None:
    if not np.all(np.isfinite(data)):
        raise InvalidGraphError("expected finite weights; at least one weight is NaN or infinite")
    if not signed and data.size and data.min() < 0:
        raise InvalidGraphError(
            "expected nonnegative weights; at least one weight is negative. Private mechanisms bound what one edge "
            "can change by weights in [0, max_weight], and directed graphs are joined by the heavier arc"
        )
