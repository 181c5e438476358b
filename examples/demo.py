"""What `make demo` runs: communities, a synthetic twin, a degree distribution and a cut, under one budget.

    python examples/demo.py [FILE] [EPSILON]

Without a file: 305 airports of the United States and which of them had flights between them in 2008 (public domain,
part of the package). Think of the routes as secret, and of the airports as public. Writes a report of one page to demo/
(report.html and report.png), and what it was made from. No network is used.
"""

from __future__ import annotations

import base64
import csv
import html
import sys
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import dpgraph
from dpgraph import datasets

REPOSITORY = Path(__file__).resolve().parent.parent
OUTPUT = REPOSITORY / "demo"
#: Colours that readers with any colour vision tell apart (Paul Tol).
GREY, BLUE, ORANGE = "#777777", "#0077BB", "#EE7733"
COLOURS = ("#332288", "#CC6677", "#117733", "#DDCC77", "#88CCEE", "#AA4499", "#44AA99", "#882255", "#999933")
#: Parts of the budget, fixed before anything is read.
SHARES = {"twin": 0.7, "cut": 0.2, "degrees": 0.1}


def main(arguments: list[str]) -> None:
    G = datasets.read_edgelist(arguments[0]) if arguments else datasets.load("us-flights")
    name = Path(arguments[0]).name if arguments else "flights in the United States, 2008"
    epsilon = float(arguments[1]) if len(arguments) > 1 else 4.0

    budget = dpgraph.PrivacyAccountant(epsilon=epsilon)
    # One release for both: the communities, and a model from which synthetic graphs are drawn.
    model = dpgraph.private_synthetic_graph(G, epsilon=SHARES["twin"] * epsilon, accountant=budget)
    cut = dpgraph.private_max_cut(G, epsilon=SHARES["cut"] * epsilon, accountant=budget)
    degrees = dpgraph.private_degree_distribution(G, epsilon=SHARES["degrees"] * epsilon, accountant=budget)
    twin = model.sample()  # as many as one likes: they cost nothing more

    rows = published(model, twin, cut, degrees)
    print(
        f"{name}: {len(G):,} vertices\n\n"
        f"published, ({epsilon:g}, 0)-differentially private in all; ± is half a 95 % interval of the noise"
    )
    print(*(f"  {what:<30} {value}" for what, value in rows), sep="\n")
    print(f"\nthe guarantee, release by release:\n{budget.report().table()}")
    truth = exact(G, model, cut, twin)
    print("\nthis network is public, so we may look (NOT PRIVATE; never publish these for a secret network):")
    print(*(f"  {what:<30} {value}" for what, value in truth), sep="\n")

    OUTPUT.mkdir(exist_ok=True)
    figure = picture(model, twin, cut, degrees, f"{name}: published at ε = {epsilon:g}, δ = 0")
    figure.savefig(OUTPUT / "report.png", dpi=160)
    (OUTPUT / "report.html").write_text(page(name, epsilon, rows, budget.report().table(), truth), encoding="utf-8")
    with (OUTPUT / "communities.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("node", "community"), *zip(model.nodes, model.labels.tolist(), strict=True)])
    nx.write_edgelist(twin, OUTPUT / "twin.txt", data=False)
    print(f"\nwrote report.html, report.png, communities.csv and twin.txt to {OUTPUT}")


def published(model, twin, cut, degrees) -> list[tuple[str, str]]:
    """What everybody may know, with the noise of what is a number."""
    sizes = ", ".join(str(size) for size in np.bincount(model.labels))
    half, tail = cut.privacy.half_width("cut weight"), degrees.privacy.half_width(degrees.privacy.entries[0].name)
    return [
        ("communities", f"{model.labels.max() + 1}, of {sizes} vertices"),
        ("synthetic twin", f"{twin.number_of_edges():,} edges, {sum(nx.triangles(twin).values()) // 3:,} triangles"),
        ("edges across the cut", f"{cut.estimated_value:,.0f} ± {half:,.0f} ({cut.estimated_fraction:.0%} of all)"),
        ("mean degree", f"{degrees.mean_degree:.1f}"),
        ("vertices of degree 50 or more", f"{degrees.counts[50:].sum():,} ± {tail:,.0f}"),
    ]


def exact(G, model, cut, twin) -> list[tuple[str, str]]:
    """How far off that is."""
    best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=0))
    found = nx.community.modularity(G, model.communities)
    true = np.array([degree for _, degree in G.degree])
    return [
        ("modularity of communities", f"{found:.3f}; {best:.3f} without privacy (Louvain)"),
        ("edges", f"{G.number_of_edges():,}; the twin has {twin.number_of_edges():,}"),
        ("triangles", f"{sum(nx.triangles(G).values()) // 3:,}"),
        ("edges across the cut", f"{dpgraph.evaluate.cut_value(G, cut.partition):,.0f}"),
        ("mean degree", f"{true.mean():.1f}"),
        ("vertices of degree 50 or more", f"{(true >= 50).sum():,}"),
    ]


# --- the picture: published values only -----------------------------------------------------------------------------


def picture(model, twin, cut, degrees, title: str) -> Figure:
    figure = Figure(figsize=(12.4, 8.0), layout="constrained")
    (groups, graph), (sides, curve) = figure.subplots(2, 2, height_ratios=(1.15, 1))
    places = public_places(model.nodes, twin)
    colours = np.array([COLOURS[k] if k < len(COLOURS) else GREY for k in model.labels])
    sizes = 6 + 2.2 * np.clip(model.degrees, 0, None)

    draw_vertices(groups, places, colours, sizes)
    groups.set_title(f"{model.labels.max() + 1} communities; a dot grows with the private degree", loc="left")

    at = {node: i for i, node in enumerate(model.nodes)}
    edges = np.array([(at[u], at[v]) for u, v in twin.edges], dtype=np.int64).reshape(-1, 2)
    inside = model.labels[edges[:, 0]] == model.labels[edges[:, 1]]
    shades = np.where(inside, colours[edges[:, 0]], "#BBBBBB")
    graph.add_collection(LineCollection(list(places[edges]), colors=list(shades), linewidths=0.4, alpha=0.35))
    draw_vertices(graph, places, colours, sizes / 3)
    graph.set_title(f"a synthetic twin: {len(edges):,} drawn edges, no secret in them", loc="left")

    draw_vertices(sides, places, np.where(np.asarray(cut.labels) > 0, BLUE, ORANGE), sizes)
    sides.set_title(
        f"a cut: {cut.estimated_fraction:.0%} of the edges join blue and orange (half at random)", loc="left"
    )

    share, half = degrees.ccdf[1:], degrees.privacy.half_width(degrees.privacy.entries[0].name) / len(model.nodes)
    degree = np.arange(1, share.size + 1)
    curve.fill_between(
        degree, np.maximum(share - half, 0.5 / len(model.nodes)), share + half, color=BLUE, alpha=0.15, lw=0
    )
    curve.step(degree, share, where="pre", color=BLUE)
    curve.set(xscale="log", yscale="log", ylim=(0.5 / len(model.nodes), 1.3), xlim=(1, 1.1 * share.size))
    curve.set(xlabel="degree", ylabel="share of the vertices of at least this degree")
    curve.spines[["top", "right"]].set_visible(False)
    curve.set_title(f"degrees: {degrees.mean_degree:.1f} on average (the band holds 95 % of the noise)", loc="left")
    figure.suptitle(title, fontsize=13, weight="bold")
    return figure


def draw_vertices(axes, places, colours, sizes) -> None:
    axes.scatter(*places.T, s=sizes, c=colours, edgecolors="white", linewidths=0.4, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()


def public_places(nodes, twin) -> np.ndarray:
    """Where vertices lie: airports on the map, which is public; otherwise by a layout of the twin."""
    with (REPOSITORY / "examples" / "us_airports.csv").open(newline="") as stream:
        known = {row["airport"]: (float(row["longitude"]), float(row["latitude"])) for row in csv.DictReader(stream)}
    if set(nodes) <= set(known):
        return np.array([_on_the_map(*known[node]) for node in nodes])
    at = {node: i for i, node in enumerate(nodes)}
    drawn = igraph.Graph(len(nodes), [(at[u], at[v]) for u, v in twin.edges])
    return np.array(drawn.layout("auto").coords)


def _on_the_map(longitude: float, latitude: float) -> tuple[float, float]:
    """A flat map; Alaska, islands of the Pacific and of the Caribbean are drawn in below the south, as is usual."""
    if latitude > 50:
        return -120 + 0.25 * ((longitude if longitude < 0 else longitude - 360) + 150), 24 + 0.35 * (latitude - 60)
    if longitude < -140 or longitude > 0:
        return (-107 + 0.6 * (longitude + 157), 24 + 0.6 * (latitude - 20)) if longitude < 0 else (-112, 21.5)
    return longitude, 1.25 * (latitude - 37) + 37 if latitude > 23 else 24 + (latitude - 18)


# --- the page -------------------------------------------------------------------------------------------------------


def page(name: str, epsilon: float, rows, ledger: str, truth) -> str:
    image = base64.b64encode((OUTPUT / "report.png").read_bytes()).decode()
    facts, looks = (
        "".join(f"<tr><td>{html.escape(a)}<td>{html.escape(b)}" for a, b in table) for table in (rows, truth)
    )
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(name)}</title>
<style>
body{{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;
padding:0 1rem;color:#222}}img{{width:100%}}td{{padding:.1rem 1.2rem .1rem 0}}
pre{{overflow-x:auto;font-size:12px;background:#f4f4f4;padding:.8rem}}
.not{{border-left:4px solid #bb2222;padding-left:1rem}}</style>
<h1>{html.escape(name)}</h1>
<p>Everything above the red line may be published. It is {epsilon:g}-differentially private in all: with any single edge
added or taken away, no report is more than e<sup>{epsilon:g}</sup> times as likely. Vertices are public.</p>
<img alt="communities, a synthetic twin, a cut and the degree distribution" src="data:image/png;base64,{image}">
<h2>Published</h2><table>{facts}</table>
<p>± is half of a 95&nbsp;% interval, by the law of the noise (discrete Laplace). Edges count once.</p>
<h2>The guarantee, release by release</h2><pre>{html.escape(ledger)}</pre>
<div class="not"><h2>How far off is it? Not private</h2><p>Only because this network is public.</p>
<table>{looks}</table></div>
</html>
"""


if __name__ == "__main__":
    main(sys.argv[1:])
