"""The private normalized adjacency of the coherence-aware projector (DN25a), projected and cut like an exact one."""

from __future__ import annotations

from typing import Any

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import check_degree, check_projection, check_solver, solve, solve_dense
from dpgraph.problems.cut.strategy import Cut, CutFacts, CutStrategy, CutTask
from dpgraph.problems.embedding.api import release_normalized_adjacency
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.problems.options import Coherence
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.sos.cut.objective import FactoredObjective


def _adjacency(options: Coherence, n: int, max_weight: float) -> AdjacencyOptions:
    return AdjacencyOptions.check(
        n,
        max_weight=max_weight,
        rank=options.rank,
        max_rank=options.max_rank,
        regularization=options.regularization,
        coherence=options.coherence,
        mechanism="coherence",
        core_noise=options.core_noise,
        certificate=options.certificate,
        least_rank=2,  # the first eigenvector of a nonnegative matrix has one sign and cuts nothing
        denoise=options.denoise is True,
    )


def _check(options: Coherence, facts: CutFacts) -> None:
    check_solver(options)
    check_projection(options.projection, facts.n)
    check_degree(options.degree, facts.n)
    _adjacency(options, facts.n, facts.max_weight)


def _run(options: Coherence, graph: Graph, call: Call, task: CutTask) -> Cut:
    settings = _adjacency(options, graph.n_vertices, graph.max_weight)
    budget: Any = {"mean_degree": task.mean_degree, "ledger": call.ledger, "mu": call.mu, "noise": call.noise}
    private = release_normalized_adjacency(graph, settings, **budget)
    asked: Any = {"balanced": task.balanced, "degree": options.degree}
    if options.projection in ("spectral", "frobenius"):
        matrix, scale = private.matrix(), private.scale
        return solve_dense(matrix, scale, options, call.generator, projection=options.projection, **asked)
    return solve(FactoredObjective(private.adjacency_factor(), private.core), options, call.generator, **asked)


STRATEGY = CutStrategy(
    "coherence",
    Coherence,
    "`private_normalized_adjacency`, then the max-cut solver on the private factors; may halt",
    pure=lambda options: False,
    run=_run,
    check=_check,
    slack_share=lambda options: SLACK_SHARE,
    order=1,
)
