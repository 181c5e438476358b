"""Ascent on unit rows by matrix products alone: limited-memory BFGS on a product of spheres.

Nothing is compiled for it. On large sparse matrices coordinate ascent is several times faster.
"""

from collections.abc import Callable

import numpy as np

from dpgraph.sos.quasi_newton import ENOUGH, SHORTER, SHORTEST, descent
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray

_MEMORY = 5


def ascend_rows(
    multiply: Callable[[FloatArray], FloatArray], V: FloatArray, steps: int, tol: float
) -> tuple[int, float]:
    """Raise -<V, M V>/4 over unit rows, in place, until a step gains at most `tol`: steps done, gain of the last."""

    def tangent(G: FloatArray, at: FloatArray) -> FloatArray:
        return np.asarray(G - np.einsum("ik,ik->i", G, at)[:, None] * at)

    def cost_and_slope(at: FloatArray) -> tuple[float, FloatArray]:
        product = multiply(at)
        return 0.25 * float(np.vdot(at, product)), tangent(0.5 * product, at)

    cost, slope = cost_and_slope(V)
    pairs: list[tuple[FloatArray, FloatArray]] = []  # what V and the slope changed by
    done, gain = 0, 0.0
    for done in range(1, steps + 1):  # noqa: B007 (what is returned)
        steepest = float(np.linalg.norm(slope, axis=1).max()) or 1.0
        direction, length = tangent(descent(slope, pairs, 1.0 / steepest), V), 1.0
        promised = float(np.vdot(slope, direction))
        while True:
            at = V + length * direction
            at /= np.linalg.norm(at, axis=1, keepdims=True)
            reached, steeper = cost_and_slope(at)
            gain = cost - reached
            if gain >= -ENOUGH * length * promised or length < SHORTEST:
                break
            length *= SHORTER
        if gain <= 0.0 and pairs:  # from the slope alone
            pairs, gain = [], np.inf
            continue
        if gain > 0.0:
            pairs = [*pairs, (at - V, steeper - tangent(slope, at))][-_MEMORY:]
            V[:], cost, slope = at, reached, steeper
        if gain <= tol or time_is_up():
            break
    return done, max(gain, 0.0)
