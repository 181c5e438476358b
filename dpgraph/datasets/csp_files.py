"""2-CSP instances in files: JSON and CSV (both ways), DIMACS CNF and WCNF, and DIMACS colouring.

Variables and labels are public and stated by the file; the constraints are the data. Errors never quote them.
"""

import csv
import gzip
import json
import math
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from dpgraph.arguments import check_choice, check_integer
from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.dimacs import MOST_VARIABLES, parse_cnf, parse_col
from dpgraph.datasets.files import AnyPath, Malformed, naming, read_bytes, read_text
from dpgraph.datasets.writers import csv_text, label_texts
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.typing import FloatArray

__all__ = ["is_csp_file", "read_csp", "write_csp"]

CSPFormat = Literal["auto", "json", "csv", "cnf", "wcnf", "col"]
_FORMATS = get_args(CSPFormat)[1:]

#: Positions of the variables, and table, of each constraint of a CSV file.
Tables = dict[str, tuple[tuple[int, int], FloatArray]]

_CSV_HEADER = ["constraint", "u", "v", "label_u", "label_v", "weight"]
_CSV_ENTRY = f"{','.join(_CSV_HEADER)} with two different stated variables, stated labels, and a weight >= 0"
_JSON_FORM = '{"variables": [...], "alphabet": [...], "constraints": [{"u": ..., "v": ..., "relation": [[...]]}]}'


def read_csp(path: AnyPath, *, format: CSPFormat = "auto", colours: int = 3) -> TwoCSP:
    r"""Read a 2-CSP from a file, plain or gzip-compressed.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : {"auto", "json", "csv", "cnf", "wcnf", "col"}
        "auto" goes by the ending of the name (without ``.gz``).

        - "json": an object with ``variables`` and ``alphabet`` (lists of names, or numbers n and q) and
          ``constraints``, a list of objects with ``u``, ``v``, ``relation`` (q x q) and optionally ``weight``. Lists
          among the names are read as tuples.
        - "csv": lines ``# variables: [...]`` and ``# alphabet: [...]`` (JSON, as above), a header line
          ``constraint,u,v,label_u,label_v,weight``, and a line for each entry of a constraint's table that is not 0.
          Lines with the same number in the first column belong to one constraint; all its lines have the same u and v.
        - "cnf", "wcnf": DIMACS clauses of one or two literals (max-2-SAT): variables 1..n, labels False and True. A
          clause earns its weight (1 in "cnf") when it is satisfied; a hard clause without a weight (``h``) counts as
          one more than all others together.
        - "col": DIMACS graph colouring; vertices 1..n, and labels 0..`colours`-1 that differ at the ends of an edge.
    colours : int, default 3
        Number of labels for "col".

    Returns
    -------
    TwoCSP

    Raises
    ------
    DatasetError, InvalidParameterError
        The file is missing, damaged, malformed, or not of this kind (the message never quotes a constraint); `format`
        or `colours` is not as above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "formula.cnf"
    >>> _ = file.write_text("c (x1 or not x2) and (x2)\np cnf 2 2\n1 -2 0\n2 0\n")
    >>> formula = read_csp(file)
    >>> formula.value({1: True, 2: True}), formula.value({1: False, 2: True})
    (2.0, 1.0)
    """
    check_choice("format", format, ("auto", *_FORMATS))
    colours = check_integer("colours", colours, 2)
    kind = _format_of(path) if format == "auto" else format
    if kind is None:
        raise DatasetError(f"{path}: cannot tell the format from the name; state one of {', '.join(_FORMATS)}")
    parse = partial(parse_col, colours=colours) if kind == "col" else _READERS[kind]
    try:
        with naming(path):
            return parse(read_text(path))
    except InvalidParameterError as error:
        raise DatasetError(f"{path}: {error}") from None


def is_csp_file(path: AnyPath) -> bool:
    """Whether a file is a 2-CSP and not an edge list, by the ending of its name; CSV by its first lines."""
    kind = _format_of(path)
    if kind != "csv" or not Path(path).is_file():
        return kind not in (None, "csv")
    return any(line.startswith(b"# variables:") for line in read_bytes(path).split(b"\n", 20)[:20])


def _format_of(path: AnyPath) -> str | None:
    """Format that the ending of a name stands for, None if it stands for none."""
    ending = Path(path).name.removesuffix(".gz").rpartition(".")[2].lower()
    return ending if ending in _FORMATS else None


def write_csp(instance: TwoCSP, path: AnyPath) -> None:
    """Write a 2-CSP that :func:`read_csp` reads back the same; ``.json`` or ``.csv``, with ``.gz`` compressed.

    Parameters
    ----------
    instance : TwoCSP
        Its constraints are written as they were added, without noise: **the file is as private as the instance**.
    path : str or path-like
        An existing file is replaced.

    Raises
    ------
    InvalidParameterError
        Another ending, or names that are not made of strings, numbers, booleans, None and tuples of them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "instance.csv.gz"
    >>> instance = TwoCSP(["x", "y"], ["a", "b"])
    >>> instance.add_constraint("x", "y", [[0, 0.25], [2, 0]])
    >>> write_csp(instance, file)
    >>> read_csp(file).value({"x": "b", "y": "a"})
    2.0
    """
    kind = _format_of(path)
    if kind not in _WRITERS:
        raise InvalidParameterError(
            f"a 2-CSP is written as .json or .csv, with or without .gz; got {Path(path).name!r}"
        )
    content = _WRITERS[kind](instance).encode()
    write_atomically(path, gzip.compress(content, mtime=0) if Path(path).name.endswith(".gz") else content)


# --- JSON --------------------------------------------------------------------------------------------------------


def _names(given: Any) -> Any:
    """Names from JSON: lists become tuples, at every depth."""
    return tuple(map(_names, given)) if isinstance(given, list) else given


def _parse_json(text: str) -> TwoCSP:
    try:
        content = json.loads(text)
        if any(isinstance(content[name], int) and content[name] > MOST_VARIABLES for name in ("variables", "alphabet")):
            raise Malformed("expected numbers of variables and labels that fit into memory")
        instance = TwoCSP(_names(content["variables"]), _names(content["alphabet"]))
        for constraint in content["constraints"]:
            u, v, weight = _names(constraint["u"]), _names(constraint["v"]), constraint.get("weight", 1.0)
            instance.add_constraint(u, v, constraint["relation"], weight)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        # A message that names a variable of a constraint, which is private, is not passed on.
        if isinstance(error, InvalidParameterError) and "of the instance" not in str(error):
            raise
        raise Malformed(f"expected JSON of the form {_JSON_FORM}") from None
    return instance


def _json_names(names: tuple[Hashable, ...], what: str) -> str:
    try:
        text = json.dumps(names)
        same = _names(json.loads(text)) == names
    except (TypeError, ValueError):
        same = False
    if not same:
        raise InvalidParameterError(
            f"{what} of an instance in a file must be strings, numbers, booleans, None, or tuples of them"
        )
    return text


def _json(instance: TwoCSP) -> str:
    variables, alphabet = _json_names(instance.variables, "variables"), _json_names(instance.alphabet, "labels")
    lines = (
        json.dumps({"u": instance.variables[u], "v": instance.variables[v], "relation": table.tolist()})
        for (u, v), table in zip(*instance.constraints(), strict=True)
    )
    return f'{{"variables": {variables},\n"alphabet": {alphabet},\n"constraints": [\n' + ",\n".join(lines) + "\n]}\n"


# --- CSV ---------------------------------------------------------------------------------------------------------


def _parse_csv(text: str) -> TwoCSP:
    stated: dict[str, tuple[Hashable, ...]] = {}
    body: list[str] = []
    for line in text.split("\n"):
        name, _, value = line.lstrip("# ").partition(":")
        if line.startswith("#") and name in ("variables", "alphabet"):
            stated[name] = _stated(value, name)
        body.append("\n" if line.startswith("#") else f"{line}\n")
    if len(stated) < 2:
        raise Malformed("expected the lines '# variables: [...]' and '# alphabet: [...]' with JSON lists")
    instance = TwoCSP(stated["variables"], stated["alphabet"])
    variables = {text: i for i, text in enumerate(label_texts(instance.variables))}
    labels = {text: i for i, text in enumerate(label_texts(instance.alphabet))}
    tables: Tables = {}
    reader = csv.reader(body, strict=True)
    try:
        lines = filter(None, reader)
        if next(lines, _CSV_HEADER) != _CSV_HEADER:
            raise Malformed(f"expected the header line {','.join(_CSV_HEADER)}", reader.line_num)
        for fields in lines:
            if not _add_entry(tables, fields, variables, labels):
                raise Malformed(f"expected {_CSV_ENTRY}", reader.line_num)
    except csv.Error:
        raise Malformed("expected comma-separated fields with matching quotes", reader.line_num) from None
    if tables:
        pairs, entries = zip(*tables.values(), strict=True)
        instance.add_constraints(np.array(pairs), np.array(entries))
    return instance


def _stated(text: str, what: str) -> tuple[Hashable, ...]:
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list):
        raise Malformed(f"expected a JSON list after '# {what}:'")
    return tuple(map(_names, names))


def _add_entry(tables: Tables, fields: list[str], variables: dict[str, int], labels: dict[str, int]) -> bool:
    """Enter one line into the table of its constraint, unless it is malformed."""
    try:
        number, u, v, a, b, text = fields
        ends, place, weight = (variables[u], variables[v]), (labels[a], labels[b]), float(text)
    except (KeyError, ValueError):
        return False
    stated, table = tables.setdefault(number, (ends, np.zeros((len(labels), len(labels)))))
    if u == v or ends != stated or not 0.0 <= weight < math.inf:
        return False
    table[place] += weight
    return True


def _csv(instance: TwoCSP) -> str:
    names, labels = label_texts(instance.variables), label_texts(instance.alphabet)
    entries = [
        (number, names[u], names[v], labels[a], labels[b], repr(float(table[a, b])))
        for number, ((u, v), table) in enumerate(zip(*instance.constraints(), strict=True))
        for a, b in np.argwhere(table > 0.0).tolist()
    ]
    stated = (
        f"# variables: {_json_names(instance.variables, 'variables')}\n"
        f"# alphabet: {_json_names(instance.alphabet, 'labels')}\n"
    )
    return stated + csv_text(_CSV_HEADER, list(zip(*entries, strict=True)))


_READERS: dict[str, Callable[[str], TwoCSP]] = {
    "json": _parse_json,
    "csv": _parse_csv,
    "cnf": partial(parse_cnf, weighted=False),
    "wcnf": partial(parse_cnf, weighted=True),
}
_WRITERS: dict[str | None, Callable[[TwoCSP], str]] = {"json": _json, "csv": _csv}
