"""Tables and picture of `private_synthetic_graph` beside the methods of others, from results/synthetic_peers.csv."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import TYPE_CHECKING

import charts
from common import RESULTS, Row, markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAPHS = (
    "fb100-Caltech36", "email-Eu-core", "ego-Facebook", "fb100-Rice31", "ca-GrQc", "ca-HepTh", "lastfm-asia",
)  # fmt: skip
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METHODS = (
    "ours", "PrivGraph", "PrivGraph as coded", "TmF", "DGG", "PrivSKG", "DP-1K", "DP-1K sorted", "DP-2K",
    "randomised response", "HRG",
)  # fmt: skip
#: Private in the limit of a Markov chain only.
CHAINS = frozenset({"HRG"})
PEERS = tuple(method for method in METHODS if method != "ours" and method not in CHAINS)
PURE = tuple(method for method in PEERS if method != "DP-2K")
#: The first seven are those of synthetic_graphs.py.
MEASURES = (
    "NMI", "modularity", "transitivity", "edges", "degrees", "top 1 %", "cuts", "ARI", "diameter", "eigenvalue",
)  # fmt: skip
#: Of these, more is better; the others are errors.
SIMILARITIES = frozenset({"NMI", "top 1 %", "ARI"})
#: Values that differ by less are level.
_LEVEL = dict.fromkeys(MEASURES, 0.01) | {"cuts": 0.001}


def better(measure: str, value: float, other: float) -> float:
    """By how much `value` is better than `other`."""
    return value - other if measure in SIMILARITIES else other - value


class Comparison:
    """Our cells beside those of peers."""

    def __init__(self, rows: dict[tuple[str, ...], Row]) -> None:
        self._rows = rows

    def row(self, name: str, epsilon: float, method: str) -> Row | None:
        """A row that was measured."""
        row = self._rows.get((name, str(epsilon), method))
        return row if row and not row["note"] else None

    def value(self, name: str, epsilon: float, method: str, measure: str) -> float | None:
        """One number of such a row."""
        row = self.row(name, epsilon, method)
        return float(row[measure]) if row else None

    def cells(self, measure: str, methods: Iterable[str]) -> dict[tuple[str, float], tuple[float, float, str]]:
        """Graph and epsilon -> our value, the best one of `methods`, and its name."""
        found = {}
        for name in GRAPHS:
            for epsilon in EPSILONS:
                mine = self.value(name, epsilon, "ours", measure)
                others = [(self.value(name, epsilon, method, measure), method) for method in methods]
                others = [(value, method) for value, method in others if value is not None]
                if mine is not None and others:
                    best = max(others, key=lambda pair: better(measure, pair[0], 0.0))
                    found[name, epsilon] = (mine, *best)
        return found

    def counts(self, measure: str, methods: Iterable[str]) -> str:
        """Cells won, level and lost, as text; empty where there is none."""
        gains = [better(measure, mine, other) for mine, other, _ in self.cells(measure, methods).values()]
        won, lost = (sum(sign * gain > _LEVEL[measure] for gain in gains) for sign in (1, -1))
        return f"{won} / {len(gains) - won - lost} / {lost}" if gains else ""

    def tally(self) -> str:
        """Measures against methods: cells in which ours is better, level, worse."""
        single = METHODS[1:]
        lines = [
            (
                measure,
                self.counts(measure, PEERS),
                self.counts(measure, PURE),
                *(self.counts(measure, [method]) for method in single),
            )
            for measure in MEASURES
        ]
        return markdown_table(("measure", "best peer", "best pure peer", *single), lines)

    def firsts(self) -> str:
        """Measures against methods: cells in which a method is best, or level with the best one."""
        lines = []
        for measure in MEASURES:
            counts = dict.fromkeys(("ours", *PEERS), 0)
            cells = self.cells(measure, PEERS)
            for (name, epsilon), (mine, other, _) in cells.items():
                best = mine if better(measure, mine, other) > 0 else other
                for method in counts:
                    value = self.value(name, epsilon, method, measure)
                    counts[method] += value is not None and better(measure, best, value) <= _LEVEL[measure]
            lines.append((measure, len(cells), *counts.values()))
        return markdown_table(("measure", "cells", "ours", *PEERS), lines)

    def lost(self) -> str:
        """Every cell in which a peer is better, by measure."""
        lines = []
        for measure in MEASURES:
            texts = []
            for name in GRAPHS:
                behind = [
                    f"{mine:.3f} at {epsilon:g} ({other:.3f} {method})"
                    for (graph, epsilon), (mine, other, method) in self.cells(measure, PEERS).items()
                    if graph == name and better(measure, mine, other) < -_LEVEL[measure]
                ]
                if behind:
                    texts.append(f"  - {name}: {', '.join(behind)}\n")
            lines.append(f"- **{measure}**\n{''.join(texts)}" if texts else f"- **{measure}**: none\n")
        return "".join(lines)

    def details(self, name: str, epsilon: float) -> str:
        """All methods on one graph; the best values are bold."""
        present = [method for method in METHODS if self.row(name, epsilon, method)]
        lines = []
        for method in present:
            texts = []
            for measure in MEASURES:
                values = {m: self.value(name, epsilon, m, measure) for m in present}
                best = all(better(measure, values[method], other) >= 0 for other in values.values())
                texts.append(f"**{values[method]:.3f}**" if best else f"{values[method]:.3f}")
            lines.append((method, *texts))
        return markdown_table((f"{name}, epsilon {epsilon:g}", *MEASURES), lines)

    def times(self) -> str:
        """Processor seconds of one drawn graph, by method."""
        lines = []
        for method in METHODS:
            rows = [row for row in self._rows.values() if row["method"] == method]
            seconds = [float(row["seconds"]) for row in rows if not row["note"]]
            if seconds:
                infeasible = sum(row["note"] == "infeasible" for row in rows)
                lines.append((method, len(rows), f"{median(seconds):.2f}", f"{max(seconds):.1f}", infeasible))
        return markdown_table(("method", "cells", "median seconds", "most", "infeasible cells"), lines)


PREFACE = (
    "Means of 3 runs (5 of ours on ego-Facebook). NMI and ARI (adjusted Rand index) of the Louvain communities, and "
    "the top 1 % are better where they are larger; the others are errors. All methods protect one edge. All are pure, "
    "but for DP-2K, which has delta = 1e-6, and HRG, which is private in the limit of a Markov chain only.\n\nDP-1K, "
    "DP-2K and PrivSKG release nothing about single vertices: their NMI, ARI and top 1 % are those of chance. NMI is "
    "also large where nearly every vertex is a community of its own, as with DP-2K: compare it with ARI. What each "
    "peer releases, its sensitivity and its shares of epsilon stand in `benchmarks/synthetic_peers.py` and "
    "`benchmarks/synthetic_hrg.py`."
)


def write_page(rows: dict[tuple[str, ...], Row]) -> None:
    """The summary, and its place in the documentation."""
    found = Comparison(rows)
    tally = (
        "Cells (graph and epsilon 0.5, 1, 2, 4) in which ours is better / level / worse than the best of the peers but "
        f"HRG, and than each; level is within 0.01 (cuts: 0.001).\n\n{found.tally()}"
    )
    firsts = f"Cells in which a method is best of all but HRG, or level with the best:\n\n{found.firsts()}"
    times = f"Processor seconds of one drawn graph, on a shared machine:\n\n{found.times()}"
    lost = f"Where the best peer is ahead of ours:\n\n{found.lost()}"
    tables = "\n".join(found.details(name, epsilon) for name in GRAPHS for epsilon in EPSILONS)
    (RESULTS / "synthetic_peers.md").write_text(
        f"# Synthetic graphs beside those of others\n\n{PREFACE}\n\n{tally}\n{firsts}\n{lost}\n{times}\n{tables}"
    )


def plot(rows: Iterable[Row], name: str = "ego-Facebook") -> Figure:
    """Nine measures against epsilon on one graph: ours and the five methods of others that are ahead of most."""
    found = Comparison({(row["graph"], row["epsilon"], row["method"]): row for row in rows})
    measures = [measure for measure in MEASURES if measure != "diameter"]
    at = [(measure, e) for measure in measures for e in EPSILONS]

    def behind(method: str) -> int:
        """In how many cells another method of others is better."""
        values = [(m, {p: v for p in PEERS if (v := found.value(name, e, p, m)) is not None}) for m, e in at]
        return sum(
            better(m, other, cell[method]) > 0 for m, cell in values for other in cell.values() if method in cell
        )

    ran = [e for e in EPSILONS if found.row(name, e, "ours")]
    present = [method for method in PEERS if all(found.row(name, e, method) for e in ran)]
    chosen = ["ours", *sorted(present, key=behind)[: len(charts.LINES) - 1]]
    figure, axes = charts.panels(len(measures))
    first = total = 0
    for place, (axis, measure) in enumerate(zip(axes, measures, strict=True)):
        if measure not in SIMILARITIES:
            axis.set_yscale("symlog", linthresh=0.01, linscale=0.3)
        charts.epsilon_axis(axis, EPSILONS)
        for number, method in enumerate(chosen):
            points = [(e, v) for e in EPSILONS if (v := found.value(name, e, method, measure)) is not None]
            label = method if place == 2 else "_"
            charts.curve(axis, [e for e, _ in points], [v for _, v in points], None, number, label=label)
        axis.set_ylim(bottom=0)
        axis.set_title(f"{measure}, more is better" if measure in SIMILARITIES else f"{measure}, error", fontsize=8.5)
        charts.name_lines(axis, 8)
        cells = found.cells(measure, PEERS)
        own = [cells[name, e] for e in EPSILONS if (name, e) in cells]
        first += sum(better(measure, mine, other) >= -_LEVEL[measure] for mine, other, _ in own)
        total += len(own)
    title = f"Synthetic graphs of {name}: ours is best of all, or level, in {first} of {total} cells"
    remark = f"beside the {len(chosen) - 1} methods of others that trail another least often; all of them: the tables"
    return charts.finish(figure, title, remark, "epsilon", "")
