"""Kolmogorov-Smirnov distance of private degree distributions, beside noise on the sorted degrees and on each degree.

    python benchmarks/degree_distribution.py > benchmarks/results/degree_distribution.md

Beside them stands what no mechanism can do (:func:`least_distance`).
"""

from collections import Counter

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


def free_pairs(graph: nx.Graph) -> Counter[int]:
    """Sizes m_d of matchings of pairs of vertices of degree d that are no edge, greedily; number of d by size."""
    by_degree: dict[int, list[object]] = {}
    for vertex, degree in graph.degree:
        by_degree.setdefault(degree, []).append(vertex)
    sizes: Counter[int] = Counter()
    for vertices in by_degree.values():
        free, size = list(vertices), 0
        while free:
            vertex = free.pop()
            partner = next((k for k, other in enumerate(free) if not graph.has_edge(vertex, other)), None)
            if partner is not None:
                free.pop(partner)
                size += 1
        sizes[size] += 1
    return +Counter({size: number for size, number in sizes.items() if size})


def prior(size: int, epsilon: float) -> np.ndarray:
    """A law of 0, ..., size that is hard to guess: the ends where readings reach across, else less at the ends."""
    if size * epsilon <= 4:
        return np.bincount([0, size], minlength=size + 1) / 2
    weights = np.sin(np.pi * (np.arange(size + 1) + 0.5) / (size + 1))
    return weights / weights.sum()


def most_certain(law: np.ndarray, width: int, epsilon: float) -> float:
    """The largest probability of `width` neighbouring values after an epsilon-private reading of a value of this law.

    A reading multiplies the probabilities by weights of which neighbours differ by a factor of at most e^epsilon. An
    interval gets most if the weights fall by this factor from value to value outside, and rise by it inside from both
    ends, min(a e^(epsilon i), b e^(-epsilon i)). Between two ratios a/b at which the two are equal at a whole i, the
    weights of inside and outside are linear in a/b, so that their quotient is monotone: it is largest at such a ratio,
    where the weights are e^(-epsilon |i - v|) for a value v.
    """
    values, best = np.arange(law.size), 0.0
    for v in values:
        weights = np.append(0.0, np.cumsum(law * np.exp(-epsilon * np.abs(values - v))))
        best = max(
            best, np.max(weights[min(width, law.size) :] - weights[: max(law.size - width, 0) + 1]) / weights[-1]
        )
    return float(best)


def least_distance(graph: nx.Graph, epsilon: float) -> float:
    """A Kolmogorov-Smirnov distance that every epsilon-private distribution has in the mean, near `graph`.

    *Statement.* For every epsilon-private mechanism there is a graph, with at most n/2 edges more than `graph`, where
    the mean of the distance is at least this.

    *Proof.* For each degree d take m_d disjoint pairs of vertices of degree d that are no edges, and add theta_d of
    them. This takes 2 theta_d vertices from d to d + 1: the share of degrees up to d falls by 2 theta_d/n, the other
    shares stay. Let theta_d have the law :func:`prior`, independently. One step of theta_d is one edge. So, whatever
    is released and whatever the other theta are, what is known of theta_d afterwards is its law times weights as in
    :func:`most_certain`. If all shares are known within less than 2 t/n, then each theta_d is in an interval of
    length less than 2 t, that is one of at most w = ceil(2 t) values. One theta after the other, this has at most the
    probability q_w = prod_d most_certain(law_d, w). The mean of the largest error over 2/n is the integral of 1 - q
    over t, which is the sum of (1 - q_w)/2 over w. It is a mean over the graphs too; one of them has at least as much.
    """
    # Fewer values than a degree could have are a smaller family: still a bound, and quicker.
    most = int(np.ceil(30 / epsilon))
    sizes: Counter[int] = Counter()
    for size, number in free_pairs(graph).items():
        sizes[min(size, most)] += number
    total = 0.0
    for width in range(1, most + 1):
        certain = {size: most_certain(prior(size, epsilon), width, epsilon) for size in sizes}
        total += (1 - np.prod([certain[size] ** number for size, number in sizes.items()])) / 2
    return float(2 * total / len(graph))


def main() -> None:
    print("# Kolmogorov-Smirnov distance of private degree distributions to the true one, mean of five runs\n")
    print("| graph | vertices | epsilon | ours | no mechanism below | sorted degrees | each degree |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in GRAPHS:
        graph = dpgraph.datasets.load(name)
        degrees, n = np.array([d for _, d in graph.degree]), len(graph)
        for epsilon in EPSILONS:
            runs = []
            for seed in range(RUNS):
                ours = dpgraph.private_degree_distribution(graph, epsilon=epsilon, rng=seed).degree_sequence
                peers = sorted_degrees(degrees, epsilon, np.random.default_rng(seed)), each_degree(graph, epsilon, seed)
                runs.append([distance(found, degrees, n) for found in (ours, *peers)])
            ours, *others = (f"{mean:.4f}" for mean in np.mean(runs, axis=0))
            cells = (name, f"{n:,}", f"{epsilon:g}", ours, f"{least_distance(graph, epsilon):.4f}", *others)
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
