"""The best of small problems, by trying everything in rational numbers, and weights whose bounds are hard to round."""

import itertools
from fractions import Fraction

import numpy as np


def all_cuts(n):
    return np.array(list(itertools.product((1,), *[(1, -1)] * (n - 1))))


def exact_values(W, cuts):
    edges = [(u, v, Fraction(float(W[u, v]))) for u, v in np.argwhere(np.triu(W))]
    return np.array([sum((w for u, v, w in edges if cut[u] != cut[v]), Fraction(0)) for cut in cuts])


def exact_best_cut(W, imbalance=None):
    """Largest value of a cut whose sides differ by so much at most, or of any."""
    cuts = all_cuts(len(W))
    return max(exact_values(W, cuts if imbalance is None else cuts[abs(cuts.sum(axis=1)) <= imbalance]))


def best_value(objective):
    """Largest value of a cut, in floating point."""
    return float(objective.values(all_cuts(objective.n_vertices).T.astype(float)).max())


def exact_best(made):
    """Largest value of a constraint problem over all assignments."""
    n, q = made.n_variables, made.alphabet_size
    tables = [[[Fraction(x) for x in row] for row in table] for table in made.tables]
    pairs = made.pairs.tolist()
    return max(
        sum((table[x[u]][x[v]] for (u, v), table in zip(pairs, tables, strict=True)), Fraction(0))
        for x in itertools.product(range(q), repeat=n)
    )


def random_weights(rng, n, kind):
    """Signs, numbers of one scale, of thirty, or with a few huge negative ones."""
    return [
        rng.choice([-1, 1], (n, n)),
        rng.uniform(-1, 2, (n, n)),
        10.0 ** rng.integers(-15, 15, (n, n)) * rng.choice([-1, 1], (n, n)),
        np.where(rng.random((n, n)) < 0.1, -1e8, rng.standard_normal((n, n))),
    ][kind % 4]
