"""Exact sampling of the top eigenspace of (projector + Gaussian noise) in O(n r**2), without an n x n array.

In the basis [U, U_perp] the noisy matrix is a random block tridiagonal one with independent blocks. Its top
eigenvectors decay exponentially in the block index, so that a few blocks are enough; more are drawn until the last one
is negligible. Laws of the blocks, and why the result has the law of the dense mechanism up to signs of columns:
docs/theory.md, "Sampling without an n x n array".
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from dpgraph.exceptions import NotConvergedError
from dpgraph.linalg.eigen import canonical_signs
from dpgraph.privacy.noise import NoiseSource
from dpgraph.typing import FloatArray

#: The band matrix is extended until its eigenvectors' last block is smaller than this.
_TAIL = 1e-13
_FIRST_BLOCKS = 24
_DENSE_BAND = 1200
_BALANCED = 10


def sample_noisy_eigenspace(U: FloatArray, scale: float, noise: NoiseSource) -> FloatArray:
    """Draw the top-r eigenvectors of U U' + (W + W')/2, W iid N(0, scale**2), for an orthonormal U, shape (n, r).

    They come in decreasing order of eigenvalue, the largest entry of each column positive, so that no sign is inherited
    from the private eigenvectors: the law depends on U U' only.
    """
    n, r = U.shape
    if n < 2 * r or n <= 4 * _BALANCED:
        return canonical_signs(_dense(U, scale, noise))
    Y = _band_eigenvectors(n, r, scale, noise)
    _, R = np.linalg.qr(Y[r:])
    return canonical_signs(U @ Y[:r] + _haar_frame(U, noise) @ R)


def _dense(U: FloatArray, scale: float, noise: NoiseSource) -> FloatArray:
    n, r = U.shape
    noisy = U @ U.T + noise.symmetric_gaussian(n, scale)
    _, vectors = linalg.eigh(noisy, subset_by_index=[n - r, n - 1])
    return np.asarray(vectors[:, ::-1])


def _haar_frame(U: FloatArray, noise: NoiseSource) -> FloatArray:
    """Haar-distributed n x r frame orthogonal to U: LAPACK's QR, with the signs of R's diagonal."""
    G = noise.gaussian(U.shape, 1.0)
    for _ in range(2):  # the second pass removes what rounding left of U
        G -= U @ (U.T @ G)
    Q, R = np.linalg.qr(G)
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)


def _band_eigenvectors(n: int, r: int, scale: float, noise: NoiseSource) -> FloatArray:
    """Top-r eigenvectors of the block tridiagonal model, cut where they have decayed."""
    blocks, count = _blocks(n, r, scale, noise), _FIRST_BLOCKS
    drawn: list[tuple[FloatArray, FloatArray | None]] = []
    while True:
        drawn += islice(blocks, count - len(drawn))
        Y = _top_eigenvectors(drawn, r)
        if drawn[-1][1] is None or np.abs(Y[-r:]).max() < _TAIL:
            return Y
        count *= 2


def _blocks(n: int, r: int, scale: float, noise: NoiseSource) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """Draw each diagonal block and the one below it, when they are asked for; none is below the last one."""
    for start in range(0, n, r):
        size, left = min(r, n - start), n - start - r
        block = noise.symmetric_gaussian(size, scale)
        yield block if start else block + np.eye(size), _triangular_block(left, r, scale, noise) if left > 0 else None


def _triangular_block(left: int, r: int, scale: float, noise: NoiseSource) -> FloatArray:
    """R factor of a left x r block of N(0, scale**2/2) entries: chi diagonal, normal above it."""
    rows = min(r, left)
    R = np.triu(noise.gaussian((rows, r), scale / np.sqrt(2.0)), k=1)
    R[np.arange(rows), np.arange(rows)] = noise.chi(left - np.arange(rows)) * scale / np.sqrt(2.0)
    return R


def _top_eigenvectors(blocks: list[tuple[FloatArray, FloatArray | None]], r: int) -> FloatArray:
    grid: list[list[FloatArray | None]] = [[None] * len(blocks) for _ in blocks]
    for k, (diagonal, below) in enumerate(blocks):
        grid[k][k] = diagonal
        if below is not None and k + 1 < len(blocks):
            grid[k + 1][k], grid[k][k + 1] = below, below.T
    band = sparse.block_array(grid, format="csr")
    size = band.shape[0]
    if size <= _DENSE_BAND:
        return np.asarray(linalg.eigh(band.toarray(), subset_by_index=[size - r, size - 1])[1][:, ::-1])
    start = np.random.default_rng(0).standard_normal(size)  # any public vector
    try:
        values, vectors = eigsh(band, k=r, which="LA", ncv=max(6 * r, 60), tol=1e-14, v0=start, maxiter=20 * size)
    except ArpackNoConvergence as stopped:  # data-independent: the band is noise
        raise NotConvergedError(
            f"the band eigensolver found {len(stopped.eigenvalues)} of {r} eigenvectors of the noise; call again"
        ) from None
    residual = np.abs(band @ vectors - vectors * values).max()
    if residual > 1e-10:
        raise NotConvergedError(f"the band eigensolver stopped at residual {residual:.1g}, needed 1e-10")
    return np.asarray(vectors[:, np.argsort(-values)])
