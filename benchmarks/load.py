"""Load: processor seconds, memory and exponents of private releases and of readers, from 10^3 to 10^7 vertices.

Beside them scipy's eigsh of the pairs that an embedding releases, without privacy, and the readers of pandas, igraph
and networkx. Every line is measured in a process of its own, on one thread, after compilation; graphs are made before,
in other processes, and lie in a folder, so that peak memory is that of one graph and of the work on it. The columns of
a ratio are measured one after the other. Lines are kept as they come, so that a run may be killed and continued;
``--fresh`` measures them again.

    python benchmarks/load.py                         # make bench-load: an hour on one core, 8 GB
    python benchmarks/load.py --largest 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from common import RESULTS, ResumableTable, Row, markdown_table, slope
from scipy import sparse

Run = Callable[[], object]
DELTA = 1e-6
FOLDER = Path(gettempdir()) / "dpgraph-load"
#: Vertices, and average degree. The largest graph would not fit into 8 GB with twice as many edges.
SIZES = {1_000: 20, 10_000: 20, 100_000: 20, 1_000_000: 20, 10_000_000: 10}
#: Enough lines for the compiled loops of the reader, which are compiled or loaded outside the clock.
SMALL = 10_000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
KEY = ("method", "n")
COLUMNS = (*KEY, "edges", "processor_seconds", "peak_MB", "outcome", "load_average")
#: Seconds after which a line is given up.
LIMIT = 1800


# --- graphs ----------------------------------------------------------------------------------------------------------


def planted_blocks(n: int, blocks: int, degree: int, cohesion: float, rng: np.random.Generator) -> sparse.csr_array:
    """Graph of `blocks` communities; an edge stays inside with probability (1 + (blocks - 1) cohesion)/blocks."""
    m = n * degree // 2
    u = rng.integers(0, n, m)
    outside = rng.random(m) >= (1 + (blocks - 1) * cohesion) / blocks
    block = (u // (n // blocks) + np.where(outside, rng.integers(1, blocks, m), 0)) % blocks
    v = block * (n // blocks) + rng.integers(0, n // blocks, m)
    keep = u != v
    A = sparse.coo_array((np.ones(int(keep.sum())), (u[keep], v[keep])), shape=(n, n)).tocsr()
    A.data[:] = 1.0
    return sparse.csr_array(A.maximum(A.T))


def make_graph(kind: str, n: int) -> None:
    """Write a planted cut, 8 planted blocks, or a list of random pairs to the folder."""
    degree, rng = SIZES.get(n, 20), np.random.default_rng(0)
    FOLDER.mkdir(exist_ok=True)
    if kind == "lines":
        import pandas as pd

        pd.DataFrame(rng.integers(0, n, (n * degree // 2, 2))).to_csv(
            stored(kind, n), sep=" ", header=False, index=False
        )
        return
    from dpgraph.datasets import planted_cut_sparse

    A = planted_cut_sparse(n, degree, -0.75, rng=0)[0] if kind == "cut" else planted_blocks(n, 8, degree, 0.85, rng)
    sparse.save_npz(stored(kind, n), A, compressed=False)


def stored(kind: str, n: int) -> Path:
    """Where a graph lies."""
    return FOLDER / f"{kind}-{n}.{'txt' if kind == 'lines' else 'npz'}"


# --- what is measured ------------------------------------------------------------------------------------------------


def degrees(A: sparse.csr_array) -> str:
    import dpgraph

    dpgraph.private_degrees(A, epsilon=1.0)
    return ""


def cut(A: sparse.csr_array, epsilon: float) -> str:
    import dpgraph

    found = dpgraph.private_max_cut(A, epsilon=epsilon, delta=DELTA)
    return f"cuts {dpgraph.evaluate.cut_fraction(A, found.labels):.3f}"


def embedding(A: sparse.csr_array, delta: float) -> str:
    """All arguments but the budget are left at their defaults."""
    import dpgraph

    found = dpgraph.private_normalized_adjacency(A, epsilon=1.0, delta=delta)
    return f"rank {found.rank}, {found.mechanism}"


def eigenpairs(A: sparse.csr_array, pairs: int) -> str:
    """The leading pairs of the exact matrix, regularised as by default."""
    from scipy.sparse.linalg import eigsh

    d = A.sum(axis=1)
    root = 1 / np.sqrt(d + 16 * d.mean())
    M = sparse.csr_array(A * root[:, None] * root[None, :])
    values = eigsh(M, k=pairs, which="LM", v0=np.ones(A.shape[0]))[0]
    return f"eigenvalues {', '.join(f'{value:.4f}' for value in values)}"


def communities(A: sparse.csr_array) -> str:
    import dpgraph

    return f"{len(dpgraph.private_communities(A, epsilon=1.0).communities)} found"


def read_sparse(path: Path) -> str:
    from dpgraph.datasets import read_sparse

    A, _ = read_sparse(path)
    return f"{A.nnz // 2:,} edges"


def read_edgelist(path: Path) -> str:
    """Also how much of it is reading, the rest being networkx's graph."""
    from dpgraph.datasets import read_sparse
    from dpgraph.linalg.edges import to_networkx

    start = time.process_time()
    A, nodes = read_sparse(path)
    read = time.process_time() - start
    G = to_networkx(A, nodes)
    return f"{G.number_of_edges():,} edges; {read:.1f} s of it reading, the rest building"


def read_pandas(path: Path) -> str:
    import pandas as pd

    return f"{len(pd.read_csv(path, sep=' ', header=None)):,} rows, no graph"


def read_igraph(path: Path) -> str:
    import igraph

    return f"{igraph.Graph.Read_Edgelist(str(path), directed=False).ecount():,} rows, not merged"


def read_networkx(path: Path) -> str:
    import networkx as nx

    return f"{nx.read_edgelist(path, nodetype=int).number_of_edges():,} edges"


#: Method -> kind of graph, callable of the graph or of the path of its file, and the largest n.
METHODS: dict[str, tuple[str, Callable[[Any], str], int]] = {
    "embedding": ("cut", partial(embedding, delta=DELTA), 10**7),
    "eigsh, 2 pairs": ("cut", partial(eigenpairs, pairs=2), 10**7),
    "embedding, pure": ("cut", partial(embedding, delta=0.0), 10**7),
    "eigsh, 1 pair": ("cut", partial(eigenpairs, pairs=1), 10**7),
    "degrees": ("cut", degrees, 10**7),
    "cut, eps 1": ("cut", partial(cut, epsilon=1.0), 10**7),
    "cut, eps 4": ("cut", partial(cut, epsilon=4.0), 10**7),
    "communities": ("blocks", communities, 10**7),
    "read_sparse": ("lines", read_sparse, 10**7),
    "pandas.read_csv": ("lines", read_pandas, 10**7),
    "igraph Read_Edgelist": ("lines", read_igraph, 10**6),
    "read_edgelist": ("lines", read_edgelist, 10**6),
    "networkx.read_edgelist": ("lines", read_networkx, 10**6),
}
#: Method -> what its time is compared with.
BESIDE = {
    "embedding": "eigsh, 2 pairs",
    "embedding, pure": "eigsh, 1 pair",
    "read_sparse": "pandas.read_csv",
    "igraph Read_Edgelist": "pandas.read_csv",
    "read_edgelist": "pandas.read_csv",
    "networkx.read_edgelist": "pandas.read_csv",
}


def measure(method: str, n: int) -> dict[str, object]:
    """One line, in this process."""
    kind, run, _ = METHODS[method]

    def given(n: int) -> Any:
        return stored(kind, n) if kind == "lines" else sparse.csr_array(sparse.load_npz(stored(kind, n)))

    run(given(SMALL))
    graph = given(n)
    used = time.process_time()
    outcome = run(graph)
    used = time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {
        "edges": n * SIZES.get(n, 20) // 2,
        "processor_seconds": f"{used:.3g}",
        "peak_MB": f"{peak:.0f}",
        "outcome": outcome,
        "load_average": f"{os.getloadavg()[0]:.1f}",
    }


def in_own_process(*arguments: str) -> dict[str, object]:
    command = [sys.executable, __file__, *arguments]
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"outcome": f"given up after {LIMIT} s"}
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}


def add_lines(table: ResumableTable, largest: int) -> None:
    for n in SIZES:
        for method, (kind, _, most) in METHODS.items():
            if n > min(largest, most) or (method, str(n)) in table.rows:
                continue
            for size in (SMALL, n):
                if not stored(kind, size).exists():
                    in_own_process("--make", kind, "--n", str(size))
            row = dict.fromkeys(COLUMNS, "") | {"method": method, "n": n}
            row |= in_own_process("--method", method, "--n", str(n))
            print(row, flush=True)
            table.add(row)


# --- the table -------------------------------------------------------------------------------------------------------


def summary(rows: dict[tuple[str, ...], Row]) -> str:
    """Both tables: every line with its ratio, and exponents in the number of edges."""
    lines, exponents, order = [], [], list(METHODS)
    for (method, n), row in sorted(rows.items(), key=lambda item: (int(item[0][1]), order.index(item[0][0]))):
        beside = rows.get((BESIDE.get(method, ""), n))
        both = beside and row["processor_seconds"] and beside["processor_seconds"]
        ratio = f"{float(row['processor_seconds']) / float(beside['processor_seconds']):.2f}" if both else ""
        cells = (row["processor_seconds"], row["peak_MB"], ratio, row["outcome"], row["load_average"])
        lines.append((method, f"{int(n):,}", f"{int(row['edges'] or 0):,}", *cells))
    for method in METHODS:
        own = [row for row in rows.values() if row["method"] == method and row["processor_seconds"]]
        if len(own) > 1:
            powers = (
                slope([float(row["edges"]) for row in own], [float(row[column]) for row in own])
                for column in ("processor_seconds", "peak_MB")
            )
            exponents.append((method, *(f"{power:.2f}" for power in powers), f"{int(own[-1]['n']):,}"))
    header = ("method", "vertices", "edges", "processor s", "peak MB", "ratio", "outcome", "load average")
    return "\n".join(
        [
            "# Load\n",
            "Processor seconds on one thread, each line in a process of its own, after compilation; peak memory with "
            "interpreter and graph. *Ratio*: to the processor seconds of eigsh with as many pairs, or of pandas' "
            "reader. Edges of files are lines. epsilon = 1 unless named; delta = 1e-6 but for degrees, communities and "
            "the pure embedding. Made by `benchmarks/load.py`.\n",
            markdown_table(header, lines),
            "No lines at 10,000,000 vertices: a networkx graph of 50 million edges would take about 12 GB, five times "
            "what one of 10 million takes, and the table has 8 GB; igraph was not run at this size. read_sparse was, "
            "before arcs were merged by blocks, and embeddings were, before rows of nearly the same noise shared their "
            "variances.\n",
            "Exponents in the number of edges, fitted over all sizes:\n",
            markdown_table(("method", "time", "peak memory", "largest n"), exponents),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=10**7)
    parser.add_argument("--fresh", action="store_true", help="measure again the lines that exist")
    parser.add_argument("--make", help="write a graph to the folder")
    parser.add_argument("--method", choices=METHODS, help="measure one line in this process and print JSON")
    parser.add_argument("--n", type=int, default=SMALL)
    arguments = parser.parse_args()
    if arguments.make:
        make_graph(arguments.make, arguments.n)
    elif arguments.method:
        print(json.dumps(measure(arguments.method, arguments.n)))
    else:
        table = ResumableTable(RESULTS / "load.csv", KEY, COLUMNS)
        if arguments.fresh:
            table.drop(lambda _: True)
        with table.writing():
            add_lines(table, arguments.largest)
        (RESULTS / "load.md").write_text(summary(table.rows))


if __name__ == "__main__":
    main()
