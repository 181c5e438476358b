"""Bounds and assignments variable after variable, where the linear relaxation is tight: `search="optimal"` and before.

The frontier of a prefix of the variables are those with neighbours to come. Of two prefixes that agree on it only the
cheaper one is kept; none whose bound reaches the cost of a known assignment; and of the others only the most promising
(restricted decision diagrams: Bergman, Cire, van Hoeve, Hooker 2016). What those that were left out cost at least
bounds every assignment. Where none was left out, the best is proven, though the treewidth may be large.

Messages move costs between tables and labels first, so that what is to come costs little beside a constant. A prefix
costs at least what it has paid, and for each variable to come the least that a label of it costs beside the frontier.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.sos.csp.depth_first import IntegerCosts
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray, IntArray

_FEWEST, _GROWTH = 2**8, 4  # prefixes that are kept at first, and times as many in the next turn
_ENTRIES, _KEPT = 2**24, 10**8  # of all labels of all prefixes, and prefixes of all lengths: half a gigabyte
_MOST_CONSTRAINTS = 3000  # of which a turn takes a second
_PARTS = 256  # of a unit of the values, in which costs are moved
_HEADROOM = 2.0**60


@dataclass(frozen=True, eq=False)
class _Costs:
    """Nonnegative whole costs, in parts of those of the instance, of variables in the order in which they are taken."""

    order: IntArray
    single: IntArray  # (n, q)
    neighbours: list[list[tuple[int, IntArray]]]  # of each variable, with the costs [its label, the neighbour's]
    constant: int
    first_labels: list[int]  # of the first variables: by symmetry others need not be tried

    @classmethod
    def of(cls, objective: CSPObjective, costs: IntegerCosts, moved: FloatArray, parts: int) -> _Costs:
        """Costs of tables are `moved` to their ends, (2, m, q) in units of the value, as far as they are whole."""
        n, q = objective.unary.shape
        (u, v), m = objective.pairs.T, len(objective.pairs)
        shifts = np.rint((moved - moved.min(axis=2, initial=math.inf, keepdims=True)) * (parts / costs.unit))
        if float(shifts.sum()) > _HEADROOM:
            shifts = np.zeros_like(shifts)
        first, second = shifts.astype(np.int64)
        tables = parts * costs.pair - first[:, :, None] - second[:, None, :]
        least = tables.min(axis=(1, 2), initial=2**62)
        single = parts * costs.single
        np.add.at(single, u, first)
        np.add.at(single, v, second)
        graph = sparse.coo_array((np.ones(m), (u, v)), shape=(n, n)).tocsr()
        order = sparse.csgraph.reverse_cuthill_mckee(sparse.csr_array(graph + graph.T), symmetric_mode=True)[::-1]
        place = np.argsort(order)
        neighbours: list[list[tuple[int, IntArray]]] = [[] for _ in range(n)]
        for i, j, table in zip(place[u].tolist(), place[v].tolist(), tables - least[:, None, None], strict=True):
            neighbours[i].append((j, table))
            neighbours[j].append((i, np.ascontiguousarray(table.T)))
        several = objective.has_interchangeable_labels
        labels = range(1, q) if several else [1] if objective.has_label_symmetry else []
        return cls(order, single[order], neighbours, int(least.sum()), list(labels))

    def beside(self, w: int, prefixes: dict[int, NDArray[np.uint8]], size: int) -> IntArray:
        """What the labels of a variable to come cost beside the frontiers of so many prefixes, (size, q)."""
        total = np.repeat(self.single[w][None, :], size, axis=0)
        for u, table in self.neighbours[w]:
            if u in prefixes:
                total += table.T[prefixes[u]]
        return total


def search_frontier(
    objective: CSPObjective, labels: IntArray, moved: FloatArray, most: int, deadline: float
) -> tuple[IntArray, float]:
    """The labels, or better ones, and a bound on all assignments, once costs are `moved` from tables to labels.

    It keeps more prefixes in each turn, up to `most`, as long as turns like the last one will be enough.
    """
    n, q = objective.unary.shape
    costs = IntegerCosts.of(objective)
    known, parts = costs.cost(objective, labels), _PARTS if objective.unit else 1
    if not 0 < len(objective.pairs) <= _MOST_CONSTRAINTS or q > 256:
        return labels, math.inf
    C = _Costs.of(objective, costs, -moved, parts)
    least, most, keep = C.constant + int(C.single.min(axis=1).sum()), min(most, _ENTRIES // q, _KEPT // n), _FEWEST
    while keep <= most and least < parts * known:
        found, cost, reached = _turn(C, parts * known, keep, deadline)
        if found is not None:
            labels, known = found, cost // parts
        before, least = least, max(least, min(reached, parts * known))
        turns = math.log(most / keep, _GROWTH)
        if parts * known - least > 2.0 * turns * (least - before) or time.monotonic() >= deadline or time_is_up():
            break
        keep *= _GROWTH
    return labels, costs.bound(-(-least // parts))


def _turn(C: _Costs, limit: int, keep: int, deadline: float) -> tuple[IntArray | None, int, int]:
    """Labels of a cost below a limit, or None; that cost, or the limit; what every other assignment costs at least."""
    n, q = C.single.shape
    prefixes: dict[int, NDArray[np.uint8]] = {}
    bounds, least = np.array([C.constant + int(C.single.min(axis=1).sum())]), limit
    parents, chosen = list[NDArray[np.int32]](), list[NDArray[np.uint8]]()
    for v in range(n):
        if time.monotonic() >= deadline or time_is_up():
            return None, limit, min(least, int(bounds.min()))
        own = C.beside(v, prefixes, len(bounds))
        usable = C.first_labels[v] if v < len(C.first_labels) else q
        children = (bounds - own.min(axis=1))[:, None] + own[:, :usable]
        parent, label = np.nonzero(children < limit)
        bounds = children[parent, label]
        for w, table in C.neighbours[v]:
            if w > v:
                before = C.beside(w, prefixes, len(own))
                rise = (before[parent] + table[label]).min(axis=1) - before.min(axis=1)[parent]
                bounds = bounds + rise
                open_ = bounds < limit
                parent, label, bounds = parent[open_], label[open_], bounds[open_]
        if not bounds.size:
            return None, limit, least
        ahead = {u for u in (*prefixes, v) if any(w > v for w, _ in C.neighbours[u])}
        prefixes = {u: of[parent] for u, of in prefixes.items() if u in ahead}
        if v in ahead:
            prefixes[v] = label.astype(np.uint8)
        kept = _cheapest(prefixes, bounds, q)
        if kept.size > keep:
            kept = kept[np.argsort(bounds[kept], kind="stable")]
            least = min(least, int(bounds[kept[keep]]))
            kept = np.sort(kept[:keep])
        prefixes = {u: of[kept] for u, of in prefixes.items()}
        bounds = bounds[kept]
        parents.append(parent[kept].astype(np.int32))
        chosen.append(label[kept].astype(np.uint8))
    labels, at = np.empty(n, dtype=np.int64), 0
    for v in range(n - 1, -1, -1):
        labels[C.order[v]], at = chosen[v][at], parents[v][at]
    return labels, int(bounds[0]), least


def _cheapest(prefixes: dict[int, NDArray[np.uint8]], bounds: IntArray, q: int) -> IntArray:
    """The numbers of the cheapest of all prefixes that agree on the frontier; without a frontier, of one."""
    columns = list(prefixes.values())
    together = int(62 / math.log2(max(q, 2)))  # labels in a number
    words = [np.zeros(bounds.size, dtype=np.int64)]
    for k, column in enumerate(columns):
        if k % together == 0:
            words.append(np.zeros(bounds.size, dtype=np.int64))
        words[-1] = words[-1] * q + column
    order = np.lexsort((bounds, *words))
    new = np.ones(order.size, dtype=bool)
    new[1:] = np.any([word[order][1:] != word[order][:-1] for word in words], axis=0)
    return np.asarray(order[new])
