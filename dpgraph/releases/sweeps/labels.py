"""Labels by bounded iterates in the simplex, one column for each label; for max-k-cut, colouring and the like."""

import math

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import GraphOperator
from dpgraph.releases.sweeps.oracle import ITERATE_UNIT, FieldOracle, Iteration, LabelScores
from dpgraph.typing import FloatArray, IntArray

__all__ = ["Simplex", "label_iteration"]


class Simplex:
    """Each row moves towards the label of largest score: its field, or its field times a public relation."""

    def __init__(self, q: int, relation: FloatArray | None = None) -> None:
        self._q, self._relation = q, relation

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Random labels."""
        return np.eye(self._q)[generator.integers(0, self._q, size)]

    def answer(self, block: IntArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        """Weights of the labels by the exponential of their scores; the best label in the end."""
        scores = ratio if self._relation is None else ratio @ self._relation
        if math.isinf(sharpness):
            return np.eye(self._q)[np.argmax(scores, axis=1)]
        weights = np.exp(sharpness * (scores - scores.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        # Rounded down, so that no row sums to more than 1: the sensitivity relies on it.
        return np.floor(weights / ITERATE_UNIT) * ITERATE_UNIT


def label_iteration(graph: GraphOperator, relation: FloatArray, progress: bool = False) -> Iteration:
    """What is iterated for labels whose relation is public, aiming at much weight earned.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    relation : ndarray, shape (q, q)
        What a pair of labels earns times the weight of the edge: public, symmetric, multiples of
        :data:`~dpgraph.releases.sweeps.oracle.ITERATE_UNIT` in [0, 1].
    progress : bool
        Show a bar on stderr.

    Notes
    -----
    *Guarantee.* Fields of a core are A (X - c 1) on the rows that are set, c about 1/q if all labels are worth the same
    on average (then c does not change which is best) and 0 otherwise: a row moves by
    :func:`~dpgraph.bounds.sensitivity.label_rows`, less than by w. Readings of the other rows, counts of labels, move
    by at most w in l1, and choices of theirs cost :func:`~dpgraph.bounds.sensitivity.label_scores`.
    """
    w, q = graph.max_weight, len(relation)
    regular = np.ptp(relation.sum(axis=0)) == 0.0
    centre = math.floor(1 / q / ITERATE_UNIT) * ITERATE_UNIT if regular else 0.0

    def fields(block: IntArray, X: FloatArray) -> FloatArray:
        return graph.multiply_rows(block, X - centre * X.any(axis=1, keepdims=True))

    oracle = FieldOracle(
        rows=graph.n_vertices,
        columns=q,
        fields=fields,
        unit=graph.weight_unit * ITERATE_UNIT,
        row_bound=sensitivity.label_rows(w, q, centre),
        row_bound_l1=(1 + (q - 2) * centre) * w,
        envelope=q * (1 - centre) * w,
        scores=LabelScores(graph.multiply_rows, relation, sensitivity.label_scores(w)),
    )
    return Iteration(oracle, Simplex(q, relation), progress=progress)
