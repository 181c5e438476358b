"""What a bounded iteration is made of: private fields, public rows that answer to them, and which rows iterate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpgraph.privacy.report import Pairs
from dpgraph.typing import FloatArray, IntArray

__all__ = ["ITERATE_UNIT", "Core", "FieldOracle", "Iteration", "LabelScores", "Response", "Revision"]


#: Iterates are multiples of this, so that fields lie exactly on a public grid.
ITERATE_UNIT = 2.0**-8


@dataclass(frozen=True)
class LabelScores:
    """Private counts whose product with a public relation says what each label is worth.

    Parameters
    ----------
    counts : callable
        ``counts(block, X)``: weight of the edges of the rows `block` to each label. Private.
    relation : ndarray, shape (columns, columns)
        What a pair of labels earns, public.
    bound : float
        Bound on the l1 change of one row of counts, and on the change of the scores of a row, all in one direction.
    single : bool
        Labels are chosen in a single sweep of all rows only; otherwise fields are released, for what they tell of the
        labels that are not best.
    """

    counts: Callable[[IntArray, FloatArray], FloatArray]
    relation: FloatArray
    bound: float
    single: bool = False


@dataclass(frozen=True)
class FieldOracle:
    """The private data behind a bounded iteration.

    Parameters
    ----------
    rows, columns : int
        Shape of the iterate.
    fields : callable
        ``fields(block, X)``: exact fields of the rows `block`, shape (len(block), columns). Private.
    unit : float
        Fields of iterates on the grid :data:`ITERATE_UNIT` are multiples of this.
    row_bound : float
        Bound on the l2 change of one row of the fields between neighbours; at most two rows change.
    row_bound_l1 : float
        The same in l1.
    envelope : float
        Sum over the entries of a row of the most that each of them changes at any iterate.
    scores : LabelScores, optional
        What each column is worth as a label, where that is public.
    """

    rows: int
    columns: int
    fields: Callable[[IntArray, FloatArray], FloatArray]
    unit: float
    row_bound: float
    row_bound_l1: float
    envelope: float
    scores: LabelScores | None = None


@dataclass(frozen=True)
class Core:
    """A public order of all rows, and how many of the first ones iterate.

    Parameters
    ----------
    order : ndarray of int64, shape (rows,)
        Order of the first sweep and of the last look.
    size : int
        0 <= size <= rows.
    """

    order: IntArray
    size: int

    @property
    def rows(self) -> IntArray:
        """The rows that iterate."""
        return self.order[: self.size]

    @property
    def others(self) -> IntArray:
        """The rows that are looked at once."""
        return self.order[self.size :]

    @property
    def pairs(self) -> Pairs:
        """Which pairs the sweeps of the core read, for the ledger."""
        return Pairs.INSIDE_CORE if self.others.size else Pairs.ANY

    @property
    def other_pairs(self) -> Pairs:
        """Which pairs the looks at the other rows read."""
        return Pairs.OUTSIDE_CORE if self.size else Pairs.ANY

    def inside(self, degrees: FloatArray) -> FloatArray:
        """Expected degrees inside the core, if edges choose their ends in proportion to the degrees."""
        return degrees * float(degrees[self.rows].sum() / degrees.sum())


class Response(Protocol):
    """How a block answers to its fields; everything here is public."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Rows for the first block, drawn independently of the data."""
        ...

    def answer(self, block: IntArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        """Rows of `block` for fields of signal-to-noise `ratio` at X; infinitely sharp in the last sweep."""
        ...


#: ``revise(X, fields, part, when)``: another iterate that is zero on the same rows, or X itself, for a part of what
#: all such questions may cost. In a call that goes in stages that is a pure stage, which may come at any time
#: (:meth:`~dpgraph.privacy.ledger.Ledger.stage`).
Revision = Callable[[FloatArray, FloatArray, float, str], FloatArray]


@dataclass(frozen=True)
class Iteration:
    """What is iterated.

    Parameters
    ----------
    oracle : FieldOracle
        The private data.
    response : Response
        The public answer of a block.
    revise : callable, optional
        Asked on the way, and in the end, whether to go on with another iterate.
    progress : bool
        Show a bar on stderr (its length is public).
    """

    oracle: FieldOracle
    response: Response
    revise: Revision | None = None
    progress: bool = False
