"""Compiled loops over large files: lines of plain numbers, and the symmetric matrix of many arcs."""

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.typing import FloatArray, IntArray

_TAB, _NEWLINE, _SPACE, _QUOTE, _COMMA, _DOT = (ord(character) for character in '\t\n ",.')
_HASH, _PERCENT, _PLUS, _MINUS, _ZERO, _DELETE = (ord(character) for character in "#%+-0\x7f")
#: Of so many digits a float64 is exact, as is the power of ten that divides it.
_WEIGHT_DIGITS = 15
_SHORT = 64
#: Rows are worked on in 128 to 256 blocks, each of at most 2**16.
_BLOCK_BITS = 8


@njit()
def count_line_ends(text: NDArray[np.uint8]) -> int:
    """How many lines end; bytes.count takes several times as long."""
    count = 0
    for character in text:
        count += character == _NEWLINE
    return count


@njit()
def parse_numbers(
    text: NDArray[np.uint8], comma: bool, weight_column: int, ends: NDArray[np.integer], weights: FloatArray
) -> int:
    """Fill in ends and weights of each line and return how many there are; -1 if anything is not plain.

    Plain are lines of ASCII text without quotes, all of as many columns: two nonnegative integers as ends, of fewer
    digits than the type of `ends` allows, a decimal fraction as weight (if `weight_column` is not negative), and any
    others. Blank lines and comments are passed over.
    """
    rows = width = i = 0
    digits = 9 if ends.itemsize == 4 else 18
    least = _SPACE if comma else _SPACE + 1  # of fields that are not read
    while i < text.size:
        i = _skip_blanks(text, i)
        if i < text.size and (text[i] == _HASH or text[i] == _PERCENT):
            while i < text.size and text[i] != _NEWLINE:
                i += 1
        if i == text.size or text[i] == _NEWLINE:
            i += 1
            continue
        if width == 2:  # nearly all lines are two numbers and what stands between them
            tail, j = _natural(text, i)
            head, k = _natural(text, min(j + 1, text.size))
            plain = i < j <= i + digits and j + 1 < k <= j + 1 + digits and k < text.size and text[k] == _NEWLINE
            if plain and (text[j] == _COMMA if comma else (text[j] == _SPACE or text[j] == _TAB)):
                ends[rows, 0], ends[rows, 1] = tail, head
                rows, i = rows + 1, k + 1
                continue
        column, more = 0, True
        while more:
            start = i
            if column < 2:
                ends[rows, column], i = _natural(text, i)
                if not 0 < i - start <= digits:
                    return -1
            elif column == weight_column:
                weights[rows], i = _decimal(text, i)
                if i < 0:
                    return -1
            else:
                while i < text.size and least <= text[i] < _DELETE and text[i] != _QUOTE and text[i] != _COMMA * comma:
                    i += 1
            column += 1
            end, i = i, _skip_blanks(text, i)
            more = i < text.size and text[i] != _NEWLINE
            if more and (text[i] != _COMMA if comma else i == end):
                return -1
            if more and comma:
                i = _skip_blanks(text, i + 1)
        width = width or column
        if column != width or column <= max(1, weight_column):
            return -1
        rows += 1
    return rows


@njit()
def _skip_blanks(text: NDArray[np.uint8], i: int) -> int:
    for k in range(i, text.size):
        if text[k] != _SPACE and text[k] != _TAB:
            return k
    return text.size


@njit()
def _natural(text: NDArray[np.uint8], i: int) -> tuple[int, int]:
    """The digits from place i on as a number, which may overflow, and the place after them."""
    value = 0
    for k in range(i, text.size):
        digit = text[k] - _ZERO
        if not 0 <= digit < 10:
            return value, k
        value = 10 * value + digit
    return value, text.size


@njit()
def _decimal(text: NDArray[np.uint8], i: int) -> tuple[float, int]:
    """A decimal fraction that is exact up to its last rounding, and the place after it, -1 for any other."""
    sign = -1.0 if text[i] == _MINUS else 1.0
    if text[i] == _MINUS or text[i] == _PLUS:
        i += 1
    whole, end = _natural(text, i)
    digits, scale = end - i, 1.0
    if end < text.size and text[end] == _DOT:
        fraction, i = _natural(text, end + 1)
        places = i - end - 1
        digits, end = digits + places, i
        for _ in range(min(places, _WEIGHT_DIGITS)):
            whole, scale = 10 * whole, 10 * scale
        whole += fraction
    return sign * whole / scale, end if 0 < digits <= _WEIGHT_DIGITS else -1


@njit()
def mark_present(numbers: NDArray[np.integer], occurs: NDArray[np.bool_]) -> None:
    """Set ``occurs[x]`` for each of these numbers x."""
    for pair in numbers:
        for x in pair:
            occurs[x] = True


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
    _split_upper(tails, heads, shift, starts[0], rows, upper)
    kept = _sort_blocks(shift, starts, rows, upper, pointers)
    lower = np.empty(kept, np.int32)
    _split_lower(shift, starts[1], pointers, upper, rows, lower)
    columns = np.empty(2 * kept, np.int32)
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
