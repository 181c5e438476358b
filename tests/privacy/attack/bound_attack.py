"""Bounds that a search through the public interface hardly comes near, attacked directly: their own worst cases.

What one edge moves is bounded by a few functions. Through the interface, numbers come within a step of such a bound in
few graphs of many. So these functions are searched by themselves, with neighbours that a proof would fear: odd numbers
of steps, halves, public numbers of any size, iterates that move in any way. Everything that is counted is a whole
number of steps, and compared without slack.

* ``weight``: what :func:`~dpgraph.releases.totals.release_weight` hands to its noise, for weights that lie between
  two points of the grid;
* ``choice``: the sums of which a noisy choice takes the largest, public scores of any size beside private ones;
* ``queries``: the norm of what one edge adds to all queries of its two rows, if public iterates move in any way;
* ``queries of labels``: the same for rows of labels, in the norm of the law that the package takes;
* ``good event``: how often a number that is released lies further off than its slack, the exact sum of the tail.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT
from dpgraph.graph import WeightGrid
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.ledger import _GRID_RATIO
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.privacy.report import Pairs
from dpgraph.privacy.row_norm import NUMBER, CrossPolytope, RowNorm
from dpgraph.releases import totals as weights
from dpgraph.releases.sweeps import core
from dpgraph.releases.sweeps import core as one_sided_sweeps
from dpgraph.releases.sweeps.iteration import FieldOracle, RowSensitivity
from tests.privacy.attack.genes import Choice, Gene, Genome, Log, Seed, Share, Whole
from tests.privacy.attack.trial import Comparison
from tests.privacy.replay import size_of_rows

_STEPS = round(1 / ITERATE_UNIT)
_MAX_WEIGHT = Choice((1.0, 0.1, 0.3, 1 / 3, 0.7, 5.0))


@dataclass(frozen=True)
class BoundTarget:
    """Stands where a public function stands in a search: one ratio for a genome."""

    name: str
    genes: dict[str, Gene]
    ratio: Callable[[Genome], float]

    def trial(self, genome: Genome) -> Comparison:
        """The bound and what it bounds."""
        found = Comparison()
        found.add(f"line: {self.name}", self.ratio(genome))
        return found

    def describe(self, genome: Genome) -> str:
        """The arguments."""
        return ", ".join(f"{name}={value:g}" for name, value in genome.items() if name != "seed")


def _weight(genome: Genome) -> float:
    """A label earns k/256 of the weight of a pair; one pair moves by the largest weight."""
    grid = WeightGrid.of(genome["max weight"])
    exact = grid.unit * (genome["units"] + genome["part"] / _STEPS)
    handed = []
    for weight in (exact, exact + grid.largest):
        seen: list[np.ndarray] = []
        noise = SimpleNamespace(laplace_on_grid=lambda values, unit, scale, seen=seen: seen.append(values) or values)
        ledger = open_call(epsilon=1.0, accountant=None, relation=Edge(), noise=noise_source(0)).ledger
        graph: Any = SimpleNamespace(max_weight=genome["max weight"], weight_unit=grid.unit)
        weights.release_weight("weight", weight, graph, Call(ledger, noise))  # type: ignore[arg-type]
        handed.append(Fraction(float(seen[0][0])))
    return float((handed[1] - handed[0]) / Fraction(ledger.entries[0].sensitivity))


class _Sums(NoiseSource):
    """Adds no noise, and remembers the sums of which a choice takes the largest."""

    def __init__(self) -> None:
        super().__init__(np.random.default_rng(0))
        self.sums: list[np.ndarray] = []

    def _laplace(self, shape: Any, scale: float) -> np.ndarray:
        return np.zeros(shape)

    def on_grid(self, values: np.ndarray, unit: float, noise: np.ndarray) -> np.ndarray:
        self.sums.append(super().on_grid(values, unit, noise))
        return self.sums[-1]


def _choice(genome: Genome) -> float:
    """One row chooses between labels; a pair of the largest weight is added to what it has counted."""
    rng, grid, q = np.random.default_rng(genome["seed"]), WeightGrid.of(genome["max weight"]), genome["labels"]
    w, unit = genome["max weight"], grid.unit * ITERATE_UNIT
    relation = np.triu(rng.integers(0, _STEPS + 1, (q, q)))
    relation = np.maximum(relation, relation.T) * ITERATE_UNIT
    relation[0, 0] = 1.0
    counted = rng.integers(0, genome["units"] + 1, (1, q)) * unit
    label = np.eye(q)[[0]]
    public = genome["public"] * unit * rng.standard_normal((1, q)) @ np.linalg.pinv(relation)
    sums = []
    for counts in (counted, counted + grid.largest * label):
        noise = _Sums()
        call = open_call(epsilon=1.0, accountant=None, relation=Edge(), noise=noise)
        maximum = call.noisy_maximum("labels", sensitivity.label_scores(w), unit, pairs=Pairs.ANY)
        private = one_sided_sweeps.score_units(counts, relation, unit) * unit
        maximum.choose(np.asarray(private, dtype=np.float64), public=public)
        sums.append([Fraction(float(x)) for x in noise.sums[-1][0]])
    moved = [after - before for before, after in zip(*sums, strict=True)]
    if min(moved) < 0:
        return math.inf  # not in one direction
    return float(max(moved) / Fraction(call.ledger.entries[0].sensitivity))


def _queries(genome: Genome) -> float:
    """An edge {i, j} of weight 1: row i reads X_j, row j reads X_i, each so often, in any order, X in [-1, 1]."""
    rng = np.random.default_rng(genome["seed"])
    read: tuple[list[float], list[float]] = ([], [])
    X = [_iterate(rng), _iterate(rng)]
    for row in rng.permutation([0] * genome["queries"] + [1] * genome["queries"]):
        read[row].append(X[1 - row])
        X = [_iterate(rng), _iterate(rng)]
    return float(sum(np.abs(moved).max() for moved in read) / sensitivity.repeated_queries(1.0))


def _label_queries(genome: Genome) -> float:
    """The same for rows of labels, points of the simplex: the sum over numbers is one for each query, not for all."""
    rng, q = np.random.default_rng(genome["seed"]), genome["labels"]
    move = RowSensitivity(CrossPolytope(q, shifts=genome["shifts"]), sensitivity.label_rows_l1(1.0))
    oracle = FieldOracle(2, q, _nothing, ITERATE_UNIT, 1.0, move)
    law = core.query_law(oracle, genome["queries"], 1.0)
    X = np.zeros((2, q))
    read: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for row in rng.permutation([0] * genome["queries"] + [1] * genome["queries"]):
        read[row].append(X[1 - row].copy())
        X = np.array([_label(rng, q), _label(rng, q)])
    cost = sum(float(size.max()) for moved in read for size in _sizes(law.norm, np.array(moved)))
    return cost / law.sensitivity


def _sizes(norm: RowNorm, moved: np.ndarray) -> np.ndarray:
    """What the norm sees of the queries of a row, shape (queries, labels): of each number, or of the whole row."""
    return np.abs(moved).T if norm.ball == NUMBER else size_of_rows(norm.ball, moved)[None]


def _label(rng: np.random.Generator, q: int) -> np.ndarray:
    weights = np.eye(q)[rng.integers(q)] if rng.random() < 0.8 else rng.dirichlet(np.ones(q))
    return np.asarray(np.floor(weights / ITERATE_UNIT) * ITERATE_UNIT)


def _nothing(block: np.ndarray, X: np.ndarray) -> np.ndarray:
    return np.zeros_like(X[block])


def _iterate(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, 1.0])) if rng.random() < 0.8 else float(rng.uniform(-1, 1))


def _good_event(genome: Genome) -> float:
    """P[rounding + noise > slack] / (what the ledger has for it), at the grid of the package."""
    failure, part = genome["failure"], genome["rounding"] / 2
    delta, noise = min(2.5 * failure, 0.99), noise_source(0)
    ledger = open_call(epsilon=1.0, delta=delta, accountant=None, relation=Edge(), noise=noise, slack=failure).ledger
    s = _GRID_RATIO
    least = math.floor(ledger.good_event("slack", failure) * s - part) + 1
    k = np.arange(least, math.ceil(9 * s))
    # Beyond 9 standard deviations there is less than 1e-18; the normaliser is sqrt(2 pi) s, up to exp(-2 pi**2 s**2).
    tail = float(np.exp(-0.5 * (k / s) ** 2).sum()) / (math.sqrt(2 * math.pi) * s)
    return tail / failure


def bound_targets() -> list[BoundTarget]:
    """All of them."""
    units = Whole(1, 2**40)
    public = Log(((1.0, 2.0**80), (1.0, 2.0**40)))  # steps of the grid
    return [
        BoundTarget(
            "weight between grid points", {"max weight": _MAX_WEIGHT, "units": units, "part": Whole(1, _STEPS)}, _weight
        ),
        BoundTarget(
            "noisy choice",
            {"max weight": _MAX_WEIGHT, "labels": Whole(2, 6), "units": units, "public": public, "seed": Seed()},
            _choice,
        ),
        BoundTarget("queries of a row", {"queries": Whole(1, 8), "seed": Seed()}, _queries),
        BoundTarget(
            "queries of labels",
            {"queries": Whole(1, 8), "labels": Whole(2, 6), "shifts": Choice((True, False)), "seed": Seed()},
            _label_queries,
        ),
        BoundTarget("good event", {"failure": Log(((1e-12, 0.3),)), "rounding": Share()}, _good_event),
    ]
