"""Private labels of vertices: the strategies for cuts and for constraint problems, and what "auto" stands for."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpgraph.denoise.iterates import cut_labels
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import Call
from dpgraph.privacy.relation import Constraint
from dpgraph.problems.answer_rule import response_or_sweeps
from dpgraph.problems.driver import MAIN_SHARE, TOTAL_SHARE, WORTH_SHARE, Facts, Problem, Registry, Strategy
from dpgraph.problems.embedding.strategies import check_gaussian
from dpgraph.problems.low_rank import (
    check_advantage,
    check_low_rank,
    is_dense,
    projected,
    release_low_rank,
    solver_options,
    unnormalized,
)
from dpgraph.problems.options import (
    BoundedIterates,
    Coherence,
    Gaussian,
    NoisyPower,
    PermuteAndFlip,
    RandomizedResponse,
)
from dpgraph.problems.released_solvers import Cut, check_relaxed, cut_answers, cut_matrix, label_answers, label_matrix
from dpgraph.releases.all_cuts import LARGEST, release_best_cut
from dpgraph.releases.answers import check_response, release_flipped_graph
from dpgraph.releases.constraints import (
    PrivateTables,
    RelatedEdges,
    release_advantage,
    release_extended_weight,
    release_total,
    release_value,
)
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, check_products, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.normalized import release_noisy_matrix
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import cut_iteration, label_iteration
from dpgraph.releases.sweeps.tables import release_table_iterates
from dpgraph.releases.totals import WeightEstimate
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective
from dpgraph.typing import IntArray


@dataclass(frozen=True)
class LabelFacts(Facts):
    """What is asked for, halves on request, and what is public: for a cut the labels are 0 and 1."""

    balanced: bool = False
    variables: tuple[Hashable, ...] = ()
    alphabet: tuple[Hashable, ...] = (0, 1)

    @property
    def whole_table(self) -> bool:
        """Whether neighbours differ in the whole table of a pair."""
        return isinstance(self.neighbours, Constraint)


def _mean_degree(total: WeightEstimate, facts: LabelFacts) -> float:
    return 2 * total.value / facts.n


def _cut_by_coherence(options: Coherence, edges: RelatedEdges, call: Call, facts: LabelFacts, total: Any) -> Cut:
    """A low-rank matrix of the coherence-aware projector (DN25a), projected and cut like an exact one."""
    mean_degree = _mean_degree(total, facts)
    found = release_low_rank(edges.graph, options, mean_degree, call, negative=True)
    objective = (
        DenseObjective(found.dense(options.projection)) if is_dense(options) else FactoredObjective(*found.factored())
    )
    how = solver_options(options)
    cut = cut_matrix(objective, call.generator, balanced=facts.balanced, how=how, degree=options.degree)
    variance = facts.max_weight * mean_degree * facts.n / 8
    check_advantage(release_advantage(edges, cut.labels.astype(np.int64), found.test), variance, call)
    return cut


def _cut_by_gaussian(_: Gaussian, edges: RelatedEdges, call: Call, facts: LabelFacts, total: Any) -> Cut:
    """Noise on all entries of the normalized adjacency (DTTZ14), projected and cut."""
    noisy = release_noisy_matrix(edges.graph, "auto", _mean_degree(total, facts), call)
    objective = DenseObjective(unnormalized(projected(noisy.matrix), noisy.scale))
    return cut_matrix(objective, call.generator, balanced=facts.balanced)


def _cut_by_power(_: NoisyPower, edges: RelatedEdges, call: Call, facts: LabelFacts, _total: Any) -> Cut:
    """The noisy power method (HP14), whose private factors are cut."""
    released = release_low_rank_adjacency(edges.graph, min(POWER_RANK, facts.n), call)
    return cut_matrix(FactoredObjective(released.basis, released.core), call.generator, balanced=facts.balanced)


def _cut_by_sweeps(_: BoundedIterates, edges: RelatedEdges, call: Call, facts: LabelFacts, total: Any) -> Cut:
    """Private block coordinate descent on a public iterate."""
    iteration = cut_iteration(edges.graph)
    X, fields = release_core_iterates(edges.graph, iteration, call, mean_degree=_mean_degree(total, facts))
    return Cut(cut_labels(X, fields, balanced=facts.balanced))


def _cut_by_response(_: RandomizedResponse, edges: RelatedEdges, call: Call, facts: LabelFacts, _total: Any) -> Cut:
    """Randomised response on every pair, then the solver."""
    solution = cut_answers(release_flipped_graph(edges.graph, call), call.generator, balanced=facts.balanced)
    return Cut(solution.labels.astype(np.int8), solution.upper_bound)


def _check_all_cuts(_: PermuteAndFlip, facts: Facts) -> None:
    if facts.n > LARGEST:
        raise InvalidParameterError(
            f"permute-and-flip weighs all 2**(n - 1) cuts and is limited to n <= {LARGEST}; got n = {facts.n}"
        )


def _best_cut(_: PermuteAndFlip, edges: RelatedEdges, call: Call, facts: LabelFacts, _total: Any) -> Cut:
    """The noisily best of all cuts."""
    return Cut(release_best_cut(edges.graph, call, balanced=facts.balanced))


def _labels_by_sweeps(_: Any, edges: RelatedEdges, call: Call, facts: LabelFacts, total: Any) -> IntArray:
    iteration = label_iteration(edges.graph, edges.relation)
    found = release_core_iterates(edges.graph, iteration, call, mean_degree=_mean_degree(total, facts))
    return np.asarray(np.argmax(found[0], axis=1))


def _labels_by_response(_: Any, edges: RelatedEdges, call: Call, _facts: Any, _total: Any) -> IntArray:
    return label_answers(release_flipped_graph(edges.graph, call), edges.relation, rng=call.generator)


#: Shares for the weight of the label-extended graph, as for the total weight, and for its matrix.
_EXTENDED_SHARE = TOTAL_SHARE / MAIN_SHARE
_MATRIX_SHARE = 1 - _EXTENDED_SHARE


def _table_labels(_: Any, tables: PrivateTables, call: Call, facts: LabelFacts, total: Any) -> IntArray:
    mean_degree = _mean_degree(total, facts)
    return release_table_iterates(tables, call, mean_degree=mean_degree, whole_table=facts.whole_table)


def _check_extended(options: Coherence, facts: LabelFacts) -> None:
    if facts.whole_table:
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    labels = len(facts.alphabet)
    check_low_rank(options, facts, labels)
    check_relaxed(options, facts.n * labels)


def _table_labels_by_coherence(
    options: Coherence, tables: PrivateTables, call: Call, facts: LabelFacts, _total: Any
) -> IntArray:
    """A label-extended matrix of low rank (DN25a, Algorithm 7.18), which is then solved like an exact one."""
    extended = release_extended_weight(tables, call.part(_EXTENDED_SHARE))
    q, mean_degree = tables.q, 2 * extended.value / tables.graph.n_vertices
    found = release_low_rank(tables.graph, options, mean_degree, call.part(_MATRIX_SHARE), negative=False)
    labels = label_matrix(found, options, (facts.n, q), call.generator)
    variance = facts.max_weight * extended.value * (1 - 1 / q) / q**2  # of tables that each label satisfies as often
    check_advantage(release_advantage(tables, labels, found.test), variance, call)
    return labels


def _sweeps(run: Any) -> Strategy:
    return Strategy("bounded-iterates", BoundedIterates, pure=True, run=run)


def _response(run: Any) -> Strategy:
    check = lambda _, facts: check_response(facts.n, facts.epsilon)  # noqa: E731
    return Strategy("randomized-response", RandomizedResponse, pure=True, run=run, check=check)


def _coherence(run: Any, check: Any) -> Strategy:
    return Strategy("coherence", Coherence, pure=False, run=run, check=check, slack_share=lambda _: SLACK_SHARE)


#: ``run(options, edges, call, facts, total)`` returns a :class:`~dpgraph.problems.released_solvers.Cut`.
CUTS = Registry(
    "cuts and bisections",
    _coherence(_cut_by_coherence, check_low_rank),
    Strategy("gaussian", Gaussian, pure=False, run=_cut_by_gaussian, check=lambda _, facts: check_gaussian(facts.n)),
    Strategy(
        "noisy-power",
        NoisyPower,
        pure=False,
        run=_cut_by_power,
        check=lambda _, facts: check_products(facts.n, POWER_RANK),
    ),
    _sweeps(_cut_by_sweeps),
    _response(_cut_by_response),
    Strategy("permute-and-flip", PermuteAndFlip, pure=True, run=_best_cut, check=_check_all_cuts),
)
#: ``run(options, edges, call, facts, total)`` returns labels.
EDGES = Registry(
    "cuts into k parts, and constraint problems whose edges are private",
    _sweeps(_labels_by_sweeps),
    _response(_labels_by_response),
)
#: ``run(options, tables, call, facts, total)`` returns labels.
TABLES = Registry(
    "constraint problems whose tables are private",
    _sweeps(_table_labels),
    _coherence(_table_labels_by_coherence, _check_extended),
)

#: Answers times squared labels beyond this number would not fit into memory.
_TABLE_LIMIT = 3e7


def choose(facts: LabelFacts) -> Any:
    """What "auto" takes where edges are private, or by which released number it is chosen."""
    q = len(facts.alphabet)
    return response_or_sweeps(facts, facts.epsilon * MAIN_SHARE, q, most_answers=_TABLE_LIMIT / q**2)


def choose_cut(facts: Facts) -> Any:
    """The same for a cut: all cuts of a few vertices can be weighed."""
    return "permute-and-flip" if facts.n <= LARGEST else response_or_sweeps(facts, facts.epsilon * MAIN_SHARE, 2)


EDGE_LABELS = Problem(
    EDGES,
    auto=choose,
    pure="mechanism='bounded-iterates'",
    shares=(TOTAL_SHARE, MAIN_SHARE, WORTH_SHARE),
    first=release_total,
    worth=release_value,
    at_random=lambda generator, facts: generator.integers(0, len(facts.alphabet), facts.n),
)
TABLE_LABELS = replace(EDGE_LABELS, strategies=TABLES, auto=lambda _facts: "bounded-iterates")
#: A random balanced cut has half of the edges at least, in expectation.
CUT = replace(
    EDGE_LABELS,
    strategies=CUTS,
    auto=choose_cut,
    worth=lambda edges, cut, call: release_value(edges, cut.labels, call),
    at_random=lambda generator, facts: Cut((generator.permutation(facts.n) % 2).astype(np.int8)),
)
