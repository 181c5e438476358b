"""Public arguments as tests name them, flat: options of a strategy become an options object of ``mechanism=``."""

import inspect
from collections.abc import Callable
from typing import Any

from dpgraph.problems.communities import COMMUNITY_STRATEGIES
from dpgraph.problems.counts.subgraphs import COUNTS
from dpgraph.problems.driver import Registry
from dpgraph.problems.embedding.strategies import EMBEDDINGS
from dpgraph.problems.labels import CUTS, EDGES, TABLES
from dpgraph.problems.matrices.subspace_strategies import MATRICES

#: The strategies of a function, by the arguments of a call.
REGISTRIES: dict[str, Callable[[dict[str, Any]], Registry]] = {
    "private_max_2csp": lambda arguments: EDGES if arguments.get("adjacency") == "edge" else TABLES,
    "private_max_k_cut": lambda arguments: EDGES,
    "private_normalized_adjacency": lambda arguments: EMBEDDINGS,
    "private_max_cut": lambda arguments: CUTS,
    "private_max_bisection": lambda arguments: CUTS,
    "private_communities": lambda arguments: COMMUNITY_STRATEGIES,
    "private_subgraph_counts": lambda arguments: COUNTS,
    "private_transitivity": lambda arguments: COUNTS,
    "private_projector": lambda arguments: MATRICES,
    "private_eigenspace": lambda arguments: MATRICES,
    "private_low_rank": lambda arguments: MATRICES,
    "private_singular_subspace": lambda arguments: MATRICES,
}


def options_of(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Names of the options that the strategy that these arguments name reads."""
    if function not in REGISTRIES or arguments.get("mechanism", "auto") == "auto":
        return ()
    strategy = REGISTRIES[function](arguments)[arguments["mechanism"]]
    return tuple(inspect.signature(strategy.options).parameters)


def spelled(code: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The same call, with an options object where there are options of a strategy.

    Examples
    --------
    >>> import dpgraph
    >>> spelled(dpgraph.private_max_cut, {"mechanism": "coherence", "rank": 3})["mechanism"].rank
    3
    """
    parameters = inspect.signature(code).parameters
    options = {name: value for name, value in arguments.items() if name not in parameters}
    if code.__name__ not in REGISTRIES or not options:
        return arguments
    strategy = REGISTRIES[code.__name__](arguments)[arguments["mechanism"]]
    kept = {name: value for name, value in arguments.items() if name not in options}
    return kept | {"mechanism": strategy.options(**options)}
