"""How far one record moves the second moments of records of norm at most 1, and their trace."""

import math
from typing import Literal

__all__ = ["moments_sensitivity", "twice_the_trace_sensitivity"]


def moments_sensitivity(n: int, adjacency: str, norm: Literal["nuclear", "larger-trace", "frobenius"], d: int) -> float:
    """How far (1/n) sum x x' moves, for a public n and records of length d and norm at most 1.

    By 1/n for a record more or less, in every norm of the difference E: tr E_+ + tr E_-, max(tr E_+, tr E_-), ||E||_F.
    For a replaced record by 2/n in the nuclear norm, 1/n in the larger trace and sqrt(2)/n in the Frobenius norm; 1/n
    in every norm for d = 1.

    *Proof.* x x' has the one eigenvalue ||x||^2 <= 1, so that all three norms of it are at most 1.

    Replacing x by y: E = xx' - yy'. tr E_+ is the largest <P, E> over 0 <= P <= I, and <P, E> <= <P, xx'> <= ||x||^2
    <= 1, because <P, yy'> >= 0; tr E_- is that of -E, at most ||y||^2 <= 1. So the larger trace is at most 1, and the
    nuclear norm, which is the sum of both, at most 2. ||E||_F^2 = ||x||^4 + ||y||^4 - 2 <x, y>^2 <= 2. Orthogonal unit
    vectors attain all three. For d = 1, E = x^2 - y^2 lies in [-1, 1], and 0 and 1 attain it.
    """
    if adjacency == "add-remove" or norm == "larger-trace" or d == 1:
        return 1.0 / n
    return (2.0 if norm == "nuclear" else math.sqrt(2.0)) / n


def twice_the_trace_sensitivity(n: int) -> float:
    """2/n: one record adds between 0 and 2/n to (2/n) sum ||x||^2, whether it comes, goes or is replaced."""
    return 2.0 / n
