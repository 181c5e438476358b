"""Runs the default and a simplification on the same graphs with the same seeds, and says what the simplification costs.

Where both draw the same noise the differences are paired in it too; where a schedule changes, only the graphs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

#: run(seed) -> utility, larger is better; the seed is that of the graph and of the noise
Run = Callable[[int], float]
ERRORS = 2.0
HEADER = ("constant", "simplification", "gain", "standard error", "verdict")


@dataclass(frozen=True)
class Ablation:
    """A simplification: (object, name, value) to put in place of what is there, and the calls that may feel it."""

    constant: str
    simplification: str
    patches: tuple[tuple[Any, str, Any], ...]
    calls: tuple[Run, ...]


def numbers(topic: Any, simplification: str, calls: tuple[Run, ...], **values: Any) -> Ablation:
    """Other values of the numbers of a class."""
    patches = tuple((topic, name, value) for name, value in values.items())
    return Ablation(f"{type(topic).__name__}.{', '.join(values)}", simplification, patches, calls)


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute for a while, of a frozen object too: everything that reads it holds this object."""
    before = getattr(owner, name)
    put = object.__setattr__ if hasattr(type(owner), "__dataclass_fields__") else setattr
    put(owner, name, value)
    try:
        yield
    finally:
        put(owner, name, before)


@cache
def default(run: Run, seed: int) -> float:
    """The utility as it is."""
    return run(seed)


def gains(ablation: Ablation, seeds: range) -> np.ndarray:
    """Utility of the simplification less that of the default, shape (calls, seeds)."""
    before = np.array([[default(run, seed) for seed in seeds] for run in ablation.calls])
    with ExitStack() as stack:
        for patch in ablation.patches:
            stack.enter_context(replaced(*patch))
        return np.array([[run(seed) for seed in seeds] for run in ablation.calls]) - before


def line(ablation: Ablation, seeds: range) -> tuple[str, ...]:
    """A row of the table; the calls are fixed, the seeds random."""
    found = gains(ablation, seeds)
    each = found.std(axis=1, ddof=1) / len(seeds) ** 0.5
    mean, error = float(found.mean()), float(np.sqrt(np.sum(each**2))) / len(each)
    loses = mean < -ERRORS * error
    worst = int(np.argmin(found.mean(axis=1) + ERRORS * each))
    verdict = "not reached" if not found.any() else "keep" if loses else "simplify"
    if verdict == "simplify" and found[worst].mean() < -ERRORS * max(each[worst], 1e-4):
        verdict += f" (call {worst + 1}: {found[worst].mean():+.4f}, {each[worst]:.4f})"
    return ablation.constant, ablation.simplification, f"{mean:+.4f}", f"{error:.4f}", verdict
