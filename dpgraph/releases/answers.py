"""Randomised response on every vertex pair, pure epsilon-DP, in time and memory of the edges that come out.

Every pair of vertices has a bit, whether it is an edge. Each bit is flipped with probability p = 1/(1 + e^epsilon), and
all of them are published, as a graph with about n p false edges at each vertex. "Answers" are these published bits, and
false answers the flipped ones.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from dpgraph.arguments import memory_limit
from dpgraph.denoise.answer_communities import Excesses
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Released
from dpgraph.privacy.exact_sampling import flip_exponent, flip_probability
from dpgraph.privacy.report import Pairs
from dpgraph.releases.sweeps.iteration import Core
from dpgraph.typing import FloatArray, IntArray

#: False answers beyond this number take minutes.
FLIP_LIMIT = 5e7
#: What solvers take for each answer, in bytes, as measured.
_BYTES_PER_ANSWER = 220
#: Randomised response below this epsilon tells nothing in floating point. (Above the least epsilon of a flip, so that a
#: share of a budget that passes here is not refused there because it was rounded.)
_LEAST_EPSILON = 1e-6
#: No answer is false with less than probability 2**-39, about 1/(1 + e**27).
LARGEST_EPSILON = 27.0
#: A share of a budget may have lost its last digits since it was checked.
_ROUNDED = 1 + 1e-9


@dataclass(frozen=True)
class FlippedGraph:
    """The output of randomised response: the private graph with every pair flipped with probability p.

    ``w (bit - p)/(1 - 2p)`` is an unbiased estimate of the weight of a pair.
    """

    # The answers, 0 or 1, below the diagonal, shape (n, n)
    lower: sparse.csr_array
    # Probability p of a false answer
    flip: float
    # Weight w of an edge
    max_weight: float

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """All of them, symmetric."""
        return self.lower + self.lower.T.tocsr()

    @property
    def gain(self) -> float:
        """Factor w/(1 - 2p) of a bit in the unbiased estimate."""
        return self.max_weight / (1 - 2 * self.flip)

    @property
    def std(self) -> float:
        """Standard deviation of the noise on the estimate of one pair."""
        return self.gain * math.sqrt(self.flip * (1 - self.flip))

    def sums(self, X: FloatArray) -> FloatArray:
        """Sums of (bit - p) x_j over the other vertices j, for each column x: times `gain`, unbiased estimates."""
        return np.asarray(self.lower @ X + self.lower.T @ X - self.flip * (X.sum(axis=0) - X))

    def excesses(self, degrees: FloatArray, total: float, resolution: float) -> Excesses:
        """Estimates less what the degrees explain, `total` being their sum over all vertices of the graph."""
        answers, w = self.gain * self.adjacency, self.max_weight
        return Excesses(answers, self.gain * self.flip, self.std, w, degrees, total, resolution)

    @cached_property
    def unbiased_counts(self) -> Released:
        """Numbers of edges of each vertex, estimated from its answers, and the standard deviation of their noise."""
        p, n = self.flip, self.adjacency.shape[0]
        answers = np.asarray(self.adjacency.sum(axis=1)).ravel()
        return Released((answers - p * (n - 1)) / (1 - 2 * p), math.sqrt((n - 1) * p * (1 - p)) / (1 - 2 * p))

    def edge_counts(self) -> FloatArray:
        """The same, shrunk towards their mean; all positive."""
        unbiased, std = self.unbiased_counts
        return shrunken_degrees(unbiased, float(unbiased.mean()), std, 1.0)

    def expected_weights(self, more: float = 1.0) -> tuple[sparse.csr_array, float]:
        """Expected weights of the pairs that answered 1, shape (n, n), and of any other pair.

        If edges choose their ends in proportion to the degrees, and where false answers are not much rarer than true
        ones, an answer says less about two vertices of few edges than about two of many: a pair of degrees a and b is
        an edge with probability about ab/(2m) beforehand, or so many times `more`. Degrees are estimated from the
        answers. Pairs that answered 0 have little weight left, and every pair gets its mean.
        """
        B, p, w, degrees = self.adjacency, self.flip, self.max_weight, self.edge_counts()
        n, total = degrees.size, float(degrees.sum())
        row = np.repeat(np.arange(n), np.diff(B.indptr))
        odds = more * degrees[row] * degrees[B.indices] / total * (1 - p) / p
        weights = sparse.csr_array((w * odds / (1 + odds), B.indices, B.indptr), shape=B.shape)
        return weights, w * p / (1 - p) * total / n**2


def answer_noise(epsilon: float) -> float:
    """Standard deviation 1/(2 sinh(epsilon/2)) of the unbiased estimate of an edge of weight 1, without overflow."""
    return math.exp(-epsilon / 2) / -math.expm1(-epsilon)


def flip_limit() -> float:
    """How many flipped bits may be expected: what is quick, and fits into memory."""
    return min(FLIP_LIMIT, memory_limit() / _BYTES_PER_ANSWER)


def expected_flips(n: int, epsilon: float) -> float:
    """Expected number n (n - 1)/2 1/(1 + e^eps) of flipped bits of n vertices; infinite where bits are fair coins.

    So no rule that compares it with a limit, or with edges, ever chooses randomised response where it would be refused.
    """
    if epsilon < _LEAST_EPSILON:
        return math.inf
    return n * (n - 1) / 2 / (1 + math.exp(min(epsilon, LARGEST_EPSILON)))


def too_dear(n: int, epsilon: float) -> bool:
    """Whether false answers would take minutes, or would not fit into memory."""
    return expected_flips(n, epsilon) > flip_limit()


def check_response(n: int, epsilon: float) -> None:
    """Refuse an epsilon at which bits are fair coins, or the flipped ones would not fit into memory."""
    if epsilon < _LEAST_EPSILON:
        raise InvalidParameterError(
            f"randomized response needs epsilon >= {_LEAST_EPSILON:g}: below, its answers are fair coins; "
            f"{epsilon:g} is left for them"
        )
    if too_dear(n, epsilon):
        raise InvalidParameterError(
            f"randomized response would give {expected_flips(n, epsilon):.2g} false answers for n = {n}, with "
            f"{epsilon:g} of epsilon for them; at most {flip_limit():.2g} fit into memory; raise epsilon or use "
            "mechanism='bounded-iterates'"
        )


def release_flipped_graph(graph: Graph, call: Call, *, core: Core | None = None) -> FlippedGraph:
    """Release one bit for each pair, flipped with probability p = 1/(1 + e^eps) up to 2**-39.

    A pair of weight u < w first becomes an edge with probability u/w, so that every estimate stays unbiased; graphs
    with weights 0 and w are not touched. With `core`, only pairs inside this released set of vertices are published;
    the vertices of the result are ``core.rows``. What :func:`check_response` refuses is refused before anything private
    is looked at.

    Notes
    -----
    *Guarantee.* The set F of flipped pairs is drawn without looking at the data, and holds every pair independently
    with probability p exactly (:func:`~dpgraph.privacy.exact_sampling.random_subset`). Published are the edges with
    the pairs of F toggled. A neighbour whose pair e differs gives the same output for F with e toggled, a set whose
    probability differs by the factor (1 - p)/p or its inverse, and p >= 1/(1 + e^eps). Random edges are a mixture over
    such graphs: the bit of a pair of any weight has probability between p and 1 - p.

    References
    ----------
    S. L. Warner, "Randomized response", JASA 1965; C. Dwork, A. Roth, 2014, section 3.2.
    """
    n = core.size if core else graph.n_vertices
    check_response(n, call.epsilon * _ROUNDED)
    pairs_read = core.pairs if core else Pairs.ANY
    call.scale("adjacency bits", 1.0, law="randomized response", pairs=pairs_read)
    exponent = flip_exponent(call.epsilon)
    lower = sparse.tril(graph.within(core.rows) if core else graph.adjacency, k=-1, format="coo")
    row, col = (index.astype(np.int64) for index in lower.coords)
    pairs = row * (row - 1) // 2 + col
    order = np.argsort(pairs)
    shares = lower.data[order] / graph.max_weight
    answers = call.noise.flipped_pairs(pairs[order], shares, n * (n - 1) // 2, exponent)
    return FlippedGraph(_lower(answers, n), flip_probability(exponent), graph.max_weight)


def _lower(pairs: IntArray, n: int) -> sparse.csr_array:
    """Lower triangle of the adjacency matrix of increasing numbers of pairs: r (r - 1)/2 + c is the pair r > c."""
    rows = np.arange(n + 1, dtype=np.int64)
    first = rows * (rows - 1) // 2
    indptr = np.searchsorted(pairs, first)
    columns = (pairs - np.repeat(first[:-1], np.diff(indptr))).astype(np.int32 if n < 2**31 else np.int64)
    return sparse.csr_array((np.ones(pairs.size), columns, indptr), shape=(n, n))
