"""A symmetric matrix as such, released with pure differential privacy."""

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_memory, check_scale
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.arrays import public_shape, read_array
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Measurement, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Relation, Shift, stated_relation
from dpgraph.releases.symmetric import NUCLEAR_MECHANISMS, NuclearMechanism, release_symmetric
from dpgraph.results.records import PrivateSymmetricMatrix


@private_function
def private_symmetric_matrix(  # noqa: PLR0913
    B: ArrayLike,
    *,
    sensitivity: float,
    epsilon: float,
    mechanism: NuclearMechanism = "wishart-difference",
    adjacency: str | Relation | None = None,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSymmetricMatrix:
    """Release a symmetric matrix with pure differential privacy, for a bound on its change in nuclear norm.

    Parameters
    ----------
    B : array_like, shape (d, d)
        Private symmetric matrix (its symmetric part is released); the shape is public.
    sensitivity : float
        Largest nuclear norm of the difference of the matrices of neighbouring data sets. A change of rank k and
        Frobenius norm F has nuclear norm at most sqrt(k) F; the r x r core Q'AQ of a graph changes with rank at most
        min(r, 4) when one edge does.
    epsilon : float
        epsilon > 0; delta is 0.
    mechanism : {"wishart-difference", "nuclear-laplace"}, default "wishart-difference"
        Law of the noise; ``"nuclear-laplace"`` is approximate, marked so, and not proved private, above d = 6.
    adjacency : str or Relation, optional
        What neighbouring data sets differ in, in words or as a relation of :mod:`dpgraph.privacy.relation`. Calls share
        an accountant if they name the same; the default is a change of this input by at most `sensitivity`.
    accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateSymmetricMatrix

    Raises
    ------
    InvalidParameterError
        A parameter is out of range, or `B` is not a finite real square matrix.
    BudgetExceededError
        The accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for matrices at nuclear-norm distance at most `sensitivity`; docs/covariance-theory.md, "The
    noise", has the proofs. The sum of matrix and noise is rounded to a public grid 2**-30 times the noise, however
    large the entries are (:mod:`dpgraph.privacy.grid`).

    References
    ----------
    DN25b, Algorithm 1 and Theorem 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph import private_symmetric_matrix
    >>> private = private_symmetric_matrix(np.eye(4), sensitivity=0.01, epsilon=1.0, rng=0)
    >>> bool(np.allclose(private.matrix, np.eye(4), atol=0.2)), private.privacy.delta
    (True, 0.0)
    """
    check_choice("mechanism", mechanism, NUCLEAR_MECHANISMS)
    sensitivity = check_scale("sensitivity", sensitivity)
    relation = stated_relation(adjacency, Shift("symmetric matrix", sensitivity))
    shape = public_shape(B)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InvalidParameterError(f"expected a square matrix; got shape {shape}")
    check_memory(f"a {shape[0]} x {shape[0]} matrix", copies=(20, *shape))
    call = open_call(epsilon=epsilon, accountant=accountant, relation=relation, noise=noise_source(rng))
    measurement = Measurement("symmetric matrix", read_array(B, shape), l1=sensitivity)
    released = release_symmetric(measurement, call, mechanism)
    return PrivateSymmetricMatrix(released.matrix, call.report(), released.approximate)
