"""The strategies for subspaces of a private matrix."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import Call, Measurement
from dpgraph.problems.matrices.call import Matrix, MatrixCall
from dpgraph.problems.options import Gaussian, NoisyPower
from dpgraph.problems.strategy import Registry, Strategy
from dpgraph.releases.eigenspaces.krylov import release_leading_space
from dpgraph.releases.eigenspaces.noisy_matrix import leading_eigenvectors, leading_singular_vectors
from dpgraph.releases.eigenspaces.power_method import POWER_RANK
from dpgraph.releases.eigenspaces.projector import (
    CERTIFICATES,
    SLACK_SHARE,
    Certificate,
    release_core,
    release_subspace,
)
from dpgraph.releases.eigenspaces.spectrum import bounded, certified_values
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.typing import FloatArray


class MatrixRequest(NamedTuple):
    """What a function for symmetric matrices asks for: a core; algebraically largest eigenvalues, not those of size."""

    core: bool = False
    signed: bool = False


class Factors(NamedTuple):
    """Released orthonormal bases of leading left and right singular vectors: the same one of a symmetric matrix."""

    left: FloatArray
    right: FloatArray
    #: Noisy leading singular values, or |eigenvalues|.
    spectrum: FloatArray
    #: Of the result.
    estimated_sine: float
    #: Of a symmetric matrix, if it was asked for: the matrix is close to left core left'.
    core: Any = None


# --- the coherence-aware projector (DN25a), of which a rectangular matrix has two -------------------------------------

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


def _by_projector(options: Projector, opened: MatrixCall, matrix: Matrix, asked: MatrixRequest) -> Factors:
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

    The spectral norm changes by at most `norm`, as one eigenvalue does.
    """
    pairs, tolerance = certified_values(matrix, 1, norm, call, name="spectral norm", aim=norm)
    bound = norm + 2 * tolerance
    noisy = call.release(Measurement("spectral norm", np.abs(pairs.values[:1]), l2=bound, few=True))
    z = call.good_event("spectral norm upper bound", _SHIFT_SLACK)
    # One more sensitivity, so that the shift is large enough for the neighbour too.
    shift = max(noisy.number + z * noisy.std, 0.0) + bound
    n = matrix.shape[0]
    return matrix + shift * (sparse.eye_array(n, format="csr") if sparse.issparse(matrix) else np.eye(n))


# --- products with public bases (HP14) that span a Krylov space: no gap is needed, and nothing halts ------------------


def _by_products(_options: NoisyPower, opened: MatrixCall, matrix: Matrix, asked: MatrixRequest) -> Factors:
    largest = opened.ranks[-1]
    rank = min(POWER_RANK, largest) if len(opened.ranks) > 1 else largest
    found = release_leading_space(
        matrix, rank, opened.neighbours, opened.call, symmetric=not opened.rectangular, largest=asked.signed
    )
    core = np.diag(found.values) if asked.core else None
    return Factors(found.bases[0], found.bases[-1], np.abs(found.values), found.estimated_sine, core)


# --- Gaussian noise on all entries (Analyze Gauss, DTTZ14) ------------------------------------------------------------


def _check(_: Gaussian, shape: tuple[int, int]) -> None:
    if shape[0] * shape[1] > DENSE_LIMIT**2:
        raise InvalidParameterError(
            f"mechanism='gaussian' makes all entries noisy and is limited to {DENSE_LIMIT**2} of them; got shape "
            f"{shape}. Use mechanism='noisy-power'"
        )


def _by_noisy_entries(_options: Gaussian, opened: MatrixCall, matrix: Matrix, asked: MatrixRequest) -> Factors:
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    measurement = Measurement("matrix", dense, l2=opened.neighbours.frobenius)
    if opened.rectangular:
        noisy, std = opened.call.release(measurement)
        return Factors(*leading_singular_vectors(noisy, std, opened.ranks))
    noisy, std, _ = release_symmetric(measurement, opened.call)
    basis, values, spectrum, sine = leading_eigenvectors(noisy, std, opened.ranks, signed=asked.signed)
    return Factors(basis, basis, spectrum, sine, np.diag(values))


#: ``run(options, opened, matrix, asked)`` returns :class:`Factors`.
MATRICES = Registry(
    "eigenspaces and singular subspaces",
    Strategy(
        "coherence",
        Projector,
        pure=lambda _: False,
        run=_by_projector,
        check=lambda options, _: check_choice("certificate", options.certificate, CERTIFICATES),
        slack_share=lambda _: SLACK_SHARE,
    ),
    Strategy(
        "noisy-power",
        NoisyPower,
        pure=lambda _: False,
        run=_by_products,
        unread=("rank", "max_rank", "regularization", "denoise", "seeds", "rounds"),
    ),
    Strategy(
        "gaussian",
        Gaussian,
        pure=lambda _: False,
        run=_by_noisy_entries,
        check=_check,
        unread=("rank", "max_rank", "regularization", "projection", "seeds", "rounds"),
    ),
)
