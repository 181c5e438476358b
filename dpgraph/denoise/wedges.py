"""Triangles for a random graph, by exchanges that leave degrees and communities alone. All of it is public.

Two edges a-x and b-y become a-b and x-y, where x has the community of b: no degree changes, and no number of edges
between communities. If a and b have a neighbour c in common, that closes the wedge a-c-b. An exchange is made if it
brings two numbers nearer to what is wanted: the triangles, and the clustering, a sum over the corners of triangles that
weighs corners of small degree more (:mod:`dpgraph.linalg.clustering`). With triangles alone, all would be closed where
there are some already, among vertices of large degree.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.denoise.block_model import exchange, holds
from dpgraph.linalg.clustering import corner_weights
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: How many edges to do away with are compared, at most: the one that closes the fewest triangles goes.
_CHOICES = 4
#: The error at which the search ends: of both numbers together, and then of the triangles.
_CLOSE_TOGETHER, _CLOSE = 0.01, 0.001
#: It looks at each edge so often, at most, and goes on while it gains this part of the error each time.
_ROUNDS, _LEAST_GAIN = 100, 0.03
#: The fewest exchanges between two looks at what was gained.
_WINDOW = 2000


class Goal(NamedTuple):
    """What a drawn graph should have: triangles, and clustering as counted with `least_degree`; -1: whatever it is."""

    triangles: int
    clustering: int = -1
    least_degree: int = 3


class _Drawn(NamedTuple):
    """A graph as kernels take it: its sorted rows, the community of each vertex, and the weight of its corners."""

    starts: IntArray
    rows: IntArray
    labels: IntArray
    weights: FloatArray


class Reached(NamedTuple):
    """A graph, and the triangles and the clustering that it has."""

    graph: sparse.csr_array
    triangles: int
    clustering: float


def with_triangles(A: sparse.csr_array, labels: IntArray, goal: Goal, rng: np.random.Generator) -> Reached:
    """A graph of the same degrees, and as many edges between communities, that comes near to a goal.

    First triangles and clustering are approached together, then triangles alone.
    """
    starts, rows = A.indptr.astype(np.int64), A.indices.astype(np.int32)
    corners = Subgraphs(A.indptr, A.indices).corners
    weights = corner_weights(np.diff(starts), goal.least_degree)
    counts = np.array([corners.sum() / 3, corners @ weights])
    exchanged = at_once(_exchanged, 40.0 * _WINDOW + 40.0 * rows.size)
    for both in ((1.0, 0.0) if goal.clustering >= 0 else (0.0,)) if rows.size else ():
        wanted = np.array([goal.triangles, goal.clustering])
        on_thread(exchanged, _Drawn(starts, rows, labels, weights), counts, wanted, np.array([1.0, both / 2]), rng)
    found = sparse.csr_array((np.ones(rows.size), rows, A.indptr), shape=A.shape)
    return Reached(found, round(counts[0]), float(counts[1]))


@njit()
def _common(G: _Drawn, u: int, v: int) -> tuple[int, float]:
    """Triangles that an edge u-v is part of, or would be, and the weight of their corners."""
    i, last, j, end = G.starts[u], G.starts[u + 1], G.starts[v], G.starts[v + 1]
    if last - i > end - j:
        i, last, j, end = j, end, i, last
    count, total = 0, 0.0
    if 16 * (last - i) < end - j:
        for w in G.rows[i:last]:
            if holds(G.rows, j, end, w):
                count += 1
                total += G.weights[w]
    else:
        while i < last and j < end:
            p, q = G.rows[i], G.rows[j]
            if p == q:
                count += 1
                total += G.weights[p]
            i += p <= q
            j += q <= p
    return count, total + count * (G.weights[u] + G.weights[v])


@njit()
def _neighbour(G: _Drawn, u: int, rng: np.random.Generator) -> int:
    """A random neighbour."""
    return int(np.int64(G.rows[G.starts[u] + int(rng.random() * (G.starts[u + 1] - G.starts[u]))]))


@njit()
def _any_end(G: _Drawn, rng: np.random.Generator) -> int:
    """An end of a random edge."""
    return int(np.int64(G.rows[int(rng.random() * G.rows.size)]))


@njit()
def _far_end(
    G: _Drawn,
    a: int,
    label: int,
    choices: int,
    rng: np.random.Generator,
) -> int:
    """Of some neighbours of a, of this community unless it is -1, the one whose edge to a closes the fewest; or -1."""
    best, fewest = -1, -1
    for _ in range(choices + 2 * (label >= 0)):
        x = _neighbour(G, a, rng)
        if label < 0 or G.labels[x] == label:
            if choices == 1:
                return x
            count = _common(G, a, x)[0]
            if best < 0 or count < fewest:
                best, fewest = x, count
    return best


@njit()
def _change(G: _Drawn, a: int, x: int, b: int, y: int) -> tuple[int, float]:
    """What an exchange of a-x and b-y for a-b and x-y adds to the triangles and to the weight of their corners."""
    gained, weight = _common(G, a, b)
    more, its_weight = _common(G, x, y)
    for lost in (_common(G, a, x), _common(G, b, y)):
        more, its_weight = more - lost[0], its_weight - lost[1]
    if holds(G.rows, G.starts[b], G.starts[b + 1], x):  # neither a-b-x nor b-x-y is a triangle without a-x and b-y
        gained, weight = gained - 2, weight - G.weights[a] - 2 * G.weights[b] - 2 * G.weights[x] - G.weights[y]
    if holds(G.rows, G.starts[a], G.starts[a + 1], y):
        gained, weight = gained - 2, weight - G.weights[b] - 2 * G.weights[a] - 2 * G.weights[y] - G.weights[x]
    return gained + more, weight + its_weight


@njit()
def _proposal(
    G: _Drawn,
    closes: bool,
    choices: int,
    rng: np.random.Generator,
) -> tuple[int, int, int, int]:
    """Edges a-x and b-y, x of the community of b, with a and b not joined, and neither x and y; -1 if there are none.

    To close a wedge, a and b are neighbours of a vertex c; otherwise both edges are anywhere.
    """
    none = -1, -1, -1, -1
    if closes:
        c = int(rng.random() * (G.starts.size - 1)) if rng.random() < 0.5 else _any_end(G, rng)
        if G.starts[c] == G.starts[c + 1]:
            return none
        a, b = _neighbour(G, c, rng), _neighbour(G, c, rng)
    else:
        c, a, b = -1, _any_end(G, rng), _any_end(G, rng)
    if a == b or holds(G.rows, G.starts[a], G.starts[a + 1], b):
        return none
    x = _far_end(G, a, G.labels[b], choices, rng)
    y = _far_end(G, b, -1, choices, rng)
    if x < 0 or x in {b, y, c} or y in {a, c} or holds(G.rows, G.starts[x], G.starts[x + 1], y):
        return none
    return a, x, b, y


@njit(nogil=True)
def _exchanged(
    G: _Drawn,
    counts: FloatArray,
    wanted: FloatArray,
    shares: FloatArray,
    rng: np.random.Generator,
    stop: Stop,
) -> None:
    """Exchange edges, in place, until `counts` are as `wanted`; `shares` weigh the relative errors of both."""
    scale = shares / np.maximum(wanted, 1.0)
    error = (scale * np.abs(counts - wanted)).sum()
    window, before, choices = max(G.rows.size // 2, _WINDOW), np.inf, 1
    for step in range(_ROUNDS * window):
        if step % window == 0:
            choices += int(error > (1 - _LEAST_GAIN) * before)
            if stop[0] or choices > _CHOICES:
                break
            before = error
        if error <= (_CLOSE_TOGETHER if shares[1] else _CLOSE):
            break
        few = int(counts[0] < wanted[0]) + int(counts[1] < wanted[1] if shares[1] else counts[0] < wanted[0])
        a, x, b, y = _proposal(G, 2 * rng.random() < few, choices, rng)
        if a < 0:
            continue
        triangles, weight = _change(G, a, x, b, y)
        other = scale[0] * abs(counts[0] + triangles - wanted[0]) + scale[1] * abs(counts[1] + weight - wanted[1])
        if other < error:
            error = other
            counts[0] += triangles
            counts[1] += weight
            exchange(G.rows, G.starts[a], G.starts[a + 1], x, b)
            exchange(G.rows, G.starts[x], G.starts[x + 1], a, y)
            exchange(G.rows, G.starts[b], G.starts[b + 1], y, a)
            exchange(G.rows, G.starts[y], G.starts[y + 1], b, x)
