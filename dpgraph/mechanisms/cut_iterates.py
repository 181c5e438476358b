"""Private cuts by bounded iterates: a core of large degrees iterates, every other vertex looks once.

Most vertices of real graphs have few edges, far below the noise of one sweep among many, while a few vertices hold most
of the sum of squared degrees. The latter settle the global structure among themselves; then each other vertex reads its
neighbours once, with the noise of a single release. Which vertices are which, released degrees say.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.bounded_iterates import (
    GAUSSIAN_SCHEDULE,
    ITERATE_UNIT,
    Core,
    FieldOracle,
    Schedule,
    release_iterates,
)
from dpgraph.mechanisms.degrees import release_degrees, release_degrees_purely
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = ["cut_core", "cut_schedule", "release_cut_labels", "shrunken_degrees"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: At epsilon the core leaves out this share of the sum of squared degrees, over epsilon, and at most the other one
#: (tuned on planted cuts and validated on SNAP and Facebook100 graphs, benchmarks/results).
_LEFT_OUT, _MOST_LEFT_OUT = 0.1, 0.5


def cut_schedule(ledger: Ledger, mean_degree: float) -> Schedule:
    """Many sweeps under Gaussian noise; two to four under Laplace noise, as many as keep it below the fields.

    `mean_degree` is released, in units of max_weight.
    """
    if ledger.delta > 0:
        return GAUSSIAN_SCHEDULE
    affordable = ledger.epsilon * math.sqrt(max(mean_degree, 1.0)) / (2 * math.sqrt(2.0))
    sweeps = min(max(math.ceil(affordable / 3), 2), 4)
    return Schedule(sweeps=sweeps, blocks=1000, growth=0.0 if sweeps == 2 else 1.0, degree_share=0.02)


def cut_core(degrees: FloatArray, epsilon: float, generator: np.random.Generator) -> Core:
    """Choose the core: as few vertices as hold the wanted share of the sum of squared (released, positive) degrees.

    In a graph of equal degrees that is nearly every vertex; where few vertices have most edges, few.
    """
    shuffled = generator.permutation(degrees.size)  # equal degrees in random order
    order = shuffled[np.argsort(-degrees[shuffled], kind="stable")]
    held = np.cumsum(degrees[order] ** 2)
    wanted = 1 - min(_LEFT_OUT / epsilon, _MOST_LEFT_OUT)
    return Core(order, min(int(np.searchsorted(held, wanted * held[-1])) + 1, degrees.size))


class _Signs:
    """Each row takes the side opposite to its field."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        return generator.choice(np.array([-1.0, 1.0]), size=(size, 1))

    def answer(self, block: IndexArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        opinion = -np.sign(ratio) if math.isinf(sharpness) else -np.tanh(sharpness * ratio)
        return np.rint(opinion / ITERATE_UNIT) * ITERATE_UNIT


class _BalancedSigns(_Signs):
    """The same with a multiplier for each block that keeps the sum of the iterate within its chance fluctuation.

    A random half of the vertices has sum of order sqrt(n), so that much is left alone: forcing every block to balance
    exactly would misplace vertices of a planted bisection.
    """

    def answer(self, block: IndexArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        others = float(X.sum() - X[block].sum())
        total = others - float(np.sign(ratio).sum())
        excess = math.copysign(max(abs(total) - math.sqrt(len(X)), 0.0), total)
        if excess == 0.0:
            return super().answer(block, ratio, sharpness, X)
        ups = np.sum(ratio < 0) - excess / 2
        multiplier = np.quantile(ratio, min(max(ups / len(ratio), 0.0), 1.0))
        return super().answer(block, ratio - multiplier, sharpness, X)


def release_cut_labels(
    graph: GraphOperator,
    *,
    mean_degree: float,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    balanced: bool = False,
    schedule: Schedule | None = None,
    progress: bool = False,
) -> NDArray[np.int8]:
    """Release a 0/1 side for each vertex for a share of the budget, aiming at a large cut.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    mean_degree : float
        A private (released) average degree.
    ledger, share, noise
        As for :func:`release_iterates`.
    balanced : bool
        Make the sides differ by at most one vertex.
    schedule : Schedule, optional
        By default the one for the noise of the ledger.
    progress : bool
        Show a bar on stderr.
    """
    n, w = graph.n_vertices, graph.max_weight
    if schedule is None:
        schedule = cut_schedule(ledger, mean_degree / w)
    degrees = _usable_degrees(graph, mean_degree, schedule.degree_share * share, ledger=ledger, noise=noise)
    oracle = FieldOracle(
        rows=n,
        columns=1,
        fields=graph.multiply_rows,
        unit=graph.weight_unit * ITERATE_UNIT,
        row_bound=w,
        row_bound_l1=w,
    )
    X, ratios = release_iterates(
        oracle,
        _BalancedSigns() if balanced else _Signs(),
        w * degrees,  # the variance of a sum of d terms of size at most w is at most w d
        ledger=ledger,
        share=share * (1 - schedule.degree_share),
        noise=noise,
        schedule=schedule,
        core=cut_core(degrees, ledger.epsilon, noise.generator),
        progress=progress,
    )
    if not balanced:
        return (X[:, 0] < 0).astype(np.int8)
    # The half with the smaller fields goes to one side: the rows that change sides are the least certain ones.
    labels = np.ones(n, dtype=np.int8)
    labels[np.argsort(ratios[:, 0], kind="stable")[: n // 2]] = 0
    return labels


def _usable_degrees(
    graph: GraphOperator, mean_degree: float, share: float, *, ledger: Ledger, noise: NoiseSource
) -> FloatArray:
    """Release the degrees for a share of the budget, shrunk by what is noise in them; all equal if the share is 0."""
    w = graph.max_weight
    if share == 0:
        return np.full(graph.n_vertices, max(mean_degree, w))
    if ledger.delta > 0:
        mu = ledger.mu * math.sqrt(share)
        noisy = release_degrees(graph, ledger=ledger, mu=mu, noise=noise)
        return shrunken_degrees(noisy, mean_degree, sensitivity.degrees_l2(w) / mu, w)
    epsilon = ledger.epsilon * share
    noisy = release_degrees_purely(graph, ledger=ledger, epsilon=epsilon, noise=noise)
    return shrunken_degrees(noisy, mean_degree, math.sqrt(2.0) * sensitivity.degrees_l1(w) / epsilon, w)


def shrunken_degrees(noisy: FloatArray, mean: float, scale: float, floor: float) -> FloatArray:
    """Shrink noisy degrees towards their mean by the share of their variance that is noise, and keep them positive."""
    mean = max(mean, floor)
    spread = float(np.mean((noisy - mean) ** 2))
    signal = max(spread - scale**2, 0.0) / spread if spread > 0 else 0.0
    return np.maximum(mean + signal * (noisy - mean), mean / 4)
