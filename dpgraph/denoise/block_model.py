r"""Random graphs with given degrees, communities, edges between these, and triangles. All of it is public.

Two steps, as in BTER (Seshadhri, Kolda, Pinar 2012), here inside communities:

1. *Groups.* The vertices of a community, by decreasing degree, form groups, each with as many vertices as its least
   degree allows. In a group each pair is an edge with probability rho, which makes about rho^3 s^3/6 triangles in a
   group of s vertices. A vertex joins a group that has edges to spare, if it finds one, with rho d edges to random
   members. So few groups stand alone, and triangles do not break a community up. Degrees here are what a vertex has
   inside its community: d times the part of the community's edges that stay inside.
2. *Stubs.* What is left of each degree is as many stubs. A stub of a vertex in community a goes to community b with
   probability proportional to the edges between a and b that are still missing. Stubs are joined at random. Loops and
   double edges are exchanged with edges at the same community, which changes no degree and no number of edges between
   communities.

References
----------
C. Seshadhri, T. G. Kolda, A. Pinar, "Community structure and scale-free collections of Erdos-Renyi graphs", Physical
Review E 85 (2012).
"""

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: How often what is left of the stubs is joined anew, and how many edges an unwanted pair tries.
_ROUNDS, _TRIES = 4, 200
#: Groups that a vertex looks at before it begins one of its own.
_GROUPS_TRIED = 20
#: Steps of the search for the density of groups, and the relative error of the triangles at which it ends.
_STEPS, _CLOSE = 7, 0.01


def draw_graph(
    degrees: IntArray, labels: IntArray, edges: FloatArray, density: float, rng: np.random.Generator
) -> sparse.csr_array:
    """A random simple graph, as a symmetric 0/1 matrix.

    Parameters
    ----------
    degrees, labels : ndarray of int, shape (n,)
        Wanted degree, and community 0, ..., K - 1, of each vertex.
    edges : ndarray, shape (K, K)
        Wanted edges between communities, symmetric, and inside them on the diagonal.
    density : float
        Probability rho of a pair inside a group, in [0, 1].
    rng : numpy.random.Generator
        Public randomness.
    """
    n = degrees.size
    order = np.lexsort((-degrees, labels))
    inside = 2 * np.diag(edges) / np.maximum(edges.sum(axis=1) + np.diag(edges), 1e-12)
    within = np.rint(degrees * inside[labels]).astype(np.int64)
    grouped = on_thread(at_once(_pairs_in_groups, 4.0 * within.sum()), within[order], labels[order], density, rng)
    pairs = [np.column_stack([order[ends] for ends in grouped])]
    left, missing = degrees.copy(), np.triu(edges).astype(np.float64)
    for _ in range(_ROUNDS):
        left -= np.bincount(pairs[-1].ravel(), minlength=n)
        np.subtract.at(missing, tuple(np.sort(labels[pairs[-1]], axis=1).T), 1.0)
        pairs.append(_join(np.repeat(np.arange(n), np.maximum(left, 0)), labels, missing, rng))
    left -= np.bincount(pairs[-1].ravel(), minlength=n)
    rest = rng.permutation(np.repeat(np.arange(n), np.maximum(left, 0)))
    ends = np.concatenate([*pairs, rest[: rest.size // 2 * 2].reshape(-1, 2)]).ravel()
    by_label = np.argsort(labels[ends], kind="stable")
    starts = np.searchsorted(labels[ends][by_label], np.arange(len(edges) + 1))
    simple = at_once(_made_simple, 16.0 * ends.size)
    tails, heads = (ends[places] for places in on_thread(simple, ends, labels, by_label, starts, n, rng))
    both = (np.concatenate([tails, heads]), np.concatenate([heads, tails]))
    A = sparse.coo_array((np.ones(2 * tails.size), both), shape=(n, n)).tocsr()
    A.sort_indices()
    return A


def fit_density(
    degrees: IntArray, labels: IntArray, edges: FloatArray, triangles: float, rng: np.random.Generator
) -> float:
    """The density of groups at which a drawn graph has about so many triangles.

    Triangles grow about linearly with rho^3: the search interpolates between two densities, one with too few triangles
    and one with too many, by drawing a graph at each. The numbers of two drawn graphs differ by about the root of what
    is wanted, or more: so close is enough.
    """

    def excess(cube: float) -> float:
        A = draw_graph(degrees, labels, edges, cube ** (1 / 3), rng)
        return float(Subgraphs(A.indptr, A.indices).count("triangle")) - triangles

    low, high, close = 0.0, 1.0, max(_CLOSE * triangles, triangles**0.5)
    if (few := excess(low)) >= -close:
        return 0.0
    if (many := excess(high)) <= close:
        return 1.0
    for _ in range(_STEPS):
        middle = low + (high - low) * min(max(-few / (many - few), 0.01), 0.99)
        found = excess(middle)
        if abs(found) <= close:
            return float(middle ** (1 / 3))
        low, high, few, many = (middle, high, found, many) if found < 0 else (low, middle, few, found)
    return float((low + (high - low) * -few / (many - few)) ** (1 / 3))


@njit(nogil=True)
def _pairs_in_groups(
    degrees: IntArray, labels: IntArray, density: float, rng: np.random.Generator, stop: Stop
) -> tuple[IntArray, IntArray]:
    """Edges inside groups, by place in the order: communities one after another, degrees decreasing in each.

    Group g are ``sizes[g]`` places from ``begins[g]`` on, and those that have joined it. It can spare ``spare[g]``
    edges; ``left`` are the edges that a place still has.
    """
    n = degrees.size
    left, spare = degrees.copy(), np.zeros(n)
    group, begins, sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    pairs = np.empty((2, degrees.sum() + 2 * n), dtype=np.int64)
    size = groups = community = place = 0
    while place < n and not stop[0]:
        if labels[place] != labels[community]:
            community = place
        near = _near_group(group[community:place], spare, sizes, density * degrees[place], rng)
        if near >= 0:
            members = begins[near], sizes[near]
            joined = _join_group(place, members, density * degrees[place], left, pairs[:, size:], rng)
            spare[near] -= joined
            size, group[place], place = size + joined, near, place + 1
            continue
        end = place + 1
        while end < n and labels[end] == labels[community] and degrees[end] >= end - place:
            end += 1
        if end - place > 2:
            size += _fill_group(place, end, density, left, pairs[:, size:], rng)
            spare[groups] = density * left[place:end].sum()
        begins[groups], sizes[groups], group[place:end] = place, end - place, groups
        groups, place = groups + 1, end
    return pairs[0, :size], pairs[1, :size]


@njit()
def _near_group(group: IntArray, spare: FloatArray, sizes: IntArray, wanted: float, rng: np.random.Generator) -> int:
    """A group of an earlier vertex of the community, with `wanted` members and edges to spare; -1 if none is found."""
    for _ in range(_GROUPS_TRIED if group.size else 0):
        other = group[int(rng.random() * group.size)]
        if spare[other] >= wanted and sizes[other] >= wanted:
            return int(other)
    return -1


@njit()
def _fill_group(begin: int, end: int, density: float, left: IntArray, pairs: IntArray, rng: np.random.Generator) -> int:
    """Write random pairs of the places of a group; return how many."""
    size = 0
    for i in range(begin, end):
        for j in range(i + 1, end):
            if rng.random() < density:
                pairs[0, size], pairs[1, size] = i, j
                size += 1
                left[i] -= 1
                left[j] -= 1
    return size


@njit()
def _join_group(
    place: int, members: tuple[int, int], wanted: float, left: IntArray, pairs: IntArray, rng: np.random.Generator
) -> int:
    """Write pairs of a place and of random members of a group (from a place on, so many); return how many."""
    begin, count = members
    size, most = 0, int(wanted + rng.random())
    for _ in range(2 * most):
        member = begin + int(rng.random() * count)
        if size < most and left[member] > 0 and not (pairs[1, :size] == member).any():
            pairs[0, size], pairs[1, size] = place, member
            size += 1
            left[member] -= 1
    left[place] -= size
    return size


def _join(stubs: IntArray, labels: IntArray, missing: FloatArray, rng: np.random.Generator) -> IntArray:
    """Pairs of stubs: each chooses a community by the missing edges, and stubs that chose each other's are joined."""
    K = len(missing)
    weights = np.maximum(missing + missing.T, 0.0) + 1e-12
    own = labels[stubs]
    cumulative = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True) + np.arange(K)[:, None]
    wanted = np.searchsorted(cumulative.ravel(), rng.random(stubs.size) + own, side="right") - K * own
    wanted = np.clip(wanted, 0, K - 1)
    side = np.where(own == wanted, rng.integers(0, 2, stubs.size), own > wanted)
    between = np.minimum(own, wanted) * K + np.maximum(own, wanted)
    kind = 2 * between + side
    order = np.argsort(kind + rng.random(stubs.size))  # by kind, and at random in each
    counts = np.bincount(kind, minlength=2 * K * K)
    place = np.arange(stubs.size) - np.repeat(np.cumsum(counts) - counts, counts)  # among the stubs of one kind
    joined = order[place < np.repeat(np.minimum(counts[::2], counts[1::2]).repeat(2), counts)]
    lower = side[joined] == 0
    return np.column_stack([stubs[joined[lower]], stubs[joined[~lower]]])


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
