"""Fitted numbers stand in one module, each explained; few are left elsewhere."""

import ast
import dataclasses
import inspect
from pathlib import Path

import dpgraph
from dpgraph import tuning

PACKAGE = Path(dpgraph.__file__).parent
#: Constants of modules that are no fitted numbers, by reason.
REASONS = {
    "accuracy of arithmetic or of a solver whose result is noisy": "_LEAST_WEIGHT _ROUNDING _ROUNDED _VANISHED "
    "CORE_ALLOWANCE _TAIL _CAP _WIDTH _LEAST_RISE _QUOTIENT_ERROR _GAP _LARGEST_MULTIPLE _STEPS _LEAST_VARIANCE "
    "_NEGLIGIBLE _FLOOR RELEASED_GAP _ELLIPSOID_TOLERANCE _POLISH _LARGEST_SCALE _LARGEST_STD _LARGEST_ENTRY "
    "_LEAST_SHARE_ASKED _NO_NOISE _CLOSE",
    "units": "_UNIT ITERATE_UNIT",
    "limits of memory and of arguments": "FLIP_LIMIT _FLIPS _TABLE_LIMIT _LEAST_EPSILON _DEFAULT_RANGE _MOST_RECORDS "
    "LARGEST_EPSILON "
    "_LARGEST_REGULARIZATION _MULTIPLE",
    "theorems: a probability of failure is shared out, or a constant of the paper": "SLACK_SHARE MINIMUM_DEGREE_SLACK "
    "_CERTIFICATE_SHARE _ENOUGH _EVENT_SLACK _SHIFT_SLACK _BANASZCZYK",
    "the default of a field": "largest_degree scale",
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


def test_at_most_forty_fitted_numbers_are_outside_tuning():
    found = dict(floats_outside_tuning())
    assert sum(found.values()) <= 40, found


def test_every_fitted_number_is_frozen_explained_and_says_where_it_comes_from():
    lines = inspect.getsource(tuning).splitlines()
    for name in tuning.__all__:
        topic = getattr(tuning, name)
        assert topic.__dataclass_params__.frozen
        assert "Fitted" in type(topic).__doc__, name
        for field in dataclasses.fields(topic):
            places = [k for k, line in enumerate(lines) if line.startswith(f"    {field.name}: ")]
            assert all("#" in lines[k] or lines[k - 1].lstrip().startswith("#") for k in places), field.name
