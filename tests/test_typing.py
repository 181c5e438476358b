"""What type checkers see of the package: real names, real types, and the strategies of each problem."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpgraph
from dpgraph import strategies
from tests import stubs

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests" / "typed"
FILES = [PROGRAMS / "good.py", PROGRAMS / "bad.py"]


def ran(*command):
    """What a checker prints; it fails for mistakes in the programs, which are what is asked for."""
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def mypy():
    """(file, line) of each error, as `mypy --strict` with the settings, and the cache, of `make lint`."""
    found = re.findall(r"^(\S+?):(\d+): error: ", ran("mypy", "--strict", *map(str, FILES)), flags=re.MULTILINE)
    return {(Path(file).name, int(line)) for file, line in found}


def pyright():
    """The same of pyright, by a build of it whose Node.js is a wheel: it needs no network."""
    report = json.loads(ran("basedpyright", "--outputjson", "--project", str(PROGRAMS), "--pythonpath", sys.executable))
    errors = [found for found in report["generalDiagnostics"] if found["severity"] == "error"]
    return {(Path(found["file"]).name, found["range"]["start"]["line"] + 1) for found in errors}


def marked():
    """(file, line) of each mistake in the programs."""
    lines = [(path.name, number, line) for path in FILES for number, line in enumerate(path.open(), start=1)]
    return {(name, number) for name, number, line in lines if "# error: " in line}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_finds_every_marked_mistake_of_a_users_program_and_no_other(checker):
    assert len(marked()) > 20
    assert checker() == marked()


def test_the_stub_of_strategies_is_that_which_the_registries_give():
    assert stubs.STUB.read_text() == stubs.expected(), "it is out of date: run python -m tests.stubs"


def test_every_name_of_the_stub_is_offered_and_no_other():
    listed = Path(dpgraph.__file__).with_suffix(".pyi").read_text().partition("__all__ = ")[2]
    assert ast.literal_eval(listed) == sorted(dpgraph.__all__) == dir(dpgraph)
    assert all(hasattr(dpgraph, name) for name in dpgraph.__all__)


def test_no_public_function_takes_anything_as_a_mechanism_or_as_a_graph():
    for name in dpgraph.__all__:
        hints = getattr(getattr(dpgraph, name), "__annotations__", {})
        taken = {argument: str(hints[argument]) for argument in ("G", "A", "mechanism") if argument in hints}
        assert "typing.Any" not in taken.values(), f"{name}: {taken}"
        assert "Any" not in taken.values(), f"{name}: {taken}"


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (dpgraph, "private_max_cutt", r"\. Did you mean 'private_max_cut'"),
        (strategies, "Coherense", r"\. Did you mean 'Coherence'"),
        (dpgraph.sos, "lasserr", r"\. Did you mean 'lasserre'"),
        (dpgraph, "xyz", "$"),
    ],
)
def test_a_misspelt_name_is_an_error_that_says_what_was_meant(module, name, meant):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'{meant}"):
        getattr(module, name)
