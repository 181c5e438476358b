"""A private graph is read by private functions after their debit, and by nothing else."""

import importlib
import inspect
import pkgutil
from contextvars import copy_context

import networkx as nx
import pytest

import dpgraph
from dpgraph.exceptions import BudgetExceededError, InvalidGraphError
from dpgraph.interfaces.networkx import private_graph
from dpgraph.interfaces.networkx.private_graph import PrivateGraph

HALVES = (set(range(4)), set(range(4, 8)))


class EdgeReadError(BaseException):
    """Not an Exception, so that no function can turn it into an error of its own."""


class Sealed(nx.Graph):
    """Vertices can be listed; looking for an edge in any way is an error."""

    def __init__(self):
        super().__init__()
        self.add_nodes_from(range(8))
        self.sealed = True

    def __getattribute__(self, name):
        edges = {"_adj", "adj", "edges", "degree", "neighbors", "adjacency", "size", "number_of_edges", "get_edge_data"}
        if name in edges and "sealed" in object.__getattribute__(self, "__dict__"):
            raise EdgeReadError(name)
        return super().__getattribute__(name)


def public_callables():
    """Every function, and every classmethod of a class, that a module of dpgraph defines and does not call private."""
    for found in pkgutil.walk_packages(dpgraph.__path__, "dpgraph."):
        # What opens a block takes anything for an accountant, and the block would stay open for all other tests.
        if found.name == "dpgraph.privacy.open_blocks":
            continue
        if ".cli" in found.name or any(part.startswith("_") for part in found.name.split(".")[1:]):
            continue
        module = importlib.import_module(found.name)
        for name, member in list(vars(module).items()):  # a warning in a function is noted in its module
            if name.startswith("_") or getattr(member, "__module__", None) != found.name:
                continue
            if inspect.isclass(member):
                for method, kind in vars(member).items():
                    if isinstance(kind, classmethod):
                        yield f"{found.name}.{name}.{method}", getattr(member, method)
            elif callable(member):
                yield f"{found.name}.{name}", member


#: What the other parameters of a function are given, by name.
OTHERS = {
    "epsilon": 1.0, "delta": 1e-6, "rank": 1, "k": 2, "sensitivity": 1.0, "partition": HALVES, "labels": HALVES,
    "assignment": dict.fromkeys(range(8), 0), "nodes": [0, 1], "S": [0, 1], "kind": "max-k-cut", "alphabet": 2,
    "matrix": "adjacency", "normalized": True, "regularization": 1.0, "weight": None, "max_weight": 1.0,
}  # fmt: skip


def arguments(function, graph):
    """The graph first, then what else is required, and the parameters that would change who answers."""
    parameters = list(inspect.signature(function).parameters.values())
    keywords = {
        p.name: OTHERS[p.name]
        for p in parameters[1:]
        if p.name in OTHERS
        and (p.default is p.empty or p.name in ("delta", "normalized"))
        and p.kind is not p.POSITIONAL_ONLY
    }
    return (graph,), keywords


#: Some that must be among those that refuse, and among those that ask for a budget.
EXACT = {
    "dpgraph.evaluate.cut_value",
    "dpgraph.evaluate.cut_fraction",
    "dpgraph.problems.cut.exact.max_cut",
    "dpgraph.problems.cut.exact.max_bisection",
    "dpgraph.spectral.degree_corrected_coherence",
    "dpgraph.sos.moments.relaxation.lasserre",
    "dpgraph.instance.TwoCSP.from_networkx",
    "dpgraph.inputs.graphs.as_graph",
}
PRIVATE = {"dpgraph.problems.cut.private.private_max_cut", "dpgraph.problems.counts.degrees.private_degrees"}


def test_no_public_function_reads_an_edge_of_a_private_graph_without_a_debit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(private_graph, "_TESTED", False)  # put back: one function prepares networkx's own tests
    with nx.config.backends.dpgraph(epsilon=None, delta=None, max_weight=None):
        refused, debited = refused_and_debited()
    assert refused >= EXACT
    assert debited >= PRIVATE


def refused_and_debited():
    """Names of the public callables that refuse a private graph by its kind, and of those that ask for a budget."""
    refused, debited = set(), set()
    for name, function in public_callables():
        try:
            positional, keywords = arguments(function, PrivateGraph(Sealed()))
        except (TypeError, ValueError):
            continue
        try:
            with dpgraph.PrivacyAccountant(epsilon=1e-9, delta=1e-30):  # nothing fits, so private functions stop there
                copy_context().run(function, *positional, **keywords)  # some set what others of this thread would see
        except BudgetExceededError:
            debited.add(name)
        except EdgeReadError as read:
            pytest.fail(f"{name} read {read} of a private graph")
        except InvalidGraphError as error:
            if "PrivateGraph" in str(error) and "original graph" in str(error):
                refused.add(name)
        except Exception:  # a function that does not know what to do with a graph
            pass
    return refused, debited
