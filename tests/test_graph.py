"""Every supported input becomes the same graph, neighbours stay neighbours, and nothing is read too early."""

import itertools
import math
import re
from fractions import Fraction
from functools import partial

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import dpgraph
from dpgraph.denoise.iterates import ITERATE_UNIT
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import WEIGHT_BITS, Graph, WeightGrid
from dpgraph.inputs.graphs import _is_symmetric, as_graph, open_graph
from dpgraph.inputs.public_nodes import edge_frame
from dpgraph.linalg import edges
from tests.about import about, each

TRIANGLE_WITH_TAIL = [(0, 1), (1, 2), (0, 2), (2, 3)]


def dense(graph):
    return graph.adjacency.toarray()


def expected(n=4, edges=TRIANGLE_WITH_TAIL, weights=None):
    matrix = np.zeros((n, n))
    for k, (i, j) in enumerate(edges):
        matrix[i, j] = matrix[j, i] = 1.0 if weights is None else weights[k]
    return matrix


MATRIX = expected()
INPUTS = {
    "networkx": nx.Graph(TRIANGLE_WITH_TAIL),
    "igraph": igraph.Graph(n=4, edges=TRIANGLE_WITH_TAIL),
    "csr_array": sparse.csr_array(MATRIX),
    "csr_matrix": sparse.csr_matrix(MATRIX),
    "csc_array": sparse.csc_array(MATRIX),
    "coo_array": sparse.coo_array(MATRIX),
    "lil_matrix": sparse.lil_matrix(MATRIX),
    "dok_array": sparse.dok_array(MATRIX),
    "numpy": MATRIX,
    "bool numpy": MATRIX.astype(bool),
    "bool sparse": sparse.csr_array(MATRIX.astype(bool)),
    "int8 numpy": MATRIX.astype(np.int8),
    "float32 sparse": sparse.csr_array(MATRIX.astype(np.float32)),
    "numpy.matrix": np.asmatrix(MATRIX),
}


@each("kind", INPUTS, parts=2)
def test_every_kind_of_input_gives_the_same_graph(kind):
    for graph in (open_graph(INPUTS[kind]).read(), as_graph(INPUTS[kind])):
        assert np.array_equal(dense(graph), MATRIX)
        assert graph.nodes == (0, 1, 2, 3)
        assert graph.n_vertices == 4
        assert isinstance(graph.adjacency, sparse.csr_array)
        assert graph.adjacency.dtype == np.float64


@each(
    "labels",
    [
        ["d", "b", "a", "c"],
        [("x", 1), ("a", 9), (), ("x", 0)],
        [3, "3", (3,), 3.5],
        [frozenset({1}), 2.5, b"bytes", True],
        [10**30, -1, 0, 7],
    ],
    parts=2,
)
def test_labels_of_any_type_keep_the_callers_order(labels):
    G = nx.Graph()
    G.add_nodes_from(labels)
    G.add_edges_from((labels[i], labels[j]) for i, j in TRIANGLE_WITH_TAIL)
    graph = open_graph(G).read()
    assert graph.nodes == tuple(labels)
    assert [graph.index[label] for label in labels] == [0, 1, 2, 3]
    assert np.array_equal(dense(graph), MATRIX)


@each(
    "make",
    [
        lambda G: type("MyGraph", (nx.Graph,), {})(G),
        lambda G: nx.freeze(nx.Graph(G)),
        lambda G: G.subgraph(list(G)),
        nx.MultiGraph,
        nx.OrderedGraph if hasattr(nx, "OrderedGraph") else nx.Graph,
    ],
    parts=2,
)
def test_relatives_of_a_networkx_graph_are_graphs(make):
    assert np.array_equal(dense(open_graph(make(INPUTS["networkx"])).read()), MATRIX)


def weighted_inputs(weights):
    G = nx.Graph()
    G.add_nodes_from(range(4))
    G.add_weighted_edges_from((i, j, w) for (i, j), w in zip(TRIANGLE_WITH_TAIL, weights, strict=True))
    H = igraph.Graph(n=4, edges=TRIANGLE_WITH_TAIL)
    H.es["weight"] = list(weights)
    matrix = expected(weights=weights)
    return {"networkx": G, "igraph": H, "numpy": matrix, "sparse": sparse.csr_array(matrix)}


@each("kind", ["networkx", "igraph", "numpy", "sparse"], parts=2)
def test_weights_are_read_capped_and_rounded_to_a_public_grid(kind):
    G = weighted_inputs([0.1, 0.25, 7.0, 1.0])[kind]
    graph = open_graph(G, weight="weight", max_weight=2.0).read()
    unit = 2.0 * 2.0**-WEIGHT_BITS
    assert graph.weight_unit == unit
    assert np.array_equal(graph.adjacency.data, np.rint(graph.adjacency.data / unit) * unit)
    assert np.allclose(dense(graph), expected(weights=[0.1, 0.25, 2.0, 1.0]), atol=unit / 2, rtol=0)
    assert np.array_equal(dense(as_graph(G, weight="weight")), expected(weights=[0.1, 0.25, 7.0, 1.0]))


@each("kind", ["networkx", "igraph"], parts=2)
def test_without_weight_every_edge_counts_one_whatever_its_attributes(kind):
    assert np.array_equal(dense(open_graph(weighted_inputs([0.1, -5.0, 7.0, 1.0])[kind]).read()), MATRIX)


def test_parallel_edges_are_summed_and_then_capped():
    edges = [(0, 1), (1, 0), (0, 1), (1, 2)]
    M = nx.MultiGraph()
    M.add_weighted_edges_from((i, j, 0.5) for i, j in edges)
    H = igraph.Graph(n=3, edges=edges)
    H.es["weight"] = [0.5] * 4
    C = sparse.coo_array(([0.5] * 6 + [0.5] * 2, ([0, 1, 0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 1, 0, 2, 1])), shape=(3, 3))
    for G in (M, H, C):
        graph = open_graph(G, weight="weight", max_weight=1.25).read()
        assert np.allclose(dense(graph), [[0, 1.25, 0], [1.25, 0, 0.5], [0, 0.5, 0]])
        assert np.allclose(dense(as_graph(G, weight="weight"))[0, 1], 1.5)
    # Unweighted parallel edges are one edge: max_weight is 1.
    assert np.array_equal(dense(open_graph(M).read()), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert np.array_equal(dense(as_graph(M)), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    ends = np.tile([[0, 1], [1, 0]], 128)
    many = sparse.coo_array((np.ones(256, dtype=np.int8), ends), shape=(2, 2))  # of a pair, more than its type holds
    assert dense(open_graph(many, max_weight=200.0).read())[0, 1] == 128


def test_self_loops_are_dropped():
    loops = [(0, 0), (0, 1), (1, 1)]
    matrix = np.array([[3.0, 1.0], [1.0, 2.0]])
    for G in (nx.Graph(loops), nx.MultiGraph(loops), igraph.Graph(n=2, edges=loops), matrix, sparse.coo_array(matrix)):
        assert np.array_equal(dense(open_graph(G).read()), [[0, 1], [1, 0]])
        assert np.array_equal(dense(as_graph(G)), [[0, 1], [1, 0]])


def test_exact_data_may_have_negative_weights_and_private_data_may_not():
    G = weighted_inputs([1.0, -1.0, 1.0, 1.0])["networkx"]
    assert dense(as_graph(G, weight="weight"))[1, 2] == -1.0
    with pytest.raises(InvalidGraphError, match="nonnegative"):
        as_graph(G, weight="weight", signed=False)
    with pytest.raises(InvalidGraphError, match="nonnegative"):
        open_graph(G, weight="weight", max_weight=1.0).read()


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([0.3, 1.0, 7.5, 1e6]))
def test_capping_merging_and_rounding_keep_neighbours_neighbours(data, cap):
    """Multigraphs whose merged, capped weights differ on one pair by at most the cap stay so after reading."""
    n = 4
    pairs = list(itertools.combinations(range(n), 2))
    weights = st.floats(0, 3 * cap, allow_nan=False)
    edges = data.draw(st.lists(st.tuples(st.sampled_from(pairs), weights), max_size=8))
    extra = data.draw(st.lists(st.tuples(st.just((0, 1)), weights), min_size=1, max_size=3))

    def read(edges):
        G = nx.MultiGraph()
        G.add_nodes_from(range(n))
        G.add_weighted_edges_from((i, j, w) for (i, j), w in edges)
        return open_graph(G, weight="weight", max_weight=cap).read()

    first, second = read(edges), read([edge for edge in edges if edge[0] != (0, 1)] + extra)
    change = dense(first) - dense(second)
    assert np.count_nonzero(np.triu(change)) <= 1
    assert abs(change[0, 1]) <= cap
    for graph in (first, second):
        assert np.all((graph.adjacency.data > 0) & (graph.adjacency.data <= cap))


BOUNDS = [0.1, 0.3, 1 / 3, 1.0, 7.0, 0.99, 1e-100, 1e100, 2.0**-300, 3e5]


def fractions(values):
    return np.array([[Fraction(float(x)) for x in row] for row in np.atleast_2d(values)], dtype=object)


def graph_and_neighbours(max_weight, n=40):
    """A graph that has been read, and all that become of it when one pair changes by max_weight."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.choice([0.0, 0.3, 1.0, 0.77], size=(n, n)), 1) * max_weight
    A += A.T
    yield open_graph(A, max_weight=max_weight).read()
    for j in range(1, 3):
        for weight in (0.0, max_weight):
            B = A.copy()
            B[0, j] = B[j, 0] = weight
            yield open_graph(B, max_weight=max_weight).read()


@each("max_weight", BOUNDS, parts=2)
def test_degrees_total_weights_and_products_are_exact_whatever_the_bound_on_a_weight(max_weight):
    X = np.round(np.random.default_rng(1).uniform(-1, 1, size=(40, 2)) / ITERATE_UNIT) * ITERATE_UNIT
    w, released = Fraction(max_weight), []
    for graph in graph_and_neighbours(max_weight):
        A = fractions(dense(graph))
        assert math.frexp(graph.weight_unit)[0] == 0.5, "a power of two"
        assert np.all([(x / Fraction(graph.weight_unit)).denominator == 1 for x in A.ravel()])
        degrees, total = fractions(graph.degrees())[0], Fraction(float(graph.degrees().sum()))
        products = fractions(graph.multiply(X)), fractions(graph.multiply_rows(np.arange(40), X))
        assert np.array_equal(degrees, A.sum(axis=0))
        assert total == A.sum()
        assert all(np.array_equal(product, A @ fractions(X)) for product in products)
        released.append((A, degrees, total))
    A, degrees, total = released[0]
    for B, others, other in released[1:]:
        assert np.abs(A - B).max() <= w
        assert np.abs(degrees - others).sum() <= 2 * w
        assert abs(total - other) <= 2 * w


@each("max_weight", BOUNDS, parts=2)
def test_the_grid_of_weights_ends_at_most_a_step_below_the_bound_on_a_weight(max_weight):
    grid = WeightGrid.of(max_weight)
    assert max_weight - grid.unit < grid.largest <= max_weight
    assert 2.0 ** (WEIGHT_BITS - 1) < max_weight / grid.unit <= 2.0**WEIGHT_BITS
    weights = np.array([0.0, 0.2, 0.5, 0.999999999, 1.0, 1.1, 1e100]) * max_weight
    rounded = grid.round(weights)
    assert np.all(np.diff(rounded) >= 0)
    assert rounded[-1] == rounded[-3] == grid.largest
    assert np.abs(rounded[:-2] - weights[:-2]).max() <= grid.unit


ARCS = [(0, 1, 0.2), (1, 0, 0.7), (1, 2, 0.4)]


def directed_inputs():
    D = nx.DiGraph()
    D.add_weighted_edges_from(ARCS)
    H = igraph.Graph(n=3, edges=[(i, j) for i, j, _ in ARCS], directed=True)
    H.es["weight"] = [w for *_, w in ARCS]
    return {"networkx": D, "multi": nx.MultiDiGraph(D), "igraph": H}


@each("kind", ["networkx", "multi", "igraph"], parts=2)
def test_a_directed_graph_is_refused_unless_the_caller_asks_to_symmetrise(kind):
    G = directed_inputs()[kind]
    with pytest.raises(InvalidGraphError, match=r"directed.*symmetrize=True"):
        open_graph(G)
    graph = open_graph(G, weight="weight", max_weight=1.0, symmetrize=True).read()
    assert np.allclose(dense(graph), [[0, 0.7, 0], [0.7, 0, 0.4], [0, 0.4, 0]], atol=1e-6)
    assert np.array_equal(dense(open_graph(G, symmetrize=True).read()), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_a_matrix_that_is_not_symmetric_is_refused_unless_the_caller_asks():
    A = np.array([[0, 0.2, 0], [0.7, 0, 0.4], [0, 0, 0]])
    for G in (A, sparse.csr_array(A), sparse.coo_array(A)):
        with pytest.raises(InvalidGraphError, match=r"symmetric.*symmetrize=True"):
            open_graph(G).read()
        assert np.allclose(dense(open_graph(G, symmetrize=True).read()), np.maximum(A, A.T), atol=1e-6)


def test_that_a_sparse_matrix_is_symmetric_is_seen_without_its_transpose():
    rng = np.random.default_rng(0)
    for number in range(1000):
        A = np.triu(rng.choice([0.0, 1.0, -1.0, 1e-300, 1e300, 0.1], size=(12, 12)), 1)
        A += A.T
        assert _is_symmetric(sparse.csr_array(A))
        i, j = rng.integers(12, size=2)
        other = rng.choice([np.nextafter(A[i, j], 9.0), 2.0 * A[i, j] + 1.0])
        A[i, j], A[j, i] = (other, other if number % 2 else A[j, i])
        assert _is_symmetric(sparse.csr_array(A)) == (np.array_equal(A, A.T) and not A.diagonal().any())


@each("kind", ["networkx", "multi", "igraph", "numpy"], parts=2)
def test_a_function_that_cannot_symmetrise_does_not_advise_to(kind):
    G = np.triu(np.ones((3, 3)), 1) if kind == "numpy" else directed_inputs()[kind]
    with pytest.raises(InvalidGraphError, match=r"undirected|symmetric") as refused:
        as_graph(G)
    assert "symmetrize" not in str(refused.value)


@each("G", [nx.Graph(), igraph.Graph(), np.zeros((0, 0)), sparse.csr_array((0, 0))], parts=2)
def test_a_graph_without_vertices_is_refused(G):
    for entrance in (open_graph, as_graph):
        with pytest.raises(InvalidGraphError, match="at least one vertex"):
            entrance(G)


def with_bad_weight(kind, bad):
    inputs = weighted_inputs([0.5, 0.25, 0.125, 1.0])
    if kind == "networkx":
        inputs[kind][1][2]["weight"] = bad
    elif kind == "igraph":
        inputs[kind].es[1]["weight"] = bad
    else:
        dense_matrix = expected(weights=[0.5, bad, 0.125, 1.0])
        return dense_matrix if kind == "numpy" else sparse.csr_array(dense_matrix)
    return inputs[kind]


def test_a_weight_that_is_missing_or_no_finite_nonnegative_number_is_refused_without_showing_it():
    numbers, others = (np.nan, np.inf, -np.inf, -1e-9, -0.25), (None, "heavy", [1.0], 1j, object(), 10**400)
    for kind in ("networkx", "igraph", "numpy", "sparse"):
        listed = kind in ("networkx", "igraph")
        for bad in (*numbers, *(others if listed else ())):
            with about(kind, bad), pytest.raises(InvalidGraphError) as caught:
                open_graph(with_bad_weight(kind, bad), weight="weight", max_weight=1.0).read()
            assert_public(str(caught.value))
        if listed:
            with pytest.raises(InvalidGraphError, match="'cost' on every edge"):
                open_graph(INPUTS[kind], weight="cost", max_weight=1.0).read()


def assert_public(message):
    """No digit (a weight, a count, a position) and no label of the private graph appears in a message."""
    public = message.replace("max_weight", "").replace("[0, ", "").replace("weight=None", "").replace("as 1", "")
    assert not re.search(r"\d|heavy|nan\b", public), message


COMPRESSED = [("indices", 0, 100), ("indices", 0, -5), ("indptr", 1, 3), ("indptr", 4, 9)]
DAMAGES = [(kind, *damage) for kind in ("csr", "csc", "bsr") for damage in COMPRESSED]


@each("kind, array, index, value", [*DAMAGES, ("coo", "row", 0, 77), ("coo", "row", 0, -1)], parts=2)
def test_a_sparse_matrix_with_damaged_indices_is_refused_after_the_debit_as_they_are_private(kind, array, index, value):
    entries = (np.ones(4), np.array([1, 0, 3, 2]), np.array([0, 1, 2, 3, 4]))
    matrix = sparse.csr_matrix(entries, shape=(4, 4)).asformat(kind)
    accountant = dpgraph.PrivacyAccountant(epsilon=2.0)
    dpgraph.private_degrees(matrix, epsilon=1.0, accountant=accountant)
    getattr(matrix, array)[index] = value
    with pytest.raises(InvalidGraphError, match=r"well-formed.*spent"):
        dpgraph.private_degrees(matrix, epsilon=1.0, accountant=accountant)
    assert accountant.spent.epsilon == 2.0


@each(
    "kind, name, value",
    [
        ("lil", "rows", np.array([[1], [0, 2], [3], [2]], dtype=object)),
        ("lil", "rows", np.array([[1], [0], [3], [400]], dtype=object)),
        ("lil", "rows", np.array([[1], [0]], dtype=object)),
        ("lil", "data", np.array([[1.0], None, [1.0], [1.0]], dtype=object)),
        ("dok", "_dict", {(0, 400): 1.0, (400, 0): 1.0}),
        ("dok", "_dict", {(0, 1): "heavy", (1, 0): "heavy"}),
        ("dia", "offsets", np.array([1])),
        ("csc", "data", np.ones(2)),
        ("csr", "indptr", np.array([0, 1, 2])),
    ],
    parts=2,
)
def test_a_sparse_matrix_with_parts_that_do_not_fit_is_refused_in_one_sentence(kind, name, value):
    for index in (np.int32, np.int64):
        entries = (np.ones(4), np.array([1, 0, 3, 2], dtype=index), np.array([0, 1, 2, 3, 4], dtype=index))
        matrix = sparse.csr_array(entries, shape=(4, 4)).asformat(kind)
        setattr(matrix, name, value)
        with pytest.raises(InvalidGraphError, match=r"well-formed.*spent"):
            dpgraph.private_degrees(matrix, epsilon=1.0)
        with pytest.raises(InvalidGraphError, match=r"well-formed.*spent"):
            dpgraph.private_cosine_similarities(matrix, sensitivity=1.0, epsilon=1.0, delta=1e-6)


@each("max_weight", [0, -1.0, np.nan, np.inf, 1e-320, 1e308, "1", None], parts=2)
def test_an_impossible_max_weight_is_refused(max_weight):
    with pytest.raises(InvalidParameterError, match="max_weight"):
        open_graph(INPUTS["networkx"], weight="weight", max_weight=max_weight)


def test_repeated_or_unhashable_igraph_names_are_refused():
    G = igraph.Graph(n=2, edges=[(0, 1)])
    for names, reason in ((["a", "a"], "distinct"), ([["a"], ["b"]], "hashable"), ([(["a"],), ("b",)], "hashable")):
        G.vs["name"] = names
        with pytest.raises(InvalidGraphError, match=reason):
            open_graph(G)


@each("kind", ["csr_array", "coo_array", "csr_matrix"], parts=2)
def test_reading_does_not_change_the_callers_matrix(kind):
    rows, columns = np.array([1, 0, 0, 1, 2, 1]), np.array([0, 1, 1, 0, 1, 2])
    G = sparse.coo_array((np.full(6, 0.4), (rows, columns)), shape=(3, 3))
    if kind != "coo_array":
        indptr, indices = np.array([0, 2, 5, 6]), np.array([1, 1, 2, 0, 0, 1])
        G = getattr(sparse, kind)((np.array([0.4, 0.4, 0.4, 0.4, 0.4, 0.4]), indices, indptr), shape=(3, 3))
    before = [np.array(part) for part in (G.data, *G.coords)] if kind == "coo_array" else None
    parts = lambda: (G.data.copy(), G.indices.copy(), G.indptr.copy())  # noqa: E731
    before = before or parts()
    open_graph(G, max_weight=1.0).read()
    after = [np.array(part) for part in (G.data, *G.coords)] if kind == "coo_array" else parts()
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))


def test_weighted_means_declared_and_naming_the_default_bound_declares_nothing():
    G, weights = nx.Graph(TRIANGLE_WITH_TAIL), {"weight": "weight"}
    nx.set_edge_attributes(G, 0.5, "weight")
    table = edge_frame(pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [0.5, 1.0]}), nodes=range(3))
    for graph in (G, nx.MultiGraph(G), igraph.Graph.from_networkx(G), table, MATRIX, sparse.csr_array(MATRIX)):
        assert not open_graph(graph).weighted
        assert not open_graph(graph, max_weight=1.0).weighted
        assert open_graph(graph, **weights, max_weight=1.0).weighted
    for graph in (nx.MultiGraph(G), table, MATRIX):  # parallel edges, or entries: more than 1, up to the bound
        assert open_graph(graph, max_weight=2.0).weighted
    with pytest.raises(InvalidParameterError, match="needs weight="):
        open_graph(G, max_weight=2.0)
    assert not open_graph(G, max_weight=0.5).weighted  # an edge counts 1, capped: pairs weigh 0 or 0.5
    assert open_graph(MATRIX, max_weight=0.5).weighted


@pytest.mark.parametrize("columns", [(), (3,)])
def test_a_product_has_the_same_bits_on_any_number_of_threads(monkeypatch, columns):
    rng = np.random.default_rng(0)
    A = sparse.random_array((1001, 1001), density=0.02, format="csr", random_state=rng)
    A.data = rng.standard_normal(A.nnz)
    X = rng.standard_normal((1001, *columns))
    monkeypatch.setattr("dpgraph.graph._MANY", 1000)
    for threads in (1, 2, 3, 7):
        monkeypatch.setattr("dpgraph.graph.thread_count", lambda count=threads: count)
        assert np.array_equal(Graph(A, tuple(range(1001))).multiply(X), A @ X)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_matrix_is_simple_if_nothing_is_wrong_with_it(compiled):
    is_simple, rng = partial(edges.is_simple_graph, compiled=compiled), np.random.default_rng(5)
    for n in (1, 2, 7, 40):
        upper = np.triu(rng.random((n, n)) < 0.4, 1)
        A = sparse.csr_array((upper | upper.T).astype(float))
        whole = A.indptr, A.indices, A.data
        assert is_simple(*whole)
        if not A.nnz:
            continue
        other = (A != 0).toarray()
        other[0, int(A.indices[0])] = False  # one of the two entries of an edge
        lacking = sparse.csr_array(other.astype(float))
        assert not any(is_simple(lacking.indptr, lacking.indices, lacking.data) for _ in range(20))
        loop = sparse.csr_array(A + sparse.csr_array(([1.0], ([n - 1], [n - 1])), shape=(n, n)))
        broken = [
            (loop.indptr, loop.indices, loop.data),
            (A.indptr, A.indices, np.where(np.arange(A.nnz) == A.nnz - 1, 2.0, A.data)),
            (A.indptr, A.indices, np.where(np.arange(A.nnz) == 0, np.nan, A.data)),
            (A.indptr, np.where(np.arange(A.nnz) == 0, n, A.indices).astype(np.int32), A.data),
            (A.indptr, np.where(np.arange(A.nnz) == 0, -1, A.indices).astype(np.int32), A.data),
            (A.indptr, A.indices[::-1].copy(), A.data) if n > 2 else (*whole[:2], A.data + 1),
            (A.indptr + np.int32(1), A.indices, A.data),
            (A.indptr, A.indices[:-1], A.data[:-1]),
            (np.where(np.arange(n + 1) == n // 2, A.nnz + 5, A.indptr).astype(np.int32), A.indices, A.data),
        ]
        assert not any(is_simple(*rows) for rows in broken)
