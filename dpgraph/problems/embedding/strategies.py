"""The strategies for a private normalized adjacency: ``run(options, graph, call, facts, known)``."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from dpgraph.arguments import check_choice, check_memory, check_rank
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis, refined_eigenvectors
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.denoise.modularity import ends_of
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.linalg.eigen import DENSE_LIMIT, all_eigenpairs, canonical_signs, check_eigenpairs
from dpgraph.privacy.call import Call
from dpgraph.problems.communities import CommunityFacts, most_communities, release_with_edges
from dpgraph.problems.driver import TOTAL_SHARE, Facts, Registry, Strategy
from dpgraph.problems.options import CoherentAdjacency, Gaussian, NoisyPower, RandomizedResponse
from dpgraph.releases.answers import FlippedGraph, check_response, release_flipped_graph
from dpgraph.releases.eigenspaces.noisy_matrix import leading_eigenvectors
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, check_products, release_low_rank_adjacency, row_scales
from dpgraph.releases.eigenspaces.projector import CERTIFICATES, SLACK_SHARE, release_core, release_subspace
from dpgraph.releases.eigenspaces.spectrum import Guess, SubspaceInput
from dpgraph.releases.eigenspaces.vector import DegreeResidual, release_degree_residual, release_leading_vector
from dpgraph.releases.normalized import (
    Regularization,
    check_degrees,
    check_regularization,
    normalized_operator,
    regularize,
    release_lower_bound,
    release_noisy_matrix,
)
from dpgraph.releases.totals import release_degrees, release_total_weight
from dpgraph.results.adjacency import DENSE_LIMIT as NOISY_LIMIT
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING
from dpgraph.typing import FloatArray, Rank

#: rank="auto" of a strategy that releases a spectrum chooses among so many.
MOST_RANKS = 8


@dataclass(frozen=True)
class EmbeddingFacts(Facts):
    """What is public about a graph, and what is asked for; products of a `single` column are pure."""

    rank: Rank = "auto"
    regularization: Regularization = "auto"
    coherence: str = "degree-corrected"
    single: bool = False

    @property
    def columns(self) -> int:
        """How many columns products have."""
        return 1 if self.single else check_rank(self.rank, self.n, POWER_RANK)[-1]


def check_facts(facts: EmbeddingFacts) -> None:
    """Validate rank and regularisation."""
    check_rank(facts.rank, facts.n, MOST_RANKS)
    check_regularization(facts.regularization, facts.n, facts.max_weight)


def release_mean_degree(graph: Graph, call: Call) -> tuple[float, Call]:
    """Release the average degree for a small part of a Gaussian call; also what is left of it."""
    first = call.part(TOTAL_SHARE)
    return 2 * release_total_weight(graph, first).value / graph.n_vertices, call.without(first)


def published(  # noqa: PLR0913
    graph: Graph,
    call: Call,
    name: str,
    degrees: FloatArray,
    tau: float,
    basis: FloatArray,
    core: FloatArray,
    *,
    lower: float | None = None,
    spectrum: FloatArray | None = None,
) -> PrivateNormalizedAdjacency:
    """What a strategy released; the `core` is diagonal unless a `spectrum` was released beside it."""
    return PrivateNormalizedAdjacency(
        nodes=graph.nodes,
        degrees=degrees,
        regularization=tau,
        lower=max(tau, graph.max_weight) if lower is None else lower,
        basis=canonical_signs(basis) if spectrum is None else basis,
        core=core,
        spectrum=np.abs(np.diag(core)) if spectrum is None else spectrum,
        mechanism=name,
        max_weight=graph.max_weight,
        privacy=call.report(),
    )


# --- the coherence-aware projector, and a small core (DN25a, Algorithms 5.2 to 6.2) -----------------------------------


def check_coherence(options: CoherentAdjacency, n: int, max_weight: float) -> None:
    """Validate what :func:`release_normalized_adjacency` reads of the options."""
    check_regularization(options.regularization, n, max_weight)
    check_choice("coherence", options.coherence, ("degree-corrected", "rank"))
    check_choice("certificate", options.certificate, CERTIFICATES)
    check_choice("low_degrees", options.low_degrees, ("floor", "halt"))
    check_eigenpairs(n, min(check_rank(options.rank, n, options.max_rank)[-1] + 1, n))


def release_normalized_adjacency(
    graph: Graph, options: CoherentAdjacency, mean_degree: float, call: Call, *, least_rank: int = 1
) -> PrivateNormalizedAdjacency:
    """Release a private normalized adjacency, given a private average degree, for a Gaussian part of a budget.

    ``options.rank = "auto"`` chooses among `least_rank`, ..., ``options.max_rank``. Rows are denoised only if
    ``options.denoise`` is true.
    """
    call = call.at_mu(call.mu)  # all shares below are shares of this part
    n, w = graph.n_vertices, graph.max_weight
    tau, lower, left = release_lower_bound(graph, options.regularization, mean_degree, call)
    for_degrees = for_core = call.part(EMBEDDING.side_share)
    degrees, std = release_degrees(graph, for_degrees)
    if options.low_degrees == "halt":
        check_degrees(degrees + tau, call)
    neighbours = EdgeNeighbours(w, lower, tau, graph.degrees(), options.coherence == "degree-corrected")
    operator = normalized_operator(graph, graph.degrees() + tau)
    flat = max(mean_degree, 0.0) + tau if neighbours.degree_corrected else 1.0
    guess = Guess(
        lambda r: math.sqrt(r / (n * flat)),  # as if all rows had the same norm
        max(float(shrunken_degrees(degrees, mean_degree, std, w).max()), w),
    )
    ranks = check_rank(options.rank, n, options.max_rank, least=least_rank)
    private = SubspaceInput(operator, neighbours, ranks, guess)
    released = release_subspace(private, options.certificate, left.without(for_degrees).without(for_core))
    basis = released.basis
    if options.denoise is True and enough_rows(*basis.shape):
        basis = posterior_basis(basis, released.scale**2 / 2 * np.eye(basis.shape[1]))
    core = release_core(operator, basis, neighbours, for_core)
    lower = 0.0 if options.low_degrees == "halt" else lower
    return published(graph, call, "coherence", degrees, tau, basis, core, lower=lower, spectrum=released.spectrum)


_DEFAULTS = CoherentAdjacency()


def _given(options: CoherentAdjacency, facts: EmbeddingFacts) -> CoherentAdjacency:
    """The options with what was given beside them; what is given twice is refused."""
    for name in ("rank", "regularization", "coherence"):
        value, default = getattr(facts, name), getattr(_DEFAULTS, name)
        if not (isinstance(value, str) and value == default):
            if getattr(options, name) != default:
                raise InvalidParameterError(f"{name} is given twice, as an argument and in {options!r}; give it once")
            options = replace(options, **{name: value})
    return options


def _by_projector(
    options: CoherentAdjacency, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any
) -> PrivateNormalizedAdjacency:
    mean, left = release_mean_degree(graph, call)
    options = replace(_given(options, facts), denoise=options.denoise is not False)  # "auto" does: rows are published
    return release_normalized_adjacency(graph, options, mean, left)


# --- symmetric Gaussian noise on all entries (DTTZ14) -----------------------------------------------------------------


def check_gaussian(n: int) -> None:
    """Refuse a graph of too many vertices."""
    if n > NOISY_LIMIT:
        raise InvalidParameterError(
            f"mechanism='gaussian' makes all n**2 entries noisy and is limited to n <= {NOISY_LIMIT}; got n = {n}. "
            "Use mechanism='coherence'"
        )
    check_memory(f"noise on all entries for {n} vertices", copies=(18, n, n))


def _by_noisy_entries(
    _: Gaussian, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any
) -> PrivateNormalizedAdjacency:
    mean, left = release_mean_degree(graph, call)
    noisy = release_noisy_matrix(graph, facts.regularization, mean, left)
    ranks = check_rank(facts.rank, facts.n, MOST_RANKS)
    basis, values, spectrum, _sine = leading_eigenvectors(noisy.matrix, noisy.std, ranks)
    degrees, core = noisy.degrees, np.diag(values)
    return published(graph, call, "gaussian", degrees, noisy.tau, basis, core, lower=noisy.lower, spectrum=spectrum)


# --- averaged products with public iterates (HP14): Gaussian for several columns, pure for one ------------------------


# Both normalise by released degrees: what an edge then moves is public, and no bound on min c is needed.

#: Products get most of epsilon, and need 2**-30 (:func:`~dpgraph.privacy.grid.query_grid`).
_LEAST_EPSILON = 2.0**-29


class Start(NamedTuple):
    """Released average degree, and whether the degrees are far from the leading eigenvector."""

    mean_degree: float
    residual: DegreeResidual


def release_start(graph: Graph, call: Call) -> tuple[Start, Call]:
    """Release what the products of a single vector start from; also what that leaves of the call."""
    total = call.at_epsilon(TOTAL_SHARE * call.epsilon)
    mean = 2 * release_total_weight(graph, total).value / graph.n_vertices
    residual = release_degree_residual(graph, mean, call)
    return Start(mean, residual), call.rest()


def release_vector(
    regularization: Regularization, graph: Graph, start: Start, call: Call
) -> PrivateNormalizedAdjacency:
    """Release the leading eigenvector for a pure part of a budget.

    What is released is an eigenvector of the normalized matrix, which is one of the adjacency matrix as far as tau is
    large: it is four times as large as for several columns.
    """
    tau = regularize(regularization, start.mean_degree, graph.max_weight, 4 * EMBEDDING.regularization)
    released = release_leading_vector(graph, start.residual, call, regularization=tau)
    return published(graph, call, "noisy-power", released.degrees, tau, released.basis, released.core)


def _check_products(_: NoisyPower, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    mu = math.inf if facts.single else facts.mu  # a single vector has its own number of products
    check_products(facts.n, facts.columns, mu)
    if facts.single and facts.epsilon < _LEAST_EPSILON:
        raise InvalidParameterError(
            f"products of a single vector need epsilon >= {_LEAST_EPSILON:.2g}: below, their noise cannot be drawn "
            f"exactly; got {facts.epsilon:g}"
        )


def _by_products(
    _: NoisyPower, graph: Graph, call: Call, facts: EmbeddingFacts, known: Start | None
) -> PrivateNormalizedAdjacency:
    if facts.single:
        start, rest = (known, call) if known else release_start(graph, call)
        return release_vector(facts.regularization, graph, start, rest)
    mean, left = release_mean_degree(graph, call)
    tau = regularize(facts.regularization, mean, graph.max_weight)
    released = release_low_rank_adjacency(graph, facts.columns, left, regularization=tau, denoise=True)
    return published(graph, call, "noisy-power", released.degrees, tau, released.basis, released.core)


# --- randomised response: pure, and all eigenvectors at the price of one release --------------------------------------


#: regularization="auto" is this many times the average degree. The noise does not depend on tau, which is so large that
#: the leading space, scaled back, is that of the adjacency matrix itself, to four digits.
_MULTIPLE = 2.0**14
#: Residuals of eigenvectors of answers are this part of their noise, and the least relative ones that are asked for.
_ROUNDED, _EXACT, _COARSE = 0.02, 1e-8, 0.03
#: Eigenvalues that are all noise keep this part of themselves, for their order.
_LEFT = 0.01
#: Vectors that the eigensolver keeps.
_KEPT = 40


def _by_answers(
    _: RandomizedResponse, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any
) -> PrivateNormalizedAdjacency:
    """Release one answer for each pair; everything else is computed from the answers.

    `rank` "auto" keeps the eigenvalues that stand out of the noise and of a graph of independent edges, at least one
    and at most eight; `regularization` "auto" is a multiple of the average degree of the answers. Eigenvectors are
    estimated by message passing, where there are rows enough.
    """
    flipped = release_flipped_graph(graph, call)
    n, p = graph.n_vertices, flipped.flip
    degrees = flipped.gain * flipped.sums(np.ones((n, 1)))[:, 0]
    tau = regularize(facts.regularization, float(degrees.mean()), graph.max_weight, _MULTIPLE)
    root = 1 / np.sqrt(np.maximum(degrees + tau, max(tau, graph.max_weight)))
    operator = _operator(flipped, root)
    variance = flipped.gain**2 * p * (1 - p)
    size = math.sqrt(n * variance) * float(np.median(root) ** 2)  # of the noise: its spectrum ends at twice that
    # No eigenvalue is much larger than the largest degree and the edge of the noise together.
    largest = 2 * size + float(np.max(root**2 * np.maximum(degrees, 0.0)))
    count = check_rank(facts.rank, n, MOST_RANKS)[-1]
    edge = 2 * size
    values, vectors = _leading(operator, count, call.generator, edge, max(_ROUNDED * size / largest, _EXACT))
    if facts.rank == "auto":
        # The eigenvalues of noise and of a graph without structure are seldom beyond that (C. Tracy, H. Widom 1996).
        density = min(max(float(degrees.mean()) / (n * graph.max_weight), 0.0), 1.0)
        bulk = math.sqrt(1 + graph.max_weight**2 * density * (1 - density) / variance) * edge
        kept = max(int(np.sum(np.abs(values) > (1 + 2 * n ** (-2 / 3)) * bulk)), 1)
        values, vectors = values[:kept], vectors[:, :kept]
    # Vectors that are all noise stay so.
    if abs(values[0]) > edge and enough_rows(n, values.size):
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
    values = np.sign(noisy) * np.clip(size - np.sign(noisy) * biases, _LEFT * size, size)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], Q @ turned[:, order]


def _unbiased(values: FloatArray, edges: FloatArray) -> FloatArray:
    """What the matrix without its noise has on noisy eigenvectors, where that noise alone reaches up to sqrt(edges).

    For a spike theta in noise of size s, edges = 4 s^2, the eigenvalue is theta + s^2/theta and its eigenvector has a
    squared cosine of 1 - s^2/theta^2 with the true one: the product of theta with it is sqrt(eigenvalue^2 - 4 s^2).
    """
    size: FloatArray = np.sqrt(np.maximum(values**2 - edges, (_LEFT * values) ** 2))
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
    operator: LinearOperator, count: int, generator: np.random.Generator, edge: float, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of largest |eigenvalue| of a released matrix, in decreasing order.

    Of a large one, residuals are at most the relative `tolerance`: at the `edge` of noise eigenvalues are close to each
    other, and exact eigenvectors, which are noise, would take hundreds of products. Where no eigenvalue is beyond it, a
    few products have shown that.
    """
    n = operator.shape[0]
    if n <= DENSE_LIMIT or 2 * count >= n:  # ARPACK finds fewer than n pairs
        values, vectors = all_eigenpairs(operator.matmat(np.eye(n)))
    else:
        start = generator.standard_normal(n)
        values, vectors = eigsh(operator, k=count, which="LM", v0=start, tol=_COARSE)
        if np.abs(values).max() > edge:
            kept = min(max(2 * count + 1, _KEPT), n)
            values, vectors = eigsh(operator, k=count, which="LM", v0=vectors @ values, tol=tolerance, ncv=kept)
    order = np.argsort(-np.abs(values))[:count]
    return values[order], vectors[:, order]


def _check_answers(_: RandomizedResponse, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    check_response(facts.n, facts.epsilon)
    n, count = facts.n, check_rank(facts.rank, facts.n, MOST_RANKS)[-1]
    check_memory(f"{count} eigenpairs of {n} vertices", vectors=(5, n, n) if 2 * count >= n else (10, n, count + 6))


def _check_noisy_entries(_: Gaussian, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    check_gaussian(facts.n)


# --- communities: pure, and what clusters of the rows are looked for in -----------------------------------------------


@dataclass(frozen=True)
class CommunityBlocks:
    """Eigenvectors of the block model that private communities tell: where rows are to be clustered. Pure."""


def _check_communities(_: CommunityBlocks, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    most_communities("auto", facts.n)


def _by_communities(
    _: CommunityBlocks, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any
) -> PrivateNormalizedAdjacency:
    """Release communities, and take the eigenvectors of C^{-1/2} M C^{-1/2}, M_ij = s_i s_j W_ab.

    W_ab is the released weight between the communities a and b of i and j (twice that inside, where a = b), and s_i the
    part of i in the degrees of its community: M has the degrees d_i = s_i sum_b W_ab. tau "auto" is 0: the rows of a
    community point in one direction, and their lengths are the roots of the degrees. If there are fewer communities
    than columns, the others have the eigenvalue 0.
    """
    of_total, of_communities = call.split(TOTAL_SHARE, 1 - TOTAL_SHARE)
    n, w = graph.n_vertices, graph.max_weight
    edges = release_total_weight(graph, of_total).value / w
    found, _name = release_with_edges(graph, of_communities, CommunityFacts(n, w, of_communities.epsilon), edges)
    between, labels = ends_of(np.maximum(found.weights.symmetric, 0.0)), found.labels
    shares = found.degrees / np.bincount(labels, weights=found.degrees)[labels]
    degrees = shares * between.sum(axis=1)[labels]
    tau = 0.0 if isinstance(facts.regularization, str) else float(facts.regularization)
    rows = shares * row_scales(degrees, tau, w)
    lengths = np.sqrt(np.bincount(labels, weights=rows**2))
    values, vectors = np.linalg.eigh(lengths[:, None] * between * lengths)
    columns = check_rank(facts.rank, n, MOST_RANKS)[-1]
    order = np.argsort(-np.abs(values))[:columns]
    basis, core = (rows / lengths[labels])[:, None] * vectors[labels][:, order], values[order]
    if not isinstance(facts.rank, str) and order.size < columns:
        more = call.generator.standard_normal((n, columns - order.size))
        basis, core = np.linalg.qr(np.hstack([basis, more]))[0], np.pad(core, (0, columns - order.size))
    return published(graph, call, "communities", degrees, tau, basis, np.diag(core))


EMBEDDINGS = Registry(
    "a normalized adjacency, and of similarities",
    Strategy(
        "coherence",
        CoherentAdjacency,
        pure=False,
        run=_by_projector,
        check=lambda options, facts: check_coherence(_given(options, facts), facts.n, facts.max_weight),
        slack_share=lambda _: SLACK_SHARE,
    ),
    Strategy(
        "gaussian",
        Gaussian,
        pure=False,
        run=_by_noisy_entries,
        check=_check_noisy_entries,
        slack_share=lambda facts: 0.0 if facts.regularization == "auto" else SLACK_SHARE,
    ),
    Strategy(
        "noisy-power",
        NoisyPower,
        pure=False,
        also_pure=lambda facts: facts.single,
        run=_by_products,
        check=_check_products,
    ),
    Strategy("randomized-response", RandomizedResponse, pure=True, run=_by_answers, check=_check_answers),
    Strategy("communities", CommunityBlocks, pure=True, run=_by_communities, check=_check_communities),
)
