"""Random restarts and hill climbing for the worst ratio of every line of every ledger.

The archive keeps, for each line, the genome of the largest ratio so far. A step draws a fresh genome, or mutates a few
genes of one that is in the archive, runs the trial, and enters it wherever it is better. A line that is attacked thus
keeps the genomes that came closest, whatever another line would prefer.
"""

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tests.privacy.attack.genes import Gene, Genome, draw, mutate
from tests.privacy.attack.laws import kolmogorov
from tests.privacy.attack.trial import Comparison

#: Share of the steps that start afresh.
_FRESH = 0.4
_CLIMBED = ("line", "steps", "loss", "likelihood", "guide")
#: What is climbed, and is no claim.
GUIDE = "guide"
#: Ratios are quotients of floating-point numbers; what they are made of is counted in whole steps of a grid.
SLACK = 1e-13
#: Numbers of one law that are kept.
_MOST_NOISE = 100_000


class Attackable(Protocol):
    """A public function, or the stability test, with its genes."""

    @property
    def name(self) -> str: ...

    @property
    def genes(self) -> dict[str, Gene]: ...

    def trial(self, genome: Genome) -> Comparison:
        """Run one pair of worlds."""
        ...

    def describe(self, genome: Genome) -> str:
        """The knobs in one line."""
        ...


@dataclass
class Best:
    """The largest ratio of a line, where it was found, and after how many trials and seconds."""

    ratio: float
    genome: Genome
    remark: str
    trial: int
    seconds: float
    #: Trial and seconds at which the ratio was above 1 for the first time.
    first: tuple[int, float] | None = None


@dataclass
class Attack:
    """What a search of one function has found."""

    target: Attackable
    lines: dict[str, Best] = field(default_factory=dict)
    trials: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    #: Errors that are none of the package, the same in both worlds: no leak, but no answer either.
    crashes: Counter[str] = field(default_factory=Counter)
    #: Drawn noise of each law, and the seeds that it came from: a seed counts once.
    uniforms: dict[str, np.ndarray] = field(default_factory=dict)
    seeds: set[int] = field(default_factory=set)

    @property
    def worst(self) -> float:
        return max((best.ratio for line, best in self.lines.items() if not line.startswith(GUIDE)), default=0.0)

    def broken(self) -> dict[str, Best]:
        """Lines whose ratio is above 1."""
        return {
            line: best for line, best in self.lines.items() if best.ratio > 1 + SLACK and not line.startswith(GUIDE)
        }

    def rows(self) -> list[str]:
        """Rows of the table of benchmarks/results/audit_attack.md."""
        return [
            f"| {self.target.name} | {line} | {_number(best.ratio)} | {self.target.describe(best.genome)} "
            f"| {self.trials} trials |"
            for line, best in sorted(self.lines.items())
            if not line.startswith(GUIDE)
        ]


def attack(
    target: Attackable, *, seed: int = 0, trials: int | None = None, seconds: float = math.inf, stop: bool = False
) -> Attack:
    """Search for so many trials or seconds of processor time; with `stop`, until a line is broken."""
    rng, start = np.random.default_rng(seed), time.process_time()
    found = Attack(target)
    while (trials is None or found.trials < trials) and time.process_time() - start < seconds:
        step(found, rng, start)
        if stop and found.broken():
            break
    found.seconds = time.process_time() - start
    return found


def step(found: Attack, rng: np.random.Generator, start: float) -> None:
    """One trial."""
    genes = found.target.genes
    if not found.lines or rng.random() < _FRESH:
        genome = draw(genes, rng)
    else:
        # Lines that can grow towards 1; the others are right or wrong.
        lines = [line for line in found.lines if line.startswith(_CLIMBED)] or list(found.lines)
        genome = mutate(found.lines[lines[rng.integers(len(lines))]].genome, genes, rng)
    comparison = found.target.trial(genome)
    found.trials += 1
    found.statuses[comparison.status] += 1
    if comparison.status == "crashed":
        found.crashes[comparison.remarks["outcome"][:160]] += 1
    _pool_noise(found, comparison, genome)
    now = time.process_time() - start
    for line, ratio in comparison.ratios.items():
        before = found.lines.get(line)
        if before is not None and ratio < before.ratio:
            continue
        if before is not None and ratio == before.ratio and not (0 < ratio < math.inf):
            continue  # nothing was gained: keep what came first
        first = before.first if before is not None else None
        if first is None and ratio > 1 + SLACK:
            first = (found.trials, now)
        found.lines[line] = Best(ratio, genome, comparison.remarks.get(line, ""), found.trials, now, first)


def _pool_noise(found: Attack, comparison: Comparison, genome: Genome) -> None:
    """Test the noise of all trials together; once it has doubled, so that looking often does not find something."""
    seed = genome.get("noise seed")
    if seed in found.seeds:
        return
    found.seeds.add(seed)
    for law, fresh in comparison.uniforms.items():
        before = found.uniforms.get(law, np.zeros(0))
        if before.size > _MOST_NOISE:
            continue
        found.uniforms[law] = together = np.concatenate([before, fresh])
        if int(together.size).bit_length() > int(before.size).bit_length():
            comparison.add(f"noise: {law}", kolmogorov(together))


def _number(ratio: float) -> str:
    return "infinite" if math.isinf(ratio) else f"{ratio:.4f}" if ratio <= 1 + SLACK else f"**{ratio:.9g}**"
