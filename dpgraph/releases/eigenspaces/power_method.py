"""A private low-rank adjacency from products with public bases, all of which are kept.

The basis Q (n x r, orthonormal) is public, so releasing A Q + noise costs w sqrt(||Q_i||^2 + ||Q_j||^2) for an edge
{i, j} (M. Hardt, E. Price, NIPS 2014, Algorithm 1). Beyond the published method all products count
(:mod:`dpgraph.denoise.ritz`), and the first column starts from the noisy degrees. As long as released Ritz values show
no gap after the rank, the next basis is the last product, as published, with a few columns more than asked for. Then it
is the answer of all products, whose noise averages out. For an embedding (`denoise`) that answer has posterior means of
its rows, under the law of all rows (:mod:`dpgraph.denoise.empirical_bayes`).
"""

import math
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from dpgraph.bounds import sensitivity
from dpgraph.bounds.neighbours import row_norms
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_means, unless_vanished
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.denoise.ritz import Answer, Space
from dpgraph.graph import Graph
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call, Measurement
from dpgraph.progress import BAR
from dpgraph.releases.eigenspaces.krylov import orthonormal, polar
from dpgraph.releases.eigenspaces.projector import CORE_ALLOWANCE
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.releases.totals import release_degrees
from dpgraph.tuning import KRYLOV, POWER
from dpgraph.typing import FloatArray

#: Rank under rank="auto".
POWER_RANK = 2
#: Lengths at which rows may be cut off.
_CUTS = 12


@dataclass(frozen=True)
class LowRankAdjacency:
    """R A R, R = diag(rows), is close to Q B Q'."""

    # Noisy
    degrees: FloatArray
    # Q, orthonormal, shape (n, r)
    basis: FloatArray
    # B, diagonal, in decreasing order of |entry|: Q' R A R Q plus noise
    core: FloatArray


def check_products(n: int, rank: int) -> None:
    """Refuse a low-rank version of an n x n matrix whose products would not fit into memory."""
    what = f"the noisy power method of rank {rank} on {n} rows"
    check_memory(what, products=(2 * (KRYLOV.first + 1), n, rank + _extra(n, rank)))


def row_scales(degrees: FloatArray, regularization: float, max_weight: float) -> FloatArray:
    """(released d_i + tau)^{-1/2}, the sum floored at max(tau, w)."""
    return np.asarray(1 / np.sqrt(np.maximum(degrees + regularization, max(regularization, max_weight))))


def release_low_rank_adjacency(
    graph: Graph, rank: int, call: Call, *, regularization: float | None = None, denoise: bool = False
) -> LowRankAdjacency:
    """Release degrees and a low-rank adjacency, for a Gaussian part of a budget.

    With a public tau = `regularization` the matrix is R A R with the R of :func:`row_scales`, else A itself. `denoise`
    takes posterior means of the rows, where there are enough of them.

    Notes
    -----
    *Guarantee.* Gaussian DP of the part's mu: degrees, products (:func:`~dpgraph.bounds.sensitivity.row_release`) and
    core (:func:`~dpgraph.bounds.sensitivity.adjacency_core`) compose, as each basis is a function of releases before.
    """
    call = call.at_mu(call.mu)  # all shares below are shares of this part
    w, n, side = graph.max_weight, graph.n_vertices, call.part(POWER.side_share)
    degrees, std = release_degrees(graph, side)
    rows = np.ones(n) if regularization is None else row_scales(degrees, regularization, w)
    start = rows * shrunken_degrees(degrees, float(degrees.mean()), std, w)
    iteration = _Iteration(rows, _first_basis(n, rank, call, start), rank, denoise=denoise)
    step = call.without(side, side).equal_part(KRYLOV.first)
    for t in tqdm(range(KRYLOV.first), desc="products", disable=BAR.get() is None):
        if t:
            iteration.go_on(may_seek=t < (1 - KRYLOV.reserve) * KRYLOV.first)
        scaled = rows[:, None] * iteration.basis
        bound, error = sensitivity.row_release(w, pair_norm(scaled)), sensitivity.product_rounding(w, scaled)
        released = step.release(Measurement(f"power iteration {t + 1}", graph.multiply(scaled), l2=bound, error=error))
        iteration.add(released.value, released.std)
    Q = polar(iteration.vectors())
    scaled = rows[:, None] * Q
    bound = sensitivity.adjacency_core(w, scaled)
    error = CORE_ALLOWANCE * bound / side.mu * rank
    core = release_symmetric(Measurement("core", scaled.T @ graph.multiply(scaled), l2=bound, error=error), side).matrix
    values, vectors = np.linalg.eigh(core)
    order = np.argsort(-np.abs(values))
    return LowRankAdjacency(degrees, Q @ vectors[:, order], np.diag(values[order]))


class _Iteration:
    """Released products of R A R, and the public basis of the next one."""

    def __init__(self, rows: FloatArray, first: FloatArray, rank: int, *, denoise: bool) -> None:
        self._rows, self._rank = rows, rank
        self._denoise = denoise and enough_rows(len(rows), rank)
        self._size = math.sqrt(float(np.mean(rows**2)))
        self._space = Space((len(rows), len(rows)), KRYLOV.first * first.shape[1], symmetric=True, fresh=True)
        self.basis = first

    def add(self, product: FloatArray, std: float) -> None:
        """Keep the released A R Q for the present basis Q."""
        self._last, self._std = self._rows[:, None] * product, std * self._size
        self._space.add(0, self.basis, self._last, self._std)

    def go_on(self, *, may_seek: bool) -> None:
        """Go on to the next basis."""
        estimate = self._space.estimate(self._rank)
        wide = self.basis.shape[1] > self._rank
        seeks = may_seek and wide and not _shows_gap(estimate.values, self._rank, self._std)
        following = self._last if seeks else self._means(estimate.answers[0])
        wanted = max(float(row_norms(self.basis).max() * estimate.sizes.min()), np.finfo(float).tiny)
        self.basis = _shortened(orthonormal(following), math.sqrt(len(following)) * self._std / wanted)

    def vectors(self) -> FloatArray:
        """The answer of all products."""
        return self._means(self._space.estimate(self._rank).answers[0])

    def _means(self, answer: Answer) -> FloatArray:
        if not self._denoise:
            return answer.vectors
        means = posterior_means(answer.vectors, answer.covariance, self._rows / self._size)
        return unless_vanished(means, answer.vectors)


def _shows_gap(values: FloatArray, rank: int, std: float) -> bool:
    """Whether Ritz values in decreasing order drop to a half after the rank, and noise could not be the last of them.

    The spectrum of symmetric noise of this standard deviation ends at 2 std sqrt(k) for k values.
    """
    sizes = np.abs(values)
    return bool(max(sizes[rank : rank + 1].sum(), 2.0 * std * math.sqrt(len(sizes))) <= sizes[rank - 1] / 2)


def _shortened(Q: FloatArray, noise: float) -> FloatArray:
    """An orthonormal basis near Q, of shorter rows, whose product is expected to have the least error.

    The next product has noise in proportion to its longest row: of the norm `noise` for a row of length 1, in units of
    the value that is sought. It halves the part of Q that was cut off, if values below are half of that one.
    """
    lengths, best, least = row_norms(Q), Q, math.inf
    for longest in np.geomspace(math.sqrt(float(np.mean(lengths**2))), float(lengths.max()), _CUTS):
        cut = orthonormal(Q * np.minimum(1.0, longest / np.maximum(lengths, longest))[:, None])
        kept = max(float(np.linalg.svd(cut.T @ Q, compute_uv=False).min()) ** 2, np.finfo(float).tiny)
        error = math.hypot(noise * float(row_norms(cut).max()), math.sqrt(max(1.0 - kept, 0.0)) / 2) / math.sqrt(kept)
        if error < least:
            best, least = cut, error
    return best


def _first_basis(n: int, rank: int, call: Call, start: FloatArray) -> FloatArray:
    """Orthonormalise the public start, and random signs, whose rows are as long as each other."""
    columns = call.generator.choice(np.array([-1.0, 1.0]), size=(n, rank + _extra(n, rank)))
    columns[:, 0] = start
    return orthonormal(columns)


def _extra(n: int, rank: int) -> int:
    """Columns beyond the rank until a gap shows."""
    return min(POWER.extra, n - rank)


def pair_norm(X: FloatArray) -> float:
    """Root mean square of the two largest row norms."""
    squares = np.einsum("ij,ij->i", X, X)
    return math.sqrt(float(np.sort(squares)[-2:].mean()))
