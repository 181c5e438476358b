"""The functions of ``nx.community`` that the backend answers.

Those that find communities are answered by :func:`dpgraph.private_communities`, whatever method they are named after.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dpgraph.denoise.modularity import BlockWeights
from dpgraph.denoise.modularity import modularity as modularity_of
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import open_graph
from dpgraph.interfaces.networkx.private_graph import Asked, PrivateGraph, answered_privately, as_rng
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.communities import private_communities
from dpgraph.releases.totals import release_block_weights

__all__ = [
    "asyn_lpa_communities",
    "fast_label_propagation_communities",
    "greedy_modularity_communities",
    "label_propagation_communities",
    "leiden_communities",
    "louvain_communities",
    "modularity",
]

Communities = list[set[Hashable]]


def _counted(weight: str | None, asked: Asked) -> str | None:
    """The weights that count. The default of networkx, "weight", does only where a bound on them is public."""
    return None if weight == "weight" and asked.arguments(weight)["max_weight"] is None else weight


def _found(G: PrivateGraph, asked: Asked, weight: str | None = None, seed: Any = None, **options: Any) -> Communities:
    """Private communities, the largest first."""
    arguments = asked.arguments(_counted(weight, asked))
    return private_communities(G, **arguments, **options, rng=as_rng(seed)).communities


@answered_privately
def louvain_communities(
    G: PrivateGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
    *,
    asked: Asked,
) -> Communities:
    """Communities of high modularity: :func:`dpgraph.private_communities`, which is pure.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.planted_partition_graph(3, 100, 0.6, 0.02, seed=1)
    >>> found = nx.community.louvain_communities(G, backend="dpgraph", epsilon=1)
    >>> nx.community.is_partition(G, found)
    True
    """
    return _found(G, asked, weight, seed, resolution=resolution)


@answered_privately
def leiden_communities(
    G: PrivateGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
    *,
    asked: Asked,
) -> Communities:
    """As :func:`louvain_communities`."""
    return _found(G, asked, weight, seed, resolution=resolution)


@answered_privately
def greedy_modularity_communities(
    G: PrivateGraph,
    weight: str | None = None,
    resolution: float = 1,
    cutoff: int = 1,
    best_n: int | None = None,
    *,
    asked: Asked,
) -> list[frozenset[Hashable]]:
    """As :func:`louvain_communities`; at most `best_n` if it is given."""
    if cutoff != 1:
        raise InvalidParameterError(f"cutoff must be 1: private communities have no smallest number; got {cutoff!r}")
    found = _found(G, asked, weight, resolution=resolution, communities="auto" if best_n is None else best_n)
    return [frozenset(community) for community in found]


@answered_privately
def label_propagation_communities(G: PrivateGraph, *, asked: Asked) -> Communities:
    """As :func:`louvain_communities`."""
    return _found(G, asked)


@answered_privately
def asyn_lpa_communities(G: PrivateGraph, weight: str | None = None, seed: Any = None, *, asked: Asked) -> Communities:
    """As :func:`louvain_communities`."""
    return _found(G, asked, weight, seed)


@answered_privately
def fast_label_propagation_communities(
    G: PrivateGraph, *, weight: str | None = None, seed: Any = None, asked: Asked
) -> Communities:
    """As :func:`louvain_communities`."""
    return _found(G, asked, weight, seed)


@answered_privately
def modularity(
    G: PrivateGraph,
    communities: Iterable[Collection[Hashable]],
    weight: str | None = "weight",
    resolution: float = 1,
    *,
    asked: Asked,
) -> float:
    """Modularity of public communities, from the weights between every two and inside each, with noise.

    A vertex pair counts in one of them, so that all have the noise of one count. At most 1 and at least -resolution; 0
    if the weights add up to nothing.
    """
    weight = _counted(weight, asked)
    groups = _groups(G, communities)
    source = open_graph(G, weight=weight, max_weight=asked.arguments(weight)["max_weight"])
    call = open_call(**asked.budget, relation=Edge(), noise=noise_source(None))
    released = release_block_weights(source.read(), groups, call)
    weights = np.rint(released.value) if weight is None else released.value
    value, _ = modularity_of(BlockWeights.released(weights, released.std), resolution)
    return min(max(value, -float(resolution)), 1.0) if math.isfinite(value) else 0.0


def _groups(G: PrivateGraph, communities: Iterable[Collection[Hashable]]) -> NDArray[np.int64]:
    """Number of the community of each vertex; both are public."""
    nodes, sets = list(G), [set(community) for community in communities if len(community) > 0]
    number = {node: k for k, community in enumerate(sets) for node in community}
    if sum(map(len, sets)) != len(nodes) or number.keys() != set(nodes):
        raise nx.community.quality.NotAPartition(G, sets)
    return np.array([number[node] for node in nodes], dtype=np.int64)
