"""Privacy-utility frontier of max-cut: share of edges cut, for every mechanism, on planted and real graphs.

``make bench-utility`` runs the quick version (what README quotes); ``--full`` takes hours. Writes CSV, Markdown
and a plot to ``benchmarks/results``. A random cut has 0.5; the ceiling is the exact solver without privacy.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
from pathlib import Path

import numpy as np

import dpgraph
from dpgraph.datasets import load_sparse, planted_cut_sparse

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("DPGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "graphs"))
DELTA = 1e-6
PLANTED = {f"planted degree {d}": d for d in (100, 150, 200, 400)}
REAL = ("wiki-Vote", "email-Eu-core", "ego-Facebook", "fb100-Harvard1")
MORE_REAL = (
    "fb100-Caltech36",
    "fb100-Reed98",
    "fb100-Haverford76",
    "fb100-Swarthmore42",
    "fb100-Rice31",
    "fb100-Stanford3",
    "fb100-Berkeley13",
    "ca-AstroPh",
    "ca-CondMat",
    "email-Enron",
    "musae-facebook",
    "lastfm-asia",
)
MECHANISMS = ("auto", "bounded-iterates", "coherence", "noisy-power", "gaussian", "randomized-response")
DENSE = ("gaussian", "randomized-response")


def graph(name: str) -> object:
    if name in PLANTED:
        return planted_cut_sparse(2000, PLANTED[name], -0.75, rng=PLANTED[name])[0]
    return load_sparse(name, data_dir=DATA, download=False)[0]


def fractions(A: object, mechanism: str, epsilon: float, runs: int) -> np.ndarray:
    """Share of edges really cut, one number for each run; a halted run counts as the data-independent cut."""
    return np.array(
        [
            dpgraph.evaluate.cut_fraction(
                A,
                dpgraph.private_max_cut(
                    A, epsilon=epsilon, delta=DELTA, mechanism=mechanism, on_halt="fallback", rng=seed
                ).partition,
            )
            for seed in range(runs)
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all graphs, epsilon 0.25 to 8, ten runs")
    parser.add_argument("--runs", type=int)
    arguments = parser.parse_args()
    runs = arguments.runs or (10 if arguments.full else 5)
    epsilons = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0) if arguments.full else (1.0, 2.0, 4.0)
    names = (*PLANTED, *REAL, *(MORE_REAL if arguments.full else ()))
    rows: list[dict[str, object]] = []
    for name in names:
        A = graph(name)
        n = A.shape[0]
        ceiling = dpgraph.max_cut(A, rng=0).value / (A.sum() / 2)
        for mechanism in MECHANISMS:
            if mechanism in DENSE and n > 2000:
                continue  # n**2 entries: minutes for each run
            for epsilon in epsilons:
                sample = fractions(A, mechanism, epsilon, 2 if mechanism in DENSE else runs)
                half = 1.96 * sample.std(ddof=1) / math.sqrt(len(sample))
                rows.append(
                    {
                        "graph": name,
                        "n": n,
                        "mechanism": mechanism,
                        "epsilon": epsilon,
                        "mean": round(float(sample.mean()), 4),
                        "half_width_95": round(float(half), 4),
                        "runs": len(sample),
                        "ceiling": round(float(ceiling), 4),
                    }
                )
                print(rows[-1], flush=True)
    write(rows, "full" if arguments.full else "quick", epsilons)


def write(rows: list[dict[str, object]], version: str, epsilons: tuple[float, ...]) -> None:
    RESULTS.mkdir(exist_ok=True)
    stem = RESULTS / f"max_cut_utility_{version}"
    with stem.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    stem.with_suffix(".md").write_text(markdown(rows, epsilons))
    plot(rows, stem.with_suffix(".png"))


def markdown(rows: list[dict[str, object]], epsilons: tuple[float, ...]) -> str:
    """One line for each graph and mechanism; the best mechanism at each epsilon is bold."""
    lines = [
        f"| graph | mechanism | {' | '.join(f'eps {e:g}' for e in epsilons)} | ceiling |",
        f"|{' --- |' * (len(epsilons) + 3)}",
    ]
    cells = {(r["graph"], r["mechanism"], r["epsilon"]): r for r in rows}
    for name in dict.fromkeys(r["graph"] for r in rows):
        mechanisms = [m for m in MECHANISMS if (name, m, epsilons[0]) in cells]
        best = {e: max(cells[name, m, e]["mean"] for m in mechanisms) for e in epsilons}
        for m in mechanisms:
            shown = []
            for e in epsilons:
                cell = cells[name, m, e]
                text = f"{cell['mean']:.3f} ± {cell['half_width_95']:.3f}"
                shown.append(f"**{text}**" if cell["mean"] == best[e] else text)
            lines.append(f"| {name} | {m} | {' | '.join(shown)} | {cells[name, m, epsilons[0]]['ceiling']:.3f} |")
    return "\n".join(lines) + "\n"


def plot(rows: list[dict[str, object]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(r["graph"] for r in rows))
    columns = 4
    figure, axes = plt.subplots(
        math.ceil(len(names) / columns), columns, figsize=(13, 3.1 * math.ceil(len(names) / columns)), squeeze=False
    )
    shown = [m for m in MECHANISMS if m != "auto"]
    for axis, name in zip(axes.flat, names, strict=False):
        for color, mechanism in enumerate(shown):
            points = [r for r in rows if r["graph"] == name and r["mechanism"] == mechanism]
            if points:
                axis.errorbar(
                    [r["epsilon"] for r in points],
                    [r["mean"] for r in points],
                    [r["half_width_95"] for r in points],
                    marker="o",
                    markersize=4,
                    color=f"C{color}",
                    label=mechanism,
                )
        ceiling = next(r["ceiling"] for r in rows if r["graph"] == name)
        axis.axhline(ceiling, color="black", linestyle="--", linewidth=1, label="exact solver")
        axis.axhline(0.5, color="grey", linewidth=1, label="random cut")
        axis.set(title=name, xscale="log", xlabel="epsilon", ylabel="share of edges cut")
        axis.set_xticks([1, 2, 4] if len({r["epsilon"] for r in rows}) == 3 else [0.25, 0.5, 1, 2, 4, 8])
        axis.get_xaxis().set_major_formatter(matplotlib.ticker.ScalarFormatter())
        axis.minorticks_off()
    for axis in axes.flat[len(names) :]:
        axis.axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncol=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
