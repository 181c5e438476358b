r"""How many edges a graph is away from one whose leading eigenspace one more edge could change by much.

Move from a graph to a neighbour along the path of graphs on which one weight grows linearly, and write what matters as
a state: sigma_r and sigma_{r+1}, the coherence kappa_D and the largest degree. The speed of each of them is bounded by
the state alone, and by much less than the spectral norm of an edge.

**Theorem.** Let F be the vector of these bounds for x = (-sigma_r, sigma_{r+1}, kappa, largest degree), x(s) the
solution of x' = F(x) that starts at the state of G, and rate(x) the bound on the speed of the projector. Let the
function limit(u) >= 0 of the steps u >= 0 that remain be public and nonincreasing, and D(G) the largest T such that
rate(x(s)) <= limit(T - s) and sigma_r - sigma_{r+1} >= least gap for all s in [0, T]. Then |D(G) - D(G')| <= 1 for
neighbours, and D(G) >= T >= 1 implies ||P - P'||_F <= limit(T - 1).

Proof: docs/proofs.md, "The stability test". So D is a statistic of sensitivity 1, and its noisy value is all that the
projector's noise needs (after the propose-test-release of C. Dwork, J. Lei, STOC 2009): the more steps are found, the
smaller the limit that is certified.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.typing import FloatArray

#: sigma_r falls along the path, the other coordinates grow.
DIRECTION = np.array([-1.0, 1.0, 1.0, 1.0])
#: Every coordinate moves at least so fast, in its unit for a step, so that quotients of speeds are finite.
_LEAST_SPEED = 1e-12
#: Gaps and eigenvalues below these many e are beyond every safe set; their speeds need only be finite.
_LEAST_GAP, _LEAST_VALUE = 1e-6, 1e-100


@dataclass(frozen=True)
class SpectralState:
    """What the motion of an eigenspace depends on, in units of e, what one neighbour changes in spectral norm."""

    #: sigma_r/e.
    inside: float
    #: sigma_{r+1}/e.
    outside: float
    #: sqrt(m) kappa_D, or kappa; it never counts as more than 1, which stands for the bound from sigma_r too.
    coherence: float
    #: max_i d_i/w; of no meaning for a general matrix.
    largest_degree: float = 0.0

    def array(self) -> FloatArray:
        """The state as a vector."""
        return np.array([self.inside, self.outside, min(self.coherence, 1.0), self.largest_degree])


@dataclass(frozen=True)
class Tolerances:
    """Least speeds of a state, by which numerical errors in a computed state cost at most `shift` steps.

    If every coordinate of a computed state is off by at most `shift` times its least speed, then D of the computed
    state is off by at most `shift`, in either direction.
    """

    #: In steps.
    shift: float
    #: Bounds on the errors of these coordinates of a state, in their units.
    inside: float = 0.0
    outside: float = 0.0
    coherence: float = 0.0


@dataclass(frozen=True)
class EdgeRates:
    r"""Bounds on speeds on the path to a neighbour: one edge, seen through the regularised normalized adjacency.

    States are columns, shape (4,) or (4, k).

    Derivation: docs/proofs.md, "Speeds for one edge". All bounds grow with sigma_{r+1}, kappa_D and the largest degree
    and fall with sigma_r, apart from a bound's dependence on its own coordinate, as the theorem needs. The papers'
    coherence max ||U_i|| may stand for kappa_D sqrt(m), which it bounds: its rows change by the same bounds.

    *Units.* There t, b = sigma_r, sigma_{r+1}, and R and q say how a vertex is seen from the leading space. The code
    has e = w/m, T = t/e, B = b/e, G = T - B, k = sqrt(m) kappa_D, and degrees, tau and m over w. In these units the
    bounds hold no number that is large or small because tau or w is:

        rho = (m/(d + tau))^2 d,    S = m d/(d + tau),
        sigma_r: min(1, 2 (1 + t) k^2),    sigma_{r+1}: min(1, 2 (1 + b) rho/B^2),    k <= min(1, sqrt(rho)/T),
        e R(i,i) <= (1 + S/(T G))/T,    e abs(R(i,l)) <= (1 + S/T + S/G)/T^2,
        e q <= sqrt(1 + 2 S (3T - 2B)/(T G^2) + S/T^2 + 2/T)/T.
    """

    #: m/w >= 1.
    lower: float
    #: tau/w.
    regularization: float
    #: Errors of computed states.
    tolerances: Tolerances

    def _rows(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds (rho, S) on what a row of A adds to squared entries and moments, at the worst degree."""
        m, tau = self.lower, self.regularization
        largest = np.maximum(x[3], m - tau)
        worst = np.minimum(max(tau, m - tau), largest)
        return (m / (worst + tau)) ** 2 * worst, m / (largest + tau) * largest

    def _coherence(self, x: FloatArray, rho: FloatArray) -> FloatArray:
        """Capped by what follows from sigma_r and the largest degree, and by 1."""
        bound: FloatArray = np.minimum(x[2], np.sqrt(rho) / np.maximum(x[0], _LEAST_VALUE))
        return np.minimum(bound, 1.0)

    def speeds(self, x: FloatArray, own: FloatArray | None = None) -> FloatArray:
        """Bounds on the speeds of (sigma_r downwards, sigma_{r+1}, coherence, largest degree), all > 0.

        Call a state worse if its sigma_r is smaller and the rest larger. With `own` the speeds are a function f(x, own)
        that does not fall as x gets worse and does not grow as `own` does; f(x, x) are the speeds at x. So all speeds
        between a state x and a worse one y lie between f(x, y) and f(y, x). That holds as long as the gap of y is open,
        sigma_r - sigma_{r+1} >= 1e-6 e. Beyond, speeds need only be finite and positive: the path has left every safe
        set before (:mod:`dpgraph.bounds.exit_time`).
        """
        own, e, b = x if own is None else own, 1 / self.lower, np.maximum(x[1], 0.0)
        g = np.maximum(x[0] - b, _LEAST_GAP)
        t = np.maximum(x[0], b + g)
        rho, s = self._rows(x)
        kappa = self._coherence(x, rho)
        off = (1 + s / t + s / g) / t**2
        turn = np.minimum(math.sqrt(2.0) / g, np.maximum((1 + s / (t * g)) / t, off) + off)
        turn += e * ((t + b) / (math.sqrt(2.0) * g) + 0.5)
        inside = np.minimum(1.0, 2 * (1 + e * np.maximum(own[0], 0.0)) * kappa**2)
        outside = np.minimum(1.0, 2 * (1 + e * b) * rho / np.maximum(own[1], _LEAST_VALUE) ** 2)
        return _at_least(np.array([inside, outside, kappa * turn, np.ones_like(b)]), self.tolerances)

    def projector(self, x: FloatArray) -> FloatArray:
        """Bound on the speed of the projector in Frobenius norm, shape () or (k,)."""
        e, b = 1 / self.lower, np.maximum(x[1], 0.0)
        g = np.maximum(x[0] - b, _LEAST_GAP)
        t = np.maximum(x[0], b + g)
        rho, s = self._rows(x)
        turn = np.minimum(1 / g, np.sqrt(1 + 2 * s * (3 * t - 2 * b) / (t * g * g) + s / t**2 + 2 / t) / t)
        rate = 2 * self._coherence(x, rho) * (turn + e * (t + b) / (2 * g))
        return np.where(x[0] - b > _LEAST_GAP, rate, np.inf)


@dataclass(frozen=True)
class MatrixRates:
    """Symmetric matrices with ||E U||_F <= Delta for every U whose rows have norm at most 1, on the segment A + s E.

    Unit vectors of the leading space have entries of at most kappa, so ||E u|| <= Delta kappa bounds the speed of
    sigma_r; that of sigma_{r+1} is at most ||E|| <= Delta. Rows of the leading space change by at most
    ||R_k|| ||E U||_F <= Delta kappa/g, and ||dP||_F <= sqrt(2) Delta kappa/g. The unit of eigenvalues is Delta.

    Of a rectangular matrix both projectors change, by 2 Delta kappa/g together
    (:func:`~dpgraph.bounds.spectra.singular_projectors`); the other speeds are the same.
    """

    tolerances: Tolerances
    #: 2 for the left and the right projector of a rectangular matrix.
    projectors: int = 1

    def speeds(self, x: FloatArray, _: FloatArray | None = None) -> FloatArray:
        """As for :meth:`EdgeRates.speeds`; no coordinate slows itself down."""
        kappa, g = np.minimum(x[2], 1.0), np.maximum(x[0] - x[1], _LEAST_GAP)
        return _at_least(np.array([kappa, np.ones_like(g), kappa / g, np.zeros_like(g)]), self.tolerances)

    def projector(self, x: FloatArray) -> FloatArray:
        """As for :meth:`EdgeRates.projector`."""
        gap = x[0] - x[1]
        rate = math.sqrt(2.0 * self.projectors) * np.minimum(x[2], 1.0) / np.maximum(gap, _LEAST_GAP)
        return np.where(gap > _LEAST_GAP, rate, np.inf)


Rates = EdgeRates | MatrixRates


def _at_least(speeds: FloatArray, tolerances: Tolerances) -> FloatArray:
    errors = np.array([tolerances.inside, tolerances.outside, tolerances.coherence, 0.0]) / tolerances.shift
    return np.maximum(speeds, np.maximum(errors, _LEAST_SPEED).reshape(4, *(1,) * (speeds.ndim - 1)))


def predicted_paths(states: FloatArray, rates: Rates, times: FloatArray) -> FloatArray:
    """Paths of k public states, shape (4, k), at some times, by Heun's method: shape (4, len(times), k). To plan."""
    paths = np.empty((4, len(times), states.shape[1]))
    paths[:, 0] = states
    for i, step in enumerate(np.diff(times)):
        first = DIRECTION[:, None] * rates.speeds(paths[:, i])
        second = DIRECTION[:, None] * rates.speeds(paths[:, i] + step * first)
        paths[:, i + 1] = paths[:, i] + step * (first + second) / 2
    return paths
