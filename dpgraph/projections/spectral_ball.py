r"""Projection onto the nonnegative spectral ball {0 <= X <= U, ||X|| <= rho}, the set of normalized adjacency matrices.

The point nearest to Y in *spectral* norm minimises ||P' - Y|| over X in the box, P in the ball, P' free, with P = X and
P' = X. A step of the alternating direction method of multipliers (S. Boyd et al. 2011, section 3) clips entries, clips
eigenvalues at rho, and subtracts the projection onto a nuclear ball (Moreau). It knows how far it is from the end:

* above: an entrywise feasible X times min(1, rho/||X||) lies in the set S, which is star-shaped around 0;
* below: for any W with nuclear norm at most 1, any symmetric M and any N >= 0 on the entries without a bound U, with
  T = W + M + N, every X in S has ||X - Y|| >= <W, X - Y> = <T, X> - <N, X> - <M, X> - <W, Y>; hence

      ||X - Y|| >= -<W, Y> + sum_ij min(0, U_ij T_ij) - rho ||M + N||_*   when T >= 0 where there is no bound.

The multipliers of the method supply W and M; N is the least that makes the bound finite. As a fixed-point iteration in
z = (X + multiplier of P, X + multiplier of P') the method is nonexpansive: Anderson acceleration applies.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_integer, check_nonnegative, check_positive
from dpgraph.exceptions import InvalidParameterError
from dpgraph.progress import tqdm
from dpgraph.projections.anderson import AndersonAccelerator
from dpgraph.projections.convex_set import Box, ProjectionResult, as_matrix, as_symmetric
from dpgraph.projections.spectral_sets import SpectralBall, excess, project_nuclear_ball
from dpgraph.projections.splitting import dykstra
from dpgraph.typing import FloatArray

#: Asymmetry of an input that is still taken for rounding, relative to its largest entry.
_ASYMMETRY = 1e-9
#: Over-relaxation, in the range 1.5 to 1.8 that the literature recommends.
_RELAXATION = 1.6
#: The certificate costs about as much as a step: it is computed every so many steps.
_CHECK_EVERY = 10
#: The penalty is changed when the two residuals differ by this factor, by at most the second factor, and at steps that
#: are spaced by the third.
_IMBALANCE, _LARGEST_CHANGE, _ADAPTATION_SPACING = 2.0, 5.0, 1.35
_ANDERSON_MEMORY = 30
_TINY = float(np.finfo(float).tiny)


def project_nonnegative_spectral_ball(  # noqa: PLR0913
    Y: ArrayLike,
    radius: float = 1.0,
    *,
    norm: Literal["spectral", "frobenius"] = "spectral",
    tol: float = 1e-6,
    max_iter: int | None = None,
    upper: ArrayLike | None = None,
    zero_diagonal: bool = False,
    progress: bool = False,
) -> ProjectionResult:
    r"""Nearest symmetric matrix with nonnegative entries and spectral norm at most `radius`.

    Parameters
    ----------
    Y : array_like, shape (n, n)
        Symmetric matrix.
    radius : float, default 1.0
        Largest spectral norm, positive. 1 for (regularised) normalized adjacency matrices.
    norm : {"spectral", "frobenius"}, default "spectral"
        Norm in which the result is nearest. Only ``"spectral"`` has the guarantee of DN25a, Fact 7.16: if the true
        matrix lies in the set at spectral distance t from `Y`, the result is within 2 t of it.
    tol : float, default 1e-6
        Accuracy in units of `radius`. Spectral: proven, ``distance - lower_bound <= tol * radius``. Frobenius: the
        stopping rule of :func:`~dpgraph.projections.dykstra`.
    max_iter : int, optional
        Largest number of steps; 5000 if omitted, fewer for large matrices (4e8/n^2, at least 100). A step costs one
        eigendecomposition (Frobenius) or two (spectral).
    upper : float or array_like of shape (n, n), optional
        Public bounds on the entries, nonnegative.
    zero_diagonal : bool, default False
        Ask for a zero diagonal (no self-loops).
    progress : bool, default False
        Show a bar on stderr.

    Returns
    -------
    ProjectionResult
        ``matrix`` lies in the set up to rounding. ``converged`` is False where `max_iter` came first; ``gap`` is then
        the proven accuracy.

    Raises
    ------
    InvalidParameterError
        `Y` is not a finite symmetric matrix, or an argument is out of range.

    Examples
    --------
    >>> from dpgraph.projections import project_nonnegative_spectral_ball
    >>> result = project_nonnegative_spectral_ball([[0.0, 3.0], [3.0, -1.0]], zero_diagonal=True)
    >>> result.converged, result.matrix.round(3)
    (True, array([[0., 1.],
           [1., 0.]]))
    """
    matrix, radius = as_matrix(Y), check_positive("radius", radius)
    Y = as_symmetric(matrix)
    if np.abs(matrix - Y).max() > _ASYMMETRY * np.abs(Y).max():
        raise InvalidParameterError(
            "expected a symmetric matrix; this one differs from its transpose. Pass (Y + Y.T)/2"
        )
    max_iter = max(100, min(5000, 400_000_000 // Y.size)) if max_iter is None else max_iter
    check_nonnegative("tol", tol)
    check_integer("max_iter", max_iter, 1)
    check_choice("norm", norm, ("spectral", "frobenius"))
    nearest = _nearest_in_spectral_norm if norm == "spectral" else _nearest_in_frobenius_norm
    limits = _upper_bounds(upper, len(Y), zero_diagonal)
    return nearest(Y, radius, limits, tol=tol * radius, max_iter=max_iter, progress=progress)


def _upper_bounds(upper: ArrayLike | None, n: int, zero_diagonal: bool) -> FloatArray:
    """Symmetric and nonnegative, infinite where there is no bound."""
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


def _nearest_in_frobenius_norm(
    Y: FloatArray, radius: float, upper: FloatArray, *, tol: float, max_iter: int, progress: bool
) -> ProjectionResult:
    found = dykstra(Y, [SpectralBall(radius), Box(0.0, upper)], tol=tol, max_iter=max_iter, progress=progress)
    # Moves the point by about the residual.
    matrix = _scaled_into_ball(found.matrix, radius)
    distance = float(np.linalg.norm(matrix - Y))
    lower = min(found.lower_bound, distance)
    return replace(found, matrix=matrix, distance=distance, residual=0.0, lower_bound=lower)


def _nearest_in_spectral_norm(
    Y: FloatArray, radius: float, upper: FloatArray, *, tol: float, max_iter: int, progress: bool
) -> ProjectionResult:
    """The best feasible point found, with a proven lower bound on the smallest distance."""
    solver = _Solver(Y, radius, upper)
    best, distance = solver.feasible()
    lower = max(_spectral_norm(Y) - radius, 0.0)
    with tqdm(total=max_iter, desc="steps", disable=not progress) as bar:
        count = 0
        while distance - lower > tol and count < max_iter:
            count += 1
            solver.step(count)
            bar.update()
            if count % _CHECK_EVERY == 0 or count == max_iter:
                point, value = solver.feasible()
                if value < distance:
                    best, distance = point, value
                lower = max(lower, solver.lower_bound())
    lower = min(lower, distance)
    return ProjectionResult(best, distance, 0.0, count, distance - lower <= tol, lower, tol, max_iter)


class _Solver:
    """State of the method: z, shape (2, n, n), holds X + multiplier for the ball and for the distance."""

    def __init__(self, Y: FloatArray, radius: float, upper: FloatArray) -> None:
        self.Y, self.radius, self.upper = Y, radius, upper
        self.X = np.clip(Y - excess(Y, radius), 0.0, upper)
        self._z = np.stack([self.X, self.X])
        #: W and M of the module docstring.
        self.subgradient, self.normal = np.zeros_like(Y), np.zeros_like(Y)
        # A subgradient has nuclear norm 1, and its multiplier has the scale of X - Y.
        self._penalty = 3.0 / max(_nuclear_norm(self.X - Y), _TINY)
        self._accelerator = AndersonAccelerator(_ANDERSON_MEMORY)
        self._next_change = 3

    def step(self, count: int) -> None:
        """One iteration: the box, both spectral operations, and at times a new penalty."""
        X = self.X = self._clipped_mean(self._z)
        multipliers = self._z - X
        for_ball, for_distance = X - multipliers
        push = excess(for_ball, self.radius)
        pull = project_nuclear_ball(for_distance - self.Y, 1.0 / self._penalty)
        self.normal, self.subgradient = self._penalty * push, self._penalty * pull
        copies = np.stack([for_ball - push, for_distance - pull])
        image = _RELAXATION * copies + (1 - _RELAXATION) * X + multipliers
        factor = self._imbalance(image, copies) if count >= self._next_change else 1.0
        if factor == 1.0:
            self._z = self._accelerator.advance(self._z, image)
            return
        moved = self._clipped_mean(image)
        self._z = moved + (image - moved) / factor
        self._penalty *= factor
        self._accelerator.reset()

    def _clipped_mean(self, z: FloatArray) -> FloatArray:
        clipped: FloatArray = np.clip((z[0] + z[1]) / 2, 0.0, self.upper)
        return clipped

    def _imbalance(self, image: FloatArray, copies: FloatArray) -> float:
        """Factor for the penalty that moves the relative primal and dual residuals towards each other."""
        self._next_change = int(np.ceil(max(self._next_change + 3, self._next_change * _ADAPTATION_SPACING)))
        moved = self._clipped_mean(image)
        primal = np.linalg.norm(copies - moved) / max(float(np.linalg.norm(copies)), _TINY)
        dual = np.sqrt(2.0) * np.linalg.norm(moved - self.X) / max(float(np.linalg.norm(image - moved)), _TINY)
        factor = float(np.sqrt(primal / dual)) if primal > 0 and dual > 0 else 1.0
        if 1 / np.sqrt(_IMBALANCE) <= factor <= np.sqrt(_IMBALANCE):
            return 1.0
        return float(np.clip(factor, 1 / _LARGEST_CHANGE, _LARGEST_CHANGE))

    def feasible(self) -> tuple[FloatArray, float]:
        """A point of the set near the current one, and its distance."""
        point = _scaled_into_ball(self.X, self.radius)
        return point, _spectral_norm(point - self.Y)

    def lower_bound(self) -> float:
        """The bound of the module docstring, from the current multipliers."""
        W, M = self.subgradient, self.normal
        T = W + M
        bounded = np.isfinite(self.upper)
        price = float(np.sum(np.minimum(T[bounded], 0.0) * self.upper[bounded]))
        lift = np.where(bounded, 0.0, np.maximum(-T, 0.0))
        return price - float(np.vdot(W, self.Y)) - self.radius * _nuclear_norm(M + lift)


def _scaled_into_ball(X: FloatArray, radius: float) -> FloatArray:
    """The matrix, scaled down to the radius if necessary: the box contains 0, so entries stay valid."""
    return X * min(1.0, radius / max(_spectral_norm(X), _TINY))


def _spectral_norm(X: FloatArray) -> float:
    """Spectral norm of a symmetric matrix, from all eigenvalues (a Krylov method might miss the largest)."""
    return float(np.abs(np.linalg.eigvalsh(X)).max())


def _nuclear_norm(X: FloatArray) -> float:
    return float(np.abs(np.linalg.eigvalsh(X)).sum())
