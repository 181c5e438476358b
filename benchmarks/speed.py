"""Time and memory against what one would use instead, over sizes from a hundred to a million.

Five tasks: max-cut of a public graph, private max-cut, the private spectral path, private covariance, private
marginals. Every line is measured in a process of its own, on one thread, after imports and compilation: processor
seconds (which do not count the others on the machine), wall-clock seconds and peak memory. Solvers of others are
stopped after --limit processor seconds, and skipped where the growth of their last two times exceeds it. Peers that
need other versions of common packages may live in an environment of their own: --python names its interpreter, which
must also be able to import dpgraph. The table says which peers were absent.

    python benchmarks/speed.py --quick --python /tmp/peers/bin/python        # make bench-speed
    python benchmarks/speed.py --full --limit 120
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import sdp_speed
from common import DOCS, RESULTS, read_csv, slope, write_csv
from scipy import sparse

Outcome = dict[str, float | str]
Prepare = Callable[[int], Callable[[], Outcome]]
DELTA = 1e-6
#: Runs are repeated until they have taken this many processor seconds together.
_SHORTEST = 0.05
COLUMNS = ("task", "size", "method", "processor_seconds", "seconds", "peak_MB", "quality", "note")
QUICK = {"max-cut": 500, "private max-cut": 10_000, "spectral": 10_000, "covariance": 50, "marginals": 10}


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
    import dpgraph
    from dpgraph.datasets import planted_cut_sparse

    A = planted_cut_sparse(n, 20, -0.75, rng=n)[0]

    def run() -> Outcome:
        cut = dpgraph.private_max_cut(A, epsilon=epsilon, delta=DELTA, rng=0)
        return {"quality": dpgraph.evaluate.cut_fraction(A, cut.labels)}

    return run


def exact_cut(n: int) -> Callable[[], Outcome]:
    import dpgraph
    from dpgraph.datasets import planted_cut_sparse

    A = planted_cut_sparse(n, 20, -0.75, rng=n)[0]
    return lambda: {"quality": dpgraph.max_cut(A, rng=0).value / (float(A.sum()) / 2)}


def spectral(method: str, n: int) -> Callable[[], Outcome]:
    """Rank 8 of 8 planted blocks of degree 60: the private release, and the eigensolver that any method needs."""
    from million_vertices import planted_blocks
    from scipy.sparse.linalg import eigsh

    import dpgraph

    A = planted_blocks(n, 8, min(60, n // 8), 0.85, np.random.default_rng(0))

    def private() -> Outcome:
        try:
            result = dpgraph.private_normalized_adjacency(A, epsilon=8.0, delta=DELTA, rank=8, rng=0)
        except dpgraph.MechanismHalted as halt:
            return {"quality": f"halted ({halt.stage})"}
        return {"quality": f"rank {result.rank}"}

    def floor() -> Outcome:
        root = 1 / np.sqrt(np.maximum(A.sum(axis=1) + 8 * A.sum() / n, 1.0))  # the regularisation of the private path
        M = sparse.csr_array(A * root[:, None] * root[None, :])
        return {"quality": float(eigsh(M, k=9, which="LM", v0=np.ones(n))[0].max())}

    return private if method == "private" else floor


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
    """`needs` is the module that must be importable; `own` methods have no time limit."""

    prepare: Prepare
    needs: str = "dpgraph"
    own: bool = False


@dataclass(frozen=True)
class Task:
    """`small` is the size that is run first, for compilation; ratios are to the first method."""

    sizes: tuple[int, ...]
    methods: dict[str, Method]
    small: int
    quality: str


TASKS: dict[str, Task] = {
    "max-cut": Task(
        (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 100_000),
        {
            name: Method(partial(of_random_graph, prepare), own=name in sdp_speed.OURS)
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
            "dpgraph private, eps 1": Method(partial(private_cut, 1.0), own=True),
            "dpgraph private, eps 4": Method(partial(private_cut, 4.0), own=True),
            "dpgraph max_cut, not private": Method(exact_cut),
        },
        100,
        "share of edges cut",
    ),
    "spectral": Task(
        (1000, 10_000, 100_000),
        {
            "dpgraph private, rank 8": Method(partial(spectral, "private"), own=True),
            "scipy eigsh, not private": Method(partial(spectral, "floor"), "scipy"),
        },
        400,
        "outcome, or largest eigenvalue",
    ),
    "covariance": Task(
        (5, 10, 20, 50, 100, 200, 500, 1000),
        {
            "dpgraph": Method(partial(covariance, "dpgraph"), own=True),
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
            "dpgraph": Method(partial(marginals, "dpgraph"), own=True),
            "private-pgm (mbi)": Method(partial(marginals, "mbi"), "mbi"),
        },
        4,
        "rms error of a cell, records",
    ),
}


QUALITIES = {name: task.quality for name, task in TASKS.items()}


# --- measuring -------------------------------------------------------------------------------------------------------


def measure(task: str, method: str, size: int, limit: float) -> Outcome:
    """One line, in this process."""
    chosen = TASKS[task].methods[method]
    chosen.prepare(TASKS[task].small)()  # imports and compilation outside the clock
    run = chosen.prepare(size)
    if not chosen.own:
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit) + 1, int(used + limit) + 5))
    wall, cpu, repeats = time.perf_counter(), time.process_time(), 0
    while time.process_time() - cpu < _SHORTEST:
        outcome = run()
        repeats += 1
    wall, cpu = (time.perf_counter() - wall) / repeats, (time.process_time() - cpu) / repeats
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {**outcome, "processor_seconds": cpu, "seconds": wall, "peak_MB": peak}


def interpreter(module: str, pythons: list[str]) -> str | None:
    """The first interpreter that can import a module."""
    for python in pythons:
        done = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
        if done.returncode == 0:
            return python
    return None


def in_own_process(task: str, method: str, size: int, limit: float, python: str) -> Outcome:
    """The line, or a note that says why there is none."""
    command = [python, __file__, "--only", task, "--method", method, "--size", str(size), "--limit", str(limit)]
    environment = {**os.environ, **dict.fromkeys(sdp_speed.THREADS, "1")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if done.returncode < 0:
        return {"note": f"stopped after {limit:g} processor seconds"}
    return {"note": f"failed: {done.stderr.strip().splitlines()[-1][:120]}"}


def lines(name: str, sizes: tuple[int, ...], limit: float, pythons: list[str]) -> Iterator[Outcome]:
    """The lines of one task, size by size."""
    task = TASKS[name]
    found = {method: interpreter(chosen.needs, pythons) for method, chosen in task.methods.items()}
    times: dict[str, list[tuple[int, float]]] = {method: [] for method in task.methods}
    for size in sizes:
        for method, chosen in task.methods.items():
            head: Outcome = {"task": name, "size": size, "method": method}
            python, past = found[method], times[method]
            if python is None:
                yield {**head, "note": f"absent: no {chosen.needs}"}
                continue
            if not chosen.own and past and predicted(past, size) > limit:
                yield {**head, "note": f"skipped: {past[-1][1]:.2g} s at {past[-1][0]}"}
                continue
            outcome = in_own_process(name, method, size, limit, python)
            if not str(outcome.get("note", "")).startswith("failed"):
                past.append((size, float(outcome.get("processor_seconds", limit))))
            yield {**head, **outcome}


def predicted(past: list[tuple[int, float]], size: int) -> float:
    """Seconds at `size` if the time goes on growing as it did (at least linearly)."""
    exponent = 1.0
    if len(past) > 1 and min(past[-2][1], past[-1][1]) > 0.01:
        exponent = max(1.0, slope([p[0] for p in past[-2:]], [p[1] for p in past[-2:]]))
    return past[-1][1] * (size / past[-1][0]) ** exponent


def main() -> None:
    from speed_tables import write_tables

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, half a minute for each line of others")
    parser.add_argument("--full", action="store_true", help="all sizes")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated; its lines are replaced")
    parser.add_argument("--limit", type=float, help="processor seconds for each line of others")
    parser.add_argument("--largest", type=int, default=10**9, help="largest size")
    parser.add_argument("--python", action="append", default=[], help="interpreter with peers; may be repeated")
    parser.add_argument(
        "--tables", action="store_true", help="measure nothing, write the tables of the rows that exist"
    )
    parser.add_argument("--only", choices=TASKS, help="measure one line in this process and print JSON")
    parser.add_argument("--method")
    parser.add_argument("--size", type=int)
    arguments = parser.parse_args()
    limit = arguments.limit or (30.0 if arguments.quick else 120.0)
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments.method, arguments.size, limit)))
        return
    stem: Path = RESULTS / ("speed_quick" if arguments.quick else "speed")
    page = None if arguments.quick else DOCS / "frontier.md"
    for name in () if arguments.tables else arguments.task or TASKS:
        largest = min(arguments.largest, QUICK[name] if arguments.quick else 10**9)
        sizes = tuple(size for size in TASKS[name].sizes if size <= largest)
        rows = [row for row in read_csv(stem.with_suffix(".csv")) if row["task"] != name]
        for row in lines(name, sizes, limit, [sys.executable, *arguments.python]):
            print(row, flush=True)
            rows.append({column: shown(row.get(column, "")) for column in COLUMNS})
            write_csv(stem.with_suffix(".csv"), rows, COLUMNS)
        write_tables(QUALITIES, rows, stem, page)
    if arguments.tables:
        write_tables(QUALITIES, read_csv(stem.with_suffix(".csv")), stem, page)


def shown(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
