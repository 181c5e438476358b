"""Time and memory against what one would use instead, over sizes from a hundred to a million.

Five tasks: max-cut of a public graph, private max-cut, the private spectral path, private covariance, private
marginals. Every line is measured in a process of its own, on one thread, after imports and compilation: processor
seconds (which do not count the others on the machine), wall-clock seconds and peak memory. Methods of others are
stopped after --limit processor seconds, and skipped where the growth of their last two times exceeds it. Lines are
kept as they come, so that a full run may be killed and continued; --fresh measures them again. Peers that need other
versions of common packages may live in an environment of their own: --python names its interpreter. The table says
which peers were absent.

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
from pathlib import Path

import sdp_speed
from common import RESULTS, ResumableTable, Row, slope
from speed_tasks import TASKS, Outcome

KEY = ("task", "size", "method")
COLUMNS = (*KEY, "processor_seconds", "seconds", "peak_MB", "imports_MB", "quality", "note")
QUICK = {"max-cut": 500, "private max-cut": 10_000, "spectral": 10_000, "covariance": 100, "marginals": 10}
#: Runs are repeated until they have taken this many processor seconds together.
_SHORTEST = 0.05
#: Where the peers' interpreters find dpgraph.
PACKAGE = Path(__file__).resolve().parents[1]


def measure(task: str, method: str, size: int, limit: float) -> Outcome:
    """One line, in this process."""
    chosen = TASKS[task].methods[method]
    chosen.prepare(TASKS[task].small)()  # imports and compilation outside the clock
    imports = peak_memory()
    run = chosen.prepare(size)
    if not chosen.unlimited:
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit) + 1, int(used + limit) + 5))
    wall, cpu, repeats = time.perf_counter(), time.process_time(), 0
    while time.process_time() - cpu < _SHORTEST:
        outcome = run()
        repeats += 1
    wall, cpu = (time.perf_counter() - wall) / repeats, (time.process_time() - cpu) / repeats
    times: Outcome = {"processor_seconds": cpu, "seconds": wall}
    return {**outcome, **times, "peak_MB": peak_memory(), "imports_MB": imports}


def peak_memory() -> float:
    """Megabytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


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
    environment = {**os.environ, **dict.fromkeys(sdp_speed.THREADS, "1"), "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if done.returncode < 0:
        return {"note": f"stopped after {limit:g} processor seconds"}
    return {"note": f"failed: {done.stderr.strip().splitlines()[-1][:120]}"}


def compute(name: str, sizes: tuple[int, ...], limit: float, pythons: list[str], table: ResumableTable) -> None:
    """Add the lines of one task that the table does not have, size by size."""
    task = TASKS[name]
    found = {method: interpreter(chosen.needs, pythons) for method, chosen in task.methods.items()}
    past: dict[str, list[tuple[int, float]]] = {method: [] for method in task.methods}
    for size in sizes:
        for method, chosen in task.methods.items():
            key = (name, str(size), method)
            if key not in table.rows:
                python = found[method]
                if python is None:
                    outcome: Outcome = {"note": f"absent: no {chosen.needs}"}
                elif reason := hopeless(past[method], size, math.inf if chosen.unlimited else limit):
                    outcome = {"note": reason}
                else:
                    outcome = in_own_process(name, method, size, limit, python)
                print(key, outcome, flush=True)
                cells = {column: shown(outcome.get(column, "")) for column in COLUMNS}
                table.add(cells | dict(zip(KEY, key, strict=True)))
            row = table.rows[key]
            if row["processor_seconds"] or row["note"].startswith("stopped"):
                past[method].append((size, float(row["processor_seconds"] or limit)))


def hopeless(past: list[tuple[int, float]], size: int, limit: float) -> str:
    """Why a method is not run at `size`: its time would exceed `limit` if it goes on growing as it did."""
    if not past or (expected := predicted(past, size)) <= limit:
        return ""
    return f"skipped: {past[-1][1]:.2g} s at {past[-1][0]:,}, so about {expected:.1g} s here"


def predicted(past: list[tuple[int, float]], size: int) -> float:
    """Seconds at `size` if the time goes on growing as it did (at least linearly)."""
    exponent = 1.0
    if len(past) > 1 and min(past[-2][1], past[-1][1]) > 0.01:
        exponent = max(1.0, slope([p[0] for p in past[-2:]], [p[1] for p in past[-2:]]))
    return past[-1][1] * (size / past[-1][0]) ** exponent


def main() -> None:
    from speed_tables import write_tables

    qualities = {name: task.quality for name, task in TASKS.items()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, all measured again")
    parser.add_argument("--full", action="store_true", help="all sizes")
    parser.add_argument("--task", action="append", choices=TASKS, help="may be repeated; default: all")
    parser.add_argument("--fresh", action="store_true", help="measure again the lines that exist")
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
    page = None if arguments.quick else RESULTS / "frontier.md"
    table = ResumableTable(stem.with_suffix(".csv"), KEY, COLUMNS)
    for name in () if arguments.tables else arguments.task or TASKS:
        largest = min(arguments.largest, QUICK[name] if arguments.quick else 10**9)
        sizes = tuple(size for size in TASKS[name].sizes if size <= largest)
        with table.writing():
            if arguments.fresh or arguments.quick:
                table.drop(lambda row, task=name: row["task"] == task)
            table.drop(lambda row: row["note"].startswith("absent"))  # perhaps it is there now
            compute(name, sizes, limit, [sys.executable, *arguments.python], table)
        write_tables(qualities, in_order(table), stem, page)
    if arguments.tables:
        write_tables(qualities, in_order(table), stem, page)


def in_order(table: ResumableTable) -> list[Row]:
    """Lines by task, size and method, whenever they were measured; those of methods that are gone are left out."""
    keys = ((name, str(size), method) for name, task in TASKS.items() for size in task.sizes for method in task.methods)
    return [table.rows[key] for key in keys if key in table.rows]


def shown(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
