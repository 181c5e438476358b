"""Private eigenspaces, projectors, low-rank approximations, singular subspaces of general matrices (DN25a, section 5).

All four functions share one release, :func:`dpgraph.releases.eigenspaces.projector.release_subspace`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.problems.matrices.call import (
    MatrixCall,
    open_matrix,
    read_rectangular,
    read_symmetric,
    symmetric_embedding,
)
from dpgraph.releases.eigenspaces.certificates import Guess
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, release_low_rank_matrix
from dpgraph.releases.eigenspaces.projector import (
    CERTIFICATES,
    Certificate,
    Rank,
    ReleasedSubspace,
    release_core,
    release_subspace,
)
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.eigenspaces.spectrum import certified_values
from dpgraph.results.subspaces import PrivateLowRank, PrivateSingularSubspace, PrivateSubspace

__all__ = [
    "private_eigenspace",
    "private_low_rank",
    "private_projector",
    "private_singular_subspace",
]

FloatArray = NDArray[np.float64]
Mechanism = Literal["coherence", "noisy-power"]
MECHANISMS: tuple[str, ...] = get_args(Mechanism)

_CORE_SHARE = 0.1
_SHIFT_SHARE = 0.1
_SHIFT_SLACK = 0.2


def private_projector(
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float,
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
        epsilon > 0, 0 < delta < 1.
    max_rank : int, default 8
        Largest rank considered by "auto".
    mechanism : {"coherence", "noisy-power"}
        The paper's projector, or the noisy power method (HP14, with averaged products), which never halts and needs no
        gap: better on matrices with a few heavy rows. `rank` "auto" is 2 then.
    certificate : {"gap-and-coherence", "stability"}
        With "coherence", how the motion of the eigenspace is bounded: the paper's tests of the gap and of the
        coherence, or one measurement of the number of neighbours until it becomes unstable
        (:mod:`dpgraph.bounds.stability`). The latter needs less of a gap if rows of the eigenvectors are alike.
    accountant : PrivacyAccountant, optional
        Debited before the matrix is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.

    Returns
    -------
    PrivateSubspace

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input.
    BudgetExceededError
        The accountant refuses.
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
    DN25a, Theorem 1.5, Algorithms 5.2, 5.5 and 5.8; M. Hardt, E. Price, "The noisy power method", NIPS 2014.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> private = dpgraph.private_projector(
    ...     500 * np.outer(v, v), 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0
    ... )
    >>> bool(abs(v @ private.basis[:, 0]) > 0.99)
    True
    """
    check_choice("certificate", certificate, CERTIFICATES)
    call = open_matrix(
        A,
        rank=rank,
        max_rank=max_rank,
        sensitivity=sensitivity,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        rng=rng,
        slack=_slack(mechanism),
    )
    if mechanism == "noisy-power":
        Q, core = _by_noisy_power(read_symmetric(A), call)
        return PrivateSubspace(Q, np.abs(np.diag(core)), call.ledger.report())
    released = _release(read_symmetric(A), call, call.ledger.mu, certificate)
    return PrivateSubspace(released.basis, released.spectrum, call.ledger.report())


def private_eigenspace(
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float,
    which: Literal["largest", "smallest"] = "largest",
    max_rank: int = 8,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateSubspace:
    """Release the eigenspace of the algebraically largest (or smallest) eigenvalues of a symmetric matrix.

    The matrix is shifted by a private upper bound on its spectral norm, which makes the order of the eigenvalues that
    of their absolute values.

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
    *Guarantee.* (epsilon, delta)-DP. The spectral norm has sensitivity `sensitivity`; a shift does not change E.

    References
    ----------
    DN25a, Corollary 1.6.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> private = dpgraph.private_eigenspace(
    ...     -500 * np.outer(v, v), 1, which="smallest", sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0
    ... )
    >>> bool(abs(v @ private.basis[:, 0]) > 0.99)
    True
    """
    check_choice("which", which, ("largest", "smallest"))
    call = open_matrix(
        A,
        rank=rank,
        max_rank=max_rank,
        sensitivity=sensitivity,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        rng=rng,
    )
    matrix = read_symmetric(A)
    signed = matrix if which == "largest" else -matrix
    mu_shift = call.ledger.mu * math.sqrt(_SHIFT_SHARE)
    shift = _norm_upper_bound(signed, call, mu_shift)
    eye = sparse.eye_array(A.shape[0], format="csr") if sparse.issparse(signed) else np.eye(A.shape[0])
    released = _release(signed + shift * eye, call, math.sqrt(call.ledger.mu**2 - mu_shift**2))
    return PrivateSubspace(released.basis, released.spectrum, call.ledger.report())


def private_low_rank(
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float,
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
    >>> private = dpgraph.private_low_rank(
    ...     500 * np.outer(v, v), 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0
    ... )
    >>> bool(abs(private.core[0, 0] - 500) < 10)
    True
    """
    call = open_matrix(
        A,
        rank=rank,
        max_rank=max_rank,
        sensitivity=sensitivity,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        rng=rng,
        slack=_slack(mechanism),
    )
    if mechanism == "noisy-power":
        Q, core = _by_noisy_power(read_symmetric(A), call)
        return PrivateLowRank(Q, np.abs(np.diag(core)), call.ledger.report(), core)
    matrix, mu = read_symmetric(A), call.ledger.mu
    mu_core = mu * math.sqrt(_CORE_SHARE)
    released = _release(matrix, call, math.sqrt(mu**2 - mu_core**2))
    core = release_core(matrix, released.basis, call.neighbours, ledger=call.ledger, mu=mu_core, noise=call.noise)
    return PrivateLowRank(released.basis, released.spectrum, call.ledger.report(), core)


def private_singular_subspace(
    A: Any,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float,
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
        As for :func:`private_projector`, with ||E U||_F <= sensitivity and ||E' U||_F <= sensitivity for E = A - A'; a
        change of one entry by t has sensitivity t.

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
    >>> private = dpgraph.private_singular_subspace(
    ...     500 * np.outer(u, v), 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0
    ... )
    >>> bool(abs(u @ private.left[:, 0]) > 0.98 and abs(v @ private.right[:, 0]) > 0.98)
    True
    """
    call = open_matrix(
        A,
        rank=rank,
        max_rank=max_rank,
        sensitivity=sensitivity,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        rng=rng,
        rectangular=True,
    )
    n = A.shape[0]
    released = _release(symmetric_embedding(read_rectangular(A)), call, call.ledger.mu)
    r = released.basis.shape[1] // 2
    # Q Q' has the left projector in its upper and the right projector in its lower diagonal block.
    left, right = (
        canonical_signs(np.linalg.svd(part, full_matrices=False)[0][:, :r])
        for part in (released.basis[:n], released.basis[n:])
    )
    return PrivateSingularSubspace(left, right, released.spectrum[::2], call.ledger.report())


def _release(
    matrix: Any, call: MatrixCall, mu: float, certificate: Certificate = "gap-and-coherence"
) -> ReleasedSubspace:
    return release_subspace(
        matrix,
        call.neighbours,
        call.rank,
        largest=call.largest,
        certificate=certificate,
        guess=Guess(lambda r: min(1.0, 2.0 * math.sqrt(r / call.spread))),
        ledger=call.ledger,
        mu=mu,
        noise=call.noise,
    )


def _slack(mechanism: str) -> float | None:
    """What good events need of delta; raises :class:`InvalidParameterError` for an unknown mechanism."""
    check_choice("mechanism", mechanism, MECHANISMS)
    return None if mechanism == "coherence" else 0.0


def _by_noisy_power(matrix: Any, call: MatrixCall) -> tuple[FloatArray, FloatArray]:
    rank = min(POWER_RANK, call.largest) if call.rank == "auto" else call.largest
    return release_low_rank_matrix(
        matrix, rank, call.neighbours, ledger=call.ledger, mu=call.ledger.mu, noise=call.noise
    )


def _norm_upper_bound(matrix: Any, call: MatrixCall, mu: float) -> float:
    """Private upper bound on the spectral norm, whose sensitivity is that of one eigenvalue."""
    norm = call.neighbours.norm
    pairs, tolerance = certified_values(
        matrix, 1, norm, name="spectral norm", aim=norm, ledger=call.ledger, noise=call.noise
    )
    bound = norm + 2 * tolerance
    grid = call.ledger.gaussian_on_grid("spectral norm", sensitivity=bound, mu=mu, count=1)
    z = call.ledger.good_event("spectral norm upper bound", call.ledger.slack * _SHIFT_SLACK)
    noisy = call.noise.scalars(np.abs(pairs.values[:1]), grid.unit, grid.scale)[0]
    # One more sensitivity, so that the shift is large enough for the neighbour too.
    return max(float(noisy) + z * grid.scale, 0.0) + bound
