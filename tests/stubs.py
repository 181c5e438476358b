"""Types that editors and type checkers see of strategies, whose names are found when they are first used.

``python -m tests.stubs`` writes ``dpgraph/strategies.pyi``, with what ``mechanism=`` takes, from the registries of
problems; ``tests/test_typing.py`` fails while it differs.
"""

import pkgutil
import subprocess
import sys
from pathlib import Path

import dpgraph
from dpgraph import strategies
from dpgraph.problems.driver import Registry

STUB = Path(dpgraph.__file__).with_name("strategies.pyi")
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


def all_strategies() -> str:
    """The stub of dpgraph.strategies, with what ``mechanism=`` of each problem takes."""
    lines = [f'"""Options of all strategies: {WRITTEN}."""', "from typing import Literal, TypeAlias"]
    lines += [f"from {kind.__module__} import {name} as {name}" for name, kind in sorted(strategies._classes().items())]
    for alias, (problem, places) in MECHANISMS.items():
        found = [s for place in places for s in registry(place).strategies.values()]
        names = dict.fromkeys(["auto", *(strategy.name for strategy in found)])
        options = sorted({strategy.options.__name__ for strategy in found})
        lines += [f"#: Of {problem}.", f"{alias}: TypeAlias = Literal{list(names)!r} | {' | '.join(options)}"]
    return "\n".join([*lines, f"__all__ = {dir(strategies)!r}"])


def expected() -> str:
    """The text as ruff lays it out, with sorted imports."""
    code = all_strategies() + "\n"
    for command in (["check", "--fix-only", "--select=I"], ["format"]):
        code = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", f"--stdin-filename={STUB}", "-"],
            input=code,
            capture_output=True,
            text=True,
            check=True,
            cwd=STUB.parents[1],
        ).stdout
    return code


if __name__ == "__main__":
    STUB.write_text(expected())
