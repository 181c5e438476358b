"""Private covariance matrices: noise on the second moments, then shrinkage and projection with a private trace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import (
    check_choice,
    check_epsilon,
    check_integer,
    check_memory,
    check_optional_delta,
    check_rank,
    check_scale,
)
from dpgraph.bounds.moments import NoiseSize
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.arrays import read_array, table_shape
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import RECORDS, Relation
from dpgraph.problems.driver import Asked, Problem, release
from dpgraph.problems.records.covariance_noise import LAWS, noise_of, quietest
from dpgraph.projections import project_psd_trace, shrink_psd_trace
from dpgraph.releases.eigenspaces.noisy_matrix import LeadingEigenvectors, leading_eigenvectors
from dpgraph.releases.records.moments import SecondMoments, release_twice_the_trace
from dpgraph.results.records import PrivateCovariance
from dpgraph.results.subspaces import PrivateSingularSubspace
from dpgraph.typing import FloatArray, Rank

if TYPE_CHECKING:
    from dpgraph.strategies import CovarianceMechanism

#: Share of the budget for the private trace: this times d/(epsilon n), within the limits. The more there is to tell
#: about the matrix, the less the bound on its trace matters, and the better the noisy matrix knows it by itself.
_TRACE_SHARE, _LEAST_SHARE, _LARGEST_SHARE = 1.5, 0.005, 0.5
#: Variances below this have underflowed, or could.
_LEAST_VARIANCE = 1e-300


@private_function
def private_covariance(  # noqa: PLR0913
    X: ArrayLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CovarianceMechanism = "auto",
    project: bool = True,
    adjacency: Literal["replace", "add-remove"] = "replace",
    centered: bool = False,
    max_norm: float = 1.0,
    n_records: int | None = None,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCovariance:
    r"""Release the covariance matrix (1/n) sum_i x_i x_i' with pure differential privacy, or less noise at a delta.

    Parameters
    ----------
    X : array_like, shape (N, d)
        Private records, one a row. Rows longer than `max_norm` are scaled down to it.
    epsilon, delta : float
        epsilon > 0, 0 <= delta < 1. 0, the default of delta, stands for a pure release.
    mechanism : {"auto", "wishart-difference", "nuclear-laplace", "gaussian"}, default "auto"
        Law of the noise, or an options object of :mod:`dpgraph.strategies`, where each is explained. The first two
        ignore `delta`: the report then says 0. ``"nuclear-laplace"`` has about 10 % less noise, but above d = 6 it is
        drawn by a Markov chain, which the result says and which is not proved to be private; ``"gaussian"`` has less
        from about ten columns on. ``"auto"`` is the exact law of least expected squared error that `delta` allows.
    project : bool, default True
        ``True``: the eigenvalues are shrunk for least squared error (:func:`~dpgraph.projections.shrink_psd_trace`),
        with a trace of at most a private estimate of the true one. ``False``: unbiased, possibly indefinite.
    adjacency : {"replace", "add-remove"}, default "replace"
        Neighbours differ by one record replaced, or by one record added or removed while n stays what it is.
    centered : bool, default False
        Release (1/n) sum_i (x_i - mean)(x_i - mean)' instead, and the mean with it.
    max_norm : float, default 1.0
        Public bound on the Euclidean norm of a record.
    n_records : int, optional
        The normaliser n, a public number. Required for ``"add-remove"``, where the number of rows is private: a public
        upper bound on it, or a count that was released privately. If omitted for ``"replace"``, the number of rows,
        which is public there.
    accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateCovariance

    Raises
    ------
    InvalidParameterError, BudgetExceededError
        A parameter is out of range, `n_records` is missing for ``"add-remove"``, or `X` is not a matrix of finite real
        numbers; the accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP, or (epsilon, delta)-DP for Gaussian noise, for the stated neighbours; sensitivities and
    their proofs in :mod:`dpgraph.bounds.moments`. The pure laws follow the nuclear norm for ``"add-remove"``
    (:mod:`dpgraph.privacy.matrix_noise`), and for ``"replace"`` the larger trace max(tr E_+, tr E_-), which changes by
    half as far. The centred version releases the second moments of the records with one more coordinate, which has the
    same sensitivity, and takes a Schur complement. docs/covariance-theory.md has the proofs and the errors.

    References
    ----------
    DN25b, Theorems 1.1 and 1.2 (Theorem 4.4 is false as printed: the constant is pi, not 1.1, which
    changes no order; docs/covariance-theory.md).
    DTTZ14 (here with the exact scale of BW18).

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.covariance import private_covariance
    >>> X = np.random.default_rng(0).normal(size=(20_000, 3)) * [0.5, 0.3, 0.1]
    >>> private = private_covariance(X, epsilon=1.0, rng=0)
    >>> private.matrix.diagonal().round(2)
    array([0.22, 0.09, 0.01])
    >>> private.privacy.delta
    0.0
    """
    check_choice("adjacency", adjacency, RECORDS)
    shape = table_shape(X, adjacency, numbers=True)
    facts = _Facts(
        check_epsilon(epsilon), check_optional_delta(delta), RECORDS[adjacency], shape, project, adjacency, centered,
        n_records,
    )  # fmt: skip
    facts.check(max_norm)

    def read() -> _Records:
        rows = short_rows(read_array(X, shape), max_norm)
        return _Records(_augmented(rows, facts.mean_weight) if centered else rows, rows, facts.n)

    released = release(COVARIANCE, read, facts, Asked(mechanism, accountant, rng))
    noisy, _, approximate = released.found
    size = noise_of(released.mechanism, facts.moments, facts.epsilon, facts.delta, facts.shares[0])
    bound = facts.trace_bound(released.known, noisy, size)
    inside = False
    if bound is not None and size.variance > 0:  # a tiny variance underflows
        noisy = shrink_psd_trace(noisy, facts.augmented_trace(bound), std=math.sqrt(size.variance))
        inside = not centered  # within the bound, but a Schur complement need not be
    mean = None
    if centered:
        noisy, mean = facts.schur_complement(noisy)
        mean = mean * max_norm
    matrix = noisy if bound is None or inside else project_psd_trace(noisy, bound)
    scaled_bound = None if bound is None else bound * max_norm**2
    certain = 2 * math.sqrt(size.trace_variance) < 1 - _AT_THE_BOUND
    at_max_norm = bool(certain and not centered and np.trace(matrix) >= _AT_THE_BOUND)  # of what is published
    std = math.sqrt(size.variance) * (1 + facts.mean_weight**2) * max_norm**2
    return PrivateCovariance(
        matrix * max_norm**2, released.privacy, approximate, scaled_bound, mean, float(max_norm), at_max_norm, std
    )


#: A trace of at least this share of max_norm**2 lies at its bound.
_AT_THE_BOUND = 0.95


class _Records(NamedTuple):
    """Private: what the matrix and its trace are made of, in units of max_norm; public: the normaliser."""

    moments: FloatArray
    rows: FloatArray
    n: int


@dataclass(frozen=True)
class _Facts:
    """What is public about a call, in units of max_norm."""

    epsilon: float
    delta: float
    neighbours: Relation
    shape: tuple[int, int]
    project: bool
    adjacency: Literal["replace", "add-remove"]
    centered: bool
    n_records: int | None

    def check(self, max_norm: float) -> None:
        """Refuse what is public and wrong before it costs budget."""
        check_scale("max_norm", max_norm)
        if self.n_records is None and self.adjacency == "add-remove":
            raise InvalidParameterError(
                "adjacency='add-remove' protects whether a record is there, so that the number of rows is private and "
                "cannot be the normaliser; got n_records=None. Give n_records=, a public upper bound on the number of "
                "records or a count that was released privately; if the number of records is public, use "
                "adjacency='replace'"
            )
        rows = self.shape[0] if self.adjacency == "replace" else 0  # private otherwise
        what = f"the covariance of {self.shape[1]} columns"
        check_memory(what, moments=(40, self.size, self.size), records=(5, rows, self.shape[1]))

    @property
    def n(self) -> int:
        """The normaliser."""
        given = self.shape[0] if self.n_records is None else self.n_records
        return check_integer("the number of records", given, 1, 10**15)

    @property
    def size(self) -> int:
        """Rows of the matrix that is released: the centred version has one more."""
        return self.shape[1] + bool(self.centered)

    @cached_property
    def mean_weight(self) -> float:
        """Weight of the constant coordinate; 0 unless the covariance is centred."""
        return _mean_weight(self.shape[1]) if self.centered else 0.0

    @property
    def moments(self) -> SecondMoments:
        """Of the matrix that is released."""
        return SecondMoments(self.n, self.adjacency, self.size)

    @property
    def line(self) -> str:
        """What the ledger calls it."""
        return "augmented covariance" if self.centered else "covariance"

    @cached_property
    def shares(self) -> tuple[float, float, float]:
        """Shares of the budget (of mu**2 where noise is Gaussian) for the private trace, if any, and for the matrix."""
        typical = _TRACE_SHARE * self.shape[1] / (self.epsilon * self.n)
        trace = min(max(typical, _LEAST_SHARE), _LARGEST_SHARE) if self.project else 0.0
        return trace, 1 - trace, 0.0

    def trace_bound(self, twice: tuple[float, float] | None, noisy: FloatArray, size: NoiseSize) -> float | None:
        """Bound for the projection, from what was released: twice the trace, and the matrix with noise of `size`."""
        if twice is None:
            return None
        d, units = self.shape[1], 1 + self.mean_weight**2
        first, second = twice[0] / 2, units * float(np.trace(noisy[:d, :d]))
        variances = twice[1], units**2 * size.block_trace_variance(d)
        precisions = 4 / max(variances[0], _LEAST_VARIANCE), 1 / max(variances[1], _LEAST_VARIANCE)
        estimate = (precisions[0] * first + precisions[1] * second) / sum(precisions)
        # With a public number of records the trace is at most 1; a private one may exceed the normaliser.
        return min(max(estimate, 0.0), 1.0) if self.adjacency == "replace" else max(estimate, 0.0)

    def augmented_trace(self, bound: float) -> float:
        """:meth:`trace_bound` for augmented records, whose constant coordinate, if any, has a share of at most 1."""
        return (bound + self.mean_weight**2) / (1 + self.mean_weight**2)

    def schur_complement(self, moments: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centred covariance and mean from the (noisy) second moments of augmented records."""
        weight = self.mean_weight
        second = (1 + weight**2) * moments[:-1, :-1]
        first = (1 + weight**2) / weight * moments[:-1, -1]
        count = (1 + weight**2) / weight**2 * float(moments[-1, -1])
        share = 1.0 if self.adjacency == "replace" else max(count, 1.0 / self.n)
        return second - np.outer(first, first) / share, first / share


def short_rows(rows: FloatArray, max_norm: float) -> FloatArray:
    """Rows divided by `max_norm`, those still longer than 1 scaled to norm 1; shape (N, d). Not private."""
    # Squares of entries beyond 1e154 overflow: rows with entries beyond max_norm are brought to entries of at most 1.
    largest = np.abs(rows).max(axis=1, initial=max_norm, keepdims=True)
    unit, ratio = rows / largest, np.minimum(largest / max_norm, 1e200)
    short: FloatArray = unit * (ratio / np.maximum(ratio * np.linalg.norm(unit, axis=1, keepdims=True), 1.0))
    return short


def _mean_weight(d: int) -> float:
    """Weight c of the constant coordinate that minimises the leading error of the centred covariance.

    In units of the noise, the second moments err by (1 + c^2) d^{3/2} and, for a mean of norm 1, the product of the
    means by 2 (1 + c^2) d/c; the minimum solves sqrt(d) c^3 + c^2 = 1.
    """
    roots = np.roots([math.sqrt(d), 1.0, 0.0, -1.0])
    return float(next(root.real for root in roots if abs(root.imag) < 1e-9 and root.real > 0))


def _augmented(rows: FloatArray, weight: float) -> FloatArray:
    """Records (x, c)/sqrt(1 + c^2): their second moments hold those of x, the mean and the count.

    Their norm is at most 1, and :func:`~dpgraph.bounds.moments.moments_sensitivity` asks for no more.
    """
    constant = np.full((len(rows), 1), weight)
    return np.hstack([rows, constant]) / math.sqrt(1 + weight**2)


COVARIANCE = Problem(
    LAWS,
    auto=lambda facts: quietest(facts.moments, facts.epsilon, facts.delta),
    pure="mechanism='auto'",
    shares=lambda facts: facts.shares,
    first=lambda records, call: release_twice_the_trace(records.rows, records.n, call),
)


def leading_components(covariance: PrivateCovariance, ranks: range) -> LeadingEigenvectors:
    """The components that stand out of the noise, or the only rank: post-processing."""
    return leading_eigenvectors(covariance.matrix, covariance.std, ranks, signed=True)


def release_record_subspace(
    X: Any, rank: Rank, max_rank: int, *, adjacency: Literal["replace", "add-remove"], **call: Any
) -> PrivateSingularSubspace:
    """Release the right singular subspace of a table whose rows are private records.

    It is the eigenspace of X'X, which is a covariance with the normaliser 1: noise on all d^2 entries of it is that of
    a single product with d vectors, and no iteration pays for more than one. `call` holds the other arguments of
    :func:`~dpgraph.private_covariance`.
    """
    check_choice("adjacency", adjacency, RECORDS)
    ranks = check_rank(rank, table_shape(X, adjacency, numbers=True)[1], max_rank)
    moments = private_covariance(X, project=False, n_records=1, adjacency=adjacency, **call)
    found = leading_components(moments, ranks)
    lengths = np.sqrt(np.maximum(found.spectrum, 0.0))
    sine = found.estimated_sine
    return PrivateSingularSubspace(None, found.basis, lengths, sine, sine, moments.privacy)
