"""From a path to plain text: opening, gunzipping, recognising what is not text, with errors to act on.

Errors name the file and a line number. They never quote the content: a line of an edge list is private.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from pathlib import Path

from dpgraph.exceptions import DatasetError

__all__ = ["blank_comments", "decode", "malformed", "read_text"]

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*", re.MULTILINE)


def read_text(path: str | os.PathLike[str]) -> bytes:
    r"""Content of a text file with ``\n`` line ends, decompressed if it is gzip (by content, not by name).

    Raises
    ------
    DatasetError
        The file is missing, unreadable, a truncated or damaged gzip file, or not text.
    """
    path = Path(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DatasetError(f"no such file: {path}") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from None
    if raw.startswith(_GZIP_MAGIC):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, OSError, zlib.error):
            raise DatasetError(
                f"{path} is a truncated or damaged gzip file; fetch it again or compress it again"
            ) from None
    if b"\0" in raw:
        raise DatasetError(f"{path} is not a text file; expected an edge list, Gset or GML file in UTF-8, plain or .gz")
    if raw.startswith(b"%%MatrixMarket"):
        raise DatasetError(f"{path} is a Matrix Market file; read it with scipy.io.mmread and pass the matrix")
    return raw.removeprefix(_BYTE_ORDER_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


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
