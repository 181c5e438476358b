"""2-CSPs in files: they are read to the last digit, bad files are refused politely."""

import gzip
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpgraph
from dpgraph.datasets import read_csp
from dpgraph.exceptions import DatasetError
from dpgraph.instance import TwoCSP
from dpgraph.interfaces.cli import main

FORMATS = ["json", "json.gz"]


def write_csp(instance, path):
    """The documented form of an instance."""
    constraints = [
        {"u": instance.variables[u], "v": instance.variables[v], "relation": table.tolist()}
        for (u, v), table in zip(*instance.constraints(), strict=True)
    ]
    content = {"variables": instance.variables, "alphabet": instance.alphabet, "constraints": constraints}
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def same(first, second):
    """The same names in the same order and the same constraints."""
    assert (first.variables, first.alphabet) == (second.variables, second.alphabet)
    for one, other in zip(first.constraints(), second.constraints(), strict=True):
        np.testing.assert_array_equal(one, other)
    return True


#: Without surrogates, which files cannot hold; the default finds them by trying all characters.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.one_of(st.integers(-5, 10**30), TEXT, st.booleans(), st.none(), st.tuples(st.integers(0, 3), TEXT))


@settings(max_examples=25)
@given(
    st.lists(NAMES, min_size=2, max_size=6, unique=True),
    st.lists(NAMES, min_size=2, max_size=4, unique=True),
    st.data(),
)
@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_written_reads_back_the_same(tmp_path_factory, ending, variables, alphabet, data):
    instance = TwoCSP(variables, alphabet)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for u, v in itertools.combinations(range(len(variables)), 2):
        for _ in range(int(rng.integers(3))):
            instance.add_constraint(variables[v], variables[u], rng.random((len(alphabet),) * 2) + 1e-9)
    path = tmp_path_factory.mktemp("csp") / f"instance.{ending}"
    write_csp(instance, path)
    assert same(instance, read_csp(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f.json", '{"variables": ["secret"], "alphabet": 2}', "expected JSON of the form"),
        ("f.json", '{"variables": 3, "alphabet": 2, "constraints": [{"u": 77, "v": 1, "relation": 1}]}', "expected"),
        ("f.json", '{"variables": 1000000000000, "alphabet": 2, "constraints": []}', "announces more"),
        ("f.json", "[" * 100_000, "expected JSON"),
        ("f.json.gz", gzip.compress(b"{}" * 5000, mtime=0)[:-9], "truncated or damaged gzip"),
        ("f.json", b"\xff\xfe\x00", "is no text in the encoding"),
        ("f.sat", "p cnf 1 1\n1 0\n", "ends with .json"),
    ],
)  # fmt: skip
def test_a_bad_file_is_an_error_that_names_it_and_never_quotes_it(write, name, content, message):
    path = write(content, name)
    with pytest.raises(DatasetError, match=message) as error:
        read_csp(path)
    said = str(error.value).replace(str(path.parent), "")  # pytest numbers its folders
    assert name in said
    assert "77" not in said
    assert "secret" not in said


JSON = """{"variables": [1, 2, 3, 4], "alphabet": ["a", "b"],
"constraints": [{"u": 1, "v": 2, "relation": [[0, 1], [1, 0]]}]}"""


@pytest.mark.parametrize(
    ("name", "content", "labels"),
    [
        ("game.json", JSON, {"a", "b"}),
        ("edges.csv", "source,target\n1,2\n2,3\n3,4\n", {"0", "1", "2"}),
    ],
)  # fmt: skip
def test_the_command_line_takes_instances_and_graphs(write, tmp_path, name, content, labels):
    path, output = write(content, name), tmp_path / "labels.csv"
    status = main(["csp", str(path), "--epsilon", "2", "--delta", "1e-6", "--seed", "0", "--output", str(output)])
    assert status == 0
    rows = [line.split(",") for line in output.read_text().splitlines()]
    assert [row[0] for row in rows] == ["variable", "1", "2", "3", "4"]
    assert {row[1] for row in rows[1:]} <= labels


def test_half_of_a_surrogate_pair_is_no_name(tmp_path):
    """JSON can spell it, but no output could hold it: it would fail after the debit."""
    path = tmp_path / "instance.json"
    path.write_text('{"variables": ["\\ud800", "b"], "alphabet": 2, "constraints": []}')
    with pytest.raises(DatasetError, match="whole characters"):
        dpgraph.datasets.read_csp(path)
    graph = tmp_path / "graph.gml"
    graph.write_text('graph [\n node [\n id 0\n label "&#55296;"\n ]\n node [\n id 1\n label "b"\n ]\n]\n')
    with pytest.raises(DatasetError, match="whole characters"):
        dpgraph.datasets.read_edgelist(graph)
