"""What the strategies for private cuts take and return."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.relation import Edge, Relation
from dpgraph.problems.strategy import Registry


class CutTask(NamedTuple):
    """What is asked for, on request halves, and what is public. Neighbours differ in the weight of one pair."""

    n: int
    max_weight: float
    epsilon: float
    delta: float
    balanced: bool
    neighbours: Relation = Edge()


class Cut(NamedTuple):
    """Side 0 or 1 of each vertex, and a bound on every cut of what the solver saw, if that was a matrix."""

    labels: NDArray[np.int8]
    upper_bound: float | None = None


#: The strategies: ``run`` returns a :class:`Cut`.
CUTS = Registry("dpgraph.problems.cut.strategies")
