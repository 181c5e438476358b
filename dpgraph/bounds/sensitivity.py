r"""What one edge can change: every sensitivity bound on graph spectra, one function each.

Neighbouring graphs differ in the weight of one vertex pair {i, j}, by at most w = `max_weight`. Throughout,
d are weighted degrees, c = d + tau with a public or privately released tau >= 0, A = C^{-1/2} (adjacency) C^{-1/2} with
C = diag(c), and m = `lower` is a lower bound on min_i c_i valid for both neighbours, m >= tau and m >= w.

**The change of A.** Let G have weight u and G' weight v < u at {i, j}, delta = u - v <= w; write a = c_i, b = c_j in G,
a' = a - delta, b' = b - delta in G', and alpha_i = 1 - sqrt(a'/a). Every entry of row i other than (i, j) shrinks by
the factor sqrt(a'/a) when delta is added, so E = A(G) - A(G') has

    E_ik = -alpha_i A'_ik for k != i, j,   E_ij = delta/sqrt(ab) - (alpha_i + alpha_j - alpha_i alpha_j) A'_ij,

and no other nonzero entries. Also alpha_i <= alpha := (w/(m+w)) / (1 + sqrt(m/(m+w))).

The bounds are proved in the docstrings and enumerated over all neighbours of many small graphs by
``tests/privacy/test_sensitivity.py``; docs/sensitivity.md lists the worst ratios found.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.reading_norm import ReadingNorm

__all__ = [
    "adjacency_core",
    "alpha",
    "basis_product",
    "clipped_degrees",
    "clipped_product",
    "coherence_bound",
    "computed_subspace",
    "constraint_rows",
    "constraint_rows_l1",
    "core_release",
    "degree_corrected_product",
    "degree_excess",
    "degree_tails",
    "degrees_l1",
    "degrees_l2",
    "first_sweep",
    "frobenius",
    "general_core",
    "general_log_coherence",
    "general_projector",
    "label_counts",
    "label_rows",
    "label_scores",
    "log_coherence",
    "minimum_degree",
    "partition_weight",
    "product_rounding",
    "projector",
    "repeated_readings",
    "row_release",
    "spectral_norm",
    "stability_steps",
    "whole_adjacency_spectrum",
    "whole_laplacian_spectrum",
]

#: LAPACK's symmetric eigenvalues err by at most this many units of rounding, times n and the norm of the matrix.
_BACKWARD_ERROR = 10.0


def _check(max_weight: float, lower: float) -> None:
    if not (max_weight > 0 and lower >= max_weight):
        raise InvalidParameterError(
            f"sensitivity bounds need lower >= max_weight > 0; got lower={lower!r}, max_weight={max_weight!r}"
        )


def _check_regularization(regularization: float, lower: float) -> float:
    if not 0 <= regularization <= lower:
        raise InvalidParameterError(
            f"regularization must lie in [0, lower]; got {regularization!r} with lower={lower!r}"
        )
    return regularization


def alpha(max_weight: float, lower: float) -> float:
    """Largest relative shrinking of a row: (w/(m+w)) / (1 + sqrt(m/(m+w)))."""
    _check(max_weight, lower)
    w, m = max_weight, lower
    return (w / (m + w)) / (1 + math.sqrt(m / (m + w)))


def minimum_degree(max_weight: float) -> float:
    """Change of min_i d_i: one pair moves two degrees by at most w, hence a minimum by at most w."""
    return max_weight


def degree_tails() -> float:
    """l1-sensitivity of the numbers of vertices of degree at least k, k = 1, ..., n - 1: 2, whatever the graph.

    *Proof.* An edge {i, j} more raises two degrees by one each, from d to d + 1. A vertex whose degree rises from d to
    d + 1 is counted once more, at k = d + 1, and nowhere else. The degree of a vertex is its number of edges, whatever
    they weigh.
    """
    return 2.0


def degrees_l2(max_weight: float) -> float:
    """Change of the degree vector in l2: two entries move by at most w, sqrt(2) w."""
    return math.sqrt(2.0) * max_weight


def degrees_l1(max_weight: float) -> float:
    """Change of the degree vector in l1: two entries move by at most w, 2 w."""
    return 2.0 * max_weight


def partition_weight(max_weight: float) -> float:
    """Change of the total weight, or of the cut weight of a *fixed* (released) partition: one pair counts or not, w."""
    return max_weight


def degree_excess(max_weight: float, share: float) -> float:
    """Change of sum_i max(d_i - a mean, 0) - share sum_i d_i, for a >= 1, with mean that of d: 2 (1 + share) w.

    Let a weight grow by at most w. Two terms of the first sum grow by at most w each. The mean grows by at most 2 w/n;
    fewer than n/a degrees exceed a times the mean, so that all terms together fall by at most 2 w. The sum of the
    degrees grows by at most 2 w. The larger of this and of a constant less the sum of the degrees moves no more.
    """
    return 2.0 * (1.0 + share) * max_weight


def clipped_degrees(max_weight: float, cap: float) -> tuple[float, float]:
    """Change of |h|^2 and of h'Ah, h_k = min(d_k/cap, 1), for a public cap: 4 w/cap and 6 w.

    Let the weight of {i, j} grow by at most w. Then h_i and h_j grow by at most w/cap, no other entry moves, and one
    that grows belonged to a degree below the cap. Squares of numbers up to 1 grow by at most twice as much. In h'Ah the
    pair itself counts 2 w h_i h_j <= 2 w, and the growth g of h counts g'A(h + h') <= 2 sum_k g_k d_k < 4 w.
    """
    return 4.0 * max_weight / cap, 6.0 * max_weight


def clipped_product(max_weight: float, limit: float) -> float:
    """Change of sum_k min((Ah)_k, limit)^2 for h as in :func:`clipped_degrees` and a public limit: 8 w limit.

    The entries of A h grow by at most 4 w in all: the growth of h_i reaches the neighbours of i, sum_k A_ki w/cap < w,
    that of h_j those of j, and the pair itself adds w h_j to row i and w h_i to row j. A square of a number up to the
    limit grows by at most 2 limit times as much.
    """
    return 8.0 * max_weight * limit


def row_release(max_weight: float, row_norm: float = 1.0) -> float:
    """Change in l2 of all rows of (adjacency) X for a *public* X with rows of norm at most `row_norm`.

    Row i moves by at most w ||X_j||, row j by at most w ||X_i||, nothing else moves: sqrt(2) w row_norm. For one X,
    `row_norm` may be the root mean square of its two largest row norms, as i and j are different. The same bound
    covers a Gauss-Seidel sweep that releases each row exactly once, each against a public X that may depend on the rows
    released before: conditioned on those, rows i and j still move by at most w row_norm each, and adaptive composition
    of Gaussian releases adds squares.
    """
    return math.sqrt(2.0) * max_weight * row_norm


def product_rounding(max_weight: float, X: NDArray[np.float64]) -> float:
    """What rounding adds, on either of two neighbours, to the change of (adjacency) X for a public X, in l2.

    A row of the product is a sum of at most n products, of weights up to w with a column x of X: it is off by at most
    n u w ||x||_1, u = 2**-52 being twice the unit of rounding. Rows that do not differ are computed alike, from the
    same numbers in the same order, so that the rows of the two ends of the edge are all that counts.
    """
    sums = np.abs(X).sum(axis=0)
    return math.sqrt(2.0) * len(X) * float(np.finfo(np.float64).eps) * max_weight * float(np.linalg.norm(sums))


def first_sweep(max_weight: float, entry: float = 1.0) -> float:
    """Change in l2 of a Gauss-Seidel sweep that starts from X = 0 and sets each row when it is released.

    When row i of (adjacency) X is released, X_j is still zero unless j was released before. So the pair {i, j} shows
    only at the later of its two rows, where it moves the release by at most w `entry`.
    """
    return max_weight * entry


def repeated_readings(envelope: float, norm: ReadingNorm, *, from_zero: bool) -> float:
    """Change of all readings of all rows in repeated sweeps, in a norm N for each number, summed.

    N is :class:`~dpgraph.privacy.reading_norm.ReadingNorm`: N(y, z) = a |y| + b max(max|z| - |y|, 0), y the first
    reading of a number and z the others, a + b = 1, a >= b (a = 1 where there are no others).

    Parameters
    ----------
    envelope : float
        Sum, over the numbers in a row of fields, of the most that an edge moves each of them in any reading: w for
        signs.
    norm : ReadingNorm
        N.
    from_zero : bool
        Whether row i of X is zero until row i of the fields has been read once (or has forgone its first reading).

    Returns
    -------
    float
        `envelope` if `from_zero`, otherwise 2 a `envelope` (:meth:`~dpgraph.privacy.reading_norm.ReadingNorm.edge`).

    Notes
    -----
    *Theorem.* Let X be public at all times. Rows of the fields at X are read, and rows of X are set, each row as often
    as its noise was drawn for. Let X_i be zero until row i has been read once, or has forgone its first reading, for
    every i. If the readings of each number together get noise of density proportional to exp(-N / s), independent
    between numbers, all outputs together are (`envelope` / s)-DP, although X and the order of the rows depend on the
    outputs before. Without that condition they are (2 a `envelope` / s)-DP.

    *Proof.* Fix the outputs. Then X is fixed at all times, and neighbours that differ in the edge {i, j} have the same
    exact readings but of rows i and j, whose number k moves by at most w_k each time, sum_k w_k = `envelope`. A
    number moves by some (y, z), N(y, z) = max(a |y|, (a - b) |y| + b max|z|) <= a w_k. Under the condition one of the
    two rows moves by (0, z), N(0, z) <= b w_k: the one that was read first, when the other one was still zero, or that
    has forgone its first reading. The density of the outputs is a product of conditional densities, which multiply,
    for each number, to the density of its noise at outputs minus exact readings. N is a norm, so the logarithm of that
    of one row moves by at most b w_k / s and that of the other by at most a w_k / s; a + b = 1. With a single reading
    one row does not move at all, and a = 1. On a grid sums take the place of integrals. Where a = b = 1/2 the norm is
    that of a cube, and 2 a = 1: the condition is not needed.

    *The condition is needed otherwise.* Let X_i = X_j = 1 from the start, and read both rows: both move by (w, ..., w),
    at a price of 2 a w, 2/1.7 of w at ratio 0.7 and 2 w for a single reading.

    For T separate Laplace releases the change would be 2 T w.

    References
    ----------
    M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC 2010, section 4 (the K-norm mechanism);
    T. Steinke, J. Ullman, "Between pure and approximate differential privacy", JPC 2016 (noise from a cube). That later
    queries may depend on earlier answers, and the nested cubes, are proved here.
    """
    return envelope * norm.edge(from_zero=from_zero)


def constraint_rows(max_weight: float, alphabet: int) -> float:
    """Change in l2 of one row of the fields of a 2-CSP when the table of one pair of variables changes.

    With X_v in the simplex, row u of the fields moves by R X_v, R the change of the q x q table, entries in [-w, w]:
    each of its q entries is an average of entries of R, so ||R X_v||_2 <= sqrt(q) w. The pair shows at its two rows, so
    a sweep moves by sqrt(2 q) w, and a first sweep from X = 0 by sqrt(q) w. This covers adding, removing and replacing
    a constraint on the same pair.
    """
    return math.sqrt(alphabet) * max_weight


def constraint_rows_l1(max_weight: float, alphabet: int) -> float:
    """Change in l1 of one row of the fields of a 2-CSP, see :func:`constraint_rows`: q entries of size at most w."""
    return alphabet * max_weight


def label_rows(max_weight: float, alphabet: int, centre: float) -> float:
    """Change in l2 of one row of (adjacency)(X - c 1) when one edge changes, X in the simplex, 0 <= c <= 1/2.

    Row u moves by at most w ||x_v - c 1||, or not at all if x_v is not set. The norm is convex, and x_v, whose entries
    sum to at most 1, lies in the hull of 0 and the q unit vectors: it is at most
    max(sqrt((1 - c)^2 + (q - 1) c^2), sqrt(q) c), the first for c <= 1/2. At c = 1/q that is sqrt(1 - 1/q) w.
    """
    if not 0 <= centre <= 0.5:
        raise InvalidParameterError(f"centre must lie in [0, 1/2]; got {centre!r}")
    return math.hypot(1 - centre, math.sqrt(alphabet - 1) * centre) * max_weight


def label_counts(max_weight: float) -> float:
    """Change in l1 of what a sweep counts: the weight of a row's edges to each label, among rows it has seen.

    The labels and the order are public, or have been released before. Entry k of row u is the sum of w_uv over the rows
    v of label k that come before u in the sweep. So the pair {i, j} counts at the later of its two rows only, in the
    one entry of the other row's label, which moves by at most w. Rows that read first what they alone see of each other
    do so in a sweep of their own, over pairs that later sweeps leave out.
    """
    return max_weight


def label_scores(max_weight: float) -> float:
    """Change of the scores of one row's labels, all in the same direction, when one edge of a public relation changes.

    Score a of row u is sum_v w_uv (R X_v)_a, R the public relation with entries in [0, 1] and X_v a public point of
    the simplex. So (R X_v)_a lies in [0, 1], and when w_uv moves by t, |t| <= w, every score moves by t (R X_v)_a: by
    at most w, upwards if t > 0 and downwards if t < 0. A sweep in which a row reads only rows that chose before it
    shows the edge at one row (:func:`first_sweep`).

    A report of the maximum of scores plus geometric (or exponential) noise of scale b is then (w / b)-DP: given the
    noise of the other labels, label a wins where its own noise exceeds max_c (score_c + noise_c) - score_a, which moves
    by at most w because both terms move in the same direction, and P(noise >= y + w) >= e^(-w/b) P(noise >= y)
    (R. McKenna, D. Sheldon, "Permute-and-flip", NeurIPS 2020; Z. Ding et al., "The permute-and-flip mechanism is
    identical to report-noisy-max with exponential noise", 2021).
    """
    return max_weight


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
    _check(max_weight, lower)
    w, m, tau = max_weight, lower, _check_regularization(regularization, lower)
    return (w / math.sqrt(m)) * math.sqrt(2 * (1.5 - tau / (2 * m)) ** 2 + w / m)


def projector(product: float, coherence: float, gap: float, norm: float) -> float:
    """Bound on ||P - P'||_F, P the projector on the top-r |eigenvalue| space: sqrt(2) D kappa / (g - e).

    *Proof.* Davis-Kahan: the top |eigenvalues| of A lie outside, the rest of A' inside an interval, at distance at
    least g - e; hence ||U_perp'' U||_F <= ||E U||_F / (g - e) (constant 1 for this configuration) and ||P - P'||_F is
    sqrt(2) times the left side.

    Parameters
    ----------
    product : float
        Bound on ||E U||_F / coherence (:func:`degree_corrected_product` or :func:`basis_product`).
    coherence : float
        Upper bound on kappa_D (or kappa) of the input.
    gap : float
        Lower bound g on sigma_r - sigma_{r+1} of the input, g > norm.
    norm : float
        Bound e on the spectral norm of E.

    Raises
    ------
    InvalidParameterError
        `gap` is not larger than `norm`: one neighbour could close it, and nothing bounds the change.
    """
    return math.sqrt(2.0) * product * coherence / _open_gap(gap, norm)


def _open_gap(gap: float, norm: float) -> float:
    """What is left of a gap after one neighbour, or an error if that is nothing (NaN included)."""
    if not gap > norm:
        raise InvalidParameterError(
            f"a subspace has bounded sensitivity only where gap > norm; got gap={gap!r}, norm={norm!r}"
        )
    return gap - norm


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
    _check(max_weight, lower)
    w, m, tau = max_weight, lower, _check_regularization(regularization, lower)
    x = max(m, 3 * tau)
    return 2 * row_norm**2 * (w / (m + w) + w * (1 - tau / x) / math.sqrt(m * x))


def adjacency_core(max_weight: float, Q: NDArray[np.float64]) -> float:
    """Bound on ||Q'EQ||_F for a public Q when E is the change of the adjacency matrix itself, w (e_i e_j' + e_j e_i').

    ||Q_i'Q_j + Q_j'Q_i||_F <= 2 ||Q_i|| ||Q_j||, at most twice the product of the two largest row norms of Q.
    """
    norms = np.sort(np.einsum("ij,ij->i", Q, Q))[-2:]
    return 2.0 * max_weight * float(np.sqrt(np.prod(norms)))


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
