"""Averaged products of the matrix with public iterates (HP14): no gap is needed, and nothing halts."""

import numpy as np

from dpgraph.problems.matrices.call import Matrix, MatrixCall
from dpgraph.problems.matrices.strategy import Asked, Factors
from dpgraph.problems.options import NoisyPower
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, release_low_rank_matrix
from dpgraph.tuning import POWER


def _run(_options: NoisyPower, opened: MatrixCall, matrix: Matrix, asked: Asked) -> Factors:
    largest, neighbours = opened.ranks[-1], opened.neighbours
    rank = min(POWER_RANK, largest) if len(opened.ranks) > 1 else largest
    if not opened.rectangular:
        Q, B = release_low_rank_matrix(matrix, rank, neighbours, opened.call, signed=asked.signed)
        return Factors(Q, Q, np.abs(np.diag(B)), B)
    n, m = opened.shape
    # The noise of a product is proportional to the longest rows of both halves of the iterate, and those of the shorter
    # side are about sqrt(m/n) times as long. Factors that leave (m/n)**(1/4) of it take noise from the shorter side,
    # and add little to the longer one, unless iterates are mostly noise.
    balance = 0.25 if opened.call.mu >= POWER.balance_mu else 0.0
    factors = (np.array([n, m]) / max(n, m)) ** balance
    S, rows = opened.symmetric(matrix), np.repeat(factors, (n, m))
    Q, B = release_low_rank_matrix(S, 2 * rank, neighbours, opened.call, rows=rows)
    (left, above), (right, below) = np.linalg.qr(Q[:n]), np.linalg.qr(Q[n:])
    turned, values, turned_right = np.linalg.svd(above @ B @ below.T)
    return Factors(left @ turned[:, :rank], right @ turned_right[:rank].T, values[:rank] / factors.prod())


STRATEGY = Strategy(
    "noisy-power",
    NoisyPower,
    pure=lambda _: False,
    run=_run,
    unread=("rank", "max_rank", "regularization", "denoise", "seeds", "rounds"),
    order=2,
)
