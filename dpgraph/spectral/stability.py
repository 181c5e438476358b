r"""How many edges a graph is away from one whose leading eigenspace one more edge could move far.

The papers test the spectral gap and then the coherence, each with a slack for one neighbour's change. Here both are one
test. Move from a graph to a neighbour along the path of graphs on which one weight grows linearly, and write what
matters as a state: sigma_r and sigma_{r+1}, the coherence kappa_D and the largest degree. The speed of each of them is
bounded by the state alone, and by much less than the spectral norm of an edge: an eigenvector of eigenvalue lambda has
entries of at most (row norm)/lambda, so that an edge moves sigma_{r+1} by O(d w/(lambda^2 m)) of e = w/m, and
sigma_r by O(kappa_D^2 w).

**Theorem.** Let F be the vector of these bounds for x = (-sigma_r, sigma_{r+1}, kappa, largest degree), x(s) the
solution of x' = F(x) that starts at the state of G, and rate(x) the bound on the speed of the projector. Let the
function limit(u) >= 0 of the steps u >= 0 that remain be public and nonincreasing, and D(G) the largest T such that
rate(x(s)) <= limit(T - s) and sigma_r - sigma_{r+1} >= least gap for all s in [0, T]. Then |D(G) - D(G')| <= 1 for
neighbours, and D(G) >= T >= 1 implies ||P - P'||_F <= limit(T - 1).

*Proof.* Let y(s) be the state on the path, s in [0, 1]. As long as the gap is open it is absolutely continuous and
y' <= F(y) in every coordinate. Every coordinate of F is nondecreasing in the *other* coordinates, so that y(s) <= x(s)
(comparison theorem for quasimonotone systems; W. Walter, Ordinary Differential Equations, 1998, section 10.XII), and
the solution that starts at the state of G' is at most x(s + 1) at time s. Rate and gap are monotone in the state. So
on that solution rate <= limit((D(G) - 1) - s) for s in [0, D(G) - 1], that is D(G') >= D(G) - 1; and the same with G
and G' exchanged. ||P - P'||_F is at most the integral of rate(y(s)) <= limit(T - s) <= limit(T - 1) over [0, 1]. QED.

With a constant limit, D is the number of edges to the nearest graph that might be unstable, and D + noise - slack >= 1
a test that passes or fails. With a limit that falls as steps remain it is a measurement: the more steps are found, the
smaller the limit that is certified.

So D is a statistic of sensitivity 1, and its noisy value is all that the projector's noise needs (after the
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
from scipy.optimize import minimize_scalar

__all__ = [
    "EdgeRates",
    "MatrixRates",
    "Rates",
    "SafeSet",
    "SpectralState",
    "Tolerances",
    "predicted_paths",
    "steps_to_exit",
]

FloatArray = NDArray[np.float64]

#: Points of the path at which the latest exit is looked for, before it is refined between them.
_GRID = 65


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
    """Bounds on speeds along the path between two neighbours; states are columns, shape (4,) or (4, k)."""

    def speeds(self, x: FloatArray) -> FloatArray:
        """Bounds on the speeds of (sigma_r downwards, sigma_{r+1}, coherence, largest degree), all >= 0."""
        ...

    def projector(self, x: FloatArray) -> FloatArray:
        """Bound on the speed of the projector in Frobenius norm, shape () or (k,)."""
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

    *One vertex seen from the leading space.* Let t, b = sigma_r, sigma_{r+1} and g = t - b; lambda = abs(lambda_k), at
    least t, abs(lambda_j) <= b < t for j > r (for lambda_k < 0 replace A by -A), and
    R = sum_{j > r} u_j u_j'/(lambda - lambda_j). The measure sum_{j > r} u_j(i) u_j(l) at lambda_j has mass
    [i = l] - P(i,l) and first moment A(i,l) - sum_{k <= r} lambda_k u_k(i) u_k(l), where A(i,i) = 0 and
    0 <= A(i,l) <= w/m. Its second moment comes from sum_j lambda_j^2 u_j(i)^2 = ||A_i||^2 <= s, where
    s = (w/m) max d/(d + tau) is small however close b is to t. Expand
    1/(lambda - x) = 1/lambda + x/lambda^2 + x^2/(lambda^2 (lambda - x)).
    The leading eigenvectors' part of the second moment, divided by t, bounds sum_{k <= r} abs(lambda_k u_k(i) u_k(l)),
    and divided by t^2 it bounds P(i,l); by Cauchy and Schwarz, for i != l,

        0 <= R(i,i) <= (1 + s/(t g))/t,    abs(R(i,l)) <= (w/m + s/t + s/g)/t^2,

    and likewise, from 1/(lambda - x)^2 = 1/lambda^2 + 2x/lambda^3 + x^2 (3 lambda - 2x)/(lambda^3 (lambda - x)^2), with
    a := s (3t - 2b)/(t g^2),

        R^2(i,i) <= (1 + a)/t^2,           abs(R^2(i,l)) <= (s/t^2 + 2 (w/m)/t + a)/t^2.

    Everywhere 1/g bounds ||R||: an edge moves a row as if the rest of the spectrum were not there.

    *Coherence.* The row of vertex v moves by sum_j y_j(v) (u_j' dA u_k)/(lambda_k - lambda_j): its main part is at most
    w/m times the sum of |R_k(v,i)| ||y(l)|| and |R_k(v,l)| ||y(i)||, that is at most (w/m) kappa_D times
    R(i,i) + |R(i,l)| for v = i, twice an entry off the diagonal for other v, and sqrt(2)/g for all. The normalisation
    adds (w/m) kappa_D sqrt(2) (t + b)/(2 g), as abs((lambda_j + lambda_k)/(lambda_k - lambda_j)) <= (t + b)/g, and the
    motion of c_v itself (w/m) kappa_D/2.

    *Projector.* ||dP||_F = sqrt(2) ||Omega||_F with Omega_jk = u_j' dA u_k/(lambda_k - lambda_j): column k has norm at
    most (w/sqrt(m)) sqrt(y_k(i)^2 + y_k(l)^2) (q + (t + b)/(2 g)), where q^2 bounds the norm of R^2 on the
    coordinates i and l: q = min(1/g, sqrt(R^2(i,i) + |R^2(i,l)|)). Together 2 (w/sqrt(m)) kappa_D (q + (t + b)/(2 g)).

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

    def _degree(self, x: FloatArray) -> FloatArray:
        """Largest degree, at least the smallest."""
        return np.maximum(x[3], self.lower - self.regularization)

    def _rho(self, x: FloatArray) -> FloatArray:
        tau = self.regularization
        degree = np.minimum(max(tau, self.lower - tau), self._degree(x))
        return degree / (degree + tau) ** 2

    def _row(self, x: FloatArray) -> FloatArray:
        """Bound s on ||A_i||^2."""
        degree = self._degree(x)
        return self.max_weight / self.lower * degree / (degree + self.regularization)

    def _coherence(self, x: FloatArray) -> FloatArray:
        """Capped by what follows from sigma_r and the largest degree, and by 1/sqrt(m)."""
        spectral = np.sqrt(self.max_weight / self.lower * self._rho(x)) / np.maximum(x[0], 1e-150)
        return np.minimum(np.minimum(x[2], spectral), self.lower**-0.5)

    def speeds(self, x: FloatArray) -> FloatArray:
        """See the class."""
        w, m = self.max_weight, self.lower
        # Beyond the safe set, where an integrator may look, numbers need only be finite.
        e, b = w / m, np.maximum(x[1], 0.0)
        t = np.maximum(x[0], b + 1e-6 * e)
        g, kappa, s = t - b, self._coherence(x), self._row(x)
        off = (e + s / t + s / g) / t**2
        turn = np.minimum(math.sqrt(2.0) / g, np.maximum((1 + s / (t * g)) / t, off) + off)
        turn += (t + b) / (math.sqrt(2.0) * g) + 0.5
        inside = np.minimum(e, 2 * w * (1 + t) * kappa**2)
        outside = np.minimum(e, 2 * e * w * (1 + b) * self._rho(x) / np.maximum(b, 1e-75) ** 2)
        return _at_least(np.array([inside, outside, e * kappa * turn, np.full_like(b, w)]), self.tolerances)

    def projector(self, x: FloatArray) -> FloatArray:
        """See the class."""
        e, b, s = self.max_weight / self.lower, x[1], self._row(x)
        t = np.maximum(x[0], 1e-50)
        g = np.maximum(t - b, 1e-50)
        turn = np.minimum(
            1 / g, np.sqrt(1 + 2 * s * np.maximum(3 * t - 2 * b, 0) / (t * g * g) + s / t**2 + 2 * e / t) / t
        )
        rate = 2 * self.max_weight / math.sqrt(self.lower) * self._coherence(x) * (turn + (t + b) / (2 * g))
        return np.where(x[0] > b, rate, np.inf)


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
        delta, kappa = self.sensitivity, np.minimum(x[2], 1.0)
        g = np.maximum(x[0] - x[1], 1e-6 * delta)
        return _at_least(
            np.array([delta * kappa, np.full_like(g, delta), delta * kappa / g, np.zeros_like(g)]), self.tolerances
        )

    def projector(self, x: FloatArray) -> FloatArray:
        """See the class."""
        gap = x[0] - x[1]
        rate = math.sqrt(2.0) * self.sensitivity * np.minimum(x[2], 1.0) / np.maximum(gap, 1e-150)
        return np.where(gap > 0, rate, np.inf)


def _at_least(speeds: FloatArray, tolerances: Tolerances) -> FloatArray:
    errors = np.array([tolerances.inside, tolerances.outside, tolerances.coherence, 0.0]) / tolerances.shift
    return np.maximum(speeds, errors.reshape(4, *(1,) * (speeds.ndim - 1)))


@dataclass(frozen=True)
class SafeSet:
    """How fast the projector may move while so many steps remain, and the least gap; all public.

    Parameters
    ----------
    steps : ndarray, shape (k,)
        Steps that remain, 0 = steps[0] < steps[1] < ...
    limits : ndarray, shape (k,)
        Limits then, decreasing; between them and beyond the last two, logarithms are interpolated. One alone is
        constant.
    least_gap : float
        Of sigma_r - sigma_{r+1}.
    """

    steps: FloatArray
    limits: FloatArray
    least_gap: float

    @classmethod
    def constant(cls, limit: float, least_gap: float) -> SafeSet:
        """The same limit at all times."""
        return cls(np.zeros(1), np.array([limit]), least_gap)

    def limit(self, remaining: float) -> float:
        """Limit while so many steps remain."""
        return float(np.exp(_piecewise(max(remaining, 0.0), self.steps, np.log(self.limits))))

    def remaining(self, rates: FloatArray) -> FloatArray:
        """Most steps that may remain at these speeds of the projector, none of which is above limits[0]."""
        if len(self.steps) == 1:
            return np.full(np.shape(rates), np.inf)
        logs = np.log(np.maximum(rates, 1e-300))
        return _piecewise(-logs, -np.log(self.limits), self.steps)

    def room(self, x: FloatArray, rates: Rates) -> float:
        """Positive in states that may have steps left, zero on the boundary."""
        rate = float(rates.projector(x))
        limit = float(self.limits[0])
        return min(limit / rate - 1 if rate > 0 else math.inf, float(x[0] - x[1]) / self.least_gap - 1)


def _piecewise(x: FloatArray | float, nodes: FloatArray, values: FloatArray) -> FloatArray:
    """Piecewise linear, the last piece extended."""
    inner = np.interp(x, nodes, values)
    if len(nodes) == 1:
        return np.asarray(inner)
    slope = (values[-1] - values[-2]) / (nodes[-1] - nodes[-2])
    return np.asarray(inner + slope * np.maximum(np.asarray(x) - nodes[-1], 0.0))


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
    >>> safe = SafeSet.constant(limit=1.0, least_gap=50.0)
    >>> round(steps_to_exit(SpectralState(100.0, 0.0, 0.1), rates, safe, cap=500.0), 1)
    44.1
    """
    path = _integrate(state.array(), rates, lambda x: safe.room(x, rates), cap)
    if len(safe.steps) == 1 or path.last == 0:
        return path.last

    def latest(s: float) -> float:
        return s + float(safe.remaining(rates.projector(path.at(s))))

    grid = np.linspace(0.0, path.last, _GRID)
    exits = [latest(float(s)) for s in grid]
    k = int(np.argmin(exits))
    around = (float(grid[max(k - 1, 0)]), float(grid[min(k + 1, _GRID - 1)]))
    found = minimize_scalar(latest, bounds=around, method="bounded", options={"xatol": 1e-6 * path.last})
    return max(0.0, min(path.last, exits[k], float(found.fun)))


def predicted_paths(states: FloatArray, rates: Rates, times: FloatArray) -> FloatArray:
    """Paths of k public states, shape (4, k), at some times, by Heun's method: shape (4, len(times), k). To plan."""
    paths = np.empty((4, len(times), states.shape[1]))
    paths[:, 0] = states
    direction = np.array([-1.0, 1.0, 1.0, 1.0])[:, None]
    for i, step in enumerate(np.diff(times)):
        first = direction * rates.speeds(paths[:, i])
        second = direction * rates.speeds(paths[:, i] + step * first)
        paths[:, i + 1] = paths[:, i] + step * (first + second) / 2
    return paths


@dataclass(frozen=True)
class _Path:
    """Solution at all times from 0 to the last."""

    last: float
    at: Callable[[float], FloatArray]


def _integrate(start: FloatArray, rates: Rates, room: Callable[[FloatArray], float], cap: float) -> _Path:
    if not room(start) > 0:
        return _Path(0.0, lambda s: start)
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
    solution = solve_ivp(
        motion, (0.0, cap), finite / unit, events=event, rtol=1e-7, atol=1e-10, max_step=cap / 20, dense_output=True
    )
    return _Path(float(solution.t[-1]), lambda s: state(solution.sol(s)))
