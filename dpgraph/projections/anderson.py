"""Anderson acceleration of a nonexpansive fixed-point iteration, with a safeguard."""

import numpy as np

from dpgraph.typing import FloatArray

#: An extrapolated point is rejected when its residual exceeds the smallest one so far by this factor ...
_ACCEPTED_GROWTH = 2.0
#: ... or when it exceeds (this multiple of the first residual) / (number of accepted points)**1.1: a summable bound.
_FIRST_RESIDUALS = 1e4
#: Directions whose singular value is below this share of the largest are dropped from the least-squares problem.
_RANK_TOLERANCE = 1e-6
#: Numbers that the two lists of differences may hold each.
_AFFORDABLE = 20_000_000


class AndersonAccelerator:
    """Extrapolates the iterates of ``z <- F(z)`` from at most `memory` of their last differences.

    A rejected point is replaced by the plain step from the point before it. If F is averaged (as the splitting methods
    here are for two sets), every limit is a fixed point: accepted residuals are bounded by a summable sequence, and
    plain steps converge (J. Zhang, B. O'Donoghue, S. Boyd, SIAM J. Optim. 30 (2020), Algorithm 3.1 and Theorem 6).
    """

    def __init__(self, memory: int) -> None:
        self._limit = memory
        self._previous: tuple[FloatArray, FloatArray] | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything, because F has changed."""
        self._forget_steps()
        self._smallest = self._first = np.inf
        self._accepted = 0

    def advance(self, point: FloatArray, image: FloatArray) -> FloatArray:
        """Return the next iterate, from the current one (as returned by the last call) and its image under F."""
        residual = image - point
        size = float(np.linalg.norm(residual.ravel()))
        if self._extrapolated:
            bound = min(_ACCEPTED_GROWTH * self._smallest, _FIRST_RESIDUALS * self._first / (self._accepted + 1) ** 1.1)
            if size > bound and self._previous is not None:
                safe = self._previous[0]
                self._forget_steps()
                return safe
            self._accepted += 1
        self._first = size if np.isinf(self._first) else self._first
        self._smallest = min(self._smallest, size)
        if self._previous is not None:
            self._store((image - self._previous[0]).ravel(), (residual - self._previous[1]).ravel())
        self._previous = (image, residual)
        return self._extrapolate(image, residual)

    def _forget_steps(self) -> None:
        self._count = 0
        self._previous = None
        self._extrapolated = False

    def _store(self, image_step: FloatArray, residual_step: FloatArray) -> None:
        """Overwrite the oldest difference and update the inner products of the stored ones."""
        if self._count == 0:
            self._memory = min(self._limit, _AFFORDABLE // image_step.size + 1)
            self._image_steps = np.zeros((self._memory, image_step.size))
            self._residual_steps = np.zeros((self._memory, image_step.size))
            self._gram = np.zeros((self._memory, self._memory))
        slot = self._count % self._memory
        self._count += 1
        self._image_steps[slot], self._residual_steps[slot] = image_step, residual_step
        self._gram[slot] = self._gram[:, slot] = self._residual_steps @ residual_step

    def _extrapolate(self, image: FloatArray, residual: FloatArray) -> FloatArray:
        """Combine the stored steps so that the linear model of the residual is smallest."""
        if self._count == 0:
            return image
        self._extrapolated = True
        used = min(self._count, self._memory)
        products = self._residual_steps[:used] @ residual.ravel()
        weights = np.linalg.pinv(self._gram[:used, :used], rcond=_RANK_TOLERANCE**2, hermitian=True) @ products
        return image - (weights @ self._image_steps[:used]).reshape(image.shape)
