"""Faults that the package once had, planted again: the code of the time, as far as it fits into the code of today."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from dpgraph.bounds import neighbours, sensitivity, stability
from dpgraph.bounds.stability import DIRECTION
from dpgraph.graph import WEIGHT_BITS, WeightGrid
from dpgraph.linalg import eigen
from dpgraph.privacy import exact_sampling, grid
from dpgraph.privacy import ledger as ledger_module
from dpgraph.privacy import noise as noise_module
from dpgraph.privacy.row_norm import NUMBER
from dpgraph.releases import answers as randomized_response
from dpgraph.releases import normalized
from dpgraph.releases import totals as weights_module
from dpgraph.releases.eigenspaces import spectrum as spectrum_module
from dpgraph.releases.eigenspaces import stability_test
from dpgraph.releases.records import histogram
from dpgraph.releases.sweeps import communities as community_sweeps
from dpgraph.releases.sweeps import core as one_sided_sweeps
from tests.privacy.attack.hooks import everywhere

Patch = pytest.MonkeyPatch


def entries_clipped(patch: Patch) -> None:
    """Beyond 2**51 steps of the grid of the noise, without a word."""
    original = grid.add_on_grid

    def add_on_grid(values: Any, noise: Any, unit: float) -> Any:
        total, most = sum(values) if isinstance(values, tuple) else values, 2.0**51 * unit
        return original(values if np.all(np.abs(total) <= most) else np.clip(total, -most, most), noise, unit)

    everywhere(patch, original, add_on_grid)


def small_numbers_from_large_ones(patch: Patch) -> None:
    """Any tau; the largest degree as a difference, and floors that are no floors where eigenvalues are small."""

    def largest_degree(self: Any) -> float:
        return float((self.degrees + self.regularization).max()) - self.regularization

    projector = stability.EdgeRates.projector

    def floored(self: Any, x: Any) -> Any:
        floor = 1e-50 * self.lower  # in units of e
        return projector(self, np.array([np.maximum(x[0], x[1] + floor), *x[1:]]))

    patch.setattr(normalized, "_LARGEST", 1e300)
    patch.setattr(neighbours.EdgeNeighbours, "largest_degree", property(largest_degree))
    patch.setattr(stability.EdgeRates, "projector", floored)


def _path(state: Any, rates: Any, safe: Any, cap: float, **options: Any) -> tuple[float, Any]:
    """A path that is integrated until the state is not safe."""
    start = state.array()
    unit = np.where(start != 0, np.abs(start), 1.0)

    def room(_: float, z: Any) -> float:
        x = z * unit
        rate = float(rates.projector(x))
        return min(float(safe.limits[0]) / rate - 1 if rate > 0 else 1.0, (x[0] - x[1]) / safe.least_gap - 1, 1.0)

    def motion(_: float, z: Any) -> Any:
        return DIRECTION * rates.speeds(z * unit) / unit

    if not room(0.0, start / unit) > 0:
        return 0.0, lambda s: start
    room.terminal = True  # type: ignore[attr-defined]
    solution = solve_ivp(motion, (0.0, cap), start / unit, events=room, dense_output=True, **options)
    return float(solution.t[-1]), lambda s: (solution.sol(s).T * unit).T


def exit_on_65_points(patch: Patch, **options: Any) -> None:
    """latest(s) on 65 points of the path (which is accurate), however steep the curve is between them."""
    accurate = options or {"method": "DOP853", "rtol": 1e-9, "atol": 1e-12}

    def steps_to_exit(state: Any, rates: Any, safe: Any, *, cap: float, width: float) -> float:
        last, path = _path(state, rates, safe, cap, **accurate)
        if last == 0 or len(safe.steps) == 1:
            return last

        def latest(s: float) -> float:
            return s + float(safe.remaining(np.minimum(rates.projector(path(s)), safe.limits[0])))

        points = np.linspace(0.0, last, 65)
        exits = [latest(float(s)) for s in points]
        k = int(np.argmin(exits))
        around = (float(points[max(k - 1, 0)]), float(points[min(k + 1, 64)]))
        found = minimize_scalar(latest, bounds=around, method="bounded", options={"xatol": 1e-6 * last})
        return max(0.0, min(last, exits[k], float(found.fun)))

    patch.setattr(stability_test, "steps_to_exit", steps_to_exit)


def path_across_kinks(patch: Patch) -> None:
    """Runge-Kutta of order five with steps of up to 5000 edges; the exit is found on a fine grid."""

    def steps_to_exit(state: Any, rates: Any, safe: Any, *, cap: float, width: float) -> float:
        last, path = _path(state, rates, safe, cap, method="RK45", rtol=1e-7, atol=1e-10, max_step=cap / 20)
        if last == 0 or len(safe.steps) == 1:
            return last
        times = np.linspace(0.0, last, 4001)
        rate = np.minimum(rates.projector(path(times)), safe.limits[0])
        return max(0.0, min(last, float(np.min(times + safe.remaining(rate)))))

    patch.setattr(stability_test, "steps_to_exit", steps_to_exit)


def certificate_not_charged(patch: Patch) -> None:
    """Certificates of eigenvalues fail with 1e-9, whatever delta is, and have no line."""

    def certified_values(operator: Any, count: int, norm: float, call: Any, *, name: str, aim: float) -> Any:
        tolerance = eigen.value_tolerance(operator.shape[0], norm)
        pairs = eigen.leading_values(
            operator, count, tolerance=tolerance, residual=aim, failure=1e-9, generator=call.generator
        )
        return pairs, tolerance

    everywhere(patch, spectrum_module.certified_values, certified_values)


def fine_grid_kept(patch: Patch) -> None:
    """The grid of the data, however wide the noise."""
    coarser = grid.grid_step

    def grid_step(scale: float, unit: float = 0.0, *, bits: int = grid.GRID_BITS) -> float:
        return unit or coarser(scale, unit, bits=bits)

    def wide(generator: Any, law: str, size: int, scale: float) -> Any:
        if law == "laplace" and scale > 2.0**50:  # integers beyond 2**63, as doubles
            return np.rint(generator.laplace(size=size) * scale)
        return seeded(generator, law, size, scale)

    seeded = noise_module._seeded_discrete
    everywhere(patch, grid.grid_step, grid_step)
    patch.setattr(noise_module, "_seeded_discrete", wide)


def tiny_epsilon_answers(patch: Patch) -> None:
    """Randomised response below 1e-6 is refused only where it is asked for by its name."""
    patch.setattr(exact_sampling, "LEAST_FLIP_EPSILON", 0.0)
    patch.setattr(randomized_response, "_LEAST_EPSILON", 0.0)


def unit_is_no_power_of_two(patch: Patch) -> None:
    """max_weight * 2**-20, whatever max_weight is."""
    patch.setattr(WeightGrid, "of", classmethod(lambda cls, w: cls(w * 2.0**-WEIGHT_BITS, w)))


def half_to_even(patch: Patch) -> None:
    """Weights between two points of the grid are rounded to the even one."""

    class Rounded:
        """numpy, with the floor of x + 0.5 rounded half to even."""

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def floor(self, x: Any) -> Any:
            return np.rint(x - 0.5)

    patch.setattr(weights_module, "np", Rounded())


def normal_quantile(patch: Patch) -> None:
    """The slack of a good event is that of a normal variable, without rounding."""
    patch.setattr(ledger_module, "grid_quantile", lambda failure, **_: -float(ndtri(failure)))


def queries_of_one_end(patch: Patch) -> None:
    """An edge is paid for at one of its ends."""
    patch.setattr(sensitivity, "repeated_queries", lambda size: size)


def noise_of_rows_halved(patch: Patch) -> None:
    """Half the noise for all queries of a row of labels, and the scale that the ledger says."""
    original = noise_module.NoiseSource.queries

    def queries(self: Any, shape: Any, rows: Any, norm: Any, unit: float, scale: float) -> Any:
        noise = original(self, shape, rows, norm, unit, scale / (1 if norm.ball == NUMBER else 2))
        noise.scale = scale
        return noise

    patch.setattr(noise_module.NoiseSource, "queries", queries)


def noise_of_core_answers_halved(patch: Patch) -> None:
    """Pairs of a core of communities lie as seldom as if an unbiased answer had half its noise, 1/(2 sinh(eps/2))."""
    original, exponent = randomized_response.release_flipped_graph, randomized_response.flip_exponent

    def twice_as_clear(epsilon: float) -> int:
        return exponent(2 * math.asinh(2 * math.sinh(epsilon / 2)))

    def release(graph: Any, call: Any, *, core: Any) -> Any:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(randomized_response, "flip_exponent", twice_as_clear)
            return original(graph, call, core=core)

    patch.setattr(community_sweeps, "release_flipped_graph", release)


def public_and_private_rounded_together(patch: Patch) -> None:
    """A noisy choice rounds the sum of private scores and public ones."""

    def noisy_argmax(self: Any, scores: Any, unit: float, scale: float, *, public: Any) -> Any:
        return original(self, np.rint((scores + public) / unit) * unit, unit, scale)

    def score_units(counts: Any, relation: Any, unit: float) -> Any:
        return counts @ relation / unit

    original = noise_module.NoiseSource.noisy_argmax
    patch.setattr(noise_module.NoiseSource, "noisy_argmax", noisy_argmax)
    patch.setattr(one_sided_sweeps, "score_units", score_units)


def sums_in_floating_point(patch: Patch) -> None:
    """C x as a product of floating-point numbers, which rounds by more than a record once there are many."""
    patch.setattr(histogram, "exact_product", lambda matrix, histogram: matrix.apply(histogram))
