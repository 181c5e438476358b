"""Every fitted number of the package: what it steers, its unit and range, and what it was fitted to.

A number is *fitted* if it was chosen because results were better with it. None touches a guarantee: they decide from
public numbers how a budget is spent or what is done with released values. Numbers that a theorem, a unit, a limit of
memory or the accuracy of arithmetic gives stay where they are used.

The values were found by hand, on larger planted graphs, and were looked at on SNAP and Facebook100 graphs.
``python -m benchmarks.ablations`` replaces them by simpler ones on inputs that no table judges, and says what that
loses (``benchmarks/results/ablations_sweeps.md``), unless the docstring of a class names another script.
Shares are parts of a budget: of epsilon where the release is pure, else of mu**2, all in (0, 1).
"""

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Common:
    """What several releases have in common."""

    share: float = 0.05  # Share for what stands beside the main release: degrees, a density, weights of candidates
    total: float = 0.005  # Share for a total weight, or for a bit that says which way to take
    uneven: float = 0.2  # Degrees are uneven if their excess over the average is this share of all; in (0, 1)
    clear: float = 4.0  # Numbers that differ by so many standard deviations of their noise are different; > 0


@dataclass(frozen=True)
class Communities:
    """Communities by sweeps that read an edge once (releases.sweeps.communities); see benchmarks.ablations."""

    degree_share: float = 0.12  # Share for the degrees at epsilon <= 1, over the root of epsilon above
    block_share: float = 0.01  # Share for the weights after each sweep, and in the end
    # Labels to begin with = epsilon (root mean square degree)/signal_per_label; from two on there are two sweeps; > 0
    signal_per_label: float = 12.5
    least_labels: int = 3  # At least so many; >= 2
    most_labels: int = 20  # At most so many
    third_sweep: float = 6.0  # From so many on there is a third one; > 2
    apart: float = 1.3  # Before the last sweep labels are merged at this times the resolution; >= 1
    last: float = 1 / 3  # Rows of less than this times the average degree count once, after the sweeps; in [0, 1]
    head: float = 0.2  # Share of the rows that are the head, and read each other first where none answer; in (0, 1)
    # Rows answer pair by pair while the edges to rows before them are this many standard deviations of answers; > 0
    core_ratio: float = 3.5
    head_ratio: float = 1.4  # Beyond the head this many, times the cube of how many heads they are; > 0
    head_holds: float = 0.6  # unless the head holds more than this part of all ends of edges; in (0, 1)


@dataclass(frozen=True)
class Synthesis:
    """Shares of a synthetic graph (problems.synthesis); see benchmarks.ablations.

    The rest of the budget is for communities; at low degrees numbers get more. Their shares are divided by the root of
    epsilon where it exceeds 1. All were chosen on six graphs of the table (fb100-Caltech36, fb100-Rice31, ca-GrQc,
    wiki-Vote, lastfm-asia, ca-HepPh); the other six judge them.
    """

    # For the clustering coefficients and for the correlation of degrees; twice for triangles, half for edges
    number: float = 0.03
    tails: float = 0.08  # For the degree distribution
    degree_share: float = 0.2  # Of what sweeps for communities have, for the degrees

    @property
    def of_numbers(self) -> tuple[float, ...]:
        """Shares of edges, degree distribution, triangles, clustering and correlation."""
        return self.number / 2, self.tails, 2 * self.number, self.number, self.number


@dataclass(frozen=True)
class AnswerRule:
    """When all pairs answer by randomised response (problems.answer_rule); benchmarks/answer_rule.py judges it."""

    # The edges of a vertex times the number of labels less one are so many times the variance of its answers; > 0
    edges_per_noise: float = 5 / 3
    # Communities count as the fewest labels of their sweeps, and as so many where degrees are even: no vertex of many
    # edges begins a community there
    even_communities: int = 8


@dataclass(frozen=True)
class Power:
    """The noisy power method (releases.eigenspaces.power_method, denoise.products)."""

    iterations: float = 16.0  # iterations = 16 sqrt(mu): with little noise, what is missing is convergence; > 0
    least: int = 9  # At least so many
    extra: int = 3  # Columns beyond the rank, if
    wide: float = 40.0  # mu times the mean degree of the end of an edge is at least this; >= 0
    decay: float = 0.5  # A product that is k iterations old counts decay**k; in [0, 1]


@dataclass(frozen=True)
class Krylov:
    """The noisy block Krylov method (releases.eigenspaces.krylov): chosen on flat vectors above a bulk, n = 600."""

    first: int = 16  # A step gets this part of the budget at first, 1/first; >= 1
    most: int = 64  # At most so many steps
    # A direction is dropped if the root of its precision is below this part of that of the median product; in (0, 1)
    seen: float = 0.5
    # Unless the noise of all Ritz values with it is below this part of the least value that is sought; in (0, 1)
    harmless: float = 1 / 32
    found: float = 0.3  # A result says that it converged up to this cautious sine: benchmarks/estimates.py; in (0, 1)


@dataclass(frozen=True)
class Vector:
    """A single leading vector (releases.eigenspaces.vector, denoise.products)."""

    products: float = 3.6  # products = 3.6 sqrt(epsilon); > 0
    # At least 7 epsilon q/(w sqrt(n)) of them from degrees far from the vector, q their Rayleigh quotient; > 0
    far_products: float = 7.0
    # In the end a product that is k iterations old counts decay**k: candidates beside 0
    last_decays: tuple[float, ...] = (0.5, 1.0)
    # Candidates for the largest entry of an iterate, in units of its root mean square; > 1
    caps: tuple[float, ...] = (1.5, 2.0, 3.0, 4.5, 7.0, math.inf)


@dataclass(frozen=True)
class Residual:
    """How far degrees are from a leading eigenvector (releases.eigenspaces.vector)."""

    cap: float = 6.0  # Degrees are clipped at this many average degrees; > 0
    limit: float = 0.25  # Entries of A h - q h are clipped at this many quotients q = h'Ah/|h|^2; > 0
    share: float = 0.008  # Share of epsilon for each of |h|^2, h'Ah and |Ah - q h|^2
    # It is not asked for if the quotient is below this many w sqrt(n)/epsilon: products would not find the vector; > 0
    findable: float = 0.45
    large: float = 0.05  # A residual is large if it is above this by a standard deviation of its noise; > 0


@dataclass(frozen=True)
class GapTest:
    """Gap and coherence certified one after the other (releases.eigenspaces.gap_test)."""

    spectrum_share: float = 0.4  # Share for the spectrum


@dataclass(frozen=True)
class StabilityTest:
    """Gap and coherence certified together (releases.eigenspaces.stability_test)."""

    spectrum_share: float = 0.12  # Share for the spectrum, which only steers
    gap_share: float = 0.25  # The gap must stay above this part of the predicted one; in (0, 1)


@dataclass(frozen=True)
class Embedding:
    """Private embeddings: shares and guesses (problems.embedding)."""

    # Share for the degrees, for the r x r matrix, and for the smallest degree if it is asked for
    side_share: float = 0.02
    # regularization="auto" is this many average degrees, for products of a single vector four times as many; > 0. Large
    # values make all rows alike
    regularization: float = 16.0


@dataclass(frozen=True)
class EmbeddingRule:
    """What "auto" takes for an embedding (problems.embedding.normalized_adjacency)."""

    # A single vector: answers while the norm of a column of their noise is at most this; > 0
    vector_column: float = 1.8
    # From this epsilon on the residual of the degrees decides; from twice that on, a large one means answers; from four
    # times that on, answers always; > 0
    vector_by_residual: float = 1.5
    visible: float = 1.25  # Answers find what is beyond so many times the norm of their noise; >= 1
    # Products need so many times their noise with even degrees, sqrt(2 rank)/mu, as an average degree; > 0
    least_degree: float = 10.0


@dataclass(frozen=True)
class Counts:
    """Counts of subgraphs (releases.subgraphs); see benchmarks.ablations."""

    floor: float = 4.0  # Widths are raised to floor/epsilon times the next one at least, rounded up; > 0
    # Shares of epsilon for the one width of a pattern, and for each of two; their precision makes intervals narrow
    width_shares: tuple[float, float] = (0.15, 0.1)
    limit_weight: float = 20.0  # For intervals a width at a limit is so many times as likely as one between; >= 1
    floor_odds: float = 4.0  # These are the odds, at least, that a width released at its floor is there; > 0


@dataclass(frozen=True)
class Tails:
    """The rate at which vertices of degree k are expected (denoise.degree_tails); see benchmarks.ablations."""

    window: float = 0.125  # It is the mean over degrees up to this part of k away; in (0, 1)


@dataclass(frozen=True)
class Nodes:
    """Degree distributions that protect whole vertices (releases.nodes); see benchmarks/persons.py, --distributions."""

    # Blocks of degrees are so wide that the scale of the noise on a mean is this share of the vertices, or
    precise: float = 0.01
    wider: float = 0.4  # this part of the degree where a block starts, but
    widest: float = 1 / 16  # at most this part of the limit


@dataclass(frozen=True)
class Densest:
    """The densest part (releases.densest). Fitted to twelve graphs at epsilon 0.5 and 1; see benchmarks.ablations."""

    degree_share: float = 0.25  # For the degrees
    rounds_per_epsilon: float = 2.0  # 1 + rounds_per_epsilon epsilon rounds, two at least, but
    most_rounds: int = 7  # at most so many


COMMON: Final = Common()
COMMUNITIES: Final = Communities()
SYNTHESIS: Final = Synthesis()
ANSWER_RULE: Final = AnswerRule()
POWER: Final = Power()
KRYLOV: Final = Krylov()
VECTOR: Final = Vector()
RESIDUAL: Final = Residual()
GAP_TEST: Final = GapTest()
STABILITY_TEST: Final = StabilityTest()
EMBEDDING: Final = Embedding()
EMBEDDING_RULE: Final = EmbeddingRule()
COUNTS: Final = Counts()
TAILS: Final = Tails()
NODES: Final = Nodes()
DENSEST: Final = Densest()

__all__ = [name for name in dir() if name.isupper()]
