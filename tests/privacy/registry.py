"""Every public private function, entered once: how to call it, on which neighbours, and what to look at.

A new function is entered by adding one :class:`Entry` for each of its mechanisms to :data:`ENTRIES`; the replay, the
interface tests and the statistical audit then run on it. ``test_registry.py`` fails while one is missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

import dpgraph
from dpgraph.exceptions import InvalidGraphError
from dpgraph.projections import Box, PSDCone
from dpgraph.sos.csp import TwoCSP
from tests.privacy.enumeration import graph_family

Call = Callable[..., Any]


@dataclass(frozen=True)
class Data:
    """A private input and the public arguments that belong to it."""

    value: Any
    public: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Audit:
    """A scalar statistic of the result that tells a worst-case pair apart.

    Parameters
    ----------
    pair : (Data, Data)
        Neighbours on which the loss is (nearly) the whole budget.
    statistic : callable
        Result -> float.
    options : dict
        Further arguments of the call.
    power : float
        Share of mu (or epsilon) that a large audit certifies: an audit that certifies nothing tests nothing.
    """

    pair: tuple[Data, Data]
    statistic: Callable[[Any], float]
    options: dict[str, Any] = field(default_factory=dict)
    power: float = 0.6


@dataclass(frozen=True)
class Entry:
    """One mechanism of one public function.

    Parameters
    ----------
    function : str
        Name in ``dpgraph``.
    options : dict
        Public arguments that select the mechanism.
    neighbours : callable
        Yields (label, input, neighbour).
    poisoned : Data
        An input that is refused when its private part is read.
    private : str
        Name of the argument that is private.
    pure : bool
        Called without delta.
    audit : Audit or None
        For the statistical audit.
    """

    function: str
    neighbours: Callable[[], Iterator[tuple[str, Data, Data]]]
    poisoned: Data
    options: dict[str, Any] = field(default_factory=dict)
    private: str = "G"
    pure: bool = False
    audit: Audit | None = None

    @property
    def label(self) -> str:
        return ", ".join([self.function, *(f"{k}={v}" for k, v in self.options.items())])

    def call(self, data: Data, *, rng: Any, epsilon: float, **more: Any) -> Any:
        """Call the function; ``delta`` is 1e-6 unless the mechanism is pure."""
        budget = {"epsilon": epsilon} if self.pure else {"epsilon": epsilon, "delta": 1e-6}
        arguments = {self.private: data.value} | data.public | self.options | budget | {"rng": rng} | more
        return getattr(dpgraph, self.function)(**arguments)


# --- graphs ----------------------------------------------------------------------------------------------------


def graph_data(weights: np.ndarray, w: float) -> Data:
    """Unweighted graphs go in through networkx, weighted ones as a matrix."""
    if w == 1.0 and np.isin(weights, (0.0, 1.0)).all():
        return Data(nx.from_numpy_array(weights))
    return Data(weights, {"max_weight": w})


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
            yield f"{name}, pair {i}-{j}", graph_data(weights, w), graph_data(changed, w)


def large_graph_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Planted cuts on which the spectral mechanisms do not halt and take the path of large graphs."""
    for n, seed in ((44, 0), (60, 1)):
        half = n // 2
        graph = nx.stochastic_block_model([half, half], [[0.15, 0.9], [0.9, 0.15]], seed=seed)
        weights = nx.to_numpy_array(graph)
        for i, j in ((0, 1), (0, n - 1)):
            changed = weights.copy()
            changed[i, j] = changed[j, i] = 1.0 - weights[i, j]
            yield f"planted cut, n = {n}, pair {i}-{j}", graph_data(weights, 1.0), graph_data(changed, 1.0)


def all_graph_neighbours() -> Iterator[tuple[str, Data, Data]]:
    yield from graph_neighbours()
    yield from large_graph_neighbours()


def poisoned_graph() -> Data:
    weights = nx.to_numpy_array(nx.path_graph(6))
    weights[0, 1] = weights[1, 0] = np.nan
    return Data(weights, {"max_weight": 1.0})


def edge_pair(n: int = 4) -> tuple[Data, Data]:
    """The empty graph and the graph with one edge: nothing else hides the edge."""
    one = np.zeros((n, n))
    one[0, 1] = one[1, 0] = 1.0
    return graph_data(np.zeros((n, n)), 1.0), graph_data(one, 1.0)


# --- matrices --------------------------------------------------------------------------------------------------


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

    return generate


def poisoned_matrix() -> Data:
    return Data(np.diag([np.nan, 2.0, 1.0, 0.0]), {"sensitivity": 1.0})


# --- constraint problems, tables of records, histograms --------------------------------------------------------


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
            first, second = TwoCSP(n, q), TwoCSP(n, q)
            first.add_constraints(pairs, tables)
            second.add_constraints(pairs[:kept], changed[:kept])
            yield f"{n} variables, {q} labels", Data(first), Data(second)

    return generate


def record_neighbours(*, remove: bool = False, public: dict[str, Any] | None = None) -> Callable[[], Any]:
    """Records of norm at most 1; one is replaced by its opposite corner, or removed."""

    def generate() -> Iterator[tuple[str, Data, Data]]:
        for seed, (n, d) in enumerate([(6, 3), (20, 5), (40, 2)]):
            X = np.random.default_rng(seed).normal(size=(n, d))
            X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
            X[0] = np.eye(d)[0]
            Y = X[1:] if remove else np.vstack([np.eye(d)[1], X[1:]])
            options = dict(public or {}) | ({"n_records": n} if remove else {})
            yield f"{n} records, d = {d}", Data(X, options), Data(Y, options)

    return generate


def bit_neighbours(*, remove: bool = False) -> Iterator[tuple[str, Data, Data]]:
    """0/1 records; one is replaced by its complement, or removed."""
    for seed, (n, d) in enumerate([(12, 4), (60, 5)]):
        X = (np.random.default_rng(seed).random((n, d)) < 0.4).astype(int)
        Y = X[1:] if remove else np.vstack([1 - X[:1], X[1:]])
        yield f"{n} records, {d} bits", Data(X), Data(Y)


def histogram_neighbours(*, replace: bool = False) -> Iterator[tuple[str, Data, Data]]:
    """Histograms that differ in one record."""
    for seed, (d, N) in enumerate([(10, 10), (6, 20)]):
        rng = np.random.default_rng(seed)
        A = np.tril(np.ones((d, N))) if d == N else rng.normal(size=(d, N))
        x = rng.integers(1, 9, N)
        y = x.copy()
        y[0] -= 1
        y[-1] += int(replace)
        yield f"{d} queries, {N} bins", Data(x, {"A": A}), Data(y, {"A": A})


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


def cosine_neighbours() -> Iterator[tuple[str, Data, Data]]:
    """Rows of unit length; one is replaced by its opposite: the Gram matrix moves by 2 in 2(n - 1) entries at most."""
    for n in (3, 8):
        V = np.vstack([np.eye(2)[:1]] * n) + 1e-3 * np.random.default_rng(n).normal(size=(n, 2))
        W = V.copy()
        W[0] = -W[0]
        public = {"sensitivity": float(np.sqrt(8 * (n - 1)))}
        yield f"{n} rows", Data(V, public), Data(W, public)


NAN_ROWS = np.full((3, 2), np.nan)

# --- the entries -----------------------------------------------------------------------------------------------


def _first(result: Any) -> float:
    return float(result.values[0] + result.values[1])


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "private_degrees",
        all_graph_neighbours,
        poisoned_graph(),
        options={"mechanism": "gaussian"},
        audit=Audit(edge_pair(), _first, power=0.8),
    ),
    Entry(
        "private_degrees",
        all_graph_neighbours,
        poisoned_graph(),
        options={"mechanism": "laplace"},
        pure=True,
        audit=Audit(edge_pair(), _first),
    ),
    *(
        Entry("private_normalized_adjacency", all_graph_neighbours, poisoned_graph(), options=options)
        for options in (
            {"mechanism": "coherence"},
            {"mechanism": "coherence", "rank": 2, "coherence": "rank"},
            {"mechanism": "coherence", "rank": 1, "regularization": 5.0},
            {"mechanism": "gaussian", "regularization": 3.0},
        )
    ),
    *(
        Entry("private_max_cut", all_graph_neighbours, poisoned_graph(), options=options)
        for options in (
            {"mechanism": "auto"},
            {"mechanism": "bounded-iterates", "noise": "gaussian"},
            {"mechanism": "bounded-iterates", "noise": "laplace"},
            {"mechanism": "coherence", "on_halt": "fallback"},
            {"mechanism": "coherence", "rank": 1, "regularization": 20.0},
            {"mechanism": "gaussian"},
            {"mechanism": "noisy-power"},
            {"mechanism": "randomized-response"},
        )
    ),
    *(
        Entry("private_max_bisection", all_graph_neighbours, poisoned_graph(), options=options)
        for options in (
            {"mechanism": "bounded-iterates", "noise": "gaussian"},
            {"mechanism": "bounded-iterates", "noise": "laplace"},
            {"mechanism": "coherence", "on_halt": "fallback"},
            {"mechanism": "gaussian"},
            {"mechanism": "noisy-power"},
        )
    ),
    *(
        Entry(
            "private_max_2csp",
            csp_neighbours(adjacency),
            Data(PoisonedCSP(4, 3)),
            options={"adjacency": adjacency} | options,
            private="instance",
        )
        for adjacency, options in (
            ("label-edge", {"mechanism": "auto"}),
            ("constraint", {"noise": "gaussian"}),
            ("label-edge", {"noise": "laplace"}),
            ("constraint", {"noise": "laplace"}),
            ("label-edge", {"mechanism": "coherence"}),
        )
    ),
    Entry("private_spectrum", all_graph_neighbours, poisoned_graph(), options={"k": 1}, private="A"),
    Entry("private_spectrum", matrix_neighbours(), poisoned_matrix(), options={"k": 3}, private="A"),
    Entry("private_spectrum", matrix_neighbours(rectangular=True), poisoned_matrix(), options={"k": 2}, private="A"),
    Entry("private_coherence", matrix_neighbours(), poisoned_matrix(), options={"rank": 2}, private="A"),
    Entry("private_projector", matrix_neighbours(), poisoned_matrix(), options={"rank": "auto"}, private="A"),
    Entry("private_projector", matrix_neighbours(), poisoned_matrix(), options={"rank": 3}, private="A"),
    Entry("private_low_rank", matrix_neighbours(), poisoned_matrix(), options={"rank": 2}, private="A"),
    Entry("private_eigenspace", matrix_neighbours(), poisoned_matrix(), options={"rank": 1}, private="A"),
    Entry(
        "private_eigenspace",
        matrix_neighbours(),
        poisoned_matrix(),
        options={"rank": 1, "which": "smallest"},
        private="A",
    ),
    Entry(
        "private_singular_subspace",
        matrix_neighbours(rectangular=True),
        poisoned_matrix(),
        options={"rank": 2},
        private="A",
    ),
    Entry(
        "perturb_and_project",
        array_neighbours,
        Data(np.diag([np.nan, 1.0]), {"sensitivity": 1.0, "sets": [Box(-1, 1)], "symmetric": True}),
        private="A",
    ),
    Entry("private_cosine_similarities", cosine_neighbours, Data(NAN_ROWS, {"sensitivity": 1.0}), private="V"),
    *(
        Entry(
            "private_covariance",
            record_neighbours(remove=options["adjacency"] == "add-remove"),
            Data(NAN_ROWS, {"n_records": 3}),
            options=options,
            private="X",
            pure=True,
        )
        for options in (
            {"adjacency": "replace"},
            {"adjacency": "add-remove", "project": False},
            {"adjacency": "replace", "mechanism": "nuclear-laplace", "project": False},
        )
    ),
    *(
        Entry(
            "private_marginals",
            partial(bit_neighbours, remove=remove),
            Data(np.full((3, 3), np.nan)),
            options={"k": 2, "adjacency": "add-remove" if remove else "replace"},
            private="data",
        )
        for remove in (False, True)
    ),
    *(
        Entry(
            "private_linear_queries",
            partial(histogram_neighbours, replace=options.get("adjacency") == "replace"),
            Data(np.array([np.nan, 1.0]), {"A": np.eye(2)}),
            options=options,
            private="x",
        )
        for options in (
            {"mechanism": "auto"},
            {"mechanism": "ellipsoid"},
            {"mechanism": "factorization", "adjacency": "replace"},
        )
    ),
)


def public_private_functions() -> set[str]:
    """Names exported by dpgraph that promise privacy."""
    return {name for name in dpgraph.__all__ if name.startswith("private_") or name == "perturb_and_project"}
