"""Fitted numbers stand in one module, each explained, and have been tried at other values."""

import dataclasses
import inspect
import sys
from pathlib import Path

import pytest

from dpgraph import tuning
from dpgraph.problems.answer_rule import response_wins
from tests.about import each

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import fit_tuning

#: Topics with a script of their own, which shows what other values give.
OWN_SCRIPTS = dict.fromkeys(
    ("Sweeps", "Tables", "Counts", "Tails", "Densest", "Communities", "Synthesis"), "benchmarks.ablations"
) | {
    "AnswerRule": "benchmarks/answer_rule.py",
    "Similarities": "benchmarks/similarities.py",
}


def test_every_fitted_number_is_frozen_explained_and_says_where_it_comes_from():
    lines = inspect.getsource(tuning).splitlines()
    assert "``benchmarks/fit_tuning.py NAME``" in tuning.__doc__
    for name in tuning.__all__:
        topic = getattr(tuning, name)
        assert topic.__dataclass_params__.frozen
        kind = type(topic).__name__
        fitted = kind in {scenario.partition(".")[0] for scenario in fit_tuning.SCENARIOS}
        assert fitted or OWN_SCRIPTS[kind] in type(topic).__doc__, name
        for field in dataclasses.fields(topic):
            places = [k for k, line in enumerate(lines) if line.startswith(f"    {field.name}: ")]
            assert all("#" in lines[k] or lines[k - 1].lstrip().startswith("#") for k in places), field.name


NUMBERS = {
    name: getattr(topic, field)
    for name, topic, field in fit_tuning.numbers([])
    if type(topic).__name__ not in OWN_SCRIPTS
}


@each("name", list(NUMBERS), parts=1)
def test_every_fitted_number_has_been_tried_at_other_values(name):
    value = NUMBERS[name]
    others = fit_tuning.candidates(name, value)
    assert others
    assert value not in others
    assert name in fit_tuning.SCENARIOS or name.partition(".")[0] in fit_tuning.SCENARIOS
    _, default, tried, *_ = fit_tuning.lines_of_page()[name]
    wanted = fit_tuning.shown(value), ", ".join(map(fit_tuning.shown, others))
    assert (default, tried) == wanted, f"run benchmarks/fit_tuning.py {name}"


def test_a_number_is_replaced_where_it_is_used_and_put_back():
    before = response_wins(1000, 4.0, 999.0, 2)
    with fit_tuning.replaced(tuning.ANSWER_RULE, "edges_per_noise", 1e9):
        assert not response_wins(1000, 4.0, 999.0, 2)
    assert response_wins(1000, 4.0, 999.0, 2) == before
