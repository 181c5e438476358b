"""Certificates: the checker takes what the solver writes, and no number of it changed for the worse."""

import ast
import copy
import json
import math
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from dpgraph import TwoCSP, max_2csp, max_bisection, max_cut
from dpgraph.sos import check, enumeration
from dpgraph.sos.branching import prove
from dpgraph.sos.csp import elimination, search, solver


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
    yield "metric", max_cut(signed(nx.gnm_random_graph(26, 120, seed=1), 2), weight="weight", **quick)
    yield "diagonal", max_cut(signed(nx.gnm_random_graph(100, 900, seed=1), 3), weight="weight", **quick)
    yield "price", max_bisection(signed(nx.gnm_random_graph(70, 900, seed=2), 7), weight="weight", **quick)
    dense = signed(nx.gnm_random_graph(20, 140, seed=1), 1)
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
        yield "messages", max_2csp(tables(nx.grid_2d_graph(5, 5), 3, 6), tol=1e-2, **quick)
        yield "two labels", max_2csp(tables(nx.gnm_random_graph(60, 300, seed=1), 2, 6), **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elimination, "_LARGEST", 1)
        patch.setattr(search, "_STEPS_BEFORE", 0)
        rng, crowd, dense = np.random.default_rng(0), TwoCSP(14, 3), nx.gnm_random_graph(14, 60, seed=1)
        for u, v in dense.edges:
            crowd.add_constraint(u, v, rng.integers(0, 9, (3, 3)).astype(float))
        yield "search", max_2csp(crowd, **quick)
        yield "alike", max_2csp(TwoCSP.from_networkx(dense, "coloring", range(3)), **quick)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "MOST_VERTICES", 24)
        yield "list", max_cut(few, weight="weight", **quick)


@pytest.fixture(scope="module")
def saved():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "MOST_VERTICES", 0)
        return {name: (result, json.loads(json.dumps(result.certificate.data))) for name, result in solved()}


def accepted(data):
    try:
        check.verify(data)
    except (check.Rejected, KeyError, IndexError, TypeError, ValueError):
        return False
    return True


def nodes(node):
    return [node, *(below for part in node.get("parts", []) for below in nodes(part))]


def test_the_checker_accepts_every_kind_and_the_bound_of_the_solver(saved):
    for name, (result, data) in saved.items():
        assert accepted(data), name
        assert result.value <= result.upper_bound <= result.certificate.bound
        weaker = (
            1e-2 if name in ("two labels", "messages") else 1e-7
        )  # there seeds, or the relaxation, are no part of it
        assert result.certificate.bound - result.upper_bound <= weaker * abs(result.upper_bound), name
    points = [node for _, data in saved.values() for node in nodes(data["proof"])]
    assert any("list" in node for node in points)
    assert any(node.get("price") for node in points)
    assert any("pair" in node for node in nodes(saved["tree"][1]["proof"]))
    assert any("pair" in node for node in nodes(saved["tree of cycles"][1]["proof"]))
    kinds = {kind for _, data in saved.values() for given in data["inequalities"] for kind in given}
    assert kinds == {"clique", "even"}


def test_no_number_changed_for_the_worse_is_accepted(saved):
    rng = np.random.default_rng(0)
    for name, (result, data) in saved.items():
        step = 1e-6 * abs(result.value)

        def rejects(change, data=data, name=name):
            wrong = copy.deepcopy(data)
            change(wrong)
            assert not accepted(wrong), name

        rejects(lambda d, step=step: d.update(value=d["value"] + step))
        rejects(lambda d, step=step: d.update(bound=d["bound"] - step))
        rejects(lambda d: d.update(instance="0" * 64))
        rejects(lambda d: d.update(n=d["n"] - 1))
        edges = "edges" if "edges" in data else "tables"
        for _ in range(3):  # another instance
            e = int(rng.integers(len(data[edges])))
            rejects(lambda d, e=e, edges=edges: d[edges][e].__setitem__(0, d[edges][e][0] + 1))
            rejects(lambda d, e=e, edges=edges: d[edges].pop(e))
        labels = data.get("labels", 2)
        for v in range(
            0, len(data["solution"]), 13
        ):  # a best solution is worse with any other label, or out of balance
            rejects(lambda d, v=v, q=labels: d["solution"].__setitem__(v, (d["solution"][v] + 1) % q))
        if "search" in data["proof"]:
            steps = data["proof"]["search"]
            assert steps.count(-1) > 5  # it branches
            rejects(lambda d: d["proof"]["search"].pop())
            rejects(lambda d: d["proof"]["search"].append(0))
            rejects(lambda d: d["proof"].update(limit=d["proof"]["limit"] - 1.0))
            rejects(lambda d: d["proof"].update(limit=d["proof"]["limit"] + 1.0))
            for at in [k for k, step in enumerate(steps) if step == -1][:5]:
                rejects(lambda d, at=at: d["proof"]["search"].__delitem__(slice(at, at + 3)))
                rejects(lambda d, at=at: d["proof"]["search"].__setitem__(at + 1, 99))
                rejects(lambda d, at=at: d["proof"]["search"].__setitem__(at + 2, 3))
            continue
        if "order" in data["proof"]:
            rejects(lambda d: d["proof"]["order"].__setitem__(0, d["proof"]["order"][1]))
            continue
        if "shifts" in data["proof"]:
            rejects(lambda d: d["proof"]["shifts"].pop())
            for e in range(0, len(data["tables"]), 5):
                for step in (-1.0, 1.0):  # moved to one label and from no other
                    wrong = copy.deepcopy(data)
                    wrong["proof"]["shifts"][e][0][0] += step
                    assert not accepted(wrong) or check.verify(wrong) >= result.value
            continue
        _reject_changes_of_points(data, rejects, rng)


def numbers(value, path=()):
    """Paths to all numbers of a file, by class: the names on the way, without positions."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(below, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield tuple(key for key in path if isinstance(key, str)), path


def test_a_number_of_any_class_changed_proves_nothing_that_is_false(saved):
    """Whatever is changed: the file is rejected, or what it claims is true of the same instance."""
    rng = np.random.default_rng(1)
    seen = set()
    for name, (result, data) in saved.items():
        classes = {}
        for kind, path in numbers(data):
            classes.setdefault(kind, []).append(path)
        seen |= {kind[-1] for kind in classes}
        for kind, paths in classes.items():
            *way, last = paths[rng.integers(len(paths))]
            wrong = copy.deepcopy(data)
            place = wrong
            for key in way:
                place = place[key]
            place[last] = [place[last] + 1, place[last] - 1, -place[last], 0, 2 * place[last]][rng.integers(5)]
            if wrong == data or not accepted(wrong):
                continue
            assert kind[0] not in ("n", "edges", "tables", "labels", "imbalance"), (name, kind)
            assert wrong["bound"] >= result.value, (name, kind)
            assert wrong["value"] <= result.upper_bound, (name, kind)
    asked = "n labels imbalance edges tables solution value bound clique even terms diagonal price pair order shifts"
    asked += " limit search"
    assert seen >= set(asked.split()), set(asked.split()) - seen


def _reject_changes_of_points(data, rejects, rng):
    for k, node in enumerate(nodes(data["proof"])[:4]):
        at = lambda d, k=k: nodes(d["proof"])[k]  # noqa: E731
        if "pair" in node:
            rejects(lambda d, at=at: at(d)["parts"].pop())
            rejects(lambda d, at=at: at(d)["pair"].__setitem__(0, at(d)["pair"][1]))
        if "terms" not in node:
            continue
        for j in rng.choice(len(node["terms"]), min(3, len(node["terms"])), replace=False) if node["terms"] else ():
            rejects(lambda d, at=at, j=j: at(d)["terms"][j].__setitem__(1, -at(d)["terms"][j][1] - 1.0))
        scale = max((abs(t) for t in node["diagonal"] or [0.0]), default=0.0)
        for j in range(0, len(node["diagonal"] or []), 9):
            if node["diagonal"][j] > 1e-3 * scale:
                rejects(lambda d, at=at, j=j: at(d)["diagonal"].__setitem__(j, 0.0))
        if node.get("price"):
            rejects(lambda d, at=at: at(d).update(price=-at(d)["price"]))
            rejects(lambda d: d.update(problem="max-cut", instance=check.fingerprint({**d, "problem": "max-cut"})))
    if data["problem"] == "max-cut" and "pair" not in data["proof"] and "terms" in data["proof"]:
        best = check.verify(data)  # of the best multipliers: no others show as much
        for j, (_, t) in enumerate(data["proof"]["terms"][:6]):
            if t > 1e-2:
                for factor in (0.5, 1.5):
                    wrong = copy.deepcopy(data)
                    wrong["proof"]["terms"][j][1] *= factor
                    assert not accepted(wrong) or check.verify(wrong) <= math.nextafter(best, math.inf)
    for j, given in enumerate(data["inequalities"][:5]):
        if "clique" in given:
            rejects(lambda d, j=j: d["inequalities"][j]["clique"].__setitem__(0, d["inequalities"][j]["clique"][1]))
        else:
            rejects(
                lambda d, j=j: d["inequalities"][j]["even"][0].__setitem__(
                    2, 7 * d["inequalities"][j]["even"][0][2] + 1
                )
            )


def test_the_command_line_accepts_and_rejects_a_file(saved, tmp_path):
    result, data = saved["metric"]
    result.certificate.save(tmp_path / "good.json")
    (tmp_path / "bad.json").write_text(json.dumps({**data, "bound": 0.5 * data["value"]}))
    ended = subprocess.run(
        [sys.executable, "-m", "dpgraph.sos.check", str(tmp_path / "good.json")], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended
    assert ended.stdout.startswith("verified")
    lines = [f"{j} {i} {w!r}\n" for i, j, w in data["edges"]]
    (i, j, w), *_ = data["edges"]
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


def test_the_checker_imports_nothing_of_the_solver():
    tree = ast.parse(Path(check.__file__).read_text())
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy", "scipy"}


def test_matrices_that_are_not_semidefinite_are_not_shown_to_be():
    fraction = check.Fraction
    for n in (2, 40, check._DENSE + 1):  # the last by a sparse factorisation
        path = {(i, i + 1): fraction(-1) for i in range(n - 1)}
        laplacian = [fraction(2 - (i in (0, n - 1))) for i in range(n)]
        assert check.semidefinite([x + fraction(1e-6) for x in laplacian], path)
        assert not check.semidefinite([x - fraction(1e-12) for x in laplacian], path)
