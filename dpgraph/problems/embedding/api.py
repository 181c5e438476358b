"""Private normalized adjacency of a graph, by the coherence-aware projector or by noise on the whole matrix."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from dpgraph.arguments import check_choice
from dpgraph.bounds import sensitivity
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis
from dpgraph.exceptions import MechanismHalted
from dpgraph.graph import GraphOperator, open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.call import Call, Measurement, Released, open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.embedding.from_answers import release_answered_adjacency
from dpgraph.problems.embedding.from_vector import low_rank_result, release_vector_adjacency
from dpgraph.problems.embedding.options import DEFAULT_MAX_RANK, MECHANISMS, AdjacencyOptions
from dpgraph.problems.embedding.rule import choose_mechanism, release_choice
from dpgraph.releases.answers import check_response
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.eigenspaces.certificates import Guess, SubspaceInput
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.projector import (
    MINIMUM_DEGREE_SLACK,
    Certificate,
    CoreNoise,
    Rank,
    check_rank,
    release_core,
    release_subspace,
)
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.sweeps.core import shrunken_degrees
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING

__all__ = [
    "normalized_operator",
    "private_normalized_adjacency",
    "release_lower_bound",
    "release_noisy_matrix",
    "release_normalized_adjacency",
]

FloatArray = NDArray[np.float64]


# Shares of mu**2. The total weight has sensitivity w and costs next to nothing.
TOTAL_SHARE = 0.002


def release_normalized_adjacency(
    graph: GraphOperator, options: AdjacencyOptions, mean_degree: float, call: Call
) -> PrivateNormalizedAdjacency:
    """Release a private normalized adjacency, given a private average degree, for a Gaussian part of a budget."""
    call = call.at_mu(call.mu)  # all shares below are shares of this part
    if options.mechanism == "noisy-power":
        return _by_noisy_power(graph, options, mean_degree, call)
    tau, lower, left = release_lower_bound(graph, options, mean_degree, call)
    for_degrees = call.part(EMBEDDING.degree_share)
    degrees, std = release_degrees(graph, for_degrees)
    left = left.without(for_degrees)
    scale = graph.degrees() + tau
    neighbours = EdgeNeighbours(graph.max_weight, lower, tau, graph.degrees(), options.coherence == "degree-corrected")
    operator = normalized_operator(graph, scale)
    if options.mechanism == "gaussian":
        matrix, std = _release_matrix(operator, neighbours, left)
        basis, core, spectrum = _leading_part(matrix, std, options)
    else:
        for_core = call.part(EMBEDDING.core_share)
        flat = max(mean_degree, 0.0) + tau if neighbours.degree_corrected else 1.0
        guess = Guess(
            lambda r: EMBEDDING.typical_coherence * math.sqrt(r / (graph.n_vertices * flat)),
            max(float(shrunken_degrees(degrees, mean_degree, std, graph.max_weight).max()), graph.max_weight),
        )
        private = SubspaceInput(operator, neighbours, options.ranks, guess)
        released = release_subspace(private, options.certificate, left.without(for_core))
        basis, spectrum = released.basis, released.spectrum
        if options.denoise and enough_rows(*basis.shape):
            basis = posterior_basis(basis, released.scale**2 / 2 * np.eye(basis.shape[1]))
        core = release_core(operator, basis, neighbours, for_core, law=options.core_noise)
    return PrivateNormalizedAdjacency(
        nodes=graph.nodes,
        degrees=degrees,
        regularization=tau,
        lower=lower,
        basis=basis,
        core=core,
        spectrum=spectrum,
        mechanism=options.mechanism,
        max_weight=graph.max_weight,
        privacy=call.report(),
    )


def _by_noisy_power(
    graph: GraphOperator, options: AdjacencyOptions, mean_degree: float, call: Call
) -> PrivateNormalizedAdjacency:
    """Normalise by released degrees: what an edge then moves is public, and no bound on min c is needed."""
    tau = options.tau(mean_degree, graph.max_weight)
    rank = min(POWER_RANK, options.largest) if options.rank == "auto" else options.largest
    released = release_low_rank_adjacency(graph, rank, call, regularization=tau, denoise=options.denoise)
    return low_rank_result(graph, options, released, tau, call)


def release_noisy_matrix(
    graph: GraphOperator, options: AdjacencyOptions, mean_degree: float, call: Call
) -> tuple[FloatArray, FloatArray]:
    """Release (c, Y): noisy c = d + tau floored at its bound, and A_tau plus noise on all entries, shape (n, n)."""
    call = call.at_mu(call.mu)  # all shares below are shares of this part
    tau, lower, left = release_lower_bound(graph, options, mean_degree, call)
    for_degrees = call.part(EMBEDDING.degree_share)
    degrees = release_degrees(graph, for_degrees).value
    neighbours = EdgeNeighbours(graph.max_weight, lower, tau, graph.degrees())
    operator = normalized_operator(graph, graph.degrees() + tau)
    matrix, _ = _release_matrix(operator, neighbours, left.without(for_degrees))
    return np.maximum(degrees + tau, lower), matrix


def release_lower_bound(
    graph: GraphOperator, options: AdjacencyOptions, mean: float, call: Call
) -> tuple[float, float, Call]:
    """tau, the bound m on min_i c_i, and what is left of the call.

    With an automatic tau, m = tau needs no test and cannot fail. With a tau given by the caller,
    m = max(tau, L + tau - w) with L = noisy minimum degree - slack (so that m holds for the neighbour too, whose
    minimum degree may be smaller by w); halts when that does not reach w.
    """
    w = graph.max_weight
    tau = options.tau(mean, w)
    if options.regularization == "auto":
        return tau, tau, call
    part, exact = call.part(EMBEDDING.minimum_share), np.array([graph.degrees().min()])
    noisy = part.release(Measurement("minimum degree", exact, l2=sensitivity.minimum_degree(w), few=True))
    z = call.good_event("minimum degree lower bound", MINIMUM_DEGREE_SLACK)
    lower = max(tau, noisy.number - z * noisy.std + tau - w)
    if lower < w:
        raise MechanismHalted(
            f"regularization={tau:g} leaves no private lower bound of at least max_weight on the smallest regularised "
            "degree. Use regularization='auto' or a number of the order of the average degree, or raise epsilon. "
            "The budget of this call is spent",
            stage="minimum degree",
            privacy=call.report(),
        )
    return tau, lower, call.without(part)


def normalized_operator(graph: GraphOperator, scale: FloatArray) -> LinearOperator:
    """C^{-1/2} A C^{-1/2} with C = diag(scale), private, as a LinearOperator."""
    n = graph.n_vertices
    root = 1 / np.sqrt(scale)

    def multiply(x: FloatArray) -> FloatArray:
        return root * graph.multiply(root * x) if x.ndim == 1 else root[:, None] * graph.multiply(root[:, None] * x)

    return LinearOperator(
        (n, n), matvec=multiply, rmatvec=multiply, matmat=multiply, rmatmat=multiply, dtype=np.float64
    )


def _release_matrix(operator: LinearOperator, neighbours: EdgeNeighbours, call: Call) -> Released:
    """Symmetric Gaussian noise on all entries (DTTZ14)."""
    n = operator.shape[0]
    # Each entry is a weight times two roots, of relative error 6 u, and the matrix has norm at most 1.
    error = 6 * float(np.finfo(np.float64).eps) * math.sqrt(n)
    exact = operator.matmat(np.eye(n))
    return call.release(
        Measurement("normalized adjacency", exact, l2=neighbours.frobenius, symmetric=True, error=error)
    )


def _leading_part(
    matrix: FloatArray, std: float, options: AdjacencyOptions
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Basis, core and spectrum of the leading eigenpairs of a released matrix (post-processing)."""
    values, vectors = linalg.eigh(matrix)
    order = np.argsort(-np.abs(values))
    kept = options.largest
    if options.rank == "auto":
        # The noise alone has spectral norm about sqrt(2 n) std: keep what stands out of it.
        edge = math.sqrt(2 * len(matrix)) * std
        kept = max(1, int(np.sum(np.abs(values[order[:kept]]) > edge)))
    chosen = order[:kept]
    spectrum = np.abs(values[order[: options.largest + 1]])
    return canonical_signs(vectors[:, chosen]), np.diag(values[chosen]), spectrum


def private_normalized_adjacency(
    G: Any,
    *,
    epsilon: float,
    delta: float,
    rank: Rank = "auto",
    max_rank: int = DEFAULT_MAX_RANK,
    regularization: float | Literal["auto"] = "auto",
    coherence: Literal["degree-corrected", "rank"] = "degree-corrected",
    mechanism: Literal["auto", "coherence", "gaussian", "noisy-power", "randomized-response"] = "coherence",
    core_noise: CoreNoise = "gaussian",
    certificate: Certificate = "stability",
    denoise: bool = True,
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateNormalizedAdjacency:
    r"""Release a low-rank approximation of the normalized adjacency matrix with edge-level differential privacy.

    The normalized adjacency is ``C^{-1/2} A C^{-1/2}`` with ``C = diag(degrees) + tau I``. Its leading eigenspace is
    released by the coherence-aware projector or by the noisy power method, then the small core on that space; no n x n
    array is formed.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon, delta : float
        epsilon > 0, 0 < delta < 1.
    rank : int or "auto"
        Number of eigenvectors, 1 <= rank <= n. "auto" chooses among 1, ..., `max_rank` from the private spectrum.
    max_rank : int, default 8
        Largest rank considered by "auto".
    regularization : float or "auto"
        tau >= 0, public, at most 1e9 n `max_weight`. "auto" is 16 times the private average degree: then no
        degree test is needed; 2**14 times with "randomized-response", which needs none. A number spends a tenth of the
        budget on a private minimum degree.
    coherence : {"degree-corrected", "rank"}
        The coherence that the noise is scaled by: max ||U_i||/sqrt(c_i), or the papers' max ||U_i||.
    mechanism : {"auto", "coherence", "gaussian", "noisy-power", "randomized-response"}
        "auto" is one of the next two, by n, `rank`, epsilon and delta, and by what degrees say privately where these do
        not decide (:mod:`dpgraph.problems.embedding.rule`); it never halts, and the result says which one ran.
        "noisy-power":
        averaged products with public iterates, normalised by released degrees; `rank` "auto" is 2. With `rank` 1 the
        noise of all products is drawn together and the call is pure (delta is not spent).
        "randomized-response" answers for every pair with pure privacy (delta is not spent): the most accurate for a
        large epsilon, and for small graphs. "gaussian" adds noise to all entries (n <= 5000) and never halts.
    core_noise : {"gaussian", "wishart-difference"}
        Noise of the r x r core on the released basis (`mechanism` "coherence"). "wishart-difference" releases it with
        pure differential privacy, whose epsilon is in its ledger line: given the basis, no failure probability is
        left. At small epsilon the noise is 1.25 sqrt(r + 1) times larger.
    certificate : {"stability", "gap-and-coherence"}
        How the motion of the eigenspace is bounded (`mechanism` "coherence"): one test of the number of edges until it
        becomes unstable (:mod:`dpgraph.bounds.stability`), or the papers' tests of the gap and of the coherence,
        which need about twice the gap.
    denoise : bool, default True
        Take noise out of the released rows by what they say about their own law (empirical Bayes, message passing;
        post-processing), where n >= 30 ranks. False leaves the rows as they are drawn, as in the papers.
    weight, max_weight, symmetrize
        See :func:`dpgraph.graph.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.

    Returns
    -------
    PrivateNormalizedAdjacency

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input.
    BudgetExceededError
        The accountant refuses.
    MechanismHalted
        No spectral gap (stage ``"gap"``) or minimum degree (stage ``"minimum degree"``) could be certified privately.
    NotConvergedError
        The eigensolver failed.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`,
    (epsilon, 0)-DP with "randomized-response", and with "noisy-power" and "auto" at rank 1; the sensitivity bounds are
    those of :mod:`dpgraph.bounds.sensitivity`. All other releases compose in Gaussian DP; with "coherence", or a
    given `regularization` and "gaussian", 30 % of delta
    pays for the good events.

    References
    ----------
    DN25a: T. d'Orsi, G. Novikov, "Tight differentially private PCA via matrix coherence", arXiv:2510.26679, Theorem 1.9
    and Algorithms 5.2-6.2; M. Hardt, E. Price, "The noisy power method", NIPS 2014 (``"noisy-power"``); DN25b,
    section 4 (``core_noise``); C. Dwork, K. Talwar, A. Thakurta, L. Zhang, "Analyze
    Gauss", STOC 2014 (``"gaussian"``).

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_cut(400, 120, -0.8, rng=0)
    >>> private = dpgraph.private_normalized_adjacency(G, epsilon=4.0, delta=1e-6, rank=2, rng=0)
    >>> private.basis.shape, private.core.shape
    ((400, 2), (2, 2))
    """
    noise = noise_source(rng)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    n, epsilon, delta = source.n_vertices, check_epsilon(epsilon), check_delta(delta)
    check_choice("mechanism", mechanism, ("auto", *MECHANISMS))
    chosen: str = mechanism
    columns = min(POWER_RANK, n) if rank == "auto" else check_rank(rank, n, max_rank)[-1]
    if mechanism == "auto":
        chosen = choose_mechanism(n, columns, epsilon, delta, weighted=source.weighted)
    undecided, answers = chosen in ("by degrees", "by residual"), chosen == "randomized-response"
    vector = (undecided or chosen == "noisy-power") and rank == 1
    pure = answers or vector
    options = AdjacencyOptions.check(
        n,
        max_weight=source.max_weight,
        rank=rank,
        max_rank=max_rank,
        regularization=regularization,
        coherence=coherence,
        mechanism="noisy-power" if undecided else chosen,
        core_noise=core_noise,
        certificate=certificate,
        denoise=denoise,
    )
    if answers:
        check_response(n, epsilon)
    call = open_call(
        epsilon=epsilon,
        delta=0.0 if pure else delta,
        accountant=accountant,
        relation=Edge(),
        noise=noise,
        slack=0.0 if pure else options.slack(delta),
        staged=chosen == "by degrees",
    )
    graph = source.read()
    rest = call
    if chosen == "by degrees":
        answers = release_choice(graph, columns, call)
        rest = call.decide(pure=answers or vector)
    private: PrivateNormalizedAdjacency
    if answers:
        private = release_answered_adjacency(graph, options, rest)
    elif vector:
        private = release_vector_adjacency(
            graph, options, rest, are_even=chosen == "by degrees", may_answer=chosen == "by residual"
        )
    else:
        first = rest.part(TOTAL_SHARE)
        mean = 2 * release_total_weight(graph, first).value / n
        private = release_normalized_adjacency(graph, options, mean, rest.without(first))
    return replace(private, privacy=call.report())
