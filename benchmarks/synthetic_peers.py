"""Private synthetic graphs of others, written from their publications; (epsilon, 0)-DP for one vertex pair unless said.

A peer returns the edges of one drawn graph on the vertices 0, ..., n - 1. Where an exact accounting makes a peer
better, it gets it, and whatever a publication leaves to the data (a largest degree, which cells are empty) is bought.
A peer that releases nothing about single vertices numbers them at random. Noise is numpy's: these functions are for
comparisons, not for use. Hierarchical random graphs are in synthetic_hrg.py. Not here: DER (R. Chen, B. Fung, P. Yu,
B. Desai, VLDB Journal 2014), whose tree covers all n**2 cells of the matrix.

References
----------
WW13: Y. Wang, X. Wu, *Preserving Differential Privacy in Degree-Correlation Based Graph Generation*, TDP 2013.
HLMJ09: M. Hay, C. Li, G. Miklau, D. Jensen, *Accurate Estimation of the Degree Distribution of Private Networks*,
    ICDM 2009.
MW12: D. Mir, R. Wright, *A Differentially Private Estimator for the Stochastic Kronecker Graph Model*, EDBT
    workshops 2012.
GO12: D. Gleich, A. Owen, *Moment-Based Estimation of Stochastic Kronecker Graph Parameters*, Internet Mathematics 2012.
QYY+17: Z. Qin, T. Yu, Y. Yang, I. Khalil, X. Xiao, K. Ren, *Generating Synthetic Decentralized Social Graphs with Local
    Differential Privacy*, CCS 2017.
PGB: S. Liu, H. Du, Y. Cao, B. Yan, J. Liu, M. Yoshikawa, *PGB: Benchmarking Differentially Private Synthetic Graph
    Generation Algorithms*, 2024.
YZD+23: Q. Yuan, Z. Zhang, L. Du, M. Chen, P. Cheng, M. Sun, *PrivGraph*, USENIX Security 2023.
"""

from __future__ import annotations

import copy
import math

import numpy as np
from community_peers import DELTA, flipped_pairs, priv_graph, same_total, top_m_pairs, upper_pairs
from degree_distribution import sorted_degrees
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

import dpgraph

__all__ = [
    "degree_groups",
    "dp_1k",
    "dp_1k_sorted",
    "dp_2k",
    "flipped_pairs",
    "kronecker_moments",
    "ours",
    "priv_graph_pairs",
    "priv_skg",
    "simple",
    "top_m_pairs",
]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Shares of epsilon of the largest degree (dK-1, dK-2), and of the number of edges (dK-2).
_LARGEST_DEGREE = {"1k": 0.1, "2k": 0.2}
_EDGES = 0.05
#: How many exchanges a pair that is a loop or repeated tries.
_TRIES = 30
#: How often Kronecker edges that fell on others fall again.
_FALLS = 30


def simple(n: int, tails: IntArray, heads: IntArray) -> IntArray:
    """Different pairs (i, j) with i < j: loops and repetitions are left out."""
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    return np.column_stack(np.divmod(np.unique((low * n + high)[low < high]), n))


def random_simple(degrees: IntArray, rng: np.random.Generator) -> IntArray:
    """A random graph of given degrees: stubs are joined at random, and what is no new edge is exchanged.

    A few stubs may be left in the end, all of them where the degrees are those of no graph.
    """
    stubs = rng.permutation(np.repeat(np.arange(degrees.size), degrees))
    return exchanged(stubs[: stubs.size // 2 * 2].reshape(2, -1), np.zeros_like(degrees), rng)


def exchanged(ends: IntArray, kinds: IntArray, rng: np.random.Generator) -> IntArray:
    """The pairs `ends` without loops and repetitions: u-v and x-y become u-y and x-v, where v and y are of one kind.

    Pairs are tried again, since an exchange may open a place; what makes no new edge in the end is left out.
    """
    n, size = kinds.size, ends.shape[1]

    def code(u: int, v: int) -> int:
        return min(u, v) * n + max(u, v)

    both = np.concatenate([ends, ends[::-1]], axis=1)  # each pair in both directions, at k and k + size
    tails, heads = both.tolist()
    order = np.argsort(kinds[both[1]], kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(kinds[both[1]]))])
    known, bad = {}, []
    for k in range(size):
        c = code(tails[k], heads[k])
        if tails[k] == heads[k] or c in known:
            bad.append(k)
        else:
            known[c] = k
    for k in np.repeat(bad, _TRIES).reshape(-1, _TRIES).T.ravel().tolist():
        if known.get(code(tails[k], heads[k])) == k:
            continue
        here = k + size * int(rng.integers(0, 2))
        kind = kinds[heads[here]]
        other = int(order[rng.integers(first[kind], first[kind + 1])])
        u, v, x, y = tails[here], heads[here], tails[other], heads[other]
        old, new = code(x, y), (code(u, y), code(x, v))
        if known.get(old) != other % size or u == y or x == v or new[0] == new[1] or any(c in known for c in new):
            continue
        del known[old]
        known[new[0]], known[new[1]] = k, other % size
        heads[here] = tails[(here + size) % (2 * size)] = y
        heads[other] = tails[(other + size) % (2 * size)] = v
    return np.column_stack(np.divmod(np.array(sorted(known), dtype=np.int64), n))


@njit(cache=True)
def _chung_lu(weights, rng):
    """Pairs of places i < j, each with probability min(1, w_i w_j/sum w); the weights are decreasing."""
    n, total = len(weights), weights.sum()
    tails, heads = [], []
    for i in range(n - 1):
        j, factor = i + 1, weights[i] / total
        p = min(1.0, factor * weights[j])
        while j < n and p > 0:
            if p < 1:
                skip = math.log(1 - rng.random()) / math.log1p(-p)
                if skip >= n - j:
                    break
                j += int(skip)
            q = min(1.0, factor * weights[j])
            if rng.random() < q / p:
                tails.append(i)
                heads.append(j)
            p = q
            j += 1
    return np.array(tails, dtype=np.int64), np.array(heads, dtype=np.int64)


def chung_lu(vertices: IntArray, weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Pairs of the Chung-Lu model, with skips as of J. Miller and A. Hagberg (WAW 2011), in time linear in edges."""
    if weights.size < 2 or weights.max() <= 0:
        return np.empty((0, 2), dtype=np.int64)
    order = np.argsort(-weights, kind="stable")
    return vertices[order][np.column_stack(_chung_lu(weights[order].astype(np.float64), rng))]


def rounded(values: FloatArray) -> IntArray:
    """Integers of nearly the same sum: the running total is rounded."""
    return np.diff(np.rint(np.cumsum(values)), prepend=0).astype(np.int64)


def histogram_sequence(counts: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Degrees of n vertices, in random order, of a noisy histogram: nearest one with non-negative counts and sum n."""
    shifted = counts + (n - counts.sum()) / counts.size
    return rng.permutation(np.repeat(np.arange(counts.size), rounded(same_total(shifted))))


def dp_1k(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """dK-1 of WW13: the noisy histogram of degrees, and a random graph of such degrees.

    Released: N_k, how many vertices have degree k, with Laplace noise. A pair moves two vertices by one place each, so
    the sensitivity is 4. The range of k is bought with a tenth of epsilon (the largest degree changes by 1 at most);
    larger degrees count as the last k, which raises no sensitivity. WW13 takes it from the graph.
    """
    n, degrees = A.shape[0], np.diff(A.indptr)
    spent = _LARGEST_DEGREE["1k"] * epsilon
    most = int(np.clip(np.rint(degrees.max() + rng.laplace(scale=1 / spent)), 1, n - 1))
    counts = np.bincount(np.minimum(degrees, most), minlength=most + 1)
    noisy = counts + rng.laplace(scale=4 / (epsilon - spent), size=counts.size)
    return random_simple(histogram_sequence(noisy, n, rng), rng)


def dp_1k_sorted(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """dK-1 from the sorted degrees of HLMJ09: Laplace noise of sensitivity 2, and isotonic regression.

    The same information as the histogram of `dp_1k`, released as well as was known when WW13 appeared.
    """
    return random_simple(rng.permutation(sorted_degrees(np.diff(A.indptr), epsilon, rng)), rng)


def joint_degrees(A: sparse.csr_array, most: int) -> IntArray:
    """Edges between a vertex of degree i + 1 and one of degree j + 1 >= i + 1; degrees above `most` count as `most`."""
    low, high = np.sort(np.minimum(np.diff(A.indptr), most)[upper_pairs(A)] - 1, axis=1).T
    return np.bincount(low * most + high, minlength=most**2).reshape(most, most)


def dp_2k(A: sparse.csr_array, epsilon: float, rng: np.random.Generator, delta: float = DELTA) -> IntArray:
    """dK-2 of WW13: how many edges join a vertex of degree i and one of degree j; (epsilon, delta)-DP.

    An edge between vertices of degrees a and b (without it) is one of these counts and moves a + b others from one
    cell to another: 2 (a + b) + 1 <= 4 D + 1, D the largest degree. D~ = D + Laplace + log(1/(2 delta))/epsilon_1
    costs a fifth of epsilon and is at least D except with probability delta; then noise of scale (4 D~ + 1)/epsilon_2
    is enough. That is the noisy bound of a local sensitivity in place of the smooth one of WW13, which in d dimensions
    needs beta = epsilon/(4 (d + log(2/delta))), so that with d = D**2/2 cells it is nearly the global one, 4 n - 7. All
    cells up to D~ get noise, those that are empty as well. The number of edges, with 5 % of epsilon, is their sum.
    """
    n, degrees = A.shape[0], np.diff(A.indptr)
    first, second = _LARGEST_DEGREE["2k"] * epsilon, _EDGES * epsilon
    most = degrees.max() + rng.laplace(scale=1 / first) + math.log(1 / (2 * delta)) / first
    most = int(np.clip(math.ceil(most), 1, n - 1))
    total = max(1.0, A.nnz / 2 + rng.laplace(scale=1 / second))
    rows, columns = np.triu_indices(most)
    noisy = joint_degrees(A, most)[rows, columns]
    noisy = noisy + rng.laplace(scale=min(4 * most + 1, 4 * n - 7) / (epsilon - first - second), size=rows.size)
    cells = same_total(noisy + (total - noisy.sum()) / noisy.size)
    return from_joint_degrees(n, rows + 1, columns + 1, np.rint(cells).astype(np.int64), rng)


def from_joint_degrees(
    n: int, rows: IntArray, columns: IntArray, counts: IntArray, rng: np.random.Generator
) -> IntArray:
    """A random graph with so many edges between vertices of degree `rows[c]` and `columns[c]`.

    There are as many vertices of degree k as the stubs of k need; if that is more than n in all, those of least degree
    are left out. Stubs of a class go to its cells at random. A pair that is a loop or repeated exchanges an end with
    another pair that has an end of the same degree.
    """
    stubs = np.bincount(rows, counts, columns.max() + 1) + np.bincount(columns, counts, columns.max() + 1)
    needed = np.ceil(stubs / np.maximum(np.arange(stubs.size), 1) - 0.5).astype(np.int64).clip(stubs > 0)
    room = np.where(rows == columns, needed[rows] * (needed[rows] - 1) // 2, needed[rows] * needed[columns])
    counts = np.minimum(counts, room)  # there are no more pairs
    kinds = np.concatenate([np.repeat(rows, counts), np.repeat(columns, counts)])
    stubs = np.bincount(kinds, minlength=stubs.size)
    N, degrees = int(needed.sum()), np.repeat(np.arange(stubs.size), needed)
    owners = [rng.permutation(np.resize(np.flatnonzero(degrees == k), stubs[k])) for k in np.flatnonzero(stubs)]
    ends = np.empty(kinds.size, dtype=np.int64)
    ends[np.argsort(kinds, kind="stable")] = np.concatenate(owners)
    pairs = exchanged(ends.reshape(2, -1), degrees, rng)
    names = np.full(N, -1)
    found = np.bincount(pairs.ravel(), minlength=N)
    names[np.lexsort((rng.random(N), -found))[:n]] = rng.permutation(n)[: min(N, n)]
    pairs = names[pairs]
    return pairs[(pairs >= 0).all(axis=1)]


def degree_groups(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """DGG as in PGB (after QYY+17, which has local privacy): noisy degrees, and the model BTER.

    Released: all degrees with Laplace noise; a pair changes two of them by 1, so the sensitivity is 2 (the code of PGB
    has 1). Vertices in the order of noisy degrees are cut into groups of d + 1, d the least degree of a group. In a
    group of s vertices pairs are edges with probability log(s + 1)/log(d_max + 1); what is left of degrees is
    Chung-Lu's.
    """
    n = A.shape[0]
    noisy = np.maximum(np.rint(np.diff(A.indptr) + rng.laplace(scale=2 / epsilon, size=n)), 0).astype(np.int64)
    order = np.argsort(noisy, kind="stable")
    pairs, start = [np.empty((0, 2), dtype=np.int64)], 0
    while start < n:
        group = order[start : start + noisy[order[start]] + 1]
        start += group.size
        if group.size > 1:
            rows, columns = np.triu_indices(group.size, 1)
            kept = rng.random(rows.size) < math.log(group.size + 1) / math.log(noisy.max() + 1)
            pairs.append(group[np.column_stack([rows[kept], columns[kept]])])
    inside = np.concatenate(pairs)
    left = np.maximum(noisy - np.bincount(inside.ravel(), minlength=n), 0)
    both = np.concatenate([inside, chung_lu(np.arange(n), left.astype(np.float64), rng)])
    return simple(n, both[:, 0], both[:, 1])


def kronecker_moments(a: FloatArray, b: FloatArray, c: FloatArray, k: int) -> FloatArray:
    """Expected edges, wedges, 3-stars and triangles of the graph of k Kronecker powers P of [[a, b], [b, c]] (GO12).

    D is the diagonal of P, R its row sums, Q and C those of its squares and cubes. A vertex has expected wedges
    ((R - D)**2 - (Q - D**2))/2 and 3-stars ((R - D)**3 - 3 (R - D) (Q - D**2) + 2 (C - D**3))/6. The sum over vertices
    of each product is a k-th power. In the 3-stars, the code of PGB has 5 and 4 for the factors 3 and 6 of D Q and
    R D**2.
    """
    D, R = np.stack([a, c]), np.stack([a + b, b + c])
    Q, C = np.stack([a**2 + b**2, b**2 + c**2]), np.stack([a**3 + b**3, b**3 + c**3])

    def summed(values: FloatArray) -> FloatArray:
        return values.sum(axis=0) ** k

    edges = (summed(R) - summed(D)) / 2
    wedges = (summed(R**2) - 2 * summed(R * D) - summed(Q) + 2 * summed(D**2)) / 2
    stars = summed(R**3) - 3 * summed(R**2 * D) + 6 * summed(R * D**2) - 6 * summed(D**3)
    stars = (stars - 3 * summed(R * Q) + 3 * summed(D * Q) + 2 * summed(C)) / 6
    triangles = ((a**3 + 3 * b**2 * (a + c) + c**3) ** k - 3 * summed(D * Q) + 2 * summed(D**3)) / 6
    return np.stack([edges, wedges, stars, triangles])


def fitted_initiator(moments: FloatArray, k: int) -> FloatArray:
    """The a, b, c of least sum of squared relative errors of the moments (GO12), from the best points of a grid."""

    def error(x: FloatArray) -> FloatArray:
        found = kronecker_moments(x[0], x[1], x[2], k)
        return np.sum((found / moments.reshape(4, *[1] * (found.ndim - 1)) - 1) ** 2, axis=0)

    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 51)] * 3)).reshape(3, -1)
    starts = grid[:, np.argsort(error(grid))[:10]].T
    found = [minimize(lambda x: float(error(x)), start, method="Nelder-Mead", bounds=[(0, 1)] * 3) for start in starts]
    a, b, c = min(found, key=lambda result: result.fun).x
    return np.array([max(a, c), b, min(a, c)])


def kronecker_pairs(initiator: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """Edges of a stochastic Kronecker graph on 2**k vertices: a Poisson number of them falls, digit by digit."""
    a, b, c = initiator
    tails = heads = np.empty(0, dtype=np.int64)
    wanted, found = rng.poisson(max(kronecker_moments(a, b, c, k)[0], 1.0)), np.empty((0, 2), dtype=np.int64)
    for _ in range(_FALLS):
        cells = rng.choice(4, p=np.array([a, b, b, c]) / (a + 2 * b + c), size=(k, max(wanted - len(found), 0)))
        powers = 1 << np.arange(k)
        tails = np.concatenate([found[:, 0], powers @ (cells // 2)])
        heads = np.concatenate([found[:, 1], powers @ (cells % 2)])
        found = simple(2**k, tails, heads)
    return found


def priv_skg(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """PrivSKG (MW12): a stochastic Kronecker graph whose moments are those of private counts.

    Half of epsilon releases the sorted degrees (HLMJ09, sensitivity 2), which give edges, wedges and 3-stars; half the
    number of triangles. MW12 has smooth sensitivity with delta for these; here they come from the ladder of
    `private_subgraph_counts`, which is pure and more accurate. Vertices: 2**k >= n, of which the n of largest degree.
    """
    n, k = A.shape[0], math.ceil(math.log2(A.shape[0]))
    degrees = sorted_degrees(np.diff(A.indptr), epsilon / 2, rng).astype(np.float64)
    triangles = dpgraph.private_subgraph_counts(A, "triangle", epsilon=epsilon / 2, rng=rng).counts["triangle"]
    wedges, stars = degrees * (degrees - 1) / 2, degrees * (degrees - 1) * (degrees - 2) / 6
    moments = np.maximum([degrees.sum() / 2, wedges.sum(), stars.sum(), triangles], 1.0)
    pairs = kronecker_pairs(fitted_initiator(moments, k), k, rng)
    found = np.bincount(pairs.ravel(), minlength=2**k)
    names = np.full(2**k, -1)
    names[np.lexsort((rng.random(2**k), -found))[:n]] = rng.permutation(n)
    pairs = names[pairs]
    return pairs[(pairs >= 0).all(axis=1)]


def priv_graph_pairs(A: sparse.csr_array, epsilon: float, rng: np.random.Generator, as_coded: bool = False) -> IntArray:
    """PrivGraph (YZD+23), a third of epsilon for each stage: two for the communities, one for what is drawn.

    The third releases the degrees inside communities (sensitivity 2) and the edges between every two of them
    (sensitivity 1), each with all of epsilon/3: a pair is either inside or between. Both get the nearest non-negative
    values of the same sum. Inside, edges are those of Chung-Lu; between, pairs are uniform. The published code takes
    one end of *every* pair between communities from the last community (`as_coded`). That is private as well, and
    keeps the other communities apart.
    """
    n, edges, third = A.shape[0], upper_pairs(A), epsilon / 3
    labels = np.unique(priv_graph(A, 2 * third, rng), return_inverse=True)[1]
    count = int(labels.max()) + 1
    members = [np.flatnonzero(labels == label) for label in range(count)]
    own = labels[edges[:, 0]] == labels[edges[:, 1]]
    inside = np.bincount(edges[own].ravel(), minlength=n) + rng.laplace(scale=2 / third, size=n)
    drawn = []
    for vertices in members:
        weights = np.clip(np.rint(same_total(inside[vertices])), 0, vertices.size - 1)
        drawn.append(chung_lu(vertices, weights, rng))
    rows, columns = np.triu_indices(count, 1)
    low, high = np.sort(labels[edges[~own]], axis=1).T
    between = np.bincount(low * count + high, minlength=count**2).reshape(count, count)[rows, columns]
    if rows.size:
        noisy = np.rint(same_total(between + rng.laplace(scale=1 / third, size=rows.size))).astype(np.int64)
        drawn += [
            np.column_stack([rng.choice(members[-1 if as_coded else r], number), rng.choice(members[c], number)])
            for r, c, number in zip(rows, columns, noisy, strict=True)
            if number
        ]
    tails, heads = np.concatenate(drawn).T
    return simple(n, tails, heads)


def ours(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """The package, with nothing chosen by hand; the random numbers are those of synthetic_graphs.py."""
    drawing = copy.deepcopy(rng)
    return upper_pairs(dpgraph.private_synthetic_graph(A, epsilon=epsilon, rng=rng).adjacency(drawing))
