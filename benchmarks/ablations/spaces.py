"""What is simplified of eigenspaces and embeddings, and the calls that may feel it."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

import dpgraph
from benchmarks.ablations.harness import Run, numbers
from benchmarks.ablations.inputs import of, partition, planted, real, with_dense_part
from dpgraph import strategies, tuning

DELTA = 1e-6
T = tuning


@cache
def leading(make: Any, seed: int, rank: int) -> np.ndarray:
    """Leading eigenvectors, by absolute value."""
    A = make(seed)
    return np.asarray(eigsh(A.astype(float), k=rank, which="LM", v0=np.ones(A.shape[0]))[1])


def space(make: Any, rank: int, epsilon: float, mechanism: Any = "noisy-power", delta: float = DELTA) -> Run:
    """Mean squared cosine of the exact leading space to the released one; 0 for a halt."""

    def run(seed: int) -> float:
        asked = {"rank": rank} if isinstance(mechanism, str) else {}
        try:
            found = dpgraph.private_normalized_adjacency(
                make(seed), epsilon=epsilon, delta=delta, mechanism=mechanism, rng=seed, **asked
            )
        except dpgraph.MechanismHalted:
            return 0.0
        Q = np.linalg.qr(found.adjacency_factor())[0]
        return float(np.sum((leading(make, seed, rank).T @ Q) ** 2)) / rank

    return run


HEAVY, TWO, THREE = (
    of(partition, 600, 2, 60, 4.0, 2.2),
    of(partition, 500, 2, 70, 4.0, 0),
    of(partition, 600, 3, 90, 4.0, 0),
)
HIDDEN, SPARSE = of(with_dense_part, 1000, 8, 45, 0.6, 2.5), of(partition, 900, 1, 8, 1.0, 2.3)
EVEN, FOUR = of(planted, 500, 60, -0.5), of(partition, 800, 4, 160, 4.0, 0)
GAPS, BLOCKS = of(planted, 450, 150, -0.7), of(partition, 450, 3, 180, 5.0, 0)
COLLEGE, MAIL, PHYSICS = of(real, "fb100-Haverford76"), of(real, "email-Eu-core"), of(real, "ca-HepTh")

VECTOR = (
    space(HEAVY, 1, 0.5), space(HEAVY, 1, 3.0), space(TWO, 1, 0.3), space(HIDDEN, 1, 1.0), space(HIDDEN, 1, 4.0),
    space(SPARSE, 1, 2.0), space(EVEN, 1, 1.0),
)  # fmt: skip
FAR = space(HIDDEN, 1, 2.0), space(HIDDEN, 1, 6.0), space(PHYSICS, 1, 2.0), space(PHYSICS, 1, 5.0)
PRODUCTS = (
    space(HEAVY, 2, 2.0), space(TWO, 2, 1.0), space(THREE, 3, 3.0), space(FOUR, 4, 1.0), space(COLLEGE, 2, 3.0),
    space(MAIL, 2, 6.0), space(EVEN, 2, 5.0),
)  # fmt: skip
PLAIN = tuple(
    space(make, rank, epsilon, "noisy-power")
    for make, rank, epsilon in ((TWO, 2, 2.0), (THREE, 3, 4.0), (COLLEGE, 2, 4.0), (FOUR, 4, 0.6))
)
AUTO_VECTOR = tuple(
    space(make, 1, epsilon, "auto")
    for make, epsilons in (
        (HIDDEN, (2.0, 4.0)),
        (PHYSICS, (2.0, 4.0)),
        (HEAVY, (4.0, 6.0)),
        (MAIL, (5.0,)),
        (SPARSE, (3.0,)),
    )
    for epsilon in epsilons
)
AUTO = tuple(
    space(make, rank, epsilon, "auto")
    for make, rank, epsilons in (
        (HEAVY, 2, (1.0, 3.0)), (TWO, 2, (1.0, 3.0)), (FOUR, 4, (1.0,)), (COLLEGE, 2, (1.0, 3.0)), (MAIL, 3, (2.0,)),
        (of(planted, 1500, 30, -0.7), 2, (2.0,)), (SPARSE, 2, (2.0,)),
    )
    for epsilon in epsilons
)  # fmt: skip
GAP = tuple(
    space(make, rank, epsilon, strategies.Coherence(rank=rank, certificate="gap-and-coherence"))
    for make, rank, epsilons in ((GAPS, 2, (1.0, 2.0, 5.0)), (BLOCKS, 3, (2.0, 5.0)))
    for epsilon in epsilons
)
STABLE = tuple(
    space(make, rank, epsilon, strategies.Coherence(rank=rank))
    for make, rank, epsilons in ((GAPS, 2, (1.0, 2.0, 5.0)), (BLOCKS, 3, (2.0, 5.0)), (COLLEGE, 1, (4.0, 8.0)))
    for epsilon in epsilons
)
BY_RANK = tuple(space(make, 2, epsilon, "coherence") for make in (GAPS, BLOCKS) for epsilon in (2.0, 4.0))
ANSWERS = tuple(
    space(make, rank, epsilon, "randomized-response")
    for make, rank, epsilon in ((HEAVY, 2, 1.0), (THREE, 3, 1.5), (MAIL, 2, 2.0), (HIDDEN, 1, 3.0), (COLLEGE, 2, 6.0))
)

P, V, R, E, RULE = T.POWER, T.VECTOR, T.RESIDUAL, T.EMBEDDING, T.EMBEDDING_RULE

ABLATIONS = [
    numbers(P, "12 products", (*PRODUCTS, *PLAIN), iterations=0.0, least=12),
    numbers(P, "0: none", (*PRODUCTS, *PLAIN), extra=0),
    numbers(P, "0", (*PRODUCTS, *PLAIN), least_mu=0.0),
    numbers(P, "0: from the start", PRODUCTS, trial=0.0),
    numbers(P, "1", PRODUCTS, no_gap=1.0),
    numbers(P, "1: all alike", (*PRODUCTS, *PLAIN), decay=1.0),
    numbers(P, "0: the last alone", (*PRODUCTS, *PLAIN), decay=0.0),
    numbers(P, "0: always", PRODUCTS, noisy=0.0),
    numbers(P, "infinity: never", PRODUCTS, noisy=1e9),
    numbers(P, "0", (*PRODUCTS, *PLAIN), refinements=0),
    numbers(P, "1", (*PRODUCTS, *PLAIN), refinements=1),
    numbers(V, "1 alone", VECTOR, last_decays=(1.0,)),
    numbers(V, "none", VECTOR, last_decays=()),
    numbers(V, "none: infinity", VECTOR, caps=(math.inf,)),
    numbers(V, "3", VECTOR, caps=(3.0,)),
    numbers(V, "1", VECTOR, cappings=1),
    numbers(V, "1", VECTOR, second=1.0),
    numbers(V, "1", VECTOR, left=1.0),
    numbers(V, "1", VECTOR, second=1.0, left=1.0),
    numbers(R, "never asked", (*VECTOR, *FAR), findable=1e9),
    numbers(R, "0", (*VECTOR, *FAR), findable=0.0),
    numbers(R, "infinity", (*VECTOR, *FAR), cap=1e9),
    numbers(R, "infinity", (*VECTOR, *FAR), limit=1e9),
    numbers(R, "0.01 each", (*VECTOR, *FAR), shares=(0.01, 0.01, 0.01)),
    numbers(R, "0: all shares are spent", (*VECTOR, *FAR), precise=1e-9),
    numbers(R, "as large", (*VECTOR, *FAR), clear=0.05),
    numbers(E, "0.01", (*GAP, *STABLE), side_share=0.01),
    numbers(E, "1", ANSWERS, above_noise=1.0),
    numbers(E, "0: always refined", ANSWERS, little_noise=0.0),
    numbers(E, "64 at any epsilon", VECTOR, regularization=64.0),
    numbers(E, "16 at any epsilon", VECTOR, vector_regularization=16.0),
    numbers(RULE, "0: never by public numbers", AUTO, even_ratio=0.0),
    numbers(RULE, "infinity: always answers", AUTO, even_ratio=1e9),
    numbers(RULE, "infinity: by edges alone", AUTO, uneven=1.0),
    numbers(RULE, "0: even degrees alone", AUTO, least_degree=0.0),
    numbers(RULE, "0", AUTO_VECTOR, vector_entry=0.0),
    numbers(T.GAP_TEST, "1/3", GAP, spectrum_share=1 / 3),
    numbers(T.STABILITY_TEST, "1/10", STABLE, spectrum_share=0.1),
    numbers(T.STABILITY_TEST, "1/2", STABLE, gap_share=0.5),
]  # fmt: skip
