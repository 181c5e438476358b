"""The noisy power method: a private low-rank adjacency from public iterates (HP14).

The iterate X (n x r, orthonormal) is public, so releasing A X + noise costs w sqrt(||X_i||^2 + ||X_j||^2) for an edge
{i, j}: the coherence that matters is that of the public iterate, and it may be read off at no cost.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.grid import CORE_BITS, release_array
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity
from dpgraph.spectral.neighbours import row_norms

__all__ = ["release_low_rank_adjacency"]

FloatArray = NDArray[np.float64]

ITERATIONS = 6
_CORE_SHARE = 0.05


def release_low_rank_adjacency(
    graph: GraphOperator,
    rank: int,
    *,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
    iterations: int = ITERATIONS,
) -> tuple[FloatArray, FloatArray]:
    """Release (Q, B) with the adjacency matrix close to Q B Q', by the noisy power method with GDP parameter `mu`.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    rank : int
        Number of columns, 1 <= rank <= n.
    ledger, mu, noise
        Budget of the call, GDP parameter of this release, source of noise.
    iterations : int
        Public number of multiplications.

    Returns
    -------
    Q : ndarray, shape (n, rank)
        Orthonormal.
    B : ndarray, shape (rank, rank)
        Symmetric, Q' A Q plus noise.

    References
    ----------
    HP14: M. Hardt, E. Price, "The noisy power method", NIPS 2014, Algorithm 1 (here with exact Gaussian composition).
    """
    n, w = graph.n_vertices, graph.max_weight
    # Random signs: all rows of the first iterate are (nearly) equally long, which is what the noise is scaled by.
    Q, _ = np.linalg.qr(noise.generator.choice(np.array([-1.0, 1.0]), size=(n, rank)))
    mu_core = mu * math.sqrt(_CORE_SHARE)
    mu_step = math.sqrt((mu**2 - mu_core**2) / iterations)
    for t in range(iterations):
        bound = sensitivity.row_release(w, float(row_norms(Q).max()))
        noisy = release_array(
            graph.multiply(Q),
            name=f"power iteration {t + 1}",
            sensitivity=bound,
            mu=mu_step,
            symmetric=False,
            ledger=ledger,
            noise=noise,
        )
        Q, _ = np.linalg.qr(noisy)
    core = release_array(
        Q.T @ graph.multiply(Q),
        name="core",
        sensitivity=sensitivity.adjacency_core(w, Q),
        mu=mu_core,
        symmetric=True,
        ledger=ledger,
        noise=noise,
        bits=CORE_BITS,
    )
    return Q, core
