"""What bounded iterates ask of the private data, for cuts and for labels; which noise they get, and which rows iterate.

*Terms.* A *row* is a vertex or a variable. The *iterate* X is public: its row says which side or label the vertex
takes, in numbers of bounded size. The *field* of a row is its row of A X: the weight of its edges to either side, or to
each label. To *read* a row is to release its field with noise: a noisy query. To *set* a row
is to change its part of X by what was read. A *sweep* reads and sets all rows, one block after the other.

Most vertices of real graphs have few edges, far below the noise of one sweep among many, while a few have many. So
these few, the *core*, iterate. Then each other vertex is read once, with the noise of a single release.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT, LARGEST_SCALE, Response, Signs, Simplex, is_even
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.privacy.grid import query_grid
from dpgraph.privacy.report import Pairs
from dpgraph.privacy.row_norm import NUMBER, CrossPolytope, RowNorm, UnitBall
from dpgraph.typing import FloatArray, IntArray

#: A block of rows, which do not see each other, has one row and this part, 1/32, of the rows before it.
_BEFORE = 32
#: At most so many sweeps of a core: with 24 no labels were better.
_MOST_SWEEPS = 16


@dataclass(frozen=True)
class LabelScores:
    """Private counts whose product with a public relation says what each label is worth."""

    # counts(block, X): weight of the edges of the rows `block` to each label. Private.
    counts: Callable[[IntArray, FloatArray], FloatArray]
    # What a pair of labels earns, public, shape (columns, columns)
    relation: FloatArray
    # Bound on the l1 change of one row of counts, and on the change of the scores of a row, all in one direction
    bound: float


@dataclass(frozen=True)
class RowSensitivity:
    """Sensitivity of one row of fields at any one iterate: at most `size` in the norm whose unit ball is `ball`.

    With the ball of a single number every number gets noise by itself, and `size` is the sum, over the numbers, of the
    most that each of them changes at any iterate.
    """

    ball: UnitBall
    size: float


@dataclass(frozen=True)
class FieldOracle:
    """The private data behind a bounded iteration, and its sensitivity: a neighbour changes at most two rows."""

    # Shape of the iterate
    rows: int
    columns: int
    # fields(block, X): exact fields of the rows `block`, shape (len(block), columns). Private.
    fields: Callable[[IntArray, FloatArray], FloatArray]
    # Fields of iterates on the grid ITERATE_UNIT are multiples of this
    unit: float
    # Bound on the l1 change of one row of the fields
    row_bound: float
    # Of a row at any one iterate
    sensitivity: RowSensitivity
    # What each column is worth as a label, where that is public
    scores: LabelScores | None = None
    # expect(blocks): fields of these rows are asked for next, block by block; X changes at rows of blocks up to it only
    expect: Callable[[Sequence[IntArray]], None] = lambda _: None


@dataclass(frozen=True)
class Iteration:
    """Private fields, and how rows are set by them, which is public."""

    oracle: FieldOracle
    response: Response
    # revise(X, fields) is asked after the sweeps for an iterate that is zero on the same rows, or X itself
    revise: Callable[[FloatArray, FloatArray], FloatArray] = lambda X, _: X


def cut_iteration(graph: Graph) -> Iteration:
    """Signs against their fields: one column, whose fields have sensitivity w, the largest weight."""
    w = graph.max_weight
    oracle = FieldOracle(
        rows=graph.n_vertices,
        columns=1,
        fields=graph.multiply_rows,
        unit=graph.weight_unit * ITERATE_UNIT,
        row_bound=w,
        sensitivity=RowSensitivity(NUMBER, w),
        expect=graph.expect,
    )
    return Iteration(oracle, Signs())


def label_iteration(graph: Graph, relation: FloatArray) -> Iteration:
    """Labels that earn much weight, one column for each label.

    `relation`, shape (q, q), is what a pair of labels earns times the weight of the edge: public, symmetric, multiples
    of :data:`~dpgraph.denoise.iterates.ITERATE_UNIT` in [0, 1].

    Notes
    -----
    *Guarantee.* Fields are A (X - c 1) on the rows that are set, c about 1/q if all labels are worth the
    same on average (then c does not change which is best) and 0 otherwise. A row has l1-sensitivity
    :func:`~dpgraph.bounds.sensitivity.label_rows_l1`, up to a constant that is added to all its entries; counts of
    labels have l1-sensitivity w, and choices cost :func:`~dpgraph.bounds.sensitivity.label_scores`.
    """
    w, q = graph.max_weight, len(relation)
    regular = np.ptp(relation.sum(axis=0)) == 0.0
    centre = math.floor(1 / q / ITERATE_UNIT) * ITERATE_UNIT if regular else 0.0

    oracle = FieldOracle(
        rows=graph.n_vertices,
        columns=q,
        fields=partial(graph.multiply_rows, centre=centre),
        unit=graph.weight_unit * ITERATE_UNIT,
        row_bound=(1 + (q - 2) * centre) * w,
        # All labels are worth the same: what is added to every count makes no difference.
        sensitivity=RowSensitivity(CrossPolytope(q, shifts=regular), sensitivity.label_rows_l1(w)),
        scores=LabelScores(graph.multiply_rows, relation, sensitivity.label_scores(w)),
        expect=graph.expect,
    )
    return Iteration(oracle, Simplex(q, relation))


@dataclass(frozen=True)
class QueryLaw:
    """The K-norm mechanism for all queries of a row: its norm, the step of the grid, the sensitivity, the epsilon."""

    norm: RowNorm
    step: float
    sensitivity: float
    epsilon: float


def query_law(oracle: FieldOracle, queries: int, epsilon: float) -> QueryLaw:
    """The noise of rows that are queried so often, for this pure epsilon.

    The variance of a row that is released up to a constant is that in each of the other directions. Where the grid is
    coarser than the fields, rounding adds at most a step to the change of each number: to the l1 norm of a row, or to
    its range, no more steps than it has numbers.
    """
    norm = RowNorm(queries, oracle.sensitivity.ball)
    step, size, spent = query_grid(oracle.sensitivity.size, oracle.columns, oracle.unit, epsilon)
    return QueryLaw(norm, step, sensitivity.repeated_queries(size), spent)


@dataclass(frozen=True)
class Core:
    """A public order of all rows, of which the first `size` iterate, and the others are read once in the end."""

    order: IntArray
    size: int

    @property
    def rows(self) -> IntArray:
        """The rows that iterate."""
        return self.order[: self.size]

    @property
    def others(self) -> IntArray:
        """The rows that are read once."""
        return self.order[self.size :]

    @property
    def pairs(self) -> Pairs:
        """Which pairs the sweeps of the core read, for the ledger."""
        return Pairs.INSIDE_CORE if self.others.size else Pairs.ANY

    @property
    def other_pairs(self) -> Pairs:
        """Which pairs the queries of the other rows are about."""
        return Pairs.OUTSIDE_CORE if self.size else Pairs.ANY

    def inside(self, degrees: FloatArray) -> FloatArray:
        """Expected degrees inside the core, if edges choose their ends in proportion to the degrees."""
        return degrees * float(degrees[self.rows].sum() / degrees.sum())


def choose_core(oracle: FieldOracle, variances: FloatArray, call: Call) -> tuple[Core, int]:
    """Which rows iterate, for this part of a pure budget, and in how many sweeps: none, or an even number.

    `variances` are those of fields by chance, from (released, positive) degrees. In T sweeps a row gains a share of
    about 1 - 1/T of what it can, unless noise hides it: the rows iterate for which that share of the variance is at
    least the variance of a query times the number of labels, or of sides, and times T/4 if that is more than 1: the
    further a sweep, the less it gains, while all sweeps pay for it. T is chosen so that the sum of the squared degrees
    of these rows, times that share, is largest. Rows of many edges come early. Twice that noise is allowed where
    degrees are even: no row of many edges begins there, and what there is to find has to grow from sweep to sweep, for
    which two are too few. Four times it is allowed where tables are private, whose rows read once get more of it, or
    tell less of labels that are not best; there two sweeps are enough.
    """
    tables = oracle.columns > 1 and (oracle.scores is None or oracle.sensitivity.ball == NUMBER)
    even = is_even(variances)
    relative = variances / variances.max()
    order = degree_order(relative, call.generator)
    held = np.cumsum(relative[order] ** 2)
    scale = min(sensitivity.repeated_queries(oracle.sensitivity.size) / call.epsilon, LARGEST_SCALE)
    best, size, sweeps = 0.0, 0, 0
    for count in range(1, _MOST_SWEEPS // 2 + 1):
        share, norm = 1 - 1 / (2 * count), RowNorm(count, oracle.sensitivity.ball)
        allowed = (4 if tables else 1) * (2 if even and (tables or count > 1) else 1)
        noise = max(oracle.columns, 2) * max(1, count / 2) * norm.variance(scale) / allowed
        rows = int(np.count_nonzero(share * variances >= noise))
        if rows > 1 and share * held[rows - 1] > best:
            best, size, sweeps = share * float(held[rows - 1]), rows, 2 * count
    inside = order[:size]
    return Core(np.concatenate([inside[large_first(relative[inside], call.generator)], order[size:]]), size), sweeps


def degree_order(degrees: FloatArray, generator: np.random.Generator) -> IntArray:
    """Rows by decreasing (released) degree, equal degrees in random order."""
    shuffled = generator.permutation(degrees.size)
    return shuffled[np.argsort(-degrees[shuffled], kind="stable")]


def large_first(degrees: FloatArray, generator: np.random.Generator) -> IntArray:
    """Random order that draws the next row with probability proportional to its squared (released, positive) degree.

    Rows of many edges should come early, so that others can read what they have chosen. Strictly by degree is worse if
    rows are set again: the largest are often neighbours, and their first, nearly random choices settle a cut of their
    own.
    """
    return np.argsort(generator.exponential(size=degrees.size) / degrees**2)


def row_blocks(order: IntArray, before: int = _BEFORE) -> list[IntArray]:
    """Blocks of rows that are set at once, each as large as a part of all rows before it: few, and none sees little."""
    blocks, start = [], 0
    while start < order.size:
        blocks.append(order[start : (start := start + 1 + start // before)])
    return blocks
