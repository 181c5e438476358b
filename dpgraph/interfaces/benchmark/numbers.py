"""Degrees and triangles of public graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression

import dpgraph
from dpgraph.interfaces.benchmark.base import Measure, Task, kolmogorov_smirnov
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.typing import FloatArray, IntArray

_PATTERN = "triangle"
_WORST = "worst-case-laplace"
_EACH, _SORTED = "each-degree", "sorted-degrees"


def degrees_of(adjacency: sparse.csr_array) -> IntArray:
    """Numbers of edges at the vertices."""
    return np.asarray(np.diff(adjacency.indptr), dtype=np.int64)


class Degrees(Task):
    """The degree of every vertex."""

    measures = (
        Measure("error of a degree", "mean absolute error of a degree over the mean degree", higher_is_better=False),
    )
    usual = ("auto", "laplace", "gaussian")
    dense = frozenset()

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> FloatArray:
        """Noisy degrees."""
        kind: Any = mechanism
        found = dpgraph.private_degrees(self.adjacency, epsilon=epsilon, delta=delta, mechanism=kind, rng=rng)
        return np.asarray(found.values)

    def exact(self, generator: np.random.Generator) -> FloatArray:
        """The degrees."""
        return degrees_of(self.adjacency).astype(np.float64)

    def blind(self, generator: np.random.Generator) -> FloatArray:
        """Zeros."""
        return np.zeros(self.n)

    def judge(self, answer: FloatArray) -> Sequence[float]:
        """Mean absolute error over the mean degree."""
        truth = degrees_of(self.adjacency)
        return [float(np.abs(answer - truth).mean() / truth.mean())]


class DegreeDistribution(Task):
    """How many vertices have which degree."""

    measures = (Measure("KS", "Kolmogorov-Smirnov distance of the degree distributions", higher_is_better=False),)
    usual = ("auto", _SORTED, _EACH)

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> IntArray:
        """A private sequence of degrees, in any order."""
        if mechanism == "auto":
            found = dpgraph.private_degree_distribution(self.adjacency, epsilon=epsilon, delta=delta, rng=rng)
            sequence: IntArray = np.asarray(found.degree_sequence, dtype=np.int64)
            return sequence
        noisy = dpgraph.private_degrees(self.adjacency, epsilon=epsilon, mechanism="laplace", rng=rng).values
        if mechanism == _SORTED:
            # Hay et al. 2009: the same noise, which knows nothing of the degrees, on the sorted ones.
            truth = degrees_of(self.adjacency)
            noisy = isotonic_regression(np.sort(truth) + (noisy - truth)).x
        return np.asarray(np.clip(np.rint(noisy), 0, self.n - 1), dtype=np.int64)

    def exact(self, generator: np.random.Generator) -> IntArray:
        """The degrees."""
        return degrees_of(self.adjacency)

    def blind(self, generator: np.random.Generator) -> IntArray:
        """Degrees drawn at random."""
        drawn: IntArray = generator.integers(self.n, size=self.n)
        return drawn

    def judge(self, answer: IntArray) -> Sequence[float]:
        """Kolmogorov-Smirnov distance."""
        return [kolmogorov_smirnov(degrees_of(self.adjacency), answer)]


class Triangles(Task):
    """The number of triangles."""

    measures = (Measure("relative error", "error of the number of triangles over this number", higher_is_better=False),)
    usual = ("auto", "smooth", "local-sensitivity", _WORST)
    others = ("ladder",)

    @cached_property
    def truth(self) -> int:
        """How many there are."""
        return Subgraphs(self.adjacency.indptr, self.adjacency.indices).count(_PATTERN)

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> float:
        """A private count."""
        if mechanism == _WORST:  # an edge can be in n - 2 triangles
            return float(self.truth + np.random.default_rng(rng).laplace(scale=max(self.n - 2, 0) / epsilon))
        found = dpgraph.private_subgraph_counts(
            self.adjacency, _PATTERN, epsilon=epsilon, delta=delta, mechanism=mechanism, rng=rng
        )
        return float(found.counts[_PATTERN])

    def exact(self, generator: np.random.Generator) -> float:
        """The count."""
        return self.truth

    def blind(self, generator: np.random.Generator) -> float:
        """None."""
        return 0

    def judge(self, answer: float) -> Sequence[float]:
        """Relative error; that of a graph without triangles is the error itself."""
        return [abs(answer - self.truth) / max(self.truth, 1)]
