"""Whatever a file holds, reading it ends in a graph or in one of the package's own errors."""

import contextlib
import gzip
import io
import itertools
import re
import tarfile
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpgraph
from dpgraph.datasets import load, read_edgelist, read_sparse
from dpgraph.exceptions import DatasetError, DPGraphError
from dpgraph.inputs.graphs import open_graph
from tests import memory
from tests.about import each

VALID = [
    b"# comment\n0 1\n1 2\n2 0\n",
    b"0,1\n1,2\n",
    b"source,target,weight\na,b,1.5\nb,c,2\n",
    b"3 2\n1 2 1\n2 3 -1\n",
    b'graph [\n  node [ id 0 label "a" ]\n  node [ id 1 label "b" ]\n  edge [ source 0 target 1 ]\n]\n',
    b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3.0\n",
]
WORDS = '# % " [ ] 0 -1 1e400 nan inf 999999999999999999999999 graph node edge id directed 1 1.5 True ü , \t \n \r'
TOKENS = st.sampled_from([*(word.encode() for word in WORDS.split(" ")), b" ", b"\0", b"\xff", b"\xef\xbb\xbf"])


@st.composite
def damaged_files(draw):
    """A valid file with pieces cut, inserted and repeated, or arbitrary tokens; sometimes (truncated) gzip."""
    content = draw(
        st.one_of(st.sampled_from(VALID), st.lists(TOKENS, max_size=30).map(b"".join), st.binary(max_size=60))
    )
    for _ in range(draw(st.integers(0, 4))):
        where = draw(st.integers(0, len(content)))
        until = draw(st.integers(where, min(len(content), where + 10)))
        content = content[:where] + draw(TOKENS) * draw(st.integers(0, 3)) + content[until:]
    if draw(st.booleans()):
        packed = gzip.compress(content)
        content = packed[: draw(st.integers(1, len(packed)))]
    return content


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged_files(), st.sampled_from([{}, {"labels": str}, {"weight": "weight"}, {"symmetrize": True}]))
def test_a_damaged_file_is_a_graph_or_an_error_of_the_package(tmp_path_factory, content, options):
    path = tmp_path_factory.mktemp("fuzz") / "graph.txt"
    path.write_bytes(content)
    for read in (read_edgelist, read_sparse):
        with contextlib.suppress(DPGraphError):
            read(path, **options)


LABELS = st.one_of(
    st.integers(), st.text(max_size=3), st.tuples(st.integers()), st.floats(allow_nan=False), st.booleans()
)
WEIGHTS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.integers(), st.none(), st.text(max_size=2), st.just(10**400)
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(LABELS, LABELS, WEIGHTS), max_size=8),
    st.sampled_from([nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph]),
    st.booleans(),
    st.one_of(st.none(), st.floats(), st.sampled_from([1e-320, 0.5, 1.0, 1e99, "1"])),
)
def test_any_networkx_graph_is_read_or_refused(edges, kind, symmetrize, max_weight):
    G = kind()
    G.add_nodes_from([0, "a"])
    G.add_weighted_edges_from(edges)
    try:
        graph = open_graph(G, weight="weight", max_weight=max_weight, symmetrize=symmetrize).read()
    except DPGraphError:
        return
    assert graph.nodes == tuple(G)
    assert graph.adjacency.nnz == 0 or 0 < graph.adjacency.data.min() <= graph.adjacency.data.max() <= max_weight
    assert abs(graph.adjacency - graph.adjacency.T).max() == 0


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 4),
    st.integers(0, 4),
    st.sampled_from([np.float64, np.float32, np.float16, np.int8, np.uint64, bool, complex, object, "U2", "M8[s]"]),
    st.randoms(use_true_random=False),
)
def test_any_array_is_read_or_refused(rows, columns, dtype, random):
    values = [[random.choice([0, 1, 2]) for _ in range(columns)] for _ in range(rows)]
    A = np.array(values).reshape(rows, columns).astype(dtype)
    with contextlib.suppress(DPGraphError):
        graph = open_graph(A).read()
        assert graph.adjacency.shape == (rows, rows)


def refusal(path, **options):
    with pytest.raises(DatasetError) as caught:
        read_edgelist(path, **options)
    return str(caught.value)


def test_a_decompression_bomb_is_refused_in_bounded_memory(tmp_path):
    bomb = tmp_path / "bomb.txt.gz"
    with gzip.open(bomb, "wb") as stream:
        for _ in range(300):
            stream.write(b"1 2\n" * 2**18)  # 300 MiB in 300 KiB
    with memory.less_than(3 * 64 * 2**20):
        assert "DPGRAPH_MAX_BYTES" in refusal(bomb)


@each("packed", [False, True], parts=2)
def test_a_file_beyond_the_stated_limit_is_refused_and_a_higher_limit_accepts_it(tmp_path, monkeypatch, packed):
    path = tmp_path / "graph.txt"
    content = b"".join(b"%d %d\n" % (i, i + 1) for i in range(2000))
    path.write_bytes(gzip.compress(content) if packed else content)
    monkeypatch.setenv("DPGRAPH_MAX_BYTES", "10000")
    assert "more than 10000 bytes" in refusal(path)
    monkeypatch.setenv("DPGRAPH_MAX_BYTES", "1000000")
    assert read_edgelist(path).number_of_edges() == 2000
    monkeypatch.setenv("DPGRAPH_MAX_BYTES", "much")
    assert "must be a number" in refusal(path)


@each("cut", [1, 2, 10, 50, -9, -1], parts=2)
def test_a_truncated_gzip_file_is_an_error_and_never_a_smaller_graph(tmp_path, cut):
    path = tmp_path / "graph.txt.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d %d\n" % (i, i + 1) for i in range(500)))[:cut])
    assert "truncated" in refusal(path) or "text" in refusal(path) or "vertex" in refusal(path)


@each(
    "options, digits",
    list(
        itertools.product(
            [{}, {"format": "gset"}, {"nodes": 10}, {"weight": "weight"}], [18, 19, 25, 1000, 1001, 4301, 60_000]
        )
    ),
    parts=2,
)
def test_gigantic_integers_are_labels_or_a_clear_error(tmp_path, digits, options):
    path = tmp_path / "graph.txt"
    path.write_text(f"1 {'9' * digits} 1\n")
    is_label = digits <= 1000 and options in ({}, {"weight": "weight"})
    if is_label:
        assert read_edgelist(path, **options).number_of_edges() == 1
    else:
        assert "9" * 18 not in refusal(path, **options), "the message quotes the file"


@each("separator, labels", list(itertools.product([" ", ",", "\t"], [int, str])), parts=2)
def test_a_line_without_end_is_refused_by_its_number(tmp_path, labels, separator):
    path = tmp_path / "graph.txt"
    path.write_text(f"a{separator}b\n".replace("a", "1").replace("b", "2") + f"1{separator}" * 100_000)
    assert "line 2: expected at most 65536 bytes" in refusal(path, labels=labels)
    path.write_text("x" * 70_000)
    assert "line 1: expected at most 65536 bytes" in refusal(path, labels=labels)


def test_no_module_of_the_package_unpickles_or_evaluates():
    forbidden = r"(?<![\w.])(?:eval|exec|compile|__import__|pickle\.loads?|os\.system|yaml\.load)\(|allow_pickle=True"
    modules = list(Path(dpgraph.__file__).parent.rglob("*.py"))
    assert {module.name: found for module in modules if (found := re.findall(forbidden, module.read_text()))} == {}


NAMES = [
    "../secret", "..", "/etc/passwd", "a/b", "a\\b", "", ".hidden", "C:name", "x\0y", "a\n", "~root", "%2e%2e", "-x",
]  # fmt: skip


@each("name", NAMES, parts=2)
def test_the_name_of_a_dataset_is_never_a_path(tmp_path, monkeypatch, name):
    (tmp_path / "secret").write_text("1 2\n")
    folder = tmp_path / "graphs"
    folder.mkdir()
    (folder / "MANIFEST.tsv").write_text("name\tfile\nescape\t../secret\nroot\t/etc/hostname\n")
    monkeypatch.setenv("DPGRAPH_CACHE", str(tmp_path / "cache"))
    for wanted in (name, "escape", "root"):
        with pytest.raises(DatasetError):
            load(wanted, data_dir=folder, download=False)
    assert not (tmp_path / "cache").exists()


def test_archives_are_not_unpacked(tmp_path):
    path = tmp_path / "graph.txt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../outside.txt", "1 2\n")
    assert "text file" in refusal(path) or "UTF-8" in refusal(path)
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("../outside.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"1 2\n"))
    assert "text file" in refusal(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.txt"]


@each("depth", [2, 50_000], parts=2)
def test_a_deeply_nested_gml_file_does_not_crash_the_reader(tmp_path, depth):
    path = tmp_path / "deep.gml"
    path.write_text("graph [ " + "a [ " * depth + "]" * depth + " ]")
    with contextlib.suppress(DPGraphError):
        read_edgelist(path)
