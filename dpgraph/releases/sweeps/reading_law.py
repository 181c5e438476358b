"""Which noise the readings of rows get that are read repeatedly: the law of smaller variance, both being public."""

from dataclasses import dataclass

from dpgraph.bounds import sensitivity
from dpgraph.privacy.grid import ReadingNorm, reading_grid
from dpgraph.privacy.row_norm import RowNorm
from dpgraph.releases.sweeps.iteration import FieldOracle

__all__ = ["ReadingLaw", "quietest_law", "repeats_are_quieter"]


@dataclass(frozen=True)
class ReadingLaw:
    """A norm of all readings, the step of their grid, what an edge moves in that norm, and the epsilon to spend."""

    norm: ReadingNorm | RowNorm
    step: float
    moved: float
    epsilon: float

    @property
    def variances(self) -> tuple[float, float]:
        """Variance of the first reading of a number, and of a later one."""
        return self.norm.variances(self.moved / self.epsilon)

    @property
    def mean_variance(self) -> float:
        """Of all readings."""
        (first, later), readings = self.variances, self.norm.readings
        return (first + (readings - 1) * later) / readings


def quietest_law(oracle: FieldOracle, readings: int, epsilon: float) -> ReadingLaw:
    """The law of smallest mean variance for this pure epsilon: numbers by themselves, or rows together where they can.

    Iterates are those of :class:`~dpgraph.releases.sweeps.core.PublicIterate`. The variance of a row that is released
    up to a constant is that in each of the other directions. Where the grid is coarser than the fields, rounding adds a
    step at most to the move of each number: to the l1 norm of a row, or to its range, no more steps than it has
    numbers.
    """
    numbers = ReadingNorm(readings)
    step, size, spent = reading_grid(oracle.envelope, oracle.columns, oracle.unit, epsilon)
    law = ReadingLaw(numbers, step, sensitivity.repeated_readings(size, numbers, from_zero=True), spent)
    if oracle.move is None:
        return law
    rows = RowNorm(readings, oracle.move.body)
    step, size, spent = reading_grid(oracle.move.size, oracle.columns, oracle.unit, epsilon)
    joint = ReadingLaw(rows, step, sensitivity.repeated_rows(size, rows, from_zero=True), spent)
    return min(law, joint, key=lambda each: each.mean_variance)


def repeats_are_quieter(oracle: FieldOracle, bound: float, sweeps: int) -> bool:
    """Whether as many readings as there would be one-sided sweeps see all neighbours of a row with less noise.

    One sweep sees those on one side, with Laplace noise of scale `sweeps` `bound` / epsilon, so that two of them see
    all. With a single sweep there are no two. Epsilon is in both and does not matter.
    """
    if sweeps < 2 or oracle.move is None:
        return False
    one_sided = 2 * 2 * (sweeps * bound / oracle.unit) ** 2
    later = RowNorm(sweeps, oracle.move.body).variances(oracle.move.size / oracle.unit)[1]
    return later < one_sided
