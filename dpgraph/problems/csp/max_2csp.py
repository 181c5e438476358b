"""Private 2-CSPs: an assignment of labels that earns much, with the constraints private."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

import dpgraph.linalg.kernels  # noqa: F401 - what a release needs is imported before its debit
from dpgraph.arguments import check_choice, check_scale
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import is_weighted
from dpgraph.instance import TwoCSP
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import open_ledger
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Constraint, Edge, LabelEdge, Relation
from dpgraph.problems.csp.edges import (
    MECHANISMS,
    EdgeMechanism,
    EdgeRequest,
    public_relation,
    read_edges,
    release_edge_assignment,
)
from dpgraph.problems.csp.label_extended import PrivateTables, release_by_coherence, release_by_iterates
from dpgraph.problems.csp.release import CSPNames, release_assignment
from dpgraph.problems.embedding.options import DEFAULT_MAX_RANK, AdjacencyOptions
from dpgraph.releases.eigenspaces.projector import Rank
from dpgraph.releases.sweeps.gaussian import LOOK_DELTA, is_pure
from dpgraph.results.csp import PrivateCSPResult

__all__ = ["private_max_2csp"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_RELATIONS: dict[str, Relation] = {"label-edge": LabelEdge(), "constraint": Constraint(), "edge": Edge("variables")}


def private_max_2csp(
    instance: TwoCSP,
    *,
    epsilon: float,
    delta: float,
    adjacency: Literal["label-edge", "constraint", "edge"] = "label-edge",
    relation: ArrayLike | None = None,
    mechanism: EdgeMechanism | Literal["coherence"] = "auto",
    max_weight: float = 1.0,
    rank: Rank = "auto",
    max_rank: int = DEFAULT_MAX_RANK,
    regularization: float | Literal["auto"] = "auto",
    coherence: Literal["degree-corrected", "rank"] = "degree-corrected",
    noise: Literal["auto", "gaussian", "laplace"] = "auto",
    on_halt: Literal["raise", "fallback"] = "raise",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCSPResult:
    r"""Release an assignment of a 2-CSP whose constraints are private.

    Parameters
    ----------
    instance : TwoCSP
        Variables and alphabet are public, the constraints are private. Constraints on the same pair are summed, and
        entries of the summed table above `max_weight` are capped.
    epsilon, delta : float
        epsilon > 0, 0 < delta < 1.
    adjacency : {"label-edge", "constraint", "edge"}
        Neighbours differ in one entry of one pair's table (one edge of the label-extended graph); or in the whole table
        of one pair: a constraint is added, removed or replaced on the same pair; or, all tables being a weight times
        one public relation, in the weight of one pair. Where it applies, as for max-k-cut, "edge" costs least.
    relation : array_like, shape (q, q), optional
        For "edge": the public relation, symmetric, entries in [0, 1] (rounded to multiples of 2**-8). By default labels
        must differ, as in max-k-cut and colouring.
    mechanism : str
        "bounded-iterates" (private mean field, never halts), which "auto" takes unless the adjacency is "edge";
        "coherence", which releases a low-rank label-extended matrix and needs "label-edge"; for "edge" also what
        :func:`~dpgraph.private_max_k_cut` offers, with its rule for "auto".
    max_weight : float, default 1
        Public upper bound on a table entry; for "edge" on the weight of a pair.
    rank, max_rank, regularization, coherence
        For "coherence", as in :func:`~dpgraph.private_normalized_adjacency`.
    noise : {"auto", "gaussian", "laplace"}
        Noise of the bounded iterates. ``"laplace"`` makes the call pure, (epsilon, 0)-DP: one to five sweeps that read
        a constraint once each. ``"gaussian"`` affords 24 or more sweeps of a core of large degrees. "auto" takes 3 to
        16 sweeps with pure K-norm noise, drawn for all readings of a variable together, where (released) degrees say
        that this is better (docs/constraint-problems.md); elsewhere it is ``"laplace"`` for "label-edge" below epsilon
        = 1.5, and from there on, and for "constraint", Gaussian sweeps with Laplace noise in the look at the other
        variables. For "edge" as for :func:`~dpgraph.private_max_k_cut`.
    on_halt : {"raise", "fallback"}
        What to do when "coherence" halts: raise, or return random labels.
    accountant : PrivacyAccountant, optional
        Debited before the constraints are read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show a progress bar on stderr.

    Returns
    -------
    PrivateCSPResult

    Raises
    ------
    InvalidParameterError
        Bad input; after the debit, for "edge", a table that is not a multiple of the relation.
    BudgetExceededError
        The accountant refuses.
    MechanismHalted
        "coherence" could not certify what it needs, and ``on_halt="raise"``.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for the chosen neighbours. Fields of public simplex rows have l2-sensitivity
    sqrt(2) w for each sweep under "label-edge" and sqrt(2 q) w under "constraint"
    (:func:`dpgraph.bounds.sensitivity.constraint_rows`); all readings of repeated sweeps together move by w, or q w,
    in the norm of their noise (:func:`dpgraph.bounds.sensitivity.repeated_readings`). "edge" is proved at
    :func:`dpgraph.releases.sweeps.labels.release_label_iterates`. The value of a released assignment has sensitivity
    w.

    References
    ----------
    DN25a, section 7 (label-extended graphs, "coherence"); mathematics.md, section 6 ("bounded-iterates").

    Examples
    --------
    >>> import dpgraph, networkx as nx
    >>> instance = dpgraph.TwoCSP.from_networkx(nx.complete_multipartite_graph(30, 30, 30), "max-k-cut", 3)
    >>> result = dpgraph.private_max_2csp(instance, epsilon=4.0, delta=1e-6, rng=0)
    >>> len(result.assignment)
    90
    """
    source = noise_source(rng)
    options = _check(instance, adjacency, mechanism, max_weight, rank, max_rank, regularization, coherence, on_halt)
    table = _check_relation(instance, adjacency, relation)
    chosen: str = "bounded-iterates" if mechanism == "auto" else mechanism
    check_delta(delta)
    names = CSPNames(instance.variables, instance.alphabet)
    if adjacency == "edge":
        request = EdgeRequest(
            epsilon, delta, mechanism, noise, float(max_weight), is_weighted(None, max_weight), progress
        )
        return release_edge_assignment(
            names,
            partial(read_edges, instance, table, float(max_weight)),
            request,
            accountant=accountant,
            neighbours=_RELATIONS[adjacency],
            noise=source,
        )
    iterates = chosen == "bounded-iterates"
    together = noise == "auto"
    # A whole table moves a row by more in l1 than in l2: one look at it is not worth Laplace noise.
    pure = is_pure(noise, check_epsilon(epsilon)) and iterates and not (together and adjacency == "constraint")
    staged = together and iterates and not pure
    ledger = open_ledger(
        epsilon=epsilon,
        delta=None if pure else delta,
        accountant=accountant,
        relation=_RELATIONS[adjacency],
        noise=source,
        slack=LOOK_DELTA * delta * staged if iterates else options.slack(delta),
        staged=staged,
    )

    def release(private: PrivateTables, mean_degree: float, call: Call) -> tuple[IntArray, str]:
        if chosen == "coherence":
            return release_by_coherence(private, options, call), chosen
        whole = adjacency == "constraint"
        labels = release_by_iterates(
            private,
            call,
            mean_degree=mean_degree,
            whole_table=whole,
            together=together,
            progress=progress,
        )
        return labels, chosen

    return release_assignment(
        names,
        partial(PrivateTables.read, instance, float(max_weight)),
        release,
        ledger=ledger,
        noise=source,
        on_halt=on_halt,
    )


def _check(
    instance: TwoCSP,
    adjacency: str,
    mechanism: str,
    max_weight: float,
    rank: Rank,
    max_rank: int,
    regularization: float | Literal["auto"],
    coherence: str,
    on_halt: str,
) -> AdjacencyOptions:
    if not isinstance(instance, TwoCSP):
        raise InvalidParameterError(f"instance must be a dpgraph.TwoCSP; got {type(instance).__name__}")
    check_choice("adjacency", adjacency, _RELATIONS)
    allowed = MECHANISMS if adjacency == "edge" else ("auto", "bounded-iterates", "coherence")
    if not isinstance(mechanism, str) or mechanism not in (*allowed, "coherence"):
        raise InvalidParameterError(
            f"with adjacency={adjacency!r}, mechanism must be one of {', '.join(allowed)}; got {mechanism!r}"
        )
    if mechanism == "coherence" and adjacency != "label-edge":
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            f"factor q**2. Use mechanism='bounded-iterates' with adjacency={adjacency!r}"
        )
    check_choice("on_halt", on_halt, ("raise", "fallback"))
    check_scale("max_weight", max_weight)
    return AdjacencyOptions.check(
        instance.n_variables * instance.alphabet_size,
        max_weight=max_weight,
        rank=rank,
        max_rank=max_rank,
        regularization=regularization,
        coherence=coherence,
        mechanism="coherence",
    )


def _check_relation(instance: TwoCSP, adjacency: str, relation: ArrayLike | None) -> FloatArray:
    if adjacency != "edge" and relation is not None:
        raise InvalidParameterError(
            f"relation= is public and belongs to adjacency='edge'; with adjacency={adjacency!r} all tables are private"
        )
    return public_relation(relation, instance.alphabet_size)
