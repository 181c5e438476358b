"""What each part of the exact solvers contributes: the same instance with parts left out. Writes results/ablation.md.

OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/ablation.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np
from common import DATA, RESULTS, markdown_table
from scipy import sparse

from dpgraph import max_2csp, max_cut
from dpgraph.datasets import read_sparse
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.rounding import hyperplane_rounding, improve, one_opt
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution

GRAPHS = ("G1", "G11", "G14", "G22", "G32", "G43")
STARTS = 8  # of every local search
CUTS = """# What each part of the solver contributes

Largest cuts and processor seconds of one thread; rng=0. *hyperplanes*: the best of 100. *independent, 1* and *40*: what
independent signs with the means of the relaxation are worth in expectation after so many seeds (beam=1). *local search
alone* starts from random cuts.

"""
STRUCTURED = """
## Where conditioning or degree 4 might find what the local search misses

Planted unique games (95 % of the constraints as planted; all of them in rings) and complete graphs with weights of both
signs; two instances of each. *local search*: default sweeps from eight random starts. *restarted*: again and again for
the processor seconds of the relaxation with four seeds. *rounded* is what the relaxation gives without any local
search: of degree 2 with 0 and 4 seeds, of degree 4 for the signed graphs. What beats the restarted local search is
**bold**. Bounds are those of the same calls.

"""


def timed(solve: Callable[[], float]) -> tuple[float, float]:
    """Value and processor seconds."""
    began = time.process_time()
    value = solve()
    return value, time.process_time() - began


def parts(A: sparse.csr_array) -> dict[str, tuple[float, float]]:
    """Cut and seconds with parts of the solver."""
    objective = SparseObjective(A)

    def relaxed(finish: Callable[[np.ndarray], np.ndarray]) -> float:
        rng = np.random.default_rng(0)
        cuts = hyperplane_rounding(objective, solve_low_rank(objective, rng).vectors, 100, rng, keep=STARTS)
        return float(objective.values(finish(cuts)).max())

    def conditioned(**options: int) -> Solution:
        return solve_max_cut(objective, SolverOptions(local_search=False, **options), 0)  # no cutting planes

    def independent(seeds: int) -> float:
        last = conditioned(seeds=seeds, beam=1).trace[-1]
        return last.value - last.local_correlation

    def searched() -> float:
        rng = np.random.default_rng(0)
        return objective.cut_value(improve(objective, np.where(rng.random((A.shape[0], STARTS)) < 0.5, 1.0, -1.0), rng))

    return {
        "hyperplanes": timed(lambda: relaxed(lambda cuts: cuts)),
        "8 seeds, no local search": timed(lambda: conditioned(seeds=8).value),
        "independent, 1": timed(lambda: independent(1)),
        "independent, 40": timed(lambda: independent(40)),
        "relaxation, 1-opt": timed(lambda: relaxed(lambda cuts: one_opt(objective, cuts))),
        "local search alone": timed(searched),
        "default": timed(lambda: max_cut(A, rng=0).value),
    }


def unique_game(G: nx.Graph, q: int, kept: float, seed: int) -> TwoCSP:
    """Constraints x_v = x_u + c mod q on the edges, of which a share agrees with planted labels."""
    rng = np.random.default_rng(seed)
    pairs = np.array(sorted(tuple(sorted(edge)) for edge in nx.convert_node_labels_to_integers(G).edges))
    labels = rng.integers(q, size=G.number_of_nodes())
    planted = rng.random(len(pairs)) < kept
    shifts = np.where(planted, labels[pairs[:, 1]] - labels[pairs[:, 0]], rng.integers(q, size=len(pairs))) % q
    instance = TwoCSP(G.number_of_nodes(), q)
    instance.add_constraints(pairs, np.stack([np.roll(np.eye(q), shift, axis=1) for shift in shifts]))
    return instance


def signed_graph(n: int, seed: int) -> TwoCSP:
    """A complete graph whose edges want their ends equal or different at random."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    equal = rng.random(u.size) < 0.5
    instance = TwoCSP(n, 2)
    instance.add_constraints(np.stack([u, v], axis=1), np.where(equal[:, None, None], np.eye(2), 1.0 - np.eye(2)))
    return instance


def structured() -> Iterator[tuple[str, TwoCSP, bool]]:
    """Name, instance and whether it is of degree 4."""
    for seed in (0, 1):
        yield f"ring of 80, 5 labels, {seed}", unique_game(nx.cycle_graph(80), 5, 1.0, seed), False
        yield f"grid 8 x 8, 6 labels, {seed}", unique_game(nx.grid_2d_graph(8, 8), 6, 0.95, seed), False
        regular = nx.random_regular_graph(3, 100, seed=seed)
        yield f"3-regular 100, 4 labels, {seed}", unique_game(regular, 4, 0.95, seed), False
        yield f"signed complete 10, {seed}", signed_graph(10, seed), True


def local_search(instance: TwoCSP, seconds: float = 0.0) -> float:
    """Value of a local search from random labels, restarted until the processor seconds are over."""
    objective, best, rng = CSPObjective.of(instance), 0.0, np.random.default_rng(0)
    began = time.process_time()
    while not best or time.process_time() - began < seconds:
        starts = rng.integers(instance.alphabet_size, size=(STARTS, instance.n_variables))
        best = max(best, objective.value(improve_labels(objective, starts, rng)))
    return best


def compared(name: str, instance: TwoCSP, *, degree_4: bool) -> list[str]:
    """A line of the second table."""
    first, *calls = ({"degree": 4},) if degree_4 else ({"seeds": 0}, {"seeds": 4})
    results = []
    for arguments in (first, *calls):
        began = time.process_time()
        results.append(max_2csp(instance, rng=0, local_search=False, **arguments))
        seconds = time.process_time() - began
    rivals = local_search(instance), local_search(instance, seconds)
    rounded = [f"**{r.value:.0f}**" if r.value > rivals[1] + 1e-9 else f"{r.value:.0f}" for r in results]
    bounds = [f"{r.upper_bound:.2f}" for r in results]
    rounded, bounds = ([*cells, "-"][:2] for cells in (rounded, bounds))
    return [name, *(f"{value:.0f}" for value in rivals), f"{seconds:.1f}", *rounded, *bounds]


def main() -> None:
    """Measure and write."""
    cuts, lines = [], []
    for row, name in enumerate(GRAPHS):
        A = read_sparse(DATA / f"{name}.txt.gz")[0]
        parts(A) if row == 0 else None  # compiled
        found = parts(A)
        cuts.append([name, *(f"{value:.0f} ({seconds:.2f} s)" for value, seconds in found.values())])
        print(cuts[-1], flush=True)
    compared("compiled", unique_game(nx.cycle_graph(5), 3, 1.0, 0), degree_4=False)
    for name, instance, degree_4 in structured():
        lines.append(compared(name, instance, degree_4=degree_4))
        print(lines[-1], flush=True)
    header = ["instance", "local search", "restarted", "s", "rounded", "rounded, 4 seeds", "bound", "bound, 4 seeds"]
    page = CUTS + markdown_table(["graph", *found], cuts) + STRUCTURED + markdown_table(header, lines)
    (RESULTS / "ablation.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
