r"""Swaps of edges that move a graph to wanted counts, and leave degrees and communities as they are. All public.

Edges a-x and b-y, x in the community of b and y in that of a, become a-b and x-y. So each vertex keeps its number of
edges to each community. A swap is made if the counts of :class:`Goals` come nearer to what they should be. a and b have
a common neighbour, so that a-b closes a triangle, unless there are too many.

Most triangles are closed where there are some already. Left alone they gather in one place, and whoever looks for
communities in the graph finds that place. Say that the edges beyond what degrees and communities explain have an
eigenvector u of eigenvalue v: it has v^3/6 triangles. A swap adds 2 (u_a - u_y)(u_b - u_x) to v, and so about
v^2 (u_a - u_y)(u_b - u_x) triangles to these. Of those that a swap closes, only a tenth may be of the leading
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
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: Swaps of a round for each end of an edge; rounds, and swaps of all of them, at most; neighbours that a round reads,
#: about; how often one looks for an edge to the right community.
_SWAPS, _ROUNDS, _MOST, _MOST_READ, _LOOKS = 1, 80, 64 * 10**5, 10**9, 10
#: A round that takes off less than this part of the squared distance is the last one with its share of triangles.
_WORTH = 0.015
#: Leading eigenvectors; the power of their eigenvalues, over the largest, with which they count; their least share of
#: the triangles of a swap; its growth in a round after which more than the last part of all triangles will be missing.
_LEADING, _POWER, _SHARE, _MORE, _MISSING = 8, 8, 0.1, 1.5, 0.03
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


def swapped(A: sparse.csr_array, labels: IntArray, goals: Goals, rng: np.random.Generator) -> sparse.csr_array:
    """A graph with the same degrees and edges between communities, and counts that are nearer to the goals."""
    degrees = np.diff(A.indptr).astype(np.float64)
    roots, found = Roots.fit(degrees), Subgraphs(A.indptr, A.indices)
    centred = roots.of(degrees)
    correlated = float(centred @ (A @ centred)) / 2
    units = np.array([1.0, degrees.size, roots.variance * A.nnz / 2])  # of a goal, as a count
    now = np.array([found.count("triangle"), found.clustering(), correlated])
    wanted = np.where(np.isnan(goals[:3]), now, np.array(goals[:3]) * units)
    # What is near enough, and how much of that and of noise there is together.
    near = np.where(np.isnan(goals[:3]), np.inf, _NEAR * np.maximum([wanted[0], wanted[1], units[2]], 1.0))
    scale = 1 / np.hypot(near, units * goals.errors)

    def distance(scale: FloatArray) -> float:
        return float((((now - wanted) * scale) ** 2).sum())

    def lacking() -> float:
        return float(abs(now[0] - wanted[0]) - _MISSING * wanted[0])

    if A.nnz == 0 or distance(1 / near) <= 1:
        return A
    indptr, neighbours, owners = rows_of(A)
    mates = sparse.csr_array((np.arange(A.nnz), A.indices, A.indptr), shape=A.shape).T.tocsr().data
    rows = indptr, neighbours, owners, mates
    weights = 2 / np.maximum(degrees * (degrees - 1), 2.0)
    of_vertices = labels, weights, centred, np.zeros(degrees.size, dtype=np.uint8)
    tries, share = min(_SWAPS * A.nnz, _MOST), _SHARE
    rounds = min(_ROUNDS, _MOST // tries)
    expected = Expected.of(A, labels) if rounds > 1 else None  # in the first round nothing has gathered yet
    vectors = rng.standard_normal((degrees.size, min(_LEADING, degrees.size))) if expected else np.zeros((0, 0))
    leading = np.zeros((degrees.size, 0)), np.zeros(0), share
    for turn in range(rounds):
        if expected and turn:
            vectors, values = expected.leading(matrix_of(A, neighbours), vectors)
            leading = vectors, (values / values[0]) ** _POWER * values[0] ** 2, share
        kernel, before, lacked = at_once(_swaps, 60.0 * tries), distance(scale), lacking()
        on_thread(kernel, rows, of_vertices, leading, (now, wanted, near, scale, np.zeros(3)), tries, rng)
        slow, lacks = distance(scale) > (1 - _WORTH) * before, lacking()
        if distance(1 / near) <= 1 or (slow and (share > 1 or lacks <= 0)):
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
def _swaps(graph: Any, of_vertices: Any, leading: Any, counts: Any, tries: int, rng: Any, stop: Stop) -> None:
    """Swap edges, in place, where that brings `now` nearer to what is `wanted`.

    `graph` has :func:`rows_of` it, and the place of each edge in its other row; `leading` has eigenvectors, the
    triangles of each for an increase of its eigenvalue by 2, and their share of the triangles of a swap.
    Where there are more triangles than are wanted, a and b of every other swap are ends of random edges.
    """
    indptr, neighbours, owners, mates = graph
    labels, weights, centred, marked = of_vertices
    now, wanted, near, scale, change = counts
    vectors, worth, share = leading
    unread = _MOST_READ
    opens = now[0] > wanted[0]
    for number in range(tries):
        if number % 1024 == 0:
            far = 0.0
            for k in range(3):
                far += ((now[k] - wanted[k]) / near[k]) ** 2
            if stop[0] or unread <= 0 or far < 1:
                break
        start = int(rng.random() * owners.size)
        a, c = owners[start], neighbours[start]
        b = owners[int(rng.random() * owners.size)] if opens and number % 2 else neighbours[drawn_place(c, indptr, rng)]
        ax, by, looks = drawn_place(a, indptr, rng), drawn_place(b, indptr, rng), _LOOKS
        while looks > 0 and labels[neighbours[ax]] != labels[b]:
            ax, looks = drawn_place(a, indptr, rng), looks - 1
        while looks > 0 and labels[neighbours[by]] != labels[a]:
            by, looks = drawn_place(b, indptr, rng), looks - 1
        x, y = neighbours[ax], neighbours[by]
        if looks == 0 or a == b or x in (y, b) or y == a:
            continue
        for v in (a, b, x, y):
            unread -= indptr[v + 1] - indptr[v]
        for k in range(indptr[a], indptr[a + 1]):
            marked[neighbours[k]] = 1
        for k in range(indptr[y], indptr[y + 1]):
            marked[neighbours[k]] |= 2
        gain = 0.0
        if not marked[b] & 1 and not marked[x] & 2:
            change[0] = change[1] = 0.0
            for v, other, sign in ((b, x, 1), (x, b, -1)):
                ones, twos, weight_ones, weight_twos, joined = _shared(v, other, graph, marked, weights)
                change[0] += sign * (ones - twos)
                change[1] += sign * (ones * (weights[v] + weights[a]) + weight_ones)
                change[1] -= sign * (twos * (weights[v] + weights[y]) + weight_twos)
            if joined:  # b-x is an edge, and a-x and b-y no longer are: no triangle of two of them
                change[0] -= 2
                change[1] -= weights[a] + 2 * weights[b] + 2 * weights[x] + weights[y]
            if marked[y] & 1:
                change[0] -= 2
                change[1] -= 2 * weights[a] + weights[b] + weights[x] + 2 * weights[y]
            change[2] = (centred[a] - centred[y]) * (centred[b] - centred[x])
            for k in range(3):
                gain += ((now[k] - wanted[k]) ** 2 - (now[k] + change[k] - wanted[k]) ** 2) * scale[k] ** 2
        for v in (a, y):
            for k in range(indptr[v], indptr[v + 1]):
                marked[neighbours[k]] = 0
        gathered = 0.0
        for k in range(worth.size):
            gathered += worth[k] * (vectors[a, k] - vectors[y, k]) * (vectors[b, k] - vectors[x, k])
        if gain > 0 and gathered <= max(share * change[0], 0.0):
            for k in range(3):
                now[k] += change[k]
            xa, yb = mates[ax], mates[by]
            neighbours[ax], neighbours[by], neighbours[xa], neighbours[yb] = b, a, y, x
            mates[ax], mates[by], mates[xa], mates[yb] = by, ax, yb, xa


@njit()
def drawn_place(v: int, indptr: IntArray, rng: Any) -> int:
    """The place of a random entry of row v."""
    return int(indptr[v]) + int(rng.random() * (indptr[v + 1] - indptr[v]))


@njit()
def _shared(v: int, other: int, graph: Any, marked: Any, weights: FloatArray) -> tuple[int, int, float, float, bool]:
    """How many neighbours of v have the first mark, and the second; what they weigh; whether `other` is one."""
    first = second = 0
    weight_first = weight_second = 0.0
    joined = False
    for k in range(graph[0][v], graph[0][v + 1]):
        w = graph[1][k]
        joined = joined or w == other
        if marked[w] & 1:
            first, weight_first = first + 1, weight_first + weights[w]
        if marked[w] & 2:
            second, weight_second = second + 1, weight_second + weights[w]
    return first, second, weight_first, weight_second, joined
