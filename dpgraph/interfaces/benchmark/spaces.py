"""Leading eigenvectors of public graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

import dpgraph
from dpgraph.interfaces.benchmark.base import Measure, Task
from dpgraph.linalg.eigen import leading_eigenpairs
from dpgraph.typing import FloatArray

#: Dimensions of the embedding.
_RANK = 2
_RESIDUAL = 1e-8


class Embedding(Task):
    """Leading eigenvectors of the adjacency matrix, from its private low-rank version."""

    measures = (
        Measure(
            "sine",
            f"sine of the largest angle between the leading {_RANK} eigenvectors of the adjacency matrix, by absolute "
            "value, and those that are released",
            higher_is_better=False,
        ),
    )
    usual = ("auto", "noisy-power", "gaussian", "randomized-response")
    others = ("coherence",)

    @cached_property
    def rank(self) -> int:
        """Dimensions, where the graph has so many vertices."""
        return min(_RANK, int(self.n))

    @cached_property
    def truth(self) -> FloatArray:
        """The leading eigenvectors."""
        generator = np.random.default_rng(0)
        pairs = leading_eigenpairs(self.adjacency, self.rank, tolerance=_RESIDUAL, generator=generator)
        return pairs.vectors

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> FloatArray:
        """A basis of the private adjacency matrix."""
        private = dpgraph.private_normalized_adjacency(
            self.adjacency, epsilon=epsilon, delta=delta, rank=self.rank, mechanism=mechanism, rng=rng
        )
        return np.asarray(private.adjacency_factor())

    def exact(self, generator: np.random.Generator) -> FloatArray:
        """The eigenvectors themselves."""
        return self.truth

    def blind(self, generator: np.random.Generator) -> FloatArray:
        """A random subspace."""
        return generator.standard_normal((self.n, self.rank))

    def judge(self, answer: FloatArray) -> Sequence[float]:
        """Sine of the largest angle."""
        basis = np.linalg.qr(answer)[0]
        missed = self.truth - basis @ (basis.T @ self.truth)
        return [min(float(np.linalg.norm(missed, 2)), 1.0)]
