"""Exact values of cuts, however the partition is written."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.evaluate import cut_fraction, cut_value
from dpgraph.exceptions import InvalidParameterError

PATH = nx.path_graph(["a", "b", "c", "d"])  # a - b - c - d


@pytest.mark.parametrize(
    "partition",
    [
        ({"a", "c"}, {"b", "d"}),
        [["a", "c"], ["b", "d"]],
        {"a": 0, "b": 1, "c": 0, "d": 1},
        {"a": True, "b": False, "c": True, "d": False},
        np.array([0, 1, 0, 1]),
        np.array([True, False, True, False]),
    ],
)
def test_every_way_to_write_a_partition_gives_the_same_value(partition):
    assert cut_value(PATH, partition) == 3.0
    assert cut_fraction(PATH, partition) == 1.0


def test_values_agree_with_networkx_on_weighted_graphs():
    rng = np.random.default_rng(0)
    graph = nx.gnp_random_graph(30, 0.3, seed=0)
    nx.set_edge_attributes(graph, {e: float(rng.standard_normal()) for e in graph.edges}, "w")
    side = {v for v in graph if rng.random() < 0.5}
    partition = (side, set(graph) - side)
    assert cut_value(graph, partition, weight="w") == pytest.approx(nx.cut_size(graph, *partition, weight="w"))
    assert cut_value(graph, partition) == nx.cut_size(graph, *partition)
    total = graph.size(weight="w")
    assert cut_fraction(graph, partition, weight="w") == pytest.approx(
        nx.cut_size(graph, *partition, weight="w") / total
    )


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (({"a", "b"}, {"c"}), "leaves out 1 of 4"),
        (({"a", "b"}, {"b", "c", "d"}), "holds 'b' twice"),
        (({"a", "b"}, {"c", "d", "e"}), "'e', which is not a vertex"),
        (({"a"}, {"b"}, {"c", "d"}), "needs two sides, .* got 3"),
        ({"a": 0, "b": 1, "c": 2, "d": 0}, "leaves out 1"),
        (np.array([0, 1, 1]), "needs 4 entries"),
        (np.array([0, 1, 2, 0]), "entries 0 or 1"),
        (7, "two sides"),
        ([0, 1], "two sides, .* got list"),
    ],
)
def test_what_is_not_a_partition_is_refused(partition, message):
    with pytest.raises(InvalidParameterError, match=message):
        cut_value(PATH, partition)
