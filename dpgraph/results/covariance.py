"""A private covariance matrix as a result."""

from dataclasses import dataclass

from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import Result
from dpgraph.typing import FloatArray

__all__ = ["PrivateCovariance"]


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCovariance(Result):
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
