"""A user's program full of mistakes. Type checkers find those that are marked, and no others. It is never run."""

import numpy as np

import dpgraph as dp
from dpgraph import datasets, strategies


def misspelt() -> None:
    """Use names that do not exist."""
    from dpgraph import private_max_cutt  # error: no such name

    dp.private_max_cutt(np.eye(3), epsilon=1.0)  # error: no such function
    dp.private_max_cut(np.eye(3), epsilonn=1.0)  # error: no such argument
    dp.strategies.Coherense()  # error: no such strategy
    dp.sos.lasserr(np.eye(3))  # error: no such function
    print(dp.exceptions.BudgetExceeded)  # error: no such exception
    datasets.planted_cutt(10)  # error: no such function
    private_max_cutt(1)


def wrong_types(names: list[str]) -> None:
    """Arguments of the wrong kind."""
    dp.private_max_cut(1, epsilon=1.0)  # error: no graph
    dp.private_max_cut("graph.txt", epsilon=1.0)  # error: no graph
    dp.private_max_cut(np.eye(3), epsilon="x")  # error: no number
    dp.private_max_cut(np.eye(3))  # error: epsilon is missing
    dp.private_max_cut(np.eye(3), 1.0)  # error: by name only
    dp.private_degrees(np.eye(3), epsilon=1.0, accountant=1.0)  # error: no accountant
    dp.private_eigenspace(1, 2, sensitivity=1.0, epsilon=1.0)  # error: no matrix
    dp.private_max_2csp(names, epsilon=1.0)  # error: no instance


def wrong_mechanisms() -> None:
    """Strategies of other problems, and options that do not exist."""
    dp.private_max_cut(np.eye(3), epsilon=1.0, mechanism="ladder")  # error: counts only
    dp.private_max_cut(np.eye(3), epsilon=1.0, mechanism="bounded_iterates")  # error: with a hyphen
    dp.private_max_k_cut(np.eye(3), 3, epsilon=1.0, mechanism=strategies.Coherence())  # error: not of k-cuts
    dp.private_communities(np.eye(3), epsilon=1.0, mechanism=strategies.Ladder())  # error: counts only
    dp.private_covariance(np.eye(3), epsilon=1.0, mechanism="laplace")  # error: queries only
    strategies.Coherence(ranks=3)  # error: no such option
    strategies.BoundedIterates(noise="gaussian")  # error: no such option


def wrong_results() -> None:
    """What results do not have."""
    found = dp.private_max_cut(np.eye(3), epsilon=1.0)
    print(found.value)  # error: estimated_value
    text: str = found.estimated_value  # error: a number
    print(text)
