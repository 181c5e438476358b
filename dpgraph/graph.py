"""The private graph: a frozen symmetric matrix with public vertices, and what a mechanism may ask of it."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from dpgraph.typing import FloatArray, IntArray

__all__ = ["Graph", "GraphOperator"]


class GraphOperator(Protocol):
    """All that a mechanism may ask of a private graph. Another engine can stand in by offering these."""

    @property
    def max_weight(self) -> float:
        """Public upper bound on a weight."""
        ...

    @property
    def weight_unit(self) -> float:
        """Every weight is an integer multiple of this public power of two."""
        ...

    @property
    def nodes(self) -> tuple[Hashable, ...]:
        """Vertex labels in the caller's order (public)."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        ...

    def degrees(self) -> FloatArray:
        """Weighted degrees, shape ``(n,)``."""
        ...

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product of the adjacency matrix with an array of shape ``(n,)`` or ``(n, k)``."""
        ...

    def multiply_rows(self, rows: IntArray, block: FloatArray) -> FloatArray:
        """Rows ``rows`` of the product of the adjacency matrix with an ``(n, k)`` array, shape ``(len(rows), k)``."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Symmetric weighted graph without self-loops, in compressed sparse rows.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array, shape (n, n)
        Symmetric, float64, zero diagonal, no explicit zeros.
    nodes : tuple of hashable
        Vertex labels in the caller's own order.
    max_weight : float
        Public upper bound on a weight; ``inf`` for exact data that never meets a private mechanism.
    weight_unit : float
        Every weight is an integer multiple of this power of two (0 when weights are arbitrary reals).
    """

    adjacency: sparse.csr_array
    nodes: tuple[Hashable, ...]
    max_weight: float = 1.0
    weight_unit: float = 1.0

    def __repr__(self) -> str:
        # The number of edges is private, so it is not shown.
        return f"Graph(n_vertices={self.n_vertices}, max_weight={self.max_weight:g})"

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        return len(self.nodes)

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Position of each label in :attr:`nodes`."""
        return {node: i for i, node in enumerate(self.nodes)}

    def degrees(self) -> FloatArray:
        """Weighted degrees, shape ``(n,)``."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64).ravel()

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product of the adjacency matrix with an array of shape ``(n,)`` or ``(n, k)``."""
        from dpgraph.linalg.kernels import csr_times_block

        columns = np.asarray(block, dtype=np.float64).reshape(self.n_vertices, -1)
        return csr_times_block(self.adjacency, columns).reshape(block.shape)

    def multiply_rows(self, rows: IntArray, block: FloatArray) -> FloatArray:
        """Rows ``rows`` of the product of the adjacency matrix with an ``(n, k)`` array."""
        from dpgraph.linalg.kernels import csr_rows_times_block

        return csr_rows_times_block(self.adjacency, rows, block)
