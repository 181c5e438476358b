"""The coherence-aware projector on the leading eigenspace, and a small core (DN25a, Algorithms 5.2 to 6.2)."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.linalg.eigen import check_eigenpairs
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.strategy import EmbeddingFacts, release_mean_degree
from dpgraph.problems.options import CoherentAdjacency
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.projector import (
    CERTIFICATES,
    SLACK_SHARE,
    check_rank,
    release_core,
    release_subspace,
)
from dpgraph.releases.eigenspaces.spectrum import Guess, SubspaceInput
from dpgraph.releases.normalized import check_degrees, check_regularization, normalized_operator, release_lower_bound
from dpgraph.releases.totals import release_degrees
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING


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
        lambda r: EMBEDDING.typical_coherence * math.sqrt(r / (n * flat)),
        max(float(shrunken_degrees(degrees, mean_degree, std, w).max()), w),
    )
    ranks = check_rank(options.rank, n, options.max_rank, least=least_rank)
    private = SubspaceInput(operator, neighbours, ranks, guess)
    released = release_subspace(private, options.certificate, left.without(for_degrees).without(for_core))
    basis = released.basis
    if options.denoise is True and enough_rows(*basis.shape):
        basis = posterior_basis(basis, released.scale**2 / 2 * np.eye(basis.shape[1]))
    core = release_core(operator, basis, neighbours, for_core)
    return PrivateNormalizedAdjacency(
        nodes=graph.nodes,
        degrees=degrees,
        regularization=tau,
        lower=0.0 if options.low_degrees == "halt" else lower,
        basis=basis,
        core=core,
        spectrum=released.spectrum,
        mechanism="coherence",
        max_weight=w,
        privacy=call.report(),
    )


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


def _run(
    options: CoherentAdjacency, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any
) -> PrivateNormalizedAdjacency:
    mean, left = release_mean_degree(graph, call)
    published = replace(_given(options, facts), denoise=options.denoise is not False)  # "auto" does: rows are published
    return release_normalized_adjacency(graph, published, mean, left)


STRATEGY = Strategy(
    "coherence",
    CoherentAdjacency,
    pure=False,
    run=_run,
    check=lambda options, facts: check_coherence(_given(options, facts), facts.n, facts.max_weight),
    slack_share=lambda _: SLACK_SHARE,
)
