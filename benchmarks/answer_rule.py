"""Does "auto" take the better one of randomised response and sweeps? ``python benchmarks/answer_rule.py``.

The graphs are none of those that the rule was chosen on (dpgraph/problems/answer_rule.py): dense small graphs, planted
blocks, and blocks with hubs. Utilities are the fraction of the edges that are cut, and the
modularity over that of Louvain's method without privacy. Columns: the mean of each strategy over SEEDS runs, that of
"auto", and what "auto" lost to the better one, with the standard error of the difference of means.
"""

import argparse
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from common import RESULTS, markdown_table

import dpgraph

EPSILONS, SEEDS = (1.0, 2.0, 3.0, 4.5), 4
MECHANISMS = ("bounded-iterates", "randomized-response", "auto")


def blocks(n: int, count: int, degree: float, *, hubs: bool = False) -> nx.Graph:
    """Planted blocks, eight times as dense inside; with `hubs`, expected degrees have a tail of exponent 2.5."""
    rng = np.random.default_rng(n + count)
    weights = rng.pareto(1.5, n) + 1 if hubs else np.ones(n)
    labels = np.arange(n) % count
    odds = np.outer(weights, weights) * np.where(labels[:, None] == labels, 8.0, 1.0)
    upper = np.triu(odds, 1)
    chance = np.minimum(upper * (n * degree / 2 / upper.sum()), 1.0)
    return nx.from_numpy_array((rng.random((n, n)) < chance).astype(int))


def graphs() -> dict[str, nx.Graph]:
    return {
        "dense, n 60, d 20": nx.gnp_random_graph(60, 1 / 3, seed=4),
        "dense, n 150, d 60": nx.gnp_random_graph(150, 0.4, seed=5),
        "6 blocks, n 120, d 25": blocks(120, 6, 25),
        "8 blocks, n 400, d 16": blocks(400, 8, 16),
        "5 blocks, hubs, n 250, d 15": blocks(250, 5, 15, hubs=True),
    }


def crossing(G: nx.Graph, result: Any) -> float:
    labels = dict(zip(result.nodes, result.labels.tolist(), strict=True)) if hasattr(result, "nodes") else None
    side = result.assignment if labels is None else labels
    return float(np.mean([side[u] != side[v] for u, v in G.edges()]))


def problems() -> dict[str, Callable[[nx.Graph, dict[str, Any]], tuple[float, str]]]:
    def communities(G: nx.Graph, options: dict[str, Any]) -> tuple[float, str]:
        found = dpgraph.private_communities(G, **options)
        best = nx.community.modularity(G, nx.community.louvain_communities(G, seed=0))
        return nx.community.modularity(G, [c for c in found.communities if c]) / best, found.mechanism

    def parts(k: int, G: nx.Graph, options: dict[str, Any]) -> tuple[float, str]:
        found = dpgraph.private_max_cut(G, **options) if k == 2 else dpgraph.private_max_k_cut(G, k, **options)
        return crossing(G, found), found.mechanism

    return {f"{k} parts": lambda G, options, k=k: parts(k, G, options) for k in (2, 3, 8)} | {
        "communities": communities
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="graphs whose names contain one of these")
    given = parser.parse_args()
    header = ["problem", "graph", "epsilon", "sweeps", "response", "auto", "takes response", "lost"]
    lines, losses = [], {}
    for graph, G in graphs().items():
        for problem, run in problems().items():
            for epsilon in EPSILONS if not given.names or any(name in graph for name in given.names) else ():
                found = [
                    [run(G, {"epsilon": epsilon, "mechanism": m, "rng": s}) for s in range(SEEDS)] for m in MECHANISMS
                ]
                values = np.array([[value for value, _ in row] for row in found])
                best = int(np.argmax(values[:2].mean(axis=1)))
                lost = values[best].mean() - values[2].mean()
                error = float(np.sqrt(values[[best, 2]].var(axis=1, ddof=1).sum() / SEEDS))
                taken = sum(mechanism == MECHANISMS[1] for _, mechanism in found[2])
                means = (f"{mean:.3f}" for mean in values.mean(axis=1))
                lines.append((problem, graph, epsilon, *means, f"{taken}/{SEEDS}", f"{lost:+.3f} ({error:.3f})"))
                losses.setdefault(problem, []).append((lost, *values[:2].mean(axis=1) - values[best].mean()))
                print(*lines[-1], sep=" | ", flush=True)
    text = "# Randomised response or sweeps\n\nMade by `benchmarks/answer_rule.py`, which says what is measured.\n\n"
    means = [(p, *(f"{mean:.3f}" for mean in np.abs(np.mean(rows, axis=0)))) for p, rows in losses.items()]
    text += markdown_table(["lost to the better one, mean", "auto", "sweeps", "response"], means) + "\n"
    if not given.names:
        (RESULTS / "answer-rule.md").write_text(text + markdown_table(header, lines))
    print(text)


if __name__ == "__main__":
    main()
