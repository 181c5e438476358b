"""An argument of the wrong kind is refused by its name, in the package's own words, before anything is paid."""

import numpy as np
import pytest

from dpgraph.arguments import (
    as_generator,
    check_choice,
    check_integer,
    check_nonnegative,
    check_positive,
    check_scale,
)
from dpgraph.exceptions import InvalidParameterError
from tests.about import each

PAIR = np.array([1.0, 2.0])


@each(
    "check, value",
    [
        *((lambda v: check_choice("x", v, ("a", "b")), v) for v in ("c", "", None, 1, PAIR, ["a"])),
        *((lambda v: check_integer("x", v, 2, 5), v) for v in (1, 6, 2.0, True, "3", None, np.nan, PAIR, 10**400)),
        *((lambda v: check_scale("x", v), v) for v in (0, -1, "1", None, True, np.inf, np.nan, 1e101, 10**400, PAIR)),
        *((lambda v: check_positive("x", v), v) for v in (0, -1.0, "1", None, True, np.inf, np.nan, 10**400, PAIR, 1j)),
        *((lambda v: check_nonnegative("x", v), v) for v in (-1e-9, "1", None, np.inf, np.nan, PAIR)),
        *((as_generator, v) for v in ("seed", -1, 1.5, True, [1], np.random.RandomState(0))),
    ],
    parts=2,
)
def test_a_value_of_the_wrong_kind_or_range_is_refused(check, value):
    with pytest.raises(InvalidParameterError, match=r"must be .*; got"):
        check(value)


def test_integers_of_numpy_are_integers_and_generators_are_kept():
    assert type(check_integer("x", np.int64(2), 1)) is int
    generator = np.random.default_rng(0)
    assert as_generator(generator) is generator
    assert as_generator(np.int64(3)).integers(2**60) == as_generator(3).integers(2**60)
