"""Statistical audit: what many runs on the worst known neighbours say about the privacy loss.

The statistic of a run is the log-likelihood ratio of its transcript (every noisy release, not only the result),
computed from the exact values that a replay on the neighbour reveals. Who sees only the result cannot do better, so
the audit is at least as strong as one from outputs.

``python -m tests.privacy.statistical`` audits every entry of the registry and writes benchmarks/results/audit.md, a row
as soon as it is known; ``--only`` audits the entries whose label matches, and leaves the other rows alone.
"""

import argparse
import itertools
import re
import time
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import pytest

from dpgraph.privacy.accounting import gdp_epsilon
from tests.privacy.audit import epsilon_lower_bound, mu_lower_bound
from tests.privacy.inputs import Data
from tests.privacy.registry import ENTRIES, Entry
from tests.privacy.replay import (
    RecordingSource,
    Release,
    larger_trace,
    last_hull,
    observe,
    open_doors,
    query_norms,
    replay,
)

PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "audit.md"


@dataclass(frozen=True)
class Finding:
    """Outcome of the audit of one entry."""

    label: str
    #: Share of the budget that the worst known pair can lose, by replay.
    share: float
    #: Promised parameter (mu, or epsilon where no mu is promised) and the lower bound found at 99 % confidence.
    promised: float
    found: float
    epsilon_found: float
    #: Runs on either side.
    runs: int

    @property
    def row(self) -> str:
        numbers = f"{self.runs} | {self.share:.2f} | {self.promised:.3f} | {self.found:.3f} | {self.epsilon_found:.2f}"
        return f"| {self.label} | {numbers} |"


def worst_pair(entry: Entry, epsilon: float, *, largest: int = 60) -> tuple[float, Data, Data]:
    """Among the neighbours of an entry, the pair whose replay loses the largest share of the budget."""
    best: tuple[float, Data, Data] | None = None
    for number, (_, data, neighbour) in enumerate(entry.pairs):
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


def statistics(
    entry: Entry, here: Data, there: Data, runs: int, seed: int, epsilon: float, seconds: float = np.inf
) -> np.ndarray:
    """Log-likelihood ratios "there against here" of runs on `here`; fewer runs when the time is over."""
    found, start = [], time.process_time()
    while len(found) < runs and (time.process_time() - start < seconds or len(found) < 100):
        found.append(_statistic(entry, here, there, seed + len(found), epsilon))
    return np.array(found)


def _statistic(entry: Entry, here: Data, there: Data, seed: int, epsilon: float) -> float:
    original = RecordingSource(seed)
    observe(lambda rng: entry.call(here, rng=rng, epsilon=epsilon), original)
    copy = RecordingSource(seed, replayed=original)
    observe(lambda rng: entry.call(there, rng=rng, epsilon=epsilon), copy)
    pairs = list(zip(original.releases, copy.releases, strict=True))
    alone = sum(evidence(mine, theirs.exact) for mine, theirs in pairs if mine.rows is None)
    return alone + query_evidence([pair for pair in pairs if pair[0].rows is not None])


def query_evidence(pairs: list[tuple[Release, Release]]) -> float:
    """Log-likelihood ratio of all queries whose noise was drawn together, by row."""
    releases = [mine for mine, _ in pairs]
    here = query_norms(releases, [mine.output - mine.exact for mine in releases])
    there = query_norms(releases, [mine.output - theirs.exact for mine, theirs in pairs])
    return sum(here[row] - there[row] for row in here) / releases[0].scale if pairs else 0.0


def evidence(release: Release, there: np.ndarray) -> float:
    """Log-likelihood ratio of one release, "its exact value was `there`" against the truth.

    Exact for the laws with a closed density. An eigenspace, a Wishart difference, randomised bits and a best cut are
    measured by the same expressions, or like them, which grow with the ratio; an audit may use any statistic.
    """
    here, output = release.exact, release.output
    if release.kind == "noisy maximum":
        first, second = (log_choice(scores / release.scale, output) for scores in (here, there))
        return float(np.sum(second - first))
    if release.kind == "permute and flip":
        return float(there[output] - here[output]) / release.scale
    if output.shape != here.shape:  # a basis Q stands for the projector QQ'
        output = output @ output.T
    if release.kind == "Laplace":
        return float(np.sum(np.abs(output - here) - np.abs(output - there))) / release.scale
    if release.kind == "ladder":  # up to the normaliser, which is the same in all runs
        return float(here - there) / release.scale
    if release.kind == "Cauchy":  # logarithms of probabilities
        return float(there - here) / release.scale
    if release.kind == "K-norm":
        hull = last_hull()
        return (hull.norm(output - here) - hull.norm(output - there)) / release.scale
    if "larger trace" in release.kind:
        return (larger_trace(output - here) - larger_trace(output - there)) / release.scale
    if "wishart" in release.kind or "nuclear" in release.kind:
        norms = [np.linalg.norm(output - exact, "nuc") for exact in (here, there)]
        return float(norms[0] - norms[1]) / release.scale
    return float(np.sum((output - (here + there) / 2) * (there - here))) / release.scale**2


def log_choice(scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Log-probability that column ``chosen[i]`` of row i has the largest sum of score and standard exponential noise.

    Column a accepts with probability p_a = exp(score_a - max), and wins if it comes before all others that accept, in
    random order: p_a times the sum over sets S of other columns of (-1)^|S| / (|S| + 1) prod_S p.
    """
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows, q = np.arange(len(p)), p.shape[1]
    others = np.array([[b for b in range(q) if b != a] for a in range(q)], dtype=np.int64)[chosen]
    wins = np.zeros(len(p))
    for size in range(q):
        for positions in itertools.combinations(range(q - 1), size):
            wins += (-1) ** size / (size + 1) * np.prod(p[rows[:, None], others[:, list(positions)]], axis=1)
    return np.log(p[rows, chosen]) + np.log(wins)


def audit(entry: Entry, runs: int, *, seed: int = 0, seconds: float = np.inf) -> Finding:
    """Lower bound on the loss of one entry from `runs` runs on either input, or as many as the time allows."""
    epsilon = entry.epsilon
    share, data, neighbour = worst_pair(entry, epsilon)
    first = statistics(entry, data, neighbour, runs, seed, epsilon, seconds / 2)
    second = -statistics(entry, neighbour, data, len(first), seed + runs, epsilon)
    outcome = observe(lambda rng: entry.call(data, rng=rng, epsilon=epsilon), RecordingSource(seed))
    report = outcome[3] if isinstance(outcome, tuple) else outcome.privacy
    if report.mu is None or any(entry.epsilon and not entry.mu for entry in report.entries):
        # Pure, or Laplace noise beside Gaussian noise: (epsilon, delta) is promised, and no mu.
        found = epsilon_lower_bound(first, second, delta=report.delta)
        return Finding(entry.label, share, epsilon, found, found, len(first))
    found = mu_lower_bound(first, second)
    return Finding(entry.label, share, report.mu, found, gdp_epsilon(found, 1e-6), len(first))


HEADER = """\
| function | runs | share of the budget on the worst pair | promised mu (or epsilon) | found | epsilon found |
| --- | --- | --- | --- | --- | --- |"""


def documented_rows() -> dict[str, str]:
    """Label -> row of the table in benchmarks/results/audit.md."""
    rows = re.findall(r"^\| (.+?) \| \d+ \|.*\|$", PAGE.read_text(), flags=re.MULTILINE)
    lines = [line for line in PAGE.read_text().splitlines() if re.match(r"\| .+? \| \d+ \|", line)]
    return dict(zip(rows, lines, strict=True))


def write(finding: Finding) -> None:
    """Replace one row of benchmarks/results/audit.md; rows of entries that no longer exist go."""
    rows = documented_rows() | {finding.label: finding.row}
    text = PAGE.read_text()
    table = "\n".join([HEADER, *(rows[entry.label] for entry in ENTRIES if entry.label in rows)])
    PAGE.write_text(text[: text.index("| function | runs")] + table + "\n")


def main() -> None:
    """Audit everything that was asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=100.0, help="processor time of one entry; at least 100 runs")
    parser.add_argument("--only", default="", help="regular expression for the labels")
    options = parser.parse_args()
    numba.set_num_threads(1)  # the graphs are tiny
    with pytest.MonkeyPatch.context() as patch:
        open_doors(patch)
        for entry in ENTRIES:
            if re.search(options.only, entry.label):
                finding = audit(entry, options.runs, seconds=options.seconds)
                print(finding.row, flush=True)
                write(finding)


if __name__ == "__main__":
    main()
