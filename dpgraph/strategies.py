"""Options of the strategies that ``mechanism=`` chooses: ``private_max_cut(G, ..., mechanism=Coherence(rank=4))``.

A name alone, ``mechanism="coherence"``, means the defaults. Each class is defined with its strategy, or in
:mod:`dpgraph.problems.options` if several problems share it, and found here by its name. What type checkers see of them
stands in ``strategies.pyi``, which ``python -m tests.stubs`` writes.

Examples
--------
>>> from dpgraph import strategies
>>> strategies.BoundedIterates(noise="laplace")
BoundedIterates(noise='laplace')
>>> "Coherence" in dir(strategies)
True
"""

import importlib
import pkgutil
from functools import cache
from typing import Any

from dpgraph import problems
from dpgraph.exceptions import no_attribute


@cache
def _classes() -> dict[str, type]:
    """Options class of every strategy by its name: of each module below :mod:`dpgraph.problems` with a ``STRATEGY``."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(problems.__path__, "dpgraph.problems."):
        if "strategies" in module.name.rpartition(".")[0]:
            strategy = getattr(importlib.import_module(module.name), "STRATEGY", None)
            if strategy is not None:
                found[strategy.options.__name__] = strategy.options
    return found


def names_in(package: str) -> tuple[str, ...]:
    """Names of the strategies in a package, without importing them: those of their modules, with hyphens."""
    path = importlib.import_module(package).__path__
    return tuple(module.name.replace("_", "-") for module in pkgutil.iter_modules(path))


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in _classes():
        raise no_attribute(__name__, name, () if name.startswith("_") else _classes())
    return _classes()[name]


def __dir__() -> list[str]:
    return sorted(_classes())
