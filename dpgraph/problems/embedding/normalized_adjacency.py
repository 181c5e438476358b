"""Private normalized adjacency of a graph, by one of several strategies, and which of them "auto" takes.

Randomised response adds noise of standard deviation s = 1/(2 sinh(epsilon/2)) to every pair: an eigenvector of
eigenvalue lambda comes out with an error of about s sqrt(n)/lambda. The noisy power method, with r columns whose
longest rows have length k, has an error of about k sqrt(2 n)/(mu lambda). If degrees are even, k = sqrt(r/n), and
public arguments say which error is smaller. If they are uneven, as in nearly all real graphs, k hardly depends on n,
and answers win; so they may where edges are few. Both need that answers find anything, and show the leading vectors
only if lambda is beyond s sqrt(n). Where the cases differ, one private bit decides.

The noise of a single vector does not grow with degrees of ordinary unevenness. Answers take over at large epsilon,
and earlier if the degrees are far from the vector.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.arguments import check_choice, check_rank
from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import degree_excess
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.guard import private_function
from dpgraph.problems.driver import TOTAL_SHARE, Asked, Problem, Spending, Undecided, release
from dpgraph.problems.embedding.strategies import EMBEDDINGS, EmbeddingFacts, Start, release_start
from dpgraph.problems.options import NoisyPower
from dpgraph.releases.answers import answer_noise, too_dear
from dpgraph.releases.eigenspaces.power_method import POWER_RANK
from dpgraph.releases.normalized import Regularization
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import COMMON, EMBEDDING_RULE, RESIDUAL
from dpgraph.typing import GraphLike, Rank

if TYPE_CHECKING:
    from dpgraph.strategies import EmbeddingMechanism

ANSWERS, PRODUCTS = "randomized-response", "noisy-power"


@private_function
def private_normalized_adjacency(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    rank: Rank = "auto",
    regularization: Regularization = "auto",
    coherence: Literal["degree-corrected", "rank"] = "degree-corrected",
    mechanism: EmbeddingMechanism = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateNormalizedAdjacency:
    r"""Release a low-rank approximation of the normalized adjacency matrix with edge-level differential privacy.

    The normalized adjacency is ``C^{-1/2} A C^{-1/2}`` with ``C = diag(degrees) + tau I``. Its leading eigenspace is
    released, then the small core on that space; no n x n array is formed but by "gaussian".

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    delta : float, default 0.0
        0 <= delta < 1. With 0 the call is pure: "auto", "randomized-response" and "communities", and "noisy-power" with
        `rank` 1.
    rank : int or "auto"
        Number of eigenvectors, 1 <= rank <= n. "auto" chooses up to 8 by released values, or takes one for each of the
        communities, up to 8; for "noisy-power" it is 2, and where "auto" takes that one with delta = 0 it is 1.
    regularization : float or "auto"
        tau >= 0, public, at most 1e9 n `max_weight`. "auto" is 16 times the private average degree: then no degree test
        is needed; up to 64 times with products of a single vector, 2**14 times with "randomized-response", and 0 with
        "communities". A number spends a tenth of the budget of "coherence" and "gaussian" on a private minimum degree.
    coherence : {"degree-corrected", "rank"}
        The coherence that the noise of "coherence" is scaled by: max ||U_i||/sqrt(c_i), or the papers' max ||U_i||;
        "rank" makes "auto" take that strategy.
    mechanism : str or options object, default "auto"
        "noisy-power" (averaged products with public iterates; any size; pure with `rank` 1), "randomized-response"
        (pure; the most accurate for a large epsilon and for small graphs), "coherence" (the coherence-aware projector;
        may halt), "gaussian" (noise on all entries; n <= 5000) or "communities" (pure; the eigenvectors of the block
        model that private communities tell: for rows that are to be clustered). "auto" is one of the first two, by n,
        `rank`, epsilon and delta, and by what degrees say privately where these do not decide (docs/mechanisms.md); it
        never halts, and the result says which one ran. Or an object of :mod:`dpgraph.strategies`, where each is
        explained, such as ``strategies.Coherence(certificate="gap-and-coherence")``; a name means its defaults.

    Returns
    -------
    PrivateNormalizedAdjacency

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.
    MechanismHalted
        "coherence" certified no spectral gap (stage ``"gap"``), or "coherence" or "gaussian" with a given
        `regularization` no minimum degree (stage ``"minimum degree"``).
    NotConvergedError
        The eigensolver failed.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`,
    (epsilon, 0)-DP with "randomized-response" and "communities" (:func:`dpgraph.private_communities`), and with
    "noisy-power" and "auto" at rank 1; the sensitivity bounds are
    those of :mod:`dpgraph.bounds.spectra`. All other releases compose in Gaussian DP; with "coherence", or a
    given `regularization` and "gaussian", 30 % of delta pays for the good events.

    References
    ----------
    DN25a, Theorem 1.9 and Algorithms 5.2-6.2 (``"coherence"``); HP14 (``"noisy-power"``); DTTZ14 (``"gaussian"``).
    docs/theory.md has their titles.

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_cut(400, 120, -0.8, rng=0)
    >>> private = dpgraph.private_normalized_adjacency(G, epsilon=4.0, rank=2, rng=0)
    >>> private.basis.shape, private.mechanism, private.privacy.delta
    ((400, 2), 'randomized-response', 0.0)
    """
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    check_choice("coherence", coherence, ("degree-corrected", "rank"))
    automatic = isinstance(mechanism, str) and mechanism == "auto"
    if coherence != "degree-corrected":  # one strategy reads it
        mechanism = "coherence" if automatic else mechanism
        if EMBEDDINGS.resolve(mechanism)[0] is not EMBEDDINGS["coherence"]:
            raise InvalidParameterError(
                f"coherence={coherence!r} is read by mechanism='coherence' only; leave it out, or use that mechanism"
            )
    columns, by_number = check_rank(rank, source.n_vertices, POWER_RANK)[-1], not isinstance(rank, str)
    asked = {"rank": rank, "regularization": regularization, "coherence": coherence}
    facts = EmbeddingFacts.of(source, epsilon, delta, **asked)
    single = (columns == 1 and (automatic or by_number)) or (automatic and facts.delta == 0 and not by_number)
    facts = replace(facts, single=single)
    released = release(EMBEDDING, source.read, facts, Asked(mechanism, accountant, rng))
    found: PrivateNormalizedAdjacency = released.found
    return replace(found, privacy=released.privacy)


def _choose(facts: EmbeddingFacts) -> str | Undecided:
    EMBEDDINGS[PRODUCTS].check(NoisyPower(), facts)
    return choose_mechanism(facts.n, facts.columns, facts.epsilon, facts.delta, weighted=facts.weighted)


EMBEDDING = Problem(EMBEDDINGS, auto=_choose, pure="mechanism='randomized-response', or 'noisy-power' with rank=1")


def choose_mechanism(n: int, rank: int, epsilon: float, delta: float, *, weighted: bool) -> str | Undecided:
    """The strategy of an embedding of this rank, from public arguments as far as they can say.

    With delta = 0 only pure strategies are chosen: answers, and products of a single vector. If edges may have weights
    between 0 and `max_weight` (`weighted`), a one-bit answer tells little.
    """
    if rank > 1 and delta == 0:
        return ANSWERS
    # A bit, or a residual, may come before the answers.
    asked = TOTAL_SHARE if rank > 1 else TOTAL_SHARE + 3 * RESIDUAL.share
    if weighted or too_dear(n, epsilon * (1 - asked)):
        return PRODUCTS
    if rank == 1:
        return _choose_for_vector(n, epsilon)
    # The error of answers, in units of that of products whose bases have rows of one length.
    if math.sqrt(n) * answer_noise(epsilon) * gdp_mu(epsilon, delta) / math.sqrt(2 * rank) <= 1:
        return ANSWERS

    def ask(graph: Graph, call: Call, _: Any) -> tuple[float, Call, None]:
        return release_unevenness(graph, rank, call), call, None  # one bit, after which the rest is free

    spending = Spending(delta, staged=True)
    question = "unevenness of the degrees"
    return Undecided(question, lambda excess: ANSWERS if excess > 0 else PRODUCTS, ask, (ANSWERS, PRODUCTS), spending)


def _choose_for_vector(n: int, epsilon: float) -> str | Undecided:
    by_residual = EMBEDDING_RULE.vector_by_residual
    if math.sqrt(n) * answer_noise(epsilon) <= EMBEDDING_RULE.vector_column or epsilon >= 4 * by_residual:
        return ANSWERS
    if epsilon >= by_residual:
        by_start = partial(_by_residual, n, epsilon)
        return Undecided("residual of the degrees", by_start, _ask_start, (ANSWERS, PRODUCTS))
    return PRODUCTS


def _ask_start(graph: Graph, call: Call, _: Any) -> tuple[Start, Call, Start]:
    start, rest = release_start(graph, call)
    return start, rest, start  # products go on from what this releases


def _by_residual(n: int, epsilon: float, start: Start) -> str:
    """Answers where they find a vector that the degrees do not show, and products, starting from those, hardly do.

    The noise of one count of each vertex has norm sqrt(n)/epsilon, that of answers less; the eigenvalue is larger than
    the quotient of the degrees, which is half of that norm where a residual is large. At large epsilon answers win.
    """
    is_hidden = epsilon >= 2 * EMBEDDING_RULE.vector_by_residual or math.sqrt(n) / epsilon > start.residual.quotient
    return ANSWERS if start.residual.is_large and is_hidden else PRODUCTS


def least_visible(n: int, max_weight: float, epsilon: float) -> float:
    """The degree beyond which answers find something: 5/4 of the norm of their noise."""
    return EMBEDDING_RULE.visible * max_weight * min(math.sqrt(n) * answer_noise(epsilon), n)


def release_unevenness(graph: Graph, rank: int, call: Call) -> float:
    """A number that is positive if answers find something, and degrees are uneven or edges too few for the products.

    Either reason is enough. With the norm t = s sqrt(n) of the noise of answers, these find something if a fifth of all
    ends of edges are at what degrees have beyond 5/4 t: sum_i max(d_i - 5/4 t, 0) >= sum_i d_i/5.

    Only the sign may be published. A small stage of the whole call is spent
    (:meth:`~dpgraph.privacy.call.Call.decide` gives the rest).
    """
    whole, delta, _ = call.whole
    epsilon = min(TOTAL_SHARE * whole, free_choice_epsilon(whole, delta))
    n, w, degrees, share = graph.n_vertices, graph.max_weight, graph.degrees(), COMMON.uneven
    ends = float(degrees.sum())
    thresholds = least_visible(n, w, whole), float(degrees.mean())
    found, excess = (degree_excess(degrees, above, share) for above in thresholds)
    least = min(EMBEDDING_RULE.least_degree * math.sqrt(2 * rank) / gdp_mu(whole, delta), n)
    bound, either = sensitivity.degree_excess(w, share), max(excess, n * least - ends)
    measurement = Measurement("choice by degrees", np.array([min(found, either)]), l1=bound)
    return call.at_epsilon(epsilon).release(measurement).number
