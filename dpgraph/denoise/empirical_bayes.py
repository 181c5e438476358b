"""Noise is taken out of released eigenvectors by what their own rows say about the law of rows (empirical Bayes).

Released rows are true rows plus Gaussian noise of a known covariance. Rows of real graphs are far from Gaussian: most
are close to 0 and a few are large, or they gather around one point for each community. That law is estimated from the
released rows, as a mixture whose weights maximise their likelihood; each row becomes its posterior mean under it.

X. Zhong, C. Su, Z. Fan, "Empirical Bayes PCA in high dimensions", JRSS B 2022 (nonparametric priors); J. Kiefer,
J. Wolfowitz, Ann. Math. Statist. 1956 (the maximum likelihood estimate of a mixture).

After randomised response this is repeated (approximate message passing, :func:`refined_eigenvectors`). The bits, made
unbiased, are the adjacency matrix plus noise that is independent in all pairs and has a known variance. Products of the
matrix with posterior means of rows are corrected for the part of the noise that these contain already (Onsager's term),
so that their error is Gaussian with a known covariance once more, and posterior means are taken again: A. Montanari,
R. Venkataramanan, "Estimation of low-rank matrices via approximate message passing", Ann. Statist. 2021.
"""

from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dpgraph.typing import FloatArray

#: Rows that components of the mixture are centred at: spread evenly, and the longest ones.
_EVEN, _LONGEST = 160, 40
#: Centres are this part of the noise of a row apart: closer ones say the same.
_APART = 1 / 8
#: Rows that the weights are fitted to, and steps of expectation maximisation: few, or the law would fit the noise.
_FITTED, _STEPS = 3000, 40
#: Rows whose posterior means are computed at a time: their likelihoods stay in the processor's cache.
_CHUNK = 512
#: Relative difference up to which the variances of the noise of some rows are taken for equal.
_ALIKE = 0.1
#: Least number of rows for each column: fewer say too little about their law.
_ROWS_PER_COLUMN = 30
#: Columns whose posterior means are below this share of them are all noise.
_VANISHED = 1e-3
#: Least weight of a component: that of a row which is far from all rows that weights are fitted to would vanish.
_LEAST_WEIGHT = 1e-12
#: Variances below this share of the largest are rounding.
_ROUNDING = 1e-12
#: Products after the spectral estimate; where that is good, the first one is what matters.
_PRODUCTS = 5


def enough_rows(n: int, columns: int) -> bool:
    """Whether n rows say enough about their law."""
    return n >= _ROWS_PER_COLUMN * columns


def posterior_basis(rows: FloatArray, covariance: FloatArray, scales: FloatArray | None = None) -> FloatArray:
    """Orthonormal basis of the posterior means, shape (n, r), or of the rows where the means of a column vanish."""
    return np.asarray(np.linalg.qr(unless_vanished(posterior_means(rows, covariance, scales), rows))[0])


def unless_vanished(means: FloatArray, rows: FloatArray) -> FloatArray:
    """Return posterior means, or the rows where the means of a column vanish."""
    sizes = np.linalg.norm(means, axis=0), np.linalg.norm(rows, axis=0)
    return means if np.all(sizes[0] > _VANISHED * sizes[1]) else rows


def posterior_means(rows: FloatArray, covariance: FloatArray, scales: FloatArray | None = None) -> FloatArray:
    """Posterior means of true rows given noisy ones, under the law of rows that explains them best, shape (n, r).

    Row i is a true row plus noise N(0, scales[i]**2 covariance), scales 1 unless given. Nothing is changed where
    `covariance` is 0. Components are Gaussians centred at some of the rows, as wide as the distance to the next of
    these centres: where rows are dense beside the noise, they are points, and rows that are few and far apart stay.
    """
    scales = np.ones(len(rows)) if scales is None else scales
    return posterior_means_and_response(rows, covariance, scales, respond=False)[0]


def posterior_means_and_response(
    rows: FloatArray, covariance: FloatArray, scales: FloatArray, *, respond: bool = True
) -> tuple[FloatArray, FloatArray]:
    """:func:`posterior_means`, and how they respond to the rows, the law being fixed; zeros unless `respond`.

    The response (r, r) is the sum of scales[i]**2 times the derivative of mean i (first axis) by row i (second axis).
    """
    noise = scales**2
    variances, axes = np.linalg.eigh(covariance)
    if not variances[-1] > 0.0:
        return rows, noise.sum() * np.eye(len(axes))
    stds = np.sqrt(np.maximum(variances, _ROUNDING * variances[-1]))
    whiten, colour = axes / stds, (axes * stds).T
    white = rows @ whiten
    centres, widths, weights = _fitted_law(white, noise)
    means, response = np.empty_like(white), np.zeros((len(axes), len(axes)))
    columns = np.hstack([np.ones((len(centres), 1)), centres])
    for part, own in _alike(noise):
        x, inverse = white[part], 1 / (widths + own)
        share = widths * inverse
        likely = _likelihood(x, inverse, centres, weights, np.float64 if respond else np.float32)
        factors = np.vstack([np.ones_like(share), share, inverse, share * inverse])[: 4 if respond else 2]
        sums = likely @ (factors.T[:, :, None] * columns[:, None, :]).reshape(len(centres), -1).astype(likely.dtype)
        sums /= sums[:, :1].copy()
        all_, kept, score, near = (*np.split(sums, len(factors), axis=1), sums, sums)[:4]
        means[part] = kept[:, :1] * x + all_[:, 1:] - kept[:, 1:]
        if respond:
            total = own * ((1 / (likely @ np.ones(len(centres)))) @ likely) * inverse
            response += _response(x, means[part], own * score, own * near)
            response += own * kept[:, 0].sum() * np.eye(len(axes)) + (centres.T * (total * (1 - share))) @ centres
    return means @ colour, colour.T @ response @ whiten.T


def _response(x: FloatArray, means: FloatArray, scores: FloatArray, near: FloatArray) -> FloatArray:
    """Sum over rows of noise times what their means owe to the change of posterior weights, less a sum of centres.

    Component k has mean m_k = share_k x + (1 - share_k) c_k and score s_k = -(x - c_k)/(width_k + noise): its weight
    p_k changes by p_k (s_k - s), s the mean score, and the mean by the sum of p_k m_k (s_k - s)'. `scores` are the sums
    over k of noise p_k/(width_k + noise) times 1 and c_k, `near` those of that times share_k; m_k and s_k are
    multiplied out. Without a row the rest is (1 - share_k) c_k c_k'.
    """
    products: FloatArray = x.T @ near[:, 1:] - (scores - near)[:, 1:].T @ x - (x.T * near[:, 0]) @ x
    products -= means.T @ (scores[:, 1:] - scores[:, :1] * x)
    return products


def _alike(noise: FloatArray) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Rows of nearly the same noise, which share the variances of all components, and its mean."""
    order = np.argsort(noise)
    ordered, start = noise[order], 0
    while start < len(order):
        stop = min(int(np.searchsorted(ordered, (1 + _ALIKE) * ordered[start], side="right")), start + _CHUNK)
        yield order[start:stop], float(ordered[start:stop].mean())
        start = stop


def _fitted_law(white: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centres, variances and weights of the mixture that explains the rows best."""
    centres = _centres(white, _APART * float(np.sqrt(np.median(noise))))
    widths = _distances_to_next(centres) ** 2
    even = np.full(len(centres), 1 / len(centres))
    fitted = _evenly(len(white), _FITTED)
    parts = [_likelihood(white[fitted[part]], 1 / (widths + own), centres, even) for part, own in _alike(noise[fitted])]
    likelihood, weights = np.vstack(parts), cast(NDArray[np.floating], even.astype(np.float32))
    for _ in range(_STEPS):
        weights = weights * ((1 / (likelihood @ weights)) @ likelihood) / len(fitted)
    return centres, widths, np.maximum(weights, _LEAST_WEIGHT, dtype=np.float64)


def _centres(white: FloatArray, apart: float) -> FloatArray:
    """Some rows, one in each cell of a grid, and 0."""
    longest = np.argpartition(_half_squares(white), -min(_LONGEST, len(white)))[-_LONGEST:]
    chosen = np.union1d(_evenly(len(white), _EVEN), longest)
    centres = np.vstack([np.zeros((1, white.shape[1])), white[chosen]])
    return centres[np.unique(np.rint(centres / apart), axis=0, return_index=True)[1]]


def _distances_to_next(points: FloatArray) -> FloatArray:
    """Distance of each point to the closest other one, 0 for a single point."""
    squares = np.einsum("ij,ij->i", points, points)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    return np.sqrt(np.maximum(np.where(np.isfinite(nearest), nearest, 0.0), 0.0))


def _likelihood(
    white: FloatArray, inverse: FloatArray, centres: FloatArray, weights: FloatArray, kind: type = np.float32
) -> NDArray[np.floating]:
    """Weight times density of components at rows, up to a factor of the row; `inverse` are inverse variances.

    Single precision is far finer than the noise, and takes half of the time; derivatives want double.
    """
    left = np.column_stack([white, _half_squares(white), np.ones(len(white))])
    constant = np.log(weights) + white.shape[1] / 2 * np.log(inverse) - inverse * _half_squares(centres)
    logs = left @ np.vstack([inverse * centres.T, -inverse, constant])
    found = np.empty(logs.shape, dtype=kind)
    np.subtract(logs, logs.max(axis=1, keepdims=True), out=found, casting="same_kind")
    return np.asarray(np.exp(found, out=found))


def _half_squares(points: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", points, points) / 2)


def _evenly(n: int, count: int) -> NDArray[np.int64]:
    """At most `count` positions, evenly spread over 0, ..., n - 1."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def refined_eigenvectors(
    multiply: Callable[[FloatArray], FloatArray],
    values: FloatArray,
    vectors: FloatArray,
    *,
    variance: float,
    scales: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Estimate the space of leading eigenvectors of the matrix behind a noisy one, and what the noise says on it.

    `multiply` is the product of the noisy symmetric matrix with an array of shape (n, r), `values` and `vectors`, shape
    (n, r), are its leading eigenpairs, and the noise W of entry (i, j) has variance `variance` scales[i]**2
    scales[j]**2. Returned are the estimates X, shape (n, r), not orthonormal, and the bias E X' W X, shape (r, r):
    (noisy matrix on the space of X) - bias is unbiased. W X is Onsager's term of a product plus Gaussian noise, and by
    Stein's lemma that noise has the same inner product with the next posterior means as the term: bias is twice it.
    """
    before = vectors / values
    estimate, covariance = vectors, variance * _weighted_gram(before, scales)
    for _ in range(_PRODUCTS):
        means, response = posterior_means_and_response(estimate, covariance, scales)
        estimate = multiply(means) - variance * scales[:, None] ** 2 * (before @ response.T)
        before, covariance = means, variance * _weighted_gram(means, scales)
    means, response = posterior_means_and_response(estimate, covariance, scales)
    half = variance * (means.T @ (scales[:, None] ** 2 * before)) @ response.T
    return means, half + half.T


def _weighted_gram(X: FloatArray, scales: FloatArray) -> FloatArray:
    weighted = scales[:, None] * X
    return weighted.T @ weighted
