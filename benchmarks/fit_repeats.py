#!/usr/bin/env python
"""Fit the numbers of :data:`dpgraph.tuning.REPEATS`, and where a graph is sparse, to public random graphs.

Cuts of random graphs are simulated (`simulated_cut`): uniform and power-law degrees, without a planted cut and with
one of correlation -0.6, at the noise that the budget of a call pays for. No graph of the tables is used. Printed is,
for each epsilon and average degree, what one look cuts, what each number of readings cuts, and what the rule takes;
then the mean loss of the rule against the best choice, for other values of its numbers.

    python benchmarks/fit_repeats.py
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.denoise import iterates
from dpgraph.denoise.iterates import FieldTracker
from dpgraph.denoise.state_evolution import one_sweep, random_graph
from dpgraph.privacy.reading_norm import ReadingNorm
from dpgraph.problems.cut.api import MAIN_SHARE
from dpgraph.releases.sweeps.iteration import degree_order, repeated_core
from dpgraph.tuning import CORE, ONE_SIDED, REPEATED, REPEATS

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

VERTICES, SEEDS = 400, 2
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DEGREES = (5.0, 8.0, 14.0, 24.0, 50.0, 120.0)
READINGS = (0, 3, 4, 6, 10, 18, 30)
CORRELATIONS = (0.0, -0.6)
#: Blocks of a simulated sweep: the first one, which starts the cut, and later ones.
_BLOCKS = (60, 16)


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
        Of the noise.
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


def outcome(A: FloatArray, epsilon: float, repeats: int, rng: np.random.Generator) -> float:
    """Share of the edges that this many readings cut, or one look (0)."""
    found = np.maximum(A.sum(axis=1), 1.0)
    pure = CORE.pure_degree_share if repeats else CORE.sparse_degree_share
    left = epsilon * MAIN_SHARE * (1 - (CORE.degree_share if epsilon < CORE.pure_below else pure))
    look = 2 / left**2
    if not repeats:
        return simulated_cut(A, degree_order(found, rng), 0, Readings(1, 0.0, 0.0, look), rng)
    core, norm = repeated_core(found, epsilon, rng), ReadingNorm(repeats)
    first, later = norm.variances(sensitivity.repeated_readings(1.0, norm, from_zero=True) / left)
    return simulated_cut(A, core.order, core.size, Readings(repeats, first, later, look), rng)


def laws(mean: float) -> tuple[FloatArray, FloatArray]:
    """Degrees of a uniform random graph, and with a power law of exponent 3."""
    quantiles = (np.arange(VERTICES) + 0.5) / VERTICES
    power = (1 - quantiles) ** -0.5
    return np.full(VERTICES, mean), mean * power / power.mean()


def table() -> dict[tuple[float, float], FloatArray]:
    """Mean share of the edges cut, for each (epsilon, degree) and each number of readings."""
    found = {}
    for epsilon, mean in itertools.product(EPSILONS, DEGREES):
        runs = []
        for degrees, correlation, seed in itertools.product(laws(mean), CORRELATIONS, range(SEEDS)):
            rng = np.random.default_rng(seed)
            A = random_graph(degrees, VERTICES, correlation, rng)
            runs.append([outcome(A, epsilon, repeats, rng) for repeats in READINGS])
        found[epsilon, mean] = np.mean(runs, axis=0)
        taken = iterates.number_of_repeats(epsilon, mean)
        formula = one_sweep(laws(mean)[0], 2 / (epsilon * MAIN_SHARE * (1 - CORE.degree_share)) ** 2)
        shown = " ".join(f"{value:.3f}" for value in found[epsilon, mean])
        print(f"{epsilon:5g} {mean:5g}  {shown}  rule {taken:2d}  formula {formula:.3f}", flush=True)
    return found


def loss(found: dict[tuple[float, float], FloatArray]) -> float:
    """Mean loss of the rule against the best number of readings; between two numbers, the table is interpolated."""
    losses = []
    for (epsilon, mean), values in found.items():
        taken = iterates.number_of_repeats(epsilon, mean)
        got = np.interp(math.log(taken), np.log(READINGS[1:]), values[1:]) if taken else values[0]
        losses.append(float(values.max() - got))
    return float(np.mean(losses))


def main() -> None:
    print("epsilon degree, then one look and", *READINGS[1:], "readings")
    found = table()
    print(f"mean loss of the rule: {loss(found):.4f}")
    for name, values in {
        "signal_per_repeat": (1.0, 1.5, 2.0, 3.0, 4.0),
        "least": (2, 3, 4, 6),
        "most": (12, 16, 24, 40),
    }.items():
        for value in values:
            iterates.REPEATS = replace(REPEATS, **{name: value})
            print(f"{name} = {value}: {loss(found):.4f}")
        iterates.REPEATS = REPEATS
    for degree, power in itertools.product((12.0, 18.0, 23.5, 30.0), (1 / 2, 2 / 3, 0.8)):
        iterates.ONE_SIDED = replace(ONE_SIDED, sparse_degree=degree)
        iterates.REPEATS = replace(REPEATS, sparse_power=power)
        print(f"sparse_degree = {degree}, sparse_power = {power:.3f}: {loss(found):.4f}")


if __name__ == "__main__":
    main()
