"""What is measured of one problem on one public graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from dpgraph.denoise.louvain import louvain
from dpgraph.denoise.modularity import sums_between
from dpgraph.typing import IntArray

#: Mechanisms that hold n x n numbers are left out above so many vertices, unless they are asked for by name.
DENSE = 2000
#: Lines of a table for what needs no budget: the solver that sees the graph, and an answer that does not look at it.
EXACT, BLIND = "without privacy", "data-independent"


@dataclass(frozen=True)
class Measure:
    """How an answer is judged: a short name, what it means, and whether more is better."""

    name: str
    meaning: str
    higher_is_better: bool = True

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return "higher is better" if self.higher_is_better else "lower is better"


class Task(ABC):
    """One problem on one public graph: mechanisms answer it, and exact numbers judge their answers.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array, shape (n, n)
        The graph; entries are 1.
    """

    measures: ClassVar[tuple[Measure, ...]]
    #: Mechanisms that are measured if none is named, and others that may be named.
    usual: ClassVar[tuple[str, ...]] = ("auto",)
    others: ClassVar[tuple[str, ...]] = ()
    #: Which of them hold n x n numbers.
    dense: ClassVar[frozenset[str]] = frozenset({"gaussian", "randomized-response"})

    def __init__(self, adjacency: sparse.csr_array) -> None:
        self.adjacency, self.n = adjacency, adjacency.shape[0]

    @abstractmethod
    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> Any:
        """What a mechanism answers."""

    @abstractmethod
    def exact(self, generator: np.random.Generator) -> Any:
        """What is answered without privacy."""

    @abstractmethod
    def blind(self, generator: np.random.Generator) -> Any:
        """An answer that does not depend on the edges, but for their number where that is said."""

    @abstractmethod
    def judge(self, answer: Any) -> Sequence[float]:
        """A number for each measure."""

    def mechanisms(self, named: Sequence[str]) -> list[str]:
        """Those of the named mechanisms that this problem has; or the usual ones that fit the size of the graph."""
        if named:
            return [name for name in named if name in (*self.usual, *self.others)]
        return [name for name in self.usual if self.n <= DENSE or name not in self.dense]


class Communities:
    """Communities of a graph that Louvain's method finds without privacy, and how others compare."""

    def __init__(self, adjacency: sparse.csr_array) -> None:
        self._adjacency = adjacency
        self.labels = self.found(adjacency, np.random.default_rng(0))

    @staticmethod
    def found(adjacency: sparse.csr_array, generator: np.random.Generator) -> IntArray:
        """Labels of the best of three runs of Louvain's method."""
        return louvain(adjacency, 1.0, generator)

    def share(self, labels: IntArray) -> float:
        """Modularity of a labelling over that of Louvain's; 0 where Louvain finds none."""
        return self._modularity(labels) / self._best if self._best > 0 else 0.0

    def rand_index(self, labels: IntArray) -> float:
        """Adjusted Rand index with Louvain's communities."""
        import igraph

        return float(igraph.compare_communities(self.labels.tolist(), labels.tolist(), method="adjusted_rand"))

    @cached_property
    def _best(self) -> float:
        return self._modularity(self.labels)

    def _modularity(self, labels: IntArray) -> float:
        return exact_modularity(self._adjacency, labels)


def exact_modularity(adjacency: sparse.csr_array, labels: IntArray) -> float:
    """Modularity of a labelling."""
    between = sums_between(adjacency, labels)
    total, volumes = float(between.sum()), np.asarray(between.sum(axis=1), dtype=np.float64)
    return float(between.diagonal().sum() / total - np.sum((volumes / total) ** 2)) if total else 0.0


def kolmogorov_smirnov(degrees: IntArray, others: IntArray) -> float:
    """Largest difference of the shares of vertices up to a degree."""
    size = int(max(degrees.max(initial=0), others.max(initial=0))) + 1
    counts = [np.cumsum(np.bincount(values, minlength=size)) / values.size for values in (degrees, others)]
    return float(np.abs(counts[0] - counts[1]).max())
