"""Marginals of sparse records beside the trivial algorithm of CDEMZ24: noise, then only the largest m t^k entries.

Writes ``benchmarks/results/marginals_sparse.md``; a few minutes on one core.

    python benchmarks/marginals_sparse.py
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
from common import markdown_table

import dpgraph
from dpgraph.privacy import gdp_mu

RESULTS = Path(__file__).parent / "results"
EPSILON, DELTA, RUNS = 1.0, 1e-6, 3


def records(m: int, n: int, t: int, seed: int) -> np.ndarray:
    """M records with t different attributes each, popular ones more often."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1.0, n + 1)
    data = np.zeros((m, n), dtype=int)
    for record in data:
        record[rng.choice(n, t, replace=False, p=shares / shares.sum())] = 1
    return data


def counts(data: np.ndarray, sets: list[tuple[int, ...]]) -> np.ndarray:
    """How many records have all attributes of each set."""
    return np.array([data[:, s].all(axis=1).sum() for s in sets], dtype=float)


def trivial(truth: np.ndarray, m: int, t: int, k: int, rng: np.random.Generator, *, keep: bool) -> np.ndarray:
    """Gaussian noise for a replaced record, which has C(t, k) of the sets; of m t^k the largest entries are kept."""
    noisy = truth + rng.normal(scale=math.sqrt(2 * math.comb(t, k)) / gdp_mu(EPSILON, DELTA), size=truth.size)
    kept = min(m * t**k, truth.size) if keep else truth.size
    noisy[np.argsort(-noisy)[kept:]] = 0.0
    return noisy


def line(m: int, n: int, t: int, k: int) -> list[object]:
    sets = list(itertools.combinations(range(n), k))
    data = records(m, n, t, seed=0)
    truth = counts(data, sets)
    errors: dict[str, list[float]] = {"noise": [], "trivial": [], "own": []}
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        own = dpgraph.private_marginals(data, k, epsilon=EPSILON, delta=DELTA, sparsity=t, rng=seed)
        answers = {
            "noise": trivial(truth, m, t, k, rng, keep=False),
            "trivial": trivial(truth, m, t, k, rng, keep=True),
            "own": m * np.array([own.conjunction(s) for s in sets]),
        }
        for name, answer in answers.items():
            errors[name].append(float(np.sqrt(np.mean((answer - truth) ** 2))))
    zero = float(np.sqrt(np.mean(truth**2)))
    row = [m, n, t, k, len(sets), *(f"{np.mean(e):.3g}" for e in errors.values()), f"{zero:.3g}"]
    print(row, flush=True)
    return row


def main() -> None:
    header = ["records m", "attributes", "ones t", "k", "sets"]
    header += ["noise alone", "m tᵏ largest", "`private_marginals`", "all zero"]
    table = markdown_table(
        header, [line(*s) for s in ((50, 60, 3, 2), (300, 60, 3, 2), (50, 30, 3, 3), (2000, 60, 3, 2))]
    )
    text = [
        f"# Marginals of sparse records, epsilon = {EPSILON:g}, delta = {DELTA:g}",
        f"Root-mean-square error of the count of a k-set of attributes, {RUNS} runs; one record is replaced.",
        table,
    ]
    (RESULTS / "marginals_sparse.md").write_text("\n\n".join(text))


if __name__ == "__main__":
    main()
