"""Private inputs and their neighbours: what the entries of the registry are run on.

A generator of neighbours yields (label, input, neighbour). Inputs come as close to the worst case as is known: the
replay measures which share of the budget each pair really costs, and benchmarks/results/audit.md lists the largest.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
from scipy.linalg import hadamard

from dpgraph.exceptions import InvalidGraphError
from dpgraph.instance import TwoCSP
from dpgraph.projections import Box, PSDCone
from tests.privacy.enumeration import graph_family

Pairs = Iterator[tuple[str, "Data", "Data"]]


@dataclass(frozen=True)
class Data:
    """A private input and the public arguments that belong to it."""

    value: Any
    public: dict[str, Any] = field(default_factory=dict)


@functools.cache
def pairs_of(neighbours: Callable[[], Pairs]) -> tuple[tuple[str, Data, Data], ...]:
    """All pairs of a generator, made once in a process: graphs of networkx take longer to make than many a test.

    Tests may share them, as calls leave their inputs alone (``test_interface.py``).
    """
    return tuple(neighbours())


def graph_data(weights: np.ndarray, w: float) -> Data:
    """Unweighted graphs go in through networkx, weighted ones as a matrix."""
    if w == 1.0 and np.isin(weights, (0.0, 1.0)).all():
        return Data(nx.from_numpy_array(weights))
    return Data(weights, {"max_weight": w})


def graph_sides(weights: np.ndarray, changed: np.ndarray, w: float) -> tuple[Data, Data]:
    """Two neighbours; that a graph has weights is public, so both are matrices where one must be."""
    sides = graph_data(weights, w), graph_data(changed, w)
    if any(side.public for side in sides):
        return Data(weights, {"max_weight": w}), Data(changed, {"max_weight": w})
    return sides


def graph_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Each graph of the family that is small, with two of its neighbours: one pair at an end, one drawn at random."""
    rng = np.random.default_rng(99)
    for name, (weights, w) in graph_family().items():
        n = len(weights)
        if n > 16:
            continue
        pairs = list(itertools.combinations(range(n), 2))
        for i, j in (pairs[0], pairs[rng.integers(len(pairs))]):
            changed = weights.copy()
            changed[i, j] = changed[j, i] = w if weights[i, j] < w / 2 else 0.0
            yield f"{name}, pair {i}-{j}", *graph_sides(weights, changed, w)


def at_one_vertex(edges: int | None) -> Pairs:
    """Graphs of the family that are small, with other edges at one vertex: at so many pairs, or at all of them.

    The pairs of the vertex of most edges are toggled, or all its edges are taken away.
    """
    rng = np.random.default_rng(98)
    for name, (weights, w) in graph_family().items():
        n = len(weights)
        if n > 16:
            continue
        hub = int((weights > 0).sum(axis=1).argmax())
        others = np.delete(np.arange(n), hub)
        toggled, gone = weights.copy(), weights.copy()
        for changed, kind in ((toggled, "toggled"), (gone, "gone")):
            at = others if edges is None else rng.choice(others, min(edges, n - 1), replace=False)
            changed[hub, at] = np.where(weights[hub, at] < w / 2, w, 0.0) if kind == "toggled" else 0.0
            changed[at, hub] = changed[hub, at]
            if not np.array_equal(changed, weights):
                yield f"{name}, vertex {hub} {kind}", *graph_sides(weights, changed, w)


def node_neighbours() -> Pairs:
    """All edges of one vertex are others, where some degrees are above any limit, and on small graphs."""
    star = nx.to_numpy_array(nx.star_graph(300))
    yield "star or nothing", graph_data(star, 1.0), graph_data(0 * star, 1.0)
    uneven = nx.to_numpy_array(nx.barabasi_albert_graph(40, 4, seed=1))
    for kind, edges in (("joined to all", 1.0), ("alone", 0.0)):
        changed = uneven.copy()
        changed[0, 1:] = changed[1:, 0] = edges
        yield f"uneven, vertex 0 {kind}", graph_data(uneven, 1.0), graph_data(changed, 1.0)
    yield from at_one_vertex(None)


def person_neighbours() -> Pairs:
    """Up to three pairs at one vertex differ."""
    yield from at_one_vertex(3)


def tiny_graph_neighbours() -> Pairs:
    """Graphs all of whose cuts can be weighed, and one with a single edge, which nothing else hides."""
    yield "one edge", *edge_pair()
    yield from pairs_of(graph_neighbours)


def unweighted_neighbours() -> Pairs:
    """Graphs without weights, and one whose only edge joins its components, is its matching, and so on."""
    yield "one edge", *edge_pair()
    yield from (pair for pair in pairs_of(graph_neighbours) if not pair[1].public)


def large_graph_neighbours(within: float = 0.15, across: float = 0.9) -> Pairs:
    """Planted cuts (or halves) on which the spectral mechanisms do not halt and take the path of large graphs."""
    for n, seed in ((44, 0), (60, 1)):
        half = n // 2
        graph = nx.stochastic_block_model([half, half], [[within, across], [across, within]], seed=seed)
        yield from _toggled(f"planted, n = {n}", nx.to_numpy_array(graph), (0, 1), (0, n - 1))


def all_graph_neighbours() -> Iterator[tuple[str, Data, Data]]:
    yield from pairs_of(graph_neighbours)
    yield from pairs_of(large_graph_neighbours)


def cuttable_graph_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """In the end bipartite ones, whose cut is far better than chance, so that what looks for one does not halt."""
    yield from all_graph_neighbours()
    yield from _toggled("bipartite", nx.to_numpy_array(nx.complete_bipartite_graph(14, 14)), (0, 1), (0, 14))


def dense_graph_neighbours() -> Pairs:
    """Complete graphs, in which one edge is part of as many subgraphs as can be, and others."""
    for n in (24, 5):
        yield from _toggled(f"complete, n = {n}", 1.0 - np.eye(n), (0, 1))
    yield from pairs_of(graph_neighbours)


def complete_graph_neighbours() -> Pairs:
    """Two complete graphs, dense enough for two sweeps of two labels at a small epsilon, without one edge."""
    for n in (24, 30):
        yield from _three_pairs(f"complete, n = {n}", 1.0 - np.eye(n))


def undecided_neighbours() -> Pairs:
    """Graphs of the size at which the degrees choose the mechanism of an embedding: uneven, few and many of them."""
    n = 400
    for label, graph in (
        ("uneven", nx.complete_bipartite_graph(20, n - 20)),
        ("few", nx.gnp_random_graph(n, 0.03, seed=1)),
        ("even", nx.random_regular_graph(150, n, seed=0)),
    ):
        yield from _three_pairs(f"{label} degrees", nx.to_numpy_array(graph))


def clique_neighbours() -> Pairs:
    """A ring and a clique whose degrees are nearly six times the average: one edge of the clique less."""
    n, clique = 400, 56
    weights = np.zeros((n, n))
    weights[:clique, :clique] = 1.0 - np.eye(clique)
    weights[clique:, clique:] = nx.to_numpy_array(nx.cycle_graph(n - clique))
    yield from _toggled("clique", weights, (0, 1))


def hidden_neighbours() -> Pairs:
    """Graphs whose leading eigenvector lives on a clique that degrees hardly show, and one where they show it."""
    n, clique = 150, 8
    hidden = np.zeros((n, n))
    hidden[:clique, :clique] = 1.0 - np.eye(clique)
    for i in range(clique, 2 * clique + 84, 2):
        hidden[i, i + 1] = hidden[i + 1, i] = 1.0
    yield from _three_pairs("a clique among single edges", hidden)
    yield from _three_pairs("random", nx.to_numpy_array(nx.gnp_random_graph(n, 0.2, seed=1)))


def residual_neighbours() -> Pairs:
    """Graphs so large that an automatic embedding asks whether degrees are close to the vector: they are, and are not.

    The first has two vertices of nearly six average degrees, where degrees are clipped: their edge moves |h|^2 as far
    as it may.
    """
    n, rng = 700, np.random.default_rng(0)
    even = np.triu(rng.random((n, n)) < 0.165, 1).astype(float)
    even[0, 2:642] = even[1, 60:700] = 1.0
    yield from list(_three_pairs("two hubs", even + np.triu(even, 1).T))[:1]
    chance = np.full((n, n), 0.133)
    chance[:150], chance[:, :150] = 0.0, 0.0
    chance[:150, :150] = 0.93
    blocks = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    yield from list(_three_pairs("two communities", blocks + blocks.T))[:1]


def _three_pairs(label: str, weights: np.ndarray) -> Pairs:
    """Neighbours in the pair of the largest degrees, of the smallest, and of one of each."""
    by_degree = np.argsort(-weights.sum(axis=1), kind="stable")
    yield from _toggled(label, weights, by_degree[[0, 1]], by_degree[[0, -1]], by_degree[[-2, -1]])


def _toggled(label: str, weights: np.ndarray, *pairs: Sequence[int]) -> Pairs:
    """A graph without weights, and its neighbour in each of some pairs."""
    for i, j in pairs:
        changed = weights.copy()
        changed[i, j] = changed[j, i] = 1.0 - weights[i, j]
        yield f"{label}, pair {i}-{j}", graph_data(weights, 1.0), graph_data(changed, 1.0)


#: Five vertices that are joined to everything, and many that are joined to them only (and a little to each other):
#: large enough that the noise of the degrees at the epsilon of the audit leaves the hubs inside a core and most of the
#: other vertices outside.
HUBS, VERTICES = 5, 60
#: The differing pair lies inside the core, leaves it, or lies outside.
CORE_PAIRS = {"hub-hub": (0, 1), "hub-leaf": (0, VERTICES - 1), "leaf-leaf": (VERTICES - 2, VERTICES - 1)}


def hub_edges() -> np.ndarray:
    """Pairs {u, v} with u < v of the graph of hubs, none of them a pair of :data:`CORE_PAIRS`, shape (m, 2)."""
    rng = np.random.default_rng(4)
    pairs = itertools.combinations(range(VERTICES), 2)
    edges = [pair for pair in pairs if pair[0] < HUBS or rng.random() < 0.02]
    return np.array([pair for pair in edges if pair not in CORE_PAIRS.values()])


def core_neighbours() -> Pairs:
    """Graphs with a clear core of large degrees: iterates sweep the core, and look at every other vertex once."""
    weights = np.zeros((VERTICES, VERTICES))
    weights[tuple(hub_edges().T)] = 1.0
    weights += weights.T
    for kind, (i, j) in CORE_PAIRS.items():
        changed = weights.copy()
        changed[i, j] = changed[j, i] = 1.0
        yield f"hubs, {kind}", graph_data(weights, 1.0), graph_data(changed, 1.0)


def iterate_neighbours() -> Pairs:
    """What mechanisms with a core are run on; the largest graphs come last."""
    yield from pairs_of(graph_neighbours)
    yield from pairs_of(core_neighbours)
    yield from pairs_of(large_graph_neighbours)


def poisoned_graph() -> Data:
    weights = nx.to_numpy_array(nx.path_graph(6))
    weights[0, 1] = weights[1, 0] = np.nan
    return Data(weights, {"max_weight": 1.0})


def networkx_neighbours(
    sets: str | None = None,
    *,
    inside: bool = False,
    weighted: bool = False,
    graphs: Callable[[], Pairs] = all_graph_neighbours,
    **public: Any,
) -> Callable[[], Pairs]:
    """The same graphs for functions of networkx.

    `sets` names the argument that takes a public vertex set: the even vertices, or the first half with `inside`, so
    that the changed pair 0-1 crosses it or lies in it; "communities" are this set and the rest. `weighted` keeps only
    the weighted graphs and says so.
    """

    def generate() -> Pairs:
        for label, data, neighbour in pairs_of(graphs):
            if isinstance(data.value, np.ndarray) != weighted:
                continue
            n = len(data.value)
            arguments = dict(public)
            if sets is not None:
                chosen = list(range(n // 2) if inside else range(0, n, 2))
                rest = [vertex for vertex in range(n) if vertex not in chosen]
                arguments[sets] = [chosen, rest] if sets in ("communities", "partition") else chosen
            if weighted:
                arguments |= {"weight": "weight"} | data.public
            sides = (
                side.value if isinstance(side.value, nx.Graph) else nx.Graph(side.value) for side in (data, neighbour)
            )
            yield label, *(Data(_with_sides(side), arguments) for side in sides)

    return generate


def _with_sides(G: nx.Graph) -> nx.Graph:
    """The graph with a public attribute of its vertices: even and odd ones."""
    nx.set_node_attributes(G, {v: v % 2 for v in G}, "side")
    return G


class PoisonedGraph(nx.Graph):
    """A graph whose edges cannot be read."""

    @property
    def edges(self) -> Any:
        raise InvalidGraphError("the edges were read")


def poisoned_networkx_graph(**public: Any) -> Data:
    graph = PoisonedGraph()
    graph.add_nodes_from(range(6), side=0)
    return Data(graph, public)


def edge_pair(n: int = 4) -> tuple[Data, Data]:
    """The empty graph and the graph with one edge: nothing else hides the edge."""
    one = np.zeros((n, n))
    one[0, 1] = one[1, 0] = 1.0
    return graph_data(np.zeros((n, n)), 1.0), graph_data(one, 1.0)


def matrix_neighbours(*, rectangular: bool = False) -> Callable[[], Any]:
    """Low-rank matrices with clear gaps; the change has row-l1 norm exactly 1, the declared sensitivity."""

    def generate() -> Iterator[tuple[str, Data, Data]]:
        for seed, n in itertools.product(range(3), (8, 24, 44)):
            rng = np.random.default_rng(seed)
            m = n + 3 if rectangular else n
            bases = [np.linalg.qr(rng.normal(size=(size, 3)))[0] for size in (n, m)]
            if seed == 0:  # the leading singular vectors are the first unit vectors, and the change adds to them
                bases = [np.linalg.qr(np.hstack([np.eye(len(B))[:, :1], B]))[0][:, :3] for B in bases]
            U, V = bases
            values = np.array([400.0, 300.0, 150.0]) * (1 if rectangular else np.array([1, -1, 1]))
            A = (U * values) @ (V if rectangular else U).T
            E = np.zeros_like(A)
            if rectangular or seed == 0:
                E[0, int(seed > 0)] = 1.0
            else:
                E[0, 1] = E[1, 0] = 1 / np.sqrt(2)
            public = {"sensitivity": 1.0}
            yield f"rank 3, n = {n}, seed {seed}", Data(A, public), Data(A + E, public)
            if seed == 0 and n == 44 and not rectangular:
                yield from flat_rows()

    return generate


def flat_rows() -> Pairs:
    """Rows of one length, and values as small as the gap: the change adds to one row all that it can."""
    for rank in (2, 1, 3):
        U = hadamard(16)[:, :rank] / 4
        A = (U * (100.0 + 10.0 * np.arange(rank))) @ U.T
        E = np.zeros_like(A)
        E[0, 0] = 1.0
        yield f"flat vectors of rank {rank}", *(Data(matrix, {"sensitivity": 1.0}) for matrix in (A, A + E))


def flat_matrix_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Both singular vectors are flat, and the change turns both as far as its declared size allows."""
    n = 16
    ones, signs = np.ones(n), np.repeat([1.0, -1.0], n // 2)
    A = 2000 * np.outer(ones, ones) / n
    E = (np.outer(ones, signs) + np.outer(signs, ones)) / n**1.5
    yield "flat vectors", *(Data(matrix, {"sensitivity": 1.0}) for matrix in (A, A + E))


def poisoned_matrix() -> Data:
    return Data(np.diag([np.nan, 2.0, 1.0, 0.0]), {"sensitivity": 1.0})


class PoisonedCSP(TwoCSP):
    """An instance whose constraints cannot be read."""

    @property
    def tables(self) -> np.ndarray:
        raise InvalidGraphError("the constraints were read")


def csp_neighbours(adjacency: str) -> Callable[[], Iterator[tuple[str, Data, Data]]]:
    """Random instances; neighbours differ in one entry, or in a whole table (replaced, removed)."""

    def generate() -> Iterator[tuple[str, Data, Data]]:
        rng = np.random.default_rng(5)
        for n, q in ((5, 2), (8, 3), (10, 4)):
            pairs = np.array([pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.6])
            tables = rng.integers(0, 2, (len(pairs), q, q)).astype(float)
            changed = tables.copy()
            if adjacency == "label-edge":
                changed[0, 0, 0] = 1 - tables[0, 0, 0]
                kept = len(pairs)
            else:
                changed[0] = 1 - tables[0]
                kept = len(pairs) - (q == 3)  # for q = 3 the last constraint is removed instead
                changed = tables.copy() if q == 3 else changed
            yield f"{n} variables, {q} labels", instance(n, pairs, tables), instance(n, pairs[:kept], changed[:kept])
        # Nothing else hides the one entry (or table) that is there or not.
        alone = np.zeros((1, 2, 2))
        alone[0, 0, 0] = 1.0
        alone = alone if adjacency == "label-edge" else np.ones((1, 2, 2))
        yield "nothing, or one above the bound", instance(6, pairs[:0], alone[:0]), instance(6, pairs[:1], 9 * alone)
        yield "nothing, or one constraint", instance(6, pairs[:0], alone[:0]), instance(6, pairs[:1], alone)
        for label, kind in CORE_PAIRS.items():
            pairs = np.vstack([hub_edges(), [kind]])
            tables = np.broadcast_to(1.0 - np.eye(2), (len(pairs), 2, 2)).copy()
            tables[-1, 1, 0] = float(adjacency == "constraint")
            yield f"hubs, {label}", instance(VERTICES, pairs[:-1], tables[:-1]), instance(VERTICES, pairs, tables)
        # Every pair should be equal: two large eigenvalues and nothing else, and an answer that is better than chance,
        # so that the spectral mechanism does not halt.
        n, pairs = 20, np.array(list(itertools.combinations(range(20), 2)))
        tables = np.broadcast_to(np.eye(2), (len(pairs), 2, 2)).copy()
        changed = tables.copy()
        changed[0] = [[0, 0], [0, 1]] if adjacency == "label-edge" else 0.0
        yield f"{n} variables that should be equal", instance(n, pairs, tables), instance(n, pairs, changed)

    return generate


def edge_csp_neighbours() -> Pairs:
    """Instances of a public relation; neighbours differ in the weight of one pair."""
    rng = np.random.default_rng(6)
    share = np.array([[1.0, 0.25], [0.25, 0.5]])
    for n, relation in ((6, share), (9, 1.0 - np.eye(3))):
        pairs = np.array([pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.6])
        weights = rng.random(len(pairs))
        for k in (0, len(pairs) - 1):
            changed = weights.copy()
            changed[k] = 9.0 * float(weights[k] < 0.5)  # that is above the bound
            both = (instance(n, pairs, w[:, None, None] * relation, {"relation": relation}) for w in (weights, changed))
            yield f"{n} variables, pair {k}", *both
    differ = np.ones((1, 1, 1)) - np.eye(3)
    alone = np.array([[0, 1]])
    yield "nothing, or one pair", instance(6, alone, 0.0 * differ), instance(6, alone, differ)
    edges = hub_edges()
    for label, kind in CORE_PAIRS.items():
        pairs = np.vstack([edges, [kind]])
        tables = np.broadcast_to(differ, (len(pairs), 3, 3))
        yield f"pair {label}", instance(VERTICES, edges, tables[:-1]), instance(VERTICES, pairs, tables)


def instance(n: int, pairs: np.ndarray, tables: np.ndarray, public: dict[str, Any] | None = None) -> Data:
    csp = TwoCSP(n, tables.shape[1])
    csp.add_constraints(pairs, tables)
    return Data(csp, public or {})


def record_neighbours(
    *, remove: bool = False, public: dict[str, Any] | None = None, counted: bool = True
) -> Callable[[], Any]:
    """Records of norm at most 1; one is replaced by an orthogonal one, or by zero (the trace moves), or removed.

    The normaliser is given if `counted`.
    """

    def generate() -> Iterator[tuple[str, Data, Data]]:
        for seed, (n, d) in enumerate([(6, 3), (20, 5), (40, 2)]):
            X = np.random.default_rng(seed).normal(size=(n, d))
            X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
            X[0] = np.eye(d)[0]
            Y = X[1:] if remove else np.vstack([np.eye(d)[1] * (d > 2), X[1:]])
            options = dict(public or {}) | ({"n_records": n} if remove and counted else {})
            yield f"{n} records, d = {d}", Data(X, options), Data(Y, options)

    return generate


def bit_neighbours(*, remove: bool = False) -> Iterator[tuple[str, Data, Data]]:
    """0/1 records; one is replaced by its complement, or removed."""
    for seed, (n, d) in enumerate([(12, 4), (60, 5)]):
        X = (np.random.default_rng(seed).random((n, d)) < 0.4).astype(int)
        Y = X[1:] if remove else np.vstack([1 - X[:1], X[1:]])
        yield f"{n} records, {d} bits", Data(X), Data(Y)


def histogram_neighbours(
    *, replace: bool = False, shapes: Sequence[tuple[int, int]] = ((10, 10), (6, 20)), removed: int = 0
) -> Iterator[tuple[str, Data, Data]]:
    """Histograms that differ in one record, of type `removed`; square queries are prefix sums."""
    for seed, (d, N) in enumerate(shapes):
        rng = np.random.default_rng(seed)
        A = np.tril(np.ones((d, N))) if d == N else rng.normal(size=(d, N))
        x = rng.integers(1, 9, N)
        # Prefix sums move most between the ends; other queries between columns that are found by trying all pairs.
        ends = (removed, N - 1) if d == N or not replace else _furthest(A)
        y = x.copy()
        y[ends[0]] -= 1
        y[ends[1]] += int(replace)
        yield f"{d} queries, {N} bins", Data(x, {"A": A}), Data(y, {"A": A})


def _furthest(A: np.ndarray) -> tuple[int, int]:
    """The two columns of A that are furthest apart."""
    return max(
        itertools.combinations(range(A.shape[1]), 2), key=lambda p: float(np.linalg.norm(A[:, p[0]] - A[:, p[1]]))
    )


def array_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Symmetric arrays at Frobenius distance 1."""
    for n in (3, 10):
        A = np.random.default_rng(n).normal(size=(n, n))
        A = (A + A.T) / 2
        E = np.zeros((n, n))
        E[0, 0] = 1.0
        sets = [PSDCone(), Box(-2, 2)]
        public = {"sensitivity": 1.0, "sets": sets, "symmetric": True}
        yield f"n = {n}", Data(A, public), Data(A + E, public)


def nuclear_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Symmetric matrices at nuclear distance 1: a change of rank 1, and one of rank 2."""
    for n in (1, 3, 7):
        A = np.random.default_rng(n).normal(size=(n, n))
        A = (A + A.T) / 2
        E = np.zeros((n, n))
        E[0, 0] = 1.0 if n < 7 else 0.5
        E[-1, -1] -= 0.5 * (n == 7)
        yield f"n = {n}", Data(A, {"sensitivity": 1.0}), Data(A + E, {"sensitivity": 1.0})


def cosine_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Rows of unit length; one is replaced by its opposite: the Gram matrix moves by 2 in 2(n - 1) entries at most."""
    for n in (3, 8):
        V = np.vstack([np.eye(2)[:1]] * n) + 1e-3 * np.random.default_rng(n).normal(size=(n, 2))
        W = V.copy()
        W[0] = -W[0]
        public = {"sensitivity": float(np.sqrt(8 * (n - 1)))}
        yield f"{n} rows", Data(V, public), Data(W, public)


NAN_ROWS = np.full((3, 2), np.nan)
