"""Synthetic graphs: what is drawn has the vertices of the graph, and the released degrees, communities, triangles."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import isotonic_regression
from sklearn.metrics import normalized_mutual_info_score

import dpgraph
from dpgraph.denoise import swaps
from dpgraph.denoise.block_model import Blocks, draw_graph
from dpgraph.denoise.degree_tails import believable_counts, degree_counts
from dpgraph.denoise.homes import at_home
from dpgraph.denoise.louvain import louvain
from dpgraph.denoise.modularity import ends_of
from dpgraph.denoise.swaps import Goals, Roots, swapped
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.problems import synthesis

CAVES = nx.relaxed_caveman_graph(20, 15, 0.1, seed=1)
NAMED = nx.relabel_nodes(CAVES, {node: f"v{node}" for node in CAVES})


def model_of(seed=0, epsilon=20.0, **options):
    return dpgraph.private_synthetic_graph(NAMED, epsilon=epsilon, rng=seed, **options)


def test_a_drawn_graph_is_simple_and_has_the_vertices_of_the_graph():
    twin = model_of().sample(rng=3)
    assert list(twin) == list(NAMED)
    assert nx.number_of_selfloops(twin) == 0
    assert not twin.is_multigraph()


def test_a_drawn_graph_has_the_degrees_of_the_model():
    model = model_of()
    drawn = np.diff(model.adjacency(rng=1).indptr)
    assert np.abs(drawn - model.degrees).sum() <= 0.01 * model.degrees.sum()


def test_at_a_large_epsilon_edges_triangles_and_communities_are_those_of_the_graph():
    model = model_of(epsilon=400.0)
    twin = model.sample(rng=1)
    assert twin.number_of_edges() == pytest.approx(NAMED.number_of_edges(), rel=0.01)
    exact = sum(nx.triangles(NAMED).values()) // 3
    assert sum(nx.triangles(twin).values()) // 3 == pytest.approx(exact, rel=0.1)
    found = nx.community.modularity(twin, [side for side in model.communities if side])
    assert found == pytest.approx(nx.community.modularity(NAMED, model.communities), abs=0.05)


def test_any_number_of_different_graphs_can_be_drawn_and_a_seed_repeats_one():
    model = model_of()
    first, again, other = (model.sample(rng=seed) for seed in (1, 1, 2))
    assert set(first.edges) == set(again.edges) != set(other.edges)
    assert set(model.sample().edges) != set(model.sample().edges)


@pytest.mark.parametrize("graph", [nx.empty_graph(1), nx.empty_graph(30), nx.star_graph(40), nx.complete_graph(12)])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e4])
def test_extreme_graphs_and_budgets_give_a_model_that_can_be_drawn_from(graph, epsilon):
    model = dpgraph.private_synthetic_graph(graph, epsilon=epsilon, rng=0)
    assert len(model.sample(rng=0)) == len(graph)
    assert model.degrees.max(initial=0) < max(len(graph), 1)


def planted():
    """Degrees of a heavy tail, communities, and edges of which half and more stay inside."""
    rng = np.random.default_rng(0)
    degrees = np.minimum(np.rint(rng.pareto(2.0, 600) * 5 + 3).astype(np.int64), 80)
    labels = rng.integers(0, 4, 600)
    ends = np.bincount(labels, weights=degrees)
    edges = np.outer(ends, ends) / ends.sum() / 2
    return degrees, labels, (edges + np.diag(ends / 2)) / (1 + np.eye(4))


def test_edges_between_communities_are_the_nearest_that_fit_the_degrees_and_noise_adds_few():
    rng, upper, labels, found = np.random.default_rng(1), np.triu_indices(16), np.repeat(np.arange(16), 40), []
    degrees = rng.integers(5, 30, labels.size)
    ends = np.bincount(labels, weights=degrees)
    for _ in range(20):
        noise = np.triu(rng.laplace(0, ends.mean() / 20, (16, 16)))
        noisy = np.diag(ends / 2) + noise + np.triu(noise, 1).T
        found.append((noisy, Blocks.fit(degrees, labels, noisy).edges))
        assert found[-1][1].min() >= 0
        assert np.allclose(ends_of(found[-1][1]).sum(axis=1), ends)
    for noisy, edges in found:
        for _, others in found:
            assert ((noisy - edges)[upper] * (others - edges)[upper]).sum() <= 1e-9 * (ends**2).sum(), "it is nearer"
    across = [[1 - np.trace(e) / e[upper].sum() for e in (np.maximum(noisy, 0), edges)] for noisy, edges in found]
    clipped, fitted = np.mean(across, axis=0)
    assert fitted < 0.5 * clipped, "no edge is across, but for noise"


def test_groups_make_triangles_and_leave_degrees_and_communities_alone():
    (degrees, labels, edges), before, rng = planted(), 0, np.random.default_rng(0)
    member = np.eye(4)[labels]
    for tightness in (0.0, 0.2, 0.5, 1.0, 2.0):
        A = draw_graph(degrees, labels, edges, tightness, rng)
        assert np.abs(np.diff(A.indptr) - degrees).sum() <= 0.01 * degrees.sum()
        assert np.allclose(member.T @ (A @ member) / (1 + np.eye(4)), edges, atol=25)
        assert set(A.data) == {1.0}
        assert A.diagonal().sum() == abs(A - A.T).sum() == 0
        triangles = Subgraphs(A.indptr, A.indices).count("triangle")
        assert triangles > 1.1 * before
        before = triangles
    for degrees in (np.full(100, 99), np.repeat([900, 30], [30, 900])):
        A = draw_graph(degrees, 0 * degrees, np.full((1, 1), degrees.sum() / 2), 0.0, rng)
        assert A.nnz > 0.99 * degrees.sum(), "edges are found for vertices that have nearly all, or ends are joined"


def test_labels_of_sparse_graphs_leave_their_budget_to_the_numbers():
    shares = []
    for density in (0.01, 0.3):
        model = dpgraph.private_synthetic_graph(nx.gnp_random_graph(300, density, seed=1), epsilon=1.0, rng=0)
        shares.append(next(entry.epsilon for entry in model.privacy.entries if entry.name == "clustering"))
    assert shares == pytest.approx([(1 - 0.015 - 0.785 * 3 / 12.5) / 0.2 * 0.03, 0.03], rel=0.1)


def test_triangles_are_looked_at_again_for_twice_as_much_where_the_first_look_says_little():
    for graph, looks in ((nx.gnp_random_graph(300, 0.05, seed=1), 2), (nx.complete_graph(60), 1)):
        entries = dpgraph.private_synthetic_graph(graph, epsilon=4.0, rng=0).privacy.entries
        spent = [entry.epsilon for entry in entries if entry.name == "triangle count"]
        assert np.diff(spent) == pytest.approx(spent[:-1])
        assert len(spent) == looks


def test_the_rate_takes_the_spikes_of_noise_and_leaves_what_is_no_noise():
    rng = np.random.default_rng(3)
    degrees = np.minimum(rng.lognormal(3.0, 0.8, 4000).astype(np.int64), 999)
    exact = np.array([np.sum(degrees >= k) for k in range(1, 4000)], dtype=float)
    noisy, std = exact + rng.laplace(0, 20, exact.size), 20 * 2**0.5
    true = np.bincount(degrees, minlength=4000)
    counts = degree_counts(noisy, 4000, std, float(degrees.sum()))
    nearest = np.rint(np.clip(isotonic_regression(noisy, increasing=False).x, 0, 4000)).astype(np.int64)
    found, plain = (np.append(counts[1:][::-1].cumsum()[::-1], np.zeros(4000 - counts.size)), nearest)
    assert np.abs(found - exact).sum() < 0.6 * np.abs(plain - exact).sum()
    assert counts.sum() == 4000
    for total in (degrees.sum() // 2, degrees.sum(), 2 * degrees.sum()):
        counts = degree_counts(noisy, 4000, std, float(total))
        assert counts @ np.arange(counts.size) == total
    assert np.array_equal(degree_counts(exact, 4000, 0.0), true[: degrees.max() + 1])


def test_a_drawn_graph_says_how_many_triangles_it_reached_and_warns_where_they_are_fewer():
    model = dpgraph.private_synthetic_graph(NAMED, epsilon=100.0, rng=5)
    twin = model.sample(rng=3)
    assert twin.graph["triangles"] == sum(nx.triangles(twin).values()) // 3
    assert model.to_igraph(rng=3)["triangles"] == twin.graph["triangles"]
    clique = nx.disjoint_union(nx.complete_graph(60), nx.empty_graph(200))
    with pytest.warns(UserWarning, match=r"triangles, of \d+ that were released"):
        dpgraph.private_synthetic_graph(clique, epsilon=4.0, rng=6).sample(rng=0)


def test_clustering_counts_every_vertex_and_no_edge_more_than_the_limit():
    for graph in (CAVES, nx.barbell_graph(6, 2), nx.path_graph(4), nx.empty_graph(3)):
        A = nx.to_scipy_sparse_array(graph, format="csr")
        found = Subgraphs(A.indptr, A.indices)
        assert found.clustering() == pytest.approx(sum(nx.clustering(graph).values()), abs=1e-4)
    pages = nx.Graph([(0, 1), *((hub, leaf) for hub in (0, 1) for leaf in range(2, 12))])
    A = nx.to_scipy_sparse_array(pages, nodelist=range(12), format="csr")
    found = Subgraphs(A.indptr, A.indices)
    assert found.clustering() == pytest.approx(10 + 2 * 10 / 55, abs=1e-4)
    assert found.clustering(1.0) == pytest.approx(1 + 2 * 10 / 55, abs=1e-4), "ten pages share one edge"


def elsewhere(A, labels):
    """How many vertices have as many edges in another community as in their own, beyond what degrees explain."""
    degrees, member = np.diff(A.indptr), np.eye(labels.max() + 1)[labels]
    counts = A @ member
    excesses = counts - np.outer(degrees, degrees @ member / degrees.sum())
    home = excesses[np.arange(labels.size), labels]
    return int(np.count_nonzero(np.where((member == 0) & (counts > 0), excesses, -np.inf).max(axis=1) >= home))


def test_hardly_a_vertex_of_a_drawn_graph_has_most_of_its_edges_in_another_community(monkeypatch):
    rng = np.random.default_rng(5)
    degrees, labels = np.minimum(rng.zipf(1.9, 2000) + 1, 200), rng.integers(0, 4, 2000)
    ends = np.bincount(labels, weights=degrees)
    edges = 0.4 * np.outer(ends, ends) / ends.sum()
    edges += np.diag((ends - edges.sum(axis=1)) / 2)

    def drawn():
        return draw_graph(degrees, labels, edges, 0.0, np.random.default_rng(6))

    A = drawn()
    with monkeypatch.context() as patched:
        patched.setattr("dpgraph.denoise.block_model.at_home", lambda A, *_: A.astype(float))
        loose = drawn()
    member = np.eye(4)[labels]
    assert np.array_equal(A.indptr, loose.indptr)
    assert np.array_equal(member.T @ (A @ member), member.T @ (loose @ member))
    assert set(A.data) == {1.0}
    assert A.diagonal().sum() == abs(A - A.T).sum() == 0
    assert elsewhere(loose, labels) > 200 > 10 > elsewhere(A, labels)
    found = [normalized_mutual_info_score(labels, louvain(B, 1.0, np.random.default_rng(0))) for B in (loose, A)]
    assert found[1] > found[0] + 0.2, "the communities of the drawn graph are those that it was drawn from"
    assert (at_home(loose, labels, np.zeros(loose.nnz, dtype=bool), rng) != loose).nnz == 0, "nothing is free"


def test_swaps_reach_counts_and_leave_degrees_and_edges_between_communities_alone():
    (degrees, labels, edges), rng = planted(), np.random.default_rng(2)
    A = draw_graph(degrees, labels, edges, 0.4, rng)
    before = Subgraphs(A.indptr, A.indices)
    triangles, clustering = 1.1 * before.count("triangle"), 0.95 * before.clustering() / 600
    B = swapped(A, labels, Goals(triangles, clustering, 0.05), rng)
    member = np.eye(4)[labels]
    assert np.array_equal(A @ member, B @ member)
    assert set(B.data) == {1.0}
    assert B.diagonal().sum() == abs(B - B.T).sum() == 0
    found, ends = Subgraphs(B.indptr, B.indices), np.diff(B.indptr).astype(float)
    roots = Roots.fit(ends)
    assert found.count("triangle") == pytest.approx(triangles, rel=0.03)
    assert found.clustering() / 600 == pytest.approx(clustering, rel=0.03)
    f = roots.of(ends)
    assert float(f @ (B @ f)) / B.nnz / roots.variance == pytest.approx(0.05, abs=0.03)
    unknown = Goals(Subgraphs(A.indptr, A.indices).count("triangle"), np.nan, np.nan)
    assert swapped(A, labels, unknown, rng) is A
    fewer = swapped(A, labels, Goals(0.4 * before.count("triangle"), np.nan, np.nan), rng)
    assert Subgraphs(fewer.indptr, fewer.indices).count("triangle") < 0.45 * before.count("triangle")


@pytest.mark.parametrize("wanted", [2.0, 0.5])
def test_counts_that_swaps_keep_are_those_of_the_graph(wanted):
    rng = np.random.default_rng(3)
    A = draw_graph(rng.integers(1, 40, 300), np.repeat([0, 1, 2], 100), np.full((3, 3), 400.0), 0.3, rng)
    degrees = np.diff(A.indptr).astype(float)
    centred = Roots.fit(degrees).of(degrees)
    counts = swaps.Counts.of(
        A, Goals(wanted * Subgraphs(A.indptr, A.indices).count("triangle"), 0.2, 0.1), centred, 1.0
    )
    before = counts.now.copy()
    B = swaps._nearer(A, np.repeat([0, 1, 2], 100), centred, counts, rng)
    found = Subgraphs(B.indptr, B.indices)
    assert abs(counts.now[0] - before[0]) > 100
    assert counts.now[0] == found.count("triangle")
    assert counts.now[1:] == pytest.approx([found.clustering(), float(centred @ (B @ centred)) / 2], rel=1e-5)


@pytest.mark.parametrize(("share", "least", "most"), [(swaps._SHARE, 0.95, 1.0), (100.0, 0.0, 0.5)])
def test_triangles_do_not_gather_in_a_community_of_their_own(monkeypatch, share, least, most):
    monkeypatch.setattr(swaps, "_SHARE", share)
    labels, rng = np.repeat(np.arange(4), 200), np.random.default_rng(0)
    A = draw_graph(np.full(800, 60), labels, np.where(np.eye(4), 3000.0, 2000.0), 0.0, rng)  # half of all edges inside
    wanted = 2.5 * Subgraphs(A.indptr, A.indices).count("triangle")
    B = swapped(A, labels, Goals(wanted, np.nan, np.nan), rng)
    assert Subgraphs(B.indptr, B.indices).count("triangle") == pytest.approx(wanted, rel=0.03)
    found = louvain(B, 1.0, np.random.default_rng(0))
    assert least <= normalized_mutual_info_score(labels, found) <= most


@pytest.fixture
def rehearsed(monkeypatch):
    """A model that is made stronger while rehearsals show what a function says: how strong, each time."""
    model, tried, own = model_of(), [], 0.3

    def stronger(model, wanted, _):
        tried.append(wanted)
        return replace(model, strength=wanted), None

    monkeypatch.setattr(synthesis, "_with_modularity", stronger)
    monkeypatch.setattr(synthesis, "_drawn", lambda *_: None)
    monkeypatch.setattr(synthesis, "_best_modularity", lambda *_: 0.5)
    monkeypatch.setattr(synthesis, "modularity_of", lambda *_: own)

    def strengths(show, seed):
        monkeypatch.setattr(synthesis, "_rehearsed", lambda *_: (0.5, *show(tried[-1] if tried else own, own)))
        tried.clear()
        found = synthesis.strengthened((model, None), lambda A: model.labels, np.random.default_rng(seed))
        assert found.strength == (tried[-1] if tried else 0.0)
        return tried

    return strengths


def test_whatever_rehearsals_show_no_model_is_taken_at_a_strength_at_which_triangles_lacked(rehearsed):
    rng = np.random.default_rng(0)
    for seed in range(300):
        lacking = []

        def show(wanted, own, lacking=lacking):
            reached = 1.0 if wanted == own else rng.choice([0.5, 1.0])
            lacking += [wanted] if reached < 1 else []
            return own * rng.choice([-1, 0, 0.5, 0.8, 1.2], 2), reached

        *_, last = rehearsed(show, seed) or [0.0]
        assert 0 <= last <= min([0.9, *lacking])


def test_models_are_as_strong_as_their_rehearsals_say(rehearsed):
    for target in (0.5, 0.7, 0.85):
        found = []
        for seed in range(30):
            rng = np.random.default_rng(seed)

            def show(wanted, own, target=target, rng=rng):
                return own * (wanted / target) ** 2 * rng.normal(1, 0.1, 2), 1.0

            found.append(rehearsed(show, seed)[-1])
        assert np.mean(found) == pytest.approx(target, abs=0.05)
        assert np.std(found) < 0.06


def test_a_model_is_hardly_made_stronger_where_labels_are_lost_by_it(rehearsed):
    *_, last = rehearsed(lambda wanted, own: (np.full(2, own * (0.95 if wanted == own else 0.7)), 1.0), 0)
    assert 0.3 <= last < 0.32


def test_twins_have_the_modularity_that_noise_took_from_the_labels():
    graph = nx.planted_partition_graph(12, 80, 0.25, 0.012, seed=4)
    model = dpgraph.private_synthetic_graph(graph, epsilon=1.2, rng=6)
    exact = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=0))
    labels = nx.community.modularity(graph, model.communities)
    twin = model.sample(rng=2)
    drawn = nx.community.modularity(twin, nx.community.louvain_communities(twin, seed=0))
    assert labels < 0.8 * exact
    assert abs(drawn - exact) < 0.5 * (exact - labels)
    assert model.modularity == pytest.approx(exact, abs=0.5 * (exact - labels))


def clustered(seed):
    """Five groups, whose edges are moved so that they close triangles."""
    A = nx.to_numpy_array(nx.random_partition_graph([70] * 5, 0.35, 0.03, seed=seed))
    rng = np.random.default_rng(seed)
    for _ in range(1500):
        a, b = rng.choice(np.flatnonzero(A[rng.integers(len(A))]), 2, replace=False)
        if not A[a, b]:
            x = rng.choice(np.flatnonzero(A[a]))
            A[a, x] = A[x, a] = 0
            A[a, b] = A[b, a] = 1
    return sparse.csr_array(A)


def test_drawn_graphs_return_the_released_communities_as_swaps_make_the_triangles_without_groups():
    model = dpgraph.private_synthetic_graph(clustered(2), epsilon=2.0, rng=2)
    twin = model.adjacency(1)
    assert model.tightness == 0.0
    assert Subgraphs(twin.indptr, twin.indices).count("triangle") >= 0.95 * model.triangles
    again = np.unique(louvain(twin, 1.0, np.random.default_rng(0)) * 100 + model.labels, return_counts=True)[1]
    assert np.sort(again)[-len(model.block_weights) :].sum() >= 0.9 * len(model.labels)


def test_a_lone_vertex_of_many_edges_is_believed_where_it_stands_out_of_the_noise():
    degrees = np.minimum(np.random.default_rng(6).lognormal(2.0, 0.8, 1999).astype(np.int64), 100)

    def largest(degrees, scale, seed, spread=1e4):
        """By numbers of vertices alone, and with noisy degrees too."""
        rng, n, total = np.random.default_rng(seed), degrees.size, int(degrees.sum())
        exact = np.array([np.sum(degrees >= k) for k in range(1, n)], dtype=float)
        noisy, std = exact + rng.laplace(0, scale, exact.size), scale * 2**0.5
        seen = degrees + rng.laplace(0, spread, n), spread * 2**0.5
        both = believable_counts((noisy, std), seen, total)
        return degree_counts(noisy, n, std, total).size - 1, both.size - 1, int(both @ np.arange(both.size))

    hub = np.append(degrees, 1500)
    assert largest(hub, 2.0, 0)[1] == pytest.approx(1500, rel=0.05)
    plain, found, _ = zip(*(largest(degrees, 20.0, seed) for seed in range(9)), strict=True)
    assert max(plain) > 180 > 130 > max(found), "noise is positive somewhere above the largest degree"
    clique = np.repeat([0, 99], [1899, 100])
    plain, found, _ = zip(*(largest(clique, 30.0, seed) for seed in range(9)), strict=True)
    assert max(plain) > 200 > 150 > max(found), "no vertex has more neighbours than there are vertices with an edge"
    plain, found, totals = zip(*(largest(hub, 60.0, seed, 8.0) for seed in range(9)), strict=True)
    assert min(found) > 1440 > 1000 > min(plain), "its own noisy degree says what noise on the numbers hides"
    assert set(totals) == {hub.sum()}
    assert max(largest(degrees, 20.0, seed, 1.0)[1] for seed in range(9)) < 108, "no noisy degree is larger"


def test_all_vertices_may_stand_out_so_that_the_noisy_numbers_are_those_of_no_vertex():
    numbers = np.repeat([44.0, -28.0], [3, 27])
    assert believable_counts((numbers, 12.5), (np.full(44, 22.0), 0.5), 968).sum() == 44


def test_a_small_graph_has_about_its_edges_by_whatever_tells_their_number_best():
    G = nx.karate_club_graph()
    for epsilon, most in ((5.0, 6), (2.0, 25)):
        drawn = [dpgraph.private_synthetic_graph(G, epsilon=epsilon, rng=seed).sample(0) for seed in range(11)]
        errors = sorted(abs(twin.number_of_edges() - G.number_of_edges()) for twin in drawn)
        assert errors[5] <= most
