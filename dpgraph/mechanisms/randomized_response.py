"""Randomised response on every vertex pair: the classical baseline, pure epsilon-DP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpgraph.graph import GraphOperator
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource

__all__ = ["release_flipped_adjacency"]

FloatArray = NDArray[np.float64]


def release_flipped_adjacency(
    graph: GraphOperator, *, ledger: Ledger, epsilon: float, noise: NoiseSource
) -> FloatArray:
    """Release an unbiased dense estimate of an adjacency matrix, shape (n, n).

    A pair of weight u answers 1 with probability p + (1 - 2p) u/w, p = 1/(1 + e^eps), independently of the others;
    then w (bit - p)/(1 - 2p) is unbiased. The probabilities of an answer lie in [p, 1 - p], so that its laws for two
    weights differ by a factor of at most e^eps, and a neighbour differs in one pair. For u in {0, w} this is the
    classical rule.

    References
    ----------
    S. L. Warner, "Randomized response", JASA 1965; C. Dwork, A. Roth, 2014, section 3.2.
    """
    n = graph.n_vertices
    ledger.pure("adjacency bits", mechanism="randomized response", sensitivity=1.0, epsilon=epsilon)
    flip = float(expit(-epsilon))
    bits = noise.randomized_bits(graph.multiply(np.eye(n)) / graph.max_weight, flip)
    estimate = np.triu((bits - flip) / (1 - 2 * flip), k=1) * graph.max_weight
    return estimate + estimate.T
