"""The strategies for private constraint problems."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call
from dpgraph.privacy.relation import Constraint
from dpgraph.problems.answer_rule import response_or_sweeps
from dpgraph.problems.low_rank import (
    LowRank,
    check_advantage,
    check_low_rank,
    is_dense,
    release_low_rank,
    solver_options,
)
from dpgraph.problems.options import BoundedIterates, Coherence, RandomizedResponse
from dpgraph.problems.strategy import MAIN_SHARE, TOTAL_SHARE, Facts, Registry, Strategy
from dpgraph.releases.answers import FlippedGraph, check_response, release_flipped_graph
from dpgraph.releases.constraints import (
    PrivateTables,
    RelatedEdges,
    release_assignment_advantage,
    release_extended_weight,
)
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import label_iteration
from dpgraph.releases.sweeps.tables import release_table_iterates
from dpgraph.releases.totals import WeightEstimate
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels, solve_factored_csp
from dpgraph.sos.csp.solver import solve_csp
from dpgraph.sos.moments.rounding import solve_by_moments
from dpgraph.typing import FloatArray, IntArray


@dataclass(frozen=True)
class CSPFacts(Facts):
    """What is public about a constraint problem."""

    variables: tuple[Hashable, ...] = ()
    alphabet: tuple[Hashable, ...] = ()

    @property
    def whole_table(self) -> bool:
        """Whether neighbours differ in the whole table of a pair."""
        return isinstance(self.neighbours, Constraint)


# --- private edges under a public relation ---------------------------------------------------------------------------

#: Random starts of the annealing of randomised-response outputs, and its sweeps.
_ANNEALED, _ANNEALING_SWEEPS = 2, 500


def label_answers(flipped: FlippedGraph, relation: FloatArray, *, rng: np.random.Generator) -> IntArray:
    """Label a randomised-response output: much expected weight, times a public relation, of the pairs that say 1.

    What the other pairs weigh is left out: together they are a small share of the edges, spread over all pairs, and
    favour nothing but balance, as the others do too.
    """
    n, q = flipped.adjacency.shape[0], len(relation)
    pairs = sparse.triu(flipped.expected_weights()[0], k=1).tocoo()
    ends = np.stack(pairs.coords, axis=1).astype(np.int64)
    objective = CSPObjective(ends, pairs.data[:, None, None] * relation, np.zeros((n, q)))
    return improve_labels(objective, rng.integers(q, size=(_ANNEALED, n)), rng, sweeps=_ANNEALING_SWEEPS)


def _by_sweeps(
    _: BoundedIterates, private: RelatedEdges, call: Call, facts: CSPFacts, total: WeightEstimate
) -> IntArray:
    iteration = label_iteration(private.graph, private.relation)
    found = release_core_iterates(private.graph, iteration, call, mean_degree=2 * total.value / facts.n)
    return np.asarray(np.argmax(found[0], axis=1))


def _by_response(
    _: RandomizedResponse, private: RelatedEdges, call: Call, facts: CSPFacts, total: WeightEstimate
) -> IntArray:
    flipped = release_flipped_graph(private.graph, call)
    return label_answers(flipped, private.relation, rng=call.generator)


#: Strategies where edges are private: ``run(options, private, call, facts, total)`` returns labels.
EDGES = Registry(
    "cuts into k parts, and constraint problems whose edges are private",
    Strategy("bounded-iterates", BoundedIterates, pure=True, run=_by_sweeps),
    Strategy(
        "randomized-response",
        RandomizedResponse,
        pure=True,
        run=_by_response,
        check=lambda _, facts: check_response(facts.n, facts.epsilon),
    ),
)

#: Answers times squared labels beyond this number would not fit into memory.
_TABLE_LIMIT = 3e7


def choose(facts: CSPFacts) -> Any:
    """What "auto" takes where edges are private, or by which released number it is chosen."""
    q = len(facts.alphabet)
    return response_or_sweeps(facts, facts.epsilon * MAIN_SHARE, q, most_answers=_TABLE_LIMIT / q**2)


# --- private tables --------------------------------------------------------------------------------------------------


def _by_mean_field(
    _: BoundedIterates, private: PrivateTables, call: Call, facts: CSPFacts, total: WeightEstimate
) -> IntArray:
    return release_table_iterates(private, call, mean_degree=2 * total.value / facts.n, whole_table=facts.whole_table)


# --- a label-extended matrix of low rank (DN25a, Algorithm 7.18), which is then solved like an exact one -------------

#: Shares for the weight of the label-extended graph, as for the total weight, and for its matrix.
_EXTENDED_SHARE = TOTAL_SHARE / MAIN_SHARE
_MATRIX_SHARE = 1 - _EXTENDED_SHARE
#: Up to so many rows the matrix is relaxed by default, a few seconds; ascents of larger ones end at equal values.
_RELAXED = 600
_STARTS, _SWEEPS = 16, 100


def _relaxed(options: Coherence, rows: int) -> bool:
    """Whether the released matrix is relaxed, as an exact instance is: if it is small, or an option asks for it."""
    return options.seeds > 0 or options.degree > 2 or is_dense(options) or rows <= _RELAXED


def _check_coherence(options: Coherence, facts: CSPFacts) -> None:
    labels = len(facts.alphabet)
    rows = facts.n * labels
    if facts.whole_table:
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    check_low_rank(options, facts, labels)
    if _relaxed(options, rows):
        if rows > DENSE_LIMIT:
            raise InvalidParameterError(
                f"seeds={options.seeds} relaxes a dense matrix of {rows} rows, variables times labels; the limit is "
                f"{DENSE_LIMIT}. Use seeds=0"
            )
        check_memory(f"a dense matrix of {rows} labels", copies=(12, rows, rows))


def _by_coherence(
    options: Coherence, private: PrivateTables, call: Call, facts: CSPFacts, _total: WeightEstimate
) -> IntArray:
    extended = release_extended_weight(private, call.part(_EXTENDED_SHARE))
    q, mean_degree = private.q, 2 * extended.value / private.graph.n_vertices
    found = release_low_rank(private.graph, options, mean_degree, call.part(_MATRIX_SHARE), negative=False)
    labels = _solve(found, options, facts, q, call.generator)
    variance = facts.max_weight * extended.value * (1 - 1 / q) / q**2  # of tables that each label satisfies as often
    check_advantage(release_assignment_advantage(private, labels, found.test), variance, call)
    return labels


def _solve(found: LowRank, options: Coherence, facts: CSPFacts, q: int, rng: np.random.Generator) -> IntArray:
    """Assign labels by the released matrix."""
    if not _relaxed(options, facts.n * q):
        return solve_factored_csp(*found.factored(), q, starts=_STARTS, rng=rng)
    objective = released_objective(found.dense(options.projection), q)
    how = replace(solver_options(options), sweeps=_SWEEPS)
    if options.degree == 2:
        return np.asarray(solve_csp(objective, how, rng=rng).labels)
    # An instance has nonnegative tables: what is added to all entries of a table is earned by all assignments.
    instance = TwoCSP(facts.n, q)
    tables = objective.tables - objective.tables.min(axis=(1, 2), keepdims=True)
    instance.add_constraints(objective.pairs, tables)
    how = replace(how, starts=8, tol=None, sweeps=None)
    return np.asarray(solve_by_moments(instance, options.degree, how, rng=rng).labels)


def released_objective(extended: FloatArray, q: int) -> CSPObjective:
    """The 2-CSP whose label-extended matrix this is, shape (n q, n q); blocks on the diagonal are ignored."""
    n = len(extended) // q
    u, v = np.triu_indices(n, 1)
    tables = extended.reshape(n, q, n, q).transpose(0, 2, 1, 3)[u, v]
    return CSPObjective(np.stack([u, v], axis=1), np.ascontiguousarray(tables), np.zeros((n, q)))


#: Strategies where tables are private, with the same arguments.
TABLES = Registry(
    "constraint problems whose tables are private",
    Strategy("bounded-iterates", BoundedIterates, pure=True, run=_by_mean_field),
    Strategy(
        "coherence",
        Coherence,
        pure=False,
        run=_by_coherence,
        check=_check_coherence,
        slack_share=lambda _: SLACK_SHARE,
    ),
)
