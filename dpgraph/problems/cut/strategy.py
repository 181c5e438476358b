"""What the strategies for private cuts take and return."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.problems.strategy import Registry

__all__ = ["CUTS", "Cut", "CutTask"]


class CutTask(NamedTuple):
    """What a strategy is asked for: on request halves, given a released average degree."""

    balanced: bool
    mean_degree: float
    progress: bool = False


class Cut(NamedTuple):
    """Side 0 or 1 of each vertex, and a bound on every cut of what the solver saw, if that was a matrix."""

    labels: NDArray[np.int8]
    upper_bound: float | None = None


#: The strategies: ``run(options, graph, call, task)`` returns a :class:`Cut` for `call`, its part of the budget.
CUTS = Registry("dpgraph.problems.cut.strategies")
