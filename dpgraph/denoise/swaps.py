r"""Swaps of edges that move a graph to wanted counts, and leave degrees and communities as they are. All public.

Edges a-x and b-y, x in the community of b and y in that of a, become a-b and x-y. So each vertex keeps its number of
edges to each community. A swap is made if the counts of :class:`Goals` come nearer to what they should be. a and b have
a common neighbour, so that a-b closes a triangle, unless there are too many. Of a few such edges those are taken that
are in the fewest triangles.

Most triangles are closed where there are some already. Left alone they gather in one place, and whoever looks for
communities in the graph finds that place. Say that the edges beyond what degrees and communities explain have an
eigenvector u of eigenvalue v: it has v^3/6 triangles. A swap adds 2 (u_a - u_y)(u_b - u_x) to v, and so about
v^2 (u_a - u_y)(u_b - u_x) triangles to these. Of those that a swap closes, one in fifty may be of the leading
eigenvectors, and more where triangles are missing in the end.

References
----------
P. Mahadevan, D. Krioukov, K. Fall, A. Vahdat, "Systematic topology analysis and generation using degree correlations",
SIGCOMM 2006. M. Gjoka, M. Kurant, A. Markopoulou, "2.5K-graphs: from sampling to generation", INFOCOM 2013 (swaps
towards a clustering).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.denoise.excess import Expected
from dpgraph.denoise.supports import clear, count_supports, counted, mark, marked
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: Swaps of a round for each end of an edge; rounds, and swaps of all of them, at most; neighbours that a round reads,
#: about; swaps that are tried for one edge a-x; places of which the best is taken.
_SWAPS, _ROUNDS, _MOST, _MOST_READ, _SAME, _CHOICES = 1, 80, 64 * 10**5, 10**9, 8, 4
#: A round that takes off less than this part of the squared distance is the last one with its share of triangles.
_WORTH = 0.015
#: Leading eigenvectors; the power of their eigenvalues, over the largest, with which they count; their least share of
#: the triangles of a swap; its growth in a round after which more than the last part of all triangles will be missing.
_LEADING, _POWER, _SHARE, _MORE, _MISSING = 8, 8, 0.02, 1.5, 0.03
#: The root of the sum of squared relative errors of a graph that is near enough.
_NEAR = 0.02
#: Of all ends of edges, so many have a degree that counts as a larger one, and as a smaller one.
_OUTER = 0.02


class Goals(NamedTuple):
    """Counts that a drawn graph should have; nan for one that is not known.

    Parameters
    ----------
    triangles : float
        How many.
    clustering : float
        The mean of the local clustering coefficients of all vertices.
    assortativity : float
        The correlation of the square roots of the degrees of two neighbours.
    errors : tuple of three floats
        Median errors of each: one goal is not given up for another that is less certain. Few counts have much larger
        ones, and their standard deviation says little of the others.
    """

    triangles: float
    clustering: float
    assortativity: float
    errors: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Roots(NamedTuple):
    """Square roots of degrees, `smallest` to `largest`, less their `mean` over ends of edges; their `variance`."""

    mean: float
    smallest: float
    largest: float
    variance: float

    @classmethod
    def fit(cls, degrees: FloatArray) -> "Roots":
        """A fiftieth of all ends are at vertices below the smallest, and as many at those above the largest."""
        increasing, total = np.sort(degrees), max(float(degrees.sum()), 1.0)
        at = np.searchsorted(np.cumsum(increasing), [_OUTER * total, (1 - _OUTER) * total])
        smallest, largest = (
            np.sqrt(increasing[np.minimum(at, degrees.size - 1)]).tolist() if degrees.size else (0.0, 0.0)
        )
        roots = np.clip(np.sqrt(degrees), smallest, largest)
        mean = min(max(float(degrees @ roots) / total, smallest), largest)
        return cls(mean, smallest, largest, max(float(degrees @ (roots - mean) ** 2) / total, 1e-9))

    def of(self, degrees: FloatArray) -> FloatArray:
        """The centred roots of degrees."""
        centred: FloatArray = np.clip(np.sqrt(degrees), self.smallest, self.largest) - self.mean
        return centred


class Counts(NamedTuple):
    """The counts of a graph `now`, those that are `wanted`, which distance is `near` enough, and units of it and noise.

    Those of triangles, the sum of clustering coefficients, and the sum over edges of products of centred roots.
    """

    now: FloatArray
    wanted: FloatArray
    near: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, A: sparse.csr_array, goals: Goals, centred: FloatArray, variance: float) -> "Counts":
        """Those of a graph; a goal that is not known is what the graph has."""
        found, units = Subgraphs(A.indptr, A.indices), np.array([1.0, A.shape[0], variance * A.nnz / 2])
        now = np.array([found.count("triangle"), found.clustering(), float(centred @ (A @ centred)) / 2])
        unknown = np.isnan(goals[:3])
        wanted = np.where(unknown, now, np.array(goals[:3]) * units)
        near = np.where(unknown, np.inf, _NEAR * np.maximum([wanted[0], wanted[1], units[2]], 1.0))
        return cls(now, wanted, near, 1 / np.hypot(near, units * goals.errors))

    def distance(self) -> float:
        """The squared distance of what there is from what is wanted."""
        return float((((self.now - self.wanted) * self.scale) ** 2).sum())

    def lacking(self) -> float:
        """How many triangles are missing, or too many, beyond what may be."""
        return float(abs(self.now[0] - self.wanted[0]) - _MISSING * self.wanted[0])

    def reached(self) -> bool:
        """Whether all are near enough."""
        return bool((((self.now - self.wanted) / self.near) ** 2).sum() <= 1)


def swapped(A: sparse.csr_array, labels: IntArray, goals: Goals, rng: np.random.Generator) -> sparse.csr_array:
    """A graph with the same degrees and edges between communities, and counts that are nearer to the goals."""
    degrees = np.diff(A.indptr).astype(np.float64)
    roots = Roots.fit(degrees)
    counts = Counts.of(A, goals, roots.of(degrees), roots.variance)
    if A.nnz == 0 or counts.reached():
        return A
    order = np.argsort(labels, kind="stable")  # each row has its communities one after the other, and keeps them
    B, back = A[order][:, order], np.argsort(order)
    B.sort_indices()
    return _nearer(B, labels[order], roots.of(degrees[order]), counts, rng)[back][:, back]


def _nearer(
    A: sparse.csr_array, labels: IntArray, centred: FloatArray, counts: Counts, rng: np.random.Generator
) -> sparse.csr_array:
    """What :func:`swapped` returns, of vertices in the order of their labels; `counts` are kept right."""
    n, degrees = labels.size, np.diff(A.indptr).astype(np.float64)
    indptr, neighbours, owners = rows_of(A)
    mates = sparse.csr_array((np.arange(A.nnz), A.indices, A.indptr), shape=A.shape).T.tocsr().data
    graph = indptr, neighbours, owners, mates, np.zeros((A.nnz, 2))
    weights, marks = 2 / np.maximum(degrees * (degrees - 1), 2.0), np.zeros((2, n, 2))
    on_thread(at_once(count_supports, 2.0 * degrees @ degrees), graph, weights, marks[0])
    vertices = labels, weights, centred, marks[0], marks[1], np.full(n, -1)
    tries, share = min(_SWAPS * A.nnz, _MOST), _SHARE
    rounds = min(_ROUNDS, _MOST // tries)
    expected = Expected.of(A, labels) if rounds > 1 else None  # in the first round nothing has gathered yet
    vectors = rng.standard_normal((n, min(_LEADING, n))) if expected else np.zeros((0, 0))
    leading = np.zeros((n, 0)), np.zeros(0), share
    for turn in range(rounds):
        if expected and turn:
            vectors, values = expected.leading(matrix_of(A, neighbours), vectors)
            leading = vectors, (values / values[0]) ** _POWER * values[0] ** 2, share
        before, lacked = counts.distance(), counts.lacking()
        marks.fill(0)
        on_thread(at_once(_swaps, 60.0 * tries), graph, vertices, leading, (*counts, np.zeros(3)), tries, rng)
        slow, lacks = counts.distance() > (1 - _WORTH) * before, counts.lacking()
        if counts.reached() or (slow and (share > 1 or lacks <= 0)):
            break
        late = lacks > (rounds - turn - 1) * (lacked - lacks)
        share = share * _MORE if late else max(share / _MORE, _SHARE)
    return matrix_of(A, neighbours)


def rows_of(A: sparse.csr_array) -> tuple[IntArray, IntArray, IntArray]:
    """Where rows begin, neighbours in them, and the vertex of each place; copies, in which edges may be swapped."""
    owners = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return A.indptr.astype(np.int64), A.indices.astype(np.int64), owners


def matrix_of(A: sparse.csr_array, neighbours: IntArray) -> sparse.csr_array:
    """A graph of the same degrees with these neighbours."""
    B = sparse.csr_array((np.ones(A.nnz), neighbours.astype(A.indices.dtype), A.indptr), shape=A.shape)
    B.sort_indices()
    return B


@njit(nogil=True)
def _swaps(graph: Any, vertices: Any, leading: Any, counts: Any, tries: int, rng: Any, stop: Stop) -> None:
    """Swap edges, in place, where that brings `now` nearer to what is `wanted`.

    `graph` has :mod:`supports <dpgraph.denoise.supports>`, and vertices in the order of communities; `leading` has
    eigenvectors, the triangles of each for an increase of its eigenvalue by 2, and their share of those of a swap.
    Where there are more triangles than are wanted, a and b of every other swap are ends of random edges.
    """
    indptr, neighbours, owners, _, support = graph
    labels, _, _, of_a, of_x, _ = vertices
    now, wanted, near, scale, change = counts
    vectors, worth, share = leading
    a = x = ax = left = 0
    unread, opens = _MOST_READ, now[0] > wanted[0]
    for number in range(tries):
        if number % 1024 == 0 and (stop[0] or unread <= 0 or _distance(now, wanted, near) < 1):
            break
        if left == 0:
            a, ax = _first_edge(a, x, graph, vertices, opens, rng)
            x, left = neighbours[ax], _SAME
        left -= 1
        if opens and number % 2:
            b = owners[int(rng.random() * owners.size)]
        else:
            first, last = _with_label(neighbours[drawn_place(a, indptr, rng)], labels[x], graph, labels)
            b = neighbours[first + int(rng.random() * (last - first))] if first < last else a
        first, last = _with_label(b, labels[a], graph, labels)
        if b == a or of_a[b, 0] > 0 or labels[b] != labels[x] or first == last:
            continue
        by = _drawn(first, last, support, opens, rng)
        y = neighbours[by]
        leaves = indptr[x + 1] - indptr[x] + indptr[y + 1] - indptr[y] == 2  # x-y would be a component of its own
        if y == x or of_x[y, 0] > 0 or leaves:
            continue
        unread -= indptr[b + 1] - indptr[b] + indptr[y + 1] - indptr[y]
        _changes(a, ax, b, by, graph, vertices, change)
        gain = gathered = 0.0
        for k in range(3):
            gain += ((now[k] - wanted[k]) ** 2 - (now[k] + change[k] - wanted[k]) ** 2) * scale[k] ** 2
        for k in range(worth.size if gain > 0 else 0):
            gathered += worth[k] * (vectors[a, k] - vectors[y, k]) * (vectors[b, k] - vectors[x, k])
        if gain > 0 and gathered <= max(share * change[0], 0.0):
            for k in range(3):
                now[k] += change[k]
            left = 0
            _swap(a, ax, b, by, graph, vertices)


@njit()
def _first_edge(a: int, x: int, graph: Any, vertices: Any, opens: bool, rng: Any) -> tuple[int, int]:
    """The end of a random edge, and the place of one of its edges; neighbours of its ends have marks, no others."""
    indptr, neighbours, owners, _, support = graph
    _, weights, _, of_a, of_x, _ = vertices
    clear(a, graph, of_a)
    clear(x, graph, of_x)
    a = owners[int(rng.random() * owners.size)]
    ax = _drawn(indptr[a], indptr[a + 1], support, opens, rng)
    mark(a, graph, weights, of_a)
    mark(neighbours[ax], graph, weights, of_x)
    return a, ax


@njit()
def _distance(now: FloatArray, wanted: FloatArray, near: FloatArray) -> float:
    """The squared distance of what there is from what is wanted, in units of what is near enough."""
    far = 0.0
    for k in range(3):
        far += ((now[k] - wanted[k]) / near[k]) ** 2
    return far


@njit()
def _changes(a: int, ax: int, b: int, by: int, graph: Any, vertices: Any, change: FloatArray) -> None:
    """By what the counts change if edges a-x and b-y, at these places, become a-b and x-y."""
    support, x, y = graph[4], graph[1][ax], graph[1][by]
    _, w, centred, of_a, of_x, _ = vertices
    ab, weight_ab = marked(b, graph, of_a)
    xy, weight_xy = marked(y, graph, of_x)
    change[0] = ab + xy - support[ax, 0] - support[by, 0]
    change[1] = ab * (w[a] + w[b]) + weight_ab + xy * (w[x] + w[y]) + weight_xy
    change[1] -= support[ax, 0] * (w[a] + w[x]) + support[ax, 1] + support[by, 0] * (w[b] + w[y]) + support[by, 1]
    if of_x[b, 0] > 0:  # b-x is an edge, and a-x and b-y no longer are: no triangle of two of them
        change[0] -= 2
        change[1] -= w[a] + 2 * w[b] + 2 * w[x] + w[y]
    if of_a[y, 0] > 0:
        change[0] -= 2
        change[1] -= 2 * w[a] + w[b] + w[x] + 2 * w[y]
    change[2] = (centred[a] - centred[y]) * (centred[b] - centred[x])


@njit()
def _swap(a: int, ax: int, b: int, by: int, graph: Any, vertices: Any) -> None:
    """Make a-b and x-y of the edges at these places."""
    _, neighbours, _, mates, _ = graph
    _, weights, _, of_a, of_x, places = vertices
    x, y, xa, yb = neighbours[ax], neighbours[by], mates[ax], mates[by]
    of_a[x, 0] = of_a[x, 1] = of_x[a, 0] = of_x[a, 1] = 0.0  # they leave the rows that will be cleared
    counted(a, ax, -1, graph, weights, places)
    counted(b, by, -1, graph, weights, places)
    neighbours[ax], neighbours[by], neighbours[xa], neighbours[yb] = b, a, y, x
    mates[ax], mates[by], mates[xa], mates[yb] = by, ax, yb, xa
    counted(a, ax, 1, graph, weights, places)
    counted(x, xa, 1, graph, weights, places)


@njit()
def _with_label(v: int, label: int, graph: Any, labels: IntArray) -> tuple[int, int]:
    """Where the neighbours of v in this community begin and end."""
    first, last = graph[0][v], graph[0][v + 1]
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if labels[graph[1][middle]] < label else (low, middle)
    first = low
    while low < last:
        middle = (low + last) // 2
        low, last = (middle + 1, last) if labels[graph[1][middle]] <= label else (low, middle)
    return first, last


@njit()
def _drawn(first: int, last: int, support: FloatArray, opens: bool, rng: Any) -> int:
    """Of a few random places the one whose edge is in the fewest triangles, in the most if there are too many."""
    place = first + int(rng.random() * (last - first))
    for _ in range(_CHOICES - 1):
        other = first + int(rng.random() * (last - first))
        if (support[other, 0] < support[place, 0]) != opens:
            place = other
    return place


@njit()
def drawn_place(v: int, indptr: IntArray, rng: Any) -> int:
    """The place of a random entry of row v."""
    return int(indptr[v]) + int(rng.random() * (indptr[v + 1] - indptr[v]))
