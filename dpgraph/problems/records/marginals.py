"""Private k-way marginals by perturb-and-project (CDEMZ24, appendix A): one release of all parities, one projection."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_epsilon, check_integer, check_optional_delta, check_positive
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.records import Schema, read_schema
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import LEAST_MU, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import RECORDS
from dpgraph.problems.records.marginal_model import MarginalModel, Request
from dpgraph.releases.records.parities import release_means
from dpgraph.results.marginals import PrivateMarginals
from dpgraph.typing import SparseMatrix

__all__ = ["expected_error", "private_marginals"]


@private_function
def private_marginals(  # noqa: PLR0913
    data: ArrayLike | SparseMatrix,
    k: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    sparsity: int | None = None,
    degree: int | str = "auto",
    forest: bool = True,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    adjacency: str = "replace",
    tol: float = 2e-3,
    max_iter: int = 300,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateMarginals:
    r"""Release all marginal tables of at most k attributes privately.

    Parameters
    ----------
    data : array_like, scipy.sparse array, pandas.DataFrame or polars.DataFrame, shape (N, n)
        One record a row; entries 0 and 1, or values of declared categories.
    k : int
        Largest number of attributes in a table, 1 <= k <= n.
    epsilon, delta : float
        epsilon > 0, 0 <= delta < 1. delta = 0, the default, stands for pure privacy, with Laplace noise. Otherwise
        noise is Gaussian, or Laplace where its expected error is smaller: the report then says that delta is 0.
    sparsity : int, optional
        Records of 0/1 attributes have at most this many ones: of a record with more, the first ones in column order are
        kept. The noise then depends on the sparsity instead of the number of attributes.
    degree : "auto", "paper" or int, default "auto"
        Degree of the pseudo-distribution onto whose moments the parities are projected; 0 asks for nonnegative tables
        only. ``"auto"``: k for even k, k + 1 for odd k (the 2k - 2 of CDEMZ24 for k = 3), 2 if that moment matrix would
        have more than 1000 rows, 0 if even that is too large. 2 as well when records are so sparse that conjunctions
        are released (:mod:`dpgraph.projections.moment_projection`). ``"paper"``: the 2k of CDEMZ24, Theorem 2.2, and
        with `sparsity` the 4k - 4 of Theorem 2.3; an error where that matrix has more than 1500 rows.
    forest : bool, default True
        Whether the tables may move towards those of a forest, in which every attribute depends on one other alone, as
        far as the released numbers say that they are closer to the truth. False: the projection alone.
    categories : mapping, optional
        Public values of the categorical columns, by label. Those of a ``pandas.CategoricalDtype([...])`` are used as
        they are; ``astype("category")`` would make them of the private entries, so that one record shows.
    adjacency : {"replace", "add-remove"}, default "replace"
        Neighbours replace one record (CDEMZ24, Definition A.1; the number of records is public), or one has a record
        more (the number of records is estimated).
    tol, max_iter : float, int
        Tolerance of the projection relative to the noise, and its largest number of iterations.
    accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateMarginals

    Raises
    ------
    InvalidParameterError, BudgetExceededError
        k or an option is out of range, the data is not a table of declared values, or the marginals are too many; the
        accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. The weighted means of the generalised parities (with `sparsity`: of the
    conjunctions) of at most k attributes are released once, on a grid, with discrete Gaussian or discrete Laplace
    noise; their sensitivities are proved in :mod:`dpgraph.bounds.parities`. Projection, forest, repair and
    tables are post-processing.

    *Accuracy.* All tables are computed from one vector of parities. It is projected onto a convex set that holds the
    parities of every data set, in the metric of the k-way tables, which never increases their squared error. The
    forest is a model, and what it says is used as far as noisy parities, read a second time, agree with it.

    References
    ----------
    CDEMZ24, Theorems 2.2, 2.3 and A.4.
    C. K. Chow, C. N. Liu, "Approximating discrete probability distributions with dependence trees", 1968.
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
    check_choice("adjacency", adjacency, RECORDS)
    schema = read_schema(data, categories, adjacency)
    check_positive("tol", tol)
    check_integer("max_iter", max_iter, 1)
    if adjacency == "replace" and schema.rows < 1:  # the number of records is public
        raise InvalidParameterError("data has no records; marginals need at least one")
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    model = MarginalModel(schema, Request(k, epsilon, delta, sparsity, degree, adjacency))
    spent = delta if model.noise.law == "gaussian" else 0.0
    statistics, relation = model.statistics, RECORDS[adjacency]
    least = LEAST_MU * math.sqrt(model.released.size)
    call = open_call(epsilon=epsilon, delta=spent, accountant=accountant, relation=relation, noise=rng, least_mu=least)
    means, variances, count = release_means(statistics.sums(data), statistics, call)
    estimate = model.estimate if forest else model.project
    found = estimate(means, variances, tol=tol, max_iter=max_iter)
    return PrivateMarginals(
        columns=schema.columns,
        categories=schema.categories,
        k=model.k,
        count=count,
        theta=found.theta,
        sparsity=model.sparsity,
        degree=found.degree,
        expected_rmse=count * model.cell_rmse(variances),
        converged=found.converged,
        residual=found.residual,
        iterations=found.iterations,
        privacy=call.report(),
    )


def expected_error(
    sizes: int | Sequence[int],
    k: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    sparsity: int | None = None,
    adjacency: str = "replace",
) -> float:
    """Root-mean-square error of a cell of the k-way tables of :func:`private_marginals`, in records; no data is read.

    Parameters
    ----------
    sizes : int or sequence of int
        Number of 0/1 attributes, or the number of values of each attribute (2 for 0/1).
    k, epsilon, delta, sparsity, adjacency
        As for :func:`private_marginals`.

    Returns
    -------
    float
        Of the noise alone. It is the same for any number of records, and what follows the release lowers it.

    Raises
    ------
    InvalidParameterError
        As in :func:`private_marginals`.

    Examples
    --------
    >>> from dpgraph.problems.records.marginals import expected_error
    >>> round(expected_error(16, 3, epsilon=1.0, delta=1e-6), 1)
    38.4
    """
    counts = list(sizes) if isinstance(sizes, Sequence) else [2] * check_integer("sizes", sizes, 1)
    values = tuple(tuple(range(check_integer("a number of values", count, 2))) for count in counts)
    check_choice("adjacency", adjacency, RECORDS)
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    schema = Schema(tuple(range(len(values))), values, 1)
    model = MarginalModel(schema, Request(k, epsilon, delta, sparsity, 0, adjacency))
    rate = gdp_mu(epsilon, delta) if model.noise.law == "gaussian" else epsilon / math.sqrt(2.0)
    variances = (model.statistics.sensitivity / rate / model.statistics.factors) ** 2
    variances[0] = 0.0  # the number of records is public, or what cells are shares of
    return model.cell_rmse(variances)
