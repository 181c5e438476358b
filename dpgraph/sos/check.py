"""Verify a saved certificate: ``python -m dpgraph.sos.check FILE [GRAPH]``. It shares no code with the solver.

One statement proves every bound. The objective f is a sum of tables of the labels of two variables; an edge of a cut is
a table that earns a weight for unequal labels. The file writes it as

    f = sum_k t_k g_k + r - z'Sz,   t_k >= 0, S semidefinite,   so that   f <= sum_k t_k max g_k + max r.

A *part* g_k is a sum of tables of few variables: an inequality of all cuts, or what is moved between tables. Its
maximum is found by elimination, and so is that of r, or the largest entries of its tables are added. The vector z has a
1 and, for each variable, 1 or -1 for each label but the last: of a cut, the sides. The file has the diagonal blocks of
S; the others are the floating-point numbers that leave tables of r with about equal entries. A *price* p adds
p (sum of sides)^2 to z'Sz, and p times the most that this can be to the bound. The proof is a list, in which a division
stands before all that proves its parts: ``pair`` [i, j] into x_i = x_j and x_i != x_j, ``variable`` i into its labels.

Sums are taken in whole numbers. That S is semidefinite is shown by a Cholesky factorisation of A = S - c I in floating
point. If it ends, R'R = A + E with |E| <= 1.01 (n + 1) u |R|'|R| for any order of the sums (Higham 2002, Theorem 10.3),
so that the norm of E is at most 1.02 (n + 1) u tr(S). Subtracting c adds u tr(S), a price 1.01 n u tr(S), underflow
less, as the largest entry is about 1: together less than c = 2 (n + 8) u tr(S), or twice that if there is a price.
"""

import functools
import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

Tables = dict[tuple[int, ...], Any]  # whole numbers by labels, by variables in increasing order
_MOST = 2**26  # numbers in a table, or in the band of a matrix


class Rejected(ValueError):
    """The file does not prove what it claims."""


def need(condition: Any, what: str) -> None:
    """Reject the file unless a condition holds."""
    if not condition:
        raise Rejected(what)


def read(text: str) -> tuple[dict[str, Any], Any]:
    """The file with fractions for numbers, and a function that gives them in a unit of which all sums are multiples."""
    finest = [1]

    def number(digits: str) -> Fraction:
        finest.append(max(finest.pop(), (x := Fraction(float(digits))).denominator))
        return x

    def whole(x: Any) -> int:
        need(type(x) in (int, float, Fraction), "a number is missing")
        numerator, denominator = x.as_integer_ratio()
        return int(numerator * unit // denominator)

    data = json.loads(text, parse_float=number, parse_constant=lambda name: need(False, f"{name} is no number"))
    need(isinstance(data, dict) and data.get("version") == 2, "this is no certificate of version 2; save it again")
    unit = 8 * finest[0] ** 2  # of multipliers times entries, and their eighths
    return data, np.frompyfunc(whole, 1, 1)


def tables_of(terms: list[Any], n: int, q: int, whole: Any) -> Tables:
    """Terms ``[i, table]``, ``[i, j, table]``, or ``[i, j, w]`` for a weight w of unequal labels."""
    tables: Tables = {}
    for *scope, given in terms:
        need(all(type(i) is int and 0 <= i < n for i in scope), "a term has no variables")
        need(len(scope) in (1, 2) and scope == sorted(set(scope)), "the variables of a term do not increase")
        differ = (1 - np.eye(q, dtype=int)).astype(object)  # beside other numbers an array would round large ones
        table = whole(np.array(given, dtype=object)) if isinstance(given, list) else whole(given) * differ
        need(table.shape == (q,) * len(scope), "a table has other labels")
        tables[tuple(scope)] = tables.get(tuple(scope), 0) + table
    return tables


def merged(tables: Tables, group: dict[int, tuple[int, int]]) -> Tables:
    """The tables once x_v is x_g, or the other label if the sign in ``group[v]`` is -1; -1 - a stands for label a."""
    found: Tables = {}
    for scope, table in tables.items():
        names: list[int] = []
        for v in scope:
            g, sign = group.get(v, (v, 1))
            table = np.flip(table, len(names)) if sign < 0 else table
            table, names = (table.take(-1 - g, len(names)), names) if g < 0 else (table, [*names, g])
        if len(names) == 2 and names[0] >= names[1]:
            table, names = (table.diagonal(), names[:1]) if names[0] == names[1] else (table.T, names[::-1])
        found[tuple(names)] = found.get(tuple(names), 0) + table
    return found


def largest(tables: Tables, order: list[int], widest: int = 99, allowed: Any = None) -> int:
    """At least the largest sum of the tables, the variables of the order eliminated one after the other (Dechter 1999).

    It may be more where a variable is in tables of more than `widest` together, which are then taken apart, and where
    numbers are rounded up to 50 bits. What is not `allowed` by an array of all variables counts less than all else.
    """
    live = [v for v in dict.fromkeys(order) if any(v in scope for scope in tables)]
    if not live:
        return sum(int(np.max(table)) for table in tables.values())
    size = sum(int(np.max(np.abs(table))) for table in tables.values())
    common = math.gcd(*(int(x) for table in tables.values() for x in np.ravel(table)))
    step = max(common, 1 << max(size.bit_length() - 50, 0))  # the same in any unit
    factors: Tables = {scope: np.asarray(-(-table // step), dtype=np.int64) for scope, table in tables.items()}
    if allowed is not None:
        every = tuple(range(allowed.ndim))
        factors[every] = factors.get(every, 0) + np.where(allowed, 0, -2 * (size // step) - 1)
    for v in live:
        buckets: list[tuple[set[int], list[Any]]] = []
        for scope in sorted((scope for scope in factors if v in scope), key=len, reverse=True):
            near = {*scope} - {v}
            home = next((bucket for bucket in buckets if len(bucket[0] | near) < widest), None)
            if home is None:
                buckets.append(home := (set(), []))
            home[0].update(near)
            home[1].append((scope, np.moveaxis(factors.pop(scope), scope.index(v), 0)))
        need(sum(int(np.abs(t).max()) for _, mine in buckets for _, t in mine) < 2**60, "numbers are too far apart")
        rows: list[list[Any]] = []  # of each bucket, by the labels of v
        for near, mine in buckets:
            q = len(mine[0][1])
            need(q ** len(near) <= _MOST, "a table is too large")
            wide = [t.reshape([q, *(q if u in scope else 1 for u in sorted(near))]) for scope, t in mine]
            rows.append([sum(t[a] for t in sorted(wide, key=np.size)) for a in range(q)])
        tops = np.array([[np.max(row) for row in joint] for joint in rows])
        moved = tops.sum(axis=0) // len(rows) - tops  # any that add up to 0: what each bucket says of v becomes alike
        moved[-1] -= moved.sum(axis=0)
        for (near, _), joint, more in zip(buckets, rows, moved, strict=True):
            best = functools.reduce(np.maximum, (row + x for row, x in zip(joint, more, strict=True)))
            factors[tuple(sorted(near))] = factors.get(tuple(sorted(near)), 0) + best
    return step * sum(int(np.max(table)) for table in factors.values())


def squared(tables: Tables, names: list[int], q: int, diagonal: Any, whole: Any) -> tuple[int, Any]:
    """The largest entries of the tables once z'Sz is added to them, and 2 S, which must be semidefinite."""
    d, unit, place = q - 1, whole(1), {v: k for k, v in enumerate(names)}
    need(all(type(x) in (int, float, Fraction) for x in diagonal), "a number is missing")
    corner, *rest = np.array([float(x) for x in diagonal])
    blocks = np.array(rest).reshape(len(names), d, d)
    need(np.all(blocks == blocks.transpose(0, 2, 1)), "a matrix is not symmetric")
    pairs = [scope for scope in tables if len(scope) == 2]
    i, j = np.array([[place[v] for v in scope] for scope in pairs], dtype=np.int64).reshape(-1, 2).T
    phi = (2 * np.eye(q, d, dtype=int) - 1).astype(object)
    single = np.array([tables.get((v,), [0] * q) for v in names], dtype=object).reshape(-1, q)
    single = single + ((phi @ whole(blocks)) * phi).sum(axis=2)
    pair = np.array([tables[scope] for scope in pairs], dtype=object).reshape(-1, q, q)
    product = (pair[:, :d, :d] - pair[:, d:, :d] - pair[:, :d, d:] + pair[:, d:, d:]) // 4
    pair = pair - phi @ product @ phi.T  # a sum of two, which go to the labels: all tables are multiples of 8
    np.add.at(single, i, pair[:, :, d])
    np.add.at(single, j, pair[:, d] - pair[:, d, d:])
    cross = -product / (2 * unit)
    missed = np.abs(product + 2 * whole(cross)).sum()  # by rounding
    row = -(single[:, :d] - single[:, d:]) / (4 * unit)
    single = single + 2 * whole(row) @ phi.T
    at = 1 + np.arange(len(names) * d).reshape(-1, d)
    parts: list[Any] = [(2 * cross, at[i][:, :, None], at[j][:, None, :]), (2 * row, 0, at), (corner, 0, 0)]
    parts = [np.broadcast_arrays(*part) for part in (*parts, (blocks, at[:, :, None], at[:, None, :]))]
    entries, rows, columns = (np.concatenate([part[k].ravel() for part in parts]) for k in range(3))
    half = sparse.coo_array((entries.astype(np.float64), (rows, columns)), shape=(at.size + 1,) * 2).tocsr()
    return int(missed + sum(single.max(axis=1)) + whole(corner) + tables.get((), 0)), half + half.T


def semidefinite(A: Any, price: float = 0.0) -> bool:
    """Whether a matrix, plus a price everywhere but in its first row, is shown to be semidefinite."""
    A.eliminate_zeros()
    live = np.flatnonzero(np.diff(A.indptr))
    need(not price or 0 not in live, "a price is for cuts")
    live = np.arange(1, A.shape[0]) if price else live
    if not live.size:
        return True
    order = live[sparse.csgraph.reverse_cuthill_mckee(A[live][:, live], symmetric_mode=True)]
    A, n = A[order][:, order].tocoo(), live.size
    row, column = A.coords
    width = n if price else int(np.max(row - column)) + 1
    need(width * n <= _MOST, "a matrix is too large")
    unit = 2.0 ** np.frexp(np.max(np.abs(A.data), initial=price))[1]
    band, below = np.full((width, n), price / unit), row >= column
    band[(row - column)[below], column[below]] += A.data[below] / unit
    band[0] -= 2.0**-52 * (n + 8) * float(np.sum(np.abs(band[0]))) * (2 if price else 1)
    try:
        linalg.cholesky_banded(band, lower=True)
    except np.linalg.LinAlgError:
        return False
    return True


class Leaf(NamedTuple):
    """A part that is not divided: its number, the variables that are left, r, and what parts add to that at most."""

    number: int
    names: list[int]
    group: dict[int, tuple[int, int]]  # for each variable whose label it has, or -1 - a for label a, and a sign
    tables: Tables
    total: int


def leaves(data: dict[str, Any], f: Tables, whole: Any) -> Iterator[Leaf]:
    """What is not divided, in the order of the file."""
    n, q = data["n"], data["labels"]
    parts = [tables_of(part, n, q, whole) for part in data["parts"]]
    tops = [largest(part, sorted({v for scope in part for v in scope})) for part in parts]
    alike = interchangeable(f, q)
    stack = [(f, 0, {v: (v, 1) for v in range(n)})]
    for number, node in enumerate(data["proof"]):
        need(stack, "there are more leaves than parts")
        tables, total, group = stack.pop()
        tables = dict(tables)
        for k, given in node.get("parts", []):
            t, s = given.as_integer_ratio()
            need(t >= 0, "a multiplier is negative")
            total -= -tops[k] * t // s
            taken = {scope: -table * t // s for scope, table in merged(parts[k], group).items()}
            tables.update({scope: tables.get(scope, 0) + table for scope, table in taken.items()})
        if "pair" in node:
            (a, s), (b, t) = sorted(group[v] for v in node["pair"])
            need(q == 2 and a != b, "what is divided is known, or has more than two parts")
            below = [(a, s * t), (a, -s * t)]
        elif "variable" in node:
            b, t = group[node["variable"]]
            used = len({g for g, _ in group.values() if g < 0})  # labels that no division has told apart are alike
            below = [(-1 - label, t) for label in range(min(q, used + 1) if alike else q)]
        else:
            yield Leaf(number, sorted({g for g, _ in group.values() if g >= 0}), group, tables, total)
            continue
        need(b >= 0, "what is divided is known")
        for g, sign in reversed(below):
            joined = {v: (g, u * sign) if h == b else (h, u) for v, (h, u) in group.items()}
            stack.append((merged(tables, {b: (g, sign)}), total, joined))
    need(not stack, "a part has no proof")


def interchangeable(f: Tables, q: int) -> bool:
    """Whether no permutation of the labels changes a table."""
    equal = np.eye(q, dtype=int).astype(object)
    return all(np.all(table == table[0, 1] + equal * (table[0, 0] - table[0, 1])) for table in f.values())


def proven(data: dict[str, Any], f: Tables, most: int | None, whole: Any) -> int:
    """The largest of what the leaves show, if the sides differ by at most so many."""
    bounds = list[int]()
    for number, names, _, tables, total in leaves(data, f, whole):
        node, free = data["proof"][number], most is None or len(names) < data["n"]
        if "diagonal" in node:
            price = node.get("price", 0)
            need(price == 0 or (price > 0 and not free), "a price is negative, or nothing limits the imbalance")
            value, twice = squared(tables, names, data["labels"], node["diagonal"], whole)
            need(semidefinite(twice, 2.0 * float(price)), "a matrix is not semidefinite")
            bounds.append(total + value + whole(price) * (most or 0) ** 2)
        else:
            sides = 0 if free or len(names) > 24 else functools.reduce(np.add.outer, [np.array([1, -1])] * len(names))
            allowed = np.abs(sides) <= most if np.ndim(sides) else None
            bounds.append(total + largest(tables, data["order"], data["widest"], allowed))
    return max(bounds)


def grid(f: Tables, n: int, q: int) -> tuple[int, int]:
    """A number that all values differ from by multiples of another one, and that: changes of labels do."""
    pair = np.array([*f.values()], dtype=object).reshape(-1, q, q)
    single = np.full((n, q), 0, dtype=object)
    ends = np.array([*f], dtype=np.int64).reshape(-1, 2).T
    np.add.at(single, ends[0], pair[:, :, 0] - pair[:, :1, 0])
    np.add.at(single, ends[1], pair[:, 0] - pair[:, 0, :1])
    cross = pair - pair[:, :1] - pair[:, :, :1] + pair[:, :1, :1]
    return sum(pair[:, 0, 0]), math.gcd(*cross.flat, *single.flat) or 1


def fingerprint(data: dict[str, Any]) -> str:
    """Of the instance: what the certificate is about, to be compared with that of whoever asks."""
    instance = [data[name] for name in ("problem", "n", "labels", "imbalance", "terms")]
    return hashlib.sha256(json.dumps(instance, default=float).encode()).hexdigest()


def opened(text: str) -> tuple[dict[str, Any], Tables, Any]:
    """The file, its objective, and the function of units of :func:`read`."""
    data, whole = read(text)
    n, q, labels = data["n"], data["labels"], data["solution"]
    need(type(n) is type(q) is int and 2 <= q <= 4096, "the numbers of variables and labels are missing")
    need(len(labels) == n and all(type(a) is int and 0 <= a < q for a in labels), "the solution is no assignment")
    f = tables_of(data["terms"], n, q, whole)
    need(all(len(scope) == 2 for scope in f), "the objective is not of pairs")
    return data, f, whole


def verify(text: str) -> tuple[dict[str, Any], Fraction, Fraction]:
    """What is in a file, the bound that it proves, at most the one that it claims, and the value; or `Rejected`."""
    data, f, whole = opened(text)
    n, q, labels, imbalance = data["n"], data["labels"], data["solution"], data["imbalance"]
    need(imbalance is None or type(imbalance) is int, "the imbalance is no number of vertices")
    of_tables = q > 2 or any(isinstance(table, list) for *_, table in data["terms"])
    kinds = ["max-2-csp", "max-cut"] if imbalance is None else ["max-bisection"]
    need(data["problem"] in (kinds[:1] if of_tables else kinds), "the problem is another one than it says")
    need(imbalance is None or not of_tables, "only cuts have sides")
    most = None if imbalance is None else min(imbalance, n) - (min(imbalance, n) - n) % 2
    need(most is None or abs(n - 2 * sum(labels)) <= most, "the sides differ by too much")
    need(data["instance"] == fingerprint(data), "the instance is another one than its fingerprint says")
    need(np.ndim(data["value"]) == np.ndim(data["bound"]) == 0, "a claim is no number")
    value = sum(table[tuple(labels[v] for v in scope)] for scope, table in f.items())
    exact = Fraction(value, whole(1))
    need(whole(data["value"]) <= whole(float(exact)), "the solution is worth less than it claims")
    first, step = grid(f, n, q)
    bound = first + (proven(data, f, most, whole) - first) // step * step
    need(value <= bound, "the bound is below the solution")
    need(whole(data["bound"]) >= bound, "the bound is lower than what is proven")
    return data, Fraction(bound, whole(1)), exact


def need_graph(data: dict[str, Any], path: str) -> None:
    """Reject a certificate of another graph than that of a file: lines ``i j [weight]``, vertices numbered from 0."""
    need(data["problem"] != "max-2-csp", "a file of edges says nothing about tables")
    weights: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for line in Path(path).read_text().splitlines():
        if words := line.partition("#")[0].replace(",", " ").split():
            weights[tuple(sorted(map(int, words[:2])))] += Fraction(words[2] if len(words) > 2 else 1)
    mine = [((i, j), float(w)) for i, j, w in data["terms"] if w]
    need(len(mine) == len(dict(mine)), "the certificate repeats an edge")
    theirs = {(i, j): float(w) for (i, j), w in weights.items() if w and i != j}
    need(dict(mine) == theirs, "the certificate is about another graph")
    count = 1 + max(map(max, weights), default=-1)  # in halves of it those without edges count
    need(
        data["imbalance"] is None or data["n"] == count,
        "the graph has other vertices; a line i i names one without edges",
    )


def main(arguments: list[str]) -> int:
    """Print what a file proves; 0 if it proves what it claims."""
    if len(arguments) not in (1, 2):
        print("usage: python -m dpgraph.sos.check FILE [GRAPH]")
        return 2
    try:
        data, bound, exact = verify(Path(arguments[0]).read_text())
        for graph in arguments[1:]:
            need_graph(data, graph)
    except Rejected as wrong:
        print(f"REJECTED: {wrong}")
        return 1
    except (
        OSError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, MemoryError
    ) as wrong:  # fmt: skip
        print(f"REJECTED: this is no certificate, or not a whole one ({type(wrong).__name__}: {wrong})")
        return 1
    value, claimed = float(data["value"]), float(data["bound"])
    print(f"verified: {data['problem']} with n = {data['n']}, value {value!r}, upper bound {claimed!r}")
    print(f"proven: {float(bound)!r}{', so the solution is optimal' if exact == bound else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
