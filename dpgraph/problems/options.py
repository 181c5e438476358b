"""Options of the strategies that several problems share; public as names of :mod:`dpgraph.strategies`.

A problem that does not read an option takes its default only.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BoundedIterates:
    """Vertices choose one after another, by noisy readings of what the others have chosen. Pure; any size.

    Parameters
    ----------
    noise : {"auto", "laplace"}, default "auto"
        ``"laplace"``: one to five sweeps over all vertices that read an edge once each. ``"auto"``: 2 to 40 sweeps with
        K-norm noise that is drawn for all readings of a vertex together, or, where that would be noisier or a graph has
        few edges for its epsilon, ``"laplace"``.
    """

    noise: Literal["auto", "laplace"] = "auto"


#: Values of that option.
ITERATE_NOISES = ("auto", "laplace")


@dataclass(frozen=True)
class _Ranked:
    rank: int | Literal["auto"] = "auto"
    max_rank: int = 8
    regularization: float | Literal["auto"] = "auto"


@dataclass(frozen=True)
class _Denoised(_Ranked):
    denoise: bool = True
    seeds: int = 0
    rounds: int = 64


@dataclass(frozen=True)
class Coherence(_Ranked):
    """A low-rank matrix from the coherence-aware projector (DN25a), which is solved like an exact one. May halt.

    ``Coherence(rank=r, regularization=0.0, coherence="rank", certificate="gap-and-coherence", projection="spectral",
    degree=d, seeds=s)`` is Algorithm 7.13 of DN25a to the letter, and for a 2-CSP Algorithm 7.18.

    Parameters
    ----------
    rank, max_rank, regularization, coherence, certificate
        As for :func:`~dpgraph.private_normalized_adjacency`.
    denoise : bool or "auto", default "auto"
        Take noise out of the released rows, as for :func:`~dpgraph.private_normalized_adjacency`. "auto" does so where
        they are published as an embedding, and not before a solver.
    projection : {"auto", "spectral", "frobenius", "none"}
        Projection of the released matrix onto the nonnegative spectral ball, in either norm (n <= 5000). "auto" leaves
        a factored matrix as it is.
    degree : int, default 2
        Degree of the sum-of-squares relaxation that the solver rounds. Above 2, for few vertices only.
    seeds, rounds : int
        Of the solver, as in :func:`~dpgraph.max_cut`.
    """

    coherence: Literal["degree-corrected", "rank"] = "degree-corrected"
    certificate: Literal["stability", "gap-and-coherence"] = "stability"
    denoise: bool | Literal["auto"] = "auto"
    projection: Literal["auto", "spectral", "frobenius", "none"] = "auto"
    degree: int = 2
    seeds: int = 0
    rounds: int = 64


@dataclass(frozen=True)
class Gaussian(_Ranked):
    """Noise on all entries of the matrix (DTTZ14), for n <= 5000.

    Parameters
    ----------
    rank, max_rank, regularization, seeds, rounds
        As for :class:`Coherence`.
    projection : {"auto", "spectral", "frobenius", "none"}
        Projection of the noisy matrix onto the nonnegative spectral ball, in either norm. "auto" is "frobenius" up to
        n = 1000, and "none" above.
    """

    projection: Literal["auto", "spectral", "frobenius", "none"] = "auto"
    seeds: int = 0
    rounds: int = 64


@dataclass(frozen=True)
class NoisyPower(_Denoised):
    """Noisy products with public bases (HP14), all of which are kept: of a graph averaged, of a matrix a Krylov space.

    Parameters
    ----------
    rank, max_rank, regularization, denoise, seeds, rounds
        As for :class:`Coherence`; `rank` "auto" is 2.
    """


@dataclass(frozen=True)
class RandomizedResponse(_Denoised):
    """Every pair answers at random, and the answers are solved like an exact graph: for dense ones. Pure.

    Parameters
    ----------
    rank, max_rank, regularization, denoise, seeds, rounds
        As for :class:`Coherence`.
    """


@dataclass(frozen=True)
class CoreResponse:
    """Pairs in a core of large (released) degrees answer at random, others look once: for a large epsilon. Pure."""


@dataclass(frozen=True)
class PermuteAndFlip:
    """The noisily largest of all cuts of at most 20 vertices. Pure."""
