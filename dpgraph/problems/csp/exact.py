"""Max-2-CSP of exact data (no privacy)."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.linalg.edges import igraph_clustering
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.solver import solve_csp
from dpgraph.sos.moments.rounding import solve_by_moments
from dpgraph.sos.seed_search import Callback, SearchMode, SolverOptions
from dpgraph.sos.solution import ExactResult
from dpgraph.sos.units import csp_in_binary_units
from dpgraph.sos.watch import keeps_time_limit
from dpgraph.typing import FloatArray


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CSPResult(ExactResult):
    """An assignment of exact data with an upper bound on every assignment.

    Attributes
    ----------
    assignment : dict
        Variable -> label.
    value, upper_bound, gap, status, certificate, trace, ...
        See :class:`~dpgraph.sos.solution.ExactResult`.
    """

    assignment: dict[Hashable, Hashable]

    def to_igraph_clustering(self, g: Any) -> Any:
        """Return an ``igraph.VertexClustering`` of `g`, whose vertices are the variables: a cluster for each label."""
        labels = sorted(set(self.assignment.values()), key=repr)
        return igraph_clustering(g, [{v for v, own in self.assignment.items() if own == label} for label in labels])

    def __repr__(self) -> str:
        return (
            f"CSPResult(value={self.value:.6g}, upper_bound={self.upper_bound:.6g}, "
            f"variables={len(self.assignment)}, status={self.status!r})"
        )


@keeps_time_limit
def max_2csp(  # noqa: PLR0913
    instance: TwoCSP,
    *,
    relaxation: Literal["auto", "lowrank", "lasserre"] = "auto",
    degree: int = 2,
    nonnegative: bool | None = None,
    seeds: int = 1,
    rounds: int = 100,
    local_search: bool = True,
    rng: int | np.random.Generator | None = None,
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
) -> CSPResult:
    """Assign labels so that the constraints earn as much as possible. Not private.

    Parameters
    ----------
    instance : TwoCSP
        Variables, alphabet and constraints.
    relaxation : {"auto", "lowrank", "lasserre"}, default "auto"
        "lowrank" is of degree 2 and for large instances; "lasserre" solves the moment relaxation of any even degree
        exactly, for small ones. "auto" is "lowrank" at degree 2 and "lasserre" above.
    nonnegative : bool, optional
        Require nonnegative pair probabilities on the constraints; by default for more than two labels.
    degree, seeds, rounds, local_search, rng, target_correlation, beam, starts, sweeps, tol, search, progress, \
    time_limit, gap_tol, callback
        As :func:`dpgraph.max_cut`.
    initial : dict or sequence, optional
        An assignment to start from, as for :meth:`TwoCSP.value`: what is returned is worth at least as much.

    Returns
    -------
    CSPResult

    Raises
    ------
    InvalidParameterError
        An argument out of range, or a relaxation that does not offer the degree or the size.

    Notes
    -----
    The basic relaxation is optimal for every CSP among polynomial-time algorithms if the unique games conjecture
    holds (Raghavendra 2008). ``upper_bound`` is valid whatever the quality of the assignment.

    References
    ----------
    P. Raghavendra, Optimal algorithms and inapproximability results for every CSP?, STOC 2008; GS11.

    Examples
    --------
    >>> import networkx as nx
    >>> colours = TwoCSP.from_networkx(nx.wheel_graph(6), "coloring", ["r", "g", "b"])
    >>> result = max_2csp(colours, rng=0)
    >>> result.value, colours.total_weight  # an odd wheel needs four colours
    (9.0, 10.0)
    >>> max_2csp(TwoCSP.from_networkx(nx.cycle_graph(5)), degree=4, rng=0).status
    'optimal'
    """
    if not isinstance(instance, TwoCSP):
        raise InvalidParameterError(f"max_2csp needs a TwoCSP; got {type(instance).__name__}")
    check_choice("relaxation", relaxation, ("auto", "lowrank", "lasserre"))
    scaled, exponent = csp_in_binary_units(instance)
    options = SolverOptions(
        seeds=seeds, rounds=rounds, local_search=local_search, target_correlation=target_correlation, beam=beam,
        starts=starts, sweeps=sweeps, tol=tol, search=search, progress=progress, time_limit=time_limit, gap_tol=gap_tol,
        initial=None if initial is None else instance.encode(getattr(initial, "assignment", initial)),
        callback=callback,
    ).in_units(exponent)  # fmt: skip
    if relaxation == "lasserre" or (relaxation == "auto" and degree != 2):
        solution = solve_by_moments(scaled, degree, options, nonnegative=bool(nonnegative), rng=rng)
    elif degree != 2:
        raise InvalidParameterError(f"relaxation='lowrank' is of degree 2; got degree={degree!r}")
    else:
        solution = solve_csp(CSPObjective.of(scaled), options, nonnegative=nonnegative, rng=rng)
    written = partial(_written, instance.n_variables, len(instance.alphabet), instance.pairs, np.array(instance.tables))
    solution = replace(solution, value=scaled.value(solution.labels))  # what a cut was worth may be rounded
    return CSPResult(assignment=instance.decode(solution.labels), **solution.shared(exponent, written))


def _written(n: int, q: int, pairs: Any, tables: FloatArray) -> dict[str, Any]:
    """A constraint problem as the file of a certificate has it."""
    listed = [[*map(int, pair), table.tolist()] for pair, table in zip(pairs, tables, strict=True)]
    return {"problem": "max-2-csp", "imbalance": None, "n": n, "labels": q, "terms": listed}
