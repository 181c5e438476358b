"""Labels, vertex by vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.call import Call
from dpgraph.problems.csp.release import CSPStrategy, Request, check_noise, spending_of_iterates
from dpgraph.problems.options import BoundedIterates
from dpgraph.releases.constraints import RelatedEdges
from dpgraph.releases.sweeps.labels import release_label_iterates


def _run(
    options: BoundedIterates, private: RelatedEdges, call: Call, request: Request, mean_degree: float
) -> NDArray[np.int64]:
    return release_label_iterates(
        private.graph, private.relation, call, mean_degree=mean_degree, progress=request.progress
    )


STRATEGY = CSPStrategy(
    "bounded-iterates",
    BoundedIterates,
    "vertices choose one after another, by noisy readings of what the others have chosen; for all graphs",
    pure=lambda options: options.noise != "gaussian",
    run=_run,
    check=check_noise,
    spending=spending_of_iterates,
)
