"""What one edge can change in sums, degrees, and rows of products with public iterates: one bound a function.

Neighbouring graphs differ in the weight of one vertex pair {i, j}, by at most w = `max_weight`; d are weighted degrees.
Bounds on spectra are in :mod:`dpgraph.bounds.spectra`. ``tests/privacy/test_sensitivity.py`` enumerates all bounds over
the neighbours of many small graphs; docs/sensitivity.md lists the worst ratios found.
"""

import math

import numpy as np

from dpgraph.typing import FloatArray


def minimum_degree(max_weight: float) -> float:
    """Change of min_i d_i: one pair changes two degrees by at most w, hence a minimum by at most w."""
    return max_weight


def degree_tails() -> float:
    """l1-sensitivity of the numbers of vertices of degree at least k, k = 1, ..., n - 1: 2, whatever the graph.

    *Proof.* An edge {i, j} more raises two degrees by one each, from d to d + 1. A vertex whose degree rises from d to
    d + 1 is counted once more, at k = d + 1, and nowhere else. The degree of a vertex is its number of edges, whatever
    they weigh.
    """
    return 2.0


def one_edge_statistic() -> float:
    """Change of the number of components, the matching number, the degeneracy or the edge connectivity by one edge: 1.

    *Proof.* Let H be G and one edge e more. Each number changes in one direction only.

    - Components: e joins two components of G or none.
    - Matching number: a matching of H without e is one of G.
    - Degeneracy, the largest over subgraphs of their least degree: e raises the degrees in a subgraph by 1 at most.
    - Edge connectivity, the fewest edges between a set of vertices and the others: e adds 1 to such a number or
      nothing. For a single vertex it is 0.

    A minimum or maximum changes by at most as much as the numbers it is of.
    """
    return 1.0


def degrees_l2(max_weight: float, pairs: int = 1) -> float:
    """Change of the degree vector in l2: two entries change by at most w, sqrt(2) w.

    Where k = `pairs` pairs that share a vertex change: its own degree changes by at most k w, and k others by at most w
    each, sqrt(k^2 + k) w.
    """
    return math.sqrt(pairs**2 + pairs) * max_weight


def degrees_l1(max_weight: float) -> float:
    """Change of the degree vector in l1: two entries change by at most w, 2 w."""
    return 2.0 * max_weight


def partition_weight(max_weight: float) -> float:
    """Change of the total weight, or of the cut weight of a *fixed* (released) partition: one pair counts or not, w."""
    return max_weight


def split_table(max_weight: float) -> tuple[float, float]:
    """Change in l1 and l2 of what fixed labels earn of all tables and what they leave of the largest entries.

    2 w and sqrt(2) w. *Proof.* One pair's table changes; its entries lie in [0, w]. With e the entry that the labels
    choose and m the largest, the numbers are sums of e and of m - e. Each changes by at most w, as 0 <= e <= m <= w.
    Both do where e goes from 0 to m = w.
    """
    return 2.0 * max_weight, math.sqrt(2.0) * max_weight


def advantage(max_weight: float, share: float) -> float:
    """Change of what a *fixed* answer earns less a share f in [0, 1] of all that there is: max(f, 1 - f) w.

    A weight that grows by delta <= w counts (1 - f) delta where the answer earns it, and -f delta elsewhere.
    """
    return max(share, 1.0 - share) * max_weight


def degree_excess(max_weight: float, share: float) -> float:
    """Change of sum_i max(d_i - a mean, 0) - share sum_i d_i, for a >= 1, with mean that of d: 2 (1 + share) w.

    A constant less the sum of the degrees changes by no more, nor do the larger and the smaller of such numbers and of
    those of :func:`degrees_beyond`.

    Let a weight grow by at most w. Two terms of the first sum grow by at most w each. The mean grows by at most 2 w/n;
    fewer than n/a degrees exceed a times the mean, so that all terms together fall by at most 2 w. The sum of the
    degrees grows by at most 2 w.
    """
    return 2.0 * (1.0 + share) * max_weight


def degrees_beyond(max_weight: float, share: float) -> float:
    """Change of sum_i max(d_i - t, 0) - share sum_i d_i, for a *public* t: 2 max(share, 1 - share) w.

    *Proof.* Let a weight grow by delta <= w. Two degrees do, and max(d - t, 0) - share d of each changes by a number
    from -share delta to (1 - share) delta.
    """
    return 2.0 * advantage(max_weight, share)


def clustering_of_edges(limit: float) -> float:
    """Change of the sum over edges {u, v} of min(limit, sum_w 1/C(d_w, 2)), w their common neighbours: limit + 2.

    *Proof.* Let {a, b} become an edge. It counts at most `limit` itself. For another edge the common neighbours stay
    the same, but for a and b, and so do the degrees of these. The minimum changes by no more than its sum. a, of degree
    d before, adds 1/C(d, 2) to each edge among its neighbours; there are C(d, 2) of these at most, so all of them
    together fall by at most 1. It adds 1/C(d + 1, 2) to the edges that b has to neighbours of a, d at most: they rise
    by at most 2/(d + 1), which is no more than 1 for d >= 1, and there are none for d = 0. What falls and what rises
    have different signs, so that a changes the sum by at most 1, and so does b. Numbers 1/C(d, 2) rounded down obey
    the same bounds.
    """
    return limit + 2.0


def root_degree_products(smallest: float, largest: float, mean: float) -> float:
    """Change of the sum over edges {u, v} of f(d_u) f(d_v), f(d) = sqrt(d) - c, sqrt(d) clipped to between L and R.

    L = `smallest`, R = `largest` and c = `mean` are public, 0 <= L <= c <= R.

    *Proof.* Let {a, b} become an edge, and let r and s be the clipped roots of their new degrees. The edge itself
    counts (r - c)(s - c). At the d other edges of a, f(d_a) rises by at most sqrt(d + 1) - sqrt(d) < 1/(2 sqrt(d)), and
    not at all if sqrt(d) >= R or sqrt(d + 1) <= L: by at most r/(2 d). There it meets numbers between L - c and R - c,
    which do not move, as no other edge joins a and b. So the products move by r (L - c)/2 to r (R - c)/2, and those at
    b by s (L - c)/2 to s (R - c)/2. The sum is between (r - c)(s - c) + (r + s)(L - c)/2 and the same with R - c. Each
    is linear in r and in s, so that it is largest, and smallest, where r and s are L or R.
    """
    ends = ((r, s) for r in (smallest, largest) for s in (smallest, largest))
    return max(abs((r - mean) * (s - mean) + (r + s) * (x - mean) / 2) for r, s in ends for x in (smallest, largest))


def clipped_degrees(max_weight: float, cap: float) -> tuple[float, float]:
    """Change of |h|^2 and of h'Ah, h_k = min(d_k/cap, 1), for a public cap: 4 w/cap and 6 w.

    Let the weight of {i, j} grow by at most w. Then h_i and h_j grow by at most w/cap, no other entry changes, and one
    that grows belonged to a degree below the cap. Squares of numbers up to 1 grow by at most twice as much. In h'Ah the
    pair itself counts 2 w h_i h_j <= 2 w, and the growth g of h counts g'A(h + h') <= 2 sum_k g_k d_k < 4 w.
    """
    return 4.0 * max_weight / cap, 6.0 * max_weight


def clipped_residual(max_weight: float, cap: float, limit: float, quotient: float) -> float:
    """Change of sum_k min(|r_k|, limit)^2 for r = A h - q h, h as in :func:`clipped_degrees`, q and limit public.

    The entries of A h grow by at most 4 w in all: the growth of h_i reaches the neighbours of i, sum_k A_ki w/cap < w,
    that of h_j those of j, and the pair itself adds w h_j to row i and w h_i to row j. Those of h grow by w/cap at i
    and at j. A clipped square changes by at most 2 limit times as much as its number.
    """
    return 2.0 * limit * (4.0 * max_weight + 2.0 * quotient * max_weight / cap)


def adjacency_core(max_weight: float, Q: FloatArray) -> float:
    """Bound on ||Q'EQ||_F for a public Q when E is the change of the adjacency matrix itself, w (e_i e_j' + e_j e_i').

    ||Q_i'Q_j + Q_j'Q_i||_F <= 2 ||Q_i|| ||Q_j||, at most twice the product of the two largest row norms of Q.
    """
    norms = np.sort(np.einsum("ij,ij->i", Q, Q))[-2:]
    return 2.0 * max_weight * float(np.sqrt(np.prod(norms)))


def row_release(max_weight: float, row_norm: float = 1.0) -> float:
    """Change in l2 of all rows of (adjacency) X for a *public* X with rows of norm at most `row_norm`.

    Row i changes by at most w ||X_j||, row j by at most w ||X_i||, nothing else changes: sqrt(2) w row_norm. For one X,
    `row_norm` may be the root mean square of its two largest row norms, as i and j are different. The same bound
    covers a Gauss-Seidel sweep that releases each row exactly once, each against a public X that may depend on the rows
    released before: conditioned on those, rows i and j still change by at most w row_norm each, and adaptive
    composition of Gaussian releases adds squares.
    """
    return math.sqrt(2.0) * max_weight * row_norm


def product_rounding(max_weight: float, X: FloatArray) -> float:
    """What rounding adds, on either of two neighbours, to the change of (adjacency) X for a public X, in l2.

    A row of the product is a sum of at most n products, of weights up to w with a column x of X: it is off by at most
    n u w ||x||_1, u = 2**-52 being twice the unit of rounding. Rows that do not differ are computed alike, from the
    same numbers in the same order, so that the rows of the two ends of the edge are all that counts.
    """
    sums = np.abs(X).sum(axis=0)
    return math.sqrt(2.0) * len(X) * float(np.finfo(np.float64).eps) * max_weight * float(np.linalg.norm(sums))


def first_sweep(max_weight: float) -> float:
    """Change in l1 and in l2 of a Gauss-Seidel sweep that starts from X = 0 and sets each row when it is released.

    When row i of (adjacency) X is released, X_j is still zero unless j was released before. So the pair {i, j} shows
    only at the later of its two rows, where it changes the release by at most w.
    """
    return max_weight


def repeated_queries(size: float) -> float:
    """Change of all noisy queries of rows of A X, X public, in the norm of their noise, by one edge: twice `size`.

    A row of A X is queried T times, and released with noise each time, while X changes. The noise of all queries of a
    row is drawn at once, with density proportional to exp(-N/b), N(z) = max_t |z_t|
    (:class:`~dpgraph.privacy.row_norm.RowNorm`), |.| a norm of one query, or such a norm up to a constant that is added
    to all its numbers. `size` bounds |d|, d what an edge adds to a row in any one query: w in the sum of absolute
    values for A X, X in the simplex. Where numbers of a row get independent noise, each is a row of its own, and `size`
    is the sum, over these numbers, of the most that an edge changes each of them: w for signs.

    *Theorem.* Let X be public at all times. If the noise of different rows is independent, and if rows are released up
    to a constant where |.| does not see constants, all outputs together are (2 `size` / b)-DP, although X and the order
    of the rows depend on the outputs before, and however often each row is queried.

    *Proof.* N is a norm of all queries of a row, or one of queries up to constants, in which case outputs, noise and
    densities are those of classes of rows that differ by constants. Fix the outputs, and with them X at all times.
    Neighbours that differ in the edge {i, j} have the same exact values but in rows i and j, each of which differs by z
    with |z_t| <= size for each t: by `size` at most in N, whatever the directions. The density of the outputs is a
    product of conditional densities, which multiply, for each row, to the density of its noise at outputs minus exact
    values. So the logarithms of those of both rows differ by at most size / b each. Numbers with noise of their own
    change by at most their part of `size`, and the parts add up. On a grid sums take the place of integrals.

    *Rows or numbers.* If row j has label 1 when row i is first queried and label 2 when it is queried again, two
    numbers change by w in one query each: with independent noise they cost 2 w, as a row w (docs/proofs.md,
    "Composition", rule 5).

    For T separate Laplace releases the change would be 2 T w. M. Hardt, K. Talwar, "On the geometry of differential
    privacy", STOC 2010, section 4 (the K-norm mechanism); T. Steinke, J. Ullman, "Between pure and approximate
    differential privacy", JPC 2016 (noise from a cube). That later queries may depend on earlier outputs is proved
    here.
    """
    return 2.0 * size


def constraint_rows(max_weight: float, alphabet: int) -> float:
    """Change in l1 of one row of the fields of a 2-CSP when the table of one pair of variables changes: q w.

    The field of a variable is what each of its labels would earn against X. With X_v in the simplex, row u changes by R
    X_v, R the change of the q x q table, entries in [-w, w]: each of its q entries is an average of entries of R. This
    covers adding, removing and replacing a constraint on the same pair.
    """
    return alphabet * max_weight


def constraint_rows_range(max_weight: float) -> float:
    """Change of one row of the fields of a 2-CSP, its largest entry less its smallest, see :func:`constraint_rows`: 2w.

    Each of the q entries is an average of entries of R and zeros, and lies in [-w, w]. The range of a row is what is
    left of its largest entry if any constant may be added to all of them.
    """
    return 2.0 * max_weight


def label_rows_l1(max_weight: float) -> float:
    """Change in l1 of one row of (adjacency) X when one edge changes, X in the simplex, or X_v zero: w.

    Row u changes by t X_v, |t| <= w, and the entries of X_v are nonnegative and sum to at most 1. Up to a constant that
    is added to all entries the row changes by no more, and (adjacency)(X - c 1) changes by the same.
    """
    return max_weight


def label_counts(max_weight: float) -> float:
    """Change in l1 of what a sweep counts: the weight of a row's edges to each label, among the rows set before it.

    The labels and the order are public, or have been released before. Entry k of row u is the sum of w_uv over the rows
    v of label k that come before u in the sweep. So the pair {i, j} counts at the later of its two rows only, in the
    one entry of the other row's label, which changes by at most w. Rows that read first what they alone see of each
    other do so in a sweep of their own, over pairs that later sweeps leave out.
    """
    return max_weight


def label_scores(max_weight: float) -> float:
    """Change of the scores of one row's labels, all in the same direction, when one edge of a public relation changes.

    Score a of row u is sum_v w_uv (R X_v)_a, R the public relation with entries in [0, 1] and X_v a public point of
    the simplex. So (R X_v)_a lies in [0, 1], and when w_uv changes by t, |t| <= w, every score changes by t (R X_v)_a:
    by at most w, upwards if t > 0 and downwards if t < 0. A sweep in which a row reads only rows that chose before it
    shows the edge at one row (:func:`first_sweep`).

    A report of the maximum of scores plus geometric (or exponential) noise of scale b is then (w / b)-DP: given the
    noise of the other labels, label a wins where its own noise exceeds max_c (score_c + noise_c) - score_a, which moves
    by at most w because both terms change in the same direction, and P(noise >= y + w) >= e^(-w/b) P(noise >= y)
    (R. McKenna, D. Sheldon, "Permute-and-flip", NeurIPS 2020; Z. Ding et al., "The permute-and-flip mechanism is
    identical to report-noisy-max with exponential noise", 2021).
    """
    return max_weight
