"""Randomised response inside a core, then one look at every other vertex."""

import numpy as np
from numpy.typing import NDArray

from dpgraph.denoise.iterates import cut_labels
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import cut_answers, solver_options
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.options import CoreResponse
from dpgraph.problems.strategy import MAIN_SHARE, Facts, Strategy
from dpgraph.releases.answers import FlippedGraph
from dpgraph.releases.sweeps.iteration import cut_iteration
from dpgraph.releases.sweeps.two_stage import check_core_response, release_core_response


def _check(options: CoreResponse, facts: Facts) -> None:
    solver_options(options)
    check_core_response(facts.epsilon * MAIN_SHARE)


def _run(options: CoreResponse, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    def signs(flipped: FlippedGraph) -> NDArray[np.float64]:
        solution = cut_answers(flipped, options, balanced=task.balanced, rng=call.generator)
        return np.where(solution.labels[:, None] == 1, -1.0, 1.0).astype(np.float64)

    iteration = cut_iteration(graph, balanced=task.balanced)
    X, fields = release_core_response(graph, iteration, signs, call, mean_degree=mean_degree)
    return Cut(cut_labels(X, fields, balanced=task.balanced))


STRATEGY = Strategy(
    "core-response",
    CoreResponse,
    pure=lambda _: True,
    run=_run,
    check=_check,
    order=6,
)
