"""Communities by sweeps in which a row takes the label that most of its edges lead to, beyond what degrees explain.

Rows are set one after another, forwards through a public order and then backwards: a row counts its edges to each label
among the rows that have been set in the same sweep, so that a sweep reads an edge once, at the later of its ends. What
a row has counted in the sweep before, about the rows on its other side, is still known. Rows take one label, not
weights of several: where noise is large beside what a row counts, rows that hedge find nothing to agree on.

The sum of a row's counts says how many edges it has, with less noise than its released degree: degrees are learnt on
the way. What is expected of a label is its share of the degrees that were seen, times the number of edges counted.

Where degrees stand out of the noise, the rows of largest degree are a core. Every pair of them answers whether it is an
edge, by randomised response for all of the budget of the sweeps, and their labels are those of the answers
(:mod:`~dpgraph.denoise.answer_communities`). Sweeps count the other pairs. Elsewhere, if sweeps are more than one, the
rows of largest degree count each other first, once, for all of that budget too.

After each sweep the weights between all labels are released for a hundredth of the budget, and labels that belong
together are merged: later noise competes for fewer labels, and how many communities there are need not be asked for.
What is merged is never split again, so that before the last sweep labels have to belong together clearly.
The last sweep has half of the budget: labels of the others are best then. It releases no counts but choices, the noisy
maximum of the scores, whose noise has half the variance.

If sweeps are more than one, rows with less than a third of the average degree take no part in them. Others learn little
from them, and a sweep's part of the budget would not tell where they belong. They count once, when labels are merged,
for all of the budget of the sweeps.
When all labels are merged, the weights between communities are released afresh: estimates by them are unbiased.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.denoise.answer_communities import Excesses, communities_of_answers
from dpgraph.denoise.iterates import LARGEST_SCALE, is_even
from dpgraph.denoise.modularity import BlockWeights, merge_labels
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, NoisyMaximum, Released
from dpgraph.privacy.report import Pairs
from dpgraph.progress import BAR, tqdm
from dpgraph.releases.answers import answer_noise, release_flipped_graph, too_dear
from dpgraph.releases.sweeps.iteration import Core, degree_order, row_blocks
from dpgraph.releases.totals import release_block_weights, release_degrees
from dpgraph.tuning import COMMUNITIES
from dpgraph.typing import FloatArray, IntArray

#: A block of rows has this part of the rows before it, 1/16: twice as many blocks find no better communities.
_BEFORE = 16
#: Rows that have seen less than this part of all degrees choose by what they knew before.
_LEAST_WEIGHT = 1e-3
#: Fewer rows have no spectrum to speak of; the answers of more take long.
_LEAST_CORE, _LARGEST_CORE = 50, 3000
#: Rounds in which rows of the core move by answers and counts together.
_ROUNDS_AGAIN = 10


@dataclass(frozen=True)
class ReleasedCommunities:
    """Labels 0, 1, ... of all rows, weights between them, and estimates of the degrees; all released.

    `unshrunk` are degrees with nothing but noise, and its standard deviation.
    """

    labels: IntArray
    weights: BlockWeights
    degrees: FloatArray
    unshrunk: Released


def release_communities(
    graph: Graph, call: Call, *, communities: int | None, resolution: float, degree_share: float
) -> ReleasedCommunities:
    """Spend a pure call on communities of high modularity: as many as `communities`, or as pay off.

    *Guarantee.* The budget is shared by the degrees, the sweeps and the weights between labels. A sweep reads a pair
    {u, v} at the later of its rows only, in one entry of its counts (:func:`~dpgraph.bounds.sensitivity.label_counts`);
    where a label is chosen it moves the scores of one row in one direction
    (:func:`~dpgraph.bounds.sensitivity.label_scores`). Pairs inside the core, the first rows of a public order,
    answer (:func:`~dpgraph.releases.answers.release_flipped_graph`) or are read for all of the budget of the sweeps,
    and not again. So are pairs with one of the last rows of that order, by the later of their rows. The pair in which
    neighbours differ is spent on by the core, by the sweeps or by the last rows. Everything else is a function of what
    has been released, and of a generator.
    """
    degrees = _Degrees.release(graph, call.part(degree_share))
    n, for_blocks, epsilon = graph.n_vertices, COMMUNITIES.block_share, call.epsilon / graph.max_weight
    # Rows of many edges start communities. Further sweeps are worth their price if they can tell labels apart.
    labels = epsilon * degrees.typical / COMMUNITIES.signal_per_label
    sweeps = 1 + (labels >= 2) + (labels >= COMMUNITIES.third_sweep)
    for_sweeps = call.part(1 - degree_share - (sweeps + 1) * for_blocks)
    labels = round(min(resolution * labels, COMMUNITIES.most_labels))  # more where small communities are wanted
    labels = min(max(labels, COMMUNITIES.least_labels, communities or 1), n)
    run = _Run(graph, degrees, for_sweeps, sweeps, (labels, communities or 1), resolution)
    for sweep in tqdm(range(sweeps), desc="sweeps", disable=BAR.get() is None):
        run.sweep(sweep)
        run.forget_unused()
        weights = run.release_weights(call.part(for_blocks), f"weights after sweep {sweep + 1}")
        most, apart = (communities or n, 1.0) if sweep == sweeps - 1 else (n, COMMUNITIES.apart)
        groups, _ = merge_labels(weights, apart * resolution, least=communities or 1, most=most)
        run.merge(groups)
    run.set_last()
    # Noise by which labels were merged makes the communities look better than they are: it is not published as theirs.
    weights = run.release_weights(call.part(for_blocks), "weights between communities")
    return ReleasedCommunities(run.labels, weights, degrees.values, degrees.released)


def core_size(degrees: FloatArray, epsilon: float) -> int:
    """How many rows answer pair by pair, given decreasing (released) degrees in units of max_weight; 0 for none.

    Row k has about ``d_k (d_1 + ... + d_k)/2m`` edges to the rows before it; a sum of k answers has standard deviation
    ``s sqrt(k)``, s being :func:`~dpgraph.releases.answers.answer_noise`. Rows take part while the quotient is large.
    Where they are a head of all rows, large enough to have its communities, less is enough; the more there are, the
    better others that count their edges to the head can do without them. Of even degrees it would be a matter of chance
    which communities are in the head, and where a head holds most edges a part of it has them all.
    """
    first = degrees[: min(_LARGEST_CORE, degrees.size - 1)]
    size, whole = np.arange(1, first.size + 1), float(degrees.sum())
    ratio = first * np.cumsum(first) / whole / np.sqrt(size)
    head = COMMUNITIES.head * degrees.size
    uneven = degrees[: round(head)].sum() > COMMUNITIES.head_holds * whole
    head = math.inf if uneven or is_even(degrees) else min(head, first.size)
    least = np.where(size < head, COMMUNITIES.core_ratio, COMMUNITIES.head_ratio * (size / head) ** 3)
    core = int(np.max(size[ratio >= least * answer_noise(epsilon)], initial=0))
    return core if core > _LEAST_CORE and not too_dear(core, epsilon) else 0


@dataclass(frozen=True)
class _Degrees:
    """Estimated degrees, all positive, and the variance that is left of each: released ones, shrunk by what is noise.

    `released` is what they come from, `mean` its average, `typical` the root mean square.
    """

    released: Released
    values: FloatArray
    variance: FloatArray
    mean: float
    typical: float

    @classmethod
    def release(cls, graph: Graph, call: Call) -> "_Degrees":
        released = release_degrees(graph, call)
        noisy, std = released.value, min(released.std, LARGEST_SCALE)
        mean = min(max(float(noisy.mean()), graph.max_weight), LARGEST_SCALE)
        spread = float(np.mean((noisy - mean) ** 2))
        signal = max(spread - std**2, 0.0) / spread if spread > 0 else 0.0
        variance = std**2 * signal
        values = np.maximum(mean + signal * (noisy - mean), min(mean / 4, math.sqrt(variance) + _LEAST_WEIGHT * mean))
        typical = math.sqrt(max(float(np.mean(noisy**2)) - std**2, mean**2))
        return cls(released, values, np.full(values.size, variance), mean, typical)

    def learn(self, rows: IntArray, counted: FloatArray, part: float, variance: float, w: float) -> FloatArray:
        """Learn from noisy counts of the edges of rows to vertices that hold this part of all degrees.

        Which edges these are is a matter of chance, with the variance of w times the number of edges that are expected.
        Returns posterior means of what was counted.
        """
        values, left = self.values[rows], self.variance[rows]
        expected = values * part
        spread = left * part**2 + w * expected
        surprise = (counted - expected) / (spread + variance)
        self.values[rows] = np.maximum(values + left * part * surprise, _LEAST_WEIGHT * self.mean)
        self.variance[rows] = left * (1 - left * part**2 / (spread + variance))
        return np.maximum(expected + spread * surprise, 0.0)


@dataclass(frozen=True)
class _Law:
    """Noise of a sweep: its scale, the square of that, and the choice by scores that it is part of, if any."""

    scale: float
    variance: float
    maximum: NoisyMaximum | None


class _Run:
    """The public labels, what is known of the counts of each row, and how rows are set.

    `counts`: labels to begin with, and at least so many where a core begins with its own.
    ``known[side]`` are counts of the rows before (side 0) and after (side 1), less what degrees explain, times their
    precision: the number of edges that were counted over the variance, of the noise and of a Poisson variable.
    """

    def __init__(
        self, graph: Graph, degrees: _Degrees, call: Call, sweeps: int, counts: tuple[int, int], resolution: float
    ) -> None:
        self.graph, self.degrees, self.call, self.sweeps, self.resolution = graph, degrees, call, sweeps, resolution
        n, order = graph.n_vertices, degree_order(degrees.values, call.generator)
        answering = core_size(degrees.values[order] / graph.max_weight, call.epsilon)
        counting = round(COMMUNITIES.head * n) if sweeps > 1 and n > 1 else 0
        self.core, self.answers = Core(order, answering or counting), answering > 0
        others, least = self.core.others, COMMUNITIES.last * degrees.mean if sweeps > 1 and self.core.size else 0.0
        self.swept, self.last = np.split(others, [np.count_nonzero(degrees.values[others] >= least)])
        self.labels, (self.count, self.communities) = np.zeros(n, dtype=np.int64), counts
        self.known = np.zeros((2, n, self.count))
        self.excesses: Excesses | None = None

    def sweep(self, sweep: int) -> None:
        """Set all rows for this sweep's share of the budget."""
        seen = np.full(self.graph.n_vertices, -1, dtype=np.int32)
        rows, core, side, chooses = self.swept, self.core.rows, sweep % 2, sweep == self.sweeps - 1
        if sweep == 0 and self.answers:
            self._ask_core()
        elif sweep == 0 and core.size:
            self._set(core, seen, self._open("labels, core", self.core.pairs), side=0)
        share = 0.5 / (1 if chooses else self.sweeps - 1) if self.sweeps > 1 else 1.0
        law = self._open(f"labels, sweep {sweep + 1}", self.core.other_pairs, share, chooses=chooses)
        if not side:
            seen[core] = self.labels[core]
        self._set(rows[:: -1 if side else 1], seen, law, side=side)
        if side:
            self._set(core[::-1], seen, law, side=side, apart=True)
            if self.excesses and not chooses:
                self._ask_again(self.excesses)

    def set_last(self) -> None:
        """Set the rows of smallest degree by all others, and by those of them before, for all of the budget."""
        rows, seen, self.last = self.last, self.labels.astype(np.int32), self.last[:0]
        seen[rows] = -1
        if rows.size:
            self._set(rows, seen, self._open("labels, last rows", Pairs.LAST_ROWS), side=0)

    def _ask_core(self) -> None:
        """Set the rows of the core by answers about all of their pairs."""
        rows, degrees = self.core.rows, self.degrees.values
        flipped = release_flipped_graph(self.graph, self.call, core=self.core)
        self.excesses = flipped.excesses(degrees[rows], float(degrees.sum()), self.resolution)
        self.labels[rows] = communities_of_answers(self.excesses, self.call.generator)
        self.count = max(int(self.labels[rows].max()) + 1, self.communities)
        self.known = np.zeros((2, self.graph.n_vertices, self.count))
        self._know_answers(self.excesses)

    def _know_answers(self, excesses: Excesses) -> None:
        """What rows of the core know of each other, by their answers and the labels of now."""
        rows, w = self.core.rows, self.graph.max_weight
        sizes = np.bincount(self.labels[rows], minlength=self.count)
        expected = self.core.inside(self.degrees.values)[rows, None]
        precision = expected / (sizes * excesses.std**2 + w * expected)
        self.known[0, rows] = precision * excesses.of_groups(self.labels[rows], self.count)

    def _ask_again(self, excesses: Excesses) -> None:
        """Move rows of the core by their answers together with what they have counted of the other rows."""
        rows = self.core.rows
        for _ in range(_ROUNDS_AGAIN):
            self._know_answers(excesses)
            better = np.argmax(self.known[:, rows].sum(axis=0), axis=1)
            moves = self.call.generator.random(rows.size) < 0.5
            self.labels[rows] = np.where(moves, better, self.labels[rows])

    def forget_unused(self) -> None:
        """Number the labels that rows have, and drop the others."""
        used = np.unique(np.delete(self.labels, self.last))
        self.labels = np.searchsorted(used, self.labels)
        self.known, self.count = self.known[:, :, used], used.size

    def merge(self, groups: IntArray) -> None:
        """Replace each label by its group."""
        self.labels, self.count = groups[self.labels], int(groups.max()) + 1
        self.known = self.known @ np.eye(self.count)[groups]

    def release_weights(self, call: Call, name: str) -> BlockWeights:
        """Weights between labels. Rows that have none yet are a group of their own, which is left out."""
        groups = self.labels.copy()
        groups[self.last] = self.count
        values, std = release_block_weights(self.graph, groups, call, name=name)
        return BlockWeights.released(values[: self.count, : self.count], std)

    def _open(self, name: str, pairs: Pairs, share: float = 1.0, *, chooses: bool = False) -> _Law:
        """Enter in the ledger what rows read of these pairs, for a share of the budget: counts, or choices by them."""
        w, unit, call = self.graph.max_weight, self.graph.weight_unit, self.call.part(share)
        maximum = call.noisy_maximum(name, sensitivity.label_scores(w), unit, pairs=pairs) if chooses else None
        scale = maximum.scale if maximum else call.scale(name, sensitivity.label_counts(w), law="Laplace", pairs=pairs)
        return _Law(scale, min(scale, LARGEST_SCALE) ** 2, maximum)

    def _set(self, rows: IntArray, seen: NDArray[np.int32], law: _Law, *, side: int, apart: bool = False) -> None:
        """Set rows one after another by the labels `seen` (-1: none), and add these unless they stay `apart`."""
        weight, blocks, totals, known = self.degrees.values, row_blocks(rows, _BEFORE), np.zeros(self.count), seen >= 0
        np.add.at(totals, seen[known], weight[known])
        if law.maximum:
            law.maximum.expect(rows.size * self.count)
        else:
            self.call.noise.expect_laplace(rows.size * self.count, self.graph.weight_unit, law.scale)
        self.graph.expect(blocks)
        for block in blocks:
            if totals.any():  # otherwise counts are zero whatever the data
                self._choose(block, seen, totals, law, side)
            if not apart:
                seen[block] = self.labels[block]
                totals += np.bincount(self.labels[block], weights=weight[block], minlength=self.count)

    def _choose(self, block: IntArray, seen: NDArray[np.int32], totals: FloatArray, law: _Law, side: int) -> None:
        """Labels of a block by its private counts and by what is known of its other side."""
        exact, other = self.graph.count_rows(block, seen, self.count), self.known[1 - side, block]
        unit, w, total = self.graph.weight_unit, self.graph.max_weight, float(totals.sum())
        shares, part = totals / total, total / float(self.degrees.values.sum())
        expected = np.maximum(self.degrees.values[block] * part, _LEAST_WEIGHT * w)
        if law.maximum:
            precision = expected / (law.variance + w * expected)
            public = other / precision[:, None] - self.resolution * np.outer(expected, shares)
            self.labels[block] = law.maximum.choose(exact, public=public)
            return
        counts = self.call.noise.laplace_on_grid(exact, unit, law.scale)
        number = self.degrees.learn(block, counts.sum(axis=1), part, 2 * self.count * law.variance, w)
        precision = expected / (2 * law.variance + w * expected)
        self.known[side, block] = precision[:, None] * (counts - self.resolution * np.outer(number, shares))
        self.labels[block] = np.argmax(self.known[side, block] + other, axis=1)
