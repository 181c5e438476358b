"""Everything about a marginal release that is known before the data is read: statistics, noise shape, constraints."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpgraph.arguments import check_integer, check_memory, shown
from dpgraph.bounds.parities import Law, NoiseShape, shape_noise
from dpgraph.denoise.forests import forest_parities
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.records import Schema
from dpgraph.linalg.parities import ParityBasis, elementary_symmetric
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.projections.moment_projection import (
    SIDE_LIMIT,
    MomentMatrix,
    MomentProjection,
    NonnegativeTables,
    parity_matrix,
    project_by_admm,
    sparsity_rows,
)
from dpgraph.releases.records.parities import Statistics
from dpgraph.typing import FloatArray

#: Largest side of a moment matrix that degree="auto" chooses.
_AUTO_SIDE = 1000
#: A projection that is still infeasible by this share of the noise would do harm; nonnegative tables alone are then
#: used. (Seen with noise of a millionth of the count, when the data sit at a corner of the moment set.)
_USABLE = 0.01
#: Tolerance and steps of the last projection, onto nonnegative tables alone. It is cheap, and it has to be accurate:
#: the repair after it moves all tables by 2**k times the most negative cell.
_POLISH, _POLISH_STEPS = 1e-5, 1000
#: More tables than these are not computed from a forest: each takes some hundredths of a millisecond.
_MOST_TABLES = 50_000
#: Share of the noise that the first of two independent noisy copies has more of.
_SPLIT = 0.5


@dataclass(frozen=True)
class Request:
    """What is asked of :func:`~dpgraph.private_marginals`; delta = 0 for pure noise."""

    k: int
    epsilon: float
    delta: float
    sparsity: int | None = None
    degree: int | str = "auto"
    adjacency: str = "replace"


class MarginalModel:
    """The public part of a call: statistics, noise, constraints."""

    def __init__(self, schema: Schema, request: Request) -> None:
        n, sparsity = len(schema.sizes), request.sparsity
        k = check_integer("k", request.k, 1, n)
        if sparsity is not None:
            sparsity = check_integer("sparsity", sparsity, 1, n)
            if not schema.binary:
                raise InvalidParameterError("sparsity= counts ones: it needs 0/1 attributes only, got categories")
        request = replace(request, k=k, sparsity=sparsity)
        self.k, self.sparsity = k, sparsity
        #: Parities that are released.
        self.released = ParityBasis(schema.sizes, k)
        groups = self.released.table_groups(k)
        self._tables_loss: FloatArray = np.sum([NonnegativeTables(g, self.released.size).gram for g in groups], axis=0)
        from_conjunctions = None if sparsity is None else parity_matrix(self.released, k)
        losses = {False: self._tables_loss}
        if from_conjunctions is not None:
            losses[True] = from_conjunctions.power(2).T @ self._tables_loss
        orders = self.released.orders
        by_order = {kind: np.bincount(orders, weights=c)[1:].astype(np.float64) for kind, c in losses.items()}
        self.noise = _quietest(self.released, by_order, request)
        # A product of characters is at most the root of the number of cells; conjunctions of more ones than a record
        # may have are 0.
        moving = k if sparsity is None or not self.noise.conjunctions else min(k, sparsity)
        largest = float(self.noise.factors[1 : moving + 1].max()) * math.sqrt(max(g.cells for g in groups))
        # Sums over records are exact. Every other addition or product is off by a relative 2**-53 at most.
        roundings = k + 8
        # What is added up for a record is off by the rounding of its coordinates: that of both where it is replaced.
        rounded = float(self.noise.factors[1 : moving + 1].max()) * self.released.rounding
        rounded *= self.released.size if self.noise.law == "laplace" else math.sqrt(self.released.size)
        rounded *= 1 if request.adjacency == "add-remove" else 2
        #: What is released.
        self.statistics = Statistics(
            schema,
            self.released,
            self.noise.conjunctions,
            sparsity,
            request.adjacency,
            factors=self.noise.factors[orders],
            sensitivity=self.noise.sensitivity + rounded,
            error_of_means=largest * roundings * 2.0**-53 * self.released.size,
        )
        self._loss = losses[self.noise.conjunctions]
        self._to_parities = from_conjunctions if self.noise.conjunctions else None
        self.degree = _choose_degree(request, self.released, conjunctions=self.noise.conjunctions)
        #: Parities that the projection handles: the released ones come first, in the same order.
        self._basis = self.released if self.degree <= k else ParityBasis(schema.sizes, self.degree)
        self._tables = [NonnegativeTables(g, self._basis.size) for g in groups]

    def cell_rmse(self, variances: FloatArray) -> float:
        """Root-mean-square error of a cell (as a probability) for independent noise on the released statistics."""
        cells = sum(table.forward(np.zeros(self._basis.size)).size for table in self._tables)
        return math.sqrt(float(self._loss @ variances) / cells)

    def estimate(self, means: FloatArray, variances: FloatArray, *, tol: float, max_iter: int) -> MomentProjection:
        """Consistent parities with nonnegative tables: :meth:`project`, and what a forest says of noisy parities.

        The result lies between the projection and the projection of parities that are pulled towards a forest. The
        share is found by least squares: with more noise z the released numbers become two that are independent, and
        what the first says is compared with the second.
        """
        nearest = self.project(means, variances, tol=tol, max_iter=max_iter)
        if self.k < 2 or math.comb(len(self.released.sizes), self.k) > _MOST_TABLES:
            return nearest
        pulled = self._pulled(nearest, means, variances, tol=tol, max_iter=max_iter)
        z = np.sqrt(variances) * np.random.default_rng(0).normal(size=means.size)
        first = means + _SPLIT * z, (1 + _SPLIT**2) * variances
        second = self._parities(means - z / _SPLIT, variances)[0]
        start = self.project(*first, tol=tol, max_iter=max_iter)
        step = self._pulled(start, *first, tol=tol, max_iter=max_iter).theta - start.theta
        length = float(self._tables_loss @ step**2)
        agreement = float((self._tables_loss * step) @ (second - start.theta))
        share = min(max(agreement / length, 0.0), 1.0) if length > 0 else 0.0
        return MomentProjection(
            (1 - share) * nearest.theta + share * pulled.theta,
            nearest.iterations + pulled.iterations,
            max(nearest.residual, pulled.residual),
            nearest.converged and pulled.converged,
            min(nearest.degree, pulled.degree),
        )

    def project(self, means: FloatArray, variances: FloatArray, *, tol: float, max_iter: int) -> MomentProjection:
        """Nearest consistent parities with nonnegative tables, from the noisy statistics.

        The projection is one with a moment matrix, or onto tables alone where that did not become feasible in time.
        """
        return self._project(*self._parities(means, variances), tol=tol, max_iter=max_iter)

    def _parities(self, means: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Noisy parities and the variances of their noise."""
        if self._to_parities is None:
            return means, variances
        return self._to_parities @ means, self._to_parities.power(2) @ variances

    def _pulled(
        self, nearest: MomentProjection, means: FloatArray, variances: FloatArray, *, tol: float, max_iter: int
    ) -> MomentProjection:
        """Project parities pulled towards a forest as far as they are off by noise (James, Stein 1961), by order."""
        noisy, noise = self._parities(means, variances)
        forest = forest_parities(self.released, nearest.theta, noisy, noise)
        orders = self.released.orders
        moved = np.bincount(orders, weights=(noisy - forest) ** 2)
        kept = np.maximum(1 - np.bincount(orders, weights=noise) / np.maximum(moved, np.finfo(float).tiny), 0.0)
        kept[:2] = 1.0  # a forest says nothing about single attributes
        pulled = forest + kept[orders] * (noisy - forest)
        return self._project(pulled, noise, tol=tol, max_iter=max_iter)

    def _project(self, parities: FloatArray, variances: FloatArray, *, tol: float, max_iter: int) -> MomentProjection:
        y, noise = np.zeros(self._basis.size), np.zeros(self._basis.size)
        y[: parities.size], noise[: parities.size] = parities, variances
        found = self._nearest(y, noise, tol=tol, max_iter=max_iter)
        return replace(found, theta=self._repaired(found.theta)[: parities.size])

    def _nearest(self, y: FloatArray, noise: FloatArray, *, tol: float, max_iter: int) -> MomentProjection:
        rows = None if self.sparsity is None else sparsity_rows(self._basis, self.k, self.sparsity)
        metric = np.zeros(self._basis.size)
        metric[: self.released.size] = self._tables_loss
        # Tables alone do not see the parities that were not released: any weight keeps them where they are.
        tables_metric = np.where(metric > 0, metric, 1.0)
        project = partial(project_by_admm, rows=rows, variances=noise, tol=tol, max_iter=max_iter)
        found = MomentProjection(y, 0, math.inf, False)
        if self.degree:
            found = project(y, metric, [*self._tables, MomentMatrix(self._basis, self.degree)])
            found = replace(found, degree=self.degree)
        if found.residual > _USABLE:
            tables = project(y, tables_metric, self._tables)
            found = replace(tables, iterations=found.iterations + tables.iterations)
        polished = project_by_admm(
            found.theta, tables_metric, self._tables, rows=rows, variances=noise, tol=_POLISH, max_iter=_POLISH_STEPS
        )
        return replace(found, theta=polished.theta)

    def _repaired(self, theta: FloatArray) -> FloatArray:
        """Mix with the uniform distribution, as little as makes all cells nonnegative.

        The uniform table has parities 0 and equal cells u, so a share s turns the smallest cell c into (1 - s) c + s u.
        """
        share = 0.0
        for table in self._tables:
            cells = table.forward(theta)
            lowest, uniform = float(cells.min()), 1.0 / cells.shape[1]
            if lowest < 0:
                share = max(share, -lowest / (uniform - lowest))
        mixed = (1 - share) * theta
        mixed[0] = 1.0
        return mixed


def _quietest(basis: ParityBasis, losses: dict[bool, FloatArray], request: Request) -> NoiseShape:
    """Noise of least expected squared error among the laws that delta allows."""
    scales: dict[Law, float] = {"laplace": math.sqrt(2.0) / request.epsilon}
    if request.delta > 0:
        scales["gaussian"] = 1 / gdp_mu(request.epsilon, request.delta)
    add_remove = request.adjacency == "add-remove"
    shape = partial(shape_noise, basis.sizes, losses, sparsity=request.sparsity, add_remove=add_remove)
    shapes = [shape(law=law) for law in scales]
    return min(shapes, key=lambda shape: shape.loss * scales[shape.law] ** 2)


def _choose_degree(request: Request, basis: ParityBasis, *, conjunctions: bool) -> int:
    """Resolve "auto" and "paper", and check a given degree."""
    k, degree = request.k, request.degree
    if isinstance(degree, str) and degree == "paper":
        degree = 2 * k if request.sparsity is None else 4 * k - 4
    if isinstance(degree, str) and degree == "auto":
        wanted = 2 if conjunctions else 2 * math.ceil(k / 2)
        for candidate in (wanted, 2):
            if k >= 2 and _side(basis, candidate) <= _AUTO_SIDE:
                return candidate
        return 0
    if isinstance(degree, (bool, str)) or not isinstance(degree, (int, np.integer)) or degree < 0 or degree % 2:
        raise InvalidParameterError(
            f"degree must be 'auto', 'paper' or an even integer, at least 0; got {shown(degree)}"
        )
    degree = min(int(degree), 2 * basis.sizes.size)  # that one is a distribution
    side = _side(basis, degree)
    if side > SIDE_LIMIT:
        raise InvalidParameterError(
            f"degree {degree} needs a moment matrix of side {side}; at most {SIDE_LIMIT} is "
            "supported. Ask for a smaller degree, or degree='auto'"
        )
    check_memory(f"a moment matrix of side {side}", copies=(20, side, side))
    return degree


def _side(basis: ParityBasis, degree: int) -> int:
    return int(elementary_symmetric(basis.sizes - 1.0, degree // 2).sum())
