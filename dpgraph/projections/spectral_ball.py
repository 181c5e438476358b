"""Projection onto the nonnegative spectral ball, the set that holds every normalized adjacency matrix."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_integer, check_nonnegative, check_positive
from dpgraph.exceptions import InvalidParameterError
from dpgraph.projections.base import as_matrix, as_symmetric
from dpgraph.projections.entrywise_sets import Box
from dpgraph.projections.nearest_spectral import nearest_in_spectral_norm, spectral_norm
from dpgraph.projections.result import ProjectionResult
from dpgraph.projections.spectral_sets import SpectralBall
from dpgraph.projections.splitting import dykstra
from dpgraph.typing import FloatArray

__all__ = ["project_nonnegative_spectral_ball"]

#: Asymmetry of an input that is still taken for rounding, relative to its largest entry.
_ASYMMETRY = 1e-9


def project_nonnegative_spectral_ball(
    Y: ArrayLike,
    radius: float = 1.0,
    *,
    norm: Literal["spectral", "frobenius"] = "spectral",
    tol: float = 1e-6,
    max_iter: int | None = None,
    upper: ArrayLike | None = None,
    zero_diagonal: bool = False,
) -> ProjectionResult:
    r"""Nearest symmetric matrix with nonnegative entries and spectral norm at most `radius`.

    Parameters
    ----------
    Y : array_like, shape (n, n)
        Symmetric matrix.
    radius : float, default 1.0
        Largest spectral norm, positive. 1 for (regularised) normalized adjacency matrices.
    norm : {"spectral", "frobenius"}, default "spectral"
        Norm in which the result is nearest. Only ``"spectral"`` has the guarantee of DN25a: if the true matrix lies in
        the set at spectral distance t from `Y`, the result is within 2 t of it.
    tol : float, default 1e-6
        Accuracy in units of `radius`. Spectral: proven, ``distance - lower_bound <= tol * radius``. Frobenius: the
        stopping rule of :func:`~dpgraph.projections.dykstra`.
    max_iter : int, optional
        Largest number of steps; 5000 if omitted, fewer for large matrices (4e8/n^2, at least 100). A step costs one
        partial eigendecomposition (Frobenius) or two (spectral).
    upper : float or array_like of shape (n, n), optional
        Public bounds on the entries, nonnegative.
    zero_diagonal : bool, default False
        Ask for a zero diagonal (no self-loops).

    Returns
    -------
    ProjectionResult
        ``matrix`` lies in the set up to rounding whether or not the method converged; ``converged`` is False if
        `max_iter` came first, and then ``distance - lower_bound`` is the proven accuracy.

    Raises
    ------
    InvalidParameterError
        `Y` is not a finite symmetric matrix, or an argument is out of range.

    Notes
    -----
    The Frobenius projection is computed by Dykstra's method, the spectral one by an alternating direction method with a
    duality-gap certificate; both project onto sets with closed-form projections only and compute only the eigenpairs
    that change. Post-processing: nothing here touches private data.

    References
    ----------
    DN25a, Fact 7.16 (the guarantee). docs/projections.md (the method).

    Examples
    --------
    >>> from dpgraph.projections import project_nonnegative_spectral_ball
    >>> result = project_nonnegative_spectral_ball([[0.0, 3.0], [3.0, -1.0]], zero_diagonal=True)
    >>> result.converged, result.matrix.round(3)
    (True, array([[0., 1.],
           [1., 0.]]))
    """
    Y = _symmetric(Y)
    radius = check_positive("radius", radius)
    max_iter = max(100, min(5000, 400_000_000 // Y.size)) if max_iter is None else max_iter
    check_nonnegative("tol", tol)
    check_integer("max_iter", max_iter, 1)
    check_choice("norm", norm, ("spectral", "frobenius"))
    bounds = _upper_bounds(upper, len(Y), zero_diagonal)
    if norm == "spectral":
        return nearest_in_spectral_norm(Y, radius, bounds, tol=tol * radius, max_iter=max_iter)
    return _nearest_in_frobenius_norm(Y, radius, bounds, tol=tol * radius, max_iter=max_iter)


def _nearest_in_frobenius_norm(
    Y: FloatArray, radius: float, upper: FloatArray, *, tol: float, max_iter: int
) -> ProjectionResult:
    found = dykstra(Y, [SpectralBall(radius), Box(0.0, upper)], tol=tol, max_iter=max_iter)
    # The box contains 0, so scaling keeps the entries valid and moves the point by about the residual.
    matrix = found.matrix * min(1.0, radius / max(spectral_norm(found.matrix), np.finfo(float).tiny))
    distance = float(np.linalg.norm(matrix - Y))
    lower = min(found.lower_bound, distance)
    return replace(found, matrix=matrix, distance=distance, residual=0.0, lower_bound=lower)


def _symmetric(Y: ArrayLike) -> FloatArray:
    matrix = as_matrix(Y)
    S = as_symmetric(matrix)
    if np.abs(matrix - S).max() > _ASYMMETRY * np.abs(S).max():
        raise InvalidParameterError(
            "expected a symmetric matrix; this one differs from its transpose. Pass (Y + Y.T)/2"
        )
    return S


def _upper_bounds(upper: ArrayLike | None, n: int, zero_diagonal: bool) -> FloatArray:
    try:
        bounds = np.broadcast_to(np.asarray(np.inf if upper is None else upper, dtype=np.float64), (n, n)).copy()
    except ValueError:
        raise InvalidParameterError(
            f"upper must be a number or an array of shape ({n}, {n}); this one does not broadcast"
        ) from None
    if not np.all(bounds >= 0):
        raise InvalidParameterError("upper bounds must be nonnegative (the set contains the zero matrix); one is not")
    bounds = np.minimum(bounds, bounds.T)
    if zero_diagonal:
        np.fill_diagonal(bounds, 0.0)
    return bounds
