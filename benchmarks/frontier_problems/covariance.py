"""Covariance of records of norm at most 1: Frobenius error over the Frobenius norm of the truth (0 is perfect).

An answer of zero has error 1. Pure mechanisms stand in the tables of both delta; neighbours replace one record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from common import real_graph
from covariance import algorithm_2, amin, records, unit_trace

import dpgraph
from frontier_problems.base import Instance, Mechanism, Outcome, Problem

#: n, d, trace of synthetic records with eigenvalues decaying like 1/i.
POINTS = (
    (500, 10, 0.1), (500, 10, 0.9), (2000, 20, 0.1), (2000, 20, 0.9), (10_000, 20, 0.1), (10_000, 20, 0.9),
    (10_000, 100, 0.5), (100_000, 50, 0.5),
)  # fmt: skip
QUICK = ((2000, 20, 0.1),)
HASHED = 20


def neighbour_records(name: str) -> np.ndarray:
    """One record a vertex: how its neighbours spread over HASHED public groups of vertices, norm at most 1."""
    A = real_graph(name)
    group = np.random.default_rng(0).integers(HASHED, size=A.shape[0])
    counts = np.asarray(A @ np.eye(HASHED)[group])
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1.0)


def judged(X: np.ndarray, matrix: np.ndarray) -> Outcome:
    truth = X.T @ X / len(X)
    return Outcome(float(np.linalg.norm(matrix - truth) / np.linalg.norm(truth)))


def package(**options: object) -> Callable[[np.ndarray, float, float, int], Outcome]:
    def run(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
        return judged(X, dpgraph.private_covariance(X, epsilon=epsilon, rng=seed, **options).matrix)

    return run


def with_delta(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    """The default of a call that may spend a delta."""
    return judged(X, dpgraph.private_covariance(X, epsilon=epsilon, delta=delta, rng=seed).matrix)


def gaussian(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    """Analyze Gauss with its exact scale, and the projection with the public bound on the trace."""
    return judged(X, unit_trace(X, epsilon, seed, mechanism="gaussian", delta=delta))


def pure_unit_trace(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(X, unit_trace(X, epsilon, seed))


def twice_the_trace(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(X, algorithm_2(X, epsilon, seed))


def gaussian_letter(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    """DTTZ14, Algorithm 1 with its printed constant (proved for epsilon <= 1) and no projection."""
    n, d = X.shape
    scale = math.sqrt(2) / n * math.sqrt(2 * math.log(1.25 / delta)) / epsilon  # sqrt(2)/n: a record is replaced
    noise = np.triu(np.random.default_rng(seed).normal(scale=scale, size=(d, d)))
    return judged(X, X.T @ X / n + noise + np.triu(noise, 1).T)


def amin_exact(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    """Amin et al. (2019): eigenvalues, then eigenvectors one after the other by exact exponential mechanisms."""
    return judged(X, amin(X, seed, epsilon))


def zero(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(X, np.zeros((X.shape[1], X.shape[1])))


def exact(X: np.ndarray, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(X, X.T @ X / len(X))


def instances() -> dict[str, Instance]:
    found = {}
    for name in ("fb100-Caltech36", "email-Eu-core", "wiki-Vote", "fb100-Harvard1", "email-Enron"):
        A = real_graph(name)
        found[f"{name}, {HASHED} groups"] = Instance(
            partial(neighbour_records, name), A.shape[0], A.shape[0], "real", name == "wiki-Vote"
        )
    for n, d, trace in POINTS:
        found[f"synthetic n={n} d={d} trace={trace:g}"] = Instance(
            partial(records, n, d, trace), n, n, "synthetic", (n, d, trace) in QUICK
        )
    return found


def problem() -> Problem:
    mechanisms = {
        "auto, with delta": Mechanism(with_delta, tier=0),
        "pure, shrunk (default)": Mechanism(package(), tier=0, uses="epsilon"),
        "pure, twice the trace (DN25b)": Mechanism(twice_the_trace, uses="epsilon"),
        "pure, unit trace": Mechanism(pure_unit_trace, uses="epsilon"),
        "pure, unprojected": Mechanism(package(project=False), uses="epsilon"),
        "nuclear Laplace": Mechanism(package(mechanism="nuclear-laplace"), uses="epsilon", proven=False),
        "Gaussian, unit trace": Mechanism(gaussian),
        "Analyze Gauss, printed noise (DTTZ14)": Mechanism(gaussian_letter),
        "Amin et al. 2019, exact draws": Mechanism(amin_exact, tier=2, uses="epsilon"),
        "answer zero": Mechanism(zero, tier=0, runs=1, uses=""),
        "exact": Mechanism(exact, tier=0, runs=1, uses=""),
    }
    return Problem(
        name="covariance",
        quantity="relative Frobenius error",
        higher_is_better=False,
        instances=instances(),
        mechanisms=mechanisms,
        ceiling="exact",
        baseline="answer zero",
        default="auto, with delta",
        pure_default="pure, shrunk (default)",
        remarks=(
            "A call that may spend a delta gets Gaussian noise where that is smaller; it promises less, (epsilon, "
            "delta) where the default without delta and most others are pure. delta = 1/n^1.1 in place of 1/m^1.1, n "
            "the number of records. The eigenvectors of Amin et al. are drawn exactly, by rejection; their eigenvalues "
            "by Laplace noise. Nuclear Laplace noise comes from a Markov chain here, which no proof covers: it is in "
            "the table, but no default is held against it.",
        ),
        logarithmic=True,
    )
