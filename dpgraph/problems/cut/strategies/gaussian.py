"""Noise on all entries of the normalized adjacency (DTTZ14), projection, then the solver."""

from __future__ import annotations

from typing import Any

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import check_projection, check_solver, solve_dense
from dpgraph.problems.cut.strategy import Cut, CutFacts, CutStrategy, CutTask
from dpgraph.problems.embedding.api import release_noisy_matrix
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.problems.options import Gaussian
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE


def _adjacency(options: Gaussian, n: int, max_weight: float) -> AdjacencyOptions:
    return AdjacencyOptions.check(
        n,
        max_weight=max_weight,
        rank=options.rank,
        max_rank=options.max_rank,
        regularization=options.regularization,
        coherence="degree-corrected",
        mechanism="gaussian",
    )


def _check(options: Gaussian, facts: CutFacts) -> None:
    check_solver(options)
    check_projection(options.projection, facts.n)
    _adjacency(options, facts.n, facts.max_weight)


def _run(options: Gaussian, graph: Graph, call: Call, task: CutTask) -> Cut:
    settings = _adjacency(options, graph.n_vertices, graph.max_weight)
    budget: Any = {"mean_degree": task.mean_degree, "ledger": call.ledger, "mu": call.mu, "noise": call.noise}
    scale, matrix = release_noisy_matrix(graph, settings, **budget)
    return solve_dense(matrix, scale, options, call.generator, projection=options.projection, balanced=task.balanced)


STRATEGY = CutStrategy(
    "gaussian",
    Gaussian,
    "noise on all entries of the normalized adjacency, projection, then the solver (n <= 5000)",
    pure=lambda options: False,
    run=_run,
    check=_check,
    slack_share=lambda options: 0.0 if options.regularization == "auto" else SLACK_SHARE,
    unread=("rank", "max_rank"),
    order=2,
)
