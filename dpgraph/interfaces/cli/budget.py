"""``dpgraph budget``: make a budget file, and show what is left in one."""

from dataclasses import dataclass
from pathlib import Path

from dpgraph.interfaces.cli.options import argument, option
from dpgraph.interfaces.cli.outputs import say
from dpgraph.privacy.budget_file import FileAccountant
from dpgraph.privacy.relation import protects


@dataclass(frozen=True, kw_only=True)
class BudgetFile:
    """Make a budget for one data set, or show what is left of it.

    Give the file to every command that reads this data: `dpgraph max-cut ... --budget FILE`. A command that does not
    fit into what is left is refused before it reads anything. Several commands at a time may share the file. Never copy
    it: a copy is a second budget.

    Example: `dpgraph budget graph.db --epsilon 2 --delta 1e-6`, later `dpgraph budget graph.db`
    """

    file: Path = argument("FILE", "The budget file.")
    epsilon: float | None = option(None, "Total epsilon of a new file.")
    delta: float | None = option(None, "Total delta of a new file. Default: 0, for pure releases only.")

    edges_per_person: int | None = option(
        None, "Protect persons with up to this many edges (new file). Default: 1, every edge by itself."
    )

    def run(self) -> None:
        """Make or open the file, and print its budget and its charges."""
        asked = {"epsilon": self.epsilon, "delta": self.delta}
        accountant = FileAccountant(self.file, **asked, edges_per_person=self.edges_per_person)
        budgets = {"total": accountant.total, "spent": accountant.spent, "left": accountant.remaining}
        for name, budget in budgets.items():
            say(f"{name:<6} epsilon={budget.epsilon:<10.4g} delta={budget.delta:g}")
        if accountant.edges_per_person > 1:
            say(protects(accountant.edges_per_person))
        for charge in accountant.charges():
            say(f"{charge.time}  epsilon={charge.epsilon:<10.4g} delta={charge.delta:g}")
