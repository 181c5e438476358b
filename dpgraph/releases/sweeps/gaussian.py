"""Bounded public iterates: no coherence, no gap, no halting.

The iterate X (one row for each variable, entries of absolute value at most 1) is public at all times. A step reads the
exact fields of a block of rows, releases them with Gaussian noise, and moves the block against (or along) its estimated
fields. What one edge {i, j} changes is at most w |X_j| at row i and w |X_i| at row j, whatever n, the degrees and the
spectrum. A sweep releases every row once; one Kalman filter for each row averages the noise of all sweeps.

A pair whose two rows are never read while both are set costs nothing. So only a core of rows, of large released degree
(:class:`~dpgraph.releases.sweeps.oracle.Core`), iterates; each other row is looked at when the core stands
(:mod:`~dpgraph.releases.sweeps.one_sided`), and that look may spend the whole budget again.

The same loop solves max-cut (one column, signs), bisection (the same with balanced blocks) and 2-CSPs (one column for
each label, simplex rows): a :class:`~dpgraph.releases.sweeps.oracle.Response` says how a block answers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from tqdm import tqdm

from dpgraph.arguments import check_choice
from dpgraph.bounds import sensitivity
from dpgraph.denoise.kalman import FieldTracker
from dpgraph.privacy.call import Call
from dpgraph.privacy.report import Pairs
from dpgraph.releases.sweeps.oracle import Core, FieldOracle, IntArray, Iteration, Response
from dpgraph.tuning import CORE
from dpgraph.typing import FloatArray

__all__ = ["LOOK_DELTA", "is_pure", "release_iterates", "shares_of"]


#: Share of delta that pays for a Laplace look beside Gaussian sweeps
#: (:meth:`~dpgraph.privacy.ledger.Ledger.pure_beside`).
LOOK_DELTA = CORE.look_delta


def is_pure(noise: str, epsilon: float) -> bool:
    """Whether bounded iterates with this public choice of noise are pure (Laplace)."""
    check_choice("noise", noise, ("auto", "gaussian", "laplace"))
    return noise == "laplace" or (noise == "auto" and epsilon < CORE.pure_below)


def release_iterates(
    iteration: Iteration,
    variances: FloatArray,
    core: Core,
    call: Call,
    *,
    sweeps: int,
) -> tuple[FloatArray, FloatArray]:
    """Run the iteration for a share of a Gaussian budget; return the last iterate and estimates of the last fields.

    Parameters
    ----------
    iteration : Iteration
        What is iterated; `revise` is asked after half of the sweeps and after all.
    variances : ndarray, shape (rows,)
        Public scale of the variance of a field at each row (released degrees).
    core : Core
        Rows that iterate; the others stay zero.
    call : Call
        Part of a Gaussian budget.
    sweeps : int
        Number of sweeps; each releases every row once. They are many, because composition is quadratic.

    Notes
    -----
    *Core and others are disjoint.* While the core iterates, the other rows of X are zero, so that its fields
    read pairs inside the core only. Looks at the others read no field of a core row, and a pair {i, j} outside the core
    shows at one of its rows only, as in a first sweep (:func:`~dpgraph.bounds.sensitivity.first_sweep`). Which kind a
    pair is, the released core says: whatever the pair, one of the two stages reads it. Both may spend the same budget.
    """
    oracle, revise = iteration.oracle, iteration.revise
    run = _Run(oracle, iteration.response, call.generator, np.zeros((oracle.rows, oracle.columns)))
    scales = core.inside(variances)
    new_tracker = partial(FieldTracker, scales, oracle.columns, prior=CORE.prior, drift=CORE.drift)
    tracker = new_tracker()
    for t, share in enumerate(tqdm(shares_of(sweeps), desc="sweeps", disable=not iteration.progress)):
        release = _sweep_release(oracle, t, call.part(float(share)), core.pairs)
        order = core.rows if t == 0 else call.generator.permutation(core.rows)
        sharpness = math.inf if t == sweeps - 1 else CORE.softness + (CORE.sharpness - CORE.softness) * t / sweeps
        run.sweep(order, release, tracker, sharpness)
        if revise is not None and t + 1 in (sweeps // 2, sweeps):
            revised = revise(run.X, tracker.mean, 0.5, f"after sweep {t + 1}")
            if revised is not run.X:  # what was read of another iterate says nothing of this one
                run.X, tracker = revised, new_tracker()
    return run.X, tracker.mean


def shares_of(sweeps: int) -> FloatArray:
    """Share of mu**2 of each sweep."""
    weights = np.arange(1, sweeps + 1, dtype=np.float64) ** CORE.growth
    return weights / weights.sum()


@dataclass(frozen=True)
class _Release:
    """Adds the noise of one sweep to exact fields; its variance."""

    add_noise: Callable[[FloatArray], FloatArray]
    variance: float


@dataclass
class _Run:
    """The public iterate X and how a sweep changes it."""

    oracle: FieldOracle
    response: Response
    generator: np.random.Generator
    X: FloatArray

    def sweep(self, order: IntArray, release: _Release, tracker: FieldTracker, sharpness: float) -> None:
        """Release the rows in `order` block by block and let each block answer."""
        for block in np.array_split(order, min(CORE.blocks, order.size)):
            if not self.X.any():  # nothing is set yet: fields are zero whatever the data
                new = self.response.start(block.size, self.generator)
            else:
                tracker.observe(block, release.add_noise(self.oracle.fields(block, self.X)), release.variance)
                new = self.response.answer(block, tracker.signal_to_noise(block), sharpness, self.X)
            tracker.moved(block, new - self.X[block])
            self.X[block] = new


def _sweep_release(oracle: FieldOracle, sweep: int, call: Call, pairs: Pairs) -> _Release:
    """Enter one sweep in the ledger.

    While X is still zero on the rows that come later, an edge is seen by one of its ends only, so that the first sweep
    costs one row and each further one two.
    """
    bound = (sensitivity.first_sweep if sweep == 0 else sensitivity.row_release)(oracle.row_bound)
    scale = call.scale(f"fields, sweep {sweep + 1}", bound, law="Gaussian", pairs=pairs)
    return _Release(lambda fields: call.noise.gaussian_on_grid(fields, oracle.unit, scale), scale**2)
