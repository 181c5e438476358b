"""Errors of private counts: the ladder with raised widths, the published ladder, smooth sensitivity, released bounds.

Run ``python benchmarks/subgraph_counts.py``: two minutes; ``--million`` times triangles and transitivity on a random
graph of a million vertices and ten million edges. Writes benchmarks/results/subgraph_counts.md. ``--intervals`` writes
the table count_intervals: widths and coverage of intervals on nine graphs, in ten minutes.
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
from dpgraph.bounds import count_intervals, ladder
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
from dpgraph.tuning import COUNTS

GRAPHS = ("email-Eu-core", "ca-HepTh", "wiki-Vote", "ego-Facebook", "fb100-Rice31", "email-Enron")
PATTERNS = ("triangle", "wedge", "3-star", "4-cycle", "4-clique")
RUNS = 201
DELTA = 1e-6
#: Intervals whose ends are looked for, and how often an interval may miss.
WIDE, MISS = 15, 0.05
#: Releases of two widths.
FEW = 40


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
    """What a public floor of the widths costs and gives: noise of triangles in units of A/epsilon."""
    lines = ["", "| floor x epsilon | A epsilon = 5 | 30 | 200 | 2000 |", "| --- | --- | --- | --- | --- |"]
    for floor in (2, 4, 8, 16, 32):
        rate = ladder.rung_exponent(1.0, (floor,)) / 2**40
        lines.append(
            f"| {floor} | "
            + " | ".join(
                f"{np.sqrt(2) * (max(width, floor) + 1 / rate) / rate / width:.2f}" for width in (5, 30, 200, 2000)
            )
            + " |"
        )
    return lines


def kinds(seed):
    """Graphs that chose nothing: real ones, and new ones of four kinds."""
    for name in ("fb100-Reed98", "fb100-Haverford76", "email-Eu-core", "ca-GrQc"):
        yield name, dpgraph.datasets.load(name)
    yield "preferential attachment", nx.barabasi_albert_graph(3000, 10, seed=seed)
    yield "preferential attachment, triads", nx.powerlaw_cluster_graph(3000, 10, 0.4, seed=seed)
    yield "even degrees", nx.connected_caveman_graph(30, 25)
    yield "small world", nx.watts_strogatz_graph(2000, 12, 0.1, seed=seed)
    yield "communities", nx.planted_partition_graph(10, 120, 0.4, 0.02, seed=seed)


def intervals(seed, runs):
    """Half-widths of 95 % intervals over median errors, and how often they hold the exact number."""
    lines = [
        "# Intervals of counts",
        "",
        f"Per cent of {runs} releases by the ladder in which the 95 % interval holds the exact transitivity, and",
        f"its half-width (of {WIDE}) over the median error: 4.3 for Laplace noise of a known scale. For 4-cliques",
        f"and 3-stars the per cent is a mean over {FEW} releases of both widths, each exact. Before them, the width",
        "c_0 of the count over its least floor: where it is below 2, the released width is mostly noise.",
        "",
        "| graph | epsilon | width of triangles | transitivity held | half-width | width of 4-cliques | 4-cliques held "
        "| half-width | width of 3-stars | 3-stars held | half-width |",
        "|" + " --- |" * 11,
    ]
    for name, graph in kinds(seed):
        exact = subgraphs_of(open_graph(graph).read())
        frozen = {pattern: _Frozen(exact, pattern) for pattern in ("triangle", "wedge", "4-clique", "3-star")}
        for epsilon in (0.5, 1.0, 4.0):
            cells = [
                f"{_over_floor(frozen[patterns[0]], epsilon / len(patterns)):.1f} | {held:.1f} | {wide:.1f}"
                for patterns in (("triangle", "wedge"), ("4-clique",), ("3-star",))
                for held, wide in [_held(frozen, patterns, epsilon, runs)]
            ]
            lines.append(f"| {name} | {epsilon:g} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def _over_floor(frozen, epsilon):
    widths, floor = frozen.widths(""), np.ceil(COUNTS.floor / epsilon)
    return widths[0] / floor / max(widths[1], floor if len(widths) > 2 else 1)


def _held(frozen, patterns, epsilon, runs):
    """Per cent of runs in which the interval holds the exact number, and its median half-width over the median error.

    An interval holds a quotient if that is plausible by itself, which takes a fraction of the search for its ends. How
    often noise of the exact widths is within the interval of one count is known for each published width.
    """
    cell = zlib.crc32(f"{frozen[patterns[0]].count('')} {epsilon}".encode())
    seeds = np.random.default_rng(cell).integers(2**31, size=runs)
    found = [_estimate(frozen, patterns, epsilon, "ladder", int(seed)) for seed in seeds]
    exact = [frozen[pattern].count("") for pattern in patterns]
    truth, held = (3 * exact[0] / exact[1] if len(exact) > 1 else exact[0]), 0
    for estimate in found if len(exact) > 1 else found[:FEW]:
        counts, laws = estimate.counts.counts, [estimate.counts.noise[pattern] for pattern in patterns]
        if len(exact) > 1:
            widths, ratio = [count_intervals.likely_widths(law) for law in laws], exact[0] / exact[1]
            away = max(counts["triangle"], 0) - ratio * max(counts["wedge"], 0)
            held += (count_intervals.quotient_tail(laws, widths, ratio, abs(away) * (1 - 1e-9)) >= MISS) / runs
        else:
            true = ladder.raised_widths(frozen[patterns[0]].widths(""), laws[0]["floors"])
            own = count_intervals.Widths(np.array([true], dtype=float).T, np.ones(1))
            reach = np.array([count_intervals.half_width(laws[0], MISS)])
            held += (1 - count_intervals.tails(laws[0], own, reach)[0]) / FEW
    wide = [(high - low) / 2 for low, high in (estimate.interval(1 - MISS) for estimate in found[:WIDE])]
    error = np.median([abs(estimate.value - truth) for estimate in found])
    return 100 * held, np.median(wide) / max(error, 1e-300)


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
        (RESULTS / "count_intervals").with_suffix(".md").write_text("\n".join(intervals(options.seed, 1500)) + "\n")
        return
    if options.million:
        million()
        return
    lines = ["# Counts of subgraphs", "", *table(1.0), *floors()]
    (RESULTS / "subgraph_counts.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
