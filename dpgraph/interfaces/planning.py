"""Planning without spending: what each mechanism would do, from public quantities alone.

No formula can drift away from the mechanisms: they themselves are run, with the budget in question, on *stand-ins*
(public random graphs). Their ledgers give the noise scales, their outcomes the share of halts and of the edges cut.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from scipy import sparse

from dpgraph import evaluate
from dpgraph.arguments import as_number, check_choice, check_epsilon, check_integer, check_optional_delta, check_scale
from dpgraph.denoise.modularity import BlockWeights, modularity, weights_between
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import is_weighted
from dpgraph.interfaces.stand_ins import block_stand_in, expected_degrees, stand_in
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.report import LedgerEntry, PrivacyReport
from dpgraph.privacy.streams import on_public_data
from dpgraph.problems.communities import private_communities
from dpgraph.problems.cut.private import CUT, private_max_bisection, private_max_cut
from dpgraph.problems.cut.strategies import CUTS, CutFacts
from dpgraph.problems.strategy import Strategy, Undecided
from dpgraph.releases.totals import WeightEstimate
from dpgraph.typing import FloatArray, IntArray

#: What is planted for communities unless the caller says otherwise: blocks, and how strong they are.
_BLOCKS, _CORRELATION = 8, 0.5
_SOLVERS: dict[str, Callable[..., Any]] = {"max-cut": private_max_cut, "max-bisection": private_max_bisection}

#: Mechanisms that make all pairs noisy: their noise grows with n, and stand-ins are smaller than the graph.
_DENSE = ("gaussian", "randomized-response")
#: What is planned for unless the caller says otherwise, beside what "auto" would take.
_USUAL = ("bounded-iterates", "coherence", "noisy-power")
_GROWS = "noise grows with n: expect less than here"


@dataclass(frozen=True, eq=False)
class MechanismPlan:
    """What one mechanism would do; numbers are NaN where it is not available.

    Parameters
    ----------
    mechanism, available : str, bool
        Its name, and whether it takes a graph of this size and this budget.
    halts, cut_fraction : float
        Share of the runs on stand-ins that halted, and mean share of the weight that their cuts cross (0.5 for a halt).
    value_std : float
        Standard deviation of the noise of ``estimated_value``, or of ``estimated_modularity``; NaN if every run halted.
    ledger, delta : tuple of LedgerEntry, float
        The releases of a run on a stand-in, and the delta that it spends, 0 where it is pure.
    note : str
        What else matters for the choice, or why it is not available.
    modularity, modularity_share : float
        For communities, in place of `cut_fraction`: mean modularity of what was found on stand-ins, and its share of
        that of the planted blocks (NaN unless this is positive).
    """

    mechanism: str
    available: bool
    halts: float = math.nan
    cut_fraction: float = math.nan
    value_std: float = math.nan
    ledger: tuple[LedgerEntry, ...] = ()
    note: str = ""
    delta: float = math.nan
    modularity: float = math.nan
    modularity_share: float = math.nan


@dataclass(frozen=True, repr=False, eq=False)
class Plan:
    """What a budget would buy. Made of public quantities only; nothing private was read or spent.

    Parameters
    ----------
    n, average_degree, epsilon, delta, max_weight, correlation, stand_in
        The public quantities it was asked for, and the number of vertices of the stand-ins.
    planted_fraction : float
        Share of the weight that the planted cut of a stand-in crosses (for communities: that is inside of blocks).
    mechanisms : tuple of MechanismPlan
        In the order asked for.
    automatic, recommended : str
        What ``mechanism="auto"`` would take; and the available mechanism with the largest cut fraction, or `automatic`,
        or else ``"bounded-iterates"``, if it is within 0.005 of that. A mechanism whose noise grows beyond that on the
        stand-ins must be `automatic` for it.
    blocks, planted_modularity : int, float
        For communities: how many are planted (0 for cuts), and the mean of their modularity.
    """

    n: int
    average_degree: float
    epsilon: float
    delta: float
    max_weight: float
    correlation: float
    stand_in: int
    planted_fraction: float
    mechanisms: tuple[MechanismPlan, ...]
    automatic: str
    recommended: str
    blocks: int = 0
    planted_modularity: float = math.nan

    def __repr__(self) -> str:
        return (
            f"Plan(n={self.n}, average_degree={self.average_degree:g}, epsilon={self.epsilon:g}, "
            f"delta={self.delta:g}, recommended={self.recommended!r})"
        )

    def __getitem__(self, mechanism: str) -> MechanismPlan:
        """The plan of one mechanism."""
        found = next((one for one in self.mechanisms if one.mechanism == mechanism), None)
        if found is None:
            raise InvalidParameterError(f"this plan has no mechanism {mechanism!r}")
        return found

    def table(self) -> str:
        """Return the plan as aligned text."""
        graphs, names = f"public random graphs of {self.stand_in} vertices with", ("cut fraction", "halts")
        told = (
            f"cuts, on {graphs} planted correlation {self.correlation:g} "
            f"(planted cut {self.planted_fraction:.3f}, random cut 0.500):"
        )
        if self.blocks:
            names = ("modularity", "share")
            told = (
                f"communities, on {graphs} {self.blocks} planted blocks of correlation {self.correlation:g} "
                f"({self.planted_fraction:.0%} of the edges inside, modularity {self.planted_modularity:.3f}):"
            )
        lines = [
            f"{self.n} vertices, average degree {self.average_degree:g}, weights up to {self.max_weight:g}, "
            f"epsilon = {self.epsilon:g}, delta = {self.delta:g}",
            told,
            f"  {'mechanism':<22}{names[0]:>13}{names[1]:>8}{'noise of value':>16}  note",
        ]
        for one in self.mechanisms:
            shown = [f"{one.cut_fraction:.3f}", f"{one.halts:.0%}", f"{one.value_std:.4g}"]
            if self.blocks:
                shown = [f"{one.modularity:.3f}", f"{one.modularity_share:.0%}", f"{one.value_std:.2g}"]
            shown = [text if one.available and "nan" not in text else "-" for text in shown]
            lines.append(f"  {one.mechanism:<22}{shown[0]:>13}{shown[1]:>8}{shown[2]:>16}  {one.note}".rstrip())
        return "\n".join([*lines, f'mechanism="auto" takes: {self.automatic}', f"recommended: {self.recommended}"])


def plan(  # noqa: PLR0913
    *,
    n: int,
    average_degree: float | None = None,
    degrees: Sequence[float] | None = None,
    epsilon: float,
    delta: float = 0.0,
    max_weight: float = 1.0,
    correlation: float | None = None,
    blocks: int | None = None,
    problem: Literal["max-cut", "max-bisection", "communities"] = "max-cut",
    mechanisms: Sequence[Any] | None = None,
    repeats: int = 3,
    seed: int = 0,
    **options: Any,
) -> Plan:
    """Say what each mechanism would do with a budget, from public quantities alone. Nothing is read or spent.

    Parameters
    ----------
    n : int
        Number of vertices, at least 2.
    average_degree, degrees : float, sequence of float
        One of them: the expected average (weighted) degree, in (0, (n - 1) max_weight], or the expected degrees of any
        number of vertices. A public guess, a private release, or those of a public graph of the same kind.
    epsilon, delta : float
        The budget to plan for: epsilon > 0, 0 <= delta < 1. With delta = 0, the default, what is pure is run.
    max_weight : float, default 1.0
        Public upper bound on a weight; stand-ins have edges of this weight.
    correlation : float, optional
        Strength of a planted cut, in [-1, 1], as in :func:`dpgraph.datasets.planted_cut`; 0 by default. Few real
        networks have one: expect it only if you know why it is there. For communities c in [0, 1], 0.5 by default: of
        K blocks, an edge is inside of one with probability c + (1 - c)/K, which is modularity c (1 - 1/K).
    blocks : int, optional
        For communities: how many there are, of equal size; 8 by default.
    problem : {"max-cut", "max-bisection", "communities"}
        What will be asked.
    mechanisms : sequence of str or options objects, optional
        As ``mechanism=`` of :func:`dpgraph.private_max_cut`; by default what "auto" would take, bounded iterates and
        the low-rank mechanisms. For communities there is one.
    repeats, seed : int
        Runs of each mechanism, seed of the stand-ins and their noise.
    **options
        Further arguments of :func:`dpgraph.private_max_cut` or :func:`dpgraph.private_communities`. ``weight=`` says,
        by any name, that edges will have weights of their own.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidParameterError
        An argument is out of range, or no mechanism takes this graph and this budget.

    Examples
    --------
    >>> expected = plan(n=20_000, average_degree=100, epsilon=4.0, delta=1e-6, mechanisms=["bounded-iterates"])
    >>> expected.recommended, 0.53 < expected["bounded-iterates"].cut_fraction < 0.6
    ('bounded-iterates', True)
    >>> expected = plan(problem="communities", n=2000, average_degree=50, epsilon=2.0, repeats=1)
    >>> 0.5 < expected.mechanisms[0].modularity_share <= 1
    True
    """
    check_epsilon(epsilon)
    delta = check_optional_delta(delta)
    check_integer("n", n, 2)
    check_integer("repeats", repeats, 1)
    check_scale("max_weight", max_weight)
    check_choice("problem", problem, (*_SOLVERS, "communities"))
    usual, least, unread = (_CORRELATION, 0, mechanisms) if problem == "communities" else (0.0, -1, blocks)
    strength = as_number(usual if correlation is None else correlation)
    if not least <= strength <= 1:
        raise InvalidParameterError(f"correlation must lie in [{least}, 1]; got {correlation!r}")
    if unread is not None:
        raise InvalidParameterError("mechanisms are for cuts (for communities there is one), blocks for communities")
    expected = expected_degrees(average_degree, degrees, n, max_weight)
    if options.get("weight") is not None:
        options["weight"] = "weight"  # stand-ins are matrices, of which this is the only attribute
    arguments = {"epsilon": epsilon, "delta": delta, "max_weight": max_weight, "rng": seed} | options
    seeds = range(seed, seed + repeats)
    if problem == "communities":
        blocks = min(_BLOCKS, n) if blocks is None else check_integer("blocks", blocks, 1, n)
        about = _communities(n, expected, strength, blocks, seeds, arguments)
    else:
        about = _cuts(n, expected, strength, mechanisms, _SOLVERS[problem], seeds, arguments)
    return Plan(
        n=n,
        average_degree=float(expected.mean()),
        epsilon=float(epsilon),
        delta=delta,
        max_weight=max_weight,
        correlation=strength,
        **about,
    )


def _cuts(
    n: int,
    degrees: FloatArray,
    correlation: float,
    mechanisms: Sequence[Any] | None,
    solver: Callable[..., Any],
    seeds: range,
    arguments: dict[str, Any],
) -> dict[str, Any]:
    """The fields of a plan that are about cuts."""
    names = _USUAL if mechanisms is None else mechanisms
    if isinstance(names, str) or not names or any(CUTS.resolve(name)[0] is None for name in names):
        raise InvalidParameterError(f"mechanisms must be a list out of {', '.join(CUTS.strategies)}; got {names!r}")
    epsilon, max_weight = arguments["epsilon"], arguments["max_weight"]
    weighted = is_weighted(arguments.get("weight"), max_weight)
    automatic = CUT.auto(CutFacts(n, max_weight, epsilon, weighted=weighted))
    if isinstance(automatic, Undecided):
        automatic = automatic.then(WeightEstimate(n * float(degrees.mean()) / 2, 0.0))
    if mechanisms is None and automatic not in names:
        names = (automatic, *names)
    graphs = [stand_in(n, degrees, max_weight=max_weight, correlation=correlation, seed=seed) for seed in seeds]
    outcomes = tuple(_simulate(name, n, graphs, solver, arguments) for name in names)
    return {
        "stand_in": graphs[0].shape[0],
        "planted_fraction": (1 - correlation) / 2,
        "mechanisms": outcomes,
        "automatic": automatic,
        "recommended": _best(outcomes, automatic),
    }


def _communities(
    n: int, degrees: FloatArray, correlation: float, blocks: int, seeds: range, arguments: dict[str, Any]
) -> dict[str, Any]:
    """The fields of a plan that are about communities."""
    shape = {"blocks": blocks, "correlation": correlation, "max_weight": arguments["max_weight"]}
    resolution, scores = arguments.get("resolution", 1.0), []
    for seed in seeds:
        graph, labels = block_stand_in(n, degrees, **shape, seed=seed)
        found = _alone(private_communities, graph, **arguments | {"rng": seed})
        scores.append([_modularity(graph, one, resolution) for one in (labels, found.labels)])
    planted, reached = np.mean(scores, axis=0).tolist()
    outcome = MechanismPlan(
        found.mechanism,
        True,
        halts=0.0,
        value_std=found.estimated_modularity_std,
        ledger=found.privacy.entries,
        delta=found.privacy.delta,
        modularity=reached,
        modularity_share=reached / planted if planted > 0 else math.nan,
    )
    return {
        "stand_in": graph.shape[0],
        "planted_fraction": correlation + (1 - correlation) / blocks,
        "mechanisms": (outcome,),
        "automatic": found.mechanism,
        "recommended": found.mechanism,
        "blocks": blocks,
        "planted_modularity": planted,
    }


def _modularity(graph: sparse.csr_array, labels: IntArray, resolution: float) -> float:
    """The exact modularity of communities of a stand-in, 0 if it has no edges."""
    weights = BlockWeights.released(weights_between(graph, labels), 0.0)
    return float(np.nan_to_num(modularity(weights, resolution)[0]))


def _alone(function: Callable[..., Any], graph: sparse.csr_array, **arguments: Any) -> Any:
    """Run a private function on a stand-in, at the expense of nobody: not of an enclosing accountant either."""
    accountant = PrivacyAccountant(epsilon=arguments["epsilon"] * 2, delta=min(arguments["delta"] * 2, 0.999))
    with on_public_data():
        return function(graph, accountant=accountant, **arguments)


def _simulate(
    asked: Any, n: int, graphs: list[sparse.csr_array], solver: Callable[..., Any], arguments: dict[str, Any]
) -> MechanismPlan:
    """Run one mechanism on every stand-in."""
    found = CUTS.resolve(asked)
    strategy, chosen = cast(Strategy, found[0]), found[1]
    # Why a real call would refuse this strategy.
    try:
        strategy.check(chosen, CUT.part(CutFacts(n, arguments["max_weight"], arguments["epsilon"])))
    except InvalidParameterError as error:
        return MechanismPlan(strategy.name, False, note=str(error))
    if arguments["delta"] == 0 and not strategy.pure:
        return MechanismPlan(strategy.name, False, note="needs delta > 0")
    fractions, halts, std = [], 0, math.nan
    privacy: PrivacyReport | None = None
    for k, graph in enumerate(graphs):
        try:
            result = _alone(solver, graph, **arguments | {"mechanism": asked, "rng": arguments["rng"] + k})
            fractions.append(evaluate.cut_fraction(graph, result))
            std, privacy = result.estimated_value_std, result.privacy
        except MechanismHalted as halted:
            halts += 1
            fractions.append(0.5)
            privacy = privacy or halted.privacy
    certainty = "will probably halt" if halts == len(graphs) else "may halt"
    note = f"{certainty}: raise epsilon, or use a mechanism without a gap test" if halts else ""
    if strategy.name in _DENSE and n > graphs[0].shape[0]:
        note = _GROWS
    share = float(np.mean(fractions))
    entries, delta = (privacy.entries, privacy.delta) if privacy else ((), math.nan)
    return MechanismPlan(strategy.name, True, halts / len(graphs), share, std, entries, note, delta)


def _best(outcomes: tuple[MechanismPlan, ...], automatic: str) -> str:
    available = [one for one in outcomes if one.available]
    if not available:
        reasons = "; ".join(f"{one.mechanism}: {one.note}" for one in outcomes)
        raise InvalidParameterError(f"none of the mechanisms would run; include 'bounded-iterates' ({reasons})")
    comparable = [one for one in available if one.note != _GROWS or one.mechanism == automatic] or available
    best = max(comparable, key=lambda one: one.cut_fraction)
    near = [one.mechanism for one in comparable if one.cut_fraction >= best.cut_fraction - 0.005]
    return next((name for name in (automatic, "bounded-iterates") if name in near), best.mechanism)
