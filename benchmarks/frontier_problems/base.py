"""What one problem of the frontier is: its inputs, its mechanisms, and how an output is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: delta = 1e-6 for all, and 1/m**1.1 of the graph at hand (m edges; a benchmark may know m).
DELTAS = ("1e-6", "m^-1.1")


@dataclass(frozen=True)
class Outcome:
    """One run: how good the released object is on the private data, and what happened (for instance "halted")."""

    value: float
    note: str = ""


@dataclass(frozen=True)
class Mechanism:
    """A way to answer.

    Attributes
    ----------
    run : callable
        ``run(instance, epsilon, delta, seed)``.
    tier : int
        Cells of lower tiers are computed first.
    largest : int
        Largest size of an instance it is run on; beyond, `reason` stands in the table.
    runs : int
        Most runs per cell: 1 for what is not random.
    uses : str
        What it depends on: "epsilon, delta", "epsilon" (pure) or "" (no privacy, or no data).
    proven : bool
        False where the noise is drawn only approximately from the law of the proof: no default is held against it.
    """

    run: Callable[[Any, float, float, int], Outcome]
    tier: int = 1
    largest: int = 10**9
    reason: str = "n x n"
    runs: int = 10**9
    uses: str = "epsilon, delta"
    proven: bool = True


@dataclass(frozen=True)
class Instance:
    """Data with the numbers that the driver needs: size (for limits), edges (for delta), and the group of its table."""

    load: Callable[[], Any]
    size: int
    edges: int
    group: str = "real"
    quick: bool = False


@dataclass(frozen=True)
class Problem:
    """One table of the frontier."""

    name: str
    quantity: str
    higher_is_better: bool
    instances: Mapping[str, Instance]
    mechanisms: Mapping[str, Mechanism]
    ceiling: str
    baseline: str
    default: str
    pure_default: str = ""
    remarks: tuple[str, ...] = field(default=())
    logarithmic: bool = False
