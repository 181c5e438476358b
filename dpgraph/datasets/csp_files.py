"""2-CSP instances in JSON files.

Variables and labels are public and stated by the file; the constraints are the data. Errors never quote them.
"""

import json
from pathlib import Path
from typing import Any

from dpgraph.datasets.files import AnyPath, Malformed, naming, read_text, refuse_announced, refuse_half_characters
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.instance import TwoCSP

_JSON_FORM = '{"variables": [...], "alphabet": [...], "constraints": [{"u": ..., "v": ..., "relation": [[...]]}]}'


def read_csp(path: AnyPath) -> TwoCSP:
    r"""Read a 2-CSP from a JSON file, plain or gzip-compressed.

    Parameters
    ----------
    path : str or path-like
        The file, ``.json`` or ``.json.gz``: an object with ``variables`` and ``alphabet`` (lists of names, or numbers n
        and q) and ``constraints``, a list of objects with ``u``, ``v``, ``relation`` (q x q) and optionally ``weight``.
        Lists among the names are read as tuples.

    Returns
    -------
    TwoCSP

    Raises
    ------
    DatasetError
        The file is missing, damaged, malformed, or has another ending (the message never quotes a constraint).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "instance.json"
    >>> text = '{"variables": 2, "alphabet": 2, "constraints": [{"u": 0, "v": 1, "relation": [[0, 1], [1, 0]]}]}'
    >>> _ = file.write_text(text)
    >>> read_csp(file).value({0: 0, 1: 1})
    1.0
    """
    if not is_csp_file(path):
        raise DatasetError(f"{path}: a 2-CSP is read from a file that ends with .json, with or without .gz")
    try:
        with naming(path):
            return _parse_json(read_text(path))
    except InvalidParameterError as error:
        raise DatasetError(f"{path}: {error}") from None


def is_csp_file(path: AnyPath) -> bool:
    """Whether a file is a 2-CSP and not an edge list, by the ending of its name."""
    return Path(path).name.lower().removesuffix(".gz").endswith(".json")


def _names(given: Any) -> Any:
    """Names from JSON: lists become tuples, at every depth; Malformed if no file can hold one of them."""
    return tuple(map(_names, given)) if isinstance(given, list) else refuse_half_characters(given)


def _parse_json(text: str) -> TwoCSP:
    try:
        content = json.loads(text)
        named = _names(content["variables"]), _names(content["alphabet"])
        for what, given in zip(("variables", "labels"), named, strict=True):
            refuse_announced(given if isinstance(given, int) else 0, text, what)
        instance = TwoCSP(*named)
        for constraint in content["constraints"]:
            u, v = _names(constraint["u"]), _names(constraint["v"])
            instance.add_constraint(u, v, constraint["relation"], constraint.get("weight", 1.0))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        # A message that names a variable of a constraint, which is private, is not passed on.
        if isinstance(error, InvalidParameterError) and "of the instance" not in str(error):
            raise
        raise Malformed(f"expected JSON of the form {_JSON_FORM}") from None
    return instance
