"""Local search among cuts near balance, or among all of them: multilevel, and annealed.

The annealing has a price on imbalance (Johnson, Aragon, McGeoch, Schevon 1989), repairs, and exchanges two vertices
(Kernighan, Lin 1970).
"""

import time
from collections.abc import Iterable

import numpy as np

from dpgraph.sos.cut.annealing import passed
from dpgraph.sos.cut.flows import can_flow, cut_by_flow
from dpgraph.sos.cut.multilevel import multilevel_cut, refined
from dpgraph.sos.cut.objective import UNCOMPILED, SparseObjective, annealed
from dpgraph.sos.cut.rounding import Population
from dpgraph.sos.watch import Watch
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray

# Temperatures in units of the mean row norm of M; the price is this share of the temperature, so that the imbalance
# keeps fluctuating by a few vertices until the end.
HOT, WARM, _COLD = 0.45, 0.15, 0.05
_PRICE = 0.1
SWEEPS = 200
_PARENTS = (0, 2, 1, 2)  # of multilevel cuts in turn: what they agree on is merged


class Evolution:
    """Cuts near balance, one after the other: multilevel ones, and annealed ones.

    Once there are as many as are kept, most multilevel cuts merge what one or two of them agree on. The best is
    annealed from a random temperature; each time in vain twice as many multilevel cuts come before the next, up to as
    many as are kept, as annealing suits graphs with hubs and not meshes.
    """

    def __init__(
        self, objective: SparseObjective, kept: Population, largest: int, rng: np.random.Generator, watch: Watch
    ) -> None:
        self._objective, self._kept, self._largest, self._rng, self._watch = objective, kept, largest, rng, watch
        self._wait, self._left, self._flows = 1, 1, can_flow(objective)

    def next(self, number: int) -> FloatArray:
        """The next cut, which is to enter those that are kept before another one; it has a `number`."""
        kept = self._kept
        if self._left == 0:
            hot, sweeps = self._rng.uniform(WARM, HOT), self._watch.options.sweeps
            best = kept.in_order()[:, :1]
            cut = anneal_balanced(self._objective, best, self._largest, self._rng, sweeps=sweeps, hot=hot)[:, 0]
            better = self._objective.cut_value(cut) > self._watch.value
            self._left = self._wait = 1 if better else min(2 * self._wait, kept.keep)
            return cut
        self._left -= 1
        few = _PARENTS[number % len(_PARENTS)] if number >= kept.keep else 0
        parents = self._rng.permutation(kept.values.size)[:few]
        cut = multilevel_cut(self._objective.rows, self._largest, self._rng, kept.cuts[:, parents])
        return _after_flows(self._objective, cut, self._largest) if self._flows else cut


def search_near_balance(
    objective: SparseObjective,
    cuts: FloatArray,
    largest: int,
    rng: np.random.Generator,
    watch: Watch,
    deadline: float,
    numbers: Iterable[int],
) -> FloatArray:
    """The best of `cuts`, and of those of some `numbers` of an :class:`Evolution`, until the deadline."""
    kept = Population(objective, cuts, 2 * watch.options.starts)
    evolution = Evolution(objective, kept, largest, rng, watch)
    for number in numbers:
        began = time.monotonic()
        watch.found(kept.enter(evolution.next(number)))
        if 2.0 * time.monotonic() - began >= deadline or watch.done():  # another one would end too late
            break
    return kept.in_order()


def _after_flows(objective: SparseObjective, cut: FloatArray, largest: int) -> FloatArray:
    """The cut after flows and passes of flips, until these gain nothing."""
    while not time_is_up():
        other = repair_and_swap(objective, cut_by_flow(objective, cut), largest)
        if objective.cut_value(cut) >= objective.cut_value(other):
            break
        cut = other
    return cut


def repair_and_swap(objective: SparseObjective, signs: FloatArray, imbalance: int) -> FloatArray:
    """Balance each cut, shape (n,) or (n, c), and improve it by passes of flips, past losses too.

    Afterwards |sum x| <= imbalance, which is a number of the parity of n.
    """
    if objective.n_vertices <= UNCOMPILED:
        M, tol = objective.as_array(), 1e-10 * float(objective.row_norms.max(initial=0.0))
        return passed(M, signs.reshape(len(signs), -1), imbalance, tol).reshape(signs.shape)
    return refined(objective.rows, np.ones(objective.n_vertices), signs, float(imbalance))


def anneal_balanced(
    objective: SparseObjective,
    signs: FloatArray,
    imbalance: int,
    rng: np.random.Generator,
    *,
    sweeps: int | None = None,
    hot: float = HOT,
    keep: int | None = None,
) -> FloatArray:
    """Anneal each column of `signs` (n, c) near balance, from `hot` mean row norms down, then repair and swap.

    With `keep` that is done only with so many of the best, where a vertex too many costs half a mean row norm.
    """
    norms = objective.row_norms
    if not norms.any():
        return repair_and_swap(objective, signs[:, :keep], imbalance)
    unit = float(norms[norms > 0.0].mean())
    temperatures = np.linspace(hot, _COLD, min(SWEEPS, len(signs)) if sweeps is None else sweeps) * unit
    prices, seed = 4.0 * _PRICE * temperatures, int(rng.integers(2**63))
    cooled = annealed(objective, np.ones(len(signs)), prices, signs, temperatures, 0.0, seed)
    if keep is not None:
        worth = objective.values(cooled) - 0.5 * unit * np.maximum(np.abs(cooled.sum(axis=0)) - imbalance, 0.0)
        cooled = cooled[:, np.argsort(-worth, kind="stable")[:keep]]
    return repair_and_swap(objective, cooled, imbalance)
