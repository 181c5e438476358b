#!/usr/bin/env python
"""Fit every number of :mod:`dpgraph.tuning` to public random graphs, or show that it does not matter.

For each class there is a scenario: calls of public functions on planted cuts, blocks and groups, with
even and with uneven degrees. No graph of a table of a private mechanism is among them. A number is replaced by other
values of its range, one at a time. All values see the same graphs and the same seeds, so that differences to the
default are paired. Utilities are shares in [0, 1]: of an
eigenspace and a low-rank matrix that are found.

    python benchmarks/fit_tuning.py                          # all, into results/tuning.md
    python benchmarks/fit_tuning.py Power                    # one class
    python benchmarks/fit_tuning.py Power.decay              # one number
    python benchmarks/fit_tuning.py --quick                  # two seeds, nothing is written

Verdicts: *better: v* if v gains more than 0.002 and three standard errors; *does not matter* if all differences
are below 0.002 by two standard errors; *not reached* if no call changes at all; else *best or level*.
"""

from __future__ import annotations

import argparse
import fcntl
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, markdown_table
from science import correlation, spike
from scipy import sparse
from subspaces import sine, symmetric_bulk

import dpgraph
from dpgraph import strategies, tuning
from dpgraph.datasets import planted_cut_sparse

Graph = sparse.csr_array

SEEDS, GRAPHS = 12, 4
#: What a difference must exceed, and in standard errors.
LEAST, ERRORS = 0.002, 3.0
PAGE = RESULTS / "tuning.md"
HEADER = ("number", "default", "tried", "verdict", "worst loss")
DELTA = 1e-6


# --- graphs: a new one for each of the first seeds, then again -------------------------------------------------------


@cache
def cut_graph(n: int, degree: float, correlation: float, seed: int) -> Graph:
    """A planted cut, even degrees."""
    return planted_cut_sparse(n, degree, correlation, rng=seed)[0]


def random_graph(degrees: np.ndarray, vertices: int, correlation: float, generator: np.random.Generator) -> np.ndarray:
    """The law of largest entropy with these quantiles of degrees: p/(1 - p) = x_i x_j, and a planted bisection."""
    places = (np.arange(vertices) + generator.random()) / vertices * degrees.size
    wanted = np.clip(np.sort(degrees)[places.astype(np.int64)], 0.0, 0.999 * (vertices - 1))
    x = wanted / np.sqrt(max(wanted.sum(), 1.0))
    for _ in range(12):  # a fixed point; the root keeps it from oscillating
        inverse = 1 / (1 + np.outer(x, x))
        x = np.sqrt(x * wanted / np.maximum(inverse @ x - inverse.diagonal() * x, 1e-12))
    odds = np.outer(x, x)
    sides = generator.permutation(np.arange(vertices) % 2) * 2.0 - 1
    p = odds / (1 + odds) * (1 + correlation * np.outer(sides, sides))
    upper = np.triu(generator.random(p.shape) < p, 1).astype(np.float64)
    return upper + upper.T


@cache
def uneven_graph(n: int, degree: float, correlation: float, seed: int) -> Graph:
    """Power-law degrees of exponent 3, and a planted cut."""
    power = (1 - (np.arange(n) + 0.5) / n) ** -0.5
    return sparse.csr_array(random_graph(degree * power / power.mean(), n, correlation, np.random.default_rng(seed)))


@cache
def block_graph(n: int, blocks: int, degree: float, uneven: float, seed: int) -> Graph:
    """As many blocks of equal size, four times as dense inside; degrees lognormal of this standard deviation."""
    rng = np.random.default_rng(seed)
    block = rng.integers(blocks, size=n)
    odds = np.where(block[:, None] == block, 4.0, 1.0) * np.outer(*2 * [rng.lognormal(0, uneven, n)])
    p = np.minimum(odds * degree * n / odds.sum(), 1.0)
    upper = np.triu(rng.random((n, n)) < p, 1).astype(np.float64)
    return sparse.csr_array(upper + upper.T)


@cache
def group_graph(n: int, size: int, inside: float, degree: float, seed: int) -> Graph:
    """A dense group, and as many edges at all others as at its members: degrees do not show it."""
    rng = np.random.default_rng(seed)
    members = rng.permutation(n) < size
    missing = np.where(members, max(degree - inside * size, 1.0), degree)
    p = np.minimum(np.outer(missing, missing) / missing.sum() + inside * np.outer(members, members), 1.0)
    upper = np.triu(rng.random((n, n)) < p, 1).astype(np.float64)
    return sparse.csr_array(upper + upper.T)


@cache
def leading(make: Callable[[int], Graph], seed: int, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Leading eigenvectors of a graph, and its best approximation of this rank."""
    values, vectors = np.linalg.eigh(make(seed).toarray())
    kept = np.argsort(-np.abs(values))[:rank]
    return vectors[:, kept], vectors[:, kept] * values[kept] @ vectors[:, kept].T


# --- calls and what they are worth -----------------------------------------------------------------------------------

#: make(seed of the graph, seed of the noise) -> utility
Run = Callable[[int, int], float]


def embedding(
    make: Callable[[int], Graph], rank: int, epsilon: float, mechanism: Any = "auto", delta: float = 0.0
) -> Run:
    """Mean of the squared cosines with the leading space, and of the part of the low-rank matrix that is recovered.

    With rank 0, the call's own, the share of the matrix that is explained.
    """
    asked = {"rank": rank or "auto"}

    def run(graph: int, seed: int) -> float:
        space, best = leading(make, graph, rank or 1)
        budget = {"epsilon": epsilon, "delta": delta, "mechanism": mechanism, "rng": seed}
        try:
            private = dpgraph.private_normalized_adjacency(
                make(graph), **budget, **(asked if isinstance(mechanism, str) else {})
            )
        except dpgraph.MechanismHalted:
            return 0.0
        factor = private.adjacency_factor()
        if rank == 0:
            A = make(graph).toarray()
            return 1 - float(np.sum((A - factor @ private.core @ factor.T) ** 2) / np.sum(A**2))
        overlap = float(np.sum((space.T @ np.linalg.qr(factor)[0]) ** 2)) / rank
        missed = float(np.linalg.norm(best - factor @ private.core @ factor.T) / np.linalg.norm(best))
        return (overlap + 1 - min(missed, 1.0)) / 2

    return run


def spiked(n: int, m: int, epsilon: float) -> Run:
    """Correlation with a spike in noise of 16 times the threshold, of which u is flat (n rows)."""

    def run(graph: int, seed: int) -> float:
        Y, u = spike(n, m, 16 * math.sqrt(n / m), np.random.default_rng(graph))
        private = dpgraph.private_singular_subspace(Y, 1, sensitivity=1.0, epsilon=epsilon, delta=DELTA, rng=seed)
        return correlation(u, private.left)

    return run


def above_bulk(n: int, rank: int, gap: float, ratio: float, epsilon: float) -> Run:
    """Cosine of the largest angle to flat leading vectors of value ratio gap, above a bulk up to (ratio - 1) gap."""

    def run(graph: int, seed: int) -> float:
        case = symmetric_bulk(n, rank, gap, True, ratio, np.random.default_rng(graph))
        private = dpgraph.private_projector(case.matrix, rank, sensitivity=1.0, epsilon=epsilon, delta=DELTA, rng=seed)
        return math.sqrt(max(1 - sine(case.left, private.basis) ** 2, 0.0))

    return run


# --- scenarios -------------------------------------------------------------------------------------------------------


def graphs(make: Callable[..., Any], *arguments: float) -> Callable[[int], Any]:
    """The graphs of one law, by their seed."""
    return partial(make, *arguments)


GAP = strategies.Coherence(rank=2, certificate="gap-and-coherence")
STABLE = strategies.Coherence(rank=2)
POWER = "noisy-power"
even, uneven, block, group = (partial(graphs, make) for make in (cut_graph, uneven_graph, block_graph, group_graph))

EVEN, UNEVEN, DENSE, SPARSE = even(300, 40, -0.4), uneven(300, 40, -0.3), even(300, 120, -0.25), even(400, 10, -0.6)
TWO, UNEVEN_TWO, THREE = block(300, 2, 80, 0.0), block(300, 2, 60, 0.6), block(300, 3, 90, 0.3)
HUBS, GROUP, SMALL_GROUP = uneven(400, 30, 0.0), group(400, 60, 0.6, 40), group(400, 40, 0.9, 25)
GAPS = even(300, 100, -0.6)

PRODUCTS = (
    embedding(TWO, 2, 1.5, "noisy-power", DELTA), embedding(TWO, 2, 4.0, "noisy-power", DELTA),
    embedding(UNEVEN_TWO, 2, 2.0, "noisy-power", DELTA), embedding(THREE, 2, 6.0, "noisy-power", DELTA),
    embedding(TWO, 2, 4.0, POWER, DELTA), embedding(THREE, 3, 3.0, "noisy-power", DELTA),
)  # fmt: skip
LEADING = (
    embedding(HUBS, 1, 0.5, "noisy-power"), embedding(HUBS, 1, 2.0, "noisy-power"),
    embedding(TWO, 1, 0.3, "noisy-power"), embedding(GROUP, 1, 1.0, "noisy-power"),
    embedding(GROUP, 1, 4.0, "noisy-power"), embedding(SMALL_GROUP, 1, 3.0, "noisy-power"),
)  # fmt: skip
CERTIFIED = tuple(embedding(GAPS, 2, epsilon, STABLE, DELTA) for epsilon in (1.0, 2.0, 4.0))
BY_RANK = GAPS, even(300, 100, -0.9), block(300, 3, 120, 0.0)
EMBEDDINGS = (embedding(TWO, 2, 4.0, "noisy-power", DELTA), embedding(GAPS, 2, 3.0, STABLE, DELTA))
BY_RATIO = (
    embedding(TWO, 2, 1.5, delta=DELTA), embedding(TWO, 2, 3.0, delta=DELTA),
    embedding(UNEVEN_TWO, 2, 1.5, delta=DELTA), embedding(UNEVEN_TWO, 2, 3.0, delta=DELTA),
    embedding(block(300, 2, 20, 0.0), 2, 2.0, delta=DELTA),
)  # fmt: skip
BY_SIZE = (
    embedding(block(1600, 2, 60, 0.6), 2, 2.0, delta=DELTA),
    embedding(block(1600, 2, 60, 0.0), 2, 1.5, delta=DELTA),
)
MANY = block(1600, 2, 30, 0.0)
HIDDEN = group(1600, 40, 0.6, 2.8)
FOR_HIDDEN = tuple(embedding(HIDDEN, 1, epsilon) for epsilon in (2.0, 2.4, 2.8))
FAR = (
    embedding(group(1600, 100, 0.7, 25), 1, 4.0, "noisy-power"),
    embedding(group(1600, 100, 0.7, 25), 1, 6.0, "noisy-power"),
    embedding(group(1600, 200, 0.3, 30), 1, 6.0, "noisy-power"),
    embedding(group(1600, 30, 0.6, 4), 1, 2.0, "noisy-power"),
)
FOR_VECTOR = (
    embedding(HUBS, 1, 4.0), embedding(GROUP, 1, 2.0), embedding(SMALL_GROUP, 1, 3.5), embedding(UNEVEN_TWO, 1, 2.5),
    embedding(GROUP, 1, 5.5),
)  # fmt: skip

#: The calls that a class is fitted to, and those of single numbers that these calls do not ask for.
SCENARIOS: dict[str, tuple[Run, ...]] = {
    "Power": PRODUCTS,
    "Vector": LEADING,
    "Residual": FAR,
    "Vector.far_products": FAR,
    "Vector.unknown_products": FAR,
    "Vector.far_least": FAR,
    "Vector.far_most": FAR,
    "GapTest.accepted_noise": tuple(
        embedding(make, 0, 4.0, strategies.Coherence(certificate="gap-and-coherence"), DELTA) for make in BY_RANK
    ),
    "StabilityTest.accepted_value": tuple(
        embedding(make, 0, epsilon, "coherence", DELTA) for make in BY_RANK for epsilon in (2.0, 4.0)
    ),
    "Krylov": (
        *(spiked(*shape, epsilon) for shape in ((60, 6000), (100, 1000), (600, 60)) for epsilon in (1.0, 4.0)),
        *(above_bulk(300, rank, 250.0, ratio, 1.0) for rank, ratio in ((1, 1.0), (1, 10.0), (3, 2.0), (3, 30.0))),
        *(above_bulk(300, rank, 60.0, 1.0, 1.0) for rank in (1, 3)),
    ),
    "Power.least": tuple(
        embedding(make, rank, epsilon, "noisy-power", DELTA)
        for make, rank in ((even(1200, 300, -0.75), 2), (block(600, 3, 250, 0.3), 3))
        for epsilon in (0.25, 0.5)
    ),
    "GapTest": tuple(embedding(GAPS, 2, epsilon, GAP, DELTA) for epsilon in (1.0, 2.0, 4.0)),
    "StabilityTest": CERTIFIED,
    "Embedding": EMBEDDINGS,
    "Embedding.minimum_share": tuple(
        embedding(GAPS, 2, epsilon, strategies.Coherence(rank=2, regularization=50.0), DELTA) for epsilon in (2.0, 4.0)
    ),
    "Embedding.typical_coherence": CERTIFIED,
    "Embedding.above_noise": tuple(
        embedding(make, 0, epsilon, "randomized-response")
        for make in (TWO, UNEVEN_TWO, GROUP)
        for epsilon in (2.0, 3.0)
    ),
    "Embedding.little_noise": tuple(
        embedding(make, 1, epsilon, "randomized-response")
        for make in (TWO, UNEVEN_TWO, HUBS, GROUP)
        for epsilon in (4.0, 6.0, 8.0)
    ),
    "Embedding.left": tuple(
        embedding(make, 2, epsilon, "randomized-response")
        for make in (TWO, UNEVEN_TWO)
        for epsilon in (0.4, 0.8)
    ),
    "Embedding.vector_total_share": LEADING,
    "Embedding.vector_regularization": (*LEADING, embedding(HUBS, 1, 4.0, "noisy-power")),
    "Embedding.answers_find": FOR_HIDDEN,
    "Embedding.products_find": FOR_HIDDEN,
    "EmbeddingRule": FOR_VECTOR,
    "EmbeddingRule.even_ratio": (*BY_RATIO, *BY_SIZE),
    "EmbeddingRule.vector_entry": tuple(embedding(make, 1, 5.0) for make in (HIDDEN, MANY, uneven(1600, 20, 0.0))),
    "EmbeddingRule.least_degree": (embedding(MANY, 2, 2.0, delta=DELTA), *BY_RATIO, *BY_SIZE),
    "EmbeddingRule.vector_by_residual": FOR_HIDDEN,
    "EmbeddingRule.vector_by_answers": tuple(
        embedding(group(1600, 100, 0.7, 25), 1, epsilon) for epsilon in (2.0, 4.0, 5.0)
    ),
    "EmbeddingRule.uneven": tuple(
        embedding(block(300, 2, 150, spread), 2, epsilon, delta=DELTA)
        for spread in (0.3, 0.6)
        for epsilon in (0.7, 1.2)
    ),
    "EmbeddingRule.share": (*BY_RATIO[:3], *FOR_VECTOR[:1]),
}  # fmt: skip

#: Other values than half and double, where the range or the kind of the number asks for it.
TRIED: dict[str, tuple[Any, ...]] = {
    "Krylov.first": (6, 8, 16, 24),
    "Krylov.most": (24, 48, 96),
    "Krylov.noise": (0.2, 0.25, 0.5, 0.7),
    "Krylov.reserve": (0.1, 0.2, 0.5),
    "Krylov.seen": (0.25, 0.35, 0.7),
    "Krylov.columns": (100, 200, 640),
    "Power.trial": (0.0, 0.35, 0.7, 1.0),
    "Power.no_gap": (0.0, 0.75, 1.0),
    "Power.decay": (0.0, 0.25, 0.75, 1.0),
    "Power.extra": (0, 1, 6),
    "Power.least": (4, 6, 12, 16),
    "Vector.power": (0.25, 0.75, 1.0),
    "Vector.decay": (0.0, 0.3, 0.6),
    "Vector.last_decays": ((), (0.5,), (1.0,), (0.25, 0.5, 0.75, 1.0)),
    "Vector.caps": ((math.inf,), (3.0,), (2.0, 4.5), (1.5, 3.0, 7.0, math.inf)),
    "Vector.second": (0.3, 0.8, 1.0),
    "Vector.left": (0.4, 1.0),
    "StabilityTest.attempt_slacks": ((0.7,), (0.35, 0.35), (0.6, 0.05)),
    "StabilityTest.accepted_value": (0.4, 0.6, 0.9),
    "GapTest.spectrum_share": (0.2, 0.3, 0.6),
    "Embedding.typical_coherence": (1.0, 2.0, 3.0),
    "Embedding.above_noise": (1.0, 1.3, 2.0),
    "Embedding.little_noise": (0.0, 0.006, 0.024, 0.05),
    "Embedding.regularization": (1.0, 4.0, 8.0, 32.0),
    "Embedding.vector_regularization": (16.0, 32.0, 128.0, 256.0),
    "EmbeddingRule.even_ratio": (1.0, 1.4, 3.0, 4.0),
}  # fmt: skip


def candidates(name: str, value: Any) -> tuple[Any, ...]:
    """Other values of a number: those of :data:`TRIED`, else half and double, of a tuple one number at a time."""
    return TRIED.get(name) or tuple(_others(value))


def _others(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for k, entry in enumerate(value):
            yield from ((*value[:k], other, *value[k + 1 :]) for other in _others(entry))
    elif isinstance(value, int):
        yield from {max(value // 2, 1), value * 2} - {value}
    elif 0 < value < math.inf:
        yield from (value / 2, value * 2)


# --- the fit ---------------------------------------------------------------------------------------------------------


@contextmanager
def replaced(topic: Any, field: str, value: Any) -> Iterator[None]:
    """Set a number of a frozen class for a while: everything that reads it holds this object."""
    before = getattr(topic, field)
    object.__setattr__(topic, field, value)
    try:
        yield
    finally:
        object.__setattr__(topic, field, before)


@dataclass(frozen=True)
class Difference:
    """What a value gains over the default, and its standard error, the calls being fixed and the seeds random."""

    value: Any
    mean: float
    error: float

    @property
    def counts(self) -> bool:
        """Whether it is more than chance, and more than a trifle."""
        return abs(self.mean) > max(LEAST, ERRORS * self.error)

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ({self.error:.4f})"


@cache
def default(run: Run, seed: int) -> float:
    return run(seed % GRAPHS, seed)


def differences(run: Run, topic: Any, field: str, value: Any, seeds: range) -> np.ndarray:
    """Gains of a value by seed."""
    gains: list[float] = []
    for seed in seeds:
        before = default(run, seed)
        with replaced(topic, field, value):
            gains.append(run(seed % GRAPHS, seed) - before)
    return np.array(gains)


def difference(calls: tuple[Run, ...], topic: Any, field: str, value: Any, seeds: range) -> Difference:
    gains = np.array([differences(run, topic, field, value, seeds) for run in calls])
    errors = gains.var(axis=1, ddof=1) / len(seeds)
    return Difference(value, float(gains.mean()), float(np.sqrt(errors.sum())) / len(calls))


def fit(name: str, topic: Any, field: str, seeds: int) -> tuple[str, ...]:
    """The line of one number; a gain must hold on twice as many new seeds."""
    calls, value = SCENARIOS.get(name) or SCENARIOS[type(topic).__name__], getattr(topic, field)
    tried = [difference(calls, topic, field, other, range(seeds)) for other in candidates(name, value)]
    for found in tried:
        print(f"{name:34s} {shown(value):>10s} -> {shown(found.value):24s} {found}", flush=True)
    worst, best = min(tried, key=lambda found: found.mean), max(tried, key=lambda found: found.mean)
    verdict = "best or level"
    if best.counts and best.mean > 0:
        best = difference(calls, topic, field, best.value, range(seeds, 3 * seeds))
        verdict = f"better: {shown(best.value)} by {best}" if best.counts and best.mean > 0 else verdict
    elif not any(found.mean or found.error for found in tried):
        verdict = "not reached"
    elif all(abs(found.mean) + 2 * found.error < LEAST for found in tried):
        verdict = "does not matter"
    print(f"{name:34s} {verdict}", flush=True)
    return name, shown(value), ", ".join(shown(found.value) for found in tried), verdict, str(worst)


def shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({' '.join(map(shown, value))})"
    return f"{value:.4g}"


def numbers(wanted: list[str]) -> Iterator[tuple[str, Any, str]]:
    """Name, object and field of the numbers of these classes or names, or of all."""
    for topic in (getattr(tuning, name) for name in tuning.__all__):
        kind = type(topic).__name__
        for field in fields(topic):
            name = f"{kind}.{field.name}"
            if not wanted or name in wanted or kind in wanted:
                yield name, topic, field.name


def lines_of_page() -> dict[str, tuple[str, ...]]:
    """The table that is there, by the name of the number."""
    if not PAGE.exists():
        return {}
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return {row[0]: tuple(row) for row in rows[2:]}


def write(line: tuple[str, ...]) -> None:
    """Put one line into the page, in the order of the numbers; several processes may do so."""
    with (Path(tempfile.gettempdir()) / "tuning.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lines = lines_of_page() | {line[0]: line}
        kept = [lines[name] for name, _, _ in numbers([]) if name in lines]
        PAGE.write_text(
            "# Fitted numbers\n\nMade by `benchmarks/fit_tuning.py`, which says what is measured. Losses and gains are "
            "mean differences of utilities in [0, 1] to the default, with standard errors.\n\n"
            + markdown_table(HEADER, kept)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="classes or numbers, such as OneSided or OneSided.sharpness")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--quick", action="store_true", help="two seeds; nothing is written")
    arguments = parser.parse_args()
    for name, topic, field in numbers(arguments.names):
        line = fit(name, topic, field, 2 if arguments.quick else arguments.seeds)
        if not arguments.quick:
            write(line)


if __name__ == "__main__":
    main()
