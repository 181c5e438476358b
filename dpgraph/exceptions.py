"""All errors that dpgraph raises on purpose: one root, specific leaves.

Messages say what was needed, what arrived and what to do. They never contain a private value (an exact degree,
weight, count or eigenvalue), because an error text is an output like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgraph.privacy.report import PrivacyReport

__all__ = [
    "BudgetExceededError",
    "DPGraphError",
    "DatasetError",
    "InvalidGraphError",
    "InvalidParameterError",
    "MechanismHalted",
    "NotConvergedError",
]


class DPGraphError(Exception):
    """Root of every error raised on purpose by dpgraph."""


class InvalidGraphError(DPGraphError, ValueError):
    """The input is not a graph this package can protect.

    Raised for directed graphs, graphs without vertices, negative, NaN or infinite weights, matrices that are not
    square or not symmetric, and edges without the requested weight attribute.
    """


class InvalidParameterError(DPGraphError, ValueError):
    """An argument is outside its range (epsilon <= 0, delta outside (0, 1), rank larger than n, ...)."""


class BudgetExceededError(DPGraphError):
    """The accountant refused: the requested release does not fit into the remaining privacy budget.

    Nothing was read and nothing was spent by the refused call.
    """


class NotConvergedError(DPGraphError):
    """An iterative method did not reach the tolerance that its caller relies on."""


class DatasetError(DPGraphError, ValueError):
    """A dataset name is unknown, or a graph file is missing, truncated or malformed."""


class MechanismHalted(DPGraphError):
    """A private test refused to continue: the papers' output "bottom".

    Halting is a normal, *private* outcome: whether a mechanism halts is decided by noisy quantities only, and the
    budget for them is spent.

    Parameters
    ----------
    message : str
        What the mechanism needed and which public knob to turn.
    stage : str
        The test that failed, for instance ``"gap"`` or ``"minimum degree"``.
    privacy : PrivacyReport
        What was spent until then.
    """

    def __init__(self, message: str, *, stage: str, privacy: PrivacyReport) -> None:
        super().__init__(message)
        self.stage = stage
        self.privacy = privacy
