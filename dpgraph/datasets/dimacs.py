"""DIMACS formats: clauses of one or two literals (CNF, WCNF) and graph colouring.

References
----------
DIMACS, Satisfiability: suggested format, 1993; Clique and coloring: suggested format, 1993.
MaxSAT Evaluation 2022, rules for input (WCNF without a problem line).
"""

import math
from collections.abc import Iterator
from itertools import chain

import numpy as np

from dpgraph.datasets.files import Malformed, naturals
from dpgraph.instance import TwoCSP

__all__ = ["MOST_VARIABLES", "parse_cnf", "parse_col"]

#: Number and fields of a line.
Line = tuple[int, list[str]]
#: Variables of a problem line or a literal: more than this is a damaged file, and would fill the memory.
MOST_VARIABLES = 50_000_000

_CLAUSE = "expected a clause of one or two literals that ends with 0"
_WEIGHTED = "expected a weight >= 0 (or h) before the literals of a clause, and 0 after them"
_TOO_MANY = "expected a number of variables that fits into memory"


def parse_cnf(text: str, *, weighted: bool) -> TwoCSP:
    """Max-2-SAT instance of a (W)CNF text: variables 1..n, labels False and True."""
    n, announced, top, lines = _problem(text, "wcnf" if weighted else "cnf", optional=weighted)
    clauses: list[tuple[int, int]] = []
    weights: list[float | None] = []  # None: hard
    for line, fields in _statements(lines, weighted):
        weight, literals = _clause(fields, weighted, line)
        largest = max(map(abs, literals))
        if n is not None and largest > n:
            raise Malformed(f"expected variables in 1..{n}, as the problem line announces", line)
        if largest > MOST_VARIABLES:
            raise Malformed(_TOO_MANY, line)
        clauses.append((literals[0], literals[-1]))
        weights.append(weight if weight is None or top is None else min(weight, top))
    if announced is not None and announced != len(clauses):
        raise Malformed("expected as many clauses as the problem line announces; the file may be truncated")
    n = n or max((abs(literal) for clause in clauses for literal in clause), default=1)
    instance = TwoCSP(range(1, n + 1), (False, True))
    hard = 1.0 + math.fsum(weight for weight in weights if weight is not None)  # outweighs all others
    _add_clauses(instance, clauses, [hard if weight is None else weight for weight in weights])
    return instance


def _add_clauses(instance: TwoCSP, clauses: list[tuple[int, int]], weights: list[float]) -> None:
    """Constraints that earn `weights` where one of two literals holds, perhaps both of the same variable."""
    literals = np.array(clauses, dtype=np.int64).reshape(-1, 2)
    holds = np.arange(2) == (literals > 0)[:, :, None]  # clause, literal, label of its variable
    earned = np.array(weights)[:, None, None] * (holds[:, 0, :, None] | holds[:, 1, None, :])
    ends = np.abs(literals) - 1
    single = ends[:, 0] == ends[:, 1]
    for (u, _), table in zip(ends[single].tolist(), earned[single], strict=True):
        instance.add_unary(u + 1, table.diagonal())
    instance.add_constraints(ends[~single], earned[~single])


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
    if numbers[0] > MOST_VARIABLES:
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


def parse_col(text: str, colours: int) -> TwoCSP:
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
