"""Every noise that is drawn has the scale of its ledger line, in order, and every Gaussian line is drawn."""

import itertools

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.privacy.noise import NoiseSource

G = nx.gnp_random_graph(60, 0.5, seed=1)
M = 400 * np.outer(np.ones(60), np.ones(60)) / 60

PROJECTOR = {"sensitivity": 1.0, "delta": 1e-6, "mechanism": "coherence", "rng": 0}
CALLS = {
    "degrees": lambda: dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6, mechanism="gaussian", rng=0),
    "degrees, Laplace": lambda: dpgraph.private_degrees(G, epsilon=1.0, mechanism="laplace", rng=0),
    "spectrum of a graph": lambda: dpgraph.private_spectrum(G, 3, epsilon=1.0, delta=1e-6, rng=0),
    "adjacency": lambda: dpgraph.private_normalized_adjacency(
        G, epsilon=30.0, delta=1e-6, mechanism="coherence", rank=1, rng=0
    ),
    "adjacency, given tau": lambda: dpgraph.private_normalized_adjacency(
        G, epsilon=50.0, delta=1e-6, mechanism="coherence", rank=1, regularization=30.0, rng=0
    ),
    "adjacency, gaussian": lambda: dpgraph.private_normalized_adjacency(
        G, epsilon=1.0, delta=1e-6, mechanism="gaussian", rng=0
    ),
    "max-cut, Laplace iterates": lambda: dpgraph.private_max_cut(G, epsilon=0.2, mechanism="bounded-iterates", rng=0),
    "max-cut, noisy power": lambda: dpgraph.private_max_cut(G, epsilon=1.0, delta=1e-6, mechanism="noisy-power", rng=0),
    "low rank": lambda: dpgraph.private_low_rank(M, 1, epsilon=2.0, **PROJECTOR),
    "eigenspace": lambda: dpgraph.private_eigenspace(M, 1, epsilon=2.0, **PROJECTOR),
    "singular subspace": lambda: dpgraph.private_singular_subspace(M[:, :40], 1, epsilon=4.0, **PROJECTOR),
    "all entries": lambda: dpgraph.private_projector(M, 1, epsilon=4.0, **PROJECTOR | {"mechanism": "gaussian"}),
    "coherence": lambda: dpgraph.private_coherence(M, 1, sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0),
}


@pytest.fixture
def drawn(monkeypatch):
    """Record the scale of each release, once for each run of equal scales (a sweep is released in blocks)."""
    scales = []

    def record(scale):
        if not scales or scales[-1] != scale:
            scales.append(scale)

    for name in ("gaussian_on_grid", "laplace_on_grid", "scalars"):
        original = getattr(NoiseSource, name)

        def spy(self, values, unit, scale, original=original):
            record(scale)
            return original(self, values, unit, scale)

        monkeypatch.setattr(NoiseSource, name, spy)
    symmetric = NoiseSource.symmetric_gaussian

    def spy_symmetric(self, n, scale):
        record(scale)
        return symmetric(self, n, scale)

    monkeypatch.setattr(NoiseSource, "symmetric_gaussian", spy_symmetric)
    gaussian = NoiseSource.gaussian

    def spy_power(self, shape, scale):
        # Grid and symmetric releases draw through this one with a rescaled argument; noisy power calls it directly.
        if isinstance(shape, tuple) and len(shape) == 2 and shape == (60, 2) and scale != 1.0:
            record(scale)
        return gaussian(self, shape, scale)

    monkeypatch.setattr(NoiseSource, "gaussian", spy_power)
    return scales


@pytest.mark.parametrize("name", CALLS)
def test_noise_scales_are_those_of_the_ledger(name, drawn):
    report = CALLS[name]().privacy
    ledger = [entry.scale for entry in report.entries if entry.mechanism != "good event"]
    assert drawn == [scale for scale, _ in itertools.groupby(ledger)]


def lines_about_one_pair(report):
    """Lines that compose in sequence: those about all pairs, with each group of lines that is about some."""
    groups = {entry.pairs for entry in report.entries if entry.pairs} or {""}
    return [[entry for entry in report.entries if entry.pairs in ("", pairs)] for pairs in groups]


@pytest.mark.parametrize("name", CALLS)
def test_the_ledger_never_exceeds_the_guarantee(name):
    report = CALLS[name]().privacy
    slack = sum(entry.delta_share for entry in report.entries)
    for lines in lines_about_one_pair(report):
        mu_squared = sum(entry.mu**2 for entry in lines)
        if report.mu is None:
            assert sum(entry.epsilon for entry in lines) <= report.epsilon * (1 + 1e-9)
        else:
            assert mu_squared <= report.mu**2 * (1 + 1e-9)
            assert dpgraph.privacy.gdp_delta(mu_squared**0.5, report.epsilon) + slack <= report.delta * (1 + 1e-6)
    assert sum(entry.share for entry in report.entries) <= 1 + 1e-9


@pytest.mark.parametrize("name", ["degrees", "low rank", "adjacency"])
def test_the_whole_budget_is_used(name):
    report = CALLS[name]().privacy
    for lines in lines_about_one_pair(report):
        assert sum(entry.mu**2 for entry in lines) == pytest.approx(report.mu**2, rel=0.01)


def test_released_degrees_scatter_with_the_ledger_scale():
    graph = nx.empty_graph(20_000)
    result = dpgraph.private_degrees(graph, epsilon=1.0, delta=1e-6, mechanism="gaussian", rng=4)
    assert np.std(result.values) == pytest.approx(result.privacy.entries[0].scale, rel=0.02)
    assert np.all(result.values == np.rint(result.values))
