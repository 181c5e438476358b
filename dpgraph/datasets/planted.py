"""Random graphs with a planted cut, and 2-CSPs with a planted assignment, drawn in time proportional to their size."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.arguments import as_generator, as_number, check_integer, check_memory
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.linalg.edges import symmetric
from dpgraph.typing import IntArray

if TYPE_CHECKING:
    import networkx as nx

#: Draws positions out of 0..size-1, given size and the probability (or share) of each.
Draw = Callable[[np.random.Generator, int, float], IntArray]


def planted_cut(n: int, degree: float, correlation: float, rng: int | np.random.Generator | None = None) -> nx.Graph:
    """Random graph in which one balanced cut is planted (stochastic block model; Holland, Laskey, Leinhardt 1983).

    A uniformly random half of the vertices gets s_i = +1, the other half s_i = -1, and every pair {i, j} becomes an
    edge independently with probability ``(1 + correlation * s_i * s_j) * degree / n``.

    Parameters
    ----------
    n, degree : int, float
        Number of vertices, at least 2 (if n is odd, one side has one more), and expected degree (up to one pair in n),
        with ``(1 + |correlation|) * degree <= n``.
    correlation : float
        In [-1, 1]. Negative: more edges run across the planted cut than inside the sides, a share of ``(1 -
        correlation) / 2`` for large n. -1 is bipartite, 0 has no structure, positive values are communities.
    rng : int, numpy.random.Generator or None
        Seed. The graph is public test data, so this is ordinary pseudo-randomness.

    Returns
    -------
    networkx.Graph
        Vertices 0..n-1, with node attribute ``"side"`` (0 or 1), the planted cut.

    Raises
    ------
    InvalidParameterError
        An argument is out of range, or a pair would need a probability above 1.

    Examples
    --------
    >>> G = planted_cut(400, 20, -0.75, rng=0)
    >>> across = sum(G.nodes[u]["side"] != G.nodes[v]["side"] for u, v in G.edges)
    >>> f"{across / G.number_of_edges():.1f}"
    '0.9'
    """
    return _with_sides(*_block_model(n, degree, correlation, rng, _independent_subset))


def planted_cut_sparse(
    n: int, degree: float, correlation: float, rng: int | np.random.Generator | None = None
) -> tuple[sparse.csr_array, NDArray[np.int8]]:
    """The graph of :func:`planted_cut` (the same one for the same seed) as a sparse matrix, for a million vertices.

    Parameters
    ----------
    n, degree, correlation, rng
        As there, and so are errors.

    Returns
    -------
    adjacency, labels : scipy.sparse.csr_array of shape (n, n), ndarray of int8
        Symmetric 0/1 matrix with zero diagonal, and the planted side of each vertex, 0 or 1.

    Examples
    --------
    >>> A, labels = planted_cut_sparse(1000, 20, -1.0, rng=0)
    >>> A.shape, int(labels.sum())
    ((1000, 1000), 500)
    >>> float(A[labels == 0][:, labels == 0].sum())  # correlation -1: no edge inside a side
    0.0
    """
    low, high, labels = _block_model(n, degree, correlation, rng, _independent_subset)
    return symmetric(n, low, high, np.ones(len(low))), labels


def planted_bisection(
    n: int, degree: float, correlation: float, rng: int | np.random.Generator | None = None
) -> nx.Graph:
    """Random graph in which a bisection of known value is planted (Bui, Chaudhuri, Leighton, Sipser 1987).

    As :func:`planted_cut`, except that the *numbers* of edges inside each side and across are fixed to their expected
    values (rounded) and the edges are placed uniformly: the planted bisection cuts exactly
    ``round((1 - correlation) * degree * (n // 2) * ((n + 1) // 2) / n)`` edges in every draw.

    Parameters
    ----------
    n, degree, correlation, rng
        As for :func:`planted_cut`, and so are errors. Positive correlation plants a small bisection (two communities),
        negative correlation a large one.

    Returns
    -------
    networkx.Graph
        As there.

    Examples
    --------
    >>> G = planted_bisection(200, 20, 0.8, rng=0)
    >>> sum(G.nodes[u]["side"] != G.nodes[v]["side"] for u, v in G.edges)
    200
    """
    return _with_sides(*_block_model(n, degree, correlation, rng, _fixed_number))


class PlantedCSP(TwoCSP):
    """A :class:`~dpgraph.instance.TwoCSP` that knows the assignment planted in it."""

    planted: dict[Hashable, Hashable]  # not always optimal, but its value is known


def planted_csp(
    n: int,
    degree: float,
    alphabet: int | Iterable[Hashable],
    satisfiable: float,
    rng: int | np.random.Generator | None = None,
) -> PlantedCSP:
    """Random unique game (Khot 2002) in which an assignment is planted.

    Every variable gets a uniformly random planted label. Every pair of variables u < v has a constraint independently
    with probability ``degree / (n - 1)``: a permutation s of the labels, satisfied when v has label s(label of u). Of
    the m constraints exactly ``round(satisfiable * m)``, chosen uniformly, have a uniformly random permutation among
    those that the planted assignment satisfies, the others one among those that it does not.

    Parameters
    ----------
    n, degree : int, float
        Number of variables, at least 2, and expected number of constraints on each, in [0, n - 1].
    alphabet : int or iterable of hashable
        Labels; a random assignment satisfies one constraint in q, q their number.
    satisfiable : float
        Share of the constraints that the planted assignment satisfies, in [0, 1].
    rng : int, numpy.random.Generator or None
        Seed. The instance is public test data, so this is ordinary pseudo-randomness.

    Returns
    -------
    PlantedCSP
        A :class:`~dpgraph.instance.TwoCSP` on the variables 0..n-1, with the assignment as attribute ``planted``.

    Raises
    ------
    InvalidParameterError
        An argument is out of range.

    Examples
    --------
    >>> instance = planted_csp(200, 30, 3, 0.9, rng=0)
    >>> instance.value(instance.planted) / instance.total_weight
    0.9
    """
    n = check_integer("n, the number of variables,", n, 2)
    if not 0.0 <= as_number(degree) <= n - 1:
        raise InvalidParameterError(f"degree must lie in [0, n - 1] = [0, {n - 1}]; got {degree!r}")
    if not 0.0 <= as_number(satisfiable) <= 1.0:
        raise InvalidParameterError(f"satisfiable must lie in [0, 1]; got {satisfiable!r}")
    instance = PlantedCSP(n, alphabet)
    q = instance.alphabet_size
    check_memory(f"{n} variables with {q} labels", tables=(4, 1 + n * as_number(degree) / 2, q, q))
    generator = as_generator(rng)
    labels = generator.integers(q, size=n)
    v, u = _triangle_pairs(_independent_subset(generator, n * (n - 1) // 2, degree / (n - 1)))
    image = labels[v]
    broken = generator.permutation(len(u))[round(satisfiable * len(u)) :]
    image[broken] = (image[broken] + generator.integers(1, q, size=len(broken))) % q
    instance.add_constraints(np.stack([u, v], axis=1), np.eye(q)[_permutations(generator, labels[u], image, q)])
    instance.planted = instance.decode(labels)
    return instance


def _with_sides(low: IntArray, high: IntArray, labels: NDArray[np.int8]) -> nx.Graph:
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from((node, {"side": side}) for node, side in enumerate(labels.tolist()))
    G.add_edges_from(zip(low.tolist(), high.tolist(), strict=True))
    return G


def _block_model(
    n: int, degree: float, correlation: float, rng: int | np.random.Generator | None, draw: Draw
) -> tuple[IntArray, IntArray, NDArray[np.int8]]:
    n = check_integer("n, the number of vertices,", n, 2)
    if not -1 <= as_number(correlation) <= 1:
        raise InvalidParameterError(f"correlation must lie in [-1, 1]; got {correlation!r}")
    if not (as_number(degree) >= 0 and (1 + abs(correlation)) * degree <= n):
        raise InvalidParameterError(
            f"degree must lie in [0, n / (1 + |correlation|)] = [0, {n / (1 + abs(correlation)):g}], "
            f"so that every pair has a probability; got {degree!r}"
        )
    inside, across = (1 + correlation) * degree / n, (1 - correlation) * degree / n
    generator = as_generator(rng)
    # Sides at random: with consecutive labels a rule that looks at vertex numbers alone would find the cut.
    order = generator.permutation(n)
    first, second = order[: n // 2], order[n // 2 :]
    tails, heads = [], []
    for side in (first, second):
        i, j = _triangle_pairs(draw(generator, len(side) * (len(side) - 1) // 2, inside))
        tails.append(side[i])
        heads.append(side[j])
    i, j = np.divmod(draw(generator, len(first) * len(second), across), len(second))
    labels = np.zeros(n, dtype=np.int8)
    labels[second] = 1
    tail, head = np.concatenate([*tails, first[i]]), np.concatenate([*heads, second[j]])
    return np.minimum(tail, head), np.maximum(tail, head), labels


def _independent_subset(generator: np.random.Generator, size: int, probability: float) -> IntArray:
    """Sorted subset of 0..size-1 that holds each element independently with `probability`.

    The gaps between successive elements are independent geometric variables, so the work is proportional to the subset
    (Batagelj and Brandes, Phys. Rev. E 71, 2005) and each probability is exact.
    """
    chosen: list[IntArray] = []
    last = -1
    while probability > 0 and last < size:
        expected = (size - last) * probability
        gaps = generator.geometric(probability, size=int(expected + 4 * expected**0.5) + 16)
        positions = last + np.cumsum(np.minimum(gaps, size + 1))
        chosen.append(positions[positions < size])
        last = int(positions[-1])
    return np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)


def _fixed_number(generator: np.random.Generator, size: int, share: float) -> IntArray:
    """Uniformly random subset of 0..size-1 with ``round(share * size)`` elements, sorted."""
    count = round(share * size)
    if 2 * count > size:
        keep = np.ones(size, dtype=bool)
        keep[_fixed_number(generator, size, (size - count) / size)] = False
        return np.flatnonzero(keep)
    chosen = np.empty(0, dtype=np.int64)
    # Topping up never draws beyond `count`, so no element is favoured and the subset is uniform.
    while len(chosen) < count:
        chosen = np.union1d(chosen, generator.integers(size, size=count - len(chosen)))
    return chosen


def _triangle_pairs(index: IntArray) -> tuple[IntArray, IntArray]:
    """The pair (i, j), i > j >= 0, at each position of (1,0), (2,0), (2,1), (3,0), ..."""
    i = np.asarray((1 + np.sqrt(1 + 8 * index.astype(np.float64))) / 2, dtype=np.int64)
    # The square root may round across an integer.
    i -= i * (i - 1) // 2 > index
    i += i * (i + 1) // 2 <= index
    return i, index - i * (i - 1) // 2


def _permutations(generator: np.random.Generator, argument: IntArray, image: IntArray, q: int) -> IntArray:
    """Uniformly random permutations of 0..q-1 among those that map argument[e] to image[e], shape (m, q)."""
    rows = np.arange(len(argument))
    s = np.argsort(generator.random((len(argument), q)), axis=1)
    elsewhere = np.argmax(s == image[:, None], axis=1)
    s[rows, elsewhere] = s[rows, argument]
    s[rows, argument] = image
    return s
