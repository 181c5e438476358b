"""The networkx backend ``dpgraph``: private answers to networkx functions.

    nx.approximation.one_exchange(G, backend="dpgraph", epsilon=1.0, delta=1e-6)

A converted graph is a :class:`PrivateGraph`, which networkx can neither read nor turn back. Functions debit their
budget before they read an edge; their parameters are those of networkx, then those of :class:`Privacy`. As everywhere
in networkx a missing edge attribute counts as 1. See docs/networkx.md.
"""

import inspect
import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import networkx as nx
import numpy as np
from scipy import linalg
from scipy.optimize import isotonic_regression

from dpgraph.arguments import check_memory, check_nonnegative, require_delta
from dpgraph.bounds import spectra
from dpgraph.denoise.modularity import BlockWeights
from dpgraph.denoise.modularity import modularity as modularity_of
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.interfaces.networkx.counts import (  # noqa: F401 # networkx looks for its functions here
    Nodes,
    attribute_assortativity_coefficient,
    attribute_mixing_matrix,
    degree_assortativity_coefficient,
    densest_subgraph,
    edge_connectivity,
    group_numbers,
    is_partition,
    number_connected_components,
    opened,
    partition_quality,
    possible,
    triangles,
)
from dpgraph.interfaces.networkx.info import ANSWERED, PUBLIC, REFUSED
from dpgraph.interfaces.networkx.private_graph import (
    Privacy,
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
from dpgraph.privacy.call import Measurement
from dpgraph.privacy.noise import noise_source
from dpgraph.problems.communities import private_communities
from dpgraph.problems.counts.degrees import private_degrees
from dpgraph.problems.counts.subgraphs import private_transitivity
from dpgraph.problems.cut.private import private_max_cut
from dpgraph.problems.embedding.normalized_adjacency import private_normalized_adjacency
from dpgraph.releases.totals import release_block_weights, release_weight
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.typing import FloatArray

__all__ = [
    *ANSWERED,
    *PUBLIC,
    *REFUSED,
    "PrivateGraph",
    "can_run",
    "convert_from_nx",
    "convert_to_nx",
    "on_start_tests",
    "should_run",
]

Partition = tuple[set[Hashable], set[Hashable]]
Sides = tuple[FloatArray, FloatArray]


def _indicator(G: PrivateGraph, nodes: Nodes) -> FloatArray:
    """1 at the vertices of a public set, which is looked at once (it may be an iterator), before anything is spent."""
    try:
        chosen = set(nodes)
    except TypeError:
        raise InvalidParameterError(
            f"a public set must be a collection of (hashable) vertices; got {type(nodes).__name__}. Nothing was spent"
        ) from None
    inside = np.fromiter((node in chosen for node in G), dtype=np.float64, count=len(G))
    if strange := len(chosen) - int(inside.sum()):
        raise InvalidParameterError(
            f"a public set must hold vertices of the graph; {strange} of {len(chosen)} are none. Nothing was spent"
        )
    return inside


def _sides(G: PrivateGraph, S: Nodes, T: Nodes | None) -> Sides:
    """Indicators of two public sets, of which the second is by default the rest."""
    first = _indicator(G, S)
    return first, 1.0 - first if T is None else _indicator(G, T)


def _noisy_cut(G: PrivateGraph, sides: Sides, weight: str | None, asked: Privacy, rng: Any = None) -> float:
    """Weight of the edges with one end in either set, each counted once, with noise."""
    first, second = sides
    both = first * second  # an edge inside the common part is counted from both its ends
    common = float(both.sum())
    pairs = float(first.sum() * second.sum()) - common * (common + 1) / 2  # no vertex with itself, none twice
    graph, call = opened(G, asked, weight, rng)
    across = float(first @ graph.multiply(second) - both @ graph.multiply(both) / 2)
    released = release_weight("cut weight", across, graph, call).value
    return possible(released, pairs, weight, graph.max_weight)


@answered_privately
def one_exchange(
    G: PrivateGraph,
    initial_cut: Nodes | None = None,
    seed: Any = None,
    weight: str | None = None,
    *,
    asked: Privacy,
    mechanism: Any = "auto",
) -> tuple[float, Partition]:
    """A large cut and its weight, both private: :func:`dpgraph.private_max_cut`."""
    if initial_cut is not None:
        raise InvalidParameterError(
            "initial_cut must be None: the private solver does not start from a given cut; got a collection"
        )
    result = private_max_cut(G, **asked.arguments(weight), mechanism=mechanism, rng=as_rng(seed))
    first, second = result.partition
    bound = asked.arguments(weight)["max_weight"] or 1.0
    return possible(result.estimated_value, len(first) * len(second), weight, bound), result.partition


@answered_privately
def randomized_partitioning(
    G: PrivateGraph, seed: Any = None, p: float = 0.5, weight: str | None = None, *, asked: Privacy
) -> tuple[float, Partition]:
    """A random cut, drawn without looking at the edges, and its weight with noise."""
    if not 0 <= p <= 1:
        raise InvalidParameterError(f"p must lie in [0, 1]; got {p!r}")
    noise = noise_source(as_rng(seed))
    nodes = list(G)
    first = {node for node, draw in zip(nodes, noise.generator.random(len(nodes)).tolist(), strict=True) if draw < p}
    return _noisy_cut(G, _sides(G, first, None), weight, asked, noise), (first, set(nodes) - first)


@answered_privately
def cut_size(G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Privacy) -> float:
    """Weight of the edges between the public sets S and T (by default the rest) with noise: sensitivity w."""
    return _noisy_cut(G, _sides(G, S, T), weight, asked)


@answered_privately
def volume(G: PrivateGraph, S: Nodes, weight: str | None = None, *, asked: Privacy) -> float:
    """Sum of the degrees of the public set S with noise: sensitivity 2 w, because an edge inside S counts twice."""
    inside = _indicator(G, S)
    graph, call = opened(G, asked, weight)
    released = release_weight("volume", float(inside @ graph.degrees()), graph, call, times=2).value
    return possible(released, float(inside.sum()) * (graph.n_vertices - 1), weight, graph.max_weight)


@answered_privately
def spectral_bisection(
    G: PrivateGraph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
    *,
    asked: Privacy,
) -> Partition:
    """Signs of the second largest eigenvector of :func:`dpgraph.private_normalized_adjacency` (regularised)."""
    if not normalized:
        raise InvalidParameterError(
            "the eigenvectors of the Laplacian that is not normalised have no bounded sensitivity; pass normalized=True"
        )
    nodes, vector = _second_eigenvector(G, weight, asked, seed)
    sides = ({node for node, up in zip(nodes, vector >= 0, strict=True) if up == side} for side in (False, True))
    return next(sides), next(sides)


def _second_eigenvector(
    G: PrivateGraph, weight: str | None, asked: Privacy, seed: Any
) -> tuple[tuple[Hashable, ...], FloatArray]:
    """Vertices, and the eigenvector of the second largest eigenvalue of a private normalized adjacency."""
    if len(G) < 3:  # the second of two eigenvalues, 1 and -1, says nothing of halves
        raise InvalidParameterError(f"halves are found for at least 3 vertices; got {len(G)}. Nothing was spent")
    # The second column is wanted; a third leaves room for one of negative eigenvalue
    private = private_normalized_adjacency(G, **asked.arguments(_counted(weight, asked)), rank=3, rng=as_rng(seed))
    values, vectors = np.linalg.eigh(private.core)
    if private.rank < 2 or values[-2] <= 0:
        raise MechanismHalted(
            "the private normalized adjacency has no second positive eigenvalue that stands out of the noise; raise "
            "epsilon. The budget of this call is spent",
            stage="second eigenvector",
            privacy=private.privacy,
        )
    return private.nodes, np.asarray(private.basis @ vectors[:, -2])


@answered_privately
def kernighan_lin_bisection(
    G: PrivateGraph,
    partition: Any = None,
    max_iter: int = 10,
    weight: str | None = "weight",
    seed: Any = None,
    *,
    asked: Privacy,
) -> Partition:
    """Two halves with few edges between them: the vertices in the order of the vector of :func:`spectral_bisection`."""
    if partition is not None:
        raise InvalidParameterError("partition must be None: the private solver does not start from given halves")
    nodes, vector = _second_eigenvector(G, weight, asked, seed)
    order = np.argsort(vector, kind="stable").tolist()
    return {nodes[k] for k in order[: len(order) // 2]}, {nodes[k] for k in order[len(order) // 2 :]}


@answered_privately
def density(B: PrivateGraph, nodes: Nodes | None, *, asked: Privacy) -> float:
    """Private share of the possible edges (``nx.bipartite.density``; ``nodes=None``: not bipartite)."""
    n = len(B)
    chosen = None if nodes is None else int(_indicator(B, nodes).sum())
    pairs = n * (n - 1) // 2 if chosen is None else chosen * (n - chosen)
    graph, call = opened(B, asked, None)
    count = release_weight("number of edges", float(graph.degrees().sum()) / 2, graph, call).value
    return possible(count, pairs, None) / pairs if pairs > 0 else 0.0


@answered_privately
def degree_centrality(G: PrivateGraph, *, asked: Privacy) -> dict[Hashable, float]:
    """Degrees with noise over n - 1, in [0, 1]: :func:`dpgraph.private_degrees`; delta = 0 is pure."""
    n = len(G)
    released = private_degrees(G, **asked.arguments())
    return {
        node: possible(degree, n - 1, None) / (n - 1) if n > 1 else 1.0 for node, degree in released.as_dict().items()
    }


@answered_privately
def transitivity(G: PrivateGraph, *, asked: Privacy) -> float:
    """3 triangles over wedges, both with noise: :func:`dpgraph.private_transitivity`, which is pure."""
    return private_transitivity(G, **asked.arguments()).value


def _whole_spectrum(
    G: PrivateGraph, weight: str | None, asked: Privacy, name: str, change: Callable[[float, int], float]
) -> FloatArray:
    """All eigenvalues with noise; the nearest increasing vector is never farther from the exact one."""
    if len(G) > DENSE_LIMIT:
        raise InvalidParameterError(
            f"all eigenvalues are computed from a dense matrix, for at most {DENSE_LIMIT} vertices; got {len(G)}. "
            "dpgraph.private_spectrum releases the largest ones of any graph"
        )
    check_memory(f"all eigenvalues of {len(G)} vertices", copies=(6, len(G), len(G)))
    require_delta(asked.budget["delta"], name, "private_normalized_adjacency(mechanism='randomized-response')")
    graph, call = opened(G, asked, _counted(weight, asked))
    dense = graph.multiply(np.eye(len(G)))
    if name == "laplacian spectrum":
        dense = np.diag(graph.degrees()) - dense
    bound = change(graph.max_weight, len(G))
    noisy = call.release(Measurement(name, linalg.eigvalsh(dense), l2=bound, few=True)).value
    return np.asarray(isotonic_regression(noisy).x)


@answered_privately
def adjacency_spectrum(G: PrivateGraph, weight: str | None = "weight", *, asked: Privacy) -> FloatArray:
    """All eigenvalues of the adjacency matrix, noisy and increasing."""
    return _whole_spectrum(G, weight, asked, "adjacency spectrum", spectra.whole_adjacency_spectrum)


@answered_privately
def laplacian_spectrum(G: PrivateGraph, weight: str | None = "weight", *, asked: Privacy) -> FloatArray:
    """All eigenvalues of the Laplacian, noisy, nonnegative and increasing."""
    values = _whole_spectrum(G, weight, asked, "laplacian spectrum", spectra.whole_laplacian_spectrum)
    return np.maximum(values, 0.0)


def _release_cut(
    G: PrivateGraph, S: Nodes, T: Nodes | None, weight: str | None, asked: Privacy
) -> tuple[float, tuple[float, float], float]:
    """Noisy weight across, volumes and total weight, from one release: the weights between all groups of S and T."""
    kinds, groups = np.unique(np.column_stack(_sides(G, S, T)), axis=0, return_inverse=True)
    graph, call = opened(G, asked, weight)
    released = release_block_weights(graph, groups.ravel(), call).value
    weights = np.rint(released) if weight is None else released
    ends = kinds[:, None, :] + kinds[None, :, :]  # how many ends of an edge between two groups lie in S, and in T
    crosses = np.outer(kinds[:, 0], kinds[:, 1])
    across = float((weights * np.maximum(crosses, crosses.T)).sum())
    first, second = (float((weights * ends[:, :, side]).sum()) for side in (0, 1))
    return across, (first, second), float(weights.sum())


def _quotient(numerator: float, denominator: float, most: float) -> float:
    """A noisy quotient, moved into its range [0, most]."""
    if numerator <= 0:
        return 0.0
    return most if numerator >= most * denominator else numerator / denominator


@answered_privately
def conductance(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Privacy
) -> float:
    """Noisy cut over the smaller noisy volume, in [0, 1]."""
    across, volumes, _ = _release_cut(G, S, T, weight, asked)
    return _quotient(across, min(volumes), 1.0)


@answered_privately
def normalized_cut_size(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Privacy
) -> float:
    """Noisy cut over the one noisy volume, plus over the other, in [0, 2]."""
    across, volumes, _ = _release_cut(G, S, T, weight, asked)
    return sum(_quotient(across, volume, 1.0) for volume in volumes)


@answered_privately
def mixing_expansion(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Privacy
) -> float:
    """Noisy cut over twice the noisy number of edges, in [0, 1/2]."""
    if weight is not None:
        raise InvalidParameterError(
            "weight must be None: networkx divides a weight by a number of edges here; release nx.cut_size instead"
        )
    across, _, total = _release_cut(G, S, T, weight, asked)
    return _quotient(across, 2.0 * total, 0.5)


@answered_privately
def edge_expansion(
    G: PrivateGraph, S: Nodes, T: Nodes | None = None, weight: str | None = None, *, asked: Privacy
) -> float:
    """Noisy cut, at least 0, over the size of the smaller public set."""
    sides = _sides(G, S, T)
    smaller = min(float(side.sum()) for side in sides)
    if smaller == 0:
        raise InvalidParameterError("both sets must hold a vertex; got an empty one")
    return _noisy_cut(G, sides, weight, asked) / smaller


def _counted(weight: str | None, asked: Privacy) -> str | None:
    """The weights that count. The default of networkx, "weight", does only where a bound on them is public."""
    return None if weight == "weight" and asked.arguments(weight)["max_weight"] is None else weight


def _finds_communities(name: str) -> Callable[..., Any]:
    """A function of networkx with its parameters, answered by :func:`dpgraph.private_communities`, which is pure."""
    registered = nx.utils.backends._registered_algorithms.get(name)  # not every networkx has all of them
    theirs = inspect.signature(registered.orig_func) if registered else inspect.Signature()

    def find(*args: Any, asked: Privacy, **kwargs: Any) -> list[Any]:
        given = theirs.bind(*args, **kwargs)
        given.apply_defaults()
        use = given.arguments
        if use.get("cutoff", 1) != 1:
            raise InvalidParameterError(
                f"cutoff must be 1: private communities have no smallest number; got {use['cutoff']!r}"
            )
        if use.get("metric", "modularity") not in ("cpm", "modularity"):  # the first is networkx's default
            raise InvalidParameterError(f'metric must be "cpm" or "modularity"; got {use["metric"]!r}')
        found = private_communities(
            use["G"],
            **asked.arguments(_counted(use.get("weight"), asked)),
            communities="auto" if use.get("best_n") is None else use["best_n"],
            resolution=use.get("resolution", 1.0),
            rng=as_rng(use.get("seed")),
        ).communities
        return [frozenset(community) for community in found] if "best_n" in use else found

    find.__name__, find.__doc__ = name, "Private communities, the largest first."
    find.__signature__ = theirs  # type: ignore[attr-defined]
    return answered_privately(find)


asyn_lpa_communities = _finds_communities("asyn_lpa_communities")
fast_label_propagation_communities = _finds_communities("fast_label_propagation_communities")
greedy_modularity_communities = _finds_communities("greedy_modularity_communities")
label_propagation_communities = _finds_communities("label_propagation_communities")
leiden_communities = _finds_communities("leiden_communities")
louvain_communities = _finds_communities("louvain_communities")


@answered_privately
def modularity(
    G: PrivateGraph,
    communities: Iterable[Nodes],
    weight: str | None = "weight",
    resolution: float = 1,
    *,
    asked: Privacy,
) -> float:
    """Modularity of public communities, from noisy weights between every two and inside each: one release for all."""
    weight, resolution = _counted(weight, asked), check_nonnegative("resolution", resolution)
    groups = group_numbers(G, communities)
    graph, call = opened(G, asked, weight)
    released = release_block_weights(graph, groups, call)
    weights = np.rint(released.value) if weight is None else released.value
    value, _ = modularity_of(BlockWeights.released(weights, released.std), resolution)
    return min(max(value, -resolution), 1.0) if math.isfinite(value) else 0.0


(effective_graph_resistance,) = (refused(name, instead) for name, instead in REFUSED.items())
