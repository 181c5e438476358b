"""The degree-2 relaxation of a 2-CSP (Raghavendra 2008) at scale: label vectors of low rank, multipliers.

Maximise the sum of tables[e, a, b] <V_ua, V_vb> over vectors with <V_ia, V_ib> = 0, sum_a V_ia = v_0, |v_0| = 1, and,
if asked for, <V_ua, V_vb> >= 0 on the constraints. The label constraints hold exactly at every step, because the
vectors of a variable are built from an orthonormal frame; one frame at a time is improved with the others fixed, in
the manner of the mixing method (Wang, Chang, Kolter 2017). The inequalities are relaxed by an augmented Lagrangian.
"""

import math
import time
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from dpgraph.sos.csp.certificate import certify_csp, estimate_bound
from dpgraph.sos.csp.kernels import ascend_blocks
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.cut.certificate import Certificate
from dpgraph.sos.solution import WORTH
from dpgraph.threads import on_thread, time_is_up, within
from dpgraph.typing import FloatArray, IntArray

_RANK = 48
_PENALTY = 2.0  # in units of a typical table entry: measured on random instances
_ROUNDS, _LOOKS = 10, 8  # sweeps between looks at the bound, at least; looks while the sweeps double
_OPERATIONS = 3e10  # multiplications that the sweeps may take by default
_FEWEST_SWEEPS, _MOST_SWEEPS = 100, 2000
#: The bound may be this many times the tolerance away, as the dual converges more slowly.
LOOSE = 10.0


@dataclass(frozen=True, eq=False)
class CSPRelaxation:
    """Frames (n, q, k) and an upper bound, as `nonnegative` and `tol` asked for.

    The `multipliers` (m, q, q) belong to the nonnegative pair probabilities, none of which is below minus `violation`.
    """

    frames: FloatArray
    multipliers: FloatArray
    value: float
    violation: float
    certificate: Certificate
    nonnegative: bool
    tol: float

    @property
    def vectors(self) -> FloatArray:
        """Label vectors V[i, a] = E[i, a, 0] E[i, a], shape (n, q, k)."""
        return self.frames * self.frames[:, :, :1]

    def marginals(self) -> FloatArray:
        """Pseudo-probabilities <V_ia, v_0>, shape (n, q)."""
        return self.frames[:, :, 0] ** 2


def solve_csp_relaxation(
    objective: CSPObjective,
    rng: np.random.Generator,
    *,
    nonnegative: bool = True,
    tol: float = 1e-4,
    start: tuple[FloatArray, FloatArray] | None = None,
    deadline: float = math.inf,
    between: tuple[float, float] = (-math.inf, math.inf),
) -> CSPRelaxation:
    """Solve the degree-2 relaxation to a relative tolerance, and certify it.

    Stops once progress, violation and complementarity, summed over the instance, are the share `tol` of the value, and
    the bound is within ten times that; or where as much work again would lower it by little of the gap that it would
    leave, where a solution is known; or after about a minute. What is known to lie `between`
    the value of a solution and a bound. `nonnegative` requires nonnegative pair probabilities; without, they are
    required first and then released. `start`: frames and multipliers. The `deadline` is a time of ``time.monotonic``.
    """
    known: list[Certificate] = []
    if start is None and not nonnegative:
        # From a random start block ascent may end where no single frame improves; with the inequalities it does not.
        loose = min(LOOSE * tol, 0.01)
        inside = solve_csp_relaxation(objective, rng, tol=loose, deadline=deadline, between=between)
        start = inside.frames, np.zeros_like(objective.tables)
        known.append(inside.certificate)  # multipliers of the inequalities only add to the value, so it still holds
    E, S = _random_start(objective, rng) if start is None else (np.array(part, order="C") for part in start)
    V = E * E[:, :, :1]
    q = objective.alphabet_size
    room = np.empty((3, *E.shape[1:])), np.empty((6, q, q))
    entry = float(np.abs(objective.tables).max(axis=(1, 2), initial=0.0).mean()) if len(objective.pairs) else 0.0
    penalty = _PENALTY * entry if nonnegative else 0.0
    work = 4.0 * len(objective.pairs) * q**2 * E.shape[2] + 1.0
    most = int(np.clip(_OPERATIONS / work, _FEWEST_SWEEPS, _MOST_SWEEPS))
    sweeps, before, best = 0, -math.inf, math.inf
    # A nearly integral solution no longer shows all of its multipliers, so the best dual point is kept.
    dual: tuple[FloatArray, FloatArray] | None = None
    looks: list[tuple[int, float, float]] = []  # sweeps, the best estimate of a bound, and the value
    while True:
        rounds = max(_ROUNDS, sweeps // _LOOKS)
        with within(deadline - time.monotonic()):
            on_thread(ascend_blocks, objective.constraints, S, penalty, E, V, *room, rounds)
        moments = pair_moments(objective.pairs, V)
        S = np.maximum(S - penalty * moments, 0.0) if nonnegative else S
        sweeps += rounds
        value = objective.constant + float(np.sum(objective.unary * V[:, :, 0]))
        value += float(np.sum(objective.tables * moments))
        missing = np.maximum(-moments, 0.0) if nonnegative else np.zeros(1)
        error = abs(value - before) + abs(float(np.sum(S * moments))) + entry * float(missing.sum())
        before = value
        late = sweeps >= most or time.monotonic() >= deadline
        if late and dual is None:
            break
        estimate = estimate_bound(objective, V, S, rng)
        if estimate < best:
            best, dual = estimate, (V.copy(), S.copy())
        looks.append((sweeps, best, value))
        exact = max(abs(value), abs(objective.constant), 1e-300) * tol
        converged = error <= exact and best - value <= LOOSE * exact
        fewest = _FEWEST_SWEEPS if known or start is None else 0
        if late or converged or (sweeps >= fewest and _is_vain(looks, between)):
            break
    certificate = min([*known, certify_csp(objective, *(dual or (V, S)), rng)], key=attrgetter("bound"))
    return CSPRelaxation(E, S, value, float(missing.max(initial=0.0)), certificate, nonnegative, tol)


def _is_vain(looks: list[tuple[int, float, float]], between: tuple[float, float]) -> bool:
    """Whether as many sweeps again would lower the bound by little of the gap that there is.

    The value of the relaxation is taken to move by at most what it has moved since half of the sweeps, and the distance
    of the bound to it to shrink by the same factor as since then. What is known already lies `between` the value of a
    solution and a bound.
    """
    (sweeps, now, value), (least, bound) = looks[-1], between
    early = [look for look in looks if 2 * look[0] <= sweeps]
    if not early or least == -math.inf:
        return False
    _, then, before = early[-1]
    lowest = value - abs(value - before)
    shrunk = (now - lowest) / (then - lowest) if lowest < now < then else 1.0
    bound = min(bound, now)
    return bound - max(lowest, lowest + shrunk * (now - lowest)) <= WORTH * (bound - least)


def pair_moments(pairs: IntArray, V: FloatArray) -> FloatArray:
    """Inner products <V[u, a], V[v, b]> of all constraints, shape (m, q, q)."""
    return np.asarray(V[pairs[:, 0]] @ V[pairs[:, 1]].transpose(0, 2, 1))


def _random_start(objective: CSPObjective, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Random frames E = R'(v_0, W), R swapping e_0 and (1, ..., 1)/sqrt(q): uniform marginals; no multipliers."""
    n, q = objective.n_variables, objective.alphabet_size
    k = min(n * (q - 1) + 1, max(_RANK, q + 1))
    W = np.zeros((n, q, k))
    W[:, 0, 0] = 1.0
    basis = np.eye(k - 1, q - 1)[None] if time_is_up() else np.linalg.qr(rng.standard_normal((n, k - 1, q - 1)))[0]
    W[:, 1:, 1:] = basis.transpose(0, 2, 1)
    h = np.full(q, 1.0 / math.sqrt(q))
    h[0] -= 1.0
    R = np.eye(q) - 2.0 * np.outer(h, h) / (h @ h)
    return np.ascontiguousarray(np.einsum("ca,nck->nak", R, W)), np.zeros_like(objective.tables)
