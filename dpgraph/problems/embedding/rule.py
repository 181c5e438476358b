"""What ``mechanism="auto"`` of a private normalized adjacency stands for.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair, so that an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method adds noise of standard
deviation sqrt(2) k/mu to every row of a product with r columns whose longest rows have length k, mu the parameter of
Gaussian differential privacy: an error of about k sqrt(2 n)/(mu lambda). The eigenvalue is the same in both.

If degrees are even, rows are about equally long, k = sqrt(r/n), and public arguments say which error is smaller; but
the more noise there is beside the average degree, the more message passing over all pairs makes of answers. If degrees
are uneven, as in nearly all real graphs, the longest rows of leading eigenvectors hold much the same share of them
whatever n, and answers win up to a ratio of the order of sqrt(n). Where these two cases differ, one private bit
decides: whether much of all degrees lies above their average, or all of them are few.

A single vector comes from pure products of capped iterates (:mod:`~dpgraph.releases.eigenspaces.vector`), whose noise
does not grow with degrees of ordinary unevenness. Answers take over at large epsilon, earlier if a few vertices hold
much of all degrees, and in between if the degrees are far from the vector
(:mod:`~dpgraph.releases.eigenspaces.residual`).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import GraphOperator
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.embedding.strategies.noisy_power import Start
from dpgraph.problems.strategy import Undecided
from dpgraph.releases.answers import FLIP_LIMIT, answer_noise, expected_flips

__all__ = ["RESIDUAL", "UNEVENNESS", "choose_mechanism", "noise_ratio", "release_unevenness"]

#: Questions that a release answers: :func:`release_unevenness`, and
#: :func:`~dpgraph.problems.embedding.strategies.noisy_power.release_start`.
UNEVENNESS, RESIDUAL = "unevenness of the degrees", "residual of the degrees"

#: Let q be the noise of answers over that of products with rows of one length (:func:`noise_ratio`), and s sqrt(n)/d
#: the norm of the noise of answers over the average degree. In graphs of even degrees answers are taken if
#: q <= min(1.35 + 6 s sqrt(n)/d, 4.2): the more noise, the more is gained by what is done with answers alone, message
#: passing over all pairs. Fitted on planted blocks: 2 to 6 of them, 800 to 3000 vertices, densities of 0.06 to 0.25,
#: epsilon = 0.18 to 5.
_EVEN_RATIO, _RATIO_PER_NOISE, _LARGEST_RATIO = 1.35, 6.0, 4.2
#: In graphs of uneven degrees they are taken if q <= 0.128 sqrt(n): on Facebook, mail and collaboration graphs of 769
#: to 37,000 vertices, both are equally good between 0.08 and 0.17 of sqrt(n).
_UNEVEN_RATIO = 0.128
#: A single vector: answers if s sqrt(n) <= 1.8 or s <= 0.05. Otherwise the unevenness of degrees decides for
#: epsilon >= 3, their residual for epsilon >= 1.5.
_VECTOR_COLUMN, _VECTOR_ENTRY, _VECTOR_BY_DEGREES, _VECTOR_BY_RESIDUAL = 1.8, 0.05, 3.0, 1.5
#: Degrees are uneven if sum_i max(d_i - a mean, 0) > b sum_i d_i: (a, b) for several columns, and for one.
_COLUMNS_UNEVEN, _VECTOR_UNEVEN = (1.0, 0.2), (2.0, 0.155)
#: If the degrees are far from the vector: answers find it if their noise, of norm s sqrt(n), is below 2.2 times the
#: Rayleigh quotient of the degrees; products do if that of a count of each vertex, sqrt(n)/epsilon, is below 1.2 times.
_ANSWERS_FIND, _PRODUCTS_FIND = 2.2, 1.2
#: Share of epsilon for the bit. Its noise is small beside the sum of all degrees, and the more it gets, the less is
#: left for answers.
_SHARE = 0.003
#: Automatic answers stop here: more of them take minutes.
_FLIPS = FLIP_LIMIT / 4


def noise_ratio(n: int, rank: int, epsilon: float, delta: float) -> float:
    """Error of randomised response in units of that of the noisy power method with rows of one length."""
    return math.sqrt(n) * answer_noise(epsilon) * gdp_mu(epsilon, delta) / math.sqrt(2 * rank)


def choose_mechanism(n: int, rank: int, epsilon: float, delta: float, *, weighted: bool) -> str | Undecided:
    """The strategy of an embedding, from public arguments as far as they can say.

    Parameters
    ----------
    n, rank
        Number of vertices and of eigenvectors.
    epsilon, delta
        Budget; with delta = 0 only pure strategies are chosen: answers, and products of a single vector.
    weighted : bool
        Whether edges may have weights between 0 and `max_weight`, of which a one-bit answer tells little.
    """
    if rank > 1 and delta == 0:
        return "randomized-response"
    if weighted or expected_flips(n, epsilon * (1 - _SHARE)) > _FLIPS:  # a bit may come before the answers
        return "noisy-power"
    if rank == 1:
        return _choose_for_vector(n, epsilon)
    ratio = noise_ratio(n, rank, epsilon, delta)
    if ratio <= _EVEN_RATIO:
        return "randomized-response"
    if ratio <= max(_UNEVEN_RATIO * math.sqrt(n), _LARGEST_RATIO):
        return Undecided(UNEVENNESS, _answers_if_positive)
    return "noisy-power"


def _choose_for_vector(n: int, epsilon: float) -> str | Undecided:
    answer = answer_noise(epsilon)
    if answer * math.sqrt(n) <= _VECTOR_COLUMN or answer <= _VECTOR_ENTRY:
        return "randomized-response"
    if epsilon >= _VECTOR_BY_DEGREES:
        return Undecided(UNEVENNESS, _answers_if_positive)
    return Undecided(RESIDUAL, partial(_by_residual, n, epsilon)) if epsilon >= _VECTOR_BY_RESIDUAL else "noisy-power"


def _answers_if_positive(excess: float) -> str:
    return "randomized-response" if excess > 0 else "noisy-power"


def _by_residual(n: int, epsilon: float, start: Start) -> str:
    """Answers where they find a vector that the degrees do not show, and products, starting from those, do not.

    The noise of answers has norm sqrt(n)/(2 sinh(epsilon/2)), that of one count of each vertex sqrt(n)/epsilon; the
    eigenvalue is larger than the quotient of the degrees.
    """
    answers, counts, quotient = math.sqrt(n) * answer_noise(epsilon), math.sqrt(n) / epsilon, start.residual.quotient
    found = start.residual.is_large and answers < _ANSWERS_FIND * quotient and counts > _PRODUCTS_FIND * quotient
    return "randomized-response" if found else "noisy-power"


def release_unevenness(graph: GraphOperator, rank: int, call: Call) -> float:
    """A number that is positive if a few vertices hold much of all degrees, or there are few edges for the noise.

    Only its sign may be published.

    Parameters
    ----------
    graph : GraphOperator
        The private graph, without weights.
    rank : int
        Number of eigenvectors.
    call : Call
        The whole call, of which a small stage is spent (:meth:`~dpgraph.privacy.call.Call.decide` gives the rest).
    """
    n, whole, delta = graph.n_vertices, call.ledger.epsilon, call.ledger.delta
    epsilon = _SHARE * whole
    if delta > 0:
        epsilon = min(epsilon, free_choice_epsilon(whole, delta))
    multiple, share = _VECTOR_UNEVEN if rank == 1 else _COLUMNS_UNEVEN
    degrees = graph.degrees()
    excess = float(np.maximum(degrees - multiple * degrees.mean(), 0.0).sum() - share * degrees.sum())
    if rank > 1:
        ratio = noise_ratio(n, rank, whole, delta)
        missing = n * _even_degree(n, ratio, whole) - float(degrees.sum())
        excess = max(excess, missing) if ratio <= _UNEVEN_RATIO * math.sqrt(n) else missing
    bound = sensitivity.degree_excess(graph.max_weight, share)
    measurement = Measurement("choice by degrees", np.array([excess]), l1=bound)
    return call.at_epsilon(epsilon).release(measurement).number


def _even_degree(n: int, ratio: float, epsilon: float) -> float:
    """Average degree up to which answers are taken where degrees are even."""
    if ratio > _LARGEST_RATIO:
        return 0.0
    return min(_RATIO_PER_NOISE * math.sqrt(n) * answer_noise(epsilon) / (ratio - _EVEN_RATIO), float(n))
