"""Share of the modularity of Louvain (without privacy) that `private_communities` keeps, and how long it takes.

    python benchmarks/communities.py [--runs 5] [--only NAME]

writes results/communities.csv, row by row (rows that are present are not computed again), and results/communities.md.
Everything is purely private, and nothing is chosen by hand: the call has epsilon and the graph.
"""

import argparse
import random
import time
from functools import cache

import igraph
import numpy as np
from common import DOCS, RESULTS, ResumableTable, interval, markdown_table, quote, real_graph
from scipy import sparse

import dpgraph

GRAPHS = (
    "fb100-Caltech36",
    "email-Eu-core",
    "ego-Facebook",
    "fb100-Rice31",
    "lastfm-asia",
    "fb100-Stanford3",
    "fb100-Harvard1",
    "ca-AstroPh",
    "fb100-Berkeley13",
)
EPSILONS = (0.5, 1.0, 2.0, 4.0)
COLUMNS = ("graph", "epsilon", "runs", "louvain", "share", "half_width", "communities", "covered", "seconds")
TABLE = RESULTS / "communities.csv"
#: Louvain runs, of which the mean counts.
_LOUVAIN_RUNS = 5


@cache
def igraph_of(name: str) -> igraph.Graph:
    upper = sparse.triu(real_graph(name)).tocoo()
    return igraph.Graph(real_graph(name).shape[0], np.column_stack([upper.row, upper.col]).tolist())


def louvain_modularity(g: igraph.Graph) -> float:
    """Mean modularity of Louvain's communities, without privacy."""
    random.seed(1)
    return float(np.mean([g.community_multilevel().modularity for _ in range(_LOUVAIN_RUNS)]))


def measure(name: str, epsilon: float, runs: int) -> dict[str, object]:
    """One row of the table."""
    g, shares, sizes, covered, seconds = igraph_of(name), [], [], [], []
    most = louvain_modularity(g)
    for seed in range(runs):
        start = time.process_time()
        found = dpgraph.private_communities(real_graph(name), epsilon=epsilon, rng=seed)
        seconds.append(time.process_time() - start)
        exact = g.modularity(found.labels.tolist())
        shares.append(exact / most)
        sizes.append(len(found.communities))
        covered.append(abs(found.estimated_modularity - exact) <= 1.96 * found.estimated_modularity_std)
    mean, half = interval(shares)
    return {
        "graph": name,
        "epsilon": epsilon,
        "runs": runs,
        "louvain": round(most, 4),
        "share": round(mean, 4),
        "half_width": round(half, 4),
        "communities": np.mean(sizes),
        "covered": int(np.sum(covered)),
        "seconds": round(float(np.median(seconds)), 2),
    }


def write_page(table: ResumableTable) -> None:
    """The Markdown table of all rows."""
    lines = []
    for name in GRAPHS:
        rows = [table.rows.get((name, str(epsilon))) for epsilon in EPSILONS]
        if all(rows):
            A = real_graph(name)
            shares = [f"{float(row['share']):.2f} ± {float(row['half_width']):.2f}" for row in rows]
            facts = (f"{A.shape[0]:,}", f"{A.nnz / A.shape[0]:.0f}", f"{float(rows[0]['louvain']):.3f}")
            lines.append((name, *facts, *shares, max(float(row["seconds"]) for row in rows)))
    covered, runs = (sum(int(row[column]) for row in table.rows.values()) for column in ("covered", "runs"))
    header = ("graph", "vertices", "degree", "Louvain", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS), "seconds")
    text = (
        "# Communities\n\nShare of the modularity that Louvain finds without privacy (fourth column), "
        "with 95 % intervals of the mean. Purely private, nothing chosen by hand.\n\n"
        f"{markdown_table(header, lines)}\n"
        f"The estimated modularity was within 1.96 of its standard deviations in {covered} of {runs} runs.\n"
    )
    (RESULTS / "communities.md").write_text(text)
    quote(DOCS / "communities.md", "communities", text.split("\n\n", 1)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=GRAPHS)
    options = parser.parse_args()
    table = ResumableTable(TABLE, ("graph", "epsilon"), COLUMNS)
    with table.writing():
        for name in [options.only] if options.only else GRAPHS:
            for epsilon in EPSILONS:
                if (name, str(epsilon)) not in table.rows:
                    table.add(measure(name, epsilon, options.runs))
                    print(table.rows[name, str(epsilon)], flush=True)
    write_page(table)


if __name__ == "__main__":
    main()
