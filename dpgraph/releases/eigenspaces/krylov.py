"""The leading space of a general matrix by a noisy block Krylov method, with exact Gaussian composition.

As in the noisy power method (M. Hardt, E. Price, NIPS 2014, Algorithm 1), a product A Q with a public basis Q is
released with Gaussian noise for what one neighbour changes, and the next basis is computed from what was released
before. Which basis that is differs, and all products are kept (:mod:`dpgraph.denoise.ritz`):

* as long as the Ritz vectors have not converged, as far as this shows through the noise, the next basis is where their
  residuals point: a Krylov space, which needs the root of the number of products of the power method;
* then the basis is the Ritz vectors themselves, whose noise averages out.

Of a rectangular matrix the short side is found in this way, as the leading space of A A'. Its product with P is A Z, of
the released Z = A' P + noise. The long side, where a product has most noise, has no basis of its own: it is A' times
what was found.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.arguments import check_memory
from dpgraph.bounds.neighbours import MatrixNeighbours, row_norms
from dpgraph.denoise.ritz import Estimate, Space, squares
from dpgraph.privacy.call import Call, Measurement
from dpgraph.progress import BAR, tqdm
from dpgraph.tuning import KRYLOV
from dpgraph.typing import FloatArray

#: Steps of a bisection for the length at which rows are cut off.
_BISECTIONS = 30
#: More steps than ``KRYLOV.first`` have at most so many columns together: inner products of all take time.
_MOST_COLUMNS = 320


@dataclass(frozen=True)
class LeadingSpace:
    """Released leading vectors of a matrix."""

    # Orthonormal: of a symmetric matrix one basis, shape (n, r), else left and right singular vectors
    bases: tuple[FloatArray, ...]
    # Their Ritz values, in order: of a symmetric matrix with signs
    values: FloatArray
    # Estimate of the sine of the largest angle, from released values and the known noise; a cautious one
    sines: tuple[float, float]


def check_steps(shape: tuple[int, int], rank: int) -> None:
    """Refuse a matrix whose products would not fit into memory."""
    what = f"products of a {shape[0]} x {shape[1]} matrix with {rank} columns"
    check_memory(what, products=(2 * _most_steps(min(shape), rank) + 6, sum(shape), rank))


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
    if symmetric:
        estimate = _iterate(_Symmetric(matrix, neighbours), rank, call, largest=largest)
        sines = estimate.sine(), estimate.sine(cautious=True)
        return LeadingSpace((_orthonormal_near(estimate.vectors),), estimate.values[:rank], sines)
    wide = matrix.shape[0] <= matrix.shape[1]
    gram = _Gram(matrix if wide else matrix.T, neighbours, ("left", "right") if wide else ("right", "left"))
    estimate = _iterate(gram, rank, call)
    other, turned = gram.other_side(estimate.mixture)
    bases = _orthonormal_near(estimate.vectors), _orthonormal_near(other)
    sine, cautious = (
        max(estimate.sine(cautious=careful), min(math.hypot(estimate.sine(cautious=careful, noise=False), turned), 1.0))
        for careful in (False, True)
    )
    values = gram.unit * np.sqrt(np.maximum(estimate.values[:rank], 0.0))
    return LeadingSpace(bases if wide else bases[::-1], values, (sine, cautious))


class _Symmetric:
    """A private symmetric matrix that is seen through its products with public bases."""

    def __init__(self, matrix: Any, neighbours: MatrixNeighbours) -> None:
        self._matrix, self._neighbours, self.rows, self._count = matrix, neighbours, matrix.shape[0], 0

    def start(self, rank: int, call: Call) -> tuple[FloatArray, Call]:
        """The first basis, and what is left of the call."""
        return _random_basis(self.rows, rank, call), call

    def product(self, basis: FloatArray, call: Call) -> tuple[FloatArray, float]:
        """Release the product with a basis; also the standard deviation of its noise."""
        self._count += 1
        measured, bound = np.asarray(self._matrix @ basis), self._neighbours.product(basis)
        noisy, std = call.release(Measurement(f"product {self._count}", measured, l2=bound))
        return noisy, std


class _Gram:
    """A A' of a private wide matrix A (n x m), seen through A Z with released Z = A' P + N of public bases P.

    Products with longer columns have more noise: both kinds share the budget as the roots of their lengths.
    """

    def __init__(self, matrix: Any, neighbours: MatrixNeighbours, names: tuple[str, str]) -> None:
        self._matrix, self._neighbours, self._names = matrix, neighbours, names
        self.rows, self._columns = matrix.shape
        self._share = math.sqrt(self.rows) / (math.sqrt(self.rows) + math.sqrt(self._columns))
        self._long: list[FloatArray] = []
        self._stds: list[float] = []
        self.unit, self._value = 1.0, 0.0  # of Z and Y; the mean eigenvalue of A A' in units of its square

    def start(self, rank: int, call: Call) -> tuple[FloatArray, Call]:
        """The first basis, a product with random signs, and what is left of the call."""
        part = call.part(self._share / 2)
        noisy, std = self._short(_random_basis(self._columns, rank, call), part)
        self.unit = float(np.linalg.norm(noisy))  # fourth powers overflow
        # With random signs it has the mean square tr(A A')/m of the columns, and noise.
        total = float(np.mean(squares(noisy / self.unit))) - self.rows * (std / self.unit) ** 2
        self._value = max(total * self._columns / self.rows, 0.0)
        return _flattened(_orthonormal(noisy), _share_of_noise(std, noisy)), call.without(part)

    def _short(self, basis: FloatArray, call: Call) -> tuple[FloatArray, float]:
        return self._released(f"{self._names[0]} product {len(self._long)}", self._matrix, basis, call)

    def _released(self, name: str, matrix: Any, basis: FloatArray, call: Call) -> tuple[FloatArray, float]:
        bound = self._neighbours.product(basis)
        noisy, std = call.release(Measurement(name, np.asarray(matrix @ basis), l2=bound))
        return noisy / self.unit, std / self.unit

    def product(self, basis: FloatArray, call: Call) -> tuple[FloatArray, float]:
        """Release Z, and the product Y with a basis Q near it; what estimates A Z, and the deviation of its noise.

        With Q = Z C + E, C by least squares, Y C^-1 = A A' P + A (N + E C^-1) + noise C^-1. The second term is counted
        as noise too, by the mean eigenvalue of A A'. E is alike in all products with one P, and does not average out:
        it may be the part of N that is left in their average over the whole budget.
        """
        part, name = call.part(1 - self._share), f"{self._names[1]} product {len(self._long) + 1}"
        Z, std = self._released(name, self._matrix.T, basis, part)
        self._long.append(Z)
        self._stds.append(std)
        Q = _flattened(_orthonormal(Z), _share_of_noise(std, Z) * (call.mu / call.whole.mu) ** 2)
        mixed, noise = self._short(Q, call.without(part))
        back = np.linalg.solve(Z.T @ Q, Z.T @ Z)  # C^-1
        columns = back.shape[1]
        within = std**2 + float(np.sum((Q @ back - Z) ** 2)) / Z.size
        variance = within * self._value + noise**2 * float(np.sum(back**2)) / columns
        return mixed @ back, math.sqrt(variance)

    def other_side(self, mixture: FloatArray) -> tuple[FloatArray, float]:
        """Leading vectors of the long side, a mixture of all Z; also the sine by which their noise turns them."""
        vectors = np.hstack(self._long) @ mixture
        noise = self._columns * squares(np.repeat(self._stds, len(mixture) // len(self._stds))[:, None] * mixture)
        return vectors, math.sqrt(float(np.max(np.minimum(noise / np.maximum(squares(vectors), noise), 1.0))))


def _iterate(matrix: _Symmetric | _Gram, rank: int, call: Call, *, largest: bool = False) -> Estimate:
    """Release products until the call is spent; bases follow residuals as long as these are not resolved."""
    most = _most_steps(matrix.rows, rank)
    space, left, steps = Space(matrix.rows, most * rank), 1.0, float(min(KRYLOV.first, most))
    basis: FloatArray | None = None
    with tqdm(desc="products", disable=BAR.get() is None) as bar:
        while left > 0.0:
            share = min(left, 1.0 / steps)
            share = left if left - share < share / 2 else share
            left -= share
            part = call.part(share)
            if basis is None:
                basis, part = matrix.start(rank, part)
            product, std = matrix.product(basis, part)
            space.add(basis, product, std)
            estimate = space.estimate(rank, largest=largest)
            longest = row_norms(basis).max()
            basis = _next_basis(estimate, follows=not estimate.is_resolved())
            # What the noise of a column of the next product would be, had it the whole budget.
            noise = std * math.sqrt(share * matrix.rows) * float(row_norms(basis).max() / longest)
            steps = _steps(noise, float(estimate.sizes.min()), most)
            bar.update()
    return estimate


def _most_steps(rows: int, rank: int) -> int:
    """At most so many products, for their number of columns; two spaces of all rows are enough."""
    wanted = min(KRYLOV.most, max(_MOST_COLUMNS // rank, KRYLOV.first))
    return max(min(wanted, math.ceil(2 * rows / rank)), 2)


def _steps(noise: float, size: float, most: int) -> float:
    """So many products that the noise of each is what is sought; `noise` is that of one for the whole budget.

    Little is known before the leading vectors have been found: then there are few.
    """
    wanted = min(size / noise, float(most)) ** 2  # squares overflow
    return min(max(wanted, min(KRYLOV.first, most)), most)


def _next_basis(estimate: Estimate, *, follows: bool) -> FloatArray:
    """Orthonormal basis that follows the residuals of the leading Ritz vectors, or is these vectors.

    Residuals of more vectors than are sought point in the same `rank` directions, were there no noise. Where all are in
    units of their noise, the leading directions are those.
    """
    if not follows:
        found = estimate.vectors
        return _flattened(_orthonormal(found), _share_of_noise(np.sqrt(estimate.variance), found))
    residuals = estimate.outside / np.sqrt(estimate.outside_variance)
    largest = max(float(np.abs(residuals).max()), 1.0)  # squares overflow
    residuals /= largest
    _, turned = np.linalg.eigh(residuals.T @ residuals)
    basis = _orthonormal(residuals @ turned[:, ::-1][:, : estimate.rank])
    return _flattened(basis, _share_of_noise(1.0 / largest, residuals))


def _share_of_noise(std: FloatArray | float, columns: FloatArray) -> float:
    """Expected share of noise of this standard deviation in the squared norm of columns, on average."""
    norms = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    return float(np.mean(np.minimum(math.sqrt(len(columns)) * std / norms, 1.0) ** 2))


def _flattened(Q: FloatArray, share: float) -> FloatArray:
    """An orthonormal basis with shorter longest rows, but for the `share` of its square that is noise anyway."""
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


def _orthonormal_near(vectors: FloatArray) -> FloatArray:
    """The orthonormal columns that are nearest to these in direction."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(float).tiny)
    left, _, right = np.linalg.svd(vectors / lengths, full_matrices=False)
    return np.asarray(left @ right)


def _orthonormal(columns: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.qr(columns)[0])


def _random_basis(n: int, rank: int, call: Call) -> FloatArray:
    """Orthonormal columns from random signs."""
    return _orthonormal(call.generator.choice(np.array([-1.0, 1.0]), size=(n, rank)))
