"""Sweeps that read every edge at one of its ends, and still let every row know all its neighbours.

Rows are set one after another, forwards through a public order and then backwards, and so on. A row reads only rows
that have been set in the same sweep, so that each sweep reads an edge once, at the later of its ends: half the price of
reading every row in full. What a row has read in the sweep before, about the rows on its other side, is still true:
they have not moved again since. One such sweep is the best that a small budget or a sparse graph can pay for; a few
find a cut that spans the graph.

Where it is public what each label earns, the last sweep releases no readings but choices, the noisy maximum of the
scores, whose noise has half the variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dpgraph.mechanisms.bounded_iterates import Core, FieldOracle, LabelScores, Response
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = ["release_one_sided_sweeps"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Rows of a block do not read each other: nearly one row after another.
_BLOCKS = 1000
#: A row answers to this multiple of its field over the standard deviation of the field; in the last sweep sharply.
_SHARPNESS = 3.0
#: Prior variance of a field in units of the public scale of its variance, as in
#: :class:`~dpgraph.mechanisms.bounded_iterates.Schedule`.
_PRIOR = 3.0


def release_one_sided_sweeps(
    oracle: FieldOracle,
    response: Response,
    variances: FloatArray,
    core: Core,
    X: FloatArray,
    *,
    sweeps: int,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    progress: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Set the rows outside the core for a share of the budget; return the iterate and estimates of the last fields.

    Parameters
    ----------
    oracle, response, variances
        As for :func:`~dpgraph.mechanisms.bounded_iterates.release_iterates`.
    core : Core
        Rows that stand; the order of the others.
    X : ndarray, shape (rows, columns)
        The iterate, zero outside the core.
    sweeps : int
        At least 1; 1 where there is a core, whose rows are read in the first sweep only.
    ledger, share, noise
        Budget of the call, share of it that the sweeps of the core got. A pure ledger pays for Laplace noise, a
        parallel one does so beside the core, another Gaussian ledger pays for Gaussian noise.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    X, estimates : ndarray, shape (rows, columns)
        Posterior means of the fields in the last sweep; zero inside the core, in the first row, and where labels were
        chosen.

    Notes
    -----
    *Guarantee.* A sweep reads the pair {u, v} at one row only, the later one in its order, and there a row of X that is
    public (:func:`~dpgraph.spectral.sensitivity.first_sweep`). No sweep reads pairs inside the core. Where labels are
    chosen the pair moves the scores of one row, all in the same direction
    (:func:`~dpgraph.spectral.sensitivity.label_scores`). Readings of earlier sweeps are released, hence public.
    """
    X, seen = X.copy(), X.copy()
    readings, estimates = np.zeros_like(X), np.zeros_like(X)
    order, scores = core.others, _usable_scores(oracle, core, sweeps, ledger)
    fields = oracle.fields if scores is None else scores.counts
    for sweep in tqdm(range(sweeps), desc="sweeps", disable=not progress):
        last = sweep == sweeps - 1
        release = _open_release(oracle, core, sweep, sweeps, ledger, share, noise)
        for block in _blocks(order):
            known = readings[block]
            if not seen.any() and not known.any():  # nothing is set yet: fields are zero whatever the data
                new = response.start(block.size, noise.generator)
            elif last and scores is not None:
                new = np.eye(oracle.columns)[release.choose((fields(block, seen) + known) @ scores.relation)]
            else:
                readings[block] = release.add_noise(fields(block, seen)) if seen.any() else 0.0
                prior, variance = _PRIOR * variances[block, None], release.variance * min(sweep + 1, 2)
                estimates[block] = (readings[block] + known) * (prior / (prior + variance))
                ratio = estimates[block] / np.sqrt(prior / (prior + variance)) / math.sqrt(variance)
                new = response.answer(block, ratio, math.inf if last else _SHARPNESS, X)
            X[block] = seen[block] = new
        order, seen = order[::-1], np.zeros_like(X)
    return X, estimates


def _blocks(order: IndexArray) -> list[IndexArray]:
    """The first row alone, because it reads nothing, then blocks of nearly one row."""
    rest = order[1:]
    return [order[:1], *np.array_split(rest, min(_BLOCKS, rest.size))] if rest.size else [order]


@dataclass(frozen=True)
class _Release:
    """Adds the noise of one sweep to exact fields, or chooses labels by exact scores; variance of the noise."""

    add_noise: Callable[[FloatArray], FloatArray]
    choose: Callable[[FloatArray], IndexArray]
    variance: float


def _usable_scores(oracle: FieldOracle, core: Core, sweeps: int, ledger: Ledger) -> LabelScores | None:
    """Scores serve pure noise only: in l2 they move more than fields."""
    scores = oracle.scores
    if scores is None or (scores.single and (core.size or sweeps > 1)):
        return None
    return scores if ledger.delta == 0 or ledger.parallel else None


def _open_release(
    oracle: FieldOracle, core: Core, sweep: int, sweeps: int, ledger: Ledger, share: float, noise: NoiseSource
) -> _Release:
    """Enter one sweep in the ledger.

    At delta = 1e-6 one look has a third of the standard deviation with Laplace noise; a Gaussian call that wants to
    stay one, because it composes better with others, is opened without `parallel`.
    """
    scores, unit, pairs = _usable_scores(oracle, core, sweeps, ledger), oracle.unit, core.other_pairs
    rows = "other rows" if core.size else f"sweep {sweep + 1}"
    name = f"{'fields' if scores is None else 'labels'}, {rows}"
    if ledger.delta > 0 and not ledger.parallel:
        bound = sensitivity.first_sweep(oracle.row_bound)
        scale = ledger.gaussian(name, sensitivity=bound, mu=ledger.mu * math.sqrt(share / sweeps), pairs=pairs)
        return _Release(lambda exact: noise.gaussian_on_grid(exact, unit, scale), np.argmax, scale**2)
    bound = sensitivity.first_sweep(oracle.row_bound_l1) if scores is None else scores.bound
    mechanism = "noisy maximum" if scores is not None and sweep == sweeps - 1 else "Laplace"
    if ledger.delta > 0:
        mu = ledger.mu * math.sqrt(1 - share)
        scale = ledger.laplace_beside(name, mechanism=mechanism, sensitivity=bound, mu=mu, pairs=pairs)
    else:
        epsilon = ledger.epsilon * share / sweeps
        scale = ledger.pure(name, mechanism=mechanism, sensitivity=bound, epsilon=epsilon, pairs=pairs)
    return _Release(
        lambda exact: noise.laplace_on_grid(exact, unit, scale),
        lambda exact: noise.noisy_argmax(exact, unit, scale),
        2 * scale**2,
    )
