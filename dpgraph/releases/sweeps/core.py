"""Which rows of a bounded iteration are its core: released degrees decide.

Most vertices of real graphs have few edges, far below the noise of one sweep among many, while a few vertices hold most
of the sum of squared degrees. With Gaussian noise, or pure noise that is drawn for all readings of a row together
(:mod:`~dpgraph.releases.sweeps.repeated`), the latter settle the global structure among themselves; then each other
vertex reads its neighbours once, with the noise of a single release. Where a field is weak beside its noise, all rows
are swept a few times, each edge being read at one of its ends (:mod:`~dpgraph.releases.sweeps.one_sided`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.denoise.schedules import (
    is_even,
    is_sparse,
    number_of_label_repeats,
    number_of_repeats,
    number_of_sweeps,
    part_of_labels,
)
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.sweeps.gaussian import (
    GAUSSIAN_SCHEDULE,
    LAPLACE_LIMIT,
    LOOK_DELTA,
    Core,
    FieldOracle,
    Response,
    Revision,
    Schedule,
    release_iterates,
)
from dpgraph.releases.sweeps.one_sided import release_one_sided_sweeps
from dpgraph.releases.sweeps.repeated import release_repeated_sweeps

__all__ = [
    "choose_core",
    "core_schedule",
    "degree_order",
    "large_first",
    "release_core_iterates",
    "release_usable_degrees",
    "shrunken_degrees",
]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: At epsilon the core leaves out this share of the sum of squared degrees, over epsilon, and at most the other one
#: (tuned on planted cuts and validated on SNAP and Facebook100 graphs, benchmarks/results).
_LEFT_OUT, _MOST_LEFT_OUT = 0.1, 0.5
#: Share of the budget for degrees: below epsilon = 1.5 and in Gaussian noise, in Laplace noise, and if rows look once.
_DEGREE_SHARE, _PURE_DEGREE_SHARE, _SPARSE_DEGREE_SHARE = 0.02, 0.05, 0.1
#: Below this epsilon times the root of the degree at the end of a typical edge, few pure sweeps find more than many
#: Gaussian ones of a core (tuned alike).
_WEAK_SIGNAL = 19.0


def release_core_iterates(
    graph: GraphOperator,
    oracle: FieldOracle,
    response: Response,
    *,
    mean_degree: float,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    together: bool = False,
    revise: Revision | None = None,
    progress: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Release degrees, let them choose the core and the scale of the fields, and iterate.

    Parameters
    ----------
    graph : GraphOperator
        The private graph whose vertices are the rows of `oracle`: neighbours of the data are neighbours of it.
    oracle, response
        As for :func:`~dpgraph.releases.sweeps.gaussian.release_iterates`.
    mean_degree : float
        A private (released) average degree of `graph`.
    ledger, share, noise
        As there; the share pays for the degrees too. A parallel ledger is spent in stages
        (:meth:`~dpgraph.privacy.ledger.Ledger.part`), the last of which is pure where no core iterates.
    together : bool
        Read rows repeatedly, with pure noise that is drawn together, where the ledger may be spent purely and the
        average degree is large enough.
    revise : callable, optional
        Asked whether to go on with another iterate: twice while a core iterates, else once in the end.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    X, fields : ndarray, shape (rows, columns)
        The last iterate and estimates of the last fields (0 where none was read), all released.
    """
    w, columns, parallel = graph.max_weight, oracle.columns, ledger.parallel
    labels = 1 if oracle.scores is None or oracle.scores.single else columns
    sweeps = number_of_sweeps(ledger.epsilon, mean_degree / w, labels)
    spent, part = ledger.part(share * (for_degrees := _degree_share(ledger, sweeps)))
    degrees = release_usable_degrees(graph, mean_degree, part, ledger=spent, noise=noise)
    repeats = _repeats(oracle, ledger, w, mean_degree / w, degrees) if together else 0
    if repeats:
        core = repeated_core(degrees, ledger.epsilon, noise.generator)
    else:
        sparse = is_sparse(ledger.epsilon, mean_degree / w)
        core = choose_core(degrees * part_of_labels(labels) / w, sweeps, sparse, ledger, noise.generator)
    left = share * (1 - for_degrees)
    if parallel:
        delta = ledger.delta if core.size and not repeats else 0.0
        ledger = ledger.stage(left * ledger.epsilon, delta=delta, slack=LOOK_DELTA * delta, parallel=delta > 0)
        left = 1.0
    variances = w * degrees / columns  # of d terms of size at most w, of which each column has its part
    X, fields = np.zeros((oracle.rows, columns)), np.zeros((oracle.rows, columns))
    options: Any = {"ledger": ledger, "share": left, "noise": noise, "progress": progress}
    if repeats:
        X, fields = release_repeated_sweeps(oracle, response, variances, core, sweeps=repeats, revise=revise, **options)
    elif core.size:
        schedule = core_schedule(ledger.epsilon)
        X, fields = release_iterates(
            oracle, response, variances, schedule=schedule, core=core, revise=revise, **options
        )
    if core.others.size:
        looks = 1 if core.size else sweeps
        X, others = release_one_sided_sweeps(oracle, response, variances, core, X, sweeps=looks, **options)
        fields[core.others] = others[core.others]
    if revise is not None and not core.size:
        X = revise(X, fields, 1.0, "in the end")
    return X, fields


def core_schedule(epsilon: float) -> Schedule:
    """Sweeps of a core: the more the larger epsilon."""
    return replace(GAUSSIAN_SCHEDULE, sweeps=min(max(GAUSSIAN_SCHEDULE.sweeps, round(4.5 * epsilon)), 48))


def _degree_share(ledger: Ledger, sweeps: int) -> float:
    """Share of the budget for degrees; pure ones pay off from about epsilon = 1.5, most where rows look once."""
    if ledger.epsilon < LAPLACE_LIMIT or (ledger.delta > 0 and not ledger.parallel):
        return _DEGREE_SHARE
    return _SPARSE_DEGREE_SHARE if sweeps == 1 else _PURE_DEGREE_SHARE


def choose_core(degrees: FloatArray, sweeps: int, sparse: bool, ledger: Ledger, generator: np.random.Generator) -> Core:
    """Core and order of all rows, from (released, positive) degrees in units of max_weight.

    No row is in the core of a sparse graph, or under a pure ledger, or, under a ledger that may be spent purely, if
    degrees are small for its epsilon (:func:`_is_weak`). Otherwise the core is as few vertices as hold the wanted share
    of the sum of squared degrees: nearly every vertex in a graph of equal degrees, few where few have most edges.
    """
    order = degree_order(degrees, generator)
    weak = ledger.parallel and _is_weak(degrees, ledger.epsilon)
    if sparse or weak or ledger.delta == 0:
        return Core(order if sweeps == 1 else large_first(degrees, generator), 0)
    return Core(order, _number_holding(degrees[order], ledger.epsilon))


def repeated_core(degrees: FloatArray, epsilon: float, generator: np.random.Generator) -> Core:
    """Core of repeated sweeps, from (released, positive) degrees: as few vertices as hold the wanted share of squares.

    All vertices if their degrees are nearly equal. Rows of many edges come early.
    """
    if is_even(degrees):
        return Core(large_first(degrees, generator), degrees.size)
    order = degree_order(degrees, generator)
    size = _number_holding(degrees[order], epsilon)
    inside = order[:size]
    return Core(np.concatenate([inside[large_first(degrees[inside], generator)], order[size:]]), size)


def _number_holding(degrees: FloatArray, epsilon: float) -> int:
    """How many of decreasing degrees hold the share of the sum of squares that a core wants."""
    held = np.cumsum(degrees**2)
    wanted = 1 - min(_LEFT_OUT / epsilon, _MOST_LEFT_OUT)
    return min(int(np.searchsorted(held, wanted * held[-1])) + 1, degrees.size)


def _is_weak(degrees: FloatArray, epsilon: float) -> bool:
    """Whether a few pure sweeps of all rows find more than many Gaussian ones of a core."""
    return epsilon * math.sqrt(float((degrees**2).sum() / degrees.sum())) < _WEAK_SIGNAL


def _repeats(oracle: FieldOracle, ledger: Ledger, w: float, mean_degree: float, degrees: FloatArray) -> int:
    """How often rows are read with noise that is drawn together; 0 where they are not, or the ledger is Gaussian."""
    if ledger.delta > 0 and not ledger.parallel:
        return 0
    if oracle.columns == 1:
        return number_of_repeats(ledger.epsilon, mean_degree, degrees)
    each = ledger.epsilon * w / oracle.envelope
    choices = oracle.scores is not None
    return number_of_label_repeats(each, mean_degree, degrees, columns=oracle.columns, choices=choices)


def degree_order(degrees: FloatArray, generator: np.random.Generator) -> IndexArray:
    """Rows by decreasing (released) degree, equal degrees in random order."""
    shuffled = generator.permutation(degrees.size)
    return shuffled[np.argsort(-degrees[shuffled], kind="stable")]


def large_first(degrees: FloatArray, generator: np.random.Generator) -> IndexArray:
    """Random order that draws the next row with probability proportional to its squared (released, positive) degree.

    Rows of many edges should come early, so that others read what they have chosen. Strictly by degree is worse if rows
    move again: the largest are often neighbours, and their first, nearly random choices settle a cut of their own.
    """
    return np.argsort(generator.exponential(size=degrees.size) / degrees**2)


def release_usable_degrees(
    graph: GraphOperator, mean_degree: float, share: float, *, ledger: Ledger, noise: NoiseSource
) -> FloatArray:
    """Release the degrees for a share of the budget, shrunk by what is noise in them."""
    w = graph.max_weight
    released = release_degrees(graph, Call(ledger, noise, share))
    return shrunken_degrees(released.value, mean_degree, released.std, w)


def shrunken_degrees(noisy: FloatArray, mean: float, scale: float, floor: float) -> FloatArray:
    """Shrink noisy degrees towards their mean by the share of their variance that is noise, and keep them positive."""
    mean = max(mean, floor)
    spread = float(np.mean((noisy - mean) ** 2))
    signal = max(spread - scale**2, 0.0) / spread if spread > 0 else 0.0
    return np.maximum(mean + signal * (noisy - mean), mean / 4)
