"""The private side of a 2-CSP whose relation is public: the weights of its edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.inputs.weight_grid import WeightGrid
from dpgraph.instance import TwoCSP
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import open_ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.relation import Relation
from dpgraph.problems.csp.from_answers import label_answers
from dpgraph.problems.csp.release import CSPNames, release_assignment
from dpgraph.problems.cut.rule import MAIN_SHARE, decide_labels
from dpgraph.releases.answers import check_response, release_flipped_graph
from dpgraph.releases.sweeps.gaussian import LOOK_DELTA, is_pure, is_staged
from dpgraph.releases.sweeps.labels import Simplex, label_oracle, release_label_iterates
from dpgraph.releases.sweeps.oracle import ITERATE_UNIT, Iteration
from dpgraph.releases.sweeps.two_stage import check_core_response, release_core_response
from dpgraph.results.csp import PrivateCSPResult

__all__ = [
    "MECHANISMS",
    "EdgeMechanism",
    "EdgeRequest",
    "RelatedEdges",
    "public_relation",
    "read_edges",
    "release_edge_assignment",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
EdgeMechanism = Literal["auto", "bounded-iterates", "core-response", "randomized-response"]

MECHANISMS = ("auto", "bounded-iterates", "core-response", "randomized-response")
#: Mechanisms that are pure whatever the noise of the others.
_PURE = ("core-response", "randomized-response")


def public_relation(relation: ArrayLike | None, alphabet: int) -> FloatArray:
    """The relation of all pairs on the grid :data:`~dpgraph.releases.sweeps.oracle.ITERATE_UNIT`.

    Parameters
    ----------
    relation : array_like, shape (q, q), or None
        Symmetric, entries in [0, 1], not all zero. None: labels differ.
    alphabet : int
        q.
    """
    if relation is None:
        return 1.0 - np.eye(alphabet)
    try:
        table = np.asarray(relation, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError("relation must be a q x q array of numbers") from None
    if table.shape != (alphabet, alphabet):
        raise InvalidParameterError(f"relation must have shape ({alphabet}, {alphabet}); got {table.shape}")
    inside = np.all((table >= 0.0) & (table <= 1.0))  # false for NaN
    if not inside or not np.array_equal(table, table.T) or table.max() < ITERATE_UNIT:
        raise InvalidParameterError(
            "relation must be symmetric with entries in [0, 1], not all zero; put factors into the weights"
        )
    return np.rint(table / ITERATE_UNIT) * ITERATE_UNIT


@dataclass(frozen=True)
class RelatedEdges:
    """Private edges; a pair earns its weight times a public relation."""

    graph: Graph
    relation: FloatArray

    def total_weight(self) -> float:
        """Total weight times the largest entry of the relation."""
        return math.fsum(self.graph.adjacency.data) / 2 * float(self.relation.max())

    def value(self, labels: IntArray) -> float:
        """Weight that public labels earn."""
        edges = self.graph.adjacency.tocoo()
        return math.fsum(edges.data * self.relation[labels[edges.coords[0]], labels[edges.coords[1]]]) / 2


def read_edges(instance: TwoCSP, relation: FloatArray, max_weight: float) -> RelatedEdges:
    """Weights of an instance whose tables are weights times the relation, capped and on the public grid.

    Raises
    ------
    InvalidParameterError
        A table is not a multiple of the relation.
    """
    n, pairs, tables = instance.n_variables, instance.pairs, instance.tables
    a, b = np.unravel_index(int(np.argmax(relation)), relation.shape)
    weights = tables[:, a, b] / relation[a, b]
    # The relation was rounded to its grid, the tables were not.
    error = np.abs(tables - weights[:, None, None] * relation)
    if np.any(error > 2 * ITERATE_UNIT * weights[:, None, None]):
        raise InvalidParameterError(
            "adjacency='edge' needs every constraint table to be a weight times the public relation (by default: "
            "labels differ); at least one is not. Pass relation=, or use adjacency='constraint'"
        )
    grid = WeightGrid.of(max_weight)
    upper = sparse.coo_array((grid.round(weights), tuple(pairs.T)), shape=(n, n))
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.eliminate_zeros()
    return RelatedEdges(Graph(adjacency, tuple(range(n)), max_weight, grid.unit), relation)


@dataclass(frozen=True)
class EdgeRequest:
    """Public arguments of a call whose edges are private.

    Parameters
    ----------
    epsilon, delta, mechanism, noise, progress
        As for :func:`~dpgraph.private_max_k_cut`.
    max_weight : float
        Public bound on a weight.
    weighted : bool
        Whether weights other than 0 and 1 are declared, of which a one-bit answer tells little.
    """

    epsilon: float
    delta: float
    mechanism: str
    noise: str
    max_weight: float
    weighted: bool
    progress: bool

    def check(self, n: int) -> None:
        """Validate what is public; raises :class:`InvalidParameterError` before the budget is touched."""
        check_delta(self.delta)
        is_pure(self.noise, check_epsilon(self.epsilon))
        check_choice("mechanism", self.mechanism, MECHANISMS)
        if self.mechanism == "randomized-response":
            check_response(n, self.epsilon * MAIN_SHARE)
        if self.mechanism == "core-response":
            check_core_response(self.epsilon * MAIN_SHARE)

    @property
    def pure(self) -> bool:
        """Whether the call is pure, whatever is released."""
        return self.mechanism in _PURE or is_pure(self.noise, self.epsilon)

    def chosen(self, n: int, mean_degree: float, labels: int) -> str:
        """The mechanism, for a released average weight of the edges at a vertex."""
        if self.mechanism != "auto":
            return self.mechanism
        if self.weighted or self.noise == "gaussian":
            return "bounded-iterates"
        return decide_labels(n, self.epsilon, mean_degree / self.max_weight, labels)


def release_edge_assignment(
    names: CSPNames,
    read: Callable[[], RelatedEdges],
    request: EdgeRequest,
    *,
    accountant: PrivacyAccountant | None,
    neighbours: Relation,
    noise: NoiseSource,
) -> PrivateCSPResult:
    """Debit the budget, read private edges and release an assignment of them.

    Parameters
    ----------
    names, read
        As for :func:`~dpgraph.problems.csp.release.release_assignment`.
    request : EdgeRequest
        Public arguments.
    accountant
        As for :func:`~dpgraph.privacy.ledger.open_ledger`.
    neighbours : Relation
        What neighbours differ in.
    noise : NoiseSource
        Source of noise.
    """
    n, labels = len(names.variables), len(names.alphabet)
    request.check(n)
    staged = not request.pure and is_staged(request.noise, request.epsilon)
    ledger = open_ledger(
        epsilon=request.epsilon,
        delta=None if request.pure else request.delta,
        accountant=accountant,
        relation=neighbours,
        noise=noise,
        slack=LOOK_DELTA * request.delta * staged,
        staged=staged,
    )

    def release(private: RelatedEdges, mean_degree: float, call: Call) -> tuple[IntArray, str]:
        chosen = request.chosen(n, mean_degree, labels)
        if chosen != "bounded-iterates":
            call = call.one_stage()
        return _RELEASES[chosen](_Call(private, request, call), mean_degree), chosen

    return release_assignment(names, read, release, ledger=ledger, noise=noise)


# --- what each mechanism releases ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """A debited call with its private edges."""

    private: RelatedEdges
    request: EdgeRequest
    budget: Call


def _bounded_iterates(call: _Call, mean_degree: float) -> IntArray:
    return release_label_iterates(
        call.private.graph,
        call.private.relation,
        call.budget,
        mean_degree=mean_degree,
        progress=call.request.progress,
    )


def _randomized_response(call: _Call, mean_degree: float) -> IntArray:
    flipped = release_flipped_graph(call.private.graph, call.budget)
    return label_answers(flipped, call.private.relation, rng=call.budget.generator)


def _core_response(call: _Call, mean_degree: float) -> IntArray:
    graph, relation = call.private.graph, call.private.relation
    q, generator = len(relation), call.budget.generator
    X, _ = release_core_response(
        graph,
        Iteration(label_oracle(graph, relation), Simplex(q, relation)),
        lambda flipped: np.eye(q)[label_answers(flipped, relation, rng=generator)],
        call.budget,
        mean_degree=mean_degree,
    )
    return np.argmax(X, axis=1)


_RELEASES: dict[str, Callable[[_Call, float], IntArray]] = {
    "bounded-iterates": _bounded_iterates,
    "core-response": _core_response,
    "randomized-response": _randomized_response,
}
