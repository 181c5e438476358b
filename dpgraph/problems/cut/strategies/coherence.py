"""The private normalized adjacency of the coherence-aware projector (DN25a), projected and cut like an exact one."""

from typing import Any

from dpgraph.arguments import check_integer
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import check_projection, solve, solve_dense, solver_options
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.embedding.strategies.coherence import check_coherence, release_normalized_adjacency
from dpgraph.problems.options import Coherence
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.sos.cut.objective import FactoredObjective
from dpgraph.sos.moments.relaxation import check_size


def _check(options: Coherence, facts: Facts) -> None:
    solver_options(options)
    check_projection(options.projection, facts.n)
    if check_integer("degree", options.degree, 2) != 2:
        check_size(facts.n, 2, options.degree)  # refuses an odd one too
    check_coherence(options, facts.n, facts.max_weight)


def _run(options: Coherence, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    # The first eigenvector of a nonnegative matrix has one sign and cuts nothing.
    private = release_normalized_adjacency(graph, options, mean_degree, call, least_rank=2)
    asked: Any = {"balanced": task.balanced, "degree": options.degree}
    if options.projection in ("spectral", "frobenius"):
        return solve_dense(private.matrix(), private.scale, options, call.generator, **asked)
    return solve(FactoredObjective(private.adjacency_factor(), private.core), options, call.generator, **asked)


STRATEGY = Strategy(
    "coherence",
    Coherence,
    pure=lambda _: False,
    run=_run,
    check=_check,
    slack_share=lambda _: SLACK_SHARE,
    order=1,
)
