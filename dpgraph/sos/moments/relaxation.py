"""The degree-d moment relaxation of a 2-CSP (Lasserre 2001), solved exactly for small instances, with a proven bound.

Unknowns are the moments of multilinear monomials without the last label; the label constraints have been used up.
The dual of the moment problem is a sum-of-squares proof that no assignment exceeds a number (Parrilo 2003). What the
solver returns as dual point is only a proposal: it is moved onto the dual equations, made positive semidefinite by a
proven shift, and both corrections are added to the bound.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice, check_integer, shown
from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.instance import TwoCSP
from dpgraph.progress import tqdm
from dpgraph.sos.definiteness import dense_semidefinite
from dpgraph.sos.moments.monomials import Monomial, linear_in_moments, monomials, product
from dpgraph.sos.moments.pseudo_distribution import PseudoDistribution
from dpgraph.threads import deadline, time_is_up
from dpgraph.typing import FloatArray, IntArray

#: Largest moment matrix that the exact relaxation accepts.
SIZE_LIMIT = 700
# Clarabel (interior point) is the more accurate, but factorises a system quadratic in the matrix size: 11 s at 80.
_INTERIOR_POINT_LIMIT = 80
# Steps of SCS at most; the result says if they were not enough.
_SPLITTING_STEPS = 20_000
_SHARE_OF_SOLVER = 0.8  # of the time that is left: then the bound is proven
_LEAST_TIME, _MOST_TIME = 1e-3, 1e9  # seconds: none at all, and infinitely many, mean other things to them
#: What minimises, what is dual to it, and how the solver ended.
_Solved: TypeAlias = tuple[FloatArray, FloatArray, str]


def lasserre(
    instance: Any,
    degree: int = 2,
    *,
    nonnegative: bool = False,
    solver: Literal["auto", "clarabel", "scs"] = "auto",
    progress: bool = False,
) -> PseudoDistribution:
    """Optimal pseudo-distribution of a given degree, for small instances.

    At degree 2n and more pseudo-distributions are distributions, and the value is the optimum. The moment matrix has a
    row for each monomial of half the degree, of which there are O((n q)^(degree/2)).

    Parameters
    ----------
    instance : TwoCSP or graph
        A graph (as for :func:`dpgraph.max_cut`, nonnegative weights) stands for its max-cut.
    degree : int, default 2
        Even and at least 2.
    nonnegative : bool, default False
        At degree 2, require E x_ia x_jb >= 0 on the pairs with a constraint. (From degree 4 on it holds anyway.)
    solver : {"auto", "clarabel", "scs"}, default "auto"
        Interior points (Clarabel) are the more accurate, operator splitting (SCS, an ADMM) needs less memory; "auto"
        takes the former up to 80 rows. The bound is proven either way.
    progress : bool, default False
        Show on stderr what has been done: the relaxation is built, solved, its bound proven.

    Returns
    -------
    PseudoDistribution
        Its ``value`` is that of the relaxation as solved (relative error about 1e-7 where its ``status`` is
        "optimal"; "optimal_inaccurate" says that the solver stopped before); its ``upper_bound`` is a proven bound on
        every assignment, rounding errors included, in either case.

    Raises
    ------
    InvalidParameterError
        The degree is odd or below 2, the solver unknown, or the moment matrix would have more than 700 rows.
    NotConvergedError
        The solver failed.

    Examples
    --------
    >>> import networkx as nx
    >>> relaxed = lasserre(nx.cycle_graph(5), 2)
    >>> f"{relaxed.value:.4f} {relaxed.upper_bound:.4f}"
    '4.5225 4.5225'
    >>> f"{lasserre(nx.cycle_graph(5), 4).value:.4f}"
    '4.0000'
    """
    if not isinstance(instance, TwoCSP):
        instance = TwoCSP.from_networkx(instance)
    check_size(instance.n_variables, instance.alphabet_size, degree)
    check_choice("solver", solver, ("auto", "clarabel", "scs"))
    with tqdm(total=3, desc="relaxation", disable=not progress) as bar:
        problem = _MomentProblem.of(instance, min(int(degree), 2 * instance.n_variables), nonnegative)
        bar.update()
        if solver == "auto":
            size, least = len(problem.entries) / _INTERIOR_POINT_LIMIT, max(0.2, 0.1 * _time_left())
            in_time = size**6 <= least  # seconds of a step of Clarabel, which may be so late
            solver = "clarabel" if size <= 1.0 and in_time else "scs"
        moments, dual, multipliers, status = _solve(problem, solver)
        bar.update()
        values = dict(zip(problem.names, moments.tolist(), strict=True))
        bound = _proven_bound(problem, dual, multipliers)
        bar.update()
    bound = min(bound, math.nextafter(instance.total_weight, math.inf))
    return PseudoDistribution(instance, problem.degree, values, upper_bound=bound, status=status)


def check_size(n: int, q: int, degree: int) -> None:
    """Refuse a degree that is odd, or that needs more than 700 rows for n variables with q labels."""
    if check_integer("degree, an even number,", degree, 2) % 2:
        raise InvalidParameterError(f"degree must be an even integer, at least 2; got {shown(degree)}")
    size = sum(math.comb(n, k) * (q - 1) ** k for k in range(min(degree // 2, n) + 1))
    if size > SIZE_LIMIT:
        raise InvalidParameterError(
            f"degree {degree} on {n} variables with {q} labels needs a moment matrix of {size} rows, more than "
            f"{SIZE_LIMIT}; lower the degree or use the solver at scale (max_2csp, max_cut)"
        )


@dataclass(frozen=True, eq=False)
class _MomentProblem:
    """Maximise gain'y over y with y_0 = 1, matrix y[entries] positive semidefinite, and pairs @ y >= 0."""

    degree: int
    names: list[Monomial]  # of the moments y, the empty monomial first
    entries: IntArray  # shape (N, N); -1 is the constant zero
    gain: FloatArray
    pairs: sparse.csr_array

    @classmethod
    def of(cls, instance: TwoCSP, degree: int, nonnegative: bool) -> _MomentProblem:
        n, q = instance.n_variables, instance.alphabet_size
        basis = list(monomials(n, q, degree // 2))
        names = list(monomials(n, q, min(degree, n)))
        number: dict[Monomial | None, int] = {name: k for k, name in enumerate(names)}
        rows: list[list[int]] = []
        for k, S in enumerate(basis):  # if the time is up, the matrix of the first ones: it is semidefinite as well
            if k and time_is_up():
                break
            rows.append([number.get(product(S, T), -1) for T in basis[: k + 1]])
        entries = np.zeros((len(rows), len(rows)), dtype=np.int64)
        for k, row in enumerate(rows):
            entries[k, : k + 1] = entries[: k + 1, k] = row
        labels = list(itertools.product(range(q), repeat=2))
        indicators = (((u, a), (v, b)) for u, v in instance.pairs.tolist() for a, b in labels)
        probabilities = linear_in_moments(indicators, names, q - 1)
        gain = np.asarray(probabilities.T @ instance.tables.ravel(), dtype=np.float64)
        pairs = probabilities if nonnegative and degree == 2 else probabilities[:0]
        return cls(degree, names, entries, gain, pairs)


def _solve(problem: _MomentProblem, solver: str) -> tuple[FloatArray, FloatArray, FloatArray, str]:
    """Moments, proposed dual matrix, proposed multipliers of the pair probabilities, and how the solver ended."""
    N, K = problem.entries.shape[0], len(problem.names)
    if time_is_up():  # all have the last label, and nothing is known
        return np.eye(1, K)[0], np.zeros((N, N)), np.zeros(problem.pairs.shape[0]), "optimal_inaccurate"
    i, j = np.tril_indices(N) if solver == "clarabel" else np.triu_indices(N)  # as the solver lists a triangle
    inside, norms, m = problem.entries[i, j] >= 0, np.where(i == j, 1.0, math.sqrt(2.0)), problem.pairs.shape[0]
    triangle = (norms[inside], (np.flatnonzero(inside), problem.entries[i, j][inside]))
    cones = sparse.vstack([problem.pairs, sparse.csr_array(triangle, shape=(i.size, K))]).tocsc()
    scale = max(float(np.abs(problem.gain).max()), 1e-300)
    program = sparse.csc_matrix(-cones[:, 1:]), cones[:, [0]].toarray().ravel(), problem.gain[1:] / -scale
    left = min(max(_SHARE_OF_SOLVER * _time_left(), _LEAST_TIME), _MOST_TIME)
    free, duals, ended = (_by_interior_points if solver == "clarabel" else _by_splitting)(*program, m, N, left)
    if not np.all(np.isfinite(np.append(free, duals))):
        raise NotConvergedError(f"the moment relaxation could not be solved: {ended}")
    dual = np.zeros((N, N))
    dual[i, j] = dual[j, i] = scale * duals[m:] / norms
    return np.append(1.0, free), dual, scale * duals[:m], "optimal" if ended == "solved" else "optimal_inaccurate"


def _time_left() -> float:
    return deadline() - time.monotonic()


def _by_interior_points(A: Any, b: FloatArray, c: FloatArray, m: int, N: int, left: float) -> _Solved:
    """Minimise c'x where b - A x is m numbers that are nonnegative and a semidefinite N x N matrix."""
    clarabel = import_module("clarabel")
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.time_limit = False, left
    settings.chordal_decomposition_enable = False  # it panics without a gain
    cones, none = [clarabel.NonnegativeConeT(m), clarabel.PSDTriangleConeT(N)], sparse.csc_matrix((c.size, c.size))
    found = clarabel.DefaultSolver(none, c, A, b, cones, settings).solve()
    return np.array(found.x), np.array(found.z), str(found.status).lower()


def _by_splitting(A: Any, b: FloatArray, c: FloatArray, m: int, N: int, left: float) -> _Solved:
    """The same."""
    limits = {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": _SPLITTING_STEPS, "time_limit_secs": left}
    program = {"A": A, "b": b, "c": c}, {"l": m, "s": [N]}
    found = import_module("scs").SCS(*program, verbose=False, **limits).solve()
    if found["info"]["status"] == "interrupted":  # it takes the signal for itself
        raise KeyboardInterrupt
    return found["x"], found["y"], found["info"]["status"]


def _proven_bound(problem: _MomentProblem, dual: FloatArray, multipliers: FloatArray) -> float:
    """A number that no assignment exceeds, from any symmetric matrix and any multipliers.

    For Z psd, m >= 0 and the moments y of an assignment, <Z, y[entries]> >= 0 and m'(pairs y) >= 0, hence
    gain'y <= r'y with r = gain + (Z summed over the places of each moment) + pairs'm, and y_S in [0, 1]. Z is first
    moved so that r vanishes except at the empty monomial; a shift Z + s I costs s times the trace, at most s N.
    """
    N, K = problem.entries.shape[0], len(problem.names)
    places = problem.entries.ravel()
    inside = places >= 0
    multiplicity = np.bincount(places[inside], minlength=K)
    target = problem.gain + problem.pairs.T @ np.maximum(multipliers, 0.0)

    def residual(Z: FloatArray) -> FloatArray:
        return np.asarray(target + np.bincount(places[inside], weights=Z.ravel()[inside], minlength=K))

    Z = 0.5 * (dual + dual.T)
    correction = -residual(Z) / np.maximum(multiplicity, 1)
    correction[0] = 0.0
    Z = Z + np.where(inside, correction[places], 0.0).reshape(N, N)
    shift = _proven_shift(Z)
    r = residual(Z)
    rounding = 1e-14 * N * (float(np.abs(Z).sum()) + float(np.abs(target).sum()))
    return float(float(r[0]) + float(np.maximum(r[1:], 0.0).sum()) + shift * N + rounding)


def _proven_shift(Z: FloatArray) -> float:
    """Smallest tried s >= 0 for which Z + s I is proven positive semidefinite; infinite once the time limit is over."""
    smallest = float(np.linalg.eigvalsh(Z)[0])
    step = max(1e-14 * float(np.abs(Z).sum()), 1e-300)
    shift = max(-smallest, 0.0)
    while not dense_semidefinite(4.0 * Z, Z.diagonal() + shift):
        if time_is_up():
            return math.inf
        shift = max(-smallest, 0.0) + step
        step *= 2.0
    return shift
