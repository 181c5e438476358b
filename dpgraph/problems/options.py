"""Options of the strategies that several problems share; public as names of :mod:`dpgraph.strategies`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BoundedIterates:
    """Vertices choose one after another, by noisy queries of what the others have chosen. Pure; any size.

    All noise of a vertex is drawn together; where a graph has few edges for its epsilon a vertex is asked once.
    """


@dataclass(frozen=True)
class CoherentAdjacency:
    """A low-rank matrix from the coherence-aware projector (DN25a). May halt.

    Parameters
    ----------
    rank, max_rank, regularization, coherence, certificate
        As for :func:`~dpgraph.private_normalized_adjacency`.
    denoise : bool or "auto", default "auto"
        Take noise out of the released rows. "auto" does so where they are published as an embedding, and not before a
        solver.
    low_degrees : {"floor", "halt"}, default "floor"
        What is done about a released degree that is too small: raise it to the certified bound, or halt if it is
        negative, as the papers do.
    """

    rank: int | Literal["auto"] = "auto"
    max_rank: int = 8
    regularization: float | Literal["auto"] = "auto"
    coherence: Literal["degree-corrected", "rank"] = "degree-corrected"
    certificate: Literal["stability", "gap-and-coherence"] = "stability"
    denoise: bool | Literal["auto"] = "auto"
    low_degrees: Literal["floor", "halt"] = "floor"


@dataclass(frozen=True)
class Coherence(CoherentAdjacency):
    """A low-rank matrix from the coherence-aware projector (DN25a), which is solved like an exact one. May halt.

    :meth:`paper` is Algorithm 7.13 of DN25a to the letter, for a 2-CSP 7.18, and for halves that of Theorem 7.19.

    Parameters
    ----------
    rank, max_rank, regularization, coherence, certificate, denoise, low_degrees
        As for :class:`CoherentAdjacency`.
    projection : {"auto", "spectral", "frobenius", "none"}
        Projection of the released matrix onto the nonnegative spectral ball (n <= 5000): "spectral" is the nearest
        point of DN25a's set (7.2) in spectral norm, "frobenius" that in Frobenius norm of the matrices of the set
        whose diagonal is zero. "auto" leaves a factored matrix as it is.
    degree : int, default 2
        Degree of the sum-of-squares relaxation that the solver rounds. Above 2, for few vertices only.
    seeds, rounds, search, local_search
        Of the solver, as in :func:`~dpgraph.max_cut`.
    random_degree : float, default 0
        Average degree, in edges of weight `max_weight`, of a public random graph that is added before anything is
        released, and whose expectation is subtracted from what is (DN25a's remark on Theorem 1.9). It raises the
        minimum degree. At most n/2.
    """

    projection: Literal["auto", "spectral", "frobenius", "none"] = "auto"
    degree: int = 2
    seeds: int = 0
    rounds: int = 64
    search: Literal["beam", "sampled"] = "beam"
    local_search: bool = True
    random_degree: float = 0.0

    @classmethod
    def paper(
        cls, rank: int, *, degree: int = 2, seeds: int = 2, rounds: int = 64, random_degree: float = 0.0
    ) -> "Coherence":
        """Algorithms 7.13 and 7.18 of DN25a, and that of Theorem 7.19, to the letter.

        1. Noisy degrees; halt if one is negative.
        2. Theorem 6.1: a private minimum degree, gap and coherence, each of which may halt; projector and core.
        3. Project onto the set (7.2) in spectral norm.
        4. A pseudo-distribution, conditioned on `seeds` random variables whose labels are drawn (Lemma 7.6), and the
           best of `rounds` times that labels are drawn independently (Algorithm 7.4). Nothing is improved afterwards.

        The constants, which the paper leaves open, are those of docs/theory.md. Three things are ours: halts that the
        paper's "with high probability" leaves out (see docs/theory.md, "Better than chance"), and
        :func:`~dpgraph.private_max_bisection` moves the few vertices that its halves, which are exact, are short of.

        Parameters
        ----------
        rank : int
            Rank of the released matrix.
        degree : int, default 2
            Of the pseudo-distribution. Above 2 for few vertices only; at 2 a seed is pinned, and the relaxation is
            solved again.
        seeds, rounds : int
            Seeds, of which the first is a mere gauge in a cut, and draws.
        random_degree : float, default 0
            As above: the remedy for small degrees.

        Examples
        --------
        >>> from dpgraph import strategies
        >>> strategies.Coherence.paper(2).low_degrees
        'halt'
        """
        return cls(
            rank=rank,
            regularization=0.0,
            coherence="rank",
            certificate="gap-and-coherence",
            projection="spectral",
            degree=degree,
            seeds=seeds,
            rounds=rounds,
            search="sampled",
            local_search=False,
            low_degrees="halt",
            random_degree=random_degree,
        )


@dataclass(frozen=True)
class Gaussian:
    """Noise on all entries of the matrix (DTTZ14): for n <= 5000."""


@dataclass(frozen=True)
class NoisyPower:
    """Noisy products with public bases (HP14): of a graph averaged, of a matrix a Krylov space."""


@dataclass(frozen=True)
class RandomizedResponse:
    """Every pair answers at random, and the answers are solved like an exact graph: for dense ones. Pure."""


@dataclass(frozen=True)
class PermuteAndFlip:
    """The noisily largest of all cuts of at most 20 vertices. Pure."""
