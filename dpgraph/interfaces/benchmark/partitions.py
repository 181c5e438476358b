"""Cuts, bisections and communities of public graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

import dpgraph
from dpgraph.evaluate import cut_fraction
from dpgraph.interfaces.benchmark.base import Communities, Measure, Task
from dpgraph.typing import IntArray


class Cut(Task):
    """Maximum cut."""

    measures = (Measure("fraction cut", "share of the edges across the cut"),)
    usual = ("auto", "noisy-power", "gaussian", "randomized-response")
    others = ("bounded-iterates", "coherence")
    private: ClassVar[str] = "private_max_cut"
    solver: ClassVar[str] = "max_cut"

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> IntArray:
        """The sides of a private cut."""
        release = getattr(dpgraph, self.private)
        return self._sides(release(self.adjacency, epsilon=epsilon, delta=delta, mechanism=mechanism, rng=rng).labels)

    def exact(self, generator: np.random.Generator) -> IntArray:
        """The best cut that is found without privacy."""
        first, _ = getattr(dpgraph, self.solver)(self.adjacency, seeds=0, rng=generator).partition
        return np.isin(np.arange(self.n), list(first)).astype(np.int64)

    def blind(self, generator: np.random.Generator) -> IntArray:
        """Halves drawn at random."""
        return generator.permutation(np.arange(self.n) % 2)

    def judge(self, answer: IntArray) -> Sequence[float]:
        """Share of the edges across."""
        return [cut_fraction(self.adjacency, answer)]

    @staticmethod
    def _sides(labels: Any) -> IntArray:
        return np.asarray(labels, dtype=np.int64)


class Bisection(Cut):
    """Maximum bisection."""

    measures = (Measure("fraction cut", "share of the edges between the halves"),)
    private = "private_max_bisection"
    solver = "max_bisection"


class CommunitiesTask(Task):
    """Communities of high modularity."""

    measures = (
        Measure("share of modularity", "modularity over that of Louvain's communities without privacy"),
        Measure("ARI", "adjusted Rand index with Louvain's communities without privacy"),
    )
    usual = ("auto", "randomized-response")
    others = ("bounded-iterates",)

    @cached_property
    def truth(self) -> Communities:
        """What Louvain's method finds."""
        return Communities(self.adjacency)

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> IntArray:
        """Labels of private communities."""
        found = dpgraph.private_communities(self.adjacency, epsilon=epsilon, delta=delta, mechanism=mechanism, rng=rng)
        return np.asarray(found.labels)

    def exact(self, generator: np.random.Generator) -> IntArray:
        """What another run of Louvain's method finds."""
        return Communities.found(self.adjacency, generator)

    def blind(self, generator: np.random.Generator) -> IntArray:
        """As many communities as Louvain finds, drawn at random."""
        return generator.permutation(np.arange(self.n) % (int(self.truth.labels.max()) + 1))

    def judge(self, answer: IntArray) -> Sequence[float]:
        """Share of the modularity, and agreement."""
        return [self.truth.share(answer), self.truth.rand_index(answer)]
