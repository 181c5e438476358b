"""Options of the strategies that ``mechanism=`` chooses: ``private_max_cut(G, ..., mechanism=Coherence(rank=4))``.

A name alone, ``mechanism="coherence"``, means the defaults. Each class is defined with its strategy, or in
:mod:`dpgraph.problems.options` if several problems share it, and found here by its name. What type checkers see of them
stands in ``strategies.pyi``, which ``python -m tests.stubs`` writes.

Examples
--------
>>> from dpgraph import strategies
>>> strategies.Coherence(rank=3).rank
3
>>> "Coherence" in dir(strategies)
True
"""

import importlib
import pkgutil
from functools import cache
from typing import Any

from dpgraph import problems
from dpgraph.exceptions import no_attribute
from dpgraph.problems.driver import Registry


@cache
def registries() -> tuple[Registry, ...]:
    """The strategies of every problem."""
    found: dict[int, Registry] = {}
    for module in pkgutil.walk_packages(problems.__path__, "dpgraph.problems."):
        members = vars(importlib.import_module(module.name)).values()
        found |= {id(member): member for member in members if isinstance(member, Registry)}
    return tuple(found.values())


def _classes() -> dict[str, type]:
    """Options class of every strategy by its name."""
    strategies = [strategy for registry in registries() for strategy in registry.strategies.values()]
    return {strategy.options.__name__: strategy.options for strategy in strategies}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in _classes():
        raise no_attribute(__name__, name, () if name.startswith("_") else _classes())
    return _classes()[name]


def __dir__() -> list[str]:
    return sorted(_classes())
