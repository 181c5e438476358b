"""The pictures of the documentation in ``docs/pictures``.

`make pictures` draws those that need a run of some seconds, and writes the tables behind the pictures of choosing.md: a
minute on one core, all noise is seeded, both are in git. The others (:func:`quick_pictures`) are drawn from these
tables and from the notebooks when the documentation is built.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import dpgraph
from dpgraph import datasets, evaluate, plot
from dpgraph.exceptions import MechanismHalted
from dpgraph.interfaces import cli
from dpgraph.plot.panels import Panel

DOCS = Path(__file__).resolve().parent
sys.path.append(str(DOCS.parent / "benchmarks"))
import charts  # noqa: E402 (what the pictures of the benchmarks share)

PICTURES = DOCS / "pictures"
DELTA = 1e-6
CORRELATION = -0.5


def save(name: str, figure: Figure) -> None:
    (PICTURES / f"{name}.png").write_bytes(charts.png(figure))
    print(f"pictures/{name}.png")


def table(name: str, header: list[str], rows: Iterable[tuple[object, ...]]) -> None:
    with (PICTURES / f"{name}.csv").open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


def read(name: str) -> list[dict[str, str]]:
    with (PICTURES / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def front_page() -> None:
    """The text of the front page and its picture, of one run, as anybody makes it: its noise has no seed."""
    out, folder = io.StringIO(), PICTURES / "flights.png"
    command = ["report", "us-flights", "--epsilon", "4", "--cut", "--plot", str(folder)]
    with redirect_stdout(out):
        assert cli.main([*command, "--title", "Flights in the United States, 2008"]) == 0
    shown = out.getvalue().partition("\nrelease ")[0]
    readme = DOCS.parent / "README.md"
    text = f"$ dpgraph {' '.join(command[:5])}\n{shown}\n"
    block = f"\\1\n```console\n{text}```\n<!-- end -->"
    start = r"(<!-- one run: made by docs/make_pictures.py -->)\n.*?<!-- end -->"
    readme.write_text(re.sub(start, block, readme.read_text(), flags=re.DOTALL))


def published_values() -> None:
    G = datasets.load("planted-cut")
    cut = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, rng=0)
    save("cut", plot.plot_cut(cut, title="planted-cut"))
    spectrum = dpgraph.private_spectrum(G, 6, epsilon=2.0, delta=DELTA, rng=0)
    save("spectrum", plot.plot_spectrum(spectrum, title="planted-cut"))
    friends = nx.random_partition_graph([180, 120, 120, 80, 60, 40], 0.25, 0.01, seed=1)
    communities = dpgraph.private_communities(friends, epsilon=3.0, rng=0)
    save("communities", plot.plot_communities(communities, title="planted groups"))
    save("graph", plot.plot_graph(communities, title="planted groups"))
    save("twin", plot.plot_graph(dpgraph.private_synthetic_graph(friends, epsilon=3.0, rng=0), title="planted groups"))
    degrees = dpgraph.private_degree_distribution(nx.barabasi_albert_graph(4000, 20, seed=2), epsilon=1.0, rng=0)
    save("degrees", plot.plot_degree_distribution(degrees, title="preferential attachment"))
    ages, hours = ["under 30", "30 to 60", "over 60"], ["none", "1 to 3", "over 3"]
    rng = np.random.default_rng(0)
    age = rng.integers(0, 3, 2000)
    exercise = np.clip(age + rng.integers(-1, 2, 2000), 0, 2)
    survey = np.array([[ages[a], hours[h]] for a, h in zip(age, 2 - exercise, strict=True)], dtype=object)
    answers = dpgraph.private_marginals(survey, 2, epsilon=1.0, delta=DELTA, categories={0: ages, 1: hours}, rng=0)
    save("marginal", plot.plot_marginal(answers, [0, 1], names=["age", "hours of sport a week"]))


def cut_shares(graph: object, epsilon: float, runs: int, **options: object) -> tuple[float, float, int]:
    """Mean and standard deviation of the exact share of the edges cut, and halts, each of which counts 0.5."""
    shares, halts = [], 0
    for seed in range(runs):
        try:
            cut = dpgraph.private_max_cut(graph, epsilon=epsilon, delta=DELTA, rng=seed, **options)
            shares.append(evaluate.cut_fraction(graph, cut))
        except MechanismHalted:
            halts += 1
            shares.append(0.5)
    return float(np.mean(shares)), float(np.std(shares)), halts


def which_epsilon(runs: int = 3) -> None:
    """Share of a planted cut that the default mechanism finds, against epsilon, for four average degrees."""
    rows = []
    for degree in (10, 25, 60, 150):
        graph, _ = datasets.planted_cut_sparse(1000, degree, CORRELATION, rng=degree)
        for epsilon in (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0):
            mean, std, _ = cut_shares(graph, epsilon, runs)
            rows.append((degree, epsilon, runs, round(mean, 4), round(std, 4)))
    table("epsilon", ["degree", "epsilon", "runs", "mean", "std"], rows)


def epsilon_picture() -> Figure:
    """The table of :func:`which_epsilon`."""
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for row in read("epsilon"):
        point = float(row["epsilon"]), float(row["mean"]), float(row["std"])
        curves.setdefault(f"average degree {row['degree']}", []).append(point)
    levels = {"data-independent": 0.5}
    return plot.plot_benchmark([[Panel("a planted cut", "share of the edges cut", True, curves, levels)]])


def which_regularization(runs: int = 5) -> None:
    """Cut share of the coherence mechanism against the regularisation, at three values of epsilon."""
    graph, _ = datasets.planted_cut_sparse(1000, 200, CORRELATION, rng=1)
    rows = []
    for epsilon in (1.0, 1.25, 1.5):
        for multiple in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0):
            mean, std, halts = cut_shares(
                graph, epsilon, runs, mechanism=dpgraph.strategies.Coherence(2, regularization=200.0 * multiple)
            )
            rows.append((epsilon, multiple, runs, halts, round(mean, 4), round(std, 4)))
    table("regularization", ["epsilon", "multiple", "runs", "halts", "mean", "std"], rows)


def regularization_picture() -> Figure:
    """The table of :func:`which_regularization`."""
    rows = read("regularization")
    multiples = list(dict.fromkeys(float(row["multiple"]) for row in rows))
    figure, (axes,) = charts.panels(1, size=(5.4, 3.0))
    axes.set_xscale("log", base=2)
    for number, epsilon in enumerate(sorted({row["epsilon"] for row in rows}, key=float, reverse=True)):
        means = [float(row["mean"]) for row in rows if row["epsilon"] == epsilon]
        charts.curve(axes, multiples, means, None, number, label=f"ε = {float(epsilon):g}", linewidth=1.6)
    axes.axhline(0.5, color=charts.GREY, linewidth=0.8, linestyle=":", label="random cut, or halted")
    axes.set_xticks(multiples, [f"{multiple:g}" for multiple in multiples])
    charts.name_lines(axes)
    strong = [float(row["mean"]) for row in rows if float(row["multiple"]) >= 16]
    title = f"With τ of 16 average degrees or more, {min(strong):.3f} to {max(strong):.3f} of the edges are cut"
    remark = 'mechanism="coherence", planted cut, 1000 vertices of degree 200, means of 5 runs'
    return charts.finish(figure, title, remark, "τ, as a multiple of the average degree", "share of the edges cut")


#: Picture of the gallery -> notebook that ends with it.
NOTEBOOKS = {
    "embedding": "embedding_facebook",
    "frontier": "max_cut_frontier",
    "mesh": "mesh_bisection",
    "pca": "private_pca",
    "report": "report",
    "survey": "survey_marginals",
    "timetable": "scheduling_csp",
}


def of_notebook(notebook: str) -> bytes:
    """The last picture of a notebook."""
    cells = json.loads((DOCS.parent / "examples" / f"{notebook}.ipynb").read_text())["cells"]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    picture = [data["image/png"] for data in shown if "image/png" in data][-1]
    return base64.b64decode("".join(picture))


def drawn(picture: Callable[[], Figure]) -> bytes:
    """A picture as the content of a file."""
    return charts.png(picture())


def quick_pictures() -> dict[str, Callable[[], bytes]]:
    """Name in ``docs/pictures`` -> what gives the picture, from what is in git."""
    tables = {"epsilon": epsilon_picture, "regularization": regularization_picture}
    return {f"{name}.png": partial(drawn, picture) for name, picture in tables.items()} | {
        f"{name}.png": partial(of_notebook, notebook) for name, notebook in NOTEBOOKS.items()
    }


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    front_page()
    published_values()
    which_epsilon()
    which_regularization()
