"""The networkx backend ``dpgraph``: private answers to networkx functions.

    nx.approximation.one_exchange(G, backend="dpgraph", epsilon=1.0, delta=1e-6)

A converted graph is a :class:`PrivateGraph`, which hands its edges to private mechanisms only: networkx can neither
read it nor turn it back, so that no setting of networkx makes it answer exactly. Every function debits its budget
before it reads an edge and returns Python numbers and sets; the ledger is that of the
:class:`~dpgraph.PrivacyAccountant` in use.

Functions have the parameters of networkx, then keyword-only ones that reach them as ``asked``: ``epsilon``, ``delta``,
``max_weight`` (defaults: ``nx.config.backends.dpgraph``; delta 0 if nothing is set there) and ``accountant``. As
everywhere in networkx a missing edge attribute counts as 1.
networkx passes its global random generator where no seed was given; the noise is then cryptographic.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.interfaces.networkx.info import REFUSED
from dpgraph.interfaces.networkx.private_graph import (
    Asked,
    PrivateGraph,
    answered_privately,
    as_rng,
    can_run,
    convert_from_nx,
    convert_to_nx,
    on_start_tests,
    refused,
    should_run,
)
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.counts.degrees import private_degrees
from dpgraph.problems.cut.api import private_max_cut
from dpgraph.problems.embedding.api import private_normalized_adjacency
from dpgraph.problems.matrices.whole_spectrum import private_whole_spectrum
from dpgraph.releases.totals import release_block_weights, release_weight

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


def _opened(G: PrivateGraph, asked: Asked, weight: str | None, rng: Any = None) -> tuple[Graph, Call]:
    """The budget is debited before an edge is read."""
    budget = asked.arguments(weight)
    source = open_graph(G, weight=weight, max_weight=budget["max_weight"])
    call = open_call(
        epsilon=asked.epsilon,
        delta=asked.delta,
        accountant=asked.accountant,
        relation=Edge(),
        noise=noise_source(rng),
    )
    return source.read(), call


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
    asked: Asked,
    mechanism: Any = "auto",
) -> tuple[float, tuple[set[Hashable], set[Hashable]]]:
    """A large cut and its weight, both private: :func:`dpgraph.private_max_cut`."""
    if initial_cut is not None:
        raise InvalidParameterError(
            "initial_cut must be None: the private solver does not start from a given cut; got a collection"
        )
    result = private_max_cut(G, **asked.arguments(weight), mechanism=mechanism, rng=as_rng(seed))
    return _number(result.estimated_value, weight), result.partition


@answered_privately
def randomized_partitioning(
    G: PrivateGraph, seed: Any = None, p: float = 0.5, weight: str | None = None, *, asked: Asked
) -> tuple[float, tuple[set[Hashable], set[Hashable]]]:
    """A random cut, drawn without looking at the edges, and its weight with noise."""
    if not 0 <= p <= 1:
        raise InvalidParameterError(f"p must lie in [0, 1]; got {p!r}")
    noise = noise_source(as_rng(seed))
    nodes = list(G)
    first = {node for node, draw in zip(nodes, noise.generator.random(len(nodes)).tolist(), strict=True) if draw < p}
    graph, call = _opened(G, asked, weight, noise)
    value = release_weight("cut weight", _between(graph, first, None), graph, call).value
    return _number(value, weight), (first, set(nodes) - first)


@answered_privately
def cut_size(G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Asked) -> float:
    """Weight of the edges between the public sets S and T (by default the rest) with noise: sensitivity w."""
    graph, call = _opened(G, asked, weight)
    return _number(release_weight("cut weight", _between(graph, S, T), graph, call).value, weight)


@answered_privately
def volume(G: PrivateGraph, S: Nodes, weight: str | None = None, *, asked: Asked) -> float:
    """Sum of the degrees of the public set S with noise: sensitivity 2 w, because an edge inside S counts twice."""
    graph, call = _opened(G, asked, weight)
    exact = float(_indicator(graph, S) @ graph.degrees())
    return _number(release_weight("volume", exact, graph, call, times=2).value, weight)


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
    asked: Asked,
) -> tuple[set[Hashable], set[Hashable]]:
    """Signs of the second largest eigenvector of :func:`dpgraph.private_normalized_adjacency` (regularised)."""
    if not normalized:
        raise InvalidParameterError(
            "the eigenvectors of the Laplacian that is not normalised have no bounded sensitivity; pass normalized=True"
        )
    budget, rank = asked.arguments(weight), min(_BISECTION_RANK, len(G))
    private = private_normalized_adjacency(G, **budget, rank=rank, mechanism="auto", rng=as_rng(seed))
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
def density(B: PrivateGraph, nodes: Nodes | None, *, asked: Asked) -> float:
    """Private share of the possible edges (``nx.bipartite.density``; ``nodes=None``: not bipartite)."""
    n = len(B)
    possible = n * (n - 1) // 2 if nodes is None else len(nodes) * (n - len(nodes))
    graph, call = _opened(B, asked, None)
    count = release_weight("number of edges", float(graph.degrees().sum()) / 2, graph, call).value
    return _number(count, None) / possible if possible > 0 else 0.0


@answered_privately
def degree_centrality(G: PrivateGraph, *, asked: Asked) -> dict[Hashable, float]:
    """Degrees with noise over n - 1: :func:`dpgraph.private_degrees`; delta = 0 is pure."""
    n = len(G)
    released = private_degrees(G, **asked.arguments())
    return {node: degree / (n - 1) if n > 1 else 1.0 for node, degree in released.as_dict().items()}


@answered_privately
def adjacency_spectrum(G: PrivateGraph, weight: str | None = "weight", *, asked: Asked) -> NDArray[np.float64]:
    """All eigenvalues of the adjacency matrix, noisy, increasing: :mod:`dpgraph.problems.matrices.whole_spectrum`."""
    return private_whole_spectrum(G, "adjacency", **asked.arguments(weight)).values


@answered_privately
def laplacian_spectrum(G: PrivateGraph, weight: str | None = "weight", *, asked: Asked) -> NDArray[np.float64]:
    """All eigenvalues of the Laplacian, increasing, with noise: see :mod:`dpgraph.problems.matrices.whole_spectrum`."""
    return private_whole_spectrum(G, "laplacian", **asked.arguments(weight)).values


# --- what combines several counts ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cut:
    """What is known of a cut after one release: noisy numbers about two public sets."""

    across: float
    volumes: tuple[float, float]
    total: float

    @classmethod
    def release(cls, G: PrivateGraph, S: Nodes, T: Nodes | None, weight: str | None, asked: Asked) -> _Cut:
        """Release the weights between all groups of vertices that S and T (by default the rest) tell apart.

        A vertex pair counts in one of them, so that all have the noise of one count. Everything else is computed from
        them.
        """
        graph, call = _opened(G, asked, weight)
        s = _indicator(graph, S)
        t = 1.0 - s if T is None else _indicator(graph, T)
        kinds, groups = np.unique(np.column_stack([s, t]), axis=0, return_inverse=True)
        released = release_block_weights(graph, groups.ravel(), call).value
        weights = np.rint(released) if weight is None else released
        ends = kinds[:, None, :] + kinds[None, :, :]  # how many ends of an edge between two groups lie in S, and in T
        crosses = np.outer(kinds[:, 0], kinds[:, 1])
        across = float((weights * np.maximum(crosses, crosses.T)).sum())
        first, second = (float((weights * ends[:, :, side]).sum()) for side in (0, 1))
        return cls(across, (first, second), float(weights.sum()))


def _quotient(numerator: float, denominator: float, most: float) -> float:
    """A noisy quotient, moved into its range [0, most]."""
    if numerator <= 0:
        return 0.0
    return most if numerator >= most * denominator else numerator / denominator


@answered_privately
def conductance(G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Asked) -> float:
    """Noisy cut over the smaller noisy volume, in [0, 1]."""
    cut = _Cut.release(G, S, T, weight, asked)
    return _quotient(cut.across, min(cut.volumes), 1.0)


@answered_privately
def normalized_cut_size(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Asked
) -> float:
    """Noisy cut over the one noisy volume, plus over the other, in [0, 2]."""
    cut = _Cut.release(G, S, T, weight, asked)
    return sum(_quotient(cut.across, volume, 1.0) for volume in cut.volumes)


@answered_privately
def mixing_expansion(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Asked
) -> float:
    """Noisy cut over twice the noisy number of edges, in [0, 1/2]."""
    if weight is not None:
        raise InvalidParameterError(
            "weight must be None: networkx divides a weight by a number of edges here; release nx.cut_size instead"
        )
    cut = _Cut.release(G, S, T, weight, asked)
    return _quotient(cut.across, 2.0 * cut.total, 0.5)


@answered_privately
def edge_expansion(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Asked
) -> float:
    """Noisy cut, at least 0, over the size of the smaller public set."""
    smaller = min(len(S), len(set(G) - set(S)) if T is None else len(T))
    if smaller == 0:
        raise InvalidParameterError("both sets must hold a vertex; got an empty one")
    graph, call = _opened(G, asked, weight)
    return max(_number(release_weight("cut weight", _between(graph, S, T), graph, call).value, weight), 0) / smaller


(effective_graph_resistance,) = (refused(name, instead) for name, instead in REFUSED.items())
