"""Eigenvalues of a noisy symmetric matrix, shrunk to what they should be for least mean squared error."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from dpgraph.arguments import check_nonnegative, check_positive
from dpgraph.projections.base import as_symmetric
from dpgraph.projections.partial_eigen import SymmetricSpectrum
from dpgraph.projections.spectral_sets import project_solid_simplex
from dpgraph.typing import FloatArray

__all__ = ["shrink_psd_trace", "shrunken_eigenvalues"]

#: Gaps below this many standard deviations count less, so that none is divided by: pooling cancels them anyway.
_SMALLEST_GAP = 0.02
#: Noise below this share of the largest eigenvalue is less than rounding: nothing is to be shrunk.
_ROUNDING = 1e-20
#: Gaps of so many eigenvalues to all others are kept at a time.
_BLOCK = 256


def shrunken_eigenvalues(values: FloatArray, std: float) -> FloatArray:
    r"""Eigenvalues that minimise Stein's estimate of the squared error, ascending, with the sum of the noisy ones.

    Noise drives eigenvalues apart: that of C + W exceeds the one that belongs to its eigenvector by about the variance
    times the sum of 1/(gap to each other eigenvalue). The best multiple of its eigenprojection is smaller by as much
    again, because the eigenvector is off as well.

    `values` are the eigenvalues of C + W, ascending; `std` > 0 is the standard deviation of a diagonal entry of W, off
    the diagonal it is smaller by sqrt(2). For Gaussian W and an estimate with the eigenvectors of C + W and eigenvalues
    f_i(values), Stein's unbiased estimate of the squared Frobenius error is a constant plus sum (f_i - l_i)^2 + 2 std^2
    (sum_i df_i/dl_i + sum_{i<j} (f_i - f_j)/(l_i - l_j)). Without the derivatives it is least at f_i = l_i - std^2
    sum_{j != i} 1/(l_i - l_j); pooling neighbours that are out of order (isotonic regression) tames the small gaps.

    C. Stein, "Estimation of a covariance matrix", Rietz lecture, 1975 (for sample covariances). J. Bun, R. Allez,
    J.-P. Bouchaud, M. Potters, "Rotational invariant estimator for general noisy matrices", IEEE Trans. Inf. Theory 62
    (2016), section IV.A: this rule, for many rows, is the best of all that keep the eigenvectors.
    """
    if std < _ROUNDING * np.abs(values).max():
        return values
    scaled = values / std
    pushed = np.empty_like(scaled)
    for start in range(0, scaled.size, _BLOCK):
        gaps = scaled[start : start + _BLOCK, None] - scaled
        pushed[start : start + _BLOCK] = (gaps / (gaps**2 + _SMALLEST_GAP**2)).sum(axis=1)
    return np.asarray(isotonic_regression(scaled - pushed).x * std)


def shrink_psd_trace(X: ArrayLike, trace: float, *, std: float) -> FloatArray:
    """Estimate of a positive semidefinite matrix of trace at most `trace` under isotropic noise of known size.

    Parameters
    ----------
    X, trace
        As for :func:`~dpgraph.projections.project_psd_trace`, like the errors; `X` is the noisy matrix, shape (d, d).
    std : float
        Standard deviation of a diagonal entry of the noise, positive; off the diagonal it is smaller by sqrt(2).

    Returns
    -------
    ndarray, shape (d, d)
        Positive semidefinite, of trace at most `trace`, with the eigenvectors of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.projections import shrink_psd_trace
    >>> shrink_psd_trace(np.diag([3.0, 0.5, -0.5]), 4.0, std=0.5).diagonal().round(2)
    array([2.83, 0.35, 0.  ])
    """
    trace, std = check_nonnegative("trace", trace), check_positive("std", std)
    spectrum = SymmetricSpectrum(as_symmetric(X))
    return spectrum.with_largest(project_solid_simplex(shrunken_eigenvalues(spectrum.values, std), trace))
