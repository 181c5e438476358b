"""Does the error of the private projector depend on the gap alone, where that of the noisy power method grows?

DN25a proves that the error of its projector depends on the coherence and the gap, and its bound on that of the noisy
power method (HP14) is larger by sqrt(sigma_r/gap), because that method needs about sigma_r/gap products. Here
sigma_1/gap is swept at a fixed gap of 500, sensitivity 1, epsilon 1, delta 1e-6, rank 1. The leading vector is flat,
and so is every vector of the bulk below it (columns of a Hadamard matrix). The third bulk is four vectors of two
entries each, orthogonal to the leading one: iterates are heavy until they have left them, and pay for it. Sine of the
released vector, means of a few runs. HP14 has exact accounting, and that p in {1, 2} and number of products (at most 16
(sigma_1/gap + 1)) which are best in hindsight.

    python benchmarks/projector_gap.py [--tables]        # about ten minutes

writes ``results/projector_gap.csv`` (rows that are present are not computed again), ``.md`` and ``.png``.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import charts
import numpy as np
from common import RESULTS, ResumableTable, Row, interval, markdown_table
from peers import PRODUCTS, noisy_power_method_at_best, row_moves

import dpgraph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP, EPSILON, DELTA = 500.0, 1.0, 1e-6
RATIOS = (1.0, 2.0, 4.0, 10.0, 30.0, 100.0)
#: Runs by number of vertices; noise on all entries is for the smaller size alone.
SIZES = {1024: 5, 4096: 3}
#: Spectrum below the leading eigenvalue, whose edge is at sigma_1 - gap.
SPECTRA = ("semicircle", "plateau", "heavy vectors")
#: Heavy vectors, two entries each.
HEAVY = 4
LARGEST = 4096
COLUMNS = ("spectrum", "n", "ratio", "series", "sine", "half_width", "runs", "columns", "products", "seconds")
PEER, PROJECTOR, ENTRIES = "HP14, best p and products", "projector (DN25a)", "Gaussian noise on all entries"
SERIES = (PROJECTOR, PEER, ENTRIES)


def walsh(X: np.ndarray) -> np.ndarray:
    """Hadamard transform of the columns, orthonormal; the number of rows is a power of two."""
    n, X = len(X), X.copy()
    step = 1
    while step < n:
        X = X.reshape(-1, 2, step, X.shape[-1])
        X = np.stack([X[:, 0] + X[:, 1], X[:, 0] - X[:, 1]], axis=1).reshape(n, X.shape[-1])
        step *= 2
    return X / math.sqrt(n)


class Spiked:
    """A symmetric matrix with a flat leading vector, and its products."""

    def __init__(self, spectrum: str, n: int, ratio: float) -> None:
        rng = np.random.default_rng([n, round(10 * ratio)])
        top, edge = ratio * GAP, (ratio - 1) * GAP
        self.shape = (n, n)
        self._signs = rng.choice([-1.0, 1.0], size=(n, 1))
        self._heavy = np.zeros((n, 0))
        if spectrum == "semicircle":
            values = edge * semicircle(n)
        elif spectrum == "plateau":
            values = np.full(n, edge)
        else:
            values = np.zeros(n)
            ends = rng.choice(n, size=(2, HEAVY), replace=False)
            self._heavy = np.zeros((n, HEAVY))
            self._heavy[ends[0], range(HEAVY)] = self._signs[ends[0], 0]
            self._heavy[ends[1], range(HEAVY)] = -self._signs[ends[1], 0]
            self._heavy *= math.sqrt(edge / 2)
        self._values = np.concatenate([[top], values[rng.permutation(n)][1:]])[:, None]
        self.leading = self._signs[:, 0] / math.sqrt(n)

    def __matmul__(self, X: np.ndarray) -> np.ndarray:
        return self._signs * walsh(self._values * walsh(self._signs * X)) + self._heavy @ (self._heavy.T @ X)

    def dense(self) -> np.ndarray:
        """All entries."""
        A = self @ np.eye(self.shape[0])
        return (A + A.T) / 2

    def sine(self, basis: np.ndarray) -> float:
        """Of the angle from the leading vector to a space."""
        Q = np.linalg.qr(basis)[0]
        return math.sqrt(max(1 - float(np.linalg.norm(Q.T @ self.leading)) ** 2, 0.0))


def semicircle(n: int) -> np.ndarray:
    """Quantiles of the semicircle law, the largest of which is 1."""
    x = np.linspace(-1, 1, 20 * n + 1)
    law = 0.5 + (x * np.sqrt(1 - x * x) + np.arcsin(x)) / math.pi
    found = np.interp((np.arange(n) + 0.5) / n, law, x)
    return found / found.max()


def measure(spectrum: str, n: int, ratio: float, series: str) -> dict[str, object]:
    A, seeds, start = Spiked(spectrum, n, ratio), range(SIZES[n]), time.process_time()
    columns = products = ""
    if series == PEER:
        cases = [(A, A.sine, seed) for seed in seeds]
        tried = [number for number in PRODUCTS if number <= 16 * ratio + 16]
        found = noisy_power_method_at_best(cases, 1, (EPSILON, DELTA), moves=row_moves, products=tried)
        sines, columns, products = list(found.errors), found.columns, found.steps
    else:
        dense, sines = A.dense(), []
        for seed in seeds:
            mechanism = "coherence" if series == PROJECTOR else "gaussian"
            budget = {"sensitivity": 1.0, "epsilon": EPSILON, "delta": DELTA, "rng": seed}
            try:
                sines.append(A.sine(dpgraph.private_projector(dense, 1, mechanism=mechanism, **budget).basis))
            except dpgraph.MechanismHalted:
                sines.append(1.0)
    mean, half = interval(sines)
    return {
        "spectrum": spectrum, "n": n, "ratio": f"{ratio:g}", "series": series, "sine": f"{mean:.4g}",
        "half_width": f"{half:.2g}", "runs": len(sines), "columns": columns, "products": products,
        "seconds": f"{time.process_time() - start:.3g}",
    }  # fmt: skip


def cell(rows: dict[tuple[str, ...], Row], spectrum: str, n: int, ratio: float, series: str) -> Row | None:
    return rows.get((spectrum, str(n), f"{ratio:g}", series))


def table(rows: dict[tuple[str, ...], Row]) -> str:
    lines = []
    for spectrum in SPECTRA:
        for n in SIZES:
            for series in SERIES:
                cells = [cell(rows, spectrum, n, ratio, series) for ratio in RATIOS]
                shown = [f"{float(c['sine']):.3f} ± {float(c['half_width']):.3f}" if c else "" for c in cells]
                if any(shown):
                    lines.append([f"{spectrum}, n = {n:,}", series, *shown])
    return markdown_table(["bulk", "", *(f"σ/gap = {ratio:g}" for ratio in RATIOS)], lines)


def settings(rows: dict[tuple[str, ...], Row]) -> str:
    """What HP14 was given in hindsight."""
    lines = []
    for spectrum in SPECTRA:
        for n in SIZES:
            cells = [cell(rows, spectrum, n, ratio, PEER) for ratio in RATIOS]
            lines.append([f"{spectrum}, n = {n:,}", *(f"{c['columns']}, {c['products']}" if c else "" for c in cells)])
    return markdown_table(["p and products", *(f"σ/gap = {ratio:g}" for ratio in RATIOS)], lines)


def plot(rows: dict[tuple[str, ...], Row]) -> Figure:
    """Sine against sigma/gap, a panel for each bulk."""
    figure, axes = charts.panels(len(SPECTRA))
    for at, (panel, spectrum) in enumerate(zip(axes, SPECTRA, strict=True)):
        for number, series in enumerate(SERIES):
            cells = [(ratio, c) for ratio in RATIOS if (c := cell(rows, spectrum, LARGEST, ratio, series))]
            if not cells:
                continue
            x = [ratio for ratio, _ in cells]
            y, half = ([float(c[column]) for _, c in cells] for column in ("sine", "half_width"))
            charts.curve(panel, x, y, half, number, label=series.replace(", ", ",\n").replace(" on all", "\non all"))
        panel.set(xscale="log", yscale="log", ylim=(0.002, 0.1))
        panel.set_xticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
        panel.set_title(spectrum, fontsize=9, loc="left")
        if at == len(SPECTRA) - 1:
            charts.name_lines(panel, 8)
    remark = (
        f"n = {LARGEST:,}, gap 500, sensitivity 1, ε = 1, δ = 1e-6, flat leading vector; the bulk ends at σ − gap; "
        "HP14 with exact accounting"
    )
    title = finding(rows)
    return charts.finish(figure, title, remark, "σ/gap", "sine of the released vector")


def wins(rows: dict[tuple[str, ...], Row]) -> list[tuple[str, int, float, float]]:
    """How many times the error of the projector the peer's is, on every instance."""
    found = []
    for spectrum in SPECTRA:
        for n in SIZES:
            for ratio in RATIOS:
                ours, theirs = (cell(rows, spectrum, n, ratio, series) for series in (PROJECTOR, PEER))
                if ours and theirs:
                    found.append((spectrum, n, ratio, float(theirs["sine"]) / float(ours["sine"])))
    return found


def finding(rows: dict[tuple[str, ...], Row]) -> str:
    """The title of the picture."""
    factors = [factor for *_, factor in wins(rows)]
    return (
        f"The projector keeps its error, and HP14 at its best has {min(factors):.1f} to {max(factors):.1f} times that"
    )


def write(rows: dict[tuple[str, ...], Row]) -> None:
    about = (__doc__ or "").split("    python")[0]
    text = f"{table(rows)}\nIn hindsight HP14 was given:\n\n{settings(rows)}"
    (RESULTS / "projector_gap.md").write_text(f"# A fixed gap under a growing eigenvalue\n\n{about}\n{text}")
    (RESULTS / "projector_gap.png").write_bytes(charts.png(plot(rows)))


def results() -> ResumableTable:
    """The table of all rows."""
    return ResumableTable(RESULTS / "projector_gap.csv", COLUMNS[:4], COLUMNS)


def main(wanted: Sequence[str]) -> None:
    table = results()
    with table.writing():
        for n in SIZES:
            for spectrum in wanted:
                for ratio in RATIOS:
                    for series in SERIES if n < LARGEST else SERIES[:2]:
                        if (spectrum, str(n), f"{ratio:g}", series) not in table.rows:
                            table.add(measure(spectrum, n, ratio, series))
                            print(*list(table.rows.values())[-1].values(), flush=True)
    write(table.rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", action="store_true", help="compute nothing")
    main(() if parser.parse_args().tables else SPECTRA)
