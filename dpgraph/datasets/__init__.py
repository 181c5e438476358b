"""Graphs to run on: files, a registry of public graphs, and random graphs with a planted cut."""

from dpgraph.datasets.csp_files import read_csp
from dpgraph.datasets.planted import PlantedCSP, planted_bisection, planted_csp, planted_cut, planted_cut_sparse
from dpgraph.datasets.readers import read_edgelist, read_sparse
from dpgraph.datasets.registry import DatasetInfo, available, load, load_sparse

__all__ = [
    "DatasetInfo",
    "PlantedCSP",
    "available",
    "load",
    "load_sparse",
    "planted_bisection",
    "planted_csp",
    "planted_cut",
    "planted_cut_sparse",
    "read_csp",
    "read_edgelist",
    "read_sparse",
]
