"""DN25b's Algorithms 1 and 2 as they are printed, beside private_covariance.

Their noise is on all d x d matrices: a Markov chain draws its singular values, which is enough to measure errors and no
private mechanism. Writes ``benchmarks/results/covariance_printed.md``; a minute on one core.

    python benchmarks/covariance_printed.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import markdown_table

from dpgraph import private_covariance
from dpgraph.compiled import njit

RESULTS = Path(__file__).parent / "results"
EPSILON, RUNS = 1.0, 20


@njit()
def sweep(values: np.ndarray, steps: np.ndarray, log_uniforms: np.ndarray) -> None:
    """Metropolis sweeps for the density prod |s_i^2 - s_j^2| exp(-sum s_i), in place."""
    for t in range(len(steps)):
        for i in range(len(values)):
            proposed = abs(values[i] + steps[t, i])
            gain = values[i] - proposed
            for j in range(len(values)):
                if j != i:
                    gain += np.log(abs((proposed**2 - values[j] ** 2) / (values[i] ** 2 - values[j] ** 2)))
            if log_uniforms[t, i] < gain:
                values[i] = proposed


def square_noise(d: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Z of density proportional to exp(-||Z||_*/rho) on d x d matrices; the nuclear norm, Gamma(d^2), is exact."""
    values = rng.gamma(1.0, d, size=d)
    sweep(values, 3 * rng.normal(size=(4000, d)), np.log(rng.random((4000, d))))
    values *= rho * rng.gamma(d**2) / values.sum()
    left, right = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2))
    return (left * values) @ right.T


def onto_nuclear_ball(M: np.ndarray, radius: float) -> np.ndarray:
    """Nearest matrix of nuclear norm at most `radius`: singular values on the simplex."""
    U, s, V = np.linalg.svd(M)
    if s.sum() > radius:
        excess = (np.cumsum(s) - radius) / np.arange(1, len(s) + 1)
        s = np.maximum(s - excess[np.flatnonzero(s > excess)[-1]], 0.0)
    return (U * s) @ V


def printed(X: np.ndarray, seed: int, *, project: bool) -> np.ndarray:
    """Algorithm 1, or Algorithm 2 with half of epsilon for the noise and Lap(10/(epsilon n)) on twice the trace."""
    n, d = X.shape
    rng = np.random.default_rng(seed)
    share = EPSILON / 2 if project else EPSILON
    noisy = X.T @ X / n + square_noise(d, 2 / (share * n), rng)
    if not project:
        return noisy
    radius = 2 * float(np.sum(X**2)) / n + rng.laplace(scale=10 / (EPSILON * n))
    return onto_nuclear_ball(noisy, max(0.0, radius))


def line(n: int, d: int, trace: float) -> list[object]:
    X = np.random.default_rng(d).normal(size=(n, d)) / np.arange(1, d + 1)
    X *= np.sqrt(trace / np.mean(np.sum(X**2, axis=1)))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    truth = X.T @ X / n
    methods = (
        lambda seed: printed(X, seed, project=False),
        lambda seed: private_covariance(X, epsilon=EPSILON, project=False, rng=seed).matrix,
        lambda seed: printed(X, seed, project=True),
        lambda seed: private_covariance(X, epsilon=EPSILON, rng=seed).matrix,
    )
    errors = [np.mean([np.linalg.norm(method(seed) - truth) for seed in range(RUNS)]) for method in methods]
    row = [n, d, trace, *(f"{e:.3g}" for e in errors), f"{np.linalg.norm(truth):.3g}"]
    print(row, flush=True)
    return row


def main() -> None:
    header = ["records", "d", "trace", "Algorithm 1 as printed", "`project=False`", "Algorithm 2 as printed"]
    header += ["`private_covariance`", "norm of the truth"]
    settings = ((1000, 5, 0.3), (10_000, 5, 0.3), (1000, 20, 0.3), (10_000, 20, 0.3), (10_000, 50, 0.1))
    text = [
        f"# DN25b as printed, epsilon = {EPSILON:g}",
        f"Mean error in Frobenius norm, {RUNS} runs; one record is replaced. The noise of both printed algorithms "
        "comes from a Markov chain, which is close to its law and not private.",
        markdown_table(header, [line(*setting) for setting in settings]),
    ]
    (RESULTS / "covariance_printed.md").write_text("\n\n".join(text))


if __name__ == "__main__":
    main()
