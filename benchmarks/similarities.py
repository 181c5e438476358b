"""Private similarities of vertices beside those released entry by entry, and what else an embedding could tell.

    python benchmarks/similarities.py [RUNS]

prints the tables of docs/similarities.md and writes them to ``benchmarks/results/similarities.md``. Delta is 1e-6
for the release entry by entry, whose sensitivity is computed from the smallest and the largest degree of the graph,
which it would not know. `private_node_similarities` is given delta = 0. Degrees alone are released for all of epsilon,
and say that two vertices are as similar as a random graph with these degrees makes them.

The second table is about measures of nearness that can be computed from the private low-rank matrix and degrees: is
that better than what degrees alone say?
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from dpgraph.problems.records.cosine import normalized_gram, private_cosine_similarities

RESULTS = Path(__file__).parent / "results" / "similarities.md"
GRAPHS: dict[str, Callable[[], nx.Graph]] = {
    **{
        name: partial(dpgraph.datasets.load, name)
        for name in ("fb100-Caltech36", "email-Eu-core", "fb100-Reed98", "fb100-Haverford76", "fb100-Swarthmore42")
    },
    "Barabasi-Albert": partial(nx.barabasi_albert_graph, 800, 10, seed=9),
    "Barabasi-Albert, denser": partial(nx.barabasi_albert_graph, 800, 30, seed=9),
    "power law, triads": partial(nx.powerlaw_cluster_graph, 900, 10, 0.5, seed=9),
    "eight groups": partial(nx.planted_partition_graph, 8, 100, 0.2, 0.02, seed=9),
    **{name: partial(dpgraph.datasets.load, name) for name in ("ego-Facebook", "fb100-Rice31")},
}
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
NEAREST, RANK = 10, 32
#: One run for larger graphs, and none entry by entry, which takes an eigendecomposition of n x n.
LARGE = 1200
#: Vertices from which personalised PageRank starts, and to which resistances are computed.
SOURCES = 100
TELEPORT, KATZ = 0.15, 0.85


def nearest(similarities: np.ndarray) -> np.ndarray:
    others = similarities.copy()
    np.fill_diagonal(others, -np.inf)
    return np.argpartition(-others, NEAREST, axis=1)[:, :NEAREST]


def precision(found: np.ndarray, exact: np.ndarray) -> float:
    """Share of the nearest by `exact` that are among the nearest by `found`."""
    pairs = zip(nearest(found), nearest(exact), strict=True)
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in pairs]) / NEAREST)


def edge_sensitivity(max_degree: int, min_degree: int) -> float:
    """Change of the cosines of all pairs of neighbourhoods by one edge, all degrees being within these bounds.

    The square root of the largest value, over degrees d and d' in [min_degree, max_degree - 1] of the two ends
    before the edge is added, of 2 R(d, d') + 2 R(d', d) + 2/(m + 1)^2 [d, d' > 0] + [d = 0] + [d' = 0], where
    m = max(min_degree, 1) and R(d, d') = d'/((d + 1) m) + (D - 1) / ((d + 1)(sqrt(d + 1) + sqrt(d))^2) [d > 0].

    *Proof.* Let the edge {i, j} be added; d and d' are the degrees of i and j before. For l other than i, j let s_l
    be the number of common neighbours of i and l before, and e_l = 1 if l is a neighbour of j. The similarity of i and
    l moves by (b e_l - a s_l)/sqrt(d_l) with b = 1/sqrt(d + 1), a = 1/sqrt(d) - b, hence its square by at most
    (b^2 e_l + a^2 s_l^2)/d_l. There are d' vertices l with e_l = 1, each with d_l >= m, and
    sum_l s_l^2/d_l <= sum_l s_l <= d (D - 1): together R(d, d'). Rows and columns i and j give 2 R each. The entry
    (i, j) and its mirror image move by at most 1 - sqrt(dd'/((d + 1)(d' + 1))) <= 1/(m + 1), and not at all if i or j
    was isolated; a diagonal entry moves only at an isolated vertex, by 1. R is convex in each degree on [1, D - 1], so
    the largest value is at the ends of that interval or at 0.
    """
    m = max(min_degree, 1)

    def row(d: int, other: int) -> float:
        shrinking = (max_degree - 1) / ((d + 1) * (np.sqrt(d + 1) + np.sqrt(d)) ** 2) if d else 0.0
        return other / ((d + 1) * m) + shrinking

    def change(d: int, other: int) -> float:
        common = 2 / (m + 1) ** 2 if d and other else 0.0
        return 2 * row(d, other) + 2 * row(other, d) + common + (d == 0) + (other == 0)

    degrees = {min_degree, min(m, max_degree - 1), max_degree - 1}
    return float(np.sqrt(max(change(d, other) for d in degrees for other in degrees)))


def similarities(runs: int) -> list[str]:
    """Precision at 10 and squared error of three ways to similarities of vertices."""
    lines = [
        "| graph | ε | precision at 10 | squared error | degrees alone: precision | squared error "
        "| entry by entry: precision | squared error | identity |",
        "|" + " --- |" * 9,
    ]
    for name, make in GRAPHS.items():
        A = nx.to_scipy_sparse_array(make(), weight=None, dtype=float)
        exact, degrees = normalized_gram(A), A.sum(axis=0).astype(int)
        sensitivity = edge_sensitivity(int(degrees.max()) + 1, int(degrees.min()))
        identity = float(np.sum((exact - np.eye(len(exact))) ** 2))
        for epsilon in EPSILONS:
            seeds = range(1 if len(exact) > LARGE else runs)
            ours = [dpgraph.private_node_similarities(A, epsilon=epsilon, rng=seed).matrix for seed in seeds]
            alone = [by_degrees(A, epsilon, seed) for seed in seeds]
            peers = [
                private_cosine_similarities(A, sensitivity=sensitivity, epsilon=epsilon, delta=1e-6, rng=seed).matrix
                for seed in seeds[: len(seeds) * (len(exact) <= LARGE)]
            ]
            cells = [
                f"{np.mean([precision(X, exact) for X in found]):.3f} | "
                f"{np.mean([np.sum((X - exact) ** 2) for X in found]):,.0f}"
                if found
                else "- | -"
                for found in (ours, alone, peers)
            ]
            lines.append(f"| {name} | {epsilon:g} | {' | '.join(cells)} | {identity:,.0f} |")
            print(lines[-1], flush=True)
    return lines


def by_degrees(A: sparse.csr_array, epsilon: float, seed: int) -> np.ndarray:
    """sqrt(d_i d_j) sum d^2/(sum d)^2, at most 1, of private degrees d."""
    degrees = np.maximum(dpgraph.private_degrees(A, epsilon=epsilon, rng=seed).values, 1.0)
    similar = np.minimum(np.sqrt(np.outer(degrees, degrees)) * (degrees @ degrees) / degrees.sum() ** 2, 1.0)
    np.fill_diagonal(similar, 1.0)
    return similar


# --- other measures, from a matrix and degrees -----------------------------------------------------------------


def page_rank(A: np.ndarray, degrees: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Personalised PageRank of all vertices, one column for each source."""
    n = len(A)
    starts = np.eye(n)[:, sources]
    return np.linalg.solve(np.eye(n) - (1 - TELEPORT) * A / degrees, TELEPORT * starts)


def katz(A: np.ndarray, degrees: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Katz centrality of all vertices, walks weighed by `KATZ` over the largest eigenvalue at every step."""
    n, largest = len(A), np.abs(np.linalg.eigvalsh(A)).max(initial=1e-9)
    return np.linalg.solve(np.eye(n) - KATZ / largest * A, np.ones((n, 1)))


def resistance(A: np.ndarray, degrees: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Effective resistances between all vertices and the sources; a little of D keeps the inverse finite."""
    inverse = np.linalg.inv(np.diag(1.001 * degrees) - A)
    own = inverse.diagonal()
    return -(own[:, None] + own[sources] - 2 * inverse[:, sources])  # near vertices first


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "personalised PageRank": page_rank,
    "Katz centrality": katz,
    "effective resistance": resistance,
}


def ranks(scores: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(scores, axis=0), axis=0).astype(float)


def correlation(found: np.ndarray, exact: np.ndarray) -> float:
    """Mean rank correlation of the columns."""
    pairs = zip(ranks(found).T, ranks(exact).T, strict=True)
    return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in pairs]))


def top(found: np.ndarray, exact: np.ndarray, sources: np.ndarray) -> float:
    """Share of the ten best of each column, sources aside, that are found."""
    shares = []
    for j in range(exact.shape[1]):
        a, b = found[:, j].copy(), exact[:, j].copy()
        if exact.shape[1] > 1:
            a[sources[j]] = b[sources[j]] = -np.inf
        shares.append(len(np.intersect1d(np.argsort(-a)[:NEAREST], np.argsort(-b)[:NEAREST])) / NEAREST)
    return float(np.mean(shares))


def other_measures(runs: int) -> list[str]:
    """Rank correlation and precision at 10 of what the private matrix says, and of what degrees say alone."""
    lines = [
        "| graph | measure | ε | low rank: rank correlation | precision at 10 "
        "| degrees alone: rank correlation | precision at 10 |",
        "|" + " --- |" * 7,
    ]
    for name in tuple(GRAPHS)[:2]:
        G = dpgraph.datasets.load(name)
        component = max(nx.connected_components(G), key=len)
        G = G.subgraph(component)
        A = nx.to_numpy_array(G, weight=None)
        sources = np.random.default_rng(0).choice(len(A), SOURCES, replace=False)
        exact = {measure: compute(A, A.sum(axis=0), sources) for measure, compute in MEASURES.items()}
        for epsilon in EPSILONS[2:]:
            rows: dict[str, list[list[float]]] = {measure: [] for measure in MEASURES}
            for seed in range(runs):
                low, degrees, noisy = private_matrices(G, epsilon, seed)
                for measure, compute in MEASURES.items():
                    product = np.outer(noisy, noisy) / noisy.sum()
                    pair = compute(low, degrees, sources), compute(product, noisy, sources)
                    truth = exact[measure]
                    rows[measure].append([f for x in pair for f in (correlation(x, truth), top(x, truth, sources))])
            for measure, values in rows.items():
                cells = " | ".join(f"{value:.3f}" for value in np.mean(values, axis=0))
                lines.append(f"| {name} | {measure} | {epsilon:g} | {cells} |")
                print(lines[-1], flush=True)
    return lines


def private_matrices(G: nx.Graph, epsilon: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The private low-rank adjacency, clipped to [0, 1], its degrees, and as a peer degrees for all of epsilon."""
    private = dpgraph.private_normalized_adjacency(G, epsilon=epsilon, delta=1e-6, rank=RANK, rng=seed)
    factor = private.adjacency_factor()
    low = np.clip(factor @ private.core @ factor.T, 0.0, 1.0)
    np.fill_diagonal(low, 0.0)
    noisy = dpgraph.private_degrees(G, epsilon=epsilon, rng=seed).values
    return low, np.maximum(low.sum(axis=0), 1.0), np.maximum(noisy, 1.0)


def main(runs: int = 3) -> None:
    title = f"# Private similarities of vertices, mean of {runs} runs (1 above {LARGE:,} vertices)"
    parts = [title, "\n".join(similarities(runs)), "\n".join(other_measures(runs))]
    RESULTS.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
