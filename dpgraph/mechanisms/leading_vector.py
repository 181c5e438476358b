"""The leading eigenvector by the power method with pure noise that is drawn for all products together.

As the noisy power method does (:mod:`~dpgraph.mechanisms.noisy_power`), this releases products A x with public iterates
x and keeps all of them. But one edge adds to a row of a product at most the largest entry of x, in every product, and
the noise of all products at a row is one vector (:class:`~dpgraph.privacy.reading_norm.ReadingNorm`). Several columns
would each have to be paid for, so that beyond one Gaussian noise is better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.degree_core import shrunken_degrees
from dpgraph.mechanisms.degrees import release_degrees_purely
from dpgraph.mechanisms.empirical_bayes import enough_rows, posterior_basis
from dpgraph.mechanisms.noisy_power import LowRankAdjacency, Products, clipped, row_scales, unevenness_of
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.reading_norm import ReadingNorm, reading_grid
from dpgraph.spectral import sensitivity

__all__ = ["release_leading_vector"]

FloatArray = NDArray[np.float64]

#: Shares of the budget for the degrees and for the eigenvalue.
_DEGREE_SHARE, _VALUE_SHARE = 0.06, 0.01
#: So many products, times this power of epsilon, between the bounds: with little noise, convergence is what is missing.
_ITERATIONS, _POWER, _LEAST, _MOST = 6.0, 0.6, 3, 16
#: What a product counts for, per iteration that has passed since, while the vector is being found; and at the end: only
#: the last product, or all of them.
_DECAY, _LAST_DECAYS = 0.1, (0.5, 1.0)
#: Rows of an iterate that is noise to more than this share are clipped, where epsilon is below the second number over
#: the ratio of the two largest (released) degrees to all of them, or below the third.
_NOISY, _FLAT, _SMALL = 0.12, 11.5, 1.6
#: From the same epsilon on noise is small enough to say what it hides: posterior means take the place of an iterate if
#: they promise at least so much of what it promises. An iterate is never taken for noise alone.
_WORTH, _LEAST_SIGNAL = 0.8, 1e-3
#: Iterates are multiples of this, times their largest entry, so that products lie exactly on a public grid, of weighted
#: graphs of up to a million edges a vertex too.
_UNIT = 2.0**-13
#: Grid of the eigenvalue in units of its noise.
_VALUE_UNIT = 2.0**-20


def release_leading_vector(
    graph: GraphOperator,
    *,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    regularization: float,
    denoise: bool = False,
) -> LowRankAdjacency:
    """Release degrees and a rank-one adjacency for a share of a pure budget.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    ledger, share, noise
        Pure budget of the call, share of it for this release, source of noise.
    regularization, denoise
        As for :func:`~dpgraph.mechanisms.noisy_power.release_low_rank_adjacency`.

    Notes
    -----
    *Guarantee.* Products: :func:`~dpgraph.spectral.sensitivity.repeated_readings`, whose norm is that of a cube, so
    that the iterate need not be zero at the start. Each iterate is divided by its (public) largest entry.
    """
    w, n = graph.max_weight, graph.n_vertices
    epsilon = ledger.epsilon * share
    degrees = release_degrees_purely(graph, ledger=ledger, epsilon=_DEGREE_SHARE * epsilon, noise=noise)
    std = math.sqrt(2.0) * ledger.entries[-1].scale
    shrunken = shrunken_degrees(degrees, float(degrees.mean()), std, w)
    rows = row_scales(degrees, regularization, w)
    Q = _iterate(
        graph,
        rows,
        (rows * shrunken)[:, None],
        ledger=ledger,
        epsilon=epsilon * (1 - _DEGREE_SHARE - _VALUE_SHARE),
        noise=noise,
        denoise=denoise and enough_rows(n, 1),
        clips=denoise and (epsilon < _SMALL or epsilon * unevenness_of(shrunken) < _FLAT),
    )
    scaled = rows[:, None] * Q
    value = float(np.sum(scaled * graph.multiply(scaled)))
    bound = sensitivity.adjacency_core(w, scaled)
    core = _release_value(value, bound, ledger, epsilon * _VALUE_SHARE, noise)
    return LowRankAdjacency(degrees, Q, np.array([[core]]))


def _iterate(
    graph: GraphOperator,
    rows: FloatArray,
    start: FloatArray,
    *,
    ledger: Ledger,
    epsilon: float,
    noise: NoiseSource,
    denoise: bool,
    clips: bool,
) -> FloatArray:
    """Unit vector close to the leading eigenvector of diag(rows) A diag(rows), from a public start, shape (n, 1)."""
    iterations = min(max(round(_ITERATIONS * epsilon**_POWER), _LEAST), _MOST)
    norm = ReadingNorm(iterations, ratio=1.0)
    step, envelope, epsilon = reading_grid(graph.max_weight, 1, graph.weight_unit * _UNIT, epsilon)
    moved = sensitivity.repeated_readings(envelope)
    scale = ledger.pure(f"{iterations} products", mechanism="K-norm", sensitivity=moved, epsilon=epsilon)
    everywhere = np.arange(graph.n_vertices)
    readings = noise.readings((graph.n_vertices, 1), everywhere, norm, step, scale)
    variance = norm.variances(scale)[1]
    Q = start / np.linalg.norm(start)
    seen = Products(Q, iterations)
    for t in range(iterations):
        if clips and t and seen.noise_share(rows) > _NOISY:
            Q = seen.replace_basis(clipped(Q))
        largest = float(np.abs(rows[:, None] * Q).max())
        exact = graph.multiply(np.rint(rows[:, None] * Q / (largest * _UNIT)) * _UNIT)
        noisy = readings.later(everywhere, exact) if t else readings.first(everywhere, exact)
        seen.add(rows[:, None] * noisy * largest, variance * largest**2)
        seen.improve(_DECAY)
        Q = seen.basis()
        if denoise and epsilon >= _SMALL and t < iterations - 1:
            Q = _promising(seen, Q, rows)
    _average(seen, rows)
    if denoise:
        return posterior_basis(seen.basis(), seen.covariance(), rows)
    return seen.basis() / np.linalg.norm(seen.basis())


def _promising(seen: Products, Q: FloatArray, rows: FloatArray) -> FloatArray:
    """Go on from the posterior means of the rows, if they promise more signal for the noise of the next product.

    That noise is proportional to the largest row. Where the vector lives on a small group, posterior means are nearly
    zero elsewhere, and all noise there is gone; where it does not, their largest rows stand out more than before.
    """
    means = posterior_basis(Q, seen.covariance(), rows)
    Q = Q / np.linalg.norm(Q)
    signal = math.sqrt(max(1 - seen.noise_share(rows), _LEAST_SIGNAL))
    found = min(abs(float(np.sum(Q * means))) / signal, 1.0)
    largest = [float(np.abs(rows[:, None] * vector).max()) for vector in (Q, means)]
    return seen.replace_basis(means) if found / largest[1] > _WORTH * signal / largest[0] else Q


def _average(seen: Products, rows: FloatArray) -> None:
    """Average the products, as far as that takes away more noise than it brings back of earlier iterates.

    An average with noise a beside the last product with noise b, in parts of the squared norm, differs from it by b - a
    through noise; what it differs by in excess is what earlier iterates had not found yet.
    """
    last, noise = seen.coefficients, seen.noise_share(rows)
    Q = seen.basis()
    best, least = last, noise
    for decay in _LAST_DECAYS:
        seen.coefficients = last
        seen.improve(decay)
        less, other = seen.noise_share(rows), seen.basis()
        apart = 2 - 2 * abs(float(np.sum(Q * other)) / float(np.linalg.norm(Q) * np.linalg.norm(other)))
        error = less + max(apart - (noise - less), 0.0)
        if error < least:
            best, least = seen.coefficients, error
    seen.coefficients = best


def _release_value(value: float, bound: float, ledger: Ledger, epsilon: float, noise: NoiseSource) -> float:
    """An eigenvalue with Laplace noise, rounded to a grid, which adds one step to the bound."""
    unit = 2.0 ** math.floor(math.log2(bound / epsilon)) * _VALUE_UNIT
    scale = ledger.laplace("core", sensitivity=bound + unit, epsilon=epsilon)
    return float(noise.laplace_on_grid(np.array([np.rint(value / unit) * unit]), unit, scale)[0])
