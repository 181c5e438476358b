"""The release of a private answer to linear queries: C x for a public matrix C."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgraph.linalg.exact_product import exact_product
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.call import Call, Measurement, Released

__all__ = ["release_encoded"]


def release_encoded(encode: QueryMatrix, histogram: NDArray[np.float64], sensitivity: float, call: Call) -> Released:
    """Noisy C x; `sensitivity` is :func:`~dpgraph.bounds.histogram.encoded_sensitivity` in the norm of the noise.

    A call without noise has no sensitivity, and there the smallest entries of C count too.
    """
    product = encode.apply(histogram) if np.isinf(call.epsilon) else exact_product(encode, histogram)
    return call.release(Measurement("linear queries", product, l1=sensitivity, l2=sensitivity, few=True))
