"""Lanczos runs: what they show about the ends of a spectrum, and how often that may be wrong."""

import math

import numpy as np
import pytest
from scipy import sparse

from dpgraph.datasets import planted_cut_sparse
from dpgraph.linalg.lanczos import Lanczos, lower_bound


def run_on(diagonal, seed=0):
    return Lanczos(lambda v: diagonal * v, np.random.default_rng(seed).standard_normal(len(diagonal)))


def test_ritz_values_never_exceed_the_norm():
    A, _ = planted_cut_sparse(1500, 20, -0.5, rng=1)
    norm = np.abs(sparse.linalg.eigsh(A, k=1, which="LM", return_eigenvectors=False)[0])
    run = Lanczos(A.__matmul__, np.random.default_rng(0).standard_normal(1500))
    estimates = [run.run(steps).largest() for steps in (2, 8, 50, 200)]
    assert estimates == sorted(estimates)
    assert estimates[-1] == pytest.approx(norm, rel=1e-9)
    assert estimates[-1] <= norm * (1 + 1e-12)


@pytest.mark.parametrize("gap", [0.3, 0.03])
def test_a_bound_below_the_spectrum_is_shown_in_fewer_steps_the_further_below_it_is(gap):
    run = run_on(np.linspace(0.0, 1.0, 5000))
    assert run.look(-gap, 1e-10, 2000)
    assert run.steps < 40 / gap**0.5


@pytest.mark.parametrize("hidden", [-0.05, -1e-3])
def test_a_bound_above_the_smallest_eigenvalue_is_never_shown_however_few_steps_have_missed_it(hidden):
    diagonal = np.linspace(0.0, 1.0, 4000)
    diagonal[0] = hidden
    for seed in range(10):
        run = run_on(diagonal, seed)
        assert not run.look(hidden / 2, 1e-10, 300)


def test_how_often_a_wrong_bound_is_shown_stays_below_the_stated_probability():
    # At a failure probability of one half a wrong bound is shown for starts that nearly every second one is.
    diagonal = np.linspace(0.0, 1.0, 900)
    diagonal[0] = -0.1
    wrong = np.mean([run_on(diagonal, seed).look(-0.05, 0.5, 96) for seed in range(200)])
    assert wrong <= 0.5


def test_where_the_steps_do_not_suffice_the_bound_is_the_best_that_they_show():
    diagonal = np.linspace(0.0, 1.0, 5000)
    run = run_on(diagonal)
    known = lower_bound(run, -1e-9, steps=100, failure=1e-10)
    assert run.steps == 100
    # The a-priori bound, 1.648 sqrt(n) exp(-sqrt(eps) (2 steps - 1)), is what a spectrum that fills an interval needs.
    relative = (math.log(1.648 * math.sqrt(diagonal.size) / 1e-10) / (2 * run.steps - 1)) ** 2
    assert run.ritz()[0] - relative / (1 - relative) < known < -1e-9
    again = run_on(diagonal)
    assert again.run(100).look(known, 1e-10, 100)
    assert not run_on(diagonal).run(100).look(0.99 * known, 1e-10, 100)
    assert lower_bound(run_on(diagonal), -0.2, steps=100, failure=1e-10) == -0.2


def test_a_number_chosen_after_the_run_is_wrong_as_rarely_as_one_chosen_before():
    diagonal = np.linspace(0.0, 1.0, 900)
    diagonal[0] = -0.1
    for steps in (8, 16, 32):
        wrong = np.mean([run_on(diagonal, seed).run(steps).shown(0.2) > -0.1 for seed in range(400)])
        assert wrong <= 0.2


@pytest.mark.parametrize("values", [[0.0], [2.0], [1.0, -3.0, 5.0]])
def test_few_distinct_eigenvalues_exhaust_the_krylov_space(values):
    run = run_on(np.repeat(values, 300)).run(50)
    assert run.exhausted
    assert run.steps == len(values)
    assert run.ritz() == pytest.approx(sorted(values), abs=1e-12)
    assert run.look(min(values) - 1e-9, 1e-10, run.steps)


def test_the_complement_of_known_vectors_is_searched_alone():
    diagonal = np.concatenate([np.linspace(1.0, 2.0, 500), [-7.0]])
    known = np.eye(501)[:, -1:]
    run = Lanczos(lambda v: diagonal * v, np.random.default_rng(0).standard_normal(501), known, scale=7.0)
    assert run.look(0.9, 1e-10, 200)
