"""Perturb and project: Gaussian noise on an array, then the projection onto a convex set that contains every input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_memory, check_scale, require_delta
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.arrays import public_shape, read_array
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Measurement, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Relation, Shift, stated_relation
from dpgraph.privacy.report import PrivacyReport
from dpgraph.projections import ConvexSet, ProjectionResult, averaged_projections, dykstra
from dpgraph.projections.splitting import check_arguments
from dpgraph.releases.symmetric import release_symmetric


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrivateProjection(ProjectionResult):
    """A private array in a convex set.

    It is the projection of a *noisy* array, which `distance` and `lower_bound` refer to. Privacy does not depend on
    whether it converged.

    Parameters
    ----------
    privacy : PrivacyReport
        The guarantee.
    """

    privacy: PrivacyReport

    def __repr__(self) -> str:
        return f"PrivateProjection(shape={self.matrix.shape}, converged={self.converged}, {self.privacy!r})"


@private_function
def perturb_and_project(  # noqa: PLR0913
    A: ArrayLike,
    sets: ConvexSet | Sequence[ConvexSet],
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    method: Literal["dykstra", "averaged"] = "dykstra",
    symmetric: bool = False,
    tol: float = 1e-6,
    max_iter: int = 1000,
    adjacency: str | Relation | None = None,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateProjection:
    r"""Release an array with Gaussian noise and project it onto an intersection of convex sets.

    Parameters
    ----------
    A : array_like
        The private array: a vector, a matrix or a tensor. Its shape is public.
    sets : ConvexSet or sequence of ConvexSet
        Public sets (see :mod:`dpgraph.projections`) whose intersection contains every possible input. The error bound
        relies on that; privacy does not.
    sensitivity : float
        Largest l2 (Frobenius) distance between the arrays of two neighbouring data sets.
    epsilon, delta : float
        epsilon > 0; 0 < delta < 1 is needed.
    method : {"dykstra", "averaged"}, default "dykstra"
        Dykstra's method converges to the nearest point of the intersection; averaged projections converge to some point
        of it.
    symmetric : bool, default False
        State, as a public fact, that `A` is a symmetric matrix. The noise is then (W + W')/2, of half the expected
        squared norm; an input that is not symmetric is replaced by (A + A')/2.
    tol, max_iter : float, int
        Accuracy of the projection (absolute, Frobenius norm), and its largest number of sweeps.
    adjacency, accountant, rng, progress
        As for :func:`~dpgraph.private_symmetric_matrix`.

    Returns
    -------
    PrivateProjection

    Raises
    ------
    InvalidParameterError, BudgetExceededError
        A parameter is out of range, the sets do not accept arrays of this shape, or `A` is not real and finite; the
        accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for arrays at l2 distance at most `sensitivity`; the noise is the smallest Gaussian
    noise with that guarantee, on a public grid (:mod:`dpgraph.privacy.grid`), and everything after it is
    post-processing.

    *Error.* If the input A lies in S, the exact projection P of A + W has ||P - A||^2 <= <W, P - A> (obtuse angle), so
    the expected squared error is at most 2 sigma G(S), with G the Gaussian complexity, and at most that of the noise.

    References
    ----------
    CDEMZ24, Algorithms 1 and 2, Theorem 5.1. BW18 (analytic Gaussian mechanism).

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.matrices.perturb_and_project import perturb_and_project
    >>> from dpgraph.projections import Box, PSDCone
    >>> gram = np.ones((30, 30))
    >>> private = perturb_and_project(
    ...     gram, [PSDCone(), Box(-1, 1)], sensitivity=1.0, epsilon=1.0, delta=1e-6, symmetric=True, rng=0
    ... )
    >>> private.converged, bool(abs(private.matrix).max() <= 1)
    (True, True)
    """
    check_choice("method", method, ("dykstra", "averaged"))
    sensitivity = check_scale("sensitivity", sensitivity)
    relation = stated_relation(adjacency, Shift("array", sensitivity))
    shape = public_shape(A)
    if not shape:
        raise InvalidParameterError("expected a vector, a matrix or a tensor; got a single number. Pass [number]")
    if symmetric and (len(shape) != 2 or shape[0] != shape[1]):
        raise InvalidParameterError(f"symmetric=True needs a square matrix; got shape {shape}")
    check_memory(f"an array of shape {shape}", copies=(17, *shape))
    for convex in check_arguments(sets, tol, max_iter):
        convex.project(np.zeros(shape))  # a set that does not accept this shape must say so before budget is spent
    delta = require_delta(delta, "perturb_and_project", "private_symmetric_matrix")
    call = open_call(epsilon=epsilon, delta=delta, accountant=accountant, relation=relation, noise=rng)
    measurement = Measurement("array", read_array(A, shape), l2=sensitivity, error=0.0)
    noisy = release_symmetric(measurement, call).matrix if symmetric else call.release(measurement).value
    if method == "averaged":
        projection = averaged_projections(noisy, sets, max_iter, tol=tol, progress=progress)
    else:
        projection = dykstra(noisy, sets, tol=tol, max_iter=max_iter, progress=progress)
    return PrivateProjection(**vars(projection), privacy=call.report())
