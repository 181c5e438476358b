"""What private max-cut and private max-bisection share: one mechanism releases, the exact solver does the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import Graph, GraphSource
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.cut.from_answers import RELEASED_GAP, cut_answers
from dpgraph.problems.cut.rule import MAIN_SHARE, decide_by_degree, decide_in_advance
from dpgraph.problems.embedding.api import (
    release_noisy_matrix,
    release_normalized_adjacency,
)
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.projections import project_nonnegative_spectral_ball
from dpgraph.releases.all_cuts import LARGEST, release_best_cut
from dpgraph.releases.answers import FlippedGraph, check_response, release_flipped_graph
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.projector import Rank
from dpgraph.releases.sweeps.oracle import Iteration
from dpgraph.releases.sweeps.signs import BalancedSigns, Signs, cut_labels, cut_oracle, release_cut_labels
from dpgraph.releases.sweeps.two_stage import check_core_response, release_core_response
from dpgraph.releases.totals import release_cut_weight, release_total_weight
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.results.cut import PrivateCutResult, make_partition
from dpgraph.sos.cut.balance import penalise_imbalance
from dpgraph.sos.cut.objective import CutObjective, DenseObjective, FactoredObjective
from dpgraph.sos.cut.solver import MaxCutSolution, solve_max_cut
from dpgraph.sos.seed_search import check_options

__all__ = ["MECHANISMS", "CutRequest", "Mechanism", "Projection", "release_private_cut"]

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int8]
Mechanism = Literal[
    "auto",
    "coherence",
    "gaussian",
    "noisy-power",
    "bounded-iterates",
    "core-response",
    "randomized-response",
    "permute-and-flip",
]
Projection = Literal["auto", "spectral", "frobenius", "none"]

MECHANISMS = (
    "coherence",
    "gaussian",
    "noisy-power",
    "bounded-iterates",
    "core-response",
    "randomized-response",
    "permute-and-flip",
)
#: Mechanisms that are pure whatever the noise of the others.
_PURE = ("core-response", "randomized-response", "permute-and-flip")

#: Shares of the budget for the weight of the cut and for the total weight (of mu**2, or of epsilon if pure).
_VALUE_SHARE = 0.02
_TOTAL_SHARE = 1 - _VALUE_SHARE - MAIN_SHARE
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

    def fixed(self, source: GraphSource) -> str | None:
        """The mechanism, if public arguments fix it; None where "auto" waits for the average degree."""
        if self.mechanism != "auto":
            return self.mechanism
        epsilon = check_epsilon(self.epsilon)
        return decide_in_advance(source.n_vertices, epsilon, noise=self.noise, weighted=source.weighted)

    def pure(self, mechanism: str | None) -> bool:
        """Whether the call is pure with this mechanism, or with all that "auto" may still take: delta is not used."""
        return mechanism in _PURE or (mechanism in ("bounded-iterates", None) and self.noise != "gaussian")


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
    noise, n = noise_source(rng), source.n_vertices
    options = _check(n, source.max_weight, request)
    chosen = request.fixed(source)
    spectral = chosen in ("coherence", "gaussian")
    ledger = open_ledger(
        epsilon=request.epsilon,
        delta=None if request.pure(chosen) else request.delta,
        accountant=accountant,
        relation=Edge(),
        noise=noise,
        slack=options.slack(request.delta) if spectral else 0.0,
    )
    graph = source.read()
    total = release_total_weight(graph, Call(ledger, noise, _TOTAL_SHARE))
    if chosen is None:
        chosen = decide_by_degree(n, ledger.epsilon, 2 * total.value / graph.max_weight / n)
    call = _Call(graph, request, options, Call(ledger, noise, MAIN_SHARE))
    try:
        cut, used = _RELEASES[chosen](call, 2 * total.value / n), chosen
    except MechanismHalted:
        if request.on_halt == "raise":
            raise
        cut, used = _data_independent(n, noise), "data-independent"
    value = release_cut_weight(graph, cut.labels, Call(ledger, noise, _VALUE_SHARE))
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


def _check(n: int, max_weight: float, request: CutRequest) -> AdjacencyOptions:
    """Validate everything public; raises :class:`InvalidParameterError` before the budget is touched."""
    check_delta(request.delta)
    choices = {
        "mechanism": ("auto", *MECHANISMS),
        "projection": ("auto", "spectral", "frobenius", "none"),
        "noise": ("auto", "gaussian", "laplace"),
        "on_halt": ("raise", "fallback"),
    }
    for name, allowed in choices.items():
        check_choice(name, getattr(request, name), allowed)
    check_options(seeds=request.seeds, rounds=request.rounds)
    _check_size(n, request)
    if request.mechanism == "coherence" and request.projection in ("spectral", "frobenius") and n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"projection={request.projection!r} is dense and limited to n <= {DENSE_LIMIT}; got n = {n}. "
            'Use projection="auto" or "none", which keep the matrix factored'
        )
    return AdjacencyOptions.check(
        n,
        max_weight=max_weight,
        rank=request.rank,
        max_rank=request.max_rank,
        regularization=request.regularization,
        coherence=request.coherence,
        mechanism="gaussian" if request.mechanism == "gaussian" else "coherence",
        least_rank=2,  # the first eigenvector of a nonnegative matrix has one sign and cuts nothing
    )


def _check_size(n: int, request: CutRequest) -> None:
    """Refuse what a pure mechanism could not hold in memory, and answers that are fair coins."""
    if request.mechanism == "permute-and-flip" and n > LARGEST:
        raise InvalidParameterError(
            f"permute-and-flip weighs all 2**(n - 1) cuts and is limited to n <= {LARGEST}; got n = {n}"
        )
    if request.mechanism == "randomized-response":
        check_response(n, check_epsilon(request.epsilon) * MAIN_SHARE)
    if request.mechanism == "core-response":
        check_core_response(check_epsilon(request.epsilon) * MAIN_SHARE)


# --- what each mechanism releases ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """A debited call with its private graph."""

    graph: Graph
    request: CutRequest
    options: AdjacencyOptions
    budget: Call


def _bounded_iterates(call: _Call, mean_degree: float) -> _Cut:
    labels = release_cut_labels(
        call.graph,
        call.budget,
        mean_degree=mean_degree,
        balanced=call.request.balanced,
        together=call.request.noise == "auto",
        progress=call.request.progress,
    )
    return _Cut(labels)


def _coherence(call: _Call, mean_degree: float) -> _Cut:
    private = release_normalized_adjacency(call.graph, call.options, mean_degree, call.budget)
    if call.request.projection in ("spectral", "frobenius"):
        return _solve_dense(private.matrix(), private.scale, call)
    return _solve(FactoredObjective(private.adjacency_factor(), private.core), call)


def _gaussian(call: _Call, mean_degree: float) -> _Cut:
    scale, matrix = release_noisy_matrix(call.graph, call.options, mean_degree, call.budget)
    return _solve_dense(matrix, scale, call)


def _noisy_power(call: _Call, mean_degree: float) -> _Cut:
    rank = min(POWER_RANK, call.graph.n_vertices) if call.request.rank == "auto" else call.request.rank
    released = release_low_rank_adjacency(call.graph, rank, call.budget)
    return _solve(FactoredObjective(released.basis, released.core), call)


def _randomized_response(call: _Call, mean_degree: float) -> _Cut:
    flipped = release_flipped_graph(call.graph, call.budget)
    solution = _cut_answers(flipped, call)
    return _Cut(solution.labels.astype(np.int8), solution.upper_bound)


def _core_response(call: _Call, mean_degree: float) -> _Cut:
    balanced = call.request.balanced
    X, fields = release_core_response(
        call.graph,
        Iteration(cut_oracle(call.graph), BalancedSigns() if balanced else Signs()),
        lambda flipped: np.where(_cut_answers(flipped, call).labels[:, None] == 1, -1.0, 1.0).astype(np.float64),
        call.budget,
        mean_degree=mean_degree,
    )
    return _Cut(cut_labels(X, fields, balanced=balanced))


def _cut_answers(flipped: FlippedGraph, call: _Call) -> MaxCutSolution:
    request = call.request
    return cut_answers(
        flipped, balanced=request.balanced, seeds=request.seeds, rounds=request.rounds, rng=call.budget.generator
    )


def _permute_and_flip(call: _Call, mean_degree: float) -> _Cut:
    return _Cut(release_best_cut(call.graph, call.budget, balanced=call.request.balanced))


_RELEASES: dict[str, Callable[[_Call, float], _Cut]] = {
    "bounded-iterates": _bounded_iterates,
    "core-response": _core_response,
    "coherence": _coherence,
    "gaussian": _gaussian,
    "noisy-power": _noisy_power,
    "randomized-response": _randomized_response,
    "permute-and-flip": _permute_and_flip,
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
    request, generator = call.request, call.budget.generator
    price = _PRICE * float(objective.row_norms().mean()) if request.balanced else 0.0
    priced = penalise_imbalance(objective, price) if request.balanced else objective
    solution = solve_max_cut(
        priced,
        seeds=request.seeds,
        rounds=request.rounds,
        sweeps=_SWEEPS,
        starts=2,
        tol=RELEASED_GAP,
        rng=generator,
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
    norm: Literal["spectral", "frobenius"] = "spectral" if projection == "spectral" else "frobenius"
    return project_nonnegative_spectral_ball(matrix, norm=norm, tol=RELEASED_GAP, zero_diagonal=True).matrix


def _data_independent(n: int, noise: NoiseSource) -> _Cut:
    """Draw a random balanced cut, which cuts at least half of the edges in expectation."""
    return _Cut((noise.generator.permutation(n) % 2).astype(np.int8))
