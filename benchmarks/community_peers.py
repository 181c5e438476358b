"""Private communities of others, written from their publications; (epsilon, 0)-DP for one vertex pair unless said.

Where an exact accounting makes a peer better, it gets it. What a peer spends on things that are not communities (a
synthetic graph) goes to its communities. Noise is numpy's: these functions are for comparisons, not for use.

References
----------
YZD+23: Q. Yuan, Z. Zhang, L. Du, M. Chen, P. Cheng, M. Sun, *PrivGraph*, USENIX Security 2023.
NIR15: H. H. Nguyen, A. Imine, M. Rusinowitch, *Differentially Private Publication of Social Graphs at Linear Cost*,
    ASONAM 2015.
NIR16: H. H. Nguyen, A. Imine, M. Rusinowitch, *Detecting Communities under Differential Privacy*, WPES 2016.
CPST12: G. Cormode, C. Procopiuc, D. Srivastava, T. Tran, *Differentially Private Summaries for Sparse Data*, ICDT 2012.
MT07: F. McSherry, K. Talwar, *Mechanism Design via Differential Privacy*, FOCS 2007.
"""

from __future__ import annotations

import math

import igraph
import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from scipy.stats import gumbel_r

import dpgraph

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: delta of `embedding_kmeans`, the one peer that is not pure.
DELTA = 1e-6
#: Shares of epsilon that buy a noisy number of edges.
_EDGE_COUNT = {"tmf": 0.05, "louvain_dp": 0.01}
#: More edges than this are not built.
MAX_EDGES = 2_000_000
#: Of ModDivisive: twice the largest change of m Q by one edge in NIR16, and the range that this change really has.
PUBLISHED_RANGE, EXACT_RANGE = 6.0, 2.5


class InfeasibleError(Exception):
    """The peer would build a graph of more than `MAX_EDGES` edges."""


def upper_pairs(A: sparse.csr_array) -> IntArray:
    """Edges of an unweighted graph as rows (i, j) with i < j."""
    upper = sparse.triu(A, k=1).tocoo()
    return np.column_stack([upper.row, upper.col]).astype(np.int64)


def louvain(n: int, pairs: IntArray, weights: FloatArray | None = None) -> IntArray:
    """Communities of a graph that is public; igraph's random numbers are those of :mod:`random`."""
    g = igraph.Graph(n, pairs)
    return np.array(g.community_multilevel(weights=None if weights is None else weights.tolist()).membership)


def random_non_edges(n: int, edges: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` different pairs, uniform among those that are no edge."""
    taken, found = edges @ np.array([n, 1]), np.empty(0, dtype=np.int64)
    while found.size < count:
        i, j = rng.integers(n, size=(2, 3 * (count - found.size) + 100))
        found = np.union1d(found, np.setdiff1d((i * n + j)[i < j], taken))
    return np.column_stack(np.divmod(rng.choice(found, count, replace=False), n))


def flipped_pairs(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """Edges of the graph in which every pair is flipped with probability 1/(1 + e**epsilon)."""
    n, edges = A.shape[0], upper_pairs(A)
    flip, others = float(expit(-epsilon)), n * (n - 1) // 2 - len(edges)
    if flip * others + len(edges) > MAX_EDGES:
        raise InfeasibleError
    kept = edges[rng.random(len(edges)) >= flip]
    return np.concatenate([kept, random_non_edges(n, edges, rng.binomial(others, flip), rng)])


def randomized_response(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """Louvain on the graph of randomised response."""
    return louvain(A.shape[0], flipped_pairs(A, epsilon, rng))


def top_m_pairs(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """Edges of the graph of TmF (NIR15): all pairs get Laplace noise, the m~ largest become edges, m~ the noisy m.

    As there, pairs above a threshold theta stand for the largest: theta is where the expected number of pairs
    above it is m~, of the edges they are drawn one by one, of the others as many as are missing.
    """
    n, edges = A.shape[0], upper_pairs(A)
    pairs, spent = n * (n - 1) / 2, _EDGE_COUNT["tmf"] * epsilon
    wanted = float(np.clip(len(edges) + rng.laplace(scale=1 / spent), 1, pairs / 2 - 1))
    rest, odds = epsilon - spent, math.log(pairs / wanted - 1)
    theta = 0.5 + odds / (2 * rest) if rest > odds else math.log((pairs / wanted - 1) / 2 + math.exp(rest) / 2) / rest
    kept = edges[1 + rng.laplace(scale=1 / rest, size=len(edges)) > theta]
    missing = max(0, round(wanted) - len(kept))
    return np.concatenate([kept, random_non_edges(n, edges, missing, rng)])


def top_m_filter(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """Louvain on the graph of TmF."""
    return louvain(A.shape[0], top_m_pairs(A, epsilon, rng))


def group_matrix(A: sparse.csr_array, groups: IntArray) -> FloatArray:
    """Edges between every two groups and inside each (upper triangle): one pair of vertices moves one entry by 1."""
    count, edges = int(groups.max()) + 1, upper_pairs(A)
    low, high = np.sort(groups[edges], axis=1).T
    return np.bincount(low * count + high, minlength=count**2).reshape(count, count).astype(float)


def random_groups(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """A random partition of n vertices into groups of `size`."""
    return rng.permutation(n) // size


def louvain_dp(A: sparse.csr_array, epsilon: float, rng: np.random.Generator, size: int) -> IntArray:
    """LouvainDP (NIR16): Louvain on a noisy graph of random groups of `size` vertices.

    Weights between groups get two-sided geometric noise; a high-pass filter (CPST12) keeps those of at
    least theta, chosen so that about as many empty entries pass as the graph has (noisy) edges.
    """
    groups = random_groups(A.shape[0], size, rng)
    counts = group_matrix(A, groups)
    k, spent = len(counts), min(_EDGE_COUNT["louvain_dp"], epsilon / 10)
    rest, cells = epsilon - spent, k * (k + 1) / 2
    alpha, wanted = math.exp(-rest), counts.sum() + rng.laplace(scale=1 / spent)
    empty = cells - wanted
    theta = 1 if wanted <= 0 or empty <= 0 else max(1, math.ceil(-math.log((1 + alpha) * wanted / empty) / rest))
    rows, columns = np.triu_indices(k)
    noise = rng.geometric(1 - alpha, size=(2, rows.size)).astype(np.int32)
    weights = counts[rows, columns] + noise[0] - noise[1]
    kept = np.flatnonzero(weights >= theta)
    return louvain(k, np.column_stack([rows[kept], columns[kept]]), weights[kept])[groups]


def same_total(noisy: FloatArray) -> FloatArray:
    """Nearest values that are not negative and have the same total (NormSub)."""
    if noisy.sum() <= 0:
        return np.maximum(noisy, 0)
    descending = np.sort(noisy)[::-1]
    shifts = (np.cumsum(descending) - noisy.sum()) / np.arange(1, noisy.size + 1)
    return np.maximum(noisy - shifts[np.flatnonzero(descending > shifts)[-1]], 0)


def priv_graph(A: sparse.csr_array, epsilon: float, rng: np.random.Generator, size: int = 20) -> IntArray:
    """Partition of PrivGraph (YZD+23): Louvain on noisy random groups, then every vertex chooses its community again.

    The paper gives a third of epsilon to each stage and one to its synthetic graph; here half to each stage.
    The choice is the exponential mechanism with weights e**(epsilon_2 count/2), count the edges to a community
    of the first stage. A pair counts at both of its ends, at each in one score that only rises: e**(epsilon_2/2) each.
    """
    n, half = A.shape[0], epsilon / 2
    groups = random_groups(n, size, rng)
    counts = group_matrix(A, groups)
    rows, columns = np.triu_indices(len(counts))
    weights = same_total(counts[rows, columns] + rng.laplace(scale=1 / half, size=rows.size))
    kept = weights > 0
    first = louvain(len(counts), np.column_stack([rows[kept], columns[kept]]), weights[kept])[groups]
    scores = A @ np.eye(first.max() + 1)[first]
    return np.argmax(half / 2 * scores + gumbel_r.rvs(size=scores.shape, random_state=rng), axis=1)


@njit(cache=True)
def _metropolis(indptr, indices, parent, labels, k, beta, steps, rng):
    """Single-vertex Metropolis steps on weights e**(beta S), in every set of `parent` on its own, in place.

    S = (edges inside labels) - sum of (degree sum of a label)**2/(4 m), of the graph inside the set.
    """
    n, sets = len(parent), parent.max() + 1
    degree, volume, twice = np.zeros(n), np.zeros((sets, k)), np.zeros(sets)
    for i in range(n):
        for j in indices[indptr[i] : indptr[i + 1]]:
            degree[i] += parent[j] == parent[i]
        volume[parent[i], labels[i]] += degree[i]
        twice[parent[i]] += degree[i]
    for _ in range(steps):
        i = rng.integers(0, n)
        s, old = parent[i], labels[i]
        new = (old + 1 + rng.integers(0, k - 1)) % k
        gain = 0.0
        for j in indices[indptr[i] : indptr[i + 1]]:
            if parent[j] == s:
                gain += (labels[j] == new) - (labels[j] == old)
        if twice[s] > 0:
            gain -= degree[i] * (volume[s, new] - volume[s, old] + degree[i]) / twice[s]
        if gain >= 0 or rng.random() < math.exp(beta * gain):
            labels[i] = new
            volume[s, old] -= degree[i]
            volume[s, new] += degree[i]


def _best_cut(
    A: sparse.csr_array, levels: list[IntArray], k: int, epsilon: float, rng: np.random.Generator
) -> IntArray:
    """The antichain of the tree of largest noisy modularity: a pair moves 1 number at the root and 3 at each level."""
    edges, scale = upper_pairs(A), (3 * len(levels) - 2) / epsilon
    m = max(1.0, len(edges) + rng.laplace(scale=scale))
    own = [np.zeros(1)]  # what a vertex of the tree brings to modularity as one community; the root brings 0
    for depth, labels in enumerate(levels[1:], 1):
        inside = edges[labels[edges[:, 0]] == labels[edges[:, 1]]]
        count = np.bincount(labels[inside[:, 0]], minlength=k**depth)
        volume = np.bincount(labels[edges.ravel()], minlength=k**depth)
        noisy = np.stack([count, volume]) + rng.laplace(scale=scale, size=(2, k**depth))
        own.append(noisy[0] / m - (noisy[1] / (2 * m)) ** 2)
    best, split = own[-1], []
    for values in own[-2::-1]:
        below = best.reshape(-1, k).sum(axis=1)
        split.insert(0, below > values)
        best = np.maximum(below, values)
    found, open_ = np.zeros(A.shape[0], dtype=np.int64), np.ones(A.shape[0], dtype=bool)
    for depth, further in enumerate(split):
        open_ = open_ & further[levels[depth]]
        found = np.where(open_, k ** (depth + 1) + levels[depth + 1], found)  # depths do not share numbers
    return np.unique(found, return_inverse=True)[1]


def mod_divisive(
    A: sparse.csr_array, epsilon: float, rng: np.random.Generator, score_range: float, k: int = 4, depth: int = 2
) -> IntArray:
    """ModDivisive (NIR16): a k-ary tree of vertex sets, each split by the exponential mechanism, or nearly.

    Levels get epsilons in the ratio 2 : 1, sets of one level share theirs (they have no pair in common), 5 % buys
    the noisy modularities of the best cut through the tree. With m Q = (edges inside) - sum D_c**2/(4 m), one edge
    changes m Q by between -1/2 (the labels of its ends hold all) and 2 (both ends in an empty label), so
    e**(epsilon m Q/2.5) is epsilon-DP: `EXACT_RANGE`. The paper has 3 for the largest change, so 6: `PUBLISHED_RANGE`.
    Both hold for the limit of the Markov chain that draws the split. After its 50 n steps nothing is proved.
    """
    n = A.shape[0]
    shares = 2.0 ** -np.arange(depth)
    shares *= 0.95 / shares.sum()
    levels = [np.zeros(n, dtype=np.int64)]
    for share in shares:
        labels = rng.integers(k, size=n)
        _metropolis(A.indptr, A.indices, levels[-1], labels, k, share * epsilon / score_range, 50 * n, rng)
        levels.append(levels[-1] * k + labels)
    return _best_cut(A, levels, k, 0.05 * epsilon, rng)


def embedding_kmeans(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """k-means on rows of `private_normalized_adjacency`, which spends delta = 1e-6.

    The number of clusters, of 2, 4, 8 and 16, is the best one for the *true* modularity, which is not private: a gift.
    """
    from sklearn.cluster import KMeans

    private = dpgraph.private_normalized_adjacency(A, epsilon=epsilon, delta=DELTA, rng=rng)
    rows = np.asarray(private.embedding())
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    g, seed = igraph.Graph(A.shape[0], upper_pairs(A)), int(rng.integers(2**31))
    found = [KMeans(k, n_init=2, random_state=seed).fit_predict(rows) for k in (2, 4, 8, 16)]
    return max(found, key=lambda labels: g.modularity(labels.tolist()))


def ours(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """The package, with nothing chosen by hand."""
    return np.asarray(dpgraph.private_communities(A, epsilon=epsilon, rng=rng).labels)
