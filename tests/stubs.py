"""Types that editors and type checkers see, written from the tables and registries that the package runs on.

``python -m tests.stubs`` writes them; ``tests/test_typing.py`` fails while they differ:

* ``dpgraph/__init__.pyi`` from the tables of ``dpgraph/__init__.py``, ``dpgraph/strategies.pyi`` from the strategies,
  whose names are found when they are first used, and from the registries of problems what ``mechanism=`` takes.
"""

import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import dpgraph
from dpgraph import strategies
from dpgraph.problems.driver import Registry

PACKAGE = Path(dpgraph.__file__).parent
WRITTEN = "written by `python -m tests.stubs`, and compared by the tests"

#: Alias -> what it is the `mechanism=` of, and where the registries are in dpgraph.problems.
MECHANISMS = {
    "CommunityMechanism": ("communities", ("communities:COMMUNITY_STRATEGIES",)),
    "CountMechanism": ("counts of subgraphs", ("counts.subgraphs:COUNTS",)),
    "CovarianceMechanism": ("a covariance", ("records.covariance_noise:LAWS",)),
    "CSPMechanism": ("a constraint problem, whatever its neighbours", ("labels:EDGES", "labels:TABLES")),
    "CutMechanism": ("cuts and bisections", ("labels:CUTS",)),
    "EmbeddingMechanism": ("a normalized adjacency, and of similarities", ("embedding.strategies:EMBEDDINGS",)),
    "KCutMechanism": ("a cut into k parts", ("labels:EDGES",)),
    "MatrixMechanism": ("eigenspaces and singular subspaces", ("matrices.subspace_strategies:MATRICES",)),
    "QueryMechanism": ("linear queries", ("records.query_noise:MECHANISMS",)),
}


def registry(place: str) -> Registry:
    """The strategies that a problem has there."""
    found: Registry = pkgutil.resolve_name(f"dpgraph.problems.{place}")
    return found


def imports(names: Iterable[tuple[str, str, str]]) -> list[str]:
    """Lines that import (module, name, name here) for others."""
    return [f"from {module} import {name} as {here}" for module, name, here in names]


def front_door() -> str:
    """The stub of dpgraph itself."""
    modules = [(*module.rpartition(".")[::2], here) for here, module in dpgraph._MODULES.items()]
    names = [(module, name, name) for name, module in dpgraph._HOME.items()]
    lines = [f'"""What dpgraph offers: {WRITTEN}."""', *imports(modules + names), "__version__: str"]
    return "\n".join([*lines, f"__all__ = {sorted(dpgraph.__all__)!r}"])


def all_strategies() -> str:
    """The stub of dpgraph.strategies, with what ``mechanism=`` of each problem takes."""
    classes = [(options.__module__, name, name) for name, options in sorted(strategies._classes().items())]
    lines = [f'"""Options of all strategies: {WRITTEN}."""', "from typing import Literal, TypeAlias", *imports(classes)]
    for alias, (problem, places) in MECHANISMS.items():
        found = [s for place in places for s in registry(place).strategies.values()]
        names = dict.fromkeys(["auto", *(strategy.name for strategy in found)])
        options = sorted({strategy.options.__name__ for strategy in found})
        lines += [f"#: Of {problem}.", f"{alias}: TypeAlias = Literal{list(names)!r} | {' | '.join(options)}"]
    return "\n".join([*lines, f"__all__ = {dir(strategies)!r}"])


FILES = {"__init__.pyi": front_door, "strategies.pyi": all_strategies}


def formatted(code: str, path: str) -> str:
    """The same as ruff lays it out, with sorted imports."""
    for command in (["check", "--fix-only", "--select=I"], ["format"]):
        code = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", f"--stdin-filename={PACKAGE / path}", "-"],
            input=code,
            capture_output=True,
            text=True,
            check=True,
            cwd=PACKAGE.parent,
        ).stdout
    return code


def expected() -> dict[str, str]:
    """Path in the package -> its text."""
    return {path: formatted(inspect.cleandoc(write()) + "\n", path) for path, write in FILES.items()}


if __name__ == "__main__":
    for path, text in expected().items():
        (PACKAGE / path).write_text(text)
