"""Compiled loops over many arcs: their symmetric matrix."""

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.typing import IntArray

_SHORT = 64
#: Rows are worked on in 128 to 256 blocks, each of at most 2**16.
_BLOCK_BITS = 8


def symmetric_pattern(n: int, tails: IntArray, heads: IntArray) -> tuple[NDArray[np.integer], NDArray[np.int32]]:
    """Row pointers and sorted columns of the symmetric pattern of some arcs between n vertices, without its diagonal.

    Arcs go to blocks of consecutive rows first, so that whatever is accessed at random fits into the cache. Rows of the
    upper triangle are sorted; those of the lower one come in order. (Arrays are numpy's, which asks the system for
    large pages.)
    """
    shift = min(max(n.bit_length() - _BLOCK_BITS, 0), 16)
    starts = np.zeros((2, (n >> shift) + 2), np.int64)
    index: type[np.integer] = np.int32 if len(tails) < 2**30 else np.int64
    pointers = np.zeros(n + 1, index)
    rows, upper = np.empty(len(tails), np.uint16), np.empty(len(tails), np.int32)
    tails, heads = (ends.astype(f"i{max(ends.itemsize, 4)}", "C", copy=False) for ends in (tails, heads))
    _split_upper(tails, heads, shift, starts[0], rows, upper)
    kept = _sort_blocks(shift, starts, rows, upper, pointers)
    lower, columns = np.empty(kept, np.int32), np.empty(2 * kept, np.int32)
    _split_lower(shift, starts[1], pointers, upper, rows, lower)
    _join_blocks(shift, starts[1], (rows, lower, upper), pointers, columns)
    return pointers, columns


@njit()
def _split_upper(
    tails: IntArray, heads: IntArray, shift: int, starts: IntArray, rows: NDArray[np.uint16], upper: NDArray[np.int32]
) -> None:
    """Write each arc from the smaller end to its block, and where blocks begin. Rows are numbers inside a block."""
    for u, v in zip(tails, heads):  # noqa: B905 # not compiled with strict=
        if u != v:
            starts[(min(u, v) >> shift) + 1] += 1
    _accumulate(starts)
    at = starts.copy()
    for u, v in zip(tails, heads):  # noqa: B905
        if u != v:
            low = min(u, v)
            p = at[low >> shift]
            at[low >> shift] += 1
            rows[p], upper[p] = low & ((1 << shift) - 1), max(u, v)


@njit()
def _sort_blocks(
    shift: int, starts: IntArray, rows: NDArray[np.uint16], upper: NDArray[np.int32], pointers: NDArray[np.integer]
) -> int:
    """Sort the rows of each block and drop what is repeated, in place; how many columns are left.

    Also where blocks of the lower triangle begin, the second row of `starts`.
    """
    ends = np.empty((1 << shift) + 1, np.int64)
    block_rows = np.empty(np.diff(starts[0]).max(), np.int32)
    kept = 0
    for block in range(starts.shape[1] - 1):
        begin, end = starts[0, block], starts[0, block + 1]
        _row_begins(rows[begin:end], ends)
        for p in range(begin, end):  # ends[r] moves from the begin of row r to its end
            block_rows[ends[rows[p]]] = upper[p]
            ends[rows[p]] += 1
        start = 0
        for r in range(min(1 << shift, pointers.size - 1 - (block << shift))):
            row, start, last = block_rows[start : ends[r]], ends[r], np.int32(-1)
            _sort(row)
            for j in row:
                if j != last:
                    upper[kept] = last = j
                    starts[1, (j >> shift) + 1] += 1
                    kept += 1
            pointers[(block << shift) + r + 1] = kept
    _accumulate(starts[1])
    return kept


@njit()
def _split_lower(
    shift: int,
    starts: IntArray,
    pointers: NDArray[np.integer],
    upper: NDArray[np.int32],
    rows: NDArray[np.uint16],
    lower: NDArray[np.int32],
) -> None:
    """Write each entry of the upper triangle to the block of its mirror image, the columns of a row in order."""
    at = starts.copy()
    for i in range(pointers.size - 1):
        for j in upper[pointers[i] : pointers[i + 1]]:
            p = at[j >> shift]
            at[j >> shift] += 1
            rows[p], lower[p] = j & ((1 << shift) - 1), i


@njit()
def _join_blocks(
    shift: int,
    starts: IntArray,
    halves: tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.int32]],
    pointers: NDArray[np.integer],
    columns: NDArray[np.int32],
) -> None:
    """Write whole rows, the lower triangle first; the pointers, those of the upper triangle, become theirs."""
    rows, lower, upper = halves
    begins, at = np.empty((1 << shift) + 1, np.int64), np.empty(1 << shift, np.int64)
    first = pointers[0]
    for block in range(starts.size - 1):
        begin, end = starts[block], starts[block + 1]
        _row_begins(rows[begin:end], begins)
        for r in range(min(1 << shift, pointers.size - 1 - (block << shift))):
            i = (block << shift) + r
            at[r], place = begin + begins[r] + first, begin + begins[r + 1]
            for p in range(first, pointers[i + 1]):
                columns[place + p] = upper[p]
            first = pointers[i + 1]
            pointers[i + 1] += place
        for p in range(begin, end):
            columns[at[rows[p]]] = lower[p]
            at[rows[p]] += 1


@njit()
def _row_begins(rows: NDArray[np.uint16], begins: IntArray) -> None:
    """Where each row of a block begins, and after the last one where it ends, were its entries in order of rows."""
    begins[:] = 0
    for r in rows:
        begins[r + 1] += 1
    _accumulate(begins)


@njit()
def _accumulate(counts: NDArray[np.integer]) -> None:
    for i in range(1, counts.size):
        counts[i] += counts[i - 1]


@njit()
def _sort(row: NDArray[np.int32]) -> None:
    """In place; nearly all rows are short, where nothing is faster than insertion."""
    if row.size > _SHORT:
        row.sort()
        return
    for p in range(1, row.size):
        j, q = row[p], p
        while q and row[q - 1] > j:
            row[q] = row[q - 1]
            q -= 1
        row[q] = j
