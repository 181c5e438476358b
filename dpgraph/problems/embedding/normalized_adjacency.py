"""Private normalized adjacency of a graph, by the coherence-aware projector or by another strategy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call
from dpgraph.privacy.guard import private_function
from dpgraph.problems.driver import Asked, Problem, Spending, Undecided, release
from dpgraph.problems.embedding.rule import RESIDUAL, choose_mechanism, release_unevenness
from dpgraph.problems.embedding.strategies import EMBEDDINGS, EmbeddingFacts, release_start
from dpgraph.problems.options import NoisyPower
from dpgraph.releases.eigenspaces.power_method import POWER_RANK
from dpgraph.releases.eigenspaces.projector import Rank, check_rank
from dpgraph.releases.normalized import Regularization
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.typing import GraphLike

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
        tau >= 0, public, at most 1e9 n `max_weight`. "auto" is 16 times the private average degree: then no
        degree test is needed; up to 64 times with products of a single vector, 2**14 times with "randomized-response",
        and 0 with "communities". A number spends a tenth of the budget of "coherence" and "gaussian" on a private
        minimum degree.
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


def _choose(facts: EmbeddingFacts) -> Any:
    """What "auto" takes, or by which released number it is chosen."""
    EMBEDDINGS[PRODUCTS].check(NoisyPower(), facts)
    chosen = choose_mechanism(facts.n, facts.columns, facts.epsilon, facts.delta, weighted=facts.weighted)
    if isinstance(chosen, str):
        return chosen

    def ask(graph: Graph, call: Call, _: Any) -> tuple[Any, Call, Any]:
        if chosen.question == RESIDUAL:  # products go on from what this releases
            start, rest = release_start(graph, call)
            return start, rest, start
        return release_unevenness(graph, facts.columns, call), call, None  # one bit, after which the rest is free

    spending = Spending() if chosen.question == RESIDUAL else Spending(facts.delta, staged=True)
    return Undecided(chosen.question, chosen.then, ask, (ANSWERS, PRODUCTS), spending)


EMBEDDING = Problem(EMBEDDINGS, auto=_choose, pure="mechanism='randomized-response', or 'noisy-power' with rank=1")
