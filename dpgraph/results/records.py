"""Private covariance matrices and answers to linear queries as results."""

import math
from dataclasses import dataclass

from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import Result, TableResult
from dpgraph.typing import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class PrivateAnswers(TableResult):
    """Private answers to d linear queries.

    Parameters
    ----------
    answers : ndarray, shape (d,)
        In the order of the rows of the query matrix.
    standard_deviation : ndarray, shape (d,)
        Of the noise in each answer before the least-squares step, which only lowers the total error.
    mechanism : str
        Name of the mechanism.
    expected_rmse : float
        Data-free bound on the root-mean-square error of an answer, see :func:`~dpgraph.linear_queries.expected_error`.
    projected : bool
        Whether the answers were moved to the nearest answers of a data set of at most `records` records (exactly as
        many for ``adjacency="replace"``).
    records : float or None
        The number used for that: the bound that was given or read off the noisy answers, or the public count.
    privacy : PrivacyReport
        The guarantee and its ledger.
    """

    answers: FloatArray
    standard_deviation: FloatArray
    mechanism: str
    expected_rmse: float
    projected: bool
    records: float | None
    privacy: PrivacyReport

    def columns(self) -> dict[str, list[float]]:
        """Columns ``answer`` and ``standard_deviation``."""
        return {"answer": self.answers.tolist(), "standard_deviation": self.standard_deviation.tolist()}

    def __repr__(self) -> str:
        projected = ", projected" if self.projected else ""
        return (
            f"PrivateAnswers(d={self.answers.size}, mechanism={self.mechanism!r}, "
            f"expected_rmse={self.expected_rmse:.4g}{projected}, epsilon={self.privacy.epsilon:g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSymmetricMatrix(Result):
    """A symmetric matrix with noise.

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
        Symmetric; unbiased where nothing was projected.
    privacy : PrivacyReport
        The guarantee.
    approximate_sampler : bool
        True if the noise came from a Markov chain, whose law is only close to the one that the guarantee assumes.
    """

    matrix: FloatArray
    privacy: PrivacyReport
    approximate_sampler: bool = False

    def __repr__(self) -> str:
        label, size = ", APPROXIMATE SAMPLER" if self.approximate_sampler else "", len(self.matrix)
        return f"{type(self).__name__}({size} x {size}, {self.privacy!r}{label})"


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCovariance(PrivateSymmetricMatrix):
    """A private covariance matrix, positive semidefinite if it was projected.

    Parameters
    ----------
    trace_bound : float or None
        Upper bound on the trace that the projection used: the private estimate, the public bound, or ``None``.
    mean : ndarray, shape (d,), or None
        Private mean of the records, for the centred covariance only.
    max_norm : float
        Longer records were shortened to this length.
    at_max_norm : bool
        True if the private mean square of a record's length is that of `max_norm`: unless records are scaled to this
        length, most of them were longer and have been shortened. Not told of a centred covariance.
    std : float
        Standard deviation of the noise of an entry of the diagonal, before the projection; off the diagonal the
        variance is half. Of laws that are not Gaussian: of Gaussian noise as large in directions of trace 0.
    """

    trace_bound: float | None = None
    mean: FloatArray | None = None
    max_norm: float = 1.0
    at_max_norm: bool = False
    std: float = math.nan

    def __repr__(self) -> str:
        reached = " IS THE MEAN LENGTH: most records may have been shortened" if self.at_max_norm else ""
        return f"{super().__repr__()[:-1]}, max_norm={self.max_norm:g}{reached})"
