"""What is simplified of eigenspaces and embeddings, and the calls that may feel it."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

import dpgraph
from benchmarks.ablations.harness import Run, numbers
from benchmarks.ablations.inputs import FIRST_SEED, of, partition, planted, real, with_dense_part
from benchmarks.subspaces import Case, package, rectangular_bulk, sine, symmetric_bulk, wishart
from dpgraph import strategies, tuning

DELTA = 1e-6
T = tuning


@cache
def drawn(make: Any, ratio: float, seed: int) -> Case:
    """A matrix of the laws of benchmarks/subspaces.py, of a size and a seed that its table has not."""
    return make(ratio, np.random.default_rng(FIRST_SEED + seed))


def subspace(make: Any, ratio: float, epsilon: float) -> Run:
    """Minus the logarithm of the sine, the worse of both sides: a tenth is a tenth of the sine."""

    def run(seed: int) -> float:
        case = drawn(make, ratio, seed)
        left, right, _ = package("auto", case, epsilon, seed)
        return -math.log(max(sine(case.left, left), sine(case.right, right), 1e-5))

    return run


MATRICES = (
    subspace(partial(symmetric_bulk, 350, 1, 250.0, True), 1, 1.0),
    subspace(partial(symmetric_bulk, 350, 1, 250.0, True), 10, 4.0),
    subspace(partial(symmetric_bulk, 500, 3, 250.0, False), 3, 1.0),
    subspace(partial(symmetric_bulk, 500, 1, 120.0, True), 4, 0.5),
    subspace(partial(rectangular_bulk, 150, 1200, 1, 250.0, False), 2, 1.0),
    subspace(partial(rectangular_bulk, 300, 400, 2, 250.0, False), 15, 4.0),
    subspace(partial(wishart, 110, 4000), 8, 1.0),
    subspace(partial(wishart, 80, 9000), 10, 1.0),
    subspace(partial(symmetric_bulk, 450, 2, 200.0, False), 25, 8.0),
)


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
WIDE = tuple(space(of(real, "ca-HepPh"), 1, epsilon, "auto") for epsilon in (0.5, 1.0, 3.0))
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
#: Graphs so small that answers win before a residual is asked for.
SMALL = tuple(
    space(of(partition, n, 2, degree, 5.0, tail), 1, epsilon, "auto")
    for n, degree, budgets in ((40, 10, (3.0, 5.0)), (100, 16, (4.0,)), (200, 20, (4.5, 5.5)), (400, 30, (5.5,)))
    for epsilon in budgets
    for tail in (0, 2.3)
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

P, V, R, E, RULE = T.POWER, T.VECTOR, T.RESIDUAL, T.EMBEDDING, T.EMBEDDING_RULE

ABLATIONS = [
    numbers(T.KRYLOV, "24 equal steps", MATRICES, first=24, most=24),
    numbers(T.KRYLOV, "8", MATRICES, first=8),
    numbers(T.KRYLOV, "48", MATRICES, most=48),
    numbers(T.KRYLOV, "0.01", MATRICES, seen=0.01),
    numbers(T.KRYLOV, "0: loud directions go", MATRICES, harmless=0.0),
    numbers(P, "12 products", (*PRODUCTS, *PLAIN), iterations=0.0, least=12),
    numbers(P, "0: none", (*PRODUCTS, *PLAIN), extra=0),
    numbers(P, "0: always", (*PRODUCTS, *PLAIN), wide=0.0),
    numbers(P, "1: all alike", (*PRODUCTS, *PLAIN), decay=1.0),
    numbers(P, "0: the last alone", (*PRODUCTS, *PLAIN), decay=0.0),
    numbers(V, "1 alone", VECTOR, last_decays=(1.0,)),
    numbers(V, "none", VECTOR, last_decays=()),
    numbers(V, "none: infinity", VECTOR, caps=(math.inf,)),
    numbers(V, "8", VECTOR, products=8.0),
    numbers(V, "0: as many from afar", (*FAR, *WIDE), far_products=0.0),
    numbers(R, "infinity: never asked for", (*FAR, *WIDE), findable=1e9),
    numbers(R, "never large", FAR, large=1e9),
    numbers(R, "1: not clipped", (*VECTOR, *FAR), limit=1.0),
    numbers(R, "infinity", (*VECTOR, *FAR), cap=1e9),
    numbers(R, "0.03", (*VECTOR, *FAR), share=0.03),
    numbers(E, "0.05", (*GAP, *STABLE), side_share=0.05),
    numbers(T.COMMON, "0.02", VECTOR, total=0.02),
    numbers(T.COMMON, "infinity: by edges alone", AUTO, uneven=1.0),
    numbers(RULE, "0: even degrees alone", AUTO, least_degree=0.0),
    numbers(RULE, "0: whether answers find anything or not", AUTO, visible=0.0),
    numbers(RULE, "infinity", (*AUTO_VECTOR, *WIDE), vector_by_residual=1e9),
    numbers(RULE, "0", SMALL, vector_column=0.0),
    numbers(T.GAP_TEST, "1/3", GAP, spectrum_share=1 / 3),
    numbers(T.STABILITY_TEST, "0.4, as the gap test", STABLE, spectrum_share=0.4),
    numbers(T.STABILITY_TEST, "1/2", STABLE, gap_share=0.5),
]  # fmt: skip
