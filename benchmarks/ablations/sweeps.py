"""What is simplified, and the calls that may feel it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dpgraph
from benchmarks.ablations.harness import Ablation, Run
from benchmarks.ablations.inputs import colouring, game, of, partition, planted, real, with_dense_part
from dpgraph import tuning
from dpgraph.denoise import iterates
from dpgraph.inputs.graphs import open_graph
from dpgraph.releases.subgraphs import subgraphs_of
from dpgraph.releases.sweeps import core

Make = Callable[[int], Any]
DELTA = 1e-6


# --- utilities, shares in [0, 1] -------------------------------------------------------------------------------------


def cut(make: Make, epsilon: float, mechanism: Any = "bounded-iterates", halves: bool = False) -> Run:
    """Share of the edges that a cut cuts."""
    solve = dpgraph.private_max_bisection if halves else dpgraph.private_max_cut

    def run(seed: int) -> float:
        A = make(seed)
        found = solve(A, epsilon=epsilon, mechanism=mechanism, rng=seed)
        return float(dpgraph.evaluate.cut_fraction(A, found.labels))

    return run


def parts(make: Make, k: int, epsilon: float, mechanism: Any = "bounded-iterates") -> Run:
    """Share of the edges between k parts."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_max_k_cut(A, k, epsilon=epsilon, mechanism=mechanism, rng=seed)
        tails, heads = A.nonzero()
        return float(np.mean(found.labels[tails] != found.labels[heads]))

    return run


def labels(make: Make, epsilon: float, adjacency: Any) -> Run:
    """Share of the weight that labels earn."""

    def run(seed: int) -> float:
        instance = make(seed)
        found = dpgraph.private_max_2csp(
            instance, epsilon=epsilon, adjacency=adjacency, mechanism="bounded-iterates", rng=seed
        )
        return float(dpgraph.evaluate.csp_value(instance, found)) / instance.total_weight

    return run


def count(make: Make, pattern: str, epsilon: float, mechanism: Any = "auto", delta: float = 0.0) -> Run:
    """One minus the relative error of a count, at least 0."""

    def run(seed: int) -> float:
        A = make(seed)
        asked = {"epsilon": epsilon, "delta": delta, "mechanism": mechanism, "rng": seed}
        found = dpgraph.private_subgraph_counts(A, [pattern], **asked)
        exact = subgraphs_of(open_graph(A, products=False).read()).count(pattern)
        return 1 - min(abs(found.counts[pattern] - exact) / exact, 1.0)

    return run


def transitivity(make: Make, epsilon: float) -> Run:
    """One minus the relative error of the transitivity."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_transitivity(A, epsilon=epsilon, rng=seed)
        counted = subgraphs_of(open_graph(A, products=False).read())
        exact = 3 * counted.count("triangle") / counted.count("wedge")
        return 1 - min(abs(found.value - exact) / exact, 1.0)

    return run


def distribution(make: Make, epsilon: float) -> Run:
    """One minus the Kolmogorov-Smirnov distance of a degree distribution."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_degree_distribution(A, epsilon=epsilon, rng=seed).degree_sequence
        of_found, of_true = (np.bincount(degrees, minlength=A.shape[0]) for degrees in (found, np.diff(A.indptr)))
        return 1 - float(np.abs(np.cumsum(of_found - of_true)).max()) / A.shape[0]

    return run


def densest(make: Make, epsilon: float) -> Run:
    """Density of the part that is found, over the largest degree that a core holds at least."""

    def run(seed: int) -> float:
        A = make(seed)
        found = dpgraph.private_densest_subgraph(A, epsilon=epsilon, rng=seed)
        inside = np.asarray(found.labels, dtype=float)
        return float(inside @ (A @ inside)) / 2 / max(inside.sum(), 1) / peeled(A)

    return run


def peeled(A: Any) -> float:
    """Density of the best prefix of the order in which the least degree is peeled, public and not private."""
    import networkx as nx

    number = nx.core_number(nx.from_scipy_sparse_array(A))
    order = np.array(sorted(number, key=lambda v: -number[v]))
    B = A[order][:, order].tocoo()
    last = np.maximum(B.row, B.col)
    inside = np.cumsum(np.bincount(last, B.data, A.shape[0])) / 2
    return float((inside / np.arange(1, A.shape[0] + 1)).max())


# --- calls -----------------------------------------------------------------------------------------------------------

HEAVY = of(partition, 900, 2, 30, 0.4, 2.2)
EVEN, DENSE, THIN = of(planted, 900, 36, -0.45), of(planted, 600, 110, -0.25), of(planted, 1200, 18, -0.6)
GSET = of(real, "G43")
SIGNS = (
    cut(EVEN, 1.0), cut(EVEN, 4.0), cut(DENSE, 1.0), cut(DENSE, 3.0), cut(THIN, 2.0), cut(HEAVY, 1.0), cut(HEAVY, 4.0),
    cut(GSET, 8.0),
)  # fmt: skip
HALVES = cut(EVEN, 2.0, halves=True), cut(HEAVY, 2.0, halves=True)
PARTS = (
    parts(of(partition, 800, 3, 50, 0.3, 0), 3, 1.5), parts(of(partition, 800, 3, 50, 0.3, 0), 3, 5.0),
    parts(of(partition, 900, 4, 40, 0.3, 2.3), 4, 3.0), parts(of(partition, 700, 5, 70, 0.3, 0), 5, 3.0),
    parts(of(partition, 700, 8, 110, 0.2, 0), 8, 4.0), parts(of(partition, 900, 3, 25, 0.2, 2.3), 3, 5.0),
)  # fmt: skip
ENTRY = (
    labels(of(game, 250, 36, 3), 0.8, "label-edge"), labels(of(game, 250, 36, 3), 2.0, "label-edge"),
    labels(of(colouring, 300, 34, 3, 0), 1.5, "label-edge"), labels(of(colouring, 300, 34, 3, 2.3), 3.0, "label-edge"),
    labels(of(game, 250, 36, 5), 1.2, "label-edge"),
)  # fmt: skip
WHOLE = (
    labels(of(game, 250, 36, 3), 1.5, "constraint"), labels(of(game, 250, 36, 3), 4.0, "constraint"),
    labels(of(colouring, 300, 34, 3, 0), 3.0, "constraint"), labels(of(colouring, 300, 24, 3, 2.3), 4.0, "constraint"),
    labels(of(game, 250, 36, 5), 3.0, "constraint"),
)  # fmt: skip
COUNTED = (
    count(HEAVY, "triangle", 1.0), count(EVEN, "triangle", 0.5), count(HEAVY, "4-clique", 2.0),
    count(THIN, "wedge", 0.3),
)  # fmt: skip
BOUNDED = (
    count(HEAVY, "triangle", 1.0, "local-sensitivity", DELTA),
    count(EVEN, "triangle", 1.0, "local-sensitivity", DELTA),
)
RATIOS = transitivity(HEAVY, 1.0), transitivity(EVEN, 1.0), transitivity(of(real, "ca-HepPh"), 0.3)
TAILS = tuple(
    distribution(make, epsilon)
    for make in (HEAVY, EVEN, THIN, DENSE, of(real, "ca-HepPh"), of(real, "G32"))
    for epsilon in (0.1, 0.5)
)
DENSEST = tuple(
    densest(make, epsilon)
    for make in (HEAVY, of(with_dense_part, 1500, 8, 60, 0.6, 2.5), of(real, "ca-HepPh"))
    for epsilon in (0.5, 1.0, 3.0)
)


# --- simplifications -------------------------------------------------------------------------------------------------


def numbers(topic: Any, simplification: str, calls: tuple[Run, ...], **values: Any) -> Ablation:
    """Other values of the numbers of a class."""
    kind = type(topic).__name__
    patches = tuple((topic, name, value) for name, value in values.items())
    return Ablation(f"{kind}.{', '.join(values)}", simplification, patches, calls)


def instead(constant: str, simplification: str, calls: tuple[Run, ...], *patches: Any) -> Ablation:
    """Other code."""
    return Ablation(constant, simplification, patches, calls)


T = tuning
EXACT_FIRST = tuning.CORE
_number_of_repeats = iterates.number_of_repeats


def _eight(epsilon: float, mean_degree: float) -> int:
    return 8 if _number_of_repeats(epsilon, mean_degree) else 0


def _always_quieter(oracle: Any, bound: float, sweeps: int) -> bool:
    return sweeps >= 2 and oracle.move is not None


def _label_sweeps(count: int) -> Any:
    def sweeps(epsilon: float, mean_degree: float, labels: int = 1) -> int:
        found = iterates_number_of_sweeps(epsilon, mean_degree, labels)
        return count if labels > 1 and found > 1 else found

    return sweeps


iterates_number_of_sweeps = iterates.number_of_sweeps

ABLATIONS = [
    instead("Repeats: rule", "8", SIGNS, (core, "number_of_repeats", _eight)),
    numbers(T.REPEATS, "1 over epsilon", SIGNS, sparse_power=1.0),
    numbers(T.REPEATED, "one filter, drift 1", (*SIGNS, *PARTS[:3]), steering_drift=1.0),
    numbers(T.CORE, "one filter, drift 4", (*SIGNS, *PARTS[:3]), drift=4.0),
    numbers(T.REPEATED, "no ramp: 8", SIGNS, softness=8.0, sharpness=8.0),
    numbers(T.REPEATED, "no ramp: signs", SIGNS, softness=1e9, sharpness=1e9),
    numbers(T.REPEATED, "2", (*SIGNS, *PARTS[:3]), even=2.0),
    numbers(T.REPEATED, "1: never", (*SIGNS, *PARTS[:3]), even=1.0),
    numbers(T.CORE, "1", (*SIGNS, *PARTS[:2]), prior=1.0),
    numbers(T.CORE, "infinity", (*SIGNS, *PARTS[:2]), prior=1e6),
    numbers(T.CORE, "1/2: no cap", SIGNS, most_left_out=0.999),
    numbers(T.CORE, "none is left out", SIGNS, left_out=0.0),
    numbers(T.CORE, "0", HALVES, balance_slack=0.0),
    numbers(T.CORE, "1", HALVES, balance_slack=1.0),
    numbers(T.CORE, "0.05", SIGNS, degree_share=0.05),
    numbers(T.CORE, "0.05 for all", (*SIGNS, *PARTS), degree_share=0.05, sparse_degree_share=0.05),
    instead(
        "OneSided: several sweeps of labels", "repeated sweeps", PARTS, (core, "repeats_are_quieter", _always_quieter)
    ),
    instead(
        "OneSided.choice_per_sweep: labels", "3 repeats", PARTS,
        (core, "repeats_are_quieter", _always_quieter), (core, "number_of_sweeps", _label_sweeps(3)),
    ),
    instead(
        "OneSided.choice_per_sweep: labels", "5 repeats", PARTS,
        (core, "repeats_are_quieter", _always_quieter), (core, "number_of_sweeps", _label_sweeps(5)),
    ),
    instead(
        "OneSided.choice_per_sweep: labels", "8 repeats", PARTS,
        (core, "repeats_are_quieter", _always_quieter), (core, "number_of_sweeps", _label_sweeps(8)),
    ),
    numbers(T.COUNTS, "1", COUNTED, floor=1.0),
    numbers(T.COUNTS, "1/2", BOUNDED, bound_share=0.5),
    numbers(T.COUNTS, "0.05", BOUNDED, bound_share=0.05),
    numbers(T.COUNTS, "1/2", RATIOS, triangle_share=0.5),
    numbers(T.COUNTS, "1/4", COUNTED, width_share=0.25),
    numbers(T.TAILS, "0", TAILS, roughness=0.0),
    numbers(T.TAILS, "infinity", TAILS, clear_step=1e9),
    numbers(T.TAILS, "0: none", TAILS, least_reach=0),
    numbers(T.TAILS, "1", TAILS, least_reach=1),
    numbers(T.TAILS, "infinity", TAILS, reach=1e9),
    numbers(T.TAILS, "1/2", TAILS, widest_part=0.5),
    numbers(T.TAILS, "1/8", TAILS, widest_part=0.125),
    numbers(T.DENSEST, "3 rounds", DENSEST, rounds_per_epsilon=0.0, least_rounds=3),
    numbers(T.DENSEST, "4 rounds", DENSEST, rounds_per_epsilon=0.0, least_rounds=4),
    numbers(T.DENSEST, "1", DENSEST, passes=1),
    numbers(T.DENSEST, "0.05, as the density", DENSEST, degree_share=0.05),
    numbers(T.DENSEST, "1/2", DENSEST, degree_share=0.5),
    numbers(T.TABLES, "no candidates", (*ENTRY, *WHOLE), clearly=1e9),
]  # fmt: skip
