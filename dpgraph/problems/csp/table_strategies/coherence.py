"""A label-extended matrix of low rank (DN25a, section 7), which is then labelled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import Call
from dpgraph.problems.csp.strategy import CSPStrategy, CSPTask, Spending
from dpgraph.problems.embedding.api import release_normalized_adjacency
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.problems.options import Coherence
from dpgraph.releases.constraints import PrivateTables, release_extended_weight
from dpgraph.sos.csp.factored import solve_factored_csp

#: Shares for the weight of the label-extended graph, and for its matrix: 0.005 and 0.97 of a call that leaves 0.975.
_EXTENDED_SHARE, _MATRIX_SHARE = 0.005 / 0.975, 0.97 / 0.975
_STARTS = 16


def _checked(options: Coherence, task: CSPTask) -> AdjacencyOptions:
    if task.whole_table:
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    return AdjacencyOptions.check(
        task.n * len(task.alphabet),
        max_weight=task.max_weight,
        rank=options.rank,
        max_rank=options.max_rank,
        regularization=options.regularization,
        coherence=options.coherence,
        mechanism="coherence",
    )


def _check(options: Coherence, task: CSPTask) -> None:
    _checked(options, task)


def _run(
    options: Coherence, private: PrivateTables, call: Call, task: CSPTask, mean_degree: float
) -> NDArray[np.int64]:
    extended = release_extended_weight(private, call.part(_EXTENDED_SHARE))
    released = release_normalized_adjacency(
        private.graph,
        _checked(options, task),
        mean_degree=2 * extended.value / private.graph.n_vertices,
        ledger=call.ledger,
        mu=call.part(_MATRIX_SHARE).mu,
        noise=call.noise,
    )
    return solve_factored_csp(released.adjacency_factor(), released.core, private.q, starts=_STARTS, rng=call.generator)


STRATEGY = CSPStrategy(
    "coherence",
    Coherence,
    'a label-extended matrix of low rank is released and labelled; for adjacency="label-edge" and dense instances',
    pure=lambda options: False,
    run=_run,
    check=_check,
    spending=lambda options, task: Spending(task.delta, _checked(options, task).slack(task.delta)),
    unread=("certificate", "core_noise", "denoise", "projection", "degree", "seeds", "rounds"),
    order=1,
)
