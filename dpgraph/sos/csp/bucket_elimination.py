"""Exact optima of 2-CSPs of small treewidth: variables are eliminated one after the other (Dechter 1999).

A variable v and the tables that mention it are replaced by one table on its neighbours, whose entries are the least
cost over the labels of v. In an order in which no table has more than w variables besides the eliminated one, that
takes time and room of q^(w+1) a variable: w = 1 for forests, 2 for series-parallel graphs and cacti. The order takes
next what adds the fewest pairs of neighbours (min-fill).
"""

from __future__ import annotations

import heapq
import math
import time
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpgraph.sos.csp.depth_first import IntegerCosts
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.proofs import EliminationProof
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.typing import IntArray

#: Entries of the largest table (a quarter of a gigabyte), and of all tables together (some seconds).
_LARGEST, _MOST = 2**25, 2**30

Table = NDArray[np.int64]
#: Variables in increasing order: the axes of a table.
Scope = tuple[int, ...]


def solve_by_elimination(objective: CSPObjective, options: SolverOptions) -> Solution | None:
    """The optimum, proven; None where the tables would be too large, or the time limit is not enough for them."""
    deadline = math.inf if options.time_limit is None else time.monotonic() + options.time_limit
    order = elimination_order(objective)
    if order is None:
        return None
    costs = IntegerCosts.of(objective)
    labels = _least_cost(objective, costs, order, deadline)
    if labels is None:
        return None
    return Solution.exact(
        objective, labels, costs.bound(costs.cost(objective, labels)), options, EliminationProof(order)
    )


def elimination_order(objective: CSPObjective) -> list[int] | None:
    """An order of small tables, by least fill-in and then least degree; None if there is none within the limits."""
    q, n = objective.alphabet_size, objective.n_variables
    widest = int(math.log(_LARGEST) / math.log(max(q, 2)) + 1e-9) - 1
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for u, v in objective.pairs.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)

    def key(v: int) -> tuple[int, int, int]:
        near = neighbours[v]
        missing = sum(b not in neighbours[a] for a, b in combinations(near, 2)) if len(near) <= widest else n**2
        return missing, len(near), v

    heap = [key(v) for v in range(n)]
    current = {entry[2]: entry for entry in heap}
    heapq.heapify(heap)
    order, entries = [], 0
    while heap:
        entry = heapq.heappop(heap)
        v = entry[2]
        if current.get(v) != entry:
            continue
        near = neighbours[v]
        entries += q ** (len(near) + 1) if len(near) <= widest else _MOST + 1
        if entries > _MOST:
            return None
        order.append(v)
        del current[v]
        for u in _eliminate(neighbours, v):
            if u in current and (changed := key(u)) != current[u]:
                current[u] = changed
                heapq.heappush(heap, changed)
    return order


def _eliminate(neighbours: list[set[int]], v: int) -> set[int]:
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


def _least_cost(objective: CSPObjective, costs: IntegerCosts, order: list[int], deadline: float) -> IntArray | None:
    """Labels of least total cost; None if time is up before."""
    tables: list[dict[Scope, Table]] = [{} for _ in order]  # by the variable of theirs that is eliminated first
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))

    def add(scope: Scope, table: Table) -> None:
        mine = tables[min(scope, key=place.__getitem__)]
        mine[scope] = mine[scope] + table if scope in mine else table

    for v, single in enumerate(costs.single):
        add((v,), single)
    for (u, v), pair in zip(objective.pairs.tolist(), costs.pair, strict=True):
        add((u, v), pair)
    choices: list[tuple[Scope, NDArray[np.int64]]] = []
    for v in order:
        if time.monotonic() >= deadline:
            return None
        scope, total = _joined(tables[v], v)
        tables[v] = {}
        choices.append((scope, total.argmin(axis=-1).astype(np.min_scalar_type(total.shape[-1]))))
        if scope:
            add(scope, total.min(axis=-1))
    labels = np.zeros(len(order), dtype=np.int64)
    for v, (scope, choice) in zip(reversed(order), reversed(choices), strict=True):
        labels[v] = choice[tuple(labels[list(scope)])]
    return labels


def _joined(tables: dict[Scope, Table], v: int) -> tuple[Scope, Table]:
    """The sum of the tables that mention v: its other variables, in increasing order, and v as the last axis."""
    scope = tuple(sorted({u for variables in tables for u in variables} - {v}))
    axis = {u: i for i, u in enumerate((*scope, v))}
    total = np.zeros((1,) * len(axis), dtype=np.int64)
    for variables, table in tables.items():
        axes = [axis[u] for u in variables]
        shape = np.ones(len(axis), dtype=np.int64)
        shape[axes] = table.shape
        total = total + np.transpose(table, np.argsort(axes)).reshape(shape)
    return scope, total
