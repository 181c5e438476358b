"""Is randomised response on all pairs better than sweeps? One rule, for cuts, labels and communities."""

import math
from functools import partial
from typing import Any

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.strategy import Facts, Undecided
from dpgraph.releases.answers import answer_noise, expected_flips, flip_limit
from dpgraph.releases.totals import WeightEstimate
from dpgraph.tuning import ANSWER_RULE, RESIDUAL

#: Names of the strategies that are compared.
RESPONSE, SWEEPS = "randomized-response", "bounded-iterates"


def response_wins(n: int, epsilon: float, degree: float, labels: int, *, most_answers: float = math.inf) -> bool:
    """Whether randomised response with `epsilon` is the better of the two, by a degree in edges.

    Say that a vertex compares how many of its d edges lead to each of q labels.

    - Randomised response has noise of variance s^2 = 1/(4 sinh(epsilon/2)^2) on every pair. The n/q pairs of a label
      have d/q edges among them, and noise of variance n s^2/q. Noise over edges is n s^2/d, whatever q is.
    - A sweep adds noise of one variance to each of the q counts, as an edge changes one of them: noise over edges is
      in proportion to q/d.

    The number of edges has a variance of about d/q of its own. Sweeps that are precise beside it find what there is
    to find; and where they are not, they begin to fail q/2 times as early as with two labels. So the noise of
    randomised response may be larger with q, in units of that variance: n s^2/d <= q/c, c being the only number here
    that is fitted (:class:`~dpgraph.tuning.AnswerRule`; labels beyond a few count as those). With two labels all
    vertices start alike, and d is the average degree. With more, vertices of many edges start the labels, and d is the
    average over the ends of edges, sum d_i^2 / sum d_i, if that is known.

    Cost: never where false answers would take minutes or would not fit into memory, and at most `most_answers`.
    """
    flips = expected_flips(n, epsilon)
    if n < 2 or flips > flip_limit() or n * max(degree, 0.0) / 2 + flips > most_answers:
        return False
    noise = (n - 1) * answer_noise(epsilon) ** 2
    return degree * min(labels, ANSWER_RULE.most_labels) >= ANSWER_RULE.edges_per_noise * noise


def response_or_sweeps(facts: Facts, epsilon: float, labels: int, *, most_answers: float = math.inf) -> Any:
    """The strategy that "auto" takes, or by which released degrees it is chosen; all of them are pure.

    `epsilon` is what randomised response would have. One bit tells little of a weight between 0 and `max_weight`:
    where such weights are declared, sweeps run.
    """
    n, w = facts.n, facts.max_weight

    def wins(degree: float, share: float = 1.0) -> bool:
        return response_wins(n, epsilon * share, degree, labels, most_answers=most_answers)

    def by_average(total: WeightEstimate) -> Any:
        average = 2 * total.value / n / w
        if wins(average):
            return RESPONSE
        rest = 1 - ANSWER_RULE.share
        if labels == 2 or not wins(RESIDUAL.cap * average, rest):  # no larger average over ends is released
            return SWEEPS
        ask = partial(_ask_for_ends, average * w, ANSWER_RULE.share)
        return Undecided(
            "average degree at the ends of edges", lambda degree: RESPONSE if wins(degree / w, rest) else SWEEPS, ask
        )

    if facts.weighted or expected_flips(n, epsilon * (1 - ANSWER_RULE.share)) > flip_limit():
        return SWEEPS
    return Undecided("average degree, in edges", by_average)  # the defaults of either, which are within all limits


def _ask_for_ends(average: float, share: float, private: Any, call: Call, known: Any) -> tuple[float, Call, Any]:
    """Release the average degree over the ends of edges for a share of a call, given the `average` over vertices.

    *Guarantee.* Degrees are clipped at a multiple of their released average:
    :func:`~dpgraph.bounds.sensitivity.clipped_degrees`.
    """
    graph: Graph = getattr(private, "graph", private)
    asked, rest = call.split(share, 1 - share)
    cap = RESIDUAL.cap * average
    squares = float(np.sum((np.minimum(graph.degrees(), cap) / cap) ** 2))
    bound, _ = sensitivity.clipped_degrees(graph.max_weight, cap)
    length = asked.release(Measurement("squared length of degrees", np.array([squares]), l1=bound)).number
    return length * cap**2 / (graph.n_vertices * average), rest, known
