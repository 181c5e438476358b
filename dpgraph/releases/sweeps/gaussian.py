"""Gaussian sweeps of a core: no coherence, no gap, no halting.

A step reads the exact fields of a block of rows at the public iterate X, releases them with Gaussian noise, and lets
the block answer. One edge {i, j} changes at most w |X_j| at row i and w |X_i| at row j, whatever n, the degrees and the
spectrum. One Kalman filter for each row averages the noise of all sweeps.
"""

import math
from functools import partial

import numpy as np
from tqdm import tqdm

from dpgraph.arguments import check_choice
from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import FieldTracker
from dpgraph.privacy.call import Call
from dpgraph.releases.sweeps.iteration import Core, Iteration
from dpgraph.tuning import CORE
from dpgraph.typing import FloatArray


def is_pure(noise: str, epsilon: float) -> bool:
    """Whether bounded iterates with this public choice of noise are pure (Laplace)."""
    check_choice("noise", noise, ("auto", "gaussian", "laplace"))
    return noise == "laplace" or (noise == "auto" and epsilon < CORE.pure_below)


def release_iterates(
    iteration: Iteration, variances: FloatArray, core: Core, call: Call, *, sweeps: int
) -> tuple[FloatArray, FloatArray]:
    """Run the iteration for a part of a Gaussian budget; return the last iterate and estimates of the last fields.

    Rows outside the core stay zero. `variances`, shape (rows,), is the public scale of the variance of a field at each
    row (released degrees). `revise` is asked after half of the sweeps and after all. Sweeps are many, because
    composition is quadratic.

    Notes
    -----
    *Core and others are disjoint.* While the core iterates, the other rows of X are zero, so that its fields
    read pairs inside the core only. Looks at the others read no field of a core row, and a pair {i, j} outside the core
    shows at one of its rows only, as in a first sweep (:func:`~dpgraph.bounds.sensitivity.first_sweep`). Which kind a
    pair is, the released core says: whatever the pair, one of the two stages reads it. Both may spend the same budget.
    """
    oracle, response, revise = iteration.oracle, iteration.response, iteration.revise
    X, scales = np.zeros((oracle.rows, oracle.columns)), core.inside(variances)
    new_tracker = partial(FieldTracker, scales, oracle.columns, prior=CORE.prior, drift=CORE.drift)
    tracker = new_tracker()
    for t, share in enumerate(tqdm(shares_of(sweeps), desc="sweeps", disable=not iteration.progress)):
        # In the first sweep an edge is seen by one of its ends only, the later one: it costs one row, not two.
        bound = (sensitivity.row_release if t else sensitivity.first_sweep)(oracle.row_bound)
        part = call.part(float(share))
        scale = part.scale(f"fields, sweep {t + 1}", bound, law="Gaussian", pairs=core.pairs)
        order = call.generator.permutation(core.rows) if t else core.rows
        sharpness = math.inf if t == sweeps - 1 else CORE.softness + (CORE.sharpness - CORE.softness) * t / sweeps
        for block in np.array_split(order, min(CORE.blocks, order.size)):
            if not X.any():  # nothing is set yet: fields are zero whatever the data
                new = response.start(block.size, call.generator)
            else:
                noisy = call.noise.gaussian_on_grid(oracle.fields(block, X), oracle.unit, scale)
                tracker.observe(block, noisy, scale**2)
                new = response.answer(block, tracker.signal_to_noise(block), sharpness, X)
            tracker.moved(block, new - X[block])
            X[block] = new
        if revise is not None and t + 1 in (sweeps // 2, sweeps):
            revised = revise(X, tracker.mean, 0.5, f"after sweep {t + 1}")
            if revised is not X:  # what was read of another iterate says nothing of this one
                X, tracker = revised, new_tracker()
    return X, tracker.mean


def shares_of(sweeps: int) -> FloatArray:
    """Share of mu**2 of each sweep."""
    weights = np.arange(1, sweeps + 1, dtype=np.float64) ** CORE.growth
    return np.asarray(weights / weights.sum())
