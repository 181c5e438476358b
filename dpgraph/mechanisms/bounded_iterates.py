"""Bounded public iterates: no coherence, no gap, no halting (mathematics.md, section 6).

The iterate X (one row for each variable, entries of absolute value at most 1) is public at all times. A step reads the
exact fields of a block of rows, releases them with Gaussian noise, and moves the block against (or along) its estimated
fields. What one edge {i, j} changes is at most w |X_j| at row i and w |X_i| at row j, whatever n, the degrees and the
spectrum. A sweep releases every row once; one Kalman filter for each row averages the noise of all sweeps.

The same loop solves max-cut (one column, signs), bisection (the same with balanced blocks) and 2-CSPs (one column for
each label, simplex rows): a :class:`Response` says how a block answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.degrees import release_degrees
from dpgraph.mechanisms.field_tracker import FieldTracker
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = [
    "GAUSSIAN_SCHEDULE",
    "ITERATE_UNIT",
    "FieldOracle",
    "Response",
    "Schedule",
    "is_pure",
    "laplace_schedule",
    "release_cut_labels",
    "release_iterates",
    "shrunken_degrees",
]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Iterates are multiples of this, so that fields lie exactly on a public grid (mathematics.md, section 10).
ITERATE_UNIT = 2.0**-8


@dataclass(frozen=True)
class Schedule:
    """Public parameters of the iteration, tuned on public graphs (benchmarks/tune_bounded_iterates.py).

    Parameters
    ----------
    sweeps : int
        Number of sweeps; each releases every row once.
    blocks : int
        Blocks of a sweep (fewer on graphs with fewer vertices).
    growth : float
        Sweep t = 1, 2, ... gets a share of the budget proportional to t**growth.
    sharpness : float
        A row answers to sharpness times its field over the standard deviation of the field.
    prior, drift : float
        See :class:`~dpgraph.mechanisms.field_tracker.FieldTracker`.
    degree_share : float
        Share of mu**2 for private degrees (max-cut and bisection under Gaussian noise).
    """

    sweeps: int = 24
    blocks: int = 32
    growth: float = 0.5
    sharpness: float = 8.0
    prior: float = 3.0
    drift: float = 0.5
    degree_share: float = 0.03

    def shares(self) -> FloatArray:
        """Share of the budget of each sweep: of mu**2 for Gaussian noise, of epsilon for Laplace noise."""
        weights = np.arange(1, self.sweeps + 1, dtype=np.float64) ** self.growth
        return weights / weights.sum()


#: noise="auto" takes Laplace noise below this epsilon: at delta = 1e-6 a Gaussian look at epsilon = 1 is three times as
#: noisy as a Laplace look, but Laplace noise can afford only a few of them (benchmarks/results/max_cut_utility).
LAPLACE_LIMIT = 3.5


def is_pure(noise: str, epsilon: float) -> bool:
    """Whether bounded iterates with this public choice of noise are pure (Laplace)."""
    if noise not in ("auto", "gaussian", "laplace"):
        raise InvalidParameterError(f"noise must be 'auto', 'gaussian' or 'laplace'; got {noise!r}")
    return noise == "laplace" or (noise == "auto" and epsilon < LAPLACE_LIMIT)


#: Gaussian noise: many sweeps, because composition is quadratic.
GAUSSIAN_SCHEDULE = Schedule()


def laplace_schedule(epsilon: float, mean_degree: float) -> Schedule:
    """Few sweeps for Laplace noise, whose composition is linear: as many as keep it below the fields.

    With T sweeps the noise of a field has standard deviation about 2 sqrt(2) T/epsilon (in units of max_weight), while
    the fields of a vertex of degree d are of size sqrt(d). All arguments are public or released.
    """
    affordable = epsilon * math.sqrt(max(mean_degree, 1.0)) / (2 * math.sqrt(2.0))
    sweeps = min(max(math.ceil(affordable / 1.5), 2), 4)
    return Schedule(sweeps=sweeps, blocks=1000, growth=1.0, degree_share=0.0)


@dataclass(frozen=True)
class FieldOracle:
    """The private data behind a bounded iteration.

    Parameters
    ----------
    rows, columns : int
        Shape of the iterate.
    fields : callable
        ``fields(block, X)``: exact fields of the rows `block`, shape (len(block), columns). Private.
    unit : float
        Fields of iterates on the grid :data:`ITERATE_UNIT` are multiples of this.
    row_bound : float
        Bound on the l2 change of one row of the fields between neighbours; at most two rows change.
    row_bound_l1 : float
        The same in l1.
    """

    rows: int
    columns: int
    fields: Callable[[IndexArray, FloatArray], FloatArray]
    unit: float
    row_bound: float
    row_bound_l1: float


class Response(Protocol):
    """How a block answers to its fields; everything here is public."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Rows for the first block, drawn independently of the data."""
        ...

    def answer(self, block: IndexArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        """Rows of `block` for fields of signal-to-noise `ratio` at X; infinitely sharp in the last sweep."""
        ...


def release_iterates(
    oracle: FieldOracle,
    response: Response,
    variances: FloatArray,
    *,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    schedule: Schedule,
    progress: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Run the iteration for a share of the budget; return the last iterate and the last signal-to-noise ratios.

    A Gaussian ledger gets Gaussian noise, a pure one discrete Laplace noise.

    Parameters
    ----------
    oracle : FieldOracle
        The private data.
    response : Response
        The public answer of a block.
    variances : ndarray, shape (rows,)
        Public scale of the variance of a field at each row (released degrees).
    ledger, share, noise
        Budget of the call, share of it (of mu**2, or of epsilon if pure) for this release, source of noise.
    schedule : Schedule
        Public parameters.
    progress : bool
        Show a bar on stderr (its length is public).
    """
    tracker = FieldTracker(variances, oracle.columns, prior=schedule.prior, drift=schedule.drift)
    X = np.zeros((oracle.rows, oracle.columns))
    for t, sweep_share in enumerate(tqdm(schedule.shares(), desc="sweeps", disable=not progress)):
        add_noise, variance = _sweep_noise(oracle, t, ledger, share * float(sweep_share), noise)
        sharpness = math.inf if t == schedule.sweeps - 1 else schedule.sharpness
        order = noise.generator.permutation(oracle.rows)
        for number, block in enumerate(np.array_split(order, min(schedule.blocks, oracle.rows))):
            if t == 0 and number == 0:
                new = response.start(block.size, noise.generator)
            else:
                tracker.observe(block, add_noise(oracle.fields(block, X)), variance)
                new = response.answer(block, tracker.signal_to_noise(block), sharpness, X)
            tracker.moved(block, new - X[block])
            X[block] = new
    return X, tracker.signal_to_noise(np.arange(oracle.rows))


def _sweep_noise(
    oracle: FieldOracle, sweep: int, ledger: Ledger, share: float, noise: NoiseSource
) -> tuple[Callable[[FloatArray], FloatArray], float]:
    """Enter one sweep in the ledger; the function that adds its noise to exact fields, and the noise variance.

    While X is still zero on the rows that come later, an edge is seen by one of its ends only, so that the first sweep
    costs one row and each further one two.
    """
    name = f"fields, sweep {sweep + 1}"
    if ledger.delta > 0:
        bound = (sensitivity.first_sweep if sweep == 0 else sensitivity.row_release)(oracle.row_bound)
        scale = ledger.gaussian(name, sensitivity=bound, mu=ledger.mu * math.sqrt(share))
        return lambda fields: noise.gaussian_on_grid(fields, oracle.unit, scale), scale**2
    bound = (sensitivity.first_sweep if sweep == 0 else sensitivity.row_release_l1)(oracle.row_bound_l1)
    scale = ledger.laplace(name, sensitivity=bound, epsilon=ledger.epsilon * share)
    return lambda fields: noise.laplace_on_grid(fields, oracle.unit, scale), 2 * scale**2


# --- cuts ------------------------------------------------------------------------------------------------------------


class _Signs:
    """Each row takes the side opposite to its field."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        return generator.choice(np.array([-1.0, 1.0]), size=(size, 1))

    def answer(self, block: IndexArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        opinion = -np.sign(ratio) if math.isinf(sharpness) else -np.tanh(sharpness * ratio)
        return np.rint(opinion / ITERATE_UNIT) * ITERATE_UNIT


class _BalancedSigns(_Signs):
    """The same with a multiplier for each block that keeps the sum of the iterate within its chance fluctuation.

    A random half of the vertices has sum of order sqrt(n), so that much is left alone: forcing every block to balance
    exactly would misplace vertices of a planted bisection.
    """

    def answer(self, block: IndexArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        others = float(X.sum() - X[block].sum())
        total = others - float(np.sign(ratio).sum())
        excess = math.copysign(max(abs(total) - math.sqrt(len(X)), 0.0), total)
        if excess == 0.0:
            return super().answer(block, ratio, sharpness, X)
        ups = np.sum(ratio < 0) - excess / 2
        multiplier = np.quantile(ratio, min(max(ups / len(ratio), 0.0), 1.0))
        return super().answer(block, ratio - multiplier, sharpness, X)


def release_cut_labels(
    graph: GraphOperator,
    *,
    mean_degree: float,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    balanced: bool = False,
    schedule: Schedule | None = None,
    progress: bool = False,
) -> NDArray[np.int8]:
    """Release a 0/1 side for each vertex for a share of the budget, aiming at a large cut.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    mean_degree : float
        A private (released) average degree.
    ledger, share, noise
        As for :func:`release_iterates`.
    balanced : bool
        Make the sides differ by at most one vertex.
    schedule : Schedule, optional
        By default the one for the noise of the ledger.
    progress : bool
        Show a bar on stderr.
    """
    n, w = graph.n_vertices, graph.max_weight
    if schedule is None:
        schedule = GAUSSIAN_SCHEDULE if ledger.delta > 0 else laplace_schedule(ledger.epsilon, mean_degree / w)
    degrees = np.full(n, max(mean_degree, w))
    if schedule.degree_share > 0:
        mu_degrees = ledger.mu * math.sqrt(share * schedule.degree_share)
        noisy = release_degrees(graph, ledger=ledger, mu=mu_degrees, noise=noise)
        degrees = shrunken_degrees(noisy, mean_degree, sensitivity.degrees_l2(w) / mu_degrees, w)
    oracle = FieldOracle(
        rows=n,
        columns=1,
        fields=graph.multiply_rows,
        unit=graph.weight_unit * ITERATE_UNIT,
        row_bound=w,
        row_bound_l1=w,
    )
    X, ratios = release_iterates(
        oracle,
        _BalancedSigns() if balanced else _Signs(),
        w * degrees,  # the variance of a sum of d terms of size at most w is at most w d
        ledger=ledger,
        share=share * (1 - schedule.degree_share),
        noise=noise,
        schedule=schedule,
        progress=progress,
    )
    if not balanced:
        return (X[:, 0] < 0).astype(np.int8)
    # The half with the smaller fields goes to one side: the rows that change sides are the least certain ones.
    labels = np.ones(n, dtype=np.int8)
    labels[np.argsort(ratios[:, 0], kind="stable")[: n // 2]] = 0
    return labels


def shrunken_degrees(noisy: FloatArray, mean: float, scale: float, floor: float) -> FloatArray:
    """Shrink noisy degrees towards their mean by the share of their variance that is noise, and keep them positive."""
    mean = max(mean, floor)
    spread = float(np.mean((noisy - mean) ** 2))
    signal = max(spread - scale**2, 0.0) / spread if spread > 0 else 0.0
    return np.maximum(mean + signal * (noisy - mean), mean / 4)
