"""What a strategy for private cuts is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.problems.strategy import Registry, Strategy

__all__ = ["CUTS", "Cut", "CutFacts", "CutStrategy", "CutTask"]


class CutFacts(NamedTuple):
    """What is public before anything is read.

    Parameters
    ----------
    n : int
        Number of vertices.
    max_weight : float
        Bound on a weight.
    epsilon : float
        What is left for the strategy.
    """

    n: int
    max_weight: float
    epsilon: float


class CutTask(NamedTuple):
    """What a strategy is asked for.

    Parameters
    ----------
    balanced : bool
        Whether the sides may differ by one vertex at most.
    mean_degree : float
        A released average degree.
    progress : bool
        Show a bar on stderr.
    """

    balanced: bool
    mean_degree: float
    progress: bool = False


class Cut(NamedTuple):
    """Side 0 or 1 of each vertex, and a bound on every cut of what the solver saw, if that was a matrix."""

    labels: NDArray[np.int8]
    upper_bound: float | None = None


@dataclass(frozen=True)
class CutStrategy(Strategy):
    """One way to cut privately: ``run(options, graph, call, task)`` returns a :class:`Cut`.

    `call` is the part of the budget for it, `task` a :class:`CutTask`; ``check(options, facts)`` sees
    :class:`CutFacts`.

    Parameters
    ----------
    slack_share : callable
        ``slack_share(options)``: part of delta that good events may use.
    """

    slack_share: Callable[[Any], float] = lambda options: 0.0


#: The strategies.
CUTS = Registry("dpgraph.problems.cut.strategies")
