"""2-CSPs beside toulbar2 at equal processor time (``pip install pytoulbar2``): one line an instance, lost ones marked.

Instances are drawn from a seed; nothing was fitted to those of another one. ``max_2csp(instance, search="optimal")``
runs twice, as the first run compiles, with a limit of processor seconds; toulbar2 has as many by its own clock. Writes
``results/csp_peers.md``.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/csp_peers.py --first 0 --seconds 10
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator

import networkx as nx
import numpy as np
from common import RESULTS, markdown_table, with_processor_time

from dpgraph import TwoCSP, max_2csp


def k_tree(n: int, k: int, rng: np.random.Generator) -> nx.Graph:
    """A random k-tree: treewidth k."""
    graph, cliques = nx.complete_graph(k + 1), list(itertools.combinations(range(k + 1), k))
    for v in range(k + 1, n):
        clique = cliques[rng.integers(len(cliques))]
        graph.add_edges_from((u, v) for u in clique)
        cliques += [(*rest, v) for rest in itertools.combinations(clique, k - 1)]
    return graph


def cactus(n: int, rng: np.random.Generator) -> nx.Graph:
    """Cycles of 3 to 6 vertices, each hung at a vertex of those before."""
    graph = nx.empty_graph(1)
    while len(graph) < n:
        first, more = int(rng.integers(len(graph))), int(rng.integers(2, 6))
        nx.add_cycle(graph, [first, *range(len(graph), len(graph) + more)])
    return graph


def drawn(seed: int) -> Iterator[tuple[str, TwoCSP]]:
    """Names and instances."""
    rng = np.random.default_rng(seed)
    graphs = {
        ("tree", 20): nx.random_labeled_tree(200, seed=seed),
        ("cactus", 20): cactus(200, rng),
        ("width 5", 12): k_tree(60, 5, rng),
        ("width 5", 20): k_tree(25, 5, rng),
        ("random graph", 4): nx.gnm_random_graph(80, 160, seed=seed),
        ("random graph", 5): nx.gnm_random_graph(100, 150, seed=seed),
        ("cubic graph", 5): nx.random_regular_graph(3, 100, seed=seed),
        ("grid 10 x 10", 5): nx.grid_2d_graph(10, 10),
        ("grid 12 x 12", 4): nx.grid_2d_graph(12, 12),
    }
    for (name, q), graph in graphs.items():
        made = TwoCSP(len(graph), q)
        for u, v in nx.convert_node_labels_to_integers(graph).edges:
            made.add_constraint(u, v, rng.integers(0, 10, (q, q)).astype(float))
        yield f"{name}, q = {q}", made
    for n, m in ((100, 400), (120, 504)):
        made = TwoCSP(n, 2)
        for _ in range(m):
            clause = np.ones((2, 2))
            clause[tuple(rng.integers(0, 2, 2))] = 0.0
            made.add_constraint(*map(int, rng.choice(n, 2, replace=False)), clause)
        yield f"max-2-SAT, {n} variables, {m} clauses", made
    for n, m in ((60, 300), (100, 250)):
        graph = nx.gnm_random_graph(n, m, seed=seed)
        yield f"3-colouring, {n} vertices, {m} edges", TwoCSP.from_networkx(graph, "coloring", range(3))


def toulbar2(instance: TwoCSP, seconds: float) -> tuple[float | None, bool, float]:
    """Value, whether it is proven, and processor seconds."""
    import pytoulbar2

    network = pytoulbar2.CFN(resolution=0, verbose=-1)
    for i in range(instance.n_variables):
        network.AddVariable(f"x{i}", range(instance.alphabet_size))
    top = 0.0
    for (u, v), table in zip(instance.pairs.tolist(), instance.tables, strict=True):
        top += float(table.max())
        network.AddFunction([f"x{u}", f"x{v}"], (table.max() - table).ravel().tolist())
    began = time.process_time()
    found = network.Solve(timeLimit=math.ceil(seconds))
    spent = time.process_time() - began
    value = top - found[1] if found else None
    return value, value is not None and top - network.GetDDualBound() <= value, spent


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="seed of the instances")
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    rows: list[list[object]] = []
    for name, instance in drawn(given.first):
        for _ in range(2):  # the first compiles
            began = time.process_time()
            result = max_2csp(instance, search="optimal", time_limit=given.seconds, rng=given.first)
            mine = time.process_time() - began
            if mine > 0.5 * given.seconds:
                break
        value, proven, theirs = toulbar2(instance, given.seconds)
        optimal = result.status == "optimal"
        behind = value is not None and (value > result.value or (proven and (not optimal or theirs < 0.5 * mine - 0.1)))
        rows.append(
            [name, f"{result.value:.0f}", result.status, f"{mine:.2f}", "none" if value is None else f"{value:.0f}",
             "optimal" if proven else "bounded", f"{theirs:.2f}", "LOST" if behind else ""]
        )  # fmt: skip
        print(*rows[-1], sep=" | ", flush=True)
    header = ["instance", "dpgraph", "status", "s", "toulbar2", "status", "s", ""]
    page = (
        "# 2-CSPs beside toulbar2\n\n"
        f'`max_2csp(instance, search="optimal", time_limit={given.seconds:.0f})`, and toulbar2 with its defaults and '
        f"the same limit, by its own clock; instances of seed {given.first}; times are processor seconds. "
        "*LOST*: toulbar2's value is better, or it proves what dpgraph does not, or it takes 0.1 s and half less.\n\n"
    )
    (RESULTS / "csp_peers.md").write_text(page + markdown_table(header, rows) + "\n")


if __name__ == "__main__":
    with_processor_time(main)
