"""What ``mechanism="auto"`` of a private normalized adjacency stands for.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair: an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method, with r columns whose
longest rows have length k, has an error of about k sqrt(2 n)/(mu lambda). If degrees are even, k = sqrt(r/n), and
public arguments say which error is smaller. If they are uneven, as in nearly all real graphs, k hardly depends on n,
and answers win up to a ratio of the order of sqrt(n). Where the two cases differ, one private bit decides.

The noise of a single vector does not grow with degrees of ordinary unevenness. Answers take over at large epsilon,
earlier if a few vertices hold much of all degrees, and in between if the degrees are far from the vector.
"""

import math
from functools import partial

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.embedding.strategies.noisy_power import Start
from dpgraph.problems.strategy import Undecided
from dpgraph.releases.answers import FLIP_LIMIT, answer_noise, expected_flips
from dpgraph.tuning import EMBEDDING, EMBEDDING_RULE

#: Questions that a release answers: :func:`release_unevenness`, and
#: :func:`~dpgraph.problems.embedding.strategies.noisy_power.release_start`.
UNEVENNESS, RESIDUAL = "unevenness of the degrees", "residual of the degrees"

#: Automatic answers stop here: more of them take minutes.
_FLIPS = FLIP_LIMIT / 4


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
    flips = expected_flips(n, epsilon * (1 - EMBEDDING_RULE.share))  # a bit may come before the answers
    if weighted or flips > _FLIPS:
        return "noisy-power"
    if rank == 1:
        return _choose_for_vector(n, epsilon)
    ratio = noise_ratio(n, rank, epsilon, delta)
    if ratio <= EMBEDDING_RULE.even_ratio:
        return "randomized-response"
    if ratio <= max(EMBEDDING_RULE.uneven_ratio * math.sqrt(n), EMBEDDING_RULE.largest_ratio):
        return Undecided(UNEVENNESS, _answers_if_positive)
    return "noisy-power"


def _choose_for_vector(n: int, epsilon: float) -> str | Undecided:
    answer = answer_noise(epsilon)
    if answer * math.sqrt(n) <= EMBEDDING_RULE.vector_column or answer <= EMBEDDING_RULE.vector_entry:
        return "randomized-response"
    if epsilon >= EMBEDDING_RULE.vector_by_degrees:
        return Undecided(UNEVENNESS, _answers_if_positive)
    if epsilon >= EMBEDDING_RULE.vector_by_residual:
        return Undecided(RESIDUAL, partial(_by_residual, n, epsilon))
    return "noisy-power"


def _answers_if_positive(excess: float) -> str:
    return "randomized-response" if excess > 0 else "noisy-power"


def _by_residual(n: int, epsilon: float, start: Start) -> str:
    """Answers where they find a vector that the degrees do not show, and products, starting from those, do not.

    The noise of answers has norm sqrt(n)/(2 sinh(epsilon/2)), that of one count of each vertex sqrt(n)/epsilon; the
    eigenvalue is larger than the quotient of the degrees.
    """
    answers, counts, quotient = math.sqrt(n) * answer_noise(epsilon), math.sqrt(n) / epsilon, start.residual.quotient
    found = answers < EMBEDDING.answers_find * quotient and counts > EMBEDDING.products_find * quotient
    return "randomized-response" if found and start.residual.is_large else "noisy-power"


def release_unevenness(graph: Graph, rank: int, call: Call) -> float:
    """A number that is positive if a few vertices hold much of all degrees, or there are few edges for the noise.

    Only its sign may be published. A small stage of the whole call is spent
    (:meth:`~dpgraph.privacy.call.Call.decide` gives the rest).
    """
    n, whole, delta = graph.n_vertices, call.ledger.epsilon, call.ledger.delta
    epsilon = EMBEDDING_RULE.share * whole
    if delta > 0:
        epsilon = min(epsilon, free_choice_epsilon(whole, delta))
    multiple, share = EMBEDDING_RULE.vector_uneven if rank == 1 else EMBEDDING_RULE.columns_uneven
    degrees = graph.degrees()
    excess = float(np.maximum(degrees - multiple * degrees.mean(), 0.0).sum() - share * degrees.sum())
    if rank > 1:
        ratio = noise_ratio(n, rank, whole, delta)
        missing = n * _even_degree(n, ratio, whole) - float(degrees.sum())
        excess = max(excess, missing) if ratio <= EMBEDDING_RULE.uneven_ratio * math.sqrt(n) else missing
    bound = sensitivity.degree_excess(graph.max_weight, share)
    measurement = Measurement("choice by degrees", np.array([excess]), l1=bound)
    return call.at_epsilon(epsilon).release(measurement).number


def _even_degree(n: int, ratio: float, epsilon: float) -> float:
    """Average degree up to which answers are taken where degrees are even."""
    if ratio > EMBEDDING_RULE.largest_ratio:
        return 0.0
    return min(
        EMBEDDING_RULE.ratio_per_noise * math.sqrt(n) * answer_noise(epsilon) / (ratio - EMBEDDING_RULE.even_ratio),
        float(n),
    )
