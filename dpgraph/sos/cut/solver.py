"""Max-cut by the degree-2 relaxation, global correlation rounding and local search.

Works on any :class:`~dpgraph.sos.cut.objective.CutObjective`; the exact and the private max-cut both call it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import as_generator
from dpgraph.exceptions import InvalidParameterError
from dpgraph.sos.cut.conditioning import PinnedNode, condition
from dpgraph.sos.cut.local_search import improve, one_opt
from dpgraph.sos.cut.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.cut.objective import CutObjective
from dpgraph.sos.cut.rounding import best_columns, hyperplane_rounding, independent_signs
from dpgraph.sos.optimality import is_optimal, solution_status
from dpgraph.sos.seed_search import SearchMode, SeedSearch, TraceEntry, check_options, check_search

__all__ = ["MaxCutSolution", "solve_max_cut"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MaxCutSolution:
    """A cut of an objective with a certified upper bound.

    Attributes
    ----------
    labels : numpy.ndarray of int, shape (n,)
        Side of each vertex, 0 or 1; vertex 0 is on side 0.
    value : float
        Value of the cut.
    relaxation_value : float
        Value of the relaxation that was rounded (after pinning seeds).
    upper_bound : float
        No cut has a larger value; `certificate` says how that is known.
    certificate : str
        "proven", "trivial" or "lanczos", see :class:`dpgraph.sos.cut.certificate.Certificate`.
    global_correlation, local_correlation : float
        Of the rounded pseudo-distribution; independent rounding of it has expected value
        ``relaxation_value - local_correlation``.
    trace : tuple of TraceEntry
        One entry for each number of seeds, from 0.
    status : str
        "optimal" when the bound proves it, otherwise "bounded".
    """

    labels: NDArray[np.int64]
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
            f"MaxCutSolution(n={self.labels.size}, value={self.value:.6g}, upper_bound={self.upper_bound:.6g}, "
            f"status={self.status!r})"
        )


def solve_max_cut(
    objective: CutObjective,
    *,
    seeds: int = 1,
    rounds: int = 100,
    local_search: bool = True,
    rng: int | np.random.Generator | None = None,
    target_correlation: float = 0.0,
    beam: int = 2,
    starts: int = 8,
    sweeps: int | None = None,
    tol: float | None = None,
    vertex_weights: FloatArray | None = None,
    search: SearchMode = "beam",
    progress: bool = False,
) -> MaxCutSolution:
    """Cut an objective: relax, condition on seeds, round, improve.

    Parameters
    ----------
    objective : CutObjective
        What is to be cut.
        Sparse, dense or factored.
    seeds : int, default 1
        Largest number of pinned vertices. The first one is only a gauge and costs nothing; each further one costs
        2 * `beam` warm re-solves.
    rounds : int, default 100
        Random hyperplanes, and independent samples of each node that is left.
    local_search : bool, default True
        Improve the best roundings by annealing, single flips and recombination.
    rng : int or numpy.random.Generator, optional
        Public randomness; the result is a deterministic function of it.
    target_correlation : float, default 0
        Stop pinning once the global correlation is at most this.
    beam : int, default 2
        Nodes of the search tree that are kept after each seed.
    starts : int, default 8
        Rounded cuts from which the local search starts.
    sweeps : int, optional
        Annealing sweeps for each start; by default a few seconds for all, at most 2500 each.
    tol : float, optional
        Certified relative gap at which the relaxation stops; 1e-6 up to 1000 vertices, 1e-4 above by default.
    vertex_weights : numpy.ndarray, shape (n,), optional
        Weights p of the global correlation (scaled to sum 1); row norms of M by default.
    search : {"beam", "all", "sampled"}, default "beam"
        How seeds and their labels are chosen, see :mod:`dpgraph.sos.seed_search`.
    progress : bool, default False
        Show a progress bar on stderr.

    Returns
    -------
    MaxCutSolution

    Raises
    ------
    InvalidParameterError
        A count, tolerance or weight is out of range.
    """
    check_options(
        seeds=seeds, rounds=rounds, beam=beam, starts=starts, sweeps=sweeps, tol=tol, target=target_correlation
    )
    check_search(search, max(seeds - 1, 0), 2)
    generator = as_generator(rng)
    weights = _vertex_weights(objective, vertex_weights)
    with _progress_bar(progress, seeds) as bar:
        root = solve_low_rank(objective, generator, tol=tol)
        bar.update()
        cuts = hyperplane_rounding(objective, root.vectors, rounds, generator, keep=starts)
        tree = condition(
            objective,
            root,
            generator,
            seeds=seeds,
            target=target_correlation,
            beam=beam,
            weights=weights,
            tol=tol,
            lower_bound=_to_beat(objective, cuts),
            mode=search,
            on_seed=bar.update,
        )
        cuts = _round_nodes(objective, tree, cuts, rounds, generator, keep=starts)
        cut = one_opt(objective, cuts[:, 0]) if local_search else cuts[:, 0]
        if local_search and not is_optimal(objective, objective.cut_value(cut), tree.upper_bound):
            cut = improve(objective, cuts, generator, sweeps=sweeps)
        bar.update()
    return _assemble(objective, root, tree, cut)


def _to_beat(objective: CutObjective, cuts: FloatArray) -> float:
    """A bound at most this closes a branch: no cut of the branch beats the best known one."""
    known = float(objective.values(one_opt(objective, cuts)).max())
    return known + 1.0 - 1e-6 if objective.integral else known


def _vertex_weights(objective: CutObjective, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return objective.vertex_weights()
    p = np.asarray(weights, dtype=np.float64)
    if p.shape != (objective.n_vertices,) or not np.all(np.isfinite(p)) or np.any(p < 0.0) or not p.sum() > 0.0:
        raise InvalidParameterError(
            f"vertex_weights must be {objective.n_vertices} finite nonnegative numbers, not all zero; "
            f"got an array of shape {p.shape}"
        )
    return p / p.sum()


def _round_nodes(
    objective: CutObjective,
    tree: SeedSearch[PinnedNode],
    cuts: FloatArray,
    rounds: int,
    rng: np.random.Generator,
    *,
    keep: int,
) -> FloatArray:
    """The best cuts among `cuts`, independent samples and hyperplane cuts of every node that is left."""
    pool = [cuts]
    for node in tree.nodes:
        if not node.pins:
            continue
        means = node.means()
        count = max(1, min(rounds, 20_000_000 // means.size))
        pool.append(best_columns(objective, independent_signs(means, count, rng), keep))
        if len(node.pins) > 1:  # before that, the hyperplanes of the root are the node's own
            pool.append(hyperplane_rounding(objective, node.vectors(), rounds, rng, keep=keep))
    return best_columns(objective, np.hstack(pool), keep)


def _assemble(
    objective: CutObjective, root: LowRankSolution, tree: SeedSearch[PinnedNode], signs: FloatArray
) -> MaxCutSolution:
    value = objective.cut_value(signs)
    bound = max(tree.upper_bound, value)
    last = tree.trace[-1]
    return MaxCutSolution(
        labels=(signs != signs[0]).astype(np.int64),
        value=value,
        relaxation_value=last.value,
        upper_bound=bound,
        certificate=root.certificate.kind,
        global_correlation=last.global_correlation,
        local_correlation=last.local_correlation,
        trace=tree.trace,
        status=solution_status(objective, value, bound),
    )


def _progress_bar(show: bool, seeds: int) -> Any:
    from tqdm import tqdm

    return tqdm(total=seeds + 2, disable=not show, desc="max-cut", unit="stage")
