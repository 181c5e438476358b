"""What ``mechanism="auto"`` stands for: a public rule, from public arguments and one released number.

Several mechanisms are best somewhere, and the number of vertices, epsilon and the average degree say where. All cuts of
a few vertices can be weighed. Randomised response hides the edges of a vertex among n p false answers, p = 1/(1 +
e**epsilon): where the average degree is twice that, the exact solver sees enough of the graph. Where epsilon is large
enough for a single look to be precise, a core of large degrees answers alone until the degree is three times that.
Elsewhere bounded iterates pay for one row at a time, whatever n.
"""

from functools import partial

from dpgraph.problems.strategy import Undecided
from dpgraph.releases.all_cuts import LARGEST
from dpgraph.releases.answers import FLIP_LIMIT, expected_flips

__all__ = ["MAIN_SHARE", "decide", "decide_by_degree", "edges_per_flip"]

#: Share of epsilon that the chosen mechanism gets, whichever it is.
MAIN_SHARE = 0.975
#: Let r be the edges of a vertex for each false answer at it. Below epsilon = 6 all vertices answer if r >= 1.9. From
#: there on all answer if r >= 3, and a core does if 1.25 <= r < 3 (tuned on planted, uniform and power-law random
#: graphs, validated on SNAP and Facebook100 graphs, benchmarks/results).
_CORE_EPSILON, _ALL_ANSWER_EARLY = 6.0, 1.9
_ALL_ANSWER, _CORE_ANSWERS = 3.0, 1.25


def decide(n: int, epsilon: float, *, weighted: bool) -> str | Undecided:
    """The strategy that "auto" takes, or by which released number it is chosen. All of them are pure.

    Parameters
    ----------
    n, epsilon
        Number of vertices, budget.
    weighted : bool
        Whether edges may have weights between 0 and `max_weight`, of which a one-bit answer tells little.
    """
    if n <= LARGEST:
        return "permute-and-flip"
    if weighted or decide_by_degree(n, epsilon, n - 1) == "bounded-iterates":
        return "bounded-iterates"
    return Undecided("average degree, in edges", partial(decide_by_degree, n, epsilon))


def decide_by_degree(n: int, epsilon: float, mean_degree: float) -> str:
    """The choice for a released average degree, in edges."""
    ratio = edges_per_flip(n, epsilon, mean_degree)
    if epsilon < _CORE_EPSILON:
        return "randomized-response" if ratio >= _ALL_ANSWER_EARLY else "bounded-iterates"
    if ratio < _CORE_ANSWERS:
        return "bounded-iterates"
    return "randomized-response" if ratio >= _ALL_ANSWER else "core-response"


def edges_per_flip(n: int, epsilon: float, mean_degree: float) -> float:
    """Edges of a vertex for each false answer at it; 0 where there are no pairs, or no answers to be had."""
    flips = expected_flips(n, epsilon * MAIN_SHARE)
    return mean_degree / (2 * flips / n) if 0 < flips <= FLIP_LIMIT else 0.0
