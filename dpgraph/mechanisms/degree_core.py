"""Which rows of a bounded iteration are its core, and how often they are swept: released degrees decide.

Most vertices of real graphs have few edges, far below the noise of one sweep among many, while a few vertices hold most
of the sum of squared degrees. The latter settle the global structure among themselves; then each other vertex reads its
neighbours once, with the noise of a single release.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.bounded_iterates import (
    GAUSSIAN_SCHEDULE,
    Core,
    FieldOracle,
    Response,
    Schedule,
    release_iterates,
)
from dpgraph.mechanisms.degrees import release_degrees, release_degrees_purely
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = [
    "core_schedule",
    "degree_core",
    "degree_order",
    "release_core_iterates",
    "release_usable_degrees",
    "shrunken_degrees",
]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: At epsilon the core leaves out this share of the sum of squared degrees, over epsilon, and at most the other one
#: (tuned on planted cuts and validated on SNAP and Facebook100 graphs, benchmarks/results).
_LEFT_OUT, _MOST_LEFT_OUT = 0.1, 0.5
#: Below this average degree over max(epsilon, 1)**0.7 sweeps are lost in their noise; one look does better.
#: So they do, up to about epsilon = 2, where the degree of a vertex at the end of a typical edge is below it.
_SPARSE, _SPARSE_POWER = 25.0, 0.7


def release_core_iterates(
    graph: GraphOperator,
    oracle: FieldOracle,
    response: Response,
    *,
    mean_degree: float,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    progress: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Release degrees, let them choose the core and the scale of the fields, and iterate.

    Parameters
    ----------
    graph : GraphOperator
        The private graph whose vertices are the rows of `oracle`: neighbours of the data are neighbours of it.
    oracle, response
        As for :func:`~dpgraph.mechanisms.bounded_iterates.release_iterates`.
    mean_degree : float
        A private (released) average degree of `graph`.
    ledger, share, noise
        As there; the share pays for the degrees too.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    X, ratios : ndarray, shape (rows, columns)
        The last iterate and the last signal-to-noise ratios, all released.
    """
    w = graph.max_weight
    schedule = core_schedule(ledger, mean_degree / w)
    degrees = release_usable_degrees(graph, mean_degree, schedule.degree_share * share, ledger=ledger, noise=noise)
    return release_iterates(
        oracle,
        response,
        # The variance of a sum of d terms of size at most w is at most w d; each column has its part of the terms.
        w * degrees / oracle.columns,
        ledger=ledger,
        share=share * (1 - schedule.degree_share),
        noise=noise,
        schedule=schedule,
        core=degree_core(degrees, w, ledger.epsilon, noise.generator),
        progress=progress,
    )


def core_schedule(ledger: Ledger, mean_degree: float) -> Schedule:
    """Many sweeps under Gaussian noise; two to four under Laplace noise, as many as keep it below the fields.

    `mean_degree` is released, in units of max_weight.
    """
    if ledger.delta > 0:
        return replace(GAUSSIAN_SCHEDULE, sweeps=min(max(GAUSSIAN_SCHEDULE.sweeps, round(4.5 * ledger.epsilon)), 48))
    affordable = ledger.epsilon * math.sqrt(max(mean_degree, 1.0)) / (2 * math.sqrt(2.0))
    sweeps = min(max(math.ceil(affordable / 3), 2), 4)
    return Schedule(sweeps=sweeps, blocks=250, growth=0.0 if sweeps == 2 else 1.0, softness=8.0)


def degree_core(degrees: FloatArray, max_weight: float, epsilon: float, generator: np.random.Generator) -> Core:
    """Choose the core: as few vertices as hold the wanted share of the sum of squared (released, positive) degrees.

    In a graph of equal degrees that is nearly every vertex; where few vertices have most edges, few. In a sparse graph
    it is one vertex, so that every other one is looked at once.
    """
    order = degree_order(degrees, generator)
    held = np.cumsum(degrees[order] ** 2)
    mean, typical = degrees.mean() / max_weight, (degrees**2).sum() / degrees.sum() / max_weight
    sparse = mean < _SPARSE / max(epsilon, 1.0) ** _SPARSE_POWER or typical < _SPARSE / max(epsilon / 2, 1.0) ** 2
    wanted = 0.0 if sparse else 1 - min(_LEFT_OUT / epsilon, _MOST_LEFT_OUT)
    return Core(order, min(int(np.searchsorted(held, wanted * held[-1])) + 1, degrees.size))


def degree_order(degrees: FloatArray, generator: np.random.Generator) -> IndexArray:
    """Rows by decreasing (released) degree, equal degrees in random order."""
    shuffled = generator.permutation(degrees.size)
    return shuffled[np.argsort(-degrees[shuffled], kind="stable")]


def release_usable_degrees(
    graph: GraphOperator, mean_degree: float, share: float, *, ledger: Ledger, noise: NoiseSource
) -> FloatArray:
    """Release the degrees for a share of the budget, shrunk by what is noise in them."""
    w = graph.max_weight
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
