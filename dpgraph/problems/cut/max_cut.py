"""Private max-cut."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.problems.cut.release import CutRequest, Mechanism, Projection, release_private_cut
from dpgraph.problems.embedding.options import DEFAULT_MAX_RANK
from dpgraph.releases.eigenspaces.projector import Rank
from dpgraph.results.cut import PrivateCutResult

__all__ = ["private_max_cut"]


def private_max_cut(
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
    r"""Release a large cut of a graph with edge-level differential privacy.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon, delta : float
        epsilon > 0, 0 < delta < 1.
    mechanism : str, default "auto"
        ``"bounded-iterates"``
            Private block coordinate descent on a public iterate. Never halts; any size.
        ``"coherence"``
            :func:`~dpgraph.private_normalized_adjacency`, then the max-cut solver on the private factors. May halt.
        ``"gaussian"``
            Noise on all entries of the normalized adjacency, projection, then the solver (n <= 5000).
        ``"noisy-power"``
            Noisy power method, then the solver on the private factors.
        ``"randomized-response"``
            Every pair flipped at random (pure epsilon-DP), then the solver. Good where the average degree exceeds the
            n/(1 + e**epsilon) false answers at a vertex.
        ``"core-response"``
            Randomized response inside a core of large degrees, one noisy look at every other vertex (pure epsilon-DP).
        ``"permute-and-flip"``
            The noisily largest of all cuts of at most 20 vertices (pure epsilon-DP).
        ``"auto"``
            A public rule (docs/choosing.md): all cuts of at most 20 vertices; randomized response, of all vertices or
            of a core, where a privately released average degree says that it tells enough; otherwise, with declared
            weights, and with ``noise="gaussian"``, bounded iterates. ``result.mechanism`` names the choice.
    rank, max_rank, regularization, coherence
        For the spectral mechanisms, as in :func:`~dpgraph.private_normalized_adjacency`.
    projection : {"auto", "spectral", "frobenius", "none"}
        Projection of a private matrix onto the nonnegative spectral ball. "auto" projects (in Frobenius norm) the noisy
        matrix of ``"gaussian"`` up to n = 1000 and leaves factored matrices as they are.
    noise : {"auto", "gaussian", "laplace"}
        Noise of the bounded iterates. ``"auto"`` and ``"laplace"`` make the whole call pure, (epsilon, 0)-DP.
        ``"laplace"``: one to five sweeps over all vertices that read an edge once each. "auto": the same in a graph of
        few edges for its epsilon; otherwise 3 to 40 sweeps of all vertices, or of a core of large degrees, with K-norm
        noise that is drawn for all readings of a vertex together. ``"gaussian"`` affords 24 or more sweeps of a core,
        and several such calls compose exactly under one accountant.
    seeds, rounds : int
        Passed to the solver, as in :func:`~dpgraph.max_cut`.
    on_halt : {"raise", "fallback"}
        What to do when the mechanism halts: raise, or return a random balanced cut that does not depend on the data,
        with its private value where the budget still holds it.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show a progress bar on stderr (bounded iterates).

    Returns
    -------
    PrivateCutResult

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
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`;
    (epsilon, 0)-DP, delta not being spent, unless a spectral mechanism or ``noise="gaussian"`` is asked for. Every
    release is a line of ``result.privacy``. Two per cent of the budget buys `estimated_value`, the weight of the
    released cut: its sensitivity is `max_weight`, because the cut is fixed when it is weighed. Solvers see released
    values only.

    References
    ----------
    DN25a (``"coherence"``); DTTZ14 (``"gaussian"``); HP14 (``"noisy-power"``); mathematics.md, section 6
    (``"bounded-iterates"``), and :func:`dpgraph.bounds.sensitivity.repeated_readings`; Warner 1965
    (``"randomized-response"``); McKenna, Sheldon 2020 (``"permute-and-flip"``).

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_cut(600, 100, -0.8, rng=0)
    >>> cut = dpgraph.private_max_cut(G, epsilon=2.0, delta=1e-6, rng=0)
    >>> sorted(len(side) for side in cut.partition) == [300, 300] or cut.estimated_fraction > 0.8
    True
    """
    return release_private_cut(
        open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize),
        CutRequest(
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            balanced=False,
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
