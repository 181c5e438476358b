"""Persons with several edges: what a call must spend on one edge so that up to k edges of one vertex are protected.

Neighbours of an accountant with ``edges_per_person=k`` differ in up to k vertex pairs that share a vertex. A path of k
steps leads from one to the other, each over one pair, and every graph on it is an input. So whatever holds for one pair
holds along it (docs/proofs.md, "Composition", rule 6), at these prices:

- pure: k epsilon;
- (epsilon, delta): k epsilon, and delta (1 + e^epsilon + ... + e^((k-1) epsilon));
- mu-GDP, no event that may fail: k mu.

:func:`at_edge_level` gives a private function the budget of one edge. Whatever call it then opens is charged by
:func:`person_cost`, from what was opened alone: a function that forgot to divide its budget spends more of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from dpgraph.arguments import check_epsilon, check_optional_delta
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.open_blocks import ambient_accountant, inside_a_block

if TYPE_CHECKING:
    from dpgraph.privacy.accountant import PrivacyAccountant


class Group(NamedTuple):
    """The pairs of a person, and the guarantee of a call for all of them together."""

    edges: int
    epsilon: float
    delta: float


class _Divided(NamedTuple):
    """The budget of a private function that is running: what was asked for persons, and what one edge gets of it."""

    accountant: PrivacyAccountant
    asked: tuple[float, float]
    edge: tuple[float, float]


_DIVIDED: ContextVar[_Divided | None] = ContextVar("dpgraph_divided", default=None)


def delta_share(epsilon: float, edges: int) -> float:
    """Share of a person's delta that one of its k edges may fail with: (e^(epsilon/k) - 1)/(e^epsilon - 1).

    *Proof.* P0(S) <= e^a P1(S) + d, P1(S) <= e^a P2(S) + d, ... with a = epsilon/k give P0(S) <= e^(k a) Pk(S) +
    d (1 + e^a + ... + e^((k-1) a)), a geometric sum. Nothing less is true of all (a, d)-DP mechanisms.
    """
    return math.exp(epsilon / edges - epsilon) * math.expm1(-epsilon / edges) / math.expm1(-epsilon)


@contextmanager
def at_edge_level(who: Any, epsilon: Any, delta: Any) -> Iterator[dict[str, float]]:
    """What a private function is called with in place of its arguments: the budget that one edge of a person gets.

    Nothing is replaced without persons, without an epsilon, or inside a function whose budget has been divided.
    """
    if who is None and inside_a_block():
        who = ambient_accountant()
    edges, divided = getattr(who, "edges_per_person", 1), _DIVIDED.get()
    done = divided is not None and divided.accountant is who
    if not isinstance(edges, int) or edges == 1 or done or epsilon is None:  # a class is refused by the call
        yield {}
        return
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(0.0 if delta is None else delta)
    edge = (epsilon / edges, delta * delta_share(epsilon, edges))
    token = _DIVIDED.set(_Divided(who, (epsilon, delta), edge))
    try:
        yield {"epsilon": edge[0]} | ({"delta": edge[1]} if delta > 0 else {})
    finally:
        _DIVIDED.reset(token)


def person_cost(who: PrivacyAccountant | None, epsilon: float, delta: float) -> Group | None:
    """What a call that spends (epsilon, delta) on one edge is for the persons of this accountant; None for k = 1."""
    if who is None or who.edges_per_person == 1:
        return None
    edges, divided = who.edges_per_person, _DIVIDED.get()
    whole = epsilon * edges
    if divided is not None and divided.accountant is who and epsilon == divided.edge[0]:
        whole = divided.asked[0]  # which rounding has moved
        if 0 < delta == divided.edge[1]:
            return Group(edges, *divided.asked)
    share = delta_share(whole, edges)
    if delta >= share and delta > 0:
        raise InvalidParameterError(
            f"epsilon = {epsilon:g} and delta = {delta:g} for one edge promise nothing to a person with {edges} edges; "
            "lower either. Nothing was released and nothing was spent"
        )
    return Group(edges, whole, delta / share if delta > 0 else 0.0)
