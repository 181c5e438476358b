r"""The point of {0 <= X <= U, ||X|| <= rho} that is nearest in the *spectral* norm, with a certificate.

    minimise ||P' - Y||  over  X in the box, P in the ball, P' free,  subject to  P = X, P' = X

is solved by the alternating direction method of multipliers; the two halves of a step are a clipping of entries and two
closed-form spectral operations: clipping eigenvalues at rho, and the proximal map of the spectral norm, which subtracts
the projection onto a nuclear ball (Moreau). This replaces a bisection over t of feasibility problems
{X in S, ||X - Y|| <= t}: one run instead of one for each t, and it knows how far it is from the end:

* above: an entrywise feasible X times min(1, rho/||X||) lies in S (S is star-shaped around 0);
* below: for any W with nuclear norm at most 1, any symmetric M and any N >= 0 on the entries without a bound U, with
  T = W + M + N, every X in S has ||X - Y|| >= <W, X - Y> = <T, X> - <N, X> - <M, X> - <W, Y>; hence

      ||X - Y|| >= -<W, Y> + sum_ij min(0, U_ij T_ij) - rho ||M + N||_*   when T >= 0 where there is no bound.

The multipliers of the method supply W and M; N is the least that makes the bound finite. Written as a fixed-point
iteration in z = (X + multiplier of P, X + multiplier of P') the method is nonexpansive, and Anderson acceleration
shortens its last digits.

References
----------
S. Boyd et al., "Distributed optimization and statistical learning via the alternating direction method of multipliers",
2011, section 3 (method, over-relaxation, choice of the penalty). DN25a, Fact 7.16 (why the spectral norm).
"""

import numpy as np

from dpgraph.projections.anderson import AndersonAccelerator
from dpgraph.projections.partial_eigen import SymmetricSpectrum, beyond_radius, outer
from dpgraph.projections.result import ProjectionResult
from dpgraph.projections.spectral_sets import project_nuclear_ball
from dpgraph.typing import FloatArray

__all__ = ["nearest_in_spectral_norm", "spectral_norm"]

#: Over-relaxation, in the range 1.5 to 1.8 that the literature recommends.
_RELAXATION = 1.6
#: The certificate costs about as much as a step: it is computed every so many steps.
_CHECK_EVERY = 10
#: The penalty is changed when the two residuals differ by this factor, at geometrically spaced steps, and by at most a
#: factor 5 at a time.
_IMBALANCE = 2.0
_LARGEST_CHANGE = 5.0
_ADAPTATION_SPACING = 1.35
_ANDERSON_MEMORY = 30
_TINY = float(np.finfo(float).tiny)


def spectral_norm(X: FloatArray) -> float:
    """Spectral norm of a symmetric matrix, from all eigenvalues (a Krylov method might miss the largest)."""
    values = SymmetricSpectrum(X).values
    return float(max(-values[0], values[-1], 0.0))


def _nuclear_norm(X: FloatArray) -> float:
    return float(np.abs(SymmetricSpectrum(X).values).sum())


class _Solver:
    """State of the method: z, shape (2, n, n), holds X + multiplier for the ball and for the distance."""

    def __init__(self, Y: FloatArray, radius: float, upper: FloatArray) -> None:
        self.Y, self.radius, self.upper = Y, radius, upper
        values, vectors = beyond_radius(Y, radius)
        self.X = np.clip(Y - outer(vectors, values - np.clip(values, -radius, radius)), 0.0, upper)
        self._z = np.stack([self.X, self.X])
        #: W and M of the module docstring.
        self.subgradient, self.normal = np.zeros_like(Y), np.zeros_like(Y)
        # A subgradient has nuclear norm 1, and its multiplier has the scale of X - Y.
        self._penalty = 3.0 / max(_nuclear_norm(self.X - Y), _TINY)
        self._accelerator = AndersonAccelerator(_ANDERSON_MEMORY)
        self._next_change = 3

    def step(self, count: int) -> None:
        """One iteration: the box, both spectral operations, and at times a new penalty."""
        X = self.X = np.clip((self._z[0] + self._z[1]) / 2, 0.0, self.upper)
        multipliers = self._z - X
        shifted = X - multipliers[0]
        values, vectors = beyond_radius(shifted, self.radius)
        excess = outer(vectors, values - np.clip(values, -self.radius, self.radius))
        in_ball = shifted - excess
        shifted = X - multipliers[1]
        pull = project_nuclear_ball(shifted - self.Y, 1.0 / self._penalty)
        near = shifted - pull
        self.normal, self.subgradient = self._penalty * excess, self._penalty * pull
        copies = np.stack([in_ball, near])
        image = _RELAXATION * copies + (1 - _RELAXATION) * X + multipliers
        factor = self._imbalance(image, copies) if count >= self._next_change else 1.0
        if factor == 1.0:
            self._z = self._accelerator.advance(self._z, image)
            return
        moved = np.clip((image[0] + image[1]) / 2, 0.0, self.upper)
        self._z = moved + (image - moved) / factor
        self._penalty *= factor
        self._accelerator.reset()

    def _imbalance(self, image: FloatArray, copies: FloatArray) -> float:
        """Factor for the penalty that moves the relative primal and dual residuals towards each other."""
        self._next_change = int(np.ceil(max(self._next_change + 3, self._next_change * _ADAPTATION_SPACING)))
        moved = np.clip((image[0] + image[1]) / 2, 0.0, self.upper)
        primal = np.linalg.norm(copies - moved) / max(float(np.linalg.norm(copies)), _TINY)
        dual = np.sqrt(2.0) * np.linalg.norm(moved - self.X) / max(float(np.linalg.norm(image - moved)), _TINY)
        if not (primal > 0 and dual > 0):
            return 1.0
        factor = float(np.sqrt(primal / dual))
        if 1 / np.sqrt(_IMBALANCE) <= factor <= np.sqrt(_IMBALANCE):
            return 1.0
        return float(np.clip(factor, 1 / _LARGEST_CHANGE, _LARGEST_CHANGE))

    def feasible(self) -> tuple[FloatArray, float]:
        """A point of the set near the current one, and its distance."""
        point = self.X * min(1.0, self.radius / max(spectral_norm(self.X), _TINY))
        return point, spectral_norm(point - self.Y)

    def lower_bound(self) -> float:
        """The bound of the module docstring, from the current multipliers."""
        W, M = self.subgradient, self.normal
        T = W + M
        bounded = np.isfinite(self.upper)
        price = float(np.sum(np.minimum(T[bounded], 0.0) * self.upper[bounded]))
        lift = np.where(bounded, 0.0, np.maximum(-T, 0.0))
        return price - float(np.vdot(W, self.Y)) - self.radius * _nuclear_norm(M + lift)


def nearest_in_spectral_norm(
    Y: FloatArray, radius: float, upper: FloatArray, *, tol: float, max_iter: int
) -> ProjectionResult:
    """Nearest point in spectral norm to a symmetric Y among the symmetric X with 0 <= X <= upper and ||X|| <= radius.

    `upper` is symmetric, nonnegative, and infinite where there is no bound. Stops when distance and lower bound differ
    by at most `tol`, or after `max_iter` steps. The result is the best feasible point found, with a proven lower bound
    on the smallest distance.
    """
    solver = _Solver(Y, radius, upper)
    best, distance = solver.feasible()
    lower = max(spectral_norm(Y) - radius, 0.0)
    count = 0
    while distance - lower > tol and count < max_iter:
        count += 1
        solver.step(count)
        if count % _CHECK_EVERY == 0 or count == max_iter:
            point, value = solver.feasible()
            if value < distance:
                best, distance = point, value
            lower = max(lower, solver.lower_bound())
    lower = min(lower, distance)
    return ProjectionResult(best, distance, 0.0, count, distance - lower <= tol, lower, tol, max_iter)
