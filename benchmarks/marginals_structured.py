"""Three-way tables of structured records: what a forest gains, beside MST, which measures the tables of one tree.

Sixteen 0/1 attributes, epsilon = 1, delta = 1e-6. Records of a *weak tree* copy a parent's value or draw their own,
those of a *skewed tree* draw from squared uniform rates given the parent's value, those of *five kinds* are those of
``marginals.py``, and of *exclusive ors* every third attribute is that of the two before it, on which pairs say nothing.

*noise alone* is what is released, *projected* the nearest consistent tables, and ``private_marginals`` the default. MST
(``--mst-python``, an interpreter with ``pip install mbi==2.0.0``) has two runs. Its neighbours have one record more or
less; there are columns of both relations.

    python benchmarks/marginals_structured.py [--mst-python PATH]

Writes ``benchmarks/results/marginals_structured.{csv,md}``; MST takes half an hour. Its numbers in the csv are kept.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from marginals import clustered

from dpgraph.problems.records.marginals import expected_error, private_marginals

RESULTS = Path(__file__).parent / "results"
N_ATTRIBUTES, K, EPSILON, DELTA, RUNS, MST_RUNS = 16, 3, 1.0, 1e-6, 10, 2
COLUMNS = [
    "data",
    "records",
    "noise alone",
    "projected",
    "private_marginals",
    "one record more: default",
    "MST",
]


def weak_tree(n: int, N: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    data, own = np.zeros((N, n), dtype=int), rng.beta(2, 2, n)
    data[:, 0] = rng.random(N) < own[0]
    for v in range(1, n):
        parent, copied = rng.integers(v), rng.random(N) < 0.8 * rng.random()
        data[:, v] = np.where(copied, data[:, parent], rng.random(N) < own[v])
    return data


def skewed_tree(n: int, N: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    data = np.zeros((N, n), dtype=int)
    data[:, 0] = rng.random(N) < 0.3
    for v in range(1, n):
        parent, rates = rng.integers(v), rng.uniform(0, 1, 2) ** 2
        data[:, v] = rng.random(N) < rates[data[:, parent]]
    return data


def exclusive_ors(n: int, N: int) -> np.ndarray:
    data = np.random.default_rng(1).integers(0, 2, (N, n))
    for v in range(2, n, 3):
        data[:, v] = data[:, v - 1] ^ data[:, v - 2]
    return data


DATA = {"weak tree": weak_tree, "skewed tree": skewed_tree, "five kinds": clustered, "exclusive ors": exclusive_ors}


def rmse(result: object, data: np.ndarray) -> float:
    squares = []
    for columns in itertools.combinations(range(N_ATTRIBUTES), K):
        codes = data[:, columns] @ (2 ** np.arange(K)[::-1])
        squares.append((result.table(list(columns)).ravel() - np.bincount(codes, minlength=2**K)) ** 2)
    return float(np.sqrt(np.mean(squares)))


def mean_rmse(data: np.ndarray, **options: object) -> float:
    runs = (private_marginals(data, K, epsilon=EPSILON, delta=DELTA, rng=s, **options) for s in range(RUNS))
    return float(np.mean([rmse(result, data) for result in runs]))


def mst(python: str, data: np.ndarray) -> float:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "data.npy", data)
        script = str(Path(__file__).parent / "marginals_mst.py")
        numbers = [str(x) for x in (K, EPSILON, DELTA, MST_RUNS)]
        done = subprocess.run([python, script, folder, *numbers], capture_output=True, text=True, check=True)
    return float(np.mean(json.loads(done.stdout.splitlines()[-1])["rmse"]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mst-python")
    arguments = parser.parse_args()
    path, known = RESULTS / "marginals_structured.csv", {}
    if path.exists():
        with path.open() as file:
            known = {(row["data"], row["records"]): row["MST"] for row in csv.DictReader(file)}
    rows = []
    for (name, make), N in itertools.product(DATA.items(), (1000, 20_000)):
        data = make(N_ATTRIBUTES, N)
        beside = known.get((name, str(N)), "")
        if arguments.mst_python and not beside:
            beside = f"{mst(arguments.mst_python, data):.3g}"
        errors = [
            expected_error(N_ATTRIBUTES, K, epsilon=EPSILON, delta=DELTA),
            mean_rmse(data, forest=False),
            mean_rmse(data),
            mean_rmse(data, adjacency="add-remove"),
        ]
        rows.append([name, str(N), *(f"{error:.3g}" for error in errors), beside])
        print(rows[-1], flush=True)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    lines = [" | ".join(row) for row in [COLUMNS, ["---"] * len(COLUMNS), *rows]]
    text = (
        "# Three-way tables of structured records, 16 attributes, epsilon = 1, delta = 1e-06\n\n"
        "Root-mean-square error of a cell, in records. One record is replaced, but in the last two columns there is "
        f"one record more or less: compare MST ({MST_RUNS} runs, of the others {RUNS}) with the column before it. "
        "A blank was not run.\n\n"
    )
    (RESULTS / "marginals_structured.md").write_text(text + "".join(f"| {line} |\n" for line in lines))


if __name__ == "__main__":
    main()
