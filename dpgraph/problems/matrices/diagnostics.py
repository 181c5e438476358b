"""Private spectra and private coherence, by which a rank can be chosen."""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.arguments import check_integer, require_delta
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import open_graph
from dpgraph.linalg.eigen import check_eigenpairs
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, Measurement, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.embedding.strategies import release_mean_degree
from dpgraph.problems.matrices.call import (
    MatrixFacts,
    check_matrix,
    matrix_facts,
    read_rectangular,
    read_symmetric,
    symmetric_embedding,
)
from dpgraph.releases.eigenspaces.gap_test import log_coherence_change
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.eigenspaces.spectrum import accurate_vectors, bounded, release_spectrum, spectrum_slack
from dpgraph.releases.normalized import Regularization, check_regularization, normalized_operator, release_lower_bound
from dpgraph.result import Result, TableResult
from dpgraph.typing import FloatArray, GraphLike, MatrixLike

#: A pure alternative to the spectra.
_PURE = "private_normalized_adjacency(mechanism='randomized-response')"
_GAP_SHARE = 0.6
#: Share of the slack of each of two good events; the certificate of the eigenvalues has the rest.
_EVENT_SLACK = 0.498


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSpectrum(TableResult):
    """Noisy leading singular values.

    Parameters
    ----------
    values : ndarray, shape (k,)
        Exact ones in decreasing order plus noise; for a graph, |eigenvalues| of the regularised normalized adjacency.
    std : float
        Standard deviation of the noise of each value.
    regularization : float or None
        tau of a graph's normalized adjacency; ``None`` for a matrix.
    privacy : PrivacyReport
        The guarantee.
    """

    values: FloatArray
    std: float
    regularization: float | None
    privacy: PrivacyReport

    def _bars(self) -> tuple[str, FloatArray]:
        return "values in the order of release", self.values

    def columns(self) -> dict[str, list[float]]:
        """Column ``value``."""
        return {"value": self.values.tolist()}

    def __repr__(self) -> str:
        return f"PrivateSpectrum({len(self.values)} values, std {self.std:.4g}, {self.privacy!r})"


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCoherence(Result):
    """Private rank-r coherence mu_r = n kappa^2 / r.

    Parameters
    ----------
    value : float
        Estimate, the exponential of an unbiased estimate of its logarithm.
    upper_bound : float
        Exceeds the exact coherence except with probability at most the delta share of its ledger line.
    gap : float
        Private lower bound on sigma_r - sigma_{r+1}.
    privacy : PrivacyReport
        The guarantee.
    """

    value: float
    upper_bound: float
    gap: float
    privacy: PrivacyReport

    def __repr__(self) -> str:
        return f"PrivateCoherence(value={self.value:.4g}, upper_bound={self.upper_bound:.4g}, {self.privacy!r})"


@private_function
def private_spectrum(  # noqa: PLR0913
    A: GraphLike,
    k: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    sensitivity: float | None = None,
    regularization: Regularization = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSpectrum:
    """Release the k leading singular values of a matrix, or of a graph's normalized adjacency.

    Parameters
    ----------
    A : ndarray, scipy sparse array or graph
        With `sensitivity`: a private matrix (symmetric or rectangular). Without: a private graph.
    k : int
        Number of values, at least 1 and at most the smaller dimension.
    epsilon, delta, accountant, rng, progress
        As for :func:`~dpgraph.private_projector`.
    sensitivity : float, optional
        Bound on ||A - A'||_F between neighbours, for a matrix.
    regularization, weight, max_weight, symmetrize
        For a graph, as in :func:`~dpgraph.private_normalized_adjacency`.

    Returns
    -------
    PrivateSpectrum

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.
    MechanismHalted
        A graph with a given `regularization` has no private lower bound on its degrees.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. The whole sorted vector of singular values changes by at most ||A - A'||_F in l2
    (Mirsky), so that k values cost what one costs; for a graph the bound is about sqrt(2) w/m.

    References
    ----------
    L. Mirsky, "Symmetric gauge functions and unitarily invariant norms", Quart. J. Math. 11 (1960).

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> private = dpgraph.private_spectrum(np.diag([50.0, 20.0, 1.0]), 2, sensitivity=1.0, epsilon=4, delta=1e-6, rng=0)
    >>> len(private.values), private.std < 2
    (2, True)
    """
    if sensitivity is None:
        source = open_graph(A, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
        n = source.n_vertices
        check_eigenpairs(n, check_integer("k", k, 1, n))
        check_regularization(regularization, n, source.max_weight)
        delta = require_delta(delta, "private_spectrum", _PURE)
        slack = spectrum_slack(n, k, delta) if regularization == "auto" else SLACK_SHARE * delta
        call = open_call(epsilon=epsilon, delta=delta, accountant=accountant, relation=Edge(), noise=rng, slack=slack)
        graph = source.read()
        mean, left = release_mean_degree(graph, call)
        tau, lower, left = release_lower_bound(graph, regularization, mean, left)
        of_edges = EdgeNeighbours(graph.max_weight, lower, tau, graph.degrees())
        _, spectrum = release_spectrum(normalized_operator(graph, graph.degrees() + tau), k, of_edges, left)
        return PrivateSpectrum(spectrum.values, spectrum.scale, tau, call.report())
    if not (isinstance(regularization, str) and weight is None and max_weight is None and symmetrize is False):
        raise InvalidParameterError(
            "sensitivity= belongs to a matrix that is no graph; regularization=, weight=, max_weight= and symmetrize= "
            "to a graph: pass the one or the others"
        )
    shape = check_matrix(A)
    check_integer("k", k, 1, min(shape))
    rectangular = shape[0] != shape[1]
    facts = matrix_facts(A, k, (sensitivity, epsilon, delta), rectangular=rectangular)
    moves, n, values = facts.moves, sum(shape) if rectangular else facts.n, facts.moves.copies * k
    call = _open(facts, spectrum_slack(n, values, facts.delta), accountant, rng)
    matrix, _ = bounded(read_rectangular(A) if rectangular else read_symmetric(A), moves.norm)
    operator = symmetric_embedding(matrix) if rectangular else matrix
    _, spectrum = release_spectrum(operator, values, moves, call)
    return PrivateSpectrum(spectrum.values[:: moves.copies], spectrum.scale, None, call.report())


def _open(
    facts: MatrixFacts, slack: float, accountant: PrivacyAccountant | None, rng: int | np.random.Generator | None
) -> Call:
    facts.check_eigenpairs()
    return open_call(
        epsilon=facts.epsilon, delta=require_delta(facts.delta, "this function", "private_symmetric_matrix"),
        accountant=accountant, relation=facts.neighbours, noise=rng, slack=slack,
    )  # fmt: skip


@private_function
def private_coherence(  # noqa: PLR0913
    A: MatrixLike,
    rank: int,
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCoherence:
    """Release the rank-r coherence of a symmetric matrix.

    Parameters
    ----------
    A : ndarray or scipy sparse array, shape (n, n)
        Private symmetric matrix.
    rank : int
        1 <= rank < n.
    sensitivity, epsilon, delta, accountant, rng, progress
        As for :func:`~dpgraph.private_projector`.

    Returns
    -------
    PrivateCoherence

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.
    MechanismHalted
        The gap sigma_r - sigma_{r+1} could not be certified to exceed twice the sensitivity (stage ``"gap"``).

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP. Given the gap bound g, ln kappa changes by at most -ln(1 - x),
    x = Delta/(g - Delta).

    References
    ----------
    DN25a, Algorithm 5.5 and its sensitivity lemma; :func:`dpgraph.bounds.spectra.general_log_coherence`.

    Examples
    --------
    >>> import numpy as np, dpgraph
    >>> v = np.ones(300) / np.sqrt(300)
    >>> private = dpgraph.private_coherence(500 * np.outer(v, v), 1, sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0)
    >>> bool(1 <= private.upper_bound < 2)
    True
    """
    n, _ = check_matrix(A)
    rank = check_integer("rank, below the number of rows,", rank, 1, n - 1)
    facts = matrix_facts(A, rank, (sensitivity, epsilon, delta))
    call, neighbours = _open(facts, SLACK_SHARE * facts.delta, accountant, rng), facts.moves
    first = call.part(_GAP_SHARE)
    operator, _ = bounded(read_symmetric(A), neighbours.norm)
    pairs, spectrum = release_spectrum(operator, rank + 1, neighbours, first)
    z = call.good_event("gap lower bound", _EVENT_SLACK)
    gap = float(spectrum.gap_lower_bounds(z)[rank - 1])
    moves = log_coherence_change(neighbours, gap, rank, n) if gap > 2 * neighbours.norm else None
    if moves is None:
        raise call.halted(
            "the gap sigma_r - sigma_{r+1} could not be certified to exceed twice the sensitivity; raise epsilon or "
            "choose another rank",
            "gap",
        )
    exact = np.array([math.log(neighbours.coherence(accurate_vectors(operator, pairs, rank, neighbours, call)))])
    noisy = call.without(first).release(Measurement("log-coherence", exact, l2=moves, few=True))
    upper = noisy.number + call.good_event("log-coherence upper bound", _EVENT_SLACK) * noisy.std
    # The coherence of any basis lies between 1 and n / rank.
    value, bound = (min(max(n * math.exp(2 * x) / rank, 1.0), n / rank) for x in (noisy.number, upper))
    return PrivateCoherence(value, bound, gap, call.report())
