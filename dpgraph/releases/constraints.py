"""The private side of a 2-CSP, and the weights of it that are released.

A 2-CSP has variables, q labels, and for each pair of variables a table of what two labels earn. Two kinds are private:
the tables of all pairs (:class:`PrivateTables`), or only the weights of the pairs, where every table is a weight times
one public relation (:class:`RelatedEdges`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from dpgraph.arguments import as_reals
from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph, WeightGrid
from dpgraph.instance import TwoCSP
from dpgraph.privacy.call import Call, Measurement
from dpgraph.releases.totals import WeightEstimate, release_weight
from dpgraph.typing import FloatArray, IntArray


def public_relation(relation: ArrayLike | None, alphabet: int) -> FloatArray:
    """Check a public relation of q labels and round it to multiples of ``ITERATE_UNIT``; None: labels must differ."""
    if relation is None:
        return 1.0 - np.eye(alphabet)
    try:
        table = as_reals(relation)
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
    #: Line of the ledger for what labels earn.
    line: str = "assignment weight"

    @classmethod
    def of_cut(cls, graph: Graph) -> RelatedEdges:
        """Edges that two sides cut."""
        return cls(graph, public_relation(None, 2), "cut weight")

    @property
    def chance(self) -> float:
        """Share of the pairs that two halves of the vertices separate: 2 a b/(n (n - 1)), a = floor(n/2), b = n - a."""
        n = self.graph.n_vertices
        return 2 * (n // 2) * (n - n // 2) / (n * (n - 1)) if n > 1 else 0.5

    @property
    def split_bounds(self) -> tuple[float, float]:
        """Change of what labels earn and leave, in l1 and l2: together, as the relation is at most 1, w."""
        return (sensitivity.partition_weight(self.graph.max_weight),) * 2

    @property
    def unit(self) -> float:
        """What labels earn is a multiple of this."""
        whole = bool(np.all(self.relation == np.rint(self.relation)))
        return self.graph.weight_unit * (1.0 if whole else ITERATE_UNIT)

    @classmethod
    def read(cls, instance: TwoCSP, relation: FloatArray, max_weight: float) -> RelatedEdges:
        """Weights of an instance whose tables are weights times the relation, capped and on the public grid."""
        tables = instance.tables
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
        return cls(_graph(instance.n_variables, instance.pairs, grid.round(weights), max_weight, grid.unit), relation)

    def total_weight(self) -> float:
        """Total weight times the largest entry of the relation."""
        return float(self.graph.degrees().sum()) / 2 * float(self.relation.max())

    def value(self, labels: IntArray) -> float:
        """Weight that public labels earn."""
        return float((self.graph.weights_between(labels, len(self.relation)) * self.relation).sum()) / 2


@dataclass(frozen=True)
class PrivateTables:
    """An instance on the weight grid: its label-extended graph, its tables and their pairs.

    The label-extended graph has a vertex for each variable and label, and the entries of the tables as weights.
    """

    graph: Graph
    q: int
    tables: FloatArray
    pairs: IntArray
    line = "assignment weight"

    @property
    def chance(self) -> float:
        """Share of all entries of the tables that uniform labels earn."""
        return 1 / self.q**2

    @property
    def split_bounds(self) -> tuple[float, float]:
        """Change of what labels earn, and of what they leave, in l1 and l2."""
        return sensitivity.split_table(self.graph.max_weight)

    @property
    def unit(self) -> float:
        """What labels earn is a multiple of this."""
        return self.graph.weight_unit

    @classmethod
    def read(cls, instance: TwoCSP, max_weight: float) -> PrivateTables:
        """Cap the tables, round them to the public weight grid, and extend."""
        n, q, grid = instance.n_variables, instance.alphabet_size, WeightGrid.of(max_weight)
        tables = grid.round(instance.tables)
        capped = TwoCSP(n, q)
        capped.add_constraints(instance.pairs, tables)
        graph = Graph(capped.label_extended_graph(), tuple(range(n * q)), max_weight, grid.unit)
        return cls(graph, q, tables, instance.pairs)

    def fields(self, block: IntArray, X: FloatArray) -> FloatArray:
        """What each label of the variables `block` would earn against the public X, shape (len(block), q)."""
        rows = (block[:, None] * self.q + np.arange(self.q)).ravel()
        return self.graph.multiply_rows(rows, X.reshape(-1, 1)).reshape(block.size, self.q)

    def total_weight(self) -> float:
        """Sum of the largest entries of the tables."""
        return math.fsum(self.tables.max(axis=(1, 2), initial=0.0))

    def constraint_graph(self) -> Graph:
        """The graph on the variables with the largest entries of the tables as weights; neighbours stay neighbours."""
        n, largest = self.graph.n_vertices // self.q, self.tables.max(axis=(1, 2), initial=0.0)
        return _graph(n, self.pairs, largest, self.graph.max_weight, self.graph.weight_unit)

    def value(self, labels: IntArray, rows: NDArray[np.bool_] | None = None) -> float:
        """Weight that public labels earn, on request between public rows only."""
        u, v = self.pairs.T
        earned = self.tables[np.arange(len(u)), labels[u], labels[v]]
        return math.fsum(earned if rows is None else earned[rows[u] & rows[v]])


def _graph(n: int, pairs: IntArray, weights: FloatArray, max_weight: float, unit: float) -> Graph:
    upper = sparse.coo_array((weights, tuple(pairs.T)), shape=(n, n))
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.eliminate_zeros()
    return Graph(adjacency, tuple(range(n)), max_weight, unit)


PrivateCSP = RelatedEdges | PrivateTables


def release_total(private: PrivateCSP, call: Call) -> WeightEstimate:
    """Release the sum over the pairs of what they earn at most (sensitivity w)."""
    return release_weight("total weight", private.total_weight(), private.graph, call)


def release_value(private: PrivateCSP, labels: IntArray, call: Call) -> WeightEstimate:
    """Release what labels earn that are public already, and what they leave of the most that the pairs have.

    Both come from one release; their sum is the total, and costs nothing more.
    """
    earned = private.value(labels)
    exact, (l1, l2) = np.array([earned, private.total_weight() - earned]), private.split_bounds
    released = call.release(Measurement(private.line, exact, l1=l1, l2=l2, unit=private.unit, few=True))
    return WeightEstimate(released.number, released.std, float(released.value.sum()))


def release_advantage(private: PrivateCSP, labels: IntArray, call: Call) -> WeightEstimate:
    """Release by how much public labels exceed random ones in expectation, for this part of a Gaussian budget.

    Random ones earn the share f, `chance`, of all weight that pairs or entries of tables have, f rounded up to 2**-10
    so that products with sums of weights are exact. A weight, which changes by at most w, counts 1 - f where the labels
    earn it, and -f elsewhere.
    """
    share = math.ceil(private.chance * 2.0**10) * 2.0**-10
    exact = np.array([private.value(labels) - share * float(private.graph.degrees().sum()) / 2])
    bound = sensitivity.advantage(private.graph.max_weight, share)
    released = call.release(Measurement("advantage over chance", exact, l2=bound, few=True))
    return WeightEstimate(released.number, released.std)


def release_extended_weight(private: PrivateTables, call: Call) -> WeightEstimate:
    """Release the total weight of the label-extended graph; one entry of one table changes it by at most w."""
    weight = float(private.graph.degrees().sum()) / 2
    return release_weight("label-extended weight", weight, private.graph, call)
