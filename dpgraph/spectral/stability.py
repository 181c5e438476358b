r"""How many edges a graph is away from one whose leading eigenspace one more edge could move far.

The papers test the spectral gap and then the coherence, each with a slack for one neighbour's change. Here both are one
test. Move from a graph to a neighbour along the path of graphs on which one weight grows linearly, and write what
matters as a state: sigma_r and sigma_{r+1}, the coherence kappa_D and the largest degree. The speed of each of them is
bounded by the state alone, and by much less than the spectral norm of an edge: an eigenvector of eigenvalue lambda has
entries of at most (row norm)/lambda, so that an edge moves sigma_{r+1} by O(d w/(lambda^2 m)) of e = w/m, and
sigma_r by O(kappa_D^2 w).

**Theorem.** Let F be the vector of these bounds for x = (-sigma_r, sigma_{r+1}, kappa, largest degree), and
D(G) the time at which the solution of x' = F(x) that starts at the state of G leaves the safe set {projector rate <=
limit, sigma_r - sigma_{r+1} >= least gap}. Then |D(G) - D(G')| <= 1 for neighbours, and D(G) > 1 implies
||P - P'||_F <= limit.

*Proof.* Let x(s) be the state on the path, s in [0, 1]. Inside the safe set it is absolutely continuous (the gap is
open) and x' <= F(x) in every coordinate. Every coordinate of F is nondecreasing in the *other* coordinates, so that
x(s) stays below the solution that starts at x(0) (comparison theorem for quasimonotone systems; W. Walter, Ordinary
Differential Equations, 1998, section 10.XII), as long as that is in the safe set; the safe set is closed downwards. So
a solution from x(1) leaves it at most 1 earlier than the one from x(0), and the same with G and G' exchanged. If
D(G) > 1, then ||P - P'||_F is at most the integral of the projector rate over the path, at most `limit`. QED.

So D is a statistic of sensitivity 1, and a test D + noise > 1 + slack is all that the projector's noise needs (the
propose-test-release of C. Dwork, J. Lei, STOC 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

__all__ = [
    "EdgeRates",
    "MatrixRates",
    "Rates",
    "SafeSet",
    "SpectralState",
    "Tolerances",
    "predicted_path",
    "steps_to_exit",
]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SpectralState:
    """What the motion of an eigenspace depends on.

    Parameters
    ----------
    inside, outside : float
        sigma_r and sigma_{r+1}.
    coherence : float
        kappa_D or kappa; infinite stands for the bound that follows from sigma_r.
    largest_degree : float
        max_i d_i; of no meaning for a general matrix.
    """

    inside: float
    outside: float
    coherence: float
    largest_degree: float = 0.0

    def array(self) -> FloatArray:
        """The state as a vector."""
        return np.array([self.inside, self.outside, self.coherence, self.largest_degree])


@dataclass(frozen=True)
class Tolerances:
    """Least speeds, so that errors of computed states are overtaken within `shift` steps.

    If every coordinate of a computed state is off by at most `shift` times its least speed, then the computed D is
    off by at most `shift`, in either direction.

    Parameters
    ----------
    shift : float
        In steps.
    inside, outside, coherence : float
        Bounds on the errors of sigma_r, sigma_{r+1} and the coherence.
    """

    shift: float
    inside: float = 0.0
    outside: float = 0.0
    coherence: float = 0.0


class Rates(Protocol):
    """Bounds on speeds along the path between two neighbours."""

    def speeds(self, x: FloatArray) -> FloatArray:
        """Bounds on the speeds of (sigma_r downwards, sigma_{r+1}, coherence, largest degree), all >= 0."""
        ...

    def projector(self, x: FloatArray) -> float:
        """Bound on the speed of the projector in Frobenius norm."""
        ...


@dataclass(frozen=True)
class EdgeRates:
    r"""One edge of a graph, seen through the regularised normalized adjacency.

    Let the weight of the pair {i, l} grow at speed theta, abs(theta) <= w, and y_j = C^{-1/2} u_j for unit eigenvectors
    u_j of A_tau. Differentiating C^{-1/2} A C^{-1/2},

        u_j' (dA) u_k = theta [y_j(i) y_k(l) + y_j(l) y_k(i) - (lambda_j + lambda_k)/2 (y_j(i) y_k(i) + y_j(l) y_k(l))].

    *sigma_r.* For u in the leading space y(i)^2 <= kappa_D^2, so abs(dlambda) <= w (1 + abs(lambda)) 2 kappa_D^2; and
    at most w/m, the spectral norm of an edge.

    *sigma_{r+1}.* abs(u(i)) = abs((A u)(i))/lambda <= ||A_i||/lambda and ||A_i||^2 <= w d_i/(m c_i), so that
    y(i)^2 <= w rho/(m lambda^2) with rho = max d/(d + tau)^2 over d between m - tau and the largest degree. This is
    abs(dlambda) <= 2 w (1 + lambda) w rho/(m lambda^2); and at most w/m. The same bound on rows,
    kappa_D^2 <= w rho/(m sigma_r^2), holds for the leading space.

    *Coherence.* Let R_k = sum_{j > r} u_j u_j'/(lambda_k - lambda_j), ||R_k|| <= 1/g. The row of vertex v moves by
    sum_j y_j(v) (u_j' dA u_k)/(lambda_k - lambda_j): its main part is at most w/m times the sum of |R_k(v,i)| ||y(l)||
    and |R_k(v,l)| ||y(i)||. By Cauchy and Schwarz that is at most (w/m) sqrt(2) kappa_D/g. For v = i the first factor
    is at most 1/g, and the second is an entry off the diagonal: on the complement of the leading space the spectrum of
    R_k lies in an interval of length at most 2b/(t^2 - b^2), (t, b) = (sigma_r, sigma_{r+1}), above or below a
    number of size at most 1/t; an entry off the diagonal is at most half of that length plus abs(P(i,l))/t,
    abs(P(i,l)) <= kappa_D^2 c_max. That bounds the speed by (w/m) kappa_D (1/g + b/(t^2 - b^2) + sqrt(2) kappa_D^2
    c_max/t); for v other than i and l, sqrt(2) times the part off the diagonal is smaller. The normalisation adds
    (w/m) kappa_D sqrt(2) (t + b)/(2 g), as abs((lambda_j + lambda_k)/(lambda_k - lambda_j)) <= (t + b)/g, and the
    motion of c_v itself (w/m) kappa_D/2.

    *Projector.* ||dP||_F = sqrt(2) ||Omega||_F with Omega_jk = u_j' dA u_k/(lambda_k - lambda_j): column k has norm at
    most (w/sqrt(m)) sqrt(y_k(i)^2 + y_k(l)^2) (1/g + (t + b)/(2 g)), together 2 (w/sqrt(m)) kappa_D (1 + (t + b)/2)/g.

    All bounds grow with b, kappa_D and the largest degree and fall with t, apart from a bound's dependence on its own
    coordinate, as the theorem needs. The papers' coherence max ||U_i|| may stand for kappa_D sqrt(m), which it bounds:
    its rows move by the same bounds, without the last term.

    Parameters
    ----------
    max_weight, lower, regularization : float
        w, m and tau.
    tolerances : Tolerances
        Errors of computed states.
    """

    max_weight: float
    lower: float
    regularization: float
    tolerances: Tolerances

    def _rho(self, largest_degree: float) -> float:
        tau = self.regularization
        degree = min(max(tau, self.lower - tau), max(largest_degree, self.lower - tau))
        return degree / (degree + tau) ** 2

    def _coherence(self, x: FloatArray) -> float:
        """Capped by what follows from sigma_r and the largest degree, and by 1/sqrt(m)."""
        spectral = math.sqrt(self.max_weight / self.lower * self._rho(max(x[3], 0.0))) / max(x[0], 1e-150)
        return min(float(x[2]), spectral, 1 / math.sqrt(self.lower))

    def speeds(self, x: FloatArray) -> FloatArray:
        """See the class."""
        w, m = self.max_weight, self.lower
        # Beyond the safe set, where an integrator may look, numbers need only be finite.
        e, b, p = w / m, max(float(x[1]), 0.0), max(float(x[3]), 0.0)
        t = max(float(x[0]), b + 1e-6 * e)
        g, kappa = t - b, self._coherence(x)
        local = 2 * e * self._rho(p) / b**2 if b > 1e-150 else math.inf
        off = b / (g * (t + b)) + math.sqrt(2.0) * kappa**2 * (p + self.regularization) / t
        turn = min(math.sqrt(2.0) / g, 1 / g + off) + (t + b) / (math.sqrt(2.0) * g) + 0.5
        return _at_least(
            np.array([min(e, 2 * w * (1 + t) * kappa**2), min(e, w * (1 + b) * local), e * kappa * turn, w]),
            self.tolerances,
        )

    def projector(self, x: FloatArray) -> float:
        """See the class."""
        t, b = float(x[0]), float(x[1])
        if not t > b:
            return math.inf
        return 2 * self.max_weight / math.sqrt(self.lower) * self._coherence(x) * (1 + (t + b) / 2) / (t - b)


@dataclass(frozen=True)
class MatrixRates:
    """Symmetric matrices with ||E U||_F <= Delta for every U whose rows have norm at most 1, on the segment A + s E.

    Unit vectors of the leading space have entries of at most kappa, so ||E u|| <= Delta kappa bounds the speed of
    sigma_r; that of sigma_{r+1} is at most ||E|| <= Delta. Rows of the leading space move by at most
    ||R_k|| ||E U||_F <= Delta kappa/g, and ||dP||_F <= sqrt(2) Delta kappa/g.

    Parameters
    ----------
    sensitivity : float
        Delta.
    tolerances : Tolerances
        Errors of computed states.
    """

    sensitivity: float
    tolerances: Tolerances

    def speeds(self, x: FloatArray) -> FloatArray:
        """See the class."""
        delta, kappa = self.sensitivity, min(float(x[2]), 1.0)
        g = max(float(x[0] - x[1]), 1e-6 * delta)
        return _at_least(np.array([delta * kappa, delta, delta * kappa / g, 0.0]), self.tolerances)

    def projector(self, x: FloatArray) -> float:
        """See the class."""
        gap = float(x[0] - x[1])
        return math.sqrt(2.0) * self.sensitivity * min(float(x[2]), 1.0) / gap if gap > 0 else math.inf


def _at_least(speeds: FloatArray, tolerances: Tolerances) -> FloatArray:
    errors = np.array([tolerances.inside, tolerances.outside, tolerances.coherence, 0.0])
    return np.maximum(speeds, errors / tolerances.shift) if errors.any() else speeds


@dataclass(frozen=True)
class SafeSet:
    """States in which one more edge moves the projector by at most `limit` and the gap is at least `least_gap`."""

    limit: float
    least_gap: float

    def room(self, x: FloatArray, rates: Rates) -> float:
        """Positive inside, zero on the boundary."""
        rate = rates.projector(x)
        return min(self.limit / rate - 1 if rate > 0 else math.inf, float(x[0] - x[1]) / self.least_gap - 1)


def steps_to_exit(state: SpectralState, rates: Rates, safe: SafeSet, *, cap: float) -> float:
    """D: the number of edges, at worst, after which the state has left the safe set; at most `cap`.

    Parameters
    ----------
    state : SpectralState
        Private.
    rates : Rates
        The neighbouring relation.
    safe : SafeSet
        Public.
    cap : float
        Public; min(D, cap) has the sensitivity of D.

    Returns
    -------
    float
        Between 0 and `cap`.

    Examples
    --------
    >>> rates = MatrixRates(1.0, Tolerances(0.01))
    >>> round(steps_to_exit(SpectralState(100.0, 0.0, 0.1), rates, SafeSet(1.0, 50.0), cap=500.0), 1)
    44.1
    """
    return float(_integrate(state.array(), rates, lambda x: safe.room(x, rates), cap)[0][-1])


def predicted_path(state: SpectralState, rates: Rates, least_gap: float, cap: float) -> tuple[FloatArray, FloatArray]:
    """Times 0, ..., at most `cap` or the closing of the gap, and the states at them, shape (k,) and (k, 4)."""
    start = state.array()
    return _integrate(start, rates, lambda x: float(x[0] - x[1]) / least_gap - 1, cap)


def _integrate(
    start: FloatArray, rates: Rates, room: Callable[[FloatArray], float], cap: float
) -> tuple[FloatArray, FloatArray]:
    if not room(start) > 0:
        return np.zeros(1), start[None, :]
    # Coordinates of order one: their sizes differ by many orders of magnitude.
    finite = np.where(np.isfinite(start), start, 1.0)
    unit = np.where(np.abs(finite) > 0, np.abs(finite), 1.0)
    direction = np.array([-1.0, 1.0, 1.0, 1.0])

    def state(z: FloatArray) -> FloatArray:
        return np.where(np.isfinite(start), z * unit, start)

    def motion(_: float, z: FloatArray) -> FloatArray:
        return direction * rates.speeds(state(z)) / unit

    def event(_: float, z: FloatArray) -> float:
        return min(room(state(z)), 1.0)

    event.terminal = True  # type: ignore[attr-defined]
    solution = solve_ivp(motion, (0.0, cap), finite / unit, events=event, rtol=1e-7, atol=1e-10, max_step=cap / 20)
    return solution.t, np.array([state(z) for z in solution.y.T])
