"""Private max-cut by bounded public iterates: no coherence, no gap, no halting (mathematics.md, section 6).

The iterate x in [-1, 1]^n is public at all times. Releasing the rows b of A x with Gaussian noise costs an edge {i, j}
at most w |x_j| at row i and w |x_i| at row j. A sweep releases every row once, block by block, and each block moves at
once against its estimated field; the noise of all sweeps is averaged by one Kalman filter for each row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.degrees import release_degrees
from dpgraph.mechanisms.field_tracker import FieldTracker
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = ["DEFAULT_SCHEDULE", "Schedule", "release_cut_labels", "shrunken_degrees"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Iterates are multiples of this, so that A x lies exactly on a public grid (mathematics.md, section 10).
ITERATE_UNIT = 2.0**-8


@dataclass(frozen=True)
class Schedule:
    """Public parameters of the iteration, tuned on synthetic graphs (benchmarks/tune_bounded_iterates.py).

    Parameters
    ----------
    sweeps : int
        Number of sweeps; each releases every row once.
    blocks : int
        Blocks of a sweep (fewer on graphs with fewer vertices).
    growth : float
        Sweep t = 1, 2, ... gets a share of mu**2 proportional to t**growth.
    sharpness : float
        x = -tanh(sharpness * field / standard deviation of the field).
    prior, drift : float
        See :class:`~dpgraph.mechanisms.field_tracker.FieldTracker`.
    degree_share : float
        Share of mu**2 for private degrees.
    """

    sweeps: int = 24
    blocks: int = 8
    growth: float = 0.5
    sharpness: float = 8.0
    prior: float = 3.0
    drift: float = 0.25
    degree_share: float = 0.04

    def sweep_mus(self, mu: float) -> FloatArray:
        """GDP parameter of each sweep; their squares sum to mu**2."""
        weights = np.arange(1, self.sweeps + 1, dtype=np.float64) ** self.growth
        return mu * np.sqrt(weights / weights.sum())


DEFAULT_SCHEDULE = Schedule()


def release_cut_labels(
    graph: GraphOperator,
    *,
    mean_degree: float,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
    schedule: Schedule = DEFAULT_SCHEDULE,
    progress: bool = False,
) -> NDArray[np.int8]:
    """Release a 0/1 side for each vertex with GDP parameter `mu`, aiming at a large cut.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    mean_degree : float
        A private (released) average degree.
    ledger, mu, noise
        Budget of the call, GDP parameter of this release, source of noise.
    schedule : Schedule
        Public parameters.
    progress : bool
        Show a bar on stderr (its length is public).
    """
    n, w = graph.n_vertices, graph.max_weight
    mu_degrees = mu * math.sqrt(schedule.degree_share)
    noisy = release_degrees(graph, ledger=ledger, mu=mu_degrees, noise=noise)
    degrees = shrunken_degrees(noisy, mean_degree, sensitivity.degrees_l2(w) / mu_degrees, w)
    tracker = FieldTracker(degrees, 1, prior=schedule.prior, drift=schedule.drift)
    x = np.zeros((n, 1))
    mus = schedule.sweep_mus(math.sqrt(mu**2 - mu_degrees**2))
    for t, mu_sweep in enumerate(tqdm(mus, desc="sweeps", disable=not progress)):
        # While x is still zero on the rows that come later, an edge is seen by one of its ends only.
        bound = sensitivity.first_sweep(w) if t == 0 else sensitivity.row_release(w)
        scale = ledger.gaussian(f"fields, sweep {t + 1}", sensitivity=bound, mu=float(mu_sweep))
        last = t == len(mus) - 1
        for number, rows in enumerate(random_blocks(n, schedule.blocks, noise)):
            if t == 0 and number == 0:
                new = noise.generator.choice(np.array([-1.0, 1.0]), size=(rows.size, 1))
            else:
                unit = graph.weight_unit * ITERATE_UNIT
                fields = noise.gaussian_on_grid(graph.multiply_rows(rows, x), unit, scale)
                tracker.observe(rows, fields, scale**2)
                sharpness = math.inf if last else schedule.sharpness
                new = _respond(tracker.signal_to_noise(rows), sharpness)
            tracker.moved(rows, new - x[rows])
            x[rows] = new
    return (x[:, 0] < 0).astype(np.int8)


def random_blocks(n: int, blocks: int, noise: NoiseSource) -> Iterator[IndexArray]:
    """Split a random order of the rows into blocks (public: independent of the data)."""
    return iter(np.array_split(noise.generator.permutation(n), min(blocks, n)))


def shrunken_degrees(noisy: FloatArray, mean: float, scale: float, floor: float) -> FloatArray:
    """Shrink noisy degrees towards their mean by the share of their variance that is noise, and keep them positive."""
    mean = max(mean, floor)
    spread = float(np.mean((noisy - mean) ** 2))
    signal = max(spread - scale**2, 0.0) / spread if spread > 0 else 0.0
    return np.maximum(mean + signal * (noisy - mean), mean / 4)


def _respond(ratio: FloatArray, sharpness: float) -> FloatArray:
    """Opinion against the field, quantised to the public grid."""
    opinion = -np.sign(ratio) if math.isinf(sharpness) else -np.tanh(sharpness * ratio)
    return np.rint(opinion / ITERATE_UNIT) * ITERATE_UNIT
