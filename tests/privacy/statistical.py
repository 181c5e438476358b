"""Statistical audit: what many runs on the worst known neighbours say about the privacy loss.

The statistic of a run is the log-likelihood ratio of its transcript (every noisy release, not only the result),
computed from the exact values that a replay on the neighbour reveals. Who sees only the result cannot do better, so
the audit is at least as strong as one from outputs.

``python -m tests.privacy.statistical 4000`` audits every entry of the registry and prints the table of docs/audit.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numba
import numpy as np
import pytest

from dpgraph.privacy.accounting import gdp_epsilon
from dpgraph.privacy.audit import epsilon_lower_bound, mu_lower_bound
from tests.privacy.registry import ENTRIES, Data, Entry
from tests.privacy.replay import RecordingSource, observe, open_doors, replay

#: Large enough for an effect in a few hundred runs, small enough that half the noise shows.
EPSILON = 8.0


@dataclass(frozen=True)
class Finding:
    """Outcome of the audit of one entry."""

    label: str
    #: Share of the budget that the worst known pair can lose, by replay.
    share: float
    #: Promised parameter (mu, or epsilon for a pure mechanism) and the lower bound found at 99 % confidence.
    promised: float
    found: float
    epsilon_found: float


def worst_pair(entry: Entry, epsilon: float = EPSILON, *, largest: int = 40) -> tuple[float, Data, Data]:
    """Among the neighbours of an entry, the pair whose replay loses the largest share of the budget."""
    best: tuple[float, Data, Data] | None = None
    for number, (_, data, neighbour) in enumerate(entry.neighbours()):
        if number >= largest:
            break
        loss = replay(
            lambda rng, d=data: entry.call(d, rng=rng, epsilon=epsilon),
            lambda rng, d=neighbour: entry.call(d, rng=rng, epsilon=epsilon),
            seed=number,
        )
        if best is None or loss.share > best[0]:
            best = (loss.share, data, neighbour)
    assert best is not None
    return best


def statistics(entry: Entry, here: Data, there: Data, runs: int, seed: int, epsilon: float) -> np.ndarray:
    """Linear log-likelihood ratios "there against here" of runs on `here`."""
    return np.array([_statistic(entry, here, there, seed + k, epsilon) for k in range(runs)])


def _statistic(entry: Entry, here: Data, there: Data, seed: int, epsilon: float) -> float:
    original = RecordingSource(seed)
    observe(lambda rng: entry.call(here, rng=rng, epsilon=epsilon), original)
    copy = RecordingSource(seed, replayed=original)
    observe(lambda rng: entry.call(there, rng=rng, epsilon=epsilon), copy)
    total = 0.0
    for mine, theirs in zip(original.releases, copy.releases, strict=True):
        output = mine.output if mine.output.shape == mine.exact.shape else mine.output @ mine.output.T
        change = theirs.exact - mine.exact
        total += float(np.sum((output - (mine.exact + theirs.exact) / 2) * change)) / mine.scale**2
    return total


def audit(entry: Entry, runs: int, *, epsilon: float = EPSILON, seed: int = 0) -> Finding:
    """Lower bound on the loss of one entry from `runs` runs on either input."""
    share, data, neighbour = worst_pair(entry, epsilon)
    first = statistics(entry, data, neighbour, runs, seed, epsilon)
    second = -statistics(entry, neighbour, data, runs, seed + runs, epsilon)
    outcome = observe(lambda rng: entry.call(data, rng=rng, epsilon=epsilon), RecordingSource(seed))
    promised = (outcome[3] if isinstance(outcome, tuple) else outcome.privacy).mu
    if promised is None:  # a pure mechanism
        found = epsilon_lower_bound(first, second)
        return Finding(entry.label, share, epsilon, found, found)
    found = mu_lower_bound(first, second)
    return Finding(entry.label, share, promised, found, gdp_epsilon(found, 1e-6))


def table(findings: list[Finding]) -> str:
    """Return the Markdown table of docs/audit.md."""
    lines = [
        "| function | share of the budget on the worst pair | promised mu (or epsilon) | found | epsilon found |",
        "| --- | --- | --- | --- | --- |",
    ]
    for f in findings:
        lines.append(f"| {f.label} | {f.share:.2f} | {f.promised:.3f} | {f.found:.3f} | {f.epsilon_found:.2f} |")
    return "\n".join(lines)


def main(runs: int) -> None:
    """Audit everything and print the report."""
    numba.set_num_threads(1)  # the graphs are tiny
    with pytest.MonkeyPatch.context() as patch:
        open_doors(patch)
        findings = []
        for entry in ENTRIES:
            findings.append(audit(entry, runs))
            print(findings[-1], file=sys.stderr, flush=True)
    print(table(findings))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
