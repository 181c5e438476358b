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

    Each vertex gets 64 random bits h = 2**32 H + L, and the sum of L_i H_j - H_i L_j over all entries (i, j) is
    computed, modulo 2**64. Of a symmetric matrix it is 0. Of another one it is so with probability 2**-31 at most: some
    row of A - A' meets H_j in a sum that is 0 for one value of it, and else the sum of all is 0 for one L_i.
    """
    n = indptr.size - 1
    if n < 1 or indptr[0] != 0 or not indptr[n] == indices.size == data.size:
        return False
    if worth_compiling(_simple_rows, n * _PASSES):
        return bool(_simple_rows(indptr, indices, data, np.uint64(int.from_bytes(os.urandom(8), "little"))))
    lengths, half = np.diff(indptr), np.uint64(32)
    if lengths.min() < 0 or not (data == 1.0).all() or (indices.size and not 0 <= indices.min() <= indices.max() < n):
        return False
    rows = np.repeat(np.arange(n), lengths)
    places = rows * n + indices
    if (places[1:] <= places[:-1]).any() or (rows == indices).any():
        return False
    keys = np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
    high = keys >> half
    low = keys ^ high << half
    sums = ((np.repeat(own, lengths) * other[indices]).sum() for own, other in ((low, high), (high, low)))
    return bool(next(sums) == next(sums))


@njit()
def _simple_rows(indptr: IntArray, indices: IntArray, data: FloatArray, key: np.uint64) -> bool:
    """The same in one pass, with bits that are made of a random key."""
    n, half = indptr.size - 1, np.uint64(32)
    keys = np.empty(n, np.uint64)
    for i in range(n):  # the generator splitmix64
        key += np.uint64(0x9E3779B97F4A7C15)
        bits = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys[i] = bits ^ (bits >> np.uint64(31))
    wrong = False
    for k in range(indptr[n]):
        wrong |= (np.uint64(indices[k]) >= np.uint64(n)) | (data[k] != 1.0)
    if wrong:
        return False
    total = np.uint64(0)
    for i in range(n):
        before, whole, high = -1, np.uint64(0), np.uint64(0)
        if not indptr[i] <= indptr[i + 1] <= indptr[n]:
            return False
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            wrong |= (j <= before) | (j == i)
            before = j
            whole += keys[np.uint64(j)]
            high += keys[np.uint64(j)] >> half
        total += keys[i] * high - (keys[i] >> half) * whole
    return not wrong and bool(total == 0)


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
