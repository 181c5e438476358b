"""Randomised response inside a core, then one look at every other vertex."""

import numpy as np

from dpgraph.privacy.call import Call
from dpgraph.problems.csp.strategy import CSPTask, label_answers
from dpgraph.problems.options import CoreResponse
from dpgraph.problems.strategy import MAIN_SHARE, Strategy
from dpgraph.releases.constraints import RelatedEdges
from dpgraph.releases.sweeps.iteration import label_iteration
from dpgraph.releases.sweeps.two_stage import check_core_response, release_core_response
from dpgraph.typing import IntArray


def _run(options: CoreResponse, private: RelatedEdges, call: Call, task: CSPTask, mean_degree: float) -> IntArray:
    graph, relation, rows = private.graph, private.relation, np.eye(len(private.relation))
    X = release_core_response(
        graph,
        label_iteration(graph, relation),
        lambda flipped: rows[label_answers(flipped, relation, rng=call.generator)],
        call,
        mean_degree=mean_degree,
    )
    return np.asarray(np.argmax(X, axis=1))


STRATEGY = Strategy(
    "core-response",
    CoreResponse,
    pure=lambda options: True,
    run=_run,
    check=lambda options, task: check_core_response(task.epsilon * MAIN_SHARE),
    order=1,
)
