"""Everything that a release needs is imported before its debit.

An interrupt during an import can leave a module half loaded: every later call of the process then fails. Before the
debit that costs nothing; after it, the budget of the call. So each private function runs once in a fresh process, and
no module of this package or of a library may be imported between its debit and its end.
"""

import json
import pickle
from pathlib import Path

import pytest

from tests import programs
from tests.privacy.registry import ENTRIES, NetworkxEntry
from tests.spelling import spelled

#: What libraries import inside themselves when a function is called, and cannot be told to import before.
#: "__mp_main__" is no import: multiprocessing's name for the main module.
INSIDE_LIBRARIES = ("__mp_main__",)

#: One entry for each way to release; the others run in `make test-slow`.
QUICK = (
    "private_degrees, mechanism=gaussian",
    "private_max_cut, mechanism=coherence, on_halt=fallback",
    "private_degree_distribution",
    "private_linear_queries, mechanism=k-norm",
    "private_communities, communities=auto",  # a released number chooses the strategy
)


def described(entry):
    """The call of an entry, as (module, function, arguments)."""
    data = next(iter(entry.neighbours()))[1]
    if isinstance(entry, NetworkxEntry):
        from dpgraph.interfaces.networkx.private_graph import PrivateGraph

        budget = {"epsilon": entry.epsilon, "delta": 0.0 if entry.pure else 1e-6}
        graph = PrivateGraph(data.value)
        name = "B" if entry.function == "density" else "G"
        return "networkx", entry.function, {name: graph} | data.public | entry.options | budget
    budget = {"epsilon": entry.epsilon} if entry.pure else {"epsilon": entry.epsilon, "delta": 1e-6}
    arguments = {entry.private: data.value} | data.public | entry.options | budget
    return entry.module, entry.function, spelled(entry.code, arguments)


def late_imports(entries, folder):
    calls = {number: pickle.dumps(described(entry)) for number, entry in enumerate(entries)}
    file = Path(folder, "calls.pickle")
    file.write_bytes(pickle.dumps(calls))
    script = Path(__file__).with_name("late_imports.py")
    done = programs.python(script, file, check=True)
    found = json.loads(done.stdout)
    late = {}
    for number, entry in enumerate(entries):
        modules = found[str(number)]
        assert isinstance(modules, list), f"{entry.label}: {modules}"
        if wrong := [m for m in modules if not m.startswith(INSIDE_LIBRARIES)]:
            late[entry.label] = wrong
    return late


def test_nothing_is_imported_after_the_debit(tmp_path):
    entries = [entry for entry in ENTRIES if entry.label in QUICK]
    assert len(entries) == len(QUICK)
    assert late_imports(entries, tmp_path) == {}


@pytest.mark.slow
def test_no_private_function_imports_anything_after_its_debit(tmp_path):
    assert late_imports(ENTRIES, tmp_path) == {}
