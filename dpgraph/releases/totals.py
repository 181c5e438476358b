"""Private total weights: of all edges, or of the cut of a partition that is already public."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.graph import GraphOperator
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource

__all__ = ["WeightEstimate", "release_cut_weight", "release_total_weight", "release_weight"]


class WeightEstimate(NamedTuple):
    """Unbiased private estimate of a weight, and its standard deviation."""

    value: float
    std: float


def release_total_weight(graph: GraphOperator, *, ledger: Ledger, share: float, noise: NoiseSource) -> WeightEstimate:
    """Release the total weight of all edges (sensitivity w) for a share of the call's budget."""
    total = float(graph.degrees().sum()) / 2
    return release_weight("total weight", total, graph, ledger=ledger, share=share, noise=noise)


def release_cut_weight(
    graph: GraphOperator, labels: NDArray[np.int8], *, ledger: Ledger, share: float, noise: NoiseSource
) -> WeightEstimate:
    """Release the weight between the sides of a public 0/1 labelling (sensitivity w) for a share of the budget.

    The labelling must have been released before: for a fixed labelling one pair changes the cut by at most w.
    """
    side = labels.astype(np.float64)[:, None]
    crossing = float(((1.0 - side) * graph.multiply(side)).sum())
    return release_weight("cut weight", crossing, graph, ledger=ledger, share=share, noise=noise)


def release_weight(
    name: str, weight: float, graph: GraphOperator, *, ledger: Ledger, share: float, noise: NoiseSource, times: int = 1
) -> WeightEstimate:
    """Release a multiple of the graph's weight unit that moves by at most `times` w, for a share of the budget."""
    bound = times * sensitivity.partition_weight(graph.max_weight)
    exact = np.array([weight])
    if ledger.delta > 0:
        grid = ledger.gaussian_on_grid(name, sensitivity=bound, mu=ledger.mu * math.sqrt(share), count=1)
        return WeightEstimate(float(noise.scalars(exact, grid.unit, grid.scale)[0]), grid.scale)
    scale = ledger.laplace(name, sensitivity=bound, epsilon=ledger.epsilon * share)
    # Answers that earn a fraction of a weight lie between grid points. Rounded half up, they move by whole steps, and
    # by no more steps than the largest weight has (half to even, 0.5 and 1.5 would move by 2).
    on_grid = np.floor(exact / graph.weight_unit + 0.5) * graph.weight_unit
    noisy = noise.laplace_on_grid(on_grid, graph.weight_unit, scale)
    return WeightEstimate(float(noisy[0]), math.sqrt(2.0) * scale)
