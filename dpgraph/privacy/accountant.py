"""The privacy budget of one data set: debited before any data is read, never refunded."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from dpgraph.arguments import check_epsilon, check_integer, check_optional_delta
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.privacy import open_blocks
from dpgraph.privacy.accounting import gdp_delta, gdp_epsilon, gdp_mu
from dpgraph.privacy.ledger import ROUNDING
from dpgraph.privacy.relation import Relation, protects
from dpgraph.privacy.report import PrivacyReport
from dpgraph.privacy.streams import UsedStreams, refuse_used_stream

if TYPE_CHECKING:
    from dpgraph.privacy.ledger import Ledger


class Budget(NamedTuple):
    """A pair (epsilon, delta)."""

    epsilon: float
    delta: float


class Cost(NamedTuple):
    """What one call adds to the first three numbers of :class:`Spent`."""

    mu_squared: float
    slack: float
    pure: float


class Spent(NamedTuple):
    """What has been charged so far: sums over calls."""

    #: Of Gaussian calls: squared GDP parameters.
    mu_squared: float = 0.0
    #: Delta of good events, and of calls that are charged as (epsilon, delta).
    slack: float = 0.0
    #: Epsilon of pure calls, and of calls that are charged as (epsilon, delta).
    pure: float = 0.0
    #: Of all calls.
    relation: Relation | None = None
    #: Whether the noise of any call can be made again from its seed.
    seeded: bool = False

    def after(self, cost: Cost, relation: Relation, *, seeded: bool) -> Spent:
        """What will have been charged after a call."""
        mu_squared, slack, pure = self.mu_squared + cost.mu_squared, self.slack + cost.slack, self.pure + cost.pure
        return Spent(mu_squared, slack, pure, relation, self.seeded or seeded)


class PrivacyAccountant:
    """Total (epsilon, delta) budget for one data set, shared by any number of private calls.

    Pass it as ``accountant=`` or use it as a context manager: inside the ``with`` block every private call without
    an explicit accountant is charged to it. A call that does not fit is refused with
    :class:`~dpgraph.exceptions.BudgetExceededError` before any data is read. A call that fails after it was charged
    is not refunded.

    Parameters
    ----------
    epsilon : float
        Total epsilon > 0.
    delta : float, default 0.0
        Total delta in [0, 1). With 0 only pure-DP calls fit.
    edges_per_person : int, default 1
        Neighbours differ in at most this many vertex pairs that share a vertex: the epsilon and delta of a call are a
        promise to a person with up to so many edges, and it spends less on each edge (docs/persons.md).

    Notes
    -----
    *Guarantee.* Gaussian releases compose exactly, ``mu = sqrt(sum mu_k**2)``; good events add their delta; pure
    releases add their epsilon, and a call that is known to be (epsilon, delta)-DP only (bounded iterates with both
    kinds of noise) adds both. The sum is refused unless ``gdp_delta(mu, epsilon - sum of epsilons) + slack <= delta``.
    Later amounts may depend on earlier outputs as long as all calls are Gaussian, or none is; when both kinds are
    mixed the amounts should be fixed in advance (the order does not matter).

    All charges must be for the same neighbouring relation; :mod:`dpgraph.privacy.relation` says which calls share one
    (a cut and the degrees of a graph, or a covariance and marginals of the same records). An accountant cannot be
    copied or pickled and refuses to work in a forked child, because two copies of a budget are twice the budget. A seed
    (``rng=``) is taken once: with the same noise, the difference of two releases would be private, exactly.

    *Other processes.* A ``with`` block is charged for calls of its own process. A private call without ``accountant=``
    refuses in a process that was started inside the block, and in one that descends from a process in which a block is
    open, such as a worker of a pool. A worker on another machine, or of a cluster that was started elsewhere, cannot
    know of the block, and a plain function that runs there is charged to nobody: give each call its accountant.
    :class:`FileAccountant` serves several processes.

    References
    ----------
    DRS22, Corollary 3.3 (composition); R. Rogers, A. Roth, J. Ullman, S. Vadhan, "Privacy odometers and filters",
    NIPS 2016; A. Smith, A. Thakurta, "Fully adaptive composition for Gaussian differential privacy", 2022.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> accountant = dpgraph.PrivacyAccountant(epsilon=1.0, delta=1e-6)
    >>> G = nx.karate_club_graph()
    >>> _ = dpgraph.private_degrees(G, epsilon=0.5, delta=1e-6, mechanism="gaussian", accountant=accountant)
    >>> accountant.remaining
    Budget(epsilon=0.84..., delta=1e-06)
    >>> dpgraph.private_degrees(G, epsilon=0.9, delta=1e-6, accountant=accountant)
    Traceback (most recent call last):
    ...
    dpgraph.exceptions.BudgetExceededError: ...
    """

    def __init__(self, *, epsilon: float, delta: float = 0.0, edges_per_person: int = 1) -> None:
        self._total = Budget(check_epsilon(epsilon), check_optional_delta(delta))
        self._edges_per_person = check_integer("edges_per_person", edges_per_person, 1, 2**53)
        self._charged = Spent()
        self._ledgers: list[Ledger] = []
        self._streams = UsedStreams()
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def __repr__(self) -> str:
        spent, total = self.spent, self._total
        persons = f", {protects(k)}" if (k := self.edges_per_person) > 1 else ""
        return (
            f"{type(self).__name__}(epsilon={total.epsilon:g}, delta={total.delta:g}, spent epsilon={spent.epsilon:.4g}"
            f"{persons})"
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a PrivacyAccountant cannot be copied or pickled: two copies of a budget are twice the budget. A "
            "dpgraph.FileAccountant can be sent to other processes, which then share it"
        )

    def __sklearn_clone__(self) -> Self:
        """Clones of an estimator spend the same budget."""
        return self

    def __enter__(self) -> Self:
        open_blocks.enter(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        open_blocks.leave(self)

    @property
    def total(self) -> Budget:
        """The budget that the accountant was made with."""
        return self._total

    @property
    def edges_per_person(self) -> int:
        """In how many vertex pairs that share a vertex neighbours differ at most."""
        return self._edges_per_person

    @property
    def spent(self) -> Budget:
        """The (epsilon, delta) guarantee of everything charged so far, delta the total delta unless all was pure."""
        return self._guarantee(self._state())

    def _guarantee(self, spent: Spent) -> Budget:
        if spent.mu_squared == 0:
            return Budget(spent.pure, spent.slack)
        left = self._total.delta - spent.slack
        gaussian = gdp_epsilon(spent.mu_squared**0.5, left) if left > 0 else self._total.epsilon
        return Budget(min(spent.pure + gaussian, self._total.epsilon), self._total.delta)

    @property
    def remaining(self) -> Budget:
        """The largest (epsilon, delta) that one further purely Gaussian call could still be given."""
        return self._room(self._state())

    def _room(self, spent: Spent) -> Budget:
        epsilon, delta = self._total.epsilon - spent.pure, self._total.delta - spent.slack
        nothing = Budget(0.0, 0.0)
        if epsilon <= ROUNDING * self._total.epsilon:
            return nothing
        if self._total.delta == 0:
            return Budget(epsilon, 0.0)
        if delta <= ROUNDING * self._total.delta:
            return nothing
        room = gdp_mu(epsilon, delta) ** 2 - spent.mu_squared
        return Budget(gdp_epsilon(room**0.5, delta), delta) if room > ROUNDING * spent.mu_squared else nothing

    def charge(self, ledger: Ledger) -> None:
        """Debit one call, all of it, or refuse and change nothing: a GDP parameter, or epsilon and delta otherwise.

        A call that does not fit, or comes from a forked process, raises BudgetExceededError, and one of another
        neighbouring relation than the earlier ones InvalidParameterError.
        """
        # Before the lock: a fork may have copied it in its locked state.
        if os.getpid() != self._pid:
            raise BudgetExceededError(
                "this accountant belongs to the process that created it; a forked copy may not spend its budget. "
                "Make the private calls in the parent process, or use a dpgraph.FileAccountant, which several "
                "processes may share"
            )
        with self._lock:
            stream = ledger.stream
            cost = self._cost(self._charged, ledger, stream is not None and self._streams.have(stream))
            self._charged = self._charged.after(cost, ledger.relation, seeded=stream is not None)
            self._ledgers.append(ledger)
            if stream is not None:
                self._streams.add(stream)

    def _state(self) -> Spent:
        """What has been charged so far."""
        return self._charged

    def _cost(self, spent: Spent, ledger: Ledger, used: bool) -> Cost:
        """What a call costs; raises if it may not be charged, or if its stream of noise has been `used`."""
        relation = spent.relation
        if relation is not None and relation.key != ledger.relation.key:
            raise InvalidParameterError(
                f"this accountant protects neighbours that differ by {relation.words}; the call asks for "
                f"{ledger.relation.words}. Use one accountant for each data set and neighbouring relation"
            )
        if used:
            refuse_used_stream()
        k, epsilon, delta = ledger.group
        cost = Cost((k * ledger.mu) ** 2, ledger.slack, 0.0) if ledger.gaussian_only else Cost(0.0, delta, epsilon)
        if not self._fits(spent.after(cost, ledger.relation, seeded=False)):
            left = self._room(spent)
            if not ledger.gaussian_only:  # beside Gaussian calls it adds its epsilon to that of all of them
                left = left._replace(epsilon=min(left.epsilon, self._total.epsilon - self._guarantee(spent).epsilon))
            raise BudgetExceededError(
                f"the call asks for epsilon={epsilon:g}, delta={delta:g}, but of the total "
                f"epsilon={self._total.epsilon:g}, delta={self._total.delta:g} there is left at most "
                f"epsilon={left.epsilon:.4g}, delta={left.delta:.4g}. Nothing was released and nothing was spent; "
                "ask for less, or stop releasing from this data set"
            )
        return cost

    def _fits(self, spent: Spent) -> bool:
        mu_squared, slack = spent.mu_squared, spent.slack
        left, delta = self._total.epsilon * (1 + ROUNDING) - spent.pure, self._total.delta
        if mu_squared == 0:
            return left >= 0 and slack <= delta * (1 + ROUNDING)
        # The delta of a small Gaussian loss may underflow, but it is never 0.
        return left >= 0 and delta > 0 and gdp_delta(mu_squared**0.5, left) + slack <= delta * (1 + 1e-6)

    def report(self) -> PrivacyReport:
        """Everything released so far under this accountant, as one :class:`PrivacyReport`."""
        spent = self._state()
        guarantee = self._guarantee(spent)
        return PrivacyReport(
            epsilon=guarantee.epsilon,
            delta=guarantee.delta,
            mu=spent.mu_squared**0.5 or None,
            adjacency="nothing released yet" if spent.relation is None else spent.relation.words,
            relation="" if spent.relation is None else spent.relation.key,
            entries=tuple(entry for ledger in self._ledgers for entry in ledger.report().entries),
            seeded=spent.seeded,
            delta_slack=spent.slack,
        )
