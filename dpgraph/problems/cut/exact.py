"""Max-cut and max-bisection of exact data (no privacy)."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from dpgraph.arguments import check_choice, check_integer
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import Graph, vertex_sets, vertex_sides
from dpgraph.inputs.graphs import as_graph
from dpgraph.linalg.edges import igraph_clustering
from dpgraph.results.adjacency import DENSE_LIMIT, FactoredOperator
from dpgraph.sos.branching.prove import solve_and_prove
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.objective import FactoredObjective, SparseObjective
from dpgraph.sos.moments.rounding import solve_bisection_by_moments, solve_cut_by_moments
from dpgraph.sos.seed_search import Callback, SearchMode, SolverOptions
from dpgraph.sos.solution import ExactResult, Solution
from dpgraph.sos.units import graph_in_binary_units
from dpgraph.sos.watch import keeps_time_limit
from dpgraph.typing import GraphLike, Operator

Relaxation = Literal["auto", "lowrank", "lasserre", "admm"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CutResult(ExactResult):
    """A cut of exact data with an upper bound on every cut.

    Attributes
    ----------
    partition : (set, set)
        The two sides, in the caller's labels; the first holds the first vertex.
    value, upper_bound, gap, status, certificate, trace, ...
        See :class:`~dpgraph.sos.solution.ExactResult`.
    """

    partition: tuple[set[Hashable], set[Hashable]]

    def to_igraph_clustering(self, g: Any) -> Any:
        """Return an ``igraph.VertexClustering`` of `g`, the graph that the cut is of; cluster k is side k."""
        return igraph_clustering(g, self.partition)

    def __repr__(self) -> str:
        left, right = map(len, self.partition)
        return (
            f"CutResult(value={self.value:.6g}, upper_bound={self.upper_bound:.6g}, sides={left}+{right}, "
            f"status={self.status!r})"
        )


@keeps_time_limit
def max_cut(  # noqa: PLR0913
    G_or_operator: GraphLike | Graph | Operator,
    *,
    relaxation: Relaxation = "auto",
    degree: int = 2,
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
    progress: bool = False,
    time_limit: float | None = None,
    gap_tol: float = 0.0,
    initial: Any = None,
    callback: Callback | None = None,
) -> CutResult:
    """Cut a graph into two sides with as much weight across as possible. Not private.

    The degree-2 sum-of-squares relaxation, maximise ``sum_ij M_ij (1 - X_ij)/4`` over positive semidefinite X with
    unit diagonal, is solved in low-rank form to a certified gap, conditioned on `seeds` vertices chosen by global
    correlation, rounded, and improved by simulated annealing. Vertices of one or two neighbours are eliminated first,
    which loses nothing and tightens the relaxation; forests, cycles and bipartite graphs are solved in linear time. All
    cuts of up to 24 vertices are listed instead, and graphs of small treewidth are eliminated, unless several seeds or
    the rounding alone are asked for.

    Parameters
    ----------
    G_or_operator : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix, or operator
        The graph; weights may be negative. A symmetric :class:`scipy.sparse.linalg.LinearOperator`, such as
        ``private.adjacency_operator()``, is an adjacency matrix on the vertices 0..n-1 whose diagonal is left out, and
        so is a :class:`~dpgraph.sos.cut.base.CutObjective`; with factors it stays factored.
    relaxation : {"auto", "lowrank", "lasserre", "admm"}, default "auto"
        "lowrank" is of degree 2 and for large graphs. "lasserre" solves the moment relaxation of any even degree
        exactly, for small ones: the moment matrix has O(n^(degree/2)) rows, at most 700. "admm" is degree 2 solved by
        operator splitting (SCS), a reference within the same limit. "auto" is "lowrank" at degree 2 and "lasserre"
        above.
    degree : int, default 2
        Degree of the relaxation, even.
    seeds : int, default 1
        Largest number of pinned variables. In a cut the first one only fixes the sign and is free; every other seed
        costs `beam` times q warm re-solves, q the number of labels (2 sides). "lasserre" spends one degree for each.
    rounds : int, default 100
        Random roundings of each node of the search that is left.
    local_search : bool, default True
        Improve the best roundings by annealing and changes of single variables.
    rng : int or numpy.random.Generator, optional
        Makes the result reproducible.
    weight : str, optional
        Edge attribute that holds the weight; None counts every edge as 1, parallel ones together. Entries of a matrix
        are weights.
    target_correlation : float, default 0
        Stop pinning once the global correlation is at most this.
    beam : int, default 2
        Nodes of the search that are kept after each seed: q**seeds of them are the whole tree.
    starts : int, default 8
        Rounded solutions from which the local search starts.
    sweeps : int, optional
        Annealing sweeps for each start; by default as many as take a few seconds in all.
    tol : float, optional
        Relative gap at which the relaxation stops. By default 1e-6 for cuts of up to 1000 vertices, 1e-5 for CSPs of
        up to 300 variables, and 1e-4 above, more where there are thousands. For "lowrank" only.
    search : {"beam", "sampled", "optimal"}, default "beam"
        "beam" pins the variables of largest expected drop of variance and keeps the `beam` best nodes; "sampled" is the
        papers' way, random seeds with sampled labels, `beam` times. "optimal" goes on with branch and bound until the
        cut is proven to be the largest, which may take for ever: set a `time_limit`, with which "beam" does the same.
        For "lowrank" only.
    progress : bool, default False
        Show a progress bar on stderr.
    time_limit : float, optional
        Seconds, after which the solver ends with what it has, whatever it is at; but the graph is read, each vertex put
        on a side and the result made, which takes up to a quarter of a second for a million edges. Without a limit the
        local search ends after about a few seconds. With one it goes on until then, or until the cut is proven optimal,
        and results depend on the speed of the machine.
    gap_tol : float, default 0
        Relative gap of value and upper bound at which nothing more is tried.
    initial : (set, set), dict, numpy array or result object, optional
        A cut to start from, as for :func:`dpgraph.evaluate.cut_value`: what is returned is worth at least as much.
    callback : function, optional
        Called with the seconds so far, the best value and the upper bound, whenever one of the latter has improved.

    Returns
    -------
    CutResult

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        No undirected graph with finite weights; an argument out of range, or a relaxation that does not offer the
        degree.

    Notes
    -----
    For nonnegative weights hyperplane rounding alone has expected value at least 0.878 times the optimum
    (Goemans, Williamson 1995). ``upper_bound`` is valid whatever the quality of the cut.

    References
    ----------
    M. X. Goemans, D. P. Williamson, Improved approximation algorithms for maximum cut and satisfiability problems
    using semidefinite programming, J. ACM 42 (1995), Theorem 3.3; BRS11.

    Examples
    --------
    >>> import networkx as nx
    >>> result = max_cut(nx.petersen_graph(), rng=0)
    >>> result.value, round(result.upper_bound, 2)
    (12.0, 12.0)
    >>> max_cut(nx.complete_bipartite_graph(3, 4), rng=0).status
    'optimal'
    >>> max_cut(nx.cycle_graph(5), degree=4, rng=0).status
    'optimal'
    """
    check_choice("relaxation", relaxation, ("auto", "lowrank", "lasserre", "admm"))
    if relaxation in ("lowrank", "admm") and degree != 2:
        raise InvalidParameterError(f"relaxation={relaxation!r} is of degree 2; got degree={degree!r}")
    objective, nodes, exponent = _objective(G_or_operator, weight)
    options = SolverOptions(
        seeds=seeds, rounds=rounds, local_search=local_search, target_correlation=target_correlation, beam=beam,
        starts=starts, sweeps=sweeps, tol=tol, search=search, progress=progress, time_limit=time_limit, gap_tol=gap_tol,
        initial=None if initial is None else vertex_sides(nodes, initial).astype(np.int64), callback=callback,
    ).in_units(exponent)  # fmt: skip
    if relaxation in ("lasserre", "admm") or degree != 2:
        solver: Literal["auto", "scs"] = "scs" if relaxation == "admm" else "auto"
        solution = solve_cut_by_moments(objective, degree, options, solver=solver, rng=rng)
    else:
        solution = solve_and_prove(objective, options, rng)
    return _cut_result(solution, nodes, exponent, _instance(objective, exponent))


@keeps_time_limit
def max_bisection(  # noqa: PLR0913
    G: GraphLike | Graph,
    *,
    imbalance: int = 1,
    degree: int = 2,
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
    progress: bool = False,
    time_limit: float | None = None,
    gap_tol: float = 0.0,
    initial: Any = None,
    callback: Callback | None = None,
) -> CutResult:
    """Cut a graph into two halves with as much weight across as possible. Not private.

    As :func:`max_cut` with the constraint ``<11', X> <= k^2``, k the largest allowed difference of the sizes, and a
    multiplier for it; improved by multilevel cuts, annealing near balance, flips and flows.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The graph; weights may be negative. For a *minimum* bisection negate them.
    imbalance : int, default 1
        The sizes of the two sides may differ by at most this, at least 1 for an odd number of vertices (for an even
        number 0 and 1 are the same).
    degree : int, default 2
        Degree of the relaxation. Above 2, for small graphs only: a pseudo-distribution that is balanced, conditioned by
        reweighting (DN25a, Lemma A.1).
    seeds, rounds, local_search, rng, weight, target_correlation, beam, starts, sweeps, tol, search, progress, \
    time_limit, gap_tol, initial, callback
        As :func:`dpgraph.max_cut`. An `initial` cut that is not balanced is repaired.

    Returns
    -------
    CutResult
        ``upper_bound`` holds for all cuts within the imbalance.

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        As :func:`dpgraph.max_cut`.

    References
    ----------
    A. Frieze, M. Jerrum, Improved approximation algorithms for MAX k-CUT and MAX BISECTION, 1997; RT12.

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
    scaled, exponent = graph_in_binary_units(graph.adjacency, in_place=graph is not G)
    imbalance = check_integer(f"imbalance (for {n} vertices)", imbalance, n % 2)
    options = SolverOptions(
        seeds=seeds, rounds=rounds, local_search=local_search, target_correlation=target_correlation, beam=beam,
        starts=starts, sweeps=sweeps, tol=tol, search=search, progress=progress, time_limit=time_limit, gap_tol=gap_tol,
        initial=None if initial is None else vertex_sides(graph.labels, initial).astype(np.int64), callback=callback,
    ).in_units(exponent)  # fmt: skip
    objective = SparseObjective(scaled)
    if degree == 2:
        solution = solve_and_prove(objective, options, rng, imbalance=imbalance)
    else:
        solution = solve_bisection_by_moments(objective, imbalance, degree, options, rng)
    return _cut_result(solution, graph.labels, exponent, _instance(objective, exponent, imbalance))


def _objective(G: Any, weight: str | None) -> tuple[CutObjective, Sequence[Hashable], int]:
    """What is cut, in units of a power of two, its vertices, and the exponent of that power."""
    if isinstance(G, CutObjective):
        return G, range(G.n_vertices), 0
    if isinstance(G, FactoredOperator):
        return FactoredObjective(G.factor, G.core), range(G.shape[0]), 0
    if isinstance(G, LinearOperator):
        n = G.shape[0]
        if G.shape != (n, n) or not 0 < n <= DENSE_LIMIT:
            raise InvalidGraphError(
                f"expected an n x n operator with n from 1 to {DENSE_LIMIT}, as its matrix is formed; got shape "
                f"{G.shape}. Larger ones must be sparse, or factored: dpgraph.sos.cut.objective.FactoredObjective"
            )
        G, weight = np.asarray(G @ np.eye(n)), None  # the reader of graphs refuses what is not symmetric or not finite
    graph = as_graph(G, weight=weight)
    adjacency, exponent = graph_in_binary_units(graph.adjacency, in_place=graph is not G)
    return SparseObjective(adjacency), graph.labels, exponent


def _cut_result(
    solution: Solution, nodes: Sequence[Hashable], exponent: int, instance: Callable[[], dict[str, Any]] | None
) -> CutResult:
    """The solution in the labels of the caller, with the certificate of an instance whose edges can be listed."""
    first, second = vertex_sets(nodes, solution.labels, 2)
    if instance is None:
        solution = replace(solution, proof=None, uncertified="certificates are of graphs and matrices, not of factors")
    return CutResult(partition=(first, second), **solution.shared(exponent, instance))


def _instance(
    objective: CutObjective, exponent: int, imbalance: int | None = None
) -> Callable[[], dict[str, Any]] | None:
    """A cut problem as the file of a certificate has it, made when it is asked for."""
    if not isinstance(objective, SparseObjective):
        return None
    kind, most = ("max-cut", None) if imbalance is None else ("max-bisection", int(imbalance))
    problem = {"problem": kind, "imbalance": most}
    return partial(_written, problem, objective, exponent)


def _written(problem: dict[str, Any], objective: SparseObjective, exponent: int) -> dict[str, Any]:
    upper = sparse.triu(objective.matrix, k=1).tocoo()
    weights = np.ldexp(upper.data, exponent).tolist()
    edges = [list(edge) for edge in zip(upper.row.tolist(), upper.col.tolist(), weights, strict=True)]
    return {**problem, "n": objective.n_vertices, "labels": 2, "terms": edges}
