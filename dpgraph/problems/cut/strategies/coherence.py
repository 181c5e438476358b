"""The private normalized adjacency of the coherence-aware projector (DN25a), projected and cut like an exact one."""

from typing import Any

from dpgraph.arguments import check_integer
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.chance import TEST_SHARE, check_advantage, check_core
from dpgraph.problems.cut.solve import check_projection, project_released, solve, solver_options, unnormalized
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.embedding.strategies.coherence import check_coherence, release_normalized_adjacency
from dpgraph.problems.options import Coherence
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.releases.random_graph import add_random_graph, check_random_degree
from dpgraph.releases.totals import release_cut_advantage
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective
from dpgraph.sos.moments.relaxation import check_size


def _check(options: Coherence, facts: Facts) -> None:
    solver_options(options)
    check_random_degree(options.random_degree, facts.n)
    check_projection(options.projection, facts.n)
    if check_integer("degree", options.degree, 2) != 2:
        check_size(facts.n, 2, options.degree)  # refuses an odd one too
    check_coherence(options, facts.n, facts.max_weight)


def _run(options: Coherence, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    union = add_random_graph(graph, options.random_degree, call.generator)
    main, test = call.split(1 - TEST_SHARE, TEST_SHARE)
    # The first eigenvector of a nonnegative matrix has one sign and cuts nothing.
    private = release_normalized_adjacency(union.graph, options, union.mean_degree(mean_degree), main, least_rank=2)
    check_core(private, call, negative=True)
    asked: Any = {"balanced": task.balanced, "degree": options.degree}
    if options.projection in ("spectral", "frobenius"):
        projected = project_released(private.matrix(), options.projection)
        matrix = union.dense_without_it(unnormalized(projected, private.scale))
        cut = solve(DenseObjective(matrix), options, call.generator, **asked)
    else:
        factored = union.without_it(private.adjacency_factor(), private.core)
        cut = solve(FactoredObjective(*factored), options, call.generator, **asked)
    check_advantage(release_cut_advantage(graph, cut.labels, test), task.max_weight * mean_degree * task.n / 8, call)
    return cut


STRATEGY = Strategy(
    "coherence",
    Coherence,
    pure=lambda _: False,
    run=_run,
    check=_check,
    slack_share=lambda _: SLACK_SHARE,
    order=1,
)
