"""Max-bisection of exact data (no privacy)."""

from typing import Any

import numpy as np

from dpgraph.arguments import check_integer
from dpgraph.inputs.graphs import as_graph
from dpgraph.problems.cut.exact import CutResult, cut_result
from dpgraph.sos.cut.bisection import solve_bisection
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.options import SearchMode, SolverOptions

__all__ = ["max_bisection"]


def max_bisection(
    G: Any,
    *,
    imbalance: int = 1,
    seeds: int = 1,
    rounds: int = 100,
    local_search: bool = True,
    rng: int | np.random.Generator | None = None,
    weight: str | None = None,
    target_correlation: float = 0.0,
    beam: int = 2,
    starts: int = 8,
    sweeps: int | None = None,
    tol: float | None = None,
    search: SearchMode = "beam",
) -> CutResult:
    """Cut a graph into two halves with as much weight across as possible. Not private.

    The degree-2 relaxation of max-cut with the additional constraint ``<11', X> <= k^2``, k the largest allowed
    difference of the sizes, solved with a multiplier for it, then conditioned, rounded and improved by annealing near
    balance and exchanges of vertices.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The graph; weights may be negative. For a *minimum* bisection negate them.
    imbalance : int, default 1
        The sizes of the two sides may differ by at most this, at least 1 for an odd number of vertices (for an even
        number 0 and 1 are the same).
    seeds, rounds, local_search, rng, weight, target_correlation, beam, starts, sweeps, tol, search
        As :func:`dpgraph.max_cut`.

    Returns
    -------
    CutResult
        ``upper_bound`` holds for all cuts within the imbalance.

    Raises
    ------
    InvalidGraphError
        Directed input, no vertices, NaN or infinite weights, a missing weight attribute.
    InvalidParameterError
        An argument out of range.

    References
    ----------
    A. Frieze, M. Jerrum, Improved approximation algorithms for MAX k-CUT and MAX BISECTION, Algorithmica 18 (1997).
    P. Raghavendra, N. Tan, Approximating CSPs with global cardinality constraints using SDP hierarchies, SODA 2012.

    Examples
    --------
    >>> import networkx as nx
    >>> star = nx.star_graph(5)  # a centre and five leaves: every bisection separates three leaves from the centre
    >>> result = max_bisection(star, rng=0)
    >>> result.value, sorted(map(len, result.partition))
    (3.0, [3, 3])
    >>> 3.0 <= result.upper_bound < 3.1  # the best cut without the constraint has 5 edges
    True
    """
    graph = as_graph(G, weight=weight)
    n = graph.n_vertices
    imbalance = check_integer(f"imbalance (for {n} vertices)", imbalance, n % 2)
    options = SolverOptions(
        seeds=seeds, rounds=rounds, local_search=local_search, target_correlation=target_correlation, beam=beam,
        starts=starts, sweeps=sweeps, tol=tol, search=search,
    )  # fmt: skip
    return cut_result(solve_bisection(SparseObjective(graph.adjacency), imbalance, options, rng), graph.nodes)
