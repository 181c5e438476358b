"""The networkx backend ``dpgraph``: private answers to networkx functions.

    nx.approximation.one_exchange(G, backend="dpgraph", epsilon=1.0, delta=1e-6)

A converted graph is a :class:`PrivateGraph`, which hands its edges to private mechanisms only: networkx can neither
read it nor turn it back, so that no setting of networkx makes it answer exactly. Every function debits its budget
before it reads an edge and returns Python numbers and sets; the ledger is that of the
:class:`~dpgraph.PrivacyAccountant` in use.

Functions have the parameters of networkx, then keyword-only ones: ``epsilon``, ``delta``, ``max_weight`` (defaults:
``nx.config.backends.dpgraph``) and ``accountant``. As everywhere in networkx a missing edge attribute counts as 1.
networkx passes its global random generator where no seed was given; the noise is then cryptographic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import Graph, open_graph
from dpgraph.interfaces.networkx.info import REFUSED
from dpgraph.interfaces.networkx.private_graph import (
    PrivateGraph,
    answered_privately,
    as_rng,
    can_run,
    convert_from_nx,
    convert_to_nx,
    on_start_tests,
    refused,
    should_run,
    weight_bound,
)
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.cut.api import private_max_cut
from dpgraph.problems.embedding.api import private_normalized_adjacency
from dpgraph.problems.matrices.whole_spectrum import private_whole_spectrum
from dpgraph.releases.degrees import private_degrees
from dpgraph.releases.totals import release_weight

__all__ = [
    "PrivateGraph",
    "adjacency_spectrum",
    "can_run",
    "conductance",
    "convert_from_nx",
    "convert_to_nx",
    "cut_size",
    "degree_centrality",
    "density",
    "edge_expansion",
    "effective_graph_resistance",
    "laplacian_spectrum",
    "mixing_expansion",
    "normalized_cut_size",
    "on_start_tests",
    "one_exchange",
    "randomized_partitioning",
    "should_run",
    "spectral_bisection",
    "volume",
]

Nodes = Collection[Hashable]


def _number(value: float, weight: str | None) -> float:
    """A count of edges is a whole number, as networkx answers it; rounding a release is post-processing."""
    return round(value) if weight is None else float(value)


def _count(
    G: PrivateGraph,
    name: str,
    measure: Callable[[Graph], float],
    *,
    epsilon: float,
    delta: float,
    accountant: PrivacyAccountant | None,
    weight: str | None = None,
    max_weight: float | None = None,
    rng: NoiseSource | None = None,
    times: int = 1,
) -> float:
    """Release a weight in which a vertex pair counts up to `times` times; delta = 0 is pure."""
    noise = noise_source(rng)
    source = open_graph(G, weight=weight, max_weight=weight_bound(weight, max_weight))
    ledger = open_ledger(epsilon=epsilon, delta=delta or None, accountant=accountant, relation=Edge(), noise=noise)
    graph = source.read()
    return release_weight(name, measure(graph), graph, Call(ledger, noise), times=times).value


def _indicator(graph: Graph, nodes: Nodes) -> NDArray[np.float64]:
    """1 at the given vertices; labels that are no vertices are ignored, as networkx does."""
    chosen = np.zeros(graph.n_vertices)
    chosen[[graph.index[node] for node in set(nodes) if node in graph.index]] = 1.0
    return chosen


def _between(graph: Graph, S: Nodes, T: Nodes | None) -> float:
    """Weight of the edges with one end in S and the other in T, each counted once."""
    s = _indicator(graph, S)
    t = 1.0 - s if T is None else _indicator(graph, T)
    both = s * t  # an edge inside the common part is counted from both its ends
    return float(s @ graph.multiply(t) - both @ graph.multiply(both) / 2)


# --- cuts ------------------------------------------------------------------------------------------------------------


@answered_privately
def one_exchange(
    G: PrivateGraph,
    initial_cut: Nodes | None = None,
    seed: Any = None,
    weight: str | None = None,
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    mechanism: Any = "auto",
    accountant: PrivacyAccountant | None = None,
) -> tuple[float, tuple[set[Hashable], set[Hashable]]]:
    """A large cut and its weight, both private: :func:`dpgraph.private_max_cut`."""
    if initial_cut is not None:
        raise InvalidParameterError(
            "initial_cut must be None: the private solver does not start from a given cut; got a collection"
        )
    result = private_max_cut(
        G,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        weight=weight,
        max_weight=weight_bound(weight, max_weight),
        accountant=accountant,
        rng=as_rng(seed),
    )
    return _number(result.estimated_value, weight), result.partition


@answered_privately
def randomized_partitioning(
    G: PrivateGraph,
    seed: Any = None,
    p: float = 0.5,
    weight: str | None = None,
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    accountant: PrivacyAccountant | None = None,
) -> tuple[float, tuple[set[Hashable], set[Hashable]]]:
    """A random cut, drawn without looking at the edges, and its weight with noise."""
    if not 0 <= p <= 1:
        raise InvalidParameterError(f"p must lie in [0, 1]; got {p!r}")
    noise = noise_source(as_rng(seed))
    nodes = list(G)
    first = {node for node, draw in zip(nodes, noise.generator.random(len(nodes)).tolist(), strict=True) if draw < p}
    value = _count(
        G,
        "cut weight",
        lambda graph: _between(graph, first, None),
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        weight=weight,
        max_weight=max_weight,
        rng=noise,
    )
    return _number(value, weight), (first, set(nodes) - first)


@answered_privately
def cut_size(
    G: PrivateGraph,
    S: Nodes,
    T: Nodes | None = None,
    weight: str | None = None,
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    accountant: PrivacyAccountant | None = None,
) -> float:
    """Weight of the edges between the public sets S and T (by default the rest) with noise: sensitivity w."""
    value = _count(
        G,
        "cut weight",
        lambda graph: _between(graph, S, T),
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        weight=weight,
        max_weight=max_weight,
    )
    return _number(value, weight)


@answered_privately
def volume(
    G: PrivateGraph,
    S: Nodes,
    weight: str | None = None,
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    accountant: PrivacyAccountant | None = None,
) -> float:
    """Sum of the degrees of the public set S with noise: sensitivity 2 w, because an edge inside S counts twice."""
    value = _count(
        G,
        "volume",
        lambda graph: float(_indicator(graph, S) @ graph.degrees()),
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        weight=weight,
        max_weight=max_weight,
        times=2,
    )
    return _number(value, weight)


#: The bisection is in the second largest eigenvector; a third column leaves room for one of negative eigenvalue.
_BISECTION_RANK = 3


@answered_privately
def spectral_bisection(
    G: PrivateGraph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    accountant: PrivacyAccountant | None = None,
) -> tuple[set[Hashable], set[Hashable]]:
    """Signs of the second largest eigenvector of :func:`dpgraph.private_normalized_adjacency` (regularised)."""
    if not normalized:
        raise InvalidParameterError(
            "the eigenvectors of the Laplacian that is not normalised have no bounded sensitivity; pass normalized=True"
        )
    private = private_normalized_adjacency(
        G,
        epsilon=epsilon,
        delta=delta,
        rank=min(_BISECTION_RANK, len(G)),
        mechanism="auto",
        weight=weight,
        max_weight=weight_bound(weight, max_weight),
        accountant=accountant,
        rng=as_rng(seed),
    )
    values, vectors = np.linalg.eigh(private.core)
    if private.rank < 2 or values[-2] <= 0:
        raise MechanismHalted(
            "the private normalized adjacency has no second positive eigenvalue that stands out of the noise; raise "
            "epsilon. The budget of this call is spent",
            stage="second eigenvector",
            privacy=private.privacy,
        )
    positive = private.basis @ vectors[:, -2] >= 0
    sides = ({node for node, up in zip(private.nodes, positive, strict=True) if up == side} for side in (False, True))
    return next(sides), next(sides)


# --- counts, degrees, spectra ----------------------------------------------------------------------------------------


@answered_privately
def density(
    B: PrivateGraph,
    nodes: Nodes | None,
    *,
    epsilon: float,
    delta: float,
    accountant: PrivacyAccountant | None = None,
) -> float:
    """Private share of the possible edges (``nx.bipartite.density``; ``nodes=None``: not bipartite)."""
    n = len(B)
    possible = n * (n - 1) // 2 if nodes is None else len(nodes) * (n - len(nodes))
    count = _count(
        B,
        "number of edges",
        lambda graph: float(graph.degrees().sum()) / 2,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
    )
    return _number(count, None) / possible if possible > 0 else 0.0


@answered_privately
def degree_centrality(
    G: PrivateGraph, *, epsilon: float, delta: float, accountant: PrivacyAccountant | None = None
) -> dict[Hashable, float]:
    """Degrees with noise over n - 1: :func:`dpgraph.private_degrees`; delta = 0 is pure."""
    n = len(G)
    released = private_degrees(G, epsilon=epsilon, delta=delta, accountant=accountant)
    return {node: degree / (n - 1) if n > 1 else 1.0 for node, degree in released.as_dict().items()}


@answered_privately
def adjacency_spectrum(
    G: PrivateGraph,
    weight: str | None = "weight",
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    accountant: PrivacyAccountant | None = None,
) -> NDArray[np.float64]:
    """All eigenvalues of the adjacency matrix, noisy, increasing: :mod:`dpgraph.problems.matrices.whole_spectrum`."""
    bound = weight_bound(weight, max_weight)
    return private_whole_spectrum(
        G, "adjacency", epsilon=epsilon, delta=delta, weight=weight, max_weight=bound, accountant=accountant
    ).values


@answered_privately
def laplacian_spectrum(
    G: PrivateGraph,
    weight: str | None = "weight",
    *,
    epsilon: float,
    delta: float,
    max_weight: float | None = None,
    accountant: PrivacyAccountant | None = None,
) -> NDArray[np.float64]:
    """All eigenvalues of the Laplacian, increasing, with noise: see :mod:`dpgraph.problems.matrices.whole_spectrum`."""
    bound = weight_bound(weight, max_weight)
    return private_whole_spectrum(
        G, "laplacian", epsilon=epsilon, delta=delta, weight=weight, max_weight=bound, accountant=accountant
    ).values


# --- what combines several answers --------------------------------------------------------------------------------

conductance, edge_expansion, effective_graph_resistance, mixing_expansion, normalized_cut_size = (
    refused(name, instead) for name, instead in REFUSED.items()
)
