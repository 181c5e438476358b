"""Certificates: the checker takes what the solver writes, and no number of it changed for the worse."""

import ast
import contextlib
import copy
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dpgraph import TwoCSP, max_2csp, max_bisection, max_cut
from dpgraph.exceptions import NotConvergedError
from dpgraph.sos import check, enumeration
from dpgraph.sos.branching import narrow, prove
from dpgraph.sos.csp import elimination, solver


def signed(graph, seed):
    rng = np.random.default_rng(seed)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = float(rng.normal())
    return graph


def tables(graph, q, seed):
    rng, instance = np.random.default_rng(seed), TwoCSP(len(graph), q)
    for u, v in nx.convert_node_labels_to_integers(graph).edges:
        instance.add_constraint(u, v, rng.random((q, q)))
    return instance


def solved():
    """One result of every kind of proof."""
    quick = {"rng": 0, "sweeps": 30}
    few = signed(nx.gnm_random_graph(9, 20, seed=1), 0)
    yield "cycles", max_cut(signed(nx.gnm_random_graph(60, 110, seed=1), 1), weight="weight", **quick)
    yield "metric", max_cut(signed(nx.gnm_random_graph(12, 45, seed=1), 2), weight="weight", **quick)
    yield "diagonal", max_cut(signed(nx.gnm_random_graph(100, 900, seed=1), 3), weight="weight", **quick)
    yield "price", max_bisection(signed(nx.gnm_random_graph(70, 900, seed=2), 7), weight="weight", **quick)
    dense = signed(nx.gnm_random_graph(14, 85, seed=1), 4)
    yield "tree", max_cut(dense, weight="weight", search="optimal", **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prove, "_MOST_VERTICES", (0, 0))
        positive = signed(nx.gnm_random_graph(12, 50, seed=1), 1)
        for *_, edge in positive.edges(data=True):
            edge["weight"] = 1.0 + abs(edge["weight"])
        yield "tree of cycles", max_cut(positive, weight="weight", search="optimal", **quick)
    yield "order", max_2csp(tables(nx.random_labeled_tree(12, seed=1), 3, 5), **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "_LARGEST", 1)
        patch.setattr(solver, "_ENTRIES", 0)  # no search
        yield "messages", max_2csp(tables(nx.grid_2d_graph(4, 4), 3, 6), tol=1e-2, **quick)
        yield "relaxation", max_2csp(tables(nx.gnm_random_graph(14, 60, seed=1), 3, 6), seeds=0, **quick)
        yield "two labels", max_2csp(tables(nx.gnm_random_graph(60, 300, seed=1), 2, 6), **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "_LARGEST", 1)
        rng, crowd, dense = np.random.default_rng(0), TwoCSP(14, 3), nx.gnm_random_graph(14, 60, seed=1)
        for u, v in dense.edges:
            crowd.add_constraint(u, v, rng.integers(0, 9, (3, 3)).astype(float))
        yield "search", max_2csp(crowd, **quick)
        yield "alike", max_2csp(TwoCSP.from_networkx(dense, "coloring", range(3)), **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "MOST_VERTICES", 24)
        yield "list", max_cut(few, weight="weight", **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "_MOST_VERTICES", 60)
        yield "narrow", max_cut(signed(nx.grid_2d_graph(6, 10), 2), weight="weight", **quick)


@pytest.fixture(scope="module")
def saved():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "MOST_VERTICES", 0)
        patch.setattr(narrow, "_MOST_VERTICES", 0)
        return {name: (result, json.loads(json.dumps(result.certificate.data))) for name, result in solved()}


def accepted(data):
    """What the checker proves, or None."""
    try:
        return check.verify(data if isinstance(data, str) else json.dumps(data))[1]
    except (check.Rejected, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        return None


def test_the_checker_accepts_every_kind_and_the_bound_of_the_solver(saved):
    for name, (result, data) in saved.items():
        assert accepted(data) is not None, name
        assert result.value <= result.upper_bound <= result.certificate.bound
        weaker = 1e-3 if name == "two labels" else 1e-9  # its seeds are no part of it
        assert result.certificate.bound - result.upper_bound <= weaker * abs(result.upper_bound), name
    nodes = {name: data["proof"] for name, (_, data) in saved.items()}
    for name in ("tree", "tree of cycles"):
        assert any("pair" in node for node in nodes[name])
    for name in ("search", "alike"):
        assert any("variable" in node for node in nodes[name])
    assert nodes["price"][0]["price"] > 0.0
    assert "diagonal" in nodes["relaxation"][0]
    assert nodes["list"] == nodes["order"] == [{"parts": []}] or nodes["order"] == [{}]


def test_a_wrong_claim_or_instance_is_rejected(saved):
    for name, (result, data) in saved.items():
        step, terms = 1e-6 * abs(result.value), data["terms"]
        v = data["proof"][0].get("variable", 0)
        others = [(a + 1) % data["labels"] if i == v else a for i, a in enumerate(data["solution"])]
        wrong = [
            {"value": result.value + step},
            {"bound": data["bound"] - step - 2e-2 * abs(data["bound"]) * (name == "two labels")},
            {"instance": "0" * 64},
            {"n": data["n"] - 1},
            {"labels": data["labels"] + 1},
            {"imbalance": 0 if data["imbalance"] is None else data["imbalance"] + 2},
            {"problem": "max-cut" if data["problem"] != "max-cut" else "max-bisection"},
            {"terms": terms[1:]},
            {"terms": [*terms, terms[0]]},
            {"solution": others if name != "alike" else [0] * data["n"]},
            {"solution": data["solution"][1:]},
            {"version": 1},
        ]
        for change in wrong:
            assert accepted(data | change) is None, (name, change)


def test_a_proof_that_misses_a_part_or_has_one_twice_is_rejected(saved):
    for name, (_, data) in saved.items():
        proof = data["proof"]
        for wrong in (proof[:-1], [*proof, proof[-1]], [proof[0], *proof], []):
            assert accepted(data | {"proof": wrong}) is None, name
        for k, node in enumerate(proof[:2]):
            if "pair" in node or "variable" in node:
                for other in ({"pair": [0, 0]}, {"variable": data["n"]}, {}):  # divided by nothing, or not at all
                    rest = {"parts": node.get("parts", [])}
                    assert accepted(data | {"proof": [*proof[:k], rest | other, *proof[k + 1 :]]}) is None, (name, k)


def test_multipliers_and_diagonals_for_the_worse_are_rejected(saved):
    tried = 0
    for name, (result, data) in saved.items():
        for k, node in enumerate(data["proof"][:3]):
            for j, (_, t) in enumerate(node.get("parts", [])[:2]):
                wrong = copy.deepcopy(data)
                wrong["proof"][k]["parts"][j][1] = -t - 1.0
                assert accepted(wrong) is None, (name, k, j)
            d = data["labels"] - 1
            for i in range(0, len(node.get("diagonal", [])), 7):
                if (i - 1) % (d * d) % (d + 1) or node["diagonal"][i] < 1e-3 * max(node["diagonal"]):
                    continue  # beside a diagonal, or of what was eliminated
                wrong = copy.deepcopy(data)
                wrong["proof"][k]["diagonal"][i] *= -(i % 2)  # to zero and below in turn
                found = accepted(wrong)
                assert found is None or found >= result.value, (name, k, i)
                tried += found is None
            if node.get("price"):
                for price in (-node["price"], -1e-9):
                    wrong = copy.deepcopy(data)
                    wrong["proof"][k]["price"] = price
                    assert accepted(wrong) is None, name
    assert tried > 20


def numbers(value, path=()):
    """Paths to all numbers of a file, by class: the names on the way, without positions."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(below, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield tuple(key for key in path if isinstance(key, str)), path


def test_any_number_changed_proves_nothing_that_is_false(saved):
    """Whatever is changed: the file is rejected, or what it claims is true of the same instance."""
    rng = np.random.default_rng(1)
    seen, rejected = set(), 0
    for name, (result, data) in saved.items():
        classes = {}
        for kind, path in numbers(data):
            classes.setdefault(kind, []).append(path)
        seen |= {kind[-1] for kind in classes}
        for kind, paths in classes.items():
            for *way, last in (paths[k] for k in rng.permutation(len(paths))[:2]):
                wrong = copy.deepcopy(data)
                place = wrong
                for key in way:
                    place = place[key]
                x = place[last]
                place[last] = [x + 1, x - 1, -x, 0, 2 * x, x * (1.0 - 1e-6), x * (1.0 + 1e-6)][rng.integers(7)]
                if wrong == data or accepted(wrong) is None:
                    rejected += wrong != data
                    continue
                assert kind[0] not in ("n", "terms", "labels", "imbalance", "version"), (name, kind)
                assert wrong["bound"] >= result.value, (name, kind)
                assert wrong["value"] <= result.upper_bound, (name, kind)
    assert rejected > 100
    asked = "version n labels imbalance terms solution value bound parts order widest diagonal price pair variable"
    assert seen >= set(asked.split()), set(asked.split()) - seen


BROKEN = {
    "nothing": "",
    "text": "proof",
    "list": "[]",
    "no names": '{"version": 2}',
    "deep": "[" * 100_000,
    "long": '{"version": ' + "9" * 5000 + "}",
}


def test_what_is_no_certificate_is_rejected_in_one_sentence(saved, tmp_path, capsys):
    data = saved["tree"][1]
    good = json.dumps(data)
    first = repr(next(node["diagonal"][1] for node in data["proof"] if "diagonal" in node))
    numbers = ("NaN", "Infinity", "1e999", "-1e999", "9" * 400, "9" * 5000, '"1"', "null", "true", "[]", "-1e-320")
    for name, text in {**BROKEN, **{x: good.replace(first, x) for x in numbers}}.items():
        (tmp_path / "wrong.json").write_text(text)
        assert check.main([str(tmp_path / "wrong.json")]) == 1, name
        printed = capsys.readouterr().out
        assert printed.startswith("REJECTED: "), name
        assert printed.count("\n") == 1, name


def test_the_command_line_accepts_and_rejects_a_file(saved, tmp_path):
    result, data = saved["metric"]
    result.certificate.save(tmp_path / "good.json")
    (tmp_path / "bad.json").write_text(json.dumps({**data, "bound": 0.5 * data["value"]}))
    ended = subprocess.run(
        [sys.executable, "-m", "dpgraph.sos.check", str(tmp_path / "good.json")], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended
    assert ended.stdout.startswith("verified")
    lines = [f"{j} {i} {w!r}\n" for i, j, w in data["terms"]]
    (i, j, w), *_ = data["terms"]
    graphs = {  # files of edges, and whether the certificate is about them
        "own": ("# another order\n" + "".join(reversed(lines)), 0),
        "missing": ("".join(lines[1:]), 1),
        "heavier": (f"{i} {j} {math.nextafter(w, math.inf)!r}\n" + "".join(lines[1:]), 1),
        "elsewhere": (f"{i} {data['n']} {w!r}\n" + "".join(lines[1:]), 1),
        "names": ("a b 1.0\n", 1),
    }
    for name, (text, code) in graphs.items():
        (tmp_path / name).write_text(text)
        assert check.main([str(tmp_path / "good.json"), str(tmp_path / name)]) == code, name
    for files in (["bad.json"], ["bad.json", "own"]):
        assert check.main([str(tmp_path / name) for name in files]) == 1
    assert check.main([]) == 2
    with pytest.raises(check.Rejected, match="tables"):
        check.need_graph(saved["order"][1], str(tmp_path / "own"))
    assert check.main([str(tmp_path / "missing.json")]) == 1


def test_the_checker_imports_nothing_of_the_solver():
    tree = ast.parse(Path(check.__file__).read_text())
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy", "scipy"}


def test_matrices_that_are_not_semidefinite_are_not_shown_to_be():
    rng = np.random.default_rng(0)
    for n in (2, 40, 1000):
        path = sparse.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csr")
        lowest = 4.0 * np.sin(0.5 * np.pi / (n + 1)) ** 2
        order = rng.permutation(n)
        for scale in (1e-200, 1.0, 1e200):
            for extra, semidefinite in ((1e-9, True), (-1e-9, False), (-1e-16, False)):
                A = scale * (path + (extra - lowest) * sparse.eye_array(n, format="csr"))
                assert check.semidefinite(A[order][:, order].tocsr()) == semidefinite, (n, scale, extra)
    for n in (3, 60):  # a price everywhere but in the first row
        rest = sparse.csr_array(np.pad(1e-3 * np.diag(rng.random(n)) - 0.5 * np.ones((n, n)), (1, 0)))
        assert check.semidefinite(rest.copy(), 0.6)
        assert not check.semidefinite(rest.copy(), 0.4)


def test_elimination_is_exact_unless_tables_are_taken_apart():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, q = int(rng.integers(2, 6)), int(rng.integers(2, 4))
        tables = {
            (u, v): rng.integers(-9, 9, (q, q)).astype(object) for u in range(n) for v in range(u + 1, n)
        } | {(0,): rng.integers(-9, 9, q).astype(object)}  # fmt: skip
        labels = list(itertools.product(range(q), repeat=n))
        best = max(sum(t[tuple(x[v] for v in scope)] for scope, t in tables.items()) for x in labels)
        order = rng.permutation(n).tolist()
        assert check.largest(tables, order) == best
        bounds = [check.largest(tables, order, widest=w) for w in (1, 2, 3, n)]
        assert min(bounds) >= best
        assert bounds[-1] == best
        assert check.largest(tables, order[: n // 2]) >= best
        allowed = np.zeros((q,) * n, dtype=bool)
        allowed[labels[0]] = True
        assert check.largest(tables, order, allowed=allowed) >= sum(t[(0,) * len(scope)] for scope, t in tables.items())


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_bound_that_overflows_beside_the_largest_number_is_not_saved(tmp_path):
    for seed in range(3):
        A = np.triu(np.random.default_rng(seed).normal(size=(6, 6)), 1)
        result = max_bisection(1e306 * (A + A.T), rng=0, local_search=False)
        with contextlib.suppress(NotConvergedError):
            result.certificate.save(tmp_path / "file")
            check.verify((tmp_path / "file").read_text())


def test_a_certificate_claims_the_value_of_tables_and_not_that_of_their_cut():
    csp = TwoCSP(8, 2)
    for pair in ((0, 1), (0, 5), (2, 4)):
        csp.add_constraint(*pair, 0.1 * (1.0 - np.eye(2)))
    options = {"seeds": 6, "local_search": False, "nonnegative": False, "time_limit": 1e-3}
    for seed in range(20):
        result = max_2csp(csp, rng=seed, **options)
        assert result.certificate is None or result.certificate.data["value"] == result.value


def written(terms, value, bound, **other):
    """A certificate of three variables and two labels, or as it is said, whose one leaf is eliminated."""
    data = {"version": 2, "problem": "max-2-csp", "n": 3, "labels": 2, "imbalance": None, "terms": terms, **other}
    data |= {"value": value, "bound": bound, "parts": [], "order": [0, 1, 2], "widest": 99, "proof": [{}]}
    data = {"solution": [0] * data["n"], **data}
    return data | {"instance": check.fingerprint(data)}


def test_whole_numbers_beyond_floats_are_not_rounded():
    large = 2**63  # beside others in an array it would become a float: 1000 would be lost
    terms = [[0, 1, [[0, 0], [0, large + 1000]]], [1, 2, [[0, 0], [-large, -large]]]]
    assert accepted(written(terms, 0, 0)) is None
    assert 1000 <= accepted(written(terms, 0, 2**20)) <= 2**20


def test_a_value_is_claimed_to_the_last_digit(tmp_path, capsys, monkeypatch):
    cut = {"problem": "max-cut", "solution": [0, 1, 1]}
    above = math.nextafter(0.3, 1.0)
    assert accepted(written([[0, 1, 0.3]], 0.3, 0.3, **cut)) == check.Fraction(0.3)
    assert accepted(written([[0, 1, 0.3]], above, above, **cut)) is None
    assert accepted(written([[0, 1, 0.3]], [0.3], 0.3, **cut)) is None
    assert accepted(written([[0, 1, 0.3]], 0.3, [0.3], **cut)) is None
    # 2^53 + 3 is rounded to 2^53 + 4: if that is the bound, nobody knows that the solution is optimal.
    path, data = tmp_path / "file", written([[0, 1, 2**53 + 3]], 2.0**53 + 4, 2.0**53 + 4, **cut)
    path.write_text(json.dumps(data))
    assert check.main([str(path)]) == 0
    assert "optimal" in capsys.readouterr().out
    exact = check.verify(json.dumps(data))[2]
    assert exact == 2**53 + 3
    monkeypatch.setattr(check, "verify", lambda _: (data, check.Fraction(2**53 + 4), exact))
    assert check.main([str(path)]) == 0
    assert "optimal" not in capsys.readouterr().out


def test_vertices_without_edges_are_of_the_graph_of_a_bisection(tmp_path):
    star, path = [[0, 1, 1], [0, 2, 1], [0, 3, 1]], tmp_path / "graph"
    for n, value in ((4, 2), (6, 3)):
        solution = [0, 1, 1, *([0] if n == 4 else [1, 0, 0])]
        data = written(star, value, 3, problem="max-bisection", imbalance=0, n=n, solution=solution)
        (tmp_path / "file").write_text(json.dumps(data))
        for lines, vertices in (("", 4), ("5 5\n", 6)):
            path.write_text("0 1\n0 2\n3 0\n" + lines)
            assert check.main([str(tmp_path / "file"), str(path)]) == (n != vertices), (n, vertices)
