"""Two pure stages: randomised response inside a core of large degrees, then one look at every other vertex.

Randomised response hides the edges of a vertex among k p false answers, k vertices answering: among few vertices of
many edges that is little, among all vertices of a sparse graph it is more than there is to see. So only a core answers,
its cut is computed from the answers at leisure, and each other vertex reads its edges to those before it once, with the
noise of a single count. Answers tell about the pairs inside the core, looks about all others: both spend the budget.
"""

from collections.abc import Callable

import numpy as np

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.releases.answers import FlippedGraph, check_response, expected_flips, flip_limit, release_flipped_graph
from dpgraph.releases.sweeps.core import release_usable_degrees
from dpgraph.releases.sweeps.iteration import Core, Iteration, degree_order
from dpgraph.releases.sweeps.one_sided import release_one_sided_sweeps
from dpgraph.tuning import TWO_STAGE
from dpgraph.typing import FloatArray


def check_core_response(epsilon: float) -> None:
    """Refuse an epsilon of this mechanism at which the answers of a core are worthless, whatever its size."""
    check_response(1, _answers_share(epsilon))


def _answers_share(epsilon: float) -> float:
    """What the degrees leave of epsilon for answers and looks."""
    return epsilon * (1 - TWO_STAGE.degree_share)


def release_core_response(
    graph: Graph, iteration: Iteration, solve: Callable[[FlippedGraph], FloatArray], call: Call, *, mean_degree: float
) -> FloatArray:
    """Release a row of the iterate for each vertex.

    `solve` gives rows for the vertices of a released graph, those of the core; `iteration` says what a vertex outside
    the core sees of the others, and how it answers. `call` is part of a pure budget, in one stage.
    """
    w, oracle = graph.max_weight, iteration.oracle
    first, answers = call.split(TWO_STAGE.degree_share, 1 - TWO_STAGE.degree_share)
    degrees = release_usable_degrees(graph, mean_degree, first)
    core = response_core(degrees / w, answers.epsilon, TWO_STAGE.edges_per_flip, call.generator)
    X = np.zeros((oracle.rows, oracle.columns))
    X[core.rows] = solve(release_flipped_graph(graph, answers, core=core))
    if core.others.size:
        X, _ = release_one_sided_sweeps(iteration, w * degrees / oracle.columns, core, X, answers, sweeps=1)
    return X


def response_core(degrees: FloatArray, epsilon: float, wanted: float, generator: np.random.Generator) -> Core:
    """As many vertices of large (released) degree as expect `wanted` edges inside the core for each false answer.

    If edges choose their ends in proportion to the degrees, a vertex of degree d has d times the core's share of all
    degrees inside the core, and k p false answers in a core of k vertices. No core has more false answers than fit into
    memory.
    """
    order = degree_order(degrees, generator)
    sizes = np.arange(1, degrees.size + 1)
    inside = degrees[order] * np.cumsum(degrees[order]) / degrees.sum()
    each = expected_flips(2, epsilon)
    worth = np.flatnonzero((inside >= wanted * each * sizes) & (each * sizes * (sizes - 1) / 2 <= flip_limit()))
    return Core(order, int(worth[-1]) + 1 if worth.size else 1)
