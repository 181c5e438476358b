"""Labels of the graph that randomised response leaves behind, for a public relation."""

import numpy as np
from scipy import sparse

from dpgraph.problems.cut.solve import answer_weights
from dpgraph.releases.answers import FlippedGraph
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels
from dpgraph.typing import FloatArray, IntArray

__all__ = ["label_answers"]

#: Random starts of the annealing, and its sweeps.
_STARTS, _SWEEPS = 2, 500


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
