"""How hard a solver tries: one set of options for cuts, bisections and 2-CSPs."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from dpgraph.arguments import as_number, check_choice, check_integer
from dpgraph.exceptions import InvalidParameterError

__all__ = ["MOST_LEAVES", "SearchMode", "SolverOptions"]

SearchMode = Literal["beam", "all", "sampled"]

#: Largest number of leaves of search="all".
MOST_LEAVES = 1024


@dataclass(frozen=True)
class SolverOptions:
    """Options of a solver, checked when they are made.

    Parameters
    ----------
    seeds : int, default 1
        Largest number of pinned variables. In a cut the first one only fixes the sign and costs nothing; every other
        seed costs `beam` times q warm re-solves, q the number of labels.
    rounds : int, default 100
        Random roundings of each node of the search that is left.
    local_search : bool, default True
        Improve the best roundings by annealing and changes of single variables.
    target_correlation : float, default 0
        Stop pinning once the global correlation is at most this.
    beam : int, default 2
        Nodes of the search that are kept after each seed.
    starts : int, default 8
        Rounded solutions from which the local search starts.
    sweeps : int, optional
        Annealing sweeps for each start; by default as many as take a few seconds in all.
    tol : float, optional
        Relative gap at which the relaxation stops. By default 1e-6 for cuts of up to 1000 vertices and 1e-4 above;
        1e-5 for CSPs of up to 300 variables and 1e-4 above.
    search : {"beam", "all", "sampled"}, default "beam"
        How seeds and their labels are chosen, see :mod:`dpgraph.sos.seed_search`.
    progress : bool, default False
        Show a progress bar on stderr.

    Raises
    ------
    InvalidParameterError
        A count, a tolerance or the target is out of range, or the search is unknown.
    """

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
        """A tqdm bar with one step for the relaxation, one for each seed and one for the local search."""
        from tqdm import tqdm

        return tqdm(total=self.seeds + 2, disable=not self.progress, desc=title, unit="stage")
