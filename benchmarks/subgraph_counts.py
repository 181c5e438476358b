"""Errors of private counts: the ladder with raised widths, the published ladder, smooth sensitivity, released bounds.

Run ``python benchmarks/subgraph_counts.py``: two minutes; ``--million`` times triangles and transitivity on a random
graph of a million vertices and ten million edges. Writes benchmarks/results/subgraph_counts.md. ``--intervals`` writes
the table count_intervals: widths and coverage of intervals on new graphs of five kinds, in ten minutes.
"""

from __future__ import annotations

import argparse
import resource
import time
import zlib

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from benchmarks.common import RESULTS
from dpgraph.bounds import ladder
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.call import open_call
from dpgraph.privacy.exact_sampling import ladder_offset
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.subgraphs import (
    release_by_ladder,
    release_by_local_bounds,
    release_by_smooth_sensitivity,
    subgraphs_of,
)
from dpgraph.results.counts import PrivateCounts, PrivateEstimate

GRAPHS = ("email-Eu-core", "ca-HepTh", "wiki-Vote", "ego-Facebook", "fb100-Rice31", "email-Enron")
PATTERNS = ("triangle", "wedge", "3-star", "4-cycle", "4-clique")
RUNS = 201
DELTA = 1e-6
WIDTHS = (5, 30, 200, 2000)


def published_ladder(subgraphs, pattern, epsilon, seed):
    """Zhang et al. 2015: the exact local sensitivity, and epsilon/2 a rung."""
    widths = subgraphs.widths(pattern)
    return subgraphs.count(pattern) + ladder_offset(widths, int(epsilon / 2 * 2**40), np.random.default_rng(seed))


def opened(epsilon, mechanism, seed):
    """A call, and what its parts are taken from."""
    delta = DELTA if mechanism == "local-sensitivity" else 0.0
    call = open_call(
        epsilon=epsilon, delta=delta, accountant=None, relation=Edge(), noise=noise_source(seed), staged=delta > 0
    )
    return call, call.stage(slack=delta) if delta else call


def released(subgraphs, pattern, part, mechanism, share=1.0):
    if mechanism == "local-sensitivity":
        return release_by_local_bounds(subgraphs, pattern, part.part(share), DELTA * share)
    return {"ladder": release_by_ladder, "smooth": release_by_smooth_sensitivity}[mechanism](
        subgraphs, pattern, part.part(share)
    )


def drawn(subgraphs, pattern, epsilon, mechanism, seed):
    return released(subgraphs, pattern, opened(epsilon, mechanism, seed)[1], mechanism).value


def own_seeds(label):
    """Seeds that no other cell of the table uses."""
    return np.random.SeedSequence(zlib.crc32(label.encode())).generate_state(RUNS)


def median_error(draw, exact, seeds):
    return float(np.median([abs(draw(seed) - exact) for seed in seeds])) / exact


def table(epsilon):
    lines = [
        f"Median relative error in per cent, epsilon = {epsilon:g}, {RUNS} runs; bounds on local sensitivity have "
        "delta = 1e-6, all others are pure.",
        "",
        "| graph | pattern | copies | ladder | published ladder | smooth sensitivity | released bounds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in GRAPHS:
        graph = dpgraph.datasets.load(name)
        subgraphs = subgraphs_of(open_graph(graph).read())
        for pattern in PATTERNS:
            exact = subgraphs.count(pattern)
            fixed = _Frozen(subgraphs, pattern)
            errors = [
                median_error(draw, exact, own_seeds(f"{name} {pattern} {k}"))
                for k, draw in enumerate(
                    (
                        lambda seed, g=fixed, p=pattern: drawn(g, p, epsilon, "ladder", seed),
                        lambda seed, g=fixed, p=pattern: published_ladder(g, p, epsilon, seed),
                        lambda seed, g=fixed, p=pattern: drawn(g, p, epsilon, "smooth", seed),
                        lambda seed, g=fixed, p=pattern: drawn(g, p, epsilon, "local-sensitivity", seed),
                    )
                )
            ]
            cells = " | ".join(f"{100 * error:.3f}" for error in errors)
            lines.append(f"| {name} | {pattern} | {exact:,} | {cells} |")
            print(lines[-1], flush=True)
    return lines


class _Frozen:
    """Counts that are computed once for many draws."""

    def __init__(self, subgraphs, pattern):
        self._count, self._widths = subgraphs.count(pattern), subgraphs.widths(pattern)

    def count(self, pattern):
        return self._count

    def widths(self, pattern):
        return self._widths


def million():
    """Time and memory of a million vertices, ten million edges, with a power law of degrees."""
    rng = np.random.default_rng(0)
    n, m = 1_000_000, 10_000_000
    propensity = rng.pareto(1.8, n) + 1
    ends = rng.choice(n, size=(2, int(1.05 * m)), p=propensity / propensity.sum())
    ends = ends[:, ends[0] != ends[1]]
    A = sparse.coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n, n)).tocsr()
    A = ((A + A.T) > 0).astype(float)
    print(f"{A.nnz // 2:,} edges, largest degree {int(A.sum(axis=0).max()):,}", flush=True)
    lines = []
    for call in (
        lambda: dpgraph.private_subgraph_counts(A, epsilon=1.0, rng=0),
        lambda: dpgraph.private_transitivity(A, epsilon=1.0, rng=0),
    ):
        start = time.perf_counter()
        result = call()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        lines.append(f"{type(result).__name__}: {time.perf_counter() - start:.0f} s, {memory:.1f} GB at most")
        print(lines[-1], flush=True)
    return [f"Power law, {n:,} vertices, {A.nnz // 2:,} edges, one core: " + "; ".join(lines) + "."]


def floors():
    """What the public floor of the widths costs and gives: noise of triangles in units of A/epsilon."""
    lines = ["", "| floor x epsilon | A epsilon = 5 | 30 | 200 | 2000 |", "| --- | --- | --- | --- | --- |"]
    for floor in (2, 4, 8, 16, 32):
        rate = ladder.rung_exponent(1.0, 1, floor) / 2**40
        lines.append(
            f"| {floor} | "
            + " | ".join(
                f"{np.sqrt(2) * (max(width, floor) + 1 / rate) / rate / width:.2f}" for width in (5, 30, 200, 2000)
            )
            + " |"
        )
    return lines


def kinds(seed):
    """New graphs of five kinds."""
    return {
        "independent edges": nx.fast_gnp_random_graph(1500, 0.02, seed=seed),
        "preferential attachment, triads": nx.powerlaw_cluster_graph(3000, 10, 0.4, seed=seed),
        "small world": nx.watts_strogatz_graph(2000, 12, 0.1, seed=seed),
        "communities": nx.planted_partition_graph(10, 120, 0.4, 0.02, seed=seed),
        "geometric": nx.random_geometric_graph(2000, 0.08, seed=seed),
    }


def intervals(seed, runs):
    """Half-widths of 95 % intervals over median errors, and how often they hold the exact number."""
    lines = [
        "# Intervals of counts",
        "",
        f"Half-width at 95 % over the median error, and per cent of {runs} runs in which the interval holds the exact "
        "number. Laplace noise of a known scale has 4.3 and 95.",
        "",
        "| graph | epsilon | transitivity | 4-clique |" + " local-sensitivity: transitivity |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, graph in kinds(seed).items():
        exact = subgraphs_of(open_graph(graph).read())
        frozen = {pattern: _Frozen(exact, pattern) for pattern in ("triangle", "wedge", "4-clique")}
        ratio = 3 * exact.count("triangle") / exact.count("wedge")
        for epsilon in (0.5, 1.0, 4.0):
            cells = []
            for mechanism, patterns in (
                ("ladder", ("triangle", "wedge")),
                ("ladder", ("4-clique",)),
                ("local-sensitivity", ("triangle", "wedge")),
            ):
                truth = ratio if len(patterns) == 2 else exact.count(patterns[0])
                draws = (_estimate(frozen, patterns, epsilon, mechanism, seed) for seed in range(runs))
                found = [(abs(draw.value - truth), *draw.interval()) for draw in draws]
                errors, low, high = np.array(found).T
                held = 100 * np.mean((low <= truth) & (truth <= high))
                cells.append(f"{np.median(high - low) / 2 / max(np.median(errors), 1e-300):.1f}, {held:.0f}")
            lines.append(f"| {name} | {epsilon:g} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def _estimate(frozen, patterns, epsilon, mechanism, seed):
    """The transitivity, or one count, of counts that are known, as the public functions release it."""
    call, part = opened(epsilon, mechanism, seed)
    found = {pattern: released(frozen[pattern], pattern, part, mechanism, 1 / len(patterns)) for pattern in patterns}
    counts = PrivateCounts(
        {name: count.value for name, count in found.items()},
        dict.fromkeys(found, 0.0),
        {name: count.noise for name, count in found.items()},
        mechanism,
        call.report(),
    )
    first = counts.counts[patterns[0]]
    if len(patterns) == 1:
        return PrivateEstimate(float(first), counts, call.report(), (-np.inf, np.inf))
    value = 3 * first / max(counts.counts["wedge"], 1)
    return PrivateEstimate(min(max(value, 0.0), 1.0), counts, call.report())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--seed", type=int, default=71)
    options = parser.parse_args()
    if options.intervals:
        (RESULTS / "count_intervals").with_suffix(".md").write_text("\n".join(intervals(options.seed, 100)) + "\n")
        return
    if options.million:
        million()
        return
    lines = ["# Counts of subgraphs", "", *table(1.0), *floors()]
    (RESULTS / "subgraph_counts.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
