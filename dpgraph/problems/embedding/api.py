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
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.embedding.from_answers import release_answered_adjacency
from dpgraph.problems.embedding.from_vector import low_rank_result, release_vector_adjacency
from dpgraph.problems.embedding.options import DEFAULT_MAX_RANK, MECHANISMS, AdjacencyOptions
from dpgraph.problems.embedding.rule import choose_mechanism, release_choice
from dpgraph.releases.answers import check_response
from dpgraph.releases.arrays import release_array
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.eigenspaces.certificates import Guess
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

__all__ = [
    "normalized_operator",
    "private_normalized_adjacency",
    "release_lower_bound",
    "release_noisy_matrix",
    "release_normalized_adjacency",
]

FloatArray = NDArray[np.float64]

#: Guess of the coherence, times that of rows of equal norm.
_TYPICAL_COHERENCE = 1.35

# Shares of mu**2. The total weight has sensitivity w and costs next to nothing.
TOTAL_SHARE = 0.002
_DEGREE_SHARE = 0.02
_MINIMUM_SHARE = 0.1
_CORE_SHARE = 0.02


def release_normalized_adjacency(
    graph: GraphOperator,
    options: AdjacencyOptions,
    *,
    mean_degree: float,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
) -> PrivateNormalizedAdjacency:
    """Release a private normalized adjacency with GDP parameter `mu`, given a private average degree."""
    if options.mechanism == "noisy-power":
        return _by_noisy_power(graph, options, mean_degree=mean_degree, ledger=ledger, mu=mu, noise=noise)
    tau, lower, left = release_lower_bound(graph, options, mean_degree, ledger, mu, noise)
    mu_degrees = mu * math.sqrt(_DEGREE_SHARE)
    degrees, std = release_degrees(graph, Call(ledger, noise, mu=mu_degrees))
    left = math.sqrt(left**2 - mu_degrees**2)
    scale = graph.degrees() + tau
    neighbours = EdgeNeighbours(graph.max_weight, lower, tau, graph.degrees(), options.coherence == "degree-corrected")
    operator = normalized_operator(graph, scale)
    if options.mechanism == "gaussian":
        matrix, std = _release_matrix(operator, neighbours, ledger, left, noise)
        basis, core, spectrum = _leading_part(matrix, std, options)
    else:
        mu_core = mu * math.sqrt(_CORE_SHARE)
        flat = max(mean_degree, 0.0) + tau if neighbours.degree_corrected else 1.0
        released = release_subspace(
            operator,
            neighbours,
            options.rank,
            largest=options.largest,
            least=options.least_rank,
            guess=Guess(
                lambda r: _TYPICAL_COHERENCE * math.sqrt(r / (graph.n_vertices * flat)),
                max(float(shrunken_degrees(degrees, mean_degree, std, graph.max_weight).max()), graph.max_weight),
            ),
            certificate=options.certificate,
            ledger=ledger,
            mu=math.sqrt(left**2 - mu_core**2),
            noise=noise,
        )
        basis, spectrum = released.basis, released.spectrum
        if options.denoise and enough_rows(*basis.shape):
            basis = posterior_basis(basis, ledger.entries[-1].scale ** 2 / 2 * np.eye(basis.shape[1]))
        core = release_core(operator, basis, neighbours, ledger=ledger, mu=mu_core, noise=noise, law=options.core_noise)
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
        privacy=ledger.report(),
    )


def _by_noisy_power(
    graph: GraphOperator,
    options: AdjacencyOptions,
    *,
    mean_degree: float,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
) -> PrivateNormalizedAdjacency:
    """Normalise by released degrees: what an edge then moves is public, and no bound on min c is needed."""
    tau = options.tau(mean_degree, graph.max_weight)
    rank = min(POWER_RANK, options.largest) if options.rank == "auto" else options.largest
    private: Any = {"ledger": ledger, "mu": mu, "noise": noise, "regularization": tau, "denoise": options.denoise}
    return low_rank_result(graph, options, release_low_rank_adjacency(graph, rank, **private), tau, ledger)


def release_noisy_matrix(
    graph: GraphOperator,
    options: AdjacencyOptions,
    *,
    mean_degree: float,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
) -> tuple[FloatArray, FloatArray]:
    """Release (c, Y): noisy c = d + tau floored at its bound, and A_tau plus noise on all entries, shape (n, n)."""
    tau, lower, left = release_lower_bound(graph, options, mean_degree, ledger, mu, noise)
    mu_degrees = mu * math.sqrt(_DEGREE_SHARE)
    degrees = release_degrees(graph, Call(ledger, noise, mu=mu_degrees)).value
    scale = graph.degrees() + tau
    neighbours = EdgeNeighbours(graph.max_weight, lower, tau, graph.degrees())
    left = math.sqrt(left**2 - mu_degrees**2)
    matrix, _ = _release_matrix(normalized_operator(graph, scale), neighbours, ledger, left, noise)
    return np.maximum(degrees + tau, lower), matrix


def release_lower_bound(
    graph: GraphOperator, options: AdjacencyOptions, mean: float, ledger: Ledger, mu: float, noise: NoiseSource
) -> tuple[float, float, float]:
    """tau, the bound m on min_i c_i, and the GDP parameter left.

    With an automatic tau, m = tau needs no test and cannot fail. With a tau given by the caller,
    m = max(tau, L + tau - w) with L = noisy minimum degree - slack (mathematics.md, section 1); halts when that does
    not reach w.
    """
    w = graph.max_weight
    tau = options.tau(mean, w)
    if options.regularization == "auto":
        return tau, tau, mu
    mu_minimum = mu * math.sqrt(_MINIMUM_SHARE)
    bound = sensitivity.minimum_degree(w)
    grid = ledger.gaussian_on_grid("minimum degree", sensitivity=bound, mu=mu_minimum, count=1)
    z = ledger.good_event("minimum degree lower bound", ledger.slack * MINIMUM_DEGREE_SLACK)
    noisy = noise.scalars(np.array([graph.degrees().min()]), grid.unit, grid.scale)[0]
    lower = max(tau, float(noisy) - z * grid.scale + tau - w)
    if lower < w:
        raise MechanismHalted(
            f"regularization={tau:g} leaves no private lower bound of at least max_weight on the smallest regularised "
            "degree. Use regularization='auto' or a number of the order of the average degree, or raise epsilon. "
            "The budget of this call is spent",
            stage="minimum degree",
            privacy=ledger.report(),
        )
    return tau, lower, math.sqrt(mu**2 - mu_minimum**2)


def normalized_operator(graph: GraphOperator, scale: FloatArray) -> LinearOperator:
    """C^{-1/2} A C^{-1/2} with C = diag(scale), private, as a LinearOperator."""
    n = graph.n_vertices
    root = 1 / np.sqrt(scale)

    def multiply(x: FloatArray) -> FloatArray:
        return root * graph.multiply(root * x) if x.ndim == 1 else root[:, None] * graph.multiply(root[:, None] * x)

    return LinearOperator(
        (n, n), matvec=multiply, rmatvec=multiply, matmat=multiply, rmatmat=multiply, dtype=np.float64
    )


def _release_matrix(
    operator: LinearOperator, neighbours: EdgeNeighbours, ledger: Ledger, mu: float, noise: NoiseSource
) -> tuple[FloatArray, float]:
    """Symmetric Gaussian noise on all entries (DTTZ14); also its standard deviation."""
    n = operator.shape[0]
    matrix = release_array(
        operator.matmat(np.eye(n)),
        name="normalized adjacency",
        sensitivity=neighbours.frobenius,
        mu=mu,
        symmetric=True,
        ledger=ledger,
        noise=noise,
        # Each entry is a weight times two roots, of relative error 6 u, and the matrix has norm at most 1.
        error=6 * float(np.finfo(np.float64).eps) * math.sqrt(n),
    )
    return matrix, ledger.entries[-1].scale


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
    columns = min(POWER_RANK, n) if rank == "auto" else check_rank(rank, n, max_rank)
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
    ledger = open_ledger(
        epsilon=epsilon,
        delta=None if pure else delta,
        accountant=accountant,
        relation=Edge(),
        noise=noise,
        slack=0.0 if pure else options.slack(delta),
        staged=chosen == "by degrees",
    )
    graph = source.read()
    rest = ledger
    if chosen == "by degrees":
        answers = release_choice(graph, columns, ledger=ledger, noise=noise)
        rest = ledger.decide(answers or vector)
    private: PrivateNormalizedAdjacency
    if answers:
        private = release_answered_adjacency(graph, options, ledger=rest, noise=noise)
    elif vector:
        private = release_vector_adjacency(
            graph,
            options,
            are_even=chosen == "by degrees",
            may_answer=chosen == "by residual",
            ledger=rest,
            noise=noise,
        )
    else:
        mean = 2 * release_total_weight(graph, Call(rest, noise, TOTAL_SHARE)).value / n
        private = release_normalized_adjacency(
            graph, options, mean_degree=mean, ledger=rest, mu=rest.remaining_mu(), noise=noise
        )
    return replace(private, privacy=ledger.report())
