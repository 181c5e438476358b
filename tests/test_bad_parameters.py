"""Public arguments that are out of range, of every function: refused in words that name them, and nothing is spent."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse.linalg import aslinearoperator

import dpgraph
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.privacy import gaussian_scale, gdp_delta, gdp_epsilon, gdp_mu
from dpgraph.problems.records.linear_queries import hereditary_discrepancy_bounds, minimum_volume_ellipsoid
from dpgraph.projections import (
    Box,
    Elliptope,
    PSDCone,
    SpectralBall,
    averaged_projections,
    dykstra,
    project_l1_hull,
    project_nonnegative_spectral_ball,
    project_psd,
    project_spectral_ball,
    shrink_psd_trace,
)
from dpgraph.releases.all_cuts import LARGEST
from dpgraph.strategies import Coherence, Projector
from tests.about import about

NAN, INF = float("nan"), float("inf")
PAIR, BITS, MASKED = np.array([1, 2]), np.zeros((5, 3), dtype=int), np.ma.masked_array([1, 2, 77], [0, 0, 1])
PATH, CSP, RELATION = nx.path_graph(10), dpgraph.TwoCSP(4, 2), np.full((3, 3), 0.5)
EDGE = {"instance": dpgraph.TwoCSP(4, 3), "adjacency": "edge"}

#: Function, arguments that are in order, and pairs of a change and a pattern of the refusal.
PRIVATE = [
    (dpgraph.private_cosine_similarities, {"V": np.eye(3), "sensitivity": 1.0}, [
        ({"method": "fast"}, "method"), ({"sensitivity": -1.0}, "sensitivity"), ({"iterations": 0}, "iterations"),
        ({"tol": 0.0}, "tol"), ({"V": np.zeros(3)}, "matrix"), ({"V": np.array([["a"]])}, "real"),
        ({"epsilon": -1.0}, "epsilon"),
    ]),
    (dpgraph.private_covariance, {"X": np.eye(3)}, [
        ({"mechanism": "gaussian", "delta": 0.0}, "needs 0 < delta"), ({"mechanism": "laplace"}, "mechanism"),
        ({"delta": 1.0}, "delta"), ({"project": "always"}, "project"), ({"project": PAIR}, "project"),
        ({"adjacency": "swap"}, "adjacency"), ({"max_norm": 0.0}, "max_norm"), ({"max_norm": 1e200}, "max_norm"),
        ({"n_records": 0}, "records"), ({"n_records": 2.5}, "records"), ({"n_records": 10**400}, "records"),
        ({"centered": PAIR}, "centered"), ({"X": np.array([["a"]])}, "real"), ({"X": np.ones((2, 2)) * 1j}, "real"),
        ({"X": np.ma.masked_array(np.ones((2, 2)))}, "mask"), ({"X": {1.0}}, "array"), ({"X": "text"}, "array"),
        ({"X": [[1.0], [3.0]], "adjacency": "add-remove", "n_records": 2}, ""), ({"X": np.zeros(4)}, "record"),
        ({"X": np.zeros((0, 3))}, "number of records"), ({"epsilon": 0.0}, "epsilon"),
    ]),
    (dpgraph.private_linear_queries, {"A": np.ones((2, 3)), "x": [1, 2, 77]}, [
        ({"A": np.ones(3)}, "two-dimensional"), ({"A": np.full((2, 3), NAN)}, "finite"),
        ({"A": np.zeros((2, 3))}, "zero"),
        ({"A": np.zeros((0, 3))}, "at least one row"), ({"A": "queries"}, "numeric"),
        ({"A": aslinearoperator(np.eye(3))}, "numeric"), ({"A": [[1.0, 2.0], [3.0]]}, "numeric"),
        ({"A": np.full((2, 3), 1j)}, "real"), ({"A": pd.DataFrame(np.full((2, 3), 1j))}, "real"),
        ({"A": pd.DataFrame(np.ones((2, 3), dtype="datetime64[s]"))}, "real"), ({"A": MASKED[None]}, "real"),
        ({"x": [1, 2]}, "one entry for each of the 3 columns"),
        ({"x": MASKED}, "masked"), ({"mechanism": "exponential"}, "mechanism must be one of"),
        ({"mechanism": "factorization", "delta": 0}, "mechanism='laplace'"), ({"sparse": "yes"}, "sparse must be"),
        ({"A": [[1.0, -1.0, 0.5]], "sparse": True}, "records="), ({"A": 10**400}, "numeric"),
        ({"records": -1}, "records must be"), ({"records": INF}, "records must be"),
        ({"adjacency": "swap"}, "adjacency"),
        *(({"A": size * np.eye(2), "x": [1, 2]}, "other units") for size in (1e-130, 1e130)),
    ]),
    (dpgraph.private_marginals, {"data": BITS, "k": 2}, [
        ({"data": [0, 1]}, "one record a row"), ({"data": np.zeros((0, 3))}, "no records"), ({"k": 4}, "from 1 to 3"),
        ({"k": 0}, "k must be"), ({"k": 1.5}, "k must be"),
        ({"k": 10**5000}, "k must be"), ({"k": [77]}, "k must be"), ({"sparsity": 0}, "sparsity"),
        ({"sparsity": 4}, "sparsity"),
        ({"degree": 3}, "degree must be"), ({"degree": "high"}, "degree must be"),
        ({"tol": 0}, "tol must be a positive"), ({"forest": PAIR}, "True or False"),
        ({"data": np.zeros((5, 60), dtype=int), "degree": 4}, "moment matrix of side"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"categories": {7: [1, 2]}}, "do not exist"), ({"categories": {0: [1]}}, "at least two"),
        ({"categories": {0: [0, 1, 2]}, "sparsity": 1}, "0/1 attributes only"),
        ({"data": None}, "an array, a frame or a list"),
        ({"data": pd.DataFrame({"a": pd.period_range("2020", periods=2)}), "k": 1}, "its type is period"),
        ({"data": np.array([["0"]], dtype=np.dtypes.StringDType()), "k": 1}, "its type is StringDType"),
        ({"data": np.ma.masked_array(np.zeros((5, 3)))}, "mask"),
        ({"data": [[0, 1]], "adjacency": "add-remove"}, "frame"),
    ]),
    (dpgraph.perturb_and_project, {"A": np.zeros((3, 3)), "sets": PSDCone(), "sensitivity": 1.0}, [
        ({"method": "alternating"}, "method"), ({"sensitivity": 0.0}, "sensitivity"),
        ({"symmetric": PAIR}, "symmetric"),
        ({"sensitivity": "1"}, "sensitivity"),
        ({"delta": 1.0}, "delta"), ({"tol": -1.0}, "tol"), ({"max_iter": 0}, "iterations"), ({"sets": []}, "set"),
        ({"sensitivity": 1e200}, ""), ({"delta": None}, "delta"), ({"tol": "x"}, "tol"), ({"sets": 3}, ""),
        ({"symmetric": True, "A": np.zeros((2, 3))}, ""), ({"A": np.zeros(3)}, "matrix"),
    ]),
    (dpgraph.private_normalized_adjacency, {"G": nx.path_graph(30)}, [
        ({"rank": 0}, "rank"), ({"rank": 31}, "rank"), ({"rank": 1.5}, "rank"),
        ({"regularization": -1.0}, "regularization"),
        ({"regularization": NAN}, "regularization"), ({"regularization": np.ones(2)}, "regularization"),
        ({"coherence": "basic"}, "coherence"), ({"coherence": "rank", "mechanism": "gaussian"}, "coherence"),
        ({"mechanism": "laplace"}, "mechanism"), ({"mechanism": Coherence(max_rank=0)}, "max_rank"),
        ({"mechanism": Coherence(rank=2), "rank": 2}, "rank"),
        ({"mechanism": Coherence(projection="spectral")}, "projection"),
        ({"coherence": "rank", "delta": 0.0}, "delta"), ({"G": nx.empty_graph(5001), "mechanism": "gaussian"}, "5000"),
        *(({"mechanism": name, "rank": 2, "delta": 0.0}, "delta.*randomized-response.*rank=1")
          for name in ("coherence", "gaussian", "noisy-power")),
        ({"mechanism": np.array(["coherence"])}, "mechanism"),
        ({"regularization": 1e200, "mechanism": "noisy-power"}, ""),
        ({"mechanism": Coherence(certificate=["stability"])}, "certificate"),
    ]),
    (dpgraph.private_max_cut, {"G": PATH}, [
        ({"mechanism": "laplace"}, "mechanism"), ({"mechanism": Coherence(projection="nuclear")}, "projection"),
        ({"mechanism": Coherence(rank=11)}, "rank"), ({"mechanism": Projector()}, "mechanism"),
        ({"mechanism": None}, "mechanism"),
        ({"mechanism": Coherence(degree=3)}, "degree"), ({"mechanism": Coherence(degree=20)}, "degree"),
        ({"on_halt": "ignore"}, "on_halt"), ({"mechanism": Coherence(rounds=0)}, "rounds"),
        ({"mechanism": Coherence(seeds=-1)}, "seeds"),
        ({"G": nx.path_graph(LARGEST + 1), "mechanism": "permute-and-flip"}, r"2\*\*\(n - 1\)"),
    ]),
    (dpgraph.private_max_2csp, {"instance": CSP}, [
        ({"adjacency": "vertex"}, "adjacency"), ({"mechanism": "gaussian"}, "mechanism"),
        ({"max_weight": 0.0}, "max_weight"),
        ({"mechanism": "coherence", "adjacency": "constraint"}, ""),
        ({"mechanism": "coherence", "delta": 0.0}, "delta"),
        ({"mechanism": Coherence(rank=0)}, "rank"), ({"on_halt": "ignore"}, "on_halt"),
        *(({"instance": dpgraph.TwoCSP(3000, 2), "mechanism": Coherence(rank=2, **{name: value})}, words)
          for name, value, words in (("seeds", 1, "seeds"), ("degree", 4, "degree"),
                                     ("projection", "spectral", "5000"))),
    ]),
    (dpgraph.private_max_2csp, EDGE, [
        ({"relation": np.eye(2)}, "shape"), ({"relation": 4 * RELATION}, r"\[0, 1\]"),
        ({"relation": RELATION * NAN}, r"\[0, 1\]"),
        ({"relation": 0 * RELATION}, "not all zero"), ({"relation": np.triu(RELATION)}, "symmetric"),
        ({"relation": "differ"}, "numbers"), ({"mechanism": "coherence"}, "mechanism"),
        ({"mechanism": Coherence()}, "mechanism"),
        ({"adjacency": "label-edge", "mechanism": "randomized-response"}, ""),
        ({"adjacency": "label-edge", "relation": np.eye(3)}, "relation"),
    ]),
    (dpgraph.private_spectrum, {"A": 50 * np.eye(6), "k": 1, "sensitivity": 1.0}, [
        ({"max_weight": 2.0}, ""), ({"regularization": 1.0}, ""), ({"weight": "weight"}, ""),
        ({"symmetrize": True}, ""),
    ]),
    *((function, {"A": A, "sensitivity": 1.0} | more, [({}, "expected a|square")])
      for function, more in ((dpgraph.perturb_and_project, {"sets": PSDCone(), "symmetric": True}),
                             (dpgraph.private_coherence, {"rank": 1}), (dpgraph.private_projector, {"rank": 1}))
      for A in (np.array([["a"]]), np.array([[1j]]), [[1.0], [1.0, 2.0]])),
    *((dpgraph.private_max_k_cut,
    {"G": PATH, "k": k}, [({}, "k, the number of parts")]) for k in (1, 0, 2.5, True, "3", 257)),
    (dpgraph.private_projector, {"A": np.diag([NAN, 1.0, 0.0]), "rank": 1, "sensitivity": 1.0}, [
        ({"mechanism": "noisy-power", "certificate": "stability"}, "read by mechanism='coherence' only"),
        ({"mechanism": dpgraph.strategies.RandomizedResponse()}, "mechanism must be one of"),
        ({"mechanism": Projector(certificate="gap")}, "certificate"), ({"certificate": PAIR}, ""),
        ({"max_rank": "2"}, ""),
        ({"mechanism": "randomized-response"}, "one of 'auto', 'coherence', 'noisy-power', 'gaussian'"),
    ]),
]  # fmt: skip

#: Calls that spend nothing whatever happens.
OTHERS = [
    *((lambda e=e: gdp_mu(e, 1e-6), "epsilon") for e in (0.0, -1.0, NAN, INF, "1", None)),
    *((lambda d=d: gdp_mu(1.0, d), "delta") for d in (0.0, 1.0, -1e-9, NAN, INF, "x", None)),
    *((lambda s=s: gaussian_scale(s, epsilon=1.0, delta=1e-6), "sensitivity") for s in (0, -1.0, NAN, INF)),
    *((lambda m=m: gdp_delta(m, 1.0), "mu") for m in (-1.0, NAN, INF)), (lambda: gdp_epsilon(INF, 1e-6), "mu"),
    (lambda: minimum_volume_ellipsoid([[1.0, NAN]]), "NaN or infinity"),
    (lambda: minimum_volume_ellipsoid(np.eye(3) * 1e200), "largest 1e.200. Measure them in other units"),
    (lambda: minimum_volume_ellipsoid(np.eye(3) * 1e-320), "largest coordinate between"),
    (lambda: minimum_volume_ellipsoid(np.eye(3) * 1j), "real numbers"),
    (lambda: minimum_volume_ellipsoid([1.0, 2.0]), "one point a row"),
    (lambda: minimum_volume_ellipsoid(np.ones((3, 2))), "do not span"),
    (lambda: minimum_volume_ellipsoid([["a", "b"]]), "numeric"),
    (lambda: minimum_volume_ellipsoid(np.eye(2), tol=0), "0 < tol < 1"),
    (lambda: hereditary_discrepancy_bounds(np.zeros((2, 2))), "zero"),
    (lambda: hereditary_discrepancy_bounds([[1.0, NAN]]), "NaN"),
    (lambda: project_nonnegative_spectral_ball([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
    (lambda: project_nonnegative_spectral_ball(np.eye(2), 0.0), "radius"),
    (lambda: project_nonnegative_spectral_ball(np.ones((2, 3))), "square"),
    (lambda: project_nonnegative_spectral_ball([[INF]]), "finite"),
    (lambda: project_psd(np.ones((2, 3))), "square"), (lambda: project_psd([["a"]]), "real numbers"),
    (lambda: project_spectral_ball(np.eye(2), -1.0), "nonnegative"),
    (lambda: project_spectral_ball(np.ones(3)), "matrix"),
    (lambda: SpectralBall("wide"), "nonnegative finite number"), (lambda: Box(1.0, 0.0), "lower <= upper"),
    (lambda: project_l1_hull([1.0, 2.0], np.eye(3)), "length d = 3"), (lambda: Elliptope(tol=0.0), "tol > 0"),
    (lambda: shrink_psd_trace(np.eye(2), -1.0, std=1.0), "trace"),
    (lambda: shrink_psd_trace(np.eye(2), 1.0, std=0.0), "std"),
    (lambda: dykstra(np.eye(2), []), "set"), (lambda: dykstra(np.eye(2), [np.eye(2)]), "set"),
    (lambda: dykstra(np.eye(2), PSDCone(), tol=-1.0), "tol"),
    (lambda: dykstra(np.eye(2), PSDCone(), max_iter=0), "iterations"),
    (lambda: averaged_projections(np.eye(2), PSDCone(), 2.5), "iterations"),
    (lambda: averaged_projections([[INF]], PSDCone(), 3), "finite"),
    (lambda: dpgraph.max_cut(nx.DiGraph([(0, 1)])), "undirected"),
    (lambda: dpgraph.max_cut(nx.empty_graph(0)), "one vertex"),
    (lambda: dpgraph.max_bisection(nx.empty_graph(0)), "one vertex"),
    (lambda: dpgraph.max_cut(np.array([[0.0, NAN], [NAN, 0.0]])), "finite"),
    (lambda: dpgraph.max_cut(PATH, weight="w"), "'w'"), (lambda: dpgraph.max_cut([(0, 1)]), "networkx"),
    (lambda: dpgraph.max_cut(PATH, relaxation="exact"), "relaxation must be one of"),
    (lambda: dpgraph.private_statistic(PATH, "component", epsilon=1), "Did you mean 'components'"),
    (lambda: dpgraph.private_subgraph_counts(PATH, ["triangles"], epsilon=1), "Did you mean 'triangle'"),
    (lambda: dpgraph.private_communities(PATH, epsilon=1, mechanism="randomised-response"), "'randomized-response'.$"),
    (lambda: dpgraph.max_cut(PATH, degree=3, relaxation="lowrank"), "degree=3"),
    (lambda: dpgraph.max_cut(PATH, seeds=-1), "seeds must be an integer, at least 0; got -1"),
    *((lambda d=d, n=n: dpgraph.max_bisection(nx.cycle_graph(n), degree=d), "degree") for d, n in ((3, 4), (4, 60))),
    (lambda: dpgraph.max_2csp(CSP, relaxation="simplex"), "relaxation"),
    (lambda: dpgraph.max_2csp(CSP, relaxation="lowrank", degree=4), "degree"),
    (lambda: dpgraph.max_2csp(CSP, degree=3), "degree"),
    (lambda: dpgraph.max_2csp(CSP, rounds=0), "rounds"), (lambda: dpgraph.max_2csp(CSP, tol=2.0), "tol"),
    (lambda: dpgraph.max_2csp(PATH), "TwoCSP"),
    *((lambda make=make, given=given: make(*given), r"\bn\b|degree|correlation")
      for make in (dpgraph.datasets.planted_cut, dpgraph.datasets.planted_bisection)
      for given in ((1, 1, 0.0), (2.5, 1, 0.0), (True, 1, 0.0), (100, -1, 0.0), (100, NAN, 0.0), (100, 60, -0.75),
      (100, 101, 0.0),
                    (100, 10, 1.5), (100, 10, NAN))),
    *((lambda more=more: dpgraph.datasets.read_edgelist("missing.txt", **more), *more)
      for more in ({"format": "parquet"}, {"labels": float}, {"nodes": "all"}, {"nodes": 0}, {"nodes": True},
      {"nodes": 10**20},
                   {"nodes": []}, {"nodes": [1, 2, 1]})),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PRIVATE)), ids=lambda number: PRIVATE[number][0].__name__)
def test_a_private_function_refuses_them_and_spends_nothing(number):
    function, arguments, changes = PRIVATE[number]
    for change, words in changes:
        accountant = dpgraph.PrivacyAccountant(epsilon=4.0, delta=1e-3)
        budget = {"epsilon": 1.0, "delta": 1e-6, "accountant": accountant}
        if function in (dpgraph.private_max_k_cut,):
            budget.pop("delta")
        with about(change), pytest.raises(InvalidParameterError, match=words or "|".join(change)) as caught:
            function(**budget | arguments | change)
        assert accountant.spent == (0.0, 0.0), change
        assert "77" not in str(caught.value), change


def test_what_spends_nothing_refuses_them_by_name():
    for number, (call, words) in enumerate(OTHERS):
        with about(number, words), pytest.raises((InvalidParameterError, InvalidGraphError), match=words):
            call()


def test_private_entries_that_cannot_be_are_refused_after_the_debit_and_not_shown():
    records, queries = {"k": 2}, {"A": np.ones((2, 3))}
    for function, arguments, words in (
        *((dpgraph.private_linear_queries, queries | {"x": x}, "finite nonnegative")
          for x in ([1, 77, np.nan], [1, 77, -1], ["77", "b", "c"], [1, 77, [3]])),
        *((dpgraph.private_marginals, records | {"data": data}, "0 and 1 only")
          for data in ([[0, 77]], [[0, np.nan]], [["77", "b"]], [[0, 1], [1]], [[0, 1, 1j]])),
        (dpgraph.private_marginals, {"data": BITS, "k": 2, "categories": {0: ["x", "y"]}}, "declared categories"),
    ):  # fmt: skip
        accountant = dpgraph.PrivacyAccountant(epsilon=4.0, delta=1e-3)
        with about(arguments), pytest.raises(InvalidParameterError, match=words) as caught:
            function(**arguments, epsilon=1.0, accountant=accountant)
        assert accountant.spent.epsilon == pytest.approx(1.0), arguments
        assert "77" not in str(caught.value)


def test_complex_numbers_are_refused_and_not_cut_to_their_real_parts():
    number, G = np.complex128(1 + 2j), nx.path_graph(3)
    nx.set_edge_attributes(G, number, "w")
    table, relations = np.full((2, 2), number), nx.Graph([(0, 1, {"relation": np.full((2, 2), number)})])
    for k, call in enumerate((
        lambda: dpgraph.private_degrees(G, epsilon=1.0, weight="w", max_weight=3.0),
        lambda: dpgraph.max_cut(G, weight="w"),
        lambda: dpgraph.TwoCSP(2, 2).add_constraint(0, 1, table),
        lambda: dpgraph.TwoCSP.from_networkx(relations, "relations", 2),
        lambda: dpgraph.private_max_2csp(dpgraph.TwoCSP(2, 2), epsilon=1.0, adjacency="edge", relation=table),
        lambda: dpgraph.private_marginals([[number]], 1, epsilon=1.0),
        lambda: hereditary_discrepancy_bounds(table.astype(object)),
    )):  # fmt: skip
        with about(k), pytest.raises((InvalidParameterError, InvalidGraphError), match=r"number|0 and 1"):
            call()
