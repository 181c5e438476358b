"""Private results of public graphs beside peers, by epsilon: what ``dpgraph benchmark`` measures. **Not private.**"""

from __future__ import annotations

import csv
import io
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression
from scipy.special import stdtrit

import dpgraph
from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.files import read_text
from dpgraph.denoise.louvain import louvain, modularity_of
from dpgraph.denoise.modularity import sums_between
from dpgraph.evaluate import cut_fraction
from dpgraph.exceptions import DatasetError, DPGraphError, MechanismHalted
from dpgraph.linalg.eigen import leading_eigenpairs
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.plot.panels import Panel
from dpgraph.result import csv_text
from dpgraph.typing import FloatArray, IntArray

#: Mechanisms that hold n x n numbers are left out above so many vertices, unless they are asked for by name.
DENSE = 2000
_DENSE = ("gaussian", "randomized-response")
#: Lines of a table for what needs no budget: the solver that sees the graph, and an answer that does not look at it.
EXACT, BLIND = "without privacy", "data-independent"
_HALTED, _REFUSED = "halted", "refused"
#: Dimensions of the embedding, and residual of exact eigenvectors.
_RANK, _RESIDUAL = 2, 1e-8
#: Numbers below this are zero but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PublicGraph:
    """A graph whose edges count 1, one at least, and what is true of it."""

    name: str
    adjacency: sparse.csr_array

    @cached_property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.adjacency.shape[0])

    @cached_property
    def degrees(self) -> IntArray:
        """Numbers of edges at the vertices."""
        return np.asarray(np.diff(self.adjacency.indptr), dtype=np.int64)

    @cached_property
    def triangles(self) -> int:
        """How many there are."""
        return Subgraphs(self.adjacency.indptr, self.adjacency.indices).count("triangle")

    @cached_property
    def communities(self) -> IntArray:
        """Labels of the best of three runs of Louvain's method."""
        return louvain(self.adjacency, 1.0, np.random.default_rng(0))

    def modularity(self, labels: IntArray) -> float:
        """Of a labelling."""
        return modularity_of(sums_between(self.adjacency, labels), 1.0)

    @cached_property
    def vectors(self) -> FloatArray:
        """Leading eigenvectors."""
        generator = np.random.default_rng(0)
        return leading_eigenpairs(self.adjacency, _RANK, tolerance=_RESIDUAL, generator=generator).vectors


class Measure(NamedTuple):
    """How an answer is judged: a short name, what it means, and whether more is better."""

    name: str
    meaning: str
    higher_is_better: bool = True


@dataclass(frozen=True)
class Task:
    """One problem: who answers it on a public graph, and a number for each measure of an answer."""

    measures: tuple[Measure, ...]
    #: ``release(graph, mechanism, epsilon=, delta=, rng=)``: what a mechanism answers.
    release: Callable[..., Any]
    #: ``exact(graph, generator)`` answers without privacy, ``blind`` without looking at edges, but for their number.
    exact: Callable[[PublicGraph, np.random.Generator], Any]
    blind: Callable[[PublicGraph, np.random.Generator], Any]
    judge: Callable[[PublicGraph, Any], Sequence[float]]
    #: Mechanisms that are measured if none is named, and others that may be named.
    usual: tuple[str, ...]
    others: tuple[str, ...] = ()
    #: Which of them hold n x n numbers.
    dense: tuple[str, ...] = _DENSE

    def mechanisms(self, n: int, named: Sequence[str]) -> list[str]:
        """Those of the named mechanisms that this problem has; or the usual ones that fit the size of the graph."""
        if named:
            return [name for name in named if name in (*self.usual, *self.others)]
        return [name for name in self.usual if n <= DENSE or name not in self.dense]


def _cut_task(private: str, solver: str, meaning: str) -> Task:
    def exact(graph: PublicGraph, generator: np.random.Generator) -> IntArray:
        first, _ = getattr(dpgraph, solver)(graph.adjacency, seeds=0, rng=generator).partition
        return np.isin(np.arange(graph.n), list(first)).astype(np.int64)

    return Task(
        (Measure("fraction cut", meaning),),
        lambda graph, name, **budget: getattr(dpgraph, private)(graph.adjacency, mechanism=name, **budget).labels,
        exact,
        lambda graph, generator: generator.permutation(np.arange(graph.n) % 2),
        lambda graph, sides: [cut_fraction(graph.adjacency, np.asarray(sides, dtype=np.int64))],
        usual=("auto", "noisy-power", *_DENSE),
        others=("bounded-iterates", "coherence"),
    )


def _judge_communities(graph: PublicGraph, labels: IntArray) -> Sequence[float]:
    best = graph.modularity(graph.communities)
    score = graph.modularity(labels) / best if best > 0 else 0.0
    return [score, _adjusted_rand_index(graph.communities, labels)]


def _adjusted_rand_index(one: IntArray, other: IntArray) -> float:
    """1 for the same groups, 0 on average for random ones of these sizes (Hubert, Arabie 1985), from pairs in groups.

    Without igraph, which imports matplotlib: a second.
    """
    groups = (np.unique(labels, axis=-1, return_counts=True)[1] for labels in ([one, other], one, other, one * 0))
    both, first, second, possible = (float(sizes @ (sizes - 1)) for sizes in groups)
    expected, most = first * second / max(possible, 1.0), (first + second) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def _release_embedding(graph: PublicGraph, mechanism: str, **budget: Any) -> FloatArray:
    found = dpgraph.private_normalized_adjacency(
        graph.adjacency, rank=_RANK, mechanism=mechanism, **budget  # type: ignore[arg-type]
    )  # fmt: skip
    return np.asarray(found.adjacency_factor())


def _judge_embedding(graph: PublicGraph, answer: FloatArray) -> Sequence[float]:
    basis = np.linalg.qr(answer)[0]
    missed = graph.vectors - basis @ (basis.T @ graph.vectors)
    return [min(float(np.linalg.norm(missed, 2)), 1.0)]


def _release_distribution(graph: PublicGraph, mechanism: str, *, epsilon: float, delta: float, rng: int) -> IntArray:
    """A private sequence of degrees, in any order."""
    if mechanism == "auto":
        found = dpgraph.private_degree_distribution(graph.adjacency, epsilon=epsilon, delta=delta, rng=rng)
        return np.asarray(found.degree_sequence, dtype=np.int64)
    noisy = dpgraph.private_degrees(graph.adjacency, epsilon=epsilon, mechanism="laplace", rng=rng).values
    if mechanism == "sorted-degrees":
        # Hay et al. 2009: the same noise, which knows nothing of the degrees, on the sorted ones.
        noisy = isotonic_regression(np.sort(graph.degrees) + (noisy - graph.degrees)).x
    return np.asarray(np.clip(np.rint(noisy), 0, graph.n - 1), dtype=np.int64)


def _judge_distribution(graph: PublicGraph, degrees: IntArray) -> Sequence[float]:
    size = int(max(degrees.max(initial=0), graph.degrees.max(initial=0))) + 1
    first, second = (np.cumsum(np.bincount(d, minlength=size)) / d.size for d in (degrees, graph.degrees))
    return [float(np.abs(first - second).max())]


def _release_triangles(graph: PublicGraph, mechanism: str, **budget: Any) -> float:
    if mechanism == "worst-case-laplace":  # an edge can be in n - 2 triangles
        noise = np.random.default_rng(budget["rng"]).laplace(scale=max(graph.n - 2, 0) / budget["epsilon"])
        return float(graph.triangles + noise)
    found = dpgraph.private_subgraph_counts(graph.adjacency, "triangle", mechanism=mechanism, **budget)  # type: ignore[arg-type]
    return float(found.counts["triangle"])


#: The quickest first.
TASKS: dict[str, Task] = {
    "degrees": Task(
        (Measure("error of a degree", "mean absolute error of a degree over the mean degree", higher_is_better=False),),
        lambda graph, name, **budget: dpgraph.private_degrees(graph.adjacency, mechanism=name, **budget).values,
        lambda graph, _: graph.degrees,
        lambda graph, _: np.zeros(graph.n),
        lambda graph, answer: [float(np.abs(answer - graph.degrees).mean() / graph.degrees.mean())],
        usual=("auto", "laplace", "gaussian"),
        dense=(),
    ),
    "degree-distribution": Task(
        (Measure("KS", "Kolmogorov-Smirnov distance of the degree distributions", higher_is_better=False),),
        _release_distribution,
        lambda graph, _: graph.degrees,
        lambda graph, generator: generator.integers(graph.n, size=graph.n),
        _judge_distribution,
        usual=("auto", "sorted-degrees", "each-degree"),
    ),
    "counts": Task(
        (Measure("relative error", "error of the number of triangles over this number", higher_is_better=False),),
        _release_triangles,
        lambda graph, _: graph.triangles,
        lambda _graph, _: 0,
        lambda graph, answer: [abs(answer - graph.triangles) / max(graph.triangles, 1)],
        usual=("auto", "smooth", "local-sensitivity", "worst-case-laplace"),
        others=("ladder",),
    ),
    "embedding": Task(
        (
            Measure(
                "sine",
                f"sine of the largest angle between the leading {_RANK} eigenvectors of the adjacency matrix, by "
                "absolute value, and those that are released",
                higher_is_better=False,
            ),
        ),
        _release_embedding,
        lambda graph, _: graph.vectors,
        lambda graph, generator: generator.standard_normal((graph.n, _RANK)),
        _judge_embedding,
        usual=("auto", "noisy-power", *_DENSE),
        others=("coherence",),
    ),
    "communities": Task(
        (
            Measure("share of modularity", "modularity over that of Louvain's communities without privacy"),
            Measure("ARI", "adjusted Rand index with Louvain's communities without privacy"),
        ),
        lambda graph, name, **budget: dpgraph.private_communities(graph.adjacency, mechanism=name, **budget).labels,
        lambda graph, generator: louvain(graph.adjacency, 1.0, generator),
        lambda graph, generator: generator.permutation(np.arange(graph.n) % (int(graph.communities.max()) + 1)),
        _judge_communities,
        usual=("auto", "randomized-response"),
        others=("bounded-iterates",),
    ),
    "cut": _cut_task("private_max_cut", "max_cut", "share of the edges across the cut"),
    "bisection": _cut_task("private_max_bisection", "max_bisection", "share of the edges between the halves"),
}


class Run(NamedTuple):
    """One run of a mechanism, as a table has it; what spends nothing has no `epsilon` and no `delta`."""

    graph: str
    vertices: str
    edges: str
    problem: str
    mechanism: str
    epsilon: str
    delta: str
    seed: str
    version: str


_COLUMNS = (*Run._fields, "measure", "value", "note", "seconds")


class Outcome(NamedTuple):
    """What came of a run: a number for each measure, NaN where the mechanism refused, and what happened."""

    values: tuple[float, ...]
    note: str = ""
    seconds: float = 0.0


def runs_of(
    graph: PublicGraph, problem: str, mechanisms: Sequence[str], budgets: Sequence[tuple[float, float]], seeds: range
) -> Iterator[Run]:
    """All runs of a problem on a graph, the first of every mechanism before the second of any."""
    size, release = (graph.name, str(graph.n), str(graph.adjacency.nnz // 2), problem), version("dpgraph")
    yield Run(*size, EXACT, "", "", str(seeds[0]), release)
    for seed in map(str, seeds):
        yield Run(*size, BLIND, "", "", seed, release)
        for mechanism in TASKS[problem].mechanisms(graph.n, mechanisms):
            for epsilon, delta in budgets:
                yield Run(*size, mechanism, f"{epsilon:g}", f"{delta:g}", seed, release)


def carried_out(graph: PublicGraph, run: Run) -> Outcome:
    """Do a run. One that halts has answered without looking at the edges, and is judged as such an answer."""
    task, start, note, seed = TASKS[run.problem], time.process_time(), "", int(run.seed)
    generator = np.random.default_rng([1, seed])  # not that of the mechanisms, nor of what judges them
    try:
        if run.epsilon:
            budget = {"epsilon": float(run.epsilon), "delta": float(run.delta), "rng": seed}
            answer = task.release(graph, run.mechanism, **budget)
        else:
            answer = (task.exact if run.mechanism == EXACT else task.blind)(graph, generator)
    except MechanismHalted:
        answer, note = task.blind(graph, generator), _HALTED
    except DPGraphError as error:
        nothing = (math.nan,) * len(task.measures)
        return Outcome(nothing, f"{_REFUSED}: {' '.join(str(error).split())}", time.process_time() - start)
    seconds = time.process_time() - start
    return Outcome(tuple(float(value) for value in task.judge(graph, answer)), note, seconds)


class Table:
    """Outcomes of runs, written one at a time; a process that is killed loses the run that it is in."""

    def __init__(self, write: Callable[[str], None], *, new: bool = True) -> None:
        self.outcomes: dict[Run, Outcome] = {}
        self._write, self._new = write, new

    @classmethod
    def read(cls, path: Path) -> Table:
        """The table in a file, which may be missing."""
        text = read_text(path) if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        rows = list(csv.reader(io.StringIO(whole)))
        if text and (not rows or tuple(rows[0]) != _COLUMNS or any(len(row) != len(_COLUMNS) for row in rows)):
            raise DatasetError(f"{path} is no table of runs of this command; give --output another name")
        table, found = cls(lambda more: _append(path, more), new=not whole), dict[Run, dict[str, list[str]]]()
        for row in rows[1:]:
            found.setdefault(Run(*row[:-4]), {})[row[-4]] = row[-3:]
        for run, measured in found.items():
            names = [measure.name for measure in TASKS[run.problem].measures] if run.problem in TASKS else []
            if names and all(name in measured for name in names):
                _, note, seconds = measured[names[0]]
                table.outcomes[run] = Outcome(tuple(float(measured[name][0]) for name in names), note, float(seconds))
        if whole != text:
            write_atomically(path, whole)
        return table

    def add(self, run: Run, outcome: Outcome) -> None:
        """Append a run."""
        self.outcomes[run] = outcome
        rows = [
            (*run, measure.name, f"{value:.6g}", outcome.note, f"{outcome.seconds:.3g}")
            for measure, value in zip(TASKS[run.problem].measures, outcome.values, strict=True)
        ]
        text = csv_text(_COLUMNS, list(zip(*rows, strict=True)))
        self._write(text if self._new else text.partition("\n")[2])
        self._new = False


def _append(path: Path, text: str) -> None:
    """Append to a file, and hand it to the disk."""
    with path.open("ab") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


class Cell(NamedTuple):
    """Runs of a mechanism at one budget, judged by one measure: mean, half of its 95 % interval, halts, refusal."""

    mean: float
    half: float
    halts: int
    refusal: str

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return _REFUSED
        mean, half = (0.0 if abs(value) < _ROUNDING else value for value in (self.mean, self.half))
        interval = "" if math.isnan(half) else f" ± {half:.2g}"
        return f"{mean:.3g}{interval}" + (f" ({self.halts} halted)" if self.halts else "")


#: By problem and number of the measure; by graph, mechanism and epsilon, None for what spends nothing.
Cells = dict[tuple[str, int], dict[tuple[str, str, float | None], Cell]]


def cells_of(runs: Iterable[tuple[Run, Outcome]]) -> Cells:
    """Group runs."""
    groups: dict[tuple[str, str, str, str], list[Outcome]] = {}
    for run, outcome in runs:
        groups.setdefault((run.problem, run.graph, run.mechanism, run.epsilon), []).append(outcome)
    cells: Cells = {}
    for (problem, graph, mechanism, epsilon), outcomes in groups.items():
        refusal = next((outcome.note for outcome in outcomes if outcome.note.startswith(_REFUSED)), "")
        halts = sum(outcome.note == _HALTED for outcome in outcomes)
        for at in range(len(TASKS[problem].measures)):
            values = np.array([outcome.values[at] for outcome in outcomes if not math.isnan(outcome.values[at])])
            count, half = values.size, math.nan
            if count > 1:  # by Student's t
                half = float(stdtrit(count - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(count))
            cell = Cell(float(values.mean()) if count else math.nan, half, halts, refusal)
            cells.setdefault((problem, at), {})[graph, mechanism, float(epsilon) if epsilon else None] = cell
    return cells


def about(delta: float) -> str:
    """What stands above the tables."""
    return (
        "**Not private**: exact numbers, for graphs that are public. Mean of the runs and half the width of its 95 % "
        f"interval (Student's t). Mechanisms that may spend a delta had delta = {delta:g}. A run that halts is judged "
        "as the data-independent answer."
    )


def as_markdown(cells: Cells) -> str:
    """A table for each problem and measure, with a line for each graph and mechanism and a column for each epsilon."""
    parts: list[str] = []
    refusals: dict[str, None] = {}
    for (problem, at), group in cells.items():
        name, meaning, higher = TASKS[problem].measures[at]
        epsilons = sorted({epsilon for *_, epsilon in group if epsilon is not None})
        lines = [["graph", "mechanism", *(f"ε = {epsilon:g}" for epsilon in epsilons)], ["---"] * (2 + len(epsilons))]
        pairs = dict.fromkeys((graph, mechanism) for graph, mechanism, _ in group)
        graphs = list(dict.fromkeys(graph for graph, _ in pairs))
        for graph, mechanism in sorted(pairs, key=lambda p: (graphs.index(p[0]), p[1] == EXACT, p[1] == BLIND)):
            level = group.get((graph, mechanism, None))
            entries = [level or group.get((graph, mechanism, epsilon)) or "" for epsilon in epsilons]
            lines.append([graph.replace("|", "\\|"), mechanism, *map(str, entries)])
        better = "higher is better" if higher else "lower is better"
        title = f"### {problem}: {name} ({better})\n\n{meaning[0].upper()}{meaning[1:]}."
        parts.append(title + "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
        refusals |= dict.fromkeys(f"- {g}, {problem}, {m}: {c.refusal}" for (g, m, _), c in group.items() if c.refusal)
    return "\n\n".join([*parts, "\n".join(refusals)] if refusals else parts)


def as_csv(cells: Cells) -> str:
    """A line for each problem, measure, graph, mechanism and epsilon."""
    columns = ("problem", "measure", "graph", "mechanism", "epsilon", "mean", "half_width", "halts", "refusal")
    lines = [
        (problem, TASKS[problem].measures[at].name, graph, mechanism, "" if epsilon is None else epsilon, *cell)
        for (problem, at), group in cells.items()
        for (graph, mechanism, epsilon), cell in group.items()
    ]
    return csv_text(columns, list(zip(*lines, strict=True)))


def panels_of(cells: Cells) -> list[list[Panel]]:
    """A row of panels for each graph, one for each problem and measure."""
    rows: dict[str, list[Panel]] = {}
    for (problem, at), group in cells.items():
        name, _, higher = TASKS[problem].measures[at]
        for graph in dict.fromkeys(graph for graph, *_ in group):
            curves: dict[str, list[tuple[float, float, float]]] = {}
            levels = {}
            for (owner, mechanism, epsilon), cell in group.items():
                if owner == graph and epsilon is None:
                    levels[mechanism] = cell.mean
                elif owner == graph and epsilon is not None and not math.isnan(cell.mean):
                    half = 0.0 if math.isnan(cell.half) else cell.half
                    curves.setdefault(mechanism, []).append((epsilon, cell.mean, half))
            rows.setdefault(graph, []).append(Panel(f"{graph}: {problem}", name, higher, curves, levels))
    return list(rows.values())
