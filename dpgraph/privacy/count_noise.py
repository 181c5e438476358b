"""Exact draws of the noise on a count: a place on a ladder, or an integer of a Cauchy law.

A ladder is a law on the integers around a count, whose probabilities fall from rung to rung
(:mod:`dpgraph.bounds.ladder` has the laws and why they are private).
"""

import math
from collections.abc import Sequence

import numpy as np

from dpgraph.privacy.exact_sampling import EXPONENT_BITS, exponential_coins, geometric

_ONE = 1 << EXPONENT_BITS


def ladder_offset(widths: Sequence[int], exponent: int, generator: np.random.Generator) -> int:
    r"""A random integer: 0 is rung 0, and the next I_{k-1} integers on either side are rung k, of weight e^-gk.

    `widths` are c_0, ..., c_J: rung k has I_{k-1} = sum_j c_j C(k - 1, j) integers on either side. `exponent` is g in
    units of 2**-40, positive.

    Notes
    -----
    With x = e^-g, all rungs weigh 1 + 2 sum_j c_j (x/(1 - x))^{j+1}. Term j is a sum of j + 1 geometric variables, plus
    j + 1: sum_k C(k - 1, j) x^k = (x/(1 - x))^{j+1}. With 1/(1 - x) = (1 + x + ... + x^{m-1})/(1 - x^m), the terms
    times (1 - x^m)^{J+1} are 1 or 2 c_j m^{j+1}, rational, times a product of J + 1 probabilities: of 1 - x^m, and in
    term j of j + 1 times x (1 + ... + x^{m-1})/m in its place, a coin of x and one of x^i for a uniform i < m. At m of
    about 1/g none of these is small.
    """
    m, order = -(-_ONE // exponent), len(widths) - 1

    def coin(power: int) -> bool:
        """True with probability x^power."""
        return bool(exponential_coins(np.array([min(power * exponent, 1 << 62)]), generator)[0])

    weights = [1, *(2 * width * m ** (j + 1) for j, width in enumerate(widths))]
    while True:
        place, terms = _uniform(sum(weights), generator), 0
        while place >= weights[terms]:
            place -= weights[terms]
            terms += 1
        inside = all(coin(1) and coin(_uniform(m, generator)) for _ in range(terms))
        if inside and not any(coin(m) for _ in range(order + 1 - terms)):
            break
    if terms == 0:
        return 0
    k = terms + int(geometric(terms, exponent, generator).sum())
    inner = sum(width * math.comb(k - 1, j + 1) for j, width in enumerate(widths))
    rung = sum(width * math.comb(k - 1, j) for j, width in enumerate(widths))
    offset = inner + 1 + _uniform(rung, generator)
    return offset if _uniform(2, generator) else -offset


def cauchy_offset(scale: int, bits: int, generator: np.random.Generator) -> int:
    """A random integer z of weight 1/(s^2 + z^2), where s >= 1 is `scale` / 2**`bits`.

    Rejection, with N = ceil(s): weights up to N are at most 1/s^2. Beyond, z is uniform in (a, 2 a], a = N 2^i, with
    probability 2^-(i+1); there the weight is at most 1/a^2, so 2/N times what is proposed bounds it.
    """
    square, one = scale * scale, 1 << (2 * bits)
    N = -(-scale // (1 << bits))
    near, far = (N + 1) * N * one, 2 * square
    while True:
        if _uniform(near + far, generator) < near:
            z, most = _uniform(N + 1, generator), square
        else:
            a = N
            while _uniform(2, generator):
                a *= 2
            z, most = a + 1 + _uniform(a, generator), one * a * a
        negative = _uniform(2, generator) == 1
        if _uniform(square + one * z * z, generator) < most and not (negative and z == 0):
            return -z if negative else z


def _uniform(bound: int, generator: np.random.Generator) -> int:
    """A uniform integer below `bound`, of any size."""
    bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(generator.bytes(-(-bits // 8)), "little") >> (-bits % 8)
        if drawn < bound:
            return drawn
