"""Whether a released answer is better than chance: if it is not, a mechanism that may halt halts (post-processing)."""

import math

import numpy as np

from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.call import Call
from dpgraph.problems.strategy import MAIN_SHARE
from dpgraph.releases.totals import WeightEstimate
from dpgraph.results.adjacency import PrivateNormalizedAdjacency

#: Share of the budget of a strategy for the advantage of its answer over chance: what the two weights have beside it.
TEST_SHARE = 1 - MAIN_SHARE
#: Of noise and of random answers together, by which an answer must be better; of the norm of the noise of a core.
_DEVIATIONS = 3.0


def check_core(private: PrivateNormalizedAdjacency, call: Call, *, negative: bool) -> None:
    """Halt if nothing but noise is seen of the matrix in the released space, so that nothing can be solved.

    The noise N of the r x r core has ||N|| <= (sqrt(2 r) + t) s except with probability exp(-t^2/2), s its scale. Cuts
    need a negative eigenvalue beyond that. Labels need two: the first eigenvector of a nonnegative matrix has one sign.
    """
    scale = next(entry.scale for entry in private.privacy.entries if entry.name == "core")
    edge = (math.sqrt(2 * private.rank) + _DEVIATIONS) * scale
    values = np.linalg.eigvalsh(private.core)
    seen = values[0] < -edge if negative else np.sum(np.abs(values) > edge) > 1
    if not seen:
        needed = "no negative eigenvalue" if negative else "at most one eigenvalue"
        raise _halted(call, f"{needed} of the matrix in the released space is clear of the noise", "core")


def check_advantage(advantage: WeightEstimate, variance: float, call: Call) -> None:
    """Halt if an answer is not clearly better than chance; `variance` is that of random answers, about."""
    if advantage.value <= _DEVIATIONS * math.sqrt(advantage.std**2 + max(variance, 0.0)):
        raise _halted(call, "what was found is not clearly better than chance", "advantage")


def _halted(call: Call, what: str, stage: str) -> MechanismHalted:
    return MechanismHalted(
        f"{what}. Raise epsilon, choose another rank, or use a mechanism that does not halt "
        "(mechanism='bounded-iterates'). The budget of this call is spent",
        stage=stage,
        privacy=call.report(),
    )
