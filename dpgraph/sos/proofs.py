"""Certificates that others can check: what the solver knows of a bound, written so that :mod:`.check` verifies it.

The solver proves bounds on what elimination left, in floating-point numbers with margins of its own. A certificate is
about the instance itself, so that multipliers of the inequalities that elimination rests on are added, and each
diagonal is raised by what the factorisation of the checker asks for. It is checked before it is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import NotConvergedError
from dpgraph.sos import check
from dpgraph.typing import FloatArray, IntArray

_ATTEMPTS, _STEP = 24, 4.0  # to raise a diagonal, and by how much more each time

#: Signed vertices from 1 on, with (s'x)^2 >= 1 or 0, or coefficients of pairs that are even at each vertex.
Inequality = dict[str, list[Any]]


class Proof(Protocol):
    """What shows a bound."""

    def write(self, data: dict[str, Any], exponent: int) -> None:
        """Write it to the file of an instance, for a solver that had units of ``2**exponent``."""


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

    def write(self, data: dict[str, Any], exponent: int) -> None:
        """The tree in the order of the file. Of a 2-CSP, vertex 0 has the first label."""
        first = int(data["problem"] == "max-2-csp")
        everything = np.arange(data["n"] + first) - first
        kept = everything if self.kept is None else self.kept - first
        written: dict[str, int] = {}

        def parts(terms: list[tuple[Inequality, float]], names: IntArray) -> list[list[Any]]:
            rows = [(json.dumps(_terms(given, names)), math.ldexp(t, exponent)) for given, t in terms]
            return [[written.setdefault(part, len(written)), t] for part, t in rows]

        points: dict[int, tuple[FloatArray, float]] = {}
        base, nodes = parts(_of_elimination(self.eliminated), everything), data["proof"]
        stack = [(self.root, bool(first) and check.interchangeable(check.opened(json.dumps(data))[1], 2))]
        while stack:
            part, alike = stack.pop()
            own, node = part.needed()[1], dict[str, Any]()
            if part.listed:
                data["order"] = list(range(data["n"]))
            elif own and part.point is not None:
                node["parts"] = parts(part.point.terms(), kept)
                if part.point.diagonal is not None:
                    points[len(nodes)] = part.point.diagonal, part.point.price
            elif part.pair is not None:
                i, j = sorted(int(kept[v]) for v in part.pair)
                node |= {"pair": [i, j]} if i >= 0 else {"variable": j}
                below = part.parts[:1] if i < 0 and alike else part.parts
                stack += [(one, alike and i >= 0) for one in reversed(below)]
            nodes.append(node)
        nodes[0]["parts"] = base + nodes[0].get("parts", [])
        data["parts"] = [json.loads(part) for part in written]

        def places(at: check.Leaf) -> IntArray:
            core = sorted({at.group[v][0] for v in kept.tolist() if v >= 0 and at.group[v][0] >= 0})
            return np.array([0] * (-1 in kept) + [1 + at.names.index(name) for name in core])

        def blocks(at: check.Leaf) -> FloatArray:
            diagonal = np.zeros(1 + len(at.names))
            diagonal[places(at)] = np.ldexp(points[at.number][0], exponent)
            return diagonal

        def lift(at: check.Leaf, beside: sparse.csr_array, _: float) -> FloatArray:
            outside = np.ones(beside.shape[0])  # what was eliminated: what rounding has left of it is made dominant
            outside[places(at)] = 0.0
            size = abs(beside)
            return np.asarray(1.0000001 * (size @ outside + outside * (size @ np.ones(len(outside)))))

        prices = {number: float(np.ldexp(price, exponent)) for number, (_, price) in points.items()}
        add_diagonals(data, prices, blocks, lift)


def add_diagonals(
    data: dict[str, Any],
    prices: dict[int, float],
    blocks: Callable[[check.Leaf], FloatArray],
    lift: Callable[[check.Leaf, sparse.csr_array, float], FloatArray],
) -> None:
    """Give the leaves that have prices diagonals: blocks, and a lift, raised until the checker is satisfied.

    A lift is told what stands beside the diagonal of S, with the blocks on it, and the bound that there is without it.
    """
    listed, f, whole = check.opened(json.dumps(data))
    d = data["labels"] - 1
    for at in check.leaves(listed, f, whole) if prices else ():
        if at.number not in prices:
            continue
        price, diagonal = prices[at.number], blocks(at)
        value, twice = check.squared(at.tables, at.names, d + 1, diagonal.tolist(), whole)
        own = np.append(0, (1 + d * d * np.arange(len(at.names))[:, None] + (d + 1) * np.arange(d)).ravel())
        diagonal[own] += lift(at, 0.5 * twice, float(Fraction(at.total + value, whole(1))))
        live = (np.diff(twice.indptr) > 0) | (bool(price) & (np.arange(len(own)) > 0))
        step = 3.0 * 2.0**-53 * (len(live) + 20) * float(np.abs(diagonal[own] + price).sum())
        for _ in range(_ATTEMPTS):
            raised = diagonal.copy()
            raised[own] += step * live
            lifted = twice + sparse.diags_array(2.0 * raised[own] - twice.diagonal())
            if np.isfinite(lifted.data).all() and check.semidefinite(lifted, 2.0 * price):
                break
            step *= _STEP
        else:
            raise NotConvergedError("the bound cannot be shown to the checker: rounding errors are too large for it")
        data["proof"][at.number] |= {"diagonal": raised.tolist(), "price": price}


@dataclass(frozen=True, eq=False)
class EliminationProof:
    """The order in which the variables of a 2-CSP are eliminated."""

    order: list[int]

    def write(self, data: dict[str, Any], exponent: int) -> None:  # noqa: ARG002 (as the other proofs)
        """One leaf."""
        data.update(order=self.order, proof=[{}])


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
        data: dict[str, Any] = {"version": 2, **self.instance(), **self.solved}
        data |= {"instance": check.fingerprint(data), "parts": [], "order": [], "widest": 99, "proof": []}
        self.proof.write(data, self.exponent)
        proven = check.verify(json.dumps({**data, "bound": np.finfo(np.float64).max}))[1]
        bound = float(proven)
        above = bound if Fraction(bound) >= proven else math.nextafter(bound, math.inf)
        data["bound"] = max(data["bound"], above)
        check.verify(json.dumps(data))  # as it is written: a claim makes the unit finer
        return data

    @property
    def bound(self) -> float:
        """What it proves."""
        return float(self.data["bound"])

    def save(self, path: str | Path) -> None:
        """Check the certificate, and write it as JSON."""
        write_atomically(path, json.dumps(self.data))


def _terms(given: Inequality, names: IntArray) -> list[list[Any]]:
    """The terms of an inequality, in the names of its vertices; the vertex -1 has the first label."""
    if "clique" in given:
        signed = given["clique"]
        pairs = [(abs(u) - 1, abs(v) - 1, 1 if (u > 0) == (v > 0) else -1) for u, v in combinations(signed, 2)]
    else:
        pairs = [(i, j, int(a)) for i, j, a in given["even"]]
    ends = [(*sorted((int(names[i]), int(names[j]))), a) for i, j, a in pairs]
    return [[i, j, a] if i >= 0 else [j, [0, a]] for i, j, a in ends]


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
