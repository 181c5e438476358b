"""The published form of a synthetic graph: a model that any number of graphs can be drawn from."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.denoise.block_model import draw_graph
from dpgraph.denoise.wedges import Goal, Reached, with_triangles
from dpgraph.graph import vertex_sets
from dpgraph.linalg.edges import to_igraph, to_networkx
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult
from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    from scipy import sparse


#: Relative error of the triangles of a drawn graph from which on a warning says so.
_CLOSE = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class PrivateGraphModel(TableResult):
    """Random graphs with the private communities, degrees, edges between communities, and triangles of a graph.

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
        Private number of triangles. A drawn graph says how many it has: ``model.sample().graph["triangles"]``.
    clustering, least_degree : int
        Private sum over vertices of C(m, 2) t/C(max(d, m), 2), d being the degree, t the triangles at the vertex and m
        the `least_degree`, which is public. -1 if it was not released.
    privacy : PrivacyReport
        The guarantee. Whatever is drawn is covered by it, however often.
    """

    nodes: tuple[Hashable, ...]
    labels: IntArray
    degrees: IntArray
    block_weights: FloatArray
    triangles: int
    clustering: int
    least_degree: int
    privacy: PrivacyReport

    def __repr__(self) -> str:
        return (
            f"PrivateGraphModel({len(self.nodes)} vertices, {int(self.degrees.sum()) // 2} edges, "
            f"{len(self.block_weights)} communities, {self.triangles} triangles, {self.privacy!r})"
        )

    @property
    def communities(self) -> list[set[Hashable]]:
        """The communities in the caller's labels, the largest first; `labels` says which block of weights is whose."""
        return sorted(vertex_sets(self.nodes, self.labels), key=len, reverse=True)

    def adjacency(self, rng: int | np.random.Generator | None = None) -> sparse.csr_array:
        """Draw a graph as a symmetric 0/1 matrix, rows in the order of `nodes`.

        Parameters
        ----------
        rng : int or numpy.random.Generator, optional
            Public randomness: it protects nothing, and may be seeded.
        """
        return self._drawn(rng).graph

    def sample(self, rng: int | np.random.Generator | None = None) -> nx.Graph:
        """Draw a ``networkx.Graph`` with the caller's vertex labels; `rng` as for :meth:`adjacency`.

        Its attribute ``"triangles"`` is how many triangles it has. A warning says so if that is not what was released.
        """
        drawn = self._drawn(rng)
        graph = to_networkx(drawn.graph, self.nodes)
        graph.graph["triangles"] = drawn.triangles
        return graph

    def to_igraph(self, rng: int | np.random.Generator | None = None) -> igraph.Graph:
        """Draw an ``igraph.Graph`` with the caller's labels as vertex attribute ``name``; otherwise as above."""
        drawn = self._drawn(rng)
        graph = to_igraph(drawn.graph, self.nodes)
        graph["triangles"] = drawn.triangles
        return graph

    def _drawn(self, rng: int | np.random.Generator | None) -> Reached:
        """Draw a graph, and count its triangles."""
        generator = np.random.default_rng() if rng is None else as_generator(rng)
        block_model = draw_graph(self.degrees, self.labels, self.block_weights, generator)
        goal = Goal(self.triangles, self.clustering, self.least_degree)
        drawn = with_triangles(block_model, self.labels, goal, generator)
        if abs(drawn.triangles - self.triangles) > max(_CLOSE * self.triangles, 1):
            warnings.warn(
                f"the drawn graph has {drawn.triangles:,} triangles, and {self.triangles:,} were released: no exchange "
                f"of edges that keeps the degrees and communities was found to come nearer",
                stacklevel=3,
            )
        return drawn

    def _bars(self) -> tuple[str, Any]:
        return "degrees of a drawn graph, in decreasing order", np.sort(self.degrees)[::-1]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node``, ``community`` and ``degree``."""
        return {"node": self.nodes, "community": self.labels.tolist(), "degree": self.degrees.tolist()}
