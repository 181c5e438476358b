"""What ``mechanism="auto"`` stands for where edges are private: a public rule, from one released number."""

from functools import partial

from dpgraph.problems.csp.strategy import CSPTask
from dpgraph.problems.cut.api import edges_per_flip
from dpgraph.problems.strategy import MAIN_SHARE, Undecided
from dpgraph.releases.answers import expected_flips
from dpgraph.releases.sweeps.two_stage import core_may_answer
from dpgraph.tuning import ANSWER_RULE

__all__ = ["decide", "decide_labels"]

#: Expected answers times squared labels beyond this number would not fit into memory.
_TABLE_LIMIT = 3e7


def decide(task: CSPTask, *, weighted: bool) -> str | Undecided:
    """The strategy that "auto" takes, or by which released number it is chosen.

    One bit tells little of a weight between 0 and max_weight: where such weights are declared, no pair answers.
    """
    if weighted:
        return "bounded-iterates"
    by_degree = partial(decide_labels, task.n, task.epsilon, labels=len(task.alphabet))
    return Undecided("average degree, in edges", by_degree)


def decide_labels(n: int, epsilon: float, mean_degree: float, labels: int) -> str:
    """The strategy for a released average degree, in edges.

    Randomised response hides the edges of a vertex among n/(1 + e**epsilon) false answers: all vertices answer from 3
    edges for each false answer on, and a core does from 1.25 on (0.6 from epsilon = 3 on). Elsewhere bounded iterates
    pay for one row at a time, whatever n.
    """
    ratio = edges_per_flip(n, epsilon, mean_degree)
    answers = n * max(mean_degree, 0.0) / 2 + expected_flips(n, epsilon * MAIN_SHARE)
    least = ANSWER_RULE.core_labels if epsilon >= ANSWER_RULE.labels_epsilon else ANSWER_RULE.core
    if ratio < least or answers * labels**2 > _TABLE_LIMIT:
        return "bounded-iterates"
    if ratio >= ANSWER_RULE.all_late:
        return "randomized-response"
    return "core-response" if core_may_answer(epsilon * MAIN_SHARE) else "bounded-iterates"
