"""Published bounds beside what is measured: max-cut on all real graphs, and leading eigenvectors.

"HP14, at best" has exact accounting, and the number of columns (rank, 2 rank) and of products of the least mean error,
in hindsight. Writes ``results/peers_published.md``, which ``results/frontier.md`` quotes. Losses in cuts are those of
``frontier_max-cut.csv``; the rest takes a minute. Bounds are evaluated with constant 1 and without the polynomials of
logarithms that their papers hide, which favours them.

    python benchmarks/peers_published.py
"""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
from common import REAL, RESULTS, interval, markdown_table, quote, real_graph
from frontier_problems.cuts import run_noisy_power
from frontier_problems.eigenspace import case, judged
from frontier_tables import read_summary
from peers import (
    exponential_eigenvector_sine,
    noisy_power_method,
    noisy_power_method_at_best,
    noisy_power_method_exact,
)
from scipy import sparse
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph.evaluate import cut_fraction

EPSILON, DELTA, RUNS = 1.0, 1e-6, 10
#: Numbers of products of HP14 that are tried.
PRODUCTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
#: Small enough for all eigenvalues, which two of the bounds need.
VECTORS = ("fb100-Caltech36", "fb100-Reed98", "email-Eu-core", "fb100-Haverford76")


def sketch_weight(rows: int) -> float:
    """Weight w of the complete graph that BBDS12 (Algorithm 1) mixes in before its sketch of so many rows."""
    return 4 * math.sqrt(rows * math.log(2 / DELTA)) * math.log(4 * rows / DELTA) / EPSILON


def cut_lines() -> list[list[object]]:
    """Loss of the default at epsilon = 1 in units of sqrt(m n), and bounds as shares of the edges."""
    _, points = read_summary("max-cut")
    lines = []
    for name in REAL:
        A = real_graph(name)
        n, m = A.shape[0], A.nnz // 2
        exact = points[name, "exact solver", "", ""].mean
        loss = exact - points[name, "auto", f"{EPSILON:g}", "1e-6"].mean
        unit = math.sqrt(n / m)  # sqrt(m n)/m
        rate, logs = unit / math.sqrt(EPSILON), math.log(n / DELTA) ** 2
        line = [name, f"{n:,}", f"{m:,}", f"{loss:.3f}", f"**{loss / unit:.2f}**", f"{rate:.2f}; {rate * logs:.0f}"]
        lines.append([*line, f"{n * unit**2 / math.sqrt(n) / EPSILON:.1f}"])
    return lines


def smooth_sensitivity(gap: float, n: int) -> float:
    """Smooth upper bound on the change of the leading eigenvector by an edge, as Gonem and Gilad-Bachrach propose.

    At distance k the gap is at least gap - 2k, an edge has norm 1 and moves the vector by sqrt(2)/(gap - 2k - 1), or
    by 2 at most; beta is that of Gaussian noise (Nissim, Raskhodnikova and Smith, STOC 2007, Lemma 2.7).
    """
    beta = EPSILON / (4 * (n + math.log(2 / DELTA)))
    k = np.arange(0, math.ceil(gap / 2) + 1)
    local = np.where(gap - 2 * k > 2, math.sqrt(2) / np.maximum(gap - 2 * k - 1, 1e-9), 2.0)
    return float(np.max(np.exp(-beta * k) * np.minimum(local, 2.0)))


def subspace_ratio(n: int, records: int) -> float:
    """Largest ratio of the second to the first eigenvalue that Singhal and Steinke's Theorem 1.2 allows for one vector.

    At an error of 1, the largest there is: any error that says something needs a smaller ratio.
    """
    tail = math.log(1 / DELTA)
    return EPSILON * records / (n**2 * tail) * min(1.0, 1 / math.log(tail / EPSILON))


def sine_between_blocks(A: sparse.csr_array) -> float:
    """Median sine between leading eigenvectors of two of the 2 ln(1/delta)/epsilon blocks of edges that they need."""
    upper = sparse.triu(A, 1).tocoo()
    blocks = math.ceil(2 * math.log(1 / DELTA) / EPSILON)
    block = np.random.default_rng(0).permutation(upper.nnz) % blocks
    vectors = []
    for b in range(blocks):
        kept = block == b
        half = sparse.csr_array((upper.data[kept], (upper.row[kept], upper.col[kept])), shape=A.shape).astype(float)
        vectors.append(eigsh(half + half.T, 1, which="LA", v0=np.ones(A.shape[0]))[1][:, 0])
    cosines = np.abs(np.array(vectors) @ np.array(vectors).T)[np.triu_indices(blocks, 1)]
    return float(np.median(np.sqrt(np.maximum(0.0, 1 - cosines**2))))


def vector_line(name: str) -> list[object]:
    """Sine of the leading eigenvector by five mechanisms, and three bounds."""
    A = real_graph(name)
    n, data, values = A.shape[0], case(A, 1), np.linalg.eigvalsh(A.toarray())
    gap = values[-1] - np.sort(np.abs(values))[-2]

    def sine(method: object) -> str:
        runs = (method(A, 1, EPSILON, DELTA, np.random.default_rng(seed))[1] for seed in range(RUNS))
        return "{:.3f} ± {:.3f}".format(*interval(judged(data, Y).value for Y in runs))

    def own(seed: int) -> float:
        private = dpgraph.private_normalized_adjacency(A, epsilon=EPSILON, delta=DELTA, rank=1, rng=seed)
        return judged(data, private.adjacency_factor()).value

    cases = [(A, lambda Y: judged(data, Y).value, seed) for seed in range(RUNS)]
    best = noisy_power_method_at_best(cases, 1, (EPSILON, DELTA), products=PRODUCTS)
    noise = 5 * math.sqrt(2 * math.log(2 / DELTA)) * smooth_sensitivity(gap, n) / EPSILON
    moments = np.linalg.eigvalsh((A + sparse.diags_array(A.sum(axis=1))).toarray())  # of the records e_u + e_v
    ratio = moments[-2] / moments[-1]
    low_rank = math.sqrt(n * math.log(1 / DELTA)) / EPSILON * values[-1] / gap
    hp14 = "{:.3f} ± {:.3f} ({}; {})".format(*interval(best.errors), best.columns, best.steps)
    return [
        name, "{:.3f} ± {:.3f}".format(*interval(own(seed) for seed in range(RUNS))), sine(noisy_power_method),
        hp14, f"{exponential_eigenvector_sine(values, EPSILON):.3f}",
        f"{noise * math.sqrt(n):,.0f}", f"{low_rank / values[-1]:.2f}",
        f"{subspace_ratio(n, A.nnz // 2):.4f}; {ratio:.2f}; {sine_between_blocks(A):.3f}",
    ]  # fmt: skip


def bisection_line(name: str) -> list[object]:
    """Share of the edges between halves by HP14 at its best, by the default, and what halves of chance have."""
    A, found = real_graph(name), []
    for columns, steps in itertools.product((1, 2), PRODUCTS):
        method = partial(noisy_power_method_exact, steps=steps, columns=columns)
        runs = [run_noisy_power(A, EPSILON, DELTA, seed, balanced=True, method=method).value for seed in range(RUNS)]
        found.append((*interval(runs), columns, steps))
    own = [
        cut_fraction(A, dpgraph.private_max_bisection(A, epsilon=EPSILON, delta=DELTA, rng=seed))
        for seed in range(RUNS)
    ]
    n = A.shape[0]
    chance = (n // 2) * (n - n // 2) / (n * (n - 1) / 2)
    own_text = "{:.4f} ± {:.4f}".format(*interval(own))
    return [name, own_text, "{:.4f} ± {:.4f} ({}; {})".format(*max(found)), f"{chance:.4f}"]


def main() -> None:
    cuts = markdown_table(
        ["graph", "n", "m", "lost, share of m", "lost / √(mn)", "√(mn/ε)/m; times ln²(n/δ)", "n^1.5/(ε m)"], cut_lines()
    )
    vectors = markdown_table(
        [
            "graph", "default", "HP14, published", "HP14, at best (columns; products)", "KT13",
            "GGB18: norm of the noise", "MV22, relative",
            "SS21: λ₂/λ₁ needed; is; sine of blocks",
        ],
        [vector_line(name) for name in VECTORS],
    )  # fmt: skip
    halves = markdown_table(
        ["graph", "halves by default", "by HP14, at best (columns; products)", "at random"],
        [bisection_line(name) for name in VECTORS],
    )
    weights = {rows: sketch_weight(rows) for rows in (118, 1000, 10_000)}
    sketches = markdown_table(
        ["rows of the sketch", "weight w of the complete graph", "needs n"],
        [[rows, f"{weight:,.0f}", f"> {weight:,.0f}"] for rows, weight in weights.items()],
    )
    page = RESULTS / "frontier.md"
    for name, table in (("published cuts", cuts), ("published vectors", vectors), ("published sketches", sketches)):
        quote(page, name, table)
    text = [f"# Published bounds, epsilon = {EPSILON:g}, delta = {DELTA:g}", cuts, sketches, vectors, halves]
    (RESULTS / "peers_published.md").write_text("\n\n".join(part.strip() for part in text) + "\n")


if __name__ == "__main__":
    main()
