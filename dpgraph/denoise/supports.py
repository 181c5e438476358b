"""Supports of edges: how many neighbours their ends have in common, kept right while edges come and go. All public.

A support is a row of two numbers: how many these neighbours are, and the sum of their weights. Both places of an edge
have it. The graph of a kernel is a tuple: where rows begin, neighbours in them, the vertex of each place, the place of
the same edge in its other row, and supports.
"""

from typing import Any

from dpgraph.compiled import njit
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray, IntArray


@njit(nogil=True)
def count_supports(graph: Any, weights: FloatArray, marks: FloatArray, stop: Stop) -> None:
    """Write the supports of all edges of a graph."""
    indptr, neighbours, _, mates, support = graph
    for u in range(indptr.size - 1):
        if stop[0]:
            break
        mark(u, graph, weights, marks)
        for k in range(indptr[u], indptr[u + 1]):
            v = neighbours[k]
            if (indptr[v + 1] - indptr[v], v) < (indptr[u + 1] - indptr[u], u):  # the shorter row is read
                many, weight = marked(v, graph, marks)
                support[k, 0] = support[mates[k], 0] = many
                support[k, 1] = support[mates[k], 1] = weight
        clear(u, graph, marks)


@njit()
def mark(v: int, graph: Any, weights: FloatArray, marks: FloatArray) -> None:
    """Mark the neighbours of v by 1 and their weights."""
    for k in range(graph[0][v], graph[0][v + 1]):
        marks[graph[1][k], 0], marks[graph[1][k], 1] = 1.0, weights[graph[1][k]]


@njit()
def clear(v: int, graph: Any, marks: FloatArray) -> None:
    """Take the marks of the neighbours of v away."""
    for k in range(graph[0][v], graph[0][v + 1]):
        marks[graph[1][k], 0] = marks[graph[1][k], 1] = 0.0


@njit()
def marked(v: int, graph: Any, marks: FloatArray) -> tuple[float, float]:
    """How many neighbours of v have a mark, and what these weigh."""
    many = weight = 0.0
    for k in range(graph[0][v], graph[0][v + 1]):
        many += marks[graph[1][k], 0]
        weight += marks[graph[1][k], 1]
    return many, weight


@njit()
def counted(u: int, uv: int, sign: int, graph: Any, weights: FloatArray, places: IntArray) -> None:
    """Make supports right for the edge of u at this place, which has come, or goes if `sign` is -1.

    `places` is -1 everywhere, before and after.
    """
    indptr, neighbours, _, mates, support = graph
    v, many, weight = neighbours[uv], 0.0, 0.0
    for k in range(indptr[u], indptr[u + 1]):
        places[neighbours[k]] = k
    for k in range(indptr[v], indptr[v + 1]):
        w, j = neighbours[k], places[neighbours[k]]
        if j >= 0:
            many, weight = many + 1, weight + weights[w]
            for place, third in ((j, v), (mates[j], v), (k, u), (mates[k], u)):
                support[place, 0] += sign
                support[place, 1] += sign * weights[third]
    for k in range(indptr[u], indptr[u + 1]):
        places[neighbours[k]] = -1
    for place in (uv, mates[uv]):
        support[place, 0], support[place, 1] = many, weight
