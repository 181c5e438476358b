"""The leading eigenvector by the power method with pure noise that is drawn for all products together.

As the noisy power method does (:mod:`~dpgraph.releases.eigenspaces.power_method`), this releases products A x with
public iterates x and keeps all of them. But one edge adds to a row of a product at most the largest entry of x, in
every product, and the noise of all products at a row is one vector
(:class:`~dpgraph.privacy.reading_norm.ReadingNorm`). Several columns would each have to be paid for, so that beyond
one Gaussian noise is better.

Where the degrees are close to the vector, an iterate is what posterior means say of it, with its largest entries, which
set the noise of the next product, cut off as far as that pays; few products are enough. Where they are far
(:mod:`~dpgraph.releases.eigenspaces.residual`), cut-off iterates would not get there: posterior means are taken as they
are, and more products.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.denoise.empirical_bayes import (
    enough_rows,
    posterior_basis,
    posterior_means_and_response,
    unless_vanished,
)
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.reading_norm import ReadingNorm, reading_grid
from dpgraph.releases.arrays import release_scalar
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.eigenspaces.power_method import LowRankAdjacency, Products, row_scales
from dpgraph.releases.eigenspaces.residual import DegreeResidual
from dpgraph.releases.sweeps.core import shrunken_degrees

__all__ = ["release_leading_vector"]

FloatArray = NDArray[np.float64]

#: Shares of the budget for the degrees and for the eigenvalue.
_DEGREE_SHARE, _VALUE_SHARE = 0.06, 0.01
#: So many products, times this power of epsilon, from degrees that are close to the eigenvector: noise is what hurts.
_ITERATIONS, _POWER, _LEAST, _MOST = 3.6, 0.52, 2, 16
#: From others, this many over the noise of a count of each vertex, in units of the eigenvalue, or this many times that
#: power of epsilon where that is more.
_FAR_ITERATIONS, _UNKNOWN_ITERATIONS, _FAR_LEAST, _FAR_MOST = 7.0, 6.0, 3, 24
#: What a product counts for, per iteration that has passed since, while the vector is being found; and at the end: only
#: the last product, or all of them.
_DECAY, _LAST_DECAYS = 0.1, (0.5, 1.0)
#: Candidates for the largest entry of an iterate, in units of its root mean square.
_CAPS = (1.5, 2.0, 3.0, 4.5, 7.0, math.inf)
#: Scaling back to length 1 makes entries a little larger than the cap again; so often both are done.
_CAPPINGS = 3
#: Share of what a cap cuts off that one product does not bring back, and of the squared noise of that product which
#: is left in posterior means beyond what they say.
_SECOND, _LEFT = 0.6, 0.8
#: Iterates are multiples of this, times their largest entry, so that products lie exactly on a public grid, of weighted
#: graphs of up to a million edges a vertex too.
_UNIT = 2.0**-13


def release_leading_vector(
    graph: GraphOperator,
    *,
    residual: DegreeResidual,
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
    residual : DegreeResidual
        Whether the degrees, from which it starts, are far from the eigenvector.
    ledger, share, noise
        Pure budget of the call, share of it for this release, source of noise.
    regularization, denoise
        As for :func:`~dpgraph.releases.eigenspaces.power_method.release_low_rank_adjacency`.

    Notes
    -----
    *Guarantee.* Products: :func:`~dpgraph.bounds.sensitivity.repeated_readings`, from a start that is not zero: the
    norm is that of a cube, where this costs nothing more for two products or more, and twice as much for a single one.
    Each iterate is divided by its (public) largest entry.
    """
    w, n = graph.max_weight, graph.n_vertices
    epsilon = ledger.epsilon * share
    degrees, std = release_degrees(graph, Call(ledger, noise, _DEGREE_SHARE * share))
    shrunken = shrunken_degrees(degrees, float(degrees.mean()), std, w)
    rows = row_scales(degrees, regularization, w)
    steer = _posterior if residual.is_large else _capped_posterior
    Q = _iterate(
        graph,
        rows,
        (rows * shrunken)[:, None],
        _iterations(epsilon, residual, w * math.sqrt(n)),
        ledger=ledger,
        epsilon=epsilon * (1 - _DEGREE_SHARE - _VALUE_SHARE),
        noise=noise,
        steer=steer if denoise and enough_rows(n, 1) else None,
    )
    scaled = rows[:, None] * Q
    value = float(np.sum(scaled * graph.multiply(scaled)))
    bound = sensitivity.adjacency_core(w, scaled)
    core = release_scalar("core", value, bound, ledger, epsilon * _VALUE_SHARE, noise)
    return LowRankAdjacency(degrees, Q, np.array([[core]]))


def _iterations(epsilon: float, residual: DegreeResidual, size: float) -> int:
    """Products to release: the farther from the eigenvector they start, the more; the more noise, the fewer.

    `size` is the norm of a column of noise of scale w.
    """
    if residual.is_large:
        found = _FAR_ITERATIONS * epsilon * residual.quotient / size
        return min(max(round(found), round(_UNKNOWN_ITERATIONS * epsilon**_POWER), _FAR_LEAST), _FAR_MOST)
    return min(max(round(_ITERATIONS * epsilon**_POWER), _LEAST), _MOST)


def _iterate(
    graph: GraphOperator,
    rows: FloatArray,
    start: FloatArray,
    iterations: int,
    *,
    ledger: Ledger,
    epsilon: float,
    noise: NoiseSource,
    steer: Callable[[Products, FloatArray, float], FloatArray] | None,
) -> FloatArray:
    """Unit vector close to the leading eigenvector of diag(rows) A diag(rows), from a public start, shape (n, 1)."""
    norm = ReadingNorm(iterations, ratio=1.0)
    step, envelope, epsilon = reading_grid(graph.max_weight, 1, graph.weight_unit * _UNIT, epsilon)
    moved = sensitivity.repeated_readings(envelope, norm, from_zero=False)
    scale = ledger.pure(f"{iterations} products", mechanism="K-norm", sensitivity=moved, epsilon=epsilon)
    everywhere = np.arange(graph.n_vertices)
    readings = noise.readings((graph.n_vertices, 1), everywhere, norm, step, scale)
    variance = norm.variances(scale)[1]
    Q = start / np.linalg.norm(start)
    seen = Products(Q, iterations)
    value = 0.0
    for t in range(iterations):
        largest = float(np.abs(rows[:, None] * Q).max())
        exact = graph.multiply(np.rint(rows[:, None] * Q / (largest * _UNIT)) * _UNIT)
        noisy = readings.later(everywhere, exact) if t else readings.first(everywhere, exact)
        product = rows[:, None] * noisy * largest
        seen.add(product, variance * largest**2)
        value = max(value, float(np.sum(Q * product)))
        seen.improve(_DECAY)
        Q = seen.basis()
        if steer and t < iterations - 1:
            Q = steer(seen, rows, variance / value**2 if value > 0 else math.inf)
    _average(seen, rows)
    if steer:
        return posterior_basis(seen.basis(), seen.covariance(), rows)
    return seen.basis() / np.linalg.norm(seen.basis())


def _posterior(seen: Products, rows: FloatArray, variance: float) -> FloatArray:
    """Go on from the posterior means of the rows: where the vector lives on a small group, all noise elsewhere goes."""
    return seen.replace_basis(posterior_basis(seen.basis(), seen.covariance(), rows))


def _capped_posterior(seen: Products, rows: FloatArray, variance: float) -> FloatArray:
    """Go on from posterior means whose largest entries are cut off where that promises the best next product.

    The noise of a product with x is proportional to the largest entry of x. If x has a cosine c with the means, which
    stand for the eigenvector, then the product has a squared error of the noise over c^2, in units of the eigenvalue,
    of which posterior means leave what they respond to it; and of what was cut off, a part that depends on the other
    eigenvalues.

    Parameters
    ----------
    seen, rows
        Products so far, scales of the rows.
    variance : float
        Of the noise at a row of scale 1, of a product with an iterate of largest entry 1, over the squared eigenvalue.
    """
    Q = seen.basis()
    means, response = posterior_means_and_response(Q, seen.covariance(), rows)
    means = unless_vanished(means, Q)
    means = means / np.linalg.norm(means)
    left = _LEFT * min(max(float(response[0, 0]), 0.0), float(np.sum(rows**2))) * variance
    candidates = [_capped(means, cap) for cap in _CAPS]
    errors = []
    for x in candidates:
        kept = min(float(np.sum(x * means)) ** 2, 1.0)
        errors.append((left * float(np.abs(rows[:, None] * x).max()) ** 2 + _SECOND**2 * (1 - kept)) / kept)
    return seen.replace_basis(candidates[int(np.argmin(errors))])


def _capped(x: FloatArray, cap: float) -> FloatArray:
    """Return a unit vector close to `x`, shape (n, 1), whose entries are about `cap`/sqrt(n) at most in size."""
    largest = cap / math.sqrt(len(x))
    x = x / np.linalg.norm(x)
    for _ in range(_CAPPINGS):
        x = np.clip(x, -largest, largest)
        x = x / np.linalg.norm(x)
    return np.asarray(x)


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
