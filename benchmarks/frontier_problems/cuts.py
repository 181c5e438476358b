"""Max-cut and max-bisection: share of the edges that the released cut really cuts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from common import REAL, real_graph
from peers import (
    analyze_gauss,
    exponential_over_all_cuts,
    exponential_over_candidates,
    greedy_exponential,
    leading_part,
    noisy_power_method,
    noisy_power_method_exact,
)
from scipy import sparse

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.sos.cut.objective import FactoredObjective, SparseObjective
from dpgraph.sos.cut.rounding import one_opt
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.seed_search import SolverOptions
from frontier_problems.base import Instance, Mechanism, Outcome, Problem

Graph = sparse.csr_array
PowerMethod = Callable[[Graph, int, float, float, np.random.Generator], tuple[np.ndarray, np.ndarray]]

QUICK = ("fb100-Caltech36", "email-Eu-core", "ego-Facebook", "wiki-Vote", "fb100-Harvard1")
#: Dense mechanisms stop here: an n x n matrix is annealed in every run.
DENSE = 2000
#: n, degree, correlation of the planted cuts; even n, a planted cut is a bisection.
PLANTED = (
    *((2000, d, c) for d in (20, 50, 100, 150, 200, 400) for c in (-0.75, -0.4)),
    *((500, d, c) for d in (20, 50, 100, 200) for c in (-0.75, -0.4)),
    *((8000, d, c) for d in (20, 50, 100) for c in (-0.75, -0.4)),
)
QUICK_PLANTED = ((2000, 100, -0.75), (2000, 150, -0.75))
TINY = "planted n=18 d=9 c=-0.75"


def planted_name(n: int, degree: int, correlation: float) -> str:
    return f"planted n={n} d={degree} c={correlation:g}"


def planted(n: int, degree: int, correlation: float) -> Graph:
    return planted_cut_sparse(n, degree, correlation, rng=degree)[0]


def instances() -> dict[str, Instance]:
    """Real graphs, then planted cuts; sizes and numbers of edges are those of the files."""
    graphs = {}
    for name in REAL:
        A = real_graph(name)
        graphs[name] = Instance(partial(real_graph, name), A.shape[0], A.nnz // 2, "real", name in QUICK)
    for point in PLANTED:
        n, degree, _ = point
        graphs[planted_name(*point)] = Instance(
            partial(planted, *point), n, n * degree // 2, "planted", point in QUICK_PLANTED
        )
    graphs[TINY] = Instance(partial(planted, 18, 9, -0.75), 18, 81, "planted")
    return graphs


def judged(A: Graph, labels: Any, note: str = "") -> Outcome:
    return Outcome(dpgraph.evaluate.cut_fraction(A, labels), note)


# --- mechanisms of the package ---------------------------------------------------------------------------------------


def package(balanced: bool, **options: Any) -> Callable[[Graph, float, float, int], Outcome]:
    """A private cut; a halted run counts as the data-independent cut that it falls back to."""

    def run(A: Graph, epsilon: float, delta: float, seed: int) -> Outcome:
        release = dpgraph.private_max_bisection if balanced else dpgraph.private_max_cut
        cut = release(A, epsilon=epsilon, delta=delta, on_halt="fallback", rng=seed, **options)
        return judged(A, cut.labels, "halted" if cut.mechanism == "data-independent" else "")

    return run


def package_mechanisms(balanced: bool) -> dict[str, Mechanism]:
    """The default, then what stands for itself; bounded iterates also with one-sided sweeps only."""
    pure = {"uses": "epsilon"}
    options: dict[str, dict[str, Any]] = {
        "coherence": {},
        "gaussian": {"tier": 2, "largest": DENSE},
        "noisy-power": {},
        "randomized-response": {"tier": 2, "largest": DENSE, "reason": "nearly n x n at small epsilon", **pure},
        "permute-and-flip": {"largest": 20, "reason": "n above 20", **pure},
    }
    table = {"auto": Mechanism(package(balanced), tier=0)}
    table |= {name: Mechanism(package(balanced, mechanism=name), **option) for name, option in options.items()}
    papers = package(balanced, mechanism=dpgraph.strategies.Coherence(coherence="rank", regularization=0.0))
    table["coherence, as in the paper"] = Mechanism(papers)
    return table


# --- peers -----------------------------------------------------------------------------------------------------------


def spectral_cut(A: Graph, factor: np.ndarray, core: np.ndarray, balanced: bool, seed: int) -> Outcome:
    """Cut a released low-rank matrix: by the solver, or at the median of its lowest eigenvector for halves."""
    if not balanced:
        options = SolverOptions(seeds=0, rounds=64, sweeps=100, starts=2)
        solution = solve_max_cut(FactoredObjective(factor, core), options, seed)
        return judged(A, (np.asarray(solution.labels) == 1).astype(np.int8))
    Q, R = np.linalg.qr(factor)
    values, vectors = np.linalg.eigh(R @ core @ R.T)
    lowest = Q @ vectors[:, np.argmin(values)]
    labels = np.zeros(len(lowest), dtype=np.int8)
    labels[np.argsort(lowest, kind="stable")[len(lowest) // 2 :]] = 1
    return judged(A, labels)


def run_analyze_gauss(A: Graph, epsilon: float, delta: float, seed: int, *, balanced: bool) -> Outcome:
    noisy = analyze_gauss(A, epsilon, delta, np.random.default_rng(seed))
    vectors, values = leading_part(noisy, 4)
    return spectral_cut(A, vectors, np.diag(values), balanced, seed)


def run_noisy_power(
    A: Graph, epsilon: float, delta: float, seed: int, *, balanced: bool, method: PowerMethod = noisy_power_method
) -> Outcome:
    X, Y = method(A, 1, epsilon, delta, np.random.default_rng(seed))
    half = np.eye(X.shape[1]) / 2  # A is close to (Y X' + X Y')/2
    zero = np.zeros_like(half)
    return spectral_cut(A, np.hstack([X, Y]), np.block([[zero, half], [half, zero]]), balanced, seed)


def run_greedy(A: Graph, epsilon: float, delta: float, seed: int, *, balanced: bool) -> Outcome:
    return judged(A, greedy_exponential(A, epsilon, np.random.default_rng(seed), balanced))


def run_candidates(A: Graph, epsilon: float, delta: float, seed: int, *, balanced: bool) -> Outcome:
    return judged(A, exponential_over_candidates(A, epsilon, np.random.default_rng(seed), balanced=balanced))


def run_all_cuts(A: Graph, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(A, exponential_over_all_cuts(A, epsilon, np.random.default_rng(seed)))


def data_independent(A: Graph, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(A, (np.random.default_rng(seed).permutation(A.shape[0]) % 2).astype(np.int8))


def exact(A: Graph, epsilon: float, delta: float, seed: int, *, balanced: bool) -> Outcome:
    result = (dpgraph.max_bisection if balanced else dpgraph.max_cut)(A, rng=seed)
    return judged(A, result.partition, result.status)


def exact_one_opt(A: Graph, epsilon: float, delta: float, seed: int) -> Outcome:
    """A random cut, improved by single flips: what "exact 1-opt" in the aims means."""
    start = np.random.default_rng(seed).choice([-1.0, 1.0], size=A.shape[0])
    return judged(A, (one_opt(SparseObjective(A), start) < 0).astype(np.int8))


def peers(balanced: bool) -> dict[str, Mechanism]:
    option = {"balanced": balanced}
    table = {
        "Analyze Gauss (DTTZ14)": Mechanism(partial(run_analyze_gauss, **option), tier=2, largest=DENSE),
        "noisy power, as published (HP14)": Mechanism(partial(run_noisy_power, **option)),
        "noisy power, exact accounting (HP14)": Mechanism(
            partial(run_noisy_power, method=noisy_power_method_exact, **option)
        ),
        "greedy exponential (MT07)": Mechanism(partial(run_greedy, **option), uses="epsilon"),
        "exponential, 256 candidates (MT07)": Mechanism(partial(run_candidates, **option), uses="epsilon"),
        "data-independent": Mechanism(data_independent, tier=0, uses=""),
    }
    if not balanced:
        table["exponential, all cuts (MT07)"] = Mechanism(run_all_cuts, largest=20, reason="n above 20", uses="epsilon")
        table["exact 1-opt"] = Mechanism(exact_one_opt, tier=0, uses="")
    table["exact solver"] = Mechanism(partial(exact, **option), runs=1, uses="")
    return table


def problem(balanced: bool) -> Problem:
    return Problem(
        name="bisection" if balanced else "max-cut",
        quantity="share of edges cut",
        higher_is_better=True,
        instances=instances(),
        mechanisms=package_mechanisms(balanced) | peers(balanced),
        ceiling="exact solver",
        baseline="data-independent",
        default="auto",
    )
