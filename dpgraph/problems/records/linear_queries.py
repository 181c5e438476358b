"""Private answers to linear queries A x on a histogram x: one release, shaped by the public matrix A.

The choice of the shape reads no data. After the release come decoding and, when records are few, least squares over all
data sets of that size; both are post-processing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import as_number, check_choice, check_epsilon, check_optional_delta, require_delta, shown
from dpgraph.exceptions import DPGraphError, InvalidParameterError, NotConvergedError
from dpgraph.inputs.arrays import public_shape
from dpgraph.inputs.records import as_counted_histogram, as_histogram
from dpgraph.linalg.ellipsoid import Ellipsoid, minimum_volume_ellipsoid
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import Released
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import RECORDS, Relation
from dpgraph.problems.driver import Asked, Problem, Strategy, release
from dpgraph.problems.records.encodings import Encoding, Rates, fits_shaping
from dpgraph.problems.records.error_bounds import (
    ErrorLowerBounds,
    HereditaryDiscrepancyBounds,
    error_lower_bounds,
    hereditary_discrepancy_bounds,
)
from dpgraph.problems.records.query_noise import ENCODINGS, MECHANISMS
from dpgraph.projections.l1_hull import project_histogram_answers
from dpgraph.results.records import PrivateAnswers
from dpgraph.typing import FloatArray, SparseMatrix

if TYPE_CHECKING:
    from dpgraph.strategies import QueryMechanism

__all__ = [
    "Ellipsoid",
    "ErrorLowerBounds",
    "HereditaryDiscrepancyBounds",
    "PrivateAnswers",
    "error_lower_bounds",
    "expected_error",
    "hereditary_discrepancy_bounds",
    "minimum_volume_ellipsoid",
    "private_linear_queries",
]

#: Larger public bounds on the number of records are refused: floating point cannot count so far.
_MOST_RECORDS = 2.0**53
#: The record count read off the noisy answers is raised by this many standard deviations, so that the true data set is
#: a candidate of the least-squares step in 97.7 % of the runs. Utility only: it is post-processing.
_COUNT_MARGIN = 2.0


@dataclass(frozen=True)
class _Facts:
    """What is public about a call; the encoding is chosen before anything is read."""

    epsilon: float
    delta: float
    neighbours: Relation
    encoding: Encoding


QUERIES = Problem(MECHANISMS, auto=lambda facts: facts.encoding.name, pure="mechanism='laplace'")


@private_function
def private_linear_queries(  # noqa: PLR0913
    A: ArrayLike | SparseMatrix,
    x: ArrayLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: QueryMechanism = "auto",
    sparse: str | bool = "auto",
    records: float | None = None,
    adjacency: str = "add-remove",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateAnswers:
    r"""Answer d linear queries about a histogram privately.

    Parameters
    ----------
    A : array_like or scipy.sparse array, shape (d, N)
        Public query matrix: row j is a query, column i what one record of type i adds to the answers.
    x : array_like, shape (N,)
        Private histogram: nonnegative numbers of records of each type, whole or not (then neighbours are at an l1
        distance of one record). For ``adjacency="add-remove"`` a number above 2**52 counts as 2**52.
    epsilon, delta : float
        epsilon > 0, 0 <= delta < 1. 0, the default of delta, stands for pure privacy; pure mechanisms ignore it, and
        the report then says 0.
    mechanism : {"auto", "gaussian", "ellipsoid", "factorization", "laplace", "k-norm"}, default "auto"
        Law and shape of the noise, or an options object of :mod:`dpgraph.strategies`, where each is explained.
        ``"auto"``: the smallest :func:`expected_error` of all that `delta` allows (noise on the answers themselves if
        the matrix is too large for anything else). ``"laplace"`` and ``"k-norm"`` are pure.
    sparse : {"auto", True, False}, default "auto"
        Least-squares projection onto the answers of all data sets with at most n records (exactly n for
        ``adjacency="replace"``). It never increases the squared error while n is at most the bound on it.
        ``"auto"`` projects where the matrix is small enough and n is known or can be bounded.
    records : float, optional
        Public upper bound on n (the number of records), used as an inequality; one that is too small costs accuracy,
        not privacy. If omitted: an upper confidence bound read off the noisy answers, which costs no privacy. For
        ``adjacency="replace"`` n itself is public and taken from `x`; there the bound only helps to choose the noise
        before `x` is read.
    adjacency : {"add-remove", "replace"}, default "add-remove"
        Neighbours have one record more or less, or one record replaced by another (and then n is public).
    accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateAnswers

    Raises
    ------
    InvalidParameterError, BudgetExceededError
        Shapes do not fit, `A` or `x` is not finite, `A` has a longest column below 1e-120 or above 1e120 or columns of
        too different lengths for `mechanism`, `x` has a negative entry or (for ``adjacency="replace"``, where their
        number is public) more than 2**52 records, an option is unknown, or ``sparse=True`` without `records` for
        queries from which the number of records cannot be bounded; the accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. The vector C x (:mod:`dpgraph.problems.records.encodings`) is computed exactly
    (:mod:`dpgraph.linalg.exact_product`) and released once, on a grid, with noise for its sensitivity
    (:mod:`dpgraph.bounds.histogram`). Everything else depends on A, and on n where that is public, or is
    post-processing.

    References
    ----------
    NTZ13.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.linear_queries import private_linear_queries
    >>> prefix_sums = np.tril(np.ones((100, 100)))
    >>> histogram = np.full(100, 50)
    >>> result = private_linear_queries(prefix_sums, histogram, epsilon=1.0, rng=0)
    >>> result.mechanism, result.answers.shape, result.privacy.delta
    ('laplace', (100,), 0.0)
    >>> bool(abs(result.answers[-1] - 5000) < 100)
    True
    """
    matrix = QueryMatrix(A)
    _check_options(sparse, records, adjacency)
    shape, N = public_shape(x, dimensions=1), matrix.shape[1]
    if shape != (N,):
        raise InvalidParameterError(f"the histogram must have one entry for each of the {N} columns; got shape {shape}")
    sparse = sparse if sparse == "auto" else bool(sparse)
    rates = _rates(epsilon, delta)
    encoding, _ = _choose(matrix, rates, mechanism, records if sparse else None, adjacency)
    if sparse is True and records is None and adjacency == "add-remove" and encoding.counting is None:
        raise InvalidParameterError(
            "sparse=True needs records=, a public bound on the number of records: no combination of these queries "
            "counts every record"
        )
    facts = _Facts(epsilon, delta, RECORDS[adjacency], encoding)

    def read() -> FloatArray:
        nonlocal records
        if adjacency == "replace":
            histogram, records = as_counted_histogram(x, shape)
            return histogram
        return as_histogram(x, shape)

    released = release(QUERIES, read, facts, Asked(encoding.name, accountant, rng))
    answers, bound = _least_squares(matrix, encoding, released.found, sparse, records)
    return PrivateAnswers(
        answers=answers,
        standard_deviation=released.found.std * encoding.answer_scales,
        mechanism=released.mechanism,
        expected_rmse=encoding.expected_error(encoding.std(rates), bound),
        projected=bound is not None,
        records=bound,
        privacy=released.privacy,
    )


def expected_error(
    A: ArrayLike | SparseMatrix,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: QueryMechanism = "auto",
    records: float | None = None,
    adjacency: str = "add-remove",
) -> float:
    """Root-mean-square error of an answer of :func:`private_linear_queries`, known in advance: no data is read.

    Parameters
    ----------
    A, epsilon, delta, mechanism, adjacency
        As for :func:`private_linear_queries`.
    records : float, optional
        Public bound on the number of records n. If given, the result is the smaller of the exact error of the noise and
        the bound sqrt(2 n w sqrt(2 ln(N + 1)) / d) for the sparse case, w the largest standard deviation of
        <noise, a_i> over the columns (for Laplace noise a larger one, see
        :meth:`~dpgraph.problems.records.encodings.Encoding.sparse_bound`).

    Returns
    -------
    float
        sqrt(E ||answers - A x||^2 / d) without the projection; an upper bound on it if `records` is given.

    Raises
    ------
    InvalidParameterError
        As in :func:`private_linear_queries`.

    Notes
    -----
    *The sparse bound.* Let y = A x be the truth, w the noise and z the projection of y + w onto the answers of data
    sets with at most n records. Then ||z - y||^2 <= <w, z - y> <= n (max_i <w, a_i>^+ + max_i <-w, a_i>^+), and the
    expected maximum of N centred normals and 0 is at most their largest standard deviation times sqrt(2 ln(N + 1))
    (NTZ13, sparse case). For replaced records z and y are n times mixtures of columns, so that the mean of all columns
    may be subtracted from every a_i.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.linear_queries import expected_error
    >>> A = np.tril(np.ones((256, 256)))
    >>> plain = expected_error(A, epsilon=1.0, delta=1e-6, mechanism="gaussian")
    >>> best = expected_error(A, epsilon=1.0, delta=1e-6)
    >>> round(plain, 1), bool(plain / best > 6)
    (67.6, True)
    """
    matrix = QueryMatrix(A)
    _check_options(False, records, adjacency)
    return _choose(matrix, _rates(epsilon, delta), mechanism, records, adjacency)[1]


def _rates(epsilon: float, delta: float) -> Rates:
    """What the budget is for each law of noise that it allows."""
    delta = check_optional_delta(delta)
    pure = dict.fromkeys(("laplace", "k-norm"), check_epsilon(epsilon))
    return pure | {"gaussian": gdp_mu(epsilon, delta)} if delta > 0 else pure


def _choose(
    matrix: QueryMatrix, rates: Rates, mechanism: QueryMechanism, records: float | None, adjacency: str
) -> tuple[Encoding, float]:
    """The candidate with the least data-free expected error, and that error."""
    strategy, _ = MECHANISMS.resolve(mechanism)
    if strategy is not None:
        if "gaussian" not in rates and not strategy.pure:
            require_delta(0.0, f"mechanism={strategy.name!r}", "mechanism='laplace'")
        return min(_candidates(strategy.name, matrix, rates, records, adjacency), key=itemgetter(1))
    found: list[tuple[Encoding, float]] = []
    for other in MECHANISMS.strategies.values():
        if _is_tried(other, matrix, rates):
            with suppress(InvalidParameterError, NotConvergedError):
                found += _candidates(other.name, matrix, rates, records, adjacency)
    if not found:
        raise InvalidParameterError("no pure noise could be computed for these queries; give delta=")
    return min(found, key=itemgetter(1))


def _is_tried(strategy: Strategy, matrix: QueryMatrix, rates: Rates) -> bool:
    """Whether "auto" tries a strategy: not what is too large for it, nor what another one does at least as well."""
    if not ("gaussian" in rates or strategy.pure):
        return False
    if strategy.name == "ellipsoid":  # the factorization is at least as good as other Gaussian shapes
        return False
    return fits_shaping(matrix) or strategy.name not in ("factorization", "k-norm")


def _candidates(
    name: str, matrix: QueryMatrix, rates: Rates, records: float | None, adjacency: str
) -> list[tuple[Encoding, float]]:
    """What a strategy offers, with the expected error of its noise, or the sparse bound if that is smaller."""
    try:
        encodings = ENCODINGS[name](matrix, adjacency)
        return [(encoding, encoding.expected_error(encoding.std(rates), records)) for encoding in encodings]
    except DPGraphError:
        raise
    except (ArithmeticError, ValueError) as error:  # of a decomposition
        raise InvalidParameterError(
            f"mechanism={name!r} needs columns, or differences of columns, whose lengths floating point can "
            "compare; those of this query matrix differ too much. Use mechanism='gaussian', or 'laplace'"
        ) from error


def _least_squares(
    matrix: QueryMatrix, encoding: Encoding, released: Released, sparse: str | bool, records: float | None
) -> tuple[FloatArray, float | None]:
    """Decoded answers, projected if wanted; the number of records (given, public or estimated) if they were."""
    answers = encoding.answers(released.value, records)
    if sparse is False or (sparse == "auto" and not matrix.fits_in_memory):
        return answers, None
    if records is None and (combination := encoding.counting) is not None:
        counted = float(combination @ released.value)
        records = max(counted + _COUNT_MARGIN * encoding.deviation(combination, released.std), 0.0)
    if records is None:
        return answers, None
    space = matrix.row_space
    exactly = encoding.adjacency == "replace"
    nearest = project_histogram_answers(space.basis.T @ answers, space.columns, records, exactly=exactly)
    return space.basis @ nearest, records


def _check_options(sparse: str | bool, records: float | None, adjacency: str) -> None:
    check_choice("adjacency", adjacency, RECORDS)
    if not (isinstance(sparse, (bool, np.bool_)) or (isinstance(sparse, str) and sparse == "auto")):
        raise InvalidParameterError(f"sparse must be 'auto', True or False; got {shown(sparse)}")
    if records is not None and not 0 <= as_number(records) <= _MOST_RECORDS:
        raise InvalidParameterError(f"records must be a nonnegative public bound on their number; got {shown(records)}")
