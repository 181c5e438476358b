"""Text that is no edge list is refused by every reader, before anything is spent, and no edge becomes a vertex."""

import gzip
import io
import json
from functools import partial

import networkx as nx
import pytest
from scipy import io as scipy_io

import dpgraph
from dpgraph import datasets
from dpgraph.exceptions import DPGraphError
from dpgraph.interfaces.cli import main
from tests.about import each

NAMES = nx.relabel_nodes(nx.cycle_graph(6), dict(enumerate(["ann", "bob", "cem", "dan", "eva", "fay"])))
CYCLE = nx.cycle_graph(6)


def written(write, G=NAMES):
    stream = io.BytesIO()
    write(G, stream)
    return stream.getvalue()


def metis(G, header="{n} {m}", weights=""):
    """METIS: a line for each vertex; `weights` stands before the neighbours of each."""
    lines = [header.format(n=len(G), m=G.number_of_edges())]
    lines += [" ".join([*weights.split(), *(str(v + 1) for v in sorted(G[u]))]) for u in sorted(G)]
    return "\n".join(lines).encode() + b"\n"


def market():
    stream = io.BytesIO()
    scipy_io.mmwrite(stream, nx.to_scipy_sparse_array(CYCLE), symmetry="general")
    return stream.getvalue()


#: Text of other formats, and a word of the advice on each.
TEXTS = {
    "pairs": (json.dumps([list(edge) for edge in NAMES.edges]).encode(), "json.load"),
    "pairs of numbers": (json.dumps([list(edge) for edge in CYCLE.edges]).encode(), "json.load"),
    "pairs, one a line": (b'[\n["ann", "bob"],\n["bob", "cem"]\n]\n', "json.load"),
    "JSON lines": (b'{"u": "ann", "v": "bob"}\n{"u": "bob", "v": "cem"}\n', "json.load"),
    "DOT": (b"graph{ann--bob bob--cem}", "read_dot"),
    "directed DOT": (b"strict digraph G { ann->bob; bob->cem }", "read_dot"),
    "LEDA": (b"LEDA.GRAPH\nstring\nint\n-1\n2\n|{ann}|\n|{bob}|\n1\n1 2 0 |{4}|\n", "networkx.read_leda"),
    "DIMACS": (b"c a comment\np edge 3 2\ne 1 2\ne 2 3\n", "two ends a line"),
    "shortest paths": (b"p sp 3 2\na 1 2 17\na 2 3 4\n", "two ends a line"),
    "UCINET": (b"dl n=3 format=edgelist1\ndata:\n1 2\n2 3\n", "networkx.Graph"),
    "GDF": (b"nodedef>name VARCHAR\nann\nbob\nedgedef>a,b\nann,bob\n", "networkx.Graph"),
    "graph6": (nx.to_graph6_bytes(CYCLE), "networkx.read_graph6"),
    "YAML": (b"- [ann, bob]\n- [bob, cem]\n", "networkx.Graph"),
    "a set of tuples": (b'{("ann", "bob"), ("bob", "cem")}\n', "json.load"),
}
#: Text that a library reads, and how many vertices and edges there are.
READ = {
    "node-link": (json.dumps(nx.node_link_data(NAMES, edges="links")).encode(), 6, 6),
    "node-link with edges": (json.dumps(nx.node_link_data(NAMES, edges="edges")).encode(), 6, 6),
    "GraphML": ("".join(nx.generate_graphml(NAMES, prettyprint=False)).encode(), 6, 6),
    "GEXF": (written(nx.write_gexf), 6, 6),
    "Pajek": (written(nx.write_pajek), 6, 6),
    "Pajek, small letters": (b"*vertices 2\n1 ann\n2 bob\n*edges\n1 2\n", 2, 1),
    "Matrix Market": (market(), 6, 6),
    "METIS": (metis(CYCLE), 6, 6),
    "METIS of a triangle": (metis(nx.cycle_graph(3)), 3, 3),
    "METIS with lonely vertices": (b"5 3\n2 3\n1 3\n1 2\n\n\n", 5, 3),
}
#: Text of which all lines together say what it is.
ROWS = {
    "METIS with weights of vertices": (metis(CYCLE, "{n} {m} 10", "7"), "METIS"),
    "METIS with two weights of vertices": (metis(CYCLE, "{n} {m} 010 2", "7 8"), "METIS"),
    "METIS with sizes of vertices": (metis(CYCLE, "{n} {m} 100", "7"), "METIS"),
    "METIS of pairs": (b"4 2 11\n5 2 9\n5 1 9\n5 4 9\n5 3 9\n", "METIS"),
    "a matrix": (
        b"\n".join(b" ".join(b"%d" % x for x in row) for row in nx.to_numpy_array(CYCLE).astype(int)),
        "loadtxt",
    ),
    "a matrix with names": (nx.to_pandas_adjacency(NAMES).to_csv(sep=";").encode(), "pandas"),
    "a matrix with commas": (b"0,1,2.5\n1,0,0\n2.5,0,0\n", "loadtxt"),
}
#: What may stand above the text, and how it may be packed.
WRAPPINGS = {
    "plain": bytes,
    "mark": lambda text: b"\xef\xbb\xbf" + text,
    "comments": lambda text: b"# exported\n\n  % by hand\n" + text,
    "packed": gzip.compress,
    "line ends": lambda text: text.replace(b"\n", b"\r\n"),
}
SECRETS = ("ann", "bob", "cem", "fay")


def refused(read, word):
    with pytest.raises(DPGraphError) as caught:
        read()
    message = str(caught.value)
    assert word in message
    assert not any(name in message for name in SECRETS)
    return message


@each(
    "text, word, wrap",
    [(text, word, wrap) for text, word in [*TEXTS.values(), *ROWS.values()] for wrap in WRAPPINGS.values()],
    parts=2,
)
def test_no_reader_takes_it_for_an_edge_list(tmp_path, text, word, wrap):
    path = tmp_path / "graph.txt"
    path.write_bytes(wrap(text))
    for read in (datasets.read_edgelist, datasets.read_sparse):
        assert "graph.txt" in refused(lambda read=read: read(path), word)
    if text in [text for text, _ in TEXTS.values()]:
        for options in ({"format": "edgelist"}, {"labels": str}, {"format": "gset"}, {"header": False}):
            refused(lambda options=options: datasets.read_sparse(path, **options), word)


def test_formats_of_libraries_are_read_below_comments_and_packed(tmp_path):
    path = tmp_path / "graph.txt"
    for name, (text, n, m) in READ.items():
        for packing, wrap in WRAPPINGS.items():
            if (name, packing) == ("Matrix Market", "comments"):  # its own first line stands above all comments
                continue
            path.write_bytes(wrap(text))
            A, nodes = datasets.read_sparse(path)
            assert (len(nodes), A.nnz, set(A.data)) == (n, 2 * m, {1.0}), (name, packing)
            G = datasets.read_edgelist(path)
            assert (G.number_of_nodes(), G.number_of_edges()) == (n, m)
            assert ("ann" in G) == (not name.startswith("M"))
            refused(lambda: datasets.read_sparse(path, nodes=9), "lists its own vertices")
        if name in ("GraphML", "GEXF", "node-link"):
            path.write_bytes(text[: len(text) - 9])
            refused(lambda: datasets.read_sparse(path), "its reader stopped")


def test_the_order_of_vertices_does_not_depend_on_edges(tmp_path):
    """Of a star and of the graph of all other pairs. METIS was read by lists of neighbours, in the order of these."""
    star, path = nx.Graph([(0, 5), (0, 3), (0, 4)]), tmp_path / "graph.txt"
    star.add_nodes_from(range(6))
    for write in (metis, *(partial(written, one) for one in (nx.write_pajek, nx.write_gexf, nx.write_gml))):
        found = set()
        for G in (star, nx.complement(star)):
            path.write_bytes(write(G=dpgraph.with_public_nodes(G)))
            found.add(tuple(map(int, datasets.read_sparse(path)[1])))
        assert len(found) == 1, write


def test_directed_files_and_weights_of_formats(tmp_path):
    arcs = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    (tmp_path / "g.net").write_bytes(written(nx.write_pajek, arcs))
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5.0\n2 3 7.0\n")
    for name in ("g.net", "g.mtx"):
        with pytest.raises(DPGraphError, match="symmetrize=True"):
            datasets.read_sparse(tmp_path / name)
        A, _ = datasets.read_sparse(tmp_path / name, symmetrize=True)
        assert A.nnz == 4
    A, _ = datasets.read_sparse(tmp_path / "g.mtx", symmetrize=True, weight="weight")
    assert sorted(A.data) == [5.0, 5.0, 7.0, 7.0]
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix array real general\n300000 300000\n1\n")
    with pytest.raises(DPGraphError, match="announces more"):
        datasets.read_sparse(tmp_path / "g.mtx")
    (tmp_path / "g.graphml").write_text('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><graphml>&a;</graphml>')
    with pytest.raises(DPGraphError, match="entities"):
        datasets.read_sparse(tmp_path / "g.graphml")


def test_the_heavier_arc_is_that_of_the_weight_that_is_asked_for(tmp_path):
    arcs = nx.DiGraph()
    arcs.add_weighted_edges_from([("ann", "bob", 1.0), ("bob", "ann", 5.0), ("bob", "cem", 2.0)], weight="mails")
    nx.write_graphml(arcs, file := tmp_path / "g.graphml")
    A, _ = datasets.read_sparse(file, symmetrize=True, weight="mails")
    assert sorted(A.data) == [2.0, 2.0, 5.0, 5.0]
    arcs["ann"]["bob"]["mails"] = "many"
    (tmp_path / "g.json").write_text(json.dumps(nx.node_link_data(arcs, edges="links")))
    with pytest.raises(DPGraphError, match="a number in attribute 'mails'"):
        datasets.read_sparse(tmp_path / "g.json", symmetrize=True, weight="mails")


def test_an_edge_makes_no_vertex_that_a_file_does_not_list(tmp_path):
    texts = {
        "g.graphml": "<graphml><graph edgedefault='undirected'><node id='ann'/>"
        "<edge source='ann' target='bob'/></graph></graphml>",
        "g.gexf": "<gexf version='1.2' xmlns='http://www.gexf.net/1.2draft'><graph><nodes><node id='ann' label='ann'/>"
        "</nodes><edges><edge id='0' source='ann' target='bob'/></edges></graph></gexf>",
        "g.json": '{"nodes": [{"id": "ann"}], "links": [{"source": "ann", "target": "bob"}]}',
        "g.net": "*Vertices 1\n1 ann\n*Edges\n1 2\n",
        "h.net": "*Vertices 2\n1 ann\n2 ann\n*Edges\n1 2\n",
        "g.gml": 'graph [ node [ id 0 label "ann" ] edge [ source 0 target 1 ] ]',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(DPGraphError, match=r"that the file lists|expected valid GML"):
            datasets.read_edgelist(tmp_path / name)


@each(
    "name, word",
    [
        ("g.json", "json.load"),
        ("g.graphml.gz", "read_graphml"),
        ("g.net", "read_pajek"),
        ("g.mtx", "mmread"),
        ("g.graph", "METIS"),
        ("g.METIS", "METIS"),
        ("g.adjlist", "read_adjlist"),
        ("g.tgf", "two ends"),
    ],
    parts=2,
)
def test_a_name_of_another_format_is_taken_at_its_word_unless_the_caller_says_better(tmp_path, capsys, name, word):
    path = tmp_path / name
    path.write_text("1 2\n2 3\n")
    assert 'format="edgelist"' in refused(lambda: datasets.read_edgelist(path), word)
    assert datasets.read_edgelist(path, format="edgelist").number_of_edges() == 2
    if ".json" not in name:  # of which csp reads instances
        assert main(["degrees", str(path), "--epsilon", "1"]) == 2
        assert "--format edgelist" in capsys.readouterr().err


@each(
    "text",
    [
        "3 3\n2 3\n1 3\n1 4\n",  # one edge stands once
        "4 3\n2 3\n1 3\n1 2\n",  # a row is missing
        "3 4\n2 3\n1 3\n1 2\n",
        "3 3\n2 3\n1 3\n1 2\n4 5\n",
        "5 4 1\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n",
        "0 1 1\n1 2 1\n2 0 1\n",
        "0 1 0\n1 0 1\n0 2 0\n",
        "graph ann\nann bob\n",
        "dl bob\nbob ann\n",
        "p ann\nann bob\n",
        "  ann   bob  \n\n bob\tcem\n",
    ],
    parts=2,
)
def test_edge_lists_are_edge_lists(tmp_path, text):
    path = tmp_path / "graph.txt"
    path.write_text(text)
    assert len(datasets.read_sparse(path)[1]) > 1


def test_gml_is_read_below_comments_and_its_first_lines(tmp_path):
    path = tmp_path / "graph.txt"
    gml = "\n".join(nx.generate_gml(NAMES))
    for above in ("", "# exported\n", 'Creator "me"\nVersion 1\n', "\n\n"):
        path.write_text(above + gml)
        assert len(datasets.read_sparse(path)[1]) == 6
        refused(lambda: datasets.read_sparse(path, format="edgelist"), "GML")


@each("text", [TEXTS["pairs"][0], READ["GraphML"][0], READ["Matrix Market"][0]], parts=2)
def test_tables_of_records_are_not_made_of_it_either(tmp_path, capsys, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    for command in ("covariance", "marginals"):
        assert main([command, str(path), "--epsilon", "1"]) == 2
        out, err = capsys.readouterr()
        assert "of a kind that is not read here" in err
        assert not any(secret in out + err for secret in SECRETS)


@each("header, fits", [("41200.5,7", False), ("0,1", True), ("1,2", True), ("2019,2020", True), ("a,7", True)], parts=2)
def test_a_record_is_not_published_as_names_of_columns(tmp_path, capsys, header, fits):
    path = tmp_path / "table.csv"
    path.write_text(header + "\n1,2\n3,4\n")
    assert main(["covariance", str(path), "--epsilon", "1", "--seed", "0"]) == (0 if fits else 2)
    out, err = capsys.readouterr()
    assert "41200" not in out + err


def test_tables_on_dask_are_not_made_of_it(tmp_path):
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("distributed")
    (tmp_path / "part.csv").write_bytes(TEXTS["pairs"][0])
    for path in (tmp_path, tmp_path / "part.csv"):
        refused(lambda path=path: dpgraph.edge_frame(path, nodes=3), "json.load")
