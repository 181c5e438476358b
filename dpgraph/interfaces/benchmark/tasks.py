"""What is measured: problems on one public graph, mechanisms that answer them, and numbers that judge the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression

import dpgraph
from dpgraph.denoise.louvain import louvain
from dpgraph.denoise.modularity import sums_between
from dpgraph.evaluate import cut_fraction
from dpgraph.linalg.eigen import leading_eigenpairs
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.typing import FloatArray, IntArray

#: Mechanisms that hold n x n numbers are left out above so many vertices, unless they are asked for by name.
DENSE, _HOLD_ALL = 2000, ("gaussian", "randomized-response")
#: Lines of a table for what needs no budget: the solver that sees the graph, and an answer that does not look at it.
EXACT, BLIND = "without privacy", "data-independent"
#: Dimensions of an embedding.
_RANK = 2


@dataclass(frozen=True)
class Measure:
    """How an answer is judged: a short name, what it means, and whether more is better."""

    name: str
    meaning: str
    higher_is_better: bool = True

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return "higher is better" if self.higher_is_better else "lower is better"


@dataclass(frozen=True)
class Problem:
    """A problem on any graph; called with an adjacency matrix of ones, it is a :class:`Task`.

    `answer(A, mechanism, **budget)` is private. What is true of the graph is `truth(A)`. By it a solver without privacy
    is `solved(task, generator)`, an answer that looks at no edge `blind(task, generator)`, and `judge(task, answer)`
    gives a number for each measure.
    """

    measures: tuple[Measure, ...]
    answer: Callable[..., Any]
    truth: Callable[[sparse.csr_array], Any]
    solved: Callable[[Task, np.random.Generator], Any]
    blind: Callable[[Task, np.random.Generator], Any]
    judge: Callable[[Task, Any], Sequence[float]]
    #: Mechanisms that are measured if none is named, and others that may be named.
    usual: tuple[str, ...]
    others: tuple[str, ...] = ()
    #: Which of them hold n x n numbers.
    dense: tuple[str, ...] = _HOLD_ALL

    def __call__(self, adjacency: sparse.csr_array) -> Task:
        """The problem on a graph."""
        return Task(self, adjacency)


@dataclass
class Task:
    """A problem on a public graph."""

    problem: Problem
    adjacency: sparse.csr_array
    n: int = field(init=False)

    def __post_init__(self) -> None:
        self.n = int(self.adjacency.shape[0])

    @cached_property
    def truth(self) -> Any:
        """What is true of the graph."""
        return self.problem.truth(self.adjacency)

    def mechanisms(self, named: Sequence[str]) -> list[str]:
        """Those of the named mechanisms that this problem has; or the usual ones that fit the size of the graph."""
        usual, others, dense = self.problem.usual, self.problem.others, self.problem.dense
        if named:
            return [name for name in named if name in (*usual, *others)]
        return [name for name in usual if self.n <= DENSE or name not in dense]

    def judge(self, answer: Any) -> Sequence[float]:
        """A number for each measure."""
        return self.problem.judge(self, answer)


def _halves(task: Task, generator: np.random.Generator, parts: int = 2) -> IntArray:
    """Parts of about the same size, drawn at random."""
    return generator.permutation(np.arange(task.n) % parts)


def _cuts(name: str, meaning: str) -> Problem:
    """The largest cut of some kind: ``dpgraph.NAME`` without privacy, ``dpgraph.private_NAME`` with it."""

    def solved(task: Task, generator: np.random.Generator) -> IntArray:
        first, _ = getattr(dpgraph, name)(task.adjacency, seeds=0, rng=generator).partition
        return np.isin(np.arange(task.n), list(first)).astype(np.int64)

    return Problem(
        (Measure("fraction cut", meaning),),
        lambda A, mechanism, **budget: getattr(dpgraph, f"private_{name}")(A, mechanism=mechanism, **budget).labels,
        lambda A: None,
        solved,
        _halves,
        lambda task, labels: [cut_fraction(task.adjacency, np.asarray(labels, dtype=np.int64))],
        ("auto", "noisy-power", "gaussian", "randomized-response"),
        ("bounded-iterates", "coherence"),
    )


# --- communities -----------------------------------------------------------------------------------------------------


def _modularity(adjacency: sparse.csr_array, labels: IntArray) -> float:
    between = sums_between(adjacency, labels)
    total, volumes = float(between.sum()), np.asarray(between.sum(axis=1), dtype=np.float64)
    return float(between.diagonal().sum() / total - np.sum((volumes / total) ** 2)) if total else 0.0


def _compared(task: Task, labels: IntArray) -> list[float]:
    """Modularity over that of Louvain's communities, and agreement with them."""
    import igraph

    best = _modularity(task.adjacency, task.truth)
    share = _modularity(task.adjacency, labels) / best if best > 0 else 0.0
    return [share, igraph.compare_communities(task.truth.tolist(), labels.tolist(), method="adjusted_rand")]


_COMMUNITIES = Problem(
    (
        Measure("share of modularity", "modularity over that of Louvain's communities without privacy"),
        Measure("ARI", "adjusted Rand index with Louvain's communities without privacy"),
    ),
    lambda A, mechanism, **budget: dpgraph.private_communities(A, mechanism=mechanism, **budget).labels,
    lambda A: louvain(A, 1.0, np.random.default_rng(0)),
    lambda task, generator: louvain(task.adjacency, 1.0, generator),
    lambda task, generator: _halves(task, generator, int(task.truth.max()) + 1),
    _compared,
    ("auto", "randomized-response"),
    ("bounded-iterates",),
)

# --- embeddings ------------------------------------------------------------------------------------------------------


def _leading(A: sparse.csr_array) -> FloatArray:
    rank = min(_RANK, int(A.shape[0]))
    return leading_eigenpairs(A, rank, tolerance=1e-8, generator=np.random.default_rng(0)).vectors


def _embedded(A: sparse.csr_array, mechanism: Any, **budget: Any) -> FloatArray:
    rank = min(_RANK, int(A.shape[0]))
    private = dpgraph.private_normalized_adjacency(A, rank=rank, mechanism=mechanism, **budget)
    return np.asarray(private.adjacency_factor())


def _sine(task: Task, answer: FloatArray) -> list[float]:
    basis = np.linalg.qr(answer)[0]
    return [min(float(np.linalg.norm(task.truth - basis @ (basis.T @ task.truth), 2)), 1.0)]


_EMBEDDING = Problem(
    (
        Measure(
            "sine",
            f"sine of the largest angle between the leading {_RANK} eigenvectors of the adjacency matrix, by absolute "
            "value, and those that are released",
            higher_is_better=False,
        ),
    ),
    _embedded,
    _leading,
    lambda task, generator: task.truth,
    lambda task, generator: generator.standard_normal(task.truth.shape),
    _sine,
    ("auto", "noisy-power", "gaussian", "randomized-response"),
    ("coherence",),
)

# --- degrees and triangles -------------------------------------------------------------------------------------------


def _degrees(A: sparse.csr_array) -> IntArray:
    return np.asarray(np.diff(A.indptr), dtype=np.int64)


def _sequence(A: sparse.csr_array, mechanism: Any, *, epsilon: float, delta: float, rng: int | None) -> IntArray:
    """A private sequence of degrees, in any order."""
    if mechanism == "auto":
        found = dpgraph.private_degree_distribution(A, epsilon=epsilon, delta=delta, rng=rng)
        return np.asarray(found.degree_sequence, dtype=np.int64)
    noisy = dpgraph.private_degrees(A, epsilon=epsilon, mechanism="laplace", rng=rng).values
    if mechanism == "sorted-degrees":
        # Hay et al. 2009: the same noise, which knows nothing of the degrees, on the sorted ones.
        truth = _degrees(A)
        noisy = isotonic_regression(np.sort(truth) + (noisy - truth)).x
    return np.asarray(np.clip(np.rint(noisy), 0, A.shape[0] - 1), dtype=np.int64)


def _kolmogorov_smirnov(task: Task, degrees: IntArray) -> list[float]:
    counts = [np.cumsum(np.bincount(values, minlength=task.n)) / task.n for values in (task.truth, degrees)]
    return [float(np.abs(counts[0] - counts[1]).max())]


def _triangles(A: sparse.csr_array, mechanism: Any, *, epsilon: float, **more: Any) -> float:
    if mechanism == "worst-case-laplace":  # an edge can be in n - 2 triangles
        noise = np.random.default_rng(more["rng"]).laplace(scale=max(A.shape[0] - 2, 0) / epsilon)
        return _count(A) + float(noise)
    found = dpgraph.private_subgraph_counts(A, "triangle", epsilon=epsilon, mechanism=mechanism, **more)
    return float(found.counts["triangle"])


def _count(A: sparse.csr_array) -> int:
    return Subgraphs(A.indptr, A.indices).count("triangle")


#: Name of a problem -> what is measured of it.
TASKS = {
    "cut": _cuts("max_cut", "share of the edges across the cut"),
    "bisection": _cuts("max_bisection", "share of the edges between the halves"),
    "communities": _COMMUNITIES,
    "embedding": _EMBEDDING,
    "degrees": Problem(
        (Measure("error of a degree", "mean absolute error of a degree over the mean degree", False),),
        lambda A, mechanism, **budget: dpgraph.private_degrees(A, mechanism=mechanism, **budget).values,
        _degrees,
        lambda task, generator: task.truth,
        lambda task, generator: np.zeros(task.n),
        lambda task, answer: [float(np.abs(answer - task.truth).mean() / task.truth.mean())],
        ("auto", "laplace", "gaussian"),
        dense=(),
    ),
    "degree-distribution": Problem(
        (Measure("KS", "Kolmogorov-Smirnov distance of the degree distributions", False),),
        _sequence,
        _degrees,
        lambda task, generator: task.truth,
        lambda task, generator: generator.integers(task.n, size=task.n),
        _kolmogorov_smirnov,
        ("auto", "sorted-degrees", "each-degree"),
    ),
    "counts": Problem(
        (Measure("relative error", "error of the number of triangles over this number", False),),
        _triangles,
        _count,
        lambda task, generator: task.truth,
        lambda task, generator: 0,
        lambda task, answer: [abs(answer - task.truth) / max(task.truth, 1)],
        ("auto", "smooth", "local-sensitivity", "worst-case-laplace"),
        ("ladder",),
    ),
}
