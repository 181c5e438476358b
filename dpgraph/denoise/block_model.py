r"""Random graphs with given degrees, communities, edges between these, triangles, and more. All of it is public.

Three steps:

1. *Cliques.* The vertices of a community stand in the order of their degrees, and are cut into cliques of neighbours in
   that order: each vertex spends one part of its edges on one clique.
2. *Stubs.* What is left of each degree is as many stubs. A stub of a vertex in community a goes to community b with
   probability proportional to the edges between a and b that are still missing. Stubs are joined at random. Loops and
   double edges are exchanged with edges at the same community, which changes no degree and no number of edges between
   communities.
3. *Swaps.* Edges a-x and b-y, x in the community of b and y in that of a, become a-b and x-y. So each vertex keeps its
   number of edges to each community. A swap is made if the three counts of :class:`Goals` come nearer to what they
   should be. a and b have a common neighbour, so that a-b closes a triangle.

References
----------
P. Mahadevan, D. Krioukov, K. Fall, A. Vahdat, "Systematic topology analysis and generation using degree correlations",
SIGCOMM 2006. M. Gjoka, M. Kurant, A. Markopoulou, "2.5K-graphs: from sampling to generation", INFOCOM 2013 (swaps
towards a clustering).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.linalg.subgraphs import LEAST_DEGREE, Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: How often what is left of the stubs is joined anew, and how many edges an unwanted pair tries.
_ROUNDS, _TRIES = 4, 200
#: Swaps that are tried for each end of an edge, and how often one looks for an edge to the right community.
_SWAPS, _LOOKS = 16, 10
#: Sums of squared relative errors: that of a graph which is near enough, and of one whose vertices may change more.
_NEAR, _FAR = 4e-4, 0.01
#: Clustering of a vertex over transitivity, and how much the assortativity of a graph differs from that of a random one
#: with its degrees and communities.
_LOCAL, _USUAL = 4 / 3, 0.15


class Goals(NamedTuple):
    """Counts that a drawn graph should have.

    Parameters
    ----------
    triangles, clustering : float
        As counted by :class:`~dpgraph.linalg.subgraphs.Subgraphs`.
    assortativity : float
        The correlation of the degrees of two neighbours.
    """

    triangles: float
    clustering: float
    assortativity: float


def draw_graph(
    degrees: IntArray, labels: IntArray, edges: FloatArray, tightness: float, goals: Goals, rng: np.random.Generator
) -> sparse.csr_array:
    """A random simple graph, as a symmetric 0/1 matrix.

    Parameters
    ----------
    degrees, labels : ndarray of int, shape (n,)
        Wanted degree, and community 0, ..., K - 1, of each vertex.
    edges : ndarray, shape (K, K)
        Wanted edges between communities, symmetric, and inside them on the diagonal.
    tightness : float
        Part of its edges inside the community that a vertex has in one clique, in [0, 1].
    goals : Goals
        Counts that swaps move the graph to.
    rng : numpy.random.Generator
        Public randomness.
    """
    return swapped(draw_blocks(degrees, labels, edges, tightness, rng), labels, goals, rng)


def draw_blocks(
    degrees: IntArray, labels: IntArray, edges: FloatArray, tightness: float, rng: np.random.Generator
) -> sparse.csr_array:
    """A graph as by :func:`draw_graph`, before any swap."""
    n = degrees.size
    pairs = [_cliques(degrees, labels, edges, tightness, rng)]
    left, missing = degrees.copy(), np.triu(edges).astype(np.float64)
    for _ in range(_ROUNDS):
        left -= np.bincount(pairs[-1].ravel(), minlength=n)
        np.subtract.at(missing, tuple(np.sort(labels[pairs[-1]], axis=1).T), 1.0)
        pairs.append(_join(np.repeat(np.arange(n), np.maximum(left, 0)), labels, missing, rng))
    left -= np.bincount(pairs[-1].ravel(), minlength=n)
    rest = rng.permutation(np.repeat(np.arange(n), np.maximum(left, 0)))
    ends = np.concatenate([*pairs, rest[: rest.size // 2 * 2].reshape(-1, 2)]).ravel()
    by_label = np.argsort(labels[ends].astype(np.min_scalar_type(len(edges))), kind="stable")  # by radix
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels[ends], minlength=len(edges)))])
    simple = at_once(_made_simple, 16.0 * ends.size)
    tails, heads = (ends[places] for places in on_thread(simple, ends, labels, by_label, starts, n, rng))
    both = (np.concatenate([tails, heads]), np.concatenate([heads, tails]))
    A = sparse.coo_array((np.ones(2 * tails.size), both), shape=(n, n)).tocsr()
    A.sort_indices()
    return A


def fit_tightness(triangles: float, without: Subgraphs) -> float:
    """The tightness by the triangles that a graph drawn `without` cliques lacks, as a part of its wedges.

    The triangles of cliques on a part t of all edges are about t^2 of the wedges.
    """
    missing = 3 * (triangles - without.count("triangle")) / max(without.count("wedge"), 1)
    return float(min(max(missing, 0.0), 1.0) ** 0.5)


def fit_goals(shape: Mapping[str, tuple[float, float]], drawn: sparse.csr_array) -> Goals:
    """Goals by released counts with their standard deviations, and by what may be expected of a graph.

    The clustering of a vertex may be `_LOCAL` of the transitivity, give or take half of that; and neighbours may have
    the degrees that they have in a graph `drawn` with cliques, give or take `_USUAL` in the correlation. Both are
    combined with the counts by their precisions. Where one is not known, nothing else is used.
    """
    unknown = (0.0, math.inf)
    degrees, triangles = np.diff(drawn.indptr).astype(np.float64), max(shape["triangle"][0], 0.0)
    mean, variance = degree_moments(degrees)
    edges, pairs = max(shape["edge"][0], 1.0), degrees * (degrees - 1) / 2
    expected = _LOCAL * min(3 * triangles / max(pairs.sum(), 1.0), 1.0) * float(pairs @ _vertex_weights(degrees))
    clustering = _combined(shape.get("clustering", unknown), expected, expected / 2)
    before = float((degrees @ (drawn @ degrees)) / max(drawn.nnz, 1) - mean**2) / variance
    (wedges, of_wedges), (quarter, of_quarter) = (shape.get(name, unknown) for name in ("wedge", "edge-degrees"))
    mean = 1 + wedges / edges  # of degrees at ends of edges
    found = ((4 * quarter + 2 * wedges) / edges + 1 - mean**2) / variance
    std = math.hypot(4 * of_quarter, 2 * mean * of_wedges) / edges / variance
    return Goals(triangles, clustering, min(max(_combined((found, std), before, _USUAL), -1.0), 1.0))


def _combined(released: tuple[float, float], expected: float, std: float) -> float:
    """The mean of what was `released`, a value and its standard deviation, and what was expected, by precision."""
    return expected + (released[0] - expected) * std**2 / max(released[1] ** 2 + std**2, 1e-300)


def _cliques(
    degrees: IntArray, labels: IntArray, edges: FloatArray, tightness: float, rng: np.random.Generator
) -> IntArray:
    """Pairs inside cliques of vertices that follow each other by degree, all of one community."""
    ends = edges + np.diag(np.diag(edges))
    inside = tightness * degrees * (np.diag(ends) / np.maximum(ends.sum(axis=1), 1e-9))[labels]
    order = np.lexsort((degrees + rng.random(degrees.size), labels))
    others = (inside[order] + rng.random(degrees.size)).astype(np.int64)
    place = on_thread(at_once(_clique_starts, 1.0 * degrees.size), others, labels[order])
    number = np.arange(degrees.size) - place  # members of the clique that come before
    tails = np.repeat(np.arange(degrees.size), number)
    heads = place[tails] + np.arange(tails.size) - np.repeat(np.cumsum(number) - number, number)
    return np.column_stack([order[heads], order[tails]])


@njit(nogil=True)
def _clique_starts(others: IntArray, community: IntArray, stop: Stop) -> IntArray:
    """Where the clique of each vertex begins: its first vertex has so many `others` after it, of its `community`."""
    starts = np.empty(others.size, dtype=np.int64)
    first = 0
    for v in range(others.size):
        if stop[0]:
            break
        if v - first > others[first] or community[v] != community[first]:
            first = v
        starts[v] = first
    return starts


def swapped(A: sparse.csr_array, labels: IntArray, goals: Goals, rng: np.random.Generator) -> sparse.csr_array:
    """A graph with the same degrees and edges between communities, and counts that are nearer to the goals."""
    degrees = np.diff(A.indptr).astype(np.float64)
    weights = _vertex_weights(degrees)
    mean, variance = degree_moments(degrees)
    of_each = Subgraphs(A.indptr, A.indices).triangles()
    ends = float(degrees @ (A @ degrees)) / 2 - mean**2 * A.nnz / 2
    now = np.array([of_each.sum() / 3, weights @ of_each, ends])
    correlated = variance * A.nnz / 2
    wanted = np.array([goals.triangles, goals.clustering, goals.assortativity * correlated])
    scale = 1 / np.maximum([goals.triangles, goals.clustering, correlated], 1.0)
    indptr, neighbours = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    mates = sparse.csr_array((np.arange(A.nnz), A.indices, A.indptr), shape=A.shape).T.tocsr().data
    owners = np.repeat(np.arange(degrees.size), np.diff(indptr))
    kernel, rows, counts = (
        at_once(_swaps, 20.0 * _SWAPS * A.nnz),
        (indptr, neighbours, mates, owners),
        (now, wanted, scale),
    )
    for strict, enough in ((True, _NEAR), (False, _FAR)):
        if A.nnz and (((now - wanted) * scale) ** 2).sum() > enough:
            on_thread(kernel, rows, labels, weights, counts, _SWAPS * A.nnz, strict, rng)
    B = sparse.csr_array((A.data, neighbours.astype(A.indices.dtype), A.indptr), shape=A.shape)
    B.sort_indices()
    return B


def _vertex_weights(degrees: FloatArray) -> FloatArray:
    """What a triangle at a vertex counts for "clustering"."""
    weights: FloatArray = np.minimum(1.0, LEAST_DEGREE * (LEAST_DEGREE - 1) / np.maximum(degrees * (degrees - 1), 1.0))
    return weights


def degree_moments(degrees: FloatArray) -> tuple[float, float]:
    """Mean and variance of the degree at the end of an edge."""
    total = max(float(degrees.sum()), 1.0)
    mean = float(degrees @ degrees) / total
    return mean, max(float(degrees**2 @ degrees) / total - mean**2, 1e-9)


@njit(nogil=True)
def _swaps(  # noqa: PLR0913
    graph: Any, labels: IntArray, weights: FloatArray, counts: Any, tries: int, strict: bool, rng: Any, stop: Stop
) -> None:
    """Swap edges, in place, where that brings `now` nearer to what is `wanted`.

    `graph` has rows, neighbours in them, the place of each edge in its other row, and the vertex of each row. Unless it
    is `strict`, one of both communities may be another one: edges between communities stay, those of a vertex do not.
    """
    indptr, neighbours, mates, owners = graph
    now, wanted, scale = counts
    marked, size = np.zeros(indptr.size - 1, dtype=np.uint8), neighbours.size
    degrees, change = indptr[1:] - indptr[:-1], np.zeros(3)
    for number in range(tries):
        if number % 1024 == 0 and (stop[0] or (((now - wanted) * scale) ** 2).sum() < _NEAR):
            break
        start = int(rng.random() * size)
        a, c = owners[start], neighbours[start]
        b = neighbours[indptr[c] + int(rng.random() * degrees[c])]
        ax = indptr[a] + int(rng.random() * degrees[a])
        by = indptr[b] + int(rng.random() * degrees[b])
        free = 0 if strict else 1 + int(rng.random() * 2)
        looks = _LOOKS
        while looks > 0 and free != 1 and labels[neighbours[ax]] != labels[b]:
            ax, looks = indptr[a] + int(rng.random() * degrees[a]), looks - 1
        while looks > 0 and free != 2 and labels[neighbours[by]] != labels[a]:
            by, looks = indptr[b] + int(rng.random() * degrees[b]), looks - 1
        x, y = neighbours[ax], neighbours[by]
        if looks == 0 or a == b or x in (y, b) or y == a:
            continue
        for w in neighbours[indptr[a] : indptr[a + 1]]:
            marked[w] = 1
        for w in neighbours[indptr[y] : indptr[y + 1]]:
            marked[w] |= 2
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
            change[2] = (degrees[a] - degrees[y]) * (degrees[b] - degrees[x])
            for k in range(3):
                gain += ((now[k] - wanted[k]) ** 2 - (now[k] + change[k] - wanted[k]) ** 2) * scale[k] ** 2
        for v in (a, y):
            for w in neighbours[indptr[v] : indptr[v + 1]]:
                marked[w] = 0
        if gain > 0:
            now += change
            xa, yb = mates[ax], mates[by]
            neighbours[ax], neighbours[by], neighbours[xa], neighbours[yb] = b, a, y, x
            mates[ax], mates[by], mates[xa], mates[yb] = by, ax, yb, xa


@njit()
def _shared(v: int, other: int, graph: Any, marked: Any, weights: FloatArray) -> tuple[int, int, float, float, bool]:
    """How many neighbours of v have the first mark, and the second; what they weigh; whether `other` is one."""
    first = second = 0
    weight_first = weight_second = 0.0
    joined = False
    for w in graph[1][graph[0][v] : graph[0][v + 1]]:
        joined = joined or w == other
        if marked[w] & 1:
            first, weight_first = first + 1, weight_first + weights[w]
        if marked[w] & 2:
            second, weight_second = second + 1, weight_second + weights[w]
    return first, second, weight_first, weight_second, joined


def _join(stubs: IntArray, labels: IntArray, missing: FloatArray, rng: np.random.Generator) -> IntArray:
    """Pairs of stubs: each chooses a community by the missing edges, and stubs that chose each other's are joined."""
    K, stubs = len(missing), rng.permutation(stubs)
    weights = np.maximum(missing + missing.T, 0.0) + 1e-12
    own = labels[stubs]
    cumulative = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True) + np.arange(K)[:, None]
    wanted = np.searchsorted(cumulative.ravel(), rng.random(stubs.size) + own, side="right") - K * own
    wanted = np.clip(wanted, 0, K - 1)
    side = np.where(own == wanted, rng.integers(0, 2, stubs.size), own > wanted)
    kind = 2 * (np.minimum(own, wanted) * K + np.maximum(own, wanted)) + side
    order = np.argsort(kind.astype(np.min_scalar_type(2 * K * K)), kind="stable")  # by radix, for few communities
    counts = np.bincount(kind, minlength=2 * K * K)
    place = np.arange(stubs.size) - np.repeat(np.cumsum(counts) - counts, counts)  # among the stubs of one kind
    kept = place < np.repeat(np.repeat(counts.reshape(-1, 2).min(axis=1), 2), counts)
    upper = np.repeat(np.arange(counts.size) % 2 == 1, counts)
    return np.column_stack([stubs[order[kept & ~upper]], stubs[order[kept & upper]]])


@njit()
def _code(u: int, v: int, n: int) -> int:
    """One number for the pair of u and v."""
    return min(u, v) * n + max(u, v)


@njit(nogil=True)
def _made_simple(
    ends: IntArray,
    labels: IntArray,
    by_label: IntArray,
    starts: IntArray,
    n: int,
    rng: np.random.Generator,
    stop: Stop,
) -> tuple[IntArray, IntArray]:
    """Break up loops and double edges, in place; `ends` 2 e and 2 e + 1 are those of pair e. Returns places of ends.

    An unwanted pair u-v and an edge x-y, x in the community of u, become u-y and x-v: all degrees, and all numbers of
    edges between communities, stay as they are. `by_label` are the places of ends in the order of their communities,
    which begin at `starts`. If no such edge is found, x may be anywhere; pairs for which that fails are left out.
    """
    known = {_code(0, 0, n)}  # of a loop: no edge has it
    bad = np.zeros(ends.size // 2, dtype=np.bool_)
    for e in range(bad.size):
        if stop[0]:
            break
        code = _code(ends[2 * e], ends[2 * e + 1], n)
        bad[e] = ends[2 * e] == ends[2 * e + 1] or code in known
        if not bad[e]:
            known.add(code)
    for e in range(bad.size):
        if stop[0]:
            break
        tries = _TRIES if bad[e] else 0
        while tries > 0:
            tries -= 1
            mine = 2 * e + (tries & 1)
            u, v = ends[mine], ends[mine ^ 1]
            near = tries >= _TRIES // 4
            first, last = (starts[labels[u]], starts[labels[u] + 1]) if near else (0, ends.size)
            place = by_label[first + int(rng.random() * (last - first))]
            x, y = ends[place], ends[place ^ 1]
            one, two = _code(u, y, n), _code(x, v, n)
            if not bad[place // 2] and u != y and x != v and one != two and one not in known and two not in known:
                known.remove(_code(x, y, n))
                known.add(one)
                known.add(two)
                ends[place], ends[mine] = u, x
                bad[e], tries = False, 0
    kept = np.flatnonzero(~bad)
    return 2 * kept, 2 * kept + 1
