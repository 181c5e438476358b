"""What ``mechanism="auto"`` of a private normalized adjacency stands for.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair, so that an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method adds noise of standard
deviation sqrt(2) k/mu to every row of a product with r columns whose longest rows have length k, mu the parameter of
Gaussian differential privacy: an error of about k sqrt(2 n)/(mu lambda). The eigenvalue is the same in both.

Where degrees are even, rows are about equally long, k = sqrt(r/n), and which error is smaller is a matter of public
arguments; but the more noise there is beside the average degree, the more message passing over all pairs makes of
answers. Where degrees are uneven, as in nearly all real graphs, the longest rows of leading eigenvectors hold much
the same share of them whatever n, and answers win up to a ratio of the order of sqrt(n). One private bit decides where
these differ: whether much of all degrees lies above their average, or all of them are few.

A single vector comes from pure products of capped iterates (:mod:`~dpgraph.releases.eigenspaces.vector`), whose noise
degrees of ordinary unevenness do not raise. Answers take over at large epsilon, earlier where a few vertices hold much
of all degrees, and in between where the degrees are far from the vector
(:mod:`~dpgraph.releases.eigenspaces.residual`).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import GraphOperator
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.call import Call, Measurement
from dpgraph.releases.answers import FLIP_LIMIT, answer_noise, expected_flips

__all__ = ["choose_mechanism", "noise_ratio", "release_choice"]

Choice = Literal["noisy-power", "randomized-response", "by degrees", "by residual"]

#: Answers are taken while their noise is below this many times that of products with rows of one length, and so much
#: more for each unit of its norm in average degrees, but no more than the third number: the more noise, the more is
#: gained by what is done with answers alone, message passing over all pairs. Fitted on planted blocks: 2 to 6 of them,
#: 800 to 3000 vertices, densities of 0.06 to 0.25, epsilon = 0.18 to 5.
_EVEN_RATIO, _RATIO_PER_NOISE, _LARGEST_RATIO = 1.35, 6.0, 4.2
#: In graphs of uneven degrees, while it is below this many times sqrt(n) times that: on Facebook, mail and
#: collaboration graphs of 769 to 37,000 vertices, they are level between 0.08 and 0.17 of sqrt(n).
_UNEVEN_RATIO = 0.128
#: A single vector: answers while the norm of a column of their noise, or the noise of one, is at most this; by degrees
#: from the third epsilon on, by the residual of the degrees from the fourth.
_VECTOR_COLUMN, _VECTOR_ENTRY, _VECTOR_BY_DEGREES, _VECTOR_BY_RESIDUAL = 1.8, 0.05, 3.0, 1.5
#: Degrees are uneven if vertices hold this share of all degrees in excess of this multiple of the average: with several
#: columns, and with one.
_COLUMNS_UNEVEN, _VECTOR_UNEVEN = (1.0, 0.2), (2.0, 0.155)
#: Share of epsilon for the bit. Its noise is small beside the sum of all degrees, and the more it gets, the less is
#: left for answers.
_SHARE = 0.003
#: Automatic answers stop here: more of them take minutes.
_FLIPS = FLIP_LIMIT / 4


def noise_ratio(n: int, rank: int, epsilon: float, delta: float) -> float:
    """Error of randomised response in units of that of the noisy power method with rows of one length."""
    return math.sqrt(n) * answer_noise(epsilon) * gdp_mu(epsilon, delta) / math.sqrt(2 * rank)


def choose_mechanism(n: int, rank: int, epsilon: float, delta: float, *, weighted: bool) -> Choice:
    """The mechanism of an embedding, from public arguments; "by ..." if something private has to decide.

    "by degrees" stands for :func:`release_choice`, "by residual" (one vector only) for
    :func:`~dpgraph.releases.eigenspaces.residual.release_degree_residual`.

    Parameters
    ----------
    n, rank
        Number of vertices and of eigenvectors.
    epsilon, delta
        Budget.
    weighted : bool
        Whether edges may have weights between 0 and `max_weight`, of which a one-bit answer tells little.
    """
    if weighted or expected_flips(n, epsilon * (1 - _SHARE)) > _FLIPS:  # a bit may come before the answers
        return "noisy-power"
    if rank == 1:
        return _choose_for_vector(n, epsilon)
    ratio = noise_ratio(n, rank, epsilon, delta)
    if ratio <= _EVEN_RATIO:
        return "randomized-response"
    return "by degrees" if ratio <= max(_UNEVEN_RATIO * math.sqrt(n), _LARGEST_RATIO) else "noisy-power"


def _choose_for_vector(n: int, epsilon: float) -> Choice:
    answer = answer_noise(epsilon)
    if answer * math.sqrt(n) <= _VECTOR_COLUMN or answer <= _VECTOR_ENTRY:
        return "randomized-response"
    if epsilon >= _VECTOR_BY_DEGREES:
        return "by degrees"
    return "by residual" if epsilon >= _VECTOR_BY_RESIDUAL else "noisy-power"


def release_choice(graph: GraphOperator, rank: int, call: Call) -> bool:
    """Whether answers shall be taken: a few vertices hold much of all degrees, or there are few edges for the noise.

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
    return call.at_epsilon(epsilon).release(measurement).number > 0


def _even_degree(n: int, ratio: float, epsilon: float) -> float:
    """Average degree up to which answers are taken where degrees are even."""
    if ratio > _LARGEST_RATIO:
        return 0.0
    return min(_RATIO_PER_NOISE * math.sqrt(n) * answer_noise(epsilon) / (ratio - _EVEN_RATIO), float(n))
