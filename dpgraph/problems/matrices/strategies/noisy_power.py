"""Products of the matrix with public bases (HP14) that span a Krylov space: no gap is needed, and nothing halts."""

import numpy as np

from dpgraph.problems.matrices.call import Matrix, MatrixCall
from dpgraph.problems.matrices.strategy import Asked, Factors
from dpgraph.problems.options import NoisyPower
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.krylov import release_leading_space
from dpgraph.releases.eigenspaces.power_method import POWER_RANK


def _run(_options: NoisyPower, opened: MatrixCall, matrix: Matrix, asked: Asked) -> Factors:
    largest = opened.ranks[-1]
    rank = min(POWER_RANK, largest) if len(opened.ranks) > 1 else largest
    found = release_leading_space(
        matrix, rank, opened.neighbours, opened.call, symmetric=not opened.rectangular, largest=asked.signed
    )
    core = np.diag(found.values) if asked.core else None
    return Factors(found.bases[0], found.bases[-1], np.abs(found.values), found.estimated_sine, core)


STRATEGY = Strategy(
    "noisy-power",
    NoisyPower,
    pure=lambda _: False,
    run=_run,
    unread=("rank", "max_rank", "regularization", "denoise", "seeds", "rounds"),
    order=2,
)
