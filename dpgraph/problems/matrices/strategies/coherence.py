"""The coherence-aware projector (DN25a), of which a rectangular matrix has two."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.matrices.call import Matrix, MatrixCall
from dpgraph.problems.matrices.strategy import Asked, Factors
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.projector import (
    CERTIFICATES,
    SLACK_SHARE,
    Certificate,
    release_core,
    release_subspace,
)
from dpgraph.releases.eigenspaces.spectrum import bounded, certified_values

_CORE_SHARE = 0.1
_SHIFT_SHARE = 0.1
_SHIFT_SLACK = 0.2


@dataclass(frozen=True)
class Projector:
    """Noise on the projector, scaled to the coherence (DN25a). Chooses a rank by the spectrum. May halt.

    Parameters
    ----------
    certificate : {"gap-and-coherence", "stability"}
        How the motion of the eigenspace is bounded: the paper's tests, or the number of neighbours until it becomes
        unstable (:mod:`dpgraph.bounds.stability`), which needs less of a gap if rows of the eigenvectors are alike.
    """

    certificate: Certificate = "gap-and-coherence"


def _run(options: Projector, opened: MatrixCall, matrix: Matrix, asked: Asked) -> Factors:
    call, for_core, for_shift = opened.call, opened.call.part(_CORE_SHARE), opened.call.part(_SHIFT_SHARE)
    within, headroom = bounded(matrix, opened.neighbours.norm)
    if asked.signed:
        within, call = _shifted(within, opened.neighbours.norm, for_shift), call.without(for_shift)
    main = call.without(for_core) if asked.core else call
    found = release_subspace(opened.input(within, headroom), options.certificate, main)
    basis, spectrum = found.basis, found.spectrum
    if opened.rectangular:
        n, r = opened.shape[0], basis.shape[1] // 2
        return Factors(basis[:n, :r], basis[n:, r:], spectrum[::2], found.estimated_sine)
    released = release_core(matrix, basis, opened.neighbours, for_core) if asked.core else None
    return Factors(basis, basis, spectrum, found.estimated_sine, released)


def _shifted(matrix: Matrix, norm: float, call: Call) -> Matrix:
    """The matrix plus a private upper bound on its spectral norm: its eigenvalues are then in the order of their sizes.

    The spectral norm moves by at most `norm`, as one eigenvalue does.
    """
    pairs, tolerance = certified_values(matrix, 1, norm, call, name="spectral norm", aim=norm)
    bound = norm + 2 * tolerance
    noisy = call.release(Measurement("spectral norm", np.abs(pairs.values[:1]), l2=bound, few=True))
    z = call.good_event("spectral norm upper bound", _SHIFT_SLACK)
    # One more sensitivity, so that the shift is large enough for the neighbour too.
    shift = max(noisy.number + z * noisy.std, 0.0) + bound
    n = matrix.shape[0]
    return matrix + shift * (sparse.eye_array(n, format="csr") if sparse.issparse(matrix) else np.eye(n))


STRATEGY = Strategy(
    "coherence",
    Projector,
    pure=lambda _: False,
    run=_run,
    check=lambda options, _: check_choice("certificate", options.certificate, CERTIFICATES),
    slack_share=lambda _: SLACK_SHARE,
    order=1,
)
