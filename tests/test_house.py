"""How the package is built: what imports what, where noise is drawn, how large folders are (docs/architecture.md).

`make lint` checks the contracts on imports (.importlinter). Here is what they cannot say.
"""

import ast
from pathlib import Path

import grimp
import networkx as nx
import pytest

import dpgraph

PACKAGE = Path(dpgraph.__file__).parent


def trees(word):
    """Path of each module that has the word -> its syntax tree."""
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: ast.parse(text) for name, text in texts.items() if word in text}


@pytest.fixture(scope="module")
def imports():
    """Who imports whom, those inside functions too; what only a type checker imports does not count."""
    graph = grimp.build_graph("dpgraph", exclude_type_checking_imports=True, cache_dir=None)
    return nx.DiGraph({name: graph.find_modules_directly_imported_by(name) for name in graph.modules})


def test_no_modules_import_each_other_not_even_inside_functions(imports):
    assert [sorted(modules) for modules in nx.strongly_connected_components(imports) if len(modules) > 1] == []


def test_only_the_privacy_package_makes_generators_for_noise():
    made = {
        name
        for name, tree in trees("randomgen").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
        and any("randomgen" in part for part in [getattr(node, "module", None) or "", *(a.name for a in node.names)])
    }
    assert made == {"privacy/noise.py"}


def test_asserts_are_not_used_for_checks():
    modules = trees("assert").items()
    assert [name for name, tree in modules if any(isinstance(node, ast.Assert) for node in ast.walk(tree))] == []
