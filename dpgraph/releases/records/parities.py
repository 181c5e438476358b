"""The release of a private marginal: means of parities, or of conjunctions, of records."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.inputs.records import Schema, read_records, truncate_rows
from dpgraph.linalg.parities import ParityBasis
from dpgraph.privacy.call import Call, Measurement
from dpgraph.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Statistics:
    """What is counted in each record, and how far a neighbour moves it; public."""

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

    def sums(self, data: Any) -> FloatArray:
        """Exact sums over the (truncated) records, shape (D,)."""
        pieces = read_records(data, self.schema)
        if self.sparsity is not None:
            pieces = (truncate_rows(records, self.sparsity) for records in pieces)
        if not self.conjunctions:
            return self.basis.sums(pieces)
        return self.basis.product_sums(records.astype(np.float64) for records in pieces)


def release_means(sums: FloatArray, statistics: Statistics, call: Call) -> tuple[FloatArray, FloatArray, float]:
    """Noisy means of the statistics, the variances of their noise, and the (public or noisy) number of records.

    Sums over 0/1 records are whole numbers, and their products with the factors of Laplace noise, which have few
    digits, are exact up to 2**32 records.
    """
    factors = statistics.factors
    if statistics.adjacency == "replace":
        count = float(sums[0])  # public: neighbours have the same number of records
        move = statistics.sensitivity / count
        weighted = factors[1:] * (sums[1:] / count)
        noisy, std = call.release(
            Measurement("parities", weighted, l1=move, l2=move, few=True, error=statistics.error_of_means)
        )
        means, deviations = noisy / factors[1:], std / factors[1:]
    else:
        move = statistics.sensitivity
        noisy, std = call.release(Measurement("counts", factors * sums, l1=move, l2=move, few=True))
        released = noisy / factors
        count = max(float(released[0]), 1.0)
        means, deviations = released[1:] / count, std / factors[1:] / count
    return np.append(1.0, means), np.append(0.0, deviations**2), count
