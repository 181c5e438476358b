"""Passing a default explicitly never changes what runs: every public private function, to the last bit."""

import dataclasses
import inspect

from dpgraph.exceptions import MechanismHalted
from tests.about import each
from tests.privacy.registry import ENTRIES, of_each_strategy
from tests.privacy.replay import assert_same

#: Given by the test, or a budget that only the caller can name.
GIVEN = {"rng", "seed", "epsilon", "delta", "accountant"}


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


@each("entry", of_each_strategy(ENTRIES))
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
        assert_same(*outcomes)
    else:  # without a seed the first releases must agree, not their noise, nor what comes of it
        first, second = (dataclasses.replace(one.privacy, entries=one.privacy.entries[:1]) for one in outcomes)
        assert_same(first, second)
