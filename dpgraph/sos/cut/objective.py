"""Quadratic cut objectives behind one interface: sparse, dense, factored, and sparse with a price on imbalance."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from dpgraph.compiled import Rows
from dpgraph.exceptions import InvalidParameterError
from dpgraph.sos import definiteness
from dpgraph.sos.cut import kernels
from dpgraph.sos.cut.annealing import cool
from dpgraph.sos.cut.base import CutObjective, common_divisor, on_binary_grid, rounding_slack
from dpgraph.sos.kernels import on_columns
from dpgraph.sos.reduction import reduce_low_degree
from dpgraph.sos.units import distinct, rounded_once
from dpgraph.threads import Stop, deadline, on_thread, time_is_up, within
from dpgraph.typing import BoolArray, FloatArray, IntArray

_SWEEPS_AT_LEAST, _MOST_DRAWN = 16, 100  # between two times that starts are drawn again, and how often at most
_AT_ONCE = 2**14  # entries that a processor's cache holds
_LARGE, _SHARE_OF_LOW = 2**20, 0.03  # entries, and vertices of low degree, fewer of which are not worth the copies
_SHARE_OF_ELIMINATION = 0.25  # of the time that is left
_JOINED = 2e-7  # seconds for an entry of a large matrix whose vertices are joined
#: Vertices up to which matrix products are as quick as anybody can notice.
_SMALL = 300
#: Vertices up to which numpy anneals about as quickly as loops that take seconds to compile.
UNCOMPILED = 100


class _ListedObjective(CutObjective):
    """Objective of a matrix whose `entries` are listed, each twice; zeros may be left out."""

    side_by_side = True

    def __init__(self, matrix: Any, entries: FloatArray, constant: float) -> None:
        self.matrix = matrix
        self.n_vertices = int(matrix.shape[0])
        self.entries = entries
        self.constant = constant
        self.exact_sums = on_binary_grid(entries)

    def _sum(self, entries: FloatArray) -> float:
        """Correctly rounded sum of some entries."""
        return float(entries.sum()) if self.exact_sums else rounded_once(entries)

    def _find_unit(self) -> None:
        """A cut is worth the sum of the degrees on one side less twice the weights inside."""
        if self.exact_sums:
            self.unit = common_divisor(np.append(2.0 * common_divisor(self._distinct[0]), self._row_sums()))

    @cached_property
    def _distinct(self) -> tuple[FloatArray, int]:
        return distinct(self.entries)

    def _row_sums(self, size: Callable[[Any], Any] = np.positive) -> FloatArray:
        """Sums of the entries of the rows of M, or of their sizes or squares."""
        if not sparse.issparse(self.matrix):
            return np.asarray(size(self.matrix).sum(axis=1))
        indptr, sums = self.matrix.indptr, np.zeros(self.n_vertices)
        if self._distinct[1] > 1 and (size is not np.positive or self.entries.min() == self.entries.max()):
            return np.asarray(np.diff(indptr) * size(self.entries[0]))
        for first, last in self._blocks():
            rows = first + np.flatnonzero(np.diff(indptr[first : last + 1]))
            part = size(self.entries[indptr[first] : indptr[last]])
            sums[rows] = np.add.reduceat(part, indptr[rows] - indptr[first]) if rows.size else 0.0
        return sums

    def _blocks(self) -> list[tuple[int, int]]:
        """First and last of rows whose entries a processor's cache holds, of a sparse matrix."""
        ends = np.arange(_AT_ONCE, self.entries.size, _AT_ONCE)
        cuts = [0, *np.searchsorted(self.matrix.indptr, ends).tolist(), self.n_vertices]
        return list(pairwise(sorted({*cuts})))

    @cached_property
    def rows(self) -> Rows:
        """The matrix as kernels take it; arrays that may not be written to are of another type, and copied."""
        rows = Rows.of(self.matrix if sparse.issparse(self.matrix) else sparse.csr_array(self.matrix))
        return Rows._make(part if part.flags.writeable else part.copy() for part in rows)

    @cached_property
    def small_rows(self) -> tuple[Rows, float]:
        """The same in whole numbers of sixteen bits and their unit, if no flip is worth too much; else as they are."""
        unit = common_divisor(self._distinct[0]) if self.exact_sums else 0.0
        if unit == 0.0 or self.absolute_row_sums.max(initial=0.0) >= kernels.LARGEST_LOSS * unit:
            return self.rows, 1.0
        data = self.rows.data if unit == 1.0 else self.rows.data / unit
        return self.rows._replace(data=data.astype(np.int16)), unit

    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k)."""
        return np.asarray(self.matrix @ block, dtype=np.float64)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> FloatArray:
        """Metropolis sweeps, O(degree) for an accepted flip."""
        return annealed(self, np.ones(self.n_vertices), 0.0, signs, temperatures, tol, seed)

    @cached_property
    def absolute_row_sums(self) -> FloatArray:
        """Sums of the absolute entries of the rows of M."""
        return self._row_sums(np.abs if self.entries.min(initial=0.0) < 0.0 else np.positive)

    def dense(self) -> DenseObjective:
        """The same objective with its matrix as an array."""
        matrix = self.matrix.toarray() if sparse.issparse(self.matrix) else self.matrix
        same = DenseObjective(matrix, self.constant)
        same.unit, same.slack = self.unit, self.slack
        return same

    def flip_cost(self) -> float:
        """One trial; one in ten is taken to be accepted."""
        return 1.0 + 0.1 * self.entries.size / self.n_vertices

    def least_weight(self) -> float:
        """Least absolute entry of M above its rounding errors."""
        sizes = np.abs(self.entries)
        return float(np.min(sizes[sizes > self.slack], initial=math.inf))

    def _contraction_slack(self, group: IntArray) -> float:
        """By how much P'MP and its constant can miss the values of M.

        With g vertices in the largest group, an entry of P'(MP) is a sum of entries of M (times signs, which is
        exact), each rounded at most 2 (g - 1) times. Their errors reach a value x'Mx/4 with a quarter of their sum.
        The constant is rounded when it is made, in the sum of the diagonal, and in the difference. Hence at most
        ``2 g u (sum |M| + |constant|)`` for g >= 2; :func:`rounding_slack` makes that 64 u for a pair. Nothing is
        rounded where nothing is merged, or where all sums are exact.
        """
        g = int(np.bincount(group).max())
        if g == 1 or (self.exact_sums and on_binary_grid(np.array([self.constant]))):
            return 0.0
        return rounding_slack(2 * g, self.total_size + abs(self.constant))


def _ascend(
    objective: CutObjective, base: SparseObjective, u: FloatArray, price: float, V: FloatArray, sweeps: int, tol: float
) -> tuple[int, float]:
    """Coordinate ascent on M + price (u u' - diag(u^2)), M that of `base`; a small objective's is not compiled."""
    if V.shape[0] <= _SMALL:
        return CutObjective.ascend(objective, V, sweeps, tol)
    sweeps, gain = on_thread(kernels.ascend_sparse, base.rows, u, price, V, sweeps, tol)
    return sweeps, gain


def annealed(
    base: CutObjective, u: FloatArray, price: FloatArray | float, signs: FloatArray, temperatures: FloatArray,
    tol: float, seed: int,
) -> FloatArray:  # fmt: skip
    """Copies of the cuts (n,) or (n, c), annealed on M + price (u u' - diag(u^2)), M that of `base`.

    From time to time they are drawn again, by the weights that the change of temperature gives to their values: a
    population that is annealed together (Hukushima, Iba 2003) is worth more than its best one annealed alone.
    """
    prices, rng = np.zeros(temperatures.size) + price, np.random.default_rng(seed)
    x = np.array(signs.reshape(len(signs), -1), dtype=np.float64, order="C")
    if isinstance(base, SparseObjective) and base.n_vertices > UNCOMPILED:
        rows, unit = (base.rows, 1.0) if prices.any() else base.small_rows
        kind = rows.data.dtype
        x, u, prices = x.astype(kind), u.astype(kind), prices.astype(kind)

        def anneal(part: slice) -> None:
            number = np.uint64(seed + part.start)
            on_thread(kernels.anneal_rows, rows, u, x, temperatures[part] / unit, prices[part], tol / unit, number)
    else:
        M = base.as_array()  # of vertices of size 1: whoever has others has them in its matrix

        def anneal(part: slice) -> None:
            cool(M, x, temperatures[part], prices[part], tol, rng)

    hot, count, since = int(np.count_nonzero(temperatures)), x.shape[1], 0
    steps = max(_SWEEPS_AT_LEAST, -(-hot // _MOST_DRAWN))
    for end in (*(range(steps, hot, steps) if count > 1 else ()), temperatures.size):
        if since and time_is_up():
            break
        if since:
            change = 1.0 / temperatures[since] - 1.0 / temperatures[since - steps]
            values = -0.25 * (np.sum(x * base.multiply(x), axis=0) + prices[since] * (u @ x) ** 2)
            shares = np.cumsum(np.exp(change * (values - values.max())))
            drawn = np.searchsorted(shares, (np.arange(count) + rng.random()) * (shares[-1] / count))
            x[:] = x[:, np.minimum(drawn, count - 1)]
        anneal(slice(since, end))
        since = end
    return x.reshape(signs.shape).astype(np.float64)


def sides_joined(n: int, u: IntArray, v: IntArray, across: BoolArray) -> IntArray:
    """Connected parts of two copies of n vertices, one for each side, once those of u and v are joined, (2n,).

    The same copies are joined, or, if v is to be `across` from u, the opposite ones.
    """
    pairs = np.concatenate([u, u + n]), np.concatenate([v + n * across, v + n - n * across])
    joined = sparse.coo_array((np.ones(pairs[0].size), pairs), shape=(2 * n, 2 * n))
    return np.asarray(sparse.csgraph.connected_components(joined, directed=False)[1].astype(np.int64))


class SparseObjective(_ListedObjective):
    """Objective of an exactly symmetric sparse matrix with zero diagonal, as :attr:`dpgraph.graph.Graph.adjacency`.

    A cut has the value ``constant - x'Mx/4``, with the constant 1'M1/4 by default.
    """

    def __init__(self, matrix: sparse.csr_array, constant: float | None = None) -> None:
        M = matrix.tocsr().astype(np.float64, copy=False)
        self._counts_crossing, self._last = constant is None, (np.empty(0), 0.0)
        super().__init__(M, M.data, 0.0 if constant is None else constant)
        if constant is None:
            self.constant = 0.25 * self._sum(M.data)
            self._find_unit()

    def cut_value(self, signs: FloatArray) -> float:
        """Correctly rounded: ``constant - x'Mx/4`` would cancel where weights are of mixed scales.

        The best cut is asked for again and again, so that the value of the last one is kept.
        """
        if not (np.array_equal(signs, self._last[0]) or np.array_equal(-signs, self._last[0])):
            exact = self._counts_crossing and self.exact_sums
            smaller = np.sign(-signs.sum()) or 1.0  # most rows of the other side need not be looked at
            self._last = signs.copy(), float(self.values(signs)) if exact else self._rounded_value(signs == smaller)
        return self._last[1]

    def _rounded_value(self, side: BoolArray) -> float:
        M = self.matrix

        def parts() -> Iterator[FloatArray]:
            crossing = self._counts_crossing
            for first, last in self._blocks():
                if crossing and not side[first:last].any():
                    continue
                own = slice(M.indptr[first], M.indptr[last])
                mine, other = np.repeat(side[first:last], np.diff(M.indptr[first : last + 1])), side[M.indices[own]]
                yield M.data[own][mine & ~other] if crossing else M.data[own] * np.where(mine == other, -0.25, 0.25)
            if not self._counts_crossing:
                yield np.array([self.constant])

        return rounded_once(parts())

    @cached_property
    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M."""
        return np.sqrt(self._row_sums(np.square))

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent, O(nnz k) for a sweep."""
        return _ascend(self, self, np.ones(self.n_vertices), 0.0, vectors, sweeps, tol)

    def connected_groups(self, pattern: IntArray) -> IntArray:
        """Connected parts of the vertices with equal `pattern`."""
        M = self.matrix
        same = np.repeat(pattern, np.diff(M.indptr)) == pattern[M.indices]
        ends = np.append(0, np.cumsum(same))[M.indptr]
        inside = sparse.csr_array((np.ones(int(ends[-1])), M.indices[same], ends), shape=M.shape)
        found = sparse.csgraph.connected_components(inside, connection="strong")[1]  # as weak ones, without a transpose
        return np.asarray(found.astype(np.int64))

    def contract(self, group: IntArray, signs: FloatArray) -> SparseObjective:
        """Objective on groups of vertices, as a sparse matrix."""
        rows = np.arange(self.n_vertices)
        P = sparse.csr_array((signs, (rows, group)), shape=(self.n_vertices, int(group.max()) + 1))
        inner = (P.T @ self.matrix.T @ P).tocsr()  # symmetric: its transpose lists columns, as P.T does
        upper = sparse.triu(inner, k=1)  # the triangles may differ by rounding errors
        symmetric = (upper + upper.T).tocsr()
        symmetric.eliminate_zeros()
        merged = SparseObjective(symmetric, self.constant - 0.25 * math.fsum(inner.diagonal()))
        merged.slack, merged.unit = self.slack + self._contraction_slack(group), self.unit
        return merged

    def reduced(self, most: int = 3) -> tuple[CutObjective, IntArray, Callable[[FloatArray], FloatArray]]:
        """The objective without vertices of degree at most `most` <= 3, unless these are few of a large graph.

        The sum of the absolute weights does not grow, so no rounding of an entry is worth more than its share u.
        """
        low, large = int(np.count_nonzero(np.diff(self.matrix.indptr) <= most)), self.matrix.nnz > _LARGE
        if self.n_vertices <= 1 or not low or (large and low < _SHARE_OF_LOW * self.n_vertices) or time_is_up():
            return super().reduced(most)
        with within(_SHARE_OF_ELIMINATION * (deadline() - time.monotonic())):
            matrix, kept, lift, roundings = reduce_low_degree(self.matrix, most)
        if kept.size == self.n_vertices:
            return super().reduced(most)
        value = self.cut_value(lift(np.ones(kept.size)))  # all of what is kept is on one side
        core = SparseObjective(matrix, 0.25 * rounded_once(matrix.data) + value)
        core.unit = self.unit
        exact = self.exact_sums and on_binary_grid(np.array([self.constant]))
        magnitude = self.total_size + abs(self.constant)
        core.slack = self.slack + (0.0 if exact else rounding_slack(roundings + 2, magnitude))
        return core, kept, lift

    def unfrustrated(self) -> FloatArray | None:
        """If every edge's wish leaves the two copies of each vertex apart (Harary 1953), and there is time to find out.

        In most dense graphs the triangles at one vertex say that it does not.
        """
        M, n = self.matrix, self.n_vertices
        if not self.entries.size:
            return np.ones(n)
        sides, hub = np.zeros(n), int(np.diff(M.indptr).argmax())
        row = slice(M.indptr[hub], M.indptr[hub + 1])
        sides[M.indices[row]], sides[hub] = -np.sign(M.data[row]), 1.0
        for first, last in self._blocks():
            own = slice(M.indptr[first], M.indptr[last])
            mine = np.repeat(sides[first:last], np.diff(M.indptr[first : last + 1]))
            if np.any(mine * sides[M.indices[own]] * M.data[own] > 0.0):
                return None
        if time.monotonic() + _JOINED * self.entries.size > deadline():
            return None
        u, v = M.tocoo().coords
        part = sides_joined(n, u, v, M.data > 0.0)
        one, other = part[:n], part[n:]
        return None if np.any(one == other) else np.where(one < other, 1.0, -1.0)

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by sparse elimination and a Cholesky factorisation of what remains."""
        return definiteness.sparse_semidefinite(self.matrix, diagonal)


def _signed_sums(matrix: FloatArray, group: IntArray, signs: FloatArray) -> FloatArray:
    """Sums of the rows of each group, with their signs."""
    shape = int(group.max()) + 1, group.size
    return np.asarray(sparse.csr_array((signs, (group, np.arange(group.size))), shape=shape) @ matrix)


class DenseObjective(_ListedObjective):
    """Objective of a dense symmetric matrix, whose diagonal is ignored; constants as of :class:`SparseObjective`."""

    def __init__(self, matrix: FloatArray, constant: float | None = None) -> None:
        M = np.array(matrix, dtype=np.float64, order="C")
        np.fill_diagonal(M, 0.0)
        super().__init__(M, M, 0.25 * math.fsum(M.sum(axis=1)) if constant is None else constant)
        if constant is None:
            self._find_unit()
        if constant is None and not self.exact_sums:  # the rows are summed in blocks of 128 terms, then pairwise
            self.slack = rounding_slack(4, float(np.abs(M).sum()))

    @cached_property
    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M."""
        return np.asarray(np.linalg.norm(self.matrix, axis=1))

    def as_array(self) -> FloatArray:
        """M itself."""
        return np.asarray(self.matrix)

    def contract(self, group: IntArray, signs: FloatArray) -> DenseObjective:
        """Objective on groups of vertices, as a dense matrix."""
        inner = _signed_sums(_signed_sums(self.matrix, group, signs).T, group, signs)
        merged = DenseObjective(inner, self.constant - 0.25 * math.fsum(inner.diagonal()))
        merged.slack, merged.unit = self.slack + self._contraction_slack(group), self.unit
        return merged

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by a Cholesky factorisation."""
        return definiteness.dense_semidefinite(self.matrix, diagonal)


class FactoredObjective(CutObjective):
    """Objective of M = U B U' with its diagonal set to zero; no n x n array is ever formed.

    The factor U has shape (n, r), the core B is symmetric; constants are as of :class:`SparseObjective`.
    """

    def __init__(self, factor: FloatArray, core: FloatArray, constant: float | None = None) -> None:
        self.factor = np.ascontiguousarray(factor, dtype=np.float64)
        self.core = np.asarray(core, dtype=np.float64)
        self.core = 0.5 * (self.core + self.core.T)
        if self.factor.ndim != 2 or self.core.shape != (self.factor.shape[1],) * 2:
            raise InvalidParameterError(
                f"expected a factor (n, r) and a core (r, r); got {self.factor.shape} and {self.core.shape}"
            )
        self.n_vertices = int(self.factor.shape[0])
        self.scaled_factor = self.factor @ self.core  # U B
        self.diagonal = np.sum(self.scaled_factor * self.factor, axis=1)  # of U B U', to be taken off
        if constant is None:
            total = self.factor.sum(axis=0)
            constant = 0.25 * (float(total @ self.core @ total) - math.fsum(self.diagonal))
        self.constant = constant

    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k), in O(n r k)."""
        product = self.scaled_factor @ (self.factor.T @ block)
        return np.asarray(product - (self.diagonal * block.T).T)

    @cached_property
    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M, in O(n r^2)."""
        gram = self.factor.T @ self.factor
        squares = np.sum((self.scaled_factor @ gram) * self.scaled_factor, axis=1) - self.diagonal**2
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent that maintains U'V, O(n r k) for a sweep."""
        if self.n_vertices <= _SMALL:
            return super().ascend(vectors, sweeps, tol)
        U, UB, h = self.factor, self.scaled_factor, self.diagonal
        sweeps, gain = on_thread(kernels.ascend_factored, U, UB, h, vectors, sweeps, tol)
        return sweeps, gain

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> FloatArray:
        """Metropolis sweeps, O(r) for a trial, of one cut on each thread."""
        if self.n_vertices <= UNCOMPILED:
            return annealed(self, np.ones(self.n_vertices), 0.0, signs, temperatures, tol, seed)

        def anneal(x: FloatArray, number: int, stop: Stop) -> None:
            U, UB, h = self.factor, self.scaled_factor, self.diagonal
            kernels.anneal_factored(U, UB, h, x, temperatures, tol, np.uint64(seed + number), stop)

        return on_columns(anneal, signs, range(signs[0].size))

    def flip_cost(self) -> float:
        """One inner product."""
        return float(1.0 + self.factor.shape[1])

    def ranks(self) -> tuple[int, int]:
        """More than r: V lies in the kernel of Diag(y) + U B U', of r dimensions at most if y > 0 in a critical point.

        A rank-deficient second-order critical point is a global optimum (Burer, Monteiro 2005).
        """
        enough = min(super().ranks()[0], max(8, 2 * self.factor.shape[1]))
        return enough, enough

    def contract(self, group: IntArray, signs: FloatArray) -> FactoredObjective:
        """Objective on groups of vertices: the rows of U are summed with their signs."""
        factor = np.zeros((int(group.max()) + 1, self.factor.shape[1]))
        np.add.at(factor, group, signs[:, None] * self.factor)
        merged = FactoredObjective(factor, self.core, 0.0)
        merged.constant = self.constant - 0.25 * (math.fsum(merged.diagonal) - math.fsum(self.diagonal))
        # U B U' is rounded by the sums of rows of U; a diagonal is a product of length r, twice, before and after.
        sums = np.abs(self.factor).sum(axis=0)
        magnitude = float(sums @ np.abs(self.core) @ sums) + abs(self.constant)
        merged.slack = self.slack + rounding_slack(2 * int(np.bincount(group).max()) + 4 * sums.size, magnitude)
        return merged

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by the inertia of diagonal + low rank, in O(n r^2)."""
        return definiteness.factored_semidefinite(self.factor, self.core, diagonal - 0.25 * self.diagonal)


class BalancedObjective(CutObjective):
    """Objective of the sparse matrix M + 4 penalty (u u' - diag(u^2)), M that of `base`, penalty >= 0.

    The `sizes` u are signed sums of the vertices merged into each. By default a cut is worth its cut of M less its
    price; another `constant` is added to ``-x'(M + 4 penalty (u u' - diag(u^2)))x/4`` instead. `slack` bounds the
    rounding errors of the constant so far, beyond those of `base`.
    """

    def __init__(
        self, base: SparseObjective, sizes: FloatArray, penalty: float, constant: float | None = None, slack: float = 0
    ) -> None:
        self.base = base
        self.sizes = sizes
        self.penalty = penalty
        self.n_vertices = base.n_vertices
        self.constant = base.constant - penalty * float(sizes @ sizes) if constant is None else constant
        # Sizes are whole numbers, hence exact; the constants, and M + 4 penalty u u' in a proof, are rounded.
        magnitude = abs(self.constant) + abs(base.constant) + 4.0 * penalty * float(np.abs(sizes).sum()) ** 2
        self.slack = base.slack + slack + rounding_slack(4, magnitude + base.total_size)

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product in O(nnz k)."""
        total = (self.sizes @ block) - (self.sizes * block.T).T
        return self.base.multiply(block) + 4.0 * self.penalty * (self.sizes * total.T).T

    @cached_property
    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows."""
        u, c = self.sizes, 4.0 * self.penalty
        cross = 2.0 * c * u * self.base.multiply(u)
        square = self.base.row_norms**2 + cross + c**2 * u**2 * (u @ u - u**2)
        return np.sqrt(np.maximum(square, 0.0))

    @cached_property
    def absolute_row_sums(self) -> FloatArray:
        """An upper bound on the sums of the absolute entries of the rows."""
        u = np.abs(self.sizes)
        return np.asarray(self.base.absolute_row_sums + 4.0 * self.penalty * u * (u.sum() - u))

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent that maintains u'V."""
        return _ascend(self, self.base, self.sizes, 4.0 * self.penalty, vectors, sweeps, tol)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> FloatArray:
        """Metropolis sweeps."""
        if self.n_vertices <= UNCOMPILED:
            return annealed(self, np.ones(self.n_vertices), 0.0, signs, temperatures, tol, seed)
        return annealed(self.base, self.sizes, 4.0 * self.penalty, signs, temperatures, tol, seed)

    def flip_cost(self) -> float:
        """As without the penalty."""
        return self.base.flip_cost()

    def contract(self, group: IntArray, signs: FloatArray) -> BalancedObjective:
        """Objective on groups of vertices; sizes are summed with their signs."""
        sizes = np.bincount(group, weights=signs * self.sizes).astype(np.float64)
        base = self.base.contract(group, signs)
        merged = self.penalty * float(self.sizes @ self.sizes - sizes @ sizes)  # pairs inside groups are fixed
        constant = self.constant + base.constant - self.base.constant + merged
        return BalancedObjective(base, sizes, self.penalty, constant, self.slack - self.base.slack)

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by a dense Cholesky factorisation, or, for large matrices, without the help of the penalty."""
        u = self.sizes
        if self.n_vertices > definiteness.DENSE_LIMIT:  # M + 4 penalty u u', the diagonal included, is at least M
            return self.base.is_semidefinite(diagonal - self.penalty * u**2) or None
        if not definiteness.there_is_time(self.n_vertices):
            return None
        dense = self.base.matrix.toarray() + 4.0 * self.penalty * np.outer(u, u)
        return definiteness.dense_semidefinite(dense, diagonal)


def penalise_imbalance(objective: CutObjective, penalty: float) -> CutObjective:
    """The objective with value ``cut - penalty (sum x)^2``, penalty >= 0 (Frieze, Jerrum 1997; Raghavendra, Tan 2012).

    Its relaxation plus ``penalty k^2`` bounds every cut with |sum x| <= k: the penalty is the multiplier of the
    constraint <11', X> <= k^2. Conditioning, rounding and certificates of max-cut work on it unchanged.
    """
    n = objective.n_vertices
    constant = objective.constant - penalty * n
    magnitude = abs(objective.constant) + penalty * n
    penalised: CutObjective
    if isinstance(objective, SparseObjective):
        return BalancedObjective(objective, np.ones(n), penalty)
    if isinstance(objective, DenseObjective):
        penalised = DenseObjective(objective.matrix + 4.0 * penalty, constant)
        magnitude = float(np.abs(penalised.matrix).sum()) + abs(objective.constant) + penalty * n
    elif isinstance(objective, FactoredObjective):
        core = block_diag(objective.core, 4.0 * penalty)
        penalised = FactoredObjective(np.column_stack([objective.factor, np.ones(n)]), core, constant)
    else:
        raise TypeError(f"cannot penalise the imbalance of a {type(objective).__name__}")
    penalised.slack = objective.slack + rounding_slack(2, magnitude)
    return penalised
