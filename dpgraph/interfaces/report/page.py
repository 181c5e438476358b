"""The page of a report: one HTML file without scripts, of released values only."""

from __future__ import annotations

import base64
import math
import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpgraph.datasets.writers import edge_columns
from dpgraph.interfaces.report import charts
from dpgraph.interfaces.report.facts import LEVEL, NAMES, Fact
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import csv_text, label_texts

if TYPE_CHECKING:
    from dpgraph.interfaces.report.result import Report

#: Characters of a synthetic twin that the page itself holds; rows of a table, names after a group, members in a fold.
_INLINE, _ROWS, _NAMES, _MEMBERS = 400_000, charts.NAMED, 4, 1000
#: Characters of a name in a table.
_LONG = 24
#: A twin whose edges are out of the range by more than this factor is said to be a poor likeness.
_NEAR = 0.95
#: From this epsilon on the odds may change so much that the page says so.
_WEAK = 8.0

#: Names in the ledger, for readers who have seen no other page.
_WORDS = (
    ("total weight", "number of connections, to plan with"),
    ("degrees", "connections of each node"),
    ("excess of degrees", "how unequal nodes are in their connections"),
    ("adjacency bits", "randomised yes or no about pairs of nodes"),
    (r"labels, sweep (\d+)", r"who belongs to which group, round \1"),
    ("labels, core", "who belongs to which group, nodes of many connections"),
    ("labels, last rows", "who belongs to which group, nodes of few connections"),
    ("weights between communities", "connections between groups, at the end"),
    (r"weights after sweep (\d+)", r"connections between groups, round \1"),
    ("edge count", "number of connections"),
    (r"triangle, width \d+", "how far one connection can move the triangles"),
    ("triangle count", "number of triangles"),
    (r"edges to earlier vertices, round (\d+)", r"connections to nodes that rank before a node, round \1"),
    ("weight of the densest part", "connections inside the densest part"),
    ("vertices of at least k edges", "how many nodes have at least 1, 2, 3, ... connections"),
    (r"fields, sweep (\d+)", r"who belongs to which side, round \1"),
    (r"fields, (\d+) sweeps", r"who belongs to which side, \1 rounds"),
    ("fields, all rows", "who belongs to which side"),
    ("fields, other rows", "who belongs to which side, nodes of few connections"),
    ("best of all cuts", "the best of all cuts of these few nodes"),
    ("cut weight", "connections across the cut, and inside its sides"),
)


class Twin(NamedTuple):
    """The synthetic twin: how many edges and triangles it has, as CSV, and the file for it if it is large."""

    edges: int
    triangles: int
    table: str
    file: str


def twin_of(report: Report, path: str | os.PathLike[str]) -> Twin:
    """Draw the twin of a page at this path."""
    A = report.twin.adjacency(0)
    table = csv_text(["source", "target"], edge_columns(A, report.twin.nodes))
    triangles = int(Subgraphs(A.indptr, A.indices).count("triangle"))
    return Twin(A.nnz // 2, triangles, table, f"{Path(path).stem}-twin.csv" if len(table) > _INLINE else "")


def page(report: Report, twin: Twin, *, inside: bool = True) -> str:
    """The page; a large twin is in its file, where the page is not `inside` something else."""
    facts = {fact.name: fact for fact in report.facts}
    labels = label_texts(report.communities.nodes)
    body = [
        _head(report, facts, len(labels)),
        _communities(report, facts, labels),
        _degrees(report, facts),
        _densest(report, facts, labels),
        _cut(report, facts),
        _twin(twin, facts["connections"], inside=inside),
        _expect(report),
        _ledger(report),
    ]
    title = escape(report.title)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{title}</title><style>{_style()}</style></head>'
        f"<body><main>{''.join(body)}<footer>Made with dpgraph from released values only. It holds nothing else, and "
        "may be published as it is.</footer></main></body></html>\n"
    )


@cache
def _style() -> str:
    return resources.files("dpgraph.interfaces.report").joinpath("style.css").read_text(encoding="utf-8")


def _head(report: Report, facts: dict[str, Fact], n: int) -> str:
    privacy, sizes = report.privacy, [len(group) for group in report.communities.communities]
    warn = ""
    if privacy.seeded:
        warn = "Seeded noise, for experiments: do not publish. Whoever knows the seed can take the noise away."
    elif privacy.epsilon >= _WEAK:
        warn = f"With ε = {privacy.epsilon:g} there is little protection: from 1 to 4 is usual for a report."
    groups = ", ".join(f"{size:,}" for size in sizes[:4]) + (", …" if len(sizes) > 4 else "")
    found = f"{len(sizes)}</b><span>of {groups} nodes" if len(sizes) > 1 else "1</b><span>no division stands out"
    cards = [_card(fact) for name, fact in facts.items() if name in _HEADLINES]
    cards.insert(0, f'<div class="card"><span class="what">nodes</span><b>{n:,}</b><span>public, exact</span></div>')
    cards.append(f'<div class="card"><span class="what">communities</span><b>{found}</span></div>')
    return (
        f'<header><p class="over">Private network report</p><h1>{escape(report.title)}</h1>'
        f"{f'<p class=warn>{warn}</p>' if warn else ''}"
        f'<div class="promise"><p>{_promise(privacy)}</p></div>'
        "</header>"
        f'<div class="cards">{"".join(cards)}</div>'
    )


_PROMISE = (
    "<b>What is protected: {}.</b> With or without {}, this page could have come out the same: it changes nobody's "
    "odds about them by more than a factor of {}, whatever else they know (differential privacy, "
    "ε&nbsp;=&nbsp;{:g}, δ&nbsp;=&nbsp;{:g}). Which nodes there are is public, and what many connections have in "
    "common is what this page is about."
)


def _promise(privacy: PrivacyReport) -> str:
    """What is protected, in two sentences."""
    edges = privacy.relation.partition(":")[2]
    what = "every single connection", "any one of them"
    if edges:  # of an accountant with edges_per_person
        what = f"up to {edges} connections of a node together", "any of these"
    return _PROMISE.format(*what, _odds(privacy.epsilon), privacy.epsilon, privacy.delta)


def _odds(epsilon: float) -> str:
    """E to the epsilon, rounded up."""
    if epsilon > 20:
        return f"10<sup>{math.ceil(epsilon / math.log(10)):,}</sup>"
    factor = math.exp(epsilon)
    return f"{math.ceil(10 * factor) / 10:.1f}" if factor < 10 else f"{math.ceil(factor):,}"


_HEADLINES = ("connections", "connections of a node, on average", "triangles")


def _communities(report: Report, facts: dict[str, Fact], labels: Sequence[str]) -> str:
    found = report.communities
    sizes = np.bincount(found.labels)
    if len(sizes) == 1:
        text = "At this ε no division into groups stands out of the noise: all nodes are one group."
        return _section("Communities", text, "")
    inside, modularity = facts["connections that stay inside a community"], facts["modularity"]
    if modularity.low > 0:
        text = "Inside a group there are more connections than chance would put there. Big dots have many connections."
    else:
        text = (
            "These groups do not stand out of the noise: chance alone may have made them. Take none of them as a fact."
        )
    if found.vague:
        text += (
            " At this ε the nodes have too few connections to say who belongs with whom: another run would put many of "
            "them elsewhere. Read the groups as a summary, not as a statement about a node."
        )
    rows = []
    order = np.argsort(-found.degrees, kind="stable")
    for k in range(min(len(sizes), _ROWS)):
        members = order[found.labels[order] == k][:_NAMES]
        most = ", ".join(_short(labels[at]) for at in members) + (" …" if sizes[k] > _NAMES else "")
        rows.append(
            f'<tr class="head"><td><span class="key {charts.colour(k)}"></span>{k}</td>'
            f'<td class="num">{sizes[k]:,}</td><td class="num" rowspan="2">{_inside(found, k, int(sizes[k]))}</td></tr>'
            f'<tr><td class="who" colspan="2">{most}</td></tr>'
        )
    if len(rest := sizes[_ROWS:]):
        rows.append(f'<tr><td>{len(rest)} more</td><td class="num">{rest.sum():,}</td><td></td></tr>')
    table = (
        '<div class="scroll"><table><thead><tr><th>group</th><th class="num">nodes</th>'
        f'<th class="num">connections inside</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )
    cards = f'<div class="cards few">{_card(inside, bar=True)}{_card(modularity, bar=True, note=_MODULARITY)}</div>'
    caption = (
        "Drawn from published values. Groups with more connections between them lie closer; a line joins two where "
    )
    figure = (
        f"<figure>{charts.community_map(found)}<figcaption>{caption}the noise leaves no doubt.</figcaption></figure>"
    )
    everybody = ""
    if len(labels) <= _MEMBERS:
        lists = (_members(labels, found.labels == k) for k in range(len(sizes)))
        text_of = "".join(f'<p class="members"><b>{k}:</b> {members}</p>' for k, members in enumerate(lists))
        everybody = _fold("Who is in which group", text_of)
    return _section("Communities", text, f'<div class="two">{figure}<div>{table}{cards}</div></div>{everybody}')


_MODULARITY = "0: as by chance; above 0.3: clear groups"


def _inside(found: Any, k: int, size: int) -> str:
    """Edges inside a group with their 95 % interval."""
    half = -math.log(1 - LEVEL) / math.sqrt(2) * (math.inf if found.block_stds is None else found.block_stds[k, k])
    value = float(found.block_weights[k, k])
    fact = Fact("", value, value - half, value + half, most=size * (size - 1) / 2)
    return f'{fact.shown}<br><span class="soft">{fact.interval}</span>'


def _degrees(report: Report, facts: dict[str, Fact]) -> str:
    shown = "".join(_card(fact) for name, fact in facts.items() if name in NAMES)
    caption = (
        "Share of the nodes that have at least so many connections. The band holds each share with probability 95 %."
    )
    figure = f"<figure>{charts.degree_chart(report.degrees)}<figcaption>{caption}</figcaption></figure>"
    text = "Whose numbers these are is not published here, only how many nodes have them."
    return _section(
        "How many connections a node has", text, f'<div class="two">{figure}<div class="cards few">{shown}</div></div>'
    )


def _densest(report: Report, facts: dict[str, Fact], labels: Sequence[str]) -> str:
    size = len(report.densest.vertices)
    fact = facts["connections of a node within the densest part"]
    if size in (1, len(labels)):
        text = "No part stands out: none was found that is denser than the whole network."
    elif fact.low <= facts["connections of a node, on average"].high:
        text = f"At this ε no part stands out: the {size:,} nodes that were found may be no denser than all nodes."
    else:
        text = f"These {size:,} nodes are joined more closely to each other than any other part that was found."
    members = f'<p class="members">{_members(labels, report.densest.labels == 1)}</p>'
    fold = _fold(f"Its {size:,} nodes", members) if 1 < size < len(labels) else ""
    return _beside("The densest part", text, fold, fact)


def _cut(report: Report, facts: dict[str, Fact]) -> str:
    if report.cut is None:
        return ""
    first, second = (len(side) for side in report.cut.partition)
    fact = facts["connections across the cut"]
    text = (
        f"Two sides of {first:,} and {second:,} nodes, chosen such that many connections run between them. "
        "Sides at random would have about half of all."
    )
    if fact.low <= 0.5:
        text += " At this ε these sides may be no better."
    return _beside("A cut", text, "", fact)


def _twin(twin: Twin, edges: Fact, *, inside: bool) -> str:
    text = (
        f"A made-up network with about the communities, degrees and triangles of the real one: {twin.edges:,} "
        f"connections and {twin.triangles:,} triangles. It was drawn from the numbers on this page, and holds no "
        "secret: share it, test software with it, teach with it."
    )
    if not _NEAR * edges.low <= twin.edges <= edges.high / _NEAR:
        text += " At this ε it is a poor likeness: it has more or fewer connections than the range above allows."
    size = f"{math.ceil(len(twin.table) / 1000):,} kB"
    link = f'<p><a class="button" download="twin.csv" href="{{}}">Download the twin (CSV, {size})</a></p>'
    if not twin.file:
        button = link.format("data:text/csv;base64," + base64.b64encode(twin.table.encode("utf-8", "replace")).decode())
    elif inside:
        button = '<p class="soft">It is too large for this view: to_html writes it beside the page.</p>'
    else:
        button = link.format(escape(twin.file, quote=True))
    return _section("A synthetic twin", text, button)


def _expect(report: Report) -> str:
    points = (
        "<b>Ranges.</b> The range beside a number holds the exact one in 95 of 100 such reports, each for itself.",
        "<b>Noise.</b> Differences smaller than the ranges mean nothing. Where a range holds nearly all that is "
        "possible, only its ends are given; “too noisy to say” stands where it holds all.",
        "<b>Sharper numbers.</b> Twice the ε would halve most ranges, and protect less. Larger networks have less "
        "noise for their size.",
        f"<b>Again.</b> Another report on the same network costs its ε on top of these {report.privacy.epsilon:g}.",
    )
    return _section("What to expect, and what is noise", "", "".join(f"<p>{point}</p>" for point in points))


def _ledger(report: Report) -> str:
    whole = report.privacy
    rows = []
    for part, title in _PARTS.items():
        lines = [line for line in whole.entries if line.name.startswith(f"{part}: ")]
        if lines:
            share = sum(line.share for line in lines)
            rows.append(f'<tr class="sum"><td colspan="2">{title}</td><td class="num">{share:.1%}</td></tr>')
        for line in lines:
            share_of_it = "at no further cost" if line.pairs.disjoint else f"{line.share:.1%}"
            law, name = f"{line.mechanism}, scale {line.scale:.3g}", escape(_words(line.name.removeprefix(f"{part}: ")))
            rows.append(f'<tr><td>{name}</td><td>{law}</td><td class="num">{share_of_it}</td></tr>')
    total = sum(line.share for line in whole.entries)
    rows.append(f'<tr class="sum"><td colspan="2">all</td><td class="num">{total:.1%}</td></tr>')
    text = (
        f"<p>Pure differential privacy, ε = {whole.epsilon:g}, δ = {whole.delta:g}; neighbouring networks differ by "
        f"{escape(whole.adjacency)}. The parts were fixed before anything was read. Groups, the map, the twin and all "
        "ranges were computed from what these lines released.</p>"
    )
    head = '<thead><tr><th>what was released</th><th>noise</th><th class="num">share of the whole ε</th></tr></thead>'
    return _fold(
        "How the privacy budget was spent",
        f'{text}<div class="scroll"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>',
    )


#: Calls that a report is made of, as their lines begin, and what they are called on its page.
_PARTS = {
    "counts": "Connections and triangles",
    "communities": "Communities",
    "degrees": "Connections of a node",
    "densest": "The densest part",
    "cut": "The cut",
}


def _words(name: str) -> str:
    for pattern, words in _WORDS:
        if re.fullmatch(pattern, name):
            return re.sub(pattern, words, name)
    return name


def _card(fact: Fact, *, bar: bool = False, note: str = "") -> str:
    noise = ' class="noise"' if fact.noisy else ""
    drawn = bar and not noise and fact.most > fact.least
    strip = charts.range_bar(fact.value, fact.low, fact.high, fact.least, fact.most) if drawn else ""
    below = "".join(f"<span>{text}</span>" for text in (fact.interval, note) if text)
    return f'<div class="card"><span class="what">{fact.name}</span><b{noise}>{fact.shown}</b>{below}{strip}</div>'


def _section(title: str, text: str, inside: str) -> str:
    return f"<section><h2>{title}</h2>{f'<p>{text}</p>' if text else ''}{inside}</section>"


def _beside(title: str, text: str, more: str, fact: Fact) -> str:
    cards = f'<div class="cards few">{_card(fact, bar=True)}</div>'
    return _section(title, "", f'<div class="two"><div><p>{text}</p>{more}</div>{cards}</div>')


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary><div>{inside}</div></details>"


def _short(label: str) -> str:
    return _name(label if len(label) <= _LONG else label[: _LONG - 1] + "…")


def _name(label: str) -> str:
    """In a list: a name that is written from right to left leaves its neighbours where they are."""
    return escape(label) if label.isascii() else f"<bdi>{escape(label)}</bdi>"


def _members(labels: Sequence[str], chosen: Iterable[bool]) -> str:
    names = [_name(label) for label, inside in zip(labels, chosen, strict=True) if inside]
    more = f" and {len(names) - _MEMBERS:,} more" if len(names) > _MEMBERS else ""
    return ", ".join(names[:_MEMBERS]) + more
