"""Ascent on unit rows by matrix products alone: limited-memory BFGS on a product of spheres (Liu, Nocedal 1989).

Nothing is compiled for it. On large sparse matrices coordinate ascent is several times faster.
"""

from collections.abc import Callable

import numpy as np

from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray

_MEMORY = 5
_ENOUGH = 1e-4  # of what the slope promises: a step that gains less is made shorter, by the factor
_SHORTER, _SHORTEST = 0.3, 1e-6


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
    pairs: list[tuple[FloatArray, FloatArray, float]] = []  # what V and the slope changed by, and the inner product
    done, gain = 0, 0.0
    for done in range(1, steps + 1):  # noqa: B007 (what is returned)
        direction, shares = -slope, list[float]()
        for moved, bent, inner in reversed(pairs):
            shares.append(float(np.vdot(moved, direction)) / inner)
            direction -= shares[-1] * bent
        if pairs:
            direction *= pairs[-1][2] / float(np.vdot(pairs[-1][1], pairs[-1][1]))
        else:
            direction /= float(np.linalg.norm(slope, axis=1).max()) or 1.0
        for (moved, bent, inner), share in zip(pairs, reversed(shares), strict=True):
            direction += (share - float(np.vdot(bent, direction)) / inner) * moved
        direction, length = tangent(direction, V), 1.0
        promised = float(np.vdot(slope, direction))
        while True:
            at = V + length * direction
            at /= np.linalg.norm(at, axis=1, keepdims=True)
            reached, steeper = cost_and_slope(at)
            gain = cost - reached
            if gain >= -_ENOUGH * length * promised or length < _SHORTEST:
                break
            length *= _SHORTER
        if gain <= 0.0 and pairs:  # from the slope alone
            pairs, gain = [], np.inf
            continue
        if gain > 0.0:
            moved, bent = at - V, steeper - tangent(slope, at)
            inner = float(np.vdot(moved, bent))
            pairs = [*pairs, (moved, bent, inner)][-_MEMORY:] if inner > 0.0 else []
            V[:], cost, slope = at, reached, steeper
        if gain <= tol or time_is_up():
            break
    return done, max(gain, 0.0)
