"""Clusters of the rows of a private embedding: the default strategy beside "communities".

    python -m benchmarks.embedding_clusters [RUNS]

The rows of an embedding of rank 5 are scaled to length one and clustered by k-means. Clusters are compared with
Louvain's communities of the exact graph by the adjusted Rand index. k is the number of these communities that have a
fiftieth of the vertices. The default has delta 1e-6, "communities" is pure. Planted partitions have other sizes and
degrees than those of any other table. A difference below two standard errors is "equal".
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import dpgraph
from benchmarks.ablations.inputs import partition
from benchmarks.common import markdown_table, real_graph
from dpgraph.denoise.louvain import louvain

RESULTS = Path(__file__).parent / "results" / "embedding_clusters.md"
GRAPHS = (
    "fb100-Caltech36", "fb100-Reed98", "fb100-Haverford76", "fb100-Swarthmore42", "fb100-Rice31", "email-Eu-core",
    "ego-Facebook", "ca-GrQc", "lastfm-asia", "wiki-Vote", "ca-HepPh", "musae-facebook",
)  # fmt: skip
#: Vertices, parts, average degree, odds of an edge inside a part over one between, exponent of the tail of degrees.
PLANTED = ((900, 4, 50.0, 6.0, 2.7), (1700, 7, 40.0, 12.0, 2.5))
EPSILONS = (1.0, 2.0, 4.0)
RANK, LEAST = 5, 0.02


def agreement(embedding: np.ndarray, truth: np.ndarray, seed: int) -> float:
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score
    from sklearn.preprocessing import normalize

    k = int(np.count_nonzero(np.bincount(truth) >= LEAST * truth.size))
    found = KMeans(k, n_init=5, random_state=seed).fit_predict(normalize(embedding))
    return float(adjusted_rand_score(truth, found))


def inputs() -> dict[str, sparse.csr_array]:
    named = {name: real_graph(name) for name in GRAPHS}
    return named | {f"{p[1]} parts, n = {p[0]}, degree {p[2]:g}": partition(*p, 11) for p in PLANTED}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    lines = []
    for name, graph in inputs().items():
        A = sparse.csr_array(graph, dtype=float)
        truth = louvain(A, 1.0, np.random.default_rng(0))
        for epsilon in EPSILONS:
            found = np.array(
                [
                    [
                        agreement(
                            dpgraph.private_normalized_adjacency(
                                A, epsilon=epsilon, delta=delta, rank=RANK, mechanism=mechanism, rng=seed
                            ).embedding(),
                            truth,
                            seed,
                        )
                        for mechanism, delta in (("auto", 1e-6), ("communities", 0.0))
                    ]
                    for seed in range(runs)
                ]
            )
            (default, blocks), gain = found.mean(axis=0), np.diff(found, axis=1)
            error = float(gain.std(ddof=1) / np.sqrt(runs))
            verdict = "equal" if abs(gain.mean()) < 2 * error else "better" if gain.mean() > 0 else "**lost**"
            lines.append([name, f"{epsilon:g}", f"{default:.2f}", f"{blocks:.2f}", f"{error:.2f}", verdict])
            print(*lines[-1], flush=True)
    header = ["graph", "ε", "default", "communities", "standard error of the difference", "communities are"]
    title = f"# Agreement of clusters of private embeddings with Louvain's communities, mean of {runs} runs"
    RESULTS.write_text("\n\n".join([title, markdown_table(header, lines).strip()]) + "\n")


if __name__ == "__main__":
    main()
