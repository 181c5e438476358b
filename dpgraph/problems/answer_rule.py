"""Is randomised response on all pairs better than sweeps? One rule, for cuts, labels and communities."""

import math
from typing import Any

from dpgraph.problems.driver import Facts, Undecided
from dpgraph.releases.answers import answer_noise, expected_flips, too_dear
from dpgraph.tuning import ANSWER_RULE

#: Names of the strategies that are compared.
RESPONSE, SWEEPS = "randomized-response", "bounded-iterates"


def response_wins(n: int, epsilon: float, degree: float, labels: int, *, most_answers: float = math.inf) -> bool:
    """Whether randomised response with `epsilon` is the better of the two, by an average degree in edges.

    Say that a vertex compares how many of its d edges lead to each of q labels.

    - Randomised response has noise of variance s^2 = 1/(4 sinh(epsilon/2)^2) on every pair. The n/q pairs of a label
      have d/q edges among them, and noise of variance n s^2/q. Noise over edges is n s^2/d, whatever q is.
    - A sweep adds noise of one variance to each of the q counts, of which q - 1 tell labels apart: noise over edges
      grows in proportion to (q - 1)/d.

    The number of edges has a variance of about d/q of its own. Sweeps that are precise beside it find what there is
    to find; and where they are not, they begin to fail as early as q - 1 says. So the noise of randomised response may
    be larger with q, in units of that variance: n s^2/d <= (q - 1)/c, c being the only number here that is fitted
    (:class:`~dpgraph.tuning.AnswerRule`).

    Cost: never where answers are :func:`~dpgraph.releases.answers.too_dear`, and at most `most_answers`.
    """
    if n < 2 or too_dear(n, epsilon) or n * max(degree, 0.0) / 2 + expected_flips(n, epsilon) > most_answers:
        return False
    return degree * (labels - 1) >= ANSWER_RULE.edges_per_noise * (n - 1) * answer_noise(epsilon) ** 2


def average_degree(facts: Facts, total: Any) -> float:
    """In edges, by the released total weight."""
    return float(2 * total.value / facts.n / facts.max_weight)


def response_or_sweeps(facts: Facts, epsilon: float, labels: int, *, most_answers: float = math.inf) -> Any:
    """The strategy that "auto" takes, or by which released degree it is chosen; both of them are pure.

    `epsilon` is what randomised response would have. One bit tells little of a weight between 0 and `max_weight`:
    where such weights are declared, sweeps run.
    """
    if facts.weighted or too_dear(facts.n, epsilon):
        return SWEEPS

    def by_average(total: Any) -> str:
        wins = response_wins(facts.n, epsilon, average_degree(facts, total), labels, most_answers=most_answers)
        return RESPONSE if wins else SWEEPS

    return Undecided("average degree, in edges", by_average)  # the defaults of either, which are within all limits
