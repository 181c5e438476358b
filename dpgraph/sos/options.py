"""How hard a solver tries: one set of options for cuts, bisections and 2-CSPs."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from tqdm import tqdm

from dpgraph.arguments import as_number, check_choice, check_integer
from dpgraph.exceptions import InvalidParameterError

__all__ = ["MOST_LEAVES", "SearchMode", "SolverOptions"]

SearchMode = Literal["beam", "all", "sampled"]

#: Largest number of leaves of search="all".
MOST_LEAVES = 1024


@dataclass(frozen=True)
class SolverOptions:
    """Options of a solver, as :func:`dpgraph.max_cut` explains them, checked when they are made."""

    seeds: int = 1
    rounds: int = 100
    local_search: bool = True
    target_correlation: float = 0.0
    beam: int = 2
    starts: int = 8
    sweeps: int | None = None
    tol: float | None = None
    search: SearchMode = "beam"
    progress: bool = False

    def __post_init__(self) -> None:
        for name, least in (("seeds", 0), ("rounds", 1), ("beam", 1), ("starts", 1)):
            check_integer(name, getattr(self, name), least)
        if self.sweeps is not None:
            check_integer("sweeps", self.sweeps, 0)
        if self.tol is not None and not 0.0 < as_number(self.tol) < 1.0:
            raise InvalidParameterError(f"tol must be in (0, 1); got {self.tol!r}")
        if math.isnan(as_number(self.target_correlation)):
            raise InvalidParameterError(f"target_correlation must be a number; got {self.target_correlation!r}")
        check_choice("search", self.search, ("beam", "all", "sampled"))

    def check_tree(self, seeds: int, alphabet_size: int) -> None:
        """Refuse search="all" where `seeds` variables of `alphabet_size` labels make more leaves than are kept."""
        if self.search == "all" and alphabet_size ** min(seeds, MOST_LEAVES) > MOST_LEAVES:
            raise InvalidParameterError(
                f"search='all' with {seeds} seeds and {alphabet_size} labels may make {alphabet_size}**{seeds} nodes; "
                f"at most {MOST_LEAVES} are kept: use fewer seeds, or search='beam'"
            )

    def progress_bar(self, title: str) -> Any:
        """A bar with one step for the relaxation, one for each seed and one for the local search."""
        return tqdm(total=self.seeds + 2, disable=not self.progress, desc=title, unit="stage")
