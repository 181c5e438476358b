"""The max-cut relaxation and max-cut itself against general SDP solvers and networkx, one table for all.

Every line is measured in a process of its own, on one thread, after compilation and imports: wall-clock and processor
seconds (the latter do not depend on who else uses the machine) and peak memory. A solver of others is stopped
after --limit processor seconds, and counts as not finished on larger graphs too. Writes ``sdp_speed.csv``,
``sdp_speed.md`` to ``benchmarks/results``.

    python benchmarks/sdp_speed.py --limit 600
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

RESULTS = Path(__file__).parent / "results"
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
DEGREE = 10
ROUNDS = 100  # random hyperplanes, for every relaxation
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")

Outcome = dict[str, float | str]


def random_graph(n: int) -> sparse.csr_array:
    """Every pair of vertices independently, average degree DEGREE."""
    from dpgraph.datasets import planted_cut_sparse

    return planted_cut_sparse(n, DEGREE, 0.0, rng=n)[0]


def hyperplane_cut(A: sparse.csr_array, vectors: np.ndarray) -> float:
    """Best of ROUNDS random hyperplanes: the same rounding for every relaxation."""
    from dpgraph.sos.cut.objective import SparseObjective
    from dpgraph.sos.cut.rounding import hyperplane_rounding

    objective = SparseObjective(A)
    cuts = hyperplane_rounding(objective, vectors, ROUNDS, np.random.default_rng(0), keep=1)
    return float(objective.values(cuts).max())


def relaxation(A: sparse.csr_array) -> Callable[[], Outcome]:
    """dpgraph: low rank, with the certificate."""
    from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
    from dpgraph.sos.cut.objective import SparseObjective

    def run() -> Outcome:
        solution = solve_low_rank(SparseObjective(A), np.random.default_rng(0))
        return {
            "value": solution.value,
            "bound": solution.certificate.bound,
            "certificate": solution.certificate.kind,
            "cut": hyperplane_cut(A, solution.vectors),
        }

    return run


def whole_max_cut(A: sparse.csr_array) -> Callable[[], Outcome]:
    """dpgraph: relaxation, rounding and local search."""
    import dpgraph

    def run() -> Outcome:
        result = dpgraph.max_cut(A, rng=0)
        return {"bound": result.upper_bound, "certificate": result.bound_kind, "cut": result.value}

    return run


def through_cvxpy(solver: str) -> Callable[[sparse.csr_array], Callable[[], Outcome]]:
    """The relaxation as a user writes it in cvxpy, with the solver's own default tolerances.

    SCS gets X itself: its dual takes it two to four times as long. Clarabel gets the dual, minimise sum(y) with
    Diag(y) + M/4 psd, whose multiplier is X: with X it factorises a matrix of order n**2/2 that is nearly dense, which
    takes it nine times as long.
    """

    def prepare(A: sparse.csr_array) -> Callable[[], Outcome]:
        import cvxpy as cp

        n = A.shape[0]
        M = sparse.csr_matrix(A)  # cvxpy wants the matrix class

        def run() -> Outcome:
            if solver == "CLARABEL":
                y = cp.Variable(n)
                feasible = cp.diag(y) + 0.25 * M >> 0
                problem = cp.Problem(cp.Minimize(0.25 * M.sum() + cp.sum(y)), [feasible])
                problem.solve(solver=solver)
                X = feasible.dual_value
            else:
                X_variable = cp.Variable((n, n), PSD=True)
                objective = cp.Maximize(0.25 * (M.sum() - cp.sum(cp.multiply(M, X_variable))))
                problem = cp.Problem(objective, [cp.diag(X_variable) == 1])
                problem.solve(solver=solver)
                X = X_variable.value
            spectrum, basis = np.linalg.eigh(X)
            vectors = basis * np.sqrt(np.maximum(spectrum, 0.0))
            return {"value": float(problem.value), "cut": hyperplane_cut(A, vectors)}

        return run

    return prepare


def one_exchange(A: sparse.csr_array) -> Callable[[], Outcome]:
    """networkx: local search by moving single vertices."""
    import networkx as nx

    G = nx.from_scipy_sparse_array(A)

    def run() -> Outcome:
        return {"cut": float(nx.approximation.one_exchange(G, seed=0)[0])}

    return run


OURS = ("dpgraph relaxation", "dpgraph max_cut")
#: What each method of others is compared with.
OURS_FOR = {
    "cvxpy + SCS": "dpgraph relaxation",
    "cvxpy + Clarabel": "dpgraph relaxation",
    "networkx one_exchange": "dpgraph max_cut",
}
METHODS: dict[str, Callable[[sparse.csr_array], Callable[[], Outcome]]] = {
    "dpgraph relaxation": relaxation,
    "dpgraph max_cut": whole_max_cut,
    "cvxpy + SCS": through_cvxpy("SCS"),
    "cvxpy + Clarabel": through_cvxpy("CLARABEL"),
    "networkx one_exchange": one_exchange,
}


def measure(method: str, n: int, limit: float) -> Outcome:
    """One line, in this process."""
    METHODS[method](random_graph(30))()  # compile outside the clock
    run = METHODS[method](random_graph(n))
    if method not in OURS:
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit) + 1, int(used + limit) + 5))
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {**outcome, "seconds": wall, "processor_seconds": cpu, "peak_MB": peak}


def in_subprocess(method: str, n: int, limit: float) -> Outcome | None:
    """The line, or None when the process was stopped at the limit or ran out of memory."""
    command = [sys.executable, __file__, "--only", method, "--n", str(n), "--limit", str(limit)]
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if done.returncode > 0:
        raise RuntimeError(f"{method} at n = {n} failed:\n{done.stderr[-2000:]}")
    return None


def table(limit: float) -> Iterator[list[Outcome]]:
    """The lines of each size; `ratio` is the cut over the smallest certified bound of the same graph."""
    stopped: dict[str, int] = {}
    for n in SIZES:
        lines: list[Outcome] = []
        for method in METHODS:
            outcome = None if method in stopped else in_subprocess(method, n, limit)
            if outcome is None:
                at = stopped.setdefault(method, n)
                where = "" if at == n else f" at n = {at}"
                outcome = {"limit": limit, "note": f"not finished in {limit:g} processor seconds{where}"}
            lines.append({"n": n, "method": method, **outcome})
            print(lines[-1], flush=True)
        bound = min(float(line["bound"]) for line in lines if "bound" in line)
        for line in lines:
            if "cut" in line:
                line["ratio"] = float(line["cut"]) / bound
        compare(lines)
        yield lines


def compare(lines: list[Outcome]) -> None:
    """Time of each line of others over ours: SDP solvers over the relaxation, the local search over max_cut."""
    ours = {str(line["method"]): float(line["processor_seconds"]) for line in lines if line["method"] in OURS}
    for line in lines:
        rival = OURS_FOR.get(str(line["method"]))
        if rival and "processor_seconds" in line:
            line["times_ours"] = f"{float(line['processor_seconds']) / ours[rival]:.3g}"
        elif rival:
            line["times_ours"] = f"> {float(line.pop('limit')) / ours[rival]:.3g}"


COLUMNS = {
    "n": "d", "method": "s", "seconds": ".3g", "processor_seconds": ".3g", "times_ours": "s", "peak_MB": ".0f",
    "value": ".2f", "bound": ".2f", "certificate": "s", "cut": ".0f", "ratio": ".4f", "note": "s",
}  # fmt: skip


def cell(line: Outcome, column: str) -> str:
    return format(line[column], COLUMNS[column]) if column in line else ""


def write(rows: list[Outcome], limit: float, load: float) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "sdp_speed.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    cores = os.cpu_count() or 1
    shared = f" The machine was shared (load {load:.1f} on {cores} cores): compare processor seconds, not seconds."
    lines = [
        "# Max-cut: the relaxation and the cut, against SDP solvers and networkx\n",
        f"Random graphs of average degree {DEGREE}, one thread. *value* is that of the relaxation as the solver says; "
        "*bound* is a certified upper bound on every cut; *ratio* is the cut over the smallest bound of the same "
        f"graph. Relaxations are rounded by {ROUNDS} random hyperplanes each. Solvers of others were given "
        f"{limit:g} processor seconds; one that did not finish is not started on larger graphs. *times ours* is the "
        "processor time over that of dpgraph on the same graph (of the relaxation for SDP solvers, of max_cut for the "
        "local search), or a lower bound, which for sizes not started supposes that they take no less."
        f"{shared if load > cores else ''}\n",
        f"| {' | '.join(name.replace('_', ' ') for name in COLUMNS)} |",
        f"|{' --- |' * len(COLUMNS)}",
        *(f"| {' | '.join(cell(line, name) for name in COLUMNS)} |" for line in rows),
    ]
    (RESULTS / "sdp_speed.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=600.0, help="processor seconds for each solver of others")
    parser.add_argument("--only", choices=METHODS, help="measure one line in this process and print JSON")
    parser.add_argument("--n", type=int, default=SIZES[0])
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments.n, arguments.limit)))
        return
    before = os.getloadavg()[0]
    rows: list[Outcome] = []
    for lines in table(arguments.limit):
        rows += lines
        write(rows, arguments.limit, max(before, os.getloadavg()[0]))  # after every size: long runs get interrupted


if __name__ == "__main__":
    main()
