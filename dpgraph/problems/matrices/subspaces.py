"""Private projectors, eigenspaces, low-rank approximations and singular subspaces of matrices (DN25a, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.driver import Asked, release
from dpgraph.problems.matrices.call import MatrixFacts, matrix_facts, read_rectangular, read_symmetric
from dpgraph.problems.matrices.subspace_strategies import MATRICES, SUBSPACES, Factors, Projector
from dpgraph.problems.records.covariance import release_record_subspace
from dpgraph.releases.eigenspaces.projector import CERTIFICATES, Certificate
from dpgraph.results.subspaces import PrivateLowRank, PrivateSingularSubspace, PrivateSubspace
from dpgraph.typing import MatrixLike, Rank

if TYPE_CHECKING:
    from dpgraph.strategies import MatrixMechanism


@private_function
def private_projector(  # noqa: PLR0913
    A: MatrixLike,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    max_rank: int = 8,
    mechanism: MatrixMechanism = "auto",
    certificate: Certificate = "gap-and-coherence",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSubspace:
    """Release the projector on the eigenspace of largest |eigenvalues| of a symmetric matrix.

    Parameters
    ----------
    A : ndarray or scipy sparse array, shape (n, n)
        Private symmetric matrix.
    rank : int or "auto"
        Dimension, 1 <= rank <= n; "auto" chooses among 1, ..., `max_rank` by released values, and is 2 for
        "noisy-power".
    sensitivity : float
        Neighbours satisfy ||(A - A') U||_F <= sensitivity for every U with rows of norm at most 1; sufficient is
        sqrt(sum of squared l1 norms of the rows of A - A').
    epsilon, delta : float
        epsilon > 0; 0 < delta < 1 is needed.
    max_rank : int, default 8
        Largest rank considered by "auto".
    mechanism : str or options object, default "auto"
        "noisy-power" (products with public bases, HP14, that span a Krylov space and are averaged: needs no gap and
        never halts), "coherence" (the paper's, which may halt) or "gaussian" (noise on all entries, DTTZ14; at most
        5000**2 of them). "auto" is "noisy-power" if `rank` is a number, and else "coherence", which chooses one. Or an
        object of :mod:`dpgraph.strategies`.
    certificate : {"gap-and-coherence", "stability"}
        The option of "coherence" (:class:`~dpgraph.strategies.Projector`); another one than the default makes "auto"
        take that strategy.
    accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateSubspace

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.
    MechanismHalted
        "coherence" certified no eigenspace to be stable, or its noise would leave nothing of it (stage ``"gap"``).

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. Noise on the projector has Frobenius sensitivity
    sqrt(2) sensitivity kappa / (gap - sensitivity), with private bounds on the gap and on the coherence kappa; or the
    limit that the stability measurement certifies. For "noisy-power", a product with a public orthonormal Q changes by
    at most `sensitivity` max_i ||Q_i||, and for "gaussian" the matrix by `sensitivity`.

    References
    ----------
    DN25a, Theorem 1.5, Algorithms 5.2, 5.5 and 5.8; HP14; DTTZ14.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> private = dpgraph.private_projector(500 * np.outer(v, v), 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0)
    >>> bool(abs(v @ private.basis[:, 0]) > 0.99)
    True
    """
    facts = matrix_facts(A, rank, (sensitivity, epsilon, delta), max_rank)
    found, report = _release(facts, lambda: read_symmetric(A), certificate, Asked(mechanism, accountant, rng))
    return PrivateSubspace(found.left, found.spectrum, *found.sines, report)


@private_function
def private_eigenspace(  # noqa: PLR0913
    A: MatrixLike,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    which: Literal["largest", "smallest"] = "largest",
    max_rank: int = 8,
    mechanism: MatrixMechanism = "auto",
    certificate: Certificate = "gap-and-coherence",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSubspace:
    """Release the eigenspace of the algebraically largest (or smallest) eigenvalues of a symmetric matrix.

    Parameters
    ----------
    A, rank, sensitivity, epsilon, delta, max_rank, mechanism, certificate, accountant, rng, progress
        As for :func:`private_projector`.
    which : {"largest", "smallest"}
        Which end of the spectrum.

    Returns
    -------
    PrivateSubspace
        Its `spectrum` is that of the shifted matrix, for "coherence".

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`private_projector`.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. For "coherence" the matrix is shifted by a private upper bound on its spectral
    norm, which makes the order of its eigenvalues that of their absolute values. The norm has sensitivity
    `sensitivity`, and a shift does not change A - A'. The other strategies need no shift, and release what they release
    for :func:`private_projector`.

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
    facts = matrix_facts(A, rank, (sensitivity, epsilon, delta), max_rank, signed=True)
    sign = 1 if which == "largest" else -1
    asked = Asked(mechanism, accountant, rng)
    found, report = _release(facts, lambda: sign * read_symmetric(A), certificate, asked)
    return PrivateSubspace(found.left, found.spectrum, *found.sines, report)


@private_function
def private_low_rank(  # noqa: PLR0913
    A: MatrixLike,
    rank: Rank = "auto",
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    max_rank: int = 8,
    mechanism: MatrixMechanism = "auto",
    certificate: Certificate = "gap-and-coherence",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateLowRank:
    """Release a low-rank approximation Q B Q' of a symmetric matrix.

    Parameters
    ----------
    A, rank, sensitivity, epsilon, delta, max_rank, mechanism, certificate, accountant, rng, progress
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
    max_i ||Q_i|| `sensitivity`; "noisy-power" computes the core from products that it has released.

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
    facts = matrix_facts(A, rank, (sensitivity, epsilon, delta), max_rank, core=True)
    found, report = _release(facts, lambda: read_symmetric(A), certificate, Asked(mechanism, accountant, rng))
    return PrivateLowRank(found.left, found.spectrum, *found.sines, report, found.core)


@private_function
def private_singular_subspace(  # noqa: PLR0913
    A: MatrixLike,
    rank: Rank = "auto",
    *,
    sensitivity: float | None = None,
    max_norm: float | None = None,
    adjacency: Literal["replace", "add-remove"] = "replace",
    epsilon: float,
    delta: float = 0.0,
    max_rank: int = 8,
    mechanism: MatrixMechanism = "auto",
    certificate: Certificate = "gap-and-coherence",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSingularSubspace:
    """Release the leading left and right singular subspaces of a rectangular matrix, or those of private records.

    Parameters
    ----------
    A : ndarray or scipy sparse array, shape (n, m)
        Private matrix. With `max_norm`: dense, a private record in each row.
    rank, epsilon, delta, max_rank, mechanism, certificate, accountant, rng, progress
        As for :func:`private_projector`.
    sensitivity : float, optional
        Neighbours satisfy ||E U||_F <= sensitivity and ||E' U||_F <= sensitivity for E = A - A' and every U with rows
        of norm at most 1; a change of one entry by t has sensitivity t.
    max_norm : float, optional
        In place of `sensitivity`: neighbours differ in a whole row, a record, and rows longer than this public bound
        are scaled down to it. That is DP-PCA. The right subspace is released, in which the records lie nearly; the
        left one has a row for each record, and is not. delta may then be 0, `mechanism` is "auto".
    adjacency : {"replace", "add-remove"}, default "replace"
        With `max_norm`: whether a record is replaced, or added or removed.

    Returns
    -------
    PrivateSingularSubspace

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`private_projector`; or not exactly one of `sensitivity` and `max_norm` is given.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. For "coherence", the pair of projectors changes by at most
    2 sensitivity kappa / (gap - sensitivity), with kappa the larger of both coherences
    (:func:`dpgraph.bounds.spectra.singular_projectors`); each gets noise of its own. For "noisy-power", products
    A Q and A' P with public Q and P, released in turn, change by at most `sensitivity` times the longest row of Q, or
    of P; for "gaussian" the matrix by `sensitivity`. With `max_norm`: (epsilon, delta)-DP for records, since the
    eigenvectors are those of a private second moment (:func:`~dpgraph.private_covariance`).

    References
    ----------
    DN25a, Theorem 1.5 (rectangular case); DTTZ14 and DN25b for records.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> u, v = np.ones(300) / np.sqrt(300), np.ones(200) / np.sqrt(200)
    >>> A, budget = 500 * np.outer(u, v), {"epsilon": 1.0, "delta": 1e-6}
    >>> private = dpgraph.private_singular_subspace(A, 1, sensitivity=1.0, rng=0, **budget)
    >>> bool(abs(u @ private.left[:, 0]) > 0.98 and abs(v @ private.right[:, 0]) > 0.98)
    True

    Records of people, of length 1 at most, that lie near one direction:

    >>> X = np.random.default_rng(0).normal(size=(20_000, 3)) * [0.5, 0.1, 0.1]
    >>> found = dpgraph.private_singular_subspace(X, 1, max_norm=1.0, epsilon=1.0, rng=0)
    >>> np.abs(found.right[:, 0]).round(1), found.converged
    (array([1., 0., 0.]), True)
    """
    if max_norm is not None:
        _check_records_alone(sensitivity, mechanism, certificate)
        return release_record_subspace(
            A, rank, max_rank, adjacency=adjacency, max_norm=max_norm, epsilon=epsilon, delta=delta,
            accountant=accountant, rng=rng,
        )  # fmt: skip
    if sensitivity is None:
        raise InvalidParameterError(
            "private_singular_subspace needs sensitivity= (how far neighbouring matrices are apart), or max_norm= "
            "(neighbours differ in a row, of at most that length); got neither. Nothing was spent"
        )
    if adjacency != "replace":
        raise InvalidParameterError("adjacency= is for private records; give max_norm= with it, or leave it out")
    facts = matrix_facts(A, rank, (sensitivity, epsilon, delta), max_rank, rectangular=True)
    found, report = _release(facts, lambda: read_rectangular(A), certificate, Asked(mechanism, accountant, rng))
    return PrivateSingularSubspace(found.left, found.right, found.spectrum, *found.sines, report)


def _check_records_alone(sensitivity: float | None, mechanism: Any, certificate: Certificate) -> None:
    """With `max_norm` nothing else says what neighbours are, and the noise is that of a covariance."""
    if sensitivity is not None:
        raise InvalidParameterError(
            "sensitivity= and max_norm= both say what neighbours are; got both. Leave one out. Nothing was spent"
        )
    if mechanism != "auto" or certificate != "gap-and-coherence":
        raise InvalidParameterError(
            "with max_norm= the noise is that of a private covariance; leave mechanism= and certificate= out. "
            "private_covariance lets you choose. Nothing was spent"
        )


def _release(
    facts: MatrixFacts, read: Callable[[], Any], certificate: Certificate, asked: Asked
) -> tuple[Factors, PrivacyReport]:
    """The one door: what was released, and what it cost."""
    check_choice("certificate", certificate, CERTIFICATES)
    if certificate != Projector().certificate:
        options = MATRICES.take(asked.mechanism, Projector())[1]
        if not isinstance(options, Projector):
            raise InvalidParameterError(
                f"certificate={certificate!r} is read by mechanism='coherence' only; leave it out, or use it"
            )
        asked = asked._replace(mechanism=Projector(certificate))
    released = release(SUBSPACES, read, facts, asked)
    return released.found, released.privacy
