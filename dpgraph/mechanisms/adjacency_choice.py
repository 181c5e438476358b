"""What ``mechanism="auto"`` of a private normalized adjacency stands for.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair, so that an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method adds noise of standard
deviation sqrt(2) k/mu to every row of a product with r columns whose longest rows have length k, mu the parameter of
Gaussian differential privacy: an error of about k sqrt(2 n)/(mu lambda). The eigenvalue is the same in both.

Where degrees are even, rows are about equally long, k = sqrt(r/n), and which error is smaller is a matter of public
arguments. Where degrees are uneven, as in nearly all real graphs, the longest rows of leading eigenvectors hold much
the same share of them whatever n, and answers win up to a ratio of the order of sqrt(n). If these two disagree, one
private bit decides: whether degrees deviate from their median by more than a third of their mean.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.randomized_response import FLIP_LIMIT, expected_flips
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = ["choose_mechanism", "noise_ratio", "release_unevenness"]

#: Answers are taken while their noise is below this many times that of products with rows of one length: on planted
#: cuts and blocks, answers and products are level between 1 and 2.
_EVEN_RATIO = 1.3
#: In graphs of uneven degrees, while it is below this many times sqrt(n) times that: on Facebook, mail and
#: collaboration graphs of 769 to 37,000 vertices, they are level between 0.08 and 0.17 of sqrt(n).
_UNEVEN_RATIO = 0.12
#: Share of epsilon for the bit. Its noise is small beside the sum of all degrees, and the more it gets, the less is
#: left for answers.
_SHARE = 0.005
#: Automatic answers stop here: more of them take minutes.
_FLIPS = FLIP_LIMIT / 4


def noise_ratio(n: int, rank: int, epsilon: float, delta: float) -> float:
    """Error of randomised response in units of that of the noisy power method with rows of one length."""
    # sinh overflows; a large epsilon leaves no false answers.
    answers = math.sqrt(n) * math.exp(-epsilon / 2) / -math.expm1(-epsilon)
    return answers * gdp_mu(epsilon, delta) / math.sqrt(2 * rank)


def choose_mechanism(
    n: int, rank: int, epsilon: float, delta: float, *, weighted: bool
) -> Literal["noisy-power", "randomized-response", "by degrees"]:
    """The mechanism of an embedding, from public arguments; "by degrees" if :func:`release_unevenness` has to decide.

    Parameters
    ----------
    n, rank
        Number of vertices and of eigenvectors.
    epsilon, delta
        Budget.
    weighted : bool
        Whether edges may have weights between 0 and `max_weight`, of which a one-bit answer tells little.
    """
    if weighted or expected_flips(n, epsilon) > _FLIPS:
        return "noisy-power"
    ratio = noise_ratio(n, rank, epsilon, delta)
    if ratio <= _EVEN_RATIO:
        return "randomized-response"
    return "by degrees" if ratio <= _UNEVEN_RATIO * math.sqrt(n) else "noisy-power"


def release_unevenness(graph: GraphOperator, *, ledger: Ledger, noise: NoiseSource) -> bool:
    """Whether degrees deviate from their median by a third of their mean or more, on average, but for Laplace noise.

    Parameters
    ----------
    graph : GraphOperator
        The private graph, without weights.
    ledger : Ledger
        The whole call, of which a small stage is spent (:meth:`~dpgraph.privacy.ledger.Ledger.decide` gives the rest).
    noise
        Source of noise.
    """
    epsilon = _SHARE * ledger.epsilon
    if ledger.delta > 0:
        epsilon = min(epsilon, free_choice_epsilon(ledger.epsilon, ledger.delta))
    bound = sensitivity.degree_deviation(graph.max_weight)
    scale = ledger.stage(epsilon).laplace("unevenness of degrees", sensitivity=bound, epsilon=epsilon)
    degrees = np.sort(graph.degrees())
    excess = 3 * np.abs(degrees - degrees[degrees.size // 2]).sum() - degrees.sum()
    return bool(noise.laplace_on_grid(np.array([excess]), graph.weight_unit, scale)[0] > 0)
