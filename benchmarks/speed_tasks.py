"""What the speed benchmark measures: tasks, their sizes, and for each the package's method and those of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import sdp_speed
from scipy import sparse

Outcome = dict[str, float | str]
Prepare = Callable[[int], Callable[[], Outcome]]
DELTA = 1e-6


# --- max-cut ---------------------------------------------------------------------------------------------------------


def of_random_graph(prepare: Callable[[sparse.csr_array], Callable[[], Outcome]], n: int) -> Callable[[], Outcome]:
    """One of the methods of ``sdp_speed.py``."""
    run = prepare(sdp_speed.random_graph(n))

    def judged() -> Outcome:
        return {"quality": float(run()["cut"])}

    return judged


def cvxgraphalgs(A: sparse.csr_array) -> Callable[[], Outcome]:
    """Goemans and Williamson on networkx and cvxpy; one random hyperplane."""
    import networkx as nx
    from cvxgraphalgs.algorithms import goemans_williamson_weighted

    G = nx.from_scipy_sparse_array(A)
    return lambda: {"cut": float(goemans_williamson_weighted(G).evaluate_cut_size(G))}


def burer_monteiro(A: sparse.csr_array) -> Callable[[], Outcome]:
    """Unit columns X (k x n) by pymanopt's trust regions, k = ceil(sqrt(2 n)), as in its own max-cut example."""
    import pymanopt
    from pymanopt.manifolds import Oblique
    from pymanopt.optimizers import TrustRegions

    n = A.shape[0]
    manifold = Oblique(math.ceil(math.sqrt(2 * n)), n)

    @pymanopt.function.numpy(manifold)
    def cost(X: np.ndarray) -> float:
        return float(np.sum(X * (A @ X.T).T))

    @pymanopt.function.numpy(manifold)
    def gradient(X: np.ndarray) -> np.ndarray:
        return 2 * (A @ X.T).T

    @pymanopt.function.numpy(manifold)
    def hessian(X: np.ndarray, direction: np.ndarray) -> np.ndarray:
        return 2 * (A @ direction.T).T

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)

    def run() -> Outcome:
        start = np.random.default_rng(0).normal(size=(manifold._m, n))
        result = TrustRegions(verbosity=0).run(problem, initial_point=start / np.linalg.norm(start, axis=0))
        return {"cut": sdp_speed.hyperplane_cut(A, result.point.T)}

    return run


# --- private mechanisms ----------------------------------------------------------------------------------------------


def private_cut(epsilon: float, n: int) -> Callable[[], Outcome]:
    """With the cryptographic noise that is the default; seeded noise is a little faster."""
    import dpgraph
    from dpgraph.datasets import planted_cut_sparse

    A = planted_cut_sparse(n, 20, -0.75, rng=n)[0]

    def run() -> Outcome:
        cut = dpgraph.private_max_cut(A, epsilon=epsilon, delta=DELTA)
        return {"quality": dpgraph.evaluate.cut_fraction(A, cut.labels)}

    return run


def private_peer(name: str, epsilon: float, n: int) -> Callable[[], Outcome]:
    """One of the peers of the utility table, on the same graph."""
    from frontier_problems.cuts import peers

    from dpgraph.datasets import planted_cut_sparse

    A = planted_cut_sparse(n, 20, -0.75, rng=n)[0]
    run = peers(balanced=False)[name].run
    return lambda: {"quality": run(A, epsilon, DELTA, 0).value}


def exact_cut(n: int) -> Callable[[], Outcome]:
    import dpgraph
    from dpgraph.datasets import planted_cut_sparse

    A = planted_cut_sparse(n, 20, -0.75, rng=n)[0]
    return lambda: {"quality": dpgraph.max_cut(A, rng=0).value / (float(A.sum()) / 2)}


def spectral(method: str, n: int) -> Callable[[], Outcome]:
    """Rank 8 of 8 planted blocks of degree 60: the private release, and the eigensolver that any method needs.

    8 pairs are the answer itself; the ninth, at the edge of the bulk and slow to converge, is what a gap needs.
    """
    from load import planted_blocks
    from scipy.sparse.linalg import eigsh

    import dpgraph

    A = planted_blocks(n, 8, min(60, n // 8), 0.85, np.random.default_rng(0))

    def private() -> Outcome:
        try:
            result = dpgraph.private_normalized_adjacency(A, epsilon=8.0, delta=DELTA, rank=8, mechanism="coherence")
        except dpgraph.MechanismHalted as halt:
            return {"quality": f"halted ({halt.stage})"}
        return {"quality": f"rank {result.rank}"}

    def floor(pairs: int) -> Outcome:
        root = 1 / np.sqrt(np.maximum(A.sum(axis=1) + 8 * A.sum() / n, 1.0))  # the regularisation of the private path
        M = sparse.csr_array(A * root[:, None] * root[None, :])
        return {"quality": float(eigsh(M, k=pairs, which="LM", v0=np.ones(n))[0].max())}

    return {"private": private, "rank": partial(floor, 8), "gap": partial(floor, 9)}[method]


def covariance(method: str, d: int) -> Callable[[], Outcome]:
    """Relative Frobenius error at epsilon = 1 with 10,000 records; d is the size."""
    from covariance import records

    X = records(10_000, d, 0.5)
    truth = X.T @ X / len(X)

    def error(matrix: np.ndarray) -> Outcome:
        return {"quality": float(np.linalg.norm(matrix - truth) / np.linalg.norm(truth))}

    def ours() -> Outcome:
        import dpgraph

        return error(dpgraph.private_covariance(X, epsilon=1.0, rng=0).matrix)

    def theirs() -> Outcome:
        from diffprivlib.models.utils import covariance_eig

        values, vectors = covariance_eig(X, epsilon=1.0, norm=1.0, random_state=0)
        return error((vectors * values) @ vectors.T / len(X))

    def principal() -> Outcome:
        from diffprivlib.models import PCA

        model = PCA(n_components=min(5, d), epsilon=1.0, data_norm=1.0, centered=True, random_state=0).fit(X)
        return error(model.components_.T @ (model.explained_variance_[:, None] * model.components_))

    return {"dpgraph": ours, "numpy": lambda: error(X.T @ X / len(X)), "covariance": theirs, "PCA": principal}[method]


def marginals(method: str, n: int) -> Callable[[], Outcome]:
    """Root-mean-square error of all 2-way tables, in records: 10,000 records of n binary attributes, epsilon = 1."""
    import itertools

    data = (np.random.default_rng(0).random((10_000, n)) < np.linspace(0.2, 0.8, n)).astype(np.int64)
    pairs = list(itertools.combinations(range(n), 2))
    truth = [np.bincount(data[:, p] @ [2, 1], minlength=4) for p in pairs]

    def ours() -> Outcome:
        import dpgraph

        tables = dpgraph.private_marginals(data, 2, epsilon=1.0, delta=DELTA, rng=0)
        found = [np.asarray(tables.table(p)).ravel() for p in pairs]
        return {"quality": float(np.sqrt(np.mean((np.array(found) - truth) ** 2)))}

    def theirs() -> Outcome:
        import mbi
        from mbi.estimation import MirrorDescent

        from dpgraph.privacy.accounting import gaussian_scale

        scale = gaussian_scale(math.sqrt(2 * len(pairs)), epsilon=1.0, delta=DELTA)
        noise = np.random.default_rng(0).normal(scale=scale, size=(len(pairs), 4))
        names = [f"a{i}" for i in range(n)]
        noisy = [
            mbi.LinearMeasurement(t + z, tuple(names[i] for i in p))
            for p, t, z in zip(pairs, truth, noise, strict=True)
        ]
        model = MirrorDescent().estimate(mbi.Domain(names, [2] * n), noisy, known_total=float(len(data)), iters=1000)
        found = [np.asarray(model.project(tuple(names[i] for i in p)).datavector()) for p in pairs]
        return {"quality": float(np.sqrt(np.mean((np.array(found) - truth) ** 2)))}

    return ours if method == "dpgraph" else theirs


# --- the tasks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """`needs` is the module that must be importable."""

    prepare: Prepare
    needs: str = "dpgraph"
    unlimited: bool = False


@dataclass(frozen=True)
class Task:
    """`small` is the size that is run first, for compilation; ratios are to the first method."""

    sizes: tuple[int, ...]
    methods: dict[str, Method]
    small: int
    quality: str


PRIVATE_PEERS = ("greedy exponential (MT07)", "noisy power, as published (HP14)", "Analyze Gauss (DTTZ14)")

TASKS: dict[str, Task] = {
    "max-cut": Task(
        (100, 200, 500, 1000, 2000, 5000, 10_000, 100_000),
        {
            name: Method(partial(of_random_graph, prepare), unlimited=name in sdp_speed.OURS)
            for name, prepare in sdp_speed.METHODS.items()
        }
        | {
            "cvxgraphalgs": Method(partial(of_random_graph, cvxgraphalgs), "cvxgraphalgs"),
            "pymanopt (Burer-Monteiro)": Method(partial(of_random_graph, burer_monteiro), "pymanopt"),
        },
        30,
        "edges cut",
    ),
    "private max-cut": Task(
        (1000, 10_000, 100_000, 1_000_000),
        {
            "dpgraph private, eps 1": Method(partial(private_cut, 1.0), unlimited=True),
            "dpgraph private, eps 4": Method(partial(private_cut, 4.0), unlimited=True),
            **{f"{peer}, eps 1": Method(partial(private_peer, peer, 1.0)) for peer in PRIVATE_PEERS},
            "dpgraph max_cut, not private": Method(exact_cut),
        },
        100,
        "share of edges cut",
    ),
    "spectral": Task(
        (1000, 10_000, 100_000, 1_000_000),
        {
            "dpgraph private, rank 8": Method(partial(spectral, "private"), unlimited=True),
            "scipy eigsh, 8 pairs, not private": Method(partial(spectral, "rank"), "scipy", unlimited=True),
            "scipy eigsh, 9 pairs, not private": Method(partial(spectral, "gap"), "scipy"),
        },
        400,
        "outcome, or largest eigenvalue",
    ),
    "covariance": Task(
        (5, 10, 20, 100, 300, 1000),
        {
            "dpgraph": Method(partial(covariance, "dpgraph"), unlimited=True),
            "numpy, not private": Method(partial(covariance, "numpy"), "numpy"),
            "diffprivlib covariance": Method(partial(covariance, "covariance"), "diffprivlib"),
            "diffprivlib PCA, 5 components": Method(partial(covariance, "PCA"), "diffprivlib"),
        },
        3,
        "relative Frobenius error",
    ),
    "marginals": Task(
        (6, 8, 10, 12, 20, 40),
        {
            "dpgraph": Method(partial(marginals, "dpgraph"), unlimited=True),
            "private-pgm (mbi)": Method(partial(marginals, "mbi"), "mbi"),
        },
        4,
        "rms error of a cell, records",
    ),
}
