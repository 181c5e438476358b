"""The noisy power method: a private low-rank adjacency from public iterates, with exact Gaussian composition.

The iterate Q (n x r, orthonormal) is public, so releasing A Q + noise costs w sqrt(||Q_i||^2 + ||Q_j||^2) for an edge
{i, j} (M. Hardt, E. Price, NIPS 2014, Algorithm 1). Beyond the published method, all products are kept and averaged
(:mod:`dpgraph.denoise.products`), the first column starts from the noisy degrees, and a few more columns than asked for
are iterated until the leading ones are found. For an embedding (`denoise`), the longest rows of an iterate, which set
the noise of its product, are cut off as far as that is worth it. Once a gap shows, and at the end, rows are posterior
means under the law of all rows (:mod:`dpgraph.denoise.empirical_bayes`).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.arguments import check_memory
from dpgraph.bounds import sensitivity
from dpgraph.bounds.neighbours import row_norms
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis
from dpgraph.denoise.iterates import degree_of_an_end, shrunken_degrees
from dpgraph.denoise.products import Products
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Measurement
from dpgraph.progress import BAR, tqdm
from dpgraph.releases.eigenspaces.projector import CORE_ALLOWANCE
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.releases.totals import release_degrees
from dpgraph.tuning import EMBEDDING, POWER
from dpgraph.typing import FloatArray

#: Rank under rank="auto".
POWER_RANK = 2
#: More products than these take time and bring little.
MOST_PRODUCTS = 24
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


def release_low_rank_adjacency(
    graph: Graph, rank: int, call: Call, *, regularization: float | None = None, denoise: bool = False
) -> LowRankAdjacency:
    """Release degrees and a low-rank adjacency by the noisy power method, for a Gaussian part of a budget.

    With a public tau = `regularization` the matrix is R A R with the R of :func:`row_scales`, else A itself. `denoise`
    cuts off rows of iterates, and takes posterior means of the rows, where there are enough of them.

    Notes
    -----
    *Guarantee.* Gaussian DP of the part's mu: degrees, products (:func:`~dpgraph.bounds.sensitivity.row_release`) and
    core (:func:`~dpgraph.bounds.sensitivity.adjacency_core`) compose, as each iterate is a function of releases before.
    """
    call = call.at_mu(call.mu)  # all shares below are shares of this part
    w, for_degrees, for_core = graph.max_weight, call.part(EMBEDDING.side_share), call.part(EMBEDDING.side_share)
    degrees, std = release_degrees(graph, for_degrees)
    rows = np.ones(graph.n_vertices)
    if regularization is not None:
        rows = row_scales(degrees, regularization, w)
    shrunken = shrunken_degrees(degrees, float(degrees.mean()), std, w)
    products = call.without(for_degrees, for_core)
    extra = _extra(graph.n_vertices, rank) if products.mu * degree_of_an_end(degrees, std) >= POWER.wide * w else 0
    first = _first_basis(graph.n_vertices, rank + extra, call, rows * shrunken)
    denoise = denoise and enough_rows(graph.n_vertices, rank)
    seen = _release_products(graph, rows, first, rank, products, denoise=denoise)
    if denoise:
        seen.keep_leading(rank)
        Q = posterior_basis(seen.basis(), seen.covariance(), rows)
    else:
        Q = np.asarray(np.linalg.qr(seen.basis())[0])
    return LowRankAdjacency(degrees, *_release_core(graph, rows, Q, rank, for_core))


def check_products(n: int, rank: int, mu: float = math.inf) -> None:
    """Refuse a low-rank version of an n x n matrix, for at most this mu, whose products would not fit into memory."""
    copies = 2 * _iterations(mu) + 2
    what = f"the noisy power method of rank {rank} on {n} rows"
    check_memory(what, products=(copies, n, rank + _extra(n, rank)))


def _iterations(mu: float) -> int:
    return max(math.ceil(min(POWER.iterations * math.sqrt(mu), MOST_PRODUCTS)), POWER.least)


def _extra(n: int, rank: int) -> int:
    """Columns beyond the rank, where there are any."""
    return min(POWER.extra, 2 * rank - 1, n - rank)


def row_scales(degrees: FloatArray, regularization: float, max_weight: float) -> FloatArray:
    """(released d_i + tau)^{-1/2}, the sum floored at max(tau, w)."""
    return np.asarray(1 / np.sqrt(np.maximum(degrees + regularization, max(regularization, max_weight))))


def _release_products(
    graph: Graph, rows: FloatArray, Q: FloatArray, rank: int, call: Call, *, denoise: bool
) -> Products:
    """Release products of R A R, R = diag(rows), with iterates that improve, and refine the last basis."""
    iterations = _iterations(call.mu)
    step = call.at_mu(call.mu / math.sqrt(iterations))
    seen, w, wide, found = Products(Q, iterations), graph.max_weight, Q.shape[1] > rank, False
    for t in tqdm(range(iterations), desc="products", disable=BAR.get() is None):
        X = rows[:, None] * Q
        bound, error = sensitivity.row_release(w, pair_norm(X)), sensitivity.product_rounding(w, X)
        noisy, std = step.release(Measurement(f"power iteration {t + 1}", graph.multiply(X), l2=bound, error=error))
        product, noise = rows[:, None] * noisy, float(np.linalg.norm(rows)) * std  # the norm of noise in a column
        seen.add(product, std**2)
        if wide:
            value, spectrum = seen.drop_idle_columns(rank, noise), 2 * noise * math.sqrt(Q.shape[1] / len(Q))
            found = found or (denoise and spectrum <= value / 2)
        seen.improve(1.0 if found else POWER.decay)
        Q = seen.basis()
        if not denoise or t + 1 == iterations:
            continue
        if found:
            Q = posterior_basis(Q, seen.covariance(), rows)
        if wide:
            Q = seen.replace_basis(_shortened(Q, noise / _size(product, noise, rank)))
        else:
            Q = seen.replace_basis(_clipped(Q))
    seen.improve(1.0)
    return seen


def _size(product: FloatArray, noise: float, rank: int) -> float:
    """Norm of column `rank` of a product, the longest first, without its noise."""
    squares = np.sort(np.einsum("ij,ij->j", product, product) - noise**2)
    return math.sqrt(max(float(squares[-rank]), np.finfo(float).tiny))


def _release_core(
    graph: Graph, rows: FloatArray, Q: FloatArray, rank: int, call: Call
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenvectors of Q B Q', and the diagonal core on them, for a released B."""
    X = rows[:, None] * Q
    exact, bound = Q.T @ (rows[:, None] * graph.multiply(X)), sensitivity.adjacency_core(graph.max_weight, X)
    error = CORE_ALLOWANCE * bound / call.mu * len(exact)
    core = release_symmetric(Measurement("core", exact, l2=bound, error=error), call).matrix
    values, vectors = np.linalg.eigh(core)
    kept = np.argsort(-np.abs(values))[:rank]
    return Q @ vectors[:, kept], np.diag(values[kept])


def _first_basis(n: int, columns: int, call: Call, start: FloatArray) -> FloatArray:
    """Orthonormalise the public start, and random signs, whose rows are as long as each other."""
    basis = call.generator.choice(np.array([-1.0, 1.0]), size=(n, columns))
    basis[:, 0] = start
    return np.asarray(np.linalg.qr(basis)[0])


def _clipped(Q: FloatArray, longest: float | None = None) -> FloatArray:
    """Rows clipped to this length, or their root mean square one, orthonormal again."""
    lengths = row_norms(Q)
    limit = math.sqrt(float(np.mean(lengths**2))) if longest is None else longest
    return np.asarray(np.linalg.qr(Q * np.minimum(1.0, limit / np.maximum(lengths, limit))[:, None])[0])


def _shortened(Q: FloatArray, noise: float) -> FloatArray:
    """An orthonormal basis near Q, of shorter rows, whose product is expected to have the least error.

    The next product has noise in proportion to its longest row: of the norm `noise` for a row of length 1, in units of
    the value that is sought. Of the part of Q that was cut off it leaves a quarter, the root mean square of a
    semicircle of values that ends at half of that one.
    """
    lengths, best, least = row_norms(Q), Q, math.inf
    for longest in np.geomspace(math.sqrt(float(np.mean(lengths**2))), float(lengths.max()), _CUTS):
        cut = _clipped(Q, longest)
        kept = max(float(np.linalg.svd(cut.T @ Q, compute_uv=False).min()) ** 2, np.finfo(float).tiny)
        error = math.hypot(noise * float(row_norms(cut).max()), math.sqrt(max(1.0 - kept, 0.0)) / 4) / math.sqrt(kept)
        if error < least:
            best, least = cut, error
    return best


def pair_norm(X: FloatArray) -> float:
    """Root mean square of the two largest row norms."""
    squares = np.einsum("ij,ij->i", X, X)
    return math.sqrt(float(np.sort(squares)[-2:].mean()))
