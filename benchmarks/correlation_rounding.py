"""Global correlation rounding, seen: DN25a's Theorems 7.8 and 7.10, and where conditioning is worth its time.

    python benchmarks/correlation_rounding.py            # eight minutes on one core

*Curves.* Seeds are drawn at random, labels from the pseudo-distribution (`search="sampled"`), pinned, and the
relaxation of degree 2 solved again. After each seed: what labels drawn independently earn in expectation, relaxation
value less local correlation (Lemma 7.5, exact), beside the relaxation, beside random hyperplanes (cuts) or largest
projections (labels), and beside what the theorem allows to be lost: with the first r |eigenvalues| s of the normalized
label-extended graph, weights p that are shares of the degrees, and global correlation G,

    loss <= min_r (|s_1, ..., s_r| sqrt(G) + (1 - 1/q) s_(r+1)) (sum of the degrees)/2.

*Degrees.* The same for exact moments of degree 2, 4 and 6, where a seed costs two degrees and no solve.

*Races.* The best of 64 independent draws after the seeds, without any local search, beside the best of changes of
single labels, and of annealing of 1000 sweeps, from random starts in the same processor time each.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import matplotlib as mpl
import networkx as nx
import numpy as np
from common import RESULTS, markdown_table, write_csv
from scipy import sparse
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph import sos
from dpgraph.datasets import planted_csp, planted_cut_sparse
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import solve_csp_relaxation
from dpgraph.sos.csp.rounding import improve_labels, one_opt_labels, round_vectors
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.rounding import hyperplane_rounding

SEEDS, RUNS, RANKS = 12, 4, 40
RELAXED, RACED, START_SEED = 1e-4, 1e-5, 987_654
METHODS = ("conditioning", "single changes", "annealing")


class Instance(NamedTuple):
    """A graph to cut (a matrix), or labels to find; `best` is the best known share, planted or exact."""

    name: str
    data: sparse.csr_array | dpgraph.TwoCSP
    labels: int
    best: float | None = None


# --- instances -------------------------------------------------------------------------------------------------------


def subsets_graph(m: int) -> sparse.csr_array:
    """Halves of m elements, joined if they share one: cut best by an element, badly by hyperplanes (Karloff 1999)."""
    halves = np.array([[1 if i in c else -1 for i in range(m)] for c in itertools.combinations(range(m), m // 2)])
    A = (halves @ halves.T == 4 - m).astype(float)
    np.fill_diagonal(A, 0.0)
    return sparse.csr_array(A)


def blow_up(base: nx.Graph, size: int, noise: float, seed: int) -> sparse.csr_array:
    """Each vertex becomes `size`, an edge all pairs between; then each pair changes with probability `noise`."""
    dense = np.kron(nx.to_numpy_array(base), np.ones((size, size)))
    flips = np.triu(np.random.default_rng(seed).random(dense.shape) < noise, 1)
    dense = np.abs(dense - (flips | flips.T))
    np.fill_diagonal(dense, 0.0)
    return sparse.csr_array(dense)


def game(n: int, degree: float, q: int, share: float) -> dpgraph.TwoCSP:
    return planted_csp(n, degree, q, share, rng=0)


def grid_game(
    rows: int, columns: int, q: int, share: float, *, torus: bool = False, shifts: bool = False
) -> dpgraph.TwoCSP:
    """A unique game on a grid in which labels are planted that satisfy about `share` of it.

    Random permutations favour the planted label: two wrong ones agree with each other less often. With `shifts`, x - y
    = c modulo q, all labels are alike, and their domains grow as they do in a magnet.
    """
    rng = np.random.default_rng(0)
    labels = rng.integers(q, size=(rows, columns))
    instance = dpgraph.TwoCSP(rows * columns, q)
    for i, j in itertools.product(range(rows), range(columns)):
        for below, beside in ((i, j + 1), (i + 1, j)):
            if torus or (below < rows and beside < columns):
                other = below % rows, beside % columns
                satisfied, table = rng.random() < share, np.zeros((q, q))
                while (table[labels[i, j], labels[other]] == 1) != satisfied or not table.any():
                    order = np.roll(np.arange(q), rng.integers(q)) if shifts else rng.permutation(q)
                    table = np.eye(q)[order]
                instance.add_constraint(i * columns + j, other[0] * columns + other[1], table)
    return instance


def curve_instances() -> Iterator[Instance]:
    yield Instance("halves of 10", subsets_graph(10), 2, 0.8)
    yield Instance("halves of 12", subsets_graph(12), 2, 5 / 6)
    yield Instance("4 blocks", blow_up(nx.complete_graph(4), 60, 0.0, 0), 2, 2 / 3)
    yield Instance("4 blocks, noise 0.2", blow_up(nx.complete_graph(4), 60, 0.2, 0), 2)
    yield Instance("5-cycle of blocks", blow_up(nx.cycle_graph(5), 50, 0.0, 0), 2, 0.8)
    yield Instance("Petersen of blocks, noise 0.1", blow_up(nx.petersen_graph(), 25, 0.1, 0), 2)
    yield Instance("planted cut, degree 60", planted_cut_sparse(300, 60, -0.6, rng=0)[0], 2, 0.8)
    yield Instance("planted cut, degree 6", planted_cut_sparse(300, 6, -0.6, rng=0)[0], 2, 0.8)
    for q, degree in ((2, 40), (3, 40), (8, 40), (3, 8), (8, 12)):
        yield Instance(f"game, q = {q}, degree {degree}", game(100, degree, q, 0.8), q, 0.8)


def races() -> Iterator[tuple[str, dpgraph.TwoCSP, int]]:
    for q, share, size in ((3, 1.0, 30), (3, 0.97, 24), (3, 0.8, 14), (8, 1.0, 30), (8, 0.95, 10)):
        yield f"torus {size} x {size}, q = {q}, {share:g}", grid_game(size, size, q, share, torus=True), 6
    for rows, columns, share in ((4, 400, 1.0), (3, 100, 0.98), (2, 150, 0.95)):
        name = f"ladder {rows} x {columns}, q = 3, {share:g}"
        yield name, grid_game(rows, columns, 3, share), 4
    for rows, columns, q, share, seeds in (
        (2, 100, 5, 1.0, 1), (2, 100, 3, 1.0, 1), (2, 60, 3, 0.97, 4), (1, 150, 5, 1.0, 1), (2, 60, 8, 1.0, 1),
        (3, 60, 5, 1.0, 1), (2, 300, 5, 1.0, 1),
    ):  # fmt: skip
        yield (
            f"shifts, ladder {rows} x {columns}, q = {q}, {share:g}",
            grid_game(rows, columns, q, share, shifts=True),
            seeds,
        )
    yield "shifts, torus 14 x 14, q = 3, 0.9", grid_game(14, 14, 3, 0.9, torus=True, shifts=True), 12
    yield "shifts, torus 20 x 20, q = 3, 1", grid_game(20, 20, 3, 1.0, torus=True, shifts=True), 2
    yield "shifts, torus 12 x 12, q = 5, 1", grid_game(12, 12, 5, 1.0, torus=True, shifts=True), 2
    for q, degree, n, share in (
        (3, 4, 300, 1.0),
        (3, 3, 400, 0.97),
        (8, 4, 300, 1.0),
        (8, 12, 150, 0.85),
        (8, 10, 500, 0.7),
    ):
        yield f"game of {n}, q = {q}, degree {degree}, {share:g}", game(n, degree, q, share), 4
    yield "45 parities of three of 60 bits", parities(60, 45), 20
    for m in (10, 12, 14):
        yield f"halves of {m}", as_instance(subsets_graph(m)), 8
    A = planted_cut_sparse(400, 5, -0.6, rng=1)[
        0
    ]  # degree times correlation squared 1.8: just above where it can be seen
    yield "planted cut, degree 5", as_instance(A), 8
    yield "planted cut of 1000, degree 8", as_instance(planted_cut_sparse(1000, 8, -0.5, rng=3)[0]), 8
    yield "planted cut, degree 12", as_instance(planted_cut_sparse(400, 12, -0.6, rng=1)[0]), 8


def as_instance(A: sparse.csr_array) -> dpgraph.TwoCSP:
    return dpgraph.TwoCSP.from_networkx(nx.from_scipy_sparse_array(A), "max-k-cut", 2)


def parities(n: int, m: int) -> dpgraph.TwoCSP:
    """Satisfiable 3-XOR: a label of each parity says which two of its bits are set, and is compared with each bit."""
    rng = np.random.default_rng(0)
    planted, instance = rng.integers(2, size=n), dpgraph.TwoCSP(n + m, 4)
    for parity in range(m):
        bits = rng.choice(n, 3, replace=False)
        for place, bit in enumerate(bits.tolist()):
            table = np.zeros((4, 4))
            for label, (a, b) in enumerate(itertools.product((0, 1), repeat=2)):
                table[(a, b, (a + b + planted[bits].sum()) % 2)[place], label] = 1.0
            instance.add_constraint(bit, n + parity, table)
    return instance


# --- curves ----------------------------------------------------------------------------------------------------------


def extended(instance: Instance) -> sparse.csr_array:
    if isinstance(instance.data, dpgraph.TwoCSP):
        return sparse.csr_array(instance.data.label_extended_graph())
    return instance.data  # the label-extended graph of a cut has the same singular values, each twice


class Allowance:
    """What the theorem allows to be lost at a global correlation, as a share of the total weight."""

    def __init__(self, instance: Instance) -> None:
        A, q = extended(instance), instance.labels
        degrees = np.asarray(A.sum(axis=1)).ravel()
        root = 1 / np.sqrt(np.maximum(degrees, 1e-12))
        normalized = sparse.diags_array(root) @ A @ sparse.diags_array(root)
        count = min(RANKS, A.shape[0] - 2)
        sizes = np.sort(np.abs(eigsh(normalized, k=count, which="LM", return_eigenvectors=False)))[::-1]
        copies = 1 if isinstance(instance.data, dpgraph.TwoCSP) else 2
        sizes = np.repeat(sizes, copies)
        self.heads, self.rests = np.sqrt(np.cumsum(np.append(0.0, sizes[:-1] ** 2))), (1 - 1 / q) * sizes
        # x'Mx/2 is the value, and the degrees of the label-extended graph of a cut add up to twice those of the graph.
        self.unit = degrees.sum() * copies / 2 / weight(instance)

    def of(self, correlation: float) -> float:
        """At this global correlation."""
        return float(np.min(self.heads * np.sqrt(max(correlation, 0.0)) + self.rests) * self.unit)


def weight(instance: Instance) -> float:
    return float(instance.data.total_weight if isinstance(instance.data, dpgraph.TwoCSP) else instance.data.sum() / 2)


def geometric(instance: Instance, rng: np.random.Generator) -> float:
    """Mean share of random hyperplanes, or of largest projections."""
    if isinstance(instance.data, dpgraph.TwoCSP):
        objective = CSPObjective.of(instance.data)
        vectors = solve_csp_relaxation(objective, rng, tol=1e-3).vectors
        drawn = round_vectors(vectors, 150, rng)[::3]
        return float(np.mean([objective.value(row) for row in drawn]) / weight(instance))
    cut = SparseObjective(instance.data)
    vectors = solve_low_rank(cut, rng, tol=RELAXED).vectors
    return float(cut.values(hyperplane_rounding(cut, vectors, 100, rng, keep=100)).mean() / weight(instance))


def curve(instance: Instance) -> list[dict[str, object]]:
    """Mean over runs, seed by seed."""
    allowance, total = Allowance(instance), weight(instance)
    solve = dpgraph.max_2csp if isinstance(instance.data, dpgraph.TwoCSP) else dpgraph.max_cut
    how = {"search": "sampled", "local_search": False, "seeds": SEEDS, "beam": 1, "rounds": 1, "tol": 10 * RELAXED}
    runs = [solve(instance.data, rng=seed, **how).trace for seed in range(RUNS)]
    by_hyperplanes = geometric(instance, np.random.default_rng(0))
    rows = []
    for seeds in range(SEEDS + 1):
        entries = [run[min(seeds, len(run) - 1)] for run in runs]
        value = np.mean([e.value for e in entries]) / total
        rounded = np.mean([e.value - e.local_correlation for e in entries]) / total
        allowed = np.mean([allowance.of(e.global_correlation) for e in entries])
        correlation = np.mean([e.global_correlation for e in entries])
        rows.append(
            {
                "instance": instance.name, "seeds": seeds, "relaxation": value, "independent": rounded,
                "loss": value - rounded, "allowed loss": allowed, "global correlation": correlation,
                "geometric": by_hyperplanes, "best": instance.best or "",
            }
        )  # fmt: skip
    return rows


# --- degrees ---------------------------------------------------------------------------------------------------------


def degrees() -> list[tuple[object, ...]]:
    """Relaxation and independent rounding of exact moments, by degree and seeds that leave second moments."""
    instances = {
        "5-cycle": dpgraph.TwoCSP.from_networkx(nx.cycle_graph(5), "max-k-cut", 2),
        "Petersen graph": dpgraph.TwoCSP.from_networkx(nx.petersen_graph(), "max-k-cut", 2),
        "game of 7, q = 3": game(7, 5, 3, 0.8),
    }
    lines = []
    for name, instance in instances.items():
        for degree in (2, 4, 6) if instance.n_variables < 8 and instance.alphabet_size == 2 else (2, 4):
            pd = sos.lasserre(instance, degree)
            row = [name, degree, round(pd.value, 3)]
            for seeds in range(3):
                row.append(round(expected(pd, seeds), 3) if degree >= 2 * seeds + 2 else "")
            lines.append(tuple(row))
    return lines


def expected(pd: sos.PseudoDistribution, seeds: int) -> float:
    """Exact expectation of independent rounding after random seeds, all variables and labels alike."""
    if seeds == 0:
        return pd.value - sos.local_correlation(pd, pd.instance)
    instance, total = pd.instance, 0.0
    for variable in instance.variables:
        for label, probability in zip(instance.alphabet, pd.marginal(variable), strict=True):
            if probability > 1e-6:
                total += probability * expected(pd.condition(variable, label), seeds - 1)
    return total / instance.n_variables


# --- races -----------------------------------------------------------------------------------------------------------


def race(instance: dpgraph.TwoCSP, seeds: int) -> tuple[list[float], float, float]:
    """Shares of conditioning, of plain and of annealed local search at equal time; the bound; seconds."""
    start = time.process_time()
    how = {"search": "sampled", "local_search": False, "seeds": seeds, "beam": 1, "rounds": 64, "tol": RACED}
    found = dpgraph.max_2csp(instance, rng=0, **how)
    seconds, total = time.process_time() - start, instance.total_weight
    objective = CSPObjective.of(instance)
    plain = best_until(objective, seconds, lambda labels, _: one_opt_labels(objective, labels)[0])
    annealed = best_until(objective, seconds, lambda labels, rng: improve_labels(objective, labels, rng, sweeps=1000))
    return [value / total for value in (found.value, plain, annealed)], found.upper_bound / total, seconds


def best_until(objective: CSPObjective, seconds: float, improve: Callable[..., np.ndarray]) -> float:
    """The best value from random starts; the last one that begins in time is finished."""
    # Not the seed of the planted labels: the first random start would be those.
    rng, best, start = np.random.default_rng(START_SEED), 0.0, time.process_time()
    while time.process_time() - start < seconds:
        labels = rng.integers(objective.alphabet_size, size=(1, objective.n_variables))
        best = max(best, objective.value(improve(labels, rng)))
    return best


# --- what is shown ---------------------------------------------------------------------------------------------------


def summary(rows: list[dict[str, object]]) -> str:
    lines = []
    for name in dict.fromkeys(row["instance"] for row in rows):
        own = [row for row in rows if row["instance"] == name]
        cells = [f"{own[s]['independent']:.3f}" for s in (0, 1, 2, 4, 8, SEEDS)]
        first, last = own[0], own[-1]
        losses = (
            f"{first['loss']:.3f} / {first['allowed loss']:.2f}",
            f"{last['loss']:.3f} / {last['allowed loss']:.2f}",
        )
        best = f"{last['best']:.3f}" if last["best"] else ""
        lines.append((name, f"{first['relaxation']:.3f}", *cells, f"{first['geometric']:.3f}", best, *losses))
    head = (
        "instance",
        "relaxation",
        "0",
        "1",
        "2",
        "4",
        "8",
        "12 seeds",
        "hyperplanes",
        "planted",
        "loss / allowed, 0",
        "12",
    )
    return markdown_table(head, lines)


def picture(rows: list[dict[str, object]]) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shown = ("halves of 12", "4 blocks, noise 0.2", "game, q = 3, degree 8", "5-cycle of blocks")
    figure, axes = plt.subplots(1, len(shown), figsize=(13, 3.4), constrained_layout=True)
    for axis, name in zip(axes, shown, strict=True):
        own = [row for row in rows if row["instance"] == name]
        seeds = [row["seeds"] for row in own]
        axis.plot(seeds, [row["relaxation"] for row in own], color="black", label="relaxation")
        axis.plot(seeds, [row["independent"] for row in own], "o-", color="C0", label="independent rounding")
        axis.axhline(own[0]["geometric"], color="C1", linestyle="--", label="hyperplanes, largest projections")
        allowed = [row["relaxation"] - row["allowed loss"] for row in own]
        axis.plot(seeds, allowed, ":", color="C3", label="relaxation less the theorem's loss")
        axis.set(title=name, xlabel="seeds")
        axis.set_ylim(0.38, 0.95)
    axes[0].set_ylabel("share of the weight")
    axes[-1].legend(fontsize=7, loc="lower right")
    figure.savefig(RESULTS / "correlation_rounding.png", dpi=110)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    rows = [row for instance in curve_instances() for row in curve(instance)]
    write_csv(RESULTS / "correlation_rounding.csv", rows, tuple(rows[0]))
    picture(rows)
    exact = markdown_table(("instance", "degree", "relaxation", "0 seeds", "1 seed", "2 seeds"), degrees())
    lines = []
    for name, instance, seeds in races():
        shares, bound, seconds = race(instance, seeds)
        best = [method for method, share in zip(METHODS, shares, strict=True) if share > max(shares) - 1e-9]
        cells = (f"{share:.4f}" for share in (*shares, bound))
        lines.append((name, seeds, *cells, f"{seconds:.1f}", "all" if len(best) == len(METHODS) else ", ".join(best)))
    raced = markdown_table(("instance", "seeds", *METHODS, "bound", "processor seconds", "best"), lines)
    parts = (
        f"# Global correlation rounding\n\n{__doc__}",
        "## Curves",
        summary(rows),
        "## Degrees",
        exact,
        "## Races",
        raced,
    )
    (RESULTS / "correlation_rounding.md").write_text("\n\n".join(parts))
    print("\n\n".join(parts[1:]))


if __name__ == "__main__":
    main()
