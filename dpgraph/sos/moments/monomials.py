"""Monomials in the label indicators of a 2-CSP, and what is linear in their moments."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from scipy import sparse

#: Pairs (position of a variable, position of a label below q - 1), variables ascending, each once.
Monomial = tuple[tuple[int, int], ...]


def monomials(n: int, q: int, degree: int) -> Iterator[Monomial]:
    """All monomials of at most `degree` different variables, labels 0..q-2, shorter ones first."""
    for size in range(degree + 1):
        for variables in itertools.combinations(range(n), size):
            for labels in itertools.product(range(q - 1), repeat=size):
                yield tuple(zip(variables, labels, strict=True))


def product(S: Monomial, T: Monomial) -> Monomial | None:
    """Product of two monomials, None when it gives two labels to one variable."""
    union = sorted({*S, *T})
    inconsistent = any(x[0] == y[0] for x, y in itertools.pairwise(union))
    return None if inconsistent else tuple(union)


def linear_in_moments(products: Iterable[Monomial], names: Sequence[Monomial], last: int) -> sparse.csr_array:
    """Rows: products of indicators, x_i,last = 1 - sum of the rest among them, as functions of the moments `names`."""
    number = {name: k for k, name in enumerate(names)}
    data, row, col = [], [], []
    at = -1
    for at, factors in enumerate(products):
        expanded = [
            [(1.0, ((i, a),))] if a < last else [(1.0, ()), *((-1.0, ((i, b),)) for b in range(last))]
            for i, a in factors
        ]
        for terms in itertools.product(*expanded):
            data.append(math.prod(sign for sign, _ in terms))
            row.append(at)
            col.append(number[tuple(itertools.chain.from_iterable(S for _, S in terms))])
    return sparse.coo_array((data, (row, col)), shape=(at + 1, len(names))).tocsr()
