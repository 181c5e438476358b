"""2-CSP instances in files: JSON (both ways), DIMACS CNF and WCNF, and DIMACS colouring.

Variables and labels are public and stated by the file; the constraints are the data. Errors never quote them.

References
----------
DIMACS, Satisfiability: suggested format, 1993; Clique and coloring: suggested format, 1993.
MaxSAT Evaluation 2022, rules for input (WCNF without a problem line).
"""

import gzip
import json
import math
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from dpgraph.arguments import check_choice, check_integer
from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.files import AnyPath, Malformed, naming, naturals, read_text
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.instance import TwoCSP

CSPFormat = Literal["auto", "json", "cnf", "wcnf", "col"]
_FORMATS = get_args(CSPFormat)[1:]

#: Number and fields of a line.
Line = tuple[int, list[str]]
#: Variables of a problem line or a literal: more than this is a damaged file, and would fill the memory.
_MOST_VARIABLES = 50_000_000

_JSON_FORM = '{"variables": [...], "alphabet": [...], "constraints": [{"u": ..., "v": ..., "relation": [[...]]}]}'
_CLAUSE = "expected a clause of one or two literals that ends with 0"
_WEIGHTED = "expected a weight >= 0 (or h) before the literals of a clause, and 0 after them"
_TOO_MANY = "expected a number of variables that fits into memory"


def read_csp(path: AnyPath, *, format: CSPFormat = "auto", colours: int = 3) -> TwoCSP:
    r"""Read a 2-CSP from a file, plain or gzip-compressed.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : {"auto", "json", "cnf", "wcnf", "col"}
        "auto" goes by the ending of the name (without ``.gz``).

        - "json": an object with ``variables`` and ``alphabet`` (lists of names, or numbers n and q) and
          ``constraints``, a list of objects with ``u``, ``v``, ``relation`` (q x q) and optionally ``weight``. Lists
          among the names are read as tuples.
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
    parse = partial(_parse_col, colours=colours) if kind == "col" else _READERS[kind]
    try:
        with naming(path):
            return parse(read_text(path))
    except InvalidParameterError as error:
        raise DatasetError(f"{path}: {error}") from None


def is_csp_file(path: AnyPath) -> bool:
    """Whether a file is a 2-CSP and not an edge list, by the ending of its name."""
    return _format_of(path) is not None


def _format_of(path: AnyPath) -> str | None:
    """Format that the ending of a name stands for, None if it stands for none."""
    ending = Path(path).name.removesuffix(".gz").rpartition(".")[2].lower()
    return ending if ending in _FORMATS else None


def write_csp(instance: TwoCSP, path: AnyPath) -> None:
    """Write a 2-CSP as ``.json``, or compressed as ``.json.gz``; :func:`read_csp` reads it back the same.

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
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "instance.json.gz"
    >>> instance = TwoCSP(["x", "y"], ["a", "b"])
    >>> instance.add_constraint("x", "y", [[0, 0.25], [2, 0]])
    >>> write_csp(instance, file)
    >>> read_csp(file).value({"x": "b", "y": "a"})
    2.0
    """
    if _format_of(path) != "json":
        raise InvalidParameterError(f"a 2-CSP is written as .json, with or without .gz; got {Path(path).name!r}")
    content = _json(instance).encode()
    write_atomically(path, gzip.compress(content, mtime=0) if Path(path).name.endswith(".gz") else content)


# --- JSON ----------------------------------------------------------------------------------------------------


def _names(given: Any) -> Any:
    """Names from JSON: lists become tuples, at every depth."""
    return tuple(map(_names, given)) if isinstance(given, list) else given


def _parse_json(text: str) -> TwoCSP:
    try:
        content = json.loads(text)
        named = _names(content["variables"]), _names(content["alphabet"])
        if any(isinstance(number, int) and number > _MOST_VARIABLES for number in named):
            raise Malformed("expected numbers of variables and labels that fit into memory")
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


# --- DIMACS --------------------------------------------------------------------------------------------------


def _parse_cnf(text: str, *, weighted: bool) -> TwoCSP:
    """Max-2-SAT instance of a (W)CNF text: variables 1..n, labels False and True."""
    n, announced, top, lines = _problem(text, "wcnf" if weighted else "cnf", optional=weighted)
    clauses: list[tuple[int, int]] = []
    weights: list[float | None] = []  # None: hard
    for line, fields in _statements(lines, weighted):
        weight, literals = _clause(fields, weighted, line)
        largest = max(map(abs, literals))
        if n is not None and largest > n:
            raise Malformed(f"expected variables in 1..{n}, as the problem line announces", line)
        if largest > _MOST_VARIABLES:
            raise Malformed(_TOO_MANY, line)
        clauses.append((literals[0], literals[-1]))
        weights.append(weight if weight is None or top is None else min(weight, top))
    if announced is not None and announced != len(clauses):
        raise Malformed("expected as many clauses as the problem line announces; the file may be truncated")
    n = n or max((abs(literal) for clause in clauses for literal in clause), default=1)
    instance = TwoCSP(range(1, n + 1), (False, True))
    hard = 1.0 + math.fsum(weight for weight in weights if weight is not None)  # outweighs all others
    signed = np.array(clauses, dtype=np.int64).reshape(-1, 2)
    holds = np.arange(2) == (signed > 0)[:, :, None]  # clause, literal, label of its variable
    earned = np.array([hard if weight is None else weight for weight in weights])[:, None, None]
    earned = earned * (holds[:, 0, :, None] | holds[:, 1, None, :])
    ends = np.abs(signed) - 1
    single = ends[:, 0] == ends[:, 1]  # one literal, or two of the same variable
    for (u, _), table in zip(ends[single].tolist(), earned[single], strict=True):
        instance.add_unary(u + 1, table.diagonal())
    instance.add_constraints(ends[~single], earned[~single])
    return instance


def _problem(
    text: str, kind: str, *, optional: bool = False
) -> tuple[int | None, int | None, float | None, Iterator[Line]]:
    """Numbers of the problem line (variables, clauses or edges, weight of hard clauses), and the lines that follow."""
    lines = ((i, line.split()) for i, line in enumerate(text.split("\n"), 1))
    content = ((i, fields) for i, fields in lines if fields and not fields[0].startswith("c"))
    line, fields = next(content, (1, []))
    if not fields:
        raise Malformed(f"expected a DIMACS problem line 'p {kind} ...'; the file has no content")
    if fields[0] != "p" and optional:
        return None, None, None, chain([(line, fields)], content)
    kinds = ("edge", "col", "edges") if kind == "edge" else (kind,)
    numbers = naturals(fields[2:])
    if len(fields) < 4 or fields[1] not in kinds or len(numbers) != len(fields) - 2 or numbers[0] < 1:
        counted = "EDGES" if kind == "edge" else "CLAUSES"
        raise Malformed(f"expected the problem line 'p {kind} VARIABLES {counted}'", line)
    if numbers[0] > _MOST_VARIABLES:
        raise Malformed(_TOO_MANY, line)
    return numbers[0], numbers[1], float(numbers[2]) if len(numbers) > 2 else None, content


def _statements(lines: Iterator[Line], weighted: bool) -> Iterator[Line]:
    """Clauses, which may span lines or share one; a line of ``%`` ends the file (SATLIB)."""
    pending: list[str] = []
    line = 0
    for number, fields in lines:
        if fields[0] == "%":
            break
        for field in fields:
            line = line if pending else number
            pending.append(field)
            # A weight of 0 stands first, where the end of a clause cannot.
            if field == "0" and not (weighted and len(pending) == 1):
                yield line, pending
                pending = []
    if pending:
        yield line, pending


def _clause(fields: list[str], weighted: bool, line: int) -> tuple[float | None, list[int]]:
    """Weight (None: hard) and literals."""
    weight: float | None = 1.0
    if weighted:
        first, *fields = fields
        try:
            weight = None if first == "h" else float(first)
        except ValueError:
            weight = math.nan
        if weight is not None and not 0.0 <= weight < math.inf:
            raise Malformed(_WEIGHTED, line)
    try:
        literals = [int(field) for field in fields]
    except ValueError:
        literals = []
    if not 2 <= len(literals) <= 3 or literals[-1] != 0 or 0 in literals[:-1]:
        raise Malformed(_CLAUSE, line)
    return weight, literals[:-1]


def _parse_col(text: str, colours: int) -> TwoCSP:
    """Colouring instance of a DIMACS graph: vertices 1..n, labels 0..colours-1."""
    n, _, _, lines = _problem(text, "edge")
    edges: set[tuple[int, int]] = set()
    for line, fields in lines:
        if fields[0] in ("n", "d", "v", "x"):  # colours or positions of vertices
            continue
        ends = naturals(fields[1:])
        if fields[0] != "e" or len(fields) != 3 or len(ends) != 2 or not all(1 <= end <= (n or 0) for end in ends):
            raise Malformed(f"expected an edge 'e U V' with vertices in 1..{n}, as the problem line announces", line)
        if ends[0] != ends[1]:
            edges.add((min(ends), max(ends)))
    instance = TwoCSP(range(1, (n or 0) + 1), colours)
    if edges:
        instance.add_constraints(np.array(sorted(edges)) - 1, 1.0 - np.eye(colours))
    return instance


_READERS: dict[str, Callable[[str], TwoCSP]] = {
    "json": _parse_json,
    "cnf": partial(_parse_cnf, weighted=False),
    "wcnf": partial(_parse_cnf, weighted=True),
}
