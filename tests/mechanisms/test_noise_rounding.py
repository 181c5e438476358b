"""What floating-point arithmetic does to numbers before they get noise is within what the ledger allows for it."""

from fractions import Fraction

import numpy as np
import pytest

import dpgraph
from dpgraph.bounds import sensitivity
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.call import Call


def exact_product(A, X):
    A, X = ([[Fraction(float(x)) for x in row] for row in M] for M in (A, X))
    return [[sum(a * x for a, x in zip(row, column, strict=True)) for column in zip(*X, strict=True)] for row in A]


@pytest.mark.parametrize("max_weight", [1.0, 0.1])
def test_products_with_a_public_basis_err_by_less_than_their_bound(max_weight):
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((60, 60)), 1) * max_weight
    graph = open_graph(A + A.T, max_weight=max_weight).read()
    X = np.linalg.qr(rng.normal(size=(60, 3)))[0] * 10.0 ** rng.uniform(-6, 0, size=(60, 1))
    exact = np.array(exact_product(graph.adjacency.toarray(), X), dtype=object)
    computed = graph.multiply(X)
    errors = np.array([float(Fraction(float(c)) - e) for c, e in zip(computed.ravel(), exact.ravel(), strict=True)])
    errors = errors.reshape(computed.shape)
    two_rows = np.sqrt(np.sort((errors**2).sum(axis=1))[-2:].sum())
    assert 0 < two_rows <= sensitivity.product_rounding(max_weight, X)


def test_the_noisy_power_method_pays_for_the_rounding_of_its_products(monkeypatch):
    paid = []
    honest = Call.release

    def spy(call, measurement):
        released = honest(call, measurement)
        if "power iteration" in measurement.name:
            line = call.ledger.entries[-1]
            paid.append((measurement.error, line.sensitivity - measurement.l2, measurement.l2))
        return released

    monkeypatch.setattr(Call, "release", spy)
    A = np.ones((300, 300)) - np.eye(300)
    dpgraph.private_normalized_adjacency(A, epsilon=1e6, delta=1e-6, rank=2, mechanism="noisy-power", rng=0)
    assert len(paid) > 5
    for error, charged, bound in paid:
        assert 0 < error < 1e-8 * bound
        assert charged == pytest.approx(2 * error, rel=1e-3, abs=1e-15 * bound)
