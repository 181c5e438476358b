"""The cut objective that randomised response leaves behind: the expected graph given the answers."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from dpgraph.mechanisms.degree_core import shrunken_degrees
from dpgraph.mechanisms.randomized_response import FlippedGraph
from dpgraph.sos.balance import BalancedObjective
from dpgraph.sos.objective import SparseObjective

__all__ = ["flipped_objective"]


def flipped_objective(flipped: FlippedGraph) -> BalancedObjective:
    """Expected weights of all pairs given the answers, if edges choose their ends in proportion to the degrees.

    Where false answers are not much rarer than true ones, an answer says less about two vertices of few edges than
    about two of many: a pair of degrees a and b is an edge with probability about ab/(2m) beforehand. Degrees are
    estimated from the answers, so that all of this is post-processing. Pairs that answered 0 add the rank-one matrix of
    their (small) remaining probabilities.
    """
    B, p, n = flipped.adjacency, flipped.flip, flipped.adjacency.shape[0]
    answers = np.asarray(B.sum(axis=1)).ravel()
    unbiased = (answers - p * (n - 1)) / (1 - 2 * p)
    spread = math.sqrt((n - 1) * p * (1 - p)) / (1 - 2 * p)
    degrees = shrunken_degrees(unbiased, float(unbiased.mean()), spread, 1.0)
    total = float(degrees.sum())
    row = np.repeat(np.arange(n), np.diff(B.indptr))
    odds = degrees[row] * degrees[B.indices] / total * (1 - p) / p
    expected = sparse.csr_array((odds / (1 + odds), B.indices, B.indptr), shape=B.shape)
    w = flipped.max_weight
    return BalancedObjective(SparseObjective(expected * w), degrees, w * p / (1 - p) / total / 4)
