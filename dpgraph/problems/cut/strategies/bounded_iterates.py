"""Private block coordinate descent on a public iterate."""

from dpgraph.arguments import check_choice
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.cut.strategy import Cut, CutFacts, CutStrategy, CutTask
from dpgraph.problems.options import BoundedIterates
from dpgraph.releases.sweeps.signs import release_cut_labels


def _check(options: BoundedIterates, facts: CutFacts) -> None:
    check_choice("noise", options.noise, ("auto", "gaussian", "laplace"))


def _run(options: BoundedIterates, graph: Graph, call: Call, task: CutTask) -> Cut:
    labels = release_cut_labels(
        graph,
        call,
        mean_degree=task.mean_degree,
        balanced=task.balanced,
        together=options.noise == "auto",
        progress=task.progress,
    )
    return Cut(labels)


STRATEGY = CutStrategy(
    "bounded-iterates",
    BoundedIterates,
    "private block coordinate descent on a public iterate; never halts, any size",
    pure=lambda options: options.noise != "gaussian",
    run=_run,
    check=_check,
    order=4,
)
