"""Replay: run a mechanism on a graph, then on its neighbour while handing it the *same releases*.

Everything a private function shows must be a function of public arguments, public randomness and its noisy releases. So
when the second run gets the recorded releases of the first one in place of its own,

* whatever can be observed (results, errors, the ledger, the number and the scales of releases) must be equal, and
* the l2 (or l1) distance between the exact values of a release must be within the sensitivity of its ledger line, and
  the privacy loss that was realised on this pair, sum (distance/scale)^2, within mu^2.

This needs no statistics: a forgotten endpoint, a degree that was used without noise, an exact value in a result or a
scale that depends on the data shows in one pair of runs, exactly.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import dpgraph
from dpgraph.bounds.k_norm import Hull
from dpgraph.exceptions import DPGraphError
from dpgraph.privacy import call as private_call
from dpgraph.privacy.exact_sampling import flip_exponent
from dpgraph.privacy.grid import Terms
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.matrix_noise import LARGER_TRACE, MatrixLaw
from dpgraph.privacy.noise import NoiseSource, QueryNoise, noise_source
from dpgraph.privacy.report import LedgerEntry, PrivacyReport
from dpgraph.privacy.row_norm import NUMBER, Range, RowNorm, UnitBall
from dpgraph.releases import symmetric as symmetric_release
from dpgraph.releases.eigenspaces import projector as subspace
from dpgraph.releases.records import histogram as histogram_release
from tests.privacy.inputs import residual_neighbours


@dataclasses.dataclass
class Release:
    """One noisy release: the exact value that nobody may see, the scale of the noise, and what came out."""

    kind: str
    exact: np.ndarray
    scale: float
    output: np.ndarray
    line: int = -1
    #: Of a query: its rows, whether it is their first one, and the norm of all queries of a row.
    rows: np.ndarray | None = None
    first: bool = False
    norm: RowNorm | None = None


class Noise(np.ndarray):
    """Noise that may only be added, once, to an exact value: the sum is a release."""

    source: RecordingSource
    scale: float
    kind: str

    def __array_finalize__(self, parent: Any) -> None:
        self.source = getattr(parent, "source", None)  # type: ignore[assignment]
        self.scale = getattr(parent, "scale", math.nan)
        self.kind = getattr(parent, "kind", "Gaussian")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is not np.add or method != "__call__" or options:
            raise AssertionError(f"noise went into {ufunc.__name__}: enter this release as a door of the replay")
        exact = inputs[1] if inputs[0] is self else inputs[0]
        return self.source.release(self.kind, exact, self.scale, np.asarray(exact) + self.view(np.ndarray))

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise AssertionError(f"noise went into {function.__name__}: enter this release as a door of the replay")


class RecordingSource(NoiseSource):
    """Seeded noise that records releases, or hands out those of an earlier run."""

    def __init__(self, seed: int, replayed: RecordingSource | None = None) -> None:
        super().__init__(np.random.default_rng(seed))
        self.releases: list[Release] = []
        self.lines: list[LedgerEntry] = []
        self._replayed = replayed
        self._inside = False  # inside a primitive or a door: its own draws are not releases

    def release(self, kind: str, exact: Any, scale: float, output: np.ndarray, **query: Any) -> np.ndarray:
        number = len(self.releases)
        if self._replayed is not None:
            if number >= len(self._replayed.releases):
                raise AssertionError("the neighbour makes more releases")
            output = self._replayed.releases[number].output
        exact = np.array(exact, dtype=np.float64)
        line = self._line_of(kind, scale)
        self.releases.append(Release(kind, exact, float(scale), np.array(output), line, **query))
        return np.array(output)

    def _line_of(self, kind: str, scale: float) -> int:
        # Symmetric noise is an isotropic Gaussian in the Frobenius inner product, so a Gaussian line may use it.
        for number in reversed(range(len(self.lines))):
            law = self.lines[number].mechanism.lower()
            if self.lines[number].scale == scale and (kind.lower() in law or law in kind.lower()):
                return number
        raise AssertionError(f"a {kind} release of scale {scale} has no line in the ledger: {self.lines}")

    def door(self, kind: str, exact: Any, scale: float, primitive: Callable[[], np.ndarray]) -> np.ndarray:
        """Release by a primitive whose own draws are internal."""
        output, inside = self._internally(primitive)
        return output if inside else self.release(kind, exact, scale, output)

    def noise_from(self, kind: str, scale: float, primitive: Callable[[], np.ndarray]) -> np.ndarray:
        """Noise that still has to be added to an exact value."""
        draws, inside = self._internally(primitive)
        if inside:
            return draws
        token = draws.view(Noise)
        token.source, token.scale, token.kind = self, scale, kind
        return token

    def _internally(self, primitive: Callable[[], np.ndarray]) -> tuple[np.ndarray, bool]:
        """What it draws, and whether it is a part of another primitive or door."""
        outer, self._inside = self._inside, True
        try:
            return primitive(), outer
        finally:
            self._inside = outer

    def gaussian(self, shape: Any, scale: float) -> np.ndarray:
        primitive = super().gaussian
        return self.noise_from("Gaussian", scale, lambda: primitive(shape, scale))

    def symmetric_gaussian(self, n: int, scale: float) -> np.ndarray:
        primitive = super().symmetric_gaussian
        return self.noise_from("symmetric Gaussian", scale, lambda: primitive(n, scale))

    def gaussian_on_grid(self, values: np.ndarray, unit: float, scale: float) -> np.ndarray:
        primitive = super().gaussian_on_grid
        return self.door("Gaussian", values, scale, lambda: primitive(values, unit, scale))

    def laplace_on_grid(self, values: np.ndarray, unit: float, scale: float) -> np.ndarray:
        primitive = super().laplace_on_grid
        return self.door("Laplace", exact_sum(values), scale, lambda: primitive(values, unit, scale))

    def queries(self, shape: Any, rows: np.ndarray, norm: Any, unit: float, scale: float) -> RecordedQueries:
        return RecordedQueries(self, super().queries(shape, rows, norm, unit, scale))

    def noisy_argmax(self, scores: np.ndarray, unit: float, scale: float, *, public: Any = None) -> np.ndarray:
        primitive = super().noisy_argmax
        rounded = np.rint(scores / unit) * unit  # what a neighbour moves is what gets noise
        exact = rounded if public is None else rounded + np.rint(public / unit) * unit
        return self.door("noisy maximum", exact, scale, lambda: primitive(scores, unit, scale, public=public))

    def scalars(self, values: Terms, unit: float, scale: float) -> np.ndarray:
        primitive = super().scalars
        on_grid = np.rint(np.atleast_1d(exact_sum(values)) / unit) * unit
        return self.door("discrete Gaussian", on_grid, scale, lambda: primitive(values, unit, scale))

    def flipped_pairs(self, pairs: np.ndarray, shares: np.ndarray, count: int, exponent: int) -> np.ndarray:
        assert exponent >= flip_exponent(1 / self.lines[-1].scale), "fewer answers are false than the ledger says"
        return self.answers(pairs, shares, count, exponent)

    def answers(self, pairs: np.ndarray, shares: np.ndarray, count: int, exponent: int) -> np.ndarray:
        """Randomised response, whatever the exponent is."""
        exact, answers, apart = np.zeros(count), np.zeros(count), self._apart()
        exact[pairs] = shares

        def primitive() -> np.ndarray:
            answers[apart.flipped_pairs(pairs, shares, count, exponent)] = 1.0
            return answers

        return np.flatnonzero(self.door("randomized response", exact, self.lines[-1].scale, primitive))

    def noisy_best(self, scores: np.ndarray, epsilon: float) -> int:
        line, apart = self.lines[-1], self._apart()
        assert epsilon * line.scale <= line.sensitivity * (1 + 1e-12), "the best is drawn more sharply than allowed"
        exact = scores * 2.0**-20 * line.sensitivity
        return int(
            self.door("permute and flip", exact, line.scale, lambda: np.array(apart.noisy_best(scores, epsilon)))
        )

    def on_ladder(self, count: int, widths: Sequence[int], exponent: int) -> int:
        """What a neighbour may move is the rung that the output is on."""
        apart, line = self._apart(), self.lines[-1]
        assert exponent / 2.0**40 * line.scale <= 1 + 1e-12, "rungs fall off faster than the ledger says"
        output = self._next_output(lambda: apart.on_ladder(count, widths, exponent))
        return int(self.release("ladder", float(rung_of(abs(output - count), widths)), line.scale, np.array(output)))

    def cauchy(self, count: int, scale: int, bits: int) -> int:
        """What a neighbour may move is the logarithm of the probability of the output."""
        apart, line = self._apart(), self.lines[-1]
        output = self._next_output(lambda: apart.cauchy(count, scale, bits))
        s = scale / 2**bits
        log_probability = math.log(s / math.pi * math.tanh(math.pi * s)) - math.log(s * s + (output - count) ** 2)
        return int(self.release("Cauchy", log_probability * line.scale, line.scale, np.array(output)))

    def _next_output(self, primitive: Callable[[], int]) -> int:
        """What comes out next: of this run, or of the one that is replayed."""
        drawn, number = primitive(), len(self.releases)
        if self._replayed is None or number >= len(self._replayed.releases):
            return drawn
        return int(self._replayed.releases[number].output)

    def _apart(self) -> NoiseSource:
        """For a primitive that draws more or less for other data: what is drawn here afterwards must not shift."""
        return NoiseSource(np.random.default_rng(self.generator.integers(2**63, size=4)))


@dataclasses.dataclass
class RecordedQueries:
    """Queries with noise that is drawn together, each of which is a release."""

    source: RecordingSource
    noise: QueryNoise
    seen: set[int] = dataclasses.field(default_factory=set)

    def expect(self, blocks: Sequence[np.ndarray]) -> None:
        self.noise.expect(blocks)

    def read(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        output = self.noise.read(rows, values)
        query = {"rows": np.array(rows), "first": self.seen.isdisjoint(rows.tolist()), "norm": self.noise.norm}
        self.seen.update(rows.tolist())
        return self.source.release("K-norm", values, self.noise.scale, output, **query)


def rung_of(distance: int, widths: Sequence[int]) -> int:
    """The rung of an integer at this distance from the count: rung k has sum_j c_j C(k - 1, j) integers a side."""
    end = k = 0
    while end < distance:
        end += sum(width * math.comb(k, j) for j, width in enumerate(widths))
        k += 1
    return k


def exact_sum(values: Terms) -> np.ndarray:
    """What a release of one array, or of the sum of several, is about."""
    return sum(values) if isinstance(values, tuple) else values


def query_norms(releases: list[Release], changes: list[np.ndarray]) -> dict[int, float]:
    """Row -> norm of the changes of all its queries, by the formula of the theorem: of each number, or of the row."""
    if not releases:
        return {}
    norm = releases[0].norm
    rows = np.unique(np.concatenate([release.rows for release in releases]))
    together = norm.ball != NUMBER
    largest = np.zeros((rows.size, 1 if together else changes[0].shape[1]))
    for release, change in zip(releases, changes, strict=True):
        place = np.searchsorted(rows, release.rows)
        sizes = size_of_rows(norm.ball, change)[:, None] if together else np.abs(change)
        largest[place] = np.maximum(largest[place], sizes)
    return dict(zip(rows.tolist(), largest.sum(axis=1).tolist(), strict=True))


def size_of_rows(ball: UnitBall, rows: np.ndarray) -> np.ndarray:
    """Norm of each row, once more: a sum of absolute values, around a median with shifts, or a range."""
    if isinstance(ball, Range):
        return np.asarray(rows.max(axis=1) - rows.min(axis=1))
    ranked = np.sort(rows, axis=1)
    if not ball.shifts:
        return np.asarray(np.abs(ranked).sum(axis=1))
    half = ball.columns // 2
    return np.asarray(ranked[:, -half:].sum(axis=1) - ranked[:, :half].sum(axis=1))


#: The source whose call is running; ledger lines are reported to it.
_running: list[RecordingSource] = []


def running_source(rng: Any) -> NoiseSource:
    """Stand in for noise_source: a call without a seed inside a replay draws from the source of the replay.

    Functions of networkx have no argument by which a source could reach them.
    """
    return _running[-1] if rng is None and _running else noise_source(rng)


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open all doors for one test."""
    open_doors(monkeypatch)


def open_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let recording sources see the lines of ledgers and the releases that are made outside NoiseSource."""
    record = Ledger._record

    def record_line(self: Ledger, entry: LedgerEntry) -> None:
        record(self, entry)
        if _running:
            whole = self._whole or self  # whose report has the line as it is for persons
            _running[-1].lines.append(whole._for_a_person(self.entries[-1]))

    sample = subspace.sample_noisy_eigenspace

    def sample_projector(U: np.ndarray, scale: float, noise: NoiseSource) -> np.ndarray:
        if not isinstance(noise, RecordingSource):
            return sample(U, scale, noise)
        return noise.door("symmetric Gaussian", U @ U.T, scale, lambda: sample(U, scale, noise))

    round_and_add = private_call.add_on_grid

    def add_on_grid(values: np.ndarray, noise: np.ndarray, unit: float) -> np.ndarray:
        output = round_and_add(values, noise.view(np.ndarray), unit)
        if not isinstance(noise, Noise):
            return output
        return noise.source.release(noise.kind, exact_sum(values), noise.scale, output)

    def matrix_noise(method: str, kind: str) -> None:
        draw = getattr(MatrixLaw, method)

        def wrapped(laws: MatrixLaw, noise: NoiseSource, d: int, scale: float) -> np.ndarray:
            if not isinstance(noise, RecordingSource):
                return draw(laws, noise, d, scale)
            norm = ", larger trace" if laws is LARGER_TRACE else ""
            return noise.noise_from(kind + norm, scale, lambda: draw(laws, noise, d, scale))

        monkeypatch.setattr(MatrixLaw, method, wrapped)

    draw_k_norm = histogram_release.k_norm_noise

    def k_norm_noise(noise: NoiseSource, hull: Hull, scale: float) -> np.ndarray:
        if not isinstance(noise, RecordingSource):
            return draw_k_norm(noise, hull, scale)
        _hulls.append(hull)
        return noise.noise_from("K-norm", scale, lambda: draw_k_norm(noise, hull, scale))

    monkeypatch.setattr(histogram_release, "k_norm_noise", k_norm_noise)
    monkeypatch.setattr(histogram_release, "add_on_grid", add_on_grid)
    for module in [
        m for name, m in list(sys.modules.items()) if name.startswith("dpgraph.") and hasattr(m, "noise_source")
    ]:
        monkeypatch.setattr(module, "noise_source", running_source)
    monkeypatch.setattr(Ledger, "_record", record_line)
    monkeypatch.setattr(subspace, "sample_noisy_eigenspace", sample_projector)
    monkeypatch.setattr(private_call, "add_on_grid", add_on_grid)
    monkeypatch.setattr(symmetric_release, "add_on_grid", add_on_grid)
    matrix_noise("difference", "wishart-difference")
    matrix_noise("laplace", "nuclear-laplace")
    matrix_noise("laplace_markov", "nuclear-laplace")


def observe(call: Callable[[RecordingSource], Any], source: RecordingSource) -> Any:
    """Return the result, or the error as data: both are outputs."""
    _running.append(source)
    try:
        return call(source)
    except DPGraphError as error:
        return type(error).__name__, str(error), getattr(error, "stage", None), getattr(error, "privacy", None)
    finally:
        _running.pop()


@dataclasses.dataclass(frozen=True)
class Loss:
    """What a pair of replayed runs has shown."""

    #: Realised share of the budget: mu/mu_total, or epsilon/epsilon_total for a pure call.
    share: float
    #: Largest (distance)/(sensitivity) of each ledger line.
    lines: dict[str, float]
    #: The kind of pairs whose ledger lines have moved, if the ledger has disjoint lines.
    read: str
    halted: bool


@dataclasses.dataclass(frozen=True)
class Recording:
    """One run, whose releases any number of neighbours may get in place of their own."""

    source: RecordingSource
    outcome: Any
    seed: int

    def replay(self, call: Callable[[RecordingSource], Any]) -> Loss:
        """Run `call` with the recorded releases, and compare everything."""
        original, copy = self.source, RecordingSource(self.seed, replayed=self.source)
        assert_same(self.outcome, observe(call, copy))
        assert original.lines == copy.lines, "the ledgers differ"
        assert len(original.releases) == len(copy.releases), "the neighbour makes fewer releases"
        halted = isinstance(self.outcome, tuple)
        report = self.outcome[3] if halted and len(self.outcome) == 4 else self.outcome.privacy
        return realised_loss(original, copy, report, halted=halted)


def record(call: Callable[[RecordingSource], Any], seed: int) -> Recording:
    """Run `call`, and keep its releases."""
    source = RecordingSource(seed)
    return Recording(source, observe(call, source), seed)


def replay(first: Callable[[RecordingSource], Any], second: Callable[[RecordingSource], Any], seed: int) -> Loss:
    """Run `first`, replay its releases to `second`, and compare everything; raises AssertionError on any difference."""
    return record(first, seed).replay(second)


def realised_loss(original: RecordingSource, copy: RecordingSource, report: PrivacyReport | None, halted: bool) -> Loss:
    assert report is not None
    moved: list[list[float]] = [[] for _ in original.lines]
    together: dict[int, list[Release]] = {}
    for mine, theirs in zip(original.releases, copy.releases, strict=True):
        assert (mine.kind, mine.scale, mine.line) == (theirs.kind, theirs.scale, theirs.line), "releases differ"
        if mine.rows is None:
            moved[mine.line].append(distance_of(original.lines[mine.line].mechanism, mine.exact - theirs.exact))
        else:
            assert np.array_equal(mine.rows, theirs.rows), "other rows are read"
            together.setdefault(mine.line, []).append(dataclasses.replace(mine, exact=mine.exact - theirs.exact))
    for line, queries in together.items():
        moved[line].append(math.fsum(query_norms(queries, [query.exact for query in queries]).values()))
    lines, mu_squared, epsilon, read = {}, 0.0, 0.0, set()
    for entry, distances in zip(original.lines, moved, strict=True):
        if entry.mechanism == "good event":
            continue
        # The releases of one line (the blocks of a sweep) add up as the losses of their noise do.
        distance = math.hypot(*distances) if entry.mu else math.fsum(distances)
        lines[entry.name] = distance / entry.sensitivity
        read |= {entry.pairs} if entry.pairs and distance else set()
        assert distance <= entry.sensitivity * (1 + 1e-9), f"{entry.name} moves by {lines[entry.name]:.3f} of its bound"
        if entry.mu:
            assert entry.scale * entry.mu >= entry.sensitivity * (1 - 1e-12), f"{entry.name}: scale below bound/mu"
            mu_squared += (distance / entry.scale) ** 2
        else:
            assert entry.scale * entry.epsilon >= entry.sensitivity * (1 - 1e-12), f"{entry.name}: scale too small"
            epsilon += distance / entry.scale
    one_pair = "share a vertex" not in report.adjacency
    assert len(read) <= 1 or not one_pair, f"one pair was read by lines that are said to be disjoint: {read}"
    # A pure bit that chose a Gaussian mechanism has the budget of its own line (Ledger.decide).
    pure_budget = math.fsum(entry.epsilon for entry in original.lines if not entry.mu) if report.mu else report.epsilon
    share = max(math.sqrt(mu_squared) / report.mu if report.mu else 0.0, epsilon / pure_budget if epsilon else 0.0)
    assert share <= 1 + 1e-9, f"realised loss is {share:.3f} of the budget"
    return Loss(share, lines, "".join(read), halted)


#: Unit balls of K-norm noise; the last one is that of the calls that are compared.
_hulls: list[Hull] = []


def last_hull() -> Hull:
    """Unit ball of the K-norm noise that was drawn last."""
    return _hulls[-1]


def larger_trace(E: np.ndarray) -> float:
    """max(tr E_+, tr E_-) of a symmetric matrix."""
    return LARGER_TRACE.norm(np.linalg.eigvalsh(E))


def distance_of(mechanism: str, change: np.ndarray) -> float:
    """Size of a change in the norm that the law of the noise protects."""
    if mechanism == "K-norm":
        return last_hull().norm(change)
    if "aussian" in mechanism:
        return float(np.linalg.norm(change))
    if "larger trace" in mechanism:
        return larger_trace(change)
    if "wishart" in mechanism or "nuclear" in mechanism:
        return float(np.linalg.norm(change, "nuc"))
    if "maximum" in mechanism:  # one direction counts once, two directions add up
        return float(np.sum(np.maximum(change.max(axis=1), 0) - np.minimum(change.min(axis=1), 0)))
    if "permute" in mechanism:
        return float(np.abs(change).max())
    return float(np.abs(change).sum())


#: Types whose equal values are the same.
_PLAIN = frozenset({bool, int, float, str, type(None)})


def assert_same(first: Any, second: Any, path: str = "result") -> None:
    """Compare two outcomes bit by bit, whatever they are made of."""
    assert type(first) is type(second), f"{path}: {type(first).__name__} against {type(second).__name__}"
    if dataclasses.is_dataclass(first):
        for field in dataclasses.fields(first):
            assert_same(getattr(first, field.name), getattr(second, field.name), f"{path}.{field.name}")
        assert repr(first) == repr(second), f"{path}: the text forms differ"
    elif sparse.issparse(first):
        assert_same(first.toarray(), second.toarray(), path)
    elif isinstance(first, np.ndarray):
        assert first.shape == second.shape, f"{path}: shapes {first.shape} and {second.shape}"
        assert np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"), f"{path}: arrays differ"
    elif isinstance(first, LinearOperator):
        assert_same(first @ np.eye(first.shape[1]), second @ np.eye(first.shape[1]), path)
    elif isinstance(first, (tuple, list)):
        assert len(first) == len(second), f"{path}: lengths {len(first)} and {len(second)}"
        types = [type(x) for x in first]
        if _PLAIN.issuperset(types) and types == [type(y) for y in second] and first == second:
            return  # thousands of labels at once
        for k, (x, y) in enumerate(zip(first, second, strict=True)):
            assert_same(x, y, f"{path}[{k}]")
    elif isinstance(first, dict):
        assert_same(list(first), list(second), f"{path}: keys")
        assert_same(list(first.values()), list(second.values()), f"{path}: values")
    else:
        assert first == second or (first != first and second != second), f"{path}: {first!r} against {second!r}"


def replayed_residuals() -> Iterator[tuple[str, Loss]]:
    """Label and losses of automatic embeddings that ask how far degrees are from the leading eigenvector."""
    for label, *pair in residual_neighbours():
        calls = (
            lambda rng, G=data.value: dpgraph.private_normalized_adjacency(G, rank=1, epsilon=5.0, rng=rng)
            for data in pair
        )
        yield label, replay(*calls, seed=0)


def replayed_with_other_pairs(call: Callable[..., Any], A: np.ndarray, seeds: range) -> Iterator[Loss]:
    """Losses of calls on A, for every seed on all neighbours that differ in one pair i, i + 1 of even i."""
    for seed in seeds:
        recording = record(lambda rng: call(A, rng=rng), seed)
        for i in range(0, len(A), 2):
            B = A.copy()
            B[i, i + 1] = B[i + 1, i] = 1.0 - A[i, i + 1]
            yield recording.replay(lambda rng, B=B: call(B, rng=rng))


def replayed_communities() -> Iterator[Loss]:
    """Losses of calls with two sweeps of forty rows, of which the first eight read each other before."""
    A = dpgraph.datasets.planted_cut_sparse(40, 30, -0.1, rng=3)[0].toarray()
    asked = {"epsilon": 1.0, "mechanism": "bounded-iterates"}
    return replayed_with_other_pairs(lambda A, rng: dpgraph.private_communities(A, rng=rng, **asked), A, range(6))
