"""Results in files: what comes back is what was saved, with its ledger, and nothing in a file is executed."""

import json

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.results.files import load_result, save_result

BUDGET = {"epsilon": 4.0, "delta": 1e-6, "rng": 0}


def planted():
    return dpgraph.datasets.planted_cut(400, 120, -0.8, rng=0)


@pytest.fixture(scope="module")
def adjacency():
    G = nx.relabel_nodes(planted(), lambda v: (v, f"Ω{v}", None) if v % 2 else f"'{v},\n")
    return dpgraph.private_normalized_adjacency(G, rank=2, **BUDGET)


def test_the_file_is_the_documented_one(adjacency, tmp_path):
    save_result(adjacency, tmp_path / "private.npz")
    with np.load(tmp_path / "private.npz", allow_pickle=False) as archive:
        metadata = json.loads(archive["metadata"].tobytes())
        assert set(archive.files) == {"metadata", "degrees", "basis", "core", "spectrum"}
    assert (metadata["format"], metadata["version"]) == ("dpgraph-result", 3)
    assert metadata["type"] == "PrivateNormalizedAdjacency"
    assert metadata["fields"]["nodes"]["tuple"][1] == {"tuple": [1, "Ω1", None]}


def rewritten(path, **changes):
    with np.load(path) as archive:
        arrays = dict(archive)
    metadata = json.loads(arrays.pop("metadata").tobytes()) | changes
    np.savez(path, metadata=np.frombuffer(json.dumps(metadata).encode(), dtype=np.uint8), **arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 1},
        {"version": True},
        {"type": "PosixPath"},
        {"type": "sklearn"},
        {"type": "PrivacyAccountant"},
        {"type": "PrivateMarginals"},
        {"type": ["PrivateDegrees"]},
        {"format": "other"},
        {"arrays": ["nothing"]},
        {"fields": {"x": {"y": 1}}},
    ],
)
def test_altered_metadata_is_refused(changes, adjacency, tmp_path):
    path = tmp_path / "private.npz"
    save_result(adjacency, path)
    rewritten(path, **changes)
    with pytest.raises(InvalidParameterError, match=r"private\.npz"):
        load_result(path)


def test_labels_that_a_file_cannot_hold_are_refused(tmp_path):
    G = nx.relabel_nodes(nx.path_graph(3), {0: frozenset({1}), 1: object()})
    with pytest.raises(InvalidParameterError, match="object"):
        save_result(dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6), tmp_path / "d.npz")
    with pytest.raises(InvalidParameterError, match="got dict"):
        save_result({}, tmp_path / "d.npz")
    assert not (tmp_path / "d.npz").exists()


@pytest.mark.parametrize("label", ["\ud800", "a\udfffb", "é\n\0"])
def test_any_text_is_a_label_in_a_file(label, tmp_path):
    """Half of a surrogate pair has no form in UTF-8."""
    result = dpgraph.private_degrees(nx.path_graph([label, "b", (label, 1)]), epsilon=1.0)
    save_result(result, tmp_path / "degrees.npz")
    assert load_result(tmp_path / "degrees.npz").nodes == (label, "b", (label, 1))


def test_frozensets_stay_frozensets_and_sets_stay_sets(tmp_path):
    """Contracted vertices are frozensets; as sets they could not be keys, nor be in the sides of a cut."""
    G = nx.path_graph([frozenset({1, 2}), frozenset({(3, "x")}), frozenset()])
    result = dpgraph.private_max_cut(G, epsilon=1.0)
    save_result(result, tmp_path / "cut.npz")
    loaded = load_result(tmp_path / "cut.npz")
    assert loaded.nodes == result.nodes
    assert loaded.partition == result.partition
    assert [type(side) for side in loaded.partition] == [set, set]
    assert all(type(node) is frozenset for node in loaded.nodes)
