"""Densest subgraphs: how much of the best known density is found privately, beside peers.

Run ``python -m benchmarks.densest``: some minutes. Writes benchmarks/results/densest.md, and the table of
docs/communities.md. The best known density is that of the best prefix of the loads of 300 Frank-Wolfe steps on the dual
linear program, whose largest load bounds every density from above.

Peers get what no private run would have: of all sets on their way the densest one, chosen with the exact graph.

- one round: the method of the package with a single round of readings, and nothing learnt from it.
- levels: cores by noisy thresholds on the degrees in what is left, with one draw of the threshold noise for each vertex
  (multidimensional above-threshold; Dhulipala, Liu, Raskhodnikova, Shi, Shun, Yu, FOCS 2022; Dhulipala, Li, Liu 2023).
- sequential: vertices are peeled by the exponential mechanism (Nguyen and Vullikanti, ICML 2021; Farhadi, Hajiaghayi,
  Shi, AISTATS 2022). It has delta = 1e-6; all others are pure.
- parallel: all vertices below a multiple of the average degree are peeled at once by noisy degrees (Nguyen and
  Vullikanti 2021), the best of three multiples.
"""

from __future__ import annotations

import zlib

import networkx as nx
import numba
import numpy as np
from scipy import sparse

import dpgraph
from benchmarks.common import DATA, RESULTS, interval, markdown_table, real_graph
from dpgraph import tuning
from dpgraph.datasets import read_sparse
from dpgraph.inputs.graphs import open_graph
from dpgraph.linalg.edges import upper_edges
from dpgraph.privacy.call import open_call
from dpgraph.privacy.relation import Edge
from dpgraph.releases import densest

REAL = (
    "fb100-Caltech36", "email-Eu-core", "fb100-Reed98", "ego-Facebook", "fb100-Rice31", "ca-GrQc", "wiki-Vote",
    "lastfm-asia", "ca-HepTh", "ca-HepPh", "fb100-Stanford3", "ca-AstroPh", "musae-facebook", "email-Enron",
)  # fmt: skip
EPSILONS = (0.5, 1.0, 2.0)
RUNS, PEER_RUNS = 10, 4
DELTA = 1e-6


def made(seed: int) -> dict[str, sparse.csr_array]:
    """Graphs that nothing was fitted to: other seeds give others."""
    rng = np.random.default_rng(seed)
    core = nx.gnm_random_graph(4000, 16_000, seed=seed)
    core.add_edges_from(nx.gnp_random_graph(90, 0.5, seed=seed).edges)
    clique = nx.gnm_random_graph(12_000, 40_000, seed=seed)
    clique.add_edges_from(nx.complete_graph(239).edges)
    heavy = nx.expected_degree_graph(np.minimum(4 * (rng.pareto(1.6, 8000) + 1), 600), seed=seed, selfloops=False)
    tree = nx.random_labeled_tree(3000, seed=seed)
    graphs = {
        "planted core of 90": core,
        "heavy tail, no core": heavy,
        "clique of 239": clique,
        "a tree": tree,
        "no edges": nx.empty_graph(2000),
    }
    return {name: sparse.csr_array(nx.to_scipy_sparse_array(G, dtype=float)) for name, G in graphs.items()}


def graph_of(name: str) -> sparse.csr_array:
    if name == "ca-HepPh":
        return read_sparse(DATA / "ca-HepPh.txt.gz")[0]
    return real_graph(name)


def density(A: sparse.csr_array, inside: np.ndarray) -> float:
    x = inside.astype(float)
    return float(x @ (A @ x)) / 2 / max(x.sum(), 1)


def best_known(A: sparse.csr_array, steps: int = 300) -> tuple[float, float]:
    """Density of the best set that is found, and an upper bound on all densities."""
    i, j, weights = upper_edges(A)
    n, best, bound = A.shape[0], 0.0, np.inf
    part = np.full(weights.size, 0.5)
    for t in range(steps):
        loads = np.bincount(i, part * weights, n) + np.bincount(j, (1 - part) * weights, n)
        bound = min(bound, float(loads.max(initial=0)))
        if t % 10 == 9:
            best = max(best, _best_prefix(i, j, weights, np.argsort(-loads, kind="stable")))
        part += 2 / (t + 3) * ((loads[i] < loads[j]) - part)
    return best, bound


def _best_prefix(i, j, weights, order) -> float:
    """Largest density of a prefix of an order."""
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    inside = np.cumsum(np.bincount(np.maximum(place[i], place[j]), weights, order.size))
    return float((inside / np.arange(1, order.size + 1)).max())


# --- peers: the densest set on their way -------------------------------------------------------------------------


def one_round(A, epsilon, rng) -> float:
    source = open_graph(A)
    graph, call = source.read(), open_call(epsilon=epsilon, accountant=None, relation=Edge(), noise=rng)
    degrees, reading, _ = call.split(0.4, 0.6 - tuning.COMMON.share, tuning.COMMON.share)
    order = np.argsort(-densest.release_degrees(graph, degrees).value, kind="stable")
    found = densest._release_round(graph, order, 1, reading)
    inside = np.zeros(A.shape[0], dtype=bool)
    inside[densest._best_prefix(order, found)[1]] = True
    return density(A, inside)


def levels(A, epsilon, rng, growth=0.1) -> float:
    """Thresholds grow by a tenth; an edge moves two degrees, so that noise is that of above-threshold at epsilon/2."""
    n = A.shape[0]
    own = rng.laplace(0, 4 / epsilon, n)
    alive, best, threshold = np.ones(n, dtype=bool), 0.0, 1.0
    degrees = np.diff(A.indptr).astype(float)
    while alive.any():
        best = max(best, float(degrees[alive].sum()) / 2 / alive.sum())
        leave = alive & (degrees + rng.laplace(0, 8 / epsilon, n) < threshold + own)
        if leave.any():
            alive &= ~leave
            degrees = np.asarray(A @ alive.astype(float)) * alive
        else:
            threshold *= 1 + growth
    return best


def parallel(A, epsilon, rng) -> float:
    """A round for each shrinking of all vertices by a factor of 1 + eta; each has an equal part."""
    best = 0.0
    for eta in (0.25, 0.5, 1.0):
        rounds = int(np.ceil(np.log(A.shape[0]) / np.log1p(eta)))
        alive = np.ones(A.shape[0], dtype=bool)
        for _ in range(rounds):
            if not alive.any():
                break
            degrees = np.asarray(A @ alive.astype(float)) * alive
            best = max(best, float(degrees.sum()) / 2 / alive.sum())
            noisy = degrees + rng.laplace(0, 2 * rounds / epsilon, alive.size)
            mean = noisy[alive].sum() / 2 / alive.sum()
            alive &= noisy > 2 * (1 + eta) / 2 * mean
    return best


def sequential(A, epsilon, rng) -> float:
    rate = epsilon / (4 * np.log(np.e / DELTA))
    return _sequential(A.indptr, A.indices, rate, rng.random(2 * A.shape[0]))


@numba.njit(cache=True)
def _sequential(indptr, indices, rate, uniforms):
    """Vertices leave with probability in proportion to exp(-rate degree): a degree is drawn, then a vertex of it."""
    n = indptr.size - 1
    degrees = np.diff(indptr).astype(np.int64)
    most = degrees.max() if n else 0
    counts = np.bincount(degrees, minlength=most + 1)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    order, place = np.argsort(degrees), np.empty(n, np.int64)
    for k in range(n):
        place[order[k]] = k
    size, edges, best = n, indices.size // 2, indices.size / 2 / max(n, 1)
    # Vertices lie by degree: those of degree d from starts[d] to starts[d + 1]; starts[0] are gone.
    for step in range(n - 1):
        total = 0.0
        for d in range(most + 1):
            total += (starts[d + 1] - starts[d]) * np.exp(-rate * d)
        left, chosen = uniforms[2 * step] * total, most
        for d in range(most + 1):
            left -= (starts[d + 1] - starts[d]) * np.exp(-rate * d)
            if left <= 0 and starts[d + 1] > starts[d]:
                chosen = d
                break
        while starts[chosen + 1] == starts[chosen]:
            chosen -= 1
        at = starts[chosen] + int(uniforms[2 * step + 1] * (starts[chosen + 1] - starts[chosen]))
        v = order[at]
        edges -= degrees[v]
        for d in range(degrees[v], -1, -1):  # down to the first place, which is then given up
            first = starts[d]
            u = order[first]
            order[first], order[place[v]] = v, u
            place[u], place[v] = place[v], first
            starts[d] += 1
        degrees[v] = -1
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            d = degrees[u]
            if d > 0:
                first = starts[d]
                w = order[first]
                order[first], order[place[u]] = u, w
                place[w], place[u] = place[u], first
                starts[d] += 1
                degrees[u] = d - 1
        size -= 1
        best = max(best, edges / size)
    return best


PEERS = {"one round": one_round, "levels": levels, "sequential": sequential, "parallel": parallel}


# --- the table ---------------------------------------------------------------------------------------------------


def seeds(label: str, count: int) -> list[int]:
    return np.random.SeedSequence(zlib.crc32(label.encode())).generate_state(count).tolist()


def cells(name: str, A: sparse.csr_array) -> list[list[object]]:
    """A line for each epsilon."""
    best, bound = best_known(A)
    lines = []
    for epsilon in EPSILONS:
        shares, errors, covered, sizes = [], [], [], []
        for seed in seeds(f"{name} {epsilon}", RUNS):
            found = dpgraph.private_densest_subgraph(A, epsilon=epsilon, rng=seed)
            exact, (low, high) = density(A, found.labels), found.interval()
            shares.append(exact / best if best else np.nan)
            errors.append(abs(found.estimated_density / exact - 1) if exact else np.nan)
            covered.append(low <= exact <= high)
            sizes.append(len(found.vertices))
        mean, half = interval(shares)
        theirs = [
            np.mean([peer(A, epsilon, np.random.default_rng(s)) for s in seeds(f"{name} {epsilon} {label}", PEER_RUNS)])
            for label, peer in PEERS.items()
        ]
        peers = [f"{value / best:.3f}" if best else "-" for value in theirs]
        ours = f"{mean:.3f} ± {half:.3f}" if best else "-"
        error = f"{100 * np.median(errors):.1f}" if best else "-"
        line = [name, f"{A.shape[0]:,}", f"{best:.2f}", f"{bound:.2f}", epsilon, ours, *peers, error]
        lines.append([*line, f"{sum(covered)}/{RUNS}", f"{np.median(sizes):,.0f}"])
        print(*lines[-1], flush=True)
    return lines


HEADER = (
    "graph", "vertices", "best known", "bound", "epsilon", "ours", *PEERS, "error of the estimate, %", "covered", "size"
)  # fmt: skip


def main() -> None:
    lines = [line for name in REAL for line in cells(name, graph_of(name))]
    fresh = [line for name, A in made(2033).items() for line in cells(name, A)]
    judged = [(float(str(line[5]).split()[0]), line) for line in lines + fresh if line[5] != "-"]
    wins = sum(share >= max(map(float, line[6:10])) for share, line in judged)
    about = (
        f"Share of the best known density, mean of {RUNS} runs with its 95 % interval ({PEER_RUNS} of each peer, of "
        "which the densest set on its way is taken, as no private run could; `sequential` has delta = 1e-6). The "
        "estimate is the private one of the density of the set that was found; `covered` is how often its 95 % "
        f"interval holds. Of {len(judged)} cells ours is ahead of every peer in {wins}."
    )
    (RESULTS / "densest.md").write_text(
        f"# Densest subgraphs\n\n{about}\n\n{markdown_table(HEADER, lines)}\nGraphs that were made after the code was "
        f"final:\n\n{markdown_table(HEADER, fresh)}"
    )


if __name__ == "__main__":
    main()
