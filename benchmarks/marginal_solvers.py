"""The solvers of the marginal projection side by side: same noisy parities, same tolerance, time and residual.

A second table has the error of categorical and sparse marginals at each degree of the moment matrix. Writes
``benchmarks/results/marginal_solvers.{csv,md}``; a few minutes on one core. Seconds are processor time of the
whole call, which is the same for all solvers but for the projection.

    python benchmarks/marginal_solvers.py
"""

from __future__ import annotations

import itertools
import time
from unittest import mock

import numpy as np
from marginal_dykstra import project_by_dykstra
from marginal_scs import project_by_scs
from marginals import RESULTS, baskets, clustered, table, write_table

from dpgraph.problems.records import marginal_model
from dpgraph.problems.records.marginals import PrivateMarginals, private_marginals

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
SOLVERS = {"admm": marginal_model.project_by_admm, "dykstra": project_by_dykstra, "scs": project_by_scs}
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
    with mock.patch.object(marginal_model, "project_by_admm", SOLVERS[solver]):
        result = private_marginals(data, k, epsilon=1.0, delta=1e-6, max_iter=ROUNDS[solver], rng=0, **options)
    row: dict[str, object] = {
        "case": name,
        "degree": result.degree,
        "solver": solver,
        "converged": result.converged,
        "iterations": result.iterations,
        "residual": result.residual,
        "seconds": time.process_time() - start,
    }
    row["RMSE of a cell"] = rmse([result], data, k)
    print(row, flush=True)
    return row


def rmse(results: list[PrivateMarginals], data: np.ndarray, k: int) -> float:
    """Root-mean-square error of a cell over (at most 400 of) the k-way tables."""
    sets = list(itertools.combinations(range(data.shape[1]), k))[:400]
    squares = []
    for columns in sets:
        exact = np.zeros([len(results[0].categories[g]) for g in columns])
        np.add.at(exact, tuple(data[:, g] for g in columns), 1)
        squares.append(np.concatenate([(result.table(columns) - exact).ravel() ** 2 for result in results]))
    return float(np.sqrt(np.mean(np.concatenate(squares))))


def categorical(n: int, q: int, N: int) -> np.ndarray:
    """Records of four kinds, attributes of q values independent within a kind."""
    rng = np.random.default_rng(1)
    kinds = rng.dirichlet(np.full(q, 0.4), size=(4, n))
    which = rng.integers(0, 4, N)
    return (rng.random((N, n, 1)) > kinds[which].cumsum(axis=2)[:, :, :-1]).sum(axis=2)


def degrees() -> list[dict[str, object]]:
    """Error at each degree of the moment matrix, where degree="auto" is not simply the largest one."""
    rows = []
    for n, q, k, N, t in (
        (8, 3, 2, 300, None),
        (8, 3, 3, 300, None),
        (8, 3, 3, 3000, None),
        (6, 5, 3, 1000, None),
        (14, 2, 2, 1000, 3),
        (14, 2, 3, 300, 3),
        (14, 2, 3, 1000, 3),
    ):
        data = categorical(n, q, N) if t is None else baskets(n, N, t)
        options = {"categories": {g: list(range(q)) for g in range(n)}} if t is None else {"sparsity": t}
        row: dict[str, object] = {"attributes": n, "values": q, "k": k, "sparsity": t or "", "records": N}
        for degree in (0, 2, 4):
            results = [
                private_marginals(data, k, epsilon=1.0, delta=1e-6, degree=degree, rng=seed, **options)
                for seed in range(5)
            ]
            row["best noise"] = results[0].expected_rmse
            row[f"degree {degree}"] = rmse(results, data, k)
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    run(*CASES[0], "scs")  # imports
    rows = []
    for name, n, k, options in CASES:
        for solver in ROUNDS:
            if solver != "scs" or n <= SCS_ATTRIBUTES:
                rows.append(run(name, n, k, options, solver))
    text = [
        "# Solvers of the marginal projection",
        "1000 records, epsilon = 1, delta = 1e-6, tolerance 2e-3 of the noise, the same noise for all. *residual*: "
        "infeasibility or last step relative to the noise. *seconds*: processor time of the whole call. SCS is not "
        f"tried beyond {SCS_ATTRIBUTES} attributes.",
    ]
    write_table("marginal_solvers", text, rows)
    with (RESULTS / "marginal_solvers.md").open("a") as file:
        file.write(
            "\n## Categorical attributes and sparse records: error of a cell by the degree of the moment matrix\n\n"
            "epsilon = 1, mean of five runs. *best noise*: without projection, known in advance.\n\n"
            + table(degrees())
            + "\n"
        )


if __name__ == "__main__":
    main()
