"""Fitted numbers stand in one module, each explained; few are left elsewhere."""

import ast
import dataclasses
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import dpgraph
from dpgraph import tuning
from dpgraph.problems.answer_rule import response_wins
from tests.about import each

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import fit_tuning

PACKAGE = Path(dpgraph.__file__).parent
#: Constants of modules that are no fitted numbers, by reason.
REASONS = {
    "accuracy of arithmetic or of a solver whose result is noisy": "_LEAST_WEIGHT _ROUNDING _ROUNDED _VANISHED "
    "CORE_ALLOWANCE _TAIL _CAP _WIDTH _LEAST_RISE _LEAST_GAP _QUOTIENT_ERROR _GAP _LARGEST_MULTIPLE _STEPS "
    "_LEAST_VARIANCE _NEGLIGIBLE _FLOOR RELEASED_GAP _ELLIPSOID_TOLERANCE _POLISH _LARGEST_SCALE _LARGEST_STD "
    "_LARGEST_ENTRY _COARSE _LEAST_SHARE_ASKED _NO_NOISE _CLOSE _LEAST_RATE _CERTAIN _EXACT",
    "units": "_UNIT ITERATE_UNIT",
    "limits of memory and of arguments": "FLIP_LIMIT _FLIPS _TABLE_LIMIT _LEAST_EPSILON _DEFAULT_RANGE _MOST_RECORDS "
    "LARGEST_EPSILON _LEAST_DELTA _LEAST_MU _MOST_MU _SHARE _UNITS _UNKNOWN _ROUNDED "
    "_LARGEST_REGULARIZATION _MULTIPLE",
    "theorems: a probability of failure is shared out, or a constant of the paper": "SLACK_SHARE MINIMUM_DEGREE_SLACK "
    "_CERTIFICATE_SHARE MOTION_SLACK _ENOUGH _EVENT_SLACK _SHIFT_SLACK _BANASZCZYK _DEVIATIONS",
    "the default of a field": "largest_degree scale estimated_sine random_degree resolution shares delta slack",
}


def floats_outside_tuning():
    """Floats in constants of modules and classes that no reason excuses, by module and name."""
    excused = {name for names in REASONS.values() for name in names.split()}
    for folder in ("denoise", "releases", "problems"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            for top in ast.parse(path.read_text()).body:
                for node in (top, *(top.body if isinstance(top, ast.ClassDef) else ())):
                    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                        names = {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}
                        values = [c for c in ast.walk(node.value) if isinstance(c, ast.Constant)]
                        count = sum(isinstance(c.value, float) for c in values)
                        if count and not names <= excused:
                            yield f"{path.relative_to(PACKAGE)}: {', '.join(sorted(names))}", count


def test_at_most_thirty_fitted_numbers_are_outside_tuning():
    found = dict(floats_outside_tuning())
    assert sum(found.values()) <= 30, found


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


def test_scenarios_and_candidates_name_numbers_that_there_are():
    assert NUMBERS.keys() >= fit_tuning.TRIED.keys()
    assert NUMBERS.keys() | {name.partition(".")[0] for name in NUMBERS} >= fit_tuning.SCENARIOS.keys()


def test_a_number_is_replaced_where_it_is_used_and_put_back():
    before = response_wins(1000, 4.0, 999.0, 2)
    with fit_tuning.replaced(tuning.ANSWER_RULE, "edges_per_noise", 1e9):
        assert not response_wins(1000, 4.0, 999.0, 2)
    assert response_wins(1000, 4.0, 999.0, 2) == before


def test_randomised_response_is_chosen_in_denser_graphs_for_more_labels_and_a_larger_epsilon():
    degrees, labels, epsilons = (0.1, 3.0, 30.0, 100.0, 999.0), (2, 3, 8, 50), (0.5, 1.0, 3.0, 6.0, 9.0)
    taken = np.array([[[response_wins(1000, e, d, q) for d in degrees] for q in labels] for e in epsilons], dtype=int)
    assert taken.any()
    assert not taken.all()
    assert all(np.all(np.diff(taken, axis=axis) >= 0) for axis in range(3))
