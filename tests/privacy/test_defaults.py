"""Passing a default explicitly never changes what runs: every public private function, to the last bit."""

import dataclasses
import inspect
import math
from collections.abc import Set as AbstractSet

import numpy as np
from scipy import sparse

from dpgraph.exceptions import MechanismHalted
from tests.about import each
from tests.privacy.registry import ENTRIES

#: Given by the test, or a budget that only the caller can name.
GIVEN = {"rng", "seed", "epsilon", "delta", "accountant"}


def same(one, two):
    """Whether two results agree to the bit, in all that they hold."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
    if sparse.issparse(one):
        return same(one.toarray(), two.toarray())
    if dataclasses.is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(two, field.name)) for field in dataclasses.fields(one))
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, float):
        return one == two or (math.isnan(one) and math.isnan(two))
    if isinstance(one, (int, str, AbstractSet, type(None), np.generic)):
        return one == two
    return bool(vars(one)) and same(vars(one), vars(two))


def explicit_defaults(entry, data):
    """Every argument that the call leaves out, with its default; the bound on weights of unweighted graphs is 1."""
    given = {entry.private, *data.public, *entry.options, *GIVEN}
    parameters = inspect.signature(entry.code).parameters
    defaults = {
        name: parameter.default
        for name, parameter in parameters.items()
        if name not in given and parameter.default is not inspect.Parameter.empty
    }
    of_graph = "sensitivity" not in entry.options and "sensitivity" not in data.public
    if "max_weight" in defaults and of_graph and defaults.get("weight") is None and "weight" not in entry.options:
        defaults["max_weight"] = 1.0
    return defaults


@each("entry", ENTRIES)
def test_explicit_defaults_change_nothing(entry):
    _, data, _ = entry.pairs[0]
    defaults = explicit_defaults(entry, data)
    outcomes = []
    for more in ({}, defaults):
        try:
            outcomes.append(entry.call(data, rng=5, epsilon=entry.epsilon, **more))
        except MechanismHalted as halted:
            outcomes.append((str(halted), halted.privacy))
    if entry.seedable:
        assert same(*outcomes)
    else:  # without a seed the first releases must agree, not their noise, nor what comes of it
        first, second = (dataclasses.replace(one.privacy, entries=one.privacy.entries[:1]) for one in outcomes)
        assert same(first, second)
