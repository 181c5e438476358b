"""Edges of a symmetric matrix, and the graphs of networkx and igraph that it stands for."""

from __future__ import annotations

import gc
import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from dpgraph.compiled import njit, worth_compiling
from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import igraph
    import networkx as nx

#: What the passes over the entries of a vertex take without a compiled one, in steps of Python, if they are sixteen.
_PASSES = 4.0


def is_simple_graph(indptr: IntArray, indices: IntArray, data: FloatArray) -> bool:
    """Whether rows are those of a symmetric matrix of zeros and ones: sorted, no entry twice, none on the diagonal.

    Each vertex i gets a random number k_i, and the sum of k_i k_j over all entries (i, j) with i < j, less those with
    i > j, is computed modulo a power of two. Of a symmetric matrix it is 0. Of another one it is so with probability
    2**-27 at most, for numbers of 32 bits: some k_i has a factor c that is not zero, but with probability 2**-32, and
    the product is one given number with probability 2**(v - 32) where 2**v is the largest power of two in c.
    """
    n = indptr.size - 1
    if n < 1 or indptr[0] != 0 or not indptr[n] == indices.size == data.size:
        return False
    if worth_compiling(_simple_rows, n * _PASSES):
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
    """The same with 32 bits that are made of a vertex and of two random numbers, which takes less than a table."""
    n, wrong, total = indptr.size - 1, False, np.uint32(0)
    for k in range(indptr[n]):
        wrong |= (np.uint64(indices[k]) >= np.uint64(n)) | (data[k] != 1.0)
    for i in range(n):
        if not indptr[i] <= indptr[i + 1] <= indptr[n]:
            return False
        whole = np.uint32(0)
        for k in range(indptr[i], indptr[i + 1]):
            key = _mixed(indices[k], first, second)
            wrong |= indices[k] == i
            whole = np.uint32(whole + (key if indices[k] > i else np.uint32(np.uint32(0) - key)))
        for k in range(indptr[i] + 1, indptr[i + 1]):
            wrong |= indices[k] <= indices[k - 1]
        total = np.uint32(total + np.uint32(whole * _mixed(i, first, second)))
    return not wrong and bool(total == 0)


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
    with _uncollected():
        if weight is None:
            for u, v in ends:
                neighbours[u][v] = neighbours[v][u] = {}
        else:
            for (u, v), w in zip(ends, weights.tolist(), strict=True):
                neighbours[u][v] = neighbours[v][u] = {weight: w}
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
