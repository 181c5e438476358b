"""Leading eigenvectors of public graphs, and which vertices are similar."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

import dpgraph
from dpgraph.interfaces.benchmark.base import Measure, Task
from dpgraph.linalg.eigen import leading_eigenpairs
from dpgraph.typing import FloatArray

#: Dimensions of the embedding; neighbours that are looked for; vertices for which they are.
_RANK, _NEAREST, _VERTICES = 2, 10, 200
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


class Similarities(Task):
    """The vertices whose neighbourhoods are most like that of a vertex."""

    measures = (
        Measure(
            f"precision at {_NEAREST}",
            f"share of the {_NEAREST} most similar vertices (cosine of neighbourhoods) that are found, over at most "
            f"{_VERTICES} vertices",
        ),
    )
    usual = ("auto", "noisy-power", "gaussian", "randomized-response")

    @cached_property
    def asked(self) -> list[int]:
        """Vertices whose neighbours are looked for."""
        chosen = np.random.default_rng(0).permutation(self.n)[:_VERTICES]
        return sorted(int(vertex) for vertex in chosen)

    @cached_property
    def truth(self) -> FloatArray:
        """Similarities of these vertices to all others, shape (asked, n); itself is none."""
        lengths = np.sqrt(np.maximum(np.diff(self.adjacency.indptr), 1))
        common = (self.adjacency[self.asked] @ self.adjacency).toarray()
        return self._others(common / lengths[self.asked][:, None] / lengths)

    def release(self, mechanism: Any, epsilon: float, delta: float, rng: int | None) -> FloatArray:
        """Private similarities of the same vertices."""
        found = dpgraph.private_node_similarities(
            self.adjacency, epsilon=epsilon, delta=delta, mechanism=mechanism, rng=rng
        )
        vectors = np.asarray(found.vectors)
        return self._others(vectors[self.asked] @ vectors.T)

    def exact(self, generator: np.random.Generator) -> FloatArray:
        """The similarities themselves."""
        return self.truth

    def blind(self, generator: np.random.Generator) -> FloatArray:
        """Similarities drawn at random."""
        return self._others(generator.random((len(self.asked), self.n)))

    def judge(self, answer: FloatArray) -> Sequence[float]:
        """Share of the nearest that are among those as similar as the nearest really are."""
        k = min(_NEAREST, self.n - 1)
        found = np.argpartition(-answer, k - 1, axis=1)[:, :k]
        least = -np.partition(-self.truth, k - 1, axis=1)[:, k - 1]  # ties are equally good
        return [float(np.mean(np.take_along_axis(self.truth, found, axis=1) >= least[:, None]))]

    def _others(self, similarities: FloatArray) -> FloatArray:
        similarities[np.arange(len(self.asked)), self.asked] = -np.inf
        return similarities
