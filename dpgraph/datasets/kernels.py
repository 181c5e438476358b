"""Compiled loops over large files: lines of plain numbers, and the symmetric matrix of many arcs."""

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.typing import FloatArray, IntArray

_TAB, _NEWLINE, _SPACE, _QUOTE, _COMMA, _DOT = (ord(character) for character in '\t\n ",.')
_HASH, _PERCENT, _PLUS, _MINUS, _ZERO, _DELETE = (ord(character) for character in "#%+-0\x7f")
#: So many digits fit into an int64; of so many, a float64 is exact, as is the power of ten that divides it.
_LABEL_DIGITS, _WEIGHT_DIGITS = 18, 15
_SHORT = 64


@njit()
def parse_numbers(text: NDArray[np.uint8], comma: bool, weight_column: int, ends: IntArray, weights: FloatArray) -> int:
    """Fill in ends and weights of each line and return how many there are; -1 if anything is not plain.

    Plain are lines of ASCII text without quotes, all of as many columns: two nonnegative integers as ends, a decimal
    fraction as weight (if `weight_column` is not negative), and any others. Blank lines and comments are passed over.
    """
    rows = width = i = 0
    least = _SPACE if comma else _SPACE + 1  # of fields that are not read
    while i < text.size:
        i = _skip_blanks(text, i)
        if i < text.size and (text[i] == _HASH or text[i] == _PERCENT):
            while i < text.size and text[i] != _NEWLINE:
                i += 1
        if i == text.size or text[i] == _NEWLINE:
            i += 1
            continue
        column, more = 0, True
        while more:
            start = i
            if column < 2:
                ends[rows, column], i = _natural(text, i)
                if not 0 < i - start <= _LABEL_DIGITS:
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
def symmetric_pattern(
    first: NDArray[np.integer], tails: IntArray, heads: IntArray
) -> tuple[NDArray[np.integer], NDArray[np.int32]]:
    """Row pointers and sorted columns of the symmetric pattern of some arcs, without its diagonal.

    `first` holds n + 1 zeros, of the type that the pointers shall have: large enough to count each arc twice.
    """
    pointers = first.copy()
    for u, v in zip(tails, heads):  # noqa: B905 # not compiled with strict=
        if u != v:
            first[min(u, v) + 1] += 1
    _accumulate(first)
    upper, at = np.empty(first[-1], np.int32), first[:-1].copy()
    for u, v in zip(tails, heads):  # noqa: B905
        if u != v:
            low = min(u, v)
            upper[at[low]] = max(u, v)
            at[low] += 1
    for i in range(at.size):  # each row of the upper triangle once, in order
        row, kept = upper[first[i] : first[i + 1]], 0
        _sort(row)
        for j in row:
            if not kept or j != row[kept - 1]:
                row[kept] = j
                kept += 1
                pointers[j + 1] += 1
        pointers[i + 1] += kept
        at[i] = first[i] + kept
    _accumulate(pointers)
    columns, place = np.empty(pointers[-1], np.int32), pointers[:-1].copy()
    for i in range(at.size):  # rows above have filled in what is left of the diagonal in row i
        for j in upper[first[i] : at[i]]:
            columns[place[i]] = j
            columns[place[j]] = i
            place[i] += 1
            place[j] += 1
    return pointers, columns


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
