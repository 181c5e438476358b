"""What every result promises: a short text, safe HTML, equality by identity, a table, a file that runs nothing."""

import dataclasses
import functools
import json
import warnings

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import DPGraphError, InvalidParameterError
from dpgraph.result import Result, TableResult
from dpgraph.results.files import load_result, save_result
from tests.about import each

HOSTILE = "<script>alert(1)</script>"
BUDGET = {"epsilon": 4.0, "delta": 1e-6, "rng": 0}


@functools.cache
def graph():
    return nx.relabel_nodes(dpgraph.datasets.planted_cut(40, 20, -0.8, rng=0), {0: HOSTILE})


@functools.cache
def instance():
    return dpgraph.datasets.planted_csp(20, 8, 3, 0.9, rng=0)


LOW_RANK = np.diag([30.0, 20.0, *[0.0] * 38])
MATRIX = {"sensitivity": 0.01, "epsilon": 50.0, "delta": 1e-6, "rng": 0}
#: Name of a class -> a call that returns one of it.
CALLS = {
    "PrivateDegrees": lambda: dpgraph.private_degrees(graph(), epsilon=1.0, rng=0),
    "PrivateCutResult": lambda: dpgraph.private_max_cut(graph(), **BUDGET),
    "PrivateCSPResult": lambda: dpgraph.private_max_2csp(instance(), **BUDGET),
    "PrivateNormalizedAdjacency": lambda: dpgraph.private_normalized_adjacency(
        graph(), rank=2, mechanism="noisy-power", **BUDGET
    ),
    "PrivateSubspace": lambda: dpgraph.private_eigenspace(LOW_RANK, 2, **MATRIX),
    "PrivateLowRank": lambda: dpgraph.private_low_rank(LOW_RANK, 2, **MATRIX),
    "PrivateSingularSubspace": lambda: dpgraph.private_singular_subspace(LOW_RANK, 2, **MATRIX),
    "PrivateSpectrum": lambda: dpgraph.private_spectrum(LOW_RANK, 3, **MATRIX),
    "PrivateCoherence": lambda: dpgraph.private_coherence(LOW_RANK, 2, **MATRIX),
    "PrivateProjection": lambda: dpgraph.perturb_and_project(LOW_RANK, [dpgraph.projections.Box(0.0, 50.0)], **MATRIX),
    "PrivateSymmetricMatrix": lambda: dpgraph.private_symmetric_matrix(np.eye(3), sensitivity=0.1, epsilon=1.0, rng=0),
    "PrivateCovariance": lambda: dpgraph.private_covariance(np.eye(3), epsilon=1.0, rng=0),
    "PrivateSimilarities": lambda: dpgraph.private_node_similarities(graph(), **BUDGET),
    "PrivateMarginals": lambda: dpgraph.private_marginals(np.eye(4, dtype=int), 2, **BUDGET),
    "PrivateAnswers": lambda: dpgraph.private_linear_queries(np.eye(4), np.full(4, 9), **BUDGET),
    "PrivateCommunities": lambda: dpgraph.private_communities(graph(), epsilon=4.0, rng=0),
    "PrivateSubgraph": lambda: dpgraph.private_densest_subgraph(graph(), epsilon=1.0, rng=0),
    "PrivateDegreeDistribution": lambda: dpgraph.private_degree_distribution(graph(), epsilon=1.0, rng=0),
    "PrivateGraphModel": lambda: dpgraph.private_synthetic_graph(graph(), epsilon=4.0, rng=0),
    "PrivateCounts": lambda: dpgraph.private_subgraph_counts(graph(), ("edge", "triangle"), epsilon=1.0, rng=0),
    "PrivateEstimate": lambda: dpgraph.private_transitivity(graph(), epsilon=1.0, rng=0),
    "CutResult": lambda: dpgraph.max_cut(graph(), rng=0),
    "CSPResult": lambda: dpgraph.max_2csp(instance(), rng=0),
    "ProjectionResult": lambda: dpgraph.project_nonnegative_spectral_ball(LOW_RANK),
}
EACH = each("name", CALLS, parts=2)


@functools.cache
def a(name):
    """A result of this class, made once in a process."""
    result = CALLS[name]()
    assert type(result).__name__ == name
    return result


def test_every_class_of_private_results_is_among_them():
    classes = [getattr(dpgraph, name) for name in dpgraph.__all__ if name.startswith("Private")]
    assert {kind.__name__ for kind in classes if issubclass(kind, Result)} <= CALLS.keys()


@EACH
def test_the_text_is_short_and_a_table_for_notebooks_is_escaped(name):
    result = a(name)
    assert repr(result).startswith(type(result).__name__)
    assert len(repr(result)) < 400
    html = result._repr_html_()
    assert "<script" not in html
    assert html.count("<table>") == html.count("</table>") >= 1
    assert len(html) < 8000
    if hasattr(result, "privacy"):
        assert result.privacy.entries[0].name in html
        assert "SEEDED" in html


def test_pictures_show_published_values_with_a_caption():
    for name in ("PrivateCommunities", "PrivateDegrees", "PrivateDegreeDistribution", "PrivateSpectrum"):
        html = a(name)._repr_html_()
        caption, heights = a(name)._bars()
        assert html.count("M") >= html.split("<path")[1].split("/>")[0].count("v-") == min(len(heights), 60)
        assert f"<figcaption>{caption}" in html


def test_tables_of_marginals_are_labelled_and_all_of_them_survive_a_file(tmp_path):
    pd = pytest.importorskip("pandas")
    data = pd.DataFrame({"sex": ["f", "m"] * 40, "vote": ["a", "b", "c", "c"] * 20}).astype("category")
    result = dpgraph.private_marginals(data, 2, **BUDGET)
    frame = result.to_frame(["vote", "sex"])
    assert (frame.index.name, list(frame.index), list(frame.columns)) == ("vote", ["a", "b", "c"], ["f", "m"])
    np.testing.assert_array_equal(frame.to_numpy(), result.table(["vote", "sex"]))
    assert list(result.to_frame("vote").columns) == ["count"]
    save_result(result, tmp_path / "tables.npz")
    loaded = load_result(tmp_path / "tables.npz")
    for columns, table in result.tables().items():
        np.testing.assert_array_equal(loaded.table(columns), table)


def test_labels_of_numpy_are_written_like_those_of_python_and_dates_as_dates():
    edges = np.array(nx.cycle_graph(12).edges)
    days = np.datetime64("2020-01-01") + edges
    kinds = (edges, "0"), (np.char.mod("n%d", edges), "n0"), (days, "2020-01-01"), (days.astype(object), "2020-01-01")
    for ends, first in kinds:
        G = nx.Graph(list(zip(*ends.T, strict=True)))
        found = dpgraph.private_communities(G, epsilon=1.0, rng=0)
        assert found.to_csv().splitlines()[1].startswith(f"{first},")
        assert "np." not in dpgraph.report(G, epsilon=1.0, rng=0)._repr_html_()
        assert str(found.to_polars()["node"][0]).startswith(first)
    colours = dpgraph.private_max_2csp(dpgraph.TwoCSP.from_networkx(nx.Graph(list(map(tuple, edges)))), **BUDGET)
    assert set(colours.to_dict()["assignment"]) == set(map(str, range(12)))


def test_degrees_without_weights_are_whole_in_tables_and_weighted_ones_are_not():
    G = nx.Graph([("a", "b", {"weight": 0.5}), ("b", "c", {"weight": 0.3})])
    counted = dpgraph.private_degrees(G, epsilon=1.0, rng=0)
    assert all(type(degree) is int for degree in [*counted.columns()["degree"], *counted.as_dict().values()])
    weighted = dpgraph.private_degrees(G, epsilon=1.0, weight="weight", max_weight=0.7, rng=0)
    assert weighted.columns()["degree"] == weighted.values.tolist()
    assert not all(value.is_integer() for value in weighted.values)


def test_a_covariance_names_its_max_norm_and_says_where_records_were_shortened():
    rows = np.random.default_rng(0).normal(size=(4000, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would lose what has been paid for
        short = dpgraph.private_covariance(rows, max_norm=0.5, epsilon=4.0, rng=0)
        long = dpgraph.private_covariance(rows, max_norm=6.0, epsilon=4.0, rng=0)
    assert (short.at_max_norm, long.at_max_norm) == (True, False)
    assert "max_norm=0.5 IS THE MEAN LENGTH" in repr(short)
    assert "max_norm=6)" in repr(long)


@EACH
def test_results_are_equal_only_to_themselves_hashable_and_frozen(name):
    result = a(name)
    copy = dataclasses.replace(result)
    assert result == result
    assert result != copy
    assert len({result, copy}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.anything = 1


@each("name", [name for name in CALLS if name.startswith("Private")], parts=2)
def test_results_survive_a_file(name, tmp_path):
    result = a(name)
    save_result(result, tmp_path / "result.npz")
    loaded = load_result(tmp_path / "result.npz")
    assert (repr(loaded), loaded._repr_html_()) == (repr(result), result._repr_html_())
    assert loaded.privacy == result.privacy
    for field, value in vars(result).items():
        if isinstance(value, np.ndarray):
            assert value.dtype == getattr(loaded, field).dtype, field
            np.testing.assert_array_equal(getattr(loaded, field), value)
        elif isinstance(value, str | int | tuple):
            assert getattr(loaded, field) == value, field


@EACH
def test_a_table_becomes_a_frame_with_a_line_for_each_item(name):
    result = a(name)
    assert isinstance(result, Result)
    if isinstance(result, TableResult):
        frame = result.to_frame()
        assert list(frame.columns) == list(result.columns())
        assert len(frame) == len(next(iter(result.columns().values()))) > 0


@pytest.fixture(scope="module")
def adjacency():
    G = nx.relabel_nodes(
        dpgraph.datasets.planted_cut(400, 120, -0.8, rng=0), lambda v: (v, f"Ω{v}", None) if v % 2 else f"'{v},\n"
    )
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
    texts = dpgraph.private_degrees(nx.path_graph([label, "b"]), epsilon=1.0)
    assert list(texts.to_frame().iloc[:, 0]) == [label, "b"]
    if label.isprintable() or "\0" in label:
        assert list(texts.to_polars().to_series(0)) == [label, "b"]
    else:
        with pytest.raises(DPGraphError, match="surrogate pair"):
            texts.to_polars()


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
