"""Edges of a symmetric matrix: from a list of arcs, and to the graphs of networkx and igraph that it stands for."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dpgraph.compiled import njit, uncollected, worth_compiling
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import igraph
    import networkx as nx

#: What the passes over the entries of a vertex take without a compiled one, in steps of Python, if they are sixteen.
_PASSES = 4.0
#: Entries that are looked at at a time, in the cache of a core.
_AT_ONCE = 2048
#: Adjacency matrix, vertices, and whether the entries are weights.
EdgeList = tuple[sparse.csr_array, tuple[Hashable, ...], bool]


def as_csr(A: Any) -> sparse.csr_array:
    """A sparse matrix, whose structure is checked, as compressed rows of float64.

    Parts of an entry are numbers before scipy adds them up: in their own type 64 parallel edges of weight 2 would be
    -128: one edge more, and a graph would be refused.
    """
    check_structure(A)
    return sparse.csr_array(A.astype(np.float64) if A.format == "coo" else A, dtype=np.float64)


def check_structure(A: Any) -> None:
    """Refuse a sparse matrix whose index arrays are no matrix: compiled code would read beyond them."""
    kind = getattr(A, "format", "")
    try:
        if kind in ("csr", "csc", "bsr"):
            view = type(A)((A.data, A.indices, A.indptr), shape=A.shape, copy=False)  # checking may trim its arrays
            view.check_format(full_check=True)
        elif kind in ("coo", "dia"):
            type(A)((A.data, A.coords if kind == "coo" else A.offsets), shape=A.shape, copy=False)
        elif kind == "dok":
            entries = np.fromiter(A.values(), A.dtype)
            sparse.coo_array((entries, np.array(list(A.keys())).reshape(-1, 2).T), shape=A.shape)
        elif kind == "lil":
            lengths, columns = list(map(len, A.rows)), np.fromiter(chain(*A.rows), np.int64)
            if A.rows.shape != A.shape[:1] or lengths != list(map(len, A.data)):
                raise ValueError
            entries = np.fromiter(chain(*A.data), A.dtype)
            sparse.coo_array((entries, (np.repeat(np.arange(A.shape[0]), lengths), columns)), shape=A.shape)
    except MemoryError:
        raise
    except Exception:  # its text may quote an entry
        raise InvalidGraphError(
            "expected a well-formed sparse matrix; its index arrays are damaged. Its method "
            "check_format(full_check=True), if it is compressed, says how"
        ) from None


def simple_loop_pays(n: int) -> bool:
    """Whether :func:`is_simple_graph` is to compile for n vertices: asked once a graph, as more looks tell of edges."""
    return worth_compiling(_simple_rows, n * _PASSES)


def is_simple_graph(indptr: IntArray, indices: IntArray, data: FloatArray, *, compiled: bool) -> bool:
    """Whether rows are those of a symmetric matrix of zeros and ones: sorted, no entry twice, none on the diagonal.

    Each vertex gets 32 random bits: X is n x 32, and X'AX modulo 2 is computed. If A is symmetric without a diagonal,
    so is that. Of another A it is so with probability 2**-30 at most. *Proof.* Let E = A + A' modulo 2. If E = 0, there
    are ones on the diagonal of A, and x'Ax is the sum of the bits of x there: 0 for all 32 columns x with probability
    2**-32. If not, it has rank 2 or more, as its diagonal is 0. For two columns x'Ay + y'Ax = x'Ey. Let x be the first
    column with Ex not 0, j columns being before it, for which the probability is 4**-j at most. All columns y behind it
    have x'Ey = 0 with probability 2**(j - 31). The sum over j is 2**-30.
    """
    n = indptr.size - 1
    if n < 1 or indptr[0] != 0 or not indptr[n] == indices.size == data.size:
        return False
    if compiled:
        return bool(_simple_rows(indptr, indices, data, *np.frombuffer(os.urandom(8), dtype=np.uint32)))
    lengths = np.diff(indptr)
    if lengths.min() < 0 or not (data == 1.0).all() or (indices.size and not 0 <= indices.min() <= indices.max() < n):
        return False
    rows = np.repeat(np.arange(n), lengths)
    places = rows * n + indices
    if (places[1:] <= places[:-1]).any() or (rows == indices).any():
        return False
    keys = np.frombuffer(os.urandom(8 * n), dtype=np.int64)
    return not (keys[rows] * np.where(indices > rows, keys[indices], -keys[indices])).sum()


@njit()
def _simple_rows(indptr: IntArray, indices: IntArray, data: FloatArray, first: np.uint32, second: np.uint32) -> bool:
    """The same with bits that are made of a vertex and of two random numbers, which takes less than a table.

    A few entries at a time, and no loop over those of a row, which would be too short for vector instructions: bits of
    rows are differences of running sums, and entries must grow as often as they do not where a row begins.
    """
    n, wrong, steps = indptr.size - 1, False, 0
    for i in range(n):
        wrong |= indptr[i] > indptr[i + 1]
    if wrong:
        return False
    rows, sums = np.zeros(n, dtype=np.uint32), np.zeros(_AT_ONCE + 1, dtype=np.uint32)
    row, before = 0, np.uint32(0)
    for start in range(0, indices.size, _AT_ONCE):
        part, ones = indices[start : start + _AT_ONCE], data[start : start + _AT_ONCE]
        for k in range(part.size):
            wrong |= (np.uint64(part[k]) >= np.uint64(n)) | (ones[k] != 1.0)
        if wrong:
            return False
        for k in range(1, part.size):
            steps += part[k] <= part[k - 1]
        for k in range(part.size):
            sums[k + 1] = _mixed(part[k], first, second)
        for k in range(part.size):
            sums[k + 1] ^= sums[k]
        if start:
            steps += part[0] <= indices[start - 1]
        while row < n and indptr[row + 1] <= start + part.size:
            end = indptr[row + 1]
            rows[row], before = np.uint32(sums[end - start] ^ before), sums[end - start]
            if indptr[row] < end < indices.size:
                steps -= indices[end] <= indices[end - 1]
            row += 1
        sums[0] = sums[part.size]
    square = np.zeros(32, dtype=np.uint32)
    for i in range(n):
        key = _mixed(i, first, second)
        for bit in range(32):  # vector instructions come of rows[i] in it
            square[bit] ^= rows[i] & (np.uint32(0) - ((key >> np.uint32(bit)) & np.uint32(1)))
    for i in range(32):
        for j in range(i + 1):
            other = square[j] >> np.uint32(i) if i != j else np.uint32(0)
            wrong |= bool(((square[i] >> np.uint32(j)) ^ other) & np.uint32(1))
    return not wrong and steps == 0


@njit()
def _mixed(vertex: int, first: np.uint32, second: np.uint32) -> np.uint32:
    """Bits of a vertex. Numba adds and multiplies in 64 bits, which are cut to 32 each time."""
    bits = np.uint32(np.uint32(np.uint32(vertex) + first) * np.uint32(second | np.uint32(1)))
    bits = np.uint32(np.uint32(bits ^ (bits >> np.uint32(15))) * np.uint32(0xC2B2AE35))
    return np.uint32(bits ^ (bits >> np.uint32(16)))


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
    ends = zip([nodes[i] for i in tails.tolist()], [nodes[j] for j in heads.tolist()], strict=True)
    with uncollected():
        if weight is None:
            for u, v in ends:
                neighbours[u][v] = neighbours[v][u] = {}
        else:
            for (u, v), w in zip(ends, weights.tolist(), strict=True):
                neighbours[u][v] = neighbours[v][u] = {weight: w}
    return G


def to_igraph(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None = None) -> igraph.Graph:
    """:func:`to_networkx` for igraph, with the vertices as vertex attribute ``name``."""
    import igraph

    tails, heads, weights = upper_edges(A)
    G = igraph.Graph(n=len(nodes), edges=list(zip(tails.tolist(), heads.tolist(), strict=True)))
    G.vs["name"] = list(nodes)
    if weight is not None:
        G.es[weight] = weights.tolist()
    return G


def merge_arcs(n: int, tails: IntArray, heads: IntArray, weights: FloatArray | None = None) -> sparse.csr_array:
    """Symmetric matrix without diagonal from a list of arcs between n vertices; entries are 1 without `weights`.

    Unweighted repetitions, in either direction, count once. Weights of arcs repeated in the same direction are summed;
    of the two directions the larger counts, because most files that list both mean one edge. Both rules map
    neighbouring graphs to neighbouring graphs.
    """
    proper = tails != heads
    tails, heads = tails[proper].astype(np.int64), heads[proper].astype(np.int64)
    pairs = np.minimum(tails, heads) * n + np.maximum(tails, heads)
    if weights is None:
        pairs.sort()
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return symmetric(n, *np.divmod(pairs, n), np.ones(len(pairs)))
    arcs = 2 * pairs + (tails < heads)
    order = np.argsort(arcs, kind="stable")
    arcs = arcs[order]
    new = np.diff(arcs, prepend=-1) > 0
    first = np.flatnonzero(np.diff(arcs[new] // 2, prepend=-1))
    sums = np.bincount(np.cumsum(new) - 1, weights=weights[proper][order])
    with np.errstate(invalid="ignore"):  # NaN stays NaN; whoever uses the weights refuses it
        data = np.maximum.reduceat(sums, first, dtype=np.float64)
    return symmetric(n, *np.divmod(arcs[new][first] // 2, n), data)


def symmetric(n: int, low: IntArray, high: IntArray, data: FloatArray) -> sparse.csr_array:
    """Both entries of each edge."""
    low, high = low.astype(np.int32), high.astype(np.int32)  # half the memory of a large graph
    # Rows come out sorted if the edges are: what is left of the diagonal first.
    ends = np.concatenate([high, low]), np.concatenate([low, high])
    A = sparse.coo_array((np.concatenate([data, data]), ends), shape=(n, n)).tocsr()
    A.sort_indices()
    return A


def igraph_names(g: Any) -> Sequence[Hashable]:
    """Names of the vertices: their own, else those of the networkx graph that they were made from, else numbers."""
    kept = [name for name in ("name", "_nx_name") if name in g.vs.attributes()]
    names: Sequence[Hashable] = g.vs[kept[0]] if kept else range(g.vcount())
    return names


def igraph_clustering(g: Any, sets: Sequence[set[Hashable]]) -> Any:
    """``igraph.VertexClustering`` of `g` of which cluster k is set k; vertices are known by name, or else by number."""
    import igraph

    if not isinstance(g, igraph.Graph):
        raise InvalidParameterError(
            f"expected an igraph.Graph; got {type(g).__name__}. igraph.Graph.from_networkx(G) makes one of networkx's"
        )
    n, number = g.vcount(), {node: k for k, nodes in enumerate(sets) for node in nodes}
    for names in (igraph_names(g), range(n)):
        if len(number) == n and all(name in number for name in names):
            return igraph.VertexClustering(g, membership=[number[name] for name in names])
    raise InvalidParameterError(
        "the vertices of the igraph.Graph must be those of this result; pass the graph it was computed from"
    )
