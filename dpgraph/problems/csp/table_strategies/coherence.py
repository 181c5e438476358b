"""A label-extended matrix of low rank (DN25a, Algorithm 7.18), which is then solved like an exact one."""

from dataclasses import replace

import numpy as np

from dpgraph.arguments import check_integer
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call
from dpgraph.problems.chance import TEST_SHARE, check_advantage, check_core
from dpgraph.problems.csp.strategy import CSPTask
from dpgraph.problems.cut.solve import check_projection, project_released, solver_options, unnormalized
from dpgraph.problems.embedding.strategies.coherence import check_coherence, release_normalized_adjacency
from dpgraph.problems.options import Coherence
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.constraints import PrivateTables, release_assignment_advantage, release_extended_weight
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.random_graph import add_random_graph, check_random_degree
from dpgraph.results.adjacency import DENSE_LIMIT, PrivateNormalizedAdjacency
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import solve_factored_csp
from dpgraph.sos.csp.solver import solve_csp
from dpgraph.sos.moments.relaxation import check_size
from dpgraph.sos.moments.rounding import solve_by_moments
from dpgraph.typing import FloatArray, IntArray

#: Shares for the weight of the label-extended graph, and for its matrix: 0.005 and 0.97 of a call that leaves 0.975.
_EXTENDED_SHARE, _MATRIX_SHARE = 0.005 / 0.975, 0.97 / 0.975
#: Up to so many rows the matrix is relaxed by default, a few seconds; ascents of larger ones end at equal values.
_RELAXED = 600
_STARTS, _SWEEPS = 16, 100


def _relaxed(options: Coherence, rows: int) -> bool:
    """Whether the released matrix is relaxed, as an exact instance is: if it is small, or an option asks for it."""
    asked = options.seeds > 0 or options.degree > 2 or options.projection in ("spectral", "frobenius")
    return asked or rows <= _RELAXED


def _check(options: Coherence, task: CSPTask) -> None:
    labels = len(task.alphabet)
    rows = task.n * labels
    if task.whole_table:
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    solver_options(options)
    check_random_degree(options.random_degree, rows)
    check_projection(options.projection, rows)
    if check_integer("degree", options.degree, 2) != 2:
        check_size(task.n, labels, options.degree)  # refuses an odd one too
    if _relaxed(options, rows):
        if rows > DENSE_LIMIT:
            raise InvalidParameterError(
                f"seeds={options.seeds} relaxes a dense matrix of {rows} rows, variables times labels; the limit is "
                f"{DENSE_LIMIT}. Use seeds=0"
            )
        check_memory(f"a dense matrix of {rows} labels", copies=(12, rows, rows))
    check_coherence(options, rows, task.max_weight)


def _run(options: Coherence, private: PrivateTables, call: Call, task: CSPTask, mean_degree: float) -> IntArray:
    extended = release_extended_weight(private, call.part(_EXTENDED_SHARE))
    rows, q = private.graph.n_vertices, private.q
    union = add_random_graph(private.graph, options.random_degree, call.generator)
    main, test = call.part(_MATRIX_SHARE).split(1 - TEST_SHARE, TEST_SHARE)
    released = release_normalized_adjacency(union.graph, options, union.mean_degree(2 * extended.value / rows), main)
    check_core(released, call, negative=False)
    labels = _solve(released, options, task, q, call.generator)
    variance = task.max_weight * extended.value * (1 - 1 / q) / q**2  # of tables that each label satisfies as often
    check_advantage(release_assignment_advantage(private, labels, test), variance, call)
    return labels


def _solve(
    released: PrivateNormalizedAdjacency, options: Coherence, task: CSPTask, q: int, rng: np.random.Generator
) -> IntArray:
    """Assign labels by the released matrix. What a random graph adds to it is the same for all assignments."""
    if not _relaxed(options, len(released.basis)):
        return solve_factored_csp(released.adjacency_factor(), released.core, q, starts=_STARTS, rng=rng)
    objective = released_objective(_matrix(released, options.projection), q)
    how = solver_options(options, sweeps=_SWEEPS)
    if options.degree == 2:
        return np.asarray(solve_csp(objective, how, rng=rng).labels)
    # An instance has nonnegative tables: what is added to all entries of a table is earned by all assignments.
    instance = TwoCSP(task.n, q)
    tables = objective.tables - objective.tables.min(axis=(1, 2), keepdims=True)
    instance.add_constraints(objective.pairs, tables)
    how = replace(how, starts=8, tol=None, sweeps=None)
    return np.asarray(solve_by_moments(instance, options.degree, how, rng=rng).labels)


def _matrix(released: PrivateNormalizedAdjacency, projection: str) -> FloatArray:
    """The released adjacency of the label-extended graph; "auto" leaves one of low rank as it is."""
    normalized = released.matrix()
    if projection in ("spectral", "frobenius"):
        normalized = project_released(normalized, projection)
    return unnormalized(normalized, released.scale)


def released_objective(extended: FloatArray, q: int) -> CSPObjective:
    """The 2-CSP whose label-extended matrix this is, shape (n q, n q); blocks on the diagonal are ignored."""
    n = len(extended) // q
    u, v = np.triu_indices(n, 1)
    tables = extended.reshape(n, q, n, q).transpose(0, 2, 1, 3)[u, v]
    return CSPObjective(np.stack([u, v], axis=1), np.ascontiguousarray(tables), np.zeros((n, q)))


STRATEGY = Strategy(
    "coherence",
    Coherence,
    pure=lambda _: False,
    run=_run,
    check=_check,
    slack_share=lambda _: SLACK_SHARE,
    unread=("denoise",),
    order=1,
)
