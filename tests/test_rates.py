"""The errors of the mechanisms grow as the papers prove, one quantity after another; larger sweeps in benchmarks."""

import pytest

from tests.programs import benchmark

rates, rates_rounding = map(benchmark, ("rates", "rates_rounding"))

SWEEPS = {sweep.name: sweep for sweep in rates.sweeps()}
#: Cheap enough for every run of the tests, and narrow enough to exclude an exponent that is wrong by a half.
QUICK = sorted(
    [
        *(name for name in SWEEPS if name.startswith(("DN25a Theorem 1.5", "DN25a Fact 7.15"))),
        "CDEMZ24 Theorem 2.1: squared error against n",
        "CDEMZ24 Theorem A.5, k = 3: Gaussian width, certified against n",
        "CDEMZ24 Theorem A.5, k = 4: Gaussian width, certified against n",
        "DN25b Theorem 1.1, p = 1: Schatten norm of the noise, ours against d",
        "DN25b Theorem 1.1, p = 2: Schatten norm of the noise, printed against d",
        "DN25b Theorem 1.2, Algorithm 2: Frobenius error, many records against 1/n",
        "NTZ13, sparse case: error of an answer against records",
    ]
)


@pytest.mark.parametrize("name", QUICK)
def test_the_error_grows_as_proved_and_no_other_exponent_would_pass(name):
    sweep = SWEEPS[name]
    values = sweep.values(quick=True)
    assert sweep.verdict(*rates.fitted(values)) == "as proved"
    for wrong in (-0.5, 0.5):
        spoiled = {(x, seed): value * x**wrong for (x, seed), value in values.items()}
        assert sweep.verdict(*rates.fitted(spoiled)) != "as proved"


@pytest.mark.parametrize(
    ("problem", "parts"), [("cut", 2), ("halves", 2), pytest.param("labels", 3, marks=pytest.mark.slow)]
)
def test_seeds_say_all_about_parts_that_are_sides_or_labels(problem, parts):
    losses = rates_rounding.losses(problem, 12, parts, 0)
    assert losses[16] < 0.01
    assert losses[1] < 0.01 if parts == 2 else losses[1] > losses[16]
