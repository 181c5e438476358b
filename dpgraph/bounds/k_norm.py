"""The K-norm mechanism for linear queries: the ball K of all changes by one record, its norm, certified, and its noise.

Where one record changes a vector by plus or minus a column c_i, K = conv{c_i, -c_i} = {C l : |l|_1 <= 1}; where a
record is replaced, K = conv{c_i - c_j} = {C l : |l|_1 <= 2, sum l = 0}. Neighbours are at distance at most 1 in the
norm

    ||z||_K = min {|l|_1 : C l = z},   or half of it with sum l = 0.

So noise of density proportional to exp(-epsilon ||z||_K) is epsilon-DP, by the triangle inequality (M. Hardt and
K. Talwar, "On the geometry of differential privacy", STOC 2010).

**Sampling.** Coordinates are such that the unit ball E is the least-volume ellipsoid of K. As K lies in E,
|z| <= ||z||_K. A vector of density proportional to exp(-|z|) (a random direction, a radius of law Gamma(r)) is accepted
with probability exp(|z| - ||z||_K): the accepted one has density proportional to exp(-||z||_K). On average one in
vol(E)/vol(K) is accepted, at most one in r^{r/2} (John).

**Certificates.** The linear program is solved in floating point. A dual vector y, divided by max |<c_i, y>|, proves a
lower bound on the norm. The l that was found proves an upper bound: what C l misses z by is at most sqrt(r (1 + gap))
times its length, because K contains E divided by that. The lower bound g is used; both must be within :data:`SLACK`.
Then the density is exp(-g) with ||z||_K - SLACK <= g <= ||z||_K, and neighbours cost at most 1 + SLACK.

**Ellipsoids.** The norm of an ellipsoid around K is at most ||.||_K, so that noise which follows it is as private. It
is drawn in any dimension without rejection, and the root of its covariance is sqrt(r + 1) times that of the ellipsoid
(:class:`Ball`).
"""

import math
from functools import cached_property

import numpy as np
import scipy.optimize

from dpgraph.exceptions import NotConvergedError
from dpgraph.typing import FloatArray

#: Accuracy of the norm.
SLACK = 2.0**-20
#: Directions, and steps of reweighted least squares, for the estimated size of the noise.
_DIRECTIONS, _STEPS = 128, 25


class Hull:
    """K, in coordinates in which its least-volume ellipsoid, computed up to `gap`, is the unit ball.

    `columns` are C, shape (r, N); K is that of `differences` where a record is replaced.
    """

    def __init__(self, columns: FloatArray, *, differences: bool, gap: float) -> None:
        self.columns, self.differences = columns, differences
        self._inner = math.sqrt(len(columns) * (1 + gap))
        #: C, with a row of ones where l must add up to 0.
        self._rows = np.vstack([columns, np.ones(columns.shape[1])]) if differences else columns
        self._unit = 0.5 if differences else 1.0

    @property
    def dimension(self) -> int:
        """Number r of coordinates."""
        return len(self.columns)

    def norm(self, z: FloatArray) -> float:
        """Lower bound on ||z||_K, within :data:`SLACK`, unless the linear program is not solved so accurately."""
        N = self.columns.shape[1]
        target = np.append(z, 0.0) if self.differences else z
        both = np.hstack([self._rows, -self._rows])
        found = scipy.optimize.linprog(np.ones(2 * N), A_eq=both, b_eq=target, method="highs-ds")
        if found.x is not None:
            y = found.eqlin.marginals
            height = float(np.abs(self._rows.T @ y).max())
            lower = max(self._unit * float(y @ target) / height if height else 0.0, float(np.linalg.norm(z)))
            combination = found.x[:N] - found.x[N:]
            if self.differences:
                combination[0] -= combination.sum()
            missed = float(np.linalg.norm(z - self.columns @ combination))
            upper = self._unit * float(np.abs(combination).sum()) + self._inner * missed
            if upper - lower <= SLACK:
                return lower
        raise NotConvergedError("the norm of the noise could not be computed accurately; use mechanism='laplace'")

    @cached_property
    def spread(self) -> FloatArray:
        """Estimated root of the covariance of noise of density proportional to exp(-||z||_K), shape (r, r).

        With rho(u) = 1/||u||_K the covariance is r (r + 1) E[rho^{r + 2} u u'] / E[rho^r] over random directions u. It
        is estimated from public random directions, to some per cent, and says nothing but how large errors will be.
        """
        r = self.dimension
        u = np.random.default_rng(0).standard_normal((_DIRECTIONS, r))
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        rho = 1 / self._norms(u)
        weights = r * (r + 1) * rho ** (r + 2) / np.sum(rho**r)
        eigenvalues, V = np.linalg.eigh((u.T * weights) @ u)
        root: FloatArray = (V * np.sqrt(np.maximum(eigenvalues, 0.0))) @ V.T
        return root

    def _norms(self, points: FloatArray) -> FloatArray:
        """Upper bounds on the norms of many points, to about a per cent: iteratively reweighted least squares."""
        rows = self._rows
        target = np.hstack([points, np.zeros((len(points), len(rows) - points.shape[1]))])
        weights = np.ones((len(points), rows.shape[1]))
        for _ in range(_STEPS):
            gram = np.einsum("in,mn,jn->mij", rows, weights, rows, optimize=True)
            solved = np.linalg.solve(gram, target[:, :, None])[:, :, 0]
            combination = weights * (solved @ rows)
            weights = np.abs(combination) + 1e-6 * np.abs(combination).max(axis=1, keepdims=True)
        lengths: FloatArray = np.abs(combination).sum(axis=1)
        return self._unit * lengths


class Ball(Hull):
    """The Euclidean unit ball in place of K, in coordinates in which K has a known size; for any rank."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """Number r of coordinates."""
        return self._dimension

    def norm(self, z: FloatArray) -> float:
        """Length of z."""
        return float(np.linalg.norm(z))

    @cached_property
    def spread(self) -> FloatArray:
        """Root of the covariance of noise of density proportional to exp(-|z|): E|z|^2 = r (r + 1) for Gamma(r)."""
        return math.sqrt(self.dimension + 1) * np.eye(self.dimension)
