"""Claims with numbers on a page: what they say, computed anew from the committed tables.

``python docs/claims.py`` prints those that do not stand on their page as computed; tests/test_docs.py demands that all
do.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = "docs/one-run.md"
RESULTS = REPOSITORY / "benchmarks" / "results"
#: 95 % half-widths of ten runs (Student) over the standard deviation of one.
HALF_OF_TEN = 2.2622 / 10**0.5
#: A run found the planted cut (0.875 of the edges) if its share is above this.
FOUND = 0.85
METHOD = "dpgraph private, eps 4"
Row = dict[str, str]


@dataclass(frozen=True)
class Claim:
    """`text` stands on `page`; it was made from `table`, which `command` makes."""

    page: str
    text: str
    table: str
    command: str


@cache
def rows(table: str) -> tuple[Row, ...]:
    """The lines of a table, without the line that describes it."""
    lines = (RESULTS / table).read_text().splitlines()
    return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))


def cell(table: str, column: str, **where: object) -> float:
    """The one number of a table with these values in other columns."""
    found = [row for row in rows(table) if all(row[key] == str(value) for key, value in where.items())]
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows of {table} with {where}")
    return float(found[0][column])


def digits(value: float, figures: int = 2) -> str:
    """A number with so many figures, no exponent."""
    rounded = float(f"{value:.{figures}g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def times(a: tuple[str, int, str], b: tuple[str, int, str] | None = None, figures: int = 2) -> str:
    """How many times the processor time of the second line of speed.csv the first took (task, size, method)."""
    task, size, method = a
    other = b or (task, size, "dpgraph relaxation")
    mine = cell("speed.csv", "processor_seconds", task=task, size=size, method=method)
    return digits(mine / cell("speed.csv", "processor_seconds", task=other[0], size=other[1], method=other[2]), figures)


# --- the claims -------------------------------------------------------------------------------------------------------


def cuts() -> Iterator[Claim]:
    """Rows of the table of cuts."""
    names = {
        "SNAP wiki-Vote": "wiki-Vote", "SNAP email-Eu-core": "email-Eu-core", "SNAP ego-Facebook": "ego-Facebook",
        "Facebook100 Harvard1": "fb100-Harvard1", "SNAP ca-HepTh": "ca-HepTh",
        "planted cut, correlation -0.75": "planted n=2000 d=100 c=-0.75",
    }  # fmt: skip
    table, command = "frontier_max-cut.csv", "python benchmarks/frontier.py --full --problem max-cut"
    for shown, graph in names.items():
        values = []
        for epsilon in ("1", "4", "8"):
            of = {"graph": graph, "mechanism": "auto", "epsilon": epsilon, "delta": "1e-6"}
            found = [row for row in rows(table) if all(row[k] == v for k, v in of.items())]
            spread = float(found[0]["half"] or 0) / HALF_OF_TEN
            values.append(f"{float(found[0]['mean']):.3f} ± {spread:.3f}")
        ceiling = cell(table, "mean", graph=graph, mechanism="exact solver")
        start = re.search(rf"^\| {re.escape(shown)} \|[^|]*\|[^|]*\|", page(), re.MULTILINE)
        text = f"{start[0] if start else shown} {' | '.join(values)} | {ceiling:.3f} |"
        yield Claim(PAGE, text, table, command)


def page() -> str:
    return (REPOSITORY / PAGE).read_text()


def load() -> Iterator[Claim]:
    """Time and memory at a million vertices."""

    def seconds(method: str, n: int = 10**6) -> float:
        return cell("load.csv", "processor_seconds", method=method, n=n)

    def claim(text: str) -> Claim:
        return Claim(PAGE, text, "load.csv", "python benchmarks/load.py --largest 1000000")

    memory = cell("load.csv", "peak_MB", method="cut, eps 4", n=10**6) / 1000
    yield claim(
        f"At a million vertices and 10 million edges a private cut takes {seconds('cut, eps 1'):.0f} processor seconds "
        f"at ε = 1 and {seconds('cut, eps 4'):.0f} at ε = 4, and {memory:.1f} GB."
    )
    yield claim(f"Communities take {seconds('communities'):.0f}.")
    ratio = seconds("embedding") / seconds("eigsh, 2 pairs")
    yield claim(f"A private embedding of rank 2 takes {seconds('embedding'):.0f}, {ratio:.1f} times as long")
    pure = [seconds("embedding, pure", n) / seconds("eigsh, 1 pair", n) for n in (10**5, 10**6)]
    yield claim(
        "| pure embedding, rank 1 | scipy `eigsh`, one pair, not private | "
        f"{pure[0]:.1f} at 10⁵ vertices, {pure[1]:.1f} at 10⁶ |"
    )


def speed() -> Iterator[Claim]:
    """What is slower, and what is faster."""
    command = "python benchmarks/speed.py --full"

    def claim(text: str) -> Claim:
        return Claim(PAGE, text, "speed.csv", command)

    ours, theirs = "dpgraph private, rank 8", "scipy eigsh, 8 pairs, not private"
    spectral = [times(("spectral", n, ours), ("spectral", n, theirs)) for n in (1000, 10**5, 10**6)]
    yield claim(f"not private | {spectral[0]} at 1,000 vertices, {spectral[1]} at 10⁵, {spectral[2]} at 10⁶ |")
    ours, theirs = "dpgraph private, eps 1", "greedy exponential (MT07), eps 1"
    greedy = [times(("private max-cut", n, ours), ("private max-cut", n, theirs)) for n in (1000, 10**5)]
    yield claim(f"which cuts less | {greedy[0]} at 1,000 vertices, {greedy[1]} at 10⁵ |")
    sizes = (5, 10, 20, 100, 300, 1000)
    plain = [float(times(("covariance", d, "dpgraph"), ("covariance", d, "numpy, not private"))) for d in sizes]
    yield claim(f"| `private_covariance` | numpy, not private | {min(plain):.0f} to {max(plain):.0f} |")
    bm = "pymanopt (Burer-Monteiro)"
    rounds = [float(times(("max-cut", n, "dpgraph max_cut"), ("max-cut", n, bm))) for n in (100, 200, 500, 1000)]
    yield claim(f"which does not round | {min(rounds):.1f} to {max(rounds):.1f} up to 1,000 vertices |")
    scs, far = times(("max-cut", 200, "cvxpy + SCS")), times(("max-cut", 5000, bm), figures=1)
    yield claim(f"For the relaxation of max-cut cvxpy with SCS takes {scs} times as long at 200 vertices")
    yield claim(f"pymanopt {far} times at 5,000.")
    pgm = times(("marginals", 12, "private-pgm (mbi)"), ("marginals", 12, "dpgraph"), figures=3)
    yield claim(f"For tables of 12 attributes private-pgm takes {pgm} times as long.")


def success() -> Iterator[Claim]:
    """How often a large cut is found."""

    def claim(text: str) -> Claim:
        return Claim(PAGE, text, "cut_success.csv", "python benchmarks/cut_success.py")

    def shares(n: int, epsilon: int) -> list[float]:
        at = (str(n), str(epsilon))
        return [float(row["share"]) for row in rows("cut_success.csv") if (row["n"], row["epsilon"]) == at]

    parts = []
    for n, where in ((10**5, "10⁵ vertices"), (10**6, "a million")):
        runs = shares(n, 4)
        found = [share for share in runs if share > FOUND]
        ends = f" ({min(found):.3f} to {max(found):.3f} of the edges)" if found else ""
        parts.append(f"at {where} {len(found)} of {len(runs)} seeded runs found the planted cut{ends}")
    yield claim(f"At average degree 20 and ε = 4, {parts[0]}, and {parts[1]}.")
    small = shares(10**5, 1)
    yield claim(f"Runs at ε = 1 and 10⁵ vertices end between {min(small):.3f} and {max(small):.3f}.")
    reached = [cell("speed.csv", "quality", task="private max-cut", size=n, method=METHOD) for n in (10**5, 10**6)]
    text = f"The runs of the table of times reached {reached[0]:.2f} (10⁵) and {reached[1]:.2f} (10⁶)"
    yield Claim(PAGE, text, "speed.csv", "python benchmarks/speed.py --full")


SOURCES: tuple[Callable[[], Iterator[Claim]], ...] = (cuts, load, speed, success)


def claims() -> list[Claim]:
    """All claims that are computed from tables."""
    return [claim for source in SOURCES for claim in source()]


def one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    text = {name: one_line((REPOSITORY / name).read_text()) for name in {claim.page for claim in claims()}}
    for claim in claims():
        if one_line(claim.text) not in text[claim.page]:
            print(json.dumps({"page": claim.page, "is not there": claim.text}, ensure_ascii=False))
