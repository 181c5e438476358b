"""One trial: draw on G, force on G', and compare line by line and by likelihood ratios.

Both worlds run through the public interface. The first draws its noise. The second is handed the releases of the first,
so that every choice that is made from released values is the same; what it would have added noise to is recorded.

A trial gives ratios, each of which must be at most 1:

* for each line of the ledger: (change of what receives noise) / (sensitivity of the line), in the norm of its law;
* ``scale``: (sensitivity of a line) / (what its scale pays for), and (that scale) / (what noise was drawn with);
* ``noise``: distance of drawn noise from the law that its ledger line states, all trials together (:mod:`laws`);
* ``loss``: (privacy loss of all lines together, from the realised changes) / (budget);
* ``likelihood``: |log density of the forced outputs on G minus on G'| / epsilon, for calls that are pure;
* ``delta``: (failure probabilities relied on) / (what the ledger has for them);
* ``support``: infinite if an output of one world is impossible in the other;
* ``outcome``: infinite if anything that is shown differs: result, error, ledger, number of releases.
"""

import dataclasses
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dpgraph.exceptions import InvalidGraphError, NotConvergedError
from tests.privacy.attack.hooks import AttackSource, change_of, response_loss
from tests.privacy.ratios import line_of
from tests.privacy.replay import Release, assert_same, distance_of, observe, query_norms

#: Lines of the ledger that pay for the failures of randomised certificates.
_CERTIFICATE_LINE = re.compile(r"eigen|certificate|lanczos", re.IGNORECASE)
#: Lines about products that are computed in floating point, which receive real noise.
_COMPUTED = re.compile("power iteration|product|core|projector")
#: docs/guarantee.md, "failures that have no budget".
_DOCUMENTED_FAILURES = (NotConvergedError, InvalidGraphError)

Call = Callable[[AttackSource], Any]


@dataclasses.dataclass
class Comparison:
    """Ratios of a trial, what was wrong where one is infinite, and whether the call came to an end."""

    ratios: dict[str, float] = dataclasses.field(default_factory=dict)
    remarks: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Drawn noise, as numbers that are uniform if it has the law of its ledger line.
    uniforms: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    #: "answered", "halted", "refused" (a public parameter), "failed" (documented), "crashed".
    status: str = "answered"

    def add(self, line: str, ratio: float, remark: str = "") -> None:
        """Keep the largest ratio of a line; a number that is no number counts as infinite."""
        ratio = math.inf if math.isnan(ratio) else ratio
        if ratio >= self.ratios.get(line, -1.0):
            self.ratios[line] = ratio
            if remark:
                self.remarks[line] = remark

    @property
    def worst(self) -> float:
        return max(self.ratios.values(), default=0.0)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a world showed."""

    value: Any
    source: AttackSource
    crash: str = ""

    @property
    def report(self) -> Any:
        value = self.value
        return value[3] if isinstance(value, tuple) and len(value) == 4 else getattr(value, "privacy", None)


def run(call: Call, source: AttackSource) -> Outcome:
    """Run one world; errors are outcomes, those that are no errors of the package too."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = observe(call, source)
    except AssertionError as error:  # the replay found what cannot be compared
        return Outcome(None, source, f"AssertionError: {error}")
    except (ArithmeticError, ValueError, TypeError, IndexError, np.linalg.LinAlgError, MemoryError) as error:
        return Outcome(None, source, f"{type(error).__name__}: {error}")
    # What the replay refuses reaches a caller as an internal error, which is a fault in any case.
    internal = isinstance(value, tuple) and str(value[1:2]).startswith("('internal error")
    return Outcome(None, source, f"AssertionError: {value[1]}") if internal else Outcome(value, source)


def compare(first: Call, second: Call, seed: int) -> Comparison:
    """Draw on G, force on G'."""
    original = run(first, AttackSource(seed))
    copy = run(second, AttackSource(seed, replayed=original.source))
    found = Comparison()
    if _failed(original) or _failed(copy):
        found.status = "failed"
        return found
    _compare_outcomes(original, copy, found)
    if original.crash or copy.crash or original.report is None:
        return found
    _compare_releases(original, copy.source, found)
    return found


def _failed(outcome: Outcome) -> bool:
    """Whether a documented failure that has no budget ended the call."""
    value = outcome.value
    if not isinstance(value, tuple) or len(value) != 4 or not isinstance(value[0], str):
        return False
    return value[0] in {error.__name__ for error in _DOCUMENTED_FAILURES}


def _compare_outcomes(original: Outcome, copy: Outcome, found: Comparison) -> None:
    if original.crash or copy.crash:
        found.status = "crashed"
        # What the replay refuses (a release without a line in the ledger, noise that is not just added) is a fault.
        same = original.crash == copy.crash and not original.crash.startswith("AssertionError")
        shown = " | ".join(outcome.crash or "answered" for outcome in (original, copy))
        found.add("outcome", 0.0 if same else math.inf, shown)
        return
    value = original.value
    if isinstance(value, tuple) and len(value) == 4 and isinstance(value[0], str):
        found.status = "refused" if original.report is None else "halted"
    try:
        assert_same(value, copy.value)
        assert original.source.lines == copy.source.lines, "the ledgers differ"
        assert len(original.source.releases) == len(copy.source.releases), "the neighbour makes fewer releases"
    except AssertionError as error:
        found.add("outcome", math.inf, str(error)[:200])
    else:
        found.add("outcome", 0.0)


def _compare_releases(original: Outcome, copy: AttackSource, found: Comparison) -> None:
    source, report = original.source, original.report
    pairs = list(zip(source.releases, copy.releases, strict=False))
    for mine, theirs in pairs:
        alike = (mine.kind, mine.scale, mine.line, mine.exact.shape) == (
            theirs.kind,
            theirs.scale,
            theirs.line,
            theirs.exact.shape,
        )
        if not alike:
            found.add("outcome", math.inf, f"the release of {source.lines[mine.line].name} has another shape or scale")
            return
    if copy.unattainable:
        name = source.lines[copy.releases[copy.unattainable[0]].line].name
        found.add("support", math.inf, f"an output of {name} on G is impossible on G'")
    elif pairs:
        found.add("support", 0.0)
    changes = _changes(source, copy, pairs)
    _judge_lines(source, changes, found)
    _judge_total(source, changes, report, found)
    if report.mu is None and not any(entry.pairs.disjoint for entry in source.lines):
        evidence = math.fsum(_evidence(source, copy, pairs))
        found.add("likelihood", abs(evidence) / report.epsilon)
    _judge_failures(source, report, found)
    _judge_noise(source, found)


def _judge_noise(source: AttackSource, found: Comparison) -> None:
    laws: dict[str, list[np.ndarray]] = {}
    for release, paid, drawn in zip(source.releases, source.drawn_scales, source.uniforms, strict=True):
        entry = source.lines[release.line]
        if release.scale and paid != release.scale:
            found.add(f"scale: {line_of(entry.name)}", release.scale / paid if paid > 0 else math.inf)
        laws.setdefault(release.kind, []).append(drawn)
    found.uniforms = {kind: np.concatenate(parts) for kind, parts in laws.items()}


def _changes(source: AttackSource, copy: AttackSource, pairs: list[tuple[Release, Release]]) -> list[float]:
    """Of each line of the ledger: how far what receives noise has moved, in the norm of the line's law."""
    moved: list[list[float]] = [[] for _ in source.lines]
    together: dict[int, list[Release]] = {}
    for number, (mine, theirs) in enumerate(pairs):
        change = change_of(source, copy, number)
        if mine.rows is not None:
            together.setdefault(mine.line, []).append(dataclasses.replace(mine, exact=change))
        elif mine.kind == "randomized response":  # the sensitivity stands for the epsilon of the line
            entry = source.lines[mine.line]
            moved[mine.line].append(response_loss(mine, theirs) / entry.epsilon * entry.sensitivity)
        else:
            entry = source.lines[mine.line]
            distance = _distance(entry.mechanism, change)
            if _COMPUTED.search(entry.name):
                distance -= _rounding(mine.exact, entry.scale)
            moved[mine.line].append(max(distance, 0.0))
    for line, queries in together.items():
        norms = query_norms(queries, [query.exact for query in queries])
        moved[line].append(math.fsum(norms.values()))
    return [
        (math.hypot(*distances) if entry.mu and not entry.epsilon else math.fsum(distances))
        for entry, distances in zip(source.lines, moved, strict=True)
    ]


def _rounding(exact: np.ndarray, scale: float) -> float:
    """What floating point may do to a computed product that is too large for the allowance of its ledger line.

    ``release_array`` makes an allowance for rounding unless sums are 2**22 over their number of terms noise scales
    large, and says so: beyond, only what exceeds rounding is a fault.
    """
    largest = float(np.abs(exact).max(initial=0.0))
    if largest * len(exact) <= 2.0**22 * scale:
        return 0.0
    return 1e-15 * len(exact) * math.sqrt(exact.size) * largest


def _distance(mechanism: str, change: np.ndarray) -> float:
    """As the replay's, for changes whose squares underflow too."""
    largest = float(np.abs(change).max(initial=0.0))
    if not (0 < largest < math.inf):
        return largest
    return distance_of(mechanism, change / largest) * largest


def _judge_lines(source: AttackSource, changes: list[float], found: Comparison) -> None:
    for entry, distance in zip(source.lines, changes, strict=True):
        if entry.mechanism == "good event":
            continue
        found.add(f"line: {line_of(entry.name)}", distance / entry.sensitivity if distance else 0.0)
        paid = entry.scale * (entry.mu or entry.epsilon)
        # A sampler may cap its precision: then the scale is larger than asked for.
        found.add(f"scale: {line_of(entry.name)}", entry.sensitivity / paid if paid else math.inf)


def _judge_total(source: AttackSource, changes: list[float], report: Any, found: Comparison) -> None:
    mu_squared, pure, budget = 0.0, 0.0, 0.0
    for entry, distance in zip(source.lines, changes, strict=True):
        if entry.mechanism == "good event" or not distance:
            continue
        loss = distance / entry.scale if entry.scale else math.inf
        if entry.mu:
            mu_squared += loss**2
        else:
            pure += loss
    budget = math.fsum(e.epsilon for e in source.lines if not e.mu) if report.mu else report.epsilon
    if report.mu:
        found.add("loss", math.sqrt(mu_squared) / report.mu)
    if pure:
        found.add("loss", pure / budget)
    read = {e.pairs for e, distance in zip(source.lines, changes, strict=True) if e.pairs and distance}
    if len(read) > 1 and "share a vertex" not in report.adjacency:
        found.add("loss", math.inf, f"one pair was read by lines that are said to be disjoint: {sorted(read)}")


def _evidence(source: AttackSource, copy: AttackSource, pairs: list[tuple[Release, Release]]) -> list[float]:
    """Log-likelihood ratios of the forced outputs, exact where the law has a closed density.

    A Wishart difference, a noisy maximum, a best cut and randomised answers enter with the bound of their law.
    """
    total = []
    queries = [(mine, theirs) for mine, theirs in pairs if mine.rows is not None]
    if queries:
        releases = [mine for mine, _ in queries]
        here = query_norms(releases, [mine.output - mine.exact for mine in releases])
        there = query_norms(releases, [mine.output - theirs.exact for mine, theirs in queries])
        total.append(math.fsum(here[row] - there[row] for row in here) / releases[0].scale)
    for number, (mine, theirs) in enumerate(pairs):
        if mine.rows is not None:
            continue
        here, there, output = mine.exact, theirs.exact, mine.output
        if mine.kind == "Laplace":
            # No larger than the change, which is counted in whole steps: the rest is rounding of this difference.
            most = np.abs(change_of(source, copy, number))
            gain = np.clip(np.abs(output - there) - np.abs(output - here), -most, most)
            total.append(float(np.sum(gain)) / mine.scale)
        elif "nuclear" in mine.kind:
            norms = [_distance(source.lines[mine.line].mechanism, output - exact) for exact in (here, there)]
            rounding = 1e-12 * (norms[0] + norms[1])  # a difference of two large norms
            gain = float(norms[1] - norms[0])
            total.append(math.copysign(max(abs(gain) - rounding, 0.0), gain) / mine.scale)
        elif mine.kind == "randomized response":
            total.append(response_loss(mine, theirs))
        else:
            mechanism = source.lines[mine.line].mechanism
            total.append(_distance(mechanism, change_of(source, copy, number)) / mine.scale)
    return total


def _judge_failures(source: AttackSource, report: Any, found: Comparison) -> None:
    """What certificates may fail with must be in lines of the ledger, and all such lines within the slack."""
    used = math.fsum(failure for _, failure in source.failures.values())
    if used:
        has = math.fsum(e.delta_share for e in source.lines if _CERTIFICATE_LINE.search(e.name))
        remark = f"certificates may fail with {used:.1e}, the ledger has {has:.1e}"
        found.add("delta", used / has if has else math.inf, remark)
    spent = math.fsum(entry.delta_share for entry in source.lines)
    if spent:
        found.add("delta", spent / max(report.delta_slack, 1e-320))


__all__ = ["Comparison", "compare", "run"]
