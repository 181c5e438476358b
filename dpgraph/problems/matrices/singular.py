"""Private singular subspaces of rectangular matrices (DN25a, Theorem 1.5)."""

from typing import Any

import numpy as np

from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.problems.matrices.call import MatrixBudget, open_matrix, read_rectangular, symmetric_embedding
from dpgraph.releases.eigenspaces.projector import Rank, release_subspace
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.results.subspaces import PrivateSingularSubspace

__all__ = ["private_singular_subspace"]


def private_singular_subspace(  # noqa: PLR0913
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    max_rank: int = 8,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateSingularSubspace:
    """Release the leading left and right singular subspaces of a rectangular matrix.

    Parameters
    ----------
    A : ndarray or scipy sparse array, shape (n, m)
        Private matrix.
    rank, sensitivity, epsilon, delta, max_rank, accountant, rng
        As for :func:`~dpgraph.private_projector`, with ||E U||_F <= sensitivity and ||E' U||_F <= sensitivity for
        E = A - A'; a change of one entry by t has sensitivity t.

    Returns
    -------
    PrivateSingularSubspace

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`~dpgraph.private_projector`.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP, through the symmetric embedding [[0, A], [A', 0]], whose sensitivity is sqrt(2)
    times as large and whose top-2r eigenspace holds both subspaces.

    References
    ----------
    DN25a, Theorem 1.5 (rectangular case).

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> u, v = np.ones(300) / np.sqrt(300), np.ones(200) / np.sqrt(200)
    >>> A, budget = 500 * np.outer(u, v), {"epsilon": 1.0, "delta": 1e-6}
    >>> private = dpgraph.private_singular_subspace(A, 1, sensitivity=1.0, rng=0, **budget)
    >>> bool(abs(u @ private.left[:, 0]) > 0.98 and abs(v @ private.right[:, 0]) > 0.98)
    True
    """
    budget = MatrixBudget(sensitivity, epsilon, delta, accountant, rng)
    opened = open_matrix(A, budget, rank=rank, max_rank=max_rank, rectangular=True)
    n = A.shape[0]
    private = opened.input(symmetric_embedding(read_rectangular(A)))
    released = release_subspace(private, "gap-and-coherence", opened.call)
    r = released.basis.shape[1] // 2
    # Q Q' has the left projector in its upper and the right projector in its lower diagonal block.
    left, right = (
        canonical_signs(np.linalg.svd(part, full_matrices=False)[0][:, :r])
        for part in (released.basis[:n], released.basis[n:])
    )
    return PrivateSingularSubspace(left, right, released.spectrum[::2], opened.call.report())
