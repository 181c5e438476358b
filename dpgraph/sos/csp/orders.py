"""Orders in which the variables of a 2-CSP are eliminated so that tables stay small."""

import heapq
import math
from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np
from scipy import sparse

from dpgraph.threads import time_is_up
from dpgraph.typing import IntArray

#: Steps for all variables: ten seconds.
MOST_STEPS = 2**35


def elimination_order(n: int, q: int, pairs: IntArray, widest: int) -> tuple[list[int], float]:
    """An order by least fill-in and then least degree, of all that have at most `widest` neighbours then; the steps."""
    neighbours = _neighbours(n, pairs)
    order, steps, gone = list[int](), 0.0, set[int]()

    def keys(variables: Iterable[int]) -> Iterable[tuple[int, int, int]]:
        for v in variables:
            near = neighbours[v]
            if len(near) <= widest:
                if time_is_up():
                    return
                yield sum(b not in neighbours[a] for a, b in combinations(near, 2)), len(near), v

    heap = list(keys(range(n)))
    current = {entry[2]: entry for entry in heap}
    heapq.heapify(heap)
    while heap and steps <= MOST_STEPS and not time_is_up():
        entry = heapq.heappop(heap)
        v = entry[2]
        if current.get(v) != entry:
            continue
        steps += float(q) ** (len(neighbours[v]) + 1)
        order.append(v)
        gone.add(v)
        changed = join_neighbours(neighbours, v) - gone
        for u in (*changed, v):
            current.pop(u, None)
        for fresh in keys(changed):
            current[fresh[2]] = fresh
            heapq.heappush(heap, fresh)
    return order, steps if len(order) == n else math.inf


def level_order(n: int, q: int, pairs: IntArray, widest: int) -> tuple[list[int], float]:
    """The order of a search in breadth (Cuthill, McKee 1969), which is the better one on grids; the steps.

    They are infinite where a variable has more than `widest` neighbours then.
    """
    graph = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)).tocsr()
    order = sparse.csgraph.reverse_cuthill_mckee(graph + graph.T, symmetric_mode=True).tolist()
    neighbours, steps = _neighbours(n, pairs), 0.0
    for v in order:
        if len(neighbours[v]) > widest or steps > MOST_STEPS or time_is_up():
            return order, math.inf
        steps += float(q) ** (len(neighbours[v]) + 1)
        join_neighbours(neighbours, v)
    return order, steps


def _neighbours(n: int, pairs: IntArray) -> list[set[int]]:
    ends, others = np.append(pairs, pairs[:, ::-1], axis=0).T
    near = others[np.argsort(ends, kind="stable")].tolist()
    places = np.cumsum(np.bincount(ends, minlength=n)).tolist()
    return [set(near[first:last]) for first, last in pairwise([0, *places])]


def join_neighbours(neighbours: list[set[int]], v: int) -> set[int]:
    """Join the neighbours of v to each other, and take v away: the vertices whose fill-in may have changed."""
    near = neighbours[v]
    changed = set(near)
    for u in near:
        neighbours[u].discard(v)
    for a, b in combinations(near, 2):
        if b not in neighbours[a]:
            changed |= neighbours[a] & neighbours[b]
            neighbours[a].add(b)
            neighbours[b].add(a)
    return changed
