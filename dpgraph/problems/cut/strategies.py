"""The strategies for private cuts, and what ``mechanism="auto"`` stands for: a public rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.arguments import check_integer
from dpgraph.denoise.iterates import cut_labels
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.answer_rule import response_or_sweeps
from dpgraph.problems.chance import TEST_SHARE, check_advantage, check_core
from dpgraph.problems.cut.solve import (
    Cut,
    check_projection,
    cut_answers,
    project_released,
    solve,
    solve_dense,
    solver_options,
    unnormalized,
)
from dpgraph.problems.embedding.strategies.coherence import check_coherence, release_normalized_adjacency
from dpgraph.problems.embedding.strategies.gaussian import check_gaussian
from dpgraph.problems.options import (
    BoundedIterates,
    Coherence,
    Gaussian,
    NoisyPower,
    PermuteAndFlip,
    RandomizedResponse,
)
from dpgraph.problems.strategy import MAIN_SHARE, Facts, Registry, Strategy
from dpgraph.releases.all_cuts import LARGEST, release_best_cut
from dpgraph.releases.answers import check_response, release_flipped_graph
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, check_products, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE, check_rank
from dpgraph.releases.normalized import release_noisy_matrix
from dpgraph.releases.random_graph import add_random_graph, check_random_degree
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import cut_iteration
from dpgraph.releases.totals import WeightEstimate, release_cut_advantage
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective
from dpgraph.sos.moments.relaxation import check_size


@dataclass(frozen=True)
class CutFacts(Facts):
    """What is asked for, on request halves, and what is public."""

    balanced: bool = False


# --- a low-rank matrix of the coherence-aware projector (DN25a), projected and cut like an exact one -----------------


def _check_coherence(options: Coherence, facts: Facts) -> None:
    solver_options(options)
    check_random_degree(options.random_degree, facts.n)
    check_projection(options.projection, facts.n)
    if check_integer("degree", options.degree, 2) != 2:
        check_size(facts.n, 2, options.degree)  # refuses an odd one too
    check_coherence(options, facts.n, facts.max_weight)


def _by_coherence(options: Coherence, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    mean_degree = 2 * total.value / facts.n
    union = add_random_graph(graph, options.random_degree, call.generator)
    main, test = call.split(1 - TEST_SHARE, TEST_SHARE)
    # The first eigenvector of a nonnegative matrix has one sign and cuts nothing.
    private = release_normalized_adjacency(union.graph, options, union.mean_degree(mean_degree), main, least_rank=2)
    check_core(private, call, negative=True)
    asked: Any = {"balanced": facts.balanced, "degree": options.degree}
    if options.projection in ("spectral", "frobenius"):
        projected = project_released(private.matrix(), options.projection)
        matrix = union.dense_without_it(unnormalized(projected, private.scale))
        cut = solve(DenseObjective(matrix), options, call.generator, **asked)
    else:
        factored = union.without_it(private.adjacency_factor(), private.core)
        cut = solve(FactoredObjective(*factored), options, call.generator, **asked)
    variance = facts.max_weight * mean_degree * facts.n / 8
    check_advantage(release_cut_advantage(graph, cut.labels, test), variance, call)
    return cut


# --- noise on all entries of the normalized adjacency (DTTZ14), projected and cut ------------------------------------


def _check_gaussian(options: Gaussian, facts: Facts) -> None:
    solver_options(options)
    check_projection(options.projection, facts.n)
    check_gaussian(options, facts.n, facts.max_weight)


def _by_gaussian(options: Gaussian, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    noisy = release_noisy_matrix(graph, options.regularization, 2 * total.value / facts.n, call)
    return solve_dense(noisy.matrix, noisy.scale, options, call.generator, balanced=facts.balanced)


# --- the noisy power method (HP14), whose private factors are cut ----------------------------------------------------


def _check_power(options: NoisyPower, facts: Facts) -> None:
    solver_options(options)
    check_rank(options.rank, facts.n, options.max_rank)
    check_products(facts.n, POWER_RANK if options.rank == "auto" else options.rank)


def _by_power(options: NoisyPower, graph: Graph, call: Call, facts: CutFacts, _: WeightEstimate) -> Cut:
    rank = min(POWER_RANK, graph.n_vertices) if options.rank == "auto" else options.rank
    released = release_low_rank_adjacency(graph, rank, call)
    objective = FactoredObjective(released.basis, released.core)
    return solve(objective, options, call.generator, balanced=facts.balanced)


# --- private block coordinate descent on a public iterate ------------------------------------------------------------


def _by_sweeps(_: BoundedIterates, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    iteration = cut_iteration(graph, balanced=facts.balanced)
    X, fields = release_core_iterates(graph, iteration, call, mean_degree=2 * total.value / facts.n)
    return Cut(cut_labels(X, fields, balanced=facts.balanced))


# --- randomised response on every pair, then the solver --------------------------------------------------------------


def _check_response(options: RandomizedResponse, facts: Facts) -> None:
    solver_options(options)
    check_response(facts.n, facts.epsilon)


def _by_response(options: RandomizedResponse, graph: Graph, call: Call, facts: CutFacts, _: WeightEstimate) -> Cut:
    flipped = release_flipped_graph(graph, call)
    solution = cut_answers(flipped, options, balanced=facts.balanced, rng=call.generator)
    return Cut(solution.labels.astype(np.int8), solution.upper_bound)


# --- the noisily best of all cuts ------------------------------------------------------------------------------------


def _check_all_cuts(_: PermuteAndFlip, facts: Facts) -> None:
    if facts.n > LARGEST:
        raise InvalidParameterError(
            f"permute-and-flip weighs all 2**(n - 1) cuts and is limited to n <= {LARGEST}; got n = {facts.n}"
        )


def _by_all_cuts(_: PermuteAndFlip, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    return Cut(release_best_cut(graph, call, balanced=facts.balanced))


#: ``run(options, graph, call, facts, total)`` returns a :class:`~dpgraph.problems.cut.solve.Cut`.
CUTS = Registry(
    "cuts and bisections",
    Strategy(
        "coherence",
        Coherence,
        pure=lambda _: False,
        run=_by_coherence,
        check=_check_coherence,
        slack_share=lambda _: SLACK_SHARE,
    ),
    Strategy(
        "gaussian",
        Gaussian,
        pure=lambda _: False,
        run=_by_gaussian,
        check=_check_gaussian,
        slack_share=lambda options: 0.0 if options.regularization == "auto" else SLACK_SHARE,
        unread=("rank", "max_rank"),
    ),
    Strategy(
        "noisy-power",
        NoisyPower,
        pure=lambda _: False,
        run=_by_power,
        check=_check_power,
        unread=("max_rank", "regularization", "denoise"),
    ),
    Strategy(
        "bounded-iterates",
        BoundedIterates,
        pure=lambda _: True,
        run=_by_sweeps,
    ),
    Strategy(
        "randomized-response",
        RandomizedResponse,
        pure=lambda _: True,
        run=_by_response,
        check=_check_response,
        unread=("rank", "max_rank", "regularization", "denoise"),
    ),
    Strategy("permute-and-flip", PermuteAndFlip, pure=lambda _: True, run=_by_all_cuts, check=_check_all_cuts),
)


def choose(facts: Facts) -> Any:
    """What "auto" takes, or by which released number it is chosen. All cuts of a few vertices can be weighed."""
    if facts.n <= LARGEST:
        return "permute-and-flip"
    return response_or_sweeps(facts, facts.epsilon * MAIN_SHARE, 2)
