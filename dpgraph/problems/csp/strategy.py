"""What the strategies for private constraint problems share."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dpgraph.privacy.relation import Constraint, Relation
from dpgraph.problems.cut.solve import answer_weights
from dpgraph.problems.strategy import Registry
from dpgraph.releases.answers import FlippedGraph
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels
from dpgraph.typing import FloatArray, IntArray

#: Random starts of the annealing of answers, and its sweeps.
_STARTS, _SWEEPS = 2, 500


@dataclass(frozen=True)
class CSPTask:
    """What is public about a call of :func:`~dpgraph.private_max_2csp`; `neighbours` is what neighbours differ in."""

    variables: tuple[Hashable, ...]
    alphabet: tuple[Hashable, ...]
    epsilon: float
    delta: float
    neighbours: Relation
    max_weight: float

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def whole_table(self) -> bool:
        """Whether neighbours differ in the whole table of a pair."""
        return isinstance(self.neighbours, Constraint)


def label_answers(flipped: FlippedGraph, relation: FloatArray, *, rng: np.random.Generator) -> IntArray:
    """Label a released graph: much expected weight, times a public relation, of the pairs that answered 1.

    What the other pairs weigh is left out: together they are a small share of the edges, spread over all pairs, and
    favour nothing but balance, as the others do too.
    """
    n, q = flipped.adjacency.shape[0], len(relation)
    pairs = sparse.triu(answer_weights(flipped)[0], k=1).tocoo()
    ends = np.stack(pairs.coords, axis=1).astype(np.int64)
    objective = CSPObjective(ends, pairs.data[:, None, None] * relation, np.zeros((n, q)))
    return improve_labels(objective, rng.integers(q, size=(_STARTS, n)), rng, sweeps=_SWEEPS)


#: Strategies where edges are private, and where tables are: ``run`` returns labels.
EDGES = Registry("dpgraph.problems.csp.edge_strategies")
TABLES = Registry("dpgraph.problems.csp.table_strategies")
