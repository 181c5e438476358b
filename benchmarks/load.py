"""Load: processor seconds, memory and exponents of private releases and of readers, from 10^3 to 10^7 vertices.

Beside them what others compute without privacy: numpy's degrees, their distribution, igraph's Leiden and triangles,
scipy's eigsh of the pairs that an embedding releases, and the readers of pandas, igraph and networkx. Where a graph is
given as networkx's, both sides get it, and what stands beside is what a user of networkx calls. Every line is
measured in a process of its own, on one thread, after compilation; graphs are made before, in other processes, and lie
in a folder, so that peak memory is that of one graph and of the work on it. What an outcome is worth is looked up
outside the clock, and igraph's graph is built there too. The columns of a ratio are measured one after the other. Lines
are kept as they come, so that a run may be killed and continued; ``--fresh`` measures again those up to the largest.

    python benchmarks/load.py                         # make bench-load: an hour and a half on one core, 8 GB
    python benchmarks/load.py --largest 100000        # five minutes
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

#: What a line says of its outcome, which is looked up after the clock has stopped.
Outcome = Callable[[], str]
DELTA = 1e-6
FOLDER = Path(gettempdir()) / "dpgraph-load"
#: Vertices, and average degree. The largest graph would not fit into 8 GB with twice as many edges.
SIZES = {1_000: 20, 10_000: 20, 100_000: 20, 1_000_000: 20, 10_000_000: 10}
#: Enough lines for the compiled loops of the reader, which are compiled or loaded outside the clock.
SMALL = 10_000
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
KEY = ("method", "n")
COLUMNS = (*KEY, "edges", "processor_seconds", "peak_MB", "outcome", "load_average")
#: Exponents are fitted from here on: below, what a call costs whatever its size counts.
FITTED = 100_000
#: Calls are repeated up to so many processor seconds and times, and their median counts.
ENOUGH, MOST_CALLS = 0.3, 200
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


def degrees(A: sparse.csr_array) -> Outcome:
    import dpgraph

    dpgraph.private_degrees(A, epsilon=1.0)
    return str


def numpy_degrees(A: sparse.csr_array) -> Outcome:
    A.sum(axis=1)
    return str


def floor(A: sparse.csr_array, draws: bool) -> Outcome:
    """What no release can do without: a look at every entry, whether the matrix is a graph's, degrees, exact noise."""
    from dpgraph.linalg.edges import is_simple_graph, simple_loop_pays
    from dpgraph.privacy.exact_sampling import discrete_laplace
    from dpgraph.privacy.noise import noise_source

    # Entries of a matrix may be fractions, which are protected: its degrees are released in steps of 2^-20.
    assert is_simple_graph(A.indptr, A.indices, A.data, compiled=simple_loop_pays(A.shape[0]))
    degrees = np.diff(A.indptr)
    if draws:
        degrees + discrete_laplace(degrees.size, 2.0**21, noise_source(None).generator)
    else:
        np.bincount(degrees)
    return str


def sums_distribution(A: sparse.csr_array) -> Outcome:
    """By the sums of rows, as anybody does who does not know how entries are stored."""
    found = np.bincount(A.sum(axis=1).astype(np.int64))
    return lambda: f"{found.size} degrees"


def networkx_degrees(G: Any) -> Outcome:
    dict(G.degree)
    return str


def networkx_histogram(G: Any) -> Outcome:
    import networkx as nx

    found = nx.degree_histogram(G)
    return lambda: f"{len(found)} degrees"


def networkx_triangles(G: Any) -> Outcome:
    import networkx as nx

    found = sum(nx.triangles(G).values()) // 3
    return lambda: f"{found} triangles"


def networkx_louvain(G: Any) -> Outcome:
    import networkx as nx

    found = nx.community.louvain_communities(G, seed=0)
    return lambda: f"{len(found)} found"


def distribution(A: sparse.csr_array) -> Outcome:
    import dpgraph

    found = dpgraph.private_degree_distribution(A, epsilon=1.0)
    return lambda: f"{np.asarray(found.counts).size} degrees"


def numpy_distribution(A: sparse.csr_array) -> Outcome:
    found = np.bincount(np.diff(A.indptr))
    return lambda: f"{found.size} degrees"


def cut(A: sparse.csr_array, epsilon: float) -> Outcome:
    import dpgraph

    found = dpgraph.private_max_cut(A, epsilon=epsilon, delta=DELTA)
    return lambda: f"cuts {dpgraph.evaluate.cut_fraction(A, found.labels):.3f}"


def spectral_cut(A: sparse.csr_array) -> Outcome:
    """Sides are the signs of the last eigenvector of the adjacency matrix."""
    from scipy.sparse.linalg import eigsh

    import dpgraph

    sides = eigsh(A, k=1, which="SA", v0=np.random.default_rng(0).standard_normal(A.shape[0]))[1][:, 0] > 0
    return lambda: f"cuts {dpgraph.evaluate.cut_fraction(A, sides):.3f}"


def triangles(A: sparse.csr_array) -> Outcome:
    import dpgraph

    found = dpgraph.private_subgraph_counts(A, epsilon=1.0)
    return lambda: f"{found.counts['triangle']} triangles"


def igraph_triangles(G: Any) -> Outcome:
    """Listed: igraph for Python has no function that only counts them."""
    found = len(G.list_triangles())
    return lambda: f"{found} triangles"


def synthetic(A: sparse.csr_array) -> Outcome:
    import dpgraph

    drawn = dpgraph.private_synthetic_graph(A, epsilon=1.0).sample()
    return lambda: f"{drawn.number_of_edges():,} edges"


def embedding(A: sparse.csr_array, delta: float, **rank: int) -> Outcome:
    """All arguments but the budget and the rank are left at their defaults."""
    import dpgraph

    found = dpgraph.private_normalized_adjacency(A, epsilon=1.0, delta=delta, **rank)
    return lambda: f"rank {found.rank}, {found.mechanism}"


def eigenpairs(A: sparse.csr_array, pairs: int) -> Outcome:
    """The leading pairs of the exact matrix, regularised as by default."""
    from scipy.sparse.linalg import eigsh

    d = A.sum(axis=1)
    root = 1 / np.sqrt(d + 16 * d.mean())
    M = sparse.csr_array(A * root[:, None] * root[None, :])
    values = eigsh(M, k=pairs, which="LM", v0=np.ones(A.shape[0]))[0]
    return lambda: f"eigenvalues {', '.join(f'{value:.4f}' for value in values[-2:])}"


def communities(A: sparse.csr_array) -> Outcome:
    import dpgraph

    found = dpgraph.private_communities(A, epsilon=1.0)
    return lambda: f"{len(found.communities)} found"


def leiden(G: Any) -> Outcome:
    found = G.community_leiden(objective_function="modularity")
    return lambda: f"{len(found)} found"


def read_sparse(path: Path) -> Outcome:
    from dpgraph.datasets import read_sparse

    A, _ = read_sparse(path)
    return lambda: f"{A.nnz // 2:,} edges"


def read_edgelist(path: Path) -> Outcome:
    """Also how much of it is reading, the rest being networkx's graph."""
    from dpgraph.datasets import read_sparse
    from dpgraph.linalg.edges import to_networkx

    start = time.process_time()
    A, nodes = read_sparse(path)
    read = time.process_time() - start
    G = to_networkx(A, nodes)
    return lambda: f"{G.number_of_edges():,} edges; {read:.1f} s of it reading, the rest building"


def read_pandas(path: Path) -> Outcome:
    import pandas as pd

    found = pd.read_csv(path, sep=" ", header=None)
    return lambda: f"{len(found):,} rows, no graph"


def read_scipy(path: Path) -> Outcome:
    """The matrix that read_sparse makes, of pandas' rows: vertices that occur, both entries of an edge, once."""
    import pandas as pd

    ends = pd.read_csv(path, sep=" ", header=None).to_numpy()
    nodes, places = np.unique(ends, return_inverse=True)
    u, v = places.reshape(-1, 2).T
    A = sparse.coo_array((np.ones(u.size), (u, v)), shape=(nodes.size, nodes.size)).tocsr()
    A = A.maximum(A.T)
    A.setdiag(0.0)
    A.eliminate_zeros()
    A.data[:] = 1.0
    return lambda: f"{A.nnz // 2:,} edges"


def read_igraph(path: Path) -> Outcome:
    import igraph

    found = igraph.Graph.Read_Edgelist(str(path), directed=False).simplify()
    return lambda: f"{found.ecount():,} edges, of numbered vertices"


def read_networkx(path: Path) -> Outcome:
    import networkx as nx

    found = nx.read_edgelist(path, nodetype=int)
    return lambda: f"{found.number_of_edges():,} edges"


#: Method -> kind of graph, and of which package it is if not scipy's, callable of the graph or of the path of its file,
#: and the largest n.
METHODS: dict[str, tuple[str, Callable[[Any], Outcome], int]] = {
    "embedding": ("cut", partial(embedding, delta=DELTA), 10**7),
    "eigsh, 2 pairs": ("cut", partial(eigenpairs, pairs=2), 10**7),
    "embedding, pure": ("cut", partial(embedding, delta=0.0), 10**7),
    "eigsh, 1 pair": ("cut", partial(eigenpairs, pairs=1), 10**7),
    "embedding, rank 1": ("cut", partial(embedding, delta=DELTA, rank=1), 10**7),
    "embedding, rank 2": ("cut", partial(embedding, delta=DELTA, rank=2), 10**6),
    "embedding, rank 8": ("cut", partial(embedding, delta=DELTA, rank=8), 10**6),
    "eigsh, 8 pairs": ("cut", partial(eigenpairs, pairs=8), 10**5),  # ten minutes at 10^6
    "degrees": ("cut", degrees, 10**7),
    "numpy degrees": ("cut", numpy_degrees, 10**7),
    "degrees, floor": ("cut", partial(floor, draws=True), 10**7),
    "distribution": ("cut", distribution, 10**7),
    "numpy distribution": ("cut", numpy_distribution, 10**7),
    "sums, distribution": ("cut", sums_distribution, 10**7),
    "distribution, floor": ("cut", partial(floor, draws=False), 10**7),
    "degrees of networkx": ("cut as networkx", degrees, 10**5),
    "dict(G.degree)": ("cut as networkx", networkx_degrees, 10**5),
    "distribution of networkx": ("cut as networkx", distribution, 10**5),
    "networkx.degree_histogram": ("cut as networkx", networkx_histogram, 10**5),
    "cut, eps 1": ("cut", partial(cut, epsilon=1.0), 10**7),
    "cut, eps 4": ("cut", partial(cut, epsilon=4.0), 10**7),
    "spectral cut": ("cut", spectral_cut, 10**7),
    "communities": ("blocks", communities, 10**7),
    "igraph Leiden": ("blocks as igraph", leiden, 10**6),
    "communities of networkx": ("blocks as networkx", communities, 10**4),
    "networkx Louvain": ("blocks as networkx", networkx_louvain, 10**4),
    "triangles": ("blocks", triangles, 10**6),
    "igraph triangles": ("blocks as igraph", igraph_triangles, 10**6),
    "triangles of networkx": ("blocks as networkx", triangles, 10**5),
    "networkx.triangles": ("blocks as networkx", networkx_triangles, 10**5),
    "synthetic graph": ("blocks", synthetic, 10**5),
    "read_sparse": ("lines", read_sparse, 10**7),
    "pandas.read_csv": ("lines", read_pandas, 10**7),
    "pandas and scipy": ("lines", read_scipy, 10**6),
    "igraph Read_Edgelist": ("lines", read_igraph, 10**6),
    "read_edgelist": ("lines", read_edgelist, 10**6),
    "networkx.read_edgelist": ("lines", read_networkx, 10**6),
}
#: Method -> what its time is compared with.
BESIDE = {
    "embedding": "eigsh, 2 pairs",
    "embedding, pure": "eigsh, 1 pair",
    "embedding, rank 1": "eigsh, 1 pair",
    "embedding, rank 2": "eigsh, 2 pairs",
    "embedding, rank 8": "eigsh, 8 pairs",
    "cut, eps 1": "spectral cut",
    "cut, eps 4": "spectral cut",
    "degrees": "numpy degrees",
    "distribution": "numpy distribution",
    "communities": "igraph Leiden",
    "triangles": "igraph triangles",
    "degrees, floor": "numpy degrees",
    "distribution, floor": "numpy distribution",
    "degrees of networkx": "dict(G.degree)",
    "distribution of networkx": "networkx.degree_histogram",
    "communities of networkx": "networkx Louvain",
    "triangles of networkx": "networkx.triangles",
    "read_sparse": "pandas and scipy",
    "pandas.read_csv": "pandas and scipy",
    "igraph Read_Edgelist": "pandas and scipy",
    "read_edgelist": "networkx.read_edgelist",
}


#: Method -> a harder and a fairer one that its time is compared with as well.
FLOOR = {"degrees": "degrees, floor", "distribution": "distribution, floor"}
SUMS = {"distribution": "sums, distribution", "distribution, floor": "sums, distribution"}


def as_igraph(A: sparse.csr_array) -> Any:
    import igraph

    upper = sparse.triu(A, k=1, format="coo")
    return igraph.Graph(n=A.shape[0], edges=np.column_stack(upper.coords))


def as_networkx(A: sparse.csr_array) -> Any:
    from dpgraph.linalg.edges import to_networkx

    return to_networkx(A, range(A.shape[0]))


def measure(method: str, n: int) -> dict[str, object]:
    """One line, in this process."""
    from dpgraph.compiled import no_python

    whole, run, _ = METHODS[method]
    kind, _, package = whole.partition(" as ")

    def given(n: int) -> Any:
        if kind == "lines":
            return stored(kind, n)
        A = sparse.csr_array(sparse.load_npz(stored(kind, n)))
        return {"igraph": as_igraph, "networkx": as_networkx}.get(package, lambda A: A)(A)

    with no_python():
        run(given(1_000 if package == "networkx" else SMALL))
    graph = given(n)
    times: list[float] = []
    while len(times) < 2 or (sum(times) < ENOUGH and len(times) < MOST_CALLS):
        used = time.process_time()
        outcome = run(graph)
        times.append(time.process_time() - used)
        if times[0] > ENOUGH:
            break
    used = float(np.median(times))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {
        "edges": n * SIZES.get(n, 20) // 2,
        "processor_seconds": f"{used:.3g}",
        "peak_MB": f"{peak:.0f}",
        "outcome": outcome(),
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
                drawn = kind.partition(" ")[0]
                if not stored(drawn, size).exists():
                    in_own_process("--make", drawn, "--n", str(size))
            row = dict.fromkeys(COLUMNS, "") | {"method": method, "n": n}
            row |= in_own_process("--method", method, "--n", str(n))
            print(row, flush=True)
            table.add(row)


# --- the table -------------------------------------------------------------------------------------------------------


def times(row: Row, beside: Row | None) -> str:
    """How many times as long a line takes as another one."""
    both = beside and row["processor_seconds"] and beside["processor_seconds"]
    return f"{float(row['processor_seconds']) / float(beside['processor_seconds']):.2f}" if both else ""


def summary(rows: dict[tuple[str, ...], Row]) -> str:
    """Both tables: every line with its ratio, and exponents in the number of edges."""
    lines, exponents, order = [], [], list(METHODS)
    for (method, n), row in sorted(rows.items(), key=lambda item: (int(item[0][1]), order.index(item[0][0]))):
        ratios = (times(row, rows.get((others.get(method, ""), n))) for others in (BESIDE, SUMS, FLOOR))
        cells = (row["processor_seconds"], row["peak_MB"], *ratios, row["outcome"], row["load_average"])
        lines.append((method, f"{int(n):,}", f"{int(row['edges'] or 0):,}", *cells))
    for method in METHODS:
        lines_of = [row for row in rows.values() if row["method"] == method and row["processor_seconds"]]
        own = [row for row in lines_of if int(row["n"]) >= FITTED]
        if len(own) > 1:
            powers = (
                slope([float(row["edges"]) for row in own], [float(row[column]) for row in own])
                for column in ("processor_seconds", "peak_MB")
            )
            exponents.append((method, *(f"{power:.2f}" for power in powers), f"{int(own[-1]['n']):,}"))
    sizes = ("method", "vertices", "edges", "processor s", "peak MB")
    header = (*sizes, "ratio", "to sums of rows", "to the floor", "outcome", "load average")
    return "\n".join(
        [
            "# Load\n",
            "Processor seconds on one thread, each line in a process of its own, after compilation; peak memory with "
            "interpreter and graph. *Ratio*: to the processor seconds of what is measured beside it without privacy, "
            "of the same size: eigsh with as many pairs, numpy, igraph (whose graph is built outside the clock), or, "
            "for readers, the same matrix made by pandas and scipy. Up to 100,000 vertices a call is repeated, and "
            "the median counts. *Floor*: what no release can do without, which is a look at every entry, whether the "
            "matrix is that of a graph, degrees, and exact noise. `numpy distribution` is `bincount(diff(indptr))`, "
            "which looks at no entry: the floor alone is ten to thirty times that. So ratios are also to "
            "`bincount(A.sum(axis=1))`, and to the floor. Of 1,000 vertices the floor of degrees is several times the "
            "sums of rows too: a key for the noise and a thousand numbers of 64 random bits take longer. Above the "
            "floor, what does not grow with the graph counts most at 1,000 vertices: arguments, the debit, the "
            "ledger (.1 to .2 ms), and the smoothing of a distribution. A cut sets the blocks of a sweep one after "
            "another, 131 of 1,000 vertices in the first and 25 in the others, each of them a release; an embedding of "
            "rank 1 computes posterior means of its rows under a mixture of 200 laws, four times. A count of triangles "
            "also needs the most common neighbours of two vertices. *Of networkx*: the same functions, and what stands "
            "beside them, get a networkx graph; networkx reads off the degrees without a look at an edge. Edges of "
            "files are lines. epsilon = 1 unless named; delta = 1e-6 for embeddings but the pure one, and for "
            "cuts. Made by `benchmarks/load.py`.\n",
            markdown_table(header, lines),
            "Lines of 100,000 vertices and more are older: sweeps had 1,000 blocks, or 250 and then 50, and the "
            "machine took a half to a third of the time for small calls.\n",
            "No lines at 10,000,000 vertices: a networkx graph of 50 million edges would take about 12 GB, five times "
            "what one of 10 million takes, and the table has 8 GB; igraph was not run at this size.\n",
            "Exponents in the number of edges, fitted from 100,000 vertices on:\n",
            markdown_table(("method", "time", "peak memory", "largest n"), exponents),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=10**7)
    parser.add_argument("--fresh", action="store_true", help="measure lines again, up to the largest size")
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
            table.drop(lambda row: int(row["n"]) <= arguments.largest)
        with table.writing():
            add_lines(table, arguments.largest)
        (RESULTS / "load.md").write_text(summary(table.rows))


if __name__ == "__main__":
    main()
