"""Dual certificates for the degree-2 relaxation of a 2-CSP: true upper bounds, whatever the primal solver did.

With the last label of each variable eliminated, assignments are vectors y = (1, x_ia) with a block
[[1, x_i'], [x_i, diag(x_i)]] for each variable, and the value is ``constant + y'Cy``. For every t, every S >= 0 on the
constraints and every choice of symmetric blocks B_i (their row 0 set to -diag/2, so that they vanish on assignments),

    Z = t e_0 e_0' + sum_i B_i - C(tables + S) positive semidefinite   implies   value <= constant + t,

because S only adds to the value. A shift Z + s W, W diagonal, adds at most s (w_0 + sum_i max_a w_ia) to the bound.
t, B and S are read off the primal vectors; s is lowered from a Lanczos guess until the shifted Z is *proven*
semidefinite, as in :mod:`dpgraph.sos.cut.certificate`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg, sparse

from dpgraph.linalg.lanczos import lower_bound
from dpgraph.sos import check
from dpgraph.sos.csp.messages import pass_messages
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.orders import elimination_order
from dpgraph.sos.cut.base import rounding_slack
from dpgraph.sos.cut.certificate import FAILURE_PROBABILITY, LONG_RUN, Certificate, scaled_run
from dpgraph.sos.definiteness import sparse_semidefinite
from dpgraph.sos.proofs import add_diagonals
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray, IntArray

_SHORT_RUN = 120
_ATTEMPTS = 40
_REGULARISATION = 1e-6
_FREE = 0.5  # share of the diagonal that an undetermined entry gets: measured
_ENTRIES = 2**12  # of the tables of a leaf of a tree
_NODES = 2**18  # of a tree, times variables: a minute of the checker at most


@dataclass(frozen=True, eq=False)
class MessageProof:
    """What messages move from tables to labels, and a tree of the labels of variables where that is not enough."""

    objective: CSPObjective

    def write(self, data: dict[str, Any], exponent: int) -> None:
        """The tree, or without it where it would be too large: then the bound is larger."""
        n, q = self.objective.unary.shape
        shares = np.ldexp(pass_messages(self.objective)[0], exponent)
        for (u, v), f, g in zip(self.objective.pairs.tolist(), *shares, strict=True):
            data["parts"].append([[u, v, (f[:, None] + g).tolist()], [u, (-f).tolist()], [v, (-g).tolist()]])
        moved = {"parts": [[k, 1] for k in range(len(data["parts"]))]}
        order, _ = elimination_order(n, q, self.objective.pairs, n)
        widest = max(int(math.log(_ENTRIES, q) + 1e-9), 3)
        data.update(order=order + sorted({*range(n)} - {*order}), widest=widest, proof=[moved])
        data["proof"] = self._divided(data) or [moved]

    def _divided(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        """A tree that divides variables of many neighbours, and those that led to many ends; none if too large."""
        n, q = self.objective.unary.shape
        listed, f, whole = check.opened(json.dumps(data))
        first, step = check.grid(f, n, q)
        beat = first + (whole(data["bound"]) - first) // step * step + step
        alike, ends, nodes = check.interchangeable(f, q), np.zeros(n), list[dict[str, Any]]()
        root = next(check.leaves(listed, f, whole))
        stack: list[tuple[check.Tables, int, int]] = [(root.tables, 0, -1)]  # with labels used, and what was divided
        while stack:
            tables, used, parent = stack.pop()
            if len(nodes) * n > _NODES:
                return []
            if check.largest(tables, data["order"], data["widest"]) + root.total < beat:
                nodes.append({})
                ends[parent] += 1
                continue
            degrees = np.bincount([v for scope in tables if len(scope) == 2 for v in scope], minlength=n)
            i = int(np.argmax((1.0 + ends) * degrees))
            if degrees[i] == 0:
                return []
            nodes.append({"variable": i})
            for a in reversed(range(min(q, used + 1) if alike else q)):
                stack.append((check.merged(tables, {i: (-1 - a, 1)}), max(used, a + 1), i))
        return [data["proof"][0] | nodes[0], *nodes[1:]]


@dataclass(frozen=True, eq=False)
class RelaxationProof:
    """The multipliers of a relaxation: of pairs of labels, in parts, and of the labels of a variable, in blocks."""

    objective: CSPObjective
    line: _ShiftedDual
    shift: float

    def write(self, data: dict[str, Any], exponent: int) -> None:
        """One leaf."""
        pairs, gains = self.objective.pairs.tolist(), np.ldexp(-self.line.gains, exponent)
        data["parts"] = [[[u, v, gain.tolist()]] for (u, v), gain in zip(pairs, gains, strict=True) if gain.any()]
        moved = np.repeat(np.ldexp(-self.shift * self._weights(), exponent), self.objective.alphabet_size, axis=1)
        moved[np.arange(len(moved)), self.line.order[:, -1]] = 0.0  # the label that the line has left out
        data["parts"] += [[[i, table.tolist()]] for i, table in enumerate(moved)]
        data["proof"] = [{"parts": [[k, 1] for k in range(len(data["parts"]))]}]
        add_diagonals(data, {0: 0.0}, partial(self._blocks, exponent), partial(self._lift, exponent))

    def _weights(self) -> FloatArray:
        """Of the variables, (n, 1)."""
        return self.line.weights[1:, None]

    def _blocks(self, exponent: int, _: check.Leaf) -> FloatArray:
        """The blocks in the signs of labels: those of the line are in its own order."""
        d = self.objective.alphabet_size - 1
        labels = np.vstack([np.eye(d), -np.ones(d)])[self.line.order[:, :d]]
        shifted = self.line.blocks - self.shift * self._weights()[:, :, None] * np.eye(d)
        blocks = np.ldexp(0.25 * labels.transpose(0, 2, 1) @ shifted @ labels, exponent)
        return np.append(0.0, 0.5 * (blocks + blocks.transpose(0, 2, 1)))

    def _lift(self, exponent: int, _: check.Leaf, beside: sparse.csr_array, bound: float) -> FloatArray:
        """What is missing to the bound of the line."""
        missing = math.ldexp(self.line.base - self.shift * self.line.price, exponent) - bound
        return np.append(missing, np.zeros(beside.shape[0] - 1))


def proof_of(objective: CSPObjective, certificate: Certificate) -> MessageProof | RelaxationProof:
    """What shows the bound of a relaxation to others, or if nothing does, a weaker one."""
    if isinstance(certificate, CSPCertificate):
        return RelaxationProof(objective, certificate.line, certificate.shift)
    return MessageProof(objective)


@dataclass(frozen=True)
class CSPCertificate(Certificate):
    """With the multipliers that show it."""

    line: _ShiftedDual = field(kw_only=True, repr=False)
    shift: float = field(kw_only=True, repr=False)


def certify_csp(objective: CSPObjective, V: FloatArray, S: FloatArray, rng: np.random.Generator) -> Certificate:
    """Certified upper bound from any label vectors V (n, q, k) and multipliers S >= 0 (m, q, q) of pair moments."""
    trivial = Certificate(objective.trivial_bound, "trivial")
    if time_is_up() or not np.any(objective.tables**2):
        return trivial  # attained, up to numbers whose squares vanish
    line, guess = _ShiftedDual.best(objective, V, S, rng)
    step = max(0.02 * abs(guess), 1e-9)
    for _ in range(_ATTEMPTS):
        if time_is_up():
            break
        guess -= step
        step *= 2.0
        found = line.prove(guess, rng)
        if found is not None:
            return found if found.bound < trivial.bound else trivial
        if line.bound(guess) > trivial.bound:
            break
    return trivial


def estimate_bound(objective: CSPObjective, V: FloatArray, S: FloatArray, rng: np.random.Generator) -> float:
    """About what :func:`certify_csp` will prove, at the cost of Lanczos runs: no bound, to decide when to stop."""
    if not np.any(objective.tables**2):
        return objective.trivial_bound
    line, guess = _ShiftedDual.best(objective, V, S, rng)
    return line.bound(guess)


@dataclass(frozen=True, eq=False)
class _ShiftedDual:
    """The matrices Z - s W of one dual point, of N = 1 + n (q - 1) rows, by the two parts of Z.

    `base` is the bound without a shift, and each unit of the shift adds the sum of the weights. `margin` bounds the
    rounding errors of the base, of the entries of Z and of the objective, in units of the value.
    """

    off_diagonal: sparse.csr_array
    diagonal: FloatArray
    weights: FloatArray  #: of the first row and of each variable
    base: float
    margin: float
    gains: FloatArray  #: (m, q, q) multipliers of pairs of labels
    blocks: FloatArray  #: (n, d, d) those of labels of one variable
    order: IntArray  #: (n, q) the labels in the order that Z has them in

    @classmethod
    def through(cls, objective: CSPObjective, V: FloatArray, S: FloatArray) -> _ShiftedDual:
        d = objective.alphabet_size - 1
        tables = objective.tables + np.maximum(S, 0.0)
        G = _label_gradients(objective, tables, V)
        # <V, G> counts every pair twice and every single label once.
        value = 0.5 * (float(np.sum(V * G)) + float(np.sum(objective.unary * V[:, :, 0]))) + objective.constant
        tables, unary, V, G, order = _likely_label_last(objective, tables, V, G)
        B = _blocks(V, 0.5 * (G[:, :d] - G[:, d:]))
        own = B[:, np.arange(d), np.arange(d)]
        linear, constant = _linear_part(objective, tables, unary)
        t = value - constant
        blocks = np.where(np.eye(d, dtype=bool), 0.0, B)
        Z = _arrow(objective.pairs, tables, -0.5 * (own + linear), blocks)
        floor = max(0.05 * float(np.abs(own).mean()), 1e-6 * float(np.abs(tables).mean()))
        weight = np.maximum(own.mean(axis=1), floor)
        weight = np.append(0.1 * float(weight.sum()), weight)
        degree = int(np.diff(objective.constraints.indptr).max(initial=0))
        magnitude = abs(constant) + float(np.abs(tables).sum() + np.abs(objective.unary).sum() + np.abs(B).sum())
        return cls(
            off_diagonal=Z,
            diagonal=np.concatenate([[t], own.ravel()]),
            weights=weight,
            base=constant + t,
            # Coefficients of single labels are sums over the constraints of a variable, rounded as often.
            margin=rounding_slack(6 * (d + 2) ** 2 + degree, magnitude + abs(t)) + objective.slack,
            gains=np.maximum(S, 0.0),
            blocks=B,
            order=order,
        )

    @classmethod
    def best(
        cls, objective: CSPObjective, V: FloatArray, S: FloatArray, rng: np.random.Generator
    ) -> tuple[_ShiftedDual, float]:
        """The line of those of two weights that promise the better bound, and the shift that they promise."""
        line = cls.through(objective, V, S)
        shift, weights = line.guess(rng)
        other = replace(line, weights=weights)
        lower, _ = other.guess(rng)
        return (other, lower) if other.bound(lower) < line.bound(shift) else (line, shift)

    @property
    def price(self) -> float:
        return math.fsum(self.weights)

    def bound(self, shift: float) -> float:
        return self.base - shift * self.price + self.margin

    def prove(self, shift: float, rng: np.random.Generator) -> Certificate | None:
        """The certificate at `shift`, or None if Z - shift W could not be shown to be semidefinite."""
        proven = sparse_semidefinite(4.0 * self.off_diagonal, self.diagonal - shift * self._of_rows())
        if proven is None:
            run = scaled_run(self.off_diagonal.__matmul__, self.diagonal, self._of_rows(), rng)
            known = lower_bound(run, shift, steps=LONG_RUN, failure=FAILURE_PROBABILITY)
            return Certificate(self.bound(known), "lanczos")
        return CSPCertificate(self.bound(shift), "proven", line=self, shift=shift) if proven else None

    def guess(self, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """The smallest eigenvalue of W^{-1/2} Z W^{-1/2} by a Lanczos run, and weights that suit Z better.

        Half of these is where the negative Ritz vectors are: a few labels that Z is too small for cost the others less.
        """
        weights, basis = self._of_rows(), list[FloatArray]()

        def rest(z: FloatArray) -> FloatArray:
            basis.append(z)
            return np.asarray(self.off_diagonal @ z)

        run = scaled_run(rest, self.diagonal, weights, rng).run(_SHORT_RUN)
        tridiagonal = np.array(run.alpha), np.array(run.beta[:-1])
        ritz, vectors = linalg.eigh_tridiagonal(*tridiagonal, lapack_driver="stev")  # "stevd" fails now and then
        low = ritz <= max(ritz[0], 0.0)
        where = weights * ((np.array(basis).T @ vectors[:, low]) ** 2 @ np.abs(ritz[low]))
        mass = np.append(where[0], where[1:].reshape(len(self.weights) - 1, -1).sum(axis=1))
        return float(ritz[0]), 0.5 * self.weights + (0.5 * self.price / max(float(mass.sum()), 1e-300)) * mass

    def _of_rows(self) -> FloatArray:
        return np.append(self.weights[0], np.repeat(self.weights[1:], self.blocks.shape[1]))


def _label_gradients(objective: CSPObjective, tables: FloatArray, V: FloatArray) -> FloatArray:
    """G[i, a] = unary[i, a] v_0 + sum of T[(i,a), (j,b)] V[j, b], shape (n, q, k)."""
    n, q, k = V.shape
    u, v = objective.pairs.T
    rows, columns = np.broadcast_arrays(
        (q * u[:, None] + np.arange(q))[:, :, None], (q * v[:, None] + np.arange(q))[:, None]
    )
    T = sparse.coo_array((tables.ravel(), (rows.ravel(), columns.ravel())), shape=(n * q, n * q)).tocsr()
    flat = V.reshape(n * q, k)
    G = np.asarray(T @ flat + T.T @ flat).reshape(n, q, k)
    G[:, :, 0] += objective.unary
    return G


def _likely_label_last(
    objective: CSPObjective, tables: FloatArray, V: FloatArray, G: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Tables, single values, vectors and gradients with the likeliest label of each variable last, and that order.

    It is eliminated. If that were one of probability 0, as in a nearly integral solution, the multipliers of the other
    such labels would be undetermined.
    """
    n, q = objective.unary.shape
    rows = np.arange(n)
    order = np.tile(np.arange(q), (n, 1))
    likely = V[:, :, 0].argmax(axis=1)
    order[rows, likely], order[:, q - 1] = q - 1, likely
    u, v = objective.pairs.T
    moved = tables[np.arange(len(u))[:, None, None], order[u][:, :, None], order[v][:, None, :]]
    unary = np.take_along_axis(objective.unary, order, axis=1)
    return moved, unary, V[rows[:, None], order], G[rows[:, None], order], order


def _blocks(V: FloatArray, g: FloatArray) -> FloatArray:
    """Least-squares multipliers of the label constraints, shape (n, q - 1, q - 1).

    Stationarity asks B_i[a, 0] v_0 + sum_b B_i[a, b] v_ib = g_ia for all a < q, with B_i[a, 0] = -B_i[a, a]/2 and
    v_0 the sum of all v_ic. The v_ic are orthogonal, so the equations are inner products with them; p_iq is the largest
    probability. Entries that only concern two labels of probability 0 are free and get their usual size.
    """
    d = g.shape[1]
    p = np.maximum(V[:, :, 0], 0.0)
    inner = np.einsum("iak,ick->iac", g, V)  # <g_ia, v_ic>
    along = inner[:, np.arange(d), np.arange(d)]
    own = 2.0 * (along - inner[:, :, d]) / np.maximum(p[:, :d] + p[:, d:], 1e-3)  # p_iq >= 1/q if V is feasible
    half = inner[:, :, :d] + 0.5 * own[:, :, None] * p[:, None, :d]
    usual = _FREE * np.minimum(own[:, :, None], own[:, None, :])
    B = half + half.transpose(0, 2, 1) + _REGULARISATION * usual
    B /= p[:, :d, None] + p[:, None, :d] + _REGULARISATION
    B[:, np.arange(d), np.arange(d)] = own
    return np.asarray(B)


def _linear_part(objective: CSPObjective, tables: FloatArray, unary: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients of x_ia, shape (n, q - 1), and the constant once the last labels are eliminated."""
    d = objective.alphabet_size - 1
    u, v = objective.pairs.T
    linear = unary[:, :d] - unary[:, d:]
    np.add.at(linear, u, tables[:, :d, d] - tables[:, d:, d])
    np.add.at(linear, v, tables[:, d, :d] - tables[:, d, d:])
    return linear, math.fsum([objective.constant, *unary[:, d], *tables[:, d, d]])


def _arrow(pairs: IntArray, tables: FloatArray, row: FloatArray, blocks: FloatArray) -> sparse.csr_array:
    """Off-diagonal part of Z: first row, blocks of the variables, and -C on the constraints."""
    n, d = row.shape
    u, v = pairs.T
    cross = tables[:, :d, :d] - tables[:, d:, :d] - tables[:, :d, d:] + tables[:, d:, d:]
    label = np.arange(d)
    upper_a, upper_b = np.triu_indices(d, 1)
    own = 1 + d * np.arange(n)[:, None]
    rows = np.zeros(n * d, dtype=np.int64), own + upper_a, np.repeat(1 + d * u[:, None] + label, d)
    columns = 1 + np.arange(n * d), own + upper_b, np.tile(1 + d * v[:, None] + label, (1, d))
    data, *ends = (
        np.concatenate([part.ravel() for part in parts])
        for parts in ((row, blocks[:, upper_a, upper_b], -0.5 * cross), rows, columns)
    )
    upper = sparse.coo_array((data, tuple(ends)), shape=(1 + n * d, 1 + n * d)).tocsr()
    Z = (upper + upper.T).tocsr()
    Z.eliminate_zeros()
    Z.sort_indices()
    return Z
