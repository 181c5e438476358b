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
from dpgraph.datasets import planted_cut_sparse
from dpgraph.denoise.state_evolution import one_sweep, random_graph
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.graph import is_weighted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.report import LedgerEntry, PrivacyReport
from dpgraph.problems.counts.degrees import private_degrees
from dpgraph.problems.cut.api import decide, private_max_bisection, private_max_cut
from dpgraph.problems.cut.strategy import CUTS
from dpgraph.problems.matrices.diagnostics import private_spectrum
from dpgraph.problems.strategy import MAIN_SHARE, Facts, Strategy, Undecided
from dpgraph.tuning import CORE
from dpgraph.typing import FloatArray

__all__ = ["STAND_IN", "MechanismPlan", "Plan", "expected_degrees", "plan", "stand_in"]

#: Vertices of a stand-in, where the average degree allows it: most noise at a vertex does not depend on n.
STAND_IN = 600
_SOLVERS: dict[str, Callable[..., Any]] = {"max-cut": private_max_cut, "max-bisection": private_max_bisection}

#: Mechanisms that make all pairs noisy: their noise grows with n, and stand-ins are smaller than the graph.
_DENSE = ("gaussian", "randomized-response", "core-response")
#: What is planned for unless the caller says otherwise, beside what "auto" would take.
_USUAL = ("bounded-iterates", "coherence", "noisy-power")
_GROWS = "noise grows with n: expect less than here"


@dataclass(frozen=True)
class MechanismPlan:
    """What one mechanism would do; numbers are NaN where it is not available.

    Parameters
    ----------
    mechanism, available : str, bool
        Its name, and whether it takes a graph of this size and this budget.
    halts, cut_fraction : float
        Share of the runs on stand-ins that halted, and mean share of the weight that their cuts cross (0.5 for a halt).
    value_std : float
        Standard deviation of the noise of ``estimated_value``; NaN if every run halted.
    ledger, delta : tuple of LedgerEntry, float
        The releases of a run on a stand-in, and the delta that it spends, 0 where it is pure.
    note : str
        What else matters for the choice, or why it is not available.
    """

    mechanism: str
    available: bool
    halts: float = math.nan
    cut_fraction: float = math.nan
    value_std: float = math.nan
    ledger: tuple[LedgerEntry, ...] = ()
    note: str = ""
    delta: float = math.nan


@dataclass(frozen=True, repr=False)
class Plan:
    """What a budget would buy. Made of public quantities only; nothing private was read or spent.

    Parameters
    ----------
    n, average_degree, epsilon, delta, max_weight, correlation, stand_in
        The public quantities it was asked for, and the number of vertices of the stand-ins.
    planted_fraction, one_look : float
        Shares of the weight: what the planted cut of a stand-in crosses, and what one pure look at every vertex cuts
        where none is planted, by a formula (:func:`dpgraph.denoise.state_evolution.one_sweep`).
    degrees_std, pure_degrees_scale : float
        Noise of :func:`dpgraph.private_degrees`: standard deviation, and scale of pure (Laplace) noise.
    spectrum_std : float
        Noise of each value of :func:`dpgraph.private_spectrum`; NaN if delta = 0, which it cannot do with.
    mechanisms : tuple of MechanismPlan
        In the order asked for.
    automatic, recommended : str
        What ``mechanism="auto"`` would take; and the available mechanism with the largest cut fraction, or `automatic`,
        or else ``"bounded-iterates"``, if it is within 0.005 of that. A mechanism whose noise grows beyond that on the
        stand-ins must be `automatic` for it.
    """

    n: int
    average_degree: float
    epsilon: float
    delta: float
    max_weight: float
    correlation: float
    stand_in: int
    planted_fraction: float
    one_look: float
    degrees_std: float
    pure_degrees_scale: float
    spectrum_std: float
    mechanisms: tuple[MechanismPlan, ...]
    automatic: str
    recommended: str

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
        spectrum = "needs delta > 0" if self.delta == 0 else f"{self.spectrum_std:.2g}"
        lines = [
            f"{self.n} vertices, average degree {self.average_degree:g}, weights up to {self.max_weight:g}, "
            f"epsilon = {self.epsilon:g}, delta = {self.delta:g}",
            f"degrees: noise of standard deviation {self.degrees_std:.4g} (pure, Laplace scale: "
            f"{self.pure_degrees_scale:.4g}); spectrum of the normalized adjacency: {spectrum}",
            f"cuts, on public random graphs of {self.stand_in} vertices with planted correlation {self.correlation:g} "
            f"(planted cut {self.planted_fraction:.3f}, random cut 0.500, one look by formula {self.one_look:.3f}):",
            f"  {'mechanism':<22}{'cut fraction':>13}{'halts':>8}{'noise of value':>16}  note",
        ]
        for one in self.mechanisms:
            shown = [f"{one.cut_fraction:.3f}", f"{one.halts:.0%}", f"{one.value_std:.4g}"]
            shown = [text if one.available and text != "nan" else "-" for text in shown]
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
    correlation: float = 0.0,
    problem: Literal["max-cut", "max-bisection"] = "max-cut",
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
    correlation : float, default 0.0
        Strength of a planted cut, in [-1, 1], as in :func:`dpgraph.datasets.planted_cut`. Few real networks have one:
        expect it only if you know why it is there.
    problem : {"max-cut", "max-bisection"}
        What will be asked.
    mechanisms : sequence of str or options objects, optional
        As ``mechanism=`` of :func:`dpgraph.private_max_cut`; by default what "auto" would take, bounded iterates and
        the low-rank mechanisms.
    repeats, seed : int
        Runs of each mechanism, seed of the stand-ins and their noise.
    **options
        Further arguments of :func:`dpgraph.private_max_cut`. ``weight=`` says, by any name, that edges will have
        weights of their own.

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
    """
    check_epsilon(epsilon)
    delta = check_optional_delta(delta)
    check_integer("n", n, 2)
    check_integer("repeats", repeats, 1)
    check_scale("max_weight", max_weight)
    check_choice("problem", problem, _SOLVERS)
    if not -1 <= as_number(correlation) <= 1:
        raise InvalidParameterError(f"correlation must lie in [-1, 1]; got {correlation!r}")
    expected = expected_degrees(average_degree, degrees, n, max_weight)
    names = _USUAL if mechanisms is None else mechanisms
    if isinstance(names, str) or not names or any(CUTS.resolve(name)[0] is None for name in names):
        raise InvalidParameterError(f"mechanisms must be a list out of {', '.join(CUTS.strategies)}; got {names!r}")
    if options.get("weight") is not None:
        options["weight"] = "weight"  # stand-ins are matrices, of which this is the only attribute
    taken = decide(n, epsilon, weighted=is_weighted(options.get("weight"), max_weight))
    automatic = taken.then(float(expected.mean())) if isinstance(taken, Undecided) else taken
    if mechanisms is None and automatic not in names:
        names = (automatic, *names)
    shape = {"max_weight": max_weight, "correlation": correlation}
    graphs = [stand_in(n, expected, **shape, seed=seed + k) for k in range(repeats)]
    common = {"epsilon": epsilon, "delta": delta, "max_weight": max_weight, "rng": seed}
    outcomes = tuple(_simulate(name, n, graphs, _SOLVERS[problem], common | options) for name in names)
    quiet, pure = (
        _alone(private_degrees, graphs[0], **common, mechanism=law).privacy.entries[0] for law in ("auto", "laplace")
    )
    return Plan(
        n=n,
        average_degree=float(expected.mean()),
        epsilon=float(epsilon),
        delta=delta,
        **shape,
        stand_in=graphs[0].shape[0],
        planted_fraction=(1 - correlation) / 2,
        one_look=one_look(n, expected / max_weight, correlation, epsilon),
        degrees_std=quiet.scale * (math.sqrt(2) if quiet.mechanism == pure.mechanism else 1.0),
        pure_degrees_scale=pure.scale,
        spectrum_std=_alone(private_spectrum, graphs[0], k=2, **common).std if delta > 0 else math.nan,
        mechanisms=outcomes,
        automatic=automatic,
        recommended=_best(outcomes, automatic),
    )


def _alone(function: Callable[..., Any], graph: sparse.csr_array, **arguments: Any) -> Any:
    """Run a private function on a stand-in, at the expense of nobody: not of an enclosing accountant either."""
    accountant = PrivacyAccountant(epsilon=arguments["epsilon"] * 2, delta=min(arguments["delta"] * 2, 0.999))
    return function(graph, accountant=accountant, **arguments)


def _simulate(
    asked: Any, n: int, graphs: list[sparse.csr_array], solver: Callable[..., Any], arguments: dict[str, Any]
) -> MechanismPlan:
    """Run one mechanism on every stand-in."""
    found = CUTS.resolve(asked)
    strategy, chosen = cast(Strategy, found[0]), found[1]
    # Why a real call would refuse this strategy.
    try:
        strategy.check(chosen, Facts(n, arguments["max_weight"], arguments["epsilon"]))
    except InvalidParameterError as error:
        return MechanismPlan(strategy.name, False, note=str(error))
    if arguments["delta"] == 0 and not strategy.pure(chosen):
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


# --- stand-ins ---------------------------------------------------------------------------------------------------


def expected_degrees(
    average_degree: float | None, degrees: Sequence[float] | None, n: int, max_weight: float = 1.0
) -> FloatArray:
    """The expected degrees, or the one that is expected everywhere."""
    if (average_degree is None) == (degrees is None):
        raise InvalidParameterError("give average_degree or degrees, the one or the other")
    largest = (n - 1) * max_weight
    given = np.asarray([as_number(average_degree)] if degrees is None else degrees, dtype=np.float64)
    expected = given if degrees is None else np.maximum(given, 0.0)
    if expected.ndim != 1 or expected.size == 0 or not 0 < expected.mean() <= largest:
        got = average_degree if degrees is None else f"degrees of shape {given.shape}"
        raise InvalidParameterError(
            f"average_degree, or the mean of degrees, must lie in (0, (n - 1) max_weight = {largest:g}]; got {got!r}"
        )
    return expected


def stand_in(
    n: int, degrees: FloatArray, *, max_weight: float = 1.0, correlation: float = 0.0, seed: int = 0
) -> sparse.csr_array:
    """A public random graph in place of one of n vertices with these (weighted) degrees, or this one everywhere.

    It has at most :data:`STAND_IN` vertices, or as many as its degree needs.
    """
    expected = degrees / max_weight
    vertices, degree = _size(n, float(expected.mean()), correlation)
    if expected.size == 1:
        return planted_cut_sparse(vertices, degree, correlation, rng=seed)[0] * max_weight
    rng = np.random.default_rng(seed)
    return sparse.csr_array(random_graph(expected, vertices, correlation, rng)) * max_weight


def _size(n: int, degree: float, correlation: float) -> tuple[int, float]:
    """Vertices and degree of a stand-in: a planted cut needs (1 + |correlation|) degree <= vertices."""
    spread = 1 + abs(correlation)
    vertices = min(n, max(STAND_IN, math.ceil(spread * degree) + 1))
    return vertices, min(degree, vertices / spread)


def one_look(n: int, degrees: FloatArray, correlation: float, epsilon: float) -> float:
    """What one pure look at every vertex cuts, in the order of the degrees."""
    if degrees.size == 1:
        degrees = np.full(1, _size(n, float(degrees[0]), correlation)[1])
    std = math.sqrt(2) / (epsilon * MAIN_SHARE * (1 - CORE.degree_share))
    places = (np.arange(min(n, 10_000)) * degrees.size) // min(n, 10_000)
    return one_sweep(np.sort(degrees)[places][::-1], std**2)
