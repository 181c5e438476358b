"""What private max-cut and private max-bisection share: one mechanism releases, the exact solver does the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import Graph, GraphSource
from dpgraph.mechanisms.bounded_iterates import LOOK_DELTA, is_parallel, is_pure
from dpgraph.mechanisms.cut_iterates import release_cut_labels
from dpgraph.mechanisms.noisy_power import release_low_rank_adjacency
from dpgraph.mechanisms.normalized_adjacency import (
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
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.ledger import EDGE_ADJACENCY, Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.problems.private_cut import PrivateCutResult, make_partition
from dpgraph.sos.balance import penalise_imbalance
from dpgraph.sos.objective import CutObjective, DenseObjective, FactoredObjective
from dpgraph.sos.solver import solve_max_cut

__all__ = ["MECHANISMS", "CutRequest", "Mechanism", "Projection", "release_private_cut"]

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int8]
Mechanism = Literal["auto", "coherence", "gaussian", "noisy-power", "bounded-iterates", "randomized-response"]
Projection = Literal["auto", "spectral", "frobenius", "none"]

MECHANISMS = ("coherence", "gaussian", "noisy-power", "bounded-iterates", "randomized-response")

#: Shares of the budget for the weight of the cut and for the total weight (of mu**2, or of epsilon if pure).
_VALUE_SHARE = 0.02
_TOTAL_SHARE = 0.005
#: What is left for the mechanism proper.
_MAIN_SHARE = 1 - _VALUE_SHARE - _TOTAL_SHARE
#: Rank of the noisy power method under rank="auto".
_POWER_RANK = 2
#: Price of the imbalance of a private bisection, in units of the mean row norm: the solver stays within a few vertices.
_PRICE = 1 / 40
#: Annealing sweeps on a private objective: polishing it far below its noise would be wasted.
_SWEEPS = 100
#: projection="auto" projects a dense noisy matrix up to this size; a factored one is left as it is.
_PROJECTION_LIMIT = 1000


@dataclass(frozen=True)
class CutRequest:
    """Public arguments of :func:`~dpgraph.private_max_cut` and :func:`~dpgraph.private_max_bisection`."""

    epsilon: float
    delta: float
    mechanism: str
    balanced: bool
    rank: Rank
    max_rank: int
    regularization: float | Literal["auto"]
    coherence: str
    projection: Projection
    noise: str
    seeds: int
    rounds: int
    on_halt: str
    progress: bool

    @property
    def pure(self) -> bool:
        """Whether the mechanism is pure: delta is not used."""
        if self.chosen == "bounded-iterates":
            return is_pure(self.noise, check_epsilon(self.epsilon))
        return self.chosen == "randomized-response"

    @property
    def parallel(self) -> bool:
        """Whether Gaussian and Laplace releases about different pairs stand side by side."""
        return self.chosen == "bounded-iterates" and is_parallel(self.noise, self.epsilon)

    @property
    def chosen(self) -> str:
        """The mechanism that "auto" stands for: a fixed rule, so that nothing is spent on the choice."""
        return "bounded-iterates" if self.mechanism == "auto" else self.mechanism


@dataclass(frozen=True)
class _Cut:
    labels: Labels
    upper_bound: float | None = None


def release_private_cut(
    source: GraphSource,
    request: CutRequest,
    *,
    accountant: PrivacyAccountant | None,
    rng: int | np.random.Generator | None,
) -> PrivateCutResult:
    """Check the request, debit the budget, read the graph, release and solve."""
    noise = noise_source(rng)
    options = _check(source.n_vertices, request)
    spectral = request.chosen in ("coherence", "gaussian")
    ledger = open_ledger(
        epsilon=request.epsilon,
        delta=None if request.pure else request.delta,
        accountant=accountant,
        adjacency=EDGE_ADJACENCY,
        noise=noise,
        slack=adjacency_slack(options, request.delta) if spectral else LOOK_DELTA * request.delta * request.parallel,
        parallel=request.parallel,
    )
    call = _Call(source.read(), request, options, ledger, noise)
    total = release_total_weight(call.graph, ledger=ledger, share=_TOTAL_SHARE, noise=noise)
    mean_degree = 2 * total.value / source.n_vertices
    try:
        cut, used = _RELEASES[request.chosen](call, mean_degree), request.chosen
    except MechanismHalted:
        if request.on_halt == "raise":
            raise
        cut, used = _data_independent(source.n_vertices, noise), "data-independent"
    value = release_cut_weight(call.graph, cut.labels, ledger=ledger, share=_VALUE_SHARE, noise=noise)
    return PrivateCutResult(
        partition=make_partition(call.graph.nodes, cut.labels),
        labels=cut.labels,
        nodes=call.graph.nodes,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        upper_bound=cut.upper_bound,
        mechanism=used,
        privacy=ledger.report(),
    )


def _check(n: int, request: CutRequest) -> AdjacencyOptions:
    """Validate everything public; raises :class:`InvalidParameterError` before the budget is touched."""
    check_delta(request.delta)
    choices = {
        "mechanism": ("auto", *MECHANISMS),
        "projection": ("auto", "spectral", "frobenius", "none"),
        "noise": ("auto", "gaussian", "laplace"),
        "on_halt": ("raise", "fallback"),
    }
    for name, allowed in choices.items():
        if getattr(request, name) not in allowed:
            raise InvalidParameterError(f"{name} must be one of {', '.join(allowed)}; got {getattr(request, name)!r}")
    if request.seeds < 0 or request.rounds < 1:
        raise InvalidParameterError(
            f"need seeds >= 0 and rounds >= 1; got seeds={request.seeds!r}, rounds={request.rounds!r}"
        )
    if request.chosen == "randomized-response" and n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"randomized response makes all n**2 pairs noisy and is limited to n <= {DENSE_LIMIT}; got n = {n}"
        )
    if request.chosen == "coherence" and request.projection in ("spectral", "frobenius") and n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"projection={request.projection!r} is dense and limited to n <= {DENSE_LIMIT}; got n = {n}. "
            'Use projection="auto" or "none", which keep the matrix factored'
        )
    return AdjacencyOptions.check(
        n,
        rank=request.rank,
        max_rank=request.max_rank,
        regularization=request.regularization,
        coherence=request.coherence,
        mechanism="gaussian" if request.chosen == "gaussian" else "coherence",
    )


# --- what each mechanism releases ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """A debited call with its private graph."""

    graph: Graph
    request: CutRequest
    options: AdjacencyOptions
    ledger: Ledger
    noise: NoiseSource

    @property
    def mu(self) -> float:
        """GDP parameter of the mechanism proper."""
        return self.ledger.mu * math.sqrt(_MAIN_SHARE)


def _bounded_iterates(call: _Call, mean_degree: float) -> _Cut:
    labels = release_cut_labels(
        call.graph,
        mean_degree=mean_degree,
        ledger=call.ledger,
        share=_MAIN_SHARE,
        noise=call.noise,
        balanced=call.request.balanced,
        progress=call.request.progress,
    )
    return _Cut(labels)


def _coherence(call: _Call, mean_degree: float) -> _Cut:
    private = release_normalized_adjacency(
        call.graph, call.options, mean_degree=mean_degree, ledger=call.ledger, mu=call.mu, noise=call.noise
    )
    if call.request.projection in ("spectral", "frobenius"):
        return _solve_dense(private.matrix(), private.scale, call)
    return _solve(FactoredObjective(private.adjacency_factor(), private.core), call)


def _gaussian(call: _Call, mean_degree: float) -> _Cut:
    scale, matrix = release_noisy_matrix(
        call.graph, call.options, mean_degree=mean_degree, ledger=call.ledger, mu=call.mu, noise=call.noise
    )
    return _solve_dense(matrix, scale, call)


def _noisy_power(call: _Call, mean_degree: float) -> _Cut:
    rank = min(_POWER_RANK, call.graph.n_vertices) if call.request.rank == "auto" else call.request.rank
    Q, core = release_low_rank_adjacency(call.graph, rank, ledger=call.ledger, mu=call.mu, noise=call.noise)
    return _solve(FactoredObjective(Q, core), call)


def _randomized_response(call: _Call, mean_degree: float) -> _Cut:
    epsilon = call.ledger.epsilon * _MAIN_SHARE
    estimate = release_flipped_adjacency(call.graph, ledger=call.ledger, epsilon=epsilon, noise=call.noise)
    return _solve(DenseObjective(estimate), call)


_RELEASES: dict[str, Callable[[_Call, float], _Cut]] = {
    "bounded-iterates": _bounded_iterates,
    "coherence": _coherence,
    "gaussian": _gaussian,
    "noisy-power": _noisy_power,
    "randomized-response": _randomized_response,
}


# --- post-processing -------------------------------------------------------------------------------------------------


def _solve_dense(normalized: FloatArray, scale: FloatArray, call: _Call) -> _Cut:
    """Project a private normalized adjacency if asked to, undo the normalisation, and solve."""
    root = np.sqrt(scale)
    adjacency = _project(normalized, call.request.projection) * np.outer(root, root)
    np.fill_diagonal(adjacency, 0.0)
    return _solve(DenseObjective((adjacency + adjacency.T) / 2), call)


def _solve(objective: CutObjective, call: _Call) -> _Cut:
    """Cut a released objective (public from here on)."""
    request, generator = call.request, call.noise.generator
    price = _PRICE * float(objective.row_norms().mean()) if request.balanced else 0.0
    priced = penalise_imbalance(objective, price) if request.balanced else objective
    solution = solve_max_cut(
        priced, seeds=request.seeds, rounds=request.rounds, sweeps=_SWEEPS, starts=2, rng=generator
    )
    if not request.balanced:
        return _Cut(np.asarray(solution.labels, dtype=np.int8), float(solution.upper_bound))
    # Halves of an odd number of vertices pay for an imbalance of 1, which the bound gets back.
    allowance = price * (objective.n_vertices % 2)
    return _Cut(_halved(objective, solution.labels), float(solution.upper_bound) + allowance)


def _halved(objective: CutObjective, labels: NDArray[np.int64]) -> Labels:
    """Move the vertices whose move costs least from the larger to the smaller side."""
    signs: FloatArray = np.where(labels == 1, -1.0, 1.0)
    surplus = int(abs(signs.sum())) // 2
    if surplus:
        larger = math.copysign(1.0, signs.sum())
        # Moving i changes the cut by x_i (Mx)_i / 2; moves interact little, as few are needed.
        gain = np.where(signs == larger, signs * objective.multiply(signs), -np.inf)
        signs[np.argsort(-gain, kind="stable")[:surplus]] *= -1.0
    return (signs < 0).astype(np.int8)


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
