"""Certificates that others can check: what the solver knows of a bound, written so that :mod:`.check` verifies it.

The solver proves bounds on what elimination left, in floating-point numbers with margins of its own. A certificate is
about the instance itself, so that multipliers of the inequalities that elimination rests on are added, and each
diagonal is raised by what the factorisation of the checker asks for. It is checked before it is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import NotConvergedError
from dpgraph.sos import check
from dpgraph.typing import FloatArray, IntArray

_ATTEMPTS = 8
_STEP = 4.0

#: As in the file: signed vertices from 1 on, or coefficients of pairs that are even at each vertex.
Inequality = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Multipliers of inequalities; the diagonal of groups of vertices, or None where weights alone are bounded."""

    bound: float  #: about what it shows
    terms: Callable[[], list[tuple[Inequality, float]]] = list
    diagonal: FloatArray | None = None
    price: float = 0.0  #: multiplier of the imbalance


@dataclass(eq=False)
class Part:
    """A part of the cuts: a bound on it, and what it was divided into, x_i = x_j and x_i = -x_j."""

    point: DualPoint | None = None
    pair: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    listed: bool = False

    def needed(self) -> tuple[float, bool]:
        """The bound, and whether the part's own point is what shows it."""
        mine = -math.inf if self.listed else math.inf if self.point is None else self.point.bound
        theirs = max((part.needed()[0] for part in self.parts), default=math.inf)
        return min(mine, theirs), mine <= theirs


@dataclass(frozen=True, eq=False)
class CutProof:
    """A tree of bounds on the cuts of a core, and how the other vertices of the instance were eliminated."""

    root: Part
    kept: IntArray | None = None
    eliminated: tuple[IntArray, IntArray, FloatArray] | None = None  #: vertices, neighbours and weights, in order

    def of_core(self, kept: IntArray, lift: Any) -> CutProof:
        """The same for the objective whose elimination gave the core, see :meth:`CutObjective.reduced`."""
        return CutProof(self.root, kept, tuple(lift.args[1:])) if hasattr(lift, "args") else self

    def nodes(self, data: dict[str, Any], exponent: int) -> dict[str, Any]:
        """The tree as in the file; inequalities are added to those of the file."""
        weights, _ = check.as_cut(data)
        n = data["n"] + (data["problem"] == "max-2-csp")
        data = {**data, "n": n}
        kept = np.arange(n) if self.kept is None else self.kept
        base = [(given, math.ldexp(t, exponent)) for given, t in _of_elimination(self.eliminated)]
        groups = [(v, 1) for v in range(n)]
        return _written(self.root, data, _Place(kept, base, weights, groups, exponent))


@dataclass(frozen=True, eq=False)
class EliminationProof:
    """The order in which the variables of a 2-CSP are eliminated."""

    order: list[int]

    def nodes(self, data: dict[str, Any], exponent: int) -> dict[str, Any]:  # noqa: ARG002 (as the other proofs)
        """As in the file."""
        return {"order": self.order}


@dataclass(frozen=True, eq=False)
class ShiftProof:
    """What is moved from each table of a 2-CSP to the labels of its ends, (2, m, q)."""

    shares: Callable[[], FloatArray]

    def nodes(self, data: dict[str, Any], exponent: int) -> dict[str, Any]:  # noqa: ARG002 (as the other proofs)
        """As in the file."""
        return {"shifts": np.ldexp(self.shares(), exponent).transpose(1, 0, 2).tolist()}


@dataclass(frozen=True, eq=False)
class SearchProof:
    """The steps of a search of a 2-CSP, once it is made again to write them down.

    `record` gives them, with the pairs of the tables that the elimination in this `order` leaves, what is moved to
    their labels, and the value that nothing exceeds; None where they are too many: then there is a weaker proof.
    """

    order: list[int]
    record: Callable[[], tuple[IntArray, FloatArray, float, IntArray] | None]
    otherwise: ShiftProof

    def nodes(self, data: dict[str, Any], exponent: int) -> dict[str, Any]:
        """As in the file."""
        found = self.record()
        if found is None:
            return self.otherwise.nodes(data, exponent)
        pairs, shares, limit, steps = found
        first, second = np.ldexp(shares, exponent).tolist()
        shifts = [[u, v, f, g] for (u, v), f, g in zip(pairs.tolist(), first, second, strict=True)]
        limit = math.ldexp(limit, exponent)
        return {"order": self.order, "shifts": shifts, "limit": limit, "search": steps.tolist()}


Proof = CutProof | EliminationProof | ShiftProof | SearchProof


@dataclass(frozen=True, eq=False)
class Certificate:
    """What proves an upper bound, for ``python -m dpgraph.sos.check FILE [GRAPH]``.

    Attributes
    ----------
    bound : float
        What it proves: the upper bound, or a little more where rounding asks for that.
    """

    instance: Callable[[], dict[str, Any]] = field(repr=False)
    solved: dict[str, Any] = field(repr=False)
    proof: Proof = field(repr=False)
    exponent: int = field(repr=False)

    @cached_property
    def data(self) -> dict[str, Any]:
        """What is saved; docs/sos.md says what stands in it."""
        data: dict[str, Any] = {**self.instance(), **self.solved, "inequalities": []}
        data["instance"] = check.fingerprint(data)
        data["proof"] = self.proof.nodes(data, self.exponent)
        claimed = data["bound"]
        proven = check.verify({**data, "bound": np.finfo(np.float64).max})
        bound = float(proven)
        above = bound if Fraction(bound) >= proven else math.nextafter(bound, math.inf)
        return {**data, "bound": max(claimed, above)}

    @property
    def bound(self) -> float:
        """What it proves."""
        return float(self.data["bound"])

    def save(self, path: str | Path) -> None:
        """Check the certificate, and write it as JSON."""
        write_atomically(path, json.dumps(self.data))


@dataclass(frozen=True, eq=False)
class _Place:
    """Where in the tree: groups of vertices, and what is the same everywhere."""

    kept: IntArray
    base: list[tuple[Inequality, float]]
    weights: check.Pairs
    groups: list[tuple[int, int]]
    exponent: int


def _written(part: Part, data: dict[str, Any], at: _Place) -> dict[str, Any]:
    node: dict[str, Any] = {}
    own = part.needed()[1]
    if part.listed:
        node["list"] = True
    elif own and part.point is not None:
        node |= _point(part.point, data, at)
    if part.pair is not None and not own:
        i, j = (int(at.kept[v]) for v in part.pair)
        node["pair"] = [i, j]
        node["parts"] = [
            _written(below, data, replace(at, groups=check.joined(at.groups, i, j, sign)))
            for below, sign in zip(part.parts, (1, -1), strict=True)
        ]
    return node


def _point(point: DualPoint, data: dict[str, Any], at: _Place) -> dict[str, Any]:
    """A dual point of the instance; its diagonal is raised until the checker is satisfied."""
    terms = [(_renamed(given, at.kept), math.ldexp(t, at.exponent)) for given, t in point.terms()] + at.base
    first = len(data["inequalities"])
    data["inequalities"] += [given for given, _ in terms]
    node: dict[str, Any] = {"terms": [[first + k, t] for k, (_, t) in enumerate(terms)], "diagonal": None}
    if point.diagonal is None:
        return node
    names = sorted({g for g, _ in at.groups})
    place = {name: k for k, name in enumerate(names)}
    core = sorted({at.groups[v][0] for v in at.kept.tolist()})
    diagonal = np.zeros(len(names))
    diagonal[[place[name] for name in core]] = np.ldexp(point.diagonal, at.exponent)
    rest = dict(at.weights)
    check.priced(data, node, rest)
    _, between, _ = check.contracted(rest, at.groups)
    outside = set(names) - set(core)
    for (g, h), w in between.items():  # what rounding has left of the eliminated
        if names[g] in outside or names[h] in outside:
            diagonal[[g, h]] += 0.2500001 * abs(float(w))
    price = math.ldexp(point.price, at.exponent)
    quarters = {pair: w / 4 for pair, w in between.items() if w}
    live = np.zeros(len(names), dtype=bool)
    live[np.array([*quarters], dtype=np.int64).ravel()] = True
    step = 3.0 * 2.0**-53 * (len(names) + 20) * float(np.abs(diagonal + price).sum())
    for _ in range(_ATTEMPTS):
        diagonal = diagonal + step * (live | bool(price))
        if check.semidefinite([Fraction(t) for t in diagonal.tolist()], quarters, Fraction(price)):
            return node | {"diagonal": diagonal.tolist(), "price": price}
        step *= _STEP
    raise NotConvergedError("the bound cannot be shown to the checker: rounding errors are too large for it")


def _renamed(given: Inequality, kept: IntArray) -> Inequality:
    """An inequality of the core in the vertices of the instance."""
    if "clique" in given:
        return {"clique": [int(kept[abs(v) - 1] + 1) * (1 if v > 0 else -1) for v in given["clique"]]}
    return {"even": [[int(kept[i]), int(kept[j]), int(a)] for i, j, a in given["even"]]}


def _of_elimination(steps: tuple[IntArray, IntArray, FloatArray] | None) -> list[tuple[Inequality, float]]:
    """The triangles and pairs whose sum is what each eliminated vertex was replaced by.

    With signs that make the weights a >= b >= c of a vertex v positive, v and two neighbours obey a triangle
    inequality, v and one are on one side or not; shares of these add up to the weights.
    """
    terms: list[tuple[Inequality, float]] = []
    for v, neighbours, weights in zip(*steps, strict=True) if steps is not None else ():
        given = [(u, w) for u, w in zip(neighbours.tolist(), weights.tolist(), strict=True) if u >= 0]
        order = sorted((-abs(w), u, 1 if w > 0 else -1) for u, w in given)
        signed = [(u + 1) * sign for _, u, sign in order]
        a, b, c = [-size for size, _, _ in order] + [0.0] * (3 - len(order))
        inner = max(b + c - a, 0.0)  # of the triangle without the largest
        shares: list[tuple[tuple[int, ...], float]] = [
            ((0, 1), (b - 0.5 * inner)),
            ((0, 2), (c - 0.5 * inner)),
            ((1, 2), 0.5 * inner),
        ]
        shares += [((0,), a - b - c + inner)]
        terms += [
            ({"clique": [int(v) + 1, *(signed[k] for k in members)]}, float(share))
            for members, share in shares
            if share > 0.0
        ]
    return terms
