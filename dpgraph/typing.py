"""Names of the types that annotations use: arrays, and what the public functions take as a graph or a matrix.

networkx, igraph, pandas and scipy come with or without types, depending on what else is installed: so their objects are
described here by methods that they have, and nothing is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpgraph.distributed.tables import EdgeTable
    from dpgraph.inputs.edge_tables import EdgeFrame
    from dpgraph.interfaces.networkx.private_graph import PrivateGraph

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: Of a matrix that is released: given, or chosen.
Rank: TypeAlias = int | Literal["auto"]


class NetworkxGraph(Protocol):
    """A networkx.Graph of any class."""

    def is_directed(self) -> bool:
        """Say whether edges are arcs."""

    def is_multigraph(self) -> bool:
        """Say whether edges may be parallel."""


class IgraphGraph(Protocol):
    """An igraph.Graph."""

    def is_directed(self) -> bool:
        """Say whether edges are arcs."""

    def vcount(self) -> int:
        """Count the vertices."""


class SparseMatrix(Protocol):
    """A sparse array or matrix of scipy."""

    def tocsr(self, copy: bool = ...) -> Any:
        """Store it by rows."""


class Operator(Protocol):
    """A symmetric linear operator of scipy."""

    def matvec(self, x: Any) -> Any:
        """Multiply with a vector."""


#: A matrix whose entries are numbers.
MatrixLike: TypeAlias = NDArray[Any] | SparseMatrix
#: A graph: of networkx, igraph, a table of edges, or a symmetric matrix of weights.
GraphLike: TypeAlias = Union[NetworkxGraph, "PrivateGraph", IgraphGraph, "EdgeFrame", "EdgeTable", MatrixLike]
