"""What a strategy for private cuts is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.problems.strategy import Registry, Strategy

__all__ = ["CUTS", "Cut", "CutFacts", "CutStrategy", "CutTask"]


class CutFacts(NamedTuple):
    """What is public before anything is read; `epsilon` is what is left for the strategy."""

    n: int
    max_weight: float
    epsilon: float


class CutTask(NamedTuple):
    """What a strategy is asked for: on request halves, given a released average degree."""

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
    :class:`CutFacts`; ``slack_share(options)`` is the part of delta that good events may use.
    """

    slack_share: Callable[[Any], float] = lambda _: 0.0


#: The strategies.
CUTS = Registry("dpgraph.problems.cut.strategies")
