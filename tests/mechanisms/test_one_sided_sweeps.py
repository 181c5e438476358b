"""Sweeps that read an edge once, of labels and of signs: all of them together know the whole graph."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.releases.sweeps import core as degree_core
from dpgraph.releases.sweeps.iteration import label_iteration
from tests.calls import edge_call, release_cut_labels
from tests.privacy.statistical import log_choice

DIFFER = 1.0 - np.eye(3)


class Watched:
    """A graph that counts, for each pair and sweep, from how many of its ends it was read."""

    def __init__(self, graph):
        self._graph, self.reads, self.read_rows = graph, [], []

    def __getattr__(self, name):
        return getattr(self._graph, name)

    def count_rows(self, rows, labels, count):
        self._see(rows, labels >= 0)
        return self._graph.count_rows(rows, labels, count)

    def multiply_rows(self, rows, chosen, centre=0.0):
        self._see(rows, chosen.any(axis=1))
        return self._graph.multiply_rows(rows, chosen, centre)

    def _see(self, rows, chosen):
        n = self.n_vertices
        if not self.read_rows or self.read_rows[-1] & set(rows.tolist()):
            self.reads.append(np.zeros((n, n)))
            self.read_rows.append(set())
        self.read_rows[-1] |= set(rows.tolist())
        self.reads[-1][rows] += chosen[None, :] * np.ones((len(rows), 1))


def release_label_iterates(graph, relation, call, *, mean_degree):
    X, _ = degree_core.release_core_iterates(graph, label_iteration(graph, relation), call, mean_degree=mean_degree)
    return np.argmax(X, axis=1)


def sweep(
    graph, epsilon, seed=0, release=lambda graph, *call, **mean: release_label_iterates(graph, DIFFER, *call, **mean)
):
    call = edge_call(epsilon, seed)
    return release(graph, call, mean_degree=float(graph.degrees().mean())), call.ledger


CUT = {"release": release_cut_labels}


@pytest.mark.parametrize(("options", "law"), [({}, "noisy maximum"), (CUT, "Laplace")])
def test_the_sweep_reads_every_pair_but_those_in_a_block_at_exactly_one_of_its_ends_for_the_whole_budget(options, law):
    graph = Watched(open_graph(nx.gnm_random_graph(80, 1600, seed=1)).read())
    _, ledger = sweep(graph, 0.5, **options)
    (read,) = graph.reads
    before = read.sum(axis=1)  # rows of one block have read the same rows, all those before it
    assert np.array_equal(read + read.T, before[:, None] != before)
    assert np.mean(before[:, None] == before) < 1 / 20
    assert [line.mechanism for line in ledger.entries] == ["Laplace", law]
    assert sum(line.epsilon for line in ledger.entries) == pytest.approx(0.5)
    assert sum(line.share for line in ledger.entries) == pytest.approx(1.0)


@pytest.mark.parametrize("rng", [0, None])
def test_noisy_choices_follow_permute_and_flip(rng):
    scores = np.tile([[0.0, 1.0, 1.5]], (4000, 1))
    counts = np.bincount(noise_source(rng).noisy_argmax(scores, 2.0**-8, 1.0), minlength=3)
    expected = np.exp(log_choice(scores[:3], np.arange(3))) * len(scores)
    assert expected.sum() == pytest.approx(len(scores))
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))


def test_the_noise_of_a_choice_is_never_negative(monkeypatch):
    source = noise_source(0)
    monkeypatch.setattr(NoiseSource, "_laplace", lambda *_: np.array([[-3.0, 0.0], [2.0, -1.0]]))
    # 2, 0, 2, 0 units are added.
    assert source.noisy_argmax(np.array([[0.0, 1.5], [0.0, 2.0]]), 1.0, 1.0).tolist() == [0, 0]
