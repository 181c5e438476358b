"""Seeded outputs that must not change unnoticed: two of every entry of the registry, and some of what is not private.

``python -m tests.frozen --check [FILTER ...]`` says what differs from ``tests/frozen_outputs.json``; where that is on
purpose, ``--write [FILTER ...]`` records what the package does now, and the commit shows which lines changed.

Numbers are compared up to 1e-9 of their size; words, labels and integers are compared exactly. Of an array the norm and
one sum with fixed weights are kept, of a basis what any basis of its subspace has. What the kernels of other
processors change is not recorded.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from dpgraph import datasets, linear_queries, projections, sos
from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.report import PrivacyReport
from tests.privacy.registry import ENTRIES, Entry, NetworkxEntry

PATH = Path(__file__).with_name("frozen_outputs.json")
TOLERANCE = 1e-9
#: What makes OpenBLAS and numpy calculate as on other processors.
KERNELS = (
    {"OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX2 FMA3"},
)
#: A line of words that is longer is hashed.
_LONGEST = 60
#: Path in a result -> words, or [norm, weighted sum] of numbers.
Record = dict[str, str | list[float]]


def cases() -> dict[str, Callable[[], Any]]:
    """Label -> call, of everything that is frozen."""
    private = {
        f"{entry.label}, input {pair}": partial(answer, entry, pair, epsilon)
        for entry in ENTRIES
        if entry.seedable
        for pair, epsilon in ((0, 2.0), (-1, 64.0))[isinstance(entry, NetworkxEntry) :]
    }
    return private | dict(public())


def answer(entry: Entry, pair: int, epsilon: float) -> Any:
    """What an entry says on an input of its own, or where it halts."""
    try:
        return entry.call(entry.pairs[pair][1], rng=0, epsilon=epsilon)
    except MechanismHalted as halt:
        return {"stage": halt.stage, "privacy": halt.privacy}


def public() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What spends no budget."""
    graph = datasets.planted_cut(40, 12, -0.8, rng=1)
    halves = datasets.planted_bisection(40, 12, 0.8, rng=2)
    games = datasets.planted_csp(12, 5, 3, 0.9, rng=6)
    A = np.random.default_rng(4).normal(size=(20, 20))
    A, prefix = (A + A.T) / 2, np.tril(np.ones((12, 12)))
    yield "max_cut", lambda: dpgraph.max_cut(graph, rng=0).value
    yield "max_bisection", lambda: dpgraph.max_bisection(halves, rng=0).value
    yield "max_2csp", lambda: dpgraph.max_2csp(games, rng=0).value
    yield "lasserre", lambda: sos.lasserre(games, 2).upper_bound
    for kind in (datasets.planted_cut, datasets.planted_bisection):
        yield f"datasets.{kind.__name__}", partial(kind, 60, 8, 0.5, rng=3)
    yield "datasets.planted_cut_sparse", lambda: datasets.planted_cut_sparse(9000, 4, 0.2, rng=1)
    yield "datasets.planted_csp", lambda: games.tables
    for project in (
        projections.project_psd,
        projections.project_elliptope,
        partial(projections.project_psd_trace, trace=2.0),
        partial(projections.project_nuclear_ball, radius=2.0),
        partial(projections.project_spectral_ball, radius=0.8),
        partial(projections.project_nonnegative_spectral_ball, radius=1.5),
        partial(projections.shrink_psd_trace, trace=2.0, std=0.3),
    ):
        name = getattr(project, "func", project).__name__
        yield f"projections.{name}", lambda project=project: getattr(project(A), "matrix", project(A))
    for mechanism in ("gaussian", "ellipsoid", "factorization"):
        budget = {"epsilon": 1.0, "delta": 1e-6, "mechanism": mechanism}
        yield f"linear queries, {mechanism}", partial(linear_queries.expected_error, prefix, **budget)
    budgets = [(e, d) for e in (0.01, 1.0, 16.0) for d in (1e-12, 1e-6, 0.1)]
    yield "gdp_mu", lambda: np.array([dpgraph.privacy.gdp_mu(*budget) for budget in budgets])
    scale = dpgraph.gaussian_scale
    yield "gaussian_scale", lambda: np.array([scale(3.0, epsilon=e, delta=d) for e, d in budgets])


def record(call: Callable[[], Any]) -> Record:
    """What is kept of the result of a call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(parts("", call()))


def parts(path: str, value: Any) -> Iterator[tuple[str, str | list[float]]]:
    """What is kept of a value, part by part."""
    if sparse.issparse(value):
        matrix = sparse.csr_array(value)
        matrix.sort_indices()
        value = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    if isinstance(value, nx.Graph):
        value = {"nodes": list(map(repr, value)), "edges": sorted(map(repr, value.edges(data=True)))}
    if isinstance(value, PrivacyReport):
        value = list(vars(value).values())
    if dataclasses.is_dataclass(value):
        value = {f".{one.name}": getattr(value, one.name) for one in dataclasses.fields(value) if one.name[0] != "_"}
    if isinstance(value, float | np.floating):
        value = np.array([value])
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        sums = np.linalg.norm(value), np.linalg.norm(np.cos(np.arange(len(spanned(value)))) @ spanned(value))
        yield path, [float(f"{one:.12g}") for one in sums[: min(value.size, 2)]]
    elif isinstance(value, np.ndarray):
        yield path, words(value.shape, value.tolist())
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from parts(f"{path}{key}", one)
    elif isinstance(value, list | tuple):
        inside = [part for number, one in enumerate(value) for part in parts(f"[{number}]", one)]
        numbers = [number for _, found in inside if not isinstance(found, str) for number in found]
        if numbers:
            yield from parts(f"{path} numbers", np.array(numbers))
        yield path, words([(key, found) for key, found in inside if isinstance(found, str)])
    elif isinstance(value, set | frozenset):
        yield path, words(sorted(map(repr, value)))
    elif value is None or isinstance(value, str | bytes | bool | int | np.integer):
        yield path, words(value)


def spanned(values: np.ndarray) -> np.ndarray:
    """Orthonormal columns as they are, all else in one column: processors turn the basis of a subspace at will."""
    if values.ndim == 2 and np.allclose(values.T @ values, np.eye(values.shape[1])):
        return values
    return values.reshape(-1, 1)


def words(*values: Any) -> str:
    text = ", ".join(map(str, values))
    return text if len(text) <= _LONGEST else hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(before: Record, after: Record) -> list[str]:
    """Parts that are not the same; a result may gain parts."""
    return [
        f"{path}: {was} -> {after.get(path, 'gone')}" for path, was in before.items() if not same(was, after.get(path))
    ]


def same(was: str | list[float], now: str | list[float] | None) -> bool:
    if isinstance(was, str) or not isinstance(now, list):
        return was == now
    if not np.all(np.isfinite(was)):
        return str(was) == str(now)
    return bool(np.max(np.abs(np.subtract(was, now))) <= TOLERANCE * max(1.0, was[0]))


def recorded() -> dict[str, Record]:
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def check(labels: list[str]) -> list[str]:
    """What differs from the record."""
    calls, before = cases(), recorded()
    found = []
    for label in labels:
        if label not in before:
            found.append(f"{label}: not recorded")
        else:
            found += [f"{label}: {text}" for text in differences(before[label], record(calls[label]))]
    return found


def write(labels: list[str], filters: list[str]) -> None:
    """Record these cases, without the parts that kernels of other processors change: bases of eigenspaces, and ties."""
    calls, before = cases(), recorded()
    before |= {label: record(calls[label]) for label in labels}
    for kernels in KERNELS:
        command = [sys.executable, "-m", "tests.frozen", "--print", *filters]
        printed = subprocess.run(command, env=os.environ | kernels, capture_output=True, check=True).stdout
        for label, there in json.loads(printed).items():
            before[label] = {path: kept for path, kept in before[label].items() if same(kept, there.get(path))}
    kept = ((label, before[label]) for label in calls if label in before)
    lines = (f"{json.dumps(label)}: {json.dumps(found, ensure_ascii=False)}" for label, found in kept)
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="record what the package does now")
    action.add_argument("--print", action="store_true", help="print what the package does now")
    action.add_argument("--check", action="store_true", help="compare with the record; exit status 1 if any differs")
    parser.add_argument("filter", nargs="*", help="only cases whose label contains one of these")
    given = parser.parse_args()
    labels = [label for label in cases() if not given.filter or any(text in label for text in given.filter)]
    if given.write:
        write(labels, given.filter)
        return 0
    if given.print:
        calls = cases()
        print(json.dumps({label: record(calls[label]) for label in labels}))
        return 0
    found = check(labels)
    print(*found, f"{len(labels)} cases, {len(found)} differences", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
