r"""The nearest consistent parities: least squares in the metric of the tables over all constraints at once.

    minimise (1/2) sum_S w_S (theta_S - y_S)^2   subject to   F_b theta in cone b,   G theta + g >= 0,   theta_0 = 1,

with w the weights of the squared error of all k-way tables, so that the projection never increases that error (the true
parities are feasible). Parities of order above k, which a moment matrix brings in, were not released: w = 0.

The solver is the alternating direction method of multipliers. Its theta-step is a division, because all maps but G have
diagonal Gram matrices; G, a few hundred rows, enters by the Woodbury identity. docs/marginals-theory.md compares it
with others under "Solver".

The constraints are linear images of the parities that must lie in a cone. They hold for the parities of every data set:

- *tables*: every table over k attributes is nonnegative (those made from the same parities agree on what they share);
- *moment matrix*: (E m_S m_T) over the monomials m_S of degree at most d/2 is positive semidefinite. With degree d the
  parities are those of a degree-d pseudo-distribution over {-1, 1}^n: the hypercube relations x_i^2 = 1 are built in.
  With more than two values it is the moment matrix of the one-hot columns x_gv modulo the relations x_gv^2 = x_gv,
  x_gv x_gw = 0 and sum_v x_gv = 1: an invertible change of basis, in which "exactly one" is an identity;
- *sparsity*: for 0/1 data x with sum x_i <= t, E x_S (t - sum_i x_i) >= 0 for every conjunction x_S = prod_{i in S} x_i
  of order below k. For 0/1 records the system P_t of CDEMZ24 (variables x, s, y: s the support, y the absolute value)
  has x = s = y = x^2, and its Lemma A.6 needs only these inequalities and nonnegative conjunctions:
  E <A, x^{(k)}> <= max |A| E (sum x_i)^k <= max |A| t^k (the sum over all index sequences, expanded with x_i^2 = x_i).

The Gram matrix of a table map is diagonal because the characters are orthogonal, that of a moment matrix because each
of its entries is a single parity (with more than two values, at every degree: because it commutes with all permutations
of values, under which the coordinates of different sets of attributes are inequivalent irreducible representations).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from dpgraph.linalg.parities import CodeArray, ParityBasis, TableGroup, character_table
from dpgraph.projections.spectral_sets import project_psd
from dpgraph.typing import FloatArray, IntArray

#: Largest side of a moment matrix that callers should build: its eigendecomposition takes about half a second.
SIDE_LIMIT = 1500
#: Penalty in units of the metric, and over-relaxation (measured: 40 to 200 iterations on all benchmark shapes).
_PENALTY, _RELAXATION = 3.0, 1.6


class NonnegativeTables:
    """Tables of one shape are nonnegative."""

    def __init__(self, group: TableGroup, size: int) -> None:
        self._group, self._size = group, size
        self.gram = np.bincount(group.index.ravel(), minlength=size) / group.cells

    def forward(self, theta: FloatArray) -> FloatArray:
        """Probabilities of the cells, shape (m, cells)."""
        return self._group.tables(theta)

    def adjoint(self, image: FloatArray) -> FloatArray:
        """Transpose of `forward`."""
        return self._group.adjoint(image, self._size)

    def project(self, image: FloatArray) -> FloatArray:
        """Drop negative cells."""
        return np.maximum(image, 0.0)


class SparseMap:
    """Image ``matrix @ theta + constant``, of a shape."""

    def __init__(self, matrix: scipy.sparse.csr_array, shape: tuple[int, ...], constant: FloatArray | float = 0.0):
        self.matrix, self._shape, self._constant = matrix, shape, constant
        self._transpose = scipy.sparse.csr_array(matrix.T)
        self.gram = np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel()

    def forward(self, theta: FloatArray) -> FloatArray:
        """Image of theta."""
        return np.asarray(self.matrix @ theta + self._constant).reshape(self._shape)

    def adjoint(self, image: FloatArray) -> FloatArray:
        """Transpose of the linear part of `forward`, of what an image has beyond the constant."""
        return np.asarray(self._transpose @ (image.ravel() - self._constant))


class MomentMatrix(SparseMap):
    """The moment matrix of an even degree, up to the order of the basis, is positive semidefinite.

    Rows of monomials of order j are scaled by (number of them)^{-1/2}: a congruence, which changes the cone constraint
    in nothing and makes the Gram matrix nearly proportional to that of the tables.
    """

    def __init__(self, basis: ParityBasis, degree: int) -> None:
        self.side = int(basis.counts[: degree // 2 + 1].sum())
        scale = 1.0 / np.sqrt(basis.counts[basis.orders[: self.side]])
        moments = _moments(basis, degree // 2, self.side)
        scaled = scipy.sparse.csr_array(moments * np.outer(scale, scale).reshape(-1, 1))
        super().__init__(scaled, (self.side, self.side))

    def project(self, image: FloatArray) -> FloatArray:
        """Drop negative eigenvalues."""
        return project_psd(image)


class InequalityRows(SparseMap):
    """Inequalities rows @ theta >= 0, scaled to unit length in the metric of the theta-step; theta_0 = 1 is known."""

    def __init__(self, rows: scipy.sparse.csr_array, diagonal: FloatArray) -> None:
        lengths = np.sqrt(np.asarray(rows.multiply(rows) @ (1.0 / diagonal)).ravel())
        scaled = scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / lengths) @ rows)
        variable = np.ones(rows.shape[1])
        variable[0] = 0.0
        matrix = scipy.sparse.csr_array(scaled @ scipy.sparse.diags_array(variable))
        super().__init__(matrix, (matrix.shape[0],), scaled @ (1.0 - variable))

    def project(self, image: FloatArray) -> FloatArray:
        """Raise negative left-hand sides to 0."""
        return np.maximum(image, 0.0)


#: Linear maps of theta with a diagonal Gram matrix `gram`, and the projection onto the cone that holds their images.
ConeConstraint = NonnegativeTables | MomentMatrix | InequalityRows


def _moments(basis: ParityBasis, half: int, side: int) -> scipy.sparse.csr_array:
    """Rows r = S side + T with r theta = E m_S m_T, over the monomials of at most `half` attributes."""
    functions = np.full((side, half), -1)
    functions[np.arange(half) < basis.orders[:side, None]] = np.concatenate(
        [m.ravel() for m in basis.members[: half + 1]]
    )
    owners = np.where(functions < 0, -1, basis.owner[functions])
    codes = basis.codes[:side]
    row, code = np.arange(side * side), (codes[:, None] ^ codes[None, :]).ravel()
    value = np.ones(row.size)
    for position in range(half):
        S, T = row // side, row % side
        same = (owners[S, position, None] == owners[T]) & (owners[S, position, None] >= 0)
        shared = same.any(axis=1)
        expanded = [(row[~shared], code[~shared], value[~shared])]
        first, second = functions[S[shared], position], functions[T[shared], same[shared].argmax(axis=1)]
        for g in np.unique(basis.owner[first]):
            at = basis.owner[first] == g
            where, change, factor = _attribute_products(basis, int(g), first[at], second[at])
            chosen = np.flatnonzero(shared)[at][where]
            expanded.append((row[chosen], code[chosen] ^ change, value[chosen] * factor))
        row, code, value = (np.concatenate(parts) for parts in zip(*expanded, strict=True))
    return _sparse([value], [row], [basis.lookup(code)], (side * side, basis.size))


def _attribute_products(
    basis: ParityBasis, g: int, first: IntArray, second: IntArray
) -> tuple[IntArray, CodeArray, FloatArray]:
    """Expand psi_first psi_second of attribute g: positions, changes of code from psi_first psi_second, factors."""
    start, q = basis.offsets[g], int(basis.sizes[g])
    psi = character_table(q)
    products = np.einsum("xa,xb,xc->abc", psi[:, 1:], psi[:, 1:], psi) / q
    factors = products[first - start, second - start]
    where, c = np.nonzero(np.abs(factors) > 1e-12)
    alone = np.append(np.uint64(0), basis.codes[1 + start : start + q])
    change = basis.codes[1 + first[where]] ^ basis.codes[1 + second[where]] ^ alone[c]
    return where, change, factors[where, c]


def sparsity_rows(basis: ParityBasis, k: int, t: int) -> scipy.sparse.csr_array:
    """Rows r, r theta = E x_S (t - sum_i x_i), of orders below k, the lowest first, up to :data:`SIDE_LIMIT`."""
    n = basis.sizes.size
    single = basis.codes[1 : n + 1]
    rows, columns, values = [], [], []
    start = 0
    for order, members in enumerate(basis.members[:k]):
        count = members.shape[0]
        if start + count > SIDE_LIMIT:
            break
        number = np.arange(start, start + count)
        outside = np.ones((count, n), dtype=bool)
        outside[np.repeat(np.arange(count), order), members.ravel()] = False
        s, i = np.nonzero(outside)
        rows += [number, number[s]]
        columns += [number, basis.lookup(basis.codes[number[s]] ^ single[i])]
        values += [np.full(count, float(t - order)), -np.ones(s.size)]
        start += count
    conjunctions = conjunction_matrix(basis, k)
    return _sparse(values, rows, columns, (start, conjunctions.shape[0])) @ conjunctions


def conjunction_matrix(basis: ParityBasis, k: int) -> scipy.sparse.csr_array:
    """Parities of binary attributes to conjunctions: E x_S = 2^{-|S|} sum over subsets U of (-1)^{|U|} theta_U."""
    return _subset_matrix(basis, k, 0.5, -1.0)


def parity_matrix(basis: ParityBasis, k: int) -> scipy.sparse.csr_array:
    """Conjunctions of binary attributes to parities: theta_S = sum over subsets U of (-2)^{|U|} E x_U."""
    return _subset_matrix(basis, k, 1.0, -2.0)


def _subset_matrix(basis: ParityBasis, k: int, of_set: float, of_subset: float) -> scipy.sparse.csr_array:
    """Sums over the subsets U of sets S of at most k attributes, with coefficients of_set^{|S|} of_subset^{|U|}."""
    rows, columns, values = [], [], []
    start = 0
    for order in range(k + 1):
        index = basis.subset_index(order)
        count = index.shape[0]
        sizes = np.array([bits.bit_count() for bits in range(2**order)])
        rows.append(np.repeat(np.arange(start, start + count), 2**order))
        columns.append(index.ravel())
        values.append(np.tile(of_set**order * np.power(of_subset, sizes), count))
        start += count
    return _sparse(values, rows, columns, (start, basis.size))


def _sparse(
    values: list[FloatArray], rows: list[IntArray], columns: list[IntArray], shape: tuple[int, int]
) -> scipy.sparse.csr_array:
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return scipy.sparse.csr_array(scipy.sparse.coo_array(entries, shape=shape))


@dataclass(frozen=True, eq=False)
class MomentProjection:
    """Parities theta after projection."""

    theta: FloatArray
    iterations: int
    residual: float  #: the larger of infeasibility and last change, relative to the noise in each constraint
    converged: bool
    degree: int = 0  #: of the moment matrix among the constraints, 0 if there was none


def project_by_admm(
    y: FloatArray,
    weights: FloatArray,
    cones: Sequence[ConeConstraint],
    *,
    rows: scipy.sparse.csr_array | None = None,
    variances: FloatArray,
    tol: float = 2e-3,
    max_iter: int = 300,
) -> MomentProjection:
    """Project released parities onto the constraints: those of the cones, and ``rows @ theta >= 0``.

    `y`, shape (D,), has y[0] = 1; where `weights` are 0, its entries are starting values only. Weights are positive
    where no cone sees the coordinate. The public `variances` of the noise are the unit in which `tol` is measured.
    S. Boyd et al., "Distributed optimization and statistical learning via the alternating direction method of
    multipliers", 2011, sections 3.2, 3.3 and 3.4.3.
    """
    splits = [_Split(cone, y, _PENALTY * matched_penalty(cone, weights), variances) for cone in cones]
    diagonal = weights + sum(split.penalty * split.cone.gram for split in splits)
    inequalities = None if rows is None else InequalityRows(rows, diagonal)
    if inequalities is not None:
        splits.append(_Split(inequalities, y, _PENALTY, variances))
    solve = theta_step(diagonal, inequalities, _PENALTY)
    for iteration in range(1, max_iter + 1):  # noqa: B007 (the count is part of the result)
        theta = solve(weights * y + sum((split.pull() for split in splits), np.zeros_like(y)))
        residual = max(split.update(theta) for split in splits)
        if residual <= tol:
            break
    return MomentProjection(theta, iteration, residual, residual <= tol)


class _Split:
    """Copy z of F theta inside the cone, with the scaled multiplier u."""

    def __init__(self, cone: ConeConstraint, start: FloatArray, penalty: float, variances: FloatArray) -> None:
        self.cone, self.penalty = cone, penalty
        self._size = noise_size(cone, variances)
        self._z = cone.forward(start)
        self._u = np.zeros_like(self._z)

    def pull(self) -> FloatArray:
        return self.penalty * self.cone.adjoint(self._z - self._u)

    def update(self, theta: FloatArray) -> float:
        image = self.cone.forward(theta)
        shifted = _RELAXATION * image + (1 - _RELAXATION) * self._z + self._u
        z = self.cone.project(shifted)
        self._u = shifted - z
        residual = max(float(np.linalg.norm(image - z)), float(np.linalg.norm(z - self._z)))
        self._z = z
        return residual / self._size


def matched_penalty(cone: ConeConstraint, weights: FloatArray) -> float:
    """Factor that makes the Gram matrix of a cone comparable to the weights."""
    seen = (weights > 0) & (cone.gram > 0)
    return float(np.median(weights[seen] / cone.gram[seen]))


def noise_size(cone: ConeConstraint, variances: FloatArray) -> float:
    """Expected length of the noise in the image of a cone's map: the unit of its residual."""
    return max(float(np.sqrt(cone.gram @ variances)), 1e-12)


def theta_step(
    diagonal: FloatArray, inequalities: InequalityRows | None, penalty: float
) -> Callable[[FloatArray], FloatArray]:
    """Solver of (diag + penalty G'G) theta = right-hand side that then sets the constant coordinate to 1."""
    if inequalities is None:
        return lambda right: _with_constant(right / diagonal)
    G = inequalities.matrix
    scaled = scipy.sparse.csr_array(G @ scipy.sparse.diags_array(1.0 / diagonal))
    small = (scaled @ G.T).toarray()
    small[np.diag_indices_from(small)] += 1.0 / penalty
    factor = scipy.linalg.cho_factor(small)

    def solve(right: FloatArray) -> FloatArray:
        theta = right / diagonal
        theta -= scaled.T @ scipy.linalg.cho_solve(factor, G @ theta)
        return _with_constant(theta)

    return solve


def _with_constant(theta: FloatArray) -> FloatArray:
    theta[0] = 1.0
    return theta
