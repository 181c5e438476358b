"""Seeds are chosen, sampled, kept and bounded as the two modes of the search say."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

from dpgraph.instance import TwoCSP
from dpgraph.problems.csp.exact import max_2csp
from dpgraph.problems.cut.exact import max_bisection, max_cut
from dpgraph.sos.seed_search import Correlation, SolverOptions, search_seeds

MODES = ["beam", "sampled"]


@dataclass(frozen=True)
class Leaf:
    """A node of a problem without a relaxation: only the pins are kept."""

    pins: tuple[tuple[int, int], ...] = ()

    @property
    def value(self):
        return float(sum(label for _, label in self.pins))

    @property
    def bound(self):
        return 10.0 - self.value

    @property
    def kind(self):
        return "proven"


class Coins:
    """Three variables with weights 0.5, 0.3, 0.2; label 1 has probability 0.7."""

    free_seeds = 0
    p = np.array([0.5, 0.3, 0.2])

    def correlation(self, node):
        drops = self.p.copy()
        drops[[i for i, _ in node.pins]] = 0.0
        return Correlation(float(drops.sum()), 0.0, drops)

    def weights(self, node):
        return self.correlation(node).drops

    def probabilities(self, node, variable):
        return np.array([0.3, 0.7])

    def pin(self, node, variable, label):
        return Leaf((*node.pins, (variable, label)))


def run(mode, *, seeds=2, beam=2, lower_bound=-np.inf):
    options = SolverOptions(search=mode, seeds=seeds, beam=beam)
    return search_seeds(Coins(), Leaf(), options, np.random.default_rng(0), lower_bound=lower_bound)


@pytest.mark.parametrize(
    ("kinds", "expected"), [("tt", "proven"), ("pt", "proven"), ("pl", "lanczos"), ("lp", "lanczos")]
)
@pytest.mark.parametrize("beam", [1, 2])
def test_a_bound_is_as_sure_as_its_least_sure_leaf(kinds, expected, beam):
    names = {"t": "trivial", "p": "proven", "l": "lanczos"}

    class Tighter(Leaf):
        bound = property(lambda self: 10.0 - len(self.pins))
        kind = property(lambda self: names[kinds[self.pins[-1][1]]] if self.pins else "trivial")

    class Tightening(Coins):
        def pin(self, node, variable, label):
            return Tighter((*node.pins, (variable, label)))

    found = search_seeds(Tightening(), Tighter(), SolverOptions(seeds=1, beam=beam), None, lower_bound=-np.inf)
    assert (found.upper_bound, found.kind) == (9.0, expected)
    unpinned = search_seeds(Tightening(), Tighter(), SolverOptions(seeds=0), None, lower_bound=-np.inf)
    assert (unpinned.upper_bound, unpinned.kind) == (10.0, "trivial")


def test_sampled_seeds_follow_the_weights_and_their_labels_the_probabilities():
    leaves = run("sampled", beam=10_000).nodes
    first = np.bincount([leaf.pins[0][0] for leaf in leaves]) / len(leaves)
    np.testing.assert_allclose(first, [0.5, 0.3, 0.2], atol=0.02)
    after_first = [leaf.pins[1][0] for leaf in leaves if leaf.pins[0][0] == 0]
    assert np.mean(np.equal(after_first, 1)) == pytest.approx(0.6, abs=0.02)  # a seed is not drawn twice
    assert np.mean([label for leaf in leaves for _, label in leaf.pins]) == pytest.approx(0.7, abs=0.02)


def test_sampled_leaves_prove_no_more_than_the_root():
    found = run("sampled")
    assert [entry.upper_bound for entry in found.trace] == [10.0, 10.0, 10.0]
    assert len(found.nodes) == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("degree", [2, 4])
def test_every_mode_bounds_and_finds_the_largest_cut(mode, degree):
    G = nx.circulant_graph(7, [1, 2])  # largest cut: 10 of 14 edges
    result = max_cut(G, degree=degree, seeds=3, search=mode, rng=0)
    assert result.value == 10.0
    assert result.upper_bound >= 10.0
    assert [entry.seeds for entry in result.trace] == list(range(len(result.trace)))
    again = max_cut(G, degree=degree, seeds=3, search=mode, rng=0)
    assert again.trace == result.trace


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_solves_bisections_and_csps(mode):
    half = max_bisection(nx.cycle_graph(9), seeds=3, search=mode, rng=0)
    assert (half.value, sorted(map(len, half.partition))) == (8.0, [4, 5])
    colours = TwoCSP.from_networkx(nx.wheel_graph(6), "coloring", 3)
    result = max_2csp(colours, seeds=2, search=mode, rng=0)
    assert result.value == 9.0 <= result.upper_bound
