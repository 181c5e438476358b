"""Noise that was drawn, as numbers that are uniform if it has the law of its ledger line: for Kolmogorov-Smirnov tests.

The scale is that of the ledger, so that noise which is drawn narrower shows. Each law is written down here once more,
from its density; nothing is taken from the samplers.
"""

import math
from typing import Any

import numpy as np
from scipy import special

from dpgraph.bounds.k_norm import Hull
from dpgraph.privacy.row_norm import RowNorm
from tests.privacy.replay import size_of_rows

#: Numbers of one release that are looked at, and of all releases together before a test says anything.
_MOST, _LEAST = 24, 100
#: A test fails if a sound law would fail it with probability 1e-10 (Dvoretzky-Kiefer-Wolfowitz, Massart's constant).
_THRESHOLD = math.sqrt(math.log(2 / 1e-10) / 2)


def kolmogorov(uniforms: np.ndarray) -> float:
    """Distance of the empirical distribution from the uniform one, over the largest that chance explains."""
    n = uniforms.size
    if n < _LEAST:
        return 0.0
    ranked, steps = np.sort(uniforms), np.arange(n + 1) / n
    distance = max(float(np.max(steps[1:] - ranked)), float(np.max(ranked - steps[:-1])))
    return distance * math.sqrt(n) / _THRESHOLD


def discrete_laplace(draws: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
    """Of integers with probabilities proportional to exp(-|k|/scale); an atom is spread evenly over its share."""
    k = draws.ravel()[:_MOST]
    if not 1e-2 < scale < 2.0**40:
        return np.zeros(0)
    r = math.exp(-1 / scale)

    def below(k: np.ndarray) -> np.ndarray:
        return np.where(k >= 0, 1 - r ** (np.abs(k) + 1.0) / (1 + r), r ** np.abs(k) / (1 + r))

    return below(k - 1) + rng.random(k.size) * (below(k) - below(k - 1))


def uniforms(kind: str, noise: np.ndarray, scale: float, *, first: bool | None, norm: Any) -> np.ndarray:
    """Of real noise, or of noise on a fine grid; nothing where the law has no closed distribution."""
    if not 0 < scale < math.inf or noise.size == 0 or not np.all(np.isfinite(noise)):
        return np.zeros(0)
    with np.errstate(all="ignore"):
        z = np.asarray(noise, dtype=np.float64) / scale
    if kind in ("Gaussian", "discrete Gaussian"):
        return special.ndtr(z.ravel()[:_MOST])
    if kind == "symmetric Gaussian":
        above = z[np.triu_indices(len(z))][:_MOST]
        sizes = np.where(np.equal(*np.triu_indices(len(z))), 1.0, math.sqrt(0.5))[:_MOST]
        return special.ndtr(above / sizes)
    if isinstance(norm, Hull):  # of a density exp(-norm) in r dimensions the norm is Gamma(r)
        return np.array([special.gammainc(norm.dimension, norm.norm(z.ravel()))])
    if kind == "K-norm":
        rows = z.reshape(-1, norm.ball.columns)[:_MOST]
        return (
            _query(size_of_rows(norm.ball, rows), norm) if first else np.zeros(0)
        )  # others have the same sizes of balls
    if "nuclear" in kind or "wishart" in kind:
        return _matrix(kind, z)
    return np.zeros(0)


def _matrix(kind: str, z: np.ndarray) -> np.ndarray:
    """Densities exp(-norm): the norm is a Gamma variable. Wishart differences: the distance of two traces.

    With D = d(d + 1)/2 the traces have the density (a b)^(D - 1) exp(-a - b), or exp(-max(a, b)) if they are tied. So
    t = |a - b| has a density proportional to the integral of (b + t)^(D - 1) b^(D - 1) exp(-t - 2b) (or -b) over b.
    """
    D = len(z) * (len(z) + 1) / 2
    if "laplace" not in kind:
        j = np.arange(D)
        weights = special.gammaln(D) - special.gammaln(D - j) + special.gammaln(2 * D - 1 - j)
        weights = weights if "larger" in kind else weights + j * math.log(2)
        return np.array([special.softmax(weights) @ special.gammainc(j + 1, abs(float(np.trace(z))))])
    values = np.linalg.eigvalsh(z)
    parts = float(values[values > 0].sum()), float(-values[values < 0].sum())
    return np.array([special.gammainc(D, max(parts) if "larger" in kind else sum(parts))])


def _query(m: np.ndarray, norm: RowNorm) -> np.ndarray:
    """P[M <= m] for the norm M of one query, uniform in a ball whose size r is Gamma(T D + 1): E min(1, (m/r)^D)."""
    D, shape = norm.dimension, norm.queries * norm.dimension + 1
    outside = np.exp(D * np.log(np.maximum(m, 1e-300)) + special.gammaln(shape - D) - special.gammaln(shape))
    return np.asarray(special.gammainc(shape, m) + outside * special.gammaincc(shape - D, m))
