r"""Points of an intersection of convex sets by projecting onto one set at a time.

:func:`dykstra` converges to the *projection* onto the intersection; :func:`averaged_projections`, the method of
CDEMZ24 Algorithm 2, converges to *some* point of it. docs/projections-theory.md has an example in which the two differ.

**The lower bound of Dykstra's method.** After any sweep, Y = x + sum_i p_i, where p_i lies in the normal cone of S_i at
the last projection x_i. For every z in the intersection <p_i, z - x_i> <= 0, so that

    ||z - Y||^2 >= ||x - Y||^2 + 2 <z - x, x - Y> >= ||x - Y||^2 - 2 sum_i <p_i, x_i - x>,

which is a lower bound on the squared distance from Y to the intersection, known at no extra cost.

Anderson acceleration of p_2, p_3, ... keeps this true, because each sweep recomputes every p_i. Next to the cone the
sweeps leave out the bounds of a box that its bounds on the diagonal imply; the points found are clipped to them
(docs/projections-theory.md, "Dykstra reaches the projection, averaging does not").
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_integer, check_nonnegative
from dpgraph.exceptions import InvalidParameterError
from dpgraph.progress import tqdm
from dpgraph.projections.anderson import AndersonAccelerator
from dpgraph.projections.convex_set import Box, ConvexSet, ProjectionResult, as_array
from dpgraph.projections.spectral_sets import PSDCone, PSDFrobeniusBall, PSDTraceBall
from dpgraph.typing import BoolArray, FloatArray

_ANDERSON_MEMORY = 10


def dykstra(
    Y: ArrayLike,
    sets: ConvexSet | Sequence[ConvexSet],
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    progress: bool = False,
) -> ProjectionResult:
    """Project onto the intersection of convex sets by Dykstra's method, accelerated.

    Parameters
    ----------
    Y : array_like
        The point, of any shape that the sets accept.
    sets : ConvexSet or sequence of ConvexSet
        Sets with a nonempty intersection. The result is computed by the last one, and so lies in it exactly.
    tol : float, default 1e-6
        Stop when the points of all sets agree, and the distance and its lower bound, within `tol` (absolute, Frobenius
        norm). Neither proves that the point is within `tol` of the projection; its error is a small multiple of it.
    max_iter : int, default 1000
        Largest number of sweeps; each projects once onto every set.
    progress : bool, default False
        Show a bar on stderr.

    Returns
    -------
    ProjectionResult
        ``converged`` is False if `max_iter` came first, as it does when the sets do not meet.

    Raises
    ------
    InvalidParameterError
        No sets, or an argument out of range.

    References
    ----------
    J. P. Boyle, R. L. Dykstra, "A method for finding projections onto the intersection of convex sets in Hilbert
    spaces", 1986, Theorem 2. CDEMZ24, Algorithm 1.

    Examples
    --------
    The nearest correlation-like matrix: positive semidefinite with entries in [-1, 1].

    >>> from dpgraph.projections import Box, PSDCone, dykstra
    >>> result = dykstra([[1.0, 2.0], [2.0, 1.0]], [PSDCone(), Box(-1, 1)])
    >>> result.converged, result.matrix.round(4)
    (True, array([[1., 1.],
           [1., 1.]]))
    """
    Y, sets = as_array(Y), check_arguments(sets, tol, max_iter)
    if len(sets) == 1:
        x = sets[0].project(Y)
        distance = float(np.linalg.norm((x - Y).ravel()))
        return ProjectionResult(x, distance, 0.0, 1, True, distance, tol, max_iter)
    wider = _without_implied_bounds(sets, Y.shape)
    # The first set's correction is recomputed from the others, so those are the state of the iteration.
    movable, accelerator = _movable_entries(wider[1:], Y.shape), AndersonAccelerator(_ANDERSON_MEMORY)
    state = np.zeros(movable.shape)
    for sweep in tqdm(range(1, max_iter + 1), desc="sweeps", disable=not progress):  # noqa: B007 (part of the result)
        points, corrections = _sweep(Y, wider, state)
        state[movable] = accelerator.advance(state[movable], np.stack(corrections[1:])[movable])
        last = points[-1]
        slack = -sum(float(np.vdot(c, p - last)) for c, p in zip(corrections, points, strict=True))
        lower = math.sqrt(max(float(np.sum((last - Y) ** 2)) + 2 * slack, 0.0))
        # Back into the sets that were asked for, by clipping.
        inside = [p if used is own else own.project(p) for p, used, own in zip(points, wider, sets, strict=True)]
        x = inside[-1]
        residual = max(float(np.linalg.norm((p - x).ravel())) for p in inside)
        distance = float(np.linalg.norm((x - Y).ravel()))
        converged = bool(residual <= tol and abs(lower - distance) <= tol)
        if converged:
            break
    return ProjectionResult(x, distance, residual, sweep, converged, lower, tol, max_iter)


def _sweep(Y: FloatArray, sets: tuple[ConvexSet, ...], state: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
    """Project onto every set once; the points found and the new corrections, which with the last point sum to Y."""
    x = Y - state.sum(axis=0)
    points, corrections = [], []
    for convex, old in zip(sets, (np.zeros(()), *state), strict=True):
        shifted = x + old
        x = convex.project(shifted)
        points.append(x)
        corrections.append(shifted - x)
    return points, corrections


def _without_implied_bounds(sets: tuple[ConvexSet, ...], shape: tuple[int, ...]) -> tuple[ConvexSet, ...]:
    """Sets of arrays of a shape with the same intersection, in the same order, whose boxes are as wide as possible."""
    conic = any(isinstance(convex, (PSDCone, PSDTraceBall, PSDFrobeniusBall)) for convex in sets)
    if not conic or len(shape) != 2 or shape[0] != shape[1]:
        return sets
    return tuple(_widened(convex, shape) if isinstance(convex, Box) else convex for convex in sets)


def _widened(box: Box, shape: tuple[int, ...]) -> Box:
    lower, upper = (np.broadcast_to(np.asarray(bound, dtype=np.float64), shape) for bound in (box.lower, box.upper))
    diagonal = np.diagonal(upper)
    if np.any(diagonal < 0):
        return box  # the sets do not meet, and sqrt has nothing to say
    root = np.sqrt(diagonal)
    with np.errstate(invalid="ignore"):  # 0 * inf: no bound, and NaN compares as "not implied"
        implied = np.outer(root, root)
        wider_upper = np.where((upper >= implied) & ~np.eye(len(root), dtype=bool), np.inf, upper)
        wider_lower = np.where(lower <= -implied, -np.inf, lower)
    # On the diagonal the lower bound is implied where it is at most 0.
    np.fill_diagonal(wider_lower, np.where(np.diagonal(lower) <= 0, -np.inf, np.diagonal(lower)))
    return Box(wider_lower, wider_upper)


def _movable_entries(sets: tuple[ConvexSet, ...], shape: tuple[int, ...]) -> BoolArray:
    """Entries that the projection onto each set may change, shape (number of sets, *shape)."""
    moved = [np.isfinite(s.lower) | np.isfinite(s.upper) if isinstance(s, Box) else True for s in sets]
    return np.stack([np.broadcast_to(entries, shape) for entries in moved])


def averaged_projections(
    Y: ArrayLike, sets: ConvexSet | Sequence[ConvexSet], iterations: int, *, tol: float = 1e-6, progress: bool = False
) -> ProjectionResult:
    """Find a point of the intersection of convex sets by averaging projections (CDEMZ24, Algorithm 2).

    Parameters
    ----------
    Y, sets
        As for :func:`~dpgraph.projections.dykstra`, like the errors; `Y` is the starting point.
    iterations : int
        Largest number of averaging steps, each ``X <- mean_i P_i(X)``.
    tol : float, default 1e-6
        Stop as soon as the current point is within `tol` (absolute, Frobenius) of every set.
    progress : bool, default False
        Show a bar on stderr.

    Returns
    -------
    ProjectionResult
        ``residual`` is the largest distance to one of the sets, ``converged`` says whether it reached `tol`. The limit
        is in general **not** the nearest point of the intersection, so no lower bound on the distance is given.

    References
    ----------
    CDEMZ24, Algorithm 2 and Corollary 5.3. H. H. Bauschke, J. M. Borwein, "On the convergence of von Neumann's
    alternating projection algorithm for two sets", 1993.

    Examples
    --------
    >>> from dpgraph.projections import Box, FrobeniusBall, averaged_projections
    >>> averaged_projections([3.0, 0.5], [Box(-1, 1), FrobeniusBall(2.0)], iterations=60).converged
    True
    """
    start, sets = as_array(Y), check_arguments(sets, tol, iterations)
    x = start
    for step in tqdm(range(iterations + 1), desc="steps", disable=not progress):
        points = [convex.project(x) for convex in sets]
        residual = max(float(np.linalg.norm((p - x).ravel())) for p in points)
        if residual <= tol or step == iterations:
            break
        x = sum(points[1:], points[0]) / len(points)
    distance = float(np.linalg.norm((x - start).ravel()))
    return ProjectionResult(x, distance, residual, step, residual <= tol, tol=tol, max_iter=iterations)


def check_arguments(sets: ConvexSet | Sequence[ConvexSet], tol: float, limit: int) -> tuple[ConvexSet, ...]:
    """Return the sets as a tuple, or raise :class:`InvalidParameterError` if an argument is out of range."""
    chosen = (sets,) if isinstance(sets, ConvexSet) or not isinstance(sets, Iterable) else tuple(sets)
    if not chosen or not all(isinstance(convex, ConvexSet) for convex in chosen):
        kinds = [type(convex).__name__ for convex in chosen]
        raise InvalidParameterError(f"expected one or more convex sets of dpgraph.projections; got {kinds}")
    check_nonnegative("tol", tol)
    check_integer("the number of iterations", limit, 1)
    return chosen
