"""Sweeps in which rows stay where they are: workers follow the public iterate, and return exact fields of their rows.

Each worker has a :class:`Reader`, an actor of Dask: the client asks it without the scheduler. In every round it gets
the numbers that the rows of the last block were set to, and answers with the fields of its own rows of the next block.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.distributed.blocks import Block
from dpgraph.distributed.waiting import waiting
from dpgraph.exceptions import DPGraphError
from dpgraph.linalg.some_rows import SomeRows
from dpgraph.typing import FloatArray, IntArray

#: Entries that a worker reads from its files at a time.
_AHEAD = 2**20
#: Rows of fewer entries come to the client before a sweep: that takes less time than a thousand questions.
_FEW = 2**22
#: How often a sweep is opened again after a worker was lost, one after the other.
_PATIENCE = 5


class Order(NamedTuple):
    """The rows of a sweep, one block after another, and where the blocks end."""

    rows: NDArray[np.integer]
    ends: IntArray  # block k is rows[ends[k] : ends[k + 1]]

    def of(self, first: int, last: int) -> NDArray[np.integer]:
        """Rows of the blocks first, ..., last - 1."""
        return self.rows[self.ends[first] : self.ends[last]]


class Reader:
    """The rows that lie on one worker, in the order of a sweep, and the iterate as it stands."""

    def __init__(
        self, order: Order, iterate: NDArray[Any], weighted: bool, count: int, numbers: Sequence[int], *blocks: Block
    ) -> None:
        # In doubles, as products take them: they would convert all of it in every round.
        self._iterate = iterate.astype(np.float64 if iterate.dtype.kind == "f" else iterate.dtype)
        self._order, self._weighted, self._count = Order(*order), weighted, count
        self._blocks = dict(sorted(zip(numbers, blocks, strict=True), key=lambda numbered: numbered[0]))
        own = np.isin(self._order.rows % count, numbers)
        self._own, entries = self._order.rows[own], np.zeros(np.count_nonzero(own) + 1, dtype=np.int64)
        self._ends = np.concatenate([[0], np.cumsum(own)])[self._order.ends]  # own rows of a block
        for number, block in self._blocks.items():
            mine = self._own % count == number
            entries[1:][mine] = block.lengths[self._own[mine] // count]
        self._entries = np.cumsum(entries)
        self._first = self._last = 0
        self._columns: NDArray[np.integer] = np.zeros(0, dtype=np.int32)
        self._weights = np.ones(1)

    def fields(
        self, done: int, block: int, changes: NDArray[Any], function: Callable[..., FloatArray], *arguments: Any
    ) -> FloatArray:
        """What a function finds in own rows of a block, after the blocks from `done` to it were set, or changed."""
        if changes.dtype.itemsize > self._iterate.dtype.itemsize:
            self._iterate = self._iterate.astype(changes.dtype)
        self._iterate[self._order.of(done, block + 1)] = changes
        return function(self._rows(*self._ends[block : block + 2]), self._iterate, *arguments)

    def _rows(self, first: int, last: int) -> SomeRows:
        """Own rows; they are read before they are asked for."""
        if not self._first <= first <= last <= self._last:
            end = int(np.searchsorted(self._entries, self._entries[first] + _AHEAD, side="right")) - 1
            self._read(first, max(end, last))
        ends = self._entries[first : last + 1] - self._entries[self._first]
        return SomeRows(ends[:-1], ends[1:], self._columns, self._weights)

    def _read(self, first: int, last: int) -> None:
        """Copy the entries of these rows from their files, which are read from front to back."""
        rows, starts = self._own[first:last], self._entries[first:last] - self._entries[first]
        self._first, self._last = first, last
        weights = [np.ones(1) if not self._weighted else block.weights for block in self._blocks.values()]
        total = int(self._entries[last] - self._entries[first])
        self._columns = np.empty(total, dtype=np.int32 if self._iterate.shape[0] < 2**31 else np.int64)
        alike = all(part.size == 1 and part[0] == weights[0][0] for part in weights)
        self._weights = weights[0] if alike else np.empty(max(total, 2))
        numbers = rows % self._count
        order = np.lexsort((rows, numbers))
        ends = np.searchsorted(numbers[order], list(self._blocks), side="right")
        for block, here in zip(self._blocks.values(), np.split(order, ends[:-1]), strict=True):
            block.copy(rows[here] // self._count, starts[here], self._columns, self._weights)


class Sweep:
    """The client's side: blocks of rows in the order in which they are asked for, and readers, once one is."""

    def __init__(self, blocks: Any, order: Sequence[IntArray], lengths: IntArray) -> None:
        self._blocks, self._asked = blocks, list(order)
        kind: type[np.integer] = np.int32 if blocks.n < 2**31 else np.int64
        rows: NDArray[np.integer] = np.concatenate([np.zeros(0, kind), *order]).astype(kind)
        self._order = Order(rows, np.concatenate([[0], np.cumsum([block.size for block in order], dtype=np.int64)]))
        self._readers: list[Any] = []
        self._of_block = np.zeros(len(blocks.futures), dtype=np.int64)  # which reader has a block of the matrix
        self._next = self._done = 0
        self._here = blocks.matrix(rows) if lengths[rows].sum() < _FEW else None

    def expects(self, rows: IntArray) -> bool:
        """Whether these rows are the next block, or a later one."""
        later = (k for k in range(self._next, len(self._asked)) if self._asked[k] is rows)
        k = next(later, None)
        self._next = self._next if k is None else k
        return k is not None

    def fields(
        self, iterate: NDArray[Any], columns: int, function: Callable[..., FloatArray], *arguments: Any
    ) -> FloatArray:
        """What a function finds in the rows that were expected."""
        rows, ends = self._asked[self._next], self._order.ends
        if self._here is not None:
            here = SomeRows.of(self._here, slice(*ends[self._next : self._next + 2]))
            return np.asarray(function(here, iterate, *arguments))
        for left in reversed(range(_PATIENCE)):
            try:
                found = self._ask(rows, iterate, columns, function, *arguments)
                break
            except Exception as error:  # what a lost worker ends as depends on where it was lost
                self.close()
                if not left or isinstance(error, DPGraphError):  # all are lost
                    raise
            except BaseException:
                self.close()
                raise
        self._next += 1
        if self._next == len(self._asked):
            self.close()
        return found

    def _ask(
        self, rows: IntArray, iterate: NDArray[Any], columns: int, function: Callable[..., FloatArray], *arguments: Any
    ) -> FloatArray:
        if not self._readers:
            self._open(iterate)
            self._done = self._next
        changes = packed(iterate[self._order.of(self._done, self._next + 1)])
        readers = self._of_block[rows % self._of_block.size]
        asked = [
            (k, reader.fields(self._done, self._next, changes, function, *arguments))
            for k, reader in enumerate(self._readers)
        ]
        found = np.empty((rows.size, columns))
        for k, answer in asked:
            found[readers == k] = answer.result()
        self._done = self._next
        return found

    def _open(self, iterate: NDArray[Any]) -> None:
        """A reader on each worker that holds blocks; those of a lost worker are built again, wherever that is."""
        client, futures = self._blocks.client, list(self._blocks.futures)
        opened: list[Any] = []
        with waiting(client, opened):
            places = client.who_has(futures)
            homes = [next(iter(sorted(places.get(future.key) or ())), "") for future in futures]
            sent = self._blocks.sent(tuple(self._order)), self._blocks.sent(packed(iterate))
            for k, home in enumerate(sorted(set(homes))):
                numbers = [number for number, place in enumerate(homes) if place == home]
                self._of_block[numbers] = k
                there = {"workers": [home], "allow_other_workers": True} if home else {}
                parts = [futures[number] for number in numbers]
                arguments = (*sent, self._blocks.weighted, len(futures), numbers, *parts)
                opened.append(client.submit(Reader, *arguments, actor=True, pure=False, **there))
            self._readers = client.gather(opened)

    def close(self) -> None:
        """Give up the readers: what Dask knows of an actor stays until it is told, or until garbage is collected."""
        if self._readers and self._blocks.client.status == "running":
            self._blocks.client.cancel([reader._future for reader in self._readers])  # noqa: SLF001
        self._readers = []

    def __del__(self) -> None:
        self.close()


def packed(iterate: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in fewer bytes, if there are such: those of iterates in [-1, 1] are multiples of 2**-8."""
    if iterate.dtype.kind != "f":
        return iterate
    with np.errstate(over="ignore"):
        half = iterate.astype(np.float16)
    return half if np.array_equal(half, iterate) else iterate
