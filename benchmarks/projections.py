"""Projections at scale: PSD-and-box by Dykstra, and the nonnegative spectral ball in both norms.

Writes ``projections.md``, ``spectral_ball.md`` and ``projections.png`` to ``benchmarks/results``. Cost is counted in
eigendecompositions and in processor seconds, which do not depend on who else uses the machine.

    python benchmarks/projections.py --rows 2000
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import charts
import numpy as np

from dpgraph.datasets import planted_cut_sparse
from dpgraph.projections import (
    Box,
    Elliptope,
    ProjectionResult,
    PSDCone,
    averaged_projections,
    dykstra,
    project_nonnegative_spectral_ball,
)

RESULTS = Path(__file__).parent / "results"


def symmetric_noise(n: int, scale: float, seed: int = 0) -> np.ndarray:
    W = scale * np.random.default_rng(seed).normal(size=(n, n))
    return (W + W.T) / 2


def noisy_gram(n: int, noise: float, rank: int = 20) -> np.ndarray:
    V = np.random.default_rng(1).normal(size=(n, rank))
    V /= np.linalg.norm(V, axis=1)[:, None]
    return V @ V.T + symmetric_noise(n, noise)


def regularized_adjacency(n: int) -> np.ndarray:
    A = planted_cut_sparse(n, 100, -0.75, rng=0)[0].toarray()
    c = A.sum(axis=1) + 100
    return A / np.sqrt(np.outer(c, c))


def timed(call: object) -> tuple[object, float]:
    start = time.process_time()
    result = call()  # type: ignore[operator]
    return result, time.process_time() - start


def gram_methods(accuracy: float) -> dict[str, Callable[[np.ndarray], ProjectionResult]]:
    sets = [PSDCone(), Box(-1.0, 1.0)]

    def tol(Y: np.ndarray) -> float:
        return accuracy * float(np.linalg.norm(Y))

    return {
        "Dykstra, psd and box": lambda Y: dykstra(Y, sets, tol=tol(Y), max_iter=60),
        "averaged, psd and box": lambda Y: averaged_projections(Y, sets, 60, tol=tol(Y)),
        "elliptope by its dual": lambda Y: Elliptope(tol=accuracy).solve(Y),
    }


def gram_rows(n: int, accuracy: float) -> list[list[str]]:
    rows = []
    for rank, noise in ((20, 0.3), (20, 1.0), (4, 0.3)):
        Y = noisy_gram(n, noise, rank)
        size = float(np.linalg.norm(Y))
        _, full = timed(lambda Y=Y: np.linalg.eigh(Y))
        for name, method in gram_methods(accuracy).items():
            result, seconds = timed(lambda Y=Y, method=method: method(Y))
            gap = f"{abs(result.gap) / result.distance:.1e}" if result.lower_bound else ""
            row = [f"rank {rank}, noise {noise:g}", name, str(result.iterations), f"{result.residual / size:.1e}", gap]
            rows.append([*row, str(result.converged), f"{seconds:.0f}", f"{seconds / full:.1f}"])
            print(rows[-1], flush=True)
    return rows


def spectral_rows(n: int, steps: int) -> list[list[str]]:
    A = regularized_adjacency(n)
    values, vectors = np.linalg.eigh(A)
    top = np.argsort(-np.abs(values))[:2]
    low_rank = (vectors[:, top] * values[top]) @ vectors[:, top].T
    inputs = {
        "rank 2": low_rank,
        "rank 2 + noise of norm 0.3": low_rank + symmetric_noise(n, 0.15 / np.sqrt(n / 2)),
        "whole + noise of norm 2": A + symmetric_noise(n, 1.0 / np.sqrt(n / 2)),
    }
    rows = []
    for name, Y in inputs.items():
        for norm in ("frobenius", "spectral"):
            result, seconds = timed(
                lambda Y=Y, norm=norm: project_nonnegative_spectral_ball(
                    Y, norm=norm, zero_diagonal=True, tol=1e-2, max_iter=steps
                )
            )
            error = np.linalg.norm(result.matrix - A, 2)
            before = np.linalg.norm(Y - A, 2)
            rows.append(
                [
                    name,
                    norm,
                    str(result.iterations),
                    f"{result.distance:.4f}",
                    f"{result.gap:.1e}",
                    str(result.converged),
                    f"{before:.3f}",
                    f"{error:.3f}",
                    f"{seconds:.0f}",
                ]
            )
            print(rows[-1], flush=True)
    return rows


def convergence_plot(n: int) -> None:
    """Residual and distance to the nearest point, sweep by sweep: averaging comes to rest elsewhere."""
    Y, sets = noisy_gram(n, 0.5), [PSDCone(), Box(-1.0, 1.0)]
    nearest = Elliptope(tol=1e-7).project(Y)  # the same set
    steps = np.unique(np.geomspace(1, 400, 18).astype(int))
    figure, (left, right) = charts.panels(2, size=(3.4, 2.6))
    methods = {
        "Dykstra": lambda k: dykstra(Y, sets, tol=0.0, max_iter=k),
        "averaged": lambda k: averaged_projections(Y, sets, k, tol=0.0),
    }
    for axis in (left, right):
        axis.set(xscale="log", yscale="log")
    for number, (name, run) in enumerate(methods.items()):
        results = [run(int(k)) for k in steps]
        charts.curve(left, steps, [r.residual for r in results], None, number)
        away = [float(np.linalg.norm(r.matrix - nearest)) for r in results]
        charts.curve(right, steps, away, None, number, label=name)
    left.set_title("distance to the sets", fontsize=9)
    right.set_title("distance to the nearest point of both", fontsize=9)
    charts.name_lines(right)
    remark = f"positive semidefinite, entries at most 1, {n} rows; Frobenius norms"
    title = "Both methods reach the sets; only Dykstra's finds the nearest point"
    charts.finish(figure, title, remark, "sweeps", "")
    (RESULTS / "projections.png").write_bytes(charts.png(figure))


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--accuracy", type=float, default=1e-6, help="relative to ||Y||")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--part", choices=["gram", "spectral", "plot", "all"], default="all")
    args = parser.parse_args()
    n = args.rows
    RESULTS.mkdir(exist_ok=True)
    if args.part in ("gram", "all"):
        header = ["input", "method", "eigendecompositions", "residual / size", "gap / distance", "converged"]
        text = table([*header, "CPU s", "in full eigh"], gram_rows(n, args.accuracy))
        title = f"# PSD and box, n = {n}, accuracy {args.accuracy:g} relative to the norm of the input"
        (RESULTS / "projections.md").write_text(f"{title}\n\n{text}\n")
    if args.part in ("spectral", "all"):
        header = ["input", "norm", "steps", "distance", "gap", "converged", "error before", "error after", "CPU s"]
        text = table(header, spectral_rows(n, args.steps))
        title = f"# Nonnegative spectral ball, n = {n}, tol = 0.01 (errors: spectral distance to the true matrix)"
        (RESULTS / "spectral_ball.md").write_text(f"{title}\n\n{text}\n")
    if args.part in ("plot", "all"):
        convergence_plot(150)


if __name__ == "__main__":
    main()
