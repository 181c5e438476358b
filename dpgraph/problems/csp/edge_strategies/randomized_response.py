"""Randomised response on every pair, then a search among the answers."""

from dpgraph.privacy.call import Call
from dpgraph.problems.csp.strategy import CSPTask, label_answers
from dpgraph.problems.options import RandomizedResponse
from dpgraph.problems.strategy import MAIN_SHARE, Strategy
from dpgraph.releases.answers import check_response, release_flipped_graph
from dpgraph.releases.constraints import RelatedEdges
from dpgraph.typing import IntArray


def _run(options: RandomizedResponse, private: RelatedEdges, call: Call, task: CSPTask, mean_degree: float) -> IntArray:
    flipped = release_flipped_graph(private.graph, call)
    return label_answers(flipped, private.relation, rng=call.generator)


STRATEGY = Strategy(
    "randomized-response",
    RandomizedResponse,
    pure=lambda options: True,
    run=_run,
    check=lambda options, task: check_response(task.n, task.epsilon * MAIN_SHARE),
    unread=("rank", "max_rank", "regularization", "denoise", "seeds", "rounds"),
    order=2,
)
