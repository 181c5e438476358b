"""Statements of the papers as experiments: is what they prove, or conjecture, what one sees?

1. DN25a Theorem 5.12: Gaussian perturbation hardly raises the rank-r coherence.
2. DN25a Conjectures 1.7 and 1.8: neither does the union with a random graph (adjacency, normalized adjacency).
3. DN25a section 1.1: a single spike in the Wishart model, the strategies for singular subspaces against HP14.
4. DN25b Theorem 1.1: the error of private covariance in every Schatten norm grows like d**(1 + 1/p).
5. CDEMZ24 Theorem 2.1: exponent of private cosine similarities, read off the results of ``cosine.py``.
6. Rates of every theorem that has one, swept quantity by quantity (``rates.py``).
7. DN25a section 1.1: a spike beside a heavy entry, and HP14 as published where the rows become many.
8. DN25b Theorem 4.4: the norm of the noise against the 1.1 rho d of the paper.
9. HP14 at its best, for the tables of 3 and 7: exact accounting, p and number of products chosen in hindsight.

Writes ``science.csv``, ``science.md`` and ``science_*.png`` to ``benchmarks/results``. About twenty minutes. When
an experiment (of 6: a sweep) is complete, its rows take the place of the old ones. No others are touched.

    python benchmarks/science.py [--quick] [--only wishart]
    python benchmarks/science.py --only rates --sweep "7.17" --sweep "7.19"
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import charts
import cosine
import numpy as np
import rates
from common import RESULTS, ResumableTable, interval, markdown_table, read_csv, slope
from covariance_printed import square_noise
from peers import noisy_power_method, noisy_power_method_at_best
from scipy import sparse
from scipy.sparse.linalg import eigsh, svds

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.spectral import coherence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("experiment", "series", "n", "x", "seed", "value", "reference")
Row = dict[str, object]
DELTA = 1e-6


def row(experiment: str, series: str, n: int | str, x: float, seed: int, value: float, reference: float) -> Row:
    return dict(
        zip(COLUMNS, (experiment, series, n, f"{x:.6g}", seed, f"{value:.6g}", f"{reference:.6g}"), strict=True)
    )


def leading(A: sparse.csr_array, rank: int) -> np.ndarray:
    """Eigenvectors of largest absolute value."""
    return eigsh(A, k=rank, which="LM", v0=np.ones(A.shape[0]))[1]


# --- 1: Gaussian perturbation ----------------------------------------------------------------------------------------


def frames(n: int, rank: int, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Orthonormal n x rank bases: flat, and with all of its mass on few coordinates."""
    yield "flat", np.linalg.qr(rng.choice([-1.0, 1.0], size=(n, rank)))[0]
    for share in (0.1, 0.02):
        few = max(int(share * n), rank)
        U = np.zeros((n, rank))
        U[:few] = np.linalg.qr(rng.normal(size=(few, rank)))[0]
        yield f"on {share:.0%} of the coordinates", U


def gaussian_perturbation(quick: bool) -> Iterator[Row]:
    """Coherence of X + W against max(coherence of X, ln n); x is sigma_r(X) over the norm 2 sqrt(n) of the noise."""
    rank = 3
    for n in (200, 400, 800, 1600)[: 2 if quick else None]:
        for seed in range(2 if quick else 5):
            rng = np.random.default_rng(seed)
            for series, U in frames(n, rank, rng):
                V = np.linalg.qr(rng.normal(size=(n, rank)))[0]
                W = rng.normal(size=(n, n))
                for strength in (0.25, 0.5, 1.0, 2.0, 4.0, 16.0):
                    X = 2 * math.sqrt(n) * strength * U @ V.T
                    left, _, right = svds(X + W, k=rank, v0=np.ones(n))
                    perturbed = max(coherence(left), coherence(right.T))
                    before = max(coherence(U), coherence(V))
                    yield row("gaussian", series, n, strength, seed, perturbed, before)


# --- 2: union with a random graph ------------------------------------------------------------------------------------


def low_rank_graphs(n: int) -> Iterator[tuple[str, int, np.ndarray]]:
    """Graphs of small rank, as dense 0/1 matrices with their ranks."""
    equal = np.arange(n) * 3 // n
    yield "3-partite, equal parts", 3, (equal[:, None] != equal[None, :]).astype(np.float64)
    small = np.minimum(np.arange(n) * 50 // n, 1)  # a part of 2 %
    yield "bipartite, a part of 2 %", 2, (small[:, None] != small[None, :]).astype(np.float64)
    parts = np.where(np.arange(n) < n // 10, np.arange(n) % 2, 2)  # everything else is isolated
    active = parts < 2
    yield (
        "bipartite on 10 % of the vertices",
        2,
        ((parts[:, None] != parts) & active[:, None] & active).astype(np.float64),
    )


def normalized(A: np.ndarray) -> np.ndarray:
    """Normalized adjacency; isolated vertices stay zero."""
    degrees = A.sum(axis=1)
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    return A * root[:, None] * root[None, :]


def random_union(quick: bool) -> Iterator[Row]:
    """Rank-r coherence of G united with G(n, p); x is n p over ln n."""
    for n in (300, 600, 1200)[: 2 if quick else None]:
        for series, rank, A in low_rank_graphs(n):
            for seed in range(2 if quick else 5):
                for factor in (1, 4, 16, 64):
                    p = factor * math.log(n) / n
                    if p > 0.5:
                        continue
                    noise = planted_cut_sparse(n, p * n, 0.0, rng=seed)[0].toarray()
                    union = np.maximum(A, noise)
                    for name, M, before in (("1.7", union, A), ("1.8", normalized(union), normalized(A))):
                        pair = [coherence(leading(sparse.csr_array(matrix), rank)) for matrix in (M, before)]
                        yield row(f"conjecture {name}", series, n, factor, seed, *pair)


# --- 3: the spiked Wishart model -------------------------------------------------------------------------------------


def spike(n: int, m: int, strength: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Columns are m samples of covariance I + strength u u', u flat; and u."""
    u = rng.choice([-1.0, 1.0], size=n) / math.sqrt(n)
    return math.sqrt(strength) * np.outer(u, rng.normal(size=m)) + rng.normal(size=(n, m)), u


def correlation(u: np.ndarray, basis: np.ndarray) -> float:
    """Length of the projection of u onto the released space."""
    return float(np.linalg.norm(np.linalg.qr(basis)[0].T @ u))


#: Sizes, and strengths of the spike: without a gap the spectrum of the large one takes long.
SPIKES = {
    (100, 1000): (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
    (300, 3000): (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
    (100, 20_000): (8.0, 16.0, 32.0),
}
#: Estimators of the package, by their ``mechanism=``; "auto" is what a call without one runs.
SUBSPACES = {"default (products)": "auto", "projectors (DN25a)": "coherence", "Gaussian noise": "gaussian"}


def subspace_correlation(Y: np.ndarray, u: np.ndarray, epsilon: float, seed: int, mechanism: str) -> float:
    """Correlation of u with the released left singular vector, 0 where the call halts."""
    budget = {"sensitivity": 1.0, "epsilon": epsilon, "delta": DELTA, "rng": seed}
    try:
        return correlation(u, dpgraph.private_singular_subspace(Y, 1, mechanism=mechanism, **budget).left)
    except dpgraph.MechanismHalted:
        return 0.0


def wishart(quick: bool) -> Iterator[Row]:
    """Correlation with the spike; x is its strength over the threshold sqrt(n/m) of all algorithms.

    Neighbours differ by at most 1 in one entry. The published power method gets its number of steps sigma_1/(sigma_1 -
    sigma_2) ln n from the exact spectrum, which it should not see, and counts with both of its directions.
    """
    for (n, m), strengths in list(SPIKES.items())[: 1 if quick else None]:
        size = f"{n} x {m}"
        for seed in range(2 if quick else 3):
            for x in strengths:
                Y, u = spike(n, m, x * math.sqrt(n / m), np.random.default_rng(seed))
                exact, values, _ = svds(Y, k=2, v0=np.ones(n))
                yield row("wishart", "not private", size, x, seed, correlation(u, exact[:, 1:]), 1.0)
                steps = min(math.ceil(values[1] / (values[1] - values[0]) * math.log(n)), 200)
                embedding = sparse.block_array([[None, sparse.csr_array(Y)], [sparse.csr_array(Y.T), None]]).tocsr()
                for epsilon in (1.0, 4.0):
                    for series, mechanism in SUBSPACES.items():
                        found = subspace_correlation(Y, u, epsilon, seed, mechanism)
                        yield row("wishart", f"{series}, eps {epsilon:g}", size, x, seed, found, 1.0)
                    noise = np.random.default_rng(seed)
                    _, iterate = noisy_power_method(embedding, 1, epsilon, DELTA, noise, steps=steps)
                    yield row("wishart", f"HP14, eps {epsilon:g}", size, x, seed, correlation(u, iterate[:n]), 1.0)


# --- 4: Schatten norms -----------------------------------------------------------------------------------------------


def schatten(quick: bool) -> Iterator[Row]:
    """Schatten norms of the noise of private covariance in units of 1/(epsilon n); the reference is d**(1 + 1/p)."""
    epsilon, n = 1.0, 100
    for d in (5, 10, 20, 40, 80, 160, 320)[: 4 if quick else None]:
        X = np.zeros((n, d))
        for seed in range(3 if quick else 10):
            Z = dpgraph.private_covariance(X, epsilon=epsilon, project=False, rng=seed).matrix
            values = np.abs(np.linalg.eigvalsh(Z)) * epsilon * n
            for p, norm in (("1", values.sum()), ("2", np.linalg.norm(values)), ("inf", values.max())):
                yield row("schatten", f"p = {p}", d, d, seed, float(norm), d ** (1 + 1 / float(p)))


# --- 6: rates --------------------------------------------------------------------------------------------------------


def rates_of(sweep: rates.Sweep, quick: bool) -> Iterator[Row]:
    """Of a sweep; the reference is the exponent that is proved."""
    for (x, seed), value in sweep.values(quick=quick).items():
        yield row("rates", sweep.name, "", x, seed, value, sweep.exponent)


# --- 7: a spike beside a heavy entry, and many rows ------------------------------------------------------------------


FLAT_GAP, HEAVY = 500.0, (0.0, 250.0, 500.0)


def flat_matrix(n: int, heavy: float) -> np.ndarray:
    """500 u u' with a flat u; and a heavy entry beside it, with the spike as much larger."""
    u = np.where(np.arange(n) % 2, 1.0, -1.0) / math.sqrt(n)
    A = (FLAT_GAP + heavy) * np.outer(u, u)
    A[0, 0] += heavy
    return A


def flat_spike(quick: bool) -> Iterator[Row]:
    """Sine of the released leading vector of 500 u u' (and of a heavy entry beside it); x is the heavy entry.

    Neighbours move A U by at most `sensitivity`; one entry of a symmetric matrix and its mirror image by sqrt(2).
    """
    n, gap, epsilon = 800, FLAT_GAP, 1.0
    for heavy in HEAVY:
        A = flat_matrix(n, heavy)
        values, vectors = np.linalg.eigh(A)
        top, steps = vectors[:, -1], math.ceil(values[-1] / (values[-1] - values[-2]) * math.log(n))
        for seed in range(3 if quick else 10):
            budget = {"epsilon": epsilon, "delta": DELTA, "rng": seed}
            for sensitivity, label in ((1.0, "1"), (math.sqrt(2.0), "sqrt(2)")):
                for series, mechanism in SUBSPACES.items():
                    released = dpgraph.private_projector(A, 1, sensitivity=sensitivity, mechanism=mechanism, **budget)
                    sine = math.sqrt(max(1 - correlation(top, released.basis) ** 2, 0.0))
                    yield row("spike", f"{series}, sensitivity {label}", n, heavy, seed, sine, gap)
            _, iterate = noisy_power_method(A, 1, epsilon, DELTA, np.random.default_rng(seed), steps=steps)
            sine = math.sqrt(max(1 - correlation(top, iterate) ** 2, 0.0))
            yield row("spike", "HP14, as published, sensitivity sqrt(2)", n, heavy, seed, sine, gap)


class Embedding:
    """[[0, Y], [Y', 0]] of a wide matrix, without copies of it."""

    def __init__(self, Y: np.ndarray) -> None:
        self.Y, self.shape = Y, (sum(Y.shape),) * 2

    def __matmul__(self, X: np.ndarray) -> np.ndarray:
        n = self.Y.shape[0]
        return np.vstack([self.Y @ X[n:].astype(self.Y.dtype), self.Y.T @ X[:n].astype(self.Y.dtype)]).astype(float)


def many_rows(quick: bool) -> Iterator[Row]:
    """Correlation of HP14, and its bound, at x = 16, n = 100, epsilon 4, with more and more columns; x is their number.

    The bound is sigma sqrt(n + m) max |X| / (sigma_1 - sigma_2) with the noise of the published method, over the true
    vectors.
    """
    n, epsilon = 100, 4.0
    for m in (1000, 20_000, 100_000, 800_000)[: 2 if quick else None]:
        for seed in range(3 if m <= 100_000 else 2):
            rng = np.random.default_rng([m, seed])
            u = rng.choice([-1.0, 1.0], size=n) / math.sqrt(n)
            Y = rng.standard_normal((n, m), dtype=np.float32)
            Y += np.outer(math.sqrt(16 * math.sqrt(n / m)) * u, rng.normal(size=m)).astype(np.float32)
            values, left = np.linalg.eigh((Y @ Y.T).astype(float))
            top, second = np.sqrt(values[[-1, -2]])
            steps = min(math.ceil(top / (top - second) * math.log(n)), 200)
            right = Y.T @ left[:, -1] / top
            largest = max(float(np.abs(left[:, -1]).max()), float(np.abs(right).max())) / math.sqrt(2.0)
            noise = math.sqrt(2.0) * math.sqrt(4.0 * 2 * steps * math.log(1 / DELTA)) / epsilon
            bound = noise * math.sqrt(n + m) * largest / (top - second)
            _, iterate = noisy_power_method(Embedding(Y), 1, epsilon, DELTA, np.random.default_rng(seed), steps=steps)
            yield row("columns", "not private", n, m, seed, abs(float(u @ left[:, -1])), 1.0)
            yield row("columns", "HP14 as published", n, m, seed, correlation(u, iterate[:n]), 1.0)
            yield row("columns", "its bound on the sine, constant 1", n, m, seed, bound, 1.0)
            if m <= 20_000:  # as in the table above
                for series, mechanism in SUBSPACES.items():
                    if mechanism != "gaussian":
                        found = subspace_correlation(Y.astype(float), u, epsilon, seed, mechanism)
                        yield row("columns", series, n, m, seed, found, 1.0)


# --- 9: HP14 at its best ---------------------------------------------------------------------------------------------

AT_BEST = "HP14, exact accounting, best in hindsight"
#: Numbers of products that are tried.
FEW_PRODUCTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)


def at_its_best(quick: bool) -> Iterator[Row]:
    """Rows of the tables of spikes: HP14 with exact accounting, and the p and number of products of the least error."""
    for (n, m), strengths in list(SPIKES.items())[: 1 if quick else None]:
        for x in strengths:
            drawn = [spike(n, m, x * math.sqrt(n / m), np.random.default_rng(seed)) for seed in range(3)]
            cases = [
                (Embedding(Y), lambda found, u=u, n=n: 1 - correlation(u, found[:n]), seed)
                for seed, (Y, u) in enumerate(drawn)
            ]
            for epsilon in (1.0, 4.0):
                best = noisy_power_method_at_best(
                    cases, 1, (epsilon, DELTA), moves=lambda X, n=n: entry_moves(X, n), products=FEW_PRODUCTS
                )
                print(f"wishart {n} x {m}, x = {x:g}, eps {epsilon:g}: p = {best.columns}, {best.steps} products")
                for seed, error in enumerate(best.errors):
                    yield row("wishart", f"{AT_BEST}, eps {epsilon:g}", f"{n} x {m}", x, seed, 1 - error, 1.0)
    n = 800
    for heavy in HEAVY:
        A = flat_matrix(n, heavy)
        top = np.linalg.eigh(A)[1][:, -1]

        def sine(found: np.ndarray, top: np.ndarray = top) -> float:
            return math.sqrt(max(1 - correlation(top, found) ** 2, 0.0))

        best = noisy_power_method_at_best(
            [(A, sine, seed) for seed in range(10)], 1, (1.0, DELTA), products=FEW_PRODUCTS
        )
        print(f"heavy entry {heavy:g}: p = {best.columns}, {best.steps} products")
        for seed, error in enumerate(best.errors):
            yield row("spike", f"{AT_BEST}, sensitivity sqrt(2)", n, heavy, seed, error, FLAT_GAP)


def entry_moves(X: np.ndarray, n: int) -> float:
    """By how much one entry of Y moves [[0, Y], [Y', 0]] X: by a row of the lower part of X, and one of the upper."""
    lengths = np.linalg.norm(X, axis=1)
    return math.hypot(lengths[:n].max(), lengths[n:].max())


# --- 8: the norm of the noise of private covariance ------------------------------------------------------------------


def noise_norm(quick: bool) -> Iterator[Row]:
    """Spectral norm of noise of density exp(-||Z||_*/rho) on d x d matrices, over rho d; the paper says at most 1.1."""
    for d in (5, 20, 50, 100, 200)[: 3 if quick else None]:
        for seed in range(3 if quick else 10):
            Z = square_noise(d, 1.0, np.random.default_rng([d, seed]))
            yield row("norm", "printed law", d, d, seed, float(np.linalg.norm(Z, 2)) / d, 1.1)


EXPERIMENTS = {
    "gaussian": gaussian_perturbation, "union": random_union, "wishart": wishart, "schatten": schatten,
    "spike": flat_spike, "columns": many_rows, "norm": noise_norm, "hp14": at_its_best,
}  # fmt: skip
RATES = "rates"

# --- tables and plots ------------------------------------------------------------------------------------------------


def select(rows: Sequence[dict[str, str]], **wanted: object) -> list[dict[str, str]]:
    return [r for r in rows if all(r[column] == str(value) for column, value in wanted.items())]


def distinct(rows: Sequence[dict[str, str]], column: str) -> list[str]:
    return list(dict.fromkeys(r[column] for r in rows))


def curve(rows: Sequence[dict[str, str]]) -> tuple[list[float], list[float], list[float]]:
    """x, mean value and half-widths of the 95 % intervals."""
    points = [(float(x), *interval(float(r["value"]) for r in select(rows, x=x))) for x in distinct(rows, "x")]
    x, mean, half = zip(*sorted(points), strict=True)
    return list(x), list(mean), list(half)


def coherence_table(rows: Sequence[dict[str, str]]) -> str:
    """Largest ratio of the coherence after to max(before, ln n), over all seeds and strengths."""
    lines = []
    for experiment in ("gaussian", "conjecture 1.7", "conjecture 1.8"):
        own = select(rows, experiment=experiment)
        for series in distinct(own, "series"):
            line: list[object] = [experiment, series]
            for n in distinct(own, "n"):
                worst = max(
                    (float(r["value"]) / max(float(r["reference"]), math.log(int(n))), r["x"])
                    for r in select(own, series=series, n=n)
                )
                line.append(f"n = {n}: {worst[0]:.2f} at x = {worst[1]}")
            lines.append([*line, *[""] * (6 - len(line))])
    return markdown_table(["experiment", "input", "worst ratio", "", "", ""], lines)


def wishart_table(rows: Sequence[dict[str, str]]) -> str:
    own = select(rows, experiment="wishart")
    lines, strengths = [], sorted({float(r["x"]) for r in own})
    for n in distinct(own, "n"):
        for series in distinct(own, "series"):
            x, mean, half = curve(select(own, n=n, series=series))
            cells = {v: f"{m:.3f} ± {h:.3f}" for v, m, h in zip(x, mean, half, strict=True)}
            lines.append([n, series, *(cells.get(v, "") for v in strengths)])
    return markdown_table(["n x m", "estimator", *(f"x = {v:g}" for v in strengths)], lines)


def schatten_table(rows: Sequence[dict[str, str]]) -> str:
    own = select(rows, experiment="schatten")
    lines = []
    for series in distinct(own, "series"):
        x, mean, _ = curve(select(own, series=series))
        expected = 1 + 1 / float(series.removeprefix("p = "))
        constants = [m / d**expected for d, m in zip(x, mean, strict=True)]
        spread = f"{min(constants):.2f} to {max(constants):.2f}"
        lines.append([series, f"{expected:g}", f"{slope(x[-4:], mean[-4:]):.3f}", spread])
    return markdown_table(
        ["Schatten norm", "exponent proved", "exponent measured (upper half of d)", "constant"], lines
    )


def cosine_table() -> str:
    """Slopes over the upper half of the sizes, from the committed results of ``cosine.py``."""
    rows = read_csv(RESULTS / "cosine.csv")
    if not rows:
        return "Not run: `python benchmarks/cosine.py`.\n"
    lines = []
    for kind in distinct(rows, "data"):
        own = select(rows, data=kind)
        upper = own[-max(3, len(own) // 2) :]
        n = [float(r["n"]) for r in upper]
        slopes = (slope(n, [float(r[method]) for r in upper]) for method in ("plain", *cosine.METHODS))
        lines.append([kind, f"{n[0]:g} to {n[-1]:g}", *(f"{value:.2f}" for value in slopes)])
    return markdown_table(["data", "n", "plain noise", *cosine.METHODS], lines)


def rates_table(rows: Sequence[dict[str, str]]) -> str:
    """One line for each sweep: theorem, error, swept quantity, exponents, verdict."""
    lines = []
    for sweep in rates.sweeps():
        own = select(rows, experiment="rates", series=sweep.name)
        if own:
            values = {(float(r["x"]), int(r["seed"])): float(r["value"]) for r in own}
            mean, half = rates.fitted(values)
            points = sorted({x for x, _ in values})
            span = f"{sweep.swept}, {points[0]:.4g} to {points[-1]:.4g}"
            ends = (np.mean([v for (x, _), v in values.items() if x == end]) for end in (points[0], points[-1]))
            exponent = f"{'at most ' if sweep.bound else ''}{sweep.exponent:g}"
            measured = f"{mean + 0.0:.2f} ± {half:.2f}"
            error = f"{sweep.error}, " + " to ".join(f"{end:.2g}" for end in ends)
            lines.append([sweep.statement, error, span, exponent, measured, sweep.verdict(mean, half)])
    return markdown_table(["statement", "error", "swept", "slope proved", "slope measured", "verdict"], lines)


def series_table(rows: Sequence[dict[str, str]], experiment: str, label: str) -> str:
    """One line for each series, one column for each x."""
    own = select(rows, experiment=experiment)
    columns = sorted({float(r["x"]) for r in own})
    lines = []
    for series in distinct(own, "series"):
        x, mean, half = curve(select(own, series=series))
        cells = {v: f"{m:.3f} ± {h:.3f}" for v, m, h in zip(x, mean, half, strict=True)}
        lines.append([series, *(cells.get(v, "") for v in columns)])
    return markdown_table(["", *(f"{label} = {v:,.0f}" for v in columns)], lines)


def write(rows: Sequence[dict[str, str]]) -> None:
    parts = ["# Scientific checks\n", "Made by `benchmarks/science.py`; intervals are 95 % (Student).\n"]
    if select(rows, experiment="gaussian"):
        parts += ["## Coherence: after the perturbation over max(before, ln n), worst run\n", coherence_table(rows)]
        (RESULTS / "science_coherence.png").write_bytes(charts.png(plot_coherence(rows)))
    if select(rows, experiment="wishart"):
        parts += ["## Single spike, delta = 1e-6: correlation with the spike\n", wishart_table(rows)]
        (RESULTS / "science_wishart.png").write_bytes(charts.png(plot_wishart(rows)))
    if select(rows, experiment="schatten"):
        parts += ["## Private covariance: Schatten norms of the noise\n", schatten_table(rows)]
        (RESULTS / "science_schatten.png").write_bytes(charts.png(plot_schatten(rows)))
    if select(rows, experiment="rates"):
        parts += ["## Rates: slopes on logarithmic axes\n", rates_table(rows)]
        (RESULTS / "science_rates.png").write_bytes(charts.png(plot_rates(rows)))
    for experiment, title, label in (
        ("spike", "Flat spike, n = 800, gap 500, epsilon 1: sine of the leading vector", "heavy entry"),
        ("columns", "Spike of strength 16, n = 100, epsilon 4: correlation", "columns"),
        ("norm", "Norm of the noise of DN25b's Algorithm 1 over rho d", "d"),
    ):
        if select(rows, experiment=experiment):
            parts += [f"## {title}\n", series_table(rows, experiment, label)]
    parts += ["## Private cosine similarities: slope of the squared error in n (3/2 proved, 2 for plain noise)\n"]
    parts.append(cosine_table())
    (RESULTS / "science.md").write_text("\n".join(parts))


_COHERENCE = "Weak structures take the coherence of the noise, about ln n; strong ones keep theirs"


def plot_coherence(rows: Sequence[dict[str, str]]) -> Figure:
    """Coherence of the largest inputs against the strength, with the coherence before as a dotted line."""
    titles = {
        "gaussian": "X + W (Theorem 5.12)", "conjecture 1.7": "G united with G(n, p): adjacency (1.7)",
        "conjecture 1.8": "the same, normalized (1.8)",
    }  # fmt: skip
    figure, axes = charts.panels(3, size=(2.9 + charts.NAMES, 2.6))
    figure.subplots_adjust(wspace=0.85)
    for axis, (experiment, title) in zip(axes, titles.items(), strict=True):
        own = select(rows, experiment=experiment)
        n = distinct(own, "n")[-1]
        axis.set(xscale="log", yscale="log")
        for number, series in enumerate(distinct(own, "series")):
            chosen = select(own, series=series, n=n)
            x, mean, half = curve(chosen)
            charts.curve(axis, x, mean, half, number, label=series, linewidth=1.4)
            before = np.mean([float(r["reference"]) for r in chosen])
            axis.axhline(before, color=charts.LINES[number], linestyle=":")
        axis.axhline(math.log(int(n)), color=charts.GREY, linestyle="--", linewidth=1, label="ln n")
        axis.set_xlabel("sigma_r(X) / (2 sqrt(n))" if experiment == "gaussian" else "n p / ln n", fontsize=8)
        axis.set_title(f"{title}, n = {n}", fontsize=8.5)
        charts.name_lines(axis, 7.5)
    remark = "rank-r coherence; dotted: before anything was added, in the colour of the line; shaded: 95 % interval"
    return charts.finish(figure, _COHERENCE, remark, "", "coherence")


def plot_wishart(rows: Sequence[dict[str, str]]) -> Figure:
    """Correlation with the spike at epsilon 1 and without privacy, by estimator."""
    own = select(rows, experiment="wishart")
    sizes = distinct(own, "n")
    figure, axes = charts.panels(len(sizes))
    estimators = ["default (products)", AT_BEST, "not private"]  # the best method of others; all: the table
    series = [name for name in distinct(own, "series") if name.partition(", eps")[0] in estimators]
    for place, (axis, n) in enumerate(zip(axes, sizes, strict=True)):
        axis.set(xscale="log", ylim=(-0.03, 1.03))
        for name in series:
            number = estimators.index(name.partition(", eps")[0])
            line = "--" if name.endswith("eps 1") else "-"
            label = name.replace(", best", ",\nbest") if place == len(sizes) - 1 else "_"
            x, mean, half = curve(select(own, n=n, series=name))
            charts.curve(axis, x, mean, half, number, linestyle=line, label=label, linewidth=1.4)
        axis.axvline(1.0, color=charts.GREY, linestyle=":")
        axis.set_title(f"n x m = {n}", fontsize=9)
        charts.name_lines(axis, 7.5)
    remark = "dashed: epsilon = 1; dotted: the threshold without privacy; shaded: 95 % interval"
    title = "Privacy moves the threshold at which a spike is found to the right"
    return charts.finish(figure, title, remark, "spike strength / sqrt(n/m)", "correlation with the spike")


def plot_schatten(rows: Sequence[dict[str, str]]) -> Figure:
    """Norms of the noise against the dimension, beside the slope of the theorem."""
    figure, (axis,) = charts.panels(1, size=(5.0, 3.2))
    axis.set(xscale="log", yscale="log")
    own = select(rows, experiment="schatten")
    for number, series in enumerate(distinct(own, "series")):
        x, mean, half = curve(select(own, series=series))
        charts.curve(axis, x, mean, half, number, label=series, linewidth=1.6)
        exponent = 1 + 1 / float(series.removeprefix("p = "))
        axis.plot(x, [mean[-1] * (d / x[-1]) ** exponent for d in x], color="black", linestyle=":", linewidth=1)
    charts.name_lines(axis)
    title = "Schatten norms of the noise grow as d^(1 + 1/p)"
    return charts.finish(
        figure, title, "dotted: slope of the theorem, through the last point", "d", "norm, times eps n"
    )


def plot_rates(rows: Sequence[dict[str, str]]) -> Figure:
    """Nine of the sweeps, evenly: means and intervals over the runs, and the slope that is proved as a dotted line."""
    own = {sweep.name: sweep for sweep in rates.sweeps() if select(rows, experiment="rates", series=sweep.name)}
    names = charts.spread(list(own))
    figure, axes = charts.panels(len(names))
    for place, (axis, name) in enumerate(zip(axes, names, strict=True)):
        sweep, (x, mean, half) = own[name], curve(select(rows, experiment="rates", series=name))
        axis.set(xscale="log", yscale="log")
        measured, proved = ("measured", "slope proved") if place == min(2, len(names) - 1) else ("_", "_")
        charts.curve(axis, x, mean, half, 0, label=measured, linewidth=1.6)
        slope_proved = [mean[-1] * (v / x[-1]) ** sweep.exponent for v in x]
        axis.plot(x, slope_proved, color="black", linestyle=":", linewidth=1, label=proved)
        axis.set_title(f"{sweep.statement}\n{sweep.error}, by {sweep.swept}", fontsize=6.5)
        charts.name_lines(axis, 8)
    title = f"Errors beside the slopes of the theorems: {len(names)} of {len(own)} sweeps"
    remark = (
        "shaded: 95 % interval; dotted: the slope of the theorem through the last point; slopes and verdicts: the table"
    )
    return charts.finish(figure, title, remark, "", "")


def measurements(names: Sequence[str], sweeps: Sequence[str]) -> Iterator[tuple[str, Callable[[bool], Iterator[Row]]]]:
    """Experiments by name; of the rates each sweep is one."""
    for name in names:
        if name != RATES:
            yield name, EXPERIMENTS[name]
            continue
        for sweep in rates.sweeps():
            if any(text in sweep.name for text in sweeps or [""]):
                yield sweep.name, partial(rates_of, sweep)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, two runs")
    parser.add_argument("--only", action="append", choices=[*EXPERIMENTS, RATES], help="may be repeated")
    parser.add_argument("--sweep", action="append", help="only the rates with this in their name; may be repeated")
    parser.add_argument("--tables", action="store_true", help="compute nothing")
    arguments = parser.parse_args()
    table = ResumableTable(RESULTS / "science.csv", ("experiment", "series", "n", "x", "seed"), COLUMNS)
    if not arguments.tables:
        for name, measure in measurements(arguments.only or [*EXPERIMENTS, RATES], arguments.sweep or []):
            rows = list(measure(arguments.quick))
            made = {(line["experiment"], line["series"]) for line in rows}
            with table.writing():
                table.replace(lambda old, made=made: (old["experiment"], old["series"]) in made, rows)
            print(f"{name}: done", flush=True)
    write(list(table.rows.values()))


if __name__ == "__main__":
    main()
