"""Every public private function, entered once: how to call it, on which neighbours, and what to look at.

A new function is entered by adding one :class:`Entry` for each of its mechanisms to :data:`ENTRIES`; the replay, the
interface tests and the statistical audit then run on it. ``test_registry.py`` fails while one is missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np

import dpgraph
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
    pure : bool
        Called with delta=None.
    audit : Audit or None
        For the statistical audit.
    """

    function: str
    neighbours: Callable[[], Iterator[tuple[str, Data, Data]]]
    poisoned: Data
    options: dict[str, Any] = field(default_factory=dict)
    pure: bool = False
    audit: Audit | None = None

    @property
    def label(self) -> str:
        return ", ".join([self.function, *(f"{k}={v}" for k, v in self.options.items())])

    def call(self, data: Data, *, rng: Any, epsilon: float, delta: float | None = 1e-6, **more: Any) -> Any:
        function = getattr(dpgraph, self.function)
        return function(data.value, **data.public, **self.options, **more, rng=rng, epsilon=epsilon, delta=delta)


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
    for n, seed in ((60, 0), (90, 1)):
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
        for seed, n in itertools.product(range(3), (8, 30, 60)):
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
            {"mechanism": "bounded-iterates"},
            {"mechanism": "coherence", "on_halt": "fallback"},
            {"mechanism": "coherence", "rank": 1, "regularization": 20.0},
            {"mechanism": "gaussian"},
            {"mechanism": "noisy-power"},
            {"mechanism": "randomized-response"},
        )
    ),
    Entry("private_spectrum", all_graph_neighbours, poisoned_graph(), options={"k": 1}),
    Entry("private_spectrum", matrix_neighbours(), poisoned_matrix(), options={"k": 3}),
    Entry("private_spectrum", matrix_neighbours(rectangular=True), poisoned_matrix(), options={"k": 2}),
    Entry("private_coherence", matrix_neighbours(), poisoned_matrix(), options={"rank": 2}),
    Entry("private_projector", matrix_neighbours(), poisoned_matrix(), options={"rank": "auto"}),
    Entry("private_projector", matrix_neighbours(), poisoned_matrix(), options={"rank": 3}),
    Entry("private_low_rank", matrix_neighbours(), poisoned_matrix(), options={"rank": 2}),
    Entry("private_eigenspace", matrix_neighbours(), poisoned_matrix(), options={"rank": 1}),
    Entry("private_eigenspace", matrix_neighbours(), poisoned_matrix(), options={"rank": 1, "which": "smallest"}),
    Entry("private_singular_subspace", matrix_neighbours(rectangular=True), poisoned_matrix(), options={"rank": 2}),
)


def public_private_functions() -> set[str]:
    """Names exported by dpgraph that promise privacy."""
    return {name for name in dpgraph.__all__ if name.startswith("private_") or name == "perturb_and_project"}
