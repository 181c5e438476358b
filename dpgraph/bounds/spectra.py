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

__all__ = [
    "alpha",
    "basis_product",
    "coherence_bound",
    "computed_subspace",
    "core_release",
    "degree_corrected_product",
    "frobenius",
    "general_core",
    "general_log_coherence",
    "general_projector",
    "log_coherence",
    "projector",
    "spectral_norm",
    "stability_steps",
    "whole_adjacency_spectrum",
    "whole_laplacian_spectrum",
]

#: LAPACK's symmetric eigenvalues err by at most this many units of rounding, times n and the norm of the matrix.
_BACKWARD_ERROR = 10.0


def alpha(max_weight: float, lower: float) -> float:
    """Largest relative shrinking of a row: (w/(m+w)) / (1 + sqrt(m/(m+w)))."""
    _check(max_weight, lower)
    w, m = max_weight, lower
    return (w / (m + w)) / (1 + math.sqrt(m / (m + w)))


def spectral_norm(max_weight: float, lower: float) -> float:
    """Bound e on the spectral norm of A(G) - A(G'): w/m.

    By Weyl each eigenvalue, and each singular value, moves by at most e.

    *Proof.* Let r = sqrt(m/(m+w)), so that e = (1-r)(1+r)/r^2 and all alpha_i <= 1 - r. Let x be a unit vector with
    p^2 = x_i^2 + x_j^2. By Cauchy and Schwarz (sum_k A'_ik |x_k|)^2 <= g_i := sum_k w_ik x_k^2/c_k, as the weights w_ik
    at i sum to at most a'. Since w_ik + w_jk is at most 2 w and at most c_k, g_i + g_j <= t sum_k x_k^2 with
    t = min(1, 2e), over the k that the sums range over.

    If E_ij >= 0, it is at most w/(m+w) = 1 - r^2, and the sums range over k != i, j: |x'Ex| <= (1-r^2) p^2 +
    2 (1-r) (|x_i| sqrt(g_i) + |x_j| sqrt(g_j)) <= (1-r^2) p^2 + 2 (1-r) sqrt(t) p sqrt(1-p^2). That is at most e, as
    e (e - (1-r^2)) = (1-r)^2 (1+r)^2 e/r^2 >= (1-r)^2 4e >= (1-r)^2 t. If E_ij < 0, then |E_ij| is at most
    (alpha_i + alpha_j) A'_ij, which completes the sums: |x'Ex| <= 2 (1-r) sqrt(t) <= 2 (1-r) <= e.
    """
    _check(max_weight, lower)
    return max_weight / lower


def frobenius(max_weight: float, lower: float) -> float:
    """Bound on ||A(G) - A(G')||_F, and on the l2 change of the whole sorted vector of singular values.

    ||E||_F^2 = 2 (E_ij^2 + alpha_i^2 sum_k A'_ik^2 + alpha_j^2 sum_k A'_jk^2), k != i, j. Where E_ij >= 0,
    E_ij <= delta/sqrt(ab) <= w/(m+w); and sum_k A'_ik^2 <= max_k (w_ik/c_k) sum_k w_ik/a' <= w/m. So the bound is
    sqrt(2 ((w/(m+w))^2 + 2 alpha^2 w/m)). Sorted singular values move by at most ||E||_F in l2 (Mirsky).
    """
    w, m = max_weight, lower
    return math.sqrt(2 * ((w / (m + w)) ** 2 + 2 * alpha(w, m) ** 2 * w / m))


def basis_product(max_weight: float, lower: float) -> float:
    """Bound on ||E U||_F / kappa for orthonormal U, kappa = max_i ||U_i||: about 2.12 w/m.

    Used with the papers' rank-r coherence mu_r = n kappa^2 / r.

    *Proof.* Row i. As c_k >= m, sum_k A'_ik <= sqrt(a'/m), and alpha_i sqrt(a') <= w/(2 sqrt(m)). So if E_ij >= 0,
    ||(EU)_i|| <= kappa (E_ij + alpha_i sum_k A'_ik) <= kappa (w/m + w/(2m)). If E_ij < 0, alpha_i A'_ij completes the
    sum and what is left of |E_ij| is at most alpha_j A'_ij <= alpha_j <= w/m: the same bound. Rows k other than i, j:
    ||(EU)_k|| <= kappa alpha (A'_ki + A'_kj), whose squares sum to at most kappa^2 alpha^2 4 w/m, as
    sum_k A'_ik^2 <= w/m. Adding both rows and the rest gives (w/m)^2 (4.5 + 4 (alpha m/w)^2 w/m) kappa^2.
    """
    w, m = max_weight, lower
    return (w / m) * math.sqrt(4.5 + 4 * (alpha(w, m) * m / w) ** 2 * w / m)


def degree_corrected_product(max_weight: float, lower: float, regularization: float) -> float:
    r"""Bound D on ||E U||_F / kappa_D for orthonormal U, kappa_D = max_i ||U_i|| / sqrt(c_i).

    D = (w/sqrt(m)) sqrt(2 (3/2 - tau/(2m))^2 + w/m). At tau = 0 it is about 2.12 w/sqrt(m); at tau = m it is about
    sqrt(2) w/sqrt(m), the bound of an adjacency matrix that is not normalised at all.

    *Proof.* Let kappa_D be taken with the degrees of G (of G' it is the same with smaller numbers).

    Row i. Where E_ij >= 0, E_ij <= delta/sqrt(ab) and ||U_j|| <= kappa_D sqrt(b), while
    sum_k A'_ik ||U_k|| <= kappa_D sum_k w_ik/sqrt(a') <= kappa_D (a' - tau)/sqrt(a'), so that
    ||(EU)_i|| <= kappa_D (delta/sqrt(a) + alpha_i sqrt(a') (1 - tau/a')). As alpha_i sqrt(a') =
    delta sqrt(a') / (sqrt(a) (sqrt(a) + sqrt(a'))) <= delta/(2 sqrt(a)), this is at most
    kappa_D (w/sqrt(a')) (3/2 - tau/(2a')), which decreases in a' >= tau and so is largest at a' = m. Where E_ij < 0,
    |E_ij| sqrt(b) <= (alpha_i + alpha_j) v sqrt(b/b')/sqrt(a'), of which alpha_i v/sqrt(a') completes the sum over k
    and the rest is at most (delta/2)(1 + alpha_i)/sqrt(a') <= delta/sqrt(a) because a <= 2a' (m >= w): the same bound.

    Rows k other than i, j: ||(EU)_k|| <= kappa_D (alpha_i sqrt(a) A'_ki + alpha_j sqrt(b) A'_kj), and
    alpha_i sqrt(a) <= w/(2 sqrt(m)), sum_k A'_ki^2 <= w/m: their squares sum to at most kappa_D^2 (w^2/m)(w/m).
    Adding rows i, j and the rest gives D^2 kappa_D^2.
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

    *Proof.* Let U be computed orthonormal vectors with Ritz values and a residual R = A U - U Theta whose columns have
    norm at most eta = `residual`. U spans an invariant subspace of A + H exactly, with H U = -R and H symmetric,
    ||H||_2 <= ||R||_F <= sqrt(r) eta and ||H||_F <= sqrt(2 r) eta; likewise U' for A' + H'. Between these two matrices
    Davis-Kahan applies as in :func:`projector`, with ||(E + H - H') U||_F <= ||E U||_F + (1 + sqrt(2)) sqrt(r) eta. The
    gap between them is smaller by at most 4 sqrt(r) eta, which the caller has subtracted from `gap`
    (:meth:`dpgraph.releases.eigenspaces.spectrum.ReleasedSpectrum.gap_lower_bounds`). All coherences are those of the
    computed U.
    """
    return (1 + math.sqrt(2.0)) * math.sqrt(rank) * residual / _open_gap(gap, norm)


def log_coherence(max_weight: float, lower: float, product: float, gap: float, computed: float = 0.0) -> float | None:
    """Bound on the change of ln kappa_D, or None when it does not apply (x >= 1).

    `computed` is :func:`computed_subspace` over a lower bound on the largest ||P e_i||; it is added to x.

    x = D/(sqrt(m) (g - e)). ||P e_i|| moves by at most ||P - P'|| <= kappa_D D/(g - e) <= x kappa_D sqrt(c_i), and c_i
    by at most the factor 1 + w/m: max(ln(sqrt(1 + w/m) + x), -ln(1 - x) + ln(1 + w/m)/2).
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

    *Proof.* E = e_i f_i' + f_i e_i' + e_j f_j' + f_j e_j' with f_i = (E_ij/2) e_j - alpha_i sum_k A'_ik e_k (k != i, j)
    and f_j likewise. A matrix q g' + g q' has the eigenvalues q'g +- ||q|| ||g||, hence nuclear norm 2 ||q|| ||g||. So
    ||Q'EQ||_* <= 2 kappa (||Q'f_i|| + ||Q'f_j||) <= 2 kappa^2 (|E_ij| + alpha_i S_i + alpha_j S_j), S_i = sum_k A'_ik
    over k != i, j. As c_k >= m, S_i + A'_ij <= (a' - tau)/sqrt(a' m), and alpha_i <= delta/(2a'), so that
    alpha_i (S_i + A'_ij) <= (w/2) (1 - tau/a')/sqrt(m a'), whose largest value over a' >= m is at a' = x. If E_ij >= 0,
    it is at most delta/sqrt(ab) <= w/(m+w), and the sum is as stated; if E_ij < 0, |E_ij| <= (alpha_i + alpha_j) A'_ij
    completes S_i and S_j, and the first term is not needed.
    """
    _check(max_weight, lower, regularization)
    w, m, tau = max_weight, lower, regularization
    x = max(m, 3 * tau)
    return 2 * row_norm**2 * (w / (m + w) + w * (1 - tau / x) / math.sqrt(m * x))


def stability_steps(shift: float, width: float) -> float:
    """Change of D, the number of edges until an eigenspace becomes unstable, as computed: 1 + 2 `shift` + `width`.

    *Proof.* Let D be that of the exact state, D~ that of the computed one, and C the number that is released but for
    its noise. D moves by at most 1 (:mod:`dpgraph.bounds.stability`, theorem). In each world abs(D - D~) <= shift:
    errors of the state are overtaken within so many steps, as every speed is at least error/shift there
    (:class:`dpgraph.bounds.stability.Tolerances`). And D~ - width <= C <= D~, because C is a lower bound which an
    upper bound exceeds by at most `width` (:mod:`dpgraph.bounds.exit_time`). So D - shift - width <= C <= D + shift,
    and two such numbers differ by at most 1 + 2 shift + width. A cap on all of them changes nothing.
    """
    return 1 + 2 * shift + width


def general_projector(sensitivity: float, coherence: float, gap: float) -> float:
    """||P - P'||_F for general symmetric neighbours, Delta = `sensitivity`: sqrt(2) Delta kappa/(g - Delta).

    Neighbours: ||E U||_F <= Delta for every U with rows of norm at most 1; g > 2 Delta. Davis and Kahan as in
    :func:`projector`, with ||E|| <= Delta.
    """
    _open_gap(gap, 2 * sensitivity)
    return math.sqrt(2.0) * sensitivity * coherence / (gap - sensitivity)


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

    E = w (e_i e_j' + e_j e_i'), and the sorted eigenvalues of symmetric matrices move by at most ||E||_F in l2 (Hoffman
    and Wielandt). Computed ones are off by at most 10 n u ||A|| each, ||A|| <= n w, in both worlds.
    """
    return math.sqrt(2.0) * max_weight + _eigenvalue_rounding(n, n * max_weight)


def whole_laplacian_spectrum(max_weight: float, n: int) -> float:
    """Change in l2 of all n sorted eigenvalues of the Laplacian, as computed: 2 w plus rounding.

    E = w (e_i - e_j)(e_i - e_j)', of Frobenius norm 2 w; the Laplacian has norm at most 2 n w
    (see :func:`whole_adjacency_spectrum`).
    """
    return 2.0 * max_weight + _eigenvalue_rounding(n, 2 * n * max_weight)


def _eigenvalue_rounding(n: int, norm: float) -> float:
    """Bound on the l2 change of n computed eigenvalues by rounding alone, in two worlds together."""
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
