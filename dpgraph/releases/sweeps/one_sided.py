"""One sweep that reads every edge at one of its ends.

Rows are set one after another through a public order. A row reads only rows that have been set: half the price of
reading every row in full. Where it is public what each label earns no queries are released but choices, the noisy
maximum of the scores, whose noise has half the variance.
"""

from __future__ import annotations

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT
from dpgraph.privacy.call import Call
from dpgraph.releases.sweeps.iteration import Core, Iteration, row_blocks
from dpgraph.typing import FloatArray, IntArray

#: Squares of larger scales overflow; nothing is learnt from either.
_LARGEST_SCALE = 1e150


def release_one_sided_sweep(
    iteration: Iteration, variances: FloatArray, core: Core, X: FloatArray, call: Call
) -> tuple[FloatArray, FloatArray]:
    """Set the rows outside the core for a part of the budget; return the iterate and posterior means of their fields.

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
        variance = 2 * min(scale, _LARGEST_SCALE) ** 2
    else:
        maximum = call.noisy_maximum(name, scores.bound, unit, pairs=core.other_pairs)
    blocks = row_blocks(rows)
    oracle.expect(blocks)
    something = bool(X.any())  # otherwise fields are zero whatever the data
    for block in blocks:
        if not something:
            new = response.start(block.size, call.generator)
        elif scores is None:
            weight = variances[block, None] / (variances[block, None] + variance)
            means[block] = weight * noise.laplace_on_grid(oracle.fields(block, X), unit, scale)
            ratio = means[block] / np.sqrt(np.maximum(weight * variance, 1e-300))
            new = response.answer(block, ratio, X)
        else:
            private = score_units(scores.counts(block, X), scores.relation, unit) * unit
            chosen = maximum.choose(np.asarray(private, dtype=np.float64), public=np.zeros(private.shape))
            new = np.eye(oracle.columns)[chosen]
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
