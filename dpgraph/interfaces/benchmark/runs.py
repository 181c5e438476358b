"""Runs of mechanisms on public graphs: which there are, and the table that they are appended to as they end."""

from __future__ import annotations

import csv
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.files import read_text
from dpgraph.exceptions import DatasetError, DPGraphError, InvalidParameterError, MechanismHalted
from dpgraph.interfaces.benchmark.tasks import BLIND, EXACT, TASKS, Task
from dpgraph.result import csv_text

HALTED, REFUSED = "halted", "refused"
COLUMNS = (
    "graph", "vertices", "edges", "problem", "mechanism", "epsilon", "delta", "seed", "version", "measure", "value",
    "note", "seconds",
)  # fmt: skip
Key = tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One run of a mechanism; `epsilon` is None for those that spend nothing."""

    graph: str
    vertices: int
    edges: int
    problem: str
    mechanism: str
    epsilon: float | None
    delta: float
    seed: int

    @property
    def key(self) -> Key:
        """What tells it from other runs: the columns up to the measure."""
        budget = ("", "") if self.epsilon is None else (f"{self.epsilon:g}", f"{self.delta:g}")
        size = (str(self.vertices), str(self.edges))
        return (self.graph, *size, self.problem, self.mechanism, *budget, str(self.seed), version("dpgraph"))


@dataclass(frozen=True)
class Outcome:
    """What came of a run: a number for each measure, NaN where the mechanism refused, and what happened."""

    values: tuple[float, ...]
    note: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Plan:
    """What is asked for."""

    problems: Sequence[str]
    mechanisms: Sequence[str]
    epsilons: Sequence[float]
    delta: float
    runs: int
    seed: int

    def checked(self) -> Plan:
        """The same with the names of :data:`TASKS`; InvalidParameterError for a problem or mechanism that is none."""
        wanted = list(TASKS if "all" in self.problems else self.problems)
        if other := [name for name in wanted if name not in TASKS]:
            raise InvalidParameterError(f"--problem must be all or some of {', '.join(TASKS)}; got {other[0]!r}")
        known = dict.fromkeys(name for problem in wanted for name in (*TASKS[problem].usual, *TASKS[problem].others))
        if other := [name for name in self.mechanisms if name not in known]:
            raise InvalidParameterError(f"--mechanism must be some of {'; '.join(known)}; got {other[0]!r}")
        return replace(self, problems=list(dict.fromkeys(wanted)), epsilons=sorted(set(self.epsilons)))

    def of(self, graph: str, task: Task, problem: str) -> Iterator[Run]:
        """All runs of a problem on a graph, the first of every mechanism before the second of any."""
        size = (graph, task.n, task.adjacency.nnz // 2, problem)
        yield Run(*size, EXACT, None, self.delta, self.seed)
        for seed in range(self.seed, self.seed + self.runs):
            yield Run(*size, BLIND, None, self.delta, seed)
            for mechanism in task.mechanisms(self.mechanisms):
                for epsilon in self.epsilons:
                    yield Run(*size, mechanism, epsilon, self.delta, seed)


def carried_out(task: Task, run: Run) -> Outcome:
    """Do a run. One that halts has answered without looking at the edges, and is judged as such an answer."""
    # Its generator is neither that of the mechanisms nor that of what judges them.
    problem, generator, start, note = task.problem, np.random.default_rng([1, run.seed]), time.process_time(), ""
    try:
        if run.epsilon is None:
            answer = (problem.solved if run.mechanism == EXACT else problem.blind)(task, generator)
        else:
            budget = {"epsilon": run.epsilon, "delta": run.delta, "rng": run.seed}
            answer = problem.answer(task.adjacency, run.mechanism, **budget)
    except MechanismHalted:
        answer, note = problem.blind(task, generator), HALTED
    except DPGraphError as error:
        nothing = (math.nan,) * len(problem.measures)
        return Outcome(nothing, f"{REFUSED}: {' '.join(str(error).split())}", time.process_time() - start)
    seconds = time.process_time() - start
    return Outcome(tuple(map(float, task.judge(answer))), note, seconds)


class Table:
    """Outcomes of runs, and the CSV file that they are appended to, one run at a time; by default none.

    A process that is killed loses the run that it is in. :meth:`read` takes up what a file holds, but for a last line
    that is not whole, and raises DatasetError where it is no such table. `write` gets each new piece of text.
    """

    def __init__(self, write: Callable[[str], None] | None = None, *, new: bool = True) -> None:
        self.outcomes: dict[Key, Outcome] = {}
        self._write, self._new = write, new

    @classmethod
    def read(cls, path: Path) -> Table:
        """The table in a file, which may be missing."""
        text = read_text(path) if path.is_file() else ""
        table = cls(partial(_append, path), new="\n" not in text)
        whole = text[: text.rfind("\n") + 1]
        rows = list(csv.reader(whole.splitlines()))
        if text and (not rows or tuple(rows[0]) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows)):
            raise DatasetError(f"{path} is no table of runs of this command; give --output another name")
        place = COLUMNS.index("measure")
        found: dict[Key, dict[str, list[str]]] = {}
        for row in rows[1:]:
            found.setdefault(tuple(row[:place]), {})[row[place]] = row[place + 1 :]
        for key, measured in found.items():
            names = _measures(key[COLUMNS.index("problem")])
            if names and all(name in measured for name in names):
                note, seconds = measured[names[0]][1:]
                values = tuple(float(measured[name][0]) for name in names)
                table.outcomes[key] = Outcome(values, note, float(seconds))
        if whole != text:
            write_atomically(path, whole)
        return table

    def add(self, run: Run, outcome: Outcome) -> None:
        """Append a run."""
        self.outcomes[run.key] = outcome
        if self._write is not None:
            measured = zip(_measures(run.problem), outcome.values, strict=True)
            rows = [(*run.key, name, f"{x:.6g}", outcome.note, f"{outcome.seconds:.3g}") for name, x in measured]
            text = csv_text(COLUMNS, list(zip(*rows, strict=True)))
            self._write(text if self._new else text.partition("\n")[2])
            self._new = False


def _append(path: Path, text: str) -> None:
    """Append to a file, and hand it to the disk."""
    with path.open("ab") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


def _measures(problem: str) -> list[str]:
    return [measure.name for measure in TASKS[problem].measures] if problem in TASKS else []
