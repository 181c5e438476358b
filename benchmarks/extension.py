"""Would a C extension be simpler than numba? Two kernels of linalg/subgraphs.py, written in C, beside numba's.

    python -m benchmarks.extension

Needs a C compiler (`cc`). Processor seconds, the best of five; compiling is measured in a process of its own, with an
empty cache. The graph: ca-AstroPh, of the folder of graphs.
"""

from __future__ import annotations

import ast
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import markdown_table, real_graph
from dpgraph.linalg.subgraphs import Ranked, cycle_count, ranked, triangle_count

RESULTS = Path(__file__).parent / "results" / "extension.md"
PACKAGE = Path(__file__).resolve().parents[1] / "dpgraph"
SOURCE = r"""
#include <stdint.h>
#include <stdlib.h>

int64_t triangle_count(const int64_t *start, const int64_t *higher, int64_t n, const uint8_t *stop) {
  uint8_t *marked = calloc(n, 1);
  int64_t total = 0;
  for (int64_t u = 0; u < n && !stop[0]; u++) {
    for (int64_t k = start[u]; k < start[u + 1]; k++) marked[higher[k]] = 1;
    for (int64_t k = start[u]; k < start[u + 1]; k++)
      for (int64_t l = start[higher[k]]; l < start[higher[k] + 1]; l++) total += marked[higher[l]];
    for (int64_t k = start[u]; k < start[u + 1]; k++) marked[higher[k]] = 0;
  }
  free(marked);
  return total;
}

int64_t cycle_count(const int32_t *indptr, const int32_t *indices, const int64_t *rank, int64_t n,
                    const uint8_t *stop) {
  int64_t *paths = calloc(n, sizeof(int64_t)), total = 0;
  for (int32_t u = 0; u < n && !stop[0]; u++)
    for (int again = 0; again < 2; again++)
      for (int32_t k = indptr[u]; k < indptr[u + 1]; k++) {
        int32_t v = indices[k];
        if (rank[v] >= rank[u]) continue;
        for (int32_t l = indptr[v]; l < indptr[v + 1]; l++) {
          int32_t w = indices[l];
          if (rank[w] >= rank[u]) continue;
          if (again) paths[w] = 0; else total += paths[w]++;
        }
      }
  free(paths);
  return total;
}
"""


def best(call: object, *arguments: object) -> tuple[float, int]:
    seconds = []
    for _ in range(5):
        before = time.process_time()
        found = call(*arguments)
        seconds.append(time.process_time() - before)
    return min(seconds), int(found)


def compiling_by_numba() -> float:
    """Processor seconds of importing numba and compiling both kernels, in a fresh process without a cache."""
    with tempfile.TemporaryDirectory() as empty:
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.extension", "--compile"],
            env=os.environ | {"NUMBA_CACHE_DIR": empty},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(run.stdout.split()[-1])


def kernels() -> tuple[int, int]:
    """How many functions of the package numba compiles, and their lines."""
    trees = [ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")]
    found = [
        node.end_lineno - node.lineno + 1
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any("njit" in ast.unparse(d) for d in node.decorator_list)
    ]
    return len(found), sum(found)


def inputs() -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    A = real_graph("ca-AstroPh").tocsr()
    indptr, indices = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    rows = Ranked(*ranked(indptr, indices, np.argsort(-np.diff(indptr), kind="stable")))
    return (rows.start, rows.higher.astype(np.int64)), (indptr, indices, -rows.rank.astype(np.int64))


def main() -> None:
    stop = np.zeros(1, dtype=np.bool_)
    triangles, cycles = inputs()
    calls = ((triangle_count, triangles), (cycle_count, cycles))
    if "--compile" in sys.argv:
        before = time.process_time()
        for kernel, arguments in calls:
            kernel(*arguments, stop)
        print(time.process_time() - before)
        return
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "kernels.c"), Path(folder, "kernels.so")
        source.write_text(SOURCE)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, source], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        compiling, size = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, library.stat().st_size
        loaded = ctypes.CDLL(str(library))
        lines = []
        for kernel, arguments in calls:
            kernel(*arguments, stop)
            in_c = getattr(loaded, kernel.py_func.__name__)
            in_c.restype = ctypes.c_int64
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in arguments]
            n = ctypes.c_int64(arguments[0].size - 1)
            numba, count = best(kernel, *arguments, stop)
            seconds, same = best(in_c, *pointers, n, ctypes.c_void_p(stop.ctypes.data))
            assert count == same
            lines.append([f"`{kernel.py_func.__name__}`", f"{numba:.3f}", f"{seconds:.3f}"])
    lines.append(["compiling both", f"{compiling_by_numba():.2f}", f"{compiling:.2f}"])
    count, length = kernels()
    facts = (
        f"The package has {count} functions that numba compiles, of {length:,} lines. The C library has {size:,} bytes."
    )
    table = markdown_table(["", "numba, s", "C, s"], lines).strip()
    RESULTS.write_text("\n\n".join(["# A C extension beside numba", facts, table]) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
