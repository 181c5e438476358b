"""Private max-bisection."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.problems.cut.release import CutRequest, Mechanism, Projection, release_private_cut
from dpgraph.problems.embedding.options import DEFAULT_MAX_RANK
from dpgraph.releases.eigenspaces.projector import Rank
from dpgraph.results.cut import PrivateCutResult

__all__ = ["private_max_bisection"]


def private_max_bisection(
    G: Any,
    *,
    epsilon: float,
    delta: float,
    mechanism: Mechanism = "auto",
    rank: Rank = "auto",
    max_rank: int = DEFAULT_MAX_RANK,
    regularization: float | Literal["auto"] = "auto",
    coherence: Literal["degree-corrected", "rank"] = "degree-corrected",
    projection: Projection = "auto",
    noise: Literal["auto", "gaussian", "laplace"] = "auto",
    seeds: int = 0,
    rounds: int = 64,
    on_halt: Literal["raise", "fallback"] = "raise",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCutResult:
    r"""Release a large cut into two halves with edge-level differential privacy.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon, delta : float
        epsilon > 0, 0 < delta < 1.
    mechanism : str, default "auto"
        As for :func:`~dpgraph.private_max_cut`, with its rule for "auto". Bounded iterates get a multiplier on the sum
        of the iterate, released graphs are cut with a price on imbalance, and vertices exchanged.
    rank, max_rank, regularization, coherence, projection, noise, seeds, rounds, on_halt, weight, max_weight, symmetrize
        As for :func:`~dpgraph.private_max_cut`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show a progress bar on stderr (bounded iterates).

    Returns
    -------
    PrivateCutResult
        The sides differ by at most one vertex.

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input.
    BudgetExceededError
        The accountant refuses.
    MechanismHalted
        ``"coherence"`` could not certify what it needs, and ``on_halt="raise"``.

    Notes
    -----
    *Guarantee.* That of :func:`~dpgraph.private_max_cut`, with the same sensitivities: balance is a public constraint,
    imposed on released values.

    References
    ----------
    mathematics.md, section 6; DN25a, section 7.

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_bisection(400, 100, -0.8, rng=0)
    >>> half = dpgraph.private_max_bisection(G, epsilon=2.0, delta=1e-6, rng=0)
    >>> [len(side) for side in half.partition]
    [200, 200]
    """
    return release_private_cut(
        open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize),
        CutRequest(
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            balanced=True,
            rank=rank,
            max_rank=max_rank,
            regularization=regularization,
            coherence=coherence,
            projection=projection,
            noise=noise,
            seeds=seeds,
            rounds=rounds,
            on_halt=on_halt,
            progress=progress,
        ),
        accountant=accountant,
        rng=rng,
    )
