"""Linear queries beside what others publish: trees and factorizations for prefix sums, MWEM for few records.

Writes ``benchmarks/results/linear_queries_peers.md``; two minutes on one core.

    python benchmarks/linear_queries_peers.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.linalg
from common import markdown_table

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy import gdp_epsilon, gdp_mu
from dpgraph.problems.records.encodings import Encoding
from dpgraph.problems.records.linear_queries import error_lower_bounds, expected_error, private_linear_queries

RESULTS = Path(__file__).parent / "results"
EPSILON, DELTA = 1.0, 1e-6
BOTH = {"epsilon": EPSILON, "delta": DELTA}


# --- prefix sums, one after another ------------------------------------------------------------------------------


def dyadic_tree(n: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Sums over the dyadic ranges of n = 2**h cells, and their (first cell, length)."""
    ranges = [(start, size) for size in (2**h for h in range(n.bit_length())) for start in range(0, n, size)]
    cells = np.arange(n)
    return np.array([(start <= cells) & (cells < start + size) for start, size in ranges], dtype=float), ranges


def prefix_decoder(n: int, *, from_below: bool) -> np.ndarray:
    """Prefix sums from a dyadic tree: the sum of the ranges they consist of (Dwork et al. 2010; Chan, Shi, Song 2011).

    With `from_below` each range is first averaged with its two halves, which are known by then (Honaker 2015).
    """
    _, ranges = dyadic_tree(n)
    place = {node: k for k, node in enumerate(ranges)}
    estimates, variances = np.eye(len(ranges)), np.ones(len(ranges))
    for (start, size), k in place.items():
        if from_below and size > 1:
            left, right = place[start, size // 2], place[start + size // 2, size // 2]
            below = variances[left] + variances[right]
            weight = below / (1 + below)
            estimates[k] = weight * estimates[k] + (1 - weight) * (estimates[left] + estimates[right])
            variances[k] = weight
    decode = np.zeros((n, len(ranges)))
    for t in range(1, n + 1):
        start = 0
        for size in (2**h for h in reversed(range(n.bit_length()))):
            if t & size:
                decode[t - 1] += estimates[place[start, size]]
                start += size
    return decode


def tree_error(n: int, law: str, *, from_below: bool) -> float:
    tree = QueryMatrix(dyadic_tree(n)[0])
    encoding = Encoding("tree", tree, prefix_decoder(n, from_below=from_below), law=law)
    return encoding.expected_error(encoding.std({"gaussian": gdp_mu(EPSILON, DELTA), "laplace": EPSILON}), None)


def square_root_error(A: np.ndarray) -> float:
    """A = B B with B lower triangular (Fichtenberger, Henzinger, Upadhyay, ICML 2023)."""
    root = scipy.linalg.sqrtm(A.T).T
    encoding = Encoding("square root", QueryMatrix(root), root)
    return encoding.expected_error(encoding.std({"gaussian": gdp_mu(EPSILON, DELTA)}), None)


def prefix_rows() -> list[dict[str, object]]:
    rows = []
    for n in (16, 64, 256, 1024):
        A = np.tril(np.ones((n, n)))
        lines = {
            "noise on each answer": (
                expected_error(A, mechanism="gaussian", **BOTH),
                n * np.sqrt(2) / EPSILON,
            ),
            "tree, in order": tuple(tree_error(n, law, from_below=False) for law in ("gaussian", "laplace")),
            "tree, in order, Honaker": tuple(tree_error(n, law, from_below=True) for law in ("gaussian", "laplace")),
            "square root, in order": (square_root_error(A), None),
            "`factorization`": (expected_error(A, mechanism="factorization", **BOTH), None),
            "`laplace` (a tree and least squares)": (None, expected_error(A, epsilon=EPSILON, mechanism="laplace")),
            "no mechanism below": (max(error_lower_bounds(A, **BOTH)), max(error_lower_bounds(A, epsilon=EPSILON))),
        }
        for name, (gaussian, pure) in lines.items():
            rows.append({"prefix sums of": n, "method": name, f"delta = {DELTA:g}": gaussian, "pure": pure})
            print(rows[-1], flush=True)
    return rows


# --- few records -------------------------------------------------------------------------------------------------


def mwem(A: np.ndarray, x: np.ndarray, rounds: int, rng: np.random.Generator) -> np.ndarray:
    """Answers of MWEM (Hardt, Ligett, McSherry 2012) to 0/1 queries, pure; the number of records is public.

    Half of each round chooses a query by the exponential mechanism, half measures it; all measurements so far are
    replayed a hundred times, as in the authors' experiments.
    """
    n, truth, share = x.sum(), A @ x, EPSILON / (2 * rounds)
    synthetic = np.full(A.shape[1], n / A.shape[1])
    measured: list[tuple[int, float]] = []
    for _ in range(rounds):
        scores = share / 2 * np.abs(A @ synthetic - truth)
        weights = np.exp(scores - scores.max())
        chosen = int(rng.choice(len(A), p=weights / weights.sum()))
        measured.append((chosen, truth[chosen] + rng.laplace(scale=1 / share)))
        for _ in range(100):
            for query, answer in measured:
                synthetic = synthetic * np.exp(A[query] * (answer - A[query] @ synthetic) / (2 * n))
                synthetic *= n / synthetic.sum()
    return A @ synthetic


def median_mechanism(A: np.ndarray, x: np.ndarray, hard: int, rng: np.random.Generator) -> np.ndarray:
    """Answers of the median mechanism (Roth, Roughgarden 2010) to 0/1 queries, pure; the number of records is public.

    The efficient form: candidates are 4,000 random histograms. A query is easy if the median of their answers is within
    a tenth of the records of the truth (a sparse vector finds out, with half of the budget); then the median is the
    answer. Else noise of the other half is added, and the half of the candidates that agrees best is kept.
    """
    n, truth, share = x.sum(), A @ x, EPSILON / 2
    shapes = rng.dirichlet(np.full(A.shape[1], 0.05), size=4000)
    answers, threshold = n * shapes @ A.T, n / 10 + rng.laplace(scale=2 * hard / share)
    found = np.zeros(len(A))
    for query in range(len(A)):
        found[query] = np.median(answers[:, query])
        if hard and abs(found[query] - truth[query]) + rng.laplace(scale=4 * hard / share) > threshold:
            found[query] = truth[query] + rng.laplace(scale=hard / share)
            agree = np.abs(answers[:, query] - found[query])
            answers, hard = answers[agree <= np.median(agree)], hard - 1
    return found


def boosted(A: np.ndarray, x: np.ndarray, rounds: int, seed: int) -> np.ndarray:
    """Answers boosted to small worst-case error (Dwork, Rothblum, Vadhan 2010): medians of rounds that are reweighted.

    Queries that were answered badly weigh more in the next round. Which ones they are is read for free here, so that
    this is better than what privacy allows.
    """
    truth, weights, answers = A @ x, np.ones(len(A)), []
    for round in range(rounds):
        budget = {"epsilon": gdp_epsilon(gdp_mu(EPSILON, DELTA) / np.sqrt(rounds), DELTA), "delta": DELTA}
        scaled = private_linear_queries(weights[:, None] * A, x, mechanism="factorization", rng=seed + round, **budget)
        answers.append(scaled.answers / weights)
        errors = np.abs(answers[-1] - truth)
        weights = weights * np.where(errors > np.median(errors), np.sqrt(2), 1 / np.sqrt(2))
    return np.median(answers, axis=0)


def worst_rows(runs: int = 10) -> list[dict[str, object]]:
    """Largest and mean-square errors, of the shape of noise alone and boosted."""
    rows = []
    matrices = {
        "100 random 0/1 queries on 200 types": (np.random.default_rng(0).random((100, 200)) < 0.5).astype(float),
        "prefix sums of 128": np.tril(np.ones((128, 128))),
    }
    for name, A in matrices.items():
        x = np.random.default_rng(1).integers(0, 50, A.shape[1])
        for rounds in (1, 3, 9):
            errors = np.array([boosted(A, x, rounds, 100 * seed) - A @ x for seed in range(runs)])
            row = {"queries": name, "rounds": rounds, "largest error": float(np.abs(errors).max(axis=1).mean())}
            rows.append(row | {"root mean square": float(np.sqrt(np.mean(errors**2)))})
            print(rows[-1], flush=True)
    return rows


def few_rows(runs: int = 5) -> list[dict[str, object]]:
    """Random 0/1 queries on skewed data; both sides are told the number of records."""
    d, N = 200, 400
    A = (np.random.default_rng(0).random((d, N)) < 0.5).astype(float)
    shares = 1 / np.arange(1.0, N + 1)
    rows = []
    for n in (50, 500, 5000, 50_000):
        x = np.random.default_rng(n).multinomial(n, shares / shares.sum())
        truth, row = A @ x, {"records": n}

        def error(answers: list[np.ndarray], truth: np.ndarray = truth) -> float:
            return float(np.sqrt(np.mean(np.square(np.array(answers) - truth))))

        for rounds in (5, 10, 20, 40):
            row[f"MWEM, {rounds} rounds"] = error(
                [mwem(A, x, rounds, np.random.default_rng(seed)) for seed in range(runs)]
            )
        for hard in (5, 20):
            row[f"median mechanism, {hard} hard"] = error(
                [median_mechanism(A, x, hard, np.random.default_rng(seed)) for seed in range(runs)]
            )
        row["`auto`, pure"] = error(
            [
                private_linear_queries(A, x, epsilon=EPSILON, adjacency="replace", rng=seed).answers
                for seed in range(runs)
            ]
        )
        row[f"`auto`, delta = {DELTA:g}"] = error(
            [private_linear_queries(A, x, adjacency="replace", rng=seed, **BOTH).answers for seed in range(runs)]
        )
        row["the same answer for all data"] = error([A @ np.full(N, n / N)])
        rows.append(row)
        print(row, flush=True)
    return rows


def table(rows: list[dict[str, object]]) -> str:
    def cell(value: object) -> str:
        return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

    return markdown_table(list(rows[0]), [[cell(value) for value in row.values()] for row in rows])


def main() -> None:
    text = [
        f"# Linear queries beside others, epsilon = {EPSILON:g}",
        "Root-mean-square error of an answer.",
        "## Prefix sums (continual counting): exact expected errors",
        'One record more or less. "In order": answer t needs the first t counts only. Trees have one range of each '
        "length for each record.",
        table(prefix_rows()),
        "## Few records: 200 random 0/1 queries on 400 types, skewed data; 5 runs",
        "Neighbours replace one record; the number of records is public. MWEM is pure, and has a column for each "
        "number of rounds; choosing the best of them would cost budget that is not counted here. So is the median "
        "mechanism, with 4,000 random candidates, and so many answers that are not medians.",
        table(few_rows()),
        "## Boosting to worst-case error: `factorization`, 10 runs",
        f"epsilon = {EPSILON:g}, delta = {DELTA:g} in all; one round is no boosting, and rounds compose exactly "
        "(Gaussian differential privacy). Later rounds weigh more what was "
        "answered badly, which is read for free here.",
        table(worst_rows()),
    ]
    (RESULTS / "linear_queries_peers.md").write_text("\n\n".join(text) + "\n")


if __name__ == "__main__":
    main()
