"""The one release of a noisy symmetric matrix.

Covariances, Gram matrices of cosines, symmetric matrices as such, Analyze Gauss of matrices and of the normalized
adjacency, and the small core of a projector all come through here. They differ in what one neighbour changes, which
the caller states, and in the law of the noise.
"""

from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.grid import add_on_grid, grid_step, symmetric_part, terms
from dpgraph.privacy.matrix_noise import EXACT_NUCLEAR_LAPLACE_DIMENSION, LARGER_TRACE, NUCLEAR
from dpgraph.typing import FloatArray

NuclearMechanism = Literal["wishart-difference", "nuclear-laplace"]
NUCLEAR_MECHANISMS: tuple[str, ...] = get_args(NuclearMechanism)
SymmetricLaw = Literal["gaussian", NuclearMechanism]
#: The norm in which neighbours are near: tr E_+ + tr E_-, or max(tr E_+, tr E_-) (a replaced record).
MatrixNorm = Literal["nuclear", "larger-trace"]


class NoisySymmetric(NamedTuple):
    """A released symmetric matrix, shape (d, d)."""

    matrix: FloatArray
    #: Standard deviation of Gaussian noise on the diagonal; off the diagonal the variance is half. NaN for other laws.
    std: float
    #: Whether the noise came from a Markov chain, which no proof covers.
    approximate: bool


def release_symmetric(
    measurement: Measurement, call: Call, law: SymmetricLaw = "gaussian", *, norm: MatrixNorm = "nuclear"
) -> NoisySymmetric:
    """Release the symmetric part (B + B')/2 of a square matrix B with noise, rounded to a public grid.

    ``"gaussian"`` is noise (W + W')/2, W iid normal (DTTZ14, with the scale of BW18), of a call with a delta: `l2` of
    the measurement bounds the change between neighbours in the Frobenius norm. The other laws are those of
    :mod:`dpgraph.privacy.matrix_noise`, of a pure call: `l1` bounds the change in `norm`, and `error` (0 by default)
    what rounding adds to it, in the nuclear norm, on either of two neighbours.
    """
    if law == "gaussian":
        released = call.release(replace(measurement, symmetric=True))
        return NoisySymmetric(released.value, released.std, approximate=False)
    B, d = measurement.value, len(terms(measurement.value)[0])
    approximate = law == "nuclear-laplace" and d > EXACT_NUCLEAR_LAPLACE_DIMENSION
    name = law + (", larger trace" if norm == "larger-trace" else "")
    name += " (Markov chain: approximate)" if approximate else ""
    moved = measurement.l1 + 2 * (measurement.error or 0.0)
    scale = call.scale(measurement.name, moved, law=name)
    laws = LARGER_TRACE if norm == "larger-trace" else NUCLEAR
    exact = laws.difference if law == "wishart-difference" else laws.laplace
    draw = laws.laplace_markov if approximate else exact
    matrix = add_on_grid(symmetric_part(B), draw(call.noise, d, scale), grid_step(scale))
    return NoisySymmetric(matrix, float("nan"), approximate)
