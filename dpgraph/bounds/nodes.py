"""What all edges of one vertex change in numbers about a graph whose degrees are cut off at D: one bound a function.

Neighbouring graphs G, G' have the same vertices and differ in edges at one vertex v, in any of them (node privacy). H
is what they share: G without the edges at v. ``tests/privacy/test_node_privacy.py`` enumerates neighbours.
"""


def flow(limit: int) -> float:
    """Change of the maximum fractional flow f_D, or of its integral part: D = `limit`.

    f_D is the largest sum of numbers in [0, 1] on the edges, at most D at every vertex. *Proof.* What is feasible in H
    is so in G, and what is feasible in G is so in H without its numbers at v, whose sum is at most D. So f_D(G) and
    f_D(G') lie in [f_D(H), f_D(H) + D].
    """
    return float(limit)


def choice() -> float:
    """Change, in one direction, of the scores by which D is chosen among public D_1, ..., D_k: 2.

    The score of D is the largest of (f_E - f_D + p_D - p_E)/(D + E) over all E, for public p. *Proof.* f_E changes by
    at most E and f_D by at most D, so that each quotient, and the largest, changes by at most 1; numbers that are
    rounded down to a grid which contains 1 do too. Scores that change by 1 either way change in one direction, by 2 at
    most, once 1 is added to all scores of one graph, which changes no choice.

    f_2D - f_D alone changes by up to 3 D: an old edge at v may add D to f_D and nothing to f_2D, a new one the reverse.
    S. Raskhodnikova, A. Smith, "Lipschitz extensions for node-private graph statistics and the generalized exponential
    mechanism", FOCS 2016.
    """
    return 2.0


def truncated_tails(limit: int) -> float:
    """Change in l1 of the numbers of vertices that keep at least k = 1, ..., D edges, D = `limit`: 2 D.

    Edges are kept one by one, in a public order of all pairs, if both ends have kept fewer than D. *Proof.* Go through
    the pairs in this order on G and G' at once, and let s be the sum over vertices u other than v of |k_u - k'_u|, k_u
    and k'_u the edges that u has kept. A pair {u, x} without v is an edge of both or of neither. If only G keeps it,
    one of its ends, u say, is full in G' and not in G: k'_u > k_u, and the distance at u falls by 1, while that at x
    rises by at most 1. So s does not rise. A pair with v raises s by at most 1, and only where just one of G and G'
    keeps it. In the end v has kept a edges in G and b in G', so s <= a + b, and with v the sum of all |k_u - k'_u| is
    at most a + b + |a - b| = 2 max(a, b) <= 2 D. A vertex counts in as many tails as it has edges, so that the tails
    change by no more in l1, and sums over blocks of k by no more than they. (The *edges* that are kept may all be
    others: only degrees are private at this price.)

    W.-Y. Day, N. Li, M. Lyu, "Publishing graph degree distribution with node differential privacy", SIGMOD 2016, whose
    histogram changes by 2 D + 1 where v comes or goes; where its edges are replaced it would be up to 4 D + 2.
    """
    return 2.0 * limit
