"""The cases of :mod:`tests.frozen`: inputs, entries, and what an entry calls.

An entry names a public function, an input and options in the spelling of the day it was frozen. Its label is made of
those and does not change. Where the package changes a spelling, :func:`call_of` alone translates.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import itertools
import os
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from dpgraph import datasets, evaluate, linear_queries, plot, projections, sos, spectral
from tests.spelling import spelled


@dataclass(frozen=True)
class Case:
    """One call: a public function (or a recipe of this file) on a named input.

    Parameters
    ----------
    function : str
        A public private function, ``"networkx f"``, ``"command line"``, or the name of a recipe.
    input : str
        Name of the input in :data:`INPUTS`.
    options : dict
        Options as they were spelled when this was frozen.
    epsilon, delta, seed
        Arguments of private functions; None is not passed.
    quick : bool
        Whether it belongs to the quick test.
    """

    function: str
    input: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    epsilon: float | None = None
    delta: float | None = None
    seed: int | None = None
    quick: bool = False

    @property
    def label(self) -> str:
        words = [f"{name}={value}" for name, value in self.options.items()]
        for name in ("epsilon", "delta", "seed"):
            if getattr(self, name) is not None:
                words.append(f"{name}={getattr(self, name):g}")
        return " ".join([f"{self.function}({self.input})", *words])


def call_of(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Function, positional and keyword arguments of a case: the one place that knows how options are spelled."""
    budget = {name: getattr(case, name) for name in ("epsilon", "delta") if getattr(case, name) is not None}
    if case.function in RECIPES:
        seed = {"rng": case.seed} if case.seed is not None else {}
        return RECIPES[case.function], (INPUTS[case.input](),) if case.input else (), case.options | budget | seed
    value, public = _split(INPUTS[case.input]())
    if case.function.startswith("networkx "):
        return networkx_answer, (case.function.split()[1], value), public | case.options | budget | {"seed": case.seed}
    function = getattr(dpgraph, case.function)
    arguments = value if isinstance(value, tuple) else (value,)
    given = public | case.options | budget | {"rng": case.seed}
    if case.function == "private_normalized_adjacency":
        given = {"mechanism": "coherence"} | given  # was the default
        if given["mechanism"] == "gaussian":
            given.pop("denoise", None)  # was not read
    given.pop("noise", None)  # was an option of bounded iterates
    return function, arguments, spelled(function, given)


# --- inputs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class With:
    """An input and the public arguments that belong to it."""

    value: Any
    public: dict[str, Any]


def _split(value: Any) -> tuple[Any, dict[str, Any]]:
    return (value.value, dict(value.public)) if isinstance(value, With) else (value, {})


def planted(n: int, degree: float, correlation: float, seed: int) -> nx.Graph:
    return datasets.planted_cut(n, degree, correlation, rng=seed)


def random_graph(n: int, p: float, seed: int) -> nx.Graph:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < p, 1)
    return nx.from_numpy_array((upper | upper.T).astype(float))


def hubs(n: int, centres: int, p: float, seed: int = 4) -> nx.Graph:
    """A few vertices joined to all others, which are joined a little."""
    graph = random_graph(n, p, seed)
    graph.add_edges_from((hub, v) for hub in range(centres) for v in range(n) if v != hub)
    return graph


def heavy_tailed(n: int, mean: float, seed: int) -> nx.Graph:
    """Independent edges whose expected degrees follow a power law."""
    worth = (np.arange(n) + 5.0) ** -0.7
    worth *= np.sqrt(mean * n) / worth.sum()
    chance = np.minimum(np.outer(worth, worth), 1.0)
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < chance, 1)
    return nx.from_numpy_array((upper | upper.T).astype(float))


def clique_among_edges() -> nx.Graph:
    graph = nx.complete_graph(8)
    graph.add_nodes_from(range(150))
    graph.add_edges_from((i, i + 1) for i in range(8, 100, 2))
    return graph


def labelled() -> nx.Graph:
    return nx.relabel_nodes(planted(30, 9, -0.8, 5), lambda v: f"v{v}" if v % 2 else ("pair", v))


def weighted(n: int = 80, degree: float = 30, seed: int = 6) -> With:
    graph, rng = planted(n, degree, -0.7, seed), np.random.default_rng(seed)
    for _, _, data in graph.edges(data=True):
        data["strength"] = float(rng.random() * 3)
    return With(graph, {"weight": "strength", "max_weight": 2.5})


def weight_matrix(n: int, degree: float, *, kind: Callable[[Any], Any] = np.asarray) -> With:
    data = weighted(n, degree)
    return With(kind(nx.to_numpy_array(data.value, weight="strength")), {"max_weight": 2.5})


def low_rank(n: int, m: int | None = None, seed: int = 0, *, noise: float = 0.0, scale: float = 1.0) -> With:
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(size, 3)))[0] for size in (n, m or n))
    values = scale * np.array([400.0, -300.0, 150.0])
    A = (U * np.abs(values)) @ V.T if m else (U * values) @ U.T
    E = noise * rng.normal(size=A.shape)
    return With(A + (E if m else (E + E.T) / 2), {"sensitivity": 1.0})


def csp(n: int, q: int, seed: int, share: float = 0.6) -> dpgraph.TwoCSP:
    rng = np.random.default_rng(seed)
    pairs = np.array([pair for pair in itertools.combinations(range(n), 2) if rng.random() < share])
    return instance(n, pairs, rng.integers(0, 2, (len(pairs), q, q)).astype(float))


def instance(n: int, pairs: np.ndarray, tables: np.ndarray) -> dpgraph.TwoCSP:
    made = dpgraph.TwoCSP(n, tables.shape[1])
    made.add_constraints(pairs, tables)
    return made


def relation_csp(n: int, relation: Any, seed: int, degree: float = 8.0, *, weights: bool = True) -> With:
    """Every constraint is a weight times one public relation."""
    rng = np.random.default_rng(seed)
    pairs = np.array([pair for pair in itertools.combinations(range(n), 2) if rng.random() < degree / n])
    worth = rng.random(len(pairs)) if weights else np.ones(len(pairs))
    return With(instance(n, pairs, worth[:, None, None] * np.asarray(relation)), {"relation": np.asarray(relation)})


def differ(n: int, q: int) -> dpgraph.TwoCSP:
    """Every pair must differ."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    return instance(n, pairs, np.broadcast_to(1.0 - np.eye(q), (len(pairs), q, q)).copy())


def planted_differ(n: int, degree: float, q: int = 2) -> dpgraph.TwoCSP:
    graph = planted(n, degree, -0.9, 8)
    pairs = np.array(sorted(tuple(sorted(edge)) for edge in graph.edges))
    return instance(n, pairs, np.broadcast_to(1.0 - np.eye(q), (len(pairs), q, q)).copy())


def with_unary() -> dpgraph.TwoCSP:
    made = dpgraph.TwoCSP(["a", "b", "c", "d"], ["red", "green", "blue"])
    for u, v in ("ab", "bc", "cd", "da", "ac"):
        made.add_constraint(u, v, 1.0 - np.eye(3), weight=1.5)
    made.add_unary("a", [1.0, 0.0, 0.25], weight=2.0)
    return made


def records(n: int, d: int, seed: int = 3) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.geomspace(1, 0.1, d)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)


def bits(n: int, d: int, seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((n, d)) < 0.2 + 0.6 * rng.random((n, 1))).astype(int)


def histogram(d: int, N: int, *, prefix: bool, high: int = 9, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = np.tril(np.ones((d, N))) if prefix else rng.normal(size=(d, N))
    return A, rng.integers(0, high, N)


def symmetric(n: int, seed: int, scale: float = 1.0) -> np.ndarray:
    A = np.random.default_rng(seed).normal(size=(n, n)) * scale
    return (A + A.T) / 2


SHARE = [[1.0, 0.25], [0.25, 0.5]]

_RECIPES_OF_INPUTS: dict[str, Callable[[], Any]] = {
    # graphs
    "five-cycle": lambda: datasets.load("five-cycle", download=False),
    "planted-cut": lambda: datasets.load("planted-cut", download=False),
    "planted-bisection": lambda: datasets.load("planted-bisection", download=False),
    "planted 16": lambda: planted(16, 6, -0.8, 1),
    "planted 24": lambda: planted(24, 9, -0.8, 1),
    "planted 45": lambda: planted(45, 22, -0.9, 1),
    "halves 60": lambda: datasets.planted_bisection(60, 28, 0.8, rng=2),
    "sparse 600": lambda: planted(600, 4, -0.9, 2),
    "sparse 500": lambda: planted(500, 1.5, -0.9, 3),
    "middle 400": lambda: planted(400, 12, -0.8, 3),
    "even 2600": lambda: planted(2600, 40, -0.6, 4),
    "sparse 5200": lambda: datasets.planted_cut_sparse(5200, 4, -0.9, rng=1)[0],
    "random 120": lambda: random_graph(120, 0.5, 3),
    "regular 400": lambda: nx.random_regular_graph(150, 400, seed=0),
    "few 400": lambda: random_graph(400, 0.03, 1),
    "uneven 400": lambda: nx.complete_bipartite_graph(20, 380),
    "hubs 60": lambda: hubs(60, 5, 0.02),
    "hubs 500": lambda: hubs(500, 8, 0.004),
    "heavy 800": lambda: heavy_tailed(800, 12, 7),
    "heavy 1500": lambda: heavy_tailed(1500, 40, 7),
    "clique 150": clique_among_edges,
    "star 30": lambda: nx.star_graph(29),
    "no edges": lambda: nx.empty_graph(30),
    "labelled 30": labelled,
    "weighted 80": weighted,
    "weighted 300": lambda: weighted(300, 60, 9),
    "weights array 40": lambda: weight_matrix(40, 15),
    "weights sparse 80": lambda: weight_matrix(80, 30, kind=sparse.csr_array),
    "igraph 45": lambda: _as_igraph(planted(45, 22, -0.9, 1)),
    "signed 12": lambda: nx.from_numpy_array(np.round(symmetric(12, 5), 2) * (1 - np.eye(12))),
    # matrices
    "low rank 24": lambda: low_rank(24),
    "low rank 200": lambda: low_rank(200, seed=1, noise=0.02, scale=2.0),
    "flat 30": lambda: With(symmetric(30, 3), {"sensitivity": 1.0}),
    "wide 24": lambda: low_rank(24, 27),
    "wide 60": lambda: low_rank(60, 90, seed=2, noise=0.05),
    "symmetric 3": lambda: symmetric(3, 3),
    "symmetric 10": lambda: symmetric(10, 10),
    "symmetric 40": lambda: symmetric(40, 4, 0.6),
    "rectangle": lambda: np.random.default_rng(8).normal(size=(7, 5)),
    "unit rows 8": lambda: unit_rows(8, 3),
    "unit rows 60": lambda: unit_rows(60, 5),
    # constraint problems
    "csp 8": lambda: csp(8, 3, 5),
    "csp 40": lambda: csp(40, 3, 6, 0.3),
    "unique games 60": lambda: datasets.planted_csp(60, 10, 3, 0.9, rng=5),
    "unique games 12": lambda: datasets.planted_csp(12, 5, 3, 0.9, rng=6),
    "unique games 200": lambda: datasets.planted_csp(200, 30, 3, 0.95, rng=6),
    "differ 24": lambda: differ(24, 2),
    "differ 90": lambda: differ(90, 2),
    "differ 200": lambda: planted_differ(200, 25),
    "differ 300 of 4": lambda: planted_differ(300, 40, 4),
    "unary": with_unary,
    "share 9": lambda: relation_csp(9, SHARE, 6, 5.0),
    "share 200": lambda: relation_csp(200, SHARE, 7, 20.0),
    "share 200 unweighted": lambda: relation_csp(200, SHARE, 7, 20.0, weights=False),
    "colours 9": lambda: relation_csp(9, 1.0 - np.eye(3), 6, 5.0),
    "colours 300": lambda: relation_csp(300, 1.0 - np.eye(3), 8, 30.0, weights=False),
    # tables
    "records 40": lambda: records(40, 4),
    "records 500": lambda: records(500, 12),
    "bits 60": lambda: bits(60, 5),
    "bits 400": lambda: bits(400, 7),
    "mixed table": lambda: np.column_stack([np.random.default_rng(4).integers(0, 3, 80), bits(80, 3)]),
    "prefix 10": lambda: histogram(10, 10, prefix=True),
    "prefix 64": lambda: histogram(64, 64, prefix=True, high=40),
    "queries 6x20": lambda: histogram(6, 20, prefix=False),
    "queries 40x30": lambda: histogram(40, 30, prefix=False, high=3),
}
INPUTS = {name: functools.cache(make) for name, make in _RECIPES_OF_INPUTS.items()}


def unit_rows(n: int, m: int) -> With:
    V = np.random.default_rng(n).normal(size=(n, m))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    return With(V, {"sensitivity": float(np.sqrt(8 * (n - 1)))})


def _as_igraph(graph: nx.Graph) -> Any:
    import igraph

    return igraph.Graph.TupleList(sorted(graph.edges), directed=False)


# --- recipes: what is not one call of a private function -------------------------------------------------------------


def networkx_answer(name: str, graph: nx.Graph, *, seed: int | None, **options: Any) -> Any:
    """An answer of the backend and its ledger; the ledger alone where networkx offers no seed."""
    accountant = dpgraph.PrivacyAccountant(epsilon=1e6, delta=0.5)
    function = nx.approximation.one_exchange if name == "one_exchange" else getattr(nx, name, None)
    if name == "randomized_partitioning":
        function = nx.approximation.randomized_partitioning
    elif name == "spectral_bisection":
        function = nx.spectral_bisection
    seeded = {} if seed is None else {"seed": seed}
    value = function(graph, backend="dpgraph", accountant=accountant, **options, **seeded)
    return {"value": value if seeded else type(value).__name__, "report": accountant.report()}


def bipartite_density(graph: nx.Graph, **budget: float) -> Any:
    accountant = dpgraph.PrivacyAccountant(epsilon=1e6, delta=0.5)
    nx.bipartite.density(graph, None, backend="dpgraph", accountant=accountant, **budget)
    return accountant.report()


def embedding(graph: Any, **options: Any) -> Any:
    """What a private adjacency offers beyond its fields."""
    value, public = _split(graph)
    found = dpgraph.private_normalized_adjacency(value, **public, **options)
    return {
        "matrix": found.matrix(),
        "embedding": found.embedding(),
        "product": found.linear_operator() @ np.arange(len(found.nodes), dtype=float),
        "adjacency product": found.adjacency_operator() @ np.ones(len(found.nodes)),
        "graph": found.to_networkx(threshold=0.5),
    }


def synthetic(graph: Any, **options: Any) -> Any:
    """A model and what it draws."""
    value, public = _split(graph)
    model = dpgraph.private_synthetic_graph(value, **public, **options)
    return {"model": model, "sample": model.sample(rng=3), "communities": model.communities}


def fitted(data: Any, estimator: str, **options: Any) -> Any:
    """What an estimator of scikit-learn has learnt."""
    value, public = _split(data)
    options["random_state"] = options.pop("rng")
    if estimator == "PrivatePCA":
        options["max_norm"] = 1.0
    made = getattr(importlib.import_module("dpgraph.sklearn"), estimator)(**public, **options).fit(value)
    learnt = {name: found for name, found in vars(made).items() if name.endswith("_") and not name.startswith("_")}
    return learnt if estimator == "PrivateCommunities" else learnt | {"transformed": made.transform(value)}


def tables(data: np.ndarray, **options: Any) -> Any:
    found = dpgraph.private_marginals(data, 2, **options)
    return {
        "tables": list(found.tables().items()),
        "parity": found.parity([0, 1]),
        "conjunction": found.conjunction([0]),
    }


def accounting(rng: int) -> Any:
    """Two calls and a refusal under one accountant."""
    graph = INPUTS["planted 24"]()
    with dpgraph.PrivacyAccountant(epsilon=2.0, delta=1e-5) as accountant:
        dpgraph.private_degrees(graph, epsilon=1.0, delta=1e-6, rng=rng)
        dpgraph.private_max_cut(graph, epsilon=0.5, delta=1e-6, rng=rng + 1000)  # a seed is taken once
        try:
            dpgraph.private_degrees(graph, epsilon=1.5, delta=1e-6, rng=rng + 2000)
        except dpgraph.BudgetExceededError as error:
            refusal: Any = error
    return {
        "refusal": refusal,
        "report": accountant.report(),
        "spent": _pair(accountant.spent),
        "remaining": _pair(accountant.remaining),
        "repr": repr(accountant),
    }


def _pair(budget: Any) -> Any:
    return [budget.epsilon, budget.delta]


def formulas() -> Any:
    privacy, grid = dpgraph.privacy, (0.01, 0.3, 1.0, 4.0, 16.0)
    deltas = (1e-12, 1e-6, 0.1)
    return {
        "scale": [dpgraph.gaussian_scale(s, epsilon=e, delta=d) for s in (0.5, 3.0) for e in grid for d in deltas],
        "mu": [privacy.gdp_mu(e, d) for e in grid for d in deltas],
        "delta": [privacy.gdp_delta(m, e) for m in grid for e in grid],
        "epsilon": [privacy.gdp_epsilon(m, d) for m in grid for d in deltas],
        "pure": [privacy.pure_dp_mu(e) for e in grid],
        "cosine row": [dpgraph.cosine_sensitivity.row_sensitivity(10, nonnegative=b) for b in (False, True)],
        "cosine flips": dpgraph.cosine_sensitivity.sign_flip_sensitivity(10, 6, 2),
    }


def planning(**options: Any) -> Any:
    made = dpgraph.plan(**options)
    ledgers = ["; ".join(f"{e.name} {e.mechanism} {float(e.scale).hex()}" for e in m.ledger) for m in made.mechanisms]
    return {"table": made.table(), "ledgers": ledgers, "automatic": made.automatic, "recommended": made.recommended}


def exact(name: str) -> Callable[..., Any]:
    def solve(value: Any, **options: Any) -> Any:
        value, public = _split(value)
        public = {"weight": public["weight"]} if "weight" in public else {}
        return getattr(dpgraph, name)(value, **public, **options)

    return solve


def lasserre(value: Any, degree: int = 2, **options: Any) -> Any:
    pd = sos.lasserre(value, degree, **options)
    first, labels = value.variables[0], value.alphabet
    pair = [(variable, labels[0]) for variable in value.variables[:2]]
    return {
        "value": pd.value,
        "bound": pd.upper_bound,
        "marginals": pd.marginals(),
        "covariance": pd.covariance(),
        "repr": repr(pd),
        "expectation": pd.expectation(pair),
        "marginal": pd.marginal(first),
        "global": sos.global_correlation(pd),
        "local": sos.local_correlation(pd, value.label_extended_graph()),
        "rounded": sos.independent_rounding(pd, rng=3),
        "conditioned": pd.condition(first, labels[0]).marginals() if degree > 2 else None,
    }


def measured(value: Any) -> Any:
    """The exact quantities of a graph."""
    graph, public = _split(value)
    weight = {"weight": public["weight"]} if "weight" in public else {}
    nodes = list(graph.nodes)
    sides = set(nodes[: len(nodes) // 2]), set(nodes[len(nodes) // 2 :])
    A = nx.to_numpy_array(graph, weight=weight.get("weight"))
    return {
        "cut": evaluate.cut_value(graph, sides, **weight),
        "fraction": evaluate.cut_fraction(graph, sides, **weight),
        "coherence": spectral.coherence(A, 2),
        "basic": spectral.basic_coherence(A),
        "corrected": spectral.degree_corrected_coherence(graph, 2, 3.0, **weight),
        "rank": [
            spectral.threshold_rank(A, t, order=o) for t in (1.0, 5.0) for o in ("absolute", "largest", "smallest")
        ],
    }


def instance_facts(value: Any) -> Any:
    made, _ = _split(value)
    labels, variables = list(made.alphabet), list(made.variables)
    assignment = {variable: labels[i % len(labels)] for i, variable in enumerate(variables)}
    return {
        "instance": made,
        "value": evaluate.csp_value(made, assignment),
        "graph": made.label_extended_graph(),
        "total": made.total_weight,
        "repr": repr(made),
    }


def from_networkx(graph: Any, **options: Any) -> Any:
    value, _ = _split(graph)
    return dpgraph.TwoCSP.from_networkx(value, **options)


def l1_hulls(A: Any, **options: Any) -> Any:
    """Projections onto l1 hulls."""
    one = projections.project_l1_hull(A[0], np.vstack([A[1:], np.eye(A.shape[1])]).T, 0.7)
    return {"function": one, "set": projections.L1Hull(np.eye(A.shape[1])).project(A[0])}


def projection(A: Any, **options: Any) -> Any:
    """All other projections of one matrix."""
    p, n = projections, len(A)

    def diagonal(lower: float, upper: float) -> Any:
        return p.Box(np.where(np.eye(n), lower, -np.inf), np.where(np.eye(n), upper, np.inf))

    square = {
        "psd": lambda: p.project_psd(A),
        "psd trace": lambda: p.project_psd_trace(A, 2.0),
        "shrunken": lambda: p.shrink_psd_trace(A, 2.0, std=0.3),
        "elliptope": lambda: p.project_elliptope(A),
        "elliptope, unit": lambda: p.project_elliptope(A, unit_diagonal=True),
        "nonnegative ball": lambda: p.project_nonnegative_spectral_ball(A, 1.5),
        "frobenius": lambda: p.project_nonnegative_spectral_ball(A, 1.5, norm="frobenius", zero_diagonal=True),
        "bounded": lambda: p.project_nonnegative_spectral_ball(A, 1.0, upper=np.full((n, n), 0.4)),
        "dykstra": lambda: p.dykstra(A, [p.PSDCone(), p.Box(-1, 1), diagonal(1.0, 1.0)]),
        "dykstra, more sets": lambda: p.dykstra(A, [p.PSDTraceBall(3.0), diagonal(0.0, 0.0)], max_iter=50),
        "frobenius balls": lambda: p.dykstra(A, [p.PSDFrobeniusBall(2.0), diagonal(-np.inf, 1.0)], max_iter=50),
        "averaged": lambda: p.averaged_projections(A, [p.Box(0.0), p.FrobeniusBall(2.0), p.SpectralBall(1.0)], 20),
        "elliptope set": lambda: p.Elliptope().project(A),
    }
    found = {
        "box": p.project_box(A, -0.5, 0.5),
        "nonnegative": p.project_nonnegative(A),
        "nuclear": p.project_nuclear_ball(A, 2.0),
        "spectral": p.project_spectral_ball(A, 0.8),
        "nuclear set": p.NuclearBall(1.0).distance(A),
    }
    chosen = found | ({name: make() for name, make in square.items()} if A.shape[0] == A.shape[1] else {})
    return {name: getattr(one, "matrix", one) for name, one in chosen.items() if one is not None}


def solved(A: Any, norm: str) -> Any:
    """All fields of one projection."""
    return projections.project_nonnegative_spectral_ball(A, 1.2, norm=norm)


def query_facts(pair: tuple[np.ndarray, np.ndarray]) -> Any:
    A, _ = pair
    errors = {
        f"{mechanism} {adjacency}": linear_queries.expected_error(
            A, epsilon=1.0, delta=1e-6, mechanism=mechanism, adjacency=adjacency
        )
        for mechanism in ("auto", "gaussian", "ellipsoid", "factorization")
        for adjacency in ("add-remove", "replace")
    }
    points = np.random.default_rng(5).normal(size=(12, 3))
    return {
        "errors": errors,
        "bounds": linear_queries.hereditary_discrepancy_bounds(A),
        "ellipsoid": linear_queries.minimum_volume_ellipsoid(points),
        "ellipsoid, not centred": linear_queries.minimum_volume_ellipsoid(points, symmetric=False),
    }


def generated(kind: str, rng: int, **options: Any) -> Any:
    return getattr(datasets, kind)(**options, rng=rng)


def loaded(name: str) -> Any:
    matrix, nodes = datasets.load_sparse(name, download=False)
    return {"graph": datasets.load(name, download=False), "matrix": matrix, "nodes": nodes}


def bundled() -> Any:
    return {name: info for name, info in datasets.available().items() if info.collection == "bundled"}


#: Small files in every format that is read.
FILES = {
    "edges.txt": "# a comment\n0 1\n1 2\n2 0\n5 2\n",
    "edges.csv": "source,target,strength\na,b,1.5\nb,c,0.5\nc,a,2\nd,a,1\n",
    "cut.gset": "4 4\n1 2 1\n2 3 -1\n3 4 1\n1 4 2\n",
    "graph.gml": "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] edge [ source 0 target 1 ] ]",
    "colours.col": "c comment\np edge 4 4\ne 1 2\ne 2 3\ne 3 4\ne 1 4\n",
    "formula.cnf": "p cnf 3 3\n1 -2 0\n2 3 0\n-1 -3 0\n",
    "formula.wcnf": "p wcnf 2 3 10\n3 1 2 0\n2 -1 0\n4 -2 0\n",
    "table.csv": "u,v\n" + "".join(f"{i % 2},{i * i % 3 % 2}\n" for i in range(40)),
    "numbers.csv": "x,y\n" + "".join(f"{(i % 7) / 10},{(i % 5) / 8}\n" for i in range(40)),
}


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder with the small files, which is the current one."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for file, text in FILES.items():
            Path(name, file).write_text(text)
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def read(file: str, **options: Any) -> Any:
    with folder():
        found: dict[str, Any] = {"graph": datasets.read_edgelist(file, **options)}
        matrix, nodes = datasets.read_sparse(file, **options)
        return found | {"matrix": matrix, "nodes": nodes}


def read_csp(file: str, **options: Any) -> Any:
    with folder():
        made = datasets.read_csp(file, **options)
        return {"instance": made}


def command_line(line: str) -> Any:
    """Exit status, what is printed and the files of one command, run as ``python -m dpgraph`` does."""
    printed, complaints, argv = io.StringIO(), io.StringIO(), sys.argv
    with folder() as here, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints):
        known = set(here.iterdir())
        sys.argv = ["dpgraph", *line.split()]
        try:
            runpy.run_module("dpgraph", run_name="__main__")
            status: Any = 0
        except SystemExit as exit_:
            status = exit_.code or 0
        finally:
            sys.argv = argv
        files = {path.name: path for path in sorted(set(here.iterdir()) - known)}
        written = {name: path.read_text() for name, path in files.items() if path.suffix in (".csv", ".json", ".txt")}
        names = sorted(files)
    return {"status": status, "out": printed.getvalue(), "err": complaints.getvalue(), "names": names} | written


def saved(graph: Any, function: str, **options: Any) -> Any:
    """A result that was written to a file and read again."""
    value, public = _split(graph)
    result = getattr(dpgraph, function)(value, **public, **options)
    with folder():
        dpgraph.save_result(result, "result.dpgraph")
        return dpgraph.load_result("result.dpgraph")


def frames() -> Any:
    import pandas as pd

    given = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "a"], "weight": [1.0, 2.0, 3.0]})
    made = dpgraph.edge_frame(given, nodes=["d", "c", "b", "a"])
    graph = nx.from_pandas_edgelist(made)
    public = dpgraph.with_public_nodes(nx.Graph([("b", "a"), ("c", "a")]), ["a", "b", "c", "z"])
    counted = dpgraph.with_public_nodes(nx.Graph([(1, 0)]), 4)
    return {"frame": made.to_csv(), "nodes": list(map(str, graph)), "public": public, "counted": counted}


def drawn(kind: str) -> Any:
    """Texts and numbers of a figure, which do not depend on fonts."""
    graph = INPUTS["planted 45"]()
    budget = {"epsilon": 4.0, "delta": 1e-6, "rng": 0}
    if kind == "plot_cut":
        figure = plot.plot_cut(dpgraph.private_max_cut(graph, **budget))
    elif kind == "plot_spectrum":
        figure = plot.plot_spectrum(dpgraph.private_spectrum(graph, 6, **budget))
    elif kind == "plot_marginal":
        figure = plot.plot_marginal(dpgraph.private_marginals(INPUTS["bits 60"](), 2, **budget), [0, 1])
    elif kind == "plot_adjacency":
        figure = plot.plot_adjacency(graph, np.arange(45) % 2)
    elif kind == "plot_correlation_trace":
        figure = plot.plot_correlation_trace(dpgraph.max_cut(graph, rng=0))
    else:
        figure = plot.plot_privacy_utility({"a": [(1.0, 0.6, 0.01), (2.0, 0.7, 0.02)]}, best=0.8, title="t")
    found: dict[str, Any] = {"texts": [], "lines": [], "images": []}
    for axes in figure.axes:
        found["texts"] += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *(t.get_text() for t in axes.texts)]
        found["lines"] += [np.asarray(line.get_xydata(), dtype=float) for line in axes.lines]
        found["images"] += [np.asarray(image.get_array(), dtype=float) for image in axes.images]
    return found


RECIPES: dict[str, Callable[..., Any]] = {
    "networkx bipartite.density": bipartite_density,
    "embedding": embedding,
    "synthetic graph": synthetic,
    "sklearn": fitted,
    "tables": tables,
    "accounting": accounting,
    "formulas": formulas,
    "plan": planning,
    "max_cut": exact("max_cut"),
    "max_bisection": exact("max_bisection"),
    "max_2csp": exact("max_2csp"),
    "sos.lasserre": lasserre,
    "exact quantities": measured,
    "TwoCSP": instance_facts,
    "TwoCSP.from_networkx": from_networkx,
    "l1_hulls": l1_hulls,
    "projections": projection,
    "project_nonnegative_spectral_ball": solved,
    "linear_queries": query_facts,
    "datasets": generated,
    "datasets.load": loaded,
    "datasets.available": bundled,
    "datasets.read": read,
    "datasets.read_csp": read_csp,
    "command line": command_line,
    "save_result": saved,
    "frames": frames,
    "plot": drawn,
}
