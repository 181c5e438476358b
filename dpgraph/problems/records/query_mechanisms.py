"""The mechanisms for linear queries by name, and the choice among them, which reads no data."""

from contextlib import suppress
from operator import itemgetter
from typing import Any

from dpgraph.arguments import check_epsilon, check_optional_delta, require_delta
from dpgraph.exceptions import DPGraphError, InvalidParameterError, NotConvergedError
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.problems.records.encodings import Encoding, Rates, fits_shaping
from dpgraph.problems.records.strategies.linear_queries.k_norm import draws_exactly
from dpgraph.problems.strategy import Registry, Strategy
from dpgraph.releases.records.answers import is_unlimited

__all__ = ["allowed_rates", "choose_encoding"]

#: What ``mechanism=`` names. None of them has options.
MECHANISMS = Registry("dpgraph.problems.records.strategies.linear_queries")


def allowed_rates(epsilon: float, delta: float) -> Rates:
    """What the budget is for each law of noise that it allows."""
    delta = check_optional_delta(delta)
    if is_unlimited(epsilon):
        return dict.fromkeys(("laplace", "k-norm", "gaussian"), epsilon)
    pure = dict.fromkeys(("laplace", "k-norm"), check_epsilon(epsilon))
    return pure | {"gaussian": gdp_mu(epsilon, delta)} if delta > 0 else pure


def choose_encoding(
    matrix: QueryMatrix, rates: Rates, mechanism: Any, records: float | None, adjacency: str
) -> tuple[Encoding, float]:
    """The candidate with the least data-free expected error, and that error."""
    strategy, options = MECHANISMS.resolve(mechanism)
    if strategy is not None:
        if "gaussian" not in rates and not strategy.pure(options):
            require_delta(0.0, f"mechanism={strategy.name!r}", "mechanism='laplace'")
        return min(_candidates(strategy, matrix, rates, records, adjacency), key=itemgetter(1))
    found: list[tuple[Encoding, float]] = []
    for other in MECHANISMS.strategies.values():
        if _is_tried(other, matrix, rates, adjacency):
            with suppress(InvalidParameterError, NotConvergedError):
                found += _candidates(other, matrix, rates, records, adjacency)
    if not found:
        raise InvalidParameterError("no pure noise could be computed for these queries; give delta=")
    return min(found, key=itemgetter(1))


def _is_tried(strategy: Strategy, matrix: QueryMatrix, rates: Rates, adjacency: str) -> bool:
    """Whether "auto" tries a strategy: not what is too large for it, nor what another one does at least as well."""
    if not ("gaussian" in rates or strategy.pure(strategy.defaults)):
        return False
    if strategy.name == "k-norm":  # of linearly independent columns it is among those of "laplace"
        possible = fits_shaping(matrix) and draws_exactly(matrix, adjacency)
        return possible and matrix.row_space.rank < matrix.shape[1]
    if strategy.name == "ellipsoid":  # the factorization is at least as good as any other Gaussian shape
        return False
    return fits_shaping(matrix) or strategy.name != "factorization"


def _candidates(
    strategy: Strategy, matrix: QueryMatrix, rates: Rates, records: float | None, adjacency: str
) -> list[tuple[Encoding, float]]:
    """What a strategy offers, with the expected error of its noise, or the sparse bound if that is smaller."""
    try:
        encodings = strategy.run(strategy.defaults, matrix, adjacency)
        return [(encoding, encoding.expected_error(encoding.std(rates), records)) for encoding in encodings]
    except DPGraphError:
        raise
    except (ArithmeticError, ValueError) as error:  # of a decomposition
        raise InvalidParameterError(
            f"mechanism={strategy.name!r} needs columns, or differences of columns, whose lengths floating point can "
            "compare; those of this query matrix differ too much. Use mechanism='gaussian', or 'laplace'"
        ) from error
