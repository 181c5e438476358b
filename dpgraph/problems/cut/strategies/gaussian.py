"""Noise on all entries of the normalized adjacency (DTTZ14), projection, then the solver."""

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import check_projection, solve_dense, solver_options
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.embedding.strategies.gaussian import check_gaussian
from dpgraph.problems.options import Gaussian
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.normalized import release_noisy_matrix


def _check(options: Gaussian, facts: Facts) -> None:
    solver_options(options)
    check_projection(options.projection, facts.n)
    check_gaussian(options, facts.n, facts.max_weight)


def _run(options: Gaussian, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    noisy = release_noisy_matrix(graph, options.regularization, mean_degree, call)
    return solve_dense(noisy.matrix, noisy.scale, options, call.generator, balanced=task.balanced)


STRATEGY = Strategy(
    "gaussian",
    Gaussian,
    pure=lambda _: False,
    run=_run,
    check=_check,
    slack_share=lambda options: 0.0 if options.regularization == "auto" else SLACK_SHARE,
    unread=("rank", "max_rank"),
    order=2,
)
