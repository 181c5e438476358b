"""Verify a saved certificate: ``python -m dpgraph.sos.check FILE [GRAPH]``. It shares no code with the solver.

The file is JSON; docs/sos.md says what stands in it. All sums are taken in whole numbers. The one thing that is not is
whether a matrix is positive semidefinite: a factorisation in floating-point numbers shows that, with a bound on all of
its rounding errors (Rump 2006; Higham 2002, Theorem 10.3 and Lemma 3.1), which is subtracted from the diagonal first.
"""

import hashlib
import itertools
import json
import math
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

_U = 2.0**-53
_DENSE = 3000  # rows of a matrix that LAPACK factorises; larger ones are sparse
_MOST_LISTED = 24  # vertices whose cuts are listed

Pairs = dict[tuple[int, int], Fraction]


class Rejected(ValueError):
    """The file does not prove what it claims."""


def need(condition: Any, what: str) -> None:
    """Reject the file unless a condition holds."""
    if not condition:
        raise Rejected(what)


def verify(data: dict[str, Any]) -> Fraction:
    """The bound that the file proves, at most the one that it claims; :class:`Rejected` if there is none."""
    problem = data["problem"]
    need(data["instance"] == fingerprint(data), "the instance is another one than its fingerprint says")
    need(problem in ("max-cut", "max-bisection", "max-2-csp"), "unknown problem")
    value, bound = (verify_csp if problem == "max-2-csp" else verify_cut)(data)
    need(Fraction(data["value"]) <= value + rounding(data["value"]), "the solution is worth less than it claims")
    need(value <= bound, "the bound is below the solution")
    need(Fraction(data["bound"]) >= bound, "the bound is lower than what is proven")
    return bound


def fingerprint(data: dict[str, Any]) -> str:
    """Of the instance: what the certificate is about, to be compared with that of whoever asks."""
    instance = [data.get(name) for name in ("problem", "n", "imbalance", "edges", "labels", "tables")]
    return hashlib.sha256(json.dumps(instance).encode()).hexdigest()


def rounding(value: float) -> Fraction:
    """What rounding a sum to the next number may add to it."""
    return abs(Fraction(value)) * Fraction(2.0**-52)


def verify_cut(data: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Value of the cut, and what no cut exceeds."""
    n, sides = data["n"], data["solution"]
    weights, constant = as_cut(data)
    need(len(sides) == n and set(sides) <= {0, 1}, "the solution is no cut")
    value = sum((w for (i, j), w in weights.items() if sides[i] != sides[j]), Fraction(0))
    largest = largest_sum(data)
    need(largest is None or abs(n - 2 * sum(sides)) <= largest, "the sides differ by too much")
    bound = best_of(data, data["proof"], weights, constant, largest)
    degrees = [Fraction(0)] * n
    for (i, j), w in weights.items():
        degrees[i], degrees[j] = degrees[i] + w, degrees[j] + w
    return value, floored(bound, [2 * w for w in weights.values()] + degrees)


def largest_sum(data: dict[str, Any]) -> int | None:
    """The largest difference of the sides that is allowed, a number of the parity of n; None for any cut."""
    if data["problem"] != "max-bisection":
        return None
    most = min(data["imbalance"], data["n"])
    need(most >= data["n"] % 2, "no cut is within the imbalance")
    return int(most - (most - data["n"]) % 2)


def as_cut(data: dict[str, Any]) -> tuple[Pairs, Fraction]:
    """Weights and constant of the cuts: of two labels those of n + 1 vertices, vertex 0 on the side of label 0."""
    weights: Pairs = defaultdict(Fraction)
    constant = Fraction(0)
    for i, j, w in data.get("edges", []):
        need(0 <= i < j < data["n"], "an edge has no two vertices")
        weights[i, j] += Fraction(w)
    for u, v, table in data.get("tables", []):  # a + (c - a) x + (b - a) y + (a + d - b - c) x y, labels x, y
        (a, b), (c, d) = [[Fraction(x) for x in row] for row in table]
        constant += a
        weights[0, u + 1] += (c + d - a - b) / 2
        weights[0, v + 1] += (b + d - a - c) / 2
        weights[u + 1, v + 1] += (b + c - a - d) / 2
    return weights, constant


def floored(bound: Fraction, numbers: list[Fraction]) -> Fraction:
    """The largest common multiple of the numbers up to the bound: values are multiples of what divides them all."""
    scale = max([x.denominator for x in numbers], default=1)
    divisor = Fraction(math.gcd(*(int(x * scale) for x in numbers)), scale)
    return math.floor(bound / divisor) * divisor if divisor else bound


def best_of(data: dict[str, Any], proof: Any, weights: Pairs, constant: Fraction, largest: int | None) -> Fraction:
    """What a proof, a tree of dual points and lists, shows: parts join what is divided on one side, or on two."""
    vertices = [(v, 1) for v in range(data["n"])]
    stack: list[tuple[Any, list[tuple[int, int]]]] = [(proof, vertices)]
    order: list[tuple[Any, list[tuple[int, int]]]] = []
    parts: dict[int, list[int]] = {}
    bounds: dict[int, Fraction] = {}
    while stack:
        node, group = stack.pop()
        order.append((node, group))
        if "pair" in node:
            i, j = node["pair"]
            need(len(node["parts"]) == 2, "a division has two parts")
            parts[id(node)] = [id(part) for part in node["parts"]]
            need(group[i][0] != group[j][0], "what is divided is joined already")
            stack += [(part, joined(group, i, j, sign)) for part, sign in zip(node["parts"], (1, -1), strict=True)]
    for node, group in reversed(order):
        known = [max(bounds[part] for part in parts[id(node)])] if "pair" in node else []
        if "list" in node:
            whole = len({g for g, _ in group}) == len(group)  # else every cut counts, balanced or not
            known.append(constant + listed(*contracted(weights, group), largest if whole else None))
        if "terms" in node:
            known.append(constant + dual_bound(data, node, dict(weights), group, largest))
        need(known, "a part has no proof")
        bounds[id(node)] = min(known)
    return bounds[id(proof)]


def joined(group: list[tuple[int, int]], i: int, j: int, sign: int) -> list[tuple[int, int]]:
    """Groups, named after their first vertices, and signs in them, after x_j = sign x_i."""
    (a, s), (b, t) = group[i], group[j]
    (a, s), (b, t) = min((a, s), (b, t)), max((a, s), (b, t))
    return [(a, u * s * t * sign) if g == b else (g, u) for g, u in group]


def contracted(weights: Pairs, group: list[tuple[int, int]]) -> tuple[int, Pairs, Fraction]:
    """Number of groups, weights between them, and the constant: sum of w over what is across = constant + the same."""
    place = {g: k for k, g in enumerate(sorted({g for g, _ in group}))}
    between: Pairs = defaultdict(Fraction)
    constant = Fraction(0)
    for (i, j), w in weights.items():
        (g, s), (h, t) = group[i], group[j]
        constant += w if s != t else 0
        if g != h:
            between[min(place[g], place[h]), max(place[g], place[h])] += w if s == t else -w
    return len(place), between, constant


def listed(n: int, weights: Pairs, constant: Fraction, largest: int | None) -> Fraction:
    """The largest value of all cuts."""
    need(n <= _MOST_LISTED, "too many cuts to list")
    scale = max([w.denominator for w in weights.values()], default=1)
    whole = {pair: int(w * scale) for pair, w in weights.items()}
    kind: Any = np.int64 if sum(map(abs, whole.values())) < 2**62 else object
    best: Any = None
    low = min(n - 1, 12)
    codes = np.arange(2**low)
    for rest in itertools.product((0, 1), repeat=n - low - 1):
        side = [(codes >> v) & 1 for v in range(low)] + [np.full_like(codes, b) for b in (*rest, 0)]
        total = np.zeros(len(codes), dtype=kind)
        for (i, j), w in whole.items():
            total += w * (side[i] ^ side[j]).astype(kind)
        if largest is not None:
            total = total[np.abs(n - 2 * sum(side)) <= largest]
        if len(total) and (best is None or total.max() > best):
            best = total.max()
    return constant + Fraction(int(best), scale)


def dual_bound(
    data: dict[str, Any], node: dict[str, Any], weights: Pairs, group: list[tuple[int, int]], largest: int | None
) -> Fraction:
    """The bound of multipliers of inequalities and, if they are given, of the diagonal and of the imbalance."""
    total = priced(data, node, weights)
    n, rest, constant = contracted(weights, group)
    total += constant
    if node["diagonal"] is None:
        return total + sum((w for w in rest.values() if w > 0), Fraction(0))
    price = Fraction(node.get("price", 0.0))
    need(price >= 0 and (price == 0 or (largest is not None and n == data["n"])), "nothing limits the imbalance")
    diagonal = [Fraction(t) for t in node["diagonal"]]
    need(len(diagonal) == n, "the diagonal has another size")
    need(semidefinite(diagonal, {pair: w / 4 for pair, w in rest.items() if w}, price), "a matrix is not semidefinite")
    return total + sum(rest.values(), Fraction(0)) / 2 + sum(diagonal) + price * (largest or 0) ** 2


def priced(data: dict[str, Any], node: dict[str, Any], weights: Pairs) -> Fraction:
    """Take inequalities, times their multipliers, off the weights: what their right-hand sides add up to."""
    total = Fraction(0)
    for k, multiplier in node["terms"]:
        t = Fraction(multiplier)
        need(t >= 0, "a multiplier is negative")
        coefficients, limit = inequality(data["inequalities"][k], data["n"])
        total += t * limit
        for pair, a in coefficients.items():
            weights[pair] = weights.get(pair, Fraction(0)) - t * a
    return total


def inequality(given: dict[str, Any], n: int) -> tuple[dict[tuple[int, int], int], int]:
    """Coefficients a of pairs, and b, of an inequality sum of a over what is across <= b that all cuts obey.

    With signs s of k vertices, (s'x)^2 is at least 1 for odd k, else 0. Or a sum that is even for every cut, as the
    coefficients at each vertex have an even sum, is at most the sum of the positive ones, or one less.
    """
    if "clique" in given:
        signed = given["clique"]
        place, sign = [abs(v) - 1 for v in signed], [1 if v > 0 else -1 for v in signed]
        need(0 not in signed and len(set(place)) == len(place) and max(place) < n, "an inequality repeats a vertex")
        ones = range(len(signed))
        pairs = {(min(place[p], place[q]), max(place[p], place[q])): sign[p] * sign[q] for p in ones for q in range(p)}
        return pairs, (sum(sign) ** 2 - len(signed) % 2) // 4
    coefficients = {(i, j): a for i, j, a in given["even"]}
    at: dict[int, int] = defaultdict(int)
    for (i, j), a in coefficients.items():
        need(isinstance(a, int) and 0 <= i < j < n, "an inequality has no pairs")
        at[i] += a
        at[j] += a
    need(all(total % 2 == 0 for total in at.values()), "an inequality is odd at a vertex")
    most = sum(a for a in coefficients.values() if a > 0)
    return coefficients, most - most % 2


def semidefinite(diagonal: list[Fraction], rest: Pairs, price: Fraction = Fraction(0)) -> bool:
    """Whether Diag(diagonal) + the symmetric matrix with entries `rest` + price 11' is shown to be semidefinite."""
    if min(diagonal) + price < 0:
        return False
    live = range(len(diagonal)) if price else sorted(set(itertools.chain(*rest)))  # the others are 1 x 1 blocks
    if not live:
        return True
    n, place = len(live), {v: k for k, v in enumerate(live)}
    d = np.array([float(diagonal[v] + price) for v in live])
    ij = np.array([(place[i], place[j]) for i, j in rest], dtype=np.int64).reshape(-1, 2)
    data = np.array([float(w) for w in rest.values()])
    A: Any = sparse.coo_array((data, (ij[:, 0], ij[:, 1])), shape=(n, n)).tocsr()
    A = A + A.T + sparse.diags_array(d)
    if n <= _DENSE or price:
        A = A.toarray() + float(price) * (1.0 - np.eye(n))
    width = float(np.max(np.asarray(abs(A).sum(axis=1))))
    shift = 2.0 * _U * ((n + 8) * float(d.sum()) + 4.0 * width)  # of the factorisation, and of rounded entries
    A = A - shift * (np.eye(n) if isinstance(A, np.ndarray) else sparse.eye_array(n))
    if np.any(A.diagonal() <= 0.0):
        return False
    if isinstance(A, np.ndarray):
        try:
            np.linalg.cholesky(A)  # completes only if A + E is semidefinite, |E| <= (n + 2) u tr(A) (1 + tiny)
        except np.linalg.LinAlgError:
            return False
        return True
    return _sparse_factor_shows(sparse.csc_array(A), shift)


def _sparse_factor_shows(A: Any, shift: float) -> bool:
    """Whether A + shift I = L D L' + E with D > 0 and |E| <= shift; the error of the product is part of E."""
    factor = sparse.linalg.splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    pivots = factor.U.diagonal()
    if np.any(factor.perm_r != factor.perm_c) or np.any(pivots <= 0.0):
        return False
    order = np.argsort(factor.perm_r)
    scaled = factor.L @ sparse.diags_array(pivots)
    error = abs(scaled @ factor.L.T - A[order][:, order])
    terms = 2 * (int(np.max(np.diff(sparse.csr_array(factor.L).indptr))) + 4)
    size = abs(scaled) @ (abs(factor.L.T) @ np.ones(A.shape[0]))
    return bool(np.max(error @ np.ones(A.shape[0]) + terms * _U * (size + abs(A) @ np.ones(A.shape[0]))) * 1.01 < shift)


def verify_csp(data: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Value of the assignment, and what no assignment exceeds."""
    n, q, labels = data["n"], data["labels"], data["solution"]
    need(len(labels) == n and all(0 <= a < q for a in labels), "the solution is no assignment")
    tables = [(u, v, [[Fraction(x) for x in row] for row in table]) for u, v, table in data["tables"]]
    for u, v, table in tables:
        need(0 <= u < v < n and [len(row) for row in table] == [q] * q, "a table has no two variables")
    value = sum((table[labels[u]][labels[v]] for u, v, table in tables), Fraction(0))
    numbers = [x for _, _, table in tables for row in table for x in row]
    proof = data["proof"]
    if "search" in proof:
        bound = searched(n, q, tables, proof)
    elif "order" in proof:
        factors, scale = as_whole(q, tables)
        rest, total = eliminated(q, factors, proof["order"])
        need(not rest, "the order misses a variable")
        bound = Fraction(total, scale)
    elif "shifts" in proof:
        bound = reparametrised(n, q, tables, proof["shifts"])
    else:
        need(q == 2, "a proof by cuts needs two labels")
        weights, constant = as_cut(data)
        bound = best_of({**data, "n": n + 1}, proof, weights, constant, None)
    return value, floored(bound, numbers)


Factors = list[tuple[tuple[int, ...], Any]]  # variables in increasing order, and a table of them


def as_whole(q: int, tables: list[Any]) -> tuple[Factors, int]:
    """The tables in whole numbers, and how many of these are 1."""
    scale = max([x.denominator for _, _, table in tables for row in table for x in row], default=1)
    whole = [((u, v), [[int(x * scale) for x in row] for row in table]) for u, v, table in tables]
    kind: Any = np.int64 if sum(max(map(abs, itertools.chain(*t))) for _, t in whole) < 2**62 else object
    return [(scope, np.array(table, dtype=kind).reshape(q, q)) for scope, table in whole], scale


def eliminated(q: int, factors: Factors, order: list[int]) -> tuple[Factors, int]:
    """What is left by taking the maximum over one variable after the other (Dechter 1999), and the constant."""
    need(len(set(order)) == len(order), "a variable is eliminated twice")
    total = 0
    for v in order:
        mine = [factor for factor in factors if v in factor[0]]
        factors = [factor for factor in factors if v not in factor[0]]
        scope = tuple(sorted({u for variables, _ in mine for u in variables} - {v}))
        joint = np.zeros((1,) * (len(scope) + 1), dtype=mine[0][1].dtype if mine else np.int64)
        for variables, table in mine:  # both in increasing order, but for v, which comes last
            shape = [q if u in variables else 1 for u in (*scope, v)]
            joint = joint + np.moveaxis(table, variables.index(v), -1).reshape(shape)
        best = joint.max(axis=-1)
        if scope:
            factors.append((scope, best))
        else:
            total += int(best)
    return factors, total


def reparametrised(n: int, q: int, tables: list[Any], shifts: list[Any]) -> Fraction:
    """The bound of costs moved between tables and labels: the sum of the largest entries, whatever was moved."""
    need(len(shifts) == len(tables), "there are shifts for other tables")
    single = [[Fraction(0)] * q for _ in range(n)]
    total = Fraction(0)
    for (u, v, table), (left, right) in zip(tables, shifts, strict=True):
        f, g = [Fraction(x) for x in left], [Fraction(x) for x in right]
        need(len(f) == q and len(g) == q, "a shift has another number of labels")
        total += max(table[a][b] - f[a] - g[b] for a in range(q) for b in range(q))
        single[u] = [x + y for x, y in zip(single[u], f, strict=True)]
        single[v] = [x + y for x, y in zip(single[v], g, strict=True)]
    return total + sum(max(labels) for labels in single)


def searched(n: int, q: int, tables: list[Any], proof: dict[str, Any]) -> Fraction:
    """The limit of a search, once its steps have shown that nothing is worth more.

    Some variables are eliminated; shares of the tables that are left are moved to labels; the rest is divided.
    """
    alike = all(np.array_equal(t := np.array(table), np.where(np.eye(q, dtype=bool), t[0, 0], t[0, -1]))
                for *_, table in tables)  # fmt: skip
    factors, scale = as_whole(q, tables)
    divisor = math.gcd(*(int(x) for _, table in factors for x in table.ravel()))
    factors, total = eliminated(q, factors, proof["order"])
    shares = [(u, v, [Fraction(x) for x in f], [Fraction(x) for x in g]) for u, v, f, g in proof["shifts"]]
    limit = Fraction(proof["limit"]) * scale
    finer = max([(x * scale).denominator for *_, f, g in shares for x in (*f, *g)] + [limit.denominator])
    single = {i: np.zeros(q, np.int64) for i in range(n) if i not in proof["order"]}
    pair: dict[tuple[int, int], Any] = {}
    need(sum(int(np.abs(table).max()) for _, table in factors) * finer < 2**58, "numbers are too far apart")
    for scope, table in factors:
        if len(scope) == 1:
            single[scope[0]] += finer * table
        else:
            need(len(scope) == 2, "an elimination leaves a table of three variables")
            pair[scope[0], scope[1]] = pair.get((scope[0], scope[1]), 0) + finer * table
    for u, v, *given in shares:
        f, g = (np.array([int(x * scale * finer) for x in share]) for share in given)
        need((u, v) in pair and len(f) == len(g) == q, "a share is of no table")
        need(max(np.abs(f).max(), np.abs(g).max()) < 2**58, "numbers are too far apart")
        pair[u, v] = pair[u, v] - f[:, None] - g
        single[u], single[v] = single[u] + f, single[v] + g
    top = total * finer + sum(int(t.max()) for t in (*pair.values(), *single.values()))
    costs = Costs({i: t.max() - t for i, t in single.items()}, {uv: t.max() - t for uv, t in pair.items()})
    need(
        replayed(costs, proof["search"], top - int(limit * finer) - divisor * finer + 1, alike), "a search is not over"
    )
    return limit / scale


_NEVER = 2**60  # the cost of a label that is out of the question


class Costs:
    """What is left to decide in whole numbers >= 0: `least` for everything, labels, and pairs of labels."""

    def __init__(self, single: dict[int, Any], pair: dict[tuple[int, int], Any], least: int = 0, used: int = 0) -> None:
        self.single, self.pair, self.least, self.used = dict(single), dict(pair), least, used

    def near(self, i: int) -> list[tuple[int, Any]]:
        """Neighbours of a variable, and tables with its labels first."""
        pairs = [(uv, t) for uv, t in self.pair.items() if i in uv]
        return [(v, t) if u == i else (u, t.T) for (u, v), t in pairs]

    def put(self, i: int, j: int, table: Any) -> None:
        """The table of two variables."""
        self.pair[min(i, j), max(i, j)] = table if i < j else table.T

    def settle(self, i: int, limit: int) -> Any:
        """Move what all labels of i cost to everything, forbid those that cost too much: which are left."""
        mine = self.single[i]
        common = int(mine.min())
        self.least = limit if common >= _NEVER else self.least + common
        self.single[i] = np.where((mine >= _NEVER) | (mine - common + self.least >= limit), _NEVER, mine - common)
        return np.flatnonzero(self.single[i] < _NEVER)

    def gains(self, i: int) -> list[tuple[int, Any, Any]]:
        """Neighbours, tables, and what each label of i costs there whatever they do."""
        return [(j, t, (t + self.single[j]).min(axis=1)) for j, t in self.near(i)]

    def pull(self, i: int) -> None:
        """Move to the labels of i all that their neighbours can pay."""
        left = self.single[i] < _NEVER
        for j, t, gain in self.gains(i):
            paid = np.where(left[:, None], gain[:, None] - t, 0).max(axis=0, initial=0)
            free = self.single[j] < _NEVER
            self.single[j] = np.where(free, self.single[j] - paid, _NEVER)
            self.put(i, j, np.where(left[:, None] & free, t + paid - gain[:, None], t))
            self.single[i] = np.where(left, self.single[i] + gain, _NEVER)

    def assign(self, i: int, a: int) -> None:
        """Give a label that is left."""
        self.least += int(self.single[i][a])
        for j, t in self.near(i):
            self.single[j] = np.minimum(self.single[j] + t[a], _NEVER)
            del self.pair[min(i, j), max(i, j)]
        del self.single[i]

    def eliminate(self, i: int) -> None:
        """Take the least over the labels of a variable of at most two neighbours."""
        near, mine = self.near(i), self.single.pop(i)
        for j, _ in near:
            del self.pair[min(i, j), max(i, j)]
        if len(near) == 1:
            (j, t) = near[0]
            self.single[j] = np.minimum(self.single[j] + (mine[:, None] + t).min(axis=0), _NEVER)
        elif near:
            (j, t), (k, s) = near
            joint = (mine[:, None, None] + t[:, :, None] + s[:, None, :]).min(axis=0)
            known = [table for v, table in self.near(j) if v == k]
            self.put(j, k, joint + known[0] if known else joint)

    def look(self, i: int, pulls: bool, limit: int) -> None:
        """Everything that can be said of a variable as it stands."""
        left = self.settle(i, limit)
        if self.least < limit and len(left) > 1 and len(self.near(i)) > 2:
            total = self.single[i] + sum(gain for *_, gain in self.gains(i))
            self.single[i] = np.where(total + self.least >= limit, _NEVER, self.single[i])
            if pulls:
                self.pull(i)
            left = self.settle(i, limit)
        if self.least < limit and len(left) == 1:
            self.assign(i, int(left[0]))
        elif self.least < limit and len(self.near(i)) <= 2:
            self.eliminate(i)


def replayed(now: Costs, steps: list[int], limit: int, alike: bool) -> bool:
    """Whether the steps of a search show that every assignment costs at least the limit.

    Step 2 i, or 2 i + 1 with a pull, looks at variable i; -1, i, a gives it a label, and what is left without that
    label comes afterwards. Where no permutation of the labels changes a value, those that no division has used yet
    are all without a better assignment if one of them is.
    """
    waiting: list[Costs] = []
    ahead = iter(steps)
    while True:
        while now.least >= limit:
            if not waiting:
                return next(ahead, None) is None
            now = waiting.pop()
        step = next(ahead, None)
        if step is None:
            return False
        if step >= 0:
            need(step // 2 in now.single, "a variable is decided already")
            now.look(step // 2, step % 2 == 1, limit)
            continue
        i, a = next(ahead, -1), next(ahead, -1)
        need(i in now.single and 0 <= a < len(now.single[i]) and now.single[i][a] < _NEVER, "a label is not left")
        rest = Costs(now.single, now.pair, now.least, now.used)
        fresh = [b for b in range(len(now.single[i])) if not now.used >> b & 1]
        out = fresh if alike and a in fresh else [a]
        rest.single[i] = now.single[i].copy()
        rest.single[i][out] = _NEVER
        waiting.append(rest)
        now.assign(i, a)
        now.used |= 1 << a


def need_graph(data: dict[str, Any], path: str) -> None:
    """Reject a certificate of another graph than that of a file: lines ``i j [weight]``, vertices numbered from 0."""
    need("edges" in data, "a file of edges says nothing about tables")
    weights: Pairs = defaultdict(Fraction)
    for line in Path(path).read_text().splitlines():
        if words := line.partition("#")[0].replace(",", " ").split():
            i, j = sorted(map(int, words[:2]))
            weights[i, j] += Fraction(words[2] if len(words) > 2 else 1)
    mine = {(i, j): w for i, j, w in data["edges"] if w}
    need(len(mine) == len([w for *_, w in data["edges"] if w]), "the certificate repeats an edge")
    theirs = {(i, j): float(w) for (i, j), w in weights.items() if w and i != j}
    need(mine == theirs, "the certificate is about another graph")


def main(arguments: list[str]) -> int:
    """Print what a file proves; 0 if it proves what it claims."""
    if len(arguments) not in (1, 2):
        print("usage: python -m dpgraph.sos.check FILE [GRAPH]")
        return 2
    data = json.loads(Path(arguments[0]).read_text())
    try:
        bound = verify(data)
        for graph in arguments[1:]:
            need_graph(data, graph)
    except (Rejected, LookupError, TypeError, ValueError, ArithmeticError) as wrong:
        print(f"REJECTED: {wrong}")
        return 1
    print(f"verified: {data['problem']} with n = {data['n']}, value {data['value']!r}, upper bound {data['bound']!r}")
    print(f"proven: {float(bound)!r}{', so the solution is optimal' if Fraction(data['value']) >= bound else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
