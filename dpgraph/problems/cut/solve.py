"""Cuts of a released matrix: everything here is post-processing."""

import math
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice, check_integer
from dpgraph.exceptions import InvalidParameterError
from dpgraph.problems.cut.strategy import Cut
from dpgraph.projections import project_nonnegative_spectral_ball
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.sos.cut.balance import penalise_imbalance
from dpgraph.sos.cut.objective import CutObjective, DenseObjective
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.moments.relaxation import check_size
from dpgraph.sos.moments.rounding import solve_cut_by_moments
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.typing import FloatArray

__all__ = ["SolverSettings", "check_degree", "check_projection", "solve", "solve_dense", "solver_options"]


#: Relative accuracy of relaxations and projections of what was released: more would be lost in its noise.
RELEASED_GAP = 1e-2
#: Price of the imbalance of a private bisection, in units of the mean row norm: the solver stays within a few vertices.
_PRICE = 1 / 40
#: Annealing sweeps on a private objective: polishing it far below its noise would be wasted.
_SWEEPS = 100
#: projection="auto" projects a dense noisy matrix up to this size.
_PROJECTION_LIMIT = 1000


class SolverSettings(Protocol):
    """What the solver reads of the options of a strategy."""

    @property
    def seeds(self) -> int:
        """Largest number of pinned vertices."""
        ...

    @property
    def rounds(self) -> int:
        """Number of roundings."""
        ...


def check_projection(projection: str, n: int) -> None:
    """Refuse an unknown projection, and one that is too large; before anything is read."""
    check_choice("projection", projection, ("auto", "spectral", "frobenius", "none"))
    if projection in ("spectral", "frobenius") and n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"projection={projection!r} is dense and limited to n <= {DENSE_LIMIT}; got n = {n}. "
            'Use projection="auto" or "none", which keep the matrix factored'
        )


def check_degree(degree: int, n: int) -> None:
    """Refuse a degree of the relaxation that is odd, or too large for so many vertices; before anything is read."""
    if check_integer("degree", degree, 2) != 2:
        check_size(n, 2, degree)


def solve_dense(
    normalized: FloatArray,
    scale: FloatArray,
    options: SolverSettings,
    rng: np.random.Generator,
    *,
    projection: str,
    balanced: bool,
    degree: int = 2,
) -> Cut:
    """Project a released normalized adjacency if asked to, undo the normalisation, and cut."""
    root = np.sqrt(scale)
    adjacency = _project(normalized, projection) * np.outer(root, root)
    np.fill_diagonal(adjacency, 0.0)
    return solve(DenseObjective((adjacency + adjacency.T) / 2), options, rng, balanced=balanced, degree=degree)


def solve(
    objective: CutObjective, options: SolverSettings, rng: np.random.Generator, *, balanced: bool, degree: int = 2
) -> Cut:
    """Cut a released objective by the relaxation of this degree; with `balanced`, in halves."""
    if not balanced:
        solution = _solve(objective, options, rng, degree)
        return Cut(np.asarray(solution.labels, dtype=np.int8), float(solution.upper_bound))
    price = _PRICE * float(objective.row_norms().mean())
    solution = _solve(penalise_imbalance(objective, price), options, rng, degree)
    # Halves of an odd number of vertices pay for an imbalance of 1, which the bound gets back.
    bound = float(solution.upper_bound) + price * (objective.n_vertices % 2)
    return Cut(_halved(objective, solution.labels), bound)


def _solve(objective: CutObjective, options: SolverSettings, rng: np.random.Generator, degree: int) -> Solution:
    if degree > 2:
        chosen = SolverOptions(seeds=options.seeds, rounds=options.rounds)
        return solve_cut_by_moments(objective, degree, chosen, rng=rng)
    return solve_max_cut(objective, solver_options(options, sweeps=_SWEEPS), rng)


def _halved(objective: CutObjective, labels: NDArray[np.int64]) -> NDArray[np.int8]:
    """Move the vertices whose move costs least from the larger to the smaller side."""
    signs: FloatArray = np.where(labels == 1, -1.0, 1.0)
    surplus = int(abs(signs.sum())) // 2
    if surplus:
        larger = math.copysign(1.0, signs.sum())
        # Moving i changes the cut by x_i (Mx)_i / 2; moves interact little, as few are needed.
        gain = np.where(signs == larger, signs * objective.multiply(signs), -np.inf)
        signs[np.argsort(-gain, kind="stable")[:surplus]] *= -1.0
    return (signs < 0).astype(np.int8)


def _project(matrix: FloatArray, projection: str) -> FloatArray:
    if projection == "none" or (projection == "auto" and len(matrix) > _PROJECTION_LIMIT):
        return matrix
    norm: Literal["spectral", "frobenius"] = "spectral" if projection == "spectral" else "frobenius"
    return project_nonnegative_spectral_ball(matrix, norm=norm, tol=RELEASED_GAP, zero_diagonal=True).matrix


def solver_options(options: SolverSettings, *, sweeps: int | None = None) -> SolverOptions:
    """How hard the solver tries on what was released; counts out of range are refused."""
    return SolverOptions(seeds=options.seeds, rounds=options.rounds, starts=2, tol=RELEASED_GAP, sweeps=sweeps)
