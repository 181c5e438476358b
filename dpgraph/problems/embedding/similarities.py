"""Which vertices of a private graph have similar neighbourhoods, by way of an embedding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_epsilon, check_optional_delta, require_delta
from dpgraph.bounds import sensitivity
from dpgraph.denoise.block_model import draw_graph
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.linalg.cosines import unit_rows
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.problems.embedding.normalized_adjacency import ANSWERS, least_visible, private_normalized_adjacency
from dpgraph.problems.embedding.strategies import EMBEDDINGS, EmbeddingFacts
from dpgraph.problems.options import RandomizedResponse
from dpgraph.releases.answers import answer_noise, too_dear
from dpgraph.releases.totals import release_degree_excess, release_degrees
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.results.similarities import PrivateSimilarities
from dpgraph.tuning import COMMON
from dpgraph.typing import FloatArray, GraphLike, Rank

if TYPE_CHECKING:
    from dpgraph.strategies import EmbeddingMechanism

#: Rank of what answers say: more takes longer, and finds no less.
_ANSWERS_RANK = 32


@private_function
def private_node_similarities(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    rank: Rank = "auto",
    mechanism: EmbeddingMechanism = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSimilarities:
    r"""Release how similar the neighbourhoods of any two vertices are, with edge-level differential privacy.

    The similarity of two vertices is the cosine of their rows of the adjacency matrix A: the number of common
    neighbours over the square root of the product of the degrees. A private low-rank version of A and private degrees
    are released; all similarities are computed from these.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    delta : float, default 0.0
        0 <= delta < 1. With 0 the call is pure, and takes randomized response: that ends at 29,000 vertices at
        epsilon = 2, above which a delta is needed.
    rank : int or "auto"
        Rank of the private matrix, 1 <= rank <= n. "auto" is 32 where randomized response is taken, for which all ranks
        cost the same, and else as for :func:`~dpgraph.private_normalized_adjacency`.
    mechanism : str or options object, default "auto"
        As for :func:`~dpgraph.private_normalized_adjacency`.

    Returns
    -------
    PrivateSimilarities
        ``.nearest(node, k)``, ``.vectors``, and ``.matrix`` up to 5000 vertices.

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError, MechanismHalted
        As for :func:`~dpgraph.private_normalized_adjacency`.

    Notes
    -----
    *Guarantee.* That of :func:`~dpgraph.private_normalized_adjacency`, of which everything here is a function:
    (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`, (epsilon, 0)-DP
    with randomized response.

    *Lengths.* A row of an unweighted graph has squared length d_i, of which the private matrix holds a part. The inner
    product of two rows of that matrix is divided by the square roots of (the largest of) the private degree, half the
    average degree, and the squared length of the private row over the share that all of them have of all degrees. In a
    weighted graph max_weight d_i stands for the squared length, which it bounds: similarities are then too small rather
    than too large.

    *Shrinking.* With randomized response similarities are means of those of the private matrix and of those that the
    private degrees alone expect. A random graph of these degrees, which is public, goes through the same release. What
    is wrong there of the difference between the two, and how large it is here, give the weight of least squared error.

    References
    ----------
    M. Newman, "Networks", 2010, section 7.12 (cosine similarity of vertices); DN25a and HP14 for the release. Measured
    in docs/similarities.md.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> graph = nx.planted_partition_graph(4, 75, 0.5, 0.02, seed=1)
    >>> found = dpgraph.private_node_similarities(graph, epsilon=2.0, rng=0)
    >>> all(node < 75 for node, similarity in found.nearest(0, 10)), found.privacy.delta
    (True, 0.0)
    """
    door: dict[str, Any] = {"weight": weight, "max_weight": max_weight, "symmetrize": symmetrize}
    source = open_graph(G, **door)
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    n, automatic = source.n_vertices, isinstance(mechanism, str) and mechanism == "auto"
    left = (1 - COMMON.total) * epsilon
    if automatic and (too_dear(n, left) or (source.weighted and delta > 0)):
        what = f"a graph of {n} vertices at epsilon={epsilon:g}"
        require_delta(delta, what, "randomized response at a larger epsilon")
        mechanism, automatic = "noisy-power", False
    if EMBEDDINGS.resolve(ANSWERS if automatic else mechanism)[0] is not EMBEDDINGS[ANSWERS]:
        private = private_normalized_adjacency(
            G, epsilon=epsilon, delta=delta, rank=rank, mechanism=mechanism, accountant=accountant, rng=rng, **door
        )
        return PrivateSimilarities(private.nodes, private.privacy, vectors=_vectors(private))
    if isinstance(rank, str) and rank == "auto":
        rank = min(_ANSWERS_RANK, n)
    facts = EmbeddingFacts.of(source, left if automatic else epsilon, 0.0, rank=rank)
    EMBEDDINGS[ANSWERS].check(RandomizedResponse(), facts)
    call = open_call(epsilon=epsilon, accountant=accountant, relation=Edge(), noise=rng)
    graph, rest = source.read(), call
    if automatic:
        question, rest = call.split(COMMON.total, 1 - COMMON.total)
        visible = least_visible(facts.n, graph.max_weight, epsilon)
        excess = release_degree_excess(graph, COMMON.uneven, question.stage(), visible)
        if excess <= sensitivity.degrees_beyond(graph.max_weight, COMMON.uneven) / question.epsilon:
            degrees = np.maximum(release_degrees(graph, rest.stage()).value / graph.max_weight, 1.0)
            return PrivateSimilarities(source.nodes, call.report(), vectors=_by_degrees(degrees)[:, None])

    def answers(of: Graph, part: Call) -> tuple[FloatArray, FloatArray, FloatArray]:
        private = EMBEDDINGS[ANSWERS].run(RandomizedResponse(), of, part, facts, None)
        noise = answer_noise(rest.epsilon) * of.max_weight * math.sqrt(facts.n)
        weights = private.degrees / of.max_weight
        degrees = shrunken_degrees(weights, float(weights.mean()), noise / of.max_weight, 1.0)
        return _vectors(private, noise), _by_degrees(degrees)[:, None], degrees

    vectors, expected, degrees = answers(graph, rest.stage())
    twin = _random_graph(degrees, call.generator)
    found = answers(Graph(twin, source.nodes), call.on_public_data(rest.epsilon))[:2]
    share = _share(vectors, expected, found, twin)
    both = np.hstack([math.sqrt(share) * vectors, math.sqrt(1 - share) * expected])
    return PrivateSimilarities(source.nodes, call.report(), vectors=both)


def _random_graph(degrees: FloatArray, generator: np.random.Generator) -> sparse.csr_array:
    """A random graph with about these degrees."""
    whole, n = np.rint(degrees), degrees.size
    labels, edges = np.zeros(n, dtype=np.int64), np.array([[whole.sum() / 2]])
    return draw_graph(np.minimum(whole, n - 1).astype(np.int64), labels, edges, 0.0, generator)


def _share(
    vectors: FloatArray, expected: FloatArray, found: tuple[FloatArray, FloatArray], twin: sparse.csr_array
) -> float:
    """The weight of what answers say, S, beside what degrees expect, E, that has the least squared error.

    With the exact similarities X it is 1 - N/|S - E|^2, N = <S - E, S - X>. N is that of a public `twin`, where S and E
    were `found`, and X is known.
    """
    exact = unit_rows(twin, np.sqrt(np.diff(twin.indptr)))
    seen, by_degrees = found
    noise = _product(seen, seen) - _product(seen, by_degrees)
    noise -= _product(exact, seen) - _product(exact, by_degrees)
    distance = _product(vectors, vectors) - 2 * _product(vectors, expected) + _product(expected, expected)
    return min(max(1 - noise / distance, 0.0), 1.0) if distance > 0 else 0.0


def _product(F: Any, H: FloatArray) -> float:
    """The inner product of the matrices F F^T and H H^T without their diagonals."""
    lengths = (F.multiply(F) if sparse.issparse(F) else F * F).sum(axis=1)
    return float(((F.T @ H) ** 2).sum() - lengths @ (H * H).sum(axis=1))


def _by_degrees(degrees: FloatArray) -> FloatArray:
    """Numbers whose products are the similarities that degrees d alone expect: sqrt(d_i d_j) sum d^2/(sum d)^2."""
    length, total = float(np.linalg.norm(degrees)), float(degrees.sum())
    return np.asarray(np.minimum(np.sqrt(degrees) * (length / total), 1.0)) if total > 0 else np.zeros(len(degrees))


def _vectors(private: PrivateNormalizedAdjacency, noise: float = 0.0) -> FloatArray:
    """Vectors of length at most 1 whose inner products estimate the cosines of rows of the adjacency.

    The private adjacency is U B U', U = C^{1/2} Q, and has the eigenvalues of R B R', where U = V R, V orthonormal. On
    the eigenvector of a noisy matrix an eigenvalue t of the exact one is t c^2, c^2 = 1 - s^2/t^2 the squared cosine
    of the two eigenvectors and s the norm of a row of the `noise`. So B has t c^2, and the square of A has t^2 c^2.
    """
    unit = float(private.scale.max())  # in units of which nothing overflows
    scale, degrees, w = private.scale / unit, private.degrees / unit, private.max_weight / unit
    orthonormal, triangle = np.linalg.qr(np.sqrt(scale)[:, None] * private.basis)
    found, turned = np.linalg.eigh(triangle @ private.core @ triangle.T)
    size = np.abs(found)
    exact = (size + np.hypot(size, 2 * noise / unit)) / 2
    rows: FloatArray = orthonormal @ (turned * np.sqrt(size * exact))
    squares = np.einsum("ij,ij->i", rows, rows)
    mean = max(float(degrees.mean()), 0.0)
    whole = w * mean * len(degrees)
    held = min(float(squares.sum()) / whole, 1.0) if whole > 0 else 1.0
    least = w * np.maximum(degrees, mean / 2)
    lengths = np.sqrt(np.maximum(least, squares / held if held > 0 else squares))
    vectors: FloatArray = unit_rows(rows, lengths)
    return vectors
