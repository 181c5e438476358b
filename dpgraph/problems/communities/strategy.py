"""What a strategy for private communities is asked for, and the strategies."""

from typing import NamedTuple

from dpgraph.problems.strategy import Registry


class CommunityTask(NamedTuple):
    """At most so many communities, or as many as pay off (None)."""

    communities: int | None
    resolution: float


#: The strategies: ``run(options, graph, call, task)`` returns labels, weights and degrees as
#: :class:`~dpgraph.releases.sweeps.communities.ReleasedCommunities`; `call` is the part of the budget for it.
COMMUNITY_STRATEGIES = Registry("dpgraph.problems.communities.strategies")
