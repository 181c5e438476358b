"""The published forms of private cuts and assignments, with intervals of what they are worth."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_level
from dpgraph.denoise.modularity import Noise, ratio_interval
from dpgraph.linalg.edges import igraph_clustering
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Labels(TableResult):
    """Labels that earn a part of a total weight: everything here may be published.

    What is earned and what is left were released together and have the same noise; the total is their sum. In public,
    0 <= earned <= total <= the weight of all pairs.

    Parameters
    ----------
    labels : ndarray of int, shape (n,)
        Of each vertex or variable, in the caller's order.
    estimated_value : float
        Private unbiased estimate of the weight that the labels earn; what is impossible is printed as the nearest
        possible number.
    estimated_value_std : float
        Standard deviation of that estimate.
    estimated_total_weight : float
        Private unbiased estimate of the most that could be earned, pair by pair: of a graph its total weight.
    mechanism : str
        The mechanism that was used; ``"data-independent"`` after a halt with ``on_halt="fallback"``.
    privacy : PrivacyReport
        The guarantee.
    most_weight : float
        Public upper bound on every total weight: that of all pairs.
    """

    #: Line of the ledger.
    _line: ClassVar[str]

    labels: NDArray[np.integer[Any]]
    estimated_value: float
    estimated_value_std: float
    estimated_total_weight: float
    mechanism: str
    privacy: PrivacyReport
    most_weight: float = math.inf

    def _text(self, what: str) -> str:
        return (
            f"{type(self).__name__}({what}, estimated value {self._possible(self.estimated_value):.6g} ± "
            f"{self.estimated_value_std:.3g}, mechanism={self.mechanism!r}, {self.privacy!r})"
        )

    @property
    def estimated_fraction(self) -> float:
        """Estimated value over estimated total weight, within [0, 1]; NaN if no weight was found.

        Of all quotients it is the one that the two numbers contradict least: it is in every :meth:`fraction_interval`.
        """
        found = self.estimated_total_weight > 0
        return min(max(self.estimated_value / self.estimated_total_weight, 0.0), 1.0) if found else math.nan

    def fraction_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact fraction with probability `level`.

        :func:`~dpgraph.denoise.modularity.ratio_interval`, where noise on a grid is taken for up to a step wider.
        """
        step = next((line.sensitivity for line in self.privacy.entries if line.name == self._line), 0.0)
        variance = (self.estimated_value_std + step / math.sqrt(2.0)) ** 2
        noise = Noise(variance, 2 * variance, variance)
        return ratio_interval(self.estimated_value, self.estimated_total_weight, noise, level=check_level(level))

    def value_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact value with probability `level`, within what all pairs can weigh."""
        half = self.privacy.half_width(self._line, check_level(level))
        return self._possible(self.estimated_value - half), self._possible(self.estimated_value + half)

    def _possible(self, value: float) -> float:
        """The nearest one that labels may earn."""
        return min(max(value, 0.0), self.most_weight)

    def to_igraph_clustering(self, g: Any) -> Any:
        """Return an ``igraph.VertexClustering`` of `g`, the graph that this is of; cluster k is ``partition[k]``."""
        return igraph_clustering(g, cast(Any, self).partition)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrivateCutResult(Labels):
    """A private cut or bisection: everything here may be published.

    Parameters
    ----------
    partition : pair of sets
        The two sides, in the caller's vertex labels.
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    upper_bound : float or None
        Certified upper bound on every cut of the *private* matrix that the solver saw, not of the graph; ``None`` where
        no matrix was released.
    labels, estimated_value, estimated_value_std, estimated_total_weight, mechanism, privacy, most_weight
        Side 0 or 1 of each vertex, the weight of the cut and that of all edges: see
        :class:`~dpgraph.results.labels.Labels`.
    """

    partition: tuple[set[Hashable], set[Hashable]]
    nodes: tuple[Hashable, ...]
    upper_bound: float | None

    _line = "cut weight"

    def __repr__(self) -> str:
        first, second = (len(side) for side in self.partition)
        return self._text(f"{first} + {second} vertices")

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node`` and ``side``."""
        return {"node": self.nodes, "side": self.labels.tolist()}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrivateCSPResult(Labels):
    """A private assignment of a 2-CSP: everything here may be published.

    Parameters
    ----------
    assignment : dict
        Label of each variable, in the caller's names.
    alphabet : tuple of hashable
        All labels, in the caller's order.
    labels, estimated_value, estimated_value_std, estimated_total_weight, mechanism, privacy, most_weight
        Positions in the alphabet, and what they earn: see :class:`~dpgraph.results.labels.Labels`.
    """

    assignment: dict[Hashable, Hashable]
    alphabet: tuple[Hashable, ...]

    _line = "assignment weight"

    def __repr__(self) -> str:
        return self._text(f"{len(self.labels)} variables")

    @property
    def partition(self) -> tuple[set[Hashable], ...]:
        """The variables with each label of :attr:`alphabet`, in its order; some sets may be empty."""
        parts: dict[Hashable, set[Hashable]] = {label: set() for label in self.alphabet}
        for variable, label in self.assignment.items():
            parts[label].add(variable)
        return tuple(parts.values())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``variable`` and ``label``."""
        return {"variable": tuple(self.assignment), "label": tuple(self.assignment.values())}
