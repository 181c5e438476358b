"""Every neighbour of many small graphs, and the ratio (true change) / (bound) for each sensitivity bound.

``python -m tests.privacy.enumeration`` writes benchmarks/results/sensitivity.md.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import networkx as nx
import numpy as np
from scipy import sparse

from dpgraph.bounds import sensitivity, spectra
from dpgraph.denoise.swaps import Roots
from dpgraph.linalg.subgraphs import Subgraphs

TABLE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "sensitivity.md"
#: Ratios may exceed 1 by rounding of eigenvectors only.
ROUNDING = 1e-9


def graph_bounds() -> dict[str, Callable[..., object]]:
    """Name -> every bound on a graph: what ``sensitivity`` and ``spectra`` define and do not call private."""
    return {
        name: bound
        for module in (sensitivity, spectra)
        for name, bound in vars(module).items()
        if not name.startswith("_") and getattr(bound, "__module__", None) == module.__name__
    }


@cache
def graph_family() -> dict[str, tuple[np.ndarray, float]]:
    """Name -> (weights, max_weight): extremal, regular, random, disconnected, weighted and near-degenerate graphs."""
    rng = np.random.default_rng(2026)
    unweighted = {
        "path": nx.path_graph(7),
        "cycle": nx.cycle_graph(8),
        "star": nx.star_graph(7),
        "complete": nx.complete_graph(9),
        "complete bipartite 6 + 6": nx.complete_bipartite_graph(6, 6),
        "complete bipartite 3 + 9": nx.complete_bipartite_graph(3, 9),
        "random 4-regular": nx.random_regular_graph(4, 11, seed=1),
        "power law": nx.barabasi_albert_graph(12, 3, seed=2),
        "planted cut": nx.stochastic_block_model([6, 6], [[0.2, 0.9], [0.9, 0.2]], seed=3),
        "two cliques, disconnected": nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(5)),
        "isolated vertex": nx.disjoint_union(nx.complete_graph(7), nx.empty_graph(1)),
        "no edges": nx.empty_graph(6),
        "two equal cliques joined": nx.barbell_graph(6, 0),
        "hypercube": nx.hypercube_graph(3),
    }
    family = {name: (nx.to_numpy_array(graph), 1.0) for name, graph in unweighted.items()}
    for seed, (n, w) in enumerate([(8, 1.0), (10, 0.3), (12, 0.1)]):
        weights = np.triu(w * rng.random((n, n)) ** (seed + 1), 1)
        family[f"weighted random, w = {w:g}"] = (weights + weights.T, w)
    star = nx.to_numpy_array(nx.star_graph(8))
    star[0, 8] = star[8, 0] = 0.01
    family["weighted star, one light edge"] = (star, 1.0)
    near = np.triu(nx.to_numpy_array(nx.complete_bipartite_graph(6, 6)) - 1e-9 * rng.random((12, 12)), 1).clip(0)
    family["near-degenerate spectrum"] = (near + near.T, 1.0)
    # The missing edges lie between the largest rows of the eigenvectors: adding one moves the coherence most.
    family["complete bipartite 20 + 20 without a matching"] = (np.kron([[0, 1], [1, 0]], 1.0 - np.eye(20)), 1.0)
    big = nx.to_numpy_array(nx.complete_bipartite_graph(24, 24))
    family["complete bipartite 24 + 24"] = (big, 1.0)
    family["planted cut, 48 vertices"] = (
        nx.to_numpy_array(nx.stochastic_block_model([24, 24], [[0.1, 0.95], [0.95, 0.1]], seed=5)),
        1.0,
    )
    return family


def neighbours(weights: np.ndarray, max_weight: float) -> np.ndarray:
    """All graphs that differ in one pair: edge removed, edge at full weight, and one weight in between.

    Above 20 vertices (where the graphs of the family have few kinds of pairs) a sample of the pairs.
    """
    changed = []
    pairs = list(itertools.combinations(range(len(weights)), 2))
    if len(weights) > 20:
        pairs = [pairs[k] for k in np.random.default_rng(4).choice(len(pairs), 80, replace=False)]
    for i, j in pairs:
        for new in {0.0, max_weight, 0.37 * max_weight} - {weights[i, j]}:
            after = weights.copy()
            after[i, j] = after[j, i] = new
            changed.append(after)
    return np.array(changed)


@dataclass(frozen=True, eq=False)
class Graphs:
    """A stack of graphs on the same vertices, and everything exact that a bound speaks of."""

    weights: np.ndarray
    tau: float

    @cached_property
    def c(self) -> np.ndarray:
        return self.weights.sum(axis=2) + self.tau

    @cached_property
    def matrix(self) -> np.ndarray:
        return self.weights / np.sqrt(self.c[:, :, None] * self.c[:, None, :])

    @cached_property
    def clustering(self) -> np.ndarray:
        """The sum of clustering coefficients in which no edge counts more than 1."""
        one_graph = self.weights.strides[0] == 0  # repeated, beside each of its neighbours
        graphs = map(sparse.csr_array, self.weights[:1] if one_graph else self.weights)
        found = [Subgraphs(A.indptr, A.indices).clustering(1.0) for A in graphs]
        return np.broadcast_to(found, len(self.weights)) if one_graph else np.array(found)

    @cached_property
    def eigen(self) -> tuple[np.ndarray, np.ndarray]:
        """Absolute eigenvalues, decreasing, and eigenvectors in the same order."""
        one_graph = self.weights.strides[0] == 0
        values, vectors = np.linalg.eigh(self.matrix[:1] if one_graph else self.matrix)
        order = np.argsort(-np.abs(values), axis=1)
        sizes, vectors = np.take_along_axis(np.abs(values), order, 1), np.take_along_axis(vectors, order[:, None, :], 2)
        k, n = len(self.weights), values.shape[1]
        return np.broadcast_to(sizes, (k, n)), np.broadcast_to(vectors, (k, n, n))

    def coherence(self, corrected: bool) -> np.ndarray:
        """kappa_D (or kappa) of every rank: column r - 1 belongs to rank r."""
        rows = np.sqrt(np.cumsum(self.eigen[1] ** 2, axis=2))
        return (rows / np.sqrt(self.c)[:, :, None] if corrected else rows).max(axis=1)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Inputs and one neighbour of each, and what is public: w, tau, and a lower bound m on min(c) of both."""

    source: Graphs
    target: Graphs
    max_weight: float

    @cached_property
    def lower(self) -> np.ndarray:
        return np.minimum(self.source.c.min(axis=1), self.target.c.min(axis=1))

    @cached_property
    def change(self) -> np.ndarray:
        return self.source.matrix - self.target.matrix

    @property
    def plain(self) -> bool:
        """Whether tau is the one of its graph at which all neighbours are, and what knows no tau is looked at."""
        return self.source.tau == self.max_weight

    def bound(self, formula: Callable[..., float], *arguments: float) -> np.ndarray:
        return np.array([formula(self.max_weight, m, *arguments) for m in self.lower])


def pairs_of(weights: np.ndarray, w: float) -> Iterator[Pairs]:
    """All neighbour pairs of one graph to which the bounds apply, in both directions, for several tau."""
    changed = neighbours(weights, w)
    average = float(weights.sum(axis=1).mean())
    # The last but one is regularization="auto"; the bounds are sharpest where tau is large.
    for tau in (0.0, w, 2.5 * w, average, 8 * average, 30 * average):
        lowest = np.minimum((changed.sum(axis=2) + tau).min(axis=1), weights.sum(axis=1).min() + tau)
        if (applicable := lowest >= max(w, tau)).any():
            target = Graphs(changed[applicable], tau)
            source = Graphs(np.broadcast_to(weights, target.weights.shape), tau)
            yield Pairs(source, target, w)
            yield Pairs(target, source, w)


Ratios = Iterator[tuple[str, np.ndarray]]


def norms(pairs: Pairs) -> Ratios:
    spectral, frobenius = pairs.bound(spectra.spectral_norm), pairs.bound(spectra.frobenius)
    moved = pairs.source.eigen[0] - pairs.target.eigen[0]
    yield "spectral_norm", np.abs(np.linalg.eigvalsh(pairs.change)).max(axis=1) / spectral
    yield "spectral_norm (one singular value)", np.abs(moved).max(axis=1) / spectral
    yield "frobenius", np.linalg.norm(pairs.change, axis=(1, 2)) / frobenius
    yield "frobenius (sorted singular values)", np.linalg.norm(moved, axis=1) / frobenius


def products(pairs: Pairs) -> Ratios:
    change = np.sqrt(np.cumsum(np.sum((pairs.change @ pairs.source.eigen[1]) ** 2, axis=1), axis=1))
    for name, corrected, bound in _product_bounds(pairs):
        yield f"{name} (eigenvectors)", change / (pairs.source.coherence(corrected) * bound[:, None])


def _product_bounds(pairs: Pairs) -> Iterator[tuple[str, bool, np.ndarray]]:
    yield "basis_product", False, pairs.bound(spectra.basis_product)
    corrected = pairs.bound(spectra.degree_corrected_product, pairs.source.tau)
    yield "degree_corrected_product", True, corrected


def subspaces(pairs: Pairs) -> Ratios:
    """Projectors and coherences at every rank where the gap is wide enough for the bound to speak."""
    values, U = pairs.source.eigen
    gaps = values[:, :-1] - values[:, 1:]
    norm = pairs.bound(spectra.spectral_norm)
    overlap = (U.transpose(0, 2, 1) @ pairs.target.eigen[1]) ** 2
    captured = np.diagonal(overlap.cumsum(axis=1).cumsum(axis=2), axis1=1, axis2=2)
    moved = np.sqrt(np.maximum(2 * (np.arange(1, values.shape[1] + 1) - captured), 0.0))
    open_gap = np.argwhere(gaps > norm[:, None] * (1 + 1e-6))
    for name, corrected, product in _product_bounds(pairs):
        kappa, kappa_target = pairs.source.coherence(corrected), pairs.target.coherence(corrected)
        ratios, logs = [0.0], [0.0]
        for b, r in open_gap:
            ratios.append(moved[b, r] / spectra.projector(product[b], kappa[b, r], gaps[b, r], norm[b]))
            bound = spectra.log_coherence(pairs.max_weight, pairs.lower[b], product[b], gaps[b, r])
            if corrected and bound is not None:
                logs.append(abs(np.log(kappa[b, r] / kappa_target[b, r])) / bound)
        yield f"projector ({name})", np.array(ratios)
        yield "log_coherence", np.array(logs)


def coherence_bounds(pairs: Pairs) -> Ratios:
    values, kappa = pairs.source.eigen[0], pairs.source.coherence(True)
    for b, m in enumerate(pairs.lower):
        bound = [spectra.coherence_bound(pairs.max_weight, m, sigma) for sigma in values[b]]
        yield "coherence_bound", kappa[b] / np.array(bound)


def public_bases(pairs: Pairs) -> Ratios:
    """Core release: bases that an adversary would choose, knowing the pair."""
    E, w = pairs.change, pairs.max_weight
    n = E.shape[1]
    extreme = np.linalg.eigh(E)[1][:, :, [0, -1]]
    unit = np.broadcast_to(np.eye(n)[:, :3], (*E.shape[:2], 3))
    for Q in (extreme, pairs.source.eigen[1][:, :, :2], unit):
        kappa = np.linalg.norm(Q, axis=2).max(axis=1)
        core, tau = Q.transpose(0, 2, 1) @ E @ Q, pairs.source.tau
        bound = [spectra.core_release(w, m, k, tau) for m, k in zip(pairs.lower, kappa, strict=True)]
        yield "core_release (nuclear norm)", np.linalg.norm(core, "nuc", axis=(1, 2)) / bound
        yield "core_release", np.linalg.norm(core, axis=(1, 2)) / bound


def degree_statistics(pairs: Pairs) -> Ratios:
    if not pairs.plain:
        return
    w, n = pairs.max_weight, pairs.source.c.shape[1]
    Q = np.linalg.qr(np.random.default_rng(n).normal(size=(n, 3)))[0]
    change = pairs.source.weights - pairs.target.weights
    moved = change.sum(axis=2)
    yield "degrees_l2", np.linalg.norm(moved, axis=1) / sensitivity.degrees_l2(w)
    yield "degrees_l1", np.abs(moved).sum(axis=1) / sensitivity.degrees_l1(w)
    edges = [(graphs.weights > 0).sum(axis=2) for graphs in (pairs.source, pairs.target)]
    tails = [(counts[:, :, None] >= np.arange(1, n)).sum(axis=1) for counts in edges]
    yield "degree_tails", np.abs(tails[0] - tails[1]).sum(axis=1) / sensitivity.degree_tails()
    closed = pairs.source.clustering - pairs.target.clustering
    yield "clustering_of_edges", np.abs(closed) / sensitivity.clustering_of_edges(1.0)
    joined = [graphs.weights > 0 for graphs in (pairs.source, pairs.target)]
    for smallest, mean, largest in ((0.0, 1.2, 3.0**0.5), (1.2, 1.5, 1.7), (0.0, 0.9, 2.0), (1.0, 1.1, 2.0)):
        ends = [Roots(mean, smallest, largest, 1.0).of(counts.astype(float)) for counts in edges]
        products = [np.einsum("bi,bij,bj->b", f, A, f) / 2 for f, A in zip(ends, joined, strict=True)]
        bound = sensitivity.root_degree_products(smallest, largest, mean)
        yield "root_degree_products", np.abs(products[0] - products[1]) / bound
    yield from clipped_degrees(pairs)
    yield "adjacency_core", np.linalg.norm(Q.T @ change @ Q, axis=(1, 2)) / sensitivity.adjacency_core(w, Q)
    lowest = pairs.source.c.min(axis=1) - pairs.target.c.min(axis=1)
    yield "minimum_degree", np.abs(lowest) / sensitivity.minimum_degree(w)
    sides = np.sign(np.random.default_rng(n).normal(size=(8, n)))
    cut = (change.sum(axis=(1, 2))[:, None] - np.einsum("ki,bij,kj->bk", sides, change, sides)) / 4
    cut = np.hstack([cut, change.sum(axis=(1, 2))[:, None] / 2])  # the total weight has the same bound
    yield "partition_weight", np.abs(cut) / sensitivity.partition_weight(w)
    share = 0.625
    more = cut[:, :-1] - share * cut[:, -1:]
    yield "advantage", np.abs(more) / sensitivity.advantage(w, share)
    volume = moved[:, : n // 2].sum(axis=1)  # of a public half of the vertices: an edge inside counts twice
    yield "partition_weight (volume, twice)", np.abs(volume) / (2 * sensitivity.partition_weight(w))


def label_counts(pairs: Pairs) -> Ratios:
    """Counts and scores of labels in a sweep through a public order; its first or last rows may read on their own."""
    if not pairs.plain:
        return
    w, n = pairs.max_weight, pairs.source.c.shape[1]
    rng = np.random.default_rng(n)
    labels, place = rng.integers(0, 3, n), rng.permutation(n)
    change = pairs.source.weights - pairs.target.weights
    before, first, last = place[:, None] > place[None, :], place < n // 3, place[:, None] >= n - n // 3
    for name, sees in (
        ("label_counts", before),
        ("label_counts (later rows)", before & ~(first[:, None] & first[None, :]) & ~last),
        ("label_counts (last rows)", before & last),
        ("label_counts (first rows)", before & first[:, None] & first[None, :]),
    ):
        moved = (change * sees) @ np.eye(3)[labels]
        yield name, np.abs(moved).sum(axis=(1, 2)) / sensitivity.label_counts(w)
        rows = np.abs(moved).max(axis=2).sum(axis=1)  # of one row, and of one sign: one entry of the changes is not 0
        assert np.all((moved.min(axis=(1, 2)) >= 0) | (moved.max(axis=(1, 2)) <= 0))
        yield f"label_scores{name.removeprefix('label_counts')}", rows / sensitivity.label_scores(w)


def clipped_degrees(pairs: Pairs) -> Ratios:
    """Excess of degrees over a multiple of their mean, and the numbers about clipped degrees and their product."""
    w, degrees = pairs.max_weight, [graphs.weights.sum(axis=2) for graphs in (pairs.source, pairs.target)]
    for multiple, share in ((1.0, 0.2), (2.0, 0.155), (1.0, 0.5)):
        limits = [multiple * d.mean(axis=1, keepdims=True) for d in degrees]
        above = [np.maximum(d - limit, 0.0).sum(axis=1) for d, limit in zip(degrees, limits, strict=True)]
        excess = [a - share * d.sum(axis=1) for a, d in zip(above, degrees, strict=True)]
        bound = sensitivity.degree_excess(w, share)
        yield "degree_excess", np.abs(excess[0] - excess[1]) / bound
        for limit, missing in ((w / 2, 0.0), (1.5 * w, 4.0 * w), (3.0 * w, 9.0 * w)):
            found = [np.maximum(d - limit, 0.0).sum(axis=1) - share * d.sum(axis=1) for d in degrees]
            few = [missing - d.sum(axis=1) for d in degrees]
            moved = [np.minimum(f, np.maximum(e, m)) for f, e, m in zip(found, excess, few, strict=True)]
            yield "degree_excess (all reasons)", np.abs(moved[0] - moved[1]) / bound
            yield "degrees_beyond", np.abs(found[0] - found[1]) / sensitivity.degrees_beyond(w, share)
    for cap in (w, 3.0 * w, max(float(pairs.source.weights.sum(axis=2).mean()), w)):
        clipped = [np.minimum(d / cap, 1.0) for d in degrees]
        products = [
            np.einsum("bij,bj->bi", g.weights, h) for g, h in zip((pairs.source, pairs.target), clipped, strict=True)
        ]
        length = [np.sum(h**2, axis=1) for h in clipped]
        value = [np.sum(h * y, axis=1) for h, y in zip(clipped, products, strict=True)]
        bounds = sensitivity.clipped_degrees(w, cap)
        yield "clipped_degrees (squared length)", np.abs(length[0] - length[1]) / bounds[0]
        yield "clipped_degrees (quotient)", np.abs(value[0] - value[1]) / bounds[1]
        for limit in (w, 4.0 * w, 20.0 * w):
            for q in (0.0, limit / 2, 2 * limit, 4 * limit):
                rows = [np.minimum(np.abs(y - q * h), limit) for h, y in zip(clipped, products, strict=True)]
                moved = np.abs(np.sum(rows[0] ** 2 - rows[1] ** 2, axis=1))
                yield "clipped_residual", moved / sensitivity.clipped_residual(w, cap, limit, q)


def whole_spectra(pairs: Pairs) -> Ratios:
    if not pairs.plain:
        return
    w, n = pairs.max_weight, pairs.source.c.shape[1]
    bounds = (spectra.whole_adjacency_spectrum(w, n), spectra.whole_laplacian_spectrum(w, n))
    for matrix, bound in zip(("adjacency", "laplacian"), bounds, strict=True):
        before, after = (np.linalg.eigvalsh(_plain(graphs.weights, matrix)) for graphs in (pairs.source, pairs.target))
        yield f"whole_{matrix}_spectrum", np.linalg.norm(before - after, axis=1) / bound


def _plain(weights: np.ndarray, matrix: str) -> np.ndarray:
    degrees = weights.sum(axis=2)
    return weights if matrix == "adjacency" else degrees[:, :, None] * np.eye(weights.shape[1]) - weights


def worst_product(E: np.ndarray, radii: np.ndarray, rng: np.random.Generator, rank: int = 3) -> float:
    """Local maximum of ||E U||_F over U with ||U_i|| <= radii_i: ascent on tr(E^2 UU'), row by row."""
    square = E @ E
    best = 0.0
    for _ in range(2):
        U = rng.normal(size=(len(E), rank))
        for _ in range(8):
            for i in range(len(E)):
                row = square[i] @ U - square[i, i] * U[i]
                length = np.linalg.norm(row)
                U[i] = radii[i] * (row / length if length > 0 else np.eye(rank)[0])
        best = max(best, float(np.linalg.norm(E @ U)))
    return best


def adversarial_products(pairs: Pairs) -> Ratios:
    """The bounds on E U hold for every U with rows inside the coherence, not for eigenvectors alone."""
    rng = np.random.default_rng(len(pairs.lower))
    for name, corrected, bound in _product_bounds(pairs):
        for b in rng.choice(len(bound), 2):
            radii = np.sqrt(pairs.source.c[b]) if corrected else np.ones(pairs.source.c.shape[1])
            yield f"{name} (any U)", np.array([worst_product(pairs.change[b], radii, rng) / bound[b]])


CHECKS = (
    norms, products, subspaces, coherence_bounds, public_bases, degree_statistics, label_counts, whole_spectra,
    adversarial_products,
)  # fmt: skip


def worst_ratios() -> dict[str, tuple[float, str]]:
    """Largest ratio of each bound over all neighbours of the family, with the graph that attains it."""
    worst: dict[str, tuple[float, str]] = {}
    for name, (weights, w) in graph_family().items():
        for pairs in pairs_of(weights, w):
            for bound, ratios in itertools.chain.from_iterable(check(pairs) for check in CHECKS):
                if (ratio := float(ratios.max())) > worst.get(bound, (0.0, ""))[0]:
                    worst[bound] = (ratio, name)
    return worst


def table(worst: dict[str, tuple[float, str]]) -> str:
    """The Markdown table of benchmarks/results/sensitivity.md."""
    lines = ["| bound | worst ratio | attained by |", "| --- | --- | --- |"]
    lines += [f"| `{bound}` | {ratio:.2f} | {graph} |" for bound, (ratio, graph) in sorted(worst.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    before = TABLE.read_text().partition("| bound |")[0]
    TABLE.write_text(f"{before}{table(worst_ratios())}\n")
