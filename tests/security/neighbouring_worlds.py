"""Two worlds that differ in one odd record, and all that can be seen of a private call in either.

In one world a record is odd: text, a missing value, a number beyond all doubles, a row of another length. In the other
it is ordinary. What differs is told to everybody, at no price. Only one thing may: in the odd world the call may end in
an error of this package after its debit, in words that do not depend on what was odd or where.
"""

import contextlib
import datetime
import io
import os
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import dpgraph
from dpgraph.exceptions import DPGraphError, MechanismHalted
from tests.listening import listening

#: Appears in every odd value that has a text form, and must appear in nothing that leaves.
SECRET = "7731977"
#: Odd entries of lists, of columns of objects, and of attributes of edges.
OBJECTS: dict[str, Any] = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": -float("inf"),
    "huge": 1.7e308,
    "minus huge": -1.7e308,
    "denormal": 5e-324,
    "secret number": 7731977.25,
    "text": "id" + SECRET * 11,
    "text of a number": "0.25",
    "empty text": "",
    "bytes": SECRET.encode(),
    "None": None,
    "complex": 7731977 + 1j,
    "huge integer": int(SECRET) * 10**400,
    "bool": True,
    "Decimal": Decimal("0.25"),
    "Decimal NaN": Decimal("sNaN"),
    "date": datetime.date(1977, 3, 1),
    "timestamp": pd.Timestamp("1977-03-01"),
    "datetime64": np.datetime64("1977-03-01"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "masked": np.ma.masked,
    "list": [7731977.0],
    "dict": {SECRET: 1},
    "array": np.array([7731977.0, 1.0]),
    "object": object(),
}
#: Odd entries of arrays of floating-point numbers.
FLOATS = {name: OBJECTS[name] for name in ("NaN", "infinity", "minus infinity", "huge", "minus huge", "denormal")}
FLOATS |= {"negative": -7731977.0, "minus zero": -0.0}
#: Odd rows of a list of rows of two numbers or more.
ROWS: dict[str, Callable[[list[Any]], Any]] = {
    "shorter": lambda row: row[:-1],
    "longer": lambda row: [*row, 7731977.0],
    "empty": lambda _: [],
    "no row": lambda _: None,
    "a number": lambda _: 7731977.0,
    "text": lambda _: SECRET,
    "nested": lambda row: [row for _ in row],
    "masked": lambda row: np.ma.masked_array(row, [True] + [False] * (len(row) - 1)),
    "complex array": lambda row: np.array(row) * 1j,
}


#: As a file has them.
TEXTS = ("nan", "inf", "-inf", "1.7e308", "-1.7e308", "1e400", "5e-324", "7731977.25", "-7731977", "-0.0", "True")
#: In a table of records.
RECORD_TEXTS = (*TEXTS, "id" + SECRET * 11, "", "None", "1j", '"', "x" * 200_000, "2,3", "7731977,1,7731977", "=1+1")


@dataclass(frozen=True)
class Worlds:
    """An odd input and its neighbour, with public arguments that both have."""

    label: str
    odd: Any
    ordinary: Any
    public: dict[str, Any] = field(default_factory=dict)
    #: Every call must refuse both before the debit: it cannot be told what is meant.
    refused: bool = False


def array_worlds(V: np.ndarray) -> Iterator[Worlds]:
    """Containers of the numbers V, in which one entry, or one row, is odd: not in the first row of a list."""
    yield from _float_arrays(V)
    place = (len(V) // 2, *(size - 1 for size in V.shape[1:]))
    for name, odd in OBJECTS.items():
        as_objects = V.astype(object)
        as_objects[place] = odd
        yield Worlds(f"list, {name}", _nested(as_objects), V.tolist())
        yield Worlds(f"object array, {name}", as_objects, V.astype(object))
        if V.ndim == 2:
            yield Worlds(f"object frame, {name}", _objects(as_objects), _objects(V))
    if V.ndim == 2:
        for name, change in ROWS.items():
            rows = V.tolist()
            rows[place[0]] = change(rows[place[0]])
            yield Worlds(f"list, row {name}", rows, V.tolist())
        yield from _frames(V, place)
        yield from _sparse_arrays(V)


def _objects(array: np.ndarray) -> pd.DataFrame:
    """A frame of columns of objects, whatever they are."""
    columns = {f"c{j}": pd.Series(list(array[:, j]), dtype=object) for j in range(array.shape[1])}
    return pd.DataFrame(columns)


def _nested(array: np.ndarray) -> list[Any]:
    """Lists of the entries as they are."""
    return [_nested(row) for row in array] if array.ndim > 1 else [array[k] for k in range(len(array))]


def _float_arrays(V: np.ndarray) -> Iterator[Worlds]:
    for name, odd in FLOATS.items():
        for where, place in (("first", (0,) * V.ndim), ("last", tuple(size - 1 for size in V.shape))):
            changed = V.astype(float)
            changed[place] = odd
            if V.ndim == 2 and V.shape[0] == V.shape[1] and np.array_equal(V, V.T):
                changed[place[::-1]] = odd
            yield Worlds(f"array, {name}, {where}", changed, V.astype(float))
    mask = np.zeros(V.shape, dtype=bool)
    mask[-1] = True
    yield Worlds("masked array", np.ma.masked_array(V, mask), np.ma.masked_array(V, False), refused=True)
    yield Worlds("array of texts", V.astype(str), V.astype(str))
    yield Worlds("complex array", V * 1j, V + 1j)


def _frames(V: np.ndarray, place: tuple[int, ...]) -> Iterator[Worlds]:
    frame = pd.DataFrame(V.astype(float), columns=[f"c{j}" for j in range(V.shape[1])])
    for kind in ("Int64", "Float64"):
        whole = frame.round().astype(kind)
        missing = whole.copy()
        missing.iloc[place] = pd.NA
        yield Worlds(f"{kind} frame, NA", missing, whole)
    odd = frame.copy()
    odd.iloc[place] = np.inf
    yield Worlds("frame, infinity", odd, frame)
    odd.iloc[place] = np.nan
    missing, whole = (pl.DataFrame(one.to_dict("list")).fill_nan(None) for one in (odd, frame))
    yield Worlds("polars frame, null", missing, whole)
    yield Worlds("arrow table, null", pa.Table.from_pandas(odd), pa.Table.from_pandas(frame))


def _sparse_arrays(V: np.ndarray) -> Iterator[Worlds]:
    for kind in ("csr", "coo"):
        for name, odd in FLOATS.items():
            changed = V.astype(float)
            changed[-1, -1] = odd
            both = (sparse.csr_array(array).asformat(kind) for array in (changed, V))
            yield Worlds(f"{kind}, {name}", *both)
    damaged = sparse.csr_array(V.astype(float))
    damaged.indices[0] = 7731977
    yield Worlds("csr, damaged", damaged, sparse.csr_array(V.astype(float)))
    masked = sparse.csr_array(V.astype(float))
    masked.data = np.ma.masked_array(masked.data, True)
    yield Worlds("csr, masked", masked, masked, refused=True)


def graph_worlds(graph: nx.Graph, weighted: dict[str, Any]) -> Iterator[Worlds]:
    """Graphs of all kinds, in which one edge is odd; `weighted` are the arguments by which weights count."""
    G = nx.Graph()
    G.add_nodes_from(graph)
    G.add_edges_from(graph.edges)
    nx.set_edge_attributes(G, 0.5, "weight")
    place = [*G.edges][-1]
    for name, odd in OBJECTS.items():
        H = G.copy()
        H.edges[place]["weight"] = odd
        yield Worlds(f"networkx, {name}", H, G, weighted)
        if weighted and name in ("NaN", "text", "None", "complex", "huge integer", "NA", "list"):
            yield Worlds(f"igraph, {name}", _igraph(H), _igraph(G), weighted)
            yield Worlds(f"table, {name}", _table(H), _table(G), weighted)
    for name, change in CHANGES.items():
        H = G.copy() if name != "parallel" else nx.MultiGraph(G)
        change(H, place)
        yield Worlds(f"networkx, {name}", H, G if name != "parallel" else nx.MultiGraph(G), weighted)
    if len(G) > 2 and {*G} == {*range(len(G))}:
        bound = {name: value for name, value in weighted.items() if name == "max_weight"}
        yield from (Worlds(w.label, w.odd, w.ordinary, bound, w.refused) for w in _matrices(nx.to_numpy_array(G)))


def instance_worlds(instance: dpgraph.TwoCSP) -> Iterator[Worlds]:
    """Constraint problems in which one constraint, on a pair that has another, is odd."""
    pairs, tables = instance.pairs, instance.tables
    for name, odd in {"huge": 1.7e308, "denormal": 5e-324, "secret number": 7731977.25, "zero": 0.0}.items():
        for where in (0, len(pairs) - 1):
            table = tables[where].copy()
            table[0, 0] = odd
            plain = _with_constraint(instance, pairs[where], tables[where])
            yield Worlds(f"constraint, {name}, {where}", _with_constraint(instance, pairs[where], table), plain)
            multiple = _with_constraint(instance, pairs[where], np.minimum(tables[where] * odd, 1.7e308))
            yield Worlds(f"constraint, times {name}, {where}", multiple, plain)


def _with_constraint(instance: dpgraph.TwoCSP, pair: np.ndarray, table: np.ndarray) -> dpgraph.TwoCSP:
    made = dpgraph.TwoCSP(instance.variables, instance.alphabet)
    made.add_constraints(instance.pairs, instance.tables)
    made.add_constraints(pair[None], table[None])
    return made


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda H, place: H.edges[place].update(weight=-7731977.0),
    "no attribute": lambda H, place: H.edges[place].clear(),
    "loop": lambda H, place: H.add_edge(place[0], place[0], weight=0.5),
    "parallel": lambda H, place: H.add_edge(*place, weight=1.7e308),
}


def _igraph(G: nx.Graph) -> igraph.Graph:
    found = igraph.Graph(n=len(G), edges=[*G.edges])
    found.es["weight"] = [w for _, _, w in G.edges(data="weight")]
    return found


def _table(G: nx.Graph) -> pd.DataFrame:
    edges = [*G.edges(data="weight")]
    frame = pd.DataFrame({"source": [u for u, _, _ in edges], "target": [v for _, v, _ in edges]})
    frame["weight"] = pd.Series([w for _, _, w in edges], dtype=object)
    return dpgraph.edge_frame(frame, nodes=list(G))


def _matrices(A: np.ndarray) -> Iterator[Worlds]:
    yield from _float_arrays(A)
    yield from _sparse_arrays(A)
    lopsided = A.copy()
    lopsided[0, -1] += 0.25
    yield Worlds("matrix, not symmetric", lopsided, A)
    yield Worlds("matrix, loop", A + np.diag([7731977.0] + [0.0] * (len(A) - 1)), A)


@dataclass(frozen=True)
class Seen:
    """All that an observer sees of a call but its answer."""

    outcome: str
    message: str
    behind: int
    spent: tuple[float, float]
    warned: tuple[Any, ...]
    flags: tuple[Any, ...]
    printed: tuple[str, str]
    logged: tuple[Any, ...]
    #: After the debit no error but those that this package foresees.
    foreign: bool
    secret: bool


def look(call: Callable[[], Any], spent: Callable[[], tuple[float, float]], action: str = "always") -> Seen:
    """Make a call; numpy notes every overflow, and warnings are recorded, or raised where the `action` says so."""
    assert not os.environ.get("DPGRAPH_DEBUG")
    out, err, flags = io.StringIO(), io.StringIO(), []
    error = None
    with (
        warnings.catch_warnings(record=True) as warned,
        np.errstate(all="call", call=lambda kind, _: flags.append(kind)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        listening("numba.", "networkx", "matplotlib") as log,
    ):
        warnings.simplefilter(action)  # type: ignore[arg-type]
        try:
            call()
        except Exception as raised:
            error = raised
    chain = [one for one in (getattr(error, "__cause__", None), getattr(error, "__context__", None)) if one is not None]
    return Seen(
        outcome="answered" if error is None else type(error).__name__,
        message="" if error is None else str(error),
        behind=len(chain),
        spent=tuple(spent()),
        warned=tuple((w.category.__name__, str(w.message)) for w in warned),
        flags=tuple(flags),
        printed=(out.getvalue(), err.getvalue()),
        logged=tuple(log.lines),
        foreign=error is not None
        and tuple(spent()) != (0.0, 0.0)
        and (not isinstance(error, DPGraphError) or "internal error" in str(error)),
        secret=error is not None and SECRET in _text(error),
    )


def _text(error: BaseException) -> str:
    """The words of an error, of those behind it, and its fields."""
    return "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.args)


HALTED = MechanismHalted.__name__


def differences(odd: Seen, ordinary: Seen) -> list[str]:
    """What tells the two worlds apart and may not; empty where the rule holds."""
    same, nothing = ("spent", "warned", "flags", "printed", "logged"), ("warned", "flags", "foreign", "secret")
    found = [name for name in same if getattr(odd, name) != getattr(ordinary, name)]
    for world, seen in (("odd", odd), ("ordinary", ordinary)):
        found += [f"{world}: {name}" for name in nothing if getattr(seen, name)]
        if seen.behind and seen.spent != (0.0, 0.0):
            found.append(f"{world}: an error behind the error")
    if odd.outcome != ordinary.outcome or odd.message != ordinary.message:
        refused_later = ordinary.spent != (0.0, 0.0) and "spent" in odd.message
        both_may_halt = {odd.outcome, ordinary.outcome} <= {HALTED, "answered"}
        if not refused_later and not both_may_halt:
            found.append("the outcome")
    return found
