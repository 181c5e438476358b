"""MST (McKenna, Miklau, Sheldon 2021) with private-pgm; run by ``marginals_structured.py`` in an environment with mbi.

    python marginals_mst.py FOLDER K EPSILON DELTA SEEDS

FOLDER holds ``data.npy`` (N x n, 0/1). A third of the budget (zero-concentrated) goes to tables of one attribute, one
to the choice of a spanning tree by noisy Kruskal steps, and one to its tables of pairs; neighbours have one record more
or less. Prints one JSON line: the root-mean-square error of a cell of the k-way tables of each run, and seconds.
"""

import itertools
import json
import math
import sys
import time
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import mbi  # noqa: E402
import numpy as np  # noqa: E402
import scipy.optimize  # noqa: E402
from mbi.estimation import MirrorDescent  # noqa: E402


def rho_for(epsilon: float, delta: float) -> float:
    """Largest rho for which rho-zCDP implies (epsilon, delta)-DP (Canonne, Kamath, Steinke 2020, Proposition 12)."""

    def spent(rho: float) -> float:
        def log_delta(alpha: float) -> float:
            return (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)

        return float(scipy.optimize.minimize_scalar(log_delta, bounds=(1.001, 1e4), method="bounded").fun)

    return float(scipy.optimize.brentq(lambda rho: spent(rho) - math.log(delta), 1e-8, 100.0))


def counts(data: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    codes = data[:, columns] @ (2 ** np.arange(len(columns))[::-1])
    return np.bincount(codes, minlength=2 ** len(columns)).astype(float)


class Mst:
    """One run of MST."""

    def __init__(self, data: np.ndarray, rho: float, seed: int) -> None:
        self.data, self.rho, self.rng = data, rho, np.random.default_rng(seed)
        self.n = data.shape[1]
        self.domain = mbi.Domain([f"a{i}" for i in range(self.n)], [2] * self.n)

    def measured(self, cliques: list[tuple[int, ...]]) -> list:
        """Noisy tables, which together have a third of the budget."""
        std = math.sqrt(3 * len(cliques) / (2 * self.rho))
        return [
            mbi.LinearMeasurement(
                counts(self.data, c) + std * self.rng.normal(size=2 ** len(c)), tuple(f"a{i}" for i in c), std
            )
            for c in cliques
        ]

    def fitted(self, measurements: list) -> object:
        """Return the graphical model of measured tables."""
        return MirrorDescent().estimate(self.domain, measurements, iters=1000)

    def tree(self, singles: list) -> list[tuple[int, int]]:
        """Edges one after another, by the exponential mechanism on their distance from independence."""
        model = self.fitted(singles)
        total = float(model.total)
        alone = [np.asarray(model.project((f"a{i}",)).datavector()) for i in range(self.n)]
        score = {
            (i, j): np.abs(counts(self.data, (i, j)) - np.outer(alone[i], alone[j]).ravel() / total).sum()
            for i, j in itertools.combinations(range(self.n), 2)
        }
        epsilon = math.sqrt(8 * self.rho / 3 / (self.n - 1))
        part, edges = list(range(self.n)), []
        for _ in range(self.n - 1):
            open_pairs = [pair for pair in score if part[pair[0]] != part[pair[1]]]
            weights = np.array([score[pair] for pair in open_pairs]) * epsilon / 2
            i, j = open_pairs[int(np.argmax(weights + self.rng.gumbel(size=weights.size)))]
            edges.append((i, j))
            part = [part[i] if p == part[j] else p for p in part]
        return edges

    def model(self) -> object:
        """Return the model of the tables of attributes and of a tree."""
        singles = self.measured([(i,) for i in range(self.n)])
        return self.fitted(singles + self.measured(self.tree(singles)))


def main() -> None:
    folder, k = Path(sys.argv[1]), int(sys.argv[2])
    epsilon, delta, seeds = float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
    data = np.load(folder / "data.npy")
    start, errors = time.process_time(), []
    for seed in range(seeds):
        model = Mst(data, rho_for(epsilon, delta), seed).model()
        squares = [
            (np.asarray(model.project(tuple(f"a{i}" for i in c)).datavector()) - counts(data, c)) ** 2
            for c in itertools.combinations(range(data.shape[1]), k)
        ]
        errors.append(float(np.sqrt(np.mean(squares))))
    print(json.dumps({"rmse": errors, "seconds": (time.process_time() - start) / seeds}))


if __name__ == "__main__":
    main()
