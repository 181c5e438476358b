"""Graphs and a neighbour of each, from genes: families of all densities, weights that are no dyadic multiples."""

from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

from tests.privacy.attack.genes import SCALE, Choice, Either, Gene, Genome, Maybe, Seed, Share, Whole
from tests.privacy.inputs import Data

_FAMILIES = ("random", "planted", "blocks", "hubs", "bipartite", "empty", "cliques", "regular")
#: Bounds on a weight: those that are no multiples of a power of two are ordinary ones.
_BOUND = Either(Choice((0.1, 0.3, 1 / 3, 0.7, 5.0)), SCALE)
#: Public attribute of the vertices of networkx graphs: even and odd ones.
SIDE = "side"
_PAIRS = ("random", "largest", "smallest", "mixed", "first")


def graph_genes(largest: int, least: int = 2) -> dict[str, Gene]:
    """Genes of a graph of `least` to `largest` vertices and of the pair that changes."""
    return {
        "family": Choice(_FAMILIES),
        "n": Whole(least, largest),
        "density": Share(),
        "contrast": Share(),
        "data seed": Seed(),
        "weights": Choice(("all", "all", "random", "fractions")),
        "max_weight": Maybe(_BOUND),
        "pair": Choice(_PAIRS),
        "before": Choice((0.0, 0.0, 1.0)),
        "after": Share(),
    }


def adjacency(genome: Genome) -> np.ndarray:
    """0/1 adjacency matrix of the family."""
    n, p, rng = genome["n"], genome["density"], np.random.default_rng(genome["data seed"])
    contrast, half = genome["contrast"], max(n // 2, 1)
    side = np.arange(n) < half
    same = side[:, None] == side[None, :]
    match genome["family"]:
        case "random":
            chance = np.full((n, n), p)
        case "planted":
            chance = np.where(same, p * (1 - contrast), p)
        case "blocks":
            chance = np.where(same, p, p * (1 - contrast))
        case "hubs":
            hub = np.arange(n) < max(1, round(contrast * n / 4))
            chance = np.where(hub[:, None] | hub[None, :], 1.0, p / 10)
        case "bipartite":
            first = np.arange(n) < max(1, round(contrast * half))
            chance = np.where(first[:, None] != first[None, :], 1.0, 0.0)
        case "cliques":
            chance = np.where(same, 1.0, 0.0)
        case "regular":
            shift = (np.arange(n)[:, None] - np.arange(n)[None, :]) % n
            width = max(1, round(p * n / 2))
            chance = np.where(np.minimum(shift, n - shift) <= width, 1.0, 0.0)
        case _:
            chance = np.zeros((n, n))
    upper = np.triu(rng.random((n, n)) < chance, 1)
    return (upper | upper.T).astype(np.float64)


def weighted(genome: Genome) -> tuple[np.ndarray, float]:
    """Weights of a graph, and their public bound."""
    A, w = adjacency(genome), genome["max_weight"] or 1.0
    if genome["weights"] == "all":
        return A * w, w
    rng, n = np.random.default_rng(genome["data seed"] + 1), len(A)
    share = rng.random((n, n)) if genome["weights"] == "random" else rng.integers(1, 11, (n, n)) / 10
    A = np.triu(A * share, 1)
    return (A + A.T) * w, w


def changed_pair(genome: Genome, weights: np.ndarray) -> tuple[int, int]:
    """The pair in which neighbours differ."""
    rng, n = np.random.default_rng(genome["data seed"] + 2), len(weights)
    by_degree = np.argsort(-weights.sum(axis=1), kind="stable")
    match genome["pair"]:
        case "largest":
            i, j = by_degree[:2]
        case "smallest":
            i, j = by_degree[-2:]
        case "mixed":
            i, j = by_degree[[0, -1]]
        case "first":
            i, j = 0, 1
        case _:
            i, j = rng.choice(n, size=2, replace=False)
    return int(i), int(j)


def graph_pair(genome: Genome) -> tuple[np.ndarray, np.ndarray, float]:
    """Weights on G, weights on G', and the public bound on a weight."""
    here, w = weighted(genome)
    i, j = changed_pair(genome, here)
    here[i, j] = here[j, i] = genome["before"] * w
    there = here.copy()
    after = genome["after"] if abs(genome["after"] - genome["before"]) > 1e-9 else 1 - genome["before"]
    there[i, j] = there[j, i] = after * w
    return here, there, w


def graph_inputs(genome: Genome) -> tuple[Data, Data]:
    """As an unweighted networkx graph where the genes say nothing of weights, as a matrix otherwise."""
    here, there, w = graph_pair(genome)
    if genome["max_weight"] is None and genome["weights"] == "all" and genome["after"] in (0.0, 1.0):
        return Data(nx.from_numpy_array(here)), Data(nx.from_numpy_array(there))
    return Data(here, {"max_weight": w}), Data(there, {"max_weight": w})


def unweighted_inputs(genome: Genome) -> tuple[Data, Data]:
    """For functions that take no weights: one edge comes or goes, whatever weights the genes say."""
    here = adjacency(genome)
    i, j = changed_pair(genome, here)
    here[i, j] = here[j, i] = genome["before"]
    there = here.copy()
    there[i, j] = there[j, i] = 1 - genome["before"]
    return Data(nx.from_numpy_array(here)), Data(nx.from_numpy_array(there))


def networkx_inputs(genome: Genome, **public: Any) -> tuple[Data, Data]:
    """A networkx graph, with weights where the function takes them."""
    here, there, w = graph_pair(genome)
    if genome["max_weight"] is None:
        here, there = (side > 0 for side in (here, there))
        public = public | ({"weight": None} if "weight" in public else {})
    elif "weight" in public:
        public = public | {"weight": "weight", "max_weight": w}
    graphs = [nx.from_numpy_array(np.asarray(side, dtype=np.float64)) for side in (here, there)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: v % 2 for v in graph}, SIDE)
    first, second = (Data(graph, public) for graph in graphs)
    return first, second


def large_genes() -> dict[str, Gene]:
    """Genes of a few hubs with up to a million neighbours: sums of many weights."""
    return {
        "n": Whole(20_000, 1_000_000),
        "hubs": Whole(1, 3),
        "share": Share(),
        "spread": Choice((0.0, 0.0, 1.0)),
        "max_weight": Maybe(SCALE, 0.8),
        "leaf": Share(),
        "data seed": Seed(),
    }


def large_inputs(genome: Genome) -> tuple[Data, Data]:
    """Hubs joined to everything by weights that are alike or random; one hub gains a vertex at full weight."""
    n, hubs, w = genome["n"], genome["hubs"], genome["max_weight"] or 1.0
    rng = np.random.default_rng(genome["data seed"])
    leaves = np.tile(np.arange(hubs, n), hubs)
    weights = np.full(leaves.size, genome["share"]) * (1 - genome["spread"] * rng.random(leaves.size))
    edge = min(int(genome["leaf"] * (n - hubs)), n - hubs - 1)
    sides = []
    for weight in (0.0, 1.0):
        weights[edge] = weight
        ends = (np.repeat(np.arange(hubs), n - hubs), leaves)
        upper = sparse.coo_array((weights * w, ends), shape=(n, n))
        sides.append(Data(sparse.csr_array(upper + upper.T), {"max_weight": w}))
    return sides[0], sides[1]
