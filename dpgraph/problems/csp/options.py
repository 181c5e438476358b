"""Options of the strategies for private constraint problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpgraph.problems.embedding.options import DEFAULT_MAX_RANK
from dpgraph.releases.eigenspaces.projector import Rank

__all__ = ["BoundedIterates", "Coherence", "CoreResponse", "RandomizedResponse"]


@dataclass(frozen=True)
class BoundedIterates:
    """Variables choose one after another, by noisy readings of what the others have chosen; never halts.

    Parameters
    ----------
    noise : {"auto", "gaussian", "laplace"}, default "auto"
        ``"laplace"`` is pure: one to five sweeps that read an edge at one of its ends. ``"gaussian"`` needs delta, and
        affords 24 or more sweeps of a core of large degrees; several such calls compose exactly under one accountant.
        ``"auto"`` is pure with delta = 0 and below epsilon = 1.5; otherwise released degrees choose.
    """

    noise: Literal["auto", "gaussian", "laplace"] = "auto"


@dataclass(frozen=True)
class CoreResponse:
    """Every pair inside a core of large (released) degrees answers at random; the other vertices read once. Pure."""


@dataclass(frozen=True)
class RandomizedResponse:
    """Every pair answers at random, and the answers are labelled. Pure."""


@dataclass(frozen=True)
class Coherence:
    """A private matrix of low rank is labelled.

    Parameters
    ----------
    rank, max_rank, regularization, coherence
        As for :func:`~dpgraph.private_normalized_adjacency`.
    """

    rank: Rank = "auto"
    max_rank: int = DEFAULT_MAX_RANK
    regularization: float | Literal["auto"] = "auto"
    coherence: Literal["degree-corrected", "rank"] = "degree-corrected"
