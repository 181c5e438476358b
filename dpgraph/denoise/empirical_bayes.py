"""Noise is taken out of released eigenvectors by what their own rows say about the law of rows (empirical Bayes).

Released rows are true rows plus Gaussian noise of a known covariance. Rows of real graphs are far from Gaussian: most
are close to 0 and a few are large, or they gather around one point for each community. That law is estimated from the
released rows, as a mixture whose weights maximise their likelihood; each row becomes its posterior mean under it.

X. Zhong, C. Su, Z. Fan, "Empirical Bayes PCA in high dimensions", JRSS B 2022 (nonparametric priors); J. Kiefer,
J. Wolfowitz, Ann. Math. Statist. 1956 (the maximum likelihood estimate of a mixture).
"""

import numpy as np
from numpy.typing import NDArray

from dpgraph.typing import FloatArray

#: Rows that components of the mixture are centred at: spread evenly, and the longest ones.
_EVEN, _LONGEST = 160, 40
#: Rows that the weights are fitted to, and steps of expectation maximisation: few, or the law would fit the noise.
_FITTED, _STEPS = 3000, 40
#: Rows whose posterior means are computed at a time: their likelihoods stay in the processor's cache.
_CHUNK = 256
#: Relative difference up to which the variances of the noise of some rows are taken for equal.
_ALIKE = 1e-3
#: Least number of rows for each column: fewer say too little about their law.
_ROWS_PER_COLUMN = 30
#: Columns whose posterior means are below this share of them are all noise.
_VANISHED = 1e-3
#: Least weight of a component: that of a row which is far from all rows that weights are fitted to would vanish.
_LEAST_WEIGHT = 1e-12
#: Variances below this share of the largest are rounding.
_ROUNDING = 1e-12


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
    # Rows that have nearly the same noise share the variances of all components: there are fewer logarithms to take.
    order = np.argsort(noise)
    ones = np.ones((len(centres), 1))
    sums, weighted = np.hstack([ones, centres]), np.hstack([ones, centres]) * widths[:, None]
    for start in range(0, len(rows), _CHUNK):
        part = order[start : start + _CHUNK]
        x, own = white[part], noise[part, None]
        alike = own[-1] <= (1 + _ALIKE) * own[0]
        inverse = 1 / (widths + (own.mean(keepdims=True) if alike else own))
        likely = _likelihood(x, inverse, centres)
        likely *= weights
        total, pulled = np.hsplit(likely @ sums, [1])
        likely *= inverse
        kept, back = np.hsplit(likely @ weighted, [1])
        means[part] = (kept * x + pulled - back) / total
        if respond:
            likely *= own / total
            response += float(np.sum(own * kept / total)) * np.eye(len(axes))
            response += _response_of_weights(x, means[part], likely, centres, widths * inverse)
    return means @ colour, colour.T @ response @ whiten.T


def _fitted_law(white: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centres, variances and weights of the mixture that explains the rows best."""
    centres = _centres(white)
    widths = _distances_to_next(centres) ** 2
    weights = np.full(len(centres), 1 / len(centres))
    fitted = _evenly(len(white), _FITTED)
    likelihood = _likelihood(white[fitted], 1 / (widths + noise[fitted, None]), centres)
    for _ in range(_STEPS):
        weights = weights * (likelihood / (likelihood @ weights)[:, None]).mean(axis=0)
    return centres, widths, np.maximum(weights, _LEAST_WEIGHT)


def _response_of_weights(
    white: FloatArray, means: FloatArray, scores: FloatArray, centres: FloatArray, share: FloatArray
) -> FloatArray:
    """Sum over rows of noise times what their means owe to the change of posterior weights.

    Component k has mean m_k = share_k x + (1 - share_k) c_k and score s_k = -(x - c_k)/(width_k + noise): its weight
    p_k changes by p_k (s_k - s), s the mean score, and the mean by the sum of p_k m_k (s_k - s)'. `scores` are noise
    times p_k/(width_k + noise); m_k and s_k are multiplied out.
    """
    near = scores * share
    by_all, by_near = scores @ centres, near @ centres
    products: FloatArray = white.T @ by_near - (by_all - by_near).T @ white
    one = np.ones(len(white))
    products += (centres.T * (one @ scores - one @ near)) @ centres - (white.T * near.sum(axis=1)) @ white
    products -= means.T @ (by_all - scores.sum(axis=1)[:, None] * white)
    return products


def _centres(white: FloatArray) -> FloatArray:
    """Some rows, without repetition, and 0."""
    longest = np.argpartition(_half_squares(white), -min(_LONGEST, len(white)))[-_LONGEST:]
    chosen = np.union1d(_evenly(len(white), _EVEN), longest)
    return np.unique(np.vstack([white[chosen], np.zeros((1, white.shape[1]))]), axis=0)


def _distances_to_next(points: FloatArray) -> FloatArray:
    """Distance of each point to the closest other one, 0 for a single point."""
    squares = np.einsum("ij,ij->i", points, points)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    return np.sqrt(np.maximum(np.where(np.isfinite(nearest), nearest, 0.0), 0.0))


def _likelihood(white: FloatArray, inverse: FloatArray, centres: FloatArray) -> FloatArray:
    """Density of each row under each component, up to a factor for each row, shape (rows, components).

    `inverse` are inverse variances. Minus half the squared distances are one product of matrices.
    """
    left = np.column_stack([white, _half_squares(white), np.ones(len(white))])
    logs = left @ np.vstack([centres.T, np.full(len(centres), -1.0), -_half_squares(centres)])
    logs *= inverse
    volumes = np.log(inverse)
    volumes *= white.shape[1] / 2
    logs += volumes
    logs -= logs.max(axis=1, keepdims=True)
    return np.asarray(np.exp(logs, out=logs))


def _half_squares(points: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", points, points) / 2)


def _evenly(n: int, count: int) -> NDArray[np.int64]:
    """At most `count` positions, evenly spread over 0, ..., n - 1."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))
