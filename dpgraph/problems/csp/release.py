"""What private 2-CSPs share: total weight, labels by some mechanism, and the weight that the labels earn."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import MechanismHalted
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.problems.cut.rule import MAIN_SHARE
from dpgraph.releases.totals import release_weight
from dpgraph.results.csp import PrivateCSPResult

__all__ = ["CSPNames", "PrivateCSP", "release_assignment"]

IntArray = NDArray[np.int64]

#: Shares of the budget (mu**2, or epsilon if pure) for the weight of the assignment and for the total weight.
_VALUE_SHARE, _TOTAL_SHARE = 1 - MAIN_SHARE - 0.005, 0.005


class PrivateCSP(Protocol):
    """The private side of an instance, read after the debit."""

    @property
    def graph(self) -> Graph:
        """A graph whose weight grid and bound are those of the instance."""
        ...

    def total_weight(self) -> float:
        """Sum over the pairs of what they earn at most; a neighbour moves it by at most max_weight."""
        ...

    def value(self, labels: IntArray) -> float:
        """What public labels earn; a neighbour moves it by at most max_weight."""
        ...


@dataclass(frozen=True)
class CSPNames:
    """The public side: names of variables and labels."""

    variables: tuple[Hashable, ...]
    alphabet: tuple[Hashable, ...]


Data = TypeVar("Data", bound=PrivateCSP)


def release_assignment(
    names: CSPNames,
    read: Callable[[], Data],
    release: Callable[[Data, float, Call], tuple[IntArray, str]],
    *,
    ledger: Ledger,
    noise: NoiseSource,
    on_halt: Literal["raise", "fallback"] = "raise",
) -> PrivateCSPResult:
    """Read a debited instance and release an assignment of it.

    Parameters
    ----------
    names : CSPNames
        The public side.
    read : callable
        Reads the private side.
    release : callable
        ``release(data, mean_degree, call)``: labels for a part of the budget, and what the mechanism is called in the
        result; `mean_degree` is released, the average weight of the constraints on a variable.
    ledger, noise
        The debited budget, the source of noise.
    on_halt : {"raise", "fallback"}
        Whether a halt is raised or answered by random labels.
    """
    private, n = read(), len(names.variables)
    first, last = Call(ledger, noise, _TOTAL_SHARE), Call(ledger, noise, _VALUE_SHARE)
    total = release_weight("total weight", private.total_weight(), private.graph, first)
    try:
        labels, mechanism = release(private, 2 * total.value / n, Call(ledger, noise, MAIN_SHARE))
    except MechanismHalted:
        if on_halt == "raise":
            raise
        labels, mechanism = noise.generator.integers(0, len(names.alphabet), n), "data-independent"
    value = release_weight("assignment weight", private.value(labels), private.graph, last)
    return PrivateCSPResult(
        assignment={v: names.alphabet[a] for v, a in zip(names.variables, labels.tolist(), strict=True)},
        labels=labels,
        alphabet=names.alphabet,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        mechanism=mechanism,
        privacy=ledger.report(),
    )
