"""What independent rounding loses after seeds, on graphs of low rank: measures for the sweeps of ``rates.py``.

DN25a's Theorems 7.8, 7.10 and 7.11 allow a loss of at most a constant times (r/t)^(1/2) of the weight after t seeds, as
the global correlation is then at most 1/t (Lemma 7.6), and beside it the singular values after the r-th. A complete
multipartite graph with r equal parts has rank r, so that nothing is beside it. Seeds are pinned here and the relaxation
of degree 2 is solved again, where the theorems condition a pseudo-distribution of degree 2t + 2.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse

import dpgraph
from dpgraph.sos.cut.conditioning import condition
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective, penalise_imbalance
from dpgraph.sos.seed_search import SolverOptions

#: Seeds at which a curve is looked at, and labels.
SEEDS, LABELS = (1, 2, 4, 8, 16), 3
TOLERANCE = 1e-3
SEARCH = {"search": "sampled", "local_search": False, "beam": 1, "rounds": 1, "tol": TOLERANCE}
#: Price of an imbalanced vertex, in units of the mean row norm: that of private halves.
PRICE = 1 / 40


def multipartite(n: int, parts: int) -> sparse.csr_array:
    """A complete graph between `parts` equal parts."""
    part = np.arange(n) * parts // n
    return sparse.csr_array((part[:, None] != part).astype(float))


def cut_losses(graph: sparse.csr_array, seed: int) -> list[float]:
    """Lost by a cut after so many seeds; a search ends where nothing is uncertain."""
    trace = dpgraph.max_cut(graph, rng=seed, seeds=SEEDS[-1], **SEARCH).trace
    return [trace[min(seeds, len(trace) - 1)].local_correlation for seeds in SEEDS]


def label_losses(graph: sparse.csr_array, seed: int) -> list[float]:
    """Lost by labels of which joined vertices should have different ones."""
    upper = sparse.triu(graph, 1).tocoo()
    instance = dpgraph.TwoCSP(graph.shape[0], LABELS)
    instance.add_constraints(np.stack(upper.coords, axis=1), 1.0 - np.eye(LABELS))
    trace = dpgraph.max_2csp(instance, rng=seed, seeds=SEEDS[-1], **SEARCH).trace
    return [trace[min(seeds, len(trace) - 1)].local_correlation for seeds in SEEDS]


def halves_losses(graph: sparse.csr_array, seed: int) -> list[float]:
    """Lost by halves, whose imbalance has a price that is not counted here."""
    objective, rng, losses = SparseObjective(graph), np.random.default_rng(seed), []
    penalised = penalise_imbalance(objective, PRICE * float(objective.row_norms.mean()))
    root = solve_low_rank(penalised, rng, tol=TOLERANCE)
    for seeds in SEEDS:
        options = SolverOptions(seeds=seeds, **SEARCH)
        found = condition(penalised, root, options, np.random.default_rng(seed), weights=penalised.vertex_weights())
        vectors, means = found.nodes[0].vectors(), found.nodes[0].means()
        losses.append(float(means @ (graph @ means) - np.sum(vectors * (graph @ vectors))) / 4)
    return losses


#: What is measured, on so many vertices, and over how many searches a run is the mean.
CURVES = {"cut": (cut_losses, 240, 16), "labels": (label_losses, 80, 4), "halves": (halves_losses, 240, 4)}


@cache
def losses(problem: str, n: int, parts: int, run: int) -> dict[int, float]:
    """By seeds, as a share of the edges: means over searches."""
    (curve, _, searches), graph = CURVES[problem], multipartite(n, parts)
    means = np.mean([curve(graph, searches * run + search) for search in range(searches)], axis=0)
    return dict(zip(SEEDS, (means / (graph.sum() / 2)).tolist(), strict=True))


def loss(problem: str, parts: int, name: str, x: float, seed: int) -> float:
    """One of them, of which "seeds", "parts" or vertices ("n") are x."""
    point = {"seeds": 4, "parts": parts, "n": CURVES[problem][1]} | {name: int(x)}
    return losses(problem, point["n"], point["parts"], seed)[point["seeds"]]
