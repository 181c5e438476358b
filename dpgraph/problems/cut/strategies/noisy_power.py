"""The noisy power method (HP14), then the solver on the private factors."""

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.solve import solve, solver_options
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.options import NoisyPower
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, check_products, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.projector import check_rank
from dpgraph.sos.cut.objective import FactoredObjective


def _check(options: NoisyPower, facts: Facts) -> None:
    solver_options(options)
    check_rank(options.rank, facts.n, options.max_rank)
    check_products(facts.n, POWER_RANK if options.rank == "auto" else options.rank)


def _run(options: NoisyPower, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    rank = min(POWER_RANK, graph.n_vertices) if options.rank == "auto" else options.rank
    released = release_low_rank_adjacency(graph, rank, call)
    objective = FactoredObjective(released.basis, released.core)
    return solve(objective, options, call.generator, balanced=task.balanced)


STRATEGY = Strategy(
    "noisy-power",
    NoisyPower,
    pure=lambda _: False,
    run=_run,
    check=_check,
    unread=("max_rank", "regularization", "denoise"),
    order=3,
)
