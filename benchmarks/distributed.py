"""Releases on Dask, measured: ``python benchmarks/distributed.py --largest 10000000``.

Runs distributed_graphs.py (its options are the same), then prints the estimate of distributed_estimate.py. Scripts
beside this file that import ``distributed`` mean Dask's package, and get it.
"""

import importlib
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    for script in ("distributed_graphs.py", "distributed_estimate.py"):
        runpy.run_path(str(HERE / script), run_name="__main__")
else:
    path = sys.path[:]
    sys.path[:] = [folder for folder in path if Path(folder or ".").resolve() != HERE]
    del sys.modules[__name__]
    try:
        importlib.import_module(__name__)
    finally:
        sys.path[:] = path
