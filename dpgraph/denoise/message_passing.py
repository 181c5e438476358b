"""Leading eigenvectors of a graph after randomised response, by approximate message passing from the spectral estimate.

The bits of randomised response, made unbiased, are the adjacency matrix plus noise that is independent in all pairs
and has a known variance. Products of the matrix with posterior means of rows are corrected for the part of the noise
that these contain already (Onsager's term), so that their error is Gaussian with a known covariance once more, and
posterior means are taken again: A. Montanari, R. Venkataramanan, "Estimation of low-rank matrices via approximate
message passing", Ann. Statist. 2021.
"""

from collections.abc import Callable

from dpgraph.denoise.empirical_bayes import posterior_means_and_response
from dpgraph.typing import FloatArray

#: Products after the spectral estimate; where that is good, the first one is what matters.
_PRODUCTS = 5


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
