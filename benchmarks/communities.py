"""What `private_communities` keeps of Louvain's communities (without privacy): of their modularity, and of themselves.

    python benchmarks/communities.py [--runs 5] [--only NAME]

writes results/communities.csv, row by row (rows that are present are not computed again), and results/communities.md.
Everything is purely private, and nothing is chosen by hand: the call has epsilon and the graph. Partitions of nearly
the same modularity may have little in common, so agreement is measured beside it: the adjusted Rand index (ARI) and the
normalised mutual information (NMI) with Louvain's communities, and the ARI between runs. Louvain's own agreement
between its runs is the most that can be asked for.
"""

import argparse
import itertools
import random
import time
from functools import cache

import igraph
import numpy as np
from common import RESULTS, ResumableTable, interval, markdown_table, real_graph
from scipy import sparse

import dpgraph

GRAPHS = (
    "fb100-Caltech36",
    "fb100-Reed98",
    "email-Eu-core",
    "fb100-Haverford76",
    "fb100-Swarthmore42",
    "ego-Facebook",
    "fb100-Rice31",
    "lastfm-asia",
    "fb100-Stanford3",
    "fb100-Harvard1",
    "ca-AstroPh",
    "fb100-Berkeley13",
)
EPSILONS = (0.5, 1.0, 2.0, 4.0)
COLUMNS = (
    "graph", "epsilon", "runs", "louvain", "share", "half_width", "ari", "nmi", "between", "own_ari", "own_nmi",
    "communities", "covered", "seconds",
)  # fmt: skip
TABLE = RESULTS / "communities.csv"
#: Louvain runs, of which the mean counts.
_LOUVAIN_RUNS = 5


@cache
def igraph_of(name: str) -> igraph.Graph:
    upper = sparse.triu(real_graph(name)).tocoo()
    return igraph.Graph(real_graph(name).shape[0], np.column_stack([upper.row, upper.col]).tolist())


@cache
def louvain(name: str) -> list[igraph.VertexClustering]:
    """Louvain's communities in some runs, without privacy."""
    return louvain_runs(igraph_of(name))


def louvain_runs(g: igraph.Graph) -> list[igraph.VertexClustering]:
    random.seed(1)
    return [g.community_multilevel() for _ in range(_LOUVAIN_RUNS)]


def agreement(some: list[list[int]], others: list[list[int]] | None = None, method: str = "adjusted_rand") -> float:
    """Mean agreement of each with each, or of every two of the same."""
    pairs = itertools.combinations(some, 2) if others is None else itertools.product(some, others)
    return float(np.mean([igraph.compare_communities(*pair, method=method) for pair in pairs]))


def measure(name: str, epsilon: float, runs: int) -> dict[str, object]:
    """One row of the table."""
    g, shares, labels, covered, seconds = igraph_of(name), [], [], [], []
    most = float(np.mean([found.modularity for found in louvain(name)]))
    theirs = [found.membership for found in louvain(name)]
    for seed in range(runs):
        start = time.process_time()
        found = dpgraph.private_communities(real_graph(name), epsilon=epsilon, rng=seed)
        seconds.append(time.process_time() - start)
        labels.append(found.labels.tolist())
        exact = g.modularity(labels[-1])
        shares.append(exact / most)
        covered.append(abs(found.estimated_modularity - exact) <= 1.96 * found.estimated_modularity_std)
    mean, half = interval(shares)
    measured = {
        "louvain": most,
        "share": mean,
        "half_width": half,
        "ari": agreement(labels, theirs),
        "nmi": agreement(labels, theirs, "nmi"),
        "between": agreement(labels),
        "own_ari": agreement(theirs),
        "own_nmi": agreement(theirs, method="nmi"),
        "seconds": float(np.median(seconds)),
    }
    return {column: round(value, 4) for column, value in measured.items()} | {
        "graph": name,
        "epsilon": epsilon,
        "runs": runs,
        "communities": np.mean([max(found) + 1 for found in labels]),
        "covered": int(np.sum(covered)),
    }


def write_page(table: ResumableTable) -> None:
    """The Markdown tables of all rows."""
    lines, agreements, colleges = [], [], []
    for name in GRAPHS:
        rows = [table.rows.get((name, str(epsilon))) for epsilon in EPSILONS]
        if all(rows):
            A = real_graph(name)
            shares = [f"{float(row['share']):.2f} ± {float(row['half_width']):.2f}" for row in rows]
            facts = (f"{A.shape[0]:,}", f"{A.nnz / A.shape[0]:.0f}", f"{float(rows[0]['louvain']):.3f}")
            lines.append((name, *facts, *shares, round(max(float(row["seconds"]) for row in rows), 2)))
            found = [" / ".join(f"{float(row[c]):.2f}" for c in ("ari", "nmi", "between")) for row in rows]
            agreements.append((name, f"{float(rows[0]['own_ari']):.2f} / {float(rows[0]['own_nmi']):.2f}", *found))
            if name.startswith("fb100") and A.nnz > 40 * A.shape[0]:
                colleges.append([float(row["ari"]) / float(row["own_ari"]) for row in rows])
    covered, runs = (sum(int(row[column]) for row in table.rows.values()) for column in ("covered", "runs"))
    epsilons = [f"epsilon {epsilon:g}" for epsilon in EPSILONS]
    header = ("graph", "vertices", "degree", "Louvain", *epsilons, "seconds")
    means = np.round(np.mean(colleges, axis=0), 2) if colleges else []
    of_own = ", ".join(f"{mean:.2f} at {epsilon:g}" for mean, epsilon in zip(means, EPSILONS, strict=False))
    text = (
        "# Communities\n\nShare of the modularity that Louvain finds without privacy (fourth column), "
        "with 95 % intervals of the mean. Purely private, nothing chosen by hand. Left out, as rows are missing: "
        f"{', '.join(name for name in GRAPHS if name not in [line[0] for line in lines]) or 'none'}.\n\n"
        f"{markdown_table(header, lines)}\n"
        f"The estimated modularity was within 1.96 of its standard deviations in {covered} of {runs} runs.\n\n"
        "## Agreement\n\nAdjusted Rand index with Louvain's communities / normalised mutual information with them / "
        "adjusted Rand index between runs. The second column has Louvain's agreement with itself (index / "
        "information), which is the most that can be asked for. A random partition has an index of 0.\n\n"
        f"{markdown_table(('graph', 'Louvain itself', *epsilons), agreements)}\n"
        f"Mean over the {len(colleges)} colleges of degree above 40 of the index, as a part of Louvain's own: "
        f"{of_own}.\n"
    )
    (RESULTS / "communities.md").write_text(text)


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
