"""Where a graph enters: every supported input becomes one frozen :class:`~dpgraph.graph.Graph`.

Entering happens in two steps, because a privacy budget must be debited between them. :func:`open_graph` looks at
public facts only (the kind of the input, its vertex set, whether it is directed); :attr:`GraphSource.read` reads the
edges. What a networkx or igraph graph, a table or a matrix looks like is known here alone.
"""

import os
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.arguments import as_reals, check_memory, check_scale
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import Graph, WeightGrid, is_weighted
from dpgraph.inputs.arrays import refuse_masked
from dpgraph.linalg.edges import as_csr, igraph_names, is_simple_graph, simple_loop_pays
from dpgraph.typing import FloatArray, IntArray

#: What labels, degrees and results of one vertex take, in doubles, as measured.
_NUMBERS_PER_VERTEX = 30
#: Rows that are compared with columns at a time, and entries that a processor's cache holds.
_ROWS, _AT_ONCE = 64, 2**14


class Edges(NamedTuple):
    """A symmetric CSR array without diagonal, which may share memory with the input."""

    matrix: sparse.csr_array
    simple: bool = False  # known to have no entries but 1


#: Reads the edges; the argument says whether negative weights are accepted.
EdgeReader = Callable[[bool], Edges]
Side = tuple[Sequence[Hashable], EdgeReader]


@dataclass(frozen=True, eq=False, repr=False)
class GraphSource:
    """Public facts about an input graph, and the door to its private edges."""

    labels: Sequence[Hashable]
    max_weight: float
    weighted: bool  # as declared: see is_weighted
    read: Callable[[], Graph]  # to be called only after the budget has been debited

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        return len(self.labels)

    @cached_property
    def nodes(self) -> tuple[Hashable, ...]:
        """The labels of the vertices."""
        return tuple(self.labels)


def open_graph(
    G: Any, *, weight: str | None = None, max_weight: float | None = None, symmetrize: bool = False
) -> GraphSource:
    """Check the public side of a graph and return the door to its private side.

    **Its vertices and their order are public**, and taken as they are: see :func:`dpgraph.with_public_nodes`. Parallel
    edges are summed, self-loops are dropped, weights are capped at `max_weight`; with `symmetrize` a pair gets the
    heavier of its two arcs. Each of these maps neighbouring graphs to neighbouring graphs. ``weight=None`` counts every
    edge as 1; entries of a matrix are weights in any case, and ``weight="weight"`` declares them: see
    :func:`is_weighted`.
    """
    if weight is not None and max_weight is None:
        raise InvalidParameterError(
            f"weight={weight!r} needs max_weight=, a public upper bound on a weight (it sets the noise); "
            "got max_weight=None"
        )
    cap = 1.0 if max_weight is None else check_scale("max_weight", max_weight)
    counted = not is_matrix(G)
    if cap > 1.0 and weight is None and counted and not _may_repeat(G):
        raise InvalidParameterError(
            f"max_weight={max_weight!r} needs weight=, the name of the weights: without it every edge counts 1, and a "
            "larger bound would only multiply the noise. No budget was spent"
        )
    _tell_of_ignored_weights(G, weight)
    unweighted = weight is None and counted
    grid = WeightGrid(1.0, 1.0) if unweighted and cap == 1.0 else WeightGrid.of(cap)
    weighted = is_weighted(weight, cap, counted=counted)
    if _instance_of(G, "dpgraph.distributed.tables", "EdgeTable"):
        G.check_columns(weight)
        return GraphSource(G.nodes, cap, weighted, partial(G.read, weight, grid, cap, directed=symmetrize))
    nodes, edges = public_side(G, weight, symmetrize)

    def read() -> Graph:
        A, simple = edges(False)
        if simple and cap == 1.0:
            return Graph(A, nodes, cap, grid.unit, simple=True)
        A.data = grid.round(A.data)
        if not A.data.all():
            A = A.copy()  # zeros go in place
            A.eliminate_zeros()
        return Graph(A, nodes, cap, grid.unit)

    return GraphSource(nodes, cap, weighted, read)


def _may_repeat(G: Any) -> bool:
    """Whether the type of a graph has parallel edges, which add up to the bound on a weight."""
    inner = G._graph if is_private_graph(G) else G
    return bool(inner.is_multigraph()) if hasattr(inner, "is_multigraph") else True


def _tell_of_ignored_weights(G: Any, weight: str | None) -> None:
    """Warn, before the debit, where a public list of attributes has weights that are not asked for.

    Which attributes the edges of an igraph graph have, and which columns a table, is public. Edges of networkx have
    their attributes one by one: to know that one has a weight, private edges would have to be read.
    """
    names: list[str] = []
    if weight is None and _instance_of(G, "igraph", "Graph"):
        names = G.es.attributes()
    elif weight is None and _instance_of(G, "dpgraph.inputs.edge_tables", "EdgeFrame"):
        names = list(G.columns)
    if "weight" in names:
        warnings.warn(
            "the edges have an attribute 'weight', which is ignored: every edge counts 1. To use it, pass "
            "weight='weight' and max_weight=, a public upper bound",
            stacklevel=2,
        )


def as_graph(G: Any, *, weight: str | None = None, signed: bool = True) -> Graph:
    """Read a graph for an exact (not private) computation: weights are neither capped nor rounded.

    As :func:`open_graph`, but for negative weights, which are accepted if `signed`, and for parallel unweighted edges,
    which count once. A ``PrivateGraph`` is refused.
    """
    if isinstance(G, Graph):
        return G
    if is_private_graph(G):
        raise InvalidGraphError(
            "expected a graph whose edges you may see; got a PrivateGraph, which only private functions read. Call the "
            "private function (dpgraph.private_max_cut and the like), or keep the original graph and pass that if you "
            "may see its edges"
        )
    nodes, edges = public_side(G, weight, None)
    A = edges(signed).matrix
    A = A.copy() if sparse.issparse(G) else A  # of everything else it is a copy
    if weight is None and not is_matrix(G):
        np.minimum(A.data, 1.0, out=A.data)
        return Graph(A, nodes, float("inf"), 1.0)
    if not A.data.all():
        A.eliminate_zeros()
    return Graph(A, nodes, float("inf"), 0.0)


def public_side(G: Any, weight: str | None, symmetrize: bool | None) -> Side:
    """Vertex labels and a reader of the edges; `symmetrize` is None for a function that does not offer it."""
    if weight is not None and not isinstance(weight, str):
        raise InvalidParameterError(
            f"weight must be the name of an edge attribute or None; got {type(weight).__name__}"
        )
    readers = (
        (_instance_of(G, "networkx", "Graph"), _networkx_side),
        # Functions of networkx count an edge without the attribute as 1, and so does its backend.
        (is_private_graph(G), lambda G, w, s: _networkx_side(G._graph, w, s, missing=1.0)),
        (_instance_of(G, "igraph", "Graph"), _igraph_side),
        (_instance_of(G, "dpgraph.inputs.edge_tables", "EdgeFrame"), _edge_frame_side),
        (is_matrix(G), _matrix_side),
    )
    side = next((side for matches, side in readers if matches), None)
    if side is None:
        raise InvalidGraphError(
            "expected a networkx.Graph, an igraph.Graph, a table of edges (dpgraph.edge_frame), or a symmetric "
            f"scipy.sparse or numpy matrix; got {type(G).__module__}.{type(G).__qualname__}{_advice(G)}"
        )
    nodes, edges = side(G, weight, symmetrize)
    if not nodes:
        raise InvalidGraphError("expected a graph with at least one vertex; got a graph without vertices")
    return nodes, edges


def _advice(G: Any) -> str:
    """What to do with something that is no graph, by its type alone."""
    if isinstance(G, (str, os.PathLike)):
        return ". Read a file first, with dpgraph.datasets.read_edgelist(path), or a dataset, with datasets.load(name)"
    if isinstance(G, (list, tuple, set, dict, Iterator)):
        return ". Of edges make a graph: dpgraph.with_public_nodes(networkx.Graph(edges), nodes=...)"
    if type(G).__name__ == "LazyFrame":
        return ". A LazyFrame first needs its collect(); then declare the public vertices with dpgraph.edge_frame"
    from dpgraph.inputs.edge_tables import is_table

    if not is_table(G):
        return ""
    return (
        ". If a row is an edge, declare the public vertices first: dpgraph.edge_frame(table, nodes=..., source=..., "
        "target=...). If rows and columns are vertices, it is an adjacency matrix: pass "
        "networkx.from_pandas_adjacency(table), which keeps their names, or table.to_numpy(), which numbers them"
    )


def is_matrix(G: Any) -> bool:
    """Whether the entries of a graph are its weights."""
    return sparse.issparse(G) or isinstance(G, np.ndarray)


def is_private_graph(G: Any) -> bool:
    """Whether G is a graph of the networkx backend, which only private functions read."""
    return _instance_of(G, "dpgraph.interfaces.networkx.private_graph", "PrivateGraph")


def _instance_of(G: Any, module: str, name: str) -> bool:
    """Check isinstance without importing: an instance can only exist if its module was imported."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(G, getattr(loaded, name))


def refuse_directed(directed: bool, symmetrize: bool | None) -> None:
    """Raise InvalidGraphError for a directed graph that is not to be symmetrised."""
    if directed and not symmetrize:
        way = (
            "" if symmetrize is None else "; symmetrize=True joins each pair of vertices by the heavier of its two arcs"
        )
        raise InvalidGraphError(f"expected an undirected graph; got a directed one. Make it undirected first{way}")


def _networkx_side(G: Any, weight: str | None, symmetrize: bool | None, missing: float | None = None) -> Side:
    refuse_directed(G.is_directed(), symmetrize)
    nodes = tuple(G.nodes)

    def edges(signed: bool) -> Edges:
        index = {node: i for i, node in enumerate(nodes)}
        plain = weight is None and type(G) is sys.modules["networkx"].Graph  # another class may have edges of its own
        if plain and (simple := _simple_networkx(G, index)) is not None:
            return Edges(simple, simple=True)
        ends = np.fromiter(map(index.__getitem__, chain.from_iterable(G.edges())), dtype=np.int64)
        values = _weights((w for _, _, w in G.edges(data=weight, default=missing)), weight)
        return Edges(_edge_array(ends, values, len(nodes), directed=G.is_directed(), signed=signed))

    return nodes, edges


def _simple_networkx(G: Any, index: dict[Hashable, int]) -> sparse.csr_array | None:
    """The adjacency matrix of a networkx graph by its rows: in half the time that a list of edges takes."""
    found = dict(G.adjacency())
    rows = [found[node] for node in index]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter(map(index.__getitem__, chain.from_iterable(rows)), dtype=np.int32, count=ends[-1])
    A = sparse.csr_array((np.ones(columns.size), columns, ends), shape=(len(rows), len(rows)))
    if A.diagonal().any():
        A.setdiag(0.0)
        A.eliminate_zeros()
    A.sort_indices()
    return _simple_graph(A, simple_loop_pays(len(rows)))


def _igraph_side(G: Any, weight: str | None, symmetrize: bool | None) -> Side:
    refuse_directed(G.is_directed(), symmetrize)
    nodes = tuple(igraph_names(G))
    try:
        distinct = len(set(nodes)) == len(nodes)
    except TypeError:  # not hashable
        distinct = False
    if not distinct:
        raise InvalidGraphError(
            "expected distinct hashable vertex names; got an igraph.Graph in which a name repeats or is not hashable. "
            "Make them distinct, or delete the 'name' attribute to use vertex numbers"
        )
    if weight is not None and weight not in G.es.attributes():  # which attributes there are is public
        raise _missing_weight(weight)

    def edges(signed: bool) -> Edges:
        values = _weights(G.es[weight] if weight is not None else (), weight)
        ends = np.fromiter(chain.from_iterable(G.get_edgelist()), dtype=np.int64, count=2 * G.ecount())
        return Edges(_edge_array(ends, values, len(nodes), directed=G.is_directed(), signed=signed))

    return nodes, edges


def _edge_frame_side(G: Any, weight: str | None, symmetrize: bool | None) -> Side:
    if weight is not None and weight not in G.columns:
        shown = ", ".join(map(repr, G.columns)) or "none"
        raise InvalidGraphError(
            f"the table needs one column {weight!r} of weights; its columns beside the ends: {shown}"
        )

    def edges(signed: bool) -> Edges:
        values = _weights(G.weights(weight) if weight is not None else (), weight)
        return Edges(_edge_array(G.ends(), values, len(G.nodes), directed=bool(symmetrize), signed=signed))

    return G.nodes, edges


def _matrix_side(G: Any, weight: str | None, symmetrize: bool | None) -> Side:
    if weight is not None and weight != "weight":
        raise InvalidParameterError(
            f"a matrix has no edge attribute {weight!r}: its entries are the weights; leave weight=None"
        )
    refuse_masked(G)
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        rows = G.ndim == 2 and G.shape[1] in (2, 3)
        advice = ". If its rows are edges, pass dpgraph.with_public_nodes(networkx.Graph(list), nodes=...)" * rows
        raise InvalidGraphError(f"expected a square adjacency matrix; got shape {tuple(G.shape)}{advice}")
    if np.dtype(G.dtype).kind not in "biuf":
        raise InvalidGraphError(f"expected a real adjacency matrix; got entries of type {G.dtype}")
    n = G.shape[0]
    entries = 0 if sparse.issparse(G) else n
    check_memory(f"a graph of {n} vertices", vertices=(_NUMBERS_PER_VERTEX, n), entries=(entries, n))

    def edges(signed: bool) -> Edges:
        compiled = simple_loop_pays(n)
        if (simple := _simple_graph(G, compiled)) is not None:
            return Edges(simple, simple=True)
        whole = None if sparse.issparse(G) else np.asarray(G, dtype=np.float64)
        A = as_csr(G) if whole is None else _entries(whole)
        if not A.has_canonical_format:
            A = A.copy()  # summing works in place, on arrays that belong to the caller
            A.sum_duplicates()
        _check_values(A.data, signed and not symmetrize)
        if symmetrize:
            A = A.maximum(A.T)
        if A.data is not getattr(G, "data", None) and (simple := _simple_graph(A, compiled)) is not None:
            return Edges(simple, simple=True)
        if _is_symmetric(A) if whole is None else _equals_its_transpose(whole):
            return Edges(_compact(A))
        if A.nnz and abs(A - A.T).max() > 1e-12 * max(1.0, float(abs(A).max())):
            way = "A.maximum(A.T)" if symmetrize is None else "A.maximum(A.T), or symmetrize=True,"
            raise InvalidGraphError(
                "expected a symmetric adjacency matrix; this one differs from its transpose. "
                f"Pass {way} to keep the larger of the two entries of each pair"
            )
        return Edges(_mirrored(sparse.triu(A, k=1, format="coo")))

    return range(n), edges


def _equals_its_transpose(whole: FloatArray) -> bool:
    """Whether an array is symmetric to the bit; rows that stay in a processor's cache are compared at a time."""
    parts = (slice(first, first + _ROWS) for first in range(0, len(whole), _ROWS))
    return all(np.array_equal(whole[part, part.start :], whole[part.start :, part].T) for part in parts)


def _entries(whole: FloatArray) -> sparse.csr_array:
    """The rows of an array but for its diagonal, if that is finite, in a third of the time that scipy takes."""
    some = whole != 0.0
    np.fill_diagonal(some, ~np.isfinite(whole.diagonal()))
    columns = np.broadcast_to(np.arange(len(whole), dtype=np.int32), whole.shape)[some]
    indptr = np.zeros(len(whole) + 1, dtype=np.int32 if whole.size < 2**31 else np.int64)
    np.cumsum(np.count_nonzero(some, axis=1), out=indptr[1:])
    A = sparse.csr_array((whole[some], columns, indptr), shape=whole.shape)
    A.has_canonical_format = True
    return A


def _simple_graph(G: Any, compiled: bool) -> sparse.csr_array | None:
    """The adjacency matrix of a simple graph, if compressed rows or columns hold one."""
    if getattr(G, "format", "") not in ("csr", "csc") or G.dtype != np.float64 or G.indptr.size != G.shape[0] + 1:
        return None
    if not G.indices.dtype == G.indptr.dtype == np.int32:
        n, m = G.shape[0], G.indices.size
        if max(n, m) >= 2**31 - 1 or not 0 <= G.indices.min(initial=0) <= G.indices.max(initial=0) < n:
            return None
        if m != G.data.size or not 0 <= G.indptr.min() <= G.indptr.max() <= m:
            return None
        G = sparse.csr_array((G.data, G.indices.astype(np.int32), G.indptr.astype(np.int32)), shape=G.shape)
    if not is_simple_graph(G.indptr, G.indices, G.data, compiled=compiled):
        return None
    A = copy(G) if type(G) is sparse.csr_array else sparse.csr_array((G.data, G.indices, G.indptr), shape=G.shape)
    A.has_canonical_format = True
    return A


def _weights(values: Iterable[Any], weight: str | None) -> FloatArray | None:
    if weight is None:
        return None
    collected = list(values)
    if any(value is None for value in collected):
        raise _missing_weight(weight)
    try:
        return as_reals(collected).reshape(len(collected))
    except (TypeError, ValueError, OverflowError):
        raise InvalidGraphError(
            f"expected a number in edge attribute {weight!r} of every edge; at least one edge holds something else"
        ) from None


def _missing_weight(weight: str) -> InvalidGraphError:
    return InvalidGraphError(
        f"expected edge attribute {weight!r} on every edge; at least one edge lacks it. "
        "Set it everywhere, or pass weight=None to count every edge as 1"
    )


def _edge_array(ends: IntArray, values: FloatArray | None, n: int, *, directed: bool, signed: bool) -> sparse.csr_array:
    """Both entries of each edge; for directed input, the larger of the two (summed) arcs."""
    pairs = ends.reshape(-1, 2)
    data = np.ones(len(pairs)) if values is None else values
    _check_values(data, signed and not directed)
    if directed:
        arcs = sparse.coo_array((data, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
        return _mirrored(sparse.triu(arcs.maximum(arcs.T), k=1, format="coo"))
    return _mirrored(sparse.coo_array((data, (np.minimum(*pairs.T), np.maximum(*pairs.T))), shape=(n, n)))


def _mirrored(upper: sparse.coo_array) -> sparse.csr_array:
    """Symmetric CSR without diagonal from entries (i <= j), of which parallel ones are summed."""
    row, col = upper.coords
    keep = row != col
    half = sparse.coo_array((upper.data[keep], (row[keep], col[keep])), shape=upper.shape).tocsr()
    del upper, row, col, keep  # a third of the memory that this takes
    return _compact(half + half.T.tocsr())


def _compact(A: sparse.csr_array) -> sparse.csr_array:
    """The same with indices of 32 bits where these suffice: products with a vector are bound by memory."""
    index = np.int32 if max(A.shape[0], A.nnz) < 2**31 - 1 else np.int64
    if A.indices.dtype == A.indptr.dtype == index:
        return A
    return sparse.csr_array((A.data, A.indices.astype(index), A.indptr.astype(index)), shape=A.shape)


def _is_symmetric(A: sparse.csr_array) -> bool:
    """Whether a matrix without diagonal is symmetric to the bit, in a third of the time that a transpose takes.

    An entry w at i, j counts k_i k_j h(w), or minus that below the diagonal, modulo 2**64. The keys are random and odd,
    and h is a random one-to-one function. Of a symmetric matrix that is 0. Let the matrix be another one, d_ij be the
    difference of h of a pair, and c the sum of k_j d_ij for a vertex i where that is not 0: the sum is 0 for at most
    one k_i modulo 2**64 over the largest power of 2 in c, which is small as h is random: once in 2**50.
    """
    rng, total = np.random.default_rng(), 0
    keys, first, second = (2 * rng.integers(2**63, size=size, dtype=np.uint64) + 1 for size in (A.shape[0], 1, 1))
    starts = np.unique(np.searchsorted(A.indptr, np.arange(0, A.nnz, _AT_ONCE), side="right") - 1)
    for start, stop in pairwise([*starts.tolist(), A.shape[0]]):
        own, lengths = slice(A.indptr[start], A.indptr[stop]), np.diff(A.indptr[start : stop + 1])
        bits = A.data[own].view(np.uint64) * first
        bits = (bits ^ bits >> np.uint64(32)) * second * keys[A.indices[own]] * np.repeat(keys[start:stop], lengths)
        above = A.indices[own] > np.repeat(np.arange(start, stop), lengths)
        total += 2 * int(bits[above].sum()) - int(bits.sum())
    return total % 2**64 == 0


def _check_values(data: FloatArray, signed: bool) -> None:
    """No weight may be infinite, or negative but for `signed` ones."""
    least, largest = (float(data.min()), float(data.max())) if data.size else (0.0, 0.0)
    if not np.isfinite([least, largest]).all():
        raise InvalidGraphError("expected finite weights; at least one weight is NaN or infinite")
    if not signed and least < 0:
        raise InvalidGraphError(
            "expected nonnegative weights; at least one weight is negative. Exact max_cut and max_bisection take "
            "negative weights; private functions need weights in [0, max_weight], constraint problems and joined arcs "
            "nonnegative ones"
        )
