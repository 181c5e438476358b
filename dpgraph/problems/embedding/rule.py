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
from dpgraph.tuning import EMBEDDING_RULE

__all__ = ["choose_mechanism", "noise_ratio", "release_choice"]

Choice = Literal["noisy-power", "randomized-response", "by degrees", "by residual"]

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
    if (
        weighted or expected_flips(n, epsilon * (1 - EMBEDDING_RULE.share)) > _FLIPS
    ):  # a bit may come before the answers
        return "noisy-power"
    if rank == 1:
        return _choose_for_vector(n, epsilon)
    ratio = noise_ratio(n, rank, epsilon, delta)
    if ratio <= EMBEDDING_RULE.even_ratio:
        return "randomized-response"
    return (
        "by degrees"
        if ratio <= max(EMBEDDING_RULE.uneven_ratio * math.sqrt(n), EMBEDDING_RULE.largest_ratio)
        else "noisy-power"
    )


def _choose_for_vector(n: int, epsilon: float) -> Choice:
    answer = answer_noise(epsilon)
    if answer * math.sqrt(n) <= EMBEDDING_RULE.vector_column or answer <= EMBEDDING_RULE.vector_entry:
        return "randomized-response"
    if epsilon >= EMBEDDING_RULE.vector_by_degrees:
        return "by degrees"
    return "by residual" if epsilon >= EMBEDDING_RULE.vector_by_residual else "noisy-power"


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
    return call.at_epsilon(epsilon).release(measurement).number > 0


def _even_degree(n: int, ratio: float, epsilon: float) -> float:
    """Average degree up to which answers are taken where degrees are even."""
    if ratio > EMBEDDING_RULE.largest_ratio:
        return 0.0
    return min(
        EMBEDDING_RULE.ratio_per_noise * math.sqrt(n) * answer_noise(epsilon) / (ratio - EMBEDDING_RULE.even_ratio),
        float(n),
    )
