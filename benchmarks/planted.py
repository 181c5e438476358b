"""Planted 2-CSPs and planted bisections of 1000 variables and degree 200: exact and private at epsilon 1.

The 2-CSP is a unique game with three labels of which a planted assignment satisfies 90 %; the bisection has 90 % of
its edges across the planted halves. Shares are of the total weight; private ones are the mean and the worst of --runs
seeded runs. Writes ``planted.csv`` and ``planted.md`` to ``benchmarks/results`` after every line.

    python benchmarks/planted.py
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import dpgraph

RESULTS = Path(__file__).parent / "results"
N, DEGREE, EPSILON, DELTA = 1000, 200, 1.0, 1e-6
COLUMNS = {
    "problem": "s", "solver": "s", "random": ".3f", "planted": ".4f", "mean": ".4f", "worst": ".4f", "needed": ".2f",
    "bound": ".4f", "processor_seconds": ".1f", "runs": "d",
}  # fmt: skip

Line = dict[str, float | str]


def line(runs: int, solve: Callable[[int], tuple[float, float]], **fields: float | str) -> Line:
    """Shares and bounds of several runs, and the processor seconds of one."""
    begin = time.process_time()
    shares, bounds = np.array([solve(seed) for seed in range(runs)]).T
    seconds = (time.process_time() - begin) / runs
    return {
        **fields, "mean": shares.mean(), "worst": shares.min(), "bound": bounds.min(), "processor_seconds": seconds,
        "runs": runs,
    }  # fmt: skip


def games(runs: int) -> Iterator[Line]:
    """The unique game."""
    game = dpgraph.datasets.planted_csp(N, DEGREE, 3, 0.9, rng=0)
    total = game.total_weight
    fields: Line = {"problem": "2-CSP, q = 3", "random": 1 / 3, "planted": game.value(game.planted) / total}

    def exact(seed: int) -> tuple[float, float]:
        result = dpgraph.max_2csp(game, rng=seed)
        return result.value / total, result.upper_bound / total

    for adjacency in ("label-edge", "constraint"):

        def private(seed: int, adjacency: str = adjacency) -> tuple[float, float]:
            result = dpgraph.private_max_2csp(
                game, epsilon=EPSILON, delta=DELTA, adjacency=adjacency, mechanism="bounded-iterates", rng=seed
            )
            return game.value(result.assignment) / total, np.nan

        yield line(runs, private, **fields, solver=f"private, {adjacency}", needed=0.85)
    yield line(1, exact, **fields, solver="exact", needed=0.89)


def bisections(runs: int) -> Iterator[Line]:
    """The planted bisection."""
    G = dpgraph.datasets.planted_bisection(N, DEGREE, -0.8, rng=0)
    total = G.number_of_edges()
    planted = sum(G.nodes[u]["side"] != G.nodes[v]["side"] for u, v in G.edges) / total
    fields: Line = {"problem": "bisection", "random": 0.5, "planted": planted}

    def exact(seed: int) -> tuple[float, float]:
        result = dpgraph.max_bisection(G, rng=seed)
        return result.value / total, result.upper_bound / total

    def private(seed: int) -> tuple[float, float]:
        result = dpgraph.private_max_bisection(G, epsilon=EPSILON, delta=DELTA, mechanism="bounded-iterates", rng=seed)
        sizes = [len(side) for side in result.partition]
        if sizes != [N // 2, N // 2]:
            raise RuntimeError(f"sides of {sizes} vertices")
        return dpgraph.evaluate.cut_fraction(G, result.partition), np.nan

    yield line(1, exact, **fields, solver="exact", needed=0.89)
    yield line(runs, private, **fields, solver="private, edge", needed=0.85)


def write(rows: list[Line], directory: Path) -> None:
    with (directory / "planted.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    lines = [
        "# Planted 2-CSPs and bisections\n",
        f"{N} variables of degree {DEGREE}; private lines with ε = {EPSILON:g}, δ = {DELTA:g}, bounded iterates; what "
        "is protected is behind the comma. Shares of the total weight; *bound* is the certified upper bound of the "
        "exact solver. Seconds are processor seconds of one run.\n",
        f"| {' | '.join(name.replace('_', ' ') for name in COLUMNS)} |",
        f"|{' --- |' * len(COLUMNS)}",
        *(f"| {' | '.join(format(row[name], kind) for name, kind in COLUMNS.items())} |" for row in rows),
    ]
    (directory / "planted.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="private runs")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the tables")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows: list[Line] = []
    for source in (bisections, games):
        for row in source(arguments.runs):
            rows.append(row)
            print(row, flush=True)
            write(rows, arguments.output)


if __name__ == "__main__":
    main()
