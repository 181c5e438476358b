"""One vector of query answers, released once under the whole budget of a call, or exactly for epsilon = infinity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.exceptions import BudgetExceededError
from dpgraph.privacy.accountant import PrivacyAccountant, ambient_accountant
from dpgraph.privacy.accounting import check_delta, gdp_mu
from dpgraph.privacy.grid import Terms
from dpgraph.privacy.ledger import Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.relation import Relation
from dpgraph.privacy.report import PrivacyReport

__all__ = ["VectorRelease", "budget_mu", "open_release"]

FloatArray = NDArray[np.float64]

#: Noise is not made so small that values have more grid steps than this: floating point computes them no better.
_LARGEST_MULTIPLE = 2.0**51

#: Grid steps in a standard deviation of the noise, at most (two times the ratio that the ledger uses).
_STEPS = 2e5

#: Values are taken to be at most this many sensitivities by default, which concerns epsilon above 10**7.
_DEFAULT_RANGE = 2.0**20


def budget_mu(epsilon: float, delta: float) -> float:
    """Gaussian-DP parameter of a budget; infinite for epsilon = infinity."""
    return math.inf if _unlimited(epsilon) and check_delta(delta) else gdp_mu(epsilon, delta)


class VectorRelease:
    """The right to release one vector; use :func:`open_release`."""

    def __init__(self, ledger: Ledger | None, unlimited: PrivacyReport, noise: NoiseSource) -> None:
        self._ledger, self._unlimited, self._noise = ledger, unlimited, noise

    def add_noise(
        self, name: str, values: Terms, *, sensitivity: float, largest: float | None = None
    ) -> tuple[FloatArray, float]:
        """Values plus discrete Gaussian noise, and its standard deviation.

        Parameters
        ----------
        name : str
            Name of the ledger line.
        values : ndarray, or tuple of several whose exact sum is meant
            Private.
        sensitivity : float
            l2-sensitivity.
        largest : float, optional
            Public guess of the magnitude of the values, which sets how fine the grid may be. Larger ones are
            released all the same. An exact sum is never given a coarser grid than without a guess.
        """
        terms = values if isinstance(values, tuple) else (values,)
        if self._ledger is None:
            return np.asarray(sum(terms[1:], start=terms[0])), 0.0
        usual = _DEFAULT_RANGE * sensitivity
        if largest is None or (isinstance(values, tuple) and largest > usual):
            largest = usual
        mu = min(self._ledger.mu, _LARGEST_MULTIPLE * sensitivity / (_STEPS * largest))
        law = self._ledger.gaussian_on_grid(name, sensitivity=sensitivity, mu=mu, count=terms[0].size)
        return self._noise.scalars(values, law.unit, law.scale), law.scale

    def report(self) -> PrivacyReport:
        """What was promised and released."""
        return self._unlimited if self._ledger is None else self._ledger.report()


def open_release(
    *, epsilon: float, delta: float, accountant: PrivacyAccountant | None, relation: Relation, noise: NoiseSource
) -> VectorRelease:
    """Debit the budget, before any private data is read.

    Raises
    ------
    InvalidParameterError
        epsilon or delta is out of range; epsilon may be ``math.inf``.
    BudgetExceededError
        The accountant refuses; every accountant refuses ``math.inf``.
    """
    delta = check_delta(delta)
    report = PrivacyReport(math.inf, delta, None, relation.words, seeded=noise.seeded, relation=relation.key)
    if not _unlimited(epsilon):
        ledger = open_ledger(epsilon=epsilon, delta=delta, accountant=accountant, relation=relation, noise=noise)
        return VectorRelease(ledger, report, noise)
    if accountant is not None or ambient_accountant() is not None:
        raise BudgetExceededError("epsilon = inf gives no privacy and exceeds every budget; choose a finite epsilon")
    return VectorRelease(None, report, noise)


def _unlimited(epsilon: float) -> bool:
    return isinstance(epsilon, (float, np.floating)) and math.isinf(epsilon) and epsilon > 0
