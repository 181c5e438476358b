"""The release of a private answer to linear queries: C x for a public matrix C."""

import math

import numpy as np

from dpgraph.bounds.k_norm import Hull
from dpgraph.linalg.exact_product import exact_product
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.call import Call, Measurement, Released
from dpgraph.privacy.grid import add_on_grid, grid_step
from dpgraph.privacy.noise import NoiseSource
from dpgraph.typing import FloatArray


def release_encoded(
    encode: QueryMatrix, histogram: FloatArray, sensitivity: float, call: Call, *, hull: Hull | None = None
) -> Released:
    """Noisy C x, and the standard deviation of its noise, with a hull the scale of K-norm noise.

    `sensitivity` is :func:`~dpgraph.bounds.histogram.encoded_sensitivity` in the norm of the noise.
    """
    name = "linear queries"
    product = exact_product(encode, histogram)
    if hull is None:
        return call.release(Measurement(name, product, l1=sensitivity, l2=sensitivity, few=True))
    scale = call.scale(name, sensitivity, law="K-norm")
    return Released(add_on_grid(product, k_norm_noise(call.noise, hull, scale), grid_step(scale)), scale)


def k_norm_noise(noise: NoiseSource, hull: Hull, scale: float) -> FloatArray:
    """Draw from the density proportional to exp(-||z||_K / scale) by rejection (:mod:`dpgraph.bounds.k_norm`)."""
    while True:
        direction = noise.gaussian(hull.dimension, 1.0)
        radius = float(noise.generator.standard_gamma(hull.dimension))
        z = direction * (radius / float(np.linalg.norm(direction)))
        if noise.generator.random() < math.exp(min(radius - hull.norm(z), 0.0)):
            return z * scale
