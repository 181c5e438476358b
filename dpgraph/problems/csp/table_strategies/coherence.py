"""A label-extended matrix of low rank (DN25a, section 7), which is then labelled."""

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import Call
from dpgraph.problems.csp.strategy import CSPTask
from dpgraph.problems.embedding.strategies.coherence import check_coherence, release_normalized_adjacency
from dpgraph.problems.options import Coherence
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.constraints import PrivateTables, release_extended_weight
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE
from dpgraph.sos.csp.rounding import solve_factored_csp
from dpgraph.typing import IntArray

#: Shares for the weight of the label-extended graph, and for its matrix: 0.005 and 0.97 of a call that leaves 0.975.
_EXTENDED_SHARE, _MATRIX_SHARE = 0.005 / 0.975, 0.97 / 0.975
_STARTS = 16


def _check(options: Coherence, task: CSPTask) -> None:
    if task.whole_table:
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    check_coherence(options, task.n * len(task.alphabet), task.max_weight)


def _run(options: Coherence, private: PrivateTables, call: Call, task: CSPTask, mean_degree: float) -> IntArray:
    extended = release_extended_weight(private, call.part(_EXTENDED_SHARE))
    mean = 2 * extended.value / private.graph.n_vertices
    released = release_normalized_adjacency(private.graph, options, mean, call.part(_MATRIX_SHARE))
    return solve_factored_csp(released.adjacency_factor(), released.core, private.q, starts=_STARTS, rng=call.generator)


STRATEGY = Strategy(
    "coherence",
    Coherence,
    pure=lambda options: False,
    run=_run,
    check=_check,
    slack_share=lambda options: SLACK_SHARE,
    unread=("certificate", "denoise", "projection", "degree", "seeds", "rounds"),
    order=1,
)
