"""Synthesise records with smartnoise-synth; run by ``marginals.py`` in an environment of its own.

    python marginals_smartnoise.py FOLDER K METHOD EPSILON DELTA

FOLDER holds ``data.npy`` (N x n, 0/1), METHOD is ``mst`` or ``aim`` (pip install smartnoise-synth). Prints one JSON
line: the root-mean-square error of a cell of the k-way tables of as many synthetic records, and seconds.
"""

import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd


def main() -> None:
    from snsynth import Synthesizer

    folder, k, method = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    epsilon, delta = map(float, sys.argv[4:6])
    data = np.load(folder / "data.npy")
    n = data.shape[1]
    frame = pd.DataFrame(data, columns=[f"a{i}" for i in range(n)])
    options = {"degree": k} if method == "aim" else {}
    start = time.process_time()
    synthesizer = Synthesizer.create(method, epsilon=epsilon, delta=delta, **options)
    synthesizer.fit(frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
    synthetic = np.asarray(synthesizer.sample(len(data)), dtype=int)
    seconds = time.process_time() - start
    place = 2 ** np.arange(k)[::-1]
    squares = [
        (np.bincount(synthetic[:, c] @ place, minlength=2**k) - np.bincount(data[:, c] @ place, minlength=2**k)) ** 2
        for c in itertools.combinations(range(n), k)
    ]
    print(json.dumps({"rmse": float(np.sqrt(np.mean(squares))), "seconds": seconds}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
