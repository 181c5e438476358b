"""Mechanisms of others, written from their publications, with whatever accounting their authors give.

Where a paper's noise is for one changed entry of a matrix, it is multiplied by sqrt(2) here: an edge of a graph changes
two. Where an exact accounting makes a peer better (analytic Gaussian mechanism), the peer gets it, except in
the functions that say "to the letter". Noise is numpy's: these functions are for comparisons, not for use.

References
----------
DTTZ14: C. Dwork, K. Talwar, A. Thakurta, L. Zhang, *Analyze Gauss*, STOC 2014.
HP14: M. Hardt, E. Price, *The Noisy Power Method*, NIPS 2014.
MT07: F. McSherry, K. Talwar, *Mechanism Design via Differential Privacy*, FOCS 2007.
DN25a: T. d'Orsi, G. Novikov, arXiv:2510.26679.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh
from scipy.special import expit, ndtri
from scipy.stats import gumbel_r

from dpgraph.instance import TwoCSP
from dpgraph.privacy.accounting import gaussian_scale

FloatArray = NDArray[np.float64]
LabelArray = NDArray[np.int8]
IntArray = NDArray[np.int64]

#: With more vertices than this for each eigenvector, a partial eigensolver is faster than a dense one.
_LANCZOS = 50


def symmetric_noise(n: int, scale: float, rng: np.random.Generator) -> FloatArray:
    """Symmetric noise, isotropic in the Frobenius inner product: variance scale**2 on the diagonal, half of it off."""
    noise = rng.normal(scale=scale, size=(n, n))
    return (noise + noise.T) / 2


def randomized_response(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Every pair flipped with probability 1/(1 + e**epsilon), made unbiased. Pure epsilon-DP."""
    flip = float(expit(-epsilon))
    bits = A.toarray() != (rng.random(A.shape) < flip)
    estimate = np.triu((bits - flip) / (1 - 2 * flip), k=1)
    return estimate + estimate.T


def analyze_gauss(A: sparse.csr_array, epsilon: float, delta: float, rng: np.random.Generator) -> FloatArray:
    """The adjacency matrix with symmetric Gaussian noise on every pair (DTTZ14, Algorithm 1 without its truncation).

    An edge moves it by sqrt(2) in Frobenius norm.
    """
    scale = gaussian_scale(math.sqrt(2.0), epsilon=epsilon, delta=delta)
    noisy = A.toarray() + symmetric_noise(A.shape[0], scale, rng)
    np.fill_diagonal(noisy, 0.0)
    return noisy


def leading_part(M: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors and eigenvalues of largest absolute value of a dense symmetric matrix."""
    n = len(M)
    if _LANCZOS * rank < n:
        values, vectors = eigsh(M, rank, which="LM", v0=np.ones(n), ncv=min(n - 1, 2 * rank + 60), tol=1e-10)
    else:
        values, vectors = eigh(M)
    kept = np.argsort(-np.abs(values))[:rank]
    return vectors[:, kept], values[kept]


def edge_moves(X: FloatArray) -> float:
    """By how much an edge {i, j} moves A X: by row X_j at i and row X_i at j; at most the two longest rows."""
    return float(np.sqrt(np.sort(np.sum(X**2, axis=1))[-2:].sum()))


def row_moves(X: FloatArray) -> float:
    """By how much a neighbour of sensitivity 1 does, in the sense of the package's functions of matrices."""
    return float(np.linalg.norm(X, axis=1).max())


def noisy_power_method(
    A: sparse.csr_array, rank: int, epsilon: float, delta: float, rng: np.random.Generator, steps: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Last iterate X and last noisy product Y of A X, to the letter of HP14 (Algorithm 2, Private Power Method).

    p = 2 `rank` columns, L = `steps`, by default ceil(ln n) (the paper's sigma_k/(sigma_k - sigma_{k+1}) is private);
    noise N(0, ||X||_max**2 sigma**2) with sigma = sqrt(4 p L ln(1/delta))/epsilon.
    """
    n = A.shape[0]
    p, steps = min(2 * rank, n), steps or math.ceil(math.log(n))
    sigma = math.sqrt(2.0) * math.sqrt(4.0 * p * steps * math.log(1.0 / delta)) / epsilon
    X, _ = np.linalg.qr(rng.normal(size=(n, p)))
    for step in range(steps):
        Y = A @ X + rng.normal(scale=sigma * float(np.abs(X).max()), size=X.shape)
        if step < steps - 1:
            X, _ = np.linalg.qr(Y)
    return X, Y


def noisy_power_method_exact(
    A: Any,
    rank: int,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    steps: int | None = None,
    *,
    columns: int | None = None,
    moves: Callable[[FloatArray], float] = edge_moves,
) -> tuple[FloatArray, FloatArray]:
    """The same iteration with the least noise that is proved: exact Gaussian accounting, and noise by rows.

    `moves` says by how much a neighbour moves A X in Frobenius norm, for what is known of X: by default what an edge
    does. The products are L adaptive Gaussian mechanisms, sqrt(L) times the scale of one (Dong, Roth and Su,
    Corollary 3.3).
    `columns` is p, by default 2 `rank` as in the paper's experiments; Theorem 1.3 of DN25a allows `rank`.
    """
    n = A.shape[0]
    p, steps = min(columns or 2 * rank, n), steps or math.ceil(math.log(n))
    X, _ = np.linalg.qr(rng.normal(size=(n, p)))
    for step in range(steps):
        scale = gaussian_scale(moves(X), epsilon=epsilon, delta=delta) * math.sqrt(steps)
        Y = A @ X + rng.normal(scale=scale, size=X.shape)
        if step < steps - 1:
            X, _ = np.linalg.qr(Y)
    return X, Y


#: Numbers of products that :func:`noisy_power_method_at_best` tries.
PRODUCTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 1536)


@dataclass(frozen=True)
class AtBest:
    """Errors of the noisy power method, one a run, at the setting whose mean is the least, and that setting."""

    errors: tuple[float, ...]
    columns: int
    steps: int


def noisy_power_method_at_best(
    cases: Sequence[tuple[Any, Callable[[FloatArray], float], int]],
    rank: int,
    budget: tuple[float, float],
    *,
    moves: Callable[[FloatArray], float] = edge_moves,
    products: Sequence[int] = PRODUCTS,
) -> AtBest:
    """:func:`noisy_power_method_exact` with p in {rank, 2 rank} and the number of products that are best in hindsight.

    No private method could choose them so: it is a bound on what this method can do. A case is a matrix, what judges
    the last product, and a seed; `budget` is epsilon and delta.
    """
    found = []
    for columns in (rank, 2 * rank):
        for steps in products:
            errors = []
            for A, error, seed in cases:
                noise = np.random.default_rng(seed)
                Y = noisy_power_method_exact(A, rank, *budget, noise, steps, columns=columns, moves=moves)[1]
                errors.append(error(Y))
            found.append(AtBest(tuple(errors), columns, steps))
    return min(found, key=lambda setting: float(np.mean(setting.errors)))


def exponential_eigenvector_sine(values: FloatArray, epsilon: float) -> float:
    """Root-mean-square sine of the rank-one exponential mechanism on the sphere (Kapralov and Talwar, SODA 2013).

    Density exp(epsilon x'Ax/2): an edge moves x'Ax by 2 |x_i x_j| <= 1. Of the Bingham law with these eigenvalues the
    mean of (x'u_i)**2 is 1/(2 (s - epsilon lambda_i/2)) up to 1/n, with s such that these sum to 1.
    """
    a = epsilon * np.asarray(values) / 2
    s = brentq(lambda s: float(np.sum(0.5 / (s - a))) - 1.0, a.max() + 1e-9, a.max() + len(a))
    return math.sqrt(1.0 - 0.5 / (s - a.max()))


def greedy_exponential(
    A: sparse.csr_array, epsilon: float, rng: np.random.Generator, balanced: bool = False
) -> LabelArray:
    """Vertices in random order, each on the side that the exponential mechanism chooses. Pure epsilon-DP.

    A vertex sees the vertices before it only, so that an edge is seen by one of its ends, where it raises the
    score of one side by at most 1 and leaves the other: weights e**(epsilon score) change that choice by at most
    e**epsilon (MT07, for monotone scores). This is a relaxation of the exponential mechanism over all cuts whose
    privacy does not rest on a Markov chain having mixed.
    """
    n = A.shape[0]
    signs, room = np.zeros(n), np.array([n - n // 2, n // 2])
    uniform = rng.random(n)
    for t, i in enumerate(rng.permutation(n)):
        field = float(signs[A.indices[A.indptr[i] : A.indptr[i + 1]]].sum())
        side = int(uniform[t] < expit(epsilon * field))  # side 1 has sign -1 and cuts the neighbours of sign +1
        if balanced and room[side] == 0:
            side = 1 - side
        room[side] -= 1
        signs[i] = 1.0 - 2.0 * side
    return (signs < 0).astype(np.int8)


def greedy_exponential_labels(instance: TwoCSP, epsilon: float, rng: np.random.Generator) -> IntArray:
    """The same for a 2-CSP: a constraint is seen by its later end, where all scores that move go up by at most 1."""
    n, q, m = instance.n_variables, instance.alphabet_size, len(instance.pairs)
    # Both directions of every constraint: table[mine, theirs].
    mine, theirs = np.concatenate([instance.pairs, instance.pairs[:, ::-1]]).T
    order = np.argsort(mine, kind="stable")
    starts = np.searchsorted(mine[order], np.arange(n + 1))
    labels = np.full(n, -1)
    noise = gumbel_r.rvs(size=(n, q), random_state=rng)
    for i in rng.permutation(n):
        arcs = order[starts[i] : starts[i + 1]]
        known = arcs[labels[theirs[arcs]] >= 0]
        forward, backward = known[known < m], known[known >= m] - m
        scores = instance.tables[forward, :, labels[theirs[forward]]].sum(axis=0)
        scores = scores + instance.tables[backward, labels[theirs[backward + m]], :].sum(axis=0)
        labels[i] = int(np.argmax(epsilon * scores + noise[i]))
    return labels


def exponential_over_all_cuts(A: sparse.csr_array, epsilon: float, rng: np.random.Generator) -> LabelArray:
    """Exact exponential mechanism over the 2**(n-1) cuts of at most 20 vertices (MT07). Pure epsilon-DP.

    An edge raises the scores of some cuts by 1 and lowers none, so that e**(epsilon score) is epsilon-DP.
    """
    n = A.shape[0]
    codes = np.arange(1 << (n - 1))
    signs = 1.0 - 2.0 * ((codes[:, None] >> np.arange(n)) & 1)
    return _noisy_best(A, signs.T, epsilon, rng)


def exponential_over_candidates(
    A: sparse.csr_array, epsilon: float, rng: np.random.Generator, candidates: int = 256, balanced: bool = False
) -> LabelArray:
    """Exponential mechanism over random cuts drawn beforehand: provable for every n. Pure epsilon-DP."""
    n = A.shape[0]
    if balanced:
        signs = rng.permuted(np.tile(1.0 - 2.0 * (np.arange(n) % 2), (candidates, 1)), axis=1).T
    else:
        signs = rng.choice([-1.0, 1.0], size=(n, candidates))
    return _noisy_best(A, signs, epsilon, rng)


def _noisy_best(A: sparse.csr_array, signs: FloatArray, epsilon: float, rng: np.random.Generator) -> LabelArray:
    cuts = (A.sum() - np.sum(signs * (A @ signs), axis=0)) / 4
    chosen = int(np.argmax(epsilon * cuts + gumbel_r.rvs(size=len(cuts), random_state=rng)))
    return (signs[:, chosen] < 0).astype(np.int8)


def letter_projector(
    A: sparse.csr_array | FloatArray,
    rank: int,
    epsilon: float,
    delta: float,
    sensitivity: float,
    rng: np.random.Generator,
) -> FloatArray | None:
    """Private projector of DN25a (Algorithms 5.2, 5.5, 5.8) as printed; None where it gives up.

    A third of epsilon and delta for each of gap, log-coherence and projector, half of each delta for its good event,
    basic composition, the classical constant sqrt(2 ln(2/delta)), Gaussian noise on all n**2 entries.
    The paper's "large enough constant" is taken as small as its proof allows.
    """
    n = A.shape[0]
    eps, dlt = epsilon / 3, delta / 6
    noise = math.sqrt(2.0 * math.log(2.0 / dlt)) / eps
    tail = -float(ndtri(dlt))
    dense = A.toarray() if sparse.issparse(A) else A
    vectors, values = leading_part(dense, rank + 1)
    U = vectors[:, :rank]
    gap = float(abs(values[rank - 1]) - abs(values[rank])) + 2 * sensitivity * noise * (rng.normal() - tail)
    if gap <= 2 * sensitivity:
        return None
    moves = -math.log1p(-sensitivity / (gap - sensitivity))
    kappa = float(np.linalg.norm(U, axis=1).max()) * math.exp(moves * noise * (rng.normal() + tail))
    scale = math.sqrt(2.0) * sensitivity * min(kappa, 1.0) / (gap - sensitivity) * noise
    return leading_part(U @ U.T + symmetric_noise(n, scale, rng), rank)[0]
