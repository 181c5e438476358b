"""No private value is looked at before the debit, and after it nothing but the result and fixed words leave a call.

The fuzz compares neighbouring worlds (``neighbouring_worlds.py``) for every public private function, estimator,
function of the networkx backend and command that publishes something. Quick tests take a few worlds of each, in turn;
the slow one takes all. A fault of each kind that was there is planted, and must be found.
"""

import dataclasses
import functools
import inspect
import itertools
import os
import re
import threading
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.utils import check_array

import dpgraph
import dpgraph.sklearn
from dpgraph.exceptions import DPGraphError, InvalidParameterError
from dpgraph.inputs import arrays, graphs
from dpgraph.inputs import records as record_input
from dpgraph.interfaces.cli import main
from dpgraph.interfaces.cli.app import _COMMANDS
from dpgraph.interfaces.cli.graph_input import GraphRelease
from dpgraph.interfaces.cli.release import Release
from dpgraph.interfaces.networkx.private_graph import PrivateGraph
from dpgraph.privacy import guard
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.problems.matrices import call as matrix_call
from dpgraph.problems.records import cosine, covariance
from dpgraph.releases.records import parities as record_release
from dpgraph.threads import on_thread
from tests.privacy.inputs import Data
from tests.privacy.registry import ENTRIES, Entry, NetworkxEntry
from tests.security.neighbouring_worlds import (
    RECORD_TEXTS,
    SECRET,
    TEXTS,
    Seen,
    Worlds,
    array_worlds,
    differences,
    graph_worlds,
    instance_worlds,
    look,
)

EPSILON = 8.0


@dataclasses.dataclass(frozen=True)
class Door:
    """A way by which private data enter."""

    label: str
    #: Makes a call with a private input, public arguments and an accountant.
    call: Callable[[Any, dict[str, Any], PrivacyAccountant], Any]
    worlds: Callable[[], Iterator[Worlds]]

    def seen(self, value: Any, public: dict[str, Any], action: str = "always") -> Seen:
        accountant = PrivacyAccountant(epsilon=1e9, delta=0.9)
        return look(lambda: self.call(value, public, accountant), lambda: accountant.spent, action)

    def look(self, worlds: Worlds) -> tuple[Seen, Seen]:
        """Both worlds: the odd one first."""
        return self.seen(worlds.odd, worlds.public), self.seen(worlds.ordinary, worlds.public)

    def faults(self, worlds: Worlds, odd: Seen, ordinary: Seen) -> list[str]:
        """What tells the two worlds apart, and may not."""
        found = differences(odd, ordinary)
        if worlds.refused and any(
            seen.outcome not in ("InvalidParameterError", "InvalidGraphError") or seen.spent != (0.0, 0.0)
            for seen in (odd, ordinary)
        ):
            found.append("it was not refused before the debit")
        return [f"{self.label}: {worlds.label}: {fault}" for fault in found]


def small(entry: Entry) -> Data:
    """The first input of an entry that is not too small to have a record in the middle."""
    inputs = [data for _, data, _ in entry.pairs]
    return next((data for data in inputs if not isinstance(data.value, np.ndarray) or len(data.value) > 2), inputs[0])


def entry_door(entry: Entry) -> Door:
    """Inputs are made when they are used: every process collects the tests."""

    def call(value: Any, public: dict[str, Any], accountant: PrivacyAccountant) -> Any:
        private = Data(value, {**small(entry).public, **public})
        return entry.call(private, rng=0, epsilon=entry.epsilon, accountant=accountant)

    def worlds() -> Iterator[Worlds]:
        data = small(entry)
        if isinstance(data.value, dpgraph.TwoCSP):
            yield from instance_worlds(data.value)
        elif isinstance(data.value, np.ndarray) and not (entry.private == "G" or isinstance(entry, NetworkxEntry)):
            yield from array_worlds(data.value)
        else:
            found = graph_worlds(with_edges(data.value), weights_of(entry.code))
            for one in found:
                if not isinstance(entry, NetworkxEntry) or isinstance(one.odd, nx.Graph):
                    yield one

    return Door(entry.label, call, worlds)


def with_edges(value: Any) -> nx.Graph:
    graph = value if isinstance(value, nx.Graph) else nx.from_numpy_array(value)
    return graph if graph.number_of_edges() else nx.cycle_graph(len(graph))


def weights_of(code: Callable[..., Any]) -> dict[str, Any]:
    """The arguments by which a function reads weights, if it does."""
    return {"weight": "weight", "max_weight": 1.0} if "weight" in inspect.signature(code).parameters else {}


def estimator_door(kind: Any) -> Door:
    of_graphs = "weight" in inspect.signature(kind).parameters
    records = 3 * np.random.default_rng(0).normal(size=(12, 3))

    def call(value: Any, public: dict[str, Any], accountant: PrivacyAccountant) -> Any:
        return kind(epsilon=EPSILON, accountant=accountant, random_state=0, **public).fit(value)

    def worlds() -> Iterator[Worlds]:
        yield from graph_worlds(nx.cycle_graph(8), weights_of(kind)) if of_graphs else array_worlds(records)

    return Door(f"sklearn {kind.__name__}", call, worlds)


def one_dimensional_records() -> Iterator[Worlds]:
    """What scikit-learn refuses with the records in its message."""
    yield Worlds("one dimension", np.array([41200.5, 7731977.25, 3.0]), np.array([41200.5, 1.0, 3.0]))


PCA = estimator_door(dpgraph.sklearn.PrivatePCA)
ESTIMATORS = [
    *(estimator_door(getattr(dpgraph.sklearn, name)) for name in dpgraph.sklearn.__all__),
    dataclasses.replace(PCA, label="sklearn PrivatePCA, 1-d", worlds=one_dimensional_records),
]


def private_graph_door() -> Door:
    """The graph of the networkx backend, passed to a function of this package."""

    def call(value: Any, public: dict[str, Any], accountant: PrivacyAccountant) -> Any:
        return dpgraph.private_degrees(value, epsilon=EPSILON, rng=0, accountant=accountant, **public)

    def worlds() -> Iterator[Worlds]:
        weights = {"weight": "weight", "max_weight": 1.0}
        for one in graph_worlds(nx.cycle_graph(6), weights):
            if isinstance(one.odd, nx.Graph):
                yield dataclasses.replace(one, odd=PrivateGraph(one.odd), ordinary=PrivateGraph(one.ordinary))

    return Door("private graph", call, worlds)


def long_records_door() -> Door:
    """Records that are all longer than they may be: what a covariance once warned of."""

    def call(value: Any, public: dict[str, Any], accountant: PrivacyAccountant) -> Any:
        warnings.filterwarnings("ignore", message="epsilon = ")  # of a public argument, before the debit
        budget = {"epsilon": 1e4, "max_norm": 0.5, "n_records": 100, "adjacency": "add-remove"}
        return dpgraph.private_covariance(value, **budget, **public, rng=0, accountant=accountant)

    def worlds() -> Iterator[Worlds]:
        X = np.random.default_rng(0).normal(size=(100, 3))
        long = np.vstack([X[:-1], [1.7e308, 0.0, 0.0]])
        yield Worlds("one is huge", long, X)
        yield Worlds("one is huge and more", long, X[:-1])
        yield Worlds("no record", X[:0], X[:1])

    return Door("long records", call, worlds)


FUNCTIONS = [entry_door(entry) for entry in ENTRIES]
DOORS = [*FUNCTIONS, *ESTIMATORS, private_graph_door(), long_records_door()]


#: The quick tests look at one world of so many.
STRIDE = 12


def shortened(doors: list[Door], stride: int = STRIDE) -> Iterator[tuple[Door, Worlds]]:
    """Some worlds of one door for each function, others for each of them, so that all kinds are tried."""
    first = {door.label.partition(",")[0]: door for door in reversed(doors)}
    for number, door in enumerate(first.values()):
        yield from zip(itertools.repeat(door), itertools.islice(door.worlds(), number % stride, None, stride))


@functools.cache
def quick() -> tuple[list[str], list[tuple[Door, Seen]]]:
    """The faults of the quick worlds, and what was seen in the odd ones."""
    looks = [(door, worlds, door.look(worlds)) for door, worlds in shortened(DOORS)]
    return (
        [fault for door, worlds, seen in looks for fault in door.faults(worlds, *seen)],
        [(door, seen[0]) for door, _, seen in looks],
    )


def test_every_estimator_is_a_door():
    assert {door.label for door in ESTIMATORS} >= {f"sklearn {name}" for name in dpgraph.sklearn.__all__}


@pytest.fixture(autouse=True)
def no_debugging(monkeypatch):
    monkeypatch.delenv("DPGRAPH_DEBUG", raising=False)


def test_neighbouring_worlds_look_the_same_but_for_a_refusal_in_fixed_words():
    assert quick()[0] == []


@pytest.mark.slow
def test_so_do_all_worlds_of_every_door():
    assert [
        fault for door in DOORS for worlds in door.worlds() for fault in door.faults(worlds, *door.look(worlds))
    ] == []


def test_the_words_of_a_refusal_do_not_depend_on_what_is_odd_or_where():
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for door, seen in quick()[1]:
        if seen.spent != (0.0, 0.0) and seen.outcome.startswith("Invalid"):
            said[door.label, re.sub(r"\d+", "#", seen.message)[:60]].add(seen.message)
    assert len(said) > 60
    assert {key: words for key, words in said.items() if len(words) > 1} == {}


RECORDS = [np.array([41200.5, 58999.25, 120345.0]), [[1.0, 2j]], [[1.0], ["58999.25"]], np.array([["58999.25"]])]


@pytest.mark.parametrize("X", RECORDS, ids=["1-d", "complex", "text in a list", "text"])
def test_no_method_of_an_estimator_shows_a_value(X):
    fitted = dpgraph.sklearn.PrivatePCA(epsilon=1.0, random_state=0).fit(np.zeros((4, 2)))
    for method in (fitted.fit, fitted.transform, fitted.inverse_transform, fitted.fit_transform):
        with pytest.raises(ValueError, match="expected") as caught:
            method(X)
        shown = "".join(traceback.format_exception(caught.value))
        assert not re.search("41200|58999|120345|2j", shown)


def commands() -> dict[str, type]:
    """Every command that publishes something of private data."""
    found = {name: getattr(import_module(f"dpgraph.interfaces.cli.{m}"), c) for name, (m, c) in _COMMANDS.items()}
    return {name: kind for name, kind in found.items() if isinstance(kind, type) and issubclass(kind, Release)}


#: What a command needs beside its file.
NEEDS = {"embed": ["--rank", "1"], "spectrum": ["--k", "1"], "csp": ["--adjacency", "edge"]}
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a"), ("a", "c")]


def edge_lists() -> Iterator[tuple[str, str, str]]:
    """Files that differ in the weight of one edge, and in an edge that is a loop or there twice."""
    lines = [f"{u},{v},0.5" for u, v in EDGES]
    plain = "\n".join(["source,target,weight", *lines])
    for text in TEXTS[:-1]:
        yield text, "\n".join(["source,target,weight", *lines[:-1], f"a,c,{text}"]), plain
    for edge in ("b,b", "c,a", "a,c"):
        yield edge, f"{plain}\n{edge},0.5", plain


def tables() -> Iterator[tuple[str, str, str]]:
    """Tables that differ in one entry of one record."""
    rows = ["0,1", "1,1", "1,0", "0,0"]
    plain = "\n".join(["first,second", *rows])
    for text in RECORD_TEXTS:
        yield text[:20], "\n".join(["first,second", *rows[:2], f"1,{text}", rows[3]]), plain
    for text in ("\udcff", "\0"):  # a byte that is not UTF-8, and one that no text has
        yield repr(text), "\n".join(["first,second", *rows[:2], f"1,{text}", rows[3]]), plain
    yield "a short row", "\n".join(["first,second", *rows[:2], "1", rows[3]]), plain


def run(name: str, kind: type, content: str, folder: Path) -> Seen:
    file, budget = folder / "private.csv", folder / "budget.db"
    file.write_text(content, errors="surrogateescape")
    budget.unlink(missing_ok=True)
    more = NEEDS.get(name, [])
    if issubclass(kind, GraphRelease) and "--adjacency" not in more:
        more = [*more, "--weight", "weight", "--max-weight", "1"]
    delta = ["--delta", "1e-6"] if "delta" in {one.name for one in dataclasses.fields(kind)} else []
    asked = ["--budget", str(budget), name, str(file), "--epsilon", "4", "--seed", "0", *delta, *more]

    def call() -> None:
        if status := main(asked):
            raise CommandError(status)

    main(["budget", str(budget), "--epsilon", "9", "--delta", "0.1"])
    seen = look(call, lambda: dpgraph.FileAccountant(budget).spent)
    out, err = seen.printed
    refused = seen.outcome != "answered"
    # What an answer says is noisy; that of a refusal is on stderr.
    return dataclasses.replace(
        seen,
        outcome="InvalidParameterError" if refused else "answered",
        message=err if refused else "",
        printed=("", "" if refused else err),
        foreign="internal error" in err,
        secret=SECRET in err or (refused and SECRET in out),
        behind=0,
    )


class CommandError(DPGraphError):
    """A command that failed, with its status."""


def faults_of_a_command(name: str, folder: Path, start: int = 0, stride: int = 1) -> list[str]:
    kind, found = commands()[name], []
    every = edge_lists() if "graph" in {one.name for one in dataclasses.fields(kind)} else tables()
    plain = None
    for label, odd, ordinary in itertools.islice(every, start, None, stride):
        plain = plain or run(name, kind, ordinary, folder)
        found += [f"{label}: {fault}" for fault in differences(run(name, kind, odd, folder), plain)]
    return found


def test_neighbouring_files_look_the_same_to_every_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(commands()) >= 12
    found = [faults_of_a_command(name, tmp_path, start % 5, 5) for start, name in enumerate(sorted(commands()))]
    assert [*itertools.chain(*found)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(commands()))
def test_so_do_all_files(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert faults_of_a_command(name, tmp_path) == []


def validated_by_scikit_learn(monkeypatch):
    """Fault 1: its check prints the records that it refuses, before the debit."""

    def shape(X, *_, **__):
        return check_array(X, dtype=None, ensure_all_finite=False).shape

    monkeypatch.setattr(dpgraph.sklearn, "table_shape", shape)


def types_found_in_the_entries(monkeypatch):
    """Fault 2: one entry decides on the type of a list, and with it on a refusal before the debit."""

    def check(X):
        if (dtype := np.asarray(X).dtype).kind not in "biuf":
            raise InvalidParameterError(f"expected an array of real numbers; got entries of type {dtype}")

    monkeypatch.setattr(arrays, "_check_numbers", check)


def records_read_without_care(monkeypatch):
    """Fault 2: an integer beyond all doubles raises whatever Python raises."""
    monkeypatch.setattr(record_release, "read_records", record_input._read_records)


def warnings_and_flags_as_they_come(monkeypatch):
    """Fault 3: what overflows is told by a warning."""
    monkeypatch.setattr(guard, "debugged", lambda: True)


def masks_ignored(monkeypatch):
    """Fault 5: a masked record counts."""
    for module in (arrays, graphs, matrix_call, cosine):
        monkeypatch.setattr(module, "refuse_masked", lambda _: None)


def warning_after_the_debit(monkeypatch):
    """Fault 11, for what is released: the call warns of it."""
    shrink = covariance.shrink_psd_trace

    def warned(*args, **kwargs):
        warnings.warn("the private mean square of a record's length is that of max_norm", stacklevel=2)
        return shrink(*args, **kwargs)

    monkeypatch.setattr(covariance, "shrink_psd_trace", warned)


def errors_as_they_come(monkeypatch):
    """A library's error, with its text, leaves the call."""

    def read(X, shape):
        return np.array(X, dtype=float).reshape(shape)

    for module in (arrays, covariance):
        monkeypatch.setattr(module, "read_array", read)
    monkeypatch.setattr(guard, "leaving", lambda error, **_: error)


NUMBERS = ("private_covariance, adjacency=replace", "private_cosine_similarities", "perturb_and_project",
           "private_symmetric_matrix, mechanism=wishart-difference", "private_linear_queries, mechanism=auto",
           "sklearn PrivatePCA")  # fmt: skip
MATRICES = ("private_projector, rank=auto", "private_degrees, mechanism=laplace", "sklearn PrivateCommunities")
#: A fault, what a fault of it looks like, and the doors at which each has to be found.
PLANTED = (
    (validated_by_scikit_learn, "the outcome", ("sklearn PrivatePCA", "sklearn PrivatePCA, 1-d")),
    (types_found_in_the_entries, "the outcome", NUMBERS),
    (records_read_without_care, "foreign", ("private_marginals, k=2, adjacency=replace",)),
    (warnings_and_flags_as_they_come, "flags", ("long records", "private_covariance, adjacency=replace")),
    (masks_ignored, "not refused", (*NUMBERS, *MATRICES, "private_marginals, k=2, adjacency=replace")),
    (errors_as_they_come, "secret", ("private_covariance, adjacency=replace",)),
)


def found_at(label):
    """All faults at one door, those of masks first, as they are looked for."""
    door = next(door for door in DOORS if door.label == label)
    for worlds in sorted(door.worlds(), key=lambda worlds: not worlds.refused):
        yield from door.faults(worlds, *door.look(worlds))


@pytest.mark.parametrize(
    ("plant", "looks", "label"),
    [pytest.param(p, looks, label, id=f"{p.__name__}, {label}") for p, looks, labels in PLANTED for label in labels],
)
def test_a_fault_that_was_there_is_found_when_it_is_put_back(plant, looks, label, monkeypatch):
    plant(monkeypatch)
    assert any(looks in fault for fault in found_at(label))


def test_a_warning_after_the_debit_is_found_and_loses_nothing_behind_the_guard(monkeypatch):
    door = next(door for door in DOORS if door.label == "long records")
    worlds = next(door.worlds())
    warning_after_the_debit(monkeypatch)
    for action in ("always", "error"):
        assert door.seen(worlds.ordinary, worlds.public, action).outcome == "answered"
    assert door.faults(worlds, *door.look(worlds)) == []
    with monkeypatch.context() as patch:
        warnings_and_flags_as_they_come(patch)
        assert door.seen(worlds.ordinary, worlds.public, "error").outcome != "answered"
        assert [fault for fault in door.faults(worlds, *door.look(worlds)) if "warned" in fault]


def test_no_paid_result_is_lost_where_warnings_are_errors():
    lost = []
    for door in DOORS[::3]:
        worlds = next(door.worlds())
        usual, strict = (door.seen(worlds.ordinary, worlds.public, action) for action in ("always", "error"))
        if dataclasses.replace(usual, warned=()) != dataclasses.replace(strict, warned=()):
            lost.append((door.label, worlds.label, strict.outcome, strict.message))
    assert lost == []


def noisy_call(before, after):
    """A private function that warns before its debit, after it, and on a thread."""

    @private_function
    def call():
        warnings.warn(before, stacklevel=1)
        open_call(epsilon=1.0, accountant=None, relation=Edge(), noise=0)
        warnings.warn(after, stacklevel=1)
        on_thread(lambda message, stop: warnings.warn(message, stacklevel=1), after)
        return float(np.float64(1e308) * np.float64(10.0)), np.geterr()

    return call


def test_warnings_are_shown_before_the_debit_and_kept_after_it_and_the_filters_are_as_they_were():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        value, state = noisy_call("public", "private")()
        assert warnings.filters == filters
    assert [str(one.message) for one in shown] == ["public"]
    assert (value, set(state.values())) == (np.inf, {"ignore"})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_calls_even_if_another_thread_held_the_lock():
    status = []

    def fork():
        if (child := os.fork()) == 0:
            dpgraph.private_covariance(np.eye(3), epsilon=1.0)
            os._exit(7)
        status.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    with guard._SILENCE._lock:
        thread = threading.Thread(target=fork, daemon=True)
        thread.start()
        thread.join(30)
    assert status == [7]


def test_with_debugging_everything_is_as_python_has_it(monkeypatch):
    monkeypatch.setenv("DPGRAPH_DEBUG", "1")
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        noisy_call("public", "private")()
    assert [str(one.message) for one in shown][:3] == ["public", "private", "private"]
    assert "overflow" in str(shown[3].message)


def test_an_error_before_the_debit_says_nothing_of_a_budget_and_one_after_it_does():
    with pytest.raises(InvalidParameterError) as early:
        dpgraph.private_covariance(np.zeros((2, 2)), epsilon=-1.0)
    with pytest.raises(InvalidParameterError) as late:
        dpgraph.private_covariance([[1.0, None]], epsilon=1.0)
    assert "spent" not in str(early.value)
    assert "The budget of this call is spent: epsilon = " in str(late.value)
    assert late.value.__context__ is None
