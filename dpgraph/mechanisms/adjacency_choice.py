"""What ``mechanism="auto"`` of a private normalized adjacency stands for: a rule of public arguments alone.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair, so that an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method adds noise of standard
deviation sqrt(2 r)/(mu sqrt(n)) to every row of a product with r columns whose rows are equally long, which is an error
of about sqrt(2 r)/(mu lambda), mu the parameter of Gaussian differential privacy. The eigenvalue is the same in
both: which one is smaller is a matter of n, r, epsilon and delta, and a constant for rows that are not equally long.
"""

from __future__ import annotations

import math
from typing import Literal

from dpgraph.mechanisms.randomized_response import FLIP_LIMIT, expected_flips
from dpgraph.privacy.accounting import gdp_mu

__all__ = ["choose_mechanism", "noise_ratio"]

#: Answers are taken while their noise is below this many times that of products. Tuned on planted cuts, blocks and
#: graphs of uneven communities and degrees: products with uneven rows are noisier, and answers need no start.
_LARGEST_RATIO = 4.0


def noise_ratio(n: int, rank: int, epsilon: float, delta: float) -> float:
    """Error of randomised response in units of that of the noisy power method with rows of one length."""
    # sinh overflows; a large epsilon leaves no false answers.
    answers = math.sqrt(n) * math.exp(-epsilon / 2) / -math.expm1(-epsilon)
    return answers * gdp_mu(epsilon, delta) / math.sqrt(2 * rank)


def choose_mechanism(
    n: int, rank: int, epsilon: float, delta: float, *, weighted: bool
) -> Literal["noisy-power", "randomized-response"]:
    """The mechanism of an embedding, from public arguments.

    Parameters
    ----------
    n, rank
        Number of vertices and of eigenvectors.
    epsilon, delta
        Budget.
    weighted : bool
        Whether edges may have weights between 0 and `max_weight`, of which a one-bit answer tells little.
    """
    if weighted or expected_flips(n, epsilon) > FLIP_LIMIT or noise_ratio(n, rank, epsilon, delta) > _LARGEST_RATIO:
        return "noisy-power"
    return "randomized-response"
