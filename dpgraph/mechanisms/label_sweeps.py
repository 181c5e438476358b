"""Labels for the ends of private edges when what a pair of labels earns is public: max-k-cut, colouring.

Rows choose one after another, forwards through a public order and then backwards, and so on. A row reads only rows that
have chosen in the same sweep, so that each sweep reads an edge once, at the later of its ends. What a row has read in
the sweep before, about the rows on its other side, is still true: they have not chosen again since. So a row always
knows all its neighbours, at half the price of reading them all in every sweep.

All sweeps but the last release what they read, with Laplace noise. The last one releases choices only, the noisy
maximum of the scores, whose noise has half the variance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dpgraph.graph import GraphOperator
from dpgraph.mechanisms.bounded_iterates import ITERATE_UNIT
from dpgraph.mechanisms.degree_core import degree_order, release_usable_degrees
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = ["release_label_sweeps"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Share of epsilon for the degrees that order the rows.
_DEGREE_SHARE = 0.02
#: Rows of a block do not read each other.
_BLOCKS = 1000
#: One sweep for so much epsilon times the standard deviation of a field (which is about the root of degree/labels); at
#: most so many. Tuned on random and planted graphs, validated on real ones (benchmarks/results).
_SIGNAL_PER_SWEEP, _MOST_SWEEPS = 5.0, 5


def release_label_sweeps(
    graph: GraphOperator,
    relation: FloatArray,
    *,
    mean_degree: float,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    progress: bool = False,
) -> IndexArray:
    """Release a label for each vertex for a share of a pure budget, aiming at much weight earned.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    relation : ndarray, shape (q, q)
        What a pair of labels earns times the weight of the edge: public, symmetric, multiples of
        :data:`~dpgraph.mechanisms.bounded_iterates.ITERATE_UNIT` in [0, 1].
    mean_degree : float
        A private (released) average degree.
    ledger, share, noise
        Budget of a pure call, share of it for this release, source of noise.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    ndarray of int64, shape (n,)

    Notes
    -----
    *Guarantee.* A sweep reads the pair {u, v} at one row only, the later one in its order, and there the labels of rows
    that are public. Released readings move by at most w in l1 (:func:`~dpgraph.spectral.sensitivity.first_sweep`).
    In the last sweep the weight of the pair moves the scores of one row, all in the same direction, by at most w
    (:func:`~dpgraph.spectral.sensitivity.label_scores`). Readings of earlier sweeps are released, hence public.
    """
    w, n, q = graph.max_weight, graph.n_vertices, len(relation)
    degrees = release_usable_degrees(graph, mean_degree, _DEGREE_SHARE * share, ledger=ledger, noise=noise)
    epsilon = share * (1 - _DEGREE_SHARE) * ledger.epsilon
    sweeps = _number_of_sweeps(epsilon, mean_degree / w, q)
    order, unit = degree_order(degrees, noise.generator), graph.weight_unit * ITERATE_UNIT
    labels, readings = np.zeros(n, dtype=np.int64), np.zeros((n, q))
    for sweep in tqdm(range(sweeps), desc="sweeps", disable=not progress):
        name, last = f"labels, sweep {sweep + 1}", sweep == sweeps - 1
        if last:
            bound = sensitivity.label_scores(w)
            scale = ledger.pure(name, mechanism="noisy maximum", sensitivity=bound, epsilon=epsilon / sweeps)
        else:
            scale = ledger.laplace(name, sensitivity=sensitivity.first_sweep(w), epsilon=epsilon / sweeps)
        chosen = np.zeros((n, q))
        for block in np.array_split(order, min(_BLOCKS, n)):
            fields = graph.multiply_rows(block, chosen)
            if last:
                labels[block] = noise.noisy_argmax((fields + readings[block]) @ relation, unit, scale)
            else:
                noisy = noise.laplace_on_grid(fields, unit, scale)
                labels[block] = np.argmax((noisy + readings[block]) @ relation, axis=1)
                readings[block] = noisy
            chosen[block, labels[block]] = 1.0
        order = order[::-1]
    return labels


def _number_of_sweeps(epsilon: float, mean_degree: float, alphabet: int) -> int:
    signal = epsilon * math.sqrt(max(mean_degree, 0.0) / alphabet)
    return min(max(round(signal / _SIGNAL_PER_SWEEP), 1), _MOST_SWEEPS)
