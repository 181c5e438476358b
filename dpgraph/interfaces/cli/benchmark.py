"""``dpgraph benchmark``: how good the private cuts of a public graph are."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from tqdm import tqdm

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.options import Delta, Progress, Seed
from dpgraph.interfaces.cli.output import require_pictures, require_writable, write_picture, write_table

__all__ = ["benchmark"]

Epsilons = Annotated[str, typer.Option("--epsilon", help="One or more values of epsilon, separated by commas.")]
Mechanisms = Annotated[str, typer.Option("--mechanism", help="One or more mechanisms, separated by commas.")]
Runs = Annotated[int, typer.Option(help="Runs of each mechanism at each epsilon.")]
Output = Annotated[
    Path | None, typer.Option(help="Write the table as CSV (mechanism, epsilon, runs, halts, mean, std).")
]
Plot = Annotated[Path | None, typer.Option(help="Write the privacy-utility curves as a picture (PNG, PDF, SVG).")]


@spelled_out
def benchmark(
    request: GraphRequest,
    epsilons: Epsilons = "0.5,1,2,4,8",
    delta: Delta = 1e-6,
    mechanisms: Mechanisms = "bounded-iterates",
    runs: Runs = 5,
    output: Output = None,
    plot: Plot = None,
    seed: Seed = 0,
    progress: Progress = False,
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
    budget = {"delta": delta} | request.weights()
    source = request.read()
    typer.echo("NOT PRIVATE: exact shares, for public graphs only", err=True)
    best = evaluate.cut_fraction(source.adjacency, max_cut(source.adjacency, seeds=0, rng=0))
    cases = [(name, epsilon) for name in names for epsilon in wanted]
    rows = [
        (name, epsilon, runs, *_measure(source.adjacency, runs, seed, mechanism=name, epsilon=epsilon, **budget))
        for name, epsilon in tqdm(cases, desc="cases", disable=not progress)
    ]
    header = ["mechanism", "epsilon", "runs", "halts", "mean", "std"]
    write_table(output, header, list(zip(*rows, strict=True)))
    curves = {name: [(row[1], row[4], row[5]) for row in rows if row[0] == name] for name in names}
    write_picture(plot, "plot_privacy_utility", curves, best=best, title=source.source)
    typer.echo(f"{source.source}: {len(source.nodes)} vertices, best cut found without privacy {best:.4f}")
    typer.echo(f"{'mechanism':<22}{'epsilon':>9}{'halts':>7}{'mean':>9}{'std':>9}")
    for name, epsilon, _, halts, mean, std in rows:
        typer.echo(f"{name:<22}{epsilon:>9g}{halts:>7}{mean:>9.4f}{std:>9.4f}")


def _measure(adjacency: Any, runs: int, seed: int | None, **budget: Any) -> tuple[int, float, float]:
    """Halts, and mean and standard deviation of the exact cut fraction."""
    from dpgraph import evaluate, private_max_cut

    fractions, halts = [], 0
    for k in range(runs):
        rng = None if seed is None else seed + k
        try:
            result = private_max_cut(adjacency, **budget, rng=rng)
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
