"""Edge lists, and Gset files (a line ``n m``, then m lines ``i j w`` with vertices 1..n), as arrays.

Large files of plain numbers or names, which is nearly all of them, are parsed by polars. Everything else (small or
malformed files, quoted names) goes line by line; the results agree wherever polars answers.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from array import array
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from dpgraph.datasets.files import Malformed, decode, naturals, refuse_announced
from dpgraph.inputs.public_nodes import MAX_VERTICES, is_column_name
from dpgraph.inputs.text_formats import data_begin
from dpgraph.linalg.edges import EdgeList, merge_arcs
from dpgraph.typing import FloatArray, IntArray

Labels = type[int] | type[str] | Literal["auto"]
Header = bool | Literal["auto"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
#: Numbers that are written in another way than Python would write them: 00012, +49, -0.
_PADDED = r"\+.*|-?0[0-9]+|-0"
_ZERO_FIRST = re.compile(rb"[\t\n ,;]0[0-9]")
#: A line like a comment, whose first word is like a name: #1.
_MARKED = re.compile(rb"(?<=\n)[#%][^\s#%][^\n]*")
#: Delimiters of files with quoted fields, and the lines that a field goes on over, at most.
_QUOTING, _MOST_LINES = (",", ";"), 100
_OPEN = "expected a quoted field to end, with a double quote, within 100 lines; a quote may be missing"
#: Words for the two ends of an edge; more words may stand beside them in the name of a column: From Address.
_ENDS = ("source target", "src dst", "from to", "sender recipient", "sender receiver", "caller callee", "payer payee")
_MORE = frozenset({"address", "email", "e", "mail", "id", "name", "node", "user", "vertex"})
_ARROWS = ("->", "<->", "--", "<-", "=>", "→")
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
#: Texts of fewer bytes go line by line where polars has not been imported, which takes longer.
_LARGE_TEXT = 2**18
#: Bytes that polars may take for something else than the lines do: quotes, comments, control characters, all but ASCII.
_UNUSUAL = bytes(byte for byte in range(256) if not (byte in b"\t\n" or 32 <= byte < 127)) + b'"#%'
#: Longer numbers are no labels; converting them takes time that grows with the square, and Python stops at 4300.
_LONGEST_LABEL = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Lines of a file, of which those are blank that are above the data.

    Columns end at the `delimiter`, None for any white space; `header` holds their names, if a line of them was above.
    `ends` are the places of the two columns that hold the ends of an edge.
    """

    text: bytes
    delimiter: str | None = None
    header: tuple[str, ...] | None = None
    ends: tuple[int, int] = (0, 1)

    def data_lines(self) -> Iterator[tuple[int, list[str]]]:
        """Number and fields of each line that is neither blank nor a comment; a quoted field may go on over lines."""
        if self.delimiter in _QUOTING:
            yield from self._records(self.delimiter)
            return
        for number, line in enumerate(io.BytesIO(self.text), 1):
            if not _is_empty(line):
                yield number, [field.strip() for field in decode(line, number).split(self.delimiter)]

    def _records(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Number of the last line, and fields, of each record that the csv module finds."""
        first = last = quotes = 0

        def lines() -> Iterator[str]:
            nonlocal first, last, quotes
            for last, line in enumerate(io.BytesIO(self.text), 1):
                if not first and _is_empty(line):
                    continue
                first, quotes = first or last, quotes + line.count(b'"')
                if last - first > _MOST_LINES:
                    raise Malformed(_OPEN, first)
                yield decode(line, last)

        try:
            for fields in csv.reader(lines(), delimiter=delimiter):
                if last > first and quotes % 2:
                    raise Malformed(_OPEN, first)
                yield last, [field.strip() for field in fields]
                first = quotes = 0
        except csv.Error:
            raise Malformed(_OPEN, first) from None

    def below(self, number: int, header: tuple[str, ...] | None = None, ends: tuple[int, int] = (0, 1)) -> Table:
        """The table with blanks instead of its first `number` lines."""
        rest = b"".join(self.text.split(b"\n", number)[number:])
        return Table(b"\n" * number + rest, self.delimiter, header, ends)

    def widths(self, lines: int) -> list[int]:
        """Numbers of columns of the first lines."""
        return [len(fields) for _, fields in islice(self.data_lines(), lines)]


def open_table(
    text: bytes, labels: Labels, header: Header, weight: str | None, columns: tuple[str, str] | None = None
) -> tuple[Table, type[int] | type[str], bool]:
    """Recognise delimiter, header line and kind of the vertex labels; also whether the first line may be a header."""
    first = next((line for line in io.BytesIO(text) if not _is_empty(line)), b"")
    tab = labels is not int and b"\t" in first
    table = Table(text, _delimiter(first) or ("\t" if tab else None))
    if first[:4].lower() == b"sep=" and len(first.strip()) == 5:  # a word of spreadsheets to each other
        table = Table(text, chr(first[4])).below(text.count(b"\n", 0, text.index(first)) + 1)
    (number, fields), (_, second) = [*islice(table.data_lines(), 2), (0, []), (0, [])][:2]
    if columns is None and header is not False:
        columns = usual_ends(fields, number)
    if columns is not None:
        if header is False or columns[0] == columns[1] or any(fields.count(name) != 1 for name in columns):
            raise Malformed("expected a header line with the two names in columns=, each once", number or None)
        table = table.below(number, tuple(fields), (fields.index(columns[0]), fields.index(columns[1])))
        fields = [second[k] for k in table.ends if k < len(second)]
    elif header if header != "auto" else _is_header(fields, second, labels, weight, number):
        table, fields = table.below(number, tuple(fields)), second or fields
    if labels == "auto":
        labels = int if any(map(_INTEGER.fullmatch, fields[:2])) else str
        if any(field.count(pair[0]) != field.count(pair[1]) for field in fields[:2] for pair in ("()", "[]", "{}")):
            raise Malformed("a tuple was cut in two; write a CSV file with double quotes around such labels", number)
    if fields[1:2] and fields[1] in _ARROWS:
        raise Malformed("expected two names with a comma, a tab or blanks between; found an arrow between", number)
    doubtful = header == "auto" and table.header is None and not any(map(_INTEGER.fullmatch, fields[:2]))
    if labels is int and table.delimiter == "\t":
        table = replace(table, delimiter=None)
    return table, labels, doubtful and labels is str and len(fields) > 1


def _delimiter(first: bytes) -> str | None:
    """A comma or a semicolon outside of quotes, if one ends columns; Malformed where names may hold it."""
    bare = _QUOTED.sub(b"", first)
    bare = bare if b"," in bare or b";" in bare else first
    for sign, others in ((b",", b";\t"), (b";", b"\t")):
        if sign in bare:
            if any(other in field.strip() for field in bare.split(sign)[:2] for other in others):
                raise Malformed(
                    "columns of the first line may end at commas, or at semicolons or tabs. A header line that has "
                    "only one of them tells, sep=; on a line above, or double quotes around names that hold another"
                )
            return sign.decode()
    return None


def usual_ends(names: Sequence[str], line: int | None = None) -> tuple[str, str] | None:
    """Columns that are called source and target, where the first two are no ends; Malformed for other such words."""
    words = [
        {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)} - _MORE if len(name) < 100 else set()
        for name in names
    ]
    pairs = [pair for pair in (words_of.split() for words_of in _ENDS) if all({word} in words for word in pair)]
    if not pairs or any(words[:2] in ([{u}, {v}], [{v}, {u}]) for u, v in pairs):
        return None
    first, second = (names[words.index({word})] for word in pairs[0])
    if (first, second) != ("source", "target"):
        raise Malformed(
            f"the first two columns would be the ends of an edge, but two others are called {first} and {second}: "
            "columns= names both ends. No budget was spent",
            line,
        )
    return first, second


def _is_header(first: list[str], second: list[str], labels: Labels, weight: str | None, number: int) -> bool:
    """Whether the first line holds names of columns; Malformed if it may as well be an edge."""
    if any(map(_INTEGER.fullmatch, first[:2])) or len(first) < 2:
        return False
    numbers = any(map(_INTEGER.fullmatch, second[:2]))
    # A word where the next line has a number is the name of a column; an end of an edge may be called Nan, or 12e4.
    more = any(is_number(below) > is_number(name or "nan") for name, below in zip(first[2:], second[2:], strict=False))
    named = all(map(is_column_name, first[:2])) or weight in first[2:] or more
    if numbers and labels is str and not named:
        raise Malformed("the first line may be a header or an edge; say header=True or header=False", number)
    return named or numbers


def is_number(field: str) -> bool:
    """Whether Python reads a text as a number."""
    with suppress(ValueError):
        float(field)
        return True
    return False


def _is_empty(line: bytes) -> bool:
    """Whether a line is blank or a comment."""
    return line.isspace() or line.lstrip(b" \t")[:1] in (b"#", b"%")


class PaddedNumber(Malformed):
    """A number stands where numbers name vertices, and is not written as Python writes it."""


class Rows(NamedTuple):
    """Sorted labels that occur, positions among them of the two ends of each line, and weights if asked for."""

    labels: tuple[Hashable, ...]
    tails: IntArray
    heads: IntArray
    weights: FloatArray | None


def parse_rows(
    table: Table, *, labels: type[int] | type[str], weight: str | None, empty: bool = False, padded: bool = True
) -> Rows:
    """All lines of a table; Malformed for other numbers of columns than in the first, bad labels and bad weights.

    With `empty` a name may be missing; without `padded` a number like 00012 is a PaddedNumber, and an error.
    """
    column = _weight_column(table, weight)
    if labels is str and table.delimiter is not None:
        _refuse_marked_names(table.text, table.delimiter.encode(), 0 if table.header else data_begin(table.text))
    plain = _plain(table, labels, column, padded) if _polars_pays(table.text) else None
    return plain or _line_by_line(table, labels, column, empty, padded)


def _refuse_marked_names(text: bytes, delimiter: bytes, begin: int) -> None:
    """Refuse what may be a comment or an edge below the first line: to skip it would lose edges in silence."""
    found = next((one for one in _MARKED.finditer(text, begin) if delimiter in one[0]), None)
    if found is not None:
        line = text.count(b"\n", 0, found.start()) + 1
        raise Malformed(
            "expected an edge, or a comment with a blank after its # or %. Names that begin so need double quotes, and "
            "commas or semicolons between them. No budget was spent",
            line,
        )


def _polars_pays(text: bytes) -> bool:
    return len(text) >= _LARGE_TEXT or "polars" in sys.modules


def as_texts(table: Table) -> Table:
    """A table of numbers as one of names, in which blanks may stand where tabs separate columns."""
    first = next((line for line in io.BytesIO(table.text) if not _is_empty(line)), b"")
    return replace(table, delimiter="\t") if table.delimiter is None and b"\t" in first else table


def _weight_column(table: Table, weight: str | None) -> int | None:
    if weight is None:
        return None
    if table.header is None:
        return 2
    if table.header.count(weight) == 1 and (column := table.header.index(weight)) not in table.ends:
        return column
    raise Malformed(f"expected one column {weight!r} of weights in the header line, beside the ends of an edge")


def _plain(table: Table, labels: type[int] | type[str], weight_column: int | None, padded: bool) -> Rows | None:
    """All rows, if polars can read them as they stand: without quotes, blanks around fields, and holes."""
    data = table.text[data_begin(table.text) :]
    width = max(table.widths(1), default=0)
    separator = table.delimiter or ("\t" if b"\t" in data.partition(b"\n")[0] else " ")
    # What stands in no name, unless it may be a blank.
    usual = {",": b" \t", ";": b" \t", "\t": b" ", " ": b"\t"}.get(separator, b"")
    if (
        width <= max(*table.ends, weight_column or 0)
        or (labels is str and len(data.translate(None, _UNUSUAL + usual)) < len(data))
        or (labels is int and separator in _QUOTING and b'"' in data)
    ):
        return None
    import polars as pl

    kinds: dict[str, Any] = {str(k): pl.Float64 if k == weight_column else pl.String for k in range(width)}
    doubtful = labels is int and not padded and _may_be_padded(data)
    kinds |= {str(k): pl.Int64 if labels is int and not doubtful else pl.String for k in table.ends}
    form: dict[str, Any] = {"has_header": False, "separator": separator, "quote_char": None, "comment_prefix": "#"}
    try:
        frame = pl.read_csv(data, schema=kinds, **form)
    except pl.exceptions.PolarsError:  # line by line, the line that is wrong is named
        return None
    if any(column.null_count() for column in frame):  # a field is missing or empty
        return None
    ends = [frame[str(k)] for k in table.ends]
    if doubtful:
        if any(end.str.contains(f"^(?:{_PADDED})$").any() for end in ends):
            return None  # the line is named
        ends = [end.cast(pl.Int64, strict=False) for end in ends]
        if any(end.null_count() for end in ends):
            return None
    weights = None if weight_column is None else frame[str(weight_column)].to_numpy()
    if labels is int:
        return Rows(*_ranks(*(column.to_numpy() for column in ends)), weights)
    present = pl.concat([column.alias("") for column in ends]).unique().sort()
    tails, heads = (column.cast(pl.Enum(present)).to_physical().to_numpy() for column in ends)
    return Rows(tuple(present), tails, heads, weights)


def _may_be_padded(data: bytes) -> bool:
    """Whether a number in some column begins with a zero and another digit, or with a sign and a zero or none."""
    first = b"\n" + data[:2]
    return b"+" in data or b"-0" in data or any(_ZERO_FIRST.search(text) for text in (first, data))


def _ranks(tails: IntArray, heads: IntArray) -> tuple[tuple[int, ...], IntArray, IntArray]:
    """The distinct numbers of two columns in order, and for each number its position among them."""
    least = min(tails.min(initial=0), heads.min(initial=0))
    span = int(max(tails.max(initial=-1), heads.max(initial=-1))) + 1
    if least < 0 or span > 2 * tails.size:
        present, ranks = np.unique(np.concatenate([tails, heads]), return_inverse=True)
        return tuple(present.tolist()), ranks[: tails.size], ranks[tails.size :]
    occurs = np.zeros(span, dtype=bool)
    occurs[tails] = occurs[heads] = True
    if occurs.all():
        return tuple(range(span)), tails.astype(np.int32), heads.astype(np.int32)
    place = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return tuple(np.flatnonzero(occurs).tolist()), place[tails], place[heads]


def _line_by_line(
    table: Table, labels: type[int] | type[str], weight_column: int | None, empty: bool, padded: bool
) -> Rows:
    index: dict[Any, int] = {}
    ends, weights = array("q"), array("d")
    width = 0
    for number, fields in table.data_lines():
        width = width or len(fields)
        if len(fields) != width:
            raise Malformed(f"expected {width} columns as on the lines above; found {len(fields)}", number)
        if len(fields) <= max(table.ends):
            where = " and ".join(str(end + 1) for end in table.ends)
            raise Malformed(
                f"expected two vertex labels, in columns {where} with a comma, a semicolon, a tab or blanks between; "
                f"found {len(fields)} column{'s' * (len(fields) > 1)}",
                number,
            )
        for at in table.ends:
            label = _label(fields[at], labels, number, empty)
            if labels is int and not padded and re.fullmatch(_PADDED, fields[at]):
                raise PaddedNumber(
                    "expected whole numbers as vertices; one has zeros or a plus sign in front. Say labels=int if 007 "
                    "is the vertex 7, or labels=str (and nodes= of texts) if it is another",
                    number,
                )
            ends.append(index.setdefault(label, len(index)))
        if weight_column is not None:
            weights.append(_number(fields, weight_column, number))
    present = sorted(index)
    rank = np.empty(len(present), dtype=np.int64)
    rank[[index[label] for label in present]] = np.arange(len(present))
    tails, heads = rank[np.array(ends, dtype=np.int64)].reshape(-1, 2).T
    return Rows(tuple(present), tails, heads, None if weight_column is None else np.array(weights))


def _label(field: str, labels: type[int] | type[str], line: int, empty: bool) -> Hashable:
    if labels is str:
        if field or empty:
            return field
        raise Malformed('expected two vertex names; one is empty. Pass unknown="drop" to leave such lines out', line)
    if _INTEGER.fullmatch(field) and len(field) <= _LONGEST_LABEL:
        return int(field)
    raise Malformed(f"expected two integer vertex labels of at most {_LONGEST_LABEL} digits (or pass labels=str)", line)


def _number(fields: list[str], column: int, line: int) -> float:
    try:
        return float(fields[column])
    except (ValueError, IndexError):
        raise Malformed(f"expected a number in column {column + 1}, the weight, with a decimal point", line) from None


def looks_like_gset(table: Table) -> bool:
    """Two columns on the first line, three on the second, separated by white space."""
    return table.delimiter is None and table.header is None and table.widths(2) == [2, 3]


def parse_gset(table: Table) -> EdgeList:
    """Read a Gset file. Vertices are 1..n whether they have edges or not; a missing weight column means 1."""
    number, fields = next(table.data_lines(), (1, []))
    size = naturals(fields)
    if not len(fields) == len(size) == 2 or not 1 <= size[0] < MAX_VERTICES:
        found = "" if fields else "; the file is empty"
        raise Malformed(f"expected the numbers of vertices and edges of a Gset file: n m{found}", number)
    n, m = size
    refuse_announced(n, table.text, "vertices", number)
    body = table.below(number)
    rows = parse_rows(body, labels=int, weight=None if body.widths(1) == [2] else "weight")
    if len(rows.tails) != m:
        raise Malformed(
            "expected as many edges as the first line announces; the file may be truncated, or it is no Gset file "
            '(then pass format="edgelist")'
        )
    vertices = np.array(rows.labels, dtype=object)
    if len(vertices) and not (vertices[0] >= 1 and vertices[-1] <= n):
        raise Malformed(f"expected vertices in 1..{n}, as the first line announces; found another")
    index = vertices.astype(np.int64) - 1
    weights = rows.weights if rows.weights is not None else np.ones(m)
    return merge_arcs(n, index[rows.tails], index[rows.heads], weights), tuple(range(1, n + 1)), True
