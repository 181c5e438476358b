"""The budget of one private call, with one line for each release. It hands out every noise scale."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from scipy.special import ndtri

from dpgraph.arguments import check_delta
from dpgraph.exceptions import DPGraphError, InvalidParameterError
from dpgraph.privacy.accounting import free_choice_epsilon, gdp_mu
from dpgraph.privacy.grid import LEAST_SCALE, laplace_quantile
from dpgraph.privacy.persons import Group
from dpgraph.privacy.relation import Relation
from dpgraph.privacy.report import LedgerEntry, Pairs, PrivacyReport
from dpgraph.privacy.streams import Stream
from dpgraph.progress import BAR

#: Relative slack in comparisons of budgets: rounding of sums, nothing that a user could notice.
ROUNDING = 1e-9

#: Grid of scalar releases: at most sigma / 10**4, so that the discrete Gaussian is within a relative 1e-6 of the
#: Gaussian-DP curve of the continuous one (docs/proofs.md, "Numbers in a computer").
_GRID_RATIO = 1e5
_DISCRETE_INFLATION = 1 + 1e-6
_LARGEST_MU = 2.0**20
#: No call buys more: its noise is nothing beside what it protects, and squares of smaller noise underflow.
_MOST_MU = 2.0**40
#: Bound on the relative error of the computed normal quantile (that of scipy is about 1e-15).
_QUANTILE_ERROR = 1e-12
#: Most grid steps in a standard deviation: draws stay integers that a double holds.
_MOST_STEPS = 2.0**46


class GridNoise(NamedTuple):
    """Standard deviation of a discrete Gaussian and the grid on which it lives."""

    scale: float
    unit: float


class Ledger:
    """Records the releases of one call and refuses to record more than was debited.

    It is debited by :func:`~dpgraph.privacy.call.open_call`. Every noise scale of the package is handed out by one of
    the methods below. `pairs` are the vertex pairs that a release reads.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        slack: float,
        relation: Relation,
        stream: Stream | None,
        staged: bool = False,
        group: Group | None = None,
    ) -> None:
        self.epsilon, self.delta, self.slack = epsilon, delta, slack
        #: `stream` is that of seeded noise.
        self.relation, self.stream = relation, stream
        #: Whether releases are stages of their own (:meth:`stage`).
        self.staged = staged
        #: Total Gaussian-DP budget of the call; 0 for a pure-DP call.
        self.mu = min(gdp_mu(epsilon, delta - slack), _MOST_MU) if delta > 0 else 0.0
        #: What the call is for persons. The amounts of this ledger are those of one edge, and its report theirs.
        self.group = group or Group(1, epsilon, delta)
        if group and self.gaussian_only:
            self.mu = min(gdp_mu(group.epsilon, group.delta), _MOST_MU) / group.edges
        self.entries: list[LedgerEntry] = []
        self._whole: Ledger | None = None
        self._name = ""  # as a part of the whole
        self._stages: list[Ledger] = []
        self._free = 0  # how many of the first lines have made a choice that costs what follows nothing

    @property
    def gaussian_only(self) -> bool:
        """Whether the call, without good events, is mu-GDP for the up to k edges of a person, and composes by its mu.

        A good event (a bound that holds with high probability) fails under the law of each graph on the way to a
        neighbour: with events, k edges are protected as by any (epsilon, delta)-DP mechanism.
        """
        alone = self.group.edges == 1 or self.slack == 0
        return self.delta > 0 and not self.staged and alone

    def stage(self, epsilon: float, *, slack: float = 0.0) -> Ledger:
        """A ledger for a pure part of this call's budget, whose size may depend on what earlier stages released.

        Each stage is (epsilon, slack)-DP by itself, whatever came before; epsilons and slacks (the delta of good
        events) of all stages add up (docs/proofs.md, "Composition", rule 3). Its lines appear in this ledger, which
        takes no others.
        """
        stage = Ledger(epsilon, 0.0, slack, self.relation, self.stream)
        self.adopt(stage)
        return stage

    def adopt(self, stage: Ledger, name: str = "") -> None:
        """Make the new ledger of another pure call about the same neighbours a :meth:`stage` of this one.

        Its lines appear here with its name before theirs. Where the relation of this call is that of k edges of a
        person, the amounts of the other ledger are those of one edge.
        """
        stages = [*self._stages, stage]
        fits = _within(sum(s.epsilon for s in stages), self.epsilon)
        key = self.relation.key
        alike = stage.delta == 0 and stage.relation.key in (key, key.partition(":")[0]) and not stage.entries
        if not fits or not alike or (self.delta > 0 and not self.staged) or (self.entries and not self._stages):
            raise DPGraphError("internal error: a stage exceeds the budget debited for this call")
        self.mu, self.slack = math.hypot(*(s.mu for s in stages)), sum(s.slack for s in stages)
        self._stages, stage._whole, stage._name = stages, self, name

    def decide(self, pure: bool) -> Ledger:
        """The rest of the budget, after a pure stage whose one bit has chosen a pure (or else a Gaussian) mechanism.

        A pure mechanism gets what is left of epsilon. A Gaussian one gets all of epsilon and delta: below
        :func:`~dpgraph.privacy.accounting.free_choice_epsilon` the choice costs it nothing (theorem there). Nothing but
        the bit may have been published. In a pure call both are pure.
        """
        if len(self._stages) != 1 or self._stages[0].delta > 0 or not self.staged:
            raise DPGraphError("internal error: only one pure stage of a staged call may come before a decision")
        spent = self._stages[0].epsilon
        if self.delta > 0 and spent > free_choice_epsilon(self.epsilon, self.delta):
            raise DPGraphError("internal error: this choice is not free")
        if pure:
            return self.stage(self.epsilon - spent)
        rest = Ledger(self.epsilon, self.delta, 0.0, self.relation, self.stream)
        self.mu, rest._whole, self._free = rest.mu, self, len(self.entries)
        self._stages.append(rest)
        return rest

    def gaussian(
        self, name: str, *, sensitivity: float, mu: float, mechanism: str = "Gaussian", pairs: Pairs = Pairs.ANY
    ) -> float:
        """Standard deviation of Gaussian noise for this l2-sensitivity and `mu`; share 0 on pairs that are disjoint."""
        scale, share = sensitivity / mu, 0.0 if pairs.disjoint else (mu / self.mu) ** 2
        self._record(LedgerEntry(name, mechanism, sensitivity, scale, mu=mu, share=share, pairs=pairs))
        return scale

    def gaussian_on_grid(self, name: str, *, sensitivity: float, mu: float, count: int) -> GridNoise:
        """Scale and grid for `count` scalars released by a discrete Gaussian.

        Rounding `count` reals to a grid g adds g sqrt(count) to the l2-sensitivity; the scale is inflated by 1e-6
        because the discrete Gaussian is not exactly (s/sigma)-GDP. A larger `mu` than 2**20 buys noise of 2**-20
        sensitivities: below, a change by one sensitivity would be more steps than the sampler can draw.
        """
        mu = min(mu, _LARGEST_MU)
        unit = 2.0 ** math.floor(math.log2(sensitivity / mu / _GRID_RATIO))
        rounded = sensitivity + unit * math.sqrt(count)
        scale = rounded / mu * _DISCRETE_INFLATION
        if scale > _MOST_STEPS * unit:
            raise InvalidParameterError(
                f"release {name!r} gets so little of the budget that its noise cannot be drawn exactly: Gaussian-DP "
                f"parameter {mu:.3g}, at least about 1e-13 is needed. Raise epsilon or delta"
            )
        self._record(LedgerEntry(name, "discrete Gaussian", rounded, scale, mu=mu, share=(mu / self.mu) ** 2))
        return GridNoise(scale, unit)

    def good_event(self, name: str, delta_share: float, *, candidates: int = 1) -> float:
        """Quantile z such that `candidates` one-sided slacks of z standard deviations fail with `delta_share`.

        A slack bounds a scalar released on the grid of :meth:`gaussian_on_grid`, or the difference of two of one
        release: rounding and the discrete law of the noise are part of z. DN25a, Lemma B.5 in its GDP form
        (docs/proofs.md, "Composition", rule 2); :func:`grid_quantile`.
        """
        self.event(name, delta_share)
        return grid_quantile(delta_share / candidates, ratio=_GRID_RATIO)

    def laplace_event(self, name: str, delta_share: float, *, scale: float) -> int:
        """What to add to an integer released with Laplace noise of this scale: a bound that fails with `delta_share`.

        The quantile of what the sampler draws on multiples of 1: :func:`~dpgraph.privacy.grid.laplace_quantile`.
        """
        self.event(name, delta_share)
        return laplace_quantile(scale, delta_share)

    def event(self, name: str, delta_share: float) -> None:
        """Enter an event that fails with probability `delta_share` at most."""
        self._record(LedgerEntry(name, "good event", 0.0, 0.0, delta_share=delta_share))

    def pure(self, name: str, *, mechanism: str, sensitivity: float, epsilon: float, pairs: Pairs = Pairs.ANY) -> float:
        """Scale ``sensitivity / epsilon`` of a pure-DP release, or a larger one where that quotient underflows."""
        scale, share = max(sensitivity / epsilon, LEAST_SCALE), 0.0 if pairs.disjoint else epsilon / self.epsilon
        self._record(LedgerEntry(name, mechanism, sensitivity, scale, epsilon=epsilon, share=share, pairs=pairs))
        return scale

    def report(self) -> PrivacyReport:
        """The ledger as it stands, for a result object or a halt."""
        entries = [replace(e, share=0.0) if k < self._free else e for k, e in enumerate(self.entries)]
        return PrivacyReport(
            epsilon=self.group.epsilon,
            delta=self.group.delta,
            mu=self.group.edges * self.mu or None,
            adjacency=self.relation.words,
            relation=self.relation.key,
            entries=tuple(map(self._for_a_person, entries)),
            seeded=self.stream is not None,
            delta_slack=self.slack * self._times_delta,
        )

    @property
    def _times_delta(self) -> float:
        """Factor on the delta of an event that may fail, for all edges of a person in place of one."""
        return self.group.delta / self.delta if self.slack and self.group.edges > 1 else 1.0

    def _for_a_person(self, entry: LedgerEntry) -> LedgerEntry:
        """A line of this ledger, which is about one edge, as it reads for all edges of a person, of the same noise."""
        if (k := self.group.edges) == 1:
            return entry
        failure = self._times_delta * entry.delta_share
        moved = replace(entry, sensitivity=k * entry.sensitivity, delta_share=failure)
        return replace(moved, mu=k * entry.mu, epsilon=k * entry.epsilon)

    def _record(self, entry: LedgerEntry) -> None:
        entries = [*self.entries, entry]
        fits = entry.scale >= 0 and _within(sum(e.delta_share for e in entries), self.slack)
        for pairs in {e.pairs for e in entries}:
            fits = fits and self._fits([e for e in entries if e.pairs in (Pairs.ANY, pairs)])
        if not fits or self._stages:
            raise DPGraphError(f"internal error: release {entry.name!r} exceeds the budget debited for this call")
        self.entries.append(entry)
        if (bar := BAR.get()) is not None:
            bar.set_postfix_str(entry.name, refresh=False)
            bar.update()
        part = self
        while part._whole is not None:
            name = f"{part._name}: {entry.name}" if part._name else entry.name
            entry = replace(entry, name=name, share=entry.share * part.epsilon / part._whole.epsilon)
            part = part._whole
            part.entries.append(entry)

    def _fits(self, entries: list[LedgerEntry]) -> bool:
        """Whether the lines that may read one pair stay within the budget."""
        mu_squared = sum(e.mu**2 for e in entries)
        pure = sum(e.epsilon for e in entries)
        if self.delta == 0:
            return mu_squared == 0 and _within(pure, self.epsilon)
        return pure == 0 and _within(mu_squared, self.mu**2)


def _within(used: float, limit: float) -> bool:
    return used <= limit * (1 + ROUNDING)


def grid_quantile(failure: float, *, ratio: float, terms: int = 2) -> float:
    """Slack z of a one-sided good event about scalars on a grid, in standard deviations of their noise.

    A real v is rounded to a multiple of the step g and released as R = round(v) + g X, X a discrete Gaussian:
    P[X = k] proportional to exp(-k**2 / (2 s**2)) for integers k, with s >= `ratio`. Then for up to `terms` such
    releases R_1, ..., R_k with independent noise of one scale sigma = g s, and any signs,

        P[sum of +-(R_i - v_i) > z sqrt(k) sigma] <= `failure`,

    for z the normal quantile of `failure` plus ``1.5 sqrt(terms) / ratio``.

    Proof: docs/proofs.md, "The quantile of a good event".
    """
    if not ratio >= 1 or terms < 1:
        raise DPGraphError("internal error: the noise of a good event must be at least one step of its grid wide")
    quantile = -float(ndtri(check_delta(failure)))
    return quantile + _QUANTILE_ERROR * abs(quantile) + 1.5 * math.sqrt(terms) / ratio
