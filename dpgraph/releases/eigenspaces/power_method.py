"""The noisy power method: private low-rank matrices from public iterates (HP14), with averaged products.

The iterate Q (n x r, orthonormal) is public, so releasing A Q + noise costs w sqrt(||Q_i||^2 + ||Q_j||^2) for an edge
{i, j}: the coherence that matters is that of the public iterate, and it may be read off at no cost.

Three things are done beyond the published method, all free. All products Y_t = A Q_t + noise are kept, and the next
iterate comes from their weighted sum sum_t a_t Y_t (Q_t' Q), in which noise averages out while products with iterates
that had not yet found the space count for little; the published method throws all but the last away. And the first
column starts from the noisy degrees, which are close to the leading eigenvector of a real graph. And a few more
columns than asked for are iterated as long as their Ritz values show no gap after the rank.

For an embedding (``denoise``), two more: while an iterate is mostly noise, its rows are clipped before they multiply,
since they are public and only the longest two set the noise (unless rows are long by nature, as the released degrees
of such graphs show); and at the end every row becomes its posterior mean under
the law of rows (:mod:`dpgraph.denoise.empirical_bayes`), before the core is released on the space that they span.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.releases.arrays import release_array
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.eigenspaces.projector import CORE_ALLOWANCE
from dpgraph.releases.sweeps.core import shrunken_degrees

__all__ = [
    "POWER_RANK",
    "LowRankAdjacency",
    "Products",
    "release_low_rank_adjacency",
    "release_low_rank_matrix",
    "row_scales",
]

FloatArray = NDArray[np.float64]

#: Rank under rank="auto".
POWER_RANK = 2
#: Iterations are this many times sqrt(mu), between the bounds: with little noise, convergence is what is missing.
_ITERATIONS, _LEAST, _MOST = 16.0, 6, 24
#: Most columns beyond the rank, and the least mu for any: the last eigenvector that is asked for is found through its
#: gap to what comes after them.
_EXTRA, _LEAST_MU = 3, 0.4
#: They are tried for this share of the iterations, then kept if the next Ritz value is at least this much of the last.
_TRIAL, _NO_GAP = 0.35, 0.5
_CORE_SHARE = 0.05
_DEGREE_SHARE = 0.04
#: What a product counts for, per iteration that has passed since, while the space is still being found.
_DECAY = 0.5
#: Below the same mu, rows of an iterate that is noise to more than this share are clipped: the few longest rows, which
#: set the noise, are long by noise. More columns than one start from random signs, which takes more iterations.
_NOISY, _LEAST_FROM_SIGNS = 0.12, 9
#: And where mu is below this number over the ratio of the two largest released degrees to all of them: then no row is
#: long by nature.
_FLAT = 2.8
#: Projections onto the last estimate at the end, all products counting alike.
_REFINEMENTS = 3


@dataclass(frozen=True)
class LowRankAdjacency:
    """R A R, R = diag(rows), is close to Q B Q'.

    Parameters
    ----------
    degrees : ndarray, shape (n,)
        Noisy degrees.
    basis : ndarray, shape (n, r)
        Q, orthonormal.
    core : ndarray, shape (r, r)
        B, diagonal, in decreasing order of |entry|: Q' R A R Q plus noise.
    """

    degrees: FloatArray
    basis: FloatArray
    core: FloatArray


class Products:
    """Released products Y_t of the matrix with public bases Q_t.

    Every basis is a linear combination of the first one and of products, so that these columns are all that is kept;
    what is done with the bases is done with their coefficients and the Gram matrix of the columns.
    """

    def __init__(self, first: FloatArray, iterations: int) -> None:
        n, k = first.shape
        self._columns = np.empty((n, k * (2 * iterations + 1)), order="F")
        self._gram = np.zeros((self._columns.shape[1],) * 2)
        self._used = 0
        self._steps: list[tuple[FloatArray, slice, float]] = []
        self.coefficients = np.zeros((self._columns.shape[1], k))
        self.coefficients[self._append(first)] = np.eye(k)

    def _append(self, columns: FloatArray) -> slice:
        new = slice(self._used, self._used + columns.shape[1])
        self._columns[:, new] = columns
        self._used = new.stop
        inner = self._columns[:, : self._used].T @ columns
        self._gram[: self._used, new], self._gram[new, : self._used] = inner, inner.T
        return new

    def basis(self) -> FloatArray:
        """Return the present orthonormal basis, shape (n, k)."""
        return np.asarray(self._columns[:, : self._used] @ self.coefficients[: self._used])

    def replace_basis(self, basis: FloatArray) -> FloatArray:
        """Go on from another basis."""
        self.coefficients = np.zeros((self._columns.shape[1], basis.shape[1]))
        self.coefficients[self._append(basis)] = np.eye(basis.shape[1])
        return basis

    def noise_share(self, rows: FloatArray) -> float:
        """Share of the squared norm of the basis that is noise."""
        return float(np.sum(rows**2) * np.trace(self.covariance()) / self.coefficients.shape[1])

    def add(self, product: FloatArray, variance: float) -> None:
        """Keep the product with the present basis."""
        self._steps.append((self.coefficients, self._append(product), 1 / variance))

    def drop_idle_columns(self, rank: int) -> None:
        """Drop the extra columns, which cost noise, where the Ritz values Q' Y show a gap after the rank."""
        if self.coefficients.shape[1] == rank:
            return
        ritz = self.coefficients.T @ self._gram[:, self._steps[-1][1]]
        values, vectors = np.linalg.eigh((ritz + ritz.T) / 2)
        order = np.argsort(-np.abs(values))
        if abs(values[order[rank]]) <= _NO_GAP * abs(values[order[rank - 1]]):
            self.coefficients = self.coefficients @ vectors[:, order[:rank]]

    def improve(self, decay: float) -> None:
        """Turn the basis Q into an orthonormal one of sum_t decay^age/variance_t Y_t (Q_t' Q)."""
        total = np.zeros_like(self.coefficients)
        for age, (basis, product, weight) in enumerate(reversed(self._steps)):
            total[product] += weight * decay**age * (basis.T @ self._gram @ self.coefficients)
        values, vectors = np.linalg.eigh(total.T @ self._gram @ total)
        self.coefficients = total @ (vectors / np.sqrt(np.maximum(values, 1e-15 * values[-1])))

    def keep_leading(self, rank: int) -> None:
        """Keep the columns of the basis that the matrix, estimated from all products, stretches most."""
        total, known = np.zeros_like(self.coefficients), np.zeros((self.coefficients.shape[1],) * 2)
        for basis, product, weight in self._steps:
            overlap = basis.T @ self._gram @ self.coefficients
            total[product] += weight * overlap
            known += weight * overlap.T @ overlap
        ritz = self.coefficients.T @ self._gram @ total @ np.linalg.pinv(known)
        values, vectors = np.linalg.eigh((ritz + ritz.T) / 2)
        self.coefficients = self.coefficients @ vectors[:, np.argsort(-np.abs(values))[:rank]]

    def covariance(self) -> FloatArray:
        """Covariance of the noise in a row of the basis, for products whose noise has one variance in all rows."""
        parts = [self.coefficients[product] / math.sqrt(weight) for _, product, weight in self._steps]
        return sum((part.T @ part for part in parts), start=np.zeros((self.coefficients.shape[1],) * 2))


def release_low_rank_adjacency(
    graph: GraphOperator,
    rank: int,
    *,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
    regularization: float | None = None,
    denoise: bool = False,
) -> LowRankAdjacency:
    """Release degrees and a low-rank adjacency by the noisy power method with GDP parameter `mu`.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    rank : int
        Number of columns, 1 <= rank <= n.
    ledger, mu, noise
        Budget of the call, GDP parameter of this release, source of noise.
    regularization : float, optional
        Public tau: the matrix is R A R with R_i = (released d_i + tau)^{-1/2}, the sum floored at max(tau, w). None
        stands for A itself.
    denoise : bool
        Clip rows of noisy iterates, and take posterior means of the rows at the end, where there are enough of them.

    References
    ----------
    HP14: M. Hardt, E. Price, "The noisy power method", NIPS 2014, Algorithm 1 (here with exact Gaussian composition,
    degrees as the start, and averaged products).
    """
    w, mu_degrees, mu_core = graph.max_weight, mu * math.sqrt(_DEGREE_SHARE), mu * math.sqrt(_CORE_SHARE)
    degrees, std = release_degrees(graph, Call(ledger, noise, mu=mu_degrees))
    rows = np.ones(graph.n_vertices)
    if regularization is not None:
        rows = row_scales(degrees, regularization, w)
    shrunken = shrunken_degrees(degrees, float(degrees.mean()), std, w)
    start = rows * shrunken

    def bound(Q: FloatArray) -> float:
        return sensitivity.row_release(w, pair_norm(rows[:, None] * Q))

    Q = _iterate(
        lambda Q: graph.multiply(rows[:, None] * Q),
        bound,
        _first_basis(graph.n_vertices, rank, mu, noise, start),
        rank,
        rows=rows,
        ledger=ledger,
        mu=math.sqrt(mu**2 - mu_degrees**2 - mu_core**2),
        noise=noise,
        error=lambda Q: sensitivity.product_rounding(w, rows[:, None] * Q),
        denoise=denoise and enough_rows(graph.n_vertices, rank),
        unevenness=_unevenness_of(shrunken),
    )
    exact = Q.T @ (rows[:, None] * graph.multiply(rows[:, None] * Q))
    core = _release_core(exact, sensitivity.adjacency_core(w, rows[:, None] * Q), ledger, mu_core, noise)
    return LowRankAdjacency(degrees, *_leading(Q, core, rank))


def row_scales(degrees: FloatArray, regularization: float, max_weight: float) -> FloatArray:
    """(released d_i + tau)^{-1/2}, the sum floored at max(tau, w)."""
    return np.asarray(1 / np.sqrt(np.maximum(degrees + regularization, max(regularization, max_weight))))


def _unevenness_of(degrees: FloatArray) -> float:
    """How far the two largest (released) degrees stand out, in units of the root mean square of all."""
    return pair_norm(degrees[:, None]) / math.sqrt(float(np.mean(degrees**2)))


def release_low_rank_matrix(
    matrix: Any, rank: int, neighbours: SpectralNeighbours, *, ledger: Ledger, mu: float, noise: NoiseSource
) -> tuple[FloatArray, FloatArray]:
    """Release (Q, B) with a symmetric matrix close to Q B Q', as :func:`release_low_rank_adjacency` does.

    The products move by at most `neighbours.core(Q)`, the bound on ||E Q||_F for a public orthonormal Q.
    """
    mu_core = mu * math.sqrt(_CORE_SHARE)
    Q = _iterate(
        lambda Q: np.asarray(matrix @ Q),
        neighbours.core,
        _first_basis(matrix.shape[0], rank, mu, noise),
        rank,
        rows=np.ones(matrix.shape[0]),
        ledger=ledger,
        mu=math.sqrt(mu**2 - mu_core**2),
        noise=noise,
    )
    core = _release_core(Q.T @ (matrix @ Q), neighbours.core(Q), ledger, mu_core, noise)
    return _leading(Q, core, rank)


def _iterate(
    multiply: Callable[[FloatArray], FloatArray],
    bound: Callable[[FloatArray], float],
    Q: FloatArray,
    rank: int,
    *,
    rows: FloatArray,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
    error: Callable[[FloatArray], float | None] = lambda _: None,
    denoise: bool = False,
    unevenness: float = math.inf,
) -> FloatArray:
    """Improve Q by products `rows` * (multiply(Q) + noise), where `bound`(Q) is how far multiply(Q) moves.

    `error`(Q) is a bound on what rounding adds to it, or None for the allowance of
    :func:`~dpgraph.releases.arrays.release_array`.
    """
    clips = denoise and (mu < _LEAST_MU or mu * unevenness < _FLAT)
    least = _LEAST_FROM_SIGNS if denoise and rank > 1 else _LEAST
    iterations = min(max(math.ceil(_ITERATIONS * math.sqrt(mu)), least), _MOST)
    seen = Products(Q, iterations)
    for t in range(iterations):
        if clips and t and seen.noise_share(rows) > _NOISY:
            Q = seen.replace_basis(_clipped(Q))
        noisy = release_array(
            multiply(Q),
            name=f"power iteration {t + 1}",
            sensitivity=bound(Q),
            mu=mu / math.sqrt(iterations),
            symmetric=False,
            ledger=ledger,
            noise=noise,
            error=error(Q),
        )
        seen.add(rows[:, None] * noisy, ledger.entries[-1].scale ** 2)
        if t >= iterations * _TRIAL:
            seen.drop_idle_columns(rank)
        seen.improve(_DECAY)
        Q = seen.basis()
    for _ in range(_REFINEMENTS):
        seen.improve(1.0)
    if denoise:
        seen.keep_leading(rank)
        return posterior_basis(seen.basis(), seen.covariance(), rows)
    return np.asarray(np.linalg.qr(seen.basis())[0])


def _release_core(exact: FloatArray, bound: float, ledger: Ledger, mu: float, noise: NoiseSource) -> FloatArray:
    error = CORE_ALLOWANCE * bound / mu * len(exact)
    return release_array(
        exact, name="core", sensitivity=bound, mu=mu, symmetric=True, ledger=ledger, noise=noise, error=error
    )


def _leading(Q: FloatArray, core: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors of Q B Q' of largest |eigenvalue|, and the diagonal core on them."""
    values, vectors = np.linalg.eigh(core)
    kept = np.argsort(-np.abs(values))[:rank]
    return Q @ vectors[:, kept], np.diag(values[kept])


def _first_basis(n: int, rank: int, mu: float, noise: NoiseSource, start: FloatArray | None = None) -> FloatArray:
    """Orthonormalise the public start, if any, and random signs, whose rows are as long as each other."""
    extra = min(_EXTRA, 2 * rank - 1, n - rank) if mu >= _LEAST_MU else 0
    columns = noise.generator.choice(np.array([-1.0, 1.0]), size=(n, rank + extra))
    if start is not None:
        columns[:, 0] = start
    return np.asarray(np.linalg.qr(columns)[0])


def _clipped(Q: FloatArray) -> FloatArray:
    """Rows clipped to their root mean square length, orthonormal again."""
    lengths = np.linalg.norm(Q, axis=1)
    limit = math.sqrt(float(np.mean(lengths**2)))
    return np.asarray(np.linalg.qr(Q * np.minimum(1.0, limit / np.maximum(lengths, limit))[:, None])[0])


def pair_norm(X: FloatArray) -> float:
    """Root mean square of the two largest row norms."""
    squares = np.einsum("ij,ij->i", X, X)
    return math.sqrt(float(np.sort(squares)[-2:].mean()))
