"""The published form of a private cut."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.report import PrivacyReport
from dpgraph.results.fractions import Worth


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCutResult(Worth):
    """A private cut or bisection: everything here may be published.

    Parameters
    ----------
    partition : pair of sets
        The two sides, in the caller's vertex labels.
    labels : ndarray of int, shape (n,)
        Side 0 or 1 of each vertex, in the order of `nodes`.
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    estimated_value : float
        Private unbiased estimate of the weight of the cut.
    estimated_value_std : float
        Standard deviation of that estimate.
    estimated_total_weight : float
        Private unbiased estimate of the total weight of all edges: `estimated_value` and what the sides have inside,
        released together.
    upper_bound : float or None
        Certified upper bound on every cut of the *private* matrix that the solver saw, not of the graph; ``None`` where
        no matrix was released.
    mechanism : str
        The mechanism that was used; ``"data-independent"`` after a halt with ``on_halt="fallback"``.
    privacy : PrivacyReport
        The guarantee.
    most_weight : float
        Public upper bound on every total weight: that of all pairs.
    """

    partition: tuple[set[Hashable], set[Hashable]]
    labels: NDArray[np.int8]
    nodes: tuple[Hashable, ...]
    estimated_value: float
    estimated_value_std: float
    estimated_total_weight: float
    upper_bound: float | None
    mechanism: str
    privacy: PrivacyReport
    most_weight: float = math.inf

    _line = "cut weight"

    def __repr__(self) -> str:
        first, second = (len(side) for side in self.partition)
        return (
            f"PrivateCutResult({first} + {second} vertices, estimated value {self.estimated_value:.6g} "
            f"± {self.estimated_value_std:.3g}, mechanism={self.mechanism!r}, {self.privacy!r})"
        )

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node`` and ``side``."""
        return {"node": self.nodes, "side": self.labels.tolist()}
