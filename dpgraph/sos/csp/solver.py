"""Max-2-CSP by the degree-2 relaxation, global correlation rounding and local search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import as_generator
from dpgraph.sos.csp.conditioning import CSPNode, condition_csp
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import solve_csp_relaxation
from dpgraph.sos.csp.rounding import best_rows, improve_labels, one_opt_labels, round_vectors
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.optimality import solution_status
from dpgraph.sos.seed_search import SearchMode, SeedSearch, TraceEntry, check_options, check_search

__all__ = ["CSPSolution", "solve_csp"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CSPSolution:
    """An assignment with a certified upper bound; attributes as of :class:`dpgraph.sos.cut.solver.MaxCutSolution`.

    Attributes
    ----------
    labels : numpy.ndarray of int, shape (n,)
        Position of the label of each variable.
    value, relaxation_value, upper_bound, global_correlation, local_correlation : float
    certificate, status : str
    trace : tuple of TraceEntry
    """

    labels: IntArray
    value: float
    relaxation_value: float
    upper_bound: float
    certificate: str
    global_correlation: float
    local_correlation: float
    trace: tuple[TraceEntry, ...]
    status: str

    def __repr__(self) -> str:
        return (
            f"CSPSolution(n={self.labels.size}, value={self.value:.6g}, upper_bound={self.upper_bound:.6g}, "
            f"status={self.status!r})"
        )


def solve_csp(
    objective: CSPObjective,
    *,
    seeds: int = 1,
    rounds: int = 100,
    local_search: bool = True,
    rng: int | np.random.Generator | None = None,
    nonnegative: bool | None = None,
    target_correlation: float = 0.0,
    beam: int = 2,
    starts: int = 8,
    sweeps: int | None = None,
    tol: float | None = None,
    search: SearchMode = "beam",
    progress: bool = False,
) -> CSPSolution:
    """Maximise an objective: relax, condition on seeds, round, improve.

    Two labels without `nonnegative` are a max-cut on one more vertex and solved as such.

    Parameters
    ----------
    objective : CSPObjective
        What is maximised; any values, of either sign.
    seeds : int, default 1
        Largest number of pinned variables. Each costs up to ``beam * q`` warm re-solves.
    rounds : int, default 100
        Random roundings of each node that is left.
    local_search : bool, default True
        Improve the best roundings by annealing and single changes.
    rng : int or numpy.random.Generator, optional
        Public randomness; the result is a deterministic function of it.
    nonnegative : bool, optional
        Require nonnegative pair probabilities; by default for more than two labels.
    target_correlation : float, default 0
        Stop pinning once the global correlation is at most this.
    beam, starts, sweeps
        As for :func:`dpgraph.sos.cut.solver.solve_max_cut`.
    tol : float, optional
        Relative accuracy of the relaxation; 1e-5 up to 300 variables, 1e-4 above by default.
    search : {"beam", "all", "sampled"}, default "beam"
        How seeds and their labels are chosen, see :mod:`dpgraph.sos.seed_search`.
    progress : bool, default False
        Show a progress bar on stderr.

    Returns
    -------
    CSPSolution

    Raises
    ------
    InvalidParameterError
        A count or tolerance is out of range.
    """
    check_options(
        seeds=seeds, rounds=rounds, beam=beam, starts=starts, sweeps=sweeps, tol=tol, target=target_correlation
    )
    check_search(search, seeds, objective.alphabet_size)
    generator = as_generator(rng)
    if objective.alphabet_size == 2 and not nonnegative:
        signed = objective.signed()
        cut = solve_max_cut(
            signed, seeds=seeds + 1, rounds=rounds, local_search=local_search, rng=generator, beam=beam,
            target_correlation=target_correlation, starts=starts, sweeps=sweeps, tol=tol, search=search,
            progress=progress,
        )  # fmt: skip
        return CSPSolution(cut.labels[1:], **{name: getattr(cut, name) for name in _SHARED})
    tol = (1e-5 if objective.n_variables <= 300 else 1e-4) if tol is None else tol
    nonnegative = nonnegative is None or nonnegative
    with _progress_bar(progress, seeds) as bar:
        root = solve_csp_relaxation(objective, generator, nonnegative=nonnegative, tol=tol)
        bar.update()
        rounded = best_rows(objective, round_vectors(root.vectors, rounds, generator), starts)
        known = best_rows(objective, one_opt_labels(objective, rounded), 1)[0]
        tree = condition_csp(
            objective,
            root,
            generator,
            seeds=seeds,
            target=target_correlation,
            beam=beam,
            nonnegative=nonnegative,
            tol=tol,
            lower_bound=objective.value(known) + (1.0 - 1e-6 if objective.integral else 0.0),
            mode=search,
            on_seed=bar.update,
        )
        rounded = _round_nodes(objective, tree, rounded, rounds, generator, starts)
        labels = improve_labels(objective, rounded, generator, sweeps=sweeps) if local_search else rounded[0]
        bar.update()
    return _assemble(objective, root.certificate.kind, tree, labels)


_SHARED = (
    "value",
    "relaxation_value",
    "upper_bound",
    "certificate",
    "global_correlation",
    "local_correlation",
    "trace",
    "status",
)


def _round_nodes(
    objective: CSPObjective,
    tree: SeedSearch[CSPNode],
    rounded: IntArray,
    rounds: int,
    rng: np.random.Generator,
    keep: int,
) -> IntArray:
    """The best of `rounded` and of roundings of every node that is left."""
    pool = [rounded]
    for node in tree.nodes:
        if np.any(node.labels >= 0):
            pool.append(node.complete(round_vectors(node.relaxation.vectors, rounds, rng)))
    return best_rows(objective, np.concatenate(pool), keep)


def _assemble(objective: CSPObjective, certificate: str, tree: SeedSearch[CSPNode], labels: IntArray) -> CSPSolution:
    value = objective.value(labels)
    bound = max(tree.upper_bound, value)
    last = tree.trace[-1]
    return CSPSolution(
        labels=labels,
        value=value,
        relaxation_value=last.value,
        upper_bound=bound,
        certificate=certificate,
        global_correlation=last.global_correlation,
        local_correlation=last.local_correlation,
        trace=tree.trace,
        status=solution_status(objective, value, bound),
    )


def _progress_bar(show: bool, seeds: int) -> Any:
    from tqdm import tqdm

    return tqdm(total=seeds + 2, disable=not show, desc="max-2-csp", unit="stage")
