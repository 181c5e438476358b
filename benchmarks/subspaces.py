#!/usr/bin/env python
"""Subspaces of matrices whose spectrum below the leading part is not zero, against every published method at its best.

Inputs: flat or Gaussian leading vectors above a bulk whose edge is at sigma_r - gap, symmetric and rectangular, and
single spikes in the Wishart model. Sizes and seeds are those of no experiment that chose a number of the package.
Neighbours move by 1, delta is 1e-6. The number is the sine of the largest angle to the exact leading space, the worse
of both sides of a rectangular matrix; of a spike that of the left vector.

Peers have exact Gaussian accounting and noise by the longest row. They are told what no private method knows: HP14 with
p = rank or 2 rank columns and 2 to 64 products, momentum and a Chebyshev filter with the exact sigma_{r+1} and as many
products, each with the numbers that are best on average *in hindsight*.

    python -m benchmarks.subspaces [--quick]

It resumes from ``results/subspaces.csv``; the tables are in ``results/subspaces.md`` and in docs/subspaces-theory.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpgraph
from benchmarks.common import RESULTS, ResumableTable, markdown_table
from dpgraph.privacy.accounting import gdp_mu

FloatArray = NDArray[np.float64]

DELTA = 1e-6
RATIOS, EPSILONS = (1, 2, 4, 10, 30), (0.5, 1.0, 4.0, 8.0)
PRODUCTS = (2, 4, 8, 16, 24, 40, 64)
DEFAULT = "default"
ACCEPTED = 1.2
COLUMNS = ("input", "ratio", "epsilon", "method", "run", "sine", "estimate")


class Case(NamedTuple):
    """A matrix with its exact leading vectors: of a symmetric one both sides are the same."""

    matrix: FloatArray
    left: FloatArray
    right: FloatArray
    # sigma_{r+1}
    next: float

    @property
    def rank(self) -> int:
        """Of the space in question."""
        return self.left.shape[1]

    @property
    def symmetric(self) -> bool:
        """Whether both sides are the same array."""
        return self.left is self.right


class Input(NamedTuple):
    """A law of matrices: ``make(ratio, rng)``."""

    make: Callable[[float, np.random.Generator], Case]
    ratios: tuple[float, ...] = RATIOS
    runs: int = 3
    # Whether the right vectors count too
    both: bool = True


def orthonormal(X: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.qr(X)[0])


def frame(n: int, rank: int, flat: bool, rng: np.random.Generator) -> FloatArray:
    return orthonormal(rng.choice([-1.0, 1.0], size=(n, rank)) if flat else rng.normal(size=(n, rank)))


def symmetric_bulk(n: int, rank: int, gap: float, flat: bool, ratio: float, rng: np.random.Generator) -> Case:
    """Values from 1.3 ratio gap down to ratio gap, signs in turn; a Gaussian bulk up to (ratio - 1) gap."""
    U = frame(n, rank, flat, rng)
    W = rng.normal(size=(n, n))
    W = W + W.T
    W -= U @ (U.T @ W)
    W -= (W @ U) @ U.T
    edge = (ratio - 1) * gap
    A = (U * np.linspace(1.3, 1.0, rank) * ratio * gap * (-1.0) ** np.arange(rank)) @ U.T
    A += W * (edge / np.abs(np.linalg.eigvalsh(W)).max())
    return Case((A + A.T) / 2, U, U, edge)


def rectangular_bulk(n: int, m: int, rank: int, gap: float, flat: bool, ratio: float, rng: np.random.Generator) -> Case:
    U, V = frame(n, rank, flat, rng), frame(m, rank, flat, rng)
    W = rng.normal(size=(n, m))
    W -= U @ (U.T @ W)
    W -= (W @ V) @ V.T
    edge = (ratio - 1) * gap
    A = (U * np.linspace(1.3, 1.0, rank) * ratio * gap) @ V.T + W * (edge / np.linalg.norm(W, 2))
    return Case(A, U, V, edge)


def wishart(n: int, m: int, strength: float, rng: np.random.Generator) -> Case:
    """Covariance I + strength sqrt(n/m) u u', u flat; the exact vectors are those of the sample."""
    u = np.full(n, 1 / math.sqrt(n))
    Y = rng.normal(size=(n, m))
    Y += (math.sqrt(1 + strength * math.sqrt(n / m)) - 1) * np.outer(u, u @ Y)
    left, values, right = np.linalg.svd(Y, full_matrices=False)
    return Case(Y, left[:, :1], right[:1].T, float(values[1]))


def shaped_bulk(shape: str, n: int, m: int, rank: int, gap: float, ratio: float, rng: np.random.Generator) -> Case:
    """Gaussian leading vectors above a bulk whose values are not those of a Gaussian matrix: up to (ratio - 1) gap.

    Of n x n matrices that are symmetric, with signs at random, and of n x m ones. Leading values are equal up to a
    thousandth if the shape is "ties".
    """
    count = n - rank
    decays = {
        "power law": np.arange(1, count + 1) ** -0.5,
        "two clusters": np.where(np.arange(count) < count // 3, 1 - 0.02 * rng.random(count), 0.3 * rng.random(count)),
        "ties": 1 - np.arange(count) / count,
    }
    edge = (ratio - 1) * gap
    lead = ratio * gap * np.linspace(1.001 if shape == "ties" else 1.2, 1.0, rank)
    U = orthonormal(rng.normal(size=(n, n)))
    V = U if m == n else orthonormal(rng.normal(size=(m, n)))
    signs = rng.choice([-1.0, 1.0], size=n) if m == n else np.ones(n)
    A = (U * np.concatenate([lead, edge * decays[shape]]) * signs) @ V.T
    left = U[:, :rank]
    return Case((A + A.T) / 2 if m == n else A, left, left if m == n else V[:, :rank], edge)


INPUTS = {
    "flat, n = 420, r = 1": Input(partial(symmetric_bulk, 420, 1, 250.0, True)),
    "Gaussian, n = 700, r = 2": Input(partial(symmetric_bulk, 700, 2, 250.0, False)),
    "flat, n = 900, r = 5": Input(partial(symmetric_bulk, 900, 5, 250.0, True)),
    "flat, 180 x 1000, r = 1": Input(partial(rectangular_bulk, 180, 1000, 1, 250.0, True)),
    "Gaussian, 220 x 700, r = 2": Input(partial(rectangular_bulk, 220, 700, 2, 250.0, False)),
    "flat, 260 x 640, r = 5": Input(partial(rectangular_bulk, 260, 640, 5, 250.0, True)),
    "Wishart, 130 x 2000": Input(partial(wishart, 130, 2000), (4, 8, 16, 32), runs=6, both=False),
    "Wishart, 350 x 5000": Input(partial(wishart, 350, 5000), (4, 8, 16, 32), runs=6, both=False),
    "Wishart, 90 x 15000": Input(partial(wishart, 90, 15000), (8, 16, 32), runs=6, both=False),
    # Drawn after the method for long sides was final.
    "Wishart, 50 x 24000": Input(partial(wishart, 50, 24000), (10, 20), runs=4, both=False),
    "Wishart, 240 x 7000": Input(partial(wishart, 240, 7000), (6, 14), runs=4, both=False),
    "Gaussian, 9000 x 120, r = 2": Input(partial(rectangular_bulk, 9000, 120, 2, 400.0, False), (1.5, 6)),
    "flat, 330 x 330, r = 3": Input(partial(rectangular_bulk, 330, 330, 3, 300.0, True), (1.5, 6, 20)),
    "Gaussian, n = 560, r = 3": Input(partial(symmetric_bulk, 560, 3, 300.0, False), (1.5, 6, 20)),
    # Drawn after directions whose noise is harmless were kept.
    "power law, n = 380, r = 2": Input(partial(shaped_bulk, "power law", 380, 380, 2, 200.0), (3, 12, 30)),
    "power law, 160 x 900, r = 1": Input(partial(shaped_bulk, "power law", 160, 900, 1, 200.0), (3, 12, 30)),
    "two clusters, n = 520, r = 5": Input(partial(shaped_bulk, "two clusters", 520, 520, 5, 280.0), (2, 8, 30)),
    "two clusters, 200 x 450, r = 2": Input(partial(shaped_bulk, "two clusters", 200, 450, 2, 200.0), (2, 8, 30)),
    "ties, n = 300, r = 3": Input(partial(shaped_bulk, "ties", 300, 300, 3, 220.0), (2, 8, 25)),
    "ties, 140 x 600, r = 2": Input(partial(shaped_bulk, "ties", 140, 600, 2, 260.0), (2, 8, 25)),
    "Gaussian, n = 640, r = 1": Input(partial(symmetric_bulk, 640, 1, 150.0, False), (1, 5, 28)),
}


# --- peers -----------------------------------------------------------------------------------------------------------


def power(
    case: Case, mu: float, rng: np.random.Generator, columns: int, products: int
) -> tuple[FloatArray, FloatArray]:
    """HP14; of a rectangular matrix both products in turn."""
    A = case.matrix
    kinds = [A] if case.symmetric else [A, A.T]
    std = math.sqrt(products * len(kinds)) / mu
    bases = [orthonormal(rng.choice([-1.0, 1.0], size=(A.shape[1], columns)))]
    for _ in range(products):
        for kind in kinds:
            bases = [*bases[-1:], orthonormal(released(kind, bases[-1], std, rng))]
    return bases[-1 if case.symmetric else -2], bases[-1]


def released(matrix: FloatArray, Q: FloatArray, std: float, rng: np.random.Generator) -> FloatArray:
    """The product with noise for its longest row."""
    longest = float(np.linalg.norm(Q, axis=1).max())
    return matrix @ Q + rng.normal(scale=longest * std, size=(matrix.shape[0], Q.shape[1]))


def three_terms(case: Case, mu: float, rng: np.random.Generator, first: float, products: int) -> FloatArray:
    """X_{t+1} = A X_t - sigma_{r+1}^2/4 X_{t-1}: momentum with a `first` product of 1, a Chebyshev filter with 1/2."""
    A, std = case.matrix, math.sqrt(products) / mu
    before = np.zeros((len(A), case.rank))
    Q = orthonormal(rng.choice([-1.0, 1.0], size=before.shape))
    for t in range(products):
        X = (first if t == 0 else 1.0) * released(A, Q, std, rng) - case.next**2 / 4 * before
        new, R = np.linalg.qr(X)
        before, Q = np.linalg.solve(R.T, Q.T).T, new
    return Q


def methods(case: Case) -> Iterator[tuple[str, Callable[[Case, float, int], tuple[FloatArray, FloatArray, float]]]]:
    """Name -> released left and right basis, and the estimate of the sine if there is one."""
    for mechanism in ("auto", "coherence", "gaussian"):
        yield DEFAULT if mechanism == "auto" else mechanism, partial(package, mechanism)
    for products in PRODUCTS:
        for columns in (case.rank, 2 * case.rank):
            yield f"HP14, p = {columns}, {products}", partial(peer, partial(power, columns=columns, products=products))
        if case.symmetric:
            for name, first in (("momentum", 1.0), ("Chebyshev", 0.5)):
                one = partial(three_terms, first=first, products=products)
                yield f"{name}, {products}", partial(peer, lambda c, mu, rng, one=one: (one(c, mu, rng),) * 2)


def package(mechanism: str, case: Case, epsilon: float, seed: int) -> tuple[FloatArray, FloatArray, float]:
    budget = {"sensitivity": 1.0, "epsilon": epsilon, "delta": DELTA, "mechanism": mechanism, "rng": seed}
    try:
        if case.symmetric:
            found = dpgraph.private_projector(case.matrix, case.rank, **budget)
            return found.basis, found.basis, found.estimated_sine
        found = dpgraph.private_singular_subspace(case.matrix, case.rank, **budget)
    except dpgraph.MechanismHalted:
        return *(np.zeros_like(side) for side in (case.left, case.right)), 1.0
    return found.left, found.right, found.estimated_sine


def peer(run: Callable[..., tuple[FloatArray, FloatArray]], case: Case, epsilon: float, seed: int) -> tuple:
    return *run(case, gdp_mu(epsilon, DELTA), np.random.default_rng(seed)), math.nan


def sine(exact: FloatArray, found: FloatArray) -> float:
    return min(float(np.linalg.norm(exact - found @ (found.T @ exact), 2)), 1.0)


# --- the table -------------------------------------------------------------------------------------------------------


def fill(table: ResumableTable, quick: bool) -> None:
    for name, source in INPUTS.items():
        for ratio in source.ratios[:2] if quick else source.ratios:
            for run in range(1 if quick else source.runs):
                case = source.make(ratio, np.random.default_rng([7_2026, run]))
                for epsilon in EPSILONS[1:2] if quick else EPSILONS:
                    for method, release in methods(case):
                        if (name, str(ratio), str(epsilon), method, str(run)) in table.rows:
                            continue
                        left, right, estimate = release(case, epsilon, 8_000 + run)
                        found = max(sine(case.left, left), sine(case.right, right) if source.both else 0.0)
                        values = (name, ratio, epsilon, method, run, f"{found:.5f}", f"{estimate:.4g}")
                        table.add(dict(zip(COLUMNS, values, strict=True)))


class Cell(NamedTuple):
    """Mean sines at one input, ratio and epsilon; peers with numbers to choose have their best."""

    sines: dict[str, float]
    chosen: dict[str, str]
    estimate: float

    @property
    def lost(self) -> float:
        """The default over the best of others."""
        return self.sines[DEFAULT] / min(value for name, value in self.sines.items() if name != DEFAULT)


def cells(table: ResumableTable) -> dict[tuple[str, str, str], Cell]:
    grouped: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    estimates: dict[tuple[str, str, str], list[float]] = {}
    for row in table.rows.values():
        key = (row["input"], row["ratio"], row["epsilon"])
        grouped.setdefault(key, {}).setdefault(row["method"], []).append(float(row["sine"]))
        if row["method"] == DEFAULT:
            estimates.setdefault(key, []).append(float(row["estimate"]))
    found = {}
    for key, by_method in grouped.items():
        if DEFAULT not in by_method:
            continue
        sines: dict[str, float] = {}
        chosen: dict[str, str] = {}
        for method, values in by_method.items():
            family, mean = method.split(",")[0], float(np.mean(values))
            if mean < sines.get(family, math.inf):
                sines[family], chosen[family] = mean, method
        found[key] = Cell(sines, chosen, float(np.mean(estimates[key])))
    return found


def report(table: ResumableTable) -> tuple[str, str]:
    """What the documents quote, and the whole table."""
    found = cells(table)
    ratios = np.array([cell.lost for cell in found.values()])
    lost = {key: cell for key, cell in found.items() if cell.lost > ACCEPTED}
    text = (
        f"In {len(found)} cells the default has {np.exp(np.log(ratios).mean()):.2f} times the sine of the best of the "
        f"others (geometric mean), from {ratios.min():.2f} to {ratios.max():.2f}; in {len(lost)} it has more than "
        f"{ACCEPTED} times.\n\n"
    )
    families = (DEFAULT, "HP14", "momentum", "Chebyshev", "coherence", "gaussian")
    header = ("input", "sigma_1/gap, or strength", "epsilon", *families, "estimate of the default", "default/best")

    def line(key: tuple[str, str, str], cell: Cell) -> tuple[object, ...]:
        values = (f"{cell.sines[name]:.4f}" if name in cell.sines else "" for name in families)
        return (*key, *values, f"{cell.estimate:.4f}", f"{cell.lost:.2f}")

    text += "Lost cells:\n\n" + markdown_table(header, (line(*pair) for pair in lost.items())) + "\n" if lost else ""
    shown = {key: cell for key, cell in found.items() if key[2] == "1.0"}
    text += "At epsilon = 1:\n\n" + markdown_table(header, (line(*pair) for pair in shown.items()))
    return text, "\nAll cells:\n\n" + markdown_table(header, (line(*pair) for pair in found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one run of a few cells")
    arguments = parser.parse_args()
    path = RESULTS / ("subspaces_quick.csv" if arguments.quick else "subspaces.csv")
    table = ResumableTable(path, COLUMNS[:5], COLUMNS)
    with table.writing():
        fill(table, arguments.quick)
    text, everything = report(table)
    print(text)
    if not arguments.quick:
        (RESULTS / "subspaces.md").write_text(f"# Subspaces above a bulk\n\n{text}{everything}")


if __name__ == "__main__":
    main()
