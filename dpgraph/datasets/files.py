"""From a path to text: opening, gunzipping, recognising what is not text, with errors to act on.

Errors name the file and a line number. They never quote the content: a line of an edge list is private.
"""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from dpgraph.exceptions import DatasetError

AnyPath = str | os.PathLike[str]

#: Largest content of a file, unpacked. The environment variable ``DPGRAPH_MAX_BYTES`` sets another limit.
_MAX_BYTES = 4 * 2**30
#: Largest ratio of unpacked to packed size, beyond the first mebibytes. Edge lists shrink to a third or a tenth; a
#: thousandth is a file made to fill the memory.
_MAX_RATIO = 200
_FREE_BYTES = 64 * 2**20
_CHUNK = 2**20
#: Longest line of an edge list. No edge needs more, and the csv module stops at twice as much.
_MAX_LINE = 2**16
#: A header may announce this many vertices, or as many as the file has bytes: names of more would fill the memory.
_FREE_NAMES = 2**20
#: Decimal numbers of at most this many digits are exact as int64 and as float64.
_MAX_DIGITS = 15

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Malformed(Exception):
    """What is wrong with a file, or with one of its lines: what was expected, never what stands there."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.place = "" if line is None else f", line {line}"


@contextmanager
def naming(path: AnyPath) -> Iterator[None]:
    """Make a DatasetError with the name of the file of what is found malformed."""
    try:
        yield
    except Malformed as error:
        raise DatasetError(f"{path}{error.place}: {error}") from None


def read_text(path: AnyPath) -> str:
    """:func:`read_bytes` as a string; DatasetError also where it is not UTF-8."""
    with naming(path):
        return decode(read_bytes(path))


def read_bytes(path: AnyPath, encoding: str = "utf-8", *, records: bool = False) -> bytes:
    r"""Content of a text file with ``\n`` line ends, decompressed if it is gzip (by content, not by name).

    Memory is bounded: a file is unpacked in pieces, and reading stops at a limit of 4 GiB, or where a gzip file grows
    more than two hundredfold beyond 64 MiB. DatasetError if the file is missing, unreadable, too large, damaged, or not
    text; of a table of `records`, which are private, only the first line is looked at.
    """
    path = Path(path)
    if "\0" in str(path):  # which no name of a file holds: to open it is a ValueError
        raise DatasetError(f"no such file: {str(path)!r}")
    try:
        with path.open("rb") as stream:
            raw = _unpacked(stream, path)
    except FileNotFoundError:
        raise DatasetError(f"no such file: {path}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DatasetError(f"{path} is a truncated or damaged gzip file; fetch it again or compress it again") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
    if encoding != "utf-8" or raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raw = _as_utf8(raw, encoding if encoding != "utf-8" else "utf-16", path)
    if b"\0" in (raw.partition(b"\n")[0] if records else raw):
        raise DatasetError(
            f"{path} is not a text file; expected an edge list (CSV, say) or a graph format in UTF-8, plain or .gz. "
            "Save a spreadsheet as CSV"
        )
    raw = raw.removeprefix(_BYTE_ORDER_MARK)
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def _as_utf8(raw: bytes, encoding: str, path: Path) -> bytes:
    try:
        return raw.decode(encoding).encode()
    except LookupError:
        raise DatasetError(
            f"encoding={encoding!r} is none that Python knows; usual are cp1252, latin-1, utf-16"
        ) from None
    except UnicodeError:
        raise DatasetError(f"{path} is no text in the encoding {encoding}; name another with encoding=") from None


def _unpacked(stream: BufferedReader, path: Path) -> bytes:
    """All of a file, read in pieces; an error as soon as it is longer than allowed."""
    wanted = os.environ.get("DPGRAPH_MAX_BYTES") or str(_MAX_BYTES)
    if not naturals([wanted]):
        raise DatasetError("the environment variable DPGRAPH_MAX_BYTES must be a number of bytes")
    limit, size = int(wanted), os.fstat(stream.fileno()).st_size
    opened: BufferedReader | gzip.GzipFile = stream
    packed = stream.peek(2).startswith(_GZIP_MAGIC)  # a pipe cannot go back
    if packed:
        limit = min(limit, max(_FREE_BYTES, _MAX_RATIO * size))
        opened = gzip.GzipFile(fileobj=stream)
    # What is not compressed comes in one piece, which is not copied.
    pieces, left, step = [], limit, _CHUNK if packed else max(min(size, limit) + 1, _CHUNK)
    while piece := opened.read(step):
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            raise DatasetError(
                f"{path} holds more than {limit} bytes of text, the limit for one file (if compressed, for what "
                "it unpacks to). If you trust it, set the environment variable DPGRAPH_MAX_BYTES higher, and unpack a "
                "compressed file first"
            )
    return b"".join(pieces)


def refuse_long_lines(text: bytes) -> None:
    """Raise Malformed if a line is longer than 64 KiB."""
    start = 0
    while len(text) - start > _MAX_LINE:
        end = text.rfind(b"\n", start, start + _MAX_LINE + 1)
        if end < 0:
            line = text.count(b"\n", 0, start) + 1
            raise Malformed(f"expected at most {_MAX_LINE} bytes on a line (an edge list has one edge on each)", line)
        start = end + 1


def refuse_announced(number: int, text: bytes | str, what: str, line: int | None = None) -> None:
    """Raise Malformed if a file announces so many of something that they cannot all occur in it."""
    if number > max(_FREE_NAMES, len(text)):
        raise Malformed(
            f"expected at most {_FREE_NAMES} {what}, or as many as the file has bytes, which is {len(text)}; "
            "it announces more",
            line,
        )


def decode(text: bytes, line: int = 1) -> str:
    """Text from line number `line` on as a string; Malformed where it is not UTF-8."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line += text.count(b"\n", 0, error.start)
        raise Malformed(
            'expected UTF-8 text; found other bytes. Save the file as UTF-8, or name its encoding: encoding="cp1252" '
            "is that of older Windows programs",
            line,
        ) from None


def refuse_half_characters(name: Any) -> Any:
    r"""The name; Malformed for a text with half of a surrogate pair (``\ud800``), which no UTF-8 file can hold."""
    if isinstance(name, str) and not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            raise Malformed("expected names of whole characters; one holds half of a surrogate pair") from None
    return name


def naturals(fields: Iterable[str]) -> list[int]:
    """Those of the fields that are nonnegative integers of a sensible size."""
    return [int(field) for field in fields if field.isascii() and field.isdigit() and len(field) <= _MAX_DIGITS]
