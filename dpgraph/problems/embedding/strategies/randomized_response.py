"""A private normalized adjacency from randomized response: pure, and all eigenvectors at the price of one release."""

import math
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from dpgraph.denoise.empirical_bayes import enough_rows
from dpgraph.denoise.message_passing import refined_eigenvectors
from dpgraph.graph import Graph
from dpgraph.linalg.eigen import DENSE_LIMIT, all_eigenpairs
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.strategy import MOST_RANKS, EmbeddingFacts, check_facts, published
from dpgraph.problems.options import RandomizedResponse
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.answers import FlippedGraph, check_response, release_flipped_graph
from dpgraph.releases.eigenspaces.projector import check_rank
from dpgraph.releases.normalized import regularize
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING
from dpgraph.typing import FloatArray

#: regularization="auto" is this many times the average degree. The noise does not depend on tau, which is so large that
#: the leading space, scaled back, is that of the adjacency matrix itself, to four digits.
_MULTIPLE = 2.0**14
#: Residuals of eigenvectors of answers are this part of their noise, and the least relative ones that are asked for.
_ROUNDED, _EXACT = 0.02, 1e-8
#: Vectors that the eigensolver keeps.
_KEPT = 40


def _run(
    _: RandomizedResponse, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any
) -> PrivateNormalizedAdjacency:
    """Release one answer for each pair; everything else is computed from the answers.

    `rank` "auto" keeps the eigenvalues that stand out of the noise, at least one and at most eight;
    `regularization` "auto" is a multiple of the average degree of the answers. Eigenvectors are estimated by message
    passing, where there are rows enough.
    """
    flipped = release_flipped_graph(graph, call)
    n, p = graph.n_vertices, flipped.flip
    degrees = flipped.gain * (np.asarray(flipped.adjacency.sum(axis=1)).ravel() - (n - 1) * p)
    tau = regularize(facts.regularization, float(degrees.mean()), graph.max_weight, _MULTIPLE)
    root = 1 / np.sqrt(np.maximum(degrees + tau, max(tau, graph.max_weight)))
    operator = _operator(flipped, root)
    variance = flipped.gain**2 * p * (1 - p)
    size = math.sqrt(n * variance) * float(np.median(root) ** 2)  # of the noise: its spectrum ends at twice that
    # No eigenvalue is much larger than the largest degree and the edge of the noise together.
    largest = 2 * size + float(np.max(root**2 * np.maximum(degrees, 0.0)))
    count = check_rank(facts.rank, n, MOST_RANKS)[-1]
    values, vectors = _leading(operator, count, call.generator, max(_ROUNDED * size / largest, _EXACT))
    if facts.rank == "auto":
        kept = max(int(np.sum(np.abs(values) > EMBEDDING.above_noise * 2 * size)), 1)
        values, vectors = values[:kept], vectors[:, :kept]
    noisy = size > EMBEDDING.little_noise * abs(values[-1])  # else the law of rows is too coarse an estimate to help
    if noisy and enough_rows(n, values.size):
        values, vectors = _refined(operator, values, vectors, variance, root)
    else:
        values = _unbiased(values, 4 * variance * np.sum(root**2) * (root**2 @ vectors**2))
    return published(graph, call, "randomized-response", degrees, tau, vectors, np.diag(values))


def _refined(
    operator: LinearOperator, values: FloatArray, vectors: FloatArray, variance: float, root: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Better eigenvectors, and an unbiased estimate of the normalized adjacency on their space."""
    better, bias = refined_eigenvectors(operator.matmat, values, vectors, variance=variance, scales=root)
    Q, triangle = np.linalg.qr(better)
    noisy, turned = np.linalg.eigh(Q.T @ operator.matmat(Q))
    mix = np.linalg.pinv(triangle) @ turned
    biases = np.einsum("ij,ik,kj->j", mix, bias, mix)
    size = np.abs(noisy)
    values = np.sign(noisy) * np.clip(size - np.sign(noisy) * biases, EMBEDDING.left * size, size)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], Q @ turned[:, order]


def _unbiased(values: FloatArray, edges: FloatArray) -> FloatArray:
    """What the matrix without its noise has on noisy eigenvectors, where that noise alone reaches up to sqrt(edges).

    For a spike theta in noise of size s, edges = 4 s^2, the eigenvalue is theta + s^2/theta and its eigenvector has a
    squared cosine of 1 - s^2/theta^2 with the true one: the product of theta with it is sqrt(eigenvalue^2 - 4 s^2).
    """
    size: FloatArray = np.sqrt(np.maximum(values**2 - edges, (EMBEDDING.left * values) ** 2))
    return np.sign(values) * size


def _operator(flipped: FlippedGraph, root: FloatArray) -> LinearOperator:
    """R (unbiased estimate of A) R with R = diag(root): sparse, and of rank one where all answered 0."""
    n = root.size

    def multiply(x: FloatArray) -> FloatArray:
        y = root[:, None] * x.reshape(n, -1)
        product: FloatArray = root[:, None] * flipped.gain * flipped.sums(y)
        return product.reshape(x.shape)

    return LinearOperator((n, n), matvec=multiply, matmat=multiply, rmatvec=multiply, dtype=np.float64)


def _leading(
    operator: LinearOperator, count: int, generator: np.random.Generator, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of largest |eigenvalue| of a released matrix, in decreasing order.

    Of a large one, residuals are at most the relative `tolerance`: at the edge of noise eigenvalues are close to each
    other, and exact eigenvectors, which are noise, would take hundreds of products.
    """
    n = operator.shape[0]
    if n <= DENSE_LIMIT or 2 * count >= n:  # ARPACK finds fewer than n pairs
        values, vectors = all_eigenpairs(operator.matmat(np.eye(n)))
    else:
        start, kept = generator.standard_normal(n), min(max(2 * count + 1, _KEPT), n)
        values, vectors = eigsh(operator, k=count, which="LM", v0=start, tol=tolerance, ncv=kept)
    order = np.argsort(-np.abs(values))[:count]
    return values[order], vectors[:, order]


def _check(_: RandomizedResponse, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    check_response(facts.n, facts.epsilon)
    n, count = facts.n, check_rank(facts.rank, facts.n, MOST_RANKS)[-1]
    check_memory(f"{count} eigenpairs of {n} vertices", vectors=(5, n, n) if 2 * count >= n else (10, n, count + 6))


STRATEGY = Strategy(
    "randomized-response",
    RandomizedResponse,
    pure=True,
    run=_run,
    check=_check,
)
