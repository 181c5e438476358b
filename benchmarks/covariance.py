"""Error of purely private covariance against n, d and the trace (DN25b, Theorem 1.2), beside other mechanisms.

Writes ``covariance.csv``, ``covariance.md``, ``covariance.png`` and ``covariance_shares.md`` to ``benchmarks/results``.
Epsilon = 1; what has "delta" in its name has delta = 1e-6, all others delta = 0. Amin et al. 2019 (eigenvalues, then
eigenvectors one after the other by exponential mechanisms) is run at every d, with exact draws.

    python benchmarks/covariance.py --runs 10
    python benchmarks/covariance.py --part shares     which share of epsilon the private trace should get
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import charts
import numpy as np
from scipy.linalg import null_space
from scipy.optimize import brentq

from dpgraph.privacy.accounting import gaussian_scale
from dpgraph.problems.records import covariance as package
from dpgraph.problems.records.covariance import private_covariance, short_rows
from dpgraph.projections import project_psd_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"
EPSILON, DELTA = 1.0, 1e-6
BASE = {"n": 2000, "d": 20, "trace": 0.1}
SWEEPS = {
    "n": [50, 200, 1000, 5000, 20_000, 100_000],
    "d": [2, 5, 10, 20, 50, 100],
    "trace": [0.003, 0.01, 0.03, 0.1, 0.3, 0.9],
}


def records(n: int, d: int, trace: float) -> np.ndarray:
    """Rows of norm at most 1 whose covariance has decaying eigenvalues and (nearly) the given trace."""
    X = np.random.default_rng(n + d).normal(size=(n, d)) / np.arange(1, d + 1) ** 0.5
    return short_rows(X * np.sqrt(trace / (np.sum(X**2) / n)), 1.0)


def bingham(B: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One unit vector of density proportional to exp(u'Bu), by rejection (Kent, Ganeiber and Mardia 2018): exact."""
    values, vectors = np.linalg.eigh(B)
    q, excess = len(values), values[-1] - values  # density exp(-sum excess_i y_i^2) in the eigenbasis
    b = brentq(lambda b: np.sum(1 / (b + 2 * excess)) - 1, 1e-9, q) if q > 1 else 1.0
    shape = 1 + 2 * excess / b
    largest = (b - q) / 2 + q / 2 * np.log(q / b)
    while True:
        y = rng.normal(size=q) / np.sqrt(shape)
        y /= np.linalg.norm(y)
        if np.log(rng.random()) < -(excess @ y**2) + q / 2 * np.log(shape @ y**2) - largest:
            return vectors @ y


def amin(X: np.ndarray, seed: int, epsilon: float = EPSILON) -> np.ndarray:
    """Amin, Dick, Kulesza, Munoz Medina and Vassilvitskii (NeurIPS 2019, Algorithm 1): values, then vectors one by one.

    An equal share for all eigenvalues (a replaced record moves them by 2 in l1) and for each vector but the last one,
    which is what remains; u'(xx' - yy')u is at most 1.
    """
    n, d = X.shape
    rng, share = np.random.default_rng(seed), epsilon / d
    C = X.T @ X
    values = np.sort(np.linalg.eigvalsh(C) + rng.laplace(scale=2 / share, size=d))[::-1]
    rest, vectors = np.eye(d), []
    for _ in range(d):
        u = rest @ (bingham(share / 2 * rest.T @ C @ rest, rng) if rest.shape[1] > 1 else np.ones(1))
        vectors.append(u)
        rest = null_space(np.array(vectors)) if len(vectors) < d else rest
    U = np.array(vectors).T
    return (U * np.clip(values, 0.0, n)) @ U.T / n


def separate(X: np.ndarray, seed: int) -> np.ndarray:
    """SeparateCov of Dong, Liang and Yi (CCS 2022): eigenvalues and eigenvectors from a noisy copy each.

    Both get half of the Gaussian privacy; a replaced record moves the matrix, and its sorted eigenvalues, by sqrt(2).
    """
    n, d = X.shape
    rng, C = np.random.default_rng(seed), X.T @ X
    scale = math.sqrt(2) * gaussian_scale(math.sqrt(2), epsilon=EPSILON, delta=DELTA)
    noise = rng.normal(scale=scale, size=(d, d))
    U = np.linalg.eigh(C + (noise + noise.T) / 2)[1]
    values = np.linalg.eigvalsh(C) + rng.normal(scale=scale, size=d)
    return (U * np.clip(np.sort(values), 0.0, n)) @ U.T / n


def ours(**options: object) -> Callable[[np.ndarray, int], np.ndarray]:
    return lambda X, seed: private_covariance(X, epsilon=EPSILON, rng=seed, **options).matrix


def unit_trace(X: np.ndarray, epsilon: float, seed: int, **options: object) -> np.ndarray:
    """The nearest positive semidefinite matrix of trace at most 1, which is public."""
    return project_psd_trace(private_covariance(X, epsilon=epsilon, project=False, rng=seed, **options).matrix, 1.0)


def algorithm_2(X: np.ndarray, epsilon: float, seed: int, **options: object) -> np.ndarray:
    """DN25b, Algorithm 2: half of epsilon for a private bound of twice the trace, onto which the matrix is projected.

    Its noise is that of the package, the trace gets no more than it needs, and a public bound of 1 on it is used:
    docs/covariance.md says why the theorem holds all the same.
    """
    noisy = private_covariance(X, epsilon=epsilon / 2, project=False, rng=seed, **options).matrix
    noise = np.random.default_rng([seed, 1]).laplace(scale=2 / len(X) / (epsilon / 2))
    return project_psd_trace(noisy, min(max(2 * float(np.sum(X**2)) / len(X) + noise, 0.0), 1.0))


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "no projection": ours(project=False),
    "unit trace": lambda X, seed: unit_trace(X, EPSILON, seed),
    "shrunk (default)": ours(),
    "twice the trace (DN25b)": lambda X, seed: algorithm_2(X, EPSILON, seed),
    "default, delta 1e-6": ours(delta=DELTA),
    "Gaussian, unit trace, delta 1e-6": lambda X, seed: unit_trace(X, EPSILON, seed, delta=DELTA, mechanism="gaussian"),
    "separate, delta 1e-6 (DLY22)": separate,
    "Amin et al.": amin,
}
BOUNDS: dict[str, Callable[[int, int, float], float]] = {
    "Theorem 1.2, constant 1": lambda n, d, t: min(
        d**1.5 / (EPSILON * n), math.sqrt(d * t / (EPSILON * n)) + math.sqrt(d * math.log(d)) / (EPSILON * n)
    ),
    "[Nik23] type, constant 1": lambda n, d, t: min(d**1.5 / (EPSILON * n), math.sqrt(d / (EPSILON * n))),
    "[DLY22] type, constant 1": lambda n, d, t: (
        d**0.75 * math.sqrt(t / n) / EPSILON**0.5 + math.sqrt(d) / (EPSILON * n)
    ),
}


def measure(runs: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for axis, values in SWEEPS.items():
        for value in values:
            point = BASE | {axis: value}
            X = records(**point)
            truth = X.T @ X / len(X)
            row: dict[str, object] = {"sweep": axis, **point, "norm of the truth": float(np.linalg.norm(truth))}
            for name, release in METHODS.items():
                seeds = range(min(runs, 3) if name.startswith("Amin") else runs)
                row[name] = float(np.mean([np.linalg.norm(release(X, seed) - truth) for seed in seeds]))
            row |= {name: bound(*(point[k] for k in ("n", "d", "trace"))) for name, bound in BOUNDS.items()}
            rows.append(row)
            print({k: v if isinstance(v, str) else round(float(v), 5) for k, v in row.items()}, flush=True)
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Mean errors as Markdown, one table for each sweep; the smallest of the purely private ones in bold."""
    pure = [name for name in METHODS if "delta" not in name]
    columns = [*METHODS, *BOUNDS, "norm of the truth"]
    lines = []
    for axis in SWEEPS:
        fixed = ", ".join(f"{k} = {v:g}" for k, v in BASE.items() if k != axis)
        lines += ["", f"{fixed}:", "", "| " + " | ".join([axis, *columns]) + " |", "|" + " --- |" * (len(columns) + 1)]
        for row in (row for row in rows if row["sweep"] == axis):
            best = min((name for name in pure if name in row), key=lambda name: float(str(row[name])))
            cells = [f"{float(str(row[c])):.4f}" if c in row else "" for c in columns]
            cells = [f"**{cell}**" if c == best else cell for c, cell in zip(columns, cells, strict=True)]
            lines.append("| " + " | ".join([f"{row[axis]:g}", *cells]) + " |")
    return "\n".join(lines)


def trace_shares(runs: int) -> str:
    """Error relative to the best share of epsilon for the trace, over synthetic settings."""
    shares, n = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5), 500

    def with_share(share: float, X: np.ndarray, epsilon: float, seed: int, **options: object) -> np.ndarray:
        with mock.patch.multiple(package, _LEAST_SHARE=share, _LARGEST_SHARE=share):
            return default(X, epsilon, seed, **options)

    def default(X: np.ndarray, epsilon: float, seed: int, **options: object) -> np.ndarray:
        return private_covariance(X, epsilon=epsilon, rng=seed, **options).matrix

    choices: dict[str, Callable[..., np.ndarray]] = {f"{share:g}": partial(with_share, share) for share in shares}
    choices |= {"default": default, "twice the trace (DN25b)": algorithm_2}
    budgets = (30, 300, 3000, 30_000)
    ratios: dict[int, list[np.ndarray]] = {budget: [] for budget in budgets}
    for d, trace, budget, adjacency in itertools.product(
        (2, 5, 20, 50), (0.01, 0.1, 0.5), budgets, ("replace", "add-remove")
    ):
        X = records(n, d, trace)
        truth = X.T @ X / n
        options = {"adjacency": adjacency, "n_records": n}
        errors = [
            np.mean([np.linalg.norm(choice(X, budget / n, seed, **options) - truth) for seed in range(runs)])
            for choice in choices.values()
        ]
        ratios[budget].append(np.array(errors) / min(errors[: len(shares)]))
    lines = [
        "# Share of epsilon for the private trace: error / error of the best share",
        "",
        f"d in (2, 5, 20, 50), trace in (0.01, 0.1, 0.5), both adjacencies, mean of {runs} runs each.",
        "",
        "| epsilon n | " + " | ".join(choices) + " |",
        "|" + " --- |" * (len(choices) + 1),
    ]
    everything = list(itertools.chain.from_iterable(ratios.values()))
    for name, some in [*((f"{b}, mean", ratios[b]) for b in budgets), ("all, mean", everything)]:
        lines.append(f"| {name} | " + " | ".join(f"{x:.2f}" for x in np.exp(np.mean(np.log(some), axis=0))) + " |")
    lines.append("| all, worst | " + " | ".join(f"{x:.2f}" for x in np.max(everything, axis=0)) + " |")
    return "\n".join(lines)


#: Lines of the picture, the pure default first.
_DRAWN = (
    "shrunk (default)", "Amin et al.", "default, delta 1e-6", "twice the trace (DN25b)", "no projection",
    "norm of the truth",
)  # fmt: skip


def plot(rows: list[dict[str, object]]) -> Figure:
    """Error against the number of records, the dimension and the trace."""
    figure, axes = charts.panels(len(SWEEPS))
    for place, (axis, swept) in enumerate(zip(axes, SWEEPS, strict=True)):
        own = [row for row in rows if row["sweep"] == swept]
        axis.set(xscale="log", yscale="log")
        for number, name in enumerate(_DRAWN):
            points = [(float(str(row[swept])), float(str(row[name]))) for row in own if name in row]
            if points:
                x, y = zip(*points, strict=True)
                style = {"linestyle": "--", "marker": ""} if name == "norm of the truth" else {}
                label = name if place == len(axes) - 1 else "_"
                charts.curve(axis, x, y, None, number, label=label, **style)
        fixed = ", ".join(f"{k} = {v:g}" for k, v in BASE.items() if k != swept)
        axis.set_title(f"by {swept}; {fixed}", fontsize=8.5)
        charts.name_lines(axis, 7.5)
    both = [row for row in rows if "Amin et al." in row]
    gains = [float(str(row["Amin et al."])) / float(str(row["shrunk (default)"])) for row in both]
    title = f"The default errs {min(gains):.0f} to {max(gains):.0f} times less than Amin et al., pure as well"
    remark = (
        f"epsilon = {EPSILON:g}; a line above the dashed one errs more than an answer of zero; bounds: covariance.md"
    )
    return charts.finish(figure, title, remark, "", "mean Frobenius error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--part", choices=["errors", "shares", "all"], default="all")
    args = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if args.part != "errors":
        (RESULTS / "covariance_shares.md").write_text(trace_shares(args.runs) + "\n")
    if args.part != "shares":
        write_errors(args.runs)


def write_errors(runs: int) -> None:
    rows = measure(runs)
    with (RESULTS / "covariance.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(max(rows, key=len)), restval="")
        writer.writeheader()
        writer.writerows(rows)
    title = f"# Frobenius error of covariance matrices, epsilon = {EPSILON:g}, mean of {runs} runs (Amin et al.: 3)"
    (RESULTS / "covariance.md").write_text(f"{title}\n{table(rows)}\n")
    (RESULTS / "covariance.png").write_bytes(charts.png(plot(rows)))


if __name__ == "__main__":
    main()
