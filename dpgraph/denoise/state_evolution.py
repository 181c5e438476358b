"""What sweeps of a bounded iteration would cut, predicted from public numbers: released degrees and scales of noise.

Nothing private is read here. One sweep has a formula (:func:`one_sweep`). In later sweeps a vertex meets neighbours
that have answered to its own earlier choice; that memory has no short formula, so :func:`simulated_cut` runs the
iteration on a small random graph of such degrees (:func:`random_graph`), with Gaussian noise of the same variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.denoise.kalman import FieldTracker
from dpgraph.tuning import REPEATED

__all__ = ["Readings", "one_sweep", "random_graph", "simulated_cut"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Blocks of a simulated sweep: the first one, which starts the cut, and later ones.
_BLOCKS = (100, 20)
#: Steps of the fixed point for the odds of edges.
_FITTING = 12


@dataclass(frozen=True)
class Readings:
    """How often the first rows are read, and the variances of the noise, in units of squared weights.

    Parameters
    ----------
    sweeps : int
        Readings of each row of the core.
    first, later : float
        Variance of the first reading of a core row, and of each later one.
    look : float
        Variance of the one reading of every other row.
    """

    sweeps: int
    first: float
    later: float
    look: float


def one_sweep(degrees: FloatArray, variance: float) -> float:
    """Share of the edges that one sweep cuts in a graph of these degrees in which no cut is planted.

    Parameters
    ----------
    degrees : ndarray, shape (n,)
        In the order in which vertices choose their sides.
    variance : float
        Of the noise of a reading.

    Notes
    -----
    A vertex of degree d, a share t of whose neighbours has chosen before it, sees a field of variance t d through noise
    of variance s^2. Against its reading it wins sqrt(2/pi) t d/sqrt(t d + s^2) more edges than it loses, in expectation
    over a Gaussian field. t is the share of all degrees that earlier vertices have.
    """
    total = float(degrees.sum())
    seen = degrees * (np.cumsum(degrees) - degrees) / total
    won = math.sqrt(2 / math.pi) * seen / np.sqrt(np.maximum(seen + variance, np.finfo(float).tiny))
    return min(0.5 + float(won.sum()) / total, 1.0)


def random_graph(degrees: FloatArray, vertices: int, correlation: float, generator: np.random.Generator) -> FloatArray:
    """Adjacency matrix of a random graph whose expected degrees have the law of these.

    Parameters
    ----------
    degrees : ndarray
        Wanted degrees, of any number of vertices.
    vertices : int
        Vertices of the graph; their expected degrees are quantiles of `degrees`, less than `vertices` - 1.
    correlation : float
        In [-1, 1]. Negative: a share (1 - correlation)/2 of the edges runs across a planted bisection.
    generator : Generator
        The graph is public: ordinary pseudo-randomness.

    Notes
    -----
    The pair {i, j} is an edge with probability p (1 + correlation s_i s_j), at most 1, where s are the planted sides,
    p/(1 - p) = x_i x_j, and x_i = d_i / sum_j x_j/(1 + x_i x_j): the law of largest entropy with these degrees.
    """
    places = (np.arange(vertices) + generator.random()) / vertices * degrees.size
    wanted = np.clip(np.sort(degrees)[places.astype(np.int64)], 0.0, 0.999 * (vertices - 1))
    x = wanted / math.sqrt(max(wanted.sum(), 1.0))
    for _ in range(_FITTING):
        inverse = 1 / (1 + np.outer(x, x))
        x = np.sqrt(x * wanted / np.maximum(inverse @ x - inverse.diagonal() * x, 1e-12))  # the root: no oscillation
    odds = np.outer(x, x)
    sides = generator.permutation(np.arange(vertices) % 2) * 2.0 - 1
    p = odds / (1 + odds) * (1 + correlation * np.outer(sides, sides))
    upper = np.triu(generator.random(p.shape) < p, 1).astype(np.float64)
    return upper + upper.T


def simulated_cut(
    A: FloatArray, order: IndexArray, core: int, readings: Readings, generator: np.random.Generator
) -> float:
    """Share of the edges that repeated sweeps of a core, and then one look at the others, cut.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Adjacency matrix of a public random graph.
    order : ndarray of int64, shape (n,)
        Order of the rows.
    core : int
        How many of the first rows are read repeatedly; 0 for one sweep.
    readings : Readings
        How often, and the noise.
    generator : Generator
        Of the noise, which hides nothing here.
    """
    degrees = np.maximum(A.sum(axis=1), 1.0)
    x = np.zeros((len(A), 1))
    rows, others = order[:core], order[core:]

    def read(block: IndexArray, variance: float) -> FloatArray:
        return A[block] @ x + math.sqrt(variance) * generator.standard_normal((block.size, 1))

    if core:
        scales = degrees * degrees[rows].sum() / degrees.sum()
        place = np.zeros(len(A))
        place[rows] = (np.arange(core) + 0.5) / core
        drifts = REPEATED.steering_drift, REPEATED.last_drift
        filters = [FieldTracker(scales, 1, prior=REPEATED.prior, drift=drift) for drift in drifts]
        for tracker in filters:
            tracker.variance *= place
        for sweep in range(readings.sweeps):
            last = sweep == readings.sweeps - 1
            sharpness = REPEATED.softness + (REPEATED.sharpness - REPEATED.softness) * sweep / readings.sweeps
            now = generator.permutation(rows) if sweep else rows
            for k, block in enumerate(np.array_split(now, min(_BLOCKS[sweep > 0], core))):
                if k == sweep == 0:
                    new = generator.choice([-1.0, 1.0], (block.size, 1))
                else:
                    variance = readings.later if sweep else readings.first
                    fields = read(block, variance)
                    for tracker in filters:
                        tracker.observe(block, fields, variance)
                    ratio = filters[last].signal_to_noise(block)
                    new = -np.sign(ratio) if last else -np.tanh(sharpness * ratio)
                for tracker in filters:
                    tracker.moved(block, new - x[block])
                x[block] = new
            if sweep == 0:
                for tracker in filters:
                    tracker.variance += REPEATED.prior * scales * (1 - place) * (place > 0)
    for block in np.array_split(others, min(_BLOCKS[0], max(others.size, 1))):
        x[block] = -np.sign(read(block, readings.look))
    return 0.5 - float((x * (A @ x)).sum() / (2 * max(A.sum(), 1.0)))
