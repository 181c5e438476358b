"""Planning without spending: what each mechanism would do, from public quantities alone.

Nothing is estimated by formulas that could drift away from the mechanisms: the mechanisms themselves are run, with the
budget in question, on *stand-ins*: public random graphs with the expected degrees, with a planted cut if one is
expected. Their ledgers give the noise scales, their outcomes the share of halts and the quality of the cuts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph import evaluate
from dpgraph.arguments import as_number, check_choice, check_integer, check_scale
from dpgraph.datasets import planted_cut_sparse
from dpgraph.denoise.state_evolution import one_sweep, random_graph
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.inputs.graphs import is_weighted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta, check_epsilon
from dpgraph.privacy.report import LedgerEntry, PrivacyReport
from dpgraph.problems.counts.degrees import private_degrees
from dpgraph.problems.cut.api import MAIN_SHARE, decide, private_max_bisection, private_max_cut
from dpgraph.problems.cut.strategy import CUTS
from dpgraph.problems.matrices.diagnostics import private_spectrum
from dpgraph.problems.strategy import Undecided
from dpgraph.releases.all_cuts import LARGEST
from dpgraph.releases.answers import FLIP_LIMIT, expected_flips
from dpgraph.releases.sweeps.two_stage import core_may_answer
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.tuning import CORE

__all__ = ["MechanismPlan", "Plan", "plan"]

Problem = Literal["max-cut", "max-bisection"]
_SOLVERS: dict[str, Callable[..., Any]] = {"max-cut": private_max_cut, "max-bisection": private_max_bisection}

#: Mechanisms that make all pairs of many vertices noisy: their noise grows with n, and stand-ins are smaller than the
#: graph.
_DENSE = ("gaussian", "randomized-response", "core-response")
#: What is planned for unless the caller says otherwise, beside what "auto" would take.
_USUAL = ("bounded-iterates", "coherence", "noisy-power")
_GROWS = "noise grows with n: expect less than here"
#: Vertices of a stand-in, where the average degree allows it: the per-vertex noise of the others does not depend on n.
STAND_IN = 600


@dataclass(frozen=True)
class MechanismPlan:
    """What one mechanism would do.

    Parameters
    ----------
    mechanism : str
        Its name.
    available : bool
        Whether it takes a graph of this size and these weights.
    halts : float
        Share of the runs on stand-ins that halted.
    cut_fraction : float
        Mean share of the weight that the cuts of stand-ins cross, 0.5 for each halt; NaN if not available.
    value_std : float
        Standard deviation of the noise of ``estimated_value``; NaN if not available or always halted.
    ledger : tuple of LedgerEntry
        The releases of a run on a stand-in, with their noise scales.
    note : str
        What else matters for the choice.
    delta : float
        The delta that a run would spend: 0 where it is pure.
    """

    mechanism: str
    available: bool
    halts: float
    cut_fraction: float
    value_std: float
    ledger: tuple[LedgerEntry, ...]
    note: str = ""
    delta: float = math.nan


@dataclass(frozen=True, repr=False)
class Plan:
    """What a budget would buy. Made of public quantities only; nothing private was read or spent.

    Parameters
    ----------
    n, average_degree, epsilon, delta, max_weight, correlation
        The public quantities it was asked for.
    stand_in : int
        Number of vertices of the stand-ins.
    planted_fraction : float
        Share of the weight that the planted cut of a stand-in crosses.
    one_look : float
        Share of the weight that one pure look at every vertex cuts where no cut is planted, by a formula for any n
        (:func:`dpgraph.denoise.state_evolution.one_sweep`): where degrees are small for epsilon, little more is found.
    degrees_std, pure_degrees_scale : float
        Noise of :func:`dpgraph.private_degrees`: standard deviation (Gaussian) and scale (Laplace, pure).
    spectrum_std : float
        Noise of each value of :func:`dpgraph.private_spectrum`.
    mechanisms : tuple of MechanismPlan
        In the order asked for.
    automatic : str
        What ``mechanism="auto"`` would take for these public quantities: for edges that weigh 0 or 1 if
        `max_weight` is 1 and ``weight=`` was not given, else for weights up to `max_weight`.
    recommended : str
        The available mechanism with the largest cut fraction; `automatic`, or else ``"bounded-iterates"``, if it is
        within 0.005 of that. A mechanism whose noise grows beyond that on the stand-ins is recommended only if it is
        `automatic`.
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
        for one in self.mechanisms:
            if one.mechanism == mechanism:
                return one
        raise InvalidParameterError(f"this plan has no mechanism {mechanism!r}")

    def table(self) -> str:
        """Return the plan as aligned text."""
        lines = [
            f"{self.n} vertices, average degree {self.average_degree:g}, weights up to {self.max_weight:g}, "
            f"epsilon = {self.epsilon:g}, delta = {self.delta:g}",
            f"degrees: noise of standard deviation {self.degrees_std:.4g} (pure, Laplace scale: "
            f"{self.pure_degrees_scale:.4g}); spectrum of the normalized adjacency: {self.spectrum_std:.2g}",
            f"cuts, on public random graphs of {self.stand_in} vertices with planted correlation {self.correlation:g} "
            f"(planted cut {self.planted_fraction:.3f}, random cut 0.500, one look by formula {self.one_look:.3f}):",
            f"  {'mechanism':<22}{'cut fraction':>13}{'halts':>8}{'noise of value':>16}  note",
        ]
        for one in self.mechanisms:
            shown = [f"{one.cut_fraction:.3f}", f"{one.halts:.0%}", f"{one.value_std:.4g}"]
            shown = [text if one.available and text != "nan" else "-" for text in shown]
            lines.append(f"  {one.mechanism:<22}{shown[0]:>13}{shown[1]:>8}{shown[2]:>16}  {one.note}".rstrip())
        return "\n".join([*lines, f'mechanism="auto" takes: {self.automatic}', f"recommended: {self.recommended}"])


def plan(
    *,
    n: int,
    average_degree: float | None = None,
    degrees: Sequence[float] | None = None,
    epsilon: float,
    delta: float,
    max_weight: float = 1.0,
    correlation: float = 0.0,
    problem: Problem = "max-cut",
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
    average_degree : float, optional
        Expected average (weighted) degree: a public guess or a private release, in (0, (n - 1) max_weight].
    degrees : sequence of float, optional
        Expected (weighted) degrees in place of their average, of any number of vertices: a private release of them, or
        those of a public graph of the same kind. Negative ones count as 0.
    epsilon, delta : float
        The budget to plan for: epsilon > 0, 0 < delta < 1.
    max_weight : float, default 1.0
        Public upper bound on a weight; stand-ins have edges of this weight.
    correlation : float, default 0.0
        Strength of a cut that you expect to be planted, in [-1, 1], as in :func:`dpgraph.datasets.planted_cut`: -1 is
        bipartite, 0 has no structure. Few real networks have such a cut: expect it only if you know why it is there.
    problem : {"max-cut", "max-bisection"}
        What will be asked.
    mechanisms : sequence of str or options objects, optional
        As ``mechanism=`` of :func:`dpgraph.private_max_cut`; by default what "auto" would take, bounded iterates and
        the low-rank mechanisms.
    repeats : int, default 3
        Runs of each mechanism.
    seed : int, default 0
        Of the stand-ins and their noise.
    **options
        Further arguments of :func:`dpgraph.private_max_cut`. ``weight=`` says, by any name, that edges will have
        weights of their own.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidParameterError
        An argument is out of range.

    Examples
    --------
    >>> import dpgraph
    >>> from dpgraph.interfaces.planning import plan
    >>> expected = plan(n=20_000, average_degree=100, epsilon=4.0, delta=1e-6, mechanisms=["bounded-iterates"])
    >>> expected.recommended, 0.53 < expected["bounded-iterates"].cut_fraction < 0.6
    ('bounded-iterates', True)
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    names = _USUAL if mechanisms is None else mechanisms
    average_degree = _average(average_degree, degrees)
    _check(n, average_degree, max_weight, correlation, problem, names, repeats)
    if options.get("weight") is not None:
        options["weight"] = "weight"  # stand-ins are matrices, of which this is the only attribute
    weighted = is_weighted(options.get("weight"), max_weight)
    taken = decide(n, epsilon, weighted=weighted)
    automatic = taken.then(average_degree) if isinstance(taken, Undecided) else taken
    if mechanisms is None and automatic not in names:
        names = (automatic, *names)
    vertices, degree = _stand_in_size(n, average_degree / max_weight, correlation)
    expected = np.full(1, degree) if degrees is None else np.maximum(degrees, 0.0) / max_weight
    graphs = [_stand_in(vertices, expected, correlation, seed + k) * max_weight for k in range(repeats)]
    budget = {"epsilon": epsilon, "delta": delta}
    common = budget | {"max_weight": max_weight, "rng": seed}
    outcomes = tuple(
        _simulate(name, n, graphs, _SOLVERS[problem], budget | options | {"max_weight": max_weight}, seed)
        for name in names
    )
    return Plan(
        n=n,
        average_degree=average_degree,
        **budget,
        max_weight=max_weight,
        correlation=correlation,
        stand_in=vertices,
        planted_fraction=(1 - correlation) / 2,
        one_look=_one_look(n, expected, epsilon),
        degrees_std=_alone(private_degrees, graphs[0], **common).privacy.entries[0].scale,
        pure_degrees_scale=_alone(private_degrees, graphs[0], **common, mechanism="laplace").privacy.entries[0].scale,
        spectrum_std=_alone(private_spectrum, graphs[0], k=2, **common).std,
        mechanisms=outcomes,
        automatic=automatic,
        recommended=_best(outcomes, automatic),
    )


def _average(average_degree: float | None, degrees: Sequence[float] | None) -> float:
    """The average degree, which is asked for in one of two ways."""
    if (average_degree is None) == (degrees is None):
        raise InvalidParameterError("give average_degree or degrees, the one or the other")
    if average_degree is not None:
        return average_degree
    values = np.asarray(degrees, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise InvalidParameterError("degrees must be a sequence of finite numbers, not empty")
    return float(np.maximum(values, 0.0).mean())


def _stand_in(vertices: int, degrees: NDArray[np.float64], correlation: float, seed: int) -> sparse.csr_array:
    """A public random graph with these degrees, or with this one everywhere."""
    if degrees.size == 1:
        return planted_cut_sparse(vertices, float(degrees[0]), correlation, rng=seed)[0]
    return sparse.csr_array(random_graph(degrees, vertices, correlation, np.random.default_rng(seed)))


def _one_look(n: int, degrees: NDArray[np.float64], epsilon: float) -> float:
    """What one pure look at every vertex cuts, in the order of the degrees."""
    std = math.sqrt(2) / (epsilon * MAIN_SHARE * (1 - CORE.degree_share))
    places = (np.arange(min(n, 10_000)) * degrees.size) // min(n, 10_000)
    return one_sweep(np.sort(degrees)[places][::-1], std**2)


def _check(
    n: int, average_degree: float, max_weight: float, correlation: float, problem: str, names: Any, repeats: int
) -> None:
    check_integer("n", n, 2)
    check_scale("max_weight", max_weight)
    if not 0 < as_number(average_degree) <= (n - 1) * max_weight:
        raise InvalidParameterError(
            f"average_degree must lie in (0, (n - 1) max_weight = {(n - 1) * max_weight:g}]; got {average_degree!r}"
        )
    if not -1 <= as_number(correlation) <= 1:
        raise InvalidParameterError(f"correlation must lie in [-1, 1]; got {correlation!r}")
    check_choice("problem", problem, _SOLVERS)
    if isinstance(names, str) or not names or any(CUTS.resolve(name)[0] is None for name in names):
        raise InvalidParameterError(f"mechanisms must be a list out of {', '.join(CUTS.strategies)}; got {names!r}")
    check_integer("repeats", repeats, 1)


def _too_large(mechanism: str, n: int, epsilon: float) -> str:
    """Why a mechanism does not take this many vertices or this epsilon; empty if it does."""
    if mechanism == "gaussian" and n > DENSE_LIMIT:
        return f"not for more than {DENSE_LIMIT} vertices"
    if mechanism == "permute-and-flip" and n > LARGEST:
        return f"not for more than {LARGEST} vertices"
    if mechanism == "randomized-response" and expected_flips(n, epsilon * MAIN_SHARE) > FLIP_LIMIT:
        return "too many false answers"
    if mechanism == "core-response" and not core_may_answer(epsilon * MAIN_SHARE):
        return "epsilon too small for answers"
    return ""


def _stand_in_size(n: int, degree: float, correlation: float) -> tuple[int, float]:
    """Vertices and degree of a stand-in: a planted cut needs (1 + |correlation|) degree <= vertices."""
    wanted = math.ceil((1 + abs(correlation)) * degree) + 1
    vertices = min(n, max(STAND_IN, wanted))
    return vertices, min(degree, vertices / (1 + abs(correlation)))


def _alone(function: Callable[..., Any], graph: sparse.csr_array, **arguments: Any) -> Any:
    """Run a private function on a stand-in, at the expense of nobody: not of an enclosing accountant either."""
    accountant = PrivacyAccountant(epsilon=arguments["epsilon"] * 2, delta=min(arguments["delta"] * 2, 0.999))
    return function(graph, accountant=accountant, **arguments)


def _simulate(
    asked: Any,
    n: int,
    graphs: list[sparse.csr_array],
    solver: Callable[..., Any],
    arguments: dict[str, Any],
    seed: int,
) -> MechanismPlan:
    mechanism = CUTS.resolve(asked)[0].name  # type: ignore[union-attr]  # _check has refused "auto"
    if reason := _too_large(mechanism, n, arguments["epsilon"]):
        return MechanismPlan(mechanism, False, math.nan, math.nan, math.nan, (), reason)
    fractions: list[float] = []
    privacy: PrivacyReport | None = None
    halts, std = 0, math.nan
    for k, graph in enumerate(graphs):
        try:
            result = _alone(solver, graph, mechanism=asked, rng=seed + k, **arguments)
        except MechanismHalted as halted:
            halts += 1
            fractions.append(0.5)
            privacy = privacy or halted.privacy
        else:
            fractions.append(evaluate.cut_fraction(graph, result))
            std, privacy = result.estimated_value_std, result.privacy
    smaller = mechanism in _DENSE and n > graphs[0].shape[0]
    note = _GROWS if smaller else _explain(halts, len(graphs))
    share = float(np.mean(fractions))
    entries, delta = (privacy.entries, privacy.delta) if privacy else ((), math.nan)
    return MechanismPlan(mechanism, True, halts / len(graphs), share, std, entries, note, delta)


def _explain(halts: int, runs: int) -> str:
    if halts == 0:
        return ""
    certainty = "will probably halt" if halts == runs else "may halt"
    return f"{certainty}: raise epsilon, or use a mechanism without a gap test"


def _best(outcomes: tuple[MechanismPlan, ...], automatic: str) -> str:
    available = [one for one in outcomes if one.available]
    if not available:
        raise InvalidParameterError("none of the mechanisms takes a graph of this size; include 'bounded-iterates'")
    comparable = [one for one in available if one.note != _GROWS or one.mechanism == automatic] or available
    best = max(comparable, key=lambda one: one.cut_fraction)
    for preferred in (automatic, "bounded-iterates"):
        for one in comparable:
            if one.mechanism == preferred and one.cut_fraction >= best.cut_fraction - 0.005:
                return preferred
    return best.mechanism
