"""Every function that networkx dispatches, in every configuration: who reads an edge, and who pays.

An answer is private (budget was debited, and only this package read edges), exact (networkx read, nobody asked for
privacy, nothing was debited) or refused. It is never a mixture, in which an exact part looks as if it were paid for.
"""

import inspect
import itertools
import sys

import networkx as nx
import pytest

import dpgraph
from dpgraph.exceptions import DPGraphError
from dpgraph.interfaces.networkx.info import ANSWERED
from dpgraph.interfaces.networkx.private_graph import PrivateGraph

REGISTERED = nx.utils.backends._registered_algorithms
FUNCTIONS = sorted(name for name, function in REGISTERED.items() if function.graphs)
#: Not every networkx has all of them.
PRIVATE = [name for name in ANSWERED if name in REGISTERED]
EDGES = {
    "_adj", "adj", "edges", "degree", "neighbors", "adjacency", "size", "number_of_edges", "get_edge_data", "has_edge",
    "nbunch_iter", "subgraph", "edge_subgraph", "copy", "to_directed", "to_undirected", "__getitem__",
}  # fmt: skip


#: Code of the graph itself, which reads for somebody else.
VIEWS = (__name__, "functools", *(f"networkx.classes.{name}" for name in ("graph", "reportviews", "coreviews")))


class WatchedGraph(nx.Graph):
    """Notes who looks at its edges: "dpgraph" or "networkx"; and refuses to be changed."""

    def __init__(self, edges=()):
        super().__init__()
        self.add_edges_from(edges)
        nx.set_node_attributes(self, 1, "a")
        for u, v in edges:
            self[u][v]["weight"] = 1.0
        self.__dict__["readers"] = set()

    def __getattribute__(self, name):
        if name in EDGES and "readers" in object.__getattribute__(self, "__dict__"):
            object.__getattribute__(self, "__dict__")["readers"].add(reader())
        return super().__getattribute__(name)

    def __getitem__(self, node):
        if "readers" in self.__dict__:
            self.__dict__["readers"].add(reader())
        return super().__getitem__(node)


def reader():
    """Whose code asked for the edges: that of the innermost frame outside this file and the graph class."""
    frame = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("dpgraph."):
            return "dpgraph"
        if module not in VIEWS:
            return "networkx"
        frame = frame.f_back
    return "networkx"


#: A connected graph in which edge (0, 1) is a bridge, so that exact parts depend on it visibly.
BRIDGED = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 1), (2, 4), (0, 5), (5, 6), (6, 0)]

#: What required parameters are given, by name; others are given a vertex.
VALUES = {
    "S": [0, 5, 6], "T": [1, 2, 3, 4], "nodes": [0, 5, 6], "nbunch": [0, 1], "communities": [{0, 5, 6}, {1, 2, 3, 4}],
    "partition": [{0, 5, 6}, {1, 2, 3, 4}], "weight": "weight", "k": 2, "C": {0, 5}, "terminal_nodes": [0, 3],
    "sources": {0}, "targets": {3}, "path": "graph.out", "attribute": "a", "name": "a", "values": 1, "mapping": {},
    "edges": [(0, 1)], "matching": {(0, 1)}, "initial_cut": None, "ebunch": [(0, 3)], "nlist": [[0, 1]], "size": 2,
    "node_match": None, "B": None, "block": [{0}, {1}], "s": 0, "t": 3, "node_list": [0, 1], "swaps": 1, "seed": 1,
    "p": 0.5, "n": 2, "capacity": "weight", "subset": [0], "group": [0], "dist": {}, "radius": 1, "h": 1,
}  # fmt: skip


def arguments(function, make):
    """A graph for every parameter that is one, and a value for every other parameter that is required."""
    graphs = {name.strip("?[]") for name in function.graphs}
    given, handed = {}, []
    for p in inspect.signature(function.orig_func).parameters.values():
        if p.name in graphs and (p.default is p.empty or p.default is None):
            given[p.name] = make()
            handed.append(given[p.name])
        elif p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            given[p.name] = VALUES.get(p.name, 0)
    if function.name == "spectral_bisection":
        given["normalized"] = True
    return given, handed


def called(name, *, private, budget, **more):
    """What a call came to: the outcome, who read edges, and whether budget was debited."""
    watched = []

    def make():
        watched.append(WatchedGraph(BRIDGED))
        return PrivateGraph(watched[-1]) if private else watched[-1]

    given, _ = arguments(REGISTERED[name], make)
    before = len(budget._ledgers)
    try:
        result = REGISTERED[name](**given, **more)
        if inspect.isgenerator(result) or hasattr(result, "__next__"):
            list(itertools.islice(result, 20))
        outcome = "answered"
    except Exception as error:
        outcome = "refused" if isinstance(error, (DPGraphError, NotImplementedError)) else "error"
    readers = set().union(*(graph.readers for graph in watched)) if watched else set()
    return outcome, readers, len(budget._ledgers) > before


@pytest.fixture(autouse=True)
def clean_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = nx.config.backends.dpgraph
    yield
    settings.epsilon = settings.delta = settings.max_weight = None
    nx.config.backend_priority = []
    nx.config.fallback_to_nx = False


def configure(fallback):
    settings = nx.config.backends.dpgraph
    settings.epsilon, settings.delta, settings.max_weight = 0.5, 1e-6, 1.0
    nx.config.backend_priority = ["dpgraph"]
    nx.config.fallback_to_nx = fallback


def walk(names):
    """Faults of all `names` in all configurations, and which functions ever spent budget."""
    faults, spenders = [], set()
    with dpgraph.PrivacyAccountant(epsilon=1e9, delta=0.9) as budget:
        for fallback, private, keyword in itertools.product(
            (False, True), (False, True), (None, "dpgraph", "networkx")
        ):
            configure(fallback)
            for name in names:
                more = {} if keyword is None else {"backend": keyword}
                outcome, readers, spent = called(name, private=private, budget=budget, **more)
                secret = private or keyword == "dpgraph"
                wrong = (
                    (spent and "networkx" in readers)
                    or (not spent and "dpgraph" in readers)
                    or (secret and "networkx" in readers)
                    or (secret and outcome == "answered" and not spent and name in ANSWERED)
                )
                if wrong:
                    faults.append((name, f"{fallback=}", f"{private=}", keyword, outcome, sorted(readers), f"{spent=}"))
                if spent:
                    spenders.add(name)
    return faults, spenders


def test_answers_are_private_exact_or_refused_and_never_a_mixture():
    faults, spenders = walk([*PRIVATE, *FUNCTIONS[::50]])
    assert faults == []
    assert spenders == set(PRIVATE)


@pytest.mark.slow
def test_so_are_those_of_all_functions_of_networkx():
    faults, spenders = walk(FUNCTIONS)
    assert faults == []
    assert spenders == set(PRIVATE)


def test_a_function_of_networkx_that_is_not_known_here_is_exact_as_a_whole():
    """What a later version may add: code inside networkx that calls a function of the backend."""
    configure(fallback=False)
    code = "def combined(G, S):\n    return cut_size(G, S) / G.number_of_edges()\n"
    module = {"__name__": "networkx.algorithms.later", "cut_size": nx.cut_size}
    exec(code, module)
    with dpgraph.PrivacyAccountant(epsilon=9.0, delta=0.1) as budget:
        assert module["combined"](nx.Graph(BRIDGED), [0, 5, 6]) == 1 / 9
    assert budget.spent.epsilon == 0.0
