"""Genes of a search: numbers on log scales, choices, shares of one, seeds; how they are drawn and how they mutate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Genome = dict[str, Any]
Rng = np.random.Generator


class Gene(Protocol):
    """One coordinate of the search space."""

    def draw(self, rng: Rng) -> Any:
        """Draw a fresh value."""
        ...

    def nudge(self, value: Any, rng: Rng) -> Any:
        """A value near this one, or (sometimes) a fresh one."""
        ...


@dataclass(frozen=True)
class Log:
    """A positive number, log-uniform over several ranges in turn: the first are drawn more often."""

    ranges: tuple[tuple[float, float], ...]

    def draw(self, rng: Rng) -> float:
        low, high = self.ranges[min(int(rng.geometric(0.5)) - 1, len(self.ranges) - 1)]
        return _exp(rng.uniform(math.log(low), math.log(high)))

    def nudge(self, value: float, rng: Rng) -> float:
        width = rng.choice([1e-3, 0.1, 1.0, 6.0])
        low, high = min(r[0] for r in self.ranges), max(r[1] for r in self.ranges)
        return float(np.clip(_exp(math.log(value) + width * rng.normal()), low, high))


@dataclass(frozen=True)
class Whole:
    """A whole number, log-uniform."""

    low: int
    high: int

    def draw(self, rng: Rng) -> int:
        return int(np.clip(round(_exp(rng.uniform(math.log(self.low), math.log(self.high)))), self.low, self.high))

    def nudge(self, value: int, rng: Rng) -> int:
        step = int(rng.choice([-1, 1])) if rng.random() < 0.5 else round(value * rng.normal() / 3)
        return int(np.clip(value + step, self.low, self.high))


@dataclass(frozen=True)
class Choice:
    """One of a few values."""

    values: Sequence[Any]

    def draw(self, rng: Rng) -> Any:
        return self.values[rng.integers(len(self.values))]

    def nudge(self, value: Any, rng: Rng) -> Any:
        return self.draw(rng)


@dataclass(frozen=True)
class Share:
    """A number in [0, 1], often at an end."""

    def draw(self, rng: Rng) -> float:
        return float(rng.choice([0.0, 1.0, 0.5])) if rng.random() < 0.2 else float(rng.random())

    def nudge(self, value: float, rng: Rng) -> float:
        return float(np.clip(value + rng.choice([0.003, 0.03, 0.3]) * rng.normal(), 0.0, 1.0))


@dataclass(frozen=True)
class Seed:
    """What random data and noise are drawn from."""

    def draw(self, rng: Rng) -> int:
        return int(rng.integers(2**31))

    def nudge(self, value: int, rng: Rng) -> int:
        return self.draw(rng)


@dataclass(frozen=True)
class Maybe:
    """Another gene, or nothing: the default of the package."""

    gene: Gene
    share: float = 0.5

    def draw(self, rng: Rng) -> Any:
        return self.gene.draw(rng) if rng.random() < self.share else None

    def nudge(self, value: Any, rng: Rng) -> Any:
        return self.draw(rng) if value is None or rng.random() < 0.1 else self.gene.nudge(value, rng)


@dataclass(frozen=True)
class Either:
    """A value of the first gene, or of the second."""

    first: Gene
    second: Gene
    share: float = 0.4

    def draw(self, rng: Rng) -> Any:
        return (self.first if rng.random() < self.share else self.second).draw(rng)

    def nudge(self, value: Any, rng: Rng) -> Any:
        return self.draw(rng) if rng.random() < 0.3 else self.second.nudge(value, rng)


def draw(genes: Mapping[str, Gene], rng: Rng) -> Genome:
    """A random genome."""
    return {name: gene.draw(rng) for name, gene in genes.items()}


def mutate(genome: Genome, genes: Mapping[str, Gene], rng: Rng) -> Genome:
    """Change one to three genes."""
    child = dict(genome)
    for name in rng.choice(list(genes), size=min(int(rng.geometric(0.6)), 3, len(genes)), replace=False):
        child[name] = genes[name].nudge(genome[name], rng)
    return child


def _exp(x: float) -> float:
    return math.exp(min(max(x, -700.0), 700.0))


#: Budgets in ordinary use, then tiny and huge ones, then everything that the package accepts.
EPSILON = Log(((1e-2, 1e4), (1e-17, 1e-2), (1e4, 1e18), (1e-99, 1e99)))
DELTA = Log(((1e-12, 1e-2), (1e-30, 0.5), (1e-290, 0.9)))
#: Public bounds and scales, from denormal to huge.
SCALE = Log(((1e-2, 1e2), (1e-9, 1e9), (1e-290, 1e290)))
REGULARIZATION = Log(((0.3, 1e3), (1e3, 1e22), (1e-300, 1e75)))
