"""What a worker does: it cuts edges into arcs, builds blocks of rows, and multiplies or hands out rows.

Every function here is a function of its arguments: a task that is run again, after a worker was lost, returns the same
numbers. No noise is drawn here, and nothing here raises for what the data say, because Dask logs the arguments of a
task that fails.
"""

import mmap
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.extras import require
from dpgraph.graph import WeightGrid
from dpgraph.linalg.some_rows import SomeRows, copy_rows, label_weights
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: Entries of a block that are multiplied at a time.
_CHUNK = 2**22
#: Name of an index of vertices that are numbers and compared as texts.
DIGITS = "digits"


class Rows(NamedTuple):
    """Rows of a matrix: the number of entries of each, their columns in increasing order, and their weights."""

    lengths: IntArray
    columns: IntArray
    weights: FloatArray | float  # one number where all entries weigh the same

    def counted(self, weighted: bool) -> "Rows":
        """The same, or with every entry counting 1."""
        return self if weighted else self._replace(weights=1.0)

    def taken(self, starts: IntArray, lengths: IntArray) -> "Rows":
        """Rows of these lengths, whose entries start at these places."""
        places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        weights = self.weights if isinstance(self.weights, float) else self.weights[places]
        return Rows(lengths, self.columns[places], weights)

    def sums(self) -> FloatArray:
        """Sum of the weights in each row."""
        if isinstance(self.weights, float):
            return np.asarray(self.lengths * self.weights, dtype=np.float64)
        before: FloatArray = np.concatenate([[0.0], np.cumsum(self.weights)])  # exact, as all sums of weights are
        ends = np.cumsum(self.lengths)
        return np.asarray(before[ends] - before[ends - self.lengths])

    @classmethod
    def joined(cls, parts: "Sequence[Rows]", order: IntArray) -> tuple["Rows", IntArray]:
        """Rows one after another, and where each of them starts; row i of all stands for row order[i]."""
        lengths, columns = np.concatenate([part.lengths for part in parts]), [part.columns for part in parts]
        starts, found = np.empty_like(lengths), np.empty_like(lengths)
        found[order], starts[order] = lengths, np.cumsum(lengths) - lengths
        weights: Any = parts[0].weights
        if not all(isinstance(part.weights, float) and part.weights == weights for part in parts):
            weights = np.concatenate([np.broadcast_to(part.weights, part.columns.shape) for part in parts])
        return cls(found, np.concatenate(columns), weights), starts

    def matrix(self, n: int) -> sparse.csr_array:
        """As a sparse matrix of n columns."""
        index = np.int32 if max(n, self.columns.size) < np.iinfo(np.int32).max else np.int64
        indptr = np.concatenate([[0], np.cumsum(self.lengths)]).astype(index)
        weights = np.broadcast_to(self.weights, self.columns.shape)
        data = np.ascontiguousarray(weights, dtype=np.float64)
        return sparse.csr_array((data, self.columns.astype(index, copy=False), indptr), shape=(self.lengths.size, n))


@dataclass(frozen=True)
class Edges:
    """How the rows of a table become arcs of a matrix: public facts."""

    n: int
    source: str
    target: str
    weight: str | None
    directed: bool  # a pair gets the heavier of its two (summed) arcs
    blocks: int = 1  # row r is row r // blocks of block r % blocks
    groups: int = 1  # block b is of group b % groups, which one worker builds

    def read(self, table: Any, labels: Any) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
        """Rows and columns of all edges of a table, their weights, and which of them are well formed.

        None is where anything cannot be read, such as a list for a name or an integer beyond all doubles: rows are -2.
        """
        weights: FloatArray = np.broadcast_to(1.0, len(table))
        try:
            row, col = (self._positions(table[name], labels) for name in (self.source, self.target))
            weights = weights if self.weight is None else _numbers(table[self.weight])
        except Exception:
            row = col = np.full(len(table), -2)
        return row, col, weights, (row >= 0) & (col >= 0) & np.isfinite(weights) & (weights >= 0)

    def _positions(self, column: Any, labels: Any) -> IntArray:
        """Positions of vertices, -1 for what is none; `labels` is None if they are numbers, else an index of pandas."""
        if column.dtype.kind == "O" and (labels is None or labels.dtype.kind in "iuf"):  # files hold texts
            column = column.mask(column.astype(str).str.match(r"\+|-?0[0-9]|-0$"))  # 007 is no vertex 7
        if labels is not None:
            known = column.astype(str) if labels.name == DIGITS else column
            known = _numbers(column) if labels.dtype.kind in "iuf" else known
            return np.asarray(labels.get_indexer(known), dtype=np.int64)
        if column.dtype.kind in "iu" and not column.hasnans:
            numbers = column.to_numpy()
            return np.where((numbers >= 0) & (numbers < self.n), numbers, -1).astype(np.int64)
        numbers = _numbers(column)
        known = (numbers >= 0) & (numbers < self.n) & (numbers == np.floor(numbers))
        return np.where(known, numbers, -1.0).astype(np.int64)

    def faults(self, table: Any, labels: Any) -> tuple[int, int, int]:
        """How many rows a table has, how many of them are malformed, and the first of these."""
        valid = self.read(table, labels)[3]
        return valid.size, int(np.count_nonzero(~valid)), int(np.argmin(valid)) if valid.size else 0

    def arcs(self, table: Any, labels: Any) -> tuple["Arcs", ...]:
        """Both arcs of each edge, for each group of blocks.

        An arc is a number that stands for its row, column and direction.
        """
        row, col, weights, valid = self.read(table, labels)
        faulty = not valid.all()
        valid &= row != col
        row, col, weights = row[valid], col[valid], weights[valid]
        rows, cols = np.concatenate([row, col]), np.concatenate([col, row])
        numbers = (rows // self.blocks * self.n + cols) * 2
        if self.directed:
            numbers[row.size :] += 1
        place = np.concatenate([np.arange(self.blocks)[group :: self.groups] for group in range(self.groups)])
        where = np.argsort(place).astype(np.min_scalar_type(self.blocks))[rows % self.blocks]
        order, counts = np.argsort(where, kind="stable"), np.bincount(where, minlength=self.blocks)
        numbers, found = numbers[order], []
        both = None if self.weight is None else np.concatenate([weights, weights])[order]
        first = start = 0
        for group in range(self.groups):
            last = first + len(range(group, self.blocks, self.groups))
            end = start + int(counts[first:last].sum())
            part = None if both is None else both[start:end]
            found.append(Arcs(counts[first:last], numbers[start:end], part, faulty=faulty and group == 0))
            first, start = last, end
        return tuple(found)

    def build(self, parts: Sequence["Arcs"], group: int, grid: WeightGrid) -> list["Block"]:
        """The blocks of a group, one after the other."""
        faulty = any(part.faulty for part in parts)
        return [
            Block.build(*Arcs.joined(parts, k), self, number, grid, faulty=faulty and k == 0)
            for k, number in enumerate(range(group, self.blocks, self.groups))
        ]


def _numbers(column: Any) -> FloatArray:
    """Numbers of a column, NaN for what is none."""
    return np.asarray(require("pandas").to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))


class Block:
    """Every k-th row of a symmetric matrix, in a file without a name: it is gone when its worker is.

    Pages that were read are given back, so that a worker holds a few numbers a row and not the entries. A copy on
    another worker has a file of its own.
    """

    def __init__(self, rows: Rows, *, faulty: bool = False) -> None:
        self.faulty = faulty  # whether rows of the table were malformed, in the first block
        self._starts = np.concatenate([[0], np.cumsum(rows.lengths)])
        self._columns = _Stored(rows.columns)
        self._weights = rows.weights if isinstance(rows.weights, float) else _Stored(rows.weights)

    @classmethod
    def build(
        cls, numbers: IntArray, weights: FloatArray | None, edges: Edges, number: int, grid: WeightGrid, *, faulty: bool
    ) -> "Block":
        """Sum parallel edges, take the heavier of two directions, cap the weights, and round them to their grid."""
        if weights is None:
            numbers, counts = np.unique(numbers, return_counts=True)
            sums = counts.astype(np.float64)
        else:
            order = np.lexsort((weights, numbers))  # so that both ends of an edge add up in one order
            with np.errstate(over="ignore"):  # infinity is capped; a worker is in no private call, and would warn
                numbers, sums = _grouped(numbers[order], weights[order], np.add)
        pairs, heavier = _grouped(numbers // 2, sums, np.maximum)
        rounded = grid.round(heavier)
        pairs, rounded = pairs[rounded > 0], rounded[rounded > 0]
        rows, columns = np.divmod(pairs, edges.n)
        lengths = np.bincount(rows, minlength=len(range(number, edges.n, edges.blocks)))
        same = rounded.size == 0 or bool(np.all(rounded == rounded[0]))
        columns = columns.astype(np.int32 if edges.n < 2**31 else np.int64)
        kept = Rows(lengths, columns, (float(rounded[0]) if rounded.size else 1.0) if same else rounded)
        return cls(kept, faulty=faulty)

    def __reduce__(self) -> tuple[Any, ...]:
        weights = self._weights if isinstance(self._weights, float) else np.array(self._weights.array)
        return partial(Block, faulty=self.faulty), (Rows(self.lengths, np.array(self._columns.array), weights),)

    @property
    def lengths(self) -> IntArray:
        """Number of entries of each row."""
        return np.diff(self._starts)

    def __sizeof__(self) -> int:
        return int(self._starts.nbytes)

    def rows(self, rows: IntArray | slice) -> Rows:
        """Some of its rows."""
        starts, lengths = self._starts[:-1][rows], self.lengths[rows]
        if isinstance(rows, slice):
            whole = slice(starts[0], starts[-1] + lengths[-1]) if starts.size else slice(0)
            weights = self._weights if isinstance(self._weights, float) else self._weights.array[whole].copy()
            found = Rows(lengths, self._columns.array[whole].copy(), weights)
        else:
            weights = self._weights if isinstance(self._weights, float) else self._weights.array
            found = Rows(self.lengths, self._columns.array, weights).taken(starts, lengths)
        self._give_back()
        return found

    def _give_back(self) -> None:
        for stored in (self._columns, self._weights):
            if isinstance(stored, _Stored):
                stored.give_back()

    @property
    def weights(self) -> FloatArray:
        """The weights of all entries, or one where they weigh the same."""
        return np.array([self._weights]) if isinstance(self._weights, float) else self._weights.array

    def copy(
        self, rows: NDArray[np.integer], places: IntArray, columns: NDArray[np.integer], weights: FloatArray
    ) -> None:
        """Copy the entries of some rows to these places."""
        starts, ends = self._starts[:-1][rows], self._starts[1:][rows]
        copy_rows(SomeRows(starts, ends, self._columns.array, self.weights), places, columns, weights)
        self._give_back()

    def pieces(self) -> Iterator[Rows]:
        """All rows, a few of them at a time."""
        first, n = 0, self._starts.size - 1
        while first < n:
            last = max(int(np.searchsorted(self._starts, self._starts[first] + _CHUNK, side="right")) - 1, first + 1)
            yield self.rows(slice(first, last))
            first = last


class _Stored:
    """An array in a file without a name; nobody writes to it, and compiled loops need no form for what is read only."""

    def __init__(self, array: Any) -> None:
        with tempfile.TemporaryFile(dir=_folder()) as file:
            array.tofile(file)
            file.write(b"\0")  # no file of no bytes can be mapped
            file.flush()
            self._pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        self.array = np.frombuffer(self._pages, dtype=array.dtype, count=array.size)

    def give_back(self) -> None:
        """Keep no page in memory that was read."""
        self._pages.madvise(mmap.MADV_DONTNEED)


class Arcs:
    """Arcs of a piece of a table in the rows of a group of blocks, one block after another, in a file without a name.

    `faulty` says of the first group whether rows of the piece were malformed.
    """

    def __init__(self, counts: IntArray, numbers: IntArray, weights: FloatArray | None, *, faulty: bool) -> None:
        self.faulty, self._ends = faulty, np.concatenate([[0], np.cumsum(counts)])
        self._columns = [_Stored(column) for column in (numbers, weights) if column is not None]

    def __reduce__(self) -> tuple[Any, ...]:
        numbers, weights = self._of(slice(None)) if len(self._columns) > 1 else (*self._of(slice(None)), None)
        return partial(Arcs, faulty=self.faulty), (np.diff(self._ends), numbers, weights)

    def __sizeof__(self) -> int:
        return int(self._ends.nbytes)

    def _of(self, places: slice) -> list[Any]:
        found = [column.array[places].copy() for column in self._columns]
        for column in self._columns:
            column.give_back()
        return found

    @classmethod
    def joined(cls, parts: "Sequence[Arcs]", k: int) -> tuple[IntArray, FloatArray | None]:
        """Those of the k-th block of the group, from all pieces."""
        found = [part._of(slice(part._ends[k], part._ends[k + 1])) for part in parts]  # noqa: SLF001
        numbers, *weights = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return numbers, weights[0] if weights else None


def _folder() -> str | None:
    """The folder of this worker for files, where Dask spills too."""
    try:
        return str(require("distributed").get_worker().local_directory)
    except ValueError:  # no worker
        return None


def _grouped(numbers: IntArray, weights: FloatArray, combine: np.ufunc) -> tuple[IntArray, FloatArray]:
    """Different numbers of a sorted list, and the weights of each, combined."""
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    return numbers[first], combine.reduceat(weights, first) if first.size else weights


# --- what is asked of a block, with its weights or with every entry counting 1 ---------------------------------------


def faulty(block: Block, *_: Any) -> bool:
    """Whether the table had malformed rows."""
    return block.faulty


def same(array: Any) -> Any:
    """What the client sent."""
    return array


def degrees(block: Block, weighted: bool) -> FloatArray:
    """Sum of the weights in each row."""
    found = [rows.counted(weighted).sums() for rows in block.pieces()]
    return np.concatenate(found) if found else np.zeros(0)


def edge_counts(block: Block, _weighted: bool) -> IntArray:
    """Number of entries of each row."""
    return block.lengths


def weights_between(block: Block, weighted: bool, number: int, blocks: int, labels: IntArray, count: int) -> FloatArray:
    """Weight of the entries by the labels of their rows and columns."""
    own, found, first = labels[number::blocks], np.zeros((count, count)), 0
    for rows in block.pieces():
        here = own[first : first + rows.lengths.size]
        found += label_weights(rows.counted(weighted).matrix(labels.size), here, labels, count)
        first += here.size
    return found


def products(block: Block, weighted: bool, X: FloatArray) -> FloatArray:
    """Rows of the product with an array of shape (n,) or (n, k)."""
    found = [rows.counted(weighted).matrix(len(X)) @ X for rows in block.pieces()]
    return np.concatenate(found) if found else np.zeros((0, *X.shape[1:]))


def some_rows(block: Block, weighted: bool, rows: IntArray, members: BoolArray | None = None) -> Rows:
    """Some rows, or what they hold in the columns of some vertices."""
    found = block.rows(rows).counted(weighted)
    if members is None:
        return found
    inside = members[found.columns]
    number = np.repeat(np.arange(rows.size), found.lengths)
    weights = found.weights if isinstance(found.weights, float) else found.weights[inside]
    return Rows(np.bincount(number[inside], minlength=rows.size), found.columns[inside], weights)
