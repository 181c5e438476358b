"""Private hierarchical random graphs, after Q. Xiao, R. Chen, K.-L. Tan (KDD 2014), who call them HRG.

A dendrogram is a binary tree whose leaves are the vertices. An inner node with n_L and n_R leaves on its two sides has
e edges between them, of N = n_L n_R pairs. Its log-likelihood is -N h(e/N), h the entropy in nats.
"""

from __future__ import annotations

import math

import numpy as np
from community_peers import upper_pairs
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["hrg", "likelihood_range"]

IntArray = NDArray[np.int64]

#: Proposed steps of the Markov chain, for each vertex.
STEPS = 300
#: A subtree gets one density where the pairs of its root times its epsilon are fewer.
_LEAST_PAIRS = 20


def likelihood_range(n: int) -> float:
    """Largest change of the log-likelihood of a dendrogram by one edge, which lies at one inner node.

    f(e) = -N h(e/N) is convex with f(0) = f(N) = 0, so steps of e by 1 change it most at the ends: by N h(1/N) =
    log N + (N - 1) log(N/(N - 1)), which grows with N <= n**2/4.
    """
    N = n**2 // 4
    return math.log(N) + (N - 1) * math.log(N / (N - 1)) if N > 1 else 0.0


@njit(cache=True)
def _likelihood(edges, pairs):
    if edges <= 0 or edges >= pairs:
        return 0.0
    p = edges / pairs
    return edges * math.log(p) + (pairs - edges) * math.log(1 - p)


@njit(cache=True)
def _leaves(node, n, left, right, stack, found):
    """Leaves below `node`, written to `found`; how many."""
    count, top = 0, 1
    stack[0] = node
    while top:
        top -= 1
        v = stack[top]
        if v < n:
            found[count] = v
            count += 1
        else:
            stack[top], stack[top + 1] = left[v - n], right[v - n]
            top += 2
    return count


@njit(cache=True)
def _between(one, other, tree, graph, room):
    """Edges between the leaves of two nodes."""
    (left, right, sizes), (indptr, indices), (stack, found, mark) = tree, graph, room
    n = len(mark)
    if sizes[one] > sizes[other]:
        one, other = other, one
    for k in range(_leaves(other, n, left, right, stack, found)):
        mark[found[k]] = True
    edges = 0
    for k in range(_leaves(one, n, left, right, stack, found)):
        for w in indices[indptr[found[k]] : indptr[found[k] + 1]]:
            edges += mark[w]
    for k in range(_leaves(other, n, left, right, stack, found)):
        mark[found[k]] = False
    return edges


@njit(cache=True)
def _walk(left, right, parent, sizes, edges, indptr, indices, beta, steps, rng):
    """Metropolis steps, in place: a random inner node r = (s, t) with sibling u becomes (s, u) with sibling t.

    Leaves are 0, ..., n - 1, inner nodes n, ..., 2 n - 2, the root n. The law is proportional to e**(beta log L).
    """
    n = len(indptr) - 1
    room = (np.empty(n + 2, dtype=np.int64), np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))
    for _ in range(steps):
        r = n + 1 + rng.integers(0, n - 2)
        p = parent[r]
        u = left[p - n] if right[p - n] == r else right[p - n]
        s, t = left[r - n], right[r - n]
        if rng.random() < 0.5:
            s, t = t, s
        moved = _between(s, u, (left, right, sizes), (indptr, indices), room)
        total = edges[r - n] + edges[p - n]
        old = _likelihood(edges[r - n], sizes[s] * sizes[t]) + _likelihood(edges[p - n], sizes[r] * sizes[u])
        new = _likelihood(moved, sizes[s] * sizes[u])
        new += _likelihood(total - moved, (sizes[s] + sizes[u]) * sizes[t])
        if rng.random() < math.exp(min(0.0, beta * (new - old))):
            left[r - n], right[r - n] = s, u
            left[p - n], right[p - n] = r, t
            parent[u], parent[t] = r, p
            sizes[r] = sizes[s] + sizes[u]
            edges[r - n], edges[p - n] = moved, total - moved


@njit(cache=True)
def _first_tree(order, left, right, parent, sizes):
    """Halves of halves of the order."""
    n = len(order)
    made, done = 1, 0
    low, high = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    high[0] = n
    while done < made:  # inner node n + done has the leaves order[low:high]
        middle = (low[done] + high[done]) // 2
        sizes[n + done] = high[done] - low[done]
        for side, (start, end) in enumerate(((low[done], middle), (middle, high[done]))):
            if end - start == 1:
                child = order[start]
                sizes[child] = 1
            else:
                child = n + made
                low[made], high[made] = start, end
                made += 1
            parent[child] = n + done
            if side == 0:
                left[done] = child
            else:
                right[done] = child
        done += 1


@njit(cache=True)
def _lowest_common(pairs, parent, n, count):
    """How many pairs have each inner node as their lowest common ancestor."""
    edges = np.zeros(count, dtype=np.int64)
    depth = np.zeros(2 * n - 1, dtype=np.int64)
    for v in range(2 * n - 1):
        w = v
        while w != n:
            w = parent[w]
            depth[v] += 1
    for k in range(len(pairs)):
        i, j = pairs[k]
        while i != j:
            if depth[i] >= depth[j]:
                i = parent[i]
            else:
                j = parent[j]
        edges[i - n] += 1
    return edges


def dendrogram(
    A: sparse.csr_array, beta: float, steps: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Children of inner nodes, leaves below all nodes, and edges at inner nodes, after steps of the Markov chain."""
    n = A.shape[0]
    left, right, parent, sizes = (np.zeros(size, dtype=np.int64) for size in (n - 1, n - 1, 2 * n - 1, 2 * n - 1))
    _first_tree(rng.permutation(n), left, right, parent, sizes)
    edges = _lowest_common(upper_pairs(A), parent, n, n - 1)
    _walk(left, right, parent, sizes, edges, A.indptr, A.indices, beta, steps, rng)
    return left, right, sizes, edges


def hrg(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> IntArray:
    """Edges of a graph drawn from a private dendrogram and noisy densities; half of epsilon for each.

    Dendrogram: weights e**(epsilon_1 log L/(2 D)), D = `likelihood_range`. That is the limit of the Markov chain; for
    the `STEPS` n steps that it makes nothing is proved. Densities: each pair lies at one inner node, so Laplace noise
    of scale 1/epsilon_2 on every e is enough. From the root down, a node whose pairs are fewer than 20/epsilon_2 and
    all below it have one density, of the noisy number of edges of the whole subtree (simpler than the published rule).
    """
    n, half = A.shape[0], epsilon / 2
    left, right, sizes, edges = dendrogram(A, half / (2 * likelihood_range(n)), STEPS * n, rng)
    drawn, open_ = [np.empty((0, 2), dtype=np.int64)], [n]
    while open_:
        r = open_.pop()
        ends = left[r - n], right[r - n]
        if sizes[ends[0]] * sizes[ends[1]] * half >= _LEAST_PAIRS:
            sides = [_vertices(end, n, left, right) for end in ends]
            number = _noisy_number(int(edges[r - n]), sides[0].size * sides[1].size, half, rng)
            cells = rng.choice(sides[0].size * sides[1].size, number, replace=False)
            drawn.append(np.column_stack([sides[0][cells // sides[1].size], sides[1][cells % sides[1].size]]))
            open_ += [end for end in ends if end >= n]
        else:
            inside = _vertices(r, n, left, right)
            rows, columns = np.triu_indices(inside.size, 1)
            below = sum(int(edges[v - n]) for v in _inner(r, n, left, right))
            cells = rng.choice(rows.size, _noisy_number(below, rows.size, half, rng), replace=False)
            drawn.append(np.column_stack([inside[rows[cells]], inside[columns[cells]]]))
    return np.sort(np.concatenate(drawn), axis=1)


def _noisy_number(edges: int, pairs: int, epsilon: float, rng: np.random.Generator) -> int:
    """How many of the pairs become edges: binomial, with the noisy density."""
    return int(rng.binomial(pairs, np.clip((edges + rng.laplace(scale=1 / epsilon)) / pairs, 0, 1)))


def _vertices(node: int, n: int, left: IntArray, right: IntArray) -> IntArray:
    found = np.empty(n, dtype=np.int64)
    return found[: _leaves(node, n, left, right, np.empty(n + 2, dtype=np.int64), found)]


def _inner(node: int, n: int, left: IntArray, right: IntArray) -> list[int]:
    """The inner nodes of a subtree."""
    found, open_ = [], [node]
    while open_:
        v = open_.pop()
        if v >= n:
            found.append(v)
            open_ += [int(left[v - n]), int(right[v - n])]
    return found
