"""No norm of a private matrix makes a call fail: an error would tell something about the matrix, for nothing."""

import contextlib
import math

import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.call import Call
from dpgraph.releases.eigenspaces import stability_test
from dpgraph.releases.eigenspaces.spectrum import LARGEST_NORM, bounded
from dpgraph.sos.definiteness import sparse_semidefinite
from tests import memory

BUDGET = {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6, "rng": 0}
#: Of the largest singular value, up to the largest entry that is read.
NORMS = (1e-320, 1.0, 1e8, 1e11, 1e16, 1e139)
CALLS = {
    "coherence": lambda A: dpgraph.private_coherence(A, 1, **BUDGET),
    "eigenspace": lambda A: dpgraph.private_eigenspace(A, 1, mechanism="coherence", **BUDGET),
    "low rank": lambda A: dpgraph.private_low_rank(A, 1, mechanism="coherence", **BUDGET),
    "noisy power": lambda A: dpgraph.private_projector(A, 1, mechanism="noisy-power", **BUDGET),
    "projector": lambda A: dpgraph.private_projector(A, 1, mechanism="coherence", **BUDGET),
    "singular subspace": lambda A: dpgraph.private_singular_subspace(A, 1, mechanism="coherence", **BUDGET),
    "spectrum": lambda A: dpgraph.private_spectrum(A, 2, **BUDGET),
    "stability": lambda A: dpgraph.private_projector(A, 1, certificate="stability", **BUDGET),
}


def spiked(n):
    """Norm about one: a direction, and a bulk of half its size."""
    rng = np.random.default_rng(0)
    v, G = rng.standard_normal(n), rng.standard_normal((n, n))
    return np.outer(v, v) / (v @ v) + (G + G.T) / (4 * math.sqrt(2 * n))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_norm_has_an_answer_or_a_private_halt(call):
    A = spiked(40)
    for norm in NORMS:
        try:
            call(A * norm)
        except MechanismHalted as halt:
            assert halt.stage == "gap"  # noqa: PT017


@pytest.mark.parametrize("norm", [1e6, 1e7, 1e9, 1e12, 1e15])
def test_large_operators_of_every_norm_too(norm):
    A = spiked(800) * norm  # not decomposed by LAPACK
    for call in (CALLS["projector"], CALLS["spectrum"]):
        call(A)


def test_a_matrix_is_scaled_onto_the_ball_and_moves_no_further_than_before():
    rng = np.random.default_rng(0)
    for size in (0.5, 1.0, 3.0, 1e6, 1e130):
        A = rng.standard_normal((9, 9))
        A *= size * LARGEST_NORM / np.linalg.norm(A)
        E = rng.standard_normal(A.shape)
        (B, room), (C, other) = bounded(A, 1.0), bounded(A + E / np.linalg.norm(E), 1.0)
        assert np.linalg.norm(B) <= LARGEST_NORM * (1 + 1e-15 * 9)
        assert np.linalg.norm(B - C) <= 1 + 1e-6
        assert abs(room - other) <= 1 + 1e-6
        assert (room == 0.0) == (size >= 1.0) or size == 1.0
        assert np.array_equal(bounded(sparse.csr_array(A), 1.0)[0].toarray(), B)


def test_no_more_steps_are_measured_than_lead_to_the_edge_of_the_ball(monkeypatch):
    """What a step does to a scaled matrix is not known: beyond the ball none is certified, however clear the gap."""
    measured, measure = [], stability_test._measure

    def spy(*arguments):
        monkeypatch.setattr(Call, "release", lambda call, m: measured.append(m.value[0]) or release(call, m))
        try:
            return measure(*arguments)
        finally:
            monkeypatch.setattr(Call, "release", release)

    release = Call.release
    monkeypatch.setattr(stability_test, "_measure", spy)
    flat = np.full((16, 16), 1 / 16)
    for below in (-1e6, -1.0, 0.0, 0.5, 3.0):
        with contextlib.suppress(MechanismHalted):
            CALLS["stability"](flat * (LARGEST_NORM - below))
        assert max(measured) <= max(below, 0.0) + 1e-6
        measured.clear()
    CALLS["stability"](flat * LARGEST_NORM / 100)
    assert max(measured) > 100


def test_a_proof_that_would_be_given_up_copies_nothing():
    n, reach = 6100, 210  # circulant: every vertex has more neighbours than elimination takes
    steps = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
    columns = np.sort((np.arange(n)[:, None] + steps) % n, axis=1).ravel().astype(np.int32)
    M = sparse.csr_array((np.ones(columns.size), columns, np.arange(n + 1) * 2 * reach), shape=(n, n))
    with memory.less_than(2**20):
        assert sparse_semidefinite(M, np.full(n, 2.0 * reach)) is None
