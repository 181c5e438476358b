"""What ``mechanism="auto"`` of a private normalized adjacency stands for.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair: an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method, with r columns whose
longest rows have length k, has an error of about k sqrt(2 n)/(mu lambda). If degrees are even, k = sqrt(r/n), and
public arguments say which error is smaller. If they are uneven, as in nearly all real graphs, k hardly depends on n,
and answers win; so they may where edges are few. Both need that answers find anything, and show the leading vectors
only if lambda is beyond s sqrt(n). Where the cases differ, one private bit decides.

The noise of a single vector does not grow with degrees of ordinary unevenness. Answers take over at large epsilon,
and earlier if the degrees are far from the vector.
"""

import math
from functools import partial

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.answer_rule import too_dear
from dpgraph.problems.driver import Undecided
from dpgraph.problems.embedding.strategies import Start
from dpgraph.releases.answers import answer_noise
from dpgraph.releases.totals import degree_excess
from dpgraph.tuning import EMBEDDING, EMBEDDING_RULE
from dpgraph.tuning import RESIDUAL as DEGREE_RESIDUAL

#: Questions that a release answers: :func:`release_unevenness`, and
#: :func:`~dpgraph.problems.embedding.strategies.release_start`.
UNEVENNESS, RESIDUAL = "unevenness of the degrees", "residual of the degrees"


def noise_ratio(n: int, rank: int, epsilon: float, delta: float) -> float:
    """Error of randomised response in units of that of the noisy power method with rows of one length."""
    return math.sqrt(n) * answer_noise(epsilon) * gdp_mu(epsilon, delta) / math.sqrt(2 * rank)


def choose_mechanism(n: int, rank: int, epsilon: float, delta: float, *, weighted: bool) -> str | Undecided:
    """The strategy of an embedding of this rank, from public arguments as far as they can say.

    With delta = 0 only pure strategies are chosen: answers, and products of a single vector. If edges may have weights
    between 0 and `max_weight` (`weighted`), a one-bit answer tells little.
    """
    if rank > 1 and delta == 0:
        return "randomized-response"
    # A bit, or a residual, may come before the answers.
    asked = EMBEDDING.total_share if rank > 1 else EMBEDDING.total_share + 3 * DEGREE_RESIDUAL.share
    if weighted or too_dear(n, epsilon * (1 - asked)):
        return "noisy-power"
    if rank == 1:
        return _choose_for_vector(n, epsilon)
    if noise_ratio(n, rank, epsilon, delta) <= 1:
        return "randomized-response"
    return Undecided(UNEVENNESS, lambda excess: "randomized-response" if excess > 0 else "noisy-power")


def _choose_for_vector(n: int, epsilon: float) -> str | Undecided:
    by_residual = EMBEDDING_RULE.vector_by_residual
    if math.sqrt(n) * answer_noise(epsilon) <= EMBEDDING_RULE.vector_column or epsilon >= 4 * by_residual:
        return "randomized-response"
    if epsilon >= by_residual:
        return Undecided(RESIDUAL, partial(_by_residual, n, epsilon))
    return "noisy-power"


def _by_residual(n: int, epsilon: float, start: Start) -> str:
    """Answers where they find a vector that the degrees do not show, and products, starting from those, hardly do.

    The noise of answers has norm sqrt(n)/(2 sinh(epsilon/2)), that of one count of each vertex sqrt(n)/epsilon; the
    eigenvalue is larger than the quotient of the degrees. At large epsilon answers win wherever they find it.
    """
    answers, counts, quotient = math.sqrt(n) * answer_noise(epsilon), math.sqrt(n) / epsilon, start.residual.quotient
    is_hidden = epsilon >= 2 * EMBEDDING_RULE.vector_by_residual or counts > quotient
    is_found = answers < EMBEDDING.answers_find * quotient
    return "randomized-response" if start.residual.is_large and is_hidden and is_found else "noisy-power"


def release_unevenness(graph: Graph, rank: int, call: Call) -> float:
    """A number that is positive if answers find something, and degrees are uneven or edges too few for the products.

    Either reason is enough while answers have at most four times the noise of products with even degrees, unevenness up
    to eight times; beyond, both are needed. With the norm t = s sqrt(n) of the noise of answers, these find something
    if a fifth of all ends of edges are at what degrees have beyond 5/4 t: sum_i max(d_i - 5/4 t, 0) >= sum_i d_i/5.

    Only the sign may be published. A small stage of the whole call is spent
    (:meth:`~dpgraph.privacy.call.Call.decide` gives the rest).
    """
    whole, delta, _ = call.whole
    epsilon = min(EMBEDDING.total_share * whole, free_choice_epsilon(whole, delta))
    n, w, degrees, share = graph.n_vertices, graph.max_weight, graph.degrees(), EMBEDDING_RULE.uneven
    ends = float(degrees.sum())
    noise = EMBEDDING_RULE.visible * w * min(math.sqrt(n) * answer_noise(whole), n)
    found, excess = (degree_excess(degrees, above, share) for above in (noise, float(degrees.mean())))
    least = min(EMBEDDING_RULE.least_degree * math.sqrt(2 * rank) / gdp_mu(whole, delta), n)
    missing, ratio, rule = n * least - ends, noise_ratio(n, rank, whole, delta), EMBEDDING_RULE
    one = excess if ratio > rule.few_ratio else max(excess, missing)
    reason = min(excess, missing) if ratio > 2 * rule.few_ratio else one
    bound = sensitivity.degree_excess(w, share)
    measurement = Measurement("choice by degrees", np.array([min(found, reason)]), l1=bound)
    return call.at_epsilon(epsilon).release(measurement).number
