"""The published form of private degrees."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult

__all__ = ["PrivateDegrees"]


@dataclass(frozen=True, eq=False, repr=False)
class PrivateDegrees(TableResult):
    """Noisy degrees.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Unbiased noisy weighted degrees in the order of `nodes`; some may be negative.
    nodes : tuple of hashable
        The caller's vertex labels in the caller's order.
    privacy : PrivacyReport
        The guarantee.
    """

    values: NDArray[np.float64]
    nodes: tuple[Hashable, ...]
    privacy: PrivacyReport

    def __repr__(self) -> str:
        scale = self.privacy.entries[0].scale
        return f"PrivateDegrees({len(self.nodes)} vertices, noise scale {scale:.4g}, {self.privacy!r})"

    def as_dict(self) -> dict[Hashable, float]:
        """Noisy degree of each vertex label."""
        return dict(zip(self.nodes, self.values.tolist(), strict=True))

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node`` and ``degree``."""
        return {"node": self.nodes, "degree": self.values.tolist()}
