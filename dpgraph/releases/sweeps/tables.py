"""Labels by bounded iterates in the simplex where whole tables are private, and a choice between candidates."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT, Simplex
from dpgraph.privacy.call import Call
from dpgraph.privacy.row_norm import NUMBER, Range
from dpgraph.releases.constraints import PrivateTables
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import FieldOracle, Iteration, LabelScores, RowSensitivity
from dpgraph.releases.totals import release_weight
from dpgraph.tuning import COMMON
from dpgraph.typing import FloatArray, IntArray


def release_table_iterates(private: PrivateTables, call: Call, *, mean_degree: float, whole_table: bool) -> IntArray:
    """Labels by bounded iterates in the simplex, for this part of the budget.

    `mean_degree` is the released average weight of the constraints on a variable; `whole_table` says that neighbours
    differ in the whole table of a pair, not in one entry.
    """
    constraints = private.constraint_graph()
    sweeps, choice = call.split(1 - COMMON.share, COMMON.share)
    oracle = _oracle(private, constraints.n_vertices, whole_table)
    iteration = Iteration(oracle, Simplex(private.q), partial(_best_rank, private, choice))
    X, _ = release_core_iterates(constraints, iteration, sweeps, mean_degree=mean_degree)
    return np.asarray(np.argmax(X, axis=1), dtype=np.int64)


def _oracle(private: PrivateTables, n: int, whole_table: bool) -> FieldOracle:
    w, q = private.graph.max_weight, private.q
    return FieldOracle(
        rows=n,
        columns=q,
        fields=private.fields,
        unit=private.graph.weight_unit * ITERATE_UNIT,
        row_bound=sensitivity.constraint_rows(w, q) if whole_table else w,
        # Which label is best does not change with a constant. One entry of a table changes the same number every time.
        sensitivity=(
            RowSensitivity(Range(q), sensitivity.constraint_rows_range(w)) if whole_table else RowSensitivity(NUMBER, w)
        ),
        # One entry of a table moves one score, a whole table moves them in any direction.
        scores=None if whole_table else LabelScores(private.fields, np.eye(q), w),
    )


def _best_rank(private: PrivateTables, call: Call, X: FloatArray, fields: FloatArray) -> FloatArray:
    """Choose, by private weights, between the labels of largest field at every row, of second largest, and so on.

    Iterates from a random start may settle where no label that belongs to a hidden assignment is used at all: each of
    the others supports the others. There every row sees exactly those labels last, so that one of the q candidates is
    close to the hidden assignment. All fields are released; a candidate's weight has sensitivity w. Labels that were
    chosen without fields say nothing about the others.
    """
    if not fields.any():
        return X
    rows: NDArray[np.bool_] = np.asarray(X.any(axis=1))
    last = X + 1e-9 * np.argsort(np.argsort(fields, axis=1), axis=1)  # rows that were set say themselves what is first
    ranked = np.argsort(-last, axis=1, kind="stable")
    weights = [
        release_weight(
            f"weight of candidate {k + 1}", private.value(ranked[:, k], rows), private.graph, call.equal_part(private.q)
        )
        for k in range(private.q)
    ]
    best = max(range(private.q), key=lambda k: weights[k].value)
    if weights[best].value - weights[0].value <= COMMON.clear * weights[0].std:
        return X
    return np.where(rows[:, None], np.eye(private.q)[ranked[:, best]], 0.0)
