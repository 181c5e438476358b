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

from dpgraph.compiled import njit
from dpgraph.denoise.block_model import exchange, holds
from dpgraph.linalg.clustering import corner_weights
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: How many edges to do away with are compared, at most: the one that closes the fewest triangles goes.
_CHOICES = 4
#: The error at which the search ends: of both numbers together, and then of the triangles.
_CLOSE_TOGETHER, _CLOSE = 0.01, 0.001
#: It looks at each edge so often, at most, and goes on while it gains this part of the error each time.
_ROUNDS, _LEAST_GAIN = 100, 0.03
#: The fewest exchanges between two looks at what was gained.
_WINDOW = 2000


class Goal(NamedTuple):
    """What a drawn graph should have: triangles, and clustering as counted with `least_degree`."""

    triangles: float
    clustering: float
    least_degree: int


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
    for both in (1.0, 0.0) if rows.size else ():
        wanted = np.array([goal.triangles, goal.clustering])
        on_thread(_exchanged, starts, rows, labels, weights, counts, wanted, np.array([1.0, both / 2]), rng)
    found = sparse.csr_array((np.ones(rows.size), rows, A.indptr), shape=A.shape)
    return Reached(found, round(counts[0]), float(counts[1]))


@njit()
def _common(starts: IntArray, rows: IntArray, weights: FloatArray, u: int, v: int) -> tuple[int, float]:
    """Triangles that an edge u-v is part of, or would be, and the weight of their corners."""
    i, last, j, end = starts[u], starts[u + 1], starts[v], starts[v + 1]
    if last - i > end - j:
        i, last, j, end = j, end, i, last
    count, total = 0, 0.0
    if 16 * (last - i) < end - j:
        for w in rows[i:last]:
            if holds(rows, j, end, w):
                count += 1
                total += weights[w]
    else:
        while i < last and j < end:
            p, q = rows[i], rows[j]
            if p == q:
                count += 1
                total += weights[p]
            i += p <= q
            j += q <= p
    return count, total + count * (weights[u] + weights[v])


@njit()
def _neighbour(starts: IntArray, rows: IntArray, u: int, rng: np.random.Generator) -> int:
    """A random neighbour."""
    return np.int64(rows[starts[u] + int(rng.random() * (starts[u + 1] - starts[u]))])


@njit()
def _any_end(rows: IntArray, rng: np.random.Generator) -> int:
    """An end of a random edge."""
    return np.int64(rows[int(rng.random() * rows.size)])


@njit()
def _far_end(
    starts: IntArray,
    rows: IntArray,
    weights: FloatArray,
    a: int,
    labels: IntArray,
    label: int,
    choices: int,
    rng: np.random.Generator,
) -> int:
    """Of some neighbours of a, of this community unless it is -1, the one whose edge to a closes the fewest; or -1."""
    best, fewest = -1, -1
    for _ in range(choices + 2 * (label >= 0)):
        x = _neighbour(starts, rows, a, rng)
        if label < 0 or labels[x] == label:
            if choices == 1:
                return x
            count = _common(starts, rows, weights, a, x)[0]
            if best < 0 or count < fewest:
                best, fewest = x, count
    return best


@njit()
def _change(starts: IntArray, rows: IntArray, weights: FloatArray, a: int, x: int, b: int, y: int) -> tuple[int, float]:
    """What an exchange of a-x and b-y for a-b and x-y adds to the triangles and to the weight of their corners."""
    gained, weight = _common(starts, rows, weights, a, b)
    more, its_weight = _common(starts, rows, weights, x, y)
    for lost in (_common(starts, rows, weights, a, x), _common(starts, rows, weights, b, y)):
        more, its_weight = more - lost[0], its_weight - lost[1]
    if holds(rows, starts[b], starts[b + 1], x):  # neither a-b-x nor b-x-y is a triangle without a-x and b-y
        gained, weight = gained - 2, weight - weights[a] - 2 * weights[b] - 2 * weights[x] - weights[y]
    if holds(rows, starts[a], starts[a + 1], y):
        gained, weight = gained - 2, weight - weights[b] - 2 * weights[a] - 2 * weights[y] - weights[x]
    return gained + more, weight + its_weight


@njit()
def _proposal(
    starts: IntArray,
    rows: IntArray,
    weights: FloatArray,
    labels: IntArray,
    closes: bool,
    choices: int,
    rng: np.random.Generator,
) -> tuple[int, int, int, int]:
    """Edges a-x and b-y, the communities of x and b the same, with a and b not joined, nor x and y; -1 if there are none.

    To close a wedge, a and b are neighbours of a vertex c; otherwise both edges are anywhere.
    """
    none = -1, -1, -1, -1
    if closes:
        c = int(rng.random() * (starts.size - 1)) if rng.random() < 0.5 else _any_end(rows, rng)
        if starts[c] == starts[c + 1]:
            return none
        a, b = _neighbour(starts, rows, c, rng), _neighbour(starts, rows, c, rng)
    else:
        c, a, b = -1, _any_end(rows, rng), _any_end(rows, rng)
    if a == b or holds(rows, starts[a], starts[a + 1], b):
        return none
    x = _far_end(starts, rows, weights, a, labels, labels[b], choices, rng)
    y = _far_end(starts, rows, weights, b, labels, -1, choices, rng)
    if x < 0 or x == b or y == a or x == y or x == c or y == c or holds(rows, starts[x], starts[x + 1], y):
        return none
    return a, x, b, y


@njit(nogil=True)
def _exchanged(
    starts: IntArray,
    rows: IntArray,
    labels: IntArray,
    weights: FloatArray,
    counts: FloatArray,
    wanted: FloatArray,
    shares: FloatArray,
    rng: np.random.Generator,
    stop: Stop,
) -> None:
    """Exchange edges, in place, until `counts` are as `wanted`; `shares` weigh the relative errors of both."""
    scale = shares / np.maximum(wanted, 1.0)
    error = (scale * np.abs(counts - wanted)).sum()
    window, before, choices = max(rows.size // 2, _WINDOW), np.inf, 1
    for step in range(_ROUNDS * window):
        if step % window == 0:
            choices += int(error > (1 - _LEAST_GAIN) * before)
            if stop[0] or choices > _CHOICES:
                break
            before = error
        if error <= (_CLOSE_TOGETHER if shares[1] else _CLOSE):
            break
        few = int(counts[0] < wanted[0]) + int(counts[1] < wanted[1] if shares[1] else counts[0] < wanted[0])
        a, x, b, y = _proposal(starts, rows, weights, labels, 2 * rng.random() < few, choices, rng)
        if a < 0:
            continue
        triangles, weight = _change(starts, rows, weights, a, x, b, y)
        other = scale[0] * abs(counts[0] + triangles - wanted[0]) + scale[1] * abs(counts[1] + weight - wanted[1])
        if other < error:
            error = other
            counts[0] += triangles
            counts[1] += weight
            exchange(rows, starts[a], starts[a + 1], x, b)
            exchange(rows, starts[x], starts[x + 1], a, y)
            exchange(rows, starts[b], starts[b + 1], y, a)
            exchange(rows, starts[y], starts[y + 1], b, x)
