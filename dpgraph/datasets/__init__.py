"""Graphs to run on: files, a registry of public graphs, and random graphs with a planted cut."""

from dpgraph.datasets.planted import planted_bisection, planted_cut, planted_cut_sparse
from dpgraph.datasets.readers import read_edgelist, read_sparse

__all__ = ["planted_bisection", "planted_cut", "planted_cut_sparse", "read_edgelist", "read_sparse"]
