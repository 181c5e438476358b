"""A public random graph that is added to a private one, so that no degree is small (DN25a, after Theorem 1.9)."""

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from dpgraph.arguments import as_number, shown
from dpgraph.datasets.planted import planted_cut_sparse
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.typing import FloatArray


class ThickenedGraph(NamedTuple):
    """The union of a private graph and a random one, in which each pair has this weight with probability `density`."""

    graph: Graph
    density: float
    weight: float

    def mean_degree(self, mean_degree: float) -> float:
        """The expected average degree, for a released one of the private graph."""
        return mean_degree * (1 - self.density) + self.density * self.weight * (self.graph.n_vertices - 1)

    def without_it(self, factor: FloatArray, core: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Factor and core for the private graph from those of the union, beside the diagonal.

        Over the random graph the union has the expectation (1 - p) A + p w (J - I), J all ones.
        """
        if self.density == 0.0:
            return factor, core
        rows = np.column_stack([factor, np.ones(len(factor))])
        return rows, linalg.block_diag(core, -self.density * self.weight) / (1 - self.density)

    def dense_without_it(self, matrix: FloatArray) -> FloatArray:
        """The same for a dense matrix."""
        return (matrix - self.density * self.weight) / (1 - self.density) if self.density else matrix


def check_random_degree(degree: float, n: int) -> None:
    """Refuse an average degree that is negative or above n/2."""
    if not 0 <= as_number(degree) <= n / 2:
        raise InvalidParameterError(
            f"random_degree must lie in [0, n/2 = {n / 2:g}]; got {shown(degree)}. 0 adds nothing"
        )


def add_random_graph(graph: Graph, degree: float, generator: np.random.Generator) -> ThickenedGraph:
    """Put the largest weight w on every pair of a random graph H, which has each with probability `degree`/n.

    *Proof.* H does not depend on the private graph. For each H that may be drawn, G -> max(G, w H) maps neighbours,
    which differ in one pair, to graphs that differ in that pair by no more, or are equal where H has it; and no weight
    exceeds w. So a release on the union is as private for G as it is for its input, whoever knows H.
    """
    n, w = graph.n_vertices, graph.max_weight
    if degree == 0.0 or n < 2:
        return ThickenedGraph(graph, 0.0, w)
    if graph.weight_unit:
        w = math.floor(w / graph.weight_unit) * graph.weight_unit
    chosen = planted_cut_sparse(n, degree, 0.0, generator)[0]
    union = sparse.csr_array(graph.adjacency.maximum(w * chosen))
    return ThickenedGraph(Graph(union, graph.nodes, graph.max_weight, graph.weight_unit), degree / n, w)
