"""The exact solvers beside those of others at equal processor time, in one table: five instances or seeds a line.

``pip install ortools pyscipopt python-sat pytoulbar2 pymetis kahip`` into an environment of their own; MQLib is a
program that is built from github.com/MQLib/MQLib, with ``-Dgettimeofday=...`` of the processor's clock where others
use the machine. BiqCrunch 2.0 is built by ``make`` from github.com/sami-b95/pybiqcrunch. ``--peers FOLDER``
holds ``MQLib``, ``biqcrunch`` and ``biq_crunch.param`` of its folder ``max-cut``, and ``G35.txt`` of
github.com/romank-rudolfovo/MaxCut_benchmarkdata. What is not there is left out, with the reason. Every cell runs in a
process of its own, on one thread, and is ended soon after its time. Cells that are in ``results/solver_peers.csv`` are
not run again; the table is written after each.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/solver_peers.py --peers FOLDER
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import itertools
import math
import multiprocessing
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from bisection_peers import drawn as drawn_bisection
from bisection_peers import peers as bisection_peers
from bisection_peers import restarted
from common import RESULTS, ResumableTable, markdown_table, with_processor_time
from csp_peers import drawn as drawn_csp
from csp_peers import toulbar2 as toulbar2_csp
from scipy import sparse

import dpgraph
from dpgraph import TwoCSP

Answer = tuple[float, bool, float]  # value, whether it is proven, processor seconds
Solve = Callable[[Any, float, int], Answer]

PAGE = """# The exact solvers beside others

Five instances, or five seeds, a line; the same processor seconds for all, one thread each. A cell says the mean value,
how many of the five were proven to be optimal, and the median of the processor seconds. *Lost*: in how many of the five
another solver's value is better, or it proves what dpgraph does not, or it proves in half the time less 0.1 s. A dash:
nothing within a fifth and a second more. Bisections are costs, smaller ones are better; all else is a gain. Cells of
dpgraph, toulbar2 and BiqCrunch on 2-CSPs and proofs ran side by side on one machine, beside other work, and so did
dpgraph on G35; all other cells are of another one.

{table}
"""


def dense(n: int, seed: int) -> sparse.csr_array:
    """G(n, 1/2)."""
    return nx.to_scipy_sparse_array(nx.gnp_random_graph(n, 0.5, seed=seed), dtype=float, format="csr")


def weighted(n: int, density: float, most: int, seed: int) -> sparse.csr_array:
    """Whole weights from -most to most, without zero, on a share of the pairs, as in the Biq Mac library."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, most + 1, (n, n)) * rng.choice([-1.0, 1.0], (n, n)) * (rng.random((n, n)) < density)
    upper = sparse.csr_array(np.triu(weights, 1))
    return sparse.csr_array(upper + upper.T)


def qubo(n: int, seed: int) -> sparse.csr_array:
    """Beasley's distribution: entries from -100 to 100 on a tenth of the pairs, maximised; as a cut of n + 1 vertices.

    With x = (1 - s)/2 and s_0 = 1 the value is a constant less half the weight of what is on one side of vertex 0.
    """
    rng = np.random.default_rng(seed)
    Q = np.triu(rng.integers(-100, 101, (n, n)) * (rng.random((n, n)) < 0.1)).astype(float)
    pair, whole = np.triu(Q, 1), np.zeros((n + 1, n + 1))
    whole[1:, 1:] = -2.0 * (pair + pair.T)  # x_i x_j = (1 - s_i - s_j + s_i s_j)/4
    whole[0, 1:] = whole[1:, 0] = 2.0 * (pair.sum(axis=0) + pair.sum(axis=1)) + 4.0 * np.diag(Q)
    return sparse.csr_array(whole)  # a cut is worth four times what x is worth


def torus(side: int, seed: int) -> sparse.csr_array:
    """A grid on a torus with weights 1 and -1."""
    A = sparse.triu(nx.to_scipy_sparse_array(nx.grid_2d_graph(side, side, periodic=True), dtype=float), format="csr")
    A.data = np.random.default_rng(seed).choice([-1.0, 1.0], A.nnz)
    return sparse.csr_array(A + A.T)


def csp(name: str, seed: int) -> TwoCSP:
    """An instance of csp_peers."""
    return next(made for called, made in drawn_csp(seed) if called.startswith(name))


def g35(folder: Path) -> sparse.csr_array:
    """G35, from a list of edges."""
    u, v, w = np.loadtxt(folder / "G35.txt", skiprows=1).T
    A = sparse.coo_array((w, (u.astype(int) - 1, v.astype(int) - 1)), shape=(2000, 2000)).tocsr()
    return sparse.csr_array(A + A.T)


def ours(solve: Callable[..., Any]) -> Solve:
    """A solver of dpgraph, with the processor's clock."""

    def run(instance: Any, seconds: float, seed: int) -> Answer:
        found: list[Any] = []
        began = time.process_time()
        with_processor_time(lambda: found.append(solve(instance, rng=seed, time_limit=seconds)))
        return found[0].value, found[0].status == "optimal", time.process_time() - began

    return run


def proof(instance: Any, **options: Any) -> Any:
    """A cut, with branch and bound."""
    return dpgraph.max_cut(instance, search="optimal", **options)


def csp_proof(instance: TwoCSP, **options: Any) -> Any:
    """The same for labels."""
    return dpgraph.max_2csp(instance, search="optimal", **options)


def edges(A: sparse.csr_array) -> list[tuple[int, int, int]]:
    """Pairs and whole weights."""
    upper = sparse.triu(A).tocoo()
    return list(zip(upper.row.tolist(), upper.col.tolist(), map(int, upper.data), strict=True))


def mqlib(heuristic: str, folder: Path) -> Solve:
    """A heuristic of MQLib."""

    def run(A: sparse.csr_array, seconds: float, seed: int) -> Answer:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            pairs = edges(A)
            file.write(f"{A.shape[0]} {len(pairs)}\n" + "".join(f"{u + 1} {v + 1} {w}\n" for u, v, w in pairs))
            file.flush()
            command = [
                folder / "MQLib",
                "-fM",
                file.name,
                "-h",
                heuristic,
                "-r",
                f"{seconds:g}",
                "-s",
                str(seed),
                "-nv",
            ]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return float(text.split(",")[3]), False, spent.ru_utime + spent.ru_stime

    return run


def biqcrunch(folder: Path) -> Solve:
    """Semidefinite branch and bound (Krislock, Malick, Roupin 2017): gains x'Qx of vertices that leave the last one."""

    def run(A: sparse.csr_array, seconds: float, seed: int) -> Answer:
        n = A.shape[0]
        entries = [f"0 1 {i} {i} {d:g}" for i, d in enumerate(A.sum(axis=0)[: n - 1], 1)]
        entries += [f"0 1 {u + 1} {v + 1} {-w}" for u, v, w in edges(A) if v < n - 1]
        with tempfile.TemporaryDirectory() as where:
            instance, options = Path(where, "cut.bc"), Path(where, "param")
            instance.write_text("\n".join(["1 = max problem", "0", "1", str(n), *entries, ""]))
            given = (folder / "biq_crunch.param").read_text()
            options.write_text(f"{given}\ntime_limit = {math.ceil(seconds)}\nseed = {seed}\n")
            command = [(folder / "biqcrunch").resolve(), instance, options]
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = re.findall(r"(?:Feasible solution|Maximum value =) (-?\d+)", text)
        value = float(found[-1]) if found else -math.inf
        return value, "Maximum value" in text, spent.ru_utime + spent.ru_stime

    return run


def stopped(stop: Callable[[], None], seconds: float) -> None:
    """Call `stop` once so many processor seconds have passed."""
    end = time.process_time() + seconds

    def watch() -> None:
        while time.process_time() < end:
            time.sleep(0.02)
        stop()

    threading.Thread(target=watch, daemon=True).start()


def cp_sat(instance: Any, seconds: float, seed: int) -> Answer:
    """Variables of edges of a cut, or of pairs of labels."""
    from ortools.sat.python import cp_model

    began, model = time.process_time(), cp_model.CpModel()
    terms: list[Any] = []
    if isinstance(instance, TwoCSP):
        x = [[model.new_bool_var("") for _ in instance.alphabet] for _ in range(instance.n_variables)]
        for labels in x:
            model.add_exactly_one(labels)
        for (u, v), table in zip(instance.pairs.tolist(), instance.tables, strict=True):
            both = [[model.new_bool_var("") for _ in row] for row in table]
            for a, row in enumerate(both):
                model.add(sum(row) == x[u][a])
            for b, column in enumerate(zip(*both, strict=True)):
                model.add(sum(column) == x[v][b])
            terms += [int(w) * y for row, of in zip(table, both, strict=True) for w, y in zip(row, of, strict=True)]
    else:
        side = [model.new_bool_var("") for _ in range(instance.shape[0])]
        for u, v, w in edges(instance):
            across = model.new_bool_var("")
            model.add_bool_xor([side[u], side[v], ~across])
            terms.append(w * across)
    model.maximize(sum(terms))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, seed
    stopped(solver.stop_search, seconds - (time.process_time() - began))
    status = solver.solve(model)
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = solver.objective_value if known else -math.inf
    return value, status == cp_model.OPTIMAL, time.process_time() - began


def scip(A: sparse.csr_array, seconds: float, seed: int) -> Answer:
    """The linear model of a cut."""
    from pyscipopt import Model, quicksum

    began, model, terms = time.process_time(), Model(), []
    model.hideOutput()
    x = [model.addVar(vtype="B") for _ in range(A.shape[0])]
    for u, v, w in edges(A):
        y = model.addVar(ub=1.0)
        if w > 0:
            model.addCons(y <= x[u] + x[v])
            model.addCons(y <= 2 - x[u] - x[v])
        else:
            model.addCons(y >= x[u] - x[v])
            model.addCons(y >= x[v] - x[u])
        terms.append(w * y)
    model.setObjective(quicksum(terms), "maximize")
    model.setParam("timing/clocktype", 1)
    model.setParam("limits/time", max(seconds - (time.process_time() - began), 0.01))
    model.setParam("randomization/randomseedshift", seed)
    model.optimize()
    value = round(model.getObjVal()) if model.getNSols() else -math.inf
    return float(value), model.getStatus() == "optimal", time.process_time() - began


def rc2(instance: Any, seconds: float, seed: int) -> Answer:
    """Maximum satisfiability."""
    from pysat.examples.rc2 import RC2Stratified
    from pysat.formula import WCNF

    began, formula, total = time.process_time(), WCNF(), 0
    if isinstance(instance, TwoCSP):  # a table of ones with one zero is a clause
        for (u, v), table in zip(instance.pairs.tolist(), instance.tables, strict=True):
            most = int(table.max())
            total += most
            for (a, b), w in np.ndenumerate(table):
                if w < most:
                    formula.append([u + 1 if a == 0 else -u - 1, v + 1 if b == 0 else -v - 1], weight=most - int(w))
    else:
        for k, (u, v, w) in enumerate(edges(instance), instance.shape[0] + 1):
            across = 1 if w > 0 else -1
            formula.extend([[-k, u + 1, across * (v + 1)], [-k, -u - 1, -across * (v + 1)]])
            formula.append([k], weight=abs(w))
            total += max(w, 0)
    solver = RC2Stratified(formula)
    solver.compute()
    return float(total - solver.cost), True, time.process_time() - began


def toulbar2(instance: TwoCSP, seconds: float, seed: int) -> Answer:
    """With its defaults."""
    value, proven, spent = toulbar2_csp(instance, seconds)
    return -math.inf if value is None else value, proven, spent


def partitioner(name: str) -> Solve:
    """METIS or KaHIP with restarts; minus the cost."""

    def run(A: sparse.csr_array, seconds: float, seed: int) -> Answer:
        began = time.process_time()
        cost = restarted(dict(bisection_peers())[name], A, seconds)
        return -math.inf if cost is None else -float(cost), False, time.process_time() - began

    return run


def bisect(A: sparse.csr_array, **options: Any) -> Any:
    """A minimum bisection."""
    return dpgraph.max_bisection(-A, **options)


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    name: str
    seconds: float
    make: Callable[[int], Any]
    mine: Callable[..., Any]
    peers: tuple[str, ...]
    known: str = ""


def lines(folder: Path) -> list[Line]:
    """What is compared, short ones first."""
    cut, two = dpgraph.max_cut, csp_proof
    return [
        Line("2-CSP, random tree n=200, q=20", 5, lambda s: csp("tree", 300 + s), two, ("toulbar2",)),
        Line("2-CSP, width 5, n=25, q=20", 5, lambda s: csp("width 5, q = 20", 300 + s), two, ("toulbar2",)),
        Line("2-CSP, grid 10 x 10, q=5", 5, lambda s: csp("grid 10", 300 + s), two, ("toulbar2", "CP-SAT")),
        Line("max-2-SAT, 120 variables, 504 clauses", 5, lambda s: csp("max-2-SAT, 120", 300 + s), two,
             ("toulbar2", "RC2", "CP-SAT")),
        Line("bisection, Delaunay mesh", 2, lambda s: drawn_bisection("Delaunay", 7000 + s), bisect,
             ("METIS", "KaHIP")),
        Line("bisection, graph with hubs", 2, lambda s: drawn_bisection("hubs", 7000 + s), bisect,
             ("METIS", "KaHIP")),
        Line("cut, torus 50 x 50, weights 1 and -1", 5, lambda s: torus(50, s), cut, ("MQLib Burer 2002",)),
        Line("QUBO, n=2500, density .1", 5, lambda s: qubo(2500, s), cut,
             ("MQLib Palubeckis 2004", "MQLib Palubeckis 2006", "MQLib Burer 2002")),
        Line("cut, G(60, 1/2), proof", 5, lambda s: dense(60, 300 + s), proof, ("BiqCrunch", "CP-SAT", "SCIP", "RC2")),
        Line("cut, n=100, density .1, weights 1 and -1, proof", 10, lambda s: weighted(100, 0.1, 1, s), proof,
             ("BiqCrunch", "CP-SAT", "SCIP")),
        Line("cut, G(100, 1/2), proof", 60, lambda s: dense(100, 300 + s), proof,
             ("BiqCrunch",), BIQCRUNCH),
        Line("cut, n=100, all pairs, weights 1 and -1, proof", 60, lambda s: weighted(100, 1.0, 1, s), proof,
             ("BiqCrunch",)),
        Line("cut, G35 (best known 7687)", 60, lambda _: g35(folder), cut, ("MQLib Burer 2002",)),
    ]  # fmt: skip


TABLE = RESULTS / "solver_peers.csv"
#: lipn.univ-paris13.fr/BiqCrunch/results and hal-00665968, on a processor of 2012.
BIQCRUNCH = "published for BiqCrunch on ten such graphs: 96 to 3382 s, mean 721 s"
WANTS = {"toulbar2": "pytoulbar2", "CP-SAT": "ortools", "SCIP": "pyscipopt", "RC2": "pysat", "METIS": "pymetis",
         "KaHIP": "kahip"}  # fmt: skip


def solvers(folder: Path) -> dict[str, Solve]:
    """Those that are there; the others are named."""
    found: dict[str, Solve] = {
        "toulbar2": toulbar2, "CP-SAT": cp_sat, "SCIP": scip, "RC2": rc2,
        "METIS": partitioner("METIS"), "KaHIP": partitioner("KaHIP"),
        "BiqCrunch": biqcrunch(folder),
        "MQLib Burer 2002": mqlib("BURER2002", folder),
        "MQLib Palubeckis 2004": mqlib("PALUBECKIS2004bMST2", folder),
        "MQLib Palubeckis 2006": mqlib("PALUBECKIS2006", folder),
    }  # fmt: skip
    for name in list(found):
        package, program = WANTS.get(name), folder / ("biqcrunch" if name == "BiqCrunch" else "MQLib")
        missing = importlib.util.find_spec(package) is None if package else not program.exists()
        if missing:
            print(f"{name}: left out, {package or program} is not there", flush=True)
            del found[name]
    return found


def measured(solve: Solve, package: str | None, line: Line, seed: int) -> Answer:
    """The answer of a process of its own; minus infinity if there is none within a fifth and a second more."""
    instance = line.make(seed)
    here, there = multiprocessing.get_context("fork").Pipe()

    def work() -> None:
        if package:
            importlib.import_module(package)
        spent = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(spent + 1.2 * line.seconds + 1),) * 2)
        there.send(solve(instance, line.seconds, seed))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return -math.inf, False, math.nan
    finally:
        process.join()


def lost(mine: Answer, theirs: Answer) -> bool:
    """Whether another solver is better."""
    better = theirs[0] > mine[0] + 1e-9
    return better or (theirs[1] and (not mine[1] or theirs[2] < 0.5 * mine[2] - 0.1))


def written(table: ResumableTable, folder: Path) -> None:
    """The page of what has been measured."""
    rows = []
    for line in lines(folder):
        cells: dict[str, dict[str, Answer]] = {}
        for row in table.rows.values():
            if row["line"] == line.name:
                answer = float(row["value"]), row["proven"] == "True", float(row["seconds"])
                cells.setdefault(row["solver"], {})[row["seed"]] = answer
        mine = cells.pop("dpgraph", None)
        if mine is None:
            continue
        beaten = {s: [p for p in cells if s in cells[p] and lost(mine[s], cells[p][s])] for s in mine}
        count = sum(map(bool, beaten.values()))
        by = ", ".join(sorted({p for names in beaten.values() for p in names}))
        others = "; ".join(f"{name} {shown(of)}" for name, of in cells.items())
        said = "; ".join(filter(None, [others, line.known])) or "none"
        rows.append(
            [line.name, f"{line.seconds:g}", shown(mine), said, f"**{count} of {len(mine)}**: {by}" if count else "0"]
        )
    header = ["line", "limit, s", "dpgraph", "others", "lost"]
    TABLE.with_suffix(".md").write_text(PAGE.format(table=markdown_table(header, rows).strip()))


def shown(answers: dict[str, Answer]) -> str:
    """A cell of the table."""
    values = [value for value, *_ in answers.values()]
    known = [abs(value) for value in values if value > -math.inf]
    if not known:
        return "-"
    proven = sum(of for _, of, _ in answers.values())
    times = [t for value, _, t in answers.values() if value > -math.inf]
    some = f" of {len(known)}" if len(known) < len(values) else ""
    return f"{statistics.mean(known):.1f}{some} ({proven} proven, {statistics.median(times):.2f} s)"


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, default=Path("peers"), help="folder of MQLib and G35.txt")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--lines", default="", help="only lines whose name contains this")
    asked = parser.parse_args()
    there = solvers(asked.peers)
    table = ResumableTable(TABLE, ("line", "seed", "solver"),
                           ("line", "seed", "solver", "value", "proven", "seconds"))  # fmt: skip
    with table.writing():
        for line in lines(asked.peers):
            if asked.lines not in line.name:
                continue
            if "G35" in line.name and not (asked.peers / "G35.txt").exists():
                print(f"{line.name}: left out, {asked.peers / 'G35.txt'} is not there", flush=True)
                continue
            warm = False
            for seed, name in itertools.product(range(asked.seeds), ("dpgraph", *line.peers)):
                if (line.name, str(seed), name) in table.rows or (name != "dpgraph" and name not in there):
                    continue
                if name == "dpgraph" and not warm:
                    ours(line.mine)(line.make(999), min(2.0 * line.seconds, 12.0), 0)  # compiles, for the processes too
                    warm = True
                solve = ours(line.mine) if name == "dpgraph" else there[name]
                value, proven, seconds = measured(solve, WANTS.get(name), line, seed)
                table.add({"line": line.name, "seed": seed, "solver": name, "value": value, "proven": proven,
                           "seconds": f"{seconds:.3f}"})  # fmt: skip
                print(line.name, seed, name, value, proven, f"{seconds:.2f}", sep=" | ", flush=True)
                written(table, asked.peers)
    written(table, asked.peers)


if __name__ == "__main__":
    sys.exit(main())
