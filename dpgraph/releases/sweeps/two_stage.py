"""Two pure stages: randomised response inside a core of large degrees, then one look at every other vertex.

Randomised response hides the edges of a vertex among k p false answers, k vertices answering: among few vertices of
many edges that is little, among all vertices of a sparse graph it is more than there is to see. So only a core answers,
its cut is computed from the answers at leisure, and each other vertex reads its edges to those before it once, with the
noise of a single count. Answers tell about the pairs inside the core, looks about all others: both spend the budget.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import Graph
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.releases.answers import (
    FLIP_LIMIT,
    FlippedGraph,
    check_response,
    expected_flips,
    release_flipped_graph,
)
from dpgraph.releases.sweeps.core import degree_order, release_usable_degrees
from dpgraph.releases.sweeps.gaussian import Core, FieldOracle, Response
from dpgraph.releases.sweeps.one_sided import release_one_sided_sweeps

__all__ = ["check_core_response", "core_may_answer", "release_core_response", "response_core"]

FloatArray = NDArray[np.float64]

#: Share of epsilon for the degrees that choose the core.
DEGREE_SHARE = 0.04
#: A vertex answers if it expects this many edges inside the core for each false answer, if fields follow, or choices
#: (tuned on planted, uniform and power-law random graphs, validated on SNAP and Facebook100 graphs).
_EDGES_PER_FLIP, _EDGES_PER_FLIP_CHOICES = 1.5, 1.2


def core_may_answer(epsilon: float) -> bool:
    """Whether `epsilon` leaves a core more than fair coins for answers (:func:`check_core_response` refuses others)."""
    return expected_flips(1, _answers_share(epsilon)) < FLIP_LIMIT


def check_core_response(epsilon: float) -> None:
    """Refuse an epsilon of this mechanism at which the answers of a core are worthless, whatever its size.

    Raises
    ------
    InvalidParameterError
        As :func:`~dpgraph.releases.answers.check_response`.
    """
    check_response(1, _answers_share(epsilon))


def _answers_share(epsilon: float) -> float:
    """What the degrees leave of epsilon for answers and looks."""
    return epsilon * (1 - DEGREE_SHARE)


def release_core_response(
    graph: Graph,
    oracle: FieldOracle,
    response: Response,
    solve: Callable[[FlippedGraph], FloatArray],
    *,
    mean_degree: float,
    ledger: Ledger,
    epsilon: float,
    noise: NoiseSource,
) -> tuple[FloatArray, FloatArray]:
    """Release a row of the iterate for each vertex with pure `epsilon`; return them and fields, 0 inside the core.

    Parameters
    ----------
    graph : Graph
        The private graph.
    oracle, response
        What a vertex outside the core sees of the others, and how it answers, as for
        :func:`~dpgraph.releases.sweeps.gaussian.release_iterates`.
    solve : callable
        Rows for the vertices of a released graph, those of the core.
    mean_degree : float
        A private (released) average degree.
    ledger, epsilon, noise
        Budget of the call, epsilon of this release, source of noise.
    """
    w = graph.max_weight
    degrees = release_usable_degrees(
        graph, mean_degree, DEGREE_SHARE * epsilon / ledger.epsilon, ledger=ledger, noise=noise
    )
    epsilon = _answers_share(epsilon)
    wanted = _EDGES_PER_FLIP if oracle.scores is None else _EDGES_PER_FLIP_CHOICES
    core = response_core(degrees / w, epsilon, wanted, noise.generator)
    X = np.zeros((oracle.rows, oracle.columns))
    X[core.rows] = solve(release_flipped_graph(graph, ledger=ledger, epsilon=epsilon, noise=noise, core=core))
    fields = np.zeros_like(X)
    if core.others.size:
        X, fields = release_one_sided_sweeps(
            oracle,
            response,
            w * degrees / oracle.columns,
            core,
            X,
            sweeps=1,
            ledger=ledger,
            share=epsilon / ledger.epsilon,
            noise=noise,
        )
    return X, fields


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
    worth = np.flatnonzero((inside >= wanted * each * sizes) & (each * sizes * (sizes - 1) / 2 <= FLIP_LIMIT))
    return Core(order, int(worth[-1]) + 1 if worth.size else 1)
