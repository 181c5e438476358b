"""Sweeps in which each vertex takes the label that most of its edges lead to."""

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.communities.strategy import CommunityTask
from dpgraph.problems.options import BoundedIterates
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.sweeps.communities import ReleasedCommunities, release_communities


def _run(_: BoundedIterates, graph: Graph, call: Call, task: CommunityTask) -> ReleasedCommunities:
    return release_communities(graph, call, communities=task.communities, resolution=task.resolution)


STRATEGY = Strategy(
    "bounded-iterates",
    BoundedIterates,
    pure=lambda _: True,
    run=_run,
    unread=("noise",),
    order=4,
)
