"""Private block coordinate descent on a public iterate."""

from dpgraph.arguments import check_choice
from dpgraph.denoise.iterates import cut_labels
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.strategy import Cut, CutTask
from dpgraph.problems.options import ITERATE_NOISES, BoundedIterates
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import cut_iteration


def _run(options: BoundedIterates, graph: Graph, call: Call, task: CutTask, mean_degree: float) -> Cut:
    iteration = cut_iteration(graph, balanced=task.balanced)
    together = options.noise == "auto"
    X, fields = release_core_iterates(graph, iteration, call, mean_degree=mean_degree, together=together)
    return Cut(cut_labels(X, fields, balanced=task.balanced))


STRATEGY = Strategy(
    "bounded-iterates",
    BoundedIterates,
    pure=lambda _: True,
    run=_run,
    check=lambda options, _: check_choice("noise", options.noise, ITERATE_NOISES),
    order=4,
)
