"""Private marginal tables as a result."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require
from dpgraph.linalg.parities import ParityBasis
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import Result, csv_table, polars_frame
from dpgraph.typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: Largest order-k tensor that is formed.
_TENSOR_LIMIT = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class PrivateMarginals(Result):
    """Private marginal tables of at most k attributes, nonnegative and consistent with each other.

    Parameters
    ----------
    columns : tuple
        Attribute labels.
    categories : tuple of tuple
        Values of each attribute, in the order of the axes of the tables.
    k : int
        Largest number of attributes in a table.
    count : float
        Number of records that every table sums to: public, or estimated privately for ``adjacency="add-remove"``.
    theta : ndarray, shape (D,)
        Means of all (generalised) parities, from which all tables are computed.
    sparsity : int or None
        Records were truncated to this many ones.
    degree : int
        Degree of the moment matrix in the projection that gave the tables; 0 if there was none, because none was asked
        for, or the projection with one did not become feasible within `max_iter` and tables alone were used.
    expected_rmse : float
        Root-mean-square error of a cell of the k-way tables, as a number of records, that the noise alone would cause;
        known in advance. What follows the release lowers it.
    converged : bool
        Whether that projection reached its tolerance; the tables are nonnegative and consistent in any case.
    residual : float
        Residual of the projection relative to the noise (infeasibility or last step, whichever is larger).
    iterations : int
        Iterations of the projection, and of one that was given up before it.
    privacy : PrivacyReport
        The guarantee and its ledger.
    """

    columns: tuple[Hashable, ...]
    categories: tuple[tuple[Any, ...], ...]
    k: int
    count: float
    theta: FloatArray
    sparsity: int | None
    degree: int
    expected_rmse: float
    converged: bool
    residual: float
    iterations: int
    privacy: PrivacyReport

    @cached_property
    def _basis(self) -> ParityBasis:
        """Order of the entries of `theta`."""
        return ParityBasis([len(values) for values in self.categories], self.k)

    def __repr__(self) -> str:
        sparsity = "" if self.sparsity is None else f", sparsity={self.sparsity}"
        return (
            f"PrivateMarginals(attributes={len(self.columns)}, k={self.k}{sparsity}, degree={self.degree}, "
            f"expected_rmse={self.expected_rmse:.4g}, epsilon={self.privacy.epsilon:g})"
        )

    def table(self, columns: Any) -> FloatArray:
        """Marginal table of at most k attributes.

        Parameters
        ----------
        columns : label or sequence of labels
            Different attributes, in the order of the axes wanted.

        Returns
        -------
        ndarray, shape (q_1, ..., q_j)
            Numbers of records: nonnegative, sum ``count``, equal to the sums of every larger table.

        Raises
        ------
        InvalidParameterError
            A label is unknown or repeated, or there are more than k.
        """
        places = self._places(columns)
        order = np.argsort(places)
        group = self._basis.group(np.array([sorted(places)], dtype=np.int64))
        shape = tuple(len(self.categories[g]) for g in sorted(places))
        table = group.tables(self.theta).reshape(shape)
        # Cells that are zero up to rounding may come out of the transform as -1e-17.
        return np.asarray(self.count * np.maximum(table, 0.0).transpose(np.argsort(order)))

    def to_frame(self, columns: Any) -> pd.DataFrame:
        """:meth:`table` as a ``pandas.DataFrame`` whose rows and columns are labelled with the categories.

        The last of two or more attributes runs over the columns. Errors are those of :meth:`table`; DPGraphError if
        pandas is not installed.
        """
        pandas, counts = require("pandas"), self.table(columns)
        axes = [pandas.Index(self.categories[place], name=self.columns[place]) for place in self._places(columns)]
        last = axes.pop() if len(axes) > 1 else ["count"]
        rows = axes[0] if len(axes) == 1 else pandas.MultiIndex.from_product(axes)
        return cast("pd.DataFrame", pandas.DataFrame(counts.reshape(len(rows), -1), index=rows, columns=last))

    def cells(self, columns: Any) -> dict[str, list[Any]]:
        """:meth:`table` as columns, a line for each cell: the values of the attributes, and ``count``."""
        values = itertools.product(*(self.categories[place] for place in self._places(columns)))
        names = [str(self.columns[place]) for place in self._places(columns)]
        found = dict(zip(names, map(list, zip(*values, strict=True)), strict=True))
        return found | {"count": self.table(columns).ravel().tolist()}

    def to_polars(self, columns: Any) -> pl.DataFrame:
        """:meth:`cells` as a ``polars.DataFrame``."""
        return polars_frame(self.cells(columns))

    def to_csv(self, columns: Any, path: str | os.PathLike[str] | None = None) -> str:
        """:meth:`cells` as comma-separated text, also written to a file if one is named."""
        return csv_table(self.cells(columns), path)

    def tables(self) -> dict[tuple[Hashable, ...], FloatArray]:
        """All tables of 1 to k attributes by their labels, in column order."""
        sets = itertools.chain.from_iterable(itertools.combinations(self.columns, j) for j in range(1, self.k + 1))
        return {labels: self.table(labels) for labels in sets}

    def parity(self, subset: Any) -> float:
        """Mean over the records of (-1)**(sum of the binary attributes in `subset`), between -1 and 1.

        Raises
        ------
        InvalidParameterError
            A label is unknown, repeated or not binary, or there are more than k.
        """
        places = self._places(subset, binary=True, empty=True)
        return float(self.theta[self._basis.coordinate(places)])

    def conjunction(self, subset: Any) -> float:
        """Share of the records in which all binary attributes in `subset` are 1 (CDEMZ24, Definition A.2, as a mean).

        Errors are those of :meth:`parity`.
        """
        places = self._places(subset, binary=True, empty=True)
        subsets = itertools.chain.from_iterable(itertools.combinations(places, j) for j in range(len(places) + 1))
        signed = sum((-1.0) ** len(s) * float(self.theta[self._basis.coordinate(s)]) for s in subsets)
        return max(signed / 2.0 ** len(places), 0.0)

    @property
    def tensor(self) -> FloatArray:
        """Mean of the order-k tensor power of a record (small numbers of binary attributes).

        Without sparsity the record is (1, z_1, ..., z_n), z_i = (-1)**x_i, and the tensor has n + 1 entries in each
        direction (the constant makes it contain the parities of every order up to k). With sparsity it is the 0/1
        record x itself. Divide by sqrt(n + 1)**k, or sqrt(sparsity)**k, for the normalisation of CDEMZ24.

        Raises
        ------
        InvalidParameterError
            An attribute is not binary, or the tensor would have more than ten million entries.
        """
        n = len(self.columns)
        side = n + 1 if self.sparsity is None else n
        if side**self.k > _TENSOR_LIMIT or not all(len(values) == 2 for values in self.categories):
            raise InvalidParameterError(
                f"the tensor is formed for binary attributes and at most {_TENSOR_LIMIT} entries; use parity() or "
                "table(), which hold the same numbers"
            )
        entries = np.empty((side,) * self.k)
        for index in itertools.combinations_with_replacement(range(side), self.k):
            value = self._tensor_entry(index)
            for permuted in set(itertools.permutations(index)):
                entries[permuted] = value
        return entries

    def _tensor_entry(self, index: tuple[int, ...]) -> float:
        if self.sparsity is not None:
            return self.conjunction([self.columns[i] for i in sorted(set(index))])
        odd = [i - 1 for i in sorted(set(index)) if i > 0 and index.count(i) % 2]
        return float(self.theta[self._basis.coordinate(odd)])

    def _places(self, columns: Any, *, binary: bool = False, empty: bool = False) -> list[int]:
        single = not isinstance(columns, (Sequence, set, frozenset, np.ndarray)) or isinstance(columns, (str, bytes))
        if single or (isinstance(columns, tuple) and columns in self.columns):
            columns = [columns]
        labels = list(columns)
        unknown = [label for label in labels if label not in self.columns]
        if unknown or len(set(labels)) < len(labels) or len(labels) > self.k or not (labels or empty):
            raise InvalidParameterError(
                f"need {0 if empty else 1} to {self.k} different attributes of this result; got {labels}"
            )
        places = [self.columns.index(label) for label in labels]
        if binary and any(len(self.categories[g]) > 2 for g in places):
            raise InvalidParameterError(f"parities and conjunctions are for binary attributes; got {labels}")
        return places
