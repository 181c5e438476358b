"""Sentences with measured numbers on the pages, computed anew from the tables of ``benchmarks/results``.

``python docs/claims.py`` prints those that do not stand on their page as computed. tests/test_docs.py demands that all
do, and that no sentence which speaks of measurements has a number that is not among them.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import networkx as nx

import dpgraph

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "benchmarks" / "results"
#: 95 % half-widths of ten runs (Student) over the standard deviation of one.
HALF_OF_TEN = 2.2622 / 10**0.5
#: A run found the planted cut (0.875 of the edges) if its share is above this.
FOUND = 0.85
METHOD = "dpgraph private, eps 4"
Row = dict[str, str]


@dataclass(frozen=True)
class Claim:
    """`text` stands on `page`; it was made from `table`, a file of benchmarks/results, or from a bundled graph."""

    page: str
    text: str
    table: str


# --- tables -----------------------------------------------------------------------------------------------------------


@cache
def rows(table: str) -> tuple[Row, ...]:
    """The lines of a table: of a CSV file, or of all tables of a Markdown file; repeated columns are numbered."""
    lines = (RESULTS / table).read_text().splitlines()
    if table.endswith(".csv"):
        return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))
    found, columns = [], []
    for before, line in zip(["", *lines], lines, strict=False):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            continue
        if not before.startswith("|"):
            columns = [name if name not in cells[:k] else f"{name} {k}" for k, name in enumerate(cells)]
        elif set(line) - set("|- "):
            found.append(dict(zip(columns, cells, strict=False)))
    return tuple(found)


def number(cell: str) -> float:
    """The first number of a cell."""
    return float(re.search(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", cell)[0].replace(",", ""))


def column(table: str, name: str, **where: object) -> list[float]:
    """The numbers of a column, of the rows with these values in others (`_` stands for a blank), and no empty ones."""
    found = [row for row in rows(table) if name in row and row[name] not in ("", "-")]
    wanted = {key.replace("_", " ") if "_" in key else key: str(value) for key, value in where.items()}
    return [
        number(row[name])
        for row in found
        if all(row.get(key, row.get(key.replace(" ", "_"))) == value for key, value in wanted.items())
    ]


def cell(table: str, name: str, **where: object) -> float:
    """The one number of a table with these values in other columns."""
    (value,) = column(table, name, **where)
    return value


def spread(values: Iterable[float], form: str = "g") -> str:
    """From the least to the largest."""
    values = list(values)
    return f"{min(values):{form}} to {max(values):{form}}"


def digits(value: float, figures: int = 2) -> str:
    """A number with so many figures, no exponent."""
    rounded = float(f"{value:.{figures}g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def quotients(table: str, above: str, below: str) -> str:
    """Least and largest quotient of two columns, over all rows that have both."""
    both = [row for row in rows(table) if row.get(above) and row.get(below)]
    values = [number(row[above]) / number(row[below]) for row in both]
    return f"{digits(min(values))} to {digits(max(values))}"


def times(a: tuple[str, int, str], b: tuple[str, int, str] | None = None, figures: int = 2) -> str:
    """How many times the processor time of the second line of speed.csv the first took (task, size, method)."""
    task, size, method = a
    other = b or (task, size, "dpgraph relaxation")
    mine = cell("speed.csv", "processor_seconds", task=task, size=size, method=method)
    return digits(mine / cell("speed.csv", "processor_seconds", task=other[0], size=other[1], method=other[2]), figures)


# --- what one run gives, and the frontier -----------------------------------------------------------------------------


def cuts() -> Iterator[Claim]:
    """Rows of the table of cuts."""
    names = {
        "SNAP wiki-Vote": "wiki-Vote", "SNAP email-Eu-core": "email-Eu-core", "SNAP ego-Facebook": "ego-Facebook",
        "Facebook100 Harvard1": "fb100-Harvard1", "SNAP ca-HepTh": "ca-HepTh",
        "planted cut, correlation -0.75": "planted n=2000 d=100 c=-0.75",
    }  # fmt: skip
    page, table = "docs/one-run.md", "frontier_max-cut.csv"
    for shown, graph in names.items():
        values = []
        for epsilon in ("1", "4", "8"):
            of = {"graph": graph, "mechanism": "auto", "epsilon": epsilon, "delta": "1e-6"}
            found = [row for row in rows(table) if all(row[k] == v for k, v in of.items())]
            spread_of_one = float(found[0]["half"] or 0) / HALF_OF_TEN
            values.append(f"{float(found[0]['mean']):.3f} ± {spread_of_one:.3f}")
        ceiling = cell(table, "mean", graph=graph, mechanism="exact solver")
        text = (REPOSITORY / page).read_text()
        start = re.search(rf"^\| {re.escape(shown)} \|[^|]*\|[^|]*\|", text, re.MULTILINE)
        yield Claim(page, f"{start[0] if start else shown} {' | '.join(values)} | {ceiling:.3f} |", table)


def load() -> Iterator[Claim]:
    """Time and memory at a million vertices."""

    def seconds(method: str, n: int = 10**6) -> float:
        return cell("load.csv", "processor_seconds", method=method, n=n)

    memory = cell("load.csv", "peak_MB", method="cut, eps 4", n=10**6) / 1000
    ratio = seconds("embedding") / seconds("eigsh, 2 pairs")
    pure = [seconds("embedding, pure", n) / seconds("eigsh, 1 pair", n) for n in (10**5, 10**6)]

    def ratios(method: str, beside: str) -> str:
        return spread([seconds(method, n) / seconds(beside, n) for n in (10**3, 10**4, 10**5, 10**6)], ".1f")

    for text in (
        f"At a million vertices and 10 million edges a private cut takes {seconds('cut, eps 1'):.1f} processor seconds "
        f"at ε = 1 and {seconds('cut, eps 4'):.0f} at ε = 4, and {memory:.1f} GB.",
        f"Communities take {seconds('communities'):.0f}.",
        f"A private embedding of rank 2 takes {seconds('embedding'):.0f}, {ratio:.1f} times as long",
        "| pure embedding, rank 1 | scipy `eigsh`, one pair, not private | "
        f"{pure[0]:.1f} at 10⁵ vertices, {pure[1]:.1f} at 10⁶ |",
        f"sums of rows, not private | {ratios('degrees', 'numpy degrees')} from 1,000 to 10⁶ vertices; a look at every "
        f"entry and exact noise alone {ratios('degrees, floor', 'numpy degrees')} |",
        f"list of them, not private | {ratios('triangles', 'igraph triangles')} from 1,000 to 10⁶ vertices |",
        f"`read_sparse` takes {ratios('read_sparse', 'pandas and scipy')} times as long as pandas and scipy",
    ):
        yield Claim("docs/one-run.md", text, "load.csv")


def speed() -> Iterator[Claim]:
    """What is slower, and what is faster."""
    ours, theirs = "dpgraph private, rank 8", "scipy eigsh, 8 pairs, not private"
    spectral = [times(("spectral", n, ours), ("spectral", n, theirs)) for n in (1000, 10**5, 10**6)]
    ours, theirs = "dpgraph private, eps 1", "greedy exponential (MT07), eps 1"
    greedy = [times(("private max-cut", n, ours), ("private max-cut", n, theirs)) for n in (1000, 10**5)]
    sizes = (5, 10, 20, 100, 300, 1000)
    plain = [float(times(("covariance", d, "dpgraph"), ("covariance", d, "numpy, not private"))) for d in sizes]
    bm = "pymanopt (Burer-Monteiro)"
    rounds = [float(times(("max-cut", n, "dpgraph max_cut"), ("max-cut", n, bm))) for n in (100, 200, 500, 1000)]
    scs, far = times(("max-cut", 200, "cvxpy + SCS")), times(("max-cut", 5000, bm), figures=1)
    pgm = times(("marginals", 12, "private-pgm (mbi)"), ("marginals", 12, "dpgraph"), figures=3)
    for text in (
        f"not private | {spectral[0]} at 1,000 vertices, {spectral[1]} at 10⁵, {spectral[2]} at 10⁶ |",
        f"which cuts less | {greedy[0]} at 1,000 vertices, {greedy[1]} at 10⁵ |",
        f"| `private_covariance` | numpy, not private | {min(plain):.0f} to {max(plain):.0f} |",
        f"which does not round | {min(rounds):.1f} to {max(rounds):.1f} up to 1,000 vertices |",
        f"For the relaxation of max-cut cvxpy with SCS takes {scs} times as long at 200 vertices, "
        f"pymanopt {far} times at 5,000.",
        f"For tables of 12 attributes private-pgm takes {pgm} times as long.",
    ):
        yield Claim("docs/one-run.md", text, "speed.csv")


def success() -> Iterator[Claim]:
    """How often a large cut is found."""

    def shares(n: int, epsilon: int) -> list[float]:
        return column("cut_success.csv", "share", n=n, epsilon=epsilon)

    parts = []
    for n, where in ((10**5, "10⁵ vertices"), (10**6, "a million")):
        runs = shares(n, 4)
        found = [share for share in runs if share > FOUND]
        ends = f" ({spread(found, '.3f')} of the edges)" if found else ""
        parts.append(f"at {where} {len(found)} of {len(runs)} seeded runs found the planted cut{ends}")
    small = shares(10**5, 1)
    for text in (
        f"At average degree 20 and ε = 4, {parts[0]}, and {parts[1]}.",
        f"Runs at ε = 1 and 10⁵ vertices end between {min(small):.3f} and {max(small):.3f}.",
    ):
        yield Claim("docs/one-run.md", text, "cut_success.csv")


def frontier() -> Iterator[Claim]:
    """The overview of all problems, and cuts beside published rates."""
    sys.path.insert(0, str(REPOSITORY / "benchmarks"))
    try:
        frontier_tables = import_module("frontier_tables")
    finally:
        sys.path.pop(0)
    order = re.findall(r"^\| ([\w-]+), \w+ \|", (REPOSITORY / "docs/frontier.md").read_text(), re.MULTILINE)
    summaries = [frontier_tables.read_summary(name) for name in dict.fromkeys(order)]
    overview = frontier_tables.overview(summaries)
    for line in overview.splitlines():
        yield Claim("docs/frontier.md", line, "frontier.md")
    cells = next(line for line in overview.splitlines() if line.startswith("| max-cut, real |")).split("|")
    one, four, eight = (re.fullmatch(r"(\d+ %) \((.*)\)", part.strip()).groups() for part in cells[3:6])
    yield Claim(
        "docs/cuts.md",
        f"the default finds in the median of twenty real graphs {one[0]} at ε = 1 ({one[1]} %), {four[0]} at 4 "
        f"({four[1]} %) and {eight[0]} at 8 ({eight[1]} %)",
        "frontier.md",
    )
    lost = column("peers_published.md", "lost / √(mn)")
    table = "peers_published.md"
    best, own, halves, by_default, chance = (
        spread(column(table, name), ".3f")
        for name in (
            "HP14, at best (columns; products)", "default", "by HP14, at best (columns; products)", "halves by default",
            "at random",
        )
    )  # fmt: skip
    for text in (
        f"sines of {best}, where the default\n  has {own}",
        f"cuts {halves} of four real graphs, chance {chance},\nthe default {by_default}",
        f"At ε = 1 the default loses {spread(lost, '.2f')} √(mn) on all twenty real graphs",
    ):
        yield Claim("docs/frontier.md", text, "peers_published.md")


def first_call() -> Iterator[Claim]:
    (row,) = [row for row in rows("first_call.md") if (row["call"], row["vertices"]) == ("report", "1,000")]
    took = f"{row['empty cache']} processor seconds, a second one {row['warm']}"
    text = f"A first `dpgraph.report` of 1,000 vertices takes {took}"
    yield Claim("docs/install.md", text, "first_call.md")


def cluster() -> Iterator[Claim]:
    """docs/distributed.md: two workers beside one machine."""
    table = "distributed_graphs.csv"

    def times(function: str, edges: int, name: str = "processor_seconds") -> float:
        two, one = (
            cell(table, name, method=f"{function}, {workers}", edges=edges)
            for workers in ("two workers", "one machine")
        )
        return two / one

    here = "docs/distributed.md"
    cut, communities = (times(function, 10**8) for function in ("cut", "communities"))
    client, one = (
        cell(table, "client_MB", method=f"cut, {workers}", edges=10**8) / 1e3
        for workers in ("two workers", "one machine")
    )
    yield Claim(
        here,
        f"A cut of 10⁸ edges takes {cut:.2f} times its processor time, communities {communities:.1f} times; the "
        f"client, which holds vertices and no edges, needs {client:.1f} GB in place of {one:.0f}.",
        table,
    )
    small = [times(function, 10**6) for function in ("cut", "communities")]
    middle = [times(function, 10**7) for function in ("cut", "communities")]
    yield Claim(
        here,
        f"At 10⁷ edges it is {middle[0]:.1f} and {middle[1]:.1f} times, at 10⁶ {small[0]:.1f} and {small[1]:.1f}:",
        table,
    )


def flights() -> Iterator[Claim]:
    """The bundled graph of the front page."""
    G = dpgraph.datasets.load("us-flights")
    edges, triangles = G.number_of_edges(), sum(nx.triangles(G).values()) // 3
    mean = f"{2 * edges / len(G):.1f}"
    yield Claim("README.md", f"has {edges:,} edges and {triangles:,} triangles, and a mean degree of {mean}.", "")
    yield Claim("docs/index.md", f"The true network has {edges:,} connections.", "")


# --- graphs -----------------------------------------------------------------------------------------------------------


def communities() -> Iterator[Claim]:
    dense = [row for row in rows("communities.md") if "Louvain" in row and number(row["degree"]) > 40]
    shares = [number(row["epsilon 1"]) for row in dense]
    words = {5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
    yield Claim(
        "docs/communities.md",
        f"At ε = 1 communities have {spread(shares, '.2f')} of the modularity that Louvain finds without privacy, on "
        f"{words[len(dense)]} graphs of average degree above 40",
        "communities.md",
    )
    mean = {row["graph"]: number(row["degree"]) for row in rows("communities.md") if "Louvain" in row}
    between: dict[bool, list[float]] = {True: [], False: []}
    for row in rows("communities.md"):
        for epsilon in (0.5, 1, 2, 4) if "Louvain itself" in row else ():
            weak = epsilon * mean[row["graph"]] < 50
            between[weak].append(float(row[f"epsilon {epsilon:g}"].split(" / ")[2]))
    yield Claim(
        "docs/communities.md",
        "Where ε times the average degree is below 50, two runs agree at an adjusted Rand index of at most "
        f"{max(between[True]):.2f}; above, of {spread(between[False], '.2f')}",
        "communities.md",
    )
    table, page = "community_limits.md", "docs/communities-theory.md"
    ours, start, oracle = (
        [
            sum(found) / len(found)
            for found in (
                [float(row[name]) for row in rows(table) if row["epsilon"] == epsilon] for epsilon in ("1", "2")
            )
        ]
        for name in ("ours", "oracle start (core)", "oracle labels")
    )
    yield Claim(page, f"Communities reach {ours[0]:.2f} of it at ε = 1 and {ours[1]:.2f} at 2.", table)
    yield Claim(page, f"the search ends at {start[0]:.2f} at ε = 1, and at {start[1]:.2f} at ε = 2", table)
    yield Claim(page, f"reaches {oracle[0]:.2f} and {oracle[1]:.2f} by its own noisy numbers of edges", table)


def degrees() -> Iterator[Claim]:
    table = "degree_distribution.md"

    def ours(graph: str, epsilon: object) -> float:
        return cell(table, "ours", graph=graph, epsilon=epsilon)

    over = [
        s / o for s, o in zip(column(table, "sorted degrees", epsilon=1), column(table, "ours", epsilon=1), strict=True)
    ]
    near = [
        number(row["ours"]) / number(row["no mechanism below"]) for row in rows(table) if float(row["epsilon"]) <= 1
    ]
    for page, text in (
        (
            "degrees",
            f"is {ours('fb100-Caltech36', 1)} for 769 vertices at ε = 1, and {ours('ca-AstroPh', 1)} for 18,772",
        ),
        ("degrees", f"errs {digits(min(over))} to {digits(max(over))} times as much at ε = 1"),
        ("degrees", f"Up to ε = 1 the release is at {min(near):.0f} to {max(near):.1f} times the bound"),
        (
            "degrees-theory",
            "at $\\varepsilon = 1$ the bound is "
            f"{cell(table, 'no mechanism below', graph='fb100-Caltech36', epsilon=1)}",
        ),
    ):
        yield Claim(f"docs/{page}.md", text, table)


def counts() -> Iterator[Claim]:
    table = "subgraph_counts.md"
    lines = [row for row in rows(table) if "ladder" in row]
    ahead = sum(number(row["ladder"]) < number(row["published ladder"]) for row in lines)
    level = all(
        number(row["ladder"]) <= number(row[k]) for row in lines for k in ("smooth sensitivity", "released bounds")
    )
    yield Claim(
        "docs/counts.md",
        f"The median relative error at ε = 1 is {spread(column(table, 'ladder', pattern='triangle'), '.3f')} % for "
        f"triangles of six graphs, and {spread(column(table, 'ladder', pattern='wedge'), '.3f')} % for wedges",
        table,
    )
    rest = "and no more than the other two mechanisms" if level else "and not always less than the others"
    cells = f"{'all ' * (ahead == len(lines))}{ahead} cells of that table"
    text = f"The default errs less than the ladder of 2015, told the exact A, in {cells}, {rest}."
    yield Claim("docs/counts.md", text, table)


def count_intervals() -> Iterator[Claim]:
    table = "count_intervals.md"

    def held(width: str, name: str, *, known: bool) -> str:
        return spread([number(row[name]) for row in rows(table) if (number(row[width]) >= 2) == known], ".1f")

    triangles, cliques = ("width of triangles", "transitivity held"), ("width of 4-cliques", "4-cliques held")
    yield Claim(
        "docs/counts.md",
        f"in {held(*triangles, known=True)} of 100 releases for the transitivity and {held(*cliques, known=True)} for "
        f"4-cliques. Below, intervals are too wide: they hold it in "
        f"{held(*triangles, known=False)} and {held(*cliques, known=False)}",
        table,
    )
    half = [spread(column(table, name), ".1f") for name in ("half-width", "half-width 7")]
    text = f"Half an interval is {half[0]} times the median error, and {half[1]} times for 4-cliques."
    yield Claim("docs/counts.md", text, table)


def node_distributions() -> Iterator[Claim]:
    table = "node_distributions.md"
    distances, best = column(table, "distance"), column(table, "with the best limit")
    near = [distance for distance in distances if distance <= 0.05]
    lost = [least for distance, least in zip(distances, best, strict=True) if distance > 0.05]
    graphs = f"On {len(near)} of {len(distances)} graphs of 7,000 to 37,000 vertices"
    yield Claim("docs/persons.md", f"{graphs} it is within {max(near):.3f} at epsilon 1", table)
    yield Claim("docs/persons.md", f"the distribution is still off by {spread(lost, '.3f')}", table)


def persons() -> Iterator[Claim]:
    table = "persons.md"

    def shares(name: str, epsilon: int) -> str:
        return spread(column(table, name, epsilon=epsilon, of="communities"), ".2f")

    edges, tails = (spread(column(table, "vertices", epsilon=1, of=what)) for what in ("edges", "degrees"))
    for text in (
        f"At epsilon 1 ten edges leave {shares('k = 10', 1)} of the modularity",
        f"At epsilon 4 ten edges leave {shares('k = 10', 4)} of it, and fifty {shares('k = 50', 4)}",
        f"cost the number of edges {edges} % at epsilon 1. The degree distribution is off by {tails} % of the vertices",
    ):
        yield Claim("docs/persons.md", text, table)


def similarities() -> Iterator[Claim]:
    table = "similarities.md"
    cells = [row for row in rows(table) if "entry by entry: precision" in row]
    found = {
        epsilon: [number(row["precision at 10"]) for row in cells if row["ε"] == epsilon] for epsilon in ("2", "4")
    }
    text = f"At ε = 2 it is {spread(found['2'], '.3f')} on eleven graphs, and at ε = 4 {spread(found['4'], '.3f')}"
    yield Claim("docs/similarities.md", text, table)
    less = sum(number(row["precision at 10"]) < number(row["degrees alone: precision"]) - 0.003 for row in cells)
    errors = [100 * (number(row["squared error"]) / number(row["squared error 5"]) - 1) for row in cells]
    text = (
        f"find more of the nearest, by more than 0.003, in {less} of {len(cells)} cells of the table. Their squared "
        f"error is smaller by more than 1 % in {sum(error > 1 for error in errors)} of them, "
        f"by up to {max(errors):.0f} %"
    )
    yield Claim("docs/similarities.md", text, table)


def synthetic() -> Iterator[Claim]:
    table = "synthetic_graphs.md"
    later = [row for row in rows(table) if float(row["epsilon"]) >= 1]
    far = max(later, key=lambda row: number(row["NMI of labels"]) - number(row["NMI"]))
    nmi = [cell(table, "NMI", graph="ego-Facebook", epsilon=e) for e in (1, 2, 4)]
    worst = {name: max(number(row[name]) for row in later) for name in ("edges", "transitivity")}
    found = [[name for name in row["beyond its bound"].split(", ") if name] for row in later]
    beyond, agreeing = sum(map(len, found)), sum("NMI" in names for names in found)
    new = ("email-Eu-core", "ego-Facebook", "ca-HepTh", "ca-AstroPh", "ca-CondMat", "email-Enron")
    aside = [len(names) for row, names in zip(later, found, strict=True) if row["graph"] in new]
    for text in (
        f"{beyond} of {7 * len(later)} are, {agreeing} of these in NMI; of the six graphs that no constant was chosen "
        f"on, {sum(aside)} of {7 * len(aside)}.",
        f"off by at most {worst['edges']:.3f} of itself, and transitivity by at most {worst['transitivity']:.3f}",
        f"than 10 % in {sum('modularity' in names for names in found)} rows of {len(later)}, by "
        f"{max(number(row['modularity']) for row in later):.3f} at most",
        f"{nmi[0]:.3f} with the true ones at ε = 1, {nmi[1]:.3f} at 2 and {nmi[2]:.3f} at 4",
        f"is off by {spread(column(table, 'cuts'), '.3f')} of the rate √(mn)/ε",
        f"on {far['graph']} at ε = {far['epsilon']}: {far['NMI']}, and {far['NMI of labels']} of the labels.",
        f"drawn graphs have {cell(table, 'triangles', graph='ca-HepPh', epsilon=1):.3f} of the triangles.",
    ):
        yield Claim("docs/synthetic-graphs.md", text, table)
    tally = {row["measure"]: row for row in rows("synthetic_peers.md") if "best peer" in row}
    beside = {measure: [int(part) for part in row["best peer"].split(" / ")] for measure, row in tally.items()}
    won, level, lost = map(sum, zip(*beside.values(), strict=True))
    cells = sum(beside["NMI"])
    for text in (
        f"better than the best of all peers in {won}, level in {level} and behind in {lost}",
        f"ahead in modularity in {beside['modularity'][0]} cells of {cells}, in transitivity in "
        f"{beside['transitivity'][0]}",
        f"behind in NMI in {beside['NMI'][2]}, in the top one per cent in {beside['top 1 %'][2]}, in cuts in "
        f"{beside['cuts'][2]}",
        f"ahead of DGG in degrees in {tally['degrees']['DGG'].split(' / ')[0]} of {cells} cells",
    ):
        yield Claim("docs/synthetic-graphs.md", text, "synthetic_peers.md")


# --- records and convex sets ------------------------------------------------------------------------------------------


def covariance() -> Iterator[Claim]:
    table, default = "covariance.md", "shrunk (default)"
    few, many = (cell(table, default, n=n) for n in (1000, 5000))
    with_delta = cell(table, default, d=100) / cell(table, "default, delta 1e-6", d=100)
    zero = cell(table, "norm of the truth", n=5000)
    yield Claim(
        "docs/covariance.md",
        f"5,000 records of 20 columns whose variances add up to 0.1 have an error of {many}, where a matrix of zeros "
        f"has {zero}; 1,000 records have {few}, and are of no use.",
        table,
    )
    yield Claim("docs/covariance.md", f"divides the error of 100 columns by {with_delta:.1f}", table)
    page = "docs/covariance-theory.md"
    bound = quotients(table, default, "Theorem 1.2, constant 1")
    old = quotients(table, "twice the trace (DN25b)", default)
    amin = quotients(table, "Amin et al.", default)
    separate = quotients(table, "separate, delta 1e-6 (DLY22)", "default, delta 1e-6")
    yield Claim(page, f"The default errs by {bound} times the bound of Theorem 1.2 with constant 1", table)
    yield Claim(page, f'"Algorithm 2" {old} times as much as the default', table)
    yield Claim(page, f"Amin et al. (2019), which is pure, err {amin} times as much as the default", table)
    yield Claim(page, f"SeparateCov errs {separate} times as much as the default with the same $\\delta$", table)
    table = "covariance_printed.md"
    first = quotients(table, "Algorithm 1 as printed", "`project=False`")
    second = quotients(table, "Algorithm 2 as printed", "`private_covariance`")
    yield Claim(
        page,
        f"Algorithm 1 errs {first} times as much as `project=False`, and Algorithm 2 {second} times as much as the "
        "default",
        table,
    )
    shares = next(row for row in rows("covariance_shares.md") if row["epsilon n"] == "all, mean")
    yield Claim(
        page,
        f"on average {shares['default']} times that of the best share in hindsight, that of the paper's projection "
        f"{shares['twice the trace (DN25b)']} times",
        "covariance_shares.md",
    )


def cosine() -> Iterator[Claim]:
    table = "cosine.md"

    def of(name: str, data: str, method: str = "shrinkage") -> float:
        return cell(table, name, data=data, method=method)

    yield Claim(
        "docs/cosine.md",
        f"the squared error is {of('plain / it', 'five clusters'):.0f} times smaller than that of the noise alone, and "
        f"{of('identity matrix / it', 'five clusters'):.0f} times smaller than that of the identity matrix",
        table,
    )
    worst = ("sqrt(n) dimensions", "sqrt(n) clusters", "sqrt(n)-bin histograms")
    slopes = [of("slope, n = 125 to 1000", data, m) for data in worst for m in ("shrinkage", "elliptope")]
    yield Claim(
        "docs/cosine-theory.md", f"the measured slope in $n$ is {spread(slopes, '.2f')}, for both methods", table
    )


def marginals() -> Iterator[Claim]:
    table = "marginals_structured.md"

    def of(name: str, records: int) -> float:
        return cell(table, name, data="weak tree", records=records)

    text = f"the error of a cell falls from {of('projected', 20000):g} to {of('private_marginals', 20000):g}"
    yield Claim("docs/marginals.md", f"With 20,000 records of a weak tree {text}", table)
    text = f"{of('MST', 1000):g} in place of {of('one record more: default', 1000):g}"
    yield Claim("docs/marginals.md", f"With 1,000 records of a weak tree that is the better choice: {text}", table)
    trivial = quotients("marginals_sparse.md", "m tᵏ largest", "`private_marginals`")
    yield Claim("docs/marginals-theory.md", f"errs {trivial} times as much in", "marginals_sparse.md")
    yield Claim("docs/statements.md", f"`private_marginals` errs {trivial} times less", "marginals_sparse.md")


def linear_queries() -> Iterator[Claim]:
    table = "linear_queries_peers.md"
    prefix = {row["method"]: row["delta = 1e-06"] for row in rows(table) if row.get("prefix sums of") == "1024"}
    yield Claim(
        "docs/linear_queries.md",
        f"optimal factors have an error of {prefix['`factorization`']}, the square root "
        f"{prefix['square root, in order']} and Honaker's tree, in order, {prefix['tree, in order, Honaker']}",
        table,
    )


def projections() -> Iterator[Claim]:
    dykstra = column("projections.md", "eigendecompositions", method="Dykstra, psd and box")
    link = "([table](../benchmarks/results/projections.md))"
    text = f"of 2,000 rows onto {{psd, |X_ij| <= 1}} {link}, Dykstra needs {spread(dykstra, '.0f')} sweeps"
    yield Claim("docs/projections.md", text, "projections.md")
    ball = {row["norm"]: row for row in rows("spectral_ball.md") if row["input"] == "rank 2 + noise of norm 0.3"}
    before, plain, spectral = (
        ball[norm][name]
        for norm, name in (("frobenius", "error before"), ("frobenius", "error after"), ("spectral", "error after"))
    )
    yield Claim(
        "docs/projections.md",
        f"at a spectral distance of {before} from the truth is at {plain} after the Frobenius projection, and at "
        f"{spectral} after the spectral one",
        "spectral_ball.md",
    )


# --- solvers, papers, tests -------------------------------------------------------------------------------------------


def solvers() -> Iterator[Claim]:
    page = "docs/sos.md"
    yield Claim(page, f"cuts of {spread(column('gset.md', 'ratio'), '.4f')} times the best known", "gset.md")

    def seconds(n: int, method: str) -> str:
        return f"{cell('sdp_speed.md', 'processor seconds', n=n, method=method):g}"

    yield Claim(
        page,
        f"with 1000 vertices of degree 10 the relaxation takes {float(seconds(1000, 'dpgraph relaxation')):.3f} "
        f"processor seconds, and all of it {seconds(1000, 'dpgraph max_cut')}. SCS takes "
        f"{seconds(500, 'cvxpy + SCS')} for 500, Clarabel {seconds(200, 'cvxpy + Clarabel')} for 200.",
        "sdp_speed.md",
    )
    labels = cell("csp_scale.md", "processor seconds", q=3, n=6666)
    yield Claim(page, f"of 6,666 variables and three labels take {labels:g}", "csp_scale.md")
    failures = cell("false_bounds.md", "failures", kind="all")
    instances = cell("false_bounds.md", "instances", kind="all")
    yield Claim(page, f"{failures or 'none'} in {instances:,.0f} random instances", "false_bounds.md")


def papers() -> Iterator[Claim]:
    page, table = "docs/science.md", "science.md"

    def slope(statement: str, swept: str) -> str:
        lines = [row for row in rows(table) if row.get("statement", "").startswith(statement)]
        (row,) = [row for row in lines if row["swept"].startswith(swept) and "many records" not in row["error"]]
        return row["slope measured"]

    def mean(statement: str, swept: str) -> str:
        return slope(statement, swept).split(" ")[0]

    trace, records, columns_ = (mean("DN25b Theorem 1.2", swept) for swept in ("trace", "1/n", "d,"))
    worst = max(
        number(part.partition(":")[2])
        for row in rows(table)
        if "worst ratio" in row
        for part in row.values()
        if part.startswith("n =")
    )
    spike = {row["estimator"]: row["x = 8"] for row in rows(table) if row.get("n x m") == "100 x 1000"}
    found = [
        number(spike[name])
        for name in ("default (products), eps 1", "HP14, exact accounting, best in hindsight, eps 1")
    ]
    wide = {row[""]: row["columns = 800,000"] for row in rows(table) if "columns = 800,000" in row}
    heavy = {row[""]: number(row["heavy entry = 0"]) for row in rows(table) if "heavy entry = 0" in row}
    schatten = {
        row["Schatten norm"]: row["exponent measured (upper half of d)"]
        for row in rows(table)
        if "Schatten norm" in row
    }
    (norm,) = [row["d = 200"] for row in rows(table) if row.get("") == "printed law"]
    text_of_wide = (
        f"at 800,000 columns the bound on the sine is {number(wide['its bound on the sine, constant 1']):.3f} with "
        f"constant 1, and the correlation is {number(wide['HP14 as published']):.3f}"
    )
    published = heavy["HP14, as published, sensitivity sqrt(2)"]
    best = heavy["HP14, exact accounting, best in hindsight, sensitivity sqrt(2)"]
    for text in (
        f"*Theorem 6.1 in 1/degree*: {slope('DN25a Theorem 6.1', '1/degree')}",
        f"in the trace*: {trace}, where 1/n has {records} and d {columns_}",
        f"was at most {worst:.2f} times the larger of the coherence before and ln n",
        f"at ε = 1 and x = 8 it has a correlation of {found[0]:.3f} for {found[1]:.3f} at n = 100",
        text_of_wide,
        f"a sine of {heavy['projectors (DN25a), sensitivity sqrt(2)']:.3f}, HP14 **as published** {published:.3f}",
        f"the best choice in hindsight HP14 has {best:.3f}",
        f"agree with the proved ones: {schatten['p = 1']} for 2, {schatten['p = 2']} for 1.5, and "
        f"{schatten['p = inf']} for 1",
        f"Measured at d = 200, ‖Z‖/(ρ d) is {norm}",
    ):
        yield Claim(page, text, table)
    yield Claim("docs/statements.md", f"worst ratio {worst:.2f}", table)
    table = "projector_gap.md"
    ratios = [k for k in rows(table)[0] if k.startswith("σ/gap")]
    lines = [row for row in rows(table) if "" in row]
    flat = [number(row[k]) for row in lines if row[""].startswith("projector") for k in ratios]
    plateau = {row["bulk"]: row for row in lines if row["bulk"].startswith("plateau") and row[""].startswith("HP14")}
    own = {row["bulk"]: row for row in lines if row[""].startswith("projector")}
    behind = max(number(row[k]) / number(own[bulk][k]) for bulk, row in plateau.items() for k in ratios)
    yield Claim(page, f"does not depend on σ/gap, and is {spread(flat, '.3f')} in all cells", table)
    yield Claim(page, f"There HP14 errs up to {behind:.1f} times as much as the projector", table)


def estimates() -> Iterator[Claim]:
    """How often a subspace says wrongly that it converged."""
    table = "estimates.md"
    lost = {
        graphs: [
            (number(row["sines above 0.7"]), number(row["of these converged"]))
            for row in rows(table)
            if row["inputs"].startswith("graphs") == graphs
        ]
        for graphs in (False, True)
    }
    matrices, graphs = ([f"{sum(column):.0f}" for column in zip(*lost[kind], strict=True)] for kind in (False, True))
    text = f"Of {matrices[0]} runs on matrices whose true sine is above 0.7, {matrices[1]} say it, and {graphs[1]} of"
    text += f" {graphs[0]} on graphs"
    yield Claim("docs/subspaces.md", text, table)


def rounding() -> Iterator[Claim]:
    """Global correlation rounding, on the page of the papers' statements."""
    page, table = "docs/science.md", "science.md"
    lines = [row for row in rows(table) if "loss of independent rounding" in row.get("error", "")]

    def slopes(swept: str, words: str) -> str:
        found = [row for row in lines if row["swept"].startswith(swept) and words in row["error"]]
        return ", ".join(row["slope measured"] for row in found)

    tight = f"{slopes('seeds', 'cut, 8 parts')}, {slopes('seeds', '6 parts')} and {slopes('seeds', 'halves, 8 parts')}"
    loose = [
        number(row["slope measured"]) for row in lines if "5 parts" in row["error"] and row["swept"][:5] == "seeds"
    ]
    yield Claim(page, f"slopes are {tight}", table)
    yield Claim(page, f"with five parts they are {spread(loose, '.2f')}, ABOVE", table)
    (halves,) = [
        row["slope measured"]
        for row in rows(table)
        if row.get("statement", "").endswith("Theorem 7.19") and row["swept"].startswith("n,")
    ]
    yield Claim(page, f"(halves) in n: {halves}", table)
    games = [row for row in rows(table) if row.get("statement", "").endswith("Theorem 7.17")]
    yield Claim(page, f"{', '.join(row['slope measured'] for row in games)} in 1/degree, 1/ε, n and q", table)
    table = "correlation_rounding.md"
    raced = [row for row in rows(table) if "conditioning" in row]
    own, plain, annealed = (
        [number(row[name]) for row in raced] for name in ("conditioning", "single changes", "annealing")
    )
    more, most = (
        sum(mine > theirs + 1e-9 for mine, theirs in zip(own, other, strict=True)) for other in (plain, annealed)
    )
    fewer = sum(mine < theirs - 1e-9 for mine, theirs in zip(own, annealed, strict=True))
    yield Claim(
        page,
        f"In {len(raced)} races conditioning finds more than single changes in {more}, and than annealing in {most}; "
        f"annealing finds more in {fewer}",
        table,
    )
    curves = rows("correlation_rounding.csv")
    largest = max(float(row["loss"]) / float(row["allowed loss"]) for row in curves)
    yield Claim(page, f"what is lost is at most {largest:.2f} of what", "correlation_rounding.csv")


def tests() -> Iterator[Claim]:
    """What the tests of privacy measure."""
    worst = {row["bound"].strip("`"): number(row["worst ratio"]) for row in rows("sensitivity.md")}
    loosest = min(worst, key=worst.__getitem__)
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    loose = words[sum(ratio < 0.95 for ratio in worst.values())]
    yield Claim(
        "docs/sensitivity.md",
        f"has {len(worst)} bounds. All but {loose} are attained up to 0.05; the loosest is `{loosest}`, at "
        f"{worst[loosest]:.2f}.",
        "sensitivity.md",
    )
    lines = [[number(value) for name, value in row.items() if name != "function"] for row in rows("timing.md")]
    factor = max(max(line) / min(line) for line in lines)
    yield Claim("docs/guarantee.md", f"differ by a factor of up to {factor:.0f}", "timing.md")
    lost = next(
        number(row["auto"]) for row in rows("answer-rule.md") if row.get("lost to the better one, mean") == "2 parts"
    )
    yield Claim(
        "docs/mechanisms.md", f"a cut by `auto` loses {lost:.3f} to the better of the two on average", "answer-rule.md"
    )


def extension() -> Iterator[Claim]:
    """docs/dependencies.md."""
    table = "extension.md"
    text = (RESULTS / table).read_text()
    count = re.search(r"has (\d+) functions that numba compiles", text)[1]
    numba, c = (number(row[key]) for row in rows(table) if row[""] == "compiling both" for key in ("numba, s", "C, s"))
    gains = [number(row["numba, s"]) / number(row["C, s"]) for row in rows(table) if row[""].startswith("`")]
    yield Claim(
        "docs/dependencies.md",
        f"Two of its {count} kernels were written in C as a trial: they take {c:.2f} processor seconds to compile in "
        f"place of {numba:.1f}, and run {min(gains):.1f} to {max(gains):.1f} times as fast "
        "([measured](../benchmarks/results/extension.md)).",
        table,
    )


SOURCES: tuple[Callable[[], Iterator[Claim]], ...] = (
    cuts, load, speed, success, frontier, first_call, cluster, flights, communities, degrees, counts,
    count_intervals, node_distributions, persons,
    extension, similarities, synthetic, covariance, cosine, marginals, linear_queries, projections, solvers, papers,
    estimates, rounding, tests,
)  # fmt: skip


def claims() -> list[Claim]:
    """All claims that are computed from tables."""
    return [claim for source in SOURCES for claim in source()]


def one_line(text: str) -> str:
    return " ".join(text.split())


# --- sentences that need one ------------------------------------------------------------------------------------------

#: What a sentence about measurements names: a table, a graph of the tables, or that something was measured.
MEASURED = re.compile(
    r"benchmarks/results/[\w-]+\.(?:md|csv)|\bmeasured\b|\b[Mm]ean of \w+ runs|processor seconds|times as (?:long|much)"
    r"|Caltech36|Reed98|Haverford|Swarthmore|Rice31|Stanford3|Harvard1|Berkeley13|wiki-Vote|email-E|ego-Facebook|lastfm"
    r"|musae|ca-[A-Z]\w+"
)
HIDDEN = re.compile(r"^```.*?^```|<!--.*?-->|^\{\{.*?\}\}|^[> ]*\$\$.*?\$\$|`[^`]*`", re.DOTALL | re.MULTILINE)
#: Numbers that no measurement gave: of statements, levels of intervals, settings, versions.
SETTING = re.compile(
    r"(?:Theorems?|Lemma|Corollary|Algorithms?|Definitions?|Facts?|Remark|Conjectures?|[Ss]ection|SLURM|networkx) "
    r"[\dA-Z][\d.]*(?:(?:, | and | to )[\dA-Z]?[\d.]+)*|95 %|(?:ε|δ|n|x|d|k|p|σ/gap|arepsilon) ?[=^] ?\$?[\d.,]+\d"
)
NUMBER = re.compile(r"\d[\d,]*\.\d+|\d[\d,]*(?= ?(?:%|times|GB|MB|(?:processor )?seconds))|\b\d{1,3},\d{3}\b")
SENTENCE_END = re.compile(r"(?<=[.!?:;)])\s+(?=[A-Z*`\[\"$ε])")
PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)")


def unclaimed(page: str, texts: Iterable[str]) -> list[str]:
    """Sentences of a page about measurements whose numbers are in none of the texts."""
    found = []
    for paragraph in PARAGRAPH_END.split(HIDDEN.sub(" ", (REPOSITORY / page).read_text())):
        flowing = one_line(paragraph)
        for text in texts:
            flowing = flowing.replace(one_line(HIDDEN.sub(" ", text)), "Claimed as measured")
        for sentence in SENTENCE_END.split(flowing):
            rest = SETTING.sub("", re.sub(r"\]\([^)]*\)", "]", sentence))
            if MEASURED.search(sentence) and NUMBER.search(rest):
                found.append(sentence)
    return found


if __name__ == "__main__":
    all_claims = claims()
    texts = {claim.page: one_line((REPOSITORY / claim.page).read_text()) for claim in all_claims}
    for claim in all_claims:
        if one_line(claim.text) not in texts[claim.page]:
            print(f"{claim.page} does not say: {claim.text}")
    for path in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]:
        page = path.relative_to(REPOSITORY).as_posix()
        for sentence in unclaimed(page, [claim.text for claim in all_claims if claim.page == page]):
            print(f"{page} has no table for: {sentence}")
