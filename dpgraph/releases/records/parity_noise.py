r"""How much one record moves the parities, and the noise that costs the tables least.

**The family of releases.** Coordinates of order j get Gaussian noise of variance proportional to 1/w_j: the vector of
sqrt(w_j) theta is released with spherical noise. The order-k tensor of CDEMZ24 belongs to the family: symmetric noise
on it is spherical on coordinates repeated m_j times, w_j = m_j. So does "each parity once", w_j = 1.

**Sensitivity, one record replaced** (all exact: each is attained by a pair of records).

- Parities. Let phi(v) hold the coordinates of a record. The product of psi over the values x, y of one attribute,
  kappa_g = sum_a psi_a(x) psi_a(y), is q_g - 1 if x = y and -1 otherwise (the psi are orthogonal). With e_j the
  elementary symmetric polynomials, <phi_j(v), phi_j(v')> = e_j(kappa), so that

      ||phi(v) - phi(v')||_w^2 = 2 sum_j w_j (e_j(q - 1) - e_j(kappa)),

  which depends on how many attributes of each size differ (for t-sparse 0/1 records: at most 2 t). For n binary
  attributes of which h differ it is 4 sum_j w_j #{j-sets that meet the h attributes in an odd number}. The mean over
  N records moves by 1/N of that.
- Conjunctions of t-sparse 0/1 records (products of the 0/1 columns): a record with s ones has C(s, j) nonzero
  coordinates of order j, all 1, and two records with s and s' ones share at least o = max(0, s + s' - n) ones, so

      ||phi(v) - phi(v')||_w^2 <= max over s, s' <= t of sum_j w_j (C(s, j) + C(s', j) - 2 C(o, j)).

**Sensitivity, one record added or removed**: ||phi(v)||_w over the sums, the count (order 0) included:
sum_j w_j e_j(q - 1), or sum_j w_j C(t, j).

**The weights.** Let the loss be sum_j c_j var_j (c_j: total weight of the coordinates of order j in the squared error
of all k-way tables). The squared scale of the noise is max_h sum_j w_j o_jh over the patterns h above, so the best
weights minimise sum_j c_j/w_j subject to sum_j w_j o_jh <= 1. The dual, maximise (sum_j sqrt(c_j m_j))^2 with
m = sum_h p_h o_h over distributions p, is ascended by p_h <- p_h s_h^2, s_h = sum_j o_jh sqrt(c_j/m_j) (concavity of
the square root minorises the objective by sum_h s_h sqrt(p_h p'_h)); w_j = sqrt(c_j/m_j)/max_h s_h is feasible with
a certified gap. For attributes of equal size the tables are invariant under permuting attributes and values, so these
weights are the optimal Gaussian noise for the tables, not only within the family.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice
from dpgraph.problems.records.parities import elementary_symmetric

__all__ = ["NoiseShape", "conjunction_moves", "optimal_weights", "parity_moves", "shape_noise", "tensor_weights"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Attribute sizes of many different values have too many patterns of differing attributes to enumerate.
_PATTERN_LIMIT = 200_000

#: Gap at which the weights count as optimal.
_GAP = 1e-6

#: Share of the squared sensitivity that the number of records takes when it is private.
_COUNT_SHARE = 0.1

#: Relative weight of a statistic that no record moves: a millionth of the standard deviation of the others.
_NO_NOISE = 1e12


def parity_moves(sizes: IntArray, k: int, *, most: int | None = None) -> FloatArray:
    """Squared moves of the parities of order 1..k for every pattern of differing attributes, shape (patterns, k).

    At most `most` attributes differ: twice the sparsity of 0/1 records. With too many patterns to enumerate, one row of
    upper bounds: e_j(q - 1) - e_j(kappa) <= 2 e_j(q - 1).
    """
    values, counts = np.unique(sizes, return_counts=True)
    equal = elementary_symmetric(sizes - 1.0, k)
    if math.prod(int(c) + 1 for c in counts) > _PATTERN_LIMIT:
        return 4 * equal[None, 1:]
    rows = []
    for differing in itertools.product(*(range(int(c) + 1) for c in counts)):
        if not 0 < sum(differing) <= (sizes.size if most is None else most):
            continue
        kappa = [np.repeat([-1.0, q - 1.0], [h, c - h]) for q, c, h in zip(values, counts, differing, strict=True)]
        rows.append(2 * (equal - elementary_symmetric(np.concatenate(kappa), k))[1:])
    return np.array(rows)


def conjunction_moves(n: int, t: int, k: int) -> FloatArray:
    """Squared moves of the conjunctions of order 1..k between records with at most t ones, shape (patterns, k)."""
    ones = [ones_of_order(s, k) for s in range(t + 1)]
    pairs = itertools.combinations_with_replacement(range(t + 1), 2)
    moves = [ones[s] + ones[r] - 2 * ones[max(0, s + r - n)] for s, r in pairs]
    return np.array([move for move in moves if move.any()])


def ones_of_order(s: int, k: int) -> FloatArray:
    """C(s, 1), ..., C(s, k): conjunctions of each order that hold for a record with s ones."""
    return np.array([math.comb(s, j) for j in range(1, k + 1)], dtype=np.float64)


def optimal_weights(loss: FloatArray, moves: FloatArray, *, max_iter: int = 10_000) -> FloatArray:
    """Weights w_j > 0 that minimise (sum_j loss_j/w_j) (max_h sum_j w_j moves_hj), shape (k,); 1 for moves of 0."""
    w, moving = np.ones_like(loss), moves.any(axis=0)
    loss, moves = loss[moving], moves[:, moving]
    p = np.full(moves.shape[0], 1.0 / moves.shape[0])
    for _ in range(max_iter):
        v = np.sqrt(loss / (p @ moves))
        s = moves @ v
        # Value max(s) sum(loss/w) against the bound (sum sqrt(loss m))^2 = (p @ s)^2 and sum(loss/v) = p @ s.
        if s.max() <= (1 + _GAP) * float(p @ s):
            break
        p = p * s**2
        p /= p.sum()
    w[moving] = v / v[-1]
    return w


def tensor_weights(n: int, k: int, *, signs: bool) -> FloatArray:
    """Multiplicities m_1, ..., m_k of a coordinate of order j in the order-k tensor of a record, shape (k,).

    For signs the record is (1, z_1, ..., z_n) and an index sequence counts for the set of attributes that occur an odd
    number of times; for 0/1 records it is (x_1, ..., x_n) and counts for the set of attributes that occur.
    """
    if signs:
        # Sequences over n + 1 symbols by the number of attributes that have occurred an odd number of times.
        reached = np.zeros(n + 2)
        reached[0] = 1.0
        for _ in range(k):
            odd = np.arange(n + 2)
            following = reached.copy()  # the constant symbol
            following[1:] += reached[:-1] * np.maximum(n - odd[:-1], 0)
            following[:-1] += reached[1:] * odd[1:]
            reached = following
        return np.array([reached[j] / math.comb(n, j) for j in range(1, k + 1)])
    surjections = [sum((-1) ** i * math.comb(j, i) * (j - i) ** k for i in range(j + 1)) for j in range(1, k + 1)]
    return np.array(surjections, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NoiseShape:
    """Which statistics are released, and how they are weighted.

    Parameters
    ----------
    conjunctions : bool
        Conjunctions of 0/1 columns instead of parities.
    weights : ndarray, shape (k + 1,)
        w_0 (the count; not released when records are replaced), ..., w_k.
    sensitivity : float
        Exact l2-sensitivity of the weighted sums over the records.
    loss : float
        Squared error of all k-way tables (as sums) at noise of that standard deviation: what candidates compete in.
    """

    conjunctions: bool
    weights: FloatArray
    sensitivity: float
    loss: float


def shape_noise(
    sizes: IntArray,
    losses: dict[bool, FloatArray],
    *,
    sparsity: int | None,
    geometry: str,
    add_remove: bool,
) -> NoiseShape:
    """Noise of least loss among parities and, for sparse records, conjunctions.

    Parameters
    ----------
    sizes : ndarray, shape (n,)
        Numbers of values.
    losses : dict
        Loss c_1, ..., c_k of parities (False) and of conjunctions (True).
    sparsity : int or None
        Largest number of ones in a record.
    geometry : {"tables", "parities", "tensor"}
        Rule for the weights.
    add_remove : bool
        Neighbours differ by one record more, instead of one record replaced.
    """
    statistics = (False,) if sparsity is None else (False, True)
    shapes = [_shape(sizes, losses[s], s, sparsity, geometry, add_remove) for s in statistics]
    return min(shapes, key=lambda shape: shape.loss)


def _shape(
    sizes: IntArray, loss: FloatArray, conjunctions: bool, sparsity: int | None, geometry: str, add_remove: bool
) -> NoiseShape:
    n, k = sizes.size, loss.size
    t = n if sparsity is None else sparsity
    if add_remove:
        size = ones_of_order(t, k) if conjunctions else elementary_symmetric(sizes - 1.0, k)[1:]
        moves = size[None, :]
    else:
        moves = conjunction_moves(n, t, k) if conjunctions else parity_moves(sizes, k, most=2 * t)
    w = _weights(geometry, loss, moves, n, signs=not conjunctions, binary=bool(np.all(sizes == 2)))
    # Conjunctions of more than t attributes are zero for every record: they cost nothing and get no noise to speak of.
    w = np.where(moves.any(axis=0), w, _NO_NOISE * w.max())
    squared = float((moves @ w).max())
    count = squared * _COUNT_SHARE / (1 - _COUNT_SHARE) if add_remove else 1.0
    sensitivity = math.sqrt(squared + count if add_remove else squared)
    return NoiseShape(conjunctions, np.append(count, w), sensitivity, float(np.sum(loss / w)) * sensitivity**2)


def _weights(geometry: str, loss: FloatArray, moves: FloatArray, n: int, *, signs: bool, binary: bool) -> FloatArray:
    check_choice("geometry", geometry, ("tables", "parities", "tensor") if binary else ("tables", "parities"))
    if geometry == "tables":
        return optimal_weights(loss, moves)
    if geometry == "parities":
        return np.ones(loss.size)
    return tensor_weights(n, loss.size, signs=signs)
