"""Randomised response on every pair, then the solver on the answers."""

import numpy as np

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import cut_answers, solver_options
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.options import RandomizedResponse
from dpgraph.problems.strategy import MAIN_SHARE, Facts, Strategy
from dpgraph.releases.answers import check_response, release_flipped_graph


def _check(options: RandomizedResponse, facts: Facts) -> None:
    solver_options(options)
    check_response(facts.n, facts.epsilon * MAIN_SHARE)


def _run(options: RandomizedResponse, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    flipped = release_flipped_graph(graph, call)
    solution = cut_answers(flipped, options, balanced=task.balanced, rng=call.generator)
    return Cut(solution.labels.astype(np.int8), solution.upper_bound)


STRATEGY = Strategy(
    "randomized-response",
    RandomizedResponse,
    pure=lambda _: True,
    run=_run,
    check=_check,
    unread=("rank", "max_rank", "regularization", "denoise"),
    order=5,
)
