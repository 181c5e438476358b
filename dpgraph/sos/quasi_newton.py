"""Limited-memory BFGS (Liu, Nocedal 1989), for ascent on unit rows and for multipliers of inequalities."""

import numpy as np

from dpgraph.typing import FloatArray

#: A step that gains less than this share of what the slope promises is made shorter, by the factor, up to the least.
ENOUGH, SHORTER, SHORTEST = 1e-4, 0.3, 1e-6


def descent(slope: FloatArray, pairs: list[tuple[FloatArray, FloatArray]], first: float) -> FloatArray:
    """Minus the slope times an estimate of the inverse Hessian, from changes of the point and of the slope.

    Without any, minus `first` times the slope. Pairs without positive curvature are left out.
    """
    direction, shares = -slope, list[tuple[FloatArray, FloatArray, float, float]]()
    for moved, bent in reversed(pairs):
        if (inner := float(np.vdot(moved, bent))) > 0.0:
            share = float(np.vdot(moved, direction)) / inner
            direction -= share * bent
            first = first if shares else inner / float(np.vdot(bent, bent))
            shares.append((moved, bent, inner, share))
    direction *= first
    for moved, bent, inner, share in reversed(shares):
        direction += (share - float(np.vdot(bent, direction)) / inner) * moved
    return direction
