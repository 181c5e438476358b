"""What a projection reports about itself."""

from dataclasses import dataclass

from dpgraph.result import Result
from dpgraph.typing import FloatArray

__all__ = ["ProjectionResult"]


@dataclass(frozen=True, eq=False, repr=False)
class ProjectionResult(Result):
    """A point of a convex set near a given point, with what is known about its quality.

    Parameters
    ----------
    matrix : ndarray
        The point found, in the shape of the input.
    distance : float
        Its distance to the input, in the norm of the projection.
    residual : float
        Infeasibility of `matrix`: an upper bound on its largest Frobenius distance to one of the sets.
    iterations : int
        Sweeps over the sets that were made.
    converged : bool
        Whether the stated tolerance was reached. ``False`` means that `max_iter` came first: `matrix` is then only
        as good as `residual` and ``distance - lower_bound`` say.
    lower_bound : float
        No point of the intersection is nearer to the input than this (0 where nothing is known, as for averaged
        projections). With ``residual == 0`` the gap ``distance - lower_bound`` certifies the answer.
    tol : float
        Absolute accuracy that was asked for; what it is measured by is said where the projection is documented.
    max_iter : int
        Number of iterations that was allowed.
    """

    matrix: FloatArray
    distance: float
    residual: float
    iterations: int
    converged: bool
    lower_bound: float = 0.0
    tol: float = 0.0
    max_iter: int = 1

    @property
    def gap(self) -> float:
        """Certified accuracy of :attr:`distance` when the residual is 0: ``distance - lower_bound``."""
        return self.distance - self.lower_bound

    def __repr__(self) -> str:
        return (
            f"ProjectionResult(shape={self.matrix.shape}, distance={self.distance:.6g}, "
            f"residual={self.residual:.2g}, "
            f"iterations={self.iterations} of {self.max_iter}, tol={self.tol:.2g}, converged={self.converged})"
        )
