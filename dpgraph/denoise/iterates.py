"""The public half of bounded iterates: released degrees, estimates of fields, how rows are set by these.

A row is a vertex or a variable, its field the weight of its edges to either side, or to each label, as sides and labels
stand. To read a row is to release its field with noise, in :mod:`dpgraph.releases.sweeps`; everything here is computed
from released values.
"""

import numpy as np
from numpy.typing import NDArray

from dpgraph.tuning import COMMON
from dpgraph.typing import FloatArray, IntArray

#: Iterates are multiples of this, so that fields lie exactly on a public grid.
ITERATE_UNIT = 2.0**-8
#: Squares of larger scales overflow; nothing is learnt from either.
LARGEST_SCALE = 1e150


def degree_of_an_end(degrees: FloatArray, std: float = 0.0) -> float:
    """Mean degree of the end of an edge, sum_i d_i^2 / sum_i d_i, given degrees with noise of this deviation."""
    ends = float(degrees.sum())
    return max(float(degrees @ degrees) - degrees.size * std**2, 0.0) / ends if ends > 0 else 0.0


def degree_excess(degrees: FloatArray, above: float, share: float) -> float:
    """What degrees have beyond a number, in sum, less this share of all degrees; private if the degrees are."""
    return float(np.maximum(degrees - above, 0.0).sum()) - share * float(degrees.sum())


def is_even(degrees: FloatArray) -> bool:
    """Whether what degrees have beyond their average is a small part of all."""
    return degree_excess(degrees, float(degrees.mean()), COMMON.uneven) < 0


def shrunken_degrees(noisy: FloatArray, mean: float, scale: float, floor: float) -> FloatArray:
    """Shrink noisy degrees towards their mean by the share of their variance that is noise, and keep them positive."""
    mean = max(mean, floor)
    spread = float(np.mean((noisy - mean) ** 2))
    signal = max(spread - scale**2, 0.0) / spread if spread > 0 else 0.0
    return np.maximum(mean + signal * (noisy - mean), mean / 4)


class FieldTracker:
    """Posterior means and variances of the two fields of each row: of the rows before it in an order, of those after.

    One scalar Kalman filter for each. Between two queries a field drifts because the iterate changes, by a variance of
    about its degree times the mean square change: at rows of high degree the last query counts, at rows of low degree
    all of them.

    `degrees` are released, and positive in the order, elsewhere 0. They are prior variances too: a field is a sum of so
    many signs.
    """

    def __init__(self, degrees: FloatArray, order: IntArray, columns: int) -> None:
        self._share = degrees / degrees.sum()
        before = np.zeros(degrees.size)
        before[order] = np.cumsum(self._share[order]) - self._share[order] / 2
        self._degrees = np.stack([degrees * before, degrees * (1 - before)])
        self._clock = 0.0
        self._last = np.zeros(self._degrees.shape)
        self._means = np.zeros((2, degrees.size, columns))
        self._variances = self._degrees.copy()

    @property
    def mean(self) -> FloatArray:
        """Of the fields of all rows."""
        return np.asarray(self._means.sum(axis=0))

    def observe(self, side: int, rows: IntArray, fields: FloatArray, noise_variance: float) -> None:
        """Update `rows` with the released `fields`, shape (len(rows), columns), of one side, 0 or 1."""
        drift = self._degrees[side, rows] * (self._clock - self._last[side, rows])
        predicted = self._variances[side, rows] + drift
        gain = predicted / (predicted + noise_variance)
        self._means[side, rows] += gain[:, None] * (fields - self._means[side, rows])
        self._variances[side, rows], self._last[side, rows] = predicted * (1 - gain), self._clock

    def ratio(self, rows: IntArray) -> FloatArray:
        """Posterior means of whole fields over their standard deviations, shape (len(rows), columns)."""
        deviations = np.sqrt(np.maximum(self._variances[:, rows].sum(axis=0), 1e-12))
        return np.asarray(self._means[:, rows].sum(axis=0) / deviations[:, None])

    def moved(self, rows: IntArray, change: FloatArray) -> None:
        """Account for a change of the iterate at `rows`, shape (len(rows), columns)."""
        self._clock += float((self._share[rows] @ (change * change)).sum())


class Signs:
    """Each row takes the side opposite to its field."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Random signs."""
        return generator.choice(np.array([-1.0, 1.0]), size=(size, 1))

    def answer(self, ratio: FloatArray) -> FloatArray:
        """Signs opposite to fields, in units of their noise; 0 where there is nothing to tell."""
        return np.asarray(-np.sign(ratio))


class Simplex:
    """Each row takes the label of largest score: its field, or its field times a public relation."""

    def __init__(self, q: int, relation: FloatArray | None = None) -> None:
        self._q, self._relation = q, relation

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Random labels."""
        return np.asarray(np.eye(self._q)[generator.integers(0, self._q, size)])

    def answer(self, ratio: FloatArray) -> FloatArray:
        """The best labels."""
        scores = ratio if self._relation is None else ratio @ self._relation
        return np.asarray(np.eye(self._q)[np.argmax(scores, axis=1)])


#: How a block of rows answers.
Response = Signs | Simplex


def cut_labels(X: FloatArray, fields: FloatArray, *, balanced: bool) -> NDArray[np.int8]:
    """Sides 0 and 1 of a released iterate of signs; on request halves, for which rows of small fields change sides.

    Rows of field 0 have never been read, and others were set by them: they stay as long as others can change.
    """
    labels = (X[:, 0] < 0).astype(np.int8)
    if not balanced:
        return labels
    n, ones = labels.size, int(labels.sum())
    larger = int(2 * ones > n)
    rows = np.flatnonzero(labels == larger)
    cost = np.abs(fields[rows, 0])
    moved = np.argsort(np.where(cost == 0.0, np.inf, cost), kind="stable")[: rows.size - (n + 1) // 2]
    labels[rows[moved]] = 1 - larger
    return labels
