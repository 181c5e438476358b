"""Modules of dpgraph in the order in which a call enters them: ``python -m tests.walk``.

A stranger who wants to know what a private cut does reads these modules, in this order.
"""

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import dpgraph


def walk(call: Callable[[], Any]) -> tuple[list[str], Counter[str]]:
    """Modules of dpgraph that run in a call, in order of entry, and how many of the functions of each."""
    call()  # imports and compiles
    order: dict[str, None] = {}
    functions: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("dpgraph."):
            order.setdefault(name)
            functions.add((name, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(order), Counter(module for module, _ in functions)


def calls() -> dict[str, Callable[[], Any]]:
    """What is walked."""
    graph = dpgraph.datasets.planted_cut(400, 100, -0.75, rng=1)
    rows = np.random.default_rng(1).uniform(-0.3, 0.3, (500, 4))
    return {
        "private cut": lambda: dpgraph.private_max_cut(graph, epsilon=1.0, rng=1),
        "embedding": lambda: dpgraph.private_normalized_adjacency(graph, epsilon=16.0, delta=1e-6, rank=2, rng=1),
        "covariance": lambda: dpgraph.private_covariance(rows, epsilon=1.0, rng=1),
        "communities": lambda: dpgraph.private_communities(graph, epsilon=1.0, rng=1),
        "exact cut": lambda: dpgraph.max_cut(graph, rng=1),
        "networkx call": lambda: nx.approximation.one_exchange(
            graph, backend="dpgraph", epsilon=1.0, delta=1e-6, seed=1
        ),
    }


def main() -> None:
    """Print every walk."""
    for name, call in calls().items():
        modules, functions = walk(call)
        print(f"{name}: {len(modules)} modules, {functions.total()} functions")
        for module in modules:
            print(f"    {module.removeprefix('dpgraph.'):40} {functions[module]:3}")


if __name__ == "__main__":
    main()
