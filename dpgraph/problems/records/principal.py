"""Principal directions of private records: the leading eigenvectors of a private covariance (DP-PCA)."""

from typing import Any, Literal

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.inputs.arrays import table_shape
from dpgraph.privacy.relation import RECORDS
from dpgraph.problems.records.covariance import private_covariance
from dpgraph.releases.eigenspaces.noisy_matrix import LeadingEigenvectors, leading_eigenvectors
from dpgraph.releases.eigenspaces.projector import Rank, check_rank
from dpgraph.results.records import PrivateCovariance
from dpgraph.results.subspaces import PrivateSingularSubspace


def leading_components(covariance: PrivateCovariance, ranks: range) -> LeadingEigenvectors:
    """The components that stand out of the noise, or the only rank: post-processing."""
    return leading_eigenvectors(covariance.matrix, covariance.std, ranks, signed=True)


def release_record_subspace(
    X: Any, rank: Rank, max_rank: int, *, adjacency: Literal["replace", "add-remove"], **call: Any
) -> PrivateSingularSubspace:
    """Release the right singular subspace of a table whose rows are private records.

    It is the eigenspace of X'X, which is a covariance with the normaliser 1: noise on all d^2 entries of it is that of
    a single product with d vectors, and no iteration pays for more than one. `call` holds the other arguments of
    :func:`~dpgraph.private_covariance`.
    """
    check_choice("adjacency", adjacency, RECORDS)
    ranks = check_rank(rank, table_shape(X, adjacency, numbers=True)[1], max_rank)
    moments = private_covariance(X, project=False, n_records=1, adjacency=adjacency, **call)
    found = leading_components(moments, ranks)
    lengths = np.sqrt(np.maximum(found.spectrum, 0.0))
    sine = found.estimated_sine
    return PrivateSingularSubspace(None, found.basis, lengths, sine, sine, moments.privacy)
