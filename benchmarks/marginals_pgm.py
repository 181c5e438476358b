"""Fit private-pgm to noisy tables; run by ``marginals.py`` in an environment of its own (pip install mbi).

    python marginals_pgm.py FOLDER K

FOLDER holds ``data.npy`` (N x n, 0/1) and ``noisy.npy`` (all k-way tables in the order of itertools.combinations, as
numbers of records). Prints one JSON line: the root-mean-square error of a cell of the k-way tables, and seconds.
"""

import itertools
import json
import sys
import time
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import mbi  # noqa: E402
import numpy as np  # noqa: E402
from mbi.estimation import MirrorDescent  # noqa: E402


def main() -> None:
    folder, k = Path(sys.argv[1]), int(sys.argv[2])
    data, noisy = np.load(folder / "data.npy"), np.load(folder / "noisy.npy")
    n = data.shape[1]
    names = [f"a{i}" for i in range(n)]
    domain = mbi.Domain(names, [2] * n)
    sets = list(itertools.combinations(range(n), k))
    measurements = [
        mbi.LinearMeasurement(table.ravel(), tuple(names[i] for i in columns))
        for columns, table in zip(sets, noisy, strict=True)
    ]
    start = time.process_time()
    model = MirrorDescent().estimate(domain, measurements, known_total=float(len(data)), iters=1000)
    squares = []
    for columns in sets:
        codes = data[:, columns] @ (2 ** np.arange(k)[::-1])
        table = np.asarray(model.project(tuple(names[i] for i in columns)).datavector())
        squares.append((table - np.bincount(codes, minlength=2**k)) ** 2)
    seconds = time.process_time() - start
    print(json.dumps({"rmse": float(np.sqrt(np.mean(squares))), "seconds": seconds}))


if __name__ == "__main__":
    main()
