"""Readers, registry and planted graphs."""

import collections
import csv
import functools
import gzip
import hashlib
import http.server
import itertools
import re
import runpy
import threading
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpgraph
from dpgraph import datasets
from dpgraph.datasets.files import read_bytes
from dpgraph.datasets.registry import _find_local
from dpgraph.exceptions import DatasetError, InvalidParameterError
from tests.about import each


def edges(G):
    return {frozenset(edge) for edge in G.edges}


TRIANGLE = {frozenset(e) for e in [(1, 2), (2, 3), (1, 3)]}


@each(
    "content",
    [
        "1 2\n2 3\n3 1\n",
        "1\t2\n2\t3\n3\t1",
        "# Directed graph\n# FromNodeId\tToNodeId\n1\t2\r\n2\t3\r\n3\t1\r\n",
        "% a comment\n\n  1   2 \n\n2 3\n# in between\n3 1\n\n",
        "1,2\n2,3\n3,1\n",
        "source,target\n1,2\n2,3\n3,1\n",
        '"source","target"\n"1","2"\n"2","3"\n"3","1"\n',
        "1 2\r2 3\r3 1\r",
        "\ufeff1 2\n2 3\n3 1\n",
        "1 2\n2 1\n2 3\n3 1\n3 1\n1 1\n",
        "1 2 1082040961\n2 3 1082155839\n3 1 1082414391\n",
        "1 2 0.5 x\n2 3 1e-3 y\n3 1 -7 z\n",
        '1,2,"a\n9,8,7"\n2,3,"\n\n# b ""c"""\n3,1,d\n',
    ],
    parts=2,
)
def test_every_usual_way_to_write_a_triangle_reads_as_the_triangle(write, content):
    G = datasets.read_edgelist(write(content))
    assert type(G) is nx.Graph
    assert edges(G) == TRIANGLE
    compressed = write(gzip.compress(content.encode()), "graph.csv.gz")
    assert edges(datasets.read_edgelist(compressed)) == TRIANGLE


def numbers():
    plain = st.integers(0, 10**6).map(str) | st.integers(0, 9).map(str)
    odd = [
        "007", "+3", "-4", "1_0", "4.5", "2.", ".5", ".", "-.25", "+0", "-0", "1e3", "nan", "inf", "", "x", "é",
        '"7"',
    ]  # fmt: skip
    odd += ["9" * 15, "9" * 16, "9" * 18, "9" * 19, "1" * 1001, "0.1234567890123", "0.30000000000000004", "0000000.125"]
    return plain | st.decimals(-9, 9, places=3).map(str) | st.sampled_from(odd)


@st.composite
def tables(draw):
    """Texts that are mostly tables of numbers: separators, columns, comments and, now and then, anything else."""
    separator = draw(st.sampled_from([" ", "\t", " \t", ",", " , "]))
    width = draw(st.sampled_from([1, 2, 2, 2, 3, 3, 4]))
    row = st.tuples(*[st.integers(0, 20).map(str)] * min(width, 2), *[st.integers(-2, 9).map(str)] * (width - 2))
    row = row.map(separator.join)
    other = st.sampled_from(["", " \t", "# note", " % é", "\x0b", "\x1f1 2", "1 2\xa0", "1,2,a day", "#", "a,b,w"])
    other |= st.lists(numbers(), min_size=1, max_size=4).map(separator.join) | st.text('12 ,\t#%"\x0c\x7f', max_size=6)
    lines = draw(st.lists(row, max_size=8))
    for line in draw(st.lists(other, max_size=2)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    blanks = draw(st.sampled_from(["", "", " "]))
    return draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(blanks + line + blanks for line in lines)


def read_with(path, large, **arguments):
    """All that a reader says about a file, by polars or, where it is `large` for that, line by line."""
    with patch("dpgraph.datasets.rows._polars_pays", lambda _: not large):
        try:
            A, nodes = datasets.read_sparse(path, **arguments)
        except DatasetError as error:
            return str(error)
    return nodes, [(x.dtype, x.tolist()) for x in (A.indptr, A.indices, A.data.view(np.int64))]


@settings(max_examples=100, deadline=None)
@given(
    text=tables(),
    weight=st.sampled_from([None, None, "w"]),
    format=st.sampled_from(["auto", "auto", "edgelist", "gset"]),
)
@example(text="9" * 19 + " 1\n", weight=None, format="auto")
@example(text="1 2 0.30000000000000004\n1 2 9007199254740993\n", weight="w", format="auto")
@example(text="1 2 .\n", weight="w", format="auto")
@example(text="1 2\n3 4 5\n", weight=None, format="auto")
@example(text='1,2\n3,4\n"5,6",7\n', weight=None, format="auto")
@example(text="1 2\n\n# 3\n % \xe9\n3 4 ", weight=None, format="auto")
def test_polars_reads_what_the_careful_reader_does_and_leave_all_else_to_it(tmp_path_factory, text, weight, format):
    path = tmp_path_factory.getbasetemp() / "table.txt"
    path.write_bytes(text.encode())
    careful = read_with(path, 10**9, weight=weight, format=format)
    assert read_with(path, 0, weight=weight, format=format) == careful


@each("separator", [" ", "\t", ","], parts=2)
def test_large_files_are_read_by_polars_and_bad_lines_in_them_are_named(write, separator):
    ends = np.random.default_rng(0).integers(0, 70_000, (20_000, 2))
    lines = ["# comment", *(f"{u}{separator}{v}{separator}{(u + v) / 8}" for u, v in ends)]
    path = write("\n".join(lines))
    for weight in (None, "w"):
        careful = read_with(path, 10**9, weight=weight)
        with patch("dpgraph.datasets.rows._line_by_line", side_effect=AssertionError("line by line")):
            A, nodes = datasets.read_sparse(path, weight=weight)
        data = np.array(careful[1][2][1]).view(float)
        assert (nodes, A.indices.tolist(), A.data.tolist()) == (careful[0], careful[1][1][1], data.tolist())
    lines[14_321] += "1,"
    with pytest.raises(DatasetError, match="line 14322: "):
        datasets.read_sparse(write("\n".join(lines)), weight="w")


NAMES = ["ann", "bob", "x.y", "-3", "7", "NA", "nan", "None", "true", "1_0", "0.5", "inf", "'q'"]
ODD_NAMES = [*NAMES, "", " ", "a#b", '"z"', "é", "p q", " a", "a\tb", "\x1f", "%"]


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(st.sampled_from(NAMES), min_size=3, max_size=3), max_size=5),
    odd=st.lists(st.tuples(st.integers(0, 4), st.lists(st.sampled_from(ODD_NAMES), max_size=4)), max_size=1),
    separator=st.sampled_from([" ", "\t", ","]),
    weight=st.sampled_from([None, "w"]),
)
@example(rows=[["ann", "bob", "true"]], odd=[], separator=",", weight="w")
@example(rows=[["ann", "bob", "1"]], odd=[(1, ["bob", "eve"])], separator="\t", weight="w")
def test_polars_reads_the_names_that_the_careful_reader_does_and_leaves_all_else_to_it(
    tmp_path_factory, rows, odd, separator, weight
):
    for place, row in odd:
        rows.insert(place, row)
    path = tmp_path_factory.getbasetemp() / "names.txt"
    path.write_text("\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")
    careful = read_with(path, 10**9, labels=str, header=False, weight=weight)
    assert read_with(path, 0, labels=str, header=False, weight=weight) == careful


def test_labels_of_a_file_are_sorted_so_that_their_order_tells_nothing_about_edges(write):
    assert list(datasets.read_edgelist(write("9 10\n3 9\n100 3\n"))) == [3, 9, 10, 100]
    assert list(datasets.read_edgelist(write("z a\nm z\n"), labels=str)) == ["a", "m", "z"]


def test_the_public_vertex_set_can_be_a_range_or_a_list_and_then_isolated_vertices_exist(write):
    path = write("0 2\n2 4\n")
    assert list(datasets.read_edgelist(path, nodes=6)) == [0, 1, 2, 3, 4, 5]
    G = datasets.read_edgelist(path, nodes=[4, 99, 0, 2])
    assert list(G) == [4, 99, 0, 2]
    assert edges(G) == {frozenset({0, 2}), frozenset({2, 4})}
    assert datasets.read_edgelist(write("# no edges\n"), nodes=3).number_of_nodes() == 3


def test_a_vertex_outside_the_public_set_is_an_error_that_does_not_name_it(write):
    with pytest.raises(DatasetError, match="outside nodes=") as caught:
        datasets.read_edgelist(write("0 1\n1 77777\n"), nodes=5)
    assert "77777" not in str(caught.value)


def test_names_with_spaces_and_commas_survive_as_string_labels(write):
    G = datasets.read_edgelist(write("New York\tSan José\nSan José\tOslo\n"), labels=str)
    assert set(G) == {"New York", "San José", "Oslo"}
    G = datasets.read_edgelist(write('"Doe, Jane",Bob\n'), header=False)
    assert edges(G) == {frozenset({"Doe, Jane", "Bob"})}


HEADERS = [
    ("ann,bob\nbob,cem\n", {}, {"ann", "bob", "cem"}),  # the first line was taken for names of columns
    ("ann,bob\nbob,cem\n", {"labels": str}, {"ann", "bob", "cem"}),
    ("ann,bob\n", {"header": False}, {"ann", "bob"}),
    ("From Address;toAddress\nann;bob\n", {}, {"ann", "bob"}),
    ("Employee,Manager\nann,bob\n", {"nodes": ["ann", "bob"], "unknown": "drop"}, {"ann", "bob"}),
    ("ann,bob\ncem,dan\n", {"nodes": ["ann", "bob", "cem", "dan"]}, {"ann", "bob", "cem", "dan"}),
    ("ann bob\nbob cem\n", {}, {"ann", "bob", "cem"}),
    ("user1,user2\nuser2,user3\n", {}, {"user1", "user2", "user3"}),
    ("ann,bob,\nNan,bob,1\n", {}, {"ann", "bob", "Nan"}),
    ("source,target\nann,bob\n", {}, {"ann", "bob"}),
    ("Source Target\n1 2\n", {}, {1, 2}),
    ("source\ttarget\nDoe, Jane\tBob\n", {}, {"Doe, Jane", "Bob"}),
    ('"Doe, Jane";"Roe, ""Max"""\n', {"header": False}, {"Doe, Jane", 'Roe, "Max"'}),
    ("x,y\n1,2\n", {}, {1, 2}),
    ("Kunde,Produkt,Betrag\nann,tea,3\n", {}, {"ann", "tea"}),
    ("a,b,strength\nann,tea,3\n", {"weight": "strength"}, {"ann", "tea"}),
    ("Kunde,Produkt\nann,tea\n", {"header": True}, {"ann", "tea"}),
    ("source,target\ntarget,end\n", {"header": False}, {"source", "target", "end"}),
    ("x,y\n1,2\n", {"labels": str, "header": True}, {"1", "2"}),
    ("1,2\n2,3\n", {"labels": str}, {"1", "2", "3"}),
    ("1 2\n2 3\n", {"header": True}, {2, 3}),
]


@each("content, arguments, vertices", HEADERS, parts=2)
def test_a_first_line_is_a_header_only_where_it_cannot_be_an_edge(write, content, arguments, vertices):
    path = write(content, "edges.csv")
    assert set(datasets.read_edgelist(path, **arguments)) == vertices
    assert set(datasets.read_sparse(path, **arguments)[1]) == vertices


def test_a_first_line_that_may_be_either_is_asked_about_and_not_lost(write):
    with pytest.raises(DatasetError, match="header=True or header=False"):
        datasets.read_edgelist(write("ann,bob\n1,2\n"), labels=str)
    for first, options in (
        ("employee,manager", {}),
        ("employee,manager", {"nodes": ["ann", "bob"]}),
        ("ann,bob", {}),
        ("user1,user2", {}),
        ("mail,user", {"nodes": ["mail", "user", "cem", "dan", "eva"]}),
    ):
        with pytest.raises(DatasetError, match=r"line 1: the first line may hold names .* header=True or header=False"):
            datasets.read_edgelist(write(f"{first}\ncem,dan\ncem,eva\n"), **options)
    for text in ("Doe, Jane\tBob\n", "Doe, Jane;Bob\n"):
        with pytest.raises(DatasetError, match="the first line may end at commas, or at semicolons or tabs"):
            datasets.read_edgelist(write(text), header=False)
    with pytest.raises(DatasetError, match="line 3: expected two integer"):  # so that the first line was no header
        datasets.read_edgelist(write("ann,bob\n1,2\ncem,3\n"))
    with pytest.raises(InvalidParameterError, match="header must be"):
        datasets.read_edgelist(write("1 2\n"), header="first")


def test_weights_are_read_only_when_asked_for_and_merge_as_documented(write):
    path = write("1 2 0.5\n1 2 0.25\n2 1 2\n2 3 4\n")
    assert nx.get_edge_attributes(datasets.read_edgelist(path), "weight") == {}
    G = datasets.read_edgelist(path, weight="strength")
    # Same direction: 0.5 + 0.25; other direction: 2; the heavier counts.
    assert nx.get_edge_attributes(G, "strength") == {(1, 2): 2.0, (2, 3): 4.0}
    named = write("u,v,time,rating\n1,2,99,3\n2,3,98,-1\n", "ratings.csv")
    G = datasets.read_edgelist(named, weight="rating")
    assert nx.get_edge_attributes(G, "rating") == {(1, 2): 3.0, (2, 3): -1.0}
    for lines in (1, 2**16):  # the careful reader, and that of large files
        odd = write("u,v,rating,rating\n" + "1,2,1,1\n" * lines)
        for column in ("rating", "u"):
            with pytest.raises(DatasetError, match=f"one column '{column}'"):
                datasets.read_sparse(odd, weight=column, header=True)


@each(
    "content, name, message",
    [
        (b"", "empty.txt", "names no vertex"),
        (b"# only comments\n", "comments.txt", "names no vertex"),
        (b"source,target", "header.csv", "names no vertex"),
        (b"1 2\n3\n", "short.txt", "line 2: expected 2 columns"),
        (b"1 2\n2 3\n3 4 5\n", "wide.txt", "line 3: expected 2 columns"),
        (b"1\n2\n3\n", "one-column.txt", "line 1: expected two vertex labels"),
        (b"a|b\nc|d\n", "pipes.csv", "line 1: expected two vertex labels, in columns 1 and 2 with a comma"),
        (b"id,source,target\n1,2\n3,4\n", "narrow.csv", "in columns 2 and 3 with a comma, a semicolon, a tab or bl"),
        (b"hello 7\n", "prose.txt", "line 1: expected two integer vertex labels"),
        (b"# c\n1 2\n\n3 4x\n", "typo.txt", "line 4: expected two integer"),
        (b"1 2\n3 4.5\n", "float.txt", "line 2"),
        (b"1_0 2\n", "underscore.txt", "line 1"),
        (b"1,2\n3,,4\n", "hole.csv", "line 2"),
        (b"a,b\n1,2\n3\n", "short.csv", "line 3: expected 2 columns"),
        (b"tag,other\n# a, b\n#sun,#sea\nsun,#sea\n", "tags.csv", "line 3: expected an edge, or a comment"),
        (b"a\tb\n%b\ta\n", "tags.tsv", "line 2: expected an edge, or a comment"),
        (b"%%MatrixMarket matrix coordinate\n3 3 1\n1 2 1\n", "matrix.mtx", "expected a valid Matrix Market file"),
        (b"graph [", "bad.gml", "expected valid GML"),
        (b"][", "bad.gml", "expected valid GML"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "picture.txt", "not a text file"),
        (b"1 2\n\xff\xfe 3\n", "latin.txt", "line 2: expected UTF-8"),
        (gzip.compress(b"1 2\n" * 1000, mtime=0)[:-20], "cut.txt.gz", "truncated or damaged gzip"),
        (b"\x1f\x8b\x08junkjunkjunk", "junk.gz", "truncated or damaged gzip"),
        (gzip.compress(b"1 2\n" * 5000, mtime=0)[:30] + b"\x55" * 40, "flip.gz", "truncated or damaged gzip"),
    ],
    parts=2,
)
def test_a_bad_file_is_a_dataset_error_that_names_the_file_and_the_line(write, content, name, message):
    path = write(content, name)
    for read in (datasets.read_edgelist, datasets.read_sparse):
        with pytest.raises(DatasetError, match=re.escape(message)) as caught:
            read(path)
        assert name in str(caught.value)


def test_a_gset_file_is_recognised_and_keeps_weights_and_isolated_vertices(write):
    G = datasets.read_edgelist(write("5 3\n1 2 1\n2 3 -1\n1 4 1\n"))
    assert list(G) == [1, 2, 3, 4, 5]
    assert nx.get_edge_attributes(G, "weight") == {(1, 2): 1.0, (2, 3): -1.0, (1, 4): 1.0}
    A, nodes = datasets.read_sparse(write("5 3\n1 2 1\n2 3 -1\n1 4 1\n"))
    assert nodes == (1, 2, 3, 4, 5)
    assert A.sum() == 2


def test_the_format_can_be_forced_where_content_is_ambiguous(write):
    path = write("3 2\n1 2\n2 3\n")
    assert datasets.read_edgelist(path).number_of_edges() == 2  # the pair 3-2 is the pair 2-3
    G = datasets.read_edgelist(path, format="gset")
    assert nx.get_edge_attributes(G, "weight") == {(1, 2): 1.0, (2, 3): 1.0}


@each(
    "content, message",
    [
        ("5 3\n1 2 1\n2 3 -1\n", "truncated"),
        ("2 1\n1 3 1\n", "vertices in 1..2"),
        ("2 1\n0 1 1\n", "vertices in 1..2"),
        ("2 1\n1 2 one\n", "line 2: expected a number in column 3"),
        ("five 1\n1 2 1\n", "numbers of vertices and edges"),
        ("0 1\n1 2 1\n", "numbers of vertices and edges"),
        (f"{10**20} 1\n1 2 1\n", "numbers of vertices and edges"),
        ("", "is empty"),
    ],
    parts=2,
)
def test_a_bad_gset_file_is_a_dataset_error(write, content, message):
    with pytest.raises(DatasetError, match=re.escape(message)):
        datasets.read_edgelist(write(content), format="gset")


@each("name", ["graph.gml", "graph.gml.gz", "renamed.txt"], parts=2)
def test_gml_round_trips_through_networkx(tmp_path, name):
    G = nx.karate_club_graph()
    G.add_node("alone")
    G.add_edge(0, 0)
    gml = "\n".join(nx.generate_gml(G)).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(gml) if name.endswith(".gz") else gml)
    read = datasets.read_edgelist(path)
    assert set(read) == {str(v) for v in G}
    assert edges(read) == {frozenset(map(str, e)) for e in G.edges if e[0] != e[1]}
    assert read["0"]["1"]["weight"] == G[0][1]["weight"]
    A, nodes = datasets.read_sparse(path, weight="weight")
    np.testing.assert_array_equal(A.toarray(), nx.to_numpy_array(read))
    assert nodes == tuple(read)


@pytest.mark.graphs
def test_every_real_graph_has_the_vertices_and_edges_of_its_manifest(graphs_dir):
    with (graphs_dir / "MANIFEST.tsv").open() as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t") if row["undirected_edges"] != "-"]
    assert len(rows) >= 20
    for row in rows:
        A, nodes = datasets.read_sparse(graphs_dir / row["file"])
        assert (row["name"], len(nodes), A.nnz // 2) == (row["name"], int(row["nodes"]), int(row["undirected_edges"]))


@each("name", [n for n, i in datasets.available().items() if i.collection == "bundled"], parts=2)
def test_bundled_graphs_need_neither_network_nor_folder_and_match_the_registry(name, monkeypatch):
    monkeypatch.delenv("DPGRAPH_DATA", raising=False)
    info = datasets.available()[name]
    G = datasets.load(name, download=False)
    assert (G.number_of_nodes(), G.number_of_edges()) == (info.nodes, info.edges)
    assert list(G) == (sorted(G) if name == "us-flights" else list(range(info.nodes)))


def test_the_generator_script_reproduces_the_bundled_graphs(tmp_path, monkeypatch):
    script = runpy.run_path(str(Path(__file__).parent.parent / "datasets" / "generate.py"))
    monkeypatch.setitem(script["write"].__globals__, "DATA", tmp_path)
    script["main"]()
    for path in tmp_path.iterdir():
        again = datasets.read_edgelist(path, nodes=datasets.available()[path.name.removesuffix(".txt.gz")].nodes)
        assert edges(again) == edges(datasets.load(path.name.removesuffix(".txt.gz")))


def test_a_local_folder_serves_its_own_graphs_and_checks_the_manifest(tmp_path):
    (tmp_path / "office.csv").write_text("a,b\n1,2\n2,3\n")
    assert datasets.load("office", data_dir=tmp_path).number_of_edges() == 2
    (tmp_path / "MANIFEST.tsv").write_text(f"name\tfile\tsha256\nteam\toffice.csv\t{'0' * 64}\n")
    assert "team" in datasets.available(tmp_path)
    with pytest.raises(DatasetError, match="checksum"):
        datasets.load("team", data_dir=tmp_path)


def test_an_unknown_name_suggests_the_nearest_and_a_wrong_folder_is_named(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match="did you mean wiki-Vote"):
        datasets.load("wiki-vote")
    with pytest.raises(DatasetError, match="data_dir= must name a folder"):
        datasets.load("wiki-Vote", data_dir=tmp_path / "missing")
    monkeypatch.setenv("DPGRAPH_DATA", str(tmp_path / "missing"))
    with pytest.raises(DatasetError, match="DPGRAPH_DATA"):
        datasets.load("wiki-Vote")


@each(
    "load, name",
    list(
        itertools.product(
            [datasets.load, datasets.load_sparse], ["wiki-Vote", "soc-Epinions1", "com-DBLP", "G1", "musae-facebook"]
        )
    ),
    parts=2,
)
def test_a_file_under_the_name_of_a_public_graph_that_is_another_graph_is_refused(tmp_path, name, load):
    text = "2 1\n1 2 1\n" if name == "G1" else "2 3\n3 12345\n"
    info = datasets.available()[name]
    (tmp_path / info.file.removesuffix(".gz")).write_text(text)
    with pytest.raises(DatasetError, match=f"is not the graph {name}, which has {info.nodes:,} vertices") as caught:
        load(name, data_dir=tmp_path)
    assert "12345" not in str(caught.value)
    # The manifest of a folder does not make it that graph, either.
    (tmp_path / "mine.txt").write_text(text)
    (tmp_path / "MANIFEST.tsv").write_text(f"name\tfile\n{name}\tmine.txt\n")
    with pytest.raises(DatasetError, match="is not the graph"):
        load(name, data_dir=tmp_path)


BUNDLED = Path(dpgraph.__file__).parent / "data" / "planted-bisection.txt.gz"


def forms():
    """Equivalent texts of a bundled graph: as it is, without comments, in another order, both ways, with loops."""
    text = gzip.decompress(BUNDLED.read_bytes()).decode()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    turned = ["\t".join(reversed(line.split())) for line in lines]
    yield text.encode()
    yield text.replace("\n", "\r\n").encode()
    yield "\n".join(lines).encode()
    yield "\n".join(["% from elsewhere", *turned[::-1]]).encode()
    yield "\n".join([*lines, *turned, "0 0", "3 3"]).encode()
    yield gzip.compress(text.encode())


@pytest.fixture
def public_copy(monkeypatch):
    """The registry knows planted-bisection under the name "public" too, not as a bundled graph."""
    info = replace(datasets.available()["planted-bisection"], name="public", file="public.txt.gz", collection="snap")
    monkeypatch.setattr("dpgraph.datasets.registry._registry", lambda: {"public": info})
    return info


def test_every_form_of_a_known_graph_is_that_graph(tmp_path, public_copy):
    wanted = edges(datasets.read_edgelist(BUNDLED))
    contents = list(forms())
    assert len({hashlib.sha256(content).hexdigest() for content in contents}) == len(contents)
    for content in contents:
        (tmp_path / "public.txt").write_bytes(content)
        assert edges(datasets.load("public", data_dir=tmp_path)) == wanted


def test_an_edge_less_or_a_digit_changed_is_refused(tmp_path, public_copy):
    text = next(forms())
    path = tmp_path / "public.txt"
    path.write_bytes(text.rstrip(b"\n").rpartition(b"\n")[0])
    with pytest.raises(DatasetError, match="is not the graph public"):
        datasets.load("public", data_dir=tmp_path)
    head, edge, rest = text.partition(b"\n0\t")
    present = edges(datasets.read_edgelist(BUNDLED))
    end, after = rest.split(b"\n", 1)
    other = next(str(v) for v in range(1, 400) if frozenset((0, v)) not in present and len(str(v)) == len(end))
    path.write_bytes(head + edge + other.encode() + b"\n" + after)
    with pytest.raises(DatasetError, match="does not have its checksum"):
        datasets.load("public", data_dir=tmp_path)


@pytest.mark.graphs
def test_the_registry_knows_the_size_and_the_checksum_of_every_graph_that_is_here(graphs_dir):
    known = 0
    for name, info in datasets.available().items():
        path = _find_local(name, info, graphs_dir)
        if path is not None:
            text = read_bytes(path)
            assert info.collection == "bundled" or (info.bytes, info.sha256) in (
                (len(text), hashlib.sha256(text).hexdigest()),
                (None, ""),
            )
            known += info.sha256 != ""
    assert known >= 25


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Start a web server on this machine that stands for snap.stanford.edu, with an empty download cache.

    The registry then holds the one graph `name`, in the file `name`.txt of that server.
    """
    servers = []

    def publish(name, handler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        url = f"http://127.0.0.1:{server.server_address[1]}/{name}.txt"
        info = datasets.DatasetInfo(name, "snap", f"{name}.txt", None, None, False, url)
        monkeypatch.setattr("dpgraph.datasets.registry._registry", lambda: {name: info})

    monkeypatch.setenv("DPGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("DPGRAPH_DATA", raising=False)
    monkeypatch.setattr(http.server.BaseHTTPRequestHandler, "log_message", lambda *args: None)
    yield publish
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def publisher(tmp_path, publish):
    """Folder of a web server that publishes the graph "toy"."""
    site = tmp_path / "site"
    site.mkdir()
    publish("toy", functools.partial(http.server.SimpleHTTPRequestHandler, directory=site))
    return site


def test_a_download_is_kept_its_checksum_recorded_and_later_verified(publisher, tmp_path):
    (publisher / "toy.txt").write_text("1 2\n2 3\n")
    with pytest.raises(DatasetError, match="download=False"):
        datasets.load("toy", download=False)
    assert datasets.load("toy").number_of_edges() == 2
    (publisher / "toy.txt").unlink()
    assert datasets.load("toy", download=False).number_of_edges() == 2
    (tmp_path / "cache" / "toy.txt").write_text("1 2\n")
    with pytest.raises(DatasetError, match="changed or damaged"):
        datasets.load("toy")


def test_a_download_that_broke_off_leaves_nothing_and_is_begun_again(publish, tmp_path, capsys):
    content, seen = "".join(f"{i} {i + 1}\n" for i in range(20_000)).encode(), []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(1)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content if len(seen) > 1 else content[:100_000])

    publish("path", Handler)
    with pytest.raises(DatasetError, match="cannot fetch path"):
        datasets.load("path")
    assert list((tmp_path / "cache").iterdir()) == []
    assert datasets.load("path", progress=True).number_of_edges() == 20_000
    assert "100%" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["path.txt", "path.txt.sha256"]


def test_without_an_answer_from_the_network_the_error_says_how_to_go_on(publisher):
    with pytest.raises(DatasetError, match=r"cannot fetch toy .* DPGRAPH_DATA") as caught:
        datasets.load("toy")
    assert caught.value.__cause__ is None


def pair_frequencies(A, labels):
    """Fraction of pairs that are edges, inside the sides and across."""
    same = labels[:, None] == labels[None, :]
    pairs = np.triu(np.ones_like(same), k=1)
    dense = A.toarray() > 0
    return dense[same & pairs].mean(), dense[~same & pairs].mean()


@each(
    "n, degree, correlation",
    [(600, 60, -0.75), (601, 40, 0.5), (400, 200, -1.0), (400, 200, 1.0), (500, 100, 0.0), (64, 30, -0.9)],
    parts=2,
)
def test_planted_pairs_are_edges_with_exactly_the_stated_probabilities(n, degree, correlation):
    runs = 40
    draws = [pair_frequencies(*datasets.planted_cut_sparse(n, degree, correlation, rng=s)) for s in range(runs)]
    inside, across = np.mean(draws, axis=0)
    half = n // 2
    pairs_inside = (half * (half - 1) + (n - half) * (n - half - 1)) // 2
    for frequency, probability, pairs in (
        (inside, (1 + correlation) * degree / n, pairs_inside),
        (across, (1 - correlation) * degree / n, half * (n - half)),
    ):
        # Five standard deviations of the mean of independent pairs; nothing at all when the probability is 0 or 1.
        deviation = np.sqrt(probability * (1 - probability) / (pairs * runs))
        assert frequency == pytest.approx(probability, abs=5 * deviation + 1e-12)


@each(
    "n, degree, correlation, seed",
    [
        (n, degree, correlation, seed)
        for n, degree, correlation in [(200, 20, 0.8), (201, 90, -0.9), (50, 25, -1.0)]
        for seed in range(3)
    ],
    parts=2,
)
def test_a_planted_bisection_cuts_exactly_the_stated_number_of_edges(n, degree, correlation, seed):
    G = datasets.planted_bisection(n, degree, correlation, rng=seed)
    sides = nx.get_node_attributes(G, "side")
    assert sum(sides.values()) == n - n // 2
    cut = sum(sides[u] != sides[v] for u, v in G.edges)
    assert cut == round((1 - correlation) * degree * (n // 2) * ((n + 1) // 2) / n)


def test_the_ends_of_an_edge_are_any_two_columns_of_a_small_or_a_large_file(tmp_path):
    names = [f"p{k}" for k in range(400)]
    rows = [(f"day {k % 9}", names[k % 400], f"x{k}", names[(7 * k + 1) % 400], k % 5) for k in range(20_000)]
    for count, separator in itertools.product((300, 20_000), ",;\t"):
        text = "\n".join(separator.join(map(str, row)) for row in (("Date", "From", "Note", "To", "n"), *rows[:count]))
        (tmp_path / "mails.csv").write_text(text)
        for columns in (("From", "To"), ("To", "From")):
            A, nodes = datasets.read_sparse(tmp_path / "mails.csv", columns=columns, nodes=names, weight="n")
            arcs = collections.Counter()
            for _, u, _, v, n in rows[:count]:
                arcs[u, v] += n
            expected = {(u, v): max(arcs[u, v], arcs[v, u]) for u, v in arcs if u != v and max(arcs[u, v], arcs[v, u])}
            found = {(nodes[i], nodes[j]): A[i, j] for i, j in zip(*A.nonzero(), strict=True)}
            assert expected.items() <= found.items()
            assert len(found) <= 2 * len(expected)
    (tmp_path / "people.csv").write_text("\ufeffName\n" + "\n\n".join(names), encoding="utf-8")
    assert (
        datasets.read_edgelist(tmp_path / "mails.csv", columns=("From", "To"), nodes=tmp_path / "people.csv").order()
        == 400
    )
    for wrong in (("From", "Two"), ("From", "from"), ("From", "From")):
        with pytest.raises(DatasetError, match="two names in columns="):
            datasets.read_sparse(tmp_path / "mails.csv", columns=wrong)


def test_a_quoted_field_goes_on_over_lines_but_not_without_end(write):
    text = 'Day,"From\nwhom",To,Text\nMon,eva,fay,"Hello,\n\n# you, ""gus"""\nTue,fay,"gus, Dr",x\n'
    found = datasets.read_edgelist(write(text), columns=("From\nwhom", "To"), labels=str)
    assert edges(found) == {frozenset({"eva", "fay"}), frozenset({"fay", "gus, Dr"})}
    for wrong, line in (('a,b\nc,"d\ne,f\n', 2), ('a,b\n"c,d\n' + "e,f\n" * 200, 2), (f'a,b\nc,"{"x" * 2**16}\n', 2)):
        with pytest.raises(DatasetError, match=f"line {line}"):
            datasets.read_edgelist(write(wrong), header=False)


def test_numbers_with_zeros_in_front_are_names_that_keep_them(write, monkeypatch):
    """Of employees, houses and telephones: by the reader of large files as by the careful one."""
    staff = "employee,manager,day\n00012,00345,1\n00345,12,2\n+49301,00012,3\n"
    plain = "a,b,when\n12,345,00:30\n345,7,2024-01-05\n0,-4,007\n"
    for large in (2**18, 0):
        monkeypatch.setattr("dpgraph.datasets.rows._polars_pays", lambda _, pays=not large: pays)
        for text in (staff, staff.replace(",", "\t"), staff.replace(",", " "), staff.replace(",", ";")):
            assert datasets.read_sparse(write(text))[1] == ("+49301", "00012", "00345", "12")
        assert datasets.read_sparse(write(plain))[1] == (-4, 0, 7, 12, 345)
        assert datasets.read_sparse(write(staff), labels=int)[1] == (12, 345, 49301)
        people = write("00012\n00345\n12\n+49301\n", "people.txt")
        assert datasets.read_sparse(write(staff), nodes=people, header=True)[1] == ("00012", "00345", "12", "+49301")
        for nodes in (500, [12, 345, 49301]):
            with pytest.raises(DatasetError, match=r"line 2: .*Say labels=int if 007"):
                datasets.read_sparse(write(staff), nodes=nodes)


def test_columns_that_are_called_as_ends_are_not_passed_over(write, tmp_path):
    """A date or the number of a message would be a vertex, and published."""
    taken = {"a,b": (0, 1), "id,source,target": (1, 2), "To,From": (0, 1), "From Address,To Address": (0, 1)}
    for header, (first, second) in taken.items():
        width = header.count(",") + 1
        rows = [[f"{name}{k}" for k in range(width)] for name in ("x", "y")]
        path = write("\n".join([header, *map(",".join, rows)]))
        assert edges(datasets.read_edgelist(path, header=True)) == {
            frozenset((row[first], row[second])) for row in rows
        }
    for header in ("Date,From,To", "message_id,Sender,Recipient", "caller,day,callee", "from,sent,to"):
        text = f"{header}\nu,v,w\nw,u,v\n"
        pl.read_csv(text.encode()).write_parquet(tmp_path / "g.parquet")
        for path, header_line in ((write(text), "auto"), (write(text), True), (tmp_path / "g.parquet", "auto")):
            with pytest.raises(DatasetError, match="columns= names both ends"):
                datasets.read_edgelist(path, header=header_line)
        assert edges(datasets.read_edgelist(write(text), columns=header.split(",")[:2]))
        assert len(datasets.read_edgelist(write(text), header=False)) == 5
