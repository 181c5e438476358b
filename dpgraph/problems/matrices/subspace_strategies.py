"""The strategies for subspaces of a private matrix."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import LEAST_MU, Call, Measurement
from dpgraph.problems.driver import Problem, Registry, Strategy
from dpgraph.problems.matrices.call import Matrix, MatrixFacts
from dpgraph.problems.options import Gaussian, NoisyPower
from dpgraph.releases.eigenspaces.krylov import check_steps, release_leading_space
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


class Factors(NamedTuple):
    """Released orthonormal bases of leading left and right singular vectors: the same one of a symmetric matrix."""

    left: FloatArray
    right: FloatArray
    #: Noisy leading singular values, or |eigenvalues|.
    spectrum: FloatArray
    #: Estimated and cautious sine of the result.
    sines: tuple[float, float]
    #: Of a symmetric matrix, if it was asked for: the matrix is close to left core left'.
    core: Any = None


# --- the coherence-aware projector (DN25a), of which a rectangular matrix has two -------------------------------------

#: The shift is the noise of its norm where the budget is small: by 10^8 sensitivities, eigenvectors would be inexact.
_LEAST_MU_OF_A_SHIFT = 1e-6
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


def _by_projector(options: Projector, matrix: Matrix, call: Call, facts: MatrixFacts, _known: Any) -> Factors:
    for_core, for_shift, moves = call.part(_CORE_SHARE), call.part(_SHIFT_SHARE), facts.moves
    within, headroom = bounded(matrix, moves.norm)
    if facts.signed:
        within, call = _shifted(within, moves.norm, for_shift), call.without(for_shift)
    main = call.without(for_core) if facts.core else call
    found = release_subspace(facts.input(within, headroom), options.certificate, main)
    basis, spectrum = found.basis, found.spectrum
    if facts.rectangular:
        n, r = facts.n, basis.shape[1] // 2
        return Factors(basis[:n, :r], basis[n:, r:], spectrum[::2], (found.estimated_sine,) * 2)
    core = release_core(matrix, basis, moves, for_core) if facts.core else None
    return Factors(basis, basis, spectrum, (found.estimated_sine,) * 2, core)


def _check_projector(options: Projector, facts: MatrixFacts) -> None:
    check_choice("certificate", options.certificate, CERTIFICATES)
    facts.check_eigenpairs()


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


def _by_products(_options: NoisyPower, matrix: Matrix, call: Call, facts: MatrixFacts, _known: Any) -> Factors:
    symmetric = not facts.rectangular
    found = release_leading_space(matrix, _columns(facts), facts.moves, call, symmetric=symmetric, largest=facts.signed)
    core = np.diag(found.values) if facts.core else None
    return Factors(found.bases[0], found.bases[-1], np.abs(found.values), found.sines, core)


def _columns(facts: MatrixFacts) -> int:
    """The rank; of several candidates the usual one."""
    return min(POWER_RANK, facts.ranks[-1]) if len(facts.ranks) > 1 else facts.ranks[-1]


# --- Gaussian noise on all entries (Analyze Gauss, DTTZ14) ------------------------------------------------------------


def _check_entries(_: Gaussian, facts: MatrixFacts) -> None:
    if math.prod(facts.shape) > DENSE_LIMIT**2:
        raise InvalidParameterError(
            f"mechanism='gaussian' makes all entries noisy and is limited to {DENSE_LIMIT**2} of them; got shape "
            f"{facts.shape}. Use mechanism='noisy-power'"
        )
    facts.check_eigenpairs()


def _by_noisy_entries(_options: Gaussian, matrix: Matrix, call: Call, facts: MatrixFacts, _known: Any) -> Factors:
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    measurement = Measurement("matrix", dense, l2=facts.moves.frobenius)
    if facts.rectangular:
        noisy, std = call.release(measurement)
        left, right, spectrum, sine = leading_singular_vectors(noisy, std, facts.ranks)
        return Factors(left, right, spectrum, (sine, sine))
    noisy, std, _ = release_symmetric(measurement, call)
    basis, values, spectrum, sine = leading_eigenvectors(noisy, std, facts.ranks, signed=facts.signed)
    return Factors(basis, basis, spectrum, (sine, sine), np.diag(values))


#: ``run(...)`` returns :class:`Factors`.
MATRICES = Registry(
    "eigenspaces and singular subspaces",
    Strategy(
        "coherence",
        Projector,
        pure=False,
        run=_by_projector,
        check=_check_projector,
        slack_share=lambda _: SLACK_SHARE,
        least_mu=lambda facts: _LEAST_MU_OF_A_SHIFT if facts.signed else LEAST_MU,
    ),
    Strategy(
        "noisy-power",
        NoisyPower,
        pure=False,
        run=_by_products,
        check=lambda _, facts: check_steps(facts.shape, facts.ranks[-1]),
    ),
    Strategy("gaussian", Gaussian, pure=False, run=_by_noisy_entries, check=_check_entries),
)
#: "auto" takes products, unless a rank is to be found: on the tables of eigenspaces no other strategy is better at any
#: epsilon (docs/frontier.md).
SUBSPACES = Problem(
    MATRICES, auto=lambda facts: "coherence" if len(facts.ranks) > 1 else "noisy-power", pure="private_symmetric_matrix"
)
