"""The published form of a private assignment."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.report import PrivacyReport
from dpgraph.results.fractions import Worth


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCSPResult(Worth):
    """A private assignment of a 2-CSP: everything here may be published.

    Parameters
    ----------
    assignment : dict
        Label of each variable, in the caller's names.
    labels : ndarray of int, shape (n,)
        Positions of the labels in the alphabet, in the order of the variables.
    alphabet : tuple of hashable
        All labels, in the caller's order.
    estimated_value : float
        Private unbiased estimate of the total weight that the assignment earns.
    estimated_value_std : float
        Its standard deviation.
    estimated_total_weight : float
        Private unbiased estimate of the sum, over pairs, of the largest entry of their table: `estimated_value` and
        what the assignment leaves, released together.
    mechanism : str
        The mechanism that was used; ``"data-independent"`` after a halt with ``on_halt="fallback"``.
    privacy : PrivacyReport
        The guarantee.
    most_weight : float
        Public upper bound on every total weight: that of all pairs.
    """

    assignment: dict[Hashable, Hashable]
    labels: NDArray[np.int64]
    alphabet: tuple[Hashable, ...]
    estimated_value: float
    estimated_value_std: float
    estimated_total_weight: float
    mechanism: str
    privacy: PrivacyReport
    most_weight: float = math.inf

    _line = "assignment weight"

    def __repr__(self) -> str:
        return (
            f"PrivateCSPResult({len(self.labels)} variables, estimated value {self.estimated_value:.6g} "
            f"± {self.estimated_value_std:.3g}, mechanism={self.mechanism!r}, {self.privacy!r})"
        )

    @property
    def partition(self) -> tuple[set[Hashable], ...]:
        """The variables with each label of :attr:`alphabet`, in its order; some sets may be empty."""
        parts: dict[Hashable, set[Hashable]] = {label: set() for label in self.alphabet}
        for variable, label in self.assignment.items():
            parts[label].add(variable)
        return tuple(parts.values())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``variable`` and ``label``."""
        return {"variable": tuple(self.assignment), "label": tuple(self.assignment.values())}
