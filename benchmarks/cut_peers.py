"""Max-cuts at equal processor time: ``max_cut(G, rng=0, time_limit=T)`` beside solvers of others, on one thread each.

Needs dwave-samplers, ortools, python-sat, pymanopt and psutil besides networkx; the breakout local search is written
here from Benlic, Hao 2013. Each solver runs in a process of its own, which is stopped at twice its processor time. Gset
graphs are read from the local folder ``DPGRAPH_DATA``. Writes ``cut_peers.md`` to ``benchmarks/results`` after every
instance.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/cut_peers.py
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np
import psutil
from common import DATA, RESULTS, markdown_table, with_processor_time
from numba import njit
from scipy import sparse
from solver_peers import cp_sat, dense, edges, rc2, torus

import dpgraph
from dpgraph.datasets import read_sparse

PAGE = """# Max-cuts at equal processor time

Largest cuts that each solver found within {seconds:g} processor seconds of one thread, `max_cut(G, rng=0,
time_limit={seconds:g})` the first of them; the machine is shared, which is why it is processor time

(`python benchmarks/cut_peers.py --seconds {seconds:g}`). *neal* and *tabu* are the D-Wave samplers,
restarted until the time is up, neal for
half of it with 1,000 and for half with 10,000 sweeps. *BLS* is breakout local search (Benlic, Hao 2013), written for
this table. *one-exchange* is that of networkx, CP-SAT that of ortools, RC2 that of python-sat, *trust regions* those of
pymanopt on the relaxation with 100 hyperplanes and single flips after it. A dash: nothing was returned within twice
the time. What is above dpgraph is **bold**. SCS and Clarabel solve the relaxation: [sdp_speed.md](sdp_speed.md).

"""


def gset(name: str) -> sparse.csr_array:
    return sparse.csr_array(read_sparse(DATA / f"{name}.txt.gz", format="gset")[0])


INSTANCES: dict[str, Callable[[], sparse.csr_array]] = {
    "G(60, 1/2)": lambda: dense(60, 60),
    "torus 20 x 20, signed": lambda: torus(20, 20),
    **{name: lambda name=name: gset(name) for name in ("G1", "G11", "G14", "G22", "G32", "G35", "G43")},
}


def value(A: sparse.csr_array, x: np.ndarray) -> float:
    """Weight across of signs."""
    return float(0.25 * (A.sum() - x @ (A @ x)))


def until(seconds: float) -> Iterator[int]:
    """0, 1, 2, ... until the processor time is up."""
    began, k = time.process_time(), 0
    while time.process_time() - began < seconds:
        yield k
        k += 1


def ours(A: sparse.csr_array, seconds: float) -> float:
    found: list[float] = []
    with_processor_time(lambda: found.append(dpgraph.max_cut(A, rng=0, time_limit=seconds).value))
    return found[0]


def ising(A: sparse.csr_array) -> dict[tuple[int, int], float]:
    return {(u, v): float(w) for u, v, w in edges(A)}


def signs(sample: object, n: int) -> np.ndarray:
    return np.array([sample.get(i, 1) for i in range(n)], dtype=float)


def neal(A: sparse.csr_array, seconds: float) -> float:
    from dwave.samplers import SimulatedAnnealingSampler

    J, n, best = ising(A), A.shape[0], -math.inf
    for sweeps in (1000, 10_000):
        for k in until(seconds / 2):
            found = SimulatedAnnealingSampler().sample_ising({}, J, num_reads=1, num_sweeps=sweeps, seed=k)
            best = max(best, value(A, signs(found.first.sample, n)))
    return best


def tabu(A: sparse.csr_array, seconds: float) -> float:
    from dwave.samplers import TabuSampler

    J, n, best = ising(A), A.shape[0], -math.inf
    for k in until(seconds):
        found = TabuSampler().sample_ising({}, J, num_reads=1, timeout=int(250 * seconds), seed=k)
        best = max(best, value(A, signs(found.first.sample, n)))
    return best


@njit
def climb(indptr, indices, data, x, gain, tabu_until, step, moves, kind):
    """Flip in place: the best vertices, of those not tabu (kind 1), or random ones (kind 2); the value gained."""
    gained = 0.0
    for m in range(moves):
        i = -1
        if kind == 2:
            i = np.random.randint(x.size)  # noqa: NPY002 (compiled)
        else:
            for j in range(x.size):
                if (kind == 0 or tabu_until[j] <= step + m) and (i < 0 or gain[j] > gain[i]):
                    i = j
            if i < 0 or (kind == 0 and gain[i] <= 1e-12):
                break
        gained += gain[i]
        x[i] = -x[i]
        gain[i] = -gain[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            gain[j] += 2.0 * data[p] * x[i] * x[j]
        tabu_until[i] = step + m + 3 + np.random.randint(max(1, x.size // 10))  # noqa: NPY002
    return gained


@njit
def breakout(indptr, indices, data, x, rounds, state):
    """Rounds of descent and perturbation; state: value, best, step, length, rounds without a better one, last value."""
    n = x.size
    gain = np.zeros(n)
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            gain[i] += data[p] * x[i] * x[indices[p]]
    tabu_until = np.zeros(n)
    first = max(1, n // 100)
    for _ in range(rounds):
        state[0] += climb(indptr, indices, data, x, gain, tabu_until, state[2], 10 * n, 0)
        state[4] = 0.0 if state[0] > state[1] + 1e-9 else state[4] + 1.0
        state[1] = max(state[1], state[0])
        if state[4] > 1000:
            state[4], kind, moves = 0.0, 2, n // 10
        else:
            state[3] = state[3] + 1.0 if state[0] == state[5] else first
            moves = min(int(state[3]), n // 10)
            share = max(math.exp(-state[4] / 1000), 0.8)
            kind = 1 if np.random.random() < share else 2  # noqa: NPY002
        state[5] = state[0]
        state[0] += climb(indptr, indices, data, x, gain, tabu_until, state[2], moves, kind)
        state[2] += moves


def bls(A: sparse.csr_array, seconds: float) -> float:
    x = np.where(np.random.default_rng(0).random(A.shape[0]) < 0.5, 1.0, -1.0)
    state = np.array([value(A, x), -math.inf, 0.0, 1.0, 0.0, 0.0])
    breakout(A.indptr, A.indices, A.data, x.copy(), 1, state.copy())  # compiles
    for _ in until(seconds):
        breakout(A.indptr, A.indices, A.data, x, 20, state)
    return float(state[1])


def one_exchange(A: sparse.csr_array, seconds: float) -> float:
    G, best = nx.from_scipy_sparse_array(A), -math.inf
    for k in until(seconds):
        best = max(best, nx.approximation.one_exchange(G, weight="weight", seed=k)[0])
    return best


def trust_regions(A: sparse.csr_array, seconds: float) -> float:
    import pymanopt
    from pymanopt.manifolds import Oblique
    from pymanopt.optimizers import TrustRegions

    from dpgraph.sos.cut.objective import SparseObjective
    from dpgraph.sos.cut.rounding import best_columns, one_opt

    n = A.shape[0]
    manifold = Oblique(math.ceil(math.sqrt(2 * n)) + 1, n)

    @pymanopt.function.numpy(manifold)
    def cost(V):
        return float(np.sum(V * (A @ V.T).T))

    @pymanopt.function.numpy(manifold)
    def gradient(V):
        return 2.0 * (A @ V.T).T

    @pymanopt.function.numpy(manifold)
    def hessian(V, H):
        return 2.0 * (A @ H.T).T

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
    usual, time.time = time.time, time.process_time
    V = TrustRegions(max_time=0.9 * seconds, verbosity=0).run(problem).point
    time.time = usual
    objective = SparseObjective(A)
    cuts = np.where(V.T @ np.random.default_rng(0).standard_normal((V.shape[0], 100)) >= 0, 1.0, -1.0)
    return value(A, best_columns(objective, one_opt(objective, cuts), 1)[:, 0])


SOLVERS = {
    "dpgraph": ours, "neal": neal, "tabu": tabu, "BLS": bls, "one-exchange": one_exchange,
    "CP-SAT": lambda A, seconds: cp_sat(A, seconds, 0)[0], "RC2": lambda A, seconds: rc2(A, seconds, 0)[0],
    "trust regions": trust_regions,
}  # fmt: skip


def _send(connection, solver: str, A: sparse.csr_array, seconds: float) -> None:
    small = torus(4, 4)
    if solver in ("dpgraph", "BLS"):
        SOLVERS[solver](small, 0.5)  # compiles
        SOLVERS[solver](gset("G11") if solver == "dpgraph" else small, 1.0)
    connection.send("began")
    began = time.process_time()
    connection.send((SOLVERS[solver](A, seconds), time.process_time() - began))


def measure(solver: str, A: sparse.csr_array, seconds: float) -> tuple[float, float]:
    """Value and processor seconds; minus infinity where nothing came within twice the time."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_send, args=(there, solver, A, seconds))
    process.start()
    here.recv()
    watched = psutil.Process(process.pid)
    began = sum(watched.cpu_times()[:2])
    answer = (-math.inf, math.nan)
    while sum(watched.cpu_times()[:2]) - began < 2 * seconds:
        if here.poll(0.1):
            answer = here.recv()
            break
    process.kill()
    process.join()
    return answer


def main() -> None:
    """Measure, and write after every instance."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--instances", nargs="+", default=list(INSTANCES))
    asked = parser.parse_args()
    rows = []
    for name in asked.instances:
        A = INSTANCES[name]()
        found = {solver: measure(solver, A, asked.seconds) for solver in SOLVERS}
        print(name, found, flush=True)
        best = found["dpgraph"][0]
        cells = ["-" if v == -math.inf else f"**{v:.0f}**" if v > best else f"{v:.0f}" for v, _ in list(found.values())]
        rows.append([name, *cells])
        page = PAGE.format(seconds=asked.seconds) + markdown_table(["instance", *SOLVERS], rows) + "\n"
        (RESULTS / "cut_peers.md").write_text(page)


if __name__ == "__main__":
    main()
