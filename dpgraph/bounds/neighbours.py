"""The neighbouring relation of a symmetric matrix, as the spectral mechanisms need it.

A mechanism asks one object for the sensitivity of the spectrum, the coherence, the projector and the core. There are
three: an edge of a graph seen through the regularised normalized adjacency, a general symmetric matrix, and the
symmetric embedding of a rectangular one.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.bounds import spectra
from dpgraph.bounds.stability import EdgeRates, MatrixRates, SpectralState, Tolerances
from dpgraph.typing import FloatArray


def row_norms(U: FloatArray) -> FloatArray:
    """Euclidean norms of the rows, shape (n,)."""
    squares: FloatArray = np.einsum("ij,ij->i", U, U)
    return np.sqrt(squares)


@dataclass(frozen=True)
class EdgeNeighbours:
    """One edge of a graph, seen through A_tau (:mod:`dpgraph.bounds.spectra`). All bounds are public numbers."""

    #: w, the largest change of one weight.
    max_weight: float
    #: m, a lower bound on min_i c_i valid for both neighbours, m >= w and m >= regularization.
    lower: float
    #: tau.
    regularization: float
    #: d. Private: for :meth:`coherence`, with c = d + tau, and for the stability test.
    degrees: FloatArray
    #: kappa_D = max ||U_i||/sqrt(c_i) if true, the papers' kappa = max ||U_i|| otherwise.
    degree_corrected: bool = True

    #: How often each |eigenvalue| is listed, and the least gap, in units of `norm`, that may be accepted.
    copies, least_gap = 1, 2.0

    def blocks(self, U: FloatArray) -> list[FloatArray]:
        """Bases of the blocks on the diagonal of U U' that may not be zero."""
        return [U]

    @property
    def norm(self) -> float:
        """Bound e on the spectral norm of the change: :func:`~dpgraph.bounds.spectra.spectral_norm`."""
        return spectra.spectral_norm(self.max_weight, self.lower)

    @property
    def frobenius(self) -> float:
        """Bound on its Frobenius norm, and on all singular values in l2: :func:`~dpgraph.bounds.spectra.frobenius`."""
        return spectra.frobenius(self.max_weight, self.lower)

    @property
    def _product(self) -> float:
        if self.degree_corrected:
            return spectra.degree_corrected_product(self.max_weight, self.lower, self.regularization)
        return spectra.basis_product(self.max_weight, self.lower)

    def coherence(self, U: FloatArray) -> float:
        """Coherence kappa_D or kappa of an orthonormal basis (private unless U is public)."""
        norms = row_norms(U)
        return float(np.max(norms / np.sqrt(self.degrees + self.regularization) if self.degree_corrected else norms))

    def projector(self, coherence: float, gap: float) -> float:
        """Bound on the Frobenius change of the projector: :func:`~dpgraph.bounds.spectra.projector`."""
        return spectra.projector(self._product, coherence, gap, self.norm)

    def log_coherence(self, gap: float, computed: float = 0.0) -> float | None:
        """Bound on the change of the log-coherence, or None: :func:`~dpgraph.bounds.spectra.log_coherence`."""
        if self.degree_corrected:
            return spectra.log_coherence(self.max_weight, self.lower, self._product, gap, computed)
        return spectra.general_log_coherence(self._product, gap - self.norm + self._product, computed)

    def largest_row(self, rank: int, n: int) -> float:
        """Lower bound on the largest ||P e_i|| (after scaling, for a degree-corrected coherence).

        The rows have squared norms with sum r; c_i lies between m and (n - 1) w + tau. So kappa_D sqrt(c_i) >=
        sqrt(r m / (n ((n - 1) w + tau))) for every i, and kappa >= sqrt(r/n).
        """
        spread = self.lower / ((n - 1) * self.max_weight + self.regularization) if self.degree_corrected else 1.0
        return float(np.sqrt(min(spread, 1.0) * rank / n))

    def coherence_bound(self, sigma_lower: float) -> float:
        """Upper bound on the coherence from one on sigma_r below: as in spectra; sqrt(w/m)/sigma_r for kappa."""
        if self.degree_corrected:
            return spectra.coherence_bound(self.max_weight, self.lower, sigma_lower)
        return min(1.0, (self.max_weight / self.lower) ** 0.5 / sigma_lower) if sigma_lower > 0 else 1.0

    @property
    def largest_degree(self) -> float:
        """max_i d_i, private. Not max c - tau, of which nothing is left where tau is large."""
        return float(self.degrees.max())

    def state(self, coherence: float, inside: float, outside: float, largest_degree: float) -> SpectralState:
        """What the speed of the eigenspace along a path of edges depends on; eigenvalues are given in units of `norm`.

        The papers' coherence may stand for kappa_D sqrt(m), which it bounds.
        """
        kappa = coherence * self.lower**0.5 if self.degree_corrected else coherence
        return SpectralState(inside, outside, kappa, largest_degree / self.max_weight)

    def rates(self, tolerances: Tolerances) -> EdgeRates:
        """Bounds on the speeds of such a state."""
        return EdgeRates(self.lower / self.max_weight, self.regularization / self.max_weight, tolerances)

    def core(self, Q: FloatArray) -> float:
        """Bound on the change of Q' A Q for a public orthonormal Q: :func:`~dpgraph.bounds.spectra.core_release`."""
        return spectra.core_release(self.max_weight, self.lower, float(row_norms(Q).max()), self.regularization)


@dataclass(frozen=True)
class MatrixNeighbours:
    """Symmetric matrices with ||E U||_F <= Delta for every U whose rows have norm at most 1.

    U = I and U = a unit vector show that Delta also bounds the Frobenius and the spectral norm of E. Attributes and
    methods are those of :class:`EdgeNeighbours`.
    """

    #: Delta.
    norm: float
    #: Of no meaning here.
    largest_degree = 0.0
    #: As for :class:`EdgeNeighbours`.
    copies, least_gap = 1, 2.0

    def blocks(self, U: FloatArray) -> list[FloatArray]:
        """As for :class:`EdgeNeighbours`."""
        return [U]

    @property
    def frobenius(self) -> float:
        """Delta."""
        return self.norm

    def coherence(self, U: FloatArray) -> float:
        """The coherence kappa = max_i ||U_i||."""
        return float(row_norms(U).max())

    def projector(self, coherence: float, gap: float) -> float:
        """:func:`~dpgraph.bounds.spectra.general_projector`."""
        return spectra.general_projector(self.norm, coherence, gap)

    def log_coherence(self, gap: float, computed: float = 0.0) -> float | None:
        """:func:`~dpgraph.bounds.spectra.general_log_coherence`."""
        return spectra.general_log_coherence(self.norm, gap, computed)

    def largest_row(self, rank: int, n: int) -> float:
        """The squared norms of the n rows have sum r."""
        return float(np.sqrt(rank / n))

    def coherence_bound(self, _: float) -> float:
        """Rows of an orthonormal basis have norm at most 1."""
        return 1.0

    def state(self, coherence: float, inside: float, outside: float, _: float) -> SpectralState:
        """Without degrees."""
        return SpectralState(inside, outside, coherence)

    def rates(self, tolerances: Tolerances) -> MatrixRates:
        """Bounds on the speeds of such a state."""
        return MatrixRates(tolerances, self.copies)

    def product(self, Q: FloatArray) -> float:
        """Bound on ||E Q||_F, for either side of a rectangular matrix: ``norm`` times the longest row of a public Q."""
        return spectra.general_core(self.norm, float(row_norms(Q).max()))

    def core(self, Q: FloatArray) -> float:
        """:func:`~dpgraph.bounds.spectra.general_core`, for Q' E Q."""
        return self.product(Q)


@dataclass(frozen=True)
class RectangularNeighbours(MatrixNeighbours):
    """Matrices with ||E X||_F, ||E' X||_F <= Delta as above, seen through S = [[0, A], [A', 0]].

    S lists each singular value twice; `frobenius` is for each of them taken once.
    """

    #: Number of rows of A, the first ones of S.
    rows: int
    copies, least_gap = 2, 3.0

    def blocks(self, U: FloatArray) -> list[FloatArray]:
        """Left and right singular vectors: orthonormal bases of the nearest projectors of half the rank."""
        halves, r = (U[: self.rows], U[self.rows :]), U.shape[1] // 2
        return [np.linalg.svd(half, full_matrices=False)[0][:, :r] for half in halves]

    def projector(self, coherence: float, gap: float) -> float:
        """:func:`~dpgraph.bounds.spectra.singular_projectors`."""
        return spectra.singular_projectors(self.norm, coherence, gap)

    def core(self, Q: FloatArray) -> float:
        """Bound on ||F Q||_F, hence on ||Q' F Q||_F, for the change F of S: of its halves E Q_2 and E' Q_1 together."""
        return self.norm * math.hypot(row_norms(Q[: self.rows]).max(), row_norms(Q[self.rows :]).max())


SpectralNeighbours = EdgeNeighbours | MatrixNeighbours
