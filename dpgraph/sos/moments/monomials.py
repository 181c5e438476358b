"""Monomials in the label indicators of a 2-CSP, what is linear in their moments, and what symmetry leaves of them.

If every table is unchanged when both its ends are relabelled, the average of an optimal pseudo-distribution over the
relabellings is optimal too (Gatermann, Parrilo 2004). Relaxing over averaged moments only has fewer unknowns and the
same value.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy import linalg, sparse

from dpgraph.instance import TwoCSP

#: Pairs (position of a variable, position of a label below q - 1), variables ascending, each once.
Monomial = tuple[tuple[int, int], ...]
Permutation = tuple[int, ...]

# All q! permutations up to here, the q cyclic shifts above.
_ALL_PERMUTATIONS = 5


def monomials(n: int, q: int, degree: int) -> Iterator[Monomial]:
    """All monomials of at most `degree` different variables, labels 0..q-2, shorter ones first."""
    for size in range(degree + 1):
        for variables in itertools.combinations(range(n), size):
            for labels in itertools.product(range(q - 1), repeat=size):
                yield tuple(zip(variables, labels, strict=True))


def product(S: Monomial, T: Monomial) -> Monomial | None:
    """Product of two monomials, None when it gives two labels to one variable."""
    union = sorted({*S, *T})
    inconsistent = any(x[0] == y[0] for x, y in itertools.pairwise(union))
    return None if inconsistent else tuple(union)


def linear_in_moments(products: Iterable[Monomial], names: Sequence[Monomial], last: int) -> sparse.csr_array:
    """Rows: products of indicators, x_i,last = 1 - sum of the rest among them, as functions of the moments `names`."""
    number = {name: k for k, name in enumerate(names)}
    data, row, col = [], [], []
    at = -1
    for at, factors in enumerate(products):
        expanded = [
            [(1.0, ((i, a),))] if a < last else [(1.0, ()), *((-1.0, ((i, b),)) for b in range(last))]
            for i, a in factors
        ]
        for terms in itertools.product(*expanded):
            data.append(math.prod(sign for sign, _ in terms))
            row.append(at)
            col.append(number[tuple(itertools.chain.from_iterable(S for _, S in terms))])
    return sparse.coo_array((data, (row, col)), shape=(at + 1, len(names))).tocsr()


def label_symmetries(instance: TwoCSP) -> list[Permutation]:
    """All permutations if they leave every table exactly unchanged; or the cyclic shifts; or the identity alone."""
    q = instance.alphabet_size
    shift = (*range(1, q), 0)
    if not _unchanged(instance, shift):
        return [tuple(range(q))]
    if q <= _ALL_PERMUTATIONS and _unchanged(instance, (1, 0, *range(2, q))):
        return list(itertools.permutations(range(q)))
    return [tuple(np.roll(np.arange(q), -s).tolist()) for s in range(q)]


def _unchanged(instance: TwoCSP, g: Permutation) -> bool:
    return np.array_equal(instance.tables[:, g][:, :, g], instance.tables)


def averaging(group: list[Permutation], names: list[Monomial]) -> list[sparse.csr_array]:
    """For each permutation the matrix that maps the moments of `names` to those after relabelling."""
    relabelled = ([tuple((i, g[a]) for i, a in name) for name in names] for g in group)
    return [linear_in_moments(rows, names, len(group[0]) - 1) for rows in relabelled]


def free_moments(average: sparse.csr_array, names: list[Monomial], labels: int) -> sparse.csr_array:
    """Matrix T, shape (K, r), with T z the moments that averaging leaves unchanged; z holds r of them, z_0 = y_0.

    Moments of k variables are an affine function of moments of fewer and of some of their own, the same function for
    every set of k variables. `names` are in the order of :func:`monomials`; `labels` is q - 1.
    """
    T = sparse.csr_array(np.ones((1, 1)))
    sizes = np.array([len(name) for name in names])
    for k in range(1, int(sizes.max()) + 1):
        level = np.flatnonzero(sizes == k)
        width = labels**k
        own, lower = average[level][:, level], average[level][:, : level[0]]
        basis = linalg.orth(own[:width][:, :width].toarray(), rcond=1e-9)
        free = np.sort(linalg.qr(basis.T, pivoting=True)[2][: basis.shape[1]])
        extend = basis @ np.linalg.inv(basis[free]) if free.size else np.zeros((width, 0))
        blocks = level.size // width
        W = sparse.kron(sparse.eye_array(blocks), _clean(sparse.csr_array(extend)), format="csr")
        chosen = (np.arange(blocks)[:, None] * width + free).ravel()
        below = (lower - W @ lower[chosen]) @ T
        T = _clean(sparse.block_array([[T, sparse.csr_array((T.shape[0], W.shape[1]))], [below, W]], format="csr"))
    return T


def _clean(M: sparse.csr_array) -> sparse.csr_array:
    M.data[np.abs(M.data) < 1e-12] = 0.0
    M.eliminate_zeros()
    return M
