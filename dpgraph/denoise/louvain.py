"""Communities of a released graph by Louvain's method: vertices move to the neighbouring community that gains most.

When no vertex gains by a move, communities become the vertices of a smaller graph, and so on. The whole is repeated
from what was found, where single vertices may move again, until that changes nothing.

References
----------
V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", 2008;
V. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden", 2019 (the queue, the repetition).
"""

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.denoise.modularity import sums_between
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray

#: Repetitions of a run, at most.
_REPETITIONS = 10
#: A move gains at least this part of the total weight: smaller gains are rounding errors.
_LEAST_RISE = 1e-12


def louvain(weights: sparse.csr_array, resolution: float, rng: np.random.Generator, *, runs: int = 3) -> IntArray:
    """Labels 0, 1, ... of high modularity: the best of some runs, from different orders of the vertices.

    Weights are public, symmetric, not negative, without a diagonal; the randomness is public too.

    >>> A = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)))
    >>> louvain(A, 1.0, np.random.default_rng(0)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    found = [_one_run(weights, resolution, rng) for _ in range(runs)]
    return max(found, key=lambda labels: modularity_of(sums_between(weights, labels), resolution))


def _one_run(weights: sparse.csr_array, resolution: float, rng: np.random.Generator) -> IntArray:
    labels = np.arange(weights.shape[0])
    for repetition in range(_REPETITIONS):
        moved = _move_all(weights, labels, resolution, rng)
        labels = _numbered(labels)
        while True:
            smaller = sums_between(weights, labels)
            groups = np.arange(smaller.shape[0])
            if not _move_all(smaller, groups, resolution, rng):
                break
            moved = True
            labels = _numbered(groups)[labels]
        if repetition and not moved:
            break
    return labels


def _numbered(labels: IntArray) -> IntArray:
    """The same groups as numbers 0, 1, ..."""
    return np.unique(labels, return_inverse=True)[1]


def modularity_of(between: sparse.csr_array, resolution: float) -> float:
    """Modularity by public weights between groups, those inside counted twice."""
    total = float(between.sum())
    if not total > 0:
        return 0.0
    volumes = between.sum(axis=1) / total
    return float(between.diagonal().sum()) / total - resolution * float(volumes @ volumes)


def _move_all(weights: sparse.csr_array, labels: IntArray, resolution: float, rng: np.random.Generator) -> bool:
    """Move vertices until none gains, in place; whether one has moved."""
    volumes = np.asarray(weights.sum(axis=1), dtype=np.float64)
    total = float(volumes.sum())
    if not total > 0:
        return False
    order = rng.permutation(labels.size)
    moves = at_once(_moves, 4 * weights.nnz)
    return bool(on_thread(moves, Rows.of(weights), volumes, labels, resolution / total, order, _LEAST_RISE * total))


@njit(nogil=True)
def _moves(
    rows: Rows, volumes: FloatArray, labels: IntArray, price: float, queue: IntArray, least: float, stop: Stop
) -> bool:
    """Vertices leave the queue one after another; those that a move may concern come back to its end."""
    indptr, indices, data = rows
    n = volumes.size
    sums, links = np.zeros(n), np.zeros(n)
    for i in range(n):
        sums[labels[i]] += volumes[i]
    near = np.empty(n, dtype=np.int64)
    waits = np.ones(n, dtype=np.bool_)
    head, waiting, moved = 0, n, False
    while waiting > 0 and not stop[0]:
        i = queue[head]
        head, waiting, waits[i] = (head + 1) % n, waiting - 1, False
        own, found = labels[i], 1
        near[0] = own
        for place in range(indptr[i], indptr[i + 1]):
            label = labels[indices[place]]
            if indices[place] != i:
                if label != own and links[label] == 0.0:
                    near[found] = label
                    found += 1
                links[label] += data[place]
        sums[own] -= volumes[i]
        best, most = own, links[own] - price * volumes[i] * sums[own]
        for label in near[1:found]:
            gain = links[label] - price * volumes[i] * sums[label]
            if gain > most + least:
                best, most = label, gain
        sums[best] += volumes[i]
        for label in near[:found]:
            links[label] = 0.0
        if best != own:
            labels[i], moved = best, True
            for place in range(indptr[i], indptr[i + 1]):
                j = indices[place]
                if j != i and not waits[j] and labels[j] != best:
                    queue[(head + waiting) % n] = j
                    waiting, waits[j] = waiting + 1, True
    return moved
