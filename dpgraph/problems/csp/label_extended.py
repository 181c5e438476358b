"""The private side of a 2-CSP whose tables are private: its label-extended graph, and two mechanisms on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph
from dpgraph.inputs.weight_grid import WeightGrid
from dpgraph.instance import TwoCSP
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.api import release_normalized_adjacency
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.labels import Simplex
from dpgraph.releases.sweeps.oracle import ITERATE_UNIT, FieldOracle, Iteration, LabelScores
from dpgraph.releases.totals import release_weight
from dpgraph.sos.csp.factored import solve_factored_csp

__all__ = ["PrivateTables", "release_by_coherence", "release_by_iterates"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Shares of the budget (mu**2, or epsilon if pure) for the weights of all candidates together, and for the weight of
#: the label-extended graph.
_CHOICE_SHARE, _EXTENDED_SHARE = 0.03, 0.005
_STARTS = 16
#: Standard deviations of a noisy weight by which a candidate must be better than the labels that are there.
_CLEARLY = 4.0


@dataclass(frozen=True)
class PrivateTables:
    """An instance on the weight grid: its label-extended graph, its tables and their pairs."""

    graph: Graph
    q: int
    tables: FloatArray
    pairs: IntArray

    @classmethod
    def read(cls, instance: TwoCSP, max_weight: float) -> PrivateTables:
        """Cap the tables, round them to the public weight grid, and extend."""
        grid = WeightGrid.of(max_weight)
        tables = grid.round(instance.tables)
        capped = TwoCSP(instance.n_variables, instance.alphabet_size)
        capped.add_constraints(instance.pairs, tables)
        nodes = tuple(range(instance.n_variables * instance.alphabet_size))
        graph = Graph(capped.label_extended_graph(), nodes, max_weight, grid.unit)
        return cls(graph, instance.alphabet_size, tables, instance.pairs)

    def fields(self, block: IntArray, X: FloatArray) -> FloatArray:
        """What each label of the variables `block` would earn against the public X, shape (len(block), q)."""
        rows = (block[:, None] * self.q + np.arange(self.q)).ravel()
        return self.graph.multiply_rows(rows, X.reshape(-1, 1)).reshape(block.size, self.q)

    def total_weight(self) -> float:
        """Sum of the largest entries of the tables."""
        return math.fsum(self.tables.max(axis=(1, 2), initial=0.0))

    def constraint_graph(self) -> Graph:
        """The graph on the variables with the largest entries of the tables as weights; neighbours stay neighbours."""
        n = self.graph.n_vertices // self.q
        u, v = self.pairs.T
        largest = self.tables.max(axis=(1, 2), initial=0.0)
        upper = sparse.coo_array((largest, (u, v)), shape=(n, n))
        adjacency = sparse.csr_array(upper + upper.T)
        return Graph(adjacency, tuple(range(n)), self.graph.max_weight, self.graph.weight_unit)

    def value(self, labels: IntArray, rows: NDArray[np.bool_] | None = None) -> float:
        """Weight that public labels earn, on request between public rows only."""
        u, v = self.pairs.T
        earned = self.tables[np.arange(len(u)), labels[u], labels[v]]
        return math.fsum(earned if rows is None else earned[rows[u] & rows[v]])


def release_by_iterates(
    private: PrivateTables,
    call: Call,
    *,
    mean_degree: float,
    whole_table: bool,
    together: bool = False,
    progress: bool = False,
) -> IntArray:
    """Labels by bounded iterates in the simplex, for a part of the budget.

    Parameters
    ----------
    private : PrivateTables
        The private side.
    call : Call
        Part of the budget.
    mean_degree : float
        Released average weight of the constraints on a variable.
    whole_table : bool
        Neighbours differ in the whole table of a pair, not in one entry.
    together : bool
        As for :func:`~dpgraph.releases.sweeps.core.release_core_iterates`.
    progress : bool
        Show a bar on stderr.
    """
    constraints, w, q = private.constraint_graph(), private.graph.max_weight, private.q
    oracle = FieldOracle(
        rows=constraints.n_vertices,
        columns=q,
        fields=private.fields,
        unit=private.graph.weight_unit * ITERATE_UNIT,
        row_bound=sensitivity.constraint_rows(w, q) if whole_table else w,
        row_bound_l1=sensitivity.constraint_rows_l1(w, q) if whole_table else w,
        envelope=q * w if whole_table else w,
        # One entry of a table moves one score, a whole table moves them in any direction.
        scores=None if whole_table else LabelScores(private.fields, np.eye(q), w, single=True),
    )
    main, choice = (Call(call.ledger, call.noise, share) for share in (call.share - _CHOICE_SHARE, _CHOICE_SHARE))
    iteration = Iteration(oracle, Simplex(q), partial(_best_rank, private, choice), progress)
    X, _ = release_core_iterates(constraints, iteration, main, mean_degree=mean_degree, together=together)
    return np.argmax(X, axis=1)


def _best_rank(
    private: PrivateTables,
    call: Call,
    X: FloatArray,
    fields: FloatArray,
    part: float,
    when: str,
) -> FloatArray:
    """Choose, by private weights, between the labels of largest field at every row, of second largest, and so on.

    Iterates from a random start may settle where no label that belongs to a hidden assignment is used at all: each of
    the others supports the others. There every row sees exactly those labels last, so that one of the q candidates is
    close to the hidden assignment. All fields are released; a candidate's weight has sensitivity w. Labels that were
    chosen without fields say nothing about the others.
    """
    if not fields.any():
        return X
    rows: NDArray[np.bool_] = np.asarray(X.any(axis=1))
    last = X + 1e-9 * np.argsort(np.argsort(fields, axis=1), axis=1)  # rows that were set say themselves what is first
    ranked = np.argsort(-last, axis=1, kind="stable")
    choice = call.part(part).one_stage()
    weights = [
        release_weight(
            f"weight of candidate {k + 1}, {when}",
            private.value(ranked[:, k], rows),
            private.graph,
            choice.equal_part(private.q),
        )
        for k in range(private.q)
    ]
    best = max(range(private.q), key=lambda k: weights[k].value)
    if weights[best].value - weights[0].value <= _CLEARLY * weights[0].std:
        return X
    return np.where(rows[:, None], np.eye(private.q)[ranked[:, best]], 0.0)


def release_by_coherence(private: PrivateTables, options: AdjacencyOptions, call: Call) -> IntArray:
    """Labels of a low-rank private label-extended graph, for a part of a Gaussian budget."""
    graph, ledger, noise = private.graph, call.ledger, call.noise
    extended = release_weight(
        "label-extended weight",
        float(graph.degrees().sum()) / 2,
        graph,
        Call(ledger, noise, _EXTENDED_SHARE),
    )
    adjacency_matrix = release_normalized_adjacency(
        graph, options, 2 * extended.value / graph.n_vertices, Call(ledger, noise, call.share - _EXTENDED_SHARE)
    )
    factor, core = adjacency_matrix.adjacency_factor(), adjacency_matrix.core
    return solve_factored_csp(factor, core, private.q, starts=_STARTS, rng=noise.generator)
