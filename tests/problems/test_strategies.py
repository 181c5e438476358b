"""Strategies are found by themselves, and their options are one public name each."""

import numpy as np
import pytest

from dpgraph import strategies
from dpgraph.exceptions import InvalidParameterError
from dpgraph.problems.embedding.strategies import EMBEDDINGS
from dpgraph.problems.labels import CUTS


def all_strategies():
    return [strategy for registry in strategies.registries() for strategy in registry.strategies.values()]


def test_every_options_class_is_a_frozen_dataclass_and_one_public_name():
    for strategy in all_strategies():
        assert getattr(strategies, strategy.options.__name__) is strategy.options
        assert strategy.options.__dataclass_params__.frozen
        assert strategy.options() == strategy.options()


def test_what_a_problem_does_not_read_takes_its_default_only():
    strategy, options = EMBEDDINGS.resolve(strategies.Coherence(rank=3))
    assert (strategy.name, options) == ("coherence", strategies.CoherentAdjacency(rank=3))
    for wrong in (strategies.Coherence(degree=4), strategies.Coherence(rank=3, projection="spectral")):
        with pytest.raises(InvalidParameterError, match="is not read by this function"):
            EMBEDDINGS.resolve(wrong)
    for wrong in ("laplace", None, 3, strategies.Coherence, strategies.CoherentAdjacency(), np.zeros(2)):
        with pytest.raises(InvalidParameterError, match="mechanism must be one of"):
            CUTS.resolve(wrong)


def test_the_table_of_the_documents_has_a_row_for_each():
    assert len(CUTS.table().splitlines()) == 2 + len(CUTS.strategies)
    assert '| `"permute-and-flip"` | none | pure |' in CUTS.table()
