"""Communities by sweeps in which a row takes the label that most of its edges lead to, beyond what degrees explain.

Rows are set one after another, forwards through a public order and then backwards, and so on, as in
:mod:`~dpgraph.releases.sweeps.one_sided`: a row counts its edges to each label among the rows that have been set in the
same sweep, so that a sweep reads an edge once, at the later of its ends. What a row has counted in the sweep before,
about the rows on its other side, is still known. Rows answer with one label, not with weights of several: where noise
is large beside what a row reads, answers that hedge find nothing to agree on.

The sum of a row's counts says how many edges it has, with less noise than its released degree: degrees are learnt on
the way. What is expected of a label is its share of the degrees that were seen, times the number of edges counted.

Where degrees stand out of the noise, the rows of largest degree are a core. Every pair of them answers whether it is an
edge, by randomised response for all of the budget of the sweeps, and their labels are those of the answers
(:mod:`~dpgraph.denoise.answer_communities`). Sweeps read the other pairs. Where sweeps are two and there is no such
core, the rows of largest degree read each other once, for all of that budget too.

After each sweep the weights between all labels are released for a hundredth of the budget, and labels that belong
together are merged: later noise competes for fewer labels, and how many communities there are need not be asked for.
The last sweep releases no counts but choices, the noisy maximum of the scores, whose noise has half the variance.
When all labels are merged, the weights between communities are released afresh: estimates by them are unbiased.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from tqdm import tqdm

from dpgraph.bounds import sensitivity
from dpgraph.denoise.answer_communities import Excesses, communities_of_answers
from dpgraph.denoise.degree_readings import Reading, edges_counted
from dpgraph.denoise.modularity import BlockWeights, merge_labels
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, NoisyMaximum
from dpgraph.progress import BAR
from dpgraph.releases.answers import answer_noise, release_flipped_graph
from dpgraph.releases.sweeps.iteration import Core, degree_order, row_blocks
from dpgraph.releases.totals import release_block_weights, release_degrees
from dpgraph.tuning import COMMUNITIES, CommunitySweeps
from dpgraph.typing import FloatArray, IntArray

#: Squares of larger scales overflow.
_LARGEST_SCALE = 1e150
#: Rows that have seen less than this part of all degrees choose by what they knew before.
_LEAST_WEIGHT = 1e-3

_Number = float | FloatArray


@dataclass(frozen=True)
class ReleasedCommunities:
    """Labels 0, 1, ... of all rows, weights between them, and estimates of the degrees; all released."""

    labels: IntArray
    weights: BlockWeights
    degrees: FloatArray


def release_communities(
    graph: Graph,
    call: Call,
    *,
    communities: int | None,
    resolution: float,
    shares: CommunitySweeps | None = None,
) -> ReleasedCommunities:
    """Spend a pure call on communities of high modularity: as many as `communities`, or as pay off.

    The first of two unequal sweeps reads rows of small degree, which come last, with nearly all of their edges.

    *Guarantee.* The budget is shared by the degrees, the sweeps and the weights between labels. A sweep reads a pair
    {u, v} at the later of its rows only, in one entry of its counts (:func:`~dpgraph.bounds.sensitivity.label_counts`);
    where a label is chosen it moves the scores of one row in one direction
    (:func:`~dpgraph.bounds.sensitivity.label_scores`). Pairs inside the core, the first rows of a public order, answer
    (:func:`~dpgraph.releases.answers.release_flipped_graph`) or are read for all of the budget of the sweeps, and not
    again: the pair in which neighbours differ is spent on inside the core or outside. Everything else is a function of
    what has been released, and of a generator.
    """
    shares = shares or CommunitySweeps(COMMUNITIES.degree_share)
    degrees = _Degrees.release(graph, call.part(shares.degrees), shares.dispersion)
    n, for_blocks = graph.n_vertices, COMMUNITIES.block_share
    schedule = _Schedule.of(degrees, call.epsilon / graph.max_weight, communities or 1, resolution)
    if shares.first is not None:
        schedule = replace(schedule, sweeps=min(schedule.sweeps, 2), first=shares.first)
    for_sweeps = call.part(1 - shares.degrees - (schedule.sweeps + 1) * for_blocks)
    released = replace(degrees, values=degrees.values.copy(), variance=degrees.variance.copy(), dispersion=0.0)
    run = _Run(graph, degrees, for_sweeps, schedule, shares.core_best)
    for sweep in tqdm(range(schedule.sweeps), desc="sweeps", disable=BAR.get() is None):
        run.sweep(sweep)
        run.forget_unused()
        name, last = f"weights after sweep {sweep + 1}", sweep == schedule.sweeps - 1
        weights = BlockWeights.released(*release_block_weights(graph, run.labels, call.part(for_blocks), name=name))
        most, margin = (communities or n, 0.0) if last else (n, COMMUNITIES.merge_margin)
        groups, _ = merge_labels(weights, resolution, least=communities or 1, most=most, margin=margin)
        run.merge(groups)
    # Noise by which labels were merged makes the communities look better than they are: it is not published as theirs.
    name = "weights between communities"
    weights = BlockWeights.released(*release_block_weights(graph, run.labels, call.part(for_blocks), name=name))
    if len(run.passes) == 2:  # one of them alone has hardly seen the neighbours of the rows that come first
        between = np.maximum(weights.symmetric, 0.0)
        counted, part, variance = edges_counted(run.passes, degrees.values, run.labels, between)
        rows = np.flatnonzero(part)
        released.learn(rows, counted[rows], part[rows], variance[rows], graph.max_weight * (1 - part[rows]))
        degrees.values[rows] = released.values[rows]
    return ReleasedCommunities(run.labels, weights, degrees.values)


def core_size(degrees: FloatArray, epsilon: float, least: float) -> int:
    """How many rows answer pair by pair, given decreasing (released) degrees in units of max_weight; 0 for none.

    Row k has about ``d_k (d_1 + ... + d_k)/2m`` edges to the rows before it; a sum of k answers has standard deviation
    ``s sqrt(k)``, s being :func:`~dpgraph.releases.answers.answer_noise`. Rows take part while the quotient is large,
    and none do if it is below `least` everywhere.
    """
    first = degrees[: min(COMMUNITIES.most_core, degrees.size - 1)]
    ratio = first * np.cumsum(first) / degrees.sum() / np.sqrt(np.arange(1, first.size + 1))
    ratio[: COMMUNITIES.least_core] = 0.0
    best, noise = float(ratio.max(initial=0.0)), answer_noise(epsilon)
    if best == 0.0 or best < least * noise:
        return 0
    return int(np.flatnonzero(ratio >= min(COMMUNITIES.core_ratio * noise, COMMUNITIES.core_part * best))[-1]) + 1


@dataclass(frozen=True)
class _Degrees:
    """Estimated degrees, all positive, and the variance that is left of each: released ones, shrunk by what is noise.

    `mean` is the released average, `typical` the root mean square. Of a row's edges, the part p leads to vertices with
    the part p of all degrees, with standard deviation `dispersion` p (1 - p) beside chance: neighbours may come early.
    """

    values: FloatArray
    variance: FloatArray
    mean: float
    typical: float
    dispersion: float

    @classmethod
    def release(cls, graph: Graph, call: Call, dispersion: float) -> "_Degrees":
        noisy, std = release_degrees(graph, call)
        std = min(std, _LARGEST_SCALE)
        mean = max(float(noisy.mean()), graph.max_weight)
        spread = float(np.mean((noisy - mean) ** 2))
        signal = max(spread - std**2, 0.0) / spread if spread > 0 else 0.0
        variance = std**2 * signal
        values = np.maximum(mean + signal * (noisy - mean), min(mean / 4, math.sqrt(variance) + _LEAST_WEIGHT * mean))
        typical = math.sqrt(max(float(np.mean(noisy**2)) - std**2, mean**2))
        return cls(values, np.full(values.size, variance), mean, typical, dispersion)

    def learn(self, rows: IntArray, counted: FloatArray, part: _Number, variance: _Number, w: _Number) -> FloatArray:
        """Learn from noisy counts of the edges of rows to vertices that hold this part of all degrees.

        Which edges these are is a matter of chance, with the variance of w times the number of edges that are expected.
        Returns posterior means of what was counted.
        """
        values, left = self.values[rows], self.variance[rows]
        expected = values * part
        spread = left * part**2 + w * expected + (self.dispersion * expected * (1 - part)) ** 2
        surprise = (counted - expected) / (spread + variance)
        self.values[rows] = np.maximum(values + left * part * surprise, _LEAST_WEIGHT * self.mean)
        self.variance[rows] = left * (1 - left * part**2 / (spread + variance))
        return np.maximum(expected + spread * surprise, 0.0)


@dataclass(frozen=True)
class _Schedule:
    """How many sweeps, labels to begin with, labels at least where a core begins with its own, and the resolution.

    `first` is the share of the first of two sweeps, if they are not equal.
    """

    sweeps: int
    labels: int
    communities: int
    resolution: float
    first: float | None = None

    @classmethod
    def of(cls, degrees: _Degrees, epsilon: float, communities: int, resolution: float) -> "_Schedule":
        """By released degrees and the epsilon for an edge of weight 1.

        The rows of many edges start communities: they decide whether there is a second sweep, and labels are as many as
        they can tell apart, more where small communities are wanted.
        """
        mean, typical = epsilon * degrees.mean, epsilon * degrees.typical
        sweeps = 1 + (typical >= COMMUNITIES.second_sweep) + sum(mean >= signal for signal in COMMUNITIES.sweep_signals)
        labels = min(resolution * typical / COMMUNITIES.signal_per_label, COMMUNITIES.most_labels)
        labels = max(round(labels), COMMUNITIES.least_labels, communities)
        return cls(sweeps, min(labels, degrees.values.size), communities, resolution)

    def part(self, call: Call, sweep: int) -> Call:
        """What a sweep may spend."""
        if self.first is None or self.sweeps == 1:
            return call.equal_part(self.sweeps)
        return call.split(self.first, 1 - self.first)[sweep]


@dataclass(frozen=True)
class _Law:
    """Noise of a sweep: its scale, the square of that, and the choice by scores that it is part of, if any."""

    scale: float
    variance: float
    maximum: NoisyMaximum | None


class _Run:
    """The public labels, what is known of the counts of each row, and how rows are set.

    ``known[side]`` are counts of the rows before (side 0) and after (side 1), less what degrees explain, times how much
    they say: the number of edges that were counted over the variance.
    """

    def __init__(self, graph: Graph, degrees: _Degrees, call: Call, schedule: _Schedule, core_best: float) -> None:
        self.graph, self.degrees, self.call, self.schedule = graph, degrees, call, schedule
        n = graph.n_vertices
        order = degree_order(degrees.values, call.generator)
        reading = round(COMMUNITIES.head * n) if schedule.sweeps == COMMUNITIES.head_sweeps and n > 1 else 0
        least = core_best * COMMUNITIES.core_best
        answering = core_size(degrees.values[order] / graph.max_weight, call.epsilon, least)
        self.answers, self.core = answering > 0, Core(order, answering or reading)
        self.labels = np.zeros(n, dtype=np.int64)
        self.count = schedule.labels
        self.known = np.zeros((2, n, self.count))
        self.excesses: Excesses | None = None
        self.passes: list[list[Reading]] = []

    def sweep(self, sweep: int) -> None:
        """Set all rows for this sweep's share of the budget."""
        if sweep == 0 and self.answers:
            self._ask_core()
        elif sweep == 0 and self.core.size:
            self._set_core()
        rows, side = self.core.others, sweep % 2
        seen, law = self._none_seen(), self._open(sweep)
        if side:
            self._set(rows[::-1], seen, law, side=side)
            self._set(self.core.rows[::-1], seen, law, side=side, apart=True)
            if self.excesses is not None and law.maximum is None:
                self._ask_again(self.excesses)
        else:
            seen[self.core.rows] = self.labels[self.core.rows]
            self._set(rows, seen, law, side=side)

    def _set_core(self) -> None:
        """Set the rows of the core by each other, once, or forwards and then back if sweeps are unequal."""
        calls = [self.schedule.part(self.call, side) for side in (0, 1)] if self.schedule.first else [self.call]
        for side, call in enumerate(calls):
            rows, seen = self.core.rows[:: -1 if side else 1], self._none_seen()
            self.passes.append([])
            self._set(rows, seen, self._open(0, core=call), side=side, readings=self.passes[side])
        self.known = np.stack([self.known.sum(axis=0), np.zeros_like(self.known[0])])

    def _ask_core(self) -> None:
        """Set the rows of the core by answers about all of their pairs."""
        rows, degrees = self.core.rows, self.degrees.values
        flipped = release_flipped_graph(self.graph, self.call, core=self.core)
        self.excesses = Excesses(
            flipped.gain * flipped.adjacency,
            flipped.gain * flipped.flip,
            flipped.std,
            flipped.max_weight,
            degrees[rows],
            float(degrees.sum()),
            self.schedule.resolution,
        )
        self.labels[rows] = communities_of_answers(self.excesses, self.call.generator)
        self.count = max(int(self.labels[rows].max()) + 1, self.schedule.communities)
        self.known = np.zeros((2, self.graph.n_vertices, self.count))
        self._know_answers(self.excesses)

    def _know_answers(self, excesses: Excesses) -> None:
        """What rows of the core know of each other, by their answers and the labels of now."""
        rows, w = self.core.rows, self.graph.max_weight
        member = np.eye(self.count)[self.labels[rows]]
        expected = self.core.inside(self.degrees.values)[rows, None]
        says = expected / (member.sum(axis=0) * excesses.std**2 + COMMUNITIES.sampling * w * expected)
        self.known[0, rows] = says * excesses.with_groups(member)

    def _ask_again(self, excesses: Excesses) -> None:
        """Move rows of the core by their answers together with what they have counted of the other rows."""
        rows = self.core.rows
        for _ in range(COMMUNITIES.rounds_again):
            self._know_answers(excesses)
            better = np.argmax(self.known[:, rows].sum(axis=0), axis=1)
            moves = self.call.generator.random(rows.size) < COMMUNITIES.moving_part
            self.labels[rows] = np.where(moves, better, self.labels[rows])

    def forget_unused(self) -> None:
        """Number the labels that rows have, and drop the others."""
        used, self.labels = np.unique(self.labels, return_inverse=True)
        self.known, self.count = self.known[:, :, used], used.size

    def merge(self, groups: IntArray) -> None:
        """Replace each label by its group."""
        self.labels, self.count = groups[self.labels], int(groups.max()) + 1
        self.known = self.known @ np.eye(self.count)[groups]

    def _open(self, sweep: int, *, core: Call | None = None) -> "_Law":
        """Enter a sweep in the ledger, or what the rows of the core read of each other."""
        sweeps, w, unit = self.schedule.sweeps, self.graph.max_weight, self.graph.weight_unit
        chooses = sweep == sweeps - 1 and not core
        call = core or self.schedule.part(self.call, sweep)
        pairs = self.core.pairs if core else self.core.other_pairs
        name = f"labels, {'core' if core else f'sweep {sweep + 1}'}"
        maximum = call.noisy_maximum(name, sensitivity.label_scores(w), unit, pairs=pairs) if chooses else None
        scale = maximum.scale if maximum else call.scale(name, sensitivity.label_counts(w), law="Laplace", pairs=pairs)
        return _Law(scale, min(scale, _LARGEST_SCALE) ** 2, maximum)

    def _set(
        self,
        rows: IntArray,
        seen: IntArray,
        law: "_Law",
        *,
        side: int,
        apart: bool = False,
        readings: list[Reading] | None = None,
    ) -> None:
        """Set rows one after another by the labels that are `seen` (-1: none), and add these; `apart`, in the end only.

        What they count is added to the `readings`.
        """
        weight, blocks, totals, known = self.degrees.values, row_blocks(rows), np.zeros(self.count), seen >= 0
        np.add.at(totals, seen[known], weight[known])
        self.graph.expect(blocks)
        for block in blocks:
            counts = np.zeros((block.size, self.count))
            if totals.any():  # otherwise counts are zero whatever the data
                counts = self._choose(block, seen, totals, law, side)
            if readings is not None:
                readings.append(Reading(block, counts, 2 * law.variance, self.labels[block]))
            if not apart:
                seen[block] = self.labels[block]
                totals += np.bincount(self.labels[block], weights=weight[block], minlength=self.count)

    def _none_seen(self) -> IntArray:
        return np.full(self.graph.n_vertices, -1, dtype=np.min_scalar_type(-self.count))

    def _choose(self, block: IntArray, seen: IntArray, totals: FloatArray, law: "_Law", side: int) -> FloatArray:
        """Labels of a block by its private counts and by what is known of its other side; returns released counts."""
        exact, other = self.graph.count_rows(block, seen, self.count), self.known[1 - side, block]
        unit, w = self.graph.weight_unit, self.graph.max_weight
        shares, part = totals / totals.sum(), float(totals.sum() / self.degrees.values.sum())
        expected = np.maximum(self.degrees.values[block] * part, _LEAST_WEIGHT * w)
        if law.maximum:
            says = expected / (law.variance + COMMUNITIES.sampling * w * expected)
            public = other / says[:, None] - self.schedule.resolution * np.outer(expected, shares)
            self.labels[block] = law.maximum.choose(exact, public=public)
            return np.zeros_like(exact)
        counts = self.call.noise.laplace_on_grid(exact, unit, law.scale)
        number = self.degrees.learn(block, counts.sum(axis=1), part, 2 * self.count * law.variance, w)
        says = expected / (2 * law.variance + COMMUNITIES.sampling * w * expected)
        excess = counts - self.schedule.resolution * np.outer(number, shares)
        self.known[side, block] = says[:, None] * excess
        self.labels[block] = np.argmax(self.known[side, block] + other, axis=1)
        return counts
