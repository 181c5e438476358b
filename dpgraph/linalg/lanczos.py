r"""Lanczos runs without reorthogonalisation, and what they prove about the ends of a spectrum.

**Certificate.** Let B be symmetric, v_0 a random unit vector, and B v_j = beta_{j+1} v_{j+1} + alpha_j v_j
+ beta_j v_{j-1} the Lanczos recurrence, all v_j unit vectors. Let p_j be the polynomials with p_0 = 1 and
x p_j = beta_{j+1} p_{j+1} + alpha_j p_j + beta_j p_{j-1}. If x is below all Ritz values and abs(p_j(x)) exceeds
sqrt(2 n/pi)/delta_0 for some j, then all eigenvalues of B exceed x, except with probability delta_0; likewise above. If
x exceeds the absolute Ritz values, and abs(p_j(x)) and abs(p_j(-x)) both exceed that bound, then ||B|| < x, except with
probability delta_0.

*Proof.* Let u be a unit eigenvector of B for its smallest eigenvalue l (or the largest, or the one of largest absolute
value), chosen before v_0 is. The numbers a_j = <u, v_j> satisfy the recurrence of p_j(l), so a_j = p_j(l) a_0, and
abs(a_j) <= 1 as v_j is a unit vector. The zeros of p_j are Ritz values, so beyond them abs(p_j) increases: l <= x
implies abs(a_0) <= 1/abs(p_j(x)). But the density of a_0, for v_0 uniform on the sphere, is at most sqrt(n/(2 pi)):
P(abs(a_0) <= s) <= s sqrt(2 n/pi). QED.

The vectors v_j need not be orthogonal, so that the loss of orthogonality does no harm; rounding acts on a_j as a change
of a_0 by some units of 1e-16 would, and no run claims to have seen that abs(a_0) is below 1e-12, so that one run fails
with probability 1e-9 at best for n = 10^6. Where less is asked for, several runs from independent starts must all
exclude x: if it is wrong, all of them failed (:mod:`dpgraph.linalg.eigen` says with which probability). The number of
steps is that of the a-priori bounds (J. Kuczynski, H. Wozniakowski, Estimating the largest eigenvalue by the power and
Lanczos algorithms with a random start, SIAM J. Matrix Anal. Appl. 13, 1992, Theorem 4.2) for spectra that fill an
interval evenly, and much smaller for others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from scipy import linalg

from dpgraph import threads
from dpgraph.typing import FloatArray

#: After a product that leaves less than this of what U holds, the complement of U is projected to once more.
_LOST_DIGITS = 1e-6
#: If less than this of it is left then, it was rounding, all of it in the span of U: the Krylov space is exhausted.
_ALL_ROUNDING = 1e-3
#: A Krylov space whose next vector is this short, relative to the products, is invariant up to rounding.
_INVARIANT = 1e-14
#: Steps between looks at a certificate.
_LOOK = 16
#: No run shows that the first component of an eigenvector is smaller than this: rounding may be what it sees.
_LEAST_COMPONENT = 1e-12
#: How near to the best number a certificate is taken, relative to the spread of the Ritz values.
_PRECISION = 1e-7
#: In place of a coefficient that is zero.
_TINY = 1e-300


def _length(w: FloatArray) -> float:
    """Euclidean norm, without BLAS: on a busy machine the threads that share one vector wait for each other."""
    return math.sqrt(np.einsum("i,i->", w, w))


class Lanczos:
    """Lanczos from a random start, in the orthogonal complement of the orthonormal columns U of `complement`, if any.

    The `start` holds normal random numbers, possibly zero outside a set of coordinates that `multiply` maps to itself.
    `scale` is the norm of what U holds, and so of rounding errors of products.
    """

    def __init__(
        self,
        multiply: Callable[[FloatArray], FloatArray],
        start: FloatArray,
        complement: FloatArray | None = None,
        scale: float = 0.0,
    ) -> None:
        self._multiply, self._U, self._scale = multiply, complement, scale
        self._chance = math.sqrt(2 * np.count_nonzero(start) / math.pi)  # P(abs(a_0) <= s) is at most this times s
        self._size = 0.0  # largest coefficient so far
        self._before = np.zeros(start.size)
        self._v = self._normalised(np.array(start, dtype=np.float64))
        self.alpha: list[float] = []
        self.beta: list[float] = []

    def _normalised(self, w: FloatArray) -> FloatArray:
        w = self._projected(w)
        self._norm = norm = _length(w)
        if 0 < norm < _LOST_DIGITS * self._scale:  # rounding has left components in the span of U
            w = self._projected(w / norm)
            norm = _length(w)
            if norm < _ALL_ROUNDING:
                self._norm = norm = 0.0
        return w / norm if norm > 0 else w

    def _projected(self, w: FloatArray) -> FloatArray:
        return w if self._U is None else w - self._U @ (self._U.T @ w)

    def run(self, steps: int) -> Lanczos:
        """Take further steps, fewer if the Krylov space is exhausted, or a time limit is over."""
        for _ in range(steps):
            if self.exhausted or (self.alpha and threads.time_is_up()):
                break
            w = np.array(self._multiply(self._v), dtype=np.float64)
            if self.beta:
                w -= self.beta[-1] * self._before
            self.alpha.append(float(np.einsum("i,i->", self._v, w)))
            w -= self.alpha[-1] * self._v
            self._before, self._v = self._v, self._normalised(w)
            self.beta.append(self._norm)
            self._size = max(self._size, abs(self.alpha[-1]), self.beta[-1])
        return self

    @property
    def steps(self) -> int:
        """Steps taken."""
        return len(self.alpha)

    @property
    def exhausted(self) -> bool:
        """Whether the Krylov space is invariant."""
        return bool(self.beta) and self.beta[-1] <= _INVARIANT * self._size

    def ritz(self) -> FloatArray:
        """Ritz values, ascending: lost orthogonality repeats values but invents none."""
        return np.asarray(linalg.eigvalsh_tridiagonal(np.array(self.alpha), np.array(self.beta[:-1])))

    def largest(self) -> float:
        """Largest absolute Ritz value."""
        return float(np.abs(self.ritz()[[0, -1]]).max())

    def look(self, x: float, failure: float, steps: int, deadline: float = math.inf) -> bool:
        """Continue until all eigenvalues surely exceed x, for `steps` in all, or soon after the `deadline`."""
        enough, deadline = self._chance / failure, min(deadline, threads.deadline())
        while True:
            if self.steps and float(self.ritz()[0]) > x and (self.exhausted or self._growth(x, enough) >= enough):
                return True
            if self.exhausted or self.steps >= steps or (self.steps and time.monotonic() >= deadline):
                return False
            self.run(min(_LOOK, steps - self.steps))

    @property
    def least_doubt(self) -> float:
        """What a single run can show at best, because of rounding."""
        return self._chance * _LEAST_COMPONENT

    def doubt(self, x: float, aim: float) -> float:
        """Probability, over the start, that a run excludes ||B|| >= x as this one does although it is false.

        By the certificate of this module; x is larger than all absolute Ritz values. No smaller than `aim`, which is at
        least :attr:`least_doubt`. Exhausted runs prove no more: what is left is rounding.
        """
        enough = self._chance / aim
        growth = min(self._growth(x, enough), self._growth(-x, enough))
        return aim if growth >= enough else min(1.0, self._chance / growth)

    def _growth(self, x: float, enough: float) -> float:
        """Largest abs(p_j(x)), or `enough` if that is reached."""
        before, now, last, most = 0.0, 1.0, 0.0, 1.0
        for a, b in zip(self.alpha, self.beta, strict=True):
            b = max(b, _INVARIANT * self._size, _TINY)
            before, now, last = now, ((x - a) * now - last * before) / b, b
            most = max(most, abs(now))
            if most >= enough:
                return enough
        return most

    def shown(self, failure: float) -> float:
        """A number that all eigenvalues exceed, except with probability `failure`: by the certificate.

        It may depend on the run: whatever it is, an eigenvalue below it means that abs(a_0) is below 1/abs(p_j), and
        that has the probability of the certificate.
        """
        enough, ritz = self._chance / failure, self.ritz()
        step = spread = float(ritz[-1] - ritz[0])
        if spread == 0.0 and not self.exhausted:  # a single step shows nothing
            return -math.inf
        while step > 0.0 and self._growth(float(ritz[0]) - step, enough) < enough:
            step *= 2.0
        below = step
        while step > _PRECISION * spread:  # `below` is known to be enough
            step *= 0.5
            if self._growth(float(ritz[0]) - below + step, enough) >= enough:
                below -= step
        return float(ritz[0]) - below


def lower_bound(run: Lanczos, target: float, *, steps: int, failure: float, deadline: float = math.inf) -> float:
    """A number that all eigenvalues exceed: `target` if `steps` in all show it, or else the best that is known then.

    The run is continued until then, or soon after the `deadline`. The number is wrong with probability `failure` over
    the start, in exact arithmetic: either is only where abs(a_0) is as small as the certificate excludes.
    """
    return target if run.look(target, failure, steps, deadline) else run.shown(failure)
