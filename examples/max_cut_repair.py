"""A slightly infeasible max-cut relaxation, repaired by the projection onto the elliptope.

    python examples/max_cut_repair.py

First-order conic solvers stop when constraints hold up to a tolerance: the Gram matrix that they return is a little
indefinite and its diagonal is not quite 1, so that it has no Gram vectors to round and its value is no value of the
relaxation. ``project_elliptope(X, unit_diagonal=True)`` returns the nearest matrix that satisfies everything. The
optimum is feasible and projections do not move points apart, so the repaired matrix is at least as near to it. (Nothing
here is private; after a private release the repair would be post-processing.)
"""

from __future__ import annotations

import cvxpy as cp
import networkx as nx
import numpy as np

from dpgraph.projections import project_elliptope

SLOPPY, ACCURATE = 0.1, 1e-7


def relaxation(G: nx.Graph, tolerance: float) -> np.ndarray:
    """What SCS returns for the max-cut relaxation at a tolerance."""
    L = nx.laplacian_matrix(G).toarray()
    X = cp.Variable((len(G), len(G)), symmetric=True)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(L, X)) / 4), [X >> 0, cp.diag(X) == 1])
    problem.solve(solver="SCS", eps_abs=tolerance, eps_rel=tolerance, max_iters=100_000)
    return np.asarray(X.value)


def value(G: nx.Graph, X: np.ndarray) -> float:
    """Value of the relaxation; for a matrix xx' of signs, the edges that they cut."""
    return float(np.sum(nx.laplacian_matrix(G).toarray() * X)) / 4


def infeasibility(X: np.ndarray) -> tuple[float, float]:
    """Smallest eigenvalue, and the largest error on the diagonal."""
    return float(np.linalg.eigvalsh(X)[0]), float(np.abs(np.diagonal(X) - 1).max())


def rounded(G: nx.Graph, X: np.ndarray, rng: np.random.Generator, tries: int = 200) -> float:
    """Best of many random hyperplane cuts; needs Gram vectors, hence a positive semidefinite X."""
    values, vectors = np.linalg.eigh(X)
    V = vectors * np.sqrt(np.maximum(values, 0.0))
    signs = np.where(V @ rng.normal(size=(len(G), tries)) >= 0, 1.0, -1.0)
    return max(value(G, np.outer(x, x)) for x in signs.T)


def main() -> dict[str, float]:
    G = nx.gnp_random_graph(60, 0.3, seed=1)
    rng = np.random.default_rng(0)
    sloppy, optimum = relaxation(G, SLOPPY), project_elliptope(relaxation(G, ACCURATE), unit_diagonal=True)
    repaired = project_elliptope(sloppy, unit_diagonal=True)
    for name, X in (("SCS, sloppy", sloppy), ("repaired", repaired), ("optimum", optimum)):
        low, off = infeasibility(X)
        print(f"{name:<12} value {value(G, X):9.4f}, smallest eigenvalue {low:9.1e}, diagonal off by {off:.1e}")
    numbers = {
        "before": float(np.linalg.norm(sloppy - optimum)),
        "after": float(np.linalg.norm(repaired - optimum)),
        "sloppy eigenvalue": infeasibility(sloppy)[0],
        "sloppy diagonal": infeasibility(sloppy)[1],
        "repaired eigenvalue": infeasibility(repaired)[0],
        "repaired diagonal": infeasibility(repaired)[1],
        "sloppy value": value(G, sloppy),
        "repaired value": value(G, repaired),
        "optimum": value(G, optimum),
        "cut": rounded(G, repaired, rng),
    }
    print(f"distance to the optimum {numbers['before']:.3f} -> {numbers['after']:.3f}")
    print(f"a cut rounded from the repaired matrix: {numbers['cut']:.0f} of {G.number_of_edges()} edges")
    return numbers


if __name__ == "__main__":
    main()
