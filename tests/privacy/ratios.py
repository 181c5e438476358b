"""How close every line of every ledger comes to its bound: the table of benchmarks/results/ledger_ratios.md.

``python -m tests.privacy.ratios`` replays the pairs of all entries and prints, for each ledger line, the largest (true
change) / (sensitivity of the line) and the entry that attains it; ``--seconds`` bounds the time of one entry,
``--only`` chooses entries.
"""

import argparse
import re
import time

import numba
import pytest

from tests.privacy.registry import ENTRIES, EPSILON
from tests.privacy.replay import open_doors, replay

#: Halts, a core of some vertices, and every step of every mechanism.
EPSILONS = (1.0, EPSILON, 1e4)


def line_of(name: str) -> str:
    """Sweeps and levels are numbered; their bound is the same."""
    return re.sub(r"\d+", "k", name)


def worst_lines(seconds: float, only: str = "") -> dict[str, tuple[float, str]]:
    """Ledger line -> (largest ratio, label of the entry)."""
    worst: dict[str, tuple[float, str]] = {}
    for entry in (entry for entry in ENTRIES if re.search(only, entry.label)):
        start = time.process_time()
        for number, (_, data, neighbour) in enumerate(entry.pairs):
            for epsilon in {*EPSILONS, entry.epsilon} if time.process_time() - start < seconds else ():
                loss = replay(
                    lambda rng, e=epsilon, d=data, f=entry: f.call(d, rng=rng, epsilon=e),
                    lambda rng, e=epsilon, d=neighbour, f=entry: f.call(d, rng=rng, epsilon=e),
                    seed=number,
                )
                for name, ratio in loss.lines.items():
                    if ratio > worst.get(line_of(name), (-1.0, ""))[0]:
                        worst[line_of(name)] = (ratio, entry.label)
    return worst


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seconds", type=float, default=100.0, help="processor time of one entry")
    parser.add_argument("--only", default="", help="regular expression: entries whose label it is found in")
    arguments = parser.parse_args()
    numba.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        open_doors(patch)
        print("| line of the ledger | worst ratio | attained by |\n| --- | --- | --- |")
        for name, (ratio, label) in sorted(worst_lines(arguments.seconds, arguments.only).items()):
            print(f"| {name} | {ratio:.2f} | {label} |")


if __name__ == "__main__":
    main()
