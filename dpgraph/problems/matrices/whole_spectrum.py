"""All eigenvalues of an adjacency matrix or of a Laplacian, at the price of one count.

The matrices are not normalised, so nothing has to be known about the degrees and nothing halts.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import linalg
from scipy.optimize import isotonic_regression

from dpgraph.arguments import check_choice, require_delta
from dpgraph.bounds import spectra
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Measurement, open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.matrices.diagnostics import PrivateSpectrum
from dpgraph.results.adjacency import DENSE_LIMIT

__all__ = ["private_whole_spectrum"]

Matrix = Literal["adjacency", "laplacian"]

_BOUNDS: dict[Matrix, Callable[[float, int], float]] = {
    "adjacency": spectra.whole_adjacency_spectrum,
    "laplacian": spectra.whole_laplacian_spectrum,
}


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
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    matrix : {"adjacency", "laplacian"}
        A, or diag(degrees) - A; neither is normalised.
    epsilon, delta, accountant, rng
        As for :func:`~dpgraph.private_projector`.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.

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
    delta = require_delta(
        delta, "private_whole_spectrum", "private_normalized_adjacency(mechanism='randomized-response')"
    )
    call = open_call(epsilon=epsilon, delta=delta, accountant=accountant, relation=Edge(), noise=noise_source(rng))
    graph = source.read()
    dense = graph.multiply(np.eye(graph.n_vertices))
    if matrix == "laplacian":
        dense = np.diag(graph.degrees()) - dense
    bound = _BOUNDS[matrix](graph.max_weight, graph.n_vertices)
    noisy, std = call.release(Measurement(f"{matrix} spectrum", linalg.eigvalsh(dense), l2=bound, few=True))
    values = isotonic_regression(noisy).x
    return PrivateSpectrum(np.maximum(values, 0.0) if matrix == "laplacian" else values, std, None, call.report())
