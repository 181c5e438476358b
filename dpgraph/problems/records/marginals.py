"""Private k-way marginals by perturb-and-project (CDEMZ24, appendix A): one release of all parities, one projection."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice, check_integer, check_positive
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.records import Schema, read_records, read_schema, truncate_rows
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import RECORDS
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.records.marginal_model import SOLVERS, MarginalModel
from dpgraph.problems.records.parities import ParityBasis
from dpgraph.releases.records.answers import VectorRelease, open_release

__all__ = ["PrivateMarginals", "private_marginals"]

FloatArray = NDArray[np.float64]

#: Largest order-k tensor that is formed.
_TENSOR_LIMIT = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class PrivateMarginals:
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
        known in advance. The projection only lowers the total error.
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
    _basis: ParityBasis

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
        return self.count * np.maximum(table, 0.0).transpose(np.argsort(order))

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

        Raises
        ------
        InvalidParameterError
            As for :meth:`parity`.
        """
        places = self._places(subset, binary=True, empty=True)
        subsets = itertools.chain.from_iterable(itertools.combinations(places, j) for j in range(len(places) + 1))
        signed = sum((-1) ** len(s) * float(self.theta[self._basis.coordinate(s)]) for s in subsets)
        return max(signed / 2 ** len(places), 0.0)

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


def private_marginals(
    data: Any,
    k: int,
    *,
    epsilon: float,
    delta: float,
    sparsity: int | None = None,
    degree: int | str = "auto",
    categories: Mapping[Any, Sequence[Any]] | None = None,
    geometry: str = "tables",
    adjacency: str = "replace",
    solver: str = "auto",
    tol: float = 2e-3,
    max_iter: int = 300,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | NoiseSource | None = None,
) -> PrivateMarginals:
    r"""Release all marginal tables of at most k attributes privately.

    Parameters
    ----------
    data : array_like, scipy.sparse array, pandas.DataFrame or polars.DataFrame, shape (N, n)
        One record a row; entries 0 and 1, or values of declared categories.
    k : int
        Largest number of attributes in a table, 1 <= k <= n.
    epsilon, delta : float
        Privacy budget of the call. ``epsilon=math.inf`` promises nothing and gives the exact tables, which is useful to
        check a pipeline; an accountant refuses it.
    sparsity : int, optional
        Records of 0/1 attributes have at most this many ones: of a record with more, the first ones in column order are
        kept. The noise then depends on the sparsity instead of the number of attributes.
    degree : "auto" or int, default "auto"
        Degree of the pseudo-distribution onto whose moments the parities are projected; 0 asks for nonnegative tables
        only. ``"auto"``: k for even k, k + 1 for odd k (the 2k - 2 of CDEMZ24 for k = 3), 2 if that moment matrix would
        have more than 1000 rows, 0 if even that is too large. 2 as well when records are so sparse that conjunctions
        are released: beside the sparsity inequalities a matrix of degree 4 lowers the error by about 1 % (CDEMZ24's
        4k - 4 is for variables that coincide for 0/1 records, see :mod:`dpgraph.projections.moment_constraints`).
    categories : mapping, optional
        Public values of the categorical columns, by label. Declared categories of pandas columns are used as they are.
    geometry : {"tables", "parities", "tensor"}, default "tables"
        How the noise is distributed over the orders: least error in the tables; each parity alike; as on the order-k
        tensor of CDEMZ24.
    adjacency : {"replace", "add-remove"}, default "replace"
        Neighbours replace one record (CDEMZ24, Definition A.1; the number of records is public), or one has a record
        more (the number of records is estimated).
    solver : {"auto", "admm", "dykstra", "scs"}, default "auto"
        Method of the projection; all three find the same point. ``"auto"`` is ``"admm"``, the fastest at every size.
        ``"dykstra"`` alternates between the cones and the moment structure with the method of
        :mod:`dpgraph.projections`; ``"scs"`` (through cvxpy) is for small problems and for reference.
    tol : float, default 2e-3
        Tolerance of the projection relative to the noise.
    max_iter : int, default 300
        Largest number of iterations of the projection (hundreds for SCS, whose iterations are cheaper).
    accountant : PrivacyAccountant, optional
        Who is debited, before the data is read.
    rng : None, int or numpy.random.Generator
        ``None``: cryptographic noise. Seeds are for experiments.

    Returns
    -------
    PrivateMarginals

    Raises
    ------
    InvalidParameterError
        k or an option is out of range, the data is not a table of declared values, or the marginals are too many.
    BudgetExceededError
        The accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. The weighted means of the generalised parities (with `sparsity`: of the
    conjunctions) of at most k attributes are released once, on a grid, by the discrete Gaussian mechanism; their
    sensitivity is exact (:mod:`dpgraph.releases.records.parity_noise`). Projection, repair and tables are
    post-processing.

    *Consistency.* All tables are computed from one vector of parities. The projection ends with the smallest mixture
    with the uniform distribution that makes all cells of the k-way tables nonnegative.

    *Accuracy.* The projection is the nearest point in the metric of the k-way tables, of a convex set that holds the
    parities of every data set, so it never increases their squared error. It gains most when the number of records is
    below about n**(3k/4) times 1/mu.

    References
    ----------
    CDEMZ24, Theorems 2.2, 2.3 and A.4; mathematics.md, section 7.
    B. Barak et al., "Privacy, accuracy, and consistency too", PODS 2007 (parities as the basis of marginals).

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.marginals import private_marginals
    >>> data = np.random.default_rng(0).integers(0, 2, size=(5000, 6))
    >>> result = private_marginals(data, 2, epsilon=1.0, delta=1e-6, rng=0)
    >>> table = result.table([0, 3])
    >>> table.shape, bool(np.isclose(table.sum(), 5000)), bool(table.min() >= 0)
    ((2, 2), True, True)
    """
    schema = read_schema(data, categories)
    check_choice("adjacency", adjacency, RECORDS)
    check_choice("solver", solver, SOLVERS)
    check_positive("tol", tol)
    check_integer("max_iter", max_iter, 1)
    if adjacency == "replace" and schema.rows < 1:  # the number of records is public
        raise InvalidParameterError("data has no records; marginals need at least one")
    model = MarginalModel(schema, k, sparsity=sparsity, degree=degree, geometry=geometry, adjacency=adjacency)
    noise = noise_source(rng)
    release = open_release(
        epsilon=epsilon, delta=delta, accountant=accountant, relation=RECORDS[adjacency], noise=noise
    )
    sums = _read_sums(data, schema, model)
    means, variances, count = _release(sums, model, release, adjacency)
    found = model.project(means, variances, solver=solver, tol=tol, max_iter=max_iter)
    return PrivateMarginals(
        columns=schema.columns,
        categories=schema.categories,
        k=k,
        count=count,
        theta=found.theta,
        sparsity=sparsity,
        degree=found.degree,
        expected_rmse=count * model.cell_rmse(variances),
        converged=found.converged,
        residual=found.residual,
        iterations=found.iterations,
        privacy=release.report(),
        _basis=model.released,
    )


def _read_sums(data: Any, schema: Schema, model: MarginalModel) -> FloatArray:
    """Exact sums of the statistics over the (truncated) records, shape (D,); the first one is the count."""
    records = read_records(data, schema)
    if model.sparsity is not None:
        records = truncate_rows(records, model.sparsity)
    if not model.noise.conjunctions:
        return model.released.sums(records)
    blocks = (records[i : i + 4096].astype(np.float64) for i in range(0, len(records), 4096))
    return model.released.product_sums(blocks)


def _release(
    sums: FloatArray, model: MarginalModel, release: VectorRelease, adjacency: str
) -> tuple[FloatArray, FloatArray, float]:
    """Noisy means of the statistics, the variances of their noise, and the (public or noisy) number of records."""
    roots = np.sqrt(model.weights)
    if adjacency == "replace":
        count = float(sums[0])  # public: neighbours have the same number of records
        weighted = roots[1:] * (sums[1:] / count)
        sensitivity = model.noise.sensitivity / count
        noisy, scale = release.add_noise("parities", weighted, sensitivity=sensitivity, largest=model.largest)
        means, deviations = noisy / roots[1:], scale / roots[1:]
    else:
        noisy, scale = release.add_noise("counts", roots * sums, sensitivity=model.noise.sensitivity)
        released = noisy / roots
        count = max(float(released[0]), 1.0)
        means, deviations = released[1:] / count, scale / roots[1:] / count
    return np.append(1.0, means), np.append(0.0, deviations**2), count
