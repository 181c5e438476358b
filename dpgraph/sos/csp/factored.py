"""Local search for a 2-CSP whose label-extended matrix is known only in factored form U B U'."""

import numpy as np

from dpgraph.compiled import njit
from dpgraph.typing import FloatArray, IntArray

__all__ = ["solve_factored_csp"]

_SWEEPS = 200


def solve_factored_csp(
    factor: FloatArray, core: FloatArray, q: int, *, starts: int, rng: np.random.Generator
) -> IntArray:
    """Best of `starts` coordinate ascents on U B U', labels in 0..q-1, shape (n,).

    Row ``i * q + a`` of U, shape (n q, r), is variable i with label a; B is symmetric. The diagonal q x q blocks of
    U B U' are ignored.
    """
    n = factor.shape[0] // q
    U = np.ascontiguousarray(factor)
    UB = np.ascontiguousarray(U @ core)
    best, best_value = np.zeros(n, dtype=np.int64), -np.inf
    for _ in range(starts):
        labels = rng.integers(0, q, size=n)
        value = _ascend(U, UB, q, labels, rng.permutation(n), _SWEEPS)
        if value > best_value:
            best, best_value = labels, value
    return best


@njit()
def _ascend(U: FloatArray, UB: FloatArray, q: int, labels: IntArray, order: IntArray, sweeps: int) -> float:
    """Give each variable in turn the label of largest field, in place, until nothing moves; the value of the result."""
    n, r = labels.size, U.shape[1]
    total = np.zeros(r)
    for i in range(n):
        total += U[i * q + labels[i]]
    value = 0.0
    for _ in range(sweeps):
        moved = False
        value = 0.0
        for i in order:
            old = labels[i]
            total -= U[i * q + old]  # a variable does not interact with itself
            best, best_field = old, np.dot(UB[i * q + old], total)
            for a in range(q):
                field = np.dot(UB[i * q + a], total)
                if field > best_field + 1e-12:
                    best, best_field = a, field
            labels[i] = best
            moved = moved or best != old
            value += 0.5 * best_field
            total += U[i * q + best]
        if not moved:
            break
    return value
