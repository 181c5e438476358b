"""Private max-cut: one mechanism releases a public object, the exact solver (or nothing) does the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import Graph, open_graph
from dpgraph.mechanisms.bounded_iterates import release_cut_labels
from dpgraph.mechanisms.noisy_power import release_low_rank_adjacency
from dpgraph.mechanisms.normalized_adjacency import (
    DEFAULT_MAX_RANK,
    AdjacencyOptions,
    adjacency_slack,
    release_noisy_matrix,
    release_normalized_adjacency,
)
from dpgraph.mechanisms.private_adjacency import DENSE_LIMIT
from dpgraph.mechanisms.randomized_response import release_flipped_adjacency
from dpgraph.mechanisms.subspace import Rank
from dpgraph.mechanisms.weights import release_cut_weight, release_total_weight
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta
from dpgraph.privacy.ledger import EDGE_ADJACENCY, Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.problems.private_cut import PrivateCutResult, make_partition
from dpgraph.sos.objective import CutObjective, DenseObjective, FactoredObjective
from dpgraph.sos.solver import solve_max_cut

__all__ = ["MECHANISMS", "private_max_cut"]

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int8]
Mechanism = Literal["auto", "coherence", "gaussian", "noisy-power", "bounded-iterates", "randomized-response"]
Projection = Literal["auto", "spectral", "frobenius", "none"]

MECHANISMS = ("coherence", "gaussian", "noisy-power", "bounded-iterates", "randomized-response")

#: Shares of the budget for the weight of the cut and for the total weight (of mu**2, or of epsilon if pure).
_VALUE_SHARE = 0.02
_TOTAL_SHARE = 0.005
#: Rank of the noisy power method under rank="auto".
_POWER_RANK = 2
#: Annealing sweeps on a private objective: polishing it far below its noise would be wasted.
_SWEEPS = 100
#: projection="auto" projects a dense noisy matrix up to this size; a factored one is left as it is.
_PROJECTION_LIMIT = 1000


@dataclass(frozen=True)
class _Call:
    """Checked public arguments of one call."""

    mechanism: str
    rank: Rank
    adjacency: AdjacencyOptions
    projection: Projection
    seeds: int
    rounds: int
    progress: bool


@dataclass(frozen=True)
class _Cut:
    labels: Labels
    upper_bound: float | None = None


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
        The private graph; its vertex set is public.
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
            Every pair flipped at random (pure epsilon-DP, n <= 5000), then the solver: a baseline.
        ``"auto"``
            ``"bounded-iterates"``: on every benchmark graph it is within 0.005 of the best of the others or better
            (docs/choosing.md), so that nothing has to be spent on the choice.
    rank, max_rank, regularization, coherence
        For the spectral mechanisms, as in :func:`~dpgraph.private_normalized_adjacency`.
    projection : {"auto", "spectral", "frobenius", "none"}
        Projection of a private matrix onto the nonnegative spectral ball. "auto" projects (in Frobenius norm) the noisy
        matrix of ``"gaussian"`` up to n = 1000 and leaves factored matrices as they are.
    seeds, rounds : int
        Passed to the solver, as in :func:`~dpgraph.max_cut`.
    on_halt : {"raise", "fallback"}
        What to do when the mechanism halts: raise, or return a random balanced cut that does not depend on the data,
        with its private value where the budget still holds it.
    weight, max_weight, symmetrize
        See :func:`dpgraph.graph.open_graph`.
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
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`.
    Every release is a line of ``result.privacy``. Two per cent of the budget buys `estimated_value`, the weight of the
    released cut: its sensitivity is `max_weight`, because the cut is fixed when it is weighed. Solvers see released
    values only.

    References
    ----------
    DN25a (``"coherence"``); DTTZ14 (``"gaussian"``); HP14 (``"noisy-power"``); mathematics.md, section 6
    (``"bounded-iterates"``).

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_cut(600, 100, -0.8, rng=0)
    >>> cut = dpgraph.private_max_cut(G, epsilon=2.0, delta=1e-6, rng=0)
    >>> sorted(len(side) for side in cut.partition) == [300, 300] or cut.estimated_fraction > 0.8
    True
    """
    noise = noise_source(rng)
    check_delta(delta)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    call = _check_call(
        source.n_vertices,
        mechanism,
        rank,
        max_rank,
        regularization,
        coherence,
        projection,
        seeds,
        rounds,
        on_halt,
        progress,
    )
    ledger = open_ledger(
        epsilon=epsilon,
        delta=None if call.mechanism == "randomized-response" else delta,
        accountant=accountant,
        adjacency=EDGE_ADJACENCY,
        noise=noise,
        slack=adjacency_slack(call.adjacency, delta) if call.mechanism in ("coherence", "gaussian") else 0.0,
    )
    graph = source.read()
    total = release_total_weight(graph, ledger=ledger, share=_TOTAL_SHARE, noise=noise)
    mean_degree = 2 * total.value / graph.n_vertices
    try:
        cut, used = _RELEASES[call.mechanism](graph, mean_degree, call, ledger, noise), call.mechanism
    except MechanismHalted:
        if on_halt == "raise":
            raise
        cut, used = _data_independent(graph.n_vertices, noise), "data-independent"
    value = release_cut_weight(graph, cut.labels, ledger=ledger, share=_VALUE_SHARE, noise=noise)
    return PrivateCutResult(
        partition=make_partition(graph.nodes, cut.labels),
        labels=cut.labels,
        nodes=graph.nodes,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        upper_bound=cut.upper_bound,
        mechanism=used,
        privacy=ledger.report(),
    )


def _check_call(
    n: int,
    mechanism: str,
    rank: Rank,
    max_rank: int,
    regularization: float | Literal["auto"],
    coherence: str,
    projection: Projection,
    seeds: int,
    rounds: int,
    on_halt: str,
    progress: bool,
) -> _Call:
    if mechanism not in ("auto", *MECHANISMS):
        raise InvalidParameterError(f"mechanism must be 'auto' or one of {', '.join(MECHANISMS)}; got {mechanism!r}")
    if projection not in ("auto", "spectral", "frobenius", "none"):
        raise InvalidParameterError(f"projection must be 'auto', 'spectral', 'frobenius' or 'none'; got {projection!r}")
    if on_halt not in ("raise", "fallback"):
        raise InvalidParameterError(f"on_halt must be 'raise' or 'fallback'; got {on_halt!r}")
    if seeds < 0 or rounds < 1:
        raise InvalidParameterError(f"need seeds >= 0 and rounds >= 1; got seeds={seeds!r}, rounds={rounds!r}")
    chosen = "bounded-iterates" if mechanism == "auto" else mechanism
    if chosen == "randomized-response" and n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"randomized response makes all n**2 pairs noisy and is limited to n <= {DENSE_LIMIT}; got n = {n}"
        )
    spectral = chosen if chosen in ("coherence", "gaussian") else "coherence"
    options = AdjacencyOptions.check(
        n, rank=rank, max_rank=max_rank, regularization=regularization, coherence=coherence, mechanism=spectral
    )
    return _Call(chosen, rank, options, projection, seeds, rounds, progress)


# --- what each mechanism releases ------------------------------------------------------------------------------------


Release = Callable[[Graph, float, "_Call", Ledger, NoiseSource], "_Cut"]


def _main_mu(ledger: Ledger) -> float:
    """GDP parameter of the mechanism proper: all but the two weights."""
    return ledger.mu * math.sqrt(1 - _VALUE_SHARE - _TOTAL_SHARE)


def _bounded_iterates(graph: Graph, mean_degree: float, call: _Call, ledger: Ledger, noise: NoiseSource) -> _Cut:
    labels = release_cut_labels(
        graph, mean_degree=mean_degree, ledger=ledger, mu=_main_mu(ledger), noise=noise, progress=call.progress
    )
    return _Cut(labels)


def _coherence(graph: Graph, mean_degree: float, call: _Call, ledger: Ledger, noise: NoiseSource) -> _Cut:
    private = release_normalized_adjacency(
        graph, call.adjacency, mean_degree=mean_degree, ledger=ledger, mu=_main_mu(ledger), noise=noise
    )
    if call.projection in ("spectral", "frobenius"):
        return _solve_dense(private.matrix(), private.scale, call, noise)
    return _solve(FactoredObjective(private.adjacency_factor(), private.core), call, noise)


def _gaussian(graph: Graph, mean_degree: float, call: _Call, ledger: Ledger, noise: NoiseSource) -> _Cut:
    scale, matrix = release_noisy_matrix(
        graph, call.adjacency, mean_degree=mean_degree, ledger=ledger, mu=_main_mu(ledger), noise=noise
    )
    return _solve_dense(matrix, scale, call, noise)


def _noisy_power(graph: Graph, mean_degree: float, call: _Call, ledger: Ledger, noise: NoiseSource) -> _Cut:
    rank = min(_POWER_RANK, graph.n_vertices) if call.rank == "auto" else call.rank
    Q, core = release_low_rank_adjacency(graph, rank, ledger=ledger, mu=_main_mu(ledger), noise=noise)
    return _solve(FactoredObjective(Q, core), call, noise)


def _randomized_response(graph: Graph, mean_degree: float, call: _Call, ledger: Ledger, noise: NoiseSource) -> _Cut:
    share = 1 - _VALUE_SHARE - _TOTAL_SHARE
    estimate = release_flipped_adjacency(graph, ledger=ledger, epsilon=ledger.epsilon * share, noise=noise)
    return _solve(DenseObjective(estimate), call, noise)


_RELEASES: dict[str, Release] = {
    "bounded-iterates": _bounded_iterates,
    "coherence": _coherence,
    "gaussian": _gaussian,
    "noisy-power": _noisy_power,
    "randomized-response": _randomized_response,
}


# --- post-processing -------------------------------------------------------------------------------------------------


def _solve_dense(normalized: FloatArray, scale: FloatArray, call: _Call, noise: NoiseSource) -> _Cut:
    """Project a private normalized adjacency if asked to, undo the normalisation, and solve."""
    root = np.sqrt(scale)
    adjacency = _project(normalized, call.projection) * np.outer(root, root)
    np.fill_diagonal(adjacency, 0.0)
    return _solve(DenseObjective((adjacency + adjacency.T) / 2), call, noise)


def _solve(objective: CutObjective, call: _Call, noise: NoiseSource) -> _Cut:
    solution = solve_max_cut(
        objective, seeds=call.seeds, rounds=call.rounds, sweeps=_SWEEPS, starts=2, rng=noise.generator
    )
    return _Cut(np.asarray(solution.labels, dtype=np.int8), float(solution.upper_bound))


def _project(matrix: FloatArray, projection: Projection) -> FloatArray:
    n = matrix.shape[0]
    if projection == "none" or (projection == "auto" and n > _PROJECTION_LIMIT):
        return matrix
    from dpgraph.projections import project_nonnegative_spectral_ball

    norm: Literal["spectral", "frobenius"] = "spectral" if projection == "spectral" else "frobenius"
    return project_nonnegative_spectral_ball(matrix, norm=norm, zero_diagonal=True).matrix


def _data_independent(n: int, noise: NoiseSource) -> _Cut:
    """Draw a random balanced cut, which cuts at least half of the edges in expectation."""
    return _Cut((noise.generator.permutation(n) % 2).astype(np.int8))
