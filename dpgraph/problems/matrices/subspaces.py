"""Private projectors, eigenspaces, low-rank approximations and singular subspaces of matrices (DN25a, section 5)."""

from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.matrices.call import (
    MatrixBudget,
    MatrixCall,
    open_matrix,
    read_rectangular,
    read_symmetric,
    symmetric_embedding,
)
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, release_low_rank_matrix
from dpgraph.releases.eigenspaces.projector import CERTIFICATES, Certificate, Rank, release_core, release_subspace
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.eigenspaces.spectrum import certified_values
from dpgraph.results.subspaces import PrivateLowRank, PrivateSingularSubspace, PrivateSubspace
from dpgraph.typing import FloatArray

Mechanism = Literal["coherence", "noisy-power"]
MECHANISMS: tuple[str, ...] = get_args(Mechanism)

_CORE_SHARE = 0.1
_SHIFT_SHARE = 0.1
_SHIFT_SLACK = 0.2


def private_projector(  # noqa: PLR0913
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    max_rank: int = 8,
    mechanism: Mechanism = "coherence",
    certificate: Certificate = "gap-and-coherence",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateSubspace:
    """Release the projector on the eigenspace of largest |eigenvalues| of a symmetric matrix.

    Parameters
    ----------
    A : ndarray or scipy sparse array, shape (n, n)
        Private symmetric matrix.
    rank : int or "auto"
        Dimension, 1 <= rank <= n; "auto" chooses among 1, ..., `max_rank` from the private spectrum.
    sensitivity : float
        Neighbours satisfy ||(A - A') U||_F <= sensitivity for every U with rows of norm at most 1; sufficient is
        sqrt(sum of squared l1 norms of the rows of A - A').
    epsilon, delta : float
        epsilon > 0; 0 < delta < 1 is needed.
    max_rank : int, default 8
        Largest rank considered by "auto".
    mechanism : {"coherence", "noisy-power"}
        The paper's projector, or the noisy power method (HP14, with averaged products), which never halts and needs no
        gap: better on matrices with a few heavy rows. `rank` "auto" is 2 then.
    certificate : {"gap-and-coherence", "stability"}
        With "coherence", how the motion of the eigenspace is bounded: the paper's tests, or the number of neighbours
        until it becomes unstable (:mod:`dpgraph.bounds.stability`), which needs less of a gap if rows of the
        eigenvectors are alike.
    accountant, rng
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateSubspace

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.
    MechanismHalted
        No eigenspace could be certified privately to be stable (stage ``"gap"``).

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. Noise on the projector has Frobenius sensitivity
    sqrt(2) sensitivity kappa / (gap - sensitivity), with private bounds on the gap and on the coherence kappa; or the
    limit that the stability measurement certifies. For "noisy-power", a product with a public orthonormal Q moves by at
    most `sensitivity` max_i ||Q_i||.

    References
    ----------
    DN25a, Theorem 1.5, Algorithms 5.2, 5.5 and 5.8; HP14.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> private = dpgraph.private_projector(500 * np.outer(v, v), 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0)
    >>> bool(abs(v @ private.basis[:, 0]) > 0.99)
    True
    """
    check_choice("certificate", certificate, CERTIFICATES)
    budget = MatrixBudget(sensitivity, epsilon, delta, accountant, rng)
    opened = open_matrix(A, budget, rank=rank, max_rank=max_rank, **_spending(mechanism))
    if mechanism == "noisy-power":
        Q, core = _by_noisy_power(read_symmetric(A), rank, opened)
        return PrivateSubspace(Q, np.abs(np.diag(core)), opened.call.report())
    released = release_subspace(opened.input(read_symmetric(A)), certificate, opened.call)
    return PrivateSubspace(released.basis, released.spectrum, opened.call.report())


def private_eigenspace(  # noqa: PLR0913
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    which: Literal["largest", "smallest"] = "largest",
    max_rank: int = 8,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateSubspace:
    """Release the eigenspace of the algebraically largest (or smallest) eigenvalues of a symmetric matrix.

    Parameters
    ----------
    A, rank, sensitivity, epsilon, delta, max_rank, accountant, rng
        As for :func:`private_projector`.
    which : {"largest", "smallest"}
        Which end of the spectrum.

    Returns
    -------
    PrivateSubspace
        Its `spectrum` is that of the shifted matrix.

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`private_projector`.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. The matrix is shifted by a private upper bound on its spectral norm, which makes
    the order of its eigenvalues that of their absolute values. The norm has sensitivity `sensitivity`, and a shift does
    not change A - A'.

    References
    ----------
    DN25a, Corollary 1.6.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> A, budget = -500 * np.outer(v, v), {"epsilon": 1.0, "delta": 1e-6}
    >>> private = dpgraph.private_eigenspace(A, 1, which="smallest", sensitivity=1.0, rng=0, **budget)
    >>> bool(abs(v @ private.basis[:, 0]) > 0.99)
    True
    """
    check_choice("which", which, ("largest", "smallest"))
    opened = open_matrix(A, MatrixBudget(sensitivity, epsilon, delta, accountant, rng), rank=rank, max_rank=max_rank)
    matrix = read_symmetric(A)
    signed = matrix if which == "largest" else -matrix
    for_shift = opened.call.part(_SHIFT_SHARE)
    shift = _norm_upper_bound(signed, opened.neighbours.norm, for_shift)
    eye = sparse.eye_array(A.shape[0], format="csr") if sparse.issparse(signed) else np.eye(A.shape[0])
    private = opened.input(signed + shift * eye)
    released = release_subspace(private, "gap-and-coherence", opened.call.without(for_shift))
    return PrivateSubspace(released.basis, released.spectrum, opened.call.report())


def private_low_rank(  # noqa: PLR0913
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    max_rank: int = 8,
    mechanism: Mechanism = "coherence",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateLowRank:
    """Release a low-rank approximation Q B Q' of a symmetric matrix.

    Parameters
    ----------
    A, rank, sensitivity, epsilon, delta, max_rank, mechanism, accountant, rng
        As for :func:`private_projector`.

    Returns
    -------
    PrivateLowRank

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`private_projector`.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. Given the released Q, the core Q' A Q has Frobenius sensitivity
    max_i ||Q_i|| `sensitivity`.

    References
    ----------
    DN25a, Algorithm 5.10.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> private = dpgraph.private_low_rank(500 * np.outer(v, v), 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0)
    >>> bool(abs(private.core[0, 0] - 500) < 10)
    True
    """
    budget = MatrixBudget(sensitivity, epsilon, delta, accountant, rng)
    opened = open_matrix(A, budget, rank=rank, max_rank=max_rank, **_spending(mechanism))
    matrix, call = read_symmetric(A), opened.call
    if mechanism == "noisy-power":
        Q, core = _by_noisy_power(matrix, rank, opened)
        return PrivateLowRank(Q, np.abs(np.diag(core)), call.report(), core)
    for_core = call.part(_CORE_SHARE)
    released = release_subspace(opened.input(matrix), "gap-and-coherence", call.without(for_core))
    core = release_core(matrix, released.basis, opened.neighbours, for_core)
    return PrivateLowRank(released.basis, released.spectrum, call.report(), core)


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
        As for :func:`private_projector`, with ||E U||_F <= sensitivity and ||E' U||_F <= sensitivity for
        E = A - A'; a change of one entry by t has sensitivity t.

    Returns
    -------
    PrivateSingularSubspace

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`private_projector`.

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


def _spending(mechanism: str) -> dict[str, Any]:
    """How a mechanism enters; products need nothing of delta for good events."""
    check_choice("mechanism", mechanism, MECHANISMS)
    return {} if mechanism == "coherence" else {"slack": 0.0, "products": True}


def _by_noisy_power(matrix: Any, rank: Rank, opened: MatrixCall) -> tuple[FloatArray, FloatArray]:
    columns = opened.candidates[-1]
    columns = min(POWER_RANK, columns) if rank == "auto" else columns
    return release_low_rank_matrix(matrix, columns, opened.neighbours, opened.call)


def _norm_upper_bound(matrix: Any, norm: float, call: Call) -> float:
    """Private upper bound on the spectral norm, which moves by at most `norm`, as one eigenvalue does."""
    pairs, tolerance = certified_values(matrix, 1, norm, call, name="spectral norm", aim=norm)
    bound = norm + 2 * tolerance
    noisy = call.release(Measurement("spectral norm", np.abs(pairs.values[:1]), l2=bound, few=True))
    z = call.good_event("spectral norm upper bound", _SHIFT_SLACK)
    # One more sensitivity, so that the shift is large enough for the neighbour too.
    return max(noisy.number + z * noisy.std, 0.0) + bound
