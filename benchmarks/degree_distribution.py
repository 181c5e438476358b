"""Kolmogorov-Smirnov distance of private degree distributions, beside noise on the sorted degrees and on each degree.

    python benchmarks/degree_distribution.py

prints the table of docs/degrees.md.
"""

import networkx as nx
import numpy as np
from scipy.optimize import isotonic_regression

import dpgraph

GRAPHS = ("fb100-Caltech36", "ego-Facebook", "fb100-Rice31", "ca-HepTh", "fb100-Harvard1", "ca-AstroPh", "email-Enron")
EPSILONS = (0.25, 1.0, 4.0)
RUNS = 5


def tails(degrees: np.ndarray, n: int) -> np.ndarray:
    return np.cumsum(np.bincount(degrees, minlength=n)[::-1])[::-1]


def distance(found: np.ndarray, degrees: np.ndarray, n: int) -> float:
    return float(np.abs(tails(found, n) - tails(degrees, n)).max() / n)


def sorted_degrees(degrees: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Hay et al. 2009: Laplace noise of scale 2/epsilon on the sorted degrees, then isotonic regression."""
    noisy = np.sort(degrees) + rng.laplace(0, 2 / epsilon, degrees.size)
    return np.clip(np.rint(isotonic_regression(noisy).x), 0, degrees.size - 1).astype(np.int64)


def each_degree(graph: nx.Graph, epsilon: float, seed: int) -> np.ndarray:
    values = dpgraph.private_degrees(graph, epsilon=epsilon, rng=seed).values
    return np.clip(np.rint(values), 0, len(graph) - 1).astype(np.int64)


def main() -> None:
    print("| graph | vertices | epsilon | `private_degree_distribution` | sorted degrees (Hay et al.) | each degree |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in GRAPHS:
        graph = dpgraph.datasets.load(name)
        degrees, n = np.array([d for _, d in graph.degree]), len(graph)
        for epsilon in EPSILONS:
            runs = []
            for seed in range(RUNS):
                ours = dpgraph.private_degree_distribution(graph, epsilon=epsilon, rng=seed).degree_sequence
                peers = sorted_degrees(degrees, epsilon, np.random.default_rng(seed)), each_degree(graph, epsilon, seed)
                runs.append([distance(found, degrees, n) for found in (ours, *peers)])
            means = " | ".join(f"{mean:.4f}" for mean in np.mean(runs, axis=0))
            print(f"| {name} | {n:,} | {epsilon:g} | {means} |", flush=True)


if __name__ == "__main__":
    main()
