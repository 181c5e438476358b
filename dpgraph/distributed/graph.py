"""A private graph whose matrix lies in blocks on the workers of a Dask cluster.

Releases ask it what they ask of any graph, and get the same numbers: exact ones, which stay private. Noise is drawn
by the caller, once, from what the workers have computed.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.distributed import blocks as on_worker
from dpgraph.distributed.blocks import Rows
from dpgraph.distributed.sweeps import Sweep
from dpgraph.distributed.waiting import waiting
from dpgraph.graph import Graph
from dpgraph.linalg.some_rows import SomeRows, row_counts, row_products
from dpgraph.typing import FloatArray, IntArray


def placed(workers: Iterable[str]) -> dict[str, Any]:
    """Where tasks are best run. Not of the only worker: if that is lost, Dask never gives them to its successor."""
    return {"workers": list(workers), "allow_other_workers": True}


@dataclass(frozen=True)
class Blocks:
    """Blocks on the workers, as futures: row r is row r // k of block r % k, k blocks in all."""

    client: Any
    futures: Sequence[Any]
    n: int
    weighted: bool = True  # otherwise every entry counts 1

    def of_all(self, function: Callable[..., Any], shared: FloatArray | None = None) -> Any:
        """One number, or row, for each row of the matrix; with an array that all workers need, if any."""
        arguments = (self.weighted,) if shared is None else (self.weighted, self.sent(shared))
        found = self._ask(function, dict.fromkeys(range(len(self.futures)), arguments), at_home=shared is not None)
        joined = np.empty((self.n, *found[0].shape[1:]), dtype=found[0].dtype)
        for k, part in enumerate(found):
            joined[k :: len(self.futures)] = part
        return joined

    def of_each(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """What a function of a block, its number, the number of blocks, and what was sent, finds in each block."""
        count = len(self.futures)
        return self._ask(function, {k: (self.weighted, k, count, *shared) for k in range(count)}, at_home=True)

    def matrix(self, rows: IntArray, *, inside: bool = False) -> sparse.csr_array:
        """Some rows, or of them what lies in the columns of the same number."""
        if not rows.size:
            return sparse.csr_array((0, self.n))
        found, starts = self.rows(rows, inside=inside)
        return found.taken(starts, found.lengths).matrix(self.n)

    def rows(self, rows: IntArray, *, inside: bool = False) -> tuple[Rows, IntArray]:
        """The same in the order in which it came, and where the entries of each row start."""
        blocks = rows % len(self.futures)
        order = np.argsort(blocks * self.n + rows)  # a worker reads its files from front to back
        numbers, first = np.unique(blocks[order], return_index=True)
        parts = np.split(rows[order] // len(self.futures), first[1:])
        shared = []
        if inside:
            members = np.zeros(self.n, dtype=bool)
            members[rows] = True
            shared = [self.sent(members)]
        asked = {int(k): (self.weighted, part, *shared) for k, part in zip(numbers, parts, strict=True)}
        return Rows.joined(self._ask(on_worker.some_rows, asked, at_home=inside), order)

    def sent(self, array: Any) -> Any:
        """Arrays that all workers need, as the result of a task, which is run again if it is lost."""
        return self.client.submit(on_worker.same, array, pure=False)

    def _ask(self, function: Callable[..., Any], asked: dict[int, tuple[Any, ...]], *, at_home: bool) -> list[Any]:
        """Results of one task a block, where the block lies."""
        tasks: list[Any] = []
        with waiting(self.client, tasks):
            choice = at_home and len(self.client.nthreads()) > 1
            places = self.client.who_has([self.futures[k] for k in asked]) if choice else {}
            for k, arguments in asked.items():
                future = self.futures[k]
                home = placed(places[future.key]) if places.get(future.key) else {}
                tasks.append(self.client.submit(function, future, *arguments, pure=False, **home))
            return list(self.client.gather(tasks))


class DistributedGraph(Graph):
    """A graph in blocks of rows. Its matrix comes to the client where a release needs it whole."""

    blocks: Blocks
    _sweep: Sweep | None = None

    def __init__(self, blocks: Blocks, nodes: tuple[Hashable, ...], max_weight: float = 1.0, unit: float = 1.0) -> None:
        for name, value in {"blocks": blocks, "labels": nodes, "max_weight": max_weight, "weight_unit": unit}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The matrix, read by the client."""
        return self.blocks.matrix(np.arange(self.n_vertices))

    def unweighted(self) -> Graph:
        """The same graph with every edge counting 1; nothing is copied."""
        return DistributedGraph(replace(self.blocks, weighted=False), self.nodes)

    def degrees(self) -> FloatArray:
        """Sums of rows, by the workers."""
        return np.asarray(self.blocks.of_all(on_worker.degrees), dtype=np.float64)

    @cached_property
    def _lengths(self) -> IntArray:
        return np.asarray(self.blocks.of_all(on_worker.edge_counts), dtype=np.int64)

    def edge_counts(self) -> IntArray:
        """Entries of rows, by the workers."""
        return self._lengths.copy()

    def multiply(self, block: FloatArray) -> FloatArray:
        """The product, row by row on the workers, to which `block` is sent."""
        return np.asarray(self.blocks.of_all(on_worker.products, block))

    def expect(self, blocks: Sequence[IntArray]) -> None:
        """Rows stay on the workers, which get the changes of the array that they are asked about."""
        object.__setattr__(self, "_sweep", Sweep(self.blocks, blocks, self._lengths))

    def multiply_rows(self, rows: IntArray, block: FloatArray, centre: float = 0.0) -> FloatArray:
        """Rows of the product, by the workers if they are expected."""
        if self._sweep is not None and self._sweep.expects(rows):
            return self._sweep.fields(block, block.shape[1], row_products, centre)
        return row_products(SomeRows.of(self.blocks.matrix(rows)), block, centre)

    def count_rows(self, rows: IntArray, labels: NDArray[np.integer], count: int) -> FloatArray:
        """Weights of edges of rows to each label, by the workers if the rows are expected."""
        if self._sweep is not None and self._sweep.expects(rows):
            return self._sweep.fields(labels, count, row_counts, count)
        return row_counts(SomeRows.of(self.blocks.matrix(rows)), labels, count)

    def weights_between(self, labels: NDArray[np.integer], count: int) -> FloatArray:
        """Weights between labels, added up block by block on the workers."""
        sent = self.blocks.sent(labels.astype(np.min_scalar_type(count)))
        return np.asarray(sum(self.blocks.of_each(on_worker.weights_between, sent, count)))

    def within(self, rows: IntArray) -> sparse.csr_array:
        """The matrix of the edges between some vertices, which the workers pick out."""
        return self.blocks.matrix(rows, inside=True)[:, rows]
