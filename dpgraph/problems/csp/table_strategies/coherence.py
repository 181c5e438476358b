"""A label-extended matrix of low rank (DN25a, section 7), which is then labelled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import Call
from dpgraph.problems.csp.options import Coherence
from dpgraph.problems.csp.release import CSPStrategy, Request, Spending
from dpgraph.problems.embedding.api import release_normalized_adjacency
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.releases.constraints import PrivateTables, release_extended_weight
from dpgraph.sos.csp.factored import solve_factored_csp

#: Shares for the weight of the label-extended graph, and for its matrix: 0.005 and 0.97 of a call that leaves 0.975.
_EXTENDED_SHARE, _MATRIX_SHARE = 0.005 / 0.975, 0.97 / 0.975
_STARTS = 16


def _checked(options: Coherence, request: Request) -> AdjacencyOptions:
    if request.whole_table:
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    return AdjacencyOptions.check(
        request.n * len(request.alphabet),
        max_weight=request.max_weight,
        rank=options.rank,
        max_rank=options.max_rank,
        regularization=options.regularization,
        coherence=options.coherence,
        mechanism="coherence",
    )


def _check(options: Coherence, request: Request) -> None:
    _checked(options, request)


def _run(
    options: Coherence, private: PrivateTables, call: Call, request: Request, mean_degree: float
) -> NDArray[np.int64]:
    extended = release_extended_weight(private, call.part(_EXTENDED_SHARE))
    mean = 2 * extended.value / private.graph.n_vertices
    released = release_normalized_adjacency(private.graph, _checked(options, request), mean, call.part(_MATRIX_SHARE))
    return solve_factored_csp(released.adjacency_factor(), released.core, private.q, starts=_STARTS, rng=call.generator)


STRATEGY = CSPStrategy(
    "coherence",
    Coherence,
    'a label-extended matrix of low rank is released and labelled; for adjacency="label-edge" and dense instances',
    pure=lambda options: False,
    run=_run,
    check=_check,
    spending=lambda options, request: Spending(request.delta, _checked(options, request).slack(request.delta)),
    order=1,
)
