"""Public choices of a private normalized adjacency, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpgraph.arguments import as_number, check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.releases.eigenspaces.projector import (
    CERTIFICATES,
    CORE_NOISES,
    SLACK_SHARE,
    Certificate,
    CoreNoise,
    Rank,
    check_rank,
)
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.tuning import EMBEDDING

__all__ = ["DEFAULT_MAX_RANK", "MECHANISMS", "AdjacencyOptions"]

DEFAULT_MAX_RANK = 8
#: regularization="auto" is this many times the private average degree. Large values make all rows alike, so that the
#: bound m on the smallest c_i, which sets the noise, comes close to the typical c_i.
REGULARIZATION_MULTIPLE = EMBEDDING.regularization
MECHANISMS = ("coherence", "gaussian", "noisy-power", "randomized-response")
#: The largest tau in units of n max_weight. Degrees d are at most 1; where tau is so much larger, d + tau has no more
#: than half of the digits of d, and all that tau could do for the rows it has done long before.
_LARGEST_REGULARIZATION = 1e9


@dataclass(frozen=True)
class AdjacencyOptions:
    """Public choices of :func:`~dpgraph.private_normalized_adjacency`."""

    rank: Rank
    ranks: range
    regularization: float | Literal["auto"]
    coherence: str
    mechanism: str
    core_noise: CoreNoise
    certificate: Certificate
    denoise: bool

    @classmethod
    def check(
        cls,
        n: int,
        *,
        max_weight: float,
        rank: Rank,
        max_rank: int,
        regularization: float | Literal["auto"],
        coherence: str,
        mechanism: str,
        core_noise: CoreNoise = "gaussian",
        certificate: Certificate = "stability",
        least_rank: int = 1,
        denoise: bool = False,
    ) -> AdjacencyOptions:
        """Validate against the public number of vertices and bound on weights; raises `InvalidParameterError`."""
        check_choice("coherence", coherence, ("degree-corrected", "rank"))
        check_choice("mechanism", mechanism, MECHANISMS)
        check_choice("core_noise", core_noise, CORE_NOISES)
        check_choice("certificate", certificate, CERTIFICATES)
        if core_noise != "gaussian" and mechanism != "coherence":
            raise InvalidParameterError(
                f"core_noise must be 'gaussian' unless mechanism='coherence'; got {core_noise!r} with {mechanism!r}"
            )
        if mechanism == "gaussian" and n > DENSE_LIMIT:
            raise InvalidParameterError(
                f"mechanism='gaussian' makes all n**2 entries noisy and is limited to n <= {DENSE_LIMIT}; got n = {n}. "
                "Use mechanism='coherence'"
            )
        is_auto = isinstance(regularization, str) and regularization == "auto"
        largest = _LARGEST_REGULARIZATION * n * max_weight
        if not is_auto and not 0 <= as_number(regularization) <= largest:
            raise InvalidParameterError(
                f"regularization must be 'auto' or a number from 0 to {largest:g}, which is "
                f"{_LARGEST_REGULARIZATION:g} n max_weight; got {regularization!r}. Use 'auto'"
            )
        return cls(
            rank,
            check_rank(rank, n, max_rank, least=least_rank),
            regularization,
            coherence,
            mechanism,
            core_noise,
            certificate,
            denoise,
        )

    @property
    def largest(self) -> int:
        """Largest candidate rank."""
        return self.ranks[-1]

    def tau(self, mean_degree: float, max_weight: float, multiple: float = REGULARIZATION_MULTIPLE) -> float:
        """Return the regularisation, "auto" being this multiple of a released average degree."""
        if self.regularization == "auto":
            return max(multiple * mean_degree, max_weight)
        return float(self.regularization)

    def slack(self, delta: float) -> float:
        """Part of delta that the good events of these options may use."""
        needs_none = self.mechanism == "noisy-power" or (self.mechanism == "gaussian" and self.regularization == "auto")
        return 0.0 if needs_none else SLACK_SHARE * delta
