"""The noisily best of all cuts."""

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.options import PermuteAndFlip
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.all_cuts import LARGEST, release_best_cut


def _check(options: PermuteAndFlip, facts: Facts) -> None:
    if facts.n > LARGEST:
        raise InvalidParameterError(
            f"permute-and-flip weighs all 2**(n - 1) cuts and is limited to n <= {LARGEST}; got n = {facts.n}"
        )


def _run(options: PermuteAndFlip, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    return Cut(release_best_cut(graph, call, balanced=task.balanced))


STRATEGY = Strategy(
    "permute-and-flip",
    PermuteAndFlip,
    pure=lambda _: True,
    run=_run,
    check=_check,
    order=7,
)
