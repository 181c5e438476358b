"""The private side of a 2-CSP whose relation is public: the weights of its edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import WEIGHT_BITS, Graph
from dpgraph.mechanisms.bounded_iterates import ITERATE_UNIT, LOOK_DELTA, is_parallel, is_pure
from dpgraph.mechanisms.label_iterates import release_label_iterates
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.ledger import Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.problems.private_csp import PrivateCSPResult
from dpgraph.problems.private_csp_release import CSPNames, release_assignment
from dpgraph.sos.csp import TwoCSP

__all__ = ["RelatedEdges", "open_edge_ledger", "public_relation", "read_edges", "release_edge_assignment"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def public_relation(relation: ArrayLike | None, alphabet: int) -> FloatArray:
    """The relation of all pairs on the grid :data:`~dpgraph.mechanisms.bounded_iterates.ITERATE_UNIT`.

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
    unit = max_weight * 2.0**-WEIGHT_BITS
    upper = sparse.coo_array((np.rint(np.minimum(weights, max_weight) / unit) * unit, tuple(pairs.T)), shape=(n, n))
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.eliminate_zeros()
    return RelatedEdges(Graph(adjacency, tuple(range(n)), max_weight, unit), relation)


def open_edge_ledger(
    *,
    epsilon: float,
    delta: float,
    noise: str,
    accountant: PrivacyAccountant | None,
    adjacency: str,
    source: NoiseSource,
) -> Ledger:
    """Debit the budget of :func:`release_edge_assignment`; arguments as for :func:`~dpgraph.private_max_k_cut`."""
    check_delta(delta)
    pure, parallel = is_pure(noise, check_epsilon(epsilon)), is_parallel(noise, epsilon)
    return open_ledger(
        epsilon=epsilon,
        delta=None if pure else delta,
        accountant=accountant,
        adjacency=adjacency,
        noise=source,
        slack=LOOK_DELTA * delta * parallel,
        parallel=parallel,
    )


def release_edge_assignment(
    names: CSPNames,
    read: Callable[[], RelatedEdges],
    *,
    max_weight: float,
    ledger: Ledger,
    noise: NoiseSource,
    progress: bool,
) -> PrivateCSPResult:
    """Read private edges and release an assignment of them.

    Parameters
    ----------
    names, read
        As for :func:`~dpgraph.problems.private_csp_release.release_assignment`.
    max_weight : float
        Public bound on a weight.
    ledger : Ledger
        From :func:`open_edge_ledger`: pure, Gaussian, or (parallel) one whose kind the average degree decides.
    noise : NoiseSource
        Source of noise.
    progress : bool
        Show a bar on stderr.
    """

    def release(private: RelatedEdges, mean_degree: float, stage: Ledger, share: float) -> IntArray:
        return release_label_iterates(
            private.graph,
            private.relation,
            mean_degree=mean_degree,
            ledger=stage,
            share=share,
            noise=noise,
            progress=progress,
        )

    return release_assignment(
        names,
        read,
        release,
        mechanism="bounded-iterates",
        ledger=ledger,
        noise=noise,
    )
