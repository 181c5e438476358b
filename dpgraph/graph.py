"""The private graph: a frozen symmetric matrix, the public grid of its weights, and what a mechanism may ask of it."""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.some_rows import SomeRows, label_weights, row_counts, row_products
from dpgraph.threads import Stop, on_threads, thread_count
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: Weights of a weighted private graph are at most 2**WEIGHT_BITS steps of their grid.
WEIGHT_BITS = 20
#: From so many rows on, a product takes all cores: it is then a hundred times as long as a thread takes to start.
_MANY = 10**5


@dataclass(frozen=True)
class WeightGrid:
    """Public grid of the weights of a private graph: integer multiples of `unit`, a power of two, up to `largest`.

    Sums of weights, and of products with multiples of another power of two, are then sums of integers: they are exact
    in double precision below 2**53 units of the product, in any order. A unit that is no power of two, such as
    ``max_weight * 2**-20`` for max_weight = 0.1, is not good enough: multiples of it are rounded, and so are sums.
    """

    unit: float  # the smallest power of two that is at least max_weight * 2**-WEIGHT_BITS
    largest: float  # the largest multiple of it that is at most max_weight

    @classmethod
    def of(cls, max_weight: float) -> Self:
        """The grid for a public bound on a weight."""
        mantissa, exponent = math.frexp(max_weight)
        unit = math.ldexp(1.0, exponent - (mantissa == 0.5) - WEIGHT_BITS)
        return cls(unit, math.floor(max_weight / unit) * unit)

    def round(self, weights: FloatArray) -> FloatArray:
        """Nearest points of the grid, weights beyond it at its end, in [0, `largest`] for weights >= 0.

        So a pair whose weight changes by at most max_weight changes by at most `largest` <= max_weight on the grid:
        rounding is monotone, and no two of its values are further apart than that.
        """
        points = np.minimum(weights, self.largest)
        points /= self.unit
        np.rint(points, out=points)
        points *= self.unit
        return np.minimum(points, self.largest, out=points)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Symmetric weighted graph without self-loops, in compressed sparse rows.

    Releases read it by its methods, and by `adjacency` where they need the whole matrix: a graph on a cluster
    (:class:`~dpgraph.distributed.graph.DistributedGraph`) answers them too.
    """

    adjacency: sparse.csr_array  # float64, shape (n, n), symmetric, zero diagonal, no explicit zeros
    # Of the vertices, in the caller's own order; those of a matrix are made when they are used
    labels: Sequence[Hashable]
    max_weight: float = 1.0  # inf for exact data that never meets a private mechanism
    weight_unit: float = 1.0  # 0 where weights are arbitrary reals
    simple: bool = False  # known to have no weights but 1

    def __repr__(self) -> str:
        # The number of edges is private, so it is not shown.
        return f"Graph(n_vertices={self.n_vertices}, max_weight={self.max_weight:g})"

    @property
    def n_vertices(self) -> int:
        """Number of vertices (public)."""
        return len(self.labels)

    @cached_property
    def nodes(self) -> tuple[Hashable, ...]:
        """The labels of the vertices."""
        return tuple(self.labels)

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Position of each label in :attr:`nodes`."""
        return {node: i for i, node in enumerate(self.nodes)}

    def unweighted(self) -> "Graph":
        """The graph in which every edge counts 1: graphs that differ in one pair become such graphs, or equal ones."""
        A = self.adjacency
        if not self.simple:
            A = sparse.csr_array((np.ones_like(A.data), A.indices, A.indptr), shape=A.shape)
        return Graph(A, self.labels, simple=True)

    def degrees(self) -> FloatArray:
        """Weighted degrees, shape ``(n,)``."""
        if self.simple:
            ends = self.adjacency.indptr
            return np.asarray(np.subtract(ends[1:], ends[:-1], dtype=np.float64))
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64).ravel()

    def edge_counts(self) -> IntArray:
        """Number of edges at each vertex, whatever they weigh."""
        return np.asarray(np.diff(self.adjacency.indptr))

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product of the adjacency matrix with an array of shape ``(n,)`` or ``(n, k)``."""
        return product(self.adjacency, block)

    def multiply_rows(self, rows: IntArray, block: FloatArray, centre: float = 0.0) -> FloatArray:
        """Rows ``rows`` of the product with an ``(n, k)`` array, `centre` being subtracted at its rows that are set."""
        return row_products(self._rows(rows), block, centre)

    def count_rows(self, rows: IntArray, labels: NDArray[np.integer], count: int) -> FloatArray:
        """Weight of the edges of ``rows`` to each of `count` labels; -1 is none."""
        return row_counts(self._rows(rows), labels, count)

    def _rows(self, rows: IntArray) -> SomeRows:
        """Where the entries of some rows are. Weights that are all 1 are not read one by one."""
        whole = self._all_rows
        return SomeRows(whole.starts[rows], whole.ends[rows], whole.columns, whole.weights)

    @cached_property
    def _all_rows(self) -> SomeRows:
        found = SomeRows.of(self.adjacency)
        return found._replace(weights=found.weights[:1]) if self.simple else found

    def weights_between(self, labels: NDArray[np.integer], count: int) -> FloatArray:
        """Weight between every two labels, each of which is on both sides of the diagonal; inside each, twice."""
        return label_weights(self.adjacency, labels, labels, count)

    def expect(self, blocks: Sequence[IntArray]) -> None:
        """Take note that these rows of one array, which may change up to their block, are asked for next."""

    def within(self, rows: IntArray) -> sparse.csr_array:
        """The matrix of the edges between some vertices, in their order."""
        return self.adjacency[rows][:, rows]


def is_weighted(weight: str | None, max_weight: float = 1.0, *, counted: bool = False) -> bool:
    """Whether pairs may weigh something between 0 and `max_weight`, by public declarations alone.

    Automatic choices avoid one-bit answers for weighted graphs. Whether a private matrix *has* other entries is
    private, so that nothing may depend on it; every mechanism protects weights that were not declared, and is only
    chosen as if there were none. Naming the default, ``max_weight=1.0``, declares nothing.

    - With `weight`, weights are declared.
    - Without it, edges of a list (`counted`: networkx, igraph, tables) count 1 each, parallel ones add up, and sums are
      capped: pairs weigh 0 or max_weight if max_weight <= 1, and may weigh less than max_weight if it is larger.
    - Without it, entries of a matrix (or of constraint tables) are taken to be 0 or 1 if max_weight = 1; any other
      bound speaks of weights.

    Examples
    --------
    >>> is_weighted(None), is_weighted(None, 1.0), is_weighted("weight", 1.0), is_weighted(None, 5.0)
    (False, False, True, True)
    """
    return weight is not None or (max_weight > 1.0 if counted else max_weight != 1.0)


def vertex_sets(nodes: Sequence[Hashable], labels: NDArray[np.integer[Any]], count: int = 0) -> list[set[Hashable]]:
    """Set number k holds the vertices of label k; at least `count` sets."""
    order = np.argsort(labels, kind="stable").tolist()
    sizes = np.bincount(labels, minlength=count).tolist()
    sorted_nodes = iter(map(nodes.__getitem__, order))
    return [set(islice(sorted_nodes, size)) for size in sizes]


def vertex_sides(nodes: Sequence[Hashable], partition: Any) -> BoolArray:
    """Which vertices are on the second side of a partition, as :func:`dpgraph.evaluate.cut_value` takes them."""
    if not isinstance(partition, (np.ndarray, str)):  # which have methods of that name
        partition = getattr(partition, "partition", partition)
    n, index = len(nodes), {node: i for i, node in enumerate(nodes)}
    if isinstance(partition, Mapping):
        partition = tuple({v for v, side in partition.items() if side == s} for s in (0, 1))
    if isinstance(partition, np.ndarray):
        if partition.shape != (n,) or not np.all(np.isin(partition, (0, 1))):
            raise InvalidParameterError(
                f"a partition given as an array needs {n} entries 0 or 1; got shape {partition.shape}"
            )
        return partition.astype(bool)
    sides_given = isinstance(partition, Collection) and all(isinstance(side, Iterable) for side in partition)
    if not sides_given or len(partition) != 2:
        got = len(partition) if sides_given else type(partition).__name__
        raise InvalidParameterError(f"a partition needs two sides, sets of vertices, or an array of 0 and 1; got {got}")
    sides = np.full(n, -1, dtype=np.int8)
    for s, side in enumerate(partition):
        for label in side:
            if label not in index:
                raise InvalidParameterError(f"the partition holds {label!r}, which is not a vertex of the graph")
            if sides[index[label]] >= 0:
                raise InvalidParameterError(f"the partition holds {label!r} twice; every vertex needs one side")
            sides[index[label]] = s
    if np.any(sides < 0):
        raise InvalidParameterError(f"the partition leaves out {int(np.sum(sides < 0))} of {n} vertices")
    return np.asarray(sides == 1)


def product(A: sparse.csr_array, X: FloatArray) -> FloatArray:
    """``A @ X``, on all cores where it pays. A row of it is a sum of its own: the bits do not depend on how many."""
    parts = thread_count() if A.shape[0] >= _MANY else 1
    if parts == 1:
        return np.asarray(A @ X)
    found, ends = np.empty((A.shape[0], *X.shape[1:])), np.linspace(0, A.shape[0], parts + 1).astype(np.int64)

    def multiply(first: int, last: int, _stop: Stop) -> None:
        own, indptr = slice(A.indptr[first], A.indptr[last]), A.indptr[first : last + 1]
        rows = sparse.csr_array((A.data[own], A.indices[own], indptr - indptr[0]), shape=(last - first, A.shape[1]))
        found[first:last] = rows @ X

    on_threads(multiply, ends[:-1], ends[1:])
    return found
