"""Sensitivity of the parities of records, and the noise that costs the marginal tables least.

A parity of j attributes is a product of one contrast of each; for 0/1 attributes the sign (-1)^(sum of the values). Its
*order* is j.

**The family of releases.** Coordinates of order j are multiplied by a factor f_j and released with independent noise of
one scale, Gaussian or Laplace. With w_j = f_j^2 for Gaussian noise the coordinates have variances proportional to
1/w_j.

**Sensitivity.** phi(v) are the coordinates of a record v. A replaced record changes their sum by phi(v) - phi(v'), one
that is added or removed by phi(v), the count (order 0) included. :func:`parity_changes` and :func:`conjunction_changes`
bound the squared l2 norm of the first by orders and patterns h of differing attributes, :func:`l1_changes` the l1 norm.
Proofs, which bounds are attained, and the ascent that finds the weights: docs/marginals-theory.md,
"Sensitivities and weights". There e_j are the elementary symmetric polynomials, kappa_g is q_g - 1 where the attribute
g of size q_g is the same in both records and -1 where it differs, and s_g is the largest l1 norm of the contrasts of a
value.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpgraph.linalg.parities import character_table, elementary_symmetric
from dpgraph.typing import FloatArray, IntArray

Law = Literal["gaussian", "laplace"]

#: Attribute sizes of many different values have too many patterns of differing attributes to enumerate.
_PATTERN_LIMIT = 200_000
#: Gap at which the weights count as optimal.
_GAP = 1e-6
#: Share of the squared l2-sensitivity, or of the l1-sensitivity, that the number of records takes when it is private.
_COUNT_SHARE = 0.1
#: Relative factor of a statistic that no record changes: it gets a millionth of the noise of the others.
_NO_NOISE = 1e6
#: Factors of Laplace noise keep so many bits: their products with whole numbers of records are then exact.
_FACTOR_BITS = 20


def parity_changes(sizes: IntArray, k: int, *, most: int | None = None) -> FloatArray:
    """Squared changes of the parities of order 1..k for every pattern of differing attributes, shape (patterns, k).

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


def conjunction_changes(n: int, t: int, k: int) -> FloatArray:
    """Squared changes of the conjunctions of order 1..k between records with at most t ones, shape (patterns, k)."""
    ones = [ones_of_order(s, k) for s in range(t + 1)]
    pairs = itertools.combinations_with_replacement(range(t + 1), 2)
    moves = [ones[s] + ones[r] - 2 * ones[max(0, s + r - n)] for s, r in pairs]
    return np.array([move for move in moves if move.any()])


def ones_of_order(s: int, k: int) -> FloatArray:
    """C(s, 1), ..., C(s, k): conjunctions of each order that hold for a record with s ones."""
    return np.array([math.comb(s, j) for j in range(1, k + 1)], dtype=np.float64)


def l1_changes(sizes: IntArray, k: int, *, most: int | None = None) -> FloatArray:
    """Bounds on the l1 changes of the parities of order 1..k, shape (patterns, k): exact for binary attributes."""
    if np.all(sizes == 2):
        return parity_changes(sizes, k, most=most) / 2
    return 2 * _lengths(sizes, k)[None, :]


def _lengths(sizes: IntArray, k: int) -> FloatArray:
    """Bounds e_1(s), ..., e_k(s) on the l1 norms of the parities of a record."""
    largest = [float(np.abs(character_table(int(q))[:, 1:]).sum(axis=1).max()) for q in sizes]
    return elementary_symmetric(largest, k)[1:]


def optimal_weights(loss: FloatArray, moves: FloatArray, *, power: int = 1) -> FloatArray:
    """Weights u_j > 0 that minimise (sum_j loss_j/u_j^power) (max_h sum_j u_j moves_hj)^power; 1 for moves of 0."""
    w, moving = np.ones_like(loss), moves.any(axis=0)
    loss, moves = loss[moving], moves[:, moving]
    p = np.full(moves.shape[0], 1.0 / moves.shape[0])
    for _ in range(10_000):
        ratio = loss / (p @ moves)
        v = np.sqrt(ratio) if power == 1 else ratio ** (1 / (1 + power))
        s = moves @ v
        # Value max(s)^a sum(loss/v^a) against the bound (p @ s)^(1 + a), and sum(loss/v^a) = p @ s.
        if s.max() <= (1 + _GAP) * float(p @ s):
            break
        p = p * s ** (1 + power)
        p /= p.sum()
    w[moving] = v / v[-1]
    return w


@dataclass(frozen=True, eq=False)
class NoiseShape:
    """Which statistics are released, and with which noise."""

    law: Law
    #: Conjunctions of 0/1 columns instead of parities.
    conjunctions: bool
    #: f_0 (of the count; not released when records are replaced), ..., f_k, shape (k + 1,).
    factors: FloatArray
    #: Of the sums over the records times their factors: l2 for Gaussian noise (exact), l1 for Laplace noise.
    sensitivity: float
    #: Squared error of all k-way tables (as sums) at noise of that standard deviation.
    loss: float


def shape_noise(
    sizes: IntArray, losses: dict[bool, FloatArray], *, sparsity: int | None, add_remove: bool, law: Law = "gaussian"
) -> NoiseShape:
    """Noise of least loss among parities and, for records with at most `sparsity` ones, conjunctions.

    `sizes` are the numbers of values, `losses` the loss c_1, ..., c_k of parities (False) and of conjunctions (True).
    """
    shapes = [
        _shape(losses[s], s, _moves(sizes, losses[s].size, s, sparsity, add_remove, law), add_remove, law)
        for s in ((False,) if sparsity is None else (False, True))
    ]
    return min(shapes, key=lambda shape: shape.loss)


def _moves(sizes: IntArray, k: int, conjunctions: bool, sparsity: int | None, add_remove: bool, law: Law) -> FloatArray:
    """Changes of the statistics of order 1..k: squared for Gaussian noise."""
    n = sizes.size
    t = n if sparsity is None else sparsity
    if conjunctions:
        return ones_of_order(t, k)[None, :] if add_remove else conjunction_changes(n, t, k)
    if law == "laplace":
        return _lengths(sizes, k)[None, :] if add_remove else l1_changes(sizes, k, most=2 * t)
    return elementary_symmetric(sizes - 1.0, k)[None, 1:] if add_remove else parity_changes(sizes, k, most=2 * t)


def _shape(loss: FloatArray, conjunctions: bool, moves: FloatArray, add_remove: bool, law: Law) -> NoiseShape:
    laplace = law == "laplace"
    power = 2 if laplace else 1
    w = optimal_weights(loss, moves, power=power)
    # Conjunctions of more than t attributes are zero for every record: they cost nothing and get no noise to speak of.
    w = np.where(moves.any(axis=0), w, _NO_NOISE ** (2 / power) * w.max())
    if laplace:
        w = _rounded(w)
    moved = float((moves @ w).max())
    count = 1.0
    if add_remove:
        count = moved * _COUNT_SHARE / (1 - _COUNT_SHARE)
        count = float(_rounded(np.array([count]))[0]) if laplace else count
    total = moved + count if add_remove else moved
    weights, scaled = np.append(count, w), float(np.sum(loss / w**power))
    if laplace:
        return NoiseShape(law, conjunctions, weights, total, scaled * total**2)
    # The square of the root, which rounding may tell from the total.
    sensitivity = math.sqrt(total)
    return NoiseShape(law, conjunctions, np.sqrt(weights), sensitivity, scaled * sensitivity**2)


def _rounded(factors: FloatArray) -> FloatArray:
    """Factors with few binary digits."""
    mantissas, exponents = np.frexp(factors)
    rounded: FloatArray = np.ldexp(np.rint(mantissas * 2.0**_FACTOR_BITS), exponents - _FACTOR_BITS)
    return rounded
