"""The mechanisms for linear queries by name, and the choice among them, which reads no data."""

from typing import Any

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.accounting import check_epsilon, check_optional_delta, gdp_mu, require_delta
from dpgraph.problems.records.encodings import Encoding, Rates, fits_shaping
from dpgraph.problems.records.strategies.linear_queries.k_norm import draws_exactly
from dpgraph.problems.strategy import Registry
from dpgraph.releases.records.answers import is_unlimited

__all__ = ["MECHANISMS", "allowed_rates", "choose_encoding", "error_of"]

#: What ``mechanism=`` names.
MECHANISMS = Registry("dpgraph.problems.records.strategies.linear_queries")
#: Optimal factorization noise is at least as good as any other Gaussian shape, so "auto" does not try the ellipsoids.
_DOMINATED = ("ellipsoid",)
#: They never form a matrix that is too large.
_ANY_SIZE = ("gaussian", "laplace")


def allowed_rates(epsilon: float, delta: float) -> Rates:
    """What the budget is for each law of noise that it allows."""
    delta = check_optional_delta(delta)
    if is_unlimited(epsilon):
        return dict.fromkeys(("laplace", "k-norm", "gaussian"), epsilon)
    pure = dict.fromkeys(("laplace", "k-norm"), check_epsilon(epsilon))
    return pure | {"gaussian": gdp_mu(epsilon, delta)} if delta > 0 else pure


def choose_encoding(
    matrix: QueryMatrix, rates: Rates, mechanism: Any, records: float | None, adjacency: str
) -> Encoding:
    """The candidate with the least data-free expected error."""
    strategy, options = MECHANISMS.resolve(mechanism)
    if strategy is not None:
        if "gaussian" not in rates and not strategy.pure(options):
            require_delta(0.0, f"mechanism={strategy.name!r}", "mechanism='laplace'")
        candidates = strategy.run(options, matrix, adjacency)
    else:
        candidates = []
        for other in MECHANISMS.strategies.values():
            tried = other.name not in _DOMINATED and (fits_shaping(matrix) or other.name in _ANY_SIZE)
            if other.name == "k-norm":  # of linearly independent columns it is among those of "laplace"
                tried = tried and draws_exactly(matrix, adjacency) and matrix.row_space.rank < matrix.shape[1]
            if tried and ("gaussian" in rates or other.pure(other.options())):
                candidates += other.run(other.options(), matrix, adjacency)
    return min(candidates, key=lambda encoding: error_of(encoding, encoding.std(rates), records))


def error_of(encoding: Encoding, std: float, records: float | None) -> float:
    """Expected error of the noise, or the sparse bound if that is smaller."""
    error = encoding.error(std)
    return error if records is None else min(error, encoding.sparse_bound(std, records))
