"""Fitted numbers stand in one module, each explained, and a script says what simpler ones lose."""

import dataclasses
import inspect
from pathlib import Path

from benchmarks.ablations import communities, spaces, sweeps
from dpgraph import tuning

#: Topics with a script of their own, which shows what other values give.
OWN_SCRIPTS = {"AnswerRule": "benchmarks/answer_rule.py", "Similarities": "benchmarks/similarities.py"}


def test_every_fitted_number_is_frozen_explained_and_says_where_it_comes_from():
    lines = inspect.getsource(tuning).splitlines()
    assert "``python -m benchmarks.ablations``" in tuning.__doc__
    simplified = {
        ablation.constant.partition(".")[0]
        for ablation in (*communities.ABLATIONS, *spaces.ABLATIONS, *sweeps.ABLATIONS)
    }
    for name in tuning.__all__:
        topic = getattr(tuning, name)
        assert topic.__dataclass_params__.frozen
        kind = type(topic).__name__
        assert kind in simplified or (Path(__file__).parents[1] / OWN_SCRIPTS[kind]).exists(), name
        for field in dataclasses.fields(topic):
            places = [k for k, line in enumerate(lines) if line.startswith(f"    {field.name}: ")]
            assert all("#" in lines[k] or lines[k - 1].lstrip().startswith("#") for k in places), field.name


def test_every_simplification_names_numbers_that_there_are():
    for ablation in (*communities.ABLATIONS, *spaces.ABLATIONS, *sweeps.ABLATIONS):
        for topic, name, value in ablation.patches:
            assert getattr(topic, name) != value, ablation.constant
