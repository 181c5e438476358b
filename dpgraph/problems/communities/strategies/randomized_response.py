"""Randomised response on every pair, then Louvain's method on the answers."""

import numpy as np

from dpgraph.denoise.louvain import louvain
from dpgraph.denoise.modularity import BlockWeights, largest_groups, merge_labels, weights_between
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.communities.strategy import CommunityTask
from dpgraph.problems.cut.solve import answer_degrees, answer_weights
from dpgraph.problems.options import RandomizedResponse
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.answers import FlippedGraph, check_response, release_flipped_graph
from dpgraph.releases.sweeps.communities import ReleasedCommunities
from dpgraph.releases.totals import release_block_weights
from dpgraph.tuning import COMMUNITIES
from dpgraph.typing import IntArray

#: The weights between all communities are released: smaller communities than the largest so many count as one.
_MOST = 100


def _check(_: RandomizedResponse, facts: Facts) -> None:
    check_response(facts.n, facts.epsilon * (1 - COMMUNITIES.block_share))


def _run(options: RandomizedResponse, graph: Graph, call: Call, task: CommunityTask) -> ReleasedCommunities:
    del options  # none is read
    of_answers, of_blocks = call.split(1 - COMMUNITIES.block_share, COMMUNITIES.block_share)
    flipped = release_flipped_graph(graph, of_answers)
    labels = louvain(answer_weights(flipped)[0], task.resolution, call.generator, runs=1)
    expected, _ = answer_weights(flipped, _edges_inside(flipped, labels))
    labels = louvain(expected, task.resolution, call.generator)
    labels = largest_groups(labels, expected.sum(axis=1), _MOST)
    if task.communities is not None and labels.max() >= task.communities:
        between = BlockWeights.released(weights_between(expected, labels), 0.0)
        groups, _ = merge_labels(between, task.resolution, least=task.communities, most=task.communities)
        labels = groups[labels]
    weights = BlockWeights.released(
        *release_block_weights(graph, labels, of_blocks, name="weights between communities")
    )
    return ReleasedCommunities(labels, weights, graph.max_weight * answer_degrees(flipped))


def _edges_inside(flipped: FlippedGraph, labels: IntArray) -> float:
    """How many times more edges these communities have inside than degrees explain, at least 1.

    An answer counts by the probability that it is true. What is asked is whether it lies inside a community, so this is
    the probability for a pair inside one.
    """
    degrees, sizes, p = answer_degrees(flipped), np.bincount(labels).astype(np.float64), flipped.flip
    ends = flipped.adjacency.tocoo().coords
    answers = float(np.count_nonzero(labels[ends[0]] == labels[ends[1]]))
    explained = float((np.bincount(labels, weights=degrees) ** 2).sum()) / float(degrees.sum())
    return max((answers - p * float((sizes * (sizes - 1)).sum())) / (1 - 2 * p) / explained, 1.0)


STRATEGY = Strategy(
    "randomized-response",
    RandomizedResponse,
    pure=lambda _: True,
    run=_run,
    check=_check,
    unread=("rank", "max_rank", "regularization", "denoise", "seeds", "rounds"),
    order=5,
)
