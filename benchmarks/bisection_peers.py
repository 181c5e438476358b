"""Minimum bisections beside METIS and KaHIP at equal processor time (``pip install pymetis kahip``).

Meshes, geometric graphs, grids and graphs with hubs, drawn from a seed: nothing was fitted to those of another one. The
peers start again with other seeds until the time is over; what they return out of balance does not count.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/bisection_peers.py --first 0 --graphs 20
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.spatial import Delaunay, cKDTree

from dpgraph import max_bisection

Cut = Callable[[sparse.csr_array, int], tuple[int, int]]


def drawn(seed: int) -> tuple[str, sparse.csr_array]:
    """Name and graph of a seed."""
    rng = np.random.default_rng(seed)
    kind, n = seed % 4, 2 * int(rng.integers(400, 1500))
    if kind == 0:
        corners = Delaunay(rng.random((n, 2))).simplices
        edges = np.vstack([corners[:, :2], corners[:, 1:], corners[:, ::2]])
        name = "Delaunay"
    elif kind == 1:
        edges = cKDTree(rng.random((n, 2))).query_pairs(np.sqrt(10.0 / (np.pi * n)), output_type="ndarray")
        name = "geometric"
    elif kind == 2:
        side = int(np.sqrt(n)) // 2 * 2
        n, edges = side * side, np.array(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)).edges)
        name = "grid"
    else:
        edges = np.array(nx.powerlaw_cluster_graph(n, int(rng.integers(5, 30)), 0.4, seed=seed).edges)
        name = "hubs"
    upper = sparse.coo_array((np.ones(len(edges)), (edges.min(axis=1), edges.max(axis=1))), shape=(n, n)).tocsr()
    upper.data[:] = 1.0
    return f"{name} {n}", sparse.csr_array(upper + upper.T)


def peers() -> Iterator[tuple[str, Cut]]:
    """Functions of a graph and a seed: what crosses, and by how much the sides differ."""
    try:
        import pymetis
    except ImportError:
        print("METIS: not installed")
    else:

        def metis(A: sparse.csr_array, seed: int) -> tuple[int, int]:
            rows = [A.indices[a:b] for a, b in itertools.pairwise(A.indptr)]
            crossing, side = pymetis.part_graph(2, adjacency=rows, options=pymetis.Options(seed=seed, ufactor=1))
            return crossing, abs(2 * sum(side) - len(side))

        yield "METIS", metis
    try:
        import kahip
    except ImportError:
        print("KaHIP: not installed")
    else:

        def kaffpa(A: sparse.csr_array, seed: int) -> tuple[int, int]:
            ones, weights = [1] * A.shape[0], [1] * A.nnz
            crossing, side = kahip.kaffpa(
                ones, A.indptr.tolist(), weights, A.indices.tolist(), 2, 0.0, True, seed, kahip.ECO
            )
            return crossing, abs(2 * sum(side) - len(side))

        yield "KaHIP", kaffpa


def restarted(cut: Cut, A: sparse.csr_array, seconds: float) -> int | None:
    """The best balanced cut of as many runs as fit, one at least."""
    began, found = time.process_time(), list[int]()
    for seed in itertools.count():
        crossing, difference = cut(A, seed)
        if difference <= A.shape[0] % 2:
            found.append(crossing)
        if time.process_time() - began >= seconds:
            break
    return min(found, default=None)


def main() -> None:
    """Print a line for each graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="seed of the first graph")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    others = list(peers())
    max_bisection(-drawn(given.first)[1], rng=0, time_limit=0.5)  # compiled
    lost = 0
    for seed in range(given.first, given.first + given.graphs):
        name, A = drawn(seed)
        began = time.process_time()
        result = max_bisection(-A, rng=seed, time_limit=given.seconds)
        seconds = time.process_time() - began
        theirs = {peer: restarted(cut, A, seconds) for peer, cut in others}
        behind = any(value is not None and value < -result.value for value in theirs.values())
        lost += behind
        shown = ", ".join(f"{peer} {value}" for peer, value in theirs.items())
        mine = f"{-result.value:.0f} (bound {-result.upper_bound:.0f})"
        print(f"{name}, {seconds:.1f} s: {mine}; {shown}{' LOST' * behind}", flush=True)
    print(f"{lost} of {given.graphs} lost")


if __name__ == "__main__":
    main()
