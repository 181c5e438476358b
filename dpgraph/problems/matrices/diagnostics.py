"""Private spectra and private coherence: look before you choose a rank.

All eigenvalues of an adjacency matrix or of a Laplacian cost what one count costs: these are not normalised, so nothing
has to be known about the degrees and nothing halts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import linalg
from scipy.optimize import isotonic_regression

from dpgraph.arguments import check_choice, check_integer, check_optional_delta, require_delta
from dpgraph.bounds import spectra
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Measurement, open_call
from dpgraph.privacy.relation import Edge
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.embedding.strategy import release_mean_degree
from dpgraph.problems.matrices.call import (
    MatrixBudget,
    check_matrix,
    open_matrix,
    read_rectangular,
    read_symmetric,
    symmetric_embedding,
)
from dpgraph.releases.eigenspaces.gap_test import log_coherence_change
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.eigenspaces.spectrum import accurate_vectors, release_spectrum, spectrum_slack
from dpgraph.releases.normalized import (
    Regularization,
    check_regularization,
    normalized_operator,
    release_lower_bound,
)
from dpgraph.result import Result, TableResult
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.typing import FloatArray

#: A pure alternative to the spectra.
_PURE = "private_normalized_adjacency(mechanism='randomized-response')"
_GAP_SHARE = 0.6
#: Share of the slack of each of two good events; the certificate of the eigenvalues has the rest.
_EVENT_SLACK = 0.498

Matrix = Literal["adjacency", "laplacian"]
_BOUNDS: dict[Matrix, Callable[[float, int], float]] = {
    "adjacency": spectra.whole_adjacency_spectrum,
    "laplacian": spectra.whole_laplacian_spectrum,
}


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


def private_spectrum(  # noqa: PLR0913
    A: Any,
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
) -> PrivateSpectrum:
    """Release the k leading singular values of a matrix, or of a graph's normalized adjacency.

    Parameters
    ----------
    A : ndarray, scipy sparse array or graph
        With `sensitivity`: a private matrix (symmetric or rectangular). Without: a private graph.
    k : int
        Number of values, at least 1 and at most the smaller dimension.
    epsilon, delta, accountant, rng
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
    *Guarantee.* (epsilon, delta)-DP. The whole sorted vector of singular values moves by at most ||A - A'||_F in l2
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
        check_integer("k", k, 1, n)
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
    check_matrix(A)
    check_integer("k", k, 1, min(A.shape))
    rectangular = A.shape[0] != A.shape[1]
    n, values = (sum(A.shape), 2 * k) if rectangular else (A.shape[0], k)
    budget = MatrixBudget(sensitivity, epsilon, delta, accountant, rng)
    slack = spectrum_slack(n, values, check_optional_delta(delta))
    opened = open_matrix(A, budget, rank=k, rectangular=rectangular, slack=slack)
    matrix = symmetric_embedding(read_rectangular(A)) if rectangular else read_symmetric(A)
    stride = 2 if rectangular else 1
    _, spectrum = release_spectrum(matrix, values, opened.neighbours, opened.call, stride=stride)
    return PrivateSpectrum(spectrum.values, spectrum.scale, None, opened.call.report())


def private_whole_spectrum(  # noqa: PLR0913
    G: Any,
    matrix: Matrix = "adjacency",
    *,
    epsilon: float,
    delta: float = 0.0,
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateSpectrum:
    r"""Release all eigenvalues of the adjacency matrix or of the Laplacian of a graph of up to 5000 vertices.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng
        As for :func:`dpgraph.private_max_cut`.
    matrix : {"adjacency", "laplacian"}
        A, or diag(degrees) - A; neither is normalised.
    delta : float
        0 < delta < 1 is needed.

    Returns
    -------
    PrivateSpectrum
        `values` has shape (n,) and increases: the increasing vector (nonnegative for the Laplacian) nearest to the
        noisy one, which is never farther from the exact one.

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input, or more than 5000 vertices; the accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most w, w being
    `max_weight`; the l2-sensitivity of all values together is
    :func:`~dpgraph.bounds.spectra.whole_adjacency_spectrum` or its twin for the Laplacian. Eigenvalues
    smaller than the noise (``std``, about 6 w for an adjacency matrix at epsilon = 1, delta = 1e-6) say little.

    References
    ----------
    A. J. Hoffman, H. W. Wielandt, "The variation of the spectrum of a normal matrix", Duke Math. J. 20 (1953).
    M. Hay, V. Rastogi, G. Miklau, D. Suciu, "Boosting the accuracy of differentially private histograms through
    consistency", PVLDB 3 (2010) (isotonic regression of a noisy sorted vector).

    Examples
    --------
    >>> import networkx as nx
    >>> private = private_whole_spectrum(nx.complete_graph(200), epsilon=2.0, delta=1e-6, rng=0)
    >>> len(private.values), bool(abs(private.values[-1] - 199) < 5 * private.std)
    (200, True)
    """
    check_choice("matrix", matrix, _BOUNDS)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    if source.n_vertices > DENSE_LIMIT:
        raise InvalidParameterError(
            f"all eigenvalues are computed from a dense matrix, for at most {DENSE_LIMIT} vertices; "
            f"got {source.n_vertices}. private_spectrum releases the largest ones of any graph"
        )
    delta = require_delta(delta, "private_whole_spectrum", _PURE)
    call = open_call(epsilon=epsilon, delta=delta, accountant=accountant, relation=Edge(), noise=rng)
    graph = source.read()
    dense = graph.multiply(np.eye(graph.n_vertices))
    if matrix == "laplacian":
        dense = np.diag(graph.degrees()) - dense
    bound = _BOUNDS[matrix](graph.max_weight, graph.n_vertices)
    noisy, std = call.release(Measurement(f"{matrix} spectrum", linalg.eigvalsh(dense), l2=bound, few=True))
    values = isotonic_regression(noisy).x
    return PrivateSpectrum(np.maximum(values, 0.0) if matrix == "laplacian" else values, std, None, call.report())


def private_coherence(
    A: Any,
    rank: int,
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateCoherence:
    """Release the rank-r coherence of a symmetric matrix.

    Parameters
    ----------
    A : ndarray or scipy sparse array, shape (n, n)
        Private symmetric matrix.
    rank : int
        1 <= rank < n.
    sensitivity, epsilon, delta, accountant, rng
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
    *Guarantee.* (epsilon, delta)-DP. Given the gap bound g, ln kappa moves by at most -ln(1 - x),
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
    check_matrix(A)
    n = A.shape[0]
    rank = check_integer("rank, below the number of rows,", rank, 1, n - 1)
    opened = open_matrix(A, MatrixBudget(sensitivity, epsilon, delta, accountant, rng), rank=rank)
    call, neighbours, first = opened.call, opened.neighbours, opened.call.part(_GAP_SHARE)
    operator = read_symmetric(A)
    pairs, spectrum = release_spectrum(operator, rank + 1, neighbours, first)
    z = call.good_event("gap lower bound", _EVENT_SLACK)
    gap = float(spectrum.gap_lower_bounds(z)[rank - 1])
    moves = log_coherence_change(neighbours, gap, rank, n) if gap > 2 * neighbours.norm else None
    if moves is None:
        raise MechanismHalted(
            "the gap sigma_r - sigma_{r+1} could not be certified to exceed twice the sensitivity; raise epsilon or "
            "choose another rank. The budget of this call is spent",
            stage="gap",
            privacy=call.report(),
        )
    exact = np.array([math.log(neighbours.coherence(accurate_vectors(operator, pairs, rank, neighbours, call)))])
    noisy = call.without(first).release(Measurement("log-coherence", exact, l2=moves, few=True))
    upper = noisy.number + call.good_event("log-coherence upper bound", _EVENT_SLACK) * noisy.std
    # The coherence of any basis lies between 1 and n / rank.
    value, bound = (min(max(n * math.exp(2 * x) / rank, 1.0), n / rank) for x in (noisy.number, upper))
    return PrivateCoherence(value, bound, gap, call.report())
