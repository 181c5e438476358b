r"""Random graphs with given degrees, communities, edges between these, and triangles. All of it is public.

Three steps:

1. *Groups.* A vertex of degree d is a member of several groups, about d^(1/2) times as many as another one, and every
   two members of a group are joined. A group has one member more than what its members spend of their degrees on it. So
   the fewer and larger groups a vertex has, the more triangles there are. Groups overlap: no set of few of them has
   most edges of its vertices to itself, which would make communities of its own. Most members of a group are of one
   community, the others come from elsewhere, such that all groups together have the wanted edges between communities
   (a symmetric factorisation of these: Ding, He, Simon 2005, by the updates of Lee and Seung for the divergence).
2. *Stubs.* What is left of each degree is as many stubs. A stub of a vertex in community a goes to community b with
   probability proportional to the edges between a and b that are still missing. Stubs are joined at random. Loops and
   double edges are exchanged with edges at the same community, which changes no degree and no number of edges between
   communities.
3. *Homes.* Edges are exchanged until vertices have most of theirs in their own community
   (:func:`~dpgraph.denoise.homes.at_home`).

Labels that were found under noise are right for some vertices only, so that few edges are inside them, and a drawn
graph has less modularity than the private one. :func:`stronger` splits communities and moves edges inside the parts.

References
----------
M. E. J. Newman, "Properties of highly clustered networks", Physical Review E 68 (2003) (groups that overlap).
C. Ding, X. He, H. D. Simon, "On the equivalence of nonnegative matrix factorization and spectral clustering", SDM 2005.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.denoise.homes import at_home
from dpgraph.denoise.iterates import degree_of_an_end
from dpgraph.denoise.modularity import ends_of
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: How often what is left of the stubs is joined anew, and how many edges an unwanted pair tries.
_ROUNDS, _TRIES = 4, 200
#: Rounds in which edges between communities are made of groups, and in which they are made to fit degrees.
_UPDATES = 100
#: Steps of the search for the tightness, and the relative error of the triangles at which it ends.
_STEPS, _CLOSE = 10, 0.01
#: There are the most triangles at this tightness.
_TIGHTEST = 3.0


def draw_graph(
    degrees: IntArray, labels: IntArray, edges: FloatArray, tightness: float, rng: np.random.Generator
) -> sparse.csr_array:
    """A random simple graph, as a symmetric 0/1 matrix.

    Parameters
    ----------
    degrees, labels : ndarray of int, shape (n,)
        Wanted degree, and community 0, ..., K - 1, of each vertex.
    edges : ndarray, shape (K, K)
        Wanted edges between communities, symmetric, and inside them on the diagonal.
    tightness : float
        One over the groups of a typical end of an edge, in [0, 1]; 0 is for no groups. From 1 to 2, each vertex has one
        group, and groups become more equal in degree. From 2 to 3, there is a clique of vertices of largest degree too,
        up to the largest that degrees allow, whatever their communities.
    rng : numpy.random.Generator
        Public randomness.
    """
    n = degrees.size
    pairs = [_grouped(degrees, labels, edges, tightness, rng) if tightness > 0 else np.empty((0, 2), dtype=np.int64)]
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
    simple, known = at_once(_made_simple, 16.0 * ends.size), np.full(1 << (2 * ends.size).bit_length(), -1)
    bad = np.zeros(ends.size // 2, dtype=np.bool_)
    on_thread(simple, (ends, bad), labels, (by_label, starts), (n, known), rng)
    tails, heads = ends.reshape(-1, 2)[~bad].T
    both = (np.concatenate([tails, heads]), np.concatenate([heads, tails]))
    # Edges inside groups are free too as long as tighter groups can make up for them.
    free = (np.flatnonzero(~bad) >= len(pairs[0])) | (rng.random(tails.size) > tightness)
    A = sparse.coo_array((np.tile(free, 2), both), shape=(n, n)).tocsr()
    A.sort_indices()
    return at_home(A, labels, A.data, rng)


def fit_tightness(
    degrees: IntArray, labels: IntArray, edges: FloatArray, triangles: float, error: float, rng: np.random.Generator
) -> float:
    """The tightness of groups at which a drawn graph has so many triangles, within their `error`, or the most."""

    def excess(tightness: float) -> float:
        A = draw_graph(degrees, labels, edges, tightness, rng)
        return float(Subgraphs(A.indptr, A.indices).count("triangle")) - triangles

    close = max(_CLOSE * triangles, triangles**0.5, error)
    low, high = 0.0, 1.0
    if (few := excess(low)) >= -close:
        return low
    while (many := excess(high)) < -close and high < _TIGHTEST:
        low, high, few = high, high + 1, many
    if many <= close:
        return low if many < few else high
    for _ in range(_STEPS):
        middle = low + (high - low) * min(max(-few / (many - few), 0.01), 0.99)
        found = excess(middle)
        if abs(found) <= close:
            return middle
        low, high, few, many = (middle, high, found, many) if found < 0 else (low, middle, few, found)
    return low + (high - low) * -few / (many - few)


def _grouped(
    degrees: IntArray, labels: IntArray, edges: FloatArray, tightness: float, rng: np.random.Generator
) -> IntArray:
    """Pairs inside groups: none twice, and not more than there should be of a vertex or between two communities."""
    n, rest = degrees.size, min(1.0, max(2.0 - tightness, 0.0))
    members, kinds, shares = _memberships(degrees.astype(np.float64), labels, _mixture(edges), tightness, rng)
    places = np.log(shares) + rest / 2 * rng.standard_normal(members.size)
    order = np.argsort(kinds * (2 * np.abs(places).max(initial=1.0) + 1) - places)
    members, kinds, room = members[order], kinds[order], (shares + rng.random(members.size)).astype(np.int64)[order]
    core = _core(degrees, tightness - 2)
    members, kinds, room = (
        np.concatenate([first, others])
        for first, others in ((core, members), (np.full(core.size, -1), kinds), (np.full(core.size, core.size), room))
    )
    filled, missing = at_once(_filled_groups, 4.0 * degrees.sum()), np.rint(edges).astype(np.int64)
    pairs = np.empty((degrees.sum() // 2 + 1, 2), dtype=np.int64)
    size = on_thread(filled, members, kinds, room, labels[members], (degrees.copy(), missing), pairs)
    codes = np.sort(pairs[:size].min(axis=1) * n + pairs[:size].max(axis=1))
    codes = codes[np.diff(codes, prepend=-1) > 0]
    return np.column_stack([codes // max(n, 1), codes % max(n, 1)])


def _core(degrees: IntArray, part: float) -> IntArray:
    """Vertices of largest degree: this part, if positive, of the most of which each has as many edges as they are."""
    largest = np.argsort(-degrees, kind="stable")
    size = np.count_nonzero(degrees[largest] > np.arange(degrees.size))
    return largest[: max(round(part * size), 0)]


def _memberships(
    degrees: FloatArray, labels: IntArray, mixture: FloatArray, tightness: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """Members of groups: vertices, the communities whose groups they are in, and what a group gets of the degree.

    What a vertex has inside goes to one group of its own community or to more. It is in a group of another community
    only if a share is left for that, so that a vertex of small degree does not move there.
    """
    n, K, rest = degrees.size, len(mixture), min(1.0, max(2.0 - tightness, 0.0))
    typical = max(degree_of_an_end(degrees), 1.0)
    groups = np.maximum((degrees / typical) ** (rest / 2) / min(tightness, 1.0), 1.0)
    share, inside = np.maximum(degrees / groups, 1e-9), degrees * np.diag(mixture)[labels]
    own = np.maximum(np.rint(inside / share), 1.0)
    own_share = inside / own
    own *= np.minimum(own_share / 2, 1.0) ** 2  # two edges make a triangle: fewer have fewer groups
    foreign = np.where(share >= 2, (degrees - inside) / share, 0.0)
    home, away = (np.repeat(np.arange(n), np.floor(count + rng.random(n)).astype(np.int64)) for count in (own, foreign))
    others = np.cumsum(mixture - np.diag(np.diag(mixture)) + 1e-12, axis=1)
    others = others / others[:, -1:] + np.arange(K)[:, None]
    kinds = np.searchsorted(others.ravel(), labels[away] + rng.random(away.size)) - K * labels[away]
    shares = np.maximum(np.concatenate([own_share[home], share[away]]), 2.0)
    return np.concatenate([home, away]), np.concatenate([labels[home], np.minimum(kinds, K - 1)]), shares


def _mixture(edges: FloatArray) -> FloatArray:
    """What part of its groups a vertex of community a (row) has among those of community b.

    With M the numbers of group members, M diag(1/column sums) M^T comes near to the numbers of ends of edges.
    """
    ends = ends_of(edges)
    members = ends / 2 + np.diag(ends.sum(axis=1)) / 2 + 1e-9
    for _ in range(_UPDATES):
        parts = members / members.sum(axis=0)
        members = members * ((ends / (members @ parts.T)) @ parts) + 1e-9
    rows: FloatArray = members / members.sum(axis=1, keepdims=True)
    return rows


@njit(nogil=True)
def _filled_groups(
    members: IntArray,
    kinds: IntArray,
    room: IntArray,
    community: IntArray,
    wanted: tuple[IntArray, IntArray],
    pairs: IntArray,
    stop: Stop,
) -> int:
    """Write all `pairs` inside groups that have edges left at both ends and between their communities; how many."""
    left, missing = wanted
    size = begin = 0
    while begin < members.size and not stop[0]:
        end = begin + 1
        while end < members.size and kinds[end] == kinds[begin] and end - begin <= room[begin]:
            end += 1
        for i in range(begin, end):
            for j in range(i + 1, end):
                u, v, a, b = members[i], members[j], community[i], community[j]
                if u != v and left[u] > 0 and left[v] > 0 and missing[a, b] > 0:
                    pairs[size, 0], pairs[size, 1] = u, v
                    size += 1
                    left[u] -= 1
                    left[v] -= 1
                    missing[a, b] -= 1
                    missing[b, a] -= int(a != b)
        begin = end
    return size


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
def _place(u: int, v: int, pairs: tuple[int, IntArray]) -> tuple[int, int]:
    """One number for the pair of u and v, and where a table has it, or may have it: a set takes long to compile."""
    n, table = pairs
    low, high = min(u, v), max(u, v)
    code, place = low * n + high, (low * 2654435761 + high * 40503) & (table.size - 1)
    while table[place] not in (code, -1):
        place = (place + 1) & (table.size - 1)
    return code, place


@njit(nogil=True)
def _made_simple(
    edges: tuple[IntArray, BoolArray],
    labels: IntArray,
    places: tuple[IntArray, IntArray],
    pairs: tuple[int, IntArray],
    rng: np.random.Generator,
    stop: Stop,
) -> None:
    """Break up loops and double edges, in place; ends 2 e and 2 e + 1 are those of pair e, `bad` if it is left.

    An unwanted pair u-v and an edge x-y, x in the community of u, become u-y and x-v: all degrees, and all numbers of
    edges between communities, stay as they are. `by_label` are the places of ends in the order of their communities,
    which begin at `starts`. If no such edge is found, x may be anywhere: where vertices have nearly all edges that they
    can have, one in thousands will do. Ends of pairs for which that fails, as in a clique, are joined with each other
    if they can be; what is left then is left out.
    """
    (ends, bad), (by_label, starts), table = edges, places, pairs[1]
    for e in range(bad.size):
        if stop[0]:
            break
        code, place = _place(ends[2 * e], ends[2 * e + 1], pairs)
        bad[e] = ends[2 * e] == ends[2 * e + 1] or table[place] == code
        if not bad[e]:
            table[place] = code
    for turn in range(2 * bad.size):
        if stop[0]:
            break
        e = turn % bad.size
        tries = (_TRIES if e == turn else _TRIES**2) if bad[e] else 0
        while tries > 0:
            tries -= 1
            mine = 2 * e + (tries & 1)
            u, v = ends[mine], ends[mine ^ 1]
            near = _TRIES // 4 <= tries < _TRIES
            first, last = (starts[labels[u]], starts[labels[u] + 1]) if near else (0, ends.size)
            other = by_label[first + int(rng.random() * (last - first))]
            x, y = ends[other], ends[other ^ 1]
            if bad[other // 2] or u == y or x == v:
                continue
            one, of_one = _place(u, y, pairs)
            two, of_two = _place(x, v, pairs)
            if one != two and table[of_one] != one and table[of_two] != two:
                table[_place(x, y, pairs)[1]] = -2
                table[of_one] = one
                table[_place(x, v, pairs)[1]] = two
                ends[other], ends[mine] = u, x
                bad[e], tries = False, 0
    rest = np.flatnonzero(bad)
    for _ in range(_TRIES * rest.size if rest.size > 1 else 0):
        mine, other = 2 * rest[int(rng.random() * rest.size)], 2 * rest[int(rng.random() * rest.size)]
        mine, other = mine + int(rng.random() < 0.5), other + int(rng.random() < 0.5)
        u, x = ends[mine], ends[other]
        code, place = _place(u, x, pairs)
        if bad[mine // 2] and bad[other // 2] and u != x and table[place] != code:
            table[place] = code
            ends[mine ^ 1], ends[other] = x, ends[mine ^ 1]
            bad[mine // 2] = False


# --- clearer communities ----------------------------------------------------------------------------------------------

#: Parts of a community at most; how far the strength may be from the least for any parts, on the way to 1.
_MOST_PARTS, _ROOM = 32, 1 / 8


class Blocks(NamedTuple):
    """Degree and community of each vertex, and edges between communities: symmetric, inside them on the diagonal."""

    degrees: IntArray
    labels: IntArray
    edges: FloatArray

    @classmethod
    def fit(cls, degrees: IntArray, labels: IntArray, noisy: FloatArray) -> "Blocks":
        """The edges nearest to noisy numbers that are not negative and make the ends that the degrees make.

        Negative numbers set to 0, and nothing else, would add edges between communities, of noise alone. The nearest by
        squares are max(noisy + u_a + u_b, 0): each u in turn projects onto a simplex (Duchi et al. 2008).
        """
        u, ends = np.zeros(len(noisy)), np.bincount(labels, weights=degrees, minlength=len(noisy))
        for _ in range(_UPDATES):
            before = u.copy()
            for a in range(u.size):
                others, inside = np.delete(noisy[a] + u, a), np.full(4, noisy[a, a] / 2)  # of a: 2 (noisy + 2 u_a) ends
                decreasing = np.sort(np.concatenate([others, inside]))[::-1]
                u[a] = np.min((ends[a] - np.cumsum(decreasing)) / np.arange(1, decreasing.size + 1))
            if np.array_equal(u, before):
                break
        return cls(degrees, labels, np.maximum(noisy + u + u[:, None], 0.0))


def stronger(blocks: Blocks, parts: int, strength: float, rng: np.random.Generator) -> Blocks:
    """Each community split into so many parts; this part of the edges, in [0, 1), moves inside them."""
    ends, labels = np.kron(ends_of(blocks.edges), np.full((parts, parts), parts**-2.0)), blocks.labels
    ends = (1 - strength) * ends + strength * np.diag(ends.sum(axis=1))
    if parts > 1:
        labels = labels * parts + rng.integers(0, parts, labels.size)
    return Blocks(blocks.degrees, labels, ends - np.diag(np.diag(ends) / 2))


def strength_for(edges: FloatArray, modularity: float) -> tuple[int, float]:
    """Parts and strength with which communities have this modularity, or come near to it."""
    ends = ends_of(edges) / max(ends_of(edges).sum(), 1e-9)
    now, even = float(np.trace(ends) - (ends.sum(axis=1) ** 2).sum()), float((ends.sum(axis=1) ** 2).sum())
    limit, parts = 1 - (1 - _ROOM) * (1 - modularity) / max(1 - now, 1e-9), 1
    while parts < _MOST_PARTS and modularity - now > limit * (1 - even / parts - now):
        parts += 1
    now = now if parts == 1 else float(np.trace(ends)) / parts - even / parts
    return parts, min(max((modularity - now) / max(1 - even / parts - now, 1e-9), 0.0), 0.95)
