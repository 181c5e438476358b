"""``dpgraph benchmark``: how good the private cuts of a public graph are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from tqdm import tqdm

from dpgraph.datasets.writers import csv_text
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.output import require_pictures, require_writable, write_atomically

__all__ = ["benchmark"]

Epsilons = Annotated[str, typer.Option("--epsilon", help="One or more values of epsilon, separated by commas.")]
Mechanisms = Annotated[str, typer.Option("--mechanism", help="One or more mechanisms, separated by commas.")]
Runs = Annotated[int, typer.Option(help="Runs of each mechanism at each epsilon.")]
Output = Annotated[
    Path | None, typer.Option(help="Write the table as CSV (mechanism, epsilon, runs, halts, mean, std).")
]
Plot = Annotated[Path | None, typer.Option(help="Write the privacy-utility curves as a picture (PNG, PDF, SVG).")]


def benchmark(
    graph: options.GraphArgument,
    epsilons: Epsilons = "0.5,1,2,4,8",
    delta: options.Delta = 1e-6,
    mechanisms: Mechanisms = "bounded-iterates",
    runs: Runs = 5,
    output: Output = None,
    plot: Plot = None,
    nodes: options.Nodes = "file",
    labels: options.Labels = "int",
    format: options.FileFormat = "auto",
    symmetrize: options.Symmetrize = False,
    seed: options.Seed = 0,
    data_dir: options.DataDir = None,
    download: options.Download = True,
    progress: options.Progress = False,
) -> None:
    """Compare private cuts with the best known cut. **NOT PRIVATE: for graphs that are public anyway.**

    Shares of the edges across the cut are exact; a halt counts as a random cut (0.5).

    Example: `dpgraph benchmark wiki-Vote --epsilon 0.5,1,2,4 --runs 5 --plot curve.png`
    """
    from dpgraph import evaluate, max_cut

    require_writable(output, plot)
    require_pictures(plot)
    wanted = _numbers(epsilons)
    names = [name.strip() for name in mechanisms.split(",")]
    if runs < 1:
        raise InvalidParameterError(f"--runs must be at least 1; got {runs}")
    source = GraphRequest(graph, format, nodes, labels, None, symmetrize, data_dir, download).read()
    typer.echo("NOT PRIVATE: exact shares, for public graphs only", err=True)
    best = evaluate.cut_fraction(source.adjacency, max_cut(source.adjacency, seeds=0, rng=0))
    cases = [(name, epsilon) for name in names for epsilon in wanted]
    rows = [
        (name, epsilon, runs, *_measure(source.adjacency, name, epsilon, delta, runs, seed))
        for name, epsilon in tqdm(cases, desc="cases", disable=not progress)
    ]
    header = ["mechanism", "epsilon", "runs", "halts", "mean", "std"]
    if output is not None:
        write_atomically(output, csv_text(header, list(zip(*rows, strict=True))))
    if plot is not None:
        from dpgraph.plot import figure_bytes, plot_privacy_utility

        curves = {name: [(row[1], row[4], row[5]) for row in rows if row[0] == name] for name in names}
        figure = plot_privacy_utility(curves, best=best, title=source.source)
        write_atomically(plot, figure_bytes(figure, plot.suffix))
    typer.echo(f"{source.source}: {len(source.nodes)} vertices, best cut found without privacy {best:.4f}")
    typer.echo(f"{'mechanism':<22}{'epsilon':>9}{'halts':>7}{'mean':>9}{'std':>9}")
    for name, epsilon, _, halts, mean, std in rows:
        typer.echo(f"{name:<22}{epsilon:>9g}{halts:>7}{mean:>9.4f}{std:>9.4f}")


def _measure(
    adjacency: Any, mechanism: str, epsilon: float, delta: float, runs: int, seed: int | None
) -> tuple[int, float, float]:
    """Halts, and mean and standard deviation of the exact cut fraction."""
    from dpgraph import evaluate, private_max_cut

    fractions, halts = [], 0
    for k in range(runs):
        rng = None if seed is None else seed + k
        try:
            result = private_max_cut(
                adjacency,
                epsilon=epsilon,
                delta=delta,
                mechanism=mechanism,
                rng=rng,
            )
            fractions.append(evaluate.cut_fraction(adjacency, result))
        except MechanismHalted:
            halts += 1
            fractions.append(0.5)
    return halts, float(np.mean(fractions)), float(np.std(fractions))


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameterError(f"--epsilon takes numbers separated by commas; got {text!r}") from None
