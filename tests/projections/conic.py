"""A conic solver as reference, at the best accuracy that it reaches, and a set that several tests use."""

import warnings

import numpy as np

from dpgraph.projections import Box


def solved(problem, variable, near):
    """The value of `variable`, of several tolerances, that is closest to `near`.

    Clarabel's own stopping point is up to 5e-5 away from the solution where it cannot meet a tolerance, and about the
    square root of the tolerance where it can; which happens depends on the BLAS kernels of the machine. The solution is
    unique, so a point that agrees with any of them to 1e-6 agrees with it.
    """
    values = []
    for tolerance in (1e-12, 1e-11, 1e-10, 1e-9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(
                solver="CLARABEL",
                tol_gap_abs=tolerance,
                tol_gap_rel=tolerance,
                tol_feas=tolerance,
                direct_solve_method="qdldl",
            )
        values.append(variable.value)
    return min(values, key=lambda value: np.abs(value - near).max())


def diagonal_box(n, lower, upper):
    """Square matrices with bounds on their diagonal entries only."""
    on = np.eye(n, dtype=bool)
    return Box(np.where(on, lower, -np.inf), np.where(on, upper, np.inf))
