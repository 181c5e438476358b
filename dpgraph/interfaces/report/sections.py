"""The private calls of a report, and what they cost."""

import math
from typing import Any

import numpy as np

from dpgraph.arguments import check_epsilon, check_optional_delta, shown
from dpgraph.bounds.count_intervals import half_width
from dpgraph.denoise.block_model import Blocks
from dpgraph.denoise.swaps import Goals
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.interfaces.report.result import Report
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.problems.communities import CommunityFacts, most_communities, publish, release_with_edges
from dpgraph.problems.counts.degrees import private_degree_distribution
from dpgraph.problems.counts.subgraphs import private_subgraph_counts
from dpgraph.problems.cut.private import private_max_cut
from dpgraph.problems.densest import private_densest_subgraph
from dpgraph.problems.synthesis import assigned_degrees, fit_model
from dpgraph.releases.subgraphs import check_counts
from dpgraph.results.communities import PrivateCommunities
from dpgraph.results.counts import PrivateCounts
from dpgraph.tuning import SYNTHESIS
from dpgraph.typing import GraphLike

#: Parts of the whole epsilon, without a cut; with one, it takes `CUT` and leaves the others the rest.
SHARES = {"communities": 0.55, "counts": 0.15, "degrees": 0.15, "densest": 0.15}
CUT = 0.2
_PATTERNS = ("edge", "triangle")


def shares(*, cut: bool) -> dict[str, float]:
    """The public parts of the budget, which add up to 1."""
    return {name: share * (1 - CUT) for name, share in SHARES.items()} | {"cut": CUT} if cut else dict(SHARES)


@private_function
def report(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    cut: bool = False,
    title: str = "A private network",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> Report:
    """Release what a graph looks like, as a page to show to others, with edge-level differential privacy.

    Communities with a map, how many edges and triangles there are, the degree distribution, the densest part, and a
    synthetic twin, under one budget. Edges count once, whatever they weigh.

    Parameters
    ----------
    G, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    epsilon : float
        epsilon > 0, for the whole page. From 1 to 4 for a network of hundreds or thousands of vertices.
    delta : float, default 0.0
        0 <= delta < 1. Not spent: the release is pure.
    cut : bool, default False
        Also release two sides with many edges between them, for a fifth of epsilon.
    title : str
        Name of the graph; public.

    Returns
    -------
    Report
        With ``to_html``, ``to_json``, ``to_csv``, ``to_png`` and ``to_pdf``; a notebook shows the page.

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input, or an epsilon too small for a count; the accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in one vertex pair. The whole epsilon is debited first. Its parts go
    to communities as by :func:`dpgraph.private_synthetic_graph` (55 %), to :func:`dpgraph.private_subgraph_counts`,
    :func:`dpgraph.private_degree_distribution` and :func:`dpgraph.private_densest_subgraph` (15 % each), and, if asked
    for, a fifth of all to :func:`dpgraph.private_max_cut`; all are pure, and epsilons add up. The rest is
    post-processing.

    References
    ----------
    Those of the functions named above.

    Examples
    --------
    >>> import dpgraph
    >>> page = dpgraph.report(dpgraph.datasets.load("us-flights"), epsilon=4.0, title="Flights")
    >>> page.facts[0].name, page.facts[0].low < 2834 < page.facts[0].high
    ('connections', True)
    >>> page.to_html("/dev/null")
    """
    check_optional_delta(delta)
    if not isinstance(title, str):
        raise InvalidParameterError(f"title must be a text; got {shown(title)}")
    if type(G).__module__.startswith("dpgraph.distributed"):
        raise InvalidGraphError("expected a graph on this machine; a report does not read a table on a cluster")
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    part = {name: share * check_epsilon(epsilon) for name, share in shares(cut=cut).items()}
    most_communities("auto", source.n_vertices)
    check_counts(dict.fromkeys(_PATTERNS, 1 / len(_PATTERNS)), part["counts"])
    call = open_call(epsilon=epsilon, accountant=accountant, relation=Edge(), noise=rng)
    graph = source.read().unweighted()

    def budget(name: str) -> dict[str, Any]:
        return {"epsilon": part[name], "accountant": call.lend(name), "rng": call.noise}

    A = graph.adjacency
    counts = private_subgraph_counts(A, _PATTERNS, **budget("counts"))
    communities = _communities(graph, budget("communities"), counts)
    degrees = private_degree_distribution(A, **budget("degrees"))
    densest = private_densest_subgraph(A, **budget("densest"))
    sides = private_max_cut(A, **budget("cut")) if cut else None
    errors = half_width(counts.noise["triangle"], 1 / 2), 0.0, 0.0
    goals = Goals(max(counts.counts["triangle"], 0), math.nan, math.nan, errors)
    assigned = assigned_degrees(degrees.counts, communities.degrees, call.generator)
    blocks = Blocks.fit(assigned, communities.labels, communities.block_weights)
    twin, _ = fit_model(graph.nodes, blocks, goals, call)
    found = Report(title, communities, degrees, counts, densest, sides, twin, call.report())
    return found.named(source.nodes)


def _communities(graph: Graph, budget: dict[str, Any], counts: PrivateCounts) -> PrivateCommunities:
    """The communities of a synthetic graph, whose edges are known by the count of all."""
    noise = budget.pop("rng")
    call = open_call(**budget, relation=Edge(), noise=noise)
    facts = CommunityFacts(graph.n_vertices, graph.max_weight, call.epsilon, degree_share=SYNTHESIS.degree_share)
    found, mechanism = release_with_edges(graph, call, facts, counts.counts["edge"])
    between = found.weights.with_total(counts.counts["edge"], counts.std["edge"])
    return publish(found, graph.nodes, between, 1.0, mechanism, call.report())
