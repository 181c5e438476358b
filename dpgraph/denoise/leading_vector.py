"""Estimates of a leading eigenvector from released products: the next public iterate, and the average at the end."""

import math
from collections.abc import Callable

import numpy as np

from dpgraph.denoise.empirical_bayes import posterior_basis, posterior_means_and_response, unless_vanished
from dpgraph.denoise.products import Products
from dpgraph.tuning import VECTOR
from dpgraph.typing import FloatArray

__all__ = ["Steer", "average", "capped_posterior", "posterior"]


#: ``steer(seen, rows, variance)``: the next iterate, shape (n, 1), of which `seen` takes note.
Steer = Callable[[Products, FloatArray, float], FloatArray]


def posterior(seen: Products, rows: FloatArray, variance: float) -> FloatArray:
    """Go on from the posterior means of the rows: what lives on a small group loses all noise elsewhere."""
    return seen.replace_basis(posterior_basis(seen.basis(), seen.covariance(), rows))


def capped_posterior(seen: Products, rows: FloatArray, variance: float) -> FloatArray:
    """Go on from posterior means whose largest entries are cut off where that promises the best next product.

    The noise of a product with x is proportional to the largest entry of x. Let c be the cosine of x with the means,
    which stand for the eigenvector. The next estimate then has a squared error, in units of the eigenvalue, of

        (left (largest entry of rows * x)^2 + 0.6^2 (1 - c^2)) / c^2,

    where left = 0.8 (response of the means to their noise) variance. The cap that makes it smallest is taken.

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
    left = VECTOR.left * min(max(float(response[0, 0]), 0.0), float(np.sum(rows**2))) * variance
    candidates = [_capped(means, cap) for cap in VECTOR.caps]
    errors = []
    for x in candidates:
        kept = min(float(np.sum(x * means)) ** 2, 1.0)
        errors.append((left * float(np.abs(rows[:, None] * x).max()) ** 2 + VECTOR.second**2 * (1 - kept)) / kept)
    return seen.replace_basis(candidates[int(np.argmin(errors))])


def _capped(x: FloatArray, cap: float) -> FloatArray:
    """Return a unit vector close to `x`, shape (n, 1), whose entries are about `cap`/sqrt(n) at most in size."""
    largest = cap / math.sqrt(len(x))
    x = x / np.linalg.norm(x)
    for _ in range(VECTOR.cappings):
        x = np.clip(x, -largest, largest)
        x = x / np.linalg.norm(x)
    return np.asarray(x)


def average(seen: Products, rows: FloatArray) -> None:
    """Average the products, as far as that takes away more noise than it brings back of earlier iterates.

    An average with noise a beside the last product with noise b, in parts of the squared norm, differs from it by b - a
    through noise; what it differs by in excess is what earlier iterates had not found yet.
    """
    last, noise = seen.coefficients, seen.noise_share(rows)
    Q = seen.basis()
    best, least = last, noise
    for decay in VECTOR.last_decays:
        seen.coefficients = last
        seen.improve(decay)
        less, other = seen.noise_share(rows), seen.basis()
        apart = 2 - 2 * abs(float(np.sum(Q * other)) / float(np.linalg.norm(Q) * np.linalg.norm(other)))
        error = less + max(apart - (noise - less), 0.0)
        if error < least:
            best, least = seen.coefficients, error
    seen.coefficients = best
