"""Compares values of the numbers of `dpgraph.tuning.Communities`, one at a time, on graphs that are in no table.

    python benchmarks/fit_communities.py [--runs 4] [--only FIELD]

prints, for each number and each value of it, the share of the modularity that Louvain finds without privacy, averaged
over graphs, epsilons and runs, while the other numbers stay as they are in the package. Graphs: planted blocks of even
and of power-law degrees, three colleges and two sparse networks.
"""

import argparse
from dataclasses import replace
from functools import cache

import igraph
import numpy as np
from common import real_graph
from communities import louvain_modularity
from scipy import sparse

import dpgraph
from dpgraph.denoise import answer_communities
from dpgraph.problems import communities as problem
from dpgraph.releases.sweeps import communities as release
from dpgraph.tuning import COMMUNITIES

EPSILONS = (0.5, 1.0, 2.0, 4.0)
COLLEGES = ("fb100-Reed98", "fb100-Haverford76", "fb100-Swarthmore42")
SPARSE = ("ca-GrQc", "musae-facebook")
CANDIDATES = {
    "degree_share": (0.03, 0.05, 0.07, 0.1, 0.15),
    "block_share": (0.002, 0.005, 0.01, 0.02, 0.03),
    "merge_margin": (0.0, 1.0, 1.5, 2.0, 4.0),
    "second_sweep": (12.0, 16.0, 22.0, 30.0),
    "sweep_signals": ((60, 250), (40, 250), (90, 250), (60, 150)),
    "signal_per_label": (8.0, 10.0, 12.5, 15.0, 18.0, 24.0),
    "least_labels": (2, 3, 4, 5),
    "most_labels": (12, 16, 20, 24, 32),
    "head": (0.0, 0.1, 0.2, 0.3),
    "head_sweeps": (2, 3),
    "core_ratio": (2.5, 4.0, 6.0),
    "core_part": (0.7, 0.8, 0.85, 0.9, 1.0),
    "core_best": (1.0, 1.25, 1.5, 1.8),
    "least_core": (25, 50, 100),
    "most_core": (1500, 3000),
    "most_vectors": (8, 16, 24, 40),
    "above_noise": (1.0, 1.05, 1.15),
    "starts": (2, 4, 8),
    "rounds": (5, 20, 40),
    "moving_part": (0.5, 0.7, 0.9),
    "rounds_again": (0, 3, 10, 20),
    "sampling": (0.1, 0.3, 1.0),
}


@cache
def planted(uneven: bool) -> sparse.csr_array:
    """Eight blocks of 2,400 vertices in all, mean degree 40; `uneven`: sizes and degrees differ."""
    rng = np.random.default_rng(8)
    n, degree = 2400, 40
    sizes = rng.dirichlet(np.full(8, 4.0)) if uneven else np.full(8, 1 / 8)
    block = rng.choice(8, n, p=sizes)
    propensity = rng.pareto(2.5, n) + 0.5 if uneven else np.ones(n)
    rates = np.outer(propensity, propensity)
    rates *= np.where(np.equal.outer(block, block), 5.0, 1.0)
    rates *= n * degree / rates.sum()
    upper = np.triu(rng.random((n, n)) < rates, 1)
    return sparse.csr_array((upper | upper.T).astype(np.float64))


def graphs() -> dict[str, sparse.csr_array]:
    """The graphs of the fit."""
    blocks = {"even blocks": planted(False), "uneven blocks": planted(True)}
    return blocks | {name: real_graph(name) for name in (*COLLEGES, *SPARSE)}


def shares(runs: int) -> list[float]:
    """Mean share at each epsilon, with the numbers that are in force."""
    found = np.zeros((len(EPSILONS), len(graphs()), runs))
    for g, A in enumerate(graphs().values()):
        upper = sparse.triu(A).tocoo()
        graph = igraph.Graph(A.shape[0], np.column_stack([upper.row, upper.col]).tolist())
        most = louvain_modularity(graph)
        for e, epsilon in enumerate(EPSILONS):
            for seed in range(runs):
                labels = dpgraph.private_communities(A, epsilon=epsilon, rng=seed).labels
                found[e, g, seed] = graph.modularity(labels.tolist()) / most
    return found.mean(axis=(1, 2)).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--only", choices=CANDIDATES)
    options = parser.parse_args()
    print("| number | value | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS) + " | mean |")
    print("| --- | --- |" + " --- |" * (len(EPSILONS) + 1))
    for field in [options.only] if options.only else CANDIDATES:
        for value in CANDIDATES[field]:
            release.COMMUNITIES = problem.COMMUNITIES = answer_communities.COMMUNITIES = replace(
                COMMUNITIES, **{field: value}
            )
            row = shares(options.runs)
            print(f"| {field} | {value} | " + " | ".join(f"{x:.3f}" for x in [*row, np.mean(row)]) + " |", flush=True)


if __name__ == "__main__":
    main()
