"""Minimum bisections beside METIS and KaHIP at equal processor time (``pip install pymetis kahip``).

Twenty kinds of graphs, ten meshes and ten others, each drawn from a seed: nothing was fitted to those of another one.
The peers start again with other seeds until the time is over; what they return out of balance does not count. Writes
``bisection_peers.md`` to ``benchmarks/results``.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/bisection_peers.py --first 1000 --graphs 20
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np
from common import RESULTS, markdown_table, real_graph, with_processor_time
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import Delaunay, cKDTree

from dpgraph import max_bisection

Cut = Callable[[sparse.csr_array, int], tuple[int, int]]
Random = np.random.Generator
Edges = NDArray[np.int64]

PAGE = """# Minimum bisections beside METIS and KaHIP

Edges across: `max_bisection(-A, rng=seed, time_limit=T)`, and the best balanced cut of restarts of METIS and of KaHIP
(eco) in the same processor seconds of one thread, for T of 2 and 5. {graphs} graphs, drawn from the seeds {first} on.
**{lost}** of {cells} cells are lost: there a peer's cut is smaller. With a dash no cut of a peer was balanced.

{table}"""
SECONDS = (2.0, 5.0)
REAL = ("fb100-Caltech36", "fb100-Reed98", "fb100-Haverford76", "fb100-Swarthmore42", "fb100-Rice31", "fb100-Harvard1")
SPARSER = ("lastfm-asia", "ca-GrQc", "wiki-Vote", "ca-HepTh", "email-Eu-core", "ego-Facebook")


def connected(A: sparse.csr_array) -> sparse.csr_array:
    """The largest connected part."""
    part = sparse.csgraph.connected_components(A)[1]
    kept = np.flatnonzero(part == np.bincount(part).argmax())
    return sparse.csr_array(A[kept][:, kept])


def graph(n: int, *edges: NDArray[np.int64]) -> sparse.csr_array:
    """Of arrays of pairs, each edge once."""
    pairs = np.vstack(edges)
    u, v = pairs[pairs[:, 0] != pairs[:, 1]].T
    A = sparse.coo_array((np.ones(2 * u.size), (np.append(u, v), np.append(v, u))), shape=(n, n)).tocsr()
    A.data[:] = 1.0
    return connected(A)


def lattice(ids: Edges, *ways: tuple[int, ...]) -> list[Edges]:
    """Pairs of places that are so far from one another; those numbered below 0 are holes."""
    found = []
    for way in ways:
        one = ids[tuple(slice(max(-d, 0), -d if d > 0 else None) for d in way)]
        other = ids[tuple(slice(max(d, 0), d if d < 0 else None) for d in way)]
        both = np.column_stack([one.ravel(), other.ravel()])
        found.append(both[both.min(axis=1) >= 0])
    return found


def triangulated(points: NDArray[np.float64]) -> sparse.csr_array:
    """Delaunay's, in two or three dimensions."""
    corners = Delaunay(points).simplices.astype(np.int64)
    return graph(len(points), *[corners[:, list(two)] for two in itertools.combinations(range(corners.shape[1]), 2)])


def graded(rng: Random, n: int) -> sparse.csr_array:
    """Denser towards a point."""
    r, a = rng.random(n) ** 1.5, rng.random(n) * 2.0 * np.pi
    return triangulated(np.column_stack([r * np.cos(a), r * np.sin(a)]))


def holes(rng: Random, n: int) -> sparse.csr_array:
    """A grid without eight discs."""
    side = int(np.sqrt(1.25 * n))
    y, x = np.mgrid[:side, :side]
    ids = np.arange(side * side).reshape(side, side)
    for a, b, r in zip(*rng.random((2, 8)) * side, rng.uniform(0.04, 0.11, 8) * side, strict=True):
        ids[(y - a) ** 2 + (x - b) ** 2 <= r * r] = -1
    return graph(side * side, *lattice(ids, (0, 1), (1, 0)))


def road(rng: Random, n: int) -> sparse.csr_array:
    """A shortest spanning tree of points of the plane, and some short edges of their triangulation."""
    points = rng.random((n, 2))
    u, v = sparse.triu(triangulated(points)).tocoo().coords
    length = np.linalg.norm(points[u] - points[v], axis=1)
    tree = sparse.csgraph.minimum_spanning_tree(sparse.coo_array((length, (u, v)), shape=(n, n)).tocsr()).tocoo()
    more = rng.random(u.size) < np.exp(-1.6 * np.sqrt(n) * length)
    return graph(n, np.column_stack(tree.coords), np.column_stack([u[more], v[more]]))


def cylinder(rng: Random, n: int) -> sparse.csr_array:
    """A grid whose long sides are joined."""
    high = int(np.sqrt(n / rng.uniform(2.0, 4.0)))
    ids = np.arange(high * (n // high)).reshape(high, -1)
    return graph(ids.size, *lattice(ids, (0, 1), (1, 0)), ids[:, [0, -1]])


def clouds(rng: Random, n: int) -> sparse.csr_array:
    """Points around twelve centres, each joined to its six nearest."""
    points = rng.random((12, 2))[rng.integers(12, size=n)] + 0.08 * rng.standard_normal((n, 2))
    near = cKDTree(points).query(points, 7)[1]
    return graph(n, *[near[:, [0, k]] for k in range(1, 7)])


def geometric(rng: Random, n: int) -> sparse.csr_array:
    """About ten neighbours each."""
    return graph(n, cKDTree(rng.random((n, 2))).query_pairs(np.sqrt(10.0 / (np.pi * n)), output_type="ndarray"))


def solid(rng: Random, n: int) -> sparse.csr_array:
    """A grid of three dimensions."""
    side = round(n ** (1 / 3))
    shape = side, side + int(rng.integers(4)), side - int(rng.integers(3))
    ids = np.arange(np.prod(shape)).reshape(shape)
    return graph(ids.size, *lattice(ids, (1, 0, 0), (0, 1, 0), (0, 0, 1)))


def diagonals(rng: Random, n: int) -> sparse.csr_array:
    """A grid with both diagonals."""
    high = int(np.sqrt(n)) - int(rng.integers(10))
    ids = np.arange(high * (n // high)).reshape(high, -1)
    return graph(ids.size, *lattice(ids, (0, 1), (1, 0), (1, 1), (1, -1)))


def power_law(rng: Random, n: int) -> sparse.csr_array:
    """Given degrees with a heavy tail."""
    degrees = np.minimum(2.0 * (rng.pareto(1.5, n) + 1.0), n**0.6).astype(int)
    ends = rng.permutation(np.repeat(np.arange(n), degrees))
    return graph(n, ends[: ends.size // 2 * 2].reshape(-1, 2))


def blocks(rng: Random, n: int) -> sparse.csr_array:
    """Communities of random sizes."""
    kind, pairs = rng.integers(int(rng.integers(3, 12)), size=n), rng.integers(n, size=(32 * n, 2))
    kept = (kind[pairs[:, 0]] == kind[pairs[:, 1]]) | (rng.random(len(pairs)) < 0.08)
    return graph(n, pairs[kept][: 8 * n])


def tree_and_more(rng: Random, n: int) -> sparse.csr_array:
    """A random recursive tree, and a quarter as many other edges."""
    parents = (rng.random(n - 1) * np.arange(1, n)).astype(int)
    return graph(n, np.column_stack([np.arange(1, n), parents]), rng.integers(n, size=(n // 4, 2)))


def of_networkx(make: Callable[[int, int], nx.Graph]) -> Callable[[Random, int], sparse.csr_array]:
    """A graph of networkx from n and a seed."""
    return lambda rng, n: graph(n, np.array(make(n, int(rng.integers(2**31))).edges))


def sparser(rng: Random, n: int) -> sparse.csr_array:
    """What four fifths of the vertices of a real graph span."""
    A = real_graph(SPARSER[int(rng.integers(6))])
    kept = np.flatnonzero(rng.random(A.shape[0]) < 0.8)
    return connected(sparse.csr_array(A[kept][:, kept]))


KINDS: dict[str, Callable[[Random, int], sparse.csr_array]] = {
    "Delaunay": lambda rng, n: triangulated(rng.random((n, 2))),
    "graded mesh": graded,
    "grid with holes": holes,
    "geometric": geometric,
    "Delaunay, 3-d": lambda rng, n: triangulated(rng.random((n, 3))),
    "grid, 3-d": solid,
    "roads": road,
    "cylinder": cylinder,
    "nearest points": clouds,
    "grid, diagonals": diagonals,
    "hubs": of_networkx(lambda n, seed: nx.powerlaw_cluster_graph(n, 5 + seed % 25, 0.4, seed=seed)),
    "power law": power_law,
    "blocks": blocks,
    "small world": of_networkx(lambda n, seed: nx.watts_strogatz_graph(n, 8, 0.1, seed=seed)),
    "tree and more": tree_and_more,
    "regular": of_networkx(lambda n, seed: nx.random_regular_graph(4, n, seed=seed)),
    "G(n, 6/n)": of_networkx(lambda n, seed: nx.fast_gnp_random_graph(n, 6 / n, seed=seed)),
    "college": lambda rng, n: real_graph(REAL[int(rng.integers(6))]),
    "part of a network": sparser,
    "preferential": of_networkx(lambda n, seed: nx.barabasi_albert_graph(n, 2 + seed % 6, seed=seed)),
}


def drawn(kind: str, seed: int) -> sparse.csr_array:
    """A graph of 1,000 to 8,000 vertices, if it is not a real one."""
    rng = np.random.default_rng(seed)
    return KINDS[kind](rng, 2 * int(500 * 8 ** rng.random()))


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
    """Write the table after each graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1000, help="seed of the first graph")
    parser.add_argument("--graphs", type=int, default=20)
    given = parser.parse_args()
    others = list(peers())
    max_bisection(-drawn("Delaunay", 0), rng=0, time_limit=2.0)  # compiled
    lost, rows = 0, []
    header = ["graph", "vertices", "edges"] + [
        f"{name}, {T:g} s" for T in SECONDS for name in ("dpgraph", *dict(others))
    ]
    for seed, kind in zip(range(given.first, given.first + given.graphs), itertools.cycle(KINDS)):
        A = drawn(kind, seed)
        row: list[object] = [kind, A.shape[0], A.nnz // 2]
        for limit in SECONDS:
            began = time.process_time()
            mine = round(-max_bisection(-A, rng=seed, time_limit=limit).value)
            seconds = time.process_time() - began
            theirs = [restarted(cut, A, seconds) for _, cut in others]
            behind = any(value is not None and value < mine for value in theirs)
            lost += behind
            row += [f"{mine}{' **lost**' * behind}", *("-" if value is None else value for value in theirs)]
        rows.append(row)
        print(*row, sep=" | ", flush=True)
        page = PAGE.format(
            graphs=len(rows), first=given.first, lost=lost, cells=len(SECONDS) * len(rows),
            table=markdown_table(header, rows),
        )  # fmt: skip
        (RESULTS / "bisection_peers.md").write_text(page)


if __name__ == "__main__":
    with_processor_time(main)
