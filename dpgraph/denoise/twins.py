"""Twins of a private graph: random graphs of its block model, with its counts, whose communities are as clear as its.

Labels that were found under noise are right for some vertices only, and are fewer than the communities that there are.
So the edges inside them are too few: a graph drawn from their block model has less modularity than the private one. The
model may be made stronger (:func:`stronger`): communities are split at random, and edges move inside the parts.
"""

from typing import NamedTuple

import numpy as np

from dpgraph.denoise.modularity import ends_of
from dpgraph.typing import FloatArray, IntArray

#: Parts of a community at most; by how much more than is needed their modularity could rise.
_MOST_PARTS, _ROOM = 32, 1.2


class Blocks(NamedTuple):
    """Degree and community of each vertex, and edges between communities: symmetric, inside them on the diagonal."""

    degrees: IntArray
    labels: IntArray
    edges: FloatArray


def stronger(blocks: Blocks, parts: int, strength: float, rng: np.random.Generator) -> Blocks:
    """Each community split into so many parts; this part of the edges, in [0, 1), moves inside them."""
    ends, labels = np.kron(ends_of(blocks.edges), np.full((parts, parts), parts**-2.0)), blocks.labels
    ends = (1 - strength) * ends + strength * np.diag(ends.sum(axis=1))
    if parts > 1:
        labels = labels * parts + rng.integers(0, parts, labels.size)
    return Blocks(blocks.degrees, labels, ends - np.diag(np.diag(ends) / 2))


def strength_for(edges: FloatArray, modularity: float) -> tuple[int, float]:
    """Parts and strength with which communities have this modularity, or come near to it."""
    ends = ends_of(edges) / max(ends_of(edges).sum(), 1e-9)
    now, even = float(np.trace(ends) - (ends.sum(axis=1) ** 2).sum()), float((ends.sum(axis=1) ** 2).sum())
    parts = 1
    while parts < _MOST_PARTS and 1 - even / parts - now < _ROOM * (modularity - now):
        parts += 1
    now = now if parts == 1 else float(np.trace(ends)) / parts - even / parts
    return parts, min(max((modularity - now) / max(1 - even / parts - now, 1e-9), 0.0), 0.95)
