"""2-CSPs in files: what is written reads back the same, DIMACS means what it says, bad files are refused politely."""

import gzip
import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpgraph
from dpgraph.datasets import read_csp, write_csp
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.interfaces.cli import main

FORMATS = ["json", "json.gz"]


@pytest.fixture
def write(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def same(first, second):
    """The same names in the same order and the same constraints."""
    assert (first.variables, first.alphabet) == (second.variables, second.alphabet)
    for one, other in zip(first.constraints(), second.constraints(), strict=True):
        np.testing.assert_array_equal(one, other)
    return True


NAMES = st.one_of(
    st.integers(-5, 10**30), st.text(max_size=6), st.booleans(), st.none(), st.tuples(st.integers(0, 3), st.text())
)


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


def test_a_large_instance_survives_with_all_digits(tmp_path):
    instance = dpgraph.datasets.planted_csp(300, 20, 3, 0.9, rng=0)
    write_csp(instance, tmp_path / "game.json.gz")
    again = read_csp(tmp_path / "game.json.gz")
    assert again.value(instance.planted) == instance.value(instance.planted)
    assert again.total_weight == instance.total_weight


def satisfied(clauses, truth):
    return sum(w for w, clause in clauses if any(truth[abs(x)] == (x > 0) for x in clause))


CLAUSES = [(2.0, (1, -2)), (1.5, (-1, 3)), (1.0, (2,)), (0.5, (-3, -3)), (4.0, (3, -3)), (0.0, (1, 2)), (3.0, (-2, -3))]


@pytest.mark.parametrize("weighted", [False, True])
def test_clauses_earn_their_weight_exactly_when_satisfied(write, weighted):
    clauses = [(w if weighted else 1.0, clause) for w, clause in CLAUSES]
    lines = [" ".join(map(str, ((w,) if weighted else ()) + clause + (0,))) for w, clause in clauses]
    kind = "wcnf" if weighted else "cnf"
    content = "\n".join(["c a comment", f"p {kind} 4 {len(clauses)}", "c another", *lines])
    formula = read_csp(write(content, f"formula.{kind}"))
    assert formula.variables == (1, 2, 3, 4)
    assert formula.alphabet == (False, True)
    for values in itertools.product((False, True), repeat=4):
        truth = dict(zip(range(1, 5), values, strict=True))
        assert formula.value(truth) == pytest.approx(satisfied(clauses, truth))


def test_clauses_may_span_lines_and_satlib_files_end_with_a_percent_sign(write):
    formula = read_csp(write("p cnf 2 2\n1\n2 0 -1\n-2 0\n%\n0\n\n", "f.cnf"))
    assert [formula.value({1: a, 2: b}) for a in (False, True) for b in (False, True)] == [1.0, 2.0, 2.0, 1.0]


@pytest.mark.parametrize("content", ["p wcnf 2 3 9\n9 1 0\n2 -1 2 0\n1 -1 -2 0\n", "h 1 0\n2 -1 2 0\n1 -1 -2 0\n"])
def test_hard_clauses_outweigh_the_others_with_and_without_a_problem_line(write, content):
    formula = read_csp(write(content, "f.wcnf"))
    soft = 3.0
    assert min(formula.value({1: True, 2: b}) for b in (False, True)) > soft
    assert max(formula.value({1: False, 2: b}) for b in (False, True)) <= soft


def test_a_dimacs_graph_is_coloured_and_edges_in_both_directions_count_once(write):
    G = nx.petersen_graph()
    lines = [f"e {u + 1} {v + 1}" for u, v in G.edges] + [f"e {v + 1} {u + 1}" for u, v in G.edges]
    path = write("\n".join(["c Petersen", f"p edge 10 {len(lines)}", "n 1 2", *lines]), "petersen.col")
    instance = read_csp(path)
    assert (instance.n_variables, instance.alphabet_size, instance.total_weight) == (10, 3, 15.0)
    result = dpgraph.max_2csp(instance, rng=0)
    assert (result.value, result.status) == (15.0, "optimal")
    assert read_csp(write(gzip.compress(path.read_bytes()), "p.col.gz"), colours=4).alphabet_size == 4


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f.cnf", "", "no content"),
        ("f.cnf", "p cnf 2\n", "line 1: expected the problem line"),
        ("f.cnf", "1 2 0\n", "line 1: expected the problem line"),
        ("f.cnf", "p cnf 3 1\n1 2 3 0\n", "line 2: expected a clause of one or two literals"),
        ("f.cnf", "p cnf 3 1\n0\n", "line 2: expected a clause"),
        ("f.cnf", "p cnf 3 1\n1 77 0\n", r"line 2: expected variables in 1\.\.3"),
        ("f.cnf", "p cnf 3 1\n1 77x 0\n", "line 2: expected a clause"),
        ("f.cnf", "p cnf 3 2\n1 2 0\n", "as many clauses"),
        ("f.cnf", "p cnf 3 1\n1 2\n", "line 2: expected a clause"),
        ("f.cnf", "p cnf 1 1\n1 0\n", "second variable"),
        ("f.cnf", "p cnf 99999999999 1\n1 0\n", "fits into memory"),
        ("f.wcnf", "p wcnf 3 1\n-77 1 2 0\n", "line 2: expected a weight"),
        ("f.wcnf", "77777777777 1 99999999999 0\n", "fits into memory"),
        ("f.col", "p edge 3 1\ne 1 77\n", r"line 2: expected an edge .* in 1\.\.3"),
        ("f.col", "p edge 3 1\nx 1\n77\n", "line 3: expected an edge"),
        ("f.json", '{"variables": ["secret"], "alphabet": 2}', "expected JSON of the form"),
        ("f.json", '{"variables": 3, "alphabet": 2, "constraints": [{"u": 77, "v": 1, "relation": 1}]}', "expected"),
        ("f.json", '{"variables": 1000000000000, "alphabet": 2, "constraints": []}', "fit into memory"),
        ("f.json", "[" * 100_000, "expected JSON"),
        ("f.json.gz", gzip.compress(b"{}" * 5000, mtime=0)[:-9], "truncated or damaged gzip"),
        ("f.cnf", b"\xff\xfe\x00", "not a text file"),
        ("f.sat", "p cnf 1 1\n1 0\n", "state one of json"),
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


def test_wrong_arguments_and_names_that_no_file_can_hold_are_refused(tmp_path):
    for arguments in ({"format": "xml"}, {"colours": 1}, {"colours": True}):
        with pytest.raises(InvalidParameterError):
            read_csp(tmp_path / "f.cnf", **arguments)
    with pytest.raises(DatasetError, match="no such file"):
        read_csp(tmp_path / "f.cnf")
    with pytest.raises(InvalidParameterError, match="written as"):
        write_csp(TwoCSP(2, 2), tmp_path / "f.cnf")
    with pytest.raises(InvalidParameterError, match="must be strings"):
        write_csp(TwoCSP([frozenset({1}), 2], 2), tmp_path / "f.json")
    assert list(tmp_path.iterdir()) == []


JSON = """{"variables": [1, 2, 3, 4], "alphabet": ["a", "b"],
"constraints": [{"u": 1, "v": 2, "relation": [[0, 1], [1, 0]]}]}"""


@pytest.mark.parametrize(
    ("name", "content", "labels"),
    [
        ("formula.cnf", "p cnf 4 3\n1 -2 0\n2 3 0\n-4 0\n", {"False", "True"}),
        ("graph.col", "p edge 4 3\ne 1 2\ne 2 3\ne 3 4\n", {"0", "1", "2"}),
        ("game.json", JSON, {"a", "b"}),
        ("edges.csv", "source,target\n1,2\n2,3\n3,4\n", {"0", "1", "2"}),
    ],
)  # fmt: skip
def test_the_command_line_takes_every_format(write, tmp_path, name, content, labels):
    path, output = write(content, name), tmp_path / "labels.csv"
    status = main(["csp", str(path), "--epsilon", "2", "--delta", "1e-6", "--seed", "0", "--output", str(output)])
    assert status == 0
    rows = [line.split(",") for line in output.read_text().splitlines()]
    assert [row[0] for row in rows] == ["variable", "1", "2", "3", "4"]
    assert {row[1] for row in rows[1:]} <= labels
