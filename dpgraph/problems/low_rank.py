"""A released matrix of low rank that a solver takes for an exact one (DN25a, section 7): for cuts and for labels.

A released answer that is not better than chance, or a matrix of which nothing is seen, halts the mechanism.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpgraph.arguments import check_choice, check_integer, check_memory
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.driver import MAIN_SHARE, Facts
from dpgraph.problems.embedding.strategies import check_coherence, release_normalized_adjacency
from dpgraph.problems.options import Coherence
from dpgraph.projections import project_nonnegative_spectral_ball
from dpgraph.releases.random_graph import ThickenedGraph, add_random_graph, check_random_degree
from dpgraph.releases.totals import WeightEstimate
from dpgraph.results.adjacency import DENSE_LIMIT, PrivateNormalizedAdjacency
from dpgraph.sos.moments.relaxation import check_size
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.typing import FloatArray

#: Share of the budget of a strategy for the advantage of its answer over chance: what the two weights have beside it.
TEST_SHARE = 1 - MAIN_SHARE
#: Of noise and of random answers together, by which an answer must be better; of the norm of the noise of a core.
_DEVIATIONS = 3.0
#: Relative accuracy of relaxations and projections of what was released: more would be lost in its noise.
RELEASED_GAP = 1e-2
#: projection="auto" projects a dense noisy matrix up to this size.
_PROJECTION_LIMIT = 1000
#: How hard the solver tries on what was released, unless options say so.
SOLVER = SolverOptions(seeds=0, rounds=64, starts=2, tol=RELEASED_GAP)


def solver_options(options: Coherence) -> SolverOptions:
    """How hard the solver is asked to try on what was released; counts out of range are refused."""
    check_choice("search", options.search, ("beam", "sampled"))
    return replace(
        SOLVER, seeds=options.seeds, rounds=options.rounds, search=options.search, local_search=options.local_search
    )


def check_low_rank(options: Coherence, facts: Facts, labels: int = 1) -> None:
    """Refuse options that are out of range, or too large for so many rows a vertex or variable."""
    rows = facts.n * labels
    solver_options(options)
    check_random_degree(options.random_degree, rows)
    check_choice("projection", options.projection, ("auto", "spectral", "frobenius", "none"))
    if is_dense(options) and rows > DENSE_LIMIT:
        raise InvalidParameterError(
            f"projection={options.projection!r} is dense and limited to n <= {DENSE_LIMIT}; got n = {rows}. "
            'Use projection="auto" or "none", which keep the matrix factored'
        )
    if is_dense(options):
        check_memory(f"a dense matrix of {rows} vertices", copies=(38, rows, rows))
    if check_integer("degree", options.degree, 2) != 2:
        check_size(facts.n, max(labels, 2), options.degree)  # refuses an odd one too
    check_coherence(options, rows, facts.max_weight)


def is_dense(options: Coherence) -> bool:
    """Whether the released matrix is projected, and so loses its low rank."""
    return options.projection in ("spectral", "frobenius")


@dataclass(frozen=True)
class LowRank:
    """A released normalized adjacency, the random graph that was added before, and the budget for a test."""

    released: PrivateNormalizedAdjacency
    union: ThickenedGraph
    test: Call

    def dense(self, projection: str) -> FloatArray:
        """The adjacency without the random graph, projected if asked for."""
        normalized = self.released.matrix()
        if projection in ("spectral", "frobenius"):
            normalized = projected(normalized, projection)
        return self.union.dense_without_it(unnormalized(normalized, self.released.scale))

    def factored(self) -> tuple[FloatArray, FloatArray]:
        """Factor and core of the adjacency without the random graph."""
        return self.union.without_it(self.released.adjacency_factor(), self.released.core)


def release_low_rank(graph: Graph, options: Coherence, mean_degree: float, call: Call, *, negative: bool) -> LowRank:
    """Release a matrix of low rank of a graph of this released average degree; halt if only noise is seen of it."""
    union = add_random_graph(graph, options.random_degree, call.generator)
    main, test = call.split(1 - TEST_SHARE, TEST_SHARE)
    released = release_normalized_adjacency(union.graph, options, union.mean_degree(mean_degree), main, least_rank=2)
    _check_core(released, call, negative=negative)
    return LowRank(released, union, test)


def unnormalized(matrix: FloatArray, scale: FloatArray) -> FloatArray:
    """C^{1/2} X C^{1/2} for C = diag(scale), symmetric up to the last bit."""
    root = np.sqrt(scale)
    adjacency = matrix * np.outer(root, root)
    return np.asarray((adjacency + adjacency.T) / 2)


def projected(matrix: FloatArray, projection: str = "auto") -> FloatArray:
    """The projection that was asked for of a released normalized adjacency; "auto" for a dense noisy one."""
    if projection == "auto" and len(matrix) > _PROJECTION_LIMIT:
        return matrix
    norm: Literal["spectral", "frobenius"] = "spectral" if projection == "spectral" else "frobenius"
    # DN25a's set (7.2) says nothing of the diagonal.
    zero = norm == "frobenius"
    return project_nonnegative_spectral_ball(matrix, norm=norm, tol=RELEASED_GAP, zero_diagonal=zero).matrix


def _check_core(private: PrivateNormalizedAdjacency, call: Call, *, negative: bool) -> None:
    """Halt if nothing but noise is seen of the matrix in the released space, so that nothing can be solved.

    The noise N of the r x r core has ||N|| <= (sqrt(2 r) + t) s except with probability exp(-t^2/2), s its scale. Cuts
    need a negative eigenvalue beyond that. Labels need two: the first eigenvector of a nonnegative matrix has one sign.
    """
    scale = next(entry.scale for entry in private.privacy.entries if entry.name == "core")
    edge = (math.sqrt(2 * private.rank) + _DEVIATIONS) * scale
    values = np.linalg.eigvalsh(private.core)
    seen = values[0] < -edge if negative else np.sum(np.abs(values) > edge) > 1
    if not seen:
        needed = "no negative eigenvalue" if negative else "at most one eigenvalue"
        raise _halted(call, f"{needed} of the matrix in the released space is clear of the noise", "core")


def check_advantage(advantage: WeightEstimate, variance: float, call: Call) -> None:
    """Halt if an answer is not clearly better than chance; `variance` is that of random answers, about."""
    if advantage.value <= _DEVIATIONS * math.sqrt(advantage.std**2 + max(variance, 0.0)):
        raise _halted(call, "what was found is not clearly better than chance", "advantage")


def _halted(call: Call, what: str, stage: str) -> MechanismHalted:
    knobs = "Raise epsilon, choose another rank, or use a mechanism that does not halt (mechanism='bounded-iterates')"
    return call.halted(f"{what}. {knobs}", stage)
