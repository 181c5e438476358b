"""Estimating a slowly moving field from noisy block releases: one scalar Kalman filter for each row.

A solver sees, for a block of rows b, noisy fields f_b = (A x)_b + N(0, sigma**2) at the present public iterate x.
Between two looks at a row of degree d the field drifts because x moved, with a variance of about d times the mean
square change of x: rows of high degree should trust their last look, and rows of low degree average all of them.
"""

import numpy as np

from dpgraph.typing import FloatArray, IntArray

__all__ = ["FieldTracker"]


class FieldTracker:
    """Posterior mean and variance of the field at each row, shapes (n, columns) and (n,).

    Of the released (positive) degree, `prior` is the multiple that is the variance before the first look, and `drift`
    the multiple that is the variance of the drift for one unit of squared movement.
    """

    def __init__(self, degrees: FloatArray, columns: int, *, prior: float, drift: float) -> None:
        self._degrees = degrees
        self._share = degrees / degrees.sum()
        self._drift = drift
        self._clock = 0.0
        self._last = np.zeros(degrees.size)
        self.mean = np.zeros((degrees.size, columns))
        self.variance = prior * degrees

    def observe(self, rows: IntArray, fields: FloatArray, noise_variance: float) -> None:
        """Update `rows` with the released `fields`, shape (len(rows), columns)."""
        moved = self._clock - self._last[rows]
        predicted = self.variance[rows] + self._drift * self._degrees[rows] * moved
        gain = predicted / (predicted + noise_variance)
        self.mean[rows] += gain[:, None] * (fields - self.mean[rows])
        self.variance[rows] = predicted * (1 - gain)
        self._last[rows] = self._clock

    def moved(self, rows: IntArray, change: FloatArray) -> None:
        """Account for a change of the iterate at `rows`, shape (len(rows), columns)."""
        self._clock += float(np.sum(self._share[rows] * np.einsum("ij,ij->i", change, change)))

    def signal_to_noise(self, rows: IntArray) -> FloatArray:
        """Posterior mean over posterior standard deviation, shape (len(rows), columns)."""
        return self.mean[rows] / np.sqrt(np.maximum(self.variance[rows], 1e-12))[:, None]
