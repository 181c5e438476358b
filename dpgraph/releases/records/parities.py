"""The release of a private marginal: means of parities, or of conjunctions, of records."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.inputs.records import Schema, read_records, truncate_rows
from dpgraph.linalg.parities import ParityBasis
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.grid import Terms
from dpgraph.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Statistics:
    """What is counted in each record, and its sensitivity; public."""

    schema: Schema
    #: Sets of attributes, the empty one first: its sum is the number of records.
    basis: ParityBasis
    #: Products of 0/1 columns in place of parities.
    conjunctions: bool
    #: Of a record with more ones than this, the first in column order are kept.
    sparsity: int | None
    adjacency: str
    #: By which the sums are multiplied before they get noise, shape (D,).
    factors: FloatArray
    #: Of the sums times their factors, in the norm of the noise: l1 for Laplace noise, l2 for Gaussian noise.
    sensitivity: float
    #: Bound on the rounding of the vector of means times their factors, in the l1 norm.
    error_of_means: float

    def sums(self, data: Any) -> tuple[FloatArray, ...]:
        """Sums over the (truncated) records, whose exact sum is meant: :meth:`ParityBasis.sums`, shape (D,) each."""
        pieces = read_records(data, self.schema)
        if self.sparsity is not None:
            pieces = (truncate_rows(records, self.sparsity) for records in pieces)
        if not self.conjunctions:
            return self.basis.sums(pieces)
        return (self.basis.product_sums(records.astype(np.float64) for records in pieces),)


def release_means(
    sums: tuple[FloatArray, ...], statistics: Statistics, call: Call
) -> tuple[FloatArray, FloatArray, float]:
    """Noisy means of the statistics, the variances of their noise, and the (public or noisy) number of records.

    A private number of records takes part in no rounding: sums and their products with the factors are exact.
    """
    factors = statistics.factors
    if statistics.adjacency == "replace":
        total = sum(sums[1:], start=sums[0])
        count = float(total[0])  # public: neighbours have the same number of records
        move = statistics.sensitivity / count
        weighted = factors[1:] * (total[1:] / count)
        noisy, std = call.release(
            Measurement("parities", weighted, l1=move, l2=move, few=True, error=statistics.error_of_means)
        )
        means, deviations = noisy / factors[1:], std / factors[1:]
    else:
        move = statistics.sensitivity
        noisy, std = call.release(Measurement("counts", exact_products(factors, sums), l1=move, l2=move, few=True))
        released = noisy / factors
        count = max(float(released[0]), 1.0)
        means, deviations = released[1:] / count, std / factors[1:] / count
    return np.append(1.0, means), np.append(0.0, deviations**2), count


def exact_products(factors: FloatArray, sums: tuple[FloatArray, ...]) -> Terms:
    """Arrays whose exact sum is that of `factors` times each of the `sums`.

    The rounding error of a product of doubles is a double: that of the product of their halves, of 26 bits, is told by
    T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18 (1971).
    """
    found: list[FloatArray] = []
    high, low = _halves(factors)
    for part in sums:
        first, last = _halves(part)
        product = factors * part
        found += [product, ((high * first - product) + high * last + low * first) + low * last]
    return tuple(found)


def _halves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two doubles of 26 bits with this sum."""
    spread = (2.0**27 + 1) * values
    high = spread - (spread - values)
    return high, values - high
