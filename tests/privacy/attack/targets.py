"""Every public private function, with the genes of its data and of all its public arguments.

Mechanisms come from the registry (``tests/privacy/registry.py``): a function that is entered there is attacked here.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpgraph.problems.matrices.subspace_strategies import MATRICES
from tests.privacy.attack import record_data as records
from tests.privacy.attack.genes import DELTA, EPSILON, REGULARIZATION, Choice, Gene, Genome, Maybe, Seed, Whole
from tests.privacy.attack.graph_data import (
    SIDE,
    graph_genes,
    graph_inputs,
    large_genes,
    large_inputs,
    networkx_inputs,
    unweighted_inputs,
)
from tests.privacy.attack.trial import Comparison, compare
from tests.privacy.inputs import Data
from tests.privacy.registry import ENTRIES, Entry, NetworkxEntry
from tests.spelling import REGISTRIES, options_of

Inputs = Callable[[Genome, Entry], tuple[Data, Data]]

#: Public arguments by name: what the registry does not fix for a mechanism is searched.
KNOBS: dict[str, Gene] = {
    "regularization": Maybe(REGULARIZATION),
    "certificate": Maybe(Choice(("stability", "gap-and-coherence"))),
    "coherence": Maybe(Choice(("degree-corrected", "rank"))),
    "centered": Maybe(Choice((True, False))),
    "which": Maybe(Choice(("largest", "smallest"))),
}
#: Post-processing need not be good here.
_CHEAP = {"rounds": 1, "seeds": 1, "max_iter": 3, "iterations": 2, "denoise": False, "projection": "none"}
#: Several thousand vertices say nothing that hundreds do not; cuts of all vertices are enumerated.
_TINY = {"permute-and-flip": 10}
#: Mechanisms whose faults differ from those of the others of the function are searched by themselves.
_PURE = ("auto", "randomized-response", "permute-and-flip")
_APART: dict[str, dict[str, tuple[str, ...]]] = {
    "private_normalized_adjacency": {"coherence": ("coherence",)},
    "private_max_cut": {"pure": _PURE},
    "private_max_bisection": {"pure": _PURE},
}


@dataclass(frozen=True)
class Target:
    """A public function under attack.

    Parameters
    ----------
    name : str
        As the table names it.
    entries : tuple of Entry
        Its mechanisms.
    genes : dict
        Search space.
    inputs : callable
        Data and a neighbour, from genes.
    """

    name: str
    entries: tuple[Entry, ...]
    genes: dict[str, Gene]
    inputs: Inputs

    def arguments(self, genome: Genome) -> tuple[Entry, dict[str, Any]]:
        """The mechanism and the public arguments of a genome, apart from those that belong to the data."""
        entry = self.entries[genome["mechanism"]]
        more = {name: genome[name] for name in KNOBS if genome.get(name) is not None and name not in entry.options}
        more = {name: value for name, value in more.items() if _applies(entry, name)}
        if not entry.pure:
            # A bound may fail with delta, as test_good_events counts: thousands of trials would meet that.
            rare = entry.options.get("mechanism") == "local-sensitivity"
            more["delta"] = min(genome["delta"], 1e-9) if rare else genome["delta"]
        return entry, more

    def trial(self, genome: Genome) -> Comparison:
        """Draw on G, force on G'."""
        entry, more = self.arguments(genome)
        first, second = self.inputs(genome, entry)
        more = cheap(entry) | more

        def call(data: Data) -> Callable[[Any], Any]:
            arguments = {k: v for k, v in more.items() if k not in data.public}
            return lambda rng: entry.call(data, rng=rng, epsilon=genome["epsilon"], **arguments)

        return compare(call(first), call(second), seed=genome["noise seed"])

    def describe(self, genome: Genome) -> str:
        """The knobs in one line; data is described by its genes."""
        entry, more = self.arguments(genome)
        knobs = entry.options | {"epsilon": genome["epsilon"]} | more
        knobs |= {
            k: genome[k]
            for k in ("max_weight", "sensitivity", "max_norm", "size", "n", "d", "repeats", "gap")
            if genome.get(k) is not None
        }
        return ", ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in knobs.items())


def cheap(entry: Entry) -> dict[str, Any]:
    """Public arguments that save time."""
    known = (*inspect.signature(entry.code).parameters, *options_of(entry.function, entry.options))
    return {name: value for name, value in _CHEAP.items() if name in known}


def _applies(entry: Entry, knob: str) -> bool:
    """Knobs that another mechanism would refuse only waste trials."""
    if knob == "coherence" and entry.function == "private_normalized_adjacency":
        return entry.options.get("mechanism") == "coherence"
    if knob == "certificate" and entry.function in REGISTRIES and REGISTRIES[entry.function]({}) is MATRICES:
        return entry.options.get("mechanism") == "coherence"
    return knob in inspect.signature(entry.code).parameters or knob in options_of(entry.function, entry.options)


def targets() -> tuple[Target, ...]:
    """One target for each function of the registry."""
    names = dict.fromkeys((entry.module, entry.function) for entry in ENTRIES)
    found = []
    for module, function in names:
        entries = tuple(e for e in ENTRIES if (e.module, e.function) == (module, function))
        for suffix, mechanisms in (_APART.get(function) or {}).items():
            apart = tuple(e for e in entries if e.options.get("mechanism") in mechanisms)
            found.append(_target(f"{function}, {suffix}", apart))
            entries = tuple(e for e in entries if e.options.get("mechanism") not in mechanisms)
        found.append(_target(function, entries))
    return (*found, _certified(), _large())


def _large() -> Target:
    """Degrees that are sums of very many weights."""
    entries = tuple(e for e in ENTRIES if e.function == "private_degrees")
    base = _target("private_degrees, large", entries)
    genes = {name: gene for name, gene in base.genes.items() if name not in graph_genes(2)}
    return Target(base.name, entries, genes | large_genes(), lambda genome, entry: large_inputs(genome))


def _certified() -> Target:
    """Graphs so large that eigenvalues come with a certificate that may fail."""
    entries = tuple(e for e in ENTRIES if e.function == "private_spectrum" and e.options["k"] == 1)
    base = _target("private_spectrum, certified", entries)
    genes = {name: gene for name, gene in base.genes.items() if not name.startswith("graph ")}
    genes = {name: gene for name, gene in genes.items() if name not in records.spectral_genes(1)}
    return Target(base.name, entries, genes | graph_genes(760, 705), _graph)


def target(function: str) -> Target:
    """The target of this name."""
    return next(t for t in targets() if t.name == function)


def _target(name: str, entries: tuple[Entry, ...]) -> Target:
    data_genes, inputs = _data(entries[0])
    parameters = set(inspect.signature(entries[0].code).parameters).union(
        *(options_of(e.function, e.options) for e in entries)
    )
    genes: dict[str, Gene] = {"mechanism": Choice(range(len(entries))), "epsilon": EPSILON, "noise seed": Seed()}
    if "delta" in parameters:
        genes["delta"] = DELTA
    genes |= {name: gene for name, gene in KNOBS.items() if name in parameters and name not in data_genes}
    return Target(name, entries, genes | data_genes, inputs)


def _data(entry: Entry) -> tuple[dict[str, Gene], Inputs]:
    """Genes and inputs, by what the function reads."""
    function, largest = entry.function, _LARGEST.get(entry.function, 40)
    if isinstance(entry, NetworkxEntry):
        return graph_genes(largest), _networkx
    match entry.private:
        case "G":
            # The stability test needs some vertices to be passed.
            least = 20 if entry.options.get("mechanism") == "coherence" else 2
            return graph_genes(largest, least), _graph
        case "instance":
            return graph_genes(20) | {"labels": Whole(2, 4)}, _csp
        case "X":
            return records.record_genes(2000), _records
        case "V":
            return records.record_genes(1), lambda genome, entry: records.cosine_inputs(genome)
        case "data":
            return records.bit_genes(), _bits
        case "x":
            return records.histogram_genes(), _histogram
        case "B":
            return records.matrix_genes(32), lambda genome, entry: records.nuclear_inputs(genome)
    if function == "perturb_and_project":
        return records.matrix_genes(16), lambda genome, entry: records.array_inputs(genome)
    if function == "private_spectrum":
        return records.spectral_genes(40) | {f"graph {k}": g for k, g in graph_genes(40).items()}, _spectrum
    inputs = partial(_matrix, rectangular=function == "private_singular_subspace")
    return records.spectral_genes(60), inputs


#: Largest number of vertices, by what a call costs.
_LARGEST = {"private_normalized_adjacency": 400, "private_degrees": 300, "private_statistic": 20}


def _graph(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    limit = _TINY.get(entry.options.get("mechanism", ""), 10**9)
    genome = genome | {"n": min(genome["n"], limit)}
    if "max_weight" not in inspect.signature(entry.code).parameters:
        return unweighted_inputs(genome)
    return graph_inputs(genome)


def _networkx(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    n, function = genome["n"], entry.function
    public: dict[str, Any] = {}
    if function in ("cut_size", "volume", "conductance", "normalized_cut_size", "edge_expansion", "mixing_expansion"):
        public["S"] = list(range(0, n, 2)) if function == "cut_size" else list(range((n + 1) // 2))
    if function == "density":
        public["nodes"] = None
    if function in ("modularity", "partition_quality"):
        name = "communities" if function == "modularity" else "partition"
        public[name] = [list(range(0, n, 2)), list(range(1, n, 2))]
    if "attribute" in inspect.signature(entry.code).parameters:
        public["attribute"] = SIDE
    if function == "spectral_bisection":
        public["normalized"] = True
    if "weight" in inspect.signature(entry.code).parameters:
        public["weight"] = None
    return networkx_inputs(genome, **public)


def _csp(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    return records.csp_inputs(genome, kind=entry.options.get("adjacency", "label-edge"))


def _records(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    remove = entry.options.get("adjacency", "replace") == "add-remove"
    first, second = records.record_inputs(genome, remove=remove)
    public = {} if genome["max_norm"] is None else {"max_norm": genome["max_norm"]}
    return Data(first.value, first.public | public), Data(second.value, second.public | public)


def _bits(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    return records.bit_inputs(genome, remove=entry.options.get("adjacency") == "add-remove")


def _histogram(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    return records.histogram_inputs(genome, replace=entry.options.get("adjacency") == "replace")


def _matrix(genome: Genome, entry: Entry, rectangular: bool) -> tuple[Data, Data]:
    return records.spectral_inputs(genome, rectangular=rectangular)


def _spectrum(genome: Genome, entry: Entry) -> tuple[Data, Data]:
    if entry.options["k"] == 1:
        return graph_inputs({k.removeprefix("graph "): v for k, v in genome.items() if k.startswith("graph ")})
    return records.spectral_inputs(genome, rectangular=entry.options["k"] == 2)
