"""The leading space of a general matrix by a noisy block Krylov method, with exact Gaussian composition.

As in the noisy power method (M. Hardt, E. Price, NIPS 2014, Algorithm 1), a product A Q with a public basis Q is
released with Gaussian noise for what one neighbour changes, and the next basis is computed from what was released
before. Which basis that is differs, and all products are kept (:mod:`dpgraph.denoise.ritz`):

* as long as the Ritz vectors have not converged, as far as this shows through the noise, the next basis is where their
  residuals point: a Krylov space, which needs the root of the number of products of the power method;
* then the basis is the Ritz vectors themselves, whose noise averages out.

Of a rectangular matrix A Q and A' P are released in turn (Golub and Kahan's bidiagonalisation, with noise).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from dpgraph.bounds.neighbours import MatrixNeighbours, row_norms
from dpgraph.denoise.ritz import Answer, Estimate, Space
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call, Measurement
from dpgraph.progress import BAR
from dpgraph.tuning import KRYLOV
from dpgraph.typing import FloatArray

#: Steps of a bisection for the length at which rows are cut off.
_BISECTIONS = 30


@dataclass(frozen=True)
class LeadingSpace:
    """Released leading vectors of a matrix."""

    # Orthonormal: of a symmetric matrix one basis, shape (n, r), else left and right singular vectors
    bases: tuple[FloatArray, ...]
    # Their Ritz values, in order: of a symmetric matrix with signs
    values: FloatArray
    # Estimate of the sine of the largest angle, from released values and the known noise; a cautious one
    sines: tuple[float, float]


class _Side(NamedTuple):
    """One kind of product: of the matrix, or of its transpose."""

    # Of the line in the ledger
    name: str
    # Of a product
    rows: int
    # Q -> the exact product, private
    multiply: Callable[[FloatArray], FloatArray]


def check_steps(shape: tuple[int, int], rank: int) -> None:
    """Refuse a matrix whose products would not fit into memory."""
    what = f"products of a {shape[0]} x {shape[1]} matrix with {rank} columns"
    check_memory(what, products=(2 * _most_steps(shape, rank) + 6, sum(shape), rank))


def release_leading_space(
    matrix: Any, rank: int, neighbours: MatrixNeighbours, call: Call, *, symmetric: bool, largest: bool = False
) -> LeadingSpace:
    """Release the `rank` leading (singular) vectors of a private matrix, for a Gaussian part of a budget.

    Leading values are the largest absolute ones, or with `largest` (and symmetric) the algebraically largest.

    Notes
    -----
    *Guarantee.* Gaussian DP of the part's mu. A product A Q_t, or A' Q_t, with a public Q_t changes by at most s_t =
    ``neighbours.product(Q_t)``, and has noise of standard deviation s_t/(mu m_t). The basis Q_t and the share m_t**2
    are functions of the releases before, and the shares add up to at most 1 whatever these are. In units of its noise,
    product t is standard Gaussian noise z_t, on the neighbour moved by some d_t with |d_t|**2 <= (mu m_t)**2. Let it be
    equal, and the sum of the shares 1: more coordinates, which nobody looks at, can make it so. The logarithm of the
    likelihood ratio is S - mu**2/2 with S = sum_t <d_t, z_t>. Given what was before, <d_t, z_t> is N(0, |d_t|**2); so E
    exp(i u S) exp(u**2 mu**2/2) = 1 by induction from the last product on, as the |d_t|**2 add up to the constant
    mu**2. Hence S is N(0, mu**2), on the neighbour N(mu**2, mu**2), as for one Gaussian mechanism of parameter mu, and
    no test tells the two apart better than the likelihood ratio (Neyman and Pearson).
    """
    sides = [_Side("product {}", matrix.shape[0], lambda Q: np.asarray(matrix @ Q))]
    if not symmetric:
        back = _Side("right product {}", matrix.shape[1], lambda Q: np.asarray(matrix.T @ Q))
        sides = [sides[0]._replace(name="left product {}"), back]
    most = _most_steps(matrix.shape, rank)
    start = _orthonormal(call.generator.choice(np.array([-1.0, 1.0]), size=(matrix.shape[1], rank)))
    iteration = _Iteration(sides, neighbours, Space(matrix.shape, most * rank, symmetric=symmetric), start, largest)
    left, steps = 1.0, float(min(KRYLOV.first, most))
    with tqdm(desc="products", disable=BAR.get() is None) as bar:
        while left > 0.0:
            share = min(left, 1.0 / steps)
            share = left if left - share < share / 2 else share
            left -= share
            iteration.round(call.part(share), explores=left > KRYLOV.reserve)
            steps = _steps(iteration.noise / call.mu, float(iteration.estimate.sizes.min()), most)
            bar.update()
    estimate = iteration.estimate
    bases = tuple(_polar(answer.vectors) for answer in estimate.answers)
    return LeadingSpace(bases, estimate.values[:rank], (estimate.sine(), estimate.sine(cautious=True)))


class _Iteration:
    """Products that have been released, and the basis of the next one."""

    def __init__(
        self, sides: list[_Side], neighbours: MatrixNeighbours, space: Space, start: FloatArray, largest: bool
    ) -> None:
        self._sides, self._neighbours, self._space, self._largest = sides, neighbours, space, largest
        self._basis, self._rank, self._rounds = start, start.shape[1], 0
        # Products with longer columns have more noise, also beside those of the other side: bases there are shorter.
        roots = np.sqrt([side.rows for side in sides])
        self._shares, self._bounds = roots / roots.sum(), [0.0] * len(sides)
        self.estimate: Estimate

    def round(self, call: Call, *, explores: bool) -> None:
        """Release a product of each side.

        The next bases follow residuals as long as these are not resolved, if that is allowed (`explores`).
        """
        self._rounds += 1
        for number, side in enumerate(self._sides):
            Q, part = self._basis, call.part(self._shares[number])
            bound = self._neighbours.product(Q)
            noisy, std = part.release(Measurement(side.name.format(self._rounds), side.multiply(Q), l2=bound))
            self._space.add(number, Q, noisy, std)
            self._bounds[number] = bound
            if self._rounds == 1 and number + 1 < len(self._sides):  # nothing is known of the other side yet
                self._basis = _flattened(_orthonormal(noisy), _share_of_noise(std, noisy))
                self._follows = True
                continue
            self.estimate = self._space.estimate(self._rank, largest=self._largest)
            if number + 1 == len(self._sides):
                self._follows = self._rounds == 1 or (explores and not self.estimate.is_resolved())
            self._basis = _next_basis(self.estimate.answers[number], self._rank, follows=self._follows)
        self._bounds[0] = self._neighbours.product(self._basis)

    @property
    def noise(self) -> float:
        """Norm of the noise of a column in the next round at mu = 1, the geometric mean over sides."""
        norms = np.array(self._bounds) * np.sqrt([side.rows for side in self._sides] / self._shares)
        return float(np.exp(np.mean(np.log(norms))))


def _most_steps(shape: tuple[int, int], rank: int) -> int:
    """At most so many products of each side, for their number of columns; two spaces of all rows are enough."""
    wanted = min(KRYLOV.most, max(KRYLOV.columns // rank, KRYLOV.first))
    return max(min(wanted, math.ceil(2 * min(shape) / rank)), 2)


def _steps(noise: float, size: float, most: int) -> float:
    """So many products that the noise of each is a part of what is sought; `noise` is that of one for the whole budget.

    Little is known before the leading vectors have been found: then there are few.
    """
    wanted = min(KRYLOV.noise * size / noise, float(most)) ** 2  # squares overflow
    return min(max(wanted, min(KRYLOV.first, most)), most)


def _next_basis(answer: Answer, rank: int, *, follows: bool) -> FloatArray:
    """Orthonormal basis that follows the residuals of the leading Ritz vectors, or is these vectors.

    Residuals of more vectors than are sought point in the same `rank` directions, were there no noise. Where all are in
    units of their noise, the leading directions are those.
    """
    if not follows:
        return _flattened(_orthonormal(answer.vectors), _share_of_noise(np.sqrt(answer.variance), answer.vectors))
    residuals = answer.outside / np.sqrt(answer.outside_variance)
    largest = max(float(np.abs(residuals).max()), 1.0)  # squares overflow
    residuals /= largest
    _, turned = np.linalg.eigh(residuals.T @ residuals)
    basis = _orthonormal(residuals @ turned[:, ::-1][:, :rank])
    return _flattened(basis, _share_of_noise(1.0 / largest, residuals))


def _share_of_noise(std: FloatArray | float, columns: FloatArray) -> float:
    """Expected share of noise of this standard deviation in the squared norm of columns, on average."""
    norms = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    return float(np.mean(np.minimum(math.sqrt(len(columns)) * std / norms, 1.0) ** 2))


def _flattened(Q: FloatArray, share: float) -> FloatArray:
    """An orthonormal basis near this one whose longest rows, which noise is scaled to, are shorter.

    They are cut off as far as that changes the basis by the `share` of its squared norm that is noise anyway.
    """
    lengths = row_norms(Q)
    low, high = math.sqrt(float(np.mean(lengths**2))), float(lengths.max())
    allowed = min(share, 1.0) * float(np.sum(lengths**2))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if float(np.sum(np.maximum(lengths - middle, 0.0) ** 2)) <= allowed:
            high = middle
        else:
            low = middle
    return _orthonormal(Q * np.minimum(1.0, high / np.maximum(lengths, high))[:, None])


def _polar(vectors: FloatArray) -> FloatArray:
    """The orthonormal columns that are nearest to these in direction."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(float).tiny)
    left, _, right = np.linalg.svd(vectors / lengths, full_matrices=False)
    return np.asarray(left @ right)


def _orthonormal(columns: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.qr(columns)[0])
