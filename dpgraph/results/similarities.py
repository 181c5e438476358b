"""Private cosine similarities as a result: every pair, or vectors of which every pair is computed on demand."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpgraph.arguments import check_integer
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.report import PrivacyReport
from dpgraph.projections import ProjectionResult
from dpgraph.result import Result
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.typing import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSimilarities(Result):
    """Private cosine similarities: everything here may be published, and costs nothing more.

    Parameters
    ----------
    nodes : tuple of hashable
        Labels of what is compared: vertices in the caller's order, or numbers of rows.
    privacy : PrivacyReport
        The guarantee.
    entries : ndarray, shape (n, n), or None
        The similarities, if they were released pair by pair: symmetric, in [-1, 1].
    vectors : ndarray, shape (n, r), or None
        If they were not: vectors of length at most 1, whose inner products they are.
    projection : ProjectionResult or None
        Pair by pair: how far `entries` are from the noisy matrix, and how well it was projected (post-processing). It
        is not saved to a file.
    """

    nodes: tuple[Hashable, ...]
    privacy: PrivacyReport
    entries: FloatArray | None = None
    vectors: FloatArray | None = None
    projection: ProjectionResult | None = field(default=None, metadata={"saved": False})

    def __repr__(self) -> str:
        what = "rows" if self.vectors is None else f"vertices, rank {self.vectors.shape[1]}"
        return f"PrivateSimilarities({len(self.nodes)} {what}, {self.privacy!r})"

    @property
    def matrix(self) -> FloatArray:
        """All similarities, shape (n, n): symmetric, in [-1, 1], positive semidefinite but for rounding.

        Raises
        ------
        InvalidParameterError
            They are not stored pair by pair, and n exceeds 5000.
        """
        if self.entries is not None:
            return self.entries
        n = len(self.nodes)
        if n > DENSE_LIMIT:
            raise InvalidParameterError(
                f"a dense {n} x {n} matrix was asked for, the limit is {DENSE_LIMIT}; use nearest(node, k), or "
                "vectors, whose inner products are the similarities"
            )
        found = np.clip(self._factor @ self._factor.T, -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found

    def nearest(self, node: Hashable, k: int = 10) -> list[tuple[Hashable, float]]:
        """The k others that are most similar to `node`, the most similar first, each with its similarity.

        Raises
        ------
        InvalidParameterError
            `node` is none of `nodes`, or k is not between 1 and n - 1.
        """
        if node not in self._place:
            raise InvalidParameterError(f"expected one of the {len(self.nodes)} labels in nodes; got {node!r}")
        i = self._place[node]
        k = check_integer("k", k, 1, len(self.nodes) - 1)
        row = self.entries[i].copy() if self.entries is not None else self._factor @ self._factor[i]
        row[i] = -np.inf
        order = np.argsort(-row, kind="stable")[:k]
        return [(self.nodes[j], float(np.clip(row[j], -1.0, 1.0))) for j in order.tolist()]

    @property
    def _factor(self) -> FloatArray:
        """The vectors, where they are what is stored."""
        return np.asarray(self.vectors)

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {node: i for i, node in enumerate(self.nodes)}
