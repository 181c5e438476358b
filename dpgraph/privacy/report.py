"""The guarantee of a private result, and the ledger of its releases."""

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from scipy.special import ndtri

from dpgraph.exceptions import InvalidParameterError


class Pairs(StrEnum):
    """Which vertex pairs a release reads, in words.

    Neighbours differ in one pair. It lies inside or outside a public set of rows, or one of its rows is among the last
    of a public order. So it is read by the lines about one kind of pairs only: lines about two kinds are disjoint, and
    all may spend the same budget (parallel composition). Where there are last rows, their pairs are not "outside".
    """

    ANY = ""
    INSIDE_CORE = "inside the core"
    OUTSIDE_CORE = "outside the core"
    LAST_ROWS = "with one of the last rows"

    @property
    def disjoint(self) -> bool:
        """Whether lines about these pairs spend a budget that lines about the other kind of pairs are listed with."""
        return self in (Pairs.OUTSIDE_CORE, Pairs.LAST_ROWS)


@dataclass(frozen=True)
class LedgerEntry:
    """One release, or one good event, of a mechanism.

    Parameters
    ----------
    name : str
        What was released, for instance ``"degrees"``.
    mechanism : str
        Law of the noise: ``"Gaussian"``, ``"Laplace"``, ...; ``"good event"`` for a line that only spends delta.
    sensitivity, scale : float
        Bound on the change between neighbours, in the norm that the mechanism needs; standard deviation of Gaussian
        noise, scale parameter of Laplace noise.
    mu, epsilon : float
        Gaussian-DP parameter of this release (0 for a good event, and for a pure-DP release in a pure call), and its
        pure epsilon (0 for a Gaussian release).
    share : float
        Share of the call's budget: of mu**2 for Gaussian, of epsilon for pure releases.
    delta_share : float
        Probability of the bad event that this line pays for.
    pairs : Pairs
        Which vertex pairs the release reads. Lines about those that are :attr:`~Pairs.disjoint` have share 0, because
        other lines hold the share of the budget that they spend again.
    """

    name: str
    mechanism: str
    sensitivity: float
    scale: float
    mu: float = 0.0
    epsilon: float = 0.0
    share: float = 0.0
    delta_share: float = 0.0
    pairs: Pairs = Pairs.ANY


@dataclass(frozen=True)
class PrivacyReport:
    """The guarantee of a result, and the releases that it was made from.

    Parameters
    ----------
    epsilon, delta : float
        The call is (epsilon, delta)-differentially private; delta is 0 for pure differential privacy.
    mu : float or None
        Gaussian-DP parameter of all Gaussian releases together; ``None`` if there are none. The guarantee of the
        call is ``gdp_delta(mu, epsilon) + delta_slack <= delta``.
    adjacency : str
        The neighbouring relation, in words.
    entries : tuple of LedgerEntry
        One line for each release and each good event.
    seeded : bool
        True if the noise came from a seed: whoever knows the seed can remove the noise.
    delta_slack : float
        Part of delta spent on good events.
    relation : str
        The neighbouring relation, as the key by which an accountant tells it from others
        (:mod:`dpgraph.privacy.relation`); empty in reports of files that are older than it.
    """

    epsilon: float
    delta: float
    mu: float | None
    adjacency: str
    entries: tuple[LedgerEntry, ...] = ()
    seeded: bool = False
    delta_slack: float = 0.0
    relation: str = ""

    def __repr__(self) -> str:
        warning = ", seeded: for experiments only" if self.seeded else ""
        return (
            f"PrivacyReport(epsilon={self.epsilon:g}, delta={self.delta:g}, {len(self.entries)} entries, "
            f"adjacency={self.adjacency!r}{warning})"
        )

    def half_width(self, name: str, coverage: float = 0.95) -> float:
        """Half the width of a two-sided interval around a released number, from the law of its noise.

        Parameters
        ----------
        name : str
            Name of the line, for instance ``"cut weight"`` for `estimated_value` of a cut, ``"assignment weight"`` for
            that of a constraint problem, ``"total weight"`` or ``"spectrum"``.
        coverage : float, default 0.95
            Probability that the exact number lies within, 0 < coverage < 1.

        Returns
        -------
        float
            b ln(1/(1 - coverage)) for Laplace noise of scale b, which is 2.12 standard deviations at 95 %, and
            Phi^{-1}((1 + coverage)/2) sigma, which is 1.96, for Gaussian noise. Noise on a grid whose step is not small
            beside its scale (counts, where epsilon times the share of the line is above 1) covers a few percent more or
            less. If the line is about several numbers, the interval is for each alone.

        Raises
        ------
        InvalidParameterError
            No line has this name and noise of either kind, several have, or `coverage` is out of range.

        Examples
        --------
        >>> import dpgraph
        >>> cut = dpgraph.private_max_cut(dpgraph.datasets.load("planted-cut"), epsilon=1.0, delta=1e-6, rng=0)
        >>> round(cut.privacy.half_width("cut weight"), 1)  # Laplace noise of scale 50
        149.8
        """
        if not 0 < coverage < 1:
            raise InvalidParameterError(f"coverage must lie strictly between 0 and 1; got {coverage!r}")
        laws = ("Laplace", "Gaussian", "discrete Gaussian")
        lines = [entry for entry in self.entries if entry.name == name and entry.mechanism in laws]
        if len(lines) != 1:
            names = ", ".join(repr(entry.name) for entry in self.entries if entry.mechanism in laws)
            raise InvalidParameterError(
                f"name must be that of one line with Laplace or Gaussian noise; got {name!r}. "
                f"Such lines: {names or 'none'}"
            )
        if lines[0].mechanism == "Laplace":
            return -lines[0].scale * math.log1p(-coverage)
        return float(ndtri((1 + coverage) / 2)) * lines[0].scale

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python numbers and strings, ready for JSON."""
        return asdict(self)

    def table(self) -> str:
        """Return the ledger as aligned text, one line for each entry."""
        wide = max([32, *(len(e.name) for e in self.entries)]) + 2
        lines = [f"{'release':<{wide}}{'mechanism':<22}{'sensitivity':>12}{'scale':>12}{'share':>8}{'delta':>10}"]
        for e in self.entries:
            delta = f"{e.delta_share:.1e}" if e.delta_share else ""
            law = e.mechanism + ", disjoint" * e.pairs.disjoint
            lines.append(f"{e.name:<{wide}}{law:<22}{e.sensitivity:>12.4g}{e.scale:>12.4g}{e.share:>8.1%}{delta:>10}")
        total = f"total: epsilon = {self.epsilon:g}, delta = {self.delta:g}, neighbours: {self.adjacency}"
        return "\n".join([*lines, total + ("; SEEDED, not for publication" if self.seeded else "")])
