"""Calls whose epsilon may be infinite: they promise nothing, and release what is exact."""

import math
from typing import Any

import numpy as np

from dpgraph.exceptions import BudgetExceededError
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, Measurement, Released, open_call
from dpgraph.privacy.grid import terms
from dpgraph.privacy.ledger import Ledger, ambient_accountant
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Relation


class _Unlimited(Call):
    """A call without noise."""

    def release(self, measurement: Measurement) -> Released:
        """The value itself."""
        first, *others = terms(measurement.value)
        return Released(np.asarray(sum(others, start=first)), 0.0)


def is_unlimited(epsilon: Any) -> bool:
    """Whether epsilon is infinite."""
    return isinstance(epsilon, (float, np.floating)) and epsilon == math.inf


def open_answers(
    *, epsilon: float, delta: float, accountant: PrivacyAccountant | None, relation: Relation, noise: Any
) -> Call:
    """Open a call (:func:`~dpgraph.privacy.call.open_call`); every accountant refuses an infinite epsilon."""
    if not is_unlimited(epsilon):
        return open_call(epsilon=epsilon, delta=delta, accountant=accountant, relation=relation, noise=noise)
    if accountant is not None or ambient_accountant() is not None:
        raise BudgetExceededError("epsilon = inf gives no privacy and exceeds every budget; choose a finite epsilon")
    noise = noise_source(noise)
    return _Unlimited(Ledger(math.inf, 0.0, 0.0, relation, noise.seeded), noise)
