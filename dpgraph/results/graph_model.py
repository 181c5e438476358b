"""The published form of a synthetic graph: a model that any number of graphs can be drawn from."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.denoise.block_model import Blocks, draw_graph, stronger
from dpgraph.denoise.swaps import Goals, swapped
from dpgraph.graph import vertex_sets
from dpgraph.linalg.edges import to_igraph, to_networkx
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult
from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    from scipy import sparse


#: A drawn graph with so much less than the released number of triangles is warned of.
SHORT = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class PrivateGraphModel(TableResult):
    """Random graphs with the private communities, degrees, triangles and clustering of a graph.

    Parameters
    ----------
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    labels : ndarray of int64, shape (n,)
        Community of each vertex.
    degrees : ndarray of int64, shape (n,)
        Degree of each vertex in a drawn graph, up to a few.
    block_weights : ndarray, shape (k, k)
        Private numbers of edges between every two communities, and inside each; symmetric, not negative.
    triangles : int
        Private number of triangles, less where noise explains the clustering and may explain them.
    clustering : float
        Private mean of the local clustering coefficients of all vertices; nan if noise explains what was released.
    assortativity : float
        Correlation of the square roots of the degrees of two neighbours, less where noise is large; nan without it.
    modularity : float
        What Louvain's method may reach on the private graph, estimated without further budget; nan if it was not.
    tightness : float
        With it (:func:`dpgraph.denoise.block_model.draw_graph`) drawn graphs have about as many triangles as they
        should; 0, for no groups, if swaps alone make these.
    parts, strength : int, float
        To reach `modularity`, drawn communities are split into so many parts each, and this part of all edges, in
        [0, 1), is moved inside them (:mod:`dpgraph.denoise.block_model`).
    privacy : PrivacyReport
        The guarantee. Whatever is drawn is covered by it, however often.
    errors : tuple of three floats
        Median errors of `triangles`, `clustering` and `assortativity`.
    """

    nodes: tuple[Hashable, ...]
    labels: IntArray
    degrees: IntArray
    block_weights: FloatArray
    triangles: int
    clustering: float
    assortativity: float
    modularity: float
    tightness: float
    parts: int
    strength: float
    privacy: PrivacyReport
    errors: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __repr__(self) -> str:
        return (
            f"PrivateGraphModel({len(self.nodes)} vertices, {int(self.degrees.sum()) // 2} edges, "
            f"{len(self.block_weights)} communities, {self.triangles} triangles, {self.privacy!r})"
        )

    @property
    def communities(self) -> list[set[Hashable]]:
        """The communities in the caller's labels, the largest first; `labels` says which block of weights is whose."""
        return sorted(vertex_sets(self.nodes, self.labels), key=len, reverse=True)

    @property
    def blocks(self) -> Blocks:
        """Degrees, labels and edges between communities."""
        return Blocks(self.degrees, self.labels, self.block_weights)

    def adjacency(self, rng: int | np.random.Generator | None = None) -> sparse.csr_array:
        """Draw a graph as a symmetric 0/1 matrix, rows in the order of `nodes`.

        Parameters
        ----------
        rng : int or numpy.random.Generator, optional
            Public randomness: it protects nothing, and may be seeded.
        """
        generator = np.random.default_rng() if rng is None else as_generator(rng)
        drawn = stronger(self.blocks, self.parts, self.strength, generator)
        goals = Goals(self.triangles, self.clustering, self.assortativity, self.errors)
        return swapped(draw_graph(*drawn, self.tightness, generator), drawn.labels, goals, generator)

    def sample(self, rng: int | np.random.Generator | None = None) -> nx.Graph:
        """Draw a ``networkx.Graph`` with the caller's vertex labels; `rng` as for :meth:`adjacency`.

        ``graph.graph["triangles"]`` is the number of triangles that were drawn. It may be below `triangles`, as those
        of a large clique are; then there is a warning.
        """
        drawn = self.adjacency(rng)
        graph = to_networkx(drawn, self.nodes)
        graph.graph["triangles"] = self._reached(drawn)
        return graph

    def to_igraph(self, rng: int | np.random.Generator | None = None) -> igraph.Graph:
        """Draw an ``igraph.Graph`` with the caller's labels as vertex attribute ``name``; else as :meth:`sample`."""
        drawn = self.adjacency(rng)
        graph = to_igraph(drawn, self.nodes)
        graph["triangles"] = self._reached(drawn)
        return graph

    def _reached(self, drawn: sparse.csr_array) -> int:
        """How many triangles a drawn graph has."""
        reached = Subgraphs(drawn.indptr, drawn.indices).count("triangle")
        if reached < (1 - SHORT) * self.triangles:
            warnings.warn(
                f"the drawn graph has {reached} triangles, of {self.triangles} that were released: no groups of these "
                "degrees and communities hold more. What concerns triangles should be read from the model",
                stacklevel=3,
            )
        return reached

    def _bars(self) -> tuple[str, Any]:
        return "degrees of a drawn graph, in decreasing order", np.sort(self.degrees)[::-1]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node``, ``community`` and ``degree``."""
        return {"node": self.nodes, "community": self.labels.tolist(), "degree": self.degrees.tolist()}
