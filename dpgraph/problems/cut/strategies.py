"""The strategies for private cuts, and what ``mechanism="auto"`` stands for: a public rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.denoise.iterates import cut_labels
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.answer_rule import response_or_sweeps
from dpgraph.problems.cut.solve import Cut, cut_answers, solve
from dpgraph.problems.embedding.strategies import check_gaussian
from dpgraph.problems.low_rank import (
    check_advantage,
    check_low_rank,
    is_dense,
    projected,
    release_low_rank,
    solver_options,
    unnormalized,
)
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
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.normalized import release_noisy_matrix
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import cut_iteration
from dpgraph.releases.totals import WeightEstimate, release_cut_advantage
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective


@dataclass(frozen=True)
class CutFacts(Facts):
    """What is asked for, on request halves, and what is public."""

    balanced: bool = False


# --- a low-rank matrix of the coherence-aware projector (DN25a), projected and cut like an exact one -----------------


def _by_coherence(options: Coherence, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    mean_degree = 2 * total.value / facts.n
    found = release_low_rank(graph, options, mean_degree, call, negative=True)
    objective = (
        DenseObjective(found.dense(options.projection)) if is_dense(options) else FactoredObjective(*found.factored())
    )
    how = solver_options(options)
    cut = solve(objective, call.generator, balanced=facts.balanced, how=how, degree=options.degree)
    variance = facts.max_weight * mean_degree * facts.n / 8
    check_advantage(release_cut_advantage(graph, cut.labels, found.test), variance, call)
    return cut


# --- noise on all entries of the normalized adjacency (DTTZ14), projected and cut ------------------------------------


def _by_gaussian(_: Gaussian, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    noisy = release_noisy_matrix(graph, "auto", 2 * total.value / facts.n, call)
    objective = DenseObjective(unnormalized(projected(noisy.matrix), noisy.scale))
    return solve(objective, call.generator, balanced=facts.balanced)


# --- the noisy power method (HP14), whose private factors are cut ----------------------------------------------------


def _by_power(_: NoisyPower, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    released = release_low_rank_adjacency(graph, min(POWER_RANK, graph.n_vertices), call)
    return solve(FactoredObjective(released.basis, released.core), call.generator, balanced=facts.balanced)


# --- private block coordinate descent on a public iterate ------------------------------------------------------------


def _by_sweeps(_: BoundedIterates, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    iteration = cut_iteration(graph, balanced=facts.balanced)
    X, fields = release_core_iterates(graph, iteration, call, mean_degree=2 * total.value / facts.n)
    return Cut(cut_labels(X, fields, balanced=facts.balanced))


# --- randomised response on every pair, then the solver --------------------------------------------------------------


def _by_response(_: RandomizedResponse, graph: Graph, call: Call, facts: CutFacts, total: WeightEstimate) -> Cut:
    solution = cut_answers(release_flipped_graph(graph, call), call.generator, balanced=facts.balanced)
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
        pure=False,
        run=_by_coherence,
        check=check_low_rank,
        slack_share=lambda _: SLACK_SHARE,
    ),
    Strategy(
        "gaussian",
        Gaussian,
        pure=False,
        run=_by_gaussian,
        check=lambda _, facts: check_gaussian(facts.n),
    ),
    Strategy(
        "noisy-power",
        NoisyPower,
        pure=False,
        run=_by_power,
        check=lambda _, facts: check_products(facts.n, POWER_RANK),
    ),
    Strategy("bounded-iterates", BoundedIterates, pure=True, run=_by_sweeps),
    Strategy(
        "randomized-response",
        RandomizedResponse,
        pure=True,
        run=_by_response,
        check=lambda _, facts: check_response(facts.n, facts.epsilon),
    ),
    Strategy("permute-and-flip", PermuteAndFlip, pure=True, run=_by_all_cuts, check=_check_all_cuts),
)


def choose(facts: Facts) -> Any:
    """What "auto" takes, or by which released number it is chosen. All cuts of a few vertices can be weighed."""
    if facts.n <= LARGEST:
        return "permute-and-flip"
    return response_or_sweeps(facts, facts.epsilon * MAIN_SHARE, 2)
