"""Which rows of a bounded iteration are its core: released degrees decide.

Most vertices of real graphs have few edges, far below the noise of one sweep among many, while a few vertices hold most
of the sum of squared degrees. With Gaussian noise, or pure noise that is drawn for all readings of a row together
(:mod:`~dpgraph.releases.sweeps.repeated`), the latter settle the global structure among themselves; then each other
vertex reads its neighbours once, with the noise of a single release. Where a field is weak beside its noise, all rows
are swept a few times, each edge being read at one of its ends (:mod:`~dpgraph.releases.sweeps.one_sided`).
"""

import math

import numpy as np

from dpgraph.denoise.schedules import (
    is_even,
    is_sparse,
    number_of_core_sweeps,
    number_of_label_repeats,
    number_of_repeats,
    number_of_sweeps,
    part_of_labels,
)
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.sweeps.gaussian import release_iterates
from dpgraph.releases.sweeps.one_sided import release_one_sided_sweeps
from dpgraph.releases.sweeps.oracle import Core, FieldOracle, Iteration
from dpgraph.releases.sweeps.repeated import release_repeated_sweeps
from dpgraph.tuning import CORE
from dpgraph.typing import FloatArray, IntArray

__all__ = [
    "choose_core",
    "degree_order",
    "large_first",
    "release_core_iterates",
    "release_usable_degrees",
    "shrunken_degrees",
]


def release_core_iterates(
    graph: GraphOperator,
    iteration: Iteration,
    call: Call,
    *,
    mean_degree: float,
    together: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Release degrees, let them choose the core and the scale of the fields, and iterate.

    Parameters
    ----------
    graph : GraphOperator
        The private graph whose vertices are the rows that iterate: neighbours of the data are neighbours of it.
    iteration : Iteration
        What is iterated; `revise` is asked twice while a core iterates, else once in the end.
    call : Call
        Part of the budget; it pays for the degrees too. A call that goes in stages ends with a stage that is pure where
        no core iterates.
    mean_degree : float
        A private (released) average degree of `graph`.
    together : bool
        Read rows repeatedly, with pure noise that is drawn together, where the budget may be spent purely and the
        average degree is large enough.

    Returns
    -------
    X, fields : ndarray, shape (rows, columns)
        The last iterate and estimates of the last fields (0 where none was read), all released.
    """
    w, oracle, epsilon = graph.max_weight, iteration.oracle, call.ledger.epsilon
    labels = 1 if oracle.scores is None or oracle.scores.single else oracle.columns
    sweeps = number_of_sweeps(epsilon, mean_degree / w, labels)
    for_degrees = _degree_share(call, sweeps)
    degrees = release_usable_degrees(graph, mean_degree, call.part(for_degrees))
    repeats = _repeats(oracle, epsilon, w, mean_degree / w, degrees) if together and call.pure_noise else 0
    if repeats:
        core = repeated_core(degrees, epsilon, call.generator)
    else:
        sparse = is_sparse(epsilon, mean_degree / w)
        core = choose_core(degrees * part_of_labels(labels) / w, sweeps, sparse, call)
    call = call.part(1 - for_degrees)
    if call.ledger.staged:
        delta = call.ledger.delta if core.size and not repeats else 0.0
        call = call.stage(delta=delta, slack=CORE.look_delta * delta)
    variances = w * degrees / oracle.columns  # of d terms of size at most w, of which each column has its part
    X, fields = np.zeros((oracle.rows, oracle.columns)), np.zeros((oracle.rows, oracle.columns))
    if repeats:
        X, fields = release_repeated_sweeps(iteration, variances, core, call, sweeps=repeats)
    elif core.size:
        X, fields = release_iterates(
            iteration, variances, core, call, sweeps=number_of_core_sweeps(call.ledger.epsilon)
        )
    if core.others.size:
        looks = 1 if core.size else sweeps
        X, others = release_one_sided_sweeps(iteration, variances, core, X, call, sweeps=looks)
        fields[core.others] = others[core.others]
    if iteration.revise is not None and not core.size:
        X = iteration.revise(X, fields, 1.0, "in the end")
    return X, fields


def _degree_share(call: Call, sweeps: int) -> float:
    """Share of the budget for degrees; pure ones pay off from about epsilon = 1.5, most where rows look once."""
    if call.ledger.epsilon < CORE.pure_below or not call.pure_noise:
        return CORE.degree_share
    return CORE.sparse_degree_share if sweeps == 1 else CORE.pure_degree_share


def choose_core(degrees: FloatArray, sweeps: int, sparse: bool, call: Call) -> Core:
    """Core and order of all rows, from (released, positive) degrees in units of max_weight.

    No row is in the core of a sparse graph, or in a pure call, or, in a call that goes in stages, if degrees are small
    for its epsilon (:func:`_is_weak`). Otherwise the core is as few vertices as hold the wanted share
    of the sum of squared degrees: nearly every vertex in a graph of equal degrees, few where few have most edges.
    """
    order, epsilon = degree_order(degrees, call.generator), call.ledger.epsilon
    weak = call.pure_noise and _is_weak(degrees, epsilon)
    if sparse or weak or call.ledger.delta == 0:
        return Core(order if sweeps == 1 else large_first(degrees, call.generator), 0)
    return Core(order, _number_holding(degrees[order], epsilon))


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
    wanted = 1 - min(CORE.left_out / epsilon, CORE.most_left_out)
    return min(int(np.searchsorted(held, wanted * held[-1])) + 1, degrees.size)


def _is_weak(degrees: FloatArray, epsilon: float) -> bool:
    """Whether a few pure sweeps of all rows find more than many Gaussian ones of a core."""
    return epsilon * math.sqrt(float((degrees**2).sum() / degrees.sum())) < CORE.weak_signal


def _repeats(oracle: FieldOracle, epsilon: float, w: float, mean_degree: float, degrees: FloatArray) -> int:
    """How often rows are read with noise that is drawn together; 0 where they are not."""
    if oracle.columns == 1:
        return number_of_repeats(epsilon, min(mean_degree, oracle.rows - 1.0))
    each = epsilon * w / oracle.envelope
    choices = oracle.scores is not None
    return number_of_label_repeats(each, mean_degree, degrees, columns=oracle.columns, choices=choices)


def degree_order(degrees: FloatArray, generator: np.random.Generator) -> IntArray:
    """Rows by decreasing (released) degree, equal degrees in random order."""
    shuffled = generator.permutation(degrees.size)
    return shuffled[np.argsort(-degrees[shuffled], kind="stable")]


def large_first(degrees: FloatArray, generator: np.random.Generator) -> IntArray:
    """Random order that draws the next row with probability proportional to its squared (released, positive) degree.

    Rows of many edges should come early, so that others read what they have chosen. Strictly by degree is worse if rows
    move again: the largest are often neighbours, and their first, nearly random choices settle a cut of their own.
    """
    return np.argsort(generator.exponential(size=degrees.size) / degrees**2)


def release_usable_degrees(graph: GraphOperator, mean_degree: float, call: Call) -> FloatArray:
    """Release the degrees for a part of the budget, shrunk by what is noise in them."""
    released = release_degrees(graph, call)
    return shrunken_degrees(released.value, mean_degree, released.std, graph.max_weight)


def shrunken_degrees(noisy: FloatArray, mean: float, scale: float, floor: float) -> FloatArray:
    """Shrink noisy degrees towards their mean by the share of their variance that is noise, and keep them positive."""
    mean = max(mean, floor)
    spread = float(np.mean((noisy - mean) ** 2))
    signal = max(spread - scale**2, 0.0) / spread if spread > 0 else 0.0
    return np.maximum(mean + signal * (noisy - mean), mean / 4)
