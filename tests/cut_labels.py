"""Private cuts by bounded iterates, without the call around them."""

from dpgraph.denoise.iterates import cut_labels
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import cut_iteration

__all__ = ["release_cut_labels"]


def release_cut_labels(graph, call, *, mean_degree, balanced=False):
    """Release a 0/1 side for each vertex."""
    iteration = cut_iteration(graph, balanced=balanced)
    X, fields = release_core_iterates(graph, iteration, call, mean_degree=mean_degree)
    return cut_labels(X, fields, balanced=balanced)
