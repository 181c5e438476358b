"""A private call: the budget it was opened with, its source of noise, and the one place where noise is added.

A call is opened, and its whole budget debited, before private data is read. Parts of it are handed to the functions
that release something. A share is one of epsilon where the call is pure, and of mu**2 where it is Gaussian: both add
up. So nothing but the call says how much a release may cost, and in which currency.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpgraph.arguments import check_epsilon, check_optional_delta
from dpgraph.exceptions import DPGraphError, InvalidParameterError, MechanismHalted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.grid import LAPLACE_BITS, Terms, add_on_grid, grid_step, symmetric_part, terms
from dpgraph.privacy.guard import debited
from dpgraph.privacy.ledger import ROUNDING, Ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.open_blocks import ambient_accountant
from dpgraph.privacy.persons import person_cost
from dpgraph.privacy.relation import Relation, of_persons
from dpgraph.privacy.report import Pairs, PrivacyReport
from dpgraph.privacy.streams import remember, warn_of_used_stream
from dpgraph.typing import FloatArray, IntArray

#: The grid of a real number with Laplace noise is this many bits finer than the noise.
_SCALAR_BITS = 20
#: What floating-point arithmetic may do to an entry of an array of real numbers, in noise scales.
_ALLOWANCE = 2.0**-30
#: From here on a call protects nothing that is worth the name: e^50 is no bound, and one in ten may be published whole.
_WEAK_EPSILON, _WEAK_DELTA = 50.0, 0.1
#: The least Gaussian-DP parameter of a call, times the root of the count of reals in one release if they are many: a
#: release, which has a part of it, needs 1e-14 times that (:meth:`~dpgraph.privacy.ledger.Ledger.gaussian_on_grid`).
LEAST_MU = 1e-12


@dataclass(frozen=True)
class Measurement:
    """Numbers that are to be released, and their sensitivity."""

    #: Of the line in the ledger.
    name: str
    #: Private; several arrays stand for their exact sum.
    value: Terms
    #: Bounds on the change between neighbours in the l1 and in the l2 norm, were the value computed exactly. The one
    #: that the noise does not need may be left out.
    l1: float = math.inf
    l2: float = math.inf
    #: The value is a multiple of this power of two; 0 for real numbers.
    unit: float = 0.0
    #: A handful of numbers: Gaussian noise is drawn from the exact discrete law.
    few: bool = False
    #: Replace a square matrix by (A + A')/2, which moves no two data sets apart, and use noise (W + W')/2.
    symmetric: bool = False
    #: For real numbers that are not `few`, and for vectors with Laplace noise: public bound on the distance of the
    #: value from what an exact computation would give, in the norm of the noise. It counts twice, once for each of two
    #: neighbours. By default 2**-30 noise scales an entry, which covers rounding unless sums in it are 2**22 over their
    #: number of terms noise scales large.
    error: float | None = None
    #: Numbers with Laplace noise that are released from the first one on: how many are wanted, given those that have
    #: been released and the scale of their noise. What stays unreleased takes no noise and changes no bound.
    wanted: Callable[[FloatArray, float], int] | None = None


class Released(NamedTuple):
    """Released numbers, and the standard deviation of the noise of each."""

    value: FloatArray
    std: float

    @property
    def number(self) -> float:
        """The only number."""
        return float(self.value[0])


@dataclass(frozen=True)
class NoisyMaximum:
    """Report-noisy-max for each row of scores, for one line of the ledger."""

    noise: NoiseSource
    #: Of the grid on which scores get their noise, and of the noise.
    step: float
    scale: float

    def expect(self, count: int) -> None:
        """Take note that so many scores come next."""
        self.noise.expect_laplace(count, self.step, self.scale)

    def choose(self, scores: FloatArray, *, public: FloatArray | None = None) -> IntArray:
        """Column of the largest of private `scores` plus what is `public` plus noise, for each row."""
        return self.noise.noisy_argmax(scores, self.step, self.scale, public=public)


class Whole(NamedTuple):
    """The budget of a call, in each currency; mu is 0 where it is pure."""

    epsilon: float
    delta: float
    mu: float


class Call:
    """A private call (:func:`open_call`), or a part of one: a share of its budget, or a mu or an epsilon of its own."""

    def __init__(
        self,
        ledger: Ledger,
        noise: NoiseSource,
        share: float = 1.0,
        *,
        mu: float | None = None,
        epsilon: float | None = None,
    ) -> None:
        self.ledger, self.noise, self.share = ledger, noise, share
        self._mu, self._epsilon = mu, epsilon
        self._stage: Ledger | None = None

    # --- the budget -------------------------------------------------------------------------------------------------

    @property
    def pure(self) -> bool:
        """Whether releases of this part are purely private (a call that goes in stages releases purely)."""
        return self.ledger.delta == 0 or self.ledger.staged

    @property
    def epsilon(self) -> float:
        """Epsilon of this part, if it is pure."""
        return self.ledger.epsilon * self.share if self._epsilon is None else self._epsilon

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter of this part, if it is not."""
        return self.ledger.mu * math.sqrt(self.share) if self._mu is None else self._mu

    @property
    def whole(self) -> Whole:
        """The budget of the whole call, of which this may be a part."""
        return Whole(self.ledger.epsilon, self.ledger.delta, self.ledger.mu)

    @property
    def edges(self) -> int:
        """How many pairs that share a vertex a bound may be about: 1 unless the call is Gaussian alone, for persons."""
        return self.ledger.group.edges if self.ledger.gaussian_only else 1

    @property
    def generator(self) -> np.random.Generator:
        """For randomness that need not be secret."""
        return self.noise.generator

    def part(self, share: float) -> Call:
        """The part with this share of what this one has."""
        if self._mu is not None:
            return self.at_mu(self._mu * math.sqrt(share))
        if self._epsilon is not None:
            return self.at_epsilon(self._epsilon * share)
        return Call(self.ledger, self.noise, self.share * share)

    def equal_part(self, count: int) -> Call:
        """One of `count` equal parts."""
        if self._mu is not None:
            return self.at_mu(self._mu / math.sqrt(count))
        if self._epsilon is not None:
            return self.at_epsilon(self._epsilon / count)
        return Call(self.ledger, self.noise, self.share / count)

    def split(self, *shares: float) -> tuple[Call, ...]:
        """Parts with these shares, which add up to 1 at most."""
        if math.fsum(shares) > 1 + ROUNDING:
            raise DPGraphError("internal error: a call is split into more than it has")
        return tuple(self.part(share) for share in shares)

    def at_mu(self, mu: float) -> Call:
        """The part of a Gaussian call with this GDP parameter."""
        return Call(self.ledger, self.noise, mu=mu)

    def at_epsilon(self, epsilon: float) -> Call:
        """The part of a pure call with this epsilon."""
        return Call(self.ledger, self.noise, epsilon=epsilon)

    def without(self, *parts: Call) -> Call:
        """What these parts leave of a Gaussian one."""
        left = self.mu**2
        for part in parts:
            left -= part.mu**2
        return self.at_mu(math.sqrt(left))

    def rest(self) -> Call:
        """What the lines so far have left of a pure call."""
        return self.at_epsilon(self.ledger.epsilon - math.fsum(entry.epsilon for entry in self.ledger.entries))

    def stage(self, *, slack: float = 0.0) -> Call:
        """Make a pure stage of this part (:meth:`~dpgraph.privacy.ledger.Ledger.stage`)."""
        return Call(self.ledger.stage(self.epsilon, slack=slack), self.noise)

    def lend(self, name: str) -> PrivacyAccountant:
        """An accountant for a call of this name that this pure one is made of: a stage of it, debited already."""
        return _Lender(self.ledger, name)

    def on_public_data(self, epsilon: float) -> Call:
        """A pure call for data that is public: nothing is debited for it, and no report has its lines."""
        return Call(Ledger(epsilon, 0.0, 0.0, self.ledger.relation, None), self.noise)

    def decide(self, *, pure: bool) -> Call:
        """The rest of the budget after one released bit (:meth:`~dpgraph.privacy.ledger.Ledger.decide`)."""
        return Call(self.ledger.decide(pure), self.noise)

    def report(self) -> PrivacyReport:
        """The ledger of the whole call as it stands."""
        return self.ledger.report()

    def halted(self, why: str, stage: str) -> MechanismHalted:
        """The error of a failed test; `why` says what was needed, and which public knob to turn."""
        return MechanismHalted(f"{why}. The budget of this call is spent", stage=stage, privacy=self.report())

    # --- the releases -----------------------------------------------------------------------------------------------

    def release(self, measurement: Measurement) -> Released:
        """Add noise to a measurement for this part of the budget, enter the line, and return what may be published.

        Pure parts use discrete Laplace noise of scale l1/epsilon, others Gaussian noise of standard deviation l2/mu;
        both on a public grid (:mod:`dpgraph.privacy.grid`).
        """
        return self._laplace(measurement) if self.pure else self._gaussian(measurement)

    def _laplace(self, measurement: Measurement) -> Released:
        """Laplace noise on multiples of the unit.

        Several real numbers are rounded up or down at random to a grid of 2**-28 noise scales, which costs nothing
        (:mod:`dpgraph.privacy.grid`). A single real number is rounded to a grid of 2**-20 noise scales. Rounding adds
        one step to the bound, and one more is an allowance: on either of two neighbours floating-point arithmetic may
        miss the number by half a step. That is so unless the sum that it is made of has more than some 2**30 noise
        scales, and is not proven beyond: with hundreds of millions of edges and an epsilon in the thousands, the bound
        may be exceeded by about a billionth of itself.
        """
        unit, bound, value = measurement.unit, measurement.l1, measurement.value
        count = math.prod(np.shape(terms(value)[0]))
        if unit == 0.0 and count > 1:
            error = measurement.error
            bound += 2 * (bound / self.epsilon * _ALLOWANCE * count if error is None else error)
        elif unit == 0.0:
            unit = grid_step(bound / self.epsilon, bits=_SCALAR_BITS)
            bound += 2 * unit
        scale = self._lines().pure(measurement.name, mechanism="Laplace", sensitivity=bound, epsilon=self.epsilon)
        if (wanted := measurement.wanted) is None:
            return Released(self.noise.laplace_on_grid(value, unit, scale), math.sqrt(2.0) * scale)
        found, numbers = np.zeros(0), np.asarray(value)
        while (most := min(wanted(found, scale), count)) > found.size:
            found = np.append(found, self.noise.laplace_on_grid(numbers[found.size : most], unit, scale))
        return Released(found, math.sqrt(2.0) * scale)

    def _gaussian(self, measurement: Measurement) -> Released:
        value, bound, shape = measurement.value, measurement.l2, np.shape(terms(measurement.value)[0])
        if measurement.few:
            count = math.prod(shape)
            grid = self._lines().gaussian_on_grid(measurement.name, sensitivity=bound, mu=self.mu, count=count)
            return Released(self.noise.scalars(value, grid.unit, grid.scale), grid.scale)
        if measurement.unit > 0:
            scale = self.scale(measurement.name, bound, law="Gaussian")
            return Released(self.noise.gaussian_on_grid(np.asarray(value), measurement.unit, scale), scale)
        error = measurement.error
        if error is None:
            error = bound / self.mu * _ALLOWANCE * math.sqrt(math.prod(shape))
        law = "symmetric Gaussian" if measurement.symmetric else "Gaussian"
        scale = self.scale(measurement.name, bound + 2 * error, law=law)
        if measurement.symmetric:
            value, draws = symmetric_part(value), self.noise.symmetric_gaussian(shape[0], scale)
        else:
            draws = self.noise.gaussian(shape, scale)
        return Released(add_on_grid(value, draws, grid_step(scale)), scale)

    def scale(self, name: str, sensitivity: float, *, law: str, pairs: Pairs = Pairs.ANY) -> float:
        """Enter a line with noise of a law of its own, and return its scale: sensitivity/epsilon, or sensitivity/mu."""
        if self.pure:
            return self._lines().pure(name, mechanism=law, sensitivity=sensitivity, epsilon=self.epsilon, pairs=pairs)
        return self._lines().gaussian(name, sensitivity=sensitivity, mu=self.mu, mechanism=law, pairs=pairs)

    def noisy_maximum(self, name: str, bound: float, unit: float, *, pairs: Pairs = Pairs.ANY) -> NoisyMaximum:
        """Enter a report-noisy-max of scores, multiples of `unit`, that change in one direction by at most `bound`.

        Where the noise is wide, the scores are rounded to a coarser grid first. Rounding is monotone: they still change
        in one direction, by a step more, which is charged here and nowhere else.
        """
        step = grid_step(bound / self.epsilon, unit, bits=LAPLACE_BITS)
        if step > unit:
            bound += step
        return NoisyMaximum(self.noise, step, self.scale(name, bound, law="noisy maximum", pairs=pairs))

    def good_event(self, name: str, slack_share: float, *, candidates: int = 1) -> float:
        """Quantile for a good event that may fail with this share of the call's slack (see the ledger's method)."""
        return self.ledger.good_event(name, self.ledger.slack * slack_share, candidates=candidates)

    def rare_event(self, name: str, delta: float) -> None:
        """Enter an event that may fail with `delta` and has no noise of its own."""
        self.ledger.good_event(name, delta)

    def laplace_event(self, name: str, delta: float, *, scale: float) -> int:
        """Slack of an upper bound on an integer with Laplace noise, which may fail with `delta` (see the ledger's)."""
        return self._lines().laplace_event(name, delta, scale=scale)

    def _lines(self) -> Ledger:
        """Where lines of this part are entered: the ledger, or a stage of its own in a call that goes in stages."""
        if not self.ledger.staged:
            return self.ledger
        if self._stage is None:
            self._stage = self.ledger.stage(self.epsilon)
        return self._stage


class _Lender(PrivacyAccountant):
    """The budget of a call that has been debited, in parts for others (:meth:`Call.lend`)."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        super().__init__(epsilon=ledger.epsilon, delta=ledger.delta)
        self._lent, self._name = ledger, name

    def charge(self, ledger: Ledger) -> None:
        """Make a call a part of the whole; its errors say what the whole has spent."""
        self._lent.adopt(ledger, self._name)
        debited(self._lent.epsilon, self._lent.delta, lent=True)


def open_call(  # noqa: PLR0913
    *,
    epsilon: float,
    delta: float = 0.0,
    accountant: PrivacyAccountant | None,
    relation: Relation,
    noise: NoiseSource | int | np.random.Generator | None,
    slack: float = 0.0,
    staged: bool = False,
    least_mu: float = LEAST_MU,
) -> Call:
    """Validate a budget and debit all of it; to be called before any private data is read.

    ``delta = 0`` opens a pure call. ``accountant = None`` means that of the enclosing ``with`` block, if any; `noise`
    is a source, or what a public argument ``rng`` stands for. Good events may use `slack` < delta of delta. With
    `staged`, pure parts may come before a Gaussian one (:meth:`Call.decide`), and the accountant is
    charged (epsilon, delta) in place of a GDP parameter. A number out of range, also a GDP parameter below `least_mu`,
    raises InvalidParameterError, as does a seed that the accountant has seen before, and an accountant that refuses
    BudgetExceededError.
    """
    if accountant is not None and not isinstance(accountant, PrivacyAccountant):
        raise InvalidParameterError(
            f"accountant must be a dpgraph.PrivacyAccountant or None; got {type(accountant).__name__}"
        )
    epsilon, delta, noise = check_epsilon(epsilon), check_optional_delta(delta), noise_source(noise)
    if not 0 <= slack <= delta or slack == delta > 0:
        raise InvalidParameterError(f"the slack share of delta must lie in [0, delta); got {slack!r}")
    accountant = accountant if accountant is not None else ambient_accountant()
    if (group := person_cost(accountant, epsilon, delta)) is not None:
        relation = of_persons(relation, group.edges)
    ledger = Ledger(epsilon, delta, slack, relation, noise.stream, staged, group)
    if delta > 0 and ledger.mu < least_mu:
        raise InvalidParameterError(
            f"epsilon = {epsilon:g} and delta = {delta:g} are a Gaussian-DP parameter of {ledger.mu:.2g}, and this "
            f"call cannot be computed exactly below {least_mu:.2g}; raise epsilon or delta"
        )
    if isinstance(accountant, _Lender):
        accountant.charge(ledger)
        return Call(ledger, noise)
    if epsilon >= _WEAK_EPSILON or delta >= _WEAK_DELTA:
        warnings.warn(
            f"epsilon = {epsilon:g} and delta = {delta:g} protect nothing: usual are epsilon from 0.1 to 10, and delta "
            "far below 1 / number of edges. Publish this result only if its data may be public",
            stacklevel=2,
        )
    if noise.stream is not None:
        warn_of_used_stream(noise.stream)
    if accountant is not None:
        accountant.charge(ledger)
    debited(ledger.group.epsilon, ledger.group.delta)
    if noise.stream is not None:
        remember(noise.stream)
    return Call(ledger, noise)
