"""The neighbouring relation of a symmetric matrix, as the spectral mechanisms need it.

A mechanism asks one object how far the spectrum, the coherence, the projector and the core can move. Two relations are
implemented: an edge of a graph seen through the regularised normalized adjacency, and a general symmetric matrix.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.bounds.stability import EdgeRates, MatrixRates, Rates, SpectralState, Tolerances
from dpgraph.typing import FloatArray

__all__ = ["EdgeNeighbours", "MatrixNeighbours", "SpectralNeighbours", "row_norms"]


def row_norms(U: FloatArray) -> FloatArray:
    """Euclidean norms of the rows, shape (n,)."""
    return np.sqrt(np.einsum("ij,ij->i", U, U))


class SpectralNeighbours(Protocol):
    """How far one neighbour can move spectral quantities of the input; all numbers are public."""

    @property
    def norm(self) -> float:
        """Bound e on the spectral norm of the change."""
        ...

    @property
    def frobenius(self) -> float:
        """Bound on the Frobenius norm of the change, hence on the l2 change of all singular values together."""
        ...

    def coherence(self, U: FloatArray) -> float:
        """Coherence of an orthonormal basis in the sense of this relation (private unless U is public)."""
        ...

    def projector(self, coherence: float, gap: float) -> float:
        """Bound on the Frobenius change of the projector."""
        ...

    def log_coherence(self, gap: float, computed: float = 0.0) -> float | None:
        """Bound on the change of the logarithm of the coherence, or None where none is known."""
        ...

    def largest_row(self, rank: int, n: int) -> float:
        """Lower bound on the largest ||P e_i|| (after scaling, for a degree-corrected coherence)."""
        ...

    def coherence_bound(self, sigma_lower: float) -> float:
        """Upper bound on the coherence from a lower bound on sigma_r."""
        ...

    @property
    def largest_degree(self) -> float:
        """max_i d_i of a graph (private)."""
        ...

    def state(self, coherence: float, inside: float, outside: float, largest_degree: float) -> SpectralState:
        """State of the motion of the eigenspace, in units of this relation; eigenvalues are given in units of norm."""
        ...

    def rates(self, tolerances: Tolerances) -> Rates:
        """Bounds on the speeds of such a state."""
        ...

    def core(self, Q: FloatArray) -> float:
        """Bound on the Frobenius change of Q' A Q for a public orthonormal Q."""
        ...

    def core_nuclear(self, Q: FloatArray) -> float:
        """Bound on the change of Q' A Q in nuclear norm."""
        ...


@dataclass(frozen=True)
class EdgeNeighbours:
    """One edge of a graph, seen through A_tau (:mod:`dpgraph.bounds.sensitivity`).

    Parameters
    ----------
    max_weight : float
        w, the largest change of one weight.
    lower : float
        m, a lower bound on min_i c_i valid for both neighbours, m >= w and m >= regularization.
    regularization : float
        tau.
    degrees : ndarray, shape (n,)
        d. Private: used by :meth:`coherence`, with c = d + tau, and by the stability test.
    degree_corrected : bool
        kappa_D = max ||U_i||/sqrt(c_i) if true, the papers' kappa = max ||U_i|| otherwise.
    """

    max_weight: float
    lower: float
    regularization: float
    degrees: FloatArray
    degree_corrected: bool = True

    @property
    def norm(self) -> float:
        """w/m; see :func:`dpgraph.bounds.sensitivity.spectral_norm`."""
        return sensitivity.spectral_norm(self.max_weight, self.lower)

    @property
    def frobenius(self) -> float:
        """About sqrt(2) w/m; see :func:`dpgraph.bounds.sensitivity.frobenius`."""
        return sensitivity.frobenius(self.max_weight, self.lower)

    @property
    def _product(self) -> float:
        if self.degree_corrected:
            return sensitivity.degree_corrected_product(self.max_weight, self.lower, self.regularization)
        return sensitivity.basis_product(self.max_weight, self.lower)

    def coherence(self, U: FloatArray) -> float:
        """The coherence kappa_D or kappa of a basis."""
        norms = row_norms(U)
        return float(np.max(norms / np.sqrt(self.degrees + self.regularization) if self.degree_corrected else norms))

    def projector(self, coherence: float, gap: float) -> float:
        """See :func:`dpgraph.bounds.sensitivity.projector`."""
        return sensitivity.projector(self._product, coherence, gap, self.norm)

    def log_coherence(self, gap: float, computed: float = 0.0) -> float | None:
        """See :func:`dpgraph.bounds.sensitivity.log_coherence`."""
        if self.degree_corrected:
            return sensitivity.log_coherence(self.max_weight, self.lower, self._product, gap, computed)
        return sensitivity.general_log_coherence(self._product, gap - self.norm + self._product, computed)

    def largest_row(self, rank: int, n: int) -> float:
        """The rows have squared norms with sum r; c_i lies between m and (n - 1) w + tau.

        So kappa_D sqrt(c_i) >= sqrt(r m / (n ((n - 1) w + tau))) for every i, and kappa >= sqrt(r/n).
        """
        spread = self.lower / ((n - 1) * self.max_weight + self.regularization) if self.degree_corrected else 1.0
        return float(np.sqrt(min(spread, 1.0) * rank / n))

    def coherence_bound(self, sigma_lower: float) -> float:
        """See :func:`dpgraph.bounds.sensitivity.coherence_bound`; sqrt(w/m)/sigma_r for the papers' kappa."""
        if self.degree_corrected:
            return sensitivity.coherence_bound(self.max_weight, self.lower, sigma_lower)
        return min(1.0, (self.max_weight / self.lower) ** 0.5 / sigma_lower) if sigma_lower > 0 else 1.0

    @property
    def largest_degree(self) -> float:
        """Private: used by the stability test only. Not max c - tau, of which nothing is left where tau is large."""
        return float(self.degrees.max())

    def state(self, coherence: float, inside: float, outside: float, largest_degree: float) -> SpectralState:
        """Stand the papers' coherence in for kappa_D sqrt(m), which it bounds."""
        kappa = coherence * self.lower**0.5 if self.degree_corrected else coherence
        return SpectralState(inside, outside, kappa, largest_degree / self.max_weight)

    def rates(self, tolerances: Tolerances) -> Rates:
        """See :class:`dpgraph.bounds.stability.EdgeRates`."""
        return EdgeRates(self.lower / self.max_weight, self.regularization / self.max_weight, tolerances)

    def core(self, Q: FloatArray) -> float:
        """See :func:`dpgraph.bounds.sensitivity.core_release`."""
        return self.core_nuclear(Q)

    def core_nuclear(self, Q: FloatArray) -> float:
        """See :func:`dpgraph.bounds.sensitivity.core_release`, which bounds the nuclear norm."""
        return sensitivity.core_release(self.max_weight, self.lower, float(row_norms(Q).max()), self.regularization)


@dataclass(frozen=True)
class MatrixNeighbours:
    """Symmetric matrices with ||E U||_F <= Delta for every U whose rows have norm at most 1.

    U = I and U = a unit vector show that Delta also bounds the Frobenius and the spectral norm of E.
    """

    delta: float

    @property
    def norm(self) -> float:
        """Delta."""
        return self.delta

    @property
    def frobenius(self) -> float:
        """Delta."""
        return self.delta

    def coherence(self, U: FloatArray) -> float:
        """The coherence kappa = max_i ||U_i||."""
        return float(row_norms(U).max())

    def projector(self, coherence: float, gap: float) -> float:
        """See :func:`dpgraph.bounds.sensitivity.general_projector`."""
        return sensitivity.general_projector(self.delta, coherence, gap)

    def log_coherence(self, gap: float, computed: float = 0.0) -> float | None:
        """See :func:`dpgraph.bounds.sensitivity.general_log_coherence`."""
        return sensitivity.general_log_coherence(self.delta, gap, computed)

    def largest_row(self, rank: int, n: int) -> float:
        """The squared norms of the n rows have sum r."""
        return float(np.sqrt(rank / n))

    def coherence_bound(self, sigma_lower: float) -> float:
        """Rows of an orthonormal basis have norm at most 1."""
        return 1.0

    @property
    def largest_degree(self) -> float:
        """Of no meaning here."""
        return 0.0

    def state(self, coherence: float, inside: float, outside: float, largest_degree: float) -> SpectralState:
        """Without degrees."""
        return SpectralState(inside, outside, coherence)

    def rates(self, tolerances: Tolerances) -> Rates:
        """See :class:`dpgraph.bounds.stability.MatrixRates`."""
        return MatrixRates(tolerances)

    def core(self, Q: FloatArray) -> float:
        """See :func:`dpgraph.bounds.sensitivity.general_core`."""
        return sensitivity.general_core(self.delta, float(row_norms(Q).max()))

    def core_nuclear(self, Q: FloatArray) -> float:
        """The change has rank at most r: sqrt(r) times :meth:`core`."""
        return Q.shape[1] ** 0.5 * self.core(Q)
