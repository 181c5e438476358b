"""The coherence-aware private projector: DN25a, Algorithms 5.2, 5.5, 5.8, 5.10 and 6.2 with every constant fixed.

Steps: the private spectrum; a certificate that the leading eigenspace changes little when one edge changes, which may
halt; Gaussian noise on the projector, of which only the top eigenspace Q is kept; the core Q' A Q plus noise. Scales of
later steps come from earlier releases through good events, each a ledger line.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import linalg

from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.privacy.call import Call, Measurement
from dpgraph.releases.eigenspaces.gap_test import certify_separately
from dpgraph.releases.eigenspaces.sampler import sample_noisy_eigenspace
from dpgraph.releases.eigenspaces.spectrum import SubspaceInput, halted
from dpgraph.releases.eigenspaces.stability_test import certify_jointly
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.typing import FloatArray

#: How the motion of the eigenspace is bounded: one test, or the papers' two.
Certificate = Literal["stability", "gap-and-coherence"]
CERTIFICATES: tuple[str, ...] = get_args(Certificate)

#: What floating-point arithmetic may do to an entry of a core, whose sums may be many noise scales large, in noise
#: scales.
CORE_ALLOWANCE = 2.0**-18

#: Share of delta that good events may use, and the part of it for a minimum degree; the certificate of the motion has
#: 0.7 and that of the eigenvalues what is left.
SLACK_SHARE, MINIMUM_DEGREE_SLACK = 0.3, 0.29


@dataclass(frozen=True)
class ReleasedSubspace:
    """A released orthonormal basis, diag(left, right) of a rectangular matrix, and noisy leading |eigenvalues|."""

    basis: FloatArray
    spectrum: FloatArray
    # Accepted lower bound on sigma_r - sigma_{r+1}
    gap: float
    # Standard deviation of the noise on the diagonal of the projector
    scale: float = 0.0
    # Of the largest angle, of the worse of two sides: noise W has E |W x|^2 = n scale^2/2 on an eigenvector x
    estimated_sine: float = 0.0


def _useless_scale(n: int) -> float:
    """Scale of noise (W + W')/2 at which nothing is left of a projector.

    An eigenvector of eigenvalue 1 shows in its noisy version if the spectrum of the noise, which ends at sqrt(2 n)
    scales, ends below 2 (D. Féral, S. Péché, Comm. Math. Phys. 2007).
    """
    return math.sqrt(2 / n)


def release_subspace(private: SubspaceInput, certificate: Certificate, call: Call) -> ReleasedSubspace:
    """Release the space of the top |eigenvalues| of a private symmetric operator for a Gaussian part of a budget.

    All candidate ranks are considered at once; raises :class:`MechanismHalted` when none could be certified. Good
    events use the slack of the whole call.
    """
    if private.candidates[-1] == private.n:
        return ReleasedSubspace(np.eye(private.n), np.zeros(0), math.inf)
    certify = certify_jointly if certificate == "stability" else certify_separately
    found = certify(private, call)
    blocks = private.neighbours.blocks(found.U)
    sizes = [len(block) for block in blocks]  # public
    if found.sensitivity / found.call.mu >= _useless_scale(min(sizes)):
        raise halted(
            call,
            "the certified bounds on the gap and on the coherence ask for so much noise on the projector that nothing "
            "would be left of it.",
        )
    scale = found.call.scale("projector", found.sensitivity, law="symmetric Gaussian")
    bases = [sample_noisy_eigenspace(U, scale, call.noise) for U in blocks]
    sine = min(scale / _useless_scale(max(sizes)), 1.0)
    return ReleasedSubspace(linalg.block_diag(*bases), found.spectrum, found.gap, scale, sine)


def release_core(operator: Any, Q: FloatArray, neighbours: SpectralNeighbours, call: Call) -> FloatArray:
    """Release Q' A Q for a public orthonormal Q, shape (r, r)."""
    core = Q.T @ (operator @ Q)
    bound = neighbours.core(Q)
    error = CORE_ALLOWANCE * bound / call.mu * len(core)
    return release_symmetric(Measurement("core", core, l2=bound, error=error), call).matrix
