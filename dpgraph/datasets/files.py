"""From a path to plain text: opening, gunzipping, recognising what is not text, with errors to act on.

Errors name the file and a line number. They never quote the content: a line of an edge list is private.
"""

import gzip
import os
import re
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

from dpgraph.exceptions import DatasetError

__all__ = ["MAX_BYTES", "MAX_LINE", "blank_comments", "decode", "malformed", "read_text", "refuse_long_lines"]

#: Largest content of a file, unpacked. The environment variable ``DPGRAPH_MAX_BYTES`` sets another limit.
MAX_BYTES = 4 * 2**30
#: Largest ratio of unpacked to packed size, beyond the first mebibytes. Edge lists shrink to a third or a tenth; a
#: thousandth is a file made to fill the memory.
_MAX_RATIO = 200
_FREE_BYTES = 64 * 2**20
_CHUNK = 2**20
#: Longest line of an edge list. No edge needs more, and the csv module stops at twice as much.
MAX_LINE = 2**16

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*", re.MULTILINE)


class _Readable(Protocol):
    """What a plain file and an unpacked one have in common."""

    def read(self, size: int = ..., /) -> bytes: ...


def read_text(path: str | os.PathLike[str]) -> bytes:
    r"""Content of a text file with ``\n`` line ends, decompressed if it is gzip (by content, not by name).

    Memory is bounded: a file is unpacked in pieces, and reading stops at :data:`MAX_BYTES`, or where a gzip file
    grows more than two hundredfold beyond 64 MiB.

    Raises
    ------
    DatasetError
        The file is missing, unreadable, too large, a truncated or damaged gzip file, or not text.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            packed = stream.read(2) == _GZIP_MAGIC
            stream.seek(0)
            raw = _unpack(stream, path) if packed else _read_up_to(stream, _limit(), path)
    except FileNotFoundError:
        raise DatasetError(f"no such file: {path}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DatasetError(f"{path} is a truncated or damaged gzip file; fetch it again or compress it again") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from None
    if b"\0" in raw:
        raise DatasetError(f"{path} is not a text file; expected an edge list, Gset or GML file in UTF-8, plain or .gz")
    if raw.startswith(b"%%MatrixMarket"):
        raise DatasetError(f"{path} is a Matrix Market file; read it with scipy.io.mmread and pass the matrix")
    return raw.removeprefix(_BYTE_ORDER_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _limit() -> int:
    wanted = os.environ.get("DPGRAPH_MAX_BYTES") or str(MAX_BYTES)
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) <= 18):
        raise DatasetError("the environment variable DPGRAPH_MAX_BYTES must be a number of bytes")
    return int(wanted)


def _read_up_to(stream: _Readable, limit: int, path: Path) -> bytes:
    """All of a stream, in pieces, or an error as soon as it is longer than `limit`."""
    content = bytearray()
    while piece := stream.read(_CHUNK):
        content += piece
        if len(content) > limit:
            raise DatasetError(
                f"{path} holds more than {limit} bytes of text, the limit for one file (if compressed, for what "
                "it unpacks to). If you trust it, set the environment variable DPGRAPH_MAX_BYTES higher, and unpack a "
                "compressed file first"
            )
    return bytes(content)


def _unpack(stream: BinaryIO, path: Path) -> bytes:
    allowed = max(_FREE_BYTES, _MAX_RATIO * os.fstat(stream.fileno()).st_size)
    with gzip.GzipFile(fileobj=stream) as unpacked:
        return _read_up_to(unpacked, min(_limit(), allowed), path)


def refuse_long_lines(text: bytes, path: str | os.PathLike[str]) -> None:
    """Raise DatasetError if a line is longer than :data:`MAX_LINE` bytes."""
    start = 0
    while len(text) - start > MAX_LINE:
        end = text.rfind(b"\n", start, start + MAX_LINE + 1)
        if end < 0:
            line = text.count(b"\n", 0, start) + 1
            raise malformed(path, line, f"at most {MAX_LINE} bytes on a line (an edge list has one edge on each line)")
        start = end + 1


def decode(text: bytes, path: str | os.PathLike[str], line: int = 1) -> str:
    """Text of `path`, from line number `line` on, as a string; DatasetError when it is not UTF-8."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line += text.count(b"\n", 0, error.start)
        raise DatasetError(
            f"{path}, line {line}: expected UTF-8 text; found other bytes. Save the file as UTF-8"
        ) from None


def blank_comments(text: bytes) -> bytes:
    """Empty every line that starts with ``#`` or ``%``; lines keep their numbers."""
    return _COMMENT.sub(b"", text)


def malformed(path: str | os.PathLike[str], line: int, expected: str) -> DatasetError:
    """Error for one bad line. It says where and what was expected, never what stands there."""
    return DatasetError(f"{path}, line {line}: expected {expected}")
