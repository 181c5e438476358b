"""The solvers of the marginal projection side by side: same noisy parities, same tolerance, time and residual.

Writes ``benchmarks/results/marginal_solvers.{csv,md}``; a few minutes on one core. Seconds are processor time of the
whole call, which is the same for all solvers but for the projection.

    python benchmarks/marginal_solvers.py
"""

from __future__ import annotations

import time

import numpy as np
from marginals import baskets, clustered, measured, write_table

from dpgraph.queries.marginals import private_marginals

#: Largest moment matrix that is handed to SCS here: the next size takes more than ten minutes.
SCS_ATTRIBUTES = 12

CASES = [
    ("6 binary, k = 2", 6, 2, {}),
    ("8 binary, k = 3", 8, 3, {}),
    ("12 binary, k = 2", 12, 2, {}),
    ("12 binary, k = 3", 12, 3, {}),
    ("12 binary, k = 3, sparsity 2", 12, 3, {"sparsity": 2}),
    ("6 of three values, k = 3", 6, 3, {"categories": {g: [0, 1, 2] for g in range(6)}}),
    ("16 binary, k = 3", 16, 3, {}),
    ("16 binary, k = 4", 16, 4, {}),
    ("40 binary, k = 2", 40, 2, {}),
]
ROUNDS = {"admm": 300, "dykstra": 5000, "scs": 300}


def records(n: int, options: dict) -> np.ndarray:
    if "sparsity" in options:
        return baskets(n, 1000, options["sparsity"])
    if "categories" in options:
        return clustered(n, 1000) + clustered(2 * n, 1000)[:, n:]
    return clustered(n, 1000)


def run(name: str, n: int, k: int, options: dict, solver: str) -> dict[str, object]:
    data = records(n, options)
    start = time.process_time()
    result = private_marginals(
        data, k, epsilon=1.0, delta=1e-6, solver=solver, max_iter=ROUNDS[solver], rng=0, **options
    )
    row: dict[str, object] = {
        "case": name,
        "degree": result.degree,
        "solver": solver,
        "converged": result.converged,
        "iterations": result.iterations,
        "residual": result.residual,
        "seconds": time.process_time() - start,
    }
    if "categories" not in options:
        row["RMSE of a cell"] = measured(result, data, k)
    print(row, flush=True)
    return row


def main() -> None:
    run(*CASES[0], "scs")  # imports
    rows = []
    for name, n, k, options in CASES:
        for solver in ROUNDS:
            if solver != "scs" or n <= SCS_ATTRIBUTES:
                rows.append({"RMSE of a cell": "", **run(name, n, k, options, solver)})
    columns = ["case", "degree", "solver", "converged", "iterations", "residual", "seconds", "RMSE of a cell"]
    text = [
        "# Solvers of the marginal projection",
        "1000 records, epsilon = 1, delta = 1e-6, tolerance 2e-3 of the noise, the same noise for all. *residual*: "
        "infeasibility or last step relative to the noise. *seconds*: processor time of the whole call. SCS is not "
        f"tried beyond {SCS_ATTRIBUTES} attributes.",
    ]
    write_table("marginal_solvers", text, [{column: row[column] for column in columns} for row in rows])


if __name__ == "__main__":
    main()
