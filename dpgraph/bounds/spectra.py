r"""What one edge can change in the spectrum of a graph, in eigenspaces and in cores: one bound a function.

Neighbouring graphs differ in the weight of one vertex pair {i, j}, by at most w = `max_weight`. Throughout,
d are weighted degrees, c = d + tau with a public or privately released tau >= 0, A = C^{-1/2} (adjacency) C^{-1/2} with
C = diag(c), and m = `lower` is a lower bound on min_i c_i valid for both neighbours, m >= tau and m >= w.

**The change of A.** Let G have weight u and G' weight v < u at {i, j}, delta = u - v <= w; write a = c_i, b = c_j in G,
a' = a - delta, b' = b - delta in G', and alpha_i = 1 - sqrt(a'/a). Every entry of row i other than (i, j) shrinks by
the factor sqrt(a'/a) when delta is added, so E = A(G) - A(G') has

    E_ik = -alpha_i A'_ik for k != i, j,   E_ij = delta/sqrt(ab) - (alpha_i + alpha_j - alpha_i alpha_j) A'_ij,

and no other nonzero entries. Also alpha_i <= alpha := (w/(m+w)) / (1 + sqrt(m/(m+w))).
"""

import math

import numpy as np

from dpgraph.exceptions import InvalidParameterError

#: LAPACK's symmetric eigenvalues err by at most this many units of rounding, times n and the norm of the matrix.
_BACKWARD_ERROR = 10.0


def alpha(max_weight: float, lower: float) -> float:
    """Largest relative shrinking of a row: (w/(m+w)) / (1 + sqrt(m/(m+w)))."""
    _check(max_weight, lower)
    w, m = max_weight, lower
    return (w / (m + w)) / (1 + math.sqrt(m / (m + w)))


def spectral_norm(max_weight: float, lower: float) -> float:
    """Bound e on the spectral norm of A(G) - A(G'): w/m.

    By Weyl each eigenvalue, and each singular value, changes by at most e.

    Proof: docs/theory.md, "Proofs".
    """
    _check(max_weight, lower)
    return max_weight / lower


def frobenius(max_weight: float, lower: float) -> float:
    """Bound on ||A(G) - A(G')||_F, and on the l2 change of the whole sorted vector of singular values.

    ||E||_F^2 = 2 (E_ij^2 + alpha_i^2 sum_k A'_ik^2 + alpha_j^2 sum_k A'_jk^2), k != i, j. Where E_ij >= 0,
    E_ij <= delta/sqrt(ab) <= w/(m+w); and sum_k A'_ik^2 <= max_k (w_ik/c_k) sum_k w_ik/a' <= w/m. So the bound is
    sqrt(2 ((w/(m+w))^2 + 2 alpha^2 w/m)). Sorted singular values change by at most ||E||_F in l2 (Mirsky).
    """
    w, m = max_weight, lower
    return math.sqrt(2 * ((w / (m + w)) ** 2 + 2 * alpha(w, m) ** 2 * w / m))


def basis_product(max_weight: float, lower: float) -> float:
    """Bound on ||E U||_F / kappa for orthonormal U, kappa = max_i ||U_i||: about 2.12 w/m.

    Used with the papers' rank-r coherence mu_r = n kappa^2 / r.

    Proof: docs/theory.md, "Proofs".
    """
    w, m = max_weight, lower
    return (w / m) * math.sqrt(4.5 + 4 * (alpha(w, m) * m / w) ** 2 * w / m)


def degree_corrected_product(max_weight: float, lower: float, regularization: float) -> float:
    r"""Bound D on ||E U||_F / kappa_D for orthonormal U, kappa_D = max_i ||U_i|| / sqrt(c_i).

    D = (w/sqrt(m)) sqrt(2 (3/2 - tau/(2m))^2 + w/m). At tau = 0 it is about 2.12 w/sqrt(m); at tau = m it is about
    sqrt(2) w/sqrt(m), the bound of an adjacency matrix that is not normalised at all.

    Proof: docs/theory.md, "Proofs".
    """
    _check(max_weight, lower, regularization)
    w, m, tau = max_weight, lower, regularization
    return (w / math.sqrt(m)) * math.sqrt(2 * (1.5 - tau / (2 * m)) ** 2 + w / m)


def projector(product: float, coherence: float, gap: float, norm: float) -> float:
    """Bound on ||P - P'||_F, P the projector on the top-r |eigenvalue| space: sqrt(2) D kappa / (g - e).

    D = `product` bounds ||E U||_F / kappa (:func:`degree_corrected_product` or :func:`basis_product`), `coherence` is
    an upper bound on kappa_D, or kappa, of the input, `gap` a lower bound g on its sigma_r - sigma_{r+1}, and `norm`
    bounds the spectral norm e of E. Where g <= e one neighbour could close the gap, and nothing bounds the change.

    *Proof.* Davis-Kahan: the top |eigenvalues| of A lie outside, the rest of A' inside an interval, at distance at
    least g - e; hence ||U_perp'' U||_F <= ||E U||_F / (g - e) (constant 1 for this configuration) and ||P - P'||_F is
    sqrt(2) times the left side.
    """
    return math.sqrt(2.0) * product * coherence / _open_gap(gap, norm)


def computed_subspace(rank: int, residual: float, gap: float, norm: float) -> float:
    """What residuals of computed eigenvectors add to the bound on ||U_perp'' U||_F: (1 + sqrt(2)) sqrt(r) eta/(g - e).

    The columns of the residual R = A U - U Theta of computed vectors U have norm at most eta = `residual`. The gap is
    smaller by at most 4 sqrt(r) eta, which the caller has subtracted from `gap`
    (:meth:`dpgraph.releases.eigenspaces.spectrum.ReleasedSpectrum.gap_lower_bounds`). All coherences are those of the
    computed U. Proof: docs/theory.md, "Proofs".
    """
    return (1 + math.sqrt(2.0)) * math.sqrt(rank) * residual / _open_gap(gap, norm)


def log_coherence(max_weight: float, lower: float, product: float, gap: float, computed: float = 0.0) -> float | None:
    """Bound on the change of ln kappa_D, or None when it does not apply (x >= 1).

    `computed` is :func:`computed_subspace` over a lower bound on the largest ||P e_i||; it is added to x.

    x = D/(sqrt(m) (g - e)). ||P e_i|| changes by at most ||P - P'|| <= kappa_D D/(g - e) <= x kappa_D sqrt(c_i), and
    c_i by at most the factor 1 + w/m: max(ln(sqrt(1 + w/m) + x), -ln(1 - x) + ln(1 + w/m)/2).
    """
    left = gap - spectral_norm(max_weight, lower)
    x = computed + product / (math.sqrt(lower) * left) if left > 0 else math.inf
    if x >= 1:
        return None
    ratio = 1 + max_weight / lower
    return max(math.log(math.sqrt(ratio) + x), -math.log1p(-x) + 0.5 * math.log(ratio))


def coherence_bound(max_weight: float, lower: float, sigma_lower: float) -> float:
    """Upper bound on kappa_D from a lower bound on sigma_r: min(sqrt(w)/(sigma_r m), 1/sqrt(m)).

    U_i = (A U)_i / lambda, ||(A U)_i|| <= ||A_i|| <= sqrt(w/m) sqrt(d_i/c_i), and c_i >= m.
    """
    _check(max_weight, lower)
    from_spectrum = math.sqrt(max_weight) / (sigma_lower * lower) if sigma_lower > 0 else math.inf
    return min(from_spectrum, 1 / math.sqrt(lower))


def core_release(max_weight: float, lower: float, row_norm: float, regularization: float = 0.0) -> float:
    """Bound on ||Q'EQ||_*, hence on ||Q'EQ||_F, for a public Q with rows of norm at most kappa = `row_norm`.

    2 kappa^2 (w/(m+w) + w (1 - tau/x)/sqrt(m x)), x = max(m, 3 tau): at most 4 kappa^2 w/m, and about 2.8 kappa^2 w/m
    when m = tau is large.

    Proof: docs/theory.md, "Proofs".
    """
    _check(max_weight, lower, regularization)
    w, m, tau = max_weight, lower, regularization
    x = max(m, 3 * tau)
    return 2 * row_norm**2 * (w / (m + w) + w * (1 - tau / x) / math.sqrt(m * x))


def stability_steps(shift: float, width: float) -> float:
    """Change of D, the number of edges until an eigenspace becomes unstable, as computed: 1 + 2 `shift` + `width`.

    Proof: docs/theory.md, "Proofs".
    """
    return 1 + 2 * shift + width


def general_projector(sensitivity: float, coherence: float, gap: float) -> float:
    """||P - P'||_F for general symmetric neighbours, Delta = `sensitivity`: sqrt(2) Delta kappa/(g - Delta).

    Neighbours: ||E U||_F <= Delta for every U with rows of norm at most 1; g > 2 Delta. Davis and Kahan as in
    :func:`projector`, with ||E|| <= Delta.
    """
    _open_gap(gap, 2 * sensitivity)
    return math.sqrt(2.0) * sensitivity * coherence / (gap - sensitivity)


def singular_projectors(sensitivity: float, coherence: float, gap: float) -> float:
    """Change of the projectors on the r leading left and right singular vectors together: 2 Delta kappa/(g - Delta).

    That is, of sqrt(||P_U - P_U'||_F^2 + ||P_V - P_V'||_F^2). Neighbours: ||E X||_F <= Delta and ||E' X||_F <= Delta
    for every X with rows of norm at most 1, Delta = `sensitivity`; kappa = `coherence` bounds the rows of U and of V,
    and g = `gap` > 3 Delta is a lower bound on sigma_r - sigma_{r+1}. The number of rows and of columns does not enter.

    *Proof.* S = [[0, A], [A', 0]] has the eigenvalues +-sigma_i, with eigenvectors (u_i, +-v_i)/sqrt(2). So its 2r
    leading eigenvectors span the columns of W = diag(U, V), and their projector is diag(P_U, P_V): its blocks off the
    diagonal are zero for every A, and need no noise. The change F = [[0, E], [E', 0]] of S has the spectral norm
    ||E|| <= Delta (X a unit vector), and ||F W||_F^2 = ||E V||_F^2 + ||E' U||_F^2 <= 2 Delta^2 kappa^2. Davis and Kahan
    as in :func:`projector`: sqrt(2) sqrt(2) Delta kappa/(g - Delta). In spectral norm, where
    ||F W|| = max(||E V||, ||E' U||) <= Delta kappa, the bound on ln kappa is :func:`general_log_coherence`. Sorted
    singular values, each taken once, change by at most ||E||_F <= Delta (X = I; Mirsky).
    """
    _open_gap(gap, 3 * sensitivity)
    return 2 * sensitivity * coherence / (gap - sensitivity)


def computed_singular_projectors(rank: int, residual: float, gap: float, norm: float) -> float:
    """What residuals of 2r = `rank` computed eigenvectors W of S add to :func:`singular_projectors`, for gap > 3 norm.

    The blocks X of W on the diagonal of W W' are only nearly projectors; what is released are the nearest projectors
    of rank r. Let P = diag(P_U, P_V) be exact. By Davis and Kahan ||W W' - P||_F <= sqrt(2) sqrt(2r) eta/h, with h the
    gap of the matrix itself: at least g for one and g - 2 Delta > g/3 for the other of two neighbours. To set the
    blocks off the diagonal to zero does not take W W' further from P, nor a neighbour's W W' further from it. The
    nearest projectors are no further from the blocks than P is. So either side adds at most 3 sqrt(2) sqrt(2r) eta/g
    to the sqrt(2) :func:`computed_subspace` of W W' itself, and g - Delta < g.
    """
    rounded = 6 * math.sqrt(rank) * residual / _open_gap(gap, norm)
    return math.sqrt(2.0) * (computed_subspace(rank, residual, gap, norm) + rounded)


def general_log_coherence(sensitivity: float, gap: float, computed: float = 0.0) -> float | None:
    """Change of ln kappa for general symmetric neighbours: -ln(1 - x), x = Delta/(g - Delta); None when x >= 1.

    `computed` is added to x as in :func:`log_coherence`.
    """
    left = gap - sensitivity
    x = computed + sensitivity / left if left > 0 else math.inf
    return -math.log1p(-x) if x < 1 else None


def general_core(sensitivity: float, row_norm: float) -> float:
    """||Q'EQ||_F <= kappa_Q Delta for a public orthonormal Q whose rows have norm at most kappa_Q."""
    return row_norm * sensitivity


def whole_adjacency_spectrum(max_weight: float, n: int) -> float:
    """Change in l2 of all n sorted eigenvalues of the adjacency matrix, as computed: sqrt(2) w plus rounding.

    E = w (e_i e_j' + e_j e_i'), and the sorted eigenvalues of symmetric matrices change by at most ||E||_F in l2
    (Hoffman and Wielandt). Computed ones are off by at most 10 n u ||A|| each, ||A|| <= n w, for both neighbours.
    """
    return math.sqrt(2.0) * max_weight + _eigenvalue_rounding(n, n * max_weight)


def whole_laplacian_spectrum(max_weight: float, n: int) -> float:
    """Change in l2 of all n sorted eigenvalues of the Laplacian, as computed: 2 w plus rounding.

    E = w (e_i - e_j)(e_i - e_j)', of Frobenius norm 2 w; the Laplacian has norm at most 2 n w
    (see :func:`whole_adjacency_spectrum`).
    """
    return 2.0 * max_weight + _eigenvalue_rounding(n, 2 * n * max_weight)


def _eigenvalue_rounding(n: int, norm: float) -> float:
    """Bound on the l2 change of n computed eigenvalues by rounding alone, summed over both neighbours."""
    return 2 * math.sqrt(n) * _BACKWARD_ERROR * n * float(np.finfo(np.float64).eps) * norm


def _check(max_weight: float, lower: float, regularization: float = 0.0) -> None:
    if not (max_weight > 0 and lower >= max_weight):
        raise InvalidParameterError(
            f"sensitivity bounds need lower >= max_weight > 0; got lower={lower!r}, max_weight={max_weight!r}"
        )
    if not 0 <= regularization <= lower:
        raise InvalidParameterError(
            f"regularization must lie in [0, lower]; got {regularization!r} with lower={lower!r}"
        )


def _open_gap(gap: float, norm: float) -> float:
    """What is left of a gap after one neighbour, or an error if that is nothing (NaN included)."""
    if not gap > norm:
        raise InvalidParameterError(
            f"a subspace has bounded sensitivity only where gap > norm; got gap={gap!r}, norm={norm!r}"
        )
    return gap - norm
