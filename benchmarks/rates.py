"""Rates of the papers: one quantity is swept, the slope of the error on two logarithmic axes is held to the theorem.

Quantities are swept in the direction in which the problem becomes harder: 1/epsilon, 1/gap, 1/n where records help. An
error that reaches that of an answer which ignores the data grows more slowly than the bound. A slope is fitted in every
run, over all points; the interval is Student's, 95 %, over the runs. The verdict is

- "as proved": the mean lies within `TOLERANCE` of the exponent, and the whole interval within three times that;
- "below": the theorem is an upper bound, and the whole interval lies under its exponent;
- "ABOVE": the whole interval lies over the exponent by more than `TOLERANCE`;
- "open": none of these.

Tables and plots are made by ``science.py``; ``tests/test_rates.py`` runs the quick points.

    python benchmarks/science.py --only rates
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import covariance_printed
import numpy as np
import rates_rounding
from common import interval, slope
from linear_queries import counting, prefix_sums
from scipy.linalg import block_diag, hadamard
from scipy.sparse.linalg import eigsh, svds

import dpgraph
from dpgraph.privacy import gdp_mu
from dpgraph.problems.records.cosine import normalized_gram, private_cosine_similarities
from dpgraph.problems.records.linear_queries import error_lower_bounds, expected_error
from dpgraph.spectral import coherence

TOLERANCE = 0.1
DELTA = 1e-6
Measure = Callable[[float, int], float]


@dataclass(frozen=True)
class Sweep:
    """What a theorem says of one quantity: the error grows like its power `exponent`, or no faster."""

    statement: str
    error: str
    swept: str
    exponent: float
    measure: Measure
    points: Sequence[float]
    bound: bool = True
    #: Where the quick version has other points.
    quick: Sequence[float] = ()
    runs: int = 5

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.statement}: {self.error} against {self.swept}"

    def values(self, *, quick: bool) -> dict[tuple[float, int], float]:
        """The error at every point and in every run."""
        points = self.quick or self.points if quick else self.points
        return {(x, seed): self.measure(x, seed) for x in points for seed in range(self.runs)}

    def verdict(self, mean: float, half: float) -> str:
        """How the slope compares with the exponent."""
        over = mean - self.exponent
        if abs(over) <= TOLERANCE and abs(over) + half <= 3 * TOLERANCE:
            return "as proved"
        if self.bound and over + half < 0:
            return "below"
        return "ABOVE" if over - half > TOLERANCE else "open"


def fitted(values: dict[tuple[float, int], float]) -> tuple[float, float]:
    """Mean slope over the runs, and half the width of its interval."""
    points = sorted({x for x, _ in values})
    return interval(slope(points, [values[x, seed] for x in points]) for seed in sorted({seed for _, seed in values}))


# --- DN25a: projectors and low rank ------------------------------------------------------------------------------


def flat_basis(n: int, rank: int, spread: float = 1.0) -> np.ndarray:
    """Orthonormal columns with entries of one size on a share 1/`spread` of the coordinates: coherence `spread`."""
    support = round(n / spread)
    U = np.zeros((n, rank))
    U[:support] = hadamard(support)[:, 1 : rank + 1] / math.sqrt(support)
    return U


@dataclass(frozen=True)
class Spikes:
    """Equal eigenvalues on a basis of given coherence; neighbours move a product with it by its longest row."""

    n: int = 512
    rank: int = 4
    spread: float = 1.0
    inverse_gap: float = 1 / 4000
    inverse_epsilon: float = 1.0

    def released(self, seed: int) -> tuple[np.ndarray, dpgraph.PrivateLowRank]:
        """The basis, and what the paper's algorithms make of the matrix."""
        U = flat_basis(self.n, self.rank, self.spread)
        budget = {"sensitivity": 1.0, "epsilon": 1 / self.inverse_epsilon, "delta": DELTA, "rng": seed}
        return U, dpgraph.private_low_rank(U @ U.T / self.inverse_gap, self.rank, mechanism="coherence", **budget)

    def sine(self, seed: int) -> float:
        """Of the largest angle between the true and the released space."""
        U, private = self.released(seed)
        return float(np.linalg.norm(U - private.basis @ (private.basis.T @ U), 2))

    def spectral_error(self, seed: int) -> float:
        """Of the low-rank matrix."""
        U, private = self.released(seed)
        return float(np.linalg.norm(private.basis @ private.core @ private.basis.T - U @ U.T / self.inverse_gap, 2))


def spikes(error: str, name: str, x: float, seed: int) -> float:
    """An error of spikes of which one number is x."""
    number = int(x) if name in ("n", "rank") else x
    return float(getattr(Spikes(**{name: number}), error)(seed))


def perturbed_coherence(x: float, seed: int) -> float:
    """Worst coherence of a flat matrix plus Gaussian noise of norm 2 sqrt(n), over strengths, by ln n."""
    n, rank = int(x), 4
    rng = np.random.default_rng([n, seed])
    U = flat_basis(n, rank)
    W = rng.normal(size=(n, n))
    worst = 0.0
    for strength in (0.25, 0.5, 1.0, 4.0):
        left, _, right = svds(2 * math.sqrt(n) * strength * U @ U.T + W, k=rank, v0=np.ones(n))
        worst = max(worst, coherence(left), coherence(right.T))
    return worst / math.log(n)


# --- DN25a: graphs -----------------------------------------------------------------------------------------------


def paper_adjacency(A: np.ndarray, rank: int, epsilon: float, seed: int) -> dpgraph.PrivateNormalizedAdjacency:
    """By Algorithm 6.2."""
    mechanism = dpgraph.strategies.Coherence(
        rank=rank, regularization=0.0, coherence="rank", certificate="gap-and-coherence"
    )
    budget = {"epsilon": epsilon, "delta": DELTA, "rng": seed}
    return dpgraph.private_normalized_adjacency(A, max_weight=1.0, mechanism=mechanism, **budget)


@dataclass(frozen=True)
class Bipartite:
    """A complete bipartite graph with halves of n/2 and equal weights: rank 2, every degree the same, eigenvalues +-1.

    Its normalized adjacency is U diag(1, -1) U'.
    """

    n: int = 2048
    inverse_degree: float = 1 / 512
    inverse_epsilon: float = 1 / 16

    @property
    def basis(self) -> np.ndarray:
        """U: a flat vector, and one that changes its sign between the halves."""
        return np.array([np.ones(self.n), np.repeat([1.0, -1.0], self.n // 2)]).T / math.sqrt(self.n)

    def released(self, seed: int) -> dpgraph.PrivateNormalizedAdjacency:
        """By Algorithm 6.2."""
        half = self.n // 2
        A = np.zeros((self.n, self.n))
        A[:half, half:] = A[half:, :half] = 1 / (self.inverse_degree * half)
        return paper_adjacency(A, 2, 1 / self.inverse_epsilon, seed)

    def normalized_error(self, seed: int) -> float:
        """Spectral norm of the error of the normalized adjacency, which has norm 1."""
        private = self.released(seed)
        R = np.linalg.qr(np.hstack([private.basis, self.basis]))[1]
        return float(np.linalg.norm(R @ block_diag(private.core, np.diag([-1.0, 1.0])) @ R.T, 2))

    def bisection_error(self, seed: int) -> float:
        """The same over the halves by these directions, as Theorem 7.19 needs it."""
        return self.cut_error(seed, halves=True)

    def cut_error(self, seed: int, *, halves: bool = False) -> float:
        """Largest error of the value of a cut in the released matrix with released degrees, as a share of all edges.

        Over the cuts by the signs of the directions in which it is largest.
        """
        private = self.released(seed)
        scaled = np.sqrt(np.maximum(private.scale, 0.0))[:, None] * private.basis
        factor = np.hstack([scaled, self.basis / math.sqrt(self.inverse_degree)])
        core = block_diag(private.core, np.diag([-1.0, 1.0]))
        Q, R = np.linalg.qr(factor)
        directions = Q @ np.linalg.eigh(R @ core @ R.T)[1]
        images = np.sign(directions - (np.median(directions, axis=0) if halves else 0.0)).T @ factor
        return float(np.abs(np.sum((images @ core) * images, axis=1)).max()) * self.inverse_degree / self.n


def bipartite(error: str, name: str, x: float, seed: int) -> float:
    """An error on a bipartite graph of which one number is x."""
    return float(getattr(Bipartite(**{name: int(x) if name == "n" else x}), error)(seed))


@dataclass(frozen=True)
class Game:
    """A complete unique game that one assignment satisfies, as its label-extended graph: q complete graphs.

    Constraints have equal weights and permutations; by names of the labels all of these are the identity. The
    normalized adjacency has the eigenvalue 1 once for each label, and others of size 1/(n - 1).
    """

    n: int = 512
    labels: int = 3
    inverse_degree: float = 1 / 256
    inverse_epsilon: float = 1 / 16

    def value_error(self, seed: int) -> float:
        """Largest error of the value of an assignment in the released matrix with released degrees.

        A share of the constraints, over the assignments by the directions in which it is largest.
        """
        n, q = self.n, self.labels
        weight = 1 / (self.inverse_degree * (n - 1))
        A = np.kron(np.eye(q), weight * (np.ones((n, n)) - np.eye(n)))
        private = paper_adjacency(A, q, 1 / self.inverse_epsilon, seed)
        factor = np.sqrt(np.maximum(private.scale, 0.0))[:, None] * private.basis
        error = (factor @ private.core) @ factor.T - A
        worst = 0.0
        for direction in np.linalg.eigh(error)[1][:, np.r_[: 2 * q, -2 * q : 0]].T:
            for sign in (1.0, -1.0):
                chosen = np.argmax(sign * direction.reshape(q, n), axis=0) * n + np.arange(n)
                worst = max(worst, abs(float(error[np.ix_(chosen, chosen)].sum())))
        return worst * self.inverse_degree / n


def game(name: str, x: float, seed: int) -> float:
    """Its error with one number replaced."""
    return Game(**{name: int(x) if name in ("n", "labels") else x}).value_error(seed)


def quadratic_form(name: str, x: float, seed: int) -> float:
    """Fact 7.15: the largest |s'(A - D^(1/2) Y D^(1/2))s| over signs s that the worst direction gives.

    Y is the normalized adjacency of a random graph with a perturbation of the given spectral norm along one direction.
    """
    n, degree, size = (int(x), 20.0, 0.1) if name == "n" else (400, x, 0.1) if name == "degree" else (400, 20.0, x)
    rng = np.random.default_rng([n, seed])
    upper = np.triu(rng.random((n, n)) < degree / n, 1)
    root = np.sqrt((upper + upper.T).sum(axis=1))
    signs = rng.choice([-1.0, 1.0], size=n)
    direction = signs * (root + rng.normal(size=n))  # nearly the worst one, root * signs
    direction /= np.linalg.norm(direction)
    return float(size * ((signs * root) @ direction) ** 2)


# --- CDEMZ24 -----------------------------------------------------------------------------------------------------


def cosine_error(name: str, x: float, seed: int) -> float:
    """Squared error of Algorithm 3 on rows of the worst rank at this noise: eigenvalues n/rank near its norm."""
    n, epsilon = (int(x), 4.0) if name == "n" else (240, 1 / x)
    rank = round(1.2 * math.sqrt(n) * gdp_mu(epsilon, DELTA))
    V = np.random.default_rng([n, seed]).normal(size=(n, rank))
    found = private_cosine_similarities(V, sensitivity=1.0, epsilon=epsilon, delta=DELTA, method="elliptope", rng=seed)
    return float(np.sum((found.matrix - normalized_gram(V)) ** 2))


@dataclass(frozen=True)
class Marginals:
    """Counts of all k-sets of n attributes over m records; with `ones`, of records with so many ones."""

    k: int
    n: int
    m: int
    inverse_epsilon: float = 1.0
    ones: int | None = None

    def records(self, rng: np.random.Generator) -> np.ndarray:
        """Copies of a few random types: so many that the moments of one are as large as the noise, the worst case."""
        width = {2: 12, 3: 6}[self.k] * self.n ** (self.k / 4) if self.ones is None else 4 * self.ones
        types = rng.random((max(round(self.m / (self.inverse_epsilon * width)), 1), self.n))
        chosen = types < 0.5 if self.ones is None else types <= np.sort(types, axis=1)[:, self.ones - 1 : self.ones]
        return chosen[np.arange(self.m) % len(chosen)].astype(int)

    def squared_error(self, seed: int) -> float:
        """Mean over the sets."""
        data = self.records(np.random.default_rng([self.n, self.m, seed]))
        found = dpgraph.private_marginals(
            data, self.k, epsilon=1 / self.inverse_epsilon, delta=DELTA, sparsity=self.ones, rng=seed
        )
        sets = list(itertools.combinations(range(self.n), self.k))
        truth = np.array([data[:, s].all(axis=1).sum() for s in sets])
        return float(np.mean((self.m * np.array([found.conjunction(s) for s in sets]) - truth) ** 2))


def marginals(base: Marginals, name: str, x: float, seed: int) -> float:
    """Its error with one number replaced."""
    return replace(base, **{name: x if name == "inverse_epsilon" else int(x)}).squared_error(seed)


#: Between the records at which the answer zero is as good and those at which the projection helps no more.
DENSE_TWO, DENSE_THREE = Marginals(2, 120, 800), Marginals(3, 20, 300)
SPARSE_TWO = Marginals(2, 80, 200, ones=4)


def moment_width(k: int, x: float, seed: int) -> float:
    """Certificate of Theorem A.5 for the Gaussian width of k-th moments on the unit ball.

    For even k the largest eigenvalue of the flattening; for k = 3 the root of that of sum_i W_i (x) W_i without its
    mean, and of the mean, which is n on the unit ball.
    """
    n = int(x)
    rng = np.random.default_rng([n, k, seed])
    if k % 2 == 0:
        flat = rng.normal(size=(n ** (k // 2),) * 2)
        return float(np.linalg.eigvalsh(flat + flat.T)[-1]) / 2
    slices = rng.normal(size=(n, n, n))
    square = np.einsum("iab,icd->acbd", slices, slices)
    a, b = np.ogrid[:n, :n]
    square[a, a, b, b] -= n
    square = square.reshape(n * n, n * n)
    return math.sqrt(float(np.linalg.eigvalsh(square + square.T)[-1]) / 2 + n)


def sparse_width(name: str, x: float, seed: int) -> float:
    """Certificate for second moments of t-sparse unit vectors: least level t + (norm beyond the level) of a matrix.

    <W, xx'> <= level |x|_1^2 + ||W beyond the level||, and |x|_1^2 <= t.
    """
    n, t = (int(x), 4.0) if name == "n" else (500, x)
    W = np.random.default_rng([n, seed]).normal(size=(n, n))
    W = (W + W.T) / 2
    best = math.inf
    for level in np.linspace(0.0, np.abs(W).max(), 12):
        rest = np.sign(W) * np.maximum(np.abs(W) - level, 0.0)
        norm = abs(float(eigsh(rest, 1, v0=np.ones(n), tol=1e-3, return_eigenvectors=False)[0])) if rest.any() else 0.0
        best = min(best, level * t + norm)
    return best


# --- DN25b -------------------------------------------------------------------------------------------------------


def printed_noise(p: float, x: float, seed: int) -> float:
    """Schatten norm of the noise as printed, in units of rho."""
    Z = covariance_printed.square_noise(int(x), 1.0, np.random.default_rng([int(x), seed]))
    return float(np.linalg.norm(np.linalg.svd(Z, compute_uv=False), p))


def own_noise(p: float, x: float, seed: int) -> float:
    """Schatten norm of the noise of `private_covariance`, times epsilon n."""
    Z = dpgraph.private_covariance(np.zeros((100, int(x))), epsilon=1.0, project=False, rng=seed).matrix
    return float(np.linalg.norm(np.linalg.eigvalsh(Z), p)) * 100


def algorithm_2(base: dict[str, float], name: str, x: float, seed: int) -> float:
    """Frobenius error of DN25b's Algorithm 2 as printed, on records of which d, n or the trace is x."""
    point = base | {name: x}  # "inverse n" is swept in place of n
    point["n"] = 1 / point.pop("inverse n", 1 / point["n"])
    n, d = round(point["n"]), int(point["d"])
    X = np.random.default_rng([d, n, seed]).normal(size=(n, d))
    X *= math.sqrt(point["trace"]) / np.linalg.norm(X, axis=1, keepdims=True)
    found = covariance_printed.printed(X, seed, project=True)
    return float(np.linalg.norm(found - X.T @ X / n))


#: Where the second term of Theorem 1.2 rules, and where the first.
FEW = {"n": 8000.0, "d": 100.0, "trace": 0.5}
MANY = {"n": 300_000.0, "d": 10.0, "trace": 0.9}


# --- NTZ13 -------------------------------------------------------------------------------------------------------


def over_lower_bound(queries: str, delta: float, x: float, seed: int) -> float:
    """Expected error of an answer over the error that no mechanism goes below, and over ln d."""
    n = int(x)
    signs = np.random.default_rng([n, seed]).choice([0.0, 1.0], size=(n, n))
    A = prefix_sums(n) if queries == "prefix sums" else signs
    bounds = error_lower_bounds(A, epsilon=1.0, delta=delta)
    least = bounds.reconstruction if delta > 0 else bounds.volume
    return expected_error(A, epsilon=1.0, delta=delta) / (least * math.log(n))


def few_records(name: str, x: float, seed: int) -> float:
    """Error of an answer of the sparse case, with so many records."""
    d, records = (int(x), 20) if name == "d" else (400, int(x))
    A = counting(d, d)
    histogram = np.random.default_rng([records, seed]).multinomial(records, np.full(d, 1 / d))
    found = dpgraph.private_linear_queries(
        A, histogram, mechanism="gaussian", sparse=True, records=records, epsilon=1.0, delta=DELTA, rng=seed
    )
    return float(np.sqrt(np.mean((found.answers - A @ histogram) ** 2)))


# --- all of them -------------------------------------------------------------------------------------------------


def inverse(*values: float) -> tuple[float, ...]:
    return tuple(1 / value for value in sorted(values, reverse=True))


def dn25a() -> list[Sweep]:
    projector, low_rank = "DN25a Theorem 1.5, 5.1", "DN25a Theorem 5.1"
    sizes, powers = (128, 256, 512, 1024), (1, 2, 4, 8, 16)
    gaps, epsilons = inverse(2000, 4000, 8000, 16_000), inverse(0.25, 0.5, 1.0, 2.0)
    sine, matrix = "sine of the projector", "error of the low-rank matrix"
    of, graph = partial(partial, spikes), partial(partial, bipartite)
    rows = [
        Sweep(projector, sine, "n", 0.0, of("sine", "n"), sizes, quick=(64, 128, 256)),
        Sweep(projector, sine, "1/epsilon", 1.0, of("sine", "inverse_epsilon"), epsilons, quick=epsilons[::2]),
        Sweep(projector, sine, "rank", 0.5, of("sine", "rank"), powers, quick=(1, 4, 16)),
        Sweep(projector, sine, "coherence", 0.5, of("sine", "spread"), powers, quick=(1, 4, 16)),
        Sweep(projector, sine, "1/gap", 1.0, of("sine", "inverse_gap"), gaps, quick=gaps[::2]),
        Sweep(low_rank, matrix, "n", 0.0, of("spectral_error", "n"), sizes, runs=10),
        Sweep(low_rank, matrix, "1/gap", 0.0, of("spectral_error", "inverse_gap"), gaps, runs=10),
        Sweep("DN25a Theorem 5.12", "coherence after noise, over ln n", "n", 0.0, perturbed_coherence, sizes, runs=10),
    ]
    for statement, error, key in (
        ("DN25a Theorem 6.1", "spectral error of the normalized adjacency", "normalized_error"),
        ("DN25a Theorem 7.12", "error of the value of a cut, share of edges", "cut_error"),
        ("DN25a Theorem 7.19", "error of the value of a bisection, share of edges", "bisection_error"),
    ):
        degrees, budgets = inverse(256, 512, 1024), inverse(4.0, 8.0, 16.0)
        rows += [
            Sweep(statement, error, "1/degree", 1.0, graph(key, "inverse_degree"), degrees, runs=8),
            Sweep(statement, error, "1/epsilon", 1.0, graph(key, "inverse_epsilon"), budgets),
            Sweep(statement, error, "n", 0.0, graph(key, "n"), (1024, 2048, 4096)),
        ]
    statement, error, q = (
        "DN25a Theorem 7.17",
        "error of the value of an assignment, share of constraints",
        "q, the rank",
    )
    rows += [
        Sweep(statement, error, "1/degree", 1.0, partial(game, "inverse_degree"), inverse(64, 128, 256, 500)),
        Sweep(statement, error, "1/epsilon", 1.0, partial(game, "inverse_epsilon"), inverse(4.0, 8.0, 16.0)),
        Sweep(statement, error, "n", 0.0, partial(game, "n"), (300, 600, 1200)),
        Sweep(statement, error, q, 0.5, partial(game, "labels"), (2, 3, 4, 6)),
        *rounding(),
    ]
    fact, form = "DN25a Fact 7.15", "quadratic form of a cut"
    rows += [
        Sweep(fact, form, "spectral norm", 1.0, partial(quadratic_form, "size"), (0.01, 0.1, 1.0)),
        Sweep(fact, form, "degree (edges)", 1.0, partial(quadratic_form, "degree"), (10, 20, 40, 80)),
        Sweep(fact, form, "n (edges)", 1.0, partial(quadratic_form, "n"), (200, 400, 800, 1600), quick=(100, 200, 400)),
    ]
    return rows


def rounding() -> list[Sweep]:
    """DN25a, what independent rounding loses after seeds."""
    rows = []
    for statement, problem, tight, other, sizes in (
        ("DN25a Theorem 7.8", "cut", 8, 5, (120, 240, 480)),
        ("DN25a Theorem 7.10", "labels", 6, 5, (40, 80, 160)),
        ("DN25a Theorem 7.11", "halves", 8, 5, (120, 240, 480)),
    ):
        error = f"loss of independent rounding, {'3 labels' if problem == 'labels' else problem}"
        for parts in (tight, other):
            measure = partial(rates_rounding.loss, problem, parts, "seeds")
            rows.append(Sweep(statement, f"{error}, {parts} parts", "seeds", -0.5, measure, rates_rounding.SEEDS))
        at_four = partial(partial, rates_rounding.loss, problem, tight)
        rows.append(Sweep(statement, f"{error}, 4 seeds", "parts, the rank", 0.5, at_four("parts"), (4, 6, 8, 10)))
        rows.append(Sweep(statement, f"{error}, 4 seeds, {tight} parts", "n", 0.0, at_four("n"), sizes))
    return rows


def cdemz24() -> list[Sweep]:
    squared, budget = "squared error", "1/epsilon"
    sizes, epsilons = (60, 120, 240, 480), inverse(4.0, 8.0, 16.0)
    rows = [
        Sweep("CDEMZ24 Theorem 2.1", squared, "n", 1.5, partial(cosine_error, "n"), sizes, quick=(40, 80, 160)),
        Sweep("CDEMZ24 Theorem 2.1", squared, budget, 1.0, partial(cosine_error, "epsilon"), epsilons),
    ]
    inverse_epsilons, records = inverse(0.5, 1.0, 2.0), (200, 400, 800)
    for base, statement, exponent, n in (
        (DENSE_TWO, "CDEMZ24 Theorem 2.2, A.4, k = 2", 0.5, (80, 120, 180)),
        (DENSE_THREE, "CDEMZ24 Theorem 2.2, A.4, k = 3", 0.75, (14, 18, 24)),
    ):
        rows += [
            Sweep(statement, squared, "n", exponent, partial(marginals, base, "n"), n, quick=n[:3], runs=8),
            Sweep(statement, squared, "m", 1.0, partial(marginals, base, "m"), records, quick=records[:3], runs=8),
            Sweep(
                statement, squared, budget, 1.0, partial(marginals, base, "inverse_epsilon"), inverse_epsilons, runs=8
            ),
        ]
    statement = "CDEMZ24 Theorem 2.3, A.4, k = 2"
    for name, label, exponent, points in (
        ("n", "n", -2.0, (40, 60, 90, 135)), ("m", "m", 1.0, (100, 200, 400, 800)),
        ("ones", "t", 3.0, (4, 6, 9)), ("inverse_epsilon", budget, 1.0, inverse_epsilons),
    ):  # fmt: skip
        rows.append(Sweep(statement, squared, label, exponent, partial(marginals, SPARSE_TWO, name), points, runs=8))
    width, statement = "Gaussian width, certified", "CDEMZ24 Theorem A.5"
    for k, points in ((2, (50, 100, 200, 400)), (3, (10, 16, 24, 36)), (4, (10, 16, 24, 36))):
        quick = points if k == 2 else points[:3]
        measure = partial(moment_width, k)
        rows.append(Sweep(f"{statement}, k = {k}", width, "n", k / 4, measure, points, quick=quick, runs=8))
    rows += [
        Sweep(f"{statement}, sparse, k = 2", width, "t", 1.0, partial(sparse_width, "t"), (2, 3, 4, 6, 8), runs=3),
        Sweep(
            f"{statement}, sparse, k = 2", f"{width}, over a root of ln(n/t^2)", "n", 0.0,
            lambda x, seed: sparse_width("n", x, seed) / math.sqrt(math.log(x / 16)), (250, 500, 1000), runs=3,
        ),
    ]  # fmt: skip
    return rows


def dn25b() -> list[Sweep]:
    rows = []
    for p, label in ((1.0, "1"), (2.0, "2"), (math.inf, "inf")):
        for law, measure, points, runs in (
            ("printed", printed_noise, (10, 20, 40, 80), 5),
            ("ours", own_noise, (10, 20, 40, 80, 160), 10),
        ):
            statement, error = f"DN25b Theorem 1.1, p = {label}", f"Schatten norm of the noise, {law}"
            rows.append(
                Sweep(statement, error, "d", 1 + 1 / p, partial(measure, p), points, quick=points[:3], runs=runs)
            )
    statement, error = "DN25b Theorem 1.2, Algorithm 2", "Frobenius error"
    for base, regime, exponents, points in (
        (FEW, "few records", (0.5, 0.5, 0.5), ((4000, 8000, 16_000), (70, 100, 140), (0.25, 0.5, 1.0))),
        (MANY, "many records", (1.0, 1.5, 0.0), ((1e5, 2e5, 4e5), (6, 9, 14, 20), (0.3, 0.5, 0.9))),
    ):
        for name, exponent, grid in zip(("n", "d", "trace"), exponents, points, strict=True):
            label, x = ("inverse n", inverse(*grid)) if name == "n" else (name, grid)
            measure = partial(algorithm_2, base, label)
            label = label.replace("inverse ", "1/")
            rows.append(Sweep(statement, f"{error}, {regime}", label, exponent, measure, x))
    return rows


def ntz13() -> list[Sweep]:
    rows = []
    for queries, delta in itertools.product(("prefix sums", "random 0/1"), (DELTA, 0.0)):
        kind = "volume" if delta == 0 else "reconstruction"
        rows.append(
            Sweep(
                f"NTZ13, lower bound ({kind})", f"error over the bound and ln d, {queries}", "d", 0.0,
                partial(over_lower_bound, queries, delta), (32, 64, 128, 256), quick=(16, 32, 64), runs=3,
            )
        )  # fmt: skip
    error = "error of an answer"
    rows += [
        Sweep("NTZ13, sparse case", error, "records", 0.5, partial(few_records, "records"), (20, 40, 80), runs=8),
        Sweep("NTZ13, sparse case", error, "d", 0.0, partial(few_records, "d"), (100, 200, 400, 800), runs=8),
    ]
    return rows


def sweeps() -> list[Sweep]:
    """Every theorem that has one."""
    return [*dn25a(), *cdemz24(), *dn25b(), *ntz13()]
