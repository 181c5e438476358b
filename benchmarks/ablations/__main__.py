"""Ablations of the fitted constants of sweeps, communities, counts, degrees, densest parts, eigenspaces and embeddings.

python -m benchmarks.ablations             # all: results/ablations_sweeps.md
python -m benchmarks.ablations Core        # those whose name begins so; they are replaced in the table
python -m benchmarks.ablations --quick     # two seeds; nothing is written
"""

from __future__ import annotations

import argparse

from benchmarks.ablations import communities, spaces, sweeps
from benchmarks.ablations.harness import HEADER, line
from benchmarks.common import RESULTS, markdown_table

PAGE = RESULTS / "ablations_sweeps.md"
SEEDS = 8


def page() -> tuple[str, dict[tuple[str, str], tuple[str, ...]]]:
    """What stands above the table that is there, and its rows by constant and simplification."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Ablations\n\n"
    above, _, table = text.partition("| constant")
    cells = [tuple(line.strip("| ").split(" | ")) for line in table.splitlines()[2:] if line.startswith("| ")]
    return above, {row[:2]: row for row in cells}


def write(row: tuple[str, ...]) -> None:
    """Put a row into the table; what is above the table stays."""
    above, rows = page()
    rows[row[:2]] = row
    PAGE.write_text(above + markdown_table(HEADER, sorted(rows.values())), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of names, such as Core or OneSided.head")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--quick", action="store_true", help="two seeds; nothing is written")
    asked = parser.parse_args()
    for ablation in (*sweeps.ABLATIONS, *communities.ABLATIONS, *spaces.ABLATIONS):
        if not asked.names or ablation.constant.startswith(tuple(asked.names)):
            row = line(ablation, range(2 if asked.quick else asked.seeds))
            print(*row, sep=" | ", flush=True)
            if not asked.quick:
                write(row)


if __name__ == "__main__":
    main()
