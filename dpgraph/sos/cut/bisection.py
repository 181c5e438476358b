"""Max-bisection: the degree-2 relaxation with the balance constraint, conditioning, and balanced local search."""

import itertools
import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.cut.base import CutObjective, rounding_slack
from dpgraph.sos.cut.certificate import proof_of, trivial_certificate
from dpgraph.sos.cut.conditioning import condition
from dpgraph.sos.cut.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.cut.multilevel_search import HOT, WARM, anneal_balanced, repair_and_swap, search_near_balance
from dpgraph.sos.cut.objective import SparseObjective, penalise_imbalance
from dpgraph.sos.cut.rounding import Population, best_columns
from dpgraph.sos.cut.search import REPEATS_OF_QUICK, SHARE_OF_QUICK, local_search
from dpgraph.sos.cut.solver import SHARE_OF_ROOT, close_gap, found_alone, round_nodes, round_root
from dpgraph.sos.definiteness import DENSE_LIMIT
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import WORTH, Solution, floored, to_beat
from dpgraph.sos.watch import Watch
from dpgraph.threads import time_is_up, within
from dpgraph.typing import FloatArray

_PENALTIES = 12
_CLOSE = 1e-5  # of the value: what a better penalty is worth
_SMALL = 300  # vertices up to which many cuts are annealed side by side
_SIDE_BY_SIDE, _REPEATS = 32, 6  # cuts of a round, and rounds in vain after which there is none
_REFINED = 2  # of these
_ENTRIES, _MOST = 1e7, 300  # of the matrix, all cuts of a search together: a few seconds
_SHARE_OF_CUTS = 0.5  # of the vertices, as few of them need fewer cuts
_SHARE_OF_SEARCH = 0.7  # of the time, if there is a limit
_SHARE_OF_PENALTIES = 0.3  # of what is left after the search and the first relaxation
_LONGER = 10.0  # that the first relaxation takes, if the one without a penalty is solved by a cut
_SHARE = 0.15  # of the time that is left, if there is a limit, for each relaxation


def solve_bisection(
    objective: SparseObjective, imbalance: int, options: SolverOptions, rng: int | np.random.Generator | None = None
) -> Solution:
    """The best cut, and an upper bound, among those whose sides differ by at most `imbalance` >= the parity of n."""
    n = objective.n_vertices
    largest = largest_sum(n, imbalance)
    generator = as_generator(rng)
    watch = Watch(objective, options, "max-bisection")
    watch.bound = floored(objective, trivial_certificate(objective).bound)
    search = None if n <= _SMALL else local_search(objective, watch, generator, largest)
    known_cuts, (first, later) = np.empty((n, 0)), _numbers(objective, options)
    if options.initial is not None:
        known_cuts = repair_and_swap(objective, np.asarray(1.0 - 2.0 * options.initial[:, None]), largest)
    if options.local_search and n <= _SMALL:
        known_cuts = _search_small(objective, known_cuts, largest, generator, watch, watch.until(_SHARE_OF_SEARCH))
    elif search is not None:
        share = SHARE_OF_QUICK if search.dense else _SHARE_OF_SEARCH
        known_cuts = search.run(known_cuts, watch.until(share), REPEATS_OF_QUICK)
    elif options.local_search:
        end = watch.until(_SHARE_OF_SEARCH)
        known_cuts = search_near_balance(objective, known_cuts, largest, generator, watch, end, first)
    if known_cuts.size and time_is_up():
        return found_alone(watch, objective, (np.arange(n), np.copy), known_cuts[:, 0])
    began = time.monotonic()
    share = SHARE_OF_ROOT if search is not None and search.dense else _SHARE  # the search soon comes to good cuts then
    free = _relaxed(objective, generator, watch, share, tol=options.tol)
    penalised, penalty, root = _balanced_relaxation(objective, free, largest, generator, watch, began)
    cuts = known_cuts
    if not known_cuts.size or not (watch.done() or _broken_off(root)):
        rounded = round_root(objective, root, options, generator)
        rounded = rounded[:, :_REFINED] if known_cuts.size and (n <= _SMALL or search is not None) else rounded
        cuts = np.hstack([known_cuts, repair_and_swap(objective, rounded, largest)])
    known = float(objective.values(cuts).max())
    beat = to_beat(objective, known)
    if objective.unit and not watch.done():
        root = close_gap(penalised, root, beat - penalty * largest**2, generator, deadline=watch.until(_SHARE))
    allowance, rounding = _allowance(root, penalty, largest)
    weights = objective.vertex_weights()
    watch.step(known, min(free.certificate.bound, root.certificate.bound + allowance + rounding))
    tree = condition(
        penalised, root, options, generator, weights=weights, lower_bound=beat - allowance,
        on_seed=lambda bound: watch.seed(bound + allowance + rounding), deadline=watch.until(_SHARE),
    )  # fmt: skip
    pinned = [node for node in tree.nodes if len(node.pins) > 1 or options.as_analysed]
    if pinned and not watch.done():
        rounded = round_nodes(objective, pinned, np.empty((n, 0)), options, generator)
        cuts = np.hstack([cuts, repair_and_swap(objective, rounded, largest)])
    cuts = best_columns(objective, cuts, options.starts)
    bound = min(free.certificate.bound, tree.upper_bound + allowance + rounding)
    watch.found(float(objective.values(cuts).max()), bound)
    if options.local_search and not watch.done():
        if search is None:
            cuts = search_near_balance(objective, cuts, largest, generator, watch, watch.until(1.0), later)
        elif options.time_limit is not None:
            cuts = search.run(cuts, watch.until(1.0))
    watch.step()
    cut = best_columns(objective, cuts, 1)[:, 0]
    kind = free.certificate.kind if bound == free.certificate.bound else tree.kind
    trace = tuple(entry.shifted(allowance, rounding) for entry in tree.trace)
    proofs = [proof_of(root.certificate, penalty), proof_of(free.certificate)]
    if free.certificate.bound <= root.certificate.bound + allowance:
        proofs.reverse()
    proof = proofs[isinstance(proofs[0], str)]
    labels = (cut != cut[0]).astype(np.int64)
    return Solution.of(objective, labels, bound=bound, kind=kind, trace=trace, proof=proof)


def largest_sum(n: int, imbalance: int) -> int:
    """The largest |sum x| of n signs whose two sides differ by at most `imbalance`: it has the parity of n."""
    largest = min(imbalance, n)
    return largest - (largest - n) % 2


def _relaxed(
    objective: CutObjective, rng: np.random.Generator, watch: Watch, share: float = _SHARE, **given: Any
) -> LowRankSolution:
    """The relaxation, all of whose steps obey its share of the time."""
    deadline = watch.until(share)
    with within(deadline - time.monotonic()):
        return solve_low_rank(objective, rng, deadline=deadline, **given)


def _balanced_relaxation(
    objective: SparseObjective,
    free: LowRankSolution,
    largest: int,
    rng: np.random.Generator,
    watch: Watch,
    began: float,
) -> tuple[CutObjective, float, LowRankSolution]:
    """Objective with the penalty of the least bound, the multiplier of the constraint; the penalty; the relaxation.

    The bound is convex in the penalty, with the derivative ``k^2 - |sum V|^2``, whose sign says on which side the
    optimum lies. For halves it may lie at infinity. Penalty times derivative is about what may still be had: it stops
    once that is little of the value, or of the gap to the best cut that is known. Certificates of large instances are
    looser with a penalty, because a dense proof is too costly; the tolerance allows for that. `free` was begun at
    `began`: another one may take as long, or much longer if that was only a cut.
    """
    n, deadline, end, tol = objective.n_vertices, watch.until(_SHARE_OF_PENALTIES), watch.until(1.0), watch.options.tol
    tol = max(tol or 0.0, 1e-2) if n > DENSE_LIMIT else tol
    best: tuple[CutObjective, float, LowRankSolution] = objective, 0.0, free
    root, penalty, lower, upper = free, 0.0, 0.0, math.inf
    unit = 0.125 * float(objective.absolute_row_sums.mean()) / n
    for _ in range(_PENALTIES):
        total = root.vectors.sum(axis=0)
        surplus = float(total @ total) - largest**2
        worth = max(penalty, unit) * surplus
        scale = max(abs(objective.constant), abs(root.value), 1e-300)
        gap = _bound(best[2], best[1], largest) - watch.value if watch.value > -math.inf else 0.0
        enough = max(_CLOSE * scale, WORTH * gap)
        now = time.monotonic()
        longer = _LONGER if root.vectors.shape[1] == 1 else 1.0
        late = watch.done() or now > deadline or now + longer * (now - began) >= end or _broken_off(root)
        if abs(worth) <= enough or (penalty == 0.0 and surplus <= 0.0) or late:
            break
        began = now
        lower, upper = (penalty, upper) if surplus > 0.0 else (lower, penalty)
        penalty = max(unit, 4.0 * lower) if upper == math.inf else math.sqrt(max(lower, upper / 16.0) * upper)
        penalised = penalise_imbalance(objective, penalty)
        start = root.vectors if root.vectors.shape[1] > 1 else None  # a cut alone would stay one
        root = _relaxed(penalised, rng, watch, tol=tol, start=start, prove=False)
        if best[1] == 0.0 or _bound(root, penalty, largest) < _bound(best[2], best[1], largest):
            best = penalised, penalty, root
    if best[2].certificate.kind == "guess":  # the best one alone is proven
        best = *best[:2], _relaxed(best[0], rng, watch, tol=tol, start=best[2].vectors)
    return best


def _broken_off(root: LowRankSolution) -> bool:
    """Whether there was no time for a bound."""
    return not root.converged and root.certificate.kind == "trivial"


def _bound(root: LowRankSolution, penalty: float, largest: int) -> float:
    """Bound on balanced cuts."""
    return root.certificate.bound + sum(_allowance(root, penalty, largest))


def _allowance(root: LowRankSolution, penalty: float, largest: int) -> tuple[float, float]:
    """What a balanced cut pays at most for its imbalance, and a margin for rounding.

    What the penalty takes from a bound and the allowance gives back are both rounded.
    """
    allowance = penalty * largest**2
    return allowance, rounding_slack(2, abs(root.certificate.bound) + allowance) if allowance else 0.0


def _numbers(objective: SparseObjective, options: SolverOptions) -> tuple[Iterable[int], Iterable[int]]:
    """Of cuts of a search before the bound, which may prove the best of a few to be the best of all, and after it."""
    n, keep = objective.n_vertices, 2 * options.starts
    if options.time_limit is not None:
        return itertools.count(), itertools.count(keep)
    most = min(_ENTRIES / (n + objective.matrix.nnz), _SHARE_OF_CUTS * n, _MOST) if n > _SMALL else 0
    return range(keep), range(keep, int(most))


def _search_small(
    objective: SparseObjective, cuts: FloatArray, largest: int, rng: np.random.Generator, watch: Watch, deadline: float
) -> FloatArray:
    """The best of `cuts` and of rounds of annealing side by side, from random starts and from the best in turn.

    They end once a few rounds have found no more.
    """
    n, sweeps, vain = objective.n_vertices, watch.options.sweeps, 0
    kept = Population(objective, cuts, watch.options.starts)
    while vain < _REPEATS:
        before, began = watch.value, time.monotonic()
        starts, hot = np.where(rng.random((n, _SIDE_BY_SIDE)) < 0.5, 1.0, -1.0), HOT
        if vain % 2 and kept.values.size:
            starts, hot = kept.in_order()[:, np.arange(_SIDE_BY_SIDE) % kept.values.size], rng.uniform(WARM, HOT)
        found = anneal_balanced(objective, starts, largest, rng, sweeps=sweeps, hot=hot, keep=_REFINED)
        watch.found(max(kept.enter(cut) for cut in found.T))
        vain = 0 if watch.value > before else vain + 1
        if 2.0 * time.monotonic() - began >= deadline or watch.done():
            break
    return kept.in_order()
