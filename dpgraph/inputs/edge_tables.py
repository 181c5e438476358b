"""Tables of edges as their owner has them: names are matched with the public vertices before any budget is spent.

All of this is for the owner: errors and summaries here hold exact numbers of the private table.
"""

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.arrays import as_numbers, is_null
from dpgraph.typing import BoolArray, IntArray

Unknown = Literal["raise", "drop"]
Normalize = Literal["exact", "strip", "casefold"] | Callable[[Any], Hashable] | None

#: Positions of names that are no vertices.
_UNKNOWN, _MISSING = -1, -2
#: Rows and names that a summary shows.
_SHOWN = 3
#: Rows that are turned into Python objects at a time.
_CHUNK = 2**20


@dataclass(frozen=True)
class NameRules:
    """How the names of a table become vertices, and what is done with rows of others: public arguments."""

    unknown: Unknown = "raise"
    normalize: Normalize = None

    def __post_init__(self) -> None:
        check_choice("unknown", self.unknown, ("raise", "drop"))
        if self.normalize is not None and not callable(self.normalize):
            check_choice("normalize (None, a function, or a word)", self.normalize, ("exact", "strip", "casefold"))

    def __call__(self, name: Any) -> Any:
        """The name as it is compared; what is missing stays so."""
        if _is_missing(name):
            return name
        if callable(self.normalize):
            try:
                found = self.normalize(name)
                hash(found)
            except Exception as error:  # its text may quote a name
                raise InvalidParameterError(
                    f"normalize= failed with {type(error).__name__} for a name; it takes whatever stands in a column, "
                    "and returns something hashable. No budget was spent"
                ) from None
            return found
        if self.normalize in (None, "exact") or not isinstance(name, str):
            return name
        return name.strip() if self.normalize == "strip" else name.strip().casefold()


#: Names as they are; others are refused.
PLAIN = NameRules()


@dataclass(frozen=True, kw_only=True)
class EdgeSummary:
    """What a table of edges holds: **exact, for its owner only**. It is printed as lines of text.

    Attributes
    ----------
    vertices : int
        Size of the public vertex set.
    rows, kept, dropped : int
        Rows of the table, those that are edges, and those that `unknown="drop"` left out.
    unknown, unknown_vertices, missing : int
        Rows with a name outside the public vertex set, how many such names there are, and rows that lack a name.
    casefold, alike : int
        Rows with an unknown name that ``normalize="casefold"`` would match; vertices that may be others in another
        spelling: their names differ in capitals, blanks around them, .0 behind a number, or how letters are encoded.
    self_loops, duplicates : int
        Kept rows from a vertex to itself, which count nothing, and kept rows whose pair an earlier row has.
    sample, unknown_sample : tuple
        The first edges, and some of the unknown names.
    header, columns, names, encoding : str
        Of a file: whether its first line names the columns, which of them are the ends of an edge, whether vertices are
        numbers or texts, and how the text is written.
    """

    vertices: int
    rows: int
    kept: int
    dropped: int
    unknown: int | None = None
    unknown_vertices: int | None = None
    missing: int | None = None
    casefold: int | None = None
    alike: int | None = None
    self_loops: int | None = None
    duplicates: int | None = None
    sample: tuple[tuple[Hashable, Hashable], ...] = ()
    unknown_sample: tuple[Hashable, ...] = ()
    header: str = ""
    columns: str = ""
    names: str = ""
    encoding: str = ""

    def __str__(self) -> str:
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        lines = [
            f"{name.replace('_', ' '):<17} {value}" for name, value in shown.items() if value not in (None, "", ())
        ]
        return "\n".join(["EXACT, for the owner of the table only", *lines])


@dataclass(frozen=True, eq=False, repr=False)
class Matched:
    """Rows whose two ends are vertices, which rows of the table these are, and what became of the others."""

    vertices: tuple[Hashable, ...]
    tails: IntArray
    heads: IntArray
    kept: BoolArray
    summary: EdgeSummary


def match_ends(
    labels: Sequence[Any], tails: IntArray, heads: IntArray, nodes: tuple[Hashable, ...] | None, rules: NameRules
) -> Matched:
    """Match rows, whose ends are positions among distinct labels, with vertices; InvalidGraphError for others."""
    if any(isinstance(label, float) and abs(label) >= 2**53 for label in labels):
        raise InvalidGraphError(
            "names are floating-point numbers beyond 2**53, each of which stands for several whole ones (pandas makes "
            'them of numbers where one is missing): read the column as "Int64", or as text. No budget was spent'
        )
    names = [rules(label) for label in labels]
    vertices = sorted_labels({name for name in names if not _is_missing(name)}) if nodes is None else nodes
    index = {(name if nodes is None else rules(name)): i for i, name in enumerate(vertices)}
    if len(index) < len(vertices):
        raise InvalidParameterError(
            f"two vertices in nodes= are the same name by normalize={rules.normalize!r}; leave one of them out, or "
            "normalize less"
        )
    found = (index.get(name, _MISSING if _is_missing(name) else _UNKNOWN) for name in names)
    where = np.fromiter(found, dtype=np.int64, count=len(names))
    u, v = where[tails], where[heads]
    kept = (u >= 0) & (v >= 0)
    marks = {"unknown": _UNKNOWN, "missing": _MISSING}
    count = {name: int(np.count_nonzero((u == mark) | (v == mark))) for name, mark in marks.items()}
    close = _close(names, index, (tails, heads)) - int(np.count_nonzero(kept)) if count["unknown"] else 0
    # Rows that are to be dropped, but perhaps not those that are meant: nothing may be spent on what is left.
    doubtful = len(kept) > 0 and (not kept.any() or (close > 0 and rules.normalize is None))
    if any(count.values()) and (rules.unknown == "raise" or doubtful):
        kinds = _type_names(names), _type_names(index)
        apart = kinds if not kept.any() and kinds[0] != kinds[1] else ()
        raise InvalidGraphError(_refusal(count, len(kept), len(vertices), close, rules, apart))
    strange = np.flatnonzero(where == _UNKNOWN)
    summary = EdgeSummary(
        vertices=len(vertices),
        rows=len(kept),
        kept=int(np.count_nonzero(kept)),
        dropped=int(np.count_nonzero(~kept)),
        unknown=count["unknown"],
        missing=count["missing"],
        casefold=close or None,
        unknown_vertices=strange.size,
        unknown_sample=tuple(labels[k] for k in strange[:_SHOWN]),
    )
    return Matched(tuple(vertices), u[kept], v[kept], kept, summary)


def described(matched: Matched, **told: Any) -> EdgeSummary:
    """The summary of what was matched, with the pairs looked at, and what is `told` of a file."""
    u, v = matched.tails.astype(np.int64), matched.heads.astype(np.int64)
    proper = u != v
    pairs = np.unique(np.minimum(u, v)[proper] * len(matched.vertices) + np.maximum(u, v)[proper])
    shown = zip(u[:_SHOWN].tolist(), v[:_SHOWN].tolist(), strict=True)
    loops = int(np.count_nonzero(~proper))
    spellings = {unicodedata.normalize("NFKC", str(_folded(name))).removesuffix(".0") for name in matched.vertices}
    return replace(
        matched.summary,
        alike=len(matched.vertices) - len(spellings) or None,
        self_loops=loops,
        duplicates=len(u) - loops - len(pairs),
        sample=tuple((matched.vertices[i], matched.vertices[j]) for i, j in shown),
        **told,
    )


def _close(names: Sequence[Any], index: dict[Any, int], ends: tuple[IntArray, IntArray]) -> int:
    """Rows whose two names are those of vertices but for capitals, and blanks around them."""
    folded = {_folded(name) for name in index}
    close = np.array([_folded(name) in folded and not _is_missing(name) for name in names], dtype=bool)
    return int(np.count_nonzero(close[ends[0]] & close[ends[1]]))


def _refusal(
    count: dict[str, int], rows: int, n: int, close: int, rules: NameRules, kinds: tuple[str, ...] = ()
) -> str:
    """What to tell the owner of a table that has rows which are no edges; `kinds` are types that never meet."""
    wrong, advice = [], []
    if count["unknown"]:
        wrong.append(
            f"{count['unknown']} of {rows} rows name a vertex outside nodes=, the public vertex set of {n} vertices"
        )
        if close:
            advice.append(f'normalize="casefold" (capitals and blanks do not count) would match {close} of them')
        elif kinds:
            advice.append(f"names of the table are of type {kinds[0]}, those of nodes= of type {kinds[1]}: convert one")
    if count["missing"]:
        wrong.append(f"{count['missing']} of {rows} rows lack a name")
    if rules.unknown == "raise":
        advice.append('unknown="drop" leaves such rows out')
    elif close:
        advice.append('normalize="exact" says that they are others, which are dropped')
    else:
        return f"{', and '.join(wrong)}: no row is left. Correct the table or the set. No budget was spent"
    return (
        f"{', and '.join(wrong)}. Correct the table{' or the set' * bool(count['unknown'])}; or "
        f"{'; or '.join(advice)}. "
        "These numbers are exact, for the owner of the table only. No budget was spent"
    )


def _type_names(names: Iterable[Any]) -> str:
    return ", ".join(sorted({type(name).__name__ for name in names if not _is_missing(name)}))


def _folded(name: Any) -> Any:
    return name.strip().casefold() if isinstance(name, str) else name


def _is_missing(name: Any) -> bool:
    return name == "" if isinstance(name, str) else is_null(name)


def sorted_labels(labels: Iterable[Any]) -> tuple[Hashable, ...]:
    """Labels by size; by their texts if some, such as sets, have none: they keep no order of appearance."""
    found = list(labels)
    with suppress(TypeError):
        found.sort()
        if all(a < b for a, b in pairwise(found)):
            return tuple(found)
    return tuple(sorted(found, key=_text))


def _text(label: Any) -> str:
    """The text of a label; equal sets, made of the same in another order, have the same one."""
    return str(sorted(map(_text, label))) if isinstance(label, (set, frozenset)) else repr(label)


@dataclass(frozen=True, eq=False, repr=False)
class EdgeFrame:
    """A table of edges with its public vertices (:func:`dpgraph.edge_frame`); private functions take it as a graph."""

    nodes: tuple[Hashable, ...]
    #: Names of the columns that may be weights.
    columns: tuple[Any, ...]
    _matched: Matched
    _table: Any

    def __repr__(self) -> str:
        return f"EdgeFrame({len(self.nodes)} vertices)"

    def summary(self) -> EdgeSummary:
        """Rows, dropped rows, self-loops, duplicates, unknown names: **exact, for the owner of the table only**."""
        return described(self._matched)

    def ends(self) -> IntArray:
        """Private: positions of the two ends of each edge among the vertices."""
        return np.stack([self._matched.tails, self._matched.heads], axis=1).astype(np.int64)

    def weights(self, column: Any) -> list[Any]:
        """Private: what a column holds for each edge."""
        values = self._table.get_column(column).to_list()
        kept = self._matched.kept
        return values if kept.all() else [value for value, keep in zip(values, kept.tolist(), strict=True) if keep]


def is_table(table: Any) -> bool:
    """Whether something is a table of pandas, polars, pyarrow or another library that narwhals knows."""
    return bool(nw.dependencies.is_into_dataframe(table))


def read_table(
    table: Any, ends: tuple[Any, Any], nodes: tuple[Hashable, ...] | None, rules: NameRules, weight: str | None
) -> EdgeFrame:
    """Look at a table once, and match its two columns of names with the vertices."""
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    shown = ", ".join(map(repr, names[:20]))
    for column in ends:
        if names.count(column) != 1 or ends[0] == ends[1]:
            raise InvalidParameterError(
                f"the table needs one column {column!r}, and another one for the other end; its columns are {shown}. "
                "Name the columns with source= and target=. No budget was spent"
            )
    if weight is not None and (names.count(weight) != 1 or weight in ends):
        raise InvalidParameterError(f"the table needs one column {weight!r} of weights; its columns are {shown}")
    if len(set(names)) < len(names):
        raise InvalidParameterError("the columns of a table of edges need different names; one is there twice")
    frame = nw.from_native(table, eager_only=True)
    labels, tails, heads = _distinct(*(frame.get_column(column) for column in ends))
    matched = match_ends(labels, tails, heads, nodes, rules)
    if not matched.vertices:
        raise InvalidGraphError("the table names no vertex; state the public vertex set with nodes=")
    made = EdgeFrame(matched.vertices, tuple(name for name in names if name not in ends), matched, frame)
    if weight is not None:
        _check_weights(made, weight)
    return made


def _distinct(tails: Any, heads: Any) -> tuple[list[Any], IntArray, IntArray]:
    """The distinct entries of two columns, and the positions of both columns' entries among them."""
    small = tails.dtype.is_integer() and tails.dtype not in (nw.Int128, nw.UInt128)  # which numpy does not have
    if tails.dtype == heads.dtype and small and not tails.null_count() + heads.null_count():
        numbers = np.concatenate([tails.to_numpy(), heads.to_numpy()])
        labels, where = np.unique(numbers, return_inverse=True)
        return labels.tolist(), *np.split(where.astype(np.int64, copy=False), 2)
    index: dict[Any, int] = {}
    try:
        places = [_positions(column, index) for column in (tails, heads)]
    except TypeError:
        raise InvalidGraphError(
            "expected hashable vertices in every row; at least one row holds something else. No budget was spent"
        ) from None
    return list(index), places[0], places[1]


def _positions(column: Any, index: dict[Any, int]) -> IntArray:
    """Positions of the entries of a column in an index that grows by those it lacks."""
    found = np.empty(len(column), dtype=np.int64)
    for start in range(0, len(column), _CHUNK):
        values = column[start : start + _CHUNK].to_list()
        for value in dict.fromkeys(values):
            index.setdefault(value, len(index))
        found[start : start + _CHUNK] = np.fromiter(map(index.__getitem__, values), dtype=np.int64, count=len(values))
    return found


def _check_weights(table: EdgeFrame, weight: str) -> None:
    """Refuse a column of weights that no private function would take."""
    values = as_numbers(np.array([*table.weights(weight), None], dtype=object)[:-1])
    if wrong := int(np.count_nonzero(~(np.isfinite(values) & (values >= 0)))):
        raise InvalidGraphError(
            f"{wrong} of {len(values)} rows have no finite nonnegative number in column {weight!r}; correct them. This "
            "number is exact, for the owner of the table only. No budget was spent"
        )
