"""``python -m tests.privacy.attack --seconds N``: attack everything, and print the table of results.

It is committed as ``benchmarks/results/audit_attack.md``.

The processor time is shared by all targets; ``--only`` chooses targets by a regular expression, ``--seed`` another
search. The exit status is 1 if a ratio is above 1.
"""

import argparse
import re
import sys

import numba
import pytest

from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.search import Attack
from tests.privacy.attack.suite import HEADER, attack_all, names


def main() -> int:
    """Print the table, then what is broken, then how many trials a second each search ran."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=400.0, help="processor time of all searches together")
    parser.add_argument("--only", default="", help="regular expression for the names of targets")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    numba.set_num_threads(1)
    chosen = [name for name in names() if re.search(options.only, name)]
    found: list[Attack] = []
    with pytest.MonkeyPatch.context() as patch:
        open_taps(patch)
        print(HEADER)
        for attack in attack_all(chosen, seconds=options.seconds, seed=options.seed):
            print("\n".join(attack.rows()), flush=True)
            found.append(attack)
    print("\nBroken:")
    for attack in found:
        for line, best in attack.broken().items():
            trial, seconds = best.first or (0, 0.0)
            print(f"  {attack.target.name}, {line}: {best.ratio:.9g} (first above 1 in trial {trial}, {seconds:.1f} s)")
            print(f"    {attack.target.describe(best.genome)} {best.remark}")
    print("\nTrials:")
    for attack in found:
        pace = attack.trials / max(attack.seconds, 1e-9)
        print(f"  {attack.target.name}: {attack.trials} ({pace:.0f} a second) {dict(attack.statuses)}")
        for crash, count in attack.crashes.most_common(3):
            print(f"    {count} x {crash}")
    return int(any(attack.broken() for attack in found))


if __name__ == "__main__":
    sys.exit(main())
