"""Three-way tables of structured records: what more precise pairs, and less precise triples, would gain or lose.

The noise of ``private_marginals`` has least expected error before projection and forest. Here the weight of the
parities of order three is a part of that, so that parities of one and two attributes get more of the budget. Data,
budget and error are those of ``marginals_structured.py``; "replace" and "one more" are the two relations.

    python benchmarks/marginals_weights.py

Writes ``benchmarks/results/marginals_weights.md``; two minutes.
"""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
from common import interval, markdown_table
from marginals_structured import DATA, DELTA, EPSILON, N_ATTRIBUTES, K, rmse

from dpgraph import private_marginals
from dpgraph.bounds import parities

RESULTS = Path(__file__).parent / "results"
PARTS, RUNS = (1.0, 0.5, 0.25), 5
COLUMNS = ["data", "records", *(f"{relation}: {part:g}" for relation in ("replace", "one more") for part in PARTS)]


def error(data: np.ndarray, part: float, adjacency: str) -> str:
    """Mean error with so much of the optimal weight for parities of order three, and its 95 % interval."""
    optimal = parities.optimal_weights

    def shifted(loss: np.ndarray, moves: np.ndarray, **options: float) -> np.ndarray:
        weights = optimal(loss, moves, **options)
        return weights * np.where(np.arange(len(weights)) < K - 1, 1.0, part)

    with patch.object(parities, "optimal_weights", shifted):
        runs = [
            rmse(private_marginals(data, K, epsilon=EPSILON, delta=DELTA, adjacency=adjacency, rng=seed), data)
            for seed in range(RUNS)
        ]
    return "{:.1f} ± {:.1f}".format(*interval(runs))


def main() -> None:
    lines = []
    for name, make in DATA.items():
        for records in (1000, 3000, 10_000, 20_000):
            data = make(N_ATTRIBUTES, records)
            errors = [error(data, part, adjacency) for adjacency in ("replace", "add-remove") for part in PARTS]
            lines.append([name, f"{records:,}", *errors])
            print(lines[-1], flush=True)
    text = (
        "# Weight of the parities of order three, 16 attributes, k = 3, epsilon = 1, delta = 1e-06\n\n"
        "Root-mean-square error of a cell, in records, with this part of the optimal weight; 1 is the default. "
        f"{RUNS} runs.\n\n"
    )
    (RESULTS / "marginals_weights.md").write_text(text + markdown_table(COLUMNS, lines).strip() + "\n")


if __name__ == "__main__":
    main()
