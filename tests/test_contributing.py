"""A new strategy is one entry: all that lists strategies finds the block of CONTRIBUTING.md in its registry."""

import re
import sys
import types
from pathlib import Path

import pytest

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.problems.labels import EDGES
from tests.privacy.registry import strategy_entries
from tests.privacy.replay import doors, replay  # noqa: F401

pytestmark = pytest.mark.usefixtures("doors")

PAGE = Path(dpgraph.__file__).parents[1] / "CONTRIBUTING.md"
PLANTED = dpgraph.datasets.planted_cut(60, 8, -0.5, rng=0)


@pytest.fixture
def put(monkeypatch):
    """Run the code and enter its strategy."""

    def _put(code):
        module = types.ModuleType("dealt")
        monkeypatch.setitem(sys.modules, "dealt", module)
        exec(code, vars(module))
        monkeypatch.setitem(EDGES.strategies, "dealt", module.DEALT)

    return _put


def block():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return code


def cut(**options):
    return dpgraph.private_max_k_cut(PLANTED, 3, epsilon=1.0, rng=0, **options)


def test_without_its_entry_the_strategy_does_not_exist():
    with pytest.raises(InvalidParameterError, match="randomized-response"):
        cut(mechanism="dealt")


def test_an_entry_is_a_name_an_options_object_and_a_row_of_the_table(put):
    put(block())
    result = cut(mechanism="dealt")
    assert result.mechanism == "dealt"
    assert result.privacy.delta == 0
    assert [line.name for line in result.privacy.entries] == ["total weight", "degrees", "assignment weight"]
    other = cut(mechanism=dpgraph.strategies.Dealt(largest_first=False))
    assert other.assignment != result.assignment
    with pytest.raises(InvalidParameterError, match=r"'dealt'.*strategies\.Dealt"):
        cut(mechanism="no such")
    says = "Labels are dealt out in the order of released degrees: a baseline that looks at no edge."
    row = f'| `"dealt"` | `largest_first` | pure | {says} |'
    assert row in EDGES.table()


def replay_it():
    (entry,) = [entry for entry in strategy_entries() if entry.options.get("mechanism") == "dealt"]
    assert entry.pure
    losses = []
    for number, (_, data, neighbour) in enumerate(entry.pairs):
        first, second = (lambda rng, G=G: entry.call(G, rng=rng, epsilon=1.0) for G in (data, neighbour))
        losses.append(replay(first, second, seed=number).share)
    return max(losses)


def test_the_privacy_tests_find_the_strategy_and_the_replay_passes(put):
    put(block())
    assert 0.1 < replay_it() <= 1 + 1e-9


def test_the_replay_refuses_a_strategy_that_looks_without_paying(put):
    put(block().replace("release_degrees(private.graph, call).value", "private.graph.degrees()"))
    with pytest.raises(AssertionError):
        replay_it()
