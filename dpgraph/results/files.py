"""Private results in a file: numpy arrays and JSON in one ``.npz``, without pickle, with the ledger inside.

Format ``dpgraph-result``, version 3. The archive is not compressed: nothing in it is larger than the file. It holds one
entry ``metadata`` (UTF-8 bytes of a JSON object) and one entry for each array of the result. The object has the keys
``format``, ``version``, ``type`` (name of the class), ``arrays`` (names of the fields that are entries of the archive),
``fields`` (all other fields) and ``privacy`` (the report with its ledger, as :meth:`~dpgraph.PrivacyReport.to_dict`).
Values that JSON does not have are objects with one key: ``{"tuple": [...]}``, ``{"set": [...]}``, ``{"float": "nan"}``
(also ``"inf"`` and ``"-inf"``), and ``{"counts": [...]}`` for the fields of counts. A file is made of published values
only and may be published.
"""

import importlib
import io
import json
import math
import os
import zipfile
from dataclasses import fields
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import DPGraphError, InvalidParameterError
from dpgraph.privacy.report import LedgerEntry, Pairs, PrivacyReport
from dpgraph.result import Result
from dpgraph.results.counts import PrivateCounts, PrivateEstimate

FORMAT, VERSION = "dpgraph-result", 3


def save_result(result: Any, path: str | os.PathLike[str]) -> None:
    """Save a private result to a file.

    Parameters
    ----------
    result : PrivateNormalizedAdjacency, PrivateDegrees, PrivateCutResult, PrivateSpectrum, ...
        A result of a private function.
    path : path-like
        Its name should end in ``.npz``; an existing file is replaced, at once or not at all.

    Raises
    ------
    InvalidParameterError
        The result is of another type, or a vertex label is not made of numbers, texts, booleans, None, tuples and
        frozensets.

    Examples
    --------
    >>> import dpgraph, tempfile, pathlib
    >>> noisy = dpgraph.private_degrees(dpgraph.datasets.load("five-cycle"), epsilon=1.0, delta=1e-6)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "degrees.npz"
    >>> save_result(noisy, path)
    >>> load_result(path).privacy == noisy.privacy
    True
    """
    name = type(result).__name__
    if type(result) is not _class_of(name):
        raise InvalidParameterError(f"can save results of private functions; got {name}")
    kept = [field.name for field in fields(result) if field.metadata.get("saved", True)]
    values = {key: getattr(result, key) for key in kept}
    arrays: dict[str, Any] = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "type": name,
        "arrays": list(arrays),
        "fields": {key: _encode(value) for key, value in values.items() if key not in arrays and key != "privacy"},
        "privacy": _encode(result.privacy.to_dict()),
    }
    # Escapes instead of UTF-8, which has no form for half of a surrogate pair.
    text = json.dumps(metadata, allow_nan=False).encode("ascii")
    arrays["metadata"] = np.frombuffer(text, dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def load_result(path: str | os.PathLike[str]) -> Any:
    """Load a private result that :func:`save_result` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object
        Of the class that was saved, with its privacy report.

    Raises
    ------
    InvalidParameterError
        The file is no result of dpgraph, is damaged, or of another version of the format.
    OSError
        There is no such file, or it may not be read.
    """
    with open(path, "rb") as stream:
        try:
            return _read(stream, path)
        except DPGraphError:
            raise
        except Exception as error:  # damaged bytes raise errors of many kinds in zipfile, zlib, numpy and json
            raise InvalidParameterError(
                f"{os.fspath(path)} is no file of a dpgraph result, or it is damaged"
            ) from error


def _read(stream: BinaryIO, path: str | os.PathLike[str]) -> Any:
    with zipfile.ZipFile(stream) as archive:
        metadata = json.loads(_array(archive, "metadata").tobytes())
        _check(metadata, path)
        arrays = {name: _array(archive, name) for name in dict.fromkeys(metadata["arrays"])}
    values = {key: _decode(value) for key, value in metadata["fields"].items()}
    report = _decode(metadata["privacy"])
    entries = [LedgerEntry(**entry | {"pairs": Pairs(entry["pairs"])}) for entry in report["entries"]]
    privacy = PrivacyReport(**report | {"entries": tuple(entries)})
    if metadata["type"] == PrivateEstimate.__name__:
        values["counts"] = PrivateCounts(**values["counts"], privacy=privacy)
    return _class_of(metadata["type"])(**arrays, **values, privacy=privacy)


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """The array of this name; its header is believed only where it fits what follows."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError("a few packed bytes may be many")
    content = archive.read(member)
    stream = io.BytesIO(content)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(stream)]
    shape, fortran, dtype = header(stream)
    if dtype.kind not in "biuf":
        raise ValueError("not an array of numbers")
    entries = np.frombuffer(content, dtype, offset=stream.tell())
    return entries.reshape(shape, order="F" if fortran else "C").copy()


def _check(metadata: Any, path: str | os.PathLike[str]) -> None:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT or _class_of(metadata["type"]) is None:
        raise InvalidParameterError(f"{os.fspath(path)} is no file of a dpgraph result")
    if type(version := metadata.get("version")) is not int or version != VERSION:
        raise InvalidParameterError(
            f"{os.fspath(path)} has version {version!r} of the format; this dpgraph reads version {VERSION}"
        )


def _class_of(name: str) -> Any:
    """The class of dpgraph that is called so, if its results can be saved, or None."""
    if not str(name).startswith("Private"):
        return None
    kind = getattr(importlib.import_module("dpgraph"), name, None)
    return kind if isinstance(kind, type) and issubclass(kind, Result) else None


def _encode(value: Any) -> Any:
    """JSON form of a field."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, PrivateCounts):  # inside an estimate, with whose report it was released
        names = (field.name for field in fields(value) if field.name != "privacy")
        return {"counts": [[name, _encode(getattr(value, name))] for name in names]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item) for item in value]}
    if isinstance(value, (set, frozenset)):
        kind = "set" if isinstance(value, set) else "frozenset"
        return {kind: [_encode(item) for item in value]}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_encode(key), _encode(item)] for key, item in value.items()]}
    raise InvalidParameterError(
        "labels in a file must be numbers, texts, booleans, None, or tuples or frozensets of these; "
        f"got one of type {type(value).__name__}. Relabel the graph before the release"
    )


def _decode(value: Any) -> Any:
    """A value from its JSON form."""
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "float":
        return float(content)
    if kind in ("dict", "counts"):
        return {_decode(key): _decode(item) for key, item in content}
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](_decode(item) for item in content)
