"""The affine structure of a moment matrix: entries of equal monomials are equal, some moments are known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.exceptions import InvalidParameterError
from dpgraph.projections.base import ConvexSet, as_array
from dpgraph.typing import BoolArray, FloatArray, IntArray

__all__ = ["MomentStructure"]


@dataclass(frozen=True, eq=False)
class MomentStructure(ConvexSet):
    """Arrays whose entries agree within each group, some groups having a known value.

    In the moment matrix of a (pseudo-)distribution the entry (S, T) is the moment of the monomial x_S x_T: label it by
    that monomial, and fix the group of the empty monomial at 1.

    Parameters
    ----------
    labels : array_like of int
        Group of every entry, nonnegative, in the shape of the arrays to be projected; a negative label leaves the entry
        free.
    fixed : mapping from int to float, optional
        Known values of groups.

    Raises
    ------
    InvalidParameterError
        Labels are not integers, or a fixed label does not occur.

    Examples
    --------
    Second moments of three +-1 variables with equal pairwise correlations:

    >>> import numpy as np
    >>> from dpgraph.projections import MomentStructure
    >>> structure = MomentStructure(1 - np.eye(3, dtype=int), fixed={0: 1.0})
    >>> structure.project([[0.9, 0.1, 0.2], [0.1, 1.3, 0.3], [0.2, 0.3, 1.0]])
    array([[1. , 0.2, 0.2],
           [0.2, 1. , 0.2],
           [0.2, 0.2, 1. ]])
    """

    labels: ArrayLike
    fixed: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.dtype.kind not in "iu" or labels.size == 0:
            raise InvalidParameterError(
                f"labels must be a nonempty array of integers; got entries of type {labels.dtype}"
            )
        grouped = labels >= 0
        names, groups = np.unique(labels[grouped], return_inverse=True)
        missing = sorted(set(self.fixed) - set(names.tolist()))
        if missing:
            raise InvalidParameterError(f"fixed values for labels that do not occur: {missing[:5]}")
        at = np.searchsorted(names, np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed)))
        values = np.fromiter(self.fixed.values(), dtype=np.float64, count=len(self.fixed))
        for name, value in (("_grouped", grouped), ("_groups", groups), ("_fixed_at", at), ("_fixed_values", values)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_sizes", np.bincount(groups, minlength=len(names)))

    _grouped: BoolArray = field(init=False, repr=False)
    _groups: IntArray = field(init=False, repr=False)
    _sizes: IntArray = field(init=False, repr=False)
    _fixed_at: IntArray = field(init=False, repr=False)
    _fixed_values: FloatArray = field(init=False, repr=False)

    def project(self, X: ArrayLike) -> FloatArray:
        """Average over every group, then set the known values."""
        X = as_array(X)
        if X.shape != self._grouped.shape:
            raise InvalidParameterError(f"expected an array of shape {self._grouped.shape}; got {X.shape}")
        means = np.bincount(self._groups, weights=X[self._grouped], minlength=len(self._sizes)) / self._sizes
        means[self._fixed_at] = self._fixed_values
        result = X.copy()
        result[self._grouped] = means[self._groups]
        return result
