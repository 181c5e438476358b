"""Purely private covariance matrices: nuclear-norm noise, then the projection with a private trace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpgraph.exceptions import InvalidParameterError
from dpgraph.mechanisms.symmetric_release import (
    NUCLEAR_MECHANISMS,
    NuclearMechanism,
    release_symmetric,
)
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.ledger import Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.report import PrivacyReport
from dpgraph.projections import project_psd_trace

__all__ = ["PrivateCovariance", "private_covariance"]

FloatArray = NDArray[np.float64]

#: Neighbouring relations, in the words of the report.
ADJACENCIES = {"replace": "one record, replaced by another", "add-remove": "one record, added or removed"}

#: Default share of epsilon for the private trace. Over 96 settings of d, trace, epsilon n and adjacency the error is on
#: average 1.17 times that of the best share, 2.4 times at worst; for the half of DN25b it is 1.52 and 2.0 times
#: (benchmarks/results/covariance_shares.md).
TRACE_SHARE = 0.15

#: The private trace lives on a grid this much finer than its noise.
_TRACE_GRID_BITS = 20


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCovariance:
    """A private covariance matrix.

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
        Symmetric; positive semidefinite if it was projected.
    privacy : PrivacyReport
        The guarantee.
    trace_bound : float or None
        Upper bound on the trace that the projection used: the private estimate, the public bound, or ``None``.
    mean : ndarray, shape (d,), or None
        Private mean of the records, for the centred covariance only.
    approximate_sampler : bool
        True if the noise came from a Markov chain, whose law is only close to the one that the guarantee assumes.
    """

    matrix: FloatArray
    privacy: PrivacyReport
    trace_bound: float | None = None
    mean: FloatArray | None = None
    approximate_sampler: bool = False

    def __repr__(self) -> str:
        label = ", APPROXIMATE SAMPLER" if self.approximate_sampler else ""
        return f"PrivateCovariance({len(self.matrix)} x {len(self.matrix)}, {self.privacy!r}{label})"


def private_covariance(
    X: ArrayLike,
    *,
    epsilon: float,
    mechanism: NuclearMechanism = "wishart-difference",
    project: bool | Literal["unit-trace"] = True,
    adjacency: Literal["replace", "add-remove"] = "replace",
    centered: bool = False,
    max_norm: float = 1.0,
    n_records: int | None = None,
    trace_share: float = TRACE_SHARE,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateCovariance:
    r"""Release the covariance matrix (1/n) sum_i x_i x_i' with pure differential privacy.

    Parameters
    ----------
    X : array_like, shape (N, d)
        Private records, one a row. Rows longer than `max_norm` are scaled down to it.
    epsilon : float
        epsilon > 0; delta is 0.
    mechanism : {"wishart-difference", "nuclear-laplace"}, default "wishart-difference"
        Law of the noise, see :mod:`dpgraph.mechanisms.nuclear_noise`. ``"wishart-difference"`` is exact for every d.
        ``"nuclear-laplace"`` (DN25b Algorithm 1 on symmetric matrices) has about 10 % less noise; it is exact up to
        d = 5 and a Markov chain above, which the result says.
    project : bool or "unit-trace", default True
        ``True``: DN25b Algorithm 2, the nearest positive semidefinite matrix whose trace is at most a private estimate
        of twice the true one; best when there are few records or the trace is small. ``"unit-trace"``: the same with
        the public bound ``max_norm**2`` and the whole budget for the noise; best when there are many records.
        ``False``: unbiased, possibly indefinite.
    adjacency : {"replace", "add-remove"}, default "replace"
        Neighbours differ by one record replaced, or by one record added or removed while n stays what it is.
    centered : bool, default False
        Release (1/n) sum_i (x_i - mean)(x_i - mean)' instead, and the mean with it.
    max_norm : float, default 1.0
        Public bound on the Euclidean norm of a record.
    n_records : int, optional
        The normaliser n, a public number; if omitted, the number of rows, which is thereby declared public. With
        ``"add-remove"`` give a public upper bound or a private count if the number of rows is a secret.
    trace_share : float, default 0.15
        Share of epsilon for the private trace when ``project=True``, in (0, 1). DN25b takes a half, which is better
        only where there is very little data (epsilon n below about 50).
    accountant : PrivacyAccountant, optional
        Debited before `X` is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.

    Returns
    -------
    PrivateCovariance

    Raises
    ------
    InvalidParameterError
        A parameter is out of range, or `X` is not a matrix of finite real numbers.
    BudgetExceededError
        The accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for the stated neighbours. Nuclear-norm sensitivity 2/n (replace) or 1/n (add or remove) for
    records of norm 1; twice the trace moves by at most 2/n. The centred version releases the second moments of the
    records with one more coordinate (see :func:`_augmented`), which has the same sensitivity, and takes a Schur
    complement; everything after the noise is post-processing.

    *Error.* Without projection the Frobenius error is about 0.74 rho d^{3/2} with rho = sensitivity/epsilon; with it,
    O(min(d^{3/2}/(epsilon n), sqrt(d tr(Sigma)/(epsilon n)) + sqrt(d log d)/(epsilon n))).

    References
    ----------
    DN25b, Algorithms 1 and 2, Theorems 1.1 and 1.2. mathematics.md, section 8 (the Wishart difference).

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.queries.covariance import private_covariance
    >>> X = np.random.default_rng(0).normal(size=(20_000, 3)) * [0.5, 0.3, 0.1]
    >>> private = private_covariance(X, epsilon=1.0, rng=0)
    >>> private.matrix.diagonal().round(2)
    array([0.22, 0.09, 0.01])
    >>> private.privacy.delta
    0.0
    """
    plan = _Plan.checked(X, mechanism, project, adjacency, max_norm, n_records, trace_share)
    noise = noise_source(rng)
    ledger = open_ledger(
        epsilon=epsilon, delta=None, accountant=accountant, adjacency=ADJACENCIES[adjacency], noise=noise
    )
    rows = short_rows(X, max_norm)
    bound = plan.trace_bound(rows, ledger, noise)
    mean_weight = _mean_weight(rows.shape[1]) if centered else 0.0
    moments = _augmented(rows, mean_weight) if centered else rows
    noisy, approximate = release_symmetric(
        moments.T @ moments / plan.n,
        name="augmented covariance" if centered else "covariance",
        sensitivity=plan.sensitivity,
        epsilon=ledger.epsilon * (1 - plan.trace_share),
        mechanism=mechanism,
        ledger=ledger,
        noise=noise,
    )
    mean = None
    if centered:
        noisy, mean = _schur_complement(noisy, mean_weight, count_is_public=adjacency == "replace", n=plan.n)
        mean = mean * max_norm
    matrix = noisy if bound is None else project_psd_trace(noisy, bound)
    scaled_bound = None if bound is None else bound * max_norm**2
    return PrivateCovariance(matrix * max_norm**2, ledger.report(), scaled_bound, mean, approximate)


@dataclass(frozen=True)
class _Plan:
    """The public side of a call, in units of max_norm."""

    n: int
    sensitivity: float
    trace_share: float
    project: bool | str
    adjacency: str

    @classmethod
    def checked(
        cls,
        X: ArrayLike,
        mechanism: str,
        project: bool | str,
        adjacency: str,
        max_norm: float,
        n_records: int | None,
        trace_share: float,
    ) -> _Plan:
        """Check everything that is public, so that a mistake costs no budget."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] == 0:
            raise InvalidParameterError(f"expected records as the rows of a matrix; got shape {shape}")
        if mechanism not in NUCLEAR_MECHANISMS:
            raise InvalidParameterError(f"mechanism must be one of {NUCLEAR_MECHANISMS}; got {mechanism!r}")
        if not (isinstance(project, (bool, np.bool_)) or project == "unit-trace"):
            raise InvalidParameterError(f"project must be True, False or 'unit-trace'; got {project!r}")
        if adjacency not in ADJACENCIES:
            raise InvalidParameterError(f"adjacency must be one of {tuple(ADJACENCIES)}; got {adjacency!r}")
        if not (math.isfinite(max_norm) and max_norm > 0):
            raise InvalidParameterError(f"max_norm must be positive and finite; got {max_norm!r}")
        if not 0 < trace_share < 1:
            raise InvalidParameterError(f"trace_share must lie strictly between 0 and 1; got {trace_share!r}")
        n = shape[0] if n_records is None else n_records
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InvalidParameterError(f"the number of records must be an integer, at least 1; got {n!r}")
        chosen = project if isinstance(project, str) else bool(project)
        share = trace_share if chosen is True else 0.0
        return cls(int(n), (2.0 if adjacency == "replace" else 1.0) / int(n), share, chosen, adjacency)

    def trace_bound(self, rows: FloatArray, ledger: Ledger, noise: NoiseSource) -> float | None:
        """Bound for the projection: none, the public one, or a private estimate of twice the trace."""
        if self.project is False:
            return None
        if self.project == "unit-trace":
            return 1.0
        # One record contributes at most 1/n to the trace under either relation.
        move, epsilon = 2.0 / self.n, ledger.epsilon * self.trace_share
        unit = 2.0 ** (math.floor(math.log2(move / epsilon)) - _TRACE_GRID_BITS)
        scale = ledger.laplace("twice the trace", sensitivity=move + 2 * unit, epsilon=epsilon)
        twice = np.array([np.rint(2.0 * float(np.sum(rows**2)) / self.n / unit) * unit])
        estimate = max(float(noise.laplace_on_grid(twice, unit, scale)[0]), 0.0)
        # With a public number of records the trace is at most 1; a private one may exceed the normaliser.
        return min(estimate, 1.0) if self.adjacency == "replace" else estimate


def short_rows(X: ArrayLike, max_norm: float) -> FloatArray:
    """Rows divided by `max_norm`, those still longer than 1 scaled to norm 1; shape (N, d). Not private."""
    rows = np.asarray(X)
    if rows.dtype.kind not in "biuf":
        raise InvalidParameterError(f"expected real numbers; got entries of type {rows.dtype}")
    rows = rows.astype(np.float64) / max_norm
    if not np.isfinite(rows).all():
        raise InvalidParameterError("expected finite records; at least one entry is NaN or infinite")
    return rows / np.maximum(np.linalg.norm(rows, axis=1), 1.0)[:, None]


def _mean_weight(d: int) -> float:
    """Weight c of the constant coordinate that minimises the leading error of the centred covariance.

    In units of the noise, the second moments err by (1 + c^2) d^{3/2} and, for a mean of norm 1, the product of the
    means by 2 (1 + c^2) d/c; the minimum solves sqrt(d) c^3 + c^2 = 1.
    """
    roots = np.roots([math.sqrt(d), 1.0, 0.0, -1.0])
    return float(next(root.real for root in roots if abs(root.imag) < 1e-9 and root.real > 0))


def _augmented(rows: FloatArray, weight: float) -> FloatArray:
    """Records (x, c)/sqrt(1 + c^2), of norm at most 1.

    Their second moments hold those of x, the mean and the count. Two such records y, y' differ by
    ||yy' - y'y''||_* = ||y - y'|| ||y + y'|| = a sqrt(b^2 + 4c^2)/(1 + c^2) with a = ||x - x'||, b = ||x + x'||,
    a^2 + b^2 <= 4, hence by at most 2: the same sensitivity as without the constant coordinate.
    """
    constant = np.full((len(rows), 1), weight)
    return np.hstack([rows, constant]) / math.sqrt(1 + weight**2)


def _schur_complement(
    moments: FloatArray, weight: float, *, count_is_public: bool, n: int
) -> tuple[FloatArray, FloatArray]:
    """Centred covariance and mean from the (noisy) second moments of augmented records."""
    second = (1 + weight**2) * moments[:-1, :-1]
    first = (1 + weight**2) / weight * moments[:-1, -1]
    share = 1.0 if count_is_public else max((1 + weight**2) / weight**2 * float(moments[-1, -1]), 1.0 / n)
    return second - np.outer(first, first) / share, first / share
