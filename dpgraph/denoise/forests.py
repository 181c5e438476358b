r"""Marginal tables of largest entropy with some tables of pairs: a graphical model whose graph is a forest.

Noisy tables of pairs name the pairs that depend on each other beyond noise. Of these a spanning forest of largest
mutual information is kept. The law with these tables of pairs and largest entropy makes every attribute depend on its
parent alone, so that tables of any k attributes follow from it exactly.

C. K. Chow, C. N. Liu, "Approximating discrete probability distributions with dependence trees", 1968.
"""

import math

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from dpgraph.linalg.parities import ParityBasis
from dpgraph.typing import FloatArray, IntArray

#: A probability below this one is rounding.
_TINY = 1e-12


def forest_parities(basis: ParityBasis, theta: FloatArray, noisy: FloatArray, variances: FloatArray) -> FloatArray:
    """Parities of the forest, shape (D,); the order of the basis is at least 2.

    Tables are those of the parities `theta`, which are nonnegative. Pairs are tested on the parities `noisy`, whose
    noise has the given variances.
    """
    forest = _Forest(_tables(basis, theta), _significant(basis, theta, noisy, variances), len(basis.sizes))
    total, seen = np.zeros(basis.size), np.zeros(basis.size)
    for group in basis.table_groups(basis.order):
        cells = np.array([forest.table(tuple(attributes)).ravel() for attributes in group.attributes.tolist()])
        total += group.adjoint(cells, basis.size)
        seen += np.bincount(group.index.ravel(), minlength=basis.size) / group.cells
    return total / seen


class _Forest:
    """Tables of the law in which every attribute depends on its parent alone."""

    def __init__(self, tables: dict[tuple[int, ...], FloatArray], pairs: IntArray, n: int) -> None:
        weights = np.zeros((n, n))
        for pair in map(tuple, pairs.tolist()):
            weights[pair] = _mutual_information(tables[pair])
        # A spanning tree of zeros and negative weights leaves zeros out.
        tree = minimum_spanning_tree(csr_array(-weights))
        self._parents: dict[int, int] = {}
        self._rates: dict[int, FloatArray] = {}
        self._place = np.empty(n, dtype=np.int64)
        reached: list[int] = []
        for root in range(n):
            if root in reached:
                continue
            order, parents = breadth_first_order(tree, root, directed=False)
            reached += order.tolist()
            for child in order[1:].tolist():
                parent = int(parents[child])
                table = tables[min(parent, child), max(parent, child)]
                joint = (table if parent < child else table.T) + _TINY
                self._parents[child], self._rates[child] = parent, joint / joint.sum(axis=1, keepdims=True)
        self._place[reached] = np.arange(n)
        self._known: dict[tuple[int, ...], FloatArray] = {(g,): tables[g,] for g in range(n)}

    def table(self, attributes: tuple[int, ...]) -> FloatArray:
        """Probabilities of the cells; axes are those of `attributes`."""
        ordered = tuple(sorted(attributes, key=self._place.__getitem__))
        return self._ordered(ordered).transpose([ordered.index(g) for g in attributes])

    def _ordered(self, attributes: tuple[int, ...]) -> FloatArray:
        """The last attribute depends on its parent alone, which is added to the others and summed out."""
        if attributes not in self._known:
            *others, last = attributes
            parent = self._parents.get(last)
            joint: FloatArray
            if parent is None:
                joint = np.multiply.outer(self._ordered(tuple(others)), self._known[last,])
            elif parent in others:
                shape = [1] * len(others) + [self._rates[last].shape[1]]
                shape[others.index(parent)] = len(self._rates[last])
                joint = self._ordered(tuple(others))[..., None] * self._rates[last].reshape(shape)
            else:
                more = sorted([*others, parent], key=self._place.__getitem__)
                joint = np.tensordot(self._ordered(tuple(more)), self._rates[last], axes=(more.index(parent), 0))
            self._known[attributes] = joint
        return self._known[attributes]


def _tables(basis: ParityBasis, theta: FloatArray) -> dict[tuple[int, ...], FloatArray]:
    """Tables of one and of two attributes."""
    return {
        tuple(attributes): np.maximum(cells, 0.0).reshape(basis.sizes[attributes])
        for order in (1, 2)
        for group in basis.table_groups(order)
        for attributes, cells in zip(group.attributes.tolist(), group.tables(theta), strict=True)
    }


def _significant(basis: ParityBasis, theta: FloatArray, noisy: FloatArray, variances: FloatArray) -> IntArray:
    """Pairs whose noisy parities are farther from independence than noise alone makes any of them, shape (m, 2).

    Of df normals the squares add up to more than df + 2 sqrt(df L) + 2 L with probability e^-L at most (B. Laurent,
    P. Massart, Ann. Statist. 2000); L is the logarithm of the number of pairs.
    """
    n = len(basis.sizes)
    members, pairs = basis.members[2], basis.orders == 2
    alone = theta[1 + members]
    squares = (noisy[pairs] - alone[:, 0] * alone[:, 1]) ** 2 / np.maximum(variances[pairs], np.finfo(float).tiny)
    owners = basis.owner[members]
    distance = np.bincount(owners[:, 0] * n + owners[:, 1], weights=squares, minlength=n * n).reshape(n, n)
    L = math.log(max(n * (n - 1) // 2, 1))
    df = np.multiply.outer(basis.sizes - 1.0, basis.sizes - 1.0)
    return np.argwhere(distance > df + 2 * np.sqrt(df * L) + 2 * L)


def _mutual_information(table: FloatArray) -> float:
    joint = np.maximum(table, _TINY)
    joint = joint / joint.sum()
    return float((joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum())
