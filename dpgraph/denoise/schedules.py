"""How often the rows of a bounded iteration are read: public rules from epsilon and released degrees.

All numbers were tuned on planted cuts and validated on SNAP and Facebook100 graphs (benchmarks/results).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "is_even",
    "is_sparse",
    "number_of_core_sweeps",
    "number_of_label_repeats",
    "number_of_repeats",
    "number_of_sweeps",
    "part_of_labels",
]

FloatArray = NDArray[np.float64]

#: Below this average degree at epsilon = 1 a second sweep is lost in its noise, and over this power of epsilon above.
_SPARSE, _SPARSE_POWER = 23.5, 2 / 3
#: One sweep for so much epsilon times the standard deviation of a field (the root of the degree), two at least where a
#: second one is not lost; and at most so many.
_SIGNAL_PER_SWEEP, _MOST_SWEEPS = 4.0, 5
#: The same for choices between labels, a second sweep of which is worth its price from the first number on.
_CHOICE_SIGNAL, _CHOICE_PER_SWEEP = 11.0, 7.0
#: Rows are read repeatedly from this epsilon times the standard deviation of a field and this average degree on, once
#: for so much of the former and for so many edges of a vertex; less often for a strong signal (above _STRONG with this
#: power), and at most so many times.
_REPEAT_SIGNAL, _REPEAT_DEGREE = 6.7, 7.75
_SIGNAL_PER_REPEAT, _DEGREE_PER_REPEAT, _STRONG, _STRONG_POWER, _MOST_REPEATS = 2.0, 2.0, 16.0, 0.75, 40
#: Where degrees are even, the degree at the end of a typical edge below _EVEN times the mean, no vertex sees more than
#: others, and what they have in common has to grow out of chance fluctuations, by a factor in every sweep: so many
#: sweeps more (but no more than twice as many) for each factor e of vertices above the second number and each edge of a
#: vertex above the third, as more edges make weaker cuts grow; less the fourth, as one sweep more changes nothing.
_REPEATS_PER_LOG, _FEW_VERTICES, _LEAST_DEGREE, _SPARED, _EVEN = 0.095, 2000.0, 10.0, 1.35, 1.15
#: Labels are read repeatedly between these signals, from this average degree on; where rows could choose labels in one
#: sweep instead, and where they could not; first where degrees are uneven, then where they are even. Choices in one
#: sweep settle local structure, and Gaussian sweeps win at a large signal.
_LABEL_SIGNALS_CHOICES = (6.5, math.inf, 25.0), (3.0, math.inf, 0.0)
_LABEL_SIGNALS = (1.85, 6.0, 15.0), (1.85, 8.0, 0.0)
#: So often, and so often for each unit of signal.
_REPEATS_AT_LEAST, _REPEATS_PER_LABEL_SIGNAL, _MOST_LABEL_REPEATS = 0.6, 1.1, 16


def number_of_sweeps(epsilon: float, mean_degree: float, labels: int = 1) -> int:
    """How many sweeps that read an edge once a graph of this (released) average degree deserves.

    With `labels` >= 2 rows choose between labels of public worth, each of which gets its part of the edges.
    """
    signal = epsilon * math.sqrt(max(mean_degree, 0.0) * part_of_labels(labels))
    if is_sparse(epsilon, mean_degree) or (labels > 1 and signal < _CHOICE_SIGNAL):
        return 1
    return min(max(round(signal / (_CHOICE_PER_SWEEP if labels > 1 else _SIGNAL_PER_SWEEP)), 2), _MOST_SWEEPS)


def number_of_core_sweeps(epsilon: float) -> int:
    """How many Gaussian sweeps a core gets: 4.5 epsilon, from 24 to 48."""
    return min(max(24, round(4.5 * epsilon)), 48)


def is_sparse(epsilon: float, mean_degree: float) -> bool:
    """Whether in a graph of this (released) average degree all sweeps but one are lost in their noise."""
    scale = epsilon**-_SPARSE_POWER if epsilon > 1 else min(epsilon**-2, 2 / epsilon)
    return mean_degree < _SPARSE * scale


def part_of_labels(labels: int) -> float:
    """Degree of a row against two labels, over its degree: the difference of two labels is worth one of signs."""
    return min(2.0 / labels, 1.0)


def number_of_repeats(epsilon: float, mean_degree: float, degrees: FloatArray) -> int:
    """How often rows are read with noise that is drawn together, at these (released) degrees; 0 if never.

    Where degrees are small or weak for epsilon, sweeps that read an edge once are worth more. `mean_degree` is in units
    of max_weight, `degrees` are in any units.
    """
    signal = epsilon * math.sqrt(max(mean_degree, 0.0))
    if signal < _REPEAT_SIGNAL or mean_degree < _REPEAT_DEGREE:
        return 0
    repeats = min(signal, _STRONG * (signal / _STRONG) ** _STRONG_POWER) / _SIGNAL_PER_REPEAT
    if is_even(degrees):
        growth = math.log(max(degrees.size / _FEW_VERTICES, 1.0)) * max(mean_degree - _LEAST_DEGREE, 0.0)
        repeats += min(max(_REPEATS_PER_LOG * growth - _SPARED, 0.0), repeats)
    return min(round(min(repeats, mean_degree / _DEGREE_PER_REPEAT)), _MOST_REPEATS)


def number_of_label_repeats(
    epsilon: float, mean_degree: float, degrees: FloatArray, *, columns: int, choices: bool
) -> int:
    """The same for labels, one of `columns` numbers in a row each: `epsilon` for each number; 0 if never.

    `choices` says whether rows could choose labels in one sweep instead.
    """
    signal = epsilon * math.sqrt(max(mean_degree, 0.0) / columns)
    least, most, edges = (_LABEL_SIGNALS_CHOICES if choices else _LABEL_SIGNALS)[is_even(degrees)]
    if not least <= signal < most or mean_degree < edges:
        return 0
    return min(round(_REPEATS_PER_LABEL_SIGNAL * signal + _REPEATS_AT_LEAST), _MOST_LABEL_REPEATS)


def is_even(degrees: FloatArray) -> bool:
    """Whether the degree at the end of a typical edge is little more than the mean."""
    return float((degrees**2).sum() / degrees.sum()) < _EVEN * float(degrees.mean())
