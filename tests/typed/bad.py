"""A user's program full of mistakes. Type checkers find those that are marked, and no others. It is never run."""

import numpy as np

import dpgraph
from dpgraph import datasets, strategies


def misspelt() -> None:
    """Use names that do not exist."""
    from dpgraph import private_max_cutt  # error: no such name

    dpgraph.private_max_cutt(np.eye(3), epsilon=1.0)  # error: no such function
    dpgraph.private_max_cut(np.eye(3), epsilonn=1.0)  # error: no such argument
    dpgraph.strategies.Coherense()  # error: no such strategy
    dpgraph.sos.lasserr(np.eye(3))  # error: no such function
    print(dpgraph.exceptions.BudgetExceeded)  # error: no such exception
    datasets.planted_cutt(10)  # error: no such function
    private_max_cutt(1)


def wrong_types(names: list[str]) -> None:
    """Arguments of the wrong kind."""
    dpgraph.private_max_cut(1, epsilon=1.0)  # error: no graph
    dpgraph.private_max_cut("graph.txt", epsilon=1.0)  # error: no graph
    dpgraph.private_max_cut(np.eye(3), epsilon="x")  # error: no number
    dpgraph.private_max_cut(np.eye(3))  # error: epsilon is missing
    dpgraph.private_max_cut(np.eye(3), 1.0)  # error: by name only
    dpgraph.private_degrees(np.eye(3), epsilon=1.0, accountant=1.0)  # error: no accountant
    dpgraph.private_eigenspace(1, 2, sensitivity=1.0, epsilon=1.0)  # error: no matrix
    dpgraph.private_max_2csp(names, epsilon=1.0)  # error: no instance


def wrong_mechanisms() -> None:
    """Strategies of other problems, and options that do not exist."""
    dpgraph.private_max_cut(np.eye(3), epsilon=1.0, mechanism="ladder")  # error: counts only
    dpgraph.private_max_cut(np.eye(3), epsilon=1.0, mechanism="bounded_iterates")  # error: with a hyphen
    dpgraph.private_max_k_cut(np.eye(3), 3, epsilon=1.0, mechanism=strategies.Coherence())  # error: not of k-cuts
    dpgraph.private_communities(np.eye(3), epsilon=1.0, mechanism=strategies.Ladder())  # error: counts only
    dpgraph.private_covariance(np.eye(3), epsilon=1.0, mechanism="laplace")  # error: queries only
    strategies.Coherence(ranks=3)  # error: no such option
    strategies.BoundedIterates(noise="gaussian")  # error: no such noise


def wrong_results() -> None:
    """What results do not have."""
    found = dpgraph.private_max_cut(np.eye(3), epsilon=1.0)
    print(found.value)  # error: estimated_value
    text: str = found.estimated_value  # error: a number
    print(text)
