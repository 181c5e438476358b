"""The O(n r^2) sampler draws from the law of the dense mechanism."""

import numpy as np
import pytest
from scipy import stats

from dpgraph.linalg.eigen import canonical_signs
from dpgraph.privacy.noise import noise_source
from dpgraph.releases.eigenspaces import sampler as projector_sampler
from dpgraph.releases.eigenspaces.sampler import sample_noisy_eigenspace
from tests import memory


def statistics(Q, U, v):
    """Numbers that see the whole of Q: rows, a fixed direction, the private space, single entries."""
    return (
        np.linalg.norm(Q[0]),
        np.linalg.norm(v @ Q),
        np.linalg.norm(U.T @ Q),
        abs(Q[5, 0]),
        Q[3, 1],
        np.linalg.norm(U[:, 0] @ Q),
    )


@pytest.mark.parametrize("scale", [0.02, 0.4])
def test_fast_sampler_has_the_law_of_the_dense_mechanism(scale):
    rng = np.random.default_rng(0)
    n, r, draws = 48, 3, 200
    U = np.linalg.qr(rng.standard_normal((n, r)))[0]
    v = rng.standard_normal(n) / np.sqrt(n)
    noise = noise_source(1)
    fast = np.array([statistics(sample_noisy_eigenspace(U, scale, noise), U, v) for _ in range(draws)])
    dense = np.array(
        [statistics(canonical_signs(projector_sampler._dense(U, scale, noise)), U, v) for _ in range(draws)]
    )
    p_values = [stats.ks_2samp(a, b).pvalue for a, b in zip(fast.T, dense.T, strict=True)]
    assert min(p_values) > 1e-3 / len(p_values)


def test_the_two_sample_test_sees_a_frame_that_is_not_haar(monkeypatch):
    # LAPACK's QR without the sign correction: the classical mistake.
    def plain_frame(U, noise):
        G = noise.gaussian(U.shape, 1.0)
        return np.linalg.qr(G - U @ (U.T @ G))[0]

    rng = np.random.default_rng(0)
    n, r, draws = 48, 2, 1500
    U = np.linalg.qr(rng.standard_normal((n, r)))[0]
    noise = noise_source(1)

    def first_entries():
        # Before signs are fixed, the first entry of a Haar frame is symmetric about zero.
        return np.array([projector_sampler._haar_frame(U, noise)[0, 0] for _ in range(draws)])

    assert stats.binomtest(int(np.sum(first_entries() > 0)), draws).pvalue > 1e-4
    monkeypatch.setattr(projector_sampler, "_haar_frame", plain_frame)
    assert stats.binomtest(int(np.sum(first_entries() > 0)), draws).pvalue < 1e-10


@pytest.mark.parametrize("scale", [1e-3, 0.02, 1.0])
def test_columns_are_orthonormal_with_little_or_overwhelming_noise(scale):
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((5000, 4)))[0]
    Q = sample_noisy_eigenspace(U, scale, noise_source(0))
    assert np.abs(Q.T @ Q - np.eye(4)).max() < 1e-9


def test_no_square_array_is_formed():
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((20_000, 2)))[0]
    with memory.less_than(100e6):  # 20000 x 20000 doubles would be 3.2 GB
        sample_noisy_eigenspace(U, 0.002, noise_source(0))


def test_signs_of_private_eigenvectors_leave_no_trace():
    U = np.linalg.qr(np.random.default_rng(3).standard_normal((200, 3)))[0]
    Q = sample_noisy_eigenspace(U, 0.01, noise_source(5))
    flipped = sample_noisy_eigenspace(U * np.array([1.0, -1.0, -1.0]), 0.01, noise_source(5))
    largest = np.abs(Q).argmax(axis=0)
    assert np.all(Q[largest, range(3)] > 0)
    assert np.all(flipped[np.abs(flipped).argmax(axis=0), range(3)] > 0)
