"""Whatever a file holds, reading it ends in a graph or in one of the package's own errors."""

import contextlib
import gzip

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpgraph.datasets import read_edgelist, read_sparse
from dpgraph.exceptions import DPGraphError
from dpgraph.graph import open_graph

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


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(max_examples=300, deadline=None)
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


@settings(max_examples=200, deadline=None)
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


@pytest.mark.parametrize("depth", [2, 50_000])
def test_a_deeply_nested_gml_file_does_not_crash_the_reader(tmp_path, depth):
    path = tmp_path / "deep.gml"
    path.write_text("graph [ " + "a [ " * depth + "]" * depth + " ]")
    with contextlib.suppress(DPGraphError):
        read_edgelist(path)
