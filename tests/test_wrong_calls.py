"""Calls that a person makes by mistake: each is answered by a sentence that says what to do, and none costs budget."""

import gzip
import json
import warnings
from pathlib import Path

import igraph as ig
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpgraph
from dpgraph import datasets, edge_frame
from dpgraph.interfaces.cli import main
from dpgraph.projections import Box
from dpgraph.sklearn import PrivatePCA
from tests import programs
from tests.about import about

STAFF = ["ann", "bob", "cem", "dan"]
MAILS = pd.DataFrame({"from": ["Ann", "bob ", None, "zoran"], "to": ["bob", "CEM", "ann", "ann"], "n": [1, 2, -1, 3]})
CLUB = nx.karate_club_graph()
MATRIX = nx.to_pandas_adjacency(CLUB)


def mails(**options):
    return edge_frame(MAILS, **{"nodes": STAFF, "source": "from", "target": "to"} | options)


def clean(**options):
    return mails(normalize="casefold", unknown="drop", **options)


#: A call with an accountant, and words of its sentence.
CALLS = [
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, seed=3, **pay), "Did you mean rng="),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, random_state=3, **pay), "Did you mean rng="),
    (lambda pay: dpgraph.private_degrees(CLUB, eps=1, **pay), "Did you mean epsilon="),
    (lambda pay: dpgraph.private_degrees(CLUB, **pay), "'epsilon'"),
    (lambda pay: dpgraph.private_degrees(CLUB, 1.0, **pay), "positional"),
    (lambda pay: dpgraph.private_max_cut(CLUB, epsilon=1, mechanizm="auto", **pay), "Did you mean mechanism="),
    (lambda pay: dpgraph.private_max_cut(CLUB, epsilon=1, mechanism="gauss", **pay), "gaussian"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, mechanism="gaussian", **pay), "delta=1e-6"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=99, **pay), "nothing was spent"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, accountant=2.0), "PrivacyAccountant"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, rng="dice", **pay), "rng must be"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, max_weight=10, **pay), "needs weight="),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, weight="weight", **pay), "needs max_weight="),
    (lambda pay: dpgraph.private_degrees(clean(), epsilon=1, weight="m", max_weight=1, **pay), "one column 'm'"),
    (lambda pay: dpgraph.private_degrees("mails.csv", epsilon=1, **pay), "read_edgelist"),
    (lambda pay: dpgraph.private_degrees([(0, 1), (1, 2)], epsilon=1, **pay), "with_public_nodes"),
    (lambda pay: dpgraph.private_degrees(None, epsilon=1, **pay), "expected a networkx.Graph"),
    (lambda pay: dpgraph.private_degrees(MAILS, epsilon=1, **pay), "edge_frame"),
    (lambda pay: dpgraph.private_degrees(pl.DataFrame({"a": [1]}), epsilon=1, **pay), "edge_frame"),
    (lambda pay: dpgraph.private_degrees(MATRIX, epsilon=1, **pay), "from_pandas_adjacency"),
    (lambda pay: dpgraph.private_degrees(nx.DiGraph(CLUB), epsilon=1, **pay), "undirected"),
    (lambda pay: dpgraph.private_marginals(pl.DataFrame({"a": ["x", "y"]}), 1, epsilon=1, **pay), "categories="),
    (lambda pay: dpgraph.private_covariance(pd.DataFrame({"a": ["x"]}, dtype="str"), epsilon=1, **pay), "real numbers"),
    (lambda pay: dpgraph.private_subgraph_counts(CLUB, "triangles", epsilon=1, **pay), "'triangle'"),
    (lambda pay: dpgraph.private_communities(CLUB, epsilon=1, communities="four", **pay), "communities must be"),
    (lambda pay: dpgraph.__getattr__("private_comunities"), "private_communities"),
    (lambda pay: datasets.load("karate"), "known are us-flights"),
    (lambda pay: datasets.load("wiki-vote"), "wiki-Vote"),
    (lambda pay: datasets.load("a/b.csv"), "read_edgelist"),
    (lambda pay: mails(), r"3 of 4 rows name a vertex outside .*casefold.* would match 2 .* No budget"),
    (lambda pay: mails(normalize="casefold"), "1 of 4 rows lack a name"),
    (lambda pay: mails(normalize="lower"), "exact, strip, casefold"),
    (lambda pay: mails(normalize=lambda name: name / 2, unknown="drop"), "normalize= failed with TypeError"),
    (lambda pay: mails(unknown="ignore"), "raise, drop"),
    (lambda pay: mails(unknown="drop"), 'casefold.* would match 2 of them; or normalize="exact"'),
    (lambda pay: mails(nodes=["eva", "fay"], unknown="drop", normalize="strip"), "no row is left"),
    (lambda pay: clean(source="sender"), "its columns are 'from', 'to', 'n'"),
    (lambda pay: clean(weight="m"), "its columns are"),
    (lambda pay: edge_frame(MAILS.assign(n=-1), nodes="frame", unknown="drop", source="from", target="to", weight="n"),
     "3 of 3 rows have no finite nonnegative number"),
    (lambda pay: edge_frame(pd.DataFrame({"source": [2.0**60], "target": [1.0]}), nodes="frame"), "beyond .* No"),
    (lambda pay: mails(nodes=["ann", "Ann "], normalize="casefold", unknown="drop"), "the same name"),
    (lambda pay: mails(nodes=["ann", "ann"]), "must differ"),
    (lambda pay: mails(nodes=["ann", pd.NA]), "must not hold None"),
    (lambda pay: dpgraph.with_public_nodes(nx.Graph(), ["ann", None]), "must not hold None"),
    (lambda pay: mails(nodes="staff.txt"), "pathlib.Path"),
    (lambda pay: edge_frame(pl.LazyFrame({"source": [1], "target": [2]}), nodes=3), "collect"),
    (lambda pay: edge_frame({"source": [1], "target": [2]}, nodes=3), "DataFrame"),
    (lambda pay: dpgraph.report(CLUB, epsilon=float("inf"), **pay), "finite"),
    (lambda pay: dpgraph.report(CLUB, epsilon=1, cut="yes", **pay), "cut must be True or False"),
    (lambda pay: dpgraph.report(CLUB, epsilon=1, title=2008, **pay), "title must be a text"),
    (lambda pay: dpgraph.report(CLUB, epsilon=1, title=["a secret"], **pay), "title must be a text; got list"),
    (lambda pay: dpgraph.report(CLUB, epsilon=1, output="report.html", **pay), "unexpected keyword argument 'output'"),
    (lambda pay: dpgraph.report(Path("mails.csv"), epsilon=1, **pay), "read_edgelist"),
    (lambda pay: dpgraph.report("us-flights", epsilon=1, **pay), r"datasets\.load"),
    (lambda pay: dpgraph.report(MAILS, epsilon=1, **pay), "edge_frame"),
    (lambda pay: dpgraph.private_degrees(np.array(list(CLUB.edges)), epsilon=1, **pay), "If its rows are edges"),
    (lambda pay: dpgraph.private_degrees({"ann": ["bob"]}, epsilon=1, **pay), "with_public_nodes"),
    (lambda pay: dpgraph.private_degrees(iter(CLUB.edges), epsilon=1, **pay), "with_public_nodes"),
    (lambda pay: dpgraph.private_degrees(pl.LazyFrame({"a": [1]}), epsilon=1, **pay), "collect"),
    (lambda pay: dpgraph.private_degrees(np.array([["a", "b"], ["b", "a"]]), epsilon=1, **pay), "real adjacency"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, weight=True, max_weight=2, **pay), "name of an edge"),
    (lambda pay: dpgraph.private_degrees(np.eye(3), epsilon=1, weight=["w"], max_weight=2, **pay), "name of an edge"),
    (lambda pay: dpgraph.private_degrees(clean(), epsilon=1, weight=b"n", max_weight=2, **pay), "name of an edge"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, weight="weight", max_weight=0, **pay), "positive number"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, accountant=dpgraph.FileAccountant), "PrivacyAccountant or"),
    (lambda pay: dpgraph.private_degrees(CLUB, epsilon=1, rng=np.random.RandomState(3), **pay), "Generator"),
    (lambda pay: dpgraph.private_max_cut(CLUB, epsilon=1, delta=1e-6, mechanism=dpgraph.strategies.Coherence, **pay),
     "options object"),
    (lambda pay: dpgraph.private_statistic(CLUB, "diameter", epsilon=1, **pay), "one of components"),
    *((lambda pay, odd=odd: dpgraph.private_subgraph_counts(CLUB, odd, epsilon=1, **pay), "patterns must be some of")
      for odd in ([], None, 3, [["edge"]], ["edge"] * 2)),
    (lambda pay: dpgraph.private_covariance(np.zeros(4), epsilon=1, **pay), "reshape"),
    (lambda pay: dpgraph.private_covariance(pl.LazyFrame({"a": [1]}), epsilon=1, **pay), r"LazyFrame. Pass its coll"),
    *((lambda pay, odd=odd: dpgraph.private_marginals([["a"]], 1, epsilon=1, categories={0: odd}, **pay), "list|got 1")
      for odd in ("yes", 5, [["yes"], ["no"]])),
    (lambda pay: dpgraph.perturb_and_project(
        np.array(1.0), [Box(0, 1)], sensitivity=1, epsilon=1, delta=1e-6, **pay), "a single number"),
    (lambda pay: dpgraph.private_linear_queries(np.eye(3), np.zeros(4), epsilon=1, **pay), "one entry for each"),
    (lambda pay: dpgraph.private_max_2csp(CLUB, epsilon=1, **pay), "TwoCSP"),
    (lambda pay: dpgraph.FileAccountant("no/such.db"), "make one with"),
    (lambda pay: dpgraph.PrivacyAccountant(epsilon=0), "positive"),
    (lambda pay: datasets.read_edgelist("mails.csv", columns=("from", "to")), "no such file"),
    (lambda pay: mails(nodes=pd.DataFrame({"name": STAFF})), "one column of a table"),
    (lambda pay: mails(nodes=None), "list of|iterable of hashable"),
    (lambda pay: edge_frame(pd.DataFrame({"source": [1], "target": [2]}), nodes=["1", "2"]), "type int, .* type str"),
    (lambda pay: edge_frame(MAILS, nodes=STAFF, source="from", target="from"), "another one for the other end"),
    (lambda pay: edge_frame(MAILS.iloc[:0], nodes="frame", source="from", target="to"), "names no vertex"),
]  # fmt: skip


def test_wrong_calls_of_the_library_cost_nothing():
    for number, (call, words) in enumerate(CALLS):
        accountant = dpgraph.PrivacyAccountant(epsilon=5.0, delta=1e-3)
        with pytest.raises((dpgraph.DPGraphError, TypeError, AttributeError), match=words) as caught:
            call({"accountant": accountant})
        assert accountant.spent == (0.0, 0.0), number
        assert not any(name in str(caught.value) for name in ("zoran", "CEM")), number


def test_what_is_odd_but_allowed_is_warned_of():
    g = ig.Graph.from_networkx(CLUB)
    with pytest.warns(UserWarning, match="'weight', which is ignored"):
        dpgraph.private_degrees(g, epsilon=1)
    with pytest.warns(UserWarning, match="'weight', which is ignored"):
        dpgraph.private_degrees(
            edge_frame(pd.DataFrame({"source": [0], "target": [1], "weight": 2}), nodes=2), epsilon=1
        )
    for budget in ({"epsilon": 1e9}, {"epsilon": 1, "delta": 0.1}):
        with pytest.warns(UserWarning, match="protect nothing"):
            dpgraph.private_degrees(CLUB, **budget)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dpgraph.private_degrees(CLUB, epsilon=8, delta=1e-6)
        dpgraph.private_degrees(g, epsilon=1, weight="weight", max_weight=7)


#: A command line, in which names of files stand as they are, and words of its sentence.
LINES = [
    ("degrees mails.csv --epsilon 1", "--unknown drop"),
    ("degrees mails.csv --nodes staff.txt --unknown drop --epsilon 1 --header maybe", "auto, yes, no"),
    ("degrees names.csv --nodes staff.txt --epsilon 1", "2 of 3 rows name a vertex outside --nodes"),
    ("degrees names.csv --nodes staff.txt --epsilon 1 --normalize lower", "strip, casefold"),
    ("degrees names.csv --nodes staff.txt --epsilon 1 --unknown skip", "raise, drop"),
    ("degrees names.csv --nodes nobody.txt --epsilon 1", "no such file: nobody.txt"),
    ("degrees names.csv --nodes nobody --epsilon 1", "name of a file of one vertex a line"),
    ("degrees names.csv --nodes staff.txt --unknown drop --epsilon 1", "--normalize casefold"),
    ("degrees org.csv --epsilon 1", "--header yes or --header no"),
    ("degrees org.csv --nodes staff.txt --epsilon 1", "--header yes or --header no"),
    ("degrees latin.csv --epsilon 1", "--encoding cp1252"),
    ("degrees latin.csv --epsilon 1 --encoding utf9", "usual are cp1252"),
    ("degrees table.json --epsilon 1", "json.load"),
    ("degrees missing.csv --epsilon 1", "no such file"),
    ("degrees dates.csv --epsilon 1 --header yes", "two others are called From and To: --columns names both ends"),
    ("degrees who.csv --epsilon 1 --nodes staff.txt --header yes", "'Date' and 'Who'; --columns names others"),
    ("degrees dates.csv --epsilon 1 --columns From", "two names with a comma"),
    ("degrees over.csv --epsilon 1 --columns From,To", "a quote may be missing"),
    ("degrees padded.csv --epsilon 1 --nodes 500", "Say --labels int if 007 is the vertex 7"),
    ("degrees arrows.txt --epsilon 1", "found an arrow"),
    ("degrees decimal.csv --epsilon 1 --weight hours --max-weight 9", "a decimal point"),
    ("degrees hours.csv --epsilon 1 --weight an --max-weight 9", "beside the ends"),
    ("degrees dates.csv --epsilon 1 --columns From,Two", "the two names in --columns"),
    ("degrees dates.csv --epsilon 1 --columns From,From", "the two names in --columns"),
    ("degrees ok.csv --epsilon 1 --nodes names.csv", "several columns"),
    ("degrees ok.csv --epsilon 1 --nodes mails.csv", "several columns"),
    ("degrees ok.csv --epsilon 1 --nodes book.xlsx", "found other bytes"),
    ("degrees graph.graphml --epsilon 1 --nodes staff.txt", "lists its own vertices"),
    ("degrees book.xlsx --epsilon 1", "Save a spreadsheet as CSV"),
    ("degrees header.csv --epsilon 1", "names no vertex"),
    ("degrees single.csv --epsilon 1", "expected two vertex labels"),
    ("report ok.csv --epsilon 1 --output report.docx", ".html or .json"),
    ("report ok.csv --epsilon 1 --cuts", "--cut"),
    ("report ok.csv --epsilon 1,2", "--epsilon"),
    ("report ok.csv staff.txt --epsilon 1", "unexpected extra argument"),
    ("communities ok.csv --epsilon 1 --communities four", "auto or a number"),
    ("statistic ok.csv diameter --epsilon 1", "one of components"),
    ("spectrum ok.csv --epsilon 1 --k 0", "k must be an integer"),
    ("spectrum ok.csv --epsilon 1 --k 1", "private_normalized_adjacency(mechanism='randomized-response')"),
    ("max-cut ok.csv --epsilon 1 --option rank=4", "name it with --mechanism"),
    ("degrees plantedcut --epsilon 1", "did you mean planted-cut"),
    ("degrees planted-cut --epsilon 1 --nodes 9", "a dataset needs none of them"),
    ("degrees . --epsilon 1", "is a folder"),
    ("degrees ok.csv", "--epsilon"),
    ("degrees ok.csv --epsilon one", "--epsilon"),
    ("degrees ok.csv --epsilon 9", "nothing was spent"),
    ("degrees ok.csv --epsilon 1 --seeds 3", "--seed"),
    ("degrees ok.csv --epsilon 1 --max-weight 3", "--max-weight needs --weight"),
    ("degrees ok.csv --epsilon 1 --weight n", "--weight needs --max-weight"),
    ("degrees ok.csv --epsilon 1 --weight n --max-weight 3", "weight"),
    ("degrees ok.csv --epsilon 1 --output no/where.csv", "does not exist"),
    ("degrees ok.csv --epsilon 1 --output ok.csv", "a file that this command reads"),
    ("degrees ok.csv --epsilon 1 --output degrees.csv.gz", "ends in .csv or .txt"),
    ("synthesize ok.csv --epsilon 1 --output twin.gml", "ends in .csv or .txt"),
    ("degrees ok.csv --epsilon 1 --output - --report -", "two outputs"),
    ("max-cut ok.csv --epsilon 1 --plot -", "picture"),
    ("max-cut ok.csv --epsilon 1 --mechanism magic", "--mechanism must be one of"),
    ("max-cut ok.csv --epsilon 1 --delta 1e-6 --mechanism coherence --option rank=two", "rank must be an integer"),
    ("max-cut ok.csv --epsilon 1 --delta 1e-6 --mechanism coherence --option rank=601", "rank"),
    ("max-cut ok.csv --epsilon 1 --delta 1e-6 --mechanism coherence --option projection=round", "spectral"),
    ("max-cut ok.csv --epsilon 1 --delta 1e-6 --mechanism coherence --option noise=x", "the options of coherence"),
    ("max-cut ok.csv --epsilon 1 --mechanism coherence", "delta"),
    ("max-cut ok.csv --epsilon 1 --on-halt shrug", "on_halt"),
    ("max-cut ok.csv --epsilon 1 --delta 1", "delta"),
    ("max-cut wiki-Vote --epsilon 1 --no-download", "DPGRAPH_DATA"),
    ("max-cut ../escape --epsilon 1", "no such file"),
    ("count ok.csv triangles --epsilon 1", "triangle"),
    ("count ok.csv --epsilon 1 --mechanism local-sensitivity", "--mechanism ladder"),
    ("statistic ok.csv matching --epsilon 1 --weight n --max-weight 2", "count every edge once"),
    ("max-cut cut.txt.gz --epsilon 1", "truncated"),
    ("max-cut tuples.txt --epsilon 1", "double quotes"),
    ("max-cut binary.txt --epsilon 1", "not a text file"),
    ("max-cut ok.csv --epsilon 1 --weight w --max-weight 3", "'w'"),
    ("max-cut ok.csv --epsilon 1 --labels float", "--labels"),
    ("max-cut ok.csv --epsilon 1 --format pajek", "format"),
    ("degree ok.csv --epsilon 1", "degrees"),
    ("marginals ok.csv --epsilon 1 --categories values.json", "expected JSON of the form"),
    ("datasets list --data-dir /nope", "folder of graph files"),
    ("benchmark planted-cut nope --runs 1", "nope"),
    ("benchmark planted-cut --header perhaps", "auto, yes, no"),
    ("benchmark five-cycle --epsilon x", "--epsilon takes numbers"),
    ("benchmark five-cycle --epsilon 1,-1", "epsilon"),
    ("benchmark five-cycle --epsilon ,", "at least one"),
    ("benchmark five-cycle --delta 2", "delta"),
    ("benchmark five-cycle --runs 0", "--runs"),
    ("benchmark five-cycle --seed -1", "--seed"),
    ("benchmark five-cycle --problem magic", "--problem must be all or some of degrees"),
    ("benchmark five-cycle --problem cut --mechanism magic", "--mechanism must be some of auto"),
    ("benchmark five-cycle --problem cut --mechanism smooth", "--mechanism must be some of auto"),
    ("benchmark five-cycle --output no/runs.csv", "does not exist"),
    ("benchmark five-cycle --output ok.csv", "no table of runs"),
    ("benchmark five-cycle --output x.md --table x.md", "same path"),
    ("benchmark five-cycle --table table.txt", "--table writes"),
    ("benchmark five-cycle --plot curves.doc", "picture"),
    ("benchmark header.csv --header yes", "names no vertex"),
    ("benchmark loop.txt", "has no edges"),
]  # fmt: skip


def test_wrong_command_lines_cost_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPGRAPH_DATA", raising=False)
    files = {
        "mails.csv": "From Address;To Address\nAnn;bob\n;cem\n",
        "names.csv": "sender,recipient\nAnn,bob\nbob,cem\nzoran,ann\n",
        "org.csv": "employee,manager\neva,fay\neva,gus\n",
        "table.json": json.dumps([["eva", "fay"]]),
        "ok.csv": "source,target\n1,2\n2,3\n",
        "values.json": '{"source": "yes"}',
        "staff.txt": "\n".join(STAFF),
        "dates.csv": "Date,From,To\n2024-01-05,ann,bob\n2024-01-06,cem,ann\n",
        "who.csv": "Date,Who,Whom\n2024-01-05,ann,bob\n2024-01-06,cem,ann\n",
        "graph.graphml": "\n".join(nx.generate_graphml(nx.path_graph(["eva", "fay"]))),
        "book.xlsx": "PK\3\4\0",
        "header.csv": "source,target\n",
        "over.csv": 'Date,From,To,Subject\nMon,eva,fay,"hello\nTue,fay,eva,x\n',
        "padded.csv": "source,target\n00012,345\n",
        "arrows.txt": "eva -> fay\nfay -> gus\n",
        "decimal.csv": "von;an;hours\neva;fay;1,5\nfay;gus;2,25\n",
        "hours.csv": "von;an;hours\neva;fay;1.5\nfay;gus;2\n",
        "single.csv": "eva\ngus\n",
        "loop.txt": "1 1\n",
        "tuples.txt": "(0, 1) (1, 2)\n(1, 2) (2, 3)\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"1 2\n" * 999)[:-9])
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)))
    (tmp_path / "latin.csv").write_bytes("Jörg,eva\n".encode("cp1252") * 2)
    budget = dpgraph.FileAccountant(tmp_path / "b.db", epsilon=5.0)
    for line, words in LINES:
        spends = line.split()[0] not in ("datasets", "benchmark")
        status = main([*line.split(), *(["--budget", "b.db"] if spends else [])])
        out, err = capsys.readouterr()
        assert (status, out, err.count("\n")) == (2, "", 1), (line, err)
        assert words in err, (line, err)
        assert budget.spent.epsilon == 0, line
        assert not any(name in err for name in ("fay", "zoran", "Ann")), err


def test_a_budget_is_named_before_or_after_the_command_and_a_table_goes_to_standard_output(tmp_path, capsys):
    budget = dpgraph.FileAccountant(tmp_path / "b.db", epsilon=2.0)
    named, rest = ["--budget", str(tmp_path / "b.db")], ["degrees", "five-cycle", "--epsilon", "0.5", "--output", "-"]
    for line in ([*named, *rest], [*rest, *named], [*named, *rest, *named]):
        assert main(line) == 0
        out, err = capsys.readouterr()
        assert pl.read_csv(out.encode()).columns == ["node", "degree"]
        assert "noise scale" in err
    assert budget.spent.epsilon == 1.5
    for name in ("output", "report"):
        assert main(["report", "five-cycle", "--epsilon", "2", f"--{name}", "-"]) == 0
        out, _ = capsys.readouterr()
        found = pl.read_csv(out.encode())["name"] if name == "output" else json.loads(out)["result"]["facts"]["name"]
        assert found[0] == "connections"
    assert main([*named, *rest, "--budget", "other.db"]) == 2
    assert "two files" in capsys.readouterr().err


def test_a_file_is_checked_as_it_would_be_read(tmp_path, capsys):
    (tmp_path / "mails.csv").write_text("From Address;To Address\nAnn; bob\nBOB;cem\n;cem\nzoran;ann\nann;ann\nbob;ann")
    (tmp_path / "staff.txt").write_text("\n".join(STAFF))
    line = ["check", str(tmp_path / "mails.csv"), "--nodes", str(tmp_path / "staff.txt"), "--normalize", "casefold"]
    assert main([*line, "--unknown", "drop"]) == 0
    shown = dict(
        row.split(maxsplit=1) for row in capsys.readouterr().out.replace("self loops", "loops").splitlines()[1:]
    )
    expected = {"rows": "6", "kept": "4", "dropped": "2", "missing": "1", "loops": "1"}
    assert shown["header"].startswith("yes")
    assert {name: shown[name] for name in expected} == expected
    assert main(line) == 2
    out, err = capsys.readouterr()
    assert "dropped           2" in out
    assert "--unknown drop" in err


def test_check_refuses_the_weights_that_a_private_call_would_and_reads_a_pipe_once(tmp_path, capsys):
    file = tmp_path / "mails.csv"
    file.write_text("source,target,n,m,k\neva,fay,2,1,nan\nfay,gus,-1,0,1\n")
    for weight, status in (("n", 2), ("m", 0), ("k", 2)):
        assert main(["check", str(file), "--weight", weight]) == status
        out, err = capsys.readouterr()
        assert "rows              2" in out
        assert ("nonnegative weights" in err, "finite weights" in err) == (weight == "n", weight == "k")
    found = programs.python("-m", "dpgraph", "check", "-", input=file.read_text())
    assert (found.returncode, found.stderr) == (0, "")
    assert "rows              2" in found.stdout


def test_tables_of_all_libraries_are_the_same_graph():
    pa = pytest.importorskip("pyarrow")
    rows = {"a": ["Ann", "bob ", None, "zoran", "ann"]}
    rows |= {"b": ["bob", "CEM", "ann", "ann", "bob"], "n": [1.0, 2, 3, 4, 5]}
    found = []
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        staff = make({"name": STAFF})["name"]
        G = edge_frame(make(rows), nodes=staff, source="a", target="b", normalize="casefold", unknown="drop")
        summary = G.summary()
        assert (summary.rows, summary.dropped, summary.unknown, summary.missing, summary.duplicates) == (5, 2, 1, 1, 1)
        assert repr(G) == "EdgeFrame(4 vertices)"
        weighted = dpgraph.private_degrees(G, epsilon=4, weight="n", max_weight=9, rng=0)
        found.append((*weighted.values, *dpgraph.private_degrees(G, epsilon=4, rng=1).values))
    assert found[0] == found[1] == found[2]


def test_records_of_all_libraries_are_the_same():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    numbers, bits = rng.normal(size=(60, 3)) / 3, rng.integers(0, 2, (60, 3))
    values = {"city": rng.choice(["Bern", "Graz"], 60).tolist()}
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        table = make(dict(zip("abc", numbers.T, strict=True)))
        with about(make):
            for adjacency in ({}, {"adjacency": "add-remove", "n_records": 90}):
                one, other = (dpgraph.private_covariance(X, epsilon=1, rng=0, **adjacency) for X in (numbers, table))
                assert np.array_equal(one.matrix, other.matrix)
            assert PrivatePCA(2, epsilon=4.0, random_state=1).fit(table).transform(table).shape == (60, 2)
            assert dpgraph.private_singular_subspace(table, 1, epsilon=1, max_norm=1.0, rng=1).right.shape == (3, 1)
            noisy = [
                dpgraph.private_cosine_similarities(X, sensitivity=0.1, epsilon=4, delta=1e-6, rng=2).matrix
                for X in (numbers, table)
            ]
            assert np.array_equal(*noisy)
            answers = dpgraph.private_marginals(
                make(dict(zip("abc", bits.T, strict=True)) | values),
                2,
                epsilon=1,
                categories={"city": ["Bern", "Graz"]},
            )
            assert answers.columns == ("a", "b", "c", "city")
    histogram = np.arange(4.0)
    columns = (
        histogram,
        pd.Series(histogram),
        pl.Series(histogram),
        pa.array(histogram),
        pa.chunked_array([histogram]),
    )
    answers = [dpgraph.private_linear_queries(np.eye(4), x, epsilon=1, rng=3).answers for x in columns]
    assert all(np.array_equal(answers[0], other) for other in answers)
    with pytest.raises(dpgraph.DPGraphError, match="different names"):
        dpgraph.private_covariance(pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]), epsilon=1)


def test_results_are_text_and_tables(tmp_path):
    G = nx.relabel_nodes(CLUB, lambda v: (v, "x") if v else "root")
    for result in (
        dpgraph.private_communities(G, epsilon=4, rng=0),
        dpgraph.private_max_cut(CLUB, epsilon=4, rng=1),
        dpgraph.private_synthetic_graph(CLUB, epsilon=4, rng=2),
        dpgraph.private_subgraph_counts(CLUB, epsilon=4, rng=3),
    ):
        text = result.to_json(tmp_path / "r.json")
        assert json.loads(text) == json.loads((tmp_path / "r.json").read_text())
        assert json.loads(text)["privacy"]["epsilon"] == 4
        frame, table = result.to_frame(), result.to_polars()
        assert (list(frame), len(frame)) == (table.columns, table.height)
        assert result.to_csv(tmp_path / "r.csv") == (tmp_path / "r.csv").read_text()
        assert pl.read_csv(tmp_path / "r.csv").shape == table.shape
        sizes = [len(part) for part in getattr(result, "communities", [])]
        assert sizes == sorted(sizes, reverse=True)


def test_a_closed_standard_input_is_called_so():
    words = ["degrees", "-", "--epsilon", "1"]
    done = programs.python("-c", f"import os; from dpgraph.interfaces.cli import main; os.close(0); main({words})")
    assert done.stderr == "dpgraph: error: standard input is closed\n"
