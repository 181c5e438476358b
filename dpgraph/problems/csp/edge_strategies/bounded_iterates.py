"""Labels, vertex by vertex."""

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.privacy.call import Call
from dpgraph.problems.csp.strategy import CSPTask
from dpgraph.problems.options import ITERATE_NOISES, BoundedIterates
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.constraints import RelatedEdges
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import label_iteration
from dpgraph.typing import IntArray


def _run(options: BoundedIterates, private: RelatedEdges, call: Call, task: CSPTask, mean_degree: float) -> IntArray:
    iteration = label_iteration(private.graph, private.relation)
    together = options.noise == "auto"
    X, _ = release_core_iterates(private.graph, iteration, call, mean_degree=mean_degree, together=together)
    return np.asarray(np.argmax(X, axis=1))


STRATEGY = Strategy(
    "bounded-iterates",
    BoundedIterates,
    pure=lambda _: True,
    run=_run,
    check=lambda options, _: check_choice("noise", options.noise, ITERATE_NOISES),
)
