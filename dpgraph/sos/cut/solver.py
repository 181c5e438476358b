"""Max-cut by the degree-2 relaxation, global correlation rounding and local search.

Works on any :class:`~dpgraph.sos.cut.base.CutObjective`; the exact and the private max-cut both call it.
"""

import math
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.certificate import Certificate, proof_of, trivial_certificate
from dpgraph.sos.cut.conditioning import PinnedNode, condition
from dpgraph.sos.cut.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.cut.multilevel_search import search_near_balance
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.rounding import (
    affordable_samples,
    best_columns,
    hyperplane_rounding,
    improve,
    independent_signs,
    one_opt,
    patient_search,
    recombine,
)
from dpgraph.sos.cut.search import REPEATS_OF_QUICK, SHARE_OF_QUICK, found_often, local_search
from dpgraph.sos.seed_search import SeedSearch, SolverOptions, TraceEntry
from dpgraph.sos.solution import Solution, to_beat
from dpgraph.sos.watch import Watch
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray, IntArray

#: Which vertices a core keeps, and the best extension of its cuts.
Lifted = tuple[IntArray, Callable[[FloatArray], FloatArray]]
_REPEATS = 3  # searches that find the best value again, and no better one, after which another is not worth its time
_LEAST_ROOM = 1e-2  # below the next value, in units: less is not worth the sweeps
_MULTILEVEL = 32  # cuts of the search before the relaxation
# Shares of the time that is left, if there is a limit, that go to the relaxation and to the seeds after it.
SHARE_OF_ROOT, SHARE_OF_SEEDS = 0.4, 0.5
_LEAST_SHARE_OF_SEARCH = 0.1  # of the time that is left, before a proof


def solve_max_cut(
    objective: CutObjective,
    options: SolverOptions = SolverOptions(),  # noqa: B008 (frozen)
    rng: int | np.random.Generator | None = None,
    *,
    patient: bool = False,
    repeats: float = math.inf,
) -> Solution:
    """Cut an objective: eliminate, relax, condition on seeds, round, improve.

    Without a time limit, a `patient` search is local in steps where that takes a few seconds at most. With one it ends
    after so many `repeats` of its best value, as where a proof follows; of ten times as many in the first tenth of the
    time.
    """
    generator = as_generator(rng)
    with Watch(objective, options, "max-cut") as watch:
        core, kept, lift = objective.reduced(most=2)
        n = core.n_vertices
        given = np.empty((0, n)) if options.initial is None else options.initial[None, kept]
        quick: FloatArray = np.asarray(1.0 - 2.0 * given.T, dtype=np.float64)
        hurried = options.time_limit is not None and options.local_search
        late = hurried and not quick.size and time_is_up()
        search = local_search(core, watch, generator) if hurried else None
        if late and isinstance(core, SparseObjective) and core.entries.min(initial=0.0) < 0.0:
            quick = np.ones((n, 1))  # any other may be worth less, and takes a look at all weights
        elif search is not None:
            quick = search.run(quick, watch.until(SHARE_OF_QUICK), REPEATS_OF_QUICK)
        elif hurried and isinstance(core, SparseObjective):  # in little time annealing finds less on sparse graphs
            end, few = watch.until(SHARE_OF_QUICK), range(_MULTILEVEL)
            quick = search_near_balance(core, quick, n, generator, watch, end, few)
        if quick.size and time_is_up():  # products with a large matrix are late
            if core.cut_value(quick[:, 0]) < 0.0:  # as if it had not looked at negative weights
                quick = np.ones((n, 1))
            return found_alone(watch, core, (kept, lift), quick[:, 0])
        root = solve_low_rank(core, generator, tol=options.tol, deadline=watch.until(SHARE_OF_ROOT))
        cuts = quick
        if not (quick.size and time_is_up()):
            cuts = np.column_stack([quick, round_root(core, root, options, generator)])
        better = cuts if options.as_analysed or time_is_up() else one_opt(core, cuts)
        better = best_columns(core, better, 1)
        known = to_beat(core, float(core.values(better)[0]))
        if options.local_search:
            cuts = np.column_stack([better, cuts])
        if core.unit:
            root = close_gap(core, root, known, generator, deadline=watch.until(SHARE_OF_ROOT))
        late = time_is_up()  # and another value comes at once
        value = -math.inf if late else core.cut_value(best_columns(core, cuts, 1)[:, 0])
        watch.step(value, root.certificate.bound)
        tree = condition(
            core, root, options, generator, weights=core.vertex_weights(), lower_bound=known,
            on_seed=watch.seed, deadline=watch.until(SHARE_OF_SEEDS),
        )  # fmt: skip
        cuts = best_columns(core, round_nodes(core, tree.nodes, cuts, options, generator), options.starts)
        cut = one_opt(core, cuts[:, 0]) if options.local_search and not (quick.size and time_is_up()) else cuts[:, 0]
        watch.found(core.cut_value(cut), tree.upper_bound)
        soon = watch.until(_LEAST_SHARE_OF_SEARCH)
        if search is not None and not watch.done():
            cut = search.run(cut[:, None], watch.until(1.0), repeats, soon)[:, 0]
        elif options.local_search and not watch.done():
            cut = _search_locally(core, cut, cuts, watch, generator, patient, (repeats, soon))
        watch.step()
    return _lifted(objective, core, (kept, lift), cut, root.certificate, tree)


def found_alone(watch: Watch, core: CutObjective, lifted: Lifted, cut: FloatArray) -> Solution:
    """A cut of a core as one of what is watched, with the bound that takes no time."""
    known = trivial_certificate(core)
    trace = (TraceEntry(0, known.bound, known.bound, math.nan, math.nan),)
    objective = cast(CutObjective, watch.objective)
    solution = _lifted(objective, core, lifted, cut, known, SeedSearch((), known.bound, known.kind, trace))
    watch.found(solution.value, solution.upper_bound)
    return solution


def _lifted(
    objective: CutObjective,
    core: CutObjective,
    lifted: Lifted,
    cut: FloatArray,
    certificate: Certificate,
    tree: SeedSearch[PinnedNode],
) -> Solution:
    """The cut of a core as one of the objective."""
    kept, lift = lifted
    cut = lift(cut)
    labels = (cut != cut[0]).astype(np.int64)
    kind = tree.kind
    if kind == "trivial" and core.n_vertices < objective.n_vertices:
        kind = "proven"  # trivial only for what the elimination left
    proof = proof_of(certificate)
    if not isinstance(proof, str):
        proof = proof.of_core(kept, lift)
    return Solution.of(objective, labels, bound=tree.upper_bound, kind=kind, trace=tree.trace, proof=proof)


def _search_locally(
    objective: CutObjective,
    cut: FloatArray,
    cuts: FloatArray,
    watch: Watch,
    rng: np.random.Generator,
    patient: bool,
    enough: tuple[float, float],
) -> FloatArray:
    """The best cut of local searches: the first starts from `cuts`, those there is time for besides at random.

    What they find is recombined with the best so far. They end once so many have found it again.
    """
    options, found = watch.options, cut[:, None]
    planned = patient_search(objective, options.starts) if patient and options.sweeps is None else None
    starts, longest = planned or (options.starts, None)
    more = rng.random((len(cuts), max(starts - cuts.shape[1], 0)))
    cuts = np.hstack([cuts, np.where(more < 0.5, 1.0, -1.0)])
    (repeats, soon), count = (_REPEATS, 0.0) if options.time_limit is None else enough, 0
    for sweeps in watch.efforts(longest):
        if found_often(count, repeats, soon):
            break
        before = watch.value
        improved = improve(objective, cuts, rng, sweeps=sweeps)
        found = best_columns(objective, np.column_stack([improved, found]), options.starts)
        if sweeps is not None and found.shape[1] > 2:
            found = np.column_stack([recombine(objective, found, rng, sweeps=sweeps), found])[:, : options.starts]
        watch.found(objective.cut_value(found[:, 0]))
        count = 0 if watch.value > before else count + (objective.cut_value(improved) == before)
        cuts = np.where(rng.random(cuts.shape) < 0.5, 1.0, -1.0)
    return found[:, 0]


def close_gap(
    objective: CutObjective, root: LowRankSolution, beat: float, rng: np.random.Generator, *, deadline: float = math.inf
) -> LowRankSolution:
    """The relaxation solved again if its tolerance is all that keeps it from showing that nothing above `beat` is left.

    That is where cuts are multiples of a unit, `beat` is next to one, and the relaxation is worth less.
    """
    room = beat - root.value
    if room < _LEAST_ROOM * objective.unit or root.certificate.bound <= beat or time_is_up():
        return root
    scale = max(abs(objective.constant), abs(root.value), 1e-300)
    sweeps = 10 * root.sweeps + 100
    again = solve_low_rank(
        objective, rng, tol=0.5 * room / scale, max_sweeps=sweeps, start=root.vectors, deadline=deadline
    )
    return again if again.certificate.bound < root.certificate.bound else root


def round_root(
    objective: CutObjective, root: LowRankSolution, options: SolverOptions, rng: np.random.Generator
) -> FloatArray:
    """The best hyperplane cuts of a relaxation, (n, c); or a random one: where labels are drawn independently, all are.

    By the symmetry x -> -x no label has more than probability 1/2 before there is a gauge.
    """
    if options.as_analysed:
        return independent_signs(np.zeros(objective.n_vertices), 1, rng)
    return hyperplane_rounding(objective, root.vectors, options.rounds, rng, keep=options.starts)


def round_nodes(
    objective: CutObjective,
    nodes: Iterable[PinnedNode],
    cuts: FloatArray,
    options: SolverOptions,
    rng: np.random.Generator,
) -> FloatArray:
    """`cuts`, and of every node that is left the best independent samples, and hyperplane cuts if they are wanted."""
    pool, count = [cuts], affordable_samples(objective, options.rounds)
    for node in nodes:
        if time_is_up():
            break
        if node.pins:
            pool.append(best_columns(objective, independent_signs(node.means(), count, rng), options.starts))
        if len(node.pins) > 1 and not options.as_analysed:  # before, the hyperplanes of the root are the node's own
            pool.append(hyperplane_rounding(objective, node.vectors(), options.rounds, rng, keep=options.starts))
    return np.hstack(pool)
