"""Degrees of rows from their noisy counts of edges to labels, once the communities are known.

A sweep sets rows one after another; a row counts, with noise, its edges to each label among the rows set before it.
Which part of its edges these are depends on its community: neighbours of a vertex in a dense group may all come at
once. The part that leads to community b is known from the released weights between communities, and which of b had been
set, under which labels, is public. So counts to each label are expected to be proportional to known numbers, times the
degree.
"""

from typing import NamedTuple

import numpy as np

from dpgraph.typing import FloatArray, IntArray


class Reading(NamedTuple):
    """Rows, their noisy counts of each label, the variance of one, and the labels that they took then."""

    rows: IntArray
    counts: FloatArray
    variance: float
    labels: IntArray


def edges_counted(
    passes: list[list[Reading]], degrees: FloatArray, labels: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How many edges each row has counted in all passes together, the part of its edges these are, and the variance.

    Labels are those of now, `weights` the symmetric weights between them, not negative, once inside each. In a pass the
    number is that of least squares: counts to labels which hold many of the row's neighbours weigh more, so that the
    noise of others is left out.
    """
    tiny = np.finfo(np.float64).tiny
    between = weights + np.diag(np.diag(weights))
    shares = between / np.maximum(between.sum(axis=1, keepdims=True), tiny)
    volumes = np.bincount(labels, weights=degrees)
    counted, part, variance = np.zeros((3, degrees.size))
    for readings in passes:
        seen = np.zeros((readings[0].counts.shape[1], volumes.size))
        for rows, counts, noise, taken in readings:
            expected = shares[labels[rows]] @ (seen / volumes).T
            whole, squares = expected.sum(axis=1), np.maximum((expected**2).sum(axis=1), tiny)
            counted[rows] += whole * (expected * counts).sum(axis=1) / squares
            variance[rows] += whole**2 * noise / squares
            part[rows] += whole
            np.add.at(seen, (taken, labels[rows]), degrees[rows])
    return counted, part, variance
