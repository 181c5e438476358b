"""A report: one page of released values, whatever the graph."""

import csv
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.bounds.count_intervals import MISSED, decreasing_half_width, wanted_tails
from dpgraph.denoise.degree_tails import decreasing
from dpgraph.denoise.modularity import Noise, ratio_interval
from dpgraph.interfaces.cli import main
from dpgraph.interfaces.report import facts, sections
from dpgraph.interfaces.report.charts import community_map
from dpgraph.interfaces.report.facts import NOISE, Fact
from dpgraph.interfaces.report.page import _words
from tests.about import about

REPOSITORY = Path(__file__).resolve().parent.parent
HOSTILE = "<script>alert('&\")</script>"
ODD = {
    "karate": nx.karate_club_graph(),
    "one vertex": nx.empty_graph(1),
    "no edge": nx.empty_graph(20),
    "one edge": nx.path_graph(2),
    "a tree": nx.random_labeled_tree(60, seed=1),
    "a star": nx.star_graph(80),
    "a clique": nx.complete_graph(40),
    "tuples": nx.grid_2d_graph(5, 6),
    "hostile": nx.relabel_nodes(nx.cycle_graph(9), lambda v: f"{HOSTILE}{v}"),
}
#: Elements of HTML that have no end, or need none.
VOID = {"meta", "circle", "rect", "path", "br"}


class Elements(HTMLParser):
    """Elements that are open, and all that were."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def test_a_page_of_any_graph_is_whole_and_escapes_and_every_number_is_possible(tmp_path):
    for name, G in ODD.items():
        for epsilon in (0.5, 9.0):
            found = dpgraph.report(G, epsilon=epsilon, title=HOSTILE, cut=epsilon > 1, rng=3)
            found.to_html(tmp_path / "page.html")
            page = (tmp_path / "page.html").read_text(encoding="utf-8")
            elements = Elements()
            elements.feed(page)
            with about(name, epsilon):
                assert elements.open == []
                assert not elements.seen & {"script", "iframe", "img", "link"}
                assert [link[:5] for link in elements.links] == ["data:"]
                assert "nan" not in re.sub(r"base64,[^\"]*", "", page).replace("finance", "")
                assert found.communities.communities
                for fact in found.facts:
                    possible(fact)
                for line in found.privacy.entries:
                    assert _words(line.name.partition(": ")[2]) not in line.name  # names for somebody who sees no code
            assert set().union(*found.communities.communities) == set(G)
            assert found.densest.vertices <= set(G)


def possible(fact):
    assert fact.least <= fact.low <= fact.high <= fact.most
    assert math.isnan(fact.value) or fact.least <= fact.value <= fact.most
    assert fact.interval or fact.noisy
    assert not fact.noisy or fact.shown == NOISE or re.match(r"at (most|least) |.* to ", fact.shown)
    assert "-0" not in (fact.text(fact.low), fact.text(fact.high))


def test_a_name_from_right_to_left_leaves_its_neighbours_in_a_list_where_they_are(tmp_path):
    names = [f"שלום <{i}>" if i % 2 else str(i) for i in range(60)]
    graph = nx.relabel_nodes(nx.planted_partition_graph(2, 30, 0.9, 0.02, seed=5), dict(enumerate(names)))
    report = dpgraph.report(graph, epsilon=6.0, rng=0)
    assert len(report.communities.communities) == 2
    report.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    before = set(re.findall(r"(.{5})שלום", page.partition("</main>")[0]))
    assert before == {"<bdi>"}
    assert "<bdi>שלום &lt;1&gt;</bdi>" in page


def test_what_is_outside_the_possible_is_clipped_and_noise_is_called_so():
    clipped = Fact("modularity", 3.352, -4.2, 10.9, least=-0.5, most=1.0)
    assert (clipped.value, clipped.low, clipped.high, clipped.shown) == (1.0, -0.5, 1.0, NOISE)
    assert Fact("triangles", -3, -40, 30, most=1e6).interval == "at most 30"
    assert Fact("share", 0.97, 0.9, 1.2, most=1.0, percent=True).interval == "at least 90%"
    assert Fact("edges", 100, 90, 110, most=1e4).interval == "90 to 110"
    assert Fact("degree", 12, 3, 33, most=33.0).shown == "at least 3"
    assert Fact("degree", 12, -9, 29, most=33.0).shown == "at most 29"
    assert Fact("degree", 12, 1, 31, most=33.0).shown == "1 to 31"


def test_edges_bound_triangles_and_a_degree_that_a_share_of_the_vertices_has():
    """All graphs of at most seven vertices, with numbers of edges that are exact but for intervals of no width."""
    for G in nx.graph_atlas_g()[1:]:
        n, m, triangles = len(G), G.number_of_edges(), sum(nx.triangles(G).values()) // 3
        counts = Exact(m, triangles, wide=99)
        _, low, high = facts._triangles(counts, n)
        assert low <= triangles <= high, (n, m)
        for share in (0.5, 0.1):
            assert degree_of_share(G, share) <= 2 * m // math.ceil(share * n)
    assert facts._triangles(Exact(10, 10, wide=99), 5)[1:] == (10, 10)  # a clique: both bounds are met
    noisy = Exact(10, 30, wide=9)
    noisy.ends["triangle"] = (0, 60)
    assert Fact("triangles", *facts._triangles(noisy, 20), most=1140.0).shown == "at most 10"


class Exact:
    """Counts whose edges are known, and whose triangles are lost in noise."""

    def __init__(self, edges, triangles, wide):
        self.counts = {"edge": edges, "triangle": triangles - wide}
        self.ends = {"edge": (edges, edges), "triangle": (triangles - wide, triangles + wide)}

    def interval(self, pattern, level):
        assert level > 0.95
        return self.ends[pattern]


def degree_of_share(G, share):
    return sorted((degree for _, degree in G.degree), reverse=True)[math.ceil(share * len(G) - 1e-9) - 1]


def test_nearest_decreasing_numbers_are_as_near_as_is_proved():
    """Where a large step lies before equal numbers, which is the worst case, too."""
    rng = np.random.default_rng(43)
    for scale in (0.5, 5.0):
        p, half = math.exp(-1 / scale), decreasing_half_width(scale, 0.05)
        for exact in (np.r_[200.0, np.zeros(40)], np.arange(30.0)[::-1]):
            noise = np.diff(rng.geometric(1 - p, (2000, exact.size, 2)))[..., 0]
            found = np.array([decreasing(exact + x, 1000) for x in noise])
            missed = np.mean(np.abs(found - exact) > half, axis=0).max()
            with about(scale, exact[0]):
                assert missed < 0.06
        assert missed > 0
    assert decreasing_half_width(1000.0, 0.05) == pytest.approx(3086, rel=2e-3)


def test_numbers_of_vertices_are_released_until_the_rest_is_zero_and_hardly_ever_sooner():
    """The bound on a mean of noise that is below -1/2, against its law, and graphs of which a few have many edges."""
    rng = np.random.default_rng(44)
    for scale in (0.3, 2.0):
        half, p = wanted_tails(np.zeros(0), scale) // 2, math.exp(-1 / scale)
        pair = rng.geometric(1 - p, (100_000, 2, half // 10))
        means = np.diff(pair, axis=1).sum(axis=2)[:, 0] / (half // 10)  # of a tenth, bounded by the tenth root
        assert np.mean(means <= -0.5) <= MISSED**0.1
    for hubs in (0, 2):
        G = nx.random_regular_graph(4, 4000, seed=1)
        G.add_edges_from((hub, v) for hub in range(hubs) for v in range(hubs, 3900))
        found = dpgraph.private_degree_distribution(G, epsilon=2.0, rng=1)
        assert (found.tails.size < 1000) == (hubs == 0)
        low, high = found.interval()
        exact = np.array([sum(d >= k for _, d in G.degree) for k in range(0, 4000, 50)]) / 4000
        assert low.size == 4000
        assert np.mean((low[::50] <= exact + 1e-12) & (exact <= high[::50] + 1e-12)) > 0.9
        assert len(found.counts) > 3500 * (hubs > 0)


def test_degrees_of_a_share_of_the_vertices_are_within_their_ranges_as_often_as_they_say():
    graphs = nx.barabasi_albert_graph(60, 3, seed=5), nx.gnp_random_graph(90, 0.08, seed=6), nx.star_graph(50)
    for G in graphs:
        held, said = dict.fromkeys((0.5, 0.1), 0), 0
        for run in range(100):
            degrees = dpgraph.private_degree_distribution(G, epsilon=0.4, rng=2 * run)
            counts = dpgraph.private_subgraph_counts(G, ["edge"], epsilon=0.4, rng=2 * run + 1)
            for share in held:
                fact = facts.quantile(degrees, counts.interval("edge")[1], share, "")
                held[share] += fact.low <= degree_of_share(G, share) <= fact.high
                said += fact.shown != NOISE
        with about(len(G), held):
            assert min(held.values()) >= 90  # of 95 expected; below 90 with probability 0.01
            assert said > 100


def test_a_page_warns_where_another_run_would_put_many_nodes_elsewhere(tmp_path):
    G = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)  # degree 43.6, and communities have 55 % of epsilon
    for epsilon in (1.5, 4.0):
        found = dpgraph.report(G, epsilon=epsilon, rng=1)
        assert len(found.communities.communities) > 1
        found.to_html(tmp_path / "page.html")
        warned = "another run would put many" in (tmp_path / "page.html").read_text(encoding="utf-8")
        assert warned is (epsilon < 2)


def test_a_line_of_the_map_joins_no_groups_by_noise():
    """Between the sixteen groups there is nothing: at two standard deviations three of 120 pairs would seem joined."""
    G = nx.disjoint_union_all([nx.complete_graph(12)] * 16)
    maps = [community_map(dpgraph.report(G, epsilon=6.0, rng=run).communities) for run in range(8)]
    assert sum("<path d=" in drawn for drawn in maps) <= 2
    joined = nx.complete_multipartite_graph(60, 60)
    assert "<path d=" in community_map(dpgraph.private_communities(joined, epsilon=6.0, communities=2, rng=0))


def test_the_parts_add_up_to_the_whole_budget_which_is_debited_once():
    for cut in (False, True):
        assert math.fsum(sections.shares(cut=cut).values()) == pytest.approx(1.0)
        accountant = dpgraph.PrivacyAccountant(epsilon=2.0)
        found = dpgraph.report(ODD["karate"], epsilon=2.0, cut=cut, accountant=accountant)
        assert accountant.spent == (2.0, 0.0)
        assert len(accountant._ledgers) == 1
        assert math.fsum(line.share for line in found.privacy.entries) == pytest.approx(1.0)
        with pytest.raises(dpgraph.BudgetExceededError):
            dpgraph.report(ODD["karate"], epsilon=0.1, accountant=accountant)


def test_an_error_in_a_part_says_that_the_whole_budget_is_spent(monkeypatch):
    def failing(*_, **__):
        raise ValueError("42 edges")

    monkeypatch.setattr("dpgraph.problems.counts.degrees.release_degree_tails", failing)
    with pytest.raises(dpgraph.DPGraphError, match=r"spent: epsilon = 2, delta = 0") as caught:
        dpgraph.report(ODD["karate"], epsilon=2.0)
    assert "42" not in str(caught.value)


def test_files_hold_what_the_page_says(tmp_path):
    found = dpgraph.report(ODD["a clique"], epsilon=8.0, cut=True)
    found.to_json(tmp_path / "report.json")
    found.to_csv(tmp_path / "report.csv")
    found.to_pdf(tmp_path / "report.pdf")
    content = json.loads((tmp_path / "report.json").read_text())
    with (tmp_path / "report.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [fact["name"] for fact in content["facts"]] == [row["name"] for row in rows]
    assert content["privacy"]["epsilon"] == 8.0
    assert len(content["communities"]) == len(content["sides"]) == 40
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert found._repr_html_().startswith("<iframe")


def test_a_large_twin_is_a_file_beside_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("dpgraph.interfaces.report.page._INLINE", 100)
    found = dpgraph.report(ODD["karate"], epsilon=4.0)
    found.to_html(tmp_path / "mails.html")
    assert 'href="mails-twin.csv"' in (tmp_path / "mails.html").read_text(encoding="utf-8")
    assert (tmp_path / "mails-twin.csv").read_text().startswith("source,target\n")


def test_a_quotient_lies_in_its_interval_as_often_as_it_says():
    """Laplace noise on a part and on the rest, of which the whole is the sum; normal noise on both, correlated."""
    rng = np.random.default_rng(20261126)
    for part, rest, scale in ((5.0, 3.0, 4.0), (100.0, 10.0, 4.0), (0.0, 50.0, 10.0), (700.0, 700.0, 5.0)):
        exact = np.array([part, rest])
        draws = exact + rng.laplace(scale=scale, size=(2000, 2))
        normal = exact + rng.normal(scale=scale, size=(2000, 2))
        variance = 2 * scale**2
        for noise, sample in ((variance, draws), (scale**2, normal)):
            ends = np.array([ratio_interval(a, a + b, Noise(noise, 2 * noise, noise)) for a, b in sample])
            held = np.mean((ends[:, 0] <= part / (part + rest)) & (part / (part + rest) <= ends[:, 1]))
            with about(part, rest, scale):
                assert held > 0.94
    assert ratio_interval(3.0, 4.0, Noise(100.0, 100.0, 0.0)) == (0.0, 1.0)
    contradicted = [ratio_interval(above, 40.0, Noise(1.0, 1.0, 0.0)) for above in (-50.0, 90.0)]
    assert contradicted == [(0.0, 0.0), (1.0, 1.0)]  # the nearest end


def test_the_demo_is_a_report_of_flights_without_network(tmp_path, monkeypatch, capsys):
    """The recipe of the Makefile, in this process."""
    command = re.search(r"\$\(BIN\)/dpgraph (report .*?[^\\])\n\n", (REPOSITORY / "Makefile").read_text(), re.DOTALL)[1]
    arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|[^\s\\]+', command)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    (tmp_path / "demo").mkdir()
    assert main(arguments) == 0
    out = capsys.readouterr().out
    low, high = re.search(r"connections +[0-9,]+ +([0-9,]+) to ([0-9,]+)", out).groups()
    # The tail of the noise beyond three times the half-width of 95 % is 0.05**3.
    assert abs(2834 - (number(low) + number(high)) / 2) < 1.5 * (number(high) - number(low))
    assert "total: epsilon = 4, delta = 0" in out
    assert (tmp_path / "demo" / "report.png").read_bytes().startswith(b"\x89PNG")
    assert "Flights" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


def number(text):
    return float(text.replace(",", ""))
