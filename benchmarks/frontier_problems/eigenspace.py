"""Top-r eigenspace of the adjacency matrix: sine of the largest angle between the released and the true subspace.

0 is perfect, 1 means that some direction of one is orthogonal to the other. Neighbours differ in one edge, which moves
A U by at most sqrt(2) in Frobenius norm for rows of U of norm at most 1. The rank is public and fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from common import real_graph
from load import planted_blocks
from peers import (
    analyze_gauss,
    leading_part,
    letter_projector,
    noisy_power_method,
    noisy_power_method_exact,
    randomized_response,
)
from scipy import sparse
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from frontier_problems.base import Instance, Mechanism, Outcome, Problem

DENSE, ANSWERED = 1700, 5300
SENSITIVITY = 2.0**0.5

#: Ranks where the spectrum has a gap (looked up without privacy: which question is asked is public here).
GRAPHS = (
    *((name, 1) for name in ("fb100-Caltech36", "fb100-Reed98", "email-Eu-core", "fb100-Haverford76", "G1", "G22")),
    *((name, rank) for name in ("fb100-Swarthmore42", "ego-Facebook", "fb100-Harvard1") for rank in (1, 2)),
    *((name, 1) for name in ("fb100-Rice31", "wiki-Vote", "ca-GrQc", "ca-AstroPh", "fb100-Berkeley13", "email-Enron")),
)
QUICK = (("email-Eu-core", 1), ("fb100-Rice31", 1))
#: n, degree; 4 blocks: rank 4.
BLOCKS = ((1600, 100), (1600, 400), (5000, 200), (5000, 500))
CUTS = ((1600, 100), (1600, 400), (5000, 200), (5000, 500))


@dataclass(frozen=True)
class Case:
    """A matrix, the rank in question, and its true leading eigenspace."""

    matrix: sparse.csr_array
    rank: int
    space: np.ndarray


def case(matrix: sparse.csr_array, rank: int) -> Case:
    start = np.random.default_rng(0).normal(size=matrix.shape[0])
    return Case(matrix, rank, eigsh(matrix, k=rank, which="LM", v0=start)[1])


def judged(data: Case, basis: np.ndarray, note: str = "") -> Outcome:
    """Largest angle from the true space to the released one, which may have more dimensions."""
    Q = np.linalg.qr(basis)[0]
    missed = data.space - Q @ (Q.T @ data.space)
    return Outcome(min(float(np.linalg.norm(missed, 2)), 1.0), note)


def data_independent(data: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(data, np.random.default_rng(seed).normal(size=data.space.shape))


def halted(data: Case, seed: int) -> Outcome:
    return Outcome(data_independent(data, 1.0, 0.0, seed).value, "halted")


def projector(data: Case, epsilon: float, delta: float, seed: int, *, mechanism: Any) -> Outcome:
    """The package's route for general matrices."""
    budget = {"sensitivity": SENSITIVITY, "epsilon": epsilon, "delta": delta, "mechanism": mechanism, "rng": seed}
    try:
        return judged(data, dpgraph.private_projector(data.matrix, data.rank, **budget).basis)
    except dpgraph.MechanismHalted:
        return halted(data, seed)


def normalized(data: Case, epsilon: float, delta: float, seed: int, *, mechanism: Any) -> Outcome:
    """The package's route for graphs: the private low-rank normalized adjacency, scaled back."""
    try:
        private = dpgraph.private_normalized_adjacency(
            data.matrix, epsilon=epsilon, delta=delta, rank=data.rank, mechanism=mechanism, rng=seed
        )
    except dpgraph.MechanismHalted:
        return halted(data, seed)
    return judged(data, private.adjacency_factor())


def published_noisy_power(
    data: Case, epsilon: float, delta: float, seed: int, *, method: Any = noisy_power_method
) -> Outcome:
    _, Y = method(data.matrix, data.rank, epsilon, delta, np.random.default_rng(seed))
    return judged(data, Y)


def run_analyze_gauss(data: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    noisy = analyze_gauss(data.matrix, epsilon, delta, np.random.default_rng(seed))
    return judged(data, leading_part(noisy, data.rank)[0])


def run_randomized_response(data: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    noisy = randomized_response(data.matrix, epsilon, np.random.default_rng(seed))
    return judged(data, leading_part(noisy, data.rank)[0])


def letter(data: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    basis = letter_projector(data.matrix, data.rank, epsilon, delta, SENSITIVITY, np.random.default_rng(seed))
    return halted(data, seed) if basis is None else judged(data, basis)


def exact(data: Case, epsilon: float, delta: float, seed: int) -> Outcome:
    return judged(data, data.space)


def blocks(n: int, degree: int) -> sparse.csr_array:
    return planted_blocks(n, 4, degree, 0.85, np.random.default_rng(degree))


def cut(n: int, degree: int) -> sparse.csr_array:
    return planted_cut_sparse(n, degree, -0.75, rng=degree)[0]


def instances() -> dict[str, Instance]:
    found = {}
    for name, rank in GRAPHS:
        A = real_graph(name)
        load = partial(lambda name, rank: case(real_graph(name), rank), name, rank)
        found[f"{name}, r={rank}"] = Instance(load, A.shape[0], A.nnz // 2, "real", (name, rank) in QUICK)
    for kind, make, rank, sizes in (("4 blocks", blocks, 4, BLOCKS), ("planted cut", cut, 2, CUTS)):
        for n, degree in sizes:
            load = partial(lambda make, n, degree, rank: case(make(n, degree), rank), make, n, degree, rank)
            found[f"{kind} n={n} d={degree}, r={rank}"] = Instance(
                load, n, n * degree // 2, "planted", (n, degree) == (1600, 400)
            )
    return found


def problem() -> Problem:
    return Problem(
        name="eigenspace",
        quantity="sine of the largest angle",
        higher_is_better=False,
        instances=instances(),
        mechanisms={
            "normalized adjacency, auto": Mechanism(partial(normalized, mechanism="auto"), tier=0),
            "normalized adjacency, noisy power": Mechanism(partial(normalized, mechanism="noisy-power"), tier=0),
            "normalized adjacency, coherence": Mechanism(partial(normalized, mechanism="coherence"), tier=0),
            "normalized adjacency, randomized response": Mechanism(
                partial(normalized, mechanism="randomized-response"),
                largest=ANSWERED,
                reason="many false answers at small epsilon",
                uses="epsilon",
            ),
            "private_projector (DN25a)": Mechanism(partial(projector, mechanism="coherence")),
            "private_projector, noisy power": Mechanism(partial(projector, mechanism="noisy-power")),
            "noisy power, as published (HP14)": Mechanism(published_noisy_power),
            "noisy power, exact accounting (HP14)": Mechanism(
                partial(published_noisy_power, method=noisy_power_method_exact)
            ),
            "DN25a to the letter": Mechanism(letter, tier=2, largest=DENSE, runs=10),
            "Analyze Gauss (DTTZ14)": Mechanism(run_analyze_gauss, tier=2, largest=DENSE),
            "randomized response": Mechanism(run_randomized_response, tier=2, largest=DENSE, uses="epsilon"),
            "data-independent": Mechanism(data_independent, tier=0, uses=""),
            "exact": Mechanism(exact, tier=0, runs=1, uses=""),
        },
        ceiling="exact",
        baseline="data-independent",
        default="normalized adjacency, auto",
        remarks=(
            "The lines of the normalized adjacency release its leading eigenspace with a large regularisation and "
            "scale it back by the noisy degrees; how far that is from the space of the adjacency matrix is part of it. "
            "Their rows are denoised (empirical Bayes). Auto is noisy power or randomized response, by n, rank, "
            "epsilon, delta and what degrees say, privately.",
            "`private_projector` takes noisy power by default for a given rank.",
            "The noisy power method as published returns twice as many dimensions as asked for, which makes its angle "
            "smaller; no mechanism here is told the true rank from private data.",
        ),
    )
