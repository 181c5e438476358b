"""All cuts of a small graph, in plain numpy: nothing is compiled, so that a first call costs no seconds.

With the vertices in two parts, a cut's value is that of either part and a product of their signs with the weights
between: one matrix product gives the values of all pairs. Weights are divided by their greatest common divisor first,
so that nothing is rounded; where they are too far apart for that, what rounding could have hidden is compared exactly.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpgraph.sos.cut.base import CutObjective, rounding_slack
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.proofs import CutProof, Part
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.typing import FloatArray, IntArray

#: Vertices up to which all cuts are listed: a tenth of a second.
MOST_VERTICES = 24
_BLOCK = 256  # patterns of the second part at once
_MOST_EQUAL = 4096  # cuts that rounding cannot tell apart
_EXACT = 2.0**50


def solve_by_enumeration(
    objective: CutObjective, options: SolverOptions, imbalance: int | None = None
) -> Solution | None:
    """The largest cut of a graph of few vertices, within an `imbalance`; None where listing them does not prove it."""
    if not isinstance(objective, SparseObjective) or objective.n_vertices > MOST_VERTICES:
        return None
    cut = best_cut(objective.matrix.toarray(), imbalance)
    if cut is None:
        return None
    labels = (cut != cut[0]).astype(np.int64)
    bound = objective.value(labels)
    if not objective.exact_sums and (bound or objective.slack):
        bound = math.nextafter(bound + objective.slack, math.inf)  # the value is rounded
    found = Solution.exact(objective, labels, bound, CutProof(Part(listed=True)))
    if options.callback is not None:
        options.callback(0.0, found.value, found.upper_bound)
    return replace(found, status="optimal")  # in whole numbers, however small the weights beside that rounding


def best_cut(matrix: FloatArray, largest: int | None = None) -> FloatArray | None:
    """Signs (n,) of the largest cut of a symmetric matrix, |sum x| at most `largest`; None if rounding hides it."""
    n = len(matrix)
    weights = _whole(matrix)
    unit = 1 << max(max(abs(x) for row in weights for x in row).bit_length() - 1000, 0)  # sums of floats stay finite
    M = np.array([[x / unit for x in row] for row in weights])
    M[np.diag_indices(n)] = 0.0
    total = float(np.abs(M).sum())
    slack = 0.0 if total < _EXACT else rounding_slack(2 * n + 4, total)
    half = (n + 1) // 2
    first, second = _patterns(half, fixed=1), _patterns(n - half, fixed=0)
    within, beside = _inside(first, M[:half, :half]), _inside(second, M[half:, half:])
    fields = first @ M[:half, half:]
    least, found = math.inf, np.empty((0, n))
    for begin in range(0, len(second), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        energy = within[:, None] + beside[block] + fields @ second[block].T  # less is more across
        if largest is not None:
            energy[np.abs(first.sum(axis=1)[:, None] + second[block].sum(axis=1)) > largest] = math.inf
        lowest = float(energy.min())
        if lowest > least + 2.0 * slack or lowest == math.inf or (slack == 0.0 and lowest == least):
            continue
        near = np.argwhere(energy <= lowest + 2.0 * slack)[: _MOST_EQUAL if slack else 1]
        cuts = np.hstack([first[near[:, 0]], second[block][near[:, 1]]])
        found = np.vstack([found, cuts]) if lowest >= least - 2.0 * slack and slack else cuts
        least = min(least, lowest)
        if len(found) >= _MOST_EQUAL:
            return None
    if len(found) == 1:
        return np.asarray(found[0])
    return max(found, key=lambda cut: _across(weights, cut))


def _whole(matrix: FloatArray) -> list[list[int]]:
    """The entries as whole numbers without a common divisor."""
    entries = [Fraction(x) for x in matrix.ravel().tolist()]
    scale = max(x.denominator for x in entries)  # powers of two
    numbers = [int(x * scale) for x in entries]
    divisor = math.gcd(*numbers) or 1
    n = len(matrix)
    return [[x // divisor for x in numbers[i * n : (i + 1) * n]] for i in range(n)]


def _patterns(count: int, fixed: int) -> FloatArray:
    """All signs of so many vertices, (2**(count - fixed), count); the first `fixed` of them are 1."""
    codes: IntArray = np.arange(2 ** (count - fixed))[:, None] >> np.arange(count - fixed)
    return np.hstack([np.ones((len(codes), fixed)), 1.0 - 2.0 * (codes & 1)])


def _inside(signs: FloatArray, M: FloatArray) -> FloatArray:
    return np.asarray(0.5 * np.sum((signs @ M) * signs, axis=1))


def _across(weights: list[list[int]], cut: FloatArray) -> int:
    n = len(cut)
    return sum(weights[i][j] for i in range(n) for j in range(i) if cut[i] != cut[j])
