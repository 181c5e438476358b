"""Every public private function, entered once for each of its mechanisms.

How to enter a mechanism
------------------------
1. Add one line to :data:`ENTRIES`::

       Entry("private_max_cut", all_graph_neighbours, {"mechanism": "new"}),

   The arguments are the public function, a generator of (label, input, neighbour) from ``tests/privacy/inputs.py``
   (or a new one: let some pair come close to the worst case), and the public arguments that select the mechanism,
   options of a strategy beside them (``tests/spelling.py`` makes the object). ``pure=True`` calls it without delta.
   A new kind of private argument needs an input that is refused when it is read, in :data:`POISONED`.
2. If it draws noise in a new way, which is neither a method of ``NoiseSource`` nor `release_array`, tell the replay:
   ``open_doors`` in ``tests/privacy/replay.py``.
3. A new sensitivity bound goes into ``dpgraph/bounds/sensitivity.py`` and its ratio into
   ``tests/privacy/enumeration.py``; a row for the function into docs/proofs.md.

A strategy that no entry names is tested with the neighbours of another one (:func:`strategy_entries`).

Replay, side channels, interface, extremes, interrupts and the statistical audit then run on it. Tests fail while a
public function that spends a budget is missing here (``test_interface.py``) or in docs/proofs.md (``test_docs.py``).
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np

import dpgraph
from dpgraph.interfaces.networkx.private_graph import PrivateGraph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.open_blocks import ambient_accountant
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.options import Coherence
from dpgraph.projections import Box
from tests.privacy.inputs import (
    NAN_ROWS,
    Data,
    Pairs,
    PoisonedCSP,
    all_graph_neighbours,
    array_neighbours,
    bit_neighbours,
    clique_neighbours,
    complete_graph_neighbours,
    cosine_neighbours,
    csp_neighbours,
    cuttable_graph_neighbours,
    dense_graph_neighbours,
    edge_csp_neighbours,
    flat_matrix_neighbours,
    hidden_neighbours,
    histogram_neighbours,
    iterate_neighbours,
    large_graph_neighbours,
    matrix_neighbours,
    networkx_neighbours,
    node_neighbours,
    nuclear_neighbours,
    pairs_of,
    person_neighbours,
    poisoned_graph,
    poisoned_matrix,
    poisoned_networkx_graph,
    record_neighbours,
    tiny_graph_neighbours,
    undecided_neighbours,
    unweighted_neighbours,
)
from tests.spelling import REGISTRIES, spelled

#: Large enough for an effect in a few hundred runs, small enough that half the noise shows.
EPSILON = 8.0
#: Where steps to instability are measured: at 8 the worst pairs lose so little there that hundreds of runs, at a
#: twentieth of a second each, certify nothing.
STABILITY_EPSILON = 32.0


@dataclass(frozen=True)
class Entry:
    """One mechanism of one public function.

    Parameters
    ----------
    function : str
        Name in `module`.
    neighbours : callable
        Yields (label, input, neighbour).
    options : dict
        Public arguments that select the mechanism.
    refused : Data, optional
        An input that is refused when its private part is read, where that of :data:`POISONED` will not do.
    pure : bool
        Called without delta.
    module : str
        Where the function is public.
    epsilon : float
        At which the statistical audit calls it.
    persons : int
        In how many pairs at a vertex neighbours differ: a call without an accountant gets one of such persons.
    """

    function: str
    neighbours: Callable[[], Pairs]
    options: dict[str, Any] = field(default_factory=dict)
    refused: Data | None = None
    pure: bool = False
    module: str = "dpgraph"
    epsilon: float = EPSILON
    persons: int = 1

    #: Whether the function takes a seed.
    seedable = True

    @property
    def label(self) -> str:
        persons = [f"{self.persons} edges a person"] if self.persons > 1 else []
        return ", ".join([self.function, *(f"{k}={v}" for k, v in self.options.items()), *persons])

    @cached_property
    def private(self) -> str:
        """The argument that is private: the first name of :data:`POISONED` that the function has."""
        parameters = inspect.signature(self.code).parameters
        return next(name for name in POISONED if name in parameters)

    @property
    def poisoned(self) -> Data:
        """An input that is refused when its private part is read."""
        return self.refused or POISONED[self.private]

    @property
    def pairs(self) -> tuple[tuple[str, Data, Data], ...]:
        """All (label, input, neighbour), the same objects for every test."""
        return pairs_of(self.neighbours)

    @property
    def code(self) -> Callable[..., Any]:
        """The public function."""
        return getattr(importlib.import_module(self.module), self.function)

    def call(self, data: Data, *, rng: Any, epsilon: float, **more: Any) -> Any:
        """Call the function; ``delta`` is 1e-6 unless the mechanism is pure."""
        budget = {"epsilon": epsilon} if self.pure else {"epsilon": epsilon, "delta": 1e-6}
        if self.persons > 1 and ambient_accountant() is None:
            budget["accountant"] = PrivacyAccountant(epsilon=1e9, delta=0.9, edges_per_person=self.persons)
        arguments = {self.private: data.value} | data.public | self.options | budget | {"rng": rng} | more
        return self.code(**spelled(self.code, arguments))


@dataclass(frozen=True, repr=False)
class Answer:
    """A networkx function answers with a bare number, set or array; its ledger is that of the accountant."""

    value: Any
    privacy: PrivacyReport

    def __repr__(self) -> str:
        return f"Answer({self.privacy!r})"


@dataclass(frozen=True)
class NetworkxEntry(Entry):
    """One function of the networkx backend, called through networkx on a private graph."""

    module: str = "dpgraph.interfaces.networkx.backend"

    @property
    def label(self) -> str:
        return f"networkx {self.function}" + (", delta=0" if self.pure else "")

    private = "networkx graph"

    @property
    def seedable(self) -> bool:  # type: ignore[override]
        return "seed" in inspect.signature(self.code).parameters

    def call(self, data: Data, *, rng: Any, epsilon: float, **more: Any) -> Any:
        """Call through networkx. A source of the replay reaches the backend by ``open_doors``, not by the seed."""
        budget = {"epsilon": epsilon, "delta": 0.0 if self.pure else 1e-6} | more
        accountant = budget.pop("accountant", None) or ambient_accountant() or PrivacyAccountant(epsilon=1e9, delta=0.9)
        if self.seedable and not isinstance(rng, NoiseSource):
            budget["seed"] = rng
        function = nx.utils.backends._registered_algorithms[self.function]
        arguments = data.public | self.options | budget | {"accountant": accountant}
        value = function(PrivateGraph(data.value), **arguments)
        return Answer(value, accountant._ledgers[-1].report())


# --- the entries -----------------------------------------------------------------------------------------------


def cut_neighbours(options: dict[str, Any]) -> Callable[[], Pairs]:
    """Bounded iterates, and what may choose them, run on graphs with a core too; what may halt on some it does not."""
    own = {"coherence": cuttable_graph_neighbours, "auto": iterate_neighbours, "bounded-iterates": iterate_neighbours}
    return own.get(options["mechanism"], all_graph_neighbours)


def audited_at(options: dict[str, Any]) -> float:
    """Epsilon at which the statistical audit calls a mechanism of these public arguments."""
    default = "stability" if options.get("mechanism") == "coherence" else None
    return STABILITY_EPSILON if options.get("certificate", default) == "stability" else EPSILON


#: Queries and bins.
_QUERY_SHAPES = ((10, 10), (6, 20))
#: Public arguments of the spectral bisection that the backend offers.
_BISECTION = {"weight": None, "normalized": True}

#: DN25a to the letter.
_PAPER = {"mechanism": "coherence"} | {
    field.name: value
    for field in fields(Coherence)
    if (value := getattr(Coherence.paper(2, seeds=1), field.name)) != field.default
}

#: For each private argument an input that is refused when it is read; beside `x` there is a public `A`.
POISONED = {
    "x": Data(np.array([np.nan, 1.0]), {"A": np.eye(2)}),
    "G": poisoned_graph(),
    "A": poisoned_matrix(),
    "B": Data(np.diag([np.nan, 1.0]), {"sensitivity": 1.0}),
    "V": Data(NAN_ROWS, {"sensitivity": 1.0}),
    "X": Data(NAN_ROWS, {"n_records": 3}),
    "data": Data(np.full((3, 3), np.nan)),
    "instance": Data(PoisonedCSP(4, 3)),
    "networkx graph": poisoned_networkx_graph(),
}


def each_of(function: str, neighbours: Callable[[], Pairs], *choices: dict[str, Any], **fields: Any) -> Iterator[Entry]:
    """An entry for each choice of public arguments."""
    for options in choices:
        yield Entry(function, neighbours, options, **fields)


ENTRIES: tuple[Entry, ...] = (
    Entry("private_degrees", all_graph_neighbours, {"mechanism": "gaussian"}),
    Entry("private_degrees", all_graph_neighbours, {"mechanism": "laplace"}, pure=True),
    Entry("private_degrees", all_graph_neighbours, {"mechanism": "auto"}),
    Entry("private_degree_distribution", all_graph_neighbours, pure=True),
    Entry("private_degree_distribution", node_neighbours, {"adjacency": "node"}, pure=True),
    Entry("private_subgraph_counts", node_neighbours, {"adjacency": "node", "patterns": "edge"}, pure=True),
    *each_of(
        "private_communities",
        iterate_neighbours,
        {"communities": "auto"},
        {"mechanism": "bounded-iterates", "communities": 3, "resolution": 2.0},
        {"mechanism": "randomized-response", "communities": 2},
        pure=True,
    ),
    # A clique, in which few answers are false; the average degree leaves open what "auto" takes.
    Entry("private_communities", clique_neighbours, {"mechanism": "auto"}, pure=True, epsilon=3.0),
    *each_of(
        "private_subgraph_counts",
        dense_graph_neighbours,
        {"mechanism": "auto", "patterns": "triangle"},
        {"mechanism": "ladder", "patterns": "triangle"},
        {"mechanism": "ladder", "patterns": ("edge", "wedge", "3-star")},
        {"mechanism": "ladder", "patterns": ("4-cycle", "4-clique")},
        {"mechanism": "smooth", "patterns": ("triangle", "4-cycle")},
        pure=True,
    ),
    Entry(
        "private_subgraph_counts",
        dense_graph_neighbours,
        {"mechanism": "local-sensitivity", "patterns": ("triangle", "4-cycle")},
    ),
    *(
        Entry(
            "private_statistic",
            unweighted_neighbours,
            {"statistic": statistic},
            refused=Data(poisoned_graph().value),
            pure=True,
        )
        for statistic in ("components", "matching", "degeneracy", "edge-connectivity")
    ),
    Entry("private_densest_subgraph", all_graph_neighbours, pure=True),
    Entry("private_synthetic_graph", all_graph_neighbours, pure=True),
    Entry("report", all_graph_neighbours, {"cut": True}, pure=True),
    Entry("private_transitivity", dense_graph_neighbours, pure=True),
    *(
        Entry("private_normalized_adjacency", all_graph_neighbours, options, epsilon=audited_at(options))
        for options in (
            {"mechanism": "coherence"},
            {"mechanism": "coherence", "rank": 2, "coherence": "rank"},
            {"mechanism": "coherence", "rank": 2, "certificate": "gap-and-coherence"},
            {"mechanism": "coherence", "rank": 1, "regularization": 5.0},
            {"mechanism": "gaussian", "regularization": 3.0},
            {"mechanism": "noisy-power"},
            {"mechanism": "noisy-power", "rank": 1, "regularization": 3.0},
            {"mechanism": "randomized-response"},
            {"mechanism": "communities"},
            {"mechanism": "auto"},
        )
    ),
    *(
        Entry("private_normalized_adjacency", pairs, {"mechanism": "auto"} | options, epsilon=epsilon)
        for pairs, options, epsilon in (  # where the degrees decide, and where their residual does
            (undecided_neighbours, {"rank": 2}, 1.0),
            (undecided_neighbours, {"rank": 1}, 3.0),
            (hidden_neighbours, {"rank": 1, "regularization": "auto"}, 2.0),
        )
    ),
    *each_of(
        "private_node_similarities",
        all_graph_neighbours,
        {"mechanism": "auto"},
        {"mechanism": "noisy-power"},
        {"mechanism": "gaussian", "rank": 2},
    ),
    *(
        Entry("private_max_cut", cut_neighbours(options), options, epsilon=audited_at(options))
        for options in (
            {"mechanism": "auto"},
            {"mechanism": "bounded-iterates"},
            {"mechanism": "coherence", "on_halt": "fallback"},
            {"mechanism": "coherence", "rank": 2, "regularization": 20.0},
            {"mechanism": "coherence", "rank": 2, "random_degree": 1.0},
            _PAPER,
            _PAPER | {"on_halt": "fallback", "random_degree": 1.0},
            {"mechanism": "gaussian"},
            {"mechanism": "noisy-power"},
            {"mechanism": "randomized-response"},
        )
    ),
    Entry("private_max_cut", tiny_graph_neighbours, {"mechanism": "permute-and-flip"}),
    Entry("private_max_bisection", tiny_graph_neighbours, {"mechanism": "permute-and-flip"}),
    *(
        Entry("private_max_bisection", cut_neighbours(options), options, epsilon=audited_at(options))
        for options in (
            {"mechanism": "bounded-iterates"},
            {"mechanism": "coherence", "on_halt": "fallback"},
            _PAPER,
            {"mechanism": "gaussian"},
            {"mechanism": "noisy-power"},
            {"mechanism": "randomized-response"},
        )
    ),
    *(
        Entry("private_max_2csp", csp_neighbours(options["adjacency"]), options, epsilon=audited_at(options))
        for options in (
            {"adjacency": "label-edge", "mechanism": "auto"},
            {"adjacency": "constraint", "mechanism": "auto"},
            {"adjacency": "label-edge", "mechanism": "coherence"},
            {"adjacency": "label-edge"} | _PAPER | {"random_degree": 1.0},
        )
    ),
    *(
        Entry("private_max_2csp", csp_neighbours(adjacency), {"adjacency": adjacency, "delta": 0.0}, pure=True)
        for adjacency in ("label-edge", "constraint")
    ),
    Entry("private_max_k_cut", iterate_neighbours, {"k": 3, "delta": 0.0}, pure=True),
    *(
        Entry(  # at the epsilon of the audit labels are read repeatedly; two labels are so from a small one on
            "private_max_k_cut",
            neighbours,
            {"k": k, "delta": 0.0, "mechanism": "bounded-iterates"},
            pure=True,
            epsilon=epsilon,
        )
        for k, neighbours, epsilon in ((2, complete_graph_neighbours, 2.5), (3, iterate_neighbours, EPSILON))
    ),
    Entry(  # the same where labels are not worth the same: a constant that is added to all of them matters
        "private_max_2csp",
        edge_csp_neighbours,
        {"adjacency": "edge", "delta": 0.0, "mechanism": "bounded-iterates"},
        pure=True,
    ),
    Entry("private_max_2csp", edge_csp_neighbours, {"adjacency": "edge"}),
    Entry("private_max_k_cut", all_graph_neighbours, {"k": 3}),
    Entry("private_max_k_cut", iterate_neighbours, {"k": 3, "mechanism": "bounded-iterates"}),
    Entry("private_max_k_cut", all_graph_neighbours, {"k": 3, "mechanism": "randomized-response"}),
    Entry("private_spectrum", all_graph_neighbours, {"k": 1}, refused=poisoned_graph()),
    Entry("private_spectrum", matrix_neighbours(), {"k": 3}),
    Entry("private_spectrum", matrix_neighbours(rectangular=True), {"k": 2}),
    Entry("private_coherence", matrix_neighbours(), {"rank": 2}),
    *each_of(
        "private_projector",
        matrix_neighbours(),
        {"rank": "auto"},
        {"rank": 3, "mechanism": "coherence"},
        {"rank": 2, "mechanism": "gaussian"},
    ),
    Entry("private_projector", matrix_neighbours(), {"rank": 2, "certificate": "stability"}, epsilon=STABILITY_EPSILON),
    *each_of(
        "private_low_rank",
        matrix_neighbours(),
        {"rank": 2, "mechanism": "coherence"},
        {"rank": 2, "mechanism": "noisy-power"},
    ),
    Entry("private_projector", matrix_neighbours(), {"rank": "auto", "mechanism": "noisy-power"}),
    *each_of(
        "private_eigenspace",
        matrix_neighbours(),
        {"rank": 1, "mechanism": "coherence"},
        {"rank": 1, "which": "smallest", "mechanism": "coherence"},
        {"rank": 1, "which": "smallest", "mechanism": "noisy-power"},
    ),
    *(
        Entry("private_singular_subspace", matrix_neighbours(rectangular=True), options, epsilon=audited_at(options))
        for options in (
            {"rank": 2, "mechanism": "coherence"},
            {"rank": 2, "certificate": "stability"},
            {"rank": 2, "mechanism": "noisy-power"},
            {"rank": 2, "mechanism": "gaussian"},
        )
    ),
    Entry("private_singular_subspace", flat_matrix_neighbours, {"rank": 1, "mechanism": "coherence"}),
    Entry(
        "perturb_and_project",
        array_neighbours,
        refused=Data(np.diag([np.nan, 1.0]), {"sensitivity": 1.0, "sets": [Box(-1, 1)], "symmetric": True}),
    ),
    Entry("private_cosine_similarities", cosine_neighbours),
    *(
        Entry("private_covariance", record_neighbours(remove=options["adjacency"] == "add-remove"), options, pure=True)
        for options in (
            {"adjacency": "replace"},
            {"adjacency": "add-remove", "project": False},
            {"adjacency": "replace", "mechanism": "nuclear-laplace", "project": False},
            {"adjacency": "replace", "mechanism": "wishart-difference", "project": False},
            {"adjacency": "add-remove", "mechanism": "wishart-difference", "project": False},
        )
    ),
    *(
        Entry(
            "private_singular_subspace",
            record_neighbours(remove=adjacency == "add-remove", counted=False),
            {"rank": 1, "max_norm": 1.0, "adjacency": adjacency, "delta": delta},
            refused=Data(NAN_ROWS, {}),
            pure=delta == 0.0,
        )
        for adjacency, delta in (("replace", 0.0), ("add-remove", 1e-6))
    ),
    Entry("private_covariance", record_neighbours(), {"mechanism": "gaussian", "adjacency": "replace"}),
    Entry(
        "private_covariance",
        record_neighbours(remove=True),
        {"mechanism": "gaussian", "adjacency": "add-remove", "project": False},
    ),
    *(
        Entry(
            "private_marginals",
            partial(bit_neighbours, remove=options.get("adjacency") == "add-remove"),
            options,
            pure="delta" in options,
        )
        for options in (
            {"k": 2, "adjacency": "replace"},
            {"k": 2, "adjacency": "add-remove"},
            {"k": 3, "degree": 4},
            {"k": 2, "sparsity": 2},
            {"k": 2, "sparsity": 2, "adjacency": "add-remove"},
            {"k": 2, "categories": {0: [0, 1, 2]}},
            {"k": 2, "delta": 0.0},
            {"k": 2, "adjacency": "add-remove", "delta": 0.0},
            {"k": 2, "sparsity": 2, "delta": 0.0},
            {"k": 2, "categories": {0: [0, 1, 2]}, "delta": 0.0},
        )
    ),
    *(
        Entry(
            "private_linear_queries",
            partial(histogram_neighbours, replace=options.get("adjacency") == "replace", shapes=shapes),
            options,
            pure=options["mechanism"] in ("laplace", "k-norm"),
        )
        for shapes, options in (
            (_QUERY_SHAPES, {"mechanism": "auto"}),
            (_QUERY_SHAPES, {"mechanism": "ellipsoid"}),
            (_QUERY_SHAPES[:1], {"mechanism": "factorization"}),
            (_QUERY_SHAPES, {"mechanism": "factorization", "adjacency": "replace"}),
            (_QUERY_SHAPES, {"mechanism": "gaussian", "adjacency": "replace"}),
            (_QUERY_SHAPES, {"mechanism": "ellipsoid", "adjacency": "replace"}),
            (_QUERY_SHAPES, {"mechanism": "auto", "sparse": True, "records": 200}),
            (_QUERY_SHAPES, {"mechanism": "laplace"}),
            (_QUERY_SHAPES, {"mechanism": "laplace", "adjacency": "replace"}),
            # Noise on the histogram, of the hull, and of the ellipsoid around it.
            ((*_QUERY_SHAPES, (8, 40)), {"mechanism": "k-norm"}),
        )
    ),
    Entry(  # noise of the ellipsoid: there are too many columns for their hull; one that touches it is left out
        "private_linear_queries",
        partial(histogram_neighbours, shapes=((2, 2001),), removed=1800),
        {"mechanism": "k-norm", "sparse": False},
        pure=True,
        epsilon=1.0,
    ),
    *each_of(
        "private_symmetric_matrix",
        nuclear_neighbours,
        {"mechanism": "wishart-difference"},
        {"mechanism": "nuclear-laplace"},
        pure=True,
        module="dpgraph.problems.matrices.symmetric",
    ),
    NetworkxEntry("one_exchange", networkx_neighbours(graphs=iterate_neighbours)),
    NetworkxEntry(
        "spectral_bisection",
        networkx_neighbours(graphs=partial(large_graph_neighbours, 0.9, 0.15), **_BISECTION),
        refused=poisoned_networkx_graph(**_BISECTION),
    ),
    NetworkxEntry(
        "kernighan_lin_bisection",
        networkx_neighbours(graphs=partial(large_graph_neighbours, 0.9, 0.15), weight=None),
        refused=poisoned_networkx_graph(weight=None),
    ),
    NetworkxEntry(
        "adjacency_spectrum", networkx_neighbours(weighted=True), refused=poisoned_networkx_graph(weight=None)
    ),
    NetworkxEntry("laplacian_spectrum", networkx_neighbours(weight=None), refused=poisoned_networkx_graph(weight=None)),
    *(
        NetworkxEntry(function, neighbours, refused=poisoned_networkx_graph(**public), pure=pure)
        for pure in (False, True)
        for function, neighbours, public in (
            ("randomized_partitioning", networkx_neighbours(weighted=True), {}),
            ("cut_size", networkx_neighbours("S"), {"S": [0, 1]}),
            ("volume", networkx_neighbours("S", inside=True), {"S": [0, 1]}),
            ("conductance", networkx_neighbours("S"), {"S": [0, 1]}),
            ("normalized_cut_size", networkx_neighbours("S", inside=True), {"S": [0, 1]}),
            ("edge_expansion", networkx_neighbours("S"), {"S": [0, 1]}),
            ("mixing_expansion", networkx_neighbours("S"), {"S": [0, 1]}),
            ("density", networkx_neighbours(nodes=None), {"nodes": None}),
            ("degree_centrality", networkx_neighbours(), {}),
            ("modularity", networkx_neighbours("communities"), {"communities": [{0, 1}, {2, 3, 4, 5}]}),
            ("partition_quality", networkx_neighbours("partition"), {"partition": [{0, 1}, {2, 3, 4, 5}]}),
            ("attribute_mixing_matrix", networkx_neighbours(attribute="side"), {"attribute": "side"}),
            ("attribute_assortativity_coefficient", networkx_neighbours(attribute="side"), {"attribute": "side"}),
        )
    ),
    *(
        NetworkxEntry(function, networkx_neighbours(graphs=iterate_neighbours), pure=True)
        for function in (
            "louvain_communities",
            "leiden_communities",
            "greedy_modularity_communities",
            "label_propagation_communities",
            "asyn_lpa_communities",
            "fast_label_propagation_communities",
        )
        if function in nx.utils.backends._registered_algorithms  # some are as new as networkx 3.6
    ),
    *(
        NetworkxEntry(function, networkx_neighbours(graphs=dense_graph_neighbours), pure=True)
        for function in ("transitivity", "degree_assortativity_coefficient")
    ),
    *(
        NetworkxEntry(function, networkx_neighbours(), pure=True)
        for function in ("number_connected_components", "edge_connectivity", "densest_subgraph", "triangles")
        if function in nx.utils.backends._registered_algorithms
    ),
    *(
        Entry(function, person_neighbours, options, pure=pure, persons=3)
        for function, options, pure in (
            ("private_degrees", {"mechanism": "laplace"}, True),
            ("private_degree_distribution", {}, True),
            ("private_communities", {"mechanism": "bounded-iterates", "communities": 3}, True),
            ("private_subgraph_counts", {"patterns": ("triangle", "wedge"), "mechanism": "ladder"}, True),
            ("private_subgraph_counts", {"patterns": "triangle", "mechanism": "smooth"}, True),
            ("private_normalized_adjacency", {"mechanism": "noisy-power", "rank": 1, "regularization": 3.0}, False),
            ("private_max_cut", {"mechanism": "bounded-iterates"}, False),
            ("private_max_cut", {"mechanism": "randomized-response"}, False),
        )
    ),
)


def strategy_entries() -> list[Entry]:
    """Entries of the strategies that none of :data:`ENTRIES` names: on the neighbours of the first of their function.

    So a strategy is tested as soon as it stands in a registry. Write an entry of its own where other neighbours come
    closer to its worst case.
    """
    named = {(entry.function, entry.options.get("mechanism")) for entry in ENTRIES}
    made = []
    for function, registry in REGISTRIES.items():
        first = next(entry for entry in ENTRIES if entry.function == function)
        parameters = inspect.signature(first.code).parameters
        public = {name: value for name, value in first.options.items() if name in parameters and name != "delta"}
        for strategy in registry(public).strategies.values():
            pure = strategy.pure
            if (function, strategy.name) not in named:
                made.append(replace(first, options=public | {"mechanism": strategy.name}, pure=pure))
    return made


ENTRIES += tuple(strategy_entries())


def of_each_strategy(entries: Sequence[Entry]) -> list[Entry]:
    """One entry of each strategy and neighbouring relation of each function: other options read no other input."""

    def kind(entry: Entry) -> tuple[Any, ...]:
        return entry.function, entry.options.get("mechanism"), entry.options.get("adjacency"), entry.persons

    return list({kind(entry): entry for entry in reversed(entries)}.values())


def offered(module: ModuleType) -> list[str]:
    """What a module offers: the names that it lists, or else all that it defines without an underscore."""
    defined = [name for name, member in vars(module).items() if getattr(member, "__module__", None) == module.__name__]
    return getattr(module, "__all__", [name for name in defined if not name.startswith("_")])


def public_private_functions() -> dict[str, Callable[..., Any]]:
    """Name -> every public function of the package that spends a budget: it takes epsilon and an accountant."""
    found = {}
    for module in pkgutil.walk_packages(dpgraph.__path__, "dpgraph."):
        if module.name.endswith("__main__"):
            continue  # importing it runs the command line
        loaded = importlib.import_module(module.name)
        for name in offered(loaded):
            function = getattr(loaded, name)
            if not inspect.isfunction(function) or name.startswith("open_"):  # those debit, and release nothing
                continue
            if {"epsilon", "accountant"} <= inspect.signature(function).parameters.keys():
                found[name] = function
    return found
