"""Counts by smooth sensitivity."""

from dataclasses import dataclass

from dpgraph.problems.strategy import Strategy
from dpgraph.releases.subgraphs import release_by_smooth_sensitivity


@dataclass(frozen=True)
class Smooth:
    """Cauchy noise in proportion to the smooth sensitivity: pure, but one answer in twenty is far off.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data analysis", STOC 2007;
    :func:`dpgraph.bounds.ladder.smooth_scale` (the discrete law, with tighter constants).
    """


STRATEGY = Strategy(
    "smooth",
    Smooth,
    pure=lambda _: True,
    run=lambda _, subgraphs, pattern, call, delta: release_by_smooth_sensitivity(subgraphs, pattern, call),
    order=2,
)
