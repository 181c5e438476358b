"""Cuts of what was released, a matrix or answers: everything here is post-processing."""

import math
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.exceptions import InvalidParameterError
from dpgraph.memory import check_memory
from dpgraph.problems.options import Coherence, Gaussian, NoisyPower, RandomizedResponse
from dpgraph.projections import project_nonnegative_spectral_ball
from dpgraph.releases.answers import FlippedGraph
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.bisection import repair_and_swap
from dpgraph.sos.cut.objective import BalancedObjective, DenseObjective, SparseObjective, penalise_imbalance
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.moments.rounding import solve_cut_by_moments
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.typing import FloatArray


class Cut(NamedTuple):
    """Side 0 or 1 of each vertex, and a bound on every cut of what the solver saw, if that was a matrix."""

    labels: NDArray[np.int8]
    upper_bound: float | None = None


#: Options that say how hard the solver tries.
Settings = Coherence | Gaussian | NoisyPower | RandomizedResponse

#: Relative accuracy of relaxations and projections of what was released: more would be lost in its noise.
RELEASED_GAP = 1e-2
#: Price of the imbalance of a private bisection, in units of the mean row norm, for a matrix and for answers: the
#: solver stays within a few vertices.
_PRICE, _PRICE_OF_ANSWERS = 1 / 40, 1 / 400
#: Annealing sweeps on a private objective: polishing it far below its noise would be wasted.
_SWEEPS = 100
#: projection="auto" projects a dense noisy matrix up to this size.
_PROJECTION_LIMIT = 1000


def solver_options(options: Settings, *, sweeps: int | None = None) -> SolverOptions:
    """How hard the solver tries on what was released; counts out of range are refused."""
    how = SolverOptions(seeds=options.seeds, rounds=options.rounds, starts=2, tol=RELEASED_GAP, sweeps=sweeps)
    if isinstance(options, Coherence):
        check_choice("search", options.search, ("beam", "sampled"))
        return replace(how, search=options.search, local_search=options.local_search)
    return how


# --- a matrix --------------------------------------------------------------------------------------------------------


def check_projection(projection: str, n: int) -> None:
    """Refuse an unknown projection, and one that is too large; before anything is read."""
    check_choice("projection", projection, ("auto", "spectral", "frobenius", "none"))
    if projection in ("spectral", "frobenius") and n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"projection={projection!r} is dense and limited to n <= {DENSE_LIMIT}; got n = {n}. "
            'Use projection="auto" or "none", which keep the matrix factored'
        )
    if projection in ("spectral", "frobenius"):
        check_memory(f"a dense matrix of {n} vertices", copies=(38, n, n))


def solve_dense(
    normalized: FloatArray,
    scale: FloatArray,
    options: Gaussian,
    rng: np.random.Generator,
    *,
    balanced: bool,
) -> Cut:
    """Project a released normalized adjacency if asked to, undo the normalisation, and cut."""
    adjacency = unnormalized(project_released(normalized, options.projection), scale)
    return solve(DenseObjective(adjacency), options, rng, balanced=balanced)


def unnormalized(matrix: FloatArray, scale: FloatArray) -> FloatArray:
    """C^{1/2} X C^{1/2} for C = diag(scale), symmetric up to the last bit."""
    root = np.sqrt(scale)
    adjacency = matrix * np.outer(root, root)
    return np.asarray((adjacency + adjacency.T) / 2)


def project_released(matrix: FloatArray, projection: str) -> FloatArray:
    """The projection that was asked for of a released normalized adjacency; "auto" for a dense noisy one."""
    if projection == "none" or (projection == "auto" and len(matrix) > _PROJECTION_LIMIT):
        return matrix
    norm: Literal["spectral", "frobenius"] = "spectral" if projection == "spectral" else "frobenius"
    # DN25a's set (7.2) says nothing of the diagonal.
    zero = norm == "frobenius"
    return project_nonnegative_spectral_ball(matrix, norm=norm, tol=RELEASED_GAP, zero_diagonal=zero).matrix


def solve(
    objective: CutObjective, options: Settings, rng: np.random.Generator, *, balanced: bool, degree: int = 2
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


def _solve(objective: CutObjective, options: Settings, rng: np.random.Generator, degree: int) -> Solution:
    if degree > 2:
        chosen = replace(solver_options(options), starts=8, tol=None)
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


# --- answers ---------------------------------------------------------------------------------------------------------


def answer_degrees(flipped: FlippedGraph) -> FloatArray:
    """Numbers of edges of each vertex, estimated from its answers and shrunk towards their mean; all positive."""
    B, p, n = flipped.adjacency, flipped.flip, flipped.adjacency.shape[0]
    answers = np.asarray(B.sum(axis=1)).ravel()
    unbiased = (answers - p * (n - 1)) / (1 - 2 * p)
    spread = math.sqrt((n - 1) * p * (1 - p)) / (1 - 2 * p)
    return shrunken_degrees(unbiased, float(unbiased.mean()), spread, 1.0)


def answer_weights(flipped: FlippedGraph, more: float = 1.0) -> tuple[sparse.csr_array, float]:
    """Expected weights of the pairs that answered 1, shape (n, n), and of any other pair.

    If edges choose their ends in proportion to the degrees, and where false answers are not much rarer than true ones,
    an answer says less about two vertices of few edges than about two of many: a pair of degrees a and b is an edge
    with probability about ab/(2m) beforehand, or so many times `more`. Degrees are estimated from the answers. Pairs
    that answered 0 have little weight left, and every pair gets its mean.
    """
    B, p, n = flipped.adjacency, flipped.flip, flipped.adjacency.shape[0]
    degrees = answer_degrees(flipped)
    total = float(degrees.sum())
    row = np.repeat(np.arange(n), np.diff(B.indptr))
    odds = more * degrees[row] * degrees[B.indices] / total * (1 - p) / p
    w = flipped.max_weight
    weights = sparse.csr_array((w * odds / (1 + odds), B.indices, B.indptr), shape=B.shape)
    return weights, w * p / (1 - p) * total / n**2


def flipped_objective(flipped: FlippedGraph) -> BalancedObjective:
    """Cuts of the expected weights; what other pairs weigh is a multiple of 11' that need not be filled in."""
    weights, rest = answer_weights(flipped)
    n = weights.shape[0]
    base = SparseObjective(weights)
    return BalancedObjective(base, np.ones(n), rest / 4, base.constant + rest / 4 * n * (n - 1))


def cut_answers(flipped: FlippedGraph, options: Settings, *, balanced: bool, rng: np.random.Generator) -> Solution:
    """Cut a released graph, on request in halves; `upper_bound` holds for every such cut of the expected weights."""
    objective = flipped_objective(flipped)
    solver = solver_options(options)
    if not balanced:
        return solve_max_cut(objective, solver, rng)
    # A multiple of 11' is the same for all halves.
    base, n = objective.base, objective.n_vertices
    price = _PRICE_OF_ANSWERS * float(base.row_norms().mean())
    solution = solve_max_cut(penalise_imbalance(base, price), solver, rng)
    signs = np.where(solution.labels == 1, -1.0, 1.0)
    halves = repair_and_swap(base, signs[:, None], n % 2)[:, 0]
    between = objective.penalty * (n**2 - n % 2)
    return replace(
        solution,
        labels=(halves < 0).astype(np.int64),
        value=float(base.values(halves)) + between,
        upper_bound=solution.upper_bound + price * (n % 2) + between,
    )
