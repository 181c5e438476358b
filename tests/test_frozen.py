"""Seeded outputs are what they were (:mod:`tests.frozen`), up to rounding."""

import numpy as np
import pytest

from tests.frozen import cases, check, differences, record, recorded

#: So many tests share the cases.
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_seeded_outputs_are_what_they_were(part):
    assert check(list(cases())[part::PARTS]) == []


def test_the_record_holds_no_case_that_is_gone():
    assert recorded().keys() == cases().keys()


def test_a_difference_is_told_from_rounding():
    before = {"number": 1.25, "words": "as they were", "list": [1, 2], "far": np.array([np.inf, 1.0])}

    def changed(**change):
        return differences(record(lambda: before), record(lambda: before | change))

    assert changed() == changed(number=1.2500000000001) == []
    assert changed(number=1.2501) == ["number: [1.25] -> [1.2501]"]
    assert changed(words="as they are") == ["words: as they were -> as they are"]
    assert len(changed(list=[1, 3])) == len(changed(far=np.array([1.0, 1.0]))) == 1
    assert len(differences(record(lambda: before), {})) == 4
