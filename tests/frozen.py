"""Seeded outputs of every public function, frozen before the package was rebuilt, to the bit.

``python -m tests.frozen --write`` records ``tests/frozen_outputs.json``; ``--check [FILTER ...]`` runs the cases whose
label contains a FILTER again and says which differ, and whether by rounding (1e-9) or really. The cases, and the one
place where a case becomes a call, are in :mod:`tests.frozen_cases`.

A case that is written on another machine than the header names keeps what differs there; where it is checked on a third
one, a difference by rounding does not count.

A case is stored as parts: fields of a result, one line each, that a person can read and that end with a hash of the
exact bytes where the line alone does not say everything. Only parts that are recorded are compared, so that a result
may gain a field; parts that are gone differ.

Bits depend on the processor, on BLAS and on the versions of a few libraries: the header says which.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

PATH = Path(__file__).with_name("frozen_outputs.json")
#: Differences of numbers up to this, relative to those above 1, are called rounding.
ROUNDING = 1e-9
#: Sums depend on the number of threads, which is read when numpy is imported.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
#: A line that is longer is cut, and a list with more parts is folded into one line; both then end with a hash.
_LONGEST, _MOST_PARTS = 80, 16
_NUMBER = re.compile(r"(?<![\w#.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?![\w])")
_HASH = re.compile(r" #[0-9a-f]{16}$")

Parts = dict[str, str]


# --- what a bit depends on -------------------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """Everything that may change a bit and is not this package."""
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "processor": _processor()}
    for package in ("numpy", "scipy", "networkx", "numba", "scs", "clarabel", "cvxpy", "igraph", "opendp", "randomgen"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return found | {"blas": f"{blas['name']} {blas['version']}"}


def _processor() -> str:
    """Name of the processor and a hash of its instruction sets, which choose the kernels of BLAS."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    said = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    said = {key.strip(): value.strip() for key, value in said.items()}
    flags = " ".join(sorted(said.get("flags", "").split()))
    return f"{said.get('model name', platform.machine())} {_hash(flags.encode())[:8]}"


# --- results as lines of text ----------------------------------------------------------------------------------------


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def parts_of(value: Any) -> Parts:
    """What is compared: path -> one line, for each part of a result."""
    found: Parts = {}
    _add(found, "", value)
    return found


def digest_of(parts: Parts) -> str:
    return _hash("\n".join(f"{path}\t{line}" for path, line in sorted(parts.items())).encode())


def _add(found: Parts, path: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        found[path] = _array(value)
    elif sparse.issparse(value):
        matrix = sparse.csr_array(value)
        matrix.sort_indices()
        for name in ("data", "indices", "indptr"):
            _add(found, f"{path}.{name}", getattr(matrix, name))
    elif isinstance(value, nx.Graph):
        _add(found, f"{path}.nodes", [repr(node) for node in value])
        _add(found, f"{path}.edges", sorted(_edge(u, v, data) for u, v, data in value.edges(data=True)))
    elif hasattr(value, "label_extended_graph"):
        _add(found, f"{path}.pairs", np.asarray(value.pairs))
        _add(found, f"{path}.tables", np.asarray(value.tables))
        _add(found, f"{path}.planted", getattr(value, "planted", None))
    elif hasattr(value, "entries") and hasattr(value, "adjacency") and hasattr(value, "seeded"):
        found[path] = _report(value)
    elif isinstance(value, BaseException):
        found[f"{path}error"] = _line(f"{type(value).__name__}: {value}")
        for name in ("stage", "privacy"):
            if hasattr(value, name):
                _add(found, f"{path}{name}", getattr(value, name))
    elif dataclasses.is_dataclass(value):
        found[f"{path}.repr"] = _line(repr(value))
        for one in dataclasses.fields(value):
            if not one.name.startswith("_"):
                _add(found, f"{path}.{one.name}", getattr(value, one.name))
    elif isinstance(value, Mapping):
        _add_many(found, path, {str(key): one for key, one in value.items()})
    elif isinstance(value, set | frozenset):
        _add(found, path, sorted(repr(one) for one in value))
    elif isinstance(value, list | tuple):
        if all(_is_scalar(one) for one in value):
            found[path] = _line(f"{len(value)}: " + ", ".join(map(_scalar, value)))
        else:
            _add_many(found, path, {str(i): one for i, one in enumerate(value)})
    elif isinstance(value, bytes):
        found[path] = f"{len(value)} bytes #{_hash(value)}"
    elif _is_scalar(value):
        found[path] = _line(_scalar(value))
    else:
        raise TypeError(f"no way to freeze {type(value)} at {path!r}")


def _add_many(found: Parts, path: str, values: dict[str, Any]) -> None:
    inside: Parts = {}
    for key, one in values.items():
        _add(inside, f"{path}[{key}]", one)
    if len(inside) <= _MOST_PARTS:
        found.update(inside)
    else:
        text = ", ".join(f"{key[len(path) :]} {line}" for key, line in inside.items())
        found[path] = _line(f"{len(values)}: {text}")


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | complex | str | np.generic)


def _scalar(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str) else repr(value)


def _edge(u: Any, v: Any, data: Mapping[str, Any]) -> str:
    ends = "-".join(sorted((repr(u), repr(v))))
    return ends + (f" {dict(data)!r}" if data else "")


def _line(text: str) -> str:
    text = text.replace("\n", " / ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... #{_hash(text.encode())}"


def _array(value: np.ndarray) -> str:
    """Type, shape, the first numbers, sum and norm for people; a hash of the bytes."""
    if value.dtype.kind not in "biufc":
        return _line(f"{value.shape}: " + ", ".join(map(_scalar, value.ravel().tolist())))
    numbers = value.ravel().astype(complex if value.dtype.kind == "c" else float)
    first = ", ".join(f"{one:.12g}" for one in numbers[:3])
    shape = "x".join(map(str, value.shape))
    line = f"{value.dtype} {shape}: {first}; sum {numbers.sum():.12g}, norm {np.linalg.norm(numbers):.12g}"
    return f"{line} #{_hash(np.ascontiguousarray(value).tobytes())}"


def _report(report: Any) -> str:
    """Lines of a ledger, exactly in the hash and shortly before it."""
    exact = [f"{_exact(report, ('epsilon', 'delta', 'mu', 'delta_slack', 'seeded', 'adjacency', 'relation'))}"]
    names = ("sensitivity", "scale", "mu", "epsilon", "share", "delta_share", "pairs")
    exact += [f"{entry.name}|{_law(entry)}|{_exact(entry, names)}" for entry in report.entries]
    shown = "; ".join(f"{e.name}: {_law(e)} {e.scale:.12g}" for e in report.entries)
    mu = "None" if report.mu is None else f"{report.mu:.12g}"
    head = f"({report.epsilon:.12g}, {report.delta:.12g}), mu {mu}, {report.adjacency} | "
    return f"{(head + shown)[:200]} #{_hash(chr(10).join(exact).encode())}"


def _law(entry: Any) -> str:
    """Law of the noise of a line, as it was called when this was frozen: disjoint lines said so in it."""
    return str(entry.mechanism) + " (parallel)" * entry.pairs.disjoint


def _exact(record: Any, names: tuple[str, ...]) -> str:
    values = (getattr(record, name) for name in names)
    return "|".join(float(v).hex() if isinstance(v, float | np.floating) else str(v) for v in values)


# --- recording and comparing -----------------------------------------------------------------------------------------


def run(case: Any) -> Parts:
    """The parts of one case; what the package refuses, or where it halts, is an output too."""
    from dpgraph.exceptions import DPGraphError
    from tests.frozen_cases import call_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function, arguments, keywords = call_of(case)
        try:
            return parts_of(function(*arguments, **keywords))
        except DPGraphError as error:
            return parts_of(error)


def difference(before: Parts, after: Parts) -> list[tuple[str, bool]]:
    """(what differs, whether it is rounding only) for each recorded part that differs."""
    found = []
    for path, line in before.items():
        if path not in after:
            found.append((f"{path}: gone (was {line})", False))
        elif after[path] != line:
            found.append((f"{path}: {line}\n{'':>{len(path) + 4}}-> {after[path]}", _is_rounding(line, after[path])))
    return found


def _is_rounding(before: str, after: str) -> bool:
    """Whether two lines agree but for a hash and for digits beyond ROUNDING."""
    lines = [_HASH.sub("", line) for line in (before, after)]
    if _NUMBER.sub("0", lines[0]) != _NUMBER.sub("0", lines[1]):
        return False
    pairs = zip(*(map(float, _NUMBER.findall(line)) for line in lines), strict=True)
    return all(a == b or abs(a - b) <= ROUNDING * max(1.0, abs(a)) for a, b in pairs)


def selected(texts: list[str], quick: bool) -> list[Any]:
    from tests.frozen_entries import all_cases

    cases = [case for case in all_cases() if case.quick or not quick]
    return [case for case in cases if not texts or any(text in case.label for text in texts)]


def write(cases: list[Any], verbose: bool) -> None:
    """Record these cases, and keep the others that still exist."""
    from tests.frozen_entries import all_cases

    record = json.loads(PATH.read_text()) if PATH.exists() and len(cases) < len(all_cases()) else {}
    stored, header = record.get("cases", {}), record.get("header", machine())
    here = {name: value for name, value in machine().items() if header.get(name) != value}
    for case in cases:
        begun = time.perf_counter()
        try:
            parts = run(case)
        except Exception as error:  # not raised on purpose: a mistake in the case
            print(f"FAILED     {case.label}\n    {type(error).__name__}: {str(error)[:300]}", flush=True)
            stored.pop(case.label, None)
            continue
        stored[case.label] = {"digest": digest_of(parts), "parts": parts} | ({"machine": here} if here else {})
        if verbose:
            print(f"{time.perf_counter() - begun:8.2f} s  {case.label}", *parts.items(), sep="\n    ", flush=True)
    kept = {case.label: stored[case.label] for case in all_cases() if case.label in stored}
    PATH.write_text(json.dumps({"header": header, "cases": kept}, indent=0, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases run, {len(kept)} recorded in {PATH.name}")


def check(cases: list[Any], verbose: bool) -> int:
    """Print what differs from the record; return how many cases do."""
    from tests.frozen_changes import reason

    record = json.loads(PATH.read_text())
    if machine() != record["header"]:
        print(f"note: recorded on {record['header']}, this is {machine()}")
    rounding, real, wanted, added = 0, 0, 0, set()
    for case in cases:
        begun = time.perf_counter()
        if case.label not in record["cases"]:
            print(f"not recorded: {case.label}")
            real += 1
            continue
        recorded = record["cases"][case.label]
        before = recorded["parts"]
        elsewhere = "machine" in recorded and machine() != record["header"] | recorded["machine"]
        try:
            after = run(case)
        except Exception as error:  # anything the package does not raise on purpose
            after = {"error": f"{type(error).__name__}: {error}"}
        differ = difference(before, after)
        added |= {f"{case.function}{path}" for path in after.keys() - before.keys()}
        if differ and (why := reason(case.label)):
            wanted += 1
            if verbose:
                print(f"on purpose  {case.label}: {why}", *(f"    {text}" for text, _ in differ), sep="\n")
        elif differ:
            close = all(small for _, small in differ)
            rounding, real = rounding + (close and not elsewhere), real + (not close)
            print(f"{'rounding' if close else 'DIFFERS '}  {case.label}")
            shown = differ if verbose else differ[:1]
            print(*(f"    {text}" for text, _ in shown), sep="\n", flush=True)
        elif verbose:
            print(f"same      {case.label}  ({time.perf_counter() - begun:.2f} s)", flush=True)
    if added:
        print("parts that were not recorded:", ", ".join(sorted(added)[:30]))
    same = len(cases) - wanted - rounding - real
    print(
        f"{len(cases)} cases: {same} the same, {wanted} changed on purpose (frozen_changes.py), {rounding} differ by "
        f"rounding, {real} differ"
    )
    return rounding + real


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="record what the package does now")
    action.add_argument("--check", action="store_true", help="compare with the record; exit status 1 if any differs")
    action.add_argument("--list", action="store_true", help="print the labels")
    parser.add_argument("filter", nargs="*", help="only cases whose label contains this, or one of these")
    parser.add_argument("--quick", action="store_true", help="only the marked cases, some seconds")
    parser.add_argument("--verbose", action="store_true", help="print all parts, and the time of each case")
    given = parser.parse_args()
    cases = selected(given.filter, given.quick)
    if given.list:
        print(*(case.label for case in cases), sep="\n")
        return 0
    if given.write:
        write(cases, given.verbose)
        return 0
    return int(check(cases, given.verbose) > 0)


if __name__ == "__main__":
    if any(os.environ.get(name) != "1" for name in _ONE_THREAD):
        os.execve(sys.executable, [sys.executable, "-m", "tests.frozen", *sys.argv[1:]], dict(os.environ) | _ONE_THREAD)
    sys.exit(main())
