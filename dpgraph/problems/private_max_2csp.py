"""Private 2-CSPs: an assignment of labels that earns much, with the constraints private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import WEIGHT_BITS, Graph
from dpgraph.mechanisms.bounded_iterates import (
    ITERATE_UNIT,
    LOOK_DELTA,
    FieldOracle,
    is_parallel,
    is_pure,
)
from dpgraph.mechanisms.degree_core import release_core_iterates
from dpgraph.mechanisms.normalized_adjacency import (
    DEFAULT_MAX_RANK,
    AdjacencyOptions,
    adjacency_slack,
    release_normalized_adjacency,
)
from dpgraph.mechanisms.subspace import Rank
from dpgraph.mechanisms.weights import release_weight
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.ledger import Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.problems.private_csp import PrivateCSPResult
from dpgraph.sos.csp import TwoCSP
from dpgraph.sos.factored_csp import solve_factored_csp
from dpgraph.spectral import sensitivity

__all__ = ["private_max_2csp"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_ADJACENCY = {
    "label-edge": "one entry of the constraint table of one pair of variables, by at most max_weight",
    "constraint": "the whole constraint table of one pair of variables, every entry by at most max_weight",
}
#: Shares of the budget (mu**2, or epsilon if pure) for the weight of the assignment, the total weight, and the weights
#: of all candidates together.
_VALUE_SHARE, _TOTAL_SHARE, _CHOICE_SHARE = 0.02, 0.005, 0.03
_STARTS = 16


@dataclass(frozen=True)
class _Instance:
    """The private side of an instance: its label-extended graph on the weight grid."""

    graph: Graph
    q: int
    tables: FloatArray
    pairs: IntArray

    def fields(self, block: IntArray, X: FloatArray) -> FloatArray:
        rows = (block[:, None] * self.q + np.arange(self.q)).ravel()
        return self.graph.multiply_rows(rows, X.reshape(-1, 1)).reshape(block.size, self.q)

    def total_weight(self) -> float:
        return math.fsum(self.tables.max(axis=(1, 2), initial=0.0))

    def constraint_graph(self, n: int) -> Graph:
        """The graph on the variables with the largest entries of the tables as weights; neighbours stay neighbours."""
        u, v = self.pairs.T
        largest = self.tables.max(axis=(1, 2), initial=0.0)
        upper = sparse.coo_array((largest, (u, v)), shape=(n, n))
        adjacency = sparse.csr_array(upper + upper.T)
        return Graph(adjacency, tuple(range(n)), self.graph.max_weight, self.graph.weight_unit)

    def value(self, labels: IntArray) -> float:
        u, v = self.pairs.T
        return math.fsum(self.tables[np.arange(len(u)), labels[u], labels[v]])


class _Simplex:
    """Each row moves towards the label of largest field."""

    def __init__(self, q: int) -> None:
        self._q = q

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        return np.eye(self._q)[generator.integers(0, self._q, size)]

    def answer(self, block: IntArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        if math.isinf(sharpness):
            return np.eye(self._q)[np.argmax(ratio, axis=1)]
        weights = np.exp(sharpness * (ratio - ratio.max(axis=1, keepdims=True)))
        weights /= weights.sum(axis=1, keepdims=True)
        # Rounded down, so that no row sums to more than 1: the sensitivity relies on it.
        return np.floor(weights / ITERATE_UNIT) * ITERATE_UNIT


def private_max_2csp(
    instance: TwoCSP,
    *,
    epsilon: float,
    delta: float,
    adjacency: Literal["label-edge", "constraint"] = "label-edge",
    mechanism: Literal["auto", "bounded-iterates", "coherence"] = "auto",
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
    adjacency : {"label-edge", "constraint"}
        Neighbours differ in one entry of one pair's table (one edge of the label-extended graph), or in the whole table
        of one pair: a constraint is added, removed or replaced on the same pair.
    mechanism : {"auto", "bounded-iterates", "coherence"}
        "auto" is "bounded-iterates" (private mean field, never halts). "coherence" releases a low-rank label-extended
        matrix and needs "label-edge".
    max_weight : float, default 1
        Public upper bound on a table entry.
    rank, max_rank, regularization, coherence
        For "coherence", as in :func:`~dpgraph.private_normalized_adjacency`.
    noise : {"auto", "gaussian", "laplace"}
        Noise of the bounded iterates, as for :func:`~dpgraph.private_max_cut`; but as a whole table moves more in l1
        than in l2, "auto" is ``"gaussian"`` for "constraint" where it would be ``"laplace"``.
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
        Bad input.
    BudgetExceededError
        The accountant refuses.
    MechanismHalted
        "coherence" could not certify what it needs, and ``on_halt="raise"``.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for the chosen neighbours. Fields of public simplex rows have l2-sensitivity
    sqrt(2) w for each sweep under "label-edge" and sqrt(2 q) w under "constraint"
    (:func:`dpgraph.spectral.sensitivity.constraint_rows`). The value of a released assignment has sensitivity w.

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
    chosen: str = "bounded-iterates" if mechanism == "auto" else mechanism
    check_delta(delta)
    iterates = chosen == "bounded-iterates"
    if noise == "auto" and adjacency == "constraint" and is_pure(noise, check_epsilon(epsilon)):
        noise = "gaussian"
    pure = is_pure(noise, check_epsilon(epsilon)) and iterates
    parallel = is_parallel(noise, epsilon) and iterates
    ledger = open_ledger(
        epsilon=epsilon,
        delta=None if pure else delta,
        accountant=accountant,
        adjacency=_ADJACENCY[adjacency],
        noise=source,
        slack=LOOK_DELTA * delta * parallel if iterates else adjacency_slack(options, delta),
        parallel=parallel,
    )
    private = _read(instance, float(max_weight))
    total = release_weight(
        "total weight", private.total_weight(), private.graph, ledger=ledger, share=_TOTAL_SHARE, noise=source
    )
    try:
        if chosen == "coherence":
            labels = _coherence(private, options, ledger, source)
        else:
            labels = _bounded_iterates(private, total.value, adjacency, ledger, source, progress)
    except MechanismHalted:
        if on_halt == "raise":
            raise
        labels, chosen = source.generator.integers(0, private.q, instance.n_variables), "data-independent"
    value = release_weight(
        "assignment weight", private.value(labels), private.graph, ledger=ledger, share=_VALUE_SHARE, noise=source
    )
    return PrivateCSPResult(
        assignment=instance.decode(labels),
        labels=labels,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        mechanism=chosen,
        privacy=ledger.report(),
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
    if adjacency not in _ADJACENCY:
        raise InvalidParameterError(f"adjacency must be 'label-edge' or 'constraint'; got {adjacency!r}")
    if mechanism not in ("auto", "bounded-iterates", "coherence"):
        raise InvalidParameterError(f"mechanism must be 'auto', 'bounded-iterates' or 'coherence'; got {mechanism!r}")
    if mechanism == "coherence" and adjacency == "constraint":
        raise InvalidParameterError(
            "mechanism='coherence' protects one entry of the label-extended graph; a whole constraint would cost a "
            "factor q**2. Use mechanism='bounded-iterates' with adjacency='constraint'"
        )
    if on_halt not in ("raise", "fallback"):
        raise InvalidParameterError(f"on_halt must be 'raise' or 'fallback'; got {on_halt!r}")
    if not (isinstance(max_weight, (int, float)) and math.isfinite(max_weight) and max_weight > 0):
        raise InvalidParameterError(f"max_weight must be a positive finite number; got {max_weight!r}")
    return AdjacencyOptions.check(
        instance.n_variables * instance.alphabet_size,
        rank=rank,
        max_rank=max_rank,
        regularization=regularization,
        coherence=coherence,
        mechanism="coherence",
    )


def _read(instance: TwoCSP, max_weight: float) -> _Instance:
    """Cap the tables, round them to the public weight grid, and extend."""
    unit = max_weight * 2.0**-WEIGHT_BITS
    tables = np.rint(np.minimum(instance.tables, max_weight) / unit) * unit
    capped = TwoCSP(instance.n_variables, instance.alphabet_size)
    capped.add_constraints(instance.pairs, tables)
    nodes = tuple(range(instance.n_variables * instance.alphabet_size))
    graph = Graph(capped.label_extended_graph(), nodes, max_weight, unit)
    return _Instance(graph, instance.alphabet_size, tables, instance.pairs)


def _bounded_iterates(
    private: _Instance,
    total: float,
    adjacency: str,
    ledger: Ledger,
    noise: NoiseSource,
    progress: bool,
) -> IntArray:
    w, q = private.graph.max_weight, private.q
    n = private.graph.n_vertices // q
    whole_table = adjacency == "constraint"
    oracle = FieldOracle(
        rows=n,
        columns=q,
        fields=private.fields,
        unit=private.graph.weight_unit * ITERATE_UNIT,
        row_bound=sensitivity.constraint_rows(w, q) if whole_table else w,
        row_bound_l1=sensitivity.constraint_rows_l1(w, q) if whole_table else w,
    )
    X, ratios = release_core_iterates(
        private.constraint_graph(n),
        oracle,
        _Simplex(q),
        mean_degree=2 * total / n,
        ledger=ledger,
        share=1 - _VALUE_SHARE - _TOTAL_SHARE - _CHOICE_SHARE,
        noise=noise,
        progress=progress,
    )
    return _best_rank(private, X, ratios, ledger, noise)


def _best_rank(private: _Instance, X: FloatArray, ratios: FloatArray, ledger: Ledger, noise: NoiseSource) -> IntArray:
    """Choose, by private weights, between the labels of largest field at every row, of second largest, and so on.

    Iterates from a random start may settle where no label that belongs to a hidden assignment is used at all: each of
    the others supports the others. There every row sees exactly those labels last, so that one of the q candidates is
    the hidden assignment. All fields are released; a candidate's weight has sensitivity w.
    """
    last = X + 1e-9 * np.argsort(np.argsort(ratios, axis=1), axis=1)  # rows that were set say themselves what is first
    ranked = np.argsort(-last, axis=1, kind="stable")
    weights = [
        release_weight(
            f"weight of candidate {k + 1}",
            private.value(ranked[:, k]),
            private.graph,
            ledger=ledger,
            share=_CHOICE_SHARE / private.q,
            noise=noise,
        ).value
        for k in range(private.q)
    ]
    return ranked[:, int(np.argmax(weights))]


def _coherence(private: _Instance, options: AdjacencyOptions, ledger: Ledger, noise: NoiseSource) -> IntArray:
    graph, q = private.graph, private.q
    extended = release_weight(
        "label-extended weight",
        float(graph.degrees().sum()) / 2,
        graph,
        ledger=ledger,
        share=_TOTAL_SHARE,
        noise=noise,
    )
    adjacency_matrix = release_normalized_adjacency(
        graph,
        options,
        mean_degree=2 * extended.value / graph.n_vertices,
        ledger=ledger,
        mu=ledger.mu * math.sqrt(1 - _VALUE_SHARE - 2 * _TOTAL_SHARE),
        noise=noise,
    )
    factor, core = adjacency_matrix.adjacency_factor(), adjacency_matrix.core
    return solve_factored_csp(factor, core, q, starts=_STARTS, rng=noise.generator)
