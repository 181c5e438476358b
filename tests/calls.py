"""Calls about the edges of a graph, and private cuts by bounded iterates, without what is around them."""

from dpgraph.denoise.iterates import cut_labels
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.iteration import cut_iteration

__all__ = ["edge_call", "release_cut_labels"]


def edge_call(epsilon, rng=0, **more):
    """A call that nobody is charged for, with noise of a seed."""
    return open_call(epsilon=epsilon, accountant=None, relation=Edge(), noise=noise_source(rng), **more)


def release_cut_labels(graph, call, *, mean_degree, balanced=False):
    """Release a 0/1 side for each vertex."""
    iteration = cut_iteration(graph)
    X, fields = release_core_iterates(graph, iteration, call, mean_degree=mean_degree)
    return cut_labels(X, fields, balanced=balanced)
