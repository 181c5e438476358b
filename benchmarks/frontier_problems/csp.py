"""Max-3-cut of graphs and planted 2-CSPs: share of the constraints that the released assignment really satisfies.

Neighbours of max-3-cut are graphs that differ in one edge; those of planted instances differ in one entry of one
constraint's table ("label-edge", the notion of DN25a). A line of its own protects the whole table of a pair. Low-rank
peers release a matrix, then a local search labels it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from common import REAL, real_graph
from peers import analyze_gauss, greedy_exponential_labels, leading_part, noisy_power_method, randomized_response
from scipy import sparse

import dpgraph
from dpgraph.datasets import planted_csp
from dpgraph.sos.csp.rounding import solve_factored_csp
from frontier_problems.base import Instance, Mechanism, Outcome, Problem

#: Dense peers anneal a matrix of all pairs of (variable, label).
DENSE = 1000
#: The exact solver takes minutes on larger graphs.
GRAPHS = REAL[:13]
QUICK = ("fb100-Caltech36", "email-Eu-core")
THREE_PARTS = ((1000, 30), (1000, 100), (1500, 200))
#: n, degree, alphabet, planted share.
PLANTED = ((1000, 20, 3, 0.9), (1000, 50, 3, 0.9), (1000, 100, 3, 0.9), (1000, 200, 3, 0.9), (1000, 100, 2, 0.9),
           (1000, 100, 5, 0.9), (1000, 100, 3, 0.7), (4000, 100, 3, 0.9))  # fmt: skip
QUICK_PLANTED = ((1000, 100, 3, 0.9),)


@dataclass(frozen=True)
class Case:
    """An instance with the symmetric matrix that low-rank mechanisms release.

    `matrix` is the adjacency matrix of a graph (`tables` says what an edge earns), or the label-extended graph
    itself (`tables` is [[1]]).
    """

    instance: dpgraph.TwoCSP
    matrix: sparse.csr_array
    tables: np.ndarray


def three_cut(A: sparse.csr_array) -> Case:
    upper = sparse.triu(A, k=1).tocoo()
    pairs = np.stack(upper.coords, axis=1)
    unequal = 1.0 - np.eye(3)
    instance = dpgraph.TwoCSP(A.shape[0], 3)
    instance.add_constraints(pairs, np.broadcast_to(unequal, (len(pairs), 3, 3)))
    return Case(instance, A, unequal)


def three_parts(n: int, degree: int) -> Case:
    """Random graph with three planted parts; an edge joins different parts with probability 0.9."""
    rng = np.random.default_rng(degree)
    part = rng.integers(3, size=n)
    other = part[:, None] != part[None, :]
    across = float(other.mean())
    rate = np.where(other, 0.9 / across, 0.1 / (1 - across)) * degree / n
    edges = np.triu(rng.random((n, n)) < rate, k=1)
    return three_cut(sparse.csr_array((edges | edges.T).astype(np.float64)))


def planted(n: int, degree: int, alphabet: int, satisfiable: float) -> Case:
    instance = planted_csp(n, degree, alphabet, satisfiable, rng=degree)
    return Case(instance, instance.label_extended_graph(), np.ones((1, 1)))


def judged(case: Case, labels: Any, note: str = "") -> Outcome:
    return Outcome(dpgraph.evaluate.csp_value(case.instance, labels) / case.instance.total_weight, note)


# --- mechanisms of the package ---------------------------------------------------------------------------------------


def package(adjacency: str, **options: Any) -> Callable[[Case, float, float, int], Outcome]:
    def run(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
        result = dpgraph.private_max_2csp(
            case.instance, epsilon=epsilon, delta=delta, adjacency=adjacency, on_halt="fallback", rng=seed, **options
        )
        return judged(case, result.labels, "halted" if result.mechanism == "data-independent" else "")

    return run


def package_mechanisms(three: bool) -> dict[str, Mechanism]:
    whole = {"auto, whole constraint private": Mechanism(package("constraint"))}
    if three:
        auto = {"auto": Mechanism(package("edge"), tier=0)}
        return auto | whole | {"coherence, of the adjacency": Mechanism(run_adjacency_coherence)}
    return {
        "auto": Mechanism(package("label-edge"), tier=0),
        "coherence": Mechanism(package("label-edge", mechanism="coherence")),
    } | whole


def run_adjacency_coherence(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    """The private low-rank adjacency of the graph, extended by labels."""
    try:
        private = dpgraph.private_normalized_adjacency(
            case.matrix, epsilon=epsilon, delta=delta, mechanism="coherence", rng=seed
        )
    except dpgraph.MechanismHalted:
        halted = data_independent(case, epsilon, delta, seed)
        return Outcome(halted.value, "halted")
    return labelled(case, private.adjacency_factor(), private.core, seed)


# --- peers -----------------------------------------------------------------------------------------------------------


def labelled(case: Case, factor: np.ndarray, core: np.ndarray, seed: int, starts: int = 4) -> Outcome:
    """Label a released matrix factor core factor' by local search."""
    factor, core = np.kron(factor, np.eye(len(case.tables))), np.kron(core, case.tables)
    labels = solve_factored_csp(
        factor, core, case.instance.alphabet_size, starts=starts, rng=np.random.default_rng(seed)
    )
    return judged(case, labels)


def run_analyze_gauss(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    vectors, values = leading_part(analyze_gauss(case.matrix, epsilon, delta, np.random.default_rng(seed)), 6)
    return labelled(case, vectors, np.diag(values), seed)


def run_noisy_power(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    X, Y = noisy_power_method(case.matrix, 3, epsilon, delta, np.random.default_rng(seed))
    half, zero = np.eye(X.shape[1]) / 2, np.zeros((X.shape[1], X.shape[1]))
    return labelled(case, np.hstack([X, Y]), np.block([[zero, half], [half, zero]]), seed)


def run_randomized_response(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    estimate = randomized_response(case.matrix, epsilon, np.random.default_rng(seed))
    return labelled(case, np.eye(len(estimate)), estimate, seed, starts=1)


def run_greedy(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(case, greedy_exponential_labels(case.instance, epsilon, np.random.default_rng(seed)))


def data_independent(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    q, n = case.instance.alphabet_size, case.instance.n_variables
    return judged(case, np.random.default_rng(seed).permutation(np.arange(n) % q))


def exact(case: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    result = dpgraph.max_2csp(case.instance, seeds=0, starts=2, rng=seed)
    return Outcome(result.value / case.instance.total_weight, result.status)


def peers() -> dict[str, Mechanism]:
    return {
        "randomized response + search": Mechanism(run_randomized_response, tier=2, largest=DENSE, uses="epsilon"),
        "Analyze Gauss (DTTZ14)": Mechanism(run_analyze_gauss, tier=2, largest=DENSE),
        "noisy power, as published (HP14)": Mechanism(run_noisy_power),
        "greedy exponential (MT07)": Mechanism(run_greedy, uses="epsilon"),
        "data-independent": Mechanism(data_independent, tier=0, uses=""),
        "exact solver": Mechanism(exact, runs=1, uses=""),
    }


def three_cut_instances() -> dict[str, Instance]:
    graphs = {}
    for name in GRAPHS:
        A = real_graph(name)
        graphs[name] = Instance(
            partial(lambda name: three_cut(real_graph(name)), name), A.shape[0], A.nnz // 2, "real", name in QUICK
        )
    for n, degree in THREE_PARTS:
        name = f"three parts n={n} d={degree}"
        graphs[name] = Instance(partial(three_parts, n, degree), n, n * degree // 2, "planted", degree == 100)
    return graphs


def planted_instances() -> dict[str, Instance]:
    return {
        f"n={n} d={degree} q={q} {share:.0%}": Instance(
            partial(planted, n, degree, q, share), n, n * degree // 2, "planted", (n, degree, q, share) in QUICK_PLANTED
        )
        for n, degree, q, share in PLANTED
    }


def problem(name: str) -> Problem:
    three = name == "max-3-cut"
    return Problem(
        name=name,
        quantity="share of edges cut" if three else "share of constraints satisfied",
        higher_is_better=True,
        instances=three_cut_instances() if three else planted_instances(),
        mechanisms=package_mechanisms(three) | peers(),
        ceiling="exact solver",
        baseline="data-independent",
        default="auto",
        remarks=(
            "Neighbours differ in one edge: `auto` is `private_max_k_cut`, that is `private_max_2csp` with "
            '`adjacency="edge"`. The line "whole constraint" does not know that all edges ask for the same.',
        ) if three else (
            "Neighbours differ in one entry of one constraint's table, except in the line that says so and for the "
            "greedy exponential mechanism, which protects a whole constraint.",
        ),
    )  # fmt: skip
