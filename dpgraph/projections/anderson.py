"""Anderson acceleration of a nonexpansive fixed-point iteration, with a safeguard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["AndersonAccelerator"]

FloatArray = NDArray[np.float64]

#: An extrapolated point is rejected when its residual exceeds the smallest one so far by this factor.
_ACCEPTED_GROWTH = 2.0
#: Directions whose singular value is below this share of the largest are dropped from the least-squares problem.
_RANK_TOLERANCE = 1e-6


class AndersonAccelerator:
    """Extrapolates the iterates of ``z <- F(z)`` from their last differences.

    Parameters
    ----------
    memory : int
        Number of differences kept; 0 gives the plain iteration.

    References
    ----------
    H. Walker, P. Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer. Anal. 49 (2011).
    J. Zhang, B. O'Donoghue, S. Boyd, "Globally convergent type-I Anderson acceleration for nonsmooth fixed-point
    iterations", SIAM J. Optim. 30 (2020) (the need for a safeguard).
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.reset()

    def reset(self) -> None:
        """Forget everything, for instance because F has changed."""
        self._count = 0
        self._previous: tuple[FloatArray, FloatArray] | None = None
        self._smallest = np.inf

    def advance(self, point: FloatArray, image: FloatArray) -> FloatArray:
        """Return the next iterate.

        Parameters
        ----------
        point, image : ndarray
            The current iterate z and F(z), of equal shape.
        """
        residual = image - point
        size = float(np.linalg.norm(residual.ravel()))
        if self._previous is not None and size > _ACCEPTED_GROWTH * self._smallest:
            safe = self._previous[0]
            self.reset()
            return safe
        self._smallest = min(self._smallest, size)
        if self._previous is not None and self._memory:
            self._store((image - self._previous[0]).ravel(), (residual - self._previous[1]).ravel())
        self._previous = (image, residual)
        return self._extrapolate(image, residual)

    def _store(self, image_step: FloatArray, residual_step: FloatArray) -> None:
        """Overwrite the oldest difference and update the inner products of the stored ones."""
        if self._count == 0:
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
        used = min(self._count, self._memory)
        products = self._residual_steps[:used] @ residual.ravel()
        weights = np.linalg.pinv(self._gram[:used, :used], rcond=_RANK_TOLERANCE**2, hermitian=True) @ products
        return image - (weights @ self._image_steps[:used]).reshape(image.shape)
