"""How often the rows of a bounded iteration are read: public rules from epsilon and released degrees."""

import math

from dpgraph.tuning import CORE, LABEL_REPEATS, ONE_SIDED, REPEATED, REPEATS
from dpgraph.typing import FloatArray

__all__ = [
    "is_even",
    "is_sparse",
    "number_of_core_sweeps",
    "number_of_label_repeats",
    "number_of_repeats",
    "number_of_sweeps",
    "part_of_labels",
]


def number_of_sweeps(epsilon: float, mean_degree: float, labels: int = 1) -> int:
    """How many sweeps that read an edge once a graph of this (released) average degree deserves.

    With `labels` >= 2 rows choose between labels of public worth, each of which gets its part of the edges.
    """
    signal = epsilon * math.sqrt(max(mean_degree, 0.0) * part_of_labels(labels))
    if is_sparse(epsilon, mean_degree) or (labels > 1 and signal < ONE_SIDED.choice_signal):
        return 1
    each = ONE_SIDED.choice_per_sweep if labels > 1 else ONE_SIDED.signal_per_sweep
    return min(max(round(signal / each), 2), ONE_SIDED.most_sweeps)


def number_of_core_sweeps(epsilon: float) -> int:
    """How many Gaussian sweeps a core gets: 4.5 epsilon, from 24 to 48."""
    return min(max(CORE.sweeps, round(CORE.sweeps_per_epsilon * epsilon)), CORE.most_sweeps)


def is_sparse(epsilon: float, mean_degree: float, power: float = ONE_SIDED.sparse_power) -> bool:
    """Whether in a graph of this (released) average degree all sweeps but one are lost in their noise."""
    scale = epsilon**-power if epsilon > 1 else min(epsilon**-2, 2 / epsilon)
    return mean_degree < ONE_SIDED.sparse_degree * scale


def part_of_labels(labels: int) -> float:
    """Degree of a row against two labels, over its degree: the difference of two labels is worth one of signs."""
    return min(2.0 / labels, 1.0)


def number_of_repeats(epsilon: float, mean_degree: float) -> int:
    """How often signs are read with noise that is drawn together, at this (released) average degree; 0 if once.

    repeats = min(epsilon sqrt(degree), degree)/2, at least 4 and at most 24; never in a sparse graph, where one look
    at the noise of a single release sees more. `mean_degree` is in units of max_weight.
    """
    if is_sparse(epsilon, mean_degree, REPEATS.sparse_power):
        return 0
    wanted = min(epsilon * math.sqrt(mean_degree), mean_degree) / REPEATS.signal_per_repeat
    return min(max(round(wanted), REPEATS.least), REPEATS.most)


def number_of_label_repeats(
    epsilon: float, mean_degree: float, degrees: FloatArray, *, columns: int, choices: bool
) -> int:
    """The same for labels, one of `columns` numbers in a row each: `epsilon` for each number; 0 if never.

    `choices` says whether rows could choose labels in one sweep instead.
    """
    signal = epsilon * math.sqrt(max(mean_degree, 0.0) / columns)
    least, most, edges = (LABEL_REPEATS.beside_choices if choices else LABEL_REPEATS.beside_gaussian)[is_even(degrees)]
    if not least <= signal < most or mean_degree < edges:
        return 0
    return min(round(LABEL_REPEATS.per_signal * signal + LABEL_REPEATS.at_least), LABEL_REPEATS.most)


def is_even(degrees: FloatArray) -> bool:
    """Whether the degree at the end of a typical edge is little more than the mean."""
    return float((degrees**2).sum() / degrees.sum()) < REPEATED.even * float(degrees.mean())
