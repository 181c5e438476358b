r"""Partial eigensolvers behind one small interface, with the checks that privacy needs.

A residual shows that a computed value is near *some* eigenvalue; that no larger one was missed is shown by a Lanczos
run in the complement of the computed eigenvectors, by the certificate of :mod:`dpgraph.linalg.lanczos`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, eigsh

from dpgraph.arguments import check_memory
from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.linalg.lanczos import Lanczos
from dpgraph.typing import FloatArray

#: Above this number of rows eigenvalues are computed coarsely.
COARSE_ROWS = 50_000
#: Up to this size LAPACK on the whole matrix is faster and has nothing to miss.
DENSE_LIMIT = 700
#: A certificate that protects nobody fails with this probability, over the random start.
_FAILURE_PROBABILITY = 1e-9
#: LAPACK's eigenvalues of a symmetric matrix err by at most this, times n and its norm.
_BACKWARD_ERROR = 10.0 * float(np.finfo(np.float64).eps)
#: :func:`leading_eigenpairs` notices a missed eigenvalue that is larger than the last one by this factor.
_MISSED_FACTOR = 1.1
#: Residuals may take this share of the tolerance of values; the certificate has the rest.
_RESIDUAL_SHARE = 0.25
_ATTEMPTS = 3
#: Restarts of the Krylov method: the first try at accurate vectors, and later ones.
_FEW_RESTARTS, _MANY_RESTARTS = 2, 1000
#: Steps of Lanczos that estimate a norm, or pass between looks at a certificate; and before it is given up.
_NORM_STEPS, _MOST_STEPS = 8, 20_000
#: An exhausted run says no more than rounding allows; one that says less than this is a failure.
_USEFUL_DOUBT = 0.5
#: Share of what runs may claim that is kept for exhausted ones.
_EXHAUSTED = 1 / 16


def value_tolerance(n: int, norm: float) -> float:
    """Public bound on the error of a computed eigenvalue, `norm` what one neighbour changes in spectral norm.

    Twice this is added to the sensitivity of each value. On large matrices, where certificates take hundreds of
    multiplications, some noise is traded for time.
    """
    return norm * (5e-3 if n <= COARSE_ROWS else 5e-2)


def vector_tolerance(norm: float) -> float:
    """Public residual tolerance for the eigenvectors of a released subspace, whose gap has been certified."""
    return 1e-6 * norm


@dataclass(frozen=True)
class Eigenpairs:
    """Leading eigenpairs by decreasing absolute value; one vector fewer from :func:`leading_values`."""

    values: FloatArray
    vectors: FloatArray
    residual: float = 0.0  #: spectral norm of A U - U Theta, U the vectors and Theta their Ritz values


def leading_eigenpairs(
    operator: Any, count: int, *, tolerance: float, generator: np.random.Generator, least: float | None = None
) -> Eigenpairs:
    """Compute the `count` eigenpairs of largest absolute value of a symmetric operator, 1 <= count <= n.

    The residual A U - U Theta has at most the norm `tolerance`, a public number, or else NotConvergedError is raised.
    Starting vectors come from `generator`, independent of the data. By default a certificate shows that no eigenvalue
    larger than the last one by 10 % is missed, except with probability 1e-9. Where `count` absolute eigenvalues are
    known to exceed a number `least`, and no more, none is missed if those found exceed it.
    """
    if _check_count(operator, count):
        pairs = _dense(operator, count)
        if pairs.residual <= tolerance:
            return pairs
        raise _not_converged(operator, count, tolerance)
    for pairs in _tries(operator, count, tolerance, generator, aim=tolerance):
        found, level = least, float(np.abs(pairs.values[-1]))
        if found is None:
            level = _MISSED_FACTOR * level + tolerance
            failure = _FAILURE_PROBABILITY / _ATTEMPTS
            found = _largest_value(operator, pairs, generator, level=level, failure=failure)
        if found <= level:
            return pairs
    raise _not_converged(operator, count, tolerance)


def leading_values(
    operator: Any, count: int, *, tolerance: float, residual: float, failure: float, generator: np.random.Generator
) -> Eigenpairs:
    r"""Compute the `count` largest absolute eigenvalues of a symmetric operator, each within `tolerance`, certified.

    The first count - 1 come with vectors, by a Krylov method; the last one, which may lie at the dense edge of a bulk
    and then takes long to converge, is the norm of what is left, as found by Lanczos, with the certificate of this
    module. Where the whole matrix is decomposed (:func:`is_decomposed`) there are `count` vectors.

    The residual of the vectors aims at the spectral norm `residual`; a quarter of `tolerance`, a public number, is
    accepted. `failure` is the probability, over the random starts, that the values are not within `tolerance` and
    nobody notices, of no meaning where the whole matrix is decomposed. A private call subtracts it from its delta
    (:func:`dpgraph.releases.eigenspaces.spectrum.certified_values`). NotConvergedError as in
    :func:`leading_eigenpairs`, and where LAPACK's rounding errors exceed `tolerance`.

    *Error.* Let U be the computed vectors, Theta their Ritz values, t the smallest of these in absolute value,
    R = A U - U Theta with ||R|| <= rho, B = (I - UU') A (I - UU'). In the basis (U, U_perp), A is Theta and B on the
    diagonal and R, U'R = 0, off it, so the sorted absolute eigenvalues of A are within rho of those of Theta and B
    together. Let theta <= ||B|| <= theta + s and theta <= t + rho. The values max(abs(Theta_i), theta + s/2), and
    theta + s/2 as the last, are within s/2 + rho of these: where abs(Theta_i) is the larger, the true one is at least
    that and at most theta + s; where it is not, the true one is at least t >= theta - rho, and at most theta + s.
    So errors are at most s/2 + 2 rho.

    *Failure.* Each try has its own certificate, which fails with probability `failure` over their number.
    """
    if _check_count(operator, count):
        pairs = _dense(operator, count)
        if _BACKWARD_ERROR * operator.shape[0] * abs(float(pairs.values[0])) <= tolerance:
            return pairs
        raise _not_converged(operator, count, tolerance)
    coarse = _RESIDUAL_SHARE * tolerance
    fine = min(residual, coarse)
    for pairs in _tries(operator, count - 1, coarse, generator, aim=fine):
        reached = fine if pairs.residual <= fine else coarse
        width = 2 * (tolerance - 2 * reached)
        found = _largest_value(operator, pairs, generator, width=width, failure=failure / _ATTEMPTS)
        if found <= np.min(np.abs(pairs.values), initial=math.inf) + reached:
            last = found + width / 2
            raised = np.copysign(np.maximum(np.abs(pairs.values), last), pairs.values)
            return Eigenpairs(np.append(raised, last), pairs.vectors, pairs.residual)
    raise _not_converged(operator, count, tolerance)


def check_eigenpairs(n: int, count: int) -> None:
    """Refuse so many eigenpairs of an n x n operator, as computed here, if they would not fit into memory."""
    shape = (18, n, n) if is_decomposed(n, count) else (10, n, count + 6)
    check_memory(f"{count} eigenpairs of a {n} x {n} matrix", vectors=shape)


def is_decomposed(n: int, count: int) -> bool:
    """Whether LAPACK decomposes the whole matrix, so that no certificate can fail; public."""
    return n <= DENSE_LIMIT or count > n // 3


def _check_count(operator: Any, count: int) -> bool:
    n = operator.shape[0]
    if not 1 <= count <= n:
        raise InvalidParameterError(f"the number of eigenpairs must lie in [1, n = {n}]; got {count}")
    return is_decomposed(n, count)


def _not_converged(operator: Any, count: int, tolerance: float) -> NotConvergedError:
    n = operator.shape[0]
    return NotConvergedError(
        f"the eigensolver did not reach tolerance {tolerance:.2g} for {count} eigenpairs of a {n} x {n} operator; "
        "ask for a smaller rank or a larger tolerance"
    )


def _dense(operator: Any, count: int) -> Eigenpairs:
    matrix = operator if isinstance(operator, np.ndarray) else operator @ np.eye(operator.shape[0])
    return _leading(operator, *all_eigenpairs((matrix + matrix.T) / 2), count)


def all_eigenpairs(symmetric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues in increasing order and eigenvectors of a dense matrix.

    The fast method of LAPACK gives up on rare matrices. An error after the debit would lose what was paid for.
    """
    try:
        values, vectors = linalg.eigh(symmetric)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(symmetric, driver="evd")
    return values, vectors


def _leading(operator: Any, values: FloatArray, vectors: FloatArray, count: int) -> Eigenpairs:
    """The leading pairs among these, with their residual."""
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    values, vectors = np.ascontiguousarray(values[order]), np.ascontiguousarray(vectors[:, order])
    R = operator @ vectors - vectors * values
    size = float(np.abs(R).max(initial=0.0))  # squares of tiny entries vanish
    scaled = R / size if size > 0 else R
    residual = size * math.sqrt(max(float(np.linalg.eigvalsh(scaled.T @ scaled)[-1]), 0.0))
    return Eigenpairs(values, vectors, residual)


def _tries(
    operator: Any, count: int, tolerance: float, generator: np.random.Generator, *, aim: float
) -> Iterator[Eigenpairs]:
    """Pairs with residual at most `tolerance`; `aim` may be a smaller residual that is worth a few restarts."""
    width = max(3 * count + 16, 40)
    targets = [(aim, _FEW_RESTARTS), (tolerance, _MANY_RESTARTS)]
    for _ in range(_ATTEMPTS):
        for target, restarts in targets if aim < tolerance else targets[1:]:
            pairs = _krylov(operator, count, width, target, restarts, generator)
            if pairs is not None and pairs.residual <= tolerance:
                yield pairs
                break
        width *= 2


def _krylov(
    operator: Any, count: int, width: int, tolerance: float, restarts: int, generator: np.random.Generator
) -> Eigenpairs | None:
    n = operator.shape[0]
    if count == 0:
        return Eigenpairs(np.zeros(0), np.zeros((n, 0)))
    norm = Lanczos(operator.__matmul__, generator.standard_normal(n)).run(_NORM_STEPS).largest()
    if norm == 0:  # the zero matrix, for which ARPACK has no answer
        return Eigenpairs(np.zeros(count), np.linalg.qr(generator.standard_normal((n, count)))[0])
    # ARPACK's tolerance is relative to the eigenvalues, most of which are smaller; the residual is verified.
    options = {"ncv": min(width, n - 1), "tol": tolerance / norm, "maxiter": restarts}
    try:
        values, vectors = eigsh(operator, k=count, which="LM", v0=generator.standard_normal(n), **options)
    except ArpackError:
        return None
    return _leading(operator, values, vectors, count)


def _largest_value(
    operator: Any,
    pairs: Eigenpairs,
    generator: np.random.Generator,
    *,
    failure: float,
    width: float = 0.0,
    level: float = 0.0,
) -> float:
    """Find theta with theta <= ||B|| < max(theta + width, level), B the operator beside the pairs, certified.

    The number that is excluded grows with theta from run to run, so that all runs exclude the last one.

    *Proof.* Let what is found be wrong. Then each run excludes a number that ||B|| has reached, and its doubt p obeys
    P(p <= t) <= t given the runs before. How many runs there are depends on these random doubts, and a product of such
    numbers is not one of them: for exhausted runs with uniform p it falls below 1e-4 in 1.5 % of all searches. But
    numbers f with E(1/f) <= 1, given what came before, may be multiplied and stopped at will: P(their product ever
    falls to t) <= t (Ville's inequality for the martingale of their reciprocals). :func:`_evidence` is such an f.
    """
    found, doubt = 0.0, 1.0
    while doubt > failure:
        found, shown = _one_run(operator, pairs, generator, found, width, level, failure / doubt)
        if found >= max(found + width, level):
            return found
        doubt *= shown
    return found


def _one_run(
    operator: Any,
    pairs: Eigenpairs,
    generator: np.random.Generator,
    found: float,
    width: float,
    level: float,
    failure: float,
) -> tuple[float, float]:
    """Raise `found` to what one Lanczos run finds; also the :func:`_evidence` that no more is there."""
    start = generator.standard_normal(operator.shape[0])
    lanczos = Lanczos(operator.__matmul__, start, pairs.vectors, float(np.abs(pairs.values).max(initial=0.0)))
    aim = max(failure * (1 - _EXHAUSTED), lanczos.least_doubt)
    while lanczos.steps < _MOST_STEPS:
        lanczos.run(max(_NORM_STEPS, lanczos.steps // 16))
        found = max(found, lanczos.largest())
        x = max(found + width, level)
        if found >= x:
            return found, 1.0
        doubt = lanczos.doubt(x, aim)
        if doubt <= aim or (lanczos.exhausted and _evidence(doubt, aim) <= _USEFUL_DOUBT):
            return found, _evidence(doubt, aim)
        if lanczos.exhausted:
            break
    raise _not_converged(operator, pairs.vectors.shape[1] + 1, max(width, level))


def _evidence(doubt: float, aim: float) -> float:
    """Number f of a run with this doubt p, where P(p <= t) <= t: E(1/f) <= 1.

    With a share c for exhausted runs f = aim/(1 - c) where p is at most `aim`, and 2 sqrt(p)/c beyond. So E(1/f) <=
    P(p <= aim) (1 - c)/aim + c E(1/sqrt(p))/2 <= 1 - c + c, as 1/sqrt(t) falls and its integral over [0, 1] is 2.
    """
    return aim / (1 - _EXHAUSTED) if doubt <= aim else 2 * math.sqrt(doubt) / _EXHAUSTED


def canonical_signs(Q: FloatArray) -> FloatArray:
    """Flip columns so that the entry of largest absolute value is positive: a rule that reads the column alone."""
    largest = Q[np.argmax(np.abs(Q), axis=0), np.arange(Q.shape[1])]
    return Q * np.where(largest < 0, -1.0, 1.0)
