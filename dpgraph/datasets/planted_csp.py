"""Random 2-CSPs with a planted assignment, drawn in time and memory proportional to their constraints."""

from collections.abc import Hashable, Iterable

import numpy as np

from dpgraph.arguments import as_generator, as_number, check_integer
from dpgraph.datasets.planted import independent_subset, triangle_pairs
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.typing import IntArray

__all__ = ["PlantedCSP", "planted_csp"]


class PlantedCSP(TwoCSP):
    """A :class:`~dpgraph.instance.TwoCSP` that knows the assignment planted in it.

    Attributes
    ----------
    planted : dict
        Variable -> label. Not always optimal, but its value is known.
    """

    planted: dict[Hashable, Hashable]


def planted_csp(
    n: int,
    degree: float,
    alphabet: int | Iterable[Hashable],
    satisfiable: float,
    rng: int | np.random.Generator | None = None,
) -> PlantedCSP:
    """Random unique game in which an assignment is planted.

    Every variable gets a uniformly random planted label. Every pair of variables u < v has a constraint independently
    with probability ``degree / (n - 1)``. A constraint is a permutation s of the labels and is satisfied when v has
    label s(label of u). Of the m constraints exactly ``round(satisfiable * m)``, chosen uniformly, have a uniformly
    random permutation among those that the planted assignment satisfies, the others one among those that it does not.

    Parameters
    ----------
    n : int
        Number of variables, at least 2.
    degree : float
        Expected number of constraints on a variable, in [0, n - 1].
    alphabet : int or iterable of hashable
        Labels; a random assignment satisfies one constraint in q, q their number.
    satisfiable : float
        Share of the constraints that the planted assignment satisfies, in [0, 1].
    rng : int, numpy.random.Generator or None
        Seed. The instance is public test data, so this is ordinary pseudo-randomness.

    Returns
    -------
    PlantedCSP
        A :class:`~dpgraph.instance.TwoCSP` on the variables 0..n-1, with the assignment as attribute ``planted``.

    Raises
    ------
    InvalidParameterError
        An argument is out of range.

    References
    ----------
    S. Khot, On the power of unique 2-prover 1-round games, STOC 2002.

    Examples
    --------
    >>> instance = planted_csp(200, 30, 3, 0.9, rng=0)
    >>> instance.value(instance.planted) / instance.total_weight
    0.9
    """
    n = check_integer("n, the number of variables,", n, 2)
    if not 0.0 <= as_number(degree) <= n - 1:
        raise InvalidParameterError(f"degree must lie in [0, n - 1] = [0, {n - 1}]; got {degree!r}")
    if not 0.0 <= as_number(satisfiable) <= 1.0:
        raise InvalidParameterError(f"satisfiable must lie in [0, 1]; got {satisfiable!r}")
    instance = PlantedCSP(n, alphabet)
    q = instance.alphabet_size
    generator = as_generator(rng)
    labels = generator.integers(q, size=n)
    v, u = triangle_pairs(independent_subset(generator, n * (n - 1) // 2, degree / (n - 1)))
    image = labels[v]
    broken = generator.permutation(len(u))[round(satisfiable * len(u)) :]
    image[broken] = (image[broken] + generator.integers(1, q, size=len(broken))) % q
    instance.add_constraints(np.stack([u, v], axis=1), np.eye(q)[_permutations(generator, labels[u], image, q)])
    instance.planted = instance.decode(labels)
    return instance


def _permutations(generator: np.random.Generator, argument: IntArray, image: IntArray, q: int) -> IntArray:
    """Uniformly random permutations of 0..q-1 among those that map argument[e] to image[e], shape (m, q)."""
    rows = np.arange(len(argument))
    s = np.argsort(generator.random((len(argument), q)), axis=1)
    elsewhere = np.argmax(s == image[:, None], axis=1)
    s[rows, elsewhere] = s[rows, argument]
    s[rows, argument] = image
    return s
