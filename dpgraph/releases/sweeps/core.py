"""Bounded iterates: released degrees choose the rows that iterate, which are read several times, all others once.

Pure noise is drawn for all noisy queries of a row together: one edge changes each query by a bounded number, so that
their change lies in a cube, and noise made for the cube (:class:`~dpgraph.privacy.row_norm.RowNorm`) has a sixth of the
variance that Laplace noise has by composition, and less than Gaussian noise at delta = 1e-6 up to two dozen sweeps.
Numbers of a row that an edge moves together get noise together (:mod:`~dpgraph.releases.sweeps.iteration`).
Where a field is weak beside its noise, all rows are read once: an edge at the later of its ends, for half the price.
"""

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT, LARGEST_SCALE, FieldTracker, shrunken_degrees
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.progress import BAR, tqdm
from dpgraph.releases.sweeps.iteration import Core, Iteration, choose_core, query_law, row_blocks
from dpgraph.releases.totals import release_degrees
from dpgraph.tuning import COMMON
from dpgraph.typing import FloatArray, IntArray

#: Blocks of equal degrees in sweeps but the first.
_BLOCKS = 64


def release_core_iterates(
    graph: Graph, iteration: Iteration, call: Call, *, mean_degree: float
) -> tuple[FloatArray, FloatArray]:
    """Release degrees, let them choose the core and the scale of the fields, and iterate.

    The rows are the vertices of `graph`, neighbours of the data being neighbours of it; `mean_degree` is its released
    average degree. The call is pure. Rows are read repeatedly, with noise that is drawn together, where degrees are
    large enough, else once. Returned are the last iterate and estimates of the last fields (0 where none was
    read), all released.
    """
    oracle = iteration.oracle
    for_degrees, call = call.split(COMMON.share, 1 - COMMON.share)
    released = release_degrees(graph, for_degrees)
    degrees = shrunken_degrees(released.value, mean_degree, released.std, graph.max_weight)
    # A field is a sum of d terms of at most that weight, of which each column has its part.
    variances = graph.max_weight * degrees / oracle.columns
    core, sweeps = choose_core(oracle, variances, call)
    X, fields = np.zeros((oracle.rows, oracle.columns)), np.zeros((oracle.rows, oracle.columns))
    if core.size:
        X, fields = release_repeated_sweeps(iteration, variances, core, call, sweeps=sweeps)
        X = iteration.revise(X, fields)
    if core.others.size:
        X, others = release_one_sided_sweep(iteration, variances, core, X, call)
        fields[core.others] = others[core.others]
    if not core.size:
        X = iteration.revise(X, fields)
    return X, fields


def release_repeated_sweeps(
    iteration: Iteration, variances: FloatArray, core: Core, call: Call, *, sweeps: int
) -> tuple[FloatArray, FloatArray]:
    """Set the rows of the core for a part of a pure budget; return the iterate and estimates of the last fields.

    Both are zero outside the core. Sweeps, an even number, go there and back through the rows. A row reads those that
    have been set before it in the same sweep. The others stand since the sweep before, in which it has read them: both
    fields add up to that of all rows.

    `variances`, shape (rows,), is the public scale of the variance of a field at each row (released degrees).

    Notes
    -----
    *Guarantee.* Pure, by the theorem at :func:`~dpgraph.bounds.sensitivity.repeated_queries`: the iterate is public.
    Fields of core rows are about pairs inside the core only, because all other rows of the iterate are zero. Noise is
    drawn for the queries of a row on the way there, and independently for those on the way back. In their order, the
    pair {u, v} shows at the later row on the ways there, and at the other one on the ways back; or, if both are in one
    block, at both on the ways there. So it shows at two rows of the theorem, as one that is read by both ends does.
    """
    oracle, response, shape = iteration.oracle, iteration.response, (iteration.oracle.rows, iteration.oracle.columns)
    law, generator, name = query_law(oracle, sweeps // 2, call.epsilon), call.generator, f"fields, {sweeps} sweeps"
    scale = call.at_epsilon(law.epsilon).scale(name, law.sensitivity, law="K-norm", pairs=core.pairs)
    ways = [call.noise.queries(shape, core.rows, law.norm, law.step, scale) for _ in range(2)]
    X, variance, scales = np.zeros(shape), law.norm.variance(scale), np.zeros(oracle.rows)
    scales[core.rows] = core.inside(variances)[core.rows]
    known, blocks = FieldTracker(scales, core.rows, oracle.columns), row_blocks(core.rows)
    shares = np.cumsum(scales[core.rows]) / scales.sum()
    for t in tqdm(range(sweeps), desc="sweeps", disable=BAR.get() is None):
        back, seen = t % 2, np.zeros(shape)
        oracle.expect(blocks)
        ways[back].expect(blocks if t and not back else blocks[1:])
        for k, block in enumerate(blocks):
            seen[block] = 0 if back else X[block]
            if k or (t and not back):  # else nothing is seen: fields are zero whatever the data
                known.observe(back, block, ways[back].read(block, oracle.fields(block, seen)), variance)
            new = response.answer(known.ratio(block)) if t or k else response.start(block.size, generator)
            known.moved(block, new - X[block])
            X[block] = seen[block] = new
        if t == 0:
            parts = np.split(core.rows, np.searchsorted(shares, np.arange(1, _BLOCKS) / _BLOCKS))
            blocks = [part for part in parts if part.size]
        blocks.reverse()
    return X, known.mean


def release_one_sided_sweep(
    iteration: Iteration, variances: FloatArray, core: Core, X: FloatArray, call: Call
) -> tuple[FloatArray, FloatArray]:
    """Set the rows outside the core for a part of the budget; return the iterate and posterior means of their fields.

    Rows are set one after another through a public order. A row reads only rows that have been set. Where it is public
    what each label earns no queries are released but choices, the noisy maximum of the scores, whose noise has half the
    variance.

    `X` is zero outside the core, whose rows stand. Where labels are chosen no fields are known: means stay zero.

    Notes
    -----
    *Guarantee.* The sweep reads the pair {u, v} at one row only, the later one in its order, and there a row of X that
    is public (:func:`~dpgraph.bounds.sensitivity.first_sweep`); it does not read pairs inside the core. Where labels
    are chosen the pair changes the scores of one row, all in the same direction
    (:func:`~dpgraph.bounds.sensitivity.label_scores`).
    """
    oracle, response, scores, noise = iteration.oracle, iteration.response, iteration.oracle.scores, call.noise
    rows, unit, X, means = core.others, oracle.unit, X.copy(), np.zeros((oracle.rows, oracle.columns))
    name = f"{'fields' if scores is None else 'labels'}, {'other rows' if core.size else 'all rows'}"
    if scores is None:
        bound = sensitivity.first_sweep(oracle.row_bound)
        scale = call.scale(name, bound, law="Laplace", pairs=core.other_pairs)
        variance = 2 * min(scale, LARGEST_SCALE) ** 2
        weights = variances / (variances + variance)
        deviations = np.sqrt(np.maximum(weights * variance, 1e-300))
        noise.expect_laplace(rows.size * oracle.columns, unit, scale)
    else:
        maximum = call.noisy_maximum(name, scores.bound, unit, pairs=core.other_pairs)
        maximum.expect(rows.size * oracle.columns)
    blocks = row_blocks(rows)
    oracle.expect(blocks)
    something = bool(X.any())  # otherwise fields are zero whatever the data
    for block in blocks:
        if not something:
            new = response.start(block.size, call.generator)
        elif scores is None:
            means[block] = found = weights[block, None] * noise.laplace_on_grid(oracle.fields(block, X), unit, scale)
            new = response.answer(found / deviations[block, None])
        else:
            private = score_units(scores.counts(block, X), scores.relation, unit) * unit
            new = np.eye(oracle.columns)[maximum.choose(np.asarray(private, dtype=np.float64))]
        X[block], something = new, True
    return X, means


def score_units(counts: FloatArray, relation: FloatArray, unit: float) -> IntArray:
    """Scores ``counts @ relation`` of private counts, in whole units, rounded down and free of other errors.

    Counts are multiples of `unit`, the grid of the noise too. A neighbour changes the scores of one row, all in one
    direction, by at most a bound that is a multiple of `unit`. The relation, shape (columns, columns), has multiples of
    :data:`~dpgraph.denoise.iterates.ITERATE_UNIT` in [0, 1].

    Notes
    -----
    What is returned changes within the same bound and in the same direction: x <= y implies floor(x) <= floor(y), and
    floor(x + s) = floor(x) + s for an integer s. Rounding to the nearest has no such bound (halves go to even
    numbers, 0.5 to 0 and 1.5 to 2), nor has rounding a sum with something public. Counts are below 2**60 units for a
    graph that was accepted; they are split so that no product or sum leaves 64 bits.
    """
    steps = round(1 / ITERATE_UNIT)
    high, low = np.divmod(np.rint(counts / unit).astype(np.int64), steps)
    weights = np.rint(relation / ITERATE_UNIT).astype(np.int64)
    return high @ weights + (low @ weights) // steps
