"""The inputs of the registry under attack: pairs that come close to worst cases, with a search over the budget.

Random inputs of :mod:`targets` rarely come near the pairs that somebody has thought about. Here a genome names an entry
of ``tests/privacy/registry.py`` and one of its pairs; :mod:`trial` compares both worlds exactly as for other targets.

One trial in a few hands over the input of the entry that is refused when it is read, and looks at the accountant:

* ``debit``: infinite if data is read before the budget is debited, or if a call that fails on the data is not charged
  its whole budget afterwards.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.exceptions import BudgetExceededError, InvalidGraphError, InvalidParameterError
from dpgraph.privacy import PrivacyAccountant
from tests.privacy.attack.genes import DELTA, Choice, Either, Gene, Genome, Log, Maybe, Seed
from tests.privacy.attack.targets import cheap
from tests.privacy.attack.trial import Comparison, compare
from tests.privacy.inputs import Data
from tests.privacy.registry import ENTRIES, Entry

#: Name of the target, and of those that take only the entries whose label matches: "registry: private_degrees".
REGISTRY = "registry"
#: Budgets at which tests halt, a core has some vertices, and every step is reached; as shares of the entry's own.
_BUDGETS = Either(Choice((1.0, 1.0, 1 / 8, 1250.0)), Log(((1 / 8, 8.0), (1e-2, 2e3), (1e-9, 1e9))), 0.6)
#: Budgets of an accountant, which turns them into the parameter of Gaussian privacy and back.
_ACCOUNTED = (0.1, 50.0)
#: A pair number is taken modulo the number of pairs of the entry, which divides this number or is small.
_PAIRS = range(2520)


@dataclass(frozen=True)
class RegistryTarget:
    """Entries of the registry under attack.

    Parameters
    ----------
    name : str
        As the table names it.
    entries : tuple of Entry
        What a genome chooses from.
    """

    name: str
    entries: tuple[Entry, ...]

    @property
    def genes(self) -> dict[str, Gene]:
        """Search space."""
        return {
            "entry": Choice(range(len(self.entries))),
            "pair": Choice(_PAIRS),
            "reversed": Choice((False, True)),
            "budget": _BUDGETS,
            "delta": Maybe(DELTA, 0.3),
            "noise seed": Seed(),
            "check": Choice(("worlds", "worlds", "worlds", "worlds", "debit")),
        }

    def trial(self, genome: Genome) -> Comparison:
        """Draw on one side of the pair and force on the other, or look at the debit."""
        entry = self.entries[genome["entry"]]
        if genome["check"] == "debit":
            return debit(entry, float(np.clip(entry.epsilon * genome["budget"], *_ACCOUNTED)))
        _, *sides = self._pair(genome)
        first, second = reversed(sides) if genome["reversed"] else sides
        more = {k: v for k, v in cheap(entry).items() if k not in entry.options} | _delta(entry, genome)

        def call(data: Data) -> Callable[[Any], Any]:
            arguments = {k: v for k, v in more.items() if k not in data.public}
            return lambda rng: entry.call(data, rng=rng, epsilon=entry.epsilon * genome["budget"], **arguments)

        return compare(call(first), call(second), seed=genome["noise seed"])

    def describe(self, genome: Genome) -> str:
        """The entry, its pair, and the budget."""
        entry = self.entries[genome["entry"]]
        if genome["check"] == "debit":
            return f"{entry.label}, refused input"
        knobs = {"epsilon": entry.epsilon * genome["budget"]} | _delta(entry, genome)
        side = ", reversed" if genome["reversed"] else ""
        return ", ".join(
            [entry.label, *(f"{k}={v:.3g}" for k, v in knobs.items()), f"pair '{self._pair(genome)[0]}'{side}"]
        )

    def _pair(self, genome: Genome) -> tuple[str, Data, Data]:
        pairs = self.entries[genome["entry"]].pairs
        return pairs[genome["pair"] % len(pairs)]


def _delta(entry: Entry, genome: Genome) -> dict[str, float]:
    return {} if entry.pure or genome["delta"] is None else {"delta": genome["delta"]}


def registry_target(name: str = REGISTRY) -> RegistryTarget:
    """All entries, or those whose label is matched by the regular expression behind the colon in the name."""
    wanted = name.removeprefix(REGISTRY).removeprefix(": ")
    labelled = [(entry.label, entry) for entry in ENTRIES]
    return RegistryTarget(name, tuple(entry for label, entry in labelled if re.match(wanted, label)))


def debit(entry: Entry, epsilon: float) -> Comparison:
    """Whether a call debits its whole budget before it reads, and never gets it back.

    The input is refused when it is read. So the error says which came first where the budget does not fit, and the
    accountant must have been charged all of it where it does.
    """
    small = PrivacyAccountant(epsilon=epsilon / 2, delta=1e-6)
    large = PrivacyAccountant(epsilon=2 * epsilon, delta=1e-6)
    errors = [_refusal(entry, epsilon, accountant) for accountant in (small, large)]
    wrong = ""
    if not isinstance(errors[0], BudgetExceededError):
        wrong = "the data was read before the budget was debited"
    elif small.spent != (0.0, 0.0):
        wrong = "a call that does not fit was charged"
    elif not isinstance(errors[1], (InvalidGraphError, InvalidParameterError)):
        wrong = f"the input was not refused: {errors[1]!r}"
    elif not math.isclose(large.spent.epsilon, epsilon, rel_tol=1e-6):
        wrong = f"a call with epsilon={epsilon:g} that failed on the data is charged {large.spent.epsilon:g}"
    found = Comparison()
    found.add("debit", math.inf if wrong else 0.0, wrong)
    return found


def _refusal(entry: Entry, epsilon: float, accountant: PrivacyAccountant) -> Exception | None:
    try:
        entry.call(entry.poisoned, rng=0, epsilon=epsilon, accountant=accountant)
    except (BudgetExceededError, InvalidGraphError, InvalidParameterError) as error:
        return error
    return None
