"""Random graphs with given degrees, communities and edges between these. All of it is public.

A degree d stands for d stubs. So many stubs of two communities are joined at random as there are to be edges between
them. Loops and double edges are then exchanged with edges at the same community, which changes no degree and no number
of edges between communities. Triangles come afterwards: :mod:`dpgraph.denoise.wedges`.
"""

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: Rounds in which numbers of edges between communities are fitted to the stubs.
_ROUNDS = 60
#: Edges that an unwanted pair tries, and from which of them on these may be anywhere.
_TRIES, _ANYWHERE = 200, 150
#: Stands at the end of a row, above all vertices.
_NO_VERTEX = 2**31 - 1


def draw_graph(degrees: IntArray, labels: IntArray, edges: FloatArray, rng: np.random.Generator) -> sparse.csr_array:
    """A random simple graph, as a symmetric 0/1 matrix with sorted rows.

    Parameters
    ----------
    degrees, labels : ndarray of int, shape (n,)
        Wanted degree, and community 0, ..., K - 1, of each vertex.
    edges : ndarray, shape (K, K)
        Wanted edges between communities, symmetric, and inside them on the diagonal. Where they do not fit the degrees,
        these hold.
    rng : numpy.random.Generator
        Public randomness.
    """
    n, pairs = degrees.size, _joined(degrees, labels, edges, rng)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    half = sparse.coo_array((np.ones(len(pairs), dtype=np.int64), (low, high)), shape=(n, n)).tocsr()
    excess = half.tocoo()  # loops, and all but one of the same pairs, are drawn anew
    tails, heads = excess.coords
    again = np.repeat(np.column_stack([tails, heads]), excess.data - (tails != heads), axis=0)
    half.data[:] = tails != heads
    half.eliminate_zeros()
    found = sparse.csr_array(half + half.T)
    found.sort_indices()
    starts = np.concatenate([[0], np.cumsum(np.bincount(pairs.ravel(), minlength=n))])
    sizes, indptr = np.diff(found.indptr).astype(np.int64), found.indptr.astype(np.int64)
    rows = np.zeros(starts[-1], dtype=np.int32)
    rows[np.arange(found.nnz) + np.repeat(starts[:-1] - indptr[:-1], sizes)] = found.indices
    stubs = np.repeat(np.arange(n), np.diff(starts))
    stubs = stubs[np.argsort(labels[stubs], kind="stable")]
    begins = np.searchsorted(labels[stubs], np.arange(len(edges) + 1))
    on_thread(at_once(_placed, 16.0 * len(again)), (starts, rows, sizes), again, labels, stubs, begins, rng)
    kept = np.arange(rows.size) - np.repeat(starts[:-1], np.diff(starts)) < np.repeat(sizes, np.diff(starts))
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32 if rows.size < 2**31 else np.int64)
    return sparse.csr_array((np.ones(indptr[-1]), rows[kept], indptr), shape=(n, n))


def _joined(degrees: IntArray, labels: IntArray, edges: FloatArray, rng: np.random.Generator) -> IntArray:
    """Pairs of stubs at random, about so many of each two communities as are wanted."""
    K = len(edges)
    stubs = rng.permutation(np.repeat(np.arange(degrees.size), degrees))
    stubs = stubs[np.argsort(labels[stubs].astype(np.min_scalar_type(K)), kind="stable")]  # by radix
    sizes = np.bincount(labels, weights=degrees, minlength=K).astype(np.int64)
    ends = _fitted(edges, sizes)
    a, b = np.nonzero(np.triu(ends > 0))
    wanted = np.where(a == b, ends[a, b] / 2, ends[a, b])
    wanted = np.floor(wanted + rng.random(wanted.size)).astype(np.int64)
    firsts = np.cumsum(sizes) - sizes
    used, pairs = firsts.copy(), []
    for i, j, count in zip(a, b, wanted, strict=True):
        left_i, left_j = firsts[i] + sizes[i] - used[i], firsts[j] + sizes[j] - used[j]
        count = min(count, left_i // 2 if i == j else left_i, left_j)
        first, used[i] = used[i], used[i] + count
        second, used[j] = used[j], used[j] + count
        pairs.append(np.column_stack([stubs[first : first + count], stubs[second : second + count]]))
    left = np.ones(stubs.size, dtype=bool)
    for k in range(K):
        left[firsts[k] : used[k]] = False
    rest = rng.permutation(stubs[left])
    return np.concatenate([*pairs, rest[: rest.size // 2 * 2].reshape(-1, 2)])


def _fitted(edges: FloatArray, sizes: IntArray) -> FloatArray:
    """Ends of edges, by the community of either end: rows as near in proportion to `edges` as sums `sizes` allow."""
    ends = edges + np.diag(np.diag(edges))
    scale = np.ones(len(sizes))
    for _ in range(_ROUNDS):
        sums = scale * (ends @ scale)
        scale *= np.sqrt(np.where(sums > 0, sizes / np.where(sums > 0, sums, 1.0), 1.0))
    return ends * scale[:, None] * scale


@njit()
def place_in(rows: IntArray, first: int, last: int, value: int) -> int:
    """The first place from `first` to `last` of increasing numbers that holds `value` or more; `last` if none does."""
    while first < last:
        middle = (first + last) // 2
        if rows[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@njit()
def holds(rows: IntArray, first: int, last: int, value: int) -> bool:
    """Whether one of increasing numbers from `first` to `last` is `value`."""
    place = place_in(rows, first, last, value)
    return bool(place < last and rows[place] == value)


@njit()
def exchange(rows: IntArray, first: int, last: int, old: int, new: int) -> None:
    """Write `new` in place of `old`, and keep the numbers increasing."""
    place = place_in(rows, first, last, old)
    while place + 1 < last and rows[place + 1] < new:
        rows[place] = rows[place + 1]
        place += 1
    while place > first and rows[place - 1] > new:
        rows[place] = rows[place - 1]
        place -= 1
    rows[place] = new


@njit(nogil=True)
def _placed(
    slots: tuple[IntArray, IntArray, IntArray],
    pairs: IntArray,
    labels: IntArray,
    stubs: IntArray,
    begins: IntArray,
    rng: np.random.Generator,
    stop: Stop,
) -> None:
    """Find places for pairs that would be loops or double edges: `slots` are starts of rows, the rows, and their sizes.

    A pair u-v and an edge x-y, x in the community of u, become u-y and x-v: all degrees, and all numbers of edges
    between communities, stay as they are. `stubs` are vertices, as often as their degrees say, by communities, which
    begin at `begins`. If no such edge is found, x may be anywhere; pairs for which that fails are left out.
    """
    starts, rows, sizes = slots
    for tail, head in pairs:
        if stop[0]:
            break
        for tried in range(_TRIES):
            u, v = (tail, head) if tried & 1 else (head, tail)
            first, last = (begins[labels[u]], begins[labels[u] + 1]) if tried < _ANYWHERE else (0, stubs.size)
            x = int(stubs[first + int(rng.random() * (last - first))])
            if sizes[x] == 0:
                continue
            y = int(np.int64(rows[starts[x] + int(rng.random() * sizes[x])]))
            if u in (x, y) or v in (x, y):
                continue
            if holds(rows, starts[u], starts[u] + sizes[u], y) or holds(rows, starts[x], starts[x] + sizes[x], v):
                continue
            exchange(rows, starts[x], starts[x] + sizes[x], y, v)
            exchange(rows, starts[y], starts[y] + sizes[y], x, u)
            for end, other in ((u, y), (v, x)):
                sizes[end] += 1
                rows[starts[end] + sizes[end] - 1] = _NO_VERTEX
                exchange(rows, starts[end], starts[end] + sizes[end], _NO_VERTEX, other)
            break
